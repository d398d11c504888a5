/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The last paths of four, along the rows, and the selection of both views (cuda/post/select.cu) in one kernel: the sums of
 * all paths at a pixel are in registers, spread over a warp, as selection needs them. They go to memory only if
 * reselection reads them, or where the probability does.
 *
 * The columns, and the rows up to their middle, come first (crossed.cu). A row has two warps, which go from its middle to its
 * ends. The one that goes backward holds the candidates in reverse order (Order): so a right pixel has its next candidate
 * at the next place for both, and one program serves both. A right pixel that has candidates on both sides of the middle
 * has a part from each warp; the parts meet in shared memory at the end.
 */
#include "cuda/post/select_lane.cuh"
#include "cuda/post/select_maps.cuh"
#include "cuda/sgm/lines.cuh"

namespace
{

constexpr int PAIRS = 2, PLACES = 2 * PAIRS; /* of a lane: up to 128 candidates a warp */
constexpr int WARP_BLOCKS = 9;               /* on a multiprocessor */
constexpr int GROUP = 32;                    /* columns whose results are stored at once, a lane each */

/* What is read of a pixel. */
template <Task LAST> struct Pixel
{
  RawCosts<PAIRS> costs, set[sets_of (LAST)];
};

template <Task LAST> using LineRing = PixelRing<PAIRS, sets_of (LAST)>;

/* @from: this lane's place in the ring. */
template <Task LAST> __device__ __forceinline__ Pixel<LAST>
read_pixel (uint32_t from)
{
  Pixel<LAST> p;
  read_set<PAIRS> (p.costs, from);
#pragma unroll
  for (int set = 0; set < sets_of (LAST); set++)
    read_set<PAIRS> (p.set[set], from + 32 * (set + 1) * LineRing<LAST>::set);
  return p;
}

/* How a lane holds its candidates: forward, the lane's place k has candidate first + k; backward, first - k. */
struct Order
{
  int first, step;
  uint32_t spread[PAIRS], gather[PAIRS]; /* byte selectors: four bytes to pairs, pairs to four costs */
  uint32_t index[PLACES];
};

/* Shared memory of a warp. */
struct Found
{
  uint2 sums[PLACES][32]; /* of the columns of a batch */
  Lowest left[GROUP], right[GROUP];
  float offset[GROUP];
};

/* Shared memory of a block, before the rings of its warps. */
struct Winners
{
  Found found[BLOCK_WARPS];
  Lowest parts[BLOCK_WARPS][128]; /* of right pixels with candidates on both sides of the middle */
};

/* A warp on its way. */
struct Walk
{
  LinePath<PAIRS, 32> path;
  Order order;
  Lane<PLACES> lane;
  int middle; /* the first column of the forward warp */
  int count;  /* pixels to do */
  bool leave; /* right pixels leave from this lane */
};

/* The candidates of lane @lane. */
__device__ __forceinline__ Order
order_of (const Sgm &s, bool back, int lane)
{
  Order o;
  o.first = back ? s.depth - 1 - PLACES * lane : PLACES * lane;
  o.step = back ? -1 : 1;
  o.spread[0] = back ? 0x4243 : 0x4140;
  o.spread[1] = back ? 0x4041 : 0x4342;
  o.gather[0] = back ? 0x5476 : 0x3210;
  o.gather[1] = back ? 0x1032 : 0x7654;
#pragma unroll
  for (int k = 0; k < PLACES; k++)
    o.index[k] = (uint32_t) max (o.first + o.step * k, 0); /* lanes past the depth: their costs are never valid */
  return o;
}

__device__ __forceinline__ void
spread_in_order (uint32_t (&pairs)[PAIRS], const RawCosts<PAIRS> &bytes, const Order &o, uint32_t unit)
{
#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    pairs[p] = __byte_perm (bytes.word[0], 0, o.spread[p]) * unit;
}

/* set_mask() and open_outside() of paths.cuh for this order. */
__device__ __forceinline__ void
mask_in_order (Mask<PAIRS> &m, const Sgm &s, int x, const Order &o)
{
  int first = stereo_first_index (x, s.width, s.min_disparity);
  int last = stereo_last_index (x, s.disparities, s.min_disparity);

  if (first == m.first && last == m.last)
    return;
  m.first = first;
  m.last = last;
  m.some = first > 0 || last < 32 * PLACES - 1;
#pragma unroll
  for (int p = 0; p < PAIRS; p++) {
    int i = o.first + o.step * 2 * p, next = i + o.step;
    m.pair[p] = (i < first || i > last ? 0xFFFFu : 0) | (next < first || next > last ? 0xFFFF0000u : 0);
  }
}

__device__ __forceinline__ void
open_in_order (LinePath<PAIRS, 32> &t, const Sgm &s, const Order &o)
{
  if (t.mask.first > 0 || t.mask.last < s.disparities - 1)
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
      int i = o.first + o.step * 2 * p, next = i + o.step;
      uint32_t outside = t.mask.pair[p] &
          (((unsigned) i < (unsigned) s.disparities ? 0xFFFFu : 0) |
              ((unsigned) next < (unsigned) s.disparities ? 0xFFFF0000u : 0));
      t.path[p] = (t.path[p] & ~outside) | (t.lowest & outside);
    }
}

