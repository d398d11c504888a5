/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Motion: unlikely disparities give way to those of the frame before, moved as the cameras did, by the rules of exact/motion.h.
 * The frame before, the points and the motion lie in device memory: nothing comes to the host.
 */
#include "cuda/motion/motion.cuh"

#include "stereo/exact/prior.h"

namespace
{

constexpr int ALIKE_RADIUS = STEREO_MOTION_ALIKE_RADIUS;
constexpr int COLUMNS = 32; /* of a block of follow_kernel */
constexpr int ROWS = 8;
constexpr int KEEP_THREADS = 128;
constexpr int FOUR = 4; /* pixels of a thread of keep_kernel, a vector */

/* Whether the views look alike around (@x, @y) now and (@then_x, @then_y) before. */
static __device__ __forceinline__ bool
is_alike (const Frame &f, const StereoLast &last, const StereoMotion &motion, int x, int y, int then_x, int then_y)
{
  int last_x = f.width - 1 - ALIKE_RADIUS, last_y = f.height - 1 - ALIKE_RADIUS;
  uint32_t sum = 0;

  if (min (x, then_x) < ALIKE_RADIUS || min (y, then_y) < ALIKE_RADIUS || max (x, then_x) > last_x ||
      max (y, then_y) > last_y)
    return false;
  const uint8_t *now = f.view[STEREO_LEFT].luma + (ptrdiff_t) (y - ALIKE_RADIUS) * f.image_pitch + x - ALIKE_RADIUS;
  const uint8_t *then = last.luma + (ptrdiff_t) (then_y - ALIKE_RADIUS) * f.map_pitch + then_x - ALIKE_RADIUS;
#pragma unroll
  for (int v = 0; v <= 2 * ALIKE_RADIUS; v++)
#pragma unroll
    for (int u = 0; u <= 2 * ALIKE_RADIUS; u++)
      sum = __usad (now[(ptrdiff_t) v * f.image_pitch + u], then[(ptrdiff_t) v * f.map_pitch + u], sum);
  return stereo_motion_alike ((int32_t) sum, &motion);
}

/* Follows a pixel of disparity *@d into the frame before. Its place there, in the map, or -1; *@d becomes the disparity that
 * it has now by what was known there. */
static __device__ __forceinline__ ptrdiff_t
follow (const Frame &f, const StereoLast &last, const StereoMotion &motion, int x, int y, float *d)
{
  float middle_x = (float) (f.width - 1) * 0.5f, middle_y = (float) (f.height - 1) * 0.5f;
  float u = (float) x - middle_x, v = (float) y - middle_y, then_x, then_y;

#pragma unroll 1
  for (int step = 0; step < STEREO_MOTION_STEPS; step++) {
    if (!stereo_motion_where (&motion, u, v, *d, &then_x, &then_y))
      return -1;
    then_x += middle_x;
    then_y += middle_y;
    if (!(then_x >= 0 && then_y >= 0 && then_x <= (float) (f.width - 1) && then_y <= (float) (f.height - 1)))
      return -1;
    int column = (int) rintf (then_x), row = (int) rintf (then_y);
    ptrdiff_t at = (ptrdiff_t) row * f.map_pitch + column;
    if (!last.age[at] || last.age[at] >= STEREO_MOTION_OLDEST)
      return -1;
    float before = *d;
    *d = stereo_motion_now (&motion, u, v, last.disparity[at]);
    if (fabsf (*d - before) <= STEREO_MOTION_SETTLED)
      return is_alike (f, last, motion, x, y, column, row) ? at : -1;
  }
  return -1;
}

/* Thread: a pixel. */
static __global__ void
__launch_bounds__ (COLUMNS *ROWS)
    follow_kernel (const __grid_constant__ Frame f, const __grid_constant__ MotionWork w, int32_t least_sure)
{
  int x = blockIdx.x * COLUMNS + threadIdx.x, y = blockIdx.y * ROWS + threadIdx.y;
  size_t here = (size_t) y * f.map_pitch + x;
  const StereoView &view = f.view[STEREO_LEFT];

  if (x >= f.width || y >= f.height)
    return;
  float disparity = f.disparity[here];
  int32_t own = stereo_motion_confidence (view.confidence[here]);
  int index = view.index[here];
  uint8_t age = isnan (disparity) ? 0 : 1;
  if (w.c.motion->known && own < STEREO_MOTION_SURE && index != (int) STEREO_INVALID) {
    StereoMotion motion = *w.c.motion;
    float d = age ? disparity : (float) (f.min_disparity + index);
    ptrdiff_t at = follow (f, w.last, motion, x, y, &d);
    int32_t aged = at < 0 ? 0 : stereo_motion_aged (w.last.confidence[at], least_sure);
    if (aged > own && d >= (float) f.min_disparity && d <= (float) (f.min_disparity + f.disparities - 1)) {
      f.disparity[here] = d;
      view.confidence[here] = (float) aged / 255.0f;
      age = (uint8_t) (w.last.age[at] + 1);
    }
  }
  w.c.age[here] = age;
}

/* Pixel (@x, @y) predicts by the rules of exact/prior.h. */
static __device__ __forceinline__ void
predict (const Frame &f, const MotionWork &w, const StereoMotion &motion, int x, int y, float disparity, int luma)
{
  float middle_x = (float) (f.width - 1) * 0.5f, middle_y = (float) (f.height - 1) * 0.5f, across, down, next;

  if (!stereo_prior_place (&motion, (float) x - middle_x, (float) y - middle_y, disparity, &across, &down, &next))
    return;
  float column = rintf (across + middle_x), row = rintf (down + middle_y);
  if (!(column >= 0 && row >= 0 && column <= (float) (f.width - 1) && row <= (float) (f.height - 1)))
    return;
  atomicMax (w.last.predicted + (size_t) (int) row * f.map_pitch + (int) column,
      stereo_prior_word (next, f.min_disparity, f.disparities, luma));
}

/* Thread: FOUR pixels of a row, of which the last may lie behind its end. */
static __global__ void
__launch_bounds__ (KEEP_THREADS)
    keep_kernel (const __grid_constant__ Frame f, const __grid_constant__ MotionWork w, int32_t least_sure)
{
  int x = FOUR * (blockIdx.x * KEEP_THREADS + threadIdx.x), y = blockIdx.y;
  size_t at = (size_t) y * f.map_pitch + x;

  if (x >= f.width)
    return;
  float4 confidence = *(const float4 *) (f.view[STEREO_LEFT].confidence + at);
  float4 disparity = *(const float4 *) (f.disparity + at);
  uchar4 age = *(const uchar4 *) (w.c.age + at);
  uchar4 luma = *(const uchar4 *) (f.view[STEREO_LEFT].luma + (size_t) y * f.image_pitch + x);
  uchar4 sure = make_uchar4 ((unsigned char) stereo_motion_confidence (confidence.x),
      (unsigned char) stereo_motion_confidence (confidence.y), (unsigned char) stereo_motion_confidence (confidence.z),
      (unsigned char) stereo_motion_confidence (confidence.w));
  *(float4 *) (w.last.disparity + at) = disparity;
  *(uchar4 *) (w.last.age + at) = age;
  *(uchar4 *) (w.last.luma + at) = luma;
  *(uchar4 *) (w.last.confidence + at) = sure;
  if (!w.last.predicted || !w.c.motion->known)
    return;
  StereoMotion motion = *w.c.motion;
  const float d[FOUR] = { disparity.x, disparity.y, disparity.z, disparity.w };
  const unsigned char old[FOUR] = { age.x, age.y, age.z, age.w }, grey[FOUR] = { luma.x, luma.y, luma.z, luma.w };
  const unsigned char likely[FOUR] = { sure.x, sure.y, sure.z, sure.w };
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    if (x + k < f.width && old[k] == 1 && likely[k] >= least_sure)
      predict (f, w, motion, x + k, y, d[k], grey[k]);
}

/* ---- the stage --------------------------------------------------------------------------------------- */

static StereoStatus
motion_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  MotionContext *c = (MotionContext *) context;
  size_t map = stereo_times ((size_t) plan->map_pitch, (size_t) plan->height);
  StereoStatus status = STEREO_OK;

