/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Speckle removal: connected regions of too few pixels become invalid. Union-find with atomic minima, first in tiles in shared
 * memory, then across their borders; labels are pixel numbers, a region's root is its smallest. */
#include "cuda/common.cuh"

namespace
{

constexpr int TILE_X = 32; /* a warp is a row of a tile */
constexpr int TILE_Y = 16;
constexpr unsigned ALL_LANES = 0xFFFFFFFFu;

/* 32 bits number the pixels, with the pitch of a row, and count them. */
static_assert ((int64_t) STEREO_MAX_SIDE * STEREO_MAX_SIDE <= INT32_MAX && STEREO_MAX_SIDE % 32 == 0, "pixels");

/* Scratch memory of the stage: maps of the left view. */
struct SpeckleContext
{
  int32_t *label, *size;
};

struct Labels
{
  int32_t *label, *size;
  float range;
  int least; /* pixels of the smallest region that stays */
};

/* False for NaN too. */
static __device__ __forceinline__ bool
alike (const Labels &l, float a, float b)
{
  return fabsf (a - b) <= l.range;
}

/* An outdated label does no harm: it is a pixel of the same region, and not smaller than the current label. */
static __device__ int32_t
root_of (const int32_t *label, int32_t pixel)
{
  int32_t next;
  while ((next = ((const volatile int32_t *) label)[pixel]) != pixel)
    pixel = next;
  return pixel;
}

/* The same, while other threads join regions; the next search from the pixel is short. Only labels of roots decide about
 * regions, and a pixel that has become none never is one again. Labels in shared memory are only touched by atomic
 * operations. */
template <bool SHARED> static __device__ int32_t
short_root_of (int32_t *label, int32_t pixel)
{
  if constexpr (!SHARED) {
    int32_t root = root_of (label, pixel);
    if (root != pixel)
      label[pixel] = root;
    return root;
  } else {
    int32_t root = pixel, next;
    while ((next = atomicMin (&label[root], root)) < root)
      root = next;
    if (root != pixel)
      atomicMin (&label[pixel], root);
    return root;
  }
}

/* Makes the smaller root the label of the larger one. If another thread has changed that label before, joins with its
 * label. */
template <bool SHARED> static __device__ void
join (int32_t *label, int32_t a, int32_t b)
{
  for (;;) {
    a = short_root_of<SHARED> (label, a);
    b = short_root_of<SHARED> (label, b);
    if (a == b)
      return;
    int32_t low = min (a, b), high = max (a, b), old = atomicMin (&label[high], low);
    if (old == high)
      return;
    a = old;
    b = low;
  }
}

/* The first lane of the run that @lane is in. @starts: the first lanes of all runs, lane 0 among them. */
static __device__ __forceinline__ int
start_of (unsigned starts, int lane)
{
  return 31 - __clz (starts & (ALL_LANES >> (31 - lane)));
}

/* Lanes of a run that starts at @lane. */
static __device__ __forceinline__ int
length_of (unsigned starts, int lane)
{
  unsigned after = starts & (ALL_LANES << 1) << lane;
  return (after ? __ffs (after) - 1 : TILE_X) - lane;
}

/* Block: a tile; thread: a pixel. Pixels of a row that are connected, a run, start with the label of the first of them. In the
 * end each pixel has the label of the root of its region in the tile, which has the number of the region's pixels there. A
 * thread loads its pixel and the one above; the others that it compares are those of the lane before. */
static __global__ void
__launch_bounds__ (TILE_X *TILE_Y) label_kernel (Frame f, Labels l)
{
  __shared__ int32_t label[TILE_X * TILE_Y], size[TILE_X * TILE_Y];
  int lane = threadIdx.x, row = threadIdx.y * TILE_X, own = row + lane;
  int x = blockIdx.x * TILE_X + lane, y = blockIdx.y * TILE_Y + threadIdx.y, p = y * f.map_pitch + x;
  bool inside = x < f.width && y < f.height, below = inside && threadIdx.y > 0;
  float here = inside ? f.disparity[p] : NAN, above = below ? f.disparity[p - f.map_pitch] : NAN;
  bool left = alike (l, here, __shfl_up_sync (ALL_LANES, here, 1)) && lane > 0;
  bool above_left = alike (l, above, __shfl_up_sync (ALL_LANES, above, 1)) && lane > 0, up = alike (l, here, above);
  unsigned starts = __ballot_sync (ALL_LANES, !left), starts_above = __ballot_sync (ALL_LANES, !above_left);
  unsigned ups = __ballot_sync (ALL_LANES, up);
  int start = start_of (starts, lane);

  label[own] = row + start;
  size[own] = 0;
  __syncthreads ();
  /* unless the pixel to the left joins the same two runs */
  if (up && !(left && above_left && ups << 1 >> lane & 1))
    join<true> (label, row + start, row - TILE_X + start_of (starts_above, lane));
  __syncthreads ();
  unsigned root = root_of (label, row + start);
  if (start == lane)
    atomicAdd (&size[root], length_of (starts, lane));
  __syncthreads ();
  if (inside) {
    l.label[p] = p + ((int) (root / TILE_X) - (int) threadIdx.y) * f.map_pitch + (int) (root % TILE_X) - lane;
    l.size[p] = size[own];
  }
}

/* Block: a tile; warp 0: the pixels of its first row, with those above; warp 1: of its first column, with those to the left.
 * A pixel joins no two regions that the one before it joins, nor two that are both large enough: they stay in any case. Most
 * tiles have one such region, and whoever joins them all waits for the one root. */
static __global__ void __launch_bounds__ (2 * TILE_X) join_kernel (Frame f, Labels l)
{
  bool column = threadIdx.y;
  int x = blockIdx.x * TILE_X + (column ? 0 : threadIdx.x), y = blockIdx.y * TILE_Y + (column ? threadIdx.x : 0);
  int along = column ? f.map_pitch : 1, across = column ? 1 : f.map_pitch, p = y * f.map_pitch + x;

  if (x >= f.width || y >= f.height || (column ? x == 0 || threadIdx.x >= TILE_Y : y == 0))
    return;
  /* the pixel before is itself where it is in another tile */
  int before = threadIdx.x > 0 ? along : 0;
  float here = f.disparity[p], there = f.disparity[p - across];
  float here_before = f.disparity[p - before], there_before = f.disparity[p - across - before];
  int32_t label = l.label[p], label_there = l.label[p - across];
  bool joined_before = before != 0 & alike (l, here, here_before) & alike (l, there, there_before) &
      alike (l, here_before, there_before);
  /* one condition of all: whoever waits for a load has started the others */
  if (!alike (l, here, there) | joined_before | label == label_there)
    return;
  if (min (l.size[label], l.size[label_there]) >= l.least)
    return;
  join<false> (l.label, label, label_there);
}

constexpr int FOUR = 4; /* pixels of a thread, a vector: what they wait for, they wait for together */
constexpr int THREADS = 128;

/* The four pixels of a thread: their first one; false: they are outside. Rows of maps are whole vectors. */
static __device__ __forceinline__ bool
four_pixels (const Frame &f, int &p)
{
  int x = (blockIdx.x * THREADS + threadIdx.x) * FOUR;

  p = blockIdx.y * f.map_pitch + x;
  return x < f.width;
}

static __device__ __forceinline__ void
load_labels (const int32_t *label, int p, int32_t (&to)[FOUR])
{
  int4 four = *(const int4 *) (label + p);
  to[0] = four.x;
  to[1] = four.y;
  to[2] = four.z;
  to[3] = four.w;
}

/* A root of a tile's region gives its pixels to the root of the whole region, and has that as label. */
static __global__ void
__launch_bounds__ (THREADS) count_kernel (Frame f, Labels l)
{
  int32_t label[FOUR], size[FOUR];
  int p;

  if (!four_pixels (f, p))
    return;
  int inside = f.width - (p - (int) blockIdx.y * f.map_pitch);
  load_labels (l.label, p, label);
  load_labels (l.size, p, size);
#pragma unroll
  for (int k = 0; k < FOUR; k++) {
    if (k >= inside || label[k] == p + k || !size[k])
      continue;
    int32_t root = root_of (l.label, label[k]);
    l.label[p + k] = root;
    atomicAdd (&l.size[root], size[k]);
  }
}

/* The label of a pixel is a root of a tile's region, and the label of that is the root of the whole region: count_kernel has
 * seen to it. */
static __global__ void
__launch_bounds__ (THREADS) remove_kernel (Frame f, Labels l)
{
  int32_t label[FOUR], root[FOUR], size[FOUR];
  int p;

  if (!four_pixels (f, p))
    return;
  int inside = f.width - (p - (int) blockIdx.y * f.map_pitch);
  load_labels (l.label, p, label);
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    root[k] = k < inside ? l.label[label[k]] : 0;
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    size[k] = k < inside ? l.size[root[k]] : l.least;
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    if (size[k] < l.least)
      f.disparity[p + k] = NAN;
}

static StereoStatus
speckle_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  SpeckleContext *context = (SpeckleContext *) data;
  size_t pixels = (size_t) plan->map_pitch * (size_t) plan->height;
  StereoStatus status = stereo_reserve_for (
      plan, STEREO_LIFE_MAPS, (void **) &context->label, pixels, sizeof (int32_t), error);
  return status ? status :
                  stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &context->size, pixels, sizeof (int32_t), error);
}

