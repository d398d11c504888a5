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
/* The record of 16 rows of a column is at view[v] + (row / 16 * columns[v] + column) * bytes. What the
 * weights compare of the left view is in the same order: 16 rows a column. */
struct Records
{
  uint8_t *view[2];
  uint32_t *color;
  int columns[2];
};

/* Words of neighbouring rows, 1, 2 or 4 of them, which are loaded at once. */
template <int N> struct __align__ (4 * N) RowWords
{
  uint32_t of[N];
};

/* N rows of a column, two or four. */
template <int COST, int N = 4> struct SomeRows
{
  RowWords<N> census[RecordFormat<COST>::census + 1], color; /* one more, because an array must not be empty */
  RowWords<N / 2> level;
};

/* The rows from @row on, a multiple of N, of the record at @from. */
template <int COST, int N> __device__ __forceinline__ void
load_rows (SomeRows<COST, N> &rows, const uint8_t *from, int row)
{
  typedef RecordFormat<COST> F;
#pragma unroll
  for (int c = 0; c < F::census; c++)
    rows.census[c] = *(const RowWords<N> *) (from + 64 * c + 4 * row);
  if (F::color)
    rows.color = *(const RowWords<N> *) (from + 64 * F::census + 4 * row);
  if (F::level) /* halves of four rows begin every 16 bytes */
    rows.level = *(const RowWords<N / 2> *) (from + 64 * (F::census + F::color) + 4 * row - row % 4 * 2);
}

/* Packed costs of a left and a right column, of two rows each. */
template <int COST, int N> __device__ __forceinline__ void
costs_of_rows (const SomeRows<COST, N> &l, const SomeRows<COST, N> &r, uint32_t (&costs)[N / 2])
{
  typedef RecordFormat<COST> F;
#pragma unroll
  for (int k = 0; k < N / 2; k++) {
    TwoDifferences d = {};
#pragma unroll
    for (int h = 0; h < 2; h++) {
#pragma unroll
      for (int c = 0; c < F::census; c++)
        d.bits[h] += __popc (l.census[c].of[2 * k + h] ^ r.census[c].of[2 * k + h]);
      if (F::color)
        d.sad[h] = __vsadu4 (l.color.of[2 * k + h], r.color.of[2 * k + h]);
    }
    if (F::level)
      d.level = __habs2 (__hsub2 (halves_of (l.level.of[k]), halves_of (r.level.of[k])));
    costs[k] = Cost<COST>::of_two_pairs (d);
  }
}

/* ---- making the records --------------------------------------------------------------------------------- */

/* The records of a block as they lie in global memory, and its colours, with gaps that let lanes write to different banks. */
template <int COST> struct RecordTile
{
  static constexpr int vectors = RecordFormat<COST>::bytes / 16; /* of a record */
  uint4 record[RECORD_COLUMNS * vectors];
  uint4 color[RECORD_COLUMNS][5];
};

/* Writes the words of four neighbouring columns, @pitch words apart. */
static __device__ __forceinline__ void
put_four (uint32_t *to, int pitch, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
  to[0] = a;
  to[pitch] = b;
  to[2 * pitch] = c;
  to[3 * pitch] = d;
}

/* The levels of four neighbouring pixels. */
template <int COST> static __device__ __forceinline__ short4
four_levels (const StereoView &view, size_t at)
{
  if (Cost<COST>::level == Level::GRADIENT)
    return *(const short4 *) (view.gradient + at);
  uchar4 luma = *(const uchar4 *) (view.luma + at);
  return make_short4 (luma.x, luma.y, luma.z, luma.w);
}

/* Writes the features of four pixels of row @row, from column 4 * @four of the block on. Rows past the image are 0. Their
 * weights are 0 too, but 0 times NaN would be NaN. */
