/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The matching costs of the CUDA backend: every formula, and the one way from a plan's cost to a kernel of that cost.
 *
 * The trait Cost<COST> of a pixel cost says which features of a pixel the cost reads, and has the formula twice: for
 * one pair of pixels, and packed for two pairs, which support weights on the tensor cores need. A pixel cost of the
 * list in stereo/exact/cost.h needs its trait here, and on existing features nothing else in cuda/.
 */
#ifndef STEREO_CUDA_COST_CUH
#define STEREO_CUDA_COST_CUH

#include "cuda/common.cuh"

#include <cuda_fp16.h>

#include <type_traits>
#include <utility>

namespace
{

/* ---- which method takes which cost ------------------------------------------------------------------- */

constexpr unsigned
method_bit (int method)
{
  return 1u << method;
}

/* As in the registry: asw and sgm take what the list of pixel costs says. */
constexpr unsigned
methods_taking (int cost)
{
  constexpr unsigned bm = method_bit (STEREO_METHOD_BM);
  constexpr unsigned exponential = method_bit (STEREO_METHOD_ESAW) | method_bit (STEREO_METHOD_ESMP);
  unsigned methods = 0;

  switch (cost) {
#define ROW(COST, name, max, unit, features, takers, ...) \
  case STEREO_COST_##COST: \
    methods = takers; \
    break;
    STEREO_PIXEL_COSTS (ROW)
#undef ROW
  }
  switch (cost) {
    case STEREO_COST_AD:
      return methods | exponential | bm;
    case STEREO_COST_SAD:
    case STEREO_COST_SD:
    case STEREO_COST_SSD:
    case STEREO_COST_NSSD:
    case STEREO_COST_NCC:
    case STEREO_COST_ZNCC:
      return methods | bm;
    default:
      return methods;
  }
}

constexpr bool
takes_cost (int method, int cost)
{
  return methods_taking (cost) & method_bit (method);
}

/* Whether @method takes @cost and no other one. */
constexpr bool
takes_only (int method, int cost)
{
  for (int other = STEREO_COST_AUTO; other < STEREO_COSTS; other++)
    if (takes_cost (method, other) != (other == cost))
      return false;
  return true;
}

constexpr bool
every_cost_is_taken ()
{
  for (int cost = STEREO_COST_AUTO + 1; cost < STEREO_COSTS; cost++)
    if (!methods_taking (cost))
      return false;
  return true;
}

static_assert (every_cost_is_taken (), "no method takes a cost of stereo.h: see methods_taking()");

/* ---- features of a pixel ----------------------------------------------------------------------------- */

/* The one number of a pixel whose difference a cost takes. */
enum class Level
{
  NONE,
  LUMA,
  GRADIENT
};

/* Features of one pixel; those that a cost does not read are 0. */
struct CostPixel
{
  uint64_t census;
  uint32_t color;
  int level; /* luma or gradient */
};

/* Differences of one pair of pixels. Features that a cost does not read differ by 0. */
struct Differences
{
  int bits;  /* Hamming distance of the census */
  int sad;   /* over R, G, B */
  int level; /* left minus right */
};

/* The same of two pairs, for packed formulas. */
struct TwoDifferences
{
  uint32_t bits[2];
  uint32_t sad[2];
  __half2 level; /* absolute; whole numbers */
};

__device__ __forceinline__ uint32_t
bits_of (__half2 pair)
{
  return *reinterpret_cast<uint32_t *> (&pair);
}

__device__ __forceinline__ __half2
halves_of (uint32_t bits)
{
  return *reinterpret_cast<__half2 *> (&bits);
}

__device__ __forceinline__ uint32_t
pack_shorts (uint32_t low, uint32_t high)
{
  return low + high * 65536;
}

/* ---- the costs: the same numbers as those of the rows in stereo/cpu/match.c ---------------------------- */

/*
 * census_words: 32-bit words of the census that the cost reads; color; level.
 *
 * of_pair(): the cost, at most 255.
 * of_two_pairs(): the costs of two pairs, an integer each in 16 bits. As the bits of a half float such an integer n is
 * n * 2^-24, a subnormal, and enters a product without a conversion.
 */
template <int COST> struct Cost;

template <int WORDS> struct CensusCost
{
  static constexpr int census_words = WORDS;
  static constexpr bool color = false;
  static constexpr Level level = Level::NONE;

  static __device__ __forceinline__ int
  of_pair (const Differences &d)
  {
    return d.bits;
  }

  static __device__ __forceinline__ uint32_t
  of_two_pairs (const TwoDifferences &d)
  {
    return pack_shorts (d.bits[0], d.bits[1]);
  }
};

template <> struct Cost<STEREO_COST_CENSUS_7X5> : CensusCost<1>
{
};

template <> struct Cost<STEREO_COST_CENSUS_9X7> : CensusCost<2>
{
};

template <> struct Cost<STEREO_COST_MIXED>
{
  static constexpr int census_words = 1;
  static constexpr bool color = true;
  static constexpr Level level = Level::GRADIENT;

  static __device__ __forceinline__ int
  of_pair (const Differences &d)
  {
    return 4 * d.bits + stereo_mixed_part (d.sad, d.level);
  }

  /* stereo_mixed_part(), whose constants these are, with the gradient's part in half floats. */
  static __device__ __forceinline__ uint32_t
  of_two_pairs (const TwoDifferences &d)
  {
    uint32_t color = (__vminu2 (pack_shorts (d.sad[0], d.sad[1]), 0x003C003C) * 17 + 0x00200020) >> 6 & 0x001F001F;
    uint32_t cost = 4 * d.bits[0] + (0x40000 * d.bits[1] + color);
    __half2 gradient = __hmin2 (d.level, halves_of (0x49004900)); /* 10 */
    return bits_of (__hfma2 (gradient, halves_of (0x00020002), halves_of (cost)));
  }
};

template <> struct Cost<STEREO_COST_AD>
{
  static constexpr int census_words = 0;
  static constexpr bool color = false;
  static constexpr Level level = Level::LUMA;

  static __device__ __forceinline__ int
  of_pair (const Differences &d)
  {
    return abs (d.level);
  }

  static __device__ __forceinline__ uint32_t
  of_two_pairs (const TwoDifferences &d)
  {
    return bits_of (__hmul2 (d.level, halves_of (0x00010001)));
  }
};

template <> struct Cost<STEREO_COST_SAD>
{
  static constexpr int census_words = 0;
  static constexpr bool color = true;
  static constexpr Level level = Level::NONE;

  static __device__ __forceinline__ int
  of_pair (const Differences &d)
  {
    return (d.sad + 1) / 3;
  }

  static __device__ __forceinline__ uint32_t
  of_two_pairs (const TwoDifferences &d)
  {
    return pack_shorts ((d.sad[0] + 1) / 3, (d.sad[1] + 1) / 3);
  }
};

/* What a trait reads besides colour and luma. */
template <int COST> constexpr StereoFeatures
features_read ()
{
  constexpr bool gradient = Cost<COST>::level == Level::GRADIENT;
  static_assert (!gradient || Cost<COST>::census_words == 1, "no stage makes a gradient alone");
  return gradient                   ? STEREO_FEATURES_CENSUS_7X5_GRADIENT :
      Cost<COST>::census_words == 2 ? STEREO_FEATURES_CENSUS_9X7 :
      Cost<COST>::census_words == 1 ? STEREO_FEATURES_CENSUS_7X5 :
                                      STEREO_FEATURES_NONE;
}

/* Each pixel cost has a trait that reads the features of the list, and fits a byte. */
#define ROW(COST, name, max, unit, features, ...) \
  static_assert (features_read<STEREO_COST_##COST> () == STEREO_FEATURES_##features, "features of " name); \
  static_assert ((max) <= 255, "a byte has no room for " name);
STEREO_PIXEL_COSTS (ROW)
#undef ROW

/* ---- the cost of a pair of pixels ---------------------------------------------------------------------- */

template <int COST> __device__ __forceinline__ uint64_t
load_census (const StereoView &view, ptrdiff_t place)
{
  if constexpr (Cost<COST>::census_words == 2)
    return ((const uint64_t *) view.census)[place];
  else
    return ((const uint32_t *) view.census)[place];
}

template <int COST> __device__ __forceinline__ int
count_bits (uint64_t left, uint64_t right)
{
  if constexpr (Cost<COST>::census_words == 2)
    return __popcll (left ^ right);
  else
    return __popc ((uint32_t) left ^ (uint32_t) right);
}

template <int COST> __device__ __forceinline__ int
load_level (const StereoView &view, ptrdiff_t place)
{
  if constexpr (Cost<COST>::level == Level::LUMA)
    return view.luma[place];
  else
    return view.gradient[place];
}

/* What Cost<COST> reads of the pixel at element @place of the images. */
template <int COST> __device__ __forceinline__ CostPixel
load_pixel (const StereoView &view, ptrdiff_t place)
{
  CostPixel p = { 0, 0, 0 };

  if constexpr (Cost<COST>::census_words > 0)
    p.census = load_census<COST> (view, place);
  if constexpr (Cost<COST>::color)
    p.color = view.color[place];
  if constexpr (Cost<COST>::level != Level::NONE)
    p.level = load_level<COST> (view, place);
  return p;
}

/* Raw cost of pixels in registers. */
template <int COST> __device__ __forceinline__ int
raw_cost (const CostPixel &left, const CostPixel &right)
{
  Differences d = { 0, 0, 0 };

  if constexpr (Cost<COST>::census_words > 0)
    d.bits = count_bits<COST> (left.census, right.census);
  if constexpr (Cost<COST>::color)
    d.sad = (int) __vsadu4 (left.color, right.color);
  if constexpr (Cost<COST>::level != Level::NONE)
    d.level = left.level - right.level;
  return Cost<COST>::of_pair (d);
}

/* What asw takes of raw costs, or of two in the halves of a word: differences of luma may be truncated. */
template <int COST> __device__ __forceinline__ uint32_t
truncated (const Frame &f, uint32_t costs)
{
  if constexpr (COST == STEREO_COST_AD)
    return __vminu2 (costs, (uint32_t) f.top_of_luma * 0x10001u);
  return costs;
}

/* Raw cost of left (x, y) against mirrored right (xm, y), both in memory. @row: the first element of row y. Features
 * are loaded and subtracted one after the other: asw's kernels then need fewer registers than with two load_pixel(). */
template <int COST> __device__ __forceinline__ int
raw_cost (const Frame &f, size_t row, int x, int xm)
{
  const StereoView &l = f.view[STEREO_LEFT], &r = f.view[STEREO_RIGHT];
  ptrdiff_t left = (ptrdiff_t) row + x, right = (ptrdiff_t) row + xm;
  Differences d = { 0, 0, 0 };

  if constexpr (Cost<COST>::census_words > 0)
    d.bits = count_bits<COST> (load_census<COST> (l, left), load_census<COST> (r, right));
  if constexpr (Cost<COST>::color)
    d.sad = (int) __vsadu4 (l.color[left], r.color[right]);
  if constexpr (Cost<COST>::level != Level::NONE)
    d.level = load_level<COST> (l, left) - load_level<COST> (r, right);
  return Cost<COST>::of_pair (d);
}

/* What paths read of the candidates of group @group at left column @x, whose features are @left; 0 outside the view. */
template <int COST> static __device__ __forceinline__ uint32_t
cost_group (const Frame &f, const CostPixel &left, ptrdiff_t row, int x, int group, int shift)
{
  uint32_t word = 0;

#pragma unroll
  for (int e = 0; e < STEREO_GROUP; e++) {
    int xm = f.width - 1 - x + f.min_disparity + group * STEREO_GROUP + e;
    int raw = raw_cost<COST> (left, load_pixel<COST> (f.view[STEREO_RIGHT], row + xm));
    uint32_t cost = stereo_path_cost ((uint32_t) raw, shift);
    word |= xm >= 0 && xm < f.width ? cost << 8 * e : 0;
  }
  return word;
}

/* ---- from a plan's cost to a kernel of that cost ------------------------------------------------------------ */

/* Calls @function if COST is the cost asked for and METHOD takes it. */
template <int METHOD, int COST, typename Function> bool
call_if (int cost, Function &function)
{
  if constexpr (takes_cost (METHOD, COST))
    if (cost == COST) {
      function (std::integral_constant<int, COST> ());
      return true;
    }
  return false;
}

template <int METHOD, typename Function, int... COSTS> bool
call_any (int cost, Function &function, std::integer_sequence<int, COSTS...>)
{
  return (call_if<METHOD, COSTS> (cost, function) || ...);
}

/*
 * Calls @function with @cost as a std::integral_constant; false: METHOD does not take @cost. @function is compiled for
 * every cost that METHOD takes: a missing trait or branch does not compile.
 */
template <int METHOD, typename Function> bool
for_cost (int cost, Function function)
{
  return call_any<METHOD> (cost, function, std::make_integer_sequence<int, STEREO_COSTS> ());
}

/* Returns what @launch returns for the plan's cost. */
template <int METHOD, typename Launch> StereoStatus
launch_for_cost (const StereoPlan *plan, StereoError *error, Launch launch)
{
  StereoStatus status = STEREO_OK;

  if (for_cost<METHOD> (plan->params.cost, [&] (auto cost) { status = launch (cost); }))
    return status;
  return stereo_fail (error, STEREO_ERROR_PARAMETER,
      "cost=%s was asked for, and the CUDA backend cannot compute it for method=%s: set another cost, or backend=cpu.",
      stereo_cost_info (plan->params.cost)->name, stereo_method_info (METHOD)->name);
}

}

#endif
