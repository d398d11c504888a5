/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matching costs of one pixel pair: one function a cost, over a row and a run of disparities. The
 * mirrored right view makes both the output and the right pixels contiguous in the disparity. */
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"

/* Loops over the columns of row y; `partner` is the element of column x's partner at index i0. */
#define COST_ROW(name, body) \
  static void \
  name (const StereoPlan *plan, int y, int i0, int count, int pitch, uint8_t *out) \
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

/* stereo_mixed_part() in lanes. */
static inline VecI
mixed_part (VecI sad, VecI slope)
{
  VecI color = vec_min (sad, sad * 0 + 60);
  VecI rise = vec_min (slope, -slope);
  VecI steps = vec_min (rise * -2, rise * 0 + 20);
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
  uint32_t own = l->color[left];
  for (int i = 0; i < count; i++)
    to[i] = (uint8_t) ((stereo_color_distance (own, color[i]) + 1) / 3);
})

CpuCostRow
CPU (cost_row) (int cost)
{
  static const CpuCostRow rows[STEREO_COSTS] = {
    [STEREO_COST_CENSUS_7X5] = row_census32,
    [STEREO_COST_CENSUS_9X7] = row_census64,
    [STEREO_COST_MIXED] = row_mixed,
    [STEREO_COST_AD] = row_ad,
    [STEREO_COST_SAD] = row_sad,
  };
  return rows[cost];
}
