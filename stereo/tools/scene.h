/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A stereo pair, with its true disparity where that is known: made, or from the folders of Middlebury, KITTI, or like ours. */
#ifndef SCENE_H
#define SCENE_H

#include "stereo/tools/image.h"
#include "stereo/stereo.h"

enum
{
  SCENE_NAME = 192,
  SCENE_PATH = 1024
};

/* Paths are empty where there is no such file. A truth: PFM (px; inf: unknown), or a grey PNG with 0 where it is unknown: of 16 bits, px
 * times 256 (KITTI); of 8, px times a scale that follows from the size (Middlebury). Visible, seen by both views: an 8-bit PNG with 255
 * there, or a truth of KITTI that is known there. */
typedef struct SceneFiles
{
  char name[SCENE_NAME];  /* the way from the folder that was searched */
  char group[SCENE_NAME]; /* what means are taken over */
  char left[SCENE_PATH], right[SCENE_PATH], truth[SCENE_PATH], visible[SCENE_PATH], calibration[SCENE_PATH];
} SceneFiles;

typedef struct SceneList
{
  SceneFiles *files;
  int count, room;
} SceneList;

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
  char name[SCENE_NAME], group[SCENE_NAME];
  Image left, right;
  int disparities; /* to search; 0: not known */
  RangeSource range;
  float *truth;     /* px, inf or NaN: unknown; NULL: none */
  uint8_t *visible; /* 255: seen by both views; NULL: not known */
} Scene;

/* All that return int: 0 and a message on stderr on failure. */
/* Adds the scenes in @folder and in up to three levels of folders below, by name. */
int scenes_find (SceneList *list, const char *folder);
/* Adds all frames of a sequence, by name, with the truths that there are. */
int scenes_find_frames (SceneList *list, const char *folder);
void scenes_free (SceneList *list);
/* One scene from two views: truth, mask and calib.txt beside the left one. */
int scene_pair (SceneFiles *files, const char *left, const char *right);

/* @truth_scale: steps of an 8-bit truth in a pixel; 0: as Middlebury has it for this height. */
int scene_load (Scene *scene, const SceneFiles *files, int truth_scale);
/* A textured slanted plane with a square in front of it, with its truth; @disparities are searched. */
int scene_synthetic (Scene *scene, int width, int height, int disparities);
void scene_free (Scene *scene);

StereoImage scene_view (const Image *image);

#endif
