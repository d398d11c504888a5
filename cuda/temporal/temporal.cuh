/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the parts of the temporal stage share. */
#ifndef STEREO_CUDA_TEMPORAL_TEMPORAL_CUH
#define STEREO_CUDA_TEMPORAL_TEMPORAL_CUH

#include "cuda/common.cuh"

/* Of a view, in device memory. Between frames the histograms are 0, and so is the number of blocks that have added to them. */
struct TemporalMeasured
{
  uint32_t bins[STEREO_TEMPORAL_HISTOGRAMS][STEREO_TEMPORAL_BINS];
  uint32_t blocks;
  int32_t noise;
};

struct TemporalContext
{
  int16_t *change[2];         /* device, map: from the past to the present luma */
  TemporalMeasured *measured; /* device: of both views */
  int most;
};

/* What the kernels work on. */
struct TemporalWork
{
  StereoPast past[2];
  int16_t *change[2];
  TemporalMeasured *measured;
  int32_t *in_place; /* StereoLast's noise */
  int most;
};

/* changes.cu: finds the changes of both views, and their noise. blend.cu: averages what stands still. */
StereoStatus cuda_temporal_changes (StereoPlan *plan, const Frame &f, const TemporalWork &w, StereoError *error);
StereoStatus cuda_temporal_blend (StereoPlan *plan, const Frame &f, TemporalWork w, StereoError *error);

#endif
