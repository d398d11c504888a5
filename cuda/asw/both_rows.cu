/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Second pass of support=both, along the rows: the shared memory of a block, how weights and costs get there, the sums of
 * both, and the kernel. */
#include "cuda/asw/both.cuh"
#include "cuda/async_copy.cuh"

namespace
{

constexpr int STEP_COLUMNS = 32;      /* columns of a step: a warp has all of them, and 32 indices */
constexpr int RESIDENT_THREADS = 480; /* of a multiprocessor: 480 threads may have 136 registers each, 320 about 200 */

/* The taps of a window: @duos times 16 (the last duo may lack some, whose weights are 0), and @singles. */
struct Taps
{
  int duos, singles;

  __host__ __device__
  Taps (int radius)
  {
    int all = 2 * radius + 1;
    duos = (all + 7) / 16;
    singles = all > 16 * duos ? all - 16 * duos : 0;
  }

  __host__ __device__ int
  count () const
  {
    return 16 * duos + singles;
  }

  __device__ __forceinline__ int
  classes () const
  {
    return 8 * duos + singles;
  }
};

/*
 * Shared memory of a block. v = x - i numbers partners: index i of column x has partner v.
 * - costs: a ring of columns
 * - right weights: a ring over v, class by class; the word of a tap and a v has the weights of v and v + 1
 * - left weights: half floats, class by class
 * - for each warp, volume steps before they are stored
 */
template <int INDICES> struct Shared
{
  static constexpr int pitch = INDICES + 8;           /* halves of a column of costs; the next column has other banks */
  static constexpr int ring = STEP_COLUMNS + INDICES; /* of v */
  static constexpr int right_pitch = ring + 1,
                       left_pitch = STEP_COLUMNS + 8; /* words and halves of a tap, for other banks too */
  static constexpr int out_pitch = 40, out = STEP_COLUMNS * out_pitch;

  static __host__ __device__ int
  blocks (int radius) /* of STEP_COLUMNS columns: those in reach, and one that is being copied */
  {
    return (2 * radius + 1 + 2 * STEP_COLUMNS - 2) / STEP_COLUMNS + 1;
  }

  static size_t
  bytes (int radius)
  {
    return sizeof (__half) *
        (size_t) (blocks (radius) * STEP_COLUMNS * pitch + INDICES / 32 * out +
            Taps (radius).count () * (2 * right_pitch + left_pitch));
  }
};

template <int INDICES> __device__ __forceinline__ int
ring_slot (int slot)
{
  return slot < Shared<INDICES>::ring ? slot : slot - Shared<INDICES>::ring;
}

/* ---- weights ------------------------------------------------------------------------------------ */

/* The words of Q taps of a class, which are loaded at once. */
template <int Q> struct __align__ (4 * Q) PerTap
{
  uint32_t of[Q];
};

/* Makes the weights of a row. A lane has one left pixel and one right pixel, and their colours in registers. */
template <int INDICES> struct Maker
{
  Taps taps;
  AswWindow w;
  int width;
  const uint32_t *color[2]; /* of the row, by view */
  __half *left;
  uint32_t *right;
  int pixel[2]; /* far outside the row: the lane has no pixel */
  uint32_t centre[2];

  __device__ __forceinline__ void
  set_pixel (int view, int p)
  {
    bool there = (unsigned) p < (unsigned) width;
    centre[view] = color[view][there ? p : 0];
    pixel[view] = there ? p : -(1 << 24);
  }

  /* Weights for taps k, k + 8 and so on. Tap k is k - radius columns after the pixel, in the mirrored view before it.
   * The weight is 0 where the pixel or the tap is outside, and past the window. */
  template <int Q> __device__ __forceinline__ void
  weigh (float (&weight)[Q], int view, int k) const
  {
    int step = view == STEREO_LEFT ? 1 : -1, away = k - w.radius, first = pixel[view] + step * away;
    const uint32_t *from = color[view] + first;
#pragma unroll
    for (int q = 0; q < Q; q++) {
      bool valid = (unsigned) (first + 8 * step * q) < (unsigned) width && k + 8 * q <= 2 * w.radius;
      uint32_t other = 0;
      if (valid)
        other = from[8 * step * q];
      float made = cuda_weight (centre[view], other, w.color, fabsf ((float) away + (float) (8 * q)) * w.distance);
      weight[q] = valid ? made : 0;
    }
  }

  /* Left weights of a class: taps @k, @k + 8 and so on, stored after those of @before taps. */
  template <int Q> __device__ __forceinline__ void
  make_left (int k, int before) const
  {
    float weight[Q];
    weigh<Q> (weight, STEREO_LEFT, k);
    __half *to = left + before * Shared<INDICES>::left_pitch + (threadIdx.x & 31) * Q;
    if constexpr (Q == 1)
      *to = __float2half_rn (weight[0]);
    else
      *(uint32_t *) to = pack_halves (weight[0], weight[1]);
  }

  /* Right weights of a class, of 32 partners from slot @slot of the ring on; pixels fall from lane to lane. The
   * neighbour of the last partner is the first of the next 32, which fills it in. */
  template <int Q> __device__ __forceinline__ void
  make_right (int k, int before, int slot) const
  {
    int lane = threadIdx.x & 31;
    float weight[Q];
    weigh<Q> (weight, STEREO_RIGHT, k);
    PerTap<Q> words;
#pragma unroll
    for (int q = 0; q < Q; q++)
      words.of[q] = pack_halves (weight[q], __shfl_down_sync (~0u, weight[q], 1));
    uint32_t *to = right + before * Shared<INDICES>::right_pitch;
    *(PerTap<Q> *) (to + (slot + lane) * Q) = words;
    uint16_t *neighbour = (uint16_t *) (to + (slot ? slot - 1 : Shared<INDICES>::ring - 1) * Q);
    if (lane == 0)
#pragma unroll
      for (int q = 0; q < Q; q++)
        neighbour[2 * q + 1] = (uint16_t) words.of[q];
  }

  template <int Q> __device__ __forceinline__ void
  make (int view, int k, int before, int slot) const
  {
    if (view == STEREO_LEFT)
      make_left<Q> (k, before);
    else
      make_right<Q> (k, before, slot);
  }

  /* Class number @n. */
  __device__ __forceinline__ void
  make_class (int view, int n, int slot) const
  {
    int one = n + 8 * taps.duos;
    if (n < 8 * taps.duos)
      make<2> (view, (n & ~7) * 2 + (n & 7), 2 * n, slot);
    else
      make<1> (view, one, one, slot);
  }
};

/* ---- costs --------------------------------------------------------------------------------------- */

/* Keeps the halves from @first to @last of eight; the others are set to 0. */
__device__ __noinline__ uint4
mask_range (uint4 eight, int first, int last)
{
  uint32_t word[4] = { eight.x, eight.y, eight.z, eight.w };
#pragma unroll
  for (int b = 0; b < 8; b++)
    if (b < first || b > last)
      word[b / 2] &= b % 2 ? 0xFFFFu : 0xFFFF0000u;
  return make_uint4 (word[0], word[1], word[2], word[3]);
}

/* Copies costs of STEP_COLUMNS columns from @from on into their block of the ring. Without a partner nothing wrote a
 * cost: it becomes 0. */
template <int INDICES> __device__ __forceinline__ void
load_costs (__half *block, const Frame &f, size_t volume_row, int from, int i0)
{
  int c = threadIdx.x / (INDICES / 8), i = i0 + threadIdx.x % (INDICES / 8) * 8;
#pragma unroll
  for (int n = 0; n < STEP_COLUMNS; n += 8) {
    int x = from + c + n;
    const uint16_t *costs = f.volume + ((ptrdiff_t) volume_row + x) * f.depth + i;
    __half *to = block + (c + n) * Shared<INDICES>::pitch + i - i0;
    int first = max (x - f.width + 1 - f.min_disparity, 0) - i, last = min (x - f.min_disparity, f.depth - 1) - i;
    bool there = (unsigned) x < (unsigned) f.width && first <= 7 && last >= 0;
    if (there && (first > 0 || last < 7))
      *(uint4 *) to = mask_range (*(const uint4 *) costs, first, last);
    else
      copy_async (to, there ? costs : f.volume, there);
  }
}

/*
 * Loads four tiles of 8 columns by 8 indices, transposed (ldmatrix). Lane l passes the address of row (column) l % 8 of
 * tile l / 8. Lane 4 g + t gets of each tile a word with two columns of one index, as registers of A need them:
 *
 *                  columns 0,1   2,3   4,5   6,7
 *     index 0        L0         L1    L2    L3
 *     index 1        L4         L5    L6    L7
 *      ...
 *     index g      lane 4 g + t has columns 2 t and 2 t + 1
 */
__device__ __forceinline__ void
load_transposed (uint32_t (&tile)[4], const __half *row)
{
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(tile[0]), "=r"(tile[1]), "=r"(tile[2]), "=r"(tile[3])
               : "r"(shared_address (row))
               : "memory");
}

