/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one caps and parameter set needs: the engine's plan, the source pad's caps, the pools. */
#include "gst/match/element.h"

#include "gst/video/error.h"
#include "gst/video/pool.h"

#define GST_CAT_DEFAULT gst_stereo_match_debug

/* ---- plan -------------------------------------------------------------------------------- */

GstFlowReturn
gst_stereo_match_post_error (GstStereoMatch *self, const StereoError *error, const StereoParams *params)
{
  gboolean uncalibrated = params->output == STEREO_OUTPUT_DEPTH &&
      !(params->focal_length > 0 && params->baseline > 0);

  if (error->status != STEREO_ERROR_PARAMETER || !uncalibrated)
    return gst_stereo_post_error (GST_ELEMENT (self), error);
  GST_ELEMENT_ERROR (self, CORE, NEGOTIATION, ("%s Or let the views bring them along: stereorectify with its calibration "
          "set, before stereomatch, writes them into the metadata.", error->message), (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}

static void
warn_of_plan (GstStereoMatch *self)
{
  const gchar *warning = stereo_plan_warning (self->plan);

  if (*warning && g_strcmp0 (warning, self->warned) != 0)
    GST_ELEMENT_WARNING (self, LIBRARY, SETTINGS, ("%s", warning), (NULL));
  g_free (self->warned);
  self->warned = g_strdup (warning);
}

static void
adopt_plan (GstStereoMatch *self, guint serial, const GstStereoLayout *layout)
{
  const gchar *backend = g_intern_string (stereo_plan_backend (self->plan));
  gboolean changed;

  self->plan_serial = serial;
  self->plan_width = layout->width;
  self->plan_height = layout->height;
  GST_OBJECT_LOCK (self);
  changed = self->backend != backend;
  self->backend = backend;
  self->in_force = *stereo_plan_params (self->plan);
  if (self->plan_context)
    self->in_force.cuda_device_id = gst_stereo_cuda_device (self->plan_context);
  GST_OBJECT_UNLOCK (self);
  GST_INFO_OBJECT (self, "%dx%d on %s: %s; %" G_GSIZE_FORMAT " bytes", layout->width, layout->height, backend,
      stereo_plan_backend_reason (self->plan), stereo_plan_memory (self->plan));
  warn_of_plan (self);
  if (changed)
    g_object_notify (G_OBJECT (self), "active-backend");
}

void
gst_stereo_match_drop_plan (GstStereoMatch *self)
{
  if (self->plan) {
    gboolean entered = gst_stereo_cuda_enter (self->plan_context);
    g_clear_pointer (&self->plan, stereo_plan_free);
    if (entered)
      gst_stereo_cuda_leave (self->plan_context);
  }
  gst_clear_object (&self->plan_context);
}

/* In input_context, where frames lie in one. A machine where that gives a plan for the CPU has no use for it. */
static GstFlowReturn
make_plan (GstStereoMatch *self, StereoParams *params, const GstStereoLayout *layout)
{
  StereoError error;

  if (self->input_context)
    params->cuda_device_id = -2;        /* the current one's */
  if (!gst_stereo_match_enter_context (self, self->input_context))
    return GST_FLOW_ERROR;
  self->plan = stereo_plan_new (params, layout->width, layout->height, &error);
  gst_stereo_cuda_leave (self->input_context);
  if (!self->plan)
    return gst_stereo_match_post_error (self, &error, params);
  if (!g_str_equal (stereo_plan_backend (self->plan), "cuda"))
    gst_clear_object (&self->input_context);
  gst_object_replace ((GstObject **) &self->plan_context, (GstObject *) self->input_context);
  return GST_FLOW_OK;
}

/* The plan for views of this size and the parameters as they are now. */
static GstFlowReturn
ensure_plan (GstStereoMatch *self, const GstStereoLayout *layout)
{
  StereoParams params;
  GstFlowReturn flow;
  gboolean automatic;
  guint serial;

  GST_OBJECT_LOCK (self);
  params = self->params;
  serial = self->serial;
  GST_OBJECT_UNLOCK (self);
  gst_stereo_match_apply_known (self, &params);
  if (self->plan && self->plan_serial == serial && self->plan_width == layout->width &&
      self->plan_height == layout->height && self->plan_context == self->input_context &&
      gst_stereo_match_plan_is_for (self, &params)) {
    gst_stereo_match_show_geometry (self, &params);
    return GST_FLOW_OK;
  }
  if ((flow = gst_stereo_match_land (self)) != GST_FLOW_OK)
    return flow;
  /* before the next: the two need not fit into memory together */
  gst_stereo_match_drop_plan (self);
  automatic = params.backend == STEREO_BACKEND_AUTO;
  if (automatic)
    params.backend = self->chosen_backend;
  if ((flow = make_plan (self, &params, layout)) != GST_FLOW_OK)
    return flow;
  adopt_plan (self, serial, layout);
  if (automatic)
    self->chosen_backend = g_str_equal (self->backend, "cuda") ? STEREO_BACKEND_CUDA : STEREO_BACKEND_CPU;
  if (automatic && self->chosen_backend == STEREO_BACKEND_CPU)
    gst_stereo_match_no_device (self);
  return GST_FLOW_OK;
}

/* ---- caps -------------------------------------------------------------------------------- */

static gboolean
same_caps (const GstStereoLayout *a, const GstStereoLayout *b)
{
  return a->width == b->width && a->height == b->height && a->par_n == b->par_n && a->par_d == b->par_d &&
      a->fps_n == b->fps_n && a->fps_d == b->fps_d;
}

static void
append_format (GstCaps *caps, const GstStereoLayout *layout, GstVideoFormat format)
{
  GstVideoInfo info;
  GstCaps *one;

  if (!gst_video_info_set_format (&info, format, (guint) layout->width, (guint) layout->height))
    return;
  GST_VIDEO_INFO_PAR_N (&info) = layout->par_n;
  GST_VIDEO_INFO_PAR_D (&info) = layout->par_d;
  GST_VIDEO_INFO_FPS_N (&info) = layout->fps_n;
  GST_VIDEO_INFO_FPS_D (&info) = layout->fps_d;
  GST_VIDEO_INFO_MULTIVIEW_MODE (&info) = GST_VIDEO_MULTIVIEW_MODE_MONO;
  one = gst_video_info_to_caps (&info);
  /* grey of full range is all there is: nothing for a capsfilter to stumble over */
  gst_structure_remove_field (gst_caps_get_structure (one, 0), "colorimetry");
  gst_caps_append (caps, one);
}

GstFlowReturn
gst_stereo_match_update_src_caps (GstAggregator *aggregator, GstCaps *caps, GstCaps **result)
{
  GstStereoMatch *self = GST_STEREO_MATCH (aggregator);
  GstCaps *ours;

  if (!self->have_layout)
    return GST_AGGREGATOR_FLOW_NEED_DATA;
  /* downstream may have asked for other caps: what is in flight goes before those */
  if (self->landed == GST_FLOW_OK)
    self->landed = gst_stereo_match_land (self);
  ours = gst_caps_new_empty ();
  append_format (ours, &self->layout, GST_VIDEO_FORMAT_GRAY16_LE);
  if (self->plan && stereo_plan_params (self->plan)->output == STEREO_OUTPUT_DISPARITY)
    append_format (ours, &self->layout, GST_VIDEO_FORMAT_GRAY8);
  *result = gst_caps_intersect_full (ours, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (ours);
  return gst_caps_is_empty (*result) ? GST_FLOW_NOT_NEGOTIATED : GST_FLOW_OK;
}

gboolean
gst_stereo_match_negotiated_src_caps (GstAggregator *aggregator, GstCaps *caps)
{
  GstStereoMatch *self = GST_STEREO_MATCH (aggregator);

  self->parent.negotiated = gst_video_info_from_caps (&self->out_info, caps);
  GST_DEBUG_OBJECT (self, "output is %" GST_PTR_FORMAT, caps);
  return self->parent.negotiated;
}

static GstFlowReturn
negotiate (GstStereoMatch *self, const GstStereoLayout *layout)
{
  GstAggregator *aggregator = GST_AGGREGATOR (self);
  gboolean depth = stereo_plan_params (self->plan)->output == STEREO_OUTPUT_DEPTH;
  GstFlowReturn flow;

  if (self->parent.negotiated && same_caps (&self->layout, layout) &&
      !(depth && GST_VIDEO_INFO_FORMAT (&self->out_info) == GST_VIDEO_FORMAT_GRAY8))
    return GST_FLOW_OK;
  if ((flow = gst_stereo_match_land (self)) != GST_FLOW_OK)
    return flow;
  self->layout = *layout;
  self->have_layout = TRUE;
  self->parent.negotiated = FALSE;
  if (gst_aggregator_negotiate (aggregator) && self->parent.negotiated)
    return GST_FLOW_OK;
  if (GST_PAD_IS_FLUSHING (aggregator->srcpad))
    return GST_FLOW_FLUSHING;
  GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
      ("What is linked downstream does not take %s of %dx%d pixels.", depth ? "depth as GRAY16_LE" :
          "disparity as GRAY16_LE or GRAY8", layout->width, layout->height), (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}

/* ---- memory ------------------------------------------------------------------------------ */

gboolean
gst_stereo_match_decide_allocation (GstAggregator *aggregator, GstQuery *query)
{
  return gst_stereo_pool_decide (query, &GST_STEREO_MATCH (aggregator)->pool_limited);
}

static gboolean
ensure_confidence_pool (GstStereoMatch *self)
{

  if (self->confidence_pool && GST_VIDEO_INFO_WIDTH (&self->confidence_info) == self->plan_width &&
      GST_VIDEO_INFO_HEIGHT (&self->confidence_info) == self->plan_height)
    return TRUE;
  if (self->confidence_pool)
    gst_buffer_pool_set_active (self->confidence_pool, FALSE);
  gst_clear_object (&self->confidence_pool);
  gst_video_info_set_format (&self->confidence_info, GST_VIDEO_FORMAT_GRAY8, (guint) self->plan_width,
      (guint) self->plan_height);
  self->confidence_pool = gst_stereo_pool_new (&self->confidence_info);
  return self->confidence_pool && gst_buffer_pool_set_active (self->confidence_pool, TRUE);
}

GstFlowReturn
gst_stereo_match_acquire (GstStereoMatch *self, GstBuffer **output, GstBuffer **confidence)
{
  GstBufferPool *pool = gst_aggregator_get_buffer_pool (GST_AGGREGATOR (self));
  GstFlowReturn flow = GST_FLOW_ERROR;

  if (ensure_confidence_pool (self) && pool && gst_buffer_pool_set_active (pool, TRUE))
    flow = gst_buffer_pool_acquire_buffer (pool, output, NULL);
  if (flow == GST_FLOW_OK)
    flow = gst_buffer_pool_acquire_buffer (self->confidence_pool, confidence, NULL);
  if (flow == GST_FLOW_ERROR)
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("No output buffer of %dx%d pixels could be had.",
            self->plan_width, self->plan_height), (NULL));
  if (flow != GST_FLOW_OK)
    gst_clear_buffer (output);
  gst_clear_object (&pool);
  return flow;
}

GstFlowReturn
gst_stereo_match_prepare (GstStereoMatch *self, const GstStereoLayout *layout)
{
  GstFlowReturn flow = self->landed;

  self->landed = GST_FLOW_OK;
  if (flow == GST_FLOW_OK)
    flow = ensure_plan (self, layout);
  return flow == GST_FLOW_OK ? negotiate (self, layout) : flow;
}

void
gst_stereo_match_release (GstStereoMatch *self)
{
  gst_stereo_match_abandon (self);
  gst_stereo_match_drop_plan (self);
  gst_clear_object (&self->input_context);
  self->warned_device = FALSE;
  if (self->confidence_pool)
    gst_buffer_pool_set_active (self->confidence_pool, FALSE);
  gst_clear_object (&self->confidence_pool);
  g_clear_pointer (&self->warned, g_free);
  self->chosen_backend = STEREO_BACKEND_AUTO;
  self->have_layout = self->parent.negotiated = FALSE;
  self->warned_geometry = self->warned_size = FALSE;
  gst_stereo_match_reset_checks (self, TRUE);
}
