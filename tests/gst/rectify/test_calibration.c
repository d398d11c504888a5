/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Calibration files of OpenCV and ROS: a calibration comes back as it was written, and as it is saved. What cannot be read is
 * named, with what is wrong and what to do.
 */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "gst/rectify/calibration/calibration.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

#define ROUNDS 30

static Random source;
static const GstStereoCalibrationOptions by_format;

/* ---- texts ---- */

/* Any numbers at all in the right places. @lens: values of a distortion. */
static StereoCalibration
draw (gint lens, gboolean pose, gboolean rectification)
{
  StereoCalibration c = { .width = random_range (&source, 1, 5000),
    .height = random_range (&source, 1, 5000),
    .has_pose = pose,
    .has_rectification = rectification };
  gdouble *const values[] = { c.rotation, c.translation, c.rectifying[0], c.projection[0] };
  const gint counts[] = { pose ? 9 : 0, pose ? 3 : 0, rectification ? 18 : 0, rectification ? 24 : 0 };

  for (gint v = 0; v < 2; v++) {
    for (gint i = 0; i < 4; i++)
      (&c.camera[v].fx)[i] = random_between (&source, 1, 3000);
    for (gint i = 0; i < MIN (lens, STEREO_DISTORTION); i++)
      c.camera[v].distortion[i] = random_between (&source, -2, 2) * (random_range (&source, 0, 1) ? 1 : 1e-7);
  }
  for (guint k = 0; k < G_N_ELEMENTS (values); k++)
    for (gint i = 0; i < counts[k]; i++)
      values[k][i] = random_between (&source, -2000, 2000);
  return c;
}

/* Every @length_every-th number is a length, which is divided by the unit. */
static void
append_numbers (
    GString *text, const gdouble *numbers, gint count, gint length_every, gdouble unit_mm, const gchar *between)
{
  for (gint i = 0; i < count; i++) {
    gchar buffer[G_ASCII_DTOSTR_BUF_SIZE];
    gboolean length = length_every && i % length_every == length_every - 1;
    g_string_append (text, i > 0 ? between : "");
    g_string_append (text, i > 0 && random_range (&source, 0, 3) == 0 ? "\n       " : "");
    g_string_append (text, g_ascii_formatd (buffer, sizeof buffer, "%.17g", numbers[i] / (length ? unit_mm : 1)));
  }
}

typedef enum
{
  YAML,   /* OpenCV */
  XML,    /* OpenCV */
  FILES,  /* ROS' camera_calibration */
  MESSAGE /* ROS, as a topic is printed */
} Writing;

static void
append_matrix (GString *text, Writing writing, const gchar *name, const gdouble *numbers, gint rows, gint cols,
    gint length_every, gdouble unit_mm)
{
  static const gchar *const begin[] = { "%s: !!opencv-matrix\n   rows: %d\n   cols: %d\n   dt: d\n   data: [ ",
    "<%s type_id=\"opencv-matrix\">\n  <rows>%d</rows>\n  <cols>%d</cols>\n  <dt>d</dt>\n  <data>\n    ",
    "%s:\n  rows: %d\n  cols: %d\n  data: [" };
  static const gchar *const end[] = { " ]\n", "</data></", "]\n" };

  if (writing == MESSAGE) {
    g_string_append_printf (text, "%s:%s", name, rows > 0 && cols > 0 ? "\n- " : " []\n");
    append_numbers (text, numbers, rows * cols, length_every, unit_mm, "\n- ");
    g_string_append_c (text, '\n');
    return;
  }
  g_string_append_printf (text, begin[writing], name, rows, cols);
  append_numbers (text, numbers, rows * cols, length_every, unit_mm, writing == XML ? " " : ", ");
  g_string_append (text, end[writing]);
  if (writing == XML)
    g_string_append_printf (text, "%s>\n", name);
}

static void
append_size (GString *text, Writing writing, const StereoCalibration *c, const gchar *width, const gchar *height)
{
  g_string_append_printf (text, writing == XML ? "<%s>%d</%s>\n<%s>%d</%s>\n" : "%s: %d%.0s\n%s: %d%.0s\n", width,
      c->width, width, height, c->height, height);
}

/* The matrix and the distortion of a camera, the rotation and the projection, by these names. */
static void
append_camera (GString *text, Writing writing, const StereoCalibration *c, gint v, gint lens, gdouble unit_mm,
    const gchar *const names[4])
{
  const StereoCamera *camera = &c->camera[v];
  const gdouble m[9] = { camera->fx, 0, camera->cx, 0, camera->fy, camera->cy, 0, 0, 1 };
  gdouble d[14] = { 0 };
  gboolean stands = random_range (&source, 0, 1);

  memcpy (d, camera->distortion, sizeof camera->distortion);
  append_matrix (text, writing, names[0], m, 3, 3, 0, 1);
  append_matrix (text, writing, names[1], d, stands ? lens : 1, stands ? 1 : lens, 0, 1);
  if (c->has_rectification) {
    append_matrix (text, writing, names[2], c->rectifying[v], 3, 3, 0, 1);
    append_matrix (text, writing, names[3], c->projection[v], 3, 4, 4, unit_mm);
  }
}

