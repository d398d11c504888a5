/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calibration files: a calibration comes back as it was written, in every format of OpenCV, ROS, KITTI and Middlebury, and
 * as it is saved. test_formats.c has the formats of robots, test_refused.c the files that cannot be read.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <unistd.h>

#include "refuse.h"
#include "tests/support/gst/calibration/robots.h"
#include "tests/support/gst/calibration/text.h"

#define ROUNDS 30

static Random source;

static gdouble
draw_unit (void)
{
  return (gdouble[]){ 1, 1000, 25, 0.5 }[random_range (&source, 0, 3)];
}

static OpencvStyle
draw_style (void)
{
  OpencvStyle style = { (guint) random_range (&source, 0, 2), (gint[]){ 4, 5, 8, 12, 14 }[random_range (&source, 0, 4)],
    random_range (&source, 0, 2), random_range (&source, 0, 1), random_range (&source, 0, 1) };

  style.rectification |= !style.pose;
  return style;
}

static void
same (const gchar *what, const gdouble *a, const gdouble *b, gint count)
{
  /* lengths went through a division by the unit and back; of saved ones P2 is made again */
  for (gint i = 0; i < count; i++)
    CHECK (fabs (a[i] - b[i]) <= 4e-16 * fabs (b[i]), "%s[%d] is %.17g, and was written as %.17g", what, i, a[i], b[i]);
}

static void
check_same (const StereoCalibration *a, const StereoCalibration *b)
{
  CHECK (
      a->width == b->width && a->height == b->height, "%d x %d, and %d x %d", a->width, a->height, b->width, b->height);
  CHECK (a->rectified_width == b->rectified_width && a->rectified_height == b->rectified_height, "rectified %d x %d",
      a->rectified_width, a->rectified_height);
  CHECK (a->has_pose == b->has_pose && a->has_rectification == b->has_rectification, "pose %d, rectification %d",
      a->has_pose, a->has_rectification);
  same ("rotation", a->rotation, b->rotation, 9);
  same ("translation", a->translation, b->translation, 3);
  for (gint v = 0; v < 2; v++) {
    same ("camera", &a->camera[v].fx, &b->camera[v].fx, 4);
    CHECK (
        a->camera[v].model == b->camera[v].model, "lens model %d, and was %d", a->camera[v].model, b->camera[v].model);
    same ("distortion", a->camera[v].distortion, b->camera[v].distortion, STEREO_DISTORTION);
    same ("rectifying", a->rectifying[v], b->rectifying[v], 9);
    same ("projection", a->projection[v], b->projection[v], 12);
  }
}

/* The first mode. */
static gboolean
parse (StereoCalibration *c, const gchar *left, const gchar *right, gdouble unit_mm, gchar **message)
{
  GstStereoCalibrationOptions options = { .unit_mm = unit_mm };
  GstStereoCalibration all;
  gboolean parsed = gst_stereo_calibration_parse (&all, left, right, &options, message);

  *c = all.modes[0];
  CHECK (!parsed || all.count == 1, "%d modes", all.count);
  return parsed;
}

/* Parses, compares, frees both texts. */
static void
expect (const StereoCalibration *written, gchar *left, gchar *right, gdouble unit_mm)
{
  StereoCalibration read;
  g_autofree gchar *message = NULL;

  if (CHECK (parse (&read, left, right, unit_mm, &message), "%s\n%s", message, left))
    check_same (&read, written);
  CHECK (check_failures () || !message, "a message, and no failure: %s", message);
  g_free (left);
  g_free (right);
}

static void
test_opencv (void)
{
  for (gint k = 0; k < ROUNDS; k++) {
    OpencvStyle style = draw_style ();
    StereoCalibration c = calibration_draw (&source, &style);
    gdouble unit = draw_unit ();
    expect (&c, calibration_opencv_yaml (&c, &style, unit, &source), NULL, unit);
    expect (&c, calibration_opencv_xml (&c, &style, unit, &source), NULL, unit);
    /* one unit is a millimetre where nothing is said */
    expect (&c, calibration_opencv_yaml (&c, &style, 1, &source), NULL, 0);
  }
}

/* intrinsics.yml and extrinsics.yml, in either order and either format */
static void
test_opencv_in_two (void)
{
  for (gint k = 0; k < ROUNDS; k++) {
    OpencvStyle style = { .lens = 5, .pose = TRUE, .rectification = random_range (&source, 0, 1) };
    StereoCalibration c = calibration_draw (&source, &style);
    gchar *whole = calibration_opencv_yaml (&c, &style, 1, &source), *cut = strstr (whole, "R: !!");
    gchar *second = g_strconcat ("%YAML:1.0\n", cut, NULL);
    *cut = 0;
    gboolean exchanged = random_range (&source, 0, 1);
    expect (&c, exchanged ? second : whole, exchanged ? whole : second, 0);
  }
}