  c->width = plan->width / STEREO_MOTION_REDUCED;
  c->height = plan->height / STEREO_MOTION_REDUCED;
  c->pitch = c->width;
  for (int k = 0; k < 2 && !status; k++)
    status = stereo_reserve (plan, (void **) &c->reduced[k], (size_t) c->pitch * (size_t) c->height + 1, 1, error);
  if (status || (status = stereo_reserve (plan, (void **) &c->age, map, sizeof *c->age, error)) ||
      (status = stereo_reserve (plan, (void **) &c->points, STEREO_MOTION_POINTS, sizeof *c->points, error)))
    return status;
  return stereo_reserve (plan, (void **) &c->motion, 1, sizeof *c->motion, error);
}

static StereoStatus
motion_run (StereoPlan *plan, void *context, StereoError *error)
{
  const MotionContext *c = (const MotionContext *) context;
  cudaStream_t stream = cuda_state (plan)->stream, beside;
  dim3 tiles (cuda_blocks (plan->width, COLUMNS), cuda_blocks (plan->height, ROWS));
  dim3 rows (cuda_blocks (plan->width, FOUR * KEEP_THREADS), plan->height);
  Frame f = cuda_frame (plan);
  MotionWork w = { plan->last, *c };
  StereoStatus status;

  if ((status = cuda_motion_points (plan, f, w, error)) || (status = cuda_motion_fit (plan, f, w, error)))
    return status;
  follow_kernel<<<tiles, dim3 (COLUMNS, ROWS), 0, stream>>> (
      f, w, stereo_motion_least_sure (stereo_params_first_threshold (&plan->params)));
  CUDA_LAUNCHED (plan, "follow_kernel");
  if ((status = cuda_begin_late (plan, &beside, error)))
    return status;
  keep_kernel<<<rows, KEEP_THREADS, 0, beside>>> (
      f, w, stereo_prior_least_sure (stereo_params_hide_unlikely (&plan->params)));
  CUDA_LAUNCHED (plan, "keep_kernel");
  return cuda_join (plan, error);
}

}

extern const StereoStage stereo_cuda_motion = {
  .name = "motion",
  .context_size = sizeof (MotionContext),
  .prepare = motion_prepare,
  .run = motion_run,
};
