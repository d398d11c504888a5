/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The matching costs of the CUDA backend: every formula, and the one way from a plan's cost to a kernel of that cost.
 *
 * The trait Cost<COST> of a pixel cost says which features of a pixel the cost reads, and has the formula twice: for one
 * pair of pixels, and packed for two pairs, which support weights on the tensor cores need. A pixel cost on existing
 * features needs its trait and its row in methods_taking() below, and nothing else in cuda/.
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

/* As in the registry. A cost without a row does not compile: see below. */
constexpr unsigned
methods_taking (int cost)
{
  constexpr unsigned asw = method_bit (STEREO_METHOD_ASW), sgm = method_bit (STEREO_METHOD_SGM);
  constexpr unsigned bm = method_bit (STEREO_METHOD_BM);
  constexpr unsigned exponential = method_bit (STEREO_METHOD_ESAW) | method_bit (STEREO_METHOD_ESMP);

  switch (cost) {
    case STEREO_COST_CENSUS_7X5:
    case STEREO_COST_CENSUS_9X7:
    case STEREO_COST_MIXED:
      return asw | sgm;
    case STEREO_COST_AD:
      return asw | sgm | exponential | bm;
    case STEREO_COST_SAD:
      return asw | bm;
    case STEREO_COST_SD:
    case STEREO_COST_SSD:
    case STEREO_COST_NSSD:
    case STEREO_COST_NCC:
    case STEREO_COST_ZNCC:
      return bm;
    default:
      return 0;
  }
}

constexpr bool
takes_cost (int method, int cost)
{
  return methods_taking (cost) & method_bit (method);
}

constexpr bool
every_cost_is_taken ()
{
  for (int cost = STEREO_COST_AUTO + 1; cost < STEREO_COSTS; cost++)
    if (!methods_taking (cost))
      return false;
  return true;
}

static_assert (every_cost_is_taken (), "methods_taking() has no row for a cost of stereo.h");

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
  int luma, gradient;
};

/* Differences of two pairs of pixels, for packed formulas. Features that a cost does not read differ by 0. */
struct TwoDifferences
{
  uint32_t bits[2];             /* Hamming distances of the census */
  uint32_t sad[2];              /* over R, G, B */
  __half2 level;                /* absolute; whole numbers */
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

/* ---- the costs: the same numbers as stereo/cpu/match.c -------------------------------------------------- */

/*
 * census_words: 32-bit words of the census that the cost reads; color; level.
 *
 * of_pair(): the cost, at most 255.
 * of_two_pairs(): the costs of two pairs, an integer each in 16 bits. As the bits of a half float such an integer n is
 * n * 2^-24, a subnormal, and enters a product without a conversion.
 */
template <int COST> struct Cost;

struct CensusCost
{
  static constexpr bool color = false;
  static constexpr Level level = Level::NONE;

  static __device__ __forceinline__ uint32_t
  of_two_pairs (const TwoDifferences &d)
  {
    return pack_shorts (d.bits[0], d.bits[1]);
  }
};

template <> struct Cost<STEREO_COST_CENSUS_7X5> : CensusCost
{
  static constexpr int census_words = 1;

  static __device__ __forceinline__ int
  of_pair (const CostPixel &l, const CostPixel &r)
  {
    return __popc ((uint32_t) l.census ^ (uint32_t) r.census);
  }
};

template <> struct Cost<STEREO_COST_CENSUS_9X7> : CensusCost
{
  static constexpr int census_words = 2;

  static __device__ __forceinline__ int
  of_pair (const CostPixel &l, const CostPixel &r)
  {
    return __popcll (l.census ^ r.census);
  }
};

template <> struct Cost<STEREO_COST_MIXED>
{
  static constexpr int census_words = 1;
  static constexpr bool color = true;
  static constexpr Level level = Level::GRADIENT;

  static __device__ __forceinline__ int
  of_pair (const CostPixel &l, const CostPixel &r)
  {
    return 4 * __popc ((uint32_t) l.census ^ (uint32_t) r.census) +
        stereo_mixed_part ((int) __vsadu4 (l.color, r.color), l.gradient - r.gradient);
  }

  /* stereo_mixed_part(), whose constants these are, with the gradient's part in half floats. */
  static __device__ __forceinline__ uint32_t
  of_two_pairs (const TwoDifferences &d)
  {
    uint32_t color = (__vminu2 (pack_shorts (d.sad[0], d.sad[1]), 0x003C003C) * 17 + 0x00200020) >> 6 & 0x001F001F;
    uint32_t cost = 4 * pack_shorts (d.bits[0], d.bits[1]) + color;
    __half2 gradient = __hmin2 (d.level, halves_of (0x49004900));       /* 10 */
    return bits_of (__hfma2 (gradient, halves_of (0x00020002), halves_of (cost)));
  }
};

template <> struct Cost<STEREO_COST_AD>
{
  static constexpr int census_words = 0;
  static constexpr bool color = false;
  static constexpr Level level = Level::LUMA;

  static __device__ __forceinline__ int
  of_pair (const CostPixel &l, const CostPixel &r)
  {
    return abs (l.luma - r.luma);
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
  of_pair (const CostPixel &l, const CostPixel &r)
  {
    return ((int) __vsadu4 (l.color, r.color) + 1) / 3;
  }

  static __device__ __forceinline__ uint32_t
  of_two_pairs (const TwoDifferences &d)
  {
    return pack_shorts ((d.sad[0] + 1) / 3, (d.sad[1] + 1) / 3);
  }
};

/* Whether a stage has to make features for the cost: a census or a gradient. Costs without a trait compare windows. */
template <int COST> constexpr bool
reads_features ()
{
  if constexpr (requires { Cost<COST>::level; })
    return Cost<COST>::census_words > 0 || Cost<COST>::level == Level::GRADIENT;
  return false;
}

/* What Cost<COST> reads of the pixel at element @place of the images. */
template <int COST> __device__ __forceinline__ CostPixel
load_pixel (const StereoView &view, ptrdiff_t place)
{
  typedef Cost<COST> C;
  CostPixel p = { 0, 0, 0, 0 };

  if constexpr (C::census_words == 2)
    p.census = ((const unsigned long long *) view.census)[place];
  else if constexpr (C::census_words == 1)
    p.census = ((const uint32_t *) view.census)[place];
  if constexpr (C::color)
    p.color = view.color[place];
  if constexpr (C::level == Level::LUMA)
    p.luma = view.luma[place];
  else if constexpr (C::level == Level::GRADIENT)
    p.gradient = view.gradient[place];
  return p;
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

  if (for_cost<METHOD> (plan->params.cost, [&](auto cost) { status = launch (cost); }))
    return status;
  return stereo_fail (error, STEREO_ERROR_PARAMETER, "cost=%s was asked for, and the CUDA backend cannot compute it for "
      "method=%s: set another cost, or backend=cpu.", stereo_cost_info (plan->params.cost)->name,
      stereo_method_info (METHOD)->name);
}

}

#endif
