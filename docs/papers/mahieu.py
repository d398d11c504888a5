# SPDX-License-Identifier: LGPL-2.1-or-later
"""Mahieu and Lowney: Real-Time Semi-Global Matching Using CUDA Implementation."""
import numpy

from bench import means, ms, table

COLUMNS, MOST = 450, 64  # of the pictures; d_max
PRINTED = {"aloe": (0.0296, 3715), "cones": (0.0409, 3152)}  # table 2: mean squared error and milliseconds
SCENES = ("aloe", "cones", "teddy", "motorcycle", "piano", "playtable", "recycle")  # from the third on in the place of eight that are not there
OPTIONS = ["--method", "sgm", "--profile", "thesis", "--fill", "none", "--num-disparities", 64]
INTERPOLATED = ("--fill", "background")
WEIGHTS = {"all 1": (), "columns 0.5": ("--path-weight-vertical", 0.5), "columns 2": ("--path-weight-vertical", 2),
           "diagonals 0.5": ("--path-weight-diagonal", 0.5), "diagonals 2": ("--path-weight-diagonal", 2)}
PENALTIES = [(p1, p2) for p1 in (3, 5, 10, 15, 20, 30) for p2 in (20, 40, 60, 80, 120, 160, 240, 320) if p2 > p1]
WIDTHS = (113, 225, 250, 338, 450)


def error(bench, scene, more=(), what=f"mse {MOST}"):
    """Mean squared error of disparities as shares of the largest."""
    return bench.ask(f"{scene}@{COLUMNS}", [*OPTIONS, *more], what)


def table_2(bench, _):
    rows = []
    for scene in SCENES:
        views = f"{scene}@{COLUMNS}"
        rows.append([scene, *PRINTED.get(scene, ("", "")), f"{error(bench, scene):.4f}", f"{error(bench, scene, ('--median', 'off'), f'mse0 {MOST}'):.4f}",
                     f"{error(bench, scene, (), 'mse own'):.4f}", ms(bench.times(views, OPTIONS)), ms(bench.gpu(views, OPTIONS), 2)])
    return table(["Table 2", "MSE, the paper", "ms, the paper (GeForce 940M)", f"MSE, ours, over {MOST}", "median over the zeros, too",
                  "over the largest true disparity", "ms, one thread", "ms, GPU"], rows)


def table_1(bench, _):
    """For each scene: error with table 1, with the pair that is best on all other scenes, and with its own best one."""
    parts = []
    for more in ((), INTERPOLATED):
        found = {pair: [error(bench, scene, ("--p1", pair[0], "--p2", pair[1], *more)) for scene in SCENES] for pair in PENALTIES}
        lines = []
        for k, scene in enumerate(SCENES):
            own = min(found, key=lambda pair, k=k: found[pair][k])
            other = min(found, key=lambda pair, k=k: numpy.mean([value for n, value in enumerate(found[pair]) if n != k]))
            lines.append((error(bench, scene, more), found[other][k], found[own][k], other, own))
        parts.append(lines)
    rows = [[scene, *(cell for line in lines for cell in (f"{line[0]:.4f}", f"{line[1]:.4f} {line[3]}", f"{line[2]:.4f} {line[4]}"))]
            for scene, *lines in zip(SCENES, *parts)]
    rows.append(["mean", *(f"{numpy.mean([line[k] for line in part]):.4f}" for part in parts for k in range(3))])
    titles = ("table 1", "best of the other scenes (P1, P2)", "best of the scene")
    return table(["MSE", *titles, *(title + ", interpolated" for title in titles)], rows)


def path_weights(bench, _):
    found = {name + words: [error(bench, scene, (*options, *more)) for scene in SCENES]
             for words, more in (("", ()), (", interpolated", INTERPOLATED)) for name, options in WEIGHTS.items()}
    missing = {name: numpy.mean([error(bench, scene, WEIGHTS[name], "missing") for scene in SCENES]) for name in ("columns 0.5", "all 1", "columns 2")}
    return means("path weights w_r, MSE", SCENES, found, 4) + "Without a value, %: " + ", ".join(f"{name} {value:.1f}" for name, value in missing.items()) + "\n"


def figure_1(bench, plot):
    panels, words = [], []
    for scene in SCENES[:2]:
        maps = [bench.disparity(f"{scene}@{COLUMNS}", [*OPTIONS, *more]) for more in ((), INTERPOLATED)]
        panels.append([(f"{scene}, checked", maps[0]), (f"{scene}, interpolated", maps[1])])
        blank = numpy.isnan(maps[0])
        words.append(f"{scene} {100 * blank[:, :MOST].sum() / max(1, blank.sum()):.0f} %")
    return f"Of the pixels without a value, in the {MOST} columns at the left: {', '.join(words)}\n" + plot.maps(
        "mahieu-1", panels, "Disparity maps, checked and interpolated", MOST)


def figure_2(bench, plot):
    """Time against size; and what making the pictures smaller takes."""
    times = {columns * round(columns * 1110 / 1282): bench.times(f"aloe@{columns}", OPTIONS)[0] for columns in WIDTHS}
    axes = plot.axes("pixels", "ms a frame")
    axes.plot(list(times), list(times.values()), "o-", label="ours: matching, one thread")
    plot.printed(axes, [250 * 217], [1000], "the paper: one frame a second at 250x217 (GeForce 940M)")
    plot.printed(axes, [list(times)[-1]], [PRINTED["aloe"][1]], "_", "table 2")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(0.1)
    rows = [[columns, f"{time:.1f}", f"{1e6 * time / pixels:.0f}"] for columns, (pixels, time) in zip(WIDTHS, times.items())]
    return table(["Figure 2: columns of aloe", "ms, one thread", "ns a pixel"], rows) + (
        f"OpenCV makes both views smaller in {2 * bench.ask('aloe', [], f'resize {COLUMNS}'):.1f} ms\n") + plot.save("mahieu-size", axes)


FIGURES = {"mahieu-table-1": table_1, "mahieu-table-2": table_2, "mahieu-weights": path_weights, "mahieu-1": figure_1, "mahieu-2": figure_2}
