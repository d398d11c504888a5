/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two-pass aggregation with the left view's weights alone, on the tensor cores.
 *
 * A pass over one column (then one row) is a banded matrix product: weights, 16 pixels by the pixels
 * of their windows, times costs, those pixels by disparities. A tile of 16 pixels needs the tiles
 * before and after it (KT = 3 of them for windows up to 33, 5 up to 65). A warp takes 8 * NT
 * disparities and rolls along, so each cost is made or read once and stays in registers for KT steps.
 *
 * - Raw costs enter as the bits of half-precision subnormals, no conversion: see records.cuh.
 * - What the next tiles need is copied to shared memory meanwhile; columns side by side share records.
 * - A line's warps compute each weight once, straight into fragment order in shared memory.
 * - The first pass leaves half floats in the volume; the second rolls over them in place.
 * - Sums of weights are one more product, with ones; where candidates are missing at the border,
 *   with ones and zeros.
 */
#include "cuda/banded.cuh"
#include "cuda/records.cuh"

/* Threads of a block in the first pass, blocks of a multiprocessor, warps of a column at most. */
#define COLUMN_THREADS 384
#define COLUMN_BLOCKS 2
#define COLUMN_WARPS 5
#define COST_BIT 16777216.0f    /* a raw cost of 1, read as a half float, is 1 of these */

/* Of left column or pixel @x: the indices of candidates that exist. */
struct Candidates
{
  int first, last;
};

__device__ __forceinline__ Candidates
candidates (const Frame &f, int x)
{
  return { stereo_first_index (x, f.width, f.min_disparity), stereo_last_index (x, f.disparities, f.min_disparity) };
}

__device__ __forceinline__ bool
has (const Candidates &c, int i)
{
  return i >= c.first && i <= c.last;
}

__device__ __forceinline__ bool
has_all (const Candidates &c, int base)
{
  return c.first <= base && c.last >= base + 8 * NT - 1;
}

__device__ __forceinline__ bool
has_none (const Candidates &c, int base)
{
  return c.last < base || c.first >= base + 8 * NT;
}

/* Where a line is so short that parts of the stage are never copied to: 0 times what they hold must be 0. */
__device__ __forceinline__ void
clear_stage (uint8_t *stage, int bytes, Copyists c)
{
  for (int e = 16 * c.thread; e < bytes; e += 16 * c.threads)
    *(uint4 *) (stage + e) = make_uint4 (0, 0, 0, 0);
  __syncthreads ();
}

/* Sums of weights are neither tiny nor huge. */
__device__ __forceinline__ float
reciprocal (float a)
{
  float b;
  asm ("rcp.approx.ftz.f32 %0, %1;" : "=f" (b) : "f" (a));
  return b;
}

/* ---- first pass: columns ------------------------------------------------------------------------ */

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
 * tiles (blockIdx.z), rolling down. Lane (j, g) makes the costs of rows 4 g.. of index base + j * NT + t for tile t of NT, and ends up
 * with indices base + 2 NT g.. of rows j and j + 8.
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

  if (has_none (all, base)) {   /* nothing to do but for the others */
    for (int tile = begin; tile < end; tile++) {
      advance (tile + KT / 2);
      if (tile + 1 < end)
        share_weights (line, *stage.distances, tile + 1, turn, w);
    }
    return;
  }
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
      load_weights (a, line, tile);
      make (tile + KT / 2, ring.costs[(step + KT / 2) % KT]);
      sum_weights (weights, a);
      multiply_band (sum, a, ring, step);
      store_means (f, sum, weights, all, base, rows - tile * TILE - j, out);
      out += (size_t) TILE * f.width * f.depth;
    }
}

/* ---- second pass: rows ---------------------------------------------------------------------------- */

#define AHEAD 3                 /* tiles on their way while one is read */

/* Bytes of a column of a tile in shared memory, whole groups of 128 for copy_costs() to permute. */
static __host__ __device__ int
column_bytes (int warps)
{
  return (warps * 16 * NT + 127) / 128 * 128;
}

/* A thread's share of copying tiles: 8 indices of two columns. Vectors of 16 bytes are permuted by column, so that the
 * lanes of read_costs() meet different banks. Columns @first and @count - 1 more have candidates among the 8. */
struct CostCopy
{
  const uint16_t *from;         /* in the tile to be copied next */
  int to, column, first, count;

  __device__
  CostCopy (const Frame &f, const uint16_t *row, int base)
  {
    int vectors = blockDim.x / 8, v = threadIdx.x % vectors, lowest = base + 8 * v + f.min_disparity;
    column = threadIdx.x / vectors;
    from = row + column * f.depth + base + 8 * v;
    to = column * column_bytes (blockDim.x / 32) + 16 * (v ^ 2 * (column >> 2));
    first = max (lowest, 0);
    count = base + 8 * v < f.depth ? max (min (lowest + 8 + f.width - 1, f.width) - first, 0) : 0;
  }
};

