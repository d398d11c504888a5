/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calibrations of many formats that cannot be read: what they are is named, and what to do. */
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/gst/calibration/robots.h"
#include "tests/support/gst/calibration/text.h"
#include "gst/rectify/calibration/calibration.h"

static Random source;
static const GstStereoCalibrationOptions by_format;

static void
refuse_of (gchar *left, gchar *right, const GstStereoCalibrationOptions *options, const gchar *const *words)
{
  GstStereoCalibration c;
  g_autofree gchar *message = NULL;

  CHECK (!gst_stereo_calibration_parse (&c, left, right, options, &message),
      "taken, and should be refused for '%s':\n%s", words[0], left);
  CHECK (message && strstr (message, "calibration: ") && strlen (message) < 900 && g_utf8_validate (message, -1, NULL),
      "'%s'", message);
  for (; message && *words; words++)
    CHECK (strstr (message, *words), "'%s' does not say '%s'", message, *words);
  g_free (left);
  g_free (right);
}

#define REFUSE(left, right, ...) refuse_of (left, right, &by_format, (const gchar *const[]){ __VA_ARGS__, NULL })

static void
test_refusals_of_models (void)
{
  StereoCalibration c = calibration_draw_cameras (&source, 4, FALSE, FALSE);
  Frame steps[2] = { frame_draw (&source, 0.1, -90, -80), frame_draw (&source, 0.1, -90, -80) };
  g_autofree gchar *kalibr = calibration_kalibr (&c, 4, steps, 2);

  REFUSE (calibration_replaced (g_strdup (kalibr), "pinhole", "omni"), NULL, "Kalibr's camchain", "camera_model",
      "'omni'", "radtan");
  REFUSE (calibration_replaced (g_strdup (kalibr), "radtan", "fov"), NULL, "Kalibr's camchain", "'fov'", "equidistant");
  REFUSE (calibration_replaced (g_strdup (kalibr), "pinhole", "ds"), NULL, "Kalibr's camchain", "'ds'");
  REFUSE (calibration_replaced (g_strdup (kalibr), "radtan", "nan"), NULL, "Kalibr's camchain", "'nan'");
  REFUSE (calibration_kalibr (&c, 4, steps, 1), NULL, "cam1.intrinsics is missing", "Kalibr's camchain");
  REFUSE (calibration_replaced (g_strdup (kalibr), "T_cn_cnm1", "T_c1_c0"), NULL, "T_cn_cnm1", "is missing", "Kalibr");
  REFUSE (calibration_replaced (g_strdup (kalibr), "T_cn_cnm1:\n  - [", "T_cn_cnm1:\n  - [9, "), NULL, "T_cn_cnm1",
      "17 values", "16");
  REFUSE (calibration_replaced (g_strdup (kalibr), "T_cn_cnm1:\n  - [", "T_cn_cnm1:\n  - [.nan, "), NULL, "T_cn_cnm1",
      "finite");
  REFUSE (calibration_replaced (g_strdup (kalibr), "intrinsics: [", "intrinsics: [1, "), NULL, "cam0.intrinsics",
      "5 values", "4");
  REFUSE (calibration_replaced (g_strdup (kalibr), "intrinsics: [", "intrinsics: [x"), NULL, "cam0.intrinsics",
      "not a number");
  REFUSE (calibration_replaced (g_strdup (kalibr), "resolution: [", "resolution: [7, 9]\n  other: ["), NULL, "7 x 9",
      "one size");
  REFUSE (g_strdup (kalibr), g_strdup (kalibr), "Kalibr's camchain", "both cameras", "only one");
  refuse_of (g_strdup (kalibr), NULL, &(GstStereoCalibrationOptions){ .cameras = "0,2" },
      (const gchar *const[]){ "cam2.intrinsics is missing", NULL });
}

