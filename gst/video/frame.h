/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From video frames to views for the engine: where the two views lie in the frames of a pad.
 *
 * A view is a window with strides into the mapped frame (StereoImage), so that no layout costs a copy.
 */
#ifndef GST_STEREO_FRAME_H
#define GST_STEREO_FRAME_H

#include "gst/video/cuda.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

#define GST_STEREO_FORMATS "{ GRAY8, I420, NV12, YUY2, UYVY, RGB, BGR, RGBx, BGRx, RGBA, BGRA }"

typedef enum
{
  GST_STEREO_PACKING_AUTO,
  GST_STEREO_PACKING_SIDE_BY_SIDE,
  GST_STEREO_PACKING_TOP_BOTTOM,
  GST_STEREO_PACKING_ROW_INTERLEAVED,
  GST_STEREO_PACKING_COLUMN_INTERLEAVED,
  GST_STEREO_PACKING_FRAME_BY_FRAME
} GstStereoPacking;

/* Their names and texts, in that order. */
extern const GEnumValue gst_stereo_packings[];

/* How the views lie in the frames of one caps. */
typedef struct
{
  GstStereoPacking packing; /* AUTO: one view per frame, of its own pad */
  gboolean right_first;
  gint width, height; /* of one view */
  gint par_n, par_d;  /* of a view's pixels */
  gint fps_n, fps_d;  /* of pairs; 0/1 = variable */
  gboolean overruled; /* @wanted was another packing than that of the caps */
} GstStereoLayout;

/*
 * The layout of frames that hold both views: from the caps where they are tagged, else @wanted, else
 * side by side when at least twice as wide as high. multiview-mode=mono counts as untagged, since
 * most elements write it on whatever they make. FALSE and a sentence in @message (g_free) otherwise.
 */
gboolean gst_stereo_layout_packed (
    GstStereoLayout *layout, const GstVideoInfo *info, GstStereoPacking wanted, gchar **message);
/* The layout of a pad that gets one view. */
gboolean gst_stereo_layout_single (GstStereoLayout *layout, const GstVideoInfo *info, gboolean right, gchar **message);

/* gst_stereo_map() for reading: in place where the frame lies in @context (may be NULL), else in host memory. FALSE: the
 * buffer does not hold the frame, or cannot be read. */
gboolean gst_stereo_frame_map (
    GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer, GstStereoCudaContext *context);
/* The two views of mapped frames: @second is the other view's frame (two pads, frame by frame), or the same. */
void gst_stereo_layout_images (const GstStereoLayout *layout, const GstVideoFrame *first, const GstVideoFrame *second,
    StereoImage *left, StereoImage *right);

G_END_DECLS

#endif
