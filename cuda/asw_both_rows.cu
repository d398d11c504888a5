/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Second pass of support=both: along the rows, in place.
 *
 * A thread takes 4 columns by 8 disparities, two disparities an instruction. The right weights run along
 * anti-diagonals (the right view is mirrored), so that 11 of them serve its 32 pairs; of every tap's four columns of
 * costs it has three from the tap before. Half floats hold single products only: the tensor cores, which add in single
 * precision, multiply them with the unit matrix, and the result lies in the lane that gave the operand. The weights are
 * summed as they were rounded, so that their rounding leaves a mean where it was.
 * A block makes its weights itself: moving on by TX columns, the right ones it meets are those of TX new pixels.
 */
#include "cuda/asw_both.cuh"

#define TX 32                   /* columns of a step: a warp has all of them, and 32 indices */
#ifndef BOTH_ROWS_THREADS       /* of a multiprocessor: 512 leaves them 128 registers, 400 some 144 and fewer moves */
#define BOTH_ROWS_THREADS 512
#endif

/* Where a block keeps what. Costs of the columns at hand, a ring, as halves; weights by tap, as halves, of TX left
 * pixels and of the right ones they meet, a ring. Pitches are such that neighbouring rows fall into other banks. */
template <int TI> struct Shared
{
  static constexpr int pitch = TI + 8;          /* of a column of costs */
  static constexpr int partners = TX + TI;
  static constexpr int left_pitch = TX + 8, right_pitch = partners + 8;

  static __host__ __device__ int
  taps (int radius)
  {
    return 2 * radius + 2;    /* even: the last weighs nothing */
  }

  static __host__ __device__ int
  columns (int radius)
  {
    return TX + (2 * radius + 7) / 8 * 8;
  }

  static size_t
  bytes (int radius)
  {
    return sizeof (__half) * (size_t) (columns (radius) * pitch + taps (radius) * (left_pitch + right_pitch));
  }
};

__device__ __forceinline__ __half2
as_half2 (uint32_t word)
{
  return *reinterpret_cast<__half2 *> (&word);
}

__device__ __forceinline__ uint32_t
as_word (__half2 pair)
{
  return *reinterpret_cast<uint32_t *> (&pair);
}

template <int TI> __device__ __forceinline__ int
ring_slot (int slot)
{
  return slot < Shared<TI>::partners ? slot : slot - Shared<TI>::partners;
}

/* Weights of pixel @p of a row to its taps, every @stride-th from @first on; 0 where either is outside. Tap number k
 * lies k - radius after the pixel, or before it in the mirrored view: @step. */
__device__ __forceinline__ void
weigh_pixel (__half *out, int pitch, const uint32_t *color, int p, int step, int width, int first, int stride,
    AswWindow w)
{
  bool inside = (unsigned) p < (unsigned) width;
  uint32_t centre = color[inside ? p : 0];
  int tap = p + step * (first - w.radius);

  out += first * pitch;
  for (int k = first; k <= 2 * w.radius; k += stride, tap += step * stride, out += stride * pitch) {
    bool valid = inside && (unsigned) tap < (unsigned) width;
    float weight = cuda_weight (centre, color[valid ? tap : 0], w.color, (float) abs (k - w.radius) * w.distance);
    *out = __float2half_rn (valid ? weight : 0);
  }
}

/* The step's left weights, and the right ones of @count partners from @partner on, the first of them in slot @turn. */
template <int TI> __device__ __forceinline__ void
make_weights (__half *left, __half *right, const Frame &f, size_t row, int x0, int partner, int count, int turn,
    AswWindow w)
{
  typedef Shared<TI> S;
  int lane = threadIdx.x % TX, warp = threadIdx.x / TX;

  weigh_pixel (left + lane, S::left_pitch, f.view[STEREO_LEFT].color + row, x0 + lane, 1, f.width, warp, TI / TX, w);
  for (int c = lane; c < count; c += TX)
    weigh_pixel (right + ring_slot<TI> (turn + c), S::right_pitch, f.view[STEREO_RIGHT].color + row, partner + c, -1,
        f.width, warp, TI / TX, w);
}

