#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""score.py and video.py, with stereo-bench on small scenes: the layouts that are found, what is refused, scores, tables.

test_score.py PATH_OF_STEREO_BENCH
"""
import contextlib
import io
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

try:
    import cv2
    import numpy as np
except ImportError as missing:
    print(f"SKIP: {missing}", file=sys.stderr)
    sys.exit(77)
import score  # noqa: E402
import video  # noqa: E402

BENCH = os.path.abspath(sys.argv.pop(1)) if len(sys.argv) > 1 else score.default_bench()
OPTIONS = ["--backend", "cpu", "--method", "bm", "--window", "5", "--fill", "background"]
SHIFT = 5


class Scores(unittest.TestCase):
    """Maps whose errors the test chose."""

    def test_maps(self):
        """Ten pixels: one unknown, one missing, one off by 3.5 of 100 px (no outlier of D1), one by 3.5 of 10 px, one by 1 px."""
        truth = np.float32([np.nan, 5, 100, 10, 10, 10, 10, 10, 10, 10])
        found = np.float32([3, np.nan, 103.5, 13.5, 11, 10, 10, 10, 10, 10])
        row = score.scores(found, truth, None, (1, 3))
        self.assertEqual((row["pixels"], row["kept"]["pixels"]), (9, 8))
        for name, value, kept in (("bad1", 300 / 9, 25), ("bad3", 300 / 9, 25), ("d1", 200 / 9, 12.5)):
            self.assertAlmostEqual(row[name], value)
            self.assertAlmostEqual(row["kept"][name], kept)
        self.assertAlmostEqual(row["density"], 800 / 9)
        self.assertAlmostEqual(row["average_error"], 1)
        seen = score.scores(found, truth, np.arange(10) < 5)
        self.assertEqual(seen["pixels"], 4)
        self.assertAlmostEqual(seen["d1"], 50)
        self.assertAlmostEqual(seen["kept"]["d1"], 100 / 3)
        nothing = score.scores(np.full(10, np.nan), truth)
        self.assertEqual((nothing["d1"], nothing["density"], "kept" in nothing), (100, 0, False))
        self.assertIsNone(score.scores(found, np.full(10, np.nan)))

    def test_confidence(self):
        """A hundred pixels, ten of them wrong, five of these missing."""
        k = np.arange(100)
        truth, found = np.full(100, 20.0), np.where(k % 10 > 0, 20.0, np.where(k % 20 > 0, np.nan, 24.0))
        best = 0.1 + 0.9 * math.log(0.9)

        def of(confidence):
            row = score.confidence_scores(found, confidence.astype(np.uint8), truth)
            self.assertAlmostEqual(row["best_area"], best)
            return row
        alike = of(np.full(100, 77))  # however many are kept, a tenth is wrong
        self.assertAlmostEqual(alike["area"], 0.1)
        self.assertEqual(alike["calibration"], [{"pixels": 95, "stated": 77 / 255, "right": 90 / 95}])
        right = of(np.where(k % 10 > 0, 200, 3))  # wrong ones only among the last tenth
        self.assertAlmostEqual(right["area"], (5 / 95 + 10 / 100) / 20)
        self.assertEqual([(each["pixels"], each["right"]) for each in right["calibration"]], [(5, 0), (90, 1)])
        worst = of(np.where(k % 10 > 0, 3, 200))
        self.assertAlmostEqual(worst["area"], sum((1 if n < 2 else 10 / (5 * n)) / 20 for n in range(1, 21)))
        self.assertIsNone(score.confidence_scores(found, np.full(100, 7), np.full(100, np.nan)))

    def test_means(self):
        """They leave out what is not known."""
        nothing = {"bad1": 100, "d1": 100, "density": 0}
        good = {"bad1": 0, "d1": 0, "density": 100, "average_error": 3, "kept": {"pixels": 2, "bad1": 0, "d1": 0}}
        mean = score.mean([score.figures(nothing), score.figures(good)])
        self.assertEqual((mean["d1"], mean["dens"], mean["err"], mean["kept bad1"]), (50, 50, 3, 0))

    def test_frames(self):
        """Two of ten pixels come or go, one changes; the truth of four changes, and two of these keep what they had."""
        before = np.float32([1, 2, np.nan, 4, 5, 6, 7, 8, 9, np.nan])
        now = np.float32([1, 2, 3, np.nan, 8, 6, 7, 8, 9, np.nan])
        then = np.float32([1, 2, 3, 4, 5, 6, 7, 8, 9, 9])
        truth = np.where(np.isin(np.arange(10), (4, 5, 6)), then + 3, then)
        row = video.figures(now, before, truth, then)
        self.assertAlmostEqual(row["flicker"], 30)
        self.assertAlmostEqual(row["trails"], 200 / 3)
        self.assertAlmostEqual(row["bad1"], 40)
        self.assertNotIn("trails", video.figures(now, before, then, then))
        self.assertEqual(set(video.figures(now, None, then, None)), {"bad1"})


class Folders(unittest.TestCase):
    """Folders of small files. Every truth is SHIFT at all pixels but the first, in the units of its format."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top, self.draw = os.path.join(folder.name, "top"), np.random.default_rng(7)

    def path(self, name):
        path = os.path.join(self.top, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def views(self, left, right, width=32, height=12, colours=False):
        noise = self.draw.integers(0, 256, (height, width + SHIFT), np.uint8)
        for name, view in ((left, noise[:, :width]), (right, noise[:, SHIFT:])):
            cv2.imwrite(self.path(name), cv2.merge([view] * 3) if colours else view)

    def samples(self, name, kind, first, others, width=32, height=12):
        picture = np.full((height, width), others, kind)
        picture[0, 0] = first
        cv2.imwrite(self.path(name), picture)

    def pfm(self, name, order="<", width=32, height=12):
        values = np.full((height, width), SHIFT, order + "f4")
        values[height - 1, 0] = np.inf  # the file begins at the bottom
        self.write(name, f"Pf\n{width} {height}\n{'-1.0' if order == '<' else '1.0'}\n".encode() + values.tobytes())

    def write(self, name, data):
        with open(self.path(name), "wb") as file:
            file.write(data)

    def main(self, *words):
        """(exit status, standard output, standard error) of score.py"""
        out, said = io.StringIO(), io.StringIO()
        with unittest.mock.patch("sys.argv", ["score.py", "--bench", BENCH, *OPTIONS, "--scenes", self.top, *words]), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            try:
                status = score.main()
            except SystemExit as end:
                status = end.code
        return status, out.getvalue(), said.getvalue()

    def rows(self, *words):
        status, out, said = self.main("--json", *words)
        self.assertEqual(status, 0, said)
        return json.loads(out)

    def expect(self, name, group, searched, seen, pixels=32 * 12 - 1, words=()):
        """One scene. @seen: pixels of it that both views see; None: not known."""
        row, = self.rows(*words)
        self.assertEqual((row["scene"], row["group"], (row["disparities"], row["disparities_from"])), (name, group, searched))
        self.assertEqual((row["all"]["pixels"], row.get("nocc", {}).get("pixels")), (pixels, seen))
        self.assertLess(row["all"]["average_error"], 1)  # the truth has the right scale

    def refuse(self, text, *words):
        status, out, said = self.main("--json", *words)
        self.assertEqual((status, json.loads(out)), (1, []))
        self.assertIn(text, said)

    def test_a_scene_a_folder(self):
        self.views("room/left.png", "room/right.png", colours=True)
        self.pfm("room/gt.pfm")
        self.samples("room/mask_nocc.png", np.uint8, 255, 128)
        self.samples("room/gt.png", np.uint16, 1, 1)  # gt.pfm comes before it
        self.expect("room", "top", (16, "truth"), None)
        self.samples("room/mask_nocc.png", np.uint8, 0, 255)
        self.pfm("room/gt.pfm", ">")
        self.expect("room", "top", (16, "truth"), 32 * 12 - 1)
        self.expect("room", "top", (20, "option"), 32 * 12 - 1, words=("--num-disparities", "20"))

    def test_a_name_with_a_number(self):
        self.views("kitti-000012/left.png", "kitti-000012/right.png")
        self.samples("kitti-000012/gt.png", np.uint16, 0, 256 * SHIFT)
        self.expect("kitti-000012", "kitti", (16, "truth"), None)

    def test_middlebury_2014(self):
        self.views("a/im0.png", "a/im1.png")
        self.pfm("a/disp0.pfm")
        self.samples("a/mask0nocc.png", np.uint8, 0, 255)
        self.write("a/calib.txt", b"cam0=[1 0 2; 0 1 2; 0 0 1]\nndisp=29\nisint=0\n")
        self.expect("a", "top", (29, "calib.txt"), 32 * 12 - 1)

    def test_middlebury_2006(self):
        """1110 rows count pixels, 555 half pixels, 370 thirds; disp5.png is not the left view's."""
        for scale, height in enumerate((1110, 555, 370), 1):
            self.views("a/view1.png", "a/view5.png", 20, height)
            self.samples("a/disp1.png", np.uint8, 0, SHIFT * scale, 20, height)
            self.samples("a/disp5.png", np.uint8, 0, 90, 20, height)
            self.expect("a", "top", (16, "truth"), None, 20 * height - 1)
        self.views("a/view1.png", "a/view5.png")
        self.samples("a/disp1.png", np.uint8, 0, 4 * SHIFT)
        self.refuse("set --truth-scale")
        self.expect("a", "top", (16, "truth"), None, words=("--truth-scale", "4"))

    def test_kitti(self):
        """KITTI 2015, and 2012 in colour and in grey. Frames without a truth count only where the set has none."""
        for k, (left, right, occ, noc) in enumerate((("image_2", "image_3", "disp_occ_0", "disp_noc_0"), ("colored_0", "colored_1", "disp_occ", "disp_noc"),
                                                     ("image_0", "image_1", "disp_occ", "disp_noc"))):
            self.top = os.path.join(os.path.dirname(self.top), f"set{k}", "training")
            for frame in ("000007_10.png", "000007_11.png"):
                self.views(f"{left}/{frame}", f"{right}/{frame}")
            row, = self.rows()
            self.assertEqual((row["scene"], row["group"], row["disparities_from"]), ("000007_10", f"set{k}/training", "default"))
            self.assertNotIn("all", row)
            self.samples(f"{noc}/000007_10.png", np.uint16, 0, 256 * SHIFT)
            self.expect("000007_10", f"set{k}/training", (16, "truth"), 32 * 12 - 1)
            self.samples(f"{occ}/000007_10.png", np.uint16, 256 * SHIFT, 256 * SHIFT)
            self.expect("000007_10", f"set{k}/training", (16, "truth"), 32 * 12 - 1, 32 * 12)

    def test_many_in_order(self):
        """A sequence without a truth is no scene."""
        for name in ("b/2", "a", "b/1", "one/two/three/four"):
            self.views(f"{name}/left.png", f"{name}/right.png")
        for name in ("calm/{}/1.png", "street/{}/1.png", "street/{}/2.png"):
            self.views(name.format("left"), name.format("right"))
        self.samples("street/gt/2.png", np.uint16, 0, 256 * SHIFT)
        self.samples("a/mask_nocc.png", np.uint8, 0, 255)  # alone it says nothing
        self.assertEqual([(row["scene"], row["group"], "all" in row) for row in self.rows()],
                         [("a", "top", False), ("b/1", "b", False), ("b/2", "b", False), ("street/2", "street", True)])
        self.assertEqual([row["scene"] for row in self.rows("--scene", "b/2,str*")], ["b/2", "street/2"])
        self.assertEqual([row["scene"] for row in self.rows("--scene", "2")], ["b/2", "street/2"])
        self.refuse("--scene attic: no such scene", "--scene", "a,attic")

    def test_a_bad_scene_does_not_stop_the_others(self):
        for name in ("a", "b"):
            self.views(f"{name}/left.png", f"{name}/right.png")
            self.pfm(f"{name}/gt.pfm", width=32 if name == "b" else 33)
        status, out, said = self.main("--json")
        self.assertEqual((status, [row["scene"] for row in json.loads(out)]), (1, ["b"]))
        self.assertIn("must have the size of the left view", said)

    def test_table(self):
        for name, wrong in (("kitti/1", 0), ("kitti/2", 48), ("room", 24)):
            self.views(f"{name}/left.png", f"{name}/right.png", 96, 40)
            truth = np.full((40, 96), 256 * SHIFT, np.uint16)
            truth[:, 96 - wrong:] += 256 * 7
            cv2.imwrite(self.path(f"{name}/gt.png"), truth)
        rows = self.rows("--bad", "7.5,3")
        for row, wrong in zip(rows, (0, 50, 25)):
            found = row["all"]
            self.assertEqual([name for name in found if name.startswith("bad")], ["bad0.5", "bad1", "bad2", "bad3", "bad4", "bad7.5"])
            self.assertAlmostEqual(found["bad4"], wrong, delta=4)  # noise at borders may be wrong too
            self.assertLess(found["bad7.5"], 4)
            self.assertNotIn("median_ms", row)
        bad = [row["all"]["bad1"] for row in rows]
        text = score.table(rows, "all")
        cells = {line.split("  ")[0]: line.split() for line in text.splitlines()}
        names = list(score.figures(rows[0]["all"]))
        for name, mean in (("mean of 2, kitti", sum(bad[:2]) / 2), ("mean of 3, all scenes", sum(bad) / 3)):
            self.assertAlmostEqual(float(cells[name][names.index("bad1") - len(names)]), mean, delta=0.006)
        self.assertIn("kitti/1, 16*", cells)
        self.assertIn("\n* the largest true disparity", text)
        self.assertIn("times the best, mean of 2", text)
        holes = self.rows("--scene", "room", "--fill", "none")[0]["all"]  # missing is wrong and not kept
        self.assertLess(holes["density"], 100)
        self.assertAlmostEqual(holes["bad1"], holes["kept"]["bad1"] * holes["density"] / 100 + 100 - holes["density"])

    def test_refused_files(self):
        """None is a FIFO: to open one would wait for ever."""
        self.views("a/left.png", "a/right.png")
        self.pfm("a/whole.pfm")
        cv2.imwrite(self.path("a/whole.png"), self.draw.integers(0, 9999, (12, 32), np.uint16))
        cv2.imwrite(self.path("a/colours.png"), self.draw.integers(0, 256, (12, 32, 3), np.uint8))
        cv2.imwrite(self.path("a/lower.png"), np.full((11, 32), 255, np.uint8))
        cv2.imwrite(self.path("a/wider.png"), np.full((12, 33), 7, np.uint8))
        pfm, png, colours, lower, wider = (pathlib.Path(self.path(f"a/{name}")).read_bytes()
                                           for name in ("whole.pfm", "whole.png", "colours.png", "lower.png", "wider.png"))
        left = pathlib.Path(self.path("a/left.png")).read_bytes()
        for name, data, text in (("gt.pfm", pfm[:-1], "not a readable PFM"), ("gt.pfm", b"PF\n7 5\n-1.0\n", "not a readable PFM"),
                                 ("gt.pfm", b"Pf\n-7 5\n-1\n", "not a readable PFM"), ("gt.pfm", b"Pf\n99999999 5\n-1\n", "not a readable PFM"),
                                 ("gt.png", b"", "gt.png"), ("gt.png", b"no picture at all", "gt.png"), ("gt.png", png[:-200], "gt.png"),
                                 ("gt.png", colours, "grey samples alone"), ("calib.txt", b"ndisp=many\n", "ndisp must be"),
                                 ("calib.txt", b"ndisp=0\n", "ndisp must be"), ("gt.pfm", None, "is no regular file"),
                                 ("gt.png", None, "is no regular file"), ("calib.txt", None, "is no regular file"),
                                 ("gt.pfm", pfm, ""), ("mask_nocc.png", lower, "must have the size"), ("mask_nocc.png", None, "is no regular file"),
                                 ("left.png", wider, "must have the size"), ("left.png", None, "is no regular file"), ("left.png", left, "")):
            path = pathlib.Path(self.path(f"a/{name}"))
            path.unlink(missing_ok=True)
            if data is None:
                os.mkfifo(path)
            else:
                path.write_bytes(data)
            if text:
                self.refuse(text)
                if name != "left.png":
                    path.unlink()
        os.remove(self.path("a/right.png"))
        self.refuse("without right.png")
        os.mkfifo(self.path("a/right.png"))
        os.mkfifo(self.path("out/001-disparity.pfm"))
        left = self.path("a/left.png")
        for words in ([left, self.path("a/right.png")], [left, left, "--write", self.path("out")]):
            self.assertRaisesRegex(score.Refused, "is no regular file", score.run, BENCH, [*OPTIONS, "--frames", "1", *words])

    def test_refused_words(self):
        self.views("a/left.png", "a/right.png")
        for words, text in ((("--bad", "2,x"), "write it as 3,5"), (("--bad", "0"), "write it as 3,5"), (("--truth-scale", "x"), "--truth-scale")):
            status, _, said = self.main(*words)
            self.assertEqual(status, 2, words)
            self.assertIn(text, said)
        for words, text in ((("--runs", "2.5"), "--runs 2.5: this takes"), (("--frames", "0"), "--frames 0: this takes"), ((), "Give two views"),
                            (("--synthetic", "8"), "write it as 640x480"), (("--sequence", self.top), "there is no PNG in it"), (("--nothing", "1"), "nothing")):
            done = subprocess.run([BENCH, *words], stderr=subprocess.PIPE, check=False, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(text, done.stderr)

    def write_sequence(self, frames, step):
        """A square of noise moves over noise that stands still; the truth of both is known."""
        back, square = self.draw.integers(0, 256, (40, 96 + SHIFT), np.uint8), self.draw.integers(0, 256, (24, 24), np.uint8)
        for frame in range(frames):
            left, right, truth, x = back[:, :96].copy(), back[:, SHIFT:].copy(), np.full((40, 96), 256 * SHIFT, np.uint16), 30 + step * frame
            left[8:32, x:x + 24], right[8:32, x - 12:x + 12], truth[8:32, x:x + 24] = square, square, 256 * 12
            for name, picture in (("left", left), ("right", right), ("gt", truth)):
                cv2.imwrite(self.path(f"{name}/{frame:03d}.png"), picture)

    def video(self, noise=0, *words):
        return video.video(BENCH, [self.top], 0, noise, [*OPTIONS, "--num-disparities", "20", *words])

    def test_video(self):
        self.write_sequence(12, 3)
        rows, means = self.video()
        self.assertEqual(len(rows), 12)
        self.assertNotIn("flicker", rows[0])
        for name in ("bad1", "flicker", "trails"):
            self.assertAlmostEqual(means[name], sum(row[name] for row in rows[9:]) / 3)
        # the square's two edges of 3 px change; all that is right changes with them
        self.assertGreater(means["flicker"], 100 * 2 * 3 * 24 / (96 * 40) / 2)
        self.assertLess(means["bad1"], 10)
        self.assertLess(means["trails"], 50)

    def test_video_that_stands_still(self):
        self.write_sequence(3, 0)
        _, means = self.video()
        self.assertEqual(means["flicker"], 0)
        self.assertNotIn("trails", means)
        self.assertGreater(self.video(20, "--temporal", "0")[1]["flicker"], 0)
        pair = [self.path(f"{side}/000.png") for side in ("left", "right")]
        self.assertEqual(len(video.video(BENCH, pair, 4, 0, OPTIONS)[0]), 4)

    def test_bad_sequences(self):
        self.write_sequence(3, 1)
        os.remove(self.path("right/001.png"))
        self.assertRaisesRegex(score.Refused, "right/001.png", self.video)
        sequence = ["--backend", "cpu", "--sequence", self.top]
        self.assertRaisesRegex(score.Refused, "right/001.png", score.run, BENCH, sequence)
        for name in ("left/000.png", "right/000.png"):
            cv2.imwrite(self.path(name), np.full((30, 40), 7, np.uint8))
        os.remove(self.path("left/001.png"))
        self.assertRaisesRegex(score.Refused, "002.png is 96x40: it must have the size of the frames before", score.run, BENCH, sequence)


if __name__ == "__main__":
    unittest.main()
