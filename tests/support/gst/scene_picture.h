/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* All of a frame of a scene, in rows without padding. */
#ifndef SCENE_PICTURE_H
#define SCENE_PICTURE_H

#include "gst/testsrc/rig.h"

#define TRUTH_STEPS 64 /* a truth is a disparity times this; 0 = unknown */
/* 1 where the right view shows the same spot: it lies in the picture, and nothing nearer is before it. */
void truth_visible (const guint16 *truth, gint width, gint height, guint8 *visible);

typedef struct
{
  gint width, height;
  guint8 *level[2], *layer[2];
  guint16 *truth;
  guint8 *visible;
} ScenePicture;

/* Fails the test where there is no such scene. */
ScenePicture scene_picture_of (const GstStereoSceneParams *params, guint64 frame);
/* The same, seen by cameras that are not sound. */
ScenePicture scene_picture_through (
    const GstStereoSceneParams *params, const GstStereoRigParams *cameras, guint64 frame);
/* The largest disparity of such a scene, pixels. */
gint scene_picture_max_disparity (const GstStereoSceneParams *params);
void scene_picture_clear (ScenePicture *picture);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (ScenePicture, scene_picture_clear)
/* Root mean square of left (x, y) - right (x - d - @off, y) in a layer, in grey levels, and of how many pixels: the right view is
 * interpolated by Lanczos with @taps pixels, all of that layer. */
gdouble scene_picture_warp_error (const ScenePicture *picture, gint layer, gint taps, gdouble off, guint *count);
/* Whether both views and the truth are the same; of one size. */
gboolean scene_picture_equal (const ScenePicture *a, const ScenePicture *b);

#endif