/* Goes on with the path of a row that crossed.cu has left at its middle. */
__device__ __forceinline__ Walk
start_walk (const Sgm &s, const Lines &rows, int y, bool back)
{
  Walk w;
  int lane = threadIdx.x % 32, lanes = s.depth / PLACES, from = back && lane < lanes ? lanes - 1 - lane : lane;
  LinePath<PAIRS, 32> &t = w.path;
  uint32_t path[PAIRS];

  int begin = (rows.length + 1 - back) / 2; /* pixels that crossed.cu has done */

  w.count = rows.length - begin;
  w.middle = (rows.length + 1) / 2;
  w.leave = lane == lanes - 1;
  w.order = order_of (s, back, lane);
  t = path_of_line<PAIRS, 32> (s, rows, y, back, begin);
  t.share = share_of<PAIRS> (from, s.depth);
  load_pairs (path, s.halfway + (((ptrdiff_t) y * 2 + back) * 32 + from) * PAIRS);
  t.path[0] = back ? __byte_perm (path[1], 0, 0x1032) : path[0];
  t.path[1] = back ? __byte_perm (path[0], 0, 0x1032) : path[1];
  if (lane >= lanes)
    t.path[0] = t.path[1] = SGM_MISSING;
  if (begin > 0)
    t.lowest = lowest_of<PAIRS, 32> (t.path);
#pragma unroll
  for (int k = 0; k < PLACES; k++)
    w.lane.right[k].first = w.lane.right[k].second = NO_KEY;
  return w;
}

/* The column of step @n of a walk; steps past the row are outside the image. */
__device__ __forceinline__ int
column_at (const Walk &w, int n)
{
  return w.path.back ? w.middle - 1 - n : w.middle + n;
}

/* Sums of all paths of pixel @k of a batch, 65535 where there is no candidate, and the path one pixel further. */
template <Task LAST, Missing MISSING> __device__ __forceinline__ void
sum_pixel (uint32_t (&sum)[PAIRS], Walk &w, const Pixel<LAST> &b, const Sgm &s, const Lines &rows, int n, bool luma_step)
{
  LinePath<PAIRS, 32> &t = w.path;
  uint32_t cost[PAIRS], added[PAIRS], before[PAIRS];
  bool past = MISSING == OTHERS && n >= w.count;

  spread_in_order (cost, b.costs, w.order, rows.unit);
  find_added<PAIRS, 32, is_rounded (LAST)> (added, t.path, t.lowest, rows.penalties, luma_step, s.rounding, t.borders);
  if (MISSING == OTHERS && !past) {
    int x = column_at (w, n);
    bool edge = is_edge (s, x);
    if (edge || t.edge)
      mask_in_order (t.mask, s, x, w.order);
    t.edge = edge;
  }
#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    sum[p] = added[p] + cost[p] * new_paths_of (LAST);
#pragma unroll
  for (int set = 0; set < sets_of (LAST); set++) {
    spread_in_order (before, b.set[set], w.order, is_rounded (LAST) ? 1u << s.rounding.bits : 1);
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
      sum[p] += before[p];
  }
#pragma unroll
  for (int p = 0; p < PAIRS; p++) {
    sum[p] *= is_in_bytes (LAST) ? s.unit : 1;
    sum[p] |= (MISSING == NONE ? 0 : t.mask.pair[p]) | (past ? 0xFFFFFFFFu : 0);
    t.path[p] = (added[p] + cost[p]) | (MISSING == NONE ? 0 : t.mask.pair[p] & SGM_MISSING);
  }
  t.lowest = lowest_of<PAIRS, 32> (t.path);
  if (MISSING == OTHERS && t.edge)
    open_in_order (t, s, w.order);
}