/* @names: a style of keys. */
static gchar *
opencv (Writing writing, const StereoCalibration *c, gint names, gint lens, gdouble unit_mm)
{
  static const gchar *const of[4][2][4] = { { { "M1", "D1", "R1", "P1" }, { "M2", "D2", "R2", "P2" } },
    { { "K1", "D1", "R1", "P1" }, { "K2", "D2", "R2", "P2" } },
    { { "cameraMatrix1", "distCoeffs1", "R1", "P1" }, { "cameraMatrix2", "distCoeffs2", "R2", "P2" } },
    { { "camera_matrix_left", "distortion_coefficients_left", "R1", "P1" },
        { "camera_matrix_right", "distortion_coefficients_right", "R2", "P2" } } };
  GString *text = g_string_new (writing == XML ? "<?xml version=\"1.0\"?>\n<opencv_storage>\n<!-- of a test -->\n" :
                                                 "%YAML:1.0\n---\n# of a test\nflags: 0\n");

  if (c->width && names == 2)
    g_string_append_printf (
        text, writing == XML ? "<imageSize>\n  %d %d</imageSize>\n" : "imageSize: [ %d, %d ]\n", c->width, c->height);
  else if (c->width)
    append_size (text, writing, c, "image_width", "image_height");
  for (gint v = 0; v < 2; v++)
    append_camera (text, writing, c, v, lens, unit_mm, of[names][v]);
  if (c->has_pose) {
    append_matrix (text, writing, "R", c->rotation, 3, 3, 0, 1);
    append_matrix (text, writing, "T", c->translation, 3, 1, 1, unit_mm);
  }
  g_string_append (text, writing == XML ? "</opencv_storage>\n" : "");
  return g_string_free (text, FALSE);
}

/* @writing: FILES, or MESSAGE, whose keys are large in ROS 1. */
static gchar *
ros (Writing writing, const StereoCalibration *c, gint v, gint lens, gdouble unit_mm)
{
  static const gchar *const of[3][4] = { { "camera_matrix", "distortion_coefficients", "rectification_matrix",
                                             "projection_matrix" },
    { "k", "d", "r", "p" }, { "K", "D", "R", "P" } };
  GString *text = g_string_new (writing == MESSAGE ? "header:\n  stamp:\n    sec: 1\n  frame_id: \"a\"\n" : "");

  append_size (
      text, writing, c, writing == MESSAGE ? "width" : "image_width", writing == MESSAGE ? "height" : "image_height");
  g_string_append_printf (text, "distortion_model: %s\n",
      c->camera[v].model ? "equidistant" :
          lens == 0      ? "\"\"" :
          lens > 5       ? "rational_polynomial" :
                           "plumb_bob");
  append_camera (text, writing, c, v, lens, unit_mm, of[writing == MESSAGE ? 1 + random_range (&source, 0, 1) : 0]);
  if (writing == MESSAGE)
    g_string_append (text,
        "binning_x: 0\nbinning_y: 0\nroi:\n  x_offset: 0\n  y_offset: 0\n  height: 0\n  width: 0\n  do_rectify: false\n"
        "---\n");
  return g_string_free (text, FALSE);
}

/* Takes the text; the first @from in it becomes @to. */
static gchar *
replaced (gchar *text, const gchar *from, const gchar *to)
{
  gchar *at = strstr (text, from);

  if (!CHECK (at, "'%s' is not in the text:\n%s", from, text))
    return text;
  gchar *whole = g_strdup_printf ("%.*s%s%s", (gint) (at - text), text, to, at + strlen (from));
  g_free (text);
  return whole;
}

/* ---- what comes back ---- */

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

/* Parses and frees both texts. */
static gboolean
parse (gchar *left, gchar *right, const GstStereoCalibrationOptions *options, GstStereoCalibration *read)
{
  g_autofree gchar *message = NULL;
  gboolean ok = CHECK (gst_stereo_calibration_parse (read, left, right, options, &message), "%s\n%s", message, left);

  CHECK (!ok || !message, "taken, and '%s'", message);
  g_free (left);
  g_free (right);
  return ok;
}

static void
expect (const StereoCalibration *written, gchar *left, gchar *right, gdouble unit_mm)
{
  GstStereoCalibration read;

  if (parse (left, right, &(GstStereoCalibrationOptions){ .unit_mm = unit_mm }, &read)) {
    check_same (&read.whole, written);
    CHECK (!read.roi.width[0], "a region of %d pixels", read.roi.width[0]);
  }
}

