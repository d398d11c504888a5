/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Speckle removal: connected regions of too few pixels become invalid. Union-find with atomic minima;
 * labels are pixel numbers, a region's root is its smallest. */
#include "cuda/common.cuh"

namespace
{

constexpr int BLOCK_X = 32; /* a warp is a piece of a row */
constexpr int BLOCK_Y = 8;

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
static __device__ bool
connected (const Frame &f, const Labels &l, int a, int b)
{
  return fabsf (f.disparity[a] - f.disparity[b]) <= l.range;
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

/* The same; the next search from the pixel is short. Only labels of roots decide about regions, and a pixel that has become
 * none never is one again. */
static __device__ int32_t
short_root_of (int32_t *label, int32_t pixel)
{
  int32_t root = root_of (label, pixel);
  if (root != pixel)
    label[pixel] = root;
  return root;
}

/* Makes the smaller root the label of the larger one. If another thread has changed that label before, joins with its
 * label. */
static __device__ void
join (int32_t *label, int32_t a, int32_t b)
{
  for (;;) {
    a = short_root_of (label, a);
    b = short_root_of (label, b);
    if (a == b)
      return;
    int32_t low = min (a, b), high = max (a, b), old = atomicMin (&label[high], low);
    if (old == high)
      return;
    a = old;
    b = low;
  }
}

/* Thread: a pixel. Pixels of a warp that are connected along the row start with the label of the first of them. */
static __global__ void
label_kernel (Frame f, Labels l)
{
  int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y, p = y * f.map_pitch + x;
  bool inside = x < f.width && y < f.height;
  bool starts = !inside || threadIdx.x == 0 || !connected (f, l, p, p - 1);
  unsigned before = __ballot_sync (0xFFFFFFFFu, starts) & (0xFFFFFFFFu >> (31 - threadIdx.x));

  if (inside) {
    l.label[p] = p - (int) threadIdx.x + 31 - __clz (before);
    l.size[p] = 0;
  }
}

/* Thread: a pixel. Joins its piece of the row with the piece before and with pieces above, unless the pixel to the left
 * joins the same two pieces. */
static __global__ void
join_kernel (Frame f, Labels l)
{
  int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y, p = y * f.map_pitch + x;

  if (x >= f.width || y >= f.height)
    return;
  bool left = x > 0 && connected (f, l, p, p - 1);
  if (left && threadIdx.x == 0)
    join (l.label, p, p - 1);
  if (y == 0 || !connected (f, l, p, p - f.map_pitch))
    return;
  int above = p - f.map_pitch;
  if (left && threadIdx.x != 0 && connected (f, l, above, above - 1) && connected (f, l, p - 1, above - 1))
    return;
  join (l.label, p, above);
}

/* Thread: a pixel. Threads of a warp with the same root add to its size together, unless it is large enough: then its size
 * does not matter, and most threads would wait for that of one region. */
static __global__ void
count_kernel (Frame f, Labels l)
{
  int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y, p = y * f.map_pitch + x;
  bool inside = x < f.width && y < f.height;
  int32_t root = inside ? root_of (l.label, p) : -1;
  unsigned same = __match_any_sync (0xFFFFFFFFu, root);

  if (!inside)
    return;
  l.label[p] = root;
  if ((int) threadIdx.x == __ffs (same) - 1 && ((const volatile int32_t *) l.size)[root] < l.least)
    atomicAdd (&l.size[root], __popc (same));
}

static __global__ void
remove_kernel (Frame f, Labels l)
{
  int x = blockIdx.x * BLOCK_X + threadIdx.x, y = blockIdx.y * BLOCK_Y + threadIdx.y, p = y * f.map_pitch + x;

  if (x < f.width && y < f.height && l.size[l.label[p]] < l.least)
    f.disparity[p] = NAN;
}

static StereoStatus
speckle_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  SpeckleContext *context = (SpeckleContext *) data;
  size_t pixels = (size_t) plan->map_pitch * (size_t) plan->height;
  StereoStatus status = stereo_reserve (plan, (void **) &context->label, pixels, sizeof (int32_t), error);
  return status ? status : stereo_reserve (plan, (void **) &context->size, pixels, sizeof (int32_t), error);
}

static StereoStatus
speckle_run (StereoPlan *plan, void *data, StereoError *error)
{
  const SpeckleContext *context = (const SpeckleContext *) data;
  const CudaState *state = cuda_state (plan);
  const StereoParams *p = &plan->params;
  dim3 block (BLOCK_X, BLOCK_Y), grid (cuda_blocks (plan->width, BLOCK_X), cuda_blocks (plan->height, BLOCK_Y));
  Labels labels = { context->label, context->size, (float) p->speckle_range, p->speckle_size };
  Frame frame = cuda_frame (plan);

  label_kernel<<<grid, block, 0, state->stream>>> (frame, labels);
  CUDA_LAUNCHED (plan, "label_kernel");
  join_kernel<<<grid, block, 0, state->stream>>> (frame, labels);
  CUDA_LAUNCHED (plan, "join_kernel");
  count_kernel<<<grid, block, 0, state->stream>>> (frame, labels);
  CUDA_LAUNCHED (plan, "count_kernel");
  remove_kernel<<<grid, block, 0, state->stream>>> (frame, labels);
  CUDA_LAUNCHED (plan, "remove_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_speckle = {
  .name = "speckle", .context_size = sizeof (SpeckleContext), .prepare = speckle_prepare, .run = speckle_run
};
