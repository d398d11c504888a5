/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Align: the right view is resampled along its columns by plan->align, into rows of the stage's own and back. The
 * alignment lies in device memory, so that a captured frame reads each frame's own. Most cameras need none: up to the first
 * frame that does, nothing is launched, and graph.cu captures the steps again then. After it, kernels of a frame without one end
 * at once.
 */
#include "cuda/common.cuh"

#include <string.h>

namespace
{

constexpr int ALIGN_THREADS = 128;
constexpr int ALIGN_PIXELS = 4; /* of a thread: a vector of colours */
constexpr int ALIGN_ROWS = 4;   /* of a block: fewer blocks end at once where nothing is to be done */

struct Context
{
  uint32_t *rows;          /* device: the resampled view; rows of whole vectors */
  StereoAlignSteps *steps; /* device */
  StereoAlignSteps sent;   /* what the device has, or will have when its stream comes there */
};

static __host__ __device__ size_t
pitch_of (int width)
{
  return ((size_t) width + ALIGN_PIXELS - 1) / ALIGN_PIXELS * ALIGN_PIXELS;
}

static __device__ __forceinline__ uint32_t
sample (const uint32_t *column, int pitch, int height, int y, int drop)
{
  int above = y + (drop >> 8);
  uint32_t color[4];

#pragma unroll
  for (int k = 0; k < 4; k++)
    color[k] = __ldg (column + (size_t) min (max (above - 1 + k, 0), height - 1) * pitch);
  return stereo_align_blend (color, stereo_align_taps (drop & 0xFF));
}

/* Four pixels of a row of the right view, which is stored mirrored. */
static __device__ __forceinline__ void
resample_four (
    const Frame &f, const StereoAlignSteps *steps, uint32_t *rows, int m, int y, uint32_t scale_x, uint32_t scale_y)
{
  uint32_t made[ALIGN_PIXELS];
  StereoAlignRow row = stereo_align_row (steps, stereo_align_place (y, scale_y));
#pragma unroll
  for (int k = 0; k < ALIGN_PIXELS; k++) {
    int own = min (m + k, f.width - 1), drop = stereo_align_drop (row, stereo_align_place (f.width - 1 - own, scale_x));
    made[k] = sample (f.view[STEREO_RIGHT].color + own, f.image_pitch, f.height, y, drop);
  }
  *(uint4 *) (rows + (size_t) y * pitch_of (f.width) + m) = make_uint4 (made[0], made[1], made[2], made[3]);
}

/* Thread: four pixels of ALIGN_ROWS rows. */
static __global__ void
__launch_bounds__ (ALIGN_THREADS)
    resample_kernel (Frame f, const StereoAlignSteps *steps, uint32_t *rows, uint32_t scale_x, uint32_t scale_y)
{
  int m = (blockIdx.x * ALIGN_THREADS + threadIdx.x) * ALIGN_PIXELS, end = min ((blockIdx.y + 1) * ALIGN_ROWS, f.height);

  if (steps->active && m < f.width)
    for (int y = blockIdx.y * ALIGN_ROWS; y < end; y++)
      resample_four (f, steps, rows, m, y, scale_x, scale_y);
}

/* The same four pixels, back to where the steps read them, with their luma. */
static __device__ __forceinline__ void
put_four (const Frame &f, const uint32_t *rows, int m, int y)
{
  size_t at = (size_t) y * f.image_pitch + m;
  uint32_t *color = f.view[STEREO_RIGHT].color + at;
  uint8_t *luma = f.view[STEREO_RIGHT].luma + at;
  uint4 four = *(const uint4 *) (rows + (size_t) y * pitch_of (f.width) + m);
  uint32_t made[ALIGN_PIXELS] = { four.x, four.y, four.z, four.w };
  if (m + ALIGN_PIXELS <= f.width) {
    *(uint4 *) color = four;
    *(uint32_t *) luma = stereo_align_luma (made[0]) | stereo_align_luma (made[1]) << 8 |
        stereo_align_luma (made[2]) << 16 | stereo_align_luma (made[3]) << 24;
    return;
  }
  for (int k = 0; k < ALIGN_PIXELS && m + k < f.width; k++) {
    color[k] = made[k];
    luma[k] = (uint8_t) stereo_align_luma (made[k]);
  }
}

static __global__ void
__launch_bounds__ (ALIGN_THREADS) put_kernel (Frame f, const StereoAlignSteps *steps, const uint32_t *rows)
{
  int m = (blockIdx.x * ALIGN_THREADS + threadIdx.x) * ALIGN_PIXELS, end = min ((blockIdx.y + 1) * ALIGN_ROWS, f.height);

  if (steps->active && m < f.width)
    for (int y = blockIdx.y * ALIGN_ROWS; y < end; y++)
      put_four (f, rows, m, y);
}

static StereoStatus
align_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = (Context *) context;
  StereoStatus status = stereo_reserve_for (plan, STEREO_LIFE_MATCH, (void **) &c->rows,
      stereo_times (pitch_of (plan->width), (size_t) plan->height), 4, error);

  return status ? status : stereo_reserve (plan, (void **) &c->steps, 1, sizeof *c->steps, error);
}

static StereoStatus
align_run (StereoPlan *plan, void *context, StereoError *error)
{
  const Context *c = (const Context *) context;
  cudaStream_t stream = cuda_state (plan)->stream;
  dim3 grid (cuda_blocks (plan->width, ALIGN_PIXELS * ALIGN_THREADS), cuda_blocks (plan->height, ALIGN_ROWS));
  Frame f = cuda_frame (plan);

  if (!plan->align.active || cuda_state (plan)->first_view + cuda_state (plan)->views <= STEREO_RIGHT)
    return STEREO_OK;
  resample_kernel<<<grid, ALIGN_THREADS, 0, stream>>> (
      f, c->steps, c->rows, stereo_align_scale (plan->width), stereo_align_scale (plan->height));
  CUDA_LAUNCHED (plan, "resample_kernel");
  put_kernel<<<grid, ALIGN_THREADS, 0, stream>>> (f, c->steps, c->rows);
  CUDA_LAUNCHED (plan, "put_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_align = {
  .name = "align",
  .context_size = sizeof (Context),
  .prepare = align_prepare,
  .run = align_run,
};

/* The slot's last frame is collected: its copy has left the slot's pinned memory. */
StereoStatus
cuda_send_alignment (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  Context *c = (Context *) cuda_context_of (plan, &stereo_cuda_align);
  StereoAlignSteps *pinned = state->slot[plan->slot].pinned_alignment;

  if (!c || !memcmp (&c->sent, &plan->align, sizeof c->sent))
    return STEREO_OK;
  *pinned = plan->align;
  CUDA_TRY (cudaMemcpyAsync (c->steps, pinned, sizeof *pinned, cudaMemcpyHostToDevice, state->stream));
  c->sent = plan->align;
  return STEREO_OK;
}
