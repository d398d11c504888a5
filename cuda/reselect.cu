/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two lowest of cost + penalty (3.2.3), and the consistency of both views (3.2.4). */
#include "cuda/common.cuh"

/* The lowest two of what was considered; ties of the lowest go to the smaller index, in any order. */
struct Best
{
  uint32_t lowest, next;
  int index;
};

static __device__ __forceinline__ void
consider (Best &b, uint32_t cost, int index)
{
  bool better = cost < b.lowest || (cost == b.lowest && index < b.index);
  b.next = min (b.next, better ? b.lowest : cost);
  b.lowest = better ? cost : b.lowest;
  b.index = better ? index : b.index;
}

/* Costs of one pixel: costs[i * step]. */
struct Candidates
{
  const uint16_t *costs;
  ptrdiff_t step;
  uint32_t alpha;
  int expected;

  __device__ uint32_t
  cost (int i) const
  {
    return costs[i * step];
  }

  __device__ uint32_t
  penalised (int i) const
  {
    return cost (i) + stereo_penalty (alpha, expected, i);
  }
};

/* Some candidates' second-lowest total: no more than that of all. The nearest to the expected disparity
 * are likely to be low. */
static __device__ uint32_t
bound (const Candidates &c, int first, int second, int valid_from, int valid_to)
{
  Best b = { 0xFFFFFFFFu, 0xFFFFFFFFu, 0 };
  int near = min (max (c.expected / STEREO_EXPECT_STEPS, valid_from), valid_to);

  consider (b, c.penalised (first), first);
  consider (b, c.penalised (second), second);
  if (near != first && near != second)
    consider (b, c.penalised (near), near);
  if (near < valid_to && near + 1 != first && near + 1 != second)
    consider (b, c.penalised (near + 1), near + 1);
  return b.next;
}

/*
 * Any candidate but first and second costs at least as much as second, so that one whose penalty alone
 * exceeds bound - second's cost is not among the two lowest; neither is one farther from the expected
 * disparity than both first and second.
 */
static __device__ int
reach_of (const Candidates &c, int first, int second, int valid_from, int valid_to)
{
  int reach = max (abs (c.expected - first * STEREO_EXPECT_STEPS), abs (c.expected - second * STEREO_EXPECT_STEPS));
  uint32_t margin = bound (c, first, second, valid_from, valid_to) - c.cost (second);

  if (c.alpha == 0)
    return reach;
  return (int) min ((uint32_t) reach, ((margin << 8) + 255) / c.alpha);
}

static __device__ void
reselect_pixel (const Frame &f, const StereoView &view, size_t map, int x, Candidates c)
{
  int first = view.first[map], second = view.second[map];

  view.index[map] = (uint16_t) first;
  if (second == (int) STEREO_INVALID) {
    view.confidence[map] = 0;
    return;
  }
  c.expected = view.expected[map];
  if (c.expected == STEREO_EXPECT_NONE) {
    view.confidence[map] = stereo_confidence (c.cost (first), c.cost (second));
    return;
  }
  int valid_from = stereo_first_index (x, f.width, f.min_disparity);
  int valid_to = stereo_last_index (x, f.disparities, f.min_disparity);
  int reach = reach_of (c, first, second, valid_from, valid_to);
  int from = c.expected > reach ? (c.expected - reach + STEREO_EXPECT_STEPS - 1) / STEREO_EXPECT_STEPS : 0;
  int to = min ((c.expected + reach) / STEREO_EXPECT_STEPS, valid_to);
  Best b = { 0xFFFFFFFFu, 0xFFFFFFFFu, 0 };

  from = max (from, valid_from);
  for (int i = from; i <= to; i++)
    consider (b, c.penalised (i), i);
  if (first < from || first > to)
    consider (b, c.penalised (first), first);
  if (second < from || second > to)
    consider (b, c.penalised (second), second);
  view.index[map] = (uint16_t) b.index;
  view.confidence[map] = stereo_confidence (b.lowest, b.next);
}

/* A thread per pixel; blocks of the two views alternate, so that both find a row's costs in the cache. Left
 * pixels read along a column of the volume, right ones along a diagonal, of which neighbouring threads
 * read neighbouring elements one step later. */
static __global__ void
reselect_kernel (Frame f)
{
  int x = blockIdx.x / 2 * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, view = blockIdx.x % 2;

  if (x >= f.width || y >= f.height)
    return;
  ptrdiff_t column = view == STEREO_LEFT ? x : f.width - 1 - x + f.min_disparity;       /* of index 0 */
  const uint16_t *row = f.volume + (size_t) y * f.width * f.depth;
  Candidates c = { row + column * f.depth, view == STEREO_LEFT ? 1 : f.depth + 1, f.alpha, 0 };
  reselect_pixel (f, f.view[view], (size_t) y * f.map_pitch + x, x, c);
}

/* A thread per pixel, a plane of the grid per view: each writes its own confidence and reads only indices
 * of the other. */
static __global__ void
check_kernel (Frame f, int consistency)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, view = blockIdx.z;

  if (x >= f.width || y >= f.height)
    return;
  size_t row = (size_t) y * f.map_pitch;
  int index = f.view[view].index[row + x];
  if (index == (int) STEREO_INVALID)
    return;
  int partner = f.width - 1 - x + f.min_disparity + index;
  if (abs (f.view[!view].index[row + partner] - index) > consistency)
    f.view[view].confidence[row + x] = 0;
}

static StereoStatus
reselect_run (StereoPlan *plan, StereoError *error)
{
  dim3 block (32, 8), grid (2 * cuda_blocks (plan->width, 32), cuda_blocks (plan->height, 8));
  reselect_kernel <<<grid, block, 0, cuda_state (plan)->stream>>> (cuda_frame (plan));
  CUDA_LAUNCHED (plan, "reselect_kernel");
  return STEREO_OK;
}

static StereoStatus
check_run (StereoPlan *plan, StereoError *error)
{
  dim3 block (32, 8), grid (cuda_blocks (plan->width, 32), cuda_blocks (plan->height, 8), 2);
  check_kernel <<<grid, block, 0, cuda_state (plan)->stream>>> (cuda_frame (plan), plan->params.consistency);
  CUDA_LAUNCHED (plan, "check_kernel");
  return STEREO_OK;
}

extern const StereoStage stereo_cuda_reselect = { "reselect", NULL, reselect_run };
extern const StereoStage stereo_cuda_check = { "check", NULL, check_run };
