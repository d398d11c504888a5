#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scores stereo-bench on scenes whose true disparities are known.

score.py [--bench PATH] --scenes FOLDER [--scenes FOLDER ...] [--scene NAME,NAME] [--bad N,N] [--all] [--json] [stereo-bench options ...]

Scenes, in FOLDER and in up to three levels of folders below it:
  left.png, right.png      gt.pfm (px, inf = unknown) or gt.png (KITTI's), mask_nocc.png (255 = in both views)
  im0.png, im1.png         disp0.pfm or disp0GT.pfm, mask0nocc.png, calib.txt       (Middlebury 2014)
  view1.png, view5.png     disp1.png (8 bits, 0 = unknown; full, half or third size) (Middlebury 2005, 2006)
  image_2/, image_3/       disp_occ_0/, disp_noc_0/ (16 bits, px * 256, 0 = unknown) (KITTI 2015)
  colored_0/, colored_1/ or image_0/, image_1/   disp_occ/, disp_noc/               (KITTI 2012)
  left/, right/            gt/ (as KITTI's); frames without a truth are left out
Truth, mask and calib.txt may be missing; gt.pfm and gt.png go with any views. Scenes in one folder are a group, and so are scenes called
NAME-NUMBER.

num-disparities is, if the option is not given, ndisp of calib.txt; else the largest true disparity rounded up to a multiple of 16 (from
the truth, which a real camera does not have). Of --frames N, which is 1 without the option, the last is scored.

A row of the table: percent of pixels off by more than N px, or missing (bad N); off by more than 3 px and 5 %, or missing (D1); the mean
error in px and the percent of the pixels that have a value (err, dens); percent wrong of those (kept). The pixels: those that both
views see, and all where that is not known; with --all, all with a truth. The last lines say how well the confidence tells right from
wrong. Every scene weighs the same. Needs python3-opencv.
"""
import argparse
import collections
import fnmatch
import glob
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import cv2
import numpy as np

# The first of each list that is there counts.
VIEWS = (("left.png", "right.png"), ("im0.png", "im1.png"), ("view1.png", "view5.png"))
TRUTHS = ("gt.pfm", "disp0GT.pfm", "disp0.pfm", "gt.png", "disp1.png")
MASKS = ("mask_nocc.png", "mask0nocc.png")
VIEW_FOLDERS = (("image_2", "image_3"), ("colored_0", "colored_1"), ("image_0", "image_1"), ("left", "right"))
TRUTH_FOLDERS, VISIBLE_FOLDERS = ("disp_occ_0", "disp_occ", "gt"), ("disp_noc_0", "disp_noc")
DEPTH = 3  # folders within folders
LEVELS = (0.5, 1, 2, 4)
BINS = 10

# Paths are None where there is no such file. The mask is an 8-bit picture, or a truth of KITTI that is known where both views see.
Scene = collections.namedtuple("Scene", "name group left right truth mask calibration")


class Refused(Exception):
    """What is wrong with a scene, or what stereo-bench said."""


# ---- scenes ------------------------------------------------------------------------------------------------------------------


def first_of(folder, names):
    return next((path for path in (os.path.join(folder, name) for name in names) if os.path.exists(path)), None)


def group_of(top, name):
    """KITTI's sets are all called training: a group of that name has the part before it too."""
    folder = os.path.basename(top)
    if folder in ("training", "testing"):
        folder = os.path.join(os.path.basename(os.path.dirname(top)), folder)
    numbered = re.fullmatch(r"(.+)-\d+", name)
    return numbered[1] if numbered else os.path.dirname(name) or folder


def scene_of(left, right, top=None, name=None):
    """A pair with what lies beside its left view."""
    folder = os.path.dirname(left)
    name = name or os.path.basename(os.path.abspath(folder))
    return Scene(name, group_of(top or "pair", name), left, right, first_of(folder, TRUTHS), first_of(folder, MASKS),
                 first_of(folder, ("calib.txt",)))


def frames_of(folder, top, name):
    """KITTI's sets have frame 10 of short sequences; frames without a truth count only where the set has none at all."""
    sets = (views for views in VIEW_FOLDERS if all(os.path.exists(os.path.join(folder, view)) for view in views))
    left, right = (os.path.join(folder, view) for view in next(sets))
    truth, visible = first_of(folder, TRUTH_FOLDERS), first_of(folder, VISIBLE_FOLDERS)
    scenes = []
    for path in sorted(glob.glob(os.path.join(glob.escape(truth or visible or left), "*.png" if truth or visible else "*_10.png"))):
        file = os.path.basename(path)
        mask = visible and first_of(visible, (file,))
        whole = os.path.join(name, file[:-4])
        scenes.append(Scene(whole, group_of(top, whole), os.path.join(left, file), os.path.join(right, file),
                            truth and first_of(truth, (file, file[:-4] + ".pfm")) or mask, mask, None))
    return scenes


def find(folder, top=None, name="", depth=DEPTH):
    """The scenes in a folder and in those below, by name."""
    folder = folder.rstrip("/") or "/"
    top = top or folder
    if not os.path.isdir(folder):
        raise Refused(f"{folder}: not a folder that can be read")
    for left, right in (tuple(os.path.join(folder, view) for view in views) for views in VIEWS):
        if os.path.exists(left):
            if not os.path.exists(right):
                raise Refused(f"{left} is there without {os.path.basename(right)}")
            return [scene_of(left, right, top, name or os.path.basename(folder))]
    try:
        return frames_of(folder, top, name)
    except StopIteration:
        pass
    below = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir() and not entry.name.startswith(".")) if depth else ()
    return [scene for each in below for scene in find(os.path.join(folder, each), top, os.path.join(name, each), depth - 1)]


def regular(path):
    """To open a FIFO would wait for its other end."""
    if not os.path.isfile(path):
        raise Refused(f"{path} is no regular file: name a file, not a folder, a FIFO or a device")
    return path


def read_grey(path):
    picture = cv2.imread(regular(path), cv2.IMREAD_UNCHANGED)
    if picture is None or picture.ndim != 2:
        raise Refused(f"{path}: cannot be read as a PNG of grey samples alone")
    return picture


def read_pfm(path):
    with open(regular(path), "rb") as file:
        head = re.match(rb"Pf\s+(\d{1,5})\s+(\d{1,5})\s+(-?[\d.]+)\n", file.read(100))
        values = head and np.fromfile(path, "<f4" if float(head[3]) < 0 else ">f4", -1, "", head.end())
    if not head or len(values) != int(head[1]) * int(head[2]):
        raise Refused(f"{path}: not a readable PFM of one channel")
    return values.reshape(int(head[2]), int(head[1]))[::-1].astype(np.float32)


def read_truth(path, scale=0):
    """Disparities in px, NaN where they are not known. @scale: steps in a pixel of 8 bits; 0: Middlebury 2005 and 2006 have views of 1110
    rows, whose truth counts pixels, and the same at a half and a third of the size, whose truth still has the numbers of the full size."""
    if path.endswith(".pfm"):
        truth = read_pfm(path)
        return np.where(np.isfinite(truth), truth, np.nan)
    samples = read_grey(path)
    if samples.dtype == np.uint16:
        scale = 256
    elif not scale and len(samples) not in (1110, 555, 370):
        raise Refused(f"{path} has {len(samples)} rows: an 8-bit truth of Middlebury has 1110, 555 or 370; for another size set "
                      "--truth-scale, the steps in a pixel")
    return np.where(samples > 0, samples / np.float32(scale or 1110 // len(samples)), np.nan)


def load(scene, scale=0):
    """(truth, mask); None where it is not known. A mask alone says nothing."""
    if not scene.truth:
        return None, None
    view, truth, mask = cv2.imread(regular(scene.left), 0), read_truth(scene.truth, scale), scene.mask and read_grey(scene.mask)
    if view is None:
        raise Refused(f"{scene.left}: cannot be read")
    if mask is not None:
        mask = mask != 0 if mask.dtype == np.uint16 else mask == 255
    for path, found in ((scene.truth, truth), (scene.mask, mask)):
        if found is not None and found.shape != view.shape:
            raise Refused("{} is {}x{}: it must have the size of the left view, {}x{}".format(path, *found.shape[::-1], *view.shape[::-1]))
    return truth, mask


def search_of(scene, truth):
    """(disparities to search, where the number is from); 0: not known."""
    if scene.calibration:
        with open(regular(scene.calibration), encoding="utf-8", errors="replace") as file:
            for line in re.findall(r"^ndisp=(.*)$", file.read(), re.M):
                if not re.fullmatch(r"[1-9]\d*", line.strip()):
                    raise Refused(f"{scene.calibration}: ndisp={line}: ndisp must be a whole number from 1")
                return int(line), "calib.txt"
    if truth is not None and np.isfinite(truth).any():
        return (math.ceil(np.nanmax(truth)) + 16) // 16 * 16, "truth"
    return 0, "default"


# ---- scores ------------------------------------------------------------------------------------------------------------------


def scores(disparity, truth, mask=None, levels=LEVELS):
    """Percents of the pixels with a truth, and in the mask; a disparity that is not a number is missing. None: there are none."""
    counts = np.isfinite(truth) & (True if mask is None else mask)
    found, true = disparity[counts].astype(np.float64), truth[counts].astype(np.float64)
    if not true.size:
        return None
    kept, off = np.isfinite(found), np.abs(found - true)
    wrong = {f"bad{level:g}": ~(off <= level) for level in levels}
    wrong["d1"] = ~((off <= 3) | (off <= 0.05 * true))
    row = {"pixels": int(true.size), **{name: 100 * each.mean() for name, each in wrong.items()}, "density": 100 * kept.mean()}
    if kept.any():
        row["average_error"] = off[kept].mean()
        row["kept"] = {"pixels": int(kept.sum()), **{name: 100 * each[kept].mean() for name, each in wrong.items()}}
    return row


def confidence_scores(disparity, confidence, truth, mask=None):
    """Sparsification: the surest 5 %, 10 %, ... 100 % of the pixels are kept, and the shares of wrong ones among them averaged. Wrong is off by
    more than 3 px, or missing. Among equals the mean over all orders counts. The best possible order has all wrong pixels last:
    e + (1 - e) ln (1 - e), e being the share of wrong ones.

    Calibration: of the pixels that have a value, by their confidence in ten bins, the share that is right within 1 px."""
    counts = np.isfinite(truth) & (True if mask is None else mask)
    sure, off = confidence[counts].astype(int), np.abs(disparity - truth)[counts]
    if not sure.size:
        return None
    wrong = ~(off <= 3)
    pixels, errors = (np.concatenate([[0], np.cumsum(np.bincount(sure, weights, 256)[::-1])]) for weights in (None, wrong))
    wanted = sure.size * np.arange(1, 21) / 20
    share = wrong.mean()
    row = {"area": float(np.mean(np.interp(wanted, pixels, errors) / wanted)),
           "best_area": float(share + (1 - share) * math.log(1 - share)) if share < 1 else 1.0, "calibration": []}
    bins = np.where(np.isfinite(off), sure * BINS // 256, -1)
    for k in range(BINS):
        mine = bins == k
        if mine.any():
            row["calibration"].append({"pixels": int(mine.sum()), "stated": float(sure[mine].mean() / 255), "right": float((off[mine] <= 1).mean())})
    return row


def run(bench, words):
    """The object of stereo-bench's JSON, and what it said besides; @words without times."""
    try:
        done = subprocess.run([bench, "--json", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)
    except OSError as error:
        raise Refused(f"--bench: {error}") from error
    if done.returncode:
        raise Refused(done.stderr.strip() or f"{bench} failed")
    return json.loads(done.stdout)[0], done.stderr


def backends(bench, names):
    """Those that can be had; of others a line says why not."""
    there = []
    for name in names:
        try:
            run(bench, ["--backend", name, "--synthetic", "16x16", "--frames", "1"])
            there.append(name)
        except Refused as refused:
            print(f"SKIP {name}: {refused}")
    return there


def matched(bench, words, last=False):
    """What stereo-bench gives without times: its object, and what it said; the maps of every frame, or of the last: [(disparity, confidence)],
    px, NaN: none."""
    with tempfile.TemporaryDirectory() as folder:
        row, said = run(bench, [*words, "--write", folder])
        paths = sorted(glob.glob(f"{folder}/*-disparity.pfm"))[-1 if last else 0:]
        return row, said, [(read_pfm(path), read_grey(path.replace("disparity.pfm", "confidence.png"))) for path in paths]


def score(bench, scene, options, levels=LEVELS, scale=0):
    """All that is known of a scene: what stereo-bench says of it, and its scores."""
    truth, mask = load(scene, scale)
    searched, source = search_of(scene, truth)
    given = any(word.split("=")[0] == "--num-disparities" for word in options)
    words = [*(["--num-disparities", str(searched)] if searched and not given else []), "--frames", "1", *options, scene.left, scene.right]
    row, said, [(disparity, confidence)] = matched(bench, words, last=True)
    sys.stderr.write(said)
    row.update(scene=scene.name, group=scene.group, disparities_from="option" if given else source)
    if truth is not None:
        found = {"all": scores(disparity, truth, None, levels), "nocc": None if mask is None else scores(disparity, truth, mask, levels),
                 "confidence": confidence_scores(disparity, confidence, truth, mask)}
        row.update({name: each for name, each in found.items() if each})
    return row


# ---- tables ------------------------------------------------------------------------------------------------------------------


def figures(score_of):
    """{column: figure}; a figure of no pixel is missing."""
    kept = score_of.get("kept", {})
    rows = {name: value for name, value in score_of.items() if name.startswith("bad") or name == "d1"}
    rows.update({"err": score_of["average_error"]} if kept else {}, dens=score_of["density"])
    rows.update({f"kept {name}": value for name, value in kept.items() if name != "pixels"})
    return rows


def mean(rows):
    """The mean of each column over the rows that have it."""
    names = {name: None for row in rows for name in row}
    return {name: sum(found) / len(found) for name in names for found in [[row[name] for row in rows if name in row]]}


def line(name, row, columns):
    return f"{name:32}" + "".join(f" {f'{row[column]:.2f}' if column in row else '-':>{max(len(column), 6)}}" for column in columns)


def confidence_lines(rows):
    """How far the order by confidence is from the best one, and what was stated against what was right, in ten bins."""
    ratios, bins = [], {}
    for row in rows:
        found = row.get("confidence", {"best_area": 0})
        if found["best_area"] > 0:
            ratios.append(found["area"] / found["best_area"])
            pixels = sum(each["pixels"] for each in found["calibration"])
            for each in found["calibration"]:
                bins.setdefault(math.floor(each["stated"] * 10), []).append((each["pixels"] / pixels, each["stated"], each["right"]))
    if not ratios:
        return []
    lines = [f"confidence: area under the sparsification curve {sum(ratios) / len(ratios):.2f} times the best, mean of {len(ratios)}"]
    for _, found in sorted(bins.items()):
        share, stated, right = (sum(values) for values in zip(*((s, s * a, s * b) for s, a, b in found)))
        lines.append(f"  stated {100 * stated / share:5.1f} %, right within 1 px {100 * right / share:5.1f} %, "
                     f"of the pixels {100 * share / len(ratios):5.1f} %")
    return lines


def table(rows, part="nocc"):
    scored = [row for row in rows if "all" in row]
    shown = [figures(row.get(part, row["all"])) for row in scored]
    columns = list(mean(shown))
    lines = [f"{'scene':32}" + "".join(f" {column:>6}" for column in columns)]
    groups = list(dict.fromkeys(row["group"] for row in scored))
    for group in groups:
        mine = [(row, cells) for row, cells in zip(scored, shown) if row["group"] == group]
        for row, cells in mine:
            lines.append(line(f"{row['scene']}, {row['disparities']}{'*' if row['disparities_from'] == 'truth' else ''}", cells, columns))
        if len(mine) > 1:
            lines.append(line(f"mean of {len(mine)}, {group}", mean([cells for _, cells in mine]), columns))
    if len(groups) > 1:
        lines.append(line(f"mean of {len(shown)}, all scenes", mean(shown), columns))
    lines += confidence_lines(scored)
    if any(row["disparities_from"] == "truth" for row in scored):
        lines.append("* the largest true disparity, rounded up to a multiple of 16; --num-disparities sets another number")
    return "\n".join(lines)


def chosen(scenes, names):
    """The scenes of "NAME,NAME", by their names or the last parts of them; a name may have wildcards."""
    patterns = dict.fromkeys(names.split(","), False)
    found = []
    for scene in scenes:
        hits = [name for name in patterns for part in {scene.name, os.path.basename(scene.name)} if fnmatch.fnmatchcase(part, name)]
        patterns.update(dict.fromkeys(hits, True))
        found += [scene] if hits else []
    missing = [name for name, used in patterns.items() if not used]
    if missing:
        raise Refused("\n".join(f"--scene {name}: no such scene in the folders of --scenes" for name in missing))
    return found


def default_bench():
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/stereo/tools/stereo-bench")


def levels_of(text):
    try:
        levels = {float(word) for word in text.split(",")}
    except ValueError:
        levels = {0}
    if not all(0 < level <= 1000 for level in levels):
        raise argparse.ArgumentTypeError("write it as 3,5: pixels above 0")
    return sorted({*LEVELS, *levels})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False)
    parser.add_argument("--bench", default=default_bench(), help="the program (default: %(default)s)")
    parser.add_argument("--scenes", action="append", required=True, metavar="FOLDER")
    parser.add_argument("--scene", metavar="NAME,NAME", help="only these; names may have wildcards")
    parser.add_argument("--bad", type=levels_of, default=LEVELS, metavar="N,N", help="more thresholds in px beside 0.5, 1, 2 and 4")
    parser.add_argument("--truth-scale", type=int, default=0, metavar="N", help="steps in a pixel of an 8-bit truth whose size does not tell")
    parser.add_argument("--all", action="store_const", const="all", default="nocc", dest="part")
    parser.add_argument("--json", action="store_true", help="all that is known of each scene, for programs")
    arguments, options = parser.parse_known_args()
    rows, failed = [], 0
    try:
        scenes = [scene for folder in arguments.scenes for scene in find(folder)]
        if not scenes:
            raise Refused(f"{arguments.scenes[0]}: there is no scene in it; --help has the names of the files")
        scenes = chosen(scenes, arguments.scene) if arguments.scene else scenes
    except Refused as refused:
        print(refused, file=sys.stderr)
        scenes, failed = [], 1
    for scene in scenes:
        try:
            rows.append(score(arguments.bench, scene, options, arguments.bad, arguments.truth_scale))
        except Refused as refused:
            print(f"{scene.name}: {refused}", file=sys.stderr)
            failed = 1
    print(json.dumps(rows, indent=1) if arguments.json else table(rows, arguments.part))
    return failed


if __name__ == "__main__":
    sys.exit(main())
