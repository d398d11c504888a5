/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The expected disparity of refinement (3.2.3) in two passes: over a window, the mean of the disparities selected so
 * far, weighted by likeness, nearness and confidence F. Both sums, of w F D and of w F, stay unnormalised until the end
 * of the second pass: a column without confidence then adds nothing to its row.
 */
#include "cuda/post/refine_lines.cuh"

namespace
{

constexpr int MOST_WARPS = 8;         /* of a block, and eights of its strip */
constexpr int BLOCKS = 3;             /* on a multiprocessor at a time, for the compiler's choice of registers */
constexpr int LOADS_AHEAD = 4;        /* loads of a thread before it stores them: all of a window of the usual size */
constexpr int ROWS_PITCH = LINES + 1; /* odd: lanes that write neighbours of one row use different banks */

/* Scratch memory of the stage: of both views, the vertical sums of w F and w F D. */
struct SumMaps
{
  float2 *view[2];
};

/* ---- columns ------------------------------------------------------------------------------------- */

/* F and F D of a pixel whose index is in the low half of @bits. With the exponent of 2^23 the index is a float +
 * 2^23. */
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

/* Loads rows from @first on of 32 columns, four pixels a thread: rows of maps and images are whole vectors of four. */
static __device__ __forceinline__ void
load_columns (const Frame &f, const StereoView &view, const LineTile<LINES> &tile, int pixels, int x0, int first)
{
  int line = threadIdx.x % 8 * 4, step = blockDim.x / 8;

  const uint32_t *colors = view.likeness + x0 + line;
  const float *confidences = view.confidence + x0 + line;
  const uint16_t *indices = view.index + x0 + line;

#pragma unroll 1
  for (int start = threadIdx.x / 8; start < pixels; start += LOADS_AHEAD * step) {
    uint4 color[LOADS_AHEAD];
    float4 confidence[LOADS_AHEAD];
    uint2 index[LOADS_AHEAD];
#pragma unroll
    for (int n = 0; n < LOADS_AHEAD; n++) {
      /* a small window needs fewer loads: the others load the last row, which is in the first-level cache */
      int row = first + min (start + n * step, pixels - 1), y = min (max (row, 0), f.height - 1);
      ptrdiff_t map = (ptrdiff_t) y * f.map_pitch;
      color[n] = *(const uint4 *) (colors + (ptrdiff_t) y * f.image_pitch);
      confidence[n] = *(const float4 *) (confidences + map);
      index[n] = *(const uint2 *) (indices + map);
      if (y != row)
        confidence[n] = make_float4 (0, 0, 0, 0);
    }
#pragma unroll
    for (int n = 0; n < LOADS_AHEAD; n++)
      if (start + n * step < pixels)
        store_columns (tile, (start + n * step) * LINES + line, color[n], confidence[n], index[n]);
  }
}

/* Block: 32 columns (a lane each) by a strip of rows (eight a warp); blockIdx.z: the view. Shared memory: see
 * LineTile. */
template <bool ALIGNED> static __global__ void __launch_bounds__ (32 * MOST_WARPS, BLOCKS)
    vertical_kernel (Frame f, LineFactors w, SumMaps sums)
{
  extern __shared__ float4 shared[];
  const StereoView &view = f.view[blockIdx.z];
  float2 *map = blockIdx.z ? sums.view[1] : sums.view[0], total[EIGHT];
  int warps = blockDim.x / 32, own = own_eight (threadIdx.x / 32, warps), lane = threadIdx.x % 32;
  int x = blockIdx.x * LINES + lane, y0 = blockIdx.y * EIGHT * warps, y = y0 + EIGHT * own;
  LineTile<LINES> tile (shared, w.rounded, warps);

  make_decay (tile.decay, w);
  load_columns (f, view, tile, tile.pixels (w.rounded, warps), blockIdx.x * LINES, y0 - w.rounded);
  __syncthreads ();
  sum_lines<ALIGNED> (tile, w, own, warps, y0, f.height, lane, total);
  if (x >= f.width) /* the columns past the image, up to a whole vector, are read by the second pass */
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

/* Loads columns from @first on of 32 rows. A warp loads four rows of 32 columns, four pixels a lane: the lanes then
 * write to different banks. */
static __device__ __forceinline__ void
load_rows (const Frame &f, const StereoView &view, const float2 *map, const LineTile<ROWS_PITCH> &tile, int pixels,
    int first, int y0)
{
  int row = threadIdx.x % 4, column = threadIdx.x % 32 / 4 * 4, step = blockDim.x / 32;
  int last = (f.width - 1) / 4 * 4, items = (pixels + 31) / 32 * 8;

#pragma unroll 1
  for (int start = threadIdx.x / 32; start < items; start += LOADS_AHEAD * step) {
    uint4 color[LOADS_AHEAD];
    float4 low[LOADS_AHEAD], high[LOADS_AHEAD];
#pragma unroll
    for (int n = 0; n < LOADS_AHEAD; n++) {
      int item = min (start + n * step, items - 1); /* as in load_columns() */
      int from = first + item / 8 * 32 + column, x = min (max (from, 0), last);
      int y = min (y0 + item % 8 * 4 + row, f.height - 1);
      const float4 *sums = (const float4 *) (map + (ptrdiff_t) y * f.map_pitch + x);
      color[n] = *(const uint4 *) (view.likeness + (ptrdiff_t) y * f.image_pitch + x);
      low[n] = sums[0];
      high[n] = sums[1];
      if (x != from)
        low[n] = high[n] = make_float4 (0, 0, 0, 0);
    }
#pragma unroll
    for (int n = 0; n < LOADS_AHEAD; n++) {
      int item = start + n * step, p = item / 8 * 32 + column;
      if (p < pixels)
        store_rows (tile, p * ROWS_PITCH + item % 8 * 4 + row, color[n], low[n], high[n]);
    }
  }
}

/* Block: 32 rows (a lane each) by a strip of columns (eight a warp); blockIdx.z: the view. Shared memory: see
 * LineTile. */
template <bool ALIGNED> static __global__ void __launch_bounds__ (32 * MOST_WARPS, BLOCKS)
    horizontal_kernel (Frame f, LineFactors w, SumMaps sums)
{
  extern __shared__ float4 shared[];
  const StereoView &view = f.view[blockIdx.z];
  const float2 *map = blockIdx.z ? sums.view[1] : sums.view[0];
  float2 total[EIGHT];
  int warps = blockDim.x / 32, own = own_eight (threadIdx.x / 32, warps), lane = threadIdx.x % 32;
  int x0 = blockIdx.x * EIGHT * warps, x = x0 + EIGHT * own, y = blockIdx.y * LINES + lane;
  LineTile<ROWS_PITCH> tile (shared, w.rounded, warps);

  make_decay (tile.decay, w);
  load_rows (f, view, map, tile, tile.pixels (w.rounded, warps), x0 - w.rounded, blockIdx.y * LINES);
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

/* Eights of a strip along a line of @length pixels: as many as a block may have and shared memory holds, which is at
 * least two on every device of the backend. Strips get about the same length. */
static int
choose_warps (const StereoPlan *plan, int length)
{
  int rounded = line_factors (window_of (plan)).rounded, warps = MOST_WARPS, eights = (length + EIGHT - 1) / EIGHT;

  while (warps > 2 && LineTile<ROWS_PITCH>::bytes (rounded, warps) > (size_t) cuda_state (plan)->shared_per_block)
    warps--;
  int strips = (eights + warps - 1) / warps;
  return (eights + strips - 1) / strips;
}

/* Allows the kernels the device's limit of shared memory: another plan of the process may need more than this one. */
template <bool ALIGNED> static StereoStatus
allow_shared (const StereoPlan *plan, StereoError *error)
{
  int most = cuda_state (plan)->shared_per_block;
  CUDA_TRY (cudaFuncSetAttribute (vertical_kernel<ALIGNED>, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  CUDA_TRY (cudaFuncSetAttribute (horizontal_kernel<ALIGNED>, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  CUDA_TRY (cudaFuncSetAttribute (
      vertical_kernel<ALIGNED>, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
  CUDA_TRY (cudaFuncSetAttribute (
      horizontal_kernel<ALIGNED>, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
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

  vertical_kernel<ALIGNED>
      <<<vertical, 32 * down, LineTile<LINES>::bytes (w.rounded, down), state->stream>>> (cuda_frame (plan), w, sums);
  CUDA_LAUNCHED (plan, "vertical_kernel");
  horizontal_kernel<ALIGNED>
      <<<horizontal, 32 * across, LineTile<ROWS_PITCH>::bytes (w.rounded, across), state->stream>>> (
          cuda_frame (plan), w, sums);
  CUDA_LAUNCHED (plan, "horizontal_kernel");
  return STEREO_OK;
}

/* The radius of windows of 17, 33, 49, 65, ... is a multiple of eight. */
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
    status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &sums->view[v],
        (size_t) plan->map_pitch * (size_t) plan->height, sizeof (float2), error);
  return status;
}

static StereoStatus
two_pass_run (StereoPlan *plan, void *context, StereoError *error)
{
  const SumMaps &sums = *(const SumMaps *) context;
  return is_aligned (plan) ? launch_passes<true> (plan, sums, error) : launch_passes<false> (plan, sums, error);
}

}

extern const StereoStage stereo_cuda_refine_two_pass = {
  .name = "refine", .context_size = sizeof (SumMaps), .prepare = two_pass_prepare, .run = two_pass_run
};
