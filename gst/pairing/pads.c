/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pads come and go; events and queries on them. */
#include "gst/pairing/aggregator.h"

#include "gst/video/stream.h"

#define GST_CAT_DEFAULT gst_stereo_aggregator_debug

#define WATCH_TIME (2 * GST_SECOND)

static gpointer
parent_class (void)
{
  return g_type_class_peek (GST_TYPE_AGGREGATOR);
}

/* With the object lock held. */
static GstStereoPad **
pad_place (GstStereoAggregator *self, const GstStereoPad *pad)
{
  return pad->packed ? &self->packed : pad->right ? &self->right : &self->left;
}

GstAggregatorPad *
gst_stereo_aggregator_create_new_pad (GstAggregator *aggregator, GstPadTemplate *template, const gchar *name,
    const GstCaps *caps)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);
  GstStereoPad *pad = gst_stereo_pad_new (template), **place;

  GST_OBJECT_LOCK (self);
  place = pad_place (self, pad);
  if (*place) {
    GST_OBJECT_UNLOCK (self);
    GST_WARNING_OBJECT (self, "%s is there already", GST_PAD_NAME (pad));
    gst_object_ref_sink (pad);
    gst_object_unref (pad);
    return NULL;
  }
  *place = pad;
  GST_OBJECT_UNLOCK (self);
  return GST_AGGREGATOR_PAD (pad);
}

void
gst_stereo_aggregator_release_pad (GstElement *element, GstPad *pad)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (element);

  GST_OBJECT_LOCK (self);
  *pad_place (self, GST_STEREO_PAD (pad)) = NULL;
  GST_OBJECT_UNLOCK (self);
  gst_stereo_pad_retire (GST_STEREO_PAD (pad));
  GST_ELEMENT_CLASS (parent_class ())->release_pad (element, pad);
}

/* The one view pad that is linked while the other is not, or NULL. */
static const gchar *
lonely_pad (GstStereoAggregator *self)
{
  gboolean left, right;

  GST_OBJECT_LOCK (self);
  left = self->left && gst_pad_is_linked (GST_PAD (self->left));
  right = self->right && gst_pad_is_linked (GST_PAD (self->right));
  GST_OBJECT_UNLOCK (self);
  return left == right ? NULL : left ? "sink_left" : "sink_right";
}

static gboolean
watch_expired (GstClock *clock, GstClockTime time, GstClockID id, gpointer data)
{
  GstStereoAggregator *self = data;
  const gchar *lonely = lonely_pad (self);
  gboolean watching;

  GST_OBJECT_LOCK (self);
  watching = self->watch == id;
  if (watching)
    self->watch = NULL;
  GST_OBJECT_UNLOCK (self);
  if (watching)
    gst_clock_id_unref (id);
  if (watching && lonely) {
    g_atomic_int_set (&self->failed, TRUE);
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION,
        ("Only %s is linked: link the other view to %s, or give both views in one frame on sink.", lonely,
            g_str_equal (lonely, "sink_left") ? "sink_right" : "sink_left"), (NULL));
  }
  return TRUE;
}

/* Pads may come late (decodebin), so a missing view becomes an error only after a while. */
static void
start_watch (GstStereoAggregator *self)
{
  GstClock *clock = gst_system_clock_obtain ();
  GstClockID id = NULL;

  GST_OBJECT_LOCK (self);
  if (!self->watch)
    id = self->watch = gst_clock_new_single_shot_id (clock, gst_clock_get_time (clock) + WATCH_TIME);
  if (id)
    gst_clock_id_ref (id);
  GST_OBJECT_UNLOCK (self);
  if (id) {
    gst_clock_id_wait_async (id, watch_expired, gst_object_ref (self), gst_object_unref);
    gst_clock_id_unref (id);
  }
  gst_object_unref (clock);
}

void
gst_stereo_aggregator_stop_watch (GstStereoAggregator *self)
{
  GstClockID id;

  GST_OBJECT_LOCK (self);
  id = g_steal_pointer (&self->watch);
  GST_OBJECT_UNLOCK (self);
  if (id) {
    gst_clock_id_unschedule (id);
    gst_clock_id_unref (id);
  }
}

