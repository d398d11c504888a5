/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The views as luma, and small pictures of them. */
#include "stereo/align/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SMALL_SIDE 640 /* px: of the small picture, at most */

/* Rows that cells need around them. */
static int
margin (const AlignPictures *p)
{
  return align_reach (p) + 1;
}

/* The same in the views: a window that is placed exactly may reach beyond its patch. */
static int
slack (const AlignPictures *p)
{
  int beyond = ALIGN_ROWS / 2 + ALIGN_REACH + 2 - ALIGN_PATCH / 2 * p->factor;
  return beyond > 0 ? beyond : 0;
}

int
align_pictures_init (AlignPictures *p, int width, int height, int min, int max, int cells)
{
  int larger = width > height ? width : height, factor = (larger + SMALL_SIDE - 1) / SMALL_SIDE;

  *p = (AlignPictures){ .width = width, .height = height, .min = min, .max = max, .factor = factor };
  p->small_width = width / factor;
  p->small_height = height / factor;
  /* a patch may start at any row of its cell */
  p->most_rows = (cells + 1) * ALIGN_PATCH + 2 * margin (p);
  p->most_lines = (p->most_rows + 1) * factor + 2 * slack (p);
  size_t small = (size_t) p->small_width * (size_t) p->most_rows;
  for (int i = 0; i < 2; i++) {
    AlignPicture *view = &p->view[i];
    view->luma = malloc ((size_t) width * (size_t) p->most_lines);
    view->small = malloc (small * sizeof *view->small);
    view->sum = calloc (small, sizeof *view->sum);
    view->scale = calloc (small, sizeof *view->scale);
    if (!view->luma || !view->small || !view->sum || !view->scale)
      return 0;
  }
  p->columns = malloc (2 * (size_t) p->small_width * sizeof *p->columns);
  p->scores = malloc ((size_t) align_candidates (p) * sizeof *p->scores);
  return p->columns && p->scores;
}

void
align_pictures_clear (AlignPictures *p)
{
  for (int i = 0; i < 2; i++) {
    free (p->view[i].luma);
    free (p->view[i].small);
    free (p->view[i].sum);
    free (p->view[i].scale);
  }
  free (p->columns);
  free (p->scores);
  memset (p, 0, sizeof *p);
}

static inline void
take_color (const StereoImage *image, const uint8_t *from, int width, int step, uint8_t *to)
{
  const uint8_t *r = from + image->offset[0], *g = from + image->offset[1], *b = from + image->offset[2];

  for (int x = 0; x < width; x++)
    to[x] = (uint8_t) ((77 * r[x * step] + 150 * g[x * step] + 29 * b[x * step] + 128) >> 8);
}

static void
take_luma (const StereoImage *image, int width, int y, uint8_t *to)
{
  const uint8_t *from = image->data + y * image->stride;

  if (image->channels == 1 && image->pixel_stride == 1)
    memcpy (to, from + image->offset[0], (size_t) width);
  else if (image->channels == 1)
    for (int x = 0; x < width; x++)
      to[x] = from[(ptrdiff_t) x * image->pixel_stride + image->offset[0]];
  else if (image->pixel_stride == 3)
    take_color (image, from, width, 3, to);
  else if (image->pixel_stride == 4)
    take_color (image, from, width, 4, to);
  else
    take_color (image, from, width, image->pixel_stride, to);
}

/* A row of the small picture, in eighths of a grey level: the means keep what they have gained. */
static inline void
shrink_by (const uint8_t *from, int width, int factor, int small_width, int16_t *to)
{
  int count = factor * factor;

  for (int x = 0; x < small_width; x++) {
    int sum = 0;
    for (int j = 0; j < factor; j++)
      for (int i = 0; i < factor; i++)
        sum += from[j * width + x * factor + i];
    to[x] = (int16_t) ((8 * sum + count / 2) / count);
  }
}

