/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The check of the input: it notices exchanged, unrectified and untimely views, and no others. Tests its logic and the
 * messages of the element.
 */
#include "tests/support/gst/util.h"

#include <math.h>

#include "gst/match/diagnose/timestamps.h"
#include "gst/match/diagnose/verdicts.h"
#include "tests/support/random.h"

static Random generator;

static gdouble
draw (gdouble low, gdouble high)
{
  return low + (high - low) * random_unit (&generator);
}

/* ---- pictures ---------------------------------------------------------------------------- */

/* A texture of several sizes that may be read between its pixels, 0..255 */
static gdouble
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

/* One view in the memory of a picture format: the sample that is read, among others that say something else. */
typedef struct
{
  gint width, height;
  StereoImage image;
  guint8 *memory;
} View;

static View
view_new (gint width, gint height)
{
  View view = { width, height, { NULL } };
  gint channels = random_range (&generator, 0, 1) ? 3 : 1, step = random_range (&generator, channels, 4);
  gint stride = width * step + random_range (&generator, 0, 9);

  view.memory = g_malloc ((gsize) stride * (gsize) height);
  for (gint i = 0; i < stride * height; i++)
    view.memory[i] = (guint8) random_next (&generator);
  view.image = (StereoImage){ view.memory, stride, step, channels, { 0, 0, 0 }, STEREO_MEMORY_HOST };
  for (gint c = 0; c < channels; c++)
    view.image.offset[c] = (guint8) c;
  /* some formats are stored bottom up */
  if (random_range (&generator, 0, 3) == 0) {
    view.image.data += (gsize) stride * (gsize) (height - 1);
    view.image.stride = -stride;
  }
  return view;
}

static void
view_set (View *view, gint x, gint y, gdouble value)
{
  guint8 *pixel = (guint8 *) view->image.data + y * view->image.stride + x * view->image.pixel_stride;

  for (gint c = 0; c < view->image.channels; c++)
    pixel[view->image.offset[c]] = (guint8) CLAMP (value + 0.5, 0, 255);
}

typedef gdouble (*Paint) (guint seed, gdouble x, gdouble y);

/* How the right view differs from the left one. */
typedef struct
{
  gdouble disparity, slope; /* px; and more of it per row below the horizon */
  gdouble down, turn;       /* px; radians around the middle */
  gdouble gain, noise;
  gint horizon; /* row */
} Change;

#define PLAIN \
  { \
    0, 0, 0, 0, 1, 0, 0 \
  }

static void
paint_pair (View *left, View *right, Paint paint, const Change *change)
{
  guint seed = random_next (&generator);
  gdouble middle_x = left->width / 2.0, middle_y = left->height / 2.0;

  for (gint y = 0; y < left->height; y++)
    for (gint x = 0; x < left->width; x++) {
      gdouble u = cos (change->turn) * (x - middle_x) + sin (change->turn) * (y - middle_y) + middle_x;
      gdouble v = cos (change->turn) * (y - middle_y) - sin (change->turn) * (x - middle_x) + middle_y - change->down;
      view_set (left, x, y, paint (seed, x, y) + draw (-1, 1) * change->noise);
      view_set (right, x, y,
          change->gain * paint (seed, u + change->disparity + change->slope * MAX (0, y - change->horizon), v) +
              draw (-1, 1) * change->noise);
    }
}

typedef struct
{
  View left, right;
} Views;

static Views
views_new (gint width, gint height, Paint paint, const Change *change)
{
  Views views = { view_new (width, height), view_new (width, height) };

  paint_pair (&views.left, &views.right, paint, change);
  return views;
}

static void
views_free (Views *views)
{
  g_free (views->left.memory);
  g_free (views->right.memory);
}

static GstStereoPairMatches
look (const Views *views, gboolean exchanged, gint min, gint num)
{
  GstStereoPairMatcher *check = gst_stereo_pair_matcher_new (views->left.width, views->left.height, min, num);
  const StereoImage *left = &views->left.image, *right = &views->right.image;
  GstStereoPairMatches result, again;

  fail_unless (check != NULL);
  fail_unless (gst_stereo_pair_matcher_is_for (check, views->left.width, views->left.height, min, num));
  fail_if (gst_stereo_pair_matcher_is_for (check, views->left.width, views->left.height, min, num + 1));
  gst_stereo_pair_matcher_run (check, exchanged ? right : left, exchanged ? left : right, NULL, 0, &result);
  /* nothing is left of the first time */
  memset (&again, 0xEE, sizeof again);
  gst_stereo_pair_matcher_run (check, exchanged ? right : left, exchanged ? left : right, NULL, 0, &again);
  fail_unless_equals_int (again.matches, result.matches);
  fail_unless_equals_int (again.backward, result.backward);
  fail_unless_equals_float (again.vertical, result.vertical);
  gst_stereo_pair_matcher_free (check);
  return result;
}

static void
describe (const GstStereoPairMatches *r, const gchar *what, gint width, gint height, gint num)
{
  g_print ("%s, %dx%d, %d disparities: %u points, %u matches, %u forward, %u backward, %.1f px, %u placed, off by %.2f "
           "px (%.2f, %.2f)\n",
      what, width, height, num, r->points, r->matches, r->forward, r->backward, r->disparity, r->placed, r->vertical,
      r->vertical_left, r->vertical_right);
}

static void
expect (const GstStereoPairMatches *result, GstStereoVerdict exchanged, GstStereoVerdict unrectified, const gchar *what,
    const Views *views, gint num)
{
  if (gst_stereo_verdict_exchanged (result) == exchanged && gst_stereo_verdict_rows (result) == unrectified)
    return;
  describe (result, what, views->left.width, views->left.height, num);
  fail ("%s: exchanged %d, not %d; unrectified %d, not %d", what, gst_stereo_verdict_exchanged (result), exchanged,
      gst_stereo_verdict_rows (result), unrectified);
}

