/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which lines a warp walks along, and what it reads of a tile before it comes to it. */
#include "cuda/async_copy.cuh"
#include "cuda/lists/paths.cuh"

#include <algorithm>

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
  Penalties whole, lowered;
};

/* Warps for paths along the band's rows, both ways. */
static __host__ __device__ __forceinline__ int
warps_along_rows (const ListPaths &p)
{
  return 2 * (p.end_row - p.first_row) * (LIST_TILE / LINES) * stereo_stretches (1, p.lists.columns);
}

/* Stretches of columns that have tiles of the band: those that come down, or up. */
static __host__ __device__ __forceinline__ int
stretches_across (const ListPaths &p, bool up)
{
  int length = stereo_stretch_length (0, p.lists.rows), from = up ? p.lists.rows - p.end_row : p.first_row;
  return (from + p.end_row - p.first_row - 1) / length - from / length + 1;
}

/* What a stretch of a column has outside the band is walked along, but not stored. A line without tiles ends before it begins. */
static __device__ __forceinline__ Line
line_of (const Frame &f, const ListPaths &p, int warp)
{
  int along_rows = warps_along_rows (p);
  Line l;

  l.rows = warp < along_rows;
  int number = l.rows ? warp : warp - along_rows;
  l.back = number % 2;
  l.way = (l.rows ? LIST_RIGHT : LIST_DOWN) + l.back;
  l.length = l.rows ? f.width : f.height;
  l.lines = l.rows ? f.height : f.width;
  l.tiles = l.rows ? p.lists.columns : p.lists.rows;
  int lines = l.rows ? (p.end_row - p.first_row) * LIST_TILE : f.width, warps = (lines + LINES - 1) / LINES;
  int length = stereo_stretch_length (l.rows, l.tiles), from = 0, to = l.tiles;
  if (!l.rows) {
    from = l.back ? l.tiles - p.end_row : p.first_row;
    to = from + p.end_row - p.first_row;
  }
  int stretch = (from / length + number / 2 / warps) * length;
  l.begin = max (stretch - STEREO_STRETCH_BEFORE, 0);
  l.kept = max (stretch, from);
  l.end = min (stretch + length, to);
  l.first = number / 2 % warps * LINES + (l.rows ? p.first_row * LIST_TILE : 0);
  l.lane = threadIdx.x % LANES;
  l.across = l.first + (int) threadIdx.x / LANES;
  l.tile = l.first / LIST_TILE * (l.rows ? p.lists.columns : 1);
  l.tile_step = l.rows ? 1 : p.lists.columns;
  l.whole = l.rows ? Penalties{ p.small[0], p.large[0] } : Penalties{ p.small[1], p.large[1] };
  l.lowered = l.rows ? Penalties{ p.small_low[0], p.large_low[0] } : Penalties{ p.small_low[1], p.large_low[1] };
  l.line_step = (size_t) LIST_SLOTS * (l.rows ? f.width : 1);
  l.step = (size_t) LIST_SLOTS * (l.rows ? 1 : f.width);
  return l;
}

/* What is read of a tile before the path comes to it. */
struct Tile
{
  int pixels; /* 0: there is none */
  uint32_t head, before[2], lowered;
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
    link->lowered[l.way][l.across % LIST_TILE] };
}

/* Starts to copy the costs of tile @n to shared memory: vectors of four groups, such that those of neighbouring lanes lie side by
 * side. A lane's are as far from each other in all tiles. */
