# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hillerström 2017: GPU-Accelerated Real-Time Stereo Matching."""
import itertools

import numpy

import hillerstrom_questions as questions
import hillerstrom_times as times
from bench import table
from hillerstrom_times import BASE, ITERATIONS, REFINEMENTS, SCENES, VERSIONS

WINDOWS = (9, 17, 25, 33, 49)
REFINE_WINDOWS = (9, 17, 33, 65, 97)
PICTURED = "motorcycle"  # in the place of Adirondack
LIMIT = 1  # px at quarter size: 4 px at full size, where the thesis counts


class Errors:
    def __init__(self, bench):
        self.bench, self.scenes = bench, bench.has(SCENES)

    @staticmethod
    def options(name, options):
        return ["--num-disparities", SCENES[name], *BASE, *options]

    def of(self, options, region="nocc"):
        """Bad 4 of each scene, where both views see. @region: a word, or a function of the scene that makes it."""
        return [self.bench.bad(name, self.options(name, options), LIMIT, region(name) if callable(region) else region)
                for name in self.scenes]

    def mean(self, options):
        return float(numpy.mean(self.of(options)))

    def disparity(self, name, options=()):
        return self.bench.disparity(name, self.options(name, options))


def better(ours, others, margin=0.25):
    """In words, on how many scenes the first is better, and on how many the second."""
    wins, losses = (sum(a < b - margin for a, b in pairs) for pairs in (list(zip(ours, others)), list(zip(others, ours))))
    return wins, losses, len(ours) - wins - losses


def row_of(name, found):
    return [name, *(f"{value:.1f}" for value in found), f"{numpy.mean(found):.1f}"]


def comparison(errors, title, versions, more=()):
    return table([title, *errors.scenes, "mean"], [row_of(name, errors.of([*options, *more])) for name, options in versions.items()])


def figure(errors, plot, number, versions, more=()):
    """Table and bars of figures 5.2 and 5.4."""
    picture = plot.bars(f"hillerstrom-{number}", errors.scenes, {name: errors.of([*options, *more])
                                                                 for name, options in versions.items()}, "bad 4, %")
    return comparison(errors, f"Figure {number}", versions, more) + "\n" + picture


def maps(errors, plot, number, versions, more=()):
    """Disparity maps of one scene: figures 5.3 and 5.6."""
    panels = [(name, errors.disparity(PICTURED, [*options, *more])) for name, options in versions.items()]
    rows = [panels[k:k + 2] for k in range(0, len(panels), 2)]
    return plot.maps(f"hillerstrom-{number}", rows, f"{PICTURED}: " + ", ".join(versions), SCENES[PICTURED])


def line(errors, plot, name, label, values, option, more=()):
    found = [errors.mean([option, value, *more]) for value in values]
    axes = plot.axes(label, "bad 4, mean, %")
    axes.plot(values, found, "o-")
    plot.from_zero(axes)
    return ", ".join(f"{value:.2f} % ({n})" for n, value in zip(values, found)), plot.save(name, axes)


# ---- StereoSGBM ----------------------------------------------------------------------------------------------------------------

PLAIN = (3, 32, 10)  # block, P2 in channels and pixels of a block, uniqueness
SEARCHED = tuple(itertools.product((3, 5, 7), (16, 32, 64, 128), (0, 10)))


