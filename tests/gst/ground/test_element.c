/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stereoground in a stream: metadata, messages, and what makes it forget. */
#include <math.h>

#include "tests/gst/ground/stream.h"
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

#ifdef HAVE_GST_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

static Random generator;

/* ---- what it gives ----------------------------------------------------------------------- */

static void
check_region (GstBuffer *out)
{
  GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) gst_buffer_get_meta (
      out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  gdouble distance, lateral, width, height, probability;

  fail_unless (region != NULL);
  fail_unless_equals_string (g_quark_to_string (region->roi_type), "obstacle");
  fail_unless (region->id >= 1);
  fail_unless (gst_structure_get (gst_video_region_of_interest_meta_get_param (region, "stereo-obstacle"), "distance",
      G_TYPE_DOUBLE, &distance, "lateral", G_TYPE_DOUBLE, &lateral, "width", G_TYPE_DOUBLE, &width, "height",
      G_TYPE_DOUBLE, &height, "probability", G_TYPE_DOUBLE, &probability, NULL));
  fail_unless (fabs (distance - 12000) < 240 && fabs (lateral - 500) < 100, "%g, %g", distance, lateral);
  fail_unless (fabs (width - 1700) < 200 && fabs (height - 1500) < 200, "%g x %g", width, height);
  fail_unless (probability > 0.5 && probability < 0.8);
}

