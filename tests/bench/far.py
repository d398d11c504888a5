#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How wrong distances are, by distance, on the road scenes of KITTI; and how often disparities prefer whole pixels.

far.py [--bench PATH] [--data FOLDER] ["--name value ..." ...]

Each setting is options of stereo-bench. The truth is the laser's. The scenes have no calibration, so a disparity is a distance by
KITTI's nominal rig: 721.5 px and 0.537 m. A cell has the median and the mean of the absolute error, which wrong matches decide, the
median of the signed difference of the disparities, and what has no value. A pixel without a value is in no error.

KITTI 2015 differs from 2012: far away its truth is 0.2 to 0.9 px larger than what any method here matches, in each scene. That is
no error of a matcher, so judge distances by 2012.

Pixel locking is seen on the ground, a slanted plane whose disparities take all fractions alike: the share of the disparities that
lie within a quarter of a pixel of a whole one, in the lower third of the picture. Without locking it is 50 %.
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np

FOCAL, BASELINE = 721.5, 0.537  # px, m
SCALE = 64  # steps in a pixel of the disparities that stereo-bench writes
DISTANCES = (10, 20, 40, 80)  # m; a bin reaches from 0.8 to 1.25 of it


def arguments():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default=os.path.join(here, "../../build/stereo/tools/stereo-bench"))
    parser.add_argument("--data", default=os.environ.get("STEREO_DATA", os.path.join(here, "../../../shared/data")),
                        help="the folder of the scenes (STEREO_DATA)")
    parser.add_argument("settings", nargs="*", metavar="OPTIONS", default=["", "--profile road"])
    return parser.parse_args()


def disparities(options, scenes, setting):
    """The disparities of each scene, px; NaN: none."""
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run([options.bench, "--score", "--runs", "4", "--scenes", options.data, "--scene", ",".join(scenes),
                               "--num-disparities", "128", "--disparity-scale", str(SCALE), "--write", folder, *setting.split()],
                              capture_output=True, text=True, check=False)
        if made.returncode:
            sys.exit(made.stderr.strip() or f"{options.bench} failed")
        maps = [cv2.imread(glob.glob(f"{folder}/{scene}-*-disparity.png")[0], -1).astype(np.float64) for scene in scenes]
    return [np.where(one > 0, one / SCALE, np.nan) for one in maps]


def locking(values):
    return 100 * np.mean(np.abs(values - np.rint(values)) < 0.25)


def cell(found, truth, distance):
    far = FOCAL * BASELINE / truth
    here = (far > 0.8 * distance) & (far < 1.25 * distance)
    valued = here & ~np.isnan(found)
    error = FOCAL * BASELINE / np.maximum(found[valued], 1 / SCALE) - far[valued]
    shift = np.median(found[valued] - truth[valued])
    return (f"{np.median(np.abs(error)):.2f}, {np.mean(np.abs(error)):.2f} m, {shift:+.2f} px, "
            f"{100 * (1 - valued.sum() / here.sum()):.0f} %")


def report(options, year):
    scenes = sorted(os.path.basename(name) for name in glob.glob(f"{options.data}/kitti{year}-*"))
    if not scenes:
        sys.exit(f"{options.data} has no scene kitti{year}-*")
    truths = [cv2.imread(f"{options.data}/{scene}/gt.png", -1) / 256 for scene in scenes]
    truth = np.concatenate([one[one > 0] for one in truths])
    low = np.concatenate([(np.nonzero(one > 0)[0] > 2 * one.shape[0] / 3) for one in truths])
    print(f"\nKITTI 20{year}, {len(scenes)} scenes | " + " | ".join(f"{distance} m" for distance in DISTANCES)
          + f" | near whole pixels (laser: {locking(truth[low]):.1f} %)")
    for setting in options.settings:
        found = np.concatenate([one[true > 0] for one, true in zip(disparities(options, scenes, setting), truths)])
        print(f"{setting or 'default'} | " + " | ".join(cell(found, truth, distance) for distance in DISTANCES)
              + f" | {locking(found[low & ~np.isnan(found)]):.1f} %")


if __name__ == "__main__":
    given = arguments()
    for number in ("12", "15"):
        report(given, number)
