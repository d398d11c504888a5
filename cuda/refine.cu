/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The expected disparity of refinement (3.2.3), in two passes: over a window, the mean of the
 * disparities selected so far, weighted by likeness, nearness and confidence. Both sums are carried
 * unnormalised through both passes, so that a column without confidence adds nothing to its row.
 */
#include "cuda/refine_lines.cuh"

#define MOST_WARPS 12           /* of a block: eights of its strip */
#define ROWS_PITCH (LINES + 1)  /* rows are stored across: lanes write neighbours of one row */

struct SumMaps
{
  float2 *view[2];              /* w F, w F D */
};

/* ---- columns ------------------------------------------------------------------------------------- */

/* The index in the low bits of 2^23 is a float less 2^23: cheaper than a conversion. */
static __device__ __forceinline__ float2
trust_of (float confidence, uint32_t index)
{
  return make_float2 (confidence, confidence * (__uint_as_float (0x4B000000u + index) - 8388608.0f));
}

/* Rows from @first on of 32 columns, a vector of four a thread: rows of maps and images are whole vectors. */
static __device__ __forceinline__ void
load_columns (const Frame &f, const StereoView &view, const LineTile<LINES> &tile, int pixels, int x0, int first)
{
  int line = threadIdx.x % 8 * 4, x = x0 + line;

#pragma unroll 2
  for (int p = threadIdx.x / 8; p < pixels; p += blockDim.x / 8) {
    int y = first + p;
    bool inside = y >= 0 && y < f.height;
    size_t map = (size_t) y * f.map_pitch + x;
    uint4 color = inside ? *(const uint4 *) (view.color + (size_t) y * f.image_pitch + x) : make_uint4 (0, 0, 0, 0);
    float4 confidence = inside ? *(const float4 *) (view.confidence + map) : make_float4 (0, 0, 0, 0);
    ushort4 index = inside ? *(const ushort4 *) (view.index + map) : make_ushort4 (0, 0, 0, 0);
    float2 a = trust_of (confidence.x, index.x), b = trust_of (confidence.y, index.y);
    float2 c = trust_of (confidence.z, index.z), d = trust_of (confidence.w, index.w);
    float4 *trust = (float4 *) (tile.trust + p * LINES + line);
    trust[0] = make_float4 (a.x, a.y, b.x, b.y);
    trust[1] = make_float4 (c.x, c.y, d.x, d.y);
    *(uint4 *) (tile.color + p * LINES + line) = color;
  }
}

/* A block per 32 columns and a strip of rows, a plane of the grid per view. */
template <bool ALIGNED> static __global__ void __launch_bounds__ (32 * MOST_WARPS, 2)
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
#pragma unroll
  for (int k = 0; k < EIGHT; k++)
    if (y + k < f.height)
      map[(size_t) (y + k) * f.map_pitch + x] = total[k];
}

/* ---- rows ------------------------------------------------------------------------------------------ */

/* Columns from @first on of 32 rows; a warp reads 32 columns of a row at a time. */
static __device__ __forceinline__ void
load_rows (const Frame &f, const StereoView &view, const float2 *map, const LineTile<ROWS_PITCH> &tile, int pixels,
    int first, int y0)
{
  int lane = threadIdx.x % 32;

#pragma unroll 4
  for (int n = threadIdx.x / 32; n < LINES * ((pixels + 31) / 32); n += blockDim.x / 32) {
    int line = n % LINES, p = n / LINES * 32 + lane, x = first + p, y = y0 + line;
    bool inside = x >= 0 && x < f.width && y < f.height;
    uint32_t color = inside ? view.color[(size_t) y * f.image_pitch + x] : 0;
    float2 sum = inside ? map[(size_t) y * f.map_pitch + x] : make_float2 (0, 0);
    if (p < pixels) {
      tile.color[p * ROWS_PITCH + line] = color;
      tile.trust[p * ROWS_PITCH + line] = sum;
    }
  }
}

/* A block per 32 rows and a strip of columns, a plane of the grid per view. */
template <bool ALIGNED> static __global__ void __launch_bounds__ (32 * MOST_WARPS, 2)
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

/* The longest strip whose tile the device's blocks can hold; one of two fits wherever the backend runs. */
static int
choose_warps (const StereoPlan *plan)
{
  int reach = line_factors (window_of (plan)).reach, warps = MOST_WARPS;
  while (warps > 2 && LineTile<ROWS_PITCH>::bytes (reach, warps) > (size_t) cuda_state (plan)->shared_per_block)
    warps -= 2;
  return warps;
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
launch_passes (StereoPlan *plan, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  LineFactors w = line_factors (window_of (plan));
  SumMaps sums = { { state->refine_sum[0], state->refine_sum[1] } };
  int warps = choose_warps (plan), strip = EIGHT * warps;
  dim3 vertical (cuda_blocks (plan->width, LINES), cuda_blocks (plan->height, strip), 2);
  dim3 horizontal (cuda_blocks (plan->width, strip), cuda_blocks (plan->height, LINES), 2);

  vertical_kernel<ALIGNED> <<<vertical, 32 * warps, LineTile<LINES>::bytes (w.reach, warps), state->stream>>>
      (cuda_frame (plan), w, sums);
  CUDA_LAUNCHED (plan, "vertical_kernel");
  horizontal_kernel<ALIGNED> <<<horizontal, 32 * warps, LineTile<ROWS_PITCH>::bytes (w.reach, warps), state->stream>>>
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
two_pass_prepare (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  StereoStatus status = is_aligned (plan) ? allow_shared<true> (plan, error) : allow_shared<false> (plan, error);
  for (int v = 0; v < 2 && !status; v++)
    status = stereo_reserve (plan, (void **) &state->refine_sum[v], (size_t) plan->map_pitch * (size_t) plan->height,
        sizeof (float2), error);
  return status;
}

static StereoStatus
two_pass_run (StereoPlan *plan, StereoError *error)
{
  return is_aligned (plan) ? launch_passes<true> (plan, error) : launch_passes<false> (plan, error);
}

extern const StereoStage stereo_cuda_refine_two_pass = { "refine", two_pass_prepare, two_pass_run };
