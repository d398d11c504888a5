/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The two lowest of cost + penalty (3.2.3), and the consistency of both views (3.2.4).
 *
 * Select left the three lowest costs. Any other candidate costs at least as much as the third, so that it is
 * among the two lowest only where third's cost + its penalty allow for it: near the expected disparity, if
 * anywhere. That decides most pixels. For the others a thread reads a few candidates around the expected
 * disparity, and what is open even then, the block searches together, some lanes a pixel.
 */
#include "cuda/common.cuh"

#define BLOCK_X 64
#define BLOCK_Y 4
#define NEAR 4                  /* candidates read around the expected disparity */
#define SEARCHERS 8             /* lanes that search one pixel's candidates; divides 32 */
#define INDEX_BITS 10           /* of up to 1024 disparities */
#define REACH_TOP 0x10000       /* farther than any candidate, in expected's steps */
#define ALL_LANES 0xFFFFFFFFu

/* What select found: see there. */
struct CostMaps
{
  const uint2 *view[2];
};

/* Key: (cost + penalty) << INDEX_BITS | index, in 32 bits or, for a large alpha, in 64. Ties go to the smaller
 * index. */
template <typename Key> static __device__ __forceinline__ Key
no_key ()
{
  return (Key) ~(Key) 0;
}

template <typename Key> static __device__ __forceinline__ Key
key_of (uint32_t alpha, int expected, uint32_t cost, int index)
{
  return (Key) (cost + stereo_penalty (alpha, expected, index)) * (1 << INDEX_BITS) + (Key) index;
}

template <typename Key> struct Best
{
  Key lowest, next;

  __device__ __forceinline__ void
  meet (Key key)
  {
    next = min (next, max (lowest, key));
    lowest = min (lowest, key);
  }
};

/* Indices @from..@to. */
struct Range
{
  int from, to;

  __device__ __forceinline__ bool
  holds (int index) const
  {
    return index >= from && index <= to;
  }
};

/* A candidate known before anything is read. */
template <typename Key> struct Known
{
  int index;
  Key key;
};

/* A pixel that is not decided yet, in the block's list: candidates @range are to be searched besides @best. */
template <typename Key> struct Open
{
  Best<Key> best;
  int column, expected;         /* costs stand from the block's rows + column on */
  uint16_t from, to;
};

/* Where candidates that cost at least @cost may have a total of no more than next's; perhaps a step more. */
template <typename Key> static __device__ __forceinline__ Range
range_of (const Best<Key> &b, uint32_t cost, int expected, float steps_per_cost, Range valid)
{
  float margin = (float) ((uint32_t) (b.next >> INDEX_BITS) - cost + 1);
  int reach = (int) fminf (margin * steps_per_cost, (float) REACH_TOP);
  Range r = { max ((expected - reach + STEREO_EXPECT_STEPS - 1) >> 6, valid.from), min ((expected + reach) >> 6, valid.to) };
  return r;
}

/* A pixel with more than three candidates: true when what is known and a few candidates around the expected
 * disparity decide it; else @open says what there is to search. */
