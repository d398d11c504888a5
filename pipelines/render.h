/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers as pictures: RGB, rows without padding. */
#ifndef RENDER_H
#define RENDER_H

#include <stdint.h>

typedef struct Canvas
{
  int width, height;
  uint8_t *rgb; /* to be freed; NULL: no memory */
} Canvas;

Canvas canvas_new (int width, int height, uint8_t grey);

/* Samples min..max, far to near, from dark blue over green to dark red; 0 is dark grey: no value. */
void render_disparity (Canvas *canvas, int x, const uint16_t *samples, int width, int height, double min, double max);
/* Confidence 0..255 from black to white; the square root is shown, for most of it is small. */
void render_confidence (Canvas *canvas, int x, const uint8_t *samples, int width, int height);
/* A picture of 1 or 3 channels. */
void render_picture (Canvas *canvas, int x, const uint8_t *samples, int width, int height, int channels);

/* Room for a legend below a picture, pixels. */
#define RENDER_LEGEND 60

/* Which colour is how many pixels of disparity, @min to @max, in RENDER_LEGEND rows from @y on. */
void render_disparity_legend (Canvas *canvas, int x, int y, int width, double min, double max);
/* Which grey is how much confidence, 0 to 1. */
void render_confidence_legend (Canvas *canvas, int x, int y, int width);

#endif
