# SPDX-License-Identifier: LGPL-2.1-or-later
"""Yu, Chen, Franchetti, Hoe: High Performance Stereo Vision Designed for Massively Data Parallel Platforms."""
import math

import numpy

from bench import ms, table

SCENES = {"tsukuba": 16, "venus": 20, "teddy": 60, "cones": 60}
REGIONS = ("nocc", "all", "disc")
SIZE = (450, 375, 60)  # of teddy and cones, of which tables II and V are
# Table IV: vis, all and disc of Tsukuba, Venus, Teddy and Cones, and their mean; MDS on the GPU and on the processor
PRINTED = {
    "ESMP (iter 8)": (1.4, 1.9, 7.1, 0.4, 1.0, 2.7, 8.6, 15.2, 19.5, 5.6, 12.5, 13.2, 7.42),
    "ESAW (iter 9)": (1.9, 2.5, 9.7, 1.0, 1.7, 6.9, 8.5, 14.2, 18.7, 6.6, 12.7, 14.4, 8.2),
    "ESAW (iter 5)": (1.4, 2.4, 7.1, 1.6, 2.6, 12.9, 9.4, 16.0, 19.4, 8.6, 15.6, 17.9, 9.6),
}
PRINTED_SPEED = {"ESMP (iter 8)": (144.4, ""), "ESAW (iter 9)": (194.8, 2.3), "ESAW (iter 5)": (307.2, 4.2)}
SETTINGS = {"ESMP (iter 8)": ("esmp", 8, 2.8), "ESAW (iter 9)": ("esaw", 9, 1.9), "ESAW (iter 5)": ("esaw", 5, 2.6)}
ESMP = ("esmp", 8, 1.8)  # with the base that gives the errors that are printed
FILLED = ("--consistency", 16, "--speckle-size", 60, "--fill", "background", "--median", 5)
BASES = {"esaw": (1.5, 1.7, 1.9, 2.1, 2.3, 2.6, 3.0), "esmp": (1.6, 1.8, 2.0, 2.2, 2.4, 2.8, 3.1)}
ITERATIONS = range(3, 11)


def options_of(method, iterations, base, more=()):
    return ["--method", method, "--profile", "thesis", "--iterations", iterations, "--step-base", base, *more]


def errors(bench, options):
    """Bad 1 in the regions of the four scenes. @options: a list, or a function that makes one of the number of disparities."""
    return [bench.bad(name, ["--num-disparities", n, *(options(n) if callable(options) else options)], 1, region)
            for name, n in SCENES.items() for region in REGIONS]


def mean(bench, options):
    return float(numpy.mean(errors(bench, options)))


def speeds(bench, setting):
    """Millions of disparities a second, mean of teddy and cones, in words: of a GPU, of one thread."""
    options = ["--num-disparities", SIZE[2], *options_of(*setting)]
    found = [[take(scene, options) for scene in ("teddy", "cones")] for take in (bench.gpu, bench.times)]
    return [f"{numpy.mean([numpy.prod(SIZE) / 1e3 / time[0] for time in times]):.0f}" if all(times) else "" for times in found]


def table_4(bench, _):
    rows = []
    for name, printed in PRINTED.items():
        rows.append([name, "the paper", *printed, *PRINTED_SPEED[name]])
        settings = [("ours", SETTINGS[name], ()), *([("ours, base 1.8", ESMP, ())] if name.startswith("ESMP") else [])]
        for what, setting, more in (*settings, ("ours, checked and filled", settings[-1][1], FILLED)):
            found = errors(bench, options_of(*setting, more))
            rows.append(["", what, *(f"{value:.1f}" for value in found), f"{numpy.mean(found):.2f}",
                         *(["", ""] if more else speeds(bench, setting))])
    return table(["Table IV", "", *(f"{scene} {region}" for scene in SCENES for region in ("vis", "all", "disc")), "mean", "MDS, GPU",
                  "MDS, one thread"], rows)


