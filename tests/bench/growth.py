#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Time for a pixel and a disparity, over sizes and over search ranges: it should not rise.

    growth.py --options "--backend cuda --device-input --runs 60" --save gpu.json
    growth.py --options "--backend cpu --threads 2 --runs 3" --range-size 640x480 --rounds 5 --save cpu.json
    growth.py --plot growth.png "NVIDIA H200=gpu.json" "2 cores=cpu.json"

The first two measure and print tables: medians of compute, with 64 disparities at every size and one size at every range.
The last one, which needs Matplotlib, draws what was measured; files may lack sizes, ranges and methods (--sizes, --ranges). Times are divided by
width x height x disparities, in nanoseconds.

A file has for each method the times of its sizes and of its ranges:
    {"range_size": "640x480", "methods": {"asw": {"sizes": {"640x480": 8.8}, "ranges": {"64": 8.8, "128": 7.4}}}}
"""
import argparse
import json
import subprocess
import sys

SIZES = ("320x240", "640x480", "1280x720", "1920x1080", "2560x1440", "3840x2160")
RANGES = (32, 64, 128, 192, 256)
SIZE, RANGE = "1280x720", 64
METHODS = {"asw": (), "sgm, 4 paths": ("--method", "sgm", "--paths", "4"), "bm": ("--method", "bm")}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default="build/stereo/tools/stereo-bench", help="the program (default: %(default)s)")
    parser.add_argument("--options", default="--backend cpu --threads 2 --runs 3", help="of the program (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=1, help="the least of so many is taken, where the machine is shared (default: 1)")
    parser.add_argument("--sizes", default=",".join(SIZES), help=f"to measure with {RANGE} disparities (default: %(default)s)")
    parser.add_argument("--ranges", default=",".join(map(str, RANGES)), help="to measure at one size (default: %(default)s)")
    parser.add_argument("--range-size", default=SIZE, help="that size (default: %(default)s)")
    parser.add_argument("--save", metavar="FILE", help="where what was measured is kept")
    parser.add_argument("--plot", metavar="PICTURE", help="draw what was kept")
    parser.add_argument("kept", nargs="*", metavar="NAME=FILE", help="for --plot")
    return parser.parse_args()


def time_of(bench, options, size, disparities):
    """Nanoseconds for a pixel and a disparity."""
    words = [bench, *options, "--synthetic", size, "--num-disparities", str(disparities), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr.strip()}")
    result = json.loads(done.stdout)[0]
    return 1e6 * result["compute_median_ms"] / (result["width"] * result["height"] * disparities)


def measure(bench, options, sizes, ranges, range_size, rounds=1):
    """What a file holds; keys are words, as JSON has them. A work that both lists have is measured once."""
    methods = {}
    for name, method in METHODS.items():
        times = {}
        for work in [(size, RANGE) for size in sizes] + [(range_size, disparities) for disparities in ranges]:
            if work not in times:
                times[work] = min(time_of(bench, [*options, *method], *work) for _ in range(rounds))
        methods[name] = {"sizes": {size: times[size, RANGE] for size in sizes},
                         "ranges": {str(disparities): times[range_size, disparities] for disparities in ranges}}
    return {"range_size": range_size, "methods": methods}


def table(kept, of, head):
    """Markdown: a line for each method, "" where there is no time."""
    columns = list(dict.fromkeys(column for times in kept["methods"].values() for column in times.get(of, {})))
    lines = [[head, *columns], ["---"] * (len(columns) + 1)]
    for name, times in kept["methods"].items():
        found = times.get(of, {})
        lines.append([name, *(f"{found[column]:.3g}" if column in found else "" for column in columns)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def line_of(times, columns):
    """The columns that have a time, in order, and their times."""
    there = [column for column in columns if str(column) in times]
    return there, [times[str(column)] for column in there]


def draw(picture, files):
    """One row of axes for each file: sizes on the left, ranges on the right."""
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("Agg")
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel

    figure, rows = pyplot.subplots(len(files), 2, figsize=(9, 2.6 * len(files)), squeeze=False)
    for (name, kept), (sizes, ranges) in zip(files.items(), rows):
        sizes.set_xlim(-0.3, len(SIZES) - 0.7)  # the same sizes at the same places in every row
        sizes.set_xticks(range(len(SIZES)), SIZES, fontsize=7)
        for method, times in kept["methods"].items():
            there, line = line_of(times.get("sizes", {}), SIZES)
            sizes.plot([SIZES.index(size) for size in there], line, "o-", label=method)
            ranges.plot(*line_of(times.get("ranges", {}), RANGES), "o-", label=method)
        sizes.set_xlabel(f"size, {RANGE} disparities")
        ranges.set_xlabel(f"disparities, {kept['range_size']}")
        sizes.set_ylabel(f"{name}\nns a pixel and disparity")
        ranges.set_xlim(0, RANGES[-1] + 16)
        for axes in (sizes, ranges):
            axes.set_ylim(bottom=0)
            axes.grid(alpha=0.3)
        ranges.legend()
    figure.tight_layout()
    figure.savefig(picture, dpi=80)


def main():
    options = arguments()
    if options.plot:
        files = {}
        for word in options.kept:
            name, path = word.split("=", 1)
            with open(path, encoding="utf-8") as file:
                files[name] = json.load(file)
        draw(options.plot, files)
        return
    kept = measure(options.bench, options.options.split(), options.sizes.split(","),
                   [int(disparities) for disparities in options.ranges.split(",")], options.range_size, options.rounds)
    print(table(kept, "sizes", f"ns, {RANGE} disparities") + "\n\n" + table(kept, "ranges", f"ns, {options.range_size}, disparities"))
    if options.save:
        with open(options.save, "w", encoding="utf-8") as file:
            json.dump(kept, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    main()
