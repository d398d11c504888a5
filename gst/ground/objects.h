/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What stands on a known ground, and how far it is free. Pure logic. */
#ifndef GST_STEREO_GROUND_OBJECTS_H
#define GST_STEREO_GROUND_OBJECTS_H

#include "gst/ground/plane.h"

G_BEGIN_DECLS

/* ---- classes of samples ------------------------------------------------------------------ */

typedef enum
{
  GST_STEREO_GROUND_UNSEEN,
  GST_STEREO_GROUND_GROUND,
  GST_STEREO_GROUND_OTHER,    /* below the ground, above every vehicle, or too far away */
  GST_STEREO_GROUND_STANDING, /* may be part of an obstacle */
  GST_STEREO_GROUND_TALL      /* and is as high as an obstacle has to be */
} GstStereoGroundKind;

/* Limits of an obstacle, mm. */
typedef struct
{
  gdouble min_height, max_height; /* above the ground */
  gdouble max_distance;
} GstStereoGroundSizes;

/* The input for one frame. */
typedef struct
{
  const GstStereoGroundGrid *grid;
  GstStereoGroundCamera camera;
  GstStereoGroundPlane plane;
  gdouble camera_height; /* mm */
  GstStereoGroundSizes sizes;
} GstStereoGroundScene;

/* Classes of all samples, in the places of the grid; @classes has as many. */
void gst_stereo_ground_classify (const GstStereoGroundScene *scene, guint8 *classes);

/* The disparity of the ground at a pixel. */
static inline gdouble
gst_stereo_ground_scene_at (const GstStereoGroundScene *scene, gdouble x, gdouble y)
{
  return gst_stereo_ground_plane_at (&scene->camera, &scene->plane, x, y);
}

/* The distance of a disparity, or the disparity of a distance. */
static inline gdouble
gst_stereo_ground_scene_distance (const GstStereoGroundScene *scene, gdouble d)
{
  return scene->camera.focal * scene->camera.baseline / d;
}

/* ---- obstacles --------------------------------------------------------------------------- */

/* The value that a share of @part (0..1) of @values is not above. @count is at least 1; the values change places. */
gfloat gst_stereo_ground_quantile (gfloat *values, guint count, gdouble part);

typedef struct
{
  gint x, y, width, height;            /* its box in the picture, px */
  gdouble distance;                    /* of its front, along the optical axis, mm */
  gdouble lateral;                     /* of its middle, to the right, mm */
  gdouble object_width, object_height; /* mm; its height is above the ground */
  gdouble probability;                 /* 0..1 */
} GstStereoObstacle;

/*
 * Finds obstacles on the ground in one frame: pure logic.
 *
 * Samples that are nearer than the ground and have neighbours of similar disparity are counted in a u-disparity picture: how
 * many samples a column has at a disparity. An upright object fills the cells of its columns at one disparity. Cells that have
 * enough samples, are high enough and touch each other are one object: a coarse form of the stixels of Badino, Franke and
 * Pfeiffer ("The Stixel World", DAGM 2009). Objects grow from their nearest cell on, and no deeper than that cell allows: a
 * wall or a hedge along a road is divided into parts. An object is an obstacle when it reaches the smallest height, and is
 * nearer than the ground by more than the error of a matcher.
 */

typedef struct _GstStereoObstacleFinder GstStereoObstacleFinder;

GstStereoObstacleFinder *gst_stereo_obstacle_finder_new (void);
void gst_stereo_obstacle_finder_free (GstStereoObstacleFinder *finder);

/* Classifies the samples of @scene and finds the obstacles, nearest first. The array belongs to @finder, until the
 * next call. */
const GstStereoObstacle *gst_stereo_obstacle_find (
    GstStereoObstacleFinder *finder, const GstStereoGroundScene *scene, guint *count);

/* ---- free distances ---------------------------------------------------------------------- */

/*
 * Measures the free distance: pure logic. From the bottom of the picture up, each row has to show the ground. Rows that
 * do not show it are skipped only where they are too few to hide the smallest obstacle.
 */

/* Fills @distances (mm, or GST_STEREO_GROUND_UNKNOWN) for @count columns of equal width, from the result of @finder in
 * @scene. */
void gst_stereo_ground_free_distances (
    const GstStereoGroundScene *scene, const GstStereoObstacleFinder *finder, gdouble *distances, guint count);

G_END_DECLS

#endif
