/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Second pass of support=both, along the rows: the shared memory of a block, how weights and costs get there, the sums of
 * both, and the kernel. */
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

/* Keeps the halves from @first to @last of eight; the others are set to 0. */
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

/* ---- sums of weighted costs: the drawing before the kernel says which lane holds what ---------------- */

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

/*
 * Second pass of support=both: along the rows, in place, on the tensor cores (mma.cuh).
 *
 * The sum for column x and index i is over the taps of the window: l(x) r(v) c, with v = x - i for the partner. For 16
 * indices, 8 columns and two taps the products r c are a matrix A with two neighbouring columns in a register. B has
 * the weights l(x) on the diagonals of its two halves: the product weighs, adds both taps in single precision, and
 * mixes no columns. Lane 4 g + t holds:
 *
 *                 A (right weight * cost): tap, columns x            B (left weights): column x         D: column x
 *                tap q: 2t,2t+1   tap q+1: 2t,2t+1                          g                        2t         2t+1
 *   index g          a.x              a.z            tap q, x = 2t,2t+1      b0: l(g) in the half    cost[0]   cost[1]
 *   index g+8        a.y              a.w            tap q+1, the same x     b1: where x = g, else 0 cost[2]   cost[3]
 *
 * The sums of the weights, of l(x) r(v), are a product by x and v without such zeros; its band goes through shared
 * memory to the lanes that have the pairs. A warp has 32 columns by 32 indices.
 *
 * r depends on v only. Tiles of 8 columns by 8 indices that have the same distance share it: 7 registers serve 16
 * tiles. Taps 8 columns apart share registers of costs in the same way. So taps are summed in classes: k, k + 8, k + 16
 * and k + 24 at once while there are 32 taps left, then k and k + 8, then single taps.
 *
 * Copies of the costs run beside the sums: 32 columns at a time into a ring, from which ldmatrix reads them transposed.
 * A block makes its weights itself: when it moves on by STEP_COLUMNS columns, it needs the right weights of as many
 * pixels.
 */

/* ---- results ------------------------------------------------------------------------------------- */

/* Divides the sums by the totals, which other lanes have: they go through @scratch. Leaves volume steps in the low bits
 * of each sum, where adding 2^23 puts whole numbers. */
__device__ __forceinline__ void
divide (Sums &sums, const Totals &totals, float *scratch, float scale)
{
  const int pitch = 36; /* 16 columns of 32 indices */
  int lane = threadIdx.x & 31, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int m = 0; m < 2; m++) {
    __syncwarp ();
#pragma unroll
    for (int n = 0; n < 8;
         n++) { /* element n % 4 of D; of the first and the last run only one has an index of the warp */
      int x = g + n % 4 / 2 * 8, i = x - pair_of_run (2 * t) - n % 2 * 4 - n / 4;
      scratch[x * pitch + i + 16] = totals.of[m][1][n / 4][n % 4];
      float first = totals.of[m][0][n / 4][n % 4], last = totals.of[m][2][n / 4][n % 4];
      scratch[x * pitch + (i & 31)] = i < 0 ? first : last;
    }
    __syncwarp ();
#pragma unroll
    for (int n = 0; n < 16; n++) {
      int j = n / 8, p = n / 4 % 2, e = n % 4;
      float total = scratch[(8 * j + 2 * t + e % 2) * pitch + 16 * p + g + e / 2 * 8];
      float &sum = sums.cost[2 * m + j][p][e];
      sum = fmaf (sum, reciprocal (total) * scale, 8388608.0f);
    }
  }
  __syncwarp ();
}

/* Stores the steps of eight indices; STEREO_INVALID where there is no candidate. */
__device__ __forceinline__ void
store_steps (const Frame &f, uint4 eight, size_t volume_row, int x, int i)
{
  int first = stereo_first_index (x, f.width, f.min_disparity) - i;
  int last = stereo_last_index (x, f.disparities, f.min_disparity) - i;
  uint32_t words[4] = { eight.x, eight.y, eight.z, eight.w };
  if (first > 0 || last < 7)
#pragma unroll
    for (int b = 0; b < 8; b++)
      words[b / 2] |= b < first || b > last ? b % 2 ? STEREO_INVALID << 16 : STEREO_INVALID : 0;
  if (x < f.width && i < f.depth)
    *(uint4 *) (f.volume + (volume_row + x) * f.depth + i) = make_uint4 (words[0], words[1], words[2], words[3]);
}

/* Stores the means of a warp, transposed in shared memory at @out. No mean exceeds STEREO_COST_TOP: the largest cost
 * stays below it by more than all rounding errors. */
