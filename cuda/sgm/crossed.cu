/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Four paths at a time, where what they add fits bytes (lines.cuh): lines of one direction both ways, and those of the other
 * direction both ways up to the middle, side by side. Alone, either would wait for its own chain of operations. A second
 * kernel goes on along the latter to their ends, and sums up: along rows it also selects (winners.cu), along columns it is
 * the one below.
 */
#include "cuda/post/select.cuh"
#include "cuda/sgm/lines.cuh"

namespace
{

constexpr int CROSSED_BLOCKS = 10; /* on a multiprocessor, up to 128 disparities: more halves would hold up the whole lines */
constexpr int LAST_BLOCKS = 5; /* with more, memory is slower */
constexpr int LAST_WARPS = 4;  /* of a block: neighbouring columns, all from the same end */

/* Where the costs of a path are between the two kernels: a lane's pairs. */
template <int PAIRS, int LANES> __device__ __forceinline__ uint32_t *
place_of_path (const Sgm &s, int line, int back, int lane)
{
  return s.halfway + (((ptrdiff_t) line * 2 + back) * LANES + lane) * PAIRS;
}

/*
 * Block: a warp for one or two lines from their beginning, and one for the same lines from their far end; the first
 * @whole_blocks have whole lines, the others have halves. Shared memory: a PixelRing a warp.
 */
template <Task FIRST, Task SECOND, int PAIRS, int LANES> __global__ void __launch_bounds__ (32 * BLOCK_WARPS,
    PAIRS <= 2 ? CROSSED_BLOCKS : 1) crossed_kernel (Sgm s, Lines wholes, Lines halves, int whole_blocks)
{
  extern __shared__ uint4 shared[];
  const int GROUPS = 32 / LANES, SETS = most_sets<FIRST, SECOND> ();
  bool is_whole = (int) blockIdx.x < whole_blocks;
  int back = threadIdx.x / 32,
      line = ((int) blockIdx.x - (is_whole ? 0 : whole_blocks)) * GROUPS + threadIdx.x % 32 / LANES;
  uint32_t ring = ring_of_lane<PAIRS, SETS> (shared);
  Lines l = is_whole ? wholes : halves;
  LinePath<PAIRS, LANES> t = path_of_line<PAIRS, LANES> (s, l, line, back, 0);
  Target to = is_whole ? in_volume (s) : is_in_bytes (FIRST) ? Target{ s.third, 1 } : in_volume (s, 1);

  /* one loop for both halves: with a loop for each, instructions would be waited for */
  if (FIRST == SECOND)
#pragma unroll 1
    for (int half = 0; half < (is_whole ? 2 : 1); half++) {
      if (half)
        __syncthreads ();
      add_pixels<FIRST, SETS> (t, ring, s, l, (l.length + 1 - (back ^ half)) / 2, to);
      to = in_volume (s, 1);
    }
  else {
    add_pixels<FIRST, SETS> (t, ring, s, l, (l.length + 1 - back) / 2, to);
    if (is_whole) {
      __syncthreads ();
      add_pixels<SECOND, SETS> (t, ring, s, l, (l.length + back) / 2, to);
    }
  }
  if (!is_whole && line < halves.count)
    store_pairs (place_of_path<PAIRS, LANES> (s, line, back, t.lane), t.path);
}

/* Block: as above, but of columns that are read side by side, and written so: a page of memory has many of them. */
template <Task LAST, int PAIRS, int LANES> __global__ void __launch_bounds__ (
    32 * LAST_WARPS, PAIRS *LANES <= 64 ? LAST_BLOCKS : 1) last_kernel (Sgm s, Lines columns)
{
  extern __shared__ uint4 shared[];
  const int GROUPS = 32 / LANES, SETS = sets_of (LAST);
  int back = blockIdx.x & 1;
  int line = ((int) blockIdx.x / 2 * LAST_WARPS + threadIdx.x / 32) * GROUPS + threadIdx.x % 32 / LANES;
  int done = (columns.length + 1 - back) / 2;
  uint32_t ring = ring_of_lane<PAIRS, SETS> (shared);
  LinePath<PAIRS, LANES> t = path_of_line<PAIRS, LANES> (s, columns, line, back, done);

  load_pairs (t.path, place_of_path<PAIRS, LANES> (s, t.line, back, t.lane));
  if (done > 0)
    t.lowest = lowest_of<PAIRS, LANES> (t.path);
  add_pixels<LAST, SETS, true> (t, ring, s, columns, columns.length - done, in_volume (s));
}

template <Task LAST, int PAIRS, int LANES> static StereoStatus
launch_last (StereoPlan *plan, const Sgm &s, const Lines &columns, StereoError *error)
{
  size_t shared = LAST_WARPS * PixelRing<PAIRS, sets_of (LAST)>::warp;
  unsigned blocks = 2 * cuda_blocks (columns.count, LAST_WARPS * (32 / LANES));

  CUDA_TRY (
      cudaFuncSetAttribute (last_kernel<LAST, PAIRS, LANES>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) shared));
  last_kernel<LAST, PAIRS, LANES><<<blocks, 32 * LAST_WARPS, shared, cuda_state (plan)->stream>>> (s, columns);
  CUDA_LAUNCHED (plan, "last_kernel");
  return STEREO_OK;
}

