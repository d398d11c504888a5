# SPDX-License-Identifier: LGPL-2.1-or-later
"""What Hillerström 2017 leaves open, answered with figures."""
import numpy

from bench import table
from hillerstrom_times import on_gpu

OTHER_COSTS = {cost: ("--cost", cost) for cost in ("census-7x5", "mixed", "ad", "sad")}
BALANCED = ("--profile", "balanced", "--fill", "background", "--consistency", 1)
FULL = ("--search", "full")  # as the product of both views' weights needs it
SUPPORTS = {
    "both views' weights": (),
    "the left view's": ("--support", "left"),
    "balanced, full search, both": (*BALANCED, *FULL, "--support", "both"),
    "balanced, full search, left": (*BALANCED, *FULL),
}
FULL_CENSUS = ("--cost", "census-7x5", "--aggregation", "full", "--refine-iterations", 0)
NOISE = (0, 3, 8)
VIDEO = ("teddy", 60)
FRAMES = ("--frames", 20)
SETTINGS = {
    "`profile=thesis`": ("--profile", "thesis"),
    "`profile=thesis temporal=0.75`": ("--profile", "thesis", "--temporal", 0.75),
    "`profile=balanced fill=background temporal=0`": (*BALANCED, "--temporal", 0),
    "`profile=balanced fill=background`": BALANCED,
}


def supports(errors):
    """Bad 4 of each scene and milliseconds of the first one, by whose weights count."""
    scene, rows, times = errors.scenes[0], [], {}
    for name, options in SUPPORTS.items():
        found = errors.of(options)
        times[name] = errors.bench.times(scene, errors.options(scene, options))[0]
        rows.append([name, *(f"{value:.1f}" for value in found), f"{numpy.mean(found):.1f}", f"{times[name]:.0f}"])
    return table(["6.1.2", *errors.scenes, "mean", f"ms, one thread ({scene})"], rows) + f"""
The thesis multiplies the weights of both views, leaves open whether that is worth it, and proposes two cost volumes, each with its
own view's weights. With the thesis's constants the left view's weights alone have
{numpy.mean(errors.of(SUPPORTS["the left view's"])):.1f} % in place of {errors.mean(()):.1f}.
`profile=balanced` checks what the views say and fills what they disagree about. With it, the left view's weights alone have
{errors.mean(SUPPORTS["balanced, full search, left"]):.1f} % in place of {errors.mean(SUPPORTS["balanced, full search, both"]):.1f}. Two
volumes were no better than the product and took
longer ([tried](../development/tried.md#support-weights-colours-and-views)).
The product takes {times["balanced, full search, both"] / times["balanced, full search, left"]:.1f} times as long as the left view's
weights on the processor. Times of a GPU
are in [benchmarks.md](../benchmarks.md#other-sizes-on-the-gpu) (`support=left` and `support=both`): one view's weights are made once for all
disparities, and products differ from disparity to disparity.

"""


def video(bench):
    """How the result holds on video: a pair that stands still, with noise."""
    scene, disparities = VIDEO
    if not bench.has([scene]):
        return "", {}
    found = {}
    for name, options in SETTINGS.items():
        words = [["--num-disparities", disparities, "--method", "asw", *options, *FRAMES, "--noise", noise] for noise in NOISE]
        found[name] = [[bench.ask(scene, each, f"video {what}") for what in ("bad1", "flicker")] for each in words]
    rows = [[name, *(f"{wrong:.1f} / {flicker:.1f}" for wrong, flicker in each)] for name, each in found.items()]
    return table([f"Video: {scene}, bad 1 / flicker, %", *(f"noise {noise}" for noise in NOISE)], rows) + f"""
Means of frames 10 to 20 of a pair that stands still, with noise of {NOISE[1]} and {NOISE[2]} grey levels (standard deviation, new in each view and
frame). Flicker is the percent of pixels that change by more than 1 px from one frame to the next. The thesis matches each frame by
itself. More scenes and methods, what moves, and cameras that move are in [benchmarks.md](../benchmarks.md#video); what following the motion
would give is in [development/tried.md](../development/tried.md#video).

""", found