static void
shrink_row (const AlignPictures *p, const AlignPicture *view, int y)
{
  const uint8_t *from = view->luma + (size_t) ((p->top + y) * p->factor - p->first) * (size_t) p->width;
  int16_t *to = view->small + (size_t) y * (size_t) p->small_width;

  /* loops of known length for the usual sizes */
  if (p->factor == 1)
    shrink_by (from, p->width, 1, p->small_width, to);
  else if (p->factor == 2)
    shrink_by (from, p->width, 2, p->small_width, to);
  else
    shrink_by (from, p->width, p->factor, p->small_width, to);
}

/* The sums of row @y of patches, from the sums of their columns. */
static void
sum_patches (const AlignPictures *p, const AlignPicture *view, int y)
{
  const int32_t *values = p->columns, *squares = p->columns + p->small_width;
  const int n = ALIGN_PATCH * ALIGN_PATCH;
  int32_t *to = view->sum + (size_t) y * (size_t) p->small_width, sum = 0;
  float *scale = view->scale + (size_t) y * (size_t) p->small_width;
  int32_t square = 0;

  for (int x = 0; x < ALIGN_PATCH - 1; x++) {
    sum += values[x];
    square += squares[x];
  }
  for (int x = 0; x <= p->small_width - ALIGN_PATCH; x++) {
    sum += values[x + ALIGN_PATCH - 1];
    square += squares[x + ALIGN_PATCH - 1];
    to[x] = sum;
    scale[x] = (float) square;
    sum -= values[x];
    square -= squares[x];
  }
  for (int x = 0; x <= p->small_width - ALIGN_PATCH; x++) {
    float own = (float) to[x], deviation = (float) n * scale[x] - own * own;
    float root = sqrtf (deviation > 1 ? deviation : 1);
    /* a standard deviation below a grey level is noise */
    scale[x] = root > 8.0f * (float) n ? 1 / root : 0;
  }
}

static void
measure_patches (const AlignPictures *p, const AlignPicture *view)
{
  int width = p->small_width;
  int32_t *values = p->columns, *squares = p->columns + width;

  memset (p->columns, 0, 2 * (size_t) width * sizeof *p->columns);
  for (int y = 0; y < p->rows; y++) {
    const int16_t *in = view->small + (size_t) y * (size_t) width;
    for (int x = 0; x < width; x++) {
      values[x] += in[x];
      squares[x] += in[x] * in[x];
    }
    if (y < ALIGN_PATCH - 1)
      continue;
    sum_patches (p, view, y - ALIGN_PATCH + 1);
    const int16_t *out = in - (ptrdiff_t) (ALIGN_PATCH - 1) * width;
    for (int x = 0; x < width; x++) {
      values[x] -= out[x];
      squares[x] -= out[x] * out[x];
    }
  }
}

static int
within (int value, int least, int most)
{
  return value < least ? least : value > most ? most : value;
}

/* Rows of the small pictures that cells need. */
static void
need_small (const AlignPictures *p, int row, int count, int *top, int *bottom)
{
  *top = within (row * ALIGN_PATCH - margin (p), 0, p->small_height);
  *bottom = within ((row + count + 1) * ALIGN_PATCH + margin (p), 0, p->small_height);
}

void
align_pictures_need (const AlignPictures *p, int row, int count, int *first, int *end)
{
  int top, bottom;

  need_small (p, row, count, &top, &bottom);
  *first = within (top * p->factor - slack (p), 0, p->height);
  *end = within (bottom * p->factor + slack (p), 0, p->height);
}

void
align_pictures_take (AlignPictures *p, const StereoImage *left, const StereoImage *right, int row, int count)
{
  int bottom;

  need_small (p, row, count, &p->top, &bottom);
  p->rows = bottom - p->top;
  align_pictures_need (p, row, count, &p->first, &p->end);
  for (int i = 0; i < 2; i++) {
    const StereoImage *image = i ? right : left;
    for (int y = p->first; y < p->end; y++)
      take_luma (image, p->width, y, p->view[i].luma + (size_t) (y - p->first) * (size_t) p->width);
    for (int y = 0; y < p->rows; y++)
      shrink_row (p, &p->view[i], y);
    measure_patches (p, &p->view[i]);
  }
}