/* Of eight halves those from @first to @last, and 0. */
__device__ __noinline__ uint4
keep_range (uint4 eight, int first, int last)
{
  uint32_t word[4] = { eight.x, eight.y, eight.z, eight.w };
#pragma unroll
  for (int b = 0; b < 8; b++)
    if (b < first || b > last)
      word[b / 2] &= b % 2 ? 0xFFFFu : 0xFFFF0000u;
  return make_uint4 (word[0], word[1], word[2], word[3]);
}

/* Costs of columns from..to - 1 into the ring, from column @slot of it on; 0 where there is no partner, and nobody
 * wrote one. */
template <int TI> __device__ __forceinline__ void
load_costs (__half *line, const Frame &f, size_t volume_row, int from, int to, int slot, int i0, int columns)
{
  int c = threadIdx.x / (TI / 8), i = i0 + threadIdx.x % (TI / 8) * 8;
  const uint16_t *costs = f.volume + (volume_row + from + c) * f.depth + i;
  int place = slot + c;
#pragma unroll 4
  for (int x = from + c; x < to; x += 8, place += 8, costs += 8 * f.depth) {
    uint4 eight = make_uint4 (0, 0, 0, 0);
    int first = max (x - f.width + 1 - f.min_disparity, 0) - i, last = min (x - f.min_disparity, f.depth - 1) - i;
    place = place < columns ? place : place - columns;
    if ((unsigned) x < (unsigned) f.width && first <= 7 && last >= 0) {
      eight = *(const uint4 *) costs;
      if (first > 0 || last < 7)
        eight = keep_range (eight, first, last);
    }
    *(uint4 *) (line + place * Shared<TI>::pitch + i - i0) = eight;
  }
}

/* Two taps of 4 x 8 pairs, added to their sums. costs: columns tx + k .. tx + k + 4; left: of the two taps, 4 pixels
 * each; right: 12 partners each, of which pair (a, b) meets 3 - a + b. */
__device__ __forceinline__ void
add_taps (float (&sum)[8][4], float (&weights)[8][4], const uint4 (&costs)[5], const uint2 (&left)[2],
    const uint2 (&right)[2][3], const uint32_t (&unit)[2])
{
  __half2 pairs[2][2][5];       /* [tap][start odd][pair] */
#pragma unroll
  for (int q = 0; q < 2; q++) {
    const uint32_t words[6] = { right[q][0].x, right[q][0].y, right[q][1].x, right[q][1].y, right[q][2].x,
      right[q][2].y };
#pragma unroll
    for (int b = 0; b < 5; b++) {
      pairs[q][0][b] = as_half2 (words[b]);
      pairs[q][1][b] = as_half2 (__byte_perm (words[b], words[b + 1], 0x5432));
    }
  }
#pragma unroll
  for (int a = 0; a < 4; a++) {
    const uint32_t c0[4] = { costs[a].x, costs[a].y, costs[a].z, costs[a].w };
    const uint32_t c1[4] = { costs[a + 1].x, costs[a + 1].y, costs[a + 1].z, costs[a + 1].w };
    __half2 l[2];
#pragma unroll
    for (int q = 0; q < 2; q++) {
      __half2 both = as_half2 (a < 2 ? left[q].x : left[q].y);
      l[q] = a % 2 ? __high2half2 (both) : __low2half2 (both);
    }
    const int odd = (3 - a) % 2, from = (3 - a) / 2;
#pragma unroll
    for (int p = 0; p < 4; p += 2) {
      uint4 four = make_uint4 (as_word (__hmul2 (l[0], pairs[0][odd][from + p])),
          as_word (__hmul2 (l[0], pairs[0][odd][from + p + 1])), as_word (__hmul2 (l[1], pairs[1][odd][from + p])),
          as_word (__hmul2 (l[1], pairs[1][odd][from + p + 1])));
      multiply (weights[2 * a + p / 2], four, unit[0], unit[1]);
      four = make_uint4 (times (four.x, c0[p]), times (four.y, c0[p + 1]), times (four.z, c1[p]),
          times (four.w, c1[p + 1]));
      multiply (sum[2 * a + p / 2], four, unit[0], unit[1]);
    }
  }
}

