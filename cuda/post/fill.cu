/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Background fill: a pixel without a disparity gets that of its farther neighbour along the row. */
#include "cuda/common.cuh"

namespace
{

constexpr int FILL_THREADS = 256;

/* Gives every thread the last value at or before its own (@step -1), or the first value at or after it (@step 1). */
static __device__ void
spread (float *values, int step)
{
  int t = threadIdx.x;

  for (int reach = 1; reach < FILL_THREADS; reach *= 2) {
    int from = t + step * reach;
    __syncthreads ();
    float value = values[t];
    if (isnan (value) && from >= 0 && from < FILL_THREADS)
      value = values[from];
    __syncthreads ();
    values[t] = value;
  }
  __syncthreads ();
}

/* Fills holes. The left view sees there what the right view does not: it belongs to the farther neighbour. */
static __device__ void
fill_span (float *row, int from, int to, float before, float beyond)
{
  for (int x = from; x < to;) {
    if (!isnan (row[x])) {
      before = row[x++];
      continue;
    }
    int end = x;
    while (end < to && isnan (row[end]))
      end++;
    float after = end < to ? row[end] : beyond;
    float value = isnan (before) || after < before ? after : before;
    for (; x < end; x++)
      row[x] = value;
  }
}

/* Block: a row; thread: a span of it, which no other thread reads or writes. Shared memory: the last and the first
 * value of each span, from which every thread gets the values before and after its own span. */
static __global__ void
fill_kernel (Frame f)
{
  __shared__ float last[FILL_THREADS], first[FILL_THREADS];
  float *row = f.disparity + (size_t) blockIdx.x * f.map_pitch;
  int t = threadIdx.x, span = (f.width + FILL_THREADS - 1) / FILL_THREADS;
  int from = min (t * span, f.width), to = min (from + span, f.width);

  last[t] = first[t] = NAN;
  for (int x = from; x < to; x++)
    if (!isnan (row[x])) {
      last[t] = row[x];
      if (isnan (first[t]))
        first[t] = row[x];
    }
  spread (last, -1);
  spread (first, 1);
  fill_span (row, from, to, t > 0 ? last[t - 1] : NAN, t < FILL_THREADS - 1 ? first[t + 1] : NAN);
}

static StereoStatus
fill_run (StereoPlan *plan, void *context, StereoError *error)
{
  fill_kernel<<<plan->height, FILL_THREADS, 0, cuda_state (plan)->stream>>> (cuda_frame (plan));
  CUDA_LAUNCHED (plan, "fill_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_fill = { .name = "fill", .run = fill_run };
