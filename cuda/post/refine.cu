/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The expected disparity of refinement (3.2.3): over a window, the mean of the disparities selected so far, weighted by likeness,
 * nearness and confidence F. In two passes, or over the full window, which is slow, and there to compare with. Both sums, of
 * w F D and of w F, stay unnormalised until the end of the last pass: a column without confidence then adds nothing to its row.
 */
#include "cuda/common.cuh"

namespace
{

constexpr int LINES = 32;        /* of a block, a lane each */
constexpr int EIGHT = 8;         /* neighbouring pixels of a line, of a thread; and taps that it takes at a time */
constexpr int PITCH = LINES + 1; /* odd: lanes that write neighbours of one line use different banks */
constexpr int MOST_WARPS = 8;    /* of a block, and eights of its strip */
constexpr int BLOCKS = 3;        /* on a multiprocessor at a time, for the compiler's choice of registers */
constexpr int LOADS_AHEAD = 4;   /* of a thread before it stores them */

enum Pass
{
  COLUMNS, /* the first of two: lines are columns */
  ROWS,    /* the second: lines are rows, of the sums of the first */
  FULL     /* the only one: rows, one after the other */
};

struct Window
{
  int radius, rounded;   /* rounded: up to whole eights */
  float color, distance; /* base-2 factors of SAD and distance (4.4.1) */
};

static inline Window
window_of (const StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  int radius = p->refine_window / 2;
  return { radius, (radius + EIGHT - 1) / EIGHT * EIGHT, (float) (-STEREO_LOG2E / p->refine_gamma_color),
    (float) (-STEREO_LOG2E / p->refine_gamma_distance) };
}

/* Scratch memory of the two passes: of both views, the vertical sums of w F and w F D. */
struct SumMaps
{
  float2 *view[2];
};

/* In shared memory: a strip of 8 pixels a warp, and Window.rounded pixels on both sides; pixel p of line l is at p * PITCH + l.
 * @distance: terms of the exponent, of offsets from -rounded - 7 on. */
struct Tile
{
  float2 *trust; /* F and F D, or their vertical sums; 0 outside the image */
  uint32_t *color;
  float *distance;

  static __host__ __device__ int
  pixels (const Window &w, int warps)
  {
    return 2 * w.rounded + EIGHT * warps;
  }

  static size_t
  bytes (const Window &w, int warps)
  {
    return (size_t) pixels (w, warps) * PITCH * (sizeof (float2) + sizeof (uint32_t)) +
        (size_t) (2 * w.rounded + 2 * EIGHT) * sizeof (float);
  }