CASE (test_opencv, "OpenCV")
{
  for (gint k = 0; k < ROUNDS; k++) {
    gint lens = (gint[]){ 4, 5, 8, 12, 14 }[k % 5];
    StereoCalibration c = draw (lens, k % 3 != 0, k % 2 || k % 3 == 0);
    gdouble unit = (gdouble[]){ 1, 1000, 25, 0.5 }[k % 4];
    if (k % 7 == 0)
      c.width = c.height = 0;
    expect (&c, opencv (YAML, &c, k % 4, lens, unit), NULL, unit);
    expect (&c, opencv (XML, &c, k % 4, lens, unit), NULL, unit);
    /* one unit is a millimetre where nothing is said */
    expect (&c, opencv (YAML, &c, k % 4, lens, 1), NULL, 0);
  }
}

CASE (test_ros, "ROS")
{
  for (gint k = 0; k < ROUNDS; k++) {
    gboolean fisheye = k % 5 == 4;
    gint lens = fisheye ? 4 : (gint[]){ 0, 4, 5, 8 }[k % 4];
    StereoCalibration c = draw (lens, FALSE, TRUE);
    gdouble unit = (gdouble[]){ 1, 1000, 25, 0.5 }[k % 4];
    c.camera[0].model = c.camera[1].model = fisheye ? STEREO_LENS_EQUIDISTANT : STEREO_LENS_PINHOLE;
    expect (
        &c, ros (k % 2 ? FILES : MESSAGE, &c, 0, lens, unit), ros (k % 3 ? FILES : MESSAGE, &c, 1, lens, unit), unit);
    expect (&c, ros (k % 2 ? FILES : MESSAGE, &c, 0, lens, 1000), ros (FILES, &c, 1, lens, 1000), 0);
  }
}

/* Line ends of Windows, a byte order mark, blanks at the ends, letters of another encoding in a comment */
CASE (test_dressing, "dressing")
{
  StereoCalibration c = draw (5, TRUE, FALSE);

  for (Writing k = YAML; k <= XML; k++) {
    g_autofree gchar *plain = opencv (k, &c, 0, 5, 1);
    g_auto (GStrv) lines = g_strsplit (plain, "\n", -1);
    expect (&c, g_strjoinv ("\r\n", lines), NULL, 1);
    expect (&c, g_strconcat ("\357\273\277", plain, NULL), NULL, 1);
    expect (&c, g_strconcat (plain, "\n \n\n", NULL), NULL, 1);
  }
  expect (&c, replaced (opencv (YAML, &c, 0, 5, 1), "# of a test", "# mi\351rcoles"), NULL, 1);
}

/* ---- what is refused ---- */

/* Takes the texts. @words: NULL ends them. */
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
  CHECK (!gst_stereo_calibration_parse (&c, left, right, options, NULL), "taken without a place for the message");
  g_free (left);
  g_free (right);
}

#define REFUSE(left, right, ...) refuse_of (left, right, &by_format, (const gchar *const[]){ __VA_ARGS__, NULL })

/* Counts of values: the missing ones are 0. Three are k1 k2 k3; more than 8 have to be 0 from there. */
CASE (test_lenses, "lenses")
{
  for (gint count = 0; count <= 20; count++)
    for (gint k = 0; k < 4; k++) {
      gboolean zeros = k % 2, fisheye = k / 2;
      GString *list = g_string_new (fisheye ? "distortion_model: equidistant\nD1: [ " : "D1: [ ");
      StereoCalibration c = draw (fisheye ? 4 : 5, TRUE, FALSE);
      gint first = fisheye ? 4 : 8;
      gboolean fine = fisheye ? count <= 4 || (zeros && count <= 14) :
                                count <= 5 || count == 8 || (zeros && (count == 12 || count == 14));
      g_autofree gchar *text = opencv (YAML, &c, 0, fisheye ? 4 : 5, 1),
                       *number = g_strdup_printf ("has %d values", count);
      gchar *start = strstr (text, "D1:");
      for (gint i = 0; i < count; i++)
        g_string_append_printf (list, "%s%s", i ? ", " : "", zeros && i >= first ? "0." : "0.125");
      gchar *whole = g_strdup_printf ("%.*s%s %s", (gint) (start - text), text, list->str, strchr (start, ']'));
      c.camera[0].model = c.camera[1].model = fisheye ? STEREO_LENS_EQUIDISTANT : STEREO_LENS_PINHOLE;
      for (gint i = 0; i < STEREO_DISTORTION; i++)
        c.camera[0].distortion[i] = i < MIN (count, first) ? 0.125 : 0;
      if (count == 3 && !fisheye) {
        c.camera[0].distortion[4] = 0.125;
        c.camera[0].distortion[2] = 0;
      }
      if (fine)
        expect (&c, whole, NULL, 1);
      else
        REFUSE (whole, NULL, number, fisheye ? "fisheye" : "4 (k1 k2 p1 p2)", fisheye ? "k1 k2 k3 k4" : "k4 k5 k6");
      g_string_free (list, TRUE);
    }
}

/* A row: the first of @from in the text becomes @to, and then the message says the words. */
typedef struct
{
  const gchar *from, *to;
  const gchar *words[3];
} Broken;

