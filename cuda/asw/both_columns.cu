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
#include "cuda/asw/both.cuh"

#define RIGHT_SCALE 15          /* log2 */
#define WARPS_X 4               /* of a block */
#define MOST_WEIGHTS ((size_t) 128 << 20)       /* bytes of weights at a time */
#define BOTH_ROWS_AHEAD 6       /* of weights, on their way into the cache */
#define ENOUGH_BLOCKS 1200      /* for a large chip to be busy to the end */

/* Words (two slots) of the weights of 16 pixels, either view: KB tiles of 8 slots, taken two by two and a last one. */
template <int KB> struct Words
{
  static constexpr int tile = KB * 64;
};

/* The taps of two pixels of a column of words: slots 2 t and 2 t + 1 of KB tiles. */
template <int KB> struct ColumnTaps
{
  uint32_t color[2][KB][2];     /* of pixels g and g + 8 */
  float row[KB][2];             /* infinity outside the picture */
};

/* Of rows 8 T.. on: tiles from KB / 2 before that. */
template <int KB> __device__ __forceinline__ void
load_taps (ColumnTaps<KB> &taps, const Frame &f, const uint32_t *a, const uint32_t *b, int row)
{
#pragma unroll
  for (int tile = 0; tile < KB; tile++)
#pragma unroll
    for (int q = 0; q < 2; q++) {
      int y = row + 8 * (tile - KB / 2) + q;
      size_t from = (size_t) min (max (y, 0), f.height - 1) * f.image_pitch;
      taps.color[0][tile][q] = a[from];
      taps.color[1][tile][q] = b[from];
      taps.row[tile][q] = y >= 0 && y < f.height ? (float) y : INFINITY;
    }
}

/* The words of both pixels for one row of centres. */
template <int KB> __device__ __forceinline__ void
weigh (uint32_t (&words)[2][KB], const ColumnTaps<KB> &taps, uint32_t a, uint32_t b, float y, AswWindow w, float scale)
{
#pragma unroll
  for (int tile = 0; tile < KB; tile++) {
    float distance[2];
#pragma unroll
    for (int q = 0; q < 2; q++) {
      float away = fabsf (taps.row[tile][q] - y);
      distance[q] = away <= (float) w.radius ? fmaf (away, w.distance, scale) : -INFINITY;
    }
#pragma unroll
    for (int p = 0; p < 2; p++)
      words[p][tile] = pack_halves (cuda_weight (p ? b : a, taps.color[p][tile][0], w.color, distance[0]),
          cuda_weight (p ? b : a, taps.color[p][tile][1], w.color, distance[1]));
  }
}

/* In the order in which lanes read them: the right view's come as the left operand of a product, 16 pixels at a time,
 * the left view's as the right operand, 8 pixels at a time; tiles two by two, and a last one. */
template <int KB> __device__ __forceinline__ void
store_words (uint32_t *to, const uint32_t (&words)[2][KB], bool right, int lane)
{
#pragma unroll
  for (int s = 0; s < KB / 2; s++)
    if (right)
      ((uint4 *) (to + s * 128))[lane] = make_uint4 (words[0][2 * s], words[1][2 * s], words[0][2 * s + 1],
          words[1][2 * s + 1]);
    else
#pragma unroll
      for (int p = 0; p < 2; p++)
        ((uint2 *) (to + p * KB * 32 + s * 64))[lane] = make_uint2 (words[p][2 * s], words[p][2 * s + 1]);
  if (right)
    ((uint2 *) (to + KB / 2 * 128))[lane] = make_uint2 (words[0][KB - 1], words[1][KB - 1]);
  else
#pragma unroll
    for (int p = 0; p < 2; p++)
      (to + p * KB * 32 + KB / 2 * 64)[lane] = words[p][KB - 1];
}

/* A warp: 16 pixels of one view (blockIdx.z) by the 8 rows whose taps stand in the same slots (blockIdx.y), of which
 * it reads each once. What is past the right border weighs anything: nobody counts it. */
