/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame of a sink pad with its caps and its segment, and two such frames that are a pair. */
#ifndef GST_STEREO_PAIRING_FRAME_H
#define GST_STEREO_PAIRING_FRAME_H

#include "gst/pairing/decide.h"
#include "gst/video/frame.h"
#include "gst/video/stream.h"

G_BEGIN_DECLS

/* The base class of elements that take two views: aggregator.h. */
typedef struct _GstStereoAggregator GstStereoAggregator;

/* Reference counted. */
typedef struct
{
  gint references; /* atomic */
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

/* A frame with only @buffer set, of which it takes a reference. */
GstStereoFrame *gst_stereo_frame_new (GstBuffer *buffer);
GstStereoFrame *gst_stereo_frame_ref (GstStereoFrame *frame);
/* @frame may be NULL. */
void gst_stereo_frame_unref (GstStereoFrame *frame);

/* The result of gst_stereo_pairs_find(). */
typedef struct
{
  /* The pair; NULL: there is none yet. Where one frame has both views, left and right are this frame. */
  GstStereoFrame *left, *right;
  /* GstStereoFrame, oldest first: frames before the pair that give no output, of the stream that gives the timestamps. They
   * have no partner, or are gaps, whose buffers are empty. */
  GQueue missing;
} GstStereoPair;

/* Drops the references. */
void gst_stereo_pair_clear (GstStereoPair *pair);

/* Skew of a pair: right minus left in ns, by the pairing clock; 0 where one frame has no time. */
gint64 gst_stereo_frame_skew (const GstStereoFrame *left, const GstStereoFrame *right);

/* Maps @frame for reading, in place where it lies in @context (may be NULL). FALSE after an error was posted. */
gboolean gst_stereo_map_input (
    GstElement *element, GstVideoFrame *mapped, const GstStereoFrame *frame, GstStereoCudaContext *context);

/* Whether both frames have one size, and both colour or both luma. */
gboolean gst_stereo_frames_fit (const GstStereoFrame *left, const GstStereoFrame *right);
/* Two frames that do not: a sentence for a warning, or with @advice the text of an error; g_free. */
gchar *gst_stereo_describe_mismatch (const GstStereoFrame *left, const GstStereoFrame *right, gboolean advice);

G_END_DECLS

#endif
