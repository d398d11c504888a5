/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames a second of stereopoints, of 1080p pictures in a stream, by the processor time of all threads; and of the whole-picture function. */
#include <time.h>

#include "tests/support/gst/util.h"
#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

#define WIDTH 1920
#define HEIGHT 1080
#define WARM 5
#define FRAMES 100

/* Nine pixels of ten are valid. */
static GstBuffer *
make_picture (Random *random)
{
  GstBuffer *confidence = make_view (GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, 1, 0, 0);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 2 * WIDTH * HEIGHT, NULL);
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (buffer, WIDTH, HEIGHT, confidence);
  GstMapInfo map;

  gst_buffer_unref (confidence);
  meta->disparity_scale = 64;
  meta->focal_length = 1000;
  meta->baseline = 120;
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < WIDTH * HEIGHT; i++)
    GST_WRITE_UINT16_LE (map.data + 2 * i, random_range (random, 0, 9) ? (guint16) random_range (random, 64, 8192) : 0);
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

/* Time of all threads, microseconds: what else the machine does is left out. */
static gint64
cpu_time (void)
{
  struct timespec now;

  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &now);
  return (gint64) now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static gint
compare (gconstpointer a, gconstpointer b)
{
  return *(const gint64 *) a < *(const gint64 *) b ? -1 : *(const gint64 *) a > *(const gint64 *) b;
}

static void
say (const gchar *what, gint64 times[FRAMES])
{
  qsort (times, FRAMES, sizeof *times, compare);
  gdouble median = (gdouble) times[FRAMES / 2] / 1e3;
  g_print ("%-44s %6.2f ms, %4.0f frames a second\n", what, median, 1e3 / median);
}

static void
time_element (const gchar *properties, GstBuffer *picture)
{
  GstElement *element = gst_element_factory_make ("stereopoints", NULL);
  GstHarness *depth;
  gint64 times[FRAMES];

  set_properties (element, properties);
  depth = gst_harness_new_with_element (element, "sink", "src");
  harness_set_caps (depth, GST_VIDEO_FORMAT_GRAY16_LE, WIDTH, HEIGHT, NULL);
  for (gint i = -WARM; i < FRAMES; i++) {
    GstClockTime time = (GstClockTime) (i + WARM) * FRAME;
    gint64 start = cpu_time ();

    gst_harness_push (depth, stamp (gst_buffer_copy (picture), time, FRAME));
    gst_buffer_unref (gst_harness_pull (depth));
    times[MAX (0, i)] = cpu_time () - start;
  }
  gchar *what = g_strdup_printf ("stereopoints %s", properties);
  say (what, times);
  g_free (what);
  gst_harness_teardown (depth);
}

static void
time_function (GstBuffer *picture)
{
  g_autofree gfloat *points = g_new (gfloat, WIDTH * HEIGHT * 3);
  gint64 times[FRAMES];

  for (gint i = -WARM; i < FRAMES; i++) {
    gint64 start = cpu_time ();

    fail_unless (gst_stereo_meta_get_points (gst_buffer_get_stereo_meta (picture), picture, points));
    times[MAX (0, i)] = cpu_time () - start;
  }
  say ("gst_stereo_meta_get_points", times);
}

TEST (test_1080p)
{
  static const gchar *const properties[] = { "format=ply", "format=pcd", "organized=true", "step=2" };
  Random random = { 1 };
  g_autoptr (GstBuffer) picture = make_picture (&random);

  g_print ("%dx%d, the median of %d\n", WIDTH, HEIGHT, FRAMES);
  time_function (picture);
  for (guint i = 0; i < G_N_ELEMENTS (properties); i++)
    time_element (properties[i], picture);
}

/* A suite, since what it shares with the tests fails as a test does. */
SUITE (bench_points)
{
  tcase_set_timeout (tcase, 120);
}
