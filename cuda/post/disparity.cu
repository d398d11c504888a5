/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whether the views agree about a pixel (3.2.4), four of a row at a time: rows of maps are whole vectors of them. */
#include "cuda/common.cuh"
#include "cuda/post/subpixel.cuh"

namespace
{

constexpr int FOUR = 4;
static __device__ __forceinline__ void
load_four (const uint16_t *from, int (&to)[FOUR])
{
  uint2 pairs = *(const uint2 *) from;
  to[0] = (int) (pairs.x & 0xFFFF);
  to[1] = (int) (pairs.x >> 16);
  to[2] = (int) (pairs.y & 0xFFFF);
  to[3] = (int) (pairs.y >> 16);
}

/* Which of the pixels from column @x on, of indices @index, the other view's indices contradict, or lie outside it. @row: of its map. */
static __device__ __forceinline__ void
find_contradicted (const Frame &f, const StereoView &other, size_t row, int x, const int (&index)[FOUR],
    int consistency, bool (&contradicted)[FOUR])
{
  int partner[FOUR];

#pragma unroll
  for (int k = 0; k < FOUR; k++) {
    bool some = x + k < f.width && index[k] != (int) STEREO_INVALID;
    int place = f.width - 1 - (x + k) + f.min_disparity + index[k];
    contradicted[k] = some && (unsigned) place >= (unsigned) f.width;
    partner[k] = some && !contradicted[k] ? other.index[row + place] : index[k];
  }
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    contradicted[k] |= abs (partner[k] - index[k]) > consistency;
}

/* Takes from the @contradicted pixels of the left view, from column @x on, those that the check leaves alone. They are few: one
 * is looked at at a time, so that the code stands here once and its registers are few. */
static __device__ __forceinline__ void
leave_near (const Frame &f, int x, int y, bool (&contradicted)[FOUR])
{
  const StereoView &l = f.view[STEREO_LEFT], &r = f.view[STEREO_RIGHT];
  size_t map = (size_t) y * f.map_pitch, image = (size_t) y * f.image_pitch;
  unsigned left = 0, kept = 0;

  if (!f.keeps_near)
    return;
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    left |= contradicted[k] ? 1u << k : 0;
#pragma unroll 1
  for (; left; left &= left - 1) {
    int k = __ffs ((int) left) - 1, own = l.index[map + x + k], partner = f.width - 1 - (x + k) + f.min_disparity + own;
    if ((unsigned) partner < (unsigned) f.width &&
        stereo_is_left_alone (l.luma + image, r.luma + image, f.image_pitch, f.width, f.height, x + k, y, own, partner,
            r.index[map + partner]))
      kept |= 1u << k;
  }
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    contradicted[k] = contradicted[k] && !(kept >> k & 1);
}

/* The consistency of both views (3.2.4) before a refinement. After the last one, the left view alone is checked. */

constexpr int BLOCK_X = 32;
constexpr int BLOCK_Y = 4;

/* Thread: four pixels of a row; blockIdx.z: the view, whose confidence the thread writes. It reads indices of both
 * views. */
static __global__ void
__launch_bounds__ (BLOCK_X *BLOCK_Y) check_kernel (Frame f, int consistency)
{
  int x = (blockIdx.x * BLOCK_X + threadIdx.x) * FOUR, y = blockIdx.y * BLOCK_Y + threadIdx.y, index[FOUR];
  const StereoView &own = blockIdx.z ? f.view[1] : f.view[0], &other = blockIdx.z ? f.view[0] : f.view[1];
  size_t row = (size_t) y * f.map_pitch;
  bool contradicted[FOUR];

  if (x >= f.width || y >= f.height)
    return;
  load_four (own.index + row + x, index);
  find_contradicted (f, other, row, x, index, consistency, contradicted);
  if (blockIdx.z == STEREO_LEFT)
    leave_near (f, x, y, contradicted);
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    if (contradicted[k])
      own.confidence[row + x + k] = 0;
}

static StereoStatus
check_run (StereoPlan *plan, void *context, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->width, BLOCK_X * FOUR), cuda_blocks (plan->height, BLOCK_Y), 2);
  dim3 block (BLOCK_X, BLOCK_Y);
  check_kernel<<<grid, block, 0, cuda_state (plan)->stream>>> (cuda_frame (plan), plan->params.consistency);
  CUDA_LAUNCHED (plan, "check_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_check = { .name = "check", .run = check_run };

/* From the last indices to the disparity of the left view: the last check, the sub-pixel fit, the rejection. */

namespace
{

/* Four values of a map, or as many to it. */
static __device__ __forceinline__ void
load_four (const float *from, float (&to)[FOUR])
{
  float4 quad = *(const float4 *) from;
  to[0] = quad.x;
  to[1] = quad.y;
  to[2] = quad.z;
  to[3] = quad.w;
}

static __device__ __forceinline__ void
store_four (float *to, const float (&from)[FOUR])
{
  *(float4 *) to = make_float4 (from[0], from[1], from[2], from[3]);
}

/* Fits @offset for those of four pixels that are @wanted and whose index is not their @first: selection has fitted the
 * first. All loads of costs come before the fits. */
static __device__ __forceinline__ void
fit_moved (const Frame &f, int x, int y, const int (&index)[FOUR], const int (&first)[FOUR], const bool (&wanted)[FOUR],
    float (&offset)[FOUR])
{
  const uint16_t *column = f.volume + ((size_t) y * f.width + x) * f.depth;
  uint2 pairs[FOUR];

#pragma unroll
  for (int k = 0; k < FOUR; k++)
    pairs[k] = wanted[k] && index[k] != first[k] ? load_pairs (f, column + k * f.depth, index[k]) : make_uint2 (0, 0);
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    if (index[k] != first[k])
      offset[k] = fit (pairs[k], index[k]);
}

/*
 * The last check, the sub-pixel fit and the rejection. Thread: four pixels of a row of the left view. Of the right view
 * it reads only indices: no later step reads its confidence. Rejected pixels are not fitted. @found: Selection.offset.
 */
template <bool SUBPIXEL> static __global__ void
__launch_bounds__ (BLOCK_X *BLOCK_Y) disparity_kernel (Frame f, const float *found, int consistency, bool reject)
{
  int x = (blockIdx.x * BLOCK_X + threadIdx.x) * FOUR, y = blockIdx.y * BLOCK_Y + threadIdx.y, index[FOUR], first[FOUR];
  const StereoView &view = f.view[STEREO_LEFT];
  size_t row = (size_t) y * f.map_pitch;
  float d[FOUR], confidence[FOUR], offset[FOUR] = { 0, 0, 0, 0 };
  bool contradicted[FOUR], wanted[FOUR];

  if (x >= f.width || y >= f.height)
    return;
  load_four (view.index + row + x, index);
  load_four (view.confidence + row + x, confidence);
  if (SUBPIXEL) {
    load_four (view.first + row + x, first);
    load_four (found + row + x, offset);
  }
  if (consistency >= 0) {
    find_contradicted (f, f.view[STEREO_RIGHT], row, x, index, consistency, contradicted);
    leave_near (f, x, y, contradicted);
#pragma unroll
    for (int k = 0; k < FOUR; k++)
      confidence[k] = contradicted[k] ? 0.0f : confidence[k];
    if (contradicted[0] || contradicted[1] || contradicted[2] || contradicted[3])
      store_four (view.confidence + row + x, confidence);
  }
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    wanted[k] = x + k < f.width && index[k] != (int) STEREO_INVALID && !(reject && confidence[k] == 0);
  if (SUBPIXEL)
    fit_moved (f, x, y, index, first, wanted, offset);
#pragma unroll
  for (int k = 0; k < FOUR; k++)
    d[k] = wanted[k] ? (float) (f.min_disparity + index[k]) + offset[k] : NAN;
  store_four (f.disparity + row + x, d);
}

/* Behind lists, whose paths have fitted the disparity: the check and the rejection. Thread: as above. */
static __global__ void
__launch_bounds__ (BLOCK_X *BLOCK_Y) listed_kernel (Frame f, int consistency, bool reject)
{
  int x = (blockIdx.x * BLOCK_X + threadIdx.x) * FOUR, y = blockIdx.y * BLOCK_Y + threadIdx.y, index[FOUR];
  const StereoView &view = f.view[STEREO_LEFT];
  size_t row = (size_t) y * f.map_pitch;
  float confidence[FOUR];
  bool contradicted[FOUR];

  if (x >= f.width || y >= f.height)
    return;
  load_four (view.index + row + x, index);
  load_four (view.confidence + row + x, confidence);
  find_contradicted (f, f.view[STEREO_RIGHT], row, x, index, consistency, contradicted);
  leave_near (f, x, y, contradicted);
#pragma unroll
  for (int k = 0; k < FOUR; k++) {
    if (contradicted[k])
      view.confidence[row + x + k] = 0;
    if (reject && (contradicted[k] || confidence[k] == 0))
      f.disparity[row + x + k] = NAN;
  }
}

static StereoStatus
disparity_run (StereoPlan *plan, void *context, StereoError *error)
{
  const StereoParams *p = &plan->params;
  dim3 grid (cuda_blocks (plan->width, BLOCK_X * FOUR), cuda_blocks (plan->height, BLOCK_Y)), block (BLOCK_X, BLOCK_Y);
  const CudaState *state = cuda_state (plan);
  bool reject = stereo_params_reject (p);

  if (plan->listed)
    listed_kernel<<<grid, block, 0, state->stream>>> (cuda_frame (plan), p->consistency, reject);
  else if (p->subpixel)
    disparity_kernel<true>
        <<<grid, block, 0, state->stream>>> (cuda_frame (plan), state->selection.offset, p->consistency, reject);
  else
    disparity_kernel<false><<<grid, block, 0, state->stream>>> (cuda_frame (plan), NULL, p->consistency, reject);
  CUDA_LAUNCHED (plan, "disparity_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_disparity = { .name = "disparity", .run = disparity_run };
