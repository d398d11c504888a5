/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Costs of the candidates in the lists, a block a tile: averaged in two passes as in left_rows.cu, by banded products on the tensor cores
 * (left.cuh). A tile needs costs of its own of all pixels in its windows, because the tiles beside it have other lists.
 */
#include "cuda/asw/left.cuh"
#include "cuda/asw/records.cuh"
#include "cuda/lists.cuh"

namespace
{

constexpr int MEAN_WARPS = 4;
constexpr float COST_SCALE = 16777216.0f; /* 2^24: the bits of a raw cost n are the half float n * 2^-24 */
static_assert (TILE_PIXELS == LIST_TILE, "a tile of weights is one of the lists");

/* In place of the number of tap tiles: windows that reach the tile itself, and no more than a quarter of the tiles beside it. These
 * quarters are a tile of 8 taps, of which a lane has two in place of four. */
constexpr int NARROW = 1;
constexpr int NARROW_RADIUS = TILE_PIXELS / 4;
template <int TAP_TILES> constexpr int TILES = TAP_TILES == NARROW ? 2 : TAP_TILES;

struct MatchContext
{
  uint8_t *records[2]; /* asw/records.cuh */
  uint32_t *color;
};

/*
 * For K * 8 slots: [row][column][slot] half floats, in shared memory, of the columns that windows reach. Product k of a lane's K has
 * slots K n + k in its columns n, so that a lane makes costs of neighbouring disparities, and its sums are those of neighbouring
 * slots. Bytes of a column and of a row are such that the lanes of a load read different banks.
 */
template <int TAP_TILES, int K> struct Means
{
  static constexpr int side = TAP_TILES == NARROW ? NARROW_RADIUS :
      TAP_TILES == 2                              ? TILE_PIXELS / 2 :
                                                    TILE_PIXELS * SIDE<TAP_TILES>;
  static constexpr int columns = TILE_PIXELS + 2 * side;
  static constexpr int column = 16 * K + 8, row = columns * column + (TAP_TILES == NARROW ? 0 : 64);
};

/* Products a lane, of which short lists need fewer. Wide windows leave no room for more. */
template <int TAP_TILES> constexpr int MOST_PRODUCTS = TAP_TILES <= 2 ? 4 : 2;

/* A tile, and the part of its list that is worked on: K * 2 groups from @first on. */
struct Work
{
  int column, row, x0, y0;
  const uint16_t *groups;
  int count, first;
  bool interior; /* all its candidates exist for all pixels in its windows */
};

/* The index of slot @slot of the part; without a group that of another one, which no one reads. */
static __device__ __forceinline__ int
index_of (const Work &t, int slot)
{
  int g = t.first + slot / STEREO_GROUP;
  return t.groups[g < t.count ? g : 0] * STEREO_GROUP + slot % STEREO_GROUP;
}

/* Tap tile @k of a lane, from the tile of its pixels on: the tile that its taps are in, the first of them, and how many they are. */
template <int TAP_TILES, int k> struct Taps
{
  static constexpr bool quarters = TAP_TILES == NARROW && k == 1;
  /* of the lane's pixels, one alone reaches taps beside its tile */
  static constexpr bool has_one = TILES<TAP_TILES> == 2 && k == 1;
  static constexpr int count = quarters ? 2 : 4;
  int tile, first;

  __device__ __forceinline__
  Taps ()
  {
    int lane = threadIdx.x & 31, t = lane & 3;
    tile = tile_of_taps<TILES<TAP_TILES>> (k, lane);
    first = quarters ? 2 * t + (tile < 0 ? TILE_PIXELS / 2 : 0) : 4 * t;
  }
};

/* Calls @work for all tap tiles: with their number as a type. */
template <int TAP_TILES, int k = 0, typename Work> static __device__ __forceinline__ void
for_tap_tiles (Work work)
{
  work (std::integral_constant<int, k> ());
  if constexpr (k + 1 < TILES<TAP_TILES>)
    for_tap_tiles<TAP_TILES, k + 1> (work);
}

/* Distance terms of the exponents of a lane's weights, of pixels g and g + 8 of tile @tile of a line for its taps in each tap tile, or of
 * the one that reaches them; minus infinity outside the window and outside the line. */
template <int TAP_TILES> struct Exponents
{
  float of[TILES<TAP_TILES>][2][4];

  __device__ __forceinline__
  Exponents (AswWindow w, int tile, int length)
  {
    int g = (threadIdx.x & 31) >> 2;
    for_tap_tiles<TAP_TILES> ([&] (auto number) {
      constexpr int k = decltype (number)::value;
      Taps<TAP_TILES, k> taps;
#pragma unroll
      for (int r = 0; r < (taps.has_one ? 1 : 2); r++)
#pragma unroll
        for (int e = 0; e < taps.count; e++) {
          int tap = taps.tile * TILE_PIXELS + taps.first + e,
              distance = abs (tap - (g + 8 * (taps.has_one ? taps.tile > 0 : r)));
          bool there = distance <= w.radius && (unsigned) (tile * TILE_PIXELS + tap) < (unsigned) length;
          of[k][r][e] = there ? w.distance * (float) distance : -INFINITY;
        }
    });
  }
};

/* Weights of @pixel for two neighbouring taps. */
static __device__ __forceinline__ uint32_t
two_weights (AswWindow w, uint32_t pixel, const uint32_t *taps, const float *terms)
{
  return pack_halves (cuda_weight (pixel, taps[0], w.color, terms[0]), cuda_weight (pixel, taps[1], w.color, terms[1]));
}

/* The lane's registers of A. @p, @q: colours of pixels g and g + 8. */
template <int TAP_TILES, int k> static __device__ __forceinline__ uint4
weights_of (
    const Exponents<TAP_TILES> &x, AswWindow w, uint32_t p, uint32_t q, const RowWords<Taps<TAP_TILES, k>::count> &taps)
{
  constexpr bool quarters = Taps<TAP_TILES, k>::quarters;
  if constexpr (Taps<TAP_TILES, k>::has_one) {
    bool after = !(threadIdx.x & 2);
    uint32_t low = two_weights (w, after ? q : p, taps.of, x.of[k][0]);
    uint32_t high = quarters ? 0 : two_weights (w, after ? q : p, taps.of + (quarters ? 0 : 2), x.of[k][0] + 2);
    return after ? make_uint4 (0, low, 0, high) : make_uint4 (low, 0, high, 0);
  } else
    return make_uint4 (two_weights (w, p, taps.of, x.of[k][0]), two_weights (w, q, taps.of, x.of[k][1]),
        two_weights (w, p, taps.of + 2, x.of[k][0] + 2), two_weights (w, q, taps.of + 2, x.of[k][1] + 2));
}

/* Adds the product with one register of B, or with two; @first: there is no sum yet. */
template <int N> static __device__ __forceinline__ void
multiply_taps (float (&sum)[4], const uint4 &a, const uint32_t (&b)[N], bool first)
{
  if constexpr (N == 1)
    multiply_half (sum, a.x, a.y, b[0]);
  else
    multiply (sum, a, b[0], b[1], first);
}

/* @other, or @own where the line has no such tile: its weights are 0. */
static __device__ __forceinline__ int
tile_or (int own, int other, int tiles)
{
  return other < 0 || other >= tiles ? own : other;
}

/* The means of column @x, by a warp. */
template <int COST, int TAP_TILES, int K> static __device__ __forceinline__ void
average_column (const Frame &f, const Records &from, const Work &t, AswWindow w, const Exponents<TAP_TILES> &exponents,
    int x, uint8_t *means)
{
  const int RECORD = RecordFormat<COST>::bytes;
  int lane = threadIdx.x & 31, g = lane >> 2, l = lane & 3, tiles = (f.height + TILE_PIXELS - 1) / TILE_PIXELS;
  int right = f.width - 1 - x + RECORD_PAD + index_of (t, K * g);
  const uint32_t *own = from.color + ((size_t) t.row * from.columns[STEREO_LEFT] + x) * TILE_PIXELS;
  uint32_t p = own[g], q = own[g + 8];
  float sum[K][4], weights[4];

  for_tap_tiles<TAP_TILES> ([&] (auto number) {
    constexpr int k = decltype (number)::value, N = Taps<TAP_TILES, k>::count;
    Taps<TAP_TILES, k> at;
    int row = tile_or (t.row, t.row + at.tile, tiles);
    size_t left_record = (size_t) row * from.columns[STEREO_LEFT] + x;
    const uint8_t *right_record = from.view[STEREO_RIGHT] + ((size_t) row * from.columns[STEREO_RIGHT] + right) * RECORD;
    RowWords<N> taps = *(const RowWords<N> *) (from.color + left_record * TILE_PIXELS + at.first);
    uint4 a = weights_of<TAP_TILES, k> (exponents, w, p, q, taps);
    uint32_t ones[N / 2];
    SomeRows<COST, N> left, other;
#pragma unroll
    for (uint32_t &one : ones)
      one = 0x3C003C00u;
    load_rows (left, from.view[STEREO_LEFT] + left_record * RECORD, at.first);
    multiply_taps (weights, a, ones, k == 0);
#pragma unroll
    for (int j = 0; j < K; j++) {
      uint32_t costs[N / 2];
      load_rows (other, right_record + j * RECORD, at.first);
      costs_of_rows (left, other, costs);
      multiply_taps (sum[j], a, costs, k == 0);
    }
  });
  Candidates all = candidates (f, x);
#pragma unroll
  for (int r = 0; r < 2; r++) {
    float scale = reciprocal (weights[2 * r]) * COST_SCALE;
    uint2 *to = (uint2 *) (means + (g + 8 * r) * Means<TAP_TILES, K>::row +
                    (x - t.x0 + Means<TAP_TILES, K>::side) * Means<TAP_TILES, K>::column) +
        l * (K / 2);
    uint32_t words[K];
#pragma unroll
    for (int e = 0; e < K; e++) { /* slots 2 e and 2 e + 1 of the lane's */
      float low = sum[2 * e % K][2 * r + 2 * e / K] * scale,
            high = sum[(2 * e + 1) % K][2 * r + (2 * e + 1) / K] * scale;
      if (!t.interior) {
        int i = index_of (t, 2 * K * l + 2 * e);
        low = has (all, i) ? low : 0;
        high = has (all, i + 1) ? high : 0;
      }
      words[e] = pack_halves (low, high);
    }
#pragma unroll
    for (int e = 0; e < K / 2; e++)
      to[e] = make_uint2 (words[2 * e], words[2 * e + 1]);
  }
}

/* The lane's registers of B: means of its N columns (taps) of a tap tile, for its K products. */
template <int K, int N> static __device__ __forceinline__ void
read_means (const uint8_t *from, int pitch, uint32_t (&to)[K][N])
{
  uint32_t column[2 * N][K / 2];
#pragma unroll
  for (int c = 0; c < 2 * N; c++)
    if constexpr (K == 4) {
      uint2 four = *(const uint2 *) (from + c * pitch);
      column[c][0] = four.x;
      column[c][1] = four.y;
    } else
      column[c][0] = *(const uint32_t *) (from + c * pitch);
#pragma unroll
  for (int k = 0; k < K; k++)
#pragma unroll
    for (int h = 0; h < N; h++)
      to[k][h] = __byte_perm (column[2 * h][k / 2], column[2 * h + 1][k / 2], k & 1 ? 0x7632 : 0x5410);
}

/* The costs of row @y of the tile, by a warp. Where candidates are missing, each slot has a sum of weights of its own. */
template <int TAP_TILES, int K> static __device__ __forceinline__ void
average_row (const Frame &f, const Work &t, AswWindow w, const Exponents<TAP_TILES> &exponents, const PathCosts &costs,
    float unit, int y, const uint8_t *means)
{
  int lane = threadIdx.x & 31, g = lane >> 2, l = lane & 3, tiles = (f.width + TILE_PIXELS - 1) / TILE_PIXELS;
  const uint32_t *color = f.view[STEREO_LEFT].likeness + (size_t) y * f.image_pitch;
  uint32_t p = color[t.x0 + g], q = color[t.x0 + g + 8];
  float sum[K][4], weights[4], some[K][4];
  int index = index_of (t, K * g);

  for_tap_tiles<TAP_TILES> ([&] (auto number) {
    constexpr int k = decltype (number)::value, N = Taps<TAP_TILES, k>::count;
    Taps<TAP_TILES, k> at;
    int tile = tile_or (t.column, t.column + at.tile, tiles), column = at.tile * TILE_PIXELS + at.first;
    RowWords<N> taps = *(const RowWords<N> *) (color + tile * TILE_PIXELS + at.first);
    uint4 a = weights_of<TAP_TILES, k> (exponents, w, p, q, taps);
    uint32_t b[K][N / 2], ones[N / 2];
    read_means<K> (means + (y - t.y0) * Means<TAP_TILES, K>::row +
            (column + Means<TAP_TILES, K>::side) * Means<TAP_TILES, K>::column + 2 * K * g,
        Means<TAP_TILES, K>::column, b);
#pragma unroll
    for (uint32_t &one : ones)
      one = 0x3C003C00u;
    multiply_taps (weights, a, ones, k == 0);
#pragma unroll
    for (int j = 0; j < K; j++)
      multiply_taps (sum[j], a, b[j], k == 0);
    if (!t.interior)
#pragma unroll
      for (int j = 0; j < K; j++) {
        existing (f, t.x0 + column, index + j, ones);
        multiply_taps (some[j], a, ones, k == 0);
      }
  });
#pragma unroll
  for (int r = 0; r < 2; r++) {
    float scale = reciprocal (weights[2 * r]) * unit;
    uint32_t words[4] = { 0, 0, 0, 0 };
#pragma unroll
    for (int e = 0; e < K; e++) {
      uint32_t bits[2];
#pragma unroll
      for (int h = 0; h < 2; h++) {
        int j = (2 * e + h) % K, c = 2 * r + (2 * e + h) / K;
        bits[h] = t.interior ? rounded_bits (sum[j][c], scale) :
            some[j][c] > 0   ? rounded_bits (sum[j][c] * reciprocal (some[j][c]), unit) :
                               0;
      }
      words[e] = __byte_perm (bits[0], bits[1], 0x5410);
    }
    if (t.x0 + g + 8 * r >= f.width)
      continue;
    uint8_t *to = costs.costs + ((size_t) y * f.width + t.x0 + g + 8 * r) * LIST_SLOTS + t.first * STEREO_GROUP +
        2 * K * l;
    uint2 bytes = path_bytes (costs, make_uint4 (words[0], words[1], words[2], words[3]));
    if (K == 4)
      *(uint2 *) to = bytes;
    else
      *(uint32_t *) to = bytes.x;
  }
}

/* Both passes of a part of the list. A warp takes every MEAN_WARPS-th line. */
template <int COST, int TAP_TILES, int K> static __device__ __forceinline__ void
average_tile (const Frame &f, const Records &records, const Work &t, AswWindow w, const PathCosts &costs, float unit,
    uint8_t *means)
{
  typedef Means<TAP_TILES, K> M;
  int warp = threadIdx.x / 32, from = max (t.x0 - w.radius, 0), end = min (t.x0 + TILE_PIXELS + w.radius, f.width);

  /* 0 times what was there before must be 0 */
  for (int x = t.x0 - M::side + warp; x < t.x0 + TILE_PIXELS + M::side; x += MEAN_WARPS)
    for (int k = threadIdx.x % 32; (x < from || x >= end) && k < TILE_PIXELS * 2 * K; k += 32)
      ((uint2 *) (means + k / (2 * K) * M::row + (x - t.x0 + M::side) * M::column))[k % (2 * K)] = make_uint2 (0, 0);
  {
    Exponents<TAP_TILES> exponents (w, t.row, f.height);
    for (int x = from + warp; x < end; x += MEAN_WARPS)
      average_column<COST, TAP_TILES, K> (f, records, t, w, exponents, x, means);
  }
  __syncthreads ();
  Exponents<TAP_TILES> exponents (w, t.column, f.width);
  for (int y = t.y0 + warp; y < min (t.y0 + TILE_PIXELS, f.height); y += MEAN_WARPS)
    average_row<TAP_TILES, K> (f, t, w, exponents, costs, unit, y, means);
}

/*
 * Block: a tile. A warp makes the first pass of whole columns, all slots of a part of the list: a lane makes the costs of its
 * elements of B from records in global memory, which the columns beside it read too, from the cache. The means are in shared
 * memory. Then a warp makes the second pass of whole rows, and stores neighbouring slots of neighbouring pixels.
 */
template <int COST, int TAP_TILES> static __global__ void __launch_bounds__ (32 * MEAN_WARPS, TAP_TILES <= 2 ? 5 : 4)
    mean_kernel (const __grid_constant__ Frame f, const __grid_constant__ Records records, AswWindow w,
        const __grid_constant__ Lists lists, PathCosts costs, float unit)
{
  extern __shared__ uint4 shared[];
  int tile = blockIdx.y * lists.columns + blockIdx.x;
  Work t = { (int) blockIdx.x, (int) blockIdx.y, (int) blockIdx.x * LIST_TILE, (int) blockIdx.y * LIST_TILE,
    lists.groups + (size_t) tile * LIST_GROUPS, count_groups (lists, tile), 0, false };
  int first_column = max (t.x0 - w.radius, 0), last_column = min (t.x0 + TILE_PIXELS + w.radius, f.width) - 1;
  int highest = t.groups[t.count - 1] * STEREO_GROUP + STEREO_GROUP - 1;

  t.interior = highest <= stereo_last_index (first_column, f.disparities, f.min_disparity) &&
      t.groups[0] * STEREO_GROUP >= stereo_first_index (last_column, f.width, f.min_disparity);
  if constexpr (MOST_PRODUCTS<TAP_TILES> == 4)
    if (t.count > 4) {
      average_tile<COST, TAP_TILES, 4> (f, records, t, w, costs, unit, (uint8_t *) shared);
      return;
    }
  for (; t.first < t.count; t.first += 4) {
    if (t.first)
      __syncthreads ();
    average_tile<COST, TAP_TILES, 2> (f, records, t, w, costs, unit, (uint8_t *) shared);
  }
}

/* ---- the stage ------------------------------------------------------------------------------------------ */

static int
tiles_of (const StereoPlan *plan)
{
  return (plan->height + TILE_PIXELS - 1) / TILE_PIXELS;
}

static Records
records_of (const StereoPlan *plan, const MatchContext *context)
{
  return { { context->records[0], context->records[1] }, context->color,
    { plan->width + RECORD_PAD, plan->width + plan->depth + 2 * RECORD_PAD } };
}

template <int TAP_TILES> static size_t
mean_bytes ()
{
  return TILE_PIXELS * Means<TAP_TILES, MOST_PRODUCTS<TAP_TILES>>::row;
}

template <int COST> static StereoStatus
prepare_cost (StereoPlan *plan, MatchContext *context, StereoError *error)
{
  Records records = records_of (plan, context);
  size_t rows = (size_t) tiles_of (plan);
  StereoStatus status = stereo_reserve_for (plan, STEREO_LIFE_MATCH, (void **) &context->color,
      rows * (size_t) records.columns[STEREO_LEFT], TILE_PIXELS * sizeof (uint32_t), error);

  for (int v = 0; v < 2 && !status; v++)
    status = stereo_reserve_for (plan, STEREO_LIFE_MATCH, (void **) &context->records[v],
        rows * (size_t) records.columns[v], RecordFormat<COST>::bytes, error);
  if (status)
    return status;
  CUDA_TRY (
      cudaFuncSetAttribute (mean_kernel<COST, 5>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) mean_bytes<5> ()));
  return STEREO_OK;
}

