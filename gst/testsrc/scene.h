/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A synthetic scene as two cameras see it: slanted planes in layers, one in front of the other, some of them moving.
 *
 * Textures are continuous along x: cubic B-splines over hashed noise, looked up in both views where the geometry says,
 * so that left pixel (x, y) and the point (x - d, y) of the right view show the same spot of the same plane. All of it
 * is integer arithmetic: one set of parameters gives the same bytes on every machine.
 */
#ifndef GST_STEREO_SCENE_H
#define GST_STEREO_SCENE_H

#include "gst/testsrc/scene_params.h"

G_BEGIN_DECLS

typedef struct _GstStereoScene GstStereoScene;

/* Default of max_disparity for views of that width: a tenth of it, 1..120. */
gint gst_stereo_scene_own_disparity (gint width);

/* NULL and a sentence in @message (g_free) where the parameters do not go together. Starts at frame 0. */
GstStereoScene *gst_stereo_scene_new (const GstStereoSceneParams *params, gchar **message);
void gst_stereo_scene_free (GstStereoScene *scene);
/* As they were given, with max_disparity resolved. */
const GstStereoSceneParams *gst_stereo_scene_params (const GstStereoScene *scene);

/* Everything below is about this frame. */
void gst_stereo_scene_set_frame (GstStereoScene *scene, guint64 frame);
/* Row @y of a view: grey levels 0..255, and which layer each pixel shows. */
void gst_stereo_scene_row (const GstStereoScene *scene, gboolean right, gint y, guint8 *level, guint8 *layer);
/* The same without noise. Rows outside the view can be had too, as far as the view is high. */
void gst_stereo_scene_clean_row (const GstStereoScene *scene, gboolean right, gint y, guint8 *level, guint8 *layer);
/* Row @y of the left view's true disparity, times 64: never 0. */
void gst_stereo_scene_truth (const GstStereoScene *scene, gint y, guint16 *truth);
/* Grey levels become colours by the layer; luma stays what the level is. */
void gst_stereo_scene_color (const GstStereoScene *scene, guint layer, guint level, gdouble rgb[3]);

G_END_DECLS

#endif
