# SPDX-License-Identifier: LGPL-2.1-or-later
"""Every system, variant and parameter of the five documents, and the option that gives it here."""
from bench import table

NOT_BUILT = "not built"
ROWS = (
    ("Hillerström 2017", "the whole method with its constants (5.1.3)", "`profile=thesis`"),
    ("", "two-pass approximation, full window (4.2.1)", "`aggregation=two-pass`, `full`"),
    ("", "census 7x5, census 9x7, SAD as cost; other costs (6.1.1)", "`cost=census-7x5`, `census-9x7`, `sad`; `mixed`, `ad`"),
    ("", "window, γ_c and γ_g of the support weights", "`window`, `gamma-color`, `gamma-distance`"),
    ("", "weights of both views, of one (6.1.2)", "`support=both`, `left`"),
    ("", "a cost volume for each view, with that view's own weights (6.1.2)", "`support=own`"),
    ("", "colour differences in RGB, in CIELAB (4.3.1)", "`color-difference=rgb`, `lab`"),
    ("", "confidence F (3.2.2)", "`confidence-measure=margin`"),
    ("", "consistency check", "`consistency`"),
    ("", "refinement: iterations, window, γ_c, γ_g, α",
     "`refine-iterations`, `refine-window`, `refine-gamma-color`, `refine-gamma-distance`, `refine-alpha`"),
    ("", "refinement: full, two-pass, IDR", "`refine-mode=full`, `two-pass`, `idr`"),
    ("", "layers of scratch memory (4.3.3)", "`scratch-layers` (CPU; on the GPU the aggregation works in place)"),
    ("", "rolling threads, SIMD (4.4)", "in the code of each backend; no option"),
    ("Yu et al.", "ESAW, ESMP", "`method=esaw`, `esmp`"),
    ("", "iterations T, base b", "`iterations`, `step-base`"),
    ("", "γ_c, γ_p, τ", "`gamma-color`, `gamma-distance`, `truncation`"),
    ("", "λ, c, η of ESMP", "`cost-scale`, `smoothness`, `smoothness-max`"),
    ("Mahieu & Lowney", "semi-global matching with absolute differences", "`method=sgm profile=thesis`"),
    ("", "P1 and P2 of each direction (table 1); one pair for all", "own; `p1`, `p2`"),
    ("", "path weights w_r", "`path-weight-vertical`, `path-weight-diagonal`; along rows 1"),
    ("", "left-right check, median of 3x3", "`consistency`, `median=3`"),
    ("", "interpolation of what is occluded or mismatched (Hirschmüller 2008, 2.6.2; the paper's future work)",
     "`fill=background`: occluded from the farther neighbour along the row, mismatched as a median of all directions"),
    ("", "eight directions; four", "`paths=8`, `4`"),
    ("GCVL", "block matching with SAD, SSD", "`method=bm cost=sad`, `ssd`"),
    ("", "aggregation window, maximum disparity", "`window`, `num-disparities`"),
    ("", "serial, all cores, GPU", "`backend=cpu threads=1`, `backend=cpu`, `backend=cuda`"),
    ("", "choice of the device", "`cuda-device-id`"),
    ("", "textureless map", NOT_BUILT + ": what has no texture has no value"),
    ("Hong et al.", "AD, SD, SAD, SSD, NSSD, NCC, ZNCC", "`method=bm cost=ad`, `sd`, `sad`, `ssd`, `nssd`, `ncc`, `zncc`"),
    ("", "fast ZNCC", "`cost=zncc`: it takes running sums"),
    ("all", "mutual information", NOT_BUILT + ": the documents name it and do not define it"),
)


def chapter(_bench, _plot):
    return table(["document", "what it has", "option"], ROWS)
