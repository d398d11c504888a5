/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sink pad, and those of its frames that are being decided upon: two at most.
 *
 * GstAggregator calls aggregate() when every pad has a buffer. A frame is _shown_ when it is read from the pad, with its caps and its
 * segment, and _taken_ when its buffer leaves GstAggregator's queue. The last shown frame is taken as late as possible: if it were
 * taken at once, GstAggregator would wait for the next buffer of this pad, although the other pad is behind.
 */
#ifndef GST_STEREO_PAD_H
#define GST_STEREO_PAD_H

#include <gst/base/gstaggregator.h>

#include "gst/pairing/frame.h"
#include "gst/pairing/source.h"

G_BEGIN_DECLS

#define GST_TYPE_STEREO_PAD (gst_stereo_pad_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoPad, gst_stereo_pad, GST, STEREO_PAD, GstAggregatorPad)

#define GST_STEREO_PAD_DEPTH 2

struct _GstStereoPad
{
  GstAggregatorPad parent;

  gboolean packed, right;    /* from the pad's template, and never changed: both views, or the right one alone */
  GstPadChainFunction chain; /* of the base class */
  gint flushed, closed;      /* atomic. closed: the pad accepts no more frames, and chain() returns EOS */

  /* of the source pad's task */
  GstStereoFrame *frames[GST_STEREO_PAD_DEPTH];
  guint shown, taken; /* taken: all shown frames, or all but the last */
  GstVideoInfo info;
  gboolean have_info, warned;                 /* warned: of these caps */
  gboolean ended, resumed;                    /* no frame will come; a stream began after the end of another one */
  gboolean began;                             /* a frame came since the start */
  gboolean marked;                            /* some frame was marked as first of its bundle */
  gboolean in_gap;                            /* the next frame that is shown follows a gap */
  gint64 gap_end;                             /* no frame earlier than this will come, or GST_STEREO_TIME_NONE */
  gint64 last_time;                           /* of the frame that left last */
  gint64 shortest;                            /* recent shortest time from one frame to the next in ns; 0 = none seen */
  gint64 intervals[GST_STEREO_INTERVALS - 1]; /* to the frames that left last, the last one first, ns; 0 = unknown */
  gboolean turned;                            /* it was said that its pictures are to be turned */

  guint consumed; /* buffers that have left GstAggregator's queue since the last flush */

  /* protected by the object lock */
  GstStereoSource source;
  guint received; /* buffers that entered the queue since the last flush, or are about to */

  GMutex lock;       /* held around calls that touch GstAggregator's queue */
  gboolean released; /* protected by it: that queue must not be touched any more */
  GCond arrived;     /* with it: upstream's thread has been here */
};

/* From the template named sink, sink_left or sink_right. */
GstStereoPad *gst_stereo_pad_new (GstPadTemplate *template);
/* Call before GstAggregator's release_pad: that function drops a buffer without GstAggregator's lock, while the task may be
 * taking the same buffer. After this call the task finds no buffer. */
void gst_stereo_pad_retire (GstStereoPad *pad);
GstStereoSource gst_stereo_pad_get_source (GstStereoPad *pad);
/* GstAggregatorClass.clip. */
GstBuffer *gst_stereo_pad_clip (GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *buffer);

/* ---- for the task of the source pad ------------------------------------------------------- */

/* Forgets the frames at hand and what was learned of the stream; or does so if the pad was flushed. */
void gst_stereo_pad_clear (GstStereoPad *pad);
void gst_stereo_pad_obey_flush (GstStereoPad *pad);
/* gst_aggregator_pad_has_buffer(), until the pad is released. */
gboolean gst_stereo_pad_has_buffer (GstStereoPad *pad);
/* GstAggregator takes a pad for ended even when another stream has begun on it, and calls aggregate() without a buffer there, again
 * and again. Waits for one, a tenth of a second at most. */
void gst_stereo_pad_wait_if_resumed (GstStereoPad *pad);
/* Where no frame is shown, or with @more, shows one more frame. Returns whether a frame or a gap came. @gap: the empty
 * buffer of a gap, with its segment. @error: why a frame cannot be used. @packing: of both views in a frame whose caps do not name
 * it. */
gboolean gst_stereo_pad_read (
    GstStereoPad *pad, GstStereoPacking packing, gboolean more, GstStereoFrame **gap, gchar **error);
/* The shown frames, as input of the pairing decision. */
GstStereoStream gst_stereo_pad_describe (GstStereoPad *pad);
/* Nothing comes any more: upstream said so, or the pad is closed and what was on its way is through. */
gboolean gst_stereo_pad_is_over (GstStereoPad *pad);
/* The first shown frame leaves. NULL where a flush was faster. */
GstStereoFrame *gst_stereo_pad_take (GstStereoPad *pad);
/* Takes the last shown frame, so that upstream can deliver the next one. FALSE where two are shown. */
gboolean gst_stereo_pad_make_room (GstStereoPad *pad);

G_END_DECLS

#endif
