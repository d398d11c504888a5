/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The two lowest of cost + penalty (3.2.3), and the consistency of both views (3.2.4). */
#include "cuda/common.cuh"

#define BLOCK_X 64
#define BLOCK_Y 4
#define SEARCHERS 8             /* lanes that search one pixel's candidates; divides 32 */
#define ALL_LANES 0xFFFFFFFFu

/* What select found the lowest two costs to be. */
struct CostMaps
{
  const uint32_t *view[2];
};

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

/* A pixel whose two lowest are sought: what select left of it, and where its costs stand: costs[i * step]. */
struct Pixel
{
  const uint16_t *costs;
  ptrdiff_t step;
  uint32_t cost1, cost2, alpha;
  int first, second, expected;
  int valid_from, valid_to;

  __device__ __forceinline__ uint32_t
  penalised (uint32_t cost, int i) const
  {
    return cost + stereo_penalty (alpha, expected, i);
  }
};

static __device__ Pixel
pixel_at (const Frame &f, const uint32_t *lowest, int v, int x, int y)
{
  size_t map = (size_t) y * f.map_pitch + x;
  ptrdiff_t column = v == STEREO_LEFT ? x : f.width - 1 - x + f.min_disparity; /* of index 0 */
  const StereoView &view = f.view[v];
  Pixel p;

  p.costs = f.volume + ((ptrdiff_t) y * f.width + column) * f.depth;
  p.step = v == STEREO_LEFT ? 1 : f.depth + 1;
  p.cost1 = lowest[map] & 0xFFFF;
  p.cost2 = lowest[map] >> 16;
  p.alpha = f.alpha;
  p.first = view.first[map];
  p.second = view.second[map];
  p.expected = view.expected[map];
  p.valid_from = stereo_first_index (x, f.width, f.min_disparity);
  p.valid_to = stereo_last_index (x, f.disparities, f.min_disparity);
  return p;
}

/* Indices @from..@to. */
struct Range
{
  int from, to;

  __device__ bool
  inside (int low, int high) const
  {
    return from >= low && to <= high;
  }
};

/*
 * Where the two lowest may be besides first and second, when some candidates' second-lowest total is
 * @next: any other candidate costs at least as much as second, so that one whose penalty alone exceeds
 * next - second's cost is not among the two lowest; neither is one farther from the expected disparity than
 * both first and second.
 */
static __device__ Range
range_of (const Pixel &p, uint32_t next)
{
  int reach = max (abs (p.expected - p.first * STEREO_EXPECT_STEPS), abs (p.expected - p.second * STEREO_EXPECT_STEPS));

  if (p.alpha)
    reach = (int) min ((uint32_t) reach, (((next - p.cost2) << 8) + 255) / p.alpha);
  Range r = { p.expected > reach ? (p.expected - reach + STEREO_EXPECT_STEPS - 1) / STEREO_EXPECT_STEPS : 0,
    (p.expected + reach) / STEREO_EXPECT_STEPS };
  r.from = max (r.from, p.valid_from);
  r.to = min (r.to, p.valid_to);
  /* first and second are known */
  r.from += r.from == p.first || r.from == p.second;
  r.from += r.from == p.first || r.from == p.second;
  r.to -= r.to == p.first || r.to == p.second;
  r.to -= r.to == p.first || r.to == p.second;
  return r;
}

/* What is known and the four candidates around the expected disparity decide most pixels: true, or @range
 * is what there is to search. */
static __device__ bool
decide_near (const Pixel &p, Best &b, Range &range)
{
  int near = min (max (p.expected / STEREO_EXPECT_STEPS, p.valid_from), p.valid_to);

  b = { 0xFFFFFFFFu, 0xFFFFFFFFu, 0 };
  consider (b, p.penalised (p.cost1, p.first), p.first);
  consider (b, p.penalised (p.cost2, p.second), p.second);
  range = range_of (p, b.next);
  if (range.from > range.to)
    return true;
  uint32_t costs[4];
#pragma unroll
  for (int k = 0; k < 4; k++)
    costs[k] = p.costs[min (max (near - 1 + k, p.valid_from), p.valid_to) * p.step];
#pragma unroll
  for (int k = 0; k < 4; k++) {
    int i = near - 1 + k;
    if (i >= p.valid_from && i <= p.valid_to && i != p.first && i != p.second)
      consider (b, p.penalised (costs[k], i), i);
  }
  range = range_of (p, b.next);
  return range.inside (near - 1, near + 2) || range.from > range.to;
}

