/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What costs and support weights read besides luma and colour: census transform (3.2.5), horizontal gradient, CIELAB (exact/lab.h). */
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"

/* 7x5 has 34 neighbours, and a word has 32 bits: two opposite corners are left out. So the window stays symmetric under the
 * half turn. Which pair of corners makes no difference in quality (4.3.4, figure 4.5). */
static int
skipped_7x5 (int dx, int dy)
{
  return (dx == -3 && dy == -2) || (dx == 3 && dy == 2);
}

/* Of columns. The right view is stored mirrored. */
static int
sign_of (int view)
{
  return view == STEREO_RIGHT ? -1 : 1;
}

static int
clamp (int v, int last)
{
  return v < 0 ? 0 : v > last ? last : v;
}

/* For each neighbour, in the order of its bit: @body. Loops over constants, unrolled. */
#define EACH_NEIGHBOUR(rx, ry, skipped, body) \
  _Pragma ("GCC unroll 7") for (int dy = -(ry), bit = 0; dy <= (ry); dy++) \
  { \
    _Pragma ("GCC unroll 9") for (int dx = -(rx); dx <= (rx); dx++) \
    { \
      if ((dx == 0 && dy == 0) || skipped) \
        continue; \
      body; \
      bit++; \
    } \
  }

/* Eight neighbours make a plane of bytes, of as many columns as a vector has. At the end each word is put together from its bytes in
 * the planes. Some of the last columns are computed twice, so that none remain but the outer ones. */
#define CENSUS_ROW(name, type, rx, ry, skipped) \
  static inline void name##_columns (const uint8_t *const *rows, ptrdiff_t sign, int x, type *restrict out) \
  { \
    VecU8 planes[sizeof (type)] = { { 0 } }, centre, other; \
    uint8_t bytes[sizeof (type)][sizeof (VecU8)]; \
    memcpy (&centre, rows[ry] + x, sizeof centre); \
    EACH_NEIGHBOUR (rx, ry, skipped, { \
      memcpy (&other, rows[(ry) + dy] + x + sign * dx, sizeof other); \
      planes[bit / 8] |= (VecU8) (other < centre) & (uint8_t) (1 << bit % 8); \
    }) \
    memcpy (bytes, planes, sizeof bytes); \
    for (size_t k = 0; k < sizeof (VecU8); k++) { \
      type word = 0; \
      for (size_t plane = 0; plane < sizeof (type); plane++) \
        word |= (type) bytes[plane][k] << 8 * plane; \
      out[x + (int) k] = word; \
    } \
  } \
  static void name (const StereoPlan *plan, const StereoView *view, int sign, int y) \
  { \
    const uint8_t *rows[2 * (ry) + 1]; \
    type *out = (type *) view->census + (size_t) y * (size_t) plan->image_pitch; \
    int size = (int) sizeof (VecU8), last = plan->width - 1, end = plan->width - (rx), inner = end - (rx) >= size; \
    for (int dy = -(ry); dy <= (ry); dy++) \
      rows[(ry) + dy] = view->luma + (size_t) clamp (y + dy, plan->height - 1) * (size_t) plan->image_pitch; \
    for (int x = rx; inner && x < end; x += size) \
      name##_columns (rows, sign, x + size <= end ? x : end - size, out); \
    for (int x = 0; x <= last; x = inner && x == (rx) -1 ? end : x + 1) { \
      type word = 0; \
      EACH_NEIGHBOUR ( \
          rx, ry, skipped, { word |= (type) (rows[(ry) + dy][clamp (x + sign * dx, last)] < rows[ry][x]) << bit; }) \
      out[x] = word; \
    } \
  }

CENSUS_ROW (census_row_7x5, uint32_t, 3, 2, skipped_7x5 (dx, dy))
CENSUS_ROW (census_row_9x7, uint64_t, 4, 3, 0)

static void
census_7x5_row (StereoPlan *plan, void *context, int item, int thread)
{
  census_row_7x5 (plan, &plan->view[item % 2], sign_of (item % 2), item / 2);
}

static void
census_9x7_row (StereoPlan *plan, void *context, int item, int thread)
{
  census_row_9x7 (plan, &plan->view[item % 2], sign_of (item % 2), item / 2);
}

static void
census_7x5_gradient_row (StereoPlan *plan, void *context, int item, int thread)
{
  int view = item % 2, y = item / 2, last = plan->width - 1;
  int sign = sign_of (view);
  const uint8_t *restrict luma = plan->view[view].luma + (size_t) y * plan->image_pitch;
  int16_t *restrict gradient = plan->view[view].gradient + (size_t) y * plan->image_pitch;

  census_7x5_row (plan, context, item, thread);
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
