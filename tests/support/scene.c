/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const scene_known[] = { "tsukuba", "venus", "teddy", "cones", "motorcycle", "motorcycle-exposure", "aloe",
  NULL };
static const int scene_disparities[] = { 16, 20, 60, 60, 70, 70, 224 };

const double score_levels[SCORE_LEVELS] = { 0.5, 1, 2, 4 };

static int
load_views (Scene *scene, const char *left, const char *right)
{
  if (!image_read_png (left, &scene->left) || !image_read_png (right, &scene->right))
    return 0;
  if (scene->left.width != scene->right.width || scene->left.height != scene->right.height) {
    fprintf (stderr, "%s is %dx%d and %s is %dx%d: both views must have one size\n", left, scene->left.width,
        scene->left.height, right, scene->right.width, scene->right.height);
    return 0;
  }
  return 1;
}

/* What lies beside the left view, if it does. */
static int
load_truth (Scene *scene, const char *folder)
{
  char path[1024];
  Image mask;
  int width, height;

  snprintf (path, sizeof path, "%s/gt.pfm", folder);
  if (access (path, R_OK))
    return 1;
  if (!image_read_pfm (path, &width, &height, &scene->truth))
    return 0;
  snprintf (path, sizeof path, "%s/mask_nocc.png", folder);
  if (!access (path, R_OK)) {
    if (!image_read_png (path, &mask))
      return 0;
    scene->visible = mask.data;
    if (mask.channels != 1 || mask.width != width || mask.height != height)
      width = 0;
  }
  if (width != scene->left.width || height != scene->left.height) {
    fprintf (stderr, "%s: truth or mask is not of the views' size\n", folder);
    return 0;
  }
  return 1;
}

static void
know_range (Scene *scene)
{
  for (int k = 0; scene_known[k]; k++)
    if (!strcmp (scene_known[k], scene->name))
      scene->disparities = scene_disparities[k];
}

int
scene_load_pair (Scene *scene, const char *left, const char *right)
{
  char folder[1000];

  memset (scene, 0, sizeof *scene);
  snprintf (folder, sizeof folder, "%s", left);
  char *end = strrchr (folder, '/');
  if (end)
    *end = 0;
  else
    strcpy (folder, ".");
  end = strrchr (folder, '/');
  snprintf (scene->name, sizeof scene->name, "%.63s", end ? end + 1 : folder);
  know_range (scene);
  if (load_views (scene, left, right) && load_truth (scene, folder))
    return 1;
  scene_free (scene);
  return 0;
}

int
scene_load (Scene *scene, const char *folder, const char *name)
{
  char left[1024], right[1024];

  snprintf (left, sizeof left, "%s/%s/left.png", folder, name);
  snprintf (right, sizeof right, "%s/%s/right.png", folder, name);
  return scene_load_pair (scene, left, right);
}

void
scene_free (Scene *scene)
{
  free (scene->left.data);
  free (scene->right.data);
  free (scene->truth);
  free (scene->visible);
  memset (scene, 0, sizeof *scene);
}

StereoImage
scene_view (const Image *image)
{
  return (StereoImage){ .data = image->data,
    .stride = (ptrdiff_t) image->width * image->channels,
    .pixel_stride = image->channels,
    .channels = image->channels,
    .offset = { 0, 1, 2 } };
}

/* ---- made scenes ------------------------------------------------------------------------- */

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
  scene->disparities = disparities;
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

/* ---- scores ------------------------------------------------------------------------------ */

Score
scene_score (const Scene *scene, const float *disparity, const uint8_t *mask)
{
  size_t pixels = (size_t) scene->left.width * (size_t) scene->left.height;
  Score score = { 0, { 0 } };

  for (size_t at = 0; scene->truth && at < pixels; at++) {
    if (!isfinite (scene->truth[at]) || (mask && mask[at] != 255))
      continue;
    score.pixels++;
    for (int k = 0; k < SCORE_LEVELS; k++) /* not <=: missing is bad */
      score.bad[k] += !(fabs ((double) disparity[at] - (double) scene->truth[at]) <= score_levels[k]);
  }
  for (int k = 0; k < SCORE_LEVELS && score.pixels; k++)
    score.bad[k] *= 100.0 / score.pixels;
  return score;
}
