/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/refusal.h"

/* What to put before the pad: by the memory of the frames, else by their kind. The first that fits. */
static const struct
{
  const gchar *feature; /* how the name begins; NULL: any */
  const gchar *name;    /* NULL: any */
  const gchar *element;
} remedies[] = {
  { "memory:NVMM", NULL, "nvvidconv (Jetson) or nvvideoconvert, and behind it video/x-raw,format=NV12," },
  { "memory:GLMemory", NULL, "gldownload" },
  { "memory:D3D11Memory", NULL, "d3d11download" },
  { "memory:VAMemory", NULL, "vapostproc, and behind it video/x-raw," },
  { "memory:VulkanImage", NULL, "vulkandownload" },
  { "memory:CUDAMemory", NULL, "cudadownload" },
  { "memory:DMABuf", NULL, "glupload ! gldownload, or vapostproc and behind it video/x-raw," },
  { "memory:", NULL, "what copies frames from that memory to system memory" },
  { NULL, "image/jpeg", "jpegdec" },
  { NULL, "image/png", "pngdec" },
  { NULL, "video/x-bayer", "bayer2rgb ! videoconvert" },
  { NULL, "video/x-raw", "videoconvert" },
  { NULL, NULL, "decodebin ! videoconvert" },
};

/* The first row that fits. @memory: "" for that of the system. */
static const gchar *
remedy_for (const gchar *memory, const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (remedies); i++)
    if ((!remedies[i].feature || g_str_has_prefix (memory, remedies[i].feature)) &&
        (!remedies[i].name || g_str_equal (remedies[i].name, name)))
      return remedies[i].element;
  return NULL;
}

/* The formats of frames in system memory; the pad has a list of them. */
static gchar *
describe_formats (const GstCaps *caps)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < gst_caps_get_size (caps); i++) {
    const GValue *formats = gst_structure_get_value (gst_caps_get_structure (caps, i), "format");
    if (formats && gst_caps_features_is_equal (gst_caps_get_features (caps, i), GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
      for (guint n = 0; n < gst_value_list_get_size (formats); n++)
        g_string_append_printf (
            text, "%s%s", text->len ? ", " : "", g_value_get_string (gst_value_list_get_value (formats, n)));
  }
  return g_string_free (text, FALSE);
}

static void
post (GstPad *pad, const GstCaps *refused, const GstCaps *accepted)
{
  GstElement *element = gst_pad_get_parent_element (pad);
  const GstStructure *structure = gst_caps_get_structure (refused, 0);
  const gchar *name = gst_structure_get_name (structure), *format = gst_structure_get_string (structure, "format");
  g_autofree gchar *memory = gst_caps_features_to_string (gst_caps_get_features (refused, 0));
  g_autofree gchar *formats = describe_formats (accepted);

  if (g_str_equal (memory, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY))
    *memory = '\0';
  if (element)
    GST_ELEMENT_ERROR (element, CORE, NEGOTIATION,
        ("%s cannot take %s%s%s%s%s%s: put %s before it. It takes video/x-raw in the formats %s.", GST_PAD_NAME (pad),
            name, *memory ? "(" : "", memory, *memory ? ")" : "", format ? ",format=" : "", format ? format : "",
            remedy_for (memory, name), formats),
        ("%" GST_PTR_FORMAT, refused));
  gst_clear_object (&element);
}

/* For one structure of @caps: caps whose format is taken, and that still do not fit, differ in something else, which is not for this
 * message. */
static gboolean
format_is_taken (const GstCaps *caps, guint nth, GstCaps *accepted)
{
  const GstStructure *structure = gst_caps_get_structure (caps, nth);
  const GValue *format = gst_structure_get_value (structure, "format");
  GstStructure *bare = gst_structure_new_empty (gst_structure_get_name (structure));
  g_autoptr (GstCaps) alone = gst_caps_new_empty ();

  if (format)
    gst_structure_set_value (bare, "format", format);
  gst_caps_append_structure_full (alone, bare, gst_caps_features_copy (gst_caps_get_features (caps, nth)));
  return gst_caps_can_intersect (alone, accepted);
}

static void
check (GstPad *pad, const GstCaps *caps)
{
  g_autoptr (GstCaps) accepted = gst_pad_query_caps (pad, NULL);
  gboolean taken = gst_caps_is_any (caps) || gst_caps_is_empty (caps);

  for (guint i = 0; !taken && i < gst_caps_get_size (caps); i++)
    taken = format_is_taken (caps, i, accepted);
  if (!taken)
    post (pad, caps, accepted);
}

static GstPadProbeReturn
see_event (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  GstEvent *event = GST_PAD_PROBE_INFO_EVENT (info);
  GstCaps *caps;

  if (GST_EVENT_TYPE (event) == GST_EVENT_CAPS) {
    gst_event_parse_caps (event, &caps);
    check (pad, caps);
  }
  return GST_PAD_PROBE_OK;
}

void
gst_stereo_refusal_watch (GstPad *pad)
{
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, see_event, NULL, NULL);
}

/* ---- a source that asks ------------------------------------------------------------------- */

/* An element that hands caps on as they are. */
static gboolean
passes_caps (GstElement *element)
{
  static const gchar *const names[] = { "queue", "capsfilter", "identity" };
  GstElementFactory *factory = gst_element_get_factory (element);

  for (guint i = 0; factory && i < G_N_ELEMENTS (names); i++)
    if (g_str_equal (GST_OBJECT_NAME (factory), names[i]))
      return TRUE;
  return FALSE;
}

/* Whether a source that runs feeds @pad, with nothing between that could change its frames. */
static gboolean
comes_from_source (GstPad *pad)
{
  GstPad *at = gst_object_ref (pad), *peer;
  gboolean found = FALSE;

  while (at && (peer = gst_pad_get_peer (at))) {
    GstElement *element = gst_pad_get_parent_element (peer);
    gst_object_unref (at);
    gst_object_unref (peer);
    at = element && passes_caps (element) ? gst_element_get_static_pad (element, "sink") : NULL;
    found = element && GST_OBJECT_FLAG_IS_SET (element, GST_ELEMENT_FLAG_SOURCE) &&
        GST_STATE_TARGET (element) >= GST_STATE_PAUSED;
    gst_clear_object (&element);
  }
  gst_clear_object (&at);
  return found;
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
    if (gst_caps_is_empty (passed) && comes_from_source (pad))
      check (pad, other);
    gst_caps_unref (passed);
  } else {
    gst_query_parse_accept_caps (query, &other);
    gst_query_set_accept_caps_result (query, gst_caps_is_subset (other, caps));
  }
}