def of_bases(number, method):
    """Figures 3 and 8."""
    def draw(bench, plot):
        found = {(t, base): mean(bench, options_of(method, t, base)) for t in ITERATIONS for base in BASES[method]}
        axes = plot.axes("base b", "bad 1, mean of the twelve, %")
        for t in ITERATIONS:
            axes.plot(BASES[method], [found[t, base] for base in BASES[method]], "o-", label=f"{t} iterations")
        rows = [[t, *(f"{found[t, base]:.1f}" for base in BASES[method])] for t in ITERATIONS]
        return table([f"Figure {number}, {method}: iterations, base", *BASES[method]], rows) + plot.save(f"yu-{method}-bases", axes)
    return draw


def of_shares(number, method):
    """Figures 4 and 9: each parameter at shares of the paper's value. The largest cost of a change depends on the range."""
    own = {"esaw": {"gamma-color": 17, "gamma-distance": 36, "truncation": 12},
           "esmp": {"gamma-color": 18, "gamma-distance": 29, "truncation": 17, "cost-scale": 0.15, "smoothness": 1,
                    "smoothness-max": lambda disparities: 0.0375 * disparities}}[method]
    shares = (0.5, 0.75, 1, 1.5, 2)

    def draw(bench, plot):
        _, iterations, base = SETTINGS["ESAW (iter 9)"] if method == "esaw" else ESMP
        axes, rows = plot.axes("share of the paper's value", "bad 1, mean of the twelve, %"), []
        for name, value in own.items():
            line = [mean(bench, lambda n, name=name, value=value, share=share: options_of(
                method, iterations, base, [f"--{name}", (value(n) if callable(value) else value) * share])) for share in shares]
            axes.plot(shares, line, "o-", label=name)
            rows.append([name, *(f"{error:.1f}" for error in line), f"{max(line) - min(line):.1f}"])
        return table([f"Figure {number}, {method}: share", *shares, "moves by"], rows) + plot.save(f"yu-{method}-sensitivity", axes)
    return draw


def figure_7(bench, plot):
    """A plane whose disparity grows from 0 to 64 px."""
    settings = {"ESMP, base 2.8": SETTINGS["ESMP (iter 8)"], "ESMP, base 1.8": ESMP, **{name: SETTINGS[name] for name in list(SETTINGS)[1:]}}
    words = {name: ["--num-disparities", 72, *options_of(*setting)] for name, setting in settings.items()}
    wrong = {name: bench.bad("teddy/slanted", options) for name, options in words.items()}
    maps = [(name, bench.disparity("teddy/slanted", options)) for name, options in words.items()]
    off = [(f"off by more than 1 px: {wrong[name]:.1f} %", bench.off("teddy/slanted", options)) for name, options in words.items()]
    return table(["Figure 7: bad 1, %", *wrong], [["slanted plane", *(f"{value:.1f}" for value in wrong.values())]]) + plot.maps(
        "yu-7", [maps, off], "Disparity and wrong pixels of a slanted plane: " + ", ".join(words), 72)


# ---- figures 14 to 16 ------------------------------------------------------------------------------------------------------------

# Table IV: vis and disc of the four scenes, and MDS, of systems on GPUs that have all of them
OTHERS = {"RtAW": ((2.3, 11.2, 3.6, 19.8, 10.9, 23.2, 5.9, 13.8), 124.1), "WeaklyTex": ((1.0, 5.3, 0.2, 1.7, 6.7, 14.7, 4.2, 10.6), 9.4),
          "HBP": ((1.5, 7.9, 0.8, 9.0, 8.7, 17.2, 4.6, 12.4), 17.0), "DP": ((2.1, 10.6, 1.9, 20.3, 7.2, 17.6, 6.4, 16.5), 52.8)}
WINDOWS = {"RtAW": (17, 33, 65, 97), "RtAW, not truncated": (33,), "RtAW+MP": (17, 33, 65, 97), "asw, left weights": (17, 33, 63),
           "asw, both weights": (9, 17, 33), "AW": (17, 33)}
PLAINLY = {"RtAW": "rtaw", "RtAW, not truncated": "rtaw-plain", "RtAW+MP": "rtaw+mp"}  # by rtaw.py
COLORS = {"largest channel difference": "esaw", "RGB, Euclidean": "esaw-rgb", "RGB, mean": "esaw-mean", "CIELAB": "esaw-lab", "grey": "esaw-grey"}


