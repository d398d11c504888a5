/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Averages of pixels that stand still, which take the place of the views. */
#include "cuda/temporal/temporal.cuh"

namespace
{

constexpr int RADIUS = STEREO_TEMPORAL_RADIUS;
constexpr int AWAY = STEREO_TEMPORAL_AWAY;
constexpr int THREADS = 128, BLOCKS = 8;     /* of a multiprocessor, at least */
constexpr int SIDE = RADIUS + AWAY;          /* columns and rows that the windows around a pixel reach */
constexpr int TWO = 2;                       /* columns of a lane */
constexpr int COLUMNS = TWO * 32 - 2 * SIDE; /* of a warp */
constexpr int ROWS = 8;                      /* of a thread */
constexpr uint32_t ALL_LANES = 0xFFFFFFFFu;

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

/* Of a lane's columns, the sums over the columns at most RADIUS away. */
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

/* What is known of two pixels before they are averaged. */
struct Pixels
{
  Pair<uint32_t> color, held;
  Pair<uint16_t> channel[3];
  Pair<uint8_t> count;
};

template <typename Value> static __device__ __forceinline__ Pair<Value>
load_pair (const Value *from)
{
  return *(const Pair<Value> *) from;
}

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
  return { load_pair (f.view[view].color + place), load_pair (past.color + at),
    { load_pair (past.channel[0] + at), load_pair (past.channel[1] + at), load_pair (past.channel[2] + at) },
    load_pair (past.count + at) };
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
      int32_t average = stereo_temporal_blend (
          pixels.channel[c].of[k], (int32_t) (pixels.color.of[k] >> 8 * c & 0xFF), share[k]);
      int32_t held = stereo_temporal_hold (average, (int32_t) (pixels.held.of[k] >> 8 * c & 0xFF));
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

/* Those of row @y, or of the row at the end of the picture. */
static __device__ __forceinline__ uint32_t
load_changes (const Frame &f, const Changes &from, int y)
{
  uint32_t pair = *(const uint32_t *) (from.column + min (max (y, 0), f.height - 1) * f.map_pitch);
  return __byte_perm (pair, 0, from.which);
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

/* Of each column of a lane, the largest of its window and those AWAY to either side. @inside: bit k is set where column k is
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
 * Changes of a lane's columns are summed up over the rows of a window first, then over its columns. All that is read is loaded
 * a row ahead.
 */
static __global__ void
__launch_bounds__ (THREADS, BLOCKS)
    blend_kernel (const __grid_constant__ Frame f, const __grid_constant__ TemporalWork w)
{
  __shared__ int32_t shares[STEREO_TEMPORAL_MOST + 1];
  int lane = threadIdx.x % 32, view = blockIdx.z, begin = blockIdx.y * ROWS, end = min (begin + ROWS, f.height);
  int x = (int) (blockIdx.x * (THREADS / 32) + threadIdx.x / 32) * COLUMNS - SIDE + TWO * lane;
  bool ours = lane >= SIDE / TWO && lane < 32 - SIDE / TWO && x < f.width;
  unsigned inside = x < 0 ? 0 : (x < f.width) | (x + 1 < f.width) << 1;
  const StereoPast &past = w.past[view];
  Changes changes = changes_at (f, w.change[view], x);
  int32_t noise = w.measured[view].noise;
  uint32_t rows[2 * RADIUS + 1], windows[2 * AWAY + 1][TWO] = {};
  ColumnSums sums = {};
  Pixels next = {};

  /* a division takes longer than all else that a share is for */
  if (threadIdx.x > 0 && threadIdx.x <= STEREO_TEMPORAL_MOST)
    shares[threadIdx.x] = stereo_temporal_share (threadIdx.x);
  __syncthreads ();
  if (ours)
    next = load_pixels (f, past, view, x, begin);
  rows[0] = 0;
#pragma unroll
  for (int k = 1; k <= 2 * RADIUS; k++) {
    rows[k] = load_changes (f, changes, begin - SIDE + k - 1);
    sums.add (rows[k], 0);
  }
  uint32_t ahead = load_changes (f, changes, begin - SIDE + 2 * RADIUS);
  /* the row of windows AWAY rows below @y is new; the first ones are only for those that follow */
#pragma unroll 1
  for (int y = begin - 2 * AWAY; y < end; y++) {
    sums.add (ahead, rows[0]);
#pragma unroll
    for (int k = 0; k < 2 * RADIUS; k++)
      rows[k] = rows[k + 1];
    rows[2 * RADIUS] = ahead;
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
    if (y + 1 < end)
      next = load_pixels (f, past, view, x, y + 1);
#pragma unroll
    for (int k = 0; k < TWO; k++) {
      uint32_t most = largest (windows[0][k], windows[AWAY][k], windows[2 * AWAY][k]);
      int32_t before = pixels.count.of[k];
      int32_t weight = stereo_temporal_weight ((int32_t) (most & 0xFFFF), (int32_t) (most >> 16), before, noise);
      int32_t kept = stereo_temporal_count (before, weight, w.most);
      count.of[k] = (uint8_t) kept;
      share[k] = shares[kept];
    }
    blend_pixels (f, past, pixels, view, x, y, count, share);
  }
}

}

StereoStatus
cuda_temporal_blend (StereoPlan *plan, const Frame &f, TemporalWork w, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->width, THREADS / 32 * COLUMNS), cuda_blocks (plan->height, ROWS), 2);

  blend_kernel<<<grid, THREADS, 0, cuda_state (plan)->stream>>> (f, w);
  CUDA_LAUNCHED (plan, "blend_kernel");
  return STEREO_OK;
}