/* The same box as an object of GStreamer's analytics, where those are there. */
static void
check_detection (GstBuffer *out)
{
#ifdef HAVE_GST_ANALYTICS
  const GstVideoRegionOfInterestMeta *region = (const GstVideoRegionOfInterestMeta *) gst_buffer_get_meta (
      out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  GstAnalyticsRelationMeta *relations = gst_buffer_get_analytics_relation_meta (out);
  GstAnalyticsODMtd object;
  gint x, y, width, height;
  gfloat sure;

  fail_unless (relations && gst_analytics_relation_get_length (relations) == 1);
  fail_unless (gst_analytics_relation_meta_get_od_mtd (relations, 0, &object));
  fail_unless (gst_analytics_od_mtd_get_location (&object, &x, &y, &width, &height, &sure));
  fail_unless_equals_string (g_quark_to_string (gst_analytics_od_mtd_get_obj_type (&object)), "obstacle");
  fail_unless (
      x == (gint) region->x && y == (gint) region->y && width == (gint) region->w && height == (gint) region->h);
  fail_unless (sure > 0.5f && sure < 0.8f);
#else
  fail_unless (out != NULL);
#endif
}

/* Every kind of output, odd sizes, padded rows: the same ground and obstacle, and the picture untouched. */
TEST_LOOP (test_kinds, 0, 3)
{
  static const GstStereoOutputKind kinds[] = { GST_STEREO_OUTPUT_KIND_DISPARITY, GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE,
    GST_STEREO_OUTPUT_KIND_DEPTH };

  for (gint padding = 0; padding < 3; padding++) {
    g_auto (GroundStream) stream = ground_stream_new ("", kinds[__i__], &generator);
    g_autoptr (GstBuffer) in = ground_stream_matched (&stream, kinds[__i__], 7 * padding),
                          before = gst_buffer_copy_deep (in), out = NULL;

    gst_buffer_unref (ground_stream_pass (&stream, ground_stream_matched (&stream, kinds[__i__], 7 * padding)));
    /* held by another branch too: its metadata stays as it was, and its memory is passed on */
    const GstMemory *memory = gst_buffer_peek_memory (in, 0);
    gst_buffer_ref (in);
    out = ground_stream_pass (&stream, in);
    fail_unless (gst_buffer_peek_memory (out, 0) == memory, "the picture was copied");
    fail_unless (found_of (in, GST_STEREO_GROUND_META) == NULL);
    fail_unless (gst_buffer_get_stereo_meta (out) != NULL);
    ground_stream_check (out, &stream.scene);
    fail_unless_equals_int (ground_stream_regions (out), 1);
    check_region (out);
    check_detection (out);
    for (guint i = 0; i < 1000; i++) {
      guint8 byte[2] = { 0, 1 };
      gsize at = i * (gst_buffer_get_size (out) / 1000);

      gst_buffer_extract (before, at, &byte[0], 1);
      gst_buffer_extract (out, at, &byte[1], 1);
      fail_unless_equals_int (byte[0], byte[1]);
    }
  }
}

static void
check_times (const GstStructure *message, GstClockTime time)
{
  static const gchar *const fields[] = { "timestamp", "stream-time", "running-time" };
  guint64 value;

  for (guint i = 0; i < G_N_ELEMENTS (fields); i++) {
    fail_unless (gst_structure_get_uint64 (message, fields[i], &value));
    fail_unless_equals_uint64 (value, time);
  }
  fail_unless (gst_structure_get_uint64 (message, "duration", &value));
  fail_unless_equals_uint64 (value, FRAME);
}

TEST (test_message)
{
  g_auto (GroundStream) stream = ground_stream_new ("columns=10", GST_STEREO_OUTPUT_KIND_DISPARITY, &generator);
  gdouble number, nearest;
  gint id, x, y, width, height;
  gboolean ground, seen;

  gst_buffer_unref (ground_stream_pass (&stream, ground_stream_matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0)));
  GstStructure *message = ground_stream_message (&stream);
  fail_unless_equals_int (gst_value_array_get_size (gst_structure_get_value (message, "obstacles")), 0);
  fail_if (gst_structure_has_field (message, "nearest"));
  gst_structure_free (message);
  gst_buffer_unref (ground_stream_pass (&stream, ground_stream_matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0)));
  message = ground_stream_message (&stream);
  check_times (message, FRAME);
  fail_unless (gst_structure_get_boolean (message, "ground", &ground) && ground);
  fail_unless (gst_structure_get_double (message, "camera-height", &number) && fabs (number - 1650) < 33);
  fail_unless (gst_structure_get_double (message, "pitch", &number) && fabs (number - 1) < 0.2);
  fail_unless (gst_structure_get_double (message, "roll", &number) && fabs (number - 0.5) < 0.3);
  fail_unless (gst_structure_get_double (message, "quality", &number) && number > 0.3);
  fail_unless (gst_structure_get_double (message, "judged", &number) && number > 0.4);
  fail_unless (gst_structure_get_double (message, "nearest", &nearest) && fabs (nearest - 12000) < 240);
  fail_unless_equals_int (gst_value_array_get_size (gst_structure_get_value (message, "free")), 10);
  const GValue *all = gst_structure_get_value (message, "obstacles");
  fail_unless_equals_int (gst_value_array_get_size (all), 1);
  const GstStructure *one = gst_value_get_structure (gst_value_array_get_value (all, 0));
  fail_unless (gst_structure_get (one, "id", G_TYPE_INT, &id, "x", G_TYPE_INT, &x, "y", G_TYPE_INT, &y, "width",
      G_TYPE_INT, &width, "height", G_TYPE_INT, &height, "seen", G_TYPE_BOOLEAN, &seen, NULL));
  fail_unless (id >= 1 && seen && x >= 0 && y >= 0 && x + width <= 621 && y + height <= 187);
  fail_unless (gst_structure_get_double (one, "distance", &number) && number == nearest);
  fail_unless (
      gst_structure_get_double (one, "lateral", &number) && gst_structure_get_double (one, "probability", &number));
  fail_unless (gst_structure_get_double (one, "object-width", &number) && fabs (number - 1700) < 200);
  fail_unless (gst_structure_get_double (one, "object-height", &number) && fabs (number - 1500) < 200);
  gst_structure_free (message);
}

/* The lowest row shows the ground where a camera of that height and pitch sees it. What is nearer is in the blind zone: a
 * warning says so once. */
