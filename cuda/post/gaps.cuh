/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What fill=gaps leaves without a value: ../../stereo/exact/gaps.h. Sure pixels are counted before others are filled; what is open is
 * found meanwhile, and emptied after. */
#ifndef STEREO_CUDA_POST_GAPS_CUH
#define STEREO_CUDA_POST_GAPS_CUH

#include "cuda/common.cuh"
#include "stereo/exact/gaps.h"

/* Maps of cells, in rows of @columns. Of bytes that are 0 or 1. */
struct CudaGaps
{
  uint8_t *square[2]; /* cells of bare squares of each kind; at first, the middles of those */
  uint8_t *open;      /* a map for each ray that goes up: it leaves the picture at its top */
  int *along[2];      /* of each kind of square: what was counted, from the left end of a row up to each cell */
  int columns, rows;
};

StereoStatus cuda_gaps_reserve (StereoPlan *plan, CudaGaps *gaps, StereoError *error);
StereoStatus cuda_gaps_count (StereoPlan *plan, const CudaGaps &gaps, StereoError *error);
StereoStatus cuda_gaps_find (StereoPlan *plan, const CudaGaps &gaps, cudaStream_t stream, StereoError *error);
StereoStatus cuda_gaps_empty (StereoPlan *plan, const CudaGaps &gaps, StereoError *error);

#endif
