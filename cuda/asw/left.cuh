/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A line of support weights times the costs along it, as a banded matrix product on the tensor cores (mma.cuh).
 *
 * D (16 pixels by 8 disparity indices) is the sum, over the tiles in reach, of A (weights: 16 pixels by 16 taps) times
 * B (costs: 16 taps by 8 indices). A window of up to 33 pixels reaches TAP_TILES = 3 tiles of 16 taps, one of up to 65
 * TAP_TILES = 5. One of up to 17 takes TAP_TILES = 2: the tile itself, and a tile made of the halves beside it, whose lanes with t < 2
 * have the first taps of the next tile and the others the last taps of the previous one. A warp has INDEX_TILES products,
 * k = 0..3, with the same A: its 32 indices.
 *
 * Neighbouring taps in memory are neighbouring registers of a lane. Lane 4 g + t holds:
 *
 *             A (weights): taps       B (costs) of product k: index     D of product k: index
 *             4t,4t+1   4t+2,4t+3                         4 g + k                   8 t + k    8 t + 4 + k
 *   pixel g     a.x       a.z         taps 4t,4t+1          b0          pixel g    sum[k][0]    sum[k][1]
 *   pixel g+8   a.y       a.w         taps 4t+2,4t+3        b1          pixel g+8  sum[k][2]    sum[k][3]
 *
 * A lane's sums are then those of 8 neighbouring indices, 8 t..8 t + 7: see gather_row().
 */
#include "cuda/async_copy.cuh"
#include "cuda/asw/mma.cuh"
#include "cuda/asw/weights.cuh"

#include <algorithm>

