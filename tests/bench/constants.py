#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Chooses constants on the scenes of groups.py, leaving one scene out at a time.

constants.py [--bench PATH] [--data FOLDER] [--cache FILE] [--reference "name=value ..."] name=value,value ...

    constants.py --cache scores.json method=sgm fill=background p1=8,10,12 p2=60,80

tries all combinations; a parameter with one value is set in all of them. The objective of a setting is the mean over the
groups of its score divided by the reference's: below 1 it is better than the reference, which is the default with holes
filled. For each scene the best setting on all other scenes is found, and scored on that scene: what the choice is worth on
a scene that it has not seen.
"""
import collections
import itertools
import sys

from groups import GROUPS, Refused, Scores, group_means, options_of, parser

SHOWN = 5   # best settings
LEAST = 0.01   # percent: a reference without an error has no ratio


def settings_of(words):
    """All combinations of "name=value,value", as dictionaries."""
    names = [word.split("=", 1)[0] for word in words]
    values = [word.split("=", 1)[1].split(",") for word in words]
    return [dict(zip(names, combination)) for combination in itertools.product(*values)]


def objective(scores, reference, scenes=None):
    """The mean over the groups of score / reference."""
    means, references = group_means(scores, scenes), group_means(reference, scenes)
    return sum(means[name] / max(references[name], LEAST) for name in means) / len(means)


def best(measured, reference, scenes=None):
    """The index of the best setting; of equal ones, the first."""
    return min(range(len(measured)), key=lambda k: objective(measured[k], reference, scenes))


def measure_all(scores, settings):
    measured = []
    for k, setting in enumerate(settings):
        measured.append(scores.of(setting))
        print(f"{k + 1} of {len(settings)}: {shown(setting)}", file=sys.stderr)
    return measured


def shown(setting, names=None):
    return " ".join(f"{name}={value}" for name, value in setting.items() if names is None or name in names)


def print_counts(chosen, names):
    for name in names:
        counts = collections.Counter(setting[name] for setting in chosen)
        print(f"{name}: " + ", ".join(f"{value} ({count} times)" for value, count in counts.most_common()))


def print_left_out(settings, measured, reference, names):
    """Returns the settings that were chosen, and what they score on the scenes that were left out."""
    scenes = [scene for group in GROUPS for scene in group.scenes]
    chosen, left_out = [], {}
    print(f"\n{'left out':20} {'its score':>9} {'reference':>9}   best setting on the others")
    for scene in scenes:
        k = best(measured, reference, [other for other in scenes if other != scene])
        chosen.append(settings[k])
        left_out[scene] = measured[k][scene]
        print(f"{scene:20} {left_out[scene]:9.2f} {reference[scene]:9.2f}   {shown(settings[k], names)}")
    return chosen, left_out


def main():
    options = parser(__doc__)
    options.add_argument("--reference", default="fill=background", help="options (fill=background)")
    options.add_argument("grid", nargs="+", metavar="name=value,value")
    arguments = options.parse_args()
    if not all(word.partition("=")[0] and word.partition("=")[2] for word in arguments.grid):
        options.error("write the grid as name=value,value name=value ...")
    scores, settings = Scores(arguments), settings_of(arguments.grid)
    names = [name for name in settings[0] if len({setting[name] for setting in settings}) > 1]
    reference = scores.of(options_of(arguments.reference))
    measured = measure_all(scores, settings)

    order = sorted(range(len(settings)), key=lambda k: objective(measured[k], reference))
    print(f"{'objective':>9}  " + "  ".join(f"{group.name:>15}" for group in GROUPS))
    for name, row in [("reference", reference)] + [(shown(settings[k], names), measured[k]) for k in order[:SHOWN]]:
        print(f"{objective(row, reference):9.4f}  "
              + "  ".join(f"{mean:15.2f}" for mean in group_means(row).values()) + f"   {name}")
    chosen, left_out = print_left_out(settings, measured, reference, names)
    print(f"\nbest on all scenes: {shown(settings[order[0]])}: {objective(measured[order[0]], reference):.4f}")
    print(f"left out one at a time: {objective(left_out, reference):.4f}")
    print_counts(chosen, names)


if __name__ == "__main__":
    try:
        main()
    except Refused as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("stopped; with --cache, the next run goes on from here")
