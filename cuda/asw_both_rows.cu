/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Second pass of support=both: along the rows, in place.
 *
 * A thread takes 4 columns by 8 disparities, two disparities an instruction. The right weights run along
 * anti-diagonals (the right view is mirrored), so that 11 of them serve its 32 pairs; of every tap's four columns of
 * costs it has three from the tap before. Half floats hold one or two taps' products only: the tensor cores, which add
 * in single precision, multiply them with the unit matrix, whose result lies in the lane that gave the operand.
 * A block makes its weights itself: moving on by TX columns, the right ones it meets are those of TX new pixels.
 */
#include "cuda/asw_both.cuh"

#define TX 32                   /* columns of a step: a warp has all of them, and 32 indices */

/* Where a block keeps what: halves. Costs of the columns at hand, a ring; weights by tap, of TX left pixels and of the
 * right ones they meet, a ring. */
template <int TI> struct Shared
{
  static constexpr int pitch = TI + 8;          /* of a column: its neighbours but three fall into other banks */
  static constexpr int partners = TX + TI;

  static __host__ __device__ int
  taps (int radius)
  {
    return 2 * radius + 2;      /* even: the last weighs nothing */
  }

  static __host__ __device__ int
  columns (int radius)
  {
    return TX + (2 * radius + 7) / 8 * 8;
  }

  static size_t
  bytes (int radius)
  {
    return sizeof (__half) * (size_t) (columns (radius) * pitch + taps (radius) * (TX + partners));
  }
};

__device__ __forceinline__ __half2
as_half2 (uint32_t word)
{
  return *reinterpret_cast<__half2 *> (&word);
}

__device__ __forceinline__ uint32_t
as_word (__half2 pair)
{
  return *reinterpret_cast<uint32_t *> (&pair);
}

template <int TI> __device__ __forceinline__ int
ring_slot (int slot)
{
  return slot < Shared<TI>::partners ? slot : slot - Shared<TI>::partners;
}

/* Weight of pixel p of a row to its tap k, 0 where either is outside. Tap k of the mirrored view lies at p - k. */
__device__ __forceinline__ __half
weigh_tap (const uint32_t *color, int p, int tap, int k, int width, AswWindow w)
{
  bool valid = (unsigned) p < (unsigned) width && (unsigned) tap < (unsigned) width && k <= w.radius;
  float weight = cuda_weight (color[valid ? p : 0], color[valid ? tap : 0], w.color, fabsf ((float) k) * w.distance);
  return __float2half_rn (valid ? weight : 0);
}

/* The step's left weights, and the right ones of @count partners from @partner on, the first of them in slot @turn. */
template <int TI> __device__ __forceinline__ void
make_weights (__half *left, __half *right, const Frame &f, size_t row, int x0, int partner, int count, int turn,
    AswWindow w)
{
  const uint32_t *l = f.view[STEREO_LEFT].color + row, *r = f.view[STEREO_RIGHT].color + row;
  int lane = threadIdx.x % TX, warp = threadIdx.x / TX;

  for (int k = warp; k < Shared<TI>::taps (w.radius); k += TI / TX) {
    int x = x0 + lane, away = k - w.radius;
    left[k * TX + lane] = weigh_tap (l, x, x + away, away, f.width, w);
    for (int c = lane; c < count; c += TX) {
      int p = partner + c, slot = ring_slot<TI> (turn + c);
      right[k * Shared<TI>::partners + slot] = weigh_tap (r, p, p - away, away, f.width, w);
    }
  }
}

