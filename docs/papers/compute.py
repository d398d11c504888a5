# SPDX-License-Identifier: LGPL-2.1-or-later
"""Answers what the figures ask (bench.py), with stereo-bench and OpenCV. Everything but times runs side by side.

What may be asked of a pair and options:
    disparity          a map, in pixels
    bad L R, off L     percent of region R (nocc, all, disc; "in N": nocc from column N on; "kept in N": those of them that have a value;
                       "textured", "blank", "heavy": most texture, a tenth of the picture) that is off by more than L px or has no value; the map of it
    d1                 percent off by more than 3 px and by more than 5 % of the truth, or without a value
    mse D, mse0 D      mean squared error of disparities over D; no value counts as 0; mse0: after a median of 3x3 over the map with these zeros
    missing            percent of the picture without a value
    blank              where the left view has no texture; "blank share": percent of it
    grey X Y SIDE      the left view's grey levels around a pixel; 0 counts as 1/64
    largest            the largest true disparity, px
    video NOISE bad1, video NOISE flicker    means of the last 11 of 20 frames in a row, with that noise; flicker: percent of the
                       pixels whose disparity changes by more than a pixel, comes or goes
    memory             what stereo-bench says of it (MiB)
    time [LEVEL]       milliseconds of a frame and of its stages; of a GPU if the options say so
    resize C           milliseconds that OpenCV takes to make the left view C columns wide
"""
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import cv2
import numpy

import rtaw
from bench import key_of

LEAST_GREY = 1 / 64
WITHOUT_MATCHER = ("blank", "grey", "largest")
LEAST_GRADIENT = 4  # grey levels a pixel along the row: less in the mean of 3x3 squares is no texture (Scharstein and Szeliski 2002)
PASSES, RUNS, GPU_RUNS = 3, 5, 20
FRAMES, SETTLED = 20, 11  # of a pair that stands still
LONG = 1500  # milliseconds: of frames that take longer, one is timed in each pass


# ---- pairs -------------------------------------------------------------------------------------------------------------------


def read_truth(scene):
    """Disparities in pixels; not-a-number where it is not known."""
    floats, png = (os.path.join(scene, "gt" + kind) for kind in (".pfm", ".png"))
    if os.path.exists(floats):
        truth = cv2.imread(floats, cv2.IMREAD_UNCHANGED).astype(numpy.float64)
        return numpy.where(numpy.isfinite(truth), truth, numpy.nan)
    truth = cv2.imread(png, cv2.IMREAD_UNCHANGED) / 256
    return numpy.where(truth > 0, truth, numpy.nan)


def read_mask(scene, name):
    """None: there is no such mask."""
    path = os.path.join(scene, f"mask_{name}.png")
    return cv2.imread(path, cv2.IMREAD_GRAYSCALE) == 255 if os.path.exists(path) else None


def scaled_pair(left, right, truth, columns, folder):
    """Paths of the views at @columns, and the truth with them."""
    factor, paths = columns / truth.shape[1], []
    for path in (left, right):
        paths.append(os.path.join(folder, os.path.basename(path)))
        cv2.imwrite(paths[-1], cv2.resize(cv2.imread(path), None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA))
    rows = cv2.imread(paths[0]).shape[0]
    return paths, cv2.resize(truth, (columns, rows), interpolation=cv2.INTER_NEAREST) * factor


