/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Second pass of support=both, along the rows: the shared memory of a block, how weights and costs get there, and the
 * sums of the weights. The kernel is in both_rows.cu. */
#ifndef STEREO_CUDA_ASW_BOTH_TAPS_CUH
#define STEREO_CUDA_ASW_BOTH_TAPS_CUH

#include "cuda/asw/both.cuh"
#include "cuda/async_copy.cuh"

namespace
{

constexpr int STEP_COLUMNS = 32;      /* columns of a step: a warp has all of them, and 32 indices */
constexpr int RESIDENT_THREADS = 480; /* of a multiprocessor: 480 threads may have 136 registers each, 320 about 200 */

/* The taps of a window: @quads times 32 taps (the last quad may lack some, whose weights are 0), @duos times 16, and
 * @singles. @exact: no quads, because their products are rounded. */
struct Taps
{
  int quads, duos, singles;

  __host__ __device__
  Taps (int radius, bool exact)
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

/*
 * Shared memory of a block. v = x - i numbers partners: index i of column x has partner v.
 * - costs: a ring of columns
 * - right weights: a ring over v, class by class; the word of a tap and a v has the weights of v and v + 1
 * - left weights: half floats, class by class
 * - for each warp, volume steps before they are stored
 */
template <int INDICES> struct Shared
{
  static constexpr int pitch = INDICES + 8;           /* halves of a column of costs; the next column has other banks */
  static constexpr int ring = STEP_COLUMNS + INDICES; /* of v */
  static constexpr int right_pitch = ring + 1,
                       left_pitch = STEP_COLUMNS + 8; /* words and halves of a tap, for other banks too */
  static constexpr int out_pitch = 40, out = STEP_COLUMNS * out_pitch;

  static __host__ __device__ int
  blocks (int radius) /* of STEP_COLUMNS columns: those in reach, and one that is being copied */
  {
    return (2 * radius + 1 + 2 * STEP_COLUMNS - 2) / STEP_COLUMNS + 1;
  }

  static size_t
  bytes (int radius, bool exact)
  {
    return sizeof (__half) *
        (size_t) (blocks (radius) * STEP_COLUMNS * pitch + INDICES / 32 * out +
            Taps (radius, exact).count () * (2 * right_pitch + left_pitch));
  }
};

template <int INDICES> __device__ __forceinline__ int
ring_slot (int slot)
{
  return slot < Shared<INDICES>::ring ? slot : slot - Shared<INDICES>::ring;
}

/* ---- weights ------------------------------------------------------------------------------------ */

/* The words of Q taps of a class, which are loaded at once. */
template <int Q> struct PerTap
{
  uint32_t of[Q];
};

template <int Q> __device__ __forceinline__ PerTap<Q>
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

template <int Q> __device__ __forceinline__ void
store_words (uint32_t *to, const PerTap<Q> &w)
{
  if (Q == 4)
    *(uint4 *) to = make_uint4 (w.of[0], w.of[1 % Q], w.of[2 % Q], w.of[3 % Q]);
  else if (Q == 2)
    *(uint2 *) to = make_uint2 (w.of[0], w.of[1 % Q]);
  else
    *to = w.of[0];
}

/* Makes the weights of a row. A lane has one left pixel and one right pixel, and their colours in registers. */
template <int INDICES> struct Maker
{
  Taps taps;
  AswWindow w;
  int width;
  const uint32_t *color[2]; /* of the row, by view */
  __half *left;
  uint32_t *right;
  int pixel[2]; /* far outside the row: the lane has no pixel */
  uint32_t centre[2];

  __device__ __forceinline__ void
  set_pixel (int view, int p)
  {
    bool there = (unsigned) p < (unsigned) width;
    centre[view] = color[view][there ? p : 0];
    pixel[view] = there ? p : -(1 << 24);
  }

  /* Weights for taps k, k + 8 and so on. Tap k is k - radius columns after the pixel, in the mirrored view before it.
   * The weight is 0 where the pixel or the tap is outside, and past the window. */
  template <int Q> __device__ __forceinline__ void
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

  /* Left weights of a class: taps @k, @k + 8 and so on, stored after those of @before taps. */
  template <int Q> __device__ __forceinline__ void
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

  /* Right weights of a class, of 32 partners from slot @slot of the ring on; pixels fall from lane to lane. The
   * neighbour of the last partner is the first of the next 32, which fills it in. */
  template <int Q> __device__ __forceinline__ void
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

  template <int Q> __device__ __forceinline__ void
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

/* Of eight halves those from @first to @last; the others are set to 0. */
__device__ __noinline__ uint4
mask_range (uint4 eight, int first, int last)
{
  uint32_t word[4] = { eight.x, eight.y, eight.z, eight.w };
#pragma unroll
  for (int b = 0; b < 8; b++)
    if (b < first || b > last)
      word[b / 2] &= b % 2 ? 0xFFFFu : 0xFFFF0000u;
  return make_uint4 (word[0], word[1], word[2], word[3]);
}

/* Copies costs of STEP_COLUMNS columns from @from on into their block of the ring. Without a partner nothing wrote a
 * cost: it becomes 0. */
template <int INDICES> __device__ __forceinline__ void
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
      *(uint4 *) to = mask_range (*(const uint4 *) costs, first, last);
    else
      copy_async (to, there ? costs : f.volume, there);
  }
}

/*
 * Loads four tiles of 8 columns by 8 indices, transposed (ldmatrix). Lane l passes the address of row (column) l % 8 of
 * tile l / 8. Lane 4 g + t gets of each tile a word with two columns of one index, as registers of A need them:
 *
 *                  columns 0,1   2,3   4,5   6,7
 *     index 0        L0         L1    L2    L3
 *     index 1        L4         L5    L6    L7
 *      ...
 *     index g      lane 4 g + t has columns 2 t and 2 t + 1
 */
__device__ __forceinline__ void
load_transposed (uint32_t (&tile)[4], const __half *row)
{
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(tile[0]), "=r"(tile[1]), "=r"(tile[2]), "=r"(tile[3])
               : "r"(shared_address (row))
               : "memory");
}

