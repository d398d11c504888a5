/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/plane/camera.h"

#include <math.h>

/* Where it is not known, the middle of the picture stands for it. */
static void
principal_point (const GstStereoMeta *meta, gdouble *x, gdouble *y)
{
  gboolean known = meta->principal_x > 0 || meta->principal_y > 0;

  *x = known ? meta->principal_x : (meta->width - 1) / 2.0;
  *y = known ? meta->principal_y : (meta->height - 1) / 2.0;
}

GstStereoGroundCamera
gst_stereo_ground_camera (const GstStereoMeta *meta)
{
  GstStereoGroundCamera camera = { meta->focal_length, meta->baseline, meta->principal_offset, 0, 0 };

  principal_point (meta, &camera.x, &camera.y);
  return camera;
}

gboolean
gst_stereo_ground_pose_of (
    const GstStereoGroundCamera *camera, const GstStereoGroundPlane *plane, GstStereoGroundPose *pose)
{
  gdouble forward = plane->at / camera->focal;
  gdouble length = sqrt (plane->across * plane->across + plane->down * plane->down + forward * forward);

  if (!(length > 0) || !isfinite (length) || !(plane->down > 0))
    return FALSE;
  pose->height = camera->baseline / length;
  pose->pitch = asin (CLAMP (forward / length, -1, 1)) * 180 / G_PI;
  pose->roll = atan2 (plane->across, plane->down) * 180 / G_PI;
  return TRUE;
}

GstStereoGroundPlane
gst_stereo_ground_plane_of (const GstStereoGroundCamera *camera, const GstStereoGroundPose *pose)
{
  gdouble pitch = pose->pitch * G_PI / 180, roll = pose->roll * G_PI / 180, scale = camera->baseline / pose->height;
  GstStereoGroundPlane plane = { scale * camera->focal * sin (pitch), scale * sin (roll) * cos (pitch),
    scale * cos (roll) * cos (pitch) };

  return plane;
}
