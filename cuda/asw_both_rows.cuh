/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Along the rows, support=both: what a block keeps in shared memory, and how it comes there. See asw_both_rows.cu. */
#ifndef STEREO_CUDA_ASW_BOTH_ROWS_CUH
#define STEREO_CUDA_ASW_BOTH_ROWS_CUH

#include "cuda/asw_both.cuh"

#define TX 32             /* columns of a step: a warp has all of them, and 32 indices */
#ifndef BOTH_ROWS_THREADS /* of a multiprocessor: 480 leaves them 136 registers, 320 some 200 */
#define BOTH_ROWS_THREADS 480
#endif

#ifndef BOTH_ROWS_UNROLL
#define BOTH_ROWS_UNROLL 2 /* classes */
#endif

/* The taps of a window: @quads times 32 (the last may lack some, whose weights are 0), @duos times 16, @singles. */
struct Taps {
  int quads, duos, singles;

  __host__ __device__ explicit Taps (int radius)
  {
    int left = 2 * radius + 1;
    quads = (left + 7) / 32;
    left = left > 32 * quads ? left - 32 * quads : 0;
    duos = left > 8;
    singles = left > 16 * duos ? left - 16 * duos : 0;
  }

  __host__ __device__ int
  count () const
  {
    return 32 * quads + 16 * duos + singles;
  }

  /* Taps before the class of tap @k, the class' size, and which of it @k is. */
  __device__ __forceinline__ void
  place (int k, int *before, int *size, int *which) const
  {
    int rest = k - 32 * quads;
    bool quad = rest < 0, duo = !quad && rest < 16 * duos;
    *size = quad ? 4 : duo ? 2 : 1;
    *which = quad ? k >> 3 & 3 : duo ? rest >> 3 : 0;
    *before = quad ? (k & ~31) + 4 * (k & 7) : duo ? 32 * quads + 2 * (rest & 7) : k;
  }
};

/* Where a block keeps what. Costs: a ring of columns. Right weights: a word for a tap and a v, which has those of v and
 * v + 1, a ring over v, class by class. Left weights: halves, class by class. Steps on their way out, by warp. */
template <int TI> struct Shared {
  static constexpr int pitch = TI + 8; /* halves of a column of costs: other banks for the next one */
  static constexpr int ring = TX + TI; /* of v */
  static constexpr int out_pitch = 40, out = TX * out_pitch;

  static __host__ __device__ int
  blocks (int radius) /* of TX columns: those in reach and one on its way */
  {
    return (2 * radius + 1 + 2 * TX - 2) / TX + 1;
  }

  static size_t
  bytes (int radius)
  {
    return sizeof (__half) *
           (size_t) (blocks (radius) * TX * pitch + TI / 32 * out + Taps (radius).count () * (2 * ring + TX));
  }
};

template <int TI>
__device__ __forceinline__ int
ring_slot (int slot)
{
  return slot < Shared<TI>::ring ? slot : slot - Shared<TI>::ring;
}

/* ---- weights ------------------------------------------------------------------------------------ */

/* Weight of pixel @p of a row, of colour @centre, to tap number @k, which lies k - radius after it, or before it in
 * the mirrored view: @step. 0 where either is outside. */
__device__ __forceinline__ float
tap_weight (const uint32_t *color, uint32_t centre, int p, int step, int k, int width, AswWindow w)
{
  int tap = p + step * (k - w.radius);
  bool valid = (unsigned) p < (unsigned) width && (unsigned) tap < (unsigned) width;
  float weight = cuda_weight (centre, color[valid ? tap : 0], w.color, (float) abs (k - w.radius) * w.distance);
  return valid ? weight : 0;
}

/* The step's left weights: a lane has a column. */
template <int TI>
__device__ __forceinline__ void
make_left (__half *left, const uint32_t *color, int x, int width, Taps taps, AswWindow w)
{
  uint32_t centre = color[x < width ? x : 0];
#pragma unroll 4
  for (int k = threadIdx.x / 32; k <= 2 * w.radius; k += TI / 32) {
    int before, size, which;
    taps.place (k, &before, &size, &which);
    left[before * TX + (threadIdx.x & 31) * size + which] =
        __float2half_rn (tap_weight (color, centre, x, 1, k, width, w));
  }
}

/* Right weights of 32 partners, from slot @slot of the ring on: a lane has partner @p, which falls from lane to lane.
 * The last one's neighbour comes with the next 32. */
template <int TI>
__device__ __forceinline__ void
make_right (uint32_t *right, const uint32_t *color, int p, int slot, int width, Taps taps, AswWindow w)
{
  typedef Shared<TI> S;
  int lane = threadIdx.x & 31;
  uint32_t centre = color[(unsigned) p < (unsigned) width ? p : 0];
#pragma unroll 4
  for (int k = threadIdx.x / 32; k <= 2 * w.radius; k += TI / 32) {
    int before, size, which;
    taps.place (k, &before, &size, &which);
    float weight = tap_weight (color, centre, p, -1, k, width, w);
    uint32_t *words = right + before * S::ring + which;
    words[(slot + lane) * size] = pack_halves (weight, __shfl_down_sync (~0u, weight, 1));
    if (lane == 0)
      ((__half *) (words + (slot ? slot - 1 : S::ring - 1) * size))[1] = __float2half_rn (weight);
  }
}

/* ---- costs --------------------------------------------------------------------------------------- */

/* Of eight halves those from @first to @last, and 0. */
__device__ __noinline__ uint4
keep_range (uint4 eight, int first, int last)
{
  uint32_t word[4] = { eight.x, eight.y, eight.z, eight.w };
#pragma unroll
  for (int b = 0; b < 8; b++)
    if (b < first || b > last)
      word[b / 2] &= b % 2 ? 0xFFFFu : 0xFFFF0000u;
  return make_uint4 (word[0], word[1], word[2], word[3]);
}

/* Costs of TX columns from @from on, into their block of the ring; 0 where there is no partner, and nobody wrote one.
 */
template <int TI>
__device__ __forceinline__ void
load_costs (__half *block, const Frame &f, size_t volume_row, int from, int i0)
{
  int c = threadIdx.x / (TI / 8), i = i0 + threadIdx.x % (TI / 8) * 8;
#pragma unroll
  for (int n = 0; n < TX; n += 8) {
    int x = from + c + n;
    const uint16_t *costs = f.volume + ((ptrdiff_t) volume_row + x) * f.depth + i;
    __half *to = block + (c + n) * Shared<TI>::pitch + i - i0;
    int first = max (x - f.width + 1 - f.min_disparity, 0) - i, last = min (x - f.min_disparity, f.depth - 1) - i;
    bool there = (unsigned) x < (unsigned) f.width && first <= 7 && last >= 0;
    if (there && (first > 0 || last < 7))
      *(uint4 *) to = keep_range (*(const uint4 *) costs, first, last);
    else
      copy_ahead (to, there ? costs : f.volume, there);
  }
}

/* Four tiles of 8 columns by 8 indices, of which this lane has @row's address of one; so that a lane gets, of index
 * lane / 4, columns 2 (lane % 4) and the next. */
__device__ __forceinline__ void
load_transposed (uint32_t (&tile)[4], const __half *row)
{
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(tile[0]), "=r"(tile[1]), "=r"(tile[2]), "=r"(tile[3])
               : "r"(shared_address (row))
               : "memory");
}

#endif
