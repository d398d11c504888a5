/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* First pass of support=left: down the columns. left.cuh draws which lane holds what. */
#include "cuda/asw/left.cuh"
#include "cuda/asw/records.cuh"

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
  SomeRows<COST> left, right;
  load_rows (left, left_record, 0);
#pragma unroll
  for (int k = 0; k < INDEX_TILES; k++) {
    load_rows (right, right_record + k * RecordFormat<COST>::bytes, 0);
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
