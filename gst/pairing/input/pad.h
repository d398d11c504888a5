/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sink pad. Upstream's thread puts each frame into the pad's queue (queue.h) and into GstAggregator's queue. The task
 * of the source pad reads events and frames in the order of the stream, and takes the frames out.
 */
#ifndef GST_STEREO_PAD_H
#define GST_STEREO_PAD_H

#include <gst/base/gstaggregator.h>

#include "gst/pairing/input/queue.h"

G_BEGIN_DECLS

#define GST_TYPE_STEREO_PAD (gst_stereo_pad_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoPad, gst_stereo_pad, GST, STEREO_PAD, GstAggregatorPad)

/* From the template named sink, sink_left or sink_right. */
GstStereoPad *gst_stereo_pad_new (GstPadTemplate *template);
/* Whether frames hold both views; whether they hold the right one. Neither: the left one. */
gboolean gst_stereo_pad_is_packed (GstStereoPad *pad);
gboolean gst_stereo_pad_is_right (GstStereoPad *pad);
/* GstAggregatorClass.clip. */
GstBuffer *gst_stereo_pad_clip (GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *buffer);
/* Before GstAggregator's release_pad, which drops a buffer without its own lock while the task may just be taking it.
 * From here on the task finds nothing. */
void gst_stereo_pad_retire (GstStereoPad *pad);

/* ---- frames, for the task of the source pad ----------------------------------------------- */

/* What came next on the pad. */
typedef enum
{
  GST_STEREO_SHOWN_NOTHING, /* there is none yet, or two frames are shown */
  GST_STEREO_SHOWN_FRAME,
  GST_STEREO_SHOWN_GAP,  /* and the gap is gone: @gap is set */
  GST_STEREO_SHOWN_ERROR /* it cannot be used: @message is set */
} GstStereoShown;

/* Shows one more frame. @packing: how both views lie in it, where its caps do not say it. @gap (transfer full) gets the
 * empty buffer of a gap and its segment, @message (transfer full) the text of an error. */
GstStereoShown gst_stereo_pad_show_next (
    GstStereoPad *pad, GstStereoPacking packing, GstStereoFrame **gap, gchar **message);
/* Pops the last frame that is shown, so that upstream can deliver the next one. FALSE where two are shown. */
gboolean gst_stereo_pad_make_room (GstStereoPad *pad);
/* What is shown. Clear @next after use. */
void gst_stereo_pad_describe (GstStereoPad *pad, GstStereoNext *next);
/* Takes the first frame out. NULL where a flush was faster. */
GstStereoFrame *gst_stereo_pad_take (GstStereoPad *pad);
/* gst_aggregator_pad_has_buffer(), until the pad is released. */
gboolean gst_stereo_pad_has_buffer (GstStereoPad *pad);
/* Nothing more is taken in. What was taken in already still comes, to be counted. */
void gst_stereo_pad_close (GstStereoPad *pad);
/* A frame from before a seek was dropped. */
void gst_stereo_pad_count_old_frame (GstStereoPad *pad);
/* TRUE the first time after new caps: for a warning about them. */
gboolean gst_stereo_pad_warn_once (GstStereoPad *pad);

/* ---- events ------------------------------------------------------------------------------- */

/* Before the event enters GstAggregator's queue. */
void gst_stereo_pad_preview_event (GstStereoPad *pad, GstEvent *event);
/* New caps. Returns what they say, or NULL where they cannot be used. Lives until the next caps. */
const GstVideoInfo *gst_stereo_pad_set_caps (GstStereoPad *pad, GstCaps *caps);
/* A segment begins. */
void gst_stereo_pad_begin_segment (GstStereoPad *pad, GstEvent *event);
/* The seek of that number, without a flush, goes upstream and begins @generation; or was refused there. */
void gst_stereo_pad_expect_seek (GstStereoPad *pad, guint generation, guint32 seqnum);
void gst_stereo_pad_cancel_seek (GstStereoPad *pad, guint generation);

/* ---- for the silence watch ---------------------------------------------------------------- */

typedef struct
{
  guint received;     /* buffers and gaps so far */
  gboolean receiving; /* upstream's thread is in the pad with a buffer */
  gboolean over;      /* upstream has sent its end */
  gboolean waiting;   /* frames came that were not taken out yet */
} GstStereoActivity;

GstStereoActivity gst_stereo_pad_activity (GstStereoPad *pad);

G_END_DECLS

#endif
