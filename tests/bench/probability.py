#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fits the probability of a disparity to scenes with a truth, leaving out one scene at a time.

    probability.py [--data FOLDER] [--counts PROGRAM] [--cache FILE] [--most P] [OPTION=VALUE ...]

Prints the weights for stereo/engine/tables.c, fitted to all scenes, and what the fit gives on scenes that it has not
seen: the area under the sparsification curve as a multiple of that of the best order, and what was stated against what was
measured. Every group of scenes weighs the same, and every scene of a group. The sky of the folder "road" is a group: its
disparity is 0.

The order comes first: a logistic regression, in which the sky weighs more than others, for an obstacle in the sky does more
harm than a hole in a road. Then a curve that keeps the order makes probabilities of it, and there the sky weighs as much as
any group. It is linear between knots, in logits.

The options are the matcher's; without any it is the default method. Wrong is what score.py calls wrong.
"""
import argparse
import collections
import math
import os
import random
import subprocess
import sys
import tempfile

import numpy as np

import groups
import score

SKY_FRAMES = 12
SKY_WEIGHT = 2.4
BINS = 10
# how much weight of samples, of one group, holds the curve straight
STIFF = 1e-3
# of the curve: STEREO_KNOTS of stereo/engine/tables.c
KNOTS = (-6.0, -3.0, -1.5, 0.0, 1.2, 2.5, 4.0)

# Measures as near as this, of 255, are counted as one: a fit takes seconds then.
COARSE = 4


def counts_of(program, truth, words):
    """[(agreement, distinctness, edge, pixels, right, near)], the measures between 0 and 1."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(truth.astype(np.float32).tobytes())
        file.flush()
        done = subprocess.run([program, file.name, *words], stdout=subprocess.PIPE, check=True, text=True)
    counts = collections.defaultdict(lambda: [0, 0, 0])
    for line in done.stdout.splitlines():
        a, d, edge, *row = (int(word) for word in line.split())
        total = counts[COARSE * round(a / COARSE), COARSE * round(d / COARSE), edge]
        for k, count in enumerate(row):
            total[k] += count
    return [(min(a, 255) / 255, min(d, 255) / 255, edge, *row) for (a, d, edge), row in counts.items()]


def seen(truth, mask):
    return truth if mask is None else np.where(mask, truth, np.nan)


def scenes_of(arguments):
    """{group: {scene: counts}}"""
    cache = groups.Cache(arguments.counts, arguments.cache)

    def counts(truth, words):
        """@truth: makes the disparities, NaN where a pixel does not count."""
        return cache.of(words, lambda: counts_of(arguments.counts, truth(), words))
    options = [*arguments.options, "fill=background", "confidence-threshold=0"]
    result = {}
    for group in groups.SETS:
        result[group.name] = {}
        for scene, disparities in group.scenes.items():
            pair = score.scene_of(*(os.path.join(arguments.data, scene, view + ".png") for view in ("left", "right")))
            result[group.name][scene] = counts(lambda pair=pair: seen(*score.load(pair)),
                                               [pair.left, pair.right, f"num-disparities={disparities}", *options])
    road = os.path.join(arguments.data, "road")
    result["sky"] = {}
    for frame in range(SKY_FRAMES):
        mask, left, right = (os.path.join(road, view, f"{frame:06}.png") for view in ("sky", "left", "right"))
        result["sky"][f"sky-{frame}"] = counts(lambda mask=mask: np.where(score.read_grey(mask) == 255, 0, np.nan),
                                               [left, right, "num-disparities=128", *options])
    return result


def terms(row):
    agreement, distinctness, edge, *_ = row
    return (math.log(1.01 - agreement), math.log(distinctness + 0.02), 1.0, edge)


def regression(samples, start, stiff=False):
    """Logistic regression by Newton's method, of [(terms, offset, pixels, right)]. @stiff holds the steps from each weight to the next near
    those of @start: where no sample is, a curve rises like it."""
    term, offset, pixels, right = (np.array(each, float) for each in zip(*samples))
    start = weights = np.array(start, float)
    steps = np.diff(np.eye(len(start)), axis=0) * bool(stiff)
    for _ in range(15):
        p = 1 / (1 + np.exp(-np.clip(term @ weights + offset, -30, 30)))
        gradient = term.T @ (right - pixels * p) - STIFF * steps.T @ steps @ (weights - start)
        curvature = term.T * (pixels * p * (1 - p)) @ term + 1e-6 * np.eye(len(start)) + STIFF * steps.T @ steps
        weights = weights + np.linalg.solve(curvature, gradient)
    return weights.tolist()


