#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How many lines of stereo/ and gst/ the tests of a build with -Db_coverage=true have reached: coverage.py BUILD

By gcc's own gcov: gcovr of Debian 12 fails where a source is compiled more than once, as for each instruction set.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys

BUILD, ROOT = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(__file__).resolve().parents[2]
reached = collections.defaultdict(dict)  # file: {line: whether it was reached}
for notes in BUILD.rglob("*.gcno"):
    made = subprocess.run(["gcov", "--json-format", "--stdout", notes], cwd=BUILD, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=True).stdout
    for part in json.loads(made or b"{}").get("files", []):
        name = os.path.relpath(os.path.normpath(BUILD / part["file"]), ROOT)
        if name.startswith(("stereo/", "gst/")):
            lines = reached[name]
            for line in part["lines"]:
                lines[line["line_number"]] = lines.get(line["line_number"], False) or line["count"] > 0
if not reached:
    sys.exit(f"{BUILD} has no files of gcov: configure it with -Db_coverage=true")
counts = {name: (sum(lines.values()), len(lines)) for name, lines in reached.items()}
of, all_lines = (sum(count[i] for count in counts.values()) for i in (0, 1))
print(f"{100 * of / all_lines:.1f} % of {all_lines} lines are reached; least of:")
for name in sorted(counts, key=lambda name: counts[name][0] / counts[name][1])[:10]:
    missing = [str(line) for line, hit in sorted(reached[name].items()) if not hit]
    print(f"{100 * counts[name][0] / counts[name][1]:5.1f} % of {counts[name][1]:4d} {name}: not {', '.join(missing[:12])}"
          + (" …" if len(missing) > 12 else ""))
