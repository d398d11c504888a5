/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Images of any packing -> packed colour and luma, the right view mirrored. */
#include "cuda/common.cuh"

struct Sources
{
  StereoImage image[2];
};

/* A thread per pixel, a plane of the grid per view. Reads run along the row; so do writes, backwards
 * in the right view. */
static __global__ void
load_kernel (Frame f, Sources sources)
{
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y, view = blockIdx.z;
  const StereoImage &image = sources.image[view];

  if (x >= f.width)
    return;
  const uint8_t *from = image.data + y * image.stride + (ptrdiff_t) x * image.pixel_stride;
  size_t to = (size_t) y * f.image_pitch + (view == STEREO_RIGHT ? f.width - 1 - x : x);
  uint32_t r = from[image.offset[0]], g = r, b = r, luma = r;
  if (image.channels == 3) {
    g = from[image.offset[1]];
    b = from[image.offset[2]];
    luma = (77 * r + 150 * g + 29 * b + 128) >> 8;
  }
  f.view[view].color[to] = r | g << 8 | b << 16;
  f.view[view].luma[to] = (uint8_t) luma;
}

static StereoStatus
load_prepare (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  StereoStatus status = STEREO_OK;
  for (int v = 0; v < 2 && !status; v++)
    status = stereo_reserve (plan, (void **) &state->input[v], (size_t) plan->width * (size_t) plan->height, 4, error);
  return status;
}

static StereoStatus
load_run (StereoPlan *plan, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  Sources sources = { { state->source[0], state->source[1] } };
  load_kernel <<<dim3 (cuda_blocks (plan->width, 128), plan->height, 2), 128, 0, state->stream>>> (cuda_frame (plan),
      sources);
  CUDA_LAUNCHED (plan, "load_kernel");
  return STEREO_OK;
}

extern const StereoStage stereo_cuda_load = { "load", load_prepare, load_run };
