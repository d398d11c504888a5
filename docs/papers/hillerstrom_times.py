# SPDX-License-Identifier: LGPL-2.1-or-later
"""The performance of Hillerström 2017: figures 5.9 to 5.13."""
import os

import numpy

from bench import table

SCENES = {"motorcycle": 70, "piano": 64, "playtable": 80, "recycle": 64, "vintage": 176}
# gammas of SAD: the thesis gives one pair for census; with SAD its costs are of colours too
VERSIONS = {
    "nonApproxSAD": ("--cost", "sad", "--aggregation", "full"),
    "twoPassSAD": ("--cost", "sad"),
    "twoPassCensus7x5": ("--cost", "census-7x5"),
    "twoPassCensus9x7": ("--cost", "census-9x7"),
}
REFINEMENTS = {
    "noRefinement": ("--refine-iterations", 0),
    "nonApprox": ("--refine-mode", "full"),
    "twoPassApprox": (),
    "twoPassApproxIDR": ("--refine-mode", "idr"),
}
ITERATIONS = (0, 1, 2, 3, 5, 7)
LAYERS = (16, 32, 48, 64, 80)
LEVELS = ("baseline", "avx2", "")  # values of STEREO_CPU; the last is the best that the processor has
BASE = ("--method", "asw", "--profile", "thesis")
AVERAGE = ("1408x965", "--num-disparities", 320)  # size and disparities of the thesis's pictures
# 5.3.1 says how fast the default is, and 5.3.2 what an iteration of its refinement takes; all else are bars without numbers
PRINTED_AGGREGATION, PRINTED_ITERATION = 181, 21.2


def timed(*options):
    """Name and options of what is timed on a GPU."""
    return AVERAGE[0], [*AVERAGE[1:], *BASE, *options]


def gpu_work():
    return ([timed(*options, "--refine-iterations", 0) for options in VERSIONS.values()] +
            [timed(*options) for options in REFINEMENTS.values()] +
            [timed("--refine-iterations", n) for n in ITERATIONS[1:-1]])


def normalised(frame):
    """timeMP and timeGD of a frame of the average size, in words."""
    megapixels = numpy.prod([int(side) for side in AVERAGE[0].split("x")]) / 1e6
    return [f"{frame / 1000 / megapixels:.4f}", f"{frame / megapixels / AVERAGE[2]:.4f}"]


def on_processor(errors, options, scene, runs=5):
    """Milliseconds of a frame of the first scene."""
    return errors.bench.times(scene, ["--num-disparities", SCENES[scene], *BASE, *options], runs)[0]


def aggregation(errors, plot):
    """Figures 5.9 and 5.10."""
    bench, rows, bars, scene = errors.bench, [], {}, errors.scenes[0]
    for name, options in VERSIONS.items():
        frame, stages = bench.gpu(*timed(*options, "--refine-iterations", 0))
        full = "full" in options
        own = on_processor(errors, [*options, "--refine-iterations", 0], scene, 1 if full else 5)
        rows.append([name, f"{frame:.1f}", f"{stages['match']:.1f}", *normalised(frame), f"{own:.0f}"])
        bars[name] = frame
    picture = plot.bars("hillerstrom-5.9", list(bars), {"ours, GPU": list(bars.values()), "the paper (GTX 1080)":
                                                        [PRINTED_AGGREGATION if "7x5" in name else None for name in bars]},
                        "ms a frame", True)
    head = ["Figures 5.9, 5.10", "ms a frame", "of them aggregation", "timeMP, s", "timeGD, s", f"ms, one thread ({scene})"]
    return table(head, rows) + "\n" + picture + f"""
A made pair of the average size and range of the thesis's pictures, {AVERAGE[0]} with {AVERAGE[2]} disparities; medians of frames whose
views are on the GPU. The thesis's default, twoPassCensus7x5, took about {PRINTED_AGGREGATION} ms on an NVIDIA GTX 1080; it is the one bar
with a number. That two passes are far faster than the full window (5.3.1) holds on both processors. The last column is {scene} with
{SCENES[scene]} disparities. Census costs the thesis time that 7x5 wins back in part; here neither costs much.

"""