static const Broken broken_yaml[] = {
  { "M1:", "M9:", { "M1 is missing", "M9", "M1 D1 M2 D2" } },
  { "D2:", "E2:", { "D2 is missing", "E2", "calibration.py" } },
  { "T:", "t:", { "R and T", "R1, R2, P1 and P2", "M2, R, flags" } },
  { "rows: 3", "rows: 2", { "M1", "2 x 3", "3 x 3" } },
  { "cols: 3", "cols: many", { "M1", "3 x 0", "3 x 3" } },
  { "data: [ ", "data: [ 1, ", { "M1", "10 values", "needs 9" } },
  { "data: [ ", "data: [ one, ", { "M1", "value 1", "'one', which is not a finite number" } },
  { "data: [ ", "data: [ .Nan, ", { "M1", "value 1", "finite" } },
  { "data: [ ", "data: [ -.Inf, ", { "M1", "value 1", "finite" } },
  { "data: [ ", "data: [ 1e999, ", { "M1", "value 1", "finite" } },
  { "data: [ ", "data: [ *other, ", { "M1", "finite number" } },
  { "data:", "date:", { "M1", "0 values", "needs 9" } },
  { "data: [ ", "data: { ", { "line", "YAML" } },
  { "dt: d\n   data: [ 0.125", "dt: d\n   data: [ 0.125, 0.125", { "D1", "5 x 1", "1 x 6" } },
  /* decimal commas, as a program writes them that heeds the user's language */
  { "data: [ ", "data: [ 535,739, 0, ", { "M1", "12 values", "decimal points (535.739)" } },
  { "data: [ ", "data: [ 535,, ", { "line", "YAML", "decimal points (535.739)" } },
  { "data: [ ", "data: [ 0., \"1,5\", ", { "M1", "'1,5'", "decimal points (535.739)" } },
  { "---\n", "---\nmodel: omni\n", { "'omni'", "not supported", "plumb_bob" } },
  { "---\n", "---\ndistortion_model: fov\n", { "'fov'", "not supported", "rational_polynomial" } },
  { "---\n", "---\ndistortion_model: equidistant\n", { "D1 has 5 values", "equidistant", "k1 k2 k3 k4" } },
  { "---\n", "---\nfisheye_model: 1\n", { "D1 has 5 values", "fisheye", "k1 k2 k3 k4" } },
  { "image_height", "image_depth", { "image_height is missing", "image_width" } },
  { "image_height: ", "image_height: 4e9\n#", { "image_height", "4e+09", "65535" } },
  { "image_width: ", "image_width: 640.5\n#", { "image_width", "640.5", "whole" } },
  { "image_width: ", "image_width: 0\n#", { "image_width", "is 0", "from 1 to 65535" } },
  { "---\n", "---\n{ a: b }: c\n", { "line", "OpenCV", "ROS" } },
  { "---\n", "---\n\tM1: 1\n", { "line 3", "YAML" } },
};

static const Broken broken_xml[] = {
  { "<M1 ", "<M9 ", { "M1", "M9", "line" } },
  { "<rows>3", "<rows>4", { "M1", "4 x 3", "3 x 3" } },
  { "<data>", "<data> 7", { "M1", "10 values", "needs 9" } },
  { "<data>", "<data>535,739 ", { "M1", "'535,739'", "decimal points" } },
  { "<data>", "<data>nan ", { "M1", "nan", "finite" } },
  { "<opencv_storage>", "<html>", { "<opencv_storage>", "<html>" } },
  { "</opencv_storage>", "", { "line" } },
};

static const Broken broken_ros[] = {
  { "projection_matrix", "projection", { "projection_matrix is missing", "left calibration", "camera_matrix" } },
  { "rectification_matrix", "S", { "rectification_matrix is missing", "image_width" } },
  { "image_width: 6", "image_width: 7", { "6400 x 480", "7400 x 480", "one size" } },
  { "image_width: 6400", "image_width: -6400", { "image_width", "-6400", "65535" } },
  { "plumb_bob", "equidistant", { "distortion_coefficients has 5 values", "equidistant", "left calibration" } },
  { "plumb_bob", "Mei", { "'Mei'", "not supported", "left calibration" } },
  { "camera_matrix:", "camera_matrix_:", { "left calibration", "camera_matrix is missing", "camera_matrix_" } },
  { "image_width", "roi:\n  width: 64\n  height: 48\nimage_width", { "roi", "0 x 0", "64 x 48" } },
  { "image_width", "roi: { width: -4 }\nimage_width", { "roi.width", "-4", "left calibration" } },
  { "image_width", "roi: { x_offset: 4, width: 65535 }\nimage_width",
      { "roi.x_offset", "65535", "outside of the sensor" } },
  { "image_width", "binning_x: two\nimage_width", { "binning_x", "'two'", "left calibration" } },
};

