/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cases.h"

#include <stdarg.h>

#include <stdio.h>
#include <string.h>

static const PictureLayout grey = { 1, 1, { 0, 0, 0 }, 3, 0 }, yuy2 = { 1, 2, { 0, 0, 0 }, 0, 0 },
                           rgb = { 3, 3, { 0, 1, 2 }, 1, 0 }, bgrx = { 3, 4, { 2, 1, 0 }, 0, 0 },
                           bgrx_up = { 3, 4, { 2, 1, 0 }, 4, 1 };

#define U8 STEREO_SAMPLE_U8
#define U16 STEREO_SAMPLE_U16
#define F32 STEREO_SAMPLE_F32

const Case cases[] = {
  /* tiny, and narrower than window or search */
  { 1, 1, PICTURE_NOISE, &rgb, U16, 16, "" },
  { 1, 1, PICTURE_FLAT, &grey, U8, 1, "profile=thesis" },
  { 1, 7, PICTURE_NOISE, &rgb, U16, 4, "fill=background median=5" },
  { 2, 3, PICTURE_NOISE, &rgb, U16, 2, "cost=census-9x7" },
  { 2, 3, PICTURE_CHECKER, &bgrx, F32, 64, "support=both refine-iterations=3 refine-alpha=1.5 fill=gaps" },
  { 17, 9, PICTURE_SHIFTED, &yuy2, U16, 40, "cost=ad" },
  { 17, 9, PICTURE_SHIFTED, &rgb, U8, 17, "cost=sad fill=background" },
  { 16, 16, PICTURE_EDGES, &rgb, U16, 16, "support=both window=63 refine-window=127" },
  { 8, 40, PICTURE_NOISE, &grey, U16, 8, "window=63 refine-window=127" },
  /* the profiles as they come */
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "profile=balanced" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "paths=none refine-alpha=0.3 speckle-size=0" },
  { 67, 43, PICTURE_SHIFTED, &bgrx, U16, 20, "support=both refine-iterations=3 refine-alpha=1.5 fill=gaps" },
  { 67, 43, PICTURE_SHIFTED, &bgrx_up, U16, 20, "profile=thesis refine-iterations=2" },
  { 33, 31, PICTURE_EDGES, &rgb, F32, 12, "profile=thesis refine-iterations=2", 1 },
  /* alignment; whole vectors of pixels and others, places between other rows within a vector */
  { 1, 1, PICTURE_NOISE, &rgb, U16, 16, "align=auto" },
  { 1, 9, PICTURE_NOISE, &rgb, U16, 4, "method=bm align=auto" },
  { 9, 1, PICTURE_CHECKER, &rgb, U16, 4, "method=bm align=auto" },
  { 32, 5, PICTURE_NOISE, &bgrx, U16, 4, "method=bm align=auto" },
  { 67, 43, PICTURE_NOISE, &rgb, U16, 4, "method=bm align=auto" },
  { 67, 43, PICTURE_CHECKER, &grey, U16, 4, "method=bm align=auto" },
  { 640, 12, PICTURE_NOISE, &rgb, U16, 4, "method=bm align=auto" },
  { 641, 12, PICTURE_SHIFTED, &bgrx_up, U16, 4, "method=bm align=auto min-disparity=-33" },
  { 1283, 9, PICTURE_NOISE, &rgb, U16, 1, "method=bm align=auto" },
  /* views averaged over time: pictures smaller than a window, whole chunks of columns and strips of rows, and one more */
  { 1, 1, PICTURE_NOISE, &rgb, U16, 4, "method=bm align=off temporal=1" },
  { 1, 9, PICTURE_FLAT, &rgb, U16, 4, "method=bm align=off temporal=0.75" },
  { 9, 1, PICTURE_CHECKER, &grey, U16, 4, "method=bm align=off temporal=0.75" },
  { 3, 4, PICTURE_NOISE, &rgb, U16, 4, "method=bm align=off temporal=0.01" },
  { 256, 32, PICTURE_FLAT, &rgb, U16, 4, "method=bm align=off temporal=0.75" },
  { 257, 33, PICTURE_EDGES, &bgrx, U16, 4, "method=bm align=auto temporal=0.5" },
  { 259, 17, PICTURE_SHIFTED, &grey, U16, 4, "method=bm align=off temporal=1 threads=3" },
  { 641, 49, PICTURE_SHIFTED, &rgb, U16, 4, "method=bm align=off temporal=0.75" },
  { 641, 49, PICTURE_FLAT, &rgb, U16, 1, "method=bm align=off temporal=0.1" },
  { 515, 43, PICTURE_EDGES, &yuy2, U16, 4, "method=bm min-disparity=-33 temporal=0.75" },
  /* unlikely disparities that follow the cameras: pictures too small for a point, for a motion, and others */
  { 1, 1, PICTURE_NOISE, &rgb, F32, 4, "method=bm temporal=1 fill=background" },
  { 44, 20, PICTURE_NOISE, &grey, F32, 16, "method=bm temporal=1 fill=keep" },
  { 41, 42, PICTURE_NOISE, &grey, F32, 16, "method=bm temporal=1 fill=none" },
  { 47, 300, PICTURE_NOISE, &rgb, F32, 9, "method=bm temporal=0.75 fill=background" },
  { 323, 197, PICTURE_NOISE, &rgb, F32, 24, "method=bm temporal=0.75 fill=background" },
  { 323, 197, PICTURE_NOISE, &rgb, F32, 24, "method=bm temporal=0.75 fill=background align=off" },
  { 324, 199, PICTURE_NOISE, &grey, F32, 24, "method=bm min-disparity=-11 temporal=0.5 fill=none" },
  { 401, 166, PICTURE_NOISE, &bgrx, U16, 33, "method=bm min-disparity=3 temporal=1 threads=3" },
  { 229, 333, PICTURE_NOISE, &rgb, F32, 24, "method=bm min-disparity=-30 temporal=1 fill=keep" },
  { 256, 256, PICTURE_SHIFTED, &rgb, F32, 24, "method=bm temporal=1 fill=planes" },
  { 640, 131, PICTURE_SHIFTED, &rgb, F32, 17, "method=sgm temporal=0.75 fill=background" },
  { 321, 193, PICTURE_EDGES, &rgb, F32, 24, "method=bm temporal=0.75 fill=background" },
  { 321, 193, PICTURE_FLAT, &rgb, F32, 24, "method=bm temporal=0.75 fill=background" },
  /* costs and supports */
  { 33, 31, PICTURE_SHIFTED, &rgb, U16, 19, "cost=census-7x5 support=both window=9" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 19, "cost=census-7x5 support=left window=9" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 19, "cost=census-9x7 support=both window=33" },
  { 33, 31, PICTURE_SHIFTED, &grey, U16, 19, "cost=census-9x7 support=left window=1" },
  { 33, 31, PICTURE_CHECKER, &rgb, U16, 19, "cost=mixed support=both window=15" },
  { 33, 31, PICTURE_EDGES, &rgb, U16, 19, "cost=mixed support=left window=15 gamma-color=5" },
  { 33, 31, PICTURE_CHECKER, &grey, U16, 19, "cost=ad support=both window=15" },
  { 33, 31, PICTURE_CHECKER, &rgb, U16, 19, "cost=sad support=left window=15" },
  { 33, 31, PICTURE_FLAT, &rgb, U16, 19, "cost=sad support=both window=15" },
  { 33, 31, PICTURE_FLAT, &grey, U8, 19, "cost=mixed fill=background" },
  /* weights of CIELAB; costs of colours stay what they are */
  { 33, 31, PICTURE_NOISE, &rgb, U16, 19, "color-difference=lab cost=mixed support=left window=15" },
  { 67, 43, PICTURE_SHIFTED, &bgrx, U16, 20, "color-difference=lab support=both refine-iterations=3 fill=gaps cost=sad" },
  { 67, 43, PICTURE_EDGES, &bgrx_up, U16, 20, "color-difference=lab profile=thesis refine-iterations=2" },
  { 257, 17, PICTURE_NOISE, &rgb, U16, 9, "color-difference=lab align=auto temporal=1 window=3" },
  { 33, 15, PICTURE_NOISE, &rgb, U16, 10, "color-difference=lab aggregation=full support=both window=9" },
  { 33, 31, PICTURE_NOISE, &grey, U16, 20,
      "color-difference=lab min-disparity=-9 refine-mode=idr refine-iterations=2 refine-alpha=0.01" },
  { 33, 31, PICTURE_EDGES, &rgb, U16, 20, "color-difference=lab refine-mode=full refine-iterations=2" },
  { 1, 1, PICTURE_NOISE, &rgb, U16, 16, "color-difference=lab" },
  /* every pixel of the window */
  { 33, 15, PICTURE_SHIFTED, &rgb, U16, 10, "aggregation=full support=both window=9" },
  { 33, 15, PICTURE_NOISE, &rgb, U16, 10, "aggregation=full support=left window=33" },
  { 17, 15, PICTURE_EDGES, &rgb, U16, 10, "aggregation=full cost=sad window=63" },
  /* searches that start elsewhere */
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 24, "min-disparity=-12 window=9" },
  { 67, 43, PICTURE_SHIFTED, &rgb, F32, 33, "min-disparity=7 window=9 support=both" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 16, "min-disparity=-40 window=9 support=both" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 100, "min-disparity=-60 window=9" },
  { 33, 31, PICTURE_NOISE, &rgb, U8, 100, "min-disparity=30 window=9" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 16, "min-disparity=-45 window=9" },
  { 129, 21, PICTURE_SHIFTED, &rgb, U16, 70, "window=33" },
  { 129, 21, PICTURE_SHIFTED, &yuy2, U16, 129, "window=33 support=both scratch-layers=16" },
  /* support=both, large enough a picture for the products that are not made good for rounding */
  { 139, 133, PICTURE_SHIFTED, &rgb, U16, 40, "window=33 support=both cost=census-7x5" },
  { 101, 107, PICTURE_SHIFTED, &rgb, U16, 70, "window=25 support=both min-disparity=-5" },
  { 150, 149, PICTURE_NOISE, &rgb, U16, 21, "window=37 support=both cost=census-9x7 gamma-color=100" },
  { 129, 21, PICTURE_SHIFTED, &rgb, U16, 1, "window=9" },
  /* many disparities: the search in one round and in several */
  { 403, 5, PICTURE_SHIFTED, &rgb, U16, 320, "window=3 profile=thesis refine-iterations=1" },
  { 1029, 3, PICTURE_NOISE, &rgb, U16, 320, "min-disparity=-37 window=3" },
  { 337, 3, PICTURE_NOISE, &rgb, U16, 300, "min-disparity=-9 window=3" },
  { 433, 3, PICTURE_CHECKER, &rgb, U16, 251, "min-disparity=11 window=3" },
  { 519, 3, PICTURE_NOISE, &rgb, U16, 345, "window=3" },
  { 417, 3, PICTURE_SHIFTED, &rgb, U16, 420, "min-disparity=-111 window=3" },
  { 207, 3, PICTURE_NOISE, &rgb, U16, 640, "min-disparity=-300 window=3" },
  /* refinement */
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "window=9 refine-mode=full refine-window=15 refine-iterations=2" },
  { 33, 31, PICTURE_EDGES, &rgb, U16, 20, "window=9 refine-mode=full refine-window=65 refine-iterations=1" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20,
      "window=9 refine-mode=idr refine-window=33 refine-iterations=2 refine-alpha=0.01" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 20, "window=9 refine-mode=idr refine-iterations=2 min-disparity=-9" },
  { 33, 31, PICTURE_SHIFTED, &rgb, U16, 20, "window=9 refine-mode=idr refine-iterations=3 refine-alpha=0.001" },
  { 33, 31, PICTURE_SHIFTED, &grey, U16, 20,
      "window=9 refine-mode=idr refine-iterations=3 refine-window=5 refine-alpha=0.02" },
  { 33, 31, PICTURE_SHIFTED, &rgb, U16, 20, "window=9 refine-iterations=3 refine-window=1" },
  /* filling: rays that end, leave the picture, or leap over large holes; frames with no valid pixel and with no other */
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "window=5 fill=planes" },
  { 211, 157, PICTURE_NOISE, &rgb, F32, 40, "window=3 refine-iterations=0 speckle-size=4 fill=planes" },
  { 403, 203, PICTURE_NOISE, &rgb, F32, 7, "window=3 refine-iterations=0 speckle-size=14 fill=background" },
  { 391, 157, PICTURE_NOISE, &bgrx, F32, 33,
      "min-disparity=-17 window=3 refine-iterations=0 speckle-size=6 fill=planes threads=3" },
  { 157, 91, PICTURE_EDGES, &rgb, F32, 60, "min-disparity=-25 window=5 consistency=0 fill=planes" },
  { 131, 77, PICTURE_SHIFTED, &grey, F32, 24, "min-disparity=4 window=7 speckle-size=60 fill=planes" },
  { 93, 41, PICTURE_SHIFTED, &rgb, F32, 16, "window=5 speckle-size=1000000 fill=planes" },
  { 93, 41, PICTURE_SHIFTED, &rgb, F32, 16, "window=5 speckle-size=1000000 fill=background" },
  { 93, 41, PICTURE_FLAT, &rgb, F32, 1, "window=5 consistency=-1 fill=planes" },
  { 33, 31, PICTURE_NOISE, &rgb, F32, 100, "min-disparity=-60 window=3 fill=planes" },
  { 2, 3, PICTURE_NOISE, &rgb, F32, 2, "window=3 fill=planes" },
  { 71, 59, PICTURE_EDGES, &grey, U16, 24, "window=3 refine-iterations=0 speckle-size=0 fill=background" },
  /* gaps: squares wider than the picture, and than a run of CUDA's sums; holes that are open, closed, and end at a side */
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "window=5 fill=gaps" },
  { 67, 143, PICTURE_EDGES, &grey, F32, 20, "window=5 fill=gaps confidence-measure=margin" },
  { 391, 157, PICTURE_NOISE, &rgb, F32, 33,
      "min-disparity=-17 window=3 refine-iterations=0 consistency=3 fill=gaps threads=3" },
  { 323, 91, PICTURE_NOISE, &grey, F32, 60, "method=bm consistency=2 fill=gaps confidence-measure=margin" },
  { 641, 71, PICTURE_SHIFTED, &rgb, F32, 60, "method=sgm window=5 fill=gaps" },
  { 93, 41, PICTURE_FLAT, &rgb, F32, 16, "window=5 fill=gaps" },
  { 33, 31, PICTURE_SHIFTED, &rgb, F32, 16, "window=3 consistency=-1 fill=gaps" },
  { 1, 3, PICTURE_NOISE, &rgb, F32, 2, "window=3 fill=gaps" },
  { 1003, 61, PICTURE_SHIFTED, &rgb, F32, 24, "method=bm fill=gaps confidence-measure=margin" },
  /* more than a strip of CUDA's refinement either way, windows of whole and of odd eights */
  { 40, 230, PICTURE_SHIFTED, &rgb, U16, 12, "window=9 refine-iterations=1" },
  { 230, 40, PICTURE_EDGES, &rgb, U16, 12, "window=9 refine-iterations=1 refine-gamma-color=40" },
  { 107, 211, PICTURE_NOISE, &rgb, U16, 5, "window=3 refine-iterations=1 refine-window=37 refine-gamma-color=100" },
  { 203, 101, PICTURE_SHIFTED, &rgb, U16, 5, "window=3 refine-iterations=1 refine-window=127 min-disparity=-3" },
  { 33, 31, PICTURE_SHIFTED, &rgb, U16, 20, "window=9 refine-iterations=3 refine-alpha=10" },
  { 33, 31, PICTURE_SHIFTED, &rgb, U16, 20,
      "window=9 refine-iterations=2 refine-gamma-color=0.5 refine-gamma-distance=0.5" },
  { 33, 31, PICTURE_SHIFTED, &rgb, U16, 20, "window=9 refine-iterations=3 consistency=-1" },
  { 33, 31, PICTURE_SHIFTED, &rgb, U16, 20, "window=9 refine-iterations=3 consistency=0" },
  /* finish */
  { 33, 31, PICTURE_NOISE, &rgb, F32, 16, "window=3 subpixel=1 fill=keep" },
  { 67, 31, PICTURE_NOISE, &grey, F32, 32, "window=3 subpixel=1 fill=keep median=5 refine-iterations=0" },
  { 67, 43, PICTURE_NOISE, &rgb, U16, 20, "window=5 speckle-size=5 speckle-range=0 subpixel=0 fill=none" },
  { 67, 43, PICTURE_NOISE, &rgb, U16, 20,
      "window=5 speckle-size=40 speckle-range=2.5 subpixel=1 fill=background median=5" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "window=5 speckle-size=10000 median=3 fill=keep" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20,
      "window=5 confidence-threshold=0.3 confidence-measure=margin fill=background" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "window=5 confidence-threshold=0.9 fill=background" },
  { 61, 67, PICTURE_NOISE, &rgb, U16, 20, "window=5 confidence-threshold=0.1 threads=3" },
  { 5, 2, PICTURE_SHIFTED, &rgb, U16, 3, "window=3 confidence-threshold=0.01" },
  { 300, 30, PICTURE_SHIFTED, &grey, F32, 260, "min-disparity=-20 window=3 consistency=-1" },
  { 67, 43, PICTURE_EDGES, &grey, F32, 20, "window=5 consistency=-1 fill=keep" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 2, "confidence-measure=probability" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "window=5 confidence-threshold=1 fill=none confidence-measure=margin", 1 },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "min-disparity=-8 window=5 fill=keep disparity-scale=1000.25" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "min-disparity=5 window=5 fill=keep disparity-scale=65535" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20,
      "min-disparity=-3 window=5 output=depth focal-length=999.421 baseline=193.001 principal-offset=2.778" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "window=5 output=depth focal-length=3 baseline=0.1 depth-unit=10" },
  { 67, 43, PICTURE_SHIFTED, &rgb, F32, 20, "window=5 output=depth focal-length=700 baseline=50 principal-offset=-4" },
  /* rows of whole vectors of pixels and others, windows cut at all sides, more than a block of CUDA's last stages */
  { 31, 5, PICTURE_SHIFTED, &rgb, U16, 9,
      "window=3 subpixel=1 fill=none median=5 confidence-threshold=0.2 confidence-measure=margin" },
  { 3, 50, PICTURE_NOISE, &rgb, F32, 3, "window=3 consistency=-1 refine-iterations=1 median=3" },
  { 4, 4, PICTURE_SHIFTED, &rgb, U8, 3, "window=3 consistency=0 fill=none median=5 refine-iterations=2" },
  { 132, 17, PICTURE_SHIFTED, &rgb, U8, 24, "window=3 subpixel=1 fill=none median=3 refine-iterations=1" },
  { 132, 17, PICTURE_NOISE, &rgb, U16, 24, "window=3 subpixel=1 fill=keep median=5 refine-iterations=3" },
  { 260, 19, PICTURE_EDGES, &rgb, F32, 30, "window=3 subpixel=1 consistency=-1 median=3 refine-iterations=2" },
  { 260, 19, PICTURE_SHIFTED, &rgb, U16, 30,
      "window=3 subpixel=0 consistency=0 fill=none median=3 confidence-threshold=0.05 confidence-measure=margin", 1 },
  { 133, 11, PICTURE_SHIFTED, &rgb, U16, 40, "window=3 subpixel=1 refine-alpha=5 refine-iterations=3 fill=none" },
  /* hardly a candidate, so hardly a disparity */
  { 40, 9, PICTURE_NOISE, &rgb, U16, 3, "min-disparity=-39 window=3 fill=none median=3" },
  { 40, 9, PICTURE_NOISE, &rgb, F32, 8, "min-disparity=38 window=3 fill=background median=5 refine-iterations=2" },
  /* paths after other methods */
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "paths=4 window=9" },
  { 67, 43, PICTURE_SHIFTED, &grey, U16, 48, "paths=8 window=5 cost=census-9x7 penalty-step=3" },
  { 67, 43, PICTURE_EDGES, &bgrx, U16, 24, "paths=4 min-disparity=-12 window=1 cost=ad p1=1000 p2=1000" },
  { 1, 9, PICTURE_NOISE, &rgb, U16, 16, "paths=8" },
  { 9, 1, PICTURE_NOISE, &rgb, U16, 9, "paths=4 penalty-step=1" },
  { 137, 40, PICTURE_NOISE, &rgb, U16, 33, "method=bm paths=8 cost=zncc threads=7" },
  { 137, 40, PICTURE_NOISE, &rgb, U16, 70, "method=bm paths=4 cost=ssd p1=0.001 p2=0.001" },
  { 67, 43, PICTURE_CHECKER, &rgb, U16, 20, "method=esaw paths=4 truncation=1 p1=900 p2=1000" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "method=esmp paths=8 refine-iterations=2" },
  { 45, 17, PICTURE_NOISE, &rgb, U16, 300, "paths=8 window=3" },
  /* paths with weights: none for a direction, the least, the largest, in one pass and in several */
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "paths=4 window=9 path-weight-vertical=0.5" },
  { 67, 43, PICTURE_NOISE, &rgb, U16, 70, "paths=8 window=3 path-weight-vertical=4 path-weight-diagonal=4" },
  { 137, 40, PICTURE_NOISE, &rgb, U16, 33, "method=bm paths=8 cost=zncc path-weight-diagonal=0.3 threads=7" },
  { 45, 17, PICTURE_NOISE, &rgb, U16, 300, "paths=8 window=3 path-weight-diagonal=0" },
  { 67, 43, PICTURE_CHECKER, &rgb, U16, 20, "method=esaw paths=4 truncation=1 p1=900 p2=1000 path-weight-vertical=3" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "method=sgm path-weight-diagonal=0.5" },
  { 67, 43, PICTURE_EDGES, &bgrx, U16, 20,
      "method=sgm cost=mixed refine-iterations=2 path-weight-vertical=0 path-weight-diagonal=0" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 150,
      "method=sgm cost=ad min-disparity=-60 path-weight-vertical=4 path-weight-diagonal=4" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 19, "method=sgm cost=ad p1=1000 p2=1000 path-weight-vertical=4" },
  { 9, 1, PICTURE_NOISE, &rgb, U16, 9, "method=sgm paths=4 path-weight-vertical=0.01" },
  /* sgm */
  { 1, 1, PICTURE_NOISE, &rgb, U16, 16, "method=sgm" },
  { 1, 9, PICTURE_NOISE, &rgb, U16, 3, "method=sgm cost=ad" },
  { 9, 1, PICTURE_NOISE, &rgb, U16, 9, "method=sgm cost=mixed paths=4" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "method=sgm" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "method=sgm profile=thesis" },
  { 67, 43, PICTURE_SHIFTED, &bgrx, U16, 20, "method=sgm cost=mixed refine-iterations=1 fill=gaps threads=5" },
  { 67, 43, PICTURE_NOISE, &grey, U16, 48, "method=sgm paths=4 threads=1" },
  { 33, 31, PICTURE_CHECKER, &rgb, U16, 19, "method=sgm cost=census-7x5 p1=3 p2=3" },
  { 33, 31, PICTURE_NOISE, &rgb, F32, 19, "method=sgm cost=ad p1=1000 p2=1000 fill=keep" },
  { 33, 31, PICTURE_EDGES, &rgb, U16, 19, "method=sgm cost=mixed p1=0.1 p2=1000 paths=4" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 19, "method=sgm cost=ad p1=0.001 p2=0.001" },
  { 33, 31, PICTURE_FLAT, &rgb, U16, 19, "method=sgm cost=census-9x7" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 24, "method=sgm min-disparity=-12" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 33, "method=sgm min-disparity=7 cost=mixed" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 100, "method=sgm min-disparity=-60 cost=ad" },
  { 33, 31, PICTURE_NOISE, &rgb, U8, 100, "method=sgm min-disparity=30" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 16, "method=sgm min-disparity=-45 paths=4" },
  { 129, 21, PICTURE_SHIFTED, &rgb, U16, 70, "method=sgm threads=40" },
  { 300, 40, PICTURE_SHIFTED, &rgb, U16, 16, "method=sgm threads=3 cost=census-9x7" },
  { 137, 40, PICTURE_NOISE, &grey, U16, 16, "method=sgm threads=7 paths=4 cost=census-7x5" },
  { 403, 11, PICTURE_NOISE, &rgb, U16, 33, "method=sgm threads=2 cost=mixed" },
  /* census on CUDA: strips of 64 columns and blocks of 256, whole and cut; one tile of 64 candidates and several */
  { 64, 5, PICTURE_NOISE, &rgb, U16, 16, "method=sgm cost=census-7x5" },
  { 63, 5, PICTURE_NOISE, &rgb, U16, 33, "method=sgm cost=census-9x7 min-disparity=-17 paths=4" },
  { 257, 5, PICTURE_SHIFTED, &rgb, U16, 128, "method=sgm cost=census-9x7 paths=4" },
  { 256, 5, PICTURE_NOISE, &rgb, U16, 64, "method=sgm cost=census-7x5 min-disparity=-70" },
  { 321, 5, PICTURE_EDGES, &grey, U16, 150, "method=sgm cost=census-7x5 min-disparity=11 paths=4" },
  { 530, 3, PICTURE_NOISE, &rgb, U16, 530, "method=sgm cost=census-9x7 min-disparity=-200 paths=4" },
  { 301, 3, PICTURE_NOISE, &rgb, U16, 81, "method=sgm cost=census-9x7 min-disparity=-301" },
  /* mixed on CUDA: blocks of 128 columns, whole and cut; one turn of the threads and several */
  { 3, 5, PICTURE_NOISE, &rgb, U16, 16, "method=sgm cost=mixed" },
  { 128, 5, PICTURE_SHIFTED, &rgb, U16, 64, "method=sgm cost=mixed paths=4" },
  { 259, 5, PICTURE_NOISE, &bgrx, U16, 130, "method=sgm cost=mixed min-disparity=-23 paths=4" },
  { 530, 3, PICTURE_NOISE, &rgb, U16, 500, "method=sgm cost=mixed min-disparity=9 paths=4" },
  { 301, 3, PICTURE_EDGES, &rgb, U16, 81, "method=sgm cost=mixed min-disparity=-301" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "method=sgm refine-iterations=2 fill=background" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20,
      "method=sgm cost=mixed refine-mode=idr refine-iterations=1 refine-alpha=0.01" },
  /* bm */
  { 1, 1, PICTURE_NOISE, &rgb, U16, 16, "method=bm" },
  { 1, 9, PICTURE_NOISE, &rgb, U16, 3, "method=bm cost=sad window=3" },
  { 9, 1, PICTURE_NOISE, &rgb, U16, 9, "method=bm cost=ssd window=31" },
  { 7, 5, PICTURE_NOISE, &rgb, U16, 7, "method=bm cost=nssd window=31" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "method=bm" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "method=bm profile=thesis" },
  { 67, 43, PICTURE_SHIFTED, &bgrx, U16, 20, "method=bm fill=gaps threads=5" },
  { 67, 43, PICTURE_NOISE, &grey, U16, 48, "method=bm cost=sad threads=1" },
  { 33, 31, PICTURE_CHECKER, &rgb, U16, 19, "method=bm cost=ad window=5" },
  { 33, 31, PICTURE_CHECKER, &rgb, U16, 19, "method=bm cost=sd window=1" },
  { 33, 31, PICTURE_CHECKER, &rgb, U16, 19,
      "method=bm cost=sad window=1 confidence-threshold=1 confidence-measure=margin fill=none" },
  { 33, 31, PICTURE_CHECKER, &rgb, U16, 19, "method=bm cost=ssd window=15" },
  { 33, 31, PICTURE_EDGES, &grey, U16, 19, "method=bm cost=nssd window=3" },
  { 67, 43, PICTURE_CHECKER, &rgb, U16, 19, "method=bm cost=ncc window=31" },
  { 67, 43, PICTURE_CHECKER, &rgb, U16, 19, "method=bm cost=zncc window=31" },
  { 67, 43, PICTURE_EDGES, &rgb, U16, 33, "method=bm cost=zncc window=17" },
  { 67, 43, PICTURE_NOISE, &rgb, U16, 33, "method=bm cost=zncc window=15" },
  { 67, 43, PICTURE_NOISE, &rgb, U16, 33, "method=bm cost=ssd window=31" },
  { 33, 31, PICTURE_FLAT, &rgb, U16, 19, "method=bm cost=zncc" },
  { 33, 31, PICTURE_FLAT, &rgb, U16, 19, "method=bm cost=ncc" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 24, "method=bm min-disparity=-12 cost=sad" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 33, "method=bm min-disparity=7 cost=ncc" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 100, "method=bm min-disparity=-60 cost=sad" },
  { 33, 31, PICTURE_NOISE, &rgb, U8, 100, "method=bm min-disparity=30" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 16, "method=bm min-disparity=-45 cost=nssd" },
  { 129, 21, PICTURE_SHIFTED, &rgb, U16, 70, "method=bm threads=40 cost=sad" },
  { 139, 150, PICTURE_NOISE, &rgb, U16, 65, "method=bm threads=3 cost=sad window=5" },
  { 139, 150, PICTURE_NOISE, &grey, U16, 65, "method=bm threads=2 window=3" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "method=bm refine-iterations=2 fill=background" },
  /* several of CUDA's strips, all of its chunks; and what is cut where they meet */
  { 300, 41, PICTURE_SHIFTED, &rgb, U16, 128, "method=bm cost=sad" },
  { 300, 41, PICTURE_SHIFTED, &rgb, U16, 128, "method=bm cost=zncc" },
  { 301, 23, PICTURE_NOISE, &rgb, U16, 128, "method=bm cost=nssd window=7" },
  { 299, 23, PICTURE_NOISE, &rgb, U16, 128, "method=bm cost=ssd min-disparity=-64" },
  { 300, 21, PICTURE_EDGES, &rgb, U16, 120, "method=bm cost=ncc window=5 min-disparity=3" },
  { 300, 21, PICTURE_CHECKER, &rgb, U16, 128, "method=bm cost=sad" },
  { 511, 20, PICTURE_NOISE, &grey, U16, 33, "method=bm cost=zncc min-disparity=-16" },
  /* more than one tile of columns, and layer of disparities */
  { 530, 21, PICTURE_NOISE, &rgb, U16, 150, "method=bm cost=sad threads=3" },
  { 530, 21, PICTURE_SHIFTED, &rgb, U16, 208, "method=bm cost=zncc window=31 min-disparity=-20" },
  { 40, 300, PICTURE_SHIFTED, &rgb, U16, 24, "method=bm cost=zncc window=7" },
  /* esaw, esmp */
  { 67, 43, PICTURE_NOISE, &rgb, U16, 20, "cost=ad truncation=12 window=9 support=left" },
  { 67, 43, PICTURE_NOISE, &rgb, U16, 20, "cost=ad truncation=0.3 window=9 support=both profile=thesis" },
  { 67, 43, PICTURE_NOISE, &rgb, U16, 40, "cost=ad truncation=33.6 window=11 aggregation=full" },
  { 67, 43, PICTURE_NOISE, &rgb, U16, 20, "cost=ad truncation=254.4 window=5 support=left" },
  { 1, 1, PICTURE_NOISE, &rgb, U16, 16, "method=esaw" },
  { 1, 9, PICTURE_NOISE, &rgb, U16, 3, "method=esmp" },
  { 9, 1, PICTURE_NOISE, &grey, U16, 9, "method=esmp iterations=3" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "method=esaw" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "method=esmp" },
  { 67, 43, PICTURE_SHIFTED, &bgrx, U16, 20, "method=esaw iterations=5 step-base=2.6" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 60, "method=esmp fill=gaps threads=5" },
  { 67, 43, PICTURE_SHIFTED, &rgb, F32, 33, "method=esmp profile=thesis" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 33, "method=esaw profile=thesis" },
  { 67, 43, PICTURE_NOISE, &rgb, U16, 90, "method=esaw profile=thesis min-disparity=-12 fill=none" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 40, "method=esmp profile=thesis consistency=0 fill=background" },
  { 67, 43, PICTURE_SHIFTED, &rgb, F32, 40, "method=esaw profile=thesis subpixel=on consistency=-1" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 40, "method=esmp profile=thesis refine-iterations=1" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 40, "method=esaw profile=thesis paths=4" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 40, "method=esaw profile=thesis confidence-measure=probability fill=none" },
  { 300, 21, PICTURE_SHIFTED, &rgb, U16, 320, "method=esaw profile=thesis iterations=3" },
  { 301, 11, PICTURE_SHIFTED, &rgb, U16, 290, "method=esaw profile=thesis iterations=2 fill=planes" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 19, "method=esaw iterations=1" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 19, "method=esmp iterations=1" },
  { 33, 31, PICTURE_EDGES, &rgb, U16, 19, "method=esaw iterations=16 step-base=4" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 19, "method=esmp iterations=16 step-base=1" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 19, "method=esaw truncation=255 cost-scale=1000" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 40, "method=esmp truncation=255 smoothness=1000 smoothness-max=10000" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 40, "method=esmp truncation=200 smoothness=0.0001 smoothness-max=0.3" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 40, "method=esmp cost-scale=0.001 smoothness=0.0002 smoothness-max=0.01" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 40, "method=esmp truncation=0.001" },
  { 33, 31, PICTURE_FLAT, &rgb, U16, 19, "method=esaw gamma-color=0.01 gamma-distance=0.01" },
  { 33, 31, PICTURE_CHECKER, &rgb, U16, 19, "method=esaw gamma-color=10000 gamma-distance=10000" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 24, "method=esaw min-disparity=-12" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 33, "method=esmp min-disparity=7" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 100, "method=esaw min-disparity=-60" },
  { 33, 31, PICTURE_NOISE, &rgb, U8, 100, "method=esmp min-disparity=30" },
  { 33, 31, PICTURE_NOISE, &rgb, U16, 16, "method=esaw min-disparity=-45" },
  { 300, 21, PICTURE_SHIFTED, &rgb, U16, 150, "method=esmp threads=7 iterations=3" },
  { 301, 11, PICTURE_SHIFTED, &rgb, U16, 290, "method=esmp iterations=2 smoothness=0.003" },
  { 11, 137, PICTURE_NOISE, &grey, U16, 11, "method=esaw threads=3 step-base=3" },
  { 67, 43, PICTURE_SHIFTED, &rgb, U16, 20, "method=esmp refine-iterations=2 fill=background" },
  /* lists of candidates from half the size: less than a tile, whole tiles and others, odd sizes, ends of the search */
  { 1, 1, PICTURE_NOISE, &rgb, U16, 16, "search=coarse-to-fine" },
  { 1, 9, PICTURE_NOISE, &rgb, U16, 4, "search=coarse-to-fine min-disparity=-3 temporal=0" },
  { 9, 1, PICTURE_CHECKER, &grey, F32, 9, "search=coarse-to-fine method=sgm paths=4 temporal=0" },
  { 16, 16, PICTURE_SHIFTED, &rgb, U16, 13, "search=coarse-to-fine temporal=0" },
  { 33, 47, PICTURE_SHIFTED, &rgb, F32, 21, "search=coarse-to-fine window=3 align=off" },
  { 67, 43, PICTURE_NOISE, &rgb, F32, 64, "search=coarse-to-fine fill=background" },
  { 67, 43, PICTURE_NOISE, &bgrx, U16, 70, "search=coarse-to-fine min-disparity=-33 window=33" },
  { 131, 50, PICTURE_SHIFTED, &rgb, F32, 59, "search=coarse-to-fine min-disparity=-7 cost=census-9x7" },
  { 131, 50, PICTURE_EDGES, &rgb, F32, 50, "search=coarse-to-fine min-disparity=5 cost=sad threads=3" },
  { 130, 49, PICTURE_NOISE, &grey, F32, 120, "search=coarse-to-fine profile=road" },
  { 130, 49, PICTURE_SHIFTED, &rgb, F32, 40, "search=coarse-to-fine profile=road p1=1 p2=3" },
  { 97, 65, PICTURE_SHIFTED, &rgb, F32, 33, "search=coarse-to-fine method=sgm paths=4 cost=census-7x5" },
  { 97, 65, PICTURE_FLAT, &rgb, F32, 33, "search=coarse-to-fine subpixel=off fill=none" },
  { 97, 65, PICTURE_SHIFTED, &rgb, F32, 33,
      "search=coarse-to-fine color-difference=lab cost=ad confidence-measure=margin penalty-step=0" },
  { 80, 70, PICTURE_NOISE, &rgb, F32, 40, "search=coarse-to-fine color-difference=lab cost=sad p2=1000 p1=1" },
  { 403, 35, PICTURE_NOISE, &rgb, F32, 346, "search=coarse-to-fine fill=none temporal=0" },
  { 1301, 55, PICTURE_SHIFTED, &rgb, F32, 130, "search=coarse-to-fine min-disparity=-40 temporal=0" },
  { 1283, 33, PICTURE_SHIFTED, &rgb, F32, 70, "search=coarse-to-fine profile=road min-disparity=26 temporal=0" },
  /* lists of tall pictures: several stretches of a column */
  { 35, 371, PICTURE_NOISE, &rgb, F32, 27, "search=coarse-to-fine fill=none temporal=0" },
  { 50, 795, PICTURE_SHIFTED, &rgb, F32, 40, "search=coarse-to-fine profile=road temporal=0" },
  /* steep surfaces: planes that their anchors hold */
  { 403, 301, PICTURE_EDGES, &rgb, F32, 60, "search=full window=5 temporal=0 fill=planes" },
  { 403, 301, PICTURE_SHIFTED, &rgb, F32, 60, "method=bm window=5 temporal=0 fill=planes" },
  /* what moving cameras predict, on lists */
  { 323, 197, PICTURE_NOISE, &rgb, F32, 40, "temporal=0.75 fill=background" },
  { 401, 166, PICTURE_NOISE, &bgrx, F32, 37, "min-disparity=-9 temporal=1 fill=gaps threads=3" },
  { 323, 197, PICTURE_SHIFTED, &rgb, F32, 70, "method=sgm paths=4 search=coarse-to-fine temporal=0.75 fill=none" },
  /* a published method with paths, whose check knows no near pixels */
  { 131, 67, PICTURE_SHIFTED, &rgb, F32, 30, "method=sgm profile=thesis fill=none" },
  { 0 },
};

