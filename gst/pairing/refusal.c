/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames that a pad cannot take. GStreamer refuses their caps before the pad's element sees them, and the source then says
 * "not-negotiated" alone. An error of this element names the format, and what to put before it. */
#include "gst/pairing/private.h"

/* What to put before the pad: the first row whose words both are in the caps. */
static const struct
{
  const gchar *memory, *name, *element;
} remedies[] = {
  { "memory:NVMM", "", "nvvidconv (Jetson) or nvvideoconvert, and behind it video/x-raw,format=NV12," },
  { "memory:GLMemory", "", "gldownload" },
  { "memory:VAMemory", "", "vapostproc, and behind it video/x-raw," },
  { "memory:CUDAMemory", "", "cudadownload" },
  { "memory:DMABuf", "", "glupload ! gldownload, or vapostproc and behind it video/x-raw," },
  { "memory:", "", "what copies frames from that memory to system memory" },
  { "", "image/jpeg", "jpegdec" },
  { "", "image/png", "pngdec" },
  { "", "video/x-bayer", "bayer2rgb ! videoconvert" },
  { "", "video/x-raw", "videoconvert" },
  { "", "", "decodebin ! videoconvert" },
};

/* Posts the error where @caps are not taken. */
static void
check (GstPad *pad, const GstCaps *caps)
{
  g_autoptr (GstCaps) accepted = gst_pad_query_caps (pad, NULL);
  g_autoptr (GstElement) element = gst_pad_get_parent_element (pad);
  guint row = 0;

  if (!element || gst_caps_is_empty (caps) || gst_caps_can_intersect (caps, accepted))
    return;
  const GstStructure *structure = gst_caps_get_structure (caps, 0);
  const gchar *name = gst_structure_get_name (structure), *format = gst_structure_get_string (structure, "format");
  g_autofree gchar *memory = gst_caps_features_to_string (gst_caps_get_features (caps, 0));
  g_autoptr (GString) formats = g_string_new (NULL);
  if (g_str_equal (memory, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY))
    *memory = '\0';
  while (!g_str_has_prefix (memory, remedies[row].memory) || !g_str_has_prefix (name, remedies[row].name))
    row++;
  /* those of frames in system memory; the pad has a list of them */
  for (guint i = 0; i < gst_caps_get_size (accepted); i++) {
    const GValue *list = gst_structure_get_value (gst_caps_get_structure (accepted, i), "format");
    if (list && gst_caps_features_is_equal (gst_caps_get_features (accepted, i), GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
      for (guint n = 0; n < gst_value_list_get_size (list); n++)
        g_string_append_printf (
            formats, "%s%s", formats->len ? ", " : "", g_value_get_string (gst_value_list_get_value (list, n)));
  }
  GST_ELEMENT_ERROR (element, CORE, NEGOTIATION,
      ("%s cannot take %s%s%s%s%s%s: put %s before it. It takes video/x-raw in the formats %s.", GST_PAD_NAME (pad),
          name, *memory ? "(" : "", memory, *memory ? ")" : "", format ? ",format=" : "", format ? format : "",
          remedies[row].element, formats->str),
      ("%" GST_PTR_FORMAT, caps));
}

GstPadProbeReturn
gst_stereo_refusal_probe (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    gst_event_parse_caps (event, &caps);
    check (pad, caps);
  }
  return GST_PAD_PROBE_OK;
}

/* Whether a source that runs feeds @pad, with nothing between that could change its frames. */
static gboolean
comes_from_source (GstPad *pad)
{
  static const gchar *const passing[] = { "queue", "capsfilter", "identity", NULL };
  g_autoptr (GstPad) peer = gst_pad_get_peer (pad), before = NULL;
  g_autoptr (GstElement) element = peer ? gst_pad_get_parent_element (peer) : NULL;
  const GstElementFactory *factory = element ? gst_element_get_factory (element) : NULL;

  if (element && GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SOURCE))
    return GST_STATE_TARGET (element) >= GST_STATE_PAUSED;
  if (factory && g_strv_contains (passing, GST_OBJECT_NAME (factory)))
    before = gst_element_get_static_pad (element, "sink");
  return before && comes_from_source (before);
}

gboolean
gst_stereo_sink_query (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query)
{
  GstAggregatorClass *parent = g_type_class_peek (GST_TYPE_AGGREGATOR);
  g_autoptr (GstCaps) passed = gst_caps_new_empty (), caps = NULL;
  GstCaps *other;

  if (GST_QUERY_TYPE (query) != GST_QUERY_CAPS && GST_QUERY_TYPE (query) != GST_QUERY_ACCEPT_CAPS)
    return parent->sink_query (aggregator, pad, query);
  caps = GST_STEREO_AGGREGATOR_GET_CLASS (aggregator)->input_caps (GST_STEREO_AGGREGATOR (aggregator));
  if (GST_QUERY_TYPE (query) == GST_QUERY_ACCEPT_CAPS) {
    gst_query_parse_accept_caps (query, &other);
    gst_query_set_accept_caps_result (query, gst_caps_is_subset (other, caps));
    return TRUE;
  }
  gst_query_parse_caps (query, &other);
  /* Kinds of memory stay in our order, so that an upstream element that can upload does it. Formats come in the order of the filter. */
  for (guint i = 0; other && i < gst_caps_get_size (caps); i++) {
    g_autoptr (GstCaps) one = gst_caps_copy_nth (caps, i);
    gst_caps_append (passed, gst_caps_intersect_full (other, one, GST_CAPS_INTERSECT_FIRST));
  }
  gst_query_set_caps_result (query, other ? passed : caps);
  if (other && gst_caps_is_empty (passed) && comes_from_source (GST_PAD (pad)))
    check (GST_PAD (pad), other);
  return TRUE;
}
