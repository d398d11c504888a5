/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the other view says of the pixels that are selected as partners, in lanes. */
#ifndef STEREO_CPU_POST_PARTNER_H
#define STEREO_CPU_POST_PARTNER_H

#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"

/* By how much the partners' indices differ from those of LANES columns from @x on, in either direction; @index and @other are
 * rows of maps. @none: the lanes that have no index. A partner outside the other picture agrees with nothing. */
VEC_INLINE VecI
cpu_disagreement (const StereoPlan *plan, const uint16_t *index, const uint16_t *other, int x, VecI *none)
{
  const VecI lanes = LANE_NUMBERS;
  VecI own = vec_widen (vec_load_h (index + x)), column = lanes + x; /* a row of a map has room for whole vectors */

  *none = (own == (int) STEREO_INVALID) | (column >= plan->width);
  VecI partner = (plan->width - 1 + plan->min_disparity - column + own) & ~*none;
  VecI outside = (partner < 0) | (partner >= plan->width);
  return vec_abs (vec_words_at (other, partner & ~outside) - own) | (outside & INT32_MAX);
}

#endif
