/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pictures of a scene in the negotiated format, with their true disparity: the part that depends on the caps. */
#ifndef GST_STEREO_PICTURES_H
#define GST_STEREO_PICTURES_H

#include "gst/testsrc/rig.h"
#include "gst/video/frame.h"

G_BEGIN_DECLS

/* Any of 8 bits. */
#define GST_STEREO_PICTURE_FORMATS \
  "{ BGRx, RGBx, xRGB, xBGR, BGRA, RGBA, ARGB, ABGR, RGB, BGR, GRAY8, I420, YV12, " \
  "NV12, NV21, NV16, NV24, YUY2, UYVY, YVYU, VYUY, Y42B, Y444, AYUV }"

typedef struct _GstStereoPictures GstStereoPictures;

GstStereoPictures *gst_stereo_pictures_new (void);
void gst_stereo_pictures_free (GstStereoPictures *pictures);
/* Frees the memory of the format. */
void gst_stereo_pictures_clear (GstStereoPictures *pictures);

/* Sets the format of the frames. FALSE, and a sentence in @message (g_free), where two views cannot lie in such frames.
 * The scene is dropped. */
gboolean gst_stereo_pictures_set_format (GstStereoPictures *pictures, const GstVideoInfo *info, gchar **message);
/* "320x240 pixels, side-by-side, left view first": how the views lie in a frame; g_free. */
gchar *gst_stereo_pictures_describe (const GstStereoPictures *pictures);

/* Makes the scene and the cameras that are asked for, unless they are there already; @changed says which. The size in @params
 * is not read. FALSE, and a sentence in @message (g_free), where there can be no such scene. */
gboolean gst_stereo_pictures_prepare (GstStereoPictures *pictures, const GstStereoSceneParams *params,
    const GstStereoRigParams *rig, gboolean *changed, gchar **message);
/* The parameters of the scene, with its size and with max_disparity resolved. */
const GstStereoSceneParams *gst_stereo_pictures_params (const GstStereoPictures *pictures);

/* Paints both views of frame @number into @buffer. FALSE: the buffer cannot be written. */
gboolean gst_stereo_pictures_paint (GstStereoPictures *pictures, guint64 number, GstBuffer *buffer);
/* True disparity of the frame that was painted last: GRAY16_LE, times 64. NULL: no memory. */
GstBuffer *gst_stereo_pictures_make_truth (GstStereoPictures *pictures);

G_END_DECLS

#endif