TEST_LOOP (test_blind_zone, 0, 2)
{
  g_auto (GroundStream) stream = ground_stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY, &generator);
  gdouble down = atan (93 / stream.scene.focal) + stream.scene.pitch * G_PI / 180, from = 1650 / tan (down);
  const gdouble distance = __i__ ? 0.98 * from : 1.02 * from;

  g_object_set (stream.harness->element, "warn-distance", distance, NULL);
  for (guint frame = 0; frame < 3; frame++) {
    g_autoptr (GstBuffer) out = ground_stream_pass (
        &stream, ground_stream_matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0));
    const GstStructure *meta = found_of (out, GST_STEREO_GROUND_META);
    g_autoptr (GstStructure) message = NULL;

    fail_unless (fabs (found_number (meta, "ground-from") / from - 1) < 0.015, "%g, not %g",
        found_number (meta, "ground-from"), from);
    fail_unless (fabs (found_number (meta, "unseen-height") - MAX (0, 1650 * (1 - distance / from))) < 30);
    if (__i__ && frame == 0)
      expect_warning (stream.bus, "blind zone", "sees the ground from 6.0 m on", "larger warn-distance", NULL);
    message = ground_stream_message (&stream);
    fail_unless_equals_float (found_number (message, "ground-from"), found_number (meta, "ground-from"));
    fail_unless_equals_float (found_number (message, "corridor"), 3000);
  }
  fail_unless (gst_bus_pop_filtered (stream.bus, GST_MESSAGE_WARNING) == NULL);
}

/* How old the frame is, by the clock of a live pipeline. */
TEST (test_age)
{
  g_auto (GroundStream) stream = ground_stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY, &generator);
  guint64 age = 0;

  gst_harness_use_testclock (stream.harness);
  gst_harness_set_time (stream.harness, 7 * GST_SECOND);
  stream.next = 2 * GST_SECOND;
  gst_buffer_unref (ground_stream_pass (&stream, ground_stream_matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0)));
  g_autoptr (GstStructure) message = ground_stream_message (&stream);
  fail_unless (gst_structure_get_uint64 (message, "age", &age));
  fail_unless_equals_uint64 (age, 5 * GST_SECOND);
}

/* At most one in a second, but for what is new: the first obstacle, the ground that goes, a fault. Where time goes backwards,
 * it is another second. */
TEST (test_message_interval)
{
  g_auto (GroundStream) stream = ground_stream_new (
      "message-interval=1000000000", GST_STEREO_OUTPUT_KIND_DISPARITY, &generator);
  guint count = 0;
  gboolean ground;
  GstStructure *message;

  for (guint i = 0; i < 51; i++) {
    gst_buffer_unref (
        ground_stream_pass (&stream, ground_stream_matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0)));
    message = ground_stream_message (&stream);
    count += message != NULL;
    fail_unless_equals_int (message != NULL, i == 0 || i == 1 || i == 26);
    g_clear_pointer (&message, gst_structure_free);
  }
  fail_unless_equals_int (count, 3);
  stream.next = 0;
  gst_buffer_unref (ground_stream_pass (&stream, ground_stream_matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0)));
  message = ground_stream_message (&stream);
  fail_unless (message != NULL);
  gst_structure_free (message);
  made_picture_blank (stream.picture, 0, 0, 621, 187);
  gst_buffer_unref (ground_stream_pass (&stream, ground_stream_matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0)));
  message = ground_stream_message (&stream);
  fail_unless (message && gst_structure_get_boolean (message, "ground", &ground) && !ground);
  fail_if (gst_structure_has_field (message, "pitch"));
  gst_structure_free (message);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *in = ground_stream_matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0);

    gst_buffer_get_stereo_meta (in)->health = GST_STEREO_HEALTH_BLACK_LEFT;
    gst_buffer_unref (ground_stream_pass (&stream, in));
    message = ground_stream_message (&stream);
    fail_unless_equals_int (message != NULL, i == 0);
    g_clear_pointer (&message, gst_structure_free);
  }
}

/* ---- forgetting -------------------------------------------------------------------------- */

/* An obstacle is reported from the second frame on: what was forgotten starts anew. */
static void
check_second_reports (GroundStream *stream)
{
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GstBuffer) out = ground_stream_pass (
        stream, ground_stream_matched (stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0));

    fail_unless_equals_int (ground_stream_regions (out), i);
  }
}

/* Frames that were dropped leave a gap and a DISCONT: after a short one all is known, after a long one nothing. */
TEST (test_gaps)
{
  g_auto (GroundStream) stream = ground_stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY, &generator);
  static const GstClockTime gaps[] = { GST_SECOND / 10, GST_SECOND / 2, GST_SECOND / 2 + FRAME };

  check_second_reports (&stream);
  for (guint i = 0; i < G_N_ELEMENTS (gaps); i++) {
    GstBuffer *in = ground_stream_matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0), *out;

    stream.next += gaps[i];
    GST_BUFFER_FLAG_SET (in, GST_BUFFER_FLAG_DISCONT);
    out = ground_stream_pass (&stream, in);
    fail_unless_equals_int (ground_stream_regions (out), gaps[i] <= GST_SECOND / 2);
    gst_buffer_unref (out);
  }
}

