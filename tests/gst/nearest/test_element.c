/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stereonearest in a stream: state, message and metadata on made depth. test_surface.c tests the search. */
#include <math.h>

#include "tests/support/gst/overlay.h"
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"
#include "tests/support/random.h"

#define WIDTH 80
#define HEIGHT 60
#define MM GST_STEREO_OUTPUT_KIND_DEPTH
#define NEAR "near"
#define CLEAR "clear"
#define UNKNOWN "unknown"
#define META "GstStereoNearestMeta"

typedef struct
{
  GstHarness *harness;
  GstBus *bus;
} Stream;

static Stream
stream_new (const gchar *properties)
{
  Stream stream;

  stream.harness = filter_new ("stereonearest", properties, &stream.bus);
  harness_set_caps (stream.harness, GST_VIDEO_FORMAT_GRAY16_LE, WIDTH, HEIGHT, NULL);
  return stream;
}

static void
stream_free (Stream *stream)
{
  filter_free (stream->harness, stream->bus);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Stream, stream_free)

static GstBuffer *
pass (Stream *stream, GstBuffer *depth, GstClockTime pts)
{
  fail_unless_equals_int (gst_harness_push (stream->harness, stamp (depth, pts, FRAME)), GST_FLOW_OK);
  GstBuffer *out = gst_harness_pull (stream->harness);
  check_time (out, pts);
  return out;
}

/* The next message, or NULL; gst_structure_free() it. */
static GstStructure *
take_message (Stream *stream)
{
  GstMessage *message = gst_bus_pop_filtered (stream->bus, GST_MESSAGE_ELEMENT | GST_MESSAGE_WARNING);

  if (!message)
    return NULL;
  fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ELEMENT, "a warning that nobody expects");
  GstStructure *copy = gst_structure_copy (gst_message_get_structure (message));
  fail_unless (gst_structure_has_name (copy, "stereo-nearest"));
  gst_message_unref (message);
  return copy;
}

/* ---- message and metadata ---------------------------------------------------------------- */

/* What is said of @depth, by metadata that is valid until the next call. The message says the same. */
static const GstStructure *
judge (Stream *stream, GstBuffer *depth, GstBuffer **out)
{
  static GstClockTime pts = 0;

  gst_clear_buffer (out);
  *out = pass (stream, depth, pts);
  pts += GST_SECOND; /* nothing is held from the one before */
  const GstStructure *meta = found_of (*out, META);
  g_autoptr (GstStructure) message = take_message (stream);
  fail_unless (meta != NULL && message != NULL);
  gst_structure_set_name (message, META);
  fail_unless (gst_structure_is_equal (meta, message), "%" GST_PTR_FORMAT ", and %" GST_PTR_FORMAT, meta, message);
  return meta;
}

static gboolean
flag_of (const GstStructure *structure, const gchar *field)
{
  gboolean set = -1;

  fail_unless (gst_structure_get_boolean (structure, field, &set), "no %s", field);
  return set;
}

static gint
integer_of (const GstStructure *structure, const gchar *field)
{
  gint number = G_MININT;

  fail_unless (gst_structure_get_int (structure, field, &number), "no %s", field);
  return number;
}

/* Returns the coverage. */
static gdouble
expect_state (Stream *stream, GstBuffer *depth, const gchar *state, const gchar *reason, gdouble distance)
{
  g_autoptr (GstBuffer) out = NULL;
  const GstStructure *meta = judge (stream, depth, &out);

  fail_unless_equals_string (gst_structure_get_string (meta, "state"), state);
  fail_unless_equals_string (gst_structure_get_string (meta, "reason"), reason);
  fail_unless_equals_int (flag_of (meta, "valid"), distance > 0);
  fail_unless_equals_int (gst_structure_has_field (meta, "x"), distance > 0);
  if (distance > 0)
    fail_unless (fabs (found_number (meta, "distance") - distance) < 1, "%g mm, not %g",
        found_number (meta, "distance"), distance);
  return found_number (meta, "coverage");
}

/* A box of 20 x 20 pixels before a wall: where and how far. */
static GstBuffer *
with_box (guint wall, guint box)
{
  GstBuffer *depth = new_depth (WIDTH, HEIGHT, MM, wall);

  fill_depth (depth, 50, 10, 20, 20, box);
  return depth;
}

/* 5 m, but for the @unknown upper rows, which are not seen; and an object of 12 x 12 pixels below, unless it is 0. */
static GstBuffer *
half_seen (gint unknown, guint object)
{
  GstBuffer *depth = new_depth (WIDTH, HEIGHT, MM, 5000);

  fill_depth (depth, 20, 48, 12, 12, object ? object : 5000);
  fill_depth (depth, 0, 0, WIDTH, unknown, 0);
  return depth;
}

