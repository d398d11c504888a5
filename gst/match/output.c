/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pair becomes an output buffer with its metadata. */
#include "gst/match/element.h"

#include "gst/meta/gststereometa.h"

#define GST_CAT_DEFAULT gst_stereo_match_debug

static gboolean
comparable (const GstStereoFrame *a, const GstStereoFrame *b)
{
  return a->layout.width == b->layout.width && a->layout.height == b->layout.height &&
      GST_VIDEO_INFO_IS_RGB (&a->info) == GST_VIDEO_INFO_IS_RGB (&b->info);
}

static void
add_meta (GstStereoMatch *self, GstBuffer *out, const GstStereoFlight *flight, const StereoStats *stats)
{
  const StereoParams *params = stereo_plan_params (self->plan);
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (out, (guint) self->plan_width, (guint) self->plan_height,
      flight->confidence);

  meta->kind = GST_STEREO_OUTPUT_KIND_DISPARITY;
  meta->disparity_scale = params->disparity_scale;
  if (params->output == STEREO_OUTPUT_DEPTH) {
    meta->kind = GST_STEREO_OUTPUT_KIND_DEPTH;
  } else if (GST_VIDEO_INFO_FORMAT (&self->out_info) == GST_VIDEO_FORMAT_GRAY8) {
    meta->kind = GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE;
    meta->disparity_scale = 254.0 / MAX (1, params->num_disparities - 1);
  }
  meta->min_disparity = params->min_disparity;
  meta->num_disparities = params->num_disparities;
  meta->focal_length = flight->geometry.focal_length;
  meta->baseline = flight->geometry.baseline;
  meta->principal_offset = flight->geometry.principal_offset;
  meta->depth_unit = params->depth_unit;
  meta->pair_skew = flight->skew;
  meta->valid_ratio = stats->valid_ratio;
  meta->mean_confidence = stats->mean_confidence;
  gst_stereo_meta_set_truth (meta, flight->truth);
}

static void
count_pair (GstStereoMatch *self, const StereoStats *stats)
{
  GST_OBJECT_LOCK (self);
  self->stats.steps_total += stats->steps_ns;
  self->stats.valid_ratio = stats->valid_ratio;
  self->stats.mean_confidence = stats->mean_confidence;
  GST_OBJECT_UNLOCK (self);
}

/* The plan may read there for as long as the pair is in flight. */
static GstFlowReturn
compute (GstStereoMatch *self, GstStereoFrame *first, GstStereoFrame *second, GstStereoFlight *flight)
{
  GstStereoFrame *frames[2] = { first, second };

  for (guint i = 0; i < (first == second ? 1u : 2u); i++) {
    if (!gst_stereo_aggregator_map (&self->parent, &flight->input[i], frames[i], self->plan_context)) {
      flight->input[i].buffer = NULL;
      return GST_FLOW_ERROR;
    }
    flight->input_buffer[i] = gst_buffer_ref (frames[i]->buffer);
  }
  return gst_stereo_match_submit (self, flight, &first->layout);
}

GstFlowReturn
gst_stereo_match_finish (GstStereoMatch *self, GstStereoFlight *flight, const StereoStats *stats)
{
  GstBuffer *out = g_steal_pointer (&flight->out);

  add_meta (self, out, flight, stats);
  count_pair (self, stats);
  return gst_stereo_aggregator_finish (&self->parent, &flight->segment, out, stats->compute_ns);
}

GstFlowReturn
gst_stereo_match_process (GstStereoAggregator *base, GstStereoFrame *first, GstStereoFrame *second)
{
  GstStereoMatch *self = GST_STEREO_MATCH (base);
  gboolean swap = first->layout.right_first;
  GstStereoFrame *left = swap ? second : first, *right = swap ? first : second;
  GstBuffer *truth = NULL;
  GstStereoFlight *flight;
  GstFlowReturn flow;

  if (!comparable (first, second))
    return gst_stereo_aggregator_mismatch (base, left, right);
  gst_stereo_match_choose_context (self, first->buffer, second->buffer);
  gst_stereo_match_read_views (self, left, right, &truth);
  if ((flow = gst_stereo_match_prepare (self, &left->layout)) != GST_FLOW_OK) {
    gst_clear_buffer (&truth);
    return flow;
  }
  gst_stereo_match_check (self, first, second);
  flight = g_new0 (GstStereoFlight, 1);
  flight->truth = truth;
  flight->geometry = (GstStereoGeometry) { self->in_force.focal_length, self->in_force.baseline,
    self->in_force.principal_offset };
  flow = gst_stereo_match_acquire (self, &flight->out, &flight->confidence);
  if (flow == GST_FLOW_OK && gst_stereo_aggregator_is_late (base, left->time == GST_STEREO_TIME_NONE ? right : left)) {
    gst_stereo_flight_free (flight);
    return GST_FLOW_OK;
  }
  if (flow == GST_FLOW_OK) {
    flight->segment = left->segment;
    if (left->time != GST_STEREO_TIME_NONE && right->time != GST_STEREO_TIME_NONE)
      flight->skew = right->time - left->time;
    gst_stereo_aggregator_decorate (base, flight->out, left, right, TRUE);
    flow = compute (self, first, second, flight);
  }
  if (flow != GST_FLOW_OK)
    gst_stereo_flight_free (flight);
  return flow;
}