namespace
{

constexpr int TILE_PIXELS = 16; /* of a tile of weights, and taps of it */
constexpr int INDEX_TILES = 4;  /* of 8 disparity indices, a warp */
constexpr int WARP_INDICES = 8 * INDEX_TILES;

template <int TAP_TILES> constexpr int SIDE = TAP_TILES == 5 ? 2 : 1; /* tiles in reach before a tile, and behind it */
template <int TAP_TILES> constexpr int SLOTS = 2 * SIDE<TAP_TILES> + 1; /* all tiles in reach */

/* Where the taps of a lane in tap tile @tap_tile are: tiles from the tile of the pixels on. */
template <int TAP_TILES> __device__ __forceinline__ int
tile_of_taps (int tap_tile, int lane)
{
  if (TAP_TILES == 2)
    return tap_tile == 0 ? 0 : lane & 2 ? -1 : 1;
  return tap_tile - SIDE<TAP_TILES>;
}

/* ---- weights ------------------------------------------------------------------------------------ */

constexpr int LINE_TILES = 8; /* tiles of colours in shared memory: at least SLOTS and those copied ahead; a power of two */

/* A line of pixels that a pass runs along, in shared memory: the weights of the current tile and of the next one, as
 * the lanes' registers of A; and colours, those of tile n at color + n % LINE_TILES * pitch. */
template <int TAP_TILES> struct Line
{
  uint4 (*weights)[TAP_TILES * 32];
  const uint32_t *color;
  int pitch, length;
};

/* Distance terms of the exponents of every lane's weights, the same for all tiles; minus infinity outside the
 * window. */
template <int TAP_TILES> struct Distances
{
  float4 of[TAP_TILES * 32][2];
};

/* Called by all @threads of the block. */
template <int TAP_TILES> __device__ __forceinline__ void
make_distances (Distances<TAP_TILES> &distances, AswWindow w, int thread, int threads)
{
  for (int e = thread; e < TAP_TILES * 32 * 8; e += threads) {
    int lane = e >> 3 & 31, row = (lane >> 2) + 2 * (e & 4);
    int away = abs (tile_of_taps<TAP_TILES> (e >> 8, lane) * TILE_PIXELS + 4 * (lane & 3) + (e & 3) - row);
    ((float *) distances.of)[e] = away <= w.radius ? w.distance * (float) away : -INFINITY;
  }
}

/* Minus infinity for the taps first..first + 3 that are not on the line. */
__device__ __forceinline__ void
cut (float4 &d, int first, int length)
{
  d.x = (unsigned) first < (unsigned) length ? d.x : -INFINITY;
  d.y = (unsigned) (first + 1) < (unsigned) length ? d.y : -INFINITY;
  d.z = (unsigned) (first + 2) < (unsigned) length ? d.z : -INFINITY;
  d.w = (unsigned) (first + 3) < (unsigned) length ? d.w : -INFINITY;
}

/* By a warp: the weights of the pixels of tile @tile for the taps of a tap tile. */
template <int TAP_TILES> __device__ __forceinline__ void
make_weights (const Line<TAP_TILES> &line, const Distances<TAP_TILES> &distances, int tile, int tap_tile, AswWindow w)
{
  int lane = threadIdx.x & 31, other = tile + tile_of_taps<TAP_TILES> (tap_tile, lane), first = 4 * (lane & 3);
  const uint32_t *centre = line.color + tile % LINE_TILES * line.pitch;
  uint32_t p = centre[lane >> 2], q = centre[(lane >> 2) + 8];
  uint4 taps = *(const uint4 *) (line.color + (unsigned) other % LINE_TILES * line.pitch + first);
  float4 d = distances.of[tap_tile * 32 + lane][0], e = distances.of[tap_tile * 32 + lane][1];

  if (other < 0 || (other + 1) * TILE_PIXELS > line.length) {
    cut (d, other * TILE_PIXELS + first, line.length);
    cut (e, other * TILE_PIXELS + first, line.length);
  }
  line.weights[tile & 1][tap_tile * 32 + lane] = make_uint4 (
      pack_halves (cuda_weight (p, taps.x, w.color, d.x), cuda_weight (p, taps.y, w.color, d.y)),
      pack_halves (cuda_weight (q, taps.x, w.color, e.x), cuda_weight (q, taps.y, w.color, e.y)),
      pack_halves (cuda_weight (p, taps.z, w.color, d.z), cuda_weight (p, taps.w, w.color, d.w)),
      pack_halves (cuda_weight (q, taps.z, w.color, e.z), cuda_weight (q, taps.w, w.color, e.w)));
}

/* The warps of a line take turns: turn TAP_TILES * tile + tap_tile makes one tile of weights. @turn: this warp's next
 * turn. */
template <int TAP_TILES> __device__ __forceinline__ void
share_weights (const Line<TAP_TILES> &line, const Distances<TAP_TILES> &distances, int tile, int &turn, AswWindow w)
{
  for (; turn < TAP_TILES * (tile + 1); turn += blockDim.x >> 5)
    make_weights<TAP_TILES> (line, distances, tile, turn - TAP_TILES * tile, w);
}

template <int TAP_TILES> __device__ __forceinline__ void
load_weights (uint4 (&a)[TAP_TILES], const Line<TAP_TILES> &line, int tile)
{
#pragma unroll
  for (int tap_tile = 0; tap_tile < TAP_TILES; tap_tile++)
    a[tap_tile] = line.weights[tile & 1][tap_tile * 32 + (threadIdx.x & 31)];
}

/* Sums of the weights of pixel g, in sum[0], and of pixel g + 8, in sum[2]: a product with ones. */
template <int TAP_TILES> __device__ __forceinline__ void
sum_weights (float (&sum)[4], const uint4 (&a)[TAP_TILES])
{
  const uint32_t ones = 0x3C003C00u;
#pragma unroll
  for (int tap_tile = 0; tap_tile < TAP_TILES; tap_tile++)
    multiply (sum, a[tap_tile], ones, ones, tap_tile == 0);
}

/* ---- costs --------------------------------------------------------------------------------------- */

/* The registers of B of the tiles in reach. Tile n is in slot n % SLOTS: the loop over tiles, unrolled SLOTS times,
 * then moves no registers. */
template <int TAP_TILES> struct Ring
{
  uint32_t costs[SLOTS<TAP_TILES>][INDEX_TILES][2];
};

template <int TAP_TILES> __device__ __forceinline__ void
clear_ring (Ring<TAP_TILES> &ring)
{
#pragma unroll
  for (int s = 0; s < SLOTS<TAP_TILES>; s++)
#pragma unroll
    for (int k = 0; k < INDEX_TILES; k++)
      ring.costs[s][k][0] = ring.costs[s][k][1] = 0;
}

/* The register of B of half @half of a lane's taps in tap tile @tap_tile, for product @k. @step: the number of the tile modulo
 * SLOTS, a constant once the loop is unrolled. */
template <int TAP_TILES> __device__ __forceinline__ uint32_t
costs_of_taps (const Ring<TAP_TILES> &ring, int step, int tap_tile, int k, int half)
{
  const int ALL = SLOTS<TAP_TILES>;
  if (TAP_TILES == 2 && tap_tile == 1) {
    uint32_t next = ring.costs[(step + 1) % ALL][k][half], before = ring.costs[(step + ALL - 1) % ALL][k][half];
    return threadIdx.x & 2 ? before : next;
  }
  return ring.costs[(step + (TAP_TILES == 2 ? 0 : tap_tile - SIDE<TAP_TILES>) +ALL) % ALL][k][half];
}

template <int TAP_TILES> __device__ __forceinline__ void
multiply_band (float (&sum)[INDEX_TILES][4], const uint4 (&a)[TAP_TILES], const Ring<TAP_TILES> &ring, int step)
{
#pragma unroll
  for (int tap_tile = 0; tap_tile < TAP_TILES; tap_tile++)
#pragma unroll
    for (int k = 0; k < INDEX_TILES; k++)
      multiply (sum[k], a[tap_tile], costs_of_taps (ring, step, tap_tile, k, 0),
          costs_of_taps (ring, step, tap_tile, k, 1), tap_tile == 0);
}

/* The lane's sums of pixel g + 8 r as four words of two neighbouring indices each. @convert gets two sums and the
 * number of the first one among the 8. */
template <typename Convert> __device__ __forceinline__ uint4
gather_row (const float (&sum)[INDEX_TILES][4], int r, Convert convert)
{
  uint32_t words[INDEX_TILES];
#pragma unroll
  for (int e = 0; e < 2; e++)
#pragma unroll
    for (int k = 0; k < INDEX_TILES; k += 2)
      words[(e * INDEX_TILES + k) / 2] = convert (sum[k][2 * r + e], sum[k + 1][2 * r + e], e * INDEX_TILES + k);
  return make_uint4 (words[0], words[1], words[2], words[3]);
}

}