  __device__
  Tile (float4 *shared, const Window &w, int warps)
  {
    int count = pixels (w, warps) * PITCH;
    trust = (float2 *) shared;
    color = (uint32_t *) (trust + count);
    distance = (float *) (color + count);
  }
};

/* Loads lines from @line on, each from pixel @first on, and the distance terms of taps that are @across lines away. */
template <Pass PASS> static __device__ __forceinline__ void
load_tile (const Frame &f, const Window &w, const StereoView &view, const float2 *sums, const Tile &tile, int line,
    int first, int across)
{
  int lane = threadIdx.x % 32, warps = blockDim.x / 32, pixels = Tile::pixels (w, warps);
  int items = PASS == COLUMNS ? pixels : (pixels + 31) / 32 * LINES;

#pragma unroll LOADS_AHEAD
  for (int n = threadIdx.x / 32; n < items; n += warps) {
    int l = PASS == COLUMNS ? lane : n % LINES, p = PASS == COLUMNS ? n : n / LINES * 32 + lane;
    int x = PASS == COLUMNS ? line + l : first + p, y = PASS == COLUMNS ? first + p : line + l + across;
    bool inside = x >= 0 && x < f.width && y >= 0 && y < f.height;
    size_t map = inside ? (size_t) y * f.map_pitch + x : 0;
    uint32_t color = view.likeness[inside ? (size_t) y * f.image_pitch + x : 0];
    float2 trust;
    if (PASS == ROWS)
      trust = sums[map];
    else
      trust = make_float2 (view.confidence[map], view.confidence[map] * (float) view.index[map]);
    if (p < pixels) {
      tile.color[p * PITCH + l] = color;
      tile.trust[p * PITCH + l] = inside ? trust : make_float2 (0, 0);
    }
  }
  for (int n = threadIdx.x; n < 2 * w.rounded + 2 * EIGHT; n += blockDim.x) {
    int along = abs (n - w.rounded - (EIGHT - 1));
    tile.distance[n] = along > w.radius ? -INFINITY : w.distance * sqrtf ((float) (along * along + across * across));
  }
}

/* Adds the taps in reach of a thread's eight, of colours @centre, to its sums. @place: of the first tap. */
static __device__ __forceinline__ void
add_line (float2 (&sum)[EIGHT], const uint32_t (&centre)[EIGHT], const Tile &tile, const Window &w, int place)
{
#pragma unroll 1
  for (int from = 0; from <= 2 * w.rounded; from += EIGHT, place += EIGHT * PITCH) {
    float distance[2 * EIGHT];
#pragma unroll
    for (int n = 0; n < 2 * EIGHT; n += 4)
      *(float4 *) (distance + n) = *(const float4 *) (tile.distance + from + n);
#pragma unroll
    for (int tap = 0; tap < EIGHT; tap++) {
      uint32_t color = tile.color[place + tap * PITCH];
      float2 trust = tile.trust[place + tap * PITCH];
#pragma unroll
      for (int k = 0; k < EIGHT; k++) {
        float weight = cuda_weight (centre[k], color, w.color, distance[tap - k + EIGHT - 1]);
        sum[k].x = fmaf (weight, trust.x, sum[k].x);
        sum[k].y = fmaf (weight, trust.y, sum[k].y);
      }
    }
  }
}

/* rint (sum of w F D / sum of w F) in steps of 1/64; none where no neighbour has confidence. */
static __device__ int
expected_of (float2 sum)
{
  return sum.x > 0 ? (int) rintf (sum.y / sum.x * STEREO_EXPECT_STEPS) : STEREO_EXPECT_NONE;
}

/* Block: 32 lines by a strip of them, eight pixels a thread; blockIdx.z: the view. Shared memory: see Tile. */
template <Pass PASS> static __global__ void __launch_bounds__ (32 * MOST_WARPS, BLOCKS)
    refine_kernel (Frame f, Window w, SumMaps sums)
{
  extern __shared__ float4 shared[];
  const StereoView &view = f.view[blockIdx.z];
  float2 *map = blockIdx.z ? sums.view[1] : sums.view[0], sum[EIGHT] = {};
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  int line = (PASS == COLUMNS ? blockIdx.x : blockIdx.y) * LINES;
  int first = (PASS == COLUMNS ? blockIdx.y : blockIdx.x) * EIGHT * warps;
  int x = PASS == COLUMNS ? line + lane : first + EIGHT * warp, y = PASS == COLUMNS ? first + EIGHT * warp : line + lane;
  Tile tile (shared, w, warps);
  uint32_t centre[EIGHT];

#pragma unroll
  for (int k = 0; k < EIGHT; k++)
    centre[k] = view.likeness[(size_t) min (PASS == COLUMNS ? y + k : y, f.height - 1) * f.image_pitch +
        min (PASS == COLUMNS ? x : x + k, f.width - 1)];
#pragma unroll 1
  for (int across = PASS == FULL ? -w.radius : 0; across <= (PASS == FULL ? w.radius : 0); across++) {
    load_tile<PASS> (f, w, view, map, tile, line, first - w.rounded, across);
    __syncthreads ();
    if (x < f.width && y < f.height)
      add_line (sum, centre, tile, w, EIGHT * warp * PITCH + lane);
    if (PASS == FULL)
      __syncthreads ();
  }
  if (x >= f.width || y >= f.height)
    return;
  size_t at = (size_t) y * f.map_pitch + x;
  if (PASS == COLUMNS)
#pragma unroll
    for (int k = 0; k < EIGHT && y + k < f.height; k++)
      map[at + (size_t) k * f.map_pitch] = sum[k];
  else
#pragma unroll
    for (int k = 0; k < EIGHT; k += 4)
      *(int4 *) (view.expected + at + k) = make_int4 (
          expected_of (sum[k]), expected_of (sum[k + 1]), expected_of (sum[k + 2]), expected_of (sum[k + 3]));
}

/* ---- stages ---------------------------------------------------------------------------------------- */

/* A strip has as many eights as a block may have and shared memory holds, which is at least two on every device of the backend;
 * strips get about the same length. The kernel is allowed the device's limit of shared memory: another plan of the process may
 * need more than this one. */
template <Pass PASS> static StereoStatus
launch (StereoPlan *plan, const SumMaps &sums, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  Window w = window_of (plan);
  int length = PASS == COLUMNS ? plan->height : plan->width, lines = PASS == COLUMNS ? plan->width : plan->height;
  int eights = (int) cuda_blocks (length, EIGHT), warps = MOST_WARPS;

  while (warps > 2 && Tile::bytes (w, warps) > (size_t) state->shared_per_block)
    warps--;
  unsigned strips = cuda_blocks (eights, warps), across = cuda_blocks (lines, LINES);
  warps = (int) cuda_blocks (eights, strips);
  CUDA_TRY (
      cudaFuncSetAttribute (refine_kernel<PASS>, cudaFuncAttributeMaxDynamicSharedMemorySize, state->shared_per_block));
  refine_kernel<PASS><<<PASS == COLUMNS ? dim3 (across, strips, 2) : dim3 (strips, across, 2), 32 * warps,
      Tile::bytes (w, warps), state->stream>>> (cuda_frame (plan), w, sums);
  CUDA_LAUNCHED (plan, "refine_kernel");
  return STEREO_OK;
}

static StereoStatus
two_pass_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  SumMaps *sums = (SumMaps *) context;
  StereoStatus status = STEREO_OK;

  for (int v = 0; v < 2 && !status; v++)
    status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &sums->view[v],
        (size_t) plan->map_pitch * (size_t) plan->height, sizeof (float2), error);
  return status;
}

static StereoStatus
two_pass_run (StereoPlan *plan, void *context, StereoError *error)
{
  const SumMaps &sums = *(const SumMaps *) context;
  StereoStatus status = launch<COLUMNS> (plan, sums, error);
  return status ? status : launch<ROWS> (plan, sums, error);
}

static StereoStatus
full_run (StereoPlan *plan, void *context, StereoError *error)
{
  return launch<FULL> (plan, {}, error);
}

}

extern const StereoStage stereo_cuda_refine_two_pass = {
  .name = "refine", .context_size = sizeof (SumMaps), .prepare = two_pass_prepare, .run = two_pass_run
};
extern const StereoStage stereo_cuda_refine_full = { .name = "refine", .run = full_run };
