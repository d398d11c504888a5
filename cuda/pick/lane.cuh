/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a lane of selection holds: costs of the columns ahead, and the right pixels that pass through its registers. See
 * post/select.cu. */
#ifndef STEREO_CUDA_PICK_LANE_CUH
#define STEREO_CUDA_PICK_LANE_CUH

#include "cuda/pick/lowest.cuh"

namespace
{

constexpr int PERIOD = 8; /* columns after which a right pixel is in the same register again */

/*
 * The W indices of a lane: a first run of FIRST neighbours, in the order of the lanes, and a second run of SECOND that
 * continues there in the reverse order of the lanes. E.g. W = 10, FIRST = 8:
 *
 *     lane            0        1    ...    31
 *     first run     0..7     8..15  ...  248..255
 *     second run  318,319  316,317  ...  256,257
 */
template <int W> struct Shape
{
  static const int FIRST = W == 10 ? 8 : W, SECOND = W - FIRST;
  static const int AHEAD = W == 10 ? 4 : 8; /* columns that are being loaded */
  static const bool SKIP = W >=
      8; /* do not read candidates left of the right image; with few indices the test costs more */

  /* The first index of the run that register @j belongs to, from the first index of the round on. */
  static __device__ __forceinline__ int
  run (int lane, int j)
  {
    return j < FIRST ? lane * FIRST : 32 * FIRST + (31 - lane) * SECOND;
  }

  /* The lane where right pixels leave the warp. */
  static __device__ __forceinline__ int
  last_lane (int indices)
  {
    return SECOND ? 32 - (indices - 32 * FIRST) / (SECOND ? SECOND : 1) : indices / FIRST - 1;
  }
};

/* The registers of a lane: costs of W indices of the columns ahead, and the right pixels that are at these indices. */
template <int W> struct Lane
{
  typedef Shape<W> S;
  uint32_t costs[S::AHEAD][W / 2];
  Lowest right[W];
  uint32_t index[2]; /* the first index of each run */

  /* The right pixel that is at the index of register @j in column @k of PERIOD. */
  __device__ __forceinline__ Lowest &
  pixel_at (int j, int k)
  {
    return j < S::FIRST ? right[(j - k + PERIOD) % S::FIRST] :
                          right[S::FIRST + (j - S::FIRST - k + PERIOD) % (S::SECOND ? S::SECOND : 1)];
  }
};

/* Loads the costs of a run; not @there: there are no candidates. */
template <int N> static __device__ __forceinline__ void
load_run (uint32_t *to, const uint16_t *from, bool there)
{
#pragma unroll
  for (int j = 0; j < N / 2; j++)
    to[j] = 0xFFFFFFFFu;
  if (there && N == 8) {
    uint4 words = *(const uint4 *) from;
    to[0] = words.x;
    to[1 % (N / 2)] = words.y;
    to[2 % (N / 2)] = words.z;
    to[3 % (N / 2)] = words.w;
  } else if (there && N == 4) {
    uint2 words = *(const uint2 *) from;
    to[0] = words.x;
    to[1 % (N / 2)] = words.y;
  } else if (there)
    to[0] = *(const uint32_t *) from;
}

/* Loads a lane's costs of column @x, at @column. With EDGE, candidates may be missing. */
template <int W, bool EDGE> static __device__ __forceinline__ void
load_costs (const Frame &f, Lane<W> &l, uint32_t (&to)[W / 2], const uint16_t *column, int x, int end)
{
  typedef Shape<W> S;
  int last = f.outside ? f.depth : x - f.min_disparity; /* index */
  load_run<S::FIRST> (to, column + l.index[0], !EDGE || ((!S::SKIP || (int) l.index[0] <= last) && x < end));
  if (S::SECOND)
    load_run<S::SECOND ? S::SECOND : 2> (
        to + S::FIRST / 2 % (W / 2), column + l.index[1], !EDGE || ((!S::SKIP || (int) l.index[1] <= last) && x < end));
}

/* The keys of a column. */
template <int W> static __device__ __forceinline__ void
make_keys (uint32_t (&keys)[W], const uint32_t (&costs)[W / 2], const uint32_t (&index)[2])
{
#pragma unroll
  for (int j = 0; j < W; j += 2) {
    uint32_t i = j < Shape<W>::FIRST ? index[0] + j : index[1] + (j - Shape<W>::FIRST);
    keys[j] = costs[j / 2] * 0x10000 + i; /* on other units than the next key */
    keys[j + 1] = __byte_perm (i + 1, costs[j / 2], 0x7610);
  }
}

/* Moves a key of a right pixel to the lane above, which continues with it in the next column. The lowest lane gets
 * none. */
static __device__ __forceinline__ void
pass_up (uint32_t &a, bool lowest_lane)
{
  uint32_t below = __shfl_up_sync (ALL_LANES, a, 1);
  a = below * (lowest_lane ? 0 : blockDim.y) + (lowest_lane ? NO_KEY : 0); /* see sum() */
}

/* The second run moves to the lane below; the highest lane gets the key @a that leaves the first run. */
static __device__ __forceinline__ void
pass_down (uint32_t &b, uint32_t a, bool highest_lane)
{
  uint32_t above = __shfl_down_sync (ALL_LANES, b, 1);
  b = above * (highest_lane ? 0 : blockDim.y) + a * (highest_lane ? blockDim.y : 0);
}

/* Moves the right pixels at the ends of a lane's runs in column @k. */
template <int W, int KEPT> static __device__ __forceinline__ void
pass_on (Lane<W> &l, int k)
{
  bool lowest_lane = threadIdx.x % 32 == 0, highest_lane = threadIdx.x % 32 == 31;
  Lowest &a = l.pixel_at (Shape<W>::FIRST - 1, k), &b = l.pixel_at (W - 1, k);

  if (Shape<W>::SECOND) {
    pass_down (b.first, a.first, highest_lane);
    if (KEPT > 1)
      pass_down (b.second, a.second, highest_lane);
  }
  pass_up (a.first, lowest_lane);
  if (KEPT > 1)
    pass_up (a.second, lowest_lane);
}

/* Columns @k and @k + 1 of PERIOD: a right pixel has a candidate in both, unless it leaves or enters a run between
 * them. With @leave, the right pixels that leave the warp go to @right. */
template <int W, int KEPT> static __device__ __forceinline__ void
insert_columns (Lane<W> &l, const uint32_t (&keys)[2][W], int k, bool leave, Lowest *right)
{
  const int FIRST = Shape<W>::FIRST;

  insert_key<KEPT> (l.pixel_at (W - 1, k), keys[0][W - 1]);
  if (FIRST < W)
    insert_key<KEPT> (l.pixel_at (FIRST - 1, k), keys[0][FIRST - 1]);
  if (leave)
    right[0] = l.pixel_at (W - 1, k);
  pass_on<W, KEPT> (l, k);
#pragma unroll
  for (int j = 0; j < W - 1; j++)
    if (j != FIRST - 1)
      insert_two_keys<KEPT> (l.pixel_at (j, k), keys[0][j], keys[1][j + 1]);
  insert_key<KEPT> (l.pixel_at (0, k + 1), keys[1][0]);
  if (FIRST < W)
    insert_key<KEPT> (l.pixel_at (FIRST, k + 1), keys[1][FIRST % W]);
  if (leave)
    right[1] = l.pixel_at (W - 1, k + 1);
  pass_on<W, KEPT> (l, k + 1);
}

}

#endif
