/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two-pass aggregation with the weights of the left view alone, on the tensor cores: down the columns
 * (left_columns.cu), then along the rows (left_rows.cu).
 *
 * A pass over one line is a banded matrix product: weights, of 16 pixels by the taps of their windows, times costs, of
 * these taps by disparities. left.cuh draws which lane holds what. A warp takes 32 disparities and moves along the
 * line: it makes or reads each cost once, and has it in registers as long as the window reaches it.
 *
 * - Raw costs are the bits of half-precision subnormals and need no conversion: see Cost in cuda/cost.cuh.
 * - Copies of the next tiles to shared memory run meanwhile; neighbouring columns share records (left_columns.cu).
 * - The warps of a line compute each weight once and store it as registers of the product in shared memory.
 * - The first pass writes half floats to the volume; the second pass reads them and writes the means in their place.
 * - The sums of the weights are one more product, with ones; where candidates are missing at the border, with ones and
 *   zeros.
 */

/* Second pass of support=left: along the rows. left.cuh draws which lane holds what. */
#include "cuda/asw/left.cuh"

namespace
{

constexpr int TILES_AHEAD = 3; /* tiles that are being copied while one is read */

/* Bytes of a column of a tile in shared memory: whole groups of 128, inside which CostCopy permutes vectors. */
static __host__ __device__ int
column_bytes (int warps)
{
  return (warps * 16 * INDEX_TILES + 127) / 128 * 128;
}

/* What a thread copies of every tile: 8 indices of two columns. Vectors of 16 bytes are permuted by column, so that the
 * lanes of read_costs() read different banks. @count columns from @first on have candidates among the 8 indices. */
struct CostCopy
{
  const uint16_t *from; /* in the tile that is copied next */
  int to, column, first, count;

