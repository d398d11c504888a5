# SPDX-License-Identifier: LGPL-2.1-or-later
"""GCVL: GPU Computer Vision Library, chapter 4."""
from bench import table

WINDOWS = (5, 9, 13)
RANGES = (16, 64, 128)
SCENES = ("tsukuba", "aloe")


def options_of(window, disparities):
    return ["--method", "bm", "--profile", "thesis", "--cost", "sad", "--window", window, "--num-disparities", disparities]


def gpu_work():
    return [(scene, options_of(window, disparities)) for scene in SCENES for disparities in RANGES for window in WINDOWS]


def chapter(bench, plot):
    rows = []
    text = ""
    for scene in bench.has(SCENES):
        axes = plot.axes("window, px", "ms a frame")
        for disparities in RANGES:
            line = []
            for window in WINDOWS:
                words = options_of(window, disparities)
                all_cores = bench.times(scene, words)[0]
                one = bench.times(scene, [*words, "--threads", 1])[0]
                line.append(all_cores)
                rows.append([scene, disparities, window, f"{one:.1f}", f"{all_cores:.1f}", bench.gpu_frame(scene, words)])
            axes.plot(WINDOWS, line, "o-", label=f"{disparities} disparities")
        axes.set_ylim(bottom=0)
        text += plot.save(f"gcvl-{scene}", axes) + "\n"
    return table(["Figures 4.1 to 4.6", "disparities", "window", "ms, one thread", "ms, all", "ms, GPU"], rows) + "\n" + text + """
The paper shows times as curves without numbers: Tsukuba (384x288) and Bowling (1252x1110), whose place aloe (1282x1110) takes. It finds
neither of its processors fast enough for video, and the GPU 77 times as fast as the processor (figure 4.8). Windows are summed by running
sums on the processor here, so a larger one costs nothing; there it does, and so it does on the GPU here, from 11 on. The textureless map of figure 4.11 is not an output here: what has no texture has
no value (`confidence-threshold`).
"""