static void
test_refusals_of_pairs (void)
{
  StereoCalibration c = calibration_draw_cameras (&source, 4, TRUE, FALSE),
                    pair = calibration_draw_cameras (&source, 4, FALSE, FALSE);
  Frame body = frame_draw (&source, 1, 50, 90), bent = body;

  bent.m[0] += 0.1;
  REFUSE (calibration_euroc (&pair, 0, &body), NULL, "one camera", "EuRoC's sensor.yaml", "left.yaml,right.yaml");
  REFUSE (calibration_message (&c, 0, 4, TRUE), NULL, "one camera", "camera_info message", "left.yaml,right.yaml");
  REFUSE (calibration_ost (&c, 0, "left"), NULL, "one camera", "INI", "left.yaml,right.yaml");
  REFUSE (calibration_euroc (&pair, 0, &body), calibration_message (&c, 1, 4, TRUE), "EuRoC", "message", "one kind");
  REFUSE (calibration_euroc (&pair, 0, &bent), calibration_euroc (&pair, 1, &body), "T_BS", "not a rotation");
  REFUSE (calibration_message (&c, 0, 4, FALSE),
      calibration_replaced (calibration_message (&c, 1, 4, FALSE), "\np:", "\nq:"), "right calibration: p is missing",
      "message of ROS");
  REFUSE (calibration_replaced (calibration_message (&c, 0, 4, FALSE), "\nwidth: ", "\nwidth: -"),
      calibration_message (&c, 1, 4, FALSE), "width is -", "65535");
  REFUSE (calibration_replaced (calibration_message (&c, 0, 4, FALSE), "plumb_bob", "Mei"),
      calibration_message (&c, 1, 4, FALSE), "left calibration", "'Mei'", "not supported");
  REFUSE (calibration_replaced (calibration_ost (&c, 0, "a"), "\nprojection", "\nprotection"),
      calibration_ost (&c, 1, "b"), "projection is missing", "INI");
  REFUSE (calibration_replaced (calibration_ost (&c, 0, "a"), "camera matrix\n", "camera matrix\nnan 1 2\n"),
      calibration_ost (&c, 1, "b"), "camera matrix", "finite");
  REFUSE (g_strdup ("[image]\n5 6 7\n"), NULL, "[image]", "without a name", "5 6 7");
  REFUSE (g_strdup ("[a]\na.b\n1 2\nb = 3\n4 5\n"), NULL, "[a]", "without a name", "4 5");
}

static void
test_refusals_of_others (void)
{
  StereoCalibration zed[1] = { calibration_draw_cameras (&source, 4, FALSE, FALSE) },
                    c = calibration_draw_cameras (&source, 5, FALSE, FALSE);
  const gdouble turn[3] = { 0 };
  Frame pose = frame_draw (&source, 0.1, 80, 90);

  REFUSE (calibration_replaced (calibration_zed (zed, (const gchar *const[]){ "HD" }, 1, turn, FALSE), "fy = ", "fz = "),
      NULL, "left_cam_hd.fy is missing");
  REFUSE (calibration_zed (zed, (const gchar *const[]){ "XXL" }, 1, turn, FALSE), NULL, "left_cam_hd.fx is missing",
      "ZED's factory calibration", "LEFT_CAM_HD");
  refuse_of (calibration_zed (zed, (const gchar *const[]){ "HD" }, 1, turn, FALSE), NULL,
      &(GstStereoCalibrationOptions){ .cameras = "0,1" }, (const gchar *const[]){ "cameras=0,1", "unset", NULL });
  REFUSE (calibration_replaced (calibration_orbslam3 (&c, &pose, FALSE), "Stereo.T_c1_c2", "Stereo.T"), NULL,
      "Stereo.T_c1_c2 is missing", "ORB-SLAM3");
  REFUSE (
      calibration_replaced (calibration_orbslam3 (&c, &pose, FALSE), "Camera2.fy", "Camera2.fz"), NULL, "Camera2.fy");
  REFUSE (calibration_replaced (calibration_orbslam2 (&c, 5), "RIGHT.P", "RIGHT.Q"), NULL, "RIGHT.P is missing",
      "ORB-SLAM");
  c.camera[0].distortion[0] = 0.1;
  REFUSE (calibration_orbslam_rectified (&c, "Camera.bf", 40), NULL, "ORB-SLAM", "distortion", "LEFT.K");
  REFUSE (g_strdup ("Camera.fx: 500\nCamera.fy: 500\n"), NULL, "ORB-SLAM's settings of one camera", "Camera.bf");
  REFUSE (
      g_strdup ("{ \"value0\": { \"intrinsics\": [ { \"camera_type\": \"ds\" } ] } }"), NULL, "Basalt", "M1 D1 M2 D2");
  REFUSE (g_strdup ("model_type: MEI\ncamera_name: camera\n"), NULL, "VINS", "OpenCV");
  REFUSE (g_strdup ("{ \"cameraData\": [ [ 0, { \"height\": 800 } ] ] }"), NULL, "DepthAI", "OpenCV");
  REFUSE (g_strdup ("cameras:\n- camera:\n    label: a\n"), NULL, "OKVIS", "OpenCV");
}

