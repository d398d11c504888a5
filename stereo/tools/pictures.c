/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Maps as PNGs, in the folder of --write. */
#include "stereo/tools/bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The path of a picture of @name, whose slashes become dashes; makes the folder. */
static int
path_of (char *path, size_t size, const char *folder, const char *name, const char *kind)
{
  if (mkdir (folder, 0777) && errno != EEXIST) {
    fprintf (stderr, "%s: cannot be made\n", folder);
    return 0;
  }
  int folder_length = (int) strlen (folder) + 1;
  if (snprintf (path, size, "%s/%s-%s.png", folder, name, kind) >= (int) size) {
    fprintf (stderr, "%s/%s: the path is too long\n", folder, name);
    return 0;
  }
  for (char *at = path + folder_length; *at; at++)
    *at = *at == '/' ? '-' : *at;
  return 1;
}

int
pictures_disparity (const Options *options, const char *name, const Map *map, const float *disparity)
{
  size_t pixels = (size_t) map->width * (size_t) map->height;
  uint16_t *steps = malloc (pixels * sizeof *steps);
  char path[1024];

  if (!steps || !path_of (path, sizeof path, options->write, name, "disparity")) {
    free (steps);
    return 0;
  }
  for (size_t at = 0; at < pixels; at++) { /* as the element stores it: 0 = invalid */
    double value = rint ((double) disparity[at] * map->scale);
    steps[at] = (uint16_t) (isnan (disparity[at]) || value < 0 ? 0 : value < 1 ? 1 : value > 65535 ? 65535 : value);
  }
  int done = image_write_png (path, map->width, map->height, 1, 16, steps);
  free (steps);
  return done;
}

int
pictures_confidence (const Options *options, const char *name, const Map *map, const uint8_t *confidence)
{
  char path[1024];

  return path_of (path, sizeof path, options->write, name, "confidence") &&
      image_write_png (path, map->width, map->height, 1, 8, confidence);
}
