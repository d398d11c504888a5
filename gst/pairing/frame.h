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

/* Shared by reference. */
typedef struct
{
  gint references; /* atomic */
  GstBuffer *buffer;
  GstVideoInfo info;
  GstStereoLayout layout;
  GstSegment segment;
  gint64 time;        /* running time, or GST_STEREO_TIME_NONE */
  gint64 captured;    /* of a pair's frame: when it was taken, by the capture clock that pairs; GST_STEREO_TIME_NONE =
                       * buffer timestamps pair */
  gint64 spacing;     /* nominal time to the next frame in ns; 0 = unknown */
  guint generation;   /* number of seeks without a flush before this frame */
  gint64 origin;      /* running time at which the last of these seeks begins */
  gboolean after_gap; /* a GAP event came before it */
} GstStereoFrame;

/* A frame of which nothing but the buffer is known. It has a reference of @buffer. */
GstStereoFrame *gst_stereo_frame_new (GstBuffer *buffer);
GstStereoFrame *gst_stereo_frame_ref (GstStereoFrame *frame);
/* @frame may be NULL. */
void gst_stereo_frame_unref (GstStereoFrame *frame);
/* Its spacing, from its duration, its caps or the time of the frame before (or GST_STEREO_TIME_NONE). */
gint64 gst_stereo_frame_find_spacing (const GstStereoFrame *frame, gint64 before);

/* What a pad shows: the next frame and the one after it. */
typedef struct
{
  GstStereoFrame *frames[2]; /* references; NULL: there is no such frame */
  GstStereoStream stream;    /* the same for the decision which frames are a pair */
  gint64 origin;             /* of the first frame; without one, of the frames to come */
  gboolean marked;           /* some frame of the stream was marked as first of its bundle */
  gboolean forwards;         /* the stream does not play backwards */
  /* of the last reading: */
  GstStereoFrame *gap; /* it was a gap: the empty buffer and its segment */
  gchar *error;        /* the frame cannot be used, and why */
} GstStereoNext;

void gst_stereo_next_clear (GstStereoNext *next);

/* What gst_stereo_pairs_find() finds. */
typedef struct
{
  /* The pair; NULL: there is none yet. One frame for both views is both of them. */
  GstStereoFrame *left, *right;
  /* GstStereoFrame, oldest first: what lies before the pair in the stream that gives the timestamps, and gives no output.
   * These are frames without a partner, and gaps, whose buffers are empty. */
  GQueue missing;
} GstStereoPair;

/* Drops the references. */
void gst_stereo_pair_clear (GstStereoPair *pair);

/* Right minus left in ns, by the clock that pairs; 0 where one of the two has no time. */
gint64 gst_stereo_frame_skew (const GstStereoFrame *left, const GstStereoFrame *right);

/* Maps @frame for reading, in place where it lies in @context (may be NULL). FALSE after an error was posted. */
gboolean gst_stereo_map_input (
    GstElement *element, GstVideoFrame *mapped, const GstStereoFrame *frame, GstStereoCudaContext *context);

/* Posts an error: the two views differ in size or format. Returns the flow to return with it. */
GstFlowReturn gst_stereo_post_mismatch (GstElement *element, const GstStereoFrame *left, const GstStereoFrame *right);

G_END_DECLS

#endif
