# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hillerström 2017: GPU-Accelerated Real-Time Stereo Matching."""
import itertools

import numpy

from bench import change, means, ms, table

SCENES = {"motorcycle": 70, "piano": 64, "playtable": 80, "recycle": 64, "vintage": 176}  # and the disparities that are searched
PICTURED = "motorcycle"  # in the place of Adirondack
BASE = ("--method", "asw", "--profile", "thesis")
# The thesis matches half-size pictures of 1408 columns; ours have a quarter of the full size: lengths are halved, the cost of a pixel doubled.
SCALED = ("--window", 17, "--gamma-distance", 14, "--refine-window", 33, "--refine-gamma-distance", 6, "--refine-alpha", 0.32)
LENGTHS = {"": SCALED, ", as printed": ()}
UNREFINED = ("--refine-iterations", 0)
VERSIONS = {  # of the aggregation. The thesis gives one pair of gammas, for census
    "nonApproxSAD": ("--cost", "sad", "--aggregation", "full"),
    "twoPassSAD": ("--cost", "sad"),
    "twoPassCensus7x5": ("--cost", "census-7x5"),
    "twoPassCensus9x7": ("--cost", "census-9x7"),
}
FULL_CENSUS = {"nonApproxCensus7x5 (not in the thesis)": ("--cost", "census-7x5", "--aggregation", "full")}
REFINEMENTS = {
    "noRefinement": UNREFINED,
    "nonApprox": ("--refine-mode", "full"),
    "twoPassApprox": (),
    "twoPassApproxIDR": ("--refine-mode", "idr"),
}
ITERATIONS = (0, 1, 2, 3, 5, 7)
AVERAGE = ("1408x965", "--num-disparities", 320)  # size and disparities of the thesis's pictures
PRINTED_AGGREGATION, PRINTED_ITERATION = 181, 21.2  # ms: 6.3 and 5.3.2; all else are bars without numbers


def options_of(name, options):
    return ["--num-disparities", SCENES[name], *BASE, *options]


def errors(bench, options, region="nocc"):
    """Bad 4 of the full size, of each scene, where both views see. @region: a word, or a function of the scene that makes it."""
    return [bench.bad(name, options_of(name, options), 1, region(name) if callable(region) else region) for name in SCENES]


def compared(bench, title, versions, lengths=None):
    """{version: errors}, and the table."""
    found = {name + words: errors(bench, [*scale, *options]) for words, scale in (lengths or LENGTHS).items() for name, options in versions.items()}
    return found, means(title, SCENES, found)


def of_versions(number, versions, more=()):
    def draw(bench, plot):
        found, text = compared(bench, f"Figure {number}", {name: (*options, *more) for name, options in versions.items()})
        return text + plot.bars(f"hillerstrom-{number}", list(SCENES), {name: found[name] for name in versions}, "bad 4, %")
    return draw


def of_maps(number, versions, more=()):
    def draw(bench, plot):
        panels = [(name, bench.disparity(PICTURED, options_of(PICTURED, [*SCALED, *options, *more]))) for name, options in versions.items()]
        outliers = ", ".join(f"{name} {bench.bad(PICTURED, options_of(PICTURED, [*SCALED, *options, *more]), 4):.2f} %"
                             for name, options in versions.items())
        picture = plot.maps(f"hillerstrom-{number}", [panels[:2], panels[2:]], f"{PICTURED}: " + ", ".join(versions), SCENES[PICTURED])
        return f"Off by more than 4 px of these pictures: {outliers}\n" + picture
    return draw


def of_values(number, label, option, values, more=()):
    """A line of means."""
    def draw(bench, plot):
        axes, rows = plot.axes(label, "bad 4, mean, %"), {}
        for words, scale in LENGTHS.items():
            rows["lengths scaled" if not words else "as printed"] = [
                numpy.mean(errors(bench, [*scale, *more, option, value])) for value in values]
        for words, found in rows.items():
            axes.plot(values, found, "o-", label=words)
        plot.from_zero(axes)
        return table([f"Figure {number}", *values], [[words, *(f"{value:.2f}" for value in found)] for words, found in rows.items()]) + plot.save(
            f"hillerstrom-{number}", axes)
    return draw


def of_table(title, versions):
    return lambda bench, _: compared(bench, title, versions)[1]


# ---- StereoSGBM ----------------------------------------------------------------------------------------------------------------

