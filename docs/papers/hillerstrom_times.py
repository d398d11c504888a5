# SPDX-License-Identifier: LGPL-2.1-or-later
"""The performance of Hillerström 2017: figures 5.9 to 5.13."""
import os

import numpy

from bench import change, table

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
# 6.3 says how fast the default is, and 5.3.2 what an iteration of its refinement takes; all else are bars without numbers
PRINTED_AGGREGATION, PRINTED_ITERATION = 181, 21.2
ABLATION = os.path.join(os.path.dirname(os.path.abspath(__file__)), "listing2.txt")


def on_gpu(errors, *options):
    """None: there is no GPU."""
    return errors.bench.gpu(AVERAGE[0], [*AVERAGE[1:], *BASE, *options])


def normalised(frame):
    """timeMP and timeGD of a frame of the average size, in words."""
    megapixels = numpy.prod([int(side) for side in AVERAGE[0].split("x")]) / 1e6
    return [f"{frame / 1000 / megapixels:.4f}", f"{frame / megapixels / AVERAGE[2]:.4f}"]


def on_processor(errors, options, scene, level=""):
    """Milliseconds of a frame of a scene, of one thread."""
    return errors.bench.times(scene, errors.options(scene, options), level=level)[0]


def aggregation(errors, plot):
    """Figures 5.9 and 5.10."""
    rows, bars, scene = [], {}, errors.scenes[0]
    for name, options in VERSIONS.items():
        found = on_gpu(errors, *options, "--refine-iterations", 0)
        own = on_processor(errors, [*options, "--refine-iterations", 0], scene)
        rows.append([name, *([f"{found[0]:.1f}", f"{found[1]['match']:.1f}", *normalised(found[0])] if found else [""] * 4), f"{own:.0f}"])
        bars[name] = found[0] if found else None
    words = ""
    if all(bars.values()):
        own = {name: float(row[-1]) for name, row in zip(bars, rows)}
        more = [f"{change(bars[name], bars['twoPassSAD'])} on the GPU and {change(own[name], own['twoPassSAD'])} on the processor"
                for name in ("twoPassCensus7x5", "twoPassCensus9x7")]
        words = f"""
nonApproxSAD takes {bars["nonApproxSAD"] / bars["twoPassSAD"]:.0f} times as long as twoPassSAD on the GPU, and
{own["nonApproxSAD"] / own["twoPassSAD"]:.0f} times on the processor. But that compares a plain
kernel with tuned ones, here as in the thesis, which says so of its own (5.3.1): two passes take matrix instructions on the GPU, the full window does
not. The thesis says that census costs time, and that 7x5 wins part of it back. Against SAD, 7x5
changes the time by {more[0]}, 9x7 by {more[1]}."""
    picture = plot.bars("hillerstrom-5.9", list(bars), {"the paper (GTX 1080)": [PRINTED_AGGREGATION if "7x5" in name else None for name in bars],
                                                        f"ours ({errors.bench.machine('GPU')})": list(bars.values())},
                        "ms a frame", True) if any(bars.values()) else ""
    head = ["Figures 5.9, 5.10", "ms a frame, GPU", "of them aggregation", "timeMP, s", "timeGD, s", f"ms, one thread ({scene})"]
    return table(head, rows) + "\n" + picture + f"""
GPU: a made pair of the average size and range of the thesis's pictures, {AVERAGE[0]} with {AVERAGE[2]} disparities. The thesis's default,
twoPassCensus7x5, took about {PRINTED_AGGREGATION} ms on an NVIDIA GTX 1080 (6.3); it is the one bar with a number. The last column is {scene} with
{SCENES[scene]} disparities on the processor.{words}

"""


def words_of_ablation(lines):
    """@lines: the table that listing2.cu prints."""
    naive, expression, simd, rolling = [float(line.split("|")[4]) for line in lines if line.startswith("| twoPassSAD")]
    steps = zip(("simpler weights", "byte instructions", "rolling threads"), (naive, expression, simd), (expression, simd, rolling))
    return ("The time changes by " + ", ".join(f"{change(after, before)} with {name}" for name, before, after in steps)
            + f", and by {change(rolling, naive)} with all three.\n\n")


def full_window(errors):
    """How much longer than two passes it takes, in words."""
    one, two = (on_processor(errors, [*VERSIONS[name], "--refine-iterations", 0], errors.scenes[0]) for name in ("nonApproxSAD", "twoPassSAD"))
    return f"with SAD it takes {one / two:.0f} times as long as two passes on the processor"


def ladder(errors):
    """The optimisations of figure 5.9."""
    scene = errors.scenes[0]
    found = {level or "best": on_processor(errors, ("--refine-iterations", 0), scene, level) for level in LEVELS}
    text = ""
    if os.path.exists(ABLATION):
        with open(ABLATION, encoding="utf-8") as file:
            lines = [line.rstrip("\n") for line in file if not line.startswith("#")]
        text = "\n".join(lines).strip() + "\n\n" + words_of_ablation(lines)
    return f"""**Optimisations** (4.4; the other bars of figures 5.9 and 5.10): the thesis wins about 50 % (6.1.1) with simpler weights, byte
instructions and rolling threads, one after the other. The kernels of the plugin have all three from the start, and no switch that turns one
off. `listing2.cu` beside this page has the thesis's listing 2 in these four variants; `nvcc -O3 -arch=native listing2.cu && ./a.out >
listing2.txt` makes
the table.

{text}On the processor, what can be turned off are its vector instructions, `STEREO_CPU`: twoPassCensus7x5 on {scene} takes one thread """ + ", ".join(
        f"{time:.0f} ms with {words} ({time / found['best']:.1f} times)"
        for words, time in zip(("plain C", "AVX2", "the best that it has"), found.values())) + ".\n\n"


