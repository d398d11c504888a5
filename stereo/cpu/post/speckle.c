/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Speckle removal: connected regions of too few pixels become invalid. Union-find over runs of connected pixels of a row, of each of
 * which its first pixel keeps what is known; the root of a region is its first run. Threads find the regions of bands of rows; those
 * that touch across a border between bands are joined by one thread. */
#include "stereo/cpu/cpu.h"

/* Numbers of pixels, with rows map_pitch apart, fit 32 bits. */
static_assert ((int64_t) STEREO_MAX_SIDE * STEREO_MAX_SIDE <= INT32_MAX && STEREO_MAX_SIDE % 32 == 0, "pixels");

#define BAND 16 /* rows */

/* Maps. Numbers of pixels stand for runs that begin there; only these are kept. */
typedef struct Context
{
  int32_t *label; /* a run of the same region that begins before this one; the root's is itself */
  int32_t *size;  /* of a root: pixels of its region */
  int32_t *next;  /* the row's next run, or the row's end: pixels without a disparity lie before it */
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
  int32_t **maps[] = { &c->label, &c->size, &c->next };
  StereoStatus status = STEREO_OK;

  for (int k = 0; k < 3 && !status; k++)
    status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) maps[k], pixels, sizeof (int32_t), error);
  return status;
}

/* Finds the runs of a row, and counts their pixels. The row's first pixel begins one in any case. */
static void
label_row (const StereoPlan *plan, const Context *c, int y)
{
  const float *disparity = plan->disparity;
  float range = (float) plan->params.speckle_range;
  int32_t first = y * plan->map_pitch, end = first + plan->width;

  for (int32_t run = first, p = first; run < end; run = p) {
    do
      p++;
    while (p < end && connected (disparity[p], disparity[p - 1], range));
    c->label[run] = run;
    c->size[run] = p - run;
    while (p < end && isnan (disparity[p]))
      p++;
    c->next[run] = p;
  }
}

/* Joins the runs of row @y with those above that they are connected to anywhere. */
static void
join_rows (const StereoPlan *plan, const Context *c, int y)
{
  const float *disparity = plan->disparity;
  float range = (float) plan->params.speckle_range;
  int32_t pitch = plan->map_pitch, run = y * pitch, above = run - pitch, end = run + plan->width;

  for (int32_t p = run; p < end;) {
    int32_t next = c->next[run], next_above = c->next[above] + pitch, stop = next < next_above ? next : next_above;
    while (p < stop && !connected (disparity[p], disparity[p - pitch], range))
      p++;
    if (p < stop)
      join (c, run, above);
    p = stop;
    run = next == stop ? stop : run;
    above = next_above == stop ? stop - pitch : above;
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

  for (int32_t run = first; run < end; run = c->next[run]) {
    int32_t root = run;
    while (label[root] != root)
      root = label[root];
    for (int32_t p = run; size[root] < least && p < c->next[run]; p++)
      disparity[p] = NAN;
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
