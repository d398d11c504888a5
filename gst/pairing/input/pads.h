/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which request pads the element has: sink for both views in one frame, or sink_left and sink_right. Numbers the seeks
 * that go upstream through them, and waits for a view pad whose partner is linked already.
 */
#ifndef GST_STEREO_PADS_H
#define GST_STEREO_PADS_H

#include "gst/pairing/input/pad.h"

G_BEGIN_DECLS

typedef struct _GstStereoPads GstStereoPads;

/* References of the pads; NULL for those that are not there. */
typedef struct
{
  GstStereoPad *packed, *left, *right;
} GstStereoPadSet;

/* The object belongs to @element and holds no reference. All functions: from any thread. */
GstStereoPads *gst_stereo_pads_new (GstElement *element);
void gst_stereo_pads_free (GstStereoPads *pads);

/* NULL where there is such a pad already. */
GstStereoPad *gst_stereo_pads_add (GstStereoPads *pads, GstPadTemplate *template);
/* Before the pad is released. */
void gst_stereo_pads_remove (GstStereoPads *pads, GstStereoPad *pad);
GstStereoPadSet gst_stereo_pads_get (GstStereoPads *pads);
void gst_stereo_pad_set_clear (GstStereoPadSet *set);
/* Whether a frame waits on every pad, ahead of any event: aggregate() is called again at once then, and nothing else
 * happens before that. */
gboolean gst_stereo_pad_set_has_buffers (const GstStereoPadSet *set);
/* At the end of aggregate(): peeked frames are left to the aggregator's queues, and looked at again next time. */
void gst_stereo_pad_set_return_peeked (const GstStereoPadSet *set);
/* The pad whose stream the output follows: sink or sink_left. Unref it. */
GstPad *gst_stereo_pads_get_leading (GstStereoPads *pads);

/* At the start: forgets earlier errors. */
void gst_stereo_pads_start (GstStereoPads *pads);
/* FALSE after an error was posted, now or before: both kinds of pads are in use, or one view was never linked. Starts
 * the wait for that view where it is needed. */
gboolean gst_stereo_pads_check (GstStereoPads *pads);
/* Ends the wait. */
void gst_stereo_pads_stop (GstStereoPads *pads);

/* A seek is about to go upstream. Returns its generation, or 0 where the same seek came from another sink already. */
guint gst_stereo_pads_expect_seek (GstStereoPads *pads, GstEvent *seek);
/* Upstream refused the seek that begins @generation. */
void gst_stereo_pads_cancel_seek (GstStereoPads *pads, guint generation);
/* Makes upstream negotiate again. */
void gst_stereo_pads_reconfigure (GstStereoPads *pads);

G_END_DECLS

#endif
