#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""stages.py and constants.py with a program in the place of stereo-bench whose errors are known."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))

# Each call leaves a line in calls. p1=10 halves the error of every scene but vintage, which wants p1=8 very much.
FAKE = """#!{python} -IS
import json, sys
words = sys.argv[1:]
options = dict(word[2:].split("=", 1) for word in words if "=" in word)
named = dict((words[k], words[k + 1]) for k in range(len(words) - 1) if "=" not in words[k])
open("{folder}/calls", "a").write(" ".join(words) + "\\n")
if options.get("p1") == "99":
    sys.exit("p1=99: too large")
rows = []
for scene in named["--scene"].split(","):
    error = 10.0
    if options.get("p1") == "10":
        error = 5.0
    if scene == "vintage" and "p1" in options:
        error = 1000.0 if options["p1"] == "10" else 1.0
    error += 1 if options.get("p2") == "7" else 0
    wrong, figures = dict(d1=-1, bad1=-1, bad2=-1), dict(d1=error, bad1=error, bad2=error)
    rows.append(dict(scene=scene, all=wrong, nocc=figures))
print(json.dumps(rows))
"""


class Scripts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.bench = os.path.join(self.folder, "bench")
        with open(self.bench, "w", encoding="utf-8") as file:
            file.write(FAKE.format(python=sys.executable, folder=self.folder))
        os.chmod(self.bench, 0o755)

    def run_script(self, name, *words):
        command = [sys.executable, os.path.join(HERE, name), "--bench", self.bench, "--data", "unused", "--cache",
                   os.path.join(self.folder, "cache.json"), *words]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, text=True)

    def calls(self):
        with open(os.path.join(self.folder, "calls"), encoding="utf-8") as file:
            return file.read().splitlines()

    def test_the_set_left_out_does_not_choose(self):
        done = self.run_script("constants.py", "fill=background", "p1=8,10", "p2=6,7")
        self.assertEqual(done.returncode, 0, done.stderr)
        # With vintage, p1=8 is best; where its set is left out, p1=10 is, which scores (5 + 5 + 5 + 1000) / 4 there.
        self.assertRegex(done.stdout, r"Middlebury 2014 +253\.75 +10\.00 +p1=10 p2=6\n")
        self.assertRegex(done.stdout, r"KITTI 2015 +10\.00 +10\.00 +p1=8 p2=6\n")
        self.assertIn("p1: 8 (4 times), 10 (1 times)", done.stdout)
        self.assertIn("p2: 6 (5 times)", done.stdout)
        # four sets as the reference, and (10 + 10 + 10 + 1) / 40 in the fifth
        self.assertIn("best on all scenes: fill=background p1=8 p2=6: 0.9550", done.stdout)
        # four sets as the reference, and 253.75 / 10 in the fifth
        self.assertIn("left out one at a time: 5.8750", done.stdout)
        self.assertIn("wins on 1 of 29 scenes, loses on 0; worse in the mean: no set: it does not count", done.stdout)

    def test_one_setting_is_judged(self):
        done = self.run_script("constants.py", "p1=10")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"KITTI 2015 +D1 +10\.00 +5\.00 +14 +0  14\n")
        self.assertRegex(done.stdout, r"Middlebury 2014 +bad 2 +10\.00 +253\.75 +3 +1   4\n")
        self.assertIn("wins on 28 of 29 scenes, loses on 1; worse in the mean: Middlebury 2014: it does not count", done.stdout)
        other = os.path.join(self.folder, "other")
        with open(self.bench, encoding="utf-8") as file, open(other, "w", encoding="utf-8") as copy:
            copy.write(file.read().replace("error = 10.0", "error = 20.0"))
        os.chmod(other, 0o755)
        done = self.run_script("constants.py", "--reference-bench", other, "--reference", "fill=none", "fill=none")
        self.assertIn("wins on 29 of 29 scenes, loses on 0; worse in the mean: no set: it counts", done.stdout)

    def test_scores_are_kept(self):
        self.assertEqual(self.run_script("constants.py", "p1=8,10").returncode, 0)
        calls = len(self.calls())
        again = self.run_script("constants.py", "p1=8,10")
        self.assertEqual((again.returncode, len(self.calls())), (0, calls), again.stderr)
        with open(self.bench, "a", encoding="utf-8") as file:
            file.write("# another build\n")
        self.assertEqual(self.run_script("constants.py", "p1=8,10").returncode, 0)
        self.assertEqual(len(self.calls()), 2 * calls)

    def test_what_was_measured_before_a_failure_is_kept(self):
        done = self.run_script("constants.py", "p1=8,99")
        self.assertEqual(done.returncode, 1)
        self.assertIn("p1=99: too large", done.stderr)
        with open(os.path.join(self.folder, "cache.json"), encoding="utf-8") as file:
            self.assertEqual(sum("p1=8" in key for key in json.load(file)), 29)

    def test_the_ranges_are_those_of_the_scenes(self):
        self.run_script("constants.py", "p1=8")
        call = next(line for line in self.calls() if "venus" in line)
        self.assertIn("--scene venus --num-disparities 20", call)
        self.assertEqual(sum("--num-disparities 128" in line for line in self.calls()), 2)   # reference and p1=8

    def test_a_grid_without_values_is_refused(self):
        for word in ("p1", "p1=", "=8"):
            done = self.run_script("constants.py", word)
            self.assertEqual(done.returncode, 2)
            self.assertIn("write the grid as", done.stderr)

    def test_stages_add_up(self):
        done = self.run_script("stages.py")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [line for line in done.stdout.splitlines() if line.startswith("| ")]
        self.assertTrue(all(row.count("|") == rows[0].count("|") == 7 for row in rows), done.stdout)
        self.assertTrue(all("| 10.0 | 10.0 | 10.0 | 10.0 |" in row for row in rows[1:]), done.stdout)
        last = next(line for line in self.calls() if "--fill=planes" in line)
        self.assertIn("--method=asw", last)   # from the first row
        self.assertIn("--runs 4", last)       # the alignment needs frames
        self.assertTrue(any("--runs 1 " in line for line in self.calls()))


if __name__ == "__main__":
    unittest.main()
