/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Winner-takes-all of both views (3.2.3) from one pass over the volume.
 *
 * A block walks along a row, a tile of 16 or 32 left columns at a time. The tile stands in shared
 * memory, where a left pixel's candidates are a column and a right pixel's a diagonal. A right pixel
 * meets at most depth + columns tiles' worth of columns, so a ring of the lowest two costs that long
 * carries right pixels from tile to tile; it does not grow with the width.
 */
#include "cuda/common.cuh"

#define THREADS 256
#define BATCH 4
#define NO_KEY 0xFFFFFFFFu

/* The two lowest keys (cost << 16 | index) seen: ties go to the smaller index. */
struct Lowest
{
  uint32_t first, second;
};

static __device__ __forceinline__ void
meet (Lowest &l, uint32_t key)
{
  l.second = min (l.second, max (l.first, key));
  l.first = min (l.first, key);
}

static __device__ void
store_lowest (const StereoView &view, size_t map, Lowest l)
{
  bool some = l.first >> 16 != STEREO_INVALID, more = l.second >> 16 != STEREO_INVALID;
  view.first[map] = view.index[map] = some ? (uint16_t) l.first : (uint16_t) STEREO_INVALID;
  view.second[map] = more ? (uint16_t) l.second : (uint16_t) STEREO_INVALID;
  view.confidence[map] = more ? stereo_confidence (l.first >> 16, l.second >> 16) : 0.0f;
}

/* 8 more elements than depth: rows stay aligned to 16 bytes, and as depth is a multiple of 16, eight
 * threads that read vectors of eight columns meet all banks. */
static __host__ __device__ int
tile_pitch (int depth)
{
  return depth + 8;
}

/* Columns from global to shared memory, 16 bytes a thread and BATCH of them under way. */
static __device__ void
load_tile (const uint16_t *columns, int count, int depth, uint16_t *tile)
{
  const uint4 *from = (const uint4 *) columns;
  int vectors = depth / 8, pitch = tile_pitch (depth) / 8, total = count * vectors;
  int column = threadIdx.x / vectors, v = threadIdx.x % vectors;
  int columns_step = THREADS / vectors, v_step = THREADS % vectors;

  for (int n = threadIdx.x; n < total; n += BATCH * THREADS) {
    uint4 batch[BATCH];
#pragma unroll
    for (int k = 0; k < BATCH; k++)
      if (n + k * THREADS < total)
        batch[k] = __ldcs (from + n + k * THREADS);
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      if (n + k * THREADS < total)
        ((uint4 *) tile)[column * pitch + v] = batch[k];
      column += columns_step;
      v += v_step;
      column += v >= vectors;
      v -= v >= vectors ? vectors : 0;
    }
  }
}

/* Part @part of @parts of a left column's candidates. */
static __device__ Lowest
meet_column (const uint16_t *column, int depth, int part, int parts)
{
  Lowest l = { NO_KEY, NO_KEY };

  for (int v = part; v < depth / 8; v += parts) {
    uint4 costs = ((const uint4 *) column)[v];
    uint32_t words[4] = { costs.x, costs.y, costs.z, costs.w };
#pragma unroll
    for (int k = 0; k < 4; k++) {
      uint32_t i = v * 8 + k * 2;
      meet (l, words[k] << 16 | i);
      meet (l, (words[k] & 0xFFFF0000u) | (i + 1));
    }
  }
  return l;
}

/* Where a tile stands in its row. Right pixel @lowest + u meets column t at index u + t - (columns - 1). */
struct Tile
{
  int x, columns, count;        /* count of the columns are in the image */
  int lowest;                   /* right pixel that meets the last column at index 0 */
  int origin, ring;             /* place of u = 0 in the ring, and its size */
  bool first, last;             /* of the row */
};

/* Right pixels of the tile, one a thread: those that come in start with nothing, those that leave are
 * done. Threads of a warp read neighbouring elements. */
