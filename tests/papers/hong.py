# SPDX-License-Identifier: LGPL-2.1-or-later
"""Hong et al.: Stereo Matching Performance Analysis of Cost Functions on the GPU."""
from bench import bad, read_mask, read_truth, table

SCENES = {"tsukuba": ("Tsukuba", 16), "venus": ("Venus", 20), "cones": ("Cone", 60)}
COSTS = ("ad", "sd", "sad", "ssd", "nssd", "ncc", "zncc")
# Full matching, milliseconds. The 589 of SAD on Cone in the paper's table 2 is 5895: 3480 + 2210 + 200 + 5.
PRINTED = {
    ("tsukuba", "cpu"): (511, 519, 1061, 1221, 1881, 1791, 2051),
    ("venus", "cpu"): (813, 833, 1893, 1973, 3243, 2993, 3723),
    ("cones", "cpu"): (2625, 2605, 5895, 6095, 9775, 9155, 11515),
    ("tsukuba", "cuda"): (3.25, 3.27, 5.47, 4.83, 5.09, 4.85, 7.14),
    ("venus", "cuda"): (7.58, 7.68, 10.59, 9.82, 10.04, 9.71, 13.10),
    ("cones", "cuda"): (19.59, 19.80, 30.61, 27.04, 28.54, 27.39, 40.07),
}


def options_of(cost, disparities):
    return ["--method", "bm", "--profile", "thesis", "--cost", cost, "--num-disparities", disparities, "--window", 9]


def gpu_work():
    return [(scene, options_of(cost, disparities)) for scene, (_, disparities) in SCENES.items() for cost in COSTS]


def rows_of_times(times, where):
    digits = 2 if where == "GPU" else 1
    return [["", f"ours, {where}, whole frame", *(f"{frame:.{digits}f}" for frame, _ in times)],
            ["", f"ours, {where}, costs and aggregation", *(f"{stages['match']:.{digits}f}" for _, stages in times)]]


def chapter(bench, _plot):
    rows = []
    for scene in bench.has(SCENES):
        name, disparities = SCENES[scene]
        words = [options_of(cost, disparities) for cost in COSTS]
        rows.append([name, "the paper, processor", *PRINTED[scene, "cpu"]])
        times = [bench.times(scene, options) for options in words]
        rows += rows_of_times(times, "processor")
        on_gpu = [bench.gpu(scene, options) for options in words]
        if all(on_gpu):
            rows.append(["", "the paper, GPU", *PRINTED[scene, "cuda"]])
            rows += rows_of_times(on_gpu, "GPU")
            rows.append(["", "speed-up, the paper", *(f"{a / b:.0f}" for a, b in zip(PRINTED[scene, "cpu"], PRINTED[scene, "cuda"]))])
            rows.append(["", "speed-up, ours", *(f"{a[0] / b[0]:.0f}" for a, b in zip(times, on_gpu))])
        truth, mask = read_truth(bench.scene(scene)), read_mask(bench.scene(scene), "nocc")
        rows.append(["", "ours, bad 1, % (not in the paper)", *(
            f"{bad(bench.disparity(scene, options_of(cost, disparities)), truth, mask, 1):.1f}" for cost in COSTS)])
    head = ["Tables 2 and 3, ms", "", *map(str.upper, COSTS)]
    return table(head, rows) + """
The paper's times of the GPU contain allocation and copies, and its processor runs one thread. Ours are without copies, and of two cores
with vector instructions. The paper computes costs, aggregation and the choice of the lowest cost one after the other, with the costs of
all disparities in memory. Here costs and aggregation are one pass. AD and SD are costs of a pixel, the others of a window of 9x9. Its fast ZNCC is not
built: `zncc` here already takes running sums, which is what that one is about. The paper has pictures in place of errors, and says that
ZNCC and NCC look best. The rows of bad pixels tell how far that holds: ZNCC is best but for Tsukuba, where SAD is as good; NCC is not
better than SAD everywhere; and SSD is worse than SAD.
"""