template <int INDICES> __device__ __forceinline__ void
store_means (const Sums &sums, uint16_t *out, const Frame &f, size_t volume_row, int x0, int i0)
{
  const int pitch = Shared<INDICES>::out_pitch;
  int lane = threadIdx.x & 31;
  uint16_t *to = out + lane % 4 * 2 * pitch + lane / 4;
#pragma unroll
  for (int j = 0; j < 4; j++)
#pragma unroll
    for (int p = 0; p < 2; p++)
#pragma unroll
      for (int e = 0; e < 4; e++)
        to[(8 * j + e % 2) * pitch + 16 * p + e / 2 * 8] = (uint16_t) __float_as_uint (sums.cost[j][p][e]);
  __syncwarp ();
#pragma unroll
  for (int n = 0; n < STEP_COLUMNS; n += 8)
    store_steps (f, *(const uint4 *) (out + (lane / 4 + n) * pitch + lane % 4 * 8), volume_row, x0 + lane / 4 + n,
        i0 + lane % 4 * 8);
}

/* Before the first step: clears all weights, starts to copy the costs of all blocks of the ring but the last one, and
 * makes the right weights of all v below 0. */
template <int INDICES> __device__ __forceinline__ void
start_row (Maker<INDICES> &maker, const Frame &f, __half *line, size_t volume_row, int blocks, int i0, int partner)
{
  typedef Shared<INDICES> S;
  const Taps &taps = maker.taps;
  int lane = threadIdx.x & 31, warp = threadIdx.x / 32;

  for (int e = threadIdx.x; e < taps.count () * S::right_pitch; e += INDICES)
    maker.right[e] = 0;
  for (int e = threadIdx.x; e < taps.count () * S::left_pitch; e += INDICES)
    maker.left[e] = __float2half_rn (0);
  for (int b = 0; b < blocks - 1; b++)
    load_costs<INDICES> (line + b * STEP_COLUMNS * S::pitch, f, volume_row, b * STEP_COLUMNS - maker.w.radius, i0);
  commit_copies ();
  __syncthreads ();
  for (int v = -INDICES; v < 0; v += STEP_COLUMNS) {
    maker.set_pixel (STEREO_RIGHT, partner - v - lane);
    for (int n = warp; n < taps.classes (); n += INDICES / 32)
      maker.make_class (STEREO_RIGHT, n, INDICES + v);
    __syncwarp ();
  }
  __syncthreads (); /* in the next step another warp may make a class, and writes to the last word that this warp wrote */
}

/* Block: a row (blockIdx.x) by INDICES indices (blockIdx.y), 32 a warp, from left to right in steps of STEP_COLUMNS
 * columns. The warps share out the classes of taps whose weights a step needs; then each sums up its 32 columns by 32
 * indices. Shared memory: see Shared. A lane stores 16 bytes of each of four columns at a time. */
template <int INDICES> __global__ void
__launch_bounds__ (INDICES, RESIDENT_THREADS / INDICES) aggregate_rows_both (Frame f, AswWindow w, bool exact)
{
  typedef Shared<INDICES> S;
  extern __shared__ uint4 shared[];
  Taps taps (w.radius, exact);
  int lane = threadIdx.x & 31, g = lane / 4, t = lane % 4, warp = threadIdx.x / 32;
  int y = blockIdx.x, i0 = blockIdx.y * INDICES, blocks = S::blocks (w.radius);
  __half *line = (__half *) shared, *out = line + blocks * STEP_COLUMNS * S::pitch, *left = out + INDICES / 32 * S::out;
  uint32_t *right = (uint32_t *) (left + taps.count () * S::left_pitch);
  size_t image_row = (size_t) y * f.image_pitch;
  Maker<INDICES> maker = { taps, w, f.width,
    { f.view[STEREO_LEFT].likeness + image_row, f.view[STEREO_RIGHT].likeness + image_row }, left, right };
  size_t volume_row = (size_t) y * f.width;
  Diagonal diagonal = { { t != g / 2 ? 0x4444u :
          g % 2                      ? 0x1044u :
                                       0x4410u,
      t != g / 2 ? 0x4444u :
          g % 2  ? 0x3244u :
                   0x4432u } };
  CostRing<INDICES> ring = { line + (lane & 7) * S::pitch + warp * 32 + lane / 8 * 8, 0, blocks };

  int slot = INDICES;                               /* of the first v of the step */
  int partner = f.width - 1 + f.min_disparity + i0; /* with v = 0 in the first step */
  start_row<INDICES> (maker, f, line, volume_row, blocks, i0, partner);

  for (int x0 = 0; x0 < f.width; x0 += STEP_COLUMNS) {
    int last = ring.first ? ring.first - 1 : blocks - 1;
    maker.set_pixel (STEREO_LEFT, x0 + lane);
    maker.set_pixel (STEREO_RIGHT, partner - x0 - lane);
#pragma unroll 1
    for (int n = warp; n < 2 * taps.classes (); n += INDICES / 32)
      if (n & 1)
        maker.make_class (STEREO_RIGHT, n >> 1, slot);
      else
        maker.make_class (STEREO_LEFT, n >> 1, slot);
    await_copies<0> ();
    load_costs<INDICES> (
        line + last * STEP_COLUMNS * S::pitch, f, volume_row, x0 + (blocks - 1) * STEP_COLUMNS - w.radius, i0);
    commit_copies ();
    __syncthreads ();

    Sums sums = {};
    int high = slot - 32 * warp, low = high - 32, at = 2 * t - g;
    high = high < 0 ? high + S::ring : high;
    low = low < 0 ? low + S::ring : low;
    Right lane_right = { low + 32 + at, (at < 0 ? low + 32 : high) + at, high + at };
    int i = i0 + 32 * warp; /* the first of the warp's 32 indices; it sums up nothing where none has a partner */
    if (x0 + STEP_COLUMNS - 1 - f.min_disparity >= i && x0 - f.width + 1 - f.min_disparity <= i + 31) {
      sum_taps<INDICES> (sums, ring, right, lane_right, left, g, diagonal, taps);
      Totals totals = {};
      total_taps<INDICES> (totals, right, Partners{ low, high }, left, taps);
      divide (sums, totals, (float *) (out + warp * S::out), (float) f.volume_unit);
    }
    store_means<INDICES> (sums, (uint16_t *) (out + warp * S::out), f, volume_row, x0, i);
    slot = ring_slot<INDICES> (slot + STEP_COLUMNS);
    ring.first = ring.first + 1 < blocks ? ring.first + 1 : 0;
    __syncthreads ();
  }
}

