/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The request pads of the element: sink for both views in one frame, or sink_left and sink_right. Numbers the seeks that
 * go upstream through them, and waits for the pad of one view where the pad of the other view is linked already.
 */
#ifndef GST_STEREO_INPUTS_H
#define GST_STEREO_INPUTS_H

#include "gst/pairing/input/pad.h"

G_BEGIN_DECLS

typedef struct _GstStereoInputs GstStereoInputs;

/* References of the pads; NULL: there is no such pad. */
typedef struct
{
  GstStereoPad *packed, *left, *right;
} GstStereoInputPads;

/* The object belongs to @element and holds no reference. All functions: from any thread. */
GstStereoInputs *gst_stereo_inputs_new (GstElement *element);
void gst_stereo_inputs_free (GstStereoInputs *inputs);

/* NULL where there is such a pad already. */
GstStereoPad *gst_stereo_inputs_add (GstStereoInputs *inputs, GstPadTemplate *template);
/* Before the pad is released. */
void gst_stereo_inputs_remove (GstStereoInputs *inputs, GstStereoPad *pad);
GstStereoInputPads gst_stereo_inputs_get (GstStereoInputs *inputs);
void gst_stereo_input_pads_clear (GstStereoInputPads *set);
/* Whether a frame waits on every pad, before any event. GstAggregator then calls aggregate() again at once, and does nothing
 * before that. */
gboolean gst_stereo_input_pads_have_buffers (const GstStereoInputPads *set);

typedef enum
{
  GST_STEREO_VIEWS_MISSING, /* there are neither two view pads nor one for both */
  GST_STEREO_VIEWS_BUSY,    /* a pair is being computed or pushed: the activity is not known */
  GST_STEREO_VIEWS_KNOWN
} GstStereoViewsState;

/* Around aggregate(). */
void gst_stereo_inputs_set_busy (GstStereoInputs *inputs, gboolean busy);
/* The activity of the left and the right view. @packed: one pad has both views, and only the first element is set. */
GstStereoViewsState gst_stereo_inputs_get_activity (
    GstStereoInputs *inputs, GstStereoActivity activity[2], gboolean *packed);
/* The pad whose stream the output follows: sink or sink_left. Unref it. */
GstPad *gst_stereo_inputs_get_leading (GstStereoInputs *inputs);

/* At the start: forgets earlier errors. */
void gst_stereo_inputs_start (GstStereoInputs *inputs);
/* FALSE after an error was posted, now or before: both kinds of pads are in use, or one view was never linked. Starts to
 * wait for a view that is not linked yet. */
gboolean gst_stereo_inputs_check (GstStereoInputs *inputs);
/* Ends the wait. */
void gst_stereo_inputs_stop (GstStereoInputs *inputs);

/* Before a seek goes upstream. Returns its generation, or 0 where the same seek has come from another sink already. */
guint gst_stereo_inputs_expect_seek (GstStereoInputs *inputs, GstEvent *seek);
/* Upstream refused the seek that begins @generation. */
void gst_stereo_inputs_cancel_seek (GstStereoInputs *inputs, guint generation);
/* Makes upstream negotiate again. */
void gst_stereo_inputs_reconfigure (GstStereoInputs *inputs);

G_END_DECLS

#endif
