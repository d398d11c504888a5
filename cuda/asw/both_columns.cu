/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* First pass of support=both, down the columns: the weights of a band of rows, as registers of the products. */
#include "cuda/asw/both.cuh"

namespace
{

constexpr int RIGHT_SCALE = 15; /* right weights are stored times 2^RIGHT_SCALE */

/* Words of the weights of 16 pixels, of either view; a word has two slots. Tiles of 8 slots come two by two, and a last
 * one. */
template <int SLOT_TILES> struct Words
{
  static constexpr int tile = SLOT_TILES * 64;
};

/* What a lane needs of the taps of its two pixels: of slots 2 t and 2 t + 1 of each tile. */
template <int SLOT_TILES> struct ColumnTaps
{
  uint32_t color[2][SLOT_TILES][2]; /* of pixels g and g + 8 */
  float row[SLOT_TILES][2];         /* infinity outside the picture */
};

/* For the 8 rows around @row: the first tile is SLOT_TILES / 2 tiles above theirs. */
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

/* Weights of both pixels in row @y: the words of all tiles. */
template <int SLOT_TILES> __device__ __forceinline__ void
weigh (uint32_t (&words)[2][SLOT_TILES], const ColumnTaps<SLOT_TILES> &taps, uint32_t a, uint32_t b, float y,
    AswWindow w, float scale)
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

/* In the order in which lanes read them: weights of the right view as registers of A, for 16 pixels, weights of the
 * left view as registers of B, for 8 pixels; tiles two by two, and a last one. */
template <int SLOT_TILES> __device__ __forceinline__ void
store_words (uint32_t *to, const uint32_t (&words)[2][SLOT_TILES], bool right, int lane)
{
#pragma unroll
  for (int s = 0; s < SLOT_TILES / 2; s++)
    if (right)
      ((uint4 *) (to + s * 128))[lane] = make_uint4 (
          words[0][2 * s], words[1][2 * s], words[0][2 * s + 1], words[1][2 * s + 1]);
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

/* Warp: 16 pixels of one view (blockIdx.z) by the 8 rows whose taps have the same slots (blockIdx.y); it reads each tap
 * once. Pixels past the right border get arbitrary weights, which no sum counts. */
template <int SLOT_TILES> __global__ void __launch_bounds__ (128)
    weigh_columns (Frame f, AswWindow w, uint32_t *words, int tiles, int band, int rows)
{
  int view = blockIdx.z, lane = threadIdx.x & 31, tile = blockIdx.x * 4 + (threadIdx.x >> 5), row = 8 * blockIdx.y;
  if (tile >= tiles)
    return;
  const uint32_t *color = f.view[view].likeness + tile * 16 + (lane >> 2);
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

/*
 * First pass of support=both: down the columns, on the tensor cores (mma.cuh).
 *
 * The sum for column x and partner u is over the rows of the window: l(x) r(u) c(x, u). For one column x, the products
 * r c of 16 partners by the rows are a matrix A, which takes one half2 multiplication for two rows. B has the weights l
 * of the rows by 8 columns, so of the product for the x-th column only column x of D counts. The sum of the weights, of
 * r times l alone, is one more product that has all columns at once.
 *
 * Rows have slots: the 8 rows from 8 T on share the SLOT_TILES tiles of 8 slots around T. A warp has the costs of its
 * columns by 16 partners in registers, and makes those of 8 new rows every 8 rows. Nothing stores raw costs. Weights
 * outside the window are 0. A kernel makes the weights before, in the order in which a lane reads them, for a band of
 * rows.
 *
 * Lane 4 g + t holds, of the product over tiles 2 s and 2 s + 1 of slots:
 *
 *                    A (right weight * cost): slots       B (left weights): column     D of the n-th column: column
 *                   2t,2t+1 of 2s   2t,2t+1 of 2s+1                      X + g                  X + 2t     X + 2t+1
 *   partner u+g         a.x              a.z             tile 2s          b0          u+g      sum[n][0]   sum[n][1]
 *   partner u+g+8       a.y              a.w             tile 2s+1        b1          u+g+8    sum[n][2]   sum[n][3]
 *
 * with X = x & ~7, the first of the 8 columns around the warp's.
 *
 * The last tile is a product of half the depth. Raw costs n are the half floats with the bits n, which are n * 2^-24;
 * right weights are stored times 2^15, so that the products stay in the range of half floats.
 */

constexpr int WARPS_ACROSS = 4; /* warps of a block that take neighbouring columns and the same partners */
constexpr size_t MOST_WEIGHTS = (size_t) 48 << 20; /* bytes of weights in memory at a time: a large cache holds them */
constexpr unsigned ENOUGH_BLOCKS = 1200;           /* with fewer blocks, parts of a large chip are idle at the end */

/* The weights of a row for a warp, of 16 right pixels (A) and 8 left ones (B). */
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

/* Raw costs of rows 8 @tile + 2 t and the next one, in the halves of a word, for WARP_COLUMNS columns and partners @u
 * and @u + 8. Rows outside the picture have weight 0: the nearest row serves for them. */
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
      costs[j][h] = truncated<COST> (f,
          (uint32_t) raw_cost<COST> (f, a, x + j, u + 8 * h) | (uint32_t) raw_cost<COST> (f, b, x + j, u + 8 * h) << 16);
}

/* Sums of costs and of weights for one row; of sum[j] only column j counts. EXACT: see asw_both_exact(). Weights that
 * are used up are replaced by those of the row at @right and @left. */
template <bool EXACT, int SLOT_TILES, int WARP_COLUMNS> __device__ __forceinline__ void
sum_row (float (&sum)[WARP_COLUMNS][4], float (&weights)[4], RowWeights<SLOT_TILES> &w,
    const uint32_t (&costs)[SLOT_TILES][WARP_COLUMNS][2], const uint32_t *right, const uint32_t *left, int lane)
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
    uint32_t x = times (w.right_last.x, costs[SLOT_TILES - 1][j][0]),
             y = times (w.right_last.y, costs[SLOT_TILES - 1][j][1]);
    multiply_half (sum[j], x, y, w.left_last);
    if (EXACT)
      multiply_half (sum[j], rest (w.right_last.x, costs[SLOT_TILES - 1][j][0], x),
          rest (w.right_last.y, costs[SLOT_TILES - 1][j][1], y), w.left_last);
  }
  w.load_last (right, left, lane);
}

