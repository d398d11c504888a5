/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The next two frames of a pad: the head, and the frame after it. No locks: the pad that owns the structure holds its
 * own.
 *
 * The last frame at hand may be "peeked": it is still in the aggregator's queue as well. If it were popped there, the
 * aggregator would wait for another frame of this pad, although the other pad may be behind.
 */
#ifndef GST_STEREO_HEADS_H
#define GST_STEREO_HEADS_H

#include "gst/pairing/frame.h"

G_BEGIN_DECLS

/* Private to heads.c. */
typedef struct
{
  GstStereoFrame frames[2];
  guint count;
  gboolean peeked;  /* the last frame is still in the aggregator's queue */
  gint64 last_time; /* of the frame before the head */
  gint64 shortest;  /* recent time from one frame to the next in ns; 0 = none seen */
  gint64 gap_end;   /* no frame earlier than this will come, or GST_STEREO_TIME_NONE */
  gboolean in_gap;  /* the next frame follows a gap */
  gboolean marked;  /* some frame was marked as first of its bundle */
} GstStereoHeads;

void gst_stereo_heads_init (GstStereoHeads *heads);
/* Back to the state after init. @buffers gets what was at hand, to be unreffed without a lock. */
void gst_stereo_heads_clear (GstStereoHeads *heads, GstBuffer *buffers[2]);

guint gst_stereo_heads_count (const GstStereoHeads *heads);
gboolean gst_stereo_heads_have_room (const GstStereoHeads *heads);
gboolean gst_stereo_heads_are_peeked (const GstStereoHeads *heads);

/* Appends a frame that is peeked. Sets its spacing. */
void gst_stereo_heads_append (GstStereoHeads *heads, GstStereoFrame *frame);
/* A gap of the stream: nothing comes before @end. */
void gst_stereo_heads_add_gap (GstStereoHeads *heads, gint64 end);
/* A new generation begins: a gap of the old one says nothing of it. */
void gst_stereo_heads_remove_gap (GstStereoHeads *heads);

/* The peeked frame, if there is one, stays at hand and is to be popped from the aggregator's queue. TRUE if so. */
gboolean gst_stereo_heads_detach_peeked (GstStereoHeads *heads);
/* The peeked frame, if there is one, is left to the aggregator's queue. Returns its buffer, to be unreffed. */
GstBuffer *gst_stereo_heads_return_peeked (GstStereoHeads *heads);
/* Moves the head out. FALSE when there is none. @pop: it was peeked, and is to be popped from the aggregator's
 * queue. */
gboolean gst_stereo_heads_take (GstStereoHeads *heads, GstStereoFrame *frame, gboolean *pop);

/* Fills in @queue for gst_stereo_pairing_decide(), except `ended` and `moves_on`, which the pad knows. @generation: of
 * the frames that come now. @spacing and @origin get the head's, and stay as they are when there is no head. */
void gst_stereo_heads_describe (
    const GstStereoHeads *heads, guint generation, GstStereoStream *queue, gint64 *spacing, gint64 *origin);
/* References of the frames at hand; NULL for those that are not there. */
void gst_stereo_heads_ref_buffers (const GstStereoHeads *heads, GstBuffer *buffers[2]);
/* For gst_stereo_pairing_bundle(). @layout (may be NULL) gets the head's. Returns the number of frames at hand. */
guint gst_stereo_heads_describe_bundle (
    const GstStereoHeads *heads, gboolean first[2], gboolean *marked, GstStereoLayout *layout);

G_END_DECLS

#endif
