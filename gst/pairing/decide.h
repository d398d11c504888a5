/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Decides which left frame and which right frame are a pair: pure logic, no objects, no threads, no clock. The caller carries out
 * the decision and asks again, until the decision is to wait.
 */
#ifndef GST_STEREO_DECIDE_H
#define GST_STEREO_DECIDE_H

#include <glib.h>

G_BEGIN_DECLS

#define GST_STEREO_TIME_NONE G_MININT64 /* no timestamp, or no limit */

/* A camera that loses frames now and then has a short interval among so many; one that gives fewer frames has not. */
#define GST_STEREO_INTERVALS 4

typedef enum
{
  GST_STEREO_PAIRING_WAIT,      /* the decision needs one more frame, or the end of a stream */
  GST_STEREO_PAIRING_PAIR,      /* the two heads belong together */
  GST_STEREO_PAIRING_DROP_LEFT, /* the left head has no partner */
  GST_STEREO_PAIRING_DROP_RIGHT,
  GST_STEREO_PAIRING_END /* both streams ended, and no frame is left */
} GstStereoPairing;

typedef struct
{
  gboolean has;    /* there is a next frame: the head */
  gint64 time;     /* of the head, or GST_STEREO_TIME_NONE */
  gint64 spacing;  /* nominal time to the frame after it; 0 = unknown */
  gint64 interval; /* shortest time from one frame to the next, of the last GST_STEREO_INTERVALS ones; 0 = unknown */
  gint64 gap_end;  /* no frame earlier than this will come, or GST_STEREO_TIME_NONE */
  gboolean ended;  /* no further frame will come */
} GstStereoStream;

/*
 * Two frames are a pair when they are at most @max_skew apart (GST_STEREO_TIME_NONE: any distance), and at most half of the time to
 * the next frame of the earlier stream: that one would be nearer. A head without a timestamp pairs with the other head at any time:
 * the order of arrival decides.
 */
GstStereoPairing gst_stereo_pairing_decide (const GstStereoStream *left, const GstStereoStream *right, gint64 max_skew);

/*
 * The same decision for one stream of alternating views: whether its first two frames are a bundle.
 * @count: frames at hand, 0 to 2; @first: whether each is marked as the first of its bundle;
 * @marked: whether any frame of the stream ever was (if not, every other one is taken as first);
 * @lost: without marks: a frame is missing before the second frame, or the head's own first one is.
 * Gives PAIR, DROP_LEFT (the head has no partner), WAIT or END.
 */
GstStereoPairing gst_stereo_pairing_bundle (
    guint count, const gboolean first[2], gboolean marked, gboolean lost, gboolean ended);

/* How many frames of @usual ns an interval is, where it is such a multiple (a quarter of a frame more or less); else 0. */
gint64 gst_stereo_pairing_steps (gint64 interval, gint64 usual);
/* Without marks, timestamps show where frames of alternating views are missing. @before: from the last frame of the bundle before to
 * the head; @within: from the head to the frame behind it; @usual: from one frame to the next; ns, 0 = not known. @discont: upstream
 * says that something is missing between these two. */
gboolean gst_stereo_pairing_lost (gint64 before, gint64 within, gint64 usual, gboolean discont);

G_END_DECLS

#endif