template <int KB> __global__ void __launch_bounds__ (128)
weigh_columns (Frame f, AswWindow w, uint32_t *words, int tiles, int band, int rows)
{
  int view = blockIdx.z, lane = threadIdx.x & 31, tile = blockIdx.x * 4 + (threadIdx.x >> 5), row = 8 * blockIdx.y;
  if (tile >= tiles)
    return;
  const uint32_t *color = f.view[view].color + tile * 16 + (lane >> 2);
  uint32_t *to = words + ((size_t) (view * rows + row) * tiles + tile) * Words<KB>::tile;
  ColumnTaps<KB> taps;

  load_taps (taps, f, color, color + 8, band + row + 2 * (lane & 3));
  for (int y = band + row; y < min (band + min (row + 8, rows), f.height); y++) {
    uint32_t made[2][KB];
    const uint32_t *centre = color + (size_t) y * f.image_pitch;
    weigh (made, taps, centre[0], centre[8], (float) y, w, view == STEREO_RIGHT ? (float) RIGHT_SCALE : 0.0f);
    store_words (to, made, view == STEREO_RIGHT, lane);
    to += (size_t) tiles * Words<KB>::tile;
  }
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

/* Sums of costs and of weights, one row, of sum[j] column j is meant; EXACT: see asw_both_exact(). Each weight that has
 * served makes room for that of the row at @right and @left. */
template <bool EXACT, int KB, int NX> __device__ __forceinline__ void
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
      if (EXACT) {
        a = make_uint4 (rest (r.x, costs[2 * s][j][0], a.x), rest (r.y, costs[2 * s][j][1], a.y),
            rest (r.z, costs[2 * s + 1][j][0], a.z), rest (r.w, costs[2 * s + 1][j][1], a.w));
        multiply (sum[j], a, w.left[s].x, w.left[s].y);
      }
    }
    w.load_step (s, right, left, lane);
  }
  multiply_half (weights, w.right_last.x, w.right_last.y, w.left_last);
#pragma unroll
  for (int j = 0; j < NX; j++) {
    uint32_t x = times (w.right_last.x, costs[KB - 1][j][0]), y = times (w.right_last.y, costs[KB - 1][j][1]);
    multiply_half (sum[j], x, y, w.left_last);
    if (EXACT)
      multiply_half (sum[j], rest (w.right_last.x, costs[KB - 1][j][0], x), rest (w.right_last.y, costs[KB - 1][j][1], y),
          w.left_last);
  }
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
template <bool EXACT, int COST, int KB, int NX, int WARPS_U> __global__ void __launch_bounds__ (32 * WARPS_X * WARPS_U)
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
      sum_row<EXACT, KB, NX> (sum, norm, weights, costs, right, left, lane);
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

template <bool EXACT, int COST, int KB, int NX, int WARPS_U> static StereoStatus
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
    weigh_columns<KB><<<dim3 (cuda_blocks (tiles, 4), cuda_blocks (rows, 8), 2), 128, 0, stream>>> (f, w, words, tiles,
        band, rows);
    CUDA_LAUNCHED (plan, "weigh_columns");
    aggregate_columns_both<EXACT, COST, KB, NX, WARPS_U><<<grid, 32 * WARPS_X * WARPS_U, 0, stream>>> (f, words, tiles, band,
        rows, strip);
    CUDA_LAUNCHED (plan, "aggregate_columns_both");
  }
  return STEREO_OK;
}

/* Larger windows leave a warp registers for four columns. */
template <bool EXACT, int COST> static StereoStatus
launch_window (StereoPlan *plan, StereoError *error)
{
  switch (slot_tiles (plan)) {
    case 3:
      return launch<EXACT, COST, 3, 8, 4> (plan, error);
    case 5:
      return launch<EXACT, COST, 5, 8, 3> (plan, error);
    case 7:
      return launch<EXACT, COST, 7, 4, 4> (plan, error);
    default:
      return launch<EXACT, COST, 9, 4, 3> (plan, error);
  }
}

template <int COST> static StereoStatus
launch_cost (StereoPlan *plan, StereoError *error)
{
  return asw_both_exact (plan) ? launch_window<true, COST> (plan, error) : launch_window<false, COST> (plan, error);
}

StereoStatus
asw_both_columns (StereoPlan *plan, StereoError *error)
{
  return ASW_FOR_COST (plan, launch_cost, plan, error);
}