/* docs/elements.md cannot read this one. */
TEST (test_region_is_the_picture)
{
  static const gchar *const names[] = { "stereonearest", "depthoverlay" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    GstElement *element = gst_element_factory_make (names[i], NULL);
    g_auto (GValue) region = G_VALUE_INIT;

    if (!element)
      continue; /* built without Pango */
    g_object_get_property (G_OBJECT (element), "region", &region);
    for (guint k = 0; k < 4; k++)
      fail_unless_equals_float (g_value_get_double (gst_value_array_get_value (&region, k)), k / 2);
    gst_object_unref (element);
  }
}

/* Excludes rows of @depth, as stereomatch does: they have no sample, and the mask says so. */
static void
exclude_rows (GstBuffer *depth, gint first, gint rows)
{
  gsize size = (WIDTH + 3) * HEIGHT, offset[GST_VIDEO_MAX_PLANES] = { 0 };
  gint stride[GST_VIDEO_MAX_PLANES] = { WIDTH + 3 };
  GstBuffer *mask = gst_buffer_new_allocate (NULL, size, NULL);

  gst_buffer_memset (mask, 0, 255, size);
  gst_buffer_memset (mask, (gsize) (first * (WIDTH + 3)), 0, (gsize) (rows * (WIDTH + 3)));
  gst_buffer_add_video_meta_full (
      mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, 1, offset, stride);
  gst_stereo_meta_set_mask (gst_buffer_get_stereo_meta (depth), mask);
  gst_buffer_unref (mask);
  fill_depth (depth, 0, first, WIDTH, rows, 0);
}

