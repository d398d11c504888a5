/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/scene_picture.h"

#include <gst/check/gstcheck.h>

ScenePicture
scene_picture_of (const GstStereoSceneParams *params, guint64 frame)
{
  GstStereoRigParams sound = { .right_gain = 1 };

  return scene_picture_through (params, &sound, frame);
}

ScenePicture
scene_picture_through (const GstStereoSceneParams *params, const GstStereoRigParams *cameras, guint64 frame)
{
  gsize width = (gsize) params->width, pixels = width * (gsize) params->height;
  ScenePicture picture = { params->width, params->height, { NULL }, { NULL }, g_new (guint16, pixels),
    g_malloc (pixels) };
  gchar *message = NULL;
  GstStereoScene *scene = gst_stereo_scene_new (params, &message);
  GstStereoRig *rig;

  fail_unless (scene != NULL, "%s", message);
  rig = gst_stereo_rig_new (scene, cameras);
  gst_stereo_rig_set_frame (rig, frame);
  for (guint v = 0; v < 2; v++) {
    picture.level[v] = g_malloc (pixels);
    picture.layer[v] = g_malloc (pixels);
  }
  for (gint y = 0; y < params->height; y++) {
    for (guint v = 0; v < 2; v++)
      gst_stereo_rig_row (rig, v == 1, y, picture.level[v] + (gsize) y * width, picture.layer[v] + (gsize) y * width);
    gst_stereo_scene_truth (scene, y, picture.truth + (gsize) y * width);
  }
  truth_visible (picture.truth, params->width, params->height, picture.visible);
  gst_stereo_rig_free (rig);
  gst_stereo_scene_free (scene);
  return picture;
}

void
scene_picture_clear (ScenePicture *picture)
{
  for (guint v = 0; v < 2; v++) {
    g_free (picture->level[v]);
    g_free (picture->layer[v]);
  }
  g_free (picture->truth);
  g_free (picture->visible);
}