/* Takes @text and @right. */
static void
refuse_rows (gchar *text, gchar *right, const Broken *rows, guint count)
{
  for (guint k = 0; k < count; k++)
    refuse_of (replaced (g_strdup (text), rows[k].from, rows[k].to), g_strdup (right), &by_format,
        (const gchar *const[]){ rows[k].words[0], rows[k].words[1], rows[k].words[2], NULL });
  g_free (text);
  g_free (right);
}

#define REFUSE_ROWS(text, right, rows) refuse_rows (text, right, rows, G_N_ELEMENTS (rows))

CASE (test_refused, "one thing is wrong")
{
  StereoCalibration c = draw (5, TRUE, FALSE), all = draw (5, FALSE, TRUE);
  GstStereoCalibrationOptions half = { .width = 640 };

  c.camera[0].distortion[0] = 0.125;
  all.width = 6400;
  all.height = 480;
  gchar *yaml = opencv (YAML, &c, 0, 5, 1), *standing;
  while (!strstr (yaml, "rows: 5\n   cols: 1\n   dt: d\n   data: [ 0.125")) {
    g_free (yaml);
    yaml = opencv (YAML, &c, 0, 5, 1);
  }
  standing = g_strdup (yaml);
  REFUSE_ROWS (yaml, NULL, broken_yaml);
  REFUSE_ROWS (opencv (XML, &c, 0, 5, 1), NULL, broken_xml);
  REFUSE_ROWS (ros (FILES, &all, 0, 5, 1000), ros (FILES, &all, 1, 5, 1000), broken_ros);
  REFUSE (ros (FILES, &all, 0, 5, 1000), NULL, "one camera", "left.yaml,right.yaml");
  REFUSE (ros (MESSAGE, &all, 0, 5, 1000), NULL, "one camera", "left.yaml,right.yaml");
  REFUSE (g_strdup (standing), ros (FILES, &all, 1, 5, 1000), "OpenCV", "both cameras", "only this file");
  refuse_of (
      standing, NULL, &half, (const gchar *const[]){ "calibration-width=640", "calibration-height=0", "both", NULL });
  REFUSE (g_strdup ("M1: [ 9, 0, 5, 5, 9, 5, 0, 0, 1 ]\nD1: []\n"), NULL, "M1", "no camera matrix", "0 fy cy");
  REFUSE (g_strdup ("M1: [ 9, 1, 5, 0, 9, 5, 0, 0, 1 ]\nD1: []\n"), NULL, "M1", "no camera matrix", "skew");
}

/* Formats that calibration.py reads: what it is, and the way out. Two files of OpenCV are such a format. */
CASE (test_foreign, "other formats")
{
  static const gchar *const rows[][2] = { { "Kalibr", "cam0:\n  camera_model: pinhole\n  intrinsics: [1, 2, 3, 4]\n" },
    { "EuRoC", "sensor_type: camera\nT_BS:\n  cols: 4\n  rows: 4\n  data: [1]\nintrinsics: [1, 2, 3, 4]\n" },
    { "ORB-SLAM", "%YAML:1.0\nLEFT.K: !!opencv-matrix\n   rows: 3\n   cols: 3\n   data: [1]\n" },
    { "ORB-SLAM", "%YAML:1.0\nCamera.type: \"PinHole\"\nCamera1.fx: 500\nCamera2.fx: 500\n" },
    { "ORB-SLAM", "%YAML:1.0\r\nCamera.fx: 500\r\nCamera.bf: 40\r\n" }, { "ZED", "\n[LEFT_CAM_HD]\nfx=700\nfy=700\n" },
    { "ost.txt", "# oST version 5.0 parameters\n\n[image]\n\nwidth\n640\n" },
    { "KITTI", "P0: 707 0 601 0 0 707 183 0 0 0 1 0\nP1: 707 0 601 -379 0 707 183 0 0 0 1 0\n" },
    { "KITTI", "calib_time: 09-Jan-2012 13:57:47\nS_00: 1392 512\nK_00: 984 0 690 0 980 233 0 0 1\n" },
    { "KITTI", "7.07e+02 0 6.01e+02 0 0 7.07e+02 1.83e+02 0 0 0 1 0\n" },
    { "Middlebury", "cam0=[999 0 294; 0 999 252; 0 0 1]\ncam1=[999 0 326; 0 999 252; 0 0 1]\nbaseline=193\n" } };
  StereoCalibration c = draw (5, TRUE, TRUE);

  for (guint k = 0; k < G_N_ELEMENTS (rows); k++) {
    REFUSE (g_strdup (rows[k][1]), NULL, "this is", rows[k][0], "calibration.py", "-o stereo.yml");
    REFUSE (g_strdup (rows[k][1]), g_strdup (rows[k][1]), "this is", rows[k][0], "calibration.py");
    /* lines of Windows */
    g_auto (GStrv) lines = g_strsplit (rows[k][1], "\n", -1);
    REFUSE (g_strjoinv ("\r\n", lines), NULL, "this is", rows[k][0], "calibration.py");
  }
  REFUSE (opencv (YAML, &c, 0, 5, 1), opencv (YAML, &c, 0, 5, 1), "OpenCV", "calibration.py FILE FILE");
  REFUSE (g_strdup ("value0: { intrinsics: [] }\n"), NULL, "M1 is missing", "calibration.py reads other formats");
}

