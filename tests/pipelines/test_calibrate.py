# SPDX-License-Identifier: LGPL-2.1-or-later
"""calibrate.py without cameras: made boards whose cameras are known, bad sets, names of cameras.

test_calibrate.py FOLDER: an empty one
"""
import contextlib
import io
import os
import resource
import signal
import sys
import unittest
from types import SimpleNamespace

import cv2
import numpy as np

from boards import BOARD, Made  # puts pipelines/ into the path
import calibrate
import chessboard
import cameras

SEED = int(os.environ.get("STEREO_TEST_SEED", 0)) or int.from_bytes(os.urandom(4), "little")
FOLDER = sys.argv.pop()


class Known(unittest.TestCase):
    def setUp(self):
        self.made = Made(seed=SEED)
        self.views = self.made.views()

    def make(self, views=None, **more):
        return chessboard.make(BOARD, self.views if views is None else views, self.made.size, **more)

    def refused(self, words, views=None, **more):
        with self.assertRaisesRegex(chessboard.Refused, words):
            self.make(views, **more)

    def test_recovers_the_cameras(self):
        values = self.make().values
        for key, camera in zip(("M1", "M2"), self.made.cameras):
            np.testing.assert_allclose(np.diag(values[key]), np.diag(camera), rtol=0.006)
            np.testing.assert_allclose(values[key][:2, 2], camera[:2, 2], atol=2)
        np.testing.assert_allclose(values["T"].ravel(), self.made.shift, atol=0.4)
        turned = cv2.Rodrigues(values["R"] @ self.made.turn.T)[0]
        self.assertLess(np.degrees(np.linalg.norm(turned)), 0.2)

    def test_judges_rows_as_they_are(self):
        made = self.make()
        # 0.05 px of noise in each view: the mean distance of two rows is 0.05 * sqrt 2 * sqrt (2 / pi)
        self.assertAlmostEqual(made.rows.mean(), 0.056, delta=0.02)

    def test_too_few(self):
        self.refused("Too few views.* 9 pairs", self.views[:9])

    def test_does_not_cover(self):
        right = [v for v in self.views if v.left[:, 0].min() > self.made.size[0] / 3]
        self.refused("left picture: top left, middle left, bottom left", right * 10)

    def test_no_tilt(self):
        for i in range(12):
            flat = self.made.poses[i]
            self.made.poses[i] = np.eye(3), flat[1] + (flat[0] - np.eye(3)) @ BOARD.points().mean(axis=0)
        self.refused("nearer with the side: right, lower, left, upper", self.made.views())

    def test_swapped(self):
        swapped = [chessboard.View(v.name, v.right, v.left) for v in self.views]
        self.refused("cameras are swapped", swapped)

    def test_one_above_the_other(self):
        quarter = [chessboard.View(v.name, *(np.column_stack((c[:, 1], self.made.size[0] - 1 - c[:, 0])) for c in
                                             (v.left, v.right))) for v in self.views]
        with self.assertRaisesRegex(chessboard.Refused, "one above the other"):
            chessboard.make(BOARD, quarter, self.made.size[::-1])

    def test_square_size(self):
        wrong = chessboard.Board(9, 6, 1.2)
        with self.assertRaisesRegex(chessboard.Refused, "set --square"):
            chessboard.make(wrong, self.views, self.made.size)
        half = chessboard.Board(9, 6, 15.0)
        with self.assertRaisesRegex(chessboard.Refused, r"--baseline says 60.*; (29\.[89]|30\.[012]) mm would fit"):
            chessboard.make(half, self.views, self.made.size, baseline=60)
        self.make(baseline=60)

    def test_error_above_the_bound(self):
        self.refused("does not fit its views", self.made.views(noise=2))
        self.refused("does not fit its views.*0.01 are allowed", max_error=0.01)
        self.refused("rows of both views are 0.0[4-7] px apart, and 0.01", max_rows=0.01)

    def test_unsynchronised(self):
        moved = Made(seed=SEED + 1)
        late = [chessboard.View(a.name, a.left, b.right) for a, b in zip(self.views, moved.views())]
        self.refused("not of one moment", late)

    def test_an_outlier_is_left_out(self):
        self.views[4].left += np.random.default_rng(SEED).normal(0, 3, (54, 2)).astype(np.float32)
        made = self.make()
        self.assertEqual(list(made.left_out), ["made 4"])
        self.assertLess(made.together, 0.1)

    def test_other_end_first(self):
        view = self.views[0]
        np.testing.assert_array_equal(chessboard.same_order(view.left, view.right[::-1]), view.right)
        np.testing.assert_array_equal(chessboard.same_order(view.left, view.right), view.right)

    def test_file(self):
        path, made = os.path.join(FOLDER, "one.yml"), self.make()
        chessboard.write(path, made)
        file = cv2.FileStorage(path, cv2.FILE_STORAGE_READ)
        for key in "M1", "D1", "M2", "D2", "R", "T", "R1", "R2", "P1", "P2":
            np.testing.assert_allclose(file.getNode(key).mat(), made.values[key])
        self.assertEqual((file.getNode("image_width").real(), file.getNode("image_height").real()), self.made.size)
        with self.assertRaisesRegex(chessboard.Refused, "cannot be written.*--output"):
            chessboard.write(os.path.join(FOLDER, "none", "one.yml"), made)
        # a full disk: what was there stays
        with open(path, encoding="utf-8") as file:
            before = file.read()
        most = resource.getrlimit(resource.RLIMIT_FSIZE)
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, most[1]))
        try:
            with self.assertRaises(chessboard.Refused):
                chessboard.write(path, made)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, most)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), before)
        self.assertFalse(os.path.exists(path + ".part"))

    def test_orientation_tag(self):
        """Pictures are taken as the camera gave them: no decoder of GStreamer turns them by their EXIF orientation."""
        path, picture = os.path.join(FOLDER, "tagged.jpg"), np.tile(np.arange(0, 240, 2, np.uint8), (64, 1))
        for orientation in range(1, 9):
            cv2.imwrite(path, picture)
            with open(path, "rb") as file:
                jpeg = file.read()
            tag = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0" + bytes([orientation]) + b"\0\0\0\0\0\0"
            with open(path, "wb") as file:
                file.write(jpeg[:2] + b"\xff\xe1" + (len(tag) + 2).to_bytes(2, "big") + tag + jpeg[2:])
            np.testing.assert_allclose(calibrate.read(path, None).astype(int), picture, atol=4, err_msg=str(orientation))

    def test_leans_as_said(self):
        sides = np.array([chessboard.lean(BOARD, v.left, self.made.size) for v in self.views])
        # 3 degrees by chance; the rest because the focal length is a guess, and the lens not known
        for place, yaw, pitch in ((0, 22, 0), (1, 0, 22), (2, -22, 0), (3, 0, -22)):
            np.testing.assert_allclose(sides[place], (yaw, pitch), atol=9)


