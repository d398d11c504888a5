/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stereoground in a stream: metadata, messages, what makes it forget, what it refuses, and what it warns of. */
#include <math.h>

#include "tests/gst/ground/made.h"
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

#ifdef HAVE_GST_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

/* ---- the stream -------------------------------------------------------------------------- */

static Random generator;

static const MadeErrors usual = { .noise = 0.3, .outliers = 0.02, .holes = 0.05 };

typedef struct
{
  GstHarness *harness;
  GstBus *bus;
  MadeScene scene;
  MadePicture *picture;
  gint width, height; /* of the stream */
  GstClockTime next;
} Stream;

static GstVideoFormat
stream_format (GstStereoOutputKind kind)
{
  return kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? GST_VIDEO_FORMAT_GRAY8 : GST_VIDEO_FORMAT_GRAY16_LE;
}

static void
stream_set_caps (Stream *stream, GstVideoFormat format, gint width, gint height)
{
  harness_set_caps (stream->harness, format, width, height, NULL);
  stream->width = width;
  stream->height = height;
}

/* A road with one box, of an odd size. */
static Stream
stream_new (const gchar *properties, GstStereoOutputKind kind)
{
  Stream stream = { .scene = made_road () };

  stream.harness = filter_new ("stereoground", properties, &stream.bus);
  stream.scene.width = 621;
  stream.scene.height = 187;
  stream.scene.focal /= 2;
  stream.scene.boxes[0] = (MadeBox){ 12000, 500, 1700, 1500, 0 };
  stream.picture = made_picture_new (&stream.scene);
  made_picture_spoil (stream.picture, &usual, &generator);
  stream_set_caps (&stream, stream_format (kind), stream.scene.width, stream.scene.height);
  return stream;
}

static void
stream_free (Stream *stream)
{
  filter_free (stream->harness, stream->bus);
  made_picture_free (stream->picture);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stream, stream_free)

/* A sample of the picture as another kind of output has it. */
static guint
converted (const MadePicture *picture, GstStereoOutputKind kind, gsize i)
{
  gdouble disparity = GUINT16_FROM_LE (picture->samples[i]) / picture->meta.disparity_scale;

  if (disparity <= 0 || kind == GST_STEREO_OUTPUT_KIND_DISPARITY)
    return GUINT16_FROM_LE (picture->samples[i]);
  if (kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE)
    return 1 + (guint) CLAMP (disparity * 254 / 128 + 0.5, 0, 254);
  return (guint) CLAMP (picture->meta.focal_length * picture->meta.baseline / disparity + 0.5, 1, 65535);
}

/* The picture as a buffer with metadata, rows padded by @padding bytes. */
static GstBuffer *
stream_matched (Stream *stream, GstStereoOutputKind kind, gint padding)
{
  const MadePicture *picture = stream->picture;
  guint width = picture->meta.width, height = picture->meta.height;
  GstVideoInfo info;
  GstVideoFrame frame;

  fail_unless (gst_video_info_set_format (&info, stream_format (kind), width, height));
  GstBuffer *buffer = new_frame (&info, padding);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE));
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++) {
      guint8 *row = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
      guint sample = converted (picture, kind, y * width + x);

      if (kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE)
        row[x] = (guint8) sample;
      else
        GST_WRITE_UINT16_LE (row + 2 * x, sample);
    }
  gst_video_frame_unmap (&frame);
  GstBuffer *confidence = gst_buffer_new_allocate (NULL, GST_ROUND_UP_4 (width) * height, NULL);
  gst_buffer_memset (confidence, 0, 200, (gsize) -1);
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (buffer, width, height, confidence);
  gst_buffer_unref (confidence);
  meta->kind = kind;
  meta->disparity_scale = kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? 254 / 128.0 : picture->meta.disparity_scale;
  meta->focal_length = picture->meta.focal_length;
  meta->baseline = picture->meta.baseline;
  return buffer;
}

static GstBuffer *
stream_pass (Stream *stream, GstBuffer *buffer)
{
  stamp (buffer, stream->next, FRAME);
  stream->next += FRAME;
  fail_unless_equals_int (gst_harness_push (stream->harness, buffer), GST_FLOW_OK);
  return gst_harness_pull (stream->harness);
}