/* Deeper and longer than any calibration: refused, and soon. fuzz/calibration.c has shorter nonsense, and files that end early. */
CASE (test_nonsense, "nonsense")
{
  static const gchar *const units[] = { "[", "{", "{a: ", "- ", "a:\n ", "<a>", "[[],", "&a ", "? ", "1 ", "M1: [1]\n",
    "\n#", "'" };

  REFUSE (g_strdup (""), NULL, "empty", "OpenCV", "ROS");
  for (guint k = 0; k < G_N_ELEMENTS (units); k++) {
    GString *text = g_string_new (NULL);
    for (guint i = 0; i < 20000; i++)
      g_string_append (text, units[k]);
    REFUSE (g_strdup (text->str), NULL, "calibration");
    REFUSE (g_strconcat ("<opencv_storage>", text->str, NULL), NULL, "calibration");
    REFUSE (g_strconcat ("M1: ", text->str, NULL), NULL, "calibration");
    g_string_free (text, TRUE);
  }
}

/* ---- a part of the sensor, and what drivers leave out ---- */

#define REGION "x_offset: %d\n  y_offset: %d\n  height: %d\n  width: %d"

/* Frames of the region, scaled or not, get numbers of it; frames of the whole sensor, binned or not, the others. */
CASE (test_region, "a part of the sensor")
{
  for (gint k = 0; k < ROUNDS; k++) {
    StereoCalibration c = draw (5, FALSE, TRUE);
    gint by[2] = { 1 + k % 3, 1 + k / 3 % 3 };
    const gint width = 240 * by[0], height = 180 * by[1], at[2][2] = { { 12 * by[0], 6 * by[1] }, { 24 * by[0], 0 } };
    g_autofree gchar *none = g_strdup_printf (REGION, 0, 0, 0, 0),
                     *binning = g_strdup_printf ("binning_x: %d\nbinning_y: %d", k % 5 ? by[0] : 1, k % 5 ? by[1] : 1);
    GstStereoCalibration read;
    gchar *text[2];
    c.width = 4 * 120 * by[0];
    c.height = 4 * 90 * by[1];
    if (k % 5 == 0)
      by[0] = by[1] = 1;
    for (gint v = 0; v < 2; v++) {
      g_autofree gchar *region = g_strdup_printf (REGION, at[v][0], at[v][1], height, width);
      text[v] = replaced (ros (MESSAGE, &c, v, 5, 1000), none, region);
      text[v] = replaced (text[v], "binning_x: 0\nbinning_y: 0", binning);
    }
    if (!parse (text[0], text[1], &by_format, &read))
      continue;
    for (gint part = 0; part < 2; part++) {
      /* part: the region as it comes, binned; else all of the sensor, binned */
      gint w = (part ? width : c.width) / by[0], h = (part ? height : c.height) / by[1];
      StereoCalibration got = gst_stereo_calibration_for (&read, w, h);
      g_autofree gchar *doubt = gst_stereo_calibration_doubt_roi (&read, w, h);
      CHECK (got.width == w && got.height == h, "%d x %d of %d x %d", got.width, got.height, w, h);
      CHECK (part ? !doubt : doubt && strstr (doubt, "roi") && strstr (doubt, "whole sensor"), "'%s'", doubt);
      for (gint v = 0; v < 2; v++)
        for (gint axis = 0; axis < 2; axis++) {
          gdouble middle = axis ? c.camera[v].cy : c.camera[v].cx, focal = axis ? c.camera[v].fy : c.camera[v].fx;
          gdouble cut = part ? at[v][axis] / by[axis] : 0, *p = got.projection[v] + 4 * axis, far = by[axis];
          CHECK (fabs ((&got.camera[v].cx)[axis] - ((middle + 0.5) / far - 0.5 - cut)) < 1e-9, "view %d", v);
          CHECK (fabs ((&got.camera[v].fx)[axis] - focal / far) < 1e-9, "view %d", v);
          CHECK (fabs (p[axis] - c.projection[v][5 * axis] / far) < 1e-9, "view %d", v);
          CHECK (fabs (p[2] - ((c.projection[v][2 + 4 * axis] + 0.5) / far - 0.5 - cut)) < 1e-9, "view %d", v);
          CHECK (fabs (p[3] - c.projection[v][3 + 4 * axis] / far) < 1e-9 * fabs (p[3]), "view %d", v);
        }
    }
    /* not binned, the whole sensor has the size of the file; a scaled region has another one */
    StereoCalibration got = gst_stereo_calibration_for (&read, c.width, c.height),
                      scaled = gst_stereo_calibration_for (&read, width * 7 / by[0], height * 7 / by[1]);
    CHECK (got.width == c.width / by[0] && scaled.width == width / by[0], "%d and %d px", got.width, scaled.width);
  }
}

