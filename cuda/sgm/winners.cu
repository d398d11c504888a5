/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The last paths, along the rows, and the selection of both views (cuda/post/select.cu) in one kernel: the sums of all paths at a
 * pixel are in registers, spread over a warp, as selection needs them. They go to memory only if reselection reads them, or where
 * the probability does.
 *
 * All other paths, and those along rows up to s.middle, come first (crossed.cu). A row has two warps, which go from there to its
 * ends. The one that goes backward holds the candidates in reverse order (Order): so a right pixel has its next candidate at the
 * next place for both, and one program serves both. A right pixel that has candidates on both sides of the middle has a part from
 * each warp; the parts meet in shared memory at the end.
 *
 * A row keeps its warps busy from its first pixel to its last one, and all rows run at once: what counts is how long a pixel takes,
 * and that nothing is kept in local memory, which is as slow as any other.
 */
#include "cuda/pick/maps.cuh"
#include "cuda/sgm/walk.cuh"

/* A warp has all candidates of a pixel; with fewer than half of them, half of its lanes would idle. */
static_assert (CUDA_WINNERS_MOST == 32 * PLACES && CUDA_WINNERS_LEAST > 16 * PLACES, "depths of winners_kernel");

namespace
{

constexpr int WARP_BLOCKS = 9; /* on a multiprocessor */

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
    int x = column_at (s, n);
    bool edge = is_edge (s, x);
    if (edge || t.edge)
      set_mask (t.mask, s, x, w.order.first, w.order.step);
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
store_pixel (
    const Walk &w, const Sgm &s, const Frame &f, uint16_t *to, const uint32_t (&sum)[PAIRS], int n, bool sampled)
{
  int x = column_at (s, n);

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
walk_batch (Walk &w, const RowRing<LAST> &ring, const Sgm &s, const Lines &rows, const Frame &f, const Selection &found,
    Found &shared, uint16_t *to, int n, int at, uint32_t steps, bool sampled)
{
#pragma unroll
  for (int k = 0; k < PLACES; k += 2) {
    uint32_t keys[2][PLACES];
    Pixel<LAST> pixel[2] = { read_pixel (ring, s, k), read_pixel (ring, s, k + 1) };
#pragma unroll
    for (int h = 0; h < 2; h++) {
      uint32_t sum[PAIRS];
      sum_pixel<LAST, MISSING> (sum, w, pixel[h], s, rows, n + k + h, is_set (steps, 1u << (k + h)));
      store_pixel<RIGHT> (w, s, f, to + (ptrdiff_t) w.path.step * (k + h), sum, n + k + h, sampled);
      if (found.offset)
        shared.sums[at % FITS + k + h][threadIdx.x % 32] = make_uint2 (sum[0], sum[1]);
      keys_in_order (keys[h], sum, w.order);
      shared.left[at + k + h] = warp_lowest<PLACES> (keys[h]);
    }
    insert_columns<PLACES, RIGHT> (w.lane, keys, k, w.leave, shared.right + at + k);
  }
}

/* Finds the offsets of FITS columns of the group, from @at on. */
__device__ __forceinline__ void
fit_columns (const Walk &w, const Sgm &s, Found &shared, int at)
{
  int lane = threadIdx.x % 32;

  if (lane < FITS)
    shared.offset[at + lane] = fit_in_order (s, w.order, (const uint16_t *) shared.sums[lane], shared.left[at + lane]);
  __syncwarp ();
}

/* The number of a right pixel among those with candidates on both sides of the middle, from the step at which it leaves. */
__device__ __forceinline__ int
part_of_right (const Sgm &s, int step)
{
  return goes_back () ? step : s.depth - 2 - step;
}

/* What has become of a right pixel that leaves at step @n. */
template <int RIGHT> __device__ __forceinline__ void
store_right (const Sgm &s, const Frame &f, const Selection &found, Lowest *parts, size_t row, int n, const Lowest &l)
{
  int right = right_pixel (f, column_at (s, n), goes_back () ? 0 : s.depth - 1);

  if (n < s.depth - 1)
    parts[part_of_right (s, n)] = l;
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
    size_t map = row + column_at (s, n + lane);
    store_lowest<2> (f, found, STEREO_LEFT, map, false, shared.left[lane]);
    if (found.offset)
      found.offset[map] = shared.offset[lane];
  }
  store_right<RIGHT> (s, f, found, parts, row, n + lane, shared.right[lane]);
  __syncwarp ();
}

/* All columns of a walk, and then the right pixels that have not left. Costs are read a few batches ahead. */
template <Task LAST, int RIGHT> __device__ __forceinline__ void
walk_row (Walk &w, const Sgm &s, const Lines &rows, const Frame &f, const Selection &found, Winners &winners,
    uint32_t memory, size_t row, bool sampled)
{
  LinePath<PAIRS, 32> &t = w.path;
  Found &shared = winners.found[goes_back ()];
  Lowest *parts = winners.parts[goes_back ()];
  RowRing<LAST> r = { memory, memory + t.share.first, 0 };
  /* the first batch finds out what is missing */
  int all_from = max (t.all_from - t.n, 0), all_to = min (t.all_to - t.n + 1, w.count) - BATCH, n = 0;
  uint16_t *to = s.volume + t.place + t.share.first;

  fetch_luma (s, shared, 0);
#pragma unroll 1
  for (int k = 0; k < BATCHES; k++)
    fetch_batch (r, w, s, k, k);
  await_copies<BATCHES - 1> ();
  __syncwarp ();
#pragma unroll 1
  for (; n < w.count; n += GROUP) {
    uint32_t steps = luma_steps (s, shared, n);
    fetch_luma (s, shared, n + GROUP);
#pragma unroll 1
    for (int at = 0; at < GROUP; at += BATCH) {
      await_copies<BATCHES - 1> ();
      __syncwarp ();
      if (n + at <= all_from || n + at > all_to)
        walk_batch<LAST, RIGHT, OTHERS> (w, r, s, rows, f, found, shared, to, n + at, at, steps >> at, sampled);
      else if (__any_sync (SGM_LANES, t.mask.some))
        walk_batch<LAST, RIGHT, SAME> (w, r, s, rows, f, found, shared, to, n + at, at, steps >> at, sampled);
      else
        walk_batch<LAST, RIGHT, NONE> (w, r, s, rows, f, found, shared, to, n + at, at, steps >> at, sampled);
      to += (ptrdiff_t) t.step * BATCH;
      __syncwarp ();
      if (found.offset && at % FITS + BATCH == FITS)
        fit_columns (w, s, shared, at / FITS * FITS);
      fetch_batch (r, w, s, (n + at) / BATCH + BATCHES, r.turn);
      r.turn = r.turn + 1 < BATCHES ? r.turn + 1 : 0;
    }
    store_columns<RIGHT> (w, s, f, found, shared, parts, row, n);
  }
#pragma unroll
  for (int k = 0; k < PLACES; k++) {
    int left = s.depth - 1 - (PLACES * t.lane + k); /* columns until it leaves */
    if (left >= 0 && left < s.depth - 1)
      store_right<RIGHT> (s, f, found, parts, row, n + left, w.lane.right[k]);
  }
}

/* Block: a row; a warp from its middle to its end, and one to its beginning. Shared memory: Winners, and a ring a warp. */
template <Task LAST, int RIGHT> __global__ void __launch_bounds__ (32 * BLOCK_WARPS, WARP_BLOCKS) winners_kernel (
    const __grid_constant__ Sgm s, const __grid_constant__ Lines rows, const __grid_constant__ Frame f, Selection found)
{
  extern __shared__ uint4 shared[];
  Winners &winners = *(Winners *) shared;
  int y = blockIdx.x;
  size_t row = (size_t) y * f.map_pitch;
  uint32_t memory = shared_address (&winners + 1) + goes_back () * ring_bytes<LAST> (s.depth);
  Walk w = start_walk (s, rows, y);

  blank_right<RIGHT> (f, found, row, s.depth);
  walk_row<LAST, RIGHT> (w, s, rows, f, found, winners, memory, row, y == stereo_cell_pixel (y / STEREO_CELL, f.height));
  __syncthreads ();
  for (int k = threadIdx.x; k < s.depth - 1; k += 32 * BLOCK_WARPS) {
    int right = f.width - s.middle + f.min_disparity + k;
    if (right >= 0 && right < f.width)
      store_lowest<RIGHT> (f, found, STEREO_RIGHT, row + right, false, merge (winners.parts[0][k], winners.parts[1][k]));
  }
}

template <Task LAST, int RIGHT> static StereoStatus
launch_winners (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  Lines rows = lines_for (LAST, s, SGM_SIDEWAYS);
  Selection found = cuda_state (plan)->selection;
  size_t shared = sizeof (Winners) + BLOCK_WARPS * ring_bytes<LAST> (s.depth);

  if (RIGHT == 1)
    found.costs[0] = found.costs[1] = NULL;
  winners_kernel<LAST, RIGHT>
      <<<plan->height, 32 * BLOCK_WARPS, shared, cuda_state (plan)->stream>>> (s, rows, cuda_frame (plan), found);
  CUDA_LAUNCHED (plan, "winners_kernel");
  return STEREO_OK;
}

template <Task LAST> static StereoStatus
launch_for_right (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  return plan->fusion.keeps_right ? launch_winners<LAST, 2> (plan, s, error) : launch_winners<LAST, 1> (plan, s, error);
}

}

StereoStatus
sgm_winners (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  return s.fits_byte          ? launch_for_right<BYTES_LAST> (plan, s, error) :
      plan->params.paths == 8 ? launch_for_right<ROUNDED_EIGHT> (plan, s, error) :
                                launch_for_right<ROUNDED_LAST> (plan, s, error);
}
