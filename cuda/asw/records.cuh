/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Records: the features of 16 rows of one column, from which the first pass of support=left makes its raw costs.
 *
 * A record has a plane of 64 bytes for each feature that the cost reads: a lane loads four rows of a feature at once,
 * and finds every feature at a fixed distance. Records of neighbouring columns follow one another: a block copies the
 * run that it needs in one piece. 16 bytes between records let the lanes of a load read different banks. Right columns
 * are numbered by xm - min_disparity + RECORD_PAD. There are as many as candidates have; those outside the image are
 * never written and never reach a result.
 */
#ifndef STEREO_CUDA_ASW_RECORDS_CUH
#define STEREO_CUDA_ASW_RECORDS_CUH

#include "cuda/asw/weights.cuh"

namespace
{

/* How the features of a cost lie in a record. */
template <int COST> struct RecordFormat
{
  static constexpr int census = Cost<COST>::census_words; /* planes of 32 bits */
  static constexpr bool color = Cost<COST>::color;
  static constexpr bool level = Cost<COST>::level != Level::NONE; /* halves: the last plane */
  static constexpr int planes = census + color + level;
  static constexpr int bytes = 64 * planes + 16; /* of a record */
};

constexpr int RECORD_PAD = 8;      /* right columns before those of the image: the most columns of a block */
constexpr int RECORD_COLUMNS = 64; /* columns whose records a block makes */
constexpr int RECORD_THREADS = 256;
/* Words from row to row and from feature to feature of a tile: the lanes that read it transposed read different banks. */
constexpr int RECORD_PITCH = RECORD_COLUMNS + 2, RECORD_PLANE = 16 * RECORD_PITCH + 2;

/* The record of 16 rows of a column is at view[v] + (row / 16 * columns[v] + column) * bytes. What the
 * weights compare of the left view is in the same order: 16 rows a column. */
struct Records
{
  uint8_t *view[2];
  uint32_t *color;
  int columns[2];
};

/* Four rows of a column. */
template <int COST> struct FourRows
{
  uint4 census[RecordFormat<COST>::census + 1], color; /* one more, because an array must not be empty */
  uint2 level;
};

/* @from: in shared memory, 16 bytes after the start of the record for every four rows. */
template <int COST> __device__ __forceinline__ void
load_rows (FourRows<COST> &rows, const uint8_t *from)
{
  typedef RecordFormat<COST> F;
#pragma unroll
  for (int c = 0; c < F::census; c++)
    rows.census[c] = *(const uint4 *) (from + 64 * c);
  if (F::color)
    rows.color = *(const uint4 *) (from + 64 * F::census);
  if (F::level)
    rows.level = *(const uint2 *) (from + 64 * (F::census + F::color));
}

/* Packed costs of a left and a right column: of rows 0 and 1, and of rows 2 and 3. */
template <int COST> __device__ __forceinline__ void
four_costs (const FourRows<COST> &l, const FourRows<COST> &r, uint32_t (&costs)[2])
{
  typedef RecordFormat<COST> F;
  TwoDifferences d[2] = {};
#pragma unroll
  for (int c = 0; c < F::census; c++) {
    d[0].bits[0] += __popc (l.census[c].x ^ r.census[c].x);
    d[0].bits[1] += __popc (l.census[c].y ^ r.census[c].y);
    d[1].bits[0] += __popc (l.census[c].z ^ r.census[c].z);
    d[1].bits[1] += __popc (l.census[c].w ^ r.census[c].w);
  }
  if (F::color) {
    d[0].sad[0] = __vsadu4 (l.color.x, r.color.x);
    d[0].sad[1] = __vsadu4 (l.color.y, r.color.y);
    d[1].sad[0] = __vsadu4 (l.color.z, r.color.z);
    d[1].sad[1] = __vsadu4 (l.color.w, r.color.w);
  }
  if (F::level) {
    d[0].level = __habs2 (__hsub2 (halves_of (l.level.x), halves_of (r.level.x)));
    d[1].level = __habs2 (__hsub2 (halves_of (l.level.y), halves_of (r.level.y)));
  }
  costs[0] = Cost<COST>::of_two_pairs (d[0]);
  costs[1] = Cost<COST>::of_two_pairs (d[1]);
}

/* ---- making the records --------------------------------------------------------------------------------- */

/* One feature of a pixel as a record has it: 32 bits, or 16 of the level. */
template <int COST> __device__ __forceinline__ uint32_t
feature (const StereoView &view, size_t at, int plane)
{
  typedef RecordFormat<COST> F;
  if (plane < F::census)
    return ((const uint32_t *) view.census)[at * F::census + plane];
  if (F::color && plane == F::census)
    return view.color[at];
  return __half_as_ushort (__int2half_rn (Cost<COST>::level == Level::LUMA ? view.luma[at] : view.gradient[at]));
}

/*
 * Block: the records of 64 columns (blockIdx.x) and 16 rows (blockIdx.y) of one view (blockIdx.z), transposed in shared
 * memory. Rows past the image are set to 0. Their weights are 0 too, but 0 times NaN would be NaN.
 */
template <int COST> __global__ void
__launch_bounds__ (RECORD_THREADS)
    make_records (const __grid_constant__ Frame f, const __grid_constant__ Records records)
{
  typedef RecordFormat<COST> F;
  __shared__ uint32_t tile[(F::planes + 1) * RECORD_PLANE];
  const StereoView &view = f.view[blockIdx.z];
  int x0 = blockIdx.x * RECORD_COLUMNS, y0 = blockIdx.y * 16;
  int first = blockIdx.z ? RECORD_PAD - f.min_disparity : 0;

#pragma unroll
  for (int e = threadIdx.x; e < 16 * RECORD_COLUMNS; e += RECORD_THREADS) {
    int c = e % RECORD_COLUMNS, r = e / RECORD_COLUMNS;
    bool inside = x0 + c < f.width && y0 + r < f.height;
    size_t at = (size_t) (y0 + r) * f.image_pitch + x0 + c;
    uint32_t *to = tile + r * RECORD_PITCH + c;
#pragma unroll
    for (int p = 0; p < F::planes; p++)
      to[p * RECORD_PLANE] = inside ? feature<COST> (view, at, p) : 0;
    if (blockIdx.z == STEREO_LEFT)
      to[F::planes * RECORD_PLANE] = inside ? view.likeness[at] : 0;
  }
  __syncthreads ();
  /* a thread: four rows of a feature */
#pragma unroll
  for (int e = threadIdx.x; e < (F::planes + 1) * 4 * RECORD_COLUMNS; e += RECORD_THREADS) {
    int p = e / 4 % (F::planes + 1), c = e / 4 / (F::planes + 1), r = e % 4 * 4, x = x0 + c;
    const uint32_t *from = tile + p * RECORD_PLANE + r * RECORD_PITCH + c;
    if (x >= f.width || x + first < 0 || x + first >= records.columns[blockIdx.z] ||
        (p == F::planes && blockIdx.z != STEREO_LEFT))
      continue;
    uint4 rows = make_uint4 (from[0], from[RECORD_PITCH], from[2 * RECORD_PITCH], from[3 * RECORD_PITCH]);
    size_t record = (size_t) blockIdx.y * records.columns[blockIdx.z] + x + first;
    uint8_t *to = records.view[blockIdx.z] + record * F::bytes + 64 * p + 4 * r;
    if (p == F::planes) {
      *(uint4 *) (records.color + 16 * record + r) = rows;
    } else if (F::level && p == F::planes - 1) {
      *(uint2 *) to = make_uint2 (rows.x | rows.y << 16, rows.z | rows.w << 16);
    } else {
      *(uint4 *) to = rows;
    }
  }
}

}

#endif
