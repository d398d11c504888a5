/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What depthoverlay makes of stereoground's metadata. tests/gst/nearest has the verdicts, and test_found.c compares them. */
#include "tests/support/gst/overlay.h"
#include "tests/support/gst/suite.h"

#include <math.h>
#include <stdlib.h>

#define WIDTH 320
#define HEIGHT 200
#define COLUMNS 16
#define OBSTACLES "nearest=obstacle message-interval=0 text=false legend=false warn-distance=5000 "

/* Depth of half the view's size, everything 3 m away. Its ground is free for @free millimetres in each column. */
static GstBuffer *
new_ground (gboolean valid, gdouble free)
{
  GstBuffer *depth = new_depth (WIDTH / 2, HEIGHT / 2, GST_STEREO_OUTPUT_KIND_DEPTH, 3000);
  gdouble distances[COLUMNS];

  for (guint i = 0; i < COLUMNS; i++)
    distances[i] = free;
  add_ground (depth, valid, distances, COLUMNS);
  return depth;
}

/* Pixels of the depth picture. */
static void
add_obstacle (GstBuffer *depth, guint x, guint y, guint width, guint height, gdouble distance)
{
  GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta (
      depth, "obstacle", x, y, width, height);

  gst_video_region_of_interest_meta_add_param (roi,
      gst_structure_new (
          "stereo-obstacle", "distance", G_TYPE_DOUBLE, distance, "probability", G_TYPE_DOUBLE, 0.75, NULL));
}

static Overlay *
new_overlay (const gchar *properties)
{
  return overlay_new (properties, GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT, "GRAY16_LE", WIDTH / 2, HEIGHT / 2);
}

/* What is said of a frame with that depth. */
static GstStructure *
judge (Overlay *overlay, GstBuffer *depth, GstClockTime pts)
{
  gst_buffer_unref (overlay_show (overlay, depth, plain_frame (&overlay->info, 60), pts));
  return overlay_nearest (overlay);
}

static void
expect_state (
    Overlay *overlay, GstBuffer *depth, GstClockTime pts, const gchar *state, gdouble coverage, gdouble distance)
{
  g_autoptr (GstStructure) message = judge (overlay, depth, pts);
  gdouble number = -1;

  fail_unless (message != NULL);
  fail_unless_equals_string (gst_structure_get_string (message, "state"), state);
  fail_unless (gst_structure_get_double (message, "coverage", &number));
  fail_unless_equals_float (number, coverage);
  fail_unless_equals_int (gst_structure_get_double (message, "distance", &number), distance > 0);
  if (distance > 0)
    fail_unless_equals_float (number, distance);
}

/* What lies outside the region does not matter: the right half of the picture. */
TEST (test_region)
{
  g_autoptr (Overlay) overlay = new_overlay (OBSTACLES);
  GValue region = G_VALUE_INIT;
  GstBuffer *depth = new_ground (TRUE, 9000);

  g_value_init (&region, GST_TYPE_ARRAY);
  fail_unless (gst_value_deserialize (&region, "<0.5, 0.0, 0.5, 1.0>"));
  g_object_set_property (G_OBJECT (overlay->element), "region", &region);
  g_value_unset (&region);
  add_obstacle (depth, 40, 20, 39, 40, 1000);
  expect_state (overlay, depth, 0, "clear", 1, 0);
  depth = new_ground (TRUE, 9000);
  add_obstacle (depth, 40, 20, 43, 40, 1000);
  expect_state (overlay, depth, TICK, "near", 1, 1000);
}

/* What was known of the ground says nothing of surfaces, once these are asked for. */
TEST (test_change_to_surfaces)
{
  g_autoptr (Overlay) overlay = new_overlay (
      "nearest=obstacle message-interval=0 text=false legend=false max-unknown=1");

  expect_state (overlay, new_ground (TRUE, 9000), 0, "clear", 1, 0);
  set_properties (overlay->element, "nearest=surface");
  expect_state (overlay, new_depth (WIDTH / 2, HEIGHT / 2, GST_STEREO_OUTPUT_KIND_DEPTH, 0), TICK, "unknown", 0, 0);
  expect_state (overlay, new_ground (TRUE, 9000), 2 * TICK, "near", 1, 3000);
}

static gboolean
is_changed (GstVideoFrame *frame, gint x, gint y)
{
  const guint8 *pixel = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, 0) +
      y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0) + 3 * x;

  return pixel[0] != 60 || pixel[1] != 60 || pixel[2] != 60;
}