def best_of(rows):
    """The row of figures 5.11 and 5.12 that wins most in a millisecond, in words."""
    name = max((row for row in rows if row[-1]), key=lambda row: float(row[-1]), default=rows[0])[0]
    return f"{name.split(',')[0]} with {name.split(',')[1].strip() if ',' in name else ITERATIONS[-1]} iterations"


def refinement(errors, plot):
    """Figures 5.11 and 5.12; and which refinement is worth its time, in words."""
    if not on_gpu(errors):
        return "", "no GPU"
    none, best = on_gpu(errors, "--refine-iterations", 0)[0], errors.mean(("--refine-iterations", 0))
    rows = []
    for name, options in {**REFINEMENTS, **{f"twoPassApprox, {n}": ("--refine-iterations", n) for n in ITERATIONS[1:-1]}}.items():
        frame = on_gpu(errors, *options)[0]
        more, error = frame - none, errors.mean(options)
        gain = f"{(best - error) / more:.2f}" if more > 0.01 else ""
        rows.append([name, f"{frame:.2f}", f"{max(more, 0):.2f}", *normalised(frame), f"{error:.1f}", gain])
    line = [none] + [on_gpu(errors, "--refine-iterations", n)[0] for n in ITERATIONS[1:-1]] + [on_gpu(errors)[0]]
    axes = plot.axes("iterations of refinement", "ms more than without")
    axes.plot(ITERATIONS, [time - none for time in line], "o-", label=f"ours ({errors.bench.machine('GPU')})")
    plot.printed(axes, ITERATIONS, [PRINTED_ITERATION * n for n in ITERATIONS], "the paper (GTX 1080), 21.2 ms each")
    axes.set_yscale("symlog", linthresh=0.1)
    each = (line[-1] - none) / ITERATIONS[-1]
    steps = [(after - before) / (n - m) for before, after, m, n in zip(line, line[1:], ITERATIONS, ITERATIONS[1:])]
    head = ["Figures 5.11, 5.12", "ms a frame", "of them refinement", "timeMP, s", "timeGD, s", "bad 4, mean, %", "points won a ms"]
    return table(head, rows) + f"""
Seven iterations unless said. An iteration takes {each:.2f} ms; the thesis's took {PRINTED_ITERATION} ms (5.3.2), and were not optimised.
The thesis's time grows
linearly; here the first iteration takes {steps[0]:.2f} ms, each of the others {min(steps[1:]):.2f} to {max(steps[1:]):.2f}. Which
refinement is best per millisecond, the thesis leaves open
(5.3.2): here {best_of(rows)}. Full windows and IDR are plain kernels, two passes tuned ones.

""" + plot.save("hillerstrom-5.11", axes) + "\n", best_of(rows)


def layers(errors, plot):
    """Figure 5.13: time against layers of scratch memory, on the processor; and how many are best, in words."""
    scene, found, memory = errors.scenes[0], [], []
    for n in LAYERS:
        options = ["--refine-iterations", 0, "--scratch-layers", n]
        found.append(on_processor(errors, options, scene))
        memory.append(errors.bench.ask(scene, errors.options(scene, options), "memory"))
    axes = plot.axes("layers of scratch memory", "ms a frame")
    axes.plot(LAYERS, found, "o-", label=f"ours: {scene}, {SCENES[scene]} disparities, one thread")
    axes.axvline(12, color="0.5", linestyle=":", label="the paper: enough from 12 on")
    plot.from_zero(axes)
    width, height = map(int, AVERAGE[0].split("x"))
    layer = width * height / 2 ** 20
    return f"""**Figure 5.13**: the thesis finds twelve layers of scratch memory to be enough. Here their number is a multiple of 16, and only the
processor has them: the GPU's kernels work in place. {scene.capitalize()} with {SCENES[scene]} disparities, one thread: """ + ", ".join(
        f"{time:.0f} ms and {mib:.0f} MiB ({n})" for n, time, mib in zip(LAYERS, found, memory)) + f""".

{plot.save("hillerstrom-5.13", axes)}
**Memory** (4.3.3, 5.3.3): a cost takes four bytes in the thesis and two here. A layer of {AVERAGE[0]} pixels takes {4 * layer:.2f} MiB
there (printed:
5.18) and {2 * layer:.2f} here, the volume of 320 disparities {4 * 320 * layer / 1024:.2f} GiB (printed: 1.66) and
{2 * 320 * layer / 1024:.2f}, and that of 1920x1080 with
300 disparities {4 * 300 * 1920 * 1080 / 2 ** 30:.2f} GiB (printed: 2.32) and {2 * 300 * 1920 * 1080 / 2 ** 30:.2f}.

""", f"from {LAYERS[0]} to {LAYERS[-1]} the time changes by {change(found[-1], found[0])}, the memory by {memory[-1] - memory[0]:+.0f} MiB (figure 5.13)"


def chapter(errors, plot):
    """The text, and {question: answer} of what the thesis leaves open."""
    (refined, best), (layered, most) = refinement(errors, plot), layers(errors, plot)
    return aggregation(errors, plot) + ladder(errors) + refined + layered, {"refinement": best, "layers": most, "full window": full_window(errors)}
