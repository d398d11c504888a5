/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Along the rows, support=both: what a block keeps in shared memory, how it comes there, and the
 * weights' sums. See asw_both_rows.cu. */
#ifndef STEREO_CUDA_ASW_BOTH_ROWS_CUH
#define STEREO_CUDA_ASW_BOTH_ROWS_CUH

#include "cuda/asw/both.cuh"

namespace
{

constexpr int STEP_COLUMNS = 32;        /* columns of a step: a warp has all of them, and 32 indices */
constexpr int RESIDENT_THREADS = 480;   /* of a multiprocessor: 480 threads may have 136 registers each, 320 about 200 */

/* The taps of a window: @quads times 32 (the last may lack some, whose weights are 0), @duos times 16, @singles.
 * @exact: no quads, whose products are rounded. */
struct Taps
{
  int quads, duos, singles;

  __host__ __device__ Taps (int radius, bool exact)
  {
    int left = 2 * radius + 1;
    quads = exact ? 0 : (left + 7) / 32;
    left = left > 32 * quads ? left - 32 * quads : 0;
    duos = left > 8;
    singles = left > 16 * duos ? left - 16 * duos : 0;
  }

  __host__ __device__ int
  count () const
  {
    return 32 * quads + 16 * duos + singles;
  }

  __device__ __forceinline__ int
  classes () const
  {
    return 8 * quads + 8 * duos + singles;
  }
};

/* Where a block keeps what. Costs: a ring of columns. Right weights: a word for a tap and a v, which has those of v and
 * v + 1, a ring over v, class by class. Left weights: halves, class by class. Steps on their way out, by warp. */
template <int INDICES> struct Shared
{
  static constexpr int pitch = INDICES + 8; /* halves of a column of costs: other banks for the next one */
  static constexpr int ring = STEP_COLUMNS + INDICES; /* of v */
  static constexpr int right_pitch = ring + 1, left_pitch = STEP_COLUMNS + 8; /* words, halves of a tap: so are other banks */
  static constexpr int out_pitch = 40, out = STEP_COLUMNS * out_pitch;

  static __host__ __device__ int
  blocks (int radius) /* of STEP_COLUMNS columns: those in reach and one on its way */
  {
    return (2 * radius + 1 + 2 * STEP_COLUMNS - 2) / STEP_COLUMNS + 1;
  }

  static size_t
  bytes (int radius, bool exact)
  {
    return sizeof (__half) * (size_t) (blocks (radius) * STEP_COLUMNS * pitch + INDICES / 32 * out +
                                       Taps (radius, exact).count () * (2 * right_pitch + left_pitch));
  }
};

template <int INDICES>
__device__ __forceinline__ int
ring_slot (int slot)
{
  return slot < Shared<INDICES>::ring ? slot : slot - Shared<INDICES>::ring;
}

/* ---- weights ------------------------------------------------------------------------------------ */

/* Q words or halves of them, as one. */
template <int Q> struct PerTap
{
  uint32_t of[Q];
};

template <int Q>
__device__ __forceinline__ PerTap<Q>
load_words (const uint32_t *from)
{
  PerTap<Q> w;
  if (Q == 4) {
    uint4 four = *(const uint4 *) from;
    w.of[0] = four.x, w.of[1 % Q] = four.y, w.of[2 % Q] = four.z, w.of[3 % Q] = four.w;
  } else if (Q == 2) {
    uint2 two = *(const uint2 *) from;
    w.of[0] = two.x, w.of[1 % Q] = two.y;
  } else {
    w.of[0] = *from;
  }
  return w;
}

template <int Q>
__device__ __forceinline__ void
store_words (uint32_t *to, const PerTap<Q> &w)
{
  if (Q == 4)
    *(uint4 *) to = make_uint4 (w.of[0], w.of[1 % Q], w.of[2 % Q], w.of[3 % Q]);
  else if (Q == 2)
    *(uint2 *) to = make_uint2 (w.of[0], w.of[1 % Q]);
  else
    *to = w.of[0];
}

/* Makes a row's weights. A lane has a left pixel and a right one; it keeps their colours. */
template <int INDICES> struct Maker
{
  Taps taps;
  AswWindow w;
  int width;
  const uint32_t *color[2]; /* of the row, by view */
  __half *left;
  uint32_t *right;
  int pixel[2]; /* far away where there is none */
  uint32_t centre[2];

  __device__ __forceinline__ void
  look_at (int view, int p)
  {
    bool there = (unsigned) p < (unsigned) width;
    centre[view] = color[view][there ? p : 0];
    pixel[view] = there ? p : -(1 << 24);
  }

  /* Weights to taps k, k + 8 and so on. Tap k lies k - radius after the pixel, or before it in the mirrored view. 0
   * where either is outside, and past the window. */
  template <int Q>
  __device__ __forceinline__ void
  weigh (float (&weight)[Q], int view, int k) const
  {
    int step = view == STEREO_LEFT ? 1 : -1, away = k - w.radius, first = pixel[view] + step * away;
    const uint32_t *from = color[view] + first;
#pragma unroll
    for (int q = 0; q < Q; q++) {
      bool valid = (unsigned) (first + 8 * step * q) < (unsigned) width && k + 8 * q <= 2 * w.radius;
      uint32_t other = 0;
      if (valid)
        other = from[8 * step * q];
      float made = cuda_weight (centre[view], other, w.color, fabsf ((float) away + (float) (8 * q)) * w.distance);
      weight[q] = valid ? made : 0;
    }
  }

  /* A class of left weights, from tap @k, with @before taps before it. */
  template <int Q>
  __device__ __forceinline__ void
  make_left (int k, int before) const
  {
    float weight[Q];
    weigh<Q> (weight, STEREO_LEFT, k);
    __half *to = left + before * Shared<INDICES>::left_pitch + (threadIdx.x & 31) * Q;
    if constexpr (Q == 1) {
      *to = __float2half_rn (weight[0]);
    } else {
      PerTap<Q / 2> words;
#pragma unroll
      for (int q = 0; q < Q; q += 2)
        words.of[q / 2] = pack_halves (weight[q], weight[q + 1]);
      store_words<Q / 2> ((uint32_t *) to, words);
    }
  }

  /* Right weights of 32 partners, from slot @slot of the ring on, which fall from lane to lane. The last one's
   * neighbour comes with the next 32. */
  template <int Q>
  __device__ __forceinline__ void
  make_right (int k, int before, int slot) const
  {
    int lane = threadIdx.x & 31;
    float weight[Q];
    weigh<Q> (weight, STEREO_RIGHT, k);
    PerTap<Q> words;
#pragma unroll
    for (int q = 0; q < Q; q++)
      words.of[q] = pack_halves (weight[q], __shfl_down_sync (~0u, weight[q], 1));
    uint32_t *to = right + before * Shared<INDICES>::right_pitch;
    store_words<Q> (to + (slot + lane) * Q, words);
    uint16_t *neighbour = (uint16_t *) (to + (slot ? slot - 1 : Shared<INDICES>::ring - 1) * Q);
    if (lane == 0)
#pragma unroll
      for (int q = 0; q < Q; q++)
        neighbour[2 * q + 1] = (uint16_t) words.of[q];
  }

  template <int Q>
  __device__ __forceinline__ void
  make (int view, int k, int before, int slot) const
  {
    if (view == STEREO_LEFT)
      make_left<Q> (k, before);
    else
      make_right<Q> (k, before, slot);
  }

  /* Class number @n. */
  __device__ __forceinline__ void
  make_class (int view, int n, int slot) const
  {
    int two = n - 8 * taps.quads, one = two - 8 * taps.duos, k = 32 * taps.quads;
    if (two < 0)
      make<4> (view, (n & ~7) * 4 + (n & 7), 4 * n, slot);
    else if (one < 0)
      make<2> (view, k + two, k + 2 * two, slot);
    else
      make<1> (view, k + 16 * taps.duos + one, k + 16 * taps.duos + one, slot);
  }
};

/* ---- costs --------------------------------------------------------------------------------------- */

/* Of eight halves those from @first to @last, and 0. */
__device__ __noinline__ uint4
keep_range (uint4 eight, int first, int last)
{
  uint32_t word[4] = { eight.x, eight.y, eight.z, eight.w };
#pragma unroll
  for (int b = 0; b < 8; b++)
    if (b < first || b > last)
      word[b / 2] &= b % 2 ? 0xFFFFu : 0xFFFF0000u;
  return make_uint4 (word[0], word[1], word[2], word[3]);
}

/* Costs of STEP_COLUMNS columns from @from on, into their block of the ring; 0 where there is no partner, and nobody wrote one.
 */
template <int INDICES>
__device__ __forceinline__ void
load_costs (__half *block, const Frame &f, size_t volume_row, int from, int i0)
{
  int c = threadIdx.x / (INDICES / 8), i = i0 + threadIdx.x % (INDICES / 8) * 8;
#pragma unroll
  for (int n = 0; n < STEP_COLUMNS; n += 8) {
    int x = from + c + n;
    const uint16_t *costs = f.volume + ((ptrdiff_t) volume_row + x) * f.depth + i;
    __half *to = block + (c + n) * Shared<INDICES>::pitch + i - i0;
    int first = max (x - f.width + 1 - f.min_disparity, 0) - i, last = min (x - f.min_disparity, f.depth - 1) - i;
    bool there = (unsigned) x < (unsigned) f.width && first <= 7 && last >= 0;
    if (there && (first > 0 || last < 7))
      *(uint4 *) to = keep_range (*(const uint4 *) costs, first, last);
    else
      copy_async (to, there ? costs : f.volume, there);
  }
}

/* Four tiles of 8 columns by 8 indices, of which this lane has @row's address of one; so that a lane gets, of index
 * lane / 4, columns 2 (lane % 4) and the next. */
__device__ __forceinline__ void
load_transposed (uint32_t (&tile)[4], const __half *row)
{
  asm volatile ("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r" (tile[0]), "=r" (tile[1]), "=r" (tile[2]), "=r" (tile[3])
               : "r" (shared_address (row))
               : "memory");
}

/* ---- sums of weights ------------------------------------------------------------------------------- */

/* By 16 columns, 16 v of the three runs that these meet (the first starts 32 before the first column's, for the warp's
 * first index), even and odd v. */
struct Totals
{
  float of[2][3][2][4];
};

/* Which pair of v of a run stands at @n of a product: eight lanes at a time read from all banks. */
__device__ __forceinline__ int
pair_of_run (int n)
{
  return 4 * (n & 1) + (n & 2) + 2 * (n & 4);
}

/* Where a warp has its 64 v in the ring: 32 and 32. */
struct Partners
{
  int low, high;