/* ---- sums of weighted costs: the drawing before the kernel says which lane holds what ---------------- */

/* Where a lane finds right weights: for tiles at distance d from @low, @middle or @high on, by the sign of d. Counted
 * in words of classes of one tap. */
struct Right
{
  int low, middle, high;

  template <int Q> __device__ __forceinline__ PerTap<Q>
  load (const uint32_t *weights, int d) const
  {
    return *(const PerTap<Q> *) (weights + Q * (d < 0 ? low : d > 0 ? high : middle) + Q * 8 * d);
  }
};

/* The sums of a warp: D of each 8 columns and 16 indices. */
struct Sums
{
  float cost[4][2][4], weight[4][2][4];
};

/* The registers of B: the lane's left weight where it holds an element of the diagonal, else 0. @choose: the bytes that
 * __byte_perm() takes of the lower and of the upper half of a word. */
struct Diagonal
{
  uint32_t choose[2];

  template <int Q> __device__ __forceinline__ PerTap<Q>
  load (const __half *left, int column) const
  {
    PerTap<Q> w;
    uint32_t pair = Q == 1 ? *(const uint16_t *) (left + column) : *(const uint32_t *) (left + column * Q);
#pragma unroll
    for (int q = 0; q < Q; q++)
      w.of[q] = __byte_perm (pair, 0, choose[q]);
    return w;
  }
};

