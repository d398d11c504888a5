/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Costs `mixed` of all pixels and candidates. What a cost takes besides the differences themselves is done for two or four
 * candidates in a word: see stereo_mixed_part(), whose constants these are, for the formula.
 */
#include "cuda/cost.cuh"
#include "cuda/sgm/paths.cuh"

namespace
{

constexpr int THREADS = 128;
constexpr int COLUMNS = 128; /* of a block */
constexpr int SIDE = 4;      /* left pixels of a thread at a time */
constexpr int CHUNK = 16;    /* candidates of a thread at a time */
constexpr int VECTORS = 5;   /* of four right pixels, that these reach */
constexpr int BATCH = 2;     /* right pixels that a thread copies at a time */

/* What the kernel reads and writes. */
struct MixedCosts
{
  StereoView left, right;
  uint8_t *costs; /* [y][x][i] */
  int width, image_pitch, min_disparity, disparities, depth;
  int vectors; /* of four right pixels, that a block reads: a multiple of BATCH * THREADS pixels */
};

/* Where a vector of four pixels is in shared memory. Threads with neighbouring chunks read every fourth vector: a gap after
 * each fourth puts these into different banks. */
__device__ __host__ __forceinline__ constexpr uint32_t
vector_place (uint32_t vector)
{
  return vector + vector / 4;
}

/* A block's right pixels in shared memory. */
struct RightPixels
{
  uint4 *census, *color;
  uint2 *gradient; /* half floats */
};

/* Copies right pixels from column @first on; those outside the picture are copies of the ones at its ends. */
__device__ __forceinline__ void
load_right (const MixedCosts &c, const RightPixels &to, int first)
{
  ptrdiff_t row = (ptrdiff_t) blockIdx.y * c.image_pitch;

#pragma unroll 1
  for (int n0 = threadIdx.x; n0 < 4 * c.vectors; n0 += BATCH * THREADS) {
    uint32_t census[BATCH], color[BATCH];
    int16_t gradient[BATCH];
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      ptrdiff_t from = row + min (max (first + n0 + k * THREADS, 0), c.width - 1);
      census[k] = ((const uint32_t *) c.right.census)[from];
      color[k] = c.right.color[from];
      gradient[k] = c.right.gradient[from];
    }
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      uint32_t n = n0 + k * THREADS, place = 4 * vector_place (n / 4) + n % 4;
      ((uint32_t *) to.census)[place] = census[k];
      ((uint32_t *) to.color)[place] = color[k];
      ((__half *) to.gradient)[place] = __short2half_rn (gradient[k]);
    }
  }
}

/* The word of a vector that @index, which is a constant, names. */
__device__ __forceinline__ uint32_t
word_of (const uint4 &v, int index)
{
  return index == 0 ? v.x : index == 1 ? v.y : index == 2 ? v.z : v.w;
}

/* Two sums of absolute differences of colours as what they add to costs, in the upper bytes of the halves:
 * ((min (sad, 60) * 17 + 32) >> 6) << 8. */
__device__ __forceinline__ uint32_t
color_parts (uint32_t left, uint32_t right0, uint32_t right1)
{
  return __vminu2 (pack_shorts (__vsadu4 (left, right0), __vsadu4 (left, right1)), 0x003C003C) * 68 + 0x00800080;
}

/* What two differences of gradients add to costs, 2 * min (|difference|, 10), in the lower bytes of the halves: bits of half
 * floats from 1024 on. */
__device__ __forceinline__ uint32_t
gradient_parts (__half2 left, uint32_t right)
{
  __half2 slope = __hmin2 (__habs2 (__hsub2 (left, halves_of (right))), halves_of (0x49004900));
  return bits_of (__hfma2 (slope, halves_of (0x40004000), halves_of (0x64006400)));
}

/* Adds the parts of colours to the costs of SIDE left pixels by CHUNK candidates, four candidates in a word. @right: from
 * that of the last left pixel at the first candidate. */
__device__ __forceinline__ void
add_colors (uint32_t (&costs)[SIDE][CHUNK / 4], const uint4 &left, const uint32_t (&right)[4 * VECTORS])
{
#pragma unroll
  for (int k = 0; k < SIDE; k++)
#pragma unroll
    for (int n = 0; n < CHUNK / 4; n++) {
      const uint32_t *r = right + SIDE - 1 - k + 4 * n;
      uint32_t own = word_of (left, k);
      costs[k][n] += __byte_perm (color_parts (own, r[0], r[1]), color_parts (own, r[2], r[3]), 0x7531);
    }
}

/* The same for gradients. @right: two in a word. */
__device__ __forceinline__ void
add_gradients (uint32_t (&costs)[SIDE][CHUNK / 4], const short4 &left, const uint32_t (&right)[2 * VECTORS])
{
  const __half2 own[SIDE] = { __half2half2 (__short2half_rn (left.x)), __half2half2 (__short2half_rn (left.y)),
    __half2half2 (__short2half_rn (left.z)), __half2half2 (__short2half_rn (left.w)) };

#pragma unroll
  for (int k = 0; k < SIDE; k++)
#pragma unroll
    for (int n = 0; n < CHUNK / 4; n++) {
      int at = SIDE - 1 - k + 4 * n;
      const uint32_t *r = right + at / 2;
      uint32_t low = at % 2 ? __byte_perm (r[0], r[1], 0x5432) : r[0];
      uint32_t high = at % 2 ? __byte_perm (r[1], r[2], 0x5432) : r[1];
      costs[k][n] += __byte_perm (gradient_parts (own[k], low), gradient_parts (own[k], high), 0x6420);
    }
}

