/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Temporal: both views are averaged over time where they stand still, by the rules of exact/temporal.h. The past lies in
 * device memory, in the frame state: a captured frame reads what the one before it left there. */
#include "cuda/common.cuh"

/* Sums of a view, in device memory. Between frames the histograms are 0, and so is the number of blocks that have added to them. */
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
  int most, first_view;
};

/* From the past to the present luma: the change of each pixel, and how much of that is noise. */

namespace
{

constexpr int BINS = STEREO_TEMPORAL_BINS;
constexpr int THREADS = 128;
constexpr int FOUR = 4; /* columns of a thread */
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

/* Thread: FOUR columns of @rows rows; blockIdx.z: the view. Each block has histograms of its own in shared memory. Rows
 * are whole fours of pixels long, in maps and in images. */
static __global__ void
__launch_bounds__ (THREADS)
    change_kernel (const __grid_constant__ Frame f, const __grid_constant__ TemporalWork w, int rows)
{
  __shared__ uint32_t bins[STEREO_TEMPORAL_HISTOGRAMS][BINS];
  int x = FOUR * (blockIdx.x * THREADS + threadIdx.x), view = w.first_view + blockIdx.z, begin = blockIdx.y * rows;
  const StereoPast &past = w.past[view];
  TemporalMeasured *measured = w.measured + view;

  for (int k = threadIdx.x; k < STEREO_TEMPORAL_HISTOGRAMS * BINS; k += THREADS)
    (&bins[0][0])[k] = 0;
  __syncthreads ();
#pragma unroll 2
  for (int y = begin; x < f.width && y < min (begin + rows, f.height); y++) {
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

/* Averages of pixels that stand still, which take the place of the views. */

constexpr int RADIUS = STEREO_TEMPORAL_RADIUS;
constexpr int AWAY = STEREO_TEMPORAL_AWAY;
constexpr int BLOCKS = 8;                    /* of a multiprocessor, at least */
constexpr int SIDE = RADIUS + AWAY;          /* columns and rows that the windows around a pixel reach */
constexpr int TWO = 2;                       /* columns of a lane */
constexpr int COLUMNS = TWO * 32 - 2 * SIDE; /* of a warp */
constexpr int ROWS = 8;                      /* of a thread */

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

/* For a lane's columns: the sums over the columns at most RADIUS away. */
static __device__ __forceinline__ void
sum_columns (const int32_t (&own)[TWO], int32_t (&sum)[TWO])
{
  static_assert (RADIUS == 2 && TWO == 2, "five columns: two of this lane, three of those beside");
  int32_t two = own[0] + own[1];
  sum[0] = __shfl_up_sync (ALL_LANES, two, 1) + two + __shfl_down_sync (ALL_LANES, own[0], 1);
  sum[1] = __shfl_up_sync (ALL_LANES, own[1], 1) + two + __shfl_down_sync (ALL_LANES, two, 1);
}

/* Two neighbouring columns. */
template <typename Value> struct __align__ (TWO * sizeof (Value)) Pair
{
  Value of[TWO];
};

/* What is known of two pixels before they are averaged. In words as they are loaded: to take them apart would wait for them. */
struct Pixels
{
  uint2 color, held;
  uint32_t channel[3];
  uint16_t count;
};

/* The second column may lie behind the end of the row. */
template <typename Value> static __device__ __forceinline__ void
store_pair (Value *to, const Pair<Value> &pair, bool both)
{
  if (both)
    *(Pair<Value> *) to = pair;
  else
    *to = pair.of[0];
}

static __device__ __forceinline__ Pixels
load_pixels (const Frame &f, const StereoPast &past, int view, int x, int y)
{
  unsigned at = (unsigned) (y * f.map_pitch + x), place = (unsigned) (y * f.image_pitch + x);
  return { *(const uint2 *) (f.view[view].color + place), *(const uint2 *) (past.color + at),
    { *(const uint32_t *) (past.channel[0] + at), *(const uint32_t *) (past.channel[1] + at),
        *(const uint32_t *) (past.channel[2] + at) },
    *(const uint16_t *) (past.count + at) };
}

/* Averages two pixels, whose averages are then of @count frames, and puts what is to be matched in their place. */
static __device__ __forceinline__ void
blend_pixels (const Frame &f, const StereoPast &past, const Pixels &pixels, int view, int x, int y,
    const Pair<uint8_t> &count, const int32_t (&share)[TWO])
{
  unsigned at = (unsigned) (y * f.map_pitch + x), place = (unsigned) (y * f.image_pitch + x);
  bool both = x + 1 < f.width;
  Pair<uint32_t> made = {};
  Pair<uint8_t> luma;

#pragma unroll
  for (int c = 0; c < 3; c++) {
    Pair<uint16_t> channel;
#pragma unroll
    for (int k = 0; k < TWO; k++) {
      uint32_t now = k ? pixels.color.y : pixels.color.x, before = k ? pixels.held.y : pixels.held.x;
      int32_t average = stereo_temporal_blend (
          (int32_t) (pixels.channel[c] >> 16 * k & 0xFFFF), (int32_t) (now >> 8 * c & 0xFF), share[k]);
      int32_t held = stereo_temporal_hold (average, (int32_t) (before >> 8 * c & 0xFF));
      made.of[k] |= (uint32_t) held << 8 * c;
      channel.of[k] = (uint16_t) average;
    }
    store_pair (past.channel[c] + at, channel, both);
  }
#pragma unroll
  for (int k = 0; k < TWO; k++)
    luma.of[k] = (uint8_t) stereo_align_luma (made.of[k]);
  store_pair (past.count + at, count, both);
  store_pair (past.color + at, made, both);
  store_pair (f.view[view].color + place, made, both);
  store_pair (f.view[view].luma + place, luma, both);
}

/* The largest of three, of each half. */
static __device__ __forceinline__ uint32_t
largest (uint32_t a, uint32_t b, uint32_t c)
{
  return __vmaxu2 (a, __vmaxu2 (b, c));
}

/* Changes of the two columns of a lane, also past the ends of the rows: those of the columns at the ends. */
struct Changes
{
  const int16_t *column; /* of two columns in the picture */
  uint32_t which;        /* a byte selector: which of them */
};

static __device__ __forceinline__ Changes
changes_at (const Frame &f, const int16_t *change, int x)
{
  int last = f.width - 1;
  return { change + min (max (x, 0), last & ~1),
    x < 0 || (x >= last && last % 2 == 0) ? 0x1010u :
        x >= last                         ? 0x3232u :
                                            0x3210u };
}

/* 32 bits number the pixels of a map and of an image, with the pitch of a row. */
static_assert ((int64_t) STEREO_MAX_SIDE * STEREO_MAX_PITCH <= INT32_MAX, "pixels");

/* Those of row @y, or of the row at the end of the picture, from which @which takes the lane's. */
static __device__ __forceinline__ uint32_t
load_changes (const Frame &f, const Changes &from, int y)
{
  return *(const uint32_t *) (from.column + min (max (y, 0), f.height - 1) * f.map_pitch);
}

static __device__ __forceinline__ int32_t
change_of (uint32_t changes, int k)
{
  return (int16_t) (changes >> 16 * k);
}

/* Sums down the columns of a lane: of changes, and of their sizes. */
struct ColumnSums
{
  int32_t changes[TWO], sizes[TWO];

  __device__ __forceinline__ void
  add (uint32_t enters, uint32_t leaves)
  {
#pragma unroll
    for (int k = 0; k < TWO; k++) {
      changes[k] += change_of (enters, k) - change_of (leaves, k);
      sizes[k] += abs (change_of (enters, k)) - abs (change_of (leaves, k));
    }
  }
};

/* For each column of a lane: the largest of its window and those AWAY to either side. @inside: bit k is set where column k is
 * in the picture. */
static __device__ __forceinline__ void
find_windows (const ColumnSums &sums, unsigned inside, uint32_t (&window)[TWO])
{
  int32_t changes[TWO], sizes[TWO];

  static_assert (AWAY == TWO, "windows to either side are a lane away");
  sum_columns (sums.changes, changes);
  sum_columns (sums.sizes, sizes);
#pragma unroll
  for (int k = 0; k < TWO; k++) {
    uint32_t own = inside >> k & 1 ? window_of (changes[k], sizes[k]) : 0;
    window[k] = largest (__shfl_up_sync (ALL_LANES, own, 1), own, __shfl_down_sync (ALL_LANES, own, 1));
  }
}

/*
 * Warp: COLUMNS columns of ROWS rows, two a lane, and on both sides as many as the windows there reach; blockIdx.z: the view.
 * Changes of a lane's columns are summed up over a window's rows, then over its columns. They are loaded a row ahead, pixels two.
 */
static __global__ void
__launch_bounds__ (THREADS, BLOCKS)
    blend_kernel (const __grid_constant__ Frame f, const __grid_constant__ TemporalWork w)
{
  __shared__ int32_t shares[STEREO_TEMPORAL_MOST + 1];
  int lane = threadIdx.x % 32, view = w.first_view + blockIdx.z, begin = blockIdx.y * ROWS,
      end = min (begin + ROWS, f.height);
  int x = (int) (blockIdx.x * (THREADS / 32) + threadIdx.x / 32) * COLUMNS - SIDE + TWO * lane;
  bool ours = lane >= SIDE / TWO && lane < 32 - SIDE / TWO && x < f.width;
  unsigned inside = x < 0 ? 0 : (x < f.width) | (x + 1 < f.width) << 1;
  const StereoPast &past = w.past[view];
  Changes changes = changes_at (f, w.change[view], x);
  int32_t noise = w.measured[view].noise;
  uint32_t rows[2 * RADIUS + 1], windows[2 * AWAY + 1][TWO] = {};
  ColumnSums sums = {};
  Pixels next = {}, after = {};

  /* a division takes longer than all else that a share is for */
  if (threadIdx.x > 0 && threadIdx.x <= STEREO_TEMPORAL_MOST)
    shares[threadIdx.x] = stereo_temporal_share (threadIdx.x);
  __syncthreads ();
  if (ours)
    next = load_pixels (f, past, view, x, begin);
  if (ours && begin + 1 < end)
    after = load_pixels (f, past, view, x, begin + 1);
  rows[0] = 0;
#pragma unroll
  for (int k = 1; k <= 2 * RADIUS; k++) {
    rows[k] = __byte_perm (load_changes (f, changes, begin - SIDE + k - 1), 0, changes.which);
    sums.add (rows[k], 0);
  }
  uint32_t ahead = load_changes (f, changes, begin - SIDE + 2 * RADIUS);
  /* the row of windows AWAY rows below @y is new; the first ones are only for those that follow */
#pragma unroll 1
  for (int y = begin - 2 * AWAY; y < end; y++) {
    uint32_t row = __byte_perm (ahead, 0, changes.which);
    sums.add (row, rows[0]);
#pragma unroll
    for (int k = 0; k < 2 * RADIUS; k++)
      rows[k] = rows[k + 1];
    rows[2 * RADIUS] = row;
    ahead = load_changes (f, changes, y + 1 + SIDE);
#pragma unroll
    for (int k = 0; k < TWO * 2 * AWAY; k++)
      windows[k / TWO][k % TWO] = windows[k / TWO + 1][k % TWO];
    find_windows (sums, y + AWAY >= 0 && y + AWAY < f.height ? inside : 0, windows[2 * AWAY]);
    if (y < begin || !ours)
      continue;
    Pixels pixels = next;
    Pair<uint8_t> count;
    int32_t share[TWO];
    next = after;
    if (y + 2 < end)
      after = load_pixels (f, past, view, x, y + 2);
#pragma unroll
    for (int k = 0; k < TWO; k++) {
      uint32_t most = largest (windows[0][k], windows[AWAY][k], windows[2 * AWAY][k]);
      int32_t before = pixels.count >> 8 * k & 0xFF;
      int32_t weight = stereo_temporal_weight ((int32_t) (most & 0xFFFF), (int32_t) (most >> 16), before, noise);
      int32_t kept = stereo_temporal_count (before, weight, w.most);
      count.of[k] = (uint8_t) kept;
      share[k] = shares[kept];
    }
    blend_pixels (f, past, pixels, view, x, y, count, share);
  }
}

static StereoStatus
temporal_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  TemporalContext *c = (TemporalContext *) context;
  StereoStatus status = STEREO_OK;

  c->most = stereo_temporal_most (plan->params.temporal);
  for (int view = 0; view < 2 && !status; view++)
    status = stereo_reserve_for (plan, STEREO_LIFE_MATCH, (void **) &c->change[view],
        stereo_times ((size_t) plan->map_pitch, (size_t) plan->height), sizeof *c->change[view], error);
  return status ? status : stereo_reserve (plan, (void **) &c->measured, 2, sizeof *c->measured, error);
}

static StereoStatus
temporal_run (StereoPlan *plan, void *context, StereoError *error)
{
  const TemporalContext *c = (const TemporalContext *) context;
  const CudaState *state = cuda_state (plan);
  Frame f = cuda_frame (plan);
  TemporalWork w = { { plan->past[0], plan->past[1] }, { c->change[0], c->change[1] }, c->measured, plan->last.noise,
    c->most, state->first_view };
  unsigned rows = 8, across = cuda_blocks (plan->width, FOUR * THREADS);
  dim3 grid (cuda_blocks (plan->width, THREADS / 32 * COLUMNS), cuda_blocks (plan->height, ROWS), state->views);

  if (2 * across * plan->height / rows < 4u * state->multiprocessors)
    rows = 4; /* a small picture waits for a block's rows, one after the other */
  change_kernel<<<dim3 (across, cuda_blocks (plan->height, rows), state->views), THREADS, 0, state->stream>>> (
      f, w, (int) rows);
  CUDA_LAUNCHED (plan, "change_kernel");
  blend_kernel<<<grid, THREADS, 0, state->stream>>> (f, w);
  CUDA_LAUNCHED (plan, "blend_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_temporal = {
  .name = "temporal",
  .context_size = sizeof (TemporalContext),
  .prepare = temporal_prepare,
  .run = temporal_run,
};
