/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel of fused_task.cuh: from sums to costs, the ring of costs, from sums of costs to means. */
#ifndef STEREO_CUDA_BM_FUSED_KERNEL_CUH
#define STEREO_CUDA_BM_FUSED_KERNEL_CUH

#include "cuda/bm/fused_task.cuh"

namespace
{

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

template <int R, int DEPTH> static __device__ __forceinline__ void
bm_store_means (
    const Frame &f, const BmFusedPlace &p, const float *factors, int y, const uint32_t *first, const uint32_t *second)
{
  int depth = DEPTH ? DEPTH : f.depth, pitch = depth / 2, rows = stereo_bm_rows (y, f.height, R);
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
template <int R, int DEPTH> static __device__ __forceinline__ void
bm_absent_strip (const Frame &f, const BmFusedPlace &p, int y0, int first, int end)
{
  int depth = DEPTH ? DEPTH : f.depth, columns = p.inner && p.i < depth ? min (f.width - p.x, BM_WIDE) : 0;
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
 * pair of candidates and a group of columns. R: the radius of both windows; DEPTH: of the volume, 0: any. Shared
 * memory: see BmFusedShared; lanes next to each other have neighbouring pairs. */
template <int COST, BmKind KIND, int R, int DEPTH>
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
    bm_absent_strip<R, DEPTH> (f, p, y0, first, end);
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
      bm_store_means<R, DEPTH> (f, p, s.means, y - R, sums_a, sums_b);
    }
  }
}

}

#endif