def weights_options(name, window):
    """By rtaw.py; or by asw, with the constants of ESAW: 3 · 17 is its γ_c in sums of three channels."""
    if name in PLAINLY:
        return [PLAINLY[name], window]
    more = {"asw, left weights": ("--support", "left"), "AW": ("--aggregation", "full")}.get(name, ())
    return ["--method", "asw", "--profile", "thesis", "--refine-iterations", 0, "--cost", "ad", "--truncation", 12, "--window", window,
            "--gamma-color", 51, "--gamma-distance", 36, *more, *FILLED]


def figure_14(bench, plot):
    """Error against operations of a pixel and disparity, as the paper counts them."""
    found = {name: {w: mean(bench, weights_options(name, w)) for w in windows} for name, windows in WINDOWS.items()}
    counts = {name: [5 * w ** 2 - 1 if name == "AW" else 2 * (2 * w - 1) for w in windows] for name, windows in WINDOWS.items()}
    axes, rows = plot.axes("operations of a pixel and disparity", "bad 1, mean of the twelve, %"), []
    for method, each in (("esaw", 10), ("esmp", 22)):
        best = [min(mean(bench, options_of(method, t, base)) for base in BASES[method]) for t in ITERATIONS]
        axes.plot([each * t for t in ITERATIONS], best, "o-", label=method)
        rows += [[f"{method}, {t} iterations", each * t, f"{error:.2f}"] for t, error in zip(ITERATIONS, best)]
    for name, line in found.items():
        axes.plot(counts[name], list(line.values()), "s-", label=name)
        rows += [[f"{name}, {w}", count, f"{error:.2f}"] for (w, error), count in zip(line.items(), counts[name])]
    plot.printed(axes, [130, 5444], [11.0, 6.7], "the paper, table IV: RtAW, AW")
    axes.set_xscale("log")
    return table(["Figure 14", "operations", "bad 1, %"], rows) + plot.save("yu-complexity", axes)


def colors(bench, _):
    """ESAW, 9 iterations, by how its weights measure colours: esaw of rtaw.py."""
    rows = [[name, f"{mean(bench, [kind, 9]):.2f}"] for name, kind in COLORS.items()]
    return table(["ESAW (iter 9): differences of colours", "bad 1, %"], rows)


def heavy_texture(bench, _):
    """Boxes and support weights, where there is most texture and everywhere; differences of luma, no check."""
    boxes = ["--method", "bm", "--profile", "thesis", "--cost", "ad"]
    weights = ["--method", "asw", "--profile", "thesis", "--refine-iterations", 0, "--cost", "ad", "--support", "left", "--gamma-color", 51,
               "--gamma-distance", 36]
    rows = []
    for name, options in (("box", boxes), ("support weights", weights)):
        for window in (9, 17, 31):
            found = [numpy.mean([bench.bad(scene, ["--num-disparities", n, *options, "--window", window], 1, region)
                                 for scene, n in {**SCENES, "aloe": 224}.items()]) for region in ("heavy", "nocc")]
            rows.append([name, window, *(f"{value:.1f}" for value in found)])
    return table(["cost=ad", "window", "bad 1 in heavy texture, %", "bad 1, %"], rows)


def figure_15(bench, plot):
    """Error against nanoseconds a disparity, of the printed systems and of ours."""
    axes, rows = plot.axes("ns a disparity of a pixel", "bad 1, mean of four scenes, %", of=2), []
    settings = {**SETTINGS, "ESMP (iter 8)": ESMP}
    for k, (one, words) in enumerate(zip(axes, ("both views see", "near edges"))):
        for name, (values, speed) in [*OTHERS.items(), *((name, ([PRINTED[name][n] for n in (0, 2, 3, 5, 6, 8, 9, 11)], PRINTED_SPEED[name][0]))
                                                         for name in PRINTED)]:
            plot.printed(one, [1e3 / speed], [numpy.mean(values[k::2])], "_", name)
        one.set_xscale("log")
        one.set_title(words, fontsize=9)
        one.margins(0.12)
    for name, setting in settings.items():
        speed, found = speeds(bench, setting)[0], errors(bench, options_of(*setting))
        rows.append([name, *(f"{numpy.mean(found[2 * k::3]):.1f}" for k in (0, 1)), speed])
        for k, one in enumerate(axes):
            if speed:
                one.plot([1e3 / float(speed)], [numpy.mean(found[2 * k::3])], "o", label=f"ours: {name}")
    return table(["Figure 15", "both views see", "near edges", "MDS, GPU"], rows) + plot.save("yu-15", axes)


