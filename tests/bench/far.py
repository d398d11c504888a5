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
import sys

import numpy as np

from score import Refused, default_bench, matched, read_truth

FOCAL, BASELINE = 721.5, 0.537  # px, m
LEAST = 1 / 64  # px
DISTANCES = (10, 20, 40, 80)  # m; a bin reaches from 0.8 to 1.25 of it


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default=default_bench())
    parser.add_argument("--data", default=os.environ.get("STEREO_DATA", os.path.join(os.path.dirname(__file__), "../../../shared/data")),
                        help="the folder of the scenes (STEREO_DATA)")
    parser.add_argument("settings", nargs="*", metavar="OPTIONS", default=["", "--profile road"])
    return parser.parse_args()


def disparities(options, scene, setting):
    """Px; NaN: none. The first pair tells how the views are aligned."""
    views = [os.path.join(options.data, scene, view + ".png") for view in ("left", "right")]
    return matched(options.bench, ["--frames", "4", "--num-disparities", "128", *setting.split(), *views], last=True)[2][0][0]


def locking(values):
    return 100 * np.mean(np.abs(values - np.rint(values)) < 0.25)


def cell(found, truth, distance):
    far = FOCAL * BASELINE / truth
    here = (far > 0.8 * distance) & (far < 1.25 * distance)
    valued = here & ~np.isnan(found)
    error = FOCAL * BASELINE / np.maximum(found[valued], LEAST) - far[valued]
    shift = np.median(found[valued] - truth[valued])
    return (f"{np.median(np.abs(error)):.2f}, {np.mean(np.abs(error)):.2f} m, {shift:+.2f} px, "
            f"{100 * (1 - valued.sum() / here.sum()):.0f} %")


def report(options, year):
    scenes = sorted(os.path.basename(name) for name in glob.glob(f"{options.data}/kitti{year}-*"))
    if not scenes:
        sys.exit(f"{options.data} has no scene kitti{year}-*")
    truths = [read_truth(f"{options.data}/{scene}/gt.png") for scene in scenes]
    truth = np.concatenate([one[np.isfinite(one)] for one in truths])
    low = np.concatenate([(np.nonzero(np.isfinite(one))[0] > 2 * one.shape[0] / 3) for one in truths])
    print(f"\nKITTI 20{year}, {len(scenes)} scenes | " + " | ".join(f"{distance} m" for distance in DISTANCES)
          + f" | near whole pixels (laser: {locking(truth[low]):.1f} %)")
    for setting in options.settings:
        found = np.concatenate([disparities(options, scene, setting)[np.isfinite(true)] for scene, true in zip(scenes, truths)])
        print(f"{setting or 'default'} | " + " | ".join(cell(found, truth, distance) for distance in DISTANCES)
              + f" | {locking(found[low & ~np.isnan(found)]):.1f} %")


if __name__ == "__main__":
    given = arguments()
    try:
        for number in ("12", "15"):
            report(given, number)
    except Refused as refused:
        sys.exit(str(refused))
