/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Speckle removal: connected regions of too few pixels become invalid. Union-find over runs of connected pixels of a row: a
 * label is the number of a pixel, each pixel of a run begins with the label of the run's first one, and the root of a region
 * is its smallest pixel. Threads find the regions of bands of rows; those that touch across a border between bands are joined
 * by one thread. */
#include "stereo/cpu/cpu.h"

/* Numbers of pixels, with rows map_pitch apart, fit 32 bits. */
static_assert ((int64_t) STEREO_MAX_SIDE * STEREO_MAX_SIDE <= INT32_MAX && STEREO_MAX_SIDE % 32 == 0, "pixels");

#define BAND 16 /* rows */

typedef struct Context
{
  int32_t *label; /* map */
  int32_t *size;  /* map: pixels of the region whose root this is */
} Context;

static int32_t
root_of (int32_t *label, int32_t pixel)
{
  while (label[pixel] != pixel) {
    label[pixel] = label[label[pixel]];
    pixel = label[pixel];
  }
  return pixel;
}

/* Joins the regions of two pixels. */
static void
join (const Context *c, int32_t a, int32_t b)
{
  int32_t low, high;

  a = root_of (c->label, a);
  b = root_of (c->label, b);
  if (a == b)
    return;
  low = a < b ? a : b;
  high = a < b ? b : a;
  c->label[high] = low;
  c->size[low] += c->size[high];
}

/* Not connected if one of the two is NaN. */
static int
connected (float a, float b, float range)
{
  return fabsf (a - b) <= range;
}

static StereoStatus
speckle_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  size_t pixels = (size_t) plan->map_pitch * (size_t) plan->height;
  StereoStatus status = stereo_reserve_for (
      plan, STEREO_LIFE_MAPS, (void **) &c->label, pixels, sizeof (int32_t), error);
  return status ? status :
                  stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->size, pixels, sizeof (int32_t), error);
}

/* Labels the runs of a row, and counts them. */
static void
label_row (const StereoPlan *plan, const Context *c, int y)
{
  const float *disparity = plan->disparity;
  float range = (float) plan->params.speckle_range;
  int32_t *label = c->label, *size = c->size, first = y * plan->map_pitch, end = first + plan->width, run = first;

  label[first] = first;
  for (int32_t p = first + 1; p < end; p++) {
    if (!connected (disparity[p], disparity[p - 1], range)) {
      size[run] = p - run;
      run = p;
    }
    label[p] = run;
  }
  size[run] = end - run;
}

/* Joins the runs of row @y with those above that they are connected to. Neighbours mostly ask for the same two. */
static void
join_rows (const StereoPlan *plan, const Context *c, int y)
{
  const float *disparity = plan->disparity;
  const int32_t *label = c->label;
  float range = (float) plan->params.speckle_range;
  int32_t pitch = plan->map_pitch, first = y * pitch, end = first + plan->width, run = -1, above = -1;

  for (int32_t p = first; p < end; p++) {
    if (!connected (disparity[p], disparity[p - pitch], range) || (label[p] == run && label[p - pitch] == above))
      continue;
    join (c, p, p - pitch);
    run = label[p];
    above = label[p - pitch];
  }
}

static void
label_band (StereoPlan *plan, void *context, int item, int thread)
{
  const Context *c = context;
  int first = item * BAND, end = first + BAND < plan->height ? first + BAND : plan->height;

  for (int y = first; y < end; y++) {
    label_row (plan, c, y);
    if (y > first)
      join_rows (plan, c, y);
  }
}

/* Other threads read the labels too: none is changed. */
static void
remove_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Context *c = context;
  const int32_t *label = c->label, *size = c->size;
  int32_t first = y * plan->map_pitch, end = first + plan->width, least = plan->params.speckle_size;
  float *disparity = plan->disparity;

  for (int32_t p = first; p < end;) {
    int32_t run = label[p], root = run;
    while (label[root] != root)
      root = label[root];
    int small = size[root] < least;
    for (; p < end && label[p] == run; p++)
      disparity[p] = small ? NAN : disparity[p];
  }
}

static StereoStatus
speckle_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, label_band, (plan->height + BAND - 1) / BAND);
  for (int y = BAND; y < plan->height; y += BAND)
    join_rows (plan, context, y);
  cpu_run (plan, context, remove_row, plan->height);
  return STEREO_OK;
}

const StereoStage CPU (
    speckle) = { .name = "speckle", .context_size = sizeof (Context), .prepare = speckle_prepare, .run = speckle_run };
