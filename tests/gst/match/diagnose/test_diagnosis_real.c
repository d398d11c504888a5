/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The check of the input on real pairs: it is silent about rectified pairs in the right order, and it notices exchanged
 * and unrectified pairs. STEREO_DATA names the folder of the pictures, which are not part of the project.
 */
#include "tests/support/gst/suite.h"

#include <gst/video/video.h>

#include "tests/gst/match/diagnose/made.h"
#include "tests/support/gst/real.h"

static StereoImage
image_of (const GstVideoFrame *frame)
{
  StereoImage image = { GST_VIDEO_FRAME_PLANE_DATA (frame, 0), GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0),
    GST_VIDEO_FRAME_COMP_PSTRIDE (frame, 0), GST_VIDEO_FRAME_N_COMPONENTS (frame) >= 3 ? 3 : 1, { 0, 1, 2 },
    STEREO_MEMORY_HOST };

  return image;
}

/* A look at the pair as it is, or exchanged. FALSE where it is not there. */
static gboolean
look (const gchar *left, const gchar *right, const gchar *format, gint num, gboolean exchanged,
    GstStereoMatchFigures *result)
{
  GstSample *samples[2] = { real_picture (left, format), real_picture (right, format) };
  GstVideoFrame frames[2];
  StereoImage images[2];
  GstVideoInfo info;

  for (guint i = 0; i < 2; i++) {
    if (!samples[i]) {
      g_clear_pointer (&samples[1 - i], gst_sample_unref);
      return FALSE;
    }
    fail_unless (gst_video_info_from_caps (&info, gst_sample_get_caps (samples[i])));
    fail_unless (gst_video_frame_map (&frames[i], &info, gst_sample_get_buffer (samples[i]), GST_MAP_READ));
    images[i] = image_of (&frames[i]);
  }
  const StereoImage pair[] = { images[exchanged], images[!exchanged] };
  fail_unless (match_views (pair, GST_VIDEO_INFO_WIDTH (&info), GST_VIDEO_INFO_HEIGHT (&info), 0, num, 0, result));
  for (guint i = 0; i < 2; i++) {
    gst_video_frame_unmap (&frames[i]);
    gst_sample_unref (samples[i]);
  }
  g_print ("%s, %s, %d disparities%s: %u points, %u matches, %u forward, %u backward, median %.1f px; %u placed, off "
           "by %.2f px\n",
      left, format, num, exchanged ? ", exchanged" : "", result->points, result->matches, result->forward,
      result->backward, result->disparity, result->placed, result->vertical);
  return TRUE;
}

static void
check_rectified (const gchar *left, const gchar *right, gint num)
{
  static const gchar *const formats[] = { "GRAY8", "RGB", "BGRx" };
  const gint nums[] = { num, 128 };
  GstStereoMatchFigures result;

  for (guint i = 0; i < G_N_ELEMENTS (formats) * G_N_ELEMENTS (nums) * 2; i++) {
    gboolean exchanged = i % 2;

    if (!look (left, right, formats[i / 4], nums[i / 2 % 2], exchanged, &result))
      return;
    fail_unless_equals_int (verdict_of (GST_STEREO_HEALTH_SWAPPED, &result), exchanged ? BAD : GOOD);
    fail_unless_equals_int (verdict_of (GST_STEREO_HEALTH_ROWS, &result), GOOD);
  }
}

TEST_LOOP (test_rectified, 0, 7)
{
  static const struct
  {
    const gchar *name;
    gint num;
  } scenes[] = { { "tsukuba", 16 }, { "venus", 20 }, { "teddy", 60 }, { "cones", 60 }, { "motorcycle", 70 },
    { "motorcycle-exposure", 70 }, { "aloe", 224 } };
  g_autofree gchar *left = g_strdup_printf ("%s/left.png", scenes[__i__].name);
  g_autofree gchar *right = g_strdup_printf ("%s/right.png", scenes[__i__].name);

  check_rectified (left, right, scenes[__i__].num);
}

TEST_LOOP (test_road, 0, 6)
{
  g_autofree gchar *left = g_strdup_printf ("road/left/%06d.png", 5 * __i__),
                   *right = g_strdup_printf ("road/right/%06d.png", 5 * __i__);

  check_rectified (left, right, 96);
}

/* The right frame of another moment, on a moving car: nothing about the order of the views may be said. */
TEST_LOOP (test_road_out_of_step, 0, 6)
{
  g_autofree gchar *left = g_strdup_printf ("road/left/%06d.png", 5 * __i__),
                   *right = g_strdup_printf ("road/right/%06d.png", 5 * __i__ + 1);
  GstStereoMatchFigures result;

  if (look (left, right, "GRAY8", 128, FALSE, &result))
    fail_unless (verdict_of (GST_STEREO_HEALTH_SWAPPED, &result) != BAD);
}

TEST_LOOP (test_unrectified, 1, 15)
{
  g_autofree gchar *left = g_strdup_printf ("unrectified/left/left%02d.jpg", __i__);
  g_autofree gchar *right = g_strdup_printf ("unrectified/right/right%02d.jpg", __i__);
  GstStereoMatchFigures result;

  if (look (left, right, "GRAY8", 128, FALSE, &result)) {
    fail_unless_equals_int (verdict_of (GST_STEREO_HEALTH_ROWS, &result), BAD);
    fail_unless (verdict_of (GST_STEREO_HEALTH_SWAPPED, &result) != BAD);
  }
}

SUITE_IF (diagnosis_real, real_is_there ())
{
}