gboolean
gst_stereo_aggregator_check_pads (GstStereoAggregator *self)
{
  gboolean mixed;

  GST_OBJECT_LOCK (self);
  mixed = self->packed && (self->left || self->right);
  GST_OBJECT_UNLOCK (self);
  if (mixed) {
    if (g_atomic_int_compare_and_exchange (&self->failed, FALSE, TRUE))
      GST_ELEMENT_ERROR (self, CORE, NEGOTIATION, ("sink takes both views in one frame, sink_left and sink_right "
              "take one each: link sink alone, or the other two."), (NULL));
    return FALSE;
  }
  if (lonely_pad (self))
    start_watch (self);
  else
    gst_stereo_aggregator_stop_watch (self);
  return TRUE;
}

/* ---- events and queries ------------------------------------------------------------------ */

/* A pair is out when its later frame is in, has waited for its turn and is computed. */
void
gst_stereo_aggregator_announce_latency (GstStereoAggregator *self)
{
  GstClockTime latency, before;

  GST_OBJECT_LOCK (self);
  before = self->announced;
  latency = self->announced = self->wait_time + (GstClockTime) gst_stereo_lateness_latency (&self->lateness);
  /* the pipeline's, as far as it is ours, is soon as much lower */
  if (latency < before)
    self->configured -= MIN (self->configured, before - latency);
  GST_OBJECT_UNLOCK (self);
  if (latency == before)
    return;
  GST_INFO_OBJECT (self, "latency %" GST_TIME_FORMAT, GST_TIME_ARGS (latency));
  gst_aggregator_set_latency (GST_AGGREGATOR (self), latency, latency);
}

static void
update_latency (GstStereoAggregator *self, const GstVideoInfo *info, gboolean packed)
{
  GstClockTime frame = 0, skew;

  if (GST_VIDEO_INFO_FPS_N (info) > 0)
    frame = gst_util_uint64_scale (GST_SECOND, (guint64) GST_VIDEO_INFO_FPS_D (info),
        (guint64) GST_VIDEO_INFO_FPS_N (info));
  GST_OBJECT_LOCK (self);
  skew = self->max_skew == GST_STEREO_MAX_SKEW_AUTO ? frame / 2 : MIN (self->max_skew, frame);
  gst_stereo_lateness_set_frame (&self->lateness, (gint64) frame);
  self->wait_time = packed ? 0 : skew;
  GST_OBJECT_UNLOCK (self);
  gst_stereo_aggregator_announce_latency (self);
}

static gboolean
sink_caps (GstStereoAggregator *self, GstStereoPad *pad, GstEvent *event)
{
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  pad->have_info = gst_video_info_from_caps (&pad->info, caps);
  pad->warned = FALSE;
  if (!pad->have_info) {
    GST_ELEMENT_ERROR (self, CORE, NEGOTIATION, ("%s cannot take these caps.", GST_PAD_NAME (pad)),
        ("%" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  if (!pad->right)
    update_latency (self, &pad->info, pad->packed);
  return TRUE;
}

gboolean
gst_stereo_aggregator_sink_event (GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);

  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      /* what came on the pad before, or on one that was released, may not have been used */
      self->discont = TRUE;
      gst_stereo_aggregator_check_pads (self);
      break;
    case GST_EVENT_CAPS: {
      gboolean taken = sink_caps (self, GST_STEREO_PAD (pad), event);
      gst_event_unref (event);
      return taken;
    }
    case GST_EVENT_SEGMENT:
      gst_stereo_pad_begin_segment (GST_STEREO_PAD (pad), event);
      gst_stereo_aggregator_ask_live (self, GST_PAD (pad));
      break;
    case GST_EVENT_FLUSH_START:
    case GST_EVENT_FLUSH_STOP:
    case GST_EVENT_GAP:
    case GST_EVENT_TAG:
    case GST_EVENT_EOS:
      break;
    default:
      /* forwarded, once: the output is the left stream's */
      if (GST_STEREO_PAD (pad)->right) {
        gst_event_unref (event);
        return TRUE;
      }
  }
  return GST_AGGREGATOR_CLASS (parent_class ())->sink_event (aggregator, pad, event);
}

gboolean
gst_stereo_aggregator_src_event (GstAggregator *aggregator, GstEvent *event)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);

  if (GST_EVENT_TYPE (event) == GST_EVENT_SEEK)
    return gst_stereo_aggregator_seek (self, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_QOS) {
    GstClockTimeDiff diff;
    GstClockTime timestamp;
    gdouble proportion;

    gst_event_parse_qos (event, NULL, &proportion, &diff, &timestamp);
    GST_OBJECT_LOCK (self);
    self->proportion = proportion;
    /* late: aim ahead by as much again, as GstBaseTransform does, or the next pair is late as well */
    if (!GST_CLOCK_TIME_IS_VALID (timestamp))
      self->earliest_time = GST_CLOCK_TIME_NONE;
    else if (diff < 0 && (GstClockTime) -diff > timestamp)
      self->earliest_time = 0;
    else
      self->earliest_time = timestamp + (GstClockTime) (diff > 0 ? 2 * diff : diff);
    GST_OBJECT_UNLOCK (self);
  }
  if (GST_EVENT_TYPE (event) == GST_EVENT_LATENCY) {
    GST_OBJECT_LOCK (self);
    gst_event_parse_latency (event, &self->configured);
    GST_OBJECT_UNLOCK (self);
    gst_stereo_aggregator_listen (self);
  }
  return GST_AGGREGATOR_CLASS (parent_class ())->src_event (aggregator, event);
}