TEST (test_states)
{
  static const struct
  {
    const gchar *properties;
    gint unknown; /* rows */
    guint object;
    const gchar *state;
    const gchar *reason;
    gdouble distance;    /* 0: no surface */
    gint excluded, rows; /* excluded ones, from the first on */
    gdouble coverage;    /* 0: not compared */
  } cases[] = {
    { "warn-distance=1000", 0, 0, CLEAR, NULL, 5000 },
    { "warn-distance=1000", 0, 900, NEAR, NULL, 900 },
    { "warn-distance=1000", 0, 1000, CLEAR, NULL, 1000 },
    /* half may be unknown, and no more */
    { "warn-distance=1000", 30, 0, CLEAR, NULL, 5000 },
    { "warn-distance=1000", 31, 0, UNKNOWN, "48 % of the region is seen", 5000 },
    { "warn-distance=1000", 60, 0, UNKNOWN, "0 % of the region is seen", 0 },
    { "warn-distance=1000 max-unknown=0.1", 6, 0, CLEAR, NULL, 5000 },
    { "warn-distance=1000 max-unknown=0.1", 7, 0, UNKNOWN, "88 % of the region is seen", 5000 },
    { "warn-distance=1000 max-unknown=0", 0, 0, CLEAR, NULL, 5000 },
    { "warn-distance=1000 max-unknown=0", 1, 0, UNKNOWN, "98 % of the region is seen", 5000 },
    /* but what is near is near all the same */
    { "warn-distance=1000", 48, 900, NEAR, NULL, 900 },
    { "warn-distance=1000 max-unknown=0", 48, 900, NEAR, NULL, 900 },
    { "warn-distance=1000 max-unknown=1", 48, 0, UNKNOWN, "a part as large as 0.5 m at 1.0 m is not seen", 5000 },
    { "warn-distance=1000 max-unknown=1 smallest-obstacle=0", 48, 0, CLEAR, NULL, 5000 },
    /* nothing seen is never clear */
    { "warn-distance=1000 max-unknown=1", 60, 0, UNKNOWN, "no surface is found", 0 },
    /* nor is that which is not connected */
    { "warn-distance=1000 max-unknown=1 nearest-percentile=90", 30, 0, UNKNOWN, "no surface is found", 0 },
    /* nothing is clear that was not asked for */
    { "warn-distance=0", 0, 0, NEAR, NULL, 5000 },
    { "warn-distance=0", 31, 0, UNKNOWN, "48 % of the region is seen", 5000 },
    /* only the region counts */
    { "warn-distance=1000 region=<0,0.5,1,0.5>", 30, 0, CLEAR, NULL, 5000 },
    { "warn-distance=1000 region=<0,0,1,0.5>", 30, 0, UNKNOWN, "0 % of the region is seen", 0 },
    { "warn-distance=1000 region=<0,0,1,0.5>", 0, 900, CLEAR, NULL, 5000 },
    /* the object is three percent of the pixels */
    { "warn-distance=1000 nearest-percentile=3", 0, 900, NEAR, NULL, 900 },
    { "warn-distance=1000 nearest-percentile=3.1", 0, 900, CLEAR, NULL, 5000 },
    /* what is excluded is not unknown, and makes nothing known; the percentile stays one of all of the region's pixels */
    { "warn-distance=1000 max-unknown=0", 15, 0, CLEAR, NULL, 5000, 0, 15, 1 },
    { "warn-distance=1000 max-unknown=0", 20, 0, UNKNOWN, "88 % of the region is seen", 5000, 0, 15, 40 / 45.0 },
    { "warn-distance=1000 max-unknown=0.1", 20, 0, UNKNOWN, "88 % of the region is seen", 5000, 0, 15, 40 / 45.0 },
    { "warn-distance=1000 max-unknown=0.12", 20, 0, CLEAR, NULL, 5000, 0, 15, 40 / 45.0 },
    /* 20 of 60 rows would be a third */
    { "warn-distance=1000 max-unknown=0.34", 20, 0, UNKNOWN, "50 % of the region is seen", 5000, 40, 20, 0.5 },
    { "warn-distance=1000 max-unknown=0", 0, 900, NEAR, NULL, 900, 0, 48, 1 },
    { "warn-distance=1000 max-unknown=0", 0, 900, CLEAR, NULL, 5000, 48, 12, 1 },
    /* a region without a pixel that counts */
    { "warn-distance=1000 max-unknown=1 region=<0,0,1,0.5>", 0, 0, UNKNOWN, "no surface is found", 0, 0, 30 },
    { "warn-distance=0 max-unknown=1 region=<0,0,1,0.5>", 0, 0, UNKNOWN, "no surface is found", 0, 0, 30 },
    { "warn-distance=1000 max-unknown=1", 0, 900, UNKNOWN, "no surface is found", 0, 0, 60 },
    { "warn-distance=1000 nearest-percentile=3", 0, 900, NEAR, NULL, 900, 0, 30, 1 },
    { "warn-distance=1000 nearest-percentile=3.1", 0, 900, CLEAR, NULL, 5000, 0, 30, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *properties = g_strconcat ("message-interval=0 ", cases[i].properties, NULL);
    g_auto (Stream) stream = stream_new (properties);
    GstBuffer *depth = half_seen (cases[i].unknown, cases[i].object);

    if (cases[i].rows)
      exclude_rows (depth, cases[i].excluded, cases[i].rows);
    gdouble coverage = expect_state (&stream, depth, cases[i].state, cases[i].reason, cases[i].distance);
    if (cases[i].coverage > 0)
      assert_equals_float (coverage, cases[i].coverage);
  }
}

/* For each kind of samples: the box, its place and its size. */
TEST_LOOP (test_kinds, 0, 3)
{
  static const struct
  {
    GstStereoOutputKind kind;
    guint wall, box;
    gdouble distance, disparity;
  } kinds[] = { { MM, 5000, 2000, 2000, 5 }, { GST_STEREO_OUTPUT_KIND_DISPARITY, 2 * 64, 8 * 64, 1250, 8 },
    { GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE, 1 + 254 / 63 * 4, 1 + 254, 100 * 100 / 63.0, 63 } };
  g_auto (Stream) stream = stream_new ("message-interval=0");
  GstBuffer *depth, *out = NULL;

  harness_set_caps (
      stream.harness, __i__ == 2 ? GST_VIDEO_FORMAT_GRAY8 : GST_VIDEO_FORMAT_GRAY16_LE, WIDTH, HEIGHT, NULL);
  depth = new_depth (WIDTH, HEIGHT, kinds[__i__].kind, kinds[__i__].wall);
  fill_depth (depth, 50, 10, 20, 20, kinds[__i__].box);
  const GstStructure *meta = judge (&stream, depth, &out);
  gint x = integer_of (meta, "x"), y = integer_of (meta, "y"), support = integer_of (meta, "support");
  fail_unless (fabs (found_number (meta, "distance") / kinds[__i__].distance - 1) < 0.001);
  fail_unless (fabs (found_number (meta, "disparity") - kinds[__i__].disparity) < 0.02);
  fail_unless (x >= 50 && x < 70 && y >= 10 && y < 30, "at %d, %d", x, y);
  fail_unless (support >= 380 && support <= 420, "%d pixels", support);
  fail_unless_equals_float (found_number (meta, "confidence"), 1);
  fail_unless_equals_float (found_number (meta, "coverage"), 1);
  /* without cameras only the disparity is known, and with a warn-distance not whether it is clear */
  for (guint i = 0; i < 2 && kinds[__i__].kind != MM; i++) {
    set_properties (stream.harness->element, i ? "warn-distance=100" : "warn-distance=0");
    depth = new_depth (WIDTH, HEIGHT, kinds[__i__].kind, kinds[__i__].wall);
    gst_buffer_get_stereo_meta (depth)->baseline = 0;
    meta = judge (&stream, depth, &out);
    fail_unless (flag_of (meta, "valid") && !gst_structure_has_field (meta, "distance"));
    fail_unless (found_number (meta, "disparity") > 0);
    fail_unless_equals_string (gst_structure_get_string (meta, "state"), i ? UNKNOWN : NEAR);
    fail_unless_equals_string (gst_structure_get_string (meta, "reason"), i ? "distances are not known" : NULL);
  }
  gst_buffer_unref (out);
}

/* A pixel as sure as min-confidence counts. The metadata has the region in pixels. */
TEST (test_what_counts)
{
  g_auto (Stream) stream = stream_new ("message-interval=0 warn-distance=1500 min-confidence=0.5");
  GstBuffer *depth, *out = NULL;

  for (guint8 confidence = 127; confidence <= 128; confidence++) {
    depth = with_box (5000, 1000);
    for (gint y = 10; y < 30; y++)
      for (gint x = 50; x < 70; x++)
        set_confidence (depth, x, y, confidence);
    expect_state (&stream, depth, confidence == 127 ? CLEAR : NEAR, NULL, confidence == 127 ? 5000 : 1000);
  }
  set_properties (stream.harness->element, "region=<0.0,0.5,0.625,0.5>");
  const GstStructure *meta = judge (&stream, with_box (5000, 1000), &out);
  fail_unless_equals_string (gst_structure_get_string (meta, "state"), CLEAR);
  fail_unless_equals_float (found_number (meta, "warn-distance"), 1500);
  fail_unless (integer_of (meta, "region-x") == 0 && integer_of (meta, "region-y") == 30);
  fail_unless (integer_of (meta, "region-width") == 50 && integer_of (meta, "region-height") == 30);
  gst_buffer_unref (out);
}

/* What was near is not clear for half a second, whatever the rate; with a warn-distance that it is not nearer than, at once. */
TEST (test_held)
{
  g_auto (Stream) stream = stream_new ("message-interval=0");
  Random random = { .state = random_seed () };
  GstClockTime last = GST_CLOCK_TIME_NONE, frame = GST_SECOND / random_range (&random, 3, 60);

  for (guint i = 0; i < 200; i++) {
    GstClockTime pts = i * frame;
    gboolean near = random_range (&random, 0, 7) == 0, lower = random_range (&random, 0, 1);
    set_properties (stream.harness->element, lower ? "warn-distance=999" : "warn-distance=1500");
    if (near && !lower)
      last = pts;
    g_autoptr (GstBuffer) out = pass (&stream, with_box (5000, near ? 1000 : 4000), pts);
    const GstStructure *meta = found_of (out, META);
    gboolean held = !lower && GST_CLOCK_TIME_IS_VALID (last) && pts - last < GST_SECOND / 2;
    fail_unless_equals_string (gst_structure_get_string (meta, "state"),
        near && !lower ? NEAR :
            held       ? UNKNOWN :
                         CLEAR);
    fail_unless_equals_string (
        gst_structure_get_string (meta, "reason"), held && !near ? "something at 1.0 m was there a moment ago" : NULL);
    gst_structure_free (take_message (&stream));
  }
}

/* A surface nearer than warn-distance, or nothing near, with all that may be wrong with the cameras: where the depth cannot be
 * relied on, nothing is posted but why, at once. */
TEST (test_unreliable_depth)
{
  Stream stream = stream_new ("message-interval=3600000000000 warn-distance=1500");
  const GstStereoHealthKind *kind;
  GstClockTime time = 0;

  for (guint i = 0; (kind = gst_stereo_health_kind (i)); i++)
    for (guint near = 0; near < 2; near++) {
      GstBuffer *depth = with_box (5000, near ? 1000 : 4000), *out;
      g_autofree gchar *reason = gst_stereo_health_get_reason (kind->right);

      gst_buffer_unref (pass (&stream, with_box (5000, near ? 1000 : 4000), time));
      GstStructure *message = take_message (&stream);
      fail_unless (!message || !gst_structure_has_field (message, "reason"));
      g_clear_pointer (&message, gst_structure_free);
      gst_buffer_get_stereo_meta (depth)->health = kind->right;
      out = pass (&stream, depth, time + FRAME);
      message = take_message (&stream);
      fail_unless ((message != NULL) == kind->unreliable, "%s", kind->nick);
      if (message) {
        fail_unless_equals_string (gst_structure_get_string (message, "state"), "unknown");
        fail_unless_equals_string (gst_structure_get_string (message, "reason"), reason);
        fail_if (gst_structure_has_field (message, "distance"));
        gst_structure_free (message);
      }
      gst_buffer_unref (out);
      time += GST_SECOND;
    }
  stream_free (&stream);
}

/* Another reason is posted at once. */
TEST (test_reasons)
{
  static const struct
  {
    GstStereoHealthFlags health;
    const gchar *reason;
  } frames[] = { { GST_STEREO_HEALTH_OK, "50 % of the region is seen" },
    { GST_STEREO_HEALTH_BLACK_LEFT, "left camera black" },
    { GST_STEREO_HEALTH_BLACK_LEFT | GST_STEREO_HEALTH_BLACK_RIGHT, "both cameras black" },
    { GST_STEREO_HEALTH_ROWS | GST_STEREO_HEALTH_DARK_RIGHT, "right camera dark, rows of the views do not fit" } };
  g_auto (Stream) stream = stream_new ("message-interval=3600000000000 warn-distance=2000 max-unknown=0.2");

  for (guint i = 0; i < G_N_ELEMENTS (frames); i++) {
    GstBuffer *depth = half_seen (30, 0);

    gst_buffer_get_stereo_meta (depth)->health = frames[i].health;
    expect_state (&stream, depth, UNKNOWN, frames[i].reason, i ? 0 : 5000);
  }
}

/* A square of 20 pixels is as large as the smallest obstacle. The limit is met from both sides. */
TEST (test_holes)
{
  static const struct
  {
    gint size, excluded; /* px: of a hole at 30, 20; its columns from the right that a mask excludes */
    guint sample;        /* in it */
    guint8 confidence;
    const gchar *state;
    gdouble stretch; /* of the vertical focal length; 0 = 1 */
  } cases[] = {
    { 20, 0, 0, 255, UNKNOWN }, { 16, 0, 0, 255, CLEAR },       /* too small */
    { 20, 0, 5000, 127, UNKNOWN }, { 20, 0, 5000, 128, CLEAR }, /* not sure enough */
    { 20, 12, 0, 255, CLEAR }, { 20, 8, 0, 255, UNKNOWN },      /* most of it is excluded */
    { 20, 0, 2490, 255, UNKNOWN }, { 20, 0, 2510, 255, CLEAR }, /* the end of the range is 5 px, 2 m; and 1 px of it */
    { 20, 0, 0, 255, CLEAR, 2 }, { 30, 0, 0, 255, CLEAR, 2 }, { 40, 0, 0, 255, UNKNOWN, 2 }, /* 40 rows */
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_auto (Stream) stream = stream_new (
        "message-interval=0 warn-distance=2100 smallest-obstacle=420 min-confidence=0.5");
    GstBuffer *depth = new_depth (WIDTH, HEIGHT, MM, 5000);

    GstStereoMeta *meta = gst_buffer_get_stereo_meta (depth);
    meta->num_disparities = 6;
    meta->focal_length_y = cases[i].stretch * meta->focal_length;
    fill_depth (depth, 30, 20, cases[i].size, cases[i].size, cases[i].sample);
    for (gint y = 20; y < 20 + cases[i].size; y++)
      for (gint x = 30; x < 30 + cases[i].size; x++)
        set_confidence (depth, x, y, cases[i].confidence);
    if (cases[i].excluded) {
      GstBuffer *mask = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT, NULL);
      gst_buffer_memset (mask, 0, 255, (gsize) -1);
      for (gint y = 20; y < 40; y++)
        gst_buffer_memset (mask, (gsize) (y * WIDTH + 50 - cases[i].excluded), 0, (gsize) cases[i].excluded);
      gst_stereo_meta_set_mask (gst_buffer_get_stereo_meta (depth), mask);
      gst_buffer_unref (mask);
    }
    expect_state (&stream, depth, cases[i].state,
        cases[i].state[0] == 'u' ? "a part as large as 0.4 m at 2.1 m is not seen" : NULL,
        cases[i].sample && cases[i].confidence == 255 ? cases[i].sample : 5000);
  }
}

