/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pads, and events and queries on them. */
#include "gst/overlay/element.h"

#define GST_CAT_DEFAULT gst_depth_overlay_debug

static gpointer
parent_class (void)
{
  return g_type_class_peek (GST_TYPE_AGGREGATOR);
}

static GstAggregatorPad *
new_pad (const gchar *name, GstPadTemplate *template)
{
  return g_object_new (GST_TYPE_AGGREGATOR_PAD, "name", name, "direction", GST_PAD_SINK, "template", template, NULL);
}

void
gst_depth_overlay_add_pads (GstDepthOverlay *self)
{
  GstElementClass *klass = GST_ELEMENT_GET_CLASS (self);

  self->live = new_pad ("sink", gst_element_class_get_pad_template (klass, "sink"));
  gst_element_add_pad (GST_ELEMENT (self), GST_PAD (self->live));
}

GstAggregatorPad *
gst_depth_overlay_create_new_pad (GstAggregator *aggregator, GstPadTemplate *template, const gchar *name,
    const GstCaps *caps)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);
  GstAggregatorPad *pad;

  if (GST_PAD_TEMPLATE_PRESENCE (template) != GST_PAD_REQUEST)
    return NULL;
  pad = new_pad ("sink_depth", template);
  GST_OBJECT_LOCK (self);
  if (self->depth) {
    GST_OBJECT_UNLOCK (self);
    GST_WARNING_OBJECT (self, "sink_depth is there already");
    gst_object_ref_sink (pad);
    gst_object_unref (pad);
    return NULL;
  }
  self->depth = pad;
  GST_OBJECT_UNLOCK (self);
  return pad;
}

void
gst_depth_overlay_release_pad (GstElement *element, GstPad *pad)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (element);

  /* the base class then drops what was peeked at without the pad's lock: the task must not be at it */
  g_mutex_lock (&self->depth_lock);
  GST_OBJECT_LOCK (self);
  if (GST_PAD (self->depth) == pad)
    self->depth = NULL;
  GST_OBJECT_UNLOCK (self);
  g_mutex_unlock (&self->depth_lock);
  g_atomic_int_set (&self->forget, TRUE);
  GST_ELEMENT_CLASS (parent_class ())->release_pad (element, pad);
}

/* ---- events ------------------------------------------------------------------------------ */

/* A frame's time of latency: half to wait for its depth beyond what upstream announces, half to draw. */
static void
update_latency (GstDepthOverlay *self)
{
  const GstVideoInfo *info = &self->live_info;
  GstClockTime frame = 0;

  if (GST_VIDEO_INFO_FPS_N (info) > 0)
    frame = gst_util_uint64_scale (GST_SECOND, (guint64) GST_VIDEO_INFO_FPS_D (info),
        (guint64) GST_VIDEO_INFO_FPS_N (info));
  gst_aggregator_set_latency (GST_AGGREGATOR (self), frame, frame);
}

static gboolean
sink_caps (GstDepthOverlay *self, GstAggregatorPad *pad, GstEvent *event)
{
  gboolean live = pad == self->live, taken;
  GstVideoInfo info;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  taken = gst_video_info_from_caps (&info, caps);
  if (!taken) {
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION, ("%s cannot take these caps.", GST_PAD_NAME (pad)),
        ("%" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  if (live) {
    self->live_info = info;
    self->have_live_info = TRUE;
    update_latency (self);
  } else {
    self->depth_info = info;
    self->have_depth_info = TRUE;
  }
  return TRUE;
}

gboolean
gst_depth_overlay_sink_event (GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);
  gboolean live = pad == self->live;

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_CAPS: {
      gboolean taken = sink_caps (self, pad, event);
      gst_event_unref (event);
      return taken;
    }
    case GST_EVENT_FLUSH_STOP:
      if (!live)
        g_atomic_int_set (&self->forget, TRUE);
      break;
    case GST_EVENT_STREAM_START:
    case GST_EVENT_FLUSH_START:
    case GST_EVENT_SEGMENT:
    case GST_EVENT_GAP:
    case GST_EVENT_EOS:
      break;
    default:
      /* forwarded, once: the output is the live stream's */
      if (!live) {
        gst_event_unref (event);
        return TRUE;
      }
  }
  return GST_AGGREGATOR_CLASS (parent_class ())->sink_event (aggregator, pad, event);
}

/* ---- queries ----------------------------------------------------------------------------- */

/* @peer's formats, in any size: the output may be a part of the frame. */
static GstCaps *
formats_of (GstCaps *peer)
{
  static const gchar *const kept[] = { "format", "framerate", "colorimetry" };
  GstCaps *formats = gst_caps_new_empty ();

  for (guint i = 0; i < gst_caps_get_size (peer); i++) {
    const GstStructure *from = gst_caps_get_structure (peer, i);
    GstStructure *to;

    if (!gst_structure_has_name (from, "video/x-raw") ||
        !gst_caps_features_is_equal (gst_caps_get_features (peer, i), GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
      continue;
    to = gst_structure_new_empty ("video/x-raw");
    for (guint k = 0; k < G_N_ELEMENTS (kept); k++)
      if (gst_structure_has_field (from, kept[k]))
        gst_structure_set_value (to, kept[k], gst_structure_get_value (from, kept[k]));
    gst_caps_append_structure (formats, to);
  }
  return formats;
}

/* What downstream takes, and we do. */
static GstCaps *
live_caps (GstDepthOverlay *self, GstCaps *filter)
{
  GstCaps *ours = gst_pad_get_pad_template_caps (GST_PAD (self->live)), *caps = ours, *filtered;
  GstCaps *peer = gst_pad_peer_query_caps (GST_AGGREGATOR_SRC_PAD (self), NULL);

  if (!gst_caps_is_any (peer)) {
    GstCaps *formats = formats_of (peer);
    caps = gst_caps_intersect_full (formats, ours, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref (formats);
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
gst_depth_overlay_sink_query (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query)
{
  GstDepthOverlay *self = GST_DEPTH_OVERLAY (aggregator);
  GstCaps *caps, *filter;

  if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS && pad == self->live) {
    gst_query_parse_caps (query, &filter);
    caps = live_caps (self, filter);
    gst_query_set_caps_result (query, caps);
    gst_caps_unref (caps);
    return TRUE;
  }
  if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS || GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS)
    return gst_pad_query_default (GST_PAD (pad), GST_OBJECT (aggregator), query);
  return GST_AGGREGATOR_CLASS (parent_class ())->sink_query (aggregator, pad, query);
}

gboolean
gst_depth_overlay_src_query (GstAggregator *aggregator, GstQuery *query)
{
  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_POSITION:
    case GST_QUERY_DURATION:
    case GST_QUERY_SEEKING:
    case GST_QUERY_URI:
      return gst_pad_peer_query (GST_PAD (GST_DEPTH_OVERLAY (aggregator)->live), query);
    default:
      return GST_AGGREGATOR_CLASS (parent_class ())->src_query (aggregator, query);
  }
}
