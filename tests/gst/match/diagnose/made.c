/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/gst/match/diagnose/made.h"

#include <math.h>

#include "tests/support/gst/util.h"

Random generator;

gdouble
draw (gdouble low, gdouble high)
{
  return random_between (&generator, low, high);
}

gdouble
gauss (void)
{
  return sqrt (-2 * log (random_unit (&generator) + 1e-12)) * cos (2 * G_PI * random_unit (&generator));
}

/* ---- a view ------------------------------------------------------------------------------ */

View
view_new (gint width, gint height)
{
  gint channels = random_range (&generator, 0, 1) ? 3 : 1, step = random_range (&generator, channels, 6);
  gint stride = width * step + random_range (&generator, 0, 9);
  View view = { width, height, g_malloc ((gsize) stride * (gsize) height) };

  for (gint i = 0; i < stride * height; i++)
    view.memory[i] = (guint8) random_next (&generator);
  view.image = (StereoImage){ view.memory, stride, step, channels, { 0, 1, 2 }, STEREO_MEMORY_HOST };
  /* some formats are stored bottom up */
  if (random_range (&generator, 0, 3) == 0) {
    view.image.data += (gsize) stride * (gsize) (height - 1);
    view.image.stride = -stride;
  }
  return view;
}

void
view_clear (View *view)
{
  g_free (view->memory);
}

static guint8 *
pixel_of (const View *view, gint x, gint y)
{
  return (guint8 *) view->image.data + y * view->image.stride + (gssize) x * view->image.pixel_stride;
}

guint8 *
view_sample (const View *view, gint x, gint y)
{
  return pixel_of (view, x, y) + view->image.offset[view->image.channels == 3];
}

void
view_set (const View *view, gint x, gint y, gdouble value)
{
  for (gint c = 0; c < view->image.channels; c++)
    pixel_of (view, x, y)[view->image.offset[c]] = (guint8) CLAMP (value + 0.5, 0, 255);
}

/* ---- a pair ------------------------------------------------------------------------------ */

gdouble
surface (guint seed, gdouble x, gdouble y)
{
  gdouble value = 0, weight = 0;

  for (gint size = 2; size <= 32; size *= 2, seed += 17) {
    gdouble u = x / size + 1000, v = y / size + 1000, a = u - floor (u), b = v - floor (v);
    gint i = (gint) floor (u), j = (gint) floor (v);
    gdouble top = (1 - a) * texture (seed, i, j) + a * texture (seed, i + 1, j);
    gdouble bottom = (1 - a) * texture (seed, i, j + 1) + a * texture (seed, i + 1, j + 1);
    gdouble share = sqrt (size);
    value += share * ((1 - b) * top + b * bottom);
    weight += share;
  }
  return value / weight;
}

gdouble
flat (guint seed, gdouble x, gdouble y)
{
  return 90;
}

static void
paint_pair (const Views *views, Paint paint, const Change *change)
{
  guint seed = random_next (&generator);
  gint width = views->left.width, height = views->left.height;
  gdouble middle_x = width / 2.0, middle_y = height / 2.0;

  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++) {
      gdouble u = cos (change->turn) * (x - middle_x) + sin (change->turn) * (y - middle_y) + middle_x;
      gdouble v = cos (change->turn) * (y - middle_y) - sin (change->turn) * (x - middle_x) + middle_y - change->down;
      view_set (&views->left, x, y, paint (seed, x, y) + draw (-1, 1) * change->noise);
      view_set (&views->right, x, y,
          change->gain * paint (seed, u + change->disparity + change->slope * MAX (0, y - change->horizon), v) +
              draw (-1, 1) * change->noise);
    }
}

Views
views_new (gint width, gint height, Paint paint, const Change *change)
{
  Views views = { view_new (width, height), view_new (width, height) };

  paint_pair (&views, paint, change);
  return views;
}

void
views_clear (Views *views)
{
  view_clear (&views->left);
  view_clear (&views->right);
}

/* ---- matches ----------------------------------------------------------------------------- */

gboolean
match_views (const StereoImage images[2], gint width, gint height, gint min, gint num, gdouble infinity,
    GstStereoMatchFigures *found)
{
  const StereoParams params = { .min_disparity = min, .num_disparities = num, .principal_offset = -infinity };
  const GstStereoLookedPair pair = {
    .images = { images[0], images[1] }, .width = width, .height = height, .params = &params
  };
  GstStereoMatches *matches = gst_stereo_matches_new (NULL, NULL);
  gboolean matched = gst_stereo_matches_measure (matches, &pair, found);

  gst_stereo_matches_free (matches);
  return matched;
}

static GstStereoVerdict
judge (GstStereoHealthFlags flag, const GstStereoMatchFigures *figures, const StereoParams *params, gdouble noise)
{
  const GstStereoLookedPair pair = { .params = params, .noise = noise };

  return gst_stereo_matches_judge (flag, figures, &pair);
}

GstStereoVerdict
verdict_of (GstStereoHealthFlags flag, const GstStereoMatchFigures *figures)
{
  return judge (flag, figures, NULL, 0);
}

GstStereoVerdict
verdict_under_noise (GstStereoHealthFlags flag, const GstStereoMatchFigures *figures, gdouble noise)
{
  return judge (flag, figures, NULL, noise);
}

GstStereoVerdict
verdict_of_shift (const GstStereoMatchFigures *figures, const StereoParams *params)
{
  return judge (GST_STEREO_HEALTH_SHIFTED, figures, params, 0);
}
