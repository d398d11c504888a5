# SPDX-License-Identifier: LGPL-2.1-or-later
"""GCVL: GPU Computer Vision Library, chapter 4."""
import numpy

from bench import ms, table

WINDOWS, RANGES = (5, 9, 13), (16, 64, 128)
SCENES = ("tsukuba", "aloe")  # aloe takes the place of Bowling
TEXTURELESS = {"tsukuba": 16, "aloe": 270, "piano": 64, "vintage": 176}  # scenes, and disparities that are searched
# Disparity maps: scene, disparities and window
MAPS = {"tsukuba": {"4.9": (16, 5), "4.10": (16, 9)}, "aloe": {"4.12": (100, 13), "4.13": (170, 13), "whole range": (224, 13)}}


def options_of(window, disparities):
    """Algorithm 1: one box of differences of grey."""
    return ["--method", "bm", "--profile", "thesis", "--cost", "ad", "--window", window, "--num-disparities", disparities]


def figures_of_times(bench, plot):
    """Figures 4.1 to 4.6 and 4.8."""
    rows, pictures, gained = [], "", {}
    for scene in SCENES:
        axes = plot.axes("window, px", "ms a frame", of=2)
        for disparities in RANGES:
            lines = [], []
            for window in WINDOWS:
                words = options_of(window, disparities)
                every, one, gpu = bench.times(scene, words, 0), bench.times(scene, words), bench.gpu(scene, words)
                lines[0].append(every[0])
                lines[1].append(gpu[0] if gpu else numpy.nan)
                if gpu and scene == "aloe":
                    gained.setdefault(disparities, []).append(every[0] / gpu[0])
                rows.append([scene, disparities, window, ms(one), ms(every), ms(gpu, 2), f"{one[0] / every[0]:.1f}",
                             f"{every[0] / gpu[0]:.0f}" if gpu else ""])
            for one_axes, where, line in zip(axes, ("processor, all cores", "GPU"), lines):
                one_axes.plot(WINDOWS, line, "o-", label=f"{disparities} disparities")
                one_axes.set_title(f"{scene}, {where}", fontsize=9)
        for one_axes in axes:
            plot.from_zero(one_axes)
        pictures += plot.save(f"gcvl-{scene}", axes)
    if gained:
        axes = plot.axes("window, px", "times as fast as all cores")
        for disparities, line in gained.items():
            axes.plot(WINDOWS, line, "o-", label=f"{disparities} disparities")
        axes.axhline(77, color="0.5", linestyle=":", label="the paper's mean")
        plot.from_zero(axes)
        pictures += plot.save("gcvl-4.8", axes)
    return table(["Figures 4.1 to 4.6, 4.8", "disparities", "window", "ms, one thread", "ms, all cores", "ms, GPU", "speed-up by all cores",
                  "by the GPU over all cores"], rows) + pictures


def figure_4_11(bench, plot):
    """How much of each scene has no texture, and how wrong the disparity is there and elsewhere."""
    rows, panels = [], []
    for scene, disparities in TEXTURELESS.items():
        options = options_of(9, disparities)
        rows.append([scene, f"{bench.ask(scene, [], 'blank share'):.0f}", *(f"{bench.bad(scene, options, 1, where):.1f}" for where in ("blank", "textured"))])
        panels.append([(f"{scene}: no texture", ~bench.ask(scene, [], "blank")), ("off by more than 1 px, or no value", bench.off(scene, options))])
    return table(["Figure 4.11", "without texture, %", "bad 1 there, %", "bad 1 elsewhere, %"], rows) + plot.maps(
        "gcvl-4.11", [panels[0] + panels[1], panels[2] + panels[3]], "Where there is no texture (white), and where the disparity is wrong (black)", 1)


def figures_of_maps(bench, plot):
    """Figures 4.9, 4.10, 4.12 and 4.13; roughness is the percentage of the pixels that differ from their right neighbour by more than 1 px."""
    rows, pictures = [], ""
    for scene, figures in MAPS.items():
        panels = []
        for name, (disparities, window) in figures.items():
            found = bench.disparity(scene, options_of(window, disparities))
            panels.append((f"{name}: {disparities} disparities, {window}x{window}", found))
            rows.append([f"{scene}, {name}", disparities, window, f"{bench.bad(scene, options_of(window, disparities)):.1f}",
                         f"{100 * (numpy.abs(numpy.diff(found, axis=1)) > 1).mean():.1f}"])
        pictures += plot.maps(f"gcvl-maps-{scene}", [panels], f"Disparity maps of block matching, {scene}", max(n for n, _ in figures.values()))
    return table(["Figures 4.9 to 4.13", "disparities", "window", "bad 1, %", "rough, %"], rows) + (
        f"The largest true disparity of aloe: {bench.ask('aloe', [], 'largest'):.0f} px\n") + pictures


FIGURES = {"gcvl-times": figures_of_times, "gcvl-4.9": figures_of_maps, "gcvl-4.11": figure_4_11}
