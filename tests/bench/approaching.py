#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lag of what moves by itself, in front of cameras that move.

A plane is drawn into both views of a sequence. It stays at one place of the left view and comes nearer by a step of disparity from
frame to frame, as no static surface does. The less texture it has, the less its own costs say against what the frame before predicts.
Each cell: the median error inside the plane, in px, and the percent of its pixels off by more than 1 px or missing; means from the
third frame on. Noise is added to both views.
"""
import argparse
import glob
import os
import sys
import tempfile

import cv2
import numpy as np

from score import default_bench, matched

NEAR, FAR = 40, 30  # px: the disparity at which the plane has its own size, and that of the first frame
SIDE = (130, 230)   # rows and columns of the plane that are looked at, at its own size
BORDER = 15         # rows and columns around them
FRAMES = 8


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default=default_bench(), help="the program (default: %(default)s)")
    parser.add_argument("--contrasts", default="9,2.2,1.1", help="standard deviations of the texture (default: %(default)s)")
    parser.add_argument("--steps", default="2,4", help="px a frame (default: %(default)s)")
    parser.add_argument("--noise", type=float, default=1.5, help="its standard deviation (default: %(default)s)")
    parser.add_argument("--options", default="--backend cpu --num-disparities 128",
                        help="further options of the program (default: %(default)s)")
    parser.add_argument("sequence", metavar="FOLDER", help="left/NAME.png, right/NAME.png")
    return parser.parse_args()


def draw(picture, texture, column, row, size):
    """The plane over the picture."""
    place = np.float32([[size, 0, column], [0, size, row]])
    shape = picture.shape[::-1]
    inside = cv2.warpAffine(np.ones_like(texture), place, shape) > 0.999
    return np.where(inside, cv2.warpAffine(texture, place, shape), picture)


def write_sequence(folder, sequence, contrast, step, noise):
    """The sequence with the plane; its place in the left view, and its disparities."""
    random = np.random.default_rng(5)
    texture = cv2.GaussianBlur(random.normal(size=(SIDE[0] + 2 * BORDER, SIDE[1] + 2 * BORDER)), (0, 0), 1.2)
    texture = np.float32(110 + contrast * texture / texture.std())
    names = sorted(os.path.basename(name) for name in glob.glob(os.path.join(sequence, "left", "*.png")))[:FRAMES]
    if len(names) < 3:
        sys.exit(f"{sequence} has no three frames: left/ and right/ must have pictures of the same names")
    disparities = [FAR + step * k for k in range(len(names))]
    column = row = 0
    for view in ("left", "right"):
        os.mkdir(os.path.join(folder, view))
        for name, disparity in zip(names, disparities):
            picture = cv2.imread(os.path.join(sequence, view, name), cv2.IMREAD_GRAYSCALE).astype(np.float32)
            column, row = int(picture.shape[1] * 0.43), int(picture.shape[0] * 0.32)
            shift = disparity if view == "right" else 0
            made = draw(picture, texture, column - shift, row, disparity / NEAR)
            made += random.normal(size=made.shape) * noise
            cv2.imwrite(os.path.join(folder, view, name), np.clip(made, 0, 255).astype(np.uint8))
    return column, row, disparities


def cell(bench, folder, place, options):
    """Median error and percent wrong."""
    column, row, disparities = place
    errors, wrong = [], []
    for (found, _), disparity in list(zip(matched(bench, ["--sequence", folder, *options])[2], disparities))[2:]:
        size = disparity / NEAR
        away = found[int(row + BORDER * size):int(row + (BORDER + SIDE[0]) * size),
                     int(column + BORDER * size):int(column + (BORDER + SIDE[1]) * size)] - disparity
        errors.append(np.nanmedian(away) if np.isfinite(away).any() else np.nan)
        wrong.append(100 * np.mean(~(np.abs(away) <= 1)))
    return f"{np.mean(errors):+.2f} px, {np.mean(wrong):.1f} %"


def main():
    options = arguments()
    print("| contrast | step | fill=none: `temporal=0` | default | fill=background: `temporal=0` | default |\n|---|---|---|---|---|---|")
    for contrast in options.contrasts.split(","):
        for step in options.steps.split(","):
            with tempfile.TemporaryDirectory() as folder:
                place = write_sequence(folder, options.sequence, float(contrast), float(step), options.noise)
                cells = [cell(options.bench, folder, place, [*options.options.split(), "--fill", fill, "--temporal", temporal])
                         for fill in ("none", "background") for temporal in ("0", "-1")]
            print(f"| {contrast} | {step} px | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
