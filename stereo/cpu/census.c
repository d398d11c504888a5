/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Census transform (3.2.5) and the horizontal gradient: what the costs read besides luma and colour. */
#include "stereo/cpu/cpu.h"

/* 7x5 has 34 neighbours and 32 bits: two opposite corners go, so that the window stays symmetric
 * under the half turn; which pair makes no difference in quality (4.3.4, figure 4.5). */
static int
skipped_7x5 (int dx, int dy)
{
  return (dx == -3 && dy == -2) || (dx == 3 && dy == 2);
}

static int
clamp (int v, int last)
{
  return v < 0 ? 0 : v > last ? last : v;
}

#define CENSUS_ROW(name, type, rx, ry, skipped) \
  static void \
  name (const StereoPlan *plan, const StereoView *view, int sign, int y, int from, int to, int inner) \
  { \
    const uint8_t *luma = view->luma; \
    const uint8_t *centre = luma + (size_t) y * plan->image_pitch; \
    type *restrict out = (type *) view->census + (size_t) y * plan->image_pitch; \
    int bit = 0; \
    for (int x = from; x < to; x++) \
      out[x] = 0; \
    for (int dy = -(ry); dy <= (ry); dy++) { \
      const uint8_t *row = luma + (size_t) clamp (y + dy, plan->height - 1) * plan->image_pitch; \
      for (int dx = -(rx); dx <= (rx); dx++) { \
        if ((dx == 0 && dy == 0) || skipped) \
          continue; \
        if (inner) { \
          const uint8_t *shifted = row + sign * dx; \
          for (int x = from; x < to; x++) \
            out[x] |= (type) (shifted[x] < centre[x]) << bit; \
        } else { \
          for (int x = from; x < to; x++) \
            out[x] |= (type) (row[clamp (x + sign * dx, plan->width - 1)] < centre[x]) << bit; \
        } \
        bit++; \
      } \
    } \
  }

CENSUS_ROW (census_row_7x5, uint32_t, 3, 2, skipped_7x5 (dx, dy))
CENSUS_ROW (census_row_9x7, uint64_t, 4, 3, 0)

typedef void (*CensusRow) (const StereoPlan *plan, const StereoView *view, int sign, int y, int from, int to,
    int inner);

static void
census_row (StereoPlan *plan, int item, CensusRow row, int radius)
{
  int view = item % 2, y = item / 2;
  int sign = view == STEREO_RIGHT ? -1 : 1;     /* true x runs backwards there */
  const StereoView *v = &plan->view[view];
  int left = radius < plan->width ? radius : plan->width;
  int right = plan->width - radius > left ? plan->width - radius : left;

  row (plan, v, sign, y, 0, left, 0);
  row (plan, v, sign, y, left, right, 1);
  row (plan, v, sign, y, right, plan->width, 0);
}

static void
census_7x5_row (StereoPlan *plan, int item, int thread)
{
  census_row (plan, item, census_row_7x5, 3);
}

static void
census_9x7_row (StereoPlan *plan, int item, int thread)
{
  census_row (plan, item, census_row_9x7, 4);
}

static void
mixed_row (StereoPlan *plan, int item, int thread)
{
  int view = item % 2, y = item / 2, last = plan->width - 1;
  int sign = view == STEREO_RIGHT ? -1 : 1;
  const uint8_t *luma = plan->view[view].luma + (size_t) y * plan->image_pitch;
  int16_t *gradient = plan->view[view].gradient + (size_t) y * plan->image_pitch;

  census_row (plan, item, census_row_7x5, 3);
  for (int x = 0; x <= last; x++)
    gradient[x] = (int16_t) (sign * (luma[clamp (x + 1, last)] - luma[clamp (x - 1, last)]));
}

static StereoStatus
census_7x5_run (StereoPlan *plan, StereoError *error)
{
  cpu_run (plan, census_7x5_row, 2 * plan->height);
  return STEREO_OK;
}

static StereoStatus
census_9x7_run (StereoPlan *plan, StereoError *error)
{
  cpu_run (plan, census_9x7_row, 2 * plan->height);
  return STEREO_OK;
}

static StereoStatus
mixed_run (StereoPlan *plan, StereoError *error)
{
  cpu_run (plan, mixed_row, 2 * plan->height);
  return STEREO_OK;
}

const StereoStage CPU (census_7x5) = { "census", NULL, census_7x5_run };
const StereoStage CPU (census_9x7) = { "census", NULL, census_9x7_run };
const StereoStage CPU (mixed) = { "census", NULL, mixed_run };