def ladder(errors):
    """In the place of the optimisations of figure 5.9."""
    scene, found, kept = errors.scenes[0], {}, os.environ.get("STEREO_CPU")
    for level in LEVELS:
        os.environ["STEREO_CPU"] = level
        found[level or "AVX-512"] = on_processor(errors, ("--refine-iterations", 0), scene)
    os.environ.pop("STEREO_CPU")
    if kept is not None:
        os.environ["STEREO_CPU"] = kept
    best = list(found.values())[-1]
    return f"""**Optimisations** (4.4; the other bars of figures 5.9 and 5.10): the thesis wins about half of the time with simpler weights, byte
instructions and rolling threads, one after the other. The kernels here have all three from the start, and no switch that turns one
off. What can be turned off are the processor's vector instructions, `STEREO_CPU`: twoPassCensus7x5 on {scene} takes one thread """ + ", ".join(
        f"{time:.0f} ms with {'plain C' if level == 'baseline' else level.replace('avx2', 'AVX2')} ({time / best:.1f} times)"
        for level, time in found.items()) + ".\n\n"


def refinement(errors, plot):
    """Figures 5.11 and 5.12, and which refinement is worth its time."""
    bench = errors.bench
    none, best = bench.gpu(*timed("--refine-iterations", 0))[0], errors.mean(("--refine-iterations", 0))
    rows, line = [], [none]
    for name, options in {**REFINEMENTS, **{f"twoPassApprox, {n}": ("--refine-iterations", n) for n in ITERATIONS[1:-1]}}.items():
        frame = bench.gpu(*timed(*options))[0]
        more, error = frame - none, errors.mean(options)
        gain = f"{(best - error) / more:.2f}" if more > 0.01 else ""
        rows.append([name, f"{frame:.2f}", f"{max(more, 0):.2f}", *normalised(frame), f"{error:.1f}", gain])
    line += [bench.gpu(*timed("--refine-iterations", n))[0] for n in ITERATIONS[1:-1]] + [bench.gpu(*timed())[0]]
    axes = plot.axes("iterations of refinement", "ms a frame")
    axes.plot(ITERATIONS, line, "o-", label="twoPassApprox, GPU")
    axes.set_ylim(bottom=0)
    each = (line[-1] - none) / ITERATIONS[-1]
    head = ["Figures 5.11, 5.12", "ms a frame", "of them refinement", "timeMP, s", "timeGD, s", "bad 4, mean, %", "points won a ms"]
    return table(head, rows) + f"""
Seven iterations unless said. An iteration takes {each:.2f} ms; the thesis's took {PRINTED_ITERATION} ms, and were not optimised. The time grows
linearly with the iterations, as it does there. Which refinement is best per millisecond, the thesis leaves open (5.3.2): two passes, and
few iterations of them.

""" + plot.save("hillerstrom-5.11", axes) + "\n"


def layers(errors, plot):
    """Figure 5.13: time against layers of scratch memory, on the processor."""
    scene, found, memory = errors.scenes[0], [], []
    for n in LAYERS:
        options = ["--refine-iterations", 0, "--scratch-layers", n]
        found.append(on_processor(errors, options, scene))
        memory.append(errors.bench.memory(scene, ["--num-disparities", SCENES[scene], *BASE, *options]))
    axes = plot.axes("layers of scratch memory", "ms a frame")
    axes.plot(LAYERS, found, "o-", label=f"{scene}, {SCENES[scene]} disparities, one thread")
    axes.set_ylim(bottom=0)
    width, height = map(int, AVERAGE[0].split("x"))
    layer = width * height / 2 ** 20
    return f"""**Figure 5.13**: the thesis finds twelve layers of scratch memory to be enough. Here they come by 16, and on the processor alone: the
GPU's kernels work in place. {scene.capitalize()} with {SCENES[scene]} disparities, one thread: """ + ", ".join(
        f"{time:.0f} ms and {mib:.0f} MiB ({n})" for n, time, mib in zip(LAYERS, found, memory)) + f""".

{plot.save("hillerstrom-5.13", axes)}
**Memory** (4.3.3, 5.3.3): a cost takes four bytes in the thesis and two here. A layer of {AVERAGE[0]} pixels takes {4 * layer:.2f} MiB there (printed:
5.18) and {2 * layer:.2f} here, the volume of 320 disparities {4 * 320 * layer / 1024:.2f} GiB (printed: 1.66) and {2 * 320 * layer / 1024:.2f}, and that of 1920x1080 with
300 disparities {4 * 300 * 1920 * 1080 / 2 ** 30:.2f} GiB (printed: 2.32) and {2 * 300 * 1920 * 1080 / 2 ** 30:.2f}.

"""


def chapter(errors, plot):
    if not all(errors.bench.gpu(*work) for work in gpu_work()):
        return ladder(errors) + layers(errors, plot)
    return aggregation(errors, plot) + ladder(errors) + refinement(errors, plot) + layers(errors, plot)