static __device__ void
meet_diagonals (const Frame &f, const Tile &t, const uint16_t *tile, Lowest *ring, int y)
{
  int pitch = tile_pitch (f.depth), last = t.columns - 1;

  for (int u = threadIdx.x; u < last + f.depth; u += THREADS) {
    int right = t.lowest + u, place = t.origin + u;
    if (right < 0 || right >= f.width)
      continue;
    place -= place >= t.ring ? t.ring : 0;
    Lowest l = { NO_KEY, NO_KEY };
    if (!t.first && u > last)
      l = ring[place];
    int from = max (0, last - u), to = min (t.count - 1, last - u + f.depth - 1);
    uint32_t i = u - last + from;
    const uint16_t *cost = tile + from * pitch + i;
#pragma unroll 4
    for (int k = from; k <= to; k++, i++, cost += pitch + 1)
      meet (l, (uint32_t) *cost << 16 | i);
    if (t.last || u >= f.depth - 1)
      store_lowest (f.view[STEREO_RIGHT], (size_t) y * f.map_pitch + right, l);
    else
      ring[place] = l;
  }
}

/* Right pixels that no left column meets. */
static __device__ void
blank_right (const Frame &f, int y)
{
  Lowest none = { NO_KEY, NO_KEY };
  for (int x = threadIdx.x; x < f.width; x += THREADS)
    if (x < f.min_disparity || x > f.width - 1 + f.min_disparity + f.depth - 1)
      store_lowest (f.view[STEREO_RIGHT], (size_t) y * f.map_pitch + x, none);
}

/* A block per row. Shared: the tile, the ring, and THREADS partial results of left pixels. */
static __global__ void __launch_bounds__ (THREADS, 4)
select_kernel (Frame f, int columns)
{
  extern __shared__ uint4 shared[];
  uint16_t *tile = (uint16_t *) shared;
  Lowest *ring = (Lowest *) (tile + columns * tile_pitch (f.depth)), *partial = ring + columns + f.depth;
  int y = blockIdx.x, column = threadIdx.x % columns, part = threadIdx.x / columns, parts = THREADS / columns;
  const uint16_t *row = f.volume + (size_t) y * f.width * f.depth;
  Tile t = { 0, columns, 0, f.width - columns + f.min_disparity, 0, columns + f.depth, true, false };

  blank_right (f, y);
  for (; t.x < f.width; t.x += columns, t.lowest -= columns) {
    t.count = min (columns, f.width - t.x);
    t.last = t.x + columns >= f.width;
    load_tile (row + (size_t) t.x * f.depth, t.count, f.depth, tile);
    __syncthreads ();
    partial[threadIdx.x] = meet_column (tile + column * tile_pitch (f.depth), f.depth, part, parts);
    meet_diagonals (f, t, tile, ring, y);
    __syncthreads ();
    if (threadIdx.x < t.count) {
      Lowest l = partial[threadIdx.x];
      for (int p = 1; p < parts; p++) {
        Lowest other = partial[p * columns + threadIdx.x];
        meet (l, other.first);
        meet (l, other.second);
      }
      store_lowest (f.view[STEREO_LEFT], (size_t) y * f.map_pitch + t.x + threadIdx.x, l);
    }
    t.first = false;
    t.origin -= columns;
    t.origin += t.origin < 0 ? t.ring : 0;
  }
}

/* Fewer columns where they are long: at most 48 KiB, which needs no opting in. */
static StereoStatus
select_run (StereoPlan *plan, StereoError *error)
{
  int columns = plan->depth <= 512 ? 32 : 16;
  size_t shared = (size_t) columns * tile_pitch (plan->depth) * sizeof (uint16_t) +
      (size_t) (columns + plan->depth + THREADS) * sizeof (Lowest);

  select_kernel <<<plan->height, THREADS, shared, cuda_state (plan)->stream>>> (cuda_frame (plan), columns);
  CUDA_LAUNCHED (plan, "select_kernel");
  return STEREO_OK;
}

extern const StereoStage stereo_cuda_select = { "select", NULL, select_run };