def first_column(name):
    """StereoSGBM takes multiples of 16 disparities, and finds nothing for as many columns at the left."""
    return -(-SCENES[name] // 16) * 16


def of_opencv(errors, setting):
    """[(bad 4, bad 4 of what has a value)] of each scene."""
    return [[errors.bench.bad(name, ["opencv", first_column(name), *setting], LIMIT, f"{kept}in {first_column(name)}")
             for kept in ("", "kept ")] for name in errors.scenes]


def answer(rows, best, scenes):
    """Of the question whether a search closes StereoSGBM's gap."""
    means = [numpy.mean(rows[name]) for name in ("ours", best)]
    others = [numpy.mean([value for value, scene in zip(rows[name], scenes) if scene != "playtable"]) for name in ("ours", best)]
    return (f"{means[1]:.1f} % against ours, {means[0]:.1f} %, of all scenes; {others[1]:.1f} % against {others[0]:.1f} % without playtable, "
            "whose rectification is imperfect")


def counted(errors, name, options):
    """Where figure 5.7 counts a pixel as wrong."""
    off = errors.bench.off(name, options, LIMIT).copy()
    off[:, :first_column(name)] = False
    return off


def figure_5_8(errors, plot):
    panels = []
    for name in errors.scenes:
        kinds = (("ours", errors.options(name, ())), ("StereoSGBM", ["opencv", first_column(name), *PLAIN]))
        panels.append([panel for who, options in kinds for panel in (
            (f"{name}, {who}", errors.bench.disparity(name, options)), ("counted as wrong", counted(errors, name, options)))])
    words = "Disparity maps, and where they are off by more than 1 px or have no value: ours, and those of StereoSGBM"
    return plot.maps("hillerstrom-5.8", panels, words, [SCENES[name] for name in errors.scenes])


def against_opencv(errors, plot):
    """The answer to an open question; figures 5.7 and 5.8."""
    ours = errors.of((), lambda name: f"in {first_column(name)}")
    searched = {setting: of_opencv(errors, setting) for setting in SEARCHED}
    best = min(searched, key=lambda setting: numpy.mean([every for every, _ in searched[setting]]))
    rows, many = {"ours": ours}, f"StereoSGBM, best of {len(SEARCHED)}"
    for words, setting in (("StereoSGBM", PLAIN), (many, best)):
        rows[words], rows[words + ", of what has a value"] = map(list, zip(*searched[setting]))
    text = table(["Figure 5.7", *errors.scenes, "mean"], [row_of(name, found) for name, found in rows.items()])
    bars = plot.bars("hillerstrom-5.7", errors.scenes, {name: rows[name] for name in list(rows)[:2]}, "bad 4, %")
    block, penalty, unique = best
    wins, losses, _ = better(ours, rows["StereoSGBM"], 0)
    kept = sum(a < b for a, b in zip(rows["StereoSGBM, of what has a value"], ours))
    return answer(rows, many, errors.scenes), text + "\n" + bars + f"""
Figure 5.7 has the errors of the thesis's default and of OpenCV's StereoSGBM in eight directions, without the columns at the left for
which StereoSGBM finds
nothing.
The thesis takes the parameters of Middlebury's page, which are not printed, and finds its own maps better on all pictures. Ours are
better on {wins} of {len(ours)} scenes, StereoSGBM's on {losses}. What StereoSGBM leaves out counts as wrong in the rows
that do not say otherwise; what it finds is better than ours on {kept} scenes. The thesis says that a search of StereoSGBM's
parameters may close the gap. The last rows are the best of {len(SEARCHED)} settings (`blockSize` {block}, `P2` {penalty} · 3 · {block}²,
`P1` a quarter of it, `uniquenessRatio`
{unique}; chosen on these scenes).

**Figure 5.8**: the same maps; those of a scene have one scale. The thesis shows the truth beside them, which is Middlebury's. Here errors
are shown: black is what
figure 5.7 counts as wrong, which is off or has no value (grey in the map). It counts neither the columns at the left nor what only one view sees.

""" + figure_5_8(errors, plot) + "\n"


# ---- the chapter ---------------------------------------------------------------------------------------------------------------

MORE_VERSIONS = {"nonApproxCensus7x5 (ours)": ("--cost", "census-7x5", "--aggregation", "full")}
COLORS = {
    "RGB": (),
    "RGB, γ_c = 160": ("--gamma-color", 160),
    "CIELAB": ("--color-difference", "lab"),
}
UNREFINED = ("--refine-iterations", 0)


def claims_of_aggregation(errors):
    full, sad, census, large = (errors.of([*VERSIONS[name], *UNREFINED]) for name in VERSIONS)
    apart = max(abs(a - b) for a, b in zip(full, sad))
    sizes = max(abs(a - b) for a, b in zip(census, large))
    wins, losses, _ = better(census, sad)
    worse = [scene for scene, a, b in zip(errors.scenes, census, sad) if a > b]
    whole = errors.of([*MORE_VERSIONS["nonApproxCensus7x5 (ours)"], *UNREFINED])
    means = [float(numpy.mean(found)) for found in (full, sad, census, large, whole)]
    return f"""
The thesis makes three claims (5.2.1). Two passes are about as good as the full window: here {means[1]:.1f} and {means[0]:.1f} %, and at
most {apart:.1f} points apart.
Census is far better than SAD on most pictures: here {means[2]:.1f} against {means[1]:.1f} %, better on {wins} of {len(sad)}
scenes{', and worse on ' + ' and '.join(worse) if losses else ''}.
7x5 is about as good as 9x7 on most: here {means[2]:.1f} and {means[3]:.1f} %, and at most {sizes:.1f} points apart. The full window with
census, which the thesis does not
have, has {means[4]:.1f} %: {"no better than" if means[4] >= means[2] else "better than"} two passes.
"""


def claims_of_refinement(errors):
    none, _, two, idr = (errors.of(options) for options in REFINEMENTS.values())
    wins, losses, same = better(two, none)
    against, better_idr, same_idr = better(two, idr)
    return f"""
The thesis claims that refinement improves all pictures, some hardly, and that IDR is worse than the others. Here seven iterations improve
{wins} of {len(none)} scenes, {same} hardly change, and {losses} get worse; the mean gains {numpy.mean(none) - numpy.mean(two):.1f}
points. IDR is worse than two passes on
{against} scenes, about equal on {same_idr}, and better on {better_idr}. The thesis suspects that something is wrong with
it{": so it seems here" if against > len(none) / 2 else ""}.

"""


def quality(errors, plot):
    text = figure(errors, plot, "5.2", {**VERSIONS, **MORE_VERSIONS}, UNREFINED) + claims_of_aggregation(errors) + """
**Figure 5.3**: disparity maps of the same. The thesis shows Adirondack.

""" + maps(errors, plot, "5.3", VERSIONS, UNREFINED) + "\n"
    text += figure(errors, plot, "5.4", REFINEMENTS) + claims_of_refinement(errors)
    found, picture = line(errors, plot, "hillerstrom-iterations", "iterations of refinement", ITERATIONS, "--refine-iterations")
    text += f"**Figure 5.5**: the thesis claims that few iterations are enough. Ours: {found}.\n\n{picture}\n"
    outliers = [errors.bench.bad(PICTURED, errors.options(PICTURED, REFINEMENTS[name]), 4) for name in ("noRefinement", "twoPassApprox")]
    text += (f"**Figure 5.6**: disparity maps after refinement. The thesis says that it removes outliers: {outliers[0]:.2f} % of the pixels are off by more than "
             f"4 px of these pictures before, {outliers[1]:.2f} % after two passes.\n\n")
    text += maps(errors, plot, "5.6", REFINEMENTS) + "\n"
    found, picture = line(errors, plot, "hillerstrom-windows", "window of aggregation, px", WINDOWS, "--window", UNREFINED)
    text += (f"**Window size** (4.3.2): the thesis takes 33 and 65 without a test, because Yoon and Kweon found the window to matter little. "
             f"Aggregation, without refinement: {found}.\n\n{picture}\n")
    found, picture = line(errors, plot, "hillerstrom-refine-windows", "window of refinement, px", REFINE_WINDOWS, "--refine-window")
    return text + f"Refinement, seven iterations: {found}.\n\n{picture}\n"


def chapter(bench, plot):
    errors = Errors(bench)
    if PICTURED not in errors.scenes:
        return f"The scene {PICTURED} is not there.\n"
    text = f"""Bad 4, percent, where both views see. The thesis has six scenes of Middlebury 2014 (Adirondack, Classroom, Jadeplant,
Motorcycle, Piano, Playtable), perfectly rectified (figure 5.1), matches them at half size, makes the map larger and counts what is off by
more than 4 px at full
size (5.1.1). It shows its results as bars without numbers. Ours are {', '.join(errors.scenes)}, of the same set. They have a quarter of
the full size, where 4 px
are 1 px: what is off by more than **1 px** counts. Chapters 1 to 4 have drawings that explain, and no results. Playtable is the version
whose rectification is imperfect. The left-right check is the
thesis's: the views must agree exactly (3.2.4; `consistency=0`, which `profile=thesis` sets).

""" + quality(errors, plot)
    opencv, words = against_opencv(errors, plot)
    timed, known = times.chapter(errors, plot)
    text += words + timed
    return text + comparison(errors, "4.3.1", COLORS) + """
The thesis takes differences of RGB in place of CIELAB, and does not know what that costs. The second row is there because the default of
γ_c with CIELAB (a fifth of that of RGB) is the best of a scan, and that of RGB is the thesis's.

""" + questions.chapter(errors, comparison, {"opencv": opencv, **known})
