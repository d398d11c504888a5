/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stereo pair, with its true disparity where that is known. */
#ifndef SCENE_H
#define SCENE_H

#include "stereo/tools/layouts.h"
#include "stereo/tools/image.h"
#include "stereo/stereo.h"

/* Where the number of disparities to search comes from. */
typedef enum RangeSource
{
  RANGE_UNKNOWN,
  RANGE_CALIBRATION, /* ndisp of calib.txt */
  RANGE_TRUTH,       /* the largest true disparity, rounded up to a multiple of 16 */
  RANGE_MADE         /* a synthetic pair */
} RangeSource;

typedef struct Scene
{
  char name[LAYOUT_NAME], group[LAYOUT_NAME];
  Image left, right;
  int disparities; /* to search; 0: not known */
  RangeSource range;
  float *truth;     /* px, inf or NaN: unknown; NULL: none */
  uint8_t *visible; /* 255: seen by both views; NULL: not known */
} Scene;

/* All of them: 0 and a message on stderr on failure. */
/* @truth_scale: steps of an 8-bit truth in a pixel; 0: as Middlebury has it for this height. */
int scene_load (Scene *scene, const SceneFiles *files, int truth_scale);
/* A textured slanted plane with a square in front of it, with its truth; @disparities are searched. */
int scene_synthetic (Scene *scene, int width, int height, int disparities);
void scene_free (Scene *scene);

StereoImage scene_view (const Image *image);

#endif