TEST (test_forgets)
{
  g_auto (GroundStream) stream = ground_stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY, &generator);

  check_second_reports (&stream);
  GstBuffer *in = ground_stream_matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0);
  GST_BUFFER_FLAG_SET (in, GST_BUFFER_FLAG_DISCONT);
  GstBuffer *out = ground_stream_pass (&stream, in);
  fail_unless_equals_int (ground_stream_regions (out), 0);
  gst_buffer_unref (out);

  flush_stream (stream.harness);
  check_second_reports (&stream);

  /* other caps, and these again: the frame between is another picture */
  ground_stream_set_caps (&stream, GST_VIDEO_FORMAT_GRAY8, 621, 187);
  gst_buffer_unref (
      ground_stream_pass (&stream, ground_stream_matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE, 0)));
  ground_stream_set_caps (&stream, GST_VIDEO_FORMAT_GRAY16_LE, 621, 187);
  out = ground_stream_pass (&stream, ground_stream_matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0));
  fail_unless_equals_int (ground_stream_regions (out), 0);
  gst_buffer_unref (out);
}

/* ---- properties -------------------------------------------------------------------------- */

TEST (test_properties_at_work)
{
  static const struct
  {
    const gchar *set;
    gboolean ground;
    guint obstacles;
  } cases[] = { { "min-height=1800", TRUE, 0 }, { "min-height=1000", TRUE, 1 }, { "max-distance=10000", TRUE, 0 },
    { "max-distance=50000 min-confidence=0.9", FALSE, 0 }, { "min-confidence=0.7", TRUE, 1 },
    /* pixels have 200 of 255 */
    { "min-confidence=0.785", FALSE, 0 }, { "min-confidence=0.784", TRUE, 1 }, { "max-camera-height=1000", FALSE, 0 },
    { "max-camera-height=2000", TRUE, 1 } };
  g_auto (GroundStream) stream = ground_stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY, &generator);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *out = NULL;

    set_properties (stream.harness->element, cases[i].set);
    for (guint frame = 0; frame < 4; frame++) {
      gst_clear_buffer (&out);
      out = ground_stream_pass (&stream, ground_stream_matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0));
    }
    fail_unless_equals_int (ground_stream_has (out), cases[i].ground);
    fail_unless (ground_stream_regions (out) == cases[i].obstacles, "%s: %u obstacles", cases[i].set,
        ground_stream_regions (out));
    gst_buffer_unref (out);
  }
}

/* In depth that cannot be relied on there is no ground, nothing stands on it, nothing is free, and the message says why. */
TEST (test_unreliable_depth)
{
  g_auto (GroundStream) stream = ground_stream_new ("columns=10", GST_STEREO_OUTPUT_KIND_DISPARITY, &generator);

  for (guint frame = 0; frame < 6; frame++) {
    GstBuffer *in = ground_stream_matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0), *out;
    gboolean unreliable = frame == 3, ground;

    gst_buffer_get_stereo_meta (in)->health = unreliable ? GST_STEREO_HEALTH_COVERED_LEFT : GST_STEREO_HEALTH_SLOW;
    out = ground_stream_pass (&stream, in);
    g_autoptr (GstStructure) message = ground_stream_message (&stream);
    fail_unless (gst_structure_get_boolean (message, "ground", &ground) && ground == !unreliable);
    fail_unless_equals_string (gst_structure_get_string (message, "reason"), unreliable ? "left camera covered" : NULL);
    fail_unless_equals_int (ground_stream_has (out), !unreliable);
    if (unreliable) {
      for (guint i = 0; i < 10; i++)
        fail_unless_equals_float (ground_stream_column (out, i, 10), -1);
      fail_unless_equals_int (ground_stream_regions (out), 0);
    }
    gst_buffer_unref (out);
  }
}

SUITE (ground)
{
  generator.state = random_seed ();
}
