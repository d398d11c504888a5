/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two-pass aggregation with the left view's weights alone, on the tensor cores.
 *
 * A pass over one column (then one row) is a banded matrix product: weights, 16 pixels by the pixels
 * of their windows, times costs, those pixels by disparities. A tile of 16 pixels needs the tiles
 * before and after it (REACH = 3 of them for windows up to 33, 5 up to 65). A warp takes 8 * INDEX_TILES
 * disparities and rolls along, so each cost is made or read once and stays in registers for REACH steps.
 *
 * - Raw costs enter as the bits of half-precision subnormals, no conversion: see records.cuh.
 * - What the next tiles need is copied to shared memory meanwhile; columns side by side share records.
 * - A line's warps compute each weight once, straight into fragment order in shared memory.
 * - The first pass leaves half floats in the volume; the second rolls over them in place.
 * - Sums of weights are one more product, with ones; where candidates are missing at the border,
 *   with ones and zeros.
 */
#include "cuda/asw/left.cuh"

static StereoStatus
left_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  return asw_left_columns_prepare (plan, (AswLeftContext *) context, error);
}

static StereoStatus
left_run (StereoPlan *plan, void *context, StereoError *error)
{
  StereoStatus status = asw_left_columns (plan, (const AswLeftContext *) context, error);
  return status ? status : asw_left_rows (plan, error);
}

const StereoStage stereo_cuda_asw_left = { .name = "match", .context_size = sizeof (AswLeftContext),
  .prepare = left_prepare, .run = left_run };
