/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reports that a camera, or both of them, have stopped sending, although their streams did not end.
 *
 * The base class calls aggregate() only when both views have something, so that a clock has to observe the pads. It does
 * so in live pipelines only: elsewhere a view may take all the time it likes. silence.h has the rules.
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
/* The pipeline may have become live, or a view pad may have come: begins to observe where there is reason to. */
void gst_stereo_watch_update (GstStereoWatch *watch);
/* Asks upstream of @pad whether it is live. GstAggregator keeps the answer from before the sources knew, so that each
 * branch is asked once it has begun. */
void gst_stereo_watch_ask_live (GstStereoWatch *watch, GstPad *pad);
/* The view has another pad now. */
void gst_stereo_watch_forget_view (GstStereoWatch *watch, gboolean right);
/* After a flush, or a start (@all). */
void gst_stereo_watch_reset (GstStereoWatch *watch, gboolean all);

G_END_DECLS

#endif
