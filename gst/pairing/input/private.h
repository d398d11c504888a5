/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a pad, for pad.c, where frames come and go, and stream.c, which reads the events. */
#ifndef GST_STEREO_PAD_PRIVATE_H
#define GST_STEREO_PAD_PRIVATE_H

#include "gst/pairing/input/pad.h"

G_BEGIN_DECLS

/*
 * The seeks of a pad. A seek without a flush leaves each source at a running time of its own. Sources that were at different
 * places then differ by a constant for the rest of the stream. Each frame therefore has the number of the last seek before it
 * (its generation), and its time counts from the beginning of that seek (its origin).
 */
typedef struct
{
  guint generation; /* of the frames that are shown now */
  gint64 origin;    /* running time at which the generation begins */
  /* seeks that went upstream and that no segment has answered yet, oldest first */
  guint32 seqnum[8];
  guint expected[8]; /* the generations that they begin */
  guint count;
  guint patience; /* frames that may still be dropped before we stop to wait for these seeks */
} GstStereoSeeks;

struct _GstStereoPad
{
  GstAggregatorPad parent;

  gboolean packed, right;    /* from the pad's template, and never changed */
  GstPadChainFunction chain; /* of the base class */

  /* of the source pad's task */
  GstVideoInfo info;
  gboolean have_info;
  gboolean warned; /* a warning about these caps was posted */

  /* protected by the object lock: a flush comes from another thread */
  GQueue frames;                              /* of GstStereoFrame, oldest first */
  guint shown;                                /* number of shown frames: the first ones of the list */
  guint popped;                               /* number of popped frames: all shown ones, or all but the last */
  gint64 last_time;                           /* of the frame that was removed last */
  gint64 shortest;                            /* recent shortest time from one frame to the next in ns; 0 = none seen */
  gint64 intervals[GST_STEREO_INTERVALS - 1]; /* to the frames that were removed last, the last one first, ns; 0 = unknown */
  guint timed;                                /* frames that were shown and have a timestamp, where there is a clock */
  gint64 least_delay;                         /* of these: the least time from the timestamp to the arrival, ns */
  gint64 gap_end;                             /* no frame earlier than this will come, or GST_STEREO_TIME_NONE */
  gboolean in_gap;                            /* the next frame that is shown follows a gap */
  gboolean marked;                            /* some frame was marked as first of its bundle */
  gboolean closed;                            /* the pad accepts no more frames: chain() returns EOS */
  gboolean over;                              /* upstream has sent its end */
  gboolean receiving;                         /* upstream's thread is in chain() */
  guint received;                             /* buffers and gaps so far */
  GstStereoSeeks seeks;

  GMutex aggregator_lock; /* held around calls that touch GstAggregator's queue */
  gboolean released;      /* protected by it: that queue must not be touched any more */
};

G_END_DECLS

#endif