const Case scenes[] = {
  { 320, 200, PICTURE_SHIFTED, &rgb, F32, 64, "profile=balanced" },
  { 320, 200, PICTURE_SHIFTED, &rgb, F32, 48, "support=both refine-iterations=3 refine-alpha=1.5 fill=gaps" },
  { 320, 200, PICTURE_SHIFTED, &bgrx, F32, 48, "paths=none" },
  { 320, 200, PICTURE_SHIFTED, &rgb, F32, 32, "profile=thesis" },
  { 320, 200, PICTURE_SHIFTED, &grey, F32, 48, "min-disparity=-16" },
  { 320, 200, PICTURE_SHIFTED, &rgb, F32, 64, "search=coarse-to-fine" },
  { 1301, 120, PICTURE_SHIFTED, &rgb, F32, 128, "search=coarse-to-fine profile=road" },
  { 0 },
};

/* Appends "name=value" with a probability of @percent, so that defaults are drawn too. */
__attribute__ ((format (printf, 4, 5))) static void
add (Case *c, Random *random, int percent, const char *format, ...)
{
  size_t used = strlen (c->params);
  va_list args;

  if (random_range (random, 0, 99) >= percent)
    return;
  if (used)
    c->params[used++] = ' ';
  va_start (args, format);
  vsnprintf (c->params + used, sizeof c->params - used, format, args);
  va_end (args);
}

