/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * stereoground behind stereomatch, on roads whose ground is known: stereotestsrc makes them, with the noise of a sensor, and
 * the matcher errs as it does.
 */
#include <math.h>

#include "tests/support/gst/common.h"
#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

#define MATCH "stereomatch profile=road fill=none confidence-threshold=0.33 backend=cpu num-disparities=64"
/* stereotestsrc's camera: the focal length in widths of a view, and the baseline, mm */
#define FOCAL 0.9
#define BASELINE 120.0
/* What a matcher errs by, says stereoground: an obstacle has to be so many pixels nearer than the ground behind it. */
#define NEARER 2.7
#define OFF 0.25 /* px of disparity that an obstacle may be off by */
/* Pixels that a side of it may be off by: two, by which a matcher's window moves a border, and one, because stereoground reads
 * every second or third column. */
#define SIDE_OFF 3
#define OBSTACLE 700.0 /* mm wide */

static Random generator;

#define uniform(low, high) random_between (&generator, low, high)

/* The messages about @frames frames of a made road; views are @width pixels wide and three quarters of that high. */
static GPtrArray *
drive (const gchar *road, guint frames, gint width, const gchar *ground)
{
  g_autoptr (GstElement) pipeline = launch (
      "stereotestsrc name=source num-buffers=%u pattern=road noise=5 seed=%d %s ! "
      "video/x-raw,format=RGB,width=%d,height=%d ! " MATCH " ! stereoground %s ! fakesink",
      frames, random_range (&generator, 0, 9999), road, 2 * width, width * 3 / 4, ground);

  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  GPtrArray *messages = messages_to_end (bus, "stereo-obstacles");
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless_equals_int (messages->len, frames);
  return messages;
}

static const GValue *
list_of (const GstStructure *message, const gchar *name, guint *count)
{
  const GValue *list = gst_structure_get_value (message, name);

  fail_unless (list && GST_VALUE_HOLDS_ARRAY (list));
  *count = gst_value_array_get_size (list);
  return list;
}

/* From the first frame on: pitch and roll within 0.2 degrees, the height within 2 %. */
TEST (test_pose)
{
  for (guint round = 0; round < 4; round++) {
    gdouble height = uniform (1000, 3000), pitch = uniform (-1, 12), roll = uniform (-6, 6);
    g_autofree gchar *road = g_strdup_printf (
        "camera-height=%.0f camera-pitch=%.2f camera-roll=%.2f", height, pitch, roll);
    g_autoptr (GPtrArray) messages = drive (road, 3, 640, "");

    for (guint i = 0; i < messages->len; i++) {
      const GstStructure *message = g_ptr_array_index (messages, i);
      gboolean ground = FALSE;
      gst_structure_get_boolean (message, "ground", &ground);
      fail_unless (ground, "%s: no ground in frame %u", road, i);
      fail_unless (
          fabs (found_number (message, "pitch") - pitch) < 0.2, "%s: pitch %g", road, found_number (message, "pitch"));
      fail_unless (
          fabs (found_number (message, "roll") - roll) < 0.2, "%s: roll %g", road, found_number (message, "roll"));
      fail_unless (fabs (found_number (message, "camera-height") - height) < 0.02 * height, "%s: height %g", road,
          found_number (message, "camera-height"));
    }
  }
}

/* An obstacle a fifth higher than the smallest one is there from the third frame on, within a quarter of a pixel of its
 * disparity and as wide as it is, and the ground before it is not free beyond it. */
static void
expect_obstacle (gdouble distance, gint width)
{
  const gdouble camera = 1650, pixel = distance / (FOCAL * width),
                off = 2 * SIDE_OFF * pixel + OFF * pixel / BASELINE * OBSTACLE;
  gdouble height = MAX (250, 1.2 * NEARER * camera * distance / (FOCAL * width * BASELINE) + 60),
          lateral = uniform (-500, 500), found;
  g_autofree gchar *road = g_strdup_printf ("camera-height=%.0f camera-pitch=4 obstacle-height=%.0f obstacle-width=%.0f "
                                            "obstacle-distance=%.0f obstacle-lateral=%.0f",
      camera, height, OBSTACLE, distance, lateral);
  g_autoptr (GPtrArray) messages = drive (road, 3, width, "min-height=200");
  const GstStructure *message = g_ptr_array_index (messages, 2), *obstacle;
  guint count, columns;
  const GValue *list = list_of (message, "obstacles", &count), *free = list_of (message, "free", &columns);
  gint column = (gint) ((0.5 + FOCAL * lateral / distance) * columns);

  fail_unless_equals_int (count, 1);
  obstacle = gst_value_get_structure (gst_value_array_get_value (list, 0));
  found = found_number (obstacle, "distance");
  fail_unless (fabs (1 / found - 1 / distance) * FOCAL * width * BASELINE < OFF, "%s: found at %g", road, found);
  fail_unless (fabs (found_number (obstacle, "lateral") - lateral) < 120, "%s: %g mm to the right", road,
      found_number (obstacle, "lateral"));
  fail_unless (fabs (found_number (obstacle, "object-width") - OBSTACLE) < off, "%s: %g mm wide", road,
      found_number (obstacle, "object-width"));
  found = g_value_get_double (gst_value_array_get_value (free, (guint) column));
  fail_unless (found < 1.1 * distance, "%s: free for %g", road, found);
}

TEST_LOOP (test_obstacles, 0, 3)
{
  static const gdouble distances[] = { 5000, 10000, 20000 };

  for (gint width = 640; width <= 960; width += 320)
    expect_obstacle (distances[__i__], width);
}

/* Roads on which nothing stands. */
static const gchar *const empty[] = { "", "camera-roll=4 camera-pitch=2", "camera-height=2800 camera-pitch=14",
  "kerb-height=120 camera-pitch=3", "ramp-slope=3 ramp-distance=12000 camera-pitch=2" };

/* Two hundred frames each: nothing is reported, and the ground is never lost. */
TEST_LOOP (test_nothing, 0, G_N_ELEMENTS (empty))
{
  g_autoptr (GPtrArray) messages = drive (empty[__i__], 200, 320, "");

  for (guint i = 0; i < messages->len; i++) {
    gboolean ground = FALSE;
    guint count;
    list_of (g_ptr_array_index (messages, i), "obstacles", &count);
    gst_structure_get_boolean (g_ptr_array_index (messages, i), "ground", &ground);
    fail_unless (ground && count == 0, "%s: %u obstacles in frame %u", empty[__i__], count, i);
  }
}

SUITE (road)
{
  generator.state = random_seed ();
  tcase_set_timeout (tcase, 300);
}
