/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the element says of its input: when it looks, its messages, and its stats. */
#include "tests/support/gst/suite.h"

#include <math.h>

#include "tests/gst/match/diagnose/made.h"
#include "tests/support/gst/util.h"

#define MS ((gint64) GST_MSECOND)

#define WIDTH 322
#define HEIGHT 121
#define FAST "method=bm num-disparities=32 backend=cpu threads=1 "

static GstBuffer *
gray_of (const View *view, GstClockTime time)
{
  GstBuffer *buffer = make_view (GST_VIDEO_FORMAT_GRAY8, view->width, view->height, 1, 0, 5);
  GstVideoFrame frame;
  GstVideoInfo info;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, (guint) view->width, (guint) view->height);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE));
  for (gint y = 0; y < view->height; y++)
    for (gint x = 0; x < view->width; x++)
      ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (
          &frame, 0))[y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0) + x] = *view_sample (view, x, y);
  /* no two frames of a live source are the same */
  for (gint y = 0; y < view->height; y++)
    ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0))[y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0)] = (guint8) (time /
        FRAME);
  gst_video_frame_unmap (&frame);
  return stamp (buffer, time, FRAME);
}

static Pair *
with_caps (Pair *pair)
{
  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, NULL);
  return pair;
}

static Pair *
pair_new_wide (const gchar *properties)
{
  return with_caps (pair_new (properties));
}

/* Without waiting: a partner is known only when the next frame is. */
static void
push_apart (Pair *pair, const View *left, const View *right, GstClockTime time, GstClockTimeDiff skew)
{
  fail_unless_equals_int (gst_harness_push (pair->left, gray_of (left, time)), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_push (pair->right, gray_of (right, time + (GstClockTime) skew)), GST_FLOW_OK);
}

static void
push_pair (Pair *pair, const View *left, const View *right, GstClockTime time)
{
  push_apart (pair, left, right, time, 0);
  g_autoptr (GstBuffer) out = gst_harness_pull (pair->left);
  fail_unless (out != NULL);
}

static gdouble
number_of (GstElement *element, const gchar *name)
{
  g_autoptr (GstStructure) stats = NULL;
  gboolean truth = FALSE;
  gdouble value = 0;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_double (stats, name, &value) || gst_structure_get_boolean (stats, name, &truth),
      "stats has no %s", name);
  return truth ? 1 : value;
}

TEST (test_element_says_exchanged)
{
  const Change change = { .disparity = 11, .gain = 1 };
  g_auto (Views) views = views_new (WIDTH, HEIGHT, surface, &change);
  g_autoptr (Pair) pair = pair_new_wide (FAST);
  GstClockTime time = 0;

  fail_unless (number_of (pair->element, "vertical-offset") < 0);
  push_pair (pair, &views.left, &views.right, time);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  fail_unless_equals_uint64 (stat_of (pair->element, "checks"), 1);
  fail_unless (stat_of (pair->element, "check-matches") >= 12);
  fail_unless_equals_float (number_of (pair->element, "exchanged"), 0);
  fail_unless (fabs (number_of (pair->element, "vertical-offset")) < 0.2);
  /* it is not the time for another look */
  push_pair (pair, &views.right, &views.left, time += FRAME);
  fail_unless_equals_uint64 (stat_of (pair->element, "checks"), 1);
  /* for three looks, one warning */
  for (guint i = 0; i < 3; i++)
    push_pair (pair, &views.right, &views.left, time += 5 * GST_SECOND);
  fail_unless_equals_uint64 (stat_of (pair->element, "checks"), 4);
  fail_unless_equals_float (number_of (pair->element, "exchanged"), 1);
  expect_warning (pair->bus, "Views exchanged", "sink_left", "-11.0 px", NULL);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  /* mended, and broken again */
  for (guint i = 0; i < 3; i++)
    push_pair (pair, &views.left, &views.right, time += 5 * GST_SECOND);
  fail_unless_equals_float (number_of (pair->element, "exchanged"), 0);
  for (guint i = 0; i < 2; i++)
    push_pair (pair, &views.right, &views.left, time += 5 * GST_SECOND);
  expect_warning (pair->bus, "Views exchanged", NULL);
  /* to be read after the end, too */
  gst_element_set_state (pair->element, GST_STATE_READY);
  fail_unless_equals_uint64 (stat_of (pair->element, "checks"), 9);
  fail_unless_equals_float (number_of (pair->element, "exchanged"), 1);
}

