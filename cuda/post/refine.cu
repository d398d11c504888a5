/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The expected disparity of refinement (3.2.3), in two passes: over a window, the mean of the
 * disparities selected so far, weighted by likeness, nearness and confidence. Both sums are carried
 * unnormalised through both passes, so that a column without confidence adds nothing to its row.
 */
#include "cuda/post/refine_lines.cuh"

namespace
{

#define MOST_WARPS 8            /* of a block: eights of its strip */
#define BLOCKS 3                /* on a multiprocessor at a time, what registers are shared out for */
#define AHEAD 4                 /* loads of a thread before it stores: all that the usual window takes */
#define ROWS_PITCH (LINES + 1)  /* rows are stored across: lanes write neighbours of one row */

/* Scratch memory of the stage: of both views, the vertical sums of w F and w F D. */
struct SumMaps
{
  float2 *view[2];
};

/* ---- columns ------------------------------------------------------------------------------------- */

/* An index in the low half of @bits, or the high one, in the low bits of 2^23: a float less 2^23. */
static __device__ __forceinline__ float2
low_trust (float confidence, uint32_t bits)
{
  return make_float2 (confidence, confidence * (__uint_as_float (__byte_perm (bits, 0x4B00, 0x5410)) - 8388608.0f));
}

static __device__ __forceinline__ float2
high_trust (float confidence, uint32_t bits)
{
  return make_float2 (confidence, confidence * (__uint_as_float (__byte_perm (bits, 0x4B00, 0x5432)) - 8388608.0f));
}

static __device__ __forceinline__ void
store_columns (const LineTile<LINES> &tile, int at, uint4 color, float4 confidence, uint2 index)
{
  float2 a = low_trust (confidence.x, index.x), b = high_trust (confidence.y, index.x);
  float2 c = low_trust (confidence.z, index.y), d = high_trust (confidence.w, index.y);
  float4 *trust = (float4 *) (tile.trust + at);

  trust[0] = make_float4 (a.x, a.y, b.x, b.y);
  trust[1] = make_float4 (c.x, c.y, d.x, d.y);
  *(uint4 *) (tile.color + at) = color;
}

/* Rows from @first on of 32 columns, a vector of four a thread: rows of maps and images are whole vectors. */
static __device__ __forceinline__ void
load_columns (const Frame &f, const StereoView &view, const LineTile<LINES> &tile, int pixels, int x0, int first)
{
  int line = threadIdx.x % 8 * 4, step = blockDim.x / 8;

  const uint32_t *colors = view.color + x0 + line;
  const float *confidences = view.confidence + x0 + line;
  const uint16_t *indices = view.index + x0 + line;

#pragma unroll 1
  for (int start = threadIdx.x / 8; start < pixels; start += AHEAD * step) {
    uint4 color[AHEAD];
    float4 confidence[AHEAD];
    uint2 index[AHEAD];
#pragma unroll
    for (int n = 0; n < AHEAD; n++) {
      int row = first + start + n * step, y = min (max (row, 0), f.height - 1);
      ptrdiff_t map = (ptrdiff_t) y * f.map_pitch;
      color[n] = *(const uint4 *) (colors + (ptrdiff_t) y * f.image_pitch);
      confidence[n] = *(const float4 *) (confidences + map);
      index[n] = *(const uint2 *) (indices + map);
      if (y != row)
        confidence[n] = make_float4 (0, 0, 0, 0);
    }
#pragma unroll
    for (int n = 0; n < AHEAD; n++)
      if (start + n * step < pixels)
        store_columns (tile, (start + n * step) * LINES + line, color[n], confidence[n], index[n]);
  }
}

/* A block per 32 columns and a strip of rows, a plane of the grid per view. */
template <bool ALIGNED> static __global__ void __launch_bounds__ (32 * MOST_WARPS, BLOCKS)
vertical_kernel (Frame f, LineFactors w, SumMaps sums)
{
  extern __shared__ float4 shared[];
  const StereoView &view = f.view[blockIdx.z];
  float2 *map = blockIdx.z ? sums.view[1] : sums.view[0], total[EIGHT];
  int warps = blockDim.x / 32, own = own_eight (threadIdx.x / 32, warps), lane = threadIdx.x % 32;
  int x = blockIdx.x * LINES + lane, y0 = blockIdx.y * EIGHT * warps, y = y0 + EIGHT * own;
  LineTile<LINES> tile (shared, w.reach, warps);

  make_decay (tile.decay, w);
  load_columns (f, view, tile, tile.pixels (w.reach, warps), blockIdx.x * LINES, y0 - w.reach);
  __syncthreads ();
  sum_lines<ALIGNED> (tile, w, own, warps, y0, f.height, lane, total);
  if (x >= f.width)             /* rows are read beyond their last column, up to a whole vector */
#pragma unroll
    for (int k = 0; k < EIGHT; k++)
      total[k] = make_float2 (0, 0);
  float2 *to = map + (ptrdiff_t) y * f.map_pitch + x;
#pragma unroll
  for (int k = 0; k < EIGHT; k++, to += f.map_pitch)
    if (y + k < f.height)
      *to = total[k];
}

/* ---- rows ------------------------------------------------------------------------------------------ */

static __device__ __forceinline__ void
store_rows (const LineTile<ROWS_PITCH> &tile, int at, uint4 color, float4 low, float4 high)
{
  uint32_t *to = tile.color + at;
  float2 *trust = tile.trust + at;

  to[0] = color.x, to[ROWS_PITCH] = color.y, to[2 * ROWS_PITCH] = color.z, to[3 * ROWS_PITCH] = color.w;
  trust[0] = make_float2 (low.x, low.y), trust[ROWS_PITCH] = make_float2 (low.z, low.w);
  trust[2 * ROWS_PITCH] = make_float2 (high.x, high.y), trust[3 * ROWS_PITCH] = make_float2 (high.z, high.w);
}

/* Columns from @first on of 32 rows. A warp takes four rows of 32 columns, vectors of four a lane: its
 * writes then meet in no bank. */
static __device__ __forceinline__ void
load_rows (const Frame &f, const StereoView &view, const float2 *map, const LineTile<ROWS_PITCH> &tile, int pixels,
    int first, int y0)
{
  int row = threadIdx.x % 4, column = threadIdx.x % 32 / 4 * 4, step = blockDim.x / 32;

  int last = (f.width - 1) / 4 * 4;

#pragma unroll 1
  for (int start = threadIdx.x / 32; start < (pixels + 31) / 32 * 8; start += AHEAD * step) {
    uint4 color[AHEAD];
    float4 low[AHEAD], high[AHEAD];
#pragma unroll
    for (int n = 0; n < AHEAD; n++) {
      int item = start + n * step, from = first + item / 8 * 32 + column, x = min (max (from, 0), last);
      int y = min (y0 + item % 8 * 4 + row, f.height - 1);
      const float4 *sums = (const float4 *) (map + (ptrdiff_t) y * f.map_pitch + x);
      color[n] = *(const uint4 *) (view.color + (ptrdiff_t) y * f.image_pitch + x);
      low[n] = sums[0];
      high[n] = sums[1];
      if (x != from)
        low[n] = high[n] = make_float4 (0, 0, 0, 0);
    }
#pragma unroll
    for (int n = 0; n < AHEAD; n++) {
      int item = start + n * step, p = item / 8 * 32 + column;
      if (p < pixels)
        store_rows (tile, p * ROWS_PITCH + item % 8 * 4 + row, color[n], low[n], high[n]);
    }
  }
}

/* A block per 32 rows and a strip of columns, a plane of the grid per view. */
template <bool ALIGNED> static __global__ void __launch_bounds__ (32 * MOST_WARPS, BLOCKS)
horizontal_kernel (Frame f, LineFactors w, SumMaps sums)
{
  extern __shared__ float4 shared[];
  const StereoView &view = f.view[blockIdx.z];
  const float2 *map = blockIdx.z ? sums.view[1] : sums.view[0];
  float2 total[EIGHT];
  int warps = blockDim.x / 32, own = own_eight (threadIdx.x / 32, warps), lane = threadIdx.x % 32;
  int x0 = blockIdx.x * EIGHT * warps, x = x0 + EIGHT * own, y = blockIdx.y * LINES + lane;
  LineTile<ROWS_PITCH> tile (shared, w.reach, warps);

  make_decay (tile.decay, w);
  load_rows (f, view, map, tile, tile.pixels (w.reach, warps), x0 - w.reach, blockIdx.y * LINES);
  __syncthreads ();
  sum_lines<ALIGNED> (tile, w, own, warps, x0, f.width, lane, total);
  if (x >= f.width || y >= f.height)
    return;
  int4 *to = (int4 *) (view.expected + (size_t) y * f.map_pitch + x);
#pragma unroll
  for (int k = 0; k < EIGHT; k += 4)
    to[k / 4] = make_int4 (expected_of (total[k].x, total[k].y), expected_of (total[k + 1].x, total[k + 1].y),
        expected_of (total[k + 2].x, total[k + 2].y), expected_of (total[k + 3].x, total[k + 3].y));
}

/* ---- stage ----------------------------------------------------------------------------------------- */

/* Eights of a strip along a line of @length pixels: as many as a block may have and the device's shared
 * memory holds (two, wherever the backend runs), but strips of about the same length. */
static int
choose_warps (const StereoPlan *plan, int length)
{
  int reach = line_factors (window_of (plan)).reach, warps = MOST_WARPS, eights = (length + EIGHT - 1) / EIGHT;

  while (warps > 2 && LineTile<ROWS_PITCH>::bytes (reach, warps) > (size_t) cuda_state (plan)->shared_per_block)
    warps--;
  int strips = (eights + warps - 1) / warps;
  return (eights + strips - 1) / strips;
}

/* The device's limits, and not this plan's needs: another plan of the process may need more. */
template <bool ALIGNED> static StereoStatus
allow_shared (const StereoPlan *plan, StereoError *error)
{
  int most = cuda_state (plan)->shared_per_block;
  CUDA_TRY (cudaFuncSetAttribute (vertical_kernel<ALIGNED>, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  CUDA_TRY (cudaFuncSetAttribute (horizontal_kernel<ALIGNED>, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  CUDA_TRY (cudaFuncSetAttribute (vertical_kernel<ALIGNED>, cudaFuncAttributePreferredSharedMemoryCarveout,
          cudaSharedmemCarveoutMaxShared));
  CUDA_TRY (cudaFuncSetAttribute (horizontal_kernel<ALIGNED>, cudaFuncAttributePreferredSharedMemoryCarveout,
          cudaSharedmemCarveoutMaxShared));
  return STEREO_OK;
}

template <bool ALIGNED> static StereoStatus
launch_passes (StereoPlan *plan, const SumMaps &sums, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  LineFactors w = line_factors (window_of (plan));
  int down = choose_warps (plan, plan->height), across = choose_warps (plan, plan->width);
  dim3 vertical (cuda_blocks (plan->width, LINES), cuda_blocks (plan->height, EIGHT * down), 2);
  dim3 horizontal (cuda_blocks (plan->width, EIGHT * across), cuda_blocks (plan->height, LINES), 2);

  vertical_kernel<ALIGNED> <<<vertical, 32 * down, LineTile<LINES>::bytes (w.reach, down), state->stream>>>
      (cuda_frame (plan), w, sums);
  CUDA_LAUNCHED (plan, "vertical_kernel");
  horizontal_kernel<ALIGNED> <<<horizontal, 32 * across, LineTile<ROWS_PITCH>::bytes (w.reach, across), state->stream>>>
      (cuda_frame (plan), w, sums);
  CUDA_LAUNCHED (plan, "horizontal_kernel");
  return STEREO_OK;
}

/* Windows of 17, 33, 49, 65, ... reach whole eights. */
static bool
is_aligned (const StereoPlan *plan)
{
  int radius = plan->params.refine_window / 2;
  return radius >= EIGHT && radius % EIGHT == 0;
}

static StereoStatus
two_pass_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  SumMaps *sums = (SumMaps *) context;
  StereoStatus status = is_aligned (plan) ? allow_shared<true> (plan, error) : allow_shared<false> (plan, error);
  for (int v = 0; v < 2 && !status; v++)
    status = stereo_reserve (plan, (void **) &sums->view[v], (size_t) plan->map_pitch * (size_t) plan->height,
        sizeof (float2), error);
  return status;
}

static StereoStatus
two_pass_run (StereoPlan *plan, void *context, StereoError *error)
{
  const SumMaps &sums = *(const SumMaps *) context;
  return is_aligned (plan) ? launch_passes<true> (plan, sums, error) : launch_passes<false> (plan, sums, error);
}

}

extern const StereoStage stereo_cuda_refine_two_pass = { .name = "refine", .context_size = sizeof (SumMaps),
  .prepare = two_pass_prepare, .run = two_pass_run };
