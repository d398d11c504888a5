# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hong et al.: Stereo Matching Performance Analysis of Cost Functions on the GPU."""
from bench import means, table

SCENES = {"tsukuba": ("Tsukuba", 16), "venus": ("Venus", 20), "cones": ("Cone", 60)}
ALL = {**SCENES, "teddy": ("Teddy", 60)}  # in the paper's table 1, and in no other
COSTS = ("ad", "sd", "sad", "ssd", "nssd", "ncc", "zncc")
NAMES = (*map(str.upper, COSTS), "FZNCC")  # the times of zncc stand for FZNCC as well
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
    return [*values, values[COSTS.index("zncc")]]


def measured(bench, where):
    """{scene: times of COSTS}; no entry where there is no time."""
    take = bench.times if where == "processor" else bench.gpu
    found = {scene: [take(scene, options_of(cost, disparities)) for cost in COSTS] for scene, (_, disparities) in SCENES.items()}
    return {scene: times for scene, times in found.items() if all(times)}


def of_times(number, where, digits):
    """Table 2 with figure 3, or table 3 with figure 4: the paper's stages, and ours."""
    def draw(bench, plot):
        rows, series = [], {}
        for scene, times in measured(bench, where).items():
            name = SCENES[scene][0]
            rows += [[name if not k else "", f"{stage}, the paper", *line] for k, (stage, line) in enumerate(zip(STAGES, PRINTED[scene, where]))]
            ours = {"cost and aggregation": [stages["match"] for _, stages in times], "choice": [stages["select"] for _, stages in times],
                    "full matching": [frame for frame, _ in times]}
            rows += [["", f"{stage}, ours", *(f"{value:.{digits}f}" for value in with_fast(line))] for stage, line in ours.items()]
            series.update({f"the paper, {name}": PRINTED[scene, where][-1], f"ours, {name}": with_fast(ours["full matching"])})
        picture = plot.bars(f"hong-{number + 1}", list(NAMES), series, "ms a frame", True) if series else ""
        return table([f"Table {number}, ms, {where}", "", *NAMES], rows) + picture
    return draw


def speed_ups(bench, _):
    """How much faster the GPU is than one thread."""
    cpu, gpu, rows = measured(bench, "processor"), measured(bench, "GPU"), []
    for scene, (name, _) in SCENES.items():
        rows.append([name, "the paper", *(f"{a / b:.0f}" for a, b in zip(*(PRINTED[scene, where][-1] for where in ("processor", "GPU"))))])
        if scene in gpu:
            rows.append(["", "ours", *with_fast([f"{a[0] / b[0]:.0f}" for a, b in zip(cpu[scene], gpu[scene])])])
    return table(["Speed-up", "", *NAMES], rows)


def quality(bench, plot):
    """Errors, which the paper does not have; and figure 5, maps of teddy."""
    found = {cost.upper(): [bench.bad(scene, options_of(cost, disparities)) for scene, (_, disparities) in ALL.items()] for cost in COSTS}
    panels = [(cost.upper(), bench.disparity("teddy", options_of(cost, 60))) for cost in COSTS]
    return means("bad 1, %", [name for name, _ in ALL.values()], found) + plot.maps(
        "hong-5", [panels[:4], panels[4:] + [None]], "Disparity maps: " + ", ".join(found), 60)


FIGURES = {"hong-table-2": of_times(2, "processor", 1), "hong-table-3": of_times(3, "GPU", 2), "hong-speed-up": speed_ups, "hong-5": quality}
