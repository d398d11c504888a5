/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matching costs of pixel pairs: one function a cost, over a row and a run of disparities. Because the right view is stored
 * mirrored, the output and the right pixels are both contiguous in the disparity. */
#include "stereo/cpu/match.h"
#include "stereo/cpu/vec/vec.h"

/* Loops over columns from..end - 1 of row y; `partner` is the place of column x's partner at index i0. The views are copies: what bytes
 * are written could change the plan's, and the compiler would read them anew for each pixel. */
#define COST_ROW(name, body) COST_ROW_WITH (, name, body)
#define COST_ROW_WITH(attribute, name, body) \
  static attribute void name ( \
      const StereoPlan *plan, int y, int from, int end, int i0, int count, int pitch, uint8_t *out) \
  { \
    const StereoView views[2] = { plan->view[STEREO_LEFT], plan->view[STEREO_RIGHT] }; \
    const StereoView *l = &views[STEREO_LEFT], *r = &views[STEREO_RIGHT]; \
    size_t row = (size_t) y * (size_t) plan->image_pitch; \
    for (int x = from; x < end; x++, out += pitch) { \
      uint8_t *restrict to = out; \
      size_t left = row + (size_t) x; \
      ptrdiff_t partner = (ptrdiff_t) row + plan->width - 1 - x + plan->min_disparity + i0; \
      body \
    } \
  }

COST_ROW (row_CENSUS_7X5, {
  const uint32_t *right = (const uint32_t *) r->census + partner;
  uint32_t bits = ((const uint32_t *) l->census)[left];
  for (int i = 0; i < count; i += LANES)
    vec_store_b (to + i, vec_narrow_bytes (vec_popcount (vec_load_u (right + i) ^ bits)));
})

COST_ROW (row_CENSUS_9X7, {
  const uint64_t *right = (const uint64_t *) r->census + partner;
  uint64_t bits = ((const uint64_t *) l->census)[left];
  for (int i = 0; i < count; i += LANES)
    vec_store_b (to + i, vec_popcount_long (bits, right + i));
})

/* Most processors with AVX-512 count bits by an instruction, but not all. */
#ifdef __AVX512F__
#define BY_INSTRUCTION __attribute__ ((target ("avx512vpopcntdq")))

COST_ROW_WITH (BY_INSTRUCTION, row_CENSUS_9X7_counted, {
  const uint64_t *right = (const uint64_t *) r->census + partner;
  __m512i bits = _mm512_set1_epi64 ((long long) ((const uint64_t *) l->census)[left]);
  for (int i = 0; i < count; i += 8) {
    __m512i differ = _mm512_xor_si512 (bits, _mm512_loadu_si512 (right + i));
    _mm_storel_epi64 ((__m128i *) (to + i), _mm512_cvtepi64_epi8 (_mm512_popcnt_epi64 (differ)));
  }
})

COST_ROW_WITH (BY_INSTRUCTION, row_CENSUS_7X5_counted, {
  const uint32_t *right = (const uint32_t *) r->census + partner;
  __m512i bits = _mm512_set1_epi32 ((int) ((const uint32_t *) l->census)[left]);
  for (int i = 0; i < count; i += 16) {
    __m512i differ = _mm512_xor_si512 (bits, _mm512_loadu_si512 (right + i));
    _mm_storeu_si128 ((__m128i *) (to + i), _mm512_cvtepi32_epi8 (_mm512_popcnt_epi32 (differ)));
  }
})
#endif

#ifdef __AVX512F__

/* A pixel of the left view, as costs compare it with sixteen of the right view. */
typedef struct Mixed
{
  __m512i census, color;
  __m256i gradient;
} Mixed;

static inline __attribute__ ((always_inline)) Mixed
mixed_of (uint32_t census, uint32_t color, int16_t gradient)
{
  return (Mixed){ _mm512_set1_epi32 ((int) census), _mm512_set1_epi32 ((int) color), _mm256_set1_epi16 (gradient) };
}

