/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sink pad, and the list of its frames: a frame is in there from its arrival until it is removed, alone or in a pair.
 *
 * Upstream's thread puts each frame into this list and into GstAggregator's queue, where frames and events are in the
 * order of the stream. The task of the source pad reads the events, and then _shows_ the frame behind them, as its caps,
 * its segment and its seek are known by then. At most two frames are shown. A frame is _popped_ when it leaves
 * GstAggregator's queue. The last frame that is shown stays in there as long as possible: GstAggregator waits for a
 * buffer on every pad, and without this frame it would wait for another one of this pad, although it is the turn of the
 * other pad.
 *
 *   removed <-  [ popped ]  [ shown ]  [ not shown yet: its events come first ]  <- arrives
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
/* GstAggregatorClass.clip. */
GstBuffer *gst_stereo_pad_clip (GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *buffer);
/* Before GstAggregator's release_pad, which drops a buffer without its own lock while the task may just be taking it.
 * From here on the task finds nothing. */
void gst_stereo_pad_retire (GstStereoPad *pad);

/* ---- frames, for the task of the source pad ----------------------------------------------- */

/* Puts what the pad shows into @next, which is zeroed before the first reading and cleared after the last one. With @more,
 * and where no frame is shown, one more frame is shown first. @packing: how both views lie in a frame whose caps do not say
 * it. Returns whether a frame or a gap came. With @more, and where nothing came, @next stays as it was, but for an error. */
gboolean gst_stereo_pad_read (GstStereoPad *pad, GstStereoPacking packing, gboolean more, GstStereoNext *next);
/* Removes @frame, the first one that is shown. FALSE where a flush was faster. */
gboolean gst_stereo_pad_remove (GstStereoPad *pad, const GstStereoFrame *frame);
/* Pops the last frame that is shown, so that upstream can deliver the next one. FALSE where two are shown. */
gboolean gst_stereo_pad_make_room (GstStereoPad *pad);
/* gst_aggregator_pad_has_buffer(), until the pad is released. */
gboolean gst_stereo_pad_has_buffer (GstStereoPad *pad);
/* Nothing more is taken in. What was taken in already still comes, to be counted. */
void gst_stereo_pad_close (GstStereoPad *pad);

/* ---- the stream: stream.c ----------------------------------------------------------------- */

/* Before the event enters GstAggregator's queue. */
void gst_stereo_pad_preview_event (GstStereoPad *pad, GstEvent *event);
/* New caps. Returns what they say, or NULL where they cannot be used. Lives until the next caps. */
const GstVideoInfo *gst_stereo_pad_set_caps (GstStereoPad *pad, GstCaps *caps);
/* TRUE the first time after new caps: for a warning about them. */
gboolean gst_stereo_pad_warn_once (GstStereoPad *pad);
/* A segment begins. */
void gst_stereo_pad_begin_segment (GstStereoPad *pad, GstEvent *event);
/* The seek of that number, without a flush, goes upstream and begins @generation; or was refused there. */
void gst_stereo_pad_expect_seek (GstStereoPad *pad, guint generation, guint32 seqnum);
void gst_stereo_pad_cancel_seek (GstStereoPad *pad, guint generation);
/* A frame from before a seek was dropped. */
void gst_stereo_pad_count_old_frame (GstStereoPad *pad);

/* For the silence watch. */
typedef struct
{
  guint received;     /* buffers and gaps so far */
  gboolean receiving; /* upstream's thread is in the pad with a buffer */
  gboolean over;      /* upstream has sent its end */
  gboolean waiting;   /* frames came that were not removed yet */
} GstStereoActivity;

GstStereoActivity gst_stereo_pad_activity (GstStereoPad *pad);

G_END_DECLS

#endif
