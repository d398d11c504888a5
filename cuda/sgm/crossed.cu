/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * All paths, where what they add fits bytes (lines.cuh), in two kernels. The first one has lines of all directions but columns, both
 * ways, and columns both ways up to the middle, side by side. Alone, any of them would wait for its own chain of operations. The
 * second one goes on along the columns to their ends, and sums up.
 */
#include "cuda/sgm/lines.cuh"

namespace
{

/* The lines that the first kernel has of a direction. */
struct Part
{
  Lines lines;
  int blocks;    /* of this part and of those before */
  int halves;    /* that are done: 2 to the ends of the lines, both ways; 1 to the middle */
  Target target; /* of the first half; where each way has a set of its own, that of the second half is the next one */
};

struct Parts
{
  Part of[SGM_DIRECTIONS];
  int count;
};

constexpr int CROSSED_BLOCKS = 10; /* on a multiprocessor, up to 128 disparities: more are not faster */
constexpr int LAST_BLOCKS = 5;     /* with more, memory is slower */
constexpr int LAST_WARPS = 4;      /* of a block: neighbouring columns, all from the same end */

/* Where the costs of a path are between the two kernels: a lane's pairs. */
template <int PAIRS, int LANES> __device__ __forceinline__ uint32_t *
place_of_path (const Sgm &s, int line, int back, int lane)
{
  return s.halfway + (((ptrdiff_t) line * 2 + back) * LANES + lane) * PAIRS;
}

/* Block: a warp for one or two lines from their beginning, and one for the same lines from their far end. Shared memory: a
 * PixelRing a warp. */
template <Task FIRST, Task SECOND, int PAIRS, int LANES> __global__ void __launch_bounds__ (32 * BLOCK_WARPS,
    PAIRS <= 2 ? CROSSED_BLOCKS : 1) crossed_kernel (const __grid_constant__ Sgm s, const __grid_constant__ Parts parts)
{
  extern __shared__ uint4 shared[];
  const int GROUPS = 32 / LANES, SETS = most_sets<FIRST, SECOND> ();
  int number = 0;
  while ((int) blockIdx.x >= parts.of[number].blocks)
    number++;
  const Part &part = parts.of[number];
  bool is_whole = part.halves == 2;
  int back = threadIdx.x / 32, block = (int) blockIdx.x - (number ? parts.of[number - 1].blocks : 0);
  uint32_t ring = ring_of_lane<PAIRS, SETS> (shared);
  Lines l = part.lines;
  int line = block * GROUPS + threadIdx.x % 32 / LANES;
  LinePath<PAIRS, LANES> t = path_of_line<PAIRS, LANES> (s, l, line, back);
  Target to = part.target;

  /* one loop for both halves: with a loop for each, instructions would be waited for */
  if (FIRST == SECOND)
#pragma unroll 1
    for (int half = 0; half < part.halves; half++) {
      if (half)
        __syncthreads ();
      add_pixels<FIRST, SETS> (t, ring, s, l, pixels_before (s, l, t.length, back ^ half), to);
      to.first += s.depth;
    }
  else {
    add_pixels<FIRST, SETS> (t, ring, s, l, pixels_before (s, l, t.length, back), to);
    if (is_whole) {
      __syncthreads ();
      add_pixels<SECOND, SETS> (t, ring, s, l, pixels_before (s, l, t.length, !back), to);
    }
  }
  if (!is_whole && line < l.count)
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
  uint32_t ring = ring_of_lane<PAIRS, SETS> (shared);
  LinePath<PAIRS, LANES> t = path_of_line<PAIRS, LANES> (s, columns, line, back);
  int done = pixels_before (s, columns, t.length, back);

  skip_to (t, done);
  load_pairs (t.path, place_of_path<PAIRS, LANES> (s, t.line, back, t.lane));
  if (done > 0)
    t.lowest = lowest_of<PAIRS, LANES> (t.path);
  add_pixels<LAST, SETS, true> (t, ring, s, columns, t.length - done, in_volume (s));
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

/* Where sets of a pixel are: two in the volume, the others in s.sets. */
static Target
set_at (const Sgm &s, int set, int more)
{
  return set < 2 ? in_volume (s, set) : Target{ s.sets + (ptrdiff_t) (set - 2) * s.depth, more };
}

/* All directions but columns as wholes. Multiprocessors take the blocks in order, and whoever begins last should be done soon:
 * rows and columns come first, the longer ones before the others; then diagonals, which end with short ones. */
template <Task LAST, int LANES> static Parts
parts_of (const Sgm &s, int directions)
{
  const int each = is_in_bytes (LAST) ? 2 : 1; /* sets of a direction */
  bool rows_first = s.width > s.height / 2;
  Parts p = {};
  int blocks = 0;

  auto add = [&] (int direction) {
    Lines lines = lines_for (LAST, s, direction);
    int set = direction == SGM_VERTICAL ? directions - 1 : direction > SGM_VERTICAL ? direction - 1 : direction;
    blocks += (int) cuda_blocks (lines.count, 32 / LANES);
    p.of[p.count++] = { lines, blocks, direction == SGM_VERTICAL ? 1 : 2, set_at (s, set * each, more_sets_of (LAST)) };
  };
  add (rows_first ? SGM_SIDEWAYS : SGM_VERTICAL);
  add (rows_first ? SGM_VERTICAL : SGM_SIDEWAYS);
  for (int direction = SGM_RISING; direction < directions; direction++)
    add (direction);
  return p;
}

template <Task FIRST, Task SECOND, Task LAST, int PAIRS, int LANES> static StereoStatus
launch_first (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  size_t shared = BLOCK_WARPS * PixelRing<PAIRS, most_sets<FIRST, SECOND> ()>::warp;
  Parts parts = parts_of<LAST, LANES> (s, plan->params.paths / 2);

  crossed_kernel<FIRST, SECOND, PAIRS, LANES>
      <<<parts.of[parts.count - 1].blocks, 32 * BLOCK_WARPS, shared, cuda_state (plan)->stream>>> (s, parts);
  CUDA_LAUNCHED (plan, "crossed_kernel");
  return STEREO_OK;
}

template <Task FIRST, Task SECOND, Task LAST, int PAIRS, int LANES> static StereoStatus
launch_crossed (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  StereoStatus status = launch_first<FIRST, SECOND, LAST, PAIRS, LANES> (plan, s, error);

  return status ? status : launch_last<LAST, PAIRS, LANES> (plan, s, lines_for (LAST, s, SGM_VERTICAL), error);
}

}

StereoStatus
sgm_crossed (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  if (s.fits_byte)
    return SGM_LINES_FOR_DEPTH (s.depth, launch_crossed, (BYTES_FIRST, BYTES_FIRST, BYTES_LAST), plan, s, error);
  return plan->params.paths == 8 ?
      SGM_LINES_FOR_DEPTH (s.depth, launch_crossed, (ROUNDED_FIRST, ROUNDED_ADD, ROUNDED_EIGHT), plan, s, error) :
      SGM_LINES_FOR_DEPTH (s.depth, launch_crossed, (ROUNDED_FIRST, ROUNDED_ADD, ROUNDED_LAST), plan, s, error);
}
