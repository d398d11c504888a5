/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which part of the live frame is shown, the output's caps, and where output buffers come from. */
#include "gst/overlay/element.h"

#include "gst/video/frame.h"

#define GST_CAT_DEFAULT gst_depth_overlay_debug

/* Whether one is the other scaled, within a pixel of the smaller one. */
static gboolean
same_shape (gint width, gint height, gint other_width, gint other_height)
{
  gint64 difference = (gint64) width * other_height - (gint64) other_width * height;

  return ABS (difference) <= MAX (MAX (width, height), MAX (other_width, other_height));
}

static gboolean
refuse (GstDepthOverlay *self, const gchar *reason)
{
  g_atomic_int_set (&self->failed, TRUE);
  GST_ELEMENT_ERROR (self, CORE, NEGOTIATION, ("%s", reason), (NULL));
  return FALSE;
}

/* Whether frames that are not tagged hold two views: if half of one fits the depth, and the whole does not. Before any
 * depth came it is what stereomatch takes for two views, so that the output does not start with both of them. */
static gboolean
looks_packed (GstDepthOverlay *self, gint width, gint height)
{
  gint depth_width = (gint) self->view_depth_width, depth_height = (gint) self->view_depth_height;
  gboolean linked;

  if (depth_width)
    return width % 2 == 0 && !same_shape (width, height, depth_width, depth_height) &&
        same_shape (width / 2, height, depth_width, depth_height);
  GST_OBJECT_LOCK (self);
  linked = self->depth != NULL;
  GST_OBJECT_UNLOCK (self);
  return linked && width % 2 == 0 && width >= 2 * height;
}

/* The size and place of the view in the live frame. */
static gboolean
choose_view (GstDepthOverlay *self, GstStereoLayout *layout, gint *x, gint *y)
{
  const GstVideoInfo *live = &self->live_info;
  gint width = GST_VIDEO_INFO_WIDTH (live), height = GST_VIDEO_INFO_HEIGHT (live);
  gchar *message = NULL;
  gboolean packed = TRUE, found;

  *x = *y = 0;
  switch (GST_VIDEO_INFO_MULTIVIEW_MODE (live)) {
    case GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE:
    case GST_VIDEO_MULTIVIEW_MODE_TOP_BOTTOM:
      break;
    case GST_VIDEO_MULTIVIEW_MODE_NONE:
    case GST_VIDEO_MULTIVIEW_MODE_MONO:
    case GST_VIDEO_MULTIVIEW_MODE_LEFT:
    case GST_VIDEO_MULTIVIEW_MODE_RIGHT:
      packed = looks_packed (self, width, height);
      break;
    default:
      return refuse (self, "The live view must be one view, or two side by side or one above the other: what sink gets "
          "is tagged with another multiview-mode. Give it the left view alone.");
  }
  found = packed ? gst_stereo_layout_packed (layout, live, GST_STEREO_PACKING_SIDE_BY_SIDE, &message) :
      gst_stereo_layout_single (layout, live, FALSE, &message);
  if (!found)
    refuse (self, message);
  else if (packed && layout->right_first && layout->packing == GST_STEREO_PACKING_SIDE_BY_SIDE)
    *x = layout->width;
  else if (packed && layout->right_first)
    *y = layout->height;
  g_free (message);
  return found;
}

static void
adopt_view (GstDepthOverlay *self, const GstStereoLayout *layout, gint x, gint y)
{
  self->view_live_info = self->view_info = self->live_info;
  self->view_x = x;
  self->view_y = y;
  self->cropped = layout->packing != GST_STEREO_PACKING_AUTO;
  if (self->cropped) {
    GstVideoInfo *view = &self->view_info;

    gst_video_info_set_format (view, GST_VIDEO_INFO_FORMAT (&self->live_info), (guint) layout->width,
        (guint) layout->height);
    view->colorimetry = self->live_info.colorimetry;
    view->chroma_site = self->live_info.chroma_site;
    view->interlace_mode = self->live_info.interlace_mode;
    view->fps_n = self->live_info.fps_n;
    view->fps_d = self->live_info.fps_d;
    view->par_n = layout->par_n;
    view->par_d = layout->par_d;
    GST_VIDEO_INFO_MULTIVIEW_MODE (view) = GST_VIDEO_MULTIVIEW_MODE_MONO;
  }
  self->have_view = TRUE;
  self->have_colors = self->negotiated = FALSE;
}