/* A camera that rectifies by itself leaves out what does not matter then. */
CASE (test_rectified_by_the_camera, "rectified by the camera")
{
  for (gint k = 0; k < 16; k++) {
    gboolean no_r = k & 1, no_k = k & 2, no_p = k & 4, lens = k & 8;
    StereoCalibration c = draw (5, FALSE, TRUE), wanted;
    gchar *text[2];
    for (gint v = 0; v < 2; v++) {
      StereoCamera *camera = &c.camera[v];
      if (!lens)
        memset (camera->distortion, 0, sizeof camera->distortion);
      if (no_r)
        memset (c.rectifying[v], 0, sizeof c.rectifying[v]);
      const gdouble p[12] = { 500, 0, 320, v ? -60000 : 0, 0, 501, 240, 0, 0, 0, 1, 0 };
      for (gint i = 0; i < 12; i++)
        c.projection[v][i] = no_p ? 0 : p[i];
      text[v] = ros (k % 3 ? MESSAGE : FILES, &c, v, 5, 1000);
    }
    wanted = c;
    for (gint v = 0; v < 2 && no_k; v++) {
      StereoCalibration none = c;
      memset (&none.camera[v], 0, 4 * sizeof (gdouble));
      g_free (text[v]);
      text[v] = ros (FILES, &none, v, 5, 1000);
      /* the last number of the matrix is a 1 */
      strchr (strstr (text[v], "camera_matrix:"), ']')[-1] = '0';
      wanted.camera[v].fx = 500;
      wanted.camera[v].cx = 320;
      wanted.camera[v].fy = 501;
      wanted.camera[v].cy = 240;
    }
    for (gint v = 0; v < 2 && no_r; v++)
      for (gint i = 0; i < 9; i++)
        wanted.rectifying[v][i] = i % 4 == 0;
    if (no_k && no_p)
      REFUSE (text[0], text[1], "left calibration", "K and P", "not calibrated");
    else if (no_p || (lens && (no_k || no_r)))
      REFUSE (text[0], text[1], "left calibration", "all zeros", no_p ? "P (" : "distortion");
    else
      expect (&wanted, text[0], text[1], 0);
  }
}

/* Numbers that belong to another size than the file says, or of a file that says none. */
CASE (test_size, "size of the calibration")
{
  for (gint k = 0; k < 2; k++) {
    StereoCalibration c = draw (5, TRUE, FALSE);
    GstStereoCalibration read;
    if (k)
      c.width = c.height = 0;
    if (!parse (opencv (YAML, &c, 0, 5, 1), NULL, &(GstStereoCalibrationOptions){ .width = 1280, .height = 960 }, &read))
      return;
    c.width = 1280;
    c.height = 960;
    check_same (&read.whole, &c);
  }
}

/* Files that are saved make the same views of the same raw pictures, in millimetres whatever they were read from. */
CASE (test_saved, "saved files")
{
  gint compared = 0;

  for (gint k = 0; k < 8 * ROUNDS; k++) {
    gboolean fisheye = random_range (&source, 0, 2) == 0;
    gint lens = fisheye ? 4 : k % 2 ? 5 : 8;
    StereoCalibration c = { .width = 741, .height = 497, .has_pose = 1, .has_rectification = k % 2 };
    GstStereoCalibration loaded;
    StereoRectification r, again;
    StereoError error;
    g_autofree gchar *text = NULL, *message = NULL;
    c.translation[0] = -random_range (&source, 10, 900);
    for (gint i = 0; i < 9; i++)
      c.rotation[i] = c.rectifying[0][i] = c.rectifying[1][i] = i % 4 == 0;
    for (gint v = 0; v < 2; v++) {
      const gdouble cx = v ? 326.96 : 294.182,
                    p[12] = { 999, 0, cx, v ? 999 * c.translation[0] : 0, 0, 999, 252, 0, 0, 0, 1, 0 };
      c.camera[v] = (StereoCamera){ 999, 999, cx, 252.9, { 0 },
        fisheye ? STEREO_LENS_EQUIDISTANT : STEREO_LENS_PINHOLE };
      memcpy (c.projection[v], p, sizeof p);
      for (gint i = 0; i < lens; i++)
        c.camera[v].distortion[i] = 1e-3 * random_range (&source, -9, 9);
    }
    if (stereo_rectify (&c, k % 3 - 1, k % 5 ? 0 : 600, k % 5 ? 0 : 400, &r, &error))
      continue;
    compared++;
    text = gst_stereo_calibration_write (&c, &r);
    if (!CHECK (gst_stereo_calibration_parse (&loaded, text, NULL, &by_format, &message), "%s\n%s", message, text))
      continue;
    const StereoCalibration *read = &loaded.whole;
    CHECK (!stereo_rectify (read, -1, 0, 0, &again, &error), "%s", error.message);
    CHECK (again.width == r.width && again.height == r.height, "%d x %d became %d x %d", r.width, r.height, again.width,
        again.height);
    CHECK (memcmp (&read->camera, &c.camera, sizeof c.camera) == 0, "the cameras changed:\n%s", text);
    CHECK (read->has_pose && memcmp (read->translation, c.translation, sizeof c.translation) == 0, "the pose changed");
    for (gint v = 0; v < 2; v++) {
      same ("R", again.rectifying[v], r.rectifying[v], 9);
      same ("P", again.projection[v], r.projection[v], 12);
    }
  }
  CHECK (compared > 4 * ROUNDS, "only %d of %d could be rectified", compared, 8 * ROUNDS);
}

