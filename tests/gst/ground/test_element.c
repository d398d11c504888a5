/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stereoground in a stream: metadata, messages, errors, and what makes it forget. */
#include <gst/video/video.h>

#include <math.h>

#include "gst/meta/gststereoground.h"
#include "tests/gst/ground/made.h"
#include "tests/support/gst/util.h"

#ifdef HAVE_GST_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

static const MadeErrors usual = { .noise = 0.3, .outliers = 0.02, .holes = 0.05 };

static Random generator;

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
format_of (GstStereoOutputKind kind)
{
  return kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? GST_VIDEO_FORMAT_GRAY8 : GST_VIDEO_FORMAT_GRAY16_LE;
}

static void
set_caps (Stream *stream, GstVideoFormat format, gint width, gint height)
{
  gchar *caps = make_caps (format, width, height, NULL);

  gst_harness_set_src_caps_str (stream->harness, caps);
  stream->width = width;
  stream->height = height;
  g_free (caps);
}

/* A road with one box, of an odd size. */
static Stream
stream_new (const gchar *properties, GstStereoOutputKind kind)
{
  Stream stream = { .bus = gst_bus_new (), .scene = made_road () };
  GstElement *element = gst_element_factory_make ("stereoground", "g");

  fail_unless (element != NULL, "no stereoground: is GST_PLUGIN_PATH right?");
  gst_object_ref_sink (element);
  set_properties (element, properties);
  gst_element_set_bus (element, stream.bus);
  stream.harness = gst_harness_new_with_element (element, "sink", "src");
  gst_object_unref (element);
  stream.scene.width = 621;
  stream.scene.height = 187;
  stream.scene.focal /= 2;
  stream.scene.boxes[0] = (MadeBox){ 12000, 500, 1700, 1500, 0 };
  stream.picture = made_picture_new (&stream.scene);
  made_picture_spoil (stream.picture, &usual, &generator);
  set_caps (&stream, format_of (kind), stream.scene.width, stream.scene.height);
  return stream;
}

static void
stream_free (Stream *stream)
{
  gst_element_set_bus (stream->harness->element, NULL);
  gst_harness_teardown (stream->harness);
  gst_bus_set_flushing (stream->bus, TRUE);
  gst_object_unref (stream->bus);
  made_picture_free (stream->picture);
}

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
matched (Stream *stream, GstStereoOutputKind kind, gint padding)
{
  const MadePicture *picture = stream->picture;
  guint width = picture->meta.width, height = picture->meta.height;
  GstBuffer *confidence, *buffer;
  GstStereoMeta *meta;
  GstVideoInfo info;
  GstVideoFrame frame;

  fail_unless (gst_video_info_set_format (&info, format_of (kind), width, height));
  buffer = new_frame (&info, padding);
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
  confidence = gst_buffer_new_allocate (NULL, GST_ROUND_UP_4 (width) * height, NULL);
  gst_buffer_memset (confidence, 0, 200, (gsize) -1);
  meta = gst_buffer_add_stereo_meta (buffer, width, height, confidence);
  gst_buffer_unref (confidence);
  meta->kind = kind;
  meta->disparity_scale = kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? 254 / 128.0 : picture->meta.disparity_scale;
  meta->focal_length = picture->meta.focal_length;
  meta->baseline = picture->meta.baseline;
  return buffer;
}

static GstBuffer *
pass (Stream *stream, GstBuffer *buffer)
{
  stamp (buffer, stream->next, FRAME);
  stream->next += FRAME;
  fail_unless_equals_int (gst_harness_push (stream->harness, buffer), GST_FLOW_OK);
  return gst_harness_pull (stream->harness);
}