/* The two passes of support=left, each in a file of its own: see left_rows.cu. */

/* Scratch memory and launch settings of the stage. */
struct AswLeftContext
{
  uint8_t *records[2]; /* features of both views, column by column: see left_columns.cu */
  uint32_t *color;     /* what weights compare of the left view, in the same order */
  int strip;           /* of the first pass, tiles */
};

/* Costs as paths read them, in place of the volume, which need not be written and read for that alone: what stereo_path_cost()
 * needs, for two costs in a word. */
struct PathCosts
{
  uint8_t *costs;      /* [y][x][i]; NULL: no paths follow, or they read the volume */
  uint32_t most, half; /* steps that make the largest byte, or the largest that half can be added to; half a byte step */
  uint32_t kept;       /* bits of a byte: with a shift of more than 8, the other cost of a word comes near */
  int shift;
};

StereoStatus asw_left_columns_prepare (StereoPlan *plan, AswLeftContext *context, StereoError *error);
StereoStatus asw_left_columns (StereoPlan *plan, const AswLeftContext *context, StereoError *error);

namespace
{

/* The indices of candidates that exist, of a left column. */
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
  return c.first <= base && c.last >= base + WARP_INDICES - 1;
}

__device__ __forceinline__ bool
has_none (const Candidates &c, int base)
{
  return c.last < base || c.first >= base + WARP_INDICES;
}