class Live(unittest.TestCase):
    """What the collector of a live rig takes."""

    def setUp(self):
        self.made = Made(seed=SEED)
        self.collector = calibrate.Collector(BOARD, 0.01)
        self.pair = [self.made.picture(self.made.poses[4], side) for side in (0, 1)]

    def test_still_and_new(self):
        take = self.collector.take
        self.assertIn("Hold the board still", take(*self.pair, 0)[0])
        self.assertIsNotNone(take(*self.pair, 0)[1])
        self.assertEqual(len(self.collector.views), 1)
        take(*self.pair, 0)
        self.assertEqual(len(self.collector.views), 1)
        moved = [self.made.picture(self.made.poses[9], side) for side in (0, 1)]
        self.assertIn("Hold the board still", take(*moved, 0)[0])
        self.collector.check()

    def test_untimely(self):
        for _ in range(2):
            self.assertIn("33 ms apart", self.collector.take(*self.pair, 0.033)[0])
        with self.assertRaisesRegex(chessboard.Refused, "2 of 2 pairs.*not synchronised"):
            self.collector.check()

    def test_no_board(self):
        grey = np.full_like(self.pair[0], 90)
        self.assertIn("not seen", self.collector.take(self.pair[0], grey, 0)[0])
        with self.assertRaisesRegex(chessboard.Refused, "No pair had a board of 9x6"):
            self.collector.check()

    def test_sizes(self):
        with self.assertRaisesRegex(chessboard.Refused, "480x360 pixels and the right 470x360"):
            self.collector.take(self.pair[0], self.pair[1][:, 10:], 0)

    def test_drawn(self):
        text, view = self.collector.take(*self.pair, 0)
        shown = calibrate.drawn(BOARD, *self.pair, view, text, 0)
        self.assertEqual(shown.shape, (360 + 36, 960, 3))
        at = view.left[0].round().astype(int)
        around = shown[at[1] - 6:at[1] + 7, at[0] - 6:at[0] + 7].astype(int)
        self.assertGreater((around.max(axis=2) - around.min(axis=2)).max(), 100)  # coloured