/* The pad whose stream the output follows. Unref it. */
static GstPad *
leading_pad (GstStereoAggregator *self)
{
  GstStereoPad *pad;

  GST_OBJECT_LOCK (self);
  pad = self->packed ? self->packed : self->left;
  if (pad)
    gst_object_ref (pad);
  GST_OBJECT_UNLOCK (self);
  return (GstPad *) pad;
}

gboolean
gst_stereo_aggregator_src_query (GstAggregator *aggregator, GstQuery *query)
{
  GstPad *pad;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_POSITION:
    case GST_QUERY_DURATION:
    case GST_QUERY_SEEKING:
    case GST_QUERY_URI:
      pad = leading_pad (GST_STEREO_AGGREGATOR (aggregator));
      if (pad) {
        gboolean answered = gst_pad_peer_query (pad, query);
        gst_object_unref (pad);
        return answered;
      }
      break;
    default:
      break;
  }
  return GST_AGGREGATOR_CLASS (parent_class ())->src_query (aggregator, query);
}

/* What of @caps (transfer full) passes @filter (may be NULL): kinds of memory in our order, for who can upload is to
 * upload, formats in that of who asks. */
static GstCaps *
preferred (GstCaps *caps, GstCaps *filter)
{
  GstCaps *passed;

  if (!filter)
    return caps;
  passed = gst_caps_new_empty ();
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    GstCaps *one = gst_caps_copy_nth (caps, i);
    gst_caps_append (passed, gst_caps_intersect_full (filter, one, GST_CAPS_INTERSECT_FIRST));
    gst_caps_unref (one);
  }
  gst_caps_unref (caps);
  return passed;
}

gboolean
gst_stereo_aggregator_sink_query (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query)
{
  GstStereoAggregator *self = GST_STEREO_AGGREGATOR (aggregator);
  GstCaps *caps, *other;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      gst_query_parse_caps (query, &other);
      caps = preferred (GST_STEREO_AGGREGATOR_GET_CLASS (self)->input_caps (self), other);
      gst_query_set_caps_result (query, caps);
      gst_caps_unref (caps);
      return TRUE;
    case GST_QUERY_ACCEPT_CAPS:
      caps = GST_STEREO_AGGREGATOR_GET_CLASS (self)->input_caps (self);
      gst_query_parse_accept_caps (query, &other);
      gst_query_set_accept_caps_result (query, gst_caps_is_subset (other, caps));
      gst_caps_unref (caps);
      return TRUE;
    default:
      break;
  }
  return GST_AGGREGATOR_CLASS (parent_class ())->sink_query (aggregator, pad, query);
}

/* A frame that is clipped away leaves the pad's count of waiting frames too. */
GstBuffer *
gst_stereo_aggregator_clip (GstAggregator *aggregator, GstAggregatorPad *pad, GstBuffer *buffer)
{
  GstBuffer *inside = gst_stereo_clip (aggregator, pad, gst_buffer_ref (buffer));

  if (!inside) {
    GST_DEBUG_OBJECT (pad, "outside the segment: %" GST_PTR_FORMAT, buffer);
    gst_stereo_pad_left (GST_STEREO_PAD (pad), buffer);
  }
  gst_buffer_unref (buffer);
  return inside;
}