static void
expect_silence (const GstStereoPairMatches *result, const gchar *what, const Views *views, gint num)
{
  StereoParams params = { .num_disparities = num };

  if (gst_stereo_verdict_shifted (result, &params) != GST_STEREO_VERDICT_BAD &&
      gst_stereo_verdict_exchanged (result) != GST_STEREO_VERDICT_BAD &&
      gst_stereo_verdict_rows (result) != GST_STEREO_VERDICT_BAD)
    return;
  describe (result, what, views->left.width, views->left.height, num);
  fail ("%s: a false alarm", what);
}

/* ---- the logic --------------------------------------------------------------------------- */

#define ROUNDS 6

/* Other exposure, noise, slanted: none of it matters. */
static Change
draw_change (gint num)
{
  return (Change){ draw (3, num * 0.7), draw (0, 0.01), draw (-0.4, 0.4), 0, draw (0.6, 1.2), draw (0, 3) };
}

GST_START_TEST (test_good_and_exchanged)
{
  for (gint round = 0; round < ROUNDS; round++) {
    gint width = random_range (&generator, 300, 700), height = random_range (&generator, 150, 300);
    gint num = random_range (&generator, 16, width / 6);
    Change change = draw_change (num);
    Views views = views_new (width, height, surface, &change);
    GstStereoPairMatches result = look (&views, FALSE, 0, num);

    expect (&result, GST_STEREO_VERDICT_GOOD, GST_STEREO_VERDICT_GOOD, "good", &views, num);
    fail_unless (fabs (result.disparity - change.disparity - change.slope * height / 2) < 2 + change.slope * height / 2);
    fail_unless (fabs (result.vertical - fabs (change.down)) < 0.25, "%g, not %g", result.vertical, change.down);
    result = look (&views, TRUE, 0, num);
    expect (&result, GST_STEREO_VERDICT_BAD, GST_STEREO_VERDICT_GOOD, "exchanged", &views, num);
    fail_unless (fabs (result.disparity + change.disparity + change.slope * height / 2) < 2 + change.slope * height / 2);
    views_free (&views);
  }
}
GST_END_TEST;

/* What is searched decides: the same pair is right for a range below zero, and for one to both sides nothing is wrong.
 */
GST_START_TEST (test_ranges)
{
  Change change = PLAIN;
  GstStereoPairMatches result;
  Views views;

  change.disparity = 20;
  views = views_new (401, 203, surface, &change);
  result = look (&views, FALSE, -30, 25);
  expect (&result, GST_STEREO_VERDICT_BAD, GST_STEREO_VERDICT_GOOD, "range below zero", &views, 25);
  result = look (&views, TRUE, -30, 25);
  expect (&result, GST_STEREO_VERDICT_GOOD, GST_STEREO_VERDICT_GOOD, "range below zero", &views, 25);
  for (gint exchanged = 0; exchanged < 2; exchanged++) {
    result = look (&views, exchanged, -32, 65);
    expect (&result, GST_STEREO_VERDICT_GOOD, GST_STEREO_VERDICT_GOOD, "both sides", &views, 65);
  }
  views_free (&views);
  /* all at infinity: no direction */
  change.disparity = 0.3;
  views = views_new (401, 203, surface, &change);
  for (gint exchanged = 0; exchanged < 2; exchanged++) {
    result = look (&views, exchanged, 0, 64);
    expect (&result, GST_STEREO_VERDICT_UNKNOWN, GST_STEREO_VERDICT_GOOD, "far away", &views, 64);
  }
  views_free (&views);
}
GST_END_TEST;

GST_START_TEST (test_rows_that_do_not_fit)
{
  for (gint round = 0; round < ROUNDS; round++) {
    gint width = random_range (&generator, 300, 700), height = random_range (&generator, 150, 300);
    gint num = random_range (&generator, 16, width / 6);
    Change change = draw_change (num);
    gboolean exchanged = round % 2;
    GstStereoPairMatches result;
    Views views;

    change.slope = 0;
    change.down = draw (1.4, width * 0.025) * (random_range (&generator, 0, 1) ? 1 : -1);
    views = views_new (width, height, surface, &change);
    result = look (&views, exchanged, 0, num);
    expect (&result, exchanged ? GST_STEREO_VERDICT_BAD : GST_STEREO_VERDICT_GOOD, GST_STEREO_VERDICT_BAD, "off",
        &views, num);
    fail_unless (fabs (result.vertical - fabs (change.down)) < 0.25, "%g, not %g", result.vertical, change.down);
    fail_unless (fabs (result.vertical_left - (exchanged ? -change.down : change.down)) < 0.3);
    fail_unless (fabs (result.vertical_right - (exchanged ? -change.down : change.down)) < 0.3);
    views_free (&views);
  }
}
GST_END_TEST;

/* Rolled around the middle: nothing is off there, and the sides are, one way each. */
GST_START_TEST (test_a_rolled_camera)
{
  for (gint round = 0; round < ROUNDS; round++) {
    gint width = random_range (&generator, 400, 900), height = width / 2;
    Change change = { draw (5, 30), 0, 0, (round % 2 ? 1 : -1) * draw (4, 14) / width, 1, 1 };
    /* a little: the median alone would let it pass */
    gboolean little = round % 3 == 0;
    gdouble sides;
    Views views;
    GstStereoPairMatches result;

    if (little)
      change.turn = (round % 2 ? 3.7 : -3.7) / width;
    sides = change.turn * width / 2; /* from one half's middle to the other's */
    views = views_new (width, height, surface, &change);
    result = look (&views, FALSE, 0, 48);
    fail_unless (!little || result.vertical < 1.05);

    expect (&result, GST_STEREO_VERDICT_GOOD, GST_STEREO_VERDICT_BAD, "rolled", &views, 48);
    fail_unless (fabs (result.vertical_right - result.vertical_left - sides) < 0.35 * fabs (sides),
        "%g %g, not %g apart", result.vertical_left, result.vertical_right, sides);
    views_free (&views);
  }
}
GST_END_TEST;