static __device__ void
store_best (const StereoView &view, size_t map, const Best &b)
{
  view.index[map] = (uint16_t) b.index;
  view.confidence[map] = stereo_confidence (b.lowest, b.next);
}

/* A pixel of which @range is to be searched, by SEARCHERS lanes together. */
static __device__ void
search (const Frame &f, const Pixel &p, int v, size_t map, Range range)
{
  int lane = threadIdx.x % SEARCHERS;
  Best b = { 0xFFFFFFFFu, 0xFFFFFFFFu, 0 };

  if (lane == 0) {
    if (p.first < range.from || p.first > range.to)
      consider (b, p.penalised (p.cost1, p.first), p.first);
    if (p.second < range.from || p.second > range.to)
      consider (b, p.penalised (p.cost2, p.second), p.second);
  }
#pragma unroll 4
  for (int i = range.from + lane; i <= range.to; i += SEARCHERS)
    consider (b, p.penalised (p.costs[i * p.step], i), i);
  for (int away = SEARCHERS / 2; away; away /= 2) {
    uint32_t lowest = __shfl_down_sync (ALL_LANES, b.lowest, away), next = __shfl_down_sync (ALL_LANES, b.next, away);
    int index = __shfl_down_sync (ALL_LANES, b.index, away);
    consider (b, lowest, index);
    b.next = min (b.next, next);
  }
  if (lane == 0)
    store_best (f.view[v], map, b);
}

/* A pixel that is not decided yet, in the block's list. */
struct Open
{
  uint16_t x, y, from, to;
};

/*
 * A thread per pixel; those it cannot decide at once go to a list, which the block then searches, some
 * lanes a pixel. Blocks of the two views alternate, so that both find a row's costs in the cache: left
 * pixels read along a column of the volume, right ones along a diagonal, of which neighbouring pixels read
 * neighbouring elements one step later.
 */
static __global__ void __launch_bounds__ (BLOCK_X * BLOCK_Y)
reselect_kernel (Frame f, CostMaps costs)
{
  __shared__ Open open[BLOCK_X * BLOCK_Y];
  __shared__ int count;
  int x = blockIdx.x / 2 * BLOCK_X + threadIdx.x % BLOCK_X, y = blockIdx.y * BLOCK_Y + threadIdx.x / BLOCK_X;
  int v = blockIdx.x % 2;
  const StereoView &view = f.view[v];
  const uint32_t *lowest = v ? costs.view[1] : costs.view[0];

  if (threadIdx.x == 0)
    count = 0;
  __syncthreads ();
  if (x < f.width && y < f.height) {
    Pixel p = pixel_at (f, lowest, v, x, y);
    size_t map = (size_t) y * f.map_pitch + x;
    bool single = p.second == (int) STEREO_INVALID;
    Best b = { p.cost1, single ? 0 : p.cost2, p.first };        /* no second one, no confidence */
    Range range = { 0, -1 };
    bool done = single || p.expected == STEREO_EXPECT_NONE || decide_near (p, b, range);
    if (done)
      store_best (view, map, b);
    else
      open[atomicAdd (&count, 1)] = { (uint16_t) x, (uint16_t) y, (uint16_t) range.from, (uint16_t) range.to };
  }
  __syncthreads ();
  /* all lanes of a warp take part in its last turn */
  for (int k = threadIdx.x / SEARCHERS; k - (int) (threadIdx.x % 32) / SEARCHERS < count; k += blockDim.x / SEARCHERS) {
    Open o = open[min (k, count - 1)];
    Range range = { o.from, o.to };
    search (f, pixel_at (f, lowest, v, o.x, o.y), v, (size_t) o.y * f.map_pitch + o.x, range);
  }
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
  const CudaState *state = cuda_state (plan);
  dim3 grid (2 * cuda_blocks (plan->width, BLOCK_X), cuda_blocks (plan->height, BLOCK_Y));
  CostMaps costs = { { state->select_costs[0], state->select_costs[1] } };
  reselect_kernel <<<grid, BLOCK_X * BLOCK_Y, 0, state->stream>>> (cuda_frame (plan), costs);
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