/* Adds a class of Q taps; EXACT: also what their products lose by rounding. @costs (n, tiles) loads four tiles
 * of costs, 8 n columns after the first tap of the first column. */
template <int Q, bool EXACT, typename Costs> __device__ __forceinline__ void
add_class (Sums &sums, Costs costs, const uint32_t *right, const Right &lane_right, const __half *left, int column,
    const Diagonal &diagonal)
{
  PerTap<Q> r[7]; /* by distance + 3 */
  uint32_t c[Q + 3][4];
#pragma unroll
  for (int d = 0; d < 3; d++)
    r[d] = lane_right.load<Q> (right, d - 3);
  if (Q == 2)
    costs (0, c[0]);
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
        multiply_half (sums.weight[j][p], a.of[0], b.of[0], l.of[0]);
        multiply_half (sums.cost[j][p], one, two, l.of[0]);
        if (EXACT)
          multiply_half (
              sums.cost[j][p], rest (a.of[0], c[j][2 * p], one), rest (b.of[0], c[j][2 * p + 1], two), l.of[0]);
      } else {
        uint4 four = make_uint4 (times (a.of[0], c[j][2 * p]), times (b.of[0], c[j][2 * p + 1]),
            times (a.of[1], c[j + 1][2 * p]), times (b.of[1], c[j + 1][2 * p + 1]));
        multiply (sums.weight[j][p], make_uint4 (a.of[0], b.of[0], a.of[1], b.of[1]), l.of[0], l.of[1]);
        multiply (sums.cost[j][p], four, l.of[0], l.of[1]);
        if (EXACT)
          multiply (sums.cost[j][p],
              make_uint4 (rest (a.of[0], c[j][2 * p], four.x), rest (b.of[0], c[j][2 * p + 1], four.y),
                  rest (a.of[1], c[j + 1][2 * p], four.z), rest (b.of[1], c[j + 1][2 * p + 1], four.w)),
              l.of[0], l.of[1]);
      }
    }
  }
}

/* The ring of costs for a lane, which addresses row lane % 8 of tile lane / 8: see load_transposed(). */
template <int INDICES> struct CostRing
{
  const __half *line; /* the first column of the ring */
  int first, columns; /* the lane's row, from the first column of the step on; of the ring */

  __device__ __forceinline__ const __half *
  column (int n) const
  {
    n += first;
    return line + (n < columns ? n : n - columns) * Shared<INDICES>::pitch;
  }
};

/* A class, from tap @k on. */
template <int Q, bool EXACT, int INDICES> __device__ __forceinline__ void
add_taps (Sums &sums, const CostRing<INDICES> &ring, int k, const uint32_t *right, const Right &lane_right,
    const __half *left, int column, const Diagonal &diagonal)
{
  add_class<Q, EXACT> (
      sums, [&] (int tile, uint32_t (&to)[4]) { load_transposed (to, ring.column (k + 8 * tile)); }, right, lane_right,
      left, column, diagonal);
}

template <bool EXACT, int INDICES> __device__ __forceinline__ void
sum_taps (Sums &sums, const CostRing<INDICES> &ring, const uint32_t *right, const Right &lane_right, const __half *left,
    int column, const Diagonal &diagonal, Taps taps)
{
  typedef Shared<INDICES> S;
#pragma unroll 1
  for (int n = 0; n < 8 * taps.duos; n++)
    add_taps<2, EXACT, INDICES> (sums, ring, (n & ~7) * 2 + (n & 7), right + 2 * n * S::right_pitch, lane_right,
        left + 2 * n * S::left_pitch, column, diagonal);
#pragma unroll 1
  for (int k = 16 * taps.duos; k < taps.count (); k++)
    add_taps<1, EXACT, INDICES> (
        sums, ring, k, right + k * S::right_pitch, lane_right, left + k * S::left_pitch, column, diagonal);
}

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
 * The sums of the weights, of l(x) r(v), are the same product without the costs. A warp has 32 columns by 32 indices.
 *
 * r depends on v only. Tiles of 8 columns by 8 indices that have the same distance share it: 7 registers serve 16
 * tiles. Taps 8 columns apart share registers of costs in the same way. So taps are summed in classes: k and k + 8 at once while
 * there are more than 8 taps left, then single taps.
 *
 * Copies of the costs run beside the sums: 32 columns at a time into a ring, from which ldmatrix reads them transposed.
 * A block makes its weights itself: when it moves on by STEP_COLUMNS columns, it needs the right weights of as many
 * pixels.
 */

