# SPDX-License-Identifier: LGPL-2.1-or-later
"""The scores of papers.py, and that its rows run with the settings that they claim: test_papers.py STEREO_BENCH"""
import concurrent.futures
import io
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

try:
    import cv2
    import numpy
except ImportError as error:
    print(f"SKIP: {error}", file=sys.stderr)
    sys.exit(77)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/papers"))
import bench  # noqa: E402
import compute  # noqa: E402
import hillerstrom  # noqa: E402
import hong  # noqa: E402
import papers  # noqa: E402
import rtaw  # noqa: E402
import yu  # noqa: E402

PROGRAM = sys.argv.pop()
PAGE = os.path.join(os.path.dirname(papers.__file__), "README.md")


def page():
    with open(PAGE, encoding="utf-8") as file:
        return file.read()


class Scores(unittest.TestCase):
    def setUp(self):
        seed = random.randrange(1 << 32)
        print(f"seed={seed}", file=sys.stderr)
        self.draw = numpy.random.default_rng(seed)

    def test_bad(self):
        """As counted pixel by pixel: unknown truths do not count, missing values are wrong."""
        truth, disparity = self.draw.uniform(0, 9, (2, 13, 17))
        truth[self.draw.random(truth.shape) < 0.2] = numpy.nan
        disparity[self.draw.random(truth.shape) < 0.2] = numpy.nan
        mask = self.draw.random(truth.shape) < 0.7
        wrong = known = 0
        for d, t, m in zip(disparity.flat, truth.flat, mask.flat):
            if m and t == t:
                known += 1
                wrong += not (d == d and abs(d - t) <= 1.5)
        self.assertAlmostEqual(compute.bad(disparity, truth, mask, 1.5), 100 * wrong / known)

    def test_squared_error(self):
        truth = numpy.array([[10.0, 20.0, numpy.nan, 40.0]])
        found = numpy.array([[12.0, numpy.nan, 7.0, 40.0]])
        self.assertAlmostEqual(compute.squared_error(found, truth, 40), ((2 / 40) ** 2 + (20 / 40) ** 2) / 3)

    def test_median_over_zeros(self):
        """A hole counts as 0 in the median too: a lone value among holes goes, a lone hole is closed."""
        pair = compute.Pair.__new__(compute.Pair)
        found, pair.truth = numpy.full((5, 10), 8.0), numpy.full((5, 10), 8.0)
        found[2, 2] = numpy.nan  # closed
        found[:, 5:] = numpy.nan
        found[2, 7] = 8.0  # goes
        self.assertAlmostEqual(compute.score(pair, found, "mse 8"), 25 / 50)
        self.assertAlmostEqual(compute.score(pair, found, "mse0 8"), 25 / 50)
        self.assertAlmostEqual(compute.score(pair, numpy.where(numpy.arange(10) < 5, found, 8), "mse0 8"), 0)

    def test_textureless(self):
        """As summed pixel by pixel, away from the border."""
        picture = self.draw.integers(0, 12, (20, 30), numpy.uint8)
        found = compute.textureless(cv2.merge([picture] * 3))
        grey = picture.astype(int)
        for y, x in zip(self.draw.integers(1, 19, 40), self.draw.integers(1, 28, 40)):
            squares = sum((grey[v, u + 1] - grey[v, u]) ** 2 for v in (y - 1, y, y + 1) for u in (x - 1, x, x + 1))
            self.assertEqual(found[y, x], squares < 9 * compute.LEAST_GRADIENT ** 2)
        self.assertTrue(compute.textureless(numpy.full((9, 9, 3), 77, numpy.uint8)).all())

    def test_regions(self):
        """What "bad" counts, by the words after its limit."""
        pair = compute.Pair.__new__(compute.Pair)
        pair.truth, pair.masks = numpy.full((4, 6), 3.0), {"nocc": self.draw.random((4, 6)) < 0.8}
        found = numpy.where(self.draw.random((4, 6)) < 0.5, 3.0, numpy.nan)
        columns = numpy.arange(6) >= 2
        for words, mask in (("nocc", pair.masks["nocc"]), ("disc", numpy.ones((4, 6), bool)), ("in 2", pair.masks["nocc"] & columns),
                            ("kept in 2", pair.masks["nocc"] & columns & numpy.isfinite(found))):
            self.assertTrue((pair.region(words.split(), found) == mask).all(), words)
        self.assertAlmostEqual(compute.score(pair, found, "bad 1 nocc"), 100 * numpy.isnan(found[pair.masks["nocc"]]).mean())
        self.assertAlmostEqual(compute.score(pair, found, "missing"), 100 * numpy.isnan(found).mean())

    def test_of_a_pair(self):
        """What is asked of the views and the truth alone."""
        with tempfile.TemporaryDirectory() as folder:
            pair = compute.Pair.__new__(compute.Pair)
            pair.files, pair.truth = [folder + "/left.png"], numpy.array([[3.0, numpy.nan], [8.5, 1.0]])
            grey = self.draw.integers(0, 256, (20, 30), numpy.uint8)
            cv2.imwrite(pair.files[0], cv2.merge([grey] * 3))
            found = compute.score(pair, None, "grey 7 9 5")
        self.assertEqual(compute.score(pair, None, "largest"), 8.5)
        numpy.testing.assert_array_equal(found, numpy.maximum(grey[7:12, 5:10], 1 / 64))

    def test_times(self):
        """Each is taken in every pass, one of a GPU once; the shortest counts, of stages too."""
        asked = [("teddy", ["--backend", "cpu"], "time"), ("teddy", ["--backend", "cuda"], "time"), ("teddy", [], "resize 20")]
        taken = {"cpu": iter([(9, {"match": 4}), (7, {"match": 5}), (8, {"match": 6})]), "cuda": iter([(2, {"match": 1})])}
        resized, answers = iter([5, 4, 6]), {}
        with unittest.mock.patch("compute.time_of", lambda _program, _pair, options, _level: next(taken[options[1]])), \
                unittest.mock.patch("compute.resize_time", lambda _pair, _columns: next(resized)):
            compute.take_times("", {"teddy": None}, asked, answers, lambda _: None)
        self.assertEqual(list(answers.values()), [(7, {"match": 4}), (2, {"match": 1}), 4])

    def test_slanted_pair(self):
        """What the right view shows at x - d, the left one shows at x."""
        with tempfile.TemporaryDirectory() as folder:
            # smooth, so that a place between pixels is as good as on one
            picture = cv2.GaussianBlur(self.draw.uniform(0, 255, (40, 300, 3)), (0, 0), 6)
            cv2.imwrite(folder + "/smooth.png", cv2.normalize(picture, None, 0, 255, cv2.NORM_MINMAX).astype(numpy.uint8))
            (left, right), truth = compute.slanted_pair(folder + "/smooth.png", folder, 50)
            left, right = (cv2.imread(path).astype(float) for path in (left, right))
        self.assertAlmostEqual(float(truth[0, 150]), 25, 5)
        for x in self.draw.integers(10, 290, 30):
            place = x - truth[20, x]
            k = int(place)
            seen = (1 - (place - k)) * right[20, k] + (place - k) * right[20, k + 1]
            self.assertLess(numpy.abs(seen - left[20, x]).max(), 4, x)


