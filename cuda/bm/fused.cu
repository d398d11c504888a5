/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Block matching, both steps in one kernel, for costs that compare small windows: see stereo_cuda_bm_fused().
 * stereo/exact/bm.h has the equations and the rounding.
 *
 * stage.cu does one step after the other and stores the costs of the first step in global memory. Here both steps
 * are done row by row. A block takes a strip of columns and a chunk of candidates down a segment of rows, a thread
 * BM_WIDE columns of two candidates. The costs of the window's rows stay in shared memory, in a ring of rows where a
 * thread reads and writes only its own places. The kernel writes only the volume, once.
 *
 * The sums down the columns of both steps are in registers. To sum along the row a thread needs the columns of its
 * neighbours within the reach of the window, which it gets through shared memory: two barriers a row. The outer column
 * groups of a strip only serve as neighbours.
 *
 * The kernel is bound by instructions. It saves them as follows.
 * - bm_inputs_kernel() stores both views such that one load has the row that enters and the row that leaves, of aligned
 *   pairs of pixels, with zeros outside the pictures. One dp2a then adds one product and subtracts the other.
 * - Sums of SAD are at most 81 * 765: one word has two.
 * - Sums become floats without an instruction: each starts with the bits of 2^23. The multiplication and the
 *   subtraction of 2^23 * factor, which is exactly a float, are one FMA and round once.
 * - The upper bits that rounding to 2^23 leaves are summed up too, and leave the sums with their row.
 * - Windows that the ends of a candidate's columns cut are rare. bm_inputs_kernel() makes their costs of the first
 *   step; in the second step only warps that have such windows test the bounds of each candidate.
 */
#include "cuda/bm/pixels.cuh"