TEST (test_element_says_unrectified)
{
  const Change change = { .disparity = 9, .down = -4, .gain = 1 };
  g_auto (Views) views = views_new (WIDTH, HEIGHT, surface, &change);
  g_autoptr (Pair) pair = pair_new_wide (FAST "check-interval=1000000000");

  for (guint i = 0; i < 4; i++)
    push_pair (pair, &views.left, &views.right, i * GST_SECOND);
  fail_unless_equals_uint64 (stat_of (pair->element, "checks"), 4);
  fail_unless (fabs (number_of (pair->element, "vertical-offset") - 4) < 0.2);
  expect_warning (pair->bus, "Rows of the views do not fit", "4.0 px", "stereorectify", NULL);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

static void
expect_health (GstElement *element, const gchar *health)
{
  g_autoptr (GstStructure) stats = NULL;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "health"), health);
}

/* Another scene each second: of a scene where nothing moves, the views would be frozen. */
static void
push_ground (Pair *pair, gdouble shift, gint second)
{
  const Change change = { -shift, 0.25, 0, 0, 1, 1, HEIGHT / 5 };
  g_auto (Views) views = views_new (WIDTH, HEIGHT, surface, &change);

  push_pair (pair, &views.left, &views.right, (GstClockTime) second * GST_SECOND);
}

/* After four looks in a row, and so is its end. What the properties say of the rig is taken for granted. */
TEST (test_element_says_shifted)
{
  static const gchar *const properties[] = { FAST "check-interval=1000000000 min-disparity=0",
    FAST "check-interval=1000000000 min-disparity=0 principal-offset=5",
    FAST "check-interval=1000000000 min-disparity=-5" };

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    g_autoptr (Pair) pair = with_caps (pair_new_not_live (properties[i]));
    gint second = 0;

    for (; second < 3; second++)
      push_ground (pair, 5, second);
    expect_health (pair->element, "ok");
    push_ground (pair, 5, second++);
    expect_health (pair->element, i ? "ok" : "shifted");
    if (i == 2)
      expect_warning (pair->bus, "min-disparity=-5", "below 0", NULL);
    if (!i)
      expect_warning (
          pair->bus, "shifted sideways", "beyond infinity", "rectify the views anew", "principal-offset", NULL);
    /* all is near: that shows nothing */
    for (; second < 10; second++)
      push_ground (pair, -4, second);
    expect_health (pair->element, i ? "ok" : "shifted");
    for (; second < 13; second++)
      push_ground (pair, 0, second);
    expect_health (pair->element, i ? "ok" : "shifted");
    push_ground (pair, 0, second++);
    expect_health (pair->element, "ok");
    for (gint k = 0; k < 4; k++)
      push_ground (pair, 8, second++);
    expect_health (pair->element, "shifted");
    expect_warning (pair->bus, "shifted sideways", NULL);
    g_object_set (pair->element, "principal-offset", 8.0, NULL);
    for (gint k = 0; k < 4; k++)
      push_ground (pair, 8, second++);
    expect_health (pair->element, "ok");
    expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  }
}

/* The check looks at the views as they come; what is taken out of them stands beside it. */
TEST (test_element_aligns)
{
  static const gint downs[] = { 2, -2, 0, 4 }; /* not 1, which is where the warning begins */
  static const gchar *const properties[] = { FAST "align=auto check-interval=1000000000",
    FAST "align=off check-interval=1000000000" };

  for (guint i = 0; i < G_N_ELEMENTS (downs); i++)
    for (guint off = 0; off < 2; off++) {
      g_autoptr (Pair) pair = pair_new_wide (properties[off]);
      gboolean aligned = !off && downs[i] && ABS (downs[i]) <= 3;

      const Change change = { .disparity = 9, .down = downs[i], .gain = 1 };
      g_auto (Views) views = views_new (WIDTH, HEIGHT, surface, &change);
      for (guint k = 0; k < 4; k++)
        push_pair (pair, &views.left, &views.right, k * GST_SECOND);
      fail_unless_equals_float (number_of (pair->element, "aligned"), aligned);
      fail_unless (fabs (number_of (pair->element, "align-offset") - (aligned ? downs[i] : 0)) < 0.1, "%g, not %d",
          number_of (pair->element, "align-offset"), downs[i]);
      fail_unless (fabs (number_of (pair->element, "align-offset-max") - (aligned ? ABS (downs[i]) : 0)) < 0.2,
          "%g, not %d", number_of (pair->element, "align-offset-max"), downs[i]);
      fail_unless (fabs (number_of (pair->element, "vertical-offset") - ABS (downs[i])) < 0.25);
      if (ABS (downs[i]) > 1)
        expect_warning (pair->bus, "Rows of the views do not fit", "align=auto takes", NULL);
      expect_no_message (pair->bus, GST_MESSAGE_WARNING);
    }
}

