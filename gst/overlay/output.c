/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/output.h"

#include "gst/overlay/debug.h"
#include "gst/video/pool.h"
#include "gst/video/stream.h"

/* Of depth alone, the best first. */
#define ALONE_FORMATS \
  "{ RGBx, BGRx, xRGB, xBGR, RGBA, BGRA, ARGB, ABGR, RGB, BGR, Y444, Y42B, YUY2, UYVY, I420, YV12, NV12, NV21, GRAY8 " \
  "}"

struct _GstDepthOverlayOutput
{
  GstAggregator *owner;

  GstStereoLiveView view;
  gboolean have_view, negotiated;
  gboolean alone;                 /* the view is depth alone: its format is downstream's choice */
  gint depth_width, depth_height; /* of the depth that the view was chosen with; 0 = none */
  gboolean padded;                /* downstream takes rows as a GstVideoMeta says */

  GstSegment segment; /* of the source pad */
  gboolean have_segment;
};

GstDepthOverlayOutput *
gst_depth_overlay_output_new (GstAggregator *owner)
{
  GstDepthOverlayOutput *output = g_new0 (GstDepthOverlayOutput, 1);

  output->owner = owner;
  gst_video_info_init (&output->view.live);
  gst_video_info_init (&output->view.info);
  return output;
}

void
gst_depth_overlay_output_free (GstDepthOverlayOutput *output)
{
  g_free (output);
}

void
gst_depth_overlay_output_reset (GstDepthOverlayOutput *output, gboolean caps)
{
  output->have_segment = FALSE;
  if (caps)
    output->have_view = output->negotiated = output->alone = FALSE;
}

/* ---- caps -------------------------------------------------------------------------------- */