/* The same for the census: four steps a bit. */
__device__ __forceinline__ void
add_census (uint32_t (&costs)[SIDE][CHUNK / 4], const uint4 &left, const uint32_t (&right)[4 * VECTORS])
{
#pragma unroll
  for (int k = 0; k < SIDE; k++)
#pragma unroll
    for (int n = 0; n < CHUNK / 4; n++)
#pragma unroll
      for (int b = 0; b < 4; b++)
        costs[k][n] += (uint32_t) __popc (word_of (left, k) ^ right[SIDE - 1 - k + 4 * n + b]) * (4u << 8 * b);
}

__device__ __forceinline__ void
load_vectors (uint32_t (&words)[4 * VECTORS], const uint4 *from, uint32_t vector)
{
#pragma unroll
  for (int k = 0; k < VECTORS; k++) {
    uint4 v = from[vector_place (vector + k)];
#pragma unroll
    for (int n = 0; n < 4; n++)
      words[4 * k + n] = word_of (v, n);
  }
}

/* The costs of SIDE left pixels from column @x, a multiple of SIDE, by CHUNK candidates. @vector: of the right pixels. */
__device__ __forceinline__ void
find_costs (uint32_t (&costs)[SIDE][CHUNK / 4], const MixedCosts &c, const RightPixels &right, int x, uint32_t vector)
{
  ptrdiff_t left = (ptrdiff_t) blockIdx.y * c.image_pitch + x;
  uint32_t words[4 * VECTORS], halves[2 * VECTORS];

#pragma unroll
  for (int k = 0; k < SIDE; k++)
#pragma unroll
    for (int n = 0; n < CHUNK / 4; n++)
      costs[k][n] = 0;
  load_vectors (words, right.color, vector);
  add_colors (costs, *(const uint4 *) (c.left.color + left), words);
#pragma unroll
  for (int k = 0; k < VECTORS; k++) {
    uint2 v = right.gradient[vector_place (vector + k)];
    halves[2 * k] = v.x;
    halves[2 * k + 1] = v.y;
  }
  add_gradients (costs, *(const short4 *) (c.left.gradient + left), halves);
  load_vectors (words, right.census, vector);
  add_census (costs, *(const uint4 *) ((const uint32_t *) c.left.census + left), words);
}

/* Bits of bytes @from to @to - 1 of a word; either may be outside of it. */
__device__ __forceinline__ uint32_t
some_bytes (int from, int to)
{
  uint32_t below = from <= 0 ? 0 : from >= 4 ? ~0u : (1u << 8 * from) - 1;
  uint32_t upto = to <= 0 ? 0 : to >= 4 ? ~0u : (1u << 8 * to) - 1;
  return upto & ~below;
}

/*
 * Block: COLUMNS left pixels of a row, by all candidates; blockIdx.y: the row. Thread: SIDE left pixels by CHUNK candidates
 * at a time, whose right pixels are five vectors of four. Shared memory: the right pixels, each feature by itself.
 * Neighbouring threads write neighbouring chunks. A candidate that does not exist gets the cost 0.
 */
__global__ void
__launch_bounds__ (THREADS, 8) mixed_cost_kernel (MixedCosts c)
{
  extern __shared__ uint4 shared_pixels[];
  uint32_t vectors = vector_place (c.vectors), chunks = c.depth / CHUNK;
  int x0 = blockIdx.x * COLUMNS;
  RightPixels right = { shared_pixels, shared_pixels + vectors, (uint2 *) (shared_pixels + 2 * vectors) };
  int partner = c.width - 1 + c.min_disparity; /* of column 0 at the first candidate */

  load_right (c, right, partner - x0 - (COLUMNS - 1));
  __syncthreads ();
  for (uint32_t item = threadIdx.x; item < COLUMNS / SIDE * chunks; item += THREADS) {
    int column = (int) (item / chunks) * SIDE, i = (int) (item % chunks) * CHUNK, x = x0 + column, at = partner - x + i;
    uint32_t costs[SIDE][CHUNK / 4];
    if (x >= c.width)
      break;
    find_costs (costs, c, right, x, (COLUMNS - SIDE - column + i) / 4);
    bool all = at - (SIDE - 1) >= 0 && at + CHUNK <= c.width && i + CHUNK <= c.disparities;
    uint8_t *to = c.costs + ((ptrdiff_t) blockIdx.y * c.width + x) * c.depth + i;
#pragma unroll
    for (int k = 0; k < SIDE; k++, to += c.depth) {
      if (x + k >= c.width)
        break;
      if (!all)
#pragma unroll
        for (int n = 0; n < CHUNK / 4; n++)
          costs[k][n] &= some_bytes (k - at - 4 * n, min (c.width + k - at, c.disparities - i) - 4 * n);
      *(uint4 *) to = make_uint4 (costs[k][0], costs[k][1], costs[k][2], costs[k][3]);
    }
  }
}

}

StereoStatus
sgm_make_mixed_costs (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  int batches = (int) cuda_blocks (COLUMNS - SIDE + s.depth + 4, BATCH * THREADS);
  MixedCosts c = { plan->view[STEREO_LEFT], plan->view[STEREO_RIGHT], s.costs, s.width, plan->image_pitch,
    s.min_disparity, s.disparities, s.depth, batches * BATCH * THREADS / 4 };
  size_t shared = (sizeof (uint4) * 2 + sizeof (uint2)) * (size_t) vector_place (c.vectors); /* at most 16 KiB */
  mixed_cost_kernel<<<dim3 (cuda_blocks (s.width, COLUMNS), s.height), THREADS, shared, cuda_state (plan)->stream>>> (c);
  CUDA_LAUNCHED (plan, "mixed_cost_kernel");
  return STEREO_OK;
}
