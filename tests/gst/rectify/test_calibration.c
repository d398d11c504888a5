/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calibration files: a calibration comes back as it was written, in every format. A broken file is refused with a
 * message that says what is wrong and where. A file that is cut, at any byte, is read or refused in the same way.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <unistd.h>

#include "tests/support/gst/calibration/text.h"
#include "tests/support/check.h"
#include "gst/rectify/calibration/calibration.h"

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
  /* lengths went through a division by the unit and back */
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

/* A file of Middlebury's 2014 set, and what has to be read from it. */
#define MIDDLEBURY \
  "cam0=[999.421 0 294.182; 0 999.421 252.932; 0 0 1]\ncam1=[999.421 0 326.96; 0 999.421 252.932; 0 0 1]\n" \
  "doffs=32.778\nbaseline=193.001\nwidth=741\nheight=497\nndisp=70\nisint=0\nvmin=7\nvmax=65\n"

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

static gchar *
replaced (const gchar *text, const gchar *from, const gchar *to)
{
  const gchar *at = strstr (text, from);

  CHECK (at != NULL, "the text has no '%s'", from);
  return at ? g_strdup_printf ("%.*s%s%s", (gint) (at - text), text, to, at + strlen (from)) : g_strdup (text);
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
  expect (&c, replaced (plain[0], "# of a test", "# mi\351rcoles"), NULL, 1);
  g_free (plain[0]);
}

/* ---- refusals ---- */

/* Takes the text. */
static void
refuse (gchar *left, const gchar *right, const gchar *const *words)
{
  StereoCalibration c;
  g_autofree gchar *message = NULL;

  CHECK (!parse (&c, left, right, 0, &message), "taken, and should be refused for '%s':\n%s", words[0], left);
  CHECK (message && strstr (message, "calibration: ") && strlen (message) < 800 && g_utf8_validate (message, -1, NULL),
      "'%s'", message);
  for (gint k = 0; k < 3 && words[k]; k++)
    CHECK (message && strstr (message, words[k]), "'%s' does not say '%s'", message, words[k]);
  CHECK (!parse (&c, left, right, 0, NULL), "taken without a place for the message");
  g_free (left);
}

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
  { "data: [ ", "data: [ *other, ", { "M1", "not a number", "" } },
  { "data: [ ", "data: [ 12x, ", { "M1", "'12x'", "not a number" } },
  { "data:", "date:", { "M1", "0 values", "needs 9" } },
  { "data: [ ", "data: { ", { "line", "YAML" } },
  { "dt: d\n   data: [ 0.125", "dt: d\n   data: [ 0.125, 0.125", { "D1", "6 values", "rows and cols" } },
  { "---\n", "---\nmodel: omni\n", { "'omni'", "not supported", "plumb_bob" } },
  { "---\n", "---\ndistortion_model: fov\n", { "'fov'", "not supported", "rational_polynomial" } },
  { "---\n", "---\ndistortion_model: equidistant\n", { "D1 has 5 values", "equidistant", "k1 k2 k3 k4" } },
  { "---\n", "---\nfisheye_model: 1\n", { "D1 has 5 values", "fisheye", "k1 k2 k3 k4" } },
  { "---\n", "---\nimage_width: 640\n", { "image_height is missing", "image_width", "" } },
  { "---\n", "---\nimage_width: 640\nimage_height: 4e9\n", { "image_height", "4e+09", "65535" } },
  { "---\n", "---\nimageSize: [ 640, 0 ]\n", { "imageSize", "0", "65535" } },
  { "---\n", "---\nimageSize: [ 640.5, 480 ]\n", { "imageSize", "640.5", "whole" } },
  { "---\n", "---\nimageSize: [ 640 ]\n", { "imageSize", "1 values", "needs 2" } },
  { "---\n", "---\nimages: [ a.png, b.png ]\n", { "list of pictures", "not a calibration", "" } },
  { "---\n", "---\n{ a: b }: c\n", { "line", "OpenCV", "KITTI" } },
  { "---\n", "---\n\tM1: 1\n", { "line 3", "YAML", "" } },
};

