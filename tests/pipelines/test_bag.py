# SPDX-License-Identifier: LGPL-2.1-or-later
"""What ros.py recorded, read with rosbags: test_bag.py FOLDER"""
import sys
from pathlib import Path

import numpy
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_typestore

store = get_typestore(Stores.ROS2_HUMBLE)
found = {}
with Reader(Path(sys.argv[1])) as reader:
    for connection, stamp, data in reader.messages():
        found.setdefault(connection.topic, []).append((stamp, store.deserialize_cdr(data, connection.msgtype)))
assert sorted(found) == [f"/front/{topic}" for topic in (
    "confidence", "depth/camera_info", "depth/image", "points", "right/camera_info")], sorted(found)
assert {len(messages) for messages in found.values()} == {5}, {topic: len(messages) for topic, messages in found.items()}
for messages in found.values():
    for stamp, message in messages:
        assert message.header.frame_id == "lens" and message.header.stamp.sec == stamp // 10 ** 9
depth, points = found["/front/depth/image"][2][1], found["/front/points"][2][1]
millimetres = depth.data.view(numpy.uint16)
metres = points.data.view(numpy.float32).reshape(-1, 3)
known = millimetres > 0
assert known.mean() > 0.5 and numpy.abs(metres[known, 2] - millimetres[known] / 1000).max() < 1e-3
right = found["/front/right/camera_info"][0][1]
assert right.p[3] < 0 and right.p[0] == right.k[0]
print("the bag is read by rosbags")
