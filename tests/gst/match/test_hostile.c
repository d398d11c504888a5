/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Caps that no camera sends, for every element: sizes up to INT_MAX, views of every kind, fractions with zeros, and
 * buffers that are too small for their caps. The element refuses them in the negotiation or with an error that says
 * why.
 */
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

static const gchar *const sizes[] = { "width=1,height=1", "width=2,height=1", "width=3,height=2147483647",
  "width=2147483647,height=1", "width=2147483646,height=2147483647", "width=2147483647,height=2147483647",
  "width=65536,height=65536", "width=65536,height=32768", "width=65538,height=4", "width=32769,height=1",
  "width=46342,height=46342", "width=1,height=32769", "width=64,height=2147483646" };
static const gchar *const views[] = { "", ",multiview-mode=(string)mono", ",multiview-mode=(string)side-by-side",
  ",multiview-mode=(string)top-bottom", ",multiview-mode=(string)row-interleaved",
  ",multiview-mode=(string)column-interleaved", ",multiview-mode=(string)frame-by-frame",
  ",multiview-mode=(string)checkerboard", ",multiview-mode=(string)multiview-frame-by-frame",
  ",multiview-mode=(string)left", ",multiview-mode=(string)right", ",multiview-mode=(string)nonsense",
  ",multiview-mode=(string)side-by-side,multiview-flags=(GstVideoMultiviewFlagsSet)ffffffff:ffffffff",
  (",multiview-mode=(string)side-by-side,multiview-flags=(GstVideoMultiviewFlagsSet)4000:ffffffff,pixel-aspect-ratio=2147483647/1"),
  ",pixel-aspect-ratio=0/1", ",pixel-aspect-ratio=-1/2147483647" };
static const gchar *const rates[] = { "0/1", "30/1", "2147483647/1", "1/2147483647" };
static const gchar *const formats[] = { "GRAY8", "NV12", "YUY2", "RGB", "BGRA", "GRAY16_LE" };
/* an element, its pad, and a second one to which the same goes */
static const struct
{
  const gchar *element, *pad, *other;
} targets[] = { { "stereomatch backend=cpu threads=2", "sink", NULL },
  { "stereomatch backend=cpu threads=2 output=depth focal-length=500 baseline=100", "sink_left", "sink_right" },
  { "stereorectify backend=cpu", "sink", NULL }, { "stereorectify backend=cpu", "sink_left", "sink_right" },
  { "stereoconfidence", "sink", NULL }, { "stereoground", "sink", NULL }, { "stereonearest", "sink", NULL },
  { "depthoverlay", "sink", NULL }, { "depthoverlay", "sink", "sink_depth" } };

/* A pad that takes whatever comes. */
static GstPad *
link_source (GstElement *element, const gchar *name)
{
  GstPad *sink = gst_element_get_static_pad (element, name), *source;

  if (!sink)
    sink = gst_element_request_pad_simple (element, name);
  if (!sink)
    return NULL;
  source = gst_pad_new ("src", GST_PAD_SRC);
  fail_unless_equals_int (gst_pad_link_full (source, sink, GST_PAD_LINK_CHECK_NOTHING), GST_PAD_LINK_OK);
  gst_pad_set_active (source, TRUE);
  gst_object_unref (sink);
  return source;
}

static void
push_start (GstPad *source, GstCaps *caps, const gchar *id)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_pad_push_event (source, gst_event_new_stream_start (id));
  gst_pad_push_event (source, gst_event_new_caps (caps));
  gst_pad_push_event (source, gst_event_new_segment (&segment));
}

static void
wait_for_end (GstElement *pipeline, GstBus *bus)
{
  g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (bus, PATIENCE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);

  if (message && GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    g_autoptr (GError) error = NULL;
    gst_message_parse_error (message, &error, NULL);
    fail_unless (strlen (error->message) > 20, "'%s'", error->message);
  }
  fail_unless (message != NULL, "neither an end nor an error");
}

/* FALSE: this build has no such element. */
static gboolean
try_caps (guint target, GstCaps *caps, gsize size)
{
  g_autoptr (GstElement) pipeline = gst_pipeline_new (NULL);
  GstElement *sink = gst_element_factory_make ("fakesink", NULL), *element;
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GstPad *sources[2] = { NULL };
  GError *error = NULL;

  element = gst_parse_bin_from_description_full (
      targets[target].element, FALSE, NULL, GST_PARSE_FLAG_NO_SINGLE_ELEMENT_BINS, &error);
  g_clear_error (&error);
  if (!element) {
    gst_object_unref (sink);
    return FALSE;
  }
  g_object_set (sink, "async", FALSE, NULL);
  gst_bin_add_many (GST_BIN (pipeline), element, sink, NULL);
  gst_element_link (element, sink);
  sources[0] = link_source (element, targets[target].pad);
  sources[1] = targets[target].other ? link_source (element, targets[target].other) : NULL;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint k = 0; k < 2; k++)
    if (sources[k])
      push_start (sources[k], caps, k ? "b" : "a");
  for (guint k = 0; k < 2 && sources[k]; k++) {
    gst_pad_push (sources[k], stamp (gst_buffer_new_wrapped (g_malloc0 (size), size), 0, FRAME));
    gst_pad_push_event (sources[k], gst_event_new_eos ());
  }
  wait_for_end (pipeline, bus);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  for (guint k = 0; k < 2; k++)
    if (sources[k]) {
      gst_pad_set_active (sources[k], FALSE);
      gst_object_unref (sources[k]);
    }
  return TRUE;
}

static void
keep_quiet (const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data)
{
}

TEST_LOOP (test_caps, 0, G_N_ELEMENTS (targets))
{
  guint count = 0;

  /* its name is in the texts */
  g_type_ensure (GST_TYPE_VIDEO_MULTIVIEW_FLAGSET);
  /* GStreamer's own words about the multiview fields */
  g_log_set_handler ("GStreamer-Video", G_LOG_LEVEL_WARNING, keep_quiet, NULL);
  for (guint s = 0; s < G_N_ELEMENTS (sizes); s++)
    for (guint v = 0; v < G_N_ELEMENTS (views); v++) {
      const gchar *format = formats[(s + v) % G_N_ELEMENTS (formats)], *rate = rates[(s + 3 * v) % G_N_ELEMENTS (rates)];
      g_autofree gchar *text = g_strdup_printf (
          "video/x-raw,format=%s,%s,framerate=%s%s", format, sizes[s], rate, views[v]);
      g_autoptr (GstCaps) caps = gst_caps_from_string (text);
      fail_unless (caps != NULL, "%s", text);
      if (try_caps (__i__, caps, (s + v) % 2 ? 1 : 4096))
        count++;
    }
  g_print ("%s: %u caps\n", targets[__i__].element, count);
  fail_unless (count > 0 || !g_str_has_prefix (targets[__i__].element, "stereomatch"), "no stereomatch");
}

SUITE (hostile)
{
  tcase_set_timeout (tcase, 240);
}