static const Broken broken_xml[] = {
  { "<M1 ", "<M9 ", { "M1", "M9", "line" } },
  { "<rows>3", "<rows>4", { "M1", "4 x 3", "3 x 3" } },
  { "<rows>3", "<rows>", { "M1", " x 3", "3 x 3" } },
  { "<data>", "<data> 7", { "M1", "10 values", "needs 9" } },
  { "<data>", "<data><a/>x", { "M1", "'x'", "not a number" } },
  { "<data>", "<data>nan ", { "M1", "nan", "finite" } },
  { "<opencv_storage>", "<html>", { "<opencv_storage>", "<html>", "" } },
  { "<opencv_storage>", "<opencv_storage><imagelist>\"left01.jpg\" \"right01.jpg\"</imagelist>",
      { "list of pictures", "not a calibration", "" } },
  { "</opencv_storage>", "", { "line", "", "" } },
};

static const Broken broken_ros[] = {
  { "projection_matrix", "projection", { "projection_matrix is missing", "left calibration", "camera_matrix" } },
  { "rectification_matrix", "R", { "rectification_matrix is missing", "image_width", "" } },
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
  { "S_01: ", "S_01: 0", { "", "", "" } },
  { "D_00: ", "D_00: 1 ", { "D_00", "6 values", "4 (k1 k2 p1 p2)" } },
};

static void
test_refusals (void)
{
  OpencvStyle style = { .lens = 5, .pose = TRUE }, full = { .lens = 5, .size = 1, .pose = TRUE, .rectification = TRUE };
  StereoCalibration c = calibration_draw (&source, &style), all = calibration_draw (&source, &full);
  c.camera[0].distortion[0] = 0.125;
  all.width = 6400;
  all.height = all.rectified_height = all.rectified_width = 480;
  gchar *text = calibration_opencv_yaml (&c, &style, 1, &source), *other;

  for (guint k = 0; k < G_N_ELEMENTS (broken_yaml); k++)
    refuse (replaced (text, broken_yaml[k].from, broken_yaml[k].to), NULL, broken_yaml[k].words);
  g_free (text);
  text = calibration_opencv_xml (&c, &style, 1, &source);
  for (guint k = 0; k < G_N_ELEMENTS (broken_xml); k++)
    refuse (replaced (text, broken_xml[k].from, broken_xml[k].to), NULL, broken_xml[k].words);
  g_free (text);
  text = calibration_ros (&all, 0, 5, 1000, &source);
  other = calibration_ros (&all, 1, 5, 1000, &source);
  for (guint k = 0; k < G_N_ELEMENTS (broken_ros); k++)
    refuse (replaced (text, broken_ros[k].from, broken_ros[k].to), other, broken_ros[k].words);
  refuse (text, NULL, (const gchar *const[]){ "one camera", "left.yaml,right.yaml", NULL });
  text = calibration_kitti (&all, TRUE, 1000);
  for (guint k = 0; k < G_N_ELEMENTS (broken_kitti); k++)
    refuse (replaced (text, broken_kitti[k].from, broken_kitti[k].to), NULL, broken_kitti[k].words);
  refuse (text, other, (const gchar *const[]){ "KITTI", "both cameras", "only one" });
  text = calibration_kitti_cameras (&all, 1000);
  for (guint k = 0; k < G_N_ELEMENTS (broken_cameras); k++)
    if (broken_cameras[k].words[0][0])
      refuse (replaced (text, broken_cameras[k].from, broken_cameras[k].to), NULL, broken_cameras[k].words);
  g_free (text);
  g_free (other);
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
          refuse (broken, NULL, (const gchar *const[]){ number, "fisheye", "k1 k2 k3 k4" });
        } else {
          refuse (broken, NULL, (const gchar *const[]){ number, "4 (k1 k2 p1 p2)", "k4 k5 k6" });
        }
        g_free (text);
        g_string_free (list, TRUE);
      }
}

