/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * First pass of support=both: down the columns, on the tensor cores.
 *
 * A tap is l(x) r(x') c(x, x'). For one x, the products r c of 16 partners x' and the taps of a row are a matrix,
 * made with one half2 multiplication for two taps; times l(x), a column, it gives the sums. The 8 columns of a
 * warp's l make the right-hand side, so that x number j takes column j of its product. The weights' sum, a product
 * of r and l alone, comes out in the same place for next to nothing.
 *
 * Taps stand in slots by their row: 8 rows from 8 T on share KB tiles of 8 rows, so a warp keeps the costs of its 8
 * by 16 pairs in registers, and makes those of 8 new rows every 8 rows: nobody stores them. Weights outside the window
 * are 0. They are made ahead, in the order in which a lane reads them, for a band of rows at a time.
 *
 * Range: costs n are the half floats with the bits n, n * 2^-24, and the right weights are 2^15 of theirs.
 */
#include "cuda/asw_both.cuh"

#define RIGHT_SCALE 15          /* log2 */
#define WARPS_X 4               /* of a block */
#define MOST_WEIGHTS ((size_t) 128 << 20)       /* bytes of weights at a time */
#ifndef BOTH_ROWS_AHEAD
#define BOTH_ROWS_AHEAD 6       /* of weights, on their way into the cache */
#endif
#define ENOUGH_BLOCKS 1200      /* for a large chip to be busy to the end */

/* Words (two slots) of the weights of 16 pixels, either view: KB tiles of 8 slots, taken two by two and a last one. */
template <int KB> struct Words
{
  static constexpr int tile = KB * 64;
};

/* Which pixel (of 16) and tile of slots word @e is for, and the lane that reads it. The right view's come as the left
 * operand of a product, 16 pixels at a time, the left view's as the right operand, 8 pixels at a time. */
template <int KB> __device__ __forceinline__ void
locate_word (int view, int e, int *pixel, int *tile, int *lane)
{
  int half = 0, step, r;
  if (view == STEREO_RIGHT) {
    step = e >> 7;
    r = step < KB / 2 ? e & 3 : e & 1;
    *lane = step < KB / 2 ? e >> 2 & 31 : e >> 1 & 31;
    half = r & 1;
    r >>= 1;
  } else {
    half = e >= KB * 32;
    e -= half * KB * 32;
    step = e >> 6;
    r = step < KB / 2 ? e & 1 : 0;
    *lane = step < KB / 2 ? e >> 1 & 31 : e & 31;
  }
  *pixel = 8 * half + (*lane >> 2);
  *tile = 2 * step + r;
}

template <int KB> __global__ void __launch_bounds__ (256)
weigh_columns (Frame f, AswWindow w, uint32_t *words, int tiles, int band)
{
  int view = blockIdx.z, e = blockIdx.x * 256 + threadIdx.x, y = band + blockIdx.y;
  int pixel, tile, lane;
  if (e >= tiles * Words<KB>::tile)
    return;
  locate_word<KB> (view, e % Words<KB>::tile, &pixel, &tile, &lane);
  int x = e / Words<KB>::tile * 16 + pixel, slot = 8 * (y / 8 - KB / 2 + tile) + lane % 4 * 2;
  const uint32_t *color = f.view[view].color + min (x, f.width - 1);
  uint32_t centre = color[(size_t) y * f.image_pitch];
  float scale = view == STEREO_RIGHT ? RIGHT_SCALE : 0, weight[2];
#pragma unroll
  for (int q = 0; q < 2; q++) {
    int row = slot + q, away = abs (row - y);
    bool valid = x < f.width && away <= w.radius && row >= 0 && row < f.height;
    uint32_t tap = color[(size_t) (valid ? row : y) * f.image_pitch];
    weight[q] = valid ? cuda_weight (centre, tap, w.color, fmaf ((float) away, w.distance, scale)) : 0;
  }
  words[((size_t) view * gridDim.y + blockIdx.y) * tiles * Words<KB>::tile + e] = pack_halves (weight[0], weight[1]);
}

