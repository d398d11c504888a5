# SPDX-License-Identifier: LGPL-2.1-or-later
"""What `save` of stereorectify writes is read by OpenCV's FileStorage, and its Q makes depth of disparity as OpenCV does."""
import os
import sys
import tempfile

try:
    import cv2
    import gi
    import numpy
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
except (ImportError, ValueError) as missing:
    print("skipped: %s" % missing)
    sys.exit(77)

WIDTH, HEIGHT, FOCAL, BASELINE, OFFSET, DISPARITY = 96, 64, 80.0, 0.2, 3.0, 10.0
CAMERA = "[ %g, 0, %g, 0, %g, 31, 0, 0, 1 ]"
CALIBRATION = "image_width: %d\nimage_height: %d\n" % (WIDTH, HEIGHT)
for n, cx, away in ("1", 47, 0), ("2", 47 + OFFSET, -FOCAL * BASELINE):
    CALIBRATION += "M%s: %s\nD%s: []\nR%s: [ 1, 0, 0, 0, 1, 0, 0, 0, 1 ]\nP%s: [ %g, 0, %g, %g, 0, %g, 31, 0, 0, 0, 1, 0 ]\n" % (
        n, CAMERA % (FOCAL, cx, FOCAL), n, n, n, FOCAL, cx, away, FOCAL)

Gst.init(None)
with tempfile.TemporaryDirectory() as folder:
    calibration, saved = os.path.join(folder, "stereo.yml"), os.path.join(folder, "saved.yml")
    with open(calibration, "w") as file:
        file.write(CALIBRATION)
    pipeline = Gst.parse_launch(
        "videotestsrc num-buffers=1 ! video/x-raw,format=GRAY8,width=%d,height=%d ! "
        "stereorectify backend=cpu calibration=%s unit=1000 save=%s ! fakesink" % (2 * WIDTH, HEIGHT, calibration, saved))
    pipeline.set_state(Gst.State.PLAYING)
    message = pipeline.get_bus().timed_pop_filtered(60 * Gst.SECOND, Gst.MessageType.EOS | Gst.MessageType.ERROR)
    pipeline.set_state(Gst.State.NULL)
    if not message or message.type != Gst.MessageType.EOS:
        sys.exit("no end: %s" % (message.parse_error().gerror.message if message else "nothing said why"))
    storage = cv2.FileStorage(saved, cv2.FILE_STORAGE_READ)
    matrix = {name: storage.getNode(name).mat() for name in ("M1", "D1", "M2", "D2", "R1", "R2", "P1", "P2", "Q")}
    size = [int(storage.getNode(name).real()) for name in ("image_width", "image_height", "rectified_width")]

shapes = {"M1": (3, 3), "D1": (1, 5), "R1": (3, 3), "P1": (3, 4), "P2": (3, 4), "Q": (4, 4)}
for name, shape in shapes.items():
    assert matrix[name] is not None and matrix[name].shape == shape, "%s is %s" % (name, matrix[name])
assert size == [WIDTH, HEIGHT, WIDTH], size
assert numpy.allclose(matrix["P2"][0], (FOCAL, 0, 47 + OFFSET, -FOCAL * 1000 * BASELINE)), matrix["P2"]
depth = cv2.reprojectImageTo3D(numpy.full((HEIGHT, WIDTH), DISPARITY, numpy.float32), matrix["Q"])[31, 47]
wanted = (0, 0, FOCAL * 1000 * BASELINE / (DISPARITY + OFFSET))
assert numpy.allclose(depth, wanted, rtol=1e-5, atol=1e-3), "%s, not %s" % (depth, wanted)
print("ok")
