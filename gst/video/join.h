/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A second stream that is joined to the main one by time, for elements on GstAggregator: two sink pads, their caps and
 * their queues.
 *
 * A main frame is joined with the latest frame of the second stream whose running time is not later than that of the main
 * frame. Where one of the two has no timestamp, the order of arrival decides. The join therefore waits for the next frame of
 * the second stream, which may still be early enough. It does not wait where the current frame of the second stream lasts
 * longer than the main frame: no other frame begins before its end. The main pad always exists. The second pad is a request
 * pad: it may be missing, and an application may release it at any time.
 *
 * Functions whose comment does not mention threads belong to the source pad's task.
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
  GstBuffer *buffer; /* the caller unrefs it; it may be the only reference, so that the buffer is writable */
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

/* For GstAggregatorClass.sink_event, before the base class. TRUE for events that the base class would forward from each pad:
 * forward them from one pad only. */
gboolean gst_stereo_join_is_forwarded (const GstEvent *event);
/* For the same function: notes a flush of the second stream. */
void gst_stereo_join_note_event (GstStereoJoin *join, GstAggregatorPad *pad, GstEvent *event);
/* For the same function: takes the event with the new caps of @pad. FALSE after an error was posted. */
gboolean gst_stereo_join_take_caps (GstStereoJoin *join, GstAggregatorPad *pad, GstEvent *event);
/* Format of the main frames. NULL before there were caps. */
const GstVideoInfo *gst_stereo_join_main_info (const GstStereoJoin *join);
/* Duration of a main frame by its caps, ns; 0 = not known. */
GstClockTime gst_stereo_join_frame_time (const GstStereoJoin *join);

/* Forgets the frame that is held: after a flush. */
void gst_stereo_join_forget (GstStereoJoin *join);
/* Forgets everything but the pads. */
void gst_stereo_join_reset (GstStereoJoin *join);

/* For GstAggregatorClass.aggregate, which returns the flow unless it is GST_FLOW_OK.
 *
 * Takes the next main frame from its pad, once its second frame is known: GST_AGGREGATOR_FLOW_NEED_DATA until then. A gap does
 * not wait for a second frame. @timeout: stop waiting. GST_FLOW_NOT_NEGOTIATED: an error was posted. */
GstFlowReturn gst_stereo_join_next (GstStereoJoin *join, gboolean timeout, GstStereoJoinFrame *frame);
/* Without a main stream: takes the next frame of the second stream, which is then the held frame, too. */
GstFlowReturn gst_stereo_join_next_second (GstStereoJoin *join, GstStereoJoinFrame *frame);
/* The held frame, valid until the next call of the two functions above. */
const GstStereoJoined *gst_stereo_join_held (const GstStereoJoin *join);

G_END_DECLS

#endif
