#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints the table "stages against data sets" of docs/benchmarks.md.

stages.py [--bench PATH] [--data FOLDER] [--cache FILE]

Each row of STAGES adds its options to those of the rows above. The rows of SETTINGS stand by themselves. A figure is the mean
over the scenes of a group (groups.py), in percent of the non-occluded pixels; missing pixels are wrong.
"""
import sys

from groups import GROUPS, MEASURES, Refused, Scores, group_means, options_of, parser

STAGES = (
    ("match: support weights, the least cost wins", "method=asw paths=none align=off refine-iterations=0 subpixel=off "
     "consistency=-1 speckle-size=0 median=off fill=keep"),
    ("left-right check, background filled", "consistency=1 fill=background"),
    ("sub-pixel fit", "subpixel=on"),
    ("refinement", "refine-iterations=2"),
    ("paths", "paths=8"),
    ("alignment", "align=auto"),
    ("speckles removed", "speckle-size=100"),
    ("planes filled", "fill=planes"),
    ("median", "median=3"),
)
SETTINGS = (
    ("default, filled", "fill=background"),
    ("both views' weights, three refinements, filled", "support=both window=5 gamma-color=28 refine-iterations=3 refine-alpha=1.5 fill=background"),
    ("`sgm`, speckles removed, filled", "method=sgm cost=mixed speckle-size=100 fill=background"),
    ("`profile=road`, dense", "profile=road fill=planes"),
    ("`profile=road`", "profile=road"),
)


def print_row(scores, name, shown, options):
    """Returns whether all scenes were scored."""
    try:
        means = group_means(scores.of(options))
    except Refused as refused:
        print(f"{name} ({shown}): {refused}", file=sys.stderr)
        means = {}
    cells = [f"{means[group.name]:.1f}" if means else "–" for group in GROUPS]
    print(f"| {name} | `{shown}` | {' | '.join(cells)} |", flush=True)
    return bool(means)


def main():
    scores = Scores(parser(__doc__).parse_args())
    print("| stage, added to those above | options | "
          + " | ".join(f"{group.name}, {MEASURES[group.measure]}" for group in GROUPS) + " |")
    print("|" + "---|" * (len(GROUPS) + 2))
    options, done = {}, True
    for name, added in STAGES:
        options.update(options_of(added))
        done &= print_row(scores, name, added, options)
    for name, setting in SETTINGS:
        done &= print_row(scores, name, setting, options_of(setting))
    return 0 if done else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("stopped; with --cache, the next run goes on from here")