namespace
{

constexpr int BM_FUSED_PAIRS = 8;     /* of candidates, a block: 8, 16 or 32 */
constexpr int BM_FUSED_WARPS = 4;     /* of a block, at most */
constexpr int BM_FUSED_RESIDENT = 4;  /* blocks that a multiprocessor should have registers for: they wait in turn */
constexpr double BM_FUSED_TAIL = 2.0; /* see choose_segment() */
constexpr int BM_WIDE = 8;            /* columns of a thread, which are a group: 8 or 16 */
constexpr int BM_QUADS = BM_WIDE / 4;
constexpr int BM_GROUPS = 32 / BM_FUSED_PAIRS; /* of columns, a warp */

struct BmFusedTask
{
  Frame f;
  int stride;   /* columns between strips: all groups but two */
  int end;      /* past the last strip's last column */
  int segment;  /* rows of a block */
  int pitch[2]; /* of the inputs, pixels */
  /* Row y: what enters and leaves the window around row y. Left, column x at x + BM_WIDE; right, the partner of
   * column x at index i at end - x + i. From row -R on. */
  const void *pairs[2]; /* colours: uint2; luma: the left one's words, short2 with the leaving one negative; the
                                   right one's bytes, uchar2 */
  uint2 *windows[2]; /* from row 0 on, columns as above, of whole windows: sum (zncc) or sum of squares, and norm; that of the right view
                           times STEREO_BM_STEPS */
  uint16_t *cuts; /* [y][end][i]: costs of cut windows: R from the first column, R from the last one */
};

/* How the low bits of a float hold a cost. above: the upper bits; falls: the low bits fall with the cost; none: cost
 * 0. */
template <int COST, BmKind KIND> struct BmBits
{
  static constexpr bool falls = KIND == BM_PRODUCT && COST != STEREO_COST_NSSD;
  static constexpr uint32_t above = KIND == BM_PRODUCT ? 0x4B40u : 0x4B00u;
  static constexpr uint32_t none = above << 16 | (falls ? 0xFFFFu : 0);
};

/* The rows that enter and leave, in a thread's columns; of the right view, from the partners of the last column on. */
template <BmKind KIND> struct BmRows
{
  uint4 left[BM_WIDE / 2], right[BM_WIDE / 2 + 1];
};

template <> struct BmRows<BM_PRODUCT>
{
  uint4 left[BM_WIDE / 4];
  uint32_t right[BM_WIDE / 2 + 1];
};

/* A thread's place. */
struct BmFusedPlace
{
  int x, i;           /* first column and candidate */
  int left, right;    /* elements of the inputs: of the first column; before the partner of the last column */
  bool plain, absent; /* all windows of the warp are whole; the warp has no candidate */
  bool inner;         /* not an outer group */
};

/* Two products, of two signed words and of two bytes, the lower or the upper ones. */
static __device__ __forceinline__ uint32_t
bm_add_products (uint32_t words, uint32_t bytes, bool upper, uint32_t sum)
{
  if (upper)
    asm("dp2a.hi.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(words), "r"(bytes));
  else
    asm("dp2a.lo.s32.u32 %0, %1, %2, %0;" : "+r"(sum) : "r"(words), "r"(bytes));
  return sum;
}

/* ---- sums down the columns -------------------------------------------------------------------------- */

template <BmKind KIND> static __device__ __forceinline__ void
bm_load_rows (const BmFusedTask &t, const BmFusedPlace &p, int row, BmRows<KIND> &rows)
{
  constexpr bool products = KIND == BM_PRODUCT;
  size_t left = (size_t) row * t.pitch[STEREO_LEFT] + p.left, right = (size_t) row * t.pitch[STEREO_RIGHT] + p.right;
  const uint4 *l = (const uint4 *) ((const char *) t.pairs[STEREO_LEFT] + left * (products ? 4 : 8));
  const char *r = (const char *) t.pairs[STEREO_RIGHT] + right * (products ? 2 : 8);

#pragma unroll
  for (int k = 0; k < (int) (sizeof rows.left / sizeof *rows.left); k++)
    rows.left[k] = l[k];
#pragma unroll
  for (int k = 0; k <= BM_WIDE / 2; k++)
    if constexpr (products)
      rows.right[k] = ((const uint32_t *) r)[k];
    else
      rows.right[k] = ((const uint4 *) r)[k];
}

/* Column @j, whose partners are right pixels BM_WIDE - j and the next one. Not LEAVES: no row leaves yet. */
template <BmKind KIND, bool LEAVES> static __device__ __forceinline__ void
bm_roll_column (const BmRows<KIND> &rows, int j, uint32_t &first, uint32_t &second)
{
  const int a = BM_WIDE - j, b = a + 1;
  if constexpr (KIND == BM_PRODUCT) {
    uint32_t left = word_of (rows.left[j / 4], j % 4);
    left = LEAVES ? left : left & 0xFFFFu;
    first = bm_add_products (left, rows.right[a / 2], a % 2, first);
    second = bm_add_products (left, rows.right[b / 2], b % 2, second);
  } else {
    uint32_t enters = word_of (rows.left[j / 2], j % 2 * 2), leaves = word_of (rows.left[j / 2], j % 2 * 2 + 1);
    uint32_t enters_a = word_of (rows.right[a / 2], a % 2 * 2), leaves_a = word_of (rows.right[a / 2], a % 2 * 2 + 1);
    uint32_t enters_b = word_of (rows.right[b / 2], b % 2 * 2), leaves_b = word_of (rows.right[b / 2], b % 2 * 2 + 1);
    if (KIND == BM_COLORS) { /* two a word, in @first */
      uint32_t upper = bm_add_raw<KIND> (enters, enters_b, 0), sum = bm_add_raw<KIND> (enters, enters_a, first);
      if (LEAVES) {
        upper -= bm_add_raw<KIND> (leaves, leaves_b, 0);
        sum -= bm_add_raw<KIND> (leaves, leaves_a, 0);
      }
      first = sum + upper * 65536;
    } else {
      first = bm_add_raw<KIND> (enters, enters_a, first) - (LEAVES ? bm_add_raw<KIND> (leaves, leaves_a, 0) : 0);
      second = bm_add_raw<KIND> (enters, enters_b, second) - (LEAVES ? bm_add_raw<KIND> (leaves, leaves_b, 0) : 0);
    }
  }
}

template <BmKind KIND, bool LEAVES> static __device__ __forceinline__ void
bm_roll_rows (const BmRows<KIND> &rows, uint32_t *first, uint32_t *second)
{
#pragma unroll
  for (int j = 0; j < BM_WIDE; j++)
    bm_roll_column<KIND, LEAVES> (rows, j, first[j], second[j]);
}

/* ---- sums along the row ----------------------------------------------------------------------------- */

/* Stores a thread's columns for its neighbours: four in a uint4, planes of BM_FUSED_PAIRS. */
template <int PLANES> static __device__ __forceinline__ void
bm_share (uint4 *place, int plane, const uint32_t *own)
{
#pragma unroll
  for (int q = 0; q < BM_QUADS; q++)
    place[(q * PLANES + plane) * BM_FUSED_PAIRS] = make_uint4 (
        own[4 * q], own[4 * q + 1], own[4 * q + 2], own[4 * q + 3]);
}

/* Sums over 2 R + 1 columns, from the thread's own and its neighbours'. */
template <int PLANES, int R> static __device__ __forceinline__ void
bm_sum_along (const uint4 *place, int plane, const uint32_t *own, uint32_t *sums)
{
  uint4 before = place[(plane - PLANES) * BM_FUSED_PAIRS], after = place[(plane + BM_QUADS * PLANES) * BM_FUSED_PAIRS];
  uint32_t all[BM_WIDE + 8], sum = 0;

#pragma unroll
  for (int k = 0; k < 4; k++) {
    all[k] = word_of (before, k);
    all[BM_WIDE + 4 + k] = word_of (after, k);
  }
#pragma unroll
  for (int k = 0; k < BM_WIDE; k++)
    all[4 + k] = own[k];
#pragma unroll
  for (int k = 4 - R; k <= 4 + R; k++)
    sum += all[k];
  sums[0] = sum;
#pragma unroll
  for (int j = 1; j < BM_WIDE; j++)
    sums[j] = sum = sum + all[j + 4 + R] - all[j + 3 - R];
}

/* ---- the first step's costs -------------------------------------------------------------------------- */

/* (bits - 2^23) * factor, rounded once, and again to a whole number: in the low bits. */
static __device__ __forceinline__ uint32_t
bm_scale (uint32_t bits, float factor)
{
  float scaled = __fmaf_rn (__uint_as_float (bits), factor, -8388608.0f * factor);
  return __float_as_uint (__fadd_rn (scaled, 8388608.0f));
}

/* A correlation of whole windows cannot leave -1..1 by as much as half a step: see stereo_bm_correlation(), which
 * makes sure. */
template <int COST> static __device__ __forceinline__ uint32_t
bm_correlate_bits (uint32_t products, int taps, uint2 l, uint2 r)
{
  float numerator = COST == STEREO_COST_NCC ? __uint2float_rn (products) :
      COST == STEREO_COST_NSSD              ? __uint2float_rn (l.x + r.x - 2 * products) :
                                              __int2float_rn ((int32_t) ((uint32_t) taps * products - l.x * r.x));
  float steps = __fmul_rn (__fmul_rn (numerator, __uint_as_float (l.y)), __uint_as_float (r.y));
  if (COST == STEREO_COST_NSSD)
    return __float_as_uint (__fadd_rn (fminf (steps, 2.0f * STEREO_BM_STEPS), 12582912.0f));
  return __float_as_uint (__fadd_rn (steps, 12582912.0f + STEREO_BM_STEPS + 1));
}

/* Both windows' own sums, of a row of a thread's columns. */
struct BmWindows
{
  uint4 left[BM_WIDE / 2], right[BM_WIDE / 2 + 1];
};

static __device__ __forceinline__ void
bm_load_windows (const BmFusedTask &t, const BmFusedPlace &p, int y, BmWindows &w)
{
  const uint4 *left = (const uint4 *) (t.windows[STEREO_LEFT] + (size_t) y * t.pitch[STEREO_LEFT] + p.left);
  const uint4 *right = (const uint4 *) (t.windows[STEREO_RIGHT] + (size_t) y * t.pitch[STEREO_RIGHT] + p.right);
#pragma unroll
  for (int k = 0; k < BM_WIDE / 2; k++)
    w.left[k] = left[k];
#pragma unroll
  for (int k = 0; k <= BM_WIDE / 2; k++)
    w.right[k] = right[k];
}

/* There are not enough registers to load the windows a row ahead. */
static __device__ __forceinline__ void
bm_prefetch_windows (const BmFusedTask &t, const BmFusedPlace &p, int y)
{
  const uint2 *left = t.windows[STEREO_LEFT] + (size_t) y * t.pitch[STEREO_LEFT] + p.left;
  const uint2 *right = t.windows[STEREO_RIGHT] + (size_t) y * t.pitch[STEREO_RIGHT] + p.right;
  asm volatile("prefetch.global.L1 [%0];" : : "l"(left));
  asm volatile("prefetch.global.L1 [%0];" : : "l"(right));
}

static __device__ __forceinline__ uint2
bm_window (const uint4 *windows, int k)
{
  return make_uint2 (word_of (windows[k / 2], k % 2 * 2), word_of (windows[k / 2], k % 2 * 2 + 1));
}

/* From sums over windows to bits of costs, two a column. */
template <int COST, BmKind KIND> static __device__ __forceinline__ void
bm_first_costs (
    const uint32_t *first, const uint32_t *second, const BmWindows &w, int taps, float factor, uint32_t *bits)
{
#pragma unroll
  for (int j = 0; j < BM_WIDE; j++)
    if constexpr (KIND == BM_PRODUCT) {
      uint2 l = bm_window (w.left, j);
      bits[2 * j] = bm_correlate_bits<COST> (first[j], taps, l, bm_window (w.right, BM_WIDE - j));
      bits[2 * j + 1] = bm_correlate_bits<COST> (second[j], taps, l, bm_window (w.right, BM_WIDE - j + 1));
    } else if constexpr (KIND == BM_COLORS) {
      bits[2 * j] = bm_scale (__byte_perm (first[j], 0x4B00, 0x5410), factor);
      bits[2 * j + 1] = bm_scale (__byte_perm (first[j], 0x4B00, 0x5432), factor);
    } else {
      bits[2 * j] = __float_as_uint (__fadd_rn (__fmul_rn (__uint2float_rn (first[j]), factor), 8388608.0f));
      bits[2 * j + 1] = __float_as_uint (__fadd_rn (__fmul_rn (__uint2float_rn (second[j]), factor), 8388608.0f));
    }
}

/* Columns from a candidate's first one to a thread's first one, and from this to the candidate's last one. */
struct BmMargins
{
  int near[2], far[2];
};

/* Computed again in every row: it would take registers that the code for whole windows needs. */
static __device__ __forceinline__ BmMargins
bm_margins (const Frame &f, const BmFusedPlace &p)
{
  int x = p.x;
  asm volatile("" : "+r"(x));
  BmSpan a = bm_span (f, p.i), b = bm_span (f, p.i + 1);
  BmMargins margins = { { x - a.first, x - b.first }, { a.last - x, b.last - x } };
  return margins;
}

/* Replaces the costs of cut windows by those that bm_inputs_kernel() made, and of missing candidates, which all are
 * below the picture, by none. */
template <int COST, BmKind KIND, int R> static __device__ __forceinline__ void
bm_mend (const BmFusedTask &t, const BmFusedPlace &p, int y, uint32_t *bits)
{
  const uint16_t *cuts = t.cuts + (size_t) y * (2 * R) * t.f.depth + p.i;
  BmMargins margins = bm_margins (t.f, p);
#pragma unroll
  for (int k = 0; k < 2 * BM_WIDE; k++) {
    int near = margins.near[k % 2] + k / 2, far = margins.far[k % 2] - k / 2;
    if (min (near, far) < 0 || y >= t.f.height)
      bits[k] = BmBits<COST, KIND>::none;
    else if (min (near, far) < R)
      bits[k] = BmBits<COST, KIND>::above << 16 | cuts[(near < R ? near : R + far) * t.f.depth + k % 2];
  }
}

/* ---- the second step --------------------------------------------------------------------------------- */

/* The start of a column's sums, such that the starts of 2 R + 1 columns together are the bits of 2^23. */
template <int R> static __device__ __forceinline__ constexpr uint32_t
bm_start ()
{
  uint32_t n = 2 * R + 1,
           inverse = n; /* modulo 2^32: every step doubles the number of right bits, which is 3 at first */
  for (int k = 0; k < 4; k++)
    inverse *= 2 - n * inverse;
  return 0x4B000000u * inverse;
}

/* A row of costs enters the ring and the sums; the row that it replaces leaves the sums. */
template <int COST, BmKind KIND> static __device__ __forceinline__ void
bm_roll_ring (uint4 *ring, int threads, const uint32_t *bits, uint32_t *first, uint32_t *second)
{
  constexpr bool falls = BmBits<COST, KIND>::falls;
  constexpr uint32_t above = BmBits<COST, KIND>::above;
#pragma unroll
  for (int q = 0; q < BM_QUADS; q++) {
    uint4 old = ring[q * threads];
    uint32_t pairs[4];
#pragma unroll
    for (int k = 0; k < 4; k++) {
      int j = q * 4 + k;
      uint32_t pair = word_of (old, k), a = __byte_perm (pair, above, 0x5410), b = __byte_perm (pair, above, 0x5432);
      first[j] += falls ? a - bits[2 * j] : bits[2 * j] - a;
      second[j] += falls ? b - bits[2 * j + 1] : bits[2 * j + 1] - b;
      pairs[k] = __byte_perm (bits[2 * j], bits[2 * j + 1], 0x5410);
    }
    ring[q * threads] = make_uint4 (pairs[0], pairs[1], pairs[2], pairs[3]);
  }
}

/* The mean of a sum, in a warp that has cut windows; @factors: by the number of taps. */
template <int R> static __device__ __forceinline__ uint32_t
bm_part_mean (const BmMargins &margins, int k, uint32_t bits, const float *factors, int rows)
{
  int near = min (margins.near[k % 2] + k / 2, R), far = min (margins.far[k % 2] - k / 2, R);
  uint32_t mean = bm_scale (bits, factors[rows * max (near + far + 1, 0)]);
  return min (near, far) < 0 ? STEREO_INVALID : mean;
}

template <int R> static __device__ __forceinline__ void
bm_store_means (
    const Frame &f, const BmFusedPlace &p, const float *factors, int y, const uint32_t *first, const uint32_t *second)
{
  int depth = f.depth, pitch = depth / 2, rows = stereo_bm_rows (y, f.height, R);
  uint32_t *to = (uint32_t *) f.volume + ((ptrdiff_t) y * f.width + p.x) * pitch + p.i / 2;

  if (!p.inner)
    return;
  if (p.plain) { /* all columns are in the picture, as their windows are whole */
    float factor = factors[rows * (2 * R + 1)];
#pragma unroll
    for (int j = 0; j < BM_WIDE; j++)
      to[j * pitch] = __byte_perm (bm_scale (first[j], factor), bm_scale (second[j], factor), 0x5410);
    return;
  }
  BmMargins margins = bm_margins (f, p);
#pragma unroll
  for (int j = 0; j < BM_WIDE; j++)
    if (p.x + j < f.width && p.i < depth)
      to[j * pitch] = __byte_perm (bm_part_mean<R> (margins, 2 * j, first[j], factors, rows),
          bm_part_mean<R> (margins, 2 * j + 1, second[j], factors, rows), 0x5410);
}

/* ---- a strip ------------------------------------------------------------------------------------------ */

/* Shared memory: the ring; sums of the first and of the second step, each between guards that may be read; factors. */
template <BmKind KIND, int R> struct BmFusedShared
{
  static constexpr int slots = 2 * R + 1, taps = slots * slots + 1;
  static constexpr int planes = KIND == BM_COLORS ? 1 : 2;
  uint4 *ring, *first, *second;
  float *costs, *means;

  __device__ __forceinline__
  BmFusedShared (uint4 *shared, int threads)
  {
    ring = shared;
    first = ring + slots * BM_QUADS * threads + planes * BM_FUSED_PAIRS;
    second = first + BM_QUADS * planes * threads + (planes + 2) * BM_FUSED_PAIRS;
    costs = (float *) (second + BM_QUADS * 2 * threads + 2 * BM_FUSED_PAIRS);
    means = costs + taps;
  }

  static __host__ __device__ size_t
  bytes (int threads)
  {
    int quads = (slots + planes + 2) * BM_QUADS * threads, guards = (2 * planes + 4) * BM_FUSED_PAIRS;
    return (quads + guards) * sizeof (uint4) + 2 * taps * sizeof (float);
  }
};

/* A warp without candidates: its sums for the neighbours do not change; it waits at the same barriers as the others. */
template <int R> static __device__ __forceinline__ void
bm_absent_strip (const Frame &f, const BmFusedPlace &p, int y0, int first, int end)
{
  int depth = f.depth, columns = p.inner && p.i < depth ? min (f.width - p.x, BM_WIDE) : 0;
  uint32_t *to = (uint32_t *) f.volume + ((ptrdiff_t) first * f.width + p.x) * (depth / 2) + p.i / 2;

  for (int y = y0; y < end + R; y++) {
    cuda_sync_warps ();
    cuda_sync_warps ();
    if (y - R < first)
      continue;
    for (int j = 0; j < columns; j++)
      to[j * (depth / 2)] = STEREO_INVALID * 0x10001u;
    to += (ptrdiff_t) f.width * (depth / 2);
  }
}

template <int COST, BmKind KIND, int R> static __device__ void
bm_set_shared (const BmFusedShared<KIND, R> &s, int volume_unit, int thread, int threads)
{
  constexpr uint32_t none = (BmBits<COST, KIND>::none & 0xFFFFu) * 0x10001u;
  uint4 *sums = s.first - s.planes * BM_FUSED_PAIRS, *end = (uint4 *) s.costs;

  for (int k = thread; k < s.slots * BM_QUADS * threads; k += threads)
    s.ring[k] = make_uint4 (none, none, none, none);
  for (uint4 *at = sums + thread; at < end; at += threads)
    *at = make_uint4 (0, 0, 0, 0);
  for (int taps = thread; taps < s.taps; taps += threads) {
    s.costs[taps] = taps ? stereo_bm_cost_factor (COST, volume_unit, taps) : 0;
    s.means[taps] = taps ? stereo_bm_mean_factor (taps) : 0;
  }
  __syncthreads ();
}

/* The place of the thread that has column group @group of the block and pair @pair of its candidates. */
template <int R> static __device__ __forceinline__ BmFusedPlace
bm_fused_place (const BmFusedTask &t, int group, int pair)
{
  const Frame &f = t.f;
  BmFusedPlace p;

  /* the last strip first, then from the left: strips at the ends have cut windows and take longer */
  int strip = (int) (blockIdx.z + gridDim.z - 1) % (int) gridDim.z;
  p.x = strip * t.stride + (group - 1) * BM_WIDE;
  p.i = (blockIdx.y * BM_FUSED_PAIRS + pair) * 2;
  p.left = p.x + BM_WIDE;
  p.right = t.end - p.x + p.i - BM_WIDE;
  p.inner = group > 0 && group < BM_GROUPS * (int) blockDim.y - 1;
  BmSpan span[2] = { bm_span (f, p.i), bm_span (f, p.i + 1) };
  int lowest = max (span[0].first, span[1].first) + R, highest = min (span[0].last, span[1].last) - R;
  p.plain = __all_sync (~0u, p.x >= lowest && p.x + BM_WIDE - 1 <= highest);
  p.absent = __all_sync (~0u,
      (p.x + BM_WIDE <= span[0].first || p.x > span[0].last) && (p.x + BM_WIDE <= span[1].first || p.x > span[1].last));
  return p;
}

/* Block: a strip (blockIdx.z) by a chunk of candidates (blockIdx.y) by a segment of rows (blockIdx.x). A lane has a
 * pair of candidates and a group of columns. R: the radius of both windows. Shared
 * memory: see BmFusedShared; lanes next to each other have neighbouring pairs. */
template <int COST, BmKind KIND, int R>
static __global__ void __launch_bounds__ (32 * BM_FUSED_WARPS, BM_FUSED_RESIDENT) bm_fused_kernel (BmFusedTask t)
{
  static_assert (R >= 1 && R <= 4, "a thread gets four columns from each neighbour");
  constexpr int planes = BmFusedShared<KIND, R>::planes;
  extern __shared__ uint4 fused_shared[];
  const Frame &f = t.f;
  int threads = 32 * blockDim.y, thread = threadIdx.y * 32 + threadIdx.x;
  int group = thread / BM_FUSED_PAIRS, pair = thread % BM_FUSED_PAIRS;
  BmFusedShared<KIND, R> s (fused_shared, threads);
  BmFusedPlace p = bm_fused_place<R> (t, group, pair);
  uint4 *shared_first = s.first + group * (BM_QUADS * planes) * BM_FUSED_PAIRS + pair;
  uint4 *shared_second = s.second + group * (BM_QUADS * 2) * BM_FUSED_PAIRS + pair;
  bm_set_shared<COST, KIND, R> (s, f.volume_unit, thread, threads);

  int first = blockIdx.x * t.segment, end = min (first + t.segment, f.height), y0 = max (first - R, 0);
  uint32_t a[BM_WIDE] = {}, b[BM_WIDE] = {}, means_a[BM_WIDE], means_b[BM_WIDE];
  uint4 *ring = s.ring + thread, *ring_end = ring + s.slots * BM_QUADS * threads;
  BmRows<KIND> rows;

#pragma unroll
  for (int j = 0; j < BM_WIDE; j++)
    means_a[j] = means_b[j] = bm_start<R> ();
  if (p.absent) {
    bm_share<2> (shared_second, 0, means_a);
    bm_share<2> (shared_second, 1, means_b);
    bm_absent_strip<R> (f, p, y0, first, end);
    return;
  }
  for (int y = max (y0 - 2 * R - 1, -R); y < y0; y++) { /* the first of these rows leaves with the next row */
    bm_load_rows<KIND> (t, p, y + R, rows);
    bm_roll_rows<KIND, false> (rows, a, b);
  }
  bm_load_rows<KIND> (t, p, y0 + R, rows);
  for (int y = y0; y < end + R; y++) {
    uint32_t bits[2 * BM_WIDE], sums_a[BM_WIDE], sums_b[BM_WIDE];
    int last = min (y, f.height - 1), taps = stereo_bm_rows (last, f.height, R) * (2 * R + 1);
    BmWindows windows;
    bm_roll_rows<KIND, true> (rows, a, b); /* rows below the picture give arbitrary values, which bm_mend() replaces */
    bm_load_rows<KIND> (t, p, min (y + 1, f.height - 1) + R, rows);
    if (KIND == BM_PRODUCT)
      bm_load_windows (t, p, last, windows);
    bm_share<planes> (shared_first, 0, a);
    if (planes == 2)
      bm_share<planes> (shared_first, planes - 1, b);
    cuda_sync_warps ();
    bm_sum_along<planes, R> (shared_first, 0, a, sums_a);
    if (planes == 2)
      bm_sum_along<planes, R> (shared_first, planes - 1, b, sums_b);
    bm_first_costs<COST, KIND> (sums_a, sums_b, windows, taps, s.costs[taps], bits);
    if (!p.plain || y >= f.height)
      bm_mend<COST, KIND, R> (t, p, y, bits);
    bm_roll_ring<COST, KIND> (ring, threads, bits, means_a, means_b);
    ring = ring + BM_QUADS * threads == ring_end ? s.ring + thread : ring + BM_QUADS * threads;
    if (KIND == BM_PRODUCT) /* the next row's windows into L1 */
      bm_prefetch_windows (t, p, min (y + 1, f.height - 1));
    bm_share<2> (shared_second, 0, means_a);
    bm_share<2> (shared_second, 1, means_b);
    cuda_sync_warps (); /* also: every thread has read the sums of the first step */
    if (y - R >= first) {
      bm_sum_along<2, R> (shared_second, 0, means_a, sums_a);
      bm_sum_along<2, R> (shared_second, 1, means_b, sums_b);
      bm_store_means<R> (f, p, s.means, y - R, sums_a, sums_b);
    }
  }
}

constexpr int INPUT_THREADS = 256;
constexpr int INPUT_ROWS = 16; /* of a block */
constexpr int CUT_ROWS = 4;    /* of a block that makes cut windows: few threads, each with much to do */

/* ---- inputs: rows that enter and leave, whole windows' own sums ---------------------------------------- */

template <BmKind KIND> static __device__ __forceinline__ void
store_pair (const BmFusedTask &t, int view, size_t at, uint32_t enters, uint32_t leaves)
{
  void *pairs = const_cast<void *> (t.pairs[view]);

  if (KIND != BM_PRODUCT)
    ((uint2 *) pairs)[at] = make_uint2 (enters, leaves);
  else if (view == STEREO_LEFT)
    ((uint32_t *) pairs)[at] = enters | (0 - leaves) << 16;
  else
    ((uint16_t *) pairs)[at] = (uint16_t) (enters | leaves << 8);
}

/* Columns of one view, a thread each, down INPUT_ROWS rows. Columns at the ends of a block only add to the windows of
 * others. */
template <int COST, BmKind KIND, int R> static __device__ void
make_inputs (const BmFusedTask &t, int view)
{
  __shared__ uint2 columns[2][INPUT_THREADS];
  const Frame &f = t.f;
  int at = blockIdx.x * (INPUT_THREADS - 2 * R) + (int) threadIdx.x - R, y0 = (int) blockIdx.z * INPUT_ROWS - R;
  int x = view == STEREO_LEFT ? at - BM_WIDE : at - t.end + f.width - 1 + f.min_disparity;
  bool inside = x >= 0 && x < f.width;
  bool stores = threadIdx.x >= R && threadIdx.x < INPUT_THREADS - R && at < t.pitch[view];
  uint2 sums = make_uint2 (0, 0);

  for (int y = max (y0 - R - 1, 0); y < min (y0 + R, f.height) && inside && KIND == BM_PRODUCT; y++) {
    uint32_t v = bm_pixel<KIND> (f.view[view], (ptrdiff_t) y * f.image_pitch + x);
    sums = make_uint2 (sums.x + v, sums.y + v * v);
  }
  for (int y = y0; y < min (y0 + INPUT_ROWS, f.height); y++) {
    bool enter = inside && y + R < f.height, leave = inside && y - R - 1 >= 0;
    uint32_t enters = enter ? bm_pixel<KIND> (f.view[view], (ptrdiff_t) (y + R) * f.image_pitch + x) : 0;
    uint32_t leaves = leave ? bm_pixel<KIND> (f.view[view], (ptrdiff_t) (y - R - 1) * f.image_pitch + x) : 0;
    if (stores)
      store_pair<KIND> (t, view, (size_t) (y + R) * t.pitch[view] + at, enters, leaves);
    if (KIND != BM_PRODUCT)
      continue;
    sums = make_uint2 (sums.x + enters - leaves, sums.y + enters * enters - leaves * leaves);
    columns[y & 1][threadIdx.x] = sums;
    __syncthreads ();
    if (!stores || y < 0)
      continue;
    uint2 all = make_uint2 (0, 0);
#pragma unroll
    for (int k = 0; k <= 2 * R; k++) {
      uint2 column = columns[y & 1][threadIdx.x - R + k];
      all = make_uint2 (all.x + column.x, all.y + column.y);
    }
    int taps = stereo_bm_rows (y, f.height, R) * (2 * R + 1);
    float norm = stereo_bm_norm (COST, taps, all.x, all.y) * (view == STEREO_RIGHT ? STEREO_BM_STEPS : 1);
    t.windows[view][(size_t) y * t.pitch[view] + at] = make_uint2 (
        COST == STEREO_COST_ZNCC ? all.x : all.y, __float_as_uint (norm));
  }
}

/* ---- inputs: costs of cut windows ----------------------------------------------------------------------- */

/* The sums that a cost is made of, over a column or a window. */
struct CutSums
{
  uint32_t pixels; /* differences or products */
  uint32_t sum_l, sum_r, squares_l, squares_r;
};

template <BmKind KIND> static __device__ __forceinline__ void
roll_cut (const Frame &f, ptrdiff_t row, int x, int m, bool enters, CutSums &s)
{
  uint32_t l = bm_pixel<KIND> (f.view[STEREO_LEFT], row + x), r = bm_pixel<KIND> (f.view[STEREO_RIGHT], row + m);
  uint32_t pixels = bm_add_raw<KIND> (l, r, 0);

  s.pixels += enters ? pixels : 0 - pixels;
  if (KIND != BM_PRODUCT)
    return;
  s.sum_l += enters ? l : 0 - l;
  s.sum_r += enters ? r : 0 - r;
  s.squares_l += enters ? l * l : 0 - l * l;
  s.squares_r += enters ? r * r : 0 - r * r;
}

/* The low bits that hold a cost: see BmBits. */
template <int COST, BmKind KIND> static __device__ uint16_t
cut_cost (const Frame &f, const CutSums &s, int taps)
{
  uint32_t cost;

  if (KIND == BM_PRODUCT)
    cost = stereo_bm_correlation (COST,
        stereo_bm_numerator (COST, taps, s.pixels, s.sum_l, s.sum_r, s.squares_l, s.squares_r),
        stereo_bm_norm (COST, taps, s.sum_l, s.squares_l),
        stereo_bm_norm (COST, taps, s.sum_r, s.squares_r) * STEREO_BM_STEPS);
  else
    cost = bm_mean_bits (s.pixels, stereo_bm_cost_factor (COST, f.volume_unit, taps));
  return (uint16_t) (BmBits<COST, KIND>::falls ? ~cost : cost);
}

/* Thread: one end of the columns of one candidate, down CUT_ROWS rows. */
template <int COST, BmKind KIND, int R> static __device__ void
make_cuts (const BmFusedTask &t, int y0)
{
  const Frame &f = t.f;
  int i = (int) (blockIdx.x * INPUT_THREADS + threadIdx.x), end = min (y0 + CUT_ROWS, f.height);
  bool from_last = i >= f.depth;
  i -= from_last ? f.depth : 0;
  BmSpan span = bm_span (f, i);
  int x = from_last ? span.last : span.first, step = from_last ? -1 : 1, m = f.width - 1 - x + f.min_disparity + i;
  CutSums columns[2 * R] = {};

  if (i >= f.depth || span.first > span.last || y0 >= end)
    return;
  for (int y = y0 - 2 * R; y < end; y++) {
    CutSums all = {};
    int taps = 0, rows = stereo_bm_rows (y, f.height, R);
#pragma unroll
    for (int c = 0; c < 2 * R; c++) {
      if (x + c * step >= span.first && x + c * step <= span.last) {
        if (y + R >= 0 && y + R < f.height)
          roll_cut<KIND> (f, (ptrdiff_t) (y + R) * f.image_pitch, x + c * step, m - c * step, true, columns[c]);
        if (y > y0 && y - R - 1 >= 0)
          roll_cut<KIND> (f, (ptrdiff_t) (y - R - 1) * f.image_pitch, x + c * step, m - c * step, false, columns[c]);
        all = { all.pixels + columns[c].pixels, all.sum_l + columns[c].sum_l, all.sum_r + columns[c].sum_r,
          all.squares_l + columns[c].squares_l, all.squares_r + columns[c].squares_r };
        taps += rows;
      }
      if (c >= R && y >= y0)
        t.cuts[((size_t) y * (2 * R) + (from_last ? R : 0) + c - R) * f.depth + i] = taps ?
            cut_cost<COST, KIND> (f, all, taps) :
            0;
    }
  }
}

template <int COST, BmKind KIND, int R> static __global__ void
__launch_bounds__ (INPUT_THREADS, 2) bm_inputs_kernel (BmFusedTask t)
{
  if (blockIdx.y < 2)
    make_inputs<COST, KIND, R> (t, blockIdx.y);
  else
    make_cuts<COST, KIND, R> (t, (int) (blockIdx.z * INPUT_ROWS + (blockIdx.y - 2) * CUT_ROWS));
}

/* ---- stage ------------------------------------------------------------------------------------------ */

/* Scratch memory of the stage: see BmFusedTask. */
struct BmFusedContext
{
  void *pairs[2];
  uint2 *windows[2];
  uint16_t *cuts;
};

/* How the picture is divided. */
struct Cutting
{
  int warps, stride, strips, chunks;
};

template <BmKind KIND, int R> static Cutting
cut_up (const StereoPlan *plan)
{
  const CudaState *state = cuda_state (plan);
  int warps = BM_FUSED_WARPS, narrow;
  Cutting c;

  while (warps > 4 && BmFusedShared<KIND, R>::bytes (32 * warps) > (size_t) state->shared_per_block)
    warps--;
  c.strips = (int) cuda_blocks (plan->width, (BM_GROUPS * warps - 2) * BM_WIDE);
  narrow = (int) cuda_blocks (cuda_blocks (cuda_blocks (plan->width, c.strips), BM_WIDE) + 2, BM_GROUPS);
  c.warps = narrow < warps ? narrow : warps;
  c.stride = (BM_GROUPS * c.warps - 2) * BM_WIDE;
  c.chunks = (int) cuda_blocks (plan->depth, 2 * BM_FUSED_PAIRS);
  return c;
}

/* Rows of a segment, such that the kernel takes the least time. A segment first sums up 3 * radius rows that it does
 * not make. Blocks with cut windows take longer: the last blocks end about the time of BM_FUSED_TAIL blocks after an
 * even share (measured on an H200). */
static int
choose_segment (int height, int columns, int slots, int radius)
{
  double least = INFINITY;
  int best = height;

  for (int segments = 1; segments <= 64 && segments <= height; segments++) {
    int rows = (int) cuda_blocks (height, segments);
    double cost = (rows + 3 * radius) * ((double) columns * segments / slots + BM_FUSED_TAIL);
    if (cost < least) {
      least = cost;
      best = rows;
    }
  }
  return best;
}

template <BmKind KIND, int R> static BmFusedTask
task_of (const StereoPlan *plan, const BmFusedContext *context, const Cutting *c)
{
  BmFusedTask t = {};

  t.f = cuda_frame (plan);
  t.stride = c->stride;
  t.end = c->strips * c->stride + BM_WIDE;
  t.pitch[STEREO_LEFT] = t.end + BM_WIDE;
  t.pitch[STEREO_RIGHT] = t.end + BM_WIDE + c->chunks * 2 * BM_FUSED_PAIRS;
  for (int v = 0; v < 2; v++) {
    t.pairs[v] = context->pairs[v];
    t.windows[v] = context->windows[v];
  }
  t.cuts = context->cuts;
  return t;
}

template <int COST, BmKind KIND, int R> static StereoStatus
launch_kernel (StereoPlan *plan, const Cutting *c, BmFusedTask t, StereoError *error)
{
  size_t shared = BmFusedShared<KIND, R>::bytes (32 * c->warps);
  auto kernel = bm_fused_kernel<COST, KIND, R>;
  int resident = 1;

  CUDA_TRY (cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) shared));
  CUDA_TRY (cudaOccupancyMaxActiveBlocksPerMultiprocessor (&resident, kernel, 32 * c->warps, shared));
  int slots = cuda_state (plan)->multiprocessors * (resident ? resident : 1);
  t.segment = choose_segment (plan->height, c->strips * c->chunks, slots, R);
  dim3 grid (cuda_blocks (plan->height, t.segment), c->chunks, c->strips);
  kernel<<<grid, dim3 (32, c->warps), shared, cuda_state (plan)->stream>>> (t);
  CUDA_LAUNCHED (plan, "bm_fused_kernel");
  return STEREO_OK;
}

