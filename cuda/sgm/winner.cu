/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The winner of the paths where nothing else is wanted of them: sums are compared as they are made, and not stored. */
#include "cuda/lists.cuh"
#include "cuda/sgm/paths.cuh"

namespace
{

constexpr int LANES = 8, THREADS = 256;
constexpr int PAIRS = 4; /* of candidates, that a lane has at a time */

static __device__ __forceinline__ RawCosts<PAIRS>
load_bytes (const uint8_t *from)
{
  uint2 v = *(const uint2 *) from;
  return { { v.x, v.y } };
}

/* Adds the bytes of both sets of a direction to @sums. */
static __device__ __forceinline__ void
add_sets (uint32_t (&sums)[PAIRS], const uint8_t *sets, int depth)
{
#pragma unroll
  for (int way = 0; way < 2; way++) {
    uint32_t added[PAIRS];
    spread_costs (added, load_bytes (sets + way * depth), 1);
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
      sums[p] += added[p];
  }
}

/* LANES lanes have a pixel of row blockIdx.y. All paths begin with the candidate's own cost. */
static __global__ void
__launch_bounds__ (THREADS) winner_kernel (const __grid_constant__ Frame f, const __grid_constant__ Sgm s, uint16_t *to)
{
  int item = blockIdx.x * THREADS + threadIdx.x, x = item / LANES, y = blockIdx.y;
  size_t at = ((size_t) y * f.width + min (x, f.width - 1)) * f.depth;
  int first = stereo_first_index (x, f.width, f.min_disparity);
  int last = stereo_last_index (x, f.disparities, f.min_disparity);
  uint32_t best = ~0u;

  for (int i = item % LANES * 2 * PAIRS; i < f.depth; i += LANES * 2 * PAIRS) {
    uint32_t sums[PAIRS];
    spread_costs (sums, load_bytes (s.costs + at + i), 4);
    add_sets (sums, (const uint8_t *) s.volume + 2 * at + i, f.depth);
    add_sets (sums, s.sets + WINNER_MORE * at + i, f.depth);
    best = lowest_of_eight (best, sums, i, first, last);
  }
  store_lowest<LANES> (f, best, x, y, to);
}

}

StereoStatus
sgm_winner (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  dim3 blocks (cuda_blocks ((size_t) plan->width * LANES, THREADS), plan->height);

  winner_kernel<<<blocks, THREADS, 0, cuda_state (plan)->stream>>> (cuda_frame (plan), s, plan->view[STEREO_LEFT].index);
  CUDA_LAUNCHED (plan, "winner_kernel");
  return STEREO_OK;
}