/* A ground with a sky, which a shift puts beyond infinity. What the user asks for is nothing wrong. */
GST_START_TEST (test_shifted_views)
{
  for (gint round = 0; round < 2 * ROUNDS; round++) {
    gint width = random_range (&generator, 300, 700), height = random_range (&generator, 180, 300);
    gboolean shifted = round % 2;
    gdouble shift = shifted ? draw (2, 12) : draw (0, 0.7);
    Change change = { -shift, draw (0.15, 0.25), 0, 0, draw (0.7, 1.2), draw (0, 3), height / 3 };
    Views views = views_new (width, height, surface, &change);
    GstStereoPairMatches result = look (&views, FALSE, 0, 64);
    StereoParams params = { .num_disparities = 64 };

    expect (&result, GST_STEREO_VERDICT_GOOD, GST_STEREO_VERDICT_GOOD, "shifted", &views, 64);
    fail_unless ((gst_stereo_verdict_shifted (&result, &params) == GST_STEREO_VERDICT_BAD) == shifted,
        "by %.1f px: %u sure, %.1f px", shift, result.sure, result.lowest);
    fail_unless (result.lowest > -shift - 0.3 && result.lowest < 0.3 - shift, "%.1f, not %.1f", result.lowest, -shift);
    params.principal_offset = shift;
    fail_unless_equals_int (gst_stereo_verdict_shifted (&result, &params), GST_STEREO_VERDICT_GOOD);
    params.principal_offset = 0;
    params.min_disparity = -(gint) ceil (shift);
    fail_unless (gst_stereo_verdict_shifted (&result, &params) != GST_STEREO_VERDICT_BAD);
    views_free (&views);
  }
}
GST_END_TEST;

/* Where a mirror shows something beyond infinity, these are few points. */
GST_START_TEST (test_mirror)
{
  static const gint sides[] = { 50, 200 };

  for (guint i = 0; i < 2; i++) {
    Change change = { 0, 0.2, 0, 0, 1, 1, 100 };
    Views views = views_new (600, 300, surface, &change);
    StereoParams params = { .num_disparities = 64 };
    GstStereoPairMatches result;

    for (gint y = 20; y < 20 + sides[i]; y++)
      for (gint x = 200; x < 200 + sides[i]; x++) {
        const StereoImage *left = &views.left.image;
        view_set (&views.right, x + 9, y, left->data[y * left->stride + x * left->pixel_stride + left->offset[0]]);
      }
    result = look (&views, FALSE, 0, 64);
    fail_unless (gst_stereo_verdict_shifted (&result, &params) == (i ? GST_STEREO_VERDICT_BAD : GST_STEREO_VERDICT_GOOD),
        "%d px: %u sure, %.1f px", sides[i], result.sure, result.lowest);
    views_free (&views);
  }
}
GST_END_TEST;

/* Verdicts, in tables. */
enum
{
  NOTHING = GST_STEREO_VERDICT_UNKNOWN,
  GOOD = GST_STEREO_VERDICT_GOOD,
  BAD = GST_STEREO_VERDICT_BAD
};

/* When points that lie beyond infinity count, and when points show that none do. */
GST_START_TEST (test_beyond_infinity)
{
  static const struct
  {
    const gchar *name;
    GstStereoPairMatches figures;
    gint min;
    gdouble offset;
    gint verdict;
  } cases[] = {
    { "beyond", { .placed = 60, .sure = 50, .lowest = -1.1 }, 0, 0, BAD },
    { "doubtful", { .placed = 60, .sure = 50, .lowest = -0.9 }, 0, 0, NOTHING },
    { "far away", { .placed = 60, .sure = 50, .lowest = -0.6 }, 0, 0, GOOD },
    { "no horizon", { .placed = 60, .sure = 50, .lowest = 1.1 }, 0, 0, NOTHING },
    { "few", { .placed = 60, .sure = 11, .lowest = -5 }, 0, 0, NOTHING },
    { "few, no scale", { .placed = 23, .sure = 20, .lowest = -5 }, 0, 0, NOTHING },
    { "mostly repeated", { .placed = 60, .sure = 20, .doubtful = 61, .lowest = -5 }, 0, 0, NOTHING },
    { "repeated in part", { .placed = 60, .sure = 20, .doubtful = 60, .lowest = -5 }, 0, 0, BAD },
    { "another focal length", { .placed = 60, .sure = 50, .lowest = -5, .scale = 0.5, .rest = 0.2 }, 0, 0, NOTHING },
    { "other moments", { .placed = 60, .sure = 50, .lowest = -5, .rest = 0.9 }, 0, 0, NOTHING },
    { "exchanged", { .placed = 60, .sure = 50, .lowest = -5, .forward = 9, .backward = 31 }, 0, 0, NOTHING },
    { "more than half", { .placed = 60, .sure = 50, .lowest = -5, .forward = 15, .backward = 25 }, 0, 0, BAD },
    { "searched", { .placed = 60, .sure = 50, .lowest = -5 }, -5, 0, GOOD },
    { "below the search", { .placed = 60, .sure = 50, .lowest = -6.1 }, -5, 0, BAD },
    { "searched from farther on", { .placed = 60, .sure = 50, .lowest = 2 }, 16, 0, NOTHING },
    { "principal points", { .placed = 60, .sure = 50, .lowest = -5 }, 0, 5, GOOD },
    { "others", { .placed = 60, .sure = 50, .lowest = -6.1 }, 0, 5, BAD },
    { "not so far", { .placed = 60, .sure = 50, .lowest = -3.9 }, 0, 5, NOTHING },
    { "the other way", { .placed = 60, .sure = 50, .lowest = 4 }, 0, -5, GOOD },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    StereoParams params = { .min_disparity = cases[i].min, .principal_offset = cases[i].offset };
    fail_unless (gst_stereo_verdict_shifted (&cases[i].figures, &params) == (GstStereoVerdict) cases[i].verdict, "%s",
        cases[i].name);
  }
}
GST_END_TEST;

