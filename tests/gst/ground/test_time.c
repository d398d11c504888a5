/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stereoground and time: frames that do not come, gaps that are told, properties that follow a curve. */
#include <gst/controller/controller.h>

#include "tests/gst/ground/stream.h"
#include "tests/support/gst/util.h"

#define KIND GST_STEREO_OUTPUT_KIND_DISPARITY

static const MadeErrors usual = { .noise = 0.3, .outliers = 0.02, .holes = 0.05 };
static Random generator;

/* The box stands elsewhere from now on. */
static void
move_box (GroundStream *stream, gdouble distance, gdouble lateral)
{
  made_picture_free (stream->picture);
  stream->scene.boxes[0].distance = distance;
  stream->scene.boxes[0].lateral = lateral;
  stream->picture = made_picture_new (&stream->scene);
  made_picture_spoil (stream->picture, &usual, &generator);
}

/* The identity of the one obstacle; 0 = there is none, -1 = there are more. */
static gint
identity (GstBuffer *out)
{
  const GstVideoRegionOfInterestMeta *region = (const GstVideoRegionOfInterestMeta *) gst_buffer_get_meta (
      out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);

  return ground_stream_regions (out) > 1 ? -1 : region ? region->id : 0;
}

static gint
pass (GroundStream *stream)
{
  GstBuffer *out = ground_stream_pass (stream, ground_stream_matched (stream, KIND, 0));
  gint id = identity (out);

  gst_buffer_unref (out);
  return id;
}

static gdouble
between (gdouble low, gdouble high)
{
  return low + (high - low) * random_unit (&generator);
}

/* At 26 m/s, and then eleven frames are missing: it is the same one. */
GST_START_TEST (test_missing_frames)
{
  for (guint turn = 0; turn < 10; turn++) {
    GroundStream stream = ground_stream_new ("", KIND, &generator);
    gdouble lateral = between (2400, 3000), distance = between (24000, 26000), speed = between (25000, 27000);
    gint id = 0;

    for (guint frame = 0; frame < 5; frame++, distance -= speed / 25) {
      move_box (&stream, distance, lateral);
      id = pass (&stream);
    }
    fail_unless (id > 0, "turn %u", turn);
    stream.next += 11 * FRAME;
    move_box (&stream, distance - 11 * speed / 25, lateral);
    fail_unless_equals_int (pass (&stream), id);
    ground_stream_free (&stream);
  }
}
GST_END_TEST;

/* Without timestamps the caps tell how long a frame is: here a second, in which it comes 10 m closer. */
GST_START_TEST (test_framerate)
{
  for (guint turn = 0; turn < 10; turn++) {
    GroundStream stream = ground_stream_new ("", KIND, &generator);
    gdouble lateral = between (1500, 2000), distance = between (19000, 21000);

    gst_harness_set_src_caps_str (stream.harness, "video/x-raw,format=GRAY16_LE,width=621,height=187,framerate=1/1");
    for (guint frame = 0; frame < 2; frame++, distance -= 10000) {
      GstBuffer *in, *out;

      move_box (&stream, distance, lateral);
      in = ground_stream_matched (&stream, KIND, 0);
      GST_BUFFER_PTS (in) = GST_BUFFER_DTS (in) = GST_BUFFER_DURATION (in) = GST_CLOCK_TIME_NONE;
      fail_unless_equals_int (gst_harness_push (stream.harness, in), GST_FLOW_OK);
      out = gst_harness_pull (stream.harness);
      fail_unless_equals_int (identity (out), (gint) frame);
      gst_buffer_unref (out);
    }
    ground_stream_free (&stream);
  }
}
GST_END_TEST;

/* A gap that is told goes on downstream, and what was known stays known. */
GST_START_TEST (test_gap_event)
{
  GroundStream stream = ground_stream_new ("", KIND, &generator);
  gint id;

  pass (&stream);
  id = pass (&stream);
  fail_unless (id > 0);
  for (guint turn = 0; turn < 20; turn++) {
    GstClockTime start, length = (GstClockTime) random_range (&generator, 1, 40) * FRAME, told, lasts;
    GstEvent *event = NULL;

    start = stream.next;
    while ((event = gst_harness_try_pull_event (stream.harness)))
      gst_event_unref (event);
    fail_unless (gst_harness_push_event (stream.harness, gst_event_new_gap (start, length)));
    event = gst_harness_try_pull_event (stream.harness);
    fail_unless (event && GST_EVENT_TYPE (event) == GST_EVENT_GAP, "no GAP came out");
    gst_event_parse_gap (event, &told, &lasts);
    fail_unless (told == start && lasts == length);
    gst_event_unref (event);
    fail_unless_equals_int (gst_harness_buffers_in_queue (stream.harness), 0);
    stream.next += length;
    fail_unless_equals_int (pass (&stream), id);
  }
  ground_stream_free (&stream);
}
GST_END_TEST;

/* Above 1.5 m, which the box is high, nothing is an obstacle: a curve that steps there is followed in that frame. */
GST_START_TEST (test_controls)
{
  static const gchar *const names[] = { "min-camera-height", "max-camera-height", "min-height", "max-height",
    "max-distance", "min-confidence", "columns" };
  GroundStream stream = ground_stream_new ("", KIND, &generator);
  GstElement *element = stream.harness->element;
  GstControlSource *source = gst_interpolation_control_source_new ();
  guint change = (guint) random_range (&generator, 3, 9);

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    fail_unless (g_object_class_find_property (G_OBJECT_GET_CLASS (element), names[i])->flags & GST_PARAM_CONTROLLABLE,
        "%s is not controllable", names[i]);
  g_object_set (source, "mode", GST_INTERPOLATION_MODE_NONE, NULL);
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), 0, 300);
  gst_timed_value_control_source_set (GST_TIMED_VALUE_CONTROL_SOURCE (source), change * FRAME, 1800);
  fail_unless (gst_object_add_control_binding (
      GST_OBJECT (element), gst_direct_control_binding_new_absolute (GST_OBJECT (element), "min-height", source)));
  gst_object_unref (source);
  for (guint frame = 0; frame < change + 3; frame++) {
    gdouble height;

    /* two of three frames showed it: it is told once more */
    fail_unless_equals_int (pass (&stream) > 0, frame > 0 && frame < change + 1);
    g_object_get (element, "min-height", &height, NULL);
    fail_unless_equals_float (height, frame < change ? 300 : 1800);
  }
  ground_stream_free (&stream);
}
GST_END_TEST;

static Suite *
ground_time_suite (void)
{
  Suite *suite = suite_create ("ground_time");
  TCase *tcase = tcase_create ("general");

  generator.state = random_seed ();
  suite_add_tcase (suite, tcase);
  tcase_set_timeout (tcase, 120);
  tcase_add_test (tcase, test_missing_frames);
  tcase_add_test (tcase, test_framerate);
  tcase_add_test (tcase, test_gap_event);
  tcase_add_test (tcase, test_controls);
  return suite;
}

GST_CHECK_MAIN (ground_time)
