/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* First pass of support=left: down the columns. left.cuh draws which lane holds what. */
#include "cuda/asw/left.cuh"

/*
 * Records: the features of 16 rows of one column, from which the first pass of support=left makes its raw costs.
 *
 * A record has a plane of 64 bytes for each feature that the cost reads: a lane loads four rows of a feature at once,
 * and finds every feature at a fixed distance. Records of neighbouring columns follow one another: a block copies the
 * run that it needs in one piece. 16 bytes between records let the lanes of a load read different banks. Right columns
 * are numbered by xm - min_disparity + RECORD_PAD. There are as many as candidates have; those outside the image are
 * never written and never reach a result.
 */
namespace
{

/* How the features of a cost lie in a record. */
template <int COST> struct RecordFormat
{
  static constexpr int census = Cost<COST>::census_words; /* planes of 32 bits */
  static constexpr bool color = Cost<COST>::color;
  static constexpr bool level = Cost<COST>::level != Level::NONE; /* halves: the last plane */
  static constexpr int planes = census + color + level;
  static constexpr int bytes = 64 * planes + 16; /* of a record */
};

constexpr int RECORD_PAD = 8;      /* right columns before those of the image: the most columns of a block */
constexpr int RECORD_COLUMNS = 64; /* columns whose records a block makes */
constexpr int RECORD_THREADS = 256;
/* The record of 16 rows of a column is at view[v] + (row / 16 * columns[v] + column) * bytes. What the
 * weights compare of the left view is in the same order: 16 rows a column. */
struct Records
{
  uint8_t *view[2];
  uint32_t *color;
  int columns[2];
};

/* Four rows of a column. */
template <int COST> struct FourRows
{
  uint4 census[RecordFormat<COST>::census + 1], color; /* one more, because an array must not be empty */
  uint2 level;
};

/* The four rows at @from of a record. */
template <int COST> __device__ __forceinline__ void
load_rows (FourRows<COST> &rows, const uint8_t *from)
{
  typedef RecordFormat<COST> F;
#pragma unroll
  for (int c = 0; c < F::census; c++)
    rows.census[c] = *(const uint4 *) (from + 64 * c);
  if (F::color)
    rows.color = *(const uint4 *) (from + 64 * F::census);
  if (F::level) /* halves of four rows begin every 16 bytes */
    rows.level = *(const uint2 *) (from + 64 * (F::census + F::color));
}

/* Packed costs of a left and a right column, of two rows each. */
template <int COST> __device__ __forceinline__ void
costs_of_rows (const FourRows<COST> &l, const FourRows<COST> &r, uint32_t (&costs)[2])
{
  typedef RecordFormat<COST> F;
#pragma unroll
  for (int k = 0; k < 2; k++) {
    TwoDifferences d = {};
#pragma unroll
    for (int h = 0; h < 2; h++) {
#pragma unroll
      for (int c = 0; c < F::census; c++)
        d.bits[h] += __popc (word_of (l.census[c], 2 * k + h) ^ word_of (r.census[c], 2 * k + h));
      if (F::color)
        d.sad[h] = __vsadu4 (word_of (l.color, 2 * k + h), word_of (r.color, 2 * k + h));
    }
    if (F::level)
      d.level = __habs2 (__hsub2 (halves_of (k ? l.level.y : l.level.x), halves_of (k ? r.level.y : r.level.x)));
    costs[k] = Cost<COST>::of_two_pairs (d);
  }
}

/* ---- making the records --------------------------------------------------------------------------------- */

/* The records of a block as they lie in global memory, and its colours, with gaps that let lanes write to different banks. */
template <int COST> struct RecordTile
{
  static constexpr int vectors = RecordFormat<COST>::bytes / 16; /* of a record */
  uint4 record[RECORD_COLUMNS * vectors];
  uint4 color[RECORD_COLUMNS][5];
};

/* Writes the words of four neighbouring columns, @pitch words apart. */
static __device__ __forceinline__ void
put_four (uint32_t *to, int pitch, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
  to[0] = a;
  to[pitch] = b;
  to[2 * pitch] = c;
  to[3 * pitch] = d;
}

/* The levels of four neighbouring pixels. */
template <int COST> static __device__ __forceinline__ short4
four_levels (const StereoView &view, size_t at)
{
  if (Cost<COST>::level == Level::GRADIENT)
    return *(const short4 *) (view.gradient + at);
  uchar4 luma = *(const uchar4 *) (view.luma + at);
  return make_short4 (luma.x, luma.y, luma.z, luma.w);
}

/* Writes the features of four pixels of row @row, from column 4 * @four of the block on. Rows past the image are 0. Their
 * weights are 0 too, but 0 times NaN would be NaN. */
template <int COST> static __device__ __forceinline__ void
put_features (const StereoView &view, size_t at, bool inside, bool left, int four, int row, RecordTile<COST> *tile)
{
  typedef RecordFormat<COST> F;
  const uint4 none = make_uint4 (0, 0, 0, 0);
  const int PITCH = F::bytes / 4;
  uint32_t *to = (uint32_t *) (tile->record + 4 * four * RecordTile<COST>::vectors) + row;
  uint4 census[F::census + 1], color = none, likeness = none;
  short4 level = make_short4 (0, 0, 0, 0);

#pragma unroll
  for (int c = 0; c < F::census; c++)
    census[c] = inside ? ((const uint4 *) ((const uint32_t *) view.census + at * F::census))[c] : none;
  if (F::color && inside)
    color = *(const uint4 *) (view.color + at);
  if (F::level && inside)
    level = four_levels<COST> (view, at);
  if (left && inside)
    likeness = *(const uint4 *) (view.likeness + at);
  if constexpr (F::census == 1) {
    put_four (to, PITCH, census[0].x, census[0].y, census[0].z, census[0].w);
  } else if constexpr (F::census == 2) { /* of each pixel two words */
    put_four (to, PITCH, census[0].x, census[0].z, census[1].x, census[1].z);
    put_four (to + 16, PITCH, census[0].y, census[0].w, census[1].y, census[1].w);
  }
  if (F::color)
    put_four (to + 16 * F::census, PITCH, color.x, color.y, color.z, color.w);
  if (F::level) { /* halves of four rows begin every 16 bytes */
    __half *half = (__half *) (to - row + 16 * (F::census + F::color) + row / 4 * 4) + row % 4;
    half[0] = __int2half_rn (level.x);
    half[2 * PITCH] = __int2half_rn (level.y);
    half[4 * PITCH] = __int2half_rn (level.z);
    half[6 * PITCH] = __int2half_rn (level.w);
  }
  if (left)
    put_four ((uint32_t *) tile->color[4 * four] + row, 20, likeness.x, likeness.y, likeness.z, likeness.w);
}

/*
 * Block: the records of 64 columns (blockIdx.x) and 16 rows (blockIdx.y) of one view (blockIdx.z), transposed in shared
 * memory: a thread loads four pixels of a row, a warp 16 pixels of 8 rows. The records are then copied in one piece, every
 * byte of them, so that no sector of memory is written in part.
 */
template <int COST> __global__ void
__launch_bounds__ (RECORD_THREADS)
    make_records (const __grid_constant__ Frame f, const __grid_constant__ Records records)
{
  typedef RecordTile<COST> Tile;
  __shared__ Tile tile;
  const StereoView &view = f.view[blockIdx.z];
  const bool left = blockIdx.z == STEREO_LEFT;
  int thread = threadIdx.x, x0 = blockIdx.x * RECORD_COLUMNS, y0 = blockIdx.y * 16,
      columns = records.columns[blockIdx.z];
  int four = thread / 64 * 4 + thread % 4, row = thread / 4 % 16, x = x0 + 4 * four, y = y0 + row;
  static_assert (RECORD_COLUMNS == 64 && RECORD_THREADS == 4 * RECORD_COLUMNS, "four pixels a thread");

  put_features<COST> (view, (size_t) y * f.image_pitch + x, x < f.width && y < f.height, left, four, row, &tile);
  __syncthreads ();
  /* the first column, and how many there are: see Records */
  int first = left ? 0 : RECORD_PAD - f.min_disparity, skipped = max (-first - x0, 0);
  int count = min (min (x0 + RECORD_COLUMNS, f.width), columns - first) - x0 - skipped;
  size_t record = (size_t) blockIdx.y * columns + (ptrdiff_t) (x0 + first + skipped);
  uint4 *to = (uint4 *) records.view[blockIdx.z] + record * Tile::vectors;
  const uint4 *from = tile.record + skipped * Tile::vectors;
#pragma unroll
  for (int k = 0; k < (RECORD_COLUMNS * Tile::vectors + RECORD_THREADS - 1) / RECORD_THREADS; k++)
    if (thread + k * RECORD_THREADS < count * Tile::vectors)
      to[thread + k * RECORD_THREADS] = from[thread + k * RECORD_THREADS];
  if (left && thread < 4 * count)
    ((uint4 *) (records.color + 16 * record))[thread] = tile.color[thread / 4][thread % 4];
}

}

