# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the figures ask, and the answers, which compute.py finds."""
import collections

import numpy


def key_of(views, options, what):
    return f"{views} | {' '.join(map(str, options))} | {what}"


def placeholder(what):
    """Stands for an answer that is not computed yet."""
    kind = what.split()[0]
    if kind == "time":
        return 1.0, collections.defaultdict(lambda: 1.0)
    if kind == "grey":
        return numpy.ones((int(what.split()[-1]),) * 2)
    return numpy.ones((6, 8), float if kind == "disparity" else bool) if kind in ("disparity", "off", "blank") and what != "blank share" else 1.0


class Bench:
    """Gives the answers that are known, {key: answer}, and placeholders for all others; @asked has their questions, {key: (views, options,
    what)}. A figure is drawn twice: the first time to find its questions.

    @views name a pair: a scene; SCENE@COLUMNS, made smaller; SCENE/slanted (compute.slanted_pair()); WIDTHxHEIGHT, a synthetic pair.
    @options are those of stereo-bench, or "opencv" with the setting of a StereoSGBM. @what: see compute.py."""

    def __init__(self, answers=None):
        self.answers, self.asked = {} if answers is None else answers, {}

    def ask(self, views, options, what):
        key = key_of(views, options, what)
        if key in self.answers:
            return self.answers[key]
        self.asked[key] = (views, [str(word) for word in options], what)
        return placeholder(what)

    def bad(self, views, options, limit=1, region="nocc"):
        """Percent of the region's pixels with a truth that are off by more than @limit px, or have no value."""
        return self.ask(views, options, f"bad {limit} {region}")

    def disparity(self, views, options):
        """Pixels; not-a-number where there is no value."""
        return self.ask(views, options, "disparity")

    def off(self, views, options, limit=1):
        """Where bad() counts a pixel."""
        return self.ask(views, options, f"off {limit}")

    def times(self, views, options, threads=1, level=""):
        """Milliseconds on the CPU: (the shortest frame, {stage: the least median}). @level: value of STEREO_CPU."""
        return self.ask(views, ["--backend", "cpu", "--threads", threads, *options], f"time {level}".strip())

    def gpu(self, views, options):
        """The same on the GPU, views in its memory: (median frame, {stage: median}). None: there is no GPU."""
        return self.ask(views, ["--backend", "cuda", "--device-input", *options], "time")


def change(after, before):
    """In percent, in words."""
    return f"{round(100 * (after / before - 1)):+d} %"


def ms(found, digits=1):
    """Milliseconds of what times() or gpu() gave, in words."""
    return f"{found[0]:.{digits}f}" if found else ""


def table(head, rows):
    """Markdown."""
    lines = ["| " + " | ".join(map(str, head)) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"


def means(title, columns, found, digits=1):
    """A table of @found, {row: a value for each column}, with the mean of each row."""
    return table([title, *columns, "mean"], [[name, *(f"{value:.{digits}f}" for value in (*values, numpy.mean(values)))]
                                             for name, values in found.items()])
