/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Load: images of any packing become packed colour and luma; the right view is stored mirrored. */
#include "stereo/cpu/cpu.h"

static void
load_grey (const StereoImage *image, const uint8_t *from, int width, int step, uint32_t *color, uint8_t *luma)
{
  for (int x = 0; x < width; x++, from += image->pixel_stride) {
    uint8_t v = from[image->offset[0]];
    luma[x * step] = v;
    color[x * step] = v * 0x010101u;
  }
}

static void
load_color (const StereoImage *image, const uint8_t *from, int width, int step, uint32_t *color, uint8_t *luma)
{
  for (int x = 0; x < width; x++, from += image->pixel_stride) {
    uint32_t r = from[image->offset[0]], g = from[image->offset[1]], b = from[image->offset[2]];
    luma[x * step] = (uint8_t) ((77 * r + 150 * g + 29 * b + 128) >> 8);
    color[x * step] = r | g << 8 | b << 16;
  }
}

static void
load_row (StereoPlan *plan, void *context, int item, int thread)
{
  int view = item % 2, y = item / 2;
  const StereoImage *image = &plan->input[view];
  const uint8_t *from = image->data + y * image->stride;
  size_t start = (size_t) y * plan->image_pitch + (view == STEREO_RIGHT ? plan->width - 1 : 0);
  int step = view == STEREO_RIGHT ? -1 : 1;

  (image->channels == 1 ? load_grey : load_color) (
      image, from, plan->width, step, plan->view[view].color + start, plan->view[view].luma + start);
}

static StereoStatus
load_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, load_row, 2 * plan->height);
  return STEREO_OK;
}

const StereoStage CPU (load) = { .name = "load", .run = load_run };