/* The pass. */

namespace
{

constexpr int MOST_THREADS = 384;         /* of a block */
constexpr int RESIDENT_BLOCKS = 2;        /* of a multiprocessor: what registers are shared out for */
constexpr int MOST_WARPS = 5;             /* of a column */
constexpr float COST_SCALE = 16777216.0f; /* 2^24: the bits of a raw cost n are the half float n * 2^-24 */

/* A block's share: columns x0..x0 + columns - 1 and a run of disparities from @base on. */
struct ColumnBlock
{
  int columns, x0, base;
  int rights; /* right columns that are partners of the share */

  __device__
  ColumnBlock ()
  {
    columns = blockDim.y;
    x0 = blockIdx.x * columns;
    base = blockIdx.y * (blockDim.x / 32) * WARP_INDICES;
    rights = blockDim.x / 32 * WARP_INDICES + columns - 1;
  }
};

/* The shared memory of a block: the records of two tiles, right ones before left ones; the colours of LINE_TILES tiles;
 * the weights of each column. */
template <int COST, int TAP_TILES> struct ColumnStage
{
  static constexpr int record = RecordFormat<COST>::bytes;
  Distances<TAP_TILES> *distances;
  uint4 *weights;
  uint8_t *colors, *records;
  int records_size, colors_size;

  static __host__ __device__ int
  size (int warps, int columns)
  {
    return (int) sizeof (Distances<TAP_TILES>) + columns * 2 * TAP_TILES * 32 * 16 +
        columns * LINE_TILES * TILE_PIXELS * 4 + 2 * (warps * WARP_INDICES + 2 * columns - 1) * record;
  }

  __device__
  ColumnStage (uint4 *shared, const ColumnBlock &b)
  {
    distances = (Distances<TAP_TILES> *) shared;
    weights = (uint4 *) (distances + 1);
    colors = (uint8_t *) (weights + b.columns * 2 * TAP_TILES * 32);
    colors_size = b.columns * TILE_PIXELS * 4;
    records = colors + LINE_TILES * colors_size;
    records_size = (b.rights + b.columns) * record;
  }
};

/* Starts to copy the records of tile @n and the colours of tile @n + 1, for tile 0 its own colours too. Tiles are
 * numbered from @first on, up to @last. */
template <int COST, int TAP_TILES> __device__ __forceinline__ void
copy_tile (const Frame &f, const ColumnBlock &b, const Records &from, int first, int n, int last,
    const ColumnStage<COST, TAP_TILES> &stage, CopyThreads c)
{
  const int RECORD = RecordFormat<COST>::bytes;
  size_t right = (size_t) (first + n) * from.columns[STEREO_RIGHT] + f.width - b.x0 - b.columns + b.base + RECORD_PAD;
  size_t left = (size_t) (first + n) * from.columns[STEREO_LEFT] + b.x0;
  uint8_t *to = stage.records + (n & 1) * stage.records_size;

  copy_block (to, from.view[STEREO_RIGHT] + right * RECORD, b.rights * RECORD, c);
  copy_block (to + b.rights * RECORD, from.view[STEREO_LEFT] + left * RECORD, b.columns * RECORD, c);
  if (n == 0)
    copy_block (stage.colors, from.color + left * TILE_PIXELS, stage.colors_size, c);
  if (n < last)
    copy_block (stage.colors + (n + 1) % LINE_TILES * stage.colors_size,
        from.color + (left + from.columns[STEREO_LEFT]) * TILE_PIXELS, stage.colors_size, c);
  commit_copies ();
}

/* The lane's registers of B, from its places in the records of a tile: costs of rows (taps) 4 t..4 t + 3. */
template <int COST> __device__ __forceinline__ void
make_costs (const Frame &f, const uint8_t *left_record, const uint8_t *right_record, uint32_t (&to)[INDEX_TILES][2])
{
  FourRows<COST> left, right;
  load_rows (left, left_record);
#pragma unroll
  for (int k = 0; k < INDEX_TILES; k++) {
    load_rows (right, right_record + k * RecordFormat<COST>::bytes);
    costs_of_rows (left, right, to[k]);
    to[k][0] = truncated<COST> (f, to[k][0]);
    to[k][1] = truncated<COST> (f, to[k][1]);
  }
}

/* Stores the lane's means of rows g and g + 8 as half floats, 0 where there is no candidate. Where none of a lane's 8
 * indices has a candidate, the second pass reads none of them. @rows: from row g to the end of the image. */
__device__ __forceinline__ void
store_means (const Frame &f, const float (&sum)[INDEX_TILES][4], const float (&weights)[4], const Candidates &all,
    int base, int rows, uint16_t *out)
{
  int start = base + 2 * INDEX_TILES * (threadIdx.x & 3);
  bool whole = has_all (all, base), some = start <= all.last && start + 2 * INDEX_TILES > all.first;

#pragma unroll
  for (int r = 0; r < 2; r++) {
    float scale = reciprocal (weights[2 * r]) * COST_SCALE;
    uint4 words = whole ?
        gather_row (sum, r, [&] (float low, float high, int i) { return pack_halves (low * scale, high * scale); }) :
        gather_row (sum, r, [&] (float low, float high, int i) {
          return pack_halves (has (all, start + i) ? low * scale : 0, has (all, start + i + 1) ? high * scale : 0);
        });
    if (8 * r < rows && some)
      *(uint4 *) (out + (size_t) (8 * r) * f.width * f.depth) = words;
  }
}

/*
 * Block: a few columns (threadIdx.y, blockIdx.x) by WARP_INDICES disparities a warp (threadIdx.x, blockIdx.y) by @strip
 * tiles (blockIdx.z), from top to bottom. A lane makes the costs of its elements of B from records in shared memory,
 * where the lanes of a load read different banks. It stores 16 bytes a row of its elements of D.
 */
template <int COST, int TAP_TILES> __global__ void
__launch_bounds__ (MOST_THREADS, RESIDENT_BLOCKS) aggregate_columns (Frame f, Records records, AswWindow w, int strip)
{
  extern __shared__ uint4 shared[];
  const int RECORD = RecordFormat<COST>::bytes;
  ColumnBlock b;
  ColumnStage<COST, TAP_TILES> stage (shared, b);
  CopyThreads copy_threads = { (int) (threadIdx.y * blockDim.x + threadIdx.x), (int) (blockDim.x * blockDim.y) };
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, x = b.x0 + threadIdx.y, base = b.base + warp * WARP_INDICES;
  int g = lane >> 2, t = lane & 3, tiles = (f.height + TILE_PIXELS - 1) / TILE_PIXELS;
  /* from here on, tiles are numbered from the first one whose costs the block makes */
  int first = max ((int) blockIdx.z * strip - SIDE<TAP_TILES>, 0), begin = blockIdx.z * strip - first;
  int end = min (begin + strip, tiles - first), last = min (end + SIDE<TAP_TILES>, tiles - first) - 1;
  int rows = f.height - first * TILE_PIXELS, turn = TAP_TILES * begin + warp;
  Line<TAP_TILES> line = { (uint4 (*)[TAP_TILES * 32]) (stage.weights + threadIdx.y * 2 * TAP_TILES * 32),
    (const uint32_t *) stage.colors + threadIdx.y * TILE_PIXELS, b.columns * TILE_PIXELS, rows };
  const uint8_t *left = stage.records + (b.rights + threadIdx.y) * RECORD + 16 * t;
  const uint8_t *right = stage.records +
      (b.columns - 1 - threadIdx.y + warp * WARP_INDICES + g * INDEX_TILES) * RECORD + 16 * t;
  uint16_t *out = f.volume + ((size_t) ((first + begin) * TILE_PIXELS + g) * f.width + x) * f.depth + base +
      2 * INDEX_TILES * t;
  Candidates all = x < f.width ? candidates (f, x) : Candidates{ 0, -1 };
  Ring<TAP_TILES> ring;

  auto advance = [&] (int n) {
    await_copies<0> ();
    __syncthreads ();
    if (n < last)
      copy_tile (f, b, records, first, n + 1, last, stage, copy_threads);
  };
  auto make = [&] (int n, uint32_t (&to)[INDEX_TILES][2]) {
    /* past the last tile this reads an older one: its weights are 0 */
    make_costs<COST> (f, left + (n & 1) * stage.records_size, right + (n & 1) * stage.records_size, to);
  };
  if (last == 0)
    clear_stage (stage.records, 2 * stage.records_size, copy_threads);
  make_distances (*stage.distances, w, copy_threads.thread, copy_threads.threads);
  clear_ring (ring);
  __syncthreads ();
  copy_tile (f, b, records, first, 0, last, stage, copy_threads);
#pragma unroll
  for (int n = -(SIDE<TAP_TILES>); n < SIDE<TAP_TILES>; n++)
    if (begin + n >= 0) {
      advance (begin + n);
      make (begin + n, ring.costs[(n + SLOTS<TAP_TILES>) % SLOTS<TAP_TILES>]);
    }
  share_weights (line, *stage.distances, begin, turn, w);

  bool none = has_none (all, base); /* such a warp still waits with the others and makes weights for them */
  for (int start = begin; start < end; start += SLOTS<TAP_TILES>)
#pragma unroll
    for (int step = 0; step < SLOTS<TAP_TILES>; step++) {
      int tile = start + step;
      if (tile >= end)
        break;
      uint4 a[TAP_TILES];
      float sum[INDEX_TILES][4], weights[4];
      advance (tile + SIDE<TAP_TILES>);
      /* the weights of the next tile overlap with the products */
      if (tile + 1 < end)
        share_weights (line, *stage.distances, tile + 1, turn, w);
      if (none)
        continue;
      load_weights (a, line, tile);
      make (tile + SIDE<TAP_TILES>, ring.costs[(step + SIDE<TAP_TILES>) % SLOTS<TAP_TILES>]);
      sum_weights (weights, a);
      multiply_band (sum, a, ring, step);
      store_means (f, sum, weights, all, base, rows - tile * TILE_PIXELS - g, out);
      out += (size_t) TILE_PIXELS * f.width * f.depth;
    }
}

/* ---- stage ------------------------------------------------------------------------------------------ */

/* As many columns as shared memory holds; if it does not hold one, fewer disparities of it. */
template <int COST, int TAP_TILES> static Layout
columns_layout (const StereoPlan *plan)
{
  int limit = cuda_state (plan)->shared_per_block, most = MOST_WARPS;
  Layout l = layout_of (plan, most);

  while (most > 1 && ColumnStage<COST, TAP_TILES>::size (l.warps, 1) > limit)
    l = layout_of (plan, --most);
  l.columns = MOST_THREADS / 32 / l.warps;
  l.columns = l.columns > RECORD_PAD ? RECORD_PAD : l.columns;
  while (l.columns > 1 && ColumnStage<COST, TAP_TILES>::size (l.warps, l.columns) > limit)
    l.columns--;
  return l;
}

static int
tiles_of (const StereoPlan *plan)
{
  return (plan->height + TILE_PIXELS - 1) / TILE_PIXELS;
}

static Records
records_of (const StereoPlan *plan, const AswLeftContext *context)
{
  int disparities = cuda_blocks (plan->depth, WARP_INDICES) * WARP_INDICES + MOST_WARPS * WARP_INDICES;
  return { { context->records[0], context->records[1] }, context->color,
    { plan->width + RECORD_PAD, plan->width + disparities + 2 * RECORD_PAD } };
}

/* Allows the kernel the device's limit of shared memory, not this plan's need: plans share the kernel. */
template <int COST, int TAP_TILES> static StereoStatus
prepare_columns (StereoPlan *plan, AswLeftContext *context, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  Layout l = columns_layout<COST, TAP_TILES> (plan);
  int resident = 0;

  CUDA_TRY (cudaFuncSetAttribute (
      aggregate_columns<COST, TAP_TILES>, cudaFuncAttributeMaxDynamicSharedMemorySize, state->shared_per_block));
  CUDA_TRY (cudaOccupancyMaxActiveBlocksPerMultiprocessor (&resident, aggregate_columns<COST, TAP_TILES>,
      32 * l.warps * l.columns, (size_t) ColumnStage<COST, TAP_TILES>::size (l.warps, l.columns)));
  context->strip = asw_left_strip (tiles_of (plan), cuda_blocks (plan->width, l.columns) * l.chunks,
      resident * state->multiprocessors, SIDE<TAP_TILES>);
  return STEREO_OK;
}

template <int COST> static StereoStatus
prepare_cost (StereoPlan *plan, AswLeftContext *context, StereoError *error)
{
  Records records = records_of (plan, context);
  size_t rows = (size_t) tiles_of (plan);
  int tap_tiles = asw_tap_tiles (plan);
  StereoStatus status = tap_tiles == 5 ? prepare_columns<COST, 5> (plan, context, error) :
      tap_tiles == 3                   ? prepare_columns<COST, 3> (plan, context, error) :
                                         prepare_columns<COST, 2> (plan, context, error);

  if (!status)
    status = stereo_reserve_for (plan, STEREO_LIFE_MATCH, (void **) &context->color,
        rows * (size_t) records.columns[STEREO_LEFT], TILE_PIXELS * sizeof (uint32_t), error);
  for (int v = 0; v < 2 && !status; v++)
    status = stereo_reserve_for (plan, STEREO_LIFE_MATCH, (void **) &context->records[v],
        rows * (size_t) records.columns[v], RecordFormat<COST>::bytes, error);
  return status;
}

template <int COST, int TAP_TILES> static void
launch_columns (StereoPlan *plan, const AswLeftContext *context)
{
  Frame f = cuda_frame (plan);
  Layout l = columns_layout<COST, TAP_TILES> (plan);
  dim3 grid (cuda_blocks (f.width, l.columns), l.chunks, cuda_blocks (tiles_of (plan), context->strip));

  aggregate_columns<COST, TAP_TILES>
      <<<grid, dim3 (32 * l.warps, l.columns), ColumnStage<COST, TAP_TILES>::size (l.warps, l.columns),
          cuda_state (plan)->stream>>> (f, records_of (plan, context), asw_window (plan), context->strip);
}

template <int COST> static StereoStatus
launch_cost (StereoPlan *plan, const AswLeftContext *context, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->width, RECORD_COLUMNS), tiles_of (plan), 2);

  make_records<COST>
      <<<grid, RECORD_THREADS, 0, cuda_state (plan)->stream>>> (cuda_frame (plan), records_of (plan, context));
  CUDA_LAUNCHED (plan, "make_records");
  switch (asw_tap_tiles (plan)) {
    case 5:
      launch_columns<COST, 5> (plan, context);
      break;
    case 3:
      launch_columns<COST, 3> (plan, context);
      break;
    default:
      launch_columns<COST, 2> (plan, context);
  }
  CUDA_LAUNCHED (plan, "aggregate_columns");
  return STEREO_OK;
}

}

StereoStatus
asw_left_columns_prepare (StereoPlan *plan, AswLeftContext *context, StereoError *error)
{
  return launch_for_cost<STEREO_METHOD_ASW> (
      plan, error, [=] (auto cost) { return prepare_cost<decltype (cost)::value> (plan, context, error); });
}

StereoStatus
asw_left_columns (StereoPlan *plan, const AswLeftContext *context, StereoError *error)
{
  return launch_for_cost<STEREO_METHOD_ASW> (
      plan, error, [=] (auto cost) { return launch_cost<decltype (cost)::value> (plan, context, error); });
}
