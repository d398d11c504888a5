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

G_END_DECLS

#endif