def logit_of(weights, row):
    """Before the curve. The matcher's tables end at 8."""
    return max(-8.0, min(8.0, np.dot(weights, terms(row))))


def curve_terms(logit):
    """What each knot's value weighs at @logit, and what is added: beyond the last knots the curve rises as @logit does."""
    held = max(KNOTS[0], min(KNOTS[-1], logit))
    return [np.interp(held, KNOTS, row) for row in np.eye(len(KNOTS))], logit - held


def probability(weights, curve, row):
    shares, more = curve_terms(logit_of(weights, row))
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, np.dot(curve, shares) + more))))


def samples_of(scenes, left_out, sky_weight, terms_of):
    samples = []
    for group, members in scenes.items():
        seen = {name: rows for name, rows in members.items() if name != left_out}
        for rows in seen.values():
            share = (sky_weight if group == "sky" else 1) / len(seen) / sum(row[3] for row in rows)
            samples += [(*terms_of(row), row[3] * share, row[4] * share) for row in rows]
    return samples


def fit_curve(samples):
    """The logits at the knots, which never fall: knots between which they would are held alike."""
    group = list(range(len(KNOTS)))
    while True:
        members = [[k for k in range(len(KNOTS)) if group[k] == g] for g in range(group[-1] + 1)]
        start = [sum(KNOTS[k] for k in member) / len(member) for member in members]
        grouped = [([sum(term[k] for k in member) for member in members], *rest) for term, *rest in samples]
        values = regression(grouped, start, stiff=True)
        falls = [g for g in range(len(values) - 1) if values[g + 1] < values[g]]
        if not falls:
            return [values[g] for g in group]
        group = [g - (g > falls[0]) for g in group]


def fit(scenes, most, left_out=None):
    """The weights, and the logits at the knots, none of which is above @most."""
    weights = regression(samples_of(scenes, left_out, SKY_WEIGHT, lambda row: (terms(row), 0)), [0.0] * 4)
    curve = fit_curve(samples_of(scenes, left_out, 1, lambda row: curve_terms(logit_of(weights, row))))
    return weights, [min(value, most) for value in curve]


def area_ratio(weights, rows):
    """The area under the sparsification curve, wrong by more than 3 px, as a multiple of that of the best order."""
    order = sorted(rows, key=lambda row: (-logit_of(weights, row), random.random()))
    kept, bad = (np.cumsum([0, *counts]) for counts in zip(*((row[3], row[3] - row[5]) for row in order)))
    steps, share = kept[-1] * np.arange(1, 21) / 20, bad[-1] / kept[-1]
    return np.mean(np.interp(steps, kept, bad) / steps) / (share + (1 - share) * math.log(1 - share)) if 0 < share < 1 else float("nan")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("STEREO_DATA", os.path.join(here, "../../../shared/data")))
    parser.add_argument("--counts", default=os.path.join(here, "../../build/tests/bench/probability-counts"))
    parser.add_argument("--cache", help="a JSON file that keeps what was counted")
    parser.add_argument("--most", type=float, default=1, metavar="P",
                        help="where the curve ends, for methods whose surest pixels are few, and of few scenes")
    parser.add_argument("options", nargs="*", metavar="OPTION=VALUE")
    arguments = parser.parse_args()
    random.seed(1)
    scenes = scenes_of(arguments)
    most = -math.log(1 / arguments.most - 1) if arguments.most < 1 else math.inf
    weights, curve = fit(scenes, most)
    print("weights of agreement, distinctness, offset, edge: " + ", ".join(f"{w:.3f}" for w in weights))
    print("logits at the knots: " + ", ".join(f"{w:.2f}" for w in curve))
    bins = np.zeros((BINS, 3))  # stated, measured, share of the pixels
    for group, members in scenes.items():
        ratios = []
        for name, rows in members.items():
            own, own_curve = fit(scenes, most, name)
            ratios.append(area_ratio(own, rows))
            share = 1 / len(members) / sum(row[3] for row in rows)
            for row in rows:
                p = probability(own, own_curve, row)
                bins[min(int(p * BINS), BINS - 1)] += np.array([p * row[3], row[4], row[3]]) * share
        if group != "sky":
            print(f"{group}: area {sum(ratios) / len(ratios):.2f} times the best")
    print("stated  measured  share of the pixels, of scenes that were left out")
    for stated, measured, mass in bins[bins[:, 2] > 0]:
        print(f"{100 * stated / mass:5.1f} %  {100 * measured / mass:5.1f} %  {100 * mass / bins[:, 2].sum():5.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
