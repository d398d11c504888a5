/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Semi-global matching along rows or columns, both ways at once: two warps start at the two ends of a line. Up to the
 * middle, each warp is the first one at its pixels. There the warps wait for each other; then each goes on over the
 * pixels of the other one and adds to the sums.
 */
#include "cuda/sgm/paths.cuh"

namespace
{

constexpr int BLOCK_LINES = 2; /* of a block, two warps each */

/* Lines of the picture. @pixel, @line: elements between neighbouring pixels of a line, and between neighbouring
 * lines. */
struct Lines
{
  int count, length;
  ptrdiff_t pixel, line;
  Penalties penalties;
  bool rows;
  bool last; /* the last direction of all: marks the missing candidates */
};

/* Pixels whose costs and sums are being copied to shared memory. */
template <int PAIRS> struct PixelsAhead
{
  static const int count = PAIRS <= 2 ? 8 : PAIRS == 4 ? 6 : PAIRS == 8 ? 4 : 2;
};

/* A path along a line, of one warp. */
template <int PAIRS> struct LinePath
{
  uint32_t path[PAIRS], lowest;
  Mask<PAIRS> mask;
  Borders borders;
  Share share;
  int lane;
  int x, dx;
  bool edge;      /* the previous pixel did not have all candidates */
  int line;       /* y of a row, x of a column */
  int n;          /* pixels done */
  bool back;      /* from the far end of the line */
  int ahead;      /* load_step() of pixel n + 32 + lane, with n a multiple of 32 */
  uint32_t steps; /* of the pixels from there on: where the luma has a step */
  const uint8_t *costs;
  uint16_t *to;
  ptrdiff_t step;
};

/* Sets the missing candidates of the column, and moves to the next one. Away from the edges they are the same
 * everywhere. */
template <int PAIRS> __device__ __forceinline__ void
mask_column (LinePath<PAIRS> &t, const Sgm &s)
{
  int from = s.min_disparity + s.disparities - 1, to = s.width - 1 + s.min_disparity;
  bool edge = t.x < from || t.x > to;

  if (edge || t.edge)
    set_mask (t.mask, s, t.x, t.lane);
  t.edge = edge;
  t.x += t.dx;
}

/* load_step() of pixel @n of the path. */
template <int PAIRS> __device__ __forceinline__ int
load_line_step (const LinePath<PAIRS> &t, const Sgm &s, const Lines &l, int n)
{
  int at = t.back ? l.length - 1 - n : n, before = t.back ? at + 1 : at - 1;
  if (n >= l.length)
    return 0;
  return l.rows ? load_step (s, at, t.line, before, t.line) : load_step (s, t.line, at, t.line, before);
}

/* Whether the luma has a step from the pixel before to the next one. A lane looks at one of 32 pixels, long before. */
template <int PAIRS> __device__ __forceinline__ bool
next_step (LinePath<PAIRS> &t, const Sgm &s, const Lines &l)
{
  if (t.n % 32 == 0) {
    t.steps = __ballot_sync (SGM_LANES, is_step (s, t.ahead));
    t.ahead = load_line_step (t, s, l, t.n + 32 + t.lane);
  }
  return t.steps >> t.n++ % 32 & 1;
}

/* The pixels that are being copied, a ring in the warp's part of shared memory; sums first. A lane reads only its own
 * copies. With registers in place of shared memory the compiler moves values and waits for the loads. A copy has at
 * least 4 bytes. */
template <int PAIRS> struct PixelRing
{
  static const int cost_bytes = PAIRS == 1 ? 4 : 2 * PAIRS, sum_bytes = 4 * PAIRS;
  static const int pixel = 32 * (cost_bytes + sum_bytes), warp = PixelsAhead<PAIRS>::count * pixel;
  char *sums, *raw;     /* of pixel 0 */
  const uint8_t *costs; /* stay on the last pixel at the end */
  const uint16_t *from;
  int left; /* pixels to fetch */
};

template <int PAIRS, bool ADD> __device__ __forceinline__ void
fetch_pixel (PixelRing<PAIRS> &c, const LinePath<PAIRS> &t, int k)
{
  ptrdiff_t step = --c.left > 0 ? t.step : 0;
  const int sum = c.sum_bytes < 16 ? c.sum_bytes : 16, cost = c.cost_bytes < 16 ? c.cost_bytes : 16;

#pragma unroll
  for (int n = 0; ADD && n < c.sum_bytes; n += 16)
    copy_async<sum> (c.sums + k * c.pixel + n, c.from + n % 32 / 2 + (n < 32 ? 0 : t.share.second));
#pragma unroll
  for (int n = 0; n < c.cost_bytes; n += 16) {
    const uint8_t *from = c.costs + (n ? t.share.second : 0);
    copy_async<cost> (
        c.raw + k * c.pixel + n, PAIRS == 1 ? (const uint8_t *) ((uintptr_t) from & ~(uintptr_t) 3) : from);
  }
  commit_copies ();
  c.costs += step;
  c.from += step;
}

template <int PAIRS, bool ADD> __device__ __forceinline__ void
add_pixel (LinePath<PAIRS> &t, PixelRing<PAIRS> &c, const Sgm &s, const Lines &l, bool mark, int k)
{
  const Share whole = { 0, 16, true };
  uint32_t cost[PAIRS], sum[PAIRS];
  RawCosts<PAIRS> raw;

  await_copies<PixelsAhead<PAIRS>::count - 1> ();
  load_costs (raw, (const uint8_t *) c.raw + k * c.pixel + (PAIRS == 1 ? t.share.first & 2 : 0), whole);
  if (ADD)
    load_pairs (sum, c.sums + k * c.pixel);
  spread_costs (cost, raw, s.unit);
  extend_path (t.path, t.lowest, cost, l.penalties, next_step (t, s, l), t.borders);
  mask_column (t, s);
#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    sum[p] = ((ADD ? sum[p] : 0) + t.path[p]) | (mark ? t.mask.pair[p] : 0);
  store_sums (t.to, sum, t.share);
  t.to += t.step;
  fetch_pixel<PAIRS, ADD> (c, t, k);
#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    t.path[p] |= t.mask.pair[p] & SGM_MISSING;
  t.lowest = lowest_of (t.path);
  if (t.edge)
    open_outside (t.path, t.lowest, t.mask, s, t.lane);
}

/* Adds the path of the next @count pixels to the sums; not ADD: writes the sums. */
template <int PAIRS, bool ADD> __device__ __forceinline__ void
add_pixels (LinePath<PAIRS> &t, PixelRing<PAIRS> &c, const Sgm &s, const Lines &l, int count, bool mark)
{
  const int AHEAD = PixelsAhead<PAIRS>::count;
  int n = 0;

  if (count == 0)
    return;
  await_copies<0> (); /* copies of the last call that nobody needs */
  c.costs = t.costs;
  c.from = t.to;
  c.left = count;
#pragma unroll
  for (int k = 0; k < AHEAD; k++)
    fetch_pixel<PAIRS, ADD> (c, t, k);
  for (; n + AHEAD <= count; n += AHEAD)
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
      add_pixel<PAIRS, ADD> (t, c, s, l, mark, k);
#pragma unroll
  for (int k = 0; k < AHEAD - 1; k++)
    if (n + k < count)
      add_pixel<PAIRS, ADD> (t, c, s, l, mark, k);
  t.costs += count * t.step;
}

/* Block: BLOCK_LINES lines, two warps each, of which the second starts at the far end. Shared memory: a PixelRing a
 * warp. A lane copies and stores up to 16 bytes of a pixel at a time; the lanes of a warp together a whole column of
 * the volume. */
template <int PAIRS, bool ADD> __global__ void __launch_bounds__ (64 * BLOCK_LINES) pair_kernel (Sgm s, Lines l)
{
  extern __shared__ uint4 shared[];
  int warp = threadIdx.x / 32, line = blockIdx.x * BLOCK_LINES + warp / 2, back = warp & 1;
  int first = (l.length + 1) / 2, second = l.length - first;
  bool there = line < l.count;
  LinePath<PAIRS> t;
  PixelRing<PAIRS> c;

  line = min (line, l.count - 1);
  t.lane = threadIdx.x % 32;
  c.sums = (char *) shared + warp * c.warp + t.lane * c.sum_bytes;
  c.raw = (char *) shared + warp * c.warp + 32 * c.sum_bytes + t.lane * c.cost_bytes;
  t.borders = borders_of (t.lane);
  t.share = share_of<PAIRS> (t.lane, s.depth);
  t.share.there &= there;
  t.share.second = there ? t.share.second : 0;
  t.x = l.rows ? back ? s.width - 1 : 0 : line;
  t.dx = l.rows ? back ? -1 : 1 : 0;
  t.edge = true;
  t.line = line;
  t.n = 0;
  t.back = back;
  t.steps = 0;
  t.ahead = load_line_step (t, s, l, t.lane);
  t.mask.first = t.mask.last = -1;
  t.step = back ? -l.pixel : l.pixel;
  ptrdiff_t place = line * l.line + (back ? (l.length - 1) * l.pixel : 0) + t.share.first;
  t.costs = s.costs + place;
  t.to = s.volume + place;
  t.lowest = 0;
#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    t.path[p] = 0;
  add_pixels<PAIRS, ADD> (t, c, s, l, back ? second : first, false);
  __syncthreads ();
  add_pixels<PAIRS, true> (t, c, s, l, back ? first : second, l.last);
}

template <int PAIRS> static StereoStatus
launch_pairs (StereoPlan *plan, const Sgm &s, int direction, bool last, StereoError *error)
{
  bool rows = direction == SGM_SIDEWAYS;
  ptrdiff_t column = s.depth, row = (ptrdiff_t) s.width * s.depth;
  Lines l = { rows ? s.height : s.width, rows ? s.width : s.height, rows ? column : row, rows ? row : column,
    s.penalties[direction], rows, last };
  unsigned blocks = cuda_blocks (l.count, BLOCK_LINES);
  size_t shared = 2 * BLOCK_LINES * PixelRing<PAIRS>::warp;

  if (rows)
    pair_kernel<PAIRS, false><<<blocks, 64 * BLOCK_LINES, shared, cuda_state (plan)->stream>>> (s, l);
  else
    pair_kernel<PAIRS, true><<<blocks, 64 * BLOCK_LINES, shared, cuda_state (plan)->stream>>> (s, l);
  CUDA_LAUNCHED (plan, "pair_kernel");
  return STEREO_OK;
}

}

StereoStatus
sgm_pairs (StereoPlan *plan, const Sgm &s, int direction, int last, StereoError *error)
{
  return SGM_FOR_DEPTH (s.depth, launch_pairs, plan, s, direction, last, error);
}