/* A box round the obstacle, and a line where the free ground ends: at 2 m, disparity 5 px, row 50 of 100. */
TEST (test_picture)
{
  g_autoptr (Overlay) overlay = new_overlay ("legend=false alpha=0 nearest-percentile=100");
  GstBuffer *depth = new_ground (TRUE, 2000), *out;
  GstVideoFrame frame;

  add_obstacle (depth, 100, 60, 40, 30, 4000);
  out = overlay_show (overlay, depth, plain_frame (&overlay->info, 60), 0);
  fail_unless (gst_video_frame_map (&frame, &overlay->info, out, GST_MAP_READ));
  for (gint x = 0; x < WIDTH; x++)
    fail_unless (is_changed (&frame, x, 100), "no line at column %d", x);
  for (gint x = 200; x < 280; x++)
    fail_unless (is_changed (&frame, x, 120) && is_changed (&frame, x, 179), "no box at column %d", x);
  for (gint y = 120; y < 180; y++)
    fail_unless (is_changed (&frame, 200, y) && is_changed (&frame, 279, y), "no box at row %d", y);
  fail_if (is_changed (&frame, 240, 150) || is_changed (&frame, 100, 150));
  gst_video_frame_unmap (&frame);
  gst_buffer_unref (out);
}

/* No line where the free ground ends outside the picture: above it, below it, so far below that no integer says where, and
 * nowhere. */
TEST (test_no_line)
{
  static const gdouble downs[] = { -0.1, 0.01, 1e-300, 0 };

  for (guint i = 0; i < G_N_ELEMENTS (downs); i++) {
    g_autoptr (Overlay) overlay = new_overlay ("legend=false alpha=0 text=false nearest-percentile=100");
    GstBuffer *depth = new_ground (TRUE, 2000), *out;
    GstVideoFrame frame;

    gst_structure_set (found_of (depth, "GstStereoGroundMeta"), "plane-down", G_TYPE_DOUBLE, downs[i], NULL);
    out = overlay_show (overlay, depth, plain_frame (&overlay->info, 60), 0);
    fail_unless (gst_video_frame_map (&frame, &overlay->info, out, GST_MAP_READ));
    for (gint y = 0; y < HEIGHT; y++)
      fail_if (is_changed (&frame, WIDTH / 4, y), "a line at row %d where a row of disparity is %g px", y, downs[i]);
    gst_video_frame_unmap (&frame);
    gst_buffer_unref (out);
  }
}

/* Both sides of the driving corridor, from 30 m to where the picture ends. Its ground is in row 100 m / distance of the depth, so
 * that a corridor of 800 mm is 40 columns wide in row 50. The picture is twice as large. */
TEST (test_corridor)
{
  static const struct
  {
    const gchar *what;
    gdouble width, principal_x, focal_length; /* mm, px of the depth */
    gint middle, last;                        /* px of the picture; last = 0: no line */
  } rows[] = {
    { "800 mm", 800, 0, 100, 160, HEIGHT - 8 },
    { "1600 mm, whose sides leave the picture at the bottom corners", 1600, 0, 100, 160, HEIGHT - 8 },
    { "4000 mm, whose sides leave the picture in row 80", 4000, 0, 100, 160, 76 },
    { "a camera that looks 20 px beside the middle", 400, 60, 100, 120, HEIGHT - 8 },
    { "no width", 0, 0, 100, 160, 0 },
    { "a width that is no number", NAN, 0, 100, 160, 0 },
    { "no focal length", 800, 0, 0, 160, 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++) {
    g_autoptr (Overlay) overlay = new_overlay ("legend=false alpha=0 verdict=false");
    GstBuffer *depth = new_depth (WIDTH / 2, HEIGHT / 2, GST_STEREO_OUTPUT_KIND_DEPTH, 0), *out;
    GstStructure *ground = add_ground (depth, TRUE, NULL, 0);
    GstStereoMeta *meta = gst_buffer_get_stereo_meta (depth);
    GstVideoFrame frame;

    gst_structure_set (ground, "corridor", G_TYPE_DOUBLE, rows[i].width, NULL);
    meta->principal_x = rows[i].principal_x;
    meta->focal_length = rows[i].focal_length;
    out = overlay_show (overlay, depth, plain_frame (&overlay->info, 60), 0);
    fail_unless (gst_video_frame_map (&frame, &overlay->info, out, GST_MAP_READ));
    for (gint y = 0; y < HEIGHT; y++)
      for (gint x = 0; x < WIDTH; x++) {
        gdouble side = rows[i].width / 2000 * y, off = fabs (abs (x - rows[i].middle) - side),
                slope = rows[i].width / 2000;
        gboolean changed = is_changed (&frame, x, y);

        if (changed)
          fail_unless (rows[i].last && off <= 4 + 4 * slope, "%s: a pixel at %d,%d", rows[i].what, x, y);
        else if (y >= 10 && y <= rows[i].last)
          fail_if (off < 1, "%s: no line at %d,%d", rows[i].what, x, y);
      }
    gst_video_frame_unmap (&frame);
    gst_buffer_unref (out);
  }
}

SUITE (ground)
{
}