def figure_16(bench, plot):
    """Disparity maps; a figure for each range."""
    text = ""
    for scenes in (("tsukuba", "venus"), ("teddy", "cones")):
        rows = [[(f"{scene}, {name}", bench.disparity(scene, ["--num-disparities", SCENES[scene], *options_of(*setting)]))
                 for name, setting in {**SETTINGS, "ESMP (iter 8)": ESMP}.items()] for scene in scenes]
        text += plot.maps(f"yu-16-{scenes[0]}", rows, "Disparity maps: " + ", ".join(scenes), max(SCENES[scene] for scene in scenes))
    return text


# ---- operations, bytes and times: tables II and V, figure 13 ---------------------------------------------------------------------

# Table II: operations, bytes read and bytes written, each (of a pixel, of a pixel and disparity); Gflop/s, GB/s
TABLE_2 = {
    "aggr_H": ((33, 5), (9, 6), (0, 4), 19.4, 34.5),
    "aggr_V": ((33, 5), (9, 12), (0, 4), 22.7, 63.9),
    "aggr_H+": ((33, 8), (9, 6), (0, 4), 28.7, 33.4),
    "aggr_V+": ((33, 8), (9, 12), (0, 4), 33.9, 62.8),
    "cost2msg-": ((0, 3), (0, 4), (0, 4), 21.6, 57.7),
}
KERNELS = {"esaw": ("aggr_H", "aggr_V"), "esmp": ("aggr_H+", "cost2msg-", "aggr_V+", "cost2msg-")}  # of an iteration
TABLE_5 = {("esmp", 5): (28.0, 50.5, 1.00, 1.80), ("esaw", 4): (20.9, 48.1, 0.39, 0.90)}  # Gflop/s, GB/s, 10⁹ operations, 10⁹ bytes


def of_the_paper(method, iterations, width, height, disparities):
    """Operations and bytes of the aggregation of a frame, by the formulas of table II."""
    operations = moved = 0
    for kernel in KERNELS[method]:
        count, read, written = TABLE_2[kernel][:3]
        operations += count[0] + count[1] * disparities
        moved += read[0] + written[0] + (read[1] + written[1]) * disparities
    return iterations * operations * width * height, iterations * moved * width * height


def iteration(method, disparities):
    """Work for a pixel in an iteration here: operations, bytes read and bytes written of memory, as (without, times disparities). Weights: of
    two taps the largest of three differences (8), two sums, a quotient and two products, for each of two passes. Means: two differences,
    two products and two sums. Messages: a minimum over the column for the cap, one with it, and rounds in which a cost meets its neighbours
    1, 2, 4 ... away, two additions and two minima each, until the smoothness reaches its largest value. A cost is read once and written
    once, 16 bits each; so are the colours, 32 bits."""
    reach = math.ceil(0.0375 * disparities)
    messages = 2 + 4 * len([wide for wide in (1, 2, 4, 8, 16, 32) if wide <= reach])
    return (2 * 21, 2 * (6 + (messages if method == "esmp" else 0))), (4, 2), (0, 2)


def ours(method, iterations, width, height, disparities):
    """Operations and bytes of the aggregation of a frame here. The first iteration makes its costs: of two lumas, a difference and a
    minimum, in place of the costs that it would read."""
    count, read, written = iteration(method, disparities)
    operations = iterations * (count[0] + count[1] * disparities) + 2 * disparities
    moved = iterations * (read[0] + (read[1] + written[1]) * disparities) - read[1] * disparities + 2
    return operations * width * height, moved * width * height