template <int COST, BmKind KIND, int R> static StereoStatus
prepare (StereoPlan *plan, void *data, StereoError *error)
{
  BmFusedContext *context = (BmFusedContext *) data;
  Cutting c = cut_up<KIND, R> (plan);
  BmFusedTask t = task_of<KIND, R> (plan, context, &c);
  StereoStatus status;

  for (int v = 0; v < 2; v++) {
    size_t pixel = KIND != BM_PRODUCT ? sizeof (uint2) : v == STEREO_LEFT ? sizeof (uint32_t) : sizeof (uint16_t);
    size_t rows = (size_t) plan->height, pitch = (size_t) t.pitch[v];
    if ((status = stereo_reserve (plan, &context->pairs[v], pitch * (rows + R), pixel, error)))
      return status;
    if (KIND == BM_PRODUCT &&
        (status = stereo_reserve (plan, (void **) &context->windows[v], pitch * rows, sizeof (uint2), error)))
      return status;
  }
  return stereo_reserve (
      plan, (void **) &context->cuts, (size_t) plan->height * (2 * R) * (size_t) plan->depth, sizeof (uint16_t), error);
}

template <int COST, BmKind KIND, int R> static StereoStatus
run (StereoPlan *plan, void *context, StereoError *error)
{
  Cutting c = cut_up<KIND, R> (plan);
  BmFusedTask t = task_of<KIND, R> (plan, (const BmFusedContext *) context, &c);
  unsigned columns = cuda_blocks (t.pitch[STEREO_RIGHT], INPUT_THREADS - 2 * R);
  unsigned cuts = cuda_blocks (2 * plan->depth, INPUT_THREADS);
  dim3 grid (columns > cuts ? columns : cuts, 2 + INPUT_ROWS / CUT_ROWS, cuda_blocks (plan->height + R, INPUT_ROWS));

  bm_inputs_kernel<COST, KIND, R><<<grid, INPUT_THREADS, 0, cuda_state (plan)->stream>>> (t);
  CUDA_LAUNCHED (plan, "bm_inputs_kernel");
  return launch_kernel<COST, KIND, R> (plan, &c, t, error);
}

