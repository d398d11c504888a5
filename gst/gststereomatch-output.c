/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pair becomes an output buffer with its metadata. */
#include "gst/gststereomatch.h"

#include "gst/gststereometa.h"

#define GST_CAT_DEFAULT gst_stereo_match_debug

static GstFlowReturn
mismatch (GstStereoMatch *self, const GstStereoFrame *left, const GstStereoFrame *right)
{
  gchar *a = gst_stereo_layout_describe (&left->layout, &left->info);
  gchar *b = gst_stereo_layout_describe (&right->layout, &right->info);

  GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
      ("The two views must have one size, and both colour or both luma: the left one is %s, the right one %s. Put "
          "videoscale or videoconvert before one of them.", a, b), (NULL));
  g_free (a);
  g_free (b);
  return GST_FLOW_NOT_NEGOTIATED;
}

static gboolean
comparable (const GstStereoFrame *a, const GstStereoFrame *b)
{
  return a->layout.width == b->layout.width && a->layout.height == b->layout.height &&
      GST_VIDEO_INFO_IS_RGB (&a->info) == GST_VIDEO_INFO_IS_RGB (&b->info);
}

/*
 * The running time before which a pair would come too late. Downstream says so after the fact; once it has,
 * a live pipeline's clock tells it before: a pair not computed by its time plus the latency is late.
 */
static GstClockTime
earliest_in_time (GstStereoMatch *self)
{
  GstClockTime latency = gst_aggregator_get_latency (GST_AGGREGATOR (self)), earliest, done;
  GstClockTime now = gst_element_get_current_running_time (GST_ELEMENT (self));
  gboolean behind;

  GST_OBJECT_LOCK (self);
  earliest = self->qos ? self->earliest_time : GST_CLOCK_TIME_NONE;
  behind = self->qos && self->behind;
  done = now + self->stats.compute_last;
  GST_OBJECT_UNLOCK (self);
  if (!behind || !GST_CLOCK_TIME_IS_VALID (latency) || !GST_CLOCK_TIME_IS_VALID (now) || done <= latency)
    return earliest;
  return GST_CLOCK_TIME_IS_VALID (earliest) ? MAX (earliest, done - latency) : done - latency;
}

/* Before anything is computed. */
static gboolean
is_late (GstStereoMatch *self, const GstStereoFrame *frame)
{
  GstAggregator *aggregator = GST_AGGREGATOR (self);
  GstClockTime earliest = earliest_in_time (self);
  guint64 processed, late;
  GstMessage *message;
  gdouble proportion;
  gboolean live;

  if (!GST_CLOCK_TIME_IS_VALID (earliest) || frame->time == GST_STEREO_TIME_NONE || frame->time >= (gint64) earliest)
    return FALSE;
  GST_OBJECT_LOCK (self);
  proportion = self->proportion;
  late = ++self->stats.late;
  processed = self->stats.pairs;
  GST_OBJECT_UNLOCK (self);

  live = GST_CLOCK_TIME_IS_VALID (gst_aggregator_get_latency (aggregator));
  message = gst_message_new_qos (GST_OBJECT (self), live, frame->time < 0 ? 0 : (guint64) frame->time,
      gst_segment_to_stream_time (&frame->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (frame->buffer)),
      GST_BUFFER_PTS (frame->buffer), GST_BUFFER_DURATION (frame->buffer));
  gst_message_set_qos_values (message, (gint64) earliest - frame->time, proportion, 1000000);
  gst_message_set_qos_stats (message, GST_FORMAT_BUFFERS, processed, late);
  gst_element_post_message (GST_ELEMENT (self), message);
  GST_DEBUG_OBJECT (self, "late by %" GST_STIME_FORMAT ", dropped", GST_STIME_ARGS ((gint64) earliest - frame->time));
  self->discont = TRUE;
  return TRUE;
}

static gboolean
map_input (GstStereoMatch *self, GstVideoFrame *mapped, GstStereoFrame *frame)
{
  if (gst_stereo_frame_map (mapped, &frame->info, frame->buffer, self->plan_context))
    return TRUE;
  GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("A buffer of %" G_GSIZE_FORMAT " bytes %sdoes not hold the %dx%d %s frame "
          "that its caps announce%s.", gst_buffer_get_size (frame->buffer),
          gst_stereo_cuda_context_of (frame->buffer) ? "in device memory " : "", GST_VIDEO_INFO_WIDTH (&frame->info),
          GST_VIDEO_INFO_HEIGHT (&frame->info), gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&frame->info)),
          gst_stereo_cuda_context_of (frame->buffer) ? ", or cannot be read" : ""), (NULL));
  return FALSE;
}

typedef struct
{
  GstBuffer *out;
  gboolean same_size;           /* out has the size of the frame whose metas are copied */
} CopyMetas;

/* What is true of the left frame and stays true of its disparity. Not the pixels' own: memory (that tags
 * GstVideoMeta too), colour. */
