/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "render.h"

#include "label.h"

#include <math.h>
#include <stdio.h>
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

static int
grey_of (double confidence)
{
  return (int) lrint (255 * sqrt (confidence));
}

void
render_confidence (Canvas *canvas, int x0, const uint8_t *samples, int width, int height)
{
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++)
      memset (place (canvas, x0 + x, y), grey_of (samples[(size_t) y * (size_t) width + (size_t) x] / 255.0), 3);
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

/* ---- legends ----------------------------------------------------------------------------- */

#define PAD 6  /* around the bar, pixels */
#define BAR 12 /* height of the bar */
#define TICKS 8

typedef struct
{
  int x, y, width; /* of the bar */
  int dot;         /* of the labels */
} Legend;

static Legend
legend_at (int x, int y, int width)
{
  Legend legend = { x + PAD, y + PAD, width - 2 * PAD, width >= 400 ? 2 : 1 };

  return legend;
}

/* 1, 2 or 5 times a power of ten, for at most TICKS of them. */
static double
step_of (double range)
{
  double rough = range / TICKS, power = pow (10, floor (log10 (rough))), digit = rough / power;

  return power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
}

/* Round numbers below the bar; one that would touch the last is left out. */
static void
draw_ticks (Canvas *canvas, const Legend *legend, double min, double max)
{
  double step = step_of (max - min);
  int free_from = legend->x - PAD;

  for (double i = ceil (min / step - 1e-6); i * step <= max + 1e-6 * step; i++) {
    int at = legend->x + (int) lrint ((i * step - min) / (max - min) * (legend->width - 1)), width;
    char text[32];

    snprintf (text, sizeof text, "%.4g", i * step + 0.0);
    width = label_width (text, legend->dot);
    if (at - width / 2 < free_from)
      continue;
    for (int y = 0; y < 3; y++)
      memset (place (canvas, at, legend->y + BAR + y), 0, 3);
    label_draw (canvas, at - width / 2, legend->y + BAR + 5, legend->dot, text);
    free_from = at + width / 2 + 4 * legend->dot;
  }
}

static int
label_y (const Legend *legend)
{
  return legend->y + BAR + 5 + label_height (legend->dot) + 4 * legend->dot;
}

void
render_disparity_legend (Canvas *canvas, int x, int y, int width, double min, double max)
{
  Legend legend = legend_at (x, y, width);
  int side = label_height (legend.dot), words = label_width ("no value", legend.dot);
  int swatch = legend.x + legend.width - words - side - 2 * legend.dot;

  for (int row = 0; row < BAR; row++)
    for (int i = 0; i < legend.width; i++)
      color_of (i / (legend.width - 1.0), place (canvas, legend.x + i, legend.y + row));
  draw_ticks (canvas, &legend, min, max);
  label_draw (canvas, legend.x, label_y (&legend), legend.dot, "disparity, px");
  if (swatch < legend.x + label_width ("disparity, px", legend.dot) + side)
    return;
  for (int row = 0; row < side; row++)
    memset (place (canvas, swatch, label_y (&legend) + row), NO_VALUE, 3 * (size_t) side);
  label_draw (canvas, swatch + side + 2 * legend.dot, label_y (&legend), legend.dot, "no value");
}

void
render_confidence_legend (Canvas *canvas, int x, int y, int width)
{
  Legend legend = legend_at (x, y, width);

  for (int row = 0; row < BAR; row++)
    for (int i = 0; i < legend.width; i++) {
      /* a rim, as white is also the sheet's colour */
      int rim = row == 0 || row == BAR - 1 || i == 0 || i == legend.width - 1;
      memset (place (canvas, legend.x + i, legend.y + row), rim ? 0 : grey_of (i / (legend.width - 1.0)), 3);
    }
  draw_ticks (canvas, &legend, 0, 1);
  label_draw (canvas, legend.x, label_y (&legend), legend.dot, "confidence");
}
