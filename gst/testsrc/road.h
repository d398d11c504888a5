/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The geometry of pattern `road`: surfaces in the coordinates of the left camera (x right, y down, z forward, in
 * millimetres), and their disparities. A plane of space, normal * P = distance, is a plane of disparities:
 *
 *     d (x, y) = f B / distance * (normal.x (x - cx) / f + normal.y (y - cy) / f + normal.z)
 *
 * with f = GST_STEREO_SCENE_FOCAL_LENGTH * width, B = GST_STEREO_SCENE_BASELINE, and the principal point (cx, cy) in the
 * middle of the view, ((width - 1) / 2, (height - 1) / 2), where pixel centres have whole numbers.
 *
 * The camera looks along the ground, is turned down by the pitch and then clockwise about its optical axis by the roll.
 * The ground's normal, which points down, is then (sin roll cos pitch, cos roll cos pitch, sin pitch), and its distance
 * is the height of the camera.
 */
#ifndef GST_STEREO_ROAD_H
#define GST_STEREO_ROAD_H

#include "gst/testsrc/scene_params.h"

G_BEGIN_DECLS

/* Rows of what reaches far below the ground: more than there are below any place that rows are asked for. */
#define GST_STEREO_ROAD_DEEP (8 * GST_STEREO_SCENE_MAX_SIDE)

typedef enum
{
  GST_STEREO_ROAD_BACKDROP,  /* far away, parallel to the picture */
  GST_STEREO_ROAD_GROUND,    /* in front of it */
  GST_STEREO_ROAD_RAMP,      /* rises out of the ground, over the whole width */
  GST_STEREO_ROAD_KERB_TOP,  /* higher than the ground, right of the kerb */
  GST_STEREO_ROAD_KERB_FACE, /* from the ground up to it */
  GST_STEREO_ROAD_SURFACES
} GstStereoRoadSurface;

/* A plane of space: normal * P = distance. Where the distance is 0, there is no such surface. */
typedef struct
{
  gdouble normal[3]; /* a unit vector */
  gdouble distance;
} GstStereoRoadPlane;

typedef struct
{
  GstStereoRoadParams params;
  gdouble focal_length, center_x, center_y; /* pixels */
  gint last_x, last_y;                      /* of the view */
  GstStereoRoadPlane surface[GST_STEREO_ROAD_SURFACES];
  guint seed; /* of the places of thin things */
} GstStereoRoad;

/* The obstacle in the left view, pixels, as if the ground did not hide its foot. */
typedef struct
{
  gdouble disparity, center, half_width;
  gint top;         /* its first row */
  gboolean on_kerb; /* it stands on the kerb's top and not beside it */
} GstStereoRoadObstacle;

/* A post or a bar in the left view, parallel to the picture: rows from `top` on, and in row y the columns from
 * center + lean (y - top) - half_width to center + lean (y - top) + half_width. The ground hides its foot. */
typedef struct
{
  gdouble disparity, center, half_width, lean;
  gint top, rows;
  gboolean on_kerb;
} GstStereoRoadThin;

/* @params: of a size that there can be. */
void gst_stereo_road_init (GstStereoRoad *road, const GstStereoSceneParams *params);
gboolean gst_stereo_road_has (const GstStereoRoad *road, GstStereoRoadSurface surface);
/* Its disparity: value[0] + value[1] x + value[2] y. */
void gst_stereo_road_disparity (const GstStereoRoad *road, GstStereoRoadSurface surface, gdouble value[3]);
/* The place of the obstacle in a frame. The obstacle comes nearer until its disparity is @max_disparity. */
void gst_stereo_road_get_obstacle (
    const GstStereoRoad *road, gint max_disparity, guint64 frame, GstStereoRoadObstacle *obstacle);
/* Thin thing @i of thin_count, the farthest first: a post, a level bar and a slanted bar in turn. Their places follow from the
 * seed. */
void gst_stereo_road_get_thin (const GstStereoRoad *road, gint i, GstStereoRoadThin *thin);
/* The largest visible disparity in frame 0, pixels. */
gdouble gst_stereo_road_most (const GstStereoRoad *road);
/* Why no max-disparity makes such a road possible: a sentence, g_free. NULL: one does. */
gchar *gst_stereo_road_refuse (const GstStereoRoad *road);
/* Why the road and @max_disparity do not go together, where the user cannot set more than @limit: a sentence, g_free, or NULL. */
gchar *gst_stereo_road_refuse_disparity (const GstStereoRoad *road, gint max_disparity, gint limit);

G_END_DECLS

#endif
