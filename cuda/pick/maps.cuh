/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How selection leaves the lowest keys of pixels in the maps. */
#ifndef STEREO_CUDA_PICK_MAPS_CUH
#define STEREO_CUDA_PICK_MAPS_CUH

#include "cuda/pick/lowest.cuh"

namespace
{

/* The right pixel that is the partner of column @x at index @i. */
static __device__ __forceinline__ int
right_pixel (const Frame &f, int x, int i)
{
  return f.width - 1 - x + f.min_disparity + i;
}

/* Stores the lowest keys of a pixel, element @map of the maps; returns its first index. With @again the maps hold results of
 * other candidates, which are merged. Of one key KEPT there is no confidence. */
template <int KEPT> static __device__ int
store_lowest (const Frame &f, const Selection &found, int v, size_t map, bool again, Lowest l)
{
  const StereoView &view = f.view[v];

  if (again) {
    uint32_t before = found.costs[v][map];
    Lowest other = { before << 16 | view.first[map], (before & 0xFFFF0000u) | view.second[map] };
    l = merge (l, other);
  }
  bool some = l.first >> 16 != STEREO_INVALID, more = l.second >> 16 != STEREO_INVALID;
  view.first[map] = view.index[map] = some ? (uint16_t) l.first : (uint16_t) STEREO_INVALID;
  if (KEPT > 1) {
    view.second[map] = more ? (uint16_t) l.second : (uint16_t) STEREO_INVALID;
    view.confidence[map] = more ? stereo_confidence (l.first >> 16, l.second >> 16) : 0.0f;
  }
  if (found.costs[v])
    found.costs[v][map] = l.first >> 16 | (l.second & 0xFFFF0000u);
  if (found.remembered[v])
    found.remembered[v][map] = 0;
  return some ? (int) (l.first & 0xFFFF) : (int) STEREO_INVALID;
}

/* By a block: stores the right pixels of a row that are no column's partner at the first @indices. @row: of the maps. */
template <int KEPT> static __device__ void
blank_right (const Frame &f, const Selection &found, size_t row, int indices)
{
  Lowest none = { NO_KEY, NO_KEY };
  for (int x = threadIdx.x; x < f.width; x += blockDim.x)
    if (x < right_pixel (f, f.width - 1, 0) || x > right_pixel (f, 0, indices - 1))
      store_lowest<KEPT> (f, found, STEREO_RIGHT, row + x, false, none);
}

}

#endif