static GstBuffer *
usual_depth (Stream *stream)
{
  return stream_matched (stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0);
}

static GstBuffer *
pass_usual (Stream *stream)
{
  return stream_pass (stream, usual_depth (stream));
}

/* The next message about a frame; gst_structure_free() it. */
static GstStructure *
stream_message (Stream *stream)
{
  GstMessage *message;
  GstStructure *copy = NULL;

  while (!copy && (message = gst_bus_pop_filtered (stream->bus, GST_MESSAGE_ELEMENT))) {
    if (gst_message_has_name (message, "stereo-obstacles"))
      copy = gst_structure_copy (gst_message_get_structure (message));
    gst_message_unref (message);
  }
  return copy;
}

static guint
stream_regions (GstBuffer *buffer)
{
  return gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

static gboolean
stream_has (GstBuffer *out)
{
  gboolean ground = -1;

  fail_unless (gst_structure_get_boolean (found_of (out, GST_STEREO_GROUND_META), "ground", &ground));
  return ground;
}

static gdouble
stream_column (GstBuffer *out, guint column, guint count)
{
  const GValue *all = gst_structure_get_value (found_of (out, GST_STEREO_GROUND_META), "free-distances");

  fail_unless_equals_int (gst_value_array_get_size (all), count);
  return g_value_get_double (gst_value_array_get_value (all, column));
}

static void
check_number (const GstStructure *structure, const gchar *field, gdouble number, gdouble most)
{
  fail_unless (fabs (found_number (structure, field) - number) < most, "%s: %g", field, found_number (structure, field));
}

static void
check_ground (GstBuffer *out, const MadeScene *scene)
{
  const GstStructure *meta = found_of (out, GST_STEREO_GROUND_META);
  gdouble quality = found_number (meta, "quality"), judged = found_number (meta, "judged");

  fail_unless (stream_has (out));
  check_number (meta, "camera-height", scene->camera_height, 0.02 * scene->camera_height);
  check_number (meta, "pitch", scene->pitch, 0.2);
  check_number (meta, "roll", scene->roll, 0.3);
  fail_unless (quality > 0.3 && quality <= 1);
  fail_unless (judged > 0.4 && judged < 0.7, "judged %g", judged);
  gdouble open = stream_column (out, 5, 64), closed = stream_column (out, 34, 64);
  fail_unless (open > 30000 && closed > 9000 && closed < 12100, "%g, %g", open, closed);
}

/* ---- what it gives ----------------------------------------------------------------------- */

static void
check_region (GstBuffer *out)
{
  GstVideoRegionOfInterestMeta *region = (GstVideoRegionOfInterestMeta *) gst_buffer_get_meta (
      out, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);

  fail_unless (region != NULL);
  fail_unless_equals_string (g_quark_to_string (region->roi_type), "obstacle");
  fail_unless (region->id >= 1);
  const GstStructure *obstacle = gst_video_region_of_interest_meta_get_param (region, "stereo-obstacle");
  check_number (obstacle, "distance", 12000, 240);
  check_number (obstacle, "lateral", 500, 100);
  check_number (obstacle, "width", 1700, 200);
  check_number (obstacle, "height", 1500, 200);
  check_number (obstacle, "probability", 0.65, 0.15);
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
    g_auto (Stream) stream = stream_new ("", kinds[__i__]);
    g_autoptr (GstBuffer) in = stream_matched (&stream, kinds[__i__], 7 * padding), before = gst_buffer_copy_deep (in),
                          out = NULL;

    gst_buffer_unref (stream_pass (&stream, stream_matched (&stream, kinds[__i__], 7 * padding)));
    /* held by another branch too: its metadata stays as it was, and its memory is passed on */
    const GstMemory *memory = gst_buffer_peek_memory (in, 0);
    gst_buffer_ref (in);
    out = stream_pass (&stream, in);
    fail_unless (gst_buffer_peek_memory (out, 0) == memory, "the picture was copied");
    fail_unless (found_of (in, GST_STEREO_GROUND_META) == NULL);
    fail_unless (gst_buffer_get_stereo_meta (out) != NULL);
    check_ground (out, &stream.scene);
    fail_unless_equals_int (stream_regions (out), 1);
    check_region (out);
    check_detection (out);
    fail_unless (buffers_equal (before, out));
  }
}

