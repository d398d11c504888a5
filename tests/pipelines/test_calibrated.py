# SPDX-License-Identifier: LGPL-2.1-or-later
"""From pictures to rows: calibrate.py makes a file of them, stereorectify loads it, and corners lie in one row of its output.

test_calibrated.py FOLDER: of made boards, as files and through a pipeline; and of STEREO_DATA/unrectified
"""
import contextlib
import glob
import io
import os
import sys

import cv2
import numpy as np
import gi

from boards import BOARD, Made  # puts pipelines/ into the path
import calibrate
import chessboard
gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

SEED = int(os.environ.get("STEREO_TEST_SEED", 0)) or int.from_bytes(os.urandom(4), "little")
ROWS = 0.25  # px, mean over a view


def run(*arguments):
    """What calibrate.py says."""
    with contextlib.redirect_stdout(io.StringIO()) as output:
        calibrate.main(list(arguments))
    return output.getvalue()


def rectified(calibration_file, left, right):
    decode = "filesrc location=%s ! decodebin ! videoconvert ! video/x-raw,format=GRAY8 ! r.sink_%s "
    pipeline = Gst.parse_launch(f"stereorectify name=r calibration={calibration_file} alpha=0 ! appsink name=out sync=false " +
                                decode % (left, "left") + decode % (right, "right"))
    pipeline.set_state(Gst.State.PLAYING)
    sample = pipeline.get_by_name("out").emit("try-pull-sample", 60 * Gst.SECOND)
    if not sample:
        message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        sys.exit("no output: %s" % (message.parse_error().gerror.message if message else "nothing said why"))
    size = sample.get_caps().get_structure(0)
    width, height = size.get_value("width"), size.get_value("height")
    stride = (width + 3) // 4 * 4
    data = np.frombuffer(sample.get_buffer().extract_dup(0, stride * height), np.uint8).reshape(height, stride)
    baseline = pipeline.get_by_name("r").get_property("baseline")
    pipeline.set_state(Gst.State.NULL)
    return data[:, :width // 2].copy(), data[:, width // 2:width].copy(), baseline


def judge_rows(name, calibration_file, pairs, board, baseline):
    """Corners found by OpenCV in what stereorectify makes."""
    seen = 0
    for left, right in pairs:
        *views, measured = rectified(calibration_file, left, right)
        assert abs(measured / baseline - 1) < 0.01, f"{name}: baseline {measured}, not {baseline}"
        view = chessboard.find_pair(board, name, *views)
        if view:
            seen += 1
            rows = np.abs(view.left[:, 1] - view.right[:, 1]).mean()
            print(f"{name}: rows {rows:.3f} px apart behind stereorectify")
            assert rows < ROWS, f"{name}: at most {ROWS} px"
    assert seen >= len(pairs) / 2, f"{name}: corners were found in {seen} of {len(pairs)} pairs"


def made_boards(folder):
    made = Made(seed=SEED)
    made.write(folder)
    pairs = [[f"{folder}/{side}/{i:02}.png" for side in ("left", "right")] for i in (4, 9)]
    yaml = os.path.join(folder, "made.yml")
    output = run("--pictures", folder, "--square", "30", "--baseline", "60", "--output", yaml)
    assert "is written: stereorectify calibration=" in output and "rows apart" in output, output
    judge_rows("made boards", yaml, pairs, BOARD, 60)

    # the same as a stream of frames with both views; each twice, which is held still
    for i in range(len(made.poses)):
        both = np.hstack([cv2.imread(f"{folder}/{side}/{i:02}.png", cv2.IMREAD_GRAYSCALE) for side in ("left", "right")])
        for k in 2 * i, 2 * i + 1:
            cv2.imwrite(f"{folder}/both{k:03}.png", both)
    stream = os.path.join(folder, "stream.yml")
    words = f"multifilesrc location={folder}/both%03d.png caps=image/png,framerate=30/1 ! pngdec"
    os.environ["SINK"] = f"multifilesink location={folder}/shown%04d.raw"  # in place of a window
    output = run("--source", words, "--square", "30", "--output", stream)
    assert "Hold the board" in output, output
    shown = glob.glob(f"{folder}/shown*.raw")
    assert shown and {os.path.getsize(path) for path in shown} == {4 * 960 * (360 + 36)}, shown
    judge_rows("stream", stream, pairs[:1], BOARD, 60)


def real_boards(folder):
    data = os.path.join(os.environ.get("STEREO_DATA", ""), "unrectified")
    if not os.environ.get("STEREO_DATA") or not os.path.isdir(data):
        print("real boards: SKIP: STEREO_DATA does not name the folder of the scenes")
        return
    yaml = os.path.join(folder, "real.yml")
    run("--pictures", data, "--output", yaml)
    file = cv2.FileStorage(yaml, cv2.FILE_STORAGE_READ)
    theirs = cv2.FileStorage(os.path.join(data, "calib_computed.yml"), cv2.FILE_STORAGE_READ)
    for key in "M1", "M2":
        np.testing.assert_allclose(file.getNode(key).mat(), theirs.getNode(key).mat(), rtol=0.01, atol=3)
    baseline = 25 * float(np.linalg.norm(theirs.getNode("T").mat()))  # theirs counts in squares
    pairs = [[path, path.replace("left", "right")] for path in sorted(glob.glob(f"{data}/left/*"))[::8]]
    judge_rows("real boards", yaml, pairs, chessboard.Board(9, 6, 25.0), baseline)
    picture = cv2.imread(pairs[0][0], cv2.IMREAD_GRAYSCALE)
    assert chessboard.other_board(chessboard.Board(10, 7, 25.0), picture) == "9x6"


print(f"seed {SEED}")
Gst.init(None)
made_boards(sys.argv[1])
real_boards(sys.argv[1])
