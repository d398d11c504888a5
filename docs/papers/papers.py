#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables and figures of the five documents that this project implements, made with it.

    papers.py [--data FOLDER] [--bench PROGRAM] [--chapter NAME ...] [--out FOLDER]
    papers.py --gpu-script FILE

Writes README.md and its plots, in pictures/ beside it: the paper's numbers beside ours, on the scenes that are there. Some
minutes on two cores. It needs NumPy, OpenCV and Matplotlib. Times of a GPU are read from a file. Where there is one, the script
that --gpu-script writes makes it:

    BENCH=stereo-bench DATA=FOLDER sh FILE > docs/papers/gpu.times
"""
import argparse
import json
import os
import re
import sys

import gcvl
import hillerstrom
import hong
import mahieu
import options as all_options
import yu
from bench import Bench, gpu_script, gpu_times
from plot import Plot

CHAPTERS = {"hillerstrom": hillerstrom, "yu": yu, "mahieu": mahieu, "gcvl": gcvl, "hong": hong, "options": all_options}
HEAD = """<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->
<!-- Made by `docs/papers/papers.py` -->
# The papers, reproduced

Tables and figures of the documents that this project implements, with the papers' numbers beside ours. Times of this page
are the shortest of some rounds of five frames, of one thread unless said, on {where}. Those of a GPU are medians of 20 frames whose views are
in its memory, on {gpu_where}.
The scenes are Middlebury's. `docs/papers/papers.py --data SCENES --bench BUILD/stereo/tools/stereo-bench` makes this page. In plots of
bars, grey is what a paper prints.

"""


def title_of(name):
    return CHAPTERS[name].__doc__.strip().rstrip(".")


def old_chapters(path):
    """{title: text} of a page that is there."""
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as page:
        parts = re.split(r"^## (.*)\n", page.read(), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def read_least(path):
    """What Bench.times() keeps."""
    if not path or not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("STEREO_DATA"), help="folder of scenes; without it, STEREO_DATA")
    parser.add_argument("--bench", default=os.path.join(here, "../../build/stereo/tools/stereo-bench"))
    parser.add_argument("--gpu-times", default=os.path.join(here, "gpu.times"), help="file with the times of a GPU; '' for none")
    parser.add_argument("--gpu-script", help="write the script that makes it, and nothing else")
    parser.add_argument("--gpu-where", default="an NVIDIA H200", help="where these were taken, in words")
    parser.add_argument("--chapter", action="append", choices=CHAPTERS, help="this one alone, the others stay; may be given several times")
    parser.add_argument("--least", metavar="FILE", help="keeps the least times of several runs on this machine")
    parser.add_argument("--where", default="2 cores of a shared machine", help="where the times were taken, in words")
    parser.add_argument("--out", default=here, help="folder of the page")
    options = parser.parse_args()
    if options.gpu_script:
        with open(options.gpu_script, "w", encoding="utf-8") as script:
            script.write(gpu_script([work for chapter in CHAPTERS.values() if hasattr(chapter, "gpu_work")
                                     for work in chapter.gpu_work()]))
        return
    if not os.path.isdir(options.data or ""):
        missing = f"there is no folder {options.data}" if options.data else "no scenes are named"
        sys.exit(f"papers.py: {missing}: set --data or STEREO_DATA to a folder of scenes")
    times = gpu_times(options.gpu_times) if options.gpu_times and os.path.exists(options.gpu_times) else {}
    least = read_least(options.least)
    bench, plot = Bench(options.bench, options.data, times, least), Plot(options.out)
    path = os.path.join(options.out, "README.md")
    chapters = old_chapters(path) if options.chapter else {}
    for name in options.chapter or CHAPTERS:
        print(f"{name} ...", file=sys.stderr)
        chapters[title_of(name)] = CHAPTERS[name].chapter(bench, plot)
        if options.least:
            with open(options.least, "w", encoding="utf-8") as file:
                json.dump(least, file)
    with open(path, "w", encoding="utf-8") as page:
        page.write(HEAD.format(where=options.where, gpu_where=options.gpu_where) + "\n\n".join(
            f"## {title}\n\n{chapters[title].strip()}" for title in map(title_of, CHAPTERS) if title in chapters) + "\n")


if __name__ == "__main__":
    main()
