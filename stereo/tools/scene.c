/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stereo/tools/scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stereo/tools/ground_truth.h"

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

/* Sets *disparities to the ndisp of Middlebury's calib.txt, or to 0 where the file has none. */
static int
read_calibration (const char *path, int *disparities)
{
  FILE *file = image_open (path, "r");
  char line[256], end;
  int done = 1;

  *disparities = 0;
  if (!file)
    return 0;
  while (done && fgets (line, sizeof line, file))
    if (!strncmp (line, "ndisp=", 6) && (sscanf (line + 6, "%d %c", disparities, &end) != 1 || *disparities < 1)) {
      fprintf (stderr, "%s: %.*s: ndisp must be a whole number from 1\n", path, (int) strcspn (line, "\r\n"), line);
      done = 0;
    }
  fclose (file);
  return done;
}

/* The least multiple of 16 that reaches the largest true disparity; 0 without one. */
static int
range_of_truth (const Scene *scene)
{
  size_t pixels = (size_t) scene->left.width * (size_t) scene->left.height;
  double largest = 0;

  for (size_t at = 0; scene->truth && at < pixels; at++)
    if (isfinite (scene->truth[at]) && (double) scene->truth[at] > largest)
      largest = (double) scene->truth[at];
  return largest > 0 && largest < 1 << 20 ? ((int) ceil (largest) + 16) / 16 * 16 : 0;
}

static int
load_range (Scene *scene, const SceneFiles *files)
{
  if (*files->calibration && !read_calibration (files->calibration, &scene->disparities))
    return 0;
  if (scene->disparities) {
    scene->range = RANGE_CALIBRATION;
    return 1;
  }
  scene->disparities = range_of_truth (scene);
  scene->range = scene->disparities ? RANGE_TRUTH : RANGE_UNKNOWN;
  return 1;
}

int
scene_load (Scene *scene, const SceneFiles *files, int truth_scale)
{
  memset (scene, 0, sizeof *scene);
  snprintf (scene->name, sizeof scene->name, "%s", files->name);
  snprintf (scene->group, sizeof scene->group, "%s", files->group);
  if (load_views (scene, files->left, files->right) &&
      ground_truth_read (files, truth_scale, scene->left.width, scene->left.height, &scene->truth, &scene->visible) &&
      load_range (scene, files))
    return 1;
  scene_free (scene);
  return 0;
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
