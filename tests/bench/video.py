#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Errors, flicker, trails and lag of frames that go one after the other through one matcher.

video.py [--bench PATH] [--frames N] [--noise S] (LEFT.png RIGHT.png | FOLDER) -- [stereo-bench options ...]
video.py --driving [--noise S,S] FOLDER... -- [stereo-bench options ...]
video.py --approaching [--noise S] FOLDER -- [stereo-bench options ...]

A pair stands still for N frames, 20 without the option; FOLDER has left/NAME.png and right/NAME.png, and gt/NAME.png or gt/NAME.pfm where
the truth is known. --noise: of that standard deviation, in grey levels, new in every frame. A row a frame, and the means from the tenth
on, or from the second where there are no more than nine:
    bad1      percent of the pixels that both views see, or with a truth, that are off by more than 1 px, or missing
    flicker   percent of the pixels whose disparity changed by more than 1 px, came or went
    trails    percent of the pixels whose true disparity changed by more than 2 px that still have the one before within 1 px

--driving: flicker of what stands still, seen by cameras that move, and D1 of the frames with a truth (KITTI's), without the past
(temporal=0) and with it. The disparity of the frame before is brought to each frame by dense optical flow (DIS, of OpenCV). What the camera
drove changes disparities too: a smooth function of the disparity and of the column, fitted robustly to each pair of frames, is taken out.
Only pixels whose flow agrees in both directions count.

--approaching: lag of what moves by itself before such cameras. A plane is drawn into both views. It stays at one place of the left view and
comes nearer by a step of disparity a frame, as no static surface does. The less texture it has, the less its own costs say against
what the frame before predicts. A cell: the median error inside the plane, and the percent of its pixels off by more than 1 px or
missing; means from the third frame on.
"""
import argparse
import glob
import os
import sys
import tempfile

import cv2
import numpy as np

from score import Refused, default_bench, load, matched, read_truth, scene_of, scores

SETTLED = 9  # the frame, from 0, from which on means are taken, where there are more
NEAR, FAR = 40, 30  # px: the disparity at which the plane that approaches has its own size, and that of the first frame
SIDE = (130, 230)   # rows and columns of it that are looked at, at its own size
BORDER = 15         # rows and columns around them
CONTRASTS, STEPS = (9, 2.2, 1.1), (2, 4)  # standard deviations of its texture, px a frame
APPROACHING = 8  # frames


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


# ---- cameras that move ------------------------------------------------------------------------------------------------


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
    names = sorted(os.path.basename(name) for name in glob.glob(os.path.join(sequence, "left", "*.png")))[:APPROACHING]
    if len(names) < 3:
        raise Refused(f"{sequence} has no three frames: left/ and right/ must have pictures of the same names")
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


def lag(bench, folder, place, options):
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


def driving(bench, sequences, noises, options):
    print("| sequence | noise | `temporal=0`: flicker | D1 | default: flicker | D1 |\n|---|---|---|---|---|---|")
    for sequence in sequences:
        scenes = frames_of([sequence], 0)
        if len(scenes) < 2:
            raise Refused(f"{sequence} has no two frames: left/ and right/ must have pictures of the same names")
        flow = Flow([cv2.imread(scene.left, cv2.IMREAD_GRAYSCALE) for scene in scenes])
        for noise in noises:
            cells = []
            for temporal in ("0", "-1"):
                maps = maps_of(bench, scenes, noise, [*options, "--temporal", temporal])
                wrong = d1(scenes, maps)
                cells += [f"{flicker(flow, maps):.1f} %", "" if wrong is None else f"{wrong:.2f} %"]
            print(f"| {os.path.basename(os.path.normpath(sequence))} | {noise:g} | {' | '.join(cells)} |", flush=True)


def approaching(bench, sequence, noise, options):
    print("| contrast | step | fill=none: `temporal=0` | default | fill=background: `temporal=0` | default |\n|---|---|---|---|---|---|")
    for contrast, step in ((contrast, step) for contrast in CONTRASTS for step in STEPS):
        with tempfile.TemporaryDirectory() as folder:
            place = write_sequence(folder, sequence, contrast, step, noise)
            cells = [lag(bench, folder, place, [*options, "--fill", fill, "--temporal", temporal])
                     for fill in ("none", "background") for temporal in ("0", "-1")]
        print(f"| {contrast} | {step} px | {' | '.join(cells)} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default=default_bench(), help="the program (default: %(default)s)")
    parser.add_argument("--frames", type=int, default=0)
    parser.add_argument("--noise", type=lambda text: [float(word) for word in text.split(",")], default=[0.0], metavar="S,S")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--driving", action="store_true")
    kind.add_argument("--approaching", action="store_true")
    parser.add_argument("views", nargs="+", metavar="FILE")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    arguments, options = parser.parse_args(sys.argv[1:split]), sys.argv[split + 1:]
    if len(arguments.views) > (1 if arguments.approaching else 2) and not arguments.driving:
        parser.error("give two views, or one folder; options of stereo-bench stand behind --")
    try:
        if arguments.driving:
            return driving(arguments.bench, arguments.views, arguments.noise, options)
        if arguments.approaching:
            return approaching(arguments.bench, arguments.views[0], arguments.noise[0], options)
        rows, means = video(arguments.bench, arguments.views, arguments.frames, arguments.noise[0], options)
    except Refused as refused:
        sys.exit(str(refused))
    for name, row in [*((f"frame {k + 1:3}", row) for k, row in enumerate(rows)), ("means    ", means)]:
        print(name + "".join(f"  {figure} {value:7.3f}" for figure, value in row.items()))
    return None


if __name__ == "__main__":
    main()
