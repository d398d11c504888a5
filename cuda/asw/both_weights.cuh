/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* First pass of support=both: makes the weights of a band of rows, as registers of the products. See
 * both_columns.cu. */
#ifndef STEREO_CUDA_ASW_BOTH_WEIGHTS_CUH
#define STEREO_CUDA_ASW_BOTH_WEIGHTS_CUH

#include "cuda/asw/both.cuh"

namespace
{

constexpr int RIGHT_SCALE = 15; /* right weights are stored times 2^RIGHT_SCALE */

/* Words of the weights of 16 pixels, of either view; a word has two slots. Tiles of 8 slots come two by two, and a last
 * one. */
template <int SLOT_TILES> struct Words
{
  static constexpr int tile = SLOT_TILES * 64;
};

/* What a lane needs of the taps of its two pixels: of slots 2 t and 2 t + 1 of each tile. */
template <int SLOT_TILES> struct ColumnTaps
{
  uint32_t color[2][SLOT_TILES][2]; /* of pixels g and g + 8 */
  float row[SLOT_TILES][2];         /* infinity outside the picture */
};

/* For the 8 rows around @row: the first tile is SLOT_TILES / 2 tiles above theirs. */
template <int SLOT_TILES> __device__ __forceinline__ void
load_taps (ColumnTaps<SLOT_TILES> &taps, const Frame &f, const uint32_t *a, const uint32_t *b, int row)
{
#pragma unroll
  for (int tile = 0; tile < SLOT_TILES; tile++)
#pragma unroll
    for (int q = 0; q < 2; q++) {
      int y = row + 8 * (tile - SLOT_TILES / 2) + q;
      size_t from = (size_t) min (max (y, 0), f.height - 1) * f.image_pitch;
      taps.color[0][tile][q] = a[from];
      taps.color[1][tile][q] = b[from];
      taps.row[tile][q] = y >= 0 && y < f.height ? (float) y : INFINITY;
    }
}

/* Weights of both pixels in row @y: the words of all tiles. */
template <int SLOT_TILES> __device__ __forceinline__ void
weigh (uint32_t (&words)[2][SLOT_TILES], const ColumnTaps<SLOT_TILES> &taps, uint32_t a, uint32_t b, float y,
    AswWindow w, float scale)
{
#pragma unroll
  for (int tile = 0; tile < SLOT_TILES; tile++) {
    float distance[2];
#pragma unroll
    for (int q = 0; q < 2; q++) {
      float away = fabsf (taps.row[tile][q] - y);
      distance[q] = away <= (float) w.radius ? fmaf (away, w.distance, scale) : -INFINITY;
    }
#pragma unroll
    for (int p = 0; p < 2; p++)
      words[p][tile] = pack_halves (cuda_weight (p ? b : a, taps.color[p][tile][0], w.color, distance[0]),
          cuda_weight (p ? b : a, taps.color[p][tile][1], w.color, distance[1]));
  }
}

/* In the order in which lanes read them: weights of the right view as registers of A, for 16 pixels, weights of the
 * left view as registers of B, for 8 pixels; tiles two by two, and a last one. */
template <int SLOT_TILES> __device__ __forceinline__ void
store_words (uint32_t *to, const uint32_t (&words)[2][SLOT_TILES], bool right, int lane)
{
#pragma unroll
  for (int s = 0; s < SLOT_TILES / 2; s++)
    if (right)
      ((uint4 *) (to + s * 128))[lane] = make_uint4 (
          words[0][2 * s], words[1][2 * s], words[0][2 * s + 1], words[1][2 * s + 1]);
    else
#pragma unroll
      for (int p = 0; p < 2; p++)
        ((uint2 *) (to + p * SLOT_TILES * 32 + s * 64))[lane] = make_uint2 (words[p][2 * s], words[p][2 * s + 1]);
  if (right)
    ((uint2 *) (to + SLOT_TILES / 2 * 128))[lane] = make_uint2 (words[0][SLOT_TILES - 1], words[1][SLOT_TILES - 1]);
  else
#pragma unroll
    for (int p = 0; p < 2; p++)
      (to + p * SLOT_TILES * 32 + SLOT_TILES / 2 * 64)[lane] = words[p][SLOT_TILES - 1];
}

/* Warp: 16 pixels of one view (blockIdx.z) by the 8 rows whose taps have the same slots (blockIdx.y); it reads each tap
 * once. Pixels past the right border get arbitrary weights, which no sum counts. */
template <int SLOT_TILES> __global__ void __launch_bounds__ (128)
    weigh_columns (Frame f, AswWindow w, uint32_t *words, int tiles, int band, int rows)
{
  int view = blockIdx.z, lane = threadIdx.x & 31, tile = blockIdx.x * 4 + (threadIdx.x >> 5), row = 8 * blockIdx.y;
  if (tile >= tiles)
    return;
  const uint32_t *color = f.view[view].likeness + tile * 16 + (lane >> 2);
  uint32_t *to = words + ((size_t) (view * rows + row) * tiles + tile) * Words<SLOT_TILES>::tile;
  ColumnTaps<SLOT_TILES> taps;

  load_taps (taps, f, color, color + 8, band + row + 2 * (lane & 3));
  for (int y = band + row; y < min (band + min (row + 8, rows), f.height); y++) {
    uint32_t made[2][SLOT_TILES];
    const uint32_t *centre = color + (size_t) y * f.image_pitch;
    weigh (made, taps, centre[0], centre[8], (float) y, w, view == STEREO_RIGHT ? (float) RIGHT_SCALE : 0.0f);
    store_words (to, made, view == STEREO_RIGHT, lane);
    to += (size_t) tiles * Words<SLOT_TILES>::tile;
  }
}

}

#endif