/* Starts to copy tile @n of a row: half floats and colours. */
__device__ __forceinline__ void
copy_costs (const Frame &f, CostCopy &c, const uint32_t *color, int n, int tiles, uint8_t *stage, uint32_t *colors)
{
  if (n < tiles) {
    int x = n * TILE + c.column;
    copy_ahead (stage + c.to, c.from, (unsigned) (x - c.first) < (unsigned) c.count);
    copy_ahead (stage + (c.to ^ 64) + 8 * column_bytes (blockDim.x / 32), c.from + 8 * f.depth,
        (unsigned) (x + 8 - c.first) < (unsigned) c.count);
    /* of this tile before the first one, and of the next */
    if (threadIdx.x < 4 && n == 0)
      copy_ahead (colors + 4 * threadIdx.x, color + 4 * threadIdx.x, true);
    if (threadIdx.x < 4 && n + 1 < tiles)
      copy_ahead (colors + (n + 1) % LINE_TILES * TILE + 4 * threadIdx.x, color + (n + 1) * TILE + 4 * threadIdx.x, true);
    c.from += TILE * f.depth;
  }
  end_lot ();
}

/* Four columns of NT indices, turned so that a word holds two columns of one index. */
__device__ __forceinline__ void
read_costs (const uint8_t *from, int pitch, uint32_t (&to)[NT][2])
{
  uint2 column[4];
#pragma unroll
  for (int c = 0; c < 4; c++)
    column[c] = *(const uint2 *) (from + c * pitch);
#pragma unroll
  for (int t = 0; t < NT; t++)
#pragma unroll
    for (int h = 0; h < 2; h++)
      to[t][h] = __byte_perm (t < 2 ? column[2 * h].x : column[2 * h].y,
          t < 2 ? column[2 * h + 1].x : column[2 * h + 1].y, t & 1 ? 0x7632 : 0x5410);
}

/* Shifts that give 0 for 32 and more. */
__device__ __forceinline__ uint32_t
shift_left (uint32_t a, int bits)
{
  uint32_t b;
  asm ("shl.b32 %0, %1, %2;" : "=r" (b) : "r" (a), "r" (bits));
  return b;
}

__device__ __forceinline__ uint32_t
shift_right (uint32_t a, int bits)
{
  uint32_t b;
  asm ("shr.u32 %0, %1, %2;" : "=r" (b) : "r" (a), "r" (bits));
  return b;
}

/* Ones where the candidate of index @i exists in the four columns from @x on: those from i + min on,
 * and before i + min + width. */
__device__ __forceinline__ void
four_existing (const Frame &f, int x, int i, uint32_t (&ones)[2])
{
  int before = i + f.min_disparity - x, after = 4 - (before + f.width);
#pragma unroll
  for (int h = 0; h < 2; h++)
    ones[h] = shift_left (0x3C003C00u, 16 * max (before - 2 * h, 0)) &
        shift_right (0x3C003C00u, 16 * max (after - 2 * (1 - h), 0));
}