template <typename Key> static __device__ __forceinline__ bool
decide (const uint16_t *rows, int column, int step, uint32_t alpha, float steps_per_cost, uint32_t cost, int expected,
    Range valid, const Known<Key> (&known)[3], Best<Key> &b, Open<Key> &open)
{
  Range r = range_of (b, cost, expected, steps_per_cost, valid);
  int unknown = r.to - r.from + 1;

  /* the lowest of candidates around: its total is reached */
  if (b.next >> INDEX_BITS < cost || r.from > r.to)
    return true;
#pragma unroll
  for (int k = 0; k < 3; k++)
    unknown -= r.holds (known[k].index);
  if (unknown <= 0)
    return true;
  /* one that is unknown: valid holds NEAR at least */
  Range near = { max (min (expected / STEREO_EXPECT_STEPS - 1, valid.to - (NEAR - 1)), valid.from), 0 };
  near.to = near.from + NEAR - 1;
  uint32_t costs[NEAR];
#pragma unroll
  for (int k = 0; k < NEAR; k++)
    costs[k] = rows[column + (near.from + k) * step];
  b = { no_key<Key> (), no_key<Key> () };
#pragma unroll
  for (int k = 0; k < NEAR; k++)
    b.meet (key_of<Key> (alpha, expected, costs[k], near.from + k));
#pragma unroll
  for (int k = 0; k < 3; k++)
    if (!near.holds (known[k].index))
      b.meet (known[k].key);
  r = range_of (b, cost, expected, steps_per_cost, valid);
  if (b.next >> INDEX_BITS < cost || r.from > r.to)
    return true;
  unknown = r.to - r.from + 1 - max (min (r.to, near.to) - max (r.from, near.from) + 1, 0);
#pragma unroll
  for (int k = 0; k < 3; k++)
    unknown -= r.holds (known[k].index) && !near.holds (known[k].index);
  if (unknown <= 0)
    return true;
  open.best = { no_key<Key> (), no_key<Key> () };
#pragma unroll
  for (int k = 0; k < 3; k++)
    if (!r.holds (known[k].index))
      open.best.meet (known[k].key);
  open.column = column;
  open.expected = expected;
  open.from = (uint16_t) r.from;
  open.to = (uint16_t) r.to;
  return false;
}

/* An open pixel, by SEARCHERS lanes together. */
template <typename Key> static __device__ __forceinline__ void
search (Open<Key> &open, bool there, const uint16_t *rows, int step, uint32_t alpha)
{
  int lane = threadIdx.x % SEARCHERS, i = open.from + lane, to = there ? open.to : -1;
  Best<Key> b = { no_key<Key> (), no_key<Key> () };
  const uint16_t *at = rows + (open.column + i * step);
  int expected = open.expected;

  if (lane == 0)
    b = open.best;
#pragma unroll 1
  for (; i <= to; i += 2 * SEARCHERS, at += 2 * SEARCHERS * step) {
    bool more = i + SEARCHERS <= to;
    uint32_t one = at[0], two = more ? at[SEARCHERS * step] : 0;
    b.meet (key_of<Key> (alpha, expected, one, i));
    Key key = key_of<Key> (alpha, expected, two, i + SEARCHERS);
    b.meet (more ? key : no_key<Key> ());
  }
  for (int away = SEARCHERS / 2; away; away /= 2) {
    Key lowest = __shfl_xor_sync (ALL_LANES, b.lowest, away), next = __shfl_xor_sync (ALL_LANES, b.next, away);
    b = { min (b.lowest, lowest), min (max (b.lowest, lowest), min (b.next, next)) };
  }
  __syncwarp ();
  if (there && lane == 0)
    open.best = b;
}

/*
 * A thread per pixel; those it cannot decide at once go to a list, which the block then searches, some
 * lanes a pixel. Blocks of the two views alternate, so that both find a row's costs in the cache: left
 * pixels read along a column of the volume, right ones along a diagonal, of which neighbouring pixels read
 * neighbouring elements one step later.
 */
