# SPDX-License-Identifier: LGPL-2.1-or-later
"""Operations, bytes and times of Yu et al.: tables II and V, figure 13."""
import math

import numpy

from bench import table

SCENES = {"tsukuba": 16, "venus": 20, "teddy": 60, "cones": 60}
# Table IV: vis, all and disc of Tsukuba, Venus, Teddy and Cones, and their mean
PRINTED = {
    "ESMP (iter 8)": (1.4, 1.9, 7.1, 0.4, 1.0, 2.7, 8.6, 15.2, 19.5, 5.6, 12.5, 13.2, 7.42),
    "ESAW (iter 9)": (1.9, 2.5, 9.7, 1.0, 1.7, 6.9, 8.5, 14.2, 18.7, 6.6, 12.7, 14.4, 8.2),
    "ESAW (iter 5)": (1.4, 2.4, 7.1, 1.6, 2.6, 12.9, 9.4, 16.0, 19.4, 8.6, 15.6, 17.9, 9.6),
}
PRINTED_SPEED = {"ESMP (iter 8)": 144.4, "ESAW (iter 9)": 194.8, "ESAW (iter 5)": 307.2}
SETTINGS = {
    "ESMP (iter 8)": ("esmp", 8, 2.8),
    "ESAW (iter 9)": ("esaw", 9, 1.9),
    "ESAW (iter 5)": ("esaw", 5, 2.6),
}
PRINTED_CPU = {"ESMP (iter 8)": "", "ESAW (iter 9)": 2.3, "ESAW (iter 5)": 4.2}


SIZE = (450, 375, 60)  # of Teddy and Cones, of which tables II and V are

# Table II: operations, bytes read and bytes written, each (of a pixel, of a pixel and disparity); Gflop/s, GB/s
TABLE_2 = {
    "aggr_H": ((33, 5), (9, 6), (0, 4), 19.4, 34.5),
    "aggr_V": ((33, 5), (9, 12), (0, 4), 22.7, 63.9),
    "aggr_H+": ((33, 8), (9, 6), (0, 4), 28.7, 33.4),
    "aggr_V+": ((33, 8), (9, 12), (0, 4), 33.9, 62.8),
    "cost2msg-": ((0, 3), (0, 4), (0, 4), 21.6, 57.7),
}
# the kernels of an iteration
KERNELS = {"esaw": ("aggr_H", "aggr_V"), "esmp": ("aggr_H+", "cost2msg-", "aggr_V+", "cost2msg-")}
# Table V: Gflop/s, GB/s, 10⁹ operations, 10⁹ bytes
TABLE_5 = {("esmp", 5): (28.0, 50.5, 1.00, 1.80), ("esaw", 4): (20.9, 48.1, 0.39, 0.90)}
ESTIMATES = {"RtAW": (20.3, 2.1, "1.30", 0.14), "HBP": (4.3, 0.5, 2.55, 0.64)}  # its other rows
TIMED = range(3, 11)
# Figure 12: milliseconds that the text states
PROFILE = {"ESAW baseline": 99.9, "ESAW global memory": 113.9, "ESAW coalesced": 53.5, "ESAW tune block size": 43.4,
           "ESMP, straightforward `cost2msg`": 90.5, "ESMP reorganized": 65.2}



def options_of(method, iterations, base, more=()):
    return ["--method", method, "--profile", "thesis", "--iterations", iterations, "--step-base", base, *more]


def of_the_paper(method, iterations, width, height, disparities):
    """Operations and bytes of the aggregation of a frame, by the formulas of table II."""
    operations = moved = 0
    for kernel in KERNELS[method]:
        count, read, written = TABLE_2[kernel][:3]
        operations += count[0] + count[1] * disparities
        moved += read[0] + written[0] + (read[1] + written[1]) * disparities
    return iterations * operations * width * height, iterations * moved * width * height


def message_operations(disparities):
    """Of a pixel and disparity: a minimum over the column for the cap, one with it, and rounds in which a cost meets its neighbours 1,
    2, 4 ... away, two additions and two minima each, until the smoothness reaches its largest value."""
    reach = math.ceil(0.0375 * disparities)
    return 2 + 4 * len([wide for wide in (1, 2, 4, 8, 16, 32) if wide <= reach])