TEST (test_message)
{
  static const gchar *const times[] = { "timestamp", "stream-time", "running-time", "duration" };
  g_auto (Stream) stream = stream_new ("columns=10", GST_STEREO_OUTPUT_KIND_DISPARITY);
  gint id, x, y, width, height;
  gboolean ground, seen;

  gst_buffer_unref (pass_usual (&stream));
  GstStructure *message = stream_message (&stream);
  fail_unless_equals_int (gst_value_array_get_size (gst_structure_get_value (message, "obstacles")), 0);
  fail_if (gst_structure_has_field (message, "nearest"));
  gst_structure_free (message);
  gst_buffer_unref (pass_usual (&stream));
  message = stream_message (&stream);
  for (guint i = 0; i < G_N_ELEMENTS (times); i++) {
    guint64 time = 0;
    fail_unless (gst_structure_get_uint64 (message, times[i], &time) && time == FRAME, "%s", times[i]);
  }
  fail_unless (gst_structure_get_boolean (message, "ground", &ground) && ground);
  check_number (message, "camera-height", 1650, 33);
  check_number (message, "pitch", 1, 0.2);
  check_number (message, "roll", 0.5, 0.3);
  check_number (message, "nearest", 12000, 240);
  fail_unless (found_number (message, "quality") > 0.3 && found_number (message, "judged") > 0.4);
  fail_unless_equals_int (gst_value_array_get_size (gst_structure_get_value (message, "free")), 10);
  const GValue *all = gst_structure_get_value (message, "obstacles");
  fail_unless_equals_int (gst_value_array_get_size (all), 1);
  const GstStructure *one = gst_value_get_structure (gst_value_array_get_value (all, 0));
  fail_unless (gst_structure_get (one, "id", G_TYPE_INT, &id, "x", G_TYPE_INT, &x, "y", G_TYPE_INT, &y, "width",
      G_TYPE_INT, &width, "height", G_TYPE_INT, &height, "seen", G_TYPE_BOOLEAN, &seen, NULL));
  fail_unless (id >= 1 && seen && x >= 0 && y >= 0 && x + width <= 621 && y + height <= 187);
  fail_unless_equals_float (found_number (one, "distance"), found_number (message, "nearest"));
  check_number (one, "lateral", 500, 100);
  check_number (one, "probability", 0.65, 0.15);
  check_number (one, "object-width", 1700, 200);
  check_number (one, "object-height", 1500, 200);
  gst_structure_free (message);
}

/* The lowest row shows the ground where a camera of that height and pitch sees it. What is nearer is in the blind zone: a
 * warning says so once. */
TEST_LOOP (test_blind_zone, 0, 2)
{
  g_auto (Stream) stream = stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY);
  gdouble down = atan (93 / stream.scene.focal) + stream.scene.pitch * G_PI / 180, from = 1650 / tan (down);
  const gdouble distance = __i__ ? 0.98 * from : 1.02 * from;

  g_object_set (stream.harness->element, "warn-distance", distance, NULL);
  for (guint frame = 0; frame < 3; frame++) {
    g_autoptr (GstBuffer) out = pass_usual (&stream);
    const GstStructure *meta = found_of (out, GST_STEREO_GROUND_META);
    g_autoptr (GstStructure) message = NULL;

    fail_unless (fabs (found_number (meta, "ground-from") / from - 1) < 0.015, "%g, not %g",
        found_number (meta, "ground-from"), from);
    fail_unless (fabs (found_number (meta, "unseen-height") - MAX (0, 1650 * (1 - distance / from))) < 30);
    if (__i__ && frame == 0)
      expect_warning (stream.bus, "blind zone", "sees the ground from 6.0 m on", "larger warn-distance", NULL);
    message = stream_message (&stream);
    fail_unless_equals_float (found_number (message, "ground-from"), found_number (meta, "ground-from"));
    fail_unless_equals_float (found_number (message, "corridor"), 3000);
  }
  fail_unless (gst_bus_pop_filtered (stream.bus, GST_MESSAGE_WARNING) == NULL);
}

