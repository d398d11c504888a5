/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two-pass aggregation with the weights of the left view alone, on the tensor cores: down the columns
 * (left_columns.cu), then along the rows (left_rows.cu).
 *
 * A pass over one line is a banded matrix product: weights, of 16 pixels by the taps of their windows, times costs, of
 * these taps by disparities. banded.cuh draws which lane holds what. A warp takes 32 disparities and moves along the
 * line: it makes or reads each cost once, and has it in registers as long as the window reaches it.
 *
 * - Raw costs are the bits of half-precision subnormals and need no conversion: see Cost in cuda/cost.cuh.
 * - Copies of the next tiles to shared memory run meanwhile; neighbouring columns share records (records.cuh).
 * - The warps of a line compute each weight once and store it as registers of the product in shared memory.
 * - The first pass writes half floats to the volume; the second pass reads them and writes the means in their place.
 * - The sums of the weights are one more product, with ones; where candidates are missing at the border, with ones and
 *   zeros.
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

const StereoStage stereo_cuda_asw_left = {
  .name = "match", .context_size = sizeof (AswLeftContext), .prepare = left_prepare, .run = left_run
};
