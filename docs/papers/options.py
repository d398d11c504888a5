# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every system, variant and parameter of the five documents, and the option that gives it here."""
from bench import table

NOT_BUILT = "not built"
HILLERSTROM = (
    ("the whole method with its constants (5.1.3)", "`profile=thesis`"),
    ("rectified pairs; lens distortion and rectification (1.2, 3.1.1: left out there)", "`stereorectify`, with a calibration of OpenCV or ROS"),
    ("positions in space, 3D reconstruction (1.2, 3.1.1: left out there)", "`output=depth`, `stereopoints`"),
    ("pictures for the driver of a logging truck (1.1)", "`depthoverlay`"),
    ("two-pass approximation, full window (3.2.2, 4.2.1)", "`aggregation=two-pass`, `full`"),
    ("Yoon and Kweon's original: full window, CIELAB, SAD (2.4)", "`aggregation=full color-difference=lab cost=sad refine-iterations=0`"),
    ("Kowalczuk and others: census with gradients, IDR, three iterations (2.4, 5.3.2)", "`cost=mixed refine-mode=idr refine-iterations=3`"),
    ("census 7x5 with two pixels left out, census 9x7, SAD as cost; other costs (4.3.4, 6.1.1)",
     "`cost=census-7x5`, `census-9x7`, `sad`; `mixed`, `ad`"),
    ("absolute and squared differences of grey (3.1.3)", "`cost=ad`; `method=bm cost=sd`"),
    ("sums over plain windows (3.1.3)", "`method=bm`"),
    ("rank transform (2.5)", NOT_BUILT + ": named and not used; census keeps more of the window"),
    ("Birchfield and Tomasi's cost (2.2)", NOT_BUILT + ": named as StereoSGBM's; it is not described"),
    ("networks as matching cost (2.3, 4.1)", NOT_BUILT + ": the thesis leaves them out as too slow, and they need training"),
    ("SGM, StereoSGBM to compare with (2.2, 4.1, 5.2.3)", "`method=sgm`; OpenCV's own in figure 5.7"),
    ("window, γ_c and γ_g of the support weights", "`window`, `gamma-color`, `gamma-distance`"),
    ("weights of both views, of one (6.1.2)", "`support=both`, `left`"),
    ("a cost volume for each view, with that view's own weights (6.1.2)", "built, measured and removed: [tried](../development/tried.md#support-weights-colours-and-views)"),
    ("weights shared between layers (6.1.2)", "in the code of the GPU's kernels; no option"),
    ("colour differences in RGB, in CIELAB (4.3.1)", "`color-difference=rgb`, `lab`"),
    ("the lowest cost wins (3.1.4)", "always; `subpixel=off` leaves it a whole number"),
    ("against staircases (3.1.4)", "`subpixel=on`"),
    ("Gaussian blur of the disparity (3.1.4)", NOT_BUILT + ": named as an example; it smears edges. `median=3`, `5`"),
    ("confidence F (3.2.3)", "`confidence-measure=margin`"),
    ("consistency check: views must agree, else confidence 0 (3.2.4)", "`consistency=0`; 1 px may differ by default. `fill=keep` keeps the disparity"),
    ("disparity map of the reference view (3.2.4)", "made for the check, and not given out: swap the views for it"),
    ("refinement: iterations, window, γ_c, γ_g, α",
     "`refine-iterations`, `refine-window`, `refine-gamma-color`, `refine-gamma-distance`, `refine-alpha`"),
    ("refinement: full, two-pass, IDR", "`refine-mode=full`, `two-pass`, `idr`"),
    ("layers of scratch memory (4.3.3)", "`scratch-layers` (CPU; on the GPU the aggregation works in place)"),
    ("costs of 32-bit floating point (4.3.3)", NOT_BUILT + ": costs have 16 bits; figures agree and memory is half"),
    ("simpler weights, SIMD, rolling threads, sizes of thread blocks (4.3.2, 4.4)", "in the code of each backend; no option"),
    ("pictures at half size (5.1.1)", "GStreamer's `videoscale` before the matcher"),
    ("Bad 4.0, timeMP, timeGD (5.1.1, 5.3)", "`--score` of `stereo-bench`; times: this page"),
    ("embedded GPUs (its reference 12)", "`backend=cuda`; not tried on one"),
)
YU = (
    ("ESAW, ESMP", "`method=esaw`, `esmp`"),
    ("iterations T, base b", "`iterations`, `step-base`"),
    ("the largest step, 3^(t - 1)", "`step-base=3`"),
    ("γ_c, γ_p, τ", "`gamma-color`, `gamma-distance`, `truncation`"),
    ("λ, c, η of ESMP", "`cost-scale`, `smoothness`, `smoothness-max`"),
    ("luminance for costs", "always: `cost=ad`"),
    ("min-sum in two sweeps (17 to 21)", "by doubling steps, with the same result; no option"),
    ("taps outside the picture (texture's borders)", "left out, and their weight with them; the paper does not say which value they have"),
    ("candidates outside the right picture", "do not exist here: `fill=background` or `planes` fills what they would have been"),
    ("median of 3x3", "`median=3`"),
    ("RtAW: two passes, the reference view's weights", "`method=asw support=left`; its truncation: " + NOT_BUILT),
    ("AW: full window, both views' weights", "`method=asw aggregation=full support=both`"),
    ("RtAW+MP", NOT_BUILT + ": one line of figure 14; ESMP is what the paper makes of it"),
    ("belief propagation, HBP, dynamic programming, ORDP, WeaklyTex, segmentation, variable windows, Triclops (tables I, IV, V)",
     NOT_BUILT + ": systems of others, of which the paper has numbers alone"),
    ("single-threaded C code", "`backend=cpu threads=1`, `STEREO_CPU=baseline`"),
    ("texture or global memory, coalescing, sizes of thread blocks, kernels put together (IV)", "in the code of the kernels; no option"),
    ("throughput in MDS", "`stereo-bench`: 10⁹ disparities a second"),
)
MAHIEU = (
    ("semi-global matching with absolute differences of grey", "`method=sgm profile=thesis`"),
    ("path costs without the previous pixel's minimum taken off", NOT_BUILT + ": they overflow 16 bits; the choice is the same with Hirschmüller's"),
    ("P1 and P2 of each direction (table 1); one pair for all", "own; `p1`, `p2`"),
    ("P1 and P2 of one's own for each direction", NOT_BUILT + ": one pair for all gains more than table 1 (above)"),
    ("path weights w_r", "`path-weight-vertical`, `path-weight-diagonal`; along rows 1"),
    ("eight directions; four", "`paths=8`, `4`"),
    ("greatest disparity, 64", "`num-disparities`"),
    ("left-right check within some small tolerance; what fails is 0", "`consistency`, `fill=none`"),
    ("the right map by matching once more", NOT_BUILT + ": it is read off the same volume, which saves a second matching"),
    ("median of 3x3", "`median=3`"),
    ("interpolation of what is occluded or mismatched (Hirschmüller 2008, 2.6.2; the paper's future work)",
     "`fill=background`: occluded from the farther neighbour along the row, mismatched as a median of all directions"),
    ("pictures of 450 columns", "GStreamer's `videoscale` before the matcher"),
    ("scanline optimisation, dynamic programming, graph cuts, belief propagation", NOT_BUILT + ": named as what it is not"),
)
GCVL = (
    ("block matching with SAD, SSD", "`method=bm cost=sad`, `ssd`"),
    ("aggregation window, maximum disparity", "`window`, `num-disparities`"),
    ("normalised output", "`disparity-scale`; colours: `depthoverlay`"),
    ("serial, all cores (OpenMP), CUDA", "`backend=cpu threads=1`, `backend=cpu`, `backend=cuda`"),
    ("OpenCL", NOT_BUILT + ": it was as fast as CUDA there; GPUs that are not NVIDIA's are not served"),
    ("choice of the device by number; the best one by itself", "`cuda-device-id`; the driver's first: the best one by itself is not chosen"),
    ("locking of devices among programs", NOT_BUILT + ": the driver shares them"),
    ("modules left out of the build", "`meson setup -Dcuda=disabled`"),
    ("range of a rig from its focal length, distance and pixel size (4.1)", "`output=depth focal-length=… baseline=…`, in pixels and millimetres"),
    ("uncertainty of a range (4.2)", "no output; [units.md](../units.md) has the arithmetic"),
    ("textureless map", "no output: `docs/papers/gcvl.py` draws it. What has no texture gets a low confidence: `confidence-threshold`"),
    ("sparse matching of features", NOT_BUILT + ": named as what it is not"),
    ("several GPUs (5.2)", "a matcher on each: `cuda-device-id`; one frame is not shared"),
    ("other measures of correlation (5.2)", "`cost=ncc`, `zncc`, `nssd`"),
    ("MPI, Boost Compute, Thrust, message passing (5.2)", NOT_BUILT + ": ideas, without an algorithm"),
)
HONG = (
    ("AD, SD, SAD, SSD, NSSD, NCC, ZNCC", "`method=bm cost=ad`, `sd`, `sad`, `ssd`, `nssd`, `ncc`, `zncc`"),
    ("fast ZNCC", "`cost=zncc`: it takes running sums"),
    ("window of costs and of aggregation", "`window`: one for both"),
    ("three kernels, one after the other, with all costs in memory", "cost and aggregation are one pass; no option"),
    ("distance from disparity, D = B f / d (1)", "`output=depth focal-length=… baseline=…`"),
    ("adaptive weights, cross-based windows, ZSAD, rank, census", "`method=asw`; `cost=census-9x7`; the others are named and not described"),
)
ROWS = tuple((name if not k else "", *row) for name, rows in (
    ("Hillerström 2017", HILLERSTROM), ("Yu et al.", YU), ("Mahieu & Lowney", MAHIEU), ("GCVL", GCVL), ("Hong et al.", HONG),
    ("all", (("mutual information", NOT_BUILT + ": the documents name it and do not define it (Mahieu and Lowney, above)"),)))
    for k, row in enumerate(rows))


def chapter(_bench, _plot):
    return table(["document", "what it has", "option"], ROWS)
