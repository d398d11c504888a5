/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which files are a scene, in the folders of Middlebury and KITTI, and in folders made like ours. */
#ifndef LAYOUTS_H
#define LAYOUTS_H

enum
{
  LAYOUT_NAME = 192,
  LAYOUT_PATH = 1024
};

typedef enum TruthFormat
{
  TRUTH_NONE,
  TRUTH_PFM,        /* pixels; inf: unknown */
  TRUTH_KITTI,      /* 16-bit PNG, pixels times 256; 0: unknown */
  TRUTH_MIDDLEBURY, /* 8-bit PNG, pixels times a scale that follows from the size; 0: unknown */
} TruthFormat;

typedef enum VisibleFormat
{
  VISIBLE_NONE,
  VISIBLE_MASK, /* 8-bit PNG; 255: seen by both views */
  VISIBLE_KITTI /* a truth of KITTI that is known where both views see the pixel */
} VisibleFormat;

/* Paths are empty where there is no such file. */
typedef struct SceneFiles
{
  char name[LAYOUT_NAME];  /* the way from the folder that was searched */
  char group[LAYOUT_NAME]; /* what the means are taken over */
  char left[LAYOUT_PATH], right[LAYOUT_PATH], truth[LAYOUT_PATH], visible[LAYOUT_PATH], calibration[LAYOUT_PATH];
  TruthFormat truth_format;
  VisibleFormat visible_format;
} SceneFiles;

typedef struct SceneList
{
  SceneFiles *files;
  int count, room;
} SceneList;

/* Adds the scenes in @folder and in up to three levels of folders below, by name; 0 and a message on failure. */
int layouts_find (SceneList *list, const char *folder);
/* One scene from two views: truth, mask and calib.txt beside the left one. */
int layouts_pair (SceneFiles *files, const char *left, const char *right);
void layouts_free (SceneList *list);

#endif
