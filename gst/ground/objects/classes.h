/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Classifies the samples of a grid, once the ground is known: pure logic. */
#ifndef GST_STEREO_GROUND_CLASSES_H
#define GST_STEREO_GROUND_CLASSES_H

#include "gst/ground/plane/camera.h"
#include "gst/ground/plane/grid.h"

G_BEGIN_DECLS

/* A third of the smallest obstacle's height: lower samples cannot be distinguished from the ground. */
#define GST_STEREO_GROUND_LOW (1 / 3.0)
#define GST_STEREO_GROUND_NOISE 1.0f /* px: nor can samples that are nearer than the ground by less */
/* An object may be an obstacle if it has at least this part of the smallest obstacle's height, and is so many pixels of
 * disparity nearer than the ground. Patches of wrong disparities are nearer by less. */
#define GST_STEREO_GROUND_TOP 0.8
#define GST_STEREO_GROUND_OUT 2.7f

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

/* Height above the ground, mm, of a point of disparity @d at a pixel where the ground has the disparity @ground. */
static inline gdouble
gst_stereo_ground_scene_height (const GstStereoGroundScene *scene, gdouble d, gdouble ground)
{
  return scene->camera_height * (1 - ground / d);
}

static inline gdouble
gst_stereo_ground_scene_distance (const GstStereoGroundScene *scene, gdouble d)
{
  return scene->camera.focal * scene->camera.baseline / d;
}

/* The reverse. */
static inline gdouble
gst_stereo_ground_scene_disparity (const GstStereoGroundScene *scene, gdouble distance)
{
  return scene->camera.focal * scene->camera.baseline / distance;
}

/* Pixels that something upright of @height mm is high in the picture, where its disparity is @d. */
static inline gdouble
gst_stereo_ground_scene_rows (const GstStereoGroundScene *scene, gdouble height, gdouble d)
{
  return height * d / scene->camera.baseline;
}

G_END_DECLS

#endif
