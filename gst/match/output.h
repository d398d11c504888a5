/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The output's caps and buffers: what downstream takes, pools, and buffers that the engine writes to. */
#ifndef GST_STEREO_MATCH_OUTPUT_H
#define GST_STEREO_MATCH_OUTPUT_H

#include <gst/base/gstaggregator.h>

#include "gst/match/format.h"
#include "gst/video/frame.h"

G_BEGIN_DECLS

typedef struct _GstStereoMatchOutput GstStereoMatchOutput;

/* The two buffers of one pair, mapped for writing. */
typedef struct
{
  GstVideoFrame frame, confidence;
} GstStereoMappedOutput;

/* The object belongs to @aggregator and holds no reference. All of it is for the task of the source pad. */
GstStereoMatchOutput *gst_stereo_match_output_new (GstAggregator *aggregator);
void gst_stereo_match_output_free (GstStereoMatchOutput *output);
/* At the stop: pools go, and caps have to be negotiated again. */
void gst_stereo_match_output_release (GstStereoMatchOutput *output);

/* ---- caps --------------------------------------------------------------------------------- */

/* Whether the source pad's caps fit views laid out so, and depth or disparity. */
gboolean gst_stereo_match_output_fits (GstStereoMatchOutput *output, const GstStereoLayout *layout, gboolean depth);
/* Answers a caps query of the source pad before that is active: it could give any picture. GStreamer would refuse a link to
 * what takes no grey without saying what to do. This way the link is made, and negotiation ends in an error that says it. */
gboolean gst_stereo_match_output_answer_inactive (GstStereoMatchOutput *output, GstQuery *query);
/* Negotiates caps for them. Where that fails, GstAggregatorClass.negotiate has posted why. */
GstFlowReturn gst_stereo_match_output_negotiate (
    GstStereoMatchOutput *output, const GstStereoLayout *layout, gboolean depth);
/* Posts the error that says what to put between this element and what is linked. */
void gst_stereo_match_output_post_refusal (GstStereoMatchOutput *output, gboolean depth);
/* Whether there is anything to negotiate yet. */
gboolean gst_stereo_match_output_has_layout (const GstStereoMatchOutput *output);
/* During that: which of @caps (downstream's) can be had. Returns no caps where it is none. */
GstCaps *gst_stereo_match_output_choose (GstStereoMatchOutput *output, GstCaps *caps, gboolean depth);
/* Then: these caps were agreed on. FALSE where they make no sense. */
gboolean gst_stereo_match_output_set_caps (GstStereoMatchOutput *output, GstCaps *caps);
/* The format agreed on. */
const GstStereoOutputFormat *gst_stereo_match_output_format (const GstStereoMatchOutput *output);

/* ---- buffers ------------------------------------------------------------------------------ */

/* GstAggregatorClass.decide_allocation. */
gboolean gst_stereo_match_output_decide_allocation (GstStereoMatchOutput *output, GstQuery *query);
/* Whether downstream's pool may have no buffer to spare for a second pair. */
gboolean gst_stereo_match_output_is_limited (const GstStereoMatchOutput *output);
/* A buffer for the samples and one for the confidence. An error was posted where it returns GST_FLOW_ERROR. */
GstFlowReturn gst_stereo_match_output_acquire (
    GstStereoMatchOutput *output, GstBuffer **samples, GstBuffer **confidence);
/* Maps both. FALSE after an error was posted; what was mapped is to be unmapped in any case. */
gboolean gst_stereo_match_output_map (GstStereoMatchOutput *output, GstStereoMappedOutput *mapped, GstBuffer *samples,
    GstBuffer *confidence, StereoOutput *target);
/* May be called twice. */
void gst_stereo_mapped_output_unmap (GstStereoMappedOutput *mapped);

G_END_DECLS

#endif
