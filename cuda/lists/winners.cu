/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The winners of both views among the candidates in the lists, from their costs and what four paths add to them. */
#include "cuda/lists/paths.cuh"

#include <algorithm>

namespace
{

constexpr int WARPS = 12; /* of a block, at most; measured: of a band all rows run at once */
#if defined __CUDA_ARCH__ && __CUDA_ARCH__ < 800
constexpr int BLOCKS = 2; /* on a multiprocessor, for the compiler's choice of registers: the most that Turing can run */
#else
constexpr int BLOCKS = 3;
#endif
constexpr int LANES = 4;           /* of a pixel */
constexpr int PIXELS = 32 / LANES; /* of a warp at a time, in one tile */
constexpr int SPAN = 32;           /* whose results are stored at a time, a lane each */
constexpr uint32_t NONE = 0xFFFFu; /* no key, or no sum */
static_assert (LANES == LIST_FEW && LIST_TILE % PIXELS == 0, "a lane has one group or two; a warp is in one tile");
static_assert (4 * (255 + 254) < 1 << 11 && LIST_SLOTS == 1 << 5, "a sum and its slot are a key of 16 bits");

/* What a lane knows of its pixel and the list of it. */
struct Pixel
{
  int x, lane, first, last; /* candidates first..last exist */
  uint32_t head, groups;    /* @groups: the lane's, STEREO_NO_GROUP if there is none */
};

/* The index and the slot of the lane's slot @k of 8. */
static __device__ __forceinline__ int
index_of (const Pixel &at, int k)
{
  return (int) (at.groups >> 16 * (k / STEREO_GROUP) & 0xFFFF) * STEREO_GROUP + k % STEREO_GROUP;
}

static __device__ __forceinline__ int
slot_of (const Pixel &at, int k)
{
  return (at.lane + k / STEREO_GROUP * LIST_FEW) * STEREO_GROUP + k % STEREO_GROUP;
}

/* What is read of a pixel: costs, and what paths add, of the lane's groups. */
struct Costs
{
  uint32_t own[2], added[LIST_WAYS][2];
};

static __device__ __forceinline__ Costs
load_costs (const Frame &f, const ListPaths &p, const Pixel &at, int y, int tile)
{
  bool many = has_many (at.head);
  size_t place = (size_t) tile * LIST_ADDED + (y % LIST_TILE * LIST_TILE + at.x % LIST_TILE) * added_pitch (many);
  Costs c = {};

#pragma unroll
  for (int g = 0; g < 2; g++) {
    int word = at.lane + g * LIST_FEW;
    if (g && !many)
      break;
    c.own[g] = ((const uint32_t *) list_costs (f, p.lists, at.x, y))[word];
#pragma unroll
    for (int k = 0; k < LIST_WAYS; k++)
      c.added[k][g] = ((const uint32_t *) (p.added[k] + place))[word];
  }
  return c;
}

/* The lane's sums, two slots a word. */
template <bool MANY> static __device__ __forceinline__ void
add_paths (const Pixel &at, const Costs &c, uint32_t (&sums)[4])
{
#pragma unroll
  for (int k = 0; k < (MANY ? 4 : 2); k++) {
    uint32_t select = k % 2 ? 0x4342 : 0x4140;
    sums[k] = __byte_perm (c.own[k / 2], 0, select) * 4;
#pragma unroll
    for (int j = 0; j < LIST_WAYS; j++)
      sums[k] += __byte_perm (c.added[j][k / 2], 0, select);
    if (at.head & LIST_EDGE)
      sums[k] |= outside_of (index_of (at, 2 * k), at.first, at.last);
    else if (index_of (at, 2 * k) >= STEREO_NO_GROUP)
      sums[k] = ~0u;
  }
}

/* The lowest key of a pixel, a sum and its slot, and above it the next one; NONE: there is none. */
template <bool MANY> static __device__ __forceinline__ uint32_t
lowest_two (const Pixel &at, const uint32_t (&sums)[4])
{
  uint32_t low = ~0u, next = ~0u;

#pragma unroll
  for (int k = 0; k < (MANY ? 4 : 2); k++) {
    uint32_t slots = (uint32_t) slot_of (at, 2 * k) * 0x10001u + 0x10000u;
    /* all bits where the sum is invalid: no other sum has the highest bit of 16 */
    uint32_t none = (sums[k] >> 15 & 0x10001u) * 0xFFFFu, key = (sums[k] << 5 & 0xFFE0FFE0u) | slots | none;
    next = __vminu2 (next, __vmaxu2 (low, key));
    low = __vminu2 (low, key);
  }
  uint32_t a = low & 0xFFFF, b = low >> 16, lowest = min (a, b),
           second = min (max (a, b), min (next & 0xFFFF, next >> 16));
#pragma unroll
  for (int away = 1; away < LANES; away *= 2) {
    uint32_t other = __shfl_xor_sync (LIST_LANES, lowest | second << 16, away), theirs = other & 0xFFFF;
    second = min (max (lowest, theirs), min (second, other >> 16));
    lowest = min (lowest, theirs);
  }
  return lowest | second << 16;
}

static __device__ __forceinline__ bool
gap_before (uint32_t head, int slot)
{
  return slot % STEREO_GROUP == 0 && head >> slot / STEREO_GROUP & 1;
}

static __device__ __forceinline__ bool
gap_after (uint32_t head, int slot)
{
  return slot % STEREO_GROUP == STEREO_GROUP - 1 && head >> (slot / STEREO_GROUP + 1) & 1;
}

/* The sub-pixel offset of slot @slot; 0 where a neighbour is not in the list. */
static __device__ __forceinline__ float
offset_of (const Frame &f, uint32_t head, const uint16_t *sums, int slot, int index)
{
  if (index == 0 || index == f.disparities - 1 || gap_before (head, slot) || gap_after (head, slot) ||
      sums[slot - 1] == STEREO_INVALID || sums[slot + 1] == STEREO_INVALID)
    return 0;
  return stereo_equiangular (sums[slot - 1], sums[slot], sums[slot + 1]);
}

/* The lane's part of the rival: the lowest sum far away, and above it the lowest of those that are nearer as well. */
static __device__ __forceinline__ uint32_t
rivals_of (const Pixel &at, const uint16_t *sums, int index)
{
  uint32_t rival = NONE, nearer = NONE;

#pragma unroll
  for (int k = 0; k < 8; k++) {
    int distance = abs (index_of (at, k) - index);
    uint32_t sum = sums[slot_of (at, k)];
    if (distance >= STEREO_LISTED_RIVAL_LESS_AWAY)
      nearer = min (nearer, sum);
    if (distance >= STEREO_LISTED_RIVAL_AWAY)
      rival = min (rival, sum);
  }
  return rival | nearer << 16;
}

/* By the lanes of a pixel whose lowest sum is @lowest, at a candidate that costs @before without the paths. */
static __device__ __forceinline__ uint32_t
distinctness_of (const Pixel &at, const uint16_t *sums, int index, uint32_t lowest, int before, int chance)
{
  uint32_t rivals = rivals_of (at, sums, index);

#pragma unroll
  for (int away = 1; away < LANES; away *= 2)
    rivals = __vminu2 (rivals, __shfl_xor_sync (LIST_LANES, rivals, away));
  uint32_t rival = rivals & 0xFFFF;
  rival = rival == NONE ? rivals >> 16 : rival;
  return index == (int) STEREO_INVALID ? 0 : stereo_listed_distinctness (lowest, rival, before, chance);
}

/* Offers the lane's candidates to their right pixels; with EDGE, those of them that exist. */
template <bool MANY, bool EDGE> static __device__ __forceinline__ void
offer_right (const Frame &f, const Pixel &at, const uint32_t (&sums)[4], uint32_t *right)
{
#pragma unroll
  for (int g = 0; g < (MANY ? 2 : 1); g++) {
    int index = index_of (at, g * STEREO_GROUP);
    uint32_t *to = right + (f.width - 1 - at.x + f.min_disparity + index);
    if (index < STEREO_NO_GROUP)
#pragma unroll
      for (int k = 0; k < STEREO_GROUP; k++) {
        uint32_t pair = (uint32_t) (index + k / 2 * 2) * 0x10001u + 0x10000u, sum = sums[2 * g + k / 2];
        uint32_t key = __byte_perm (sum, pair, k % 2 ? 0x3276 : 0x1054);
        if (!EDGE || key >> 16 != NONE)
          atomicMin (to + k, key);
      }
  }
}

/* Shared memory of a warp, for a span of pixels. Where the sums of slots before the first and after the last one would be may be
 * looked at: nothing depends on what is there. */
struct __align__ (16) Span
{
  uint32_t before[4];
  uint16_t sums[SPAN][LIST_SLOTS + 4]; /* STEREO_INVALID where there is no candidate; then a gap, which spreads pixels over banks */
  uint32_t keys[SPAN];                 /* of lowest_two() */
};

/* The same of pixel @x of the tile. */
static __device__ __forceinline__ Pixel
moved_to (const Frame &f, const Pixel &at, int x)
{
  return { x, at.lane, stereo_first_index (x, f.width, f.min_disparity),
    stereo_last_index (x, f.disparities, f.min_disparity), at.head, at.groups };
}

/* What a lane knows of pixel @x. */
static __device__ __forceinline__ Pixel
pixel_at (const Frame &f, const ListPaths &p, int x, int tile)
{
  int lane = threadIdx.x % LANES;
  const uint16_t *groups = p.lists.groups + tile * LIST_GROUPS + lane;
  return moved_to (f, { x, lane, 0, 0, p.links[tile].head, groups[0] | (uint32_t) groups[LIST_FEW] << 16 }, x);
}

/* Sums and lowest keys of a warp's pixels, the ones from @first on of the span at @x0; their right pixels. */
template <bool MANY, bool COARSE> static __device__ __forceinline__ void
sum_pixels (const Frame &f, const Pixel &at, const Costs &costs, int x0, int first, Span &span, uint32_t *right)
{
  int pixel = first + (int) (threadIdx.x % 32 / LANES);
  uint32_t sums[4] = { ~0u, ~0u, ~0u, ~0u };

  add_paths<MANY> (at, costs, sums);
  if (!COARSE) {
    ((uint2 *) span.sums[pixel])[at.lane] = make_uint2 (sums[0], sums[1]);
    ((uint2 *) span.sums[pixel])[at.lane + LIST_FEW] = make_uint2 (sums[2], sums[3]);
  }
  uint32_t keys = lowest_two<MANY> (at, sums);
  if (at.lane == 0)
    span.keys[pixel] = keys;
  if (COARSE || x0 + pixel >= f.width)
    return;
  if (at.head & LIST_EDGE)
    offer_right<MANY, true> (f, at, sums, right);
  else
    offer_right<MANY, false> (f, at, sums, right);
}

/* Stores what is known of left pixel @x, the one @pixel of the span. */
template <bool COARSE> static __device__ __forceinline__ void
store_left (const Frame &f, const ListPaths &p, int x, int y, int pixel, const Span &span)
{
  uint32_t keys = span.keys[pixel], low = keys & 0xFFFF, next = keys >> 16;
  int tile = y / LIST_TILE * p.lists.columns + x / LIST_TILE, slot = (int) (low & 31);
  size_t map = (size_t) y * f.map_pitch + x;
  const StereoView &view = f.view[STEREO_LEFT];
  bool none = low == NONE;
  int index = none ? (int) STEREO_INVALID :
                     p.lists.groups[tile * LIST_GROUPS + slot / STEREO_GROUP] * STEREO_GROUP + slot % STEREO_GROUP;
  float whole = (float) (f.min_disparity + index);

  view.index[map] = (uint16_t) index;
  if (COARSE)
    return;
  view.confidence[map] = next == NONE ? 0.0f : stereo_confidence (low >> 5, next >> 5);
  f.disparity[map] = none ?
      NAN :
      whole + (p.subpixel ? offset_of (f, p.links[tile].head, span.sums[pixel], slot, index) : 0.0f);
}

/* The distinctness of the span's cells, four lanes a cell. */
static __device__ __forceinline__ void
store_cells (const Frame &f, const ListPaths &p, int x0, int y, const Span &span)
{
  int cell = (x0 + (int) (threadIdx.x % 32)) / STEREO_CELL, cells = stereo_cells (f.width);
  int x = stereo_cell_pixel (min (cell, cells - 1), f.width), tile = y / LIST_TILE * p.lists.columns + x / LIST_TILE;
  uint32_t low = span.keys[x % SPAN] & 0xFFFF, slot = low & 31;
  int index = low == NONE ?
      (int) STEREO_INVALID :
      (int) (p.lists.groups[tile * LIST_GROUPS + slot / STEREO_GROUP] * STEREO_GROUP + slot % STEREO_GROUP);
  Pixel at = pixel_at (f, p, x, tile);
  int before = list_costs (f, p.lists, x, y)[slot];
  uint32_t value = distinctness_of (at, span.sums[x % SPAN], index, low >> 5, before, p.lists.chance);

  if (at.lane == 0 && cell < cells)
    p.distinctness[(size_t) (y / STEREO_CELL) * cells + cell] = (uint8_t) value;
}

/* The span of pixels from @x0 on, by a warp. All costs of a tile are loaded at once, and meanwhile what is known of the next tile. */
template <bool COARSE> static __device__ __forceinline__ void
pick_span (const Frame &f, const ListPaths &p, int x0, int y, Span &span, uint32_t *right, bool cells)
{
  const int TURNS = LIST_TILE / PIXELS;
  int lane = threadIdx.x % 32, row = y / LIST_TILE * p.lists.columns;
  Pixel next = pixel_at (f, p, x0, row + x0 / LIST_TILE);

  __syncwarp ();
  for (int first = 0; first < SPAN && x0 + first < f.width; first += LIST_TILE) {
    Pixel at[TURNS];
    Costs costs[TURNS];
#pragma unroll
    for (int k = 0; k < TURNS; k++) {
      at[k] = moved_to (f, next, min (x0 + first + k * PIXELS + lane / LANES, f.width - 1));
      costs[k] = load_costs (f, p, at[k], y, row + (x0 + first) / LIST_TILE);
    }
    int beside = min (x0 + first + LIST_TILE, f.width - 1);
    next = pixel_at (f, p, beside, row + beside / LIST_TILE);
#pragma unroll
    for (int k = 0; k < TURNS; k++)
      if (has_many (at[k].head))
        sum_pixels<true, COARSE> (f, at[k], costs[k], x0, first + k * PIXELS, span, right);
      else
        sum_pixels<false, COARSE> (f, at[k], costs[k], x0, first + k * PIXELS, span, right);
  }
  __syncwarp ();
  if (x0 + lane < f.width)
    store_left<COARSE> (f, p, x0 + lane, y, lane, span);
  if (cells)
    store_cells (f, p, x0, y, span);
}

/*
 * Block: a row. Four lanes have a pixel, 4 or 8 slots a lane, and a warp has neighbouring pixels, whose costs and added costs lie side
 * by side. The sums of a span are in shared memory until a lane stores a pixel each; so are the right pixels of the row, each the
 * lowest of sum << 16 | index so far. COARSE: a coarser level, of which only the left index is read.
 */
template <bool COARSE> static __global__ void __launch_bounds__ (32 * WARPS, BLOCKS)
    list_winners_kernel (const __grid_constant__ Frame f, const __grid_constant__ ListPaths p)
{
  extern __shared__ uint32_t right[];
  __shared__ Span spans[WARPS];
  int y = p.first_row * LIST_TILE + blockIdx.x, warp = threadIdx.x / 32, threads = blockDim.x;
  bool cells = p.distinctness && y == stereo_cell_pixel (y / STEREO_CELL, f.height);
  uint16_t *index = f.view[STEREO_RIGHT].index + (size_t) y * f.map_pitch;

  for (int x = threadIdx.x; !COARSE && x < f.width; x += threads)
    right[x] = ~0u;
  __syncthreads ();
  for (int x0 = warp * SPAN; x0 < f.width; x0 += threads)
    pick_span<COARSE> (f, p, x0, y, spans[warp], right, cells);
  __syncthreads ();
  for (int x = threadIdx.x; !COARSE && x < f.width; x += threads)
    index[x] = right[x] == ~0u ? (uint16_t) STEREO_INVALID : (uint16_t) right[x];
}

}