  __device__ __forceinline__ int
  slot (int run) const /* of a lane's pair of v */
  {
    return (run < 2 ? low : high - 32) + 16 * run + pair_of_run ((threadIdx.x & 31) / 4);
  }
};

/* Adds 16 taps, classes of Q: a lane has 4 of them, for v's and for columns. */
template <int Q, int INDICES>
__device__ __forceinline__ void
total_sixteen (Totals &totals, const uint32_t *right, const Partners &partners, const __half *left)
{
  const int right_pitch = Shared<INDICES>::right_pitch, left_pitch = Shared<INDICES>::left_pitch;
  int g = (threadIdx.x & 31) / 4, t = threadIdx.x & 3;
  uint4 l[2];
#pragma unroll
  for (int m = 0; m < 2; m++) { /* word by word: they are to come where the product wants them */
    const volatile uint32_t *from = (const uint32_t *) (left + (t * left_pitch + 16 * m + g) * Q);
    const int over = Q == 4 ? 1 : 2 * left_pitch * Q, down = 8 * Q / 2;
    l[m].x = from[0], l[m].y = from[down], l[m].z = from[over], l[m].w = from[down + over];
  }
#pragma unroll
  for (int run = 0; run < 4; run++) {
    const uint32_t *from = right + (t * right_pitch + partners.slot (run)) * Q;
    PerTap<Q> a = load_words<Q> (from), b = Q == 4 ? a : load_words<Q> (from + 4 * right_pitch * Q);
#pragma unroll
    for (int odd = 0; odd < 2; odd++) {
      uint32_t r0 = __byte_perm (a.of[0], a.of[1], odd ? 0x7632 : 0x5410);
      uint32_t r1 = __byte_perm (b.of[Q - 2], b.of[Q - 1], odd ? 0x7632 : 0x5410);
#pragma unroll
      for (int m = 0; m < 2; m++)
        if (run >= m && run - m < 3)
          multiply (totals.of[m][run - m][odd], l[m], r0, r1);
    }
  }
}

/* Adds up to four single taps: a lane has one. */
template <int INDICES>
__device__ __forceinline__ void
total_singles (Totals &totals, const uint32_t *right, const Partners &partners, const __half *left, int taps)
{
  int g = (threadIdx.x & 31) / 4, t = threadIdx.x & 3, tap = min (t, taps - 1);
  const uint16_t *from = (const uint16_t *) left + tap * Shared<INDICES>::left_pitch + g;
  uint32_t l[4];
#pragma unroll
  for (int n = 0; n < 4; n++)
    l[n] = from[8 * n];
  if (t >= taps)
    l[0] = l[1] = l[2] = l[3] = 0;
#pragma unroll
  for (int run = 0; run < 4; run++) {
    uint32_t r = right[tap * Shared<INDICES>::right_pitch + partners.slot (run)]; /* its high half meets zeros */
#pragma unroll
    for (int m = 0; m < 2; m++)
      if (run >= m && run - m < 3) {
        multiply_half (totals.of[m][run - m][0], l[2 * m], l[2 * m + 1], r);
        multiply_half (totals.of[m][run - m][1], l[2 * m], l[2 * m + 1], r >> 16);
      }
  }
}

template <int INDICES>
__device__ __forceinline__ void
total_taps (Totals &totals, const uint32_t *right, const Partners &partners, const __half *left, Taps taps)
{
  const int right_pitch = Shared<INDICES>::right_pitch, left_pitch = Shared<INDICES>::left_pitch;
  int k = 0;
#pragma unroll 2
  for (; k < 32 * taps.quads; k += 16)
    total_sixteen<4, INDICES> (totals, right + k * right_pitch, partners, left + k * left_pitch);
  if (taps.duos) {
    total_sixteen<2, INDICES> (totals, right + k * right_pitch, partners, left + k * left_pitch);
    k += 16;
  }
#pragma unroll 1
  for (int n = 0; n < taps.singles; n += 4)
    total_singles<INDICES> (totals, right + (k + n) * right_pitch, partners, left + (k + n) * left_pitch, taps.singles - n);
}

}

#endif
