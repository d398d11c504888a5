/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether the views agree about a pixel (3.2.4), four of a row at a time: rows of maps are whole vectors of them. */
#ifndef STEREO_CUDA_POST_CHECK_CUH
#define STEREO_CUDA_POST_CHECK_CUH

#include "cuda/common.cuh"

namespace
{

constexpr int FOUR = 4;
static __device__ __forceinline__ void
load_four (const uint16_t *from, int (&to)[FOUR])
{
  uint2 pairs = *(const uint2 *) from;
  to[0] = (int) (pairs.x & 0xFFFF);
  to[1] = (int) (pairs.x >> 16);
  to[2] = (int) (pairs.y & 0xFFFF);
  to[3] = (int) (pairs.y >> 16);
}

/* Which of the pixels from column @x on, of indices @index, the other view's indices contradict, or lie outside it. @row: of its map. */
static __device__ __forceinline__ void
find_contradicted (const Frame &f, const StereoView &other, size_t row, int x, const int (&index)[FOUR],
    int consistency, bool (&contradicted)[FOUR])
{
  int partner[FOUR];

#pragma unroll
  for (int k = 0; k < FOUR; k++) {
    bool some = x + k < f.width && index[k] != (int) STEREO_INVALID;
    int place = f.width - 1 - (x + k) + f.min_disparity + index[k];
    contradicted[k] = some && (unsigned) place >= (unsigned) f.width;
    partner[k] = some && !contradicted[k] ? other.index[row + place] : index[k];
  }
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    contradicted[k] |= abs (partner[k] - index[k]) > consistency;
}

/* Takes from the @contradicted pixels of the left view, from column @x on, those that the check leaves alone. They are few: one
 * is looked at at a time, so that the code stands here once and its registers are few. */
static __device__ __forceinline__ void
leave_near (const Frame &f, int x, int y, bool (&contradicted)[FOUR])
{
  const StereoView &l = f.view[STEREO_LEFT], &r = f.view[STEREO_RIGHT];
  size_t map = (size_t) y * f.map_pitch, image = (size_t) y * f.image_pitch;
  unsigned left = 0, kept = 0;

  if (!f.keeps_near)
    return;
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    left |= contradicted[k] ? 1u << k : 0;
#pragma unroll 1
  for (; left; left &= left - 1) {
    int k = __ffs ((int) left) - 1, own = l.index[map + x + k], partner = f.width - 1 - (x + k) + f.min_disparity + own;
    if ((unsigned) partner < (unsigned) f.width &&
        stereo_is_left_alone (l.luma + image, r.luma + image, f.image_pitch, f.width, f.height, x + k, y, own, partner,
            r.index[map + partner]))
      kept |= 1u << k;
  }
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    contradicted[k] = contradicted[k] && !(kept >> k & 1);
}

}

#endif
