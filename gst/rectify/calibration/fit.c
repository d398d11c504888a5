/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether a calibration is of pictures like those at hand. Files without a size, of a binned or cropped picture, or with
 * projections of another size give maps all the same, and distances that are wrong by a factor.
 */
#include "gst/rectify/calibration/calibration.h"

#include <math.h>

#define MIDDLE 0.25    /* principal points lie up to this part of a side from the middle of the picture */
#define CORNER 0.12    /* both cameras' do not lie farther than this in both directions, towards one corner */
#define MAX_ZOOM 2.0   /* times the focal length of the raw picture, or the inverse */
#define OTHER_ZOOM 1.3 /* of projections whose principal points are off: they are of another size */
#define MIN_FILLED 0.5 /* part of a rectified view that has pixels */
#define MIN_SHOWN 0.2  /* part of a raw picture that is shown */
#define ROWS 24        /* rows of a view that are looked at */
#define CLOSE 0.2      /* to the middle of pictures of a guessed size, in half pictures */
#define LIKELY 0.05    /* how much farther away a likely size may be */
#define MAX_FACTOR 10  /* between sizes */

typedef struct
{
  gint width, height;
} Size;

/* ---- what is shown ---- */

/* The parts of a rectified view that have pixels, and of the raw picture that it shows. */
static gboolean
measure_view (const StereoCalibration *c, const StereoRectification *r, gint v, gdouble *filled, gdouble *shown)
{
  gsize width = (gsize) r->width;
  g_autofree gfloat *x = g_try_new (gfloat, 2 * width), *y = g_try_new (gfloat, 2 * width);
  gint count = MIN (ROWS, r->height - 1), inside = 0;
  gdouble area = 0;

  if (!x || !y || count < 1 || width < 2)
    return FALSE;
  for (gint i = 0; i < count; i++) {
    gint row = (gint) ((gint64) i * (r->height - 1) / count);
    stereo_rectify_map (c, r, v, x, y, r->width, row, row + 2);
    for (gsize u = 0; u + 1 < width; u++) {
      gboolean in = x[u] >= -0.5f && y[u] >= -0.5f && x[u] <= (gfloat) c->width - 0.5f &&
          y[u] <= (gfloat) c->height - 0.5f;
      gboolean near = x[u + 1] > STEREO_RECTIFY_NOWHERE && x[u + width] > STEREO_RECTIFY_NOWHERE;
      inside += in;
      if (in && near)
        area += fabs ((gdouble) ((x[u + 1] - x[u]) * (y[u + width] - y[u]) - (x[u + width] - x[u]) * (y[u + 1] - y[u])));
    }
  }
  *filled = inside / ((gdouble) count * (gdouble) MAX (width - 1, 1));
  *shown = area * r->height / count / ((gdouble) c->width * c->height);
  return TRUE;
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
raw_focal (const StereoCalibration *c, const StereoRectification *r)
{
  return (c->camera[0].fx + c->camera[1].fx) / 2 * r->height / (c->rectified_height ? c->rectified_height : c->height);
}

/* An @alpha above 0 asks for borders, and for the smaller focal length that goes with them. */
static void
check_views (GString *text, const StereoCalibration *c, const StereoRectification *r, gdouble alpha)
{
  gdouble raw = raw_focal (c, r), zoom = r->focal_length / raw, filled[2], shown[2];

  if (!(zoom <= MAX_ZOOM && (zoom >= 1 / MAX_ZOOM || alpha > 0)))
    append (text, "the focal length of the rectified views is %.6g px, and that of the raw pictures %.6g px",
        r->focal_length, raw);
  for (gint v = 0; v < 2; v++)
    if (!measure_view (c, r, v, &filled[v], &shown[v]))
      return;
  if (fmin (filled[0], filled[1]) < MIN_FILLED && !(alpha > 0))
    append (text, "only %.0f %% of a rectified view have pixels", 100 * fmin (filled[0], filled[1]));
  if (fmin (shown[0], shown[1]) < MIN_SHOWN)
    append (text, "only %.2g %% of a raw picture are shown", 100 * fmin (shown[0], shown[1]));
}

/* ---- which size it is ---- */

/* How far @middle, px, is from the middle of pictures of this size, in half pictures. */
static gdouble
distance (const gdouble middle[2], Size size)
{
  return fabs (2 * middle[0] / size.width - 1) + fabs (2 * middle[1] / size.height - 1);
}

static void
try_size (Size size, gdouble margin, const gdouble middle[2], Size *best, gdouble *least)
{
  gdouble away = distance (middle, size) + margin;

  if (size.width < 1 || size.height < 1 || away >= *least)
    return;
  *best = size;
  *least = away;
}

static Size
scale_size (Size size, gint by, gint of)
{
  return (Size){ size.width * by / of, size.height * by / of };
}

/* The size of pictures in whose middle these principal points lie. */
static Size
guess_size (const gdouble at[2][2], Size pictures, Size file)
{
  static const Size usual[] = { { 320, 240 }, { 640, 360 }, { 640, 400 }, { 640, 480 }, { 672, 376 }, { 752, 480 },
    { 800, 600 }, { 848, 480 }, { 960, 540 }, { 960, 600 }, { 1024, 768 }, { 1280, 720 }, { 1280, 800 }, { 1280, 960 },
    { 1280, 1024 }, { 1600, 1200 }, { 1920, 1080 }, { 1920, 1200 }, { 2048, 1536 }, { 2208, 1242 }, { 2448, 2048 },
    { 2592, 1944 }, { 3840, 2160 }, { 4056, 3040 } };
  static const gint parts[][2] = { { 2, 3 }, { 3, 4 }, { 4, 3 }, { 3, 2 } };
  const gdouble middle[2] = { (at[0][0] + at[1][0]) / 2 + 0.5, (at[0][1] + at[1][1]) / 2 + 0.5 };
  Size best = { (gint) fmin (fmax (2 * middle[0], 1), 1e6), (gint) fmin (fmax (2 * middle[1], 1), 1e6) };
  gdouble least = CLOSE;

  for (gint k = 2; k <= MAX_FACTOR; k++) {
    try_size (scale_size (pictures, k, 1), 0, middle, &best, &least);
    try_size (scale_size (pictures, 1, k), 0, middle, &best, &least);
    try_size (scale_size (file, k, 1), 0, middle, &best, &least);
    try_size (scale_size (file, 1, k), 0, middle, &best, &least);
  }
  for (guint k = 0; k < G_N_ELEMENTS (parts); k++)
    try_size (scale_size (pictures, parts[k][0], parts[k][1]), 0, middle, &best, &least);
  for (guint k = 0; k < G_N_ELEMENTS (usual); k++)
    try_size (usual[k], LIKELY, middle, &best, &least);
  return best;
}

static gboolean
same_aspect (Size a, Size b)
{
  return fabs ((gdouble) a.width * b.height / b.width - a.height) <= 1 ||
      fabs ((gdouble) a.height * b.width / b.height - a.width) <= 1;
}

static void
advise_size (GString *text, Size guess, Size pictures, Size file)
{
  gint factor = file.width > 0 ? MAX (guess.width / file.width, file.width / guess.width) : 0;

  g_string_append_printf (text, " Its numbers fit pictures of %dx%d", guess.width, guess.height);
  if (factor > 1 && guess.width == factor * file.width)
    g_string_append_printf (text, ", %d times the %dx%d that it is said to be of", factor, file.width, file.height);
  else if (factor > 1 && file.width == factor * guess.width)
    g_string_append_printf (text, ", 1/%d of the %dx%d that it is said to be of", factor, file.width, file.height);
  if (same_aspect (guess, pictures))
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

  if (rectification && loaded->has_rectification && alpha < 0 &&
      fabs (log (rectification->focal_length / raw_focal (scaled, rectification))) > log (OTHER_ZOOM)) {
    const gdouble (*p)[12] = rectification->projection;
    const gdouble projected[2][2] = { { p[0][2], p[0][6] }, { p[1][2], p[1][6] } };
    projected_off = check_middle (
        text, "those of the rectified views are", projected, (Size){ rectification->width, rectification->height });
  }
  if (!raw_off && !projected_off)
    return g_string_free (text, TRUE);
  if (rectification)
    check_views (text, scaled, rectification, alpha);
  g_string_prepend (text, "The calibration does not seem to be of such pictures, and distances may be wrong: ");
  g_string_append_c (text, '.');
  if (raw_off)
    advise_size (text, guess_size (written, pictures, file), pictures, file);
  else
    g_string_append (text, " Its P1 and P2 are of views of another size than its cameras: set alpha=0 for new ones.");
  return g_string_free (text, FALSE);
}

gchar *
gst_stereo_calibration_doubt_views (
    const StereoCalibration *scaled, const StereoRectification *rectification, gdouble alpha)
{
  GString *text = g_string_new (NULL);

  check_views (text, scaled, rectification, alpha);
  if (text->len == 0)
    return g_string_free (text, TRUE);
  g_string_prepend (text, "The rectified views do not look right, and distances may be wrong: ");
  g_string_append (text,
      ". Set alpha=0 for views without borders; if it is set, check the rotation and the distortion of the calibration.");
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
