/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What selection hands over to later stages: costs to reselection, sub-pixel offsets to the disparity. */
#ifndef STEREO_CUDA_POST_SELECT_CUH
#define STEREO_CUDA_POST_SELECT_CUH

#include "cuda/common.cuh"

/* Maps that selection writes besides the frame state; the stage's context. */
struct Selection
{
  uint2 *costs[2]; /* of both views: cost of first | cost of second << 16, cost of third | its index << 16 */
  float *offset;   /* sub-pixel offset of the left view's first; NULL: the plan fits no sub-pixel */
};

/* The hand-over of a plan, which always selects. */
static inline const Selection *
cuda_selection (const StereoPlan *plan)
{
  return (const Selection *) cuda_context_of (plan, &stereo_cuda_select);
}

#endif
