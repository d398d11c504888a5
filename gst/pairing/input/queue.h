/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The frames of one pad, oldest first: from the arrival of a frame until it is taken out. Pure logic without locks: the
 * pad that owns the queue holds its own lock.
 *
 * GstAggregator has a queue of its own for each pad, of buffers and events. Its order decides when a frame is _shown_:
 * all events before the frame were read, so that its caps, its segment and its seek are known. At most two frames are
 * shown. A frame is _popped_ when it leaves GstAggregator's queue. The last frame that is shown stays in there as long
 * as possible: GstAggregator waits for a buffer on every pad, and without this frame it would wait for another one of
 * this pad, although it is the turn of the other pad.
 *
 *   taken out <-  [ popped ]  [ shown ]  [ not shown yet: its events come first ]  <- arrives
 *
 * A seek without a flush leaves each source at a running time of its own. Two sources that were at different places
 * then differ by a constant for the rest of the stream. The frames of a pad are therefore numbered by the seek that
 * they answer (their generation), and timed from the beginning of that seek (their origin).
 */
#ifndef GST_STEREO_QUEUE_H
#define GST_STEREO_QUEUE_H

#include "gst/pairing/frame.h"

G_BEGIN_DECLS

#define GST_STEREO_MOST_SHOWN 2

/* Written in queue.c alone. */
typedef struct
{
  GQueue frames; /* of GstStereoFrame */
  guint shown;   /* so many of them, the first ones, are shown */
  guint popped;  /* and so many are popped: all that are shown, or all but the last one */

  gint64 last_time; /* of the frame that was taken out last */
  gint64 shortest;  /* recent time from one frame to the next in ns; 0 = none seen */
  gint64 gap_end;   /* no frame earlier than this will come, or GST_STEREO_TIME_NONE */
  gboolean in_gap;  /* the next frame that is shown follows a gap */
  gboolean marked;  /* some frame was marked as first of its bundle */

  guint generation; /* of the frames that are shown now */
  gint64 origin;    /* running time at which the generation begins */
  /* seeks that went upstream and that no segment has answered yet, oldest first */
  guint32 seqnum[8];
  guint expected[8]; /* the generations that they begin */
  guint pending;     /* how many there are */
  guint patience;    /* so many frames may still be dropped before these seeks are given up */
} GstStereoQueue;

/* The frames that are shown, for the decision which frames are a pair. */
typedef struct
{
  GstStereoStream stream; /* the pad adds `ended` */
  GstBuffer *buffers[2];  /* references; NULL: there is no such frame */
  GstStereoLayout layout; /* of the first frame */
  gint64 spacing, origin; /* of the first frame; without one, origin is that of the frames to come */
  gboolean marked;        /* some frame of the stream was marked as first of its bundle */
  gboolean forwards;      /* the stream does not play backwards; from the pad */
} GstStereoNext;

void gst_stereo_next_clear (GstStereoNext *next);

void gst_stereo_queue_init (GstStereoQueue *queue);
/* Back to the state after init. @removed gets the frames, to be freed without a lock. */
void gst_stereo_queue_clear (GstStereoQueue *queue, GQueue *removed);

/* ---- the way of a frame ------------------------------------------------------------------- */

/* A frame arrives, and goes on to GstAggregator's queue. */
void gst_stereo_queue_append (GstStereoQueue *queue, GstBuffer *buffer);
/* GstAggregator refused the frame, or dropped it before it was shown. Returns what is to be freed, or NULL where a flush
 * was faster. */
GstStereoFrame *gst_stereo_queue_remove (GstStereoQueue *queue, GstBuffer *buffer);
/* It is the turn of the frame with @known->buffer, whose caps, segment, time and layout @known has. FALSE where a flush
 * was faster. */
gboolean gst_stereo_queue_show (GstStereoQueue *queue, const GstStereoFrame *known);
/* @buffer left GstAggregator's queue. Returns what is to be freed: a frame that came after a flush, before it could be
 * shown. */
GstStereoFrame *gst_stereo_queue_pop (GstStereoQueue *queue, GstBuffer *buffer);
/* Takes the first frame out. NULL: none is shown. */
GstStereoFrame *gst_stereo_queue_take (GstStereoQueue *queue);

/* ---- what is known of the stream ---------------------------------------------------------- */

/* Clear @next after use. */
void gst_stereo_queue_describe (const GstStereoQueue *queue, GstStereoNext *next);
/* A gap of the stream: nothing comes before @end. */
void gst_stereo_queue_add_gap (GstStereoQueue *queue, gint64 end);

/* ---- seeks -------------------------------------------------------------------------------- */

/* A seek of that number, without a flush, goes upstream. */
void gst_stereo_queue_expect_seek (GstStereoQueue *queue, guint generation, guint32 seqnum);
/* Upstream refused the seek that begins @generation. */
void gst_stereo_queue_cancel_seek (GstStereoQueue *queue, guint generation);
/* A segment begins. TRUE where it answers a seek: a new generation begins with it. */
gboolean gst_stereo_queue_begin_segment (GstStereoQueue *queue, GstEvent *event);
/* A frame from before a pending seek was dropped. TRUE where the pending seeks are given up: nothing answers them. */
gboolean gst_stereo_queue_count_old_frame (GstStereoQueue *queue);

G_END_DECLS

#endif
