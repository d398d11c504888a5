/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A synthetic scene as two cameras see it: slanted planes in layers, one in front of the other, some of them moving.
 *
 * Textures are cubic B-splines over hashed noise, continuous along x. Pixel (x, y) of the left view and the point (x - d, y)
 * of the right view show the same point of the same plane, d being the true disparity. All arithmetic is on integers: equal
 * parameters give equal bytes on every machine.
 */
#ifndef GST_STEREO_SCENE_H
#define GST_STEREO_SCENE_H

#include "gst/testsrc/scene_params.h"

G_BEGIN_DECLS

typedef struct _GstStereoScene GstStereoScene;

/* Default of max_disparity for views of that width: a tenth of it, 1..120. */
gint gst_stereo_scene_own_disparity (gint width);

/* The scene at frame 0. Where the parameters do not go together: NULL, and a sentence in @message (g_free). */
GstStereoScene *gst_stereo_scene_new (const GstStereoSceneParams *params, gchar **message);
void gst_stereo_scene_free (GstStereoScene *scene);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstStereoScene, gst_stereo_scene_free)
/* As they were given, with max_disparity resolved. */
const GstStereoSceneParams *gst_stereo_scene_params (const GstStereoScene *scene);

/* Everything below is about this frame. */
void gst_stereo_scene_set_frame (GstStereoScene *scene, guint64 frame);
/* Row @y of a view, without noise: grey levels 0..255, and which layer each pixel shows. @y may lie above or below the view by
 * up to the height of the view. */
void gst_stereo_scene_row (const GstStereoScene *scene, gboolean right, gint y, guint8 *level, guint8 *layer);
/* Row @y of the left view's true disparity, times 64: never 0. */
void gst_stereo_scene_truth (const GstStereoScene *scene, gint y, guint16 *truth);
/* The colour of a grey level of a layer. Its luma is the level. */
void gst_stereo_scene_color (const GstStereoScene *scene, guint layer, guint level, gdouble rgb[3]);

G_END_DECLS

#endif
