/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The views as luma, and small pictures of them. */
#include "stereo/sparse/private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that cells need around them. */
static int
margin (const StereoSparse *s)
{
  return vertical_reach (s) + 1;
}

/* The same in the views: a window that is placed exactly may reach beyond its patch. */
static int
slack (const StereoSparse *s)
{
  int beyond = WINDOW_ROWS / 2 + s->params.reach + 2 - PATCH / 2 * s->factor;
  return beyond > 0 ? beyond : 0;
}

static int
allocate_picture (const StereoSparse *s, int rows, int lines, Picture *picture)
{
  size_t small = (size_t) s->small_width * (size_t) rows;

  picture->made = malloc ((size_t) s->params.width * (size_t) lines);
  picture->small = malloc (small * sizeof *picture->small);
  picture->sum = calloc (small, sizeof *picture->sum);
  picture->scale = calloc (small, sizeof *picture->scale);
  return picture->made && picture->small && picture->sum && picture->scale;
}

static int
allocate (StereoSparse *s)
{
  int cells = s->params.cells ? s->params.cells : s->small_height / PATCH;
  /* a patch may start at any row of its cell */
  int rows = (cells + 1) * PATCH + 2 * margin (s), lines = (rows + 1) * s->factor + 2 * slack (s);

  for (int i = 0; i < 2; i++)
    if (!allocate_picture (s, rows, lines, &s->view[i]) ||
        (s->params.motion && !allocate_picture (s, rows, lines, &s->kept[i])))
      return 0;
  s->columns = malloc (2 * (size_t) s->small_width * sizeof *s->columns);
  s->line = malloc ((size_t) (s->small_width * s->factor + 1) * sizeof *s->line);
  s->scores = malloc ((size_t) stereo_sparse_candidates (s) * sizeof *s->scores);
  return s->columns && s->line && s->scores;
}

StereoSparse *
stereo_sparse_new (const StereoSparseParams *params)
{
  int larger = params->width > params->height ? params->width : params->height;
  StereoSparse *s = calloc (1, sizeof *s);

  if (!s)
    return NULL;
  s->params = *params;
  s->factor = (larger + params->side - 1) / params->side;
  s->small_width = params->width / s->factor;
  s->small_height = params->height / s->factor;
  if (!allocate (s)) {
    stereo_sparse_free (s);
    return NULL;
  }
  return s;
}

static void
free_picture (Picture *picture)
{
  free (picture->made);
  free (picture->small);
  free (picture->sum);
  free (picture->scale);
}

void
stereo_sparse_free (StereoSparse *s)
{
  if (!s)
    return;
  for (int i = 0; i < 2; i++) {
    free_picture (&s->view[i]);
    free_picture (&s->kept[i]);
  }
  free (s->columns);
  free (s->line);
  free (s->scores);
  free (s);
}

void
stereo_sparse_size (const StereoSparse *s, int *width, int *height, int *factor)
{
  *width = s->small_width;
  *height = s->small_height;
  *factor = s->factor;
}

int
stereo_sparse_candidates (const StereoSparse *s)
{
  int across = (s->params.max - s->params.min) / s->factor + 4, moved = 2 * s->params.reach / s->factor + 4;

  return (s->params.motion && moved > across ? moved : across) * (2 * vertical_reach (s) + 1);
}

static inline void
take_color (const StereoImage *image, const uint8_t *from, int width, int step, uint8_t *to)
{
  const uint8_t *r = from + image->offset[0], *g = from + image->offset[1], *b = from + image->offset[2];

  for (int x = 0; x < width; x++)
    to[x] = (uint8_t) ((77 * r[x * step] + 150 * g[x * step] + 29 * b[x * step] + 128) >> 8);
}

/* A row of luma, where it has to be made. */
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

/* A row of the small picture, in eighths of a grey level: the means keep what they have gained. @line: sums of the view's
 * columns over the rows that a pixel is the mean of. */
static inline void
shrink_by (const int32_t *line, int factor, int small_width, int16_t *to)
{
  int count = factor * factor;

  for (int x = 0; x < small_width; x++) {
    int sum = 0;
    for (int i = 0; i < factor; i++)
      sum += line[x * factor + i];
    to[x] = (int16_t) ((8 * sum + count / 2) / count);
  }
}

