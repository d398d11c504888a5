#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""stages.py and constants.py with errors that are known in the place of what stereo-bench gives."""
import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
import unittest.mock

try:
    import constants
    import groups
    import stages
except ImportError as error:
    print(f"SKIP: {error}", file=sys.stderr)
    sys.exit(77)


def error_of(scene, options):
    """p1=10 halves the error of every scene but vintage, which wants p1=8 very much."""
    if options.get("p1") == "99":
        raise groups.Refused("p1=99: too large")
    error = 5.0 if options.get("p1") == "10" else 10.0
    if scene == "vintage" and "p1" in options:
        error = 1000.0 if options["p1"] == "10" else 1.0
    return error + (1 if options.get("p2") == "7" else 0)


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.calls = folder.name, []
        self.bench = os.path.join(self.folder, "bench")
        with open(self.bench, "w", encoding="utf-8") as file:
            file.write("1")

    def matched(self, bench, words, last):
        """An error in the place of the map. The program's file has what it is multiplied with."""
        self.assertTrue(last)
        self.calls.append(" ".join(words))
        with open(bench, encoding="utf-8") as file:
            factor = float(file.read())
        options = dict(word[2:].split("=", 1) for word in words if word.startswith("--") and "=" in word)
        return {}, "", [(factor * error_of(os.path.basename(os.path.dirname(words[-1])), options), None)]

    def run_script(self, script, *words):
        """(exit status, standard output, standard error)"""
        argv = [script.__name__, "--bench", self.bench, "--data", "unused", "--cache", os.path.join(self.folder, "cache.json"), *words]
        out, said = io.StringIO(), io.StringIO()
        with unittest.mock.patch("sys.argv", argv), unittest.mock.patch("groups.matched", self.matched), \
                unittest.mock.patch("groups.load", lambda scene: (None, None)), \
                unittest.mock.patch("groups.scores", lambda error, *_: {"d1": error, "bad1": error, "bad2": error}), \
                contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            try:
                status = script.main() or 0
            except groups.Refused as refused:
                status = str(refused)
            except SystemExit as end:
                status = end.code
        return status, out.getvalue(), said.getvalue()

    def test_the_set_left_out_does_not_choose(self):
        status, out, said = self.run_script(constants, "fill=background", "p1=8,10", "p2=6,7")
        self.assertEqual(status, 0, said)
        # With vintage, p1=8 is best; where its set is left out, p1=10 is, which scores (5 + 5 + 5 + 1000) / 4 there.
        self.assertRegex(out, r"Middlebury 2014 +253\.75 +10\.00 +p1=10 p2=6\n")
        self.assertRegex(out, r"KITTI 2015 +10\.00 +10\.00 +p1=8 p2=6\n")
        self.assertIn("p1: 8 (4 times), 10 (1 times)", out)
        self.assertIn("p2: 6 (5 times)", out)
        # four sets as the reference, and (10 + 10 + 10 + 1) / 40 in the fifth
        self.assertIn("best on all scenes: fill=background p1=8 p2=6: 0.9550", out)
        # four sets as the reference, and 253.75 / 10 in the fifth
        self.assertIn("left out one at a time: 5.8750", out)
        self.assertIn("wins on 1 of 29 scenes, loses on 0; worse in the mean: no set: it does not count", out)

    def test_one_setting_is_judged(self):
        status, out, said = self.run_script(constants, "p1=10")
        self.assertEqual(status, 0, said)
        self.assertRegex(out, r"KITTI 2015 +D1 +10\.00 +5\.00 +14 +0  14\n")
        self.assertRegex(out, r"Middlebury 2014 +bad 2 +10\.00 +253\.75 +3 +1   4\n")
        self.assertIn("wins on 28 of 29 scenes, loses on 1; worse in the mean: Middlebury 2014: it does not count", out)
        other = os.path.join(self.folder, "other")
        with open(other, "w", encoding="utf-8") as file:
            file.write("2")
        out = self.run_script(constants, "--reference-bench", other, "--reference", "fill=none", "fill=none")[1]
        self.assertIn("wins on 29 of 29 scenes, loses on 0; worse in the mean: no set: it counts", out)

    def test_scores_are_kept(self):
        self.assertEqual(self.run_script(constants, "p1=8,10")[0], 0)
        calls = len(self.calls)
        status, _, said = self.run_script(constants, "p1=8,10")
        self.assertEqual((status, len(self.calls)), (0, calls), said)
        with open(self.bench, "a", encoding="utf-8") as file:
            file.write(".0")  # another build
        self.assertEqual(self.run_script(constants, "p1=8,10")[0], 0)
        self.assertEqual(len(self.calls), 2 * calls)

    def test_what_was_measured_before_a_failure_is_kept(self):
        self.assertIn("p1=99: too large", self.run_script(constants, "p1=8,99")[0])
        with open(os.path.join(self.folder, "cache.json"), encoding="utf-8") as file:
            self.assertEqual(sum("p1=8" in key for key in json.load(file)), 29)

    def test_the_ranges_are_those_of_the_scenes(self):
        self.run_script(constants, "p1=8")
        self.assertIn("--num-disparities 20 ", next(call for call in self.calls if "venus" in call))
        self.assertEqual(sum("--num-disparities 128" in call for call in self.calls), 2 * 16)  # KITTI: reference and p1=8

    def test_a_grid_without_values_is_refused(self):
        for word in ("p1", "p1=", "=8"):
            status, _, said = self.run_script(constants, word)
            self.assertEqual(status, 2)
            self.assertIn("write the grid as", said)

    def test_stages_add_up(self):
        status, out, said = self.run_script(stages)
        self.assertEqual(status, 0, said)
        rows = [row for row in out.splitlines() if row.startswith("| ")]
        self.assertTrue(all(row.count("|") == rows[0].count("|") == 7 for row in rows), out)
        self.assertTrue(all("| 10.0 | 10.0 | 10.0 | 10.0 |" in row for row in rows[1:]), out)
        last = next(call for call in self.calls if "--fill=planes" in call)
        self.assertIn("--method=asw", last)   # from the first row
        self.assertIn("--frames 4", last)     # the alignment needs frames
        self.assertTrue(any("--frames 1 " in call for call in self.calls))


if __name__ == "__main__":
    unittest.main()
