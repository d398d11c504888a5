/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/events.h"

#include "gst/pairing/debug.h"
#include "gst/pairing/input/refusal.h"
#include "gst/video/stream.h"

static GstAggregatorClass *
base_class (void)
{
  return g_type_class_peek (GST_TYPE_AGGREGATOR);
}

/* ---- events from upstream ----------------------------------------------------------------- */

/* A pair waits for its later frame for half a frame's time at most, or for max-skew. */
static void
update_latency (GstStereoParts *parts, GstStereoPad *pad, const GstVideoInfo *info)
{
  guint64 max_skew = gst_stereo_pairs_get_max_skew (parts->pairs), skew;
  GstClockTime frame = 0;

  if (GST_VIDEO_INFO_FPS_N (info) > 0)
    frame = gst_util_uint64_scale (
        GST_SECOND, (guint64) GST_VIDEO_INFO_FPS_D (info), (guint64) GST_VIDEO_INFO_FPS_N (info));
  skew = max_skew == GST_STEREO_MAX_SKEW_AUTO ? frame / 2 : MIN (max_skew, frame);
  gst_stereo_qos_set_frame (parts->qos, frame, gst_stereo_pad_is_packed (pad) ? 0 : skew);
}

/* FALSE after an error was posted. */
static gboolean
read_caps (GstStereoParts *parts, GstAggregator *aggregator, GstStereoPad *pad, GstEvent *event)
{
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  const GstVideoInfo *info = gst_stereo_pad_set_caps (pad, caps);
  if (!info) {
    GST_ELEMENT_ERROR (
        aggregator, CORE, NEGOTIATION, ("%s cannot take these caps.", GST_PAD_NAME (pad)), ("%" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  if (!gst_stereo_pad_is_right (pad))
    update_latency (parts, pad, info);
  return TRUE;
}

/* Whether the base class gets the event. It forwards events that it does not know: those of one pad are enough. */
static gboolean
is_forwarded (GstStereoPad *pad, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
    case GST_EVENT_SEGMENT:
    case GST_EVENT_FLUSH_START:
    case GST_EVENT_FLUSH_STOP:
    case GST_EVENT_GAP:
    case GST_EVENT_TAG:
    case GST_EVENT_EOS:
      return TRUE;
    case GST_EVENT_CAPS:
      return FALSE;
    default:
      return !gst_stereo_pad_is_right (pad);
  }
}

gboolean
gst_stereo_read_sink_event (GstStereoParts *parts, GstAggregator *aggregator, GstAggregatorPad *base, GstEvent *event)
{
  GstStereoPad *pad = GST_STEREO_PAD (base);
  gboolean usable = TRUE;

  if (GST_EVENT_TYPE (event) == GST_EVENT_STREAM_START) {
    /* frames from before on this pad, or on one that was released, may not have been used */
    gst_stereo_drops_break_stream (parts->drops);
    gst_stereo_inputs_check (parts->inputs);
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_SEGMENT) {
    gst_stereo_pad_begin_segment (pad, event);
    gst_stereo_watch_ask_live (parts->watch, GST_PAD (pad));
  } else if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    usable = read_caps (parts, aggregator, pad, event);
  }
  if (is_forwarded (pad, event))
    return base_class ()->sink_event (aggregator, base, event);
  gst_event_unref (event);
  return usable;
}

GstFlowReturn
gst_stereo_preview_sink_event (GstAggregator *aggregator, GstAggregatorPad *pad, GstEvent *event)
{
  gst_stereo_pad_preview_event (GST_STEREO_PAD (pad), event);
  return base_class ()->sink_event_pre_queue (aggregator, pad, event);
}

/* ---- events from downstream --------------------------------------------------------------- */

gboolean
gst_stereo_read_src_event (GstStereoParts *parts, GstAggregator *aggregator, GstEvent *event)
{
  if (GST_EVENT_TYPE (event) == GST_EVENT_SEEK) {
    guint generation = gst_stereo_inputs_expect_seek (parts->inputs, event);
    gboolean sent = base_class ()->src_event (aggregator, event);
    if (!sent)
      gst_stereo_inputs_cancel_seek (parts->inputs, generation);
    return sent;
  }
  gst_stereo_qos_read_event (parts->qos, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_LATENCY)
    gst_stereo_watch_update (parts->watch);
  return base_class ()->src_event (aggregator, event);
}

/* ---- queries ------------------------------------------------------------------------------ */

/* What only the source of the stream knows. */
static gboolean
is_for_upstream (GstQuery *query)
{
  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_POSITION:
    case GST_QUERY_DURATION:
    case GST_QUERY_SEEKING:
    case GST_QUERY_URI:
      return TRUE;
    default:
      return FALSE;
  }
}

gboolean
gst_stereo_answer_src_query (GstStereoParts *parts, GstAggregator *aggregator, GstQuery *query)
{
  GstPad *pad = gst_stereo_inputs_get_leading (parts->inputs);
  gboolean answered;

  if (pad && is_for_upstream (query))
    answered = gst_pad_peer_query (pad, query);
  else
    answered = base_class ()->src_query (aggregator, query);
  gst_clear_object (&pad);
  return answered;
}

/* The part of @caps that passes @filter (may be NULL). Kinds of memory stay in our order, so that an upstream element that
 * can upload does it. Formats come in the order of the filter. */
static GstCaps *
filter_caps (GstCaps *caps, GstCaps *filter)
{
  if (!filter)
    return gst_caps_ref (caps);
  GstCaps *passed = gst_caps_new_empty ();
  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    g_autoptr (GstCaps) one = gst_caps_copy_nth (caps, i);
    gst_caps_append (passed, gst_caps_intersect_full (filter, one, GST_CAPS_INTERSECT_FIRST));
  }
  return passed;
}

void
gst_stereo_answer_caps_query (GstQuery *query, GstCaps *caps, GstPad *pad)
{
  GstCaps *other, *passed;

  if (GST_QUERY_TYPE (query) == GST_QUERY_CAPS) {
    gst_query_parse_caps (query, &other);
    passed = filter_caps (caps, other);
    gst_query_set_caps_result (query, passed);
    if (gst_caps_is_empty (passed))
      gst_stereo_refusal_answer (pad, other);
    gst_caps_unref (passed);
  } else {
    gst_query_parse_accept_caps (query, &other);
    gst_query_set_accept_caps_result (query, gst_caps_is_subset (other, caps));
  }
}
