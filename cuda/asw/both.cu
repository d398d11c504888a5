/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two-pass aggregation with the product of the weights of both views, as the thesis defines it: down the columns
 * (both_columns.cu), which writes half floats to the volume, then along the rows (both_rows.cu), which reads them.
 */
#include "cuda/asw/both.cuh"

static StereoStatus
both_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  StereoStatus status = asw_both_columns_prepare (plan, (AswBothContext *) context, error);
  return status ? status : asw_both_rows_prepare (plan, error);
}

static StereoStatus
both_run (StereoPlan *plan, void *context, StereoError *error)
{
  StereoStatus status = asw_both_columns (plan, (const AswBothContext *) context, error);
  return status ? status : asw_both_rows (plan, error);
}

const StereoStage stereo_cuda_asw_both = {
  .name = "match", .context_size = sizeof (AswBothContext), .prepare = both_prepare, .run = both_run
};