template <typename Key> static __global__ void __launch_bounds__ (BLOCK_X * BLOCK_Y)
reselect_kernel (Frame f, CostMaps costs, float steps_per_cost)
{
  __shared__ Open<Key> open[BLOCK_X * BLOCK_Y];
  __shared__ int count;
  int x = blockIdx.x / 2 * BLOCK_X + threadIdx.x % BLOCK_X, y = blockIdx.y * BLOCK_Y + threadIdx.x / BLOCK_X;
  int v = blockIdx.x % 2, step = v ? f.depth + 1 : 1, slot = -1;
  const uint16_t *rows = f.volume + (size_t) (blockIdx.y * BLOCK_Y) * f.width * f.depth;
  const StereoView &view = f.view[v];
  size_t map = (size_t) y * f.map_pitch + x;
  bool inside = x < f.width && y < f.height, single = false;
  Best<Key> b = { 0, 0 };

  if (threadIdx.x == 0)
    count = 0;
  __syncthreads ();
  if (inside) {
    uint2 lowest = (v ? costs.view[1] : costs.view[0])[map];
    int expected = view.expected[map], indices[3] = { view.first[map], view.second[map], (int) (lowest.y >> 16) };
    uint32_t known_costs[3] = { lowest.x & 0xFFFF, lowest.x >> 16, lowest.y & 0xFFFF };
    uint32_t alpha = expected == STEREO_EXPECT_NONE ? 0 : f.alpha;
    Known<Key> known[3];
    b = { no_key<Key> (), no_key<Key> () };
#pragma unroll
    for (int k = 0; k < 3; k++) {
      known[k].index = indices[k];
      known[k].key = key_of<Key> (alpha, expected, known_costs[k], indices[k]);
      if (k == 0 || known_costs[k] != STEREO_INVALID)
        b.meet (known[k].key);
    }
    single = known_costs[1] == STEREO_INVALID;
    if (expected != STEREO_EXPECT_NONE && known_costs[2] != STEREO_INVALID) {
      int column = (int) (threadIdx.x / BLOCK_X) * f.width + (v ? f.width - 1 - x + f.min_disparity : x);
      Range valid = { stereo_first_index (x, f.width, f.min_disparity),
        stereo_last_index (x, f.disparities, f.min_disparity) };
      Open<Key> todo;
      if (!decide<Key> (rows, column * f.depth, step, alpha, steps_per_cost, known_costs[2], expected, valid, known, b,
              todo)) {
        slot = atomicAdd (&count, 1);
        open[slot] = todo;
      }
    }
  }
  __syncthreads ();
  /* all lanes of a warp take part in its last turn */
  for (int k = threadIdx.x / SEARCHERS; k - (int) (threadIdx.x % 32) / SEARCHERS < count; k += blockDim.x / SEARCHERS)
    search<Key> (open[min (k, count - 1)], k < count, rows, step, f.alpha);
  __syncthreads ();
  if (inside) {
    if (slot >= 0)
      b = open[slot].best;
    int index = single ? view.first[map] : (int) (b.lowest & ((1 << INDEX_BITS) - 1));
    /* no second one, no confidence */
    view.index[map] = (uint16_t) index;
    view.confidence[map] = stereo_confidence ((uint32_t) (b.lowest >> INDEX_BITS),
        single ? 0 : (uint32_t) (b.next >> INDEX_BITS));
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

/* Penalties that leave room for an index in 32 bits: all but those of an alpha far beyond what is of use. */
static bool
keys_are_short (const StereoPlan *plan)
{
  uint64_t largest = STEREO_INVALID + (((uint64_t) plan->alpha * (uint64_t) plan->depth * STEREO_EXPECT_STEPS) >> 8);
  return largest < 1u << (32 - INDEX_BITS);
}

static StereoStatus
reselect_run (StereoPlan *plan, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  dim3 grid (2 * cuda_blocks (plan->width, BLOCK_X), cuda_blocks (plan->height, BLOCK_Y));
  CostMaps costs = { { (const uint2 *) state->select_costs[0], (const uint2 *) state->select_costs[1] } };
  /* rounded up by more than what rounding of the product can lose; without penalties first and second stay */
  float steps_per_cost = plan->alpha ? 256.0f / (float) plan->alpha * 1.000002f : 0.0f;

  if (keys_are_short (plan))
    reselect_kernel<uint32_t> <<<grid, BLOCK_X * BLOCK_Y, 0, state->stream>>> (cuda_frame (plan), costs, steps_per_cost);
  else
    reselect_kernel<uint64_t> <<<grid, BLOCK_X * BLOCK_Y, 0, state->stream>>> (cuda_frame (plan), costs, steps_per_cost);
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
