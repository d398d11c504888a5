/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Raw costs of all pixels and candidates, a byte each, for the paths of semi-global matching. */
#include "cuda/sgm/paths.cuh"

#define THREADS 128
#define TILE 4                  /* columns and candidates of a thread */

static_assert ((int64_t) STEREO_MAX_SIDE * STEREO_MAX_DISPARITIES <= INT32_MAX, "items of a row");

/* What a cost reads of a pixel. */
template <int COST> struct Feature
{
  unsigned long long census;    /* AD: luma */
  uint32_t color;
  int gradient;
};

template <int COST> __device__ __forceinline__ Feature<COST>
feature_of (const StereoView &v, ptrdiff_t place)
{
  Feature<COST> p = { 0, 0, 0 };
  if (COST == STEREO_COST_AD)
    p.census = v.luma[place];
  else if (COST == STEREO_COST_CENSUS_9X7)
    p.census = ((const unsigned long long *) v.census)[place];
  else
    p.census = ((const uint32_t *) v.census)[place];
  if (COST == STEREO_COST_MIXED) {
    p.color = v.color[place];
    p.gradient = v.gradient[place];
  }
  return p;
}

template <int COST> __device__ __forceinline__ uint32_t
cost_of (const Feature<COST> &l, const Feature<COST> &r)
{
  if (COST == STEREO_COST_AD)
    return (uint32_t) abs ((int) l.census - (int) r.census);
  if (COST == STEREO_COST_CENSUS_9X7)
    return (uint32_t) __popcll (l.census ^ r.census);
  uint32_t bits = (uint32_t) __popc ((uint32_t) l.census ^ (uint32_t) r.census);
  if (COST == STEREO_COST_CENSUS_7X5)
    return bits;
  return 4 * bits + (uint32_t) stereo_mixed_part ((int) __vsadu4 (l.color, r.color), l.gradient - r.gradient);
}

/* A thread: TILE columns by TILE candidates, whose partners are 2 * TILE - 1 right pixels. Neighbouring threads take
 * neighbouring candidates. What does not exist costs 0. */
template <int COST> __global__ void __launch_bounds__ (THREADS)
cost_kernel (Frame f, uint8_t *costs)
{
  int groups = f.depth / TILE, item = blockIdx.x * THREADS + threadIdx.x, y = blockIdx.y;
  int x = item / groups * TILE, i = item % groups * TILE;
  ptrdiff_t row = (ptrdiff_t) y * f.image_pitch;
  Feature<COST> left[TILE], right[2 * TILE - 1];

  if (x >= f.width)
    return;
  int partner = f.width - 1 - x + f.min_disparity + i;          /* of column x at candidate i */
#pragma unroll
  for (int k = 0; k < TILE; k++)
    left[k] = feature_of<COST> (f.view[STEREO_LEFT], row + min (x + k, f.width - 1));
#pragma unroll
  for (int k = 0; k < 2 * TILE - 1; k++)
    right[k] = feature_of<COST> (f.view[STEREO_RIGHT], row + min (max (partner + k - (TILE - 1), 0), f.width - 1));
#pragma unroll
  for (int k = 0; k < TILE; k++) {
    uint32_t word = 0;
#pragma unroll
    for (int n = 0; n < TILE; n++) {
      int at = partner - k + n;
      uint32_t cost = cost_of (left[k], right[TILE - 1 - k + n]);
      word |= (at >= 0 && at < f.width && i + n < f.disparities ? cost : 0) << 8 * n;
    }
    if (x + k < f.width)
      *(uint32_t *) (costs + ((size_t) y * f.width + x + k) * f.depth + i) = word;
  }
}

template <int COST> static StereoStatus
launch_costs (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  size_t items = ((size_t) s.width + TILE - 1) / TILE * (size_t) (s.depth / TILE);
  cost_kernel<COST><<<dim3 (cuda_blocks (items, THREADS), s.height), THREADS, 0, cuda_state (plan)->stream>>>
      (cuda_frame (plan), s.costs);
  CUDA_LAUNCHED (plan, "cost_kernel");
  return STEREO_OK;
}

StereoStatus
sgm_make_costs (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  switch (plan->params.cost) {
    case STEREO_COST_CENSUS_7X5:
      return launch_costs<STEREO_COST_CENSUS_7X5> (plan, s, error);
    case STEREO_COST_CENSUS_9X7:
      return launch_costs<STEREO_COST_CENSUS_9X7> (plan, s, error);
    case STEREO_COST_MIXED:
      return launch_costs<STEREO_COST_MIXED> (plan, s, error);
    default:
      return launch_costs<STEREO_COST_AD> (plan, s, error);
  }
}