/* A few pixels that are seen, and may be wrong, do not fill a hole: a tenth of it does. */
TEST (test_specks_in_a_hole)
{
  for (gint width = 18; width <= 20; width += 2) {
    g_auto (Stream) stream = stream_new ("message-interval=0 warn-distance=2100 smallest-obstacle=420");
    GstBuffer *depth = new_depth (WIDTH, HEIGHT, MM, 5000);

    fill_depth (depth, 30, 20, 20, 20, 0);
    fill_depth (depth, 30, 30, width, 2, 5000);
    expect_state (&stream, depth, width == 20 ? CLEAR : UNKNOWN,
        width == 20 ? NULL : "a part as large as 0.4 m at 2.1 m is not seen", 5000);
  }
}

/* How old the depth is, by the clock of a live pipeline; and a camera that falls silent, of which no depth tells: at once, with the
 * age of the last depth. Both go on downstream. */
TEST (test_age_and_silence)
{
  g_auto (Stream) stream = stream_new ("message-interval=3600000000000");
  static const gchar *const texts[] = { "right camera silent", "", "told otherwise" };
  guint64 age = 0, time = 0;

  gst_harness_use_testclock (stream.harness);
  gst_harness_set_time (stream.harness, 7 * GST_SECOND);
  gst_buffer_unref (pass (&stream, with_box (5000, 2000), 2 * GST_SECOND));
  GstStructure *message = take_message (&stream);
  fail_unless (gst_structure_get_uint64 (message, "age", &age));
  fail_unless_equals_uint64 (age, 5 * GST_SECOND);
  gst_structure_free (message);
  gst_harness_set_time (stream.harness, 8 * GST_SECOND);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    gst_harness_push_event (stream.harness,
        gst_event_new_custom (GST_EVENT_CUSTOM_DOWNSTREAM,
            gst_structure_new ("GstStereoHealth", "health", GST_TYPE_STEREO_HEALTH_FLAGS,
                i == 1 ? GST_STEREO_HEALTH_OK : GST_STEREO_HEALTH_SILENT_RIGHT, "reason", G_TYPE_STRING,
                i ? texts[i] : NULL, NULL)));
    gst_event_unref (wait_for_event (stream.harness, GST_EVENT_CUSTOM_DOWNSTREAM));
    message = take_message (&stream);
    fail_unless_equals_int (message != NULL, i != 1);
    if (!message)
      continue;
    fail_unless_equals_string (gst_structure_get_string (message, "state"), UNKNOWN);
    fail_unless_equals_string (gst_structure_get_string (message, "reason"), texts[i]);
    fail_unless (gst_structure_get (message, "age", G_TYPE_UINT64, &age, "timestamp", G_TYPE_UINT64, &time, NULL));
    fail_unless_equals_uint64 (age, 6 * GST_SECOND);
    fail_unless_equals_uint64 (time, 2 * GST_SECOND);
    gst_structure_free (message);
  }
  gst_buffer_unref (pass (&stream, with_box (5000, 2000), 3 * GST_SECOND));
  message = take_message (&stream);
  fail_unless_equals_string (gst_structure_get_string (message, "state"), NEAR);
  gst_structure_free (message);
}

