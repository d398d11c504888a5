/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A second stream that is joined to the main one by time, for elements on GstAggregator: two sink pads, their caps and
 * their queues.
 *
 * A frame of the main stream goes with the latest frame of the second stream whose running time is not later than its own.
 * Where one of the two has no timestamp, the order of arrival decides. Whether a later one comes in time, nobody knows before
 * it is there. But a frame of the second stream that lasts for several main frames goes with all of them at once: no other
 * begins before it ends. The main pad is always there. The second pad is a
 * request pad: it may be missing, and an application may release it at any time.
 *
 * Functions without a word on threads belong to the source pad's task.
 */
#ifndef GST_STEREO_JOIN_H
#define GST_STEREO_JOIN_H

#include <gst/base/gstaggregator.h>
#include <gst/video/video.h>

G_BEGIN_DECLS

typedef struct _GstStereoJoin GstStereoJoin;

/* A frame of either stream. */
typedef struct
{
  GstBuffer *buffer; /* the caller unrefs it; once upstream has let go of it, that is the only reference */
  gboolean gap;      /* the stream has nothing at that time: the buffer is empty */
  GstSegment segment;
  gint64 time; /* running time, or GST_CLOCK_STIME_NONE */
} GstStereoJoinFrame;

/* The latest frame of the second stream that is not newer than the main frames so far. */
typedef struct
{
  GstBuffer *buffer; /* NULL: none */
  GstVideoInfo info;
  gint64 time;          /* running time, or GST_CLOCK_STIME_NONE */
  GstClockTime arrival; /* running time by the clock when it was taken; GST_CLOCK_TIME_NONE without a clock */
  guint serial;         /* another one for every buffer, never 0 */
} GstStereoJoined;

typedef enum
{
  GST_STEREO_JOIN_FRAME, /* here is the next frame */
  GST_STEREO_JOIN_WAIT,  /* a frame, or the one that goes with it, may still come */
  GST_STEREO_JOIN_EOS,   /* the stream ended */
  GST_STEREO_JOIN_FAILED /* after an error was posted */
} GstStereoJoinResult;

/* Sets the functions of @klass that clip frames to their segments and answer the queries that come in line with the frames.
 * Neither waits for the other stream. */
void gst_stereo_join_class_init (GstAggregatorClass *klass);

/* Makes the main pad from the template of that name, and adds it to @owner. Debug lines are of @category. */
GstStereoJoin *gst_stereo_join_new (GstAggregator *owner, const gchar *main, GstDebugCategory *category);
void gst_stereo_join_free (GstStereoJoin *join);

/* From any thread. */
GstAggregatorPad *gst_stereo_join_main (const GstStereoJoin *join);
/* From any thread. For GstAggregatorClass.create_new_pad: NULL when there is a second pad already. */
GstAggregatorPad *gst_stereo_join_create_pad (GstStereoJoin *join, GstPadTemplate *template);
/* From any thread, before the base class releases @pad. */
void gst_stereo_join_release_pad (GstStereoJoin *join, GstPad *pad);
/* From any thread: whether there is a second pad. */
gboolean gst_stereo_join_has_second (GstStereoJoin *join);
/* There is a second pad, and its stream ended. */
gboolean gst_stereo_join_second_ended (GstStereoJoin *join);

/* For GstAggregatorClass.sink_event, before the base class. Whether it would forward an event of this type from every pad:
 * the event of one pad is enough. */
gboolean gst_stereo_join_is_forwarded (const GstEvent *event);
/* For the same: a flush of the second stream is noted. */
void gst_stereo_join_note_event (GstStereoJoin *join, GstAggregatorPad *pad, GstEvent *event);
/* What comes on @pad from now on. FALSE after an error was posted. */
gboolean gst_stereo_join_set_caps (GstStereoJoin *join, GstAggregatorPad *pad, GstCaps *caps);
/* Of the main frames. NULL before there were caps. */
const GstVideoInfo *gst_stereo_join_main_info (const GstStereoJoin *join);
/* How long a main frame lasts by its caps, ns; 0 = not known. */
GstClockTime gst_stereo_join_frame_time (const GstStereoJoin *join);

/* Forgets the frame that is held: after a flush. */
void gst_stereo_join_forget (GstStereoJoin *join);
/* Forgets everything but the pads. */
void gst_stereo_join_reset (GstStereoJoin *join);

/* Takes the next main frame off its pad, once the frame that goes with it is known. A gap does not wait for that. @timeout:
 * stop waiting. */
GstStereoJoinResult gst_stereo_join_next (GstStereoJoin *join, gboolean timeout, GstStereoJoinFrame *frame);
/* The same where there is no main stream: takes the next frame of the second stream, which is also the one that is held. */
GstStereoJoinResult gst_stereo_join_next_second (GstStereoJoin *join, GstStereoJoinFrame *frame);
/* The frame that is held, valid until the next call of the two functions above. */
const GstStereoJoined *gst_stereo_join_held (const GstStereoJoin *join);

G_END_DECLS

#endif
