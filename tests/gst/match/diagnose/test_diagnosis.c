/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The matches of synthetic pairs: they show exchanged, unrectified and shifted views, and say nothing of others. */
#include "tests/support/gst/suite.h"

#include <math.h>

#include "tests/gst/match/diagnose/made.h"

static GstStereoMatchFigures
look (const Views *views, gboolean exchanged, gint min, gint num)
{
  const StereoImage images[] = { exchanged ? views->right.image : views->left.image,
    exchanged ? views->left.image : views->right.image };
  GstStereoMatchFigures result;

  fail_unless (match_views (images, views->left.width, views->left.height, min, num, 0, &result));
  return result;
}

static void
describe (const GstStereoMatchFigures *r, const gchar *what, gint width, gint height, gint num)
{
  g_print ("%s, %dx%d, %d disparities: %u points, %u matches, %u forward, %u backward, %.1f px, %u placed, off by %.2f "
           "px\n",
      what, width, height, num, r->points, r->matches, r->forward, r->backward, r->disparity, r->placed, r->vertical);
}

static void
expect (const GstStereoMatchFigures *result, GstStereoVerdict exchanged, GstStereoVerdict unrectified,
    const gchar *what, const Views *views, gint num)
{
  if (verdict_of (GST_STEREO_HEALTH_SWAPPED, result) == exchanged &&
      verdict_of (GST_STEREO_HEALTH_ROWS, result) == unrectified)
    return;
  describe (result, what, views->left.width, views->left.height, num);
  fail ("%s: exchanged %d, not %d; unrectified %d, not %d", what, verdict_of (GST_STEREO_HEALTH_SWAPPED, result),
      exchanged, verdict_of (GST_STEREO_HEALTH_ROWS, result), unrectified);
}

static void
expect_silence (const GstStereoMatchFigures *result, const gchar *what, const Views *views, gint num)
{
  StereoParams params = { .num_disparities = num };

  if (verdict_of_shift (result, &params) != BAD && verdict_of (GST_STEREO_HEALTH_SWAPPED, result) != BAD &&
      verdict_of (GST_STEREO_HEALTH_ROWS, result) != BAD)
    return;
  describe (result, what, views->left.width, views->left.height, num);
  fail ("%s: a false alarm", what);
}

/* ---- faults of a rig --------------------------------------------------------------------- */

#define ROUNDS 6

/* Other exposure, noise, slanted: none of it matters. */
static Change
draw_change (gint num)
{
  return (Change){ draw (3, num * 0.7), draw (0, 0.01), draw (-0.4, 0.4), 0, draw (0.6, 1.2), draw (0, 3) };
}

TEST (test_good_and_exchanged)
{
  for (gint round = 0; round < ROUNDS; round++) {
    gint width = random_range (&generator, 300, 700), height = random_range (&generator, 150, 300);
    gint num = random_range (&generator, 16, width / 6);
    Change change = draw_change (num);
    g_auto (Views) views = views_new (width, height, surface, &change);
    GstStereoMatchFigures result = look (&views, FALSE, 0, num);

    expect (&result, GOOD, GOOD, "good", &views, num);
    fail_unless (fabs (result.disparity - change.disparity - change.slope * height / 2) < 2 + change.slope * height / 2);
    fail_unless (fabs (result.vertical - fabs (change.down)) < 0.25, "%g, not %g", result.vertical, change.down);
    result = look (&views, TRUE, 0, num);
    expect (&result, BAD, GOOD, "exchanged", &views, num);
    fail_unless (fabs (result.disparity + change.disparity + change.slope * height / 2) < 2 + change.slope * height / 2);
  }
}

/* What is searched decides: the same pair is right for a range below zero, and for one to both sides nothing is wrong.
 */
TEST (test_ranges)
{
  const Change near = { .disparity = 20, .gain = 1 }, far = { .disparity = 0.3, .gain = 1 };
  g_auto (Views) views = views_new (401, 203, surface, &near), at_infinity = views_new (401, 203, surface, &far);

  for (gint exchanged = 0; exchanged < 2; exchanged++) {
    GstStereoMatchFigures result = look (&views, exchanged, -30, 25);
    expect (&result, exchanged ? GOOD : BAD, GOOD, "range below zero", &views, 25);
    result = look (&views, exchanged, -32, 65);
    expect (&result, GOOD, GOOD, "both sides", &views, 65);
    result = look (&at_infinity, exchanged, 0, 64);
    expect (&result, UNKNOWN, GOOD, "no direction", &at_infinity, 64);
  }
}

/* The plane of disparity 0 lies in the scene: all but what is nearest has a negative disparity, and lies before infinity. */
TEST (test_zero_plane_inside)
{
  const Change change = { .disparity = -20, .gain = 1 };
  g_auto (Views) views = views_new (401, 203, surface, &change);

  for (gint known = 0; known < 2; known++) {
    const StereoImage images[] = { views.left.image, views.right.image };
    GstStereoMatchFigures result;

    fail_unless (match_views (images, 401, 203, 0, 64, known ? -40 : 0, &result));
    fail_unless_equals_int (verdict_of (GST_STEREO_HEALTH_SWAPPED, &result), known ? UNKNOWN : BAD);
  }
}

