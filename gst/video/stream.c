/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/stream.h"

#include <gst/video/video.h>

#include "gst/meta/gststereometa.h"

void
gst_stereo_follow_controls (gpointer element, const GstSegment *segment, GstClockTime pts)
{
  GstClockTime time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, pts);

  if (GST_CLOCK_TIME_IS_VALID (time))
    gst_object_sync_values (element, time);
}

void
gst_stereo_add_times (GstStructure *message, GstBuffer *buffer, const GstSegment *segment)
{
  GstClockTime pts = GST_BUFFER_PTS (buffer);

  gst_structure_set (message, "timestamp", G_TYPE_UINT64, pts, "stream-time", G_TYPE_UINT64,
      gst_segment_to_stream_time (segment, GST_FORMAT_TIME, pts), "running-time", G_TYPE_UINT64,
      gst_segment_to_running_time (segment, GST_FORMAT_TIME, pts), "duration", G_TYPE_UINT64,
      GST_BUFFER_DURATION (buffer), NULL);
}

gboolean
gst_stereo_is_live (GstElement *element)
{
  g_autoptr (GstPad) sink = gst_element_get_static_pad (element, "sink");
  GstQuery *query = gst_query_new_latency ();
  gboolean live = FALSE;

  if (gst_pad_peer_query (sink, query))
    gst_query_parse_latency (query, &live, NULL, NULL);
  gst_query_unref (query);
  return live;
}

void
gst_stereo_add_age (GstStructure *message, GstElement *element, gint64 running_time)
{
  g_autoptr (GstClock) clock = gst_element_get_clock (element);

  if (!clock || running_time == GST_CLOCK_STIME_NONE || GST_STATE (element) != GST_STATE_PLAYING)
    return;
  gint64 now = (gint64) (gst_clock_get_time (clock) - gst_element_get_base_time (element));
  gst_structure_set (message, "age", G_TYPE_UINT64, (guint64) MAX (0, now - running_time), NULL);
}

gint64
gst_stereo_running_time (const GstSegment *segment, GstClockTime pts)
{
  guint64 time;

  if (segment->format != GST_FORMAT_TIME || !GST_CLOCK_TIME_IS_VALID (pts))
    return GST_CLOCK_STIME_NONE;
  gint sign = gst_segment_to_running_time_full (segment, GST_FORMAT_TIME, pts, &time);
  if (sign == 0 || time > G_MAXINT64 / 4)
    return GST_CLOCK_STIME_NONE;
  return sign * (gint64) time;
}

gint64
gst_stereo_pad_running_time (GstAggregatorPad *pad, GstBuffer *buffer)
{
  GstSegment segment;

  GST_OBJECT_LOCK (pad);
  segment = pad->segment;
  GST_OBJECT_UNLOCK (pad);
  return gst_stereo_running_time (&segment, GST_BUFFER_PTS (buffer));
}

GstBuffer *
gst_stereo_clip (GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *buffer)
{
  GstClockTime start = GST_BUFFER_PTS (buffer), stop = start;

  if (pad->segment.format != GST_FORMAT_TIME || !GST_CLOCK_TIME_IS_VALID (start))
    return buffer;
  if (GST_BUFFER_DURATION_IS_VALID (buffer))
    stop += GST_BUFFER_DURATION (buffer);
  GST_OBJECT_LOCK (pad);
  gboolean inside = gst_segment_clip (&pad->segment, GST_FORMAT_TIME, start, stop, NULL, NULL);
  GST_OBJECT_UNLOCK (pad);
  if (inside)
    return buffer;
  gst_buffer_unref (buffer);
  return NULL;
}

gboolean
gst_stereo_sink_query_pre_queue (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query)
{
  GstAggregatorClass *parent = g_type_class_peek (GST_TYPE_AGGREGATOR);

  if (!GST_QUERY_IS_SERIALIZED (query))
    return parent->sink_query_pre_queue (aggregator, pad, query);
  if (GST_QUERY_TYPE (query) != GST_QUERY_ALLOCATION)
    return FALSE;
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  return TRUE;
}

GstFlowReturn
gst_stereo_push (
    GstAggregator *aggregator, GstSegment *last, gboolean *have_last, const GstSegment *segment, GstBuffer *out)
{
  if (segment->format == GST_FORMAT_TIME && !(*have_last && gst_segment_is_equal (last, segment))) {
    *last = *segment;
    *have_last = TRUE;
    gst_aggregator_update_segment (aggregator, segment);
  }
  if (GST_BUFFER_PTS_IS_VALID (out)) {
    GST_OBJECT_LOCK (aggregator);
    GST_AGGREGATOR_PAD (aggregator->srcpad)->segment.position = GST_BUFFER_PTS (out);
    GST_OBJECT_UNLOCK (aggregator);
  }
  gst_aggregator_selected_samples (
      aggregator, GST_BUFFER_PTS (out), GST_CLOCK_TIME_NONE, GST_BUFFER_DURATION (out), NULL);
  return gst_aggregator_finish_buffer (aggregator, out);
}

/* ---- metadata ---------------------------------------------------------------------------- */

typedef struct
{
  GstBuffer *out;
  gboolean same_place, same_pixels;
} CopyMetas;

/* Metas of the memory never apply to another buffer: GstVideoMeta is one of them and lacks the tag. A crop was done. */
static gboolean
copy_meta (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  CopyMetas *copy = data;
  GType api = (*meta)->info->api;
  GstMetaTransformCopy whole = { FALSE, 0, (gsize) -1 };

  if (api == GST_VIDEO_META_API_TYPE || api == GST_VIDEO_CROP_META_API_TYPE ||
      gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_MEMORY_STR)) ||
      gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_MEMORY_REFERENCE_STR)))
    return TRUE;
  if (!copy->same_pixels &&
      (api == GST_STEREO_META_API_TYPE ||
          gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_VIDEO_COLORSPACE_STR))))
    return TRUE;
  if (!copy->same_place && gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_VIDEO_SIZE_STR)))
    return TRUE;
  if ((*meta)->info->transform_func)
    (*meta)->info->transform_func (copy->out, *meta, buffer, _gst_meta_transform_copy, &whole);
  return TRUE;
}

void
gst_stereo_copy_metas (GstBuffer *out, GstBuffer *from, gboolean same_place, gboolean same_pixels)
{
  CopyMetas copy = { out, same_place, same_pixels };

  gst_buffer_foreach_meta (from, copy_meta, &copy);
}

/* ---- elements on GstBaseTransform -------------------------------------------------------- */

/* The picture is passed on in the same memory: upstream has to allocate what downstream wants. */
static gboolean
propose_allocation (GstBaseTransform *base, GstQuery *decide, GstQuery *query)
{
  return gst_pad_peer_query (GST_BASE_TRANSFORM_SRC_PAD (base), query);
}

/* No buffer is allocated here. */
static gboolean
decide_allocation (GstBaseTransform *base, GstQuery *query)
{
  while (gst_query_get_n_allocation_pools (query) > 0)
    gst_query_remove_nth_allocation_pool (query, 0);
  return TRUE;
}

/* Metadata is added to a buffer that others hold too: the copy shares its memory. */
static GstFlowReturn
prepare_output_buffer (GstBaseTransform *base, GstBuffer *in, GstBuffer **out)
{
  *out = gst_buffer_is_writable (in) ? in : gst_buffer_copy (in);
  return GST_FLOW_OK;
}

void
gst_stereo_in_place_class_init (GstBaseTransformClass *klass)
{
  klass->propose_allocation = propose_allocation;
  klass->decide_allocation = decide_allocation;
  klass->prepare_output_buffer = prepare_output_buffer;
}
