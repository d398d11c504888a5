/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Support weights of a row of pixels for one tap: aggregation and refinement by idr compute them once for each tap. */
#ifndef STEREO_CPU_WEIGH_H
#define STEREO_CPU_WEIGH_H

#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"

#include <stdlib.h>

/* Elements of a line of weights: up to a vector is written beyond the last column. */
static inline size_t
cpu_weigh_pitch (const StereoPlan *plan)
{
  return ((size_t) plan->width + 16 + 15) / 16 * 16;
}

/* Weights between (x, y) and (x + dx, y + dy) for every column x; 0 where the tap is outside. The row
 * y + dy is inside. */
static inline void
cpu_weigh (const StereoPlan *plan, const StereoView *view, int y, int dy, int dx, float color_factor,
    float distance_factor, float *out)
{
  const uint32_t *centre = view->likeness + (size_t) y * plan->image_pitch;
  const uint32_t *tap = view->likeness + (ptrdiff_t) (y + dy) * plan->image_pitch + dx;
  int from = dx < 0 ? -dx : 0, to = dx > 0 ? plan->width - dx : plan->width;
  float distance = dx && dy ? sqrtf ((float) (dx * dx + dy * dy)) : (float) abs (dx + dy);

  if (from > plan->width)
    from = plan->width;
  if (to < from)
    to = from;
  memset (out, 0, (size_t) from * sizeof *out);
  for (int x = from; x < to; x += LANES)
    vec_store_f (
        out + x, vec_weight (vec_load_u (centre + x), vec_load_u (tap + x), color_factor, distance_factor * distance));
  memset (out + to, 0, (size_t) (plan->width + LANES - to) * sizeof *out);
}

#endif