/* What vertical offsets are put down to, from their figures. */
GST_START_TEST (test_causes_of_offsets)
{
  static const struct
  {
    const gchar *name;
    GstStereoPairMatches figures;
    gint rows, focal;
  } cases[] = {
    { "too few", { .placed = 11, .vertical = 9, .middle = 9, .shift = 9, .scale = 5, .rest = 2 }, NOTHING, NOTHING },
    { "few, a fit", { .placed = 16, .scale = 3, .rest = 0.2 }, GOOD, NOTHING },
    { "enough for a scale", { .placed = 24, .scale = 3, .rest = 0.2 }, GOOD, BAD },
    { "few, no fit", { .placed = 15, .vertical = 1.1, .middle = 1.1, .shift = 1.1, .rest = 0.2 }, BAD, NOTHING },
    { "in order", { .placed = 60, .vertical = 0.9, .scale = 0.4, .rest = 0.4 }, GOOD, GOOD },
    { "doubtful", { .placed = 60, .vertical = 0.9, .scale = 0.6, .rest = 0.6 }, GOOD, NOTHING },
    { "offset", { .placed = 60, .vertical = 1.2, .middle = -1.2, .shift = -1.2, .rest = 0.3 }, BAD, GOOD },
    { "turned",
        { .placed = 60, .vertical = 0.9, .vertical_left = 0.9, .vertical_right = -0.9, .roll = -0.9, .rest = 0.3 }, BAD,
        GOOD },
    { "larger", { .placed = 60, .vertical = 1.9, .scale = 3.8, .rest = 0.5 }, GOOD, BAD },
    { "smaller", { .placed = 60, .vertical = 0.5, .scale = -0.9, .rest = 0.2 }, GOOD, BAD },
    { "larger and offset", { .placed = 60, .vertical = 2.1, .middle = 1.3, .shift = 1.3, .scale = 3.8, .rest = 0.5 },
        BAD, BAD },
    { "larger and turned", { .placed = 60, .vertical = 2.1, .scale = 3.8, .roll = 1.6, .rest = 0.5 }, BAD, BAD },
    { "other moments", { .placed = 60, .vertical = 1.9, .middle = 1.2, .shift = 1.2, .scale = -7, .rest = 1.1 },
        NOTHING, NOTHING },
    { "a half of other moments", { .placed = 60, .vertical = 0.4, .rest = 0.5, .rest_of_half = 1.2 }, NOTHING, NOTHING },
    { "a doubtful half", { .placed = 60, .vertical = 0.4, .rest = 0.4, .rest_of_half = 1 }, GOOD, GOOD },
    { "not rectified", { .placed = 60, .vertical = 6, .middle = -6, .shift = -5, .scale = 4, .roll = 3, .rest = 1.5 },
        BAD, NOTHING },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const GstStereoPairMatches *figures = &cases[i].figures;
    fail_unless (gst_stereo_verdict_rows (figures) == (GstStereoVerdict) cases[i].rows, "%s: rows", cases[i].name);
    fail_unless (gst_stereo_verdict_focal (figures) == (GstStereoVerdict) cases[i].focal, "%s: focal", cases[i].name);
  }
}
GST_END_TEST;

/* How many points have to be found in the other view: of all, of those that were found before, and under noise. */
GST_START_TEST (test_shares)
{
  static const struct
  {
    guint points, alike, matches;
    gint factor;
    gdouble so_far, noise;
    GstStereoVerdict verdict;
  } cases[] = { { 100, 20, 10, 3, 0, 1, GST_STEREO_VERDICT_BAD }, { 100, 50, 10, 3, 0, 1, GST_STEREO_VERDICT_UNKNOWN },
    { 40, 2, 1, 3, 0, 1, GST_STEREO_VERDICT_UNKNOWN }, { 100, 20, 18, 3, 0, 1, GST_STEREO_VERDICT_GOOD },
    { 100, 30, 25, 3, 0.8, 1, GST_STEREO_VERDICT_BAD }, { 100, 50, 40, 3, 0.8, 1, GST_STEREO_VERDICT_UNKNOWN },
    { 100, 70, 50, 3, 0.8, 1, GST_STEREO_VERDICT_GOOD }, { 100, 20, 10, 3, 0, 15, GST_STEREO_VERDICT_BAD },
    { 100, 20, 10, 1, 0, 15, GST_STEREO_VERDICT_UNKNOWN }, { 100, 20, 10, 1, 0.3, 15, GST_STEREO_VERDICT_BAD } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstStereoPairMatches matches = {
      .points = cases[i].points, .alike = cases[i].alike, .matches = cases[i].matches, .factor = cases[i].factor
    };
    GstStereoVerdict verdict = gst_stereo_verdict_mismatch (&matches, cases[i].so_far, cases[i].noise);
    fail_unless (verdict == cases[i].verdict, "case %u: %d", i, verdict);
  }
}
GST_END_TEST;

static gdouble
flat (guint seed, gdouble x, gdouble y)
{
  return 90;
}

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

GST_START_TEST (test_no_false_alarms)
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
      Change change = PLAIN;
      GstStereoPairMatches result;
      Views views;

      change.disparity = random_range (&generator, 0, 60);
      change.noise = random_range (&generator, 0, 4);
      views = views_new (width, height, kinds[kind].paint, &change);
      result = look (&views, FALSE, 0, num);
      expect_silence (&result, kinds[kind].name, &views, num);
      views_free (&views);
    }
}
GST_END_TEST;

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
GST_START_TEST (test_repetition_that_fits_better_the_wrong_way)
{
  for (gint round = 0; round < 2 * ROUNDS; round++) {
    const gint factor = 3, wrong = -factor * random_range (&generator, 4, 16);
    Change change = PLAIN;
    GstStereoPairMatches result;
    Views views;

    period = 61 - wrong;
    while (period % factor == 0)
      period--;
    change.disparity = period + wrong;
    views = views_new (481 + 2 * (round % 100), 203, repetition, &change);
    result = look (&views, FALSE, 0, 64);
    expect_silence (&result, "repetition", &views, 64);
    views_free (&views);
  }
}
GST_END_TEST;

