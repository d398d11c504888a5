#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables and figures of the five documents that this project implements, made with it.

    papers.py compute --data FOLDER [--bench PROGRAM] [--jobs N] [--times] [--chapter NAME ...] --results FILE
    papers.py write --results FILE [--chapter NAME ...] [--out FOLDER]

compute runs what the chapters need, N runs at a time, then takes times one after the other, on an idle machine, and keeps all answers in one
JSON file. What the file has already is not computed again: remove it after a change of the matcher. With --times, all times are taken again, on this machine. It needs
NumPy and OpenCV; where there is a GPU, times of it are taken too. write makes README.md from that file, and its plots in
pictures/ beside it: the paper's numbers beside ours, on the scenes that were there. It needs NumPy and Matplotlib.
"""
import argparse
import json
import os
import re
import sys
import textwrap

import gcvl
import hillerstrom
import hong
import mahieu
import options as all_options
import parts
import yu
from bench import Bench, read_results

CHAPTERS = {"hillerstrom": hillerstrom, "yu": yu, "mahieu": mahieu, "gcvl": gcvl, "hong": hong, "parts": parts, "options": all_options}
HEAD = """<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->
<!-- Made by `docs/papers/papers.py` -->
# The papers, reproduced

Tables and figures of the documents that this project implements, with the papers' numbers beside ours. Times of the processor are those of the
shortest frame, of one thread unless said, on an {processor}, {cores} cores, which are shared with other work: single times scatter.
Times of a GPU are {gpu}. All of ours are of this one machine, and ratios are of its processor and its GPU; where a paper's time stands
beside ours, its machine is named.

The scenes are Middlebury's. `docs/papers/papers.py compute --data SCENES --results FILE`, then `papers.py write --results FILE` make this page. In
plots, what a paper prints is grey.

"""


def wrapped(text):
    """Paragraphs in lines of one width; tables, pictures and headings as they are."""
    return "\n\n".join(part if part.lstrip().startswith(("|", "!", "#", "<")) else textwrap.fill(part, 130, break_long_words=False, break_on_hyphens=False)
                       for part in re.split(r"\n\n+", text.strip()))


def title_of(name):
    return CHAPTERS[name].__doc__.strip().rstrip(".")


def old_chapters(path):
    """{title: text} of a page that is there."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as page:
        parted = re.split(r"^## (.*)\n", page.read(), flags=re.M)
    return dict(zip(parted[1::2], parted[2::2]))


def asked(scenes, names=CHAPTERS):
    """What the chapters ask: a run whose answers are placeholders."""
    from plot_none import NoPlot
    bench = Bench(scenes)
    for name in names:
        CHAPTERS[name].chapter(bench, NoPlot())
    return bench.asked


def compute(options, names):
    import compute as computing
    if not os.path.isdir(options.data or ""):
        missing = f"there is no folder {options.data}" if options.data else "no scenes are named"
        sys.exit(f"papers.py: {missing}: set --data or STEREO_DATA to a folder of scenes")
    scenes = sorted(name for name in os.listdir(options.data) if os.path.exists(os.path.join(options.data, name, "left.png")))
    results = {"machine": computing.machine(options.bench), "scenes": scenes, "answers": {}}
    if os.path.exists(options.results):
        before = read_results(options.results)
        if before["machine"] != results["machine"] and not options.times:
            sys.exit(f"papers.py: {options.results} has times of another machine: name another file with --results, or take all times again with --times")
        results["answers"] = {key: answer for key, answer in before["answers"].items()
                              if not options.times or not re.search(r"\| (time|resize)[^|]*$", key)}

    def keep():
        with open(options.results + ".new", "w", encoding="utf-8") as file:
            json.dump(results, file)
        os.replace(options.results + ".new", options.results)
    computing.all_answers(options.bench, options.data, asked(scenes, names), options.jobs, results["answers"], keep)


def write(options, names):
    from plot import Plot
    results = read_results(options.results)
    bench, plot = Bench(results["scenes"], results), Plot(options.out)
    path = os.path.join(options.out, "README.md")
    chapters = old_chapters(path) if options.chapter else {}
    for name in names:
        chapters[title_of(name)] = CHAPTERS[name].chapter(bench, plot)
    gpu = results["machine"]["GPU"]
    with open(path, "w", encoding="utf-8") as page:
        page.write(wrapped(HEAD.format(processor=results["machine"]["processor"], cores=results["machine"]["cores"],
                                       gpu=f"medians of 20 frames whose views are in its memory, on an {gpu}" if gpu else "not there")) + "\n\n" + "\n\n".join(
            f"## {title}\n\n{wrapped(chapters[title])}" for title in map(title_of, CHAPTERS) if title in chapters) + "\n")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("compute", "write"))
    parser.add_argument("--results", required=True, help="file of the answers")
    parser.add_argument("--data", default=os.environ.get("STEREO_DATA"), help="folder of scenes; without it, STEREO_DATA")
    parser.add_argument("--bench", default=os.path.join(here, "../../build/stereo/tools/stereo-bench"))
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time; times are taken alone")
    parser.add_argument("--times", action="store_true", help="times of an earlier run do not stay")
    parser.add_argument("--chapter", action="append", choices=CHAPTERS, help="this one alone, the others stay; may be given several times")
    parser.add_argument("--out", default=here, help="folder of the page")
    options = parser.parse_args()
    {"compute": compute, "write": write}[options.step](options, options.chapter or list(CHAPTERS))


if __name__ == "__main__":
    main()
