/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Temporal: both views are averaged over time where they stand still, by the rules of exact/temporal.h. The past lies in
 * device memory, in the frame state: a captured frame reads what the one before it left there.
 */
#include "cuda/common.cuh"

namespace
{

constexpr int RADIUS = STEREO_TEMPORAL_RADIUS;
constexpr int AWAY = STEREO_TEMPORAL_AWAY;
constexpr int BINS = STEREO_TEMPORAL_BINS;
constexpr int THREADS = 128;
constexpr int SIDE = RADIUS + AWAY;           /* columns and rows that the windows around a pixel reach */
constexpr int COLUMNS = 32 - 2 * SIDE;        /* of a warp of blend_kernel */
constexpr int MOST_ROWS = 32, LEAST_ROWS = 8; /* of a thread of blend_kernel */
constexpr int CHANGE_ROWS = 8;                /* of a block of change_kernel */

typedef uint32_t Histograms[2][STEREO_TEMPORAL_HISTOGRAMS][BINS];

struct Context
{
  int16_t *change[2];    /* device, map: from the past to the present luma */
  Histograms *histogram; /* device */
  int32_t *noise;        /* device: of both views */
  int most;
};

/* What the kernels work on. */
struct Work
{
  StereoPast past[2];
  int16_t *change[2];
  Histograms *histogram;
  int32_t *noise;
  int most;
  int rows; /* of a warp of blend_kernel */
};

/* Rows of a warp: fewer where there would be few blocks. */
static int
rows_of (const StereoPlan *plan)
{
  unsigned columns = cuda_blocks (plan->width, THREADS / 32 * COLUMNS), wanted = 4 * cuda_state (plan)->multiprocessors;
  int rows = MOST_ROWS;

  while (rows > LEAST_ROWS && 2 * columns * cuda_blocks (plan->height, rows) < wanted)
    rows /= 2;
  return rows;
}

static Work
work_of (const StereoPlan *plan, const Context *c)
{
  return { { plan->past[0], plan->past[1] }, { c->change[0], c->change[1] }, c->histogram, c->noise, c->most,
    rows_of (plan) };
}

/* Changes of two columns. */
static __device__ __forceinline__ short2
changes_of (const StereoPast &past, size_t at, uchar2 luma)
{
  ushort2 red = *(const ushort2 *) (past.channel[0] + at), green = *(const ushort2 *) (past.channel[1] + at),
          blue = *(const ushort2 *) (past.channel[2] + at);
  return make_short2 ((short) stereo_temporal_change (luma.x, red.x, green.x, blue.x),
      (short) stereo_temporal_change (luma.y, red.y, green.y, blue.y));
}

static_assert (STEREO_TEMPORAL_STEP == 2, "of each pair of columns, the first is counted");

/* Thread: two columns of CHANGE_ROWS rows; blockIdx.z: the view. Each block has histograms of its own in shared memory. Rows
 * are whole pairs of pixels long, in maps and in images. */
static __global__ void
__launch_bounds__ (THREADS) change_kernel (const __grid_constant__ Frame f, const __grid_constant__ Work w)
{
  __shared__ uint32_t bins[STEREO_TEMPORAL_HISTOGRAMS][BINS];
  int x = 2 * (blockIdx.x * THREADS + threadIdx.x), view = blockIdx.z, begin = blockIdx.y * CHANGE_ROWS;
  const StereoPast &past = w.past[view];

  for (int k = threadIdx.x; k < STEREO_TEMPORAL_HISTOGRAMS * BINS; k += THREADS)
    (&bins[0][0])[k] = 0;
  __syncthreads ();
#pragma unroll 4
  for (int y = begin; x < f.width && y < min (begin + CHANGE_ROWS, f.height); y++) {
    const uint8_t *row = f.view[view].luma + (size_t) y * f.image_pitch + x;
    size_t at = (size_t) y * f.map_pitch + x;
    uchar2 luma = *(const uchar2 *) row;
    short2 change = changes_of (past, at, luma);
    *(short2 *) (w.change[view] + at) = change;
    if (y % STEREO_TEMPORAL_STEP || !stereo_temporal_shows (luma.x))
      continue;
    int count = past.count[at];
    if (count)
      atomicAdd (&bins[STEREO_TEMPORAL_CHANGES][stereo_temporal_bin (change.x, count)], 1u);
    if (y > 0 && y < f.height - 1 && x > 0 && x < f.width - 1)
      atomicAdd (
          &bins[STEREO_TEMPORAL_CURVATURES][stereo_temporal_curvature (row - f.image_pitch, row, row + f.image_pitch)],
          1u);
  }
  __syncthreads ();
  for (int k = threadIdx.x; k < STEREO_TEMPORAL_HISTOGRAMS * BINS; k += THREADS)
    if ((&bins[0][0])[k])
      atomicAdd (&(*w.histogram)[view][0][0] + k, (&bins[0][0])[k]);
}

/* One block of a warp for each view: both histograms become the noise, and are empty for the next frame. */
static __global__ void
noise_kernel (Work w)
{
  uint32_t (*bins)[BINS] = (*w.histogram)[blockIdx.x];
  __shared__ uint32_t own[STEREO_TEMPORAL_HISTOGRAMS][BINS];
  __shared__ int32_t quartile[STEREO_TEMPORAL_HISTOGRAMS];

  for (int k = threadIdx.x; k < STEREO_TEMPORAL_HISTOGRAMS * BINS; k += blockDim.x) {
    (&own[0][0])[k] = (&bins[0][0])[k];
    (&bins[0][0])[k] = 0;
  }
  __syncthreads ();
  if (threadIdx.x < STEREO_TEMPORAL_HISTOGRAMS)
    quartile[threadIdx.x] = stereo_temporal_quartile (own[threadIdx.x]);
  __syncthreads ();
  if (threadIdx.x == 0)
    w.noise[blockIdx.x] = stereo_temporal_noise (
        quartile[STEREO_TEMPORAL_CHANGES], quartile[STEREO_TEMPORAL_CURVATURES]);
}

/*
 * The sum of a window's changes without its sign, and that of their sizes, in the halves of a word. Above 32 * 7 / 5 times the
 * most noise neither lets anything of the past count (stereo_temporal_weight()), so what does not fit need not be exact.
 */
static_assert (32 * (64 * STEREO_TEMPORAL_NOISE + 8) * 7 / 5 < 65535, "what decides fits half a word");

static __device__ __forceinline__ uint32_t
window_of (int32_t sum, int32_t sizes)
{
  return (uint32_t) min (sizes, 65535) << 16 | (uint32_t) min (abs (sum), 65535);
}

/* The sum over the lanes RADIUS away and those between. */
static __device__ __forceinline__ int32_t
sum_of_lanes (int32_t own)
{
  static_assert (RADIUS == 2, "five lanes");
  int32_t two = own + __shfl_down_sync (~0u, own, 1);
  return __shfl_up_sync (~0u, two, 2) + two + __shfl_down_sync (~0u, own, 2);
}

/* What is known of a pixel before it is averaged. */
struct Pixel
{
  uint32_t color, held;
  uint16_t channel[3];
  uint8_t count;
};

static __device__ __forceinline__ Pixel
load_pixel (const Frame &f, const StereoPast &past, int view, int x, int y)
{
  size_t at = (size_t) y * f.map_pitch + x;
  return { f.view[view].color[(size_t) y * f.image_pitch + x], past.color[at],
    { past.channel[0][at], past.channel[1][at], past.channel[2][at] }, past.count[at] };
}

/* Averages a pixel, and puts what is to be matched in its place. */
static __device__ __forceinline__ void
blend_pixel (
    const Frame &f, const StereoPast &past, const Pixel &pixel, int view, int x, int y, int32_t count, int32_t share)
{
  size_t at = (size_t) y * f.map_pitch + x, place = (size_t) y * f.image_pitch + x;
  uint32_t made = 0;

#pragma unroll
  for (int c = 0; c < 3; c++) {
    int32_t average = stereo_temporal_blend (pixel.channel[c], (int32_t) (pixel.color >> 8 * c & 0xFF), share);
    made |= (uint32_t) stereo_temporal_hold (average, (int32_t) (pixel.held >> 8 * c & 0xFF)) << 8 * c;
    past.channel[c][at] = (uint16_t) average;
  }
  past.count[at] = (uint8_t) count;
  past.color[at] = made;
  f.view[view].color[place] = made;
  f.view[view].luma[place] = (uint8_t) stereo_align_luma (made);
}

/* The largest of three, of each half. */
static __device__ __forceinline__ uint32_t
largest (uint32_t a, uint32_t b, uint32_t c)
{
  return __vmaxu2 (a, __vmaxu2 (b, c));
}

/*
 * Warp: COLUMNS columns of w.rows rows, a lane each, and on both sides as many as the windows there reach; blockIdx.z: the view.
 * Changes of a lane's column are summed up over the rows of a window first, then over its columns. All that is read is loaded a
 * row ahead.
 */
static __global__ void
__launch_bounds__ (THREADS) blend_kernel (const __grid_constant__ Frame f, const __grid_constant__ Work w)
{
  __shared__ int32_t shares[STEREO_TEMPORAL_MOST + 1];
  int lane = threadIdx.x % 32, view = blockIdx.z, begin = blockIdx.y * w.rows, end = min (begin + w.rows, f.height);
  int x = (int) (blockIdx.x * (THREADS / 32) + threadIdx.x / 32) * COLUMNS - SIDE + lane;
  bool ours = lane >= SIDE && lane < 32 - SIDE && x < f.width, inside = x >= 0 && x < f.width;
  const int16_t *column = w.change[view] + min (max (x, 0), f.width - 1);
  const StereoPast &past = w.past[view];
  int32_t noise = w.noise[view];
  int32_t rows[2 * RADIUS + 1], sum = 0, sizes = 0;
  uint32_t windows[2 * AWAY + 1] = { 0 };
  Pixel next = {};

  /* a division takes longer than all else that a share is for */
  if (threadIdx.x > 0 && threadIdx.x <= STEREO_TEMPORAL_MOST)
    shares[threadIdx.x] = stereo_temporal_share (threadIdx.x);
  __syncthreads ();
  auto change_at = [&] (int y) { return column[(size_t) min (max (y, 0), f.height - 1) * f.map_pitch]; };
  if (ours)
    next = load_pixel (f, past, view, x, begin);
  rows[0] = 0;
#pragma unroll
  for (int k = 1; k <= 2 * RADIUS; k++) {
    rows[k] = change_at (begin - SIDE + k - 1);
    sum += rows[k];
    sizes += abs (rows[k]);
  }
  int16_t ahead = change_at (begin - SIDE + 2 * RADIUS);
  /* the row of windows AWAY rows below @y is new; the first ones are only for those that follow */
#pragma unroll 1
  for (int y = begin - 2 * AWAY; y < end; y++) {
    sum += ahead - rows[0];
    sizes += abs (ahead) - abs (rows[0]);
#pragma unroll
    for (int k = 0; k < 2 * RADIUS; k++)
      rows[k] = rows[k + 1];
    rows[2 * RADIUS] = ahead;
    ahead = change_at (y + 1 + SIDE);
#pragma unroll
    for (int k = 0; k < 2 * AWAY; k++)
      windows[k] = windows[k + 1];
    uint32_t window = window_of (sum_of_lanes (sum), sum_of_lanes (sizes));
    window = inside && y + AWAY >= 0 && y + AWAY < f.height ? window : 0;
    windows[2 * AWAY] = largest (__shfl_up_sync (~0u, window, AWAY), window, __shfl_down_sync (~0u, window, AWAY));
    if (y < begin || !ours)
      continue;
    Pixel pixel = next;
    if (y + 1 < end)
      next = load_pixel (f, past, view, x, y + 1);
    uint32_t most = largest (windows[0], windows[AWAY], windows[2 * AWAY]);
    int32_t weight = stereo_temporal_weight ((int32_t) (most & 0xFFFF), (int32_t) (most >> 16), pixel.count, noise);
    int32_t count = stereo_temporal_count (pixel.count, weight, w.most);
    blend_pixel (f, past, pixel, view, x, y, count, shares[count]);
  }
}

static StereoStatus
temporal_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = (Context *) context;
  StereoStatus status = STEREO_OK;

