/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Numbers that can be computed with and still make no sense: mostly lengths or focal lengths in another unit. */
#include "gst/rectify/calibration/calibration.h"

/* The usual: from a pair of endoscopes to one on a crane; from a fisheye lens to a long telephoto lens. */
#define MIN_BASELINE 5.0    /* mm */
#define MAX_BASELINE 5000.0 /* mm */
#define MIN_FOCAL 0.2       /* times the width of the picture */
#define MAX_FOCAL 10.0
#define SQUARE 25.0 /* mm; a usual board */

gchar *
gst_stereo_calibration_doubt_baseline (gdouble baseline_mm, gdouble unit_mm)
{
  static const struct
  {
    gdouble mm;
    const gchar *what;
  } units[] = { { 1, "counted in millimetres" }, { 10, "in centimetres" }, { 25.4, "in inches" },
    { SQUARE, "in squares of a board whose squares are 25 mm (set the side of yours)" }, { 1000, "in metres" } };
  GString *text;

  if (baseline_mm >= MIN_BASELINE && baseline_mm <= MAX_BASELINE)
    return NULL;
  text = g_string_new (NULL);
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
  GString *text;

  if (times >= MIN_FOCAL && times <= MAX_FOCAL)
    return NULL;
  text = g_string_new (NULL);
  g_string_append_printf (text,
      "The focal length of this calibration is %g px, which is %.3g times the width of the picture (%d px), where %g "
      "to %g times are usual: distances will be wrong by the same factor.",
      camera->fx, times, width, MIN_FOCAL, MAX_FOCAL);
  if (camera->cx > 0 && (camera->cx < 0.25 * width || camera->cx > 0.75 * width))
    g_string_append_printf (text,
        " Its principal point (%g px) belongs to pictures about %.0f px wide: multiply fx, fy, cx and cy by %.3g, or "
        "use the calibration of these pictures.",
        camera->cx, 2 * camera->cx, width / (2 * camera->cx));
  else
    g_string_append (
        text, " If it is in millimetres, divide fx and fy by the size of a pixel of the sensor in millimetres.");
  return g_string_free (text, FALSE);
}
