/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Semi-global matching along rows or columns: what a group of lanes does on its way along a line. Pixels are copied to shared
 * memory ahead, in batches. A batch is read to registers while the one before is worked on, so that nothing but the path
 * itself is waited for.
 */
#ifndef STEREO_CUDA_SGM_LINES_CUH
#define STEREO_CUDA_SGM_LINES_CUH

#include "cuda/sgm/tasks.cuh"

namespace
{

constexpr int BLOCK_WARPS = 2; /* one from the beginning of its lines, one from their far end */

/* Lines of the picture. @pixel, @line: elements between neighbouring pixels of a line, and between neighbouring
 * lines. */
struct Lines
{
  int count, length;
  ptrdiff_t pixel, line;
  Penalties penalties;
  bool rows;
  uint32_t unit; /* of the direction: see Sgm; 1 for tasks that count in steps of the costs */
};

/* A path along a line, of one group. */
template <int PAIRS, int LANES> struct LinePath
{
  uint32_t path[PAIRS], lowest;
  Mask<PAIRS> mask;
  Borders borders;
  Share share;
  int lane;             /* of the group */
  int line;             /* y of a row, x of a column */
  int n;                /* pixels done */
  bool back;            /* from the far end of the line */
  bool edge;            /* the previous pixel did not have all candidates */
  int all_from, all_to; /* pixels that have all candidates of the range: between them nothing changes */
  ptrdiff_t place;      /* of pixel n in the volume; elements */
  int step;             /* to the next */
};

__device__ __forceinline__ int
column_of (const Sgm &s, const Lines &l, int line, int n, bool back)
{
  return !l.rows ? line : back ? s.width - 1 - n : n;
}

/* Whether column @x does not have all candidates. Away from the edges missing candidates are the same everywhere. */
__device__ __forceinline__ bool
is_edge (const Sgm &s, int x)
{
  return x < s.min_disparity + s.disparities - 1 || x > s.width - 1 + s.min_disparity;
}

/* Begins the path of a line, or goes on with it at pixel @n. */
template <int PAIRS, int LANES> __device__ __forceinline__ LinePath<PAIRS, LANES>
path_of_line (const Sgm &s, const Lines &l, int line, bool back, int n)
{
  LinePath<PAIRS, LANES> t;
  bool there = line < l.count;
  int first = max (s.min_disparity + s.disparities - 1, 0), last = min (s.width - 1 + s.min_disparity, s.width - 1);

  t.line = min (line, l.count - 1);
  t.lane = threadIdx.x % LANES;
  t.borders = borders_of<LANES> (t.lane);
  t.share = share_of<PAIRS> (t.lane, s.depth);
  t.share.there &= there;
  t.share.second = there ? t.share.second : 0;
  t.n = n;
  t.back = back;
  t.edge = true;
  t.mask.first = t.mask.last = -1;
  t.mask.some = true;
  t.all_from = l.rows ? back ? s.width - 1 - last : first : is_edge (s, t.line) ? l.length : n;
  t.all_to = l.rows ? back ? s.width - 1 - first : last : l.length;
  t.step = (int) (back ? -l.pixel : l.pixel);
  t.place = t.line * l.line + (back ? l.length - 1 - n : n) * l.pixel;
  t.lowest = 0;
#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    t.path[p] = 0;
  return t;
}

/* load_step() of pixel @n of the path. */
template <int PAIRS, int LANES> __device__ __forceinline__ LumaStep
load_line_step (const LinePath<PAIRS, LANES> &t, const Sgm &s, const Lines &l, int n)
{
  int at = t.back ? l.length - 1 - n : n, before = t.back ? at + 1 : at - 1;
  if (n >= l.length)
    return {};
  return l.rows ? load_step (s, at, t.line, before, t.line) : load_step (s, t.line, at, t.line, before);
}

/* ---- pixels -------------------------------------------------------------------------------------- */

/* Which candidates of a batch's pixels are missing. */
enum Missing
{
  NONE,
  SAME,   /* those of the pixel before */
  OTHERS, /* at the edges of the picture */
};

/* Stores what TASK makes of pixel @k of a batch. @to: where it does, the lane's first byte. */
template <Task TASK, Missing MISSING, int PAIRS, int LANES, int SETS> __device__ __forceinline__ void
store_pixel (const LinePath<PAIRS, LANES> &t, uint8_t *to, const Batch<PAIRS, SETS> &b, int k, const Sgm &s,
    const Lines &l, const uint32_t (&added)[PAIRS])
{
  RawCosts<PAIRS> bytes;
  uint32_t sum[PAIRS], costs[PAIRS], before[PAIRS];

  if (!stores_sums (TASK)) {
    gather_bytes (bytes, added, is_rounded (TASK) ? s.rounding.bits : 0);
#pragma unroll
    for (int w = 0; w < PAIRS / 2; w++) {
      bytes.word[w] += TASK == ROUNDED_ADD ? b.set[0][k].word[w] : 0;
      hold_in_register (bytes.word[w]); /* a branch would go round the few instructions before the store, too */
    }
    store_costs (to, bytes, t.share);
    return;
  }
  spread_costs (costs, b.raw[k], l.unit * new_paths_of (TASK));
#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    sum[p] = added[p] + costs[p];
#pragma unroll
  for (int set = 0; set < sets_of (TASK); set++) {
    if (!reads_sums (TASK))
      spread_costs (before, b.set[set][k], is_rounded (TASK) ? 1u << s.rounding.bits : 1);
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
      if (!reads_sums (TASK))
        sum[p] += before[p];
      else if (p / (PAIRS / 2) == set)
        sum[p] += b.set[set][k].word[p % (PAIRS / 2)];
  }
#pragma unroll
  for (int p = 0; p < PAIRS; p++) {
    sum[p] *= is_in_bytes (TASK) ? s.unit : 1;
    sum[p] |= MISSING != NONE && is_last (TASK) ? t.mask.pair[p] : 0;
  }
  store_sums ((uint16_t *) to, sum, t.share);
}

/* Pixel @k of a batch, pixel @n of the path: extends the path, and does what TASK is. */
template <Task TASK, Missing MISSING, int PAIRS, int LANES, int SETS> __device__ __forceinline__ void
add_pixel (LinePath<PAIRS, LANES> &t, uint8_t *to, const Batch<PAIRS, SETS> &b, int k, const Sgm &s, const Lines &l,
    int n, bool luma_step)
{
  uint32_t cost[PAIRS], added[PAIRS];

  spread_costs (cost, b.raw[k], l.unit);
  find_added<PAIRS, LANES, is_rounded (TASK)> (added, t.path, t.lowest, l.penalties, luma_step, s.rounding, t.borders);
  if (MISSING == OTHERS) {
    int x = column_of (s, l, t.line, n, t.back);
    bool edge = is_edge (s, x);
    if (edge || t.edge)
      set_mask<PAIRS, LANES> (t.mask, s, x, t.lane);
    t.edge = edge;
  }
  store_pixel<TASK, MISSING> (t, to, b, k, s, l, added);
#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    t.path[p] = (added[p] + cost[p]) | (MISSING == NONE ? 0 : t.mask.pair[p] & SGM_MISSING);
  t.lowest = lowest_of<PAIRS, LANES> (t.path);
  if (MISSING == OTHERS && t.edge)
    open_outside (t.path, t.lowest, t.mask, s, t.lane);
}

/* The first @count pixels of a batch that begins at pixel @n, or all. Bit k of @steps: the luma has a step towards pixel k. */
template <Task TASK, Missing MISSING, int PAIRS, int LANES, int SETS> __device__ __forceinline__ void
add_batch (LinePath<PAIRS, LANES> &t, uint8_t *to, int to_step, const Batch<PAIRS, SETS> &b, const Sgm &s,
    const Lines &l, int n, uint32_t steps, int count)
{
#pragma unroll
  for (int k = 0; k < Batch<PAIRS, SETS>::pixels; k++)
    if (MISSING != OTHERS || k < count)
      add_pixel<TASK, MISSING> (t, to + (ptrdiff_t) to_step * k, b, k, s, l, n + k, is_set (steps, 1u << k));
}

/* Where a task stores pixels: in the volume, or in a set of bytes there or elsewhere. */
struct Target
{
  uint8_t *first;
  int bytes; /* from one candidate to the next of a whole column of the volume */
};

__device__ __forceinline__ Target
in_volume (const Sgm &s, int set = 0)
{
  return { (uint8_t *) s.volume + set * s.depth, 2 };
}

/* The next @count pixels of the path. @shared: this lane's part of the ring. IN_STEP: all warps of the block have as many
 * pixels, and none goes a batch ahead. */
template <Task TASK, int SETS, bool IN_STEP = false, int PAIRS, int LANES> __device__ __forceinline__ void
add_pixels (LinePath<PAIRS, LANES> &t, uint32_t shared, const Sgm &s, const Lines &l, int count, Target target)
{
  const int PIXELS = Batch<PAIRS, SETS>::pixels;
  uint32_t steps = 0;
  LumaStep ahead = load_line_step (t, s, l, t.n + t.lane); /* of pixel n + lane, with n a multiple of LANES below */
  uint8_t *to = target.first + target.bytes * t.place + (stores_sums (TASK) ? 2 : 1) * t.share.first;
  int to_step = t.step * target.bytes;
  bool some = __any_sync (SGM_LANES, t.mask.some); /* candidates are missing, of any group of the warp */
  int all_from = t.all_from - t.n, all_to = min (t.all_to - t.n + 1, count) - PIXELS;
  PixelRing<PAIRS, SETS> r;
  Batch<PAIRS, SETS> b;

  if (count == 0)
    return;
  r.lane = shared;
  r.at = 0;
  r.costs = s.costs + t.place + t.share.first;
  r.sums = (const uint8_t *) (s.volume + t.place) + (reads_sums (TASK) ? 2 : 1) * t.share.first;
  r.third = TASK == BYTES_LAST ? s.third + t.place + t.share.first : r.costs;
  r.step = t.step;
  r.left = count;
  await_copies<0> (); /* copies of the last call that nobody needs */
#pragma unroll 1
  for (int k = 0; k < r.ahead; k++)
    fetch_batch<TASK> (r, t.share, s.depth);
  read_costs (b.raw, r);
#pragma unroll 1
  for (int n = 0; n < count; n += PIXELS) {
    bool all = n > all_from && n <= all_to;
    RawCosts<PAIRS> next[PIXELS];
    if (n % LANES == 0) {
      steps = __ballot_sync (SGM_LANES, is_step (s, ahead)) >> threadIdx.x % 32 / LANES * LANES;
      ahead = load_line_step (t, s, l, t.n + n + LANES + t.lane);
    }
    uint32_t here = steps >> n % LANES;
    if (IN_STEP)
      __syncthreads ();
    read_sets<TASK> (b, r);
    fetch_batch<TASK> (r, t.share, s.depth);
    read_costs (next, r);
    if (!__all_sync (SGM_LANES, all)) {
      add_batch<TASK, OTHERS> (t, to, to_step, b, s, l, t.n + n, here, count - n);
      some = __any_sync (SGM_LANES, t.mask.some);
    } else if (some)
      add_batch<TASK, SAME> (t, to, to_step, b, s, l, t.n + n, here, PIXELS);
    else
      add_batch<TASK, NONE> (t, to, to_step, b, s, l, t.n + n, here, PIXELS);
    to += (ptrdiff_t) to_step * PIXELS;
#pragma unroll
    for (int k = 0; k < PIXELS; k++)
      b.raw[k] = next[k];
  }
  t.n += count;
  t.place += (ptrdiff_t) t.step * count;
}

/* This lane's part of the warp's ring. @shared: of the block. */
template <int PAIRS, int SETS> __device__ __forceinline__ uint32_t
ring_of_lane (void *shared)
{
  const int bytes = 2 * PAIRS < 16 ? 2 * PAIRS : 16;
  uint32_t lane = shared_address (shared) + threadIdx.x / 32 * PixelRing<PAIRS, SETS>::warp + threadIdx.x % 32 * bytes;

  hold_in_register (lane);
  return lane;
}

/* Calls `launch<tasks..., PAIRS, LANES>` for the plan's depth. Up to 64 disparities, a warp has two lines. */
#define SGM_LINES_FOR_DEPTH(depth, launch, tasks, ...) \
  ((depth) <= 64         ? launch<SGM_TASKS tasks, 2, 16> (__VA_ARGS__) : \
          (depth) <= 128 ? launch<SGM_TASKS tasks, 2, 32> (__VA_ARGS__) : \
          (depth) <= 256 ? launch<SGM_TASKS tasks, 4, 32> (__VA_ARGS__) : \
          (depth) <= 512 ? launch<SGM_TASKS tasks, 8, 32> (__VA_ARGS__) : \
                           launch<SGM_TASKS tasks, 16, 32> (__VA_ARGS__))
#define SGM_TASKS(...) __VA_ARGS__

template <Task... TASKS> __host__ __device__ constexpr int
most_sets ()
{
  int most = 0;
  ((most = sets_of (TASKS) > most ? sets_of (TASKS) : most), ...);
  return most;
}

static inline Lines
lines_of (const Sgm &s, bool rows)
{
  ptrdiff_t column = s.depth, row = (ptrdiff_t) s.width * s.depth;
  int direction = rows ? SGM_SIDEWAYS : SGM_VERTICAL;
  Lines l = { rows ? s.height : s.width, rows ? s.width : s.height, rows ? column : row, rows ? row : column,
    s.penalties[direction], rows, s.units[direction] };
  return l;
}

/* In steps of the costs. */
static inline Lines
lines_in_bytes (const Sgm &s, bool rows)
{
  Lines l = lines_of (s, rows);

  for (int k = 0; k < 2; k++) {
    l.penalties.small[k] >>= s.unit_bits;
    l.penalties.large[k] >>= s.unit_bits;
  }
  l.unit = 1;
  return l;
}

}

#endif