class Printed(unittest.TestCase):
    def test_stages_of_hong(self):
        """The full matching that is printed is the sum of the stages, but for rounding and some slips of the paper."""
        for (scene, where), (*stages, full) in hong.PRINTED.items():
            for k, total in enumerate(full):
                if (scene, where) != ("cones", "GPU") or k > 1:
                    self.assertLess(abs(sum(stage[k] for stage in stages) - total) / total, 0.01, (scene, where, k))

    def test_work_of_the_paper(self):
        """Its table V is about its table II for Teddy, and ESAW's aggregation 2 (33 + 5 l) operations of a pixel."""
        self.assertEqual(yu.of_the_paper("esaw", 1, 1, 1, 60), (2 * (33 + 300), 18 + 26 * 60))
        self.assertEqual(yu.of_the_paper("esmp", 2, 3, 1, 10), (6 * (66 + 220), 6 * (18 + 420)))
        for key, printed in yu.TABLE_5.items():
            for value, part in zip(printed[2:], yu.of_the_paper(*key, *yu.SIZE)):
                self.assertLess(abs(1 - value * 1e9 / part), 0.2, key)

    def test_own_work(self):
        self.assertEqual(yu.iteration("esmp", 60)[0], (42, 2 * (6 + 10)))  # neighbours 1 and 2 away, of a reach of 3
        self.assertEqual(yu.ours("esaw", 3, 10, 2, 8), (20 * (3 * (42 + 12 * 8) + 16), 20 * (3 * (4 + 4 * 8) - 16 + 2)))
        self.assertEqual(yu.linear((9, 6)), "9 + 6ℓ")
        self.assertEqual(yu.linear((0, 4)), "4ℓ")


