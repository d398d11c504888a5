/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The check of the input on real pairs: it is silent about rectified pairs in the right order, and it notices exchanged
 * and unrectified pairs. STEREO_DATA names the folder of the pictures, which are not part of the project.
 */
#include "tests/support/gst/util.h"

#include "gst/match/diagnose/verdicts.h"
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
    GstStereoPairMatches *result)
{
  GstSample *samples[2] = { real_picture (left, format), real_picture (right, format) };
  GstVideoFrame frames[2];
  StereoImage images[2];
  GstStereoPairMatcher *check;
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
  check = gst_stereo_pair_matcher_new (GST_VIDEO_INFO_WIDTH (&info), GST_VIDEO_INFO_HEIGHT (&info), 0, num);
  gst_stereo_pair_matcher_run (check, &images[exchanged], &images[!exchanged], NULL, 0, result);
  gst_stereo_pair_matcher_free (check);
  for (guint i = 0; i < 2; i++) {
    gst_video_frame_unmap (&frames[i]);
    gst_sample_unref (samples[i]);
  }
  g_print ("%s, %s, %d disparities%s: %u points, %u matches, %u forward, %u backward, median %.1f px; %u placed, off "
           "by %.2f px (%.2f, %.2f)\n",
      left, format, num, exchanged ? ", exchanged" : "", result->points, result->matches, result->forward,
      result->backward, result->disparity, result->placed, result->vertical, result->vertical_left,
      result->vertical_right);
  return TRUE;
}

static void
check_rectified (const gchar *left, const gchar *right, gint num)
{
  static const gchar *const formats[] = { "GRAY8", "RGB", "BGRx" };
  const gint nums[] = { num, 128 };
  GstStereoPairMatches result;

  for (guint i = 0; i < G_N_ELEMENTS (formats) * G_N_ELEMENTS (nums) * 2; i++) {
    gboolean exchanged = i % 2;

    if (!look (left, right, formats[i / 4], nums[i / 2 % 2], exchanged, &result))
      return;
    fail_unless_equals_int (
        gst_stereo_verdict_exchanged (&result), exchanged ? GST_STEREO_VERDICT_BAD : GST_STEREO_VERDICT_GOOD);
    fail_unless_equals_int (gst_stereo_verdict_rows (&result), GST_STEREO_VERDICT_GOOD);
  }
}

GST_START_TEST (test_rectified)
{
  static const struct
  {
    const gchar *name;
    gint num;
  } scenes[] = { { "tsukuba", 16 }, { "venus", 20 }, { "teddy", 60 }, { "cones", 60 }, { "motorcycle", 70 },
    { "motorcycle-exposure", 70 }, { "aloe", 224 } };
  gchar *left = g_strdup_printf ("%s/left.png", scenes[__i__].name);
  gchar *right = g_strdup_printf ("%s/right.png", scenes[__i__].name);

  check_rectified (left, right, scenes[__i__].num);
  g_free (left);
  g_free (right);
}
GST_END_TEST;

GST_START_TEST (test_road)
{
  gchar *left = g_strdup_printf ("road/left/%06d.png", 5 * __i__),
        *right = g_strdup_printf ("road/right/%06d.png", 5 * __i__);

  check_rectified (left, right, 96);
  g_free (left);
  g_free (right);
}
GST_END_TEST;

/* The right frame of another moment, on a moving car: nothing about the order of the views may be said. */
GST_START_TEST (test_road_out_of_step)
{
  gchar *left = g_strdup_printf ("road/left/%06d.png", 5 * __i__),
        *right = g_strdup_printf ("road/right/%06d.png", 5 * __i__ + 1);
  GstStereoPairMatches result;

  if (look (left, right, "GRAY8", 128, FALSE, &result))
    fail_unless (gst_stereo_verdict_exchanged (&result) != GST_STEREO_VERDICT_BAD);
  g_free (left);
  g_free (right);
}
GST_END_TEST;

GST_START_TEST (test_unrectified)
{
  gchar *left = g_strdup_printf ("unrectified/left/left%02d.jpg", __i__);
  gchar *right = g_strdup_printf ("unrectified/right/right%02d.jpg", __i__);
  GstStereoPairMatches result;

  if (look (left, right, "GRAY8", 128, FALSE, &result)) {
    fail_unless_equals_int (gst_stereo_verdict_rows (&result), GST_STEREO_VERDICT_BAD);
    fail_unless (gst_stereo_verdict_exchanged (&result) != GST_STEREO_VERDICT_BAD);
  }
  g_free (left);
  g_free (right);
}
GST_END_TEST;

static Suite *
diagnosis_real_suite (void)
{
  Suite *suite = suite_create ("diagnosis_real");
  TCase *cases = tcase_create ("diagnosis_real");

  suite_add_tcase (suite, cases);
  tcase_add_loop_test (cases, test_rectified, 0, 7);
  tcase_add_loop_test (cases, test_road, 0, 6);
  tcase_add_loop_test (cases, test_road_out_of_step, 0, 6);
  tcase_add_loop_test (cases, test_unrectified, 1, 15);
  return suite;
}

int
main (int argc, char **argv)
{
  if (!real_is_there ())
    return 77;
  gst_check_init (&argc, &argv);
  return gst_check_run_suite (diagnosis_real_suite (), "diagnosis_real", __FILE__);
}
