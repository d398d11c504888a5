/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Load: images of any packing become packed colour and luma; the right view is stored mirrored. */
#include "stereo/cpu/cpu.h"
#include "stereo/exact/align.h"

static void
load_grey (const StereoImage *image, const uint8_t *from, int width, uint32_t *color)
{
  for (int x = 0; x < width; x++, from += image->pixel_stride)
    color[x] = from[image->offset[0]] * 0x010101u;
}

static void
load_color (const StereoImage *image, const uint8_t *from, int width, uint32_t *color)
{
  for (int x = 0; x < width; x++, from += image->pixel_stride)
    color[x] = from[image->offset[0]] | (uint32_t) from[image->offset[1]] << 8 | (uint32_t) from[image->offset[2]] << 16;
}

/* The same for pixels of @bytes bytes, 3 or 4, all of which are read: the compiler makes vectors of a loop whose @bytes it
 * knows. */
static inline void
load_whole (const StereoImage *image, const uint8_t *restrict from, int width, int bytes, uint32_t *restrict color)
{
  int red = 8 * image->offset[0], green = 8 * image->offset[1], blue = 8 * image->offset[2];

  for (int x = 0; x < width; x++) {
    const uint8_t *p = from + x * bytes;
    uint32_t pixel = p[0] | (uint32_t) p[1] << 8 | (uint32_t) p[2] << 16 | (bytes > 3 ? (uint32_t) p[3] << 24 : 0);
    color[x] = (pixel >> red & 0xFF) | (pixel >> green & 0xFF) << 8 | (pixel >> blue & 0xFF) << 16;
  }
}

static int
is_whole (const StereoImage *image, int bytes)
{
  return image->pixel_stride == bytes && image->offset[0] < bytes && image->offset[1] < bytes &&
      image->offset[2] < bytes;
}

/* Outside their samples, the first and the last pixel may lie in memory that is not the image's. */
static void
load_colors (const StereoImage *image, const uint8_t *from, int width, uint32_t *color)
{
  const uint8_t *second = from + image->pixel_stride, *last = from + (width - 1) * image->pixel_stride;

  load_color (image, from, 1, color);
  load_color (image, last, 1, color + width - 1);
  if (is_whole (image, 3))
    load_whole (image, second, width - 2, 3, color + 1);
  else if (is_whole (image, 4))
    load_whole (image, second, width - 2, 4, color + 1);
  else
    load_color (image, second, width - 2, color + 1);
}

static void
mirror (uint32_t *color, int width)
{
  uint32_t *restrict first = color, *restrict last = color + width - 1;

  for (int x = 0; x < width / 2; x++) {
    uint32_t pixel = first[x];
    first[x] = last[-x];
    last[-x] = pixel;
  }
}

static void
find_luma (const uint32_t *restrict color, int width, uint8_t *restrict luma)
{
  for (int x = 0; x < width; x++)
    luma[x] = (uint8_t) stereo_align_luma (color[x]);
}

static void
load_row (StereoPlan *plan, void *context, int item, int thread)
{
  int view = item % 2, y = item / 2;
  const StereoImage *image = &plan->input[view];
  const uint8_t *from = image->data + y * image->stride;
  size_t row = (size_t) y * (size_t) plan->image_pitch;
  uint32_t *color = plan->view[view].color + row;
  uint8_t *luma = plan->view[view].luma + row;

  (image->channels == 1 ? load_grey : load_colors) (image, from, plan->width, color);
  if (view == STEREO_RIGHT)
    mirror (color, plan->width);
  find_luma (color, plan->width, luma);
}

static StereoStatus
load_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, load_row, 2 * plan->height);
  return STEREO_OK;
}

const StereoStage CPU (load) = { .name = "load", .run = load_run };
