/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Costs of paths: a lane's candidates of a pixel, to and from memory in vectors of up to 16 bytes. In registers they are
 * pairs. */
#include "cuda/common.cuh"
#include "cuda/async_copy.cuh"

namespace
{

/* Bytes of a lane's candidates, as they lie: raw costs, or what paths add. */
template <int PAIRS> struct RawCosts
{
  uint32_t word[(PAIRS + 1) / 2];
};

/*
 * A lane's share of a column: where it begins, and the step to its second half where it has more than 16 candidates.
 * Lanes past the depth, whose candidates are all missing, read the last 16 or fewer that there are, and write nothing.
 */
struct Share
{
  int first, second;
  bool there;
};

template <int PAIRS> __device__ __forceinline__ Share
share_of (int lane, int depth)
{
  int i = lane * PAIRS * 2;
  Share s = { min (i, depth - (PAIRS < 8 ? PAIRS * 2 : 16)), i + 16 < depth ? 16 : 0, i < depth };
  return s;
}

template <int PAIRS> __device__ __forceinline__ void
store_costs (uint8_t *to, const RawCosts<PAIRS> &c, Share share)
{
  if (PAIRS == 2 && share.there)
    *(uint32_t *) to = c.word[0];
  if (PAIRS == 4 && share.there)
    *(uint2 *) to = make_uint2 (c.word[0], c.word[PAIRS > 2]);
#pragma unroll
  for (int k = 0; k + 7 < PAIRS; k += 8)
    if (k ? share.second : share.there)
      *(uint4 *) (to + 2 * k) = make_uint4 (
          c.word[k / 2], c.word[k / 2 + (PAIRS > 2)], c.word[k / 2 + (PAIRS > 4) * 2], c.word[k / 2 + (PAIRS > 6) * 3]);
}

/* Bytes as pairs, times @unit: costs in steps of a path's costs. */
template <int PAIRS> __device__ __forceinline__ void
spread_costs (uint32_t (&cost)[PAIRS], const RawCosts<PAIRS> &raw, uint32_t unit)
{
#pragma unroll
  for (int k = 0; k < PAIRS; k++)
    cost[k] = __byte_perm (raw.word[k / 2], 0, k % 2 ? 0x4342 : 0x4140) * unit;
}

/* Pairs of multiples of 1 << @bits, up to 255 of them, as bytes. */
template <int PAIRS> __device__ __forceinline__ void
gather_bytes (RawCosts<PAIRS> &bytes, const uint32_t (&pairs)[PAIRS], int bits)
{
#pragma unroll
  for (int k = 0; k + 1 < PAIRS; k += 2)
    bytes.word[k / 2] = __byte_perm (pairs[k] >> bits, pairs[k + 1] >> bits, 0x6420);
}

/* In vectors of up to 16 bytes. */
template <int PAIRS> __device__ __forceinline__ void
load_pairs (uint32_t (&pairs)[PAIRS], const void *from)
{
  if (PAIRS == 2) {
    uint2 v = *(const uint2 *) from;
    pairs[0] = v.x;
    pairs[PAIRS > 1] = v.y;
  }
#pragma unroll
  for (int k = 0; k + 3 < PAIRS; k += 4) {
    uint4 v = ((const uint4 *) from)[k / 4];
    pairs[k] = v.x;
    pairs[k + (PAIRS > 1)] = v.y;
    pairs[k + (PAIRS > 2) * 2] = v.z;
    pairs[k + (PAIRS > 2) * 3] = v.w;
  }
}

template <int PAIRS> __device__ __forceinline__ void
store_pairs (void *to, const uint32_t (&pairs)[PAIRS])
{
  if (PAIRS == 2)
    *(uint2 *) to = make_uint2 (pairs[0], pairs[PAIRS > 1]);
#pragma unroll
  for (int k = 0; k + 3 < PAIRS; k += 4)
    ((uint4 *) to)[k / 4] = make_uint4 (
        pairs[k], pairs[k + (PAIRS > 1)], pairs[k + (PAIRS > 2) * 2], pairs[k + (PAIRS > 2) * 3]);
}

/* The same for sums in the volume. */
template <int PAIRS> __device__ __forceinline__ void
store_sums (uint16_t *to, const uint32_t (&sums)[PAIRS], Share share)
{
  if (PAIRS <= 8) {
    if (share.there)
      store_pairs (to, sums);
  } else
#pragma unroll
    for (int k = 0; k < PAIRS; k += 8)
      if (k ? share.second : share.there) {
        uint32_t half[8];
#pragma unroll
        for (int n = 0; n < 8; n++)
          half[n] = sums[k + n];
        store_pairs (to + 2 * k, half);
      }
}

}

