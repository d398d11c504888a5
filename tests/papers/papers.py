#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The tables and figures of the five documents that this project implements, made with it.

    papers.py [--data FOLDER] [--bench PROGRAM] [--chapter NAME ...] [--out FOLDER]
    papers.py --gpu-script FILE

Writes papers.md and its plots: the paper's numbers beside ours, on the scenes that are there. Some minutes on two cores. It needs
NumPy, OpenCV and Matplotlib. Times of a GPU are read from a file. Where there is one, the script that --gpu-script writes makes it:

    BENCH=stereo-bench DATA=FOLDER sh FILE > tests/papers/gpu.times
"""
import argparse
import os
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

import gcvl  # noqa: E402
import hillerstrom  # noqa: E402
import hong  # noqa: E402
import mahieu  # noqa: E402
import options as all_options  # noqa: E402
import yu  # noqa: E402
from bench import Bench, gpu_script, gpu_times  # noqa: E402

CHAPTERS = {"hillerstrom": hillerstrom, "yu": yu, "mahieu": mahieu, "gcvl": gcvl, "hong": hong, "options": all_options}
HEAD = """<!-- SPDX-License-Identifier: LGPL-2.1-or-later -->
<!-- Made by `tests/papers/papers.py` -->
# The papers, reproduced

Tables and figures of the documents that this project implements, with the papers' numbers beside ours. Times of this page
are the shortest of nine frames, on {where}. Those of a GPU are medians of 20 frames whose views are
in its memory, on {gpu_where}.
The scenes are Middlebury's. `tests/papers/papers.py --data SCENES --bench BUILD/tests/bench/stereo-bench` makes this page.

"""


class Plot:
    """Plots of one size, saved beside the page."""

    def __init__(self, folder):
        self.folder = folder
        os.makedirs(os.path.join(folder, "papers"), exist_ok=True)

    def axes(self, across, up):
        figure, axes = pyplot.subplots(figsize=(5.2, 3.2))
        axes.set_xlabel(across)
        axes.set_ylabel(up)
        axes.grid(alpha=0.3)
        self.figure = figure
        return axes

    def save(self, name, axes):
        """The line of the page that shows it."""
        axes.legend()
        axes.figure.tight_layout()
        axes.figure.savefig(os.path.join(self.folder, "papers", name + ".png"), dpi=90)
        pyplot.close(axes.figure)
        return f"![{axes.get_ylabel()} against {axes.get_xlabel()}](papers/{name}.png)\n"


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("STEREO_DATA", os.path.join(here, "../../../shared/data")))
    parser.add_argument("--bench", default=os.path.join(here, "../../build/tests/bench/stereo-bench"))
    parser.add_argument("--gpu-times", default=os.path.join(here, "gpu.times"), help="file with the times of a GPU; '' for none")
    parser.add_argument("--gpu-script", help="write the script that makes it, and nothing else")
    parser.add_argument("--gpu-where", default="an NVIDIA H200", help="where these were taken, in words")
    parser.add_argument("--chapter", action="append", choices=CHAPTERS, help="this one alone; may be given several times")
    parser.add_argument("--where", default="2 cores of a shared machine", help="where the times were taken, in words")
    parser.add_argument("--out", default=os.path.join(here, "../../docs"), help="folder of the page")
    options = parser.parse_args()
    if options.gpu_script:
        with open(options.gpu_script, "w", encoding="utf-8") as script:
            script.write(gpu_script([work for chapter in CHAPTERS.values() if hasattr(chapter, "gpu_work")
                                     for work in chapter.gpu_work()]))
        return
    if not os.path.isdir(options.data):
        sys.exit(f"papers.py: there is no folder {options.data}: set --data or STEREO_DATA to a folder of scenes")
    times = gpu_times(options.gpu_times) if options.gpu_times and os.path.exists(options.gpu_times) else {}
    bench, plot = Bench(options.bench, options.data, times), Plot(options.out)
    text = HEAD.format(where=options.where, gpu_where=options.gpu_where)
    for name in options.chapter or CHAPTERS:
        print(f"{name} ...", file=sys.stderr)
        title = CHAPTERS[name].__doc__.strip().rstrip(".")
        text += f"## {title}\n\n{CHAPTERS[name].chapter(bench, plot)}\n"
    with open(os.path.join(options.out, "papers.md"), "w", encoding="utf-8") as page:
        page.write(text.rstrip("\n") + "\n")


if __name__ == "__main__":
    main()