/* The next message about a frame; gst_structure_free() it. */
static GstStructure *
said (Stream *stream)
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
regions (GstBuffer *buffer)
{
  return gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

static void
check_ground (GstBuffer *out, const MadeScene *scene)
{
  GstStereoGroundMeta *meta = gst_buffer_get_stereo_ground_meta (out);
  const gdouble *distances;
  guint count;

  fail_unless (meta != NULL && meta->valid);
  fail_unless (fabs (meta->camera_height / scene->camera_height - 1) < 0.02, "%g mm", meta->camera_height);
  fail_unless (fabs (meta->pitch - scene->pitch) < 0.2, "pitch %g", meta->pitch);
  fail_unless (fabs (meta->roll - scene->roll) < 0.3, "roll %g", meta->roll);
  fail_unless (meta->quality > 0.3 && meta->quality <= 1);
  fail_unless (meta->judged > 0.4 && meta->judged < 0.7, "judged %g", meta->judged);
  distances = gst_stereo_ground_meta_get_free_distances (meta, &count);
  fail_unless_equals_int (count, 64);
  fail_unless (
      distances[5] > 30000 && distances[34] > 9000 && distances[34] < 12100, "%g, %g", distances[5], distances[34]);
}

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
GST_START_TEST (test_kinds)
{
  static const GstStereoOutputKind kinds[] = { GST_STEREO_OUTPUT_KIND_DISPARITY, GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE,
    GST_STEREO_OUTPUT_KIND_DEPTH };

  for (gint padding = 0; padding < 3; padding++) {
    Stream stream = stream_new ("", kinds[__i__]);
    GstBuffer *in = matched (&stream, kinds[__i__], 7 * padding), *before = gst_buffer_copy_deep (in), *out;
    const GstMemory *memory;

    gst_buffer_unref (pass (&stream, matched (&stream, kinds[__i__], 7 * padding)));
    /* held by another branch too: its metadata stays as it was, and its memory is passed on */
    memory = gst_buffer_peek_memory (in, 0);
    gst_buffer_ref (in);
    out = pass (&stream, in);
    fail_unless (gst_buffer_peek_memory (out, 0) == memory, "the picture was copied");
    fail_unless (gst_buffer_get_stereo_ground_meta (in) == NULL);
    fail_unless (gst_buffer_get_stereo_meta (out) != NULL);
    check_ground (out, &stream.scene);
    fail_unless_equals_int (regions (out), 1);
    check_region (out);
    check_detection (out);
    for (guint i = 0; i < 1000; i++) {
      guint8 byte[2] = { 0, 1 };
      gsize at = i * (gst_buffer_get_size (out) / 1000);

      gst_buffer_extract (before, at, &byte[0], 1);
      gst_buffer_extract (out, at, &byte[1], 1);
      fail_unless_equals_int (byte[0], byte[1]);
    }
    gst_buffer_unref (in);
    gst_buffer_unref (before);
    gst_buffer_unref (out);
    stream_free (&stream);
  }
}
GST_END_TEST;

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

GST_START_TEST (test_message)
{
  Stream stream = stream_new ("columns=10", GST_STEREO_OUTPUT_KIND_DISPARITY);
  gdouble number, nearest;
  GstStructure *message;
  const GstStructure *one;
  const GValue *all;
  gint id, x, y, width, height;
  gboolean ground, seen;

  gst_buffer_unref (pass (&stream, matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0)));
  message = said (&stream);
  fail_unless_equals_int (gst_value_array_get_size (gst_structure_get_value (message, "obstacles")), 0);
  fail_if (gst_structure_has_field (message, "nearest"));
  gst_structure_free (message);
  gst_buffer_unref (pass (&stream, matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0)));
  message = said (&stream);
  check_times (message, FRAME);
  fail_unless (gst_structure_get_boolean (message, "ground", &ground) && ground);
  fail_unless (gst_structure_get_double (message, "camera-height", &number) && fabs (number - 1650) < 33);
  fail_unless (gst_structure_get_double (message, "pitch", &number) && fabs (number - 1) < 0.2);
  fail_unless (gst_structure_get_double (message, "roll", &number) && fabs (number - 0.5) < 0.3);
  fail_unless (gst_structure_get_double (message, "quality", &number) && number > 0.3);
  fail_unless (gst_structure_get_double (message, "judged", &number) && number > 0.4);
  fail_unless (gst_structure_get_double (message, "nearest", &nearest) && fabs (nearest - 12000) < 240);
  fail_unless_equals_int (gst_value_array_get_size (gst_structure_get_value (message, "free")), 10);
  all = gst_structure_get_value (message, "obstacles");
  fail_unless_equals_int (gst_value_array_get_size (all), 1);
  one = gst_value_get_structure (gst_value_array_get_value (all, 0));
  fail_unless (gst_structure_get (one, "id", G_TYPE_INT, &id, "x", G_TYPE_INT, &x, "y", G_TYPE_INT, &y, "width",
      G_TYPE_INT, &width, "height", G_TYPE_INT, &height, "seen", G_TYPE_BOOLEAN, &seen, NULL));
  fail_unless (id >= 1 && seen && x >= 0 && y >= 0 && x + width <= 621 && y + height <= 187);
  fail_unless (gst_structure_get_double (one, "distance", &number) && number == nearest);
  fail_unless (
      gst_structure_get_double (one, "lateral", &number) && gst_structure_get_double (one, "probability", &number));
  fail_unless (gst_structure_get_double (one, "object-width", &number) && fabs (number - 1700) < 200);
  fail_unless (gst_structure_get_double (one, "object-height", &number) && fabs (number - 1500) < 200);
  gst_structure_free (message);
  stream_free (&stream);
}
GST_END_TEST;

