# SPDX-License-Identifier: LGPL-2.1-or-later
"""GCVL: GPU Computer Vision Library, chapter 4."""
import cv2
import numpy

from bench import bad, read_mask, read_truth, table

WINDOWS = (5, 9, 13)
RANGES = (16, 64, 128)
SCENES = ("tsukuba", "aloe")


def options_of(window, disparities):
    return ["--method", "bm", "--profile", "thesis", "--cost", "sad", "--window", window, "--num-disparities", disparities]


TEXTURELESS = {"tsukuba": 16, "aloe": 270, "piano": 64, "vintage": 176}  # scenes, and disparities that are searched
LEAST_GRADIENT = 4  # grey levels a pixel along the row: less in the mean of 3x3 squares is no texture (Scharstein and Szeliski 2002)


def textureless(picture):
    grey = cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY).astype(numpy.float64)
    gradient = numpy.diff(grey, axis=1, append=grey[:, -1:])
    return cv2.boxFilter(gradient ** 2, -1, (3, 3), normalize=False) < 9 * LEAST_GRADIENT ** 2  # whole numbers


def rows_of_texture(bench):
    """Figure 4.11: how much of each scene has no texture, and how wrong the disparity is there and elsewhere."""
    rows = []
    for scene in bench.has(TEXTURELESS):
        truth, mask = read_truth(bench.scene(scene)), read_mask(bench.scene(scene), "nocc")
        mask = numpy.isfinite(truth) if mask is None else mask
        blank = textureless(cv2.imread(bench.pair(scene)[0]))
        words = ["--method", "bm", "--profile", "thesis", "--cost", "sad", "--window", 9, "--num-disparities", TEXTURELESS[scene]]
        found = bench.disparity(scene, words)
        rows.append([scene, f"{100 * blank.mean():.0f}", *(f"{bad(found, truth, mask & where, 1):.1f}" for where in (blank, ~blank))])
    return rows


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
sums on the processor here, so a larger one costs nothing; there it does, and so it does on the GPU here, from 11 on.

""" + table(["Figure 4.11", "without texture, %", "bad 1 there, %", "bad 1 elsewhere, %"], rows_of_texture(bench)) + f"""
The paper marks what has no texture in a picture of Bowling, and explains artifacts with it. It does not say what it takes for
texture: here, a mean square of the step of grey from pixel to pixel along the row below {LEAST_GRADIENT}² in 3x3 pixels, as Scharstein
and Szeliski have it. Block matching with `cost=sad` of 9x9 pixels, where both views see (aloe: everywhere).
"""
