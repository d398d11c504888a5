/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From frames to pairs: lets decide.h choose among the frames that the pads show, takes the chosen pair, drops frames without a
 * partner, and counts and reports those.
 *
 * Frames are paired by the capture timestamps that sources attach (GstReferenceTimestampMeta), where the next frames of both views
 * have one with equal reference caps, and else by running time.
 */
#ifndef GST_STEREO_PAIRS_H
#define GST_STEREO_PAIRS_H

#include "gst/pairing/pad.h"
#include "gst/video/properties.h"

G_BEGIN_DECLS

#define GST_STEREO_MAX_SKEW_AUTO G_MAXUINT64

typedef struct _GstStereoPairs GstStereoPairs;
extern const GstStereoProperty gst_stereo_pairs_properties[];

/* The pads of the element, as references; NULL: there is no such pad. */
typedef struct
{
  GstStereoPad *packed, *left, *right;
  gboolean live;      /* sensors give the frames */
  gboolean silent[2]; /* nothing comes on the left, the right pad: frames of the other one do not wait */
} GstStereoInputs;

/* @element posts the messages; the object belongs to it and holds no reference. */
GstStereoPairs *gst_stereo_pairs_new (GstElement *element);
void gst_stereo_pairs_free (GstStereoPairs *pairs);
/* After a flush, or at the start, which sets all counts to 0. */
void gst_stereo_pairs_reset (GstStereoPairs *pairs, gboolean start);

/* From any thread: ns, or GST_STEREO_MAX_SKEW_AUTO. */
guint64 gst_stereo_pairs_get_max_skew (GstStereoPairs *pairs);
/* From any thread: drops since the start; and what paired the last pair: "buffer", the name of the reference caps, or "none". */
void gst_stereo_pairs_get_stats (GstStereoPairs *pairs, guint64 dropped[2], const gchar **clock);

/* Finds the next pair on sink, or on sink_left and sink_right. @pair: zeroed; the caller clears it, whatever is returned.
 * GST_FLOW_OK: there is a pair. GST_AGGREGATOR_FLOW_NEED_DATA: a frame is missing. GST_FLOW_EOS: no further pair can
 * come. Others: an error was posted. */
GstFlowReturn gst_stereo_pairs_find (GstStereoPairs *pairs, const GstStereoInputs *inputs, GstStereoPair *pair);

/* A view that was silent is back: frames that waited for it are dropped without advice. */
void gst_stereo_pairs_forgive (GstStereoPairs *pairs);
/* The next output buffer does not continue the last one. A dropped frame has this effect, too. */
void gst_stereo_pairs_break_stream (GstStereoPairs *pairs);
/* Whether the stream was broken since the last call. */
gboolean gst_stereo_pairs_mend_stream (GstStereoPairs *pairs);

G_END_DECLS

#endif
