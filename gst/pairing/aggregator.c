/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/aggregator.h"

#include "gst/video/stream.h"

#define GST_CAT_DEFAULT gst_stereo_aggregator_debug
GST_DEBUG_CATEGORY (gst_stereo_aggregator_debug);

enum { PROP_0, PROP_PACKING, PROP_MAX_SKEW, PROP_QOS };

G_DEFINE_ABSTRACT_TYPE (GstStereoAggregator, gst_stereo_aggregator, GST_TYPE_AGGREGATOR)

/* ---- start, stop, flush ------------------------------------------------------------------ */

/* What must not outlive a seek. */
static void
reset_stream (GstStereoAggregator *self)
{
  GST_OBJECT_LOCK (self);
  self->earliest_time = GST_CLOCK_TIME_NONE;
  self->proportion = 0;
  gst_stereo_lateness_flush (&self->lateness);
  GST_OBJECT_UNLOCK (self);
  self->have_segment = FALSE;
  self->discont = TRUE;
  self->surplus = 0;
  self->left_spacing = 0;
}

static GstFlowReturn
gst_stereo_aggregator_flush (GstAggregator *aggregator)
{
  reset_stream (GST_STEREO_AGGREGATOR (aggregator));
  gst_stereo_aggregator_forget_silence (GST_STEREO_AGGREGATOR (aggregator), FALSE);
  return GST_FLOW_OK;
}

static gboolean
gst_stereo_aggregator_start (GstAggregator *aggregator)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);

  g_atomic_int_set (&self->failed, FALSE);
  GST_OBJECT_LOCK (self);
  memset (&self->stats, 0, sizeof self->stats);
  gst_stereo_lateness_init (&self->lateness);
  self->configured = 0;
  GST_OBJECT_UNLOCK (self);
  memset (&self->drops, 0, sizeof self->drops);
  reset_stream (self);
  gst_stereo_aggregator_forget_silence (self, TRUE);
  return gst_stereo_aggregator_check_pads (self);
}

static gboolean
gst_stereo_aggregator_stop (GstAggregator *aggregator)
{
  gst_stereo_aggregator_stop_watch (GST_STEREO_AGGREGATOR (aggregator));
  gst_stereo_aggregator_set_playing (GST_STEREO_AGGREGATOR (aggregator), FALSE);
  return TRUE;
}

static GstStateChangeReturn
gst_stereo_aggregator_change_state (GstElement *element, GstStateChange transition)
{
  GstStateChangeReturn result;

  if (transition == GST_STATE_CHANGE_PLAYING_TO_PAUSED)
    gst_stereo_aggregator_set_playing (GST_STEREO_AGGREGATOR (element), FALSE);
  result = GST_ELEMENT_CLASS (gst_stereo_aggregator_parent_class)->change_state (element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_PLAYING && result != GST_STATE_CHANGE_FAILURE)
    gst_stereo_aggregator_set_playing (GST_STEREO_AGGREGATOR (element), TRUE);
  return result;
}

static void
gst_stereo_aggregator_dispose (GObject *object)
{
  gst_stereo_aggregator_stop_watch (GST_STEREO_AGGREGATOR (object));
  G_OBJECT_CLASS (gst_stereo_aggregator_parent_class)->dispose (object);
}

/* ---- properties -------------------------------------------------------------------------- */

