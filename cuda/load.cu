/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From images of any packing to packed colour and luma; the right view is mirrored. */
#include "cuda/common.cuh"

namespace
{

struct Sources
{
  StereoImage image[2];
};

constexpr int LOAD_THREADS = 128;
constexpr int LOAD_PIXELS = 4; /* of a thread: a vector of colours */

/* How a pixel is read: the @size bytes from @first on, of which @order picks red, green and blue. */
struct Samples
{
  int first, size;
  uint32_t order;
};

static __device__ __forceinline__ Samples
samples_of (const StereoImage &image)
{
  int o[3] = { image.offset[0], image.offset[image.channels == 3 ? 1 : 0], image.offset[image.channels == 3 ? 2 : 0] };
  int first = min (o[0], min (o[1], o[2])), last = max (o[0], max (o[1], o[2]));
  return { first, last - first + 1, (uint32_t) (o[0] - first | (o[1] - first) << 4 | (o[2] - first) << 8) };
}

/* The one to four bytes (StereoImage) from @at on. They are cut from aligned words if these words are within
 * @begin..@end. */
static __device__ __forceinline__ uint32_t
load_bytes (const uint8_t *at, int size, const uint8_t *begin, const uint8_t *end)
{
  int skip = (int) ((uintptr_t) at & 3);
  bool two = skip + size > 4;
  const uint32_t *words = (const uint32_t *) (at - skip);

  if ((const uint8_t *) words >= begin && (const uint8_t *) (words + 1 + two) <= end)
    return __funnelshift_r (__ldg (words), two ? __ldg (words + 1) : 0, 8 * skip);
  uint32_t bytes = 0;
  for (int b = 0; b < size; b++)
    bytes |= (uint32_t) at[b] << 8 * b;
  return bytes;
}

/* Four neighbouring pixels of @stride bytes, 1 to 4, from @at on, with what is behind them. Reads no word that is not within
 * @begin..@end; false: it would have to. */
static __device__ __forceinline__ bool
load_four (
    const uint8_t *at, int stride, int size, const uint8_t *begin, const uint8_t *end, uint32_t (&pixel)[LOAD_PIXELS])
{
  int skip = (int) ((uintptr_t) at & 3), words = (skip + 3 * stride + size + 3) / 4;
  const uint32_t *from = (const uint32_t *) (at - skip);
  uint32_t word[5], bytes[4];

  if ((const uint8_t *) from < begin || (const uint8_t *) (from + words) > end)
    return false;
#pragma unroll
  for (int k = 0; k < 5; k++)
    word[k] = k < words ? __ldg (from + k) : 0;
#pragma unroll
  for (int k = 0; k < 4; k++)
    bytes[k] = __funnelshift_r (word[k], word[k + 1], 8 * skip);
#pragma unroll
  for (int k = 0; k < LOAD_PIXELS; k++)
    pixel[k] = stride == 4 ? bytes[k] :
        stride == 3        ? __funnelshift_r (bytes[3 * k / 4], bytes[3 * k / 4 + 1 & 3], 24 * k % 32) :
        stride == 2        ? __funnelshift_r (bytes[k / 2], bytes[k / 2 + 1], 16 * k % 32) :
                             __funnelshift_r (bytes[0], bytes[1], 8 * k);
  return true;
}

static __device__ __forceinline__ uint32_t
luma_of (uint32_t rgb)
{
  return __dp4a (rgb, 77u | 150u << 8 | 29u << 16, 128u) >> 8;
}

/* The four pixels of row @y that go to @to and behind it, as packed colours; past the end of the row its last one again. */
static __device__ __forceinline__ void
load_colors (const StereoImage &image, const Samples &samples, int width, bool mirrored, int to, int y,
    uint32_t (&rgb)[LOAD_PIXELS])
{
  const uint8_t *begin = image.data + y * image.stride + samples.first;
  const uint8_t *end = begin + (ptrdiff_t) (width - 1) * image.pixel_stride + samples.size;
  bool whole = to + LOAD_PIXELS <= width && image.pixel_stride <= 4;
  uint32_t pixel[LOAD_PIXELS];

  if (whole &&
      load_four (begin + (ptrdiff_t) (mirrored ? width - LOAD_PIXELS - to : to) * image.pixel_stride,
          image.pixel_stride, samples.size, begin, end, pixel)) {
#pragma unroll
    for (int k = 0; k < LOAD_PIXELS; k++)
      rgb[k] = mirrored ? pixel[LOAD_PIXELS - 1 - k] : pixel[k];
  } else
#pragma unroll
    for (int k = 0; k < LOAD_PIXELS; k++) {
      int own = min (to + k, width - 1), x = mirrored ? width - 1 - own : own;
      rgb[k] = load_bytes (begin + (ptrdiff_t) x * image.pixel_stride, samples.size, begin, end);
    }
#pragma unroll
  for (int k = 0; k < LOAD_PIXELS; k++)
    rgb[k] = __byte_perm (rgb[k], 0, samples.order | 0x4000);
}

static __device__ __forceinline__ void
store_colors (const Frame &f, const StereoView &view, int to, int y, const uint32_t (&rgb)[LOAD_PIXELS])
{
  uint32_t *color = view.color + (size_t) y * f.image_pitch + to;
  uint8_t *luma = view.luma + (size_t) y * f.image_pitch + to;

  if (to + LOAD_PIXELS <= f.width) {
    *(uint4 *) color = make_uint4 (rgb[0], rgb[1], rgb[2], rgb[3]);
    *(uint32_t *) luma = luma_of (rgb[0]) | luma_of (rgb[1]) << 8 | luma_of (rgb[2]) << 16 | luma_of (rgb[3]) << 24;
    return;
  }
  for (int k = 0; k < LOAD_PIXELS && to + k < f.width; k++) {
    color[k] = rgb[k];
    luma[k] = (uint8_t) luma_of (rgb[k]);
  }
}

/* Thread: four pixels of a row; blockIdx.z: the view, from @first on. The right view is written in reverse order. Luma is 77 R + 150 G
 * + 29 B of 256; with equal samples it is that sample. */
static __global__ void
__launch_bounds__ (LOAD_THREADS) load_kernel (Frame f, const __grid_constant__ Sources sources, int first)
{
  int to = (blockIdx.x * LOAD_THREADS + threadIdx.x) * LOAD_PIXELS, y = blockIdx.y, view = first + blockIdx.z;
  const StereoImage &image = sources.image[view]; /* in place: a copy of the parameter would go through memory */
  uint32_t rgb[LOAD_PIXELS];

  if (to >= f.width)
    return;
  load_colors (image, samples_of (image), f.width, view == STEREO_RIGHT, to, y, rgb);
  store_colors (f, f.view[view], to, y, rgb);
}

static StereoStatus
load_prepare (StereoPlan *plan, void *context, StereoError *error)
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
  return dim3 (cuda_blocks (plan->width, LOAD_PIXELS * LOAD_THREADS), plan->height, cuda_state (plan)->views);
}

static StereoStatus
load_run (StereoPlan *plan, void *context, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  Sources sources = { { state->source[0], state->source[1] } };

  load_kernel<<<load_grid (plan), LOAD_THREADS, 0, state->stream>>> (cuda_frame (plan), sources, state->first_view);
  CUDA_LAUNCHED (plan, "load_kernel");
  return STEREO_OK;
}

}

cudaError_t
cuda_load_source (const StereoPlan *plan, cudaGraphExec_t graph, cudaGraphNode_t node)
{
  CudaState *state = cuda_state (plan);
  Sources sources = { { state->source[0], state->source[1] } };
  Frame f = cuda_frame (plan);
  void *values[] = { &f, &sources, &state->first_view };
  cudaKernelNodeParams launch = {};

  launch.func = (void *) load_kernel;
  launch.gridDim = load_grid (plan);
  launch.blockDim = dim3 (LOAD_THREADS);
  launch.kernelParams = values;
  return cudaGraphExecKernelNodeSetParams (graph, node, &launch);
}

extern const StereoStage stereo_cuda_load = { .name = "load", .prepare = load_prepare, .run = load_run };