template <int COST, BmKind KIND, int R> static constexpr StereoStage fused_stage = {
  .name = "match", .context_size = sizeof (BmFusedContext), .prepare = prepare<COST, KIND, R>, .run = run<COST, KIND, R>
};

/* Windows of 5, 7 and 9; NULL: other windows, or a cost that compares single pixels. */
template <int COST> static const StereoStage *
stage_of_window (int window)
{
  constexpr BmKind KIND = bm_kind (COST);
  static_assert (KIND != BM_NO_KIND, "bm_kind() has no branch for a cost that bm takes");

  if constexpr (bm_compares_windows (KIND))
    switch (window) {
      case 5:
        return &fused_stage<COST, KIND, 2>;
      case 7:
        return &fused_stage<COST, KIND, 3>;
      case 9:
        return &fused_stage<COST, KIND, 4>;
    }
  return NULL;
}

}

/* Limits: SAD's sums fit 16 bits up to 81 taps, sums of costs the 23 bits of a float up to 121, and a thread gets four
 * columns from each neighbour. */
const StereoStage *
stereo_cuda_bm_fused (const StereoParams *params)
{
  const StereoStage *stage = NULL;

  for_cost<STEREO_METHOD_BM> (
      params->cost, [&] (auto cost) { stage = stage_of_window<decltype (cost)::value> (params->window); });
  return stage;
}