/*
 * Costs of paths: what the kernels share. The definition is at the head of stereo/cpu/sgm.c.
 *
 * A group of LANES lanes, a warp or half of one, has the costs of a path at one pixel in registers: 2 * PAIRS
 * neighbouring candidates a lane, two a register. What a step costs besides its candidates is paid once for two paths if
 * a warp has two. @lane is the number in the group.
 * SGM_MISSING is added to candidates that do not exist. They are then never the cheapest predecessor, and nothing
 * overflows (2 * P2 < SGM_MISSING). A path that has had no candidate yet is the same everywhere: its first candidates
 * get L = C. Costs that are added to the sums do not contain SGM_MISSING, because the carry would change the
 * neighbouring candidate.
 */

constexpr uint32_t SGM_MISSING = 0x80008000u;
constexpr uint32_t SGM_LANES = 0xFFFFFFFFu;
enum
{
  SGM_SIDEWAYS,
  SGM_VERTICAL,
  SGM_RISING,
  SGM_FALLING,
  SGM_DIRECTIONS
}; /* STEREO_PATH_* of stereo/exact/sgm.h */

/* P1 and P2 in both halves of a word; [1]: where the luma has a step. */
struct Penalties
{
  uint32_t small[2], large[2];
};

/* stereo_path_rounded(): half a step, and the bits that stay, in both halves of a word; the bits that go. */
struct Rounding
{
  uint32_t half, whole;
  int bits;
};

/* What all kernels of a frame read. */
struct Sgm
{
  int width, height, min_disparity, disparities, depth;
  int middle; /* column where paths along a row meet: those that come from the left edge take longer for a pixel there */
  uint32_t unit; /* steps of a path's costs in a step of the costs: 1 << unit_bits if no path is weighted */
  int unit_bits;
  uint32_t units[SGM_DIRECTIONS]; /* the same by direction; all equal if no path is weighted */
  Penalties penalties[SGM_DIRECTIONS];
  Rounding rounding;
  bool fits_bytes; /* what two paths add, rounded; no path is weighted */
  bool fits_byte;  /* what one path adds; nothing is rounded, and no path is weighted */
  uint8_t *costs;  /* [y][x][i]: raw, or of the volume; 0 where there is no candidate */
  uint16_t *volume;
  uint8_t *sets;       /* [y][x][set][i]: sets of bytes that the volume has no room for: see lines.cuh */
  uint32_t *halfway;   /* costs of paths between the kernels of crossed.cu */
  const uint8_t *luma; /* of the left view */
  int luma_pitch;
  int penalty_step; /* difference of luma that is a step; more than 255: none is */
};

/* costs.cu: raw costs of all candidates, or those in the volume as bytes. */
StereoStatus sgm_make_costs (StereoPlan *plan, const Sgm &s, StereoError *error);
StereoStatus sgm_costs_of_volume (StereoPlan *plan, const Sgm &s, StereoError *error);

/* costs.cu: the raw costs where sgm_census_prepare() sets *@products: a census is the cost, and the device multiplies
 * bits. */
StereoStatus sgm_census_prepare (const StereoPlan *plan, bool *products, StereoError *error);
StereoStatus sgm_make_census_costs (StereoPlan *plan, const Sgm &s, StereoError *error);

