#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes docs/pictures/calibrate.jpg: what calibrate.py shows, of a made board. calibrating_picture.py [FILE]

Ends with 77 where OpenCV is not there.
"""
import os
import sys

try:
    import cv2
except ImportError as missing:
    print(missing, file=sys.stderr)
    sys.exit(77)
from boards import BOARD, Made  # noqa: E402  puts pipelines/ into the path
import calibrate  # noqa: E402

here = os.path.dirname(os.path.abspath(__file__))
made = Made(seed=1)
collector = calibrate.Collector(BOARD, 0.01)
for pose in made.poses[:5]:
    pictures = [made.picture(pose, side) for side in (0, 1)]
    for _ in range(2):  # the second time the board is held still
        text, view = collector.take(*pictures, 0)
shown = calibrate.drawn(BOARD, *pictures, view, text, len(collector.views))
if not cv2.imwrite(sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "../../docs/pictures/calibrate.jpg"), shown,
                   [cv2.IMWRITE_JPEG_QUALITY, 60]):
    sys.exit("the picture cannot be written")
