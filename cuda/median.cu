/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Median of the valid disparities of a window; pixels without a disparity stay so. */
#include "cuda/common.cuh"

#define SORT(a, b) \
  do { \
    float low_ = fminf (a, b), high_ = fmaxf (a, b); \
    a = low_; \
    b = high_; \
  } while (0)

/* The known 19-exchange network for nine values. */
static __device__ float
median9 (const float *v)
{
  float a = v[0], b = v[1], c = v[2], d = v[3], e = v[4], f = v[5], g = v[6], h = v[7], i = v[8];
  SORT (b, c); SORT (e, f); SORT (h, i); SORT (a, b); SORT (d, e); SORT (g, h); SORT (b, c); SORT (e, f);
  SORT (h, i); SORT (a, d); SORT (f, i); SORT (e, h); SORT (d, g); SORT (b, e); SORT (c, f); SORT (e, h);
  SORT (e, c); SORT (g, e); SORT (e, c);
  return e;
}

/* The value with @rank others before it, at most the middle: sorts the lower half. */
template <int N>
static __device__ float
ranked (float *v, int rank)
{
  float found = NAN;
#pragma unroll
  for (int i = 0; i <= N / 2; i++) {
#pragma unroll
    for (int j = N - 1; j > i; j--)
      SORT (v[j - 1], v[j]);
    found = i == rank ? v[i] : found;
  }
  return found;
}

/* A thread per pixel; its window stays in registers (all indices are known when compiling), and its
 * neighbours' reads of the same values come from the L1 cache. */
template <int RADIUS>
static __global__ void __launch_bounds__ (256, 4)
median_kernel (Frame f)
{
  const int SIDE = 2 * RADIUS + 1, N = SIDE * SIDE;
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, count = 0;
  float values[N];

  cuda_let_next_start ();
  cuda_await_last ();
  if (x >= f.width || y >= f.height)
    return;
#pragma unroll
  for (int k = 0; k < N; k++) {
    int u = x + k % SIDE - RADIUS, v = y + k / SIDE - RADIUS;
    bool inside = u >= 0 && u < f.width && v >= 0 && v < f.height;
    float value = inside ? f.disparity[(size_t) v * f.map_pitch + u] : NAN;
    count += !isnan (value);
    values[k] = isnan (value) ? INFINITY : value;       /* sorts last */
  }
  float median = NAN;
  if (!isinf (values[N / 2]))
    median = RADIUS == 1 && count == N ? median9 (values) : ranked<N> (values, (count - 1) / 2);
  f.disparity_spare[(size_t) y * f.map_pitch + x] = median;
}

template <int RADIUS>
static StereoStatus
median_run (StereoPlan *plan, StereoError *error)
{
  dim3 block (32, 8), grid (cuda_blocks (plan->width, 32), cuda_blocks (plan->height, 8));
  cuda_launch_close (plan, median_kernel<RADIUS>, grid, block, 0, cuda_frame (plan));
  CUDA_LAUNCHED (plan, "median_kernel");
  float *done = plan->disparity_spare;
  plan->disparity_spare = plan->disparity;
  plan->disparity = done;
  return STEREO_OK;
}

extern const StereoStage stereo_cuda_median3 = { "median3", NULL, median_run<1> };
extern const StereoStage stereo_cuda_median5 = { "median5", NULL, median_run<2> };
