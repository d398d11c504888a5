/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A kernel in a pipeline reads memory that is not its own. The element posts an error, the process lives on without the
 * device and says so, and backend=auto plays on the CPU. Needs a device; skipped without.
 * tests/engine/test_cuda_faults.c tests the engine in the same case.
 */
#include "tests/support/gst/device.h"
#include "tests/support/gst/suite.h"

#define SOURCE "stereotestsrc num-buffers=%d ! video/x-raw,width=320,height=120 ! "
#define CUDA "stereomatch name=m backend=cuda num-disparities=24 ! "

static GstElement *
play_source (const gchar *tail, gint count)
{
  return launch (SOURCE "%s", count, tail);
}

static void
expect_end (GstElement *pipeline, const gchar *when)
{
  gchar *text = play_to_end (pipeline);
  fail_unless (text == NULL, "%s: %s", when, text);
}

/* The fault is read when the plan is made: before the first frame. */
static void
play_into_fault (GstElement *pipeline, const gchar *word)
{
  g_setenv ("STEREO_TEST_FAULT", "kernel:4", TRUE);
  g_autofree gchar *text = play_to_end (pipeline);
  g_unsetenv ("STEREO_TEST_FAULT");
  fail_unless (text != NULL, "no error");
  fail_unless (strstr (text, word) && strstr (text, "cudaErrorIllegalAddress"), "%s", text);
}

/* A pipeline with frames in device memory, in the context of GStreamer's elements, is lost as well: it ends with an error. */
TEST (test_fault)
{
  GstElement *other = cuda_missing () ? NULL : play_source ("cudaupload ! " CUDA "fakesink", 200);
  g_autoptr (GstElement) pipeline = play_source (CUDA "fakesink", 8),
                         matcher = gst_bin_get_by_name (GST_BIN (pipeline), "m");
  gchar *text, *backend;

  if (other) {
    gst_element_set_state (other, GST_STATE_PAUSED);
    fail_unless_equals_int (gst_element_get_state (other, NULL, NULL, PATIENCE), GST_STATE_CHANGE_SUCCESS);
  }
  play_into_fault (pipeline, "CUDA failed");
  text = play_to_end (pipeline);
  fail_unless (text && strstr (text, "restart the process"), "%s", text);
  g_free (text);
  gst_util_set_object_arg (G_OBJECT (matcher), "backend", "auto");
  expect_end (pipeline, "backend=auto after the fault");
  g_object_get (matcher, "active-backend", &backend, NULL);
  fail_unless_equals_string (backend, "cpu");
  g_free (backend);
  if (other) {
    text = play_to_end (other);
    fail_unless (text != NULL, "frames were matched on a device that is lost");
    g_free (text);
    gst_object_unref (other);
  }
}

SUITE_IF (device_fault, device_is_there (device_missing ()))
{
  tcase_set_timeout (tcase, 240);
}
