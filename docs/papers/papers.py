#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tables and figures of the five documents that this project implements, made with it.

    papers.py list
    papers.py figure NAME... --data SCENES [--bench PROGRAM] [--jobs N] [--results FILE] [--out FOLDER]

figure computes what these figures need and prints their tables; "all" is every figure. --out: it draws them into FOLDER, too. --results:
a file that keeps the answers for the next call; remove it after a change of the matcher, and on another machine. Times are taken one after
the other: leave the machine alone. Needs NumPy and OpenCV; for --out Matplotlib; times of a GPU need a GPU.
"""
import argparse
import json
import os
import sys

import gcvl
import hillerstrom
import hong
import mahieu
import yu
from bench import Bench

FIGURES = {name: draw for part in (hillerstrom, yu, mahieu, gcvl, hong) for name, draw in part.FIGURES.items()}


class NoPlot:
    """Draws nothing. Everything may be called on it, and on what it gives."""

    def __getattr__(self, _):
        return lambda *_, **__: ""

    def axes(self, *_, of=None, **__):
        return [self] * of if of else self

    def __iter__(self):
        return iter(())


def asked(names, answers=None):
    """The questions of these figures that have no answer."""
    bench = Bench(answers)
    for name in names:
        FIGURES[name](bench, NoPlot())
    return bench.asked


def figure(options):
    import compute
    if not os.path.isdir(options.data or ""):
        sys.exit(f"papers.py: there is no folder of scenes {options.data or ''}: set --data or STEREO_DATA to one")
    names = list(FIGURES) if options.names == ["all"] else options.names
    for name in names:
        if name not in FIGURES:
            sys.exit(f"papers.py: there is no figure {name}: papers.py list prints all")
    answers = {}
    if options.results and os.path.exists(options.results):
        with open(options.results, encoding="utf-8") as file:
            answers = json.load(file)

    def keep():  # maps are made again
        if options.results:
            with open(options.results + ".new", "w", encoding="utf-8") as file:
                json.dump({key: answer for key, answer in answers.items() if not hasattr(answer, "shape")}, file)
            os.replace(options.results + ".new", options.results)
    compute.all_answers(options.bench, options.data, asked(names, answers), options.jobs, answers, keep)
    plot = NoPlot()
    if options.out:
        from plot import Plot
        plot = Plot(options.out)
    for name in names:
        print(f"## {name}\n\n{FIGURES[name](Bench(answers), plot)}")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("list", "figure"))
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--data", default=os.environ.get("STEREO_DATA"), help="folder of scenes; without it, STEREO_DATA")
    parser.add_argument("--bench", default=os.path.join(here, "../../build/stereo/tools/stereo-bench"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time; times are taken alone")
    parser.add_argument("--results", help="file that keeps the answers")
    parser.add_argument("--out", help="folder of the pictures")
    options = parser.parse_args()
    if options.step == "list":
        print("\n".join(FIGURES))
    else:
        figure(options)


if __name__ == "__main__":
    main()
