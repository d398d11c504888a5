/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What stereoground refuses, what it warns of, and pictures of any kind. */
#include <math.h>

#include "tests/gst/ground/stream.h"
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

static Random generator;

/* ---- errors ------------------------------------------------------------------------------ */

static void
expect_refused (GroundStream *stream, GstBuffer *buffer, const gchar *what, const gchar *remedy)
{
  fail_unless_equals_int (gst_harness_push (stream->harness, buffer), GST_FLOW_ERROR);
  expect_error (stream->bus, what, remedy, NULL);
}

/* Every valid pixel counts, and a warning says so once after each start. */
TEST (test_without_confidence)
{
  g_auto (GroundStream) stream = ground_stream_new ("min-confidence=0.9", GST_STEREO_OUTPUT_KIND_DISPARITY, &generator);

  for (guint i = 0; i < 6; i++) {
    GstBuffer *in = ground_stream_matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0), *out;

    if (i == 3) {
      gst_element_set_state (stream.harness->element, GST_STATE_READY);
      gst_element_set_state (stream.harness->element, GST_STATE_PLAYING);
      gst_harness_push_event (stream.harness, gst_event_new_stream_start ("again"));
      ground_stream_set_caps (&stream, GST_VIDEO_FORMAT_GRAY16_LE, stream.width, stream.height);
    }
    gst_buffer_replace (&gst_buffer_get_stereo_meta (in)->confidence, NULL);
    out = ground_stream_pass (&stream, in);
    fail_unless (ground_stream_has (out));
    gst_buffer_unref (out);
    if (i % 3 == 0)
      expect_warning (stream.bus, "no confidence", "every valid pixel", NULL);
  }
  fail_unless (gst_bus_pop_filtered (stream.bus, GST_MESSAGE_WARNING) == NULL);
}

/* Values that exclude each other: at the start, and while it runs. */
TEST (test_values_that_exclude_each_other)
{
  g_auto (GroundStream) stream = ground_stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY, &generator);
  GstElement *element = gst_element_factory_make ("stereoground", NULL);

  gst_object_ref_sink (element);
  gst_element_set_bus (element, stream.bus);
  set_properties (element, "min-camera-height=3000 max-camera-height=2000");
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  expect_error (
      stream.bus, "min-camera-height=3000 is not below max-camera-height=2000", "set min-camera-height below", NULL);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (element);
  set_properties (stream.harness->element, "min-height=4000");
  expect_refused (&stream, ground_stream_matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0), "min-height=4000",
      "max-height=4000: set min-height below");
}

/* ---- other metadata ---------------------------------------------------------------------- */

SUITE (ground_errors)
{
  generator.state = random_seed ();
}