static const char *
pick (Random *random, const char *const *names)
{
  int count = 0;
  while (names[count])
    count++;
  return names[random_range (random, 0, count - 1)];
}

#define PICK(...) pick (random, (const char *const[]){ __VA_ARGS__, NULL })

/* One of the costs that @method takes. */
static void
add_cost (Case *c, Random *random, int percent, int method)
{
  const char *names[STEREO_COSTS];
  int count = 0;

  for (int cost = 0; cost < STEREO_COSTS; cost++)
    if (stereo_method_info (method)->costs >> cost & 1)
      names[count++] = stereo_cost_info (cost)->name;
  add (c, random, percent, "cost=%s", names[random_range (random, 0, count - 1)]);
}

static void
draw_finish (Case *c, Random *random)
{
  add (c, random, 50, "fill=%s", PICK ("keep", "none", "background", "planes", "gaps"));
  add (c, random, 30, "consistency=%d", random_range (random, -1, 3));
  add (c, random, 30, "subpixel=%d", random_range (random, 0, 1));
  add (c, random, 50, "median=%s", PICK ("0", "3", "5"));
  add (c, random, 40, "speckle-size=%d speckle-range=%g", random_range (random, 1, 60),
      random_range (random, 0, 8) / 4.0);
  add (c, random, 60, "confidence-measure=%s", PICK ("margin", "probability"));
  add (c, random, 50, "confidence-threshold=%g", random_range (random, 0, 40) / 40.0);
  if (c->sample != STEREO_SAMPLE_U8)
    add (c, random, 30, "output=depth focal-length=%d baseline=%g principal-offset=%d", random_range (random, 1, 2000),
        random_range (random, 1, 3000) / 10.0, random_range (random, -20, 40));
  add (c, random, 30, "disparity-scale=%g", random_range (random, 1, 100000) / 64.0);
}

