/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Says that a camera, or both of them, have stopped without a word.
 *
 * The base class calls aggregate() only when both views have something, so that a clock has to look. It looks in live
 * pipelines only: elsewhere a view may take all the time it likes. quiet.h has the rules.
 */
#ifndef GST_STEREO_SILENCE_H
#define GST_STEREO_SILENCE_H

#include <gst/base/gstaggregator.h>

#include "gst/pairing/input/inputs.h"
#include "gst/pairing/quiet.h"

G_BEGIN_DECLS

typedef struct _GstStereoSilence GstStereoSilence;

/* @aggregator posts the messages; the object belongs to it, holds no reference, and is freed with it. */
GstStereoSilence *gst_stereo_silence_new (GstAggregator *aggregator, GstStereoInputs *inputs);
void gst_stereo_silence_free (GstStereoSilence *silence);

/* Into PLAYING, or out of it. */
void gst_stereo_silence_set_playing (GstStereoSilence *silence, gboolean playing);
/* The pipeline may have become live, or a view pad may have come: begins to look where there is reason to. */
void gst_stereo_silence_update (GstStereoSilence *silence);
/* Asks upstream of @pad whether it is live. GstAggregator keeps the answer from before the sources knew, so that each
 * branch is asked once it has begun. */
void gst_stereo_silence_ask_live (GstStereoSilence *silence, GstPad *pad);
/* The view has another pad now. */
void gst_stereo_silence_forget_view (GstStereoSilence *silence, gboolean right);
/* After a flush, or a start (@all). */
void gst_stereo_silence_reset (GstStereoSilence *silence, gboolean all);

G_END_DECLS

#endif
