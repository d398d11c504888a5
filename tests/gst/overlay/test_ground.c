/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What depthoverlay makes of stereoground's metadata. tests/gst/nearest has the verdicts, and test_found.c compares them. */
#include "tests/support/gst/overlay.h"
#include "tests/support/gst/suite.h"

#include <math.h>
#include <stdlib.h>

#define WIDTH 320
#define HEIGHT 200
#define COLUMNS 16

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
add_obstacle (GstBuffer *depth, guint x, guint y, guint width, guint height, gdouble distance, gboolean ahead)
{
  GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta (
      depth, "obstacle", x, y, width, height);

  gst_video_region_of_interest_meta_add_param (roi,
      gst_structure_new ("stereo-obstacle", "distance", G_TYPE_DOUBLE, distance, "probability", G_TYPE_DOUBLE, 0.75,
          "ahead", G_TYPE_BOOLEAN, ahead, NULL));
}

static Overlay *
new_overlay (const gchar *properties)
{
  return overlay_new (properties, GST_VIDEO_FORMAT_RGB, WIDTH, HEIGHT, "GRAY16_LE", WIDTH / 2, HEIGHT / 2);
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

  add_obstacle (depth, 100, 60, 40, 30, 4000, TRUE);
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

/* Pixels of the upper or the lower half that labels take, of @count obstacles ahead in the upper one, as small as a pixel, and of a
 * nearer one in the lower half that is not ahead. */
static guint
labels_of (guint count, gboolean lower)
{
  g_autoptr (Overlay) overlay = new_overlay ("legend=false alpha=0 verdict=false nearest=obstacle");
  GstBuffer *depth = new_ground (FALSE, 0);
  GstVideoFrame frame;
  guint changed = 0;

  add_obstacle (depth, 80, 98, 1, 1, 1000, FALSE);
  for (guint i = 0; i < count; i++)
    add_obstacle (depth, 80, 25, 1, 1, 3000, TRUE);
  g_autoptr (GstBuffer) out = overlay_show (overlay, depth, plain_frame (&overlay->info, 60), 0);
  fail_unless (gst_video_frame_map (&frame, &overlay->info, out, GST_MAP_READ));
  for (gint y = lower ? HEIGHT / 2 : 0; y < (lower ? HEIGHT : HEIGHT / 2); y++)
    for (gint x = 0; x < WIDTH; x++)
      changed += is_changed (&frame, x, y);
  gst_video_frame_unmap (&frame);
  return changed;
}

/* At most three things have a label, of which none covers another or is cut off: first what is ahead, then what is near. */
TEST (test_labels)
{
  guint one = labels_of (1, FALSE);

  fail_unless (one > 300, "%u pixels of a label", one);
  fail_unless_equals_int (labels_of (0, FALSE), 0);
  fail_unless_equals_int (labels_of (0, TRUE), one);
  fail_unless_equals_int (labels_of (2, FALSE), 2 * one);
  fail_unless_equals_int (labels_of (2, TRUE), one);
  for (guint count = 3; count < 9; count++) {
    fail_unless_equals_int (labels_of (count, FALSE), 3 * one);
    fail_unless_equals_int (labels_of (count, TRUE), 0);
  }
}

/* The digits of a label are 3 % of the picture high, or more. */
TEST (test_digits)
{
  g_autoptr (Overlay) overlay = overlay_new (
      "legend=false alpha=0 verdict=false nearest=obstacle", GST_VIDEO_FORMAT_GRAY8, 1280, 720, "GRAY16_LE", 320, 180);
  GstBuffer *depth = new_depth (320, 180, GST_STEREO_OUTPUT_KIND_DEPTH, 0);
  guint rows = 0;
  GstMapInfo map;

  add_ground (depth, FALSE, NULL, 0);
  add_obstacle (depth, 160, 90, 1, 1, 3000, TRUE);
  g_autoptr (GstBuffer) out = overlay_show (overlay, depth, plain_frame (&overlay->info, 60), 0);
  fail_unless (gst_buffer_map (out, &map, GST_MAP_READ));
  for (gsize y = 0; y < 720; y++) {
    gboolean white = FALSE;

    for (gsize x = 0; x < 1280; x++)
      white |= map.data[y * 1280 + x] > 200;
    rows += white;
  }
  gst_buffer_unmap (out, &map);
  fail_unless (rows >= 720 * 3 / 100, "%u rows", rows);
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