static void
draw_asw (Case *c, Random *random)
{
  add_cost (c, random, 80, STEREO_METHOD_ASW);
  add (c, random, 80, "support=%s", PICK ("both", "left"));
  add (c, random, 40, "color-difference=lab");
  int full = random_range (random, 0, 5) == 0;
  if (full)
    add (c, random, 100, "aggregation=full");
  add (c, random, 100, "window=%d", 2 * random_range (random, 0, full ? 7 : 20) + 1);
  add (c, random, 50, "gamma-color=%g gamma-distance=%g", random_range (random, 1, 300) / 1.5,
      random_range (random, 1, 300) / 10.0);
}

/* Paths with a P1 of up to @largest 64ths of a cost unit, some of them weighted; lists take four, without weights. */
static void
draw_paths (Case *c, Random *random, int largest, int weighted)
{
  int p1 = random_range (random, 1, largest), p2 = p1 + random_range (random, 0, 6000);
  int eight = weighted && random_range (random, 0, 1);

  add (c, random, 100, "paths=%s", eight ? "8" : "4");
  if (weighted)
    add (c, random, 30, "path-weight-vertical=%g", random_range (random, 0, 64) / 16.0);
  if (eight)
    add (c, random, 30, "path-weight-diagonal=%g", random_range (random, 0, 64) / 16.0);
  add (c, random, 50, "p1=%g p2=%g", p1 / 64.0, p2 / 64.0);
  add (c, random, 50, "penalty-step=%d", random_range (random, 0, 60));
  add (c, random, 50, "threads=%d", random_range (random, 1, 9));
}

