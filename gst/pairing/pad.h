/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sink pad that shows its next two frames, each with the caps and segment it came under.
 *
 * A seek without a flush leaves to each source what running time it goes on with: two that are not at one place then
 * differ by that for good. What a pad gets is therefore numbered by the seek that it answers, and timed from there.
 * Files: gststereopad.c, and gststereopad-seeks.c for that.
 *
 * The head stays in the aggregator's queue for as long as it can ("peeked"): popped, it would make the
 * aggregator wait for another one of this pad, when it is the other pad's turn. It is popped and held
 * only to look at the frame after it.
 */
#ifndef GST_STEREO_PAD_H
#define GST_STEREO_PAD_H

#include <gst/base/gstaggregator.h>

#include "gst/video/frame.h"
#include "gst/pairing/partner.h"

G_BEGIN_DECLS

#define GST_TYPE_STEREO_PAD (gst_stereo_pad_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoPad, gst_stereo_pad, GST, STEREO_PAD, GstAggregatorPad)

/* From the template of that name. */
GstStereoPad *gst_stereo_pad_new (GstPadTemplate *template);

/* One frame of a pad. */
typedef struct
{
  GstBuffer *buffer;
  GstVideoInfo info;
  GstStereoLayout layout;
  GstSegment segment;
  gint64 time;                  /* running time, or GST_STEREO_TIME_NONE */
  gint64 spacing;               /* nominal time to the next frame in ns; 0 = unknown */
  guint generation;             /* how many seeks without a flush lie before it */
  gint64 origin;                /* running time at which the last of those begins */
} GstStereoFrame;

/* Seeks sent upstream that no segment answered yet. */
typedef struct
{
  guint32 seqnum[8];
  guint generation[8];
  guint count;
  guint patience;               /* frames that are still dropped for their sake */
} GstStereoSeeks;

/* Of a view on which nothing comes: see gststereoaggregator-silence.c. */
typedef struct
{
  guint seen;                   /* arrivals at the last look */
  GstClockTime idle;            /* since then nothing came; alone: while the other view went on */
  GstClockTime alone;
  gboolean heard;               /* something came once */
  gboolean told;                /* a warning was posted */
} GstStereoSilence;

struct _GstStereoPad
{
  GstAggregatorPad parent;

  gboolean packed, right;       /* what comes here, from the pad's template; neither: left */

  /* of the source pad's task */
  GstVideoInfo info;
  gboolean have_info;
  gboolean warned;              /* that packing is overruled by these caps */

  /* protected by the object lock: a flush comes from another thread */
  GstStereoFrame frames[2];
  guint count;
  gboolean peeked;              /* the last of them is still in the aggregator's queue */
  gint64 last_time;             /* of the frame before the head, for spacing */
  gint64 shortest;              /* recent time from one frame to the next; 0 = none seen */
  gint64 gap_end;               /* see GstStereoQueue */
  gboolean marked;              /* some frame was marked as first of a bundle */
  guint generation;             /* of the frames that come now, and */
  gint64 origin;                /* as in GstStereoFrame */
  GstStereoSeeks seeks;
  guint waiting;                /* frames taken in that did not leave the aggregator's queue yet */
  gboolean closed;              /* upstream is told that no more is wanted */
  guint arrivals;               /* buffers and gaps */
  gboolean pushing;             /* a buffer is being taken in, or waits for that */
  gboolean over;                /* upstream has sent its end */

  GstStereoSilence silence;     /* protected by the element's object lock */

  GstPadChainFunction chain;    /* of the base class */
  GMutex queue_lock;            /* around what touches the aggregator's queue */
  gboolean released;            /* protected by it: nothing touches that queue any more */
};

/* What the pad's next buffer is. */
typedef enum
{
  GST_STEREO_PULL_NOTHING,      /* there is none, or two frames are at hand */
  GST_STEREO_PULL_FRAME,        /* it is one of the frames at hand now */
  GST_STEREO_PULL_GAP,          /* it was a gap, and is gone; @gap is set */
  GST_STEREO_PULL_ERROR         /* it cannot be used; @message is set */
} GstStereoPull;

/* Looks at one frame more. @packing: how both views lie in it, where its caps do not say.
 * @gap (transfer full) gets the empty buffer of a gap. */
GstStereoPull gst_stereo_pad_pull (GstStereoPad *pad, GstStereoPacking packing, GstBuffer **gap, gchar **message);
/* Frames at hand. */
guint gst_stereo_pad_count (GstStereoPad *pad);
/* Moves the head out; the caller unrefs its buffer. FALSE when a flush was faster. */
gboolean gst_stereo_pad_take (GstStereoPad *pad, GstStereoFrame *frame);
/* Pops the head and keeps it: upstream can deliver the next. For when that is waited for. */
gboolean gst_stereo_pad_hold (GstStereoPad *pad);
/* What is at hand, for gst_stereo_pairing_decide(); @spacing gets the head's (unchanged when there is none), @origin what
 * its generation is timed from. */
void gst_stereo_pad_queue (GstStereoPad *pad, GstStereoQueue *queue, gint64 *spacing, gint64 *origin);
/* The same for gst_stereo_pairing_bundle(); @layout (may be NULL) gets the head's. Returns the number of frames. */
guint gst_stereo_pad_bundle (GstStereoPad *pad, gboolean first[2], gboolean *marked, GstStereoLayout *layout);
/* At the end of aggregate(): what was only peeked at is looked up again next time. */
void gst_stereo_pad_settle (GstStereoPad *pad);
/* gst_aggregator_pad_has_buffer(), until the pad is released. */
gboolean gst_stereo_pad_has_buffer (GstStereoPad *pad);
/* Before GstAggregator's release_pad: that drops what was peeked at without its own lock, while the task may just be
 * taking it. From here on the task finds nothing. */
void gst_stereo_pad_retire (GstStereoPad *pad);
/* Nothing more is taken in; what was, still comes, to be counted. */
void gst_stereo_pad_close (GstStereoPad *pad);
/* A frame left the aggregator's queue. From clip(), which may lose one. */
void gst_stereo_pad_left (GstStereoPad *pad, GstBuffer *buffer);
/* gststereopad-seeks.c: the seek of that number, without a flush, goes upstream; or was refused there. */
void gst_stereo_pad_expect (GstStereoPad *pad, guint generation, guint32 seqnum);
void gst_stereo_pad_expect_no_more (GstStereoPad *pad, guint generation);
/* A segment begins. */
void gst_stereo_pad_begin_segment (GstStereoPad *pad, GstEvent *event);
/* A frame from before a seek was dropped: an end to it, some time. */
void gst_stereo_pad_fell_behind (GstStereoPad *pad);
/* Back to the state after a flush. With the object lock held. */
void gst_stereo_pad_forget_seeks (GstStereoPad *pad);

/* Running time, signed: a frame that begins a little before its segment has one too. Or GST_STEREO_TIME_NONE. */
gint64 gst_stereo_running_time (const GstSegment *segment, GstClockTime pts);
/* Back to the state after a flush. */
void gst_stereo_pad_clear (GstStereoPad *pad);

G_END_DECLS

#endif