/* At most one in a second, but for what is new: the first obstacle, and the ground that goes. */
GST_START_TEST (test_message_interval)
{
  Stream stream = stream_new ("message-interval=1000000000", GST_STEREO_OUTPUT_KIND_DISPARITY);
  guint count = 0;
  gboolean ground;
  GstStructure *message;

  for (guint i = 0; i < 51; i++) {
    gst_buffer_unref (pass (&stream, matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0)));
    message = said (&stream);
    count += message != NULL;
    fail_unless_equals_int (message != NULL, i == 0 || i == 1 || i == 26);
    g_clear_pointer (&message, gst_structure_free);
  }
  fail_unless_equals_int (count, 3);
  made_picture_blank (stream.picture, 0, 0, 621, 187);
  gst_buffer_unref (pass (&stream, matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0)));
  message = said (&stream);
  fail_unless (message && gst_structure_get_boolean (message, "ground", &ground) && !ground);
  fail_if (gst_structure_has_field (message, "pitch"));
  gst_structure_free (message);
  stream_free (&stream);
}
GST_END_TEST;

/* ---- forgetting -------------------------------------------------------------------------- */

/* An obstacle is reported from the second frame on: what was forgotten starts anew. */
static void
check_second_reports (Stream *stream)
{
  for (guint i = 0; i < 2; i++) {
    GstBuffer *out = pass (stream, matched (stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0));

    fail_unless_equals_int (regions (out), i);
    gst_buffer_unref (out);
  }
}

GST_START_TEST (test_forgets)
{
  Stream stream = stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY);
  GstBuffer *in, *out;
  GstSegment segment;

  check_second_reports (&stream);
  in = matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0);
  GST_BUFFER_FLAG_SET (in, GST_BUFFER_FLAG_DISCONT);
  out = pass (&stream, in);
  fail_unless_equals_int (regions (out), 0);
  gst_buffer_unref (out);

  gst_harness_push_event (stream.harness, gst_event_new_flush_start ());
  gst_harness_push_event (stream.harness, gst_event_new_flush_stop (TRUE));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  gst_harness_push_event (stream.harness, gst_event_new_segment (&segment));
  check_second_reports (&stream);

  /* other caps, and these again: the frame between is another picture */
  set_caps (&stream, GST_VIDEO_FORMAT_GRAY8, 621, 187);
  gst_buffer_unref (pass (&stream, matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE, 0)));
  set_caps (&stream, GST_VIDEO_FORMAT_GRAY16_LE, 621, 187);
  out = pass (&stream, matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0));
  fail_unless_equals_int (regions (out), 0);
  gst_buffer_unref (out);
  stream_free (&stream);
}
GST_END_TEST;

/* ---- properties -------------------------------------------------------------------------- */

GST_START_TEST (test_properties_at_work)
{
  static const struct
  {
    const gchar *set;
    gboolean ground;
    guint obstacles;
  } cases[] = { { "min-height=1800", TRUE, 0 }, { "min-height=1000", TRUE, 1 }, { "max-distance=10000", TRUE, 0 },
    { "max-distance=50000 min-confidence=0.9", FALSE, 0 }, { "min-confidence=0.7", TRUE, 1 },
    { "max-camera-height=1000", FALSE, 0 }, { "max-camera-height=2000", TRUE, 1 } };
  Stream stream = stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *out = NULL;

    set_properties (stream.harness->element, cases[i].set);
    for (guint frame = 0; frame < 4; frame++) {
      gst_clear_buffer (&out);
      out = pass (&stream, matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0));
    }
    fail_unless_equals_int (gst_buffer_get_stereo_ground_meta (out)->valid, cases[i].ground);
    fail_unless (regions (out) == cases[i].obstacles, "%s: %u obstacles", cases[i].set, regions (out));
    gst_buffer_unref (out);
  }
  stream_free (&stream);
}
GST_END_TEST;

/* ---- errors ------------------------------------------------------------------------------ */

