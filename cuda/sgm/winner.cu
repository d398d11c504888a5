/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Four paths where nothing but their winner is wanted, of the coarsest level. The picture is so small that all lines run at once, and
 * the longest of them is waited for: a pixel takes as long as its chain of operations.
 */
#include "cuda/lists.cuh"
#include "cuda/sgm/lines.cuh"

namespace
{

constexpr int PIXELS = 8; /* of a batch, whose costs and luma are loaded while the batch before is worked on */

template <int PAIRS> struct PixelBatch
{
  RawCosts<PAIRS> raw[PIXELS];
  int luma[PIXELS];
};

/* The @count pixels from the @n-th on. */
template <int PAIRS, int LANES> static __device__ __forceinline__ void
load_batch (PixelBatch<PAIRS> &b, const Sgm &s, const LinePath<PAIRS, LANES> &t, int n, int count)
{
  const uint8_t *from = s.costs + t.place + (ptrdiff_t) t.step * n + t.share.first;
  const uint8_t *luma = s.luma + t.luma + (ptrdiff_t) t.luma_step * n;

#pragma unroll
  for (int k = 0; k < PIXELS; k++, from += t.step, luma += t.luma_step) {
    if (k >= count)
      return;
    b.luma[k] = *luma;
    if (PAIRS == 2)
      b.raw[k].word[0] = *(const uint32_t *) from;
#pragma unroll
    for (int half = 0; half < PAIRS / 4; half++) {
      uint2 eight = ((const uint2 *) from)[half];
      b.raw[k].word[2 * half] = eight.x;
      b.raw[k].word[2 * half + 1] = eight.y;
    }
  }
}

/* Extends the path by a pixel, as find_added() does it, with fewer operations between the lowest cost before and the one behind.
 * Returns what the path adds. */
template <int PAIRS, int LANES> static __device__ __forceinline__ RawCosts<PAIRS>
extend (LinePath<PAIRS, LANES> &t, const RawCosts<PAIRS> &raw, uint32_t small, uint32_t large)
{
  uint32_t before = __shfl_up_sync (SGM_LANES, t.path[PAIRS - 1], 1, LANES);
  uint32_t after = __shfl_down_sync (SGM_LANES, t.path[0], 1, LANES);
  uint32_t between[PAIRS + 1], cost[PAIRS], added[PAIRS];
  RawCosts<PAIRS> bytes;

  spread_costs (cost, raw, 1);
  between[0] = __byte_perm (before, t.path[0], t.borders.first);
  between[PAIRS] = __byte_perm (t.path[PAIRS - 1], after, t.borders.last);
#pragma unroll
  for (int k = 1; k < PAIRS; k++)
    between[k] = __byte_perm (t.path[k - 1], t.path[k], 0x5432);
#pragma unroll
  for (int k = 0; k < PAIRS; k++) {
    uint32_t best = __viaddmin_u16x2 (__vminu2 (between[k], between[k + 1]), small, t.path[k]);
    added[k] = __vminu2 (best - t.lowest, large); /* no half borrows: none is below the lowest */
    t.path[k] = __vminu2 (best + cost[k] - t.lowest, large + cost[k]) | (t.mask.pair[k] & SGM_MISSING);
  }
  t.lowest = lowest_of<PAIRS, LANES> (t.path);
  gather_bytes (bytes, added, 0);
  return bytes;
}

/* The first @count pixels of a batch, whose first one is in column @x. Where none of them lacks candidates that others have, nothing
 * branches, for that takes as long as all else. */
template <Missing MISSING, int PAIRS, int LANES> static __device__ __forceinline__ void
walk_batch (LinePath<PAIRS, LANES> &t, const PixelBatch<PAIRS> &b, const Sgm &s, const Penalties &penalties, int x,
    int &luma, uint8_t *&to, int count)
{
#pragma unroll
  for (int k = 0; k < PIXELS; k++, x += t.dx) {
    if (MISSING == OTHERS && k >= count)
      return;
    bool step = is_step (s, { b.luma[k], luma }), edge = MISSING == OTHERS ? is_edge (s, x) : MISSING == SAME;
    luma = b.luma[k];
    if (MISSING == OTHERS && (edge || t.edge))
      set_mask<PAIRS, LANES> (t.mask, s, x, t.lane * PAIRS * 2);
    store_costs (to,
        extend (t, b.raw[k], step ? penalties.small[1] : penalties.small[0],
            step ? penalties.large[1] : penalties.large[0]),
        t.share);
    to += 2 * (ptrdiff_t) t.step;
    if (edge)
      open_outside (t.path, t.lowest, t.mask, s, t.lane);
    if (MISSING == OTHERS)
      t.edge = edge;
  }
}

/* Block: a warp, which has the same pixels of 32 / LANES lines: rows, then columns; every second one from their far end. */
template <int PAIRS, int LANES> static __global__ void __launch_bounds__ (32) line_kernel (
    const __grid_constant__ Sgm s, const __grid_constant__ Lines rows, const __grid_constant__ Lines columns)
{
  int along_rows = 2 * ((rows.count * LANES + 31) / 32), number = blockIdx.x;
  bool vertical = number >= along_rows;
  number -= vertical ? along_rows : 0;
  int back = number % 2, line = number / 2 * (32 / LANES) + threadIdx.x / LANES;
  LinePath<PAIRS, LANES> t = path_of_line<PAIRS, LANES> (s, vertical ? columns : rows, line, back);
  Penalties penalties = vertical ? columns.penalties : rows.penalties;
  uint8_t *to = (vertical ? s.sets : (uint8_t *) s.volume) + 2 * t.place + back * s.depth + t.share.first;
  PixelBatch<PAIRS> next;

  load_batch (next, s, t, 0, t.length);
  int luma = next.luma[0]; /* there is no step to the first pixel */
#pragma unroll 1
  for (int n = 0; n < t.length; n += PIXELS) {
    PixelBatch<PAIRS> batch = next;
    int x = t.x + n * t.dx, left = t.length - n;
    bool edge = __any_sync (SGM_LANES, t.edge | is_edge (s, x) | is_edge (s, x + (PIXELS - 1) * t.dx));
    if (left >= 2 * PIXELS)
      load_batch (next, s, t, n + PIXELS, PIXELS);
    else
      load_batch (next, s, t, n + PIXELS, left - PIXELS);
    if (left < PIXELS || (edge && (n == 0 || !vertical)))
      walk_batch<OTHERS> (t, batch, s, penalties, x, luma, to, left);
    else if (edge)
      walk_batch<SAME> (t, batch, s, penalties, x, luma, to, PIXELS);
    else
      walk_batch<NONE> (t, batch, s, penalties, x, luma, to, PIXELS);
  }
}

template <int PAIRS, int LANES> static StereoStatus
launch_lines (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  Lines rows = lines_for (BYTES_FIRST, s, SGM_SIDEWAYS), columns = lines_for (BYTES_FIRST, s, SGM_VERTICAL);
  unsigned blocks = 2 * (cuda_blocks (s.height, 32 / LANES) + cuda_blocks (s.width, 32 / LANES));

  line_kernel<PAIRS, LANES><<<blocks, 32, 0, cuda_state (plan)->stream>>> (s, rows, columns);
  CUDA_LAUNCHED (plan, "line_kernel");
  return STEREO_OK;
}

/* The winner. */

constexpr int WINNER_LANES = 8, THREADS = 256;
constexpr int WINNER_PAIRS = 4; /* of candidates, that a lane has at a time */

static __device__ __forceinline__ RawCosts<WINNER_PAIRS>
load_bytes (const uint8_t *from)
{
  uint2 v = *(const uint2 *) from;
  return { { v.x, v.y } };
}

/* Adds the bytes of both sets of a direction to @sums. */
static __device__ __forceinline__ void
add_sets (uint32_t (&sums)[WINNER_PAIRS], const uint8_t *sets, int depth)
{
#pragma unroll
  for (int way = 0; way < 2; way++) {
    uint32_t added[WINNER_PAIRS];
    spread_costs (added, load_bytes (sets + way * depth), 1);
#pragma unroll
    for (int p = 0; p < WINNER_PAIRS; p++)
      sums[p] += added[p];
  }
}

/* WINNER_LANES lanes have a pixel of row blockIdx.y. All paths begin with the candidate's own cost. */
static __global__ void
__launch_bounds__ (THREADS) winner_kernel (const __grid_constant__ Frame f, const __grid_constant__ Sgm s, uint16_t *to)
{
  int item = blockIdx.x * THREADS + threadIdx.x, x = item / WINNER_LANES, y = blockIdx.y;
  size_t at = ((size_t) y * f.width + min (x, f.width - 1)) * f.depth;
  int first = stereo_first_index (x, f.width, f.min_disparity);
  int last = stereo_last_index (x, f.disparities, f.min_disparity);
  uint32_t best = ~0u;

  for (int i = item % WINNER_LANES * 2 * WINNER_PAIRS; i < f.depth; i += WINNER_LANES * 2 * WINNER_PAIRS) {
    uint32_t sums[WINNER_PAIRS];
    spread_costs (sums, load_bytes (s.costs + at + i), 4);
    add_sets (sums, (const uint8_t *) s.volume + 2 * at + i, f.depth);
    add_sets (sums, s.sets + WINNER_MORE * at + i, f.depth);
    best = lowest_of_eight (best, sums, i, first, last);
  }
  store_lowest<WINNER_LANES> (f, best, x, y, to);
}

}

StereoStatus
sgm_winner (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  StereoStatus status = s.depth <= 32 ? launch_lines<2, 8> (plan, s, error) :
      s.depth <= 64                   ? launch_lines<2, 16> (plan, s, error) :
      s.depth <= 256                  ? launch_lines<4, 32> (plan, s, error) :
                                        launch_lines<8, 32> (plan, s, error);
  dim3 blocks (cuda_blocks ((size_t) plan->width * WINNER_LANES, THREADS), plan->height);

  if (status)
    return status;
  winner_kernel<<<blocks, THREADS, 0, cuda_state (plan)->stream>>> (cuda_frame (plan), s, plan->view[STEREO_LEFT].index);
  CUDA_LAUNCHED (plan, "winner_kernel");
  return STEREO_OK;
}
