/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame of a sink pad with its caps and its segment. */
#ifndef GST_STEREO_PAIRING_FRAME_H
#define GST_STEREO_PAIRING_FRAME_H

#include "gst/pairing/decide.h"
#include "gst/video/frame.h"
#include "gst/video/stream.h"

G_BEGIN_DECLS

/* The base class of elements that take two views: aggregator.h. */
typedef struct _GstStereoAggregator GstStereoAggregator;

/* Has one owner. */
typedef struct
{
  GstBuffer *buffer;
  GstVideoInfo info;
  GstStereoLayout layout;
  GstSegment segment;
  gint64 time;        /* running time, or GST_STEREO_TIME_NONE */
  gint64 captured;    /* capture time of a paired frame, by the pairing clock; GST_STEREO_TIME_NONE = buffer timestamps
                       * pair */
  gint64 spacing;     /* nominal time to the next frame in ns; 0 = unknown */
  gboolean after_gap; /* a GAP event came before it */
} GstStereoFrame;

/* Skew of a pair: right minus left in ns, by the pairing clock; 0 where one frame has no time. */
gint64 gst_stereo_frame_skew (const GstStereoFrame *left, const GstStereoFrame *right);

/* Maps @frame for reading, in place where it lies in @context (may be NULL). FALSE after an error was posted. */
gboolean gst_stereo_map_input (
    GstElement *element, GstVideoFrame *mapped, const GstStereoFrame *frame, GstStereoCudaContext *context);

/* Two frames of other sizes or formats: sentences that say so, and what to set; g_free. */
gchar *gst_stereo_describe_mismatch (const GstStereoFrame *left, const GstStereoFrame *right);

G_END_DECLS

#endif
