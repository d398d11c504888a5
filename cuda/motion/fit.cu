/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The motion that most points have, by the rules of exact/motion.h. One block: it is short work, but for waiting. */
#include "cuda/motion/motion.cuh"

namespace
{

constexpr int UNKNOWNS = STEREO_MOTION_UNKNOWNS;
constexpr int POINTS = STEREO_MOTION_POINTS;
constexpr int SUMS = STEREO_MOTION_SUMS;

static_assert (POINTS == 512 && UNKNOWNS * (UNKNOWNS + 1) <= POINTS && SUMS <= POINTS, "the block");

/* What the fit's block shares. */
struct Fit
{
  int64_t partial[POINTS / 32][SUMS]; /* of each warp */
  double equations[UNKNOWNS][UNKNOWNS + 1], motion[UNKNOWNS];
  int32_t sum;
};

static __device__ __forceinline__ int64_t
sum_of_warp (int64_t value)
{
#pragma unroll
  for (int away = 16; away; away /= 2)
    value += __shfl_down_sync (~0u, (long long) value, away);
  return value;
}

/* All sums of the points of each warp. */
static __device__ __forceinline__ void
add_points (const StereoMotionRows &rows, int32_t weight, Fit *fit)
{
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, index = 0;

#pragma unroll
  for (int i = 0; i < UNKNOWNS; i++)
#pragma unroll
    for (int j = i; j < UNKNOWNS; j++, index++) {
      int64_t sum = 0;
#pragma unroll
      for (int k = 0; k < 3; k++)
        sum += (int64_t) rows.of[k][i] * rows.of[k][j];
      sum = sum_of_warp (weight * sum);
      if (lane == 0)
        fit->partial[warp][index] = sum;
    }
#pragma unroll
  for (int i = 0; i < UNKNOWNS; i++, index++) {
    int64_t sum = 0;
#pragma unroll
    for (int k = 0; k < 3; k++)
      sum += (int64_t) rows.of[k][i] * rows.rest[k];
    sum = sum_of_warp (weight * sum);
    if (lane == 0)
      fit->partial[warp][index] = sum;
  }
}

/* The equations from the sums, and their solution. An element of the equations has a thread. */
static __device__ __forceinline__ void
solve (Fit *fit)
{
  int t = threadIdx.x, i = t / (UNKNOWNS + 1), j = t % (UNKNOWNS + 1);

  if (t < SUMS) {
    int64_t sum = 0;
    int row, column;
    for (int warp = 0; warp < POINTS / 32; warp++)
      sum += fit->partial[warp][t];
    stereo_motion_pair (t, &row, &column);
    double entry = stereo_motion_entry (sum, row, column);
    fit->equations[row][column] = entry;
    if (column < UNKNOWNS)
      fit->equations[column][row] = entry;
  }
  __syncthreads ();
  for (int k = 0; k < UNKNOWNS; k++) {
    /* neither row k nor column k changes in step k */
    if (i < UNKNOWNS && i != k && j > k)
      fit->equations[i][j] = stereo_motion_eliminate (
          fit->equations[i][j], fit->equations[i][k], fit->equations[k][k], fit->equations[k][j]);
    __syncthreads ();
  }
  if (t < UNKNOWNS)
    fit->motion[t] = fit->equations[t][UNKNOWNS] / fit->equations[t][t];
  __syncthreads ();
}

/* One block; thread: a point. */
static __global__ void
__launch_bounds__ (POINTS) fit_kernel (const __grid_constant__ Frame f, const __grid_constant__ MotionWork w)
{
  __shared__ Fit fit;
  double half = max (f.width, f.height) / 2.0;
  const StereoMotionPoint *point = w.c.points + threadIdx.x;
  int used = point->used, still = used && point->still;
  StereoMotionCounts counts = {};
  StereoMotionRows rows = {};

  counts.used = __syncthreads_count (used);
  counts.still = __syncthreads_count (still);
  if (!stereo_motion_is_likely (&counts)) {
    if (threadIdx.x == 0)
      w.c.motion->known = 0;
    return;
  }
  if (used)
    rows = stereo_motion_rows (point);
  if (threadIdx.x < UNKNOWNS)
    fit.motion[threadIdx.x] = 0;
  if (threadIdx.x == 0)
    fit.sum = 0;
  __syncthreads ();
#pragma unroll 1
  for (int round = 0; round < STEREO_MOTION_ROUNDS; round++) {
    add_points (rows, used ? stereo_motion_weight (stereo_motion_away (&rows, fit.motion, half), round) : 0, &fit);
    __syncthreads ();
    solve (&fit);
  }
  int near = used && stereo_motion_away (&rows, fit.motion, half) <= STEREO_MOTION_NEAR * STEREO_MOTION_NEAR;
  if (near)
    atomicAdd (&fit.sum, point->sum);
  counts.near = __syncthreads_count (near);
  counts.sum = fit.sum;
  if (threadIdx.x == 0)
    *w.c.motion = stereo_motion_judge (fit.motion, &counts, half);
}

}

StereoStatus
cuda_motion_fit (StereoPlan *plan, const Frame &f, const MotionWork &w, StereoError *error)
{
  fit_kernel<<<1, POINTS, 0, cuda_state (plan)->stream>>> (f, w);
  CUDA_LAUNCHED (plan, "fit_kernel");
  return STEREO_OK;
}
