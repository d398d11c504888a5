# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hong et al.: Stereo Matching Performance Analysis of Cost Functions on the GPU."""
from bench import table

SCENES = {"tsukuba": ("Tsukuba", 16), "venus": ("Venus", 20), "cones": ("Cone", 60)}
MORE = {"teddy": ("Teddy", 60)}  # in the paper's table 1, and in no other
COSTS = ("ad", "sd", "sad", "ssd", "nssd", "ncc", "zncc")
FAST = "zncc"  # the option whose times stand for FZNCC as well
STAGES = ("matching cost", "aggregation", "optimization", "allocation", "full matching")
# Tables 2 and 3, milliseconds: of each stage, AD, SD, SAD, SSD, NSSD, NCC, ZNCC and FZNCC.
# The 589 of SAD on Cone in the paper's table 2 is 5895: 3480 + 2210 + 200 + 5.
PRINTED = {
    ("tsukuba", "processor"): (
        (20, 18, 570, 740, 1400, 1300, 1550, 1160), (470, 470, 460, 460, 470, 470, 470, 470), (20, 30, 30, 30, 20, 20, 30, 30),
        (1, 1, 1, 1, 1, 1, 1, 1), (511, 519, 1061, 1221, 1881, 1791, 2051, 1661)),
    ("venus", "processor"): (
        (40, 100, 1120, 1200, 2470, 2220, 2950, 1960), (710, 700, 700, 700, 700, 700, 700, 700), (60, 30, 70, 70, 70, 70, 60, 70),
        (3, 3, 3, 3, 3, 3, 3, 3), (813, 833, 1893, 1973, 3243, 2993, 3723, 2733)),
    ("cones", "processor"): (
        (210, 190, 3480, 3690, 7360, 6740, 9160, 5700), (2210,) * 8, (200, 200, 200, 190, 200, 200, 200, 200), (5,) * 8,
        (2625, 2605, 5895, 6095, 9775, 9155, 11515, 8115)),
    ("tsukuba", "GPU"): (
        (0.17, 0.18, 2.43, 1.67, 1.98, 1.77, 4.13, 2.20), (1.41, 1.41, 1.39, 1.41, 1.41, 1.40, 1.40, 1.40), (0.16,) * 8,
        (1.51, 1.52, 1.49, 1.58, 1.54, 1.52, 1.45, 1.59), (3.25, 3.27, 5.47, 4.83, 5.09, 4.85, 7.14, 5.35)),
    ("venus", "GPU"): (
        (0.55, 0.54, 3.56, 2.54, 2.90, 2.67, 6.07, 3.32), (1.99, 1.97, 2.04, 2.03, 1.98, 2.05, 2.03, 1.94), (0.28,) * 8,
        (4.76, 4.89, 4.71, 4.97, 4.88, 4.71, 4.72, 4.97), (7.58, 7.68, 10.59, 9.82, 10.04, 9.71, 13.10, 10.51)),
    ("cones", "GPU"): (
        (8.89, 8.30, 13.47, 9.61, 11.13, 10.23, 22.86, 12.72), (7.77, 7.91, 7.52, 7.89, 7.89, 7.70, 7.65, 7.56),
        (1.32, 1.35, 1.38, 1.31, 1.33, 1.35, 1.35, 1.33), (8.21, 8.24, 8.24, 8.23, 8.19, 8.11, 8.21, 8.20),
        (19.59, 19.80, 30.61, 27.04, 28.54, 27.39, 40.07, 29.81)),
}


def options_of(cost, disparities):
    return ["--method", "bm", "--profile", "thesis", "--cost", cost, "--num-disparities", disparities, "--window", 9]


def with_fast(values):
    """The values of COSTS, and that of FAST once more for FZNCC."""
    values = list(values)
    return [*values, values[COSTS.index(FAST)]]


def rows_of(scene, where, times):
    """Stages of the paper, and ours. @times: [(milliseconds of a frame, {stage: milliseconds})] of COSTS."""
    digits = 2 if where == "GPU" else 1
    name = SCENES[scene][0]
    rows = [[name if not k else "", f"{stage}, the paper", *line] for k, (stage, line) in enumerate(zip(STAGES, PRINTED[scene, where]))]
    ours = {"cost and aggregation": [stages["match"] for _, stages in times], "choice": [stages["select"] for _, stages in times],
            "full matching": [frame for frame, _ in times]}
    return rows + [["", f"{stage}, ours", *(f"{value:.{digits}f}" for value in with_fast(line))] for stage, line in ours.items()]


def measured(bench):
    """{(scene, where): what rows_of() takes}; no entry where there is no time."""
    found = {}
    for scene in bench.has(SCENES):
        words = [options_of(cost, SCENES[scene][1]) for cost in COSTS]
        found[scene, "processor"] = [bench.times(scene, options) for options in words]
        gpu = [bench.gpu(scene, options) for options in words]
        if all(gpu):
            found[scene, "GPU"] = gpu
    return found


def speed_ups(bench, times):
    rows = []
    for scene in bench.has(SCENES):
        if (scene, "GPU") in times:
            printed = [line[-1] for line in (PRINTED[scene, "processor"], PRINTED[scene, "GPU"])]
            rows.append([SCENES[scene][0], "the paper", *(f"{a / b:.0f}" for a, b in zip(*printed))])
            rows.append(["", "ours", *with_fast(f"{a[0] / b[0]:.0f}" for a, b in zip(times[scene, "processor"], times[scene, "GPU"]))])
    return rows


