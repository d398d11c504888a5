/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ground as a plane of disparities and as the pose of the camera above it: pure arithmetic.
 *
 * A point X = (x right, y down, z forward; mm) of the left camera lies on the ground where n.X = h: n is the unit normal
 * that points down, h the height of the camera. It is seen at (u, v), counted from the principal point, and the
 * disparity D there, with the principal offset, is focal * baseline / X.z. So on the ground
 *
 *   D = focal * baseline / h * (n.x * u / focal + n.y * v / focal + n.z)
 *
 * is linear in u and v. With a camera that looks down by p and whose right side is lower by r,
 * n = (sin r cos p, cos r cos p, sin p): n.x is how much of "right" is down, n.z how much of "forward".
 *
 * Pixels are taken to be square.
 */
#ifndef GST_STEREO_GROUND_CAMERA_H
#define GST_STEREO_GROUND_CAMERA_H

#include "gst/meta/gststereometa.h"

G_BEGIN_DECLS

typedef struct
{
  gdouble focal;    /* px */
  gdouble baseline; /* mm */
  gdouble offset;   /* px, from a disparity to D */
  gdouble x, y;     /* the principal point, px */
} GstStereoGroundCamera;

/* D = at + across * (x - camera.x) + down * (y - camera.y), px */
typedef struct
{
  gdouble at, across, down;
} GstStereoGroundPlane;

typedef struct
{
  gdouble height;      /* mm */
  gdouble pitch, roll; /* degrees */
} GstStereoGroundPose;

/* @meta has focal length and baseline. */
GstStereoGroundCamera gst_stereo_ground_camera (const GstStereoMeta *meta);
/* FALSE where @plane is not below the camera. */
gboolean gst_stereo_ground_pose_of (
    const GstStereoGroundCamera *camera, const GstStereoGroundPlane *plane, GstStereoGroundPose *pose);
GstStereoGroundPlane gst_stereo_ground_plane_of (const GstStereoGroundCamera *camera, const GstStereoGroundPose *pose);

static inline gdouble
gst_stereo_ground_plane_at (const GstStereoGroundCamera *camera, const GstStereoGroundPlane *plane, gdouble x, gdouble y)
{
  return plane->at + plane->across * (x - camera->x) + plane->down * (y - camera->y);
}

G_END_DECLS

#endif