/* ---- sums of weights ------------------------------------------------------------------------------- */

/*
 * Sums of weights, l(x) r(v), by columns x and partners v. For each 16 columns m: three runs of 16 pairs of v, which
 * are all v of the warp's 32 indices; odd: the second v of each pair. Lane 4 g + t holds, of one product:
 *
 *              A (left weights): 16 taps         B (right weights): pair of v        D: pair of v
 *              4 taps, any order                   pair_of_run (g)              pair_of_run (2t), pair_of_run (2t+1)
 *   x = g          l.x  l.z                        r0 r1 (the same taps)              of[..][0]   of[..][1]
 *   x = g+8        l.y  l.w                                                           of[..][2]   of[..][3]
 */
struct Totals
{
  float of[2][3][2][4];
};

/* Which pair of v of a run is column @n of a product. With this order eight lanes at a time read from all banks. */
__device__ __forceinline__ int
pair_of_run (int n)
{
  return 4 * (n & 1) + (n & 2) + 2 * (n & 4);
}

/* Where the 64 v of a warp are in the ring: 32 from @low on and 32 from @high on. */
struct Partners
{
  int low, high;

  __device__ __forceinline__ int
  slot (int run) const /* of the lane's pair of v */
  {
    return (run < 2 ? low : high - 32) + 16 * run + pair_of_run ((threadIdx.x & 31) / 4);
  }
};

/* Adds 16 taps of classes of Q taps: a lane has 4 of these taps, in A and in B. */
template <int Q, int INDICES> __device__ __forceinline__ void
total_sixteen (Totals &totals, const uint32_t *right, const Partners &partners, const __half *left)
{
  const int right_pitch = Shared<INDICES>::right_pitch, left_pitch = Shared<INDICES>::left_pitch;
  int g = (threadIdx.x & 31) / 4, t = threadIdx.x & 3;
  uint4 l[2];
#pragma unroll
  for (int m = 0; m < 2; m++) { /* volatile: loaded word by word, into the registers that the product needs */
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
template <int INDICES> __device__ __forceinline__ void
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
    uint32_t r = right[tap * Shared<INDICES>::right_pitch + partners.slot (run)]; /* its high half is multiplied by zeros */
#pragma unroll
    for (int m = 0; m < 2; m++)
      if (run >= m && run - m < 3) {
        multiply_half (totals.of[m][run - m][0], l[2 * m], l[2 * m + 1], r);
        multiply_half (totals.of[m][run - m][1], l[2 * m], l[2 * m + 1], r >> 16);
      }
  }
}

template <int INDICES> __device__ __forceinline__ void
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
    total_singles<INDICES> (
        totals, right + (k + n) * right_pitch, partners, left + (k + n) * left_pitch, taps.singles - n);
}

}

#endif
