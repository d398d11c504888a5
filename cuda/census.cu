/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Census transform (3.2.5) and the horizontal gradient: what the costs read besides luma and colour. */
#include "cuda/common.cuh"

#define TILE_X 32
#define TILE_Y 32
#define ROWS 8                  /* of threads */

static __device__ int
clamp (int v, int last)
{
  return v < 0 ? 0 : v > last ? last : v;
}

/* 7x5 leaves two opposite corners out, to have 32 neighbours. */
template <int RX, int RY>
static __device__ constexpr bool
skipped (int dx, int dy)
{
  return (dx == 0 && dy == 0) || (RX == 3 && dx * dy == RX * RY && (dx == RX || dx == -RX));
}

/* A thread per column and every eighth row, a plane of the grid per view. The luma of the block and its surroundings stands
 * in shared memory, borders repeated; the gradient comes from the same tile. */
template <typename Bits, int RX, int RY, bool GRADIENT>
static __global__ void
census_kernel (Frame f)
{
  __shared__ uint8_t tile[TILE_Y + 2 * RY][TILE_X + 2 * RX];
  const StereoView &view = f.view[blockIdx.z];
  int x0 = blockIdx.x * TILE_X, y0 = blockIdx.y * TILE_Y, tx = threadIdx.x, ty = threadIdx.y;
  int sign = blockIdx.z == STEREO_RIGHT ? -1 : 1;       /* true x runs backwards there */

  for (int v = ty; v < TILE_Y + 2 * RY; v += ROWS) {
    const uint8_t *row = view.luma + (size_t) clamp (y0 + v - RY, f.height - 1) * f.image_pitch;
    for (int u = tx; u < TILE_X + 2 * RX; u += TILE_X)
      tile[v][u] = row[clamp (x0 + u - RX, f.width - 1)];
  }
  __syncthreads ();
  for (; ty < TILE_Y; ty += ROWS) {
    const uint8_t *centre = &tile[ty + RY][tx + RX];
    size_t to = (size_t) (y0 + ty) * f.image_pitch + x0 + tx;
    Bits bits = 0;
    int bit = 0;
    if (x0 + tx >= f.width || y0 + ty >= f.height)
      return;
#pragma unroll
    for (int dy = -RY; dy <= RY; dy++)
#pragma unroll
      for (int dx = -RX; dx <= RX; dx++)
        if (!skipped<RX, RY> (dx, dy))
          bits |= (Bits) (centre[dy * (TILE_X + 2 * RX) + sign * dx] < centre[0]) << bit++;
    ((Bits *) view.census)[to] = bits;
    if (GRADIENT)
      view.gradient[to] = (int16_t) (sign * (centre[1] - centre[-1]));
  }
}

template <typename Bits, int RX, int RY, bool GRADIENT>
static StereoStatus
census_run (StereoPlan *plan, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->width, TILE_X), cuda_blocks (plan->height, TILE_Y), 2);
  census_kernel<Bits, RX, RY, GRADIENT> <<<grid, dim3 (TILE_X, ROWS), 0, cuda_state (plan)->stream>>>
      (cuda_frame (plan));
  CUDA_LAUNCHED (plan, "census_kernel");
  return STEREO_OK;
}

extern const StereoStage stereo_cuda_census_7x5 = { "census", NULL, census_run<uint32_t, 3, 2, false> };
extern const StereoStage stereo_cuda_census_9x7 = { "census", NULL, census_run<uint64_t, 4, 3, false> };
extern const StereoStage stereo_cuda_mixed = { "census", NULL, census_run<uint32_t, 3, 2, true> };
