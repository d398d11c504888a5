/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matching costs of pixel pairs: one function a cost, over a row and a run of disparities. Because the right view is stored
 * mirrored, the output and the right pixels are both contiguous in the disparity. */
#include "stereo/cpu/match.h"
#include "stereo/cpu/vec/vec.h"

/* Loops over columns from..to - 1 of row y; `partner` is the place of column x's partner at index i0. */
#define COST_ROW(name, body) COST_ROW_WITH (, name, body)
#define COST_ROW_WITH(attribute, name, body) \
  static attribute void name ( \
      const StereoPlan *plan, int y, int from, int end, int i0, int count, int pitch, uint8_t *out) \
  { \
    const StereoView *l = &plan->view[STEREO_LEFT], *r = &plan->view[STEREO_RIGHT]; \
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
#endif
  return rows[cost];
}
