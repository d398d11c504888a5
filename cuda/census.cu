/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The census transform (3.2.5) and the horizontal gradient, which costs read besides luma and colour. */
#include "cuda/common.cuh"

#include <cuda_fp16.h>

namespace
{

constexpr int TILE_X = 32;
constexpr int TILE_Y = 32;
constexpr int APART = TILE_Y / 2; /* distance of the two rows that share words */
constexpr int ROWS = 8;           /* of threads */

static __device__ int
clamp (int v, int last)
{
  return v < 0 ? 0 : v > last ? last : v;
}

/* Two opposite corners of 7x5 are left out: 32 neighbours remain. */
template <int RX, int RY> static __device__ constexpr bool
skipped (int dx, int dy)
{
  return (dx == 0 && dy == 0) || (RX == 3 && dx * dy == RX * RY && (dx == RX || dx == -RX));
}

/* Lumas of two rows as half floats, each + 1024: these compare as the lumas do. */
static __device__ __forceinline__ uint32_t
two_lumas (uint8_t a, uint8_t b)
{
  return 0x64006400u | a | (uint32_t) b << 16;
}

/*
 * Thread: a column by two pairs of rows; blockIdx.z: the view. Shared memory: the luma of the block and its
 * surroundings, with borders repeated. A word has a pixel and the one APART rows below: a comparison is of two pixels
 * at a time. The gradient comes from the same tile.
 */
template <typename Bits, int RX, int RY, bool GRADIENT> static __global__ void
census_kernel (Frame f)
{
  __shared__ uint32_t tile[APART + 2 * RY][TILE_X + 2 * RX];
  const StereoView &view = f.view[blockIdx.z];
  int x0 = blockIdx.x * TILE_X, y0 = blockIdx.y * TILE_Y, tx = threadIdx.x, x = x0 + tx;
  const int sign = blockIdx.z == STEREO_RIGHT ? -1 : 1; /* true x runs backwards there */

  for (int v = threadIdx.y; v < APART + 2 * RY; v += ROWS) {
    const uint8_t *a = view.luma + (size_t) clamp (y0 + v - RY, f.height - 1) * f.image_pitch;
    const uint8_t *b = view.luma + (size_t) clamp (y0 + v - RY + APART, f.height - 1) * f.image_pitch;
    for (int u = tx; u < TILE_X + 2 * RX; u += TILE_X) {
      int from = clamp (x0 + u - RX, f.width - 1);
      tile[v][u] = two_lumas (a[from], b[from]);
    }
  }
  __syncthreads ();
  if (x >= f.width)
    return;
  for (int ty = threadIdx.y; ty < APART; ty += ROWS) {
    const uint32_t *middle = &tile[ty + RY][tx + RX];
    __half2 centre = *(const __half2 *) middle;
    uint32_t bits[sizeof (Bits) / 2] = {}; /* a word: 16 bits of both pixels */
    int bit = 0;
#pragma unroll
    for (int dy = -RY; dy <= RY; dy++)
#pragma unroll
      for (int dx = -RX; dx <= RX; dx++)
        if (!skipped<RX, RY> (dx, dy)) {
          __half2 other = *(const __half2 *) (middle + dy * (TILE_X + 2 * RX) + sign * dx);
          bits[bit / 16] |= __hlt2_mask (other, centre) & 0x00010001u << bit % 16;
          bit++;
        }
#pragma unroll
    for (int h = 0; h < 2; h++) {
      size_t to = (size_t) (y0 + ty + h * APART) * f.image_pitch + x;
      Bits all = 0;
      if (y0 + ty + h * APART >= f.height)
        break;
#pragma unroll
      for (int w = 0; w < (int) sizeof (Bits) / 2; w++)
        all |= (Bits) (bits[w] >> 16 * h & 0xFFFF) << 16 * w;
      ((Bits *) view.census)[to] = all;
      if (GRADIENT)
        view.gradient[to] = (int16_t) (sign * ((int) (middle[1] >> 16 * h & 255) - (int) (middle[-1] >> 16 * h & 255)));
    }
  }
}

template <typename Bits, int RX, int RY, bool GRADIENT> static StereoStatus
census_run (StereoPlan *plan, void *context, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->width, TILE_X), cuda_blocks (plan->height, TILE_Y), 2);
  census_kernel<Bits, RX, RY, GRADIENT><<<grid, dim3 (TILE_X, ROWS), 0, cuda_state (plan)->stream>>> (cuda_frame (plan));
  CUDA_LAUNCHED (plan, "census_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_census_7x5 = { .name = "census", .run = census_run<uint32_t, 3, 2, false> };
extern const StereoStage stereo_cuda_census_9x7 = { .name = "census", .run = census_run<uint64_t, 4, 3, false> };
extern const StereoStage stereo_cuda_mixed = { .name = "census", .run = census_run<uint32_t, 3, 2, true> };