/* How old the frame is, by the clock of a live pipeline. */
TEST (test_age)
{
  g_auto (Stream) stream = stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY);
  guint64 age = 0;

  gst_harness_use_testclock (stream.harness);
  gst_harness_set_time (stream.harness, 7 * GST_SECOND);
  stream.next = 2 * GST_SECOND;
  gst_buffer_unref (pass_usual (&stream));
  g_autoptr (GstStructure) message = stream_message (&stream);
  fail_unless (gst_structure_get_uint64 (message, "age", &age));
  fail_unless_equals_uint64 (age, 5 * GST_SECOND);
}

/* At most one in a second, but for what is new: the first obstacle, the ground that goes, a fault. Where time goes backwards,
 * it is another second. */
TEST (test_message_interval)
{
  g_auto (Stream) stream = stream_new ("message-interval=1000000000", GST_STEREO_OUTPUT_KIND_DISPARITY);
  guint count = 0;
  gboolean ground;
  GstStructure *message;

  for (guint i = 0; i < 51; i++) {
    gst_buffer_unref (pass_usual (&stream));
    message = stream_message (&stream);
    count += message != NULL;
    fail_unless_equals_int (message != NULL, i == 0 || i == 1 || i == 26);
    g_clear_pointer (&message, gst_structure_free);
  }
  fail_unless_equals_int (count, 3);
  stream.next = 0;
  gst_buffer_unref (pass_usual (&stream));
  message = stream_message (&stream);
  fail_unless (message != NULL);
  gst_structure_free (message);
  made_picture_blank (stream.picture, 0, 0, 621, 187);
  gst_buffer_unref (pass_usual (&stream));
  message = stream_message (&stream);
  fail_unless (message && gst_structure_get_boolean (message, "ground", &ground) && !ground);
  fail_if (gst_structure_has_field (message, "pitch"));
  gst_structure_free (message);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *in = usual_depth (&stream);

    gst_buffer_get_stereo_meta (in)->health = GST_STEREO_HEALTH_BLACK_LEFT;
    gst_buffer_unref (stream_pass (&stream, in));
    message = stream_message (&stream);
    fail_unless_equals_int (message != NULL, i == 0);
    g_clear_pointer (&message, gst_structure_free);
  }
}

/* ---- forgetting -------------------------------------------------------------------------- */

/* An obstacle is reported from the second frame on: what was forgotten starts anew. */
static void
check_second_reports (Stream *stream)
{
  for (guint i = 0; i < 2; i++) {
    g_autoptr (GstBuffer) out = pass_usual (stream);

    fail_unless_equals_int (stream_regions (out), i);
  }
}

/* Frames that were dropped leave a gap and a DISCONT: after a short one all is known, after a long one nothing. */
TEST (test_gaps)
{
  g_auto (Stream) stream = stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY);
  static const GstClockTime gaps[] = { GST_SECOND / 10, GST_SECOND / 2, GST_SECOND / 2 + FRAME };

  check_second_reports (&stream);
  for (guint i = 0; i < G_N_ELEMENTS (gaps); i++) {
    GstBuffer *in = usual_depth (&stream), *out;

    stream.next += gaps[i];
    GST_BUFFER_FLAG_SET (in, GST_BUFFER_FLAG_DISCONT);
    out = stream_pass (&stream, in);
    fail_unless_equals_int (stream_regions (out), gaps[i] <= GST_SECOND / 2);
    gst_buffer_unref (out);
  }
}

