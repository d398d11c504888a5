/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Adaptive support weights: chooses the stage of a plan. */
#include "cuda/asw/weights.cuh"

const StereoStage *
stereo_cuda_asw (const StereoParams *params)
{
  if (!takes_cost (STEREO_METHOD_ASW, params->cost))
    return NULL;
  int left = params->support == STEREO_SUPPORT_LEFT;
  if (params->aggregation == STEREO_AGGREGATION_FULL)
    return left ? &stereo_cuda_asw_full_left : &stereo_cuda_asw_full_both;
  return left ? &stereo_cuda_asw_left : &stereo_cuda_asw_both;
}
