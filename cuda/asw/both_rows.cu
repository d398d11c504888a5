/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Second pass of support=both: along the rows, in place, on the tensor cores (mma.cuh).
 *
 * The sum for column x and index i is over the taps of the window: l(x) r(v) c, with v = x - i for the partner. For 16
 * indices, 8 columns and two taps the products r c are a matrix A with two neighbouring columns in a register. B has
 * the weights l(x) on the diagonals of its two halves: the product weighs, adds both taps in single precision, and
 * mixes no columns. Lane 4 g + t holds:
 *
 *                 A (right weight * cost): tap, columns x            B (left weights): column x         D: column x
 *                tap q: 2t,2t+1   tap q+1: 2t,2t+1                          g                        2t         2t+1
 *   index g          a.x              a.z            tap q, x = 2t,2t+1      b0: l(g) in the half    cost[0]   cost[1]
 *   index g+8        a.y              a.w            tap q+1, the same x     b1: where x = g, else 0 cost[2]   cost[3]
 *
 * The sums of the weights, of l(x) r(v), are a product by x and v without such zeros; its band goes through shared
 * memory to the lanes that have the pairs. A warp has 32 columns by 32 indices.
 *
 * r depends on v only. Tiles of 8 columns by 8 indices that have the same distance share it: 7 registers serve 16
 * tiles. Taps 8 columns apart share registers of costs in the same way. So taps are summed in classes: k, k + 8, k + 16
 * and k + 24 at once while there are 32 taps left, then k and k + 8, then single taps.
 *
 * Copies of the costs run beside the sums: 32 columns at a time into a ring, from which ldmatrix reads them transposed.
 * A block makes its weights itself: when it moves on by STEP_COLUMNS columns, it needs the right weights of as many
 * pixels.
 */
#include "cuda/asw/both_sums.cuh"

namespace
{

/* ---- results ------------------------------------------------------------------------------------- */

/* Divides the sums by the totals, which other lanes have: they go through @scratch. Leaves volume steps in the low bits
 * of each sum, where adding 2^23 puts whole numbers. */
__device__ __forceinline__ void
divide (Sums &sums, const Totals &totals, float *scratch, float scale)
{
  const int pitch = 36; /* 16 columns of 32 indices */
  int lane = threadIdx.x & 31, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int m = 0; m < 2; m++) {
    __syncwarp ();
#pragma unroll
    for (int n = 0; n < 8;
         n++) { /* element n % 4 of D; of the first and the last run only one has an index of the warp */
      int x = g + n % 4 / 2 * 8, i = x - pair_of_run (2 * t) - n % 2 * 4 - n / 4;
      scratch[x * pitch + i + 16] = totals.of[m][1][n / 4][n % 4];
      float first = totals.of[m][0][n / 4][n % 4], last = totals.of[m][2][n / 4][n % 4];
      scratch[x * pitch + (i & 31)] = i < 0 ? first : last;
    }
    __syncwarp ();
#pragma unroll
    for (int n = 0; n < 16; n++) {
      int j = n / 8, p = n / 4 % 2, e = n % 4;
      float total = scratch[(8 * j + 2 * t + e % 2) * pitch + 16 * p + g + e / 2 * 8];
      float &sum = sums.cost[2 * m + j][p][e];
      sum = fmaf (sum, reciprocal (total) * scale, 8388608.0f);
    }
  }
  __syncwarp ();
}

/* Stores the steps of eight indices; STEREO_INVALID where there is no candidate. */
__device__ __forceinline__ void
store_steps (const Frame &f, uint4 eight, size_t volume_row, int x, int i)
{
  int first = stereo_first_index (x, f.width, f.min_disparity) - i;
  int last = stereo_last_index (x, f.disparities, f.min_disparity) - i;
  uint32_t words[4] = { eight.x, eight.y, eight.z, eight.w };
  if (first > 0 || last < 7)
#pragma unroll
    for (int b = 0; b < 8; b++)
      words[b / 2] |= b < first || b > last ? b % 2 ? STEREO_INVALID << 16 : STEREO_INVALID : 0;
  if (x < f.width && i < f.depth)
    *(uint4 *) (f.volume + (volume_row + x) * f.depth + i) = make_uint4 (words[0], words[1], words[2], words[3]);
}

/* Stores the means of a warp, transposed in shared memory at @out. No mean exceeds STEREO_COST_TOP: the largest cost
 * stays below it by more than all rounding errors. */
