/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* First pass of support=left: down the columns. */
#include "cuda/asw/left.cuh"
#include "cuda/asw/records.cuh"

/* Threads of a block, blocks of a multiprocessor, warps of a column at most. */
#define COLUMN_THREADS 384
#define COLUMN_BLOCKS 2
#define COLUMN_WARPS 5
#define COST_BIT 16777216.0f    /* a raw cost of 1, read as a half float, is 1 of these */

/* A block's share: columns x0..x0 + columns - 1 and a run of disparities from @base on. */
struct ColumnBlock
{
  int columns, x0, base, rights;        /* right columns met */

  __device__
  ColumnBlock ()
  {
    columns = blockDim.y;
    x0 = blockIdx.x * columns;
    base = blockIdx.y * (blockDim.x / 32) * 8 * NT;
    rights = blockDim.x / 32 * 8 * NT + columns - 1;
  }
};

/* What a block keeps in shared memory: for each of two tiles the records, right ones before left ones, colours
 * of more, and each column's weights. */
template <int COST, int KT> struct ColumnStage
{
  static constexpr int record = Features<COST>::bytes;
  Arrival *arrivals;
  Distances<KT> *distances;
  uint4 *weights;
  uint8_t *colors, *records;
  int records_size, colors_size;

  static __host__ __device__ int
  size (int warps, int columns)
  {
    return 16 + (int) sizeof (Distances<KT>) + columns * 2 * KT * 32 * 16 + columns * LINE_TILES * TILE * 4 +
        2 * (warps * 8 * NT + 2 * columns - 1) * record;
  }

  __device__
  ColumnStage (uint4 *shared, const ColumnBlock &b)
  {
    arrivals = (Arrival *) shared;
    distances = (Distances<KT> *) (shared + 1);
    weights = (uint4 *) (distances + 1);
    colors = (uint8_t *) (weights + b.columns * 2 * KT * 32);
    colors_size = b.columns * TILE * 4;
    records = colors + LINE_TILES * colors_size;
    records_size = (b.rights + b.columns) * record;
  }
};

/* Starts to copy the records of tile @n and the colours of the one after it, and before the first its own; numbered
 * from @first, up to @last. */
template <int COST, int KT> __device__ __forceinline__ void
copy_tile (const Frame &f, const ColumnBlock &b, const Records &from, int first, int n, int last,
    const ColumnStage<COST, KT> &stage, Copyists c)
{
  const int RECORD = Features<COST>::bytes;
  size_t right = (size_t) (first + n) * from.columns[STEREO_RIGHT] + f.width - b.x0 - b.columns + b.base + RECORD_PAD;
  size_t left = (size_t) (first + n) * from.columns[STEREO_LEFT] + b.x0;
  uint8_t *to = stage.records + (n & 1) * stage.records_size;
  Arrival *arrival = stage.arrivals + (n & 1);
  int colors = (n == 0) + (n < last);

  expect_bytes (arrival, stage.records_size + colors * stage.colors_size, c);
  copy_run (to, from.view[STEREO_RIGHT] + right * RECORD, b.rights * RECORD, arrival, c);
  copy_run (to + b.rights * RECORD, from.view[STEREO_LEFT] + left * RECORD, b.columns * RECORD, arrival, c);
  if (n == 0)
    copy_run (stage.colors, from.color + left * TILE, stage.colors_size, arrival, c);
  if (n < last)
    copy_run (stage.colors + (n + 1) % LINE_TILES * stage.colors_size,
        from.color + (left + from.columns[STEREO_LEFT]) * TILE, stage.colors_size, arrival, c);
}

/* Costs of a tile from this lane's places in its records. */
template <int COST> __device__ __forceinline__ void
make_costs (const uint8_t *left_record, const uint8_t *right_record, uint32_t (&to)[NT][2])
{
  FourRows<COST> left, right;
  load_rows (left, left_record);
#pragma unroll
  for (int t = 0; t < NT; t++) {
    load_rows (right, right_record + t * Features<COST>::bytes);
    four_costs (left, right, to[t]);
  }
}

/* Means of two rows of the tile, as half floats, 0 where there is no candidate; eights without any are not read by the
 * second pass either. @rows: to the end of the image. */
__device__ __forceinline__ void
store_means (const Frame &f, const float (&sum)[NT][4], const float (&weights)[4], const Candidates &all, int base,
    int rows, uint16_t *out)
{
  int start = base + 2 * NT * (threadIdx.x & 3);
  bool whole = has_all (all, base), some = start <= all.last && start + 2 * NT > all.first;

#pragma unroll
  for (int r = 0; r < 2; r++) {
    float scale = reciprocal (weights[2 * r]) * COST_BIT;
    uint4 words = whole ?
        gather_row (sum, r, [&](float low, float high, int i) { return pack_halves (low * scale, high * scale); }) :
        gather_row (sum, r, [&](float low, float high, int i) {
          return pack_halves (has (all, start + i) ? low * scale : 0, has (all, start + i + 1) ? high * scale : 0);
        });
    if (8 * r < rows && some)
      *(uint4 *) (out + (size_t) (8 * r) * f.width * f.depth) = words;
  }
}

