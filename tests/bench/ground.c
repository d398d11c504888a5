/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Time of stereoground for a frame: of its logic alone, and in a stream. The median of many frames, on one thread. */
#include "tests/gst/ground/made.h"
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

#define WARM 10
#define FRAMES 200

static gint
compare (gconstpointer a, gconstpointer b)
{
  return *(const gint64 *) a < *(const gint64 *) b ? -1 : *(const gint64 *) a > *(const gint64 *) b;
}

static gdouble
median_ms (gint64 *times)
{
  qsort (times, FRAMES, sizeof *times, compare);
  return (gdouble) times[FRAMES / 2] / 1e3;
}

/* A road with vehicles and a row of houses, as a matcher gives it. */
static MadePicture *
make_street (gint width, gint height, Random *random)
{
  static const MadeErrors errors = { .noise = 0.4, .outliers = 0.05, .holes = 0.15, .patches = 100 };
  MadeScene street = made_road ();

  street.focal *= (gdouble) width / street.width;
  street.width = width;
  street.height = height;
  street.boxes[0] = (MadeBox){ 9000, 3000, 1800, 1500, 0 };
  street.boxes[1] = (MadeBox){ 14000, -3500, 1800, 1500, 0 };
  street.boxes[2] = (MadeBox){ 25000, 200, 2000, 2500, 0 };
  street.boxes[3] = (MadeBox){ 30000, -12000, 14000, 8000, 0 };
  street.boxes[4] = (MadeBox){ 22000, 12000, 12000, 8000, 0 };
  MadePicture *picture = made_picture_new (&street);
  made_picture_spoil (picture, &errors, random);
  return picture;
}

static gdouble
time_logic (const MadePicture *picture, guint *obstacles)
{
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
  GstStereoGroundTask task = made_task ();
  GstStereoGroundResult result;
  gint64 times[FRAMES];

  for (gint i = -WARM; i < FRAMES; i++) {
    gint64 start = g_get_monotonic_time ();

    gst_stereo_ground_analysis_run (analysis, &picture->view, &task, &result);
    times[MAX (0, i)] = g_get_monotonic_time () - start;
  }
  fail_unless (result.valid);
  *obstacles = result.n_obstacles;
  return median_ms (times);
}

static gdouble
time_element (const MadePicture *picture)
{
  guint width = picture->meta.width, height = picture->meta.height;
  g_autoptr (GstHarness) harness = gst_harness_new ("stereoground");
  gint64 times[FRAMES];

  harness_set_caps (harness, GST_VIDEO_FORMAT_GRAY16_LE, (gint) width, (gint) height, NULL);
  for (gint i = -WARM; i < FRAMES; i++) {
    GstBuffer *buffer = make_view (GST_VIDEO_FORMAT_GRAY16_LE, (gint) width, (gint) height, 0, 0, 0);
    GstBuffer *confidence = make_view (GST_VIDEO_FORMAT_GRAY8, (gint) width, (gint) height, 0, 0, 1);
    const GstVideoMeta *rows = gst_buffer_get_video_meta (buffer);
    gsize stride = rows ? (gsize) rows->stride[0] : GST_ROUND_UP_4 (2 * width);

    for (guint y = 0; y < height; y++)
      gst_buffer_fill (buffer, y * stride, picture->samples + (gsize) y * width, 2 * (gsize) width);
    gst_buffer_memset (confidence, 0, 255, (gsize) -1);
    GstStereoMeta *meta = gst_buffer_add_stereo_meta (buffer, width, height, confidence);
    meta->disparity_scale = picture->meta.disparity_scale;
    meta->focal_length = picture->meta.focal_length;
    meta->baseline = picture->meta.baseline;
    stamp (buffer, (GstClockTime) (i + WARM) * FRAME, FRAME);
    gst_buffer_unref (confidence);
    gint64 start = g_get_monotonic_time ();
    fail_unless_equals_int (gst_harness_push (harness, buffer), GST_FLOW_OK);
    times[MAX (0, i)] = g_get_monotonic_time () - start;
    gst_buffer_unref (gst_harness_pull (harness));
  }
  return median_ms (times);
}

TEST (test_sizes)
{
  static const gint sizes[][2] = { { 640, 480 }, { 1242, 375 }, { 1280, 720 }, { 1920, 1080 } };

  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++) {
    Random random = { 1 };
    g_autoptr (MadePicture) picture = make_street (sizes[i][0], sizes[i][1], &random);
    guint obstacles;
    gdouble logic = time_logic (picture, &obstacles);

    g_print ("%4dx%-4d logic %5.2f ms, element %5.2f ms, %u obstacles\n", sizes[i][0], sizes[i][1], logic,
        time_element (picture), obstacles);
  }
}

/* A suite, since what it shares with the tests fails as a test does. */
SUITE (bench_ground)
{
  tcase_set_timeout (tcase, 120);
}
