/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_VALUE 40 /* grey of a pixel that has none */

/* Even steps of hue with the lightness rising and falling once: depths stay apart to the eye. */
static const uint8_t stops[][3] = {
  { 38, 22, 68 },
  { 61, 58, 168 },
  { 48, 118, 234 },
  { 28, 184, 216 },
  { 58, 220, 142 },
  { 148, 240, 72 },
  { 226, 216, 50 },
  { 246, 140, 40 },
  { 214, 62, 20 },
  { 140, 14, 12 },
};
enum
{
  LAST_STOP = sizeof stops / sizeof *stops - 1
};

Canvas
canvas_new (int width, int height, uint8_t grey)
{
  size_t size = (size_t) width * (size_t) height * 3;
  Canvas canvas = { width, height, malloc (size) };

  if (canvas.rgb)
    memset (canvas.rgb, grey, size);
  return canvas;
}

static uint8_t *
place (Canvas *canvas, int x, int y)
{
  return canvas->rgb + ((size_t) y * (size_t) canvas->width + (size_t) x) * 3;
}

static void
color_of (double share, uint8_t *rgb)
{
  double at = (share < 0 ? 0 : share > 1 ? 1 : share) * LAST_STOP;
  int stop = at < LAST_STOP ? (int) at : LAST_STOP - 1;

  for (int c = 0; c < 3; c++)
    rgb[c] = (uint8_t) lrint (stops[stop][c] + (at - stop) * (stops[stop + 1][c] - stops[stop][c]));
}

void
render_disparity (Canvas *canvas, int x0, const uint16_t *samples, int width, int height, double min, double max)
{
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      int sample = samples[(size_t) y * (size_t) width + (size_t) x];
      if (sample)
        color_of ((sample - min) / (max - min), place (canvas, x0 + x, y));
      else
        memset (place (canvas, x0 + x, y), NO_VALUE, 3);
    }
}

void
render_confidence (Canvas *canvas, int x0, const uint8_t *samples, int width, int height)
{
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      memset (
          place (canvas, x0 + x, y), (int) lrint (sqrt (samples[(size_t) y * (size_t) width + (size_t) x] * 255.0)), 3);
}

void
render_picture (Canvas *canvas, int x0, const uint8_t *samples, int width, int height, int channels)
{
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      const uint8_t *from = samples + ((size_t) y * (size_t) width + (size_t) x) * (size_t) channels;
      for (int c = 0; c < 3; c++)
        place (canvas, x0 + x, y)[c] = from[channels == 3 ? c : 0];
    }
}
