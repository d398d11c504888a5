/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/output.h"

#include "gst/match/debug.h"
#include "gst/meta/map.h"
#include "gst/video/pool.h"

/* ---- formats ------------------------------------------------------------------------------ */

#define TEMPLATE_FORMATS "{ GRAY16_LE, GRAY16_BE, GRAY8 }"

static const GstStereoOutputFormat formats[] = {
  { .format = GST_VIDEO_FORMAT_GRAY16_LE, .sample = STEREO_SAMPLE_U16, .is_range = FALSE },
  { .format = GST_VIDEO_FORMAT_GRAY16_BE, .sample = STEREO_SAMPLE_U16, .is_range = FALSE },
  { .format = GST_VIDEO_FORMAT_GRAY8, .sample = STEREO_SAMPLE_U8, .is_range = TRUE },
};

GstCaps *
gst_stereo_output_format_template_caps (void)
{
  return gst_caps_from_string (GST_VIDEO_CAPS_MAKE (TEMPLATE_FORMATS) ", multiview-mode = (string) mono");
}

/* The formats of depth, or of disparity, the preferred one first. NULL after the last one. */
static const GstStereoOutputFormat *
nth_format (guint n, gboolean depth)
{
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (!(depth && formats[i].is_range) && n-- == 0)
      return &formats[i];
  return NULL;
}

/* ---- the object --------------------------------------------------------------------------- */

struct _GstStereoMatchOutput
{
  GstAggregator *aggregator;

  GstStereoLayout layout; /* of the caps negotiated, or being so */
  gboolean have_layout, negotiated;
  GstVideoInfo info;
  const GstStereoOutputFormat *format;
  gboolean limited; /* the output pool may have no buffer to spare */

  GstVideoInfo confidence_info;
  GstBufferPool *confidence_pool;
};

GstStereoMatchOutput *
gst_stereo_match_output_new (GstAggregator *aggregator)
{
  GstStereoMatchOutput *output = g_new0 (GstStereoMatchOutput, 1);

  output->aggregator = aggregator;
  return output;
}

void
gst_stereo_match_output_free (GstStereoMatchOutput *output)
{
  gst_stereo_match_output_release (output);
  g_free (output);
}

static void
release_confidence_pool (GstStereoMatchOutput *output)
{
  if (output->confidence_pool)
    gst_buffer_pool_set_active (output->confidence_pool, FALSE);
  gst_clear_object (&output->confidence_pool);
}

void
gst_stereo_match_output_release (GstStereoMatchOutput *output)
{
  release_confidence_pool (output);
  output->have_layout = output->negotiated = FALSE;
}

/* ---- caps -------------------------------------------------------------------------------- */

gboolean
gst_stereo_match_output_fits (GstStereoMatchOutput *output, const GstStereoLayout *layout, gboolean depth)
{
  const GstStereoLayout *now = &output->layout;

  return output->negotiated && now->width == layout->width && now->height == layout->height &&
      now->par_n == layout->par_n && now->par_d == layout->par_d && now->fps_n == layout->fps_n &&
      now->fps_d == layout->fps_d && !(depth && output->format->is_range);
}

gboolean
gst_stereo_match_output_has_layout (const GstStereoMatchOutput *output)
{
  return output->have_layout;
}

static void
append_format (GstCaps *caps, const GstStereoLayout *layout, GstVideoFormat format)
{
  GstVideoInfo info;

  if (!gst_video_info_set_format (&info, format, (guint) layout->width, (guint) layout->height))
    return;
  GST_VIDEO_INFO_PAR_N (&info) = layout->par_n;
  GST_VIDEO_INFO_PAR_D (&info) = layout->par_d;
  GST_VIDEO_INFO_FPS_N (&info) = layout->fps_n;
  GST_VIDEO_INFO_FPS_D (&info) = layout->fps_d;
  GST_VIDEO_INFO_MULTIVIEW_MODE (&info) = GST_VIDEO_MULTIVIEW_MODE_MONO;
  GstCaps *one = gst_video_info_to_caps (&info);
  /* grey of full range is all there is: a capsfilter shall not have to name it */
  gst_structure_remove_field (gst_caps_get_structure (one, 0), "colorimetry");
  gst_caps_append (caps, one);
}

