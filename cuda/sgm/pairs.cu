/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Semi-global matching along lines of one direction after the other, both ways at once: where what paths add does not fit bytes, or
 * where sets of bytes of all directions would need too much memory. Two groups of lanes start at the two ends of a line. Up to the
 * middle, each group is the first one at its pixels. There the groups wait for each other; then each goes on over the pixels of the
 * other one and adds to the sums. Both groups of a warp go the same way, along neighbouring lines.
 */
#include "cuda/sgm/lines.cuh"

namespace
{

/* Block: BLOCK_WARPS / 2 warps for the lines from their beginning, and as many for the same lines from their far end.
 * Shared memory: a PixelRing a warp. A lane copies and stores up to 16 bytes of a pixel at a time; the lanes of a group
 * together a whole column of the volume. */
template <Task FIRST, Task SECOND, int PAIRS, int LANES> __global__ void __launch_bounds__ (32 * BLOCK_WARPS)
    pair_kernel (Sgm s, Lines l)
{
  extern __shared__ uint4 shared[];
  const int GROUPS = 32 / LANES, SETS = most_sets<FIRST, SECOND> (); /* of a warp */
  int warp = threadIdx.x / 32, group = threadIdx.x % 32 / LANES, back = warp & 1;
  int line = (blockIdx.x * (BLOCK_WARPS / 2) + warp / 2) * GROUPS + group;
  uint32_t ring = ring_of_lane<PAIRS, SETS> (shared);
  LinePath<PAIRS, LANES> t = path_of_line<PAIRS, LANES> (s, l, line, back);
  int first = (t.length + 1) / 2, second = t.length - first;

  add_pixels<FIRST, SETS> (
      t, ring, s, l, back ? second : first, stores_sums (FIRST) ? in_volume (s) : Target{ s.sets, 1 });
  __syncthreads ();
  add_pixels<SECOND, SETS> (t, ring, s, l, back ? first : second, in_volume (s));
}

template <Task FIRST, Task SECOND, int PAIRS, int LANES> static StereoStatus
launch_pairs (StereoPlan *plan, const Sgm &s, int direction, StereoError *error)
{
  Lines l = lines_for (FIRST, s, direction);
  unsigned blocks = cuda_blocks (l.count, BLOCK_WARPS / 2 * (32 / LANES));
  size_t shared = BLOCK_WARPS * PixelRing<PAIRS, most_sets<FIRST, SECOND> ()>::warp;

  pair_kernel<FIRST, SECOND, PAIRS, LANES><<<blocks, 32 * BLOCK_WARPS, shared, cuda_state (plan)->stream>>> (s, l);
  CUDA_LAUNCHED (plan, "pair_kernel");
  return STEREO_OK;
}

template <Task FIRST, Task SECOND> static StereoStatus
launch_for_depth (StereoPlan *plan, const Sgm &s, int direction, StereoError *error)
{
  return SGM_LINES_FOR_DEPTH (s.depth, launch_pairs, (FIRST, SECOND), plan, s, direction, error);
}

/* Sums up all directions: ONE has the first, MORE adds one, LAST adds the last one. */
template <Task FIRST, Task MORE_FIRST, Task ONE, Task MORE, Task LAST> static StereoStatus
launch_directions (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  int last = plan->params.paths == 4 ? SGM_VERTICAL : SGM_FALLING;
  StereoStatus status = launch_for_depth<FIRST, ONE> (plan, s, SGM_SIDEWAYS, error);

  for (int direction = SGM_VERTICAL; !status && direction < last; direction++)
    status = launch_for_depth<MORE_FIRST, MORE> (plan, s, direction, error);
  return status ? status : launch_for_depth<MORE_FIRST, LAST> (plan, s, last, error);
}

}

StereoStatus
sgm_pairs (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  return s.fits_byte ?
      launch_directions<BYTES_FIRST, BYTES_FIRST, BYTES_SUMS, BYTES_ADD, BYTES_ADD_LAST> (plan, s, error) :
      launch_directions<SUMS_FIRST, SUMS_ADD, SUMS_ADD, SUMS_ADD, SUMS_LAST> (plan, s, error);
}
