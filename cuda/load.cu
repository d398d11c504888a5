/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Images of any packing -> packed colour and luma, the right view mirrored. */
#include "cuda/common.cuh"

struct Sources
{
  StereoImage image[2];
};

#define LOAD_THREADS 128
#define LOAD_PIXELS 512         /* of a block, in a row */
#define LOAD_STRIDE 8           /* the largest pixel, bytes */

/* Bytes first..last - 1 of a row's piece to shared memory, by whole words where they lie within. */
static __device__ void
load_bytes (uint32_t *words, const uint8_t *piece, int first, int last)
{
  int skip = (int) ((uintptr_t) piece & 3);

  for (int w = threadIdx.x; w < (skip + last + 3) / 4; w += LOAD_THREADS) {
    int from = 4 * w - skip;
    uint32_t word = 0;
    if (from >= first && from + 4 <= last)
      word = *(const uint32_t *) (piece + from);
    else
      for (int b = max (0, first - from); b < min (4, last - from); b++)
        word |= (uint32_t) piece[from + b] << 8 * b;
    words[w] = word;
  }
}

/* Bytes of a pixel that are read. */
static __device__ void
sample_range (const StereoImage &image, int *first, int *last)
{
  *first = *last = image.offset[0];
  for (int c = 1; c < image.channels; c++) {
    *first = min (*first, (int) image.offset[c]);
    *last = max (*last, (int) image.offset[c]);
  }
}

/* A block per piece of a row, a plane of the grid per view. The right view is written backwards. */
static __global__ void __launch_bounds__ (LOAD_THREADS)
load_kernel (Frame f, Sources sources)
{
  __shared__ uint32_t words[LOAD_PIXELS * LOAD_STRIDE / 4 + 2];
  int x0 = blockIdx.x * LOAD_PIXELS, y = blockIdx.y, view = blockIdx.z, first, last;
  const StereoImage &image = sources.image[view];
  const uint8_t *piece = image.data + y * image.stride + (ptrdiff_t) x0 * image.pixel_stride;
  int pixels = min (f.width - x0, LOAD_PIXELS);

  sample_range (image, &first, &last);
  load_bytes (words, piece, first, (pixels - 1) * image.pixel_stride + last + 1);
  __syncthreads ();
  for (int p = threadIdx.x; p < pixels; p += LOAD_THREADS) {
    const uint8_t *from = (const uint8_t *) words + ((uintptr_t) piece & 3) + p * image.pixel_stride;
    size_t to = (size_t) y * f.image_pitch + (view == STEREO_RIGHT ? f.width - 1 - x0 - p : x0 + p);
    uint32_t r = from[image.offset[0]], g = r, b = r, luma = r;
    if (image.channels == 3) {
      g = from[image.offset[1]];
      b = from[image.offset[2]];
      luma = (77 * r + 150 * g + 29 * b + 128) >> 8;
    }
    f.view[view].color[to] = r | g << 8 | b << 16;
    f.view[view].luma[to] = (uint8_t) luma;
  }
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
  load_kernel <<<dim3 (cuda_blocks (plan->width, LOAD_PIXELS), plan->height, 2), LOAD_THREADS, 0, state->stream>>> (cuda_frame (plan),
      sources);
  CUDA_LAUNCHED (plan, "load_kernel");
  return STEREO_OK;
}

extern const StereoStage stereo_cuda_load = { "load", load_prepare, load_run };