template <int INDICES> __device__ __forceinline__ void
store_means (const Sums &sums, uint16_t *out, const Frame &f, size_t volume_row, int x0, int i0)
{
  const int pitch = Shared<INDICES>::out_pitch;
  int lane = threadIdx.x & 31;
  uint16_t *to = out + lane % 4 * 2 * pitch + lane / 4;
#pragma unroll
  for (int j = 0; j < 4; j++)
#pragma unroll
    for (int p = 0; p < 2; p++)
#pragma unroll
      for (int e = 0; e < 4; e++)
        to[(8 * j + e % 2) * pitch + 16 * p + e / 2 * 8] = (uint16_t) __float_as_uint (sums.cost[j][p][e]);
  __syncwarp ();
#pragma unroll
  for (int n = 0; n < STEP_COLUMNS; n += 8)
    store_steps (f, *(const uint4 *) (out + (lane / 4 + n) * pitch + lane % 4 * 8), volume_row, x0 + lane / 4 + n,
        i0 + lane % 4 * 8);
}

/* Before the first step: clears all weights, starts to copy the costs of all blocks of the ring but the last one, and
 * makes the right weights of all v below 0. */
template <int INDICES> __device__ __forceinline__ void
start_row (Maker<INDICES> &maker, const Frame &f, __half *line, size_t volume_row, int blocks, int i0, int partner)
{
  typedef Shared<INDICES> S;
  const Taps &taps = maker.taps;
  int lane = threadIdx.x & 31, warp = threadIdx.x / 32;

  for (int e = threadIdx.x; e < taps.count () * S::right_pitch; e += INDICES)
    maker.right[e] = 0;
  for (int e = threadIdx.x; e < taps.count () * S::left_pitch; e += INDICES)
    maker.left[e] = __float2half_rn (0);
  for (int b = 0; b < blocks - 1; b++)
    load_costs<INDICES> (line + b * STEP_COLUMNS * S::pitch, f, volume_row, b * STEP_COLUMNS - maker.w.radius, i0);
  commit_copies ();
  __syncthreads ();
  for (int v = -INDICES; v < 0; v += STEP_COLUMNS) {
    maker.set_pixel (STEREO_RIGHT, partner - v - lane);
    for (int n = warp; n < taps.classes (); n += INDICES / 32)
      maker.make_class (STEREO_RIGHT, n, INDICES + v);
    __syncwarp ();
  }
  __syncthreads (); /* in the next step another warp may make a class, and writes to the last word that this warp wrote */
}

/* Block: a row (blockIdx.x) by INDICES indices (blockIdx.y), 32 a warp, from left to right in steps of STEP_COLUMNS
 * columns. The warps share out the classes of taps whose weights a step needs; then each sums up its 32 columns by 32
 * indices. Shared memory: see Shared. A lane stores 16 bytes of each of four columns at a time. */
template <int INDICES> __global__ void
__launch_bounds__ (INDICES, RESIDENT_THREADS / INDICES) aggregate_rows_both (Frame f, AswWindow w, bool exact)
{
  typedef Shared<INDICES> S;
  extern __shared__ uint4 shared[];
  Taps taps (w.radius, exact);
  int lane = threadIdx.x & 31, g = lane / 4, t = lane % 4, warp = threadIdx.x / 32;
  int y = blockIdx.x, i0 = blockIdx.y * INDICES, blocks = S::blocks (w.radius);
  __half *line = (__half *) shared, *out = line + blocks * STEP_COLUMNS * S::pitch, *left = out + INDICES / 32 * S::out;
  uint32_t *right = (uint32_t *) (left + taps.count () * S::left_pitch);
  size_t image_row = (size_t) y * f.image_pitch;
  Maker<INDICES> maker = { taps, w, f.width,
    { f.view[STEREO_LEFT].likeness + image_row, f.view[STEREO_RIGHT].likeness + image_row }, left, right };
  size_t volume_row = (size_t) y * f.width;
  Diagonal diagonal = { { t != g / 2 ? 0x4444u :
          g % 2                      ? 0x1044u :
                                       0x4410u,
      t != g / 2 ? 0x4444u :
          g % 2  ? 0x3244u :
                   0x4432u } };
  CostRing<INDICES> ring = { line + (lane & 7) * S::pitch + warp * 32 + lane / 8 * 8, 0, blocks };

  int slot = INDICES;                               /* of the first v of the step */
  int partner = f.width - 1 + f.min_disparity + i0; /* with v = 0 in the first step */
  start_row<INDICES> (maker, f, line, volume_row, blocks, i0, partner);

  for (int x0 = 0; x0 < f.width; x0 += STEP_COLUMNS) {
    int last = ring.first ? ring.first - 1 : blocks - 1;
    maker.set_pixel (STEREO_LEFT, x0 + lane);
    maker.set_pixel (STEREO_RIGHT, partner - x0 - lane);
#pragma unroll 1
    for (int n = warp; n < 2 * taps.classes (); n += INDICES / 32)
      if (n & 1)
        maker.make_class (STEREO_RIGHT, n >> 1, slot);
      else
        maker.make_class (STEREO_LEFT, n >> 1, slot);
    await_copies<0> ();
    load_costs<INDICES> (
        line + last * STEP_COLUMNS * S::pitch, f, volume_row, x0 + (blocks - 1) * STEP_COLUMNS - w.radius, i0);
    commit_copies ();
    __syncthreads ();

    Sums sums = {};
    int high = slot - 32 * warp, low = high - 32, at = 2 * t - g;
    high = high < 0 ? high + S::ring : high;
    low = low < 0 ? low + S::ring : low;
    Right lane_right = { low + 32 + at, (at < 0 ? low + 32 : high) + at, high + at };
    int i = i0 + 32 * warp; /* the first of the warp's 32 indices; it sums up nothing where none has a partner */
    if (x0 + STEP_COLUMNS - 1 - f.min_disparity >= i && x0 - f.width + 1 - f.min_disparity <= i + 31) {
      sum_taps<INDICES> (sums, ring, right, lane_right, left, g, diagonal, taps);
      Totals totals = {};
      total_taps<INDICES> (totals, right, Partners{ low, high }, left, taps);
      divide (sums, totals, (float *) (out + warp * S::out), (float) f.volume_unit);
    }
    store_means<INDICES> (sums, (uint16_t *) (out + warp * S::out), f, volume_row, x0, i);
    slot = ring_slot<INDICES> (slot + STEP_COLUMNS);
    ring.first = ring.first + 1 < blocks ? ring.first + 1 : 0;
    __syncthreads ();
  }
}

