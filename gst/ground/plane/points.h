/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Some sure samples of a grid, and how far they lie from a plane: pure arithmetic. */
#ifndef GST_STEREO_GROUND_POINTS_H
#define GST_STEREO_GROUND_POINTS_H

#include "gst/ground/plane/camera.h"
#include "gst/ground/plane/grid.h"

G_BEGIN_DECLS

#define GST_STEREO_GROUND_NEAR 1.0f /* px: a sample lies on a plane that is no farther from it */

typedef struct
{
  guint count;
  gfloat *u, *v, *d; /* pixels from the principal point, and disparity */
  gfloat *weight;    /* 0..1 */
  /* Points lie row after row. */
  gint rows;
  gint row_pitch; /* pixels between rows */
  guint *starts;  /* per row, and one more: its first point */

  /*< private >*/
  guint room, row_room;
} GstStereoGroundPoints;

/* @points is zeroed before the first call. */
void gst_stereo_ground_points_clear (GstStereoGroundPoints *points);
void gst_stereo_ground_points_read (
    GstStereoGroundPoints *points, const GstStereoGroundGrid *grid, const GstStereoGroundCamera *camera);

/* For points that are copied one by one. */
void gst_stereo_ground_points_resize (GstStereoGroundPoints *points, guint count);
void gst_stereo_ground_points_copy (GstStereoGroundPoints *to, guint i, const GstStereoGroundPoints *from, guint j);

/* 1 for each point of [@from, @to) on the plane, less the farther it lies from it, and -1 for each below: a plane through
 * a road and the grass beside it has half of the road below. */
gdouble gst_stereo_ground_points_score (
    const GstStereoGroundPoints *points, guint from, guint to, const GstStereoGroundPlane *plane);
/* Moves @plane to where the points near it are. FALSE where these do not make a plane. */
gboolean gst_stereo_ground_points_refine (const GstStereoGroundPoints *points, GstStereoGroundPlane *plane);

/* Pixels of disparity that a point is nearer than the plane. */
static inline gfloat
gst_stereo_ground_points_residual (const GstStereoGroundPoints *points, guint i, const GstStereoGroundPlane *plane)
{
  return points->d[i] -
      ((gfloat) plane->at + (gfloat) plane->across * points->u[i] + (gfloat) plane->down * points->v[i]);
}

/* Whether a point is farther away than the ground: by more than a matcher's usual errors. */
static inline gboolean
gst_stereo_ground_points_is_lower (gfloat residual, gfloat ground)
{
  return residual < -GST_STEREO_GROUND_NEAR && residual < -0.03f * ground;
}

/* Whether it is farther than the ground could be: by more than a rough road. */
static inline gboolean
gst_stereo_ground_points_is_below (gfloat residual, gfloat ground)
{
  return residual < -2.0f && residual < -0.1f * ground;
}

G_END_DECLS

#endif
