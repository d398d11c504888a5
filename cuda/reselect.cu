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
#define THREADS (BLOCK_X * BLOCK_Y)
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

/* A pixel that is not decided yet. */
template <typename Key> struct Open
{
  Key known[3];
  int expected;
  uint16_t cost, thread;        /* the least of any other candidate; whose pixel */
};

/* One of which @from..@to are to be searched. */
struct Wide
{
  int column, expected;         /* where its index 0 would stand in the block's rows */
  uint16_t from, to, thread;
};

/* What a block knows of its pixels. */
struct Block
{
  const uint16_t *rows;         /* costs, from the block's first row on */
  int x, y, view, step;
  uint32_t alpha;
  float steps_per_cost;         /* of the expected disparity */
};

template <typename Key> static __device__ __forceinline__ int
index_of (Key key)
{
  return (int) (key & ((1 << INDEX_BITS) - 1));
}

/* Where candidates that cost at least @cost may have a total of no more than next's; perhaps a step more. */
template <typename Key> static __device__ __forceinline__ Range
range_of (const Best<Key> &b, uint32_t cost, int expected, float steps_per_cost)
{
  uint32_t next = (uint32_t) (b.next >> INDEX_BITS);
  int reach = (int) fminf ((float) (next + 1 - cost) * steps_per_cost, (float) REACH_TOP);
  Range r = { (expected - reach + STEREO_EXPECT_STEPS - 1) >> 6, (expected + reach) >> 6 };
  if (next < cost)
    r.to = -1;
  return r;
}

static __device__ __forceinline__ Range
valid_range (const Frame &f, int x)
{
  return { stereo_first_index (x, f.width, f.min_disparity), stereo_last_index (x, f.disparities, f.min_disparity) };
}

static __device__ __forceinline__ Range
common (Range a, Range b)
{
  return { max (a.from, b.from), min (a.to, b.to) };
}

/* The element of the block's rows where a pixel's index 0 would stand, in the image or beside it. */
static __device__ __forceinline__ int
column_of (const Frame &f, const Block &block, int thread)
{
  int x = block.x + thread % BLOCK_X;
  return (thread / BLOCK_X * f.width + (block.view ? f.width - 1 - x + f.min_disparity : x)) * f.depth;
}

/* The one @k steps on: in one multiplication. */
static __device__ __forceinline__ uint32_t
element (const uint16_t *at, unsigned k, unsigned step)
{
  return *(const uint16_t *) ((const char *) at + (size_t) k * (step * (unsigned) sizeof (uint16_t)));
}

/* Whether the three lowest costs decide a pixel: no other candidate is in range. */
template <typename Key> static __device__ __forceinline__ bool
known_decide (const Best<Key> &b, Range r, const Key (&known)[3])
{
  int unknown = r.to - r.from + 1;
#pragma unroll
  for (int k = 0; k < 3; k++)
    unknown -= r.holds (index_of (known[k]));
  return unknown <= 0;
}

/* Reads some of the candidates in range, those around the expected disparity: true when they decide the pixel;
 * else @wide says what there is to search besides @b. */
template <typename Key> static __device__ __forceinline__ bool
near_decide (const Frame &f, const Block &block, const Open<Key> &o, Best<Key> &b, Wide &wide)
{
  Range valid = valid_range (f, block.x + o.thread % BLOCK_X), r, near;

  b = { no_key<Key> (), no_key<Key> () };
#pragma unroll
  for (int k = 0; k < 3; k++)
    b.meet (o.known[k]);
  r = common (range_of (b, o.cost, o.expected, block.steps_per_cost), valid);
  near.from = max (min ((o.expected >> 6) - (NEAR / 2 - 1), r.to - (NEAR - 1)), r.from);
  near.to = min (near.from + NEAR - 1, r.to);

  int column = column_of (f, block, o.thread);
  const uint16_t *at = block.rows + (column + near.from * block.step);
  uint32_t costs[NEAR];
#pragma unroll
  for (int k = 0; k < NEAR; k++)
    costs[k] = element (at, (unsigned) min (k, near.to - near.from), block.step);
  b = { no_key<Key> (), no_key<Key> () };
#pragma unroll
  for (int k = 0; k < NEAR; k++) {
    Key key = key_of<Key> (block.alpha, o.expected, costs[k], near.from + k);
    b.meet (near.from + k <= near.to ? key : no_key<Key> ());
  }
#pragma unroll
  for (int k = 0; k < 3; k++)
    if (!near.holds (index_of (o.known[k])))
      b.meet (o.known[k]);
  r = common (range_of (b, o.cost, o.expected, block.steps_per_cost), valid);
  int unknown = r.to - r.from + 1 - max (min (r.to, near.to) - max (r.from, near.from) + 1, 0);
#pragma unroll
  for (int k = 0; k < 3; k++)
    unknown -= r.holds (index_of (o.known[k])) && !near.holds (index_of (o.known[k]));
  if (unknown <= 0)
    return true;
  b = { no_key<Key> (), no_key<Key> () };
#pragma unroll
  for (int k = 0; k < 3; k++)
    if (!r.holds (index_of (o.known[k])))
      b.meet (o.known[k]);
  wide = { column, o.expected, (uint16_t) r.from, (uint16_t) r.to, o.thread };
  return false;
}