/*
 * A block is a few columns (threadIdx.y, blockIdx.x) by 8 * NT disparities a warp (threadIdx.x, blockIdx.y) by @strip
 * tiles (blockIdx.z), rolling down. Lane (j, g) makes the costs of rows 4 g.. of index base + j * NT + t for tile t of
 * NT, and ends up with indices base + 2 NT g.. of rows j and j + 8.
 */
template <int COST, int KT> __global__ void __launch_bounds__ (COLUMN_THREADS, COLUMN_BLOCKS)
aggregate_columns (Frame f, Records records, AswWindow w, int strip)
{
  extern __shared__ uint4 shared[];
  const int RECORD = Features<COST>::bytes;
  ColumnBlock b;
  ColumnStage<COST, KT> stage (shared, b);
  Copyists copyists = { (int) (threadIdx.y * blockDim.x + threadIdx.x), (int) (blockDim.x * blockDim.y) };
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, x = b.x0 + threadIdx.y, base = b.base + warp * 8 * NT;
  int j = lane >> 2, g = lane & 3, tiles = (f.height + TILE - 1) / TILE;
  /* from here on tiles are numbered from the first one whose costs the block makes */
  int first = max ((int) blockIdx.z * strip - KT / 2, 0), begin = blockIdx.z * strip - first;
  int end = min (begin + strip, tiles - first), last = min (end + KT / 2, tiles - first) - 1;
  int rows = f.height - first * TILE, turn = KT * begin + warp;
  Line<KT> line = { (uint4 (*)[KT * 32]) (stage.weights + threadIdx.y * 2 * KT * 32),
    (const uint32_t *) stage.colors + threadIdx.y * TILE, b.columns * TILE, rows };
  const uint8_t *left = stage.records + (b.rights + threadIdx.y) * RECORD + 16 * g;
  const uint8_t *right = stage.records + (b.columns - 1 - threadIdx.y + warp * 8 * NT + j * NT) * RECORD + 16 * g;
  uint16_t *out = f.volume + ((size_t) ((first + begin) * TILE + j) * f.width + x) * f.depth + base + 2 * NT * g;
  Candidates all = x < f.width ? candidates (f, x) : Candidates { 0, -1 };
  Ring<KT> ring;

  auto advance = [&](int n) {
    if (n <= last)
      await_arrival (stage.arrivals + (n & 1), n >> 1);
    __syncthreads ();
    if (n < last)
      copy_tile (f, b, records, first, n + 1, last, stage, copyists);
  };
  auto make = [&](int n, uint32_t (&to)[NT][2]) {
    /* past the last tile those of an older one: their weights are 0 */
    make_costs<COST> (left + (n & 1) * stage.records_size, right + (n & 1) * stage.records_size, to);
  };
  if (last == 0)
    clear_stage (stage.records, 2 * stage.records_size, copyists);
  if (copyists.thread == 0)
    start_arrivals (stage.arrivals, 2);
  make_distances (*stage.distances, w, copyists.thread, copyists.threads);
  clear_ring (ring);
  __syncthreads ();
  copy_tile (f, b, records, first, 0, last, stage, copyists);
#pragma unroll
  for (int n = -(KT / 2); n < KT / 2; n++)
    if (begin + n >= 0) {
      advance (begin + n);
      make (begin + n, ring.costs[(n + KT) % KT]);
    }
  share_weights (line, *stage.distances, begin, turn, w);

  bool none = has_none (all, base);     /* such a warp comes along for the others, with whom it waits and makes weights */
  for (int start = begin; start < end; start += KT)
#pragma unroll
    for (int step = 0; step < KT; step++) {
      int tile = start + step;
      if (tile >= end)
        break;
      uint4 a[KT];
      float sum[NT][4], weights[4];
      advance (tile + KT / 2);
      /* the weights of the tile ahead, to overlap with the products */
      if (tile + 1 < end)
        share_weights (line, *stage.distances, tile + 1, turn, w);
      if (none)
        continue;
      load_weights (a, line, tile);
      make (tile + KT / 2, ring.costs[(step + KT / 2) % KT]);
      sum_weights (weights, a);
      multiply_band (sum, a, ring, step);
      store_means (f, sum, weights, all, base, rows - tile * TILE - j, out);
      out += (size_t) TILE * f.width * f.depth;
    }
}

/* ---- stage ------------------------------------------------------------------------------------------ */

