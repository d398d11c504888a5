# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plots of the page, saved beside it: lines, bars and disparity maps."""
import os

import matplotlib
import numpy

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

UNKNOWN = "0.6"  # grey of pixels without a value, which no colour of the maps is
PRINTED = ("0.8", "0.65", "0.5")  # greys of a paper's numbers
LONG = 9  # letters of a label from which on labels are inclined


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
        _, axes = pyplot.subplots(1, of or 1, figsize=(5.6 if not of else 4.2 * of, 3.4), squeeze=False, layout="constrained")
        for one in axes[0]:
            one.set_xlabel(across)
            one.grid(alpha=0.3)
        axes[0][0].set_ylabel(up)
        return axes[0] if of else axes[0][0]

    def from_zero(self, axes):
        axes.set_ylim(0, 1.05 * axes.dataLim.y1)

    def printed(self, axes, across, up, label, name=None):
        """Values that a paper prints, as marks; with a name above the first."""
        axes.plot(across, up, "D", color="0.35", markerfacecolor="none", label=label)
        if name:
            axes.annotate(name, (across[0], up[0]), xytext=(0, 5), textcoords="offset points", ha="center", fontsize=7, color="0.35")

    def save(self, name, axes):
        """The line of the page that shows it. @axes: what axes() gave. The legend stands above the data."""
        every = list(numpy.atleast_1d(axes))
        for k, one in enumerate(every):
            labels = one.get_legend_handles_labels()[1]
            if labels and (not k or labels != every[0].get_legend_handles_labels()[1]):
                columns = 1 if max(map(len, labels)) > 30 else 2 if max(map(len, labels)) > 14 or len(every) > 1 else 4
                one.legend(fontsize="x-small", loc="lower center", bbox_to_anchor=(0.5, 1.1 if one.get_title() else 1), ncol=columns, frameon=False)
        return self.keep(name, every[0].figure, f"{every[0].get_ylabel()} against {every[0].get_xlabel()}")

    def keep(self, name, figure, words):
        figure.savefig(os.path.join(self.folder, "pictures", name + ".png"), dpi=90, bbox_inches="tight")
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
        if max(map(len, groups)) > LONG:
            axes.tick_params("x", labelrotation=20, labelsize="small")
        axes.set_ylabel(up)
        axes.grid(axis="y", alpha=0.3)
        if log:
            axes.set_yscale("log")
            axes.set_ylim(bottom=10 ** numpy.floor(numpy.log10(min(bar.get_height() for bar in axes.patches if bar.get_height() > 0))))
        axes.legend(fontsize="x-small", loc="lower center", bbox_to_anchor=(0.5, 1), ncol=2 if len(series) > 3 else 3, frameon=False)
        return self.keep(name, figure, f"{up}: {', '.join(series)}")

    def maps(self, name, rows, words, most):
        """@rows: of (title, map); None leaves a place free. Disparities have one scale up to @most px, or of each row up to its number of
        the list @most, and grey where there is no value. Of maps of what is true, black is true."""
        across = max(map(len, rows))
        shape = next(panel[1].shape for panel in rows[0] if panel)
        high = 2.6 * shape[0] / shape[1] + 0.25
        figure, axes = pyplot.subplots(len(rows), across, figsize=(2.6 * across, high * len(rows)), squeeze=False, layout="constrained")
        colors = pyplot.get_cmap("turbo").copy()
        colors.set_bad(UNKNOWN)
        scales = most if isinstance(most, list) else [most] * len(rows)
        shown = {}
        for axis in axes.flat:
            axis.set_axis_off()
        for k, (panels, line) in enumerate(zip(rows, axes)):
            for panel, axis in zip(panels, line):
                if panel and panel[1].dtype == bool:
                    axis.set_axis_on()
                    axis.set(xticks=(), yticks=())
                    axis.imshow(~panel[1], cmap="gray", vmin=0, vmax=1, interpolation="nearest")
                elif panel:
                    shown[k] = axis.imshow(panel[1], cmap=colors, vmin=0, vmax=scales[k], interpolation="nearest")
                if panel:
                    axis.set_title(panel[0], fontsize=8)
        for k, image in shown.items() if isinstance(most, list) else list(shown.items())[:1]:
            beside, tall = (axes[k], 0.9) if isinstance(most, list) else (axes, min(1, 3 / (high * len(rows))))
            bar = figure.colorbar(image, ax=beside, shrink=tall, aspect=30, pad=0.01)
            bar.set_label("disparity, px (grey: no value)", fontsize=8)
            bar.ax.tick_params(labelsize=8)
        return self.keep(name, figure, words)

    def weights(self, name, rows, words):
        """@rows: of (title, picture); the first of a row is grey levels, the others are weights, over the largest of each."""
        figure, axes = pyplot.subplots(len(rows), len(rows[0]), figsize=(2 * len(rows[0]) + 0.6, 2.2 * len(rows)), squeeze=False, layout="constrained")
        for panels, line in zip(rows, axes):
            for k, ((title, picture), axis) in enumerate(zip(panels, line)):
                shown = axis.imshow(picture / (255 if not k else picture.max()), cmap="magma" if k else "gray", vmin=0, vmax=1, interpolation="nearest")
                axis.set_title(title, fontsize=8)
                axis.set_axis_off()
        figure.colorbar(shown, ax=axes, shrink=0.6, aspect=30, pad=0.01).set_label("weight, over the largest", fontsize=8)
        return self.keep(name, figure, words)

    def signals(self, name, titles, lines, across, up, first):
        """Small plots side by side, with one scale: @lines of each of @titles, {label: values from @first on}; the last of a plot is thick."""
        figure, axes = pyplot.subplots(1, len(titles), figsize=(4.2 * len(titles), 3), squeeze=False, sharey=True, layout="constrained")
        for title, drawn, one in zip(titles, lines, axes[0]):
            for k, (label, values) in enumerate(drawn.items()):
                one.plot(range(first, first + len(values)), values, "o-", label=label, linewidth=1 + 1.5 * (k == len(drawn) - 1))
            one.set_title(title, fontsize=9)
            one.set_xlabel(across)
            one.set_xticks(range(first, first + len(values)))
            one.grid(alpha=0.3)
        axes[0][0].set_ylabel(up)
        axes[0][-1].legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
        return self.keep(name, figure, f"{up} against {across}: {', '.join(titles)}")
