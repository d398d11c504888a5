/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * depthoverlay's nearest surface: what it draws, and what it alone says. tests/gst/nearest has the tests of states, messages
 * and the search; test_found.c compares the two elements.
 */
#include "tests/support/gst/overlay.h"
#include "tests/support/gst/suite.h"

#define QUIET "text=false legend=false message-interval=0 "
#define WIDTH 80
#define HEIGHT 60

/* ---- messages ---------------------------------------------------------------------------- */

static Overlay *
new_overlay (const gchar *properties)
{
  g_autofree gchar *all = g_strconcat (QUIET, properties, NULL);

  return overlay_new (all, GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);
}

static void
pass (Overlay *overlay, GstBuffer *depth, GstClockTime pts)
{
  gst_buffer_unref (overlay_show (overlay, depth, plain_frame (&overlay->info, 0), pts));
}

/* Where the nearest surface of @depth is, by the message. */
static void
find_place (Overlay *overlay, GstBuffer *depth, GstClockTime pts, gint *x, gint *y)
{
  pass (overlay, depth, pts);
  g_autoptr (GstStructure) posted = overlay_nearest (overlay);
  fail_unless (posted != NULL, "no stereo-nearest");
  fail_unless (gst_structure_get (posted, "x", G_TYPE_INT, x, "y", G_TYPE_INT, y, NULL));
}

/* 5 m everywhere, and an object of @width by @height pixels at @x, @y. */
static GstBuffer *
scene (gint x, gint y, gint width, gint height, guint sample)
{
  GstBuffer *depth = new_depth (WIDTH, HEIGHT, GST_STEREO_OUTPUT_KIND_DEPTH, 5000);

  fill_depth (depth, x, y, width, height, sample);
  return depth;
}

/* Pixels of the depth, as those of stereonearest. */
TEST (test_place_in_another_size)
{
  g_autoptr (Overlay) overlay = overlay_new (
      QUIET, GST_VIDEO_FORMAT_GRAY8, 4 * WIDTH, 4 * HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);
  gint x, y;

  find_place (overlay, scene (20, 30, 16, 16, 800), 0, &x, &y);
  fail_unless (x >= 20 && x < 36 && y >= 30 && y < 46, "at %d,%d", x, y);
  set_properties (overlay->element, "nearest-percentile=0");
  find_place (overlay, scene (20, 30, 1, 1, 800), TICK, &x, &y);
  fail_unless (x == 20 && y == 30, "at %d,%d", x, y);
}

TEST (test_fields_of_the_frame)
{
  g_autoptr (Overlay) overlay = new_overlay ("");
  guint64 timestamp, running, stream, duration;

  pass (overlay, scene (0, 0, 1, 1, 1), 7 * TICK);
  g_autoptr (GstStructure) posted = overlay_nearest (overlay);
  fail_unless (gst_structure_get (posted, "timestamp", G_TYPE_UINT64, &timestamp, "running-time", G_TYPE_UINT64,
      &running, "stream-time", G_TYPE_UINT64, &stream, "duration", G_TYPE_UINT64, &duration, NULL));
  fail_unless_equals_uint64 (timestamp, 7 * TICK);
  fail_unless_equals_uint64 (running, 7 * TICK);
  fail_unless_equals_uint64 (stream, 7 * TICK);
  fail_unless_equals_uint64 (duration, TICK);
}

/* ---- the picture ------------------------------------------------------------------------- */

/* The red frame at the very edge of the picture. */
TEST (test_warning_is_seen)
{
  g_autoptr (Overlay) overlay = overlay_new (
      "alpha=0 legend=false warn-distance=1000", GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);

  for (guint i = 0; i < 3; i++) {
    guint8 corner[3];

    g_autoptr (GstBuffer) out = overlay_show (
        overlay, scene (10, 10, 20, 20, i == 1 ? 700 : 4000), plain_frame (&overlay->info, 60), i * TICK);
    gst_buffer_extract (out, 0, corner, 3);
    if (i == 1)
      fail_unless (corner[0] > 150 && corner[1] < 80 && corner[2] < 80);
    else
      fail_unless (corner[0] == 60 && corner[1] == 60 && corner[2] == 60);
  }
}