/* ---- obstacles --------------------------------------------------------------------------- */

#define COLUMNS 8 /* of 10 px; the smallest obstacle has 12.5 px at 4 m */

typedef struct
{
  gdouble free[COLUMNS];
  gdouble obstacle; /* mm; 0 = none */
  gint ahead;       /* -1: not said */
  const gchar *state, *reason;
} Road;

static GstBuffer *
road_with (const Road *road)
{
  GstBuffer *depth = new_depth (WIDTH, HEIGHT, MM, 1000);

  add_ground (depth, TRUE, road->free, COLUMNS);
  if (road->obstacle > 0) {
    GstStructure *obstacle = gst_structure_new (
        "stereo-obstacle", "distance", G_TYPE_DOUBLE, road->obstacle, "probability", G_TYPE_DOUBLE, 0.75, NULL);
    if (road->ahead >= 0)
      gst_structure_set (obstacle, "ahead", G_TYPE_BOOLEAN, road->ahead, NULL);
    gst_video_region_of_interest_meta_add_param (
        gst_buffer_add_video_region_of_interest_meta (depth, "obstacle", 30, 20, 11, 20), obstacle);
  }
  return depth;
}

/* Obstacles of stereoground in place of surfaces; limits are met from both sides. */
TEST (test_obstacles)
{
  static const Road roads[] = {
    { { 9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000 }, 0, -1, CLEAR, NULL },
    { { 9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000 }, 6000, -1, CLEAR, NULL },
    { { 9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000 }, 4000, TRUE, CLEAR, NULL },
    { { 9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000 }, 3999, TRUE, NEAR, NULL },
    { { 9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000 }, 3000, FALSE, CLEAR, NULL },
    /* free just up to warn-distance, and not quite */
    { { 4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000 }, 0, -1, CLEAR, NULL },
    { { 9000, 9000, 3999, 3999, 9000, 9000, 9000, 9000 }, 0, -1, UNKNOWN, "the ground ends near" },
    /* a single column is noise; what is not seen may hide an obstacle, as in the first frame that shows it */
    { { 9000, 9000, 3999, 9000, 9000, 3999, 9000, 9000 }, 0, -1, CLEAR, NULL },
    { { 9000, 9000, 9000, 9000, -1, -1, 9000, 9000 }, 0, -1, UNKNOWN, "the ground ends near" },
    { { 9000, 9000, 9000, 9000, -1, 3999, 9000, 9000 }, 0, -1, UNKNOWN, "the ground ends near" },
    { { 3999, 9000, 3999, 9000, 3999, 9000, 3999, 9000 }, 0, -1, CLEAR, NULL },
    { { 3999, 9000, 3999, 9000, 3999, 9000, 3999, -1 }, 0, -1, UNKNOWN, "37 % of the region is seen" },
  };
  Stream stream = stream_new ("message-interval=0 nearest=obstacle warn-distance=4000");

  /* once */
  gst_buffer_unref (pass (&stream, new_depth (WIDTH, HEIGHT, MM, 1000), 0));
  expect_warning (stream.bus, "nearest=obstacle", "put stereoground before stereonearest", NULL);
  gst_structure_free (take_message (&stream));
  expect_state (&stream, new_depth (WIDTH, HEIGHT, MM, 1000), UNKNOWN, "0 % of the region is seen", 0);
  for (guint i = 0; i < G_N_ELEMENTS (roads); i++)
    expect_state (
        &stream, road_with (&roads[i]), roads[i].state, roads[i].reason, roads[i].ahead ? roads[i].obstacle : 0);
  stream_free (&stream);
}