/* A thread's way through the taps: where it reads, and the costs of the columns that the last two taps shared. */
template <int TI> struct Walk
{
  typedef Shared<TI> S;
  const __half *cost, *end, *left, *right[3];
  int turn;                     /* of the ring of costs */
  uint4 costs[5];

  __device__ __forceinline__ void
  next_column (uint4 *to)
  {
    *to = *(const uint4 *) cost;
    cost += S::pitch;
    cost = cost < end ? cost : cost - turn;
  }

  __device__ __forceinline__ void
  two_taps (float (&sum)[8][4], float (&weights)[8][4], const uint32_t (&unit)[2])
  {
    uint2 l[2], r[2][3];
#pragma unroll
    for (int q = 0; q < 2; q++) {
      next_column (&costs[3 + q]);
      l[q] = *(const uint2 *) (left + q * S::left_pitch);
#pragma unroll
      for (int b = 0; b < 3; b++)
        r[q][b] = *(const uint2 *) (right[b] + q * S::right_pitch);
    }
    left += 2 * S::left_pitch;
#pragma unroll
    for (int b = 0; b < 3; b++)
      right[b] += 2 * S::right_pitch;
    add_taps (sum, weights, costs, l, r, unit);
#pragma unroll
    for (int a = 0; a < 3; a++)
      costs[a] = costs[a + 2];
  }
};

/* Sums over @taps, an even number, of a thread's pairs. */
template <int TI> __device__ __forceinline__ void
sum_taps (float (&sum)[8][4], float (&weights)[8][4], Walk<TI> walk, int taps, const uint32_t (&unit)[2])
{
#pragma unroll
  for (int a = 0; a < 3; a++)
    walk.next_column (&walk.costs[a]);
#pragma unroll 2
  for (int k = 0; k < taps; k += 2)
    walk.two_taps (sum, weights, unit);
}

/* Means of eight pairs as steps of the volume. No candidate's mean passes STEREO_COST_TOP: the largest cost stays below
 * it by more than all roundings. */
__device__ __forceinline__ void
store_steps (const Frame &f, const float (*sum)[4], const float (*weights)[4], size_t volume_row, int x, int i)
{
  int first = stereo_first_index (x, f.width, f.min_disparity) - i;
  int last = stereo_last_index (x, f.disparities, f.min_disparity) - i;
  float scale = (float) f.volume_unit;
  uint32_t words[4];
#pragma unroll
  for (int b = 0; b < 8; b += 2) {      /* the sum with 2^23 has the rounded number in its low bits */
    float low = fmaf (sum[b / 4][b % 4], reciprocal (weights[b / 4][b % 4]) * scale, 8388608.0f);
    float high = fmaf (sum[b / 4][b % 4 + 1], reciprocal (weights[b / 4][b % 4 + 1]) * scale, 8388608.0f);
    words[b / 2] = __byte_perm (__float_as_uint (low), __float_as_uint (high), 0x5410);
  }
  if (first > 0 || last < 7)
#pragma unroll
    for (int b = 0; b < 8; b++)
      words[b / 2] |= b < first || b > last ? b % 2 ? STEREO_INVALID << 16 : STEREO_INVALID : 0;
  if (x < f.width && i < f.depth)
    *(uint4 *) (f.volume + (volume_row + x) * f.depth + i) = make_uint4 (words[0], words[1], words[2], words[3]);
}

