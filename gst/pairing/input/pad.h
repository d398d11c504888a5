/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A sink pad, and the list of its frames. A frame lies in the list from its arrival until it is removed, alone or in a pair.
 *
 * Upstream's thread puts each frame into this list and into GstAggregator's queue, where frames and events are in the
 * order of the stream. The task of the source pad reads the events, and then _shows_ the frame behind them, as its caps,
 * its segment and its seek are known by then. At most two frames are shown. A frame is _popped_ when it leaves
 * GstAggregator's queue. The last shown frame stays there as long as possible: GstAggregator waits for a buffer on every
 * pad. If this frame were popped, GstAggregator would wait for the next buffer of this pad, although the other pad is behind.
 *
 *   removed <-  [ popped ]  [ shown ]  [ not shown yet: its events come first ]  <- arrives
 */
#ifndef GST_STEREO_PAD_H
#define GST_STEREO_PAD_H

#include <gst/base/gstaggregator.h>

#include "gst/pairing/frame.h"

G_BEGIN_DECLS

#define GST_TYPE_STEREO_PAD (gst_stereo_pad_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoPad, gst_stereo_pad, GST, STEREO_PAD, GstAggregatorPad)

/* From the template named sink, sink_left or sink_right. */
GstStereoPad *gst_stereo_pad_new (GstPadTemplate *template);
/* Whether the frames have both views; whether they have the right view alone. Neither: the left view alone. */
gboolean gst_stereo_pad_is_packed (GstStereoPad *pad);
gboolean gst_stereo_pad_is_right (GstStereoPad *pad);
/* GstAggregatorClass.clip. */
GstBuffer *gst_stereo_pad_clip (GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *buffer);
/* Call before GstAggregator's release_pad: that function drops a buffer without GstAggregator's lock, while the task may be
 * taking the same buffer. After this call the task finds no buffer. */
void gst_stereo_pad_retire (GstStereoPad *pad);

/* ---- frames, for the task of the source pad ----------------------------------------------- */

/* Writes the shown frames into @next. The caller zeroes @next before the first call and clears it after the last one.
 * With @more, or where no frame is shown, first shows one more frame. @packing: of both views in a frame whose caps do
 * not name it. Returns whether a frame or a gap came. With @more, and where neither came, only the error in @next
 * changes. */
gboolean gst_stereo_pad_read (GstStereoPad *pad, GstStereoPacking packing, gboolean more, GstStereoNext *next);
/* Removes @frame, the first shown one. FALSE where a flush has removed it already. */
gboolean gst_stereo_pad_remove (GstStereoPad *pad, const GstStereoFrame *frame);
/* Pops the last shown frame, so that upstream can deliver the next one. FALSE where two are shown. */
gboolean gst_stereo_pad_make_room (GstStereoPad *pad);
/* gst_aggregator_pad_has_buffer(), until the pad is released. */
gboolean gst_stereo_pad_has_buffer (GstStereoPad *pad);
/* The least time after its timestamp at which a frame came since the last flush, ns. FALSE: fewer than @frames have come. */
gboolean gst_stereo_pad_get_delay (GstStereoPad *pad, guint frames, gint64 *delay);
/* The pad accepts no more frames. Those that it has already can still be read, to be counted. */
void gst_stereo_pad_close (GstStereoPad *pad);

/* ---- the stream: stream.c ----------------------------------------------------------------- */

/* Before the event enters GstAggregator's queue. */
void gst_stereo_pad_preview_event (GstStereoPad *pad, GstEvent *event);
/* New caps. Returns them parsed, valid until the next caps, or NULL where they cannot be used. */
const GstVideoInfo *gst_stereo_pad_set_caps (GstStereoPad *pad, GstCaps *caps);
/* TRUE the first time after new caps: for a warning about them. */
gboolean gst_stereo_pad_warn_once (GstStereoPad *pad);
/* A segment begins. */
void gst_stereo_pad_begin_segment (GstStereoPad *pad, GstEvent *event);
/* A seek without a flush goes upstream and begins @generation; or upstream has refused it. */
void gst_stereo_pad_expect_seek (GstStereoPad *pad, guint generation, guint32 seqnum);
void gst_stereo_pad_cancel_seek (GstStereoPad *pad, guint generation);
/* A frame from before a seek was dropped. */
void gst_stereo_pad_count_old_frame (GstStereoPad *pad);

/* For the silence watch. */
typedef struct
{
  guint received;     /* buffers and gaps so far */
  gboolean receiving; /* upstream's thread is in the pad with a buffer */
  gboolean over;      /* upstream has sent its end */
  gboolean waiting;   /* frames came that were not removed yet */
} GstStereoActivity;

GstStereoActivity gst_stereo_pad_activity (GstStereoPad *pad);

G_END_DECLS

#endif
