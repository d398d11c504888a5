/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* depthoverlay behind stereonearest: both find the same, and the one draws what the other found. */
#include "tests/support/gst/overlay.h"
#include "tests/support/gst/suite.h"

#define WIDTH 96
#define HEIGHT 64
#define META "GstStereoNearestMeta"

static Random generator;

/* Ground that is free for any distance, or not found; and an obstacle on it, perhaps. */
static void
draw_ground (GstBuffer *depth)
{
  gdouble free[12];

  for (guint i = 0; i < G_N_ELEMENTS (free); i++)
    free[i] = random_range (&generator, 0, 9) ? random_range (&generator, 1, 9) * 1000 : -1;
  add_ground (depth, random_range (&generator, 0, 7) != 0, free, G_N_ELEMENTS (free));
  if (random_range (&generator, 0, 1))
    gst_video_region_of_interest_meta_add_param (gst_buffer_add_video_region_of_interest_meta (depth, "obstacle",
                                                     (guint) random_range (&generator, 0, WIDTH - 20),
                                                     (guint) random_range (&generator, 0, HEIGHT - 20), 20, 20),
        gst_structure_new ("stereo-obstacle", "distance", G_TYPE_DOUBLE, random_range (&generator, 1, 9) * 1000.0,
            "probability", G_TYPE_DOUBLE, 0.75, NULL));
}

/* A wall with a box of any distance somewhere before it, and holes and unsure pixels here and there; often with ground. */
static GstBuffer *
draw_depth (GstStereoOutputKind kind)
{
  gboolean wide = kind != GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE;
  guint most = wide ? 6000 : 255;
  GstBuffer *depth = new_depth (WIDTH, HEIGHT, kind, random_range (&generator, 0, 9) ? most / 2 : 0);
  gint width = random_range (&generator, 1, WIDTH / 2), height = random_range (&generator, 1, HEIGHT / 2);

  fill_depth (depth, random_range (&generator, 0, WIDTH - width), random_range (&generator, 0, HEIGHT - height), width,
      height, (guint) random_range (&generator, 1, (gint) most));
  for (gint i = random_range (&generator, 0, 2000); i > 0; i--) {
    gint x = random_range (&generator, 0, WIDTH - 1), y = random_range (&generator, 0, HEIGHT - 1);
    set_depth (depth, x, y, random_range (&generator, 0, 3) ? 0 : (guint) random_range (&generator, 0, (gint) most));
    set_confidence (depth, y % WIDTH, x % HEIGHT, (guint8) random_next (&generator));
  }
  if (random_range (&generator, 0, 7) == 0)
    gst_buffer_get_stereo_meta (depth)->health = GST_STEREO_HEALTH_FROZEN_RIGHT;
  if (random_range (&generator, 0, 3) == 0)
    gst_buffer_get_stereo_meta (depth)->baseline = 0;
  if (random_range (&generator, 0, 3))
    draw_ground (depth);
  return depth;
}

/* Properties of the search. */
static gchar *
draw_properties (void)
{
  return g_strdup_printf (
      "message-interval=0 nearest=%s warn-distance=%d nearest-percentile=%g max-unknown=%g min-confidence=%g "
      "region=<%g,%g,%g,%g>",
      random_range (&generator, 0, 1) ? "obstacle" : "surface", random_range (&generator, 0, 3) * 1500,
      random_range (&generator, 0, 20) / 4.0, random_range (&generator, 0, 4) / 4.0,
      random_range (&generator, 0, 2) / 4.0, random_range (&generator, 0, 10) / 16.0,
      random_range (&generator, 0, 10) / 16.0, random_range (&generator, 1, 16) / 16.0,
      random_range (&generator, 1, 16) / 16.0);
}

static const gchar *
format_of (GstStereoOutputKind kind)
{
  return kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? "GRAY8" : "GRAY16_LE";
}