/* From the smallest on that anything is said about, with ranges that reach past the picture. */
GST_START_TEST (test_small_views)
{
  gint refused = 0;

  for (gint round = 0; round < 200; round++) {
    gint width = random_range (&generator, 1, 90), height = random_range (&generator, 1, 60);
    gint min = random_range (&generator, -300, 300), num = random_range (&generator, 1, 1024);
    GstStereoPairMatcher *check = gst_stereo_pair_matcher_new (width, height, min, num);
    Change change = PLAIN;
    GstStereoPairMatches result;
    Views views;

    if (!check) {
      fail_unless (width < 32 || height < 16);
      refused++;
      continue;
    }
    views = views_new (width, height, round % 2 ? surface : white, &change);
    gst_stereo_pair_matcher_run (check, &views.left.image, &views.right.image, NULL, 0, &result);
    fail_unless (result.matches <= result.points && result.placed <= result.matches &&
        result.forward + result.backward <= result.matches);
    gst_stereo_pair_matcher_free (check);
    views_free (&views);
  }
  fail_unless (refused > 0 && refused < 200);
  gst_stereo_pair_matcher_free (NULL);
}
GST_END_TEST;

/* ---- the timestamps ---------------------------------------------------------------------- */

#define MS ((gint64) GST_MSECOND)

/* A span of pairs, @count of them; the skew starts at @from and grows by @growth each. */
static void
add_span (GstStereoSkew *skew, gint64 *time, guint count, gint64 from, gint64 growth, gint64 jitter)
{
  for (guint i = 0; i < count; i++, *time += 40 * MS)
    gst_stereo_skew_add (
        skew, *time, from + i * growth + (jitter ? random_range (&generator, (gint) -jitter, (gint) jitter) : 0));
}

GST_START_TEST (test_skew)
{
  GstStereoSkew skew = { 0 };
  gint64 time = 0;

  fail_unless_equals_int (gst_stereo_skew_is_large (&skew, 40 * MS), GST_STEREO_VERDICT_UNKNOWN);
  add_span (&skew, &time, 3, 15 * MS, 0, 0);
  fail_if (gst_stereo_skew_close (&skew)); /* too few */
  add_span (&skew, &time, 97, 15 * MS, 0, 0);
  fail_unless (gst_stereo_skew_close (&skew));
  fail_unless_equals_float (skew.mean, 15 * MS);
  fail_unless_equals_int (gst_stereo_skew_is_large (&skew, 40 * MS), GST_STEREO_VERDICT_BAD);
  fail_unless_equals_int (gst_stereo_skew_is_large (&skew, 80 * MS), GST_STEREO_VERDICT_GOOD);
  fail_unless_equals_int (gst_stereo_skew_is_large (&skew, 0), GST_STEREO_VERDICT_UNKNOWN);
  fail_unless_equals_int (gst_stereo_skew_drifts (&skew, 40 * MS), GST_STEREO_VERDICT_UNKNOWN);
  /* to either side: as bad, though the mean is nothing */
  for (guint i = 0; i < 50; i++)
    gst_stereo_skew_add (&skew, time += 40 * MS, i % 2 ? 14 * MS : -14 * MS);
  fail_unless (gst_stereo_skew_close (&skew));
  fail_unless_equals_int (gst_stereo_skew_is_large (&skew, 40 * MS), GST_STEREO_VERDICT_BAD);
  /* a steady one, with jitter, is no drift */
  for (guint span = 0; span < 20; span++) {
    add_span (&skew, &time, 100, 2 * MS, 0, MS);
    fail_unless (gst_stereo_skew_close (&skew));
    if (span < 4)
      continue;
    fail_unless_equals_int (gst_stereo_skew_is_large (&skew, 40 * MS), GST_STEREO_VERDICT_GOOD);
    fail_unless_equals_int (gst_stereo_skew_drifts (&skew, 40 * MS), GST_STEREO_VERDICT_GOOD);
  }
}
GST_END_TEST;

GST_START_TEST (test_drift)
{
  for (gint direction = -1; direction <= 1; direction += 2) {
    const gint64 growth = direction * 20000; /* ns a pair: 0.5 ms in a second */
    GstStereoSkew skew = { 0 };
    gint64 time = 0, from = -direction * 8 * MS;

    for (guint span = 0; span < 6; span++) {
      add_span (&skew, &time, 100, from, growth, 3 * MS);
      from += 100 * growth;
      fail_unless (gst_stereo_skew_close (&skew));
      fail_unless_equals_int (
          gst_stereo_skew_drifts (&skew, 40 * MS), span < 3 ? GST_STEREO_VERDICT_UNKNOWN : GST_STEREO_VERDICT_BAD);
    }
    fail_unless (fabs (skew.drift - growth * 25) < 0.15 * fabs (growth * 25.0), "%g ns/s", skew.drift);
    /* past half a frame the next frame is the partner: that is not one way any more */
    add_span (&skew, &time, 100, from - direction * 40 * MS, growth, 0);
    gst_stereo_skew_close (&skew);
    fail_unless_equals_int (gst_stereo_skew_drifts (&skew, 40 * MS), GST_STEREO_VERDICT_GOOD);
  }
}
GST_END_TEST;

