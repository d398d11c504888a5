#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Flicker of what stands still, in a sequence from a camera that moves.

The disparity of each frame is compared with that of the frame before, brought here by dense optical flow (DIS, of OpenCV).
What the camera drove changes disparities too: a smooth function of the disparity and of the column, fitted robustly to each
pair of frames, is taken out. Only pixels whose flow agrees in both directions count. Flicker is the percent of them that
change by more than 1 px, come or go. D1 is that of the frames that have a truth in gt/ (KITTI's, disparity x 256).

The past is compared with temporal=0, without and with noise of the sensors.
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np

SCALE = 64  # steps in a pixel of the disparities that stereo-bench writes


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default="build/stereo/tools/stereo-bench", help="the program (default: %(default)s)")
    parser.add_argument("--noise", default="0,5", help="standard deviations in grey levels (default: %(default)s)")
    parser.add_argument("--options", default="--backend cpu --fill background",
                        help="further options of the program (default: %(default)s)")
    parser.add_argument("sequences", nargs="+", metavar="FOLDER", help="left/NAME.png, right/NAME.png, gt/NAME.png")
    return parser.parse_args()


def match(bench, sequence, options):
    """The disparities of all frames, px; NaN: none."""
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run([bench, "--sequence", sequence, "--write", folder, "--disparity-scale", str(SCALE), *options],
                              capture_output=True, text=True, check=False)
        if made.returncode:
            sys.exit(made.stderr.strip() or f"{bench} failed")
        maps = [cv2.imread(name, -1).astype(np.float32) for name in sorted(glob.glob(f"{folder}/*-disparity.png"))]
    return [np.where(one > 0, one / SCALE, np.nan) for one in maps]


class Flow:
    """Where the pixels of each frame were in the frame before, and which of them are sure."""

    def __init__(self, pictures):
        method = cv2.DISOpticalFlow_create(cv2.DISOPTICAL_FLOW_PRESET_MEDIUM)
        height, width = pictures[0].shape
        columns, rows = np.meshgrid(np.arange(width, dtype=np.float32), np.arange(height, dtype=np.float32))
        self.columns = columns / width - 0.5
        self.places, self.sure = [], []
        for before, now in zip(pictures, pictures[1:]):
            back, forth = method.calc(now, before, None), method.calc(before, now, None)
            x, y = columns + back[..., 0], rows + back[..., 1]
            again = cv2.remap(forth, x, y, cv2.INTER_LINEAR, borderValue=(1e3, 1e3))
            away = np.hypot(*(back + again).transpose(2, 0, 1))
            self.places.append((x, y))
            self.sure.append((away < 1) & (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1))


def driven(then, now, columns):
    """What is left of the change when a smooth function of disparity and column is taken out: px, NaN where unknown."""
    known = np.isfinite(then) & np.isfinite(now)
    terms = np.stack([np.ones_like(now), now, now * now, columns * now], -1)
    change, weights = (then - now)[known], np.ones(known.sum())
    for _ in range(15):
        fit = np.linalg.lstsq(terms[known] * weights[:, None], change * weights, rcond=None)[0]
        weights = 1 / np.sqrt(np.maximum(np.abs(change - terms[known] @ fit), 0.1))
    return then - now - terms @ fit


def flicker(flow, disparities):
    """Percent, mean of all frames but the first."""
    shares = []
    for k, now in enumerate(disparities[1:]):
        then = cv2.remap(disparities[k], *flow.places[k], cv2.INTER_NEAREST, borderValue=float("nan"))
        left = driven(then, now, flow.columns)
        comes = np.isfinite(then) != np.isfinite(now)
        shares.append(100 * np.mean((comes | (np.abs(left) > 1))[flow.sure[k]]))
    return np.mean(shares)


def d1(sequence, names, disparities):
    """Percent of the pixels with a truth that are off by more than 3 px and 5 %, or missing; None without a truth."""
    shares = []
    for name, disparity in zip(names, disparities):
        known = os.path.join(sequence, "gt", os.path.basename(name))
        if not os.path.exists(known):
            continue
        truth = cv2.imread(known, -1).astype(np.float32) / 256
        away = np.abs(disparity - truth)
        wrong = ~(away <= np.maximum(3, 0.05 * truth))
        shares.append(100 * np.mean(wrong[truth > 0]))
    return np.mean(shares) if shares else None


def main():
    options = arguments()
    print("| sequence | noise | `temporal=0`: flicker | D1 | default: flicker | D1 |\n|---|---|---|---|---|---|")
    for sequence in options.sequences:
        names = sorted(glob.glob(os.path.join(sequence, "left", "*.png")))
        if len(names) < 2:
            sys.exit(f"{sequence} has no two frames: left/ and right/ must have pictures of the same names")
        flow = Flow([cv2.imread(name, cv2.IMREAD_GRAYSCALE) for name in names])
        for noise in options.noise.split(","):
            cells = []
            for temporal in ("0", "-1"):
                maps = match(options.bench, sequence, [*options.options.split(), "--noise", noise, "--temporal", temporal])
                wrong = d1(sequence, names, maps)
                cells += [f"{flicker(flow, maps):.1f} %", "" if wrong is None else f"{wrong:.2f} %"]
            print(f"| {os.path.basename(os.path.normpath(sequence))} | {noise} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
