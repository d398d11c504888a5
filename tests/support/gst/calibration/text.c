/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/calibration/text.h"

#include <string.h>

/* ---- numbers ---- */

static gdouble
draw (Random *random, gdouble low, gdouble high)
{
  return low + (high - low) * random_unit (random);
}

static void
draw_many (Random *random, gdouble *numbers, gint count)
{
  for (gint i = 0; i < count; i++)
    numbers[i] = draw (random, -2000, 2000) * (random_range (random, 0, 1) ? 1 : 1e-7);
}

StereoCalibration
calibration_draw (Random *random, const OpencvStyle *style)
{
  StereoCalibration c = { .has_pose = style->pose, .has_rectification = style->rectification };

  if (style->size) {
    c.width = random_range (random, 1, 5000);
    c.height = random_range (random, 1, 5000);
  }
  for (gint v = 0; v < 2; v++) {
    c.camera[v] = (StereoCamera){ draw (random, 1, 3000), draw (random, 1, 3000), draw (random, -50, 3000),
      draw (random, -50, 3000), { 0 } };
    draw_many (random, c.camera[v].distortion, MIN (style->lens, STEREO_DISTORTION));
    if (style->rectification) {
      draw_many (random, c.rectifying[v], 9);
      draw_many (random, c.projection[v], 12);
    }
  }
  if (style->pose) {
    draw_many (random, c.rotation, 9);
    draw_many (random, c.translation, 3);
  }
  return c;
}

StereoCalibration
calibration_draw_projections (Random *random)
{
  StereoCalibration c = { .has_rectification = 1 };

  for (gint v = 0; v < 2; v++) {
    gdouble *p = c.projection[v];
    draw_many (random, p, 12);
    c.camera[v] = (StereoCamera){ p[0], p[5], p[2], p[6], { 0 } };
    for (gint i = 0; i < 9; i++)
      c.rectifying[v][i] = i % 4 == 0;
  }
  return c;
}

