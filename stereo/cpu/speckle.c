/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Speckle removal: connected regions of too few pixels become invalid. Union-find over the rows: a label is the number of a
 * pixel, and the root of a region is its smallest pixel. */
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

static StereoStatus
speckle_run (StereoPlan *plan, void *context, StereoError *error)
{
  const Context *c = context;
  int32_t *label = c->label, *size = c->size, pitch = plan->map_pitch;
  float range = (float) plan->params.speckle_range;

  for (int y = 0; y < plan->height; y++)
    for (int x = 0; x < plan->width; x++) {
      int32_t p = y * pitch + x;
      label[p] = p;
      size[p] = 0;
      if (x > 0 && connected (plan->disparity[p], plan->disparity[p - 1], range))
        join (label, p, p - 1);
      if (y > 0 && connected (plan->disparity[p], plan->disparity[p - pitch], range))
        join (label, p, p - pitch);
    }
  for (int y = 0; y < plan->height; y++)
    for (int x = 0; x < plan->width; x++)
      size[root_of (label, y * pitch + x)]++;
  for (int y = 0; y < plan->height; y++)
    for (int x = 0; x < plan->width; x++)
      if (size[root_of (label, y * pitch + x)] < plan->params.speckle_size)
        plan->disparity[y * pitch + x] = NAN;
  return STEREO_OK;
}

const StereoStage CPU (
    speckle) = { .name = "speckle", .context_size = sizeof (Context), .prepare = speckle_prepare, .run = speckle_run };
