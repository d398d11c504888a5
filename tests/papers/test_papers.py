# SPDX-License-Identifier: LGPL-2.1-or-later
"""The scores of papers.py, and that the options that it names are there: test_papers.py STEREO_BENCH"""
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import cv2
    import matplotlib  # noqa: F401
    import numpy
except ImportError as error:
    print(f"SKIP: {error}", file=sys.stderr)
    sys.exit(77)
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/papers"))
import bench  # noqa: E402
import papers  # noqa: E402
import plot  # noqa: E402
import gcvl  # noqa: E402
import hillerstrom  # noqa: E402
import hong  # noqa: E402
import mahieu  # noqa: E402
import options  # noqa: E402
import yu  # noqa: E402
import yu_work  # noqa: E402

PROGRAM = sys.argv.pop()


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
        self.assertAlmostEqual(bench.bad(disparity, truth, mask, 1.5), 100 * wrong / known)

    def test_squared_error(self):
        truth = numpy.array([[10.0, 20.0, numpy.nan, 40.0]])
        found = numpy.array([[12.0, numpy.nan, 7.0, 40.0]])
        self.assertAlmostEqual(mahieu.squared_error(found, truth), ((2 / 40) ** 2 + (20 / 40) ** 2) / 3)

    def test_textureless(self):
        """As summed pixel by pixel, away from the border."""
        picture = self.draw.integers(0, 12, (20, 30), numpy.uint8)
        found = gcvl.textureless(cv2.merge([picture] * 3))
        grey = picture.astype(int)
        for y, x in zip(self.draw.integers(1, 19, 40), self.draw.integers(1, 28, 40)):
            squares = sum((grey[v, u + 1] - grey[v, u]) ** 2 for v in (y - 1, y, y + 1) for u in (x - 1, x, x + 1))
            self.assertEqual(found[y, x], squares < 9 * gcvl.LEAST_GRADIENT ** 2)
        self.assertTrue(gcvl.textureless(numpy.full((9, 9, 3), 77, numpy.uint8)).all())

    def test_gpu_script(self):
        """What the script prints has the times of all that the chapters ask for."""
        work = [job for chapter in (gcvl, hillerstrom, hong, mahieu) for job in chapter.gpu_work()]
        with tempfile.TemporaryDirectory() as folder:
            script, program, times = (os.path.join(folder, name) for name in ("times.sh", "bench", "gpu.times"))
            with open(script, "w", encoding="utf-8") as file:
                file.write(bench.gpu_script(work))
            with open(program, "w", encoding="utf-8") as file:
                file.write('#!/bin/sh\necho "[{\\"compute_median_ms\\": $#, \\"stages_ms\\": {\\"match\\": 0.5}}]"\n')
            os.chmod(program, 0o700)
            with open(times, "wb") as file:
                subprocess.run(["sh", script], stdout=file, env={**os.environ, "BENCH": program, "DATA": folder}, check=True)
            found = bench.Bench(program, folder, bench.gpu_times(times))
        for name, options in work:
            self.assertEqual(found.gpu(name, options), (len(options) + 8, {"match": 0.5}))
        self.assertIsNone(found.gpu("venus", ["--window", 10]))

    def test_slanted_pair(self):
        """What the right view shows at x - d, the left one shows at x."""
        with tempfile.TemporaryDirectory() as folder:
            # smooth, so that a place between pixels is as good as on one
            picture = cv2.GaussianBlur(self.draw.uniform(0, 255, (40, 300, 3)), (0, 0), 6)
            cv2.imwrite(folder + "/smooth.png", cv2.normalize(picture, None, 0, 255, cv2.NORM_MINMAX).astype(numpy.uint8))
            (left, right), truth = yu.slanted_pair(folder + "/smooth.png", folder, 50)
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
        self.assertEqual(yu_work.of_the_paper("esaw", 1, 1, 1, 60), (2 * (33 + 300), 18 + 26 * 60))
        self.assertEqual(yu_work.of_the_paper("esmp", 2, 3, 1, 10), (6 * (66 + 220), 6 * (18 + 420)))
        for key, printed in yu_work.TABLE_5.items():
            for value, part in zip(printed[2:], yu_work.of_the_paper(*key, *yu_work.SIZE)):
                self.assertLess(abs(1 - value * 1e9 / part), 0.2, key)

    def test_own_work(self):
        self.assertEqual(yu_work.message_operations(60), 10)  # neighbours 1 and 2 away, of a reach of 3
        self.assertEqual(yu_work.ours("esaw", 3, 10, 2, 8), (20 * (3 * (42 + 12 * 8) + 16), 20 * (3 * (4 + 4 * 8) - 16 + 2)))
        self.assertEqual(yu_work.linear((9, 6)), "9 + 6ℓ")
        self.assertEqual(yu_work.linear((0, 4)), "4ℓ")


class Page(unittest.TestCase):
    def test_other_chapters_stay(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "README.md")
            self.assertEqual(papers.old_chapters(path), {})
            with open(path, "w", encoding="utf-8") as page:
                page.write("# The papers\n\nhead\n\n## One: a\n\ntext\n\n## Two\n\n| table |\n")
            self.assertEqual(papers.old_chapters(path), {"One: a": "\ntext\n\n", "Two": "\n| table |\n"})

    def test_least_times(self):
        """The least of all runs, of a frame and of each stage; another level of the processor is another time."""
        said = [{"min_ms": frame, "stages_ms": {"match": match}} for frame, match in ((3, 2), (4, 1), (5, 5), (2, 3), (9, 9))]
        least = {}
        timed = bench.Bench("", "", least=least)
        timed.run = lambda *_: said.pop(0)
        self.assertEqual(timed.times("scene", ["--window", 5], rounds=2), (3, {"match": 1}))
        self.assertEqual(timed.times("scene", ["--window", 5], rounds=2), (2, {"match": 1}))
        self.addCleanup(os.environ.pop, "STEREO_CPU")
        os.environ["STEREO_CPU"] = "avx2"
        self.assertEqual(timed.times("scene", ["--window", 5], rounds=1), (9, {"match": 9}))
        self.assertEqual(len(least), 2)

    def test_places_of_bars(self):
        places, width = plot.bar_places(2, 3)
        self.assertEqual(width, 0.4)
        self.assertEqual([[round(at, 9) for at in line] for line in places], [[-0.2, 0.8, 1.8], [0.2, 1.2, 2.2]])


class Options(unittest.TestCase):
    def test_they_are_there(self):
        said = subprocess.run([PROGRAM, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
        known = set(re.findall(r"^  --([a-z0-9-]+)", said, re.M))
        named = set()
        for _, _, words in options.ROWS:
            for quoted in re.findall(r"`([^`]*)`", words):
                named |= set(re.findall(r"([a-z][a-z0-9-]*)=", quoted)) | ({quoted} if "=" not in quoted and "-" in quoted else set())
        values = set(re.findall(r"[a-z0-9-]+", said))
        self.assertGreater(len(named), 20)
        self.assertLessEqual(named, known | values)


if __name__ == "__main__":
    unittest.main()
