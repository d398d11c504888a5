/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Paths that select the winners themselves: selection then has nothing left to do. */
#ifndef STEREO_CUDA_SGM_WINNERS_CUH
#define STEREO_CUDA_SGM_WINNERS_CUH

#include "cuda/common.cuh"

/* stage.cu: whether the plan's last paths do the work of the step that follows them, selection. */
bool sgm_selects (const StereoPlan *plan);

#endif