gboolean
gst_stereo_match_output_answer_inactive (GstStereoMatchOutput *output, GstQuery *query)
{
  GstCaps *filter;

  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS || GST_PAD_IS_ACTIVE (output->aggregator->srcpad))
    return FALSE;
  g_autoptr (GstCaps) caps = gst_pad_get_pad_template_caps (output->aggregator->srcpad);
  caps = gst_caps_make_writable (caps);
  gst_caps_append (caps, gst_caps_new_empty_simple ("video/x-raw"));
  gst_query_parse_caps (query, &filter);
  g_autoptr (GstCaps) chosen = filter ? gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST) :
                                        gst_caps_ref (caps);
  gst_query_set_caps_result (query, chosen);
  return TRUE;
}

GstCaps *
gst_stereo_match_output_choose (GstStereoMatchOutput *output, GstCaps *caps, gboolean depth)
{
  GstCaps *ours = gst_caps_new_empty (), *chosen;
  const GstStereoOutputFormat *format;

  for (guint n = 0; (format = nth_format (n, depth)); n++)
    append_format (ours, &output->layout, format->format);
  chosen = gst_caps_intersect_full (ours, caps, GST_CAPS_INTERSECT_FIRST);
  GST_DEBUG_OBJECT (output->aggregator, "offers %" GST_PTR_FORMAT ", downstream takes %" GST_PTR_FORMAT, ours, caps);
  gst_caps_unref (ours);
  return chosen;
}

gboolean
gst_stereo_match_output_set_caps (GstStereoMatchOutput *output, GstCaps *caps)
{
  output->negotiated = gst_video_info_from_caps (&output->info, caps);
  output->format = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (formats); i++)
    if (formats[i].format == GST_VIDEO_INFO_FORMAT (&output->info))
      output->format = &formats[i];
  output->negotiated &= output->format != NULL;
  GST_DEBUG_OBJECT (output->aggregator, "output is %" GST_PTR_FORMAT, caps);
  return output->negotiated;
}

StereoSample
gst_stereo_match_output_sample (GstStereoMatchOutput *output, gboolean depth)
{
  if (!output->negotiated || !output->format->is_range || !depth)
    return output->negotiated ? output->format->sample : STEREO_SAMPLE_U16;
  g_autoptr (GstCaps) taken = gst_pad_peer_query_caps (output->aggregator->srcpad, NULL);
  g_autoptr (GstCaps) chosen = gst_stereo_match_output_choose (output, taken, TRUE);
  return gst_caps_is_empty (chosen) ? STEREO_SAMPLE_U8 : STEREO_SAMPLE_U16;
}

const GstStereoOutputFormat *
gst_stereo_match_output_format (const GstStereoMatchOutput *output)
{
  return output->format;
}

GstFlowReturn
gst_stereo_match_output_negotiate (GstStereoMatchOutput *output, const GstStereoLayout *layout, gboolean depth)
{
  output->layout = *layout;
  output->have_layout = TRUE;
  output->negotiated = FALSE;
  GST_DEBUG_OBJECT (output->aggregator, "negotiates %s of %dx%d, %d/%d pairs a second", depth ? "depth" : "disparity",
      layout->width, layout->height, layout->fps_n, layout->fps_d);
  if (gst_aggregator_negotiate (output->aggregator) && output->negotiated)
    return GST_FLOW_OK;
  return GST_PAD_IS_FLUSHING (output->aggregator->srcpad) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
}

void
gst_stereo_match_output_post_refusal (GstStereoMatchOutput *output, gboolean depth)
{
  if (GST_PAD_IS_FLUSHING (output->aggregator->srcpad))
    return;
  g_autoptr (GString) what = g_string_new (depth ? "depth as " : "disparity as ");
  const GstStereoOutputFormat *format;
  g_autofree gchar *size = output->have_layout ?
      g_strdup_printf (" of %dx%d pixels", output->layout.width, output->layout.height) :
      NULL;
  for (guint n = 0; (format = nth_format (n, depth)); n++)
    g_string_append_printf (what, "%s%s",
        n == 0                        ? "" :
            nth_format (n + 1, depth) ? ", " :
                                        " or ",
        gst_video_format_to_string (format->format));
  GST_ELEMENT_ERROR (output->aggregator, CORE, NEGOTIATION,
      ("What is linked downstream does not take %s%s. %s", what->str, size ? size : "",
          depth ? "Put depthoverlay between, which gives colours; or set output=disparity and put videoconvert between, "
                  "which gives grey of 8 bits. pngenc, avenc_ffv1 and rtpgstpay (over a network) take all 16 bits. After "
                  "a tee whose branches take different formats, put videoconvert at the begin of each branch." :
                  "Put videoconvert between, which gives grey, or depthoverlay, which gives colours."),
      (NULL));
}

/* ---- buffers ----------------------------------------------------------------------------- */

