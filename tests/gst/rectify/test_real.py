# SPDX-License-Identifier: LGPL-2.1-or-later
"""stereorectify on real pairs: pictures of a chessboard (STEREO_DATA/unrectified, whose calibration counts in squares).

Corners have to lie in the same row of both views, and with the focal length, baseline and offset that the element tells,
neighbouring corners are one square apart: both are judged by OpenCV's corner finder.
"""
import os
import sys

try:
    import cv2
    import gi
    import numpy
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
except (ImportError, ValueError) as missing:
    print("skipped: %s" % missing)
    sys.exit(77)

SQUARE = 25.0  # mm
PAIRS = ("01", "05", "08", "13")
folder = os.path.join(os.environ.get("STEREO_DATA", ""), "unrectified")
if not os.path.isdir(folder):
    print("skipped: STEREO_DATA/unrectified is not there")
    sys.exit(77)
Gst.init(None)
if not all(Gst.ElementFactory.find(name) for name in ("jpegdec", "videoconvert", "appsink", "stereorectify")):
    print("skipped: an element is missing")
    sys.exit(77)


def rectify(number, alpha):
    source = "filesrc location=%s/%%s/%%s%s.jpg ! jpegdec ! videoconvert ! video/x-raw,format=GRAY8 ! r.sink_%%s" % (
        folder, number)
    pipeline = Gst.parse_launch(
        "stereorectify name=r calibration=%s/calib_computed.yml unit=%g alpha=%g ! appsink name=out sync=false %s %s" % (
            folder, SQUARE, alpha, source % (("left",) * 3), source % (("right",) * 3)))
    pipeline.set_state(Gst.State.PLAYING)
    sample = pipeline.get_by_name("out").emit("try-pull-sample", 60 * Gst.SECOND)
    if not sample:
        message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        sys.exit("no output: %s" % (message.parse_error().gerror.message if message else "nothing said why"))
    size = sample.get_caps().get_structure(0)
    width, height = size.get_value("width"), size.get_value("height")
    data = sample.get_buffer().extract_dup(0, width * height)
    numbers = [pipeline.get_by_name("r").get_property(name) for name in ("focal-length", "baseline", "principal-offset")]
    pipeline.set_state(Gst.State.NULL)
    picture = numpy.frombuffer(data, numpy.uint8).reshape(height, width)
    return picture[:, :width // 2], picture[:, width // 2:], numbers


def corners(view):
    found, places = cv2.findChessboardCorners(numpy.ascontiguousarray(view), (9, 6))
    if not found:
        return None
    end = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 40, 0.001)
    return cv2.cornerSubPix(numpy.ascontiguousarray(view), places, (5, 5), (-1, -1), end).reshape(6, 9, 2)


judged = failed = 0
for number in PAIRS:
    left, right, (focal, baseline, offset) = rectify(number, 0)
    a, b = corners(left), corners(right)
    if a is None or b is None:
        continue
    judged += 1
    rows = numpy.abs(a[..., 1] - b[..., 1])
    depth = focal * baseline / (a[..., 0] - b[..., 0] + offset)
    centre = numpy.array([left.shape[1] / 2, left.shape[0] / 2])
    points = numpy.dstack([(a - centre) * depth[..., None] / focal, depth])
    apart = numpy.median(numpy.linalg.norm(numpy.diff(points, axis=1), axis=2))
    good = rows.mean() < 0.35 and abs(apart - SQUARE) < 0.04 * SQUARE
    failed += not good
    print("%s pair %s: rows differ by %.3f px on average, %.3f at most; squares of %.2f mm" % (
        "ok" if good else "FAIL", number, rows.mean(), rows.max(), apart))
if judged < 2:
    sys.exit("corners were found in %d pairs only" % judged)
sys.exit(1 if failed else 0)
