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
import os
import sys

import cv2
import numpy as np

from score import default_bench, read_truth, scores
from video import frames_of, maps_of


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default=default_bench(), help="the program (default: %(default)s)")
    parser.add_argument("--noise", default="0,5", help="standard deviations in grey levels (default: %(default)s)")
    parser.add_argument("--options", default="--backend cpu --fill background",
                        help="further options of the program (default: %(default)s)")
    parser.add_argument("sequences", nargs="+", metavar="FOLDER", help="left/NAME.png, right/NAME.png, gt/NAME.png")
    return parser.parse_args()


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


def d1(scenes, disparities):
    """Mean of the frames with a truth; None without one."""
    shares = [scores(disparity, read_truth(scene.truth))["d1"] for scene, disparity in zip(scenes, disparities) if scene.truth]
    return np.mean(shares) if shares else None


def main():
    options = arguments()
    print("| sequence | noise | `temporal=0`: flicker | D1 | default: flicker | D1 |\n|---|---|---|---|---|---|")
    for sequence in options.sequences:
        scenes = frames_of([sequence], 0)
        if len(scenes) < 2:
            sys.exit(f"{sequence} has no two frames: left/ and right/ must have pictures of the same names")
        flow = Flow([cv2.imread(scene.left, cv2.IMREAD_GRAYSCALE) for scene in scenes])
        for noise in options.noise.split(","):
            cells = []
            for temporal in ("0", "-1"):
                maps = maps_of(options.bench, scenes, float(noise), [*options.options.split(), "--temporal", temporal])
                wrong = d1(scenes, maps)
                cells += [f"{flicker(flow, maps):.1f} %", "" if wrong is None else f"{wrong:.2f} %"]
            print(f"| {os.path.basename(os.path.normpath(sequence))} | {noise} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