/* Where time goes back, the next look is not as far off as the last one was late. */
TEST (test_element_looks_when_time_goes_back)
{
  const Change change = { .disparity = 9, .gain = 1 };
  g_auto (Views) views = views_new (WIDTH, HEIGHT, surface, &change);
  g_autoptr (Pair) pair = pair_new_wide (FAST);

  push_pair (pair, &views.left, &views.right, 3600 * GST_SECOND);
  fail_unless_equals_uint64 (stat_of (pair->element, "checks"), 1);
  push_pair (pair, &views.left, &views.right, GST_SECOND);
  fail_unless_equals_uint64 (stat_of (pair->element, "checks"), 2);
}

TEST (test_element_does_not_look)
{
  const Change change = { .disparity = 9, .down = 5, .gain = 1 };
  g_auto (Views) views = views_new (WIDTH, HEIGHT, surface, &change);
  g_autoptr (Pair) pair = pair_new_wide (FAST "check-interval=0");

  for (guint i = 0; i < 30; i++)
    push_apart (pair, &views.right, &views.left, i * GST_SECOND, FRAME / 3);
  pair_eos (pair, TRUE, TRUE);
  pair_wait_eos (pair);
  fail_unless_equals_uint64 (stat_of (pair->element, "pairs"), 30);
  fail_unless_equals_uint64 (stat_of (pair->element, "checks"), 0);
  fail_unless_equals_uint64 (stat_of (pair->element, "skew-mean"), 0);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

/* Both views in one frame, in an order that the flags can turn round; and every frame is timed once. */
TEST (test_element_with_packed_views)
{
  for (gint right_first = 0; right_first < 2; right_first++) {
    GstBus *bus;
    GstHarness *harness = packed_new (FAST, &bus);
    g_autofree gchar *caps = make_caps (GST_VIDEO_FORMAT_GRAY8, 2 * WIDTH, HEIGHT,
        right_first ? "multiview-mode=side-by-side," RIGHT_FIRST : "multiview-mode=side-by-side," NO_FLAGS);
    const Change change = { .disparity = 14, .gain = 1 };
    g_auto (Views) views = views_new (WIDTH, HEIGHT, surface, &change);
    GstBuffer *frame = gst_buffer_new_allocate (NULL, 2 * WIDTH * HEIGHT, NULL);
    GstMapInfo map;

    fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
    /* the right view first */
    for (gint y = 0; y < HEIGHT; y++)
      for (gint x = 0; x < 2 * WIDTH; x++) {
        const View *view = x < WIDTH ? &views.right : &views.left;
        map.data[y * 2 * WIDTH + x] = *view_sample (view, x % WIDTH, y);
      }
    gst_buffer_unmap (frame, &map);
    gst_harness_set_src_caps_str (harness, caps);
    fail_unless_equals_int (gst_harness_push (harness, stamp (frame, 0, FRAME)), GST_FLOW_OK);
    g_autoptr (GstBuffer) out = gst_harness_pull (harness);
    fail_unless (out != NULL);
    fail_unless_equals_float (number_of (harness->element, "exchanged"), !right_first);
    if (!right_first)
      expect_warning (bus, "Views exchanged", "right-view-first", NULL);
    expect_no_message (bus, GST_MESSAGE_WARNING);
    filter_free (harness, bus);
  }
}

TEST (test_element_says_out_of_step)
{
  const Change change = { .gain = 1 };
  g_auto (Views) views = views_new (WIDTH, HEIGHT, flat, &change);
  g_autoptr (Pair) pair = pair_new_wide (FAST "check-interval=1000000000");
  GstClockTime time = GST_SECOND;

  for (guint i = 0; i < 60; i++, time += FRAME)
    push_apart (pair, &views.left, &views.right, time, 15 * MS);
  pair_eos (pair, TRUE, TRUE);
  pair_wait_eos (pair);
  fail_unless_equals_uint64 (stat_of (pair->element, "pairs"), 60);
  fail_unless_equals_uint64 (stat_of (pair->element, "checks"), 3);
  fail_unless (stat_of (pair->element, "skew-mean") == 15 * MS);
  fail_unless (number_of (pair->element, "vertical-offset") < 0);
  expect_warning (pair->bus, "out of step", "15.0 ms", "40.0 ms", NULL);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

TEST (test_element_says_drift)
{
  const Change change = { .gain = 1 };
  g_auto (Views) views = views_new (WIDTH, HEIGHT, flat, &change);
  g_autoptr (Pair) pair = pair_new_wide (FAST "check-interval=500000000");

  for (guint i = 0; i < 80; i++)
    push_apart (pair, &views.left, &views.right, GST_SECOND + i * FRAME, i * 60000);
  pair_eos (pair, TRUE, TRUE);
  pair_wait_eos (pair);
  expect_warning (pair->bus, "drift apart", "1.500 ms in a second", NULL);
  fail_unless (fabs (number_of (pair->element, "skew-drift") - 1.5e6) < 1e4);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
}

SUITE (diagnosis_element)
{
  generator.state = random_seed ();
}
