/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calibrations of every format that cannot be read: what they are is named, what is wrong, and what to do. A file that is cut,
 * at any byte, is read or refused in the same way.
 */
#include "refuse.h"
#include "tests/support/gst/calibration/robots.h"
#include "tests/support/gst/calibration/text.h"

static Random source;
typedef struct
{
  const gchar *from, *to; /* the first of these in the text becomes that */
  const gchar *words[3];
} Broken;

static const Broken broken_yaml[] = {
  { "M1:", "M9:", { "M1 is missing", "M9", "M1 D1 M2 D2" } },
  { "D2:", "E2:", { "D2 is missing", "E2", "M1" } },
  { "T:", "t:", { "R and T", "R1, R2, P1 and P2", "M2, Q, R, calibration_time" } },
  { "rows: 3", "rows: 2", { "M1", "2 x 3", "3 x 3" } },
  { "cols: 3", "cols: many", { "M1", "3 x many", "3 x 3" } },
  { "rows: 3", "rows: -3", { "M1", "-3 x 3", "3 x 3" } },
  { "data: [ ", "data: [ 1, ", { "M1", "10 values", "needs 9" } },
  { "data: [ ", "data: [ one, ", { "M1", "value 1", "'one', which is not a number" } },
  { "data: [ ", "data: [ .Nan, ", { "M1", "value 1", "finite" } },
  { "data: [ ", "data: [ -.Inf, ", { "M1", "value 1", "finite" } },
  { "data: [ ", "data: [ 1e999, ", { "M1", "value 1", "finite" } },
  { "data: [ ", "data: [ *other, ", { "M1", "not a number" } },
  { "data: [ ", "data: [ 12x, ", { "M1", "'12x'", "not a number" } },
  { "data:", "date:", { "M1", "0 values", "needs 9" } },
  { "data: [ ", "data: { ", { "line", "YAML" } },
  { "dt: d\n   data: [ 0.125", "dt: d\n   data: [ 0.125, 0.125", { "D1", "6 values", "rows and cols" } },
  { "---\n", "---\nmodel: omni\n", { "'omni'", "not supported", "plumb_bob" } },
  { "---\n", "---\ndistortion_model: fov\n", { "'fov'", "not supported", "rational_polynomial" } },
  { "---\n", "---\ndistortion_model: equidistant\n", { "D1 has 5 values", "equidistant", "k1 k2 k3 k4" } },
  { "---\n", "---\nfisheye_model: 1\n", { "D1 has 5 values", "fisheye", "k1 k2 k3 k4" } },
  { "---\n", "---\nimage_width: 640\n", { "image_height is missing", "image_width" } },
  { "---\n", "---\nimage_width: 640\nimage_height: 4e9\n", { "image_height", "4e+09", "65535" } },
  { "---\n", "---\nimageSize: [ 640, 0 ]\n", { "imageSize", "0", "65535" } },
  { "---\n", "---\nimageSize: [ 640.5, 480 ]\n", { "imageSize", "640.5", "whole" } },
  { "---\n", "---\nimageSize: [ 640 ]\n", { "imageSize", "1 values", "needs 2" } },
  { "---\n", "---\nimages: [ a.png, b.png ]\n", { "list of pictures", "not a calibration" } },
  { "---\n", "---\n{ a: b }: c\n", { "line", "OpenCV", "KITTI" } },
  { "---\n", "---\n\tM1: 1\n", { "line 3", "YAML" } },
};

static const Broken broken_xml[] = {
  { "<M1 ", "<M9 ", { "M1", "M9", "line" } },
  { "<rows>3", "<rows>4", { "M1", "4 x 3", "3 x 3" } },
  { "<rows>3", "<rows>", { "M1", " x 3", "3 x 3" } },
  { "<data>", "<data> 7", { "M1", "10 values", "needs 9" } },
  { "<data>", "<data><a/>x", { "M1", "'x'", "not a number" } },
  { "<data>", "<data>nan ", { "M1", "nan", "finite" } },
  { "<opencv_storage>", "<html>", { "<opencv_storage>", "<html>" } },
  { "<opencv_storage>", "<opencv_storage><imagelist>\"left01.jpg\" \"right01.jpg\"</imagelist>",
      { "list of pictures", "not a calibration" } },
  { "</opencv_storage>", "", { "line" } },
};

static const Broken broken_ros[] = {
  { "projection_matrix", "projection", { "projection_matrix is missing", "left calibration", "camera_matrix" } },
  { "rectification_matrix", "R", { "rectification_matrix is missing", "image_width" } },
  { "image_width: 6", "image_width: 7", { "6400 x 480", "7400 x 480", "one size" } },
  { "image_width: 6400", "image_width: -6400", { "image_width", "-6400", "65535" } },
  { "plumb_bob", "equidistant", { "distortion_coefficients has 5 values", "equidistant", "left calibration" } },
  { "plumb_bob", "Mei", { "'Mei'", "not supported", "left calibration" } },
  { "cols: 5", "cols: 7", { "distortion_coefficients", "5 values", "rows and cols" } },
  { "camera_matrix:", "camera_matrix_:", { "left calibration", "camera_matrix is missing", "camera_matrix_" } },
};

