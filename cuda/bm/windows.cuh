/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Block matching in strips; stereo/exact/bm.h has the equations and the rounding.
 *
 * Both steps are sums over windows and run in the same way. A block takes a strip of columns and a chunk of candidates
 * down a segment of rows. A thread has, for the two candidates of its lane, the sums down the rows of the window in
 * BM_COLUMNS columns: with every row, one row enters the sums and one leaves. The sums go through shared memory to the
 * neighbours, which sum along the row. With two buffers in turn a row needs one barrier; where shared memory is too
 * small for two (compute capability 7.5), one buffer needs two barriers. The reach of the window on both sides of a
 * strip is summed up twice, by the neighbouring strips too.
 *
 * A block whose candidates all exist with whole windows is INNER and tests none of them. All sums are whole numbers of
 * 32 bits.
 */
#ifndef STEREO_CUDA_BM_WINDOWS_CUH
#define STEREO_CUDA_BM_WINDOWS_CUH

#include "cuda/common.cuh"
#include "stereo/exact/bm.h"

/* The stage that does both steps in one kernel; NULL: the parameters do not suit that kernel. */
const StereoStage *stereo_cuda_bm_fused (const StereoParams *params);

namespace
{

/* What the kernels sum over a window: for the first step by the cost, for the second step the costs' mean. */
enum BmKind
{
  BM_DIFFERENCE,
  BM_SQUARE,
  BM_COLORS,
  BM_COLOR_SQUARES,
  BM_PRODUCT,
  BM_MEAN,
  BM_NO_KIND
};

constexpr BmKind
bm_kind (int cost)
{
  switch (cost) {
    case STEREO_COST_AD:
      return BM_DIFFERENCE;
    case STEREO_COST_SD:
      return BM_SQUARE;
    case STEREO_COST_SAD:
      return BM_COLORS;
    case STEREO_COST_SSD:
      return BM_COLOR_SQUARES;
    case STEREO_COST_NSSD:
    case STEREO_COST_NCC:
    case STEREO_COST_ZNCC:
      return BM_PRODUCT;
    default:
      return BM_NO_KIND;
  }
}

/* Whether the cost compares windows; the others compare single pixels. */
constexpr bool
bm_compares_windows (BmKind kind)
{
  return kind != BM_DIFFERENCE && kind != BM_SQUARE;
}

constexpr int BM_COLUMNS = 8; /* of a thread */
constexpr int BM_WARPS = 16;
constexpr int BM_STRIP = BM_COLUMNS * BM_WARPS;
constexpr int BM_CHUNK = 64; /* candidates of a block, two a lane */
constexpr int BM_GUARD = 16; /* columns before and after the strip that may be read; their values are not used */
constexpr int BM_BUFFER = (BM_STRIP + 2 * BM_GUARD) * 32;
constexpr int BM_BLOCKS = 132; /* times bm_resident(): about as many blocks make a wave */
constexpr int BM_TAPS = 31 * 31;

/* Blocks on a multiprocessor at a time: what registers are shared out for. */
constexpr int
bm_resident (BmKind kind)
{
  return kind == BM_PRODUCT ? 1 : 2;
}

/* Bytes of shared memory. */
constexpr size_t
bm_shared (int buffers)
{
  return buffers * BM_BUFFER * sizeof (uint2) + (BM_TAPS + 1) * sizeof (float);
}

/* Sums of the luma of one view over the windows of the first step. */
struct BmLine
{
  uint32_t *sums, *squares; /* [y]: over the rows of the window, prefix sums along the row */
  uint2 *windows;           /* [y][x]: of a whole window: sum (zncc) or sum of squares, and norm; that of the
                                   right view times STEREO_BM_STEPS */
};

struct BmTask
{
  Frame f;
  int radius, window_radius; /* of this step; of the aggregation */
  int segment;               /* rows of a block */
  int line_pitch;
  int buffers;     /* 1 or 2 */
  uint32_t *costs; /* of the first step, two in a word, [y][x][i] */
  BmLine line[2];
};

/* A thread's place. */
struct BmPlace
{
  int x;            /* its first column */
  int strip_column; /* the same in the strip, guard included */
  int i;            /* its first candidate */
  int m;            /* partner of the first column's first candidate */
  uint32_t exists;  /* 65535 each: candidates below the number of disparities */
  uint32_t stores;  /* a bit for every column whose costs it makes */
};

/* What a thread knows of its candidates, two a column, if its block is not INNER. */
struct BmEdge
{
  uint32_t exists;                /* a bit each */
  uint32_t left, right;           /* a bit for every column that can be loaded */
  uint32_t spans[BM_COLUMNS / 2]; /* a byte each: columns of the window; 0 if there is no such candidate */
  const float *factors;           /* by the number of taps: the factor from a sum to a mean */
};

/* Lets the compiler hold @word in a register; otherwise it computes @word again in every row. */
static __device__ __forceinline__ void
bm_hold_in_register (uint32_t &word)
{
  asm("" : "+r"(word));
}

static __device__ __forceinline__ bool
bm_exists (const Frame &f, int x, int m, int i)
{
  return x >= 0 && x < f.width && m >= 0 && m < f.width && i < f.disparities;
}

static __device__ __forceinline__ uint32_t
bm_absolute_sum (uint32_t a, uint32_t b, uint32_t sum)
{
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %0;" : "+r"(sum) : "r"(a), "r"(b));
  return sum;
}

template <BmKind KIND> static __device__ __forceinline__ uint32_t
bm_add_raw (uint32_t l, uint32_t r, uint32_t sum)
{
  if (KIND == BM_COLORS)
    return bm_absolute_sum (l, r, sum);
  if (KIND == BM_COLOR_SQUARES) {
    uint32_t difference = __vabsdiffu4 (l, r);
    return __dp4a (difference, difference, sum);
  }
  int difference = (int) l - (int) r;
  return sum +
      (KIND == BM_PRODUCT       ? l * r :
              KIND == BM_SQUARE ? (uint32_t) (difference * difference) :
                                  (uint32_t) abs (difference));
}

/* ---- a row enters or leaves ----------------------------------------------------------------------- */

template <BmKind KIND, bool INNER, bool ENTERS> static __device__ __forceinline__ void
bm_roll_images (const BmTask &t, const BmPlace &p, const BmEdge &e, int y, uint2 *sums)
{
  constexpr bool color = KIND == BM_COLORS || KIND == BM_COLOR_SQUARES;
  const Frame &f = t.f;
  ptrdiff_t row = (ptrdiff_t) y * f.image_pitch, from = row + p.m - (BM_COLUMNS - 1);
  const uint32_t *left_color = f.view[STEREO_LEFT].color + row + p.x, *right_color = f.view[STEREO_RIGHT].color + from;
  const uint8_t *left_luma = f.view[STEREO_LEFT].luma + row + p.x, *right_luma = f.view[STEREO_RIGHT].luma + from;
  uint32_t right[BM_COLUMNS + 1];

#pragma unroll
  for (int k = 0; k <= BM_COLUMNS; k++)
    right[k] = !INNER && !(e.right >> k & 1) ? 0 : color ? right_color[k] : right_luma[k];
#pragma unroll
  for (int j = 0; j < BM_COLUMNS; j++) {
    uint32_t left = !INNER && !(e.left >> j & 1) ? 0 : color ? left_color[j] : left_luma[j];
    uint32_t a = right[BM_COLUMNS - 1 - j], b = right[BM_COLUMNS - j];
    if (ENTERS && INNER)
      sums[j] = make_uint2 (bm_add_raw<KIND> (left, a, sums[j].x), bm_add_raw<KIND> (left, b, sums[j].y));
    else {
      uint32_t first = INNER || e.exists >> 2 * j & 1 ? bm_add_raw<KIND> (left, a, 0) : 0;
      uint32_t second = INNER || e.exists >> (2 * j + 1) & 1 ? bm_add_raw<KIND> (left, b, 0) : 0;
      sums[j].x += ENTERS ? first : 0 - first;
      sums[j].y += ENTERS ? second : 0 - second;
    }
  }
}

template <bool INNER, bool ENTERS, int DEPTH> static __device__ __forceinline__ void
bm_roll_costs (const BmTask &t, const BmPlace &p, const BmEdge &e, int y, uint2 *sums)
{
  const Frame &f = t.f;
  int depth = DEPTH ? DEPTH : f.depth, i = DEPTH % BM_CHUNK || !DEPTH ? min (p.i, depth - 2) : p.i, pitch = depth / 2;
  const uint32_t *from = t.costs + ((ptrdiff_t) y * f.width + p.x) * pitch + i / 2;

#pragma unroll
  for (int j = 0; j < BM_COLUMNS; j++) {
    uint32_t pair = INNER || e.left >> j & 1 ? from[j * pitch] : 0;
    sums[j].x += ENTERS ? pair & 0xFFFF : 0 - (pair & 0xFFFF);
    sums[j].y += ENTERS ? pair >> 16 : 0 - (pair >> 16);
  }
}

template <BmKind KIND, bool INNER, bool ENTERS, int DEPTH> static __device__ __forceinline__ void
bm_roll (const BmTask &t, const BmPlace &p, const BmEdge &e, int y, uint2 *sums)
{
  if (KIND == BM_MEAN)
    bm_roll_costs<INNER, ENTERS, DEPTH> (t, p, e, y, sums);
  else
    bm_roll_images<KIND, INNER, ENTERS> (t, p, e, y, sums);
}

/* ---- from the sum of a window to its cost ------------------------------------------------------------------ */

/* The mean in the low 16 bits: adding 2^23 rounds to whole numbers, ties to even. */
static __device__ __forceinline__ uint32_t
bm_mean_bits (uint32_t sum, float factor)
{
  return __float_as_uint (__fadd_rn (__fmul_rn (__uint2float_rn (sum), factor), 8388608.0f));
}

/* The cost of a correlation over a whole window. SMALL: so few taps that 32 bits are enough. */
template <int COST, bool SMALL> static __device__ __forceinline__ uint32_t
bm_correlate (uint32_t products, int taps, uint2 l, uint2 r)
{
  float numerator;

  if (COST == STEREO_COST_NCC)
    numerator = __uint2float_rn (products);
  else if (COST == STEREO_COST_NSSD)
    numerator = __uint2float_rn (l.x + r.x - 2 * products);
  else if (SMALL || taps <= STEREO_BM_SMALL)
    numerator = __int2float_rn ((int32_t) ((uint32_t) taps * products - l.x * r.x));
  else
    numerator = __ll2float_rn ((int64_t) taps * products - (int64_t) l.x * r.x);
  float steps = __fmul_rn (__fmul_rn (numerator, __uint_as_float (l.y)), __uint_as_float (r.y));
  /* adding 1.5 * 2^23 rounds to whole numbers, ties to even, and leaves them in the low bits */
  if (COST == STEREO_COST_NSSD)
    return __float_as_uint (__fadd_rn (fminf (steps, 2.0f * STEREO_BM_STEPS), 12582912.0f)) - 0x4B400000u;
  int whole = (int) __float_as_uint (__fadd_rn (steps, 12582912.0f)) - 0x4B400000;
  return (uint32_t) min (max (STEREO_BM_STEPS - whole, 0), 2 * STEREO_BM_STEPS);
}

/* The same for a window that is cut to @low..@high; @left, @right: prefix sums around the pixels of both views. */
template <int COST> static __device__ __noinline__ uint32_t
bm_correlate_part (const uint32_t *left, const uint32_t *right, ptrdiff_t squares_l, ptrdiff_t squares_r, int low,
    int high, int rows, uint32_t products)
{
  int taps = (high - low + 1) * rows;
  uint32_t sum_l = left[high + 1] - left[low], sum_r = right[1 - low] - right[-high];
  left += squares_l;
  right += squares_r;
  uint32_t energy_l = left[high + 1] - left[low], energy_r = right[1 - low] - right[-high];
  return stereo_bm_correlation (COST, stereo_bm_numerator (COST, taps, products, sum_l, sum_r, energy_l, energy_r),
      stereo_bm_norm (COST, taps, sum_l, energy_l), stereo_bm_norm (COST, taps, sum_r, energy_r) * STEREO_BM_STEPS);
}

/* Candidate @k of a block that is not INNER. */
template <int COST, BmKind KIND, bool SMALL> static __device__ __forceinline__ uint32_t
bm_finish_part (const BmTask &t, const BmPlace &p, const BmEdge &e, uint32_t sum, int k, int y, int rows)
{
  uint32_t span = e.spans[k / 4] >> k % 4 * 8 & 255;
  if (KIND != BM_PRODUCT) {
    uint32_t mean = bm_mean_bits (sum, e.factors[span * rows]);
    return span ? mean : KIND == BM_MEAN ? STEREO_INVALID : 0;
  }
  int x = p.x + k / 2, m = p.m - k / 2 + k % 2;
  if (span == 2 * t.radius + 1)
    return bm_correlate<COST, SMALL> (
        sum, span * rows, t.line[0].windows[(size_t) y * t.f.width + x], t.line[1].windows[(size_t) y * t.f.width + m]);
  if (!span)
    return 0;
  const uint32_t *left = t.line[0].sums + (size_t) y * t.line_pitch + x,
                 *right = t.line[1].sums + (size_t) y * t.line_pitch + m;
  return bm_correlate_part<COST> (left, right, t.line[0].squares - t.line[0].sums, t.line[1].squares - t.line[1].sums,
      stereo_bm_low (x, m, t.f.width, t.radius), stereo_bm_high (x, m, t.f.width, t.radius), rows, sum);
}

/* Sums along the row around a thread's columns -> two costs a column. */
template <int COST, BmKind KIND, bool INNER, int R> static __device__ __forceinline__ void
bm_finish (const BmTask &t, const BmPlace &p, const BmEdge &e, const uint2 *buffer, int y, uint32_t *to)
{
  const Frame &f = t.f;
  constexpr bool small = R && (2 * R + 1) * (2 * R + 1) <= STEREO_BM_SMALL;
  const int radius = R ? R : t.radius;
  int rows = stereo_bm_rows (y, f.height, radius), taps = rows * (2 * radius + 1);
  float factor = KIND == BM_MEAN ? stereo_bm_mean_factor (taps) : stereo_bm_cost_factor (COST, f.volume_unit, taps);
  const uint2 *column = buffer + (p.strip_column - radius) * 32;
  const uint2 *left = t.line[0].windows + (ptrdiff_t) y * f.width + p.x;
  const uint2 *right = t.line[1].windows + (ptrdiff_t) y * f.width + p.m;
  uint2 sum = make_uint2 (0, 0);

#pragma unroll
  for (int k = 0; k < 2 * radius; k++)
    sum = make_uint2 (sum.x + column[k * 32].x, sum.y + column[k * 32].y);
#pragma unroll
  for (int j = 0; j < BM_COLUMNS; j++) {
    uint2 enters = column[(2 * radius + j) * 32];
    uint32_t a, b;
    sum = make_uint2 (sum.x + enters.x, sum.y + enters.y);
    if (INNER && KIND == BM_PRODUCT) {
      uint2 l = left[j]; /* columns that are not stored read arbitrary values here */
      a = bm_correlate<COST, small> (sum.x, taps, l, right[-j]);
      b = bm_correlate<COST, small> (sum.y, taps, l, right[1 - j]);
    } else if (INNER) {
      a = bm_mean_bits (sum.x, factor);
      b = bm_mean_bits (sum.y, factor);
    } else {
      a = bm_finish_part<COST, KIND, small> (t, p, e, sum.x, 2 * j, y, rows);
      b = bm_finish_part<COST, KIND, small> (t, p, e, sum.y, 2 * j + 1, y, rows);
    }
    uint32_t pair = __byte_perm (a, b, 0x5410);
    to[j] = KIND == BM_MEAN ? pair | ~p.exists : pair & p.exists;
    uint2 leaves = column[j * 32];
    sum = make_uint2 (sum.x - leaves.x, sum.y - leaves.y);
  }
}

}

#endif
