/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Writes both views of a scene into a video frame: any 8-bit format, side by side, top-bottom or interleaved. */
#ifndef GST_STEREO_PAINT_H
#define GST_STEREO_PAINT_H

#include "gst/video/frame.h"
#include "gst/testsrc/rig.h"

G_BEGIN_DECLS

#define GST_STEREO_PAINT_FORMATS \
  "{ BGRx, RGBx, xRGB, xBGR, BGRA, RGBA, ARGB, ABGR, RGB, BGR, GRAY8, I420, YV12, " \
  "NV12, NV21, NV16, NV24, YUY2, UYVY, YVYU, VYUY, Y42B, Y444, AYUV }"

typedef struct _GstStereoPainter GstStereoPainter;

/* For frames of @info, whose views have @layout and the size of the scene. */
GstStereoPainter *gst_stereo_painter_new (
    const GstStereoScene *scene, const GstVideoInfo *info, const GstStereoLayout *layout);
void gst_stereo_painter_free (GstStereoPainter *painter);
/* @rig: of the scene. */
void gst_stereo_painter_paint (GstStereoPainter *painter, GstStereoRig *rig, GstVideoFrame *frame);

G_END_DECLS

#endif
