/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/device.h"

#include "stereo/stereo.h"

const gchar *
device_missing (void)
{
  static gchar reason[256];

  return stereo_backend_available (STEREO_BACKEND_CUDA, -1, reason, sizeof reason) ? NULL : reason;
}

const gchar *
cuda_missing (void)
{
  const gchar *reason;

  if (!GSTCUDA_BUILT)
    return "built without GStreamer's CUDA library (-Dgstcuda)";
  if ((reason = device_missing ()))
    return reason;
  GstElement *upload = gst_element_factory_make ("cudaupload", NULL);
  if (!upload)
    return "there is no cudaupload (GStreamer's nvcodec plugin)";
  gst_object_unref (upload);
  return NULL;
}

gboolean
device_is_there (const gchar *missing)
{
  g_setenv ("CK_FORK", "no", TRUE);
  if (missing)
    g_print ("SKIPPED: %s\n", missing);
  return !missing;
}

/* ---- lines ------------------------------------------------------------------------------- */

static void
add_input (Line *line, const gchar *factory, const gchar *name)
{
  GstElement *element = gst_element_factory_make (factory, NULL);

  fail_unless (element != NULL, "no %s", factory);
  gst_bin_add (GST_BIN (line->bin), element);
  fail_unless (gst_element_link_pads (element, "src", line->matcher, name));
  g_autoptr (GstPad) pad = gst_element_get_static_pad (element, "sink");
  gst_element_add_pad (line->bin, gst_ghost_pad_new (name, pad));
}

void
line_new (Line *line, const gchar *left, const gchar *right, const gchar *properties)
{
  line->bin = gst_object_ref_sink (gst_bin_new (NULL));
  line->matcher = gst_element_factory_make ("stereomatch", "m");
  fail_unless (line->matcher != NULL, "no stereomatch: is GST_PLUGIN_PATH right?");
  set_properties (line->matcher, properties);
  gst_bin_add (GST_BIN (line->bin), line->matcher);
  GstPad *pad = gst_element_get_static_pad (line->matcher, "src");
  gst_element_add_pad (line->bin, gst_ghost_pad_new ("src", pad));
  gst_object_unref (pad);
  add_input (line, left, right ? "sink_left" : "sink");
  if (right)
    add_input (line, right, "sink_right");
  line->bus = gst_bus_new ();
  gst_element_set_bus (line->bin, line->bus);
  line->left = gst_harness_new_with_element (line->bin, right ? "sink_left" : "sink", "src");
  line->right = right ? gst_harness_new_with_element (line->bin, "sink_right", NULL) : NULL;
}

void
line_free (Line *line)
{
  gst_element_set_bus (line->bin, NULL);
  if (line->right)
    gst_harness_teardown (line->right);
  gst_harness_teardown (line->left);
  gst_bus_set_flushing (line->bus, TRUE);
  gst_object_unref (line->bus);
  gst_object_unref (line->bin);
}

gboolean
line_on_device (Line *line, const gchar *name)
{
  g_autoptr (GstPad) pad = gst_element_get_static_pad (line->matcher, name);
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (pad);

  fail_unless (caps != NULL, "no caps on %s", name);
  return gst_caps_features_contains (gst_caps_get_features (caps, 0), DEVICE_FEATURE);
}

/* The device is known then; the engine's own choice shows as -1. */
gboolean
line_shares_context (Line *line)
{
  g_autoptr (GstStructure) settings = NULL;
  gint device = -2;

  g_object_get (line->matcher, "settings", &settings, NULL);
  fail_unless (settings && gst_structure_get_int (settings, "cuda-device-id", &device));
  return device >= 0;
}

/* ---- outputs ----------------------------------------------------------------------------- */

static void
append_rows (GByteArray *bytes, const GstVideoInfo *info, GstBuffer *buffer)
{
  GstVideoFrame frame;

  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_READ));
  for (gint y = 0; y < GST_VIDEO_INFO_HEIGHT (info); y++)
    g_byte_array_append (bytes,
        (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + (gsize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0),
        (guint) (GST_VIDEO_INFO_WIDTH (info) * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, 0)));
  gst_video_frame_unmap (&frame);
}

void
append_output (GByteArray *bytes, GstHarness *harness, GstBuffer *buffer)
{
  GstVideoInfo info = output_info (harness), confidence;
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);

  fail_unless (meta != NULL && meta->confidence != NULL);
  gst_video_info_set_format (&confidence, GST_VIDEO_FORMAT_GRAY8, meta->width, meta->height);
  append_rows (bytes, &info, buffer);
  append_rows (bytes, &confidence, meta->confidence);
  gst_buffer_unref (buffer);
}

static void
push (GstHarness *harness, GstBuffer *buffer, guint number)
{
  fail_unless_equals_int (gst_harness_push (harness, stamp (buffer, number * FRAME, FRAME)), GST_FLOW_OK);
}

GByteArray *
line_run (Line *line, GstVideoFormat format, gint width, gint height, guint seed, guint pairs)
{
  g_autofree gchar *caps = make_caps (
      format, line->right ? width : 2 * width, height, line->right ? NULL : "multiview-mode=side-by-side," NO_FLAGS);
  GByteArray *bytes = g_byte_array_new ();

  gst_harness_set_src_caps_str (line->left, caps);
  if (line->right)
    gst_harness_set_src_caps_str (line->right, caps);
  for (guint i = 0; i < pairs; i++, seed += 5) {
    if (line->right) {
      push (line->left, make_view (format, width, height, seed, 0, 0), i);
      push (line->right, make_view (format, width, height, seed, SHIFT, 0), i);
    } else {
      push (line->left, make_packed (format, "side-by-side", width, height, seed, FALSE), i);
    }
  }
  /* only now, so that the matcher always has a next pair waiting */
  for (guint i = 0; i < pairs; i++) {
    GstBuffer *out = gst_harness_pull (line->left);
    fail_unless (out != NULL, "no output");
    fail_unless_equals_uint64 (GST_BUFFER_PTS (out), i * FRAME);
    append_output (bytes, line->left, out);
  }
  return bytes;
}

void
check_equal (GByteArray *bytes, GByteArray *expected, const gchar *what)
{
  fail_unless (
      expected->len > 0 && bytes->len == expected->len, "%s: %u bytes, not %u", what, bytes->len, expected->len);
  for (guint i = 0; i < bytes->len; i++)
    if (bytes->data[i] != expected->data[i])
      fail ("%s: byte %u is %u, not %u", what, i, bytes->data[i], expected->data[i]);
  g_byte_array_unref (bytes);
}
