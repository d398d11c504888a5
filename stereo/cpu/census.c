/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What costs and support weights read besides luma and colour: census transform (3.2.5), horizontal gradient, CIELAB (exact/lab.h). */
#include "stereo/cpu/cpu.h"

#include <string.h>

/* 7x5 has 34 neighbours, and a word has 32 bits: two opposite corners are left out. So the window stays symmetric under the
 * half turn. Which pair of corners makes no difference in quality (4.3.4, figure 4.5). */
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

#define CHUNK 128 /* columns at a time */

/* In a chunk of columns, eight neighbours make a plane of bytes, which vectors compute 16 to 64 columns at a time. At the
 * end each word is put together from its bytes in the planes. */
#define CENSUS_ROW(name, type, rx, ry, skipped) \
  static inline __attribute__ ((always_inline)) void name##_chunk ( \
      const StereoPlan *plan, const StereoView *view, int sign, int y, int from, int count, int inner) \
  { \
    size_t place = (size_t) y * (size_t) plan->image_pitch + (size_t) from; \
    const uint8_t *restrict centre = view->luma + place; \
    type *restrict out = (type *) view->census + place; \
    uint8_t planes[sizeof (type)][CHUNK]; \
    int bit = 0; \
    memset (planes, 0, sizeof planes); \
    for (int dy = -(ry); dy <= (ry); dy++) { \
      const uint8_t *row = view->luma + (size_t) clamp (y + dy, plan->height - 1) * (size_t) plan->image_pitch; \
      for (int dx = -(rx); dx <= (rx); dx++) { \
        if ((dx == 0 && dy == 0) || skipped) \
          continue; \
        uint8_t *restrict plane = planes[bit / 8], value = (uint8_t) (1 << bit % 8); \
        const uint8_t *restrict shifted = row + from + sign * dx; \
        for (int x = 0; inner && x < count; x++) \
          plane[x] |= shifted[x] < centre[x] ? value : 0; \
        for (int x = 0; !inner && x < count; x++) \
          plane[x] |= row[clamp (from + x + sign * dx, plan->width - 1)] < centre[x] ? value : 0; \
        bit++; \
      } \
    } \
    for (int x = 0; x < count; x++) { \
      type word = 0; \
      for (size_t k = 0; k < sizeof (type); k++) \
        word |= (type) planes[k][x] << 8 * k; \
      out[x] = word; \
    } \
  } \
  static void name (const StereoPlan *plan, const StereoView *view, int sign, int y, int from, int to, int inner) \
  { \
    int first = from; \
    for (; inner && from + CHUNK <= to; from += CHUNK) \
      name##_chunk (plan, view, sign, y, from, CHUNK, 1); \
    if (inner && from < to && to - CHUNK >= first) { /* some columns are computed twice, so that none remain */ \
      name##_chunk (plan, view, sign, y, to - CHUNK, CHUNK, 1); \
      return; \
    } \
    for (; from < to; from += CHUNK) \
      name##_chunk (plan, view, sign, y, from, to - from < CHUNK ? to - from : CHUNK, inner); \
  }

CENSUS_ROW (census_row_7x5, uint32_t, 3, 2, skipped_7x5 (dx, dy))
CENSUS_ROW (census_row_9x7, uint64_t, 4, 3, 0)

typedef void (*CensusRow) (const StereoPlan *plan, const StereoView *view, int sign, int y, int from, int to, int inner);

static void
census_row (StereoPlan *plan, int item, CensusRow row, int radius)
{
  int view = item % 2, y = item / 2;
  int sign = view == STEREO_RIGHT ? -1 : 1; /* the right view is stored mirrored */
  const StereoView *v = &plan->view[view];
  int left = radius < plan->width ? radius : plan->width;
  int right = plan->width - radius > left ? plan->width - radius : left;

  row (plan, v, sign, y, 0, left, 0);
  row (plan, v, sign, y, left, right, 1);
  row (plan, v, sign, y, right, plan->width, 0);
}

static void
census_7x5_row (StereoPlan *plan, void *context, int item, int thread)
{
  census_row (plan, item, census_row_7x5, 3);
}

static void
census_9x7_row (StereoPlan *plan, void *context, int item, int thread)
{
  census_row (plan, item, census_row_9x7, 4);
}

static void
census_7x5_gradient_row (StereoPlan *plan, void *context, int item, int thread)
{
  int view = item % 2, y = item / 2, last = plan->width - 1;
  int sign = view == STEREO_RIGHT ? -1 : 1;
  const uint8_t *restrict luma = plan->view[view].luma + (size_t) y * plan->image_pitch;
  int16_t *restrict gradient = plan->view[view].gradient + (size_t) y * plan->image_pitch;

  census_row (plan, item, census_row_7x5, 3);
  gradient[0] = (int16_t) (sign * (luma[clamp (1, last)] - luma[0]));
  for (int x = 1; x < last; x++)
    gradient[x] = (int16_t) (sign * (luma[x + 1] - luma[x - 1]));
  gradient[last] = (int16_t) (sign * (luma[last] - luma[clamp (last - 1, last)]));
}

static StereoStatus
census_7x5_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, census_7x5_row, 2 * plan->height);
  return STEREO_OK;
}

static StereoStatus
census_9x7_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, census_9x7_row, 2 * plan->height);
  return STEREO_OK;
}

static StereoStatus
census_7x5_gradient_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, census_7x5_gradient_row, 2 * plan->height);
  return STEREO_OK;
}

const StereoStage CPU (census_7x5) = { .name = "census", .run = census_7x5_run };
const StereoStage CPU (census_9x7) = { .name = "census", .run = census_9x7_run };
const StereoStage CPU (census_7x5_gradient) = { .name = "census", .run = census_7x5_gradient_run };

/* ---- CIELAB ----------------------------------------------------------------------------------- */

static void
lab_row (StereoPlan *plan, void *context, int item, int thread)
{
  const StereoLab *table = context;
  const StereoView *view = &plan->view[item % 2];
  size_t row = (size_t) (item / 2) * (size_t) plan->image_pitch;
  const uint32_t *color = view->color + row;
  uint32_t *likeness = view->likeness + row;

  for (int x = 0; x < plan->width; x++)
    likeness[x] = stereo_lab (table, color[x]);
}

static StereoStatus
lab_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  stereo_lab_table (context);
  return STEREO_OK;
}

static StereoStatus
lab_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, lab_row, 2 * plan->height);
  return STEREO_OK;
}

const StereoStage CPU (
    lab) = { .name = "lab", .context_size = sizeof (StereoLab), .prepare = lab_prepare, .run = lab_run };
