/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The device is lost in the middle of a stream: the element posts an error, says at the next start what to do, and
 * plays on the CPU with backend=auto. Needs no device: the plugin that this test loads contains a made-up CUDA runtime
 * (tests/engine/fake/runtime.c). tests/engine/test_device_lost.c tests the engine in the same case.
 *
 * A device that is lost stays lost to its process: STEREO_TEST_LOSS is the one error of this process. The leaks tracer wants
 * a test that does not fork, and in one process every case but the first would fail and leave its pipeline.
 */
#include <dlfcn.h>

#include "tests/support/gst/common.h"
#include "tests/support/gst/suite.h"

static void (*lose) (int before, int code);

/* @data: how many more pairs come out before it is lost; the error follows. */
static GstPadProbeReturn
count_down (GstPad *pad, GstPadProbeInfo *info, gpointer data)
{
  gint *loss = data;

  if (loss[0]-- == 0)
    lose (0, loss[1]);
  return GST_PAD_PROBE_OK;
}

TEST (test_lost_while_playing)
{
  g_autoptr (GstElement) pipeline = launch (
      "stereotestsrc num-buffers=30 ! video/x-raw,width=160,height=60 ! stereomatch name=m backend=cuda "
      "num-disparities=16 check-interval=0 ! fakesink");
  g_autoptr (GstElement) matcher = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  g_autoptr (GstPad) pad = gst_element_get_static_pad (matcher, "src");
  gint loss[2] = { 7, atoi (g_getenv ("STEREO_TEST_LOSS")) };
  gchar *text, *backend;

  fail_unless (play_to_end (pipeline) == NULL);
  void *plugin = dlopen (g_getenv ("STEREO_TEST_PLUGIN"), RTLD_NOW | RTLD_NOLOAD);
  fail_unless (plugin != NULL, "the plugin is not the test's: %s", dlerror ());
  *(void **) &lose = dlsym (plugin, "fake_runtime_lose");
  fail_unless (lose != NULL);
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_down, loss, NULL);
  text = play_to_end (pipeline);
  fail_unless (text && strstr (text, "CUDA failed"), "%s", text);
  g_free (text);
  text = play_to_end (pipeline);
  fail_unless (text && strstr (text, "restart the process"), "%s", text);
  g_free (text);
  gst_util_set_object_arg (G_OBJECT (matcher), "backend", "auto");
  text = play_to_end (pipeline);
  fail_unless (text == NULL, "backend=auto: %s", text);
  g_object_get (matcher, "active-backend", &backend, NULL);
  fail_unless_equals_string (backend, "cpu");
  g_free (backend);
  dlclose (plugin);
}

static gboolean
there_is_a_loss (void)
{
  if (g_getenv ("STEREO_TEST_PLUGIN") && g_getenv ("STEREO_TEST_LOSS"))
    return TRUE;
  g_print ("SKIPPED: STEREO_TEST_PLUGIN does not name the plugin with the made-up runtime, or STEREO_TEST_LOSS no error: "
           "meson test device_lost-700\n");
  return FALSE;
}

SUITE_IF (device_lost, there_is_a_loss ())
{
}
