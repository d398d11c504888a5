/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two-pass aggregation with the product of the weights of both views, as the thesis defines it: down the columns, which writes half floats
 * to the volume, then along the rows, which reads them.
 */
#include "cuda/asw/mma.cuh"
#include "cuda/asw/weights.cuh"
#include "cuda/async_copy.cuh"

namespace
{

__device__ __forceinline__ uint32_t
times (uint32_t a, uint32_t b)
{
  return bits_of (__hmul2 (halves_of (a), halves_of (b)));
}

/* What times() loses by rounding. */
__device__ __forceinline__ uint32_t
rest (uint32_t a, uint32_t b, uint32_t product)
{
  return bits_of (__hfma2 (halves_of (a), halves_of (b), __hneg2 (halves_of (product))));
}

/*
 * Whether the passes have to add what rounding loses. Both passes round the products of right weights and costs to half
 * floats, and so the means between the passes, by up to 2^-12 each. Over many taps these errors average out. Over few
 * taps they add up to more than 2^-11. The number of taps that count is (sum of weights)^2 / sum of weights^2: so many
 * taps of equal weight give the same quotient.
 */
inline bool
asw_both_exact (const StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  int least = plan->width < plan->height ? plan->width : plan->height;
  int radius = p->window / 2 < least ? p->window / 2 : least;
  double sum = 0, squares = 0;

  for (int k = 0; k <= radius; k++) {
    double weight = exp (-k / p->gamma_distance);
    sum += weight;
    squares += weight * weight;
  }
  return least < 4 * p->window || sum * sum < 8 * squares;
}

/* First pass: the weights of a band of rows, as registers of the products. */

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

/* Scratch memory of the stage. */
struct AswBothContext
{
  uint32_t *weights; /* of the first pass, for a band of rows */
};

static StereoStatus
columns_prepare (StereoPlan *plan, AswBothContext *context, StereoError *error)
{
  return stereo_reserve (plan, (void **) &context->weights, (size_t) band_rows (plan), row_bytes (plan), error);
}

static StereoStatus
run_columns (StereoPlan *plan, const AswBothContext *context, StereoError *error)
{
  return launch_for_cost<STEREO_METHOD_ASW> (plan, error, [=] (auto cost) {
    constexpr int COST = decltype (cost)::value;
    return asw_both_exact (plan) ? launch_window<true, COST> (plan, context->weights, error) :
                                   launch_window<false, COST> (plan, context->weights, error);
  });
}

/* Second pass: the shared memory of a block, how weights and costs get there, the sums of both, and the kernel. */

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

static StereoStatus
rows_prepare (StereoPlan *plan, StereoError *error)
{
  return launch_for_indices (plan, [=] (auto indices) { return prepare<decltype (indices)::value> (plan, error); });
}

static StereoStatus
run_rows (StereoPlan *plan, StereoError *error)
{
  return launch_for_indices (
      plan, [=] (auto indices) { return launch_kernel<decltype (indices)::value> (plan, error); });
}

static StereoStatus
both_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  StereoStatus status = columns_prepare (plan, (AswBothContext *) context, error);
  return status ? status : rows_prepare (plan, error);
}

static StereoStatus
both_run (StereoPlan *plan, void *context, StereoError *error)
{
  StereoStatus status = run_columns (plan, (const AswBothContext *) context, error);
  return status ? status : run_rows (plan, error);
}

}

const StereoStage stereo_cuda_asw_both = {
  .name = "match", .context_size = sizeof (AswBothContext), .prepare = both_prepare, .run = both_run
};