static gboolean
copy_meta (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  CopyMetas *copy = data;
  GType api = (*meta)->info->api;
  GstMetaTransformCopy whole = { FALSE, 0, (gsize) -1 };

  if (api == GST_VIDEO_CROP_META_API_TYPE || api == GST_STEREO_META_API_TYPE ||
      gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_MEMORY_STR)) ||
      gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_MEMORY_REFERENCE_STR)) ||
      gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_VIDEO_COLORSPACE_STR)) ||
      (!copy->same_size && gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_VIDEO_SIZE_STR))))
    return TRUE;
  if ((*meta)->info->transform_func)
    (*meta)->info->transform_func (copy->out, *meta, buffer, _gst_meta_transform_copy, &whole);
  return TRUE;
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

/* @other's timestamps stand in where the left view of a bundle has none. */
static void
decorate (GstStereoMatch *self, GstBuffer *out, const GstStereoFrame *left, const GstStereoFrame *other)
{
  CopyMetas copy = { out, left->layout.packing == GST_STEREO_PACKING_AUTO ||
        left->layout.packing == GST_STEREO_PACKING_FRAME_BY_FRAME };
  const GstStereoFrame *timed = GST_BUFFER_PTS_IS_VALID (left->buffer) ||
      left->layout.packing == GST_STEREO_PACKING_AUTO ? left : other;

  gst_buffer_copy_into (out, timed->buffer, GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
  GST_BUFFER_DTS (out) = GST_CLOCK_TIME_NONE;
  if (self->discont || GST_BUFFER_FLAG_IS_SET (left->buffer, GST_BUFFER_FLAG_DISCONT))
    GST_BUFFER_FLAG_SET (out, GST_BUFFER_FLAG_DISCONT);
  if (GST_BUFFER_FLAG_IS_SET (left->buffer, GST_BUFFER_FLAG_CORRUPTED) ||
      GST_BUFFER_FLAG_IS_SET (other->buffer, GST_BUFFER_FLAG_CORRUPTED))
    GST_BUFFER_FLAG_SET (out, GST_BUFFER_FLAG_CORRUPTED);
  self->discont = FALSE;
  gst_buffer_foreach_meta (left->buffer, copy_meta, &copy);
}

static void
count_pair (GstStereoMatch *self, const StereoStats *stats)
{
  GST_OBJECT_LOCK (self);
  self->stats.pairs++;
  self->stats.compute_last = stats->compute_ns;
  self->stats.compute_total += stats->compute_ns;
  self->stats.steps_total += stats->steps_ns;
  self->stats.valid_ratio = stats->valid_ratio;
  self->stats.mean_confidence = stats->mean_confidence;
  GST_OBJECT_UNLOCK (self);
}

static void
update_segment (GstStereoMatch *self, const GstSegment *segment, GstBuffer *out)
{
  GstAggregator *aggregator = GST_AGGREGATOR (self);

  if (segment->format == GST_FORMAT_TIME && !(self->have_segment && gst_segment_is_equal (&self->segment, segment))) {
    self->segment = *segment;
    self->have_segment = TRUE;
    gst_aggregator_update_segment (aggregator, segment);
  }
  if (GST_BUFFER_PTS_IS_VALID (out)) {
    GST_OBJECT_LOCK (aggregator);
    GST_AGGREGATOR_PAD (aggregator->srcpad)->segment.position = GST_BUFFER_PTS (out);
    GST_OBJECT_UNLOCK (aggregator);
  }
}

/* The plan may read there for as long as the pair is in flight. */
static GstFlowReturn
compute (GstStereoMatch *self, GstStereoFrame *first, GstStereoFrame *second, GstStereoFlight *flight)
{
  GstStereoFrame *frames[2] = { first, second };

  for (guint i = 0; i < (first == second ? 1u : 2u); i++) {
    if (!map_input (self, &flight->input[i], frames[i])) {
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
  GstAggregator *aggregator = GST_AGGREGATOR (self);
  GstBuffer *out = g_steal_pointer (&flight->out);

  add_meta (self, out, flight, stats);
  count_pair (self, stats);
  gst_stereo_match_took (self, stats->compute_ns);
  update_segment (self, &flight->segment, out);
  gst_aggregator_selected_samples (aggregator, GST_BUFFER_PTS (out), GST_CLOCK_TIME_NONE, GST_BUFFER_DURATION (out),
      NULL);
  return gst_aggregator_finish_buffer (aggregator, out);
}

GstFlowReturn
gst_stereo_match_process (GstStereoMatch *self, GstStereoFrame *first, GstStereoFrame *second)
{
  gboolean swap = first->layout.right_first;
  GstStereoFrame *left = swap ? second : first, *right = swap ? first : second;
  GstBuffer *truth = NULL;
  GstStereoFlight *flight;
  GstFlowReturn flow;

  if (!comparable (first, second))
    return mismatch (self, left, right);
  if (is_late (self, left->time == GST_STEREO_TIME_NONE ? right : left))
    return GST_FLOW_OK;
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
  if (flow == GST_FLOW_OK) {
    flight->segment = left->segment;
    if (left->time != GST_STEREO_TIME_NONE && right->time != GST_STEREO_TIME_NONE)
      flight->skew = right->time - left->time;
    decorate (self, flight->out, left, right);
    flow = compute (self, first, second, flight);
  }
  if (flow != GST_FLOW_OK)
    gst_stereo_flight_free (flight);
  return flow;
}
