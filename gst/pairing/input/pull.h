/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The frames of a pad, for the task of the source pad: looks at the next two, and takes them out. */
#ifndef GST_STEREO_PULL_H
#define GST_STEREO_PULL_H

#include "gst/pairing/input/pad.h"

G_BEGIN_DECLS

/* What the pad's next buffer is. */
typedef enum
{
  GST_STEREO_PULL_NOTHING,      /* there is none, or two frames are at hand */
  GST_STEREO_PULL_FRAME,        /* it is one of the frames at hand now */
  GST_STEREO_PULL_GAP,          /* it was a gap, and is gone; @gap is set */
  GST_STEREO_PULL_ERROR         /* it cannot be used; @message is set */
} GstStereoPull;

/* Looks at one frame more. @packing: how both views lie in it, where its caps do not say.
 * @gap (transfer full) gets the empty buffer of a gap, @message (transfer full) the text of an error. */
GstStereoPull gst_stereo_pad_pull (GstStereoPad *pad, GstStereoPacking packing, GstBuffer **gap, gchar **message);
/* Frames at hand. */
guint gst_stereo_pad_count (GstStereoPad *pad);
/* Moves the head out; the caller unrefs its buffer. FALSE when a flush was faster. */
gboolean gst_stereo_pad_take (GstStereoPad *pad, GstStereoFrame *frame);
/* Pops the peeked frame and keeps it, so that upstream can deliver the next one. FALSE when there is no room for that. */
gboolean gst_stereo_pad_make_room (GstStereoPad *pad);
/* For gst_stereo_pairing_decide(): what is at hand. @spacing gets the head's (unchanged when there is no head), @origin
 * the running time that its generation is timed from. */
void gst_stereo_pad_describe (GstStereoPad *pad, GstStereoQueue *queue, gint64 *spacing, gint64 *origin);
/* The same for gst_stereo_pairing_bundle(); @layout (may be NULL) gets the head's. Returns the number of frames. */
guint gst_stereo_pad_describe_bundle (
    GstStereoPad *pad, gboolean first[2], gboolean *marked, GstStereoLayout *layout);
/* At the end of aggregate(): a peeked frame is left to the aggregator's queue, and looked at again next time. */
void gst_stereo_pad_return_peeked (GstStereoPad *pad);
/* gst_aggregator_pad_has_buffer(), until the pad is released. */
gboolean gst_stereo_pad_has_buffer (GstStereoPad *pad);

G_END_DECLS

#endif
