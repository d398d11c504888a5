/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Properties that a control source drives follow it from pair to pair. */
#include <gst/controller/controller.h>

#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

#define CAPS "video/x-raw,format=GRAY8,width=128,height=16,framerate=25/1"
#define FRAMES 8
#define CHANGE 4 /* the frame from which on other values hold */

typedef struct
{
  gint numbers[FRAMES], count;
  gdouble scales[FRAMES];
} Seen;

static void
see (GstElement *sink, GstBuffer *buffer, GstPad *pad, Seen *seen)
{
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);

  (void) sink;
  (void) pad;
  fail_unless (meta != NULL && seen->count < FRAMES);
  seen->numbers[seen->count] = meta->num_disparities;
  seen->scales[seen->count] = meta->disparity_scale;
  seen->count++;
}

static void
control (GstElement *element, const gchar *name, gdouble before, gdouble after)
{
  GstControlSource *source = gst_interpolation_control_source_new ();

  g_object_set (source, "mode", GST_INTERPOLATION_MODE_NONE, NULL);
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), 0, before);
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), CHANGE * FRAME, after);
  fail_unless (gst_object_add_control_binding (
      GST_OBJECT (element), gst_direct_control_binding_new_absolute (GST_OBJECT (element), name, source)));
  gst_object_unref (source);
}

/* Runs the pipeline, whose element e is controlled as to @name, and in disparity-scale where it has that. */
static void
run (const gchar *line, const gchar *name, gint before, gint after, gboolean scale, Seen *seen)
{
  g_autoptr (GstElement) pipeline = launch ("%s", line);
  g_autoptr (GstElement) element = gst_bin_get_by_name (GST_BIN (pipeline), "e");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "o");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  control (element, name, before, after);
  if (scale)
    control (element, "disparity-scale", 16, 32);
  g_signal_connect (sink, "handoff", G_CALLBACK (see), seen);
  fail_unless (gst_element_set_state (pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE);
  wait_for_message (bus, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless_equals_int (seen->count, FRAMES);
}

TEST (test_matcher_follows_its_curves)
{
  Seen seen = { { 0 }, 0, { 0 } };

  run ("videotestsrc num-buffers=8 pattern=snow ! " CAPS
       " ! stereomatch name=e window=5 refine-iterations=0 backend=cpu threads=1 ! fakesink name=o signal-handoffs=true",
      "num-disparities", 8, 24, TRUE, &seen);
  for (gint i = 0; i < FRAMES; i++) {
    fail_unless_equals_int (seen.numbers[i], i < CHANGE ? 8 : 24);
    fail_unless_equals_float (seen.scales[i], i < CHANGE ? 16 : 32);
  }
}

TEST (test_source_follows_its_curves)
{
  Seen seen = { { 0 }, 0, { 0 } };

  run ("stereotestsrc name=e num-buffers=8 ! " CAPS " ! fakesink name=o signal-handoffs=true", "max-disparity", 6, 10,
      FALSE, &seen);
  for (gint i = 0; i < FRAMES; i++)
    fail_unless_equals_int (seen.numbers[i], i < CHANGE ? 7 : 11);
}

SUITE (controls)
{
}