static StereoStatus
mean_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  return launch_for_cost<STEREO_METHOD_ASW> (plan, error,
      [=] (auto cost) { return prepare_cost<decltype (cost)::value> (plan, (MatchContext *) context, error); });
}

template <int COST, int TAP_TILES> static void
launch_mean (StereoPlan *plan, const Records &records)
{
  PathCosts costs = path_costs_of (plan, plan->lists.costs);
  mean_kernel<COST, TAP_TILES>
      <<<dim3 (plan->lists.columns, plan->lists.rows), 32 * MEAN_WARPS, mean_bytes<TAP_TILES> (), cuda_state (plan)->stream>>> (
          cuda_frame (plan), records, asw_window (plan), lists_of (plan), costs, (float) plan->volume_unit);
}

template <int COST> static StereoStatus
launch_cost (StereoPlan *plan, const MatchContext *context, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->width, RECORD_COLUMNS), tiles_of (plan), 2);
  Records records = records_of (plan, context);
  StereoStatus status;
  cudaStream_t stream;

  if ((status = cuda_begin_early (plan, &stream, error)))
    return status;
  make_records<COST><<<grid, RECORD_THREADS, 0, stream>>> (cuda_frame (plan), records);
  CUDA_LAUNCHED (plan, "make_records");
  if ((status = cuda_join (plan, error)))
    return status;
  switch (asw_tap_tiles (plan)) {
    case 5:
      launch_mean<COST, 5> (plan, records);
      break;
    case 3:
      launch_mean<COST, 3> (plan, records);
      break;
    default:
      if (plan->params.window / 2 > NARROW_RADIUS)
        launch_mean<COST, 2> (plan, records);
      else
        launch_mean<COST, NARROW> (plan, records);
  }
  CUDA_LAUNCHED (plan, "mean_kernel");
  return STEREO_OK;
}

static StereoStatus
mean_run (StereoPlan *plan, void *context, StereoError *error)
{
  return launch_for_cost<STEREO_METHOD_ASW> (plan, error,
      [=] (auto cost) { return launch_cost<decltype (cost)::value> (plan, (const MatchContext *) context, error); });
}

}

extern const StereoStage stereo_cuda_list_means = {
  .name = "match", .context_size = sizeof (MatchContext), .prepare = mean_prepare, .run = mean_run
};