/* The nearest of them, in whatever order they come. */
TEST_LOOP (test_two_obstacles, 0, 2)
{
  g_auto (Stream) stream = stream_new ("message-interval=0 nearest=obstacle warn-distance=4000");
  const Road road = { { 9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000 }, __i__ ? 3000 : 6000, -1, NEAR, NULL };
  GstBuffer *depth = road_with (&road);

  gst_video_region_of_interest_meta_add_param (
      gst_buffer_add_video_region_of_interest_meta (depth, "obstacle", 50, 20, 11, 20),
      gst_structure_new ("stereo-obstacle", "distance", G_TYPE_DOUBLE, __i__ ? 6000.0 : 3000.0, "probability",
          G_TYPE_DOUBLE, 0.5, NULL));
  expect_state (&stream, depth, NEAR, NULL, 3000);
}

/* A corridor of 1 m leaves the third column, 14.5 px from the middle, at 3448 mm: farther it need not be free. Where the
 * picture shows no ground that near, they do not count. */
TEST (test_corridor)
{
  static const struct
  {
    Road road;
    gdouble from;
  } cases[] = { { { { -1, 9000, 9000, 9000, 9000, 9000, 9000, -1 }, 0, -1, CLEAR, NULL }, 1500 },
    { { { -1, -1, 2001, 9000, 9000, 2001, -1, -1 }, 0, -1, CLEAR, NULL }, 2500 },
    { { { -1, -1, 3334, 9000, 9000, 3334, -1, -1 }, 0, -1, CLEAR, NULL }, 2500 },
    { { { -1, -1, 3447, 3999, 9000, 3334, -1, -1 }, 0, -1, UNKNOWN, "the ground ends near" }, 2500 },
    { { { -1, -1, 3449, 3999, 9000, 3334, -1, -1 }, 0, -1, CLEAR, NULL }, 2500 } };
  g_auto (Stream) stream = stream_new ("message-interval=0 nearest=obstacle warn-distance=4000");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *depth = road_with (&cases[i].road);

    gst_structure_set (found_of (depth, "GstStereoGroundMeta"), "corridor", G_TYPE_DOUBLE, 1000.0, "camera-height",
        G_TYPE_DOUBLE, 1500.0, "ground-from", G_TYPE_DOUBLE, cases[i].from, NULL);
    expect_state (&stream, depth, cases[i].road.state, cases[i].road.reason, 0);
  }
}