def iteration(method, disparities):
    """Of a pixel in an iteration here: operations, bytes read and bytes written of memory, as (without, times disparities). Weights: of
    two taps the largest of three differences (8), two sums, a quotient and two products, for each of two passes. Means: two
    differences, two products and two sums. A cost is read once and written once, 16 bits each; so are the colours, 32 bits."""
    means = 6 + (message_operations(disparities) if method == "esmp" else 0)
    return (2 * 21, 2 * means), (4, 2), (0, 2)


def ours(method, iterations, width, height, disparities):
    """Operations and bytes of the aggregation of a frame here. The first iteration makes its costs: of two lumas, a difference and a
    minimum, in place of the costs that it would read."""
    count, read, written = iteration(method, disparities)
    operations = iterations * (count[0] + count[1] * disparities) + 2 * disparities
    moved = iterations * (read[0] + (read[1] + written[1]) * disparities) - read[1] * disparities + 2
    return operations * width * height, moved * width * height


def speeds(bench, setting):
    """Millions of disparities a second, mean of Teddy and Cones, in words: of a GPU, of one thread."""
    options = ["--num-disparities", SIZE[2], *options_of(*setting)]
    result = []
    for times in ([bench.gpu(scene, options) for scene in ("teddy", "cones")], [bench.times(scene, options) for scene in ("teddy", "cones")]):
        result.append(f"{numpy.mean([numpy.prod(SIZE) / 1e3 / time[0] for time in times]):.0f}" if all(times) else "")
    return result


def linear(part):
    """(9, 6) as 9 + 6ℓ."""
    words = [str(part[0])] if part[0] else []
    return " + ".join(words + ([f"{part[1]}ℓ"] if part[1] else [])) or "0"


def rates(work, time):
    """10⁹ operations and 10⁹ bytes a second of milliseconds."""
    return [f"{part / time / 1e6:.1f}" for part in work]


def table_2(bench):
    rows = [[f"`{name}`, the paper", *map(linear, parts[:3]), *parts[3:]] for name, parts in TABLE_2.items()]
    for method, iterations, base in (SETTINGS["ESMP (iter 8)"], SETTINGS["ESAW (iter 9)"]):
        done = ours(method, iterations, *SIZE)
        options = ["--num-disparities", SIZE[2], *options_of(method, iterations, base)]
        for where, time in (("one thread", bench.times("teddy", options)), ("GPU", bench.gpu("teddy", options))):
            if time:
                rows.append([f"`{method}`, an iteration, ours, {where}", *map(linear, iteration(method, SIZE[2])), *rates(done, time[1]["match"])])
    return table(["Table II", "operations", "bytes read", "bytes written", "10⁹ operations/s", "GB/s"], rows) + f"""
Operations and bytes are those of one pixel; ℓ is the number of disparities. The paper has two kernels for an iteration of ESAW and four
for one of ESMP, costs of four bytes, and
reads the taps of a column from memory. Here an iteration is one pass over the volume: costs have two bytes, taps are read from caches, and
messages are made by doubling steps ({message_operations(SIZE[2]) - 2} operations and 2 for the cap at 60 disparities) in place of two
sweeps. So there are
{ours("esaw", 9, *SIZE)[0] / of_the_paper("esaw", 9, *SIZE)[0]:.1f} times as many operations with ESAW and
{ours("esmp", 8, *SIZE)[0] / of_the_paper("esmp", 8, *SIZE)[0]:.1f} times as many with ESMP, and
{of_the_paper("esaw", 9, *SIZE)[1] / ours("esaw", 9, *SIZE)[1]:.1f} times fewer bytes with ESAW,
{of_the_paper("esmp", 8, *SIZE)[1] / ours("esmp", 8, *SIZE)[1]:.1f} times fewer with ESMP. Operations are counted from the algorithm and
bytes as if caches held all that is read
twice, for both processors as the CPU's code has them; rates are of teddy, nine iterations of ESAW and eight of ESMP.

"""