/* A block: a row (blockIdx.x) by TI indices (blockIdx.y), rolling along x. */
template <int TI> __global__ void __launch_bounds__ (TI, BOTH_ROWS_THREADS / TI)
aggregate_rows_both (Frame f, AswWindow w)
{
  typedef Shared<TI> S;
  extern __shared__ uint4 shared[];
  int taps = S::taps (w.radius), columns = S::columns (w.radius);
  __half *line = (__half *) shared, *left = line + columns * S::pitch, *right = left + taps * S::left_pitch;
  int lane = threadIdx.x & 31, y = blockIdx.x, i0 = blockIdx.y * TI;
  int ti = threadIdx.x / 32 * 32 + lane % 4 * 8, tx = lane / 4 * 4;
  size_t volume_row = (size_t) y * f.width, row = (size_t) y * f.image_pitch;
  uint32_t unit[2];
  unit[0] = unit[1] = lane / 8 == lane % 4 ? lane / 4 % 2 ? 0x3C000000u : 0x3C00u : 0;
  unit[1] = __shfl_sync (~0u, unit[0], lane);   /* the same, but a register of its own: else it is copied every time */
  int loaded = -w.radius;       /* columns from here on are not in shared memory yet */
  int slot = 0;                 /* of that column */
  int column = 0;               /* slot of the step's first tap */
  int turn = 0;                 /* slot of the first partner: each step meets TX before it */

  for (int e = threadIdx.x; e < taps * (S::left_pitch + S::right_pitch); e += TI)
    left[e] = __float2half_rn (0);
  for (int x0 = 0; x0 < f.width; x0 += TX) {
    __syncthreads ();
    int partner = f.width - x0 - TX + f.min_disparity + i0, ahead = x0 - w.radius + columns;
    load_costs<TI> (line, f, volume_row, loaded, ahead, slot, i0, columns);
    loaded = ahead;
    make_weights<TI> (left, right, f, row, x0, partner, x0 ? TX : S::partners, turn, w);
    __syncthreads ();

    float sum[8][4] = { }, weights[8][4] = { };
    Walk<TI> walk;
    walk.turn = columns * S::pitch;
    walk.end = line + walk.turn;
    walk.cost = line + (column + tx < columns ? column + tx : column + tx - columns) * S::pitch + ti;
    walk.left = left + tx;
#pragma unroll
    for (int b = 0; b < 3; b++)
      walk.right[b] = right + ring_slot<TI> (turn + TX - 4 - tx + ti + 4 * b);
    int low = i0 + (ti & ~31);  /* of the warp's 32 indices; it rests where none has a partner */
    if (x0 + TX - 1 - f.min_disparity >= low && x0 - f.width + 1 - f.min_disparity <= low + 31)
      sum_taps<TI> (sum, weights, walk, 2 * w.radius + 2, unit);
#pragma unroll
    for (int a = 0; a < 4; a++)
      store_steps (f, sum + 2 * a, weights + 2 * a, volume_row, x0 + tx + a, i0 + ti);
    turn = turn ? turn - TX : S::partners - TX;
    slot = column;
    column = column + TX < columns ? column + TX : column + TX - columns;
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
  for (int i = 3; i >= 0; i--)  /* the largest of the equally good */
    if (cuda_blocks (plan->depth, choices[i]) * choices[i] == cuda_blocks (plan->depth, best) * best)
      best = choices[i];
  return Shared<160>::bytes (plan->params.window / 2) <= (size_t) cuda_state (plan)->shared_per_block ? best : 64;
}

template <int TI> static StereoStatus
prepare (StereoPlan *plan, StereoError *error)
{
  CUDA_TRY (cudaFuncSetAttribute (aggregate_rows_both<TI>, cudaFuncAttributeMaxDynamicSharedMemorySize,
          (int) Shared<TI>::bytes (plan->params.window / 2)));
  return STEREO_OK;
}

template <int TI> static StereoStatus
launch (StereoPlan *plan, StereoError *error)
{
  Frame f = cuda_frame (plan);
  AswWindow w = asw_window (plan);
  dim3 grid (f.height, cuda_blocks (f.depth, TI));
  aggregate_rows_both<TI><<<grid, TI, Shared<TI>::bytes (w.radius), cuda_state (plan)->stream>>> (f, w);
  CUDA_LAUNCHED (plan, "aggregate_rows_both");
  return STEREO_OK;
}

#define FOR_INDICES(plan, function, ...) \
  (block_indices (plan) == 160 ? function<160> (__VA_ARGS__) : \
   block_indices (plan) == 128 ? function<128> (__VA_ARGS__) : \
   block_indices (plan) == 96 ? function<96> (__VA_ARGS__) : function<64> (__VA_ARGS__))

StereoStatus
asw_both_rows_prepare (StereoPlan *plan, StereoError *error)
{
  return FOR_INDICES (plan, prepare, plan, error);
}

StereoStatus
asw_both_rows (StereoPlan *plan, StereoError *error)
{
  return FOR_INDICES (plan, launch, plan, error);
}
