# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the default adds to the thesis."""
import numpy

from bench import table

SCENES = {"aloe": 224, "cones": 60, "motorcycle": 70, "piano": 64, "playtable": 80, "recycle": 64, "teddy": 60, "tsukuba": 16, "venus": 20,
          "vintage": 176}
KITTI = {name: 128 for name in ("kitti12-000027", "kitti12-000138", "kitti15-000003", "kitti15-000011", "kitti15-000020", "kitti15-000030")}
DENSE = ("--fill", "background", "--temporal", 0)
FULL = ("--search", "full")
VERSIONS = {
    "the default": (),
    "`search=full`": FULL,
    "`search=full refine-iterations=0`": (*FULL, "--refine-iterations", 0),
    "`search=full paths=none`": (*FULL, "--paths", "none"),
    "`search=full paths=none refine-iterations=0`": (*FULL, "--paths", "none", "--refine-iterations", 0),
    "`method=sgm cost=mixed paths=4`": ("--method", "sgm", "--cost", "mixed", "--paths", 4),
    "`profile=thesis`, filled": ("--profile", "thesis"),
}


def chapter(bench, _plot):
    rows, found = [], {}
    for name, options in VERSIONS.items():
        cells = []
        for limit in (1, 2, 4):
            cells.append(numpy.mean([bench.bad(scene, ["--num-disparities", SCENES[scene], *DENSE, *options], limit) for scene in bench.has(SCENES)]))
        roads = bench.has(KITTI)
        if roads:
            cells.append(numpy.mean([bench.ask(scene, ["--num-disparities", KITTI[scene], *DENSE, *options], "d1") for scene in roads]))
        rows.append([name, *(f"{value:.2f}" for value in cells)])
        found[name] = cells[0]
    default, full, _, unsmoothed, _, sgm, thesis = found.values()
    return f"""The thesis has adaptive support weights and a refinement. The default of `stereomatch` has support weights of the left view, with a small window and the cost
`mixed`; semi-global paths in four directions after them; and a search from coarse to fine, which takes the place of the refinement. What
each part gives,
where both views see, filled (`fill=background`): means of {len(bench.has(SCENES))} scenes of Middlebury ({', '.join(bench.has(SCENES))}),
and of {len(bench.has(KITTI))} of KITTI.

""" + table(["settings", "bad 1, %", "bad 2, %", "bad 4, %", "D1 of KITTI, %"], rows) + f"""
Against the full search, bad 1 changes by {unsmoothed - full:+.2f} points without paths, by {sgm - full:+.2f} with `sgm`, which has no
support weights, and by {default - full:+.2f} with the
search from coarse to fine. `profile=thesis` is the thesis's method alone, with nothing else: it differs from the default by
{thesis - default:+.2f} points.
"""