/* A block has the right pixels of a whole row. Allows the kernel the device's limit, not this plan's need: plans share the kernel. */
StereoStatus
list_winners_prepare (StereoPlan *plan, StereoError *error)
{
  int most = cuda_state (plan)->shared_per_block - (int) sizeof (Span) * WARPS, columns = most / (int) sizeof (uint32_t);

  if (!plan->is_coarse && plan->width > columns)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "search=coarse-to-fine takes views of at most %d columns on this GPU, and these have %d: set "
        "search=full, or backend=cpu.",
        columns, plan->width);
  CUDA_TRY (cudaFuncSetAttribute (list_winners_kernel<false>, cudaFuncAttributeMaxDynamicSharedMemorySize, most));
  return STEREO_OK;
}

StereoStatus
list_winners (StereoPlan *plan, const ListPaths &paths, cudaStream_t stream, StereoError *error)
{
  int rows = std::min (paths.end_row * LIST_TILE, plan->height) - paths.first_row * LIST_TILE;
  int spans = (int) cuda_blocks (plan->width, SPAN), turns = (spans + WARPS - 1) / WARPS;
  int threads = 32 * ((spans + turns - 1) / turns); /* all warps have as many spans */

  if (plan->is_coarse)
    list_winners_kernel<true><<<rows, threads, 0, stream>>> (cuda_frame (plan), paths);
  else
    list_winners_kernel<false><<<rows, threads, plan->width * sizeof (uint32_t), stream>>> (cuda_frame (plan), paths);
  CUDA_LAUNCHED (plan, "list_winners_kernel");
  return STEREO_OK;
}