def linear(part):
    """(9, 6) as 9 + 6ℓ."""
    return " + ".join(([str(part[0])] if part[0] else []) + ([f"{part[1]}ℓ"] if part[1] else [])) or "0"


def rates(work, found):
    """10⁹ operations and 10⁹ bytes a second of the matching."""
    return [f"{part / found[1]['match'] / 1e6:.1f}" for part in work]


def tables_of_work(bench, _):
    rows = [[f"`{name}`, the paper", *map(linear, parts[:3]), *parts[3:]] for name, parts in TABLE_2.items()]
    for setting in (SETTINGS["ESMP (iter 8)"], SETTINGS["ESAW (iter 9)"]):
        for where, take in (("one thread", bench.times), ("GPU", bench.gpu)):
            found = take("teddy", ["--num-disparities", SIZE[2], *options_of(*setting)])
            if found:
                rows.append([f"`{setting[0]}`, ours, {where}", *map(linear, iteration(setting[0], SIZE[2])),
                             *rates(ours(*setting[:2], *SIZE), found)])
    text, rows = table(["Table II", "operations", "bytes read", "bytes written", "10⁹ operations/s", "GB/s"], rows), []
    for (method, t), printed in TABLE_5.items():
        rows.append([f"{method}, {t} iterations, the paper", *printed])
        rows.append(["by table II", "", "", *(f"{part / 1e9:.2f}" for part in of_the_paper(method, t, *SIZE))])
        done = ours(method, t, *SIZE)
        rows.append(["ours, one thread", *rates(done, bench.times("teddy", ["--num-disparities", SIZE[2], *options_of(method, t, 2)])),
                     *(f"{part / 1e9:.2f}" for part in done)])
    return text + "\n" + table(["Table V", "10⁹ operations/s", "GB/s", "10⁹ operations", "10⁹ bytes"], rows)


def figure_13(bench, plot):
    axes, rows = plot.axes("iterations", "ms a frame, one thread"), []
    for method, style, base in (("esaw", "o-", 1.9), ("esmp", "s--", 1.8)):
        for scene, disparities in SCENES.items():
            line = [bench.times(scene, ["--num-disparities", disparities, *options_of(method, t, base)])[0] for t in ITERATIONS]
            straight = numpy.polyval(numpy.polyfit(ITERATIONS, line, 1), ITERATIONS)
            axes.plot(ITERATIONS, line, style, label=f"{method}, {scene}", markersize=3)
            rows.append([f"{method}, {scene}", *(f"{value:.1f}" for value in line), f"{100 * max(abs(line - straight)) / numpy.mean(line):.0f} %",
                         ms(bench.gpu(scene, ["--num-disparities", disparities, *options_of(method, 9, base)]), 2)])
    plot.printed(axes, [9, 9], [43.4, 65.2], "the paper, teddy, GPU")
    axes.axhline(33, color="red", linestyle=":", label="real time")
    plot.from_zero(axes)
    return table(["Figure 13: ms, one thread; iterations", *ITERATIONS, "off a straight line", "GPU, 9 iterations"], rows) + plot.save("yu-13", axes)


# ---- figures 1 and 6, which need no matcher --------------------------------------------------------------------------------------

GAMMA_COLOR, GAMMA_DISTANCE, SIDE = 17, 36, 65  # of ESAW; side of the windows that figure 1 shows
NEAR, UNLIKE = SIDE // 4, 2 * GAMMA_COLOR  # px from the centre; grey levels from it


def likeness(a, b, distance):
    return numpy.exp(-numpy.abs(a - b) / GAMMA_COLOR - distance / GAMMA_DISTANCE)


def window_weights(picture):
    """AW: of each pixel for the centre. RtAW: a column of rows, the product of two weights."""
    middle = SIDE // 2
    y, x = numpy.mgrid[:SIDE, :SIDE]
    aw = likeness(picture, picture[middle, middle], numpy.hypot(y - middle, x - middle))
    rows = likeness(picture, picture[:, middle:middle + 1], numpy.abs(x - middle))
    rows /= rows.sum(1, keepdims=True)
    column = likeness(picture[:, middle], picture[middle, middle], numpy.abs(numpy.arange(SIDE) - middle))
    return aw / aw.sum(), rows * (column / column.sum())[:, None]