class Page(unittest.TestCase):
    def test_places_of_bars(self):
        try:
            import plot
        except ImportError as error:
            self.skipTest(str(error))
        places, width = plot.bar_places(2, 3)
        self.assertEqual(width, 0.4)
        self.assertEqual([[round(at, 9) for at in line] for line in places], [[-0.2, 0.8, 1.8], [0.2, 1.2, 2.2]])

    def test_answers(self):
        """All that is asked is computed under the key by which it is looked up. The program is a stand-in."""
        with tempfile.TemporaryDirectory() as folder:
            scene = os.path.join(folder, "teddy")
            os.mkdir(scene)
            for view in ("left", "right"):
                cv2.imwrite(f"{scene}/{view}.png", numpy.full((30, 40, 3), 90, numpy.uint8))
            cv2.imwrite(f"{scene}/gt.png", numpy.full((30, 40), 5 * 256, numpy.uint16))
            program, words = os.path.join(folder, "bench"), os.path.join(folder, "words.pfm")
            cv2.imwrite(words, numpy.full((30, 40), 7, numpy.float32))
            with open(program, "w", encoding="utf-8") as file:
                file.write(f"""#!/bin/sh
for word; do
  [ "$word" != cuda ] || exit 1
  [ "$before" != --write ] || cp {words} "$word/001-disparity.pfm"
  before=$word
done
echo '[{{"min_ms": 3, "stages_ms": {{"match": 2}}, "arena_mib": 9}}]'
""")
            os.chmod(program, 0o700)
            first, found, kept = bench.Bench(), {}, []

            def ask(asked):
                return [asked.bad("teddy", ["--window", 5], 1), asked.bad("teddy", ["--window", 5], 3), asked.times("teddy@20", [], 1, "avx2"),
                        asked.ask("teddy", [], "memory"), asked.ask("teddy", [], "video 3 flicker"), asked.ask("teddy", [], "video 0 flicker"), asked.ask("teddy", [], "video 5 bad1"), asked.off("teddy", ["--window", 5], 1).mean(),
                        asked.gpu("teddy", [])]
            ask(first)
            with unittest.mock.patch("compute.noisy_maps", lambda _program, _pair, noise, _options: [numpy.full((30, 40), noise * k) for k in range(20)]):
                compute.all_answers(program, folder, first.asked, 2, found, lambda: kept.append(len(found)), lambda _: None)
        self.assertEqual(kept[-1], len(first.asked))
        again = bench.Bench(found)
        self.assertEqual(ask(again), [100, 0, (3, {"match": 2}), 9, 100, 0, 100, 1, None])
        self.assertEqual(again.asked, {})
        again.bad("teddy", ["--window", 7], 1)
        self.assertEqual(list(again.asked.values()), [("teddy", ["--window", "7"], "bad 1 nocc")])

    def test_command(self):
        """A figure takes its own runs alone, and none that --results has."""
        with tempfile.TemporaryDirectory() as folder:
            results = os.path.join(folder, "results.json")
            words = ["papers.py", "figure", "hillerstrom-colors", "--data", folder, "--results", results]
            asked = []

            def all_answers(_bench, _data, questions, _jobs, answers, keep):
                asked.append(len(questions))
                answers.update({key: 3.0 for key in questions})
                keep()
            for expected in (30, 0):  # three kinds of colours, two scales of lengths, five scenes
                with unittest.mock.patch("sys.argv", words), unittest.mock.patch("compute.all_answers", all_answers), \
                        unittest.mock.patch("sys.stdout", io.StringIO()) as said:
                    papers.main()
                self.assertEqual(asked.pop(), expected)
                self.assertIn("| CIELAB | 3.0 | 3.0 | 3.0 | 3.0 | 3.0 | 3.0 |", said.getvalue())
            for wrong in (["papers.py", "figure", "none", "--data", folder], ["papers.py", "figure", "yu-6", "--data", "/none"]):
                with unittest.mock.patch("sys.argv", wrong):
                    self.assertRaises(SystemExit, papers.main)

    def test_page(self):
        """It names every figure and no other, and shows every picture that is there."""
        named = {name for words in re.findall(r"`((?:hillerstrom|yu|mahieu|gcvl|hong)-[a-z0-9.-]+|parts)`", page()) for name in [words]}
        self.assertEqual(named, set(papers.FIGURES))
        shown = {os.path.basename(path) for path in re.findall(r"\(pictures/([^)]*)\)", page())}
        self.assertEqual(shown, set(os.listdir(os.path.join(os.path.dirname(PAGE), "pictures"))))
        self.assertLessEqual(len(page().split()), 6500)

    def test_any_answers(self):
        """Figures are drawn whatever comes out, with a GPU and without."""
        draw = numpy.random.default_rng(1)
        for gpu in (True, False):
            answers = {}
            for key, (_, words, what) in papers.asked(papers.FIGURES).items():
                shown = bench.placeholder(what)
                answers[key] = draw.uniform(1, 9) if isinstance(shown, float) else draw.random(shown.shape) < 0.5 if getattr(shown, "dtype", 0) == bool \
                    else draw.uniform(1, 200, shown.shape) if hasattr(shown, "shape") else None if "cuda" in words and not gpu \
                    else (draw.uniform(1, 9), dict.fromkeys(("match", "select"), draw.uniform(0.1, 0.9)))
            for name, figure in papers.FIGURES.items():
                known = bench.Bench(answers)
                text = figure(known, papers.NoPlot())
                self.assertEqual(known.asked, {}, name)
                self.assertTrue(text or name in ("hillerstrom-5.8", "yu-16"), name)