def slanted_pair(left, folder, most=64):
    """The picture as the left view of a plane whose disparity grows from 0 to @most from left to right; and that disparity."""
    picture = cv2.imread(left)
    height, width = picture.shape[:2]
    x, y = numpy.meshgrid(numpy.arange(width, dtype=numpy.float32), numpy.arange(height, dtype=numpy.float32))
    right = cv2.remap(picture, x / (1 - most / width), y, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    paths = [os.path.join(folder, name + ".png") for name in ("left", "right")]
    for path, view in zip(paths, (picture, right)):
        cv2.imwrite(path, view)
    return paths, most * x / width


def texture(left):
    """The sum of the squared steps of grey along the row, of 3x3 pixels."""
    grey = cv2.cvtColor(left, cv2.COLOR_BGR2GRAY).astype(numpy.float64)
    steps = numpy.zeros_like(grey)
    steps[:, :-1] = (grey[:, 1:] - grey[:, :-1]) ** 2
    return cv2.boxFilter(steps, -1, (3, 3), normalize=False)


def textureless(left):
    return texture(left) < 9 * LEAST_GRADIENT ** 2  # whole numbers


class Pair:
    """The files of a pair, its truth and its masks."""

    def __init__(self, data, name, folder):
        scene, _, columns = re.sub("/slanted$", "", name).partition("@")
        self.made = scene[0].isdigit()  # by stereo-bench, of that size
        if self.made:
            self.files, self.masks = ["--synthetic", scene], {}
            return
        at = os.path.join(data, scene)
        if not os.path.exists(os.path.join(at, "left.png")):
            sys.exit(f"papers.py: there is no scene {scene} in {data}: the figure needs it")
        self.files = [os.path.join(at, view + ".png") for view in ("left", "right")]
        self.masks = {region: read_mask(at, region) for region in ("nocc", "all", "disc")}
        self.truth = read_truth(at)
        if columns or name != scene:
            self.masks = {}
            folder = os.path.join(folder, name.replace("/", "-"))
            os.makedirs(folder)
            self.files, self.truth = (scaled_pair(*self.files, self.truth, int(columns), folder) if columns
                                      else slanted_pair(self.files[0], folder))

    def region(self, words, disparity):
        """The pixels of the words after the limit of "bad"."""
        name, *more = words
        if name == "kept":
            return self.region(more, disparity) & numpy.isfinite(disparity)
        mask = self.masks.get("nocc" if name in ("in", "textured", "blank", "heavy") else name)
        mask = numpy.ones(self.truth.shape, bool) if mask is None else mask
        if name == "in":
            return mask & (numpy.arange(mask.shape[1]) >= int(more[0]))
        if name in ("textured", "blank"):
            return mask & (textureless(cv2.imread(self.files[0])) == (name == "blank"))
        if name == "heavy":
            steps = texture(cv2.imread(self.files[0]))
            return mask & (steps >= numpy.quantile(steps, 0.9))
        return mask


# ---- scores ------------------------------------------------------------------------------------------------------------------


def bad(disparity, truth, mask, limit):
    """Percent of the pixels of @mask with a truth that are off by more than @limit, or have no value."""
    counts = mask & numpy.isfinite(truth)
    off = ~(numpy.abs(disparity - truth) <= limit)
    return 100 * float(off[counts].mean())


def d1(disparity, truth, mask):
    counts, error = mask & numpy.isfinite(truth), numpy.abs(disparity - truth)
    return 100 * float((~((error <= 3) | (error <= 0.05 * truth)))[counts].mean())


def squared_error(disparity, truth, most):
    """The mean square of disparities as shares of @most; what has no value counts as 0, as the paper sets it."""
    known = numpy.isfinite(truth)
    off = (numpy.nan_to_num(disparity) - truth)[known] / most
    return float((off ** 2).mean())


def score(pair, disparity, what):
    name, *words = what.split()
    if name == "disparity":
        return disparity
    if name == "bad":
        return bad(disparity, pair.truth, pair.region(words[1:], disparity), float(words[0]))
    if name == "off":
        known = pair.region(["nocc"], disparity) & numpy.isfinite(pair.truth)
        return ~(numpy.abs(disparity - pair.truth) <= float(words[0])) & known
    if name == "d1":
        return d1(disparity, pair.truth, pair.region(["nocc"], disparity))
    if name == "mse":
        return squared_error(disparity, pair.truth, numpy.nanmax(pair.truth) if words[0] == "own" else float(words[0]))
    if name == "mse0":
        return squared_error(cv2.medianBlur(numpy.nan_to_num(disparity).astype(numpy.float32), 3), pair.truth, float(words[0]))
    if name == "missing":
        return 100 * float(numpy.isnan(disparity).mean())
    return score_of_pair(pair, name, words)


def score_of_pair(pair, name, words):
    """What no matcher is asked for."""
    if name == "largest":
        return float(numpy.nanmax(pair.truth))
    view = cv2.imread(pair.files[0])
    if name == "grey":
        x, y, side = map(int, words)
        grey = cv2.cvtColor(view, cv2.COLOR_BGR2GRAY)[y - side // 2:y + side // 2 + 1, x - side // 2:x + side // 2 + 1]
        return numpy.maximum(grey.astype(float), LEAST_GREY)
    blank = textureless(view)
    return 100 * float(blank.mean()) if words else blank


# ---- matchers ----------------------------------------------------------------------------------------------------------------


def run(program, options, files, level=""):
    """One object of stereo-bench's JSON."""
    words = [program, "--json", *options, *files]
    environment = {**os.environ, "STEREO_CPU": level} if level else None
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, env=environment)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
    return json.loads(done.stdout)[0]


def opencv_disparity(files, columns, block, penalty, unique):
    """StereoSGBM in eight directions; P1 is a quarter of P2, as its documentation has it."""
    left, right = (cv2.imread(path) for path in files)
    matcher = cv2.StereoSGBM_create(0, columns, block, P1=penalty // 4 * 3 * block ** 2, P2=penalty * 3 * block ** 2, disp12MaxDiff=1,
                                    uniquenessRatio=unique, speckleWindowSize=100, speckleRange=2, mode=cv2.STEREO_SGBM_MODE_HH)
    found = matcher.compute(left, right) / 16
    return numpy.where(found >= 0, found, numpy.nan)


def disparity_of(program, pair, options):
    """Pixels; not-a-number where there is no value."""
    if options[:1] == ["opencv"]:
        return opencv_disparity(pair.files, *map(int, options[1:]))
    if options[2:3] and options[2] in rtaw.KINDS:  # after --num-disparities N
        return rtaw.disparity(pair.files, int(options[1]), int(options[3]), options[2])
    return maps_of(program, ["--frames", "1", *options, *pair.files])[0]


def maps_of(program, words):
    with tempfile.TemporaryDirectory() as folder:
        run(program, ["--backend", "cpu", "--threads", "1", "--write", folder, *words], ())
        return [cv2.imread(path, cv2.IMREAD_UNCHANGED).astype(float) for path in sorted(glob.glob(folder + "/*-disparity.pfm"))]


def noisy_maps(program, pair, noise, options):
    """Of frames that stand still, with new noise in each."""
    draw = numpy.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder:
        for side, path in zip(("left", "right"), pair.files):
            os.mkdir(os.path.join(folder, side))
            for k in range(FRAMES):
                view = cv2.imread(path)
                view = numpy.clip(numpy.rint(view + draw.normal(0, noise, view.shape)), 0, 255).astype(numpy.uint8)
                cv2.imwrite(os.path.join(folder, side, f"{k:02}.png"), view)
        return maps_of(program, [*options, "--sequence", folder])


def score_of_frames(pair, maps, what):
    if what == "bad1":
        return float(numpy.mean([bad(now, pair.truth, pair.region(["nocc"], now), 1) for now in maps[FRAMES - SETTLED:]]))
    return 100 * float(numpy.mean([~(numpy.abs(now - then) <= 1) & ~(numpy.isnan(now) & numpy.isnan(then))
                                   for then, now in zip(maps[FRAMES - SETTLED - 1:], maps[FRAMES - SETTLED:])]))


def answers_of(program, pair, options, asked):
    """{what: answer} of all that is asked of a pair and options, but times."""
    first = asked[0].split()[0]
    if first == "video":
        noise = asked[0].split()[1]
        maps = noisy_maps(program, pair, float(noise), options)
        return {what: score_of_frames(pair, maps, what.split()[2]) for what in asked}
    if first == "memory":
        return {"memory": run(program, ["--backend", "cpu", "--threads", "1", "--runs", "1", *options], pair.files)["arena_mib"]}
    disparity = None if first in WITHOUT_MATCHER else disparity_of(program, pair, options)
    return {what: score(pair, disparity, what) for what in asked}


def resize_time(pair, columns):
    picture, least = cv2.imread(pair.files[0]), numpy.inf
    for _ in range(RUNS):
        start = time.perf_counter()
        cv2.resize(picture, None, fx=columns / picture.shape[1], fy=columns / picture.shape[1], interpolation=cv2.INTER_AREA)
        least = min(least, 1e3 * (time.perf_counter() - start))
    return least


def time_of(program, pair, options, level):
    """(Milliseconds of a frame, {stage: milliseconds}): of a GPU the medians, of a processor the shortest frame."""
    if "cuda" in options:
        found = run(program, ["--runs", str(GPU_RUNS), *options], pair.files)
        return found["compute_median_ms"], found["stages_ms"]
    found = run(program, ["--runs", "1", *options], pair.files, level)
    if found["min_ms"] <= LONG:
        found = run(program, ["--runs", str(RUNS), *options], pair.files, level)
    return found["min_ms"], found["stages_ms"]


def least_of(before, found):
    """The shorter of two times, also of stages: what was disturbed least counts."""
    if not isinstance(found, tuple):
        return min(before, found)
    return min(before[0], found[0]), {stage: min(ms, found[1][stage]) for stage, ms in before[1].items()}


def take_times(program, pairs, timed, answers, say):
    """All of them one after the other, and again: other work on the machine lasts longer than one of them, but not as long as all."""
    for n in range(PASSES if timed else 0):
        for views, options, what in timed:
            key, (name, *level) = key_of(views, options, what), what.split()
            if n and "cuda" in options:
                continue
            one = resize_time(pairs[views], int(level[0])) if name == "resize" else time_of(program, pairs[views], options, *(level or [""]))
            answers[key] = least_of(answers[key], one) if n else one
        say(f"times: pass {n + 1} of {PASSES}")


def has_gpu(program):
    words = [program, "--backend", "cuda", "--synthetic", "64x48", "--runs", "1"]
    return not subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode


def all_answers(program, data, asked, jobs, answers, keep=lambda: None, say=lambda words: print(words, file=sys.stderr)):
    """Adds the answers to @asked (bench.Bench) to @answers, {key: answer}. @jobs: how many run side by side. keep() is called now and then."""
    cv2.setNumThreads(1)
    groups, timed = {}, []
    with tempfile.TemporaryDirectory() as folder:
        pairs = {views: Pair(data, views, folder) for views in sorted({views for views, _, _ in asked.values()})}
        for views, options, what in asked.values():
            first = what.split()[0]
            if first in ("time", "resize"):
                timed.append((views, options, what))
            else:
                first = " ".join(what.split()[:2]) if first == "video" else first
                groups.setdefault((views, *options, first if first.startswith("video") or first in ("memory", *WITHOUT_MATCHER) else ""), []).append(what)
        say(f"{len(groups)} runs, {jobs} at a time; {len(timed)} times")
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            found = {pool.submit(answers_of, program, pairs[group[0]], list(group[1:-1]), whats): group for group, whats in groups.items()}
            for n, done in enumerate(concurrent.futures.as_completed(found)):
                views, *options, _ = found[done]
                answers.update({key_of(views, options, what): answer for what, answer in done.result().items()})
                if n % 100 == 99:
                    keep()
                    say(f"{n + 1} runs")
        gpu = any("cuda" in options for _, options, _ in timed) and has_gpu(program)
        answers.update({key_of(*question): None for question in timed if "cuda" in question[1] and not gpu})
        take_times(program, pairs, [question for question in timed if gpu or "cuda" not in question[1]], answers, say)
        keep()
