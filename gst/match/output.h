/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Negotiates the caps of the output, and provides the buffers that the engine writes to. */
#ifndef GST_STEREO_MATCH_OUTPUT_H
#define GST_STEREO_MATCH_OUTPUT_H

#include <gst/base/gstaggregator.h>

#include "gst/video/frame.h"

G_BEGIN_DECLS

/* A format of the output. A new one is a row of the table in output.c. */
typedef struct
{
  GstVideoFormat format;
  StereoSample sample; /* sample type that the engine writes */
  gboolean is_range;   /* the search range fills the samples' range; for disparity only */
} GstStereoOutputFormat;

typedef struct _GstStereoMatchOutput GstStereoMatchOutput;

/* The two buffers of one pair, mapped for writing. */
typedef struct
{
  GstVideoFrame frame, confidence;
} GstStereoMappedOutput;

/* The object belongs to @aggregator and holds no reference. All functions belong to the task of the source pad. */
GstStereoMatchOutput *gst_stereo_match_output_new (GstAggregator *aggregator);
void gst_stereo_match_output_free (GstStereoMatchOutput *output);
/* At the stop: frees the pools, and forgets the caps. */
void gst_stereo_match_output_release (GstStereoMatchOutput *output);

/* Caps of the source pad's template. Transfer full. */
GstCaps *gst_stereo_output_format_template_caps (void);

/* ---- caps --------------------------------------------------------------------------------- */

/* Whether the source pad's caps fit this layout, and depth or disparity. */
gboolean gst_stereo_match_output_fits (GstStereoMatchOutput *output, const GstStereoLayout *layout, gboolean depth);
/* Answers a caps query of the source pad, before the pad is active, with all video formats. Otherwise GStreamer would
 * refuse a link to an element that takes no grey, without advice. Now the link succeeds, and negotiation posts an error
 * with advice. */
gboolean gst_stereo_match_output_answer_inactive (GstStereoMatchOutput *output, GstQuery *query);
/* Negotiates caps for this layout. On failure, GstAggregatorClass.negotiate has posted the error. */
GstFlowReturn gst_stereo_match_output_negotiate (
    GstStereoMatchOutput *output, const GstStereoLayout *layout, gboolean depth);
/* Posts an error that names the element to put between this one and the one downstream. */
void gst_stereo_match_output_post_refusal (GstStereoMatchOutput *output, gboolean depth);
/* Whether the layout is known, which negotiation needs. */
gboolean gst_stereo_match_output_has_layout (const GstStereoMatchOutput *output);
/* During negotiation: those of @caps (downstream's) that this element can give. Empty caps: none. */
GstCaps *gst_stereo_match_output_choose (GstStereoMatchOutput *output, GstCaps *caps, gboolean depth);
/* Negotiation has chosen @caps. FALSE where they cannot be used. */
gboolean gst_stereo_match_output_set_caps (GstStereoMatchOutput *output, GstCaps *caps);
/* The samples of other parameters: those of the caps, or of 16 bits, for depth, where downstream takes them. */
StereoSample gst_stereo_match_output_sample (GstStereoMatchOutput *output, gboolean depth);
/* The negotiated format. */
const GstStereoOutputFormat *gst_stereo_match_output_format (const GstStereoMatchOutput *output);

/* ---- buffers ------------------------------------------------------------------------------ */

/* GstAggregatorClass.decide_allocation. */
gboolean gst_stereo_match_output_decide_allocation (GstStereoMatchOutput *output, GstQuery *query);
/* Whether downstream's pool may have too few buffers for a second pair in flight. */
gboolean gst_stereo_match_output_is_limited (const GstStereoMatchOutput *output);
/* A buffer for the samples and one for the confidence. An error was posted where it returns GST_FLOW_ERROR. */
GstFlowReturn gst_stereo_match_output_acquire (
    GstStereoMatchOutput *output, GstBuffer **samples, GstBuffer **confidence);
/* Maps both buffers. FALSE after an error was posted. The caller unmaps @mapped in both cases. */
gboolean gst_stereo_match_output_map (GstStereoMatchOutput *output, GstStereoMappedOutput *mapped, GstBuffer *samples,
    GstBuffer *confidence, StereoOutput *target);
/* After the last write of samples: gives them the byte order of the caps. */
void gst_stereo_mapped_output_order_bytes (GstStereoMappedOutput *mapped);
/* May be called twice. */
void gst_stereo_mapped_output_unmap (GstStereoMappedOutput *mapped);

G_END_DECLS

#endif