TEST (test_forgets)
{
  g_auto (Stream) stream = stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY);

  check_second_reports (&stream);
  GstBuffer *in = usual_depth (&stream);
  GST_BUFFER_FLAG_SET (in, GST_BUFFER_FLAG_DISCONT);
  GstBuffer *out = stream_pass (&stream, in);
  fail_unless_equals_int (stream_regions (out), 0);
  gst_buffer_unref (out);

  flush_stream (stream.harness);
  check_second_reports (&stream);

  /* other caps, and these again: the frame between is another picture */
  stream_set_caps (&stream, GST_VIDEO_FORMAT_GRAY8, 621, 187);
  gst_buffer_unref (stream_pass (&stream, stream_matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE, 0)));
  stream_set_caps (&stream, GST_VIDEO_FORMAT_GRAY16_LE, 621, 187);
  out = pass_usual (&stream);
  fail_unless_equals_int (stream_regions (out), 0);
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
    { "min-confidence=0.785", FALSE, 0 }, { "min-confidence=0.784", TRUE, 1 }, { "max-camera-height=1600", FALSE, 0 },
    { "max-camera-height=1700", TRUE, 1 }, { "min-camera-height=1690", FALSE, 0 },
    { "min-camera-height=1600", TRUE, 1 } };
  g_auto (Stream) stream = stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *out = NULL;

    set_properties (stream.harness->element, cases[i].set);
    for (guint frame = 0; frame < 4; frame++) {
      gst_clear_buffer (&out);
      out = pass_usual (&stream);
    }
    fail_unless_equals_int (stream_has (out), cases[i].ground);
    fail_unless (stream_regions (out) == cases[i].obstacles, "%s: %u obstacles", cases[i].set, stream_regions (out));
    gst_buffer_unref (out);
  }
}

/* In depth that cannot be relied on there is no ground, nothing stands on it, nothing is free, and the message says why. */
TEST (test_unreliable_depth)
{
  g_auto (Stream) stream = stream_new ("columns=10", GST_STEREO_OUTPUT_KIND_DISPARITY);

  for (guint frame = 0; frame < 6; frame++) {
    GstBuffer *in = usual_depth (&stream), *out;
    gboolean unreliable = frame == 3, ground;

    gst_buffer_get_stereo_meta (in)->health = unreliable ? GST_STEREO_HEALTH_COVERED_LEFT : GST_STEREO_HEALTH_SLOW;
    out = stream_pass (&stream, in);
    g_autoptr (GstStructure) message = stream_message (&stream);
    fail_unless (gst_structure_get_boolean (message, "ground", &ground) && ground == !unreliable);
    fail_unless_equals_string (gst_structure_get_string (message, "reason"), unreliable ? "left camera covered" : NULL);
    fail_unless_equals_int (stream_has (out), !unreliable);
    if (unreliable) {
      for (guint i = 0; i < 10; i++)
        fail_unless_equals_float (stream_column (out, i, 10), -1);
      fail_unless_equals_int (stream_regions (out), 0);
    }
    gst_buffer_unref (out);
  }
}

/* ---- errors ------------------------------------------------------------------------------ */

/* Every valid pixel counts, and a warning says so once after each start. */
TEST (test_without_confidence)
{
  g_auto (Stream) stream = stream_new ("min-confidence=0.9", GST_STEREO_OUTPUT_KIND_DISPARITY);

  for (guint i = 0; i < 6; i++) {
    GstBuffer *in = usual_depth (&stream), *out;

    if (i == 3) {
      gst_element_set_state (stream.harness->element, GST_STATE_READY);
      gst_element_set_state (stream.harness->element, GST_STATE_PLAYING);
      gst_harness_push_event (stream.harness, gst_event_new_stream_start ("again"));
      stream_set_caps (&stream, GST_VIDEO_FORMAT_GRAY16_LE, stream.width, stream.height);
    }
    gst_buffer_replace (&gst_buffer_get_stereo_meta (in)->confidence, NULL);
    out = stream_pass (&stream, in);
    fail_unless (stream_has (out));
    gst_buffer_unref (out);
    if (i % 3 == 0)
      expect_warning (stream.bus, "no confidence", "every valid pixel", NULL);
  }
  fail_unless (gst_bus_pop_filtered (stream.bus, GST_MESSAGE_WARNING) == NULL);
}

/* Values that exclude each other: at the start, and while it runs. */
TEST (test_values_that_exclude_each_other)
{
  g_auto (Stream) stream = stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY);
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
  fail_unless_equals_int (gst_harness_push (stream.harness, usual_depth (&stream)), GST_FLOW_ERROR);
  expect_error (stream.bus, "min-height=4000", "max-height=4000: set min-height below", NULL);
}

SUITE (ground)
{
  generator.state = random_seed ();
}