static void
test_refusals_of_options (void)
{
  static const gchar *const bad[] = { "", "2", "2,2", "2,3,4", "a,b", "-1,0", "1;2", "2,", "999999999999,1" };
  StereoCalibration c = calibration_draw_projections (&source);

  for (guint k = 0; k < G_N_ELEMENTS (bad); k++)
    refuse_of (calibration_kitti (&c, TRUE, 1), NULL, &(GstStereoCalibrationOptions){ .cameras = bad[k] },
        (const gchar *const[]){ "cameras=", "2,3", NULL });
  refuse_of (calibration_kitti (&c, TRUE, 1), NULL, &(GstStereoCalibrationOptions){ .cameras = "4,5" },
      (const gchar *const[]){ "P4 is missing", "KITTI", NULL });
  refuse_of (calibration_kitti (&c, TRUE, 1), NULL, &(GstStereoCalibrationOptions){ .width = 640 },
      (const gchar *const[]){ "calibration-width=640", "calibration-height=0", "both", NULL });
}

/* Every text cut after every byte: taken or refused with a sentence. */
static void
check_cuts (gchar *text, const gchar *right)
{
  gsize length = strlen (text);

  for (gsize cut = 0; cut <= length; cut++) {
    g_autofree gchar *part = g_strndup (text, cut), *message = NULL;
    GstStereoCalibration c;
    gboolean taken = gst_stereo_calibration_parse (&c, part, right, &by_format, &message);
    CHECK (taken || (message && strlen (message) > 20), "refused without a word after %u bytes", (guint) cut);
    CHECK (taken || cut < length, "the whole text was not taken: %s", message);
  }
  g_free (text);
}

static void
test_truncation (void)
{
  StereoCalibration c = calibration_draw_cameras (&source, 4, TRUE, FALSE),
                    pair = calibration_draw_cameras (&source, 4, FALSE, FALSE);
  Frame steps[3] = { frame_draw (&source, 0.1, 50, 90), frame_draw (&source, 0.1, 50, 90),
    frame_draw (&source, 0.1, 50, 90) };
  const gdouble turn[3] = { 0.1, 0.2, 0.3 };
  gchar *right = calibration_message (&c, 1, 4, FALSE), *left;

  check_cuts (calibration_message (&c, 0, 4, TRUE), right);
  g_free (right);
  left = calibration_ost (&c, 0, "left");
  right = calibration_ost (&c, 1, "right");
  check_cuts (g_strconcat (left, right, NULL), NULL);
  check_cuts (left, right);
  g_free (right);
  right = calibration_euroc (&pair, 1, &steps[0]);
  check_cuts (calibration_euroc (&pair, 0, &steps[1]), right);
  g_free (right);
  check_cuts (calibration_kalibr (&pair, 4, steps, 3), NULL);
  check_cuts (calibration_orbslam2 (&c, 4), NULL);
  check_cuts (calibration_orbslam3 (&pair, &steps[0], FALSE), NULL);
  check_cuts (calibration_zed (&pair, (const gchar *const[]){ "HD" }, 1, turn, TRUE), NULL);
}

int
main (int argc, char **argv)
{
  source.state = random_seed ();
  check_start (argc, argv);
  check_case ("models", test_refusals_of_models);
  check_case ("pairs", test_refusals_of_pairs);
  check_case ("others", test_refusals_of_others);
  check_case ("options", test_refusals_of_options);
  check_case ("truncation", test_truncation);
  return check_finish ();
}