/* Indices of a block, such that all blocks together have the fewest threads; the largest of equally good choices. */
static int
block_indices (const StereoPlan *plan)
{
  static const int choices[] = { 160, 128, 96, 64 };
  int best = 64;
  for (int i = 0; i < 4; i++)
    if (cuda_blocks (plan->depth, choices[i]) * choices[i] < cuda_blocks (plan->depth, best) * best)
      best = choices[i];
  for (int i = 3; i >= 0; i--)
    if (cuda_blocks (plan->depth, choices[i]) * choices[i] == cuda_blocks (plan->depth, best) * best)
      best = choices[i];
  size_t most = (size_t) cuda_state (plan)->shared_per_block;
  return Shared<160>::bytes (plan->params.window / 2, asw_both_exact (plan)) <= most ? best : 64;
}

/* Allows the kernel the device's limit of shared memory, not this plan's need: plans share the kernel. */
template <int INDICES> static StereoStatus
prepare (StereoPlan *plan, StereoError *error)
{
  CUDA_TRY (cudaFuncSetAttribute (
      aggregate_rows_both<INDICES>, cudaFuncAttributeMaxDynamicSharedMemorySize, cuda_state (plan)->shared_per_block));
  return STEREO_OK;
}

template <int INDICES> static StereoStatus
launch_kernel (StereoPlan *plan, StereoError *error)
{
  Frame f = cuda_frame (plan);
  AswWindow w = asw_window (plan);
  dim3 grid (f.height, cuda_blocks (f.depth, INDICES));
  bool exact = asw_both_exact (plan);
  aggregate_rows_both<INDICES>
      <<<grid, INDICES, Shared<INDICES>::bytes (w.radius, exact), cuda_state (plan)->stream>>> (f, w, exact);
  CUDA_LAUNCHED (plan, "aggregate_rows_both");
  return STEREO_OK;
}

/* Calls @launch with block_indices() as a std::integral_constant. */
template <typename Launch> static StereoStatus
launch_for_indices (const StereoPlan *plan, Launch launch)
{
  switch (block_indices (plan)) {
    case 160:
      return launch (std::integral_constant<int, 160> ());
    case 128:
      return launch (std::integral_constant<int, 128> ());
    case 96:
      return launch (std::integral_constant<int, 96> ());
    default: /* 64, the least that block_indices() chooses */
      return launch (std::integral_constant<int, 64> ());
  }
}

}

static StereoStatus
asw_both_rows_prepare (StereoPlan *plan, StereoError *error)
{
  return launch_for_indices (plan, [=] (auto indices) { return prepare<decltype (indices)::value> (plan, error); });
}

static StereoStatus
asw_both_rows (StereoPlan *plan, StereoError *error)
{
  return launch_for_indices (
      plan, [=] (auto indices) { return launch_kernel<decltype (indices)::value> (plan, error); });
}

/*
 * Two-pass aggregation with the product of the weights of both views, as the thesis defines it: down the columns
 * (both_columns.cu), which writes half floats to the volume, then along the rows, which reads them.
 */

static StereoStatus
both_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  StereoStatus status = asw_both_columns_prepare (plan, (AswBothContext *) context, error);
  return status ? status : asw_both_rows_prepare (plan, error);
}

static StereoStatus
both_run (StereoPlan *plan, void *context, StereoError *error)
{
  StereoStatus status = asw_both_columns (plan, (const AswBothContext *) context, error);
  return status ? status : asw_both_rows (plan, error);
}

const StereoStage stereo_cuda_asw_both = {
  .name = "match", .context_size = sizeof (AswBothContext), .prepare = both_prepare, .run = both_run
};