/* An undecided pixel, by SEARCHERS lanes together. */
template <typename Key> static __device__ __forceinline__ void
search (const Block &block, const Wide &wide, bool there, Best<Key> &best)
{
  int lane = threadIdx.x % SEARCHERS, i = wide.from + lane, to = there ? wide.to : -1, expected = wide.expected;
  Best<Key> b = { no_key<Key> (), no_key<Key> () };
  const uint16_t *at = block.rows + (wide.column + i * block.step);

  if (there && lane == 0)
    b = best;
#pragma unroll 1
  for (; i <= to; i += 2 * SEARCHERS, at += 2 * SEARCHERS * block.step) {
    bool more = i + SEARCHERS <= to;
    uint32_t one = at[0], two = more ? at[SEARCHERS * block.step] : 0;
    b.meet (key_of<Key> (block.alpha, expected, one, i));
    Key key = key_of<Key> (block.alpha, expected, two, i + SEARCHERS);
    b.meet (more ? key : no_key<Key> ());
  }
  for (int away = SEARCHERS / 2; away; away /= 2) {
    Key lowest = __shfl_xor_sync (ALL_LANES, b.lowest, away), next = __shfl_xor_sync (ALL_LANES, b.next, away);
    b = { min (b.lowest, lowest), min (max (b.lowest, lowest), min (b.next, next)) };
  }
  if (there && lane == 0)
    best = b;
}

/* What select found of a pixel: true when that decides it. @single: there is no second candidate. */
template <typename Key> static __device__ __forceinline__ bool
select_decides (const Frame &f, const Block &block, uint2 costs, size_t map, int x, Best<Key> &b, bool &single,
    Open<Key> &o)
{
  const StereoView &view = f.view[block.view];
  int indices[3] = { view.first[map], view.second[map], (int) (costs.y >> 16) };
  uint32_t known[3] = { costs.x & 0xFFFF, costs.x >> 16, costs.y & 0xFFFF };

  o.expected = view.expected[map];
  o.cost = (uint16_t) known[2];
  o.thread = (uint16_t) threadIdx.x;
  uint32_t alpha = o.expected == STEREO_EXPECT_NONE ? 0 : block.alpha;
  b = { no_key<Key> (), no_key<Key> () };
#pragma unroll
  for (int k = 0; k < 3; k++) {
    o.known[k] = key_of<Key> (alpha, o.expected, known[k], indices[k]);
    if (k == 0 || known[k] != STEREO_INVALID)
      b.meet (o.known[k]);
  }
  single = known[1] == STEREO_INVALID;
  if (o.expected == STEREO_EXPECT_NONE || known[2] == STEREO_INVALID)
    return true;
  Range r = range_of (b, o.cost, o.expected, block.steps_per_cost);
  return known_decide (b, common (r, valid_range (f, x)), o.known);
}

/*
 * A thread per pixel; those it cannot decide go to a list, then a thread each reads a few costs of those, and
 * at last the block searches what is open still, some lanes a pixel. Blocks of the two views alternate, so that
 * both find a row's costs in the cache: left pixels read along a column of the volume, right ones along a
 * diagonal, of which neighbouring pixels read neighbouring elements one step later.
 */
template <typename Key> static __global__ void __launch_bounds__ (THREADS)
reselect_kernel (Frame f, CostMaps costs, float steps_per_cost)
{
  __shared__ Open<Key> open[THREADS];
  __shared__ Wide wide[THREADS];
  __shared__ Best<Key> best[THREADS];
  __shared__ int opened, widened;
  int v = blockIdx.x % 2;
  Block block = { f.volume + (size_t) (blockIdx.y * BLOCK_Y) * f.width * f.depth, (int) (blockIdx.x / 2 * BLOCK_X),
    (int) (blockIdx.y * BLOCK_Y), v, v ? f.depth + 1 : 1, f.alpha, steps_per_cost };
  int x = block.x + threadIdx.x % BLOCK_X, y = block.y + threadIdx.x / BLOCK_X;
  size_t map = (size_t) y * f.map_pitch + x;
  bool inside = x < f.width && y < f.height, single = false, done = true;
  Best<Key> b = { 0, 0 };

  if (threadIdx.x == 0)
    opened = widened = 0;
  __syncthreads ();
  if (inside) {
    Open<Key> o;
    done = select_decides<Key> (f, block, (v ? costs.view[1] : costs.view[0])[map], map, x, b, single, o);
    if (!done)
      open[atomicAdd (&opened, 1)] = o;
  }
  __syncthreads ();
  if (threadIdx.x < opened) {
    Wide w;
    Best<Key> found;
    const Open<Key> &o = open[threadIdx.x];
    if (!near_decide<Key> (f, block, o, found, w))
      wide[atomicAdd (&widened, 1)] = w;
    best[o.thread] = found;
  }
  __syncthreads ();
  /* all lanes of a warp take part in its last turn */
  for (int k = threadIdx.x / SEARCHERS; k - (int) (threadIdx.x % 32) / SEARCHERS < widened; k += THREADS / SEARCHERS) {
    const Wide &w = wide[min (k, widened - 1)];
    search<Key> (block, w, k < widened, best[w.thread]);
  }
  __syncthreads ();
  if (inside) {
    if (!done)
      b = best[threadIdx.x];
    /* no second one, no confidence */
    f.view[v].index[map] = single ? f.view[v].first[map] : (uint16_t) index_of (b.lowest);
    f.view[v].confidence[map] = stereo_confidence ((uint32_t) (b.lowest >> INDEX_BITS),
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
    reselect_kernel<uint32_t> <<<grid, THREADS, 0, state->stream>>> (cuda_frame (plan), costs, steps_per_cost);
  else
    reselect_kernel<uint64_t> <<<grid, THREADS, 0, state->stream>>> (cuda_frame (plan), costs, steps_per_cost);
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