GstFlowReturn
gst_depth_overlay_prepare (GstDepthOverlay *self)
{
  GstAggregator *aggregator = GST_AGGREGATOR (self);
  GstStereoLayout layout = { 0 };
  guint width = self->view_depth_width, height = self->view_depth_height;
  gint x, y;

  if (self->held.buffer) {
    width = (guint) GST_VIDEO_INFO_WIDTH (&self->held.info);
    height = (guint) GST_VIDEO_INFO_HEIGHT (&self->held.info);
  }
  if (self->negotiated && width == self->view_depth_width && height == self->view_depth_height &&
      gst_video_info_is_equal (&self->live_info, &self->view_live_info))
    return GST_FLOW_OK;
  self->view_depth_width = width;
  self->view_depth_height = height;
  if (!choose_view (self, &layout, &x, &y))
    return GST_FLOW_NOT_NEGOTIATED;
  if (self->negotiated && self->view_x == x && self->view_y == y &&
      GST_VIDEO_INFO_WIDTH (&self->view_info) == layout.width &&
      GST_VIDEO_INFO_HEIGHT (&self->view_info) == layout.height &&
      gst_video_info_is_equal (&self->live_info, &self->view_live_info))
    return GST_FLOW_OK;
  adopt_view (self, &layout, x, y);
  if (gst_aggregator_negotiate (aggregator) && self->negotiated)
    return GST_FLOW_OK;
  if (GST_PAD_IS_FLUSHING (aggregator->srcpad))
    return GST_FLOW_FLUSHING;
  GST_ELEMENT_ERROR (self, CORE, NEGOTIATION, ("What is linked downstream does not take %dx%d pixels of %s.",
          layout.width, layout.height, gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&self->view_info))), (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}

gboolean
gst_depth_overlay_check_size (GstDepthOverlay *self)
{
  gint width = GST_VIDEO_INFO_WIDTH (&self->view_info), height = GST_VIDEO_INFO_HEIGHT (&self->view_info);
  gint depth_width = GST_VIDEO_INFO_WIDTH (&self->held.info), depth_height = GST_VIDEO_INFO_HEIGHT (&self->held.info);

  if (same_shape (width, height, depth_width, depth_height))
    return TRUE;
  g_atomic_int_set (&self->failed, TRUE);
  GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
      ("The live view is %dx%d and the depth %dx%d: their aspect ratios differ, so one does not fit over the other. "
          "Give sink the left view that stereomatch got, scaled if need be but not cropped.", width, height,
          depth_width, depth_height), (NULL));
  return FALSE;
}

GstFlowReturn
gst_depth_overlay_update_src_caps (GstAggregator *aggregator, GstCaps *caps, GstCaps **result)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);
  GstCaps *ours;

  if (!self->have_view)
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  ours = gst_video_info_to_caps (&self->view_info);
  *result = gst_caps_intersect (ours, caps);
  gst_caps_unref (ours);
  return gst_caps_is_empty (*result) ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_OK;
}

gboolean
gst_depth_overlay_negotiated_src_caps (GstAggregator *aggregator, GstCaps *caps)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);

  self->negotiated = gst_video_info_from_caps (&self->view_info, caps);
  self->have_colors = FALSE;
  GST_DEBUG_OBJECT (self, "output is %" GST_PTR_FORMAT, caps);
  return self->negotiated;
}

/* ---- memory ------------------------------------------------------------------------------ */

static gboolean
configure (GstBufferPool *pool, GstCaps *caps, guint size, guint min, guint max, gboolean meta)
{
  GstStructure *config = gst_buffer_pool_get_config (pool);

  gst_buffer_pool_config_set_params (config, caps, size, min, max);
  if (meta && gst_buffer_pool_has_option (pool, GST_BUFFER_POOL_OPTION_VIDEO_META))
    gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  return gst_buffer_pool_set_config (pool, config);
}

gboolean
gst_depth_overlay_decide_allocation (GstAggregator *aggregator, GstQuery *query)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);
  gboolean listed = gst_query_get_n_allocation_pools (query) > 0;
  guint size = 0, min = 0, max = 0;
  GstBufferPool *pool = NULL;
  GstVideoInfo info;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps || !gst_video_info_from_caps (&info, caps))
    return FALSE;
  self->padded = gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  if (listed)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
  size = MAX (size, (guint) GST_VIDEO_INFO_SIZE (&info));
  if (!pool || !configure (pool, caps, size, min, max, self->padded)) {
    gst_clear_object (&pool);
    pool = gst_video_buffer_pool_new ();
    if (!configure (pool, caps, size, min, max, self->padded)) {
      gst_object_unref (pool);
      return FALSE;
    }
  }
  if (listed)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool (query, pool, size, min, max);
  gst_object_unref (pool);
  return TRUE;
}

GstFlowReturn
gst_depth_overlay_acquire (GstDepthOverlay *self, GstBuffer **output)
{
  GstBufferPool *pool = gst_aggregator_get_buffer_pool (GST_AGGREGATOR (self));
  GstFlowReturn flow = GST_FLOW_ERROR;

  if (pool && gst_buffer_pool_set_active (pool, TRUE))
    flow = gst_buffer_pool_acquire_buffer (pool, output, NULL);
  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("No output buffer of %dx%d pixels could be had.",
            GST_VIDEO_INFO_WIDTH (&self->view_info), GST_VIDEO_INFO_HEIGHT (&self->view_info)), (NULL));
  gst_clear_object (&pool);
  return flow;
}
