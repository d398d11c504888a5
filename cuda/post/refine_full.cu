/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The expected disparity of refinement (3.2.3) over the full window. It is slow, and there to compare with. */
#include "cuda/post/refine_window.cuh"

namespace
{

constexpr int BLOCK_X = 32; /* threads; 4 columns each */
constexpr int ROWS = 8;     /* rows of threads, and rows of taps at a time */
constexpr int THREADS = BLOCK_X * ROWS;
constexpr int SPAN = 4 * BLOCK_X + 2 * REFINE_MOST;
constexpr int OFFSETS = 2 * ROWS - 1; /* between a row of taps and a row of threads */

struct Taps
{
  uint32_t color[ROWS][SPAN];
  float confidence[ROWS][SPAN], product[ROWS][SPAN];
  float distances[OFFSETS][REFINE_DISTANCES];
};

/* Loads ROWS rows of taps from @row on, around column @x0, and their distance terms for the rows from @y0 on. */
static __device__ void
load_taps (const Frame &f, const Window &w, const StereoView &view, int x0, int y0, int row, Taps *taps)
{
  int span = 4 * BLOCK_X + 2 * w.rounded, places = 2 * w.rounded + 8;

  for (int n = threadIdx.y * BLOCK_X + threadIdx.x; n < ROWS * span; n += THREADS) {
    int k = n / span, u = n % span, x = x0 + u - w.rounded, y = row + k;
    bool inside = x >= 0 && x < f.width && y >= 0 && y < f.height;
    float confidence = inside ? view.confidence[(size_t) y * f.map_pitch + x] : 0.0f;
    taps->color[k][u] = inside ? view.likeness[(size_t) y * f.image_pitch + x] : 0;
    taps->confidence[k][u] = confidence;
    taps->product[k][u] = inside ? confidence * (float) view.index[(size_t) y * f.map_pitch + x] : 0.0f;
  }
  for (int n = threadIdx.y * BLOCK_X + threadIdx.x; n < OFFSETS * places; n += THREADS)
    taps->distances[n / places][n % places] = distance_term (w, n % places, row - y0 + n / places - (ROWS - 1));
}

/* Thread: a row by four columns; blockIdx.z: the view. Shared memory: eight rows of taps at a time, and the distance
 * terms between them and the block's eight rows. */
static __global__ void
__launch_bounds__ (THREADS) full_kernel (Frame f, Window w)
{
  __shared__ __align__ (16) Taps taps;
  const StereoView &view = f.view[blockIdx.z];
  int x0 = blockIdx.x * 4 * BLOCK_X, y0 = blockIdx.y * ROWS, x = x0 + 4 * threadIdx.x, y = y0 + threadIdx.y;
  bool inside = x < f.width && y < f.height;
  Sums s = {};
  uint32_t centre[4];

#pragma unroll
  for (int k = 0; k < 4; k++)
    centre[k] = view.likeness[(size_t) min (y, f.height - 1) * f.image_pitch + min (x + k, f.width - 1)];
  for (int row = y0 - w.radius; row < y0 + ROWS + w.radius; row += ROWS) {
    __syncthreads ();
    load_taps (f, w, view, x0, y0, row, &taps);
    __syncthreads ();
    for (int k = 0; k < ROWS && inside; k++) {
      if (row + k < 0 || row + k >= f.height || abs (row + k - y) > w.radius)
        continue;
      const float *distances = taps.distances[k - (int) threadIdx.y + ROWS - 1];
      for (int g = 0; g <= w.rounded / 2; g++) {
        int u = threadIdx.x + g;
        add_group (s, centre, ((const uint4 *) taps.color[k])[u], ((const float4 *) taps.confidence[k])[u],
            ((const float4 *) taps.product[k])[u], distances + 4 * g, w.color);
      }
    }
  }
  if (inside)
    store_expected (view, (size_t) y * f.map_pitch + x, s);
}

static StereoStatus
full_run (StereoPlan *plan, void *context, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->width, 4 * BLOCK_X), cuda_blocks (plan->height, ROWS), 2);
  full_kernel<<<grid, dim3 (BLOCK_X, ROWS), 0, cuda_state (plan)->stream>>> (cuda_frame (plan), window_of (plan));
  CUDA_LAUNCHED (plan, "full_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_refine_full = { .name = "refine", .run = full_run };
