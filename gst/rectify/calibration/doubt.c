/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers that can be computed with and still make no sense: lengths in another unit, lens models that do not hold. */
#include "gst/rectify/calibration/calibration.h"

#include <math.h>

/* The usual: from a pair of endoscopes to one on a crane; from a fisheye lens to a long telephoto lens. */
#define MIN_BASELINE 5.0    /* mm */
#define MAX_BASELINE 5000.0 /* mm */
#define MIN_FOCAL 0.2       /* times the width of the picture */
#define MAX_FOCAL 10.0
#define SQUARE 25.0         /* mm; a usual board */
#define MAX_TANGENTIAL 0.02 /* of p1 and p2 */
/* Four values of a wide lens are those of a fisheye lens rather than of a pinhole one where p1 or p2 is not small against
 * k1 and k2. */
#define WIDE 1.2 /* distance of a corner, focal lengths */
#define NOT_SMALL 0.1

gchar *
gst_stereo_calibration_doubt_baseline (gdouble baseline_mm, gdouble unit_mm)
{
  static const struct
  {
    gdouble mm;
    const gchar *what;
  } units[] = { { 1, "counted in millimetres" }, { 10, "in centimetres" }, { 25.4, "in inches" },
    { SQUARE, "in squares of a board whose squares are 25 mm (set the side of yours)" }, { 1000, "in metres" } };

  if (baseline_mm >= MIN_BASELINE && baseline_mm <= MAX_BASELINE)
    return NULL;
  GString *text = g_string_new (NULL);
  g_string_append_printf (text,
      "The cameras of this calibration are %g mm apart, where %g to %g mm are usual: distances will be wrong by the "
      "same factor if its lengths are in another unit than %g mm.",
      baseline_mm, MIN_BASELINE, MAX_BASELINE, unit_mm);
  for (guint k = 0; k < G_N_ELEMENTS (units); k++) {
    gdouble would = baseline_mm / unit_mm * units[k].mm;
    if (would >= MIN_BASELINE && would <= MAX_BASELINE)
      g_string_append_printf (text, " If they are %s, set unit=%g: %g mm apart.", units[k].what, units[k].mm, would);
  }
  return g_string_free (text, FALSE);
}

gchar *
gst_stereo_calibration_doubt_focal_length (const StereoCamera *camera, gint width)
{
  gdouble times = camera->fx / width;

  if (times >= MIN_FOCAL && times <= MAX_FOCAL)
    return NULL;
  return g_strdup_printf (
      "The focal length of this calibration is %g px, which is %.3g times the width of the picture (%d px), where %g "
      "to %g times are usual: distances will be wrong by the same factor. If it is in millimetres, divide fx and fy by "
      "the size of a pixel of the sensor in millimetres.",
      camera->fx, times, width, MIN_FOCAL, MAX_FOCAL);
}

/* ---- lenses ---- */

/* The distance of the farthest corner from the principal point, px along the rows. */
static gdouble
corner_distance (const StereoCamera *camera, gint width, gint height)
{
  gdouble x = fmax (camera->cx + 0.5, width - 0.5 - camera->cx);
  gdouble y = fmax (camera->cy + 0.5, height - 0.5 - camera->cy);

  return hypot (x, y * camera->fx / camera->fy);
}

static gboolean
may_be_fisheye (const StereoCamera *camera, gdouble corner)
{
  const gdouble *d = camera->distortion;
  gdouble tangential = fmax (fabs (d[2]), fabs (d[3])), radial = fmax (fabs (d[0]), fabs (d[1]));

  if (camera->model != STEREO_LENS_PINHOLE || d[4] != 0 || d[5] != 0 || d[6] != 0 || d[7] != 0)
    return FALSE;
  return tangential > MAX_TANGENTIAL ||
      (corner > WIDE * camera->fx && tangential > 0 && tangential >= NOT_SMALL * radial);
}

static void
doubt_camera (GString *text, const StereoCalibration *scaled, gint v)
{
  static const gchar *const side[2] = { "left", "right" };
  const StereoCamera *camera = &scaled->camera[v];
  gdouble corner = corner_distance (camera, scaled->width, scaled->height), reach = stereo_camera_reach (camera);
  const gdouble *d = camera->distortion;
  gboolean turns = reach < corner, fisheye = may_be_fisheye (camera, corner);

  if (turns)
    g_string_append_printf (text,
        " The lens model of the %s camera holds up to %.0f px from the principal point, where it turns back; the corners of "
        "the pictures of %dx%d are up to %.0f px away. Farther out the rectified view is black.",
        side[v], reach, scaled->width, scaled->height, corner);
  if (camera->model == STEREO_LENS_PINHOLE && fmax (fabs (d[2]), fabs (d[3])) > MAX_TANGENTIAL)
    g_string_append_printf (text, " p1 and p2 of the %s camera are %g and %g, where less than %g is usual.", side[v],
        d[2], d[3], MAX_TANGENTIAL);
  else if (fisheye)
    g_string_append_printf (text,
        " The distortion of the %s camera, %g %g %g %g, is unusual for a pinhole model of such a wide lens.", side[v],
        d[0], d[1], d[2], d[3]);
}

gchar *
gst_stereo_calibration_doubt_lens (const StereoCalibration *scaled)
{
  GString *text = g_string_new (NULL);
  gboolean fisheye = FALSE;

  for (gint v = 0; v < 2; v++) {
    const StereoCamera *camera = &scaled->camera[v];
    doubt_camera (text, scaled, v);
    fisheye |= may_be_fisheye (camera, corner_distance (camera, scaled->width, scaled->height));
  }
  if (text->len == 0)
    return g_string_free (text, TRUE);
  g_string_erase (text, 0, 1);
  if (fisheye)
    g_string_append (text,
        " If the four values are k1 k2 k3 k4 of a fisheye lens (cv::fisheye, equidistant), add the line "
        "'distortion_model: equidistant' to the file.");
  else
    g_string_append (text,
        " Calibrate again with the board in the corners of the picture too, and with a model that fits the lens: "
        "plumb_bob, or equidistant for fisheye lenses.");
  return g_string_free (text, FALSE);
}
