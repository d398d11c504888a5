/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which lines a warp of ways.cu walks along, and what it reads of a tile before it comes to it. */
#ifndef STEREO_CUDA_LISTS_WAYS_CUH
#define STEREO_CUDA_LISTS_WAYS_CUH

#include "cuda/async_copy.cuh"
#include "cuda/lists/paths.cuh"

namespace
{

constexpr int LANES = 4;          /* of a line */
constexpr int LINES = 32 / LANES; /* of a warp: all in the same tiles */
static_assert (LIST_TILE % LINES == 0 && LANES == LIST_FEW, "a warp has whole lists");

/* Costs of the pixels of a tile, of each line of the warp. What lies between lines lets all lanes read different banks. */
struct __align__ (16) Stage
{
  uint8_t costs[LINES][LIST_TILE * LIST_SLOTS + 16];
};

struct Penalties
{
  uint32_t small, large;
};

/* The lines of a warp, of which the lane has one. */
struct Line
{
  int way, length, tiles, lines; /* @lines: of all warps */
  int begin, kept, end;          /* tiles, by their numbers along the way: where the path begins, its stretch */
  int first, across, lane;       /* the warp's first line, the lane's, and the lane's number in it */
  int tile, tile_step;           /* the first tile, and from tile to tile */
  size_t line_step, step;        /* bytes of costs from line to line, from pixel to pixel */
  bool rows, back;
  Penalties whole, half;
};

/* Warps for paths along @lines rows, or columns, both ways. */
static __host__ __device__ __forceinline__ int
warps_of (bool rows, int lines, int tiles)
{
  return 2 * ((lines + LINES - 1) / LINES) * stereo_stretches (rows, tiles);
}

static __device__ __forceinline__ Line
line_of (const Frame &f, const ListPaths &p, int warp)
{
  int along_rows = warps_of (true, f.height, p.lists.columns);
  Line l;

  l.rows = warp < along_rows;
  int number = l.rows ? warp : warp - along_rows;
  l.back = number % 2;
  l.way = (l.rows ? LIST_RIGHT : LIST_DOWN) + l.back;
  l.length = l.rows ? f.width : f.height;
  l.lines = l.rows ? f.height : f.width;
  l.tiles = l.rows ? p.lists.columns : p.lists.rows;
  int warps = (l.lines + LINES - 1) / LINES, length = stereo_stretch_length (l.rows, l.tiles);
  l.kept = number / 2 / warps * length;
  l.begin = max (l.kept - STEREO_STRETCH_BEFORE, 0);
  l.end = min (l.kept + length, l.tiles);
  l.first = number / 2 % warps * LINES;
  l.lane = threadIdx.x % LANES;
  l.across = l.first + (int) threadIdx.x / LANES;
  l.tile = l.first / LIST_TILE * (l.rows ? p.lists.columns : 1);
  l.tile_step = l.rows ? 1 : p.lists.columns;
  l.whole = l.rows ? Penalties{ p.small[0], p.large[0] } : Penalties{ p.small[1], p.large[1] };
  l.half = l.rows ? Penalties{ p.small_half[0], p.large_half[0] } : Penalties{ p.small_half[1], p.large_half[1] };
  l.line_step = (size_t) LIST_SLOTS * (l.rows ? f.width : 1);
  l.step = (size_t) LIST_SLOTS * (l.rows ? 1 : f.width);
  return l;
}

/* What is read of a tile before the path comes to it. */
struct Tile
{
  int pixels; /* 0: there is none */
  uint32_t head, before[2], halved;
};

/* The tile that has number @k along the way. */
static __device__ __forceinline__ int
tile_at (const Line &l, int k)
{
  return l.back ? l.tiles - 1 - k : k;
}

static __device__ __forceinline__ Tile
read_tile (const ListPaths &p, const Line &l, int k)
{
  if (k >= l.end)
    return {};
  int n = tile_at (l, k);
  const ListLink *link = p.links + l.tile + n * l.tile_step;
  const uint16_t *before = link->before[l.way] + l.lane;
  return { min (LIST_TILE, l.length - n * LIST_TILE), link->head, { before[0], before[LIST_FEW] },
    link->halved[l.way][l.across % LIST_TILE] };
}

/* Starts to copy the costs of tile @n to shared memory: vectors of four groups, such that those of neighbouring lanes lie side by
 * side. */
template <bool MANY> static __device__ __forceinline__ void
copy_tile (const ListPaths &p, const Line &l, int n, int pixels, Stage &stage)
{
  const int VECTORS = MANY ? 2 : 1;
#pragma unroll
  for (int k = 0; k < 4 * VECTORS; k++) {
    int vector = (int) threadIdx.x + 32 * k, rest = vector / VECTORS;
    int line = l.rows ? rest / LIST_TILE : rest % LINES, place = l.rows ? rest % LIST_TILE : rest / LINES;
    int byte = 16 * (vector % VECTORS);
    if (l.first + line < l.lines && place < pixels)
      copy_async<16> (stage.costs[line] + place * LIST_SLOTS + byte,
          p.lists.costs + (l.first + line) * l.line_step + (n * LIST_TILE + place) * l.step + byte);
  }
}

static __device__ __forceinline__ void
copy_next (const ListPaths &p, const Line &l, int n, const Tile &t, Stage &stage)
{
  if (t.pixels && has_many (t.head))
    copy_tile<true> (p, l, n, t.pixels, stage);
  else if (t.pixels)
    copy_tile<false> (p, l, n, t.pixels, stage);
  commit_copies ();
}

}

#endif
