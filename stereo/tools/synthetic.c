/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A made pair with its truth. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stereo/tools/scene.h"

/* Smooth texture with detail at several scales, 0..255, that can be looked up between pixels. */
static double
texture (double x, double y, int channel)
{
  double value = 0;
  for (int k = 0; k < 4; k++) {
    double f = 0.11 * (1 + 1.7 * k), phase = 1.3 * channel + 2.1 * k;
    value += sin (f * x * 1.9 + 3 * sin (f * 0.71 * y + phase) + phase) *
        sin (f * 1.31 * y + 2 * sin (f * x * 0.83) + 2 * phase);
  }
  return 127.5 + 30 * value;
}

static int
on_square (int width, int height, double x, int y)
{
  return x >= width * 0.4 && x < width * 0.7 && y >= height * 0.3 && y < height * 0.7;
}

/* The plane rises from 0.2 to 0.5 of the range down the picture; the square stands at 0.8 of it. */
static double
plane_disparity (int height, int disparities, int y)
{
  return (0.2 + 0.3 * y / height) * (disparities - 1);
}

/* The picture behind pixel (x, y) of a view: the square where it covers, else the plane. */
static int
synthetic_sample (int width, int height, int disparities, int view, int x, int y, int channel, double *d)
{
  double front = rint (0.8 * (disparities - 1)), shift;
  int covered = on_square (width, height, view ? x + front : x, y);

  *d = covered ? front : plane_disparity (height, disparities, y);
  shift = view ? *d : 0;
  double value = texture (x + shift + (covered ? 911 : 0), y, channel);
  return value < 0 ? 0 : value > 255 ? 255 : (int) lrint (value);
}

int
scene_synthetic (Scene *scene, int width, int height, int disparities)
{
  Image *images[2] = { &scene->left, &scene->right };
  size_t pixels = (size_t) width * (size_t) height;
  double d;

  memset (scene, 0, sizeof *scene);
  snprintf (scene->name, sizeof scene->name, "synthetic");
  snprintf (scene->group, sizeof scene->group, "synthetic");
  scene->disparities = disparities;
  scene->range = RANGE_MADE;
  scene->truth = malloc (pixels * sizeof *scene->truth);
  scene->visible = calloc (pixels, 1);
  for (int v = 0; v < 2; v++) {
    *images[v] = (Image){ width, height, 3, malloc (pixels * 3) };
    if (!images[v]->data || !scene->truth || !scene->visible) {
      fprintf (stderr, "no memory for a pair of %dx%d pixels\n", width, height);
      scene_free (scene);
      return 0;
    }
    for (int y = 0; y < height; y++)
      for (int x = 0; x < width; x++) {
        size_t at = (size_t) y * (size_t) width + (size_t) x;
        for (int c = 0; c < 3; c++)
          images[v]->data[at * 3 + (size_t) c] = (uint8_t) synthetic_sample (width, height, disparities, v, x, y, c, &d);
        if (v == 0) {
          double behind = x - d, front = rint (0.8 * (disparities - 1));
          scene->truth[at] = (float) d;
          scene->visible[at] = behind >= 0 && (d == front || !on_square (width, height, behind + front, y)) ? 255 : 0;
        }
      }
  }
  return 1;
}