def of_today(errors):
    found = on_gpu(errors, "--refine-iterations", 0)
    return f"; the default takes {found[0]:.1f} ms on a GPU of today, without refinement" if found else ""


def windows(mean):
    found = {window: mean(("--window", window, "--refine-iterations", 0)) for window in (9, 17, 25, 33, 49)}
    rest = [error for window, error in found.items() if window > 9]
    return f"from 17 to 49 px {min(rest):.1f} to {max(rest):.1f} %, without refinement; 9 px have {found[9]:.1f} %"


def answers(errors, shown, known):
    """Rows of the table of open questions; numbers are those of the tables above. @known: what other parts of the chapter found."""
    mean = errors.mean
    refined, unrefined, first = mean(()), mean(("--refine-iterations", 0)), mean(("--refine-iterations", 1))
    worse = sum(a > b for a, b in zip(errors.of(("--refine-mode", "idr")), errors.of(())))
    rows = [
        ("What does RGB in place of CIELAB cost? (4.3.1)",
         f"{refined - mean(('--color-difference', 'lab')):.1f} points ({refined:.1f} against {mean(('--color-difference', 'lab')):.1f} %); with γ_c = 160, "
         f"RGB has {mean(('--gamma-color', 160)):.1f} %"),
        ("Which window? (4.3.2)", windows(mean)),
        ("How many layers of scratch memory? (4.3.3, 5.3.3)", known["layers"]),
        ("Is the full window worth it with census? (5.3.1)",
         f"{mean(FULL_CENSUS):.1f} % against {unrefined:.1f} % of two passes, "
         f"and {known['full window']}: {'no' if mean(FULL_CENSUS) >= unrefined - 0.5 else 'that depends on the time'}"),
        ("Is something wrong with IDR? (5.2.2)",
         f"{mean(('--refine-mode', 'idr')):.1f} % against {refined:.1f} % of two passes, worse on {worse} of {len(errors.scenes)} scenes. Its penalty "
         "is not divided by the sum of the weights, so it grows with how many pixels are sure and alike"),
        ("Does a search of parameters close StereoSGBM's gap? (5.2.3)", known["opencv"]),
        ("How many iterations, and which refinement per millisecond? (5.3.2)",
         f"{known['refinement']} wins most in a millisecond; one iteration of two passes wins {unrefined - first:.1f} of the {unrefined - refined:.1f} points of seven"),
        ("Does a cost with gradients explain the distance from Kowalczuk? (6.1.1)",
         f"`mixed` has {mean(('--cost', 'mixed')):.1f} % against {mean(('--cost', 'census-7x5')):.1f} %"),
        ("Do the right view's weights harm? (6.1.2)",
         f"{mean(('--support', 'left')):.1f} % without them, {refined:.1f} % with them"),
        ("Would it help to make weights once for all layers? (6.1.2)",
         "the GPU's kernels make each view's weights once for all disparities" + of_today(errors)),
    ]
    if shown:
        still, averaged = (shown[name][1] for name in list(SETTINGS)[:2])
        rows.append(("How does the result hold on video? (its use is video, 1.1)",
                     f"with noise of {NOISE[1]} grey levels {still[1]:.1f} % of the pixels flicker; averaging over time leaves {averaged[1]:.1f} %, and "
                     f"{averaged[0]:.1f} % wrong in place of {still[0]:.1f}"))
    return table(["what the thesis leaves open", "answer (bad 4, means of the scenes above)"], rows)


def chapter(errors, comparison, known):
    text = comparison(errors, "6.1.1", OTHER_COSTS) + """
The thesis supposes that Kowalczuk and others (it spells the name Kowalczyk) owe their better figures to a cost of census and gradients. `mixed` is census 7x5 with
differences of colour and of gradients, `ad` the difference of a pixel's luma, `sad` that of its colours; all with the thesis's constants.

""" + supports(errors)
    words, shown = video(errors.bench)
    return text + words + answers(errors, shown, known)
