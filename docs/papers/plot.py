# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plots of the page, saved beside it: lines, bars and disparity maps."""
import os

import matplotlib
import numpy

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

UNKNOWN = "0.2"  # grey of pixels without a value
PRINTED = ("0.8", "0.65", "0.5")  # greys of a paper's numbers


def bar_places(count, groups):
    """Where the bars of @count series stand around each of @groups places, and how wide they are."""
    width = 0.8 / count
    return [[group + (series - (count - 1) / 2) * width for group in range(groups)] for series in range(count)], width


class Plot:
    def __init__(self, folder):
        self.folder = folder
        os.makedirs(os.path.join(folder, "pictures"), exist_ok=True)

    def axes(self, across, up, of=None):
        """Axes of one plot, or of @of plots side by side."""
        _, axes = pyplot.subplots(1, of or 1, figsize=(5.2 if not of else 4.2 * of, 3.2), squeeze=False)
        for one in axes[0]:
            one.set_xlabel(across)
            one.set_ylabel(up)
            one.grid(alpha=0.3)
        return axes[0] if of else axes[0][0]

    def save(self, name, axes):
        """The line of the page that shows it. @axes: what axes() gave."""
        every = list(numpy.atleast_1d(axes))
        for one in every:
            if one.get_legend_handles_labels()[1]:
                one.legend(fontsize="small")
        return self.keep(name, every[0].figure, f"{every[0].get_ylabel()} against {every[0].get_xlabel()}")

    def keep(self, name, figure, words):
        figure.tight_layout()
        figure.savefig(os.path.join(self.folder, "pictures", name + ".png"), dpi=90)
        pyplot.close(figure)
        return f"![{words}](pictures/{name}.png)\n"

    def bars(self, name, groups, series, up, log=False):
        """@series: {label: a value for each of @groups; None where there is none}."""
        figure, axes = pyplot.subplots(figsize=(max(5.2, 0.17 * len(groups) * (len(series) + 1)), 3.2))
        places, width = bar_places(len(series), len(groups))
        greys = iter(PRINTED)
        for (label, values), at in zip(series.items(), places):
            color = {"color": next(greys)} if label.startswith("the paper") else {}
            axes.bar(at, [numpy.nan if value is None else value for value in values], width, label=label, **color)
        axes.set_xticks(range(len(groups)), groups)
        axes.set_ylabel(up)
        axes.grid(axis="y", alpha=0.3)
        if log:
            axes.set_yscale("log")
        axes.legend(fontsize="x-small", loc="lower center", bbox_to_anchor=(0.5, 1), ncol=3, frameon=False)
        return self.keep(name, figure, f"{up}: {', '.join(series)}")

    def maps(self, name, rows, words):
        """@rows: of (title, map, greatest value); not-a-number is grey, and None leaves a place free."""
        across = max(map(len, rows))
        shape = next(panel[1].shape for panel in rows[0] if panel)
        high = 2.6 * shape[0] / shape[1] + 0.25
        figure, axes = pyplot.subplots(len(rows), across, figsize=(2.6 * across, high * len(rows)), squeeze=False)
        colors = pyplot.get_cmap("turbo").copy()
        colors.set_bad(UNKNOWN)
        for axis in axes.flat:
            axis.set_axis_off()
        for panels, line in zip(rows, axes):
            for panel, axis in zip(panels, line):
                if panel:
                    title, values, most = panel
                    shown = {"cmap": "gray", "vmax": 1} if values.dtype == bool else {"cmap": colors, "vmax": most}
                    axis.imshow(values, vmin=0, interpolation="nearest", **shown)
                    axis.set_title(title, fontsize=8)
        return self.keep(name, figure, words)
