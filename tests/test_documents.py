#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Documents: their links lead somewhere, and the figures of README.md are those of docs/benchmarks.md.

A figure is a number, or several with " / " between, before "ms" or "%". Figures of README.md stand in rows of tables. The first cell
of such a row names a row of docs/benchmarks.md, or several ("(default)" is left out), which must have the same figures. A figure
of README.md may be rounded.
"""
import glob
import os
import re
import sys
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
NUMBER = r"\d+(?:\.\d+)?"
FIGURES = re.compile(rf"({NUMBER}(?: / {NUMBER})*)(?: \(({NUMBER})\))? (ms|%)")


def figures_of(text):
    """[(number as it is written, unit)]"""
    return [(number, match[3]) for match in FIGURES.finditer(text)
            for number in match[1].split(" / ") + ([match[2]] if match[2] else [])]


def rows_of(text):
    """[(first cell, the other cells)] of all tables"""
    rows = []
    for line in text.splitlines():
        if line.startswith("|"):
            first, rest = line[1:].split("|", 1)
            rows.append((first.replace("(default)", "").strip(), rest))
    return rows


def is_same(rounded, exact):
    digits = len(rounded.partition(".")[2])
    return f"{float(exact):.{digits}f}" == rounded


def differences(readme, benchmarks):
    """What is wrong, a line each."""
    measured = {}
    for name, cells in rows_of(benchmarks):
        measured.setdefault(name, []).extend(figures_of(cells))
    wrong = []
    for line in readme.splitlines():
        if not line.startswith("|") and figures_of(line):
            wrong.append(f"a figure that is in no table: {line.strip()}")
    for name, cells in rows_of(readme):
        for number, unit in figures_of(cells):
            if name not in measured:
                wrong.append(f"no row of docs/benchmarks.md begins with {name}")
            elif not any(unit == other and is_same(number, exact) for exact, other in measured[name]):
                wrong.append(f"{name}: docs/benchmarks.md has no {number} {unit} there, but "
                             + ", ".join(" ".join(figure) for figure in measured[name]))
    return wrong


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def anchors_of(text):
    """As GitHub makes them of headings."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in re.findall(r"^#+ (.*)", text, re.M)}


def broken_links(name):
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", read(name)):
        path, _, anchor = link.partition("#")
        target = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
        if "://" in link:
            continue
        if not os.path.exists(os.path.join(ROOT, target)):
            broken.append(f"{name}: there is no {target}")
        elif anchor and anchor not in anchors_of(read(target)):
            broken.append(f"{name}: {target} has no heading #{anchor}")
    return broken


class Links(unittest.TestCase):
    def test_they_lead_somewhere(self):
        names = [os.path.relpath(name, ROOT) for name in glob.glob(os.path.join(ROOT, "*.md"))
                 + glob.glob(os.path.join(ROOT, "pipelines/*.md")) + glob.glob(os.path.join(ROOT, "docs/**/*.md"), recursive=True)]
        self.assertGreater(len(names), 15)
        self.assertEqual(sum(map(broken_links, names), []), [])


class Workflow(unittest.TestCase):
    def test_it_runs_the_two_commands(self):
        """Of README.md, and nothing that is not there."""
        commands = re.findall(r"- run: (.*)", read(".github/workflows/build.yml"))
        shown = re.findall(r"^(sh \S+)", read("README.md"), re.M)[:2]
        self.assertEqual(commands[:2], shown)
        for command in commands:
            self.assertTrue(os.path.exists(os.path.join(ROOT, command.split()[1])), command)


class Options(unittest.TestCase):
    def test_programs_have_them(self):
        """Those that the documents give to stereo-bench, or to what runs it."""
        bench = read("stereo/tools/bench.c") + read("stereo/engine/params.c")
        known = {"stereo-bench": bench, "tests/bench": bench + "".join(map(read, glob.glob("tests/bench/*.py", root_dir=ROOT)))}
        documents = "".join(map(read, glob.glob("docs/**/*.md", root_dir=ROOT, recursive=True))).replace("\\\n", "")
        named = {(program, option) for program, line in re.findall(r"(stereo-bench|tests/bench)(?:/\w+\.py)?( [^`\n]*)", documents)
                 for option in re.findall(r" --(\w[\w-]*)", line)}
        self.assertGreater(len(named), 15)
        self.assertEqual([(program, option) for program, option in named if not re.search(f'"(--)?{option}"', known[program])], [])


class Words(unittest.TestCase):
    def test_readme_is_an_entry_page(self):
        self.assertLessEqual(len(read("README.md").split()), 900)


class Figures(unittest.TestCase):
    def test_readme(self):
        readme = read("README.md")
        self.assertGreater(sum(len(figures_of(cells)) for _, cells in rows_of(readme)), 10)
        self.assertEqual(differences(readme, read("docs/benchmarks.md")), [])

    def test_another_figure_is_found(self):
        """Each figure of README.md in turn is made a tenth larger, then each row of docs/benchmarks.md that it is from is."""
        readme, benchmarks = read("README.md"), read("docs/benchmarks.md")
        lines = readme.splitlines()
        for at, line in enumerate(lines):
            for match in FIGURES.finditer(line) if line.startswith("|") else []:
                number = match[1].split(" / ")[0]
                other = line[:match.start(1)] + "9" + number + line[match.start(1) + len(number):]
                self.assertNotEqual(differences("\n".join(lines[:at] + [other] + lines[at + 1:]), benchmarks), [], other)
        larger = re.sub(FIGURES, lambda match: re.sub(NUMBER, lambda number: "9" + number[0], match[0]), benchmarks)
        self.assertEqual(len(differences(readme, larger)), len(differences(readme, "")))

    def test_rules(self):
        table = "| `a` (default) | 12.4 (3) ms | 2.06 / 1 % |"
        self.assertEqual(differences("| `a` | 12 ms (3 ms) | 2.1 % |\n", table), [])
        for wrong in ("| `a` | 13 ms |", "| `a` | 3.1 ms |", "| `a` | 12 % |", "| `b` | 12 ms |", "takes 12 ms"):
            self.assertEqual(len(differences(wrong, table)), 1, wrong)


if __name__ == "__main__":
    sys.exit(unittest.main())