static GstHarness *
finder_new (const gchar *properties, GstStereoOutputKind kind, GstBus **bus)
{
  GstHarness *finder = filter_new ("stereonearest", properties, bus);
  g_autofree gchar *caps = g_strdup_printf (
      "video/x-raw,format=%s,width=%d,height=%d,framerate=30/1", format_of (kind), WIDTH, HEIGHT);

  gst_harness_set_src_caps_str (finder, caps);
  return finder;
}

static GstBuffer *
find (GstHarness *finder, GstBuffer *depth, GstClockTime pts)
{
  GST_BUFFER_PTS (depth) = pts;
  GST_BUFFER_DURATION (depth) = TICK;
  fail_unless_equals_int (gst_harness_push (finder, depth), GST_FLOW_OK);
  return gst_harness_pull (finder);
}

/* Shows @depth over a plain frame; unref it. */
static GstBuffer *
show (Overlay *overlay, GstBuffer *depth, GstClockTime pts)
{
  return overlay_show (overlay, depth, plain_frame (&overlay->info, 90), pts);
}

/* With any depth and any properties, which change: the same messages, and the same picture, for which the second overlay searches
 * nothing and posts nothing. Its own properties of the search do not matter. */
TEST_LOOP (test_finds_the_same, 0, 3)
{
  const GstStereoOutputKind kind = (GstStereoOutputKind) __i__;

  for (guint round = 0; round < 12; round++) {
    g_autofree gchar *properties = draw_properties (), *own = draw_properties ();
    g_autoptr (Overlay) searches = overlay_new (
        properties, GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT, format_of (kind), WIDTH, HEIGHT);
    g_autoptr (Overlay) draws = overlay_new (own, GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT, format_of (kind), WIDTH, HEIGHT);
    GstBus *bus;
    GstHarness *finder = finder_new (properties, kind, &bus);
    gdouble sure;

    for (guint i = 0; i < 4; i++) {
      g_autofree gchar *changed = draw_properties ();

      if (i == 2) {
        set_properties (searches->element, changed);
        set_properties (finder->element, changed);
      }
      g_object_get (searches->element, "min-confidence", &sure, NULL);
      g_object_set (draws->element, "min-confidence", sure, NULL); /* it hides pixels, too */
      GstBuffer *depth = draw_depth (kind), *found = find (finder, gst_buffer_copy (depth), i * TICK);
      g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ELEMENT);
      g_autoptr (GstBuffer) one = show (searches, depth, i * TICK), other = show (draws, found, i * TICK);
      g_autoptr (GstStructure) posted = overlay_nearest (searches);

      fail_unless (posted != NULL && message != NULL);
      /* each says how old the depth is when it posts */
      gst_structure_remove_field (posted, "age");
      gst_structure_remove_field (gst_message_writable_structure (message), "age");
      g_autofree gchar *text = gst_structure_to_string (posted);
      fail_unless (gst_structure_is_equal (posted, gst_message_get_structure (message)), "%s, and %s", text,
          gst_structure_to_string (gst_message_get_structure (message)));
      fail_unless (buffers_equal (one, other), "the pictures differ");
      fail_unless (overlay_nearest (draws) == NULL, "the depth was searched again");
    }
    filter_free (finder, bus);
  }
}

static GstBuffer *
found_depth (void)
{
  GstBuffer *depth = new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 3000);

  gst_structure_set (gst_custom_meta_get_structure (gst_buffer_add_custom_meta (depth, META)), "state", G_TYPE_STRING,
      "near", "valid", G_TYPE_BOOLEAN, TRUE, "warning", G_TYPE_BOOLEAN, FALSE, "distance", G_TYPE_DOUBLE, 3000.0, "x",
      G_TYPE_INT, 0, "y", G_TYPE_INT, 0, "coverage", G_TYPE_DOUBLE, 1.0, "warn-distance", G_TYPE_DOUBLE, 0.0,
      "region-x", G_TYPE_INT, 0, "region-y", G_TYPE_INT, 0, "region-width", G_TYPE_INT, WIDTH, "region-height",
      G_TYPE_INT, HEIGHT, NULL);
  return depth;
}

