/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the kernels of refinement share (3.2.3): the window and the expected disparity; and the inner loop over the full
 * window. There a thread has four neighbouring pixels and takes the taps of a line in groups of four: it loads a tap
 * once for four pixels. Taps of the first and the last group that are beyond the window have an infinite distance.
 */
#ifndef STEREO_CUDA_POST_REFINE_WINDOW_CUH
#define STEREO_CUDA_POST_REFINE_WINDOW_CUH

#include "cuda/common.cuh"

namespace
{

constexpr int REFINE_MOST = 64; /* the largest radius, 63, in whole groups */
constexpr int REFINE_DISTANCES = 2 * REFINE_MOST + 8;
struct Window
{
  int radius, rounded;   /* rounded: radius in whole groups of four, rounded up */
  float color, distance; /* base-2 factors of SAD and distance (4.4.1) */
};

static inline Window
window_of (const StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  int radius = p->refine_window / 2;
  Window w = { radius, (radius + 3) / 4 * 4, (float) (-STEREO_LOG2E / p->refine_gamma_color),
    (float) (-STEREO_LOG2E / p->refine_gamma_distance) };
  return w;
}

/* Unnormalised sums of w F and w F D of four pixels. */
struct Sums
{
  float confidence[4], product[4];
};

/* Distance terms of offsets from -rounded - 3 on, as add_group() reads them: tap a of group g is 4 g - rounded + a pixels
 * from the first pixel. @across: the offset in the other direction. */
static __device__ float
distance_term (const Window &w, int place, int across)
{
  int along = abs (place - 3 - w.rounded);
  if (along > w.radius || abs (across) > w.radius)
    return -INFINITY;
  return w.distance * (across ? sqrtf ((float) (along * along + across * across)) : (float) along);
}

/* @distances: of the group, from place 4 g on; aligned to 16 bytes. */
static __device__ __forceinline__ void
add_group (Sums &s, const uint32_t *centre, uint4 color, float4 confidence, float4 product, const float *distances,
    float color_factor)
{
  const uint32_t colors[4] = { color.x, color.y, color.z, color.w };
  const float trusts[4] = { confidence.x, confidence.y, confidence.z, confidence.w };
  const float products[4] = { product.x, product.y, product.z, product.w };
  float4 d0 = ((const float4 *) distances)[0], d1 = ((const float4 *) distances)[1];
  const float d[8] = { d0.x, d0.y, d0.z, d0.w, d1.x, d1.y, d1.z, d1.w };

#pragma unroll
  for (int tap = 0; tap < 4; tap++)
#pragma unroll
    for (int k = 0; k < 4; k++) {
      float weight = cuda_weight (centre[k], colors[tap], color_factor, d[3 + tap - k]);
      s.confidence[k] = fmaf (weight, trusts[tap], s.confidence[k]);
      s.product[k] = fmaf (weight, products[tap], s.product[k]);
    }
}

/* rint (sum of w F D / sum of w F) in steps of 1/64; none where no neighbour has confidence. */
static __device__ int
expected_of (float confidence, float product)
{
  return confidence > 0 ? (int) rintf (product / confidence * STEREO_EXPECT_STEPS) : STEREO_EXPECT_NONE;
}

/* Stores four neighbours at once: rows of maps are whole groups. */
static __device__ void
store_expected (const StereoView &view, size_t map, const Sums &s)
{
  *(int4 *) (view.expected + map) = make_int4 (expected_of (s.confidence[0], s.product[0]),
      expected_of (s.confidence[1], s.product[1]), expected_of (s.confidence[2], s.product[2]),
      expected_of (s.confidence[3], s.product[3]));
}

}

#endif