static void
gst_stereo_aggregator_set_property (GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_PACKING:
      self->packing = g_value_get_enum (value);
      break;
    case PROP_MAX_SKEW:
      self->max_skew = g_value_get_uint64 (value);
      break;
    case PROP_QOS:
      self->qos = g_value_get_boolean (value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, spec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
gst_stereo_aggregator_get_property (GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (object);

  GST_OBJECT_LOCK (self);
  switch (id) {
    case PROP_PACKING:
      g_value_set_enum (value, self->packing);
      break;
    case PROP_MAX_SKEW:
      g_value_set_uint64 (value, self->max_skew);
      break;
    case PROP_QOS:
      g_value_set_boolean (value, self->qos);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID (object, id, spec);
  }
  GST_OBJECT_UNLOCK (self);
}

static void
install_properties (GObjectClass *klass)
{
  const GParamFlags rw = G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING;

  g_object_class_install_property (klass, PROP_PACKING,
      g_param_spec_enum ("packing", "packing",
          "How two views lie in a frame on sink whose caps do not say it; a multiview-mode in the caps wins "
          "(multiview-mode=mono counts as not saying it, multiview-flags are heeded either way)",
          GST_TYPE_STEREO_PACKING, GST_STEREO_PACKING_AUTO, rw));
  g_object_class_install_property (klass, PROP_MAX_SKEW,
      g_param_spec_uint64 ("max-skew", "max-skew",
          "Nanoseconds that the two frames of a pair may be apart; frames without a partner so near are dropped, "
          "counted and reported; the default, 18446744073709551615, is half the left frame's duration (or no limit "
          "where nothing tells that duration)",
          0, G_MAXUINT64, GST_STEREO_MAX_SKEW_AUTO, rw));
  g_object_class_install_property (klass, PROP_QOS,
      g_param_spec_boolean (
          "qos", "qos",
          "Drop pairs before they are computed when downstream says that they come too late, and in live pipelines when "
          "they would come later than the latency that is reported",
          TRUE, rw));
}

void
gst_stereo_aggregator_class_add_templates (GstElementClass *klass, GstCaps *caps)
{
  static const gchar *const names[] = { "sink", "sink_left", "sink_right" };

  /* in this order: linking without a pad name takes the first */
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    gst_element_class_add_pad_template (
        klass, gst_pad_template_new_with_gtype (names[i], GST_PAD_SINK, GST_PAD_REQUEST, caps, GST_TYPE_STEREO_PAD));
  gst_caps_unref (caps);
}

static void
gst_stereo_aggregator_class_init (GstStereoAggregatorClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstAggregatorClass *aggregator_class = GST_AGGREGATOR_CLASS (klass);

  GST_DEBUG_CATEGORY_INIT (gst_stereo_aggregator_debug, "stereoaggregator", 0, "pairs of two views");

  object_class->set_property = gst_stereo_aggregator_set_property;
  object_class->get_property = gst_stereo_aggregator_get_property;
  object_class->dispose = gst_stereo_aggregator_dispose;
  install_properties (object_class);
  element_class->change_state = gst_stereo_aggregator_change_state;
  element_class->release_pad = gst_stereo_aggregator_release_pad;
  gst_type_mark_as_plugin_api (GST_TYPE_STEREO_AGGREGATOR, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_STEREO_PAD, 0);
  gst_type_mark_as_plugin_api (GST_TYPE_STEREO_PACKING, 0);

  aggregator_class->create_new_pad = gst_stereo_aggregator_create_new_pad;
  aggregator_class->sink_event = gst_stereo_aggregator_sink_event;
  aggregator_class->sink_event_pre_queue = gst_stereo_aggregator_sink_event_pre_queue;
  aggregator_class->src_event = gst_stereo_aggregator_src_event;
  aggregator_class->src_query = gst_stereo_aggregator_src_query;
  aggregator_class->sink_query = gst_stereo_aggregator_sink_query;
  aggregator_class->clip = gst_stereo_aggregator_clip;
  aggregator_class->start = gst_stereo_aggregator_start;
  aggregator_class->stop = gst_stereo_aggregator_stop;
  aggregator_class->flush = gst_stereo_aggregator_flush;
  aggregator_class->aggregate = gst_stereo_aggregator_aggregate;
  aggregator_class->sink_query_pre_queue = gst_stereo_sink_query_pre_queue;
}

static void
gst_stereo_aggregator_init (GstStereoAggregator *self)
{
  self->max_skew = GST_STEREO_MAX_SKEW_AUTO;
  self->qos = TRUE;
  self->earliest_time = GST_CLOCK_TIME_NONE;
  self->decided = GST_STEREO_TIME_NONE;
  gst_stereo_lateness_init (&self->lateness);
}
