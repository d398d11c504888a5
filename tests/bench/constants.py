#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Chooses constants on the scenes of groups.py, leaving one set of scenes out at a time, or judges one setting.

constants.py [--bench PATH] [--reference-bench PATH] [--data FOLDER] [--cache FILE] [--reference "name=value ..."] name=value,value ...

    constants.py --cache scores.json method=sgm fill=background p1=8,10,12 p2=60,80
    constants.py --reference fill=planes fill=planes speckle-size=120

The first line tries all combinations; a parameter with one value is set in all of them. The objective of a setting is the
mean over the sets of its score divided by the reference's: below 1 it is better than the reference, which is the default
with holes filled. For each set the best setting on all other sets is found, and scored on that set: what the choice is
worth on scenes of a kind that it has not seen. Then, as for the one setting of the second line, the best setting is judged
scene by scene. A choice counts where it wins on two thirds of the scenes and the mean of no set becomes worse.
"""
import collections
import itertools
import sys

from groups import MEASURES, SETS, Refused, Scores, group_means, options_of, parser

SHOWN = 5   # best settings
LEAST = 0.01   # percent: a reference without an error has no ratio
EQUAL = 0.005   # percent: a smaller difference is none


def settings_of(words):
    """All combinations of "name=value,value", as dictionaries."""
    names = [word.split("=", 1)[0] for word in words]
    values = [word.split("=", 1)[1].split(",") for word in words]
    return [dict(zip(names, combination)) for combination in itertools.product(*values)]


def objective(scores, reference, scenes=None):
    """The mean over the sets of score / reference."""
    means, references = group_means(scores, scenes, SETS), group_means(reference, scenes, SETS)
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
    """Returns the settings that were chosen, and what they score on the sets that were left out."""
    scenes = [scene for group in SETS for scene in group.scenes]
    chosen, left_out = [], {}
    print(f"\n{'left out':22} {'its score':>9} {'reference':>9}   best setting on the others")
    for group in SETS:
        k = best(measured, reference, [scene for scene in scenes if scene not in group.scenes])
        chosen.append(settings[k])
        left_out.update({scene: measured[k][scene] for scene in group.scenes})
        mean, before = (group_means(scores, group.scenes, SETS)[group.name] for scores in (measured[k], reference))
        print(f"{group.name:22} {mean:9.2f} {before:9.2f}   {shown(settings[k], names)}")
    return chosen, left_out


def print_verdict(scores, reference):
    """Wins and losses of a setting, by sets, and whether it counts."""
    wins, losses, worse, count = 0, 0, [], 0
    print(f"\n{'set':22} {'measure':>7} {'reference':>9} {'setting':>9}  wins  losses  of")
    for group in SETS:
        differences = [scores[scene] - reference[scene] for scene in group.scenes]
        won, lost = (sum(sign * difference > EQUAL for difference in differences) for sign in (-1, 1))
        before, mean = (sum(row[scene] for scene in group.scenes) / len(differences) for row in (reference, scores))
        worse += [group.name] if mean - before > EQUAL else []
        wins, losses, count = wins + won, losses + lost, count + len(differences)
        print(f"{group.name:22} {MEASURES[group.measure]:>7} {before:9.2f} {mean:9.2f}  {won:4}  {lost:6}  {len(differences):2}")
    counts = not worse and 3 * wins >= 2 * count
    print(f"wins on {wins} of {count} scenes, loses on {losses}; worse in the mean: {', '.join(worse) or 'no set'}: "
          + ("it counts" if counts else "it does not count"))


def main():
    options = parser(__doc__)
    options.add_argument("--reference", default="fill=background", help="options (fill=background)")
    options.add_argument("--reference-bench", help="another build of stereo-bench, for the reference")
    options.add_argument("grid", nargs="+", metavar="name=value,value")
    arguments = options.parse_args()
    if not all(word.partition("=")[0] and word.partition("=")[2] for word in arguments.grid):
        options.error("write the grid as name=value,value name=value ...")
    settings = settings_of(arguments.grid)
    names = [name for name in settings[0] if len({setting[name] for setting in settings}) > 1]
    bench, arguments.bench = arguments.bench, arguments.reference_bench or arguments.bench
    reference = Scores(arguments, SETS).of(options_of(arguments.reference))
    arguments.bench = bench
    measured = measure_all(Scores(arguments, SETS), settings)   # reads what the reference has put into the file
    if len(settings) == 1:
        print_verdict(measured[0], reference)
        return

    order = sorted(range(len(settings)), key=lambda k: objective(measured[k], reference))
    print(f"{'objective':>9}  " + "  ".join(f"{group.name:>22}" for group in SETS))
    for name, row in [("reference", reference)] + [(shown(settings[k], names), measured[k]) for k in order[:SHOWN]]:
        print(f"{objective(row, reference):9.4f}  "
              + "  ".join(f"{mean:22.2f}" for mean in group_means(row, None, SETS).values()) + f"   {name}")
    chosen, left_out = print_left_out(settings, measured, reference, names)
    print(f"\nbest on all scenes: {shown(settings[order[0]])}: {objective(measured[order[0]], reference):.4f}")
    print(f"left out one at a time: {objective(left_out, reference):.4f}")
    print_counts(chosen, names)
    print_verdict(measured[order[0]], reference)


if __name__ == "__main__":
    try:
        main()
    except Refused as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("stopped; with --cache, the next run goes on from here")
