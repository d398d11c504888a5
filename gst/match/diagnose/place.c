/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/place.h"

#include <math.h>

#define FINE_WIDTH 24 /* px of the view: the patch that is placed exactly */
#define FINE_HEIGHT 16
#define FINE_GOOD 0.8f
#define MIN_BEND 1e-3f  /* of the correlation over three rows: less is a blur */
#define BEND_TO_NOISE 8 /* its summit is placed to a quarter of a pixel or so */

static void
fetch (const StereoImage *image, gint x, gint y, gint width, gint height, gint16 *to)
{
  for (gint row = 0; row < height; row++) {
    const guint8 *from = gst_stereo_check_samples (image, x, y + row);
    for (gint i = 0; i < width; i++)
      *to++ = from[(gssize) i * image->pixel_stride];
  }
}

/* What of a correlation is the patch's own: its pixels less their mean, so that the other side's mean falls out. */
typedef struct
{
  gint16 pixels[FINE_WIDTH * FINE_HEIGHT];
  gfloat deviation; /* the root of the sum of their squares */
} Patch;

static void
centre (Patch *patch)
{
  const gint n = FINE_WIDTH * FINE_HEIGHT;
  gint32 sum = 0, squares = 0;

  for (gint i = 0; i < n; i++)
    sum += patch->pixels[i];
  for (gint i = 0; i < n; i++) {
    patch->pixels[i] = (gint16) (patch->pixels[i] - (sum + n / 2) / n);
    squares += patch->pixels[i] * patch->pixels[i];
  }
  patch->deviation = sqrtf ((gfloat) squares);
}

static gfloat
correlate (const Patch *patch, const gint16 *b, gint b_stride)
{
  const gint n = FINE_WIDTH * FINE_HEIGHT;
  const gint16 *a = patch->pixels;
  gint32 sum = 0, squares = 0, both = 0;
  gfloat deviation;

  for (gint y = 0; y < FINE_HEIGHT; y++, a += FINE_WIDTH, b += b_stride)
    for (gint x = 0; x < FINE_WIDTH; x++) {
      sum += b[x];
      both += a[x] * b[x];
      squares += b[x] * b[x];
    }
  deviation = (gfloat) squares - (gfloat) sum * (gfloat) sum / n;
  return deviation > n && patch->deviation > 0 ? (gfloat) both / (patch->deviation * sqrtf (deviation)) : 0;
}

/* Where a parabola through three scores is highest, from the middle one. */
static gdouble
summit (gfloat before, gfloat here, gfloat after)
{
  gdouble bend = 2.0 * here - before - after;

  return bend > 1e-6 ? CLAMP ((after - before) / (2 * bend), -0.5, 0.5) : 0;
}

/*
 * The vertical offset, and a better disparity, of a match of the small pictures in the views themselves. FALSE where
 * no patch around its middle fits well, the best fit lies at the edge of what was looked at, or it could as well lie
 * elsewhere: noise of the variance s^2 in both patches takes 1 - best = s^2 n / S from the correlation, where S is the
 * sum of n squared pixels, and moves its summit by about sqrt (2 (1 - best) / (n bend)).
 */
gboolean
gst_stereo_check_place (const StereoImage *left, const StereoImage *right, const GstStereoCheckSpot *spot,
    gdouble *disparity, gdouble *offset)
{
  gint slack = spot->slack, region = FINE_WIDTH + 2 * slack, u = 0, v = 0;
  gint x = spot->x - FINE_WIDTH / 2, y = spot->y - FINE_HEIGHT / 2;
  gint from_x = x + spot->across - slack, from_y = y + spot->down - slack;
  Patch patch;
  gint16 around[(FINE_WIDTH + 2 * GST_STEREO_CHECK_MAX_SLACK) * (FINE_HEIGHT + 2 * GST_STEREO_CHECK_MAX_SLACK)];
  gfloat best = -1, beside[2], above[2], bend;

  if (x < 0 || y < 0 || x + FINE_WIDTH > spot->width || y + FINE_HEIGHT > spot->height || from_x < 0 || from_y < 0 ||
      from_x + region > spot->width || from_y + FINE_HEIGHT + 2 * slack > spot->height)
    return FALSE;
  fetch (left, x, y, FINE_WIDTH, FINE_HEIGHT, patch.pixels);
  centre (&patch);
  fetch (right, from_x, from_y, region, FINE_HEIGHT + 2 * slack, around);
  for (gint row = 0; row <= 2 * slack; row++)
    for (gint column = 0; column <= 2 * slack; column++) {
      gfloat score = correlate (&patch, around + row * region + column, region);
      if (score > best) {
        best = score;
        u = column;
        v = row;
      }
    }
  if (best < FINE_GOOD || u == 0 || v == 0 || u == 2 * slack || v == 2 * slack)
    return FALSE;
  for (gint i = 0; i < 2; i++) {
    beside[i] = correlate (&patch, around + v * region + u + (2 * i - 1), region);
    above[i] = correlate (&patch, around + (v + 2 * i - 1) * region + u, region);
  }
  bend = 2 * best - above[0] - above[1];
  if (bend < MIN_BEND || bend * BEND_TO_NOISE < 1 - best)
    return FALSE;
  *disparity = x - (from_x + u + summit (beside[0], best, beside[1]));
  *offset = from_y + v + summit (above[0], best, above[1]) - y;
  return TRUE;
}