static const Broken broken_kitti[] = {
  { "P1:", "P9:", { "P1 is missing", "P0, P2", "P_rect_01" } },
  { "P0: ", "P0: 1 ", { "P0", "13 values", "needs 12" } },
  { "P0: ", "P0: - ", { "P0", "'-'", "not a number" } },
  { "Tr:", "Tr", { "line", "key", "P0" } },
};

static const Broken broken_cameras[] = {
  { "K_01:", "K:", { "K_01 is missing", "K_00", "P_rect_" } },
  { "S_rect_00: ", "S_rect_00: 1 ", { "S_rect_00", "3 values", "needs 2" } },
  { "D_00: ", "D_00: 1 ", { "D_00", "6 values", "4 (k1 k2 p1 p2)" } },
};

/* Takes @text and @right. */
static void
refuse_rows (gchar *text, gchar *right, const Broken *rows, guint count)
{
  for (guint k = 0; k < count; k++)
    refuse_of (calibration_replaced (g_strdup (text), rows[k].from, rows[k].to), g_strdup (right), &by_format,
        (const gchar *const[]){ rows[k].words[0], rows[k].words[1], rows[k].words[2], NULL });
  g_free (text);
  g_free (right);
}

#define REFUSE_ROWS(text, right, rows) refuse_rows (text, right, rows, G_N_ELEMENTS (rows))

static void
test_refusals_of_rows (void)
{
  OpencvStyle style = { .lens = 5, .pose = TRUE }, full = { .lens = 5, .size = 1, .pose = TRUE, .rectification = TRUE };
  StereoCalibration c = calibration_draw (&source, &style), all = calibration_draw (&source, &full);

  c.camera[0].distortion[0] = 0.125;
  all.width = 6400;
  all.height = all.rectified_height = all.rectified_width = 480;
  REFUSE_ROWS (calibration_opencv_yaml (&c, &style, 1, &source), NULL, broken_yaml);
  REFUSE_ROWS (calibration_opencv_xml (&c, &style, 1, &source), NULL, broken_xml);
  REFUSE_ROWS (calibration_ros (&all, 0, 5, 1000, &source), calibration_ros (&all, 1, 5, 1000, &source), broken_ros);
  REFUSE_ROWS (calibration_kitti (&all, TRUE, 1000), NULL, broken_kitti);
  REFUSE_ROWS (calibration_kitti_cameras (&all, 1000), NULL, broken_cameras);
  REFUSE (calibration_ros (&all, 0, 5, 1000, &source), NULL, "one camera", "left.yaml,right.yaml");
  REFUSE (calibration_kitti (&all, TRUE, 1000), calibration_ros (&all, 1, 5, 1000, &source), "KITTI", "both cameras",
      "only one");
}

static void
test_nonsense (void)
{
  static const gchar *const texts[] = { "", "   \n\t\n", "hello", "- a\n- b\n", "%YAML:1.0\n", "%YAML:1.0\n---\n", "<",
    "<a/>", "<opencv_storage/>", "{", "[", "key: value\n", "1 2 3\n", "P0: 1\n", "1 0 0 0 0 1 0 0 0 0 1 0\n",
    "\001\002", "&a [*a]", "? ? ? ? ?", "? [a]\n: b\n", "M1: &x { data: *x }\n", "%TAG ! tag:x,2000:\n---\na: !b c\n",
    "P0: nan\nP1: inf\n" };

  for (guint k = 0; k < G_N_ELEMENTS (texts); k++) {
    REFUSE (g_strdup (texts[k]), NULL, "calibration");
    REFUSE (g_strdup (texts[k]), g_strdup (texts[k]), "calibration");
  }
  REFUSE (g_strdup (""), NULL, "empty", "OpenCV", "KITTI");
  REFUSE (g_strdup (MIDDLEBURY), g_strdup (MIDDLEBURY), "Middlebury", "both cameras", "only one");
  REFUSE (calibration_replaced (g_strdup (MIDDLEBURY), "baseline=193.001\n", ""), NULL, "baseline", "missing", "doffs");
  REFUSE (calibration_replaced (g_strdup (MIDDLEBURY), "cam1", "cam2"), NULL, "cam1", "missing", "cam2");
  REFUSE (calibration_replaced (g_strdup (MIDDLEBURY), "doffs=32.778", "doffs=131.1"), NULL, "doffs", "131.1", "32.778");
  REFUSE (calibration_replaced (g_strdup (MIDDLEBURY), "isint=0", "isint 0"), NULL, "a line has no '='");
  REFUSE (calibration_replaced (g_strdup (MIDDLEBURY), "0 0 1]", "0 1]"), NULL, "cam0", "8 values", "9");
  REFUSE (calibration_replaced (g_strdup (MIDDLEBURY), "=741", "=x"), NULL, "width", "'x'", "number");
  REFUSE (
      g_strdup ("M1: [ 9, 0, 5, 5, 9, 5, 0, 0, 1 ]\nD1: [ 0, 0, 0, 0 ]\n"), NULL, "M1", "no camera matrix", "0 fy cy");
  REFUSE (g_strdup ("M1: [ 9, 1, 5, 0, 9, 5, 0, 0, 1 ]\nD1: [ 0, 0, 0, 0 ]\n"), NULL, "M1", "no camera matrix", "skew");
  REFUSE (g_strdup ("<opencv_storage><col\351s>3"), NULL, "line 1");
  REFUSE (g_strdup ("M1: 1\n"), NULL, "M1");
}

