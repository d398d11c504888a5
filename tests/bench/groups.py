# SPDX-License-Identifier: LGPL-2.1-or-later
"""The scenes on which stages and constants are compared, and their scores from stereo-bench, kept in a file.

A score is known by the program (its hash), the scene, the disparities to search and the options. A script that was
interrupted therefore goes on where it was, and measures again after a new build.
"""
import argparse
import collections
import hashlib
import json
import os
import sys

from score import Refused, default_bench, load, matched, scene_of, scores

# scenes: disparities to search, as the makers of the scenes give them, not as the truth has them
Group = collections.namedtuple("Group", "name measure scenes")
GROUPS = (
    Group("KITTI 2015", "d1", {"kitti15-000003": 128, "kitti15-000011": 128, "kitti15-000020": 128, "kitti15-000030": 128}),
    Group("KITTI 2012", "d1", {"kitti12-000027": 128, "kitti12-000138": 128}),
    Group("Middlebury 2014", "bad2", {"piano": 64, "playtable": 80, "recycle": 64, "vintage": 176}),
    Group("classic", "bad1", {"tsukuba": 16, "venus": 20, "teddy": 60, "cones": 60, "motorcycle": 70}),
)
# What constants are chosen and judged on: more scenes of these kinds, and another kind. No table of the documents has them.
SETS = tuple(group._replace(scenes={**group.scenes, **more}) for group, more in zip(GROUPS, (
    {f"kitti15-0000{number}": 128 for number in ("04", "07", "10", "14", "19", "22", "27", "28", "32", "36")}, {}, {}, {}))
) + (Group("Middlebury 2005, 2006", "bad1", {"books": 120, "laundry": 120, "bowling1": 120, "wood1": 120}),)
MEASURES = {"d1": "D1", "bad1": "bad 1", "bad2": "bad 2"}
# The first pair tells how the views are aligned, and the following ones are aligned so.
ALIGN_FRAMES = 4


def parser(text):
    """What all scripts take."""
    here = os.path.dirname(os.path.abspath(__file__))
    result = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    result.add_argument("--bench", default=default_bench())
    result.add_argument("--data", default=os.environ.get("STEREO_DATA", os.path.join(here, "../../../shared/data")),
                        help="the folder of the scenes (STEREO_DATA)")
    result.add_argument("--cache", help="a JSON file that keeps the scores")
    return result


class Cache:
    """What a program gave for some words, kept in a file, where one is given."""

    def __init__(self, program, path):
        with open(program, "rb") as file:
            self.hash, self.path, self.known = hashlib.sha256(file.read()).hexdigest()[:16], path, {}
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.known = json.load(file)

    def of(self, words, make):
        key = " ".join([self.hash, *words])
        if key not in self.known:
            self.known[key] = make()
            if self.path:
                with open(self.path + ".new", "w", encoding="utf-8") as file:
                    json.dump(self.known, file, indent=0)
                os.replace(self.path + ".new", self.path)
        return self.known[key]


class Scores:
    """Scores of option sets. An option set is a dictionary of the matcher's parameters."""

    def __init__(self, arguments, groups=GROUPS):
        self.bench, self.data, self.groups = arguments.bench, arguments.data, groups
        self.cache, self.printed = Cache(self.bench, arguments.cache), set()

    def run(self, name, disparities, options):
        scene = scene_of(*(os.path.join(self.data, name, view + ".png") for view in ("left", "right")))
        frames = ALIGN_FRAMES if options.get("align", "off") != "off" else 1
        words = [f"--{option}={value}" for option, value in options.items()]
        _, said, [(disparity, _)] = matched(self.bench, ["--frames", str(frames), "--num-disparities", str(disparities), *words, scene.left,
                                                         scene.right], last=True)
        shown = " ".join(f"{option}={value}" for option, value in options.items())
        for text in sorted({f"{shown}: {line}" for line in said.splitlines()} - self.printed):
            print(text, file=sys.stderr)
            self.printed.add(text)
        return scores(disparity, *load(scene))

    def of(self, options):
        """{scene: percent}: non-occluded pixels, missing ones are wrong."""
        words = [f"{name}={options[name]}" for name in sorted(options)]
        return {scene: self.cache.of([scene, str(disparities), *words], lambda: self.run(scene, disparities, options))[group.measure]
                for group in self.groups for scene, disparities in group.scenes.items()}


def options_of(text):
    """A dictionary of "name=value name=value"."""
    return dict(word.split("=", 1) for word in text.split())


def group_means(scores, scenes=None, groups=GROUPS):
    """{group: mean over its scenes}; only of @scenes, where given, and of groups that have one of them."""
    means = {}
    for group in groups:
        values = [scores[scene] for scene in group.scenes if scenes is None or scene in scenes]
        if values:
            means[group.name] = sum(values) / len(values)
    return means