/* Stores sums in the volume: all, or those that the probability reads. */
template <int RIGHT> __device__ __forceinline__ void
store_pixel (const Walk &w, const Frame &f, uint16_t *to, const uint32_t (&sum)[PAIRS], int n, bool sampled)
{
  int x = column_at (w, n);

  if ((RIGHT > 1 || (sampled && x == stereo_cell_pixel (x / STEREO_CELL, f.width))) && w.path.share.there && n < w.count)
    *(uint2 *) to = make_uint2 (
        __byte_perm (sum[0], sum[1], w.order.gather[0]), __byte_perm (sum[0], sum[1], w.order.gather[1]));
}

__device__ __forceinline__ void
keys_in_order (uint32_t (&keys)[PLACES], const uint32_t (&sum)[PAIRS], const Order &o)
{
#pragma unroll
  for (int p = 0; p < PAIRS; p++) {
    keys[2 * p] = sum[p] * 0x10000 + o.index[2 * p]; /* on other units than the next key */
    keys[2 * p + 1] = __byte_perm (o.index[2 * p + 1], sum[p], 0x7610);
  }
}

/* The sub-pixel offset of a left pixel with the lowest keys @l, whose sums are at the places @sums. */
__device__ __forceinline__ float
fit_in_order (const Sgm &s, const Order &o, const uint16_t *sums, const Lowest &l)
{
  int index = (int) (l.first & 0xFFFF), place = o.step > 0 ? index : s.depth - 1 - index;

  if (l.first >> 16 == STEREO_INVALID || index == 0 || index >= s.disparities - 1)
    return 0;
  uint32_t before = sums[place - o.step], lowest = sums[place], after = sums[place + o.step];
  return before == STEREO_INVALID || after == STEREO_INVALID ? 0.0f : stereo_equiangular (before, lowest, after);
}

/* A batch of PLACES columns from step @n on, @at of its group: extends the path, and selects. */
template <Task LAST, int RIGHT, Missing MISSING> __device__ __forceinline__ void
walk_batch (Walk &w, uint32_t from, const Sgm &s, const Lines &rows, const Frame &f, const Selection &found,
    Found &shared, uint16_t *to, int n, int at, uint32_t steps, bool sampled)
{
#pragma unroll
  for (int k = 0; k < PLACES; k += 2) {
    uint32_t keys[2][PLACES];
    Pixel<LAST> pixel[2] = { read_pixel<LAST> (from + k * LineRing<LAST>::pixel),
      read_pixel<LAST> (from + (k + 1) * LineRing<LAST>::pixel) };
#pragma unroll
    for (int h = 0; h < 2; h++) {
      uint32_t sum[PAIRS];
      sum_pixel<LAST, MISSING> (sum, w, pixel[h], s, rows, n + k + h, is_set (steps, 1u << (k + h)));
      store_pixel<RIGHT> (w, f, to + (ptrdiff_t) w.path.step * (k + h), sum, n + k + h, sampled);
      if (found.offset)
        shared.sums[k + h][threadIdx.x % 32] = make_uint2 (sum[0], sum[1]);
      keys_in_order (keys[h], sum, w.order);
      shared.left[at + k + h] = warp_lowest<PLACES> (keys[h]);
    }
    insert_columns<PLACES, RIGHT> (w.lane, keys, k, w.leave, shared.right + at + k);
  }
  if (found.offset) {
    __syncwarp ();
    if (threadIdx.x % 32 < PLACES)
      shared.offset[at + threadIdx.x % 32] = fit_in_order (
          s, w.order, (const uint16_t *) shared.sums[threadIdx.x % 32], shared.left[at + threadIdx.x % 32]);
    __syncwarp ();
  }
}

