#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fits the probability of a disparity to scenes with a truth, leaving out one scene at a time.

    probability.py [--data FOLDER] [--counts PROGRAM] [OPTION=VALUE ...]

Prints the weights for stereo/engine/probability.c, fitted to all scenes, and what the fit gives on scenes that it has not
seen: the area under the sparsification curve as a multiple of that of the best order, and what was stated against what was
measured. Every group of scenes weighs the same, and every scene of a group. The sky of the folder "road" is a group: its
disparity is 0. It weighs more than others, for an obstacle in the sky does more harm than a hole in a road.

The options are the matcher's; without any it is the default method. Wrong is what stereo-bench calls wrong.
"""
import argparse
import collections
import math
import os
import random
import subprocess
import sys

import groups

SKY_FRAMES = 12
SKY_WEIGHT = 2.4
BINS = 10


# Measures as near as this, of 255, are counted as one: a fit takes seconds then.
COARSE = 4


def counts_of(program, words):
    """[(agreement, distinctness, pixels, right, near)], the measures between 0 and 1."""
    done = subprocess.run([program, *words], stdout=subprocess.PIPE, check=True, text=True)
    counts = collections.defaultdict(lambda: [0, 0, 0])
    for line in done.stdout.splitlines():
        a, d, *row = (int(word) for word in line.split())
        total = counts[COARSE * round(a / COARSE), COARSE * round(d / COARSE)]
        for k, count in enumerate(row):
            total[k] += count
    return [(min(a, 255) / 255, min(d, 255) / 255, *row) for (a, d), row in counts.items()]


def scenes_of(arguments):
    """{group: {scene: counts}}"""
    options = [*arguments.options, "fill=background", "confidence-threshold=0"]
    result = {}
    for group in groups.GROUPS:
        result[group.name] = {}
        for scene, disparities in group.scenes.items():
            views = [os.path.join(arguments.data, scene, view + ".png") for view in ("left", "right")]
            result[group.name][scene] = counts_of(arguments.counts, [*views, f"num-disparities={disparities}", *options])
    road = os.path.join(arguments.data, "road")
    result["sky"] = {}
    for frame in range(SKY_FRAMES):
        mask, left, right = (os.path.join(road, view, f"{frame:06}.png") for view in ("sky", "left", "right"))
        result["sky"][f"sky-{frame}"] = counts_of(
            arguments.counts, ["--sky", mask, left, right, "num-disparities=128", *options])
    return result


def terms(agreement, distinctness):
    return (math.log(1.01 - agreement), math.log(distinctness + 0.02), 1.0)


def solve(matrix, vector):
    """Three equations by Cramer's rule."""
    def determinant(m):
        return (m[0][0] * (m[1][1] * m[2][2] - m[1][2] * m[2][1]) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
                + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]))
    whole = determinant(matrix)
    return [determinant([[vector[i] if j == k else matrix[i][j] for j in range(3)] for i in range(3)]) / whole
            for k in range(3)]


def probability(weights, row):
    logit = sum(w * t for w, t in zip(weights, terms(row[0], row[1])))
    return 1 / (1 + math.exp(-max(-8.0, min(8.0, logit))))


def fit(scenes, left_out=None):
    """Logistic regression by Newton's method."""
    samples = []
    for group, members in scenes.items():
        weight = SKY_WEIGHT if group == "sky" else 1
        seen = {name: rows for name, rows in members.items() if name != left_out}
        for rows in seen.values():
            share = weight / len(seen) / sum(row[2] for row in rows)
            samples += [(terms(row[0], row[1]), row[2] * share, row[3] * share) for row in rows]
    weights = [0.0, 0.0, 0.0]
    for _ in range(12):
        gradient, curvature = [0.0] * 3, [[1e-6 * (i == j) for j in range(3)] for i in range(3)]
        for term, pixels, right in samples:
            p = 1 / (1 + math.exp(-max(-30.0, min(30.0, sum(w * t for w, t in zip(weights, term))))))
            for i in range(3):
                gradient[i] += (right - pixels * p) * term[i]
                for j in range(3):
                    curvature[i][j] += pixels * p * (1 - p) * term[i] * term[j]
        weights = [w + s for w, s in zip(weights, solve(curvature, gradient))]
    return weights


def area_ratio(weights, rows):
    """The area under the sparsification curve, wrong by more than 3 px, as a multiple of that of the best order."""
    order = sorted(rows, key=lambda row: (-probability(weights, row), random.random()))
    pixels, wrong = sum(row[2] for row in rows), sum(row[2] - row[4] for row in rows)
    areas, kept, bad, part = [], 0, 0, iter(order)
    for step in range(1, 21):
        while kept < pixels * step / 20:
            row = next(part)
            kept, bad = kept + row[2], bad + row[2] - row[4]
        areas.append(bad / kept)
    share = wrong / pixels
    return sum(areas) / len(areas) / (share + (1 - share) * math.log(1 - share)) if 0 < share < 1 else float("nan")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("STEREO_DATA", os.path.join(here, "../../../shared/data")))
    parser.add_argument("--counts", default=os.path.join(here, "../../build/tests/bench/probability-counts"))
    parser.add_argument("options", nargs="*", metavar="OPTION=VALUE")
    arguments = parser.parse_args()
    random.seed(1)
    scenes = scenes_of(arguments)
    weights = fit(scenes)
    print("weights of agreement, distinctness, offset: " + ", ".join(f"{w:.3f}" for w in weights))
    stated, measured, mass = [0.0] * BINS, [0.0] * BINS, [0.0] * BINS
    for group, members in scenes.items():
        ratios = []
        for name, rows in members.items():
            own = fit(scenes, name)
            ratios.append(area_ratio(own, rows))
            share = 1 / len(members) / sum(row[2] for row in rows)
            for row in rows:
                p = probability(own, row)
                k = min(int(p * BINS), BINS - 1)
                stated[k], measured[k], mass[k] = (stated[k] + p * row[2] * share, measured[k] + row[3] * share,
                                                   mass[k] + row[2] * share)
        if group != "sky":
            print(f"{group}: area {sum(ratios) / len(ratios):.2f} times the best")
    print("stated  measured  share of the pixels, of scenes that were left out")
    for k in range(BINS):
        if mass[k]:
            print(f"{100 * stated[k] / mass[k]:5.1f} %  {100 * measured[k] / mass[k]:5.1f} %  {100 * mass[k] / sum(mass):5.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