gboolean
gst_stereo_match_output_decide_allocation (GstStereoMatchOutput *output, GstQuery *query)
{
  gboolean decided = gst_stereo_pool_decide (query, &output->limited);

  GST_DEBUG_OBJECT (
      output->aggregator, "output pool%s: %" GST_PTR_FORMAT, output->limited ? ", of few buffers" : "", query);
  return decided;
}

gboolean
gst_stereo_match_output_is_limited (const GstStereoMatchOutput *output)
{
  return output->limited;
}

static gboolean
ensure_confidence_pool (GstStereoMatchOutput *output)
{
  GstVideoInfo *info = &output->confidence_info;

  if (output->confidence_pool && GST_VIDEO_INFO_WIDTH (info) == output->layout.width &&
      GST_VIDEO_INFO_HEIGHT (info) == output->layout.height)
    return TRUE;
  release_confidence_pool (output);
  gst_video_info_set_format (info, GST_VIDEO_FORMAT_GRAY8, (guint) output->layout.width, (guint) output->layout.height);
  output->confidence_pool = gst_stereo_pool_new (info);
  return output->confidence_pool && gst_buffer_pool_set_active (output->confidence_pool, TRUE);
}

GstFlowReturn
gst_stereo_match_output_acquire (GstStereoMatchOutput *output, GstBuffer **samples, GstBuffer **confidence)
{
  GstBufferPool *pool = gst_aggregator_get_buffer_pool (output->aggregator);
  GstFlowReturn flow = GST_FLOW_ERROR;

  if (ensure_confidence_pool (output) && pool && gst_buffer_pool_set_active (pool, TRUE))
    flow = gst_buffer_pool_acquire_buffer (pool, samples, NULL);
  if (flow == GST_FLOW_OK)
    flow = gst_buffer_pool_acquire_buffer (output->confidence_pool, confidence, NULL);
  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (output->aggregator, RESOURCE, NO_SPACE_LEFT,
        ("No output buffer of %dx%d pixels could be had.", output->layout.width, output->layout.height), (NULL));
  if (flow != GST_FLOW_OK)
    gst_clear_buffer (samples);
  gst_clear_object (&pool);
  return flow;
}

static gboolean
map (GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer)
{
  if (gst_stereo_map (frame, info, buffer, GST_MAP_WRITE | GST_VIDEO_FRAME_MAP_FLAG_NO_REF))
    return TRUE;
  frame->buffer = NULL;
  return FALSE;
}

gboolean
gst_stereo_match_output_map (GstStereoMatchOutput *output, GstStereoMappedOutput *mapped, GstBuffer *samples,
    GstBuffer *confidence, StereoOutput *target)
{
  if (!map (&mapped->frame, &output->info, samples) || !map (&mapped->confidence, &output->confidence_info, confidence)) {
    GST_ELEMENT_ERROR (output->aggregator, RESOURCE, WRITE, ("An output buffer could not be written to."), (NULL));
    return FALSE;
  }
  gst_stereo_pool_clear_padding (&mapped->frame);
  gst_stereo_pool_clear_padding (&mapped->confidence);
  target->data = GST_VIDEO_FRAME_PLANE_DATA (&mapped->frame, 0);
  target->stride = GST_VIDEO_FRAME_PLANE_STRIDE (&mapped->frame, 0);
  target->sample = output->format->sample;
  target->confidence = GST_VIDEO_FRAME_PLANE_DATA (&mapped->confidence, 0);
  target->confidence_stride = GST_VIDEO_FRAME_PLANE_STRIDE (&mapped->confidence, 0);
  return TRUE;
}

void
gst_stereo_mapped_output_order_bytes (GstStereoMappedOutput *mapped)
{
  const GstVideoFrame *frame = &mapped->frame;

  if (GST_VIDEO_FRAME_FORMAT (frame) != GST_VIDEO_FORMAT_GRAY16_BE)
    return;
  for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (frame); y++) {
    guint8 *row = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, 0) +
        (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);
    guint16 *samples = (guint16 *) row;
    for (gint x = 0; x < GST_VIDEO_FRAME_WIDTH (frame); x++)
      samples[x] = GUINT16_TO_BE (samples[x]);
  }
}

void
gst_stereo_mapped_output_unmap (GstStereoMappedOutput *mapped)
{
  if (mapped->frame.buffer)
    gst_video_frame_unmap (&mapped->frame);
  if (mapped->confidence.buffer)
    gst_video_frame_unmap (&mapped->confidence);
  mapped->frame.buffer = mapped->confidence.buffer = NULL;
}