/* The number of a right pixel among those with candidates on both sides of the middle, from the step at which it leaves. */
__device__ __forceinline__ int
part_of_right (const Walk &w, const Sgm &s, int step)
{
  return w.path.back ? step : s.depth - 2 - step;
}

/* What has become of a right pixel that leaves at step @n. */
template <int RIGHT> __device__ __forceinline__ void
store_right (const Walk &w, const Sgm &s, const Frame &f, const Selection &found, Lowest *parts, size_t row, int n,
    const Lowest &l)
{
  int right = right_pixel (f, column_at (w, n), w.path.back ? 0 : s.depth - 1);

  if (n < s.depth - 1)
    parts[part_of_right (w, s, n)] = l;
  else if (right >= 0 && right < f.width)
    store_lowest<RIGHT> (f, found, STEREO_RIGHT, row + right, false, l);
}

/* Stores a group of columns from step @n on, a lane a column. */
template <int RIGHT> __device__ __forceinline__ void
store_columns (const Walk &w, const Sgm &s, const Frame &f, const Selection &found, const Found &shared, Lowest *parts,
    size_t row, int n)
{
  int lane = threadIdx.x % 32;

  __syncwarp ();
  if (n + lane < w.count) {
    size_t map = row + column_at (w, n + lane);
    store_lowest<2> (f, found, STEREO_LEFT, map, false, shared.left[lane]);
    if (found.offset)
      found.offset[map] = shared.offset[lane];
  }
  store_right<RIGHT> (w, s, f, found, parts, row, n + lane, shared.right[lane]);
  __syncwarp ();
}

/* All columns of a walk, and then the right pixels that have not left. Costs are read a batch ahead: see add_pixels(). */
template <Task LAST, int RIGHT> __device__ __forceinline__ void
walk_row (Walk &w, const Sgm &s, const Lines &rows, const Frame &f, const Selection &found, Winners &winners,
    uint32_t ring, size_t row, bool sampled)
{
  const int PIXELS = Batch<PAIRS, sets_of (LAST)>::pixels;
  static_assert (PIXELS == PLACES, "right pixels are in the same register again after a batch");
  LinePath<PAIRS, 32> &t = w.path;
  Found &shared = winners.found[t.back];
  Lowest *parts = winners.parts[t.back];
  LineRing<LAST> r = { ring, 0, s.costs + t.place + t.share.first,
    (const uint8_t *) (s.volume + t.place) + t.share.first,
    (LAST == BYTES_LAST ? s.third : s.costs) + t.place + t.share.first, t.step, w.count };
  /* the first batch finds out what is missing */
  int all_from = max (t.all_from - t.n, 0), all_to = min (t.all_to - t.n + 1, w.count) - PIXELS, n = 0;
  uint16_t *to = s.volume + t.place + t.share.first;
  LumaStep ahead = load_line_step (t, s, rows, t.n + t.lane);

#pragma unroll 1
  for (int k = 0; k < r.ahead && w.count; k++)
    fetch_batch<LAST> (r, t.share, s.depth);
#pragma unroll 1
  for (; n < w.count; n += GROUP) {
    uint32_t steps = __ballot_sync (SGM_LANES, is_step (s, ahead));
    ahead = load_line_step (t, s, rows, t.n + n + GROUP + t.lane);
#pragma unroll 1
    for (int at = 0; at < GROUP; at += PIXELS) {
      uint32_t from = r.lane + r.at;
      await_copies<LineRing<LAST>::ahead - 1> ();
      if (n + at <= all_from || n + at > all_to)
        walk_batch<LAST, RIGHT, OTHERS> (w, from, s, rows, f, found, shared, to, n + at, at, steps >> at, sampled);
      else if (__any_sync (SGM_LANES, t.mask.some))
        walk_batch<LAST, RIGHT, SAME> (w, from, s, rows, f, found, shared, to, n + at, at, steps >> at, sampled);
      else
        walk_batch<LAST, RIGHT, NONE> (w, from, s, rows, f, found, shared, to, n + at, at, steps >> at, sampled);
      to += (ptrdiff_t) t.step * PIXELS;
      fetch_batch<LAST> (r, t.share, s.depth);
    }
    store_columns<RIGHT> (w, s, f, found, shared, parts, row, n);
  }
#pragma unroll
  for (int k = 0; k < PLACES; k++) {
    int left = s.depth - 1 - (PLACES * t.lane + k); /* columns until it leaves */
    if (left >= 0 && left < s.depth - 1)
      store_right<RIGHT> (w, s, f, found, parts, row, n + left, w.lane.right[k]);
  }
}