/* Element @e of D, from the product of its own column 2 t + e % 2. With 4 columns a warp, of the half that the warp
 * has. */
template <int WARP_COLUMNS> __device__ __forceinline__ float
own_sum (const float (&sum)[WARP_COLUMNS][4], int e, int t)
{
  float low = t & 1 ? sum[2 + e % 2][e] : sum[e % 2][e];
  if (WARP_COLUMNS == 4)
    return low;
  float high = t & 1 ? sum[WARP_COLUMNS - 2 + e % 2][e] : sum[WARP_COLUMNS - 4 + e % 2][e];
  return t & 2 ? high : low;
}

/* Which of a lane's four elements of D are candidates of its warp's columns, a bit each. */
template <int WARP_COLUMNS> __device__ __forceinline__ uint32_t
own_elements (const Frame &f, int x, int u, int column, int index)
{
  uint32_t own = 0;
#pragma unroll
  for (int e = 0; e < 4; e++) {
    int c = column + e % 2, i = index + e % 2 + e / 2 * 8;
    if (c >= x && c < min (x + WARP_COLUMNS, f.width) && u + e / 2 * 8 < f.width && i >= 0 && i < f.depth)
      own |= 1u << e;
  }
  return own;
}

/*
 * Warp: WARP_COLUMNS columns from x on by 16 partners from u on, @strip rows from row blockIdx.z * strip of the band
 * on, from top to bottom. Block: WARPS_ACROSS times PARTNER_WARPS warps, which share the weights through the L1 cache.
 * There is no shared memory. A lane stores up to four means a row.
 */
template <bool EXACT, int COST, int SLOT_TILES, int WARP_COLUMNS, int PARTNER_WARPS>
__global__ void __launch_bounds__ (32 * WARPS_ACROSS * PARTNER_WARPS)
    aggregate_columns_both (Frame f, const uint32_t *words, int tiles, int band, int rows, int strip)
{
  int lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3, warp = threadIdx.x >> 5;
  int group = blockIdx.x * WARPS_ACROSS * WARP_COLUMNS, zero = f.width - 1 + f.min_disparity; /* index u + x - zero */
  int x = group + warp % WARPS_ACROSS * WARP_COLUMNS;
  int tile = ((zero - group - WARPS_ACROSS * WARP_COLUMNS + 1) >> 4) + (int) blockIdx.y * PARTNER_WARPS +
      warp / WARPS_ACROSS,
      u = tile * 16;
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
  uint32_t own = own_elements<WARP_COLUMNS> (f, x, u + g, column, index);

  uint32_t costs[SLOT_TILES][WARP_COLUMNS][2];
#pragma unroll
  for (int b = 1; b < SLOT_TILES; b++)
    make_costs<COST, WARP_COLUMNS> (costs[b], f, y / 8 - SLOT_TILES / 2 + b - 1, t, x, u + g);
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

/* ---- launches ------------------------------------------------------------------------------------------ */

/* Tiles of slots that the windows of 8 rows touch: 3, 5, 7 or 9, for each of which there is a kernel. */
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

/* Bytes of the weights of a row, both views. */
static size_t
row_bytes (const StereoPlan *plan)
{
  return (size_t) pixel_tiles (plan) * (size_t) slot_tiles (plan) * 64 * 2 * sizeof (uint32_t);
}

/* Rows whose weights are in memory at a time. Bands have one height, a multiple of 8 that a grid can count. */
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
    weigh_columns<SLOT_TILES>
        <<<dim3 (cuda_blocks (tiles, 4), cuda_blocks (rows, 8), 2), 128, 0, stream>>> (f, w, words, tiles, band, rows);
    CUDA_LAUNCHED (plan, "weigh_columns");
    aggregate_columns_both<EXACT, COST, SLOT_TILES, WARP_COLUMNS, PARTNER_WARPS>
        <<<grid, 32 * WARPS_ACROSS * PARTNER_WARPS, 0, stream>>> (f, words, tiles, band, rows, strip);
    CUDA_LAUNCHED (plan, "aggregate_columns_both");
  }
  return STEREO_OK;
}

/* With larger windows a warp has registers for four columns only. */
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
    default: /* 9: the largest window has 63 pixels */
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
  return launch_for_cost<STEREO_METHOD_ASW> (plan, error, [=] (auto cost) {
    constexpr int COST = decltype (cost)::value;
    return asw_both_exact (plan) ? launch_window<true, COST> (plan, context->weights, error) :
                                   launch_window<false, COST> (plan, context->weights, error);
  });
}