  c->most = stereo_temporal_most (plan->params.temporal);
  for (int view = 0; view < 2 && !status; view++)
    status = stereo_reserve (plan, (void **) &c->change[view],
        stereo_times ((size_t) plan->map_pitch, (size_t) plan->height), sizeof *c->change[view], error);
  if (!status)
    status = stereo_reserve (plan, (void **) &c->histogram, 1, sizeof *c->histogram, error);
  return status ? status : stereo_reserve (plan, (void **) &c->noise, 2, sizeof *c->noise, error);
}

static StereoStatus
temporal_run (StereoPlan *plan, void *context, StereoError *error)
{
  const Context *c = (const Context *) context;
  cudaStream_t stream = cuda_state (plan)->stream;
  unsigned columns = cuda_blocks (plan->width, 2 * THREADS);
  Frame f = cuda_frame (plan);
  Work w = work_of (plan, c);

  change_kernel<<<dim3 (columns, cuda_blocks (plan->height, CHANGE_ROWS), 2), THREADS, 0, stream>>> (f, w);
  CUDA_LAUNCHED (plan, "change_kernel");
  noise_kernel<<<2, 64, 0, stream>>> (w);
  CUDA_LAUNCHED (plan, "noise_kernel");
  columns = cuda_blocks (plan->width, THREADS / 32 * COLUMNS);
  blend_kernel<<<dim3 (columns, cuda_blocks (plan->height, w.rows), 2), THREADS, 0, stream>>> (f, w);
  CUDA_LAUNCHED (plan, "blend_kernel");
  return cuda_views_made (plan, error);
}

}

extern const StereoStage stereo_cuda_temporal = {
  .name = "temporal",
  .context_size = sizeof (Context),
  .prepare = temporal_prepare,
  .run = temporal_run,
};