template <bool MANY> static __device__ __forceinline__ void
copy_tile (const ListPaths &p, const Line &l, int n, int pixels, Stage &stage)
{
  const int VECTORS = MANY ? 2 : 1, ALONG = 32 / VECTORS / LIST_TILE, ACROSS = 32 / VECTORS / LINES;
  int first = (int) threadIdx.x / VECTORS, byte = 16 * ((int) threadIdx.x % VECTORS);
  int line = l.rows ? first / LIST_TILE : first % LINES, place = l.rows ? first % LIST_TILE : first / LINES;
  const uint8_t *from = p.lists.costs + (l.first + line) * l.line_step + (n * LIST_TILE + place) * l.step + byte;
  uint8_t *to = stage.costs[line] + place * LIST_SLOTS + byte;
  size_t from_step = l.rows ? ALONG * l.line_step : ACROSS * l.step;
  int to_step = l.rows ? ALONG * (int) sizeof stage.costs[0] : ACROSS * LIST_SLOTS;
  int room = l.rows ? (place < pixels ? l.lines - l.first - line : 0) : (l.first + line < l.lines ? pixels - place : 0);

#pragma unroll
  for (int k = 0; k < 4 * VECTORS; k++, from += from_step, to += to_step)
    if (k * (l.rows ? ALONG : ACROSS) < room)
      copy_async<16> (to, from);
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

/*
 * What paths add to the costs of the candidates in the lists, along rows and columns, both ways.
 *
 * Four lanes have a line, a group each and in long lists another one, two slots a word. A candidate stays in its slot from pixel to
 * pixel of a tile; what lies beside a lane's groups comes by shuffles. From tile to tile all costs pass through shared memory, where
 * paths.cu says which of them are the same, the next lower and the next higher disparity. A stretch takes as long as its chain of
 * pixels: loads are a tile ahead, and nothing else is in the chain.
 */

constexpr int UNROLLED = 3;               /* pixels: more do not stay in the cache of instructions */
constexpr uint32_t MISSING = 0x7FFF7FFFu; /* of a candidate that the list before lacks: more than any other path cost */
static_assert (LIST_TILE % UNROLLED == 1, "the first pixel of a tile is one of its own");

/* Bytes that __byte_perm() takes: of a word and the next one, the slots between them; of one alone, its own slot twice, in place of
 * a neighbour that is not in the list: it never is the better way. Costs become words; those of a missing group never win. */
constexpr uint32_t BETWEEN = 0x5432, OWN_FIRST = 0x5454, OWN_LAST = 0x3232;
constexpr uint32_t COSTS = 0x5150, NO_COSTS = 0x4140, HIGH_COSTS = 0x0202, NO_COST = 0x7F;

/* Path costs of the lane's slots, and the lowest of the line in both halves. */
struct Path
{
  uint32_t costs[4], lowest;
};

/* Words that hold what lies before and after each of the lane's groups: in the upper half, in the lower half. */
struct Beside
{
  uint32_t before[2], after[2];
};

/* How the lane's groups lie in a tile: what __byte_perm() takes. */
struct Slots
{
  uint32_t before[2], after[2], costs[2];
};

/* Groups in shared memory, of a line; the last one is missing. */
struct __align__ (16) Crossing
{
  uint2 group[LIST_GROUPS + 1];
  uint2 pad;
};

static __device__ __forceinline__ uint32_t
lowest_of_line (uint32_t low)
{
  static_assert (LANES == 4, "three shuffles side by side, which take as long as one");
  uint32_t beside = __shfl_xor_sync (LIST_LANES, low, 1), far = __shfl_xor_sync (LIST_LANES, low, 2),
           last = __shfl_xor_sync (LIST_LANES, low, 3);
  low = __vminu2 (__vminu2 (low, beside), __vminu2 (far, last));
  return __vminu2 (low, __byte_perm (low, low, 0x1032));
}

/* A step to the next pixel for group @g of the lane. Returns what the path adds to the slots' costs. */
template <int g> static __device__ __forceinline__ uint32_t
step_group (Path &path, const Beside &beside, const Slots &slots, uint32_t cost, Penalties penalties)
{
  uint32_t (&c)[4] = path.costs, low = c[2 * g], high = c[2 * g + 1];
  uint32_t between = __byte_perm (low, high, BETWEEN);
  uint32_t near[2] = { __vminu2 (__byte_perm (beside.before[g], low, slots.before[g]), between),
    __vminu2 (between, __byte_perm (high, beside.after[g], slots.after[g])) };
  uint32_t added[2];

#pragma unroll
  for (int k = 0; k < 2; k++) {
    uint32_t best = __viaddmin_u16x2 (near[k], penalties.small, c[2 * g + k]);
    added[k] = __vminu2 (best - path.lowest, penalties.large); /* no half borrows: none is below the lowest */
    c[2 * g + k] = __byte_perm (cost, NO_COST, slots.costs[g] + k * HIGH_COSTS) + added[k];
  }
  return __byte_perm (added[0], added[1], 0x6420);
}

/* What the pixels of a tile have in common. */
enum Kind
{
  FEW,       /* a whole tile in which all candidates exist; a group a lane */
  MANY,      /* the same, two groups */
  EDGE_FEW,  /* as FEW; some candidates are outside the other view */
  EDGE_MANY, /* as MANY, likewise */
  ANY        /* any tile: slower */
};

__host__ __device__ constexpr bool
has_two (Kind kind)
{
  return kind != FEW && kind != EDGE_FEW;
}

/* Words of a lane that have candidates. */
__host__ __device__ constexpr int
words_of (Kind kind)
{
  return has_two (kind) ? 4 : 2;
}

/* All bits of the slots of the lane's groups: @beyond the last disparity; outside the other view at a column. */
struct Missing
{
  uint32_t beyond[4], outside[4];
};

constexpr uint32_t SIGNS = 0x80008000u;
constexpr int HIGHEST_INDEX = 0x7000; /* more than any, and than a column can have: of a group that is not there */

/* ANY for groups of those indices on, at column @x. */
static __device__ __forceinline__ void
find_missing (const Frame &f, const int (&index)[2], int x, Missing &missing)
{
  int first = stereo_first_index (x, f.width, f.min_disparity),
      last = stereo_last_index (x, f.disparities, f.min_disparity);

#pragma unroll
  for (int k = 0; k < 4; k++) {
    int i = index[k / 2] + k % 2 * 2;
    missing.beyond[k] = outside_of (i, 0, f.disparities - 1);
    missing.outside[k] = outside_of (i, first, last) & ~missing.beyond[k];
  }
}

/* The same where none is beyond: two at a time, whose differences to the first and to the end have a sign. */
template <Kind KIND> static __device__ __forceinline__ void
find_outside (const Frame &f, const int (&index)[2], int x, Missing &missing)
{
  uint32_t first = 0x10001u * (uint32_t) stereo_first_index (x, f.width, f.min_disparity);
  uint32_t end = 0x10001u * (uint32_t) max (stereo_last_index (x, f.disparities, f.min_disparity) + 1, 0);

#pragma unroll
  for (int k = 0; k < words_of (KIND); k++) {
    uint32_t pair = (0x10001u * (uint32_t) min (index[k / 2], HIGHEST_INDEX) + (k % 2 ? 0x30002u : 0x10000u)) | SIGNS;
    uint32_t signs = (~(pair - first) | (pair - end)) & SIGNS;
    missing.outside[k] = (signs >> 15) * 0xFFFFu;
  }
}

/* Candidates outside the view are open to all: a path that comes into the view begins anywhere. */
template <Kind KIND> static __device__ __forceinline__ void
open_outside (Path &path, const Missing &missing)
{
  uint32_t low = ~0u;

#pragma unroll
  for (int k = 0; k < words_of (KIND); k++) {
    if (KIND == ANY)
      path.costs[k] |= MISSING & missing.beyond[k];
    low = __vminu2 (low, path.costs[k] | missing.outside[k]);
  }
  low = lowest_of_line (low);
  path.lowest = (low & 0xFFFF) >= NO_COST << 8 ? 0 : low;
#pragma unroll
  for (int k = 0; k < words_of (KIND); k++)
    path.costs[k] = (path.costs[k] & ~missing.outside[k]) | (path.lowest & missing.outside[k]);
}

/* Within a tile, from the pixel before. */
template <bool MANY> static __device__ __forceinline__ Beside
beside_within (const Path &path, int lane)
{
  int before = (lane + LANES - 1) % LANES, after = (lane + 1) % LANES;
  Beside b = {};

  b.before[0] = __shfl_sync (LIST_LANES, path.costs[1], before, LANES);
  b.after[0] = __shfl_sync (LIST_LANES, path.costs[0], after, LANES);
  if (MANY) {
    uint32_t below = __shfl_sync (LIST_LANES, path.costs[3], before, LANES);
    b.after[1] = __shfl_sync (LIST_LANES, path.costs[2], after, LANES);
    b.before[1] = lane == 0 ? b.before[0] : below;
    b.after[0] = lane == LANES - 1 ? b.after[1] : b.after[0];
  }
  return b;
}

/* From a tile to the next one: the path's costs move to the slots of the next list. @before: of the lane's groups, see ListLink. */
static __device__ __forceinline__ Beside
cross (Path &path, Crossing &crossing, const uint32_t (&before)[2], int lane)
{
  Beside beside;

  __syncwarp ();
#pragma unroll
  for (int k = 0; k < 2; k++)
    crossing.group[lane + k * LIST_FEW] = make_uint2 (path.costs[2 * k], path.costs[2 * k + 1]);
  __syncwarp ();
#pragma unroll
  for (int k = 0; k < 2; k++) {
    uint2 same = crossing.group[before[k] & 15];
    beside.before[k] = crossing.group[before[k] >> 4 & 15].y;
    beside.after[k] = crossing.group[before[k] >> 8 & 15].x;
    path.costs[2 * k] = same.x;
    path.costs[2 * k + 1] = same.y;
  }
  return beside;
}

static __device__ __forceinline__ Slots
slots_of (const Tile &t, int lane)
{
  Slots s;
#pragma unroll
  for (int k = 0; k < 2; k++) {
    int g = lane + k * LIST_FEW;
    s.before[k] = t.head >> g & 1 ? OWN_FIRST : BETWEEN;
    s.after[k] = t.head >> (g + 1) & 1 ? OWN_LAST : BETWEEN;
    s.costs[k] = g < groups_in (t.head) ? COSTS : NO_COSTS;
  }
  return s;
}

/* What changes from pixel to pixel of a tile. */
struct Walk
{
  const uint8_t *costs; /* in shared memory */
  uint8_t *to;
  uint32_t lowered; /* bit 0: of this pixel */
  bool stores;      /* the tile is one of the path's stretch, and the line one of the picture */
  Missing missing;  /* unless all candidates exist */
};

/* A pixel: bit @k of the lowered ones. @slots: of the tile; of its first pixel what lies beside comes from elsewhere. */
template <Kind KIND> static __device__ __forceinline__ void
walk_pixel (const Line &l, Path &path, const Beside &beside, const Slots &slots, const Walk &w, int k, bool many)
{
  bool lowers = w.lowered & 1u << k;
  Penalties penalties = { lowers ? l.lowered.small : l.whole.small, lowers ? l.lowered.large : l.whole.large };
  const uint32_t *costs = (const uint32_t *) w.costs;
  uint32_t few = step_group<0> (path, beside, slots, costs[0], penalties), more = 0;

  if (has_two (KIND))
    more = step_group<1> (path, beside, slots, costs[LIST_FEW], penalties);
  if (w.stores)
    ((uint32_t *) w.to)[0] = few;
  if (has_two (KIND) && w.stores && many)
    ((uint32_t *) w.to)[LIST_FEW] = more;
  if (KIND >= EDGE_FEW) {
    open_outside<KIND> (path, w.missing);
    return;
  }
  uint32_t low = __vminu2 (path.costs[0], path.costs[1]);
  path.lowest = lowest_of_line (has_two (KIND) ? __vminu2 (low, __vminu2 (path.costs[2], path.costs[3])) : low);
}

/* All pixels of the tile that has number @number along the way. @beside: of the first one. */
template <Kind KIND> static __device__ __forceinline__ void
walk_tile (const Frame &f, const ListPaths &p, const Line &l, const Tile &t, int number, Path &path, Beside beside,
    const Stage &stage)
{
  bool many = KIND == ANY ? has_many (t.head) : has_two (KIND);
  int n = tile_at (l, number), pitch = added_pitch (many), tile = l.tile + n * l.tile_step,
      line = (int) threadIdx.x / LANES;
  int begin = l.back ? t.pixels - 1 : 0, sign = l.back ? -1 : 1, step = sign * (l.rows ? pitch : LIST_TILE * pitch);
  Slots slots = slots_of (t, l.lane),
        first = { { BETWEEN, BETWEEN }, { BETWEEN, BETWEEN }, { slots.costs[0], slots.costs[1] } };
  Walk w = { stage.costs[line] + begin * LIST_SLOTS + STEREO_GROUP * l.lane,
    p.added[l.way] + (size_t) tile * LIST_ADDED + l.across % LIST_TILE * (l.rows ? LIST_TILE * pitch : pitch) +
        begin * (l.rows ? pitch : LIST_TILE * pitch) + STEREO_GROUP * l.lane,
    l.back ? __brev (t.lowered) >> (32 - t.pixels) : t.lowered, number >= l.kept && l.across < l.lines, {} };
  int index[2], x = l.rows ? n * LIST_TILE + begin : min (l.across, l.lines - 1);

  if constexpr (KIND >= EDGE_FEW) {
    for (int k = 0; k < 2; k++)
      index[k] = p.lists.groups[tile * LIST_GROUPS + l.lane + k * LIST_FEW] * STEREO_GROUP;
    if (KIND == ANY)
      find_missing (f, index, x, w.missing);
    else
      find_outside<KIND> (f, index, x, w.missing);
  }
  walk_pixel<KIND> (l, path, beside, first, w, 0, many);
  w.lowered >>= 1;
  if constexpr (KIND == ANY) {
    for (int k = 1; k < t.pixels; k++, w.lowered >>= 1) {
      w.costs += sign * LIST_SLOTS;
      w.to += step;
      if (l.rows)
        find_missing (f, index, x += sign, w.missing);
      walk_pixel<KIND> (l, path, beside_within<true> (path, l.lane), slots, w, 0, many);
    }
  } else {
#pragma unroll 1
    for (int k = 1; k < LIST_TILE; k += UNROLLED, w.lowered >>= UNROLLED)
#pragma unroll
      for (int j = 0; j < UNROLLED; j++) {
        w.costs += sign * LIST_SLOTS;
        w.to += step;
        if constexpr (KIND >= EDGE_FEW)
          if (l.rows)
            find_outside<KIND> (f, index, x += sign, w.missing);
        walk_pixel<KIND> (l, path, beside_within<has_two (KIND)> (path, l.lane), slots, w, j, many);
      }
  }
}

/*
 * Block: a warp, which has a stretch of LINES lines of one way. While it walks through a tile, the costs of the next one come to
 * shared memory. Four lanes store what a path adds at a pixel; along columns the pixels of a warp lie side by side.
 */
static __global__ void __launch_bounds__ (32)
    way_kernel (const __grid_constant__ Frame f, const __grid_constant__ ListPaths p)
{
  __shared__ Crossing crossings[LINES];
  __shared__ Stage stages[2];
  Crossing &crossing = crossings[threadIdx.x / LANES];
  Line l = line_of (f, p, blockIdx.x);
  if (l.kept >= l.end)
    return;
  Path path = { { 0, 0, 0, 0 }, 0 };
  Beside beside = {};
  Tile t = read_tile (p, l, l.begin), next = read_tile (p, l, l.begin + 1);

  if (l.lane == 0)
    crossing.group[LIST_NOWHERE] = make_uint2 (MISSING, MISSING);
  copy_next (p, l, tile_at (l, l.begin), t, stages[0]);
  for (int k = l.begin; k < l.end; k++) {
    Tile after = read_tile (p, l, k + 2);
    const Stage &stage = stages[(k - l.begin) % 2];
    await_copies<0> ();
    __syncwarp ();
    copy_next (p, l, tile_at (l, k + 1), next, stages[(k + 1 - l.begin) % 2]);
    if (k > l.begin)
      beside = cross (path, crossing, t.before, l.lane);
    if (t.head & LIST_BEYOND || t.pixels < LIST_TILE)
      walk_tile<ANY> (f, p, l, t, k, path, beside, stage);
    else if (t.head & LIST_EDGE && has_many (t.head))
      walk_tile<EDGE_MANY> (f, p, l, t, k, path, beside, stage);
    else if (t.head & LIST_EDGE)
      walk_tile<EDGE_FEW> (f, p, l, t, k, path, beside, stage);
    else if (has_many (t.head))
      walk_tile<MANY> (f, p, l, t, k, path, beside, stage);
    else
      walk_tile<FEW> (f, p, l, t, k, path, beside, stage);
    t = next;
    next = after;
  }
}

}

StereoStatus
list_ways (StereoPlan *plan, const ListPaths &paths, cudaStream_t stream, StereoError *error)
{
  int stretches = std::max (stretches_across (paths, false), stretches_across (paths, true));
  int warps = warps_along_rows (paths) + 2 * (int) cuda_blocks (plan->width, LINES) * stretches;
  /* Shared memory spreads them evenly, whatever else is about to end. Not those of bands, of which two run beside each other. */
  int each = (int) cuda_blocks (warps, cuda_state (plan)->multiprocessors),
      room = cuda_state (plan)->shared_per_block / each;
  int more = paths.end_row - paths.first_row < plan->lists.rows ? 0 : std::clamp (room - (12 << 10), 0, 32 << 10);

  way_kernel<<<warps, 32, more, stream>>> (cuda_frame (plan), paths);
  CUDA_LAUNCHED (plan, "way_kernel");
  return STEREO_OK;
}