def table_5(bench):
    rows = []
    for (method, iterations), printed in TABLE_5.items():
        name = f"{method.upper()} iter{iterations}"
        rows.append([f"{name}, the paper", *(f"{value:.2f}" if k > 1 else value for k, value in enumerate(printed))])
        rows.append([f"{name}, formulas of table II", "", "", *(f"{part / 1e9:.2f}" for part in of_the_paper(method, iterations, *SIZE))])
        done = ours(method, iterations, *SIZE)
        match = bench.times("teddy", ["--num-disparities", SIZE[2], *options_of(method, iterations, 2)])[1]["match"]
        rows.append([f"{name}, ours, one thread", *rates(done, match), *(f"{part / 1e9:.2f}" for part in done)])
    rows += [[f"{name}, the paper", *printed] for name, printed in ESTIMATES.items()]
    size = "x".join(map(str, SIZE[:2]))
    share = [value / part * 1e9 for key, printed in TABLE_5.items() for value, part in zip(printed[2:], of_the_paper(*key, *SIZE))]
    return table(["Table V", "10⁹ operations/s", "GB/s", "10⁹ operations", "10⁹ bytes"], rows) + f"""
The counts are those of a frame of {size} with {SIZE[2]} disparities. The printed counts are {min(share):.2f} to {max(share):.2f} times
what table II gives for that size: the paper does
not say of which picture they are. Its rows of RtAW and HBP are estimates for systems of others: of their
bandwidth and bytes, a lower bound.

"""


def off_line(values):
    """By how many percent of their mean @values, of TIMED, are off a straight line at most."""
    line = numpy.polyval(numpy.polyfit(TIMED, values, 1), TIMED)
    return 100 * float(numpy.abs(numpy.array(values) - line).max() / numpy.mean(values))


def figure_13(bench, plot):
    axes = plot.axes("iterations", "ms a frame, one thread")
    found = {}
    for method, style, base in (("esaw", "o-", 1.9), ("esmp", "s--", 1.8)):
        for scene, disparities in SCENES.items():
            line = [bench.times(scene, ["--num-disparities", disparities, *options_of(method, t, base)])[0] for t in TIMED]
            axes.plot(TIMED, line, style, label=f"{method}, {scene}", markersize=3)
            found[method, scene] = line
    plot.printed(axes, [9, 9], [PROFILE["ESAW tune block size"], PROFILE["ESMP reorganized"]], "the paper, teddy, GPU")
    axes.axhline(33, color="red", linestyle=":", label="real time")
    plot.from_zero(axes)
    slowest = max(max(line) for line in found.values())
    gpu = [bench.gpu("teddy", ["--num-disparities", SCENES["teddy"], *options_of(method, 9, base)]) for method, base in (("esaw", 1.9), ("esmp", 1.8))]
    on_gpu = f"; on the {bench.machine('GPU')} {gpu[0][0]:.2f} and {gpu[1][0]:.2f} ms" if all(gpu) else ""
    return f"""**Figure 13**: time against iterations; 33 ms are real time. The paper prints 43.4 ms (ESAW) and 65.2 ms (ESMP) for nine
iterations of teddy on its GPU (diamonds). Ours, one thread: {found["esaw", "teddy"][6]:.1f} and {found["esmp", "teddy"][6]:.1f} ms, and
{slowest:.0f} at most{on_gpu}.
The paper's grow linearly. Ours are off straight lines by at most
{max(off_line(line) for (method, _), line in found.items() if method == "esaw"):.0f} % (ESAW) and
{max(off_line(line) for (method, _), line in found.items() if method == "esmp"):.0f} % (ESMP) of their means.

""" + plot.save("yu-13", axes) + "\n"


def figure_12():
    return table(["Figure 12: versions of the kernels, teddy, 9 iterations", "ms, the paper (GTX 8800)"], list(PROFILE.items())) + """
The bars of the figure show how the times are shared among kernels, and are not in the text that we have; these totals are stated in it (IV). The kernels
here have no such versions: they were written for other GPUs, without texture memory.

"""


def chapter(bench, plot):
    return table_2(bench) + table_5(bench) + figure_12() + figure_13(bench, plot)