  __device__
  CostCopy (const Frame &f, const uint16_t *row, int base, int tile)
  {
    int vectors = blockDim.x / 8, v = threadIdx.x % vectors, lowest = base + 8 * v + f.min_disparity;
    column = threadIdx.x / vectors;
    from = row + (tile * TILE_PIXELS + column) * f.depth + base + 8 * v;
    to = column * column_bytes (blockDim.x / 32) + 16 * (v ^ 2 * (column >> 2));
    first = max (lowest, 0);
    count = base + 8 * v < f.depth ? max (min (lowest + 8 + f.width - 1, f.width) - first, 0) : 0;
  }
};

/* The tiles of a part of a row: it makes the means of @begin..@end, for which it reads @from..@to, of the row's @tiles. */
struct Part
{
  int begin, end, from, to, tiles;
};

template <int TAP_TILES> __device__ __forceinline__ Part
part_of (int tiles, int each, int part)
{
  int begin = part * each, end = min (begin + each, tiles);
  return { begin, end, max (begin - SIDE<TAP_TILES>, 0), min (end + SIDE<TAP_TILES>, tiles), tiles };
}

/* Starts to copy tile @n of a part: half floats and colours. */
__device__ __forceinline__ void
copy_costs (const Frame &f, CostCopy &c, const uint32_t *color, int n, const Part &p, uint8_t *stage, uint32_t *colors)
{
  if (n < p.to) {
    int x = n * TILE_PIXELS + c.column;
    copy_async (stage + c.to, c.from, (unsigned) (x - c.first) < (unsigned) c.count);
    copy_async (stage + (c.to ^ 64) + 8 * column_bytes (blockDim.x / 32), c.from + 8 * f.depth,
        (unsigned) (x + 8 - c.first) < (unsigned) c.count);
    /* colours of the next tile, and before the first tile its own */
    if (threadIdx.x < 4 && n == p.from)
      copy_async (
          colors + n % LINE_TILES * TILE_PIXELS + 4 * threadIdx.x, color + n * TILE_PIXELS + 4 * threadIdx.x, true);
    if (threadIdx.x < 4 && n + 1 < p.tiles)
      copy_async (colors + (n + 1) % LINE_TILES * TILE_PIXELS + 4 * threadIdx.x,
          color + (n + 1) * TILE_PIXELS + 4 * threadIdx.x, true);
    c.from += TILE_PIXELS * f.depth;
  }
  commit_copies ();
}

/* The registers of B: costs of four columns (taps) by INDEX_TILES indices, transposed such that a word holds two
 * columns of one index. */
__device__ __forceinline__ void
read_costs (const uint8_t *from, int pitch, uint32_t (&to)[INDEX_TILES][2])
{
  uint2 column[4];
#pragma unroll
  for (int c = 0; c < 4; c++)
    column[c] = *(const uint2 *) (from + c * pitch);
#pragma unroll
  for (int k = 0; k < INDEX_TILES; k++)
#pragma unroll
    for (int h = 0; h < 2; h++)
      to[k][h] = __byte_perm (k < 2 ? column[2 * h].x : column[2 * h].y,
          k < 2 ? column[2 * h + 1].x : column[2 * h + 1].y, k & 1 ? 0x7632 : 0x5410);
}

/* Divides each sum by the weights of the taps whose candidate exists. @i: the index of the lane's column of B in
 * product 0. */
template <int TAP_TILES> __device__ __forceinline__ void
divide_existing (const Frame &f, float (&sum)[INDEX_TILES][4], const uint4 (&a)[TAP_TILES], int tile, int i)
{
#pragma unroll
  for (int k = 0; k < INDEX_TILES; k++) {
    float weights[4];
#pragma unroll
    for (int tap_tile = 0; tap_tile < TAP_TILES; tap_tile++) {
      uint32_t ones[2];
      existing (f, (tile + tile_of_taps<TAP_TILES> (tap_tile, threadIdx.x)) * TILE_PIXELS + 4 * (threadIdx.x & 3),
          i + k, ones);
      multiply (weights, a[tap_tile], ones[0], ones[1], tap_tile == 0);
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
      sum[k][c] *= reciprocal (weights[c]);
  }
}

/* Where the means go: in steps, to what paths read, or both. */
struct Means
{
  uint16_t *steps; /* of the lane's pixel g of the current tile */
  uint8_t *bytes;  /* likewise; NULL: no paths read them */
  PathCosts costs;
};

/* Stores the lane's means of pixels g and g + 8. Where there is no candidate: STEREO_INVALID, as a byte 0. */
template <bool BYTES> __device__ __forceinline__ void
store_means (const Frame &f, const float (&sum)[INDEX_TILES][4], const float (&scale)[2], bool whole, int base, int x,
    const Means &out)
{
  constexpr uint32_t NONE = BYTES ? 0 : STEREO_INVALID;
  int start = base + 2 * INDEX_TILES * (threadIdx.x & 3);

#pragma unroll
  for (int r = 0; r < 2; r++) {
    Candidates all = candidates (f, x + 8 * r);
    uint4 words = whole ? gather_row (sum, r,
                              [&] (float low, float high, int i) {
                                return __byte_perm (rounded_bits (low, scale[r]), rounded_bits (high, scale[r]), 0x5410);
                              }) :
                          gather_row (sum, r, [&] (float low, float high, int i) {
                            return __byte_perm (has (all, start + i) ? rounded_bits (low, scale[r]) : NONE,
                                has (all, start + i + 1) ? rounded_bits (high, scale[r]) : NONE, 0x5410);
                          });
    if (x + 8 * r >= f.width || start >= f.depth)
      continue;
    if (!BYTES)
      *(uint4 *) (out.steps + 8 * r * f.depth) = words;
    if (!BYTES && out.bytes) /* without a candidate 0, here too */
      words = make_uint4 (words.x & ~__vcmpeq2 (words.x, ~0u), words.y & ~__vcmpeq2 (words.y, ~0u),
          words.z & ~__vcmpeq2 (words.z, ~0u), words.w & ~__vcmpeq2 (words.w, ~0u));
    if (BYTES || out.bytes)
      *(uint2 *) (out.bytes + 8 * r * f.depth) = path_bytes (out.costs, words);
  }
}

enum Presence
{
  ALL,
  SOME,
  NONE
};

/* Which of the warp's candidates exist: ALL, for the pixels of the tile and for all taps; NONE, for the pixels. */
template <int TAP_TILES> __device__ __forceinline__ Presence
presence (const Frame &f, int tile, int base)
{
  int last = min (base + WARP_INDICES, f.disparities) - 1, end = min (f.width, (tile + 1) * TILE_PIXELS) - 1;
  int from = max (0, (tile - SIDE<TAP_TILES>) *TILE_PIXELS),
      to = min (f.width, (tile + SIDE<TAP_TILES> + 1) * TILE_PIXELS) - 1;

  if (stereo_last_index (end, f.disparities, f.min_disparity) < base ||
      stereo_first_index (tile * TILE_PIXELS, f.width, f.min_disparity) > last)
    return NONE;
  return stereo_last_index (from, f.disparities, f.min_disparity) >= last &&
          stereo_first_index (to, f.width, f.min_disparity) <= base ?
      ALL :
      SOME;
}

/* Makes and stores the warp's means of a tile. @step: see multiply_band(). @x: the column of pixel g. */
template <int TAP_TILES, bool BYTES> __device__ __forceinline__ void
store_tile (const Frame &f, const uint4 (&a)[TAP_TILES], const Ring<TAP_TILES> &ring, int step, int tile, int base,
    int x, const Means &out)
{
  float sum[INDEX_TILES][4], weights[4], scale[2] = { (float) f.volume_unit, (float) f.volume_unit };
  Presence there = presence<TAP_TILES> (f, tile, base);

  if (there == ALL) {
    multiply_band (sum, a, ring, step);
    sum_weights (weights, a);
    scale[0] *= reciprocal (weights[0]);
    scale[1] *= reciprocal (weights[2]);
    store_means<BYTES> (f, sum, scale, base + WARP_INDICES <= f.disparities, base, x, out);
    return;
  }
  if (there == SOME) {
    multiply_band (sum, a, ring, step);
    divide_existing<TAP_TILES> (f, sum, a, tile, base + (threadIdx.x & 31) / 4 * INDEX_TILES);
  }
  store_means<BYTES> (f, sum, scale, false, base, x, out);
}

/*
 * Block: @each tiles of a row (blockIdx.x; blockIdx.z: the part of it) by WARP_INDICES disparities a warp (blockIdx.y: further
 * chunks). It moves along x, reads the half floats of the first pass and writes the final costs: as BYTES for paths, or to @steps,
 * which may be the volume. There a tile is written after the tiles in reach and TILES_AHEAD more tiles were read, each warp writes
 * only its own indices, and a row is one part. Shared memory: distance terms, weights of two tiles, colours, and the
 * tiles of costs that are copied ahead.
 */
template <int TAP_TILES, bool BYTES> __global__ void
__launch_bounds__ (TAP_TILES <= 3 ? 320 : 256, 2)
    aggregate_rows (Frame f, AswWindow w, PathCosts costs, uint16_t *steps, int each)
{
  extern __shared__ uint4 shared[];
  Distances<TAP_TILES> &distances = *(Distances<TAP_TILES> *) shared;
  uint4 (*weights_of)[TAP_TILES * 32] = (uint4 (*)[TAP_TILES * 32]) (&distances + 1);
  uint32_t *colors = (uint32_t *) (weights_of + 2);
  uint8_t *stage = (uint8_t *) (colors + LINE_TILES * TILE_PIXELS);
  Line<TAP_TILES> line = { weights_of, colors, TILE_PIXELS, f.width };
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, y = blockIdx.x, turn = warp;
  int block_base = blockIdx.y * (blockDim.x >> 5) * WARP_INDICES, base = block_base + warp * WARP_INDICES;
  int g = lane >> 2, t = lane & 3;
  Part p = part_of<TAP_TILES> ((f.width + TILE_PIXELS - 1) / TILE_PIXELS, each, blockIdx.z);
  int pitch = column_bytes (blockDim.x >> 5), stage_size = TILE_PIXELS * pitch;
  size_t row = (size_t) y * f.width * f.depth;
  size_t first = row + (size_t) (p.begin * TILE_PIXELS + g) * f.depth + base + 2 * INDEX_TILES * t;
  Means out = { steps + first, costs.costs ? costs.costs + first : NULL, costs };
  const uint8_t *in = stage + 4 * t * pitch + 16 * (INDEX_TILES * warp + (g >> 1) ^ 2 * t) + 8 * (g & 1);
  const uint32_t *color = f.view[STEREO_LEFT].likeness + (size_t) y * f.image_pitch;
  CostCopy copy (f, f.volume + row, block_base, p.from);
  Ring<TAP_TILES> ring;

  auto advance = [&] (int n) {
    await_copies<TILES_AHEAD - 1> ();
    __syncthreads ();
    copy_costs (f, copy, color, n + TILES_AHEAD, p, stage + (n + TILES_AHEAD) % (TILES_AHEAD + 1) * stage_size, colors);
  };
  auto read = [&] (int n, uint32_t (&to)[INDEX_TILES][2]) {
    /* past the last tile this reads an older one: its weights are 0, and no cost of the first pass is NaN */
    read_costs (in + n % (TILES_AHEAD + 1) * stage_size, pitch, to);
  };
  if (p.to - p.from <= TILES_AHEAD)
    clear_stage (stage, (TILES_AHEAD + 1) * stage_size, { (int) threadIdx.x, (int) blockDim.x });
  for (int n = p.from; n < p.from + TILES_AHEAD; n++)
    copy_costs (f, copy, color, n, p, stage + n % (TILES_AHEAD + 1) * stage_size, colors);
  make_distances (distances, w, threadIdx.x, blockDim.x);
  clear_ring (ring);
#pragma unroll
  for (int n = -(SIDE<TAP_TILES>); n < SIDE<TAP_TILES>; n++)
    if (p.begin + n >= 0) {
      advance (p.begin + n);
      read (p.begin + n, ring.costs[(n + SLOTS<TAP_TILES>) % SLOTS<TAP_TILES>]);
    }
  turn += TAP_TILES * p.begin;
  share_weights (line, distances, p.begin, turn, w);

  for (int start = p.begin; start < p.end; start += SLOTS<TAP_TILES>)
#pragma unroll
    for (int step = 0; step < SLOTS<TAP_TILES>; step++) {
      int tile = start + step;
      if (tile >= p.end)
        break;
      uint4 a[TAP_TILES];
      advance (tile + SIDE<TAP_TILES>);
      if (tile + 1 < p.end)
        share_weights (line, distances, tile + 1, turn, w);
      load_weights (a, line, tile);
      read (tile + SIDE<TAP_TILES>, ring.costs[(step + SIDE<TAP_TILES>) % SLOTS<TAP_TILES>]);
      store_tile<TAP_TILES, BYTES> (f, a, ring, step, tile, base, tile * TILE_PIXELS + g, out);
      out.steps += TILE_PIXELS * f.depth;
      out.bytes += out.bytes ? TILE_PIXELS * f.depth : 0;
    }
}

/* ---- stage ------------------------------------------------------------------------------------------ */

template <int TAP_TILES> static size_t
rows_shared (const Layout &l)
{
  return sizeof (Distances<TAP_TILES>) + 2 * TAP_TILES * 32 * 16 + LINE_TILES * TILE_PIXELS * 4 +
      (size_t) (TILES_AHEAD + 1) * TILE_PIXELS * column_bytes (l.warps);
}

template <int TAP_TILES, bool BYTES> static StereoStatus
launch_rows (StereoPlan *plan, const PathCosts &costs, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  bool in_place = !BYTES && !plan->fusion.match_for_keep;
  Layout l = layout_of (plan, TAP_TILES <= 3 ? 10 : 8);
  int tiles = cuda_blocks (plan->width, TILE_PIXELS), each = tiles, resident = 0;
  size_t shared = rows_shared<TAP_TILES> (l);

  if (!in_place) {
    CUDA_TRY (cudaOccupancyMaxActiveBlocksPerMultiprocessor (
        &resident, aggregate_rows<TAP_TILES, BYTES>, 32 * l.warps, shared));
    each = asw_left_strip (tiles, plan->height * l.chunks, resident * state->multiprocessors, SIDE<TAP_TILES>);
  }
  aggregate_rows<TAP_TILES, BYTES>
      <<<dim3 (plan->height, l.chunks, cuda_blocks (tiles, each)), 32 * l.warps, shared, state->stream>>> (
          cuda_frame (plan), asw_window (plan), costs, in_place ? plan->volume : state->means, each);
  CUDA_LAUNCHED (plan, "aggregate_rows");
  return STEREO_OK;
}

template <int TAP_TILES> static StereoStatus
launch_rows_for (StereoPlan *plan, const PathCosts &costs, StereoError *error)
{
  return costs.costs && !plan->fusion.match_for_keep ? launch_rows<TAP_TILES, true> (plan, costs, error) :
                                                       launch_rows<TAP_TILES, false> (plan, costs, error);
}

}

static StereoStatus
asw_left_rows (StereoPlan *plan, StereoError *error)
{
  PathCosts costs = plan->fusion.match_for_paths ? path_costs_of (plan, cuda_state (plan)->path_costs) : PathCosts{};
  int tap_tiles = asw_tap_tiles (plan);

  return tap_tiles == 5 ? launch_rows_for<5> (plan, costs, error) :
      tap_tiles == 3    ? launch_rows_for<3> (plan, costs, error) :
                          launch_rows_for<2> (plan, costs, error);
}

static StereoStatus
left_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  return asw_left_columns_prepare (plan, (AswLeftContext *) context, error);
}

static StereoStatus
left_run (StereoPlan *plan, void *context, StereoError *error)
{
  StereoStatus status = asw_left_columns (plan, (const AswLeftContext *) context, error);
  return status ? status : asw_left_rows (plan, error);
}

const StereoStage stereo_cuda_asw_left = {
  .name = "match", .context_size = sizeof (AswLeftContext), .prepare = left_prepare, .run = left_run
};
