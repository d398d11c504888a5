#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Errors, flicker and trails of frames that go one after the other through one matcher.

video.py [--bench PATH] [--frames N] [--noise S] (LEFT.png RIGHT.png | FOLDER) -- [stereo-bench options ...]

A pair stands still for N frames, 20 without the option; FOLDER has left/NAME.png and right/NAME.png, and gt/NAME.png or gt/NAME.pfm where
the truth is known. --noise: of that standard deviation, in grey levels, new in every frame. A row a frame, and the means from the tenth
on, or from the second where there are no more than nine:
    bad1      percent of the pixels that both views see, or with a truth, that are off by more than 1 px, or missing
    flicker   percent of the pixels whose disparity changed by more than 1 px, came or went
    trails    percent of the pixels whose true disparity changed by more than 2 px that still have the one before within 1 px
"""
import argparse
import glob
import os
import sys
import tempfile

import cv2
import numpy as np

from score import Refused, default_bench, load, matched, scene_of, scores

SETTLED = 9  # the frame, from 0, from which on means are taken, where there are more


def frames_of(words, count):
    """The scene of each frame: of a pair that stands still @count times; of a sequence @count at most, 0 being all."""
    if len(words) == 2:
        return [scene_of(*words)] * (count or 20)
    paths = sorted(glob.glob(os.path.join(glob.escape(words[0]), "left", "*.png")))[:count or None]
    truths = [os.path.join(words[0], "gt", os.path.basename(path)[:-4]) for path in paths]
    return [scene_of(path, os.path.join(words[0], "right", os.path.basename(path)))._replace(
        truth=next((truth + end for end in (".png", ".pfm") if os.path.exists(truth + end)), None), mask=None) for path, truth in zip(paths, truths)]


def write_noisy(scenes, noise, folder):
    draw = np.random.default_rng(1)
    for side in ("left", "right"):
        os.mkdir(os.path.join(folder, side))
        for number, scene in enumerate(scenes):
            picture = cv2.imread(getattr(scene, side), cv2.IMREAD_UNCHANGED)
            if picture is None:
                raise Refused(f"{getattr(scene, side)}: cannot be read")
            made = np.clip(np.rint(picture + draw.normal(0, noise, picture.shape)), 0, 255).astype(np.uint8)
            cv2.imwrite(os.path.join(folder, side, f"{number:05}.png"), made)


def maps_of(bench, scenes, noise, options):
    """The disparities of all frames."""
    with tempfile.TemporaryDirectory() as folder:
        write_noisy(scenes, noise, folder)
        return [disparity for disparity, _ in matched(bench, [*options, "--sequence", folder])[2]]


def figures(now, before, truth, truth_before, mask=None):
    """{figure: percent} of a frame; @before: None for the first."""
    row = {}
    if truth is not None and (found := scores(now, truth, mask)):
        row["bad1"] = found["bad1"]
    if before is not None:
        row["flicker"] = 100 * np.mean(~(np.abs(now - before) <= 1) & ~(np.isnan(now) & np.isnan(before)))
        if truth is not None and truth_before is not None:
            changed = np.abs(truth - truth_before) > 2
            if changed.any():
                row["trails"] = 100 * np.mean((np.abs(now - truth_before) <= 1)[changed])
    return row


def video(bench, words, count, noise, options):
    """The figures of each frame, and their means."""
    scenes = frames_of(words, count)
    if not scenes:
        raise Refused(f"{words[0]}: there is no PNG in {words[0]}/left")
    truths = [load(scene) for scene in dict.fromkeys(scenes)]
    truths = truths * len(scenes) if len(truths) == 1 else truths
    maps = maps_of(bench, scenes, noise, options)
    rows = [figures(now, before, truth, then[0], mask) for now, before, (truth, mask), then in
            zip(maps, [None, *maps], truths, [(None, None), *truths])]
    settled = rows[SETTLED if len(rows) > SETTLED else 1:]
    return rows, {name: np.mean([row[name] for row in settled if name in row]) for name in ("bad1", "flicker", "trails")
                  if any(name in row for row in settled)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default=default_bench(), help="the program (default: %(default)s)")
    parser.add_argument("--frames", type=int, default=0)
    parser.add_argument("--noise", type=float, default=0)
    parser.add_argument("views", nargs="+", metavar="FILE")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    arguments = parser.parse_args(sys.argv[1:split])
    if len(arguments.views) > 2:
        parser.error("give two views, or one folder; options of stereo-bench stand behind --")
    try:
        rows, means = video(arguments.bench, arguments.views, arguments.frames, arguments.noise, sys.argv[split + 1:])
    except Refused as refused:
        sys.exit(str(refused))
    for name, row in [*((f"frame {k + 1:3}", row) for k, row in enumerate(rows)), ("means    ", means)]:
        print(name + "".join(f"  {figure} {value:7.3f}" for figure, value in row.items()))


if __name__ == "__main__":
    main()
