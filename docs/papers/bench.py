# SPDX-License-Identifier: LGPL-2.1-or-later
"""What the chapters ask, and the answers. compute.py finds them; here they are looked up."""
import base64
import collections
import json
import re
import zlib

import numpy

MAPS = re.compile("disparity$|off |blank$")  # what has a value for each pixel


def key_of(views, options, what):
    return f"{views} | {' '.join(map(str, options))} | {what}"


def packed(values):
    """Numbers as they are; a picture as JSON: disparities in 1/64 px, 0 where there is none; what is true or false as 1 or 0."""
    if not isinstance(values, numpy.ndarray):
        return values
    samples = values if values.dtype == bool else numpy.rint(numpy.nan_to_num(values) * 64)
    words = zlib.compress(samples.astype("<u2").tobytes(), 9)
    return {"shape": values.shape, "true": values.dtype == bool, "words": base64.b64encode(words).decode()}


def unpacked(values):
    if not isinstance(values, dict) or "words" not in values:
        return values
    samples = numpy.frombuffer(zlib.decompress(base64.b64decode(values["words"])), "<u2").reshape(values["shape"])
    return samples == 1 if values["true"] else numpy.where(samples > 0, samples / 64, numpy.nan)


class Bench:
    """Without @results, every answer is a placeholder, and @asked has the questions: {key: (views, options, what)}.

    @views name a pair: a scene; SCENE@COLUMNS, made smaller; SCENE/slanted (compute.slanted_pair()); WIDTHxHEIGHT, a made pair.
    @options are those of stereo-bench, or "opencv" with the setting of a StereoSGBM. @what: see compute.py."""

    def __init__(self, scenes, results=None):
        self.scenes, self.results, self.asked = scenes, results, {}

    def has(self, names):
        return [name for name in names if name in self.scenes]

    def machine(self, part):
        """The "processor", the "GPU" or the "cores" of the machine, in words. None: there is none."""
        return self.results["machine"][part] if self.results else part

    def ask(self, views, options, what, may_lack=False):
        key = key_of(views, options, what)
        if self.results is None:
            self.asked[key] = (views, [str(word) for word in options], what)
            if what.split()[0] == "time":
                return 1.0, collections.defaultdict(lambda: 1.0)
            if what.startswith("grey"):
                return numpy.ones((int(what.split()[-1]),) * 2)
            return numpy.ones((6, 8), float if what == "disparity" else bool) if MAPS.match(what) else 1.0
        if key not in self.results["answers"]:
            if may_lack:
                return None
            raise KeyError(f"the results have no answer to '{key}': compute them again")
        return unpacked(self.results["answers"][key])

    def disparity(self, views, options):
        """Pixels; not-a-number where there is no value."""
        return self.ask(views, options, "disparity")

    def bad(self, views, options, limit, region="nocc"):
        """Percent of the region's pixels with a truth that are off by more than @limit, or have no value."""
        return self.ask(views, options, f"bad {limit} {region}")

    def off(self, views, options, limit):
        """Where bad() counts a pixel: also where there is no value."""
        return self.ask(views, options, f"off {limit}")

    def times(self, views, options, threads=1, level=""):
        """Milliseconds on the processor: (the shortest frame, {stage: the least median}). @level: value of STEREO_CPU."""
        return self.ask(views, ["--backend", "cpu", "--threads", threads, *options], f"time {level}".strip())

    def gpu(self, views, options):
        """The same on the GPU, views in its memory: (median frame, {stage: median}). None: the results have no GPU."""
        return self.ask(views, ["--backend", "cuda", "--device-input", *options], "time", True)

    def gpu_frame(self, views, options):
        """Milliseconds of a frame on a GPU, in words."""
        found = self.gpu(views, options)
        return f"{found[0]:.2f}" if found else ""


def read_results(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def change(after, before):
    """In percent, in words."""
    return f"{round(100 * (after / before - 1)):+d} %"


def table(head, rows):
    """Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"
