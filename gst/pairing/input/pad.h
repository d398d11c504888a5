/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sink pad that receives frames and shows the next two of them, each with the caps and the segment that it came under.
 *
 * Upstream's thread delivers frames into the aggregator's queue. The task of the source pad looks at them there and takes
 * them out: see pull.h.
 */
#ifndef GST_STEREO_PAD_H
#define GST_STEREO_PAD_H

#include <gst/base/gstaggregator.h>

#include "gst/pairing/frame.h"

G_BEGIN_DECLS

#define GST_TYPE_STEREO_PAD (gst_stereo_pad_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoPad, gst_stereo_pad, GST, STEREO_PAD, GstAggregatorPad)

/* From the template named sink, sink_left or sink_right. */
GstStereoPad *gst_stereo_pad_new (GstPadTemplate *template);
/* Whether frames hold both views; whether they hold the right one. Neither: the left one. */
gboolean gst_stereo_pad_is_packed (GstStereoPad *pad);
gboolean gst_stereo_pad_is_right (GstStereoPad *pad);

/* ---- events ------------------------------------------------------------------------------- */

/* New caps. Returns what they say, or NULL where they cannot be used. Lives until the next caps. */
const GstVideoInfo *gst_stereo_pad_set_caps (GstStereoPad *pad, GstCaps *caps);
/* A segment begins. */
void gst_stereo_pad_begin_segment (GstStereoPad *pad, GstEvent *event);
/* Before the event enters the aggregator's queue. */
void gst_stereo_pad_preview_event (GstStereoPad *pad, GstEvent *event);
/* The seek of that number, without a flush, goes upstream and begins @generation; or was refused there. */
void gst_stereo_pad_expect_seek (GstStereoPad *pad, guint generation, guint32 seqnum);
void gst_stereo_pad_cancel_seek (GstStereoPad *pad, guint generation);
/* GstAggregatorClass.clip. */
GstBuffer *gst_stereo_pad_clip (GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *buffer);

/* ---- for the task of the source pad ---------------------------------------------- */

/* TRUE the first time after new caps: for a warning about them. */
gboolean gst_stereo_pad_warn_once (GstStereoPad *pad);
/* Nothing more is taken in. What was taken in already still comes, to be counted. */
void gst_stereo_pad_close (GstStereoPad *pad);
/* A frame from before a seek was dropped. */
void gst_stereo_pad_count_old_frame (GstStereoPad *pad);

/* Before GstAggregator's release_pad, which drops the peeked frame without its own lock while the task may just be
 * taking it. From here on the task finds nothing. */
void gst_stereo_pad_retire (GstStereoPad *pad);

/* ---- for the silence watch ---------------------------------------------------------------- */

typedef struct
{
  guint arrivals;   /* buffers and gaps so far */
  gboolean pushing; /* upstream's thread is in the pad with a buffer */
  gboolean over;    /* upstream has sent its end */
  gboolean waiting; /* frames were taken in that nothing came of yet */
} GstStereoActivity;

GstStereoActivity gst_stereo_pad_activity (GstStereoPad *pad);

G_END_DECLS

#endif
