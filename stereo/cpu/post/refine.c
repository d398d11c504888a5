/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The expected disparity of refinement (thesis, 3.2.3): the mean, over a window, of the disparities selected so far, weighted
 * by likeness, nearness and confidence. Neither pass divides the two sums before the end, so that a column without
 * confidence adds nothing to its row.
 */
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"

#include <stdlib.h>

#define LINE_PAD 64 /* columns before and after a line: half of the largest window */

typedef struct Context
{
  float *lines; /* per thread: see line_of() */
} Context;

/* A row with LINE_PAD columns of confidence 0 on both sides, so that no tap needs a test. */
typedef struct Line
{
  uint32_t *color;
  float *confidence, *product; /* w F and w F D, or their vertical sums */
} Line;

static size_t
line_pitch (const StereoPlan *plan)
{
  return (size_t) plan->map_pitch + 2 * LINE_PAD;
}

/* Line @slot of the @slots lines of a thread. */
static Line
line_of (const StereoPlan *plan, const Context *c, int thread, int slot, int slots)
{
  size_t pitch = line_pitch (plan);
  float *base = c->lines + ((size_t) thread * (size_t) slots + (size_t) slot) * 3 * pitch + LINE_PAD;
  return (Line){ (uint32_t *) base, base + pitch, base + 2 * pitch };
}

static StereoStatus
reserve_lines (StereoPlan *plan, Context *c, int slots, StereoError *error)
{
  size_t line = 3 * line_pitch (plan) * (size_t) cpu_threads (plan);
  return stereo_reserve (plan, (void **) &c->lines, stereo_times (line, (size_t) slots), sizeof (float), error);
}

/* F and F D of row @y; a pixel without a disparity has no confidence either. */
static void
load_line (const StereoPlan *plan, const StereoView *view, int y, Line line)
{
  size_t map = (size_t) y * (size_t) plan->map_pitch;
  memcpy (
      line.color, view->likeness + (size_t) y * (size_t) plan->image_pitch, (size_t) plan->width * sizeof (uint32_t));
  memcpy (line.confidence, view->confidence + map, (size_t) plan->width * sizeof (float));
  for (int x = 0; x < plan->width; x++)
    line.product[x] = line.confidence[x] * (float) view->index[map + x];
}

/* rint (sum F D / sum F), in steps; none where all confidences of the window are 0. */
static void
store_expected (const StereoPlan *plan, const StereoView *view, int y, int x, VecF confidence, VecF product)
{
  int32_t *to = view->expected + (size_t) y * (size_t) plan->map_pitch + x;
  for (int lane = 0; lane < LANES; lane++)
    to[lane] = confidence[lane] > 0 ? (int32_t) rintf (product[lane] / confidence[lane] * STEREO_EXPECT_STEPS) :
                                      STEREO_EXPECT_NONE;
}

typedef struct Factors
{
  int radius;
  float color, distance;
} Factors;

static Factors
factors_of (const StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  return (Factors){ p->refine_window / 2, (float) (-STEREO_LOG2E / p->refine_gamma_color),
    (float) (-STEREO_LOG2E / p->refine_gamma_distance) };
}

/* ---- two-pass --------------------------------------------------------------------------------- */

static void
vertical_sums (const StereoPlan *plan, const StereoView *view, int y, Line out)
{
  Factors f = factors_of (plan);
  int from = y > f.radius ? -f.radius : -y;
  int to = y + f.radius < plan->height ? f.radius : plan->height - 1 - y;
  ptrdiff_t image = plan->image_pitch, map = plan->map_pitch;

  for (int x = 0; x < plan->width; x += LANES) {
    const uint32_t *color = view->likeness + y * image + x;
    VecU centre = vec_load_u (color);
    VecF confidence = { 0 }, product = { 0 };
    for (int k = from; k <= to; k++) {
      VecF weight = vec_weight (centre, vec_load_u (color + k * image), f.color, f.distance * (float) abs (k));
      VecF trust = weight * vec_load_f (view->confidence + (y + k) * map + x);
      confidence += trust;
      product += trust * vec_float (vec_widen (vec_load_h (view->index + (y + k) * map + x)));
    }
    vec_store_f (out.confidence + x, confidence);
    vec_store_f (out.product + x, product);
  }
}

static void
horizontal_sums (const StereoPlan *plan, const StereoView *view, int y, Line line)
{
  Factors f = factors_of (plan);

  for (int x = 0; x < plan->width; x += LANES) {
    VecU centre = vec_load_u (line.color + x);
    VecF confidence = { 0 }, product = { 0 };
    for (int o = -f.radius; o <= f.radius; o++) {
      VecF weight = vec_weight (centre, vec_load_u (line.color + x + o), f.color, f.distance * (float) abs (o));
      confidence += weight * vec_load_f (line.confidence + x + o);
      product += weight * vec_load_f (line.product + x + o);
    }
    store_expected (plan, view, y, x, confidence, product);
  }
}

static void
two_pass_row (StereoPlan *plan, void *context, int item, int thread)
{
  int y = item / 2;
  const StereoView *view = &plan->view[item % 2];
  Line line = line_of (plan, context, thread, 0, 1);
  size_t beyond = (size_t) (plan->map_pitch - plan->width) * sizeof (float);

  memcpy (
      line.color, view->likeness + (size_t) y * (size_t) plan->image_pitch, (size_t) plan->width * sizeof (uint32_t));
  vertical_sums (plan, view, y, line);
  memset (line.confidence + plan->width, 0, beyond);
  memset (line.product + plan->width, 0, beyond);
  horizontal_sums (plan, view, y, line);
}

static StereoStatus
two_pass_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  return reserve_lines (plan, context, 1, error);
}

static StereoStatus
two_pass_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, two_pass_row, 2 * plan->height);
  return STEREO_OK;
}

/* ---- full window -------------------------------------------------------------------------------- */

static void
full_row (StereoPlan *plan, void *context, int item, int thread)
{
  int y = item / 2, slots = plan->params.refine_window;
  const StereoView *view = &plan->view[item % 2];
  Factors f = factors_of (plan);
  int from = y > f.radius ? -f.radius : -y;
  int to = y + f.radius < plan->height ? f.radius : plan->height - 1 - y;

  for (int k = from; k <= to; k++)
    load_line (plan, view, y + k, line_of (plan, context, thread, k + f.radius, slots));
  for (int x = 0; x < plan->width; x += LANES) {
    VecU centre = vec_load_u (line_of (plan, context, thread, f.radius, slots).color + x);
    VecF confidence = { 0 }, product = { 0 };
    for (int k = from; k <= to; k++) {
      Line line = line_of (plan, context, thread, k + f.radius, slots);
      for (int o = -f.radius; o <= f.radius; o++) {
        float distance = f.distance * sqrtf ((float) (k * k + o * o));
        VecF weight = vec_weight (centre, vec_load_u (line.color + x + o), f.color, distance);
        confidence += weight * vec_load_f (line.confidence + x + o);
        product += weight * vec_load_f (line.product + x + o);
      }
    }
    store_expected (plan, view, y, x, confidence, product);
  }
}

static StereoStatus
full_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  return reserve_lines (plan, context, plan->params.refine_window, error);
}

static StereoStatus
full_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, full_row, 2 * plan->height);
  return STEREO_OK;
}

const StereoStage CPU (refine_two_pass) = {
  .name = "refine", .context_size = sizeof (Context), .prepare = two_pass_prepare, .run = two_pass_run
};
const StereoStage CPU (
    refine_full) = { .name = "refine", .context_size = sizeof (Context), .prepare = full_prepare, .run = full_run };