static void
test_ros (void)
{
  for (gint k = 0; k < ROUNDS; k++) {
    OpencvStyle style = { 0, (gint[]){ 0, 4, 5, 8 }[random_range (&source, 0, 3)], 1, FALSE, TRUE };
    StereoCalibration c = calibration_draw (&source, &style);
    gdouble unit = draw_unit ();
    expect (&c, calibration_ros (&c, 0, style.lens, unit, &source), calibration_ros (&c, 1, style.lens, unit, &source),
        unit);
    expect (
        &c, calibration_ros (&c, 0, style.lens, 1000, &source), calibration_ros (&c, 1, style.lens, 1000, &source), 0);
  }
}

static void
test_kitti (void)
{
  for (gint k = 0; k < ROUNDS; k++) {
    OpencvStyle style = { 0, 5, 1, TRUE, TRUE };
    StereoCalibration c = calibration_draw_projections (&source);
    gdouble unit = draw_unit ();
    expect (&c, calibration_kitti (&c, k % 2, unit), NULL, unit);
    expect (&c, calibration_kitti (&c, k % 2, 1000), NULL, 0);
    c = calibration_draw (&source, &style);
    c.rectified_width = random_range (&source, 1, 2000);
    c.rectified_height = random_range (&source, 1, 2000);
    expect (&c, calibration_kitti_cameras (&c, unit), NULL, unit);
  }
}

/* What has to be read from the file of Middlebury. */
static StereoCalibration
middlebury_expected (gdouble unit)
{
  StereoCalibration c = { .width = 741, .height = 497, .has_rectification = 1 };

  for (gint v = 0; v < 2; v++) {
    const gdouble cx = v ? 326.96 : 294.182;
    const gdouble p[12] = { 999.421, 0, cx, v ? -999.421 * 193.001 * unit : 0, 0, 999.421, 252.932, 0, 0, 0, 1, 0 };
    c.camera[v] = (StereoCamera){ 999.421, 999.421, cx, 252.932, { 0 } };
    memcpy (c.projection[v], p, sizeof p);
    for (gint i = 0; i < 9; i++)
      c.rectifying[v][i] = i % 4 == 0;
  }
  return c;
}

static void
test_middlebury (void)
{
  StereoCalibration mm = middlebury_expected (1), cm = middlebury_expected (10), read;
  StereoRectification r;
  StereoError error = { 0 };

  expect (&mm, g_strdup (MIDDLEBURY), NULL, 0);
  expect (&cm, g_strdup (MIDDLEBURY), NULL, 10);
  expect (&mm, g_strdup ("# of a test\r\n" MIDDLEBURY "\r\n"), NULL, 0);
  /* blanks, commas as in Matlab, the older order of the keys */
  expect (&mm,
      g_strdup ("height = 497\n"
                "width = 741\n"
                "baseline = 193.001\n"
                "cam1 = [ 999.421, 0, 326.96 ; 0, 999.421, 252.932 ; 0, 0, 1 ]\n"
                "cam0 = [999.421 0 294.182;0 999.421 252.932;0 0 1]\n"),
      NULL, 0);
  if (!CHECK (parse (&read, MIDDLEBURY, NULL, 0, NULL), "refused"))
    return;
  CHECK (!stereo_rectify (&read, -1, 0, 0, &r, &error), "%s", error.message);
  CHECK (fabs (r.baseline - 193.001) < 1e-9 && r.focal_length == 999.421 && fabs (r.principal_offset - 32.778) < 1e-9,
      "baseline %g, focal length %g, offset %g", r.baseline, r.focal_length, r.principal_offset);
}

/* Line ends of Windows, a byte order mark, blanks at the ends, letters of another encoding in a comment */
static void
test_dressing (void)
{
  OpencvStyle style = { .lens = 5, .pose = TRUE };
  StereoCalibration c = calibration_draw (&source, &style), kitti = calibration_draw_projections (&source);
  gchar *plain[3] = { calibration_opencv_yaml (&c, &style, 1, &source), calibration_opencv_xml (&c, &style, 1, &source),
    calibration_kitti (&kitti, TRUE, 1) };

  for (gint k = 0; k < 3; k++) {
    gchar **lines = g_strsplit (plain[k], "\n", -1), *windows = g_strjoinv ("\r\n", lines);
    expect (k == 2 ? &kitti : &c, windows, NULL, 1);
    expect (k == 2 ? &kitti : &c, g_strconcat ("\357\273\277", plain[k], NULL), NULL, 1);
    expect (k == 2 ? &kitti : &c, g_strconcat (plain[k], "\n \n\n", NULL), NULL, 1);
    g_strfreev (lines);
    g_free (plain[k]);
  }
  plain[0] = calibration_opencv_yaml (&c, &style, 1, &source);
  expect (&c, calibration_replaced (plain[0], "# of a test", "# mi\351rcoles"), NULL, 1);
}