def slips():
    """Sums of stages that are not the full matching that is printed, of the processor, in words."""
    found = []
    for (scene, where), (*stages, full) in PRINTED.items():
        for name, total, *parts in zip((*map(str.upper, COSTS), "FZNCC"), full, *stages):
            if where == "processor" and abs(sum(parts) - total) > 5:
                found.append(f"{name} on {SCENES[scene][0]} {sum(parts)} for {total}")
    return ", ".join(found)


def missing_costs():
    """What AD and SD on Cone would take for their costs on the GPU, by the sums of their stages."""
    (_, *others, full) = PRINTED["cones", "GPU"]
    return [full[k] - sum(stage[k] for stage in others) for k in (0, 1)]


def claims_of_quality(found):
    """@found: {scene: bad 1 of COSTS}."""
    best = [min(zip(values, COSTS))[1] for values in found.values()]
    count = [sum(cost == which for cost in best) for which in ("zncc", "ncc")]
    pixel = sum(min(values[:2]) > max(values[2:]) for values in found.values())
    mean = [sum(values[k] for values in found.values()) / len(found) for k in range(len(COSTS))]
    order = sorted(zip(mean, COSTS))
    return f"""
The paper has pictures in place of errors. It says that costs of a pixel are worse than those of windows, and that ZNCC and NCC look best.
Here AD and SD are both worse than every cost of a window on {pixel} of {len(found)} scenes; ZNCC has the fewest errors on {count[0]}, NCC
on {count[1]}. Means of the scenes: {
    ", ".join(f"{cost.upper()} {value:.1f}" for value, cost in order)} %.
"""


def quality(bench):
    """Bad 1 where both views see, {scene: values}; and the maps of the last scene, with their range."""
    found, panels, most = {}, [], 1
    for scene, (name, disparities) in {**SCENES, **MORE}.items():
        if not bench.has([scene]):
            continue
        words = {cost: options_of(cost, disparities) for cost in COSTS}
        found[name] = [bench.bad(scene, options, 1) for options in words.values()]
        if scene in MORE:
            most, panels = disparities, [(cost.upper(), bench.disparity(scene, options)) for cost, options in words.items()]
    return found, [panels[:4], panels[4:] + [None]], most


def bars(times, plot, number, where):
    """Figures 3 and 4: full matching."""
    series = {}
    for scene, (name, _) in SCENES.items():
        if (scene, where) in times:
            series[f"the paper, {name}"] = PRINTED[scene, where][-1]
            series[f"ours, {name}"] = with_fast(frame for frame, _ in times[scene, where])
    if not series:
        return ""
    groups = [*map(str.upper, COSTS), "FZNCC"]
    return f"**Figure {number}**: full matching on the {where}.\n\n" + plot.bars(f"hong-{number}", groups, series, "ms a frame", True) + "\n"


def chapter(bench, plot):
    times = measured(bench)
    head = [*map(str.upper, COSTS), "FZNCC"]
    text = ""
    for number, where in ((2, "processor"), (3, "GPU")):
        rows = [row for scene in bench.has(SCENES) if (scene, where) in times for row in rows_of(scene, where, times[scene, where])]
        text += table([f"Table {number}, ms, {where}", "", *head], rows) + "\n"
    ups, costs = speed_ups(bench, times), missing_costs()
    printed = [a / b for scene in SCENES for a, b in zip(PRINTED[scene, "processor"][-1], PRINTED[scene, "GPU"][-1])]
    text += (table([f"Speed-up of the {bench.machine('GPU')} over one thread of the {bench.machine('processor')}", "", *head], ups) if ups else "") + f"""
The paper's times of the GPU contain allocation and copies, and its processor runs one thread. Ours are without copies, and of one thread
with vector instructions; memory is allocated once, before the first frame. The paper computes costs, aggregation and the choice of the
lowest cost ("optimization") one after the other, with the costs of all disparities in memory. Here costs and aggregation are one pass. The
choice is of both views and makes the confidence as well; full matching adds loading, the left-right check and the output. AD and SD are costs of a
pixel, the others of a window of 9x9; the paper does not print its window. Where stages do not add up to full
matching, the paper has slips. In table 2, SAD on Cone is printed as 589, where its stages add up to 5895. Other sums are off what is
printed: {slips()}.
In table 3, AD and SD on Cone would take {costs[0]:.2f} and {costs[1]:.2f} ms for their
costs in place of {PRINTED["cones", "GPU"][0][0]:.2f} and {PRINTED["cones", "GPU"][0][1]:.2f}, by their sums. Printed values stand here as
printed, but for the 589. The paper's GPU is {min(printed):.0f} to {max(printed):.0f} times as fast
as its processor, which runs one thread of plain code. Figures 1 and 2 are drawings that explain, and table 1 lists the scenes: they have no results.

**Fast ZNCC**: the paper has its times and no description. What makes ZNCC fast in the field are running sums of products and squares, and
`zncc` here takes these on both processors: FZNCC is that column once more.

""" + bars(times, plot, 3, "processor") + bars(times, plot, 4, "GPU")
    found, panels, most = quality(bench)
    figure = "**Figure 5**: disparity maps of teddy.\n\n" + plot.maps(
        "hong-5", panels, "Disparity maps: " + ", ".join(map(str.upper, COSTS)), most) + "\n" if bench.has(MORE) else ""
    rows = [[name, *with_fast(f"{value:.1f}" for value in values)] for name, values in found.items()]
    return text + figure + table(["bad 1, % (not in the paper)", *head], rows) + claims_of_quality(found)
