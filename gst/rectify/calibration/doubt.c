/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers that can be computed with and still make no sense: lengths in another unit, lens models that do not hold, and
 * numbers of other pictures than those at hand. Files without a size, of a binned or cropped picture, or with projections of
 * another size give maps all the same, and distances that are wrong by a factor.
 */
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
/* ---- of the size ---- */
#define MIDDLE 0.25    /* principal points lie up to this part of a side from the middle of the picture */
#define CORNER 0.12    /* both cameras' do not lie farther than this in both directions, towards one corner */
#define MAX_ZOOM 2.0   /* times the focal length of the raw picture, or the inverse */
#define OTHER_ZOOM 1.3 /* of projections whose principal points are off: they are of another size */
#define CLOSE 0.2      /* to the middle of pictures of a guessed size, in half pictures */
#define LIKELY 0.05    /* how much farther away a likely size may be */
#define MAX_FACTOR 10  /* between sizes */

typedef struct
{
  gint width, height;
} Size;

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

static gboolean
is_usual (const StereoCamera *camera, gint width)
{
  return camera->fx >= MIN_FOCAL * width && camera->fx <= MAX_FOCAL * width;
}

gchar *
gst_stereo_calibration_doubt_focal_length (const StereoCamera *camera, gint width)
{
  if (is_usual (camera, width))
    return NULL;
  return g_strdup_printf (
      "The focal length of this calibration is %g px, which is %.3g times the width of the picture (%d px), where %g "
      "to %g times are usual: distances will be wrong by the same factor. If it is in millimetres, divide fx and fy by "
      "the size of a pixel of the sensor in millimetres.",
      camera->fx, camera->fx / width, width, MIN_FOCAL, MAX_FOCAL);
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

/* ---- what is wrong ---- */

static void append (GString *text, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

static void
append (GString *text, const gchar *format, ...)
{
  va_list args;

  if (text->len > 0)
    g_string_append (text, "; ");
  va_start (args, format);
  g_string_append_vprintf (text, format, args);
  va_end (args);
}

/* Whether principal points, px, of both views are far from the middle of pictures of this size; then says so. */
static gboolean
check_middle (GString *text, const gchar *what, const gdouble at[2][2], Size size)
{
  gdouble off[2][2], least[2] = { 1, 1 };
  gboolean far = FALSE;

  for (gint v = 0; v < 2; v++) {
    off[v][0] = (at[v][0] + 0.5) / size.width - 0.5;
    off[v][1] = (at[v][1] + 0.5) / size.height - 0.5;
    far |= fabs (off[v][0]) > MIDDLE || fabs (off[v][1]) > MIDDLE;
  }
  /* half the size brings them to a quarter of both sides; of a part of a sensor they are rarely off in both */
  for (gint axis = 0; axis < 2; axis++)
    least[axis] = off[0][axis] * off[1][axis] > 0 ? fmin (fabs (off[0][axis]), fabs (off[1][axis])) : 0;
  far |= least[0] > CORNER && least[1] > CORNER && off[0][0] * off[0][1] > 0;
  if (far)
    append (text, "%s (%.0f, %.0f) and (%.0f, %.0f), far from the middle of %dx%d", what, at[0][0], at[0][1], at[1][0],
        at[1][1], size.width, size.height);
  return far;
}

/* The focal length of the raw pictures, px, at the size of the rectified views. */
static gdouble
raw_focal_of (const StereoCalibration *c, const StereoRectification *r)
{
  return (c->camera[0].fx + c->camera[1].fx) / 2 * r->height / (c->rectified_height ? c->rectified_height : c->height);
}

/* ---- which size it is ---- */

/* Takes a size that is less far from being one in whose middle @middle, px, lies. */
static void
try_size (Size size, gdouble margin, const gdouble middle[2], Size *best, gdouble *least)
{
  gdouble away = fabs (2 * middle[0] / size.width - 1) + fabs (2 * middle[1] / size.height - 1) + margin;

  if (size.width > 0 && size.height > 0 && away < *least) {
    *best = size;
    *least = away;
  }
}

/* The size of pictures in whose middle these principal points lie. */
static Size
guess_size (const gdouble at[2][2], Size pictures, Size file)
{
  static const Size usual[] = { { 320, 240 }, { 640, 360 }, { 640, 400 }, { 640, 480 }, { 672, 376 }, { 752, 480 },
    { 800, 600 }, { 848, 480 }, { 960, 540 }, { 960, 600 }, { 1024, 768 }, { 1280, 720 }, { 1280, 800 }, { 1280, 960 },
    { 1280, 1024 }, { 1600, 1200 }, { 1920, 1080 }, { 1920, 1200 }, { 2048, 1536 }, { 2208, 1242 }, { 2448, 2048 },
    { 2592, 1944 }, { 3840, 2160 }, { 4056, 3040 } };
  const Size known[2] = { pictures, file };
  const gdouble middle[2] = { (at[0][0] + at[1][0]) / 2 + 0.5, (at[0][1] + at[1][1]) / 2 + 0.5 };
  Size best = { (gint) fmin (fmax (2 * middle[0], 1), 1e6), (gint) fmin (fmax (2 * middle[1], 1), 1e6) };
  gdouble least = CLOSE;

  for (gint by = 1; by <= MAX_FACTOR; by++)
    for (gint of = 1; of <= MAX_FACTOR; of++)
      for (gint k = 0; k < 2; k++)
        if (by != of && (by == 1 || of == 1 || (by <= 4 && of <= 4)))
          try_size ((Size){ known[k].width * by / of, known[k].height * by / of }, 0, middle, &best, &least);
  for (guint k = 0; k < G_N_ELEMENTS (usual); k++)
    try_size (usual[k], LIKELY, middle, &best, &least);
  return best;
}

static void
advise_size (GString *text, Size guess, Size pictures, Size file)
{
  gint factor = file.width > 0 ? MAX (guess.width / file.width, file.width / guess.width) : 0;

  if (guess.width * MAX_FACTOR < pictures.width || guess.height * MAX_FACTOR < pictures.height) {
    g_string_append (text, " There are no pictures whose middle they are: calibrate again.");
    return;
  }
  g_string_append_printf (text, " Its numbers fit pictures of %dx%d", guess.width, guess.height);
  if (factor > 1 && guess.width == factor * file.width)
    g_string_append_printf (text, ", %d times the %dx%d that it is said to be of", factor, file.width, file.height);
  else if (factor > 1 && file.width == factor * guess.width)
    g_string_append_printf (text, ", 1/%d of the %dx%d that it is said to be of", factor, file.width, file.height);
  if (fabs ((gdouble) guess.width * pictures.height / pictures.width - guess.height) <= 1 ||
      fabs ((gdouble) guess.height * pictures.width / pictures.height - guess.width) <= 1)
    g_string_append_printf (text,
        ": if they are, set calibration-width=%d calibration-height=%d, and they are scaled to these pictures.",
        guess.width, guess.height);
  else
    g_string_append (text, ", which is another aspect: calibrate with pictures like these.");
}

gchar *
gst_stereo_calibration_doubt_size (const StereoCalibration *loaded, const StereoCalibration *scaled,
    const StereoRectification *rectification, gdouble alpha)
{
  const StereoCamera *camera = scaled->camera;
  const gdouble raw[2][2] = { { camera[0].cx, camera[0].cy }, { camera[1].cx, camera[1].cy } };
  /* before they were scaled from the size that the file says */
  const gdouble written[2][2] = { { loaded->camera[0].cx, loaded->camera[0].cy },
    { loaded->camera[1].cx, loaded->camera[1].cy } };
  Size pictures = { scaled->width, scaled->height }, file = { loaded->width, loaded->height };
  GString *text = g_string_new (NULL);
  gboolean raw_off = check_middle (text, "the principal points are", raw, pictures), projected_off = FALSE;

  gboolean zoomed = FALSE;

  /* P1 and P2 of the file; a focal length that makes no sense by itself is another doubt */
  if (rectification && loaded->has_rectification && alpha < 0) {
    const gdouble (*p)[12] = rectification->projection, raw_focal = raw_focal_of (scaled, rectification);
    const gdouble projected[2][2] = { { p[0][2], p[0][6] }, { p[1][2], p[1][6] } };
    gdouble away = fabs (log (rectification->focal_length / raw_focal));
    if (away > log (OTHER_ZOOM))
      projected_off = check_middle (
          text, "those of the rectified views are", projected, (Size){ rectification->width, rectification->height });
    zoomed = away > log (MAX_ZOOM) && is_usual (camera, scaled->width);
    if (zoomed)
      append (text, "the focal length of the rectified views is %.6g px, and that of the raw pictures %.6g px",
          rectification->focal_length, raw_focal);
  }
  if (!raw_off && !projected_off && !zoomed)
    return g_string_free (text, TRUE);
  g_string_prepend (text, "The calibration does not seem to be of such pictures, and distances may be wrong: ");
  g_string_append_c (text, '.');
  if (raw_off)
    advise_size (text, guess_size (written, pictures, file), pictures, file);
  else
    g_string_append (text, " Its P1 and P2 are of views of another size than its cameras: set alpha=0 for new ones.");
  return g_string_free (text, FALSE);
}

gchar *
gst_stereo_calibration_doubt_aspect (const StereoCalibration *loaded, gint width, gint height)
{
  StereoCalibration here = *loaded;
  g_autofree gchar *fits_file = gst_stereo_calibration_doubt_size (loaded, loaded, NULL, 0), *fits_pictures = NULL;
  gchar *text = NULL;

  here.width = width;
  here.height = height;
  fits_pictures = gst_stereo_calibration_doubt_size (loaded, &here, NULL, 0);
  if (fits_file && !fits_pictures)
    text = g_strdup_printf (
        "Its numbers fit the pictures at hand, and not the size that the file says: if they are of such "
        "pictures, set calibration-width=%d calibration-height=%d.",
        width, height);
  return text;
}
