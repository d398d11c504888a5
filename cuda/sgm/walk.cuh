/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A warp on its way along a row, from the middle to an end: how it holds candidates, and how what it reads is copied to shared
 * memory ahead. See winners.cu. */
#ifndef STEREO_CUDA_SGM_WALK_CUH
#define STEREO_CUDA_SGM_WALK_CUH

#include "cuda/pick/lane.cuh"
#include "cuda/sgm/lines.cuh"

namespace
{

constexpr int PAIRS = 2, PLACES = 2 * PAIRS; /* of a lane: up to 128 candidates a warp */
constexpr int GROUP = 32;                    /* columns whose results are stored at once, a lane each */

/* What is read of a pixel. */
template <Task LAST> struct Pixel
{
  RawCosts<PAIRS> costs, set[sets_of (LAST)];
};

/*
 * Batches of pixels that are being copied, in the warp's part of shared memory. Pixels of a row lie side by side, and so do those
 * of a batch there, in the order of the row: costs of all, sets of the volume, other sets.
 */
constexpr int BATCH = PLACES; /* pixels: so right pixels are in the same register again after a batch */
constexpr int BATCHES = 2;
constexpr int FITS = 16; /* columns whose sub-pixel offsets are found at once */

template <Task LAST> struct RowRing
{
  static const int sets = 1 + sets_of (LAST), more = more_sets_of (LAST);
  uint32_t memory; /* of the warp */
  uint32_t lane;   /* where the lane's candidates of a batch's first pixel are */
  int turn;        /* of the batch that is read next */
};

/* Of a warp's ring. */
template <Task LAST> __host__ __device__ constexpr int
ring_bytes (int depth)
{
  return BATCHES * BATCH * RowRing<LAST>::sets * depth;
}

/* How a lane holds its candidates: forward, the lane's place k has candidate first + k; backward, first - k. */
struct Order
{
  int first, step;
  uint32_t spread[PAIRS], gather[PAIRS]; /* byte selectors: four bytes to pairs, pairs to four costs */
  uint32_t index[PLACES];
};

/* Luma of the columns of a group and one more, from a multiple of four on. */
constexpr int LUMA_WORDS = GROUP / 4 + 1;

/* Shared memory of a warp. */
struct Found
{
  uint32_t luma[2][LUMA_WORDS]; /* of this group and of the next one */
  uint2 sums[FITS][32];         /* of the columns whose offsets are found next */
  Lowest left[GROUP], right[GROUP];
  float offset[GROUP];
};

/* Shared memory of a block, before the rings of its warps. */
struct __align__ (16) Winners
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
  int count;  /* pixels to do */
  bool leave; /* right pixels leave from this lane */
};

/* Whether the warp goes from s.middle to the beginning of the row. It is found again wherever it is used, because registers are
 * too few. */
__device__ __forceinline__ bool
goes_back ()
{
  return threadIdx.x >= 32;
}

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

/* open_outside() of paths.cuh for this order. */
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
start_walk (const Sgm &s, const Lines &rows, int y)
{
  Walk w;
  bool back = goes_back ();
  int lane = threadIdx.x % 32, lanes = s.depth / PLACES, from = back && lane < lanes ? lanes - 1 - lane : lane;
  LinePath<PAIRS, 32> &t = w.path;
  uint32_t path[PAIRS];

  t = path_of_line<PAIRS, 32> (s, rows, y, back);

  int begin = pixels_before (s, rows, t.length, back);

  skip_to (t, begin);
  w.count = t.length - begin;
  w.leave = lane == lanes - 1;
  w.order = order_of (s, back, lane);
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
column_at (const Sgm &s, int n)
{
  return goes_back () ? s.middle - 1 - n : s.middle + n;
}

/* The first column whose luma a group from step @n on is stored from. */
__device__ __forceinline__ int
luma_column (const Sgm &s, int n)
{
  return (goes_back () ? s.middle - n - GROUP : s.middle + n - 1) & ~3;
}

/* Starts to copy the luma of the group from step @n on, with the batch after that: registers are too few to load it ahead.
 * Columns outside the picture are not looked at, and not read. */
__device__ __forceinline__ void
fetch_luma (const Sgm &s, Found &shared, int n)
{
  int lane = threadIdx.x % 32, column = min (max (luma_column (s, n) + 4 * lane, 0), (s.width - 1) & ~3);

  if (lane < LUMA_WORDS)
    copy_async<4> (&shared.luma[n / GROUP % 2][lane], s.luma + (size_t) blockIdx.x * s.luma_pitch + column);
}

/* Bit k: the luma has a step towards the column of step @n + k; none from outside. */
__device__ __forceinline__ uint32_t
luma_steps (const Sgm &s, const Found &shared, int n)
{
  int x = column_at (s, n + threadIdx.x % 32), before = goes_back () ? x + 1 : x - 1, first = luma_column (s, n);
  const uint8_t *luma = (const uint8_t *) shared.luma[n / GROUP % 2];
  bool there = max (x, before) < s.width && min (x, before) >= 0;
  LumaStep step = { there ? luma[x - first] : 0, there ? luma[before - first] : 0 };

  return __ballot_sync (SGM_LANES, is_step (s, step));
}

/* By all lanes: starts to copy up to 512 * PIECES bytes, a multiple of 16. */
template <int PIECES> __device__ __forceinline__ void
copy_pieces (uint32_t to, const uint8_t *from, int bytes)
{
#pragma unroll
  for (int n = 0; n < PIECES; n++) {
    int at = 512 * n + 16 * (threadIdx.x % 32);
    if (at < bytes)
      copy_async<16> (to + at, from + at);
  }
}

/* Starts to copy batch @n of the row to slot @slot. A batch that the row cuts off has its pixels where they would be in a whole
 * one. */
template <Task LAST> __device__ __forceinline__ void
fetch_batch (const RowRing<LAST> &r, const Walk &w, const Sgm &s, int n, int slot)
{
  const int SETS = RowRing<LAST>::sets, MORE = RowRing<LAST>::more;
  int count = max (min (w.count - n * BATCH, BATCH), 0), bytes = count * s.depth;
  int skip = goes_back () ? (BATCH - count) * s.depth : 0;
  ptrdiff_t from = w.path.place + (ptrdiff_t) w.path.step * (n * BATCH) - (goes_back () ? bytes - s.depth : 0);
  uint32_t to = r.memory + slot * SETS * BATCH * s.depth;

  copy_pieces<1> (to + skip, s.costs + from, bytes);
  copy_pieces<2> (to + BATCH * s.depth + 2 * skip, (const uint8_t *) (s.volume + from), 2 * bytes);
  copy_pieces<MORE> (to + 3 * BATCH * s.depth + MORE * skip, s.sets + MORE * from, MORE * bytes);
  commit_copies ();
}

/* Pixel @k of the batch that is read. */
template <Task LAST> __device__ __forceinline__ Pixel<LAST>
read_pixel (const RowRing<LAST> &r, const Sgm &s, int k)
{
  const int MORE = RowRing<LAST>::more;
  int at = goes_back () ? BATCH - 1 - k : k;
  uint32_t from = r.lane + r.turn * (RowRing<LAST>::sets * BATCH) * s.depth;
  Pixel<LAST> p;

  read_set<PAIRS> (p.costs, from + at * s.depth);
#pragma unroll
  for (int set = 0; set < sets_of (LAST); set++)
    read_set<PAIRS> (p.set[set], from + (set < 2 ? BATCH + 2 * at + set : 3 * BATCH + MORE * at + set - 2) * s.depth);
  return p;
}

}

#endif