class Names(unittest.TestCase):
    def setUp(self):
        self.devices = os.path.join(FOLDER, "dev")
        for kind, name, node in (("by-id", "usb-Left-index0", "video0"), ("by-id", "usb-Left-index1", "video1"),
                                 ("by-path", "pci-1-index0", "video0")):
            folder = os.path.join(self.devices, "v4l", kind)
            os.makedirs(folder, exist_ok=True)
            open(os.path.join(self.devices, node), "w").close()
            if not os.path.lexists(os.path.join(folder, name)):
                os.symlink("../../" + node, os.path.join(folder, name))
        open(os.path.join(self.devices, "video7"), "w").close()

    def test_names(self):
        stable = os.path.join(self.devices, "v4l/by-id/usb-Left-index0")
        self.assertEqual(cameras.stable(stable, self.devices), stable)
        for name, words in (("video0", "Use .*by-id/usb-Left-index0 or .*by-path/pci-1-index0"), ("video7", "no name that stays"),
                            ("v4l/by-id/none", "There is no camera"), ("null", "not a name under")):
            with self.assertRaisesRegex(cameras.NoCamera, words):
                cameras.stable(os.path.join(self.devices, name), self.devices)

    def test_list(self):
        lines = cameras.listed(self.devices)
        self.assertEqual([line.split("/")[-1] for line in lines],
                         ["usb-Left-index0  (video0)", "pci-1-index0  (video0)"])
        self.assertIn("No camera", cameras.listed(os.path.join(FOLDER, "none"))[0])


class Words(unittest.TestCase):
    def test_boards(self):
        for words, square, reason in (("9", 25, "inner corners"), ("2x6", 25, "at least 3"), ("7x7", 25, "looks the same"),
                                      ("9x6", 0, "from 1 to 1000"), ("9x6", float("nan"), "from 1 to 1000")):
            with self.assertRaisesRegex(chessboard.Refused, reason):
                chessboard.Board.parse(words, square)

    def refused(self, words, *arguments):
        errors = io.StringIO()
        with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(errors):
            calibrate.main(list(arguments))
        self.assertRegex(errors.getvalue() + str(ended.exception), words)

    def test_arguments(self):
        folder = os.path.join(FOLDER, "bad")
        os.makedirs(folder, exist_ok=True)
        for name in "left1.png", "right1.png":
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("no picture")
        for words, *arguments in (
                ("give --left and --right, or one of", "--left", "/dev/v4l/by-id/none"),
                ("give --left and --right, or one of", "--pictures", folder, "--source", "videotestsrc"),
                ("/dev/video0 is another camera after the next start", "--left", "/dev/video0", "--right", "/dev/video2"),
                ("There is no camera /dev/v4l/by-id/none", "--side-by-side", "/dev/v4l/by-id/none"),
                ("there is no such folder", "--pictures", os.path.join(folder, "none")),
                ("inner corners", "--board", "nine", "--pictures", folder),
                ("not a picture that OpenCV reads", "--pictures", folder),
                ('no element "nothing"', "--source", "nothing"),
                ("even width", "--source", "videotestsrc num-buffers=1 ! video/x-raw,width=321,height=240"),
                ("No pair had a board", "--source", "videotestsrc num-buffers=2 pattern=black")):
            self.refused(words, "--headless", *arguments)
        for name in "DISPLAY", "WAYLAND_DISPLAY", "SINK":
            os.environ.pop(name, None)
        self.refused("no screen.*--headless", "--source", "videotestsrc")
        os.remove(os.path.join(folder, "right1.png"))
        self.refused("1 left and 0 right pictures", "--pictures", folder)

    def test_live_words(self):
        try:
            import rig
        except SystemExit as missing:
            self.skipTest(str(missing))
        rig.Gst.init(None)
        options = SimpleNamespace(left=None, side_by_side=None, source="testsrc name=left  b name=right", size=None)
        self.assertIn("left. ! videoconvert", rig.words_of(options))


if __name__ == "__main__":
    print(f"seed {SEED}")
    unittest.main(warnings="ignore")
