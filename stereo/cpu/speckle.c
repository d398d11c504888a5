/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Speckle removal: connected regions of too few pixels become invalid. Union-find over runs of connected pixels of a row: a
 * label is the number of a pixel, each pixel of a run begins with the label of the run's first one, and the root of a region
 * is its smallest pixel. */
#include "stereo/cpu/cpu.h"

/* Numbers of pixels, with rows map_pitch apart, fit 32 bits. */
static_assert ((int64_t) STEREO_MAX_SIDE * STEREO_MAX_SIDE <= INT32_MAX && STEREO_MAX_SIDE % 32 == 0, "pixels");

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

static void
join (int32_t *label, int32_t a, int32_t b)
{
  a = root_of (label, a);
  b = root_of (label, b);
  if (a < b)
    label[b] = a;
  else
    label[a] = b;
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
  StereoStatus status = stereo_reserve (plan, (void **) &c->label, pixels, sizeof (int32_t), error);
  return status ? status : stereo_reserve (plan, (void **) &c->size, pixels, sizeof (int32_t), error);
}

/* Labels the runs of a row. */
static void
label_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Context *c = context;
  const float *disparity = plan->disparity;
  float range = (float) plan->params.speckle_range;
  int32_t *label = c->label, first = y * plan->map_pitch, end = first + plan->width, run = first;

  memset (c->size + first, 0, (size_t) plan->width * sizeof *c->size);
  label[first] = first;
  for (int32_t p = first + 1; p < end; p++) {
    run = connected (disparity[p], disparity[p - 1], range) ? run : p;
    label[p] = run;
  }
}

/* Joins the runs of row @y with those above that they are connected to. Neighbours mostly ask for the same two. */
static void
join_rows (const StereoPlan *plan, int32_t *label, int y)
{
  const float *disparity = plan->disparity;
  float range = (float) plan->params.speckle_range;
  int32_t pitch = plan->map_pitch, first = y * pitch, end = first + plan->width, run = -1, above = -1;

  for (int32_t p = first; p < end; p++) {
    if (!connected (disparity[p], disparity[p - pitch], range) || (label[p] == run && label[p - pitch] == above))
      continue;
    join (label, p, p - pitch);
    run = label[p];
    above = label[p - pitch];
  }
}

/* Makes the root of each pixel of a row its label, and counts it. */
static void
count_row (const StereoPlan *plan, const Context *c, int y)
{
  int32_t *label = c->label, *size = c->size, first = y * plan->map_pitch, end = first + plan->width;

  for (int32_t p = first; p < end;) {
    int32_t run = label[p], root = root_of (label, run), start = p;
    do
      label[p++] = root;
    while (p < end && label[p] == run);
    size[root] += p - start;
  }
}

static void
remove_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Context *c = context;
  const int32_t *label = c->label, *size = c->size;
  int32_t first = y * plan->map_pitch, end = first + plan->width, least = plan->params.speckle_size;
  float *disparity = plan->disparity;

  for (int32_t p = first; p < end;) {
    int32_t root = label[p];
    int small = size[root] < least;
    for (; p < end && label[p] == root; p++)
      disparity[p] = small ? NAN : disparity[p];
  }
}

static StereoStatus
speckle_run (StereoPlan *plan, void *context, StereoError *error)
{
  const Context *c = context;

  cpu_run (plan, context, label_row, plan->height);
  for (int y = 1; y < plan->height; y++)
    join_rows (plan, c->label, y);
  for (int y = 0; y < plan->height; y++)
    count_row (plan, c, y);
  cpu_run (plan, context, remove_row, plan->height);
  return STEREO_OK;
}

const StereoStage CPU (
    speckle) = { .name = "speckle", .context_size = sizeof (Context), .prepare = speckle_prepare, .run = speckle_run };
