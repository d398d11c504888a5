/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/golden/made.h"

#include <math.h>
#include <stdlib.h>

#include "tests/support/random.h"

/* The square in the left view. */
enum
{
  LEFT = 90,
  RIGHT = 170,
  TOP = 40,
  BOTTOM = 120
};

static double
lattice (int x, int y, int channel, uint32_t salt)
{
  Random random = { (uint64_t) (uint32_t) x << 40 ^ (uint64_t) (uint32_t) y << 16 ^ (uint64_t) channel << 8 ^ salt };
  return random_next (&random) / 4294967296.0;
}

/* Random texture that can be looked up between pixels: noise on two lattices (3 and 11 px), joined
 * smoothly, so that a shift by part of a pixel is a true resampling of one surface. */
static double
texture (double x, double y, int channel, uint32_t salt)
{
  static const double cell[2] = { 3, 11 };
  double value = 0;

  for (int k = 0; k < 2; k++) {
    double u = x / cell[k] + 1000, v = y / cell[k] + 1000;
    int i = (int) floor (u), j = (int) floor (v);
    double s = u - i, t = v - j;
    s = s * s * (3 - 2 * s);
    t = t * t * (3 - 2 * t);
    uint32_t layer = salt + (uint32_t) k;
    value += (1 - t) * ((1 - s) * lattice (i, j, channel, layer) + s * lattice (i + 1, j, channel, layer)) +
        t * ((1 - s) * lattice (i, j + 1, channel, layer) + s * lattice (i + 1, j + 1, channel, layer));
  }
  return 20 + 105 * value;
}

static int
in_square (const MadeScene *scene, double x, int y)
{
  return scene->front > 0 && x >= LEFT && x < RIGHT && y >= TOP && y < BOTTOM;
}

static uint8_t
byte (double value)
{
  return (uint8_t) (value < 0 ? 0 : value > 255 ? 255 : lrint (value));
}

/* Left coordinate of what right pixel (x, y) shows, and whether it is the square. */
static double
left_of (const MadeScene *scene, int x, int y, int *square)
{
  *square = in_square (scene, x + scene->front, y);
  return *square ? x + scene->front : (x + scene->a + scene->c * y) / (1 - scene->b);
}

static void
paint_pixel (Made *made, const MadeScene *scene, int x, int y, uint32_t salt, Random *random)
{
  int square = in_square (scene, x, y), right_square;
  double right = left_of (scene, x, y, &right_square);

  for (int c = 0; c < 3; c++) {
    int noise[2] = { 0, 0 };
    for (int v = 0; scene->noise && v < 2; v++)
      noise[v] = random_range (random, -scene->noise, scene->noise);
    made->view[0][y][x][c] = byte (texture (x, y, c, square ? salt + 100 : salt) + noise[0]);
    made->view[1][y][x][c] = byte (
        texture (right, y, c, right_square ? salt + 100 : salt) * scene->gain + scene->bias + noise[1]);
  }
  double d = square ? scene->front : scene->a + scene->b * x + scene->c * y;
  int hidden = !square && in_square (scene, x - d + scene->front, y);
  made->truth[y][x] = (float) d;
  made->visible[y][x] = x - d >= 0 && !hidden ? 255 : 0;
}

/* How far @at lies outside from..to - 1; 0 inside. */
static int
outside (int at, int from, int to)
{
  return at < from ? from - at : at >= to ? at - to + 1 : 0;
}

static int
square_distance (const MadeScene *scene, int x, int y)
{
  int dx = outside (x, LEFT, RIGHT), dy = outside (y, TOP, BOTTOM);

  if (scene->front <= 0)
    return 255;
  if (dx || dy)
    return dx > dy ? dx : dy;
  int in_x = x - LEFT < RIGHT - 1 - x ? x - LEFT : RIGHT - 1 - x;
  int in_y = y - TOP < BOTTOM - 1 - y ? y - TOP : BOTTOM - 1 - y;
  return 1 + (in_x < in_y ? in_x : in_y);
}

void
made_paint (Made *made, const MadeScene *scene, uint64_t seed)
{
  Random random = { seed };
  uint32_t salt = random_next (&random);

  for (int y = 0; y < MADE_HEIGHT; y++)
    for (int x = 0; x < MADE_WIDTH; x++) {
      int distance = square_distance (scene, x, y);
      paint_pixel (made, scene, x, y, salt, &random);
      made->edge[y][x] = (uint8_t) (distance < 255 ? distance : 255);
    }
}