static void
draw_sgm (Case *c, Random *random)
{
  add (c, random, 100, "method=sgm");
  add_cost (c, random, 80, STEREO_METHOD_SGM);
  draw_paths (c, random, 3000, 1);
}

/* Coarse to fine: asw or sgm, as lists serve them. */
static void
draw_listed (Case *c, Random *random)
{
  int sgm = random_range (random, 0, 1);

  add (c, random, 100, "search=coarse-to-fine refine-iterations=0");
  if (sgm)
    add (c, random, 100, "method=sgm");
  else
    add (c, random, 100, "support=left window=%d",
        2 * random_range (random, 0, random_range (random, 0, 3) ? 8 : 31) + 1);
  add_cost (c, random, 80, sgm ? STEREO_METHOD_SGM : STEREO_METHOD_ASW);
  draw_paths (c, random, 1000, 0);
}

static void
draw_bm (Case *c, Random *random)
{
  add (c, random, 100, "method=bm");
  add_cost (c, random, 90, STEREO_METHOD_BM);
  add (c, random, 80, "window=%d", 2 * random_range (random, 1, random_range (random, 0, 3) ? 6 : 15) + 1);
}

static void
draw_exponential (Case *c, Random *random)
{
  int esmp = random_range (random, 0, 1);

  add (c, random, 100, "method=%s", esmp ? "esmp" : "esaw");
  add (c, random, 70, "iterations=%d", random_range (random, 1, 10));
  add (c, random, 70, "step-base=%g", 1 + random_range (random, 0, 120) / 40.0);
  add (c, random, 50, "gamma-color=%g gamma-distance=%g", random_range (random, 1, 300) / 5.0,
      random_range (random, 1, 300) / 5.0);
  add (c, random, 50, "truncation=%g", random_range (random, 1, 2550) / 10.0);
  add (c, random, 50, "cost-scale=%g", random_range (random, 1, 100) / 50.0);
  if (esmp)
    add (c, random, 70, "smoothness=%g smoothness-max=%g", random_range (random, 1, 200) / 50.0,
        random_range (random, 1, 1000) / 50.0);
  add (c, random, 50, "threads=%d", random_range (random, 1, 9));
}

