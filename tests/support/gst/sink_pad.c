/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/sink_pad.h"

#define CAPS_KEY "sink-pad-caps"

/* The default handler would answer with the current caps, so that no caps could follow them. */
static gboolean
answer_query (GstPad *pad, GstObject *parent, GstQuery *query)
{
  GstCaps *caps = g_object_get_data (G_OBJECT (pad), CAPS_KEY), *filter, *answer;

  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_CAPS:
      gst_query_parse_caps (query, &filter);
      answer = filter ? gst_caps_intersect (filter, caps) : gst_caps_ref (caps);
      gst_query_set_caps_result (query, answer);
      gst_caps_unref (answer);
      return TRUE;
    case GST_QUERY_ACCEPT_CAPS:
      gst_query_set_accept_caps_result (query, TRUE);
      return TRUE;
    default:
      return gst_pad_query_default (pad, parent, query);
  }
}

GstPad *
sink_pad_new (GstElement *element, GstCaps *caps, GstPadChainFunction chain, GstPadEventFunction event, gpointer data)
{
  g_autoptr (GstPad) src = gst_element_get_static_pad (element, "src");
  GstPad *pad = gst_object_ref_sink (gst_pad_new ("sink", GST_PAD_SINK));

  gst_pad_set_element_private (pad, data);
  g_object_set_data_full (G_OBJECT (pad), CAPS_KEY, caps, (GDestroyNotify) gst_caps_unref);
  gst_pad_set_chain_function (pad, chain);
  gst_pad_set_event_function (pad, event);
  gst_pad_set_query_function (pad, answer_query);
  gst_pad_set_active (pad, TRUE);
  g_assert (gst_pad_link (src, pad) == GST_PAD_LINK_OK);
  return pad;
}

void
sink_pad_free (GstPad *pad)
{
  gst_pad_set_active (pad, FALSE);
  gst_object_unref (pad);
}