/* The next message of @type has both. */
static void
expect_words (GstBus *bus, GstMessageType type, const gchar *what, const gchar *remedy)
{
  const gchar *const words[] = { what, remedy, NULL };
  GstMessage *message = gst_bus_timed_pop_filtered (bus, 5 * GST_SECOND, type);

  fail_unless (message != NULL, "nothing is said of %s", what);
  check_words (message, words);
  gst_message_unref (message);
}

static void
expect_refused (Stream *stream, GstBuffer *buffer, const gchar *what, const gchar *remedy)
{
  fail_unless_equals_int (gst_harness_push (stream->harness, buffer), GST_FLOW_ERROR);
  expect_words (stream->bus, GST_MESSAGE_ERROR, what, remedy);
}

GST_START_TEST (test_errors)
{
  Stream stream = stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY);
  const GstStereoOutputKind kind = GST_STEREO_OUTPUT_KIND_DISPARITY;
  GstBuffer *in = matched (&stream, kind, 0);

  gst_buffer_remove_meta (in, (GstMeta *) gst_buffer_get_stereo_meta (in));
  expect_refused (&stream, in, "without stereo metadata", "right after stereomatch");
  in = matched (&stream, kind, 0);
  gst_buffer_get_stereo_meta (in)->kind = GST_STEREO_OUTPUT_KIND_VIEWS;
  expect_refused (&stream, in, "two views", "put stereomatch before stereoground");
  in = matched (&stream, kind, 0);
  gst_buffer_get_stereo_meta (in)->width++;
  expect_refused (&stream, in, "622x187", "621x187");
  in = matched (&stream, kind, 0);
  gst_buffer_get_stereo_meta (in)->focal_length = 0;
  expect_refused (&stream, in, "no focal length", "Set focal-length on stereomatch, or put stereorectify");
  in = matched (&stream, kind, 0);
  gst_buffer_get_stereo_meta (in)->baseline = NAN;
  expect_refused (&stream, in, "no baseline", "Set baseline on stereomatch, or put stereorectify");
  in = matched (&stream, kind, 0);
  gst_buffer_get_stereo_meta (in)->focal_length = gst_buffer_get_stereo_meta (in)->baseline = 0;
  expect_refused (&stream, in, "neither focal length nor baseline", "Set focal-length and baseline");
  in = matched (&stream, kind, 0);
  gst_buffer_get_stereo_meta (in)->disparity_scale = 0;
  expect_refused (&stream, in, "disparity_scale", "above 0");
  in = matched (&stream, kind, 0);
  gst_buffer_get_stereo_meta (in)->kind = GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE;
  expect_refused (&stream, in, "GRAY16_LE", "samples of 8 bits");
  in = matched (&stream, kind, 0);
  gst_buffer_replace (&gst_buffer_get_stereo_meta (in)->confidence, NULL);
  gst_buffer_get_stereo_meta (in)->confidence = gst_buffer_new_allocate (NULL, 3, NULL);
  expect_refused (&stream, in, "confidence in the metadata could not be read", "smaller");
  in = matched (&stream, kind, 0);
  gst_buffer_resize (in, 0, 100);
  expect_refused (&stream, in, "picture could not be read", "smaller");
  stream_free (&stream);
}
GST_END_TEST;

/* Every valid pixel counts, and a warning says so once. */
GST_START_TEST (test_without_confidence)
{
  Stream stream = stream_new ("min-confidence=0.9", GST_STEREO_OUTPUT_KIND_DISPARITY);

  for (guint i = 0; i < 3; i++) {
    GstBuffer *in = matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0), *out;

    gst_buffer_replace (&gst_buffer_get_stereo_meta (in)->confidence, NULL);
    out = pass (&stream, in);
    fail_unless (gst_buffer_get_stereo_ground_meta (out)->valid);
    gst_buffer_unref (out);
    if (i == 0)
      expect_words (stream.bus, GST_MESSAGE_WARNING, "no confidence", "every valid pixel");
  }
  fail_unless (gst_bus_pop_filtered (stream.bus, GST_MESSAGE_WARNING) == NULL);
  stream_free (&stream);
}
GST_END_TEST;

/* Values that exclude each other: at the start, and while it runs. */
GST_START_TEST (test_values_that_exclude_each_other)
{
  Stream stream = stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY);
  GstElement *element = gst_element_factory_make ("stereoground", NULL);

  gst_object_ref_sink (element);
  gst_element_set_bus (element, stream.bus);
  set_properties (element, "min-camera-height=3000 max-camera-height=2000");
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE);
  expect_words (stream.bus, GST_MESSAGE_ERROR, "min-camera-height=3000 is not below max-camera-height=2000",
      "set min-camera-height below");
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (element);
  set_properties (stream.harness->element, "min-height=4000");
  expect_refused (&stream, matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0), "min-height=4000",
      "max-height=4000: set min-height below");
  stream_free (&stream);
}
GST_END_TEST;