/* A row's weights for a warp: 16 right pixels, 8 left ones. */
template <int KB> struct RowWeights
{
  uint4 right[KB / 2];
  uint2 left[KB / 2], right_last;
  uint32_t left_last;

  __device__ __forceinline__ void
  load_step (int s, const uint32_t *r, const uint32_t *l, int lane)
  {
    right[s] = __ldg ((const uint4 *) (r + s * 128) + lane);
    left[s] = __ldg ((const uint2 *) (l + s * 64) + lane);
  }

  __device__ __forceinline__ void
  load_last (const uint32_t *r, const uint32_t *l, int lane)
  {
    right_last = __ldg ((const uint2 *) (r + KB / 2 * 128) + lane);
    left_last = __ldg (l + KB / 2 * 64 + lane);
  }
};

/* The weights are more than the cache holds: what a warp's next rows need is fetched into it in time, a line a lane, by
 * one of the warps of a block that share it. */
template <int KB, int WARPS_U> struct Fetch
{
  const uint32_t *line;
  bool mine;

  __device__ __forceinline__
  Fetch (const uint32_t *right, const uint32_t *left, int lane, int warp)
  {
    const int rights = 2 * KB, lefts = KB;      /* lines of 128 bytes */
    bool is_right = lane < rights;
    line = is_right ? right + lane * 32 : left + (lane - rights) * 32;
    mine = is_right ? lane % WARPS_X == warp % WARPS_X : lane < rights + lefts && lane % WARPS_U == warp / WARPS_X;
  }

  __device__ __forceinline__ void
  fetch (size_t words) const
  {
    if (mine)
      asm volatile ("prefetch.global.L2 [%0];" :: "l" (line + words));
  }
};

/* Raw costs of rows 8 T + 2 t and the next, of NX columns and partners u and u + 8. Rows outside the picture weigh
 * nothing, so any will do. */
template <int COST, int NX> __device__ __forceinline__ void
make_costs (uint32_t (&costs)[NX][2], const Frame &f, int tile, int t, int x, int u)
{
  int y = 8 * tile + 2 * t;
  size_t a = (size_t) min (max (y, 0), f.height - 1) * f.image_pitch;
  size_t b = (size_t) min (max (y + 1, 0), f.height - 1) * f.image_pitch;
#pragma unroll
  for (int j = 0; j < NX; j++)
#pragma unroll
    for (int h = 0; h < 2; h++)
      costs[j][h] = (uint32_t) asw_raw_cost<COST> (f, a, x + j, u + 8 * h) |
          (uint32_t) asw_raw_cost<COST> (f, b, x + j, u + 8 * h) << 16;
}

/* Sums of costs and of weights, one row, of sum[j] column j is meant; each weight that has served makes room for that
 * of the row at @right and @left. */
template <int KB, int NX> __device__ __forceinline__ void
sum_row (float (&sum)[NX][4], float (&weights)[4], RowWeights<KB> &w, const uint32_t (&costs)[KB][NX][2],
    const uint32_t *right, const uint32_t *left, int lane)
{
#pragma unroll
  for (int e = 0; e < 4; e++)
    weights[e] = 0;
#pragma unroll
  for (int j = 0; j < NX; j++)
#pragma unroll
    for (int e = 0; e < 4; e++)
      sum[j][e] = 0;
#pragma unroll
  for (int s = 0; s < KB / 2; s++) {
    const uint4 r = w.right[s];
    multiply (weights, r, w.left[s].x, w.left[s].y);
#pragma unroll
    for (int j = 0; j < NX; j++) {
      uint4 a = make_uint4 (times (r.x, costs[2 * s][j][0]), times (r.y, costs[2 * s][j][1]),
          times (r.z, costs[2 * s + 1][j][0]), times (r.w, costs[2 * s + 1][j][1]));
      multiply (sum[j], a, w.left[s].x, w.left[s].y);
    }
    w.load_step (s, right, left, lane);
  }
  multiply_half (weights, w.right_last.x, w.right_last.y, w.left_last);
#pragma unroll
  for (int j = 0; j < NX; j++)
    multiply_half (sum[j], times (w.right_last.x, costs[KB - 1][j][0]), times (w.right_last.y, costs[KB - 1][j][1]),
        w.left_last);
  w.load_last (right, left, lane);
}

