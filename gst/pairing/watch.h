/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reports cameras that have stopped sending without ending their stream.
 *
 * GstAggregator calls aggregate() only when both views have a buffer. A silent view is therefore observed by a clock, in live
 * pipelines only: elsewhere a view may take any time. silence.h has the rules.
 */
#ifndef GST_STEREO_WATCH_H
#define GST_STEREO_WATCH_H

#include <gst/base/gstaggregator.h>

#include "gst/pairing/input/inputs.h"
#include "gst/pairing/silence.h"

G_BEGIN_DECLS

typedef struct _GstStereoWatch GstStereoWatch;

/* @aggregator posts the messages; the object belongs to it, holds no reference, and is freed with it. */
GstStereoWatch *gst_stereo_watch_new (GstAggregator *aggregator, GstStereoInputs *inputs);
void gst_stereo_watch_free (GstStereoWatch *watch);

/* The element goes into PLAYING, or out of it. */
void gst_stereo_watch_set_playing (GstStereoWatch *watch, gboolean playing);
/* The pipeline may have become live, or there may be a new view pad: observes the pads if it is live. */
void gst_stereo_watch_update (GstStereoWatch *watch);
/* Asks upstream of @pad whether it is live, once the branch has begun. GstAggregator asks earlier, when sources may not know
 * it yet, and keeps that answer. */
void gst_stereo_watch_ask_live (GstStereoWatch *watch, GstPad *pad);
/* The view has a new pad. */
void gst_stereo_watch_forget_view (GstStereoWatch *watch, gboolean right);
/* After a flush, or a start (@all). */
void gst_stereo_watch_reset (GstStereoWatch *watch, gboolean all);

G_END_DECLS

#endif