/* ---- state ------------------------------------------------------------------------------- */

/* 5 m, but for the @unknown upper rows, which are not seen; and an object of 12 x 12 pixels below, unless it is 0. */
static GstBuffer *
half_seen (gint unknown, guint object)
{
  GstBuffer *depth = scene (20, 48, 12, 12, object ? object : 5000);

  fill_depth (depth, 0, 0, WIDTH, unknown, 0);
  return depth;
}

TEST (test_state_is_posted_at_once)
{
  g_autoptr (Overlay) overlay = new_overlay ("warn-distance=1000 max-age=10000000 message-interval=1000000000");
  const struct
  {
    gint unknown;
    const gchar *state; /* NULL: no message */
  } frames[] = { { 0, "clear" }, { 5, NULL }, { 40, "unknown" }, { 41, NULL }, { 0, "clear" }, { 0, NULL },
    { -1, "unknown" } };

  for (guint i = 0; i < G_N_ELEMENTS (frames); i++) {
    if (frames[i].unknown >= 0)
      overlay_push_depth (overlay, half_seen (frames[i].unknown, 0), i * TICK);
    else
      overlay_eos (overlay, FALSE, TRUE); /* the depth of the frame before is too old */
    overlay_push_live (overlay, plain_frame (&overlay->info, 0), i * TICK);
    gst_buffer_unref (overlay_pull (overlay, i * TICK));
    GstStructure *posted = overlay_nearest (overlay);
    fail_unless ((posted != NULL) == (frames[i].state != NULL), "frame %u", i);
    if (posted) {
      fail_unless_equals_string (gst_structure_get_string (posted, "state"), frames[i].state);
      gst_structure_free (posted);
    }
  }
}

/* Whether any pixel of the output's upper left, where the read-out is, is of its amber. */
static gboolean
has_amber (Overlay *overlay, GstBuffer *depth, GstClockTime pts)
{
  gboolean amber = FALSE;
  GstMapInfo map;

  g_autoptr (GstBuffer) out = overlay_show (overlay, depth, plain_frame (&overlay->info, 60), pts);
  fail_unless (gst_buffer_map (out, &map, GST_MAP_READ));
  for (gsize i = 0; i + 2 < map.size / 3; i += 3)
    amber = amber || (map.data[i] > 200 && map.data[i + 1] > 140 && map.data[i + 1] < 220 && map.data[i + 2] < 130);
  gst_buffer_unmap (out, &map);
  return amber;
}

/* The picture says what is not known in the colour of a notice, whether there is a distance or not. */
TEST (test_unknown_is_seen)
{
  g_autoptr (Overlay) overlay = overlay_new ("alpha=0 legend=false warn-distance=1000", GST_VIDEO_FORMAT_RGB, 3 * WIDTH,
      3 * HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);

  fail_if (has_amber (overlay, half_seen (0, 0), 0), "clear");
  fail_unless (has_amber (overlay, half_seen (40, 0), TICK), "unknown");
  fail_unless (has_amber (overlay, half_seen (60, 0), 2 * TICK), "nothing seen");
  fail_if (has_amber (overlay, half_seen (40, 900), 3 * TICK), "near");
  fail_if (has_amber (overlay, half_seen (0, 900), 4 * TICK), "near, all seen");
}

/* Also where the depth cannot be relied on, although nothing near is seen. */
TEST (test_unreliable_depth_is_seen)
{
  g_autoptr (Overlay) overlay = overlay_new ("alpha=0 legend=false warn-distance=1000", GST_VIDEO_FORMAT_RGB, 3 * WIDTH,
      3 * HEIGHT, "GRAY16_LE", WIDTH, HEIGHT);
  GstBuffer *depth = half_seen (0, 0);

  fail_if (has_amber (overlay, half_seen (0, 0), 0), "clear");
  gst_buffer_get_stereo_meta (depth)->health = GST_STEREO_HEALTH_FROZEN_RIGHT;
  fail_unless (has_amber (overlay, depth, TICK), "frozen");
}

SUITE (overlay_nearest)
{
}