/* Indices of a block, such that all blocks together have the fewest threads; the largest of equally good choices. */
static int
block_indices (const StereoPlan *plan)
{
  static const int choices[] = { 160, 128, 96, 64 };
  int best = 64;
  for (int i = 0; i < 4; i++)
    if (cuda_blocks (plan->depth, choices[i]) * choices[i] < cuda_blocks (plan->depth, best) * best)
      best = choices[i];
  for (int i = 3; i >= 0; i--)
    if (cuda_blocks (plan->depth, choices[i]) * choices[i] == cuda_blocks (plan->depth, best) * best)
      best = choices[i];
  size_t most = (size_t) cuda_state (plan)->shared_per_block;
  return Shared<160>::bytes (plan->params.window / 2, asw_both_exact (plan)) <= most ? best : 64;
}

/* Allows the kernel the device's limit of shared memory, not this plan's need: plans share the kernel. */
template <int INDICES> static StereoStatus
prepare (StereoPlan *plan, StereoError *error)
{
  CUDA_TRY (cudaFuncSetAttribute (
      aggregate_rows_both<INDICES>, cudaFuncAttributeMaxDynamicSharedMemorySize, cuda_state (plan)->shared_per_block));
  return STEREO_OK;
}

template <int INDICES> static StereoStatus
launch_kernel (StereoPlan *plan, StereoError *error)
{
  Frame f = cuda_frame (plan);
  AswWindow w = asw_window (plan);
  dim3 grid (f.height, cuda_blocks (f.depth, INDICES));
  bool exact = asw_both_exact (plan);
  aggregate_rows_both<INDICES>
      <<<grid, INDICES, Shared<INDICES>::bytes (w.radius, exact), cuda_state (plan)->stream>>> (f, w, exact);
  CUDA_LAUNCHED (plan, "aggregate_rows_both");
  return STEREO_OK;
}

/* Calls @launch with block_indices() as a std::integral_constant. */
template <typename Launch> static StereoStatus
launch_for_indices (const StereoPlan *plan, Launch launch)
{
  switch (block_indices (plan)) {
    case 160:
      return launch (std::integral_constant<int, 160> ());
    case 128:
      return launch (std::integral_constant<int, 128> ());
    case 96:
      return launch (std::integral_constant<int, 96> ());
    default: /* 64, the least that block_indices() chooses */
      return launch (std::integral_constant<int, 64> ());
  }
}

}

StereoStatus
asw_both_rows_prepare (StereoPlan *plan, StereoError *error)
{
  return launch_for_indices (plan, [=] (auto indices) { return prepare<decltype (indices)::value> (plan, error); });
}

StereoStatus
asw_both_rows (StereoPlan *plan, StereoError *error)
{
  return launch_for_indices (
      plan, [=] (auto indices) { return launch_kernel<decltype (indices)::value> (plan, error); });
}