/* crossed.cu: all paths, if s.fits_bytes, or if s.fits_byte and there are four. */
StereoStatus sgm_crossed (StereoPlan *plan, const Sgm &s, StereoError *error);

/* Whether the paths find the winners, and store no sums. */
static inline bool
sgm_selects (const StereoPlan *plan)
{
  return plan->fusion.selector == STEREO_SELECTOR_PATHS;
}

/* winner.cu: four paths, and the left view's winner. What they add is, of rows, in two sets of bytes of the volume, of columns in the
 * WINNER_MORE ones of s.sets. */
constexpr int WINNER_MORE = 2;
StereoStatus sgm_winner (StereoPlan *plan, const Sgm &s, StereoError *error);

/* pairs.cu: all other paths, one direction after the other. */
StereoStatus sgm_pairs (StereoPlan *plan, const Sgm &s, StereoError *error);

namespace
{

/* Which bytes make pairs across the borders of a lane's candidates. At the ends of the group a candidate is its own
 * neighbour. */
struct Borders
{
  uint32_t first, last;
};

template <int LANES = 32> __device__ __forceinline__ Borders
borders_of (int lane)
{
  Borders b = { lane == 0 ? 0x5454u : 0x5432u, lane == LANES - 1 ? 0x3232u : 0x5432u };
  return b;
}

/* The lowest number of the group. */
template <int LANES> __device__ __forceinline__ uint32_t
lowest_of_lanes (uint32_t low)
{
#if __CUDA_ARCH__ >= 800
  if (LANES == 32)
    return __reduce_min_sync (SGM_LANES, low);
  /* cheaper than four steps of shuffles */
  bool second = threadIdx.x & LANES;
  if (LANES == 16) {
    uint32_t lows[2] = { __reduce_min_sync (SGM_LANES, second ? 0xFFFFFFFFu : low),
      __reduce_min_sync (SGM_LANES, second ? low : 0xFFFFFFFFu) };
    return second ? lows[1] : lows[0];
  }
#endif
  /* three shuffles side by side in place of two after another */
  if (LANES >= 4)
    low = min (min (low, __shfl_xor_sync (SGM_LANES, low, 1)),
        min (__shfl_xor_sync (SGM_LANES, low, 2), __shfl_xor_sync (SGM_LANES, low, 3)));
  for (int away = LANES / 2; away >= 4; away /= 2)
    low = min (low, __shfl_xor_sync (SGM_LANES, low, away));
  return low;
}

/* The lowest of the group's costs, in both halves. */
template <int PAIRS, int LANES = 32> __device__ __forceinline__ uint32_t
lowest_of (const uint32_t (&path)[PAIRS])
{
  uint32_t low = path[0];
#pragma unroll
  for (int k = 1; k < PAIRS; k++)
    low = __vminu2 (low, path[k]);
  low = __vminu2 (low, __byte_perm (low, 0, 0x1032));
  return lowest_of_lanes<LANES> (low);
}

/* Luma of a pixel of the left view, and of the pixel before on a path. Two words: whoever packs them waits for them. */
struct LumaStep
{
  int here, before;
};

__device__ __forceinline__ bool
is_step (const Sgm &s, LumaStep luma)
{
  return abs (luma.here - luma.before) >= s.penalty_step;
}

/*
 * What the previous pixel, whose costs are @path and the lowest of them @lowest, adds to those of this pixel (Hirschmueller
 * 2008, equation 13): min (L' (d), L' (d - 1) + P1, L' (d + 1) + P1, min L' + P2) - min L', rounded if it is ROUNDED. It is at
 * most P2, for missing candidates too.
 */
template <int PAIRS, int LANES = 32, bool ROUNDED = true> __device__ __forceinline__ void
find_added (uint32_t (&added)[PAIRS], const uint32_t (&path)[PAIRS], uint32_t lowest, const Penalties &penalties,
    bool step, const Rounding &rounding, Borders borders)
{
  uint32_t small = step ? penalties.small[1] : penalties.small[0];
  uint32_t large = step ? penalties.large[1] : penalties.large[0];
  uint32_t before = __shfl_up_sync (SGM_LANES, path[PAIRS - 1], 1, LANES);
  uint32_t after = __shfl_down_sync (SGM_LANES, path[0], 1, LANES);
  uint32_t between[PAIRS + 1], jump = lowest + large;

  between[0] = __byte_perm (before, path[0], borders.first);
  between[PAIRS] = __byte_perm (path[PAIRS - 1], after, borders.last);
#pragma unroll
  for (int k = 1; k < PAIRS; k++)
    between[k] = __byte_perm (path[k - 1], path[k], 0x5432);
#pragma unroll
  for (int k = 0; k < PAIRS; k++) {
    uint32_t best = __vimin3_u16x2 (__vminu2 (between[k], between[k + 1]) + small, path[k], jump);
    added[k] = ROUNDED ? (best - lowest + rounding.half) & rounding.whole : best - lowest;
  }
}

/* 65535 for each candidate of a lane that does not exist; @some: the group has such candidates. */
template <int PAIRS> struct Mask
{
  int first, last;
  bool some;
  uint32_t pair[PAIRS];
};

/* Column @x. A lane's pair @k has the candidates first + 2 * k and the next one. */
template <int PAIRS, int LANES = 32> __device__ __forceinline__ void
set_mask (Mask<PAIRS> &m, const Sgm &s, int x, int first_of_lane)
{
  int first = stereo_first_index (x, s.width, s.min_disparity);
  int last = stereo_last_index (x, s.disparities, s.min_disparity);

  if (first == m.first && last == m.last)
    return;
  m.first = first;
  m.last = last;
  m.some = first > 0 || last < 2 * LANES * PAIRS - 1;
#pragma unroll
  for (int k = 0; k < PAIRS; k++) {
    int i = first_of_lane + 2 * k;
    m.pair[k] = (i < first || i > last ? 0xFFFFu : 0) | (i + 1 < first || i + 1 > last ? 0xFFFF0000u : 0);
  }
}

/* A lane's candidates in the range that the mask hides: they are outside the right view. */
__device__ __forceinline__ uint32_t
outside_of (uint32_t hidden, int i, int disparities)
{
  return hidden & ((i < disparities ? 0xFFFFu : 0) | (i + 1 < disparities ? 0xFFFF0000u : 0));
}

/* Gives the candidates that are outside the right view the lowest cost of the path. */
template <int PAIRS> __device__ __forceinline__ void
open_outside (uint32_t (&path)[PAIRS], uint32_t lowest, const Mask<PAIRS> &m, const Sgm &s, int lane)
{
  if (m.first > 0 || m.last < s.disparities - 1)
#pragma unroll
    for (int k = 0; k < PAIRS; k++) {
      uint32_t outside = outside_of (m.pair[k], (lane * PAIRS + k) * 2, s.disparities);
      path[k] = (path[k] & ~outside) | (lowest & outside);
    }
}

/* Lets the compiler hold a number in a register; otherwise it computes the number again wherever it is used. */
template <typename Number> __device__ __forceinline__ void
hold_in_register (Number &number)
{
#ifdef __CUDA_ARCH__
  asm volatile("" : "+r"(number));
#endif
}

/* Whether any bit of @mask is set; in one instruction, where the compiler would shift, mask and compare. */
__device__ __forceinline__ bool
is_set (uint32_t word, uint32_t mask)
{
#ifdef __CUDA_ARCH__
  uint32_t set;
  asm("{\n"
      ".reg .pred p;\n"
      ".reg .b32 bits;\n"
      "and.b32 bits, %1, %2;\n"
      "setp.ne.u32 p, bits, 0;\n"
      "selp.u32 %0, 1, 0, p;\n"
      "}"
      : "=r"(set)
      : "r"(word), "r"(mask));
  return set;
#else
  return word & mask;
#endif
}

}
