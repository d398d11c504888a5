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

/* How a pixel is read: the bytes from @first on, of which @order picks red, green and blue. */
struct Samples
{
  int first, last;
  uint32_t order;
};

static __device__ Samples
samples_of (const StereoImage &image)
{
  int o[3] = { image.offset[0], image.offset[image.channels == 3 ? 1 : 0], image.offset[image.channels == 3 ? 2 : 0] };
  int first = min (o[0], min (o[1], o[2])), last = max (o[0], max (o[1], o[2]));
  return { first, last, (uint32_t) (o[0] - first | (o[1] - first) << 4 | (o[2] - first) << 8) };
}

/* Colour of the pixel whose first byte is number @at: eight bytes from the word it lies in, and three picked. Samples
 * of a pixel lie within four bytes (StereoImage). */
static __device__ __forceinline__ uint32_t
pick (const uint32_t *words, int at, uint32_t order)
{
  uint32_t four = __funnelshift_r (words[at >> 2], words[(at >> 2) + 1], 8 * (at & 3));
  return __byte_perm (four, 0, order | 0x4000);
}

/* A block per piece of a row, a plane of the grid per view. The right view is written backwards. Grey is 77, 150 and 29
 * parts of 256; where all samples are one, it is that. */
static __global__ void __launch_bounds__ (LOAD_THREADS)
load_kernel (Frame f, Sources sources)
{
  __shared__ uint32_t words[LOAD_PIXELS * LOAD_STRIDE / 4 + 3];
  int x0 = blockIdx.x * LOAD_PIXELS, y = blockIdx.y, view = blockIdx.z;
  const StereoImage &image = sources.image[view];
  const uint8_t *piece = image.data + y * image.stride + (ptrdiff_t) x0 * image.pixel_stride;
  int pixels = min (f.width - x0, LOAD_PIXELS);
  Samples samples = samples_of (image);
  uint32_t *color = f.view[view].color + (size_t) y * f.image_pitch;
  uint8_t *luma = f.view[view].luma + (size_t) y * f.image_pitch;

  load_bytes (words, piece, samples.first, (pixels - 1) * image.pixel_stride + samples.last + 1);
  __syncthreads ();
  for (int p = threadIdx.x; p < pixels; p += LOAD_THREADS) {
    uint32_t rgb = pick (words, ((int) (uintptr_t) piece & 3) + samples.first + p * image.pixel_stride, samples.order);
    int to = view == STEREO_RIGHT ? f.width - 1 - x0 - p : x0 + p;
    color[to] = rgb;
    luma[to] = (uint8_t) (__dp4a (rgb, 77u | 150u << 8 | 29u << 16, 128u) >> 8);
  }
}

static StereoStatus
load_prepare (StereoPlan *plan, StereoError *error)
{
  size_t pixels = (size_t) plan->width * (size_t) plan->height;
  StereoStatus status = STEREO_OK;

  for (CudaSlot &slot : cuda_state (plan)->slot)
    for (int v = 0; v < 2 && !status; v++)
      status = stereo_reserve (plan, (void **) &slot.input[v], pixels, 4, error);
  return status;
}

static dim3
load_grid (const StereoPlan *plan)
{
  return dim3 (cuda_blocks (plan->width, LOAD_PIXELS), plan->height, 2);
}

static StereoStatus
load_run (StereoPlan *plan, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  Sources sources = { { state->source[0], state->source[1] } };

  load_kernel <<<load_grid (plan), LOAD_THREADS, 0, state->stream>>> (cuda_frame (plan), sources);
  CUDA_LAUNCHED (plan, "load_kernel");
  return STEREO_OK;
}

cudaError_t
cuda_load_source (const StereoPlan *plan, cudaGraphExec_t graph, cudaGraphNode_t node)
{
  const CudaState *state = cuda_state (plan);
  Sources sources = { { state->source[0], state->source[1] } };
  Frame f = cuda_frame (plan);
  void *values[] = { &f, &sources };
  cudaKernelNodeParams launch = {};

  launch.func = (void *) load_kernel;
  launch.gridDim = load_grid (plan);
  launch.blockDim = dim3 (LOAD_THREADS);
  launch.kernelParams = values;
  return cudaGraphExecKernelNodeSetParams (graph, node, &launch);
}

extern const StereoStage stereo_cuda_load = { "load", load_prepare, load_run };