/* ---- other metadata ---------------------------------------------------------------------- */

GST_START_TEST (test_meta_is_copied_and_dropped)
{
  Stream stream = stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY);
  GstBuffer *out = pass (&stream, matched (&stream, GST_STEREO_OUTPUT_KIND_DISPARITY, 0)), *copy, *scaled;
  GstStereoGroundMeta *meta = gst_buffer_get_stereo_ground_meta (out), *copied;
  GstVideoMetaTransform scale;
  GstVideoInfo large, small;
  const gdouble *a, *b;
  guint count;

  copy = gst_buffer_copy_region (out, GST_BUFFER_COPY_ALL, 0, (gsize) -1);
  copied = gst_buffer_get_stereo_ground_meta (copy);
  fail_unless (copied != NULL && copied != meta);
  fail_unless (copied->valid == meta->valid && copied->camera_height == meta->camera_height &&
      copied->pitch == meta->pitch && copied->roll == meta->roll && copied->quality == meta->quality &&
      copied->plane_offset == meta->plane_offset && copied->plane_across == meta->plane_across &&
      copied->plane_down == meta->plane_down && copied->judged == meta->judged);
  a = gst_stereo_ground_meta_get_free_distances (meta, &count);
  b = gst_stereo_ground_meta_get_free_distances (copied, &count);
  fail_unless (a != b && count == 64 && memcmp (a, b, count * sizeof *a) == 0);
  gst_buffer_unref (copy);

  scaled = gst_buffer_new ();
  gst_video_info_set_format (&large, GST_VIDEO_FORMAT_GRAY16_LE, 621, 187);
  gst_video_info_set_format (&small, GST_VIDEO_FORMAT_GRAY16_LE, 310, 93);
  scale = (GstVideoMetaTransform){ &large, &small };
  meta->meta.info->transform_func (scaled, (GstMeta *) meta, out, gst_video_meta_transform_scale_get_quark (), &scale);
  fail_unless (gst_buffer_get_stereo_ground_meta (scaled) == NULL);
  gst_buffer_unref (scaled);
  gst_buffer_unref (out);
  stream_free (&stream);
}
GST_END_TEST;

/* Bytes at random, of any small size and any meaning, are judged and never crash. */
GST_START_TEST (test_random_pictures)
{
  Stream stream = stream_new ("", GST_STEREO_OUTPUT_KIND_DISPARITY);

  for (guint i = 0; i < 300; i++) {
    GstStereoOutputKind kind = (GstStereoOutputKind) random_range (&generator, 0, 2);
    gint width = random_range (&generator, 1, 90), height = random_range (&generator, 1, 90);
    GstBuffer *in = make_view (format_of (kind), width, height, i, 0, (gint) i % 5);
    GstStereoMeta *meta = gst_buffer_add_stereo_meta (in, (guint) width, (guint) height, NULL);

    meta->kind = kind;
    meta->focal_length = pow (10, 6 * random_unit (&generator) - 1);
    meta->baseline = pow (10, 6 * random_unit (&generator) - 1);
    meta->principal_offset = 1000 * (random_unit (&generator) - 0.5);
    meta->disparity_scale = pow (10, 6 * random_unit (&generator) - 3);
    set_caps (&stream, format_of (kind), width, height);
    gst_buffer_unref (pass (&stream, in));
  }
  stream_free (&stream);
}
GST_END_TEST;

static Suite *
ground_suite (void)
{
  Suite *suite = suite_create ("ground");
  TCase *tcase = tcase_create ("general");

  generator.state = random_seed ();
  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, test_kinds, 0, 3);
  tcase_add_test (tcase, test_message);
  tcase_add_test (tcase, test_message_interval);
  tcase_add_test (tcase, test_forgets);
  tcase_add_test (tcase, test_properties_at_work);
  tcase_add_test (tcase, test_errors);
  tcase_add_test (tcase, test_without_confidence);
  tcase_add_test (tcase, test_values_that_exclude_each_other);
  tcase_add_test (tcase, test_meta_is_copied_and_dropped);
  tcase_add_test (tcase, test_random_pictures);
  return suite;
}

GST_CHECK_MAIN (ground)