template <Task FIRST, Task SECOND, int PAIRS, int LANES> static StereoStatus
launch_first (StereoPlan *plan, const Sgm &s, const Lines &wholes, const Lines &halves, StereoError *error)
{
  unsigned whole_blocks = cuda_blocks (wholes.count, 32 / LANES), half_blocks = cuda_blocks (halves.count, 32 / LANES);
  size_t shared = BLOCK_WARPS * PixelRing<PAIRS, most_sets<FIRST, SECOND> ()>::warp;

  crossed_kernel<FIRST, SECOND, PAIRS, LANES>
      <<<whole_blocks + half_blocks, 32 * BLOCK_WARPS, shared, cuda_state (plan)->stream>>> (
          s, wholes, halves, (int) whole_blocks);
  CUDA_LAUNCHED (plan, "crossed_kernel");
  return STEREO_OK;
}

template <Task FIRST, Task SECOND, Task LAST, int PAIRS, int LANES> static StereoStatus
launch_crossed (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  Lines rows = is_in_bytes (LAST) ? lines_in_bytes (s, true) : lines_of (s, true);
  Lines columns = is_in_bytes (LAST) ? lines_in_bytes (s, false) : lines_of (s, false);
  bool selects = sgm_selects (plan);
  StereoStatus status = selects ? launch_first<FIRST, SECOND, PAIRS, LANES> (plan, s, columns, rows, error) :
                                  launch_first<FIRST, SECOND, PAIRS, LANES> (plan, s, rows, columns, error);

  /* a warp with two columns of up to 128 disparities: what a pixel costs besides its candidates is paid once for both */
  const int LAST_PAIRS = PAIRS == 2 && LANES == 32 ? 4 : PAIRS, LAST_LANES = PAIRS == 2 && LANES == 32 ? 16 : LANES;

  if (status)
    return status;
  return selects ? sgm_winners (plan, s, error) : launch_last<LAST, LAST_PAIRS, LAST_LANES> (plan, s, columns, error);
}

}

StereoStatus
sgm_crossed_prepare (StereoPlan *plan, SgmCrossed *c, const Sgm &s, StereoError *error)
{
  size_t candidates = s.depth > 32 ? 2 * (size_t) s.depth : 64; /* of a group of lanes, at most */
  size_t lines = (size_t) (plan->width > plan->height ? plan->width : plan->height);
  StereoStatus status = stereo_reserve_for (
      plan, STEREO_LIFE_PATHS, (void **) &c->halfway, lines * 2, candidates * sizeof (uint16_t), error);

  return status || !s.fits_byte ? status :
                                  stereo_reserve_for (plan, STEREO_LIFE_PATHS, (void **) &c->third,
                                      (size_t) plan->width * (size_t) plan->height, (size_t) plan->depth, error);
}

StereoStatus
sgm_crossed (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  return s.fits_bytes ?
      SGM_LINES_FOR_DEPTH (s.depth, launch_crossed, (ROUNDED_FIRST, ROUNDED_ADD, ROUNDED_LAST), plan, s, error) :
      SGM_LINES_FOR_DEPTH (s.depth, launch_crossed, (BYTES_FIRST, BYTES_FIRST, BYTES_LAST), plan, s, error);
}