/* Deeper and longer than any calibration: refused, and soon. */
static void
test_masses (void)
{
  static const gchar *const units[] = { "[", "{", "{a: ", "- ", "a:\n ", "<a>", "[[],", "&a ", "? ", "1 ", "M1: [1]\n",
    "\n#", "'", "P0: 1\n" };

  for (guint k = 0; k < G_N_ELEMENTS (units); k++) {
    GString *text = g_string_new (NULL), *inside = g_string_new ("<opencv_storage>"), *value = g_string_new ("M1: ");
    for (guint i = 0; i < 20000; i++) {
      g_string_append (text, units[k]);
      g_string_append (inside, units[k]);
      g_string_append (value, units[k]);
    }
    REFUSE (g_string_free (text, FALSE), NULL, "calibration");
    REFUSE (g_string_free (inside, FALSE), NULL, "calibration");
    REFUSE (g_string_free (value, FALSE), NULL, "calibration");
  }
  REFUSE (g_strnfill ((4 << 20) + 1, '1'), NULL, "4194304 bytes");
}

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

/* Every text cut after every byte: taken or refused with a sentence, and what is taken can be tried. */
static void
check_cuts (gchar *text, const gchar *right)
{
  gsize length = strlen (text);

  for (gsize cut = 0; cut <= length; cut++) {
    g_autofree gchar *part = g_strndup (text, cut), *message = NULL;
    GstStereoCalibration c;
    StereoRectification r;
    StereoError error = { 0 };
    if (!gst_stereo_calibration_parse (&c, part, right, &by_format, &message)) {
      CHECK (message && strlen (message) > 20, "refused without a word after %u bytes", (guint) cut);
      CHECK (cut < length, "the whole text was not taken: %s", message);
      continue;
    }
    CHECK (c.count == 1, "%d modes", c.count);
    CHECK (stereo_calibration_scale (&c.modes[0], 640, 480, &error) ||
            stereo_rectify (&c.modes[0], 0, 0, 0, &r, &error) == STEREO_OK || error.message[0],
        "refused without a word");
  }
  g_free (text);
}

static void
test_truncation_of_drawn (void)
{
  OpencvStyle style = { .lens = 8, .size = 1, .pose = TRUE, .rectification = TRUE };
  StereoCalibration c = calibration_draw (&source, &style);
  g_autofree gchar *right = calibration_ros (&c, 1, 8, 1000, &source);

  c.rectified_width = c.rectified_height = 99;
  check_cuts (calibration_opencv_yaml (&c, &style, 1, &source), NULL);
  check_cuts (calibration_opencv_xml (&c, &style, 1, &source), NULL);
  check_cuts (calibration_ros (&c, 0, 8, 1000, &source), right);
  check_cuts (calibration_kitti (&c, TRUE, 1000), NULL);
  check_cuts (calibration_kitti (&c, FALSE, 1000), NULL);
  check_cuts (calibration_kitti_cameras (&c, 1000), NULL);
  check_cuts (g_strdup (MIDDLEBURY), NULL);
}

static void
test_truncation_of_robots (void)
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
  check_case ("one thing is wrong", test_refusals_of_rows);
  check_case ("nonsense", test_nonsense);
  check_case ("masses", test_masses);
  check_case ("models", test_refusals_of_models);
  check_case ("pairs", test_refusals_of_pairs);
  check_case ("others", test_refusals_of_others);
  check_case ("options", test_refusals_of_options);
  check_case ("truncation", test_truncation_of_drawn);
  check_case ("truncation, formats of robots", test_truncation_of_robots);
  return check_finish ();
}