/* Element e of the lane's columns 2 t + e % 2: of that column's product. NX 4: of the half the warp has. */
template <int NX> __device__ __forceinline__ float
own_sum (const float (&sum)[NX][4], int e, int t)
{
  float low = t & 1 ? sum[2 + e % 2][e] : sum[e % 2][e];
  if (NX == 4)
    return low;
  float high = t & 1 ? sum[NX - 2 + e % 2][e] : sum[NX - 4 + e % 2][e];
  return t & 2 ? high : low;
}

/*
 * A warp: NX columns (from @x) by 16 partners (from @u), `strip` rows from row blockIdx.z * strip of the band on,
 * rolling down. A block: 4 such columns, @WARPS_U such partners, which share the weights through the cache.
 */
template <int COST, int KB, int NX, int WARPS_U> __global__ void __launch_bounds__ (32 * WARPS_X * WARPS_U)
aggregate_columns_both (Frame f, const uint32_t *words, int tiles, int band, int rows, int strip)
{
  int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3, warp = threadIdx.x >> 5;
  int group = blockIdx.x * WARPS_X * NX, zero = f.width - 1 + f.min_disparity;  /* index u + x - zero */
  int x = group + warp % WARPS_X * NX;
  int tile = ((zero - group - WARPS_X * NX + 1) >> 4) + (int) blockIdx.y * WARPS_U + warp / WARPS_X, u = tile * 16;
  if (x >= f.width || tile < 0 || tile >= tiles || u + 15 + x + NX - 1 < zero || u + x - zero >= f.depth)
    return;
  int y = band + blockIdx.z * strip, end = min (y + strip, band + rows);
  size_t row_words = (size_t) tiles * Words<KB>::tile;
  const uint32_t *left = words + (size_t) (y - band) * row_words + (x >> 3) * (Words<KB>::tile / 2);
  const uint32_t *right = words + (size_t) (y - band + rows) * row_words + tile * Words<KB>::tile;

  int column = (x & ~7) + 2 * t, index = u + g + column - zero;
  size_t row_costs = (size_t) f.width * f.depth;
  uint16_t *out[2] = { f.volume + y * row_costs + (ptrdiff_t) column * f.depth + index };
  out[1] = out[0] + f.depth + 1;
  uint32_t own = 0;             /* which of its four elements count */
#pragma unroll
  for (int e = 0; e < 4; e++) {
    int c = column + e % 2, i = index + e % 2 + e / 2 * 8;
    if (c >= x && c < min (x + NX, f.width) && u + g + e / 2 * 8 < f.width && i >= 0 && i < f.depth)
      own |= 1u << e;
  }

  uint32_t costs[KB][NX][2];
#pragma unroll
  for (int b = 1; b < KB; b++)
    make_costs<COST, NX> (costs[b], f, y / 8 - KB / 2 + b - 1, t, x, u + g);
  Fetch<KB, WARPS_U> ahead (right, left, lane, warp);
  for (int r = 1; r < BOTH_ROWS_AHEAD && y + r < end; r++)
    ahead.fetch (r * row_words);
  RowWeights<KB> weights;
#pragma unroll
  for (int s = 0; s < KB / 2; s++)
    weights.load_step (s, right, left, lane);
  weights.load_last (right, left, lane);
  while (y < end) {
#pragma unroll
    for (int b = 0; b < KB - 1; b++)
#pragma unroll
      for (int j = 0; j < NX; j++)
        costs[b][j][0] = costs[b + 1][j][0], costs[b][j][1] = costs[b + 1][j][1];
    make_costs<COST, NX> (costs[KB - 1], f, y / 8 + KB / 2, t, x, u + g);
#pragma unroll 1
    for (int r = 0; r < 8; r++, y++) {
      if (y + 1 < end)
        left += row_words, right += row_words;
      if (BOTH_ROWS_AHEAD && y + BOTH_ROWS_AHEAD < end)
        ahead.fetch (BOTH_ROWS_AHEAD * row_words), ahead.line += row_words;
      float sum[NX][4], norm[4];
      sum_row<KB, NX> (sum, norm, weights, costs, right, left, lane);
      own = y < end ? own : 0;
#pragma unroll
      for (int e = 0; e < 4; e++) {
        __half mean = __float2half_rn (own_sum<NX> (sum, e, t) * reciprocal (norm[e]) * 16777216.0f);
        if (own >> e & 1)
          out[e % 2][e / 2 * 8] = __half_as_ushort (mean);
      }
      out[0] += row_costs, out[1] += row_costs;
    }
  }
}
/* ---- stage ------------------------------------------------------------------------------------------- */

