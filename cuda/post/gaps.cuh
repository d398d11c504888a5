/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What fill=gaps leaves without a value: ../../stereo/exact/gaps.h. Found before pixels are filled, and emptied after. */
#ifndef STEREO_CUDA_POST_GAPS_CUH
#define STEREO_CUDA_POST_GAPS_CUH

#include "cuda/common.cuh"
#include "stereo/exact/gaps.h"

/* Maps of bytes are 0 or 1, with rows map_pitch apart. */
struct CudaGaps
{
  uint8_t *hole, *inner; /* pixels of small and of large bare squares; at first, the middles of those */
  uint8_t *open;         /* a map for each ray that goes up: it leaves the picture at its top */
  uint16_t *along;       /* what was counted, from the left end of a row up to each pixel */
};

StereoStatus cuda_gaps_reserve (StereoPlan *plan, CudaGaps *gaps, StereoError *error);
StereoStatus cuda_gaps_find (StereoPlan *plan, const CudaGaps &gaps, StereoError *error);
StereoStatus cuda_gaps_empty (StereoPlan *plan, const CudaGaps &gaps, StereoError *error);

#endif