/* Clears shared memory that a short line never writes: 0 times any of its values must be 0, and not NaN. */
__device__ __forceinline__ void
clear_stage (uint8_t *stage, int bytes, CopyThreads c)
{
  for (int e = 16 * c.thread; e < bytes; e += 16 * c.threads)
    *(uint4 *) (stage + e) = make_uint4 (0, 0, 0, 0);
  __syncthreads ();
}

/* Shifts that give 0 for 32 and more. */
__device__ __forceinline__ uint32_t
shift_left (uint32_t a, int bits)
{
  uint32_t b;
  asm("shl.b32 %0, %1, %2;" : "=r"(b) : "r"(a), "r"(bits));
  return b;
}

__device__ __forceinline__ uint32_t
shift_right (uint32_t a, int bits)
{
  uint32_t b;
  asm("shr.u32 %0, %1, %2;" : "=r"(b) : "r"(a), "r"(bits));
  return b;
}

/* Half floats of the four columns from @x on: 1 where the candidate of index @i exists, which is from column i + min on and
 * before column i + min + width, else 0. */
__device__ __forceinline__ void
existing (const Frame &f, int x, int i, uint32_t (&ones)[2])
{
  int before = i + f.min_disparity - x, after = 4 - (before + f.width);
#pragma unroll
  for (int h = 0; h < 2; h++)
    ones[h] = shift_left (0x3C003C00u, 16 * max (before - 2 * h, 0)) &
        shift_right (0x3C003C00u, 16 * max (after - 2 * (1 - h), 0));
}

/* Adding 2^23 leaves the rounded number in the low bits. */
__device__ __forceinline__ uint32_t
rounded_bits (float value, float scale)
{
  return __float_as_uint (fmaf (value, scale, 8388608.0f));
}

/* Four words of two costs in volume steps as eight bytes. */
__device__ __forceinline__ uint2
path_bytes (const PathCosts &p, uint4 steps)
{
  uint32_t words[4] = { steps.x, steps.y, steps.z, steps.w };
#pragma unroll
  for (int k = 0; k < 4; k++)
    words[k] = (__vminu2 (words[k], p.most) + p.half) >> p.shift & p.kept;
  return make_uint2 (__byte_perm (words[0], words[1], 0x6420), __byte_perm (words[2], words[3], 0x6420));
}

inline PathCosts
path_costs_of (const StereoPlan *plan, uint8_t *costs)
{
  uint32_t half = 1u << plan->path_shift >> 1, most = std::min (255u << plan->path_shift, 0xFFFFu - half);

  return { costs, 0x10001u * most, 0x10001u * half, 0x10001u * (0xFFFFu >> std::max (plan->path_shift, 8)),
    plan->path_shift };
}

/* How a pass is laid out: @warps of a block share the disparities of a line, @chunks blocks have all of them, and a
 * block has @columns lines. */
struct Layout
{
  int warps, chunks, columns;
};

inline Layout
layout_of (const StereoPlan *plan, int most_warps)
{
  int warps = (int) cuda_blocks (plan->depth, WARP_INDICES), chunks = (warps + most_warps - 1) / most_warps;
  return { (warps + chunks - 1) / chunks, chunks, 1 };
}

/* Tap tiles that windows reach. */
inline int
asw_tap_tiles (const StereoPlan *plan)
{
  int radius = plan->params.window / 2;
  return radius > TILE_PIXELS ? 5 : radius > TILE_PIXELS / 2 ? 3 : 2;
}

/* Tiles of a part of a line, such that a pass takes the least time: @slots blocks run at a time, @blocks have all of the
 * lines, and each part reads, or makes, @side tiles of either neighbour too. */
inline int
asw_left_strip (int tiles, int blocks, int slots, int side)
{
  int best = tiles;
  double least = 1e30;

  for (int strips = 1; strips <= tiles && strips <= 16; strips++) {
    int strip = (tiles + strips - 1) / strips;
    double time = ceil ((double) blocks * strips / (slots > 0 ? slots : 1)) * (strip + side + 0.5);
    if (time < least) {
      least = time;
      best = strip;
    }
  }
  return best;
}

}