TEST (test_rows_that_do_not_fit)
{
  for (gint round = 0; round < ROUNDS; round++) {
    gint width = random_range (&generator, 300, 700), height = random_range (&generator, 150, 300);
    gint num = random_range (&generator, 16, width / 6);
    Change change = draw_change (num);
    gboolean exchanged = round % 2;

    change.slope = 0;
    change.down = draw (1.4, width * 0.025) * (random_range (&generator, 0, 1) ? 1 : -1);
    g_auto (Views) views = views_new (width, height, surface, &change);
    GstStereoMatchFigures result = look (&views, exchanged, 0, num);
    expect (&result, exchanged ? BAD : GOOD, BAD, "off", &views, num);
    fail_unless (fabs (result.vertical - fabs (change.down)) < 0.25, "%g, not %g", result.vertical, change.down);
    fail_unless (fabs (result.shift - (exchanged ? -change.down : change.down)) < 0.3);
  }
}

/* Rolled around the middle: nothing is off there, and the sides are, one way each. */
TEST (test_a_rolled_camera)
{
  for (gint round = 0; round < ROUNDS; round++) {
    gint width = random_range (&generator, 400, 900), height = width / 2;
    Change change = { draw (5, 30), 0, 0, (round % 2 ? 1 : -1) * draw (4, 14) / width, 1, 1 };
    /* a little: the median alone would let it pass */
    gboolean little = round % 3 == 0;

    if (little)
      change.turn = (round % 2 ? 3.7 : -3.7) / width;
    gdouble sides = change.turn * width / 2; /* from one half's middle to the other's */
    g_auto (Views) views = views_new (width, height, surface, &change);
    GstStereoMatchFigures result = look (&views, FALSE, 0, 48);
    fail_unless (!little || result.vertical < 1.05);

    expect (&result, GOOD, BAD, "rolled", &views, 48);
    fail_unless (fabs (result.roll - sides) < 0.35 * fabs (sides), "%g, not %g", result.roll, sides);
  }
}

/* A ground with a sky, which a shift puts beyond infinity. What the user asks for is nothing wrong. */
TEST (test_shifted_views)
{
  for (gint round = 0; round < 2 * ROUNDS; round++) {
    gint width = random_range (&generator, 300, 700), height = random_range (&generator, 180, 300);
    gboolean shifted = round % 2;
    gdouble shift = shifted ? draw (2, 12) : draw (0, 0.7);
    Change change = { -shift, draw (0.15, 0.25), 0, 0, draw (0.7, 1.2), draw (0, 3), height / 3 };
    g_auto (Views) views = views_new (width, height, surface, &change);
    GstStereoMatchFigures result = look (&views, FALSE, 0, 64);
    StereoParams params = { .num_disparities = 64 };

    expect (&result, GOOD, GOOD, "shifted", &views, 64);
    fail_unless ((verdict_of_shift (&result, &params) == BAD) == shifted, "by %.1f px: %u sure, %.1f px", shift,
        result.sure, result.lowest);
    fail_unless (result.lowest > -shift - 0.3 && result.lowest < 0.3 - shift, "%.1f, not %.1f", result.lowest, -shift);
    params.principal_offset = shift;
    fail_unless_equals_int (verdict_of_shift (&result, &params), GOOD);
    params.principal_offset = 0;
    params.min_disparity = -(gint) ceil (shift);
    fail_unless (verdict_of_shift (&result, &params) != BAD);
  }
}

/* Where a mirror shows something beyond infinity, these are few points. */
TEST (test_mirror)
{
  static const gint sides[] = { 50, 200 };

  for (guint i = 0; i < 2; i++) {
    Change change = { 0, 0.2, 0, 0, 1, 1, 100 };
    g_auto (Views) views = views_new (600, 300, surface, &change);
    StereoParams params = { .num_disparities = 64 };

    for (gint y = 20; y < 20 + sides[i]; y++)
      for (gint x = 200; x < 200 + sides[i]; x++)
        view_set (&views.right, x + 9, y, *view_sample (&views.left, x, y));
    GstStereoMatchFigures result = look (&views, FALSE, 0, 64);
    fail_unless (verdict_of_shift (&result, &params) == (i ? BAD : GOOD), "%d px: %u sure, %.1f px", sides[i],
        result.sure, result.lowest);
  }
}

/* ---- no faults --------------------------------------------------------------------------- */

static gdouble
ramp (guint seed, gdouble x, gdouble y)
{
  return x / 5 + y / 7;
}