/* Sums over the weights of the taps whose candidate exists: those of lane (j, g)'s costs start at @i. */
template <int KT> __device__ __forceinline__ void
divide_existing (const Frame &f, float (&sum)[NT][4], const uint4 (&a)[KT], int tile, int i)
{
#pragma unroll
  for (int t = 0; t < NT; t++) {
    float weights[4];
#pragma unroll
    for (int kt = 0; kt < KT; kt++) {
      uint32_t ones[2];
      four_existing (f, (tile + kt - KT / 2) * TILE + 4 * (threadIdx.x & 3), i + t, ones);
      multiply (weights, a[kt], ones[0], ones[1], kt == 0);
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
      sum[t][c] *= reciprocal (weights[c]);
  }
}

/* Adding 2^23 leaves a rounded number in the low bits. */
__device__ __forceinline__ uint32_t
rounded_bits (float value, float scale)
{
  return __float_as_uint (fmaf (value, scale, 8388608.0f));
}

/* Two pixels' costs in volume steps; STEREO_INVALID where there is no candidate. */
__device__ __forceinline__ void
store_steps (const Frame &f, const float (&sum)[NT][4], const float (&scale)[2], bool whole, int base, int x,
    uint16_t *out)
{
  int start = base + 2 * NT * (threadIdx.x & 3);

#pragma unroll
  for (int r = 0; r < 2; r++) {
    Candidates all = candidates (f, x + 8 * r);
    uint4 words = whole ? gather_row (sum, r, [&](float low, float high, int i) {
      return __byte_perm (rounded_bits (low, scale[r]), rounded_bits (high, scale[r]), 0x5410);
    }) : gather_row (sum, r, [&](float low, float high, int i) {
      return __byte_perm (has (all, start + i) ? rounded_bits (low, scale[r]) : STEREO_INVALID,
          has (all, start + i + 1) ? rounded_bits (high, scale[r]) : STEREO_INVALID, 0x5410);
    });
    if (x + 8 * r < f.width && start < f.depth)
      *(uint4 *) (out + 8 * r * f.depth) = words;
  }
}

enum Presence { ALL, SOME, NONE };

/* Which of a warp's candidates exist: none of the tile's pixels, or all of all taps'. */
template <int KT> __device__ __forceinline__ Presence
presence (const Frame &f, int tile, int base)
{
  int last = min (base + 8 * NT, f.disparities) - 1, end = min (f.width, (tile + 1) * TILE) - 1;
  int from = max (0, (tile - KT / 2) * TILE), to = min (f.width, (tile + KT / 2 + 1) * TILE) - 1;

  if (stereo_last_index (end, f.disparities, f.min_disparity) < base ||
      stereo_first_index (tile * TILE, f.width, f.min_disparity) > last)
    return NONE;
  return stereo_last_index (from, f.disparities, f.min_disparity) >= last &&
      stereo_first_index (to, f.width, f.min_disparity) <= base ? ALL : SOME;
}

/*
 * A block is a row (blockIdx.x) by 8 * NT disparities a warp (blockIdx.y: further ones), rolling along
 * x over the first pass's half floats and leaving the final costs in their place: a tile is written
 * after those in reach and AHEAD more were read, and a warp keeps to its own indices. Lanes as in the first pass.
 */
template <int KT> __global__ void __launch_bounds__ (KT == 3 ? 320 : 256, 2)
aggregate_rows (Frame f, AswWindow w)
{
  extern __shared__ uint4 shared[];
  Distances<KT> &distances = *(Distances<KT> *) shared;
  uint4 (*weights_of)[KT * 32] = (uint4 (*)[KT * 32]) (&distances + 1);
  uint32_t *colors = (uint32_t *) (weights_of + 2);
  uint8_t *stage = (uint8_t *) (colors + LINE_TILES * TILE);
  Line<KT> line = { weights_of, colors, TILE, f.width };
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, y = blockIdx.x, turn = warp;
  int block_base = blockIdx.y * (blockDim.x >> 5) * 8 * NT, base = block_base + warp * 8 * NT;
  int j = lane >> 2, g = lane & 3, tiles = (f.width + TILE - 1) / TILE;
  int pitch = column_bytes (blockDim.x >> 5), stage_size = TILE * pitch;
  uint16_t *row = f.volume + (size_t) y * f.width * f.depth, *out = row + j * f.depth + base + 2 * NT * g;
  const uint8_t *in = stage + 4 * g * pitch + 16 * (NT * warp + (j >> 1) ^ 2 * g) + 8 * (j & 1);
  const uint32_t *color = f.view[STEREO_LEFT].color + (size_t) y * f.image_pitch;
  CostCopy copy (f, row, block_base);
  Ring<KT> ring;

  auto advance = [&](int n) {
    await_lots<AHEAD - 1> ();
    __syncthreads ();
    copy_costs (f, copy, color, n + AHEAD, tiles, stage + (n + AHEAD) % (AHEAD + 1) * stage_size, colors);
  };
  auto read = [&](int n, uint32_t (&to)[NT][2]) {
    /* past the last tile an older one's: no weight, and no number that is none among the first pass's */
    read_costs (in + n % (AHEAD + 1) * stage_size, pitch, to);
  };
  if (tiles <= AHEAD)
    clear_stage (stage, (AHEAD + 1) * stage_size, { (int) threadIdx.x, (int) blockDim.x });
  for (int n = 0; n < AHEAD; n++)
    copy_costs (f, copy, color, n, tiles, stage + n * stage_size, colors);
  make_distances (distances, w, threadIdx.x, blockDim.x);
  clear_ring (ring);
#pragma unroll
  for (int n = 0; n < KT / 2; n++) {
    advance (n);
    read (n, ring.costs[n]);
  }
  share_weights (line, distances, 0, turn, w);

  for (int start = 0; start < tiles; start += KT)
#pragma unroll
    for (int step = 0; step < KT; step++) {
      int tile = start + step;
      if (tile >= tiles)
        break;
      uint4 a[KT];
      float sum[NT][4], weights[4], scale[2] = { (float) f.volume_unit, (float) f.volume_unit };
      advance (tile + KT / 2);
      if (tile + 1 < tiles)
        share_weights (line, distances, tile + 1, turn, w);
      load_weights (a, line, tile);
      read (tile + KT / 2, ring.costs[(step + KT / 2) % KT]);
      Presence there = presence<KT> (f, tile, base);
      if (there == ALL) {
        multiply_band (sum, a, ring, step);
        sum_weights (weights, a);
        scale[0] *= reciprocal (weights[0]);
        scale[1] *= reciprocal (weights[2]);
        store_steps (f, sum, scale, base + 8 * NT <= f.disparities, base, tile * TILE + j, out);
      } else {
        if (there == SOME) {
          multiply_band (sum, a, ring, step);
          divide_existing<KT> (f, sum, a, tile, base + j * NT);
        }
        store_steps (f, sum, scale, false, base, tile * TILE + j, out);
      }
      out += TILE * f.depth;
    }
}

/* ---- stage ------------------------------------------------------------------------------------------ */

/* How a pass is laid out: warps side by side on a line's disparities, @chunks blocks of them, @columns lines. */
struct Layout
{
  int warps, chunks, columns;
};

static Layout
layout_of (const StereoPlan *plan, int most_warps)
{
  int warps = (plan->depth + 8 * NT - 1) / (8 * NT), chunks = (warps + most_warps - 1) / most_warps;
  return { (warps + chunks - 1) / chunks, chunks, 1 };
}

/* As many columns as fit. */
template <int COST, int KT> static Layout
columns_layout (const StereoPlan *plan)
{
  Layout l = layout_of (plan, COLUMN_WARPS);
  l.columns = COLUMN_THREADS / 32 / l.warps;
  l.columns = l.columns > RECORD_PAD ? RECORD_PAD : l.columns;
  while (l.columns > 1 && ColumnStage<COST, KT>::size (l.warps, l.columns) > cuda_state (plan)->shared_per_block)
    l.columns--;
  return l;
}

template <int KT> static size_t
rows_shared (const Layout &l)
{
  return sizeof (Distances<KT>) + 2 * KT * 32 * 16 + LINE_TILES * TILE * 4 +
      (size_t) (AHEAD + 1) * TILE * column_bytes (l.warps);
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
prepare_passes (StereoPlan *plan, StereoError *error)
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

static bool
wide (const StereoPlan *plan)
{
  return plan->params.window / 2 > TILE;
}

template <int COST> static StereoStatus
prepare_cost (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  Records records = records_of (plan);
  size_t rows = (size_t) tiles_of (plan);
  StereoStatus status = wide (plan) ? prepare_passes<COST, 5> (plan, error) : prepare_passes<COST, 3> (plan, error);

  if (!status)
    status = stereo_reserve (plan, (void **) &state->asw_color, rows * (size_t) records.columns[STEREO_LEFT],
        TILE * sizeof (uint32_t), error);
  for (int v = 0; v < 2 && !status; v++)
    status = stereo_reserve (plan, (void **) &state->asw_records[v], rows * (size_t) records.columns[v],
        Features<COST>::bytes, error);
  return status;
}

template <int COST, int KT> static void
launch_passes (StereoPlan *plan, const Records &records)
{
  const CudaState *state = cuda_state (plan);
  Frame f = cuda_frame (plan);
  AswWindow w = asw_window (plan);
  Layout columns = columns_layout<COST, KT> (plan), rows = layout_of (plan, KT == 3 ? 10 : 8);

  aggregate_columns<COST, KT><<<dim3 (cuda_blocks (f.width, columns.columns), columns.chunks,
          cuda_blocks (tiles_of (plan), state->asw_strip)),
      dim3 (32 * columns.warps, columns.columns), ColumnStage<COST, KT>::size (columns.warps, columns.columns),
      state->stream>>> (f, records, w, state->asw_strip);
  aggregate_rows<KT><<<dim3 (f.height, rows.chunks), 32 * rows.warps, rows_shared<KT> (rows), state->stream>>> (f, w);
}

template <int COST> static StereoStatus
launch_cost (StereoPlan *plan, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  Records records = records_of (plan);
  dim3 grid (cuda_blocks (plan->width, RECORD_COLUMNS), tiles_of (plan), 2);

  make_records<COST><<<grid, RECORD_THREADS, 0, state->stream>>> (cuda_frame (plan), records);
  CUDA_LAUNCHED (plan, "make_records");
  if (wide (plan))
    launch_passes<COST, 5> (plan, records);
  else
    launch_passes<COST, 3> (plan, records);
  CUDA_LAUNCHED (plan, "aggregate_columns, aggregate_rows");
  return STEREO_OK;
}

static StereoStatus
left_prepare (StereoPlan *plan, StereoError *error)
{
  return ASW_FOR_COST (plan, prepare_cost, plan, error);
}

static StereoStatus
left_run (StereoPlan *plan, StereoError *error)
{
  return ASW_FOR_COST (plan, launch_cost, plan, error);
}

const StereoStage stereo_cuda_asw_left = { "match", left_prepare, left_run };