/* Tiles of slots that 8 rows' windows touch, as far as there are kernels: 3, 5, 7, 9. */
static int
slot_tiles (const StereoPlan *plan)
{
  int reach = (plan->params.window / 2 + 7) / 8;
  return 1 + 2 * (reach > 0 ? reach : 1);
}

static int
pixel_tiles (const StereoPlan *plan)
{
  return (plan->width + 15) / 16;
}

/* Bytes of a row's weights, both views. */
static size_t
row_bytes (const StereoPlan *plan)
{
  return (size_t) pixel_tiles (plan) * (size_t) slot_tiles (plan) * 64 * 2 * sizeof (uint32_t);
}

/* Rows whose weights are there at a time: bands of one height, a multiple of 8, and no more than a grid takes. */
static int
band_rows (const StereoPlan *plan)
{
  size_t bands = ((size_t) plan->height * row_bytes (plan) + MOST_WEIGHTS - 1) / MOST_WEIGHTS;
  size_t rows = ((size_t) plan->height + 8 * bands - 1) / (8 * bands) * 8;
  return rows < 32768 ? (int) rows : 32768;
}

StereoStatus
asw_both_columns_prepare (StereoPlan *plan, StereoError *error)
{
  return stereo_reserve (plan, (void **) &cuda_state (plan)->asw_both_weights, (size_t) band_rows (plan),
      row_bytes (plan), error);
}

template <int COST, int KB, int NX, int WARPS_U> static StereoStatus
launch (StereoPlan *plan, StereoError *error)
{
  Frame f = cuda_frame (plan);
  AswWindow w = asw_window (plan);
  uint32_t *words = cuda_state (plan)->asw_both_weights;
  cudaStream_t stream = cuda_state (plan)->stream;
  int tiles = pixel_tiles (plan), most = band_rows (plan);
  unsigned across = cuda_blocks (f.width, WARPS_X * NX);
  unsigned partners = cuda_blocks ((f.depth + WARPS_X * NX - 2) / 16 + 2, WARPS_U);

  for (int band = 0; band < f.height; band += most) {
    int rows = f.height - band < most ? f.height - band : most, strip = 128;
    while (strip > 32 && across * partners * cuda_blocks (rows, strip) < ENOUGH_BLOCKS)
      strip /= 2;
    dim3 grid (across, partners, cuda_blocks (rows, strip));
    weigh_columns<KB><<<dim3 (cuda_blocks (tiles * Words<KB>::tile, 256), rows, 2), 256, 0, stream>>> (f, w, words,
        tiles, band);
    CUDA_LAUNCHED (plan, "weigh_columns");
    aggregate_columns_both<COST, KB, NX, WARPS_U><<<grid, 32 * WARPS_X * WARPS_U, 0, stream>>> (f, words, tiles, band,
        rows, strip);
    CUDA_LAUNCHED (plan, "aggregate_columns_both");
  }
  return STEREO_OK;
}

/* Larger windows leave a warp registers for four columns. */
template <int COST> static StereoStatus
launch_cost (StereoPlan *plan, StereoError *error)
{
  switch (slot_tiles (plan)) {
    case 3:
      return launch<COST, 3, 8, 4> (plan, error);
    case 5:
#ifdef BOTH_NARROW              /* 20 warps on a multiprocessor instead of 12 */
      return launch<COST, 5, 4, 5> (plan, error);
#else
      return launch<COST, 5, 8, 3> (plan, error);
#endif
    case 7:
      return launch<COST, 7, 4, 4> (plan, error);
    default:
      return launch<COST, 9, 4, 3> (plan, error);
  }
}

StereoStatus
asw_both_columns (StereoPlan *plan, StereoError *error)
{
  return ASW_FOR_COST (plan, launch_cost, plan, error);
}
