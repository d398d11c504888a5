/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One frame of a sink pad, with the caps and the segment that it came under. */
#ifndef GST_STEREO_PAIRING_FRAME_H
#define GST_STEREO_PAIRING_FRAME_H

#include "gst/pairing/partner.h"
#include "gst/video/frame.h"
#include "gst/video/stream.h"

G_BEGIN_DECLS

/* The base class of elements that take two views: aggregator.h. */
typedef struct _GstStereoAggregator GstStereoAggregator;

typedef struct
{
  GstBuffer *buffer;
  GstVideoInfo info;
  GstStereoLayout layout;
  GstSegment segment;
  gint64 time;        /* running time, or GST_STEREO_TIME_NONE */
  gint64 moment;      /* of a pair's frame: when it was taken, by the capture clock that pairs; GST_STEREO_TIME_NONE =
                       * buffer timestamps pair */
  gint64 spacing;     /* nominal time to the next frame in ns; 0 = unknown */
  guint generation;   /* number of seeks without a flush before this frame */
  gboolean after_gap; /* a GAP event came before it */
  gint64 origin;      /* running time at which the last of these seeks begins */
} GstStereoFrame;

/* Right minus left in ns, by the clock that pairs; 0 where one of the two has no time. */
gint64 gst_stereo_frame_skew (const GstStereoFrame *left, const GstStereoFrame *right);

/* Maps @frame for reading, in place where it lies in @context (may be NULL). FALSE after an error was posted. */
gboolean gst_stereo_map_input (
    GstElement *element, GstVideoFrame *mapped, const GstStereoFrame *frame, GstStereoCudaContext *context);

/* Posts an error: the two views differ in size or format. Returns the flow to return with it. */
GstFlowReturn gst_stereo_post_mismatch (GstElement *element, const GstStereoFrame *left, const GstStereoFrame *right);

G_END_DECLS

#endif