GST_START_TEST (test_said_once)
{
  const GstStereoVerdict bad = GST_STEREO_VERDICT_BAD, good = GST_STEREO_VERDICT_GOOD,
                         unknown = GST_STEREO_VERDICT_UNKNOWN;
  GstStereoFinding finding = { FALSE, 0 };

  fail_if (gst_stereo_finding_update (&finding, unknown));
  fail_if (gst_stereo_finding_update (&finding, good));
  fail_unless (gst_stereo_finding_update (&finding, bad));
  fail_if (gst_stereo_finding_update (&finding, bad));
  /* coming and going */
  for (guint i = 0; i < 10; i++) {
    fail_if (gst_stereo_finding_update (&finding, i % 3 ? good : bad));
    fail_if (gst_stereo_finding_update (&finding, unknown));
  }
  fail_if (gst_stereo_finding_update (&finding, bad));
  for (guint i = 0; i < 3; i++)
    fail_if (gst_stereo_finding_update (&finding, good));
  fail_unless (gst_stereo_finding_update (&finding, bad));
}
GST_END_TEST;

/* ---- the element ------------------------------------------------------------------------- */

#define WIDTH 322
#define HEIGHT 121
#define FAST "method=bm num-disparities=32 backend=cpu threads=1 "

static GstBuffer *
gray_of (const View *view, GstClockTime time)
{
  GstBuffer *buffer = make_view (GST_VIDEO_FORMAT_GRAY8, view->width, view->height, 1, 0, 5);
  GstVideoFrame frame;
  GstVideoInfo info;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, (guint) view->width, (guint) view->height);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE));
  for (gint y = 0; y < view->height; y++)
    for (gint x = 0; x < view->width; x++)
      ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0))[y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0) +
          x] = view->image.data[y * view->image.stride + x * view->image.pixel_stride + view->image.offset[0]];
  /* no two frames of a live source are the same */
  for (gint y = 0; y < view->height; y++)
    ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0))[y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0)] = (guint8) (time /
        FRAME);
  gst_video_frame_unmap (&frame);
  return stamp (buffer, time, FRAME);
}

static Pair *
with_caps (Pair *pair)
{
  gchar *caps = make_caps (GST_VIDEO_FORMAT_GRAY8, WIDTH, HEIGHT, NULL);

  pair_caps (pair, caps);
  g_free (caps);
  return pair;
}

static Pair *
pair_new_wide (const gchar *properties)
{
  return with_caps (pair_new (properties));
}

/* Without waiting: a partner is known only when the next frame is. */
static void
push_apart (Pair *pair, const View *left, const View *right, GstClockTime time, GstClockTimeDiff skew)
{
  fail_unless_equals_int (gst_harness_push (pair->left, gray_of (left, time)), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_push (pair->right, gray_of (right, time + (GstClockTime) skew)), GST_FLOW_OK);
}

static void
push_pair (Pair *pair, const View *left, const View *right, GstClockTime time)
{
  GstBuffer *out;

  push_apart (pair, left, right, time, 0);
  out = gst_harness_pull (pair->left);
  fail_unless (out != NULL);
  gst_buffer_unref (out);
}

static gdouble
number_of (GstElement *element, const gchar *name)
{
  GstStructure *stats;
  gboolean truth = FALSE;
  gdouble value = 0;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_double (stats, name, &value) || gst_structure_get_boolean (stats, name, &truth),
      "stats has no %s", name);
  gst_structure_free (stats);
  return truth ? 1 : value;
}

GST_START_TEST (test_element_says_exchanged)
{
  Change change = PLAIN;
  Views views;
  Pair *pair = pair_new_wide (FAST);
  GstClockTime time = 0;

  change.disparity = 11;
  views = views_new (WIDTH, HEIGHT, surface, &change);
  fail_unless (number_of (pair->element, "vertical-offset") < 0);
  push_pair (pair, &views.left, &views.right, time);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  fail_unless_equals_uint64 (stat_of (pair->element, "checks"), 1);
  fail_unless (stat_of (pair->element, "check-matches") >= 12);
  fail_unless_equals_float (number_of (pair->element, "exchanged"), 0);
  fail_unless (fabs (number_of (pair->element, "vertical-offset")) < 0.2);
  /* it is not the time for another look */
  push_pair (pair, &views.right, &views.left, time += FRAME);
  fail_unless_equals_uint64 (stat_of (pair->element, "checks"), 1);
  /* for three looks, one warning */
  for (guint i = 0; i < 3; i++)
    push_pair (pair, &views.right, &views.left, time += 5 * GST_SECOND);
  fail_unless_equals_uint64 (stat_of (pair->element, "checks"), 4);
  fail_unless_equals_float (number_of (pair->element, "exchanged"), 1);
  expect_warning (pair->bus, "Left and right look exchanged", "sink_left", "-11.0 px", NULL);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  /* mended, and broken again */
  for (guint i = 0; i < 3; i++)
    push_pair (pair, &views.left, &views.right, time += 5 * GST_SECOND);
  fail_unless_equals_float (number_of (pair->element, "exchanged"), 0);
  push_pair (pair, &views.right, &views.left, time += 5 * GST_SECOND);
  expect_warning (pair->bus, "Left and right look exchanged", NULL);
  views_free (&views);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_element_says_unrectified)
{
  Change change = PLAIN;
  Pair *pair = pair_new_wide (FAST "check-interval=1000000000");
  Views views;

  change.disparity = 9;
  change.down = -4;
  views = views_new (WIDTH, HEIGHT, surface, &change);
  for (guint i = 0; i < 4; i++)
    push_pair (pair, &views.left, &views.right, i * GST_SECOND);
  fail_unless_equals_uint64 (stat_of (pair->element, "checks"), 4);
  fail_unless (fabs (number_of (pair->element, "vertical-offset") - 4) < 0.2);
  expect_warning (pair->bus, "rows of the two views do not fit", "4.0 px", "stereorectify", NULL);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  views_free (&views);
  pair_free (pair);
}
GST_END_TEST;

static void
expect_health (GstElement *element, const gchar *health)
{
  GstStructure *stats;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "health"), health);
  gst_structure_free (stats);
}

/* Another scene each second: of a scene where nothing moves, the views would be frozen. */
static void
push_ground (Pair *pair, gdouble shift, gint second)
{
  const Change change = { -shift, 0.25, 0, 0, 1, 1, HEIGHT / 5 };
  Views views = views_new (WIDTH, HEIGHT, surface, &change);

  push_pair (pair, &views.left, &views.right, (GstClockTime) second * GST_SECOND);
  views_free (&views);
}

