/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a pad, for pad.c, where frames come and go, and stream.c, which reads the events. */
#ifndef GST_STEREO_PAD_PRIVATE_H
#define GST_STEREO_PAD_PRIVATE_H

#include "gst/pairing/input/pad.h"

G_BEGIN_DECLS

/*
 * Which seek the frames of a pad come after. A seek without a flush leaves each source at a running time of its own. Two
 * sources that were at different places then differ by a constant for the rest of the stream. The frames of a pad are
 * therefore numbered by the seek that they answer (their generation), and timed from the beginning of that seek (their
 * origin).
 */
typedef struct
{
  guint generation; /* of the frames that are shown now */
  gint64 origin;    /* running time at which the generation begins */
  /* seeks that went upstream and that no segment has answered yet, oldest first */
  guint32 seqnum[8];
  guint expected[8]; /* the generations that they begin */
  guint count;
  guint patience; /* so many frames may still be dropped before these seeks are given up */
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
  GQueue frames;      /* of GstStereoFrame, oldest first */
  guint shown;        /* so many of them, the first ones, are shown */
  guint popped;       /* and so many are out of GstAggregator's queue: all that are shown, or all but the last one */
  gint64 last_time;   /* of the frame that was removed last */
  gint64 shortest;    /* recent time from one frame to the next in ns; 0 = none seen */
  gint64 gap_end;     /* no frame earlier than this will come, or GST_STEREO_TIME_NONE */
  gboolean in_gap;    /* the next frame that is shown follows a gap */
  gboolean marked;    /* some frame was marked as first of its bundle */
  gboolean closed;    /* upstream learns that no more is wanted */
  gboolean over;      /* upstream has sent its end */
  gboolean receiving; /* upstream's thread is in chain() */
  guint received;     /* buffers and gaps so far */
  GstStereoSeeks seeks;

  GMutex aggregator_lock; /* around what touches GstAggregator's queue */
  gboolean released;      /* protected by it: nothing touches that queue any more */
};

G_END_DECLS

#endif