/* Enough digits to come back as they were. */
static void
append_number (GString *text, gdouble number)
{
  gchar buffer[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (text, g_ascii_formatd (buffer, sizeof buffer, "%.17g", number));
}

/* Every fourth of a projection's values and all of a translation's are lengths. */
static void
append_numbers (GString *text, const gdouble *numbers, gint count, gint length_every, gdouble unit_mm,
    const gchar *between, Random *random)
{
  for (gint i = 0; i < count; i++) {
    if (i > 0)
      g_string_append (text, between);
    if (i > 0 && random && random_range (random, 0, 3) == 0)
      g_string_append (text, "\n       ");
    append_number (text, length_every && i % length_every == length_every - 1 ? numbers[i] / unit_mm : numbers[i]);
  }
}

static void
camera_matrix (const StereoCamera *camera, gdouble *m)
{
  const gdouble values[9] = { camera->fx, 0, camera->cx, 0, camera->fy, camera->cy, 0, 0, 1 };

  memcpy (m, values, sizeof values);
}

/* ---- OpenCV ---- */

typedef struct
{
  const gchar *head, *tail, *matrix, *between, *matrix_end; /* matrix: name, rows, cols (name) */
} Markup;

static const Markup yaml = { "%YAML:1.0\n---\n# of a test\ncalibration_time: \"Sun 22 Nov 2026\"\nflags: 0\n", "",
  "%s: !!opencv-matrix\n   rows: %d\n   cols: %d\n   dt: d\n   data: [ ", ", ", " ]\n" };
static const Markup xml = { "<?xml version=\"1.0\"?>\n"
                            "<opencv_storage>\n"
                            "<!-- of a test -->\n"
                            "<calibration_time>\"Sun 22 Nov 2026\"</calibration_time>\n",
  "</opencv_storage>\n",
  "<%s type_id=\"opencv-matrix\">\n  <rows>%d</rows>\n  <cols>%d</cols>\n  <dt>d</dt>\n  <data>\n    ", " ",
  "</data></" };

static void
append_matrix (GString *text, const Markup *markup, const gchar *name, const gdouble *numbers, gint rows, gint cols,
    gint length_every, gdouble unit_mm, Random *random)
{
  g_string_append_printf (text, markup->matrix, name, rows, cols);
  append_numbers (text, numbers, rows * cols, length_every, unit_mm, markup->between, random);
  g_string_append (text, markup->matrix_end);
  if (markup == &xml)
    g_string_append_printf (text, "%s>\n", name);
}

static void
append_size (GString *text, const Markup *markup, const StereoCalibration *c, gint size)
{
  if (size == 1)
    g_string_append_printf (text,
        markup == &xml ? "<image_width>%d</image_width>\n<image_height>%d</image_height>\n" :
                         "image_width: %d\nimage_height: %d\n",
        c->width, c->height);
  else if (size == 2)
    g_string_append_printf (
        text, markup == &xml ? "<imageSize>\n  %d %d</imageSize>\n" : "imageSize: [ %d, %d ]\n", c->width, c->height);
}

static gchar *
opencv (const Markup *markup, const StereoCalibration *c, const OpencvStyle *style, gdouble unit_mm, Random *random)
{
  static const gchar *const camera[3][2] = { { "M1", "M2" }, { "K1", "K2" }, { "cameraMatrix1", "cameraMatrix2" } };
  static const gchar *const lens[3][2] = { { "D1", "D2" }, { "distCoeffs1", "distCoeffs2" },
    { "distCoeffs1", "distCoeffs2" } };
  static const gchar *const rotation[2] = { "R1", "R2" }, *const projection[2] = { "P1", "P2" };
  GString *text = g_string_new (markup->head);
  gdouble m[9], d[14];
  gboolean stands = random_range (random, 0, 1);

  append_size (text, markup, c, style->size);
  for (gint v = 0; v < 2; v++) {
    memset (d, 0, sizeof d);
    memcpy (d, c->camera[v].distortion, sizeof c->camera[v].distortion);
    camera_matrix (&c->camera[v], m);
    append_matrix (text, markup, camera[style->names][v], m, 3, 3, 0, 1, random);
    append_matrix (
        text, markup, lens[style->names][v], d, stands ? style->lens : 1, stands ? 1 : style->lens, 0, 1, random);
  }
  if (style->pose) {
    append_matrix (text, markup, "R", c->rotation, 3, 3, 0, 1, random);
    append_matrix (text, markup, "T", c->translation, stands ? 3 : 1, stands ? 1 : 3, 1, unit_mm, random);
  }
  for (gint v = 0; style->rectification && v < 2; v++) {
    append_matrix (text, markup, rotation[v], c->rectifying[v], 3, 3, 0, 1, random);
    append_matrix (text, markup, projection[v], c->projection[v], 3, 4, 4, unit_mm, random);
  }
  append_matrix (text, markup, "Q", c->rotation, 2, 2, 0, 1, random);
  g_string_append (text, markup->tail);
  return g_string_free (text, FALSE);
}

gchar *
calibration_opencv_yaml (const StereoCalibration *c, const OpencvStyle *style, gdouble unit_mm, Random *random)
{
  return opencv (&yaml, c, style, unit_mm, random);
}

gchar *
calibration_opencv_xml (const StereoCalibration *c, const OpencvStyle *style, gdouble unit_mm, Random *random)
{
  return opencv (&xml, c, style, unit_mm, random);
}

/* ---- ROS ---- */

static void
append_ros_matrix (
    GString *text, const gchar *name, const gdouble *numbers, gint rows, gint cols, gint length_every, gdouble unit_mm)
{
  g_string_append_printf (text, "%s:\n  rows: %d\n  cols: %d\n  data: [", name, rows, cols);
  append_numbers (text, numbers, rows * cols, length_every, unit_mm, ", ", NULL);
  g_string_append (text, "]\n");
}

gchar *
calibration_ros (const StereoCalibration *c, gint v, gint lens, gdouble unit_mm, Random *random)
{
  GString *text = g_string_new (NULL);
  gdouble m[9];

  camera_matrix (&c->camera[v], m);
  g_string_append_printf (text, "image_width: %d\nimage_height: %d\ncamera_name: narrow_stereo/%s\n", c->width,
      c->height, v ? "right" : "left");
  append_ros_matrix (text, "camera_matrix", m, 3, 3, 0, 1);
  g_string_append_printf (text, "distortion_model: %s\n",
      lens == 0    ? "\"\"" :
          lens > 5 ? "rational_polynomial" :
                     "plumb_bob");
  append_ros_matrix (text, "distortion_coefficients", c->camera[v].distortion, 1, lens, 0, 1);
  append_ros_matrix (text, "rectification_matrix", c->rectifying[v], 3, 3, 0, 1);
  append_ros_matrix (text, "projection_matrix", c->projection[v], 3, 4, 4, unit_mm);
  return g_string_free (text, FALSE);
}

/* ---- KITTI ---- */

gchar *
calibration_kitti (const StereoCalibration *c, gboolean keys, gdouble unit_mm)
{
  GString *text = g_string_new (NULL);

  for (gint v = 0; v < (keys ? 4 : 2); v++) {
    if (keys)
      g_string_append_printf (text, "P%d: ", v);
    append_numbers (text, c->projection[v % 2], 12, 4, unit_mm, " ", NULL);
    g_string_append_c (text, '\n');
  }
  if (keys)
    g_string_append (text, "Tr: 1 0 0 0 0 1 0 0 0 0 1 0\n");
  return g_string_free (text, FALSE);
}

static void
append_line (
    GString *text, const gchar *key, gint v, const gdouble *numbers, gint count, gint length_every, gdouble unit_mm)
{
  g_string_append_printf (text, "%s_0%d: ", key, v);
  append_numbers (text, numbers, count, length_every, unit_mm, " ", NULL);
  g_string_append_c (text, '\n');
}

gchar *
calibration_kitti_cameras (const StereoCalibration *c, gdouble unit_mm)
{
  const gdouble none[9] = { 1, 0, 0, 0, 1, 0, 0, 0, 1 };
  const gdouble size[2] = { c->width, c->height }, rectified[2] = { c->rectified_width, c->rectified_height };
  GString *text = g_string_new ("calib_time: 09-Jan-2012 13:57:47\ncorner_dist: 9.950000e-02\n");
  gdouble m[9];

  for (gint v = 0; v < 4; v++) {
    camera_matrix (&c->camera[v % 2], m);
    append_line (text, "S", v, size, 2, 0, 1);
    append_line (text, "K", v, m, 9, 0, 1);
    append_line (text, "D", v, c->camera[v % 2].distortion, 5, 0, 1);
    append_line (text, "R", v, v % 2 ? c->rotation : none, 9, 0, 1);
    append_line (text, "T", v, v % 2 ? c->translation : none + 1, 3, 1, unit_mm);
    append_line (text, "S_rect", v, rectified, 2, 0, 1);
    append_line (text, "R_rect", v, c->rectifying[v % 2], 9, 0, 1);
    append_line (text, "P_rect", v, c->projection[v % 2], 12, 4, unit_mm);
  }
  return g_string_free (text, FALSE);
}
