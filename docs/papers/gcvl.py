# SPDX-License-Identifier: LGPL-2.1-or-later
"""GCVL: GPU Computer Vision Library, chapter 4."""
import numpy

from bench import table

WINDOWS = (5, 9, 13)
RANGES = (16, 64, 128)
SCENES = {"tsukuba": ("Tsukuba", "4.1", "4.5"), "aloe": ("Bowling", "4.2", "4.6")}  # the paper's scene and figures
TEXTURELESS = {"tsukuba": 16, "aloe": 270, "piano": 64, "vintage": 176}  # scenes, and disparities that are searched
PRINTED_SPEED_UP = 77  # 4.8: of the GTX 780 Ti over all cores of the better processor, on average
# Disparity maps: scene, disparities and window
MAPS = {"tsukuba": {"4.9": (16, 5), "4.10": (16, 9)}, "aloe": {"4.12": (100, 13), "4.13": (170, 13), "whole range": (224, 13)}}


def options_of(window, disparities):
    """Algorithm 1: one box of differences of grey."""
    return ["--method", "bm", "--profile", "thesis", "--cost", "ad", "--window", window, "--num-disparities", disparities]


def speed_up(slow, fast):
    return f"{slow / fast:.0f}" if fast else ""


def figures_of_times(bench, plot):
    """Figures 4.1 to 4.6 and 4.8: rows of the table, the pictures, and speed-ups over all cores of the larger scene."""
    rows, pictures, gained = [], "", {}
    for scene in bench.has(SCENES):
        axes = plot.axes("window, px", "ms a frame", of=2)
        for disparities in RANGES:
            lines = {"processor, all cores": [], "GPU": []}
            for window in WINDOWS:
                words = options_of(window, disparities)
                every, one = (bench.times(scene, words, threads)[0] for threads in (0, 1))
                gpu = bench.gpu(scene, words)
                lines["processor, all cores"].append(every)
                lines["GPU"].append(gpu[0] if gpu else numpy.nan)
                if gpu and scene == "aloe":
                    gained.setdefault(disparities, []).append(every / gpu[0])
                rows.append([scene, disparities, window, f"{one:.1f}", f"{every:.1f}", f"{gpu[0]:.2f}" if gpu else "", f"{one / every:.1f}",
                             speed_up(every, gpu and gpu[0])])
            for one_axes, (where, line) in zip(axes, lines.items()):
                one_axes.plot(WINDOWS, line, "o-", label=f"{disparities} disparities")
                one_axes.set_title(f"{scene}, {where}", fontsize=9)
        for one_axes in axes:
            plot.from_zero(one_axes)
        name, processor, cuda = SCENES[scene]
        pictures += f"**Figures {processor} and {cuda}**, {name}:\n\n" + plot.save(f"gcvl-{scene}", axes) + "\n"
    return rows, pictures, gained


def figure_4_8(gained, plot):
    """Speed-up of the GPU over all cores, of the larger scene."""
    if not gained:
        return ""
    axes = plot.axes("window, px", "times as fast as all cores")
    for disparities, line in gained.items():
        axes.plot(WINDOWS, line, "o-", label=f"{disparities} disparities")
    axes.axhline(PRINTED_SPEED_UP, color="0.5", linestyle=":", label="the paper's mean")
    plot.from_zero(axes)
    return plot.save("gcvl-4.8", axes) + "\n"


def figure_4_11(bench, plot):
    """How much of each scene has no texture, and how wrong the disparity is there and elsewhere."""
    rows, panels, worse = [], [], 0
    for scene in bench.has(TEXTURELESS):
        options = options_of(9, TEXTURELESS[scene])
        wrong = [bench.bad(scene, options, 1, where) for where in ("blank", "textured")]
        worse += wrong[0] > wrong[1]
        rows.append([scene, f"{bench.ask(scene, [], 'blank share'):.0f}", *(f"{value:.1f}" for value in wrong)])
        panels.append([(f"{scene}: no texture", ~bench.ask(scene, [], "blank")), ("off by more than 1 px, or no value", bench.off(scene, options, 1))])
    rows_of_panels = [panels[0] + panels[1], panels[2] + panels[3]] if len(panels) == 4 else panels
    picture = plot.maps("gcvl-4.11", rows_of_panels, "Where there is no texture (white), and where the disparity is wrong (black): "
                        + ", ".join(bench.has(TEXTURELESS)), 1)
    return table(["Figure 4.11", "without texture, %", "bad 1 there, %", "bad 1 elsewhere, %"], rows) + "\n" + picture + f"""
The paper marks what has no texture in a picture of Bowling, white as here, and explains artifacts with it. Bowling is not there; vintage,
with its blank walls, is the nearest. For texture the paper takes the definition of Scharstein and Szeliski: the squared gradient along
the row, averaged over a square
window, is below a threshold. It prints neither the window nor the threshold; here they are 3x3 pixels and 4² grey levels. The errors are
those of block matching with 9x9 pixels, where both views
see (aloe: everywhere). Where there is no texture, more is wrong in {worse} of {len(rows)} scenes.
"""