PLAIN = (3, 32, 10)  # block, P2 in channels and pixels of a block, uniqueness
SEARCHED = tuple(itertools.product((3, 5, 7), (16, 32, 64, 128), (0, 10)))


def first_column(name):
    """StereoSGBM takes multiples of 16 disparities, and finds nothing for as many columns at the left."""
    return -(-SCENES[name] // 16) * 16


def figure_5_7(bench, plot):
    def opencv(setting, kept=""):
        return [bench.bad(name, ["opencv", first_column(name), *setting], 1, f"{kept}in {first_column(name)}") for name in SCENES]
    searched = {setting: (opencv(setting), opencv(setting, "kept ")) for setting in (PLAIN, *SEARCHED)}
    best = min(SEARCHED, key=lambda setting: numpy.mean(searched[setting][0]))
    found = {name: errors(bench, options, lambda scene: f"in {first_column(scene)}") for name, options in (
        ("ours", SCALED), ("ours, aligned", (*SCALED, "--align", "auto")), ("ours, as printed", ()))}
    for words, setting in (("StereoSGBM", PLAIN), (f"StereoSGBM, best of {len(SEARCHED)} {best}", best)):
        found[words], found[words + ", of what has a value"] = searched[setting]
    bars = {name: found[name] for name in ("ours", "ours, aligned", "StereoSGBM")}
    return means("Figure 5.7", SCENES, found) + plot.bars("hillerstrom-5.7", list(SCENES), bars, "bad 4, %")


def counted(bench, name, options):
    """Where figure 5.7 counts a pixel as wrong."""
    off = bench.off(name, options).copy()
    off[:, :first_column(name)] = False
    return off


def figure_5_8(bench, plot):
    panels = []
    for name in SCENES:
        kinds = (("ours", options_of(name, SCALED)), ("StereoSGBM", ["opencv", first_column(name), *PLAIN]))
        panels.append([panel for who, options in kinds for panel in (
            (f"{name}, {who}", bench.disparity(name, options)), ("counted as wrong", counted(bench, name, options)))])
    return plot.maps("hillerstrom-5.8", panels, "Disparity maps, and where they are off by more than 1 px or have no value", list(SCENES.values()))


# ---- times ---------------------------------------------------------------------------------------------------------------------


def on_gpu(bench, *options):
    return bench.gpu(AVERAGE[0], [*AVERAGE[1:], *BASE, *options])


def on_cpu(bench, *options, level=""):
    return bench.times(PICTURED, options_of(PICTURED, options), level=level)


def normalised(found):
    """timeMP and timeGD of a frame of the average size, in words."""
    megapixels = numpy.prod([int(side) for side in AVERAGE[0].split("x")]) / 1e6
    return [f"{found[0] / 1000 / megapixels:.4f}", f"{found[0] / megapixels / AVERAGE[2]:.4f}"] if found else ["", ""]


def figure_5_9(bench, plot):
    rows, bars = [], {}
    for name, options in VERSIONS.items():
        gpu, cpu = on_gpu(bench, *options, *UNREFINED), on_cpu(bench, *options, *UNREFINED)
        rows.append([name, ms(gpu), f"{gpu[1]['match']:.1f}" if gpu else "", *normalised(gpu), ms(cpu, 0)])
        bars[name] = gpu[0] if gpu else None
    head = ["Figures 5.9, 5.10", "ms, GPU", "of them aggregation", "timeMP, s", "timeGD, s", f"ms, one thread ({PICTURED})"]
    levels = ", ".join(f"{level or 'best'} {ms(on_cpu(bench, *UNREFINED, level=level), 0)}" for level in ("baseline", "avx2", ""))
    picture = plot.bars("hillerstrom-5.9", list(bars), {"the paper (GTX 1080)": [PRINTED_AGGREGATION if "7x5" in name else None for name in bars],
                                                        "ours": list(bars.values())}, "ms a frame", True) if any(bars.values()) else ""
    return table(head, rows) + f"twoPassCensus7x5, one thread, STEREO_CPU, ms: {levels}\n" + picture


def figure_5_11(bench, plot):
    none = on_gpu(bench, *UNREFINED)
    if not none:
        return "Figures 5.11 and 5.12 need a GPU.\n"
    rows, versions = [], {**REFINEMENTS, **{f"twoPassApprox, {n}": ("--refine-iterations", n) for n in ITERATIONS[1:-1]}}
    worst = numpy.mean(errors(bench, [*SCALED, *UNREFINED]))
    for name, options in versions.items():
        found, error = on_gpu(bench, *options), numpy.mean(errors(bench, [*SCALED, *options]))
        more = found[0] - none[0]
        rows.append([name, ms(found, 2), f"{max(more, 0):.2f}", *normalised(found), f"{error:.1f}", f"{(worst - error) / more:.2f}" if more > 0.01 else ""])
    line = [on_gpu(bench, "--refine-iterations", n)[0] - none[0] if n not in (0, 7) else on_gpu(bench)[0] - none[0] if n else 0 for n in ITERATIONS]
    axes = plot.axes("iterations of refinement", "ms more than without")
    axes.plot(ITERATIONS, line, "o-", label="ours")
    plot.printed(axes, ITERATIONS, [PRINTED_ITERATION * n for n in ITERATIONS], "the paper (GTX 1080), 21.2 ms each")
    axes.set_yscale("symlog", linthresh=0.1)
    return table(["Figures 5.11, 5.12", "ms", "of them refinement", "timeMP, s", "timeGD, s", "bad 4, mean, %", "points won a ms"],
                 rows) + plot.save("hillerstrom-5.11", axes)


def figure_5_13(bench, plot):
    """On the CPU; listing2.cu has it on the GPU."""
    layers, rows = (16, 32, 48, 64, 80), []
    for n in layers:
        options = (*UNREFINED, "--scratch-layers", n)
        rows.append([n, ms(on_cpu(bench, *options), 0), f"{bench.ask(PICTURED, options_of(PICTURED, options), 'memory'):.0f}"])
    axes = plot.axes("layers of scratch memory", "ms a frame")
    axes.plot(layers, [on_cpu(bench, *UNREFINED, "--scratch-layers", n)[0] for n in layers], "o-", label=f"ours: {PICTURED}, one thread")
    axes.axvline(12, color="0.5", linestyle=":", label="the paper: enough from 12 on")
    plot.from_zero(axes)
    return table(["Figure 5.13: layers", "ms, one thread", "MiB"], rows) + plot.save("hillerstrom-5.13", axes)


# ---- what the thesis leaves open -----------------------------------------------------------------------------------------------

COLORS = {"RGB": (), "RGB, γ_c = 160": ("--gamma-color", 160), "CIELAB": ("--color-difference", "lab")}
COSTS = {cost: ("--cost", cost) for cost in ("census-7x5", "mixed", "ad", "sad")}
BALANCED = ("--profile", "balanced", "--fill", "background", "--consistency", 1)


def supports(bench, _):
    """Bad 4, and milliseconds of the pictured scene, by whose weights count."""
    full = ("--search", "full")  # as the product of both views' weights needs it
    versions = {"both views' weights": SCALED, "the left view's": (*SCALED, "--support", "left"),
                "both views' weights, as printed": (), "the left view's, as printed": ("--support", "left"),
                "balanced, full search, both": (*BALANCED, *full, "--support", "both"), "balanced, full search, left": (*BALANCED, *full)}
    _, text = compared(bench, "6.1.2", versions, {"": ()})
    product, left = (on_cpu(bench, *versions[f"balanced, full search, {name}"]) for name in ("both", "left"))
    return text + f"Time of balanced, both views' weights, against left: {change(product[0], left[0])}\n"


def video(bench, _):
    """Bad 1 and flicker of a pair that stands still."""
    settings = {"profile=thesis": ("--profile", "thesis"), "profile=thesis temporal=0.75": ("--profile", "thesis", "--temporal", 0.75),
                "profile=balanced fill=background temporal=0": (*BALANCED, "--temporal", 0), "profile=balanced fill=background": BALANCED}
    noises, rows = (0, 3, 8), []
    for name, options in settings.items():
        asked = [[bench.ask("teddy", ["--num-disparities", 60, *options], f"video {noise} {what}")
                  for what in ("bad1", "flicker")] for noise in noises]
        rows.append([name, *(f"{wrong:.1f} / {flicker:.1f}" for wrong, flicker in asked)])
    return table(["Video: teddy, bad 1 / flicker, %", *(f"noise {noise}" for noise in noises)], rows)


def sizes(bench, _):
    """What refinement gives at two sizes, with the printed lengths and with halved ones: bad 1 without and with it."""
    rows = []
    for views, disparities in (("aloe", 224), ("aloe@641", 112)):
        for words, scale in (("as printed", ()), ("halved", SCALED)):
            none, seven = (bench.bad(views, ["--num-disparities", disparities, *BASE, *scale, *more]) for more in (UNREFINED, ()))
            rows.append([views, words, f"{none:.2f}", f"{seven:.2f}", f"{none - seven:.2f}"])
    return table(["aloe", "lengths", "without refinement", "7 iterations", "gain"], rows)


PARTS = {"aloe": 224, "cones": 60, "motorcycle": 70, "piano": 64, "playtable": 80, "recycle": 64, "teddy": 60, "tsukuba": 16, "venus": 20,
         "vintage": 176}
WIDTHS = {"aloe": 1282, "cones": 450, "motorcycle": 741, "piano": 707, "playtable": 680, "recycle": 720, "teddy": 450, "tsukuba": 384,
          "venus": 434, "vintage": 722}
KITTI = ("kitti12-000027", "kitti12-000138", "kitti15-000003", "kitti15-000011", "kitti15-000020", "kitti15-000030")


def by_width(scene):
    """The thesis's lengths over 1408 columns, at the width of the scene."""
    share = WIDTHS.get(scene, 1242) / 1408
    odd = [2 * round((side - 1) / 2 * share) + 1 for side in (33, 65)]
    return ("--window", odd[0], "--gamma-distance", round(28 * share, 1), "--refine-window", odd[1],
            "--refine-gamma-distance", round(12 * share, 1), "--refine-alpha", round(0.16 / share, 3))


def parts(bench, _):
    """What the default adds to the thesis."""
    full, thesis = ("--search", "full"), ("--profile", "thesis")
    versions = {
        "the default": (),
        "`search=full`": full,
        "`search=full paths=none`": (*full, "--paths", "none"),
        "`search=full paths=none refine-iterations=0`": (*full, "--paths", "none", *UNREFINED),
        "`method=sgm cost=mixed paths=4`": ("--method", "sgm", "--cost", "mixed", "--paths", 4),
        "`profile=thesis`, lengths by the width, `align=auto`": (*thesis, by_width, "--align", "auto"),
        "`profile=thesis`, lengths by the width": (*thesis, by_width),
        "`profile=thesis`, as printed": thesis,
    }
    rows = []
    for name, options in versions.items():
        def words(scene, disparities, options=options):
            own = (word for option in options for word in (option(scene) if callable(option) else (option,)))
            return ["--num-disparities", disparities, *own, "--fill", "background", "--temporal", 0]
        cells = [numpy.mean([bench.bad(scene, words(scene, n), limit) for scene, n in PARTS.items()]) for limit in (1, 2, 4)]
        five = numpy.mean([bench.bad(scene, words(scene, n)) for scene, n in SCENES.items()])
        roads = numpy.mean([bench.ask(scene, words(scene, 128), "d1") for scene in KITTI])
        rows.append([name, *(f"{value:.2f}" for value in (*cells, five, roads))])
    return table(["settings", "bad 1, %", "bad 2, %", "bad 4, %", "bad 1 of the thesis's five", "D1 of KITTI, %"], rows)


FIGURES = {
    "hillerstrom-5.2": of_versions("5.2", {**VERSIONS, **FULL_CENSUS}, UNREFINED),
    "hillerstrom-5.3": of_maps("5.3", VERSIONS, UNREFINED),
    "hillerstrom-5.4": of_versions("5.4", REFINEMENTS),
    "hillerstrom-5.5": of_values("5.5", "iterations of refinement", "--refine-iterations", ITERATIONS),
    "hillerstrom-5.6": of_maps("5.6", REFINEMENTS),
    "hillerstrom-5.7": figure_5_7,
    "hillerstrom-5.8": figure_5_8,
    "hillerstrom-5.9": figure_5_9,
    "hillerstrom-5.11": figure_5_11,
    "hillerstrom-5.13": figure_5_13,
    "hillerstrom-windows": of_values("windows", "window of aggregation, px", "--window", (9, 17, 25, 33, 49), UNREFINED),
    "hillerstrom-refine-windows": of_values("refine-windows", "window of refinement, px", "--refine-window", (9, 17, 33, 65, 97)),
    "hillerstrom-colors": of_table("4.3.1", COLORS),
    "hillerstrom-costs": of_table("6.1.1", COSTS),
    "hillerstrom-supports": supports,
    "hillerstrom-video": video,
    "hillerstrom-sizes": sizes,
    "parts": parts,
}