static void
test_nonsense (void)
{
  static const gchar *const texts[] = { "", "   \n\t\n", "hello", "- a\n- b\n", "%YAML:1.0\n", "%YAML:1.0\n---\n", "<",
    "<a/>", "<opencv_storage/>", "{", "[", "key: value\n", "1 2 3\n", "P0: 1\n", "1 0 0 0 0 1 0 0 0 0 1 0\n",
    "\001\002", "&a [*a]", "? ? ? ? ?", "? [a]\n: b\n", "M1: &x { data: *x }\n", "%TAG ! tag:x,2000:\n---\na: !b c\n",
    "P0: nan\nP1: inf\n" };

  for (guint k = 0; k < G_N_ELEMENTS (texts); k++) {
    refuse (g_strdup (texts[k]), NULL, (const gchar *const[]){ "calibration", NULL });
    refuse (g_strdup (texts[k]), texts[k], (const gchar *const[]){ "calibration", NULL });
  }
  refuse (g_strdup (""), NULL, (const gchar *const[]){ "empty", "OpenCV", "KITTI" });
  refuse (g_strdup (MIDDLEBURY), MIDDLEBURY, (const gchar *const[]){ "Middlebury", "both cameras", "only one" });
  refuse (
      replaced (MIDDLEBURY, "baseline=193.001\n", ""), NULL, (const gchar *const[]){ "baseline", "missing", "doffs" });
  refuse (replaced (MIDDLEBURY, "cam1", "cam2"), NULL, (const gchar *const[]){ "cam1", "missing", "cam2" });
  refuse (
      replaced (MIDDLEBURY, "doffs=32.778", "doffs=131.1"), NULL, (const gchar *const[]){ "doffs", "131.1", "32.778" });
  refuse (replaced (MIDDLEBURY, "isint=0", "isint 0"), NULL, (const gchar *const[]){ "a line has no '='", "", "" });
  refuse (replaced (MIDDLEBURY, "0 0 1]", "0 1]"), NULL, (const gchar *const[]){ "cam0", "8 values", "9" });
  refuse (replaced (MIDDLEBURY, "=741", "=x"), NULL, (const gchar *const[]){ "width", "'x'", "number" });
  refuse (g_strdup ("M1: [ 9, 0, 5, 5, 9, 5, 0, 0, 1 ]\nD1: [ 0, 0, 0, 0 ]\n"), NULL,
      (const gchar *const[]){ "M1", "no camera matrix", "0 fy cy" });
  refuse (g_strdup ("M1: [ 9, 1, 5, 0, 9, 5, 0, 0, 1 ]\nD1: [ 0, 0, 0, 0 ]\n"), NULL,
      (const gchar *const[]){ "M1", "no camera matrix", "skew" });
  refuse (g_strdup ("<opencv_storage><col\351s>3"), NULL, (const gchar *const[]){ "line 1", NULL });
  refuse (g_strdup ("M1: 1\n"), NULL, (const gchar *const[]){ "M1", NULL });
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
    refuse (g_string_free (text, FALSE), NULL, (const gchar *const[]){ "calibration", NULL });
    refuse (g_string_free (inside, FALSE), NULL, (const gchar *const[]){ "calibration", NULL });
    refuse (g_string_free (value, FALSE), NULL, (const gchar *const[]){ "calibration", NULL });
  }
  refuse (g_strnfill ((4 << 20) + 1, '1'), NULL, (const gchar *const[]){ "4194304 bytes", NULL });
}

/* Every text cut after every byte: taken or refused with a sentence, and what is taken can be tried. */
static void
check_cuts (gchar *text, const gchar *right)
{
  gsize length = strlen (text);
  guint taken = 0;

  for (gsize cut = 0; cut <= length; cut++) {
    g_autofree gchar *part = g_strndup (text, cut), *message = NULL;
    StereoCalibration c;
    StereoRectification r;
    StereoError error = { 0 };
    if (parse (&c, part, right, 0, &message)) {
      taken++;
      CHECK (stereo_calibration_scale (&c, 640, 480, &error) || stereo_rectify (&c, 0, 0, 0, &r, &error) == STEREO_OK ||
              error.message[0],
          "refused without a word");
    } else {
      CHECK (message && strlen (message) > 20, "refused without a word after %u bytes", (guint) cut);
    }
  }
  CHECK (taken > 0, "the whole text was not taken");
  g_free (text);
}

static void
test_truncation (void)
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

/* ---- files ---- */

static const GstStereoCalibrationOptions by_format;

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
  check_case ("refusals", test_refusals);
  check_case ("lenses", test_lenses);
  check_case ("nonsense", test_nonsense);
  check_case ("masses", test_masses);
  check_case ("truncation", test_truncation);
  check_case ("files", test_files);
  return check_finish ();
}
