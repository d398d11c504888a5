# SPDX-License-Identifier: LGPL-2.1-or-later
"""What ros_messages.py makes of pictures, pixel by pixel; and what ros.py published, from the file in argv."""
import json
import os
import random
import struct
import sys
import time
import types
import unittest

try:
    import numpy
except ImportError as error:
    print(f"SKIP: {error}", file=sys.stderr)
    sys.exit(77)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../pipelines"))
import ros_messages  # noqa: E402

PUBLISHED = sys.argv.pop()


class Messages(unittest.TestCase):
    def setUp(self):
        seed = random.randrange(1 << 32)
        print(f"seed={seed}", file=sys.stderr)
        self.draw = random.Random(seed)
        self.width, self.height = self.draw.randint(1, 40), self.draw.randint(1, 30)

    def meta(self, **fields):
        return types.SimpleNamespace(**{"width": self.width, "height": self.height, "focal_length": 700.5, "focal_length_y": 0.0,
                                        "principal_x": 31.25, "principal_y": 12.5, "principal_offset": 3.0, "baseline": 120.0, **fields})

    def test_depth(self):
        """Padded rows and any unit; too far and unknown are 0."""
        unit = self.draw.choice((1000, 250, 5000))
        stride = 2 * self.width + self.draw.randint(0, 9)
        samples = [[self.draw.choice((0, 65535, self.draw.randrange(65536))) for _ in range(self.width)] for _ in range(self.height)]
        data = b"".join(struct.pack(f"<{self.width}H", *row).ljust(stride, b"\xaa") for row in samples)
        message = ros_messages.depth_image({}, data, self.width, self.height, stride, unit)
        self.assertEqual((message["encoding"], message["step"], len(message["data"])),
                         ("16UC1", 2 * self.width, 2 * self.width * self.height))
        found = struct.unpack(f"={self.width * self.height}H", message["data"])
        for sample, depth in zip((s for row in samples for s in row), found):
            true = 0 if sample == 65535 or sample * unit / 1000 > 65535 else sample * unit / 1000
            self.assertLessEqual(abs(depth - true), 0.5)

    def test_confidence(self):
        data = self.draw.randbytes(self.width * self.height)
        message = ros_messages.confidence_image({}, data, self.width, self.height)
        self.assertEqual((message["encoding"], message["data"], message["step"], message["is_bigendian"]),
                         ("mono8", data, self.width, 0))

    def test_cameras(self):
        """The projections of a point differ by the disparity; unknown geometry gives none."""
        meta = self.meta()
        point = [self.draw.uniform(-2, 2), self.draw.uniform(-1, 1), self.draw.uniform(1, 30), 1.0]
        left, right = (numpy.reshape(ros_messages.camera_info({}, meta, side)["p"], (3, 4)) @ point for side in (False, True))
        u, v = left[:2] / left[2]
        self.assertAlmostEqual(u, 700.5 * point[0] / point[2] + 31.25)
        self.assertAlmostEqual(v, 700.5 * point[1] / point[2] + 12.5)
        # depth = f B / (d + offset)
        disparity = u - right[0] / right[2]
        self.assertAlmostEqual(700.5 * 0.12 / (disparity + 3.0), point[2])
        self.assertIsNone(ros_messages.camera_info({}, self.meta(focal_length=0.0)))
        middle = ros_messages.camera_info({}, self.meta(principal_x=0.0, principal_y=0.0, focal_length_y=350.0))
        self.assertEqual(middle["k"][2::3], [(self.width - 1) / 2, (self.height - 1) / 2, 1.0])
        self.assertEqual(middle["k"][4], 350.0)

    def test_points(self):
        values = [self.draw.choice((float("nan"), self.draw.uniform(-5e3, 5e4))) for _ in range(3 * self.width * self.height)]
        message = ros_messages.point_cloud({}, struct.pack(f"={len(values)}f", *values), self.width, self.height)
        self.assertEqual(len(message["data"]), message["row_step"] * message["height"])
        self.assertEqual([field["offset"] for field in message["fields"]], [0, 4, 8])
        for found, value in zip(struct.unpack(f"={len(values)}f", message["data"]), values):
            self.assertTrue(abs(found - value / 1000) < 1e-5 * abs(value / 1000) + 1e-9 or value != value and found != found)

    def test_header(self):
        head = ros_messages.header(12 * 10 ** 9 + 345, "left")
        self.assertEqual(head, {"stamp": {"sec": 12, "nanosec": 345}, "frame_id": "left"})


class Published(unittest.TestCase):
    def setUp(self):
        self.topics = {}
        with open(PUBLISHED, encoding="utf-8") as log:
            for line in log:
                message = json.loads(line)
                self.topics.setdefault(message["topic"], []).append(message)

    def test_all_topics(self):
        self.assertEqual(sorted(self.topics), [f"/front/{topic}" for topic in (
            "confidence", "depth/camera_info", "depth/image", "points", "right/camera_info")])
        for messages in self.topics.values():
            stamps = [m["header"]["stamp"]["sec"] + 1e-9 * m["header"]["stamp"]["nanosec"] for m in messages]
            self.assertEqual({m["header"]["frame_id"] for m in messages}, {"lens"})
            self.assertEqual((messages[0]["width"], messages[0]["height"]), (160, 120))
            self.assertLess(abs(time.time() - stamps[-1]), 60)

    def test_points_are_the_depth(self):
        depth = numpy.frombuffer(bytes.fromhex(self.topics["/front/depth/image"][0]["data"]), numpy.uint16)
        points = numpy.frombuffer(bytes.fromhex(self.topics["/front/points"][0]["data"]), numpy.float32).reshape(-1, 3)
        known = depth > 0
        self.assertGreater(known.mean(), 0.5)
        self.assertLess(numpy.abs(points[known, 2] - depth[known] / 1000).max(), 1e-3)
        self.assertTrue(numpy.isnan(points[~known]).all())


if __name__ == "__main__":
    unittest.main()
