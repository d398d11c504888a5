/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the past to the present luma: the change of each pixel, and how much of that is noise. */
#include "cuda/temporal/temporal.cuh"

namespace
{

constexpr int BINS = STEREO_TEMPORAL_BINS;
constexpr int THREADS = 128;
constexpr int FOUR = 4;        /* columns of a thread */
constexpr int CHANGE_ROWS = 8; /* of a block */
constexpr uint32_t ALL_LANES = 0xFFFFFFFFu;

/* Changes of four columns. */
static __device__ __forceinline__ short4
changes_of (const StereoPast &past, size_t at, uchar4 luma)
{
  ushort4 red = *(const ushort4 *) (past.channel[0] + at), green = *(const ushort4 *) (past.channel[1] + at),
          blue = *(const ushort4 *) (past.channel[2] + at);
  return make_short4 ((short) stereo_temporal_change (luma.x, red.x, green.x, blue.x),
      (short) stereo_temporal_change (luma.y, red.y, green.y, blue.y),
      (short) stereo_temporal_change (luma.z, red.z, green.z, blue.z),
      (short) stereo_temporal_change (luma.w, red.w, green.w, blue.w));
}

/* The bin of a change from an average of @count frames. */
static __device__ __forceinline__ int
bin_of_change (int change, int count)
{
  return min ((abs (change) * (4 * count + 1) / (4 * count + 3) + 32) >> 6, BINS - 1);
}

/* The bin of the curvature at @at, a place in rows of @pitch. */
static __device__ __forceinline__ int
bin_of_curvature (const uint8_t *at, int pitch)
{
  const uint8_t *above = at - pitch, *below = at + pitch;
  int c = above[-1] + above[1] + below[-1] + below[1] + 4 * at[0] - 2 * (above[0] + below[0] + at[-1] + at[1]);
  return min (abs (c), BINS - 1);
}

/* Adds a pixel to both histograms. @row: its luma. @curved: it has eight neighbours. */
static __device__ __forceinline__ void
count_pixel (uint32_t (*bins)[BINS], const uint8_t *row, int pitch, int luma, int change, int count, bool curved)
{
  if (luma < STEREO_TEMPORAL_DARKEST || luma > STEREO_TEMPORAL_BRIGHTEST)
    return;
  if (count)
    atomicAdd (&bins[STEREO_TEMPORAL_CHANGES][bin_of_change (change, count)], 1u);
  if (curved)
    atomicAdd (&bins[STEREO_TEMPORAL_CURVATURES][bin_of_curvature (row, pitch)], 1u);
}

/* By a warp: stereo_temporal_quartile() becomes *@quartile, which is 0. */
static __device__ __forceinline__ void
find_quartile (const uint32_t *bins, int32_t *quartile)
{
  constexpr int EACH = BINS / 32;
  int lane = threadIdx.x % 32;
  uint32_t own[EACH], sum = 0, up_to;

#pragma unroll
  for (int k = 0; k < EACH; k++)
    sum += own[k] = bins[EACH * lane + k];
  up_to = sum;
#pragma unroll
  for (int reach = 1; reach < 32; reach *= 2) {
    uint32_t lower = __shfl_up_sync (ALL_LANES, up_to, reach);
    up_to += lane >= reach ? lower : 0;
  }
  uint32_t total = __shfl_sync (ALL_LANES, up_to, 31), before = up_to - sum;
#pragma unroll
  for (int k = 0; k < EACH; k++) {
    if (4 * (uint64_t) before < total && 4 * (uint64_t) (before + own[k]) >= total)
      *quartile = stereo_temporal_in_bin (EACH * lane + k, own[k], before, total);
    before += own[k];
  }
}

/* By the last block of a view: its histograms become the noise, and are empty for the next frame. @in_place: where the noise goes that
 * the curvatures alone show, or NULL. */
static __device__ __forceinline__ void
measure_noise (TemporalMeasured *measured, uint32_t (*bins)[BINS], int32_t *in_place)
{
  __shared__ int32_t quartile[STEREO_TEMPORAL_HISTOGRAMS];

  for (int k = threadIdx.x; k < STEREO_TEMPORAL_HISTOGRAMS * BINS; k += THREADS)
    (&bins[0][0])[k] = atomicExch (&measured->bins[0][0] + k, 0u);
  if (threadIdx.x < STEREO_TEMPORAL_HISTOGRAMS)
    quartile[threadIdx.x] = 0;
  __syncthreads ();
  if (threadIdx.x < 32 * STEREO_TEMPORAL_HISTOGRAMS)
    find_quartile (bins[threadIdx.x / 32], &quartile[threadIdx.x / 32]);
  __syncthreads ();
  if (threadIdx.x)
    return;
  measured->noise = stereo_temporal_noise (quartile[STEREO_TEMPORAL_CHANGES], quartile[STEREO_TEMPORAL_CURVATURES]);
  measured->blocks = 0;
  if (in_place)
    *in_place = stereo_temporal_in_place (quartile[STEREO_TEMPORAL_CURVATURES]);
}

static_assert (32 * STEREO_TEMPORAL_HISTOGRAMS <= THREADS && BINS % 32 == 0, "a warp for each histogram");
static_assert (STEREO_TEMPORAL_STEP == 2 && FOUR == 4, "of each four columns, the first and the third are counted");

/* Thread: FOUR columns of CHANGE_ROWS rows; blockIdx.z: the view. Each block has histograms of its own in shared memory. Rows
 * are whole fours of pixels long, in maps and in images. */
static __global__ void
__launch_bounds__ (THREADS) change_kernel (const __grid_constant__ Frame f, const __grid_constant__ TemporalWork w)
{
  __shared__ uint32_t bins[STEREO_TEMPORAL_HISTOGRAMS][BINS];
  int x = FOUR * (blockIdx.x * THREADS + threadIdx.x), view = blockIdx.z, begin = blockIdx.y * CHANGE_ROWS;
  const StereoPast &past = w.past[view];
  TemporalMeasured *measured = w.measured + view;

  for (int k = threadIdx.x; k < STEREO_TEMPORAL_HISTOGRAMS * BINS; k += THREADS)
    (&bins[0][0])[k] = 0;
  __syncthreads ();
#pragma unroll 2
  for (int y = begin; x < f.width && y < min (begin + CHANGE_ROWS, f.height); y++) {
    const uint8_t *row = f.view[view].luma + (size_t) y * f.image_pitch + x;
    size_t at = (size_t) y * f.map_pitch + x;
    uchar4 luma = *(const uchar4 *) row;
    short4 change = changes_of (past, at, luma);
    *(short4 *) (w.change[view] + at) = change;
    if (y % STEREO_TEMPORAL_STEP)
      continue;
    uchar4 count = *(const uchar4 *) (past.count + at);
    bool inner = y > 0 && y < f.height - 1;
    count_pixel (bins, row, f.image_pitch, luma.x, change.x, count.x, inner && x > 0 && x < f.width - 1);
    if (x + 2 < f.width)
      count_pixel (bins, row + 2, f.image_pitch, luma.z, change.z, count.z, inner && x + 2 < f.width - 1);
  }
  __syncthreads ();
  for (int k = threadIdx.x; k < STEREO_TEMPORAL_HISTOGRAMS * BINS; k += THREADS)
    if ((&bins[0][0])[k])
      atomicAdd (&measured->bins[0][0] + k, (&bins[0][0])[k]);
  __threadfence ();
  __syncthreads ();
  if (__syncthreads_or (threadIdx.x == 0 && atomicAdd (&measured->blocks, 1u) + 1 == gridDim.x * gridDim.y))
    measure_noise (measured, bins, view == STEREO_LEFT ? w.in_place : NULL);
}

}

StereoStatus
cuda_temporal_changes (StereoPlan *plan, const Frame &f, const TemporalWork &w, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->width, FOUR * THREADS), cuda_blocks (plan->height, CHANGE_ROWS), 2);

  change_kernel<<<grid, THREADS, 0, cuda_state (plan)->stream>>> (f, w);
  CUDA_LAUNCHED (plan, "change_kernel");
  return STEREO_OK;
}