/* ---- results ------------------------------------------------------------------------------------- */

/* Divides the sums. Leaves volume steps in the low bits of each, where adding 2^23 puts whole numbers. */
__device__ __forceinline__ void
divide (Sums &sums, float scale)
{
#pragma unroll
  for (int n = 0; n < 32; n++) {
    float &sum = sums.cost[n / 8][n / 4 % 2][n % 4];
    sum = fmaf (sum, reciprocal (sums.weight[n / 8][n / 4 % 2][n % 4]) * scale, 8388608.0f);
  }
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
template <bool EXACT, int INDICES> __global__ void
__launch_bounds__ (INDICES, RESIDENT_THREADS / INDICES) aggregate_rows_both (Frame f, AswWindow w)
{
  typedef Shared<INDICES> S;
  extern __shared__ uint4 shared[];
  Taps taps (w.radius);
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
  CostRing<INDICES> ring = { line + warp * 32 + lane / 8 * 8, lane & 7, blocks * STEP_COLUMNS };

  int slot = INDICES;                               /* of the first v of the step */
  int partner = f.width - 1 + f.min_disparity + i0; /* with v = 0 in the first step */
  start_row<INDICES> (maker, f, line, volume_row, blocks, i0, partner);

  for (int x0 = 0; x0 < f.width; x0 += STEP_COLUMNS) {
    int last = (x0 / STEP_COLUMNS + blocks - 1) % blocks;
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
      sum_taps<EXACT, INDICES> (sums, ring, right, lane_right, left, g, diagonal, taps);
      divide (sums, (float) f.volume_unit);
    }
    store_means<INDICES> (sums, (uint16_t *) (out + warp * S::out), f, volume_row, x0, i);
    slot = ring_slot<INDICES> (slot + STEP_COLUMNS);
    ring.first += ring.first + STEP_COLUMNS < ring.columns ? STEP_COLUMNS : STEP_COLUMNS - ring.columns;
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
  return Shared<160>::bytes (plan->params.window / 2) <= most ? best : 64;
}

/* Allows the kernel the device's limit of shared memory, not this plan's need: plans share the kernel. */
template <int INDICES> static StereoStatus
prepare (StereoPlan *plan, StereoError *error)
{
  int most = cuda_state (plan)->shared_per_block;

  CUDA_TRY (
      cudaFuncSetAttribute (aggregate_rows_both<true, INDICES>, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  CUDA_TRY (
      cudaFuncSetAttribute (aggregate_rows_both<false, INDICES>, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  return STEREO_OK;
}

template <int INDICES> static StereoStatus
launch_kernel (StereoPlan *plan, StereoError *error)
{
  Frame f = cuda_frame (plan);
  AswWindow w = asw_window (plan);
  dim3 grid (f.height, cuda_blocks (f.depth, INDICES));
  auto kernel = asw_both_exact (plan) ? aggregate_rows_both<true, INDICES> : aggregate_rows_both<false, INDICES>;
  kernel<<<grid, INDICES, Shared<INDICES>::bytes (w.radius), cuda_state (plan)->stream>>> (f, w);
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

static StereoStatus
asw_both_rows_prepare (StereoPlan *plan, StereoError *error)
{
  return launch_for_indices (plan, [=] (auto indices) { return prepare<decltype (indices)::value> (plan, error); });
}

static StereoStatus
asw_both_rows (StereoPlan *plan, StereoError *error)
{
  return launch_for_indices (
      plan, [=] (auto indices) { return launch_kernel<decltype (indices)::value> (plan, error); });
}

/*
 * Two-pass aggregation with the product of the weights of both views, as the thesis defines it: down the columns
 * (both_columns.cu), which writes half floats to the volume, then along the rows, which reads them.
 */

static StereoStatus
both_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  StereoStatus status = asw_both_columns_prepare (plan, (AswBothContext *) context, error);
  return status ? status : asw_both_rows_prepare (plan, error);
}

static StereoStatus
both_run (StereoPlan *plan, void *context, StereoError *error)
{
  StereoStatus status = asw_both_columns (plan, (const AswBothContext *) context, error);
  return status ? status : asw_both_rows (plan, error);
}

const StereoStage stereo_cuda_asw_both = {
  .name = "match", .context_size = sizeof (AswBothContext), .prepare = both_prepare, .run = both_run
};
