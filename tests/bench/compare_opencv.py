#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Times stereo-bench and one of OpenCV's matchers on one scene, in turn, on this machine, and scores both.

compare_opencv.py [--bench PATH] [--rounds 5] [--matcher sgbm|hh|bm] SCENE_FOLDER [stereo-bench options ...]

SCENE_FOLDER holds left.png and right.png, and for scores gt.pfm and, if known, mask_nocc.png.
OpenCV's matcher: StereoSGBM, MODE_SGBM (5 directions, one pass) or MODE_HH (8 directions), block 3, or StereoBM,
block 9, of grey views; 2 threads, disparities rounded up to the next multiple of 16 above the scene's, the left
border padded by that much so that every pixel is searched, holes filled from the farther neighbour in the row.
Its time is that of compute() on the padded pair alone. For stereo-bench give --fill background, to fill alike.
A round is the median of five frames of either; median, minimum and maximum are those of the rounds.
Needs python3-opencv (Debian) and a built stereo-bench.
"""
import argparse
import os
import statistics
import sys
import time

import cv2
import numpy as np

import score
from score import LEVELS, default_bench, run

NAMES = {"sgbm": "StereoSGBM MODE_SGBM, filled", "hh": "StereoSGBM MODE_HH, filled", "bm": "StereoBM 9, filled"}


def rounded_up(disparities):
    """A multiple of 16 above the scene's own: 80 for 70."""
    return (disparities + 15) // 16 * 16


def make_matcher(kind, disparities):
    if kind == "bm":
        matcher = cv2.StereoBM_create(numDisparities=disparities, blockSize=9)
        matcher.setDisp12MaxDiff(1)
        return matcher
    mode = cv2.STEREO_SGBM_MODE_HH if kind == "hh" else cv2.STEREO_SGBM_MODE_SGBM
    return cv2.StereoSGBM_create(minDisparity=0, numDisparities=disparities, blockSize=3, P1=8 * 3 * 9, P2=32 * 3 * 9,
                                 disp12MaxDiff=1, preFilterCap=63, uniquenessRatio=10, speckleWindowSize=100,
                                 speckleRange=2, mode=mode)


def fill(disparity):
    """Invalid pixels take the farther of the nearest valid values left and right."""
    height, width = disparity.shape
    sides = []
    for step in (1, -1):
        row, last = disparity[:, ::step].copy(), np.full(height, np.inf, np.float32)
        for x in range(width):
            last = np.where(np.isnan(row[:, x]), last, row[:, x])
            row[:, x] = last
        sides.append(row[:, ::step])
    filled = np.minimum(*sides)
    return np.where(np.isinf(filled), np.nan, filled)


def matcher_frame(matcher, left, right, pad):
    """One timed frame: milliseconds and the filled disparity."""
    start = time.perf_counter()
    raw = matcher.compute(left, right)
    milliseconds = (time.perf_counter() - start) * 1e3
    disparity = raw[:, pad:].astype(np.float32) / 16
    disparity[raw[:, pad:] < 0] = np.nan
    return milliseconds, disparity


def bench_round(bench, scene, disparities, options):
    return run(bench, ["--backend", "cpu", "--threads", "2", "--runs", "5", "--num-disparities", str(disparities), *options,
                       scene.left, scene.right])[0]


def print_row(name, disparities, times, scores):
    cells = " ".join(f"{scores.get(kind, {}).get(f'bad{level:g}', float('nan')):6.2f}"
                     for kind in ("nocc", "all") for level in LEVELS)
    print(f"{name:28} {disparities:5} {statistics.median(times):9.2f} {min(times):9.2f} {max(times):9.2f}   {cells}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default=default_bench())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--disparities", type=int, default=0,
                        help="to search; else ndisp of calib.txt, else the largest true disparity rounded up")
    parser.add_argument("--matcher", choices=("sgbm", "hh", "bm"), default="sgbm")
    parser.add_argument("folder")
    arguments, options = parser.parse_known_args()
    name = os.path.basename(os.path.normpath(arguments.folder))
    scene = score.scene_of(*(os.path.join(arguments.folder, f"{side}.png") for side in ("left", "right")))
    truth, mask = score.load(scene)
    disparities = arguments.disparities or score.search_of(scene, truth)[0]
    if not disparities:
        sys.exit(f"{name}: neither calib.txt nor a truth tells how many disparities to search: say --disparities")

    cv2.setNumThreads(2)
    flag = cv2.IMREAD_GRAYSCALE if arguments.matcher == "bm" else cv2.IMREAD_COLOR
    left, right = (cv2.imread(path, flag) for path in (scene.left, scene.right))
    pad = rounded_up(disparities)
    left, right = (cv2.copyMakeBorder(view, 0, 0, pad, 0, cv2.BORDER_REPLICATE) for view in (left, right))
    matcher = make_matcher(arguments.matcher, pad)
    matcher_frame(matcher, left, right, pad)
    ours, theirs = [], []
    for _ in range(arguments.rounds):       # in turn, so that both see the same machine
        measured = bench_round(arguments.bench, scene, disparities, options)
        ours.append(measured["median_ms"])
        theirs.append(statistics.median(matcher_frame(matcher, left, right, pad)[0] for _ in range(5)))
    disparity = fill(matcher_frame(matcher, left, right, pad)[1])
    found = score.matched(arguments.bench, ["--backend", "cpu", "--frames", "1", "--num-disparities", str(disparities), *options,
                                            scene.left, scene.right])[2][0][0]

    def scored(disparity):
        return {} if truth is None else {kind: score.scores(disparity, truth, where) for kind, where in (("all", None), ("nocc", mask))
                                         if kind == "all" or mask is not None}

    print(f"{name}, {measured['width']}x{measured['height']}, 2 threads, {arguments.rounds} rounds in turn, OpenCV {cv2.__version__}")
    print(f"{'':28} {'disp.':>5} {'median ms':>9} {'min':>9} {'max':>9}   "
          f"{'nocc: bad 0.5':>6} {'1':>6} {'2':>6} {'4':>6} {'all: 0.5':>6} {'1':>6} {'2':>6} {'4':>6}")
    print_row("stereo-bench " + " ".join(options), disparities, ours, scored(found))
    print_row("OpenCV " + NAMES[arguments.matcher], pad, theirs, scored(disparity))
    print(f"ratio of the medians: {statistics.median(ours) / statistics.median(theirs):.2f}")


if __name__ == "__main__":
    main()