/* After four looks in a row, and so is its end. What the properties say of the rig is taken for granted, from when they say it. */
GST_START_TEST (test_element_says_shifted)
{
  static const gchar *const properties[] = { FAST "check-interval=1000000000",
    FAST "check-interval=1000000000 principal-offset=5", FAST "check-interval=1000000000 min-disparity=-5" };

  for (guint i = 0; i < G_N_ELEMENTS (properties); i++) {
    Pair *pair = with_caps (pair_new_not_live (properties[i]));
    gint second = 0;

    for (; second < 3; second++)
      push_ground (pair, 5, second);
    expect_health (pair->element, "ok");
    push_ground (pair, 5, second++);
    expect_health (pair->element, i ? "ok" : "shifted");
    if (!i)
      expect_warning (
          pair->bus, "shifted sideways", "beyond infinity", "rectify the views anew", "principal-offset", NULL);
    /* all is near: that shows nothing */
    for (; second < 10; second++)
      push_ground (pair, -4, second);
    expect_health (pair->element, i ? "ok" : "shifted");
    for (; second < 13; second++)
      push_ground (pair, 0, second);
    expect_health (pair->element, i ? "ok" : "shifted");
    push_ground (pair, 0, second++);
    expect_health (pair->element, "ok");
    for (gint k = 0; k < 4; k++)
      push_ground (pair, 8, second++);
    expect_health (pair->element, "shifted");
    expect_warning (pair->bus, "shifted sideways", NULL);
    g_object_set (pair->element, "principal-offset", 8.0, NULL);
    push_ground (pair, 8, second++);
    expect_health (pair->element, "ok");
    expect_no_message (pair->bus, GST_MESSAGE_WARNING);
    pair_free (pair);
  }
}
GST_END_TEST;

/* The check looks at the views as they come; what is taken out of them stands beside it. */
GST_START_TEST (test_element_aligns)
{
  static const gint downs[] = { 2, -2, 0, 4 }; /* not 1, which is where the warning begins */
  static const gchar *const properties[] = { FAST "align=auto check-interval=1000000000",
    FAST "align=off check-interval=1000000000" };
  Change change = PLAIN;

  change.disparity = 9;
  for (guint i = 0; i < G_N_ELEMENTS (downs); i++)
    for (guint off = 0; off < 2; off++) {
      Pair *pair = pair_new_wide (properties[off]);
      gboolean aligned = !off && downs[i] && ABS (downs[i]) <= 3;
      Views views;

      change.down = downs[i];
      views = views_new (WIDTH, HEIGHT, surface, &change);
      for (guint k = 0; k < 4; k++)
        push_pair (pair, &views.left, &views.right, k * GST_SECOND);
      fail_unless_equals_float (number_of (pair->element, "aligned"), aligned);
      fail_unless (fabs (number_of (pair->element, "align-offset") - (aligned ? downs[i] : 0)) < 0.1, "%g, not %d",
          number_of (pair->element, "align-offset"), downs[i]);
      fail_unless (fabs (number_of (pair->element, "align-offset-max") - (aligned ? ABS (downs[i]) : 0)) < 0.2,
          "%g, not %d", number_of (pair->element, "align-offset-max"), downs[i]);
      fail_unless (fabs (number_of (pair->element, "vertical-offset") - ABS (downs[i])) < 0.25);
      if (ABS (downs[i]) > 1)
        expect_warning (
            pair->bus, "rows of the two views do not fit", off ? "align=auto takes" : "while stats say aligned", NULL);
      expect_no_message (pair->bus, GST_MESSAGE_WARNING);
      views_free (&views);
      pair_free (pair);
    }
}
GST_END_TEST;

/* Where time goes back, the next look is not as far off as the last one was late. */
GST_START_TEST (test_element_looks_when_time_goes_back)
{
  Change change = PLAIN;
  Pair *pair = pair_new_wide (FAST);
  Views views;

  change.disparity = 9;
  views = views_new (WIDTH, HEIGHT, surface, &change);
  push_pair (pair, &views.left, &views.right, 3600 * GST_SECOND);
  fail_unless_equals_uint64 (stat_of (pair->element, "checks"), 1);
  push_pair (pair, &views.left, &views.right, GST_SECOND);
  fail_unless_equals_uint64 (stat_of (pair->element, "checks"), 2);
  views_free (&views);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_element_does_not_look)
{
  Change change = PLAIN;
  Pair *pair = pair_new_wide (FAST "check-interval=0");
  Views views;

  change.disparity = 9;
  change.down = 5;
  views = views_new (WIDTH, HEIGHT, surface, &change);
  for (guint i = 0; i < 30; i++)
    push_apart (pair, &views.right, &views.left, i * GST_SECOND, FRAME / 3);
  pair_eos (pair, TRUE, TRUE);
  pair_wait_eos (pair);
  fail_unless_equals_uint64 (stat_of (pair->element, "pairs"), 30);
  fail_unless_equals_uint64 (stat_of (pair->element, "checks"), 0);
  fail_unless_equals_uint64 (stat_of (pair->element, "skew-mean"), 0);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  views_free (&views);
  pair_free (pair);
}
GST_END_TEST;

