/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Speckle removal: connected regions of too few pixels become invalid. Union-find with atomic minima, first in tiles in shared
 * memory, then across their borders; labels are pixel numbers, a region's root is its smallest. */
#include "cuda/common.cuh"

namespace
{

constexpr int TILE_X = 32; /* a warp is a row of a tile */
constexpr int TILE_Y = 16;

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

static __device__ __forceinline__ bool
connected (const Frame &f, const Labels &l, int a, int b)
{
  return alike (l, f.disparity[a], f.disparity[b]);
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

/* Block: a tile; thread: a pixel. Pixels of a row that are connected start with the label of the first of them. In the end
 * each pixel has the label of the root of its region in the tile, which has the number of the region's pixels there. */
static __global__ void
__launch_bounds__ (TILE_X *TILE_Y) label_kernel (Frame f, Labels l)
{
  __shared__ int32_t label[TILE_X * TILE_Y], size[TILE_X * TILE_Y];
  int lane = threadIdx.x, own = threadIdx.y * TILE_X + lane;
  int x = blockIdx.x * TILE_X + lane, y = blockIdx.y * TILE_Y + threadIdx.y, p = y * f.map_pitch + x;
  bool inside = x < f.width && y < f.height, left = inside && lane > 0 && connected (f, l, p, p - 1);
  unsigned starts = __ballot_sync (0xFFFFFFFFu, !left), before = starts & (0xFFFFFFFFu >> (31 - lane));

  label[own] = own - lane + 31 - __clz (before);
  size[own] = 0;
  __syncthreads ();
  /* unless the pixel to the left joins the same two pieces of rows */
  if (inside && threadIdx.y > 0 && connected (f, l, p, p - f.map_pitch)) {
    int above = p - f.map_pitch;
    if (!left || !connected (f, l, above, above - 1) || !connected (f, l, p - 1, above - 1))
      join<true> (label, own, own - TILE_X);
  }
  __syncthreads ();
  int32_t root = root_of (label, own);
  atomicAdd (&size[root], 1);
  __syncthreads ();
  if (inside) {
    l.label[p] = p + (root / TILE_X - (int) threadIdx.y) * f.map_pitch + root % TILE_X - lane;
    l.size[p] = size[own];
  }
}

/* Block: a tile; warp 0: the pixels of its first row, with those above; warp 1: of its first column, with those to the left.
 * A pixel joins no two regions that the one before it joins. */
static __global__ void __launch_bounds__ (2 * TILE_X) join_kernel (Frame f, Labels l)
{
  bool column = threadIdx.y;
  int x = blockIdx.x * TILE_X + (column ? 0 : threadIdx.x), y = blockIdx.y * TILE_Y + (column ? threadIdx.x : 0);
  int along = column ? f.map_pitch : 1, across = column ? 1 : f.map_pitch, p = y * f.map_pitch + x;

  if (x >= f.width || y >= f.height || (column ? x == 0 || threadIdx.x >= TILE_Y : y == 0))
    return;
  /* all loads come before the comparisons; the pixel before is itself where it is in another tile */
  int before = threadIdx.x > 0 ? along : 0;
  float here = f.disparity[p], there = f.disparity[p - across];
  float here_before = f.disparity[p - before], there_before = f.disparity[p - across - before];
  if (!alike (l, here, there))
    return;
  if (before && alike (l, here, here_before) && alike (l, there, there_before) && alike (l, here_before, there_before))
    return;
  join<false> (l.label, p, p - across);
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

  label_kernel<<<grid, block, 0, state->stream>>> (frame, labels);
  CUDA_LAUNCHED (plan, "label_kernel");
  join_kernel<<<grid, dim3 (TILE_X, 2), 0, state->stream>>> (frame, labels);
  CUDA_LAUNCHED (plan, "join_kernel");
  count_kernel<<<fours, THREADS, 0, state->stream>>> (frame, labels);
  CUDA_LAUNCHED (plan, "count_kernel");
  remove_kernel<<<fours, THREADS, 0, state->stream>>> (frame, labels);
  CUDA_LAUNCHED (plan, "remove_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_speckle = {
  .name = "speckle", .context_size = sizeof (SpeckleContext), .prepare = speckle_prepare, .run = speckle_run
};
