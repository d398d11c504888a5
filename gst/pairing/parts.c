/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/parts.h"

void
gst_stereo_parts_init (GstStereoParts *parts, GstAggregator *aggregator)
{
  GstElement *element = GST_ELEMENT (aggregator);

  parts->inputs = gst_stereo_inputs_new (element);
  parts->drops = gst_stereo_drops_new (element);
  parts->clock = gst_stereo_clock_new (element);
  parts->pairs = gst_stereo_pairs_new (element, parts->drops, parts->clock);
  parts->qos = gst_stereo_qos_new (aggregator);
  parts->silence = gst_stereo_silence_new (aggregator, parts->inputs);
}

void
gst_stereo_parts_clear (GstStereoParts *parts)
{
  gst_stereo_silence_free (parts->silence);
  gst_stereo_qos_free (parts->qos);
  gst_stereo_pairs_free (parts->pairs);
  gst_stereo_clock_free (parts->clock);
  gst_stereo_drops_free (parts->drops);
  gst_stereo_inputs_free (parts->inputs);
}

/* What must not outlive a seek. */
static void
reset_stream (GstStereoParts *parts)
{
  gst_stereo_qos_flush (parts->qos);
  gst_stereo_pairs_flush (parts->pairs);
  gst_stereo_drops_break_stream (parts->drops);
}

gboolean
gst_stereo_parts_start (GstStereoParts *parts)
{
  gst_stereo_inputs_start (parts->inputs);
  gst_stereo_qos_start (parts->qos);
  gst_stereo_drops_start (parts->drops);
  reset_stream (parts);
  gst_stereo_silence_reset (parts->silence, TRUE);
  return gst_stereo_inputs_check (parts->inputs);
}

void
gst_stereo_parts_flush (GstStereoParts *parts)
{
  reset_stream (parts);
  gst_stereo_silence_reset (parts->silence, FALSE);
}

void
gst_stereo_parts_stop (GstStereoParts *parts)
{
  gst_stereo_inputs_stop (parts->inputs);
  gst_stereo_silence_set_playing (parts->silence, FALSE);
}
