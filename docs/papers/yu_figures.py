# SPDX-License-Identifier: LGPL-2.1-or-later
"""Figures 1, 6 and 15 of Yu et al., which need no matcher."""
import numpy

from bench import table
from yu_work import PRINTED, PRINTED_SPEED, SCENES, SETTINGS, options_of, speeds

GAMMA_COLOR, GAMMA_DISTANCE = 17, 36
SIDE = 65  # of the windows that figure 1 shows
# Table IV: vis and disc of the four scenes, and MDS, of systems on GPUs that have all of them
OTHERS = {"RtAW": ((2.3, 11.2, 3.6, 19.8, 10.9, 23.2, 5.9, 13.8), 124.1), "WeaklyTex": ((1.0, 5.3, 0.2, 1.7, 6.7, 14.7, 4.2, 10.6), 9.4),
          "HBP": ((1.5, 7.9, 0.8, 9.0, 8.7, 17.2, 4.6, 12.4), 17.0), "DP": ((2.1, 10.6, 1.9, 20.3, 7.2, 17.6, 6.4, 16.5), 52.8)}


# ---- figure 1: which weight a pixel of the window has ----------------------------------------------------------------------------


REAL = (150, 150)  # of tsukuba: the edge of the head; the paper does not say where its window is
NEAR, UNLIKE = SIDE // 4, 2 * GAMMA_COLOR  # px from the centre; grey levels from it


def windows_of(bench):
    """A window of one colour, one with an edge, and a real one."""
    flat = numpy.full((SIDE, SIDE), 128.0)
    edge = flat.copy()
    edge[:, SIDE // 2 + 8:] = 200
    return {"constant colour": flat, "a change of colour": edge, "Tsukuba": bench.ask("tsukuba", [], f"grey {REAL[0]} {REAL[1]} {SIDE}")}


WEIGHTINGS = ("AW", "RtAW", "ESAW (iter 9)")


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
    if not by:
        return values
    moved = numpy.roll(values, by, axis)
    index = [slice(None)] * 2
    index[axis] = slice(0, by) if by > 0 else slice(by, None)
    moved[tuple(index)] = 0
    return moved


def taps(picture, reach, axis):
    """Weights of the pixel itself and of its taps at -reach and +reach, each normalised; 0 outside."""
    inside = numpy.ones_like(picture)
    each = {0: inside}
    for by in (reach, -reach):
        each[by] = likeness(picture, shifted(picture, by, axis), reach) * shifted(inside, by, axis)
    total = sum(each.values())
    return {by: weight / total for by, weight in each.items()}


def esaw_weights(picture, iterations=9, base=1.9):
    """What each pixel adds to the centre: the iterations backwards, from all of the weight at the centre."""
    weights = numpy.zeros_like(picture)
    weights[SIDE // 2, SIDE // 2] = 1
    for t in reversed(range(iterations)):
        reach = round(base ** t)
        for axis in (0, 1):  # the column was the last of the two
            if reach < SIDE:
                weights = sum(shifted(weights * share, -by, axis) for by, share in taps(picture, reach, axis).items())
    return weights


def figure_1(bench, plot):
    middle = SIDE // 2
    y, x = numpy.mgrid[:SIDE, :SIDE]
    near = numpy.maximum(abs(y - middle), abs(x - middle)) <= NEAR
    rows, panels, more = [], [], []
    for name, picture in windows_of(bench).items():
        weights = dict(zip(WEIGHTINGS, (*window_weights(picture), esaw_weights(picture))))
        panels.append([(name, picture), *weights.items()])
        unlike = abs(picture - picture[middle, middle]) > UNLIKE
        for words, part in ((f"within {NEAR} px of the centre", near), (f"more than {UNLIKE} grey levels from the centre's", unlike)):
            if part.any():
                shares = [100 * part.mean(), *(100 * weight[part].sum() for weight in weights.values())]
                rows.append([f"{name}: {words}", *(f"{share:.1f}" for share in shares)])
                more.append(all((share > shares[0]) == (part is near) for share in shares[1:]))
    return (table(["Figure 1: share of pixels, and of the weight that they have, %", "pixels", *WEIGHTINGS], rows) + f"""
**Figure 1**: support weights in windows of {SIDE} px with ESAW's constants, differences being of grey. The paper says that all three give
more weight to
pixels that are near and of a like colour: {"so it is in each window" if all(more) else "that is not so in each window here"}. It does not
say which window of Tsukuba it takes; ours is at the edge of the head.

""" + plot.weights("yu-1", panels, "Windows, and the weights of " + ", ".join(WEIGHTINGS)) + "\n")


# ---- figure 6: costs and messages -------------------------------------------------------------------------------------------------

# Of the pixels right of p, p and left of p at disparities 1, 2 and 3, which are the true ones in this order. The paper's values are not
# in the text; these have its property: the cost is large beside the true disparity.
TOY = {"p_r": (0, 45, 70), "p": (10, 0, 15), "p_l": (60, 40, 0)}
PENALTY = 10


def messages(costs, penalty, most=numpy.inf):
    """Equation 11: the lower envelope of cones."""
    d = numpy.arange(len(costs))
    return (numpy.asarray(costs) + numpy.minimum(penalty * numpy.abs(d[:, None] - d), most)).min(1)


def figure_6(plot):
    costs = {name: numpy.array(values, float) for name, values in TOY.items()}
    sent = {name: messages(values, PENALTY) for name, values in costs.items()}
    sums = [sum(each.values()) for each in (costs, sent)]
    lowest = [int(numpy.argmin(each)) + 1 for each in sums]
    return (f"**Figure 6**: three pixels whose true disparities are 1, 2 and 3. The sum of their costs is lowest at {lowest[0]}, that of their messages at "
            f"{lowest[1]}; the paper's at 1 and 2, where 2 is true of p. The values are ours, because its own are not in the text.\n\n"
            + plot.signals("yu-6", ["costs", "messages"], [{**each, "sum": total} for each, total in zip((costs, sent), sums)],
                           "disparity", "cost", 1) + "\n")


# ---- figure 15: error against time -------------------------------------------------------------------------------------------------


def figure_15(errors, plot):
    """The printed systems, and ours, at nanoseconds a disparity."""
    axes = plot.axes("ns a disparity of a pixel", "bad 1, mean of four scenes, %", of=2)
    for one, k, words in zip(axes, (0, 1), ("both views see", "near edges")):
        for name, (values, speed) in OTHERS.items():
            plot.printed(one, [1e3 / speed], [numpy.mean(values[k::2])], "_", name)
        for name, values in PRINTED.items():
            plot.printed(one, [1e3 / PRINTED_SPEED[name]], [numpy.mean(values[2 * k:12:3])], "_", name)
        one.set_xscale("log")
        one.set_title(words, fontsize=9)
        one.margins(0.12)
    where = errors.bench.machine("GPU")
    for name, setting in {**SETTINGS, "ESMP (iter 8)": ("esmp", 8, 1.8)}.items():
        speed, found = speeds(errors.bench, setting)[0], errors.of(options_of(*setting))
        for k, one in enumerate(axes):
            if speed:
                one.plot([1e3 / float(speed)], [numpy.mean(found[2 * k::3])], "o", label=f"ours, {where}: {name}")
    return (f"**Figure 15**: error against time, of systems on GPUs that table IV has in all {len(SCENES)} scenes: diamonds are the paper's numbers, each system on the GPU of its makers.\n\n"
            + plot.save("yu-15", axes) + "\n")
