/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scene.h"

#include <math.h>

static double
lattice (uint64_t seed, int x, int y)
{
  Random random = { seed ^ (uint64_t) (uint32_t) x << 32 ^ (uint32_t) y * 2654435761u };
  return random_unit (&random);
}

/* Smooth noise of one size. */
static double
noise_at (uint64_t seed, double x, double y)
{
  double x0 = floor (x), y0 = floor (y), fx = x - x0, fy = y - y0;
  int i = (int) x0, j = (int) y0;

  fx = fx * fx * (3 - 2 * fx);
  fy = fy * fy * (3 - 2 * fy);
  double top = lattice (seed, i, j) * (1 - fx) + lattice (seed, i + 1, j) * fx;
  double bottom = lattice (seed, i, j + 1) * (1 - fx) + lattice (seed, i + 1, j + 1) * fx;
  return top * (1 - fy) + bottom * fy;
}

static double
texture (uint64_t seed, double x, double y)
{
  return 30 + 50 * noise_at (seed, x / 3.7, y / 3.1) + 60 * noise_at (seed + 1, x / 9, y / 8) +
      60 * noise_at (seed + 2, x / 31, y / 27);
}

double
scene_offset (const double c[6], double u, double v)
{
  return c[0] + c[1] * v + c[2] * u + c[3] * u * u + c[4] * u * v + c[5] * v * v;
}

static double
disparity_at (const Scene *s, int box, double y)
{
  return box ? 0.7 * SCENE_SEARCH : 2 + 0.4 * SCENE_SEARCH * y / s->height;
}

static int
in_box (const Scene *s, double x, double y)
{
  return x > 0.4 * s->width && x < 0.65 * s->width && y > 0.25 * s->height && y < 0.7 * s->height;
}

double
scene_truth (const Scene *s, int x, int y)
{
  return disparity_at (s, in_box (s, x, y), y);
}

/* What the right view has at (x, y): the nearest surface on that ray. */
static double
right_value (const Scene *s, int x, int y)
{
  double row = y, u = (double) x / s->width - 0.5;

  for (int k = 0; k < 4; k++)
    row = y - scene_offset (s->dy, u, row / s->height - 0.5);
  for (int box = 1; box >= 0; box--) {
    double column = x + disparity_at (s, box, row);
    if (!box || in_box (s, column, row))
      return texture (s->seed + 100 * (uint64_t) box, column, row);
  }
  return 0;
}

static void
put (Picture *picture, int x, int y, double value, double noise, Random *random)
{
  double sum = random_unit (random) + random_unit (random) + random_unit (random) - 1.5; /* variance 1/4 */
  double noisy = value + 2 * noise * sum;
  int grey = (int) lrint (noisy < 0 ? 0 : noisy > 255 ? 255 : noisy);
  picture_set (picture, x, y, (int[3]){ grey, grey, grey });
}

static void
paint (Scene *s)
{
  Random random = { s->seed };

  for (int y = 0; y < s->height; y++)
    for (int x = 0; x < s->width; x++) {
      int box = in_box (s, x, y);
      put (&s->pair.picture[0], x, y, texture (s->seed + 100 * (uint64_t) box, x, y), s->noise, &random);
      put (&s->pair.picture[1], x, y, right_value (s, x, y) * s->gain, s->noise, &random);
    }
}

void
scene_new (Scene *s, int width, int height, const double dy[6], double gain, double noise, uint64_t seed)
{
  *s = (Scene){ .width = width, .height = height, .gain = gain, .noise = noise, .seed = seed };
  memcpy (s->dy, dy, sizeof s->dy);
  pair_new (&s->pair, width, height, seed);
  paint (s);
}
