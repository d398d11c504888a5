/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Second pass of support=both: sums of weighted costs. both_rows.cu explains them and draws which lane holds what. */
#ifndef STEREO_CUDA_ASW_BOTH_SUMS_CUH
#define STEREO_CUDA_ASW_BOTH_SUMS_CUH

#include "cuda/asw/both_taps.cuh"

namespace
{

/* Where a lane finds right weights: for tiles at distance d from @low, @middle or @high on, by the sign of d. Counted
 * in words of classes of one tap. */
struct Right
{
  int low, middle, high;

  template <int Q> __device__ __forceinline__ PerTap<Q>
  load (const uint32_t *weights, int d) const
  {
    return load_words<Q> (weights + Q * (d < 0 ? low : d > 0 ? high : middle) + Q * 8 * d);
  }
};

/* The sums of a warp: D of each 8 columns and 16 indices. */
struct Sums
{
  float cost[4][2][4];
};

/* The registers of B: the lane's left weight where it holds an element of the diagonal, else 0. @choose: the bytes that
 * __byte_perm() takes of the lower and of the upper half of a word. */
struct Diagonal
{
  uint32_t choose[2];

  template <int Q> __device__ __forceinline__ PerTap<Q>
  load (const __half *left, int column) const
  {
    PerTap<Q> w;
    if (Q == 1) {
      w.of[0] = __byte_perm (*(const uint16_t *) (left + column), 0, choose[0]);
    } else {
      PerTap<Q / 2 + (Q == 1)> pairs = load_words<Q / 2 + (Q == 1)> ((const uint32_t *) (left + column * Q));
#pragma unroll
      for (int q = 0; q < Q; q++)
        w.of[q] = __byte_perm (pairs.of[q / 2], 0, choose[q % 2]);
    }
    return w;
  }
};

/* Adds a class of Q taps; with Q below 4 also what their products lose by rounding. @costs (n, tiles) loads four tiles
 * of costs, 8 n columns after the first tap of the first column. */
template <int Q, typename Costs> __device__ __forceinline__ void
add_class (Sums &sums, Costs costs, const uint32_t *right, const Right &lane_right, const __half *left, int column,
    const Diagonal &diagonal)
{
  PerTap<Q> r[7]; /* by distance + 3 */
  uint32_t c[Q + 3][4];
#pragma unroll
  for (int d = 0; d < 3; d++)
    r[d] = lane_right.load<Q> (right, d - 3);
#pragma unroll
  for (int n = 0; n < Q - 1; n++)
    costs (n, c[n]);
#pragma unroll
  for (int j = 0; j < 4; j++) {
    r[3 + j] = lane_right.load<Q> (right, j);
    costs (Q - 1 + j, c[Q - 1 + j]);
    PerTap<Q> l = diagonal.load<Q> (left, column + 8 * j);
#pragma unroll
    for (int p = 0; p < 2; p++) {
      const PerTap<Q> &a = r[3 + j - 2 * p], &b = r[2 + j - 2 * p];
      if constexpr (Q == 1) {
        uint32_t one = times (a.of[0], c[j][2 * p]), two = times (b.of[0], c[j][2 * p + 1]);
        multiply_half (sums.cost[j][p], one, two, l.of[0]);
        multiply_half (sums.cost[j][p], rest (a.of[0], c[j][2 * p], one), rest (b.of[0], c[j][2 * p + 1], two), l.of[0]);
      } else
#pragma unroll
        for (int q = 0; q < Q; q += 2) {
          uint4 four = make_uint4 (times (a.of[q], c[j + q][2 * p]), times (b.of[q], c[j + q][2 * p + 1]),
              times (a.of[q + 1], c[j + q + 1][2 * p]), times (b.of[q + 1], c[j + q + 1][2 * p + 1]));
          multiply (sums.cost[j][p], four, l.of[q], l.of[q + 1]);
          if constexpr (Q == 2)
            multiply (sums.cost[j][p],
                make_uint4 (rest (a.of[0], c[j][2 * p], four.x), rest (b.of[0], c[j][2 * p + 1], four.y),
                    rest (a.of[1], c[j + 1][2 * p], four.z), rest (b.of[1], c[j + 1][2 * p + 1], four.w)),
                l.of[0], l.of[1]);
        }
    }
  }
}

/* The ring of costs for a lane, which addresses row lane % 8 of tile lane / 8: see load_transposed(). */
template <int INDICES> struct CostRing
{
  const __half *line; /* the row in the first block */
  int first, blocks;  /* block of the first column of the step; blocks of the ring */

  __device__ __forceinline__ const __half *
  block (int n) const
  {
    int b = first + n;
    return line + (b < blocks ? b : b - blocks) * (STEP_COLUMNS * Shared<INDICES>::pitch);
  }
};

/* 32 taps from number 32 n on, 8 classes. */
template <int INDICES> __device__ __forceinline__ void
add_quad (Sums &sums, const CostRing<INDICES> &ring, int n, const uint32_t *right, const Right &lane_right,
    const __half *left, int column, const Diagonal &diagonal)
{
  typedef Shared<INDICES> S;
  const int pitch = S::pitch;
  const __half *low = ring.block (n), *high = ring.block (n + 1);
  int over = threadIdx.x & 7; /* the row: from 8 on it is in the next tile */
#pragma unroll 2
  for (int k = 0; k < 8; k++) {
    const __half *between = over + k < 8 ? low : high - STEP_COLUMNS * pitch;
    add_class<4> (
        sums,
        [=] (int tile, uint32_t (&to)[4]) {
          const __half *base = tile < 3 ? low : tile > 3 ? high - STEP_COLUMNS * pitch : between;
          load_transposed (to, base + 8 * tile * pitch);
        },
        right, lane_right, left, column, diagonal);
    low += pitch, high += pitch;
    right += 4 * S::right_pitch, left += 4 * S::left_pitch;
  }
}

/* A class of few taps, from number @k on. */
template <int Q, int INDICES> __device__ __forceinline__ void
add_few (Sums &sums, const CostRing<INDICES> &ring, int k, const uint32_t *right, const Right &lane_right,
    const __half *left, int column, const Diagonal &diagonal)
{
  int over = threadIdx.x & 7;
  add_class<Q> (
      sums,
      [&] (int tile, uint32_t (&to)[4]) {
        int from = k + 8 * tile, row = from + over;
        load_transposed (to, ring.block (row / STEP_COLUMNS) + (row % STEP_COLUMNS - over) * Shared<INDICES>::pitch);
      },
      right, lane_right, left, column, diagonal);
}

template <int INDICES> __device__ __forceinline__ void
sum_taps (Sums &sums, const CostRing<INDICES> &ring, const uint32_t *right, const Right &lane_right, const __half *left,
    int column, const Diagonal &diagonal, Taps taps)
{
  typedef Shared<INDICES> S;
  int k = 0;
  for (int n = 0; n < taps.quads; n++, k += 32)
    add_quad<INDICES> (
        sums, ring, n, right + k * S::right_pitch, lane_right, left + k * S::left_pitch, column, diagonal);
  if (taps.duos) {
#pragma unroll 1
    for (int n = 0; n < 8; n++)
      add_few<2, INDICES> (sums, ring, k + n, right + (k + 2 * n) * S::right_pitch, lane_right,
          left + (k + 2 * n) * S::left_pitch, column, diagonal);
    k += 16;
  }
#pragma unroll 1
  for (int end = k + taps.singles; k < end; k++)
    add_few<1, INDICES> (
        sums, ring, k, right + k * S::right_pitch, lane_right, left + k * S::left_pitch, column, diagonal);
}

}

#endif
