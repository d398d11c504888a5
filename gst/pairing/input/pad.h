/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sink pad that receives frames and shows the next two of them, each with the caps and the segment that it came
 * under.
 *
 * Upstream's thread delivers frames into the aggregator's queue. The task of the source pad looks at them there and
 * takes them out. What the pad learns from events is in stream.h.
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
/* Before GstAggregator's release_pad, which drops the peeked frame without its own lock while the task may just be
 * taking it. From here on the task finds nothing. */
void gst_stereo_pad_retire (GstStereoPad *pad);

/* ---- frames, for the task of the source pad ----------------------------------------------- */

/* What the pad's next buffer is. */
typedef enum
{
  GST_STEREO_PULL_NOTHING, /* there is none, or two frames are at hand */
  GST_STEREO_PULL_FRAME,   /* it is one of the frames at hand now */
  GST_STEREO_PULL_GAP,     /* it was a gap, and is gone; @gap is set */
  GST_STEREO_PULL_ERROR    /* it cannot be used; @message is set */
} GstStereoPull;

/* Looks at one frame more. @packing: how both views lie in it, where its caps do not say.
 * @gap (transfer full) gets the empty buffer of a gap, @message (transfer full) the text of an error. */
GstStereoPull gst_stereo_pad_pull (GstStereoPad *pad, GstStereoPacking packing, GstBuffer **gap, gchar **message);
/* Frames at hand. */
guint gst_stereo_pad_count (GstStereoPad *pad);
/* Moves the head out; the caller unrefs its buffer. FALSE when a flush was faster. */
gboolean gst_stereo_pad_take (GstStereoPad *pad, GstStereoFrame *frame);
/* Pops the peeked frame and keeps it, so that upstream can deliver the next one. FALSE when there is no room for
 * that. */
gboolean gst_stereo_pad_make_room (GstStereoPad *pad);
/* For gst_stereo_pairing_decide(): what is at hand. @spacing gets the head's (unchanged when there is no head), @origin
 * the running time that its generation is timed from. */
void gst_stereo_pad_describe (GstStereoPad *pad, GstStereoStream *queue, gint64 *spacing, gint64 *origin);
/* References of the frames at hand, to be unreffed; NULL for those that are not there. FALSE where the stream plays
 * backwards. */
gboolean gst_stereo_pad_ref_buffers (GstStereoPad *pad, GstBuffer *buffers[2]);
/* gst_stereo_pad_describe() for gst_stereo_pairing_bundle(); @layout (may be NULL) gets the head's. Returns the number of frames. */
guint gst_stereo_pad_describe_bundle (GstStereoPad *pad, gboolean first[2], gboolean *marked, GstStereoLayout *layout);
/* At the end of aggregate(): a peeked frame is left to the aggregator's queue, and looked at again next time. */
void gst_stereo_pad_return_peeked (GstStereoPad *pad);
/* gst_aggregator_pad_has_buffer(), until the pad is released. */
gboolean gst_stereo_pad_has_buffer (GstStereoPad *pad);

G_END_DECLS

#endif