/* Both views in one frame, in an order that the flags can turn round; and every frame is timed once. */
GST_START_TEST (test_element_with_packed_views)
{
  for (gint right_first = 0; right_first < 2; right_first++) {
    GstBus *bus;
    GstHarness *harness = packed_new (FAST, &bus);
    gchar *caps = make_caps (GST_VIDEO_FORMAT_GRAY8, 2 * WIDTH, HEIGHT,
        right_first ? "multiview-mode=side-by-side," RIGHT_FIRST : "multiview-mode=side-by-side," NO_FLAGS);
    Change change = PLAIN;
    GstBuffer *frame = gst_buffer_new_allocate (NULL, 2 * WIDTH * HEIGHT, NULL), *out;
    GstMapInfo map;
    Views views;

    change.disparity = 14;
    views = views_new (WIDTH, HEIGHT, surface, &change);
    fail_unless (gst_buffer_map (frame, &map, GST_MAP_WRITE));
    /* the right view first */
    for (gint y = 0; y < HEIGHT; y++)
      for (gint x = 0; x < 2 * WIDTH; x++) {
        const StereoImage *image = x < WIDTH ? &views.right.image : &views.left.image;
        map.data[y * 2 * WIDTH + x] = image->data[y * image->stride + x % WIDTH * image->pixel_stride + image->offset[0]];
      }
    gst_buffer_unmap (frame, &map);
    gst_harness_set_src_caps_str (harness, caps);
    g_free (caps);
    fail_unless_equals_int (gst_harness_push (harness, stamp (frame, 0, FRAME)), GST_FLOW_OK);
    out = gst_harness_pull (harness);
    fail_unless (out != NULL);
    gst_buffer_unref (out);
    fail_unless_equals_float (number_of (harness->element, "exchanged"), !right_first);
    if (!right_first)
      expect_warning (bus, "Left and right look exchanged", "right-view-first", NULL);
    expect_no_message (bus, GST_MESSAGE_WARNING);
    views_free (&views);
    filter_free (harness, bus);
  }
}
GST_END_TEST;

GST_START_TEST (test_element_says_out_of_step)
{
  Change change = PLAIN;
  Pair *pair = pair_new_wide (FAST);
  Views views;
  GstClockTime time = GST_SECOND;

  views = views_new (WIDTH, HEIGHT, flat, &change);
  /* a view of which nothing can be told is looked at every second */
  for (guint i = 0; i < 60; i++, time += FRAME)
    push_apart (pair, &views.left, &views.right, time, 15 * MS);
  pair_eos (pair, TRUE, TRUE);
  pair_wait_eos (pair);
  fail_unless_equals_uint64 (stat_of (pair->element, "pairs"), 60);
  fail_unless_equals_uint64 (stat_of (pair->element, "checks"), 3);
  fail_unless (stat_of (pair->element, "skew-mean") == 15 * MS);
  fail_unless (number_of (pair->element, "vertical-offset") < 0);
  expect_warning (pair->bus, "out of step", "15.0 ms", "40.0 ms", NULL);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  views_free (&views);
  pair_free (pair);
}
GST_END_TEST;

GST_START_TEST (test_element_says_drift)
{
  Change change = PLAIN;
  Pair *pair = pair_new_wide (FAST "check-interval=500000000");
  Views views;

  views = views_new (WIDTH, HEIGHT, flat, &change);
  for (guint i = 0; i < 80; i++)
    push_apart (pair, &views.left, &views.right, GST_SECOND + i * FRAME, i * 60000);
  pair_eos (pair, TRUE, TRUE);
  pair_wait_eos (pair);
  expect_warning (pair->bus, "drift apart", "1.500 ms in a second", NULL);
  fail_unless (fabs (number_of (pair->element, "skew-drift") - 1.5e6) < 1e4);
  expect_no_message (pair->bus, GST_MESSAGE_WARNING);
  views_free (&views);
  pair_free (pair);
}
GST_END_TEST;

static gdouble
fence (guint seed, gdouble x, gdouble y)
{
  return y < 100 ? repetition (seed, x, y) : surface (seed, x, y);
}

/* A fence, of which each view shows other posts: the true places lie outside the right view, and others inside, beyond infinity. */
GST_START_TEST (test_fence)
{
  for (gint round = 0; round < ROUNDS; round++) {
    StereoParams params = { .num_disparities = 64 };
    Change change = PLAIN;
    GstStereoPairMatches result;
    Views views;

    period = 70;
    change.disparity = 60;
    views = views_new (104, 200, fence, &change);
    result = look (&views, FALSE, 0, 64);
    fail_unless (result.backward >= 6, "%u points lie beyond infinity", result.backward);
    fail_unless (gst_stereo_verdict_shifted (&result, &params) != GST_STEREO_VERDICT_BAD);
    views_free (&views);
  }
}
GST_END_TEST;

static Suite *
diagnosis_suite (void)
{
  Suite *suite = suite_create ("diagnosis");
  TCase *cases = tcase_create ("diagnosis");

  generator.state = random_seed ();
  suite_add_tcase (suite, cases);
  tcase_add_test (cases, test_good_and_exchanged);
  tcase_add_test (cases, test_ranges);
  tcase_add_test (cases, test_rows_that_do_not_fit);
  tcase_add_test (cases, test_a_rolled_camera);
  tcase_add_test (cases, test_shifted_views);
  tcase_add_test (cases, test_mirror);
  tcase_add_test (cases, test_beyond_infinity);
  tcase_add_test (cases, test_fence);
  tcase_add_test (cases, test_causes_of_offsets);
  tcase_add_test (cases, test_shares);
  tcase_add_test (cases, test_no_false_alarms);
  tcase_add_test (cases, test_repetition_that_fits_better_the_wrong_way);
  tcase_add_test (cases, test_small_views);
  tcase_add_test (cases, test_skew);
  tcase_add_test (cases, test_drift);
  tcase_add_test (cases, test_said_once);
  tcase_add_test (cases, test_element_says_exchanged);
  tcase_add_test (cases, test_element_says_unrectified);
  tcase_add_test (cases, test_element_says_shifted);
  tcase_add_test (cases, test_element_aligns);
  tcase_add_test (cases, test_element_looks_when_time_goes_back);
  tcase_add_test (cases, test_element_does_not_look);
  tcase_add_test (cases, test_element_with_packed_views);
  tcase_add_test (cases, test_element_says_out_of_step);
  tcase_add_test (cases, test_element_says_drift);
  return suite;
}

GST_CHECK_MAIN (diagnosis);
