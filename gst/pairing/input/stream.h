/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a pad knows of its stream: caps, segment, seeks, end. */
#ifndef GST_STEREO_INPUT_STREAM_H
#define GST_STEREO_INPUT_STREAM_H

#include "gst/pairing/input/pad.h"

G_BEGIN_DECLS

/* New caps. Returns what they say, or NULL where they cannot be used. Lives until the next caps. */
const GstVideoInfo *gst_stereo_pad_set_caps (GstStereoPad *pad, GstCaps *caps);
/* A segment begins. */
void gst_stereo_pad_begin_segment (GstStereoPad *pad, GstEvent *event);
/* Before the event enters the aggregator's queue. */
void gst_stereo_pad_preview_event (GstStereoPad *pad, GstEvent *event);
/* The seek of that number, without a flush, goes upstream and begins @generation; or was refused there. */
void gst_stereo_pad_expect_seek (GstStereoPad *pad, guint generation, guint32 seqnum);
void gst_stereo_pad_cancel_seek (GstStereoPad *pad, guint generation);
/* TRUE the first time after new caps: for a warning about them. */
gboolean gst_stereo_pad_warn_once (GstStereoPad *pad);
/* Nothing more is taken in. What was taken in already still comes, to be counted. */
void gst_stereo_pad_close (GstStereoPad *pad);
/* A frame from before a seek was dropped. */
void gst_stereo_pad_count_old_frame (GstStereoPad *pad);

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