static gdouble
stripes (guint seed, gdouble x, gdouble y)
{
  gdouble angle = seed % 314 / 100.0, period = 5 + seed / 314 % 60;

  return 128 + 100 * sin (2 * G_PI * (x * cos (angle) + y * sin (angle)) / period);
}

static gdouble
checker (guint seed, gdouble x, gdouble y)
{
  gint size = 4 + (gint) (seed % 50);

  return ((gint) floor (x / size + 1000) + (gint) floor (y / size + 1000)) % 2 ? 210 : 30;
}

/* The same piece of a surface over and over, along the rows. */
static gdouble
tiles (guint seed, gdouble x, gdouble y)
{
  gint period = 12 + (gint) (seed % 60);

  return surface (seed, fmod (x + 100 * period, period), y);
}

/* What only looks like texture: another one in every view. */
static gdouble
white (guint seed, gdouble x, gdouble y)
{
  return random_range (&generator, 0, 255);
}

TEST (test_no_false_alarms)
{
  static const struct
  {
    const gchar *name;
    Paint paint;
  } kinds[] = { { "flat", flat }, { "ramp", ramp }, { "stripes", stripes }, { "checker", checker }, { "tiles", tiles },
    { "white noise", white } };

  for (guint kind = 0; kind < G_N_ELEMENTS (kinds); kind++)
    for (gint round = 0; round < ROUNDS; round++) {
      gint width = random_range (&generator, 60, 700), height = random_range (&generator, 50, 300);
      gint num = random_range (&generator, 0, 1) ? 128 : random_range (&generator, 64, 256);
      const Change change = {
        .disparity = random_range (&generator, 0, 60), .gain = 1, .noise = random_range (&generator, 0, 4)
      };
      g_auto (Views) views = views_new (width, height, kinds[kind].paint, &change);
      GstStereoMatchFigures result = look (&views, FALSE, 0, num);
      expect_silence (&result, kinds[kind].name, &views, num);
    }
}

/* Repeats after this many pixels; of a middling size of detail. */
static gint period;

static gdouble
repetition (guint seed, gdouble x, gdouble y)
{
  gdouble u = fmod (x + 100.0 * period, period);

  /* the seam is soft */
  return u > period - 8 ? ((period - u) * surface (seed, u, y) + (u - period + 8) * surface (seed, u - period, y)) / 8 :
                          surface (seed, u, y);
}

/*
 * The worst that repeats: at the true disparity the small pictures show the pattern between their pixels, and at the
 * wrong repetition, at a disparity below zero, they show it exactly.
 */
TEST (test_repetition_that_fits_better_the_wrong_way)
{
  for (gint round = 0; round < 2 * ROUNDS; round++) {
    const gint factor = 3, wrong = -factor * random_range (&generator, 4, 16);

    period = 61 - wrong;
    while (period % factor == 0)
      period--;
    const Change change = { .disparity = period + wrong, .gain = 1 };
    g_auto (Views) views = views_new (481 + 2 * (round % 100), 203, repetition, &change);
    GstStereoMatchFigures result = look (&views, FALSE, 0, 64);
    expect_silence (&result, "repetition", &views, 64);
  }
}

static gdouble
fence (guint seed, gdouble x, gdouble y)
{
  return y < 100 ? repetition (seed, x, y) : surface (seed, x, y);
}

/* A fence, of which each view shows other posts: the true places lie outside the right view, and others inside, beyond infinity. */
TEST (test_fence)
{
  period = 70;
  for (gint round = 0; round < ROUNDS; round++) {
    const StereoParams params = { .num_disparities = 64 };
    const Change change = { .disparity = 60, .gain = 1 };
    g_auto (Views) views = views_new (104, 200, fence, &change);
    GstStereoMatchFigures result = look (&views, FALSE, 0, 64);
    fail_unless (result.backward >= 6, "%u points lie beyond infinity", result.backward);
    fail_unless (verdict_of_shift (&result, &params) != BAD);
  }
}

/* From the smallest on that anything is said about, with ranges that reach past the picture. */
TEST (test_small_views)
{
  gint refused = 0;

  for (gint round = 0; round < 200; round++) {
    gint width = random_range (&generator, 1, 90), height = random_range (&generator, 1, 60);
    gint min = random_range (&generator, -300, 300), num = random_range (&generator, 1, 1024);
    const Change change = { .gain = 1 };
    g_auto (Views) views = views_new (width, height, round % 2 ? surface : white, &change);
    const StereoImage images[] = { views.left.image, views.right.image };
    GstStereoMatchFigures result;

    if (!match_views (images, width, height, min, num, 0, &result)) {
      fail_unless (width < 32 || height < 16);
      refused++;
      continue;
    }
    fail_unless (result.matches <= result.points && result.placed <= result.matches &&
        result.forward + result.backward <= result.matches);
  }
  fail_unless (refused > 0 && refused < 200);
}

SUITE (diagnosis)
{
  generator.state = random_seed ();
}