/* As many columns as fit, and if one does not, fewer disparities of it. */
template <int COST, int KT> static Layout
columns_layout (const StereoPlan *plan)
{
  int limit = cuda_state (plan)->shared_per_block, most = COLUMN_WARPS;
  Layout l = layout_of (plan, most);

  while (most > 1 && ColumnStage<COST, KT>::size (l.warps, 1) > limit)
    l = layout_of (plan, --most);
  l.columns = COLUMN_THREADS / 32 / l.warps;
  l.columns = l.columns > RECORD_PAD ? RECORD_PAD : l.columns;
  while (l.columns > 1 && ColumnStage<COST, KT>::size (l.warps, l.columns) > limit)
    l.columns--;
  return l;
}

static int
tiles_of (const StereoPlan *plan)
{
  return (plan->height + TILE - 1) / TILE;
}

static Records
records_of (const StereoPlan *plan)
{
  const CudaState *state = cuda_state (plan);
  int disparities = (plan->depth + 8 * NT - 1) / (8 * NT) * 8 * NT + COLUMN_WARPS * 8 * NT;
  return { { state->asw_records[0], state->asw_records[1] }, state->asw_color, { plan->width + RECORD_PAD,
    plan->width + disparities + 2 * RECORD_PAD } };
}

/* Tiles a strip: blocks run @slots at a time, and a strip begins with costs of KT / 2 tiles of the one above. */
static int
strip_of (int tiles, int blocks, int slots, int kt)
{
  int best = tiles;
  double least = 1e30;

  for (int strips = 1; strips <= tiles && strips <= 16; strips++) {
    int strip = (tiles + strips - 1) / strips;
    double time = ceil ((double) blocks * strips / slots) * (strip + 0.5 * kt);
    if (time < least) {
      least = time;
      best = strip;
    }
  }
  return best;
}

/* What is allowed is the device's limit, not this plan's need: plans share the kernel. */
template <int COST, int KT> static StereoStatus
prepare_columns (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  Layout l = columns_layout<COST, KT> (plan);
  int resident = 0;

  CUDA_TRY (cudaFuncSetAttribute (aggregate_columns<COST, KT>, cudaFuncAttributeMaxDynamicSharedMemorySize,
          state->shared_per_block));
  CUDA_TRY (cudaOccupancyMaxActiveBlocksPerMultiprocessor (&resident, aggregate_columns<COST, KT>,
          32 * l.warps * l.columns, (size_t) ColumnStage<COST, KT>::size (l.warps, l.columns)));
  state->asw_strip = strip_of (tiles_of (plan), cuda_blocks (plan->width, l.columns) * l.chunks,
      (resident > 0 ? resident : 1) * state->multiprocessors, KT);
  return STEREO_OK;
}

template <int COST> static StereoStatus
prepare_cost (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  Records records = records_of (plan);
  size_t rows = (size_t) tiles_of (plan);
  StereoStatus status = asw_left_wide (plan) ? prepare_columns<COST, 5> (plan, error) :
      prepare_columns<COST, 3> (plan, error);

  if (!status)
    status = stereo_reserve (plan, (void **) &state->asw_color, rows * (size_t) records.columns[STEREO_LEFT],
        TILE * sizeof (uint32_t), error);
  for (int v = 0; v < 2 && !status; v++)
    status = stereo_reserve (plan, (void **) &state->asw_records[v], rows * (size_t) records.columns[v],
        Features<COST>::bytes, error);
  return status;
}

template <int COST, int KT> static void
launch_columns (StereoPlan *plan, const Records &records)
{
  const CudaState *state = cuda_state (plan);
  Frame f = cuda_frame (plan);
  Layout l = columns_layout<COST, KT> (plan);
  dim3 grid (cuda_blocks (f.width, l.columns), l.chunks, cuda_blocks (tiles_of (plan), state->asw_strip));

  aggregate_columns<COST, KT><<<grid, dim3 (32 * l.warps, l.columns), ColumnStage<COST, KT>::size (l.warps, l.columns),
      state->stream>>> (f, records, asw_window (plan), state->asw_strip);
}

template <int COST> static StereoStatus
launch_cost (StereoPlan *plan, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  Records records = records_of (plan);
  dim3 grid (cuda_blocks (plan->width, RECORD_COLUMNS), tiles_of (plan), 2);

  make_records<COST><<<grid, RECORD_THREADS, 0, state->stream>>> (cuda_frame (plan), records);
  CUDA_LAUNCHED (plan, "make_records");
  if (asw_left_wide (plan))
    launch_columns<COST, 5> (plan, records);
  else
    launch_columns<COST, 3> (plan, records);
  CUDA_LAUNCHED (plan, "aggregate_columns");
  return STEREO_OK;
}

StereoStatus
asw_left_columns_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  return ASW_FOR_COST (plan, prepare_cost, plan, error);
}

StereoStatus
asw_left_columns (StereoPlan *plan, StereoError *error)
{
  return ASW_FOR_COST (plan, launch_cost, plan, error);
}
