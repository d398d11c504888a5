/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/gst/match/diagnose/compressed.h"

#include <math.h>
#include <string.h>

#define SIDE 8 /* of a block */

/* Steps for luma with quality 50: ITU-T T.81, table K.1. */
static const guint8 steps[SIDE][SIDE] = { { 16, 11, 10, 16, 24, 40, 51, 61 }, { 12, 12, 14, 19, 26, 58, 60, 55 },
  { 14, 13, 16, 24, 40, 57, 69, 56 }, { 14, 17, 22, 29, 51, 87, 80, 62 }, { 18, 22, 37, 56, 68, 109, 103, 77 },
  { 24, 35, 55, 64, 81, 104, 113, 92 }, { 49, 64, 78, 87, 103, 121, 120, 101 }, { 72, 92, 95, 98, 112, 100, 103, 99 } };

/* Row k: the cosine of that frequency, of length 1. */
static void
make_cosines (gdouble cosines[SIDE][SIDE])
{
  for (gint k = 0; k < SIDE; k++)
    for (gint x = 0; x < SIDE; x++)
      cosines[k][x] = sqrt ((k ? 2.0 : 1.0) / SIDE) * cos ((2 * x + 1) * k * G_PI / (2 * SIDE));
}

/* @to: m * from * m^T; with @back, m^T * from * m. */
static void
transform (gdouble m[SIDE][SIDE], gdouble from[SIDE][SIDE], gboolean back, gdouble to[SIDE][SIDE])
{
  gdouble half[SIDE][SIDE] = { { 0 } };

  for (gint i = 0; i < SIDE; i++)
    for (gint j = 0; j < SIDE; j++)
      for (gint k = 0; k < SIDE; k++)
        half[i][j] += (back ? m[k][i] : m[i][k]) * from[k][j];
  for (gint i = 0; i < SIDE; i++)
    for (gint j = 0; j < SIDE; j++) {
      to[i][j] = 0;
      for (gint k = 0; k < SIDE; k++)
        to[i][j] += half[i][k] * (back ? m[k][j] : m[j][k]);
    }
}

static void
compress_block (gdouble cosines[SIDE][SIDE], guint8 *pixels, gsize stride, gint quality)
{
  gdouble block[SIDE][SIDE], waves[SIDE][SIDE];

  for (gint y = 0; y < SIDE; y++)
    for (gint x = 0; x < SIDE; x++)
      block[y][x] = pixels[(gsize) y * stride + (gsize) x] - 128.0;
  transform (cosines, block, FALSE, waves);
  for (gint y = 0; y < SIDE; y++)
    for (gint x = 0; x < SIDE; x++) {
      gint step = MIN (255, (steps[y][x] * (5000 / quality) + 50) / 100);
      waves[y][x] = step * rint (waves[y][x] / step);
    }
  transform (cosines, waves, TRUE, block);
  for (gint y = 0; y < SIDE; y++)
    for (gint x = 0; x < SIDE; x++)
      pixels[(gsize) y * stride + (gsize) x] = (guint8) CLAMP (block[y][x] + 128.5, 0, 255);
}

void
compress_view (guint8 *pixels, gsize stride, gint width, gint height, gint quality)
{
  gdouble cosines[SIDE][SIDE];

  make_cosines (cosines);
  for (gint y = 0; y + SIDE <= height; y += SIDE)
    for (gint x = 0; x + SIDE <= width; x += SIDE)
      compress_block (cosines, pixels + (gsize) y * stride + (gsize) x, stride, quality);
}

void
repeat_blocks (guint8 *pixels, gsize stride, gint width, gint height, guint8 *shown, gint least)
{
  for (gint y = 0; y < height; y += SIDE)
    for (gint x = 0; x < width; x += SIDE) {
      gint rows = MIN (SIDE, height - y), columns = MIN (SIDE, width - x), difference = 0;
      for (gint i = 0; i < rows * columns; i++)
        difference += ABS (pixels[(gsize) (y + i / columns) * stride + (gsize) (x + i % columns)] -
            shown[(y + i / columns) * width + x + i % columns]);
      for (gint row = y; row < y + rows; row++) {
        guint8 *now = pixels + (gsize) row * stride + (gsize) x, *before = shown + row * width + x;
        if (difference < least * rows * columns)
          memcpy (now, before, (gsize) columns);
        else
          memcpy (before, now, (gsize) columns);
      }
    }
}
