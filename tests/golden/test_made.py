#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Scenes with a known truth, on every backend there is.

test_made.py STEREO_BENCH [BACKEND ...]

The bounds come from what must hold, not from what was seen:
- a view shifted by whole pixels has its exact copy in the other: cost 0 at the truth, more elsewhere;
- of a slanted plane, whole disparities are off by 0.25 px on average (uniform in +-0.5); a sub-pixel fit that is worth anything does
  clearly better;
- wrong pixels of an occluding square lie within a few pixels of its outline: support weights stop at edges of colour;
- what the right view does not show must not be called consistent, but for chance;
- what was not seen is not made up: with every profile but thesis, a sky and the middle of a blank wall stay without a value, and what both
  views' surfaces bound is filled.
"""
import os
import sys
import tempfile
import time
import unittest

SKIP = 77
try:
    import cv2
    import numpy as np
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../bench"))
    import score
except ImportError as missing:
    print(f"SKIP: {missing}")
    sys.exit(SKIP)

BENCH = sys.argv[1]
BACKENDS = score.backends(BENCH, sys.argv[2:] or ("cpu", "cuda"))
GIVEN = os.environ.get("STEREO_TEST_SEED", "20261121")
SEED = {"time": int(time.time())}.get(GIVEN) or int(GIVEN)


class Backends(unittest.TestCase):
    """@rows of each test, on each backend that is there: a function of the test, a name, and words for stereo-bench."""

    def match(self, views, words, count):
        """(disparity, confidence)"""
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("left.png", "right.png")]
            for path, view in zip(paths, views):
                cv2.imwrite(path, view)
            options = ["--backend", self.backend, "--num-disparities", str(count), *("--" + word for word in words.split())]
            return score.matched(BENCH, ["--frames", "1", *options, *paths])[2][0]

    def each(self, rows, check):
        for backend in BACKENDS:
            self.backend = backend
            for row in rows:
                with self.subTest(backend=backend, row=row):
                    check(*row)


# ---- planes, and a square before them ----------------------------------------------------------------------------------------

WIDTH, HEIGHT = 240, 160
LEFT, RIGHT, TOP, BOTTOM = 90, 170, 40, 120  # the square in the left view
Y, X = np.mgrid[:HEIGHT, :WIDTH].astype(float)


def texture(x, y, salt):
    """Random texture that can be looked up between pixels: noise on two lattices (3 and 11 px), joined smoothly, so that a shift by part of a
    pixel is a true resampling of one surface."""
    value = np.zeros((*x.shape, 3))
    for layer, cell in enumerate((3, 11)):
        lattice = np.random.default_rng([SEED, salt, layer]).random((256, 256, 3))
        u, v = x / cell + 64, y / cell + 64
        i, j = np.floor(u).astype(int), np.floor(v).astype(int)
        s, t = ((part * part * (3 - 2 * part))[..., None] for part in (u - i, v - j))
        value += ((1 - t) * ((1 - s) * lattice[j, i] + s * lattice[j, i + 1])
                  + t * ((1 - s) * lattice[j + 1, i] + s * lattice[j + 1, i + 1]))
    return 20 + 105 * value


def in_square(x):
    return (x >= LEFT) & (x < RIGHT) & (Y >= TOP) & (Y < BOTTOM)


class Scene:
    """Disparity of left pixel (x, y): a + b * x + c * y behind, and a square of disparity @front before it. @gain, @bias: exposure of the right
    view. @noise: in both views, independent, up to so much."""

    def __init__(self, a, b=0.0, c=0.0, front=0, gain=1.0, bias=0, noise=0):
        draw = np.random.default_rng([SEED, 9])
        square, right_square = ((in_square(x) if front else np.zeros_like(X, bool)) for x in (X, X + front))
        behind = (X + a + c * Y) / (1 - b)  # the left coordinate of what the right view has behind

        def view(x, where, gain, bias):
            colours = np.where(where[..., None], texture(x, Y, 1), texture(x, Y, 0)) * gain + bias
            return np.clip(np.rint(colours + draw.integers(-noise, noise + 1, colours.shape)), 0, 255).astype(np.uint8)
        self.views = view(X, square, 1, 0), view(np.where(right_square, X + front, behind), right_square, gain, bias)
        self.truth = np.where(square, front, a + b * X + c * Y)
        hidden = ~square & (in_square(X - self.truth + front) if front else False)
        self.hidden = hidden & (X >= 31)
        visible = (X - self.truth >= 0) & ~hidden
        # neither border is within reach of the census or most of the weights
        inner = visible & (X >= self.truth + 16) & (X < WIDTH - 16) & (Y >= 8) & (Y < HEIGHT - 8)
        outside = np.maximum(np.maximum(LEFT - X, X - RIGHT + 1), np.maximum(TOP - Y, Y - BOTTOM + 1))
        edge = np.where(outside > 0, outside, 1 - outside) if front else np.full_like(X, 255)
        self.regions = {"inner": inner, "visible": visible, "off the edge": inner & (edge > 4), "everywhere": np.ones_like(inner),
                        "left": (X >= 16) & (X < WIDTH - 9 - 16) & (Y >= 8) & (Y < HEIGHT - 8)}


FULLY = "support=both window=5 gamma-color=28 refine-iterations=3 refine-alpha=1.5 fill=gaps"
IDR = "num-disparities=16 refine-mode=idr refine-alpha=0.001 profile=thesis"
FULL = "num-disparities=16 aggregation=full window=11 refine-mode=full refine-window=15 refine-iterations=1 profile=thesis"
# scene, words, and bounds: "bad REGION LIMIT", percent off by more than LIMIT px or missing, is below; "mean REGION", px, is between
PLANES = (
    *((dict(a=11), f"cost={cost} profile=thesis", {"bad inner 0": 0.05, "bad visible 0": 2})
      for cost in ("census-7x5", "census-9x7", "mixed", "ad", "sad")),
    *((dict(a=11), f"cost={cost} support=both refine-iterations=0 fill=gaps", {"bad inner 0.25": 0.05})
      for cost in ("census-7x5", "census-9x7", "mixed", "ad", "sad")),
    (dict(a=6), FULL, {"bad inner 0": 0.05}),
    (dict(a=6), IDR, {"bad inner 0": 0.05}),
    # the search may start anywhere: the right view moved by 20 px makes 11 into -9
    (dict(a=-9), "min-disparity=-24 profile=thesis", {"bad left 0": 0.05}),
    (dict(a=8, b=0.03, c=0.05), "profile=thesis", {"bad inner 1": 1, "mean inner": (0.2, 0.35)}),
    (dict(a=8, b=0.03, c=0.05), "profile=balanced", {"bad inner 1": 1, "mean inner": (0, 0.18)}),
    (dict(a=8, b=0.03, c=0.05), FULLY, {"bad inner 1": 1, "mean inner": (0, 0.18)}),
    # a shift by a quarter is nearer to the whole below than to the next, and the fit must say so
    *((dict(a=9 + quarter / 4), FULLY, {"bad inner 0.5": 1, "mean inner": (0, 0.2)}) for quarter in (1, 2, 3)),
    # 19 columns are hidden; agreement within 1 px by chance or at the strip's borders: 3 of them
    (dict(a=6, front=25), "profile=balanced fill=none", {"bad off the edge 1": 1, "called good": 20}),
    # 4 px on both sides of an outline of 320 px would be 6.7 % of the picture
    (dict(a=6, front=25), FULLY, {"bad off the edge 1": 1, "bad everywhere 1": 6.7}),
    # the census sees order only: another exposure changes next to nothing
    (dict(a=11, gain=0.7, bias=20), "profile=thesis", {"bad inner 1": 0.5}),
    (dict(a=6, c=0.04, front=25, noise=6), FULLY, {"bad off the edge 2": 2}),
    # f 700 px, baseline 60 mm, principal offset 4 px: 700 * 60 / (11 + 4) = 2800 mm
    (dict(a=11), "output=depth focal-length=700 baseline=60 principal-offset=4 profile=thesis", {"depth": 2800}),
)


class Planes(Backends):
    def figure(self, scene, what, found, confidence):
        if what == "called good":
            return 100 * (confidence[scene.hidden] > 0).mean()
        kind, region = what.split(" ", 1)
        if kind == "mean":
            return np.nanmean(np.abs(found - scene.truth)[scene.regions[region]])
        region, limit = region.rsplit(" ", 1)
        return 100 * (~(np.abs(found - scene.truth) <= float(limit)))[scene.regions[region]].mean()

    def check(self, made, words, bounds):
        scene = Scene(**made)
        found, confidence = self.match(scene.views, words, 40)
        for what, bound in bounds.items():
            if what == "depth":
                inner = found[8:HEIGHT - 8, 27:WIDTH - 16]
                self.assertLess((np.rint(inner) != bound).mean(), 0.0005, f"the middle one is {found[80, 120]}")
                continue
            low, high = bound if isinstance(bound, tuple) else (-1, bound)
            self.assertTrue(low < self.figure(scene, what, found, confidence) < high,
                            f"{what} is {self.figure(scene, what, found, confidence)}, not in {bound}")

    def test_planes(self):
        self.each(PLANES, self.check)

    def test_exposure(self):
        """Differences of luma suffer from it."""
        def check(words):
            scene = Scene(a=11, gain=0.7, bias=20)
            census, luma = (self.figure(scene, "bad inner 1", *self.match(scene.views, more, 40)) for more in ("profile=thesis", words))
            self.assertGreater(luma, census)
        self.each([("profile=thesis cost=ad refine-iterations=0",)], check)


# ---- what is not filled ------------------------------------------------------------------------------------------------------

GAPS_WIDTH, GAPS_HEIGHT, SEARCH = 480, 240, 48
SKY, HOUSES, GROUND, PATCH, POST, WALL, CLOSE = range(7)  # the patch of the ground has no texture, and is narrow; the wall has none
# fill=gaps. esaw and esmp are left out: they are sure of much of a sky before anything is filled.
FILLING = ("profile=road", FULLY, "method=sgm cost=mixed refine-iterations=1 fill=gaps", "method=bm fill=gaps")
SMALL, LARGE = 9, 49  # px around what is looked at: no small, or large, square of exact/gaps.h at it has another surface


def away_of(surface, y):
    away = {HOUSES: 8, POST: 24, WALL: 10, CLOSE: 40}
    return 8 + (y - 150) * 0.125 if surface in (GROUND, PATCH) else np.full_like(y, away.get(surface, 0))


def street(x, y):
    """A sky over a street with a post that stands out into it, and one before a house."""
    post = (x >= 300) & (x < 320) & (y >= 30) & (y < 210) | (x >= 420) & (x < 450) & (y >= 100) & (y < 200)
    patch = (x >= 200) & (x < 208) & (y >= 190) & (y < 200)
    skyline = np.where(x > 380, 60, np.where(x > 200, 120, 90))
    return np.select([post, (y >= 150) & patch, y >= 150, y >= skyline], [POST, PATCH, GROUND, HOUSES], SKY)


def wall(x, y):
    """In a textured frame."""
    return np.where((x >= 100) & (x < 400) & (y >= 40) & (y < 200), WALL, HOUSES)


def close(x, y):
    return np.full(np.broadcast(x, y).shape, CLOSE)


def grey_of(surfaces, x, y):
    grey = 180 + 0.1 * y + 0 * x
    for surface in (HOUSES, GROUND, POST, CLOSE):
        a, b, c = 0.37 * x + 0.11 * y + surface, 0.19 * x - 0.41 * y + 3 * surface, 0.83 * x + 0.07 * y
        waves = 128 + 35 * np.sin(a + 2 * np.sin(0.13 * y)) + 30 * np.sin(b + np.sin(0.21 * x)) + 20 * np.sin(c + 1.7 * np.sin(0.31 * y))
        grey = np.where(surfaces == surface, waves, grey)
    return np.where((surfaces == WALL) | (surfaces == PATCH), 150, grey)


def paint(at):
    """Both views: the right one has the nearest surface that is there."""
    draw = np.random.default_rng([SEED, 3])
    y, x = np.mgrid[:GAPS_HEIGHT, :GAPS_WIDTH].astype(float)
    seen, left = np.full(x.shape, SKY), x.copy()
    for surface in range(7):
        away = away_of(surface, y)
        nearer = (at(x + away, y) == surface) & (away >= left - x)
        seen, left = np.where(nearer, surface, seen), np.where(nearer, x + away, left)
    return [(grey + draw.integers(-2, 3, grey.shape)).astype(np.uint8) for grey in (grey_of(at(x, y), x, y), grey_of(seen, left, y))]


class Gaps(Backends):
    def check(self, at, words, bounds):
        """@bounds: surface, px around it that show it as well (outside the picture it goes on), columns, and the percent that have a value."""
        found, _ = self.match(paint(at), words, SEARCH)
        y, x = np.mgrid[:GAPS_HEIGHT, :GAPS_WIDTH].astype(float)
        for surface, margin, first, end, low, high in bounds:
            shown = (x >= first) & (x < end)
            for v in {-margin, 0, margin}:
                for u in {-margin, 0, margin}:
                    shown &= at(x + u, y + v) == surface
            share = 100 * np.isfinite(found)[shown].mean()
            self.assertTrue(low <= share <= high, f"{at.__name__}: {share} % of surface {surface} have a value, not {low} to {high}")

    def test_gaps(self):
        # what the post hides has a skyline, at which half a small square of its 90 rows may be lost
        scenes = ((street, ((SKY, SMALL, 0, GAPS_WIDTH, 0, 0.3), (HOUSES, 0, 420 - 16, 420, 95, 100), (PATCH, 0, 0, GAPS_WIDTH, 99, 100),
                            (GROUND, 0, SEARCH, GAPS_WIDTH, 99, 100))),
                  (wall, ((WALL, LARGE, 0, GAPS_WIDTH, 0, 0.3), (HOUSES, 0, SEARCH, GAPS_WIDTH, 99, 100))),
                  # the right view lacks its left border, wider than half a large square: the surface beside it goes on
                  (close, ((CLOSE, 0, 0, 40, 99, 100),)))
        self.each([(at, words, bounds) for at, bounds in scenes for words in FILLING], self.check)

    def test_planes(self):
        """It is not the scenes that leave them empty: what fill=planes finds to begin with goes into the sky and over the wall."""
        self.each([(at, "profile=road fill=planes", ((surface, 0, 0, GAPS_WIDTH, 50, 100),)) for at, surface in ((street, SKY), (wall, WALL))],
                  self.check)


if __name__ == "__main__":
    print(f"seed {SEED} (STEREO_TEST_SEED)")
    unittest.main(argv=sys.argv[:1])