/* Costs of columns from..to - 1 into the ring; 0 where there is no partner, and nobody wrote one. */
template <int TI> __device__ __forceinline__ void
load_costs (__half *line, const Frame &f, size_t volume_row, int from, int to, int i0, int reach, int columns)
{
  for (int e = threadIdx.x; e < (to - from) * (TI / 8); e += TI) {
    int x = from + e / (TI / 8), i = i0 + e % (TI / 8) * 8;
    int first = stereo_first_index (x, f.width, f.min_disparity) - i;
    int last = stereo_last_index (x, f.depth, f.min_disparity) - i;
    uint4 costs = make_uint4 (0, 0, 0, 0);
    if (x >= 0 && x < f.width && i < f.depth && first <= 7 && last >= 0) {
      costs = *(const uint4 *) (f.volume + (volume_row + x) * f.depth + i);
      if (first > 0 || last < 7) {
        uint32_t *word = &costs.x;
#pragma unroll
        for (int b = 0; b < 8; b++)
          if (b < first || b > last)
            word[b / 2] &= b % 2 ? 0xFFFFu : 0xFFFF0000u;
      }
    }
    *(uint4 *) (line + (x + reach) % columns * Shared<TI>::pitch + i - i0) = costs;
  }
}

/* Two taps of 4 x 8 pairs. costs: columns tx + k .. tx + k + 4; left: of the two taps, 4 pixels each; right: 12
 * partners each, of which pair (a, b) meets 3 - a + b. */
__device__ __forceinline__ void
add_taps (float (&sum)[8][4], float (&weights)[8][4], const uint4 (&costs)[5], const uint2 (&left)[2],
    const uint2 (&right)[2][3], uint32_t unit)
{
  __half2 pairs[2][2][5];       /* [tap][start odd][pair] */
#pragma unroll
  for (int q = 0; q < 2; q++) {
    const uint32_t words[6] = { right[q][0].x, right[q][0].y, right[q][1].x, right[q][1].y, right[q][2].x,
      right[q][2].y };
#pragma unroll
    for (int b = 0; b < 5; b++) {
      pairs[q][0][b] = as_half2 (words[b]);
      pairs[q][1][b] = as_half2 (__byte_perm (words[b], words[b + 1], 0x5432));
    }
  }
#pragma unroll
  for (int a = 0; a < 4; a++) {
    __half2 l[2];
#pragma unroll
    for (int q = 0; q < 2; q++) {
      __half2 both = as_half2 (a < 2 ? left[q].x : left[q].y);
      l[q] = a % 2 ? __high2half2 (both) : __low2half2 (both);
    }
#pragma unroll
    for (int p = 0; p < 2; p++) {
      uint32_t weight[2][2], product[2];
#pragma unroll
      for (int h = 0; h < 2; h++) {
        const int c = 2 * p + h, start = 3 - a;
        __half2 w0 = __hmul2 (l[0], pairs[0][start % 2][start / 2 + c]);
        __half2 w1 = __hmul2 (l[1], pairs[1][start % 2][start / 2 + c]);
        const uint32_t *c0 = &costs[a].x, *c1 = &costs[a + 1].x;
        product[h] = as_word (__hfma2 (w1, as_half2 (c1[c]), __hmul2 (w0, as_half2 (c0[c]))));
        weight[0][h] = as_word (w0), weight[1][h] = as_word (w1);
      }
      multiply (weights[2 * a + p], make_uint4 (weight[0][0], weight[0][1], weight[1][0], weight[1][1]), unit, unit);
      multiply_half (sum[2 * a + p], product[0], product[1], unit);
    }
  }
}

/* Means of eight pairs as steps of the volume. */
__device__ __forceinline__ void
store_steps (const Frame &f, const float (*sum)[4], const float (*weights)[4], size_t volume_row, int x, int i)
{
  int first = stereo_first_index (x, f.width, f.min_disparity);
  int last = stereo_last_index (x, f.disparities, f.min_disparity);
  uint32_t steps[8];
#pragma unroll
  for (int b = 0; b < 8; b++) {
    uint32_t step = __float2uint_rn (__fdividef (sum[b / 4][b % 4], weights[b / 4][b % 4]) * (float) f.volume_unit);
    steps[b] = i + b < first || i + b > last ? STEREO_INVALID : min (step, STEREO_COST_TOP);
  }
  if (x < f.width && i < f.depth)
    *(uint4 *) (f.volume + (volume_row + x) * f.depth + i) = make_uint4 (steps[0] | steps[1] << 16,
        steps[2] | steps[3] << 16, steps[4] | steps[5] << 16, steps[6] | steps[7] << 16);
}