/* Counts of values: the missing ones are 0. Three are k1 k2 k3; more than 8 have to be 0 from there. */
static void
test_lenses (void)
{
  for (gint count = 0; count <= 20; count++)
    for (gint zeros = 0; zeros < 2; zeros++)
      for (gint fisheye = 0; fisheye < 2; fisheye++) {
        GString *list = g_string_new (fisheye ? "distortion_model: equidistant\nD1: [ " : "D1: [ ");
        OpencvStyle style = { .lens = fisheye ? 4 : 5, .pose = TRUE };
        StereoCalibration c = calibration_draw (&source, &style);
        gint first = fisheye ? 4 : 8;
        gboolean fine = fisheye ? count <= 4 || (zeros && count <= 14) :
                                  count <= 5 || count == 8 || (zeros && (count == 12 || count == 14));
        gchar *text = calibration_opencv_yaml (&c, &style, 1, &source), *start = strstr (text, "D1:"), *broken;
        gchar number[32];
        g_snprintf (number, sizeof number, "has %d values", count);
        for (gint i = 0; i < count; i++)
          g_string_append_printf (list, "%s%s", i ? ", " : "", zeros && i >= first ? "0." : "0.125");
        broken = g_strdup_printf ("%.*s%s %s", (gint) (start - text), text, list->str, strchr (start, ']'));
        if (fine) {
          c.camera[0].model = c.camera[1].model = fisheye ? STEREO_LENS_EQUIDISTANT : STEREO_LENS_PINHOLE;
          for (gint i = 0; i < STEREO_DISTORTION; i++)
            c.camera[0].distortion[i] = i < MIN (count, first) ? 0.125 : 0;
          if (count == 3 && !fisheye) {
            c.camera[0].distortion[4] = 0.125;
            c.camera[0].distortion[2] = 0;
          }
          expect (&c, broken, NULL, 1);
        } else if (fisheye) {
          REFUSE (broken, NULL, number, "fisheye", "k1 k2 k3 k4");
        } else {
          REFUSE (broken, NULL, number, "4 (k1 k2 p1 p2)", "k4 k5 k6");
        }
        g_free (text);
        g_string_free (list, TRUE);
      }
}

/* Files that are saved make the same views of the same raw pictures, in millimetres whatever they were read from. */
static void
test_saved (void)
{
  gint compared = 0;

  for (gint k = 0; k < 8 * ROUNDS; k++) {
    gboolean fisheye = random_range (&source, 0, 2) == 0;
    gint lens = fisheye ? 4 : k % 2 ? 5 : 8;
    StereoCalibration c = middlebury_expected (1), read;
    GstStereoCalibration loaded;
    StereoRectification r, again;
    StereoError error;
    gdouble alpha = k % 3 - 1;
    g_autofree gchar *text = NULL, *message = NULL;
    if (k % 4 && k % 3) {
      c.has_pose = 1;
      c.has_rectification = k % 2;
      for (gint i = 0; i < 9; i++)
        c.rotation[i] = i % 4 == 0;
      c.translation[0] = -random_range (&source, 10, 900);
    }
    for (gint v = 0; v < 2; v++)
      c.camera[v].model = fisheye ? STEREO_LENS_EQUIDISTANT : STEREO_LENS_PINHOLE;
    for (gint v = 0; v < 2; v++)
      for (gint i = 0; i < lens; i++)
        c.camera[v].distortion[i] = 1e-3 * random_range (&source, -9, 9);
    if (stereo_rectify (&c, alpha, k % 5 ? 0 : 600, k % 5 ? 0 : 400, &r, &error))
      continue;
    compared++;
    text = gst_stereo_calibration_write (&c, &r);
    if (CHECK (gst_stereo_calibration_parse (&loaded, text, NULL, &by_format, &message), "%s\n%s", message, text)) {
      read = loaded.modes[0];
      CHECK (!stereo_rectify (&read, -1, 0, 0, &again, &error), "%s", error.message);
      CHECK (again.width == r.width && again.height == r.height, "%d x %d became %d x %d", r.width, r.height,
          again.width, again.height);
      CHECK (memcmp (&read.camera, &c.camera, sizeof c.camera) == 0, "the cameras changed:\n%s", text);
      CHECK (read.has_pose == c.has_pose && memcmp (read.translation, c.translation, sizeof c.translation) == 0,
          "the pose changed");
      for (gint v = 0; v < 2; v++) {
        same ("R", again.rectifying[v], r.rectifying[v], 9);
        same ("P", again.projection[v], r.projection[v], 12);
      }
    }
  }
  CHECK (compared > 4 * ROUNDS, "only %d of %d could be rectified", compared, 8 * ROUNDS);
}

