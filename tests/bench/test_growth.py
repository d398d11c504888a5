#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""growth.py with a program whose times are known."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

import growth

# A frame takes 2 ns for a pixel and disparity, and 1 ms beside that; every second call is disturbed.
BENCH = """#!{python}
import json, os, sys
words = sys.argv[1:]
width, height = map(int, words[words.index("--synthetic") + 1].split("x"))
disparities = int(words[words.index("--num-disparities") + 1])
if disparities > 256:
    sys.exit("too many disparities")
with open({log!r}, "a") as log:
    log.write(" ".join(words) + "\\n")
    calls = log.tell()
time = 1 + 2e-6 * width * height * disparities
print(json.dumps([{{"width": width, "height": height, "compute_median_ms": time * (1 + calls % 2)}}]))
"""


class Growth(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.bench, self.log = (os.path.join(self.folder.name, name) for name in ("bench", "log"))
        with open(self.bench, "w", encoding="utf-8") as file:
            file.write(BENCH.format(python=sys.executable, log=self.log))
        os.chmod(self.bench, 0o700)

    def calls(self):
        with open(self.log, encoding="utf-8") as log:
            return log.read().splitlines()

    def test_measures(self):
        kept = growth.measure(self.bench, ["--runs", "3"], ["100x10", "200x10"], [32, 64], "100x10", 8)
        self.assertEqual(list(kept["methods"]), list(growth.METHODS))
        for times in kept["methods"].values():
            # 1 ms of a frame are 15.625 ns of each of 64000 pixels and disparities
            for of, key, true in (("sizes", "100x10", 17.625), ("sizes", "200x10", 9.8125), ("ranges", "32", 33.25),
                                  ("ranges", "64", 17.625)):
                self.assertIn(round(times[of][key] / true, 9), (1, 2), (of, key))
            self.assertEqual(times["sizes"]["100x10"], times["ranges"]["64"])  # measured once
        self.assertEqual(len(self.calls()), 3 * 8 * len(growth.METHODS))
        self.assertTrue(all(call.startswith("--runs 3 ") for call in self.calls()))
        self.assertEqual(sum("--method bm" in call for call in self.calls()), 24)

    def test_says_what_failed(self):
        with self.assertRaises(SystemExit) as stopped:
            growth.time_of(self.bench, [], "100x10", 300)
        self.assertIn("too many disparities", str(stopped.exception))

    def test_table_with_gaps(self):
        kept = {"methods": {"a": {"sizes": {"1x1": 0.01234, "2x2": 5}}, "b": {"sizes": {"2x2": 123.4}}, "c": {}}}
        self.assertEqual(growth.table(kept, "sizes", "ns").splitlines(),
                         ["| ns | 1x1 | 2x2 |", "| --- | --- | --- |", "| a | 0.0123 | 5 |", "| b |  | 123 |", "| c |  |  |"])

    def test_lines_with_gaps(self):
        self.assertEqual(growth.line_of({"256": 1, "32": 2}, growth.RANGES), ([32, 256], [2, 1]))

    def test_files_and_plot(self):
        """What one call saves, another draws, beside a file by hand that has less."""
        program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "growth.py")
        full, part, picture = (os.path.join(self.folder.name, name) for name in ("full.json", "part.json", "growth.png"))
        table = subprocess.run([sys.executable, program, "--bench", self.bench, "--sizes", "320x240", "--ranges", "32,64",
                               "--range-size", "320x240", "--save", full], capture_output=True, text=True, check=True).stdout
        self.assertIn("| ns, 320x240, disparities | 32 | 64 |", table)
        with open(full, encoding="utf-8") as file:
            self.assertEqual(json.load(file)["range_size"], "320x240")
        with open(part, "w", encoding="utf-8") as file:
            json.dump({"range_size": "1280x720", "methods": {"asw": {"sizes": {"3840x2160": 0.0119}}}}, file)
        try:
            import matplotlib  # noqa: F401, pylint: disable=import-outside-toplevel, unused-import
        except ImportError:
            self.skipTest("there is no Matplotlib")
        subprocess.run([sys.executable, program, "--plot", picture, f"part={part}", f"all={full}"], check=True)
        with open(picture, "rb") as file:
            self.assertEqual(file.read(4), b"\x89PNG")


if __name__ == "__main__":
    unittest.main()
