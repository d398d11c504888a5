/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * From frames to pairs: lets decide.h choose among the frames that the pads show, removes the chosen pair, and drops frames
 * without a partner.
 */
#ifndef GST_STEREO_PAIRS_H
#define GST_STEREO_PAIRS_H

#include "gst/pairing/clock.h"
#include "gst/pairing/drops.h"
#include "gst/pairing/input/inputs.h"
#include "gst/video/properties.h"

G_BEGIN_DECLS

#define GST_STEREO_MAX_SKEW_AUTO G_MAXUINT64

typedef struct _GstStereoPairs GstStereoPairs;
extern const GstStereoProperty gst_stereo_pairs_properties[];

/* @element posts the errors; the object belongs to it and holds no reference. */
GstStereoPairs *gst_stereo_pairs_new (GstElement *element, GstStereoDrops *drops, GstStereoClock *clock);
void gst_stereo_pairs_free (GstStereoPairs *pairs);
/* After a flush, or at the start. */
void gst_stereo_pairs_flush (GstStereoPairs *pairs);

/* From any thread: ns, or GST_STEREO_MAX_SKEW_AUTO. */
guint64 gst_stereo_pairs_get_max_skew (GstStereoPairs *pairs);

/* Finds the next pair on sink, or on sink_left and sink_right. @pair: zeroed; the caller clears it, whatever is returned.
 * GST_FLOW_OK: there is a pair. GST_AGGREGATOR_FLOW_NEED_DATA: a frame is missing. GST_FLOW_EOS: no further pair can
 * come. Others: an error was posted. */
GstFlowReturn gst_stereo_pairs_find (GstStereoPairs *pairs, const GstStereoInputPads *pads, GstStereoPair *pair);

G_END_DECLS

#endif