/* The rounded product is stereo_mixed_part()'s (17 color + 32) >> 6. @bits: the census bits that differ. */
static inline __attribute__ ((always_inline)) void
store_mixed (uint8_t *to, Mixed own, __m512i bits, const uint32_t *color, const int16_t *gradient)
{
  __m512i sad = (__m512i) vec_color_distance (vec_load_u (color), (VecU) own.color);
  __m512i part = _mm512_mulhrs_epi16 (_mm512_min_epu16 (sad, _mm512_set1_epi32 (60)), _mm512_set1_epi32 (17 << 9));
  __m256i slope = _mm256_abs_epi16 (_mm256_sub_epi16 (own.gradient, _mm256_loadu_si256 ((const __m256i *) gradient)));
  slope = _mm256_min_epu16 (slope, _mm256_set1_epi16 (10));
  __m256i sum = _mm512_cvtepi32_epi16 (_mm512_add_epi32 (_mm512_slli_epi32 (bits, 2), part));
  sum = _mm256_add_epi16 (sum, _mm256_add_epi16 (slope, slope));
  _mm_storeu_si128 ((__m128i *) to, _mm256_cvtepi16_epi8 (sum));
}

#define MIXED_ROW(attribute, name, count_bits) \
  COST_ROW_WITH (attribute, name, { \
    const uint32_t *right = (const uint32_t *) r->census + partner; \
    Mixed own = mixed_of (((const uint32_t *) l->census)[left], l->color[left], l->gradient[left]); \
    for (int i = 0; i < count; i += 16) { \
      __m512i differ = _mm512_xor_si512 (own.census, _mm512_loadu_si512 (right + i)); \
      store_mixed (to + i, own, count_bits, r->color + partner + i, r->gradient + partner + i); \
    } \
  })

MIXED_ROW (, row_MIXED, (__m512i) vec_popcount ((VecU) differ))
MIXED_ROW (BY_INSTRUCTION, row_MIXED_counted, _mm512_popcnt_epi32 (differ))

#else

/* stereo_mixed_part() in lanes. */
static inline VecI
mixed_part (VecI sad, VecI slope)
{
  VecI color = vec_min (sad, sad * 0 + 60);
  VecI steps = vec_min (2 * vec_abs (slope), slope * 0 + 20);
  return ((color * 17 + 32) >> 6) + steps;
}

COST_ROW (row_MIXED, {
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

#endif

COST_ROW (row_AD, {
  const uint8_t *right = r->luma + partner;
  uint8_t own = l->luma[left];
  uint8_t most = (uint8_t) stereo_params_top_of_luma (&plan->params);
  for (int i = 0; i < count; i++) {
    uint8_t difference = own > right[i] ? own - right[i] : right[i] - own;
    to[i] = difference < most ? difference : most;
  }
})

COST_ROW (row_SAD, {
  const uint32_t *color = r->color + partner;
  VecU own = { 0 };
  own += l->color[left];
  for (int i = 0; i < count; i += LANES) {
    VecI thirds = (vec_color_distance (own, vec_load_u (color + i)) + 1) * 21846 >> 16; /* / 3, up to 766 */
    vec_store_b (to + i, vec_narrow_bytes (thirds));
  }
})

/* ---- table --------------------------------------------------------------------------------------------- */

/* A cost of the list without a row does not compile. */
static const CpuCostRow rows[STEREO_COSTS] = {
#define ROW(COST, ...) [STEREO_COST_##COST] = row_##COST,
  STEREO_PIXEL_COSTS (ROW)
#undef ROW
};

CpuCostRow
CPU (cost_row) (int cost)
{
#ifdef __AVX512F__
  if (cost == STEREO_COST_CENSUS_9X7 && __builtin_cpu_supports ("avx512vpopcntdq"))
    return row_CENSUS_9X7_counted;
  if (cost == STEREO_COST_CENSUS_7X5 && __builtin_cpu_supports ("avx512vpopcntdq"))
    return row_CENSUS_7X5_counted;
  if (cost == STEREO_COST_MIXED && __builtin_cpu_supports ("avx512vpopcntdq"))
    return row_MIXED_counted;
#endif
  return rows[cost];
}