/* A block: a row (blockIdx.x) by TI indices (blockIdx.y), rolling along x. */
template <int TI> __global__ void __launch_bounds__ (TI, 512 / TI)
aggregate_rows_both (Frame f, AswWindow w)
{
  typedef Shared<TI> S;
  extern __shared__ uint4 shared[];
  int taps = S::taps (w.radius), columns = S::columns (w.radius), reach = w.radius;
  __half *line = (__half *) shared, *left = line + columns * S::pitch, *right = left + taps * TX;
  int y = blockIdx.x, i0 = blockIdx.y * TI, lane = threadIdx.x & 31;
  int ti = threadIdx.x / 32 * 32 + lane % 4 * 8, tx = lane / 4 * 4;
  size_t volume_row = (size_t) y * f.width, row = (size_t) y * f.image_pitch;
  uint32_t unit = lane / 4 / 2 == lane % 4 ? lane / 4 % 2 ? 0x3C000000u : 0x3C00u : 0;
  int loaded = -reach;          /* columns from here on are not in shared memory yet */
  int turn = 0;                 /* slot of the first partner: each step meets TX before it */

  for (int x0 = 0; x0 < f.width; x0 += TX) {
    int partner0 = f.width - 1 - (x0 + TX - 1) + f.min_disparity + i0;
    load_costs<TI> (line, f, volume_row, loaded, x0 - reach + columns, i0, reach, columns);
    loaded = x0 - reach + columns;
    make_weights<TI> (left, right, f, row, x0, partner0, x0 ? TX : S::partners, turn, w);
    __syncthreads ();

    float sum[8][4] = { }, weights[8][4] = { };
    const __half *r[3];
#pragma unroll
    for (int b = 0; b < 3; b++)
      r[b] = right + ring_slot<TI> (turn + TX - 4 - tx + ti + 4 * b);
    const __half *l = left + tx;
    uint4 costs[5];
    int column = (x0 + tx) % columns;
    const __half *ring = line + ti;
#pragma unroll
    for (int a = 2; a < 5; a++) {
      costs[a] = *(const uint4 *) (ring + column * S::pitch);
      column = column + 1 == columns ? 0 : column + 1;
    }
#pragma unroll 1
    for (int k = 0; k < taps; k += 2) {
      uint2 ls[2], rs[2][3];
#pragma unroll
      for (int a = 0; a < 3; a++)
        costs[a] = costs[a + 2];
#pragma unroll
      for (int q = 0; q < 2; q++) {
        costs[3 + q] = *(const uint4 *) (ring + column * S::pitch);
        column = column + 1 == columns ? 0 : column + 1;
        ls[q] = *(const uint2 *) (l + q * TX);
#pragma unroll
        for (int b = 0; b < 3; b++)
          rs[q][b] = *(const uint2 *) (r[b] + q * S::partners);
      }
      add_taps (sum, weights, costs, ls, rs, unit);
      l += 2 * TX;
#pragma unroll
      for (int b = 0; b < 3; b++)
        r[b] += 2 * S::partners;
    }
#pragma unroll
    for (int a = 0; a < 4; a++)
      store_steps (f, sum + 2 * a, weights + 2 * a, volume_row, x0 + tx + a, i0 + ti);
    turn = turn ? turn - TX : S::partners - TX;
    __syncthreads ();
  }
}

StereoStatus
asw_both_rows_prepare (StereoPlan *plan, StereoError *error)
{
  return STEREO_OK;
}
template __global__ void aggregate_rows_both<160> (Frame f, AswWindow w);
