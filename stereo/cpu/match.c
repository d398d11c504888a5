/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matching costs of pixel pairs: one function a cost, over a row and a run of disparities. Because the right view is stored
 * mirrored, the output and the right pixels are both contiguous in the disparity. */
#include "stereo/cpu/match.h"
#include "stereo/cpu/vec/vec.h"

/* Loops over the columns of row y; `partner` is the place of column x's partner at index i0. */
#define COST_ROW(name, body) COST_ROW_WITH (, name, body)
#define COST_ROW_WITH(attribute, name, body) \
  static attribute void name (const StereoPlan *plan, int y, int i0, int count, int pitch, uint8_t *out) \
  { \
    const StereoView *l = &plan->view[STEREO_LEFT], *r = &plan->view[STEREO_RIGHT]; \
    size_t row = (size_t) y * (size_t) plan->image_pitch; \
    for (int x = 0; x < plan->width; x++, out += pitch) { \
      uint8_t *restrict to = out; \
      size_t left = row + (size_t) x; \
      ptrdiff_t partner = (ptrdiff_t) row + plan->width - 1 - x + plan->min_disparity + i0; \
      body \
    } \
  }

/* ---- every cost, by its formula in stereo/exact/cost.h, which the compiler vectorises -------------- */

/* The pixel at @at, with the features of @set, which is a constant. */
static inline __attribute__ ((always_inline)) StereoPixel
pixel_at (const StereoView *view, ptrdiff_t at, StereoFeatures set)
{
  StereoPixel p = { view->color[at], view->luma[at], 0, 0 };

  if (set == STEREO_FEATURES_CENSUS_9X7)
    p.census = ((const uint64_t *) view->census)[at];
  else if (set != STEREO_FEATURES_NONE)
    p.census = ((const uint32_t *) view->census)[at];
  if (set == STEREO_FEATURES_CENSUS_7X5_GRADIENT)
    p.gradient = view->gradient[at];
  return p;
}

#define PLAIN_ROW(COST, formula, label, max, unit, SET, ...) \
  COST_ROW (plain_##COST, { \
    StereoPixel own = pixel_at (l, (ptrdiff_t) left, STEREO_FEATURES_##SET); \
    for (int i = 0; i < count; i++) { \
      StereoPixel other = pixel_at (r, partner + i, STEREO_FEATURES_##SET); \
      to[i] = (uint8_t) stereo_cost_of_##formula (&own, &other); \
    } \
  })
STEREO_PIXEL_COSTS (PLAIN_ROW)

/* ---- costs that lanes compute faster ----------------------------------------------------------------- */

COST_ROW (row_census32, {
  const uint32_t *right = (const uint32_t *) r->census + partner;
  uint32_t bits = ((const uint32_t *) l->census)[left];
  for (int i = 0; i < count; i += LANES)
    vec_store_b (to + i, vec_narrow_bytes (vec_popcount (vec_load_u (right + i) ^ bits)));
})

COST_ROW (row_census64, {
  const uint64_t *right = (const uint64_t *) r->census + partner;
  uint64_t bits = ((const uint64_t *) l->census)[left];
  for (int i = 0; i < count; i += LANES)
    vec_store_b (to + i, vec_popcount_long (bits, right + i));
})

/* Most processors with AVX-512 count bits by an instruction, but not all. */
#ifdef __AVX512F__
#define BY_INSTRUCTION __attribute__ ((target ("avx512vpopcntdq")))

COST_ROW_WITH (BY_INSTRUCTION, row_census64_counted, {
  const uint64_t *right = (const uint64_t *) r->census + partner;
  __m512i bits = _mm512_set1_epi64 ((long long) ((const uint64_t *) l->census)[left]);
  for (int i = 0; i < count; i += 8) {
    __m512i differ = _mm512_xor_si512 (bits, _mm512_loadu_si512 (right + i));
    _mm_storel_epi64 ((__m128i *) (to + i), _mm512_cvtepi64_epi8 (_mm512_popcnt_epi64 (differ)));
  }
})

COST_ROW_WITH (BY_INSTRUCTION, row_census32_counted, {
  const uint32_t *right = (const uint32_t *) r->census + partner;
  __m512i bits = _mm512_set1_epi32 ((int) ((const uint32_t *) l->census)[left]);
  for (int i = 0; i < count; i += 16) {
    __m512i differ = _mm512_xor_si512 (bits, _mm512_loadu_si512 (right + i));
    _mm_storeu_si128 ((__m128i *) (to + i), _mm512_cvtepi32_epi8 (_mm512_popcnt_epi32 (differ)));
  }
})
#endif

/* stereo_mixed_part() in lanes. */
static inline VecI
mixed_part (VecI sad, VecI slope)
{
  VecI color = vec_min (sad, sad * 0 + 60);
  VecI steps = vec_min (2 * vec_abs (slope), slope * 0 + 20);
  return ((color * 17 + 32) >> 6) + steps;
}

COST_ROW (row_mixed, {
  const uint32_t *right = (const uint32_t *) r->census + partner;
  const uint32_t *color = r->color + partner;
  const int16_t *gradient = r->gradient + partner;
  uint32_t bits = ((const uint32_t *) l->census)[left];
  VecU own_color = { 0 };
  VecI own_gradient = { 0 };
  own_color += l->color[left];
  own_gradient += l->gradient[left];
  for (int i = 0; i < count; i += LANES) {
    VecI part = mixed_part (vec_color_distance (own_color, vec_load_u (color + i)),
        own_gradient - vec_widen_signed (vec_load_s (gradient + i)));
    vec_store_b (to + i, vec_narrow_bytes (4 * vec_popcount (vec_load_u (right + i) ^ bits) + part));
  }
})

COST_ROW (row_ad, {
  const uint8_t *right = r->luma + partner;
  uint8_t own = l->luma[left];
  for (int i = 0; i < count; i++)
    to[i] = own > right[i] ? own - right[i] : right[i] - own;
})

COST_ROW (row_sad, {
  const uint32_t *color = r->color + partner;
  VecU own = { 0 };
  own += l->color[left];
  for (int i = 0; i < count; i += LANES) {
    VecI thirds = (vec_color_distance (own, vec_load_u (color + i)) + 1) * 21846 >> 16; /* / 3, up to 766 */
    vec_store_b (to + i, vec_narrow_bytes (thirds));
  }
})

/* ---- table --------------------------------------------------------------------------------------------- */

static const CpuCostRow plain_rows[STEREO_COSTS] = {
#define ROW(COST, ...) [STEREO_COST_##COST] = plain_##COST,
  STEREO_PIXEL_COSTS (ROW)
#undef ROW
};

static const CpuCostRow faster_rows[STEREO_COSTS] = {
  [STEREO_COST_CENSUS_7X5] = row_census32,
  [STEREO_COST_CENSUS_9X7] = row_census64,
  [STEREO_COST_MIXED] = row_mixed,
  [STEREO_COST_AD] = row_ad,
  [STEREO_COST_SAD] = row_sad,
};

CpuCostRow
CPU (cost_row) (int cost)
{
#ifdef __AVX512F__
  if (cost == STEREO_COST_CENSUS_9X7 && __builtin_cpu_supports ("avx512vpopcntdq"))
    return row_census64_counted;
  if (cost == STEREO_COST_CENSUS_7X5 && __builtin_cpu_supports ("avx512vpopcntdq"))
    return row_census32_counted;
#endif
  return faster_rows[cost] ? faster_rows[cost] : plain_rows[cost];
}