/* Only depthoverlay knows that a frame has no depth: it posts that, and nothing again once there is some. */
TEST (test_no_depth_is_unknown)
{
  g_autoptr (Overlay) overlay = overlay_new (
      "max-age=0", GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);

  gst_buffer_unref (show (overlay, found_depth (), 0));
  fail_unless (overlay_nearest (overlay) == NULL);
  overlay_push_live (overlay, plain_frame (&overlay->info, 90), TICK);
  overlay_push_depth (overlay, found_depth (), 2 * TICK);
  gst_buffer_unref (overlay_pull (overlay, TICK));
  GstStructure *posted = overlay_nearest (overlay);
  fail_unless (posted != NULL);
  fail_unless_equals_string (gst_structure_get_string (posted, "state"), "unknown");
  fail_unless_equals_string (gst_structure_get_string (posted, "reason"), "depth is too old");
  gst_structure_free (posted);
  overlay_push_live (overlay, plain_frame (&overlay->info, 90), 2 * TICK);
  gst_buffer_unref (overlay_pull (overlay, 2 * TICK));
  fail_unless (overlay_nearest (overlay) == NULL);
}

/* Depth that cannot be relied on is never shown as clear, whatever the metadata says. */
TEST (test_unreliable_depth)
{
  g_autoptr (Overlay) overlay = overlay_new (
      "alpha=0 legend=false", GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);
  GstBuffer *shown[2];

  for (guint i = 0; i < 2; i++) {
    GstBuffer *depth = found_depth ();

    gst_buffer_get_stereo_meta (depth)->health = GST_STEREO_HEALTH_FROZEN_RIGHT;
    if (i == 1)
      gst_buffer_remove_meta (depth, (GstMeta *) gst_buffer_get_custom_meta (depth, META));
    shown[i] = show (overlay, depth, i * TICK);
  }
  fail_unless (buffers_equal (shown[0], shown[1]), "the pictures differ");
  gst_buffer_unref (shown[0]);
  gst_buffer_unref (shown[1]);
}

/* The inner stereonearest is flushed, too: what was near before a seek is not held against what comes after it. */
TEST (test_flush)
{
  g_autoptr (Overlay) overlay = overlay_new (
      "message-interval=0 warn-distance=1500", GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);

  for (guint i = 0; i < 3; i++) {
    gst_buffer_unref (
        show (overlay, new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, i == 0 ? 1000 : 5000), i * TICK));
    g_autoptr (GstStructure) nearest = overlay_nearest (overlay);
    fail_unless_equals_string (gst_structure_get_string (nearest, "state"),
        i == 0     ? "near" :
            i == 1 ? "unknown" :
                     "clear");
    if (i == 1) {
      flush_stream (overlay->depth);
      flush_stream (overlay->live);
    }
  }
}

TEST (test_metadata_that_lies)
{
  static const struct
  {
    const gchar *lie, *words;
  } cases[] = { { "x,state=lost", "state is lost" }, { "x,coverage=1.5", "coverage is 1.5" },
    { "x,x=96", "96, 0 does not lie" }, { "x,y=-1", "0, -1 does not lie" },
    { "x,region-x=1", "region of 96x64 pixels at 1, 0" }, { "x,region-height=0", "region of 96x0" },
    { "x,distance=-1.0", "distance is -1" }, { "x,warn-distance=-5.0", "warn-distance is -5" },
    { "x,warning=nearly", "other types" } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (Overlay) overlay = overlay_new ("", GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);
    g_autoptr (GstStructure) lie = gst_structure_from_string (cases[i].lie, NULL);
    GstBuffer *depth = found_depth ();

    gst_structure_set_value (found_of (depth, META), gst_structure_nth_field_name (lie, 0),
        gst_structure_get_value (lie, gst_structure_nth_field_name (lie, 0)));
    overlay_push_depth (overlay, depth, 0);
    overlay_push_live (overlay, plain_frame (&overlay->info, 90), 0);
    overlay_expect (overlay, GST_MESSAGE_ERROR, "metadata of stereonearest cannot be right", cases[i].words, NULL);
  }
}

SUITE (found)
{
  generator.state = random_seed ();
}