/* Block: a row; a warp from its middle to its end, and one to its beginning. Shared memory: Winners, and a PixelRing a warp. */
template <Task LAST, int RIGHT> __global__ void __launch_bounds__ (32 * BLOCK_WARPS, WARP_BLOCKS) winners_kernel (
    const __grid_constant__ Sgm s, const __grid_constant__ Lines rows, const __grid_constant__ Frame f, Selection found)
{
  extern __shared__ uint4 shared[];
  Winners &winners = *(Winners *) shared;
  int y = blockIdx.x, back = threadIdx.x / 32;
  size_t row = (size_t) y * f.map_pitch;
  uint32_t ring = ring_of_lane<PAIRS, sets_of (LAST)> (&winners + 1);
  Walk w = start_walk (s, rows, y, back);

  blank_right<RIGHT> (f, found, row, s.depth);
  walk_row<LAST, RIGHT> (w, s, rows, f, found, winners, ring, row, y == stereo_cell_pixel (y / STEREO_CELL, f.height));
  __syncthreads ();
  for (int k = threadIdx.x; k < s.depth - 1; k += 32 * BLOCK_WARPS) {
    int right = f.width - w.middle + f.min_disparity + k;
    if (right >= 0 && right < f.width)
      store_lowest<RIGHT> (f, found, STEREO_RIGHT, row + right, false, merge (winners.parts[0][k], winners.parts[1][k]));
  }
}

template <Task LAST, int RIGHT> static StereoStatus
launch_winners (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  Lines rows = is_in_bytes (LAST) ? lines_in_bytes (s, true) : lines_of (s, true);
  Selection found = *cuda_selection (plan);
  size_t shared = sizeof (Winners) + BLOCK_WARPS * PixelRing<PAIRS, sets_of (LAST)>::warp;

  if (RIGHT == 1)
    found.costs[0] = found.costs[1] = NULL;
  winners_kernel<LAST, RIGHT>
      <<<plan->height, 32 * BLOCK_WARPS, shared, cuda_state (plan)->stream>>> (s, rows, cuda_frame (plan), found);
  CUDA_LAUNCHED (plan, "winners_kernel");
  return STEREO_OK;
}

}

bool
sgm_winners_fit (int depth)
{
  return depth > 64 && depth <= 32 * PLACES;
}

StereoStatus
sgm_winners (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  if (cuda_kept_of_right (plan) > 1)
    return s.fits_bytes ? launch_winners<ROUNDED_LAST, 2> (plan, s, error) :
                          launch_winners<BYTES_LAST, 2> (plan, s, error);
  return s.fits_bytes ? launch_winners<ROUNDED_LAST, 1> (plan, s, error) :
                        launch_winners<BYTES_LAST, 1> (plan, s, error);
}
