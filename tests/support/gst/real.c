/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/real.h"

#include "tests/support/gst/common.h"

gboolean
real_is_there (void)
{
  const gchar *folder = g_getenv ("STEREO_DATA");
  gboolean there = folder && g_file_test (folder, G_FILE_TEST_IS_DIR);

  if (!there)
    g_print ("skipped: STEREO_DATA names no folder of real pairs\n");
  return there;
}

static GstSample *
decode (const gchar *path, const gchar *decoder, const gchar *format)
{
  g_autoptr (GstElement) pipeline = launch (
      "filesrc location=\"%s\" ! %s ! videoconvert ! video/x-raw,format=%s ! appsink "
      "name=sink sync=false",
      path, decoder, format);
  GstSample *sample = NULL;

  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name (sink, "try-pull-sample", PATIENCE, &sample);
  fail_unless (sample != NULL, "%s cannot be read", path);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return sample;
}

GstSample *
real_picture (const gchar *name, const gchar *format)
{
  g_autofree gchar *path = g_build_filename (g_getenv ("STEREO_DATA"), name, NULL);
  const gchar *decoder = g_str_has_suffix (name, ".png") ? "pngdec" : "jpegdec";
  GstElementFactory *factory = gst_element_factory_find (decoder);
  GstSample *sample = NULL;

  if (factory && g_file_test (path, G_FILE_TEST_EXISTS))
    sample = decode (path, decoder, format);
  else
    g_print ("%s: left out (%s)\n", name, factory ? "not there" : "no decoder");
  gst_clear_object (&factory);
  return sample;
}
