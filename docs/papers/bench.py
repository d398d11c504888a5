# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs stereo-bench, and scores its disparity as the papers do."""
import json
import os
import subprocess
import tempfile

import cv2
import numpy

SCALE = 64  # of the disparity that stereo-bench writes


def read_truth(scene):
    """Disparities in pixels; not-a-number where it is not known."""
    floats, png = (os.path.join(scene, "gt" + kind) for kind in (".pfm", ".png"))
    if os.path.exists(floats):
        truth = cv2.imread(floats, cv2.IMREAD_UNCHANGED).astype(numpy.float64)
        return numpy.where(numpy.isfinite(truth), truth, numpy.nan)
    truth = cv2.imread(png, cv2.IMREAD_UNCHANGED) / 256
    return numpy.where(truth > 0, truth, numpy.nan)


def read_mask(scene, name):
    """None: there is no such mask."""
    path = os.path.join(scene, f"mask_{name}.png")
    return cv2.imread(path, cv2.IMREAD_GRAYSCALE) == 255 if os.path.exists(path) else None


def bad(disparity, truth, mask, limit):
    """Percent of the pixels of @mask with a truth that are off by more than @limit, or have no value."""
    counts = mask & numpy.isfinite(truth)
    off = ~(numpy.abs(disparity - truth) <= limit)
    return 100 * float(off[counts].mean())


class Bench:
    def __init__(self, program, data, gpu_times=None, least=None):
        """@least: {key: what times() returned before, on this machine}, of which the least counts."""
        self.program, self.data = program, data
        self.gpu_times = gpu_times or {}
        self.least = {} if least is None else least

    def scene(self, name):
        return os.path.join(self.data, name)

    def has(self, names):
        return [name for name in names if os.path.isdir(self.scene(name))]

    def run(self, left, right, options):
        """One object of stereo-bench's JSON."""
        words = [self.program, "--backend", "cpu", "--json", *map(str, options), left, right]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
        return json.loads(done.stdout)[0]

    def pair(self, name):
        return [os.path.join(self.scene(name), view + ".png") for view in ("left", "right")]

    def disparity_of(self, left, right, options):
        """Pixels; not-a-number where there is no value."""
        with tempfile.TemporaryDirectory() as folder:
            self.run(left, right, ["--score", "--write", folder, *options])
            files = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names
                     if "disparity" in name or "confidence" not in name]
            samples = cv2.imread(files[0], cv2.IMREAD_UNCHANGED)
        return numpy.where(samples > 0, samples / SCALE, numpy.nan)

    def disparity(self, name, options):
        return self.disparity_of(*self.pair(name), options)

    def times(self, name, options, runs=5, rounds=4):
        """Milliseconds: (the shortest frame, {stage: the least median of a round}), of one thread unless @options say otherwise. The
        machine may be shared: what was disturbed least counts."""
        return self.times_of(key_of(name, options), *self.pair(name), options, runs, rounds)

    def times_of(self, key, left, right, options, runs=5, rounds=4):
        """The same of two pictures. @key: by which the times of other runs are found; the processor's level is added to it."""
        key += f" {os.environ.get('STEREO_CPU', '')}"
        for _ in range(rounds):
            found = self.run(left, right, ["--runs", runs, "--threads", 1, *options])
            frame, stages = self.least.get(key, (found["min_ms"], found["stages_ms"]))
            self.least[key] = (min(frame, found["min_ms"]), {stage: min(time, found["stages_ms"][stage]) for stage, time in stages.items()})
        return self.least[key]

    def memory(self, name, options):
        """MiB that a matcher takes."""
        return self.run(*self.pair(name), ["--runs", 1, *options])["arena_mib"]

    def frames(self, name, options):
        """Means of several frames in a row: (percent off by more than 1 px, percent that change by more than 1 px)."""
        mean = self.run(*self.pair(name), options)["mean"]
        return mean["bad1"], mean["flicker"]

    def gpu(self, name, options):
        """The same of a GPU, from the file of times; None if it is not there."""
        return self.gpu_times.get(key_of(name, options))

    def gpu_frame(self, name, options):
        """Milliseconds of a frame on a GPU, in words."""
        found = self.gpu(name, options)
        return f"{found[0]:.2f}" if found else ""


GPU_RUNS = 20
GPU_SCRIPT = """#!/bin/sh
# BENCH=stereo-bench DATA=FOLDER sh this > gpu.times
set -e
echo '# SPDX-License-Identifier: LGPL-2.1-or-later'
echo '# scene or size, options; what stereo-bench --json says'
time_of ()
{{
  printf '%s\\t' "$1"
  shift
  "$BENCH" --backend cuda --device-input --json --runs {runs} "$@" | tr -d '\\n'
  echo
}}
{lines}
"""


def key_of(name, options):
    """@name: a scene, or WIDTHxHEIGHT for a made pair."""
    return " ".join([name, *map(str, options)])


def gpu_script(work):
    """Shell script that takes the times of @work, pairs of name and options, where there is a GPU and no NumPy."""
    lines = []
    for name, options in work:
        views = f"--synthetic {name}" if name[0].isdigit() else f'"$DATA/{name}/left.png" "$DATA/{name}/right.png"'
        lines.append(f"time_of '{key_of(name, options)}' {' '.join(map(str, options))} {views}")
    return GPU_SCRIPT.format(runs=GPU_RUNS, lines="\n".join(lines))


def gpu_times(path):
    """What the script wrote: {key: (milliseconds of a frame without copies, {stage: milliseconds})}."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                key, said = line.split("\t")
                frame = json.loads(said)[0]
                found[key] = frame["compute_median_ms"], frame["stages_ms"]
    return found


def table(head, rows):
    """Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows]) + "\n"
