/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A sloping ground with a box before it, textured, in two views whose rows do not agree. */
#ifndef ENGINE_SCENE_H
#define ENGINE_SCENE_H

#include "pair.h"

#define SCENE_SEARCH 48 /* disparities that reach all of it */

typedef struct Scene
{
  int width, height;
  double dy[6]; /* as StereoAlignment.coefficients */
  double gain, noise;
  uint64_t seed;
  Pair pair;
} Scene;

/* @gain: of the right view's grey levels. @noise: its standard deviation in both views. Freed by pair_free(). */
void scene_new (Scene *s, int width, int height, const double dy[6], double gain, double noise, uint64_t seed);
/* The disparity of a pixel of the left view. */
double scene_truth (const Scene *s, int x, int y);
/* What coefficients say at (u, v), each from -0.5 to 0.5: pixels by which the right view is lower. */
double scene_offset (const double c[6], double u, double v);

#endif
