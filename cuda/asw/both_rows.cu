/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Second pass of support=both: along the rows, in place.
 *
 * A tap is l(x) r(x') c. For 16 indices, 8 columns x and two taps the products r c are the left operand of a product
 * of matrices, two neighbouring columns a register; the right operand has the l(x) on its diagonals, so that it weighs,
 * adds the two taps in single precision, and leaves each pair's sum to itself. The weights' sum, of l(x) r(v), is a
 * proper product of matrices by x and v, whose band goes through shared memory to those who have the pairs. A warp has
 * 32 columns by 32 indices.
 *
 * r depends on the partner only: with v = x - i it is a matter of 8 columns by 8 indices how far these tiles are apart,
 * 7 registers for 16 tiles. Taps 8 apart share registers of costs in the same way. So taps are taken in classes: k,
 * k + 8, k + 16, k + 24 at once while there are 32 of them, then k and k + 8, then single ones.
 *
 * Costs come by copies that run beside the sums, 32 columns at a time into a ring, and out of it transposed. A block
 * makes its weights itself: moving on by STEP_COLUMNS columns, the right ones it meets are those of STEP_COLUMNS new pixels.
 */
#include "cuda/asw/both_rows.cuh"

namespace
{

/* ---- sums ---------------------------------------------------------------------------------------- */

/* A lane's right weights: those at distance d of the tiles stand at low, middle or high by d's sign. In words for
 * classes of one tap. */
struct Right
{
  int low, middle, high;

  template <int Q>
  __device__ __forceinline__ PerTap<Q>
  load (const uint32_t *weights, int d) const
  {
    return load_words<Q> (weights + Q * (d < 0 ? low : d > 0 ? high : middle) + Q * 8 * d);
  }
};

/* The sums of a warp's pairs: by 8 columns and 16 indices. */
struct Sums
{
  float cost[4][2][4];
};

/* A lane's operand from a pair of halves or one: @chosen of them where this lane has the diagonal. */
struct Diagonal
{
  uint32_t choose[2];

  template <int Q>
  __device__ __forceinline__ PerTap<Q>
  load (const __half *left, int column) const
  {
    PerTap<Q> w;
    if (Q == 1) {
      w.of[0] = __byte_perm (*(const uint16_t *) (left + column), 0, choose[0]);
    } else {
      PerTap<Q / 2 + (Q == 1)> pairs = load_words<Q / 2 + (Q == 1)> ((const uint32_t *) (left + column * Q));
#pragma unroll
      for (int q = 0; q < Q; q++)
        w.of[q] = __byte_perm (pairs.of[q / 2], 0, choose[q % 2]);
    }
    return w;
  }
};

/* Adds a class of Q taps, and with few of them what their products lose to rounding. @costs (n, tiles): four tiles of
 * costs, 8 n columns after those of the first column's first tap. */
template <int Q, typename Costs>
__device__ __forceinline__ void
add_class (Sums &sums, Costs costs, const uint32_t *right, const Right &lane_right, const __half *left, int column,
    const Diagonal &diagonal)
{
  PerTap<Q> r[7]; /* by distance + 3 */
  uint32_t c[Q + 3][4];
#pragma unroll
  for (int d = 0; d < 3; d++)
    r[d] = lane_right.load<Q> (right, d - 3);
#pragma unroll
  for (int n = 0; n < Q - 1; n++)
    costs (n, c[n]);
#pragma unroll
  for (int j = 0; j < 4; j++) {
    r[3 + j] = lane_right.load<Q> (right, j);
    costs (Q - 1 + j, c[Q - 1 + j]);
    PerTap<Q> l = diagonal.load<Q> (left, column + 8 * j);
#pragma unroll
    for (int p = 0; p < 2; p++) {
      const PerTap<Q> &a = r[3 + j - 2 * p], &b = r[2 + j - 2 * p];
      if constexpr (Q == 1) {
        uint32_t one = times (a.of[0], c[j][2 * p]), two = times (b.of[0], c[j][2 * p + 1]);
        multiply_half (sums.cost[j][p], one, two, l.of[0]);
        multiply_half (sums.cost[j][p], rest (a.of[0], c[j][2 * p], one), rest (b.of[0], c[j][2 * p + 1], two), l.of[0]);
      } else
#pragma unroll
        for (int q = 0; q < Q; q += 2) {
          uint4 four = make_uint4 (times (a.of[q], c[j + q][2 * p]), times (b.of[q], c[j + q][2 * p + 1]),
              times (a.of[q + 1], c[j + q + 1][2 * p]), times (b.of[q + 1], c[j + q + 1][2 * p + 1]));
          multiply (sums.cost[j][p], four, l.of[q], l.of[q + 1]);
          if constexpr (Q == 2)
            multiply (sums.cost[j][p], make_uint4 (rest (a.of[0], c[j][2 * p], four.x),
                    rest (b.of[0], c[j][2 * p + 1], four.y), rest (a.of[1], c[j + 1][2 * p], four.z),
                    rest (b.of[1], c[j + 1][2 * p + 1], four.w)), l.of[0], l.of[1]);
        }
    }
  }
}

/* A lane's view of the ring of costs: it addresses row lane % 8 of tile lane / 8. */
template <int INDICES> struct CostRing
{
  const __half *line; /* its row of the first block */
  int first, blocks;  /* block of the step's first column; of the ring */

  __device__ __forceinline__ const __half *
  block (int n) const
  {
    int b = first + n;
    return line + (b < blocks ? b : b - blocks) * (STEP_COLUMNS * Shared<INDICES>::pitch);
  }
};

/* 32 taps from number 32 n on, 8 classes. */
template <int INDICES>
__device__ __forceinline__ void
add_quad (Sums &sums, const CostRing<INDICES> &ring, int n, const uint32_t *right, const Right &lane_right,
    const __half *left, int column, const Diagonal &diagonal)
{
  typedef Shared<INDICES> S;
  const int pitch = S::pitch;
  const __half *low = ring.block (n), *high = ring.block (n + 1);
  int over = threadIdx.x & 7; /* of the row: with 8 it is in the tile after */
#pragma unroll 2
  for (int k = 0; k < 8; k++) {
    const __half *between = over + k < 8 ? low : high - STEP_COLUMNS * pitch;
    add_class<4> (
        sums,
        [=] (int tile, uint32_t (&to)[4]) {
          const __half *base = tile < 3 ? low : tile > 3 ? high - STEP_COLUMNS * pitch : between;
          load_transposed (to, base + 8 * tile * pitch);
        },
        right, lane_right, left, column, diagonal);
    low += pitch, high += pitch;
    right += 4 * S::right_pitch, left += 4 * S::left_pitch;
  }
}

/* A class of few taps, from number @k on. */
template <int Q, int INDICES>
__device__ __forceinline__ void
add_few (Sums &sums, const CostRing<INDICES> &ring, int k, const uint32_t *right, const Right &lane_right,
    const __half *left, int column, const Diagonal &diagonal)
{
  int over = threadIdx.x & 7;
  add_class<Q> (
      sums,
      [&] (int tile, uint32_t (&to)[4]) {
        int from = k + 8 * tile, row = from + over;
        load_transposed (to, ring.block (row / STEP_COLUMNS) + (row % STEP_COLUMNS - over) * Shared<INDICES>::pitch);
      },
      right, lane_right, left, column, diagonal);
}

template <int INDICES>
__device__ __forceinline__ void
sum_taps (Sums &sums, const CostRing<INDICES> &ring, const uint32_t *right, const Right &lane_right, const __half *left,
    int column, const Diagonal &diagonal, Taps taps)
{
  typedef Shared<INDICES> S;
  int k = 0;
  for (int n = 0; n < taps.quads; n++, k += 32)
    add_quad<INDICES> (sums, ring, n, right + k * S::right_pitch, lane_right, left + k * S::left_pitch, column, diagonal);
  if (taps.duos) {
#pragma unroll 1
    for (int n = 0; n < 8; n++)
      add_few<2, INDICES> (sums, ring, k + n, right + (k + 2 * n) * S::right_pitch, lane_right,
          left + (k + 2 * n) * S::left_pitch, column, diagonal);
    k += 16;
  }
#pragma unroll 1
  for (int end = k + taps.singles; k < end; k++)
    add_few<1, INDICES> (sums, ring, k, right + k * S::right_pitch, lane_right, left + k * S::left_pitch, column, diagonal);
}

/* ---- results ------------------------------------------------------------------------------------- */

/* Divides the sums by the totals, which come through @scratch: the numbers of steps, in the low bits of what is left
 * (the sum with 2^23 has them there). */
__device__ __forceinline__ void
divide (Sums &sums, const Totals &totals, float *scratch, float scale)
{
  const int pitch = 36; /* 16 columns of 32 indices */
  int lane = threadIdx.x & 31, g = lane / 4, t = lane % 4;
#pragma unroll
  for (int m = 0; m < 2; m++) {
    __syncwarp ();
#pragma unroll
    for (int n = 0; n < 8; n++) { /* n % 4 of a fragment. Of the first and the last run one is of an index. */
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

/* Eight steps into the volume, but those of no candidates. */
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

/* A warp's means, steps, through @out. No candidate's mean passes STEREO_COST_TOP: the largest cost stays below it
 * by more than all roundings. */
template <int INDICES>
__device__ __forceinline__ void
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

/* A block: a row (blockIdx.x) by INDICES indices (blockIdx.y), rolling along x. */
template <int INDICES> __global__ void __launch_bounds__ (INDICES, RESIDENT_THREADS / INDICES)
aggregate_rows_both (Frame f, AswWindow w, bool exact)
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
    { f.view[STEREO_LEFT].color + image_row, f.view[STEREO_RIGHT].color + image_row }, left, right };
  size_t volume_row = (size_t) y * f.width;
  Diagonal diagonal = { { t != g / 2 ? 0x4444u :
                          g % 2      ? 0x1044u :
                                       0x4410u,
      t != g / 2 ? 0x4444u :
      g % 2      ? 0x3244u :
                   0x4432u } };
  CostRing<INDICES> ring = { line + (lane & 7) * S::pitch + warp * 32 + lane / 8 * 8, 0, blocks };

  for (int e = threadIdx.x; e < taps.count () * S::right_pitch; e += INDICES)
    right[e] = 0;
  for (int e = threadIdx.x; e < taps.count () * S::left_pitch; e += INDICES)
    left[e] = __float2half_rn (0);
  for (int b = 0; b < blocks - 1; b++)
    load_costs<INDICES> (line + b * STEP_COLUMNS * S::pitch, f, volume_row, b * STEP_COLUMNS - w.radius, i0);
  commit_copies ();
  __syncthreads ();
  int slot = INDICES;                                    /* of the step's first v */
  int partner = f.width - 1 + f.min_disparity + i0; /* which has v 0 in the first step */
  for (int v = -INDICES; v < 0; v += STEP_COLUMNS) {
    maker.look_at (STEREO_RIGHT, partner - v - lane);
    for (int n = warp; n < taps.classes (); n += INDICES / 32)
      maker.make_class (STEREO_RIGHT, n, INDICES + v);
    __syncwarp ();
  }
  __syncthreads (); /* another warp goes on with the class, and writes to the last word of this one's */

  for (int x0 = 0; x0 < f.width; x0 += STEP_COLUMNS) {
    int last = ring.first ? ring.first - 1 : blocks - 1;
    maker.look_at (STEREO_LEFT, x0 + lane);
    maker.look_at (STEREO_RIGHT, partner - x0 - lane);
#pragma unroll 1
    for (int n = warp; n < 2 * taps.classes (); n += INDICES / 32)
      if (n & 1)
        maker.make_class (STEREO_RIGHT, n >> 1, slot);
      else
        maker.make_class (STEREO_LEFT, n >> 1, slot);
    await_copies<0> ();
    load_costs<INDICES> (line + last * STEP_COLUMNS * S::pitch, f, volume_row, x0 + (blocks - 1) * STEP_COLUMNS - w.radius, i0);
    commit_copies ();
    __syncthreads ();

    Sums sums = {};
    int high = slot - 32 * warp, low = high - 32, at = 2 * t - g;
    high = high < 0 ? high + S::ring : high;
    low = low < 0 ? low + S::ring : low;
    Right lane_right = { low + 32 + at, (at < 0 ? low + 32 : high) + at, high + at };
    int i = i0 + 32 * warp; /* of the warp's 32 indices; it rests where none has a partner */
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

/* Indices a block takes: the depth in the fewest blocks of the fewest threads. */
static int
block_indices (const StereoPlan *plan)
{
  static const int choices[] = { 160, 128, 96, 64 };
  int best = 64;
  for (int i = 0; i < 4; i++)
    if (cuda_blocks (plan->depth, choices[i]) * choices[i] < cuda_blocks (plan->depth, best) * best)
      best = choices[i];
  for (int i = 3; i >= 0; i--) /* the largest of the equally good */
    if (cuda_blocks (plan->depth, choices[i]) * choices[i] == cuda_blocks (plan->depth, best) * best)
      best = choices[i];
  size_t most = (size_t) cuda_state (plan)->shared_per_block;
  return Shared<160>::bytes (plan->params.window / 2, asw_both_exact (plan)) <= most ? best : 64;
}

/* What is allowed is the device's limit, not this plan's need: plans share the kernel. */
template <int INDICES>
static StereoStatus
prepare (StereoPlan *plan, StereoError *error)
{
  CUDA_TRY (cudaFuncSetAttribute (aggregate_rows_both<INDICES>, cudaFuncAttributeMaxDynamicSharedMemorySize,
          cuda_state (plan)->shared_per_block));
  return STEREO_OK;
}

template <int INDICES>
static StereoStatus
launch_kernel (StereoPlan *plan, StereoError *error)
{
  Frame f = cuda_frame (plan);
  AswWindow w = asw_window (plan);
  dim3 grid (f.height, cuda_blocks (f.depth, INDICES));
  bool exact = asw_both_exact (plan);
  aggregate_rows_both<INDICES><<<grid, INDICES, Shared<INDICES>::bytes (w.radius, exact), cuda_state (plan)->stream>>> (f, w, exact);
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
    default:                    /* 64, the least that block_indices() chooses */
      return launch (std::integral_constant<int, 64> ());
  }
}

}

StereoStatus
asw_both_rows_prepare (StereoPlan *plan, StereoError *error)
{
  return launch_for_indices (plan, [=](auto indices) { return prepare<decltype (indices)::value> (plan, error); });
}

StereoStatus
asw_both_rows (StereoPlan *plan, StereoError *error)
{
  return launch_for_indices (plan, [=](auto indices) { return launch_kernel<decltype (indices)::value> (plan, error); });
}
