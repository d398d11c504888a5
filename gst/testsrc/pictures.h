/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pictures of a scene in the negotiated format, with their true disparity: the part that depends on the caps. */
#ifndef GST_STEREO_PICTURES_H
#define GST_STEREO_PICTURES_H

#include "gst/testsrc/rig.h"
#include "gst/video/frame.h"

G_BEGIN_DECLS

typedef struct _GstStereoPictures GstStereoPictures;

GstStereoPictures *gst_stereo_pictures_new (void);
void gst_stereo_pictures_free (GstStereoPictures *pictures);
/* Frees the memory of the format. */
void gst_stereo_pictures_clear (GstStereoPictures *pictures);

/* Sets the format of the frames. FALSE, and a sentence in @message (g_free), where two views cannot lie in such frames.
 * The scene is dropped, until gst_stereo_pictures_set_scene(). */
gboolean gst_stereo_pictures_set_format (GstStereoPictures *pictures, const GstVideoInfo *info, gchar **message);
/* "320x240 pixels, side-by-side, left view first": how the views lie in a frame; g_free. */
gchar *gst_stereo_pictures_describe (const GstStereoPictures *pictures);

/* Whether there is a scene, and it was made of these parameters. */
gboolean gst_stereo_pictures_have_scene (const GstStereoPictures *pictures, const GstStereoSceneParams *params);
/* Makes a scene for views of the format's size; the size in @params is not read. FALSE, and a sentence in @message (g_free),
 * where there can be no such scene. */
gboolean gst_stereo_pictures_set_scene (
    GstStereoPictures *pictures, const GstStereoSceneParams *params, gchar **message);
/* Sets the cameras' offsets, exposure and faults. There must be a scene; call this again for a new scene. FALSE: they had
 * these parameters already. */
gboolean gst_stereo_pictures_set_rig (GstStereoPictures *pictures, const GstStereoRigParams *params);
/* The parameters of the scene, with its size and with max_disparity resolved. */
const GstStereoSceneParams *gst_stereo_pictures_params (const GstStereoPictures *pictures);

/* Paints both views of frame @number into @buffer. FALSE: the buffer cannot be written. */
gboolean gst_stereo_pictures_paint (GstStereoPictures *pictures, guint64 number, GstBuffer *buffer);
/* True disparity of the frame that was painted last: GRAY16_LE, times 64. NULL: no memory. */
GstBuffer *gst_stereo_pictures_make_truth (GstStereoPictures *pictures);

G_END_DECLS

#endif