/* The search ends at 4 px, 2500 mm; the picture shows the ground from 2 m on. What is nearer is never clear, and a warning says so
 * once after each start. */
TEST_LOOP (test_too_near, 0, 4)
{
  static const struct
  {
    gdouble ground_from;
    const gchar *distance, *reason; /* NULL: it is clear */
    const gchar *warning[5];
  } cases[] = { { 0, "warn-distance=2500", NULL, { NULL } },
    { 0, "warn-distance=2499", "nearer than 2.5 m is not searched",
        { "warn-distance=2499", "num-disparities=5", "nearer than 2.5 m", "Set num-disparities=16" } },
    { 2000, "warn-distance=2001", NULL, { NULL } },
    { 2000, "warn-distance=1999", "nearer than 2.0 m the ground is not seen",
        { "warn-distance=1999 lies in the blind zone", "sees the ground from 2.0 m on" } } };
  const gdouble free = 9000, from = cases[__i__].ground_from;
  g_auto (Stream) stream = stream_new ("message-interval=0");

  set_properties (stream.harness->element, cases[__i__].distance);
  for (guint frame = 0; frame < 6; frame++) {
    GstBuffer *depth = new_depth (WIDTH, HEIGHT, MM, 8000);

    if (frame == 3) {
      gst_element_set_state (stream.harness->element, GST_STATE_READY);
      gst_element_set_state (stream.harness->element, GST_STATE_PLAYING);
      gst_harness_push_event (stream.harness, gst_event_new_stream_start ("again"));
      harness_set_caps (stream.harness, GST_VIDEO_FORMAT_GRAY16_LE, WIDTH, HEIGHT, NULL);
    }
    if (from > 0)
      gst_structure_set (add_ground (depth, TRUE, &free, 1), "camera-height", G_TYPE_DOUBLE, 1000.0, "ground-from",
          G_TYPE_DOUBLE, from, NULL);
    else
      gst_buffer_get_stereo_meta (depth)->num_disparities = 5;
    g_autoptr (GstBuffer) out = pass (&stream, depth, frame * FRAME);
    if (cases[__i__].reason && frame % 3 == 0)
      gst_message_unref (expect_message (stream.bus, GST_MESSAGE_WARNING, cases[__i__].warning));
    g_autoptr (GstStructure) message = take_message (&stream);
    fail_unless_equals_string (gst_structure_get_string (message, "state"), cases[__i__].reason ? UNKNOWN : CLEAR);
    fail_unless_equals_string (gst_structure_get_string (message, "reason"), cases[__i__].reason);
    if (from > 0) {
      fail_unless_equals_float (found_number (message, "ground-from"), from);
      fail_unless (fabs (found_number (message, "unseen-height") - (cases[__i__].reason ? 0.5 : 0)) < 1e-9);
    } else {
      fail_unless (fabs (found_number (found_of (out, META), "measurable") - 2500) < 1e-6);
    }
  }
}

