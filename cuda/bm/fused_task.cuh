/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Block matching, both steps in one kernel, for costs that compare small windows: see stereo_cuda_bm_fused().
 * stereo/exact/bm.h has the equations and the rounding.
 *
 * windows.cuh does one step after the other and stores the costs of the first step in global memory. Here both steps
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
#ifndef STEREO_CUDA_BM_FUSED_TASK_CUH
#define STEREO_CUDA_BM_FUSED_TASK_CUH

#include "cuda/bm/windows.cuh"

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
  uint2 *windows[2];    /* from row 0 on, columns as above: see BmLine */
  uint16_t *cuts;       /* [y][end][i]: costs of cut windows: R from the first column, R from the last one */
};

/* Columns that have candidate @i. */
struct BmSpan
{
  int first, last;
};

static __device__ __forceinline__ BmSpan
bm_span (const Frame &f, int i)
{
  int away = f.min_disparity + i;
  BmSpan s = { max (0, away), i < f.disparities ? min (f.width - 1, f.width - 1 + away) : -1 };
  return s;
}

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

}

#endif
