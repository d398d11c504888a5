/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two passes of support=both: see asw_both.cu. Each has a file. */
#ifndef STEREO_CUDA_ASW_BOTH_CUH
#define STEREO_CUDA_ASW_BOTH_CUH

#include "cuda/asw.cuh"

StereoStatus asw_both_columns_prepare (StereoPlan *plan, StereoError *error);
StereoStatus asw_both_columns (StereoPlan *plan, StereoError *error);
StereoStatus asw_both_rows_prepare (StereoPlan *plan, StereoError *error);
StereoStatus asw_both_rows (StereoPlan *plan, StereoError *error);

#endif