def shifted(values, by, axis):
    """values[k - by] at k; 0 outside."""
    moved, index = numpy.roll(values, by, axis), [slice(None)] * 2
    index[axis] = slice(0, by) if by > 0 else slice(by or SIDE, None)
    moved[tuple(index)] = 0
    return moved


def esaw_weights(picture, iterations=9, base=1.9):
    """What each pixel adds to the centre: the iterations backwards, from all of the weight at the centre."""
    weights, inside = numpy.zeros_like(picture), numpy.ones_like(picture)
    weights[SIDE // 2, SIDE // 2] = 1
    for t in reversed(range(iterations)):
        reach = round(base ** t)
        for axis in (0, 1):  # the column was the last of the two
            if reach < SIDE:
                taps = {0: inside, **{by: likeness(picture, shifted(picture, by, axis), reach) * shifted(inside, by, axis) for by in (reach, -reach)}}
                total = sum(taps.values())
                weights = sum(shifted(weights * tap / total, -by, axis) for by, tap in taps.items())
    return weights


def figure_1(bench, plot):
    middle, flat = SIDE // 2, numpy.full((SIDE, SIDE), 128.0)
    edge = flat.copy()
    edge[:, middle + 8:] = 200
    y, x = numpy.mgrid[:SIDE, :SIDE]
    near = numpy.maximum(abs(y - middle), abs(x - middle)) <= NEAR
    rows, panels, names = [], [], ("AW", "RtAW", "ESAW (iter 9)")
    # the edge of the head; the paper does not say where its window of Tsukuba is
    for name, picture in {"constant colour": flat, "a change of colour": edge, "Tsukuba": bench.ask("tsukuba", [], f"grey 150 150 {SIDE}")}.items():
        weights = (*window_weights(picture), esaw_weights(picture))
        panels.append([(name, picture), *zip(names, weights)])
        unlike = abs(picture - picture[middle, middle]) > UNLIKE
        for words, part in ((f"within {NEAR} px of the centre", near), (f"more than {UNLIKE} grey levels from the centre's", unlike)):
            if part.any():
                rows.append([f"{name}: {words}", *(f"{100 * share:.1f}" for share in (part.mean(), *(weight[part].sum() for weight in weights)))])
    return table(["Figure 1: share of pixels, and of the weight that they have, %", "pixels", *names], rows) + plot.weights(
        "yu-1", panels, "Windows, and the weights of " + ", ".join(names))


def figure_6(_, plot):
    """Costs and messages (equation 11) of three pixels at disparities 1, 2 and 3, which are the true ones in this order. The paper's values are
    not in the text; these have its property: the cost is large beside the true disparity."""
    costs = {"p_r": (0, 45, 70), "p": (10, 0, 15), "p_l": (60, 40, 0)}
    d = numpy.arange(3)
    sent = {name: (numpy.array(values) + 10 * abs(d[:, None] - d)).min(1) for name, values in costs.items()}
    kinds = [{**each, "sum": numpy.sum(list(each.values()), 0)} for each in (costs, sent)]
    return table(["Figure 6", "lowest sum at"], [[name, numpy.argmin(each["sum"]) + 1] for name, each in zip(("costs", "messages"), kinds)]) + plot.signals(
        "yu-6", ["costs", "messages"], kinds, "disparity", "cost", 1)


FIGURES = {
    "yu-table-4": table_4, "yu-colors": colors, "yu-work": tables_of_work, "yu-1": figure_1, "yu-3": of_bases(3, "esaw"), "yu-4": of_shares(4, "esaw"),
    "yu-6": figure_6, "yu-7": figure_7, "yu-8": of_bases(8, "esmp"), "yu-9": of_shares(9, "esmp"), "yu-13": figure_13, "yu-14": figure_14,
    "yu-15": figure_15, "yu-texture": heavy_texture, "yu-16": figure_16,
}