void
case_draw (Case *c, Random *random)
{
  int num = random_range (random, 0, 3) ? random_range (random, 1, 48) : 16 * random_range (random, 1, 3);

  memset (c, 0, sizeof *c);
  c->width = random_range (random, 1, 80);
  c->height = random_range (random, 1, 40);
  c->kind = (PictureKind) random_range (random, 0, PICTURE_KINDS - 1);
  c->layout = picture_random_layout (random);
  c->sample = (StereoSample) random_range (random, STEREO_SAMPLE_U8, STEREO_SAMPLE_F32);
  c->no_confidence = random_range (random, 0, 3) == 0;
  int lowest = -(c->width + num - 1) + 1, highest = c->width - 1;
  int min = random_range (random, 0, 1) ?
      0 :
      random_range (random, lowest > -30 ? lowest : -30, highest < 30 ? highest : 30);
  add (c, random, 100, "min-disparity=%d", min);
  c->num = num;
  static void (*const methods[]) (
      Case * c, Random * random) = { draw_asw, draw_asw, draw_sgm, draw_bm, draw_exponential, draw_listed };
  int method = random_range (random, 0, 5);
  /* profile=road takes sgm in place of asw, which is the default */
  if (methods[method] == draw_asw)
    add (c, random, 100, "profile=%s", PICK ("balanced", "thesis"));
  else if (methods[method] != draw_listed)
    add (c, random, 100, "profile=%s", PICK ("balanced", "thesis", "road"));
  methods[method](c, random);
  if (methods[method] != draw_sgm && methods[method] != draw_listed && random_range (random, 0, 1))
    draw_paths (c, random, 1000, 1);
  const char *mode = PICK ("two-pass", "two-pass", "full", "idr");
  if (methods[method] != draw_listed)
    add (c, random, 100, "refine-mode=%s refine-iterations=%d refine-window=%d", mode, random_range (random, 0, 2),
        2 * random_range (random, 0, strcmp (mode, "full") ? 40 : 8) + 1);
  add (c, random, 50, "refine-gamma-color=%g refine-gamma-distance=%g", random_range (random, 1, 300) / 10.0,
      random_range (random, 1, 300) / 10.0);
  add (c, random, strcmp (mode, "idr") ? 50 : 100, "refine-alpha=%g",
      random_range (random, 1, 200) / (strcmp (mode, "idr") ? 200.0 : 10000.0));
  add (c, random, 30, "scratch-layers=%d", random_range (random, 1, 64));
  add (c, random, 30, "align=auto");
  add (c, random, 50, "temporal=%g", random_range (random, 0, 8) / 8.0);
  draw_finish (c, random);
}

const char *
case_describe (const Case *c, char *text, size_t size)
{
  static const char *const samples[] = { "U8", "U16", "F32" };
  const PictureLayout *l = c->layout;

  snprintf (text, size, "%dx%d %s {%d, %d, {%d, %d, %d}, %d, %d} %s%s num-disparities=%d %s", c->width, c->height,
      picture_kind_names[c->kind], l->channels, l->pixel_stride, l->offset[0], l->offset[1], l->offset[2], l->padding,
      l->bottom_up, samples[c->sample], c->no_confidence ? " no confidence" : "", c->num, c->params);
  return text;
}
