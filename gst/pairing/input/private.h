/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The inside of a pad, for pad.c (its frames) and stream.c (its events). */
#ifndef GST_STEREO_PAD_PRIVATE_H
#define GST_STEREO_PAD_PRIVATE_H

#include "gst/pairing/input/heads.h"
#include "gst/pairing/input/pad.h"
#include "gst/pairing/input/seeks.h"

G_BEGIN_DECLS

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
  GstStereoHeads heads;
  GstStereoSeeks seeks;
  guint waiting;    /* frames taken in that did not leave the aggregator's queue yet */
  gboolean closed;  /* upstream is told that no more is wanted */
  guint arrivals;   /* buffers and gaps */
  gboolean pushing; /* a buffer is being taken in, or waits for that */
  gboolean over;    /* upstream has sent its end */

  GMutex queue_lock; /* around what touches the aggregator's queue */
  gboolean released; /* protected by it: nothing touches that queue any more */
};

G_END_DECLS

#endif