/* What @peer takes, in any size. */
static GstCaps *
formats_of (GstCaps *peer)
{
  static const gchar *const kept[] = { "format", "framerate", "colorimetry" };
  GstCaps *formats = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (peer); i++) {
    const GstStructure *from = gst_caps_get_structure (peer, i);

    if (!gst_structure_has_name (from, "video/x-raw") ||
        !gst_caps_features_is_equal (gst_caps_get_features (peer, i), GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
      continue;
    GstStructure *to = gst_structure_new_empty ("video/x-raw");
    for (guint k = 0; k < G_N_ELEMENTS (kept); k++)
      if (gst_structure_has_field (from, kept[k]))
        gst_structure_set_value (to, kept[k], gst_structure_get_value (from, kept[k]));
    gst_caps_append_structure (formats, to);
  }
  return formats;
}

GstCaps *
gst_depth_overlay_output_query_caps (GstDepthOverlayOutput *output, GstPad *pad, GstCaps *filter)
{
  GstCaps *ours = gst_pad_get_pad_template_caps (pad), *caps = ours, *filtered;
  GstCaps *peer = gst_pad_peer_query_caps (GST_AGGREGATOR_SRC_PAD (output->owner), NULL);

  if (!gst_caps_is_any (peer)) {
    g_autoptr (GstCaps) formats = formats_of (peer);
    caps = gst_caps_intersect_full (formats, ours, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (ours);
  }
  gst_caps_unref (peer);
  if (filter) {
    filtered = gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (caps);
    caps = filtered;
  }
  return caps;
}

gboolean
gst_depth_overlay_output_choose_view (
    GstDepthOverlayOutput *output, const GstVideoInfo *live, gint depth_width, gint depth_height, gboolean expected)
{
  GstStereoLiveView view;
  gchar *message = NULL;

  if (depth_width == 0) {
    depth_width = output->depth_width;
    depth_height = output->depth_height;
  }
  if (output->negotiated && depth_width == output->depth_width && depth_height == output->depth_height &&
      gst_video_info_is_equal (live, &output->view.live))
    return TRUE;
  output->depth_width = depth_width;
  output->depth_height = depth_height;
  if (!gst_stereo_live_view_choose (&view, live, depth_width, depth_height, expected, &message)) {
    GST_ELEMENT_ERROR (output->owner, CORE, NEGOTIATION, ("%s", message), (NULL));
    g_free (message);
    return FALSE;
  }
  if (output->negotiated && gst_stereo_live_view_equal (&view, &output->view))
    return TRUE;
  GST_DEBUG_OBJECT (output->owner,
      "shows %dx%d pixels at %d,%d of live frames of %dx%d, with depth of %dx%d (0x0: none yet)",
      GST_VIDEO_INFO_WIDTH (&view.info), GST_VIDEO_INFO_HEIGHT (&view.info), view.x, view.y,
      GST_VIDEO_INFO_WIDTH (live), GST_VIDEO_INFO_HEIGHT (live), depth_width, depth_height);
  output->view = view;
  output->have_view = TRUE;
  output->negotiated = FALSE;
  return TRUE;
}

void
gst_depth_overlay_output_choose_alone (GstDepthOverlayOutput *output, const GstVideoInfo *depth)
{
  GstVideoInfo *info = &output->view.info;

  if (output->negotiated && output->alone && GST_VIDEO_INFO_WIDTH (info) == GST_VIDEO_INFO_WIDTH (depth) &&
      GST_VIDEO_INFO_HEIGHT (info) == GST_VIDEO_INFO_HEIGHT (depth) && info->fps_n == depth->fps_n &&
      info->fps_d == depth->fps_d && info->par_n == depth->par_n && info->par_d == depth->par_d)
    return;
  gst_video_info_set_format (
      info, GST_VIDEO_FORMAT_RGBx, (guint) GST_VIDEO_INFO_WIDTH (depth), (guint) GST_VIDEO_INFO_HEIGHT (depth));
  info->fps_n = depth->fps_n;
  info->fps_d = depth->fps_d;
  info->par_n = depth->par_n;
  info->par_d = depth->par_d;
  GST_VIDEO_INFO_MULTIVIEW_MODE (info) = GST_VIDEO_MULTIVIEW_MODE_MONO;
  output->view.live = *info;
  output->view.x = output->view.y = 0;
  output->view.cropped = FALSE;
  output->have_view = output->alone = TRUE;
  output->negotiated = FALSE;
}

GstFlowReturn
gst_depth_overlay_output_negotiate (GstDepthOverlayOutput *output)
{
  const GstVideoInfo *info = &output->view.info;

  if (output->negotiated || (gst_aggregator_negotiate (output->owner) && output->negotiated))
    return GST_FLOW_OK;
  if (GST_PAD_IS_FLUSHING (output->owner->srcpad))
    return GST_FLOW_FLUSHING;
  GST_ELEMENT_ERROR (output->owner, CORE, NEGOTIATION,
      ("What is linked downstream does not take %dx%d pixels of %s.", GST_VIDEO_INFO_WIDTH (info),
          GST_VIDEO_INFO_HEIGHT (info), gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info))),
      (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}

/* @info in every format of ALONE_FORMATS. Colorimetry and the like are those that the format has by default. */
static GstCaps *
caps_alone (const GstVideoInfo *info)
{
  GstCaps *formats = gst_caps_from_string ("video/x-raw, format=" ALONE_FORMATS);

  gst_caps_set_simple (formats, "width", G_TYPE_INT, GST_VIDEO_INFO_WIDTH (info), "height", G_TYPE_INT,
      GST_VIDEO_INFO_HEIGHT (info), "framerate", GST_TYPE_FRACTION, info->fps_n, info->fps_d, "pixel-aspect-ratio",
      GST_TYPE_FRACTION, info->par_n, info->par_d, "interlace-mode", G_TYPE_STRING, "progressive", "multiview-mode",
      G_TYPE_STRING, "mono", NULL);
  return formats;
}

GstFlowReturn
gst_depth_overlay_output_update_src_caps (GstDepthOverlayOutput *output, GstCaps *caps, GstCaps **result)
{
  if (!output->have_view)
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  g_autoptr (GstCaps) ours = output->alone ? caps_alone (&output->view.info) :
                                             gst_video_info_to_caps (&output->view.info);
  *result = gst_caps_intersect_full (ours, caps, GST_CAPS_INTERSECT_FIRST);
  return gst_caps_is_empty (*result) ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_OK;
}

gboolean
gst_depth_overlay_output_negotiated_src_caps (GstDepthOverlayOutput *output, GstCaps *caps)
{
  output->negotiated = gst_video_info_from_caps (&output->view.info, caps);
  if (output->alone)
    output->view.live = output->view.info;
  GST_DEBUG_OBJECT (output->owner, "negotiated %" GST_PTR_FORMAT, caps);
  return output->negotiated;
}

/* ---- buffers ----------------------------------------------------------------------------- */

gboolean
gst_depth_overlay_output_decide_allocation (GstDepthOverlayOutput *output, GstQuery *query)
{
  gboolean decided = gst_stereo_pool_decide (query, NULL);

  output->padded = gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  GST_DEBUG_OBJECT (
      output->owner, "output pool; rows %s padded: %" GST_PTR_FORMAT, output->padded ? "may be" : "must not be", query);
  return decided;
}

const GstStereoLiveView *
gst_depth_overlay_output_view (const GstDepthOverlayOutput *output)
{
  return &output->view;
}

gboolean
gst_depth_overlay_output_can_pass (const GstDepthOverlayOutput *output, GstBuffer *live)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (live);
  const GstVideoInfo *info = &output->view.live;

  if (output->view.cropped)
    return FALSE;
  if (!meta || output->padded)
    return TRUE;
  for (guint i = 0; i < GST_VIDEO_INFO_N_PLANES (info); i++)
    if (meta->stride[i] != GST_VIDEO_INFO_PLANE_STRIDE (info, i) ||
        meta->offset[i] != GST_VIDEO_INFO_PLANE_OFFSET (info, i))
      return FALSE;
  return TRUE;
}

GstFlowReturn
gst_depth_overlay_output_acquire (GstDepthOverlayOutput *output, GstBuffer **buffer)
{
  GstBufferPool *pool = gst_aggregator_get_buffer_pool (output->owner);
  const GstVideoInfo *info = &output->view.info;
  GstFlowReturn flow = GST_FLOW_ERROR;

  if (pool && gst_buffer_pool_set_active (pool, TRUE))
    flow = gst_buffer_pool_acquire_buffer (pool, buffer, NULL);
  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (output->owner, RESOURCE, NO_SPACE_LEFT,
        ("There is no memory for an output buffer of %dx%d pixels.", GST_VIDEO_INFO_WIDTH (info),
            GST_VIDEO_INFO_HEIGHT (info)),
        (NULL));
  gst_clear_object (&pool);
  return flow;
}

GstFlowReturn
gst_depth_overlay_output_push (GstDepthOverlayOutput *output, const GstSegment *segment, GstBuffer *buffer)
{
  return gst_stereo_push (output->owner, &output->segment, &output->have_segment, segment, buffer);
}

void
gst_depth_overlay_output_push_gap (GstDepthOverlayOutput *output, GstBuffer *gap)
{
  if (output->negotiated && output->have_segment && GST_BUFFER_PTS_IS_VALID (gap))
    gst_pad_push_event (
        GST_AGGREGATOR_SRC_PAD (output->owner), gst_event_new_gap (GST_BUFFER_PTS (gap), GST_BUFFER_DURATION (gap)));
}
