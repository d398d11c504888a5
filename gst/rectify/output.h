/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Caps of the output, and a pair of frames becomes an output buffer with its metadata. */
#ifndef GST_STEREO_RECTIFY_OUTPUT_H
#define GST_STEREO_RECTIFY_OUTPUT_H

#include "gst/pairing/aggregator.h"
#include "gst/rectify/drift.h"
#include "gst/rectify/maps.h"

G_BEGIN_DECLS

typedef struct _GstStereoRectifyOutput GstStereoRectifyOutput;

/* @base: the element, which owns this; @maps and @drift must outlive it. */
GstStereoRectifyOutput *gst_stereo_rectify_output_new (
    GstStereoAggregator *base, GstStereoRectifyMaps *maps, GstStereoDrift *drift);
void gst_stereo_rectify_output_free (GstStereoRectifyOutput *output);
/* At the end of a stream: the next one negotiates anew. */
void gst_stereo_rectify_output_stop (GstStereoRectifyOutput *output);

/* For GstAggregator's functions of these names. */
GstFlowReturn gst_stereo_rectify_output_update_src_caps (
    GstStereoRectifyOutput *output, GstCaps *caps, GstCaps **result);
gboolean gst_stereo_rectify_output_negotiated_src_caps (GstStereoRectifyOutput *output, GstCaps *caps);
/* Rectifies a pair by these settings, and pushes it. @serial: another number for other settings. @right is @left
 * where one frame holds both views. */
GstFlowReturn gst_stereo_rectify_output_process (GstStereoRectifyOutput *output,
    const GstStereoRectifySettings *settings, guint serial, GstStereoFrame *left, GstStereoFrame *right);

G_END_DECLS

#endif