/* ---- files ---- */

static void
refuse_file (const gchar *location, const gchar *const *words)
{
  GstStereoCalibration c;
  g_autofree gchar *message = NULL;

  CHECK (!gst_stereo_calibration_load (&c, location, &by_format, &message), "%s was taken", location);
  for (gint k = 0; k < 2 && words[k]; k++)
    CHECK (message && strstr (message, words[k]), "'%s' does not say '%s'", message, words[k]);
}

static void
write_file (const gchar *path, gchar *text, gssize length)
{
  CHECK (g_file_set_contents (path, text, length, NULL), "%s cannot be written", path);
  g_free (text);
}

static void
expect_file (const gchar *location, const StereoCalibration *written)
{
  GstStereoCalibration c;
  g_autofree gchar *message = NULL;

  if (CHECK (gst_stereo_calibration_load (&c, location, &by_format, &message), "%s", message))
    check_same (&c.modes[0], written);
}

static void
test_files (void)
{
  OpencvStyle style = { .lens = 5, .size = 1, .rectification = TRUE };
  StereoCalibration c = calibration_draw (&source, &style);
  gchar *folder = g_dir_make_tmp ("calibration-XXXXXX", NULL), *here = g_get_current_dir ();
  static const gchar *const names[] = { "a,b.yml", "left,1.yaml", "right,1.yaml", "huge.yml", "zeros.yml", "empty.yml" };

  if (!CHECK (folder && g_chdir (folder) == 0, "no folder to write to"))
    return;
  write_file (names[0], calibration_opencv_yaml (&c, &style, 1, &source), -1);
  write_file (names[1], calibration_ros (&c, 0, 5, 1000, &source), -1);
  write_file (names[2], calibration_ros (&c, 1, 5, 1000, &source), -1);
  write_file (names[3], g_strnfill ((4 << 20) + 1, ' '), -1);
  write_file (names[4], g_malloc0 (99), 99);
  write_file (names[5], g_strdup (""), 0);
  expect_file ("a,b.yml", &c);
  expect_file ("left,1.yaml,right,1.yaml", &c);
  refuse_file ("none.yml", (const gchar *const[]){ "none.yml", "No such file" });
  refuse_file ("none.yml,a,b.yml", (const gchar *const[]){ "none.yml", "No such file" });
  refuse_file ("left,1.yaml,none.yml", (const gchar *const[]){ "=left ", "No such file" });
  refuse_file (".", (const gchar *const[]){ "=. ", "folder" });
  refuse_file ("/dev/zero", (const gchar *const[]){ "/dev/zero", "device" });
  refuse_file ("", (const gchar *const[]){ "name of a file", "missing" });
  refuse_file (",", (const gchar *const[]){ "name of a file", "missing" });
  refuse_file ("huge.yml", (const gchar *const[]){ "huge.yml", "4194304" });
  refuse_file ("zeros.yml", (const gchar *const[]){ "zeros.yml", "zero bytes" });
  refuse_file ("empty.yml", (const gchar *const[]){ "empty.yml", "empty" });
  refuse_file ("left,1.yaml", (const gchar *const[]){ "left,1.yaml", "one camera" });
  for (guint k = 0; k < G_N_ELEMENTS (names); k++)
    g_unlink (names[k]);
  CHECK (g_chdir (here) == 0 && g_rmdir (folder) == 0, "the folder stays behind");
  g_free (here);
  g_free (folder);
}

int
main (int argc, char **argv)
{
  source.state = random_seed ();
  check_start (argc, argv);
  check_case ("OpenCV", test_opencv);
  check_case ("OpenCV in two files", test_opencv_in_two);
  check_case ("ROS", test_ros);
  check_case ("KITTI", test_kitti);
  check_case ("Middlebury", test_middlebury);
  check_case ("dressing", test_dressing);
  check_case ("lenses", test_lenses);
  check_case ("saved files", test_saved);
  check_case ("files", test_files);
  return check_finish ();
}