/* ---- the stream -------------------------------------------------------------------------- */

/* The picture is not copied, and a buffer that another branch holds stays as it was. */
TEST (test_passes_through)
{
  g_auto (Stream) stream = stream_new ("");
  g_autoptr (GstBuffer) depth = with_box (5000, 2000), out = NULL;
  const GstMemory *memory = gst_buffer_peek_memory (depth, 0);

  gst_buffer_ref (depth);
  out = pass (&stream, depth, 0);
  fail_unless (gst_buffer_peek_memory (out, 0) == memory, "the picture was copied");
  fail_unless (found_of (depth, META) == NULL);
  fail_unless (found_of (out, META) != NULL && gst_buffer_get_stereo_meta (out) != NULL);
}

static gboolean
posts_message (Stream *stream, GstBuffer *depth, GstClockTime pts)
{
  gst_buffer_unref (pass (stream, depth, pts));
  g_autoptr (GstStructure) message = take_message (stream);
  return message != NULL;
}

/* At most one message in the interval, but for what is new, and for the first one after a flush, or of another time. */
TEST (test_interval)
{
  g_auto (Stream) stream = stream_new ("warn-distance=1500 message-interval=120000000"); /* three frames */

  for (guint i = 0; i < 8; i++)
    fail_unless_equals_int (posts_message (&stream, with_box (5000, 2000), i * FRAME), i % 3 == 0);
  fail_unless (posts_message (&stream, with_box (5000, 1000), 8 * FRAME));
  fail_if (posts_message (&stream, with_box (5000, 1100), 9 * FRAME));
  fail_unless (posts_message (&stream, with_box (5000, 2000), 10 * FRAME));
  fail_unless (posts_message (&stream, new_depth (WIDTH, HEIGHT, MM, 0), 11 * FRAME));
  flush_stream (stream.harness);
  fail_unless (posts_message (&stream, new_depth (WIDTH, HEIGHT, MM, 0), 12 * FRAME));
  fail_if (posts_message (&stream, new_depth (WIDTH, HEIGHT, MM, 0), 13 * FRAME));
  fail_unless (posts_message (&stream, new_depth (WIDTH, HEIGHT, MM, 0), 11 * FRAME));
}

/* Gaps and the end pass. Another size in between is another picture. */
TEST (test_gaps_caps_end)
{
  g_auto (Stream) stream = stream_new ("message-interval=0");

  expect_state (&stream, with_box (5000, 2000), NEAR, NULL, 2000);
  fail_unless (gst_harness_push_event (stream.harness, gst_event_new_gap (FRAME, 3 * FRAME)));
  gst_event_unref (wait_for_event (stream.harness, GST_EVENT_GAP));
  harness_set_caps (stream.harness, GST_VIDEO_FORMAT_GRAY16_LE, 2 * WIDTH, HEIGHT / 2, NULL);
  expect_state (&stream, new_depth (2 * WIDTH, HEIGHT / 2, MM, 3000), NEAR, NULL, 3000);
  fail_unless (gst_harness_push_event (stream.harness, gst_event_new_eos ()));
  wait_for_eos (stream.harness);
}

/* Behind stereomatch, to the end, and once more: the same messages. */
TEST (test_plays_twice)
{
  g_autoptr (GstElement) pipeline = launch (
      "stereotestsrc num-buffers=3 ! video/x-raw,width=256,height=96 ! stereomatch backend=cpu threads=1 "
      "num-disparities=16 ! stereonearest name=n message-interval=0 ! fakesink");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  GPtrArray *posted[2];

  for (guint run = 0; run < 2; run++) {
    gst_bus_set_flushing (bus, TRUE);
    gst_bus_set_flushing (bus, FALSE);
    fail_unless (gst_element_set_state (pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE);
    posted[run] = messages_to_end (bus, "stereo-nearest");
    fail_unless_equals_int (posted[run]->len, 3);
    gst_element_set_state (pipeline, GST_STATE_NULL);
  }
  for (guint i = 0; i < 3; i++)
    fail_unless (gst_structure_is_equal (g_ptr_array_index (posted[0], i), g_ptr_array_index (posted[1], i)));
  g_ptr_array_unref (posted[0]);
  g_ptr_array_unref (posted[1]);
}

SUITE (nearest)
{
}