class Figures(unittest.TestCase):
    def test_weights_of_the_exponential_steps(self):
        """What an impulse anywhere adds to the centre, iterated forwards as equations 5 and 6 have it."""
        side = yu.SIDE
        draw = numpy.random.default_rng(7)
        picture = draw.integers(0, 60, (side, side)).astype(float)
        shares = yu.esaw_weights(picture, 4, 1.9)
        self.assertAlmostEqual(shares.sum(), 1)
        costs = draw.random((side, side))
        expected = (shares * costs).sum()
        for t in range(4):
            reach = round(1.9 ** t)
            for axis in (1, 0):
                before, total, weights = costs, numpy.zeros_like(costs), numpy.zeros_like(costs)
                for y in range(side):
                    for x in range(side):
                        for by in (-reach, 0, reach):
                            v, u = (y, x + by) if axis else (y + by, x)
                            if 0 <= v < side and 0 <= u < side:
                                weight = numpy.exp(-abs(picture[y, x] - picture[v, u]) / 17 - abs(by) / 36)
                                weights[y, x] += weight
                                total[y, x] += weight * before[v, u]
                costs = total / weights
        self.assertAlmostEqual(costs[side // 2, side // 2], expected)

    def test_messages(self):
        """As equation 13 has them, every disparity against every other."""
        volume = numpy.random.default_rng(3).random((9, 4, 5)) * 8
        expected = [[[min(volume[k, y, x] + min(abs(k - d), 2.5) for k in range(9)) for x in range(5)] for y in range(4)] for d in range(9)]
        rtaw.messages(volume, 1, 2.5)
        numpy.testing.assert_allclose(volume, expected)

    def test_averages_of_rtaw(self):
        draw = numpy.random.default_rng(5)
        volume, colors = draw.random((2, 6, 7)), draw.integers(0, 90, (6, 7, 3)).astype(float)
        found = rtaw.averaged(volume, colors, range(-2, 3), 1, rtaw.KINDS["rtaw+mp"])
        for y, x in ((0, 0), (3, 3), (5, 6)):
            near = [u for u in range(x - 2, x + 3) if 0 <= u < 7]
            weights = [numpy.exp(-abs(colors[y, x] - colors[y, u]).max() / 18 - abs(x - u) / 29) for u in near]
            self.assertAlmostEqual(found[1, y, x], numpy.average(volume[1, y, near], weights=weights), 5)

    def test_what_figure_5_8_counts(self):
        """As figure 5.7 does: not the columns at the left where StereoSGBM finds nothing."""
        off = unittest.mock.Mock()
        off.off.return_value = numpy.ones((2, 100), bool)
        found = hillerstrom.counted(off, "motorcycle", ())
        self.assertEqual(found[:, :80].sum(), 0)  # 70 disparities, in steps of 16
        self.assertTrue(found[:, 80:].all())

class Options(unittest.TestCase):
    def test_they_are_there(self):
        said = subprocess.run([PROGRAM, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        known = set(re.findall(r"^  --([a-z0-9-]+)", said, re.M))
        named = set()
        for quoted in re.findall(r"`([^`\n]*)`", page()):
            named |= set(re.findall(r"(?<![-\w])([a-z][a-z0-9-]*)=", quoted))
        values = set(re.findall(r"[a-z0-9-]+", said))
        self.assertGreater(len(named), 15)
        self.assertLessEqual(named, known | values | {"focal-length", "baseline", "output", "cuda-device-id", "disparity-scale", "alpha"})


# What the documents say, where a row does not say otherwise. Hillerstrom: 5.1.3 and 3.2.4; nothing after the winner.
PLAIN = {"paths": "none", "subpixel": "off", "median": "off", "speckle-size": 0, "fill": "keep", "temporal": 0, "align": "off",
         "confidence-measure": "margin", "confidence-threshold": 0, "min-disparity": 0, "search": "full"}
THESIS = {**PLAIN, "method": "asw", "cost": "census-7x5", "window": 33, "aggregation": "two-pass", "support": "both", "color-difference": "rgb",
          "gamma-color": 259.65, "gamma-distance": 28, "refine-iterations": 7, "refine-mode": "two-pass", "refine-window": 65,
          "refine-gamma-color": 9, "refine-gamma-distance": 12, "refine-alpha": 0.16, "consistency": 0}
# Yu et al.: table III; step 4 is a median
YU = {**PLAIN, "median": "3", "cost": "ad", "refine-iterations": 0}
METHODS = {
    "esaw": {**YU, "gamma-color": 17, "gamma-distance": 36, "truncation": 12, "cost-scale": 1},
    "esmp": {**YU, "gamma-color": 18, "gamma-distance": 29, "truncation": 17, "cost-scale": 0.15, "smoothness": 1},
    # Mahieu and Lowney: 3; table 1 by direction
    "sgm": {**PLAIN, "median": "3", "cost": "ad", "paths": "8", "p1": 0, "p2": 0, "path-weight-vertical": 1, "path-weight-diagonal": 1,
            "penalty-step": 0, "fill": "none", "consistency": 1, "refine-iterations": 0, "num-disparities": 64},
    # GCVL, Hong et al.
    "bm": {**PLAIN, "refine-iterations": 0},
}


# The default, as "What the default adds to the thesis" has it
DEFAULT = {"method": "asw", "profile": "balanced", "cost": "mixed", "support": "left", "window": 3, "paths": "4", "temporal": 0.75}
# What rows may set: what the page varies, and says so. Nothing else may differ from the claims above.
FINISH = {"consistency", "speckle-size", "fill", "median"}  # "checked and filled"
REFINEMENT = {"refine-iterations", "refine-mode", "refine-window", "refine-gamma-distance", "refine-alpha"}
VARIED = {
    ("asw", "thesis"): {"cost", "truncation", "window", "aggregation", "support", "color-difference", "gamma-color", "gamma-distance", "temporal",
                        "scratch-layers", "align", *REFINEMENT, *FINISH},
    ("asw", "balanced"): {"search", "support", "paths", "fill", "consistency", "temporal", *REFINEMENT},
    ("esaw", "thesis"): {"iterations", "step-base", "gamma-color", "gamma-distance", "truncation", *FINISH},
    ("esmp", "thesis"): {"iterations", "step-base", "gamma-color", "gamma-distance", "truncation", "cost-scale", "smoothness", "smoothness-max", *FINISH},
    ("sgm", "thesis"): {"p1", "p2", "path-weight-vertical", "path-weight-diagonal", "fill", "median"},
    ("sgm", "balanced"): {"cost", "paths", "fill", "temporal"},
    ("bm", "thesis"): {"cost", "window"},
}


def given(words):
    """The options of a row; one that comes again counts."""
    found, k = {}, 0
    while k < len(words):
        name = words[k][2:]
        if name != "device-input":
            found[name] = words[k + 1]
            k += 1
        k += 1
    return found


def claimed(row):
    """What the documents, or what the page says of such rows, claim of @row, the options of a row by name."""
    row = {"method": "asw", "profile": "balanced", "search": "coarse-to-fine" if int(row["num-disparities"]) > 32 else "full", **row}
    if row["method"] == "asw" and row["profile"] == "balanced":
        return {**DEFAULT, "search": row["search"], "refine-iterations": 0 if row["search"] == "coarse-to-fine" else 1,
                "window": 13 if row.get("paths") == "none" else DEFAULT["window"]}
    if row["profile"] != "thesis":
        return {}
    base = dict(METHODS.get(row["method"], THESIS))
    if row["method"] == "asw" and row.get("refine-iterations") == "0" and row.get("cost") == "ad":
        base["refine-iterations"] = 0  # RtAW, AW
    if row.get("color-difference") == "lab":
        base.update({"gamma-color": 51.93, "refine-gamma-color": 4.5})  # of CIELAB's steps, as the page says
    if row.get("support") == "left":
        base.update({"gamma-color": base["gamma-color"] / 2, "gamma-distance": base["gamma-distance"] / 2})  # of one view in place of two
    if row["method"] == "esmp":
        base["smoothness-max"] = 0.0375 * int(row["num-disparities"])
    return base


class Settings(unittest.TestCase):
    """The settings that stereo-bench reports are those that the row claims."""

    def in_force(self, words):
        done = subprocess.run([PROGRAM, "--backend", "cpu", "--threads", "1", "--json", "--frames", "1", *words, "--synthetic", "40x24"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")
        return json.loads(done.stdout)[0]["parameters"]

    def compare(self, words, claims, title):
        settings = self.in_force(words)
        for name, value in claims.items():
            if isinstance(settings[name], str):
                self.assertEqual(settings[name], value, f"{title}: {name}, {words}")
            else:
                self.assertAlmostEqual(settings[name], float(value), 4, f"{title}: {name}, {words}")

    def test_every_row(self):
        """All that the chapters ask."""
        not_settings = {"backend", "threads"}
        rows = set()
        for _, words, _ in papers.asked(papers.FIGURES).values():
            if words and words[0] != "opencv" and not rtaw.KINDS.keys() & words:
                row = {name: value for name, value in given(words).items() if name not in not_settings}
                rows.add(tuple(sorted(row.items())))
        self.assertGreater(len(rows), 150)
        for row in map(dict, rows):
            kind = row.get("method", "asw"), row.get("profile", "balanced")
            self.assertLessEqual(set(row), VARIED[kind] | {"method", "profile", "num-disparities"}, kind)
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(self.compare, [word for name, value in row for word in (f"--{name}", value)],
                                     {**claimed(dict(row)), **dict(row)}, "a row of the page") for row in rows]:
                done.result()

    def test_table_of_options(self):
        """Rows of the last chapter that name a whole method."""
        claims = {
            "the whole method": THESIS,
            "Yoon and Kweon": {**THESIS, "aggregation": "full", "color-difference": "lab", "gamma-color": 51.93, "refine-gamma-color": 4.5,
                               "cost": "sad", "refine-iterations": 0},
            "Kowalczuk and others": {**THESIS, "cost": "mixed", "refine-mode": "idr", "refine-iterations": 3},
            "semi-global matching": {**METHODS["sgm"], "num-disparities": 128},
            "ESAW, ESMP": METHODS["esaw"],
            "RtAW:": {**THESIS, "cost": "ad", "truncation": 12, "support": "left", "gamma-color": 51, "gamma-distance": 36, "refine-iterations": 0},
            "AW:": {**THESIS, "cost": "ad", "truncation": 12, "aggregation": "full", "gamma-color": 51, "gamma-distance": 36, "refine-iterations": 0},
            "block matching with SAD, SSD": {**METHODS["bm"], "method": "bm", "cost": "ad"},
            "AD, SD, SAD": {**METHODS["bm"], "method": "bm", "cost": "ad"},
        }
        for start, claim in claims.items():
            line = re.search(r"^\| " + re.escape(start) + r"[^|]*\| `([^`]*)`", page(), re.M)[1].split()
            self.compare([word for each in line for word in (lambda name, value: (f"--{name}", value))(*each.split("="))], claim, start)


if __name__ == "__main__":
    unittest.main()