/* ---- files ---- */

static void
write_file (const gchar *path, gchar *text, gssize length)
{
  CHECK (g_file_set_contents (path, text, length, NULL), "%s cannot be written", path);
  g_free (text);
}

/* As Windows writes it, with a byte order mark or without; @big: its bytes the other way round. */
static void
write_utf16 (const gchar *path, gchar *text, gboolean big, gboolean mark)
{
  GString *wide = g_string_new_len (big ? "\376\377" : "\377\376", mark ? 2 : 0);

  for (const gchar *at = text; *at; at++) {
    const gchar unit[2] = { big ? 0 : *at, big ? *at : 0 };
    g_string_append_len (wide, unit, 2);
  }
  g_free (text);
  gsize length = wide->len;
  write_file (path, g_string_free (wide, FALSE), (gssize) length);
}

CASE (test_files, "files")
{
  static const gchar *const refused[][3] = { { "none.yml", "none.yml", "No such file" },
    { "none.yml,a,b.yml", "none.yml", "No such file" }, { "left,1.yaml,none.yml", "=left ", "No such file" },
    { ".", "=. ", "" }, { "/dev/zero", "/dev/zero", "" }, { "", "name of a file", "missing" },
    { ",", "name of a file", "missing" }, { "huge.yml", "huge.yml", "4194304" },
    { "zeros.yml", "zeros.yml", "zero bytes" }, { "utf32.yml", "utf32.yml", "Save the calibration as text" },
    { "empty.yml", "empty.yml", "empty" }, { "left,1.yaml", "left,1.yaml", "one camera" } };
  static const gchar *const names[] = { "a,b.yml", "left,1.yaml", "right,1.yaml", "huge.yml", "zeros.yml", "empty.yml",
    "wide0.yml", "wide1.yml", "wide2.yml", "wide3.yml", "utf32.yml" };
  static const gchar *const read[] = { "a,b.yml", "left,1.yaml,right,1.yaml", "wide0.yml", "wide1.yml", "wide2.yml",
    "wide3.yml" };
  StereoCalibration c = draw (5, FALSE, TRUE);
  g_autofree gchar *folder = g_dir_make_tmp ("calibration-XXXXXX", NULL), *here = g_get_current_dir ();
  GstStereoCalibration loaded;

  if (!CHECK (folder && g_chdir (folder) == 0, "no folder to write to"))
    return;
  write_file (names[0], opencv (YAML, &c, 0, 5, 1), -1);
  write_file (names[1], ros (FILES, &c, 0, 5, 1000), -1);
  write_file (names[2], ros (FILES, &c, 1, 5, 1000), -1);
  write_file (names[3], g_strnfill ((4 << 20) + 1, ' '), -1);
  write_file (names[4], g_malloc0 (99), 99);
  write_file (names[5], g_strdup (""), 0);
  for (gint k = 0; k < 4; k++)
    write_utf16 (names[6 + k], opencv (k % 3 ? YAML : XML, &c, 0, 5, 1), k % 2, k / 2);
  write_file (names[10], g_memdup2 ("\377\376\0\0%\0\0\0Y\0\0\0", 12), 12);
  for (guint k = 0; k < G_N_ELEMENTS (read); k++) {
    g_autofree gchar *message = NULL;
    if (CHECK (gst_stereo_calibration_load (&loaded, read[k], &by_format, &message), "%s", message))
      check_same (&loaded.whole, &c);
  }
  for (guint k = 0; k < G_N_ELEMENTS (refused); k++) {
    g_autofree gchar *message = NULL;
    CHECK (!gst_stereo_calibration_load (&loaded, refused[k][0], &by_format, &message), "%s was taken", refused[k][0]);
    for (gint i = 1; i < 3; i++)
      CHECK (message && strstr (message, refused[k][i]), "'%s' does not say '%s'", message, refused[k][i]);
  }
  for (guint k = 0; k < G_N_ELEMENTS (names); k++)
    g_unlink (names[k]);
  CHECK (g_chdir (here) == 0 && g_rmdir (folder) == 0, "the folder stays behind");
}

int
main (int argc, char **argv)
{
  source.state = random_seed ();
  check_start (argc, argv);
  check_registered ();
  return check_finish ();
}