def figures_of_maps(bench, plot):
    """Figures 4.9, 4.10, 4.12 and 4.13."""
    words, pictures, found = [], "", {}
    for scene in bench.has(MAPS):
        panels = []
        for figure, (disparities, window) in MAPS[scene].items():
            options = options_of(window, disparities)
            disparity, wrong = bench.disparity(scene, options), bench.bad(scene, options, 1)
            panels.append((f"{figure}: {disparities} disparities, {window}x{window}", disparity))
            words.append(f"{figure} {wrong:.1f} %")
            found[figure] = wrong, rough(disparity)
        most = max(disparities for disparities, _ in MAPS[scene].values())
        pictures += plot.maps(f"gcvl-maps-{scene}", [panels], f"Disparity maps of block matching, {scene}: " + ", ".join(MAPS[scene]), most) + "\n"
    text = f"""**Figures 4.9, 4.10, 4.12, 4.13**: disparity maps; off by more than 1 px: {", ".join(words)}."""
    if "4.9" in found:
        text += f""" The paper says that a larger window gives a smoother map:
from 4.9 to 4.10 the pixels that differ from their right neighbour by more than 1 px go from {found["4.9"][1]:.1f} to {found["4.10"][1]:.1f} %."""
    if "4.12" in found:
        text += f""" It says that a range that is too short
misses what is near: aloe, which takes the place of Bowling, reaches {bench.ask("aloe", [], "largest"):.0f} px."""
    return pictures + "\n" + text + "\n\n"


def rough(disparity):
    """Percent of the pixels that differ from their right neighbour by more than 1 px."""
    return 100 * float((numpy.abs(numpy.diff(disparity, axis=1)) > 1).mean())


def chapter(bench, plot):
    rows, pictures, gained = figures_of_times(bench, plot)
    processor = f"{bench.machine('processor')}"
    head = ["Figures 4.1 to 4.6, 4.8", "disparities", "window", "ms, one thread", f"ms, all {bench.machine('cores')} cores", "ms, GPU",
            "speed-up by all cores", "by the GPU over all cores"]
    most = {scene: max(float(row[4]) for row in rows if row[0] == scene) for scene in bench.has(SCENES)}
    average = (f"Here the {bench.machine('GPU')} is {numpy.mean(list(gained.values())):.0f} times as fast as all cores of the {processor}, on average "
               "on aloe. Both are of one machine. Like the paper's ratio, it says nothing of other GPUs and processors.") if gained else ""
    return table(head, rows) + "\n" + pictures + f"""Block matching with `cost=ad`, which is the paper's algorithm 1: one box of differences of grey. The paper shows times as curves without
numbers: Tsukuba (384x288) and Bowling (1252x1110; table 4.1), whose place aloe (1282x1110) takes, on two computers. It finds neither of its
processors fast enough for video. Ours takes at most {", ".join(f"{time:.0f} ms on {scene}" for scene, time in most.items())} with all cores.

**Figures 4.3, 4.4 and 4.7** show OpenCL, which is as fast as CUDA there. There is no OpenCL here: they have no counterpart. Chapters 1
to 3 have drawings that explain, and no results.

**Figure 4.8**: the paper's better GPU (GTX 780 Ti) is {PRINTED_SPEED_UP} times as fast as all cores of its better processor, on average. {average}

""" + figure_4_8(gained, plot) + figures_of_maps(bench, plot) + figure_4_11(bench, plot)
