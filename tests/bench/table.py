#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The scores of many scenes as one table, with the means of each group and of all, from stereo-bench's JSON.

stereo-bench --score --json --scenes FOLDER | table.py [nocc|all]

A row: percent of pixels off by more than N px, or missing (bad N); D1; the mean error in px and the percent of the pixels that have a
value (err, dens); percent wrong of those (kept). nocc, which is the default: pixels that both views see, and all where that is not known.
The last lines say how well the confidence tells right from wrong. Every scene weighs the same.
"""
import json
import math
import sys


def figures(score):
    """{column: figure} of a score of the JSON; a figure of no pixel is missing."""
    kept = score.get("kept", {})
    rows = {name: value for name, value in score.items() if name.startswith("bad") or name == "d1"}
    rows.update({"err": score["average_error"]} if kept else {}, dens=score["density"])
    rows.update({f"kept {name}": value for name, value in kept.items() if name != "pixels"})
    return rows


def mean(rows):
    """The mean of each column over the rows that have it."""
    names = {name: None for row in rows for name in row}
    return {name: sum(found) / len(found) for name in names for found in [[row[name] for row in rows if name in row]]}


def line(name, row, columns):
    return f"{name:32}" + "".join(f" {f'{row[column]:.2f}' if column in row else '-':>{max(len(column), 6)}}" for column in columns)


def confidence(scenes):
    """How far the order by confidence is from the best one, and what was stated against what was right, in ten bins."""
    ratios, bins = [], {}
    for scene in scenes:
        found = scene.get("confidence", {"best_area": 0})
        if found["best_area"] > 0:
            ratios.append(found["area"] / found["best_area"])
            pixels = sum(each["pixels"] for each in found["calibration"])
            for each in found["calibration"]:
                bins.setdefault(math.floor(each["stated"] * 10), []).append((each["pixels"] / pixels, each["stated"], each["right"]))
    if not ratios:
        return []
    lines = [f"confidence: area under the sparsification curve {sum(ratios) / len(ratios):.2f} times the best, mean of {len(ratios)}"]
    for _, found in sorted(bins.items()):
        share, stated, right = (sum(values) for values in zip(*((s, s * a, s * b) for s, a, b in found)))
        lines.append(f"  stated {100 * stated / share:5.1f} %, right within 1 px {100 * right / share:5.1f} %, "
                     f"of the pixels {100 * share / len(ratios):5.1f} %")
    return lines


def table(scenes, part="nocc"):
    scored = [scene for scene in scenes if "all" in scene]
    rows = [figures(scene.get(part, scene["all"])) for scene in scored]
    columns = list(mean(rows))
    lines = [f"{'scene':32}" + "".join(f" {column:>6}" for column in columns)]
    groups = list(dict.fromkeys(scene["group"] for scene in scored))
    for group in groups:
        mine = [(scene, row) for scene, row in zip(scored, rows) if scene["group"] == group]
        for scene, row in mine:
            searched = f"{scene['disparities']}{'*' if scene['disparities_from'] == 'truth' else ''}"
            lines.append(line(f"{scene['scene']}, {searched}", row, columns))
        if len(mine) > 1:
            lines.append(line(f"mean of {len(mine)}, {group}", mean([row for _, row in mine]), columns))
    if len(groups) > 1:
        lines.append(line(f"mean of {len(rows)}, all scenes", mean(rows), columns))
    lines += confidence(scored)
    if any(scene["disparities_from"] == "truth" for scene in scored):
        lines.append("* the largest true disparity, rounded up to a multiple of 16; --num-disparities sets another number")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(json.load(sys.stdin), *sys.argv[1:2]))
