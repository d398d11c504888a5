/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The colours of a depth picture blended over a video frame, in the frame's own format.
 *
 * Every sample of the frame becomes in + alpha * (colour - in) where depth is shown, and stays to the bit where it
 * is not. A chroma sample of several pixels gets the mean of the results for these pixels.
 */
#ifndef GST_STEREO_BLEND_H
#define GST_STEREO_BLEND_H

#include <gst/video/video.h>

#include "gst/overlay/colormap.h"
#include "gst/video/depth.h"

G_BEGIN_DECLS

#define GST_STEREO_BLEND_FORMATS \
  "{ NV12, I420, YV12, NV21, YUY2, UYVY, Y42B, Y444, RGBx, BGRx, RGBA, BGRA, xRGB, " \
  "xBGR, ARGB, ABGR, RGB, BGR, GRAY8 }"

/* A part of a mapped frame. */
typedef struct
{
  guint8 *data[GST_VIDEO_MAX_COMPONENTS];
  gint stride[GST_VIDEO_MAX_COMPONENTS];
  const GstVideoFormatInfo *format;
  gint width, height;
} GstStereoBlendView;

/* The part of @frame at @x, @y. */
void gst_stereo_blend_view_init (
    GstStereoBlendView *view, GstVideoFrame *frame, gint x, gint y, gint width, gint height);

/* The depth to show. Pixels below its min_confidence are not shown. */
typedef struct
{
  GstStereoDepthView view;
  const guint8 *codes; /* of all 256 or 65536 samples */
} GstStereoBlendDepth;

typedef struct _GstStereoBlender GstStereoBlender;

GstStereoBlender *gst_stereo_blender_new (void);
void gst_stereo_blender_free (GstStereoBlender *blender);

/* Sets the colours for frames of @info. @alpha: 0..1. Returns at once when nothing has changed since the last call. */
void gst_stereo_blender_set_colors (
    GstStereoBlender *blender, const GstVideoInfo *info, GstStereoColormap map, gdouble alpha);
/* @out is @in, or another frame of the same format and size. @depth is scaled to it by the nearest neighbour. */
void gst_stereo_blender_run (GstStereoBlender *blender, const GstStereoBlendView *in, const GstStereoBlendView *out,
    const GstStereoBlendDepth *depth);

G_END_DECLS

#endif
