/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stereo pair, with its true disparity where it is known, and how well a disparity map meets it. */
#ifndef SCENE_H
#define SCENE_H

#include "tests/support/image.h"
#include "stereo/stereo.h"

typedef struct Scene
{
  char name[64];
  Image left, right;
  int disparities;  /* to search; 0: not known */
  float *truth;     /* px, inf or NaN: unknown; NULL: none */
  uint8_t *visible; /* 255: seen by both views; NULL: not known */
} Scene;

/* All of them: 0 and a message on stderr on failure. */
int scene_load_pair (Scene *scene, const char *left, const char *right);
/* @folder/@name with left.png, right.png and, if there, gt.pfm and mask_nocc.png. */
int scene_load (Scene *scene, const char *folder, const char *name);
/* A textured slanted plane with a square in front of it, with its truth; @disparities are searched. */
int scene_synthetic (Scene *scene, int width, int height, int disparities);
void scene_free (Scene *scene);

StereoImage scene_view (const Image *image);

/* Scenes whose search range is known, NULL at the end. */
extern const char *const scene_known[];

enum
{
  SCORE_LEVELS = 4
};
extern const double score_levels[SCORE_LEVELS]; /* 0.5, 1, 2, 4 px */

typedef struct Score
{
  int pixels;               /* scored; 0: nothing to score */
  double bad[SCORE_LEVELS]; /* percent of them that is off by more, or missing */
} Score;

/* @mask NULL: every pixel with a truth. Disparities: rows without padding, NaN = missing. */
Score scene_score (const Scene *scene, const float *disparity, const uint8_t *mask);

#endif
