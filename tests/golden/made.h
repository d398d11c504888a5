/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Scenes whose true disparity is known because the test made them. */
#ifndef MADE_H
#define MADE_H

#include <stdint.h>

enum
{
  MADE_WIDTH = 240,
  MADE_HEIGHT = 160
};

/* Disparity of left pixel (x, y): a + b * x + c * y behind, and a square of disparity @front before it. */
typedef struct MadeScene
{
  double a, b, c;
  double front;      /* 0: no square */
  double gain, bias; /* exposure of the right view: gain * value + bias */
  int noise;         /* in both views, independent, -noise..noise */
} MadeScene;

typedef struct Made
{
  uint8_t view[2][MADE_HEIGHT][MADE_WIDTH][3];
  float truth[MADE_HEIGHT][MADE_WIDTH];
  uint8_t visible[MADE_HEIGHT][MADE_WIDTH]; /* in the right view too */
  uint8_t edge[MADE_HEIGHT][MADE_WIDTH];    /* pixels from the square's outline, 255: far */
} Made;

void made_paint (Made *made, const MadeScene *scene, uint64_t seed);

#endif