static void
shrink_row (const StereoSparse *s, const Picture *view, int y)
{
  const uint8_t *from = view->luma + ((s->top + y) * s->factor - s->first) * view->stride;
  int16_t *to = view->small + (size_t) y * (size_t) s->small_width;
  int width = s->small_width * s->factor;

  for (int x = 0; x < width; x++)
    s->line[x] = from[x];
  for (int j = 1; j < s->factor; j++) {
    from += view->stride;
    for (int x = 0; x < width; x++)
      s->line[x] += from[x];
  }
  /* loops of known length for the usual sizes */
  switch (s->factor) {
    case 1:
      shrink_by (s->line, 1, s->small_width, to);
      break;
    case 2:
      shrink_by (s->line, 2, s->small_width, to);
      break;
    case 3:
      shrink_by (s->line, 3, s->small_width, to);
      break;
    case 4:
      shrink_by (s->line, 4, s->small_width, to);
      break;
    default:
      shrink_by (s->line, s->factor, s->small_width, to);
  }
}

/* The sums of row @y of patches, from the sums of their columns. */
static void
sum_patches (const StereoSparse *s, const Picture *view, int y)
{
  const int32_t *values = s->columns, *squares = s->columns + s->small_width;
  const int n = PATCH * PATCH;
  int32_t *to = view->sum + (size_t) y * (size_t) s->small_width, sum = 0;
  float *scale = view->scale + (size_t) y * (size_t) s->small_width;
  int32_t square = 0;

  for (int x = 0; x < PATCH - 1; x++) {
    sum += values[x];
    square += squares[x];
  }
  for (int x = 0; x <= s->small_width - PATCH; x++) {
    sum += values[x + PATCH - 1];
    square += squares[x + PATCH - 1];
    to[x] = sum;
    scale[x] = (float) square;
    sum -= values[x];
    square -= squares[x];
  }
  for (int x = 0; x <= s->small_width - PATCH; x++) {
    float own = (float) to[x], deviation = (float) n * scale[x] - own * own;
    float root = sqrtf (deviation > 1 ? deviation : 1);
    /* a standard deviation below a grey level is noise */
    scale[x] = root > 8.0f * (float) n ? 1 / root : 0;
  }
}

static void
measure_patches (const StereoSparse *s, const Picture *view)
{
  int width = s->small_width;
  int32_t *values = s->columns, *squares = s->columns + width;

  memset (s->columns, 0, 2 * (size_t) width * sizeof *s->columns);
  for (int y = 0; y < s->rows; y++) {
    const int16_t *in = view->small + (size_t) y * (size_t) width;
    for (int x = 0; x < width; x++) {
      values[x] += in[x];
      squares[x] += in[x] * in[x];
    }
    if (y < PATCH - 1)
      continue;
    sum_patches (s, view, y - PATCH + 1);
    const int16_t *out = in - (ptrdiff_t) (PATCH - 1) * width;
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
need_small (const StereoSparse *s, int row, int count, int *top, int *bottom)
{
  *top = within (row * PATCH - margin (s), 0, s->small_height);
  *bottom = within ((row + count + 1) * PATCH + margin (s), 0, s->small_height);
}

void
stereo_sparse_need (const StereoSparse *s, int row, int count, int *first, int *end)
{
  int top, bottom;

  need_small (s, row, count, &top, &bottom);
  *first = within (top * s->factor - slack (s), 0, s->params.height);
  *end = within (bottom * s->factor + slack (s), 0, s->params.height);
}

/* Luma that lies in memory as it is needed is read where it is, unless it has to stay. */
static void
take_view (StereoSparse *s, const StereoImage *image, int stays, Picture *view)
{
  size_t width = (size_t) s->params.width;

  view->luma = view->made;
  view->stride = s->params.width;
  if (!stays && image->channels == 1 && image->pixel_stride == 1) {
    view->luma = image->data + s->first * image->stride + image->offset[0];
    view->stride = image->stride;
  } else
    for (int y = s->first; y < s->end; y++)
      take_luma (image, s->params.width, y, view->made + (size_t) (y - s->first) * width);
  for (int y = 0; y < s->rows; y++)
    shrink_row (s, view, y);
  measure_patches (s, view);
}

static void
take (StereoSparse *s, const StereoImage *const images[2], int row, int count, int stays, Picture views[2])
{
  int bottom;

  need_small (s, row, count, &s->top, &bottom);
  s->rows = bottom - s->top;
  stereo_sparse_need (s, row, count, &s->first, &s->end);
  for (int i = 0; i < 2; i++)
    take_view (s, images[i], stays, &views[i]);
}

void
stereo_sparse_take (StereoSparse *s, const StereoImage *left, const StereoImage *right, int row, int count)
{
  take (s, (const StereoImage *const[]){ left, right }, row, count, 0, s->view);
}

void
stereo_sparse_keep (StereoSparse *s, const StereoImage *left, const StereoImage *right)
{
  take (s, (const StereoImage *const[]){ left, right }, 0, s->small_height / PATCH, 1, s->kept);
}
