#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Real scenes: errors no more than 0.3 percent points above those of a plain reading of the papers, and skies that stay empty.

test_real.py STEREO_BENCH [BACKEND ...]

The pictures are not part of the project: STEREO_DATA names their folder. STEREO_LONG=1 adds aloe, the large one, on the CPU too.
"""
import functools
import itertools
import os
import sys
import unittest

SKIP = 77
try:
    import numpy as np
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench"))
    import score
except ImportError as missing:
    print(f"SKIP: {missing}")
    sys.exit(SKIP)

BENCH = sys.argv[1]
BACKENDS = score.backends(BENCH, sys.argv[2:] or ("cpu", "cuda"))
FOLDER = os.environ.get("STEREO_DATA") or os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../shared/data")
TOLERANCE = 0.3 + 0.05  # the table is rounded to 0.1

SCENES = {"motorcycle": 70, "teddy": 60, "cones": 60, "tsukuba": 16, "venus": 20, "aloe": 224}  # disparities to search
# The figures were measured with these settings and without paths and removal of speckles, which came later.
TUNED = ("window=33 paths=none speckle-size=0 cost=mixed refine-window=65 refine-alpha=0.16 refine-iterations=3 "
         "subpixel=1 consistency=1 fill=background median=3 ")
# What Yu et al. do not have: the check, and filling of what it contradicts. Without these, see AVERAGES.
ES_FINISH = " profile=thesis consistency=16 speckle-size=60 fill=background median=5"
# bad1, bad2, bad4 of the pixels that both views see (aloe: of all), scene by scene
ROWS = {
    "profile=thesis":
        ((9.2, 4.4, 2.6), (7.3, 5.2, 3.0), (3.8, 2.9, 1.8), (4.6, 4.0, 2.2), (0.4, 0.3, 0.3), (15.1, 12.7, 10.9)),
    "profile=thesis refine-iterations=0":
        ((9.3, 4.7, 2.9), (7.8, 5.7, 3.4), (4.1, 3.2, 2.1), (5.2, 4.5, 2.6), (0.5, 0.4, 0.4), (16.5, 14.5, 13.1)),
    TUNED + "support=both gamma-color=100 gamma-distance=10":
        ((5.2, 3.1, 1.8), (5.0, 3.3, 2.0), (2.2, 1.8, 1.2), (4.0, 3.0, 1.7), (0.5, 0.2, 0.2), (11.5, 5.8, 4.4)),
    TUNED + "support=left gamma-color=50 gamma-distance=5":
        ((5.5, 3.3, 2.0), (5.1, 3.3, 2.0), (2.2, 1.8, 1.2), (3.9, 2.9, 1.6), (0.6, 0.2, 0.2), (10.9, 5.4, 4.1)),
    "method=sgm profile=thesis":
        ((18.7, 10.5, 7.2), (9.1, 6.3, 3.5), (5.3, 3.4, 2.2), (3.3, 2.7, 0.9), (1.7, 1.2, 1.0), (20.4, 17.2, 14.9)),
    "method=sgm cost=census-9x7 fill=background":
        ((7.0, 4.4, 3.1), (6.0, 3.8, 2.4), (4.0, 3.3, 2.3), (5.1, 2.5, 1.3), (1.4, 0.9, 0.7), (15.2, 10.8, 9.7)),
    "method=esaw" + ES_FINISH:
        ((25.2, 12.5, 7.1), (8.6, 5.8, 3.8), (6.0, 4.0, 2.3), (1.9, 1.6, 0.5), (1.4, 0.7, 0.6), (18.9, 14.3, 10.9)),
    "method=esaw iterations=5 step-base=2.6" + ES_FINISH:
        ((22.9, 13.4, 8.0), (9.6, 6.8, 4.6), (8.0, 5.4, 3.4), (2.0, 1.5, 0.5), (1.8, 1.0, 0.6)),
    "method=esmp" + ES_FINISH:
        ((24.1, 11.8, 6.3), (8.7, 6.0, 4.0), (5.2, 3.3, 2.0), (1.9, 1.5, 0.5), (0.7, 0.3, 0.2), (19.2, 14.9, 11.8)),
}
# Pixels off by more than 1 px in the non-occluded, all and discontinuous areas of four scenes, averaged, as Table IV of Yu et al. has it
AVERAGES = {"method=esaw profile=thesis": 8.2, "method=esaw iterations=5 step-base=2.6 profile=thesis": 9.6, "method=esmp profile=thesis": 7.42}
# fill=gaps. esaw and esmp are left out: they are sure of much of a sky before anything is filled.
FILLING = ("profile=road", "support=both window=5 gamma-color=28 refine-iterations=3 refine-alpha=1.5 fill=gaps",
           "method=sgm cost=mixed refine-iterations=1 fill=gaps", "method=bm fill=gaps")
ROADS = ("000000", "000003", "000006", "000009", "000011")  # their mean counts: single ones have a branch that the mask takes for sky


def scene_of(folder, left="left.png", right="right.png"):
    scene = score.scene_of(*(os.path.join(FOLDER, folder, view) for view in (left, right)))
    if not os.path.exists(scene.left):
        raise unittest.SkipTest(f"{scene.left} is not there; STEREO_DATA names the folder of the scenes")
    return scene


@functools.lru_cache(None)
def truth_of(name):
    return score.load(scene_of(name))


def disparity_of(scene, count, words, backend):
    options = ["--backend", backend, "--num-disparities", str(count), *("--" + word for word in words.split())]
    return score.matched(BENCH, ["--frames", "1", *options, scene.left, scene.right])[2][0][0]


class Real(unittest.TestCase):
    def setUp(self):
        if not os.path.isdir(FOLDER):
            self.skipTest(f"{FOLDER} is not there; STEREO_DATA names the folder of the scenes")

    def test_scenes(self):
        for k, (name, count) in enumerate(SCENES.items()):
            for backend, words in itertools.product(BACKENDS, [words for words, bounds in ROWS.items() if k < len(bounds)]):
                if name == "aloe" and backend == "cpu" and not os.environ.get("STEREO_LONG"):
                    continue  # takes long
                with self.subTest(backend=backend, scene=name, words=words):
                    row, bounds = score.scores(disparity_of(scene_of(name), count, words, backend), *truth_of(name)), ROWS[words][k]
                    print("{:12} bad1 {:5.2f}  bad2 {:5.2f}  bad4 {:5.2f}   ({} / {} / {})  {}".format(
                        name, row["bad1"], row["bad2"], row["bad4"], *bounds, words), flush=True)
                    for level, bound in zip((1, 2, 4), bounds):
                        self.assertLessEqual(row[f"bad{level}"], bound + TOLERANCE, f"bad{level}")

    def test_averages(self):
        for backend, words in itertools.product(BACKENDS, AVERAGES):
            with self.subTest(backend=backend, words=words):
                found = []
                for name in ("tsukuba", "venus", "teddy", "cones"):
                    disparity, truth = disparity_of(scene_of(name), SCENES[name], words, backend), truth_of(name)[0]
                    masks = [score.read_grey(os.path.join(FOLDER, name, f"mask_{area}.png")) == 255 for area in ("nocc", "all", "disc")]
                    found += [score.scores(disparity, truth, mask)["bad1"] for mask in masks]
                print(f"average of twelve {np.mean(found):.2f} ({AVERAGES[words]})  {words}", flush=True)
                self.assertLessEqual(np.mean(found), AVERAGES[words] + 0.3)

    def test_skies(self):
        for backend, words in itertools.product(BACKENDS, FILLING):
            with self.subTest(backend=backend, words=words):
                shares = []
                for frame in ROADS:
                    scene = scene_of("road", f"left/{frame}.png", f"right/{frame}.png")
                    sky = score.read_grey(os.path.join(FOLDER, "road", "sky", f"{frame}.png")) == 255
                    shares.append(100 * np.isfinite(disparity_of(scene, 128, words, backend)[sky]).mean())
                print(f"sky {np.mean(shares):.2f} %  {words}", flush=True)
                self.assertLessEqual(np.mean(shares), 1, "percent of the sky that have a value")


if __name__ == "__main__":
    done = unittest.main(argv=sys.argv[:1], exit=False).result
    nothing = len(done.skipped) >= done.testsRun
    sys.exit(not done.wasSuccessful() or (SKIP if nothing else 0))
