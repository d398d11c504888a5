/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * First pass of support=both: down the columns, on the tensor cores.
 *
 * A tap is l(x) r(x') c(x, x'). For one x, the products r c of 16 partners x' and the taps of a row are a matrix,
 * made with one half2 multiplication for two taps; times l(x), a column, it gives the sums. The 8 columns of a
 * warp's l make the right-hand side, so that x number j takes column j of its product. The weights' sum, a product
 * of r and l alone, comes out in the same place for next to nothing.
 *
 * Taps stand in slots by their row: 8 rows from 8 T on share SLOT_TILES tiles of 8 rows, so a warp keeps the costs of its 8
 * by 16 pairs in registers, and makes those of 8 new rows every 8 rows: nobody stores them. Weights outside the window
 * are 0. They are made ahead, in the order in which a lane reads them, for a band of rows at a time.
 *
 * Range: costs n are the half floats with the bits n, n * 2^-24, and the right weights are 2^15 of theirs.
 */
#include "cuda/asw/both.cuh"

namespace
{

constexpr int RIGHT_SCALE = 15;         /* right weights are stored times 2^RIGHT_SCALE */
constexpr int WARPS_ACROSS = 4;         /* warps of a block that take neighbouring columns and the same partners */
constexpr size_t MOST_WEIGHTS = (size_t) 128 << 20;     /* bytes of weights in memory at a time */
constexpr int WEIGHT_ROWS_AHEAD = 6;    /* rows of weights that are prefetched into the L2 cache */
constexpr unsigned ENOUGH_BLOCKS = 1200;        /* with fewer blocks, parts of a large chip are idle at the end */

/* Words (two slots) of the weights of 16 pixels, either view: SLOT_TILES tiles of 8 slots, taken two by two and a last one. */
template <int SLOT_TILES> struct Words
{
  static constexpr int tile = SLOT_TILES * 64;
};

/* The taps of two pixels of a column of words: slots 2 t and 2 t + 1 of SLOT_TILES tiles. */
template <int SLOT_TILES> struct ColumnTaps
{
  uint32_t color[2][SLOT_TILES][2];     /* of pixels g and g + 8 */
  float row[SLOT_TILES][2];             /* infinity outside the picture */
};

/* Of rows 8 T.. on: tiles from SLOT_TILES / 2 before that. */
template <int SLOT_TILES> __device__ __forceinline__ void
load_taps (ColumnTaps<SLOT_TILES> &taps, const Frame &f, const uint32_t *a, const uint32_t *b, int row)
{
#pragma unroll
  for (int tile = 0; tile < SLOT_TILES; tile++)
#pragma unroll
    for (int q = 0; q < 2; q++) {
      int y = row + 8 * (tile - SLOT_TILES / 2) + q;
      size_t from = (size_t) min (max (y, 0), f.height - 1) * f.image_pitch;
      taps.color[0][tile][q] = a[from];
      taps.color[1][tile][q] = b[from];
      taps.row[tile][q] = y >= 0 && y < f.height ? (float) y : INFINITY;
    }
}

/* The words of both pixels for one row of centres. */
template <int SLOT_TILES> __device__ __forceinline__ void
weigh (uint32_t (&words)[2][SLOT_TILES], const ColumnTaps<SLOT_TILES> &taps, uint32_t a, uint32_t b, float y, AswWindow w, float scale)
{
#pragma unroll
  for (int tile = 0; tile < SLOT_TILES; tile++) {
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
template <int SLOT_TILES> __device__ __forceinline__ void
store_words (uint32_t *to, const uint32_t (&words)[2][SLOT_TILES], bool right, int lane)
{
#pragma unroll
  for (int s = 0; s < SLOT_TILES / 2; s++)
    if (right)
      ((uint4 *) (to + s * 128))[lane] = make_uint4 (words[0][2 * s], words[1][2 * s], words[0][2 * s + 1],
          words[1][2 * s + 1]);
    else
#pragma unroll
      for (int p = 0; p < 2; p++)
        ((uint2 *) (to + p * SLOT_TILES * 32 + s * 64))[lane] = make_uint2 (words[p][2 * s], words[p][2 * s + 1]);
  if (right)
    ((uint2 *) (to + SLOT_TILES / 2 * 128))[lane] = make_uint2 (words[0][SLOT_TILES - 1], words[1][SLOT_TILES - 1]);
  else
#pragma unroll
    for (int p = 0; p < 2; p++)
      (to + p * SLOT_TILES * 32 + SLOT_TILES / 2 * 64)[lane] = words[p][SLOT_TILES - 1];
}

/* A warp: 16 pixels of one view (blockIdx.z) by the 8 rows whose taps stand in the same slots (blockIdx.y), of which
 * it reads each once. What is past the right border weighs anything: nobody counts it. */
template <int SLOT_TILES> __global__ void __launch_bounds__ (128)
weigh_columns (Frame f, AswWindow w, uint32_t *words, int tiles, int band, int rows)
{
  int view = blockIdx.z, lane = threadIdx.x & 31, tile = blockIdx.x * 4 + (threadIdx.x >> 5), row = 8 * blockIdx.y;
  if (tile >= tiles)
    return;
  const uint32_t *color = f.view[view].color + tile * 16 + (lane >> 2);
  uint32_t *to = words + ((size_t) (view * rows + row) * tiles + tile) * Words<SLOT_TILES>::tile;
  ColumnTaps<SLOT_TILES> taps;

  load_taps (taps, f, color, color + 8, band + row + 2 * (lane & 3));
  for (int y = band + row; y < min (band + min (row + 8, rows), f.height); y++) {
    uint32_t made[2][SLOT_TILES];
    const uint32_t *centre = color + (size_t) y * f.image_pitch;
    weigh (made, taps, centre[0], centre[8], (float) y, w, view == STEREO_RIGHT ? (float) RIGHT_SCALE : 0.0f);
    store_words (to, made, view == STEREO_RIGHT, lane);
    to += (size_t) tiles * Words<SLOT_TILES>::tile;
  }
}

/* A row's weights for a warp: 16 right pixels, 8 left ones. */
template <int SLOT_TILES> struct RowWeights
{
  uint4 right[SLOT_TILES / 2];
  uint2 left[SLOT_TILES / 2], right_last;
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
    right_last = __ldg ((const uint2 *) (r + SLOT_TILES / 2 * 128) + lane);
    left_last = __ldg (l + SLOT_TILES / 2 * 64 + lane);
  }
};

/* The weights are more than the cache holds: what a warp's next rows need is fetched into it in time, a line a lane, by
 * one of the warps of a block that share it. */
template <int SLOT_TILES, int PARTNER_WARPS> struct Fetch
{
  const uint32_t *line;
  bool mine;

  __device__ __forceinline__
  Fetch (const uint32_t *right, const uint32_t *left, int lane, int warp)
  {
    const int rights = 2 * SLOT_TILES, lefts = SLOT_TILES;      /* lines of 128 bytes */
    bool is_right = lane < rights;
    line = is_right ? right + lane * 32 : left + (lane - rights) * 32;
    mine = is_right ? lane % WARPS_ACROSS == warp % WARPS_ACROSS : lane < rights + lefts && lane % PARTNER_WARPS == warp / WARPS_ACROSS;
  }

  __device__ __forceinline__ void
  fetch (size_t words) const
  {
    if (mine)
      asm volatile ("prefetch.global.L2 [%0];" :: "l" (line + words));
  }
};

/* Raw costs of rows 8 T + 2 t and the next, of WARP_COLUMNS columns and partners u and u + 8. Rows outside the picture weigh
 * nothing, so any will do. */
template <int COST, int WARP_COLUMNS> __device__ __forceinline__ void
make_costs (uint32_t (&costs)[WARP_COLUMNS][2], const Frame &f, int tile, int t, int x, int u)
{
  int y = 8 * tile + 2 * t;
  size_t a = (size_t) min (max (y, 0), f.height - 1) * f.image_pitch;
  size_t b = (size_t) min (max (y + 1, 0), f.height - 1) * f.image_pitch;
#pragma unroll
  for (int j = 0; j < WARP_COLUMNS; j++)
#pragma unroll
    for (int h = 0; h < 2; h++)
      costs[j][h] = (uint32_t) raw_cost<COST> (f, a, x + j, u + 8 * h) |
          (uint32_t) raw_cost<COST> (f, b, x + j, u + 8 * h) << 16;
}

/* Sums of costs and of weights, one row, of sum[j] column j is meant; EXACT: see asw_both_exact(). Each weight that has
 * served makes room for that of the row at @right and @left. */
template <bool EXACT, int SLOT_TILES, int WARP_COLUMNS> __device__ __forceinline__ void
sum_row (float (&sum)[WARP_COLUMNS][4], float (&weights)[4], RowWeights<SLOT_TILES> &w, const uint32_t (&costs)[SLOT_TILES][WARP_COLUMNS][2],
    const uint32_t *right, const uint32_t *left, int lane)
{
#pragma unroll
  for (int e = 0; e < 4; e++)
    weights[e] = 0;
#pragma unroll
  for (int j = 0; j < WARP_COLUMNS; j++)
#pragma unroll
    for (int e = 0; e < 4; e++)
      sum[j][e] = 0;
#pragma unroll
  for (int s = 0; s < SLOT_TILES / 2; s++) {
    const uint4 r = w.right[s];
    multiply (weights, r, w.left[s].x, w.left[s].y);
#pragma unroll
    for (int j = 0; j < WARP_COLUMNS; j++) {
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
  for (int j = 0; j < WARP_COLUMNS; j++) {
    uint32_t x = times (w.right_last.x, costs[SLOT_TILES - 1][j][0]), y = times (w.right_last.y, costs[SLOT_TILES - 1][j][1]);
    multiply_half (sum[j], x, y, w.left_last);
    if (EXACT)
      multiply_half (sum[j], rest (w.right_last.x, costs[SLOT_TILES - 1][j][0], x), rest (w.right_last.y, costs[SLOT_TILES - 1][j][1], y),
          w.left_last);
  }
  w.load_last (right, left, lane);
}

/* Element e of the lane's columns 2 t + e % 2: of that column's product. WARP_COLUMNS 4: of the half the warp has. */
template <int WARP_COLUMNS> __device__ __forceinline__ float
own_sum (const float (&sum)[WARP_COLUMNS][4], int e, int t)
{
  float low = t & 1 ? sum[2 + e % 2][e] : sum[e % 2][e];
  if (WARP_COLUMNS == 4)
    return low;
  float high = t & 1 ? sum[WARP_COLUMNS - 2 + e % 2][e] : sum[WARP_COLUMNS - 4 + e % 2][e];
  return t & 2 ? high : low;
}

/*
 * A warp: WARP_COLUMNS columns (from @x) by 16 partners (from @u), `strip` rows from row blockIdx.z * strip of the band on,
 * rolling down. A block: 4 such columns, @PARTNER_WARPS such partners, which share the weights through the cache.
 */
template <bool EXACT, int COST, int SLOT_TILES, int WARP_COLUMNS, int PARTNER_WARPS> __global__ void __launch_bounds__ (32 * WARPS_ACROSS * PARTNER_WARPS)
aggregate_columns_both (Frame f, const uint32_t *words, int tiles, int band, int rows, int strip)
{
  int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3, warp = threadIdx.x >> 5;
  int group = blockIdx.x * WARPS_ACROSS * WARP_COLUMNS, zero = f.width - 1 + f.min_disparity;  /* index u + x - zero */
  int x = group + warp % WARPS_ACROSS * WARP_COLUMNS;
  int tile = ((zero - group - WARPS_ACROSS * WARP_COLUMNS + 1) >> 4) + (int) blockIdx.y * PARTNER_WARPS + warp / WARPS_ACROSS, u = tile * 16;
  if (x >= f.width || tile < 0 || tile >= tiles || u + 15 + x + WARP_COLUMNS - 1 < zero || u + x - zero >= f.depth)
    return;
  int y = band + blockIdx.z * strip, end = min (y + strip, band + rows);
  size_t row_words = (size_t) tiles * Words<SLOT_TILES>::tile;
  const uint32_t *left = words + (size_t) (y - band) * row_words + (x >> 3) * (Words<SLOT_TILES>::tile / 2);
  const uint32_t *right = words + (size_t) (y - band + rows) * row_words + tile * Words<SLOT_TILES>::tile;

  int column = (x & ~7) + 2 * t, index = u + g + column - zero;
  size_t row_costs = (size_t) f.width * f.depth;
  uint16_t *out[2] = { f.volume + y * row_costs + (ptrdiff_t) column * f.depth + index };
  out[1] = out[0] + f.depth + 1;
  uint32_t own = 0;             /* which of its four elements count */
#pragma unroll
  for (int e = 0; e < 4; e++) {
    int c = column + e % 2, i = index + e % 2 + e / 2 * 8;
    if (c >= x && c < min (x + WARP_COLUMNS, f.width) && u + g + e / 2 * 8 < f.width && i >= 0 && i < f.depth)
      own |= 1u << e;
  }

  uint32_t costs[SLOT_TILES][WARP_COLUMNS][2];
#pragma unroll
  for (int b = 1; b < SLOT_TILES; b++)
    make_costs<COST, WARP_COLUMNS> (costs[b], f, y / 8 - SLOT_TILES / 2 + b - 1, t, x, u + g);
  Fetch<SLOT_TILES, PARTNER_WARPS> ahead (right, left, lane, warp);
  for (int r = 1; r < WEIGHT_ROWS_AHEAD && y + r < end; r++)
    ahead.fetch (r * row_words);
  RowWeights<SLOT_TILES> weights;
#pragma unroll
  for (int s = 0; s < SLOT_TILES / 2; s++)
    weights.load_step (s, right, left, lane);
  weights.load_last (right, left, lane);
  while (y < end) {
#pragma unroll
    for (int b = 0; b < SLOT_TILES - 1; b++)
#pragma unroll
      for (int j = 0; j < WARP_COLUMNS; j++)
        costs[b][j][0] = costs[b + 1][j][0], costs[b][j][1] = costs[b + 1][j][1];
    make_costs<COST, WARP_COLUMNS> (costs[SLOT_TILES - 1], f, y / 8 + SLOT_TILES / 2, t, x, u + g);
#pragma unroll 1
    for (int r = 0; r < 8; r++, y++) {
      if (y + 1 < end)
        left += row_words, right += row_words;
      if (WEIGHT_ROWS_AHEAD && y + WEIGHT_ROWS_AHEAD < end)
        ahead.fetch (WEIGHT_ROWS_AHEAD * row_words), ahead.line += row_words;
      float sum[WARP_COLUMNS][4], norm[4];
      sum_row<EXACT, SLOT_TILES, WARP_COLUMNS> (sum, norm, weights, costs, right, left, lane);
      own = y < end ? own : 0;
#pragma unroll
      for (int e = 0; e < 4; e++) {
        __half mean = __float2half_rn (own_sum<WARP_COLUMNS> (sum, e, t) * reciprocal (norm[e]) * 16777216.0f);
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

template <bool EXACT, int COST, int SLOT_TILES, int WARP_COLUMNS, int PARTNER_WARPS> static StereoStatus
launch_kernels (StereoPlan *plan, uint32_t *words, StereoError *error)
{
  Frame f = cuda_frame (plan);
  AswWindow w = asw_window (plan);
  cudaStream_t stream = cuda_state (plan)->stream;
  int tiles = pixel_tiles (plan), most = band_rows (plan);
  unsigned across = cuda_blocks (f.width, WARPS_ACROSS * WARP_COLUMNS);
  unsigned partners = cuda_blocks ((f.depth + WARPS_ACROSS * WARP_COLUMNS - 2) / 16 + 2, PARTNER_WARPS);

  for (int band = 0; band < f.height; band += most) {
    int rows = f.height - band < most ? f.height - band : most, strip = 128;
    while (strip > 32 && across * partners * cuda_blocks (rows, strip) < ENOUGH_BLOCKS)
      strip /= 2;
    dim3 grid (across, partners, cuda_blocks (rows, strip));
    weigh_columns<SLOT_TILES><<<dim3 (cuda_blocks (tiles, 4), cuda_blocks (rows, 8), 2), 128, 0, stream>>> (f, w, words, tiles,
        band, rows);
    CUDA_LAUNCHED (plan, "weigh_columns");
    aggregate_columns_both<EXACT, COST, SLOT_TILES, WARP_COLUMNS, PARTNER_WARPS><<<grid, 32 * WARPS_ACROSS * PARTNER_WARPS, 0, stream>>> (f, words, tiles, band,
        rows, strip);
    CUDA_LAUNCHED (plan, "aggregate_columns_both");
  }
  return STEREO_OK;
}

/* Larger windows leave a warp registers for four columns. */
template <bool EXACT, int COST> static StereoStatus
launch_window (StereoPlan *plan, uint32_t *words, StereoError *error)
{
  switch (slot_tiles (plan)) {
    case 3:
      return launch_kernels<EXACT, COST, 3, 8, 4> (plan, words, error);
    case 5:
      return launch_kernels<EXACT, COST, 5, 8, 3> (plan, words, error);
    case 7:
      return launch_kernels<EXACT, COST, 7, 4, 4> (plan, words, error);
    default:
      return launch_kernels<EXACT, COST, 9, 4, 3> (plan, words, error);
  }
}

}

StereoStatus
asw_both_columns_prepare (StereoPlan *plan, AswBothContext *context, StereoError *error)
{
  return stereo_reserve (plan, (void **) &context->weights, (size_t) band_rows (plan), row_bytes (plan), error);
}

StereoStatus
asw_both_columns (StereoPlan *plan, const AswBothContext *context, StereoError *error)
{
  return launch_for_cost<STEREO_METHOD_ASW> (plan, error, [=](auto cost) {
    constexpr int COST = decltype (cost)::value;
    return asw_both_exact (plan) ? launch_window<true, COST> (plan, context->weights, error) :
        launch_window<false, COST> (plan, context->weights, error);
  });
}