template <int COST> static __device__ __forceinline__ void
put_features (const StereoView &view, size_t at, bool inside, bool left, int four, int row, RecordTile<COST> *tile)
{
  typedef RecordFormat<COST> F;
  const uint4 none = make_uint4 (0, 0, 0, 0);
  const int PITCH = F::bytes / 4;
  uint32_t *to = (uint32_t *) (tile->record + 4 * four * RecordTile<COST>::vectors) + row;
  uint4 census[F::census + 1], color = none, likeness = none;
  short4 level = make_short4 (0, 0, 0, 0);

#pragma unroll
  for (int c = 0; c < F::census; c++)
    census[c] = inside ? ((const uint4 *) ((const uint32_t *) view.census + at * F::census))[c] : none;
  if (F::color && inside)
    color = *(const uint4 *) (view.color + at);
  if (F::level && inside)
    level = four_levels<COST> (view, at);
  if (left && inside)
    likeness = *(const uint4 *) (view.likeness + at);
  if constexpr (F::census == 1) {
    put_four (to, PITCH, census[0].x, census[0].y, census[0].z, census[0].w);
  } else if constexpr (F::census == 2) { /* of each pixel two words */
    put_four (to, PITCH, census[0].x, census[0].z, census[1].x, census[1].z);
    put_four (to + 16, PITCH, census[0].y, census[0].w, census[1].y, census[1].w);
  }
  if (F::color)
    put_four (to + 16 * F::census, PITCH, color.x, color.y, color.z, color.w);
  if (F::level) { /* halves of four rows begin every 16 bytes */
    __half *half = (__half *) (to - row + 16 * (F::census + F::color) + row / 4 * 4) + row % 4;
    half[0] = __int2half_rn (level.x);
    half[2 * PITCH] = __int2half_rn (level.y);
    half[4 * PITCH] = __int2half_rn (level.z);
    half[6 * PITCH] = __int2half_rn (level.w);
  }
  if (left)
    put_four ((uint32_t *) tile->color[4 * four] + row, 20, likeness.x, likeness.y, likeness.z, likeness.w);
}

/*
 * Block: the records of 64 columns (blockIdx.x) and 16 rows (blockIdx.y) of one view (blockIdx.z), transposed in shared
 * memory: a thread loads four pixels of a row, a warp 16 pixels of 8 rows. The records are then copied in one piece, every
 * byte of them, so that no sector of memory is written in part.
 */
template <int COST> __global__ void
__launch_bounds__ (RECORD_THREADS)
    make_records (const __grid_constant__ Frame f, const __grid_constant__ Records records)
{
  typedef RecordTile<COST> Tile;
  __shared__ Tile tile;
  const StereoView &view = f.view[blockIdx.z];
  const bool left = blockIdx.z == STEREO_LEFT;
  int thread = threadIdx.x, x0 = blockIdx.x * RECORD_COLUMNS, y0 = blockIdx.y * 16,
      columns = records.columns[blockIdx.z];
  int four = thread / 64 * 4 + thread % 4, row = thread / 4 % 16, x = x0 + 4 * four, y = y0 + row;
  static_assert (RECORD_COLUMNS == 64 && RECORD_THREADS == 4 * RECORD_COLUMNS, "four pixels a thread");

  put_features<COST> (view, (size_t) y * f.image_pitch + x, x < f.width && y < f.height, left, four, row, &tile);
  __syncthreads ();
  /* the first column, and how many there are: see Records */
  int first = left ? 0 : RECORD_PAD - f.min_disparity, skipped = max (-first - x0, 0);
  int count = min (min (x0 + RECORD_COLUMNS, f.width), columns - first) - x0 - skipped;
  size_t record = (size_t) blockIdx.y * columns + (ptrdiff_t) (x0 + first + skipped);
  uint4 *to = (uint4 *) records.view[blockIdx.z] + record * Tile::vectors;
  const uint4 *from = tile.record + skipped * Tile::vectors;
#pragma unroll
  for (int k = 0; k < (RECORD_COLUMNS * Tile::vectors + RECORD_THREADS - 1) / RECORD_THREADS; k++)
    if (thread + k * RECORD_THREADS < count * Tile::vectors)
      to[thread + k * RECORD_THREADS] = from[thread + k * RECORD_THREADS];
  if (left && thread < 4 * count)
    ((uint4 *) (records.color + 16 * record))[thread] = tile.color[thread / 4][thread % 4];
}

}

#endif