static StereoStatus
speckle_run (StereoPlan *plan, void *data, StereoError *error)
{
  const SpeckleContext *context = (const SpeckleContext *) data;
  const CudaState *state = cuda_state (plan);
  const StereoParams *p = &plan->params;
  dim3 block (TILE_X, TILE_Y), grid (cuda_blocks (plan->width, TILE_X), cuda_blocks (plan->height, TILE_Y));
  dim3 fours (cuda_blocks (plan->width, FOUR * THREADS), plan->height);
  Labels labels = { context->label, context->size, (float) p->speckle_range, p->speckle_size };
  Frame frame = cuda_frame (plan);
  StereoStatus status;

  label_kernel<<<grid, block, 0, state->stream>>> (frame, labels);
  CUDA_LAUNCHED (plan, "label_kernel");
  join_kernel<<<grid, dim3 (TILE_X, 2), 0, state->stream>>> (frame, labels);
  CUDA_LAUNCHED (plan, "join_kernel");
  count_kernel<<<fours, THREADS, 0, state->stream>>> (frame, labels);
  CUDA_LAUNCHED (plan, "count_kernel");
  if ((status = cuda_join (plan, error))) /* before the disparity changes */
    return status;
  remove_kernel<<<fours, THREADS, 0, state->stream>>> (frame, labels);
  CUDA_LAUNCHED (plan, "remove_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_speckle = {
  .name = "speckle", .context_size = sizeof (SpeckleContext), .prepare = speckle_prepare, .run = speckle_run
};
