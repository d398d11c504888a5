/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/events.h"

#include "gst/pairing/debug.h"

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

static GstStereoEventResult
read_caps (GstStereoParts *parts, GstElement *element, GstStereoPad *pad, GstEvent *event)
{
  const GstVideoInfo *info;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  info = gst_stereo_pad_set_caps (pad, caps);
  if (!info) {
    GST_ELEMENT_ERROR (
        element, CORE, NEGOTIATION, ("%s cannot take these caps.", GST_PAD_NAME (pad)), ("%" GST_PTR_FORMAT, caps));
    return GST_STEREO_EVENT_FAILED;
  }
  if (!gst_stereo_pad_is_right (pad))
    update_latency (parts, pad, info);
  return GST_STEREO_EVENT_TAKEN;
}

GstStereoEventResult
gst_stereo_events_read_sink (GstStereoParts *parts, GstElement *element, GstStereoPad *pad, GstEvent *event)
{
  switch (GST_EVENT_TYPE (event)) {
    case GST_EVENT_STREAM_START:
      /* frames from before on this pad, or on one that was released, may not have been used */
      gst_stereo_drops_break_stream (parts->drops);
      gst_stereo_inputs_check (parts->inputs);
      return GST_STEREO_EVENT_FORWARD;
    case GST_EVENT_CAPS:
      return read_caps (parts, element, pad, event);
    case GST_EVENT_SEGMENT:
      gst_stereo_pad_begin_segment (pad, event);
      gst_stereo_silence_ask_live (parts->silence, GST_PAD (pad));
      return GST_STEREO_EVENT_FORWARD;
    case GST_EVENT_FLUSH_START:
    case GST_EVENT_FLUSH_STOP:
    case GST_EVENT_GAP:
    case GST_EVENT_TAG:
    case GST_EVENT_EOS:
      return GST_STEREO_EVENT_FORWARD;
    default:
      /* forwarded once only: the output is the left stream's */
      return gst_stereo_pad_is_right (pad) ? GST_STEREO_EVENT_TAKEN : GST_STEREO_EVENT_FORWARD;
  }
}

void
gst_stereo_events_read_src (GstStereoParts *parts, GstEvent *event)
{
  gst_stereo_qos_read_event (parts->qos, event);
  if (GST_EVENT_TYPE (event) == GST_EVENT_LATENCY)
    gst_stereo_silence_update (parts->silence);
}
