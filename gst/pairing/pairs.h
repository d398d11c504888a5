/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From frames to pairs: looks at the next frames of the pads, asks decide.h which of them belong together, drops those
 * without a partner, and hands each pair on.
 */
#ifndef GST_STEREO_PAIRS_H
#define GST_STEREO_PAIRS_H

#include "gst/pairing/clock.h"
#include "gst/pairing/drops.h"
#include "gst/pairing/input/pad.h"

G_BEGIN_DECLS

#define GST_STEREO_MAX_SKEW_AUTO G_MAXUINT64

typedef struct _GstStereoPairs GstStereoPairs;

/* What becomes of what was found. */
typedef struct
{
  /* A pair. @second is @first for a frame that holds both views. The caller unrefs their buffers. */
  GstFlowReturn (*pair) (GstStereoAggregator *owner, GstStereoFrame *first, GstStereoFrame *second);
  /* A gap of the stream that gives the timestamps, between its frames; or a frame of it that has no partner. */
  GstFlowReturn (*gap) (GstStereoAggregator *owner, const GstSegment *segment, GstBuffer *missing);
} GstStereoPairsFuncs;

/* @element is the owner that the functions get; the object belongs to it and holds no reference. */
GstStereoPairs *gst_stereo_pairs_new (GstElement *element, GstStereoDrops *drops, GstStereoClock *clock);
/* Before the first frame. */
void gst_stereo_pairs_set_funcs (GstStereoPairs *pairs, const GstStereoPairsFuncs *funcs);
void gst_stereo_pairs_free (GstStereoPairs *pairs);
/* After a flush, or at the start. */
void gst_stereo_pairs_flush (GstStereoPairs *pairs);

/* From any thread. @max_skew: ns, or GST_STEREO_MAX_SKEW_AUTO. */
void gst_stereo_pairs_set_packing (GstStereoPairs *pairs, GstStereoPacking packing);
GstStereoPacking gst_stereo_pairs_get_packing (GstStereoPairs *pairs);
void gst_stereo_pairs_set_max_skew (GstStereoPairs *pairs, guint64 max_skew);
guint64 gst_stereo_pairs_get_max_skew (GstStereoPairs *pairs);

/* Goes on until one pair was handed on, a frame is missing (GST_AGGREGATOR_FLOW_NEED_DATA), or the streams ended. After
 * a pair it returns: events and renegotiation come between two pairs. */
GstFlowReturn gst_stereo_pairs_find_in_two (GstStereoPairs *pairs, GstStereoPad *left, GstStereoPad *right);
/* The same for the pad whose frames hold both views, or alternate between them. */
GstFlowReturn gst_stereo_pairs_find_in_one (GstStereoPairs *pairs, GstStereoPad *pad);

G_END_DECLS

#endif
