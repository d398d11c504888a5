/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Semi-global matching along rows or columns, both ways at once: two groups of lanes start at the two ends of a line. Up to
 * the middle, each group is the first one at its pixels. There the groups wait for each other; then each goes on over the
 * pixels of the other one and adds to the sums. Both groups of a warp go the same way, along neighbouring lines.
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
  int first = (l.length + 1) / 2, second = l.length - first;
  uint32_t ring = ring_of_lane<PAIRS, SETS> (shared);
  LinePath<PAIRS, LANES> t = path_of_line<PAIRS, LANES> (s, l, line, back, 0);

  add_pixels<FIRST, SETS> (t, ring, s, l, back ? second : first, in_volume (s));
  __syncthreads ();
  add_pixels<SECOND, SETS> (t, ring, s, l, back ? first : second, in_volume (s));
}

template <Task FIRST, Task SECOND, int PAIRS, int LANES> static StereoStatus
launch_pairs (StereoPlan *plan, const Sgm &s, bool rows, StereoError *error)
{
  Lines l = lines_of (s, rows);
  unsigned blocks = cuda_blocks (l.count, BLOCK_WARPS / 2 * (32 / LANES));
  size_t shared = BLOCK_WARPS * PixelRing<PAIRS, most_sets<FIRST, SECOND> ()>::warp;

  pair_kernel<FIRST, SECOND, PAIRS, LANES><<<blocks, 32 * BLOCK_WARPS, shared, cuda_state (plan)->stream>>> (s, l);
  CUDA_LAUNCHED (plan, "pair_kernel");
  return STEREO_OK;
}

template <Task FIRST, Task SECOND> static StereoStatus
launch_for_depth (StereoPlan *plan, const Sgm &s, bool rows, StereoError *error)
{
  return SGM_LINES_FOR_DEPTH (s.depth, launch_pairs, (FIRST, SECOND), plan, s, rows, error);
}

}

StereoStatus
sgm_rows (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  return s.fits_bytes ? launch_for_depth<ROUNDED_FIRST, ROUNDED_SUMS> (plan, s, true, error) :
                        launch_for_depth<SUMS_FIRST, SUMS_ADD> (plan, s, true, error);
}

StereoStatus
sgm_columns (StereoPlan *plan, const Sgm &s, bool last, StereoError *error)
{
  return last ? launch_for_depth<SUMS_ADD, SUMS_LAST> (plan, s, false, error) :
                launch_for_depth<SUMS_ADD, SUMS_ADD> (plan, s, false, error);
}
