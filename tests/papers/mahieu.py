# SPDX-License-Identifier: LGPL-2.1-or-later
"""Mahieu and Lowney: Real-Time Semi-Global Matching Using CUDA Implementation."""
import os
import tempfile

import cv2
import numpy

from bench import read_truth, table

COLUMNS = 450
SCENES = ("aloe", "cones")
PRINTED = {"aloe": (0.0296, 3715), "cones": (0.0409, 3152)}
OPTIONS = ["--method", "sgm", "--profile", "thesis", "--fill", "none", "--num-disparities", 64]
WEIGHTS = {
    "all 1": (),
    "columns 0.5": ("--path-weight-vertical", 0.5),
    "columns 2": ("--path-weight-vertical", 2),
    "diagonals 0.5": ("--path-weight-diagonal", 0.5),
    "diagonals 2": ("--path-weight-diagonal", 2),
}
INTERPOLATED = ("--fill", "background")
WIDTHS = (113, 225, 338, 450)


def scaled(bench, scene, columns, folder):
    """The views at @columns, and the truth with them."""
    truth, paths = read_truth(bench.scene(scene)), []
    factor = columns / truth.shape[1]
    for path in bench.pair(scene):
        picture = cv2.imread(path)
        paths.append(os.path.join(folder, os.path.basename(path)))
        cv2.imwrite(paths[-1], cv2.resize(picture, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA))
    rows = cv2.imread(paths[0]).shape[0]
    small = cv2.resize(truth, (columns, rows), interpolation=cv2.INTER_NEAREST) * factor
    return paths, small


SIZES = {"aloe": "450x390", "cones": "450x375"}  # of the pictures at COLUMNS


def gpu_work():
    return [(size, OPTIONS) for size in SIZES.values()]


def squared_error(disparity, truth):
    """Of disparities as shares of the largest true one; what has no value counts as 0, as the paper sets it."""
    known = numpy.isfinite(truth)
    off = (numpy.nan_to_num(disparity) - truth)[known] / numpy.nanmax(truth)
    return float((off ** 2).mean())


def chapter(bench, plot):
    rows, times, weighed, filled = [], {}, {name: [] for name in WEIGHTS}, []
    with tempfile.TemporaryDirectory() as folder:
        for scene in bench.has(SCENES):
            views, truth = scaled(bench, scene, COLUMNS, folder)
            error = squared_error(bench.disparity_of(*views, OPTIONS), truth)
            frame = bench.run(*views, ["--runs", 9, *OPTIONS])["min_ms"]
            rows.append([scene, *PRINTED[scene], f"{error:.4f}", f"{frame:.1f}", bench.gpu_frame(SIZES[scene], OPTIONS)])
            filled.append(squared_error(bench.disparity_of(*views, [*OPTIONS, *INTERPOLATED]), truth))
            for name, options in WEIGHTS.items():
                weighed[name].append(squared_error(bench.disparity_of(*views, [*OPTIONS, *options]), truth))
        for columns in WIDTHS if bench.has(["aloe"]) else ():
            views, truth = scaled(bench, "aloe", columns, folder)
            times[truth.size] = bench.run(*views, ["--runs", 9, *OPTIONS])["min_ms"]
    axes = plot.axes("pixels", "ms a frame")
    axes.plot(list(times), list(times.values()), "o-", label="sgm")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    each = [1e6 * time / pixels for pixels, time in times.items()]
    return table(["Table 2", "MSE, the paper", "ms, the paper", "MSE, ours", "ms, ours", "ms, ours, GPU"], rows) + f"""
450 columns, 64 disparities, penalties of table 1 for each direction, equal path weights, checked, median of 3x3. The paper does not
say how its maps were scaled before the error was taken: ours are shares of the largest true disparity, and what has no value counts as 0.
Of its ten scenes, these two are there.

""" + table(["path weights w_r", *bench.has(SCENES)], [[name, *(f"{error:.4f}" for error in errors)] for name, errors in weighed.items()]) + f"""
The paper has weights for its directions, leaves all at 1, and expects little of others. Here those along rows are 1.
Its future work is Hirschmüller's interpolation of what the check takes away: with `fill=background` the errors are {", ".join(
        f"{error:.4f} ({scene})" for scene, error in zip(bench.has(SCENES), filled))}.

**Figure 2**: time against size, aloe at {", ".join(map(str, WIDTHS))} columns. The paper finds it linear. Ours: {", ".join(
        f"{value:.0f}" for value in each)} ns a pixel.

{plot.save("mahieu-size", axes)}"""
