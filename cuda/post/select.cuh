/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What selection hands over to later stages: costs to reselection, sub-pixel offsets to the disparity. */
#ifndef STEREO_CUDA_POST_SELECT_CUH
#define STEREO_CUDA_POST_SELECT_CUH

#include "cuda/common.cuh"

/* Maps that selection writes besides the frame state; the stage's context. */
struct Selection
{
  uint32_t *costs[2];      /* of both views: cost of first | cost of second << 16; NULL: nobody reads them */
  uint32_t *remembered[2]; /* 0; reselection says here which pixels it remembers; NULL: there is at most one iteration */
  float *offset;           /* sub-pixel offset of the left view's first; NULL: the plan fits no sub-pixel */
};

/* cuda/sgm/stage.cu: whether the plan's last paths select themselves, so that the step has nothing left to do. */
bool sgm_selects (const StereoPlan *plan);

/* Whether later steps read what selection hands over of the costs, and the volume. */
static inline bool
cuda_reselects (const StereoPlan *plan)
{
  return plan->params.refine_iterations > 0;
}

/* How many of the lowest costs of a right pixel are kept: without reselection only the lowest one is read. */
static inline int
cuda_kept_of_right (const StereoPlan *plan)
{
  return cuda_reselects (plan) || cuda_state (plan)->no_fusion ? 2 : 1;
}

/* The hand-over of a plan, which always selects. */
static inline const Selection *
cuda_selection (const StereoPlan *plan)
{
  return (const Selection *) cuda_context_of (plan, &stereo_cuda_select);
}

#endif
