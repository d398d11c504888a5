/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is wrong with the input: what a look measures, and the rules, with made figures. */
#include <gst/check/gstcheck.h>
#include <math.h>
#include <string.h>

#include "gst/match/diagnose/views/cover.h"
#include "gst/match/diagnose/verdicts.h"
#include "gst/match/diagnose/pace.h"
#include "tests/support/gst/util.h"
#include "tests/support/random.h"

#define MS G_GINT64_CONSTANT (1000000)
#define GOOD GST_STEREO_VERDICT_GOOD
#define BAD GST_STEREO_VERDICT_BAD
#define UNKNOWN GST_STEREO_VERDICT_UNKNOWN

static Random generator;

/* ---- a look ------------------------------------------------------------------------------ */

typedef struct
{
  gint width, height;
  guint8 *memory;
  StereoImage image;
} View;

static View
view_new (gint width, gint height)
{
  gint channels = random_range (&generator, 0, 1) ? 3 : 1, step = random_range (&generator, channels, 6);
  gint stride = width * step + random_range (&generator, 0, 9);
  View view = { width, height, g_malloc ((gsize) stride * (gsize) height) };

  for (gint i = 0; i < stride * height; i++)
    view.memory[i] = (guint8) random_next (&generator);
  view.image = (StereoImage){ view.memory, stride, step, channels, { 0, 1, 2 }, STEREO_MEMORY_HOST };
  return view;
}

/* The sample that a look reads: luma, or green. */
static guint8 *
pixel_of (const View *view, gint x, gint y)
{
  const StereoImage *image = &view->image;

  return (guint8 *) image->data + y * image->stride + (gssize) x * image->pixel_stride +
      image->offset[image->channels == 3];
}

static gdouble
bend_of (const View *view, gint x, gint y)
{
  return 2 * *pixel_of (view, x, y) - *pixel_of (view, x - 2, y) - *pixel_of (view, x + 2, y);
}

/* Row by row as view.h says it. */
static GstStereoViewFigures
plain_look (const View *view, gint offset, gint scale)
{
  gint rows = MIN (32, view->height - 2);
  gdouble sum = 0, black = 0, white = 0, products = 0, squares = 0, bends, count = (gdouble) rows * view->width;
  GstStereoViewFigures look = { 0 };

  for (gint i = 0; i < rows; i++) {
    gint y = (2 * i + 1) * (view->height - 2) / (2 * rows);
    for (gint x = 0; x < view->width; x++) {
      gint sample = *pixel_of (view, x, y);
      sum += sample;
      black += sample <= offset + 16 * scale / 255;
      white += sample >= offset + 250 * scale / 255;
      if (x < 2 || x >= view->width - 2)
        continue;
      products += bend_of (view, x, y) * bend_of (view, x, y + 2);
      squares += bend_of (view, x, y) * bend_of (view, x, y);
    }
  }
  look.brightness = MAX (0, (sum / count - offset) * 255 / scale);
  look.black = black / count;
  look.white = white / count;
  bends = (gdouble) rows * (view->width - 4);
  look.detail = sqrt (MAX (0, products) / bends) * 255 / scale;
  look.doubt = squares / bends * sqrt (2 / bends) * 255 / scale * 255 / scale;
  look.roughness = sqrt (squares / bends) * 255 / scale;
  look.sharpness = look.detail / MAX (1, look.brightness);
  return look;
}

static void
check_close (gdouble is, gdouble expected, const gchar *what)
{
  fail_unless (fabs (is - expected) <= 1e-9 * MAX (1, fabs (expected)), "%s is %.12g, not %.12g", what, is, expected);
}

GST_START_TEST (test_look_is_what_it_says)
{
  for (guint k = 0; k < 60; k++) {
    View view = view_new (random_range (&generator, 16, 300), random_range (&generator, 8, 120));
    GstStereoViewReader *viewer = gst_stereo_view_reader_new (view.width, view.height);
    gint offset = k % 2 ? 16 : 0, scale = k % 2 ? 219 : 255;
    GstStereoViewFigures expected, look;
    /* from all black over texture to all white */
    for (gint y = 0; y < view.height; y++)
      for (gint x = 0; x < view.width; x++)
        *pixel_of (&view, x, y) = (guint8) CLAMP ((gint) (k * 6) - 60 + texture (k, x, y / 3) / 2, 0, 255);
    expected = plain_look (&view, offset, scale);
    gst_stereo_view_reader_read (viewer, &view.image, offset, scale, 0, view.width, &look);
    check_close (look.brightness, expected.brightness, "brightness");
    check_close (look.black, expected.black, "black");
    check_close (look.white, expected.white, "white");
    check_close (look.detail, expected.detail, "detail");
    check_close (look.roughness, expected.roughness, "roughness");
    check_close (look.doubt, expected.doubt, "doubt");
    check_close (look.sharpness, expected.sharpness, "sharpness");
    fail_if (look.compared);
    gst_stereo_view_reader_free (viewer);
    g_free (view.memory);
  }
  fail_unless (gst_stereo_view_reader_new (15, 100) == NULL && gst_stereo_view_reader_new (100, 7) == NULL);
}
GST_END_TEST;

/* The widest view, and the largest sums: all differences as large as they can be. */
GST_START_TEST (test_look_at_a_wide_view)
{
  gint width = 32768, height = 9;
  View view = { width, height, g_malloc ((gsize) width * (gsize) height) };
  GstStereoViewReader *viewer = gst_stereo_view_reader_new (width, height);
  GstStereoViewFigures look;

  view.image = (StereoImage){ view.memory, width, 1, 1, { 0 }, STEREO_MEMORY_HOST };
  for (gint i = 0; i < width * height; i++)
    view.memory[i] = i % width / 2 % 2 ? 255 : 0;
  gst_stereo_view_reader_read (viewer, &view.image, 0, 255, 0, view.width, &look);
  check_close (look.detail, 510, "detail");
  check_close (look.brightness, 127.5, "brightness");
  check_close (look.white, 0.5, "white");
  gst_stereo_view_reader_free (viewer);
  g_free (view.memory);
}
GST_END_TEST;

static gdouble
gauss (void)
{
  return sqrt (-2 * log (random_unit (&generator) + 1e-12)) * cos (2 * G_PI * random_unit (&generator));
}

static GstStereoViewFigures
look_with_noise (gdouble contrast, gdouble noise)
{
  View view = view_new (640, 200);
  GstStereoViewReader *viewer = gst_stereo_view_reader_new (640, 200);
  GstStereoViewFigures look;

  for (gint y = 0; y < 200; y++)
    for (gint x = 0; x < 640; x++)
      *pixel_of (&view, x, y) = (guint8) CLAMP (
          128 + contrast * (texture (3, x / 3, y / 6) - 128) + noise * gauss () + 0.5, 0, 255);
  gst_stereo_view_reader_read (viewer, &view.image, 0, 255, 0, view.width, &look);
  gst_stereo_view_reader_free (viewer);
  g_free (view.memory);
  return look;
}

/* What noise gives by chance is as often above one standard deviation as it should be, and never above six. */
GST_START_TEST (test_doubt)
{
  guint above = 0;

  for (guint k = 0; k < 200; k++) {
    GstStereoViewFigures look = look_with_noise (0, 1 + k % 10);
    above += look.detail * look.detail > look.doubt;
    fail_unless (look.detail * look.detail < 4.5 * look.doubt);
  }
  /* 16 % of 200 */
  fail_unless (above > 12 && above < 60, "%u of 200", above);
}
GST_END_TEST;

/* Noise makes no detail where there is none, and changes little where there is. */
GST_START_TEST (test_noise_is_no_detail)
{
  gdouble clean = look_with_noise (0.3, 0).detail, noisy = look_with_noise (0.3, 8).detail;

  fail_unless (look_with_noise (0, 8).detail < 4, "noise of 8: detail of %f", look_with_noise (0, 8).detail);
  fail_unless (fabs (noisy / clean - 1) < 0.05, "detail of %f, with noise %f", clean, noisy);
}
GST_END_TEST;

GST_START_TEST (test_looks_are_compared)
{
  View view = view_new (100, 66);
  GstStereoViewReader *viewer = gst_stereo_view_reader_new (100, 66);
  GstStereoViewFigures look;
  gint row = 64 / 32 / 2; /* the first one that is read */

  for (gint y = 0; y < 66; y++)
    for (gint x = 0; x < 100; x++)
      *pixel_of (&view, x, y) = texture (1, x, y) / 2 + 20;
  gst_stereo_view_reader_read (viewer, &view.image, 0, 255, 0, view.width, &look);
  fail_if (look.compared || look.same);
  gst_stereo_view_reader_read (viewer, &view.image, 0, 255, 0, view.width, &look);
  fail_unless (look.compared && look.same && look.moved == 0);
  /* by two levels: not the same, and it does not count as movement */
  *pixel_of (&view, 99, row) += 2;
  gst_stereo_view_reader_read (viewer, &view.image, 0, 255, 0, view.width, &look);
  fail_unless (look.compared && !look.same && look.moved == 0);
  *pixel_of (&view, 99, row) += 3;
  gst_stereo_view_reader_read (viewer, &view.image, 0, 255, 0, view.width, &look);
  fail_unless (!look.same);
  check_close (look.moved, 1 / 3200.0, "moved");
  gst_stereo_view_reader_forget (viewer);
  gst_stereo_view_reader_read (viewer, &view.image, 0, 255, 0, view.width, &look);
  fail_if (look.compared || look.same);
  gst_stereo_view_reader_free (viewer);
  g_free (view.memory);
}
GST_END_TEST;

/* ---- the rules --------------------------------------------------------------------------- */

#define SOUND \
  ((GstStereoViewFigures){ .brightness = 100, \
      .black = 0.05, \
      .white = 0.1, \
      .detail = 20, \
      .roughness = 30, \
      .sharpness = 0.2, \
      .compared = TRUE, \
      .moved = 0.2 })

static void
judge (GstStereoViewFigures left, GstStereoViewFigures right, GstStereoViewHistory past, GstStereoViewVerdicts verdicts)
{
  const GstStereoViewFigures looks[] = { left, right };

  gst_stereo_view_faults_judge (looks, &past, verdicts);
}

/* What the rules say of @left and @right: a letter for each fault of each view, G, B or U; but for a cover, which is none. */
static void
check_verdicts (GstStereoViewFigures left, GstStereoViewFigures right, gdouble ratio, const gchar *expected)
{
  GstStereoViewVerdicts verdicts;
  gchar found[2 * GST_STEREO_VIEW_FAULTS + 1] = "";
  guint n = 0;

  judge (left, right, (GstStereoViewHistory){ .ratio = ratio }, verdicts);
  for (guint i = 0; i < 2 * GST_STEREO_VIEW_FAULTS; i++)
    if (i / 2 != GST_STEREO_VIEW_COVERED)
      found[n++] = "UGB"[verdicts[i / 2][i % 2]];
  fail_unless_equals_string (found, expected);
  for (guint v = 0; v < 2; v++)
    fail_unless (verdicts[GST_STEREO_VIEW_COVERED][v] != BAD);
}

static GstStereoViewFigures
scaled (gdouble brightness, gdouble sharpness)
{
  GstStereoViewFigures look = SOUND;

  look.brightness *= brightness;
  look.sharpness *= sharpness;
  look.detail = look.brightness * look.sharpness;
  look.roughness = look.detail + 5;
  return look;
}

/* In the order black, blown out, blurred, dark, frozen; left and right of each. */
GST_START_TEST (test_verdicts)
{
  GstStereoViewFigures look = SOUND;

  check_verdicts (look, look, 0, "GGGGGGGGGG");
  look.black = 0.985;
  check_verdicts (SOUND, look, 0, "GBGGUUUUUU");
  check_verdicts (look, look, 0, "BBGGUUUUUU");
  look.black = 0.95;
  check_verdicts (SOUND, look, 0, "GUGGGGGGGG");
  look.black = 0;
  look.white = 0.51;
  check_verdicts (look, SOUND, 0, "GGBGUUUUUU");
  look.white = 0.45;
  check_verdicts (look, SOUND, 0, "GGUGGGGGGG");
  /* the worst of the healthy pairs, and then less */
  check_verdicts (SOUND, scaled (0.92, 0.8), 0, "GGGGGGGGGG");
  check_verdicts (SOUND, scaled (1, 0.6), 0, "GGGGGUGGGG");
  check_verdicts (SOUND, scaled (1, 0.45), 0, "GGGGGBUUGU");
  check_verdicts (scaled (1, 0.45), SOUND, 0, "GGGGBGUUUG");
  check_verdicts (SOUND, scaled (0.7, 1), 0, "GGGGGGGUGG");
  check_verdicts (SOUND, scaled (0.6, 1), 0, "GGGGGGGBGG");
  check_verdicts (scaled (0.3, 1), SOUND, 0, "GGGGGGBGGG");
  /* covered: dark too, and one cause is told once */
  check_verdicts (SOUND, scaled (0.4, 0.02), 0, "GGGGUBUUGU");
  /* in the dark nothing can be said about exposure, and without detail nothing about blur */
  check_verdicts (scaled (0.19, 1), scaled (0.05, 1), 0, "GGGGUGUUGG");
  look = SOUND;
  look.detail = 1;
  check_verdicts (look, look, 0, "GGGGUUGGGG");
  /* noise could have made it */
  look = SOUND;
  look.doubt = 170;
  check_verdicts (scaled (1, 0.1), look, 0, "GGGGUGGGGG");
  look.doubt = 150;
  check_verdicts (scaled (1, 0.1), look, 0, "GGGGBGUUUG");
  /* as rough as the other one: what is missing is what the rows have in common, not the detail */
  look = scaled (1, 0.1);
  look.roughness = 29;
  check_verdicts (look, SOUND, 0, "GGGGUGGGGG");
}
GST_END_TEST;

GST_START_TEST (test_verdicts_on_frozen_views)
{
  GstStereoViewFigures frozen = SOUND, still = SOUND;

  frozen.same = TRUE;
  frozen.moved = 0;
  still.moved = 0.005;
  check_verdicts (SOUND, frozen, 0, "GGGGGGGGGB");
  check_verdicts (frozen, SOUND, 0, "GGGGGGGGBG");
  /* nothing moves: a still picture, or a scene without noise */
  check_verdicts (frozen, frozen, 0, "GGGGGGGGUU");
  check_verdicts (still, frozen, 0, "GGGGGGGGGU");
  frozen.compared = FALSE;
  check_verdicts (SOUND, frozen, 0, "GGGGGGGGUU");
}
GST_END_TEST;

/* Covered, and no longer blurred: even all over, while the other view is not. */
GST_START_TEST (test_verdicts_on_covers)
{
  GstStereoViewFigures covered = scaled (0.5, 0.02), sound = SOUND;
  GstStereoViewVerdicts verdicts;

  sound.contrast = 30;
  for (guint v = 0; v < 2; v++)
    for (covered.contrast = 1; covered.contrast < 40; covered.contrast++) {
      gboolean even = covered.contrast < 8;

      judge (v ? sound : covered, v ? covered : sound, (GstStereoViewHistory){ 0 }, verdicts);
      fail_unless_equals_int (verdicts[GST_STEREO_VIEW_COVERED][v], even ? BAD : GOOD);
      fail_unless_equals_int (verdicts[GST_STEREO_VIEW_BLURRED][v], even ? UNKNOWN : BAD);
      fail_unless (verdicts[GST_STEREO_VIEW_COVERED][!v] != BAD);
      fail_unless_equals_int (verdicts[GST_STEREO_VIEW_DARK][v], UNKNOWN);
    }
}
GST_END_TEST;

/* A pair of textured views with noise, with a disparity for each quarter of the rows; columns @first to @end of both show a
 * wall. */
static void
make_pair (View views[2], gint max_disparity, guint seed, gint first, gint end)
{
  for (gint y = 0; y < views[0].height; y++) {
    gint disparity = (gint) (texture (seed, 7, 4 * y / views[0].height) % (guint) (max_disparity + 1));
    for (guint v = 0; v < 2; v++)
      for (gint x = 0; x < views[v].width; x++) {
        gint at = x + (v ? disparity : 0); /* in the left view */
        gint level = at >= first && at < end ? 120 : 40 + texture (seed, at / 9, y / 9) % 150;
        *pixel_of (&views[v], x, y) = (guint8) (level + random_range (&generator, -3, 3));
      }
  }
}

static void
measure_cover (const View views[2], gint max_disparity, guint covered[2])
{
  GstStereoViewReader *readers[2];
  GstStereoViewFigures figures[2];

  for (guint v = 0; v < 2; v++) {
    readers[v] = gst_stereo_view_reader_new (views[v].width, views[v].height);
    gst_stereo_view_reader_read (readers[v], &views[v].image, 0, 255, 0, views[v].width, &figures[v]);
  }
  gst_stereo_cover_measure (
      (const GstStereoViewReader *const[]){ readers[0], readers[1] }, views[0].width, max_disparity, figures);
  for (guint v = 0; v < 2; v++) {
    covered[v] = figures[v].covered;
    gst_stereo_view_reader_free (readers[v]);
  }
}

/* A wall that both views see is no cover, wherever it lies; what lies before one of them is, where the other one would see it. */
GST_START_TEST (test_covered_parts)
{
  for (guint k = 0; k < 80; k++) {
    gint width = random_range (&generator, 320, 900), height = random_range (&generator, 120, 400);
    View views[] = { view_new (width, height), view_new (width, height) };
    gint disparity = random_range (&generator, 0, width / 5), wall = random_range (&generator, 0, width - 1);
    gint part = width / 4, right = k % 2, at;
    guint covered[2];

    make_pair (views, disparity, k, wall, wall + random_range (&generator, 0, width / 2));
    measure_cover (views, disparity, covered);
    fail_unless (!covered[0] && !covered[1], "pair %u: %u, %u", k, covered[0], covered[1]);
    make_pair (views, disparity, k, 0, 0);
    if (k / 2 % 2) {
      at = random_range (&generator, 0, height - height / 4);
      for (gint y = at; y < at + height / 4; y++)
        for (gint x = 0; x < width; x++)
          *pixel_of (&views[right], x, y) = (guint8) (30 + random_range (&generator, -3, 3));
    } else {
      /* columns that the other view sees whatever their disparity, with what is lost of runs */
      gint unseen = disparity + 48;
      at = random_range (&generator, 0, width - part - unseen) + (right ? 0 : unseen);
      for (gint y = 0; y < height; y++)
        for (gint x = at; x < at + part; x++)
          *pixel_of (&views[right], x, y) = (guint8) (30 + random_range (&generator, -3, 3));
    }
    measure_cover (views, disparity, covered);
    fail_unless (
        covered[right] >= 2 && covered[right] <= 5 && !covered[!right], "pair %u: %u, %u", k, covered[0], covered[1]);
    g_free (views[0].memory);
    g_free (views[1].memory);
  }
}
GST_END_TEST;

/* One part is not enough. What is covered is not frozen, nor is it dark. */
GST_START_TEST (test_verdicts_on_covered_parts)
{
  GstStereoViewFigures own = SOUND;
  GstStereoViewVerdicts verdicts;

  own.brightness = 10;
  for (guint i = 0; i < GST_STEREO_VIEW_BANDS; i++)
    own.bands[i] = (GstStereoBandFigures){ 0, 0.2, 0.5, 10 };
  for (own.covered = 0; own.covered <= GST_STEREO_COVER_PARTS; own.covered++) {
    judge (SOUND, own, (GstStereoViewHistory){ 0 }, verdicts);
    fail_unless_equals_int (verdicts[GST_STEREO_VIEW_COVERED][1],
        own.covered < 1     ? GOOD :
            own.covered < 2 ? UNKNOWN :
                              BAD);
    fail_unless_equals_int (verdicts[GST_STEREO_VIEW_DARK][1], own.covered < 2 ? BAD : UNKNOWN);
    if (own.covered >= 2)
      fail_unless_equals_int (verdicts[GST_STEREO_VIEW_FROZEN][1], UNKNOWN);
    fail_unless (verdicts[GST_STEREO_VIEW_COVERED][0] != BAD);
  }
}
GST_END_TEST;

/* Both at once: detail that noise could have made, where there is contrast; or a quarter of what both had. */
GST_START_TEST (test_verdicts_on_two_blurred_views)
{
  GstStereoViewFigures look = SOUND;
  GstStereoViewVerdicts verdicts;

  look.detail = 0.3;
  look.roughness = 2.5;
  look.doubt = 0.07;
  for (look.contrast = 0; look.contrast < 20; look.contrast += 4) {
    judge (look, look, (GstStereoViewHistory){ 0 }, verdicts);
    for (guint v = 0; v < 2; v++)
      fail_unless_equals_int (verdicts[GST_STEREO_VIEW_BLURRED][v], look.contrast < 8 ? UNKNOWN : BAD);
  }
  /* rough, for it has texture whose rows have nothing in common */
  look.roughness = 15;
  judge (look, look, (GstStereoViewHistory){ 0 }, verdicts);
  fail_unless_equals_int (verdicts[GST_STEREO_VIEW_BLURRED][0], UNKNOWN);
  for (guint i = 1; i < 10; i++) {
    gboolean less = i < 3;
    look = scaled (1, 0.1 * i);
    judge (look, look, (GstStereoViewHistory){ 1, { 0.2, 0.2 } }, verdicts);
    fail_unless_equals_int (verdicts[GST_STEREO_VIEW_BLURRED][1], less ? BAD : GOOD);
  }
}
GST_END_TEST;

/* Both lose their detail at once, two seconds after the start and later: known within a second. Before that, it may be their usual
 * state. */
GST_START_TEST (test_two_blurred_views_after_the_start)
{
  for (guint sound = 1; sound < 40; sound++) {
    GstStereoViewFaults views = { 0 };
    gboolean found = FALSE;

    for (guint look = 0; look <= sound + 5; look++) {
      GstStereoViewFigures figures = look < sound ? (GstStereoViewFigures) SOUND : scaled (1, 0.2);
      GstStereoEpisodeChange changes[GST_STEREO_VIEW_FAULTS][2];

      gst_stereo_view_faults_add (&views, (GstStereoViewFigures[]){ figures, figures }, look * 200 * MS, changes);
      for (guint v = 0; v < 2; v++)
        found = found || changes[GST_STEREO_VIEW_BLURRED][v] == GST_STEREO_EPISODE_BEGINS;
    }
    fail_unless (sound < 10 || found, "not after %u looks", sound);
    fail_unless (sound > 5 || !found, "after %u looks", sound);
  }
}
GST_END_TEST;

/* The verdict on the right view whose bands do what @bands says: m moves as the other view does, s stands still but for
 * noise, a little of both, e no pixel changes where the other view has noise, n both have noise alone, d neither changes. */
static GstStereoVerdict
verdict_on_bands (const gchar *bands)
{
  GstStereoViewFigures other = SOUND, own = SOUND;
  GstStereoViewVerdicts verdicts;

  fail_unless_equals_uint64 (strlen (bands), GST_STEREO_VIEW_BANDS);
  for (guint i = 0; i < GST_STEREO_VIEW_BANDS; i++) {
    gboolean moves = strchr ("msa", bands[i]) != NULL;
    other.bands[i] = own.bands[i] = (GstStereoBandFigures){ moves ? 20 : 0, 0.2, bands[i] == 'd' ? 0.1 : 0.5, 100 };
    own.bands[i].change *= bands[i] == 's' ? 0.045 : bands[i] == 'a' ? 0.1 : 1;
    if (bands[i] == 'e') {
      own.bands[i].doubt = 0;
      own.bands[i].other = 0;
    }
  }
  judge (other, own, (GstStereoViewHistory){ 0 }, verdicts);
  fail_unless_equals_int (verdicts[GST_STEREO_VIEW_FROZEN][0], GOOD);
  return verdicts[GST_STEREO_VIEW_FROZEN][1];
}

/* Six bands are frozen whatever the others do; two in a row, where more of the others are live. */
GST_START_TEST (test_verdicts_on_frozen_parts)
{
  static const struct
  {
    const gchar *bands;
    GstStereoVerdict verdict;
  } cases[] = { { "mmmmmmmmmmmmmmmm", GOOD }, { "ssssssssssssssss", BAD }, { "sdsdsdsdsdsddddd", BAD },
    { "sdsdsdsdsddddddd", UNKNOWN }, { "mmmmmmmmmmmmssmm", BAD }, { "ssmmmddddddddddd", BAD },
    { "ssmmdddddddddddd", UNKNOWN }, { "mmmmmmsmmmmmmsmm", UNKNOWN }, { "aammmmmmmmmmmmmm", GOOD },
    /* an insect on the other lens: here, all is noise */
    { "nnnnssssnnnnnnnn", UNKNOWN }, { "nnnnssssnnnnnnss", BAD },
    /* of a sensor, noise is never twice the same */
    { "nnnneennnnnnnnnn", BAD }, { "nnnnennnnnnnnnen", UNKNOWN }, { "eenddddddddddddd", UNKNOWN },
    { "eennmddddddddddd", BAD }, { "nnsennnnnnnnnnnn", UNKNOWN }, { "mmsemmmmmmmmmmmm", BAD },
    { "nnnnnnnnnnnnnnnn", GOOD }, { "dddddddddddddddd", GOOD } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    fail_unless_equals_int (verdict_on_bands (cases[i].bands), cases[i].verdict);
}
GST_END_TEST;

/* Columns in which no pixel changes while the other view has noise: two strips in a row, where more of the others change. */
GST_START_TEST (test_verdicts_on_frozen_columns)
{
  for (guint frozen = 0; frozen <= GST_STEREO_VIEW_BANDS; frozen++)
    for (guint apart = 1; apart <= 2; apart++) {
      GstStereoViewFigures other = SOUND, own = SOUND;
      GstStereoViewVerdicts verdicts;

      for (guint i = 0; i < GST_STEREO_VIEW_BANDS; i++) {
        other.strips[i] = own.strips[i] = (GstStereoBandFigures){ 20, 0.2, 0.5, 100 };
        if (i % apart == 0 && i / apart < frozen)
          own.strips[i] = (GstStereoBandFigures){ 0, 0, 0, 100 };
      }
      judge (other, own, (GstStereoViewHistory){ 0 }, verdicts);
      fail_unless_equals_int (verdicts[GST_STEREO_VIEW_FROZEN][0], GOOD);
      fail_unless_equals_int (verdicts[GST_STEREO_VIEW_FROZEN][1],
          !frozen                     ? GOOD :
              frozen < 2 || apart > 1 ? UNKNOWN :
                                        BAD);
    }
}
GST_END_TEST;

/* What noise may seem, and what is black or white, is not frozen. */
GST_START_TEST (test_verdicts_on_parts_without_evidence)
{
  GstStereoViewFigures other = SOUND, own = SOUND;
  GstStereoViewVerdicts verdicts;

  for (guint i = 0; i < GST_STEREO_VIEW_BANDS; i++) {
    other.bands[i] = (GstStereoBandFigures){ 20, i % 2 ? 3 : 0.2, 0.5, 100 };
    own.bands[i] = (GstStereoBandFigures){ 0.5, i % 2 ? 0.2 : 1.1, 0.5, 100 };
  }
  judge (other, own, (GstStereoViewHistory){ 0 }, verdicts);
  fail_unless_equals_int (verdicts[GST_STEREO_VIEW_FROZEN][1], GOOD);
  for (guint level = 0; level < 256; level += 15) {
    for (guint i = 0; i < GST_STEREO_VIEW_BANDS; i++)
      own.bands[i] = (GstStereoBandFigures){ 0, 0, 0, level };
    for (guint i = 0; i < GST_STEREO_VIEW_BANDS; i++)
      other.bands[i] = (GstStereoBandFigures){ 0, 0.2, 0.5, level };
    judge (other, own, (GstStereoViewHistory){ 0 }, verdicts);
    fail_unless_equals_int (verdicts[GST_STEREO_VIEW_FROZEN][1], level < 20 || level > 235 ? GOOD : BAD);
  }
}
GST_END_TEST;

/* ---- both views together ----------------------------------------------------------------- */

/* The fault that ten looks 100 ms apart lead to; GST_STEREO_PAIR_FAULTS: none. */
static guint
pair_fault (GstStereoViewFaults *views, GstStereoViewFigures look, GstStereoBlockFigures pair, gboolean live)
{
  const GstStereoViewFigures looks[] = { look, look };
  guint found = GST_STEREO_PAIR_FAULTS;

  for (gint64 time = 0; time <= 1000 * MS; time += 100 * MS) {
    GstStereoEpisodeChange changes[GST_STEREO_PAIR_FAULTS];

    gst_stereo_view_faults_add_pair (views, looks, &pair, live, time, changes);
    for (guint fault = 0; fault < GST_STEREO_PAIR_FAULTS; fault++)
      if (changes[fault] == GST_STEREO_EPISODE_BEGINS) {
        fail_unless_equals_int (found, GST_STEREO_PAIR_FAULTS);
        found = fault;
      }
  }
  return found;
}

/* Frames that are all the same: of a sensor a fault; of a file, only if they changed before; of a black view it tells nothing. */
GST_START_TEST (test_frozen_pair)
{
  GstStereoViewFigures still = SOUND, moving = SOUND;
  GstStereoBlockFigures none = { 0 };
  GstStereoViewFaults views = { 0 };

  still.same = TRUE;
  still.moved = 0;
  fail_unless_equals_int (pair_fault (&views, still, none, FALSE), GST_STEREO_PAIR_STILL);
  views = (GstStereoViewFaults){ 0 };
  fail_unless_equals_int (pair_fault (&views, still, none, TRUE), GST_STEREO_PAIR_FROZEN);
  views = (GstStereoViewFaults){ 0 };
  fail_unless_equals_int (pair_fault (&views, moving, none, FALSE), GST_STEREO_PAIR_FAULTS);
  fail_unless_equals_int (pair_fault (&views, still, none, FALSE), GST_STEREO_PAIR_FROZEN);
  views = (GstStereoViewFaults){ 0 };
  still.black = 1;
  fail_unless_equals_int (pair_fault (&views, still, none, TRUE), GST_STEREO_PAIR_FAULTS);
}
GST_END_TEST;

/* An encoder repeats a still scene for half a second; one view alone is frozen after less. */
GST_START_TEST (test_frozen_pair_lasts)
{
  for (gint64 last = 300 * MS; last <= 900 * MS; last += 100 * MS) {
    GstStereoViewFigures still = SOUND;
    GstStereoBlockFigures none = { 0 };
    GstStereoViewFaults views = { 0 };
    gboolean found = FALSE;

    still.same = TRUE;
    for (gint64 time = 0; time <= last; time += 100 * MS) {
      GstStereoEpisodeChange changes[GST_STEREO_PAIR_FAULTS];
      gst_stereo_view_faults_add_pair (&views, (GstStereoViewFigures[]){ still, still }, &none, TRUE, time, changes);
      found = found || changes[GST_STEREO_PAIR_FROZEN] == GST_STEREO_EPISODE_BEGINS;
    }
    fail_unless (found == (last >= 600 * MS), "after %d ms", (gint) (last / MS));
  }
}
GST_END_TEST;

GST_START_TEST (test_pair_at_disparity_0)
{
  static const struct
  {
    GstStereoBlockFigures look;
    GstStereoPairFault fault;
  } cases[] = { { { 100, 80, 0.001, 0, 0 }, GST_STEREO_PAIR_SAME_VIEW },
    { { 100, 80, 0.1, 0, 0 }, GST_STEREO_PAIR_STILL_PATTERN }, { { 100, 50, 0.001, 0, 0 }, GST_STEREO_PAIR_FAULTS },
    { { 11, 11, 0.001, 0, 0 }, GST_STEREO_PAIR_FAULTS }, { { 100, 5, 0, 40, 11 }, GST_STEREO_PAIR_STILL_PATTERN },
    { { 100, 5, 0, 40, 8 }, GST_STEREO_PAIR_FAULTS }, { { 100, 5, 0, 7, 3 }, GST_STEREO_PAIR_FAULTS },
    { { 100, 5, 0, 0, 0, 21 }, GST_STEREO_PAIR_STILL_PATTERN }, { { 100, 5, 0, 0, 0, 15 }, GST_STEREO_PAIR_FAULTS },
    { { 100, 5, 0, 40, 2, 21 }, GST_STEREO_PAIR_STILL_PATTERN },
    { { 100, 5, 0, 40, 11, 0 }, GST_STEREO_PAIR_STILL_PATTERN }, { { 11, 0, 0, 0, 0, 11 }, GST_STEREO_PAIR_FAULTS },
    { { 20, 0, 0, 0, 0, 7 }, GST_STEREO_PAIR_FAULTS } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstStereoViewFaults views = { 0 };
    fail_unless (pair_fault (&views, SOUND, cases[i].look, TRUE) == cases[i].fault, "case %u", i);
  }
}
GST_END_TEST;

/* A pattern that weakens leaves some layers for a while: no evidence that it has gone. */
GST_START_TEST (test_some_layers)
{
  const GstStereoViewFigures looks[] = { SOUND, SOUND };
  const GstStereoBlockFigures many = { 100, 5, 0, 40, 2, 30 }, some = { 100, 5, 0, 40, 2, 15 },
                              none = { 100, 5, 0, 40, 2, 2 };
  const GstStereoBlockFigures *const after[] = { &some, &none };
  GstStereoEpisodeChange changes[GST_STEREO_PAIR_FAULTS];

  for (guint i = 0; i < G_N_ELEMENTS (after); i++) {
    GstStereoViewFaults views = { 0 };
    fail_unless_equals_int (pair_fault (&views, SOUND, many, TRUE), GST_STEREO_PAIR_STILL_PATTERN);
    for (gint64 k = 0; k < 7; k++)
      gst_stereo_view_faults_add_pair (&views, looks, after[i], TRUE, 1100 * MS + 100 * MS * k, changes);
    fail_unless (views.pair[GST_STEREO_PAIR_STILL_PATTERN].stands == !i, "case %u", i);
  }
}
GST_END_TEST;

#define POLE 10 /* columns */

/* A view of texture, moved to the right by @shift pixels; and @other, of which as much is blended in as @share says. */
static void
paint (const View *view, guint seed, gdouble shift, gdouble gain, gdouble noise, const View *other, gdouble share)
{
  for (gint y = 0; y < view->height; y++)
    for (gint x = 0; x < view->width; x++) {
      gint left = (gint) floor (x - shift);
      gdouble part = x - shift - left;
      gdouble level = (1 - part) * texture (seed, left / 3, y / 6) + part * texture (seed, (left + 1) / 3, y / 6);
      if (other)
        level = (1 - share) * level + share * *pixel_of (other, x, y);
      level = gain * level + noise * gauss () + 0.5; /* CLAMP() takes its argument twice, and each time another noise */
      *pixel_of (view, x, y) = (guint8) CLAMP (level, 0, 255);
    }
}

/* One scene in both views, at no disparity or at one; with a gain and noise; or two scenes behind one pattern, which has most of the
 * light or a small part of it. */
GST_START_TEST (test_look_at_a_pair)
{
  static const struct
  {
    gdouble shift, gain, noise, share; /* of the right view; of the pattern in both */
    gboolean zero, rest, layered;
  } cases[] = { { 0, 1, 0, 0, TRUE, FALSE, FALSE }, { 0, 0.7, 2, 0, TRUE, FALSE, FALSE },
    { 0, 1, 15, 0, TRUE, FALSE, FALSE }, { 0.5, 1, 0, 0, FALSE, FALSE, FALSE }, { 0.9, 1, 4, 0, FALSE, FALSE, FALSE },
    { 3, 1, 2, 0, FALSE, FALSE, FALSE }, { 40, 1, 2, 0, FALSE, FALSE, FALSE }, { 40, 1, 2, 0.8, TRUE, TRUE, TRUE },
    { 40, 1, 2, 0.45, FALSE, FALSE, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    View views[2] = { view_new (800, 200), view_new (800, 200) }, pattern = view_new (800, 200);
    GstStereoViewReader *viewers[2];
    GstStereoBlockFigures pair;
    GstStereoViewFigures look;

    paint (&pattern, 9, 0, 1, 0, NULL, 0);
    for (guint v = 0; v < 2; v++) {
      paint (
          &views[v], 5, v ? 60 - cases[i].shift : 60, v ? cases[i].gain : 1, cases[i].noise, &pattern, cases[i].share);
      viewers[v] = gst_stereo_view_reader_new (800, 200);
      gst_stereo_view_reader_read (viewers[v], &views[v].image, 0, 255, 0, 800, &look);
    }
    gst_stereo_blocks_compare ((const GstStereoViewReader *const[]){ viewers[0], viewers[1] }, 800, 3, &pair);
    fail_unless (pair.textured > 60, "case %u: %u blocks", i, pair.textured);
    fail_unless (cases[i].zero ? pair.zero > 0.75 * pair.textured : pair.zero < 0.1 * pair.textured,
        "case %u: %u of %u blocks", i, pair.zero, pair.textured);
    fail_unless (!cases[i].zero || (pair.rest > 0.004) == cases[i].rest, "case %u: a rest of %f", i, pair.rest);
    g_printerr (
        "case %u: %u zero, rest %.4f, %u in layers of %u\n", i, pair.zero, pair.rest, pair.layered, pair.textured);
    fail_unless (cases[i].layered ? pair.layered > 0.2 * pair.textured : pair.layered < 0.05 * pair.textured,
        "case %u: %u of %u blocks in layers", i, pair.layered, pair.textured);
    for (guint v = 0; v < 2; v++) {
      gst_stereo_view_reader_free (viewers[v]);
      g_free (views[v].memory);
    }
    g_free (pattern.memory);
  }
}
GST_END_TEST;

/* A smooth pole from column @first on. */
static void
paint_pole (const View *view, gint first)
{
  for (gint y = 0; y < view->height; y++)
    for (gint x = first; x < first + POLE; x++)
      *pixel_of (view, x, y) = 160;
}

/* Something moves behind a pattern on both lenses, which is nearly half of the light, or before what lies far away. */
GST_START_TEST (test_look_at_a_pair_that_moves)
{
  static const struct
  {
    gdouble share;  /* of the pattern */
    gboolean poles; /* move before it, and nothing behind */
    gboolean still;
  } cases[] = { { 0.45, FALSE, TRUE }, { 0, FALSE, FALSE }, { 1, TRUE, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    View pattern = view_new (400, 200), views[2] = { view_new (400, 200), view_new (400, 200) };
    GstStereoViewReader *viewers[2];
    GstStereoBlockFigures pair;
    GstStereoViewFigures look;

    paint (&pattern, 9, 0, 1, 0, NULL, 0);
    for (guint v = 0; v < 2; v++) {
      viewers[v] = gst_stereo_view_reader_new (400, 200);
      for (gint moment = 0; moment < 2; moment++) {
        paint (&views[v], 5, 60 + 7 * moment - (v ? 40 : 0), 1, 1, &pattern, cases[i].share);
        for (gint first = 20; cases[i].poles && first < 360; first += 5 * POLE)
          paint_pole (&views[v], first + POLE * moment - (v ? 4 : 0));
        gst_stereo_view_reader_read (viewers[v], &views[v].image, 0, 255, 0, 400, &look);
      }
    }
    gst_stereo_blocks_compare ((const GstStereoViewReader *const[]){ viewers[0], viewers[1] }, 400, 1, &pair);
    fail_unless (pair.moving > 20, "case %u: %u blocks", i, pair.moving);
    fail_unless (cases[i].still ? pair.still > 0.5 * pair.moving : pair.still < 0.1 * pair.moving,
        "case %u: %u of %u blocks", i, pair.still, pair.moving);
    for (guint v = 0; v < 2; v++) {
      gst_stereo_view_reader_free (viewers[v]);
      g_free (views[v].memory);
    }
    g_free (pattern.memory);
  }
}
GST_END_TEST;

/* A lens that has always been softer is no fault; where it gets softer, it is. */
GST_START_TEST (test_verdicts_know_the_past)
{
  check_verdicts (scaled (1, 0.7), SOUND, 0.7, "GGGGGGGGGG");
  check_verdicts (scaled (1, 0.4), SOUND, 0.7, "GGGGUGGGGG");
  check_verdicts (scaled (1, 0.34), SOUND, 0.7, "GGGGBGUUUG");
  /* and one that used to be sharper */
  check_verdicts (scaled (1, 0.65), SOUND, 1.4, "GGGGBGUUUG");
  check_verdicts (SOUND, scaled (1, 0.65), 1 / 1.4, "GGGGGBUUGU");
}
GST_END_TEST;

/* What @count looks, 200 ms apart from @from on, make of an episode. */
static GstStereoEpisodeChange
add_looks (GstStereoEpisode *episode, GstStereoVerdict verdict, gint64 *time, guint count)
{
  GstStereoEpisodeChange found = GST_STEREO_EPISODE_GOES_ON;

  for (guint i = 0; i < count; i++, *time += 200 * MS) {
    GstStereoEpisodeChange change = gst_stereo_episode_update (episode, verdict, *time, 1000 * MS);
    fail_if (found && change);
    found = found ? found : change;
  }
  return found;
}

GST_START_TEST (test_episodes)
{
  GstStereoEpisode episode = { 0 };
  gint64 time = 0;

  /* a hand passes the lens, again and again */
  for (guint i = 0; i < 10; i++) {
    fail_unless_equals_int (add_looks (&episode, BAD, &time, 5), GST_STEREO_EPISODE_GOES_ON);
    fail_unless_equals_int (add_looks (&episode, GOOD, &time, 1), GST_STEREO_EPISODE_GOES_ON);
  }
  fail_unless_equals_int (add_looks (&episode, BAD, &time, 5), GST_STEREO_EPISODE_GOES_ON);
  fail_unless_equals_int (add_looks (&episode, UNKNOWN, &time, 8), GST_STEREO_EPISODE_GOES_ON);
  fail_unless_equals_int (add_looks (&episode, BAD, &time, 5), GST_STEREO_EPISODE_GOES_ON);
  fail_unless_equals_int (add_looks (&episode, UNKNOWN, &time, 7), GST_STEREO_EPISODE_GOES_ON);
  fail_unless_equals_int (add_looks (&episode, BAD, &time, 1), GST_STEREO_EPISODE_BEGINS);
  fail_unless_equals_int (add_looks (&episode, BAD, &time, 50), GST_STEREO_EPISODE_GOES_ON);
  /* it comes and goes: one episode */
  for (guint i = 0; i < 10; i++) {
    fail_unless_equals_int (add_looks (&episode, GOOD, &time, 5), GST_STEREO_EPISODE_GOES_ON);
    fail_unless_equals_int (add_looks (&episode, BAD, &time, 2), GST_STEREO_EPISODE_GOES_ON);
  }
  fail_unless_equals_int (add_looks (&episode, GOOD, &time, 6), GST_STEREO_EPISODE_ENDS);
  /* while a fault is suspected, looks come twice as fast */
  fail_unless_equals_int (add_looks (&episode, BAD, &time, 5), GST_STEREO_EPISODE_GOES_ON);
  for (guint i = 0; i < 12; i++, time += 100 * MS)
    fail_unless_equals_int (gst_stereo_episode_update (&episode, UNKNOWN, time, 1000 * MS), GST_STEREO_EPISODE_GOES_ON);
  fail_unless_equals_int (add_looks (&episode, BAD, &time, 1), GST_STEREO_EPISODE_BEGINS);
  fail_unless_equals_int (add_looks (&episode, GOOD, &time, 6), GST_STEREO_EPISODE_ENDS);
  /* rare frames: four of them, however long that takes */
  time += 60000 * MS;
  for (guint i = 0; i < 4; i++, time += 5000 * MS)
    fail_unless_equals_int (gst_stereo_episode_update (&episode, BAD, time, 1000 * MS),
        i < 3 ? GST_STEREO_EPISODE_GOES_ON : GST_STEREO_EPISODE_BEGINS);
}
GST_END_TEST;

/* Sharpness drifts apart by dirt: the past follows, but not for ever. */
GST_START_TEST (test_slow_dirt_is_told)
{
  GstStereoViewFaults views = { 0 };
  GstStereoEpisodeChange changes[GST_STEREO_VIEW_FAULTS][2];
  gint64 time = 0;
  gdouble sharpness = 1;

  for (; sharpness > 0.2; sharpness *= 0.9995, time += 200 * MS) {
    const GstStereoViewFigures looks[] = { SOUND, scaled (1, sharpness) };
    gst_stereo_view_faults_add (&views, looks, time, changes);
    if (changes[GST_STEREO_VIEW_BLURRED][1] == GST_STEREO_EPISODE_BEGINS)
      break;
  }
  fail_unless (sharpness > 0.25 && sharpness < 0.5, "told at %f", sharpness);
}
GST_END_TEST;

/* ---- the search range -------------------------------------------------------------------- */

GST_START_TEST (test_range)
{
  static const struct
  {
    guint forward, beyond, backward, doubtful;
    GstStereoVerdict verdict;
  } cases[] = { { 100, 0, 0, 0, GOOD }, { 100, 1, 0, 0, GOOD }, { 100, 4, 0, 0, UNKNOWN }, { 100, 6, 0, 0, BAD },
    { 10, 60, 0, 0, BAD }, { 170, 6, 0, 0, UNKNOWN }, { 4, 7, 0, 0, UNKNOWN }, { 30, 10, 0, 121, UNKNOWN },
    { 10, 10, 30, 0, UNKNOWN } };
  GstStereoPairMatches result = { .farthest = 100 };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    result.forward = cases[i].forward;
    result.beyond = cases[i].beyond;
    result.backward = cases[i].backward;
    result.doubtful = cases[i].doubtful;
    fail_unless_equals_int (gst_stereo_verdict_range (&result), cases[i].verdict);
  }
  /* 100 px and 15 % */
  fail_unless_equals_int (gst_stereo_wanted_disparities (&result, 0), 128);
  fail_unless_equals_int (gst_stereo_wanted_disparities (&result, 10), 112);
  result.farthest = 2000;
  fail_unless_equals_int (gst_stereo_wanted_disparities (&result, 0), 1024);
}
GST_END_TEST;

/* ---- the pace ---------------------------------------------------------------------------- */

GST_START_TEST (test_pace)
{
  GstStereoPaceCounts counts = { 0, 0, 0 };
  GstStereoPace pace = { 0 };
  guint begins = 0, ends = 0;

  /* thirty seconds at 25 pairs a second: from the tenth to the twentieth nine of ten are late */
  for (gint64 time = 0; time < 30000 * MS; time += 40 * MS) {
    gboolean slow = time >= 10000 * MS && time < 20000 * MS && time / (40 * MS) % 10;
    counts.late += slow;
    counts.pairs += !slow;
    counts.compute += slow ? 0 : (guint64) (30 * MS);
    GstStereoEpisodeChange change = gst_stereo_pace_add (&pace, time, &counts);
    begins += change == GST_STEREO_EPISODE_BEGINS;
    ends += change == GST_STEREO_EPISODE_ENDS;
    if (change == GST_STEREO_EPISODE_BEGINS) {
      fail_unless (time >= 13000 * MS && time <= 16000 * MS);
      fail_unless (pace.dropped > 50 && fabs (pace.compute - 30.0 * MS) < 1);
    }
  }
  fail_unless (begins == 1 && ends == 1);
  /* nothing comes out at all: no end */
  pace.stands = TRUE;
  gst_stereo_pace_flush (&pace);
  for (gint64 time = 40000 * MS; time < 60000 * MS; time += 40 * MS)
    fail_unless_equals_int (gst_stereo_pace_add (&pace, time, &counts), GST_STEREO_EPISODE_GOES_ON);
}
GST_END_TEST;

/* A device takes two seconds to start, and sixty pairs are dropped at once; and one pair takes six seconds, so that all
 * others are dropped at once. */
GST_START_TEST (test_pace_at_the_start)
{
  GstStereoPaceCounts counts = { 0, 0, 0 };
  GstStereoPace pace = { 0 };
  guint begins = 0;

  for (gint64 time = 1000 * MS; time < 30000 * MS; time += 33 * MS) {
    fail_unless_equals_int (gst_stereo_pace_add (&pace, time, &counts), GST_STEREO_EPISODE_GOES_ON);
    counts.pairs++;
    counts.late += time == 1066 * MS ? 60 : 0;
  }
  for (gint64 time = 30000 * MS; time < 60000 * MS; time += 6000 * MS) {
    begins += gst_stereo_pace_add (&pace, time, &counts) == GST_STEREO_EPISODE_BEGINS;
    counts.pairs++;
    counts.late += 180;
  }
  fail_unless_equals_int (begins, 1);
}
GST_END_TEST;

/* @each: ns of a pixel, and of a disparity where that counts. */
static void
check_smaller (const GstStereoLoad *load, const GstStereoSmaller *smaller, gboolean counts, gdouble each)
{
  gdouble scale = smaller->width / (gdouble) load->width;
  gint disparities = counts ? smaller->disparities : 1;

  fail_unless (disparities * each * smaller->width * smaller->height <= 0.8001 * load->frame);
  if (!smaller->width)
    return;
  /* the shape is kept, and what was in range is in range */
  fail_unless (scale <= 1 && fabs (smaller->height - scale * load->height) <= 2);
  fail_unless (smaller->disparities >= scale * load->disparities);
}

/* The time of @setting per pixel and disparity, by that of the default. docs/benchmarks.md has these times: on the CPU with 70
 * disparities, on the device with 128; of the default from coarse to fine, and in full. */
static gdouble
measured (const GstStereoLoad *load, const gchar *setting)
{
  static const struct
  {
    const gchar *setting;
    gboolean on_device;
    gdouble time, listed, full, disparities;
  } rows[] = { { "method=sgm paths=4", FALSE, 30.3, 56, 68, 70 }, { "method=bm", FALSE, 24, 56, 68, 70 },
    { "profile=fast", TRUE, 1.61, 1.38, 2.58, 128 }, { "method=bm", TRUE, 1.22, 1.38, 2.58, 128 } };

  for (guint k = 0; k < G_N_ELEMENTS (rows); k++)
    if (g_str_equal (rows[k].setting, setting) && rows[k].on_device == load->on_device) {
      gdouble pixel = load->compute / load->width / load->height;
      return load->listed ? pixel * rows[k].time / rows[k].listed / rows[k].disparities :
                            pixel * rows[k].time / rows[k].full / load->disparities;
    }
  fail ("what takes the time of %s?", setting);
  return 0;
}

/* Whatever is advised takes at most 0.8 of a frame's time. From coarse to fine, fewer disparities save none. */
GST_START_TEST (test_advice)
{
  for (guint k = 0; k < 2000; k++) {
    GstStereoLoad load = { random_range (&generator, 64, 2000), random_range (&generator, 64, 1500),
      random_range (&generator, 16, 512), STEREO_METHOD_ASW, (gint) (k % 5), k % 2, k % 3 == 0,
      random_range (&generator, 1, 1000) * (gdouble) MS, random_range (&generator, 8, 100) * (gdouble) MS };
    gint needed = random_range (&generator, 0, 400);
    GstStereoAdvice advice = gst_stereo_pace_advise (&load, needed);
    gdouble pixel = load.compute / load.width / load.height, each = pixel / load.disparities;
    fail_unless_equals_int (advice.elsewhere, load.compute < 0.85 * load.frame);
    if (advice.elsewhere)
      continue;
    fail_unless (advice.disparities * each * load.width * load.height <= 0.8001 * load.frame);
    fail_unless (!advice.disparities || (!load.listed && advice.disparities >= needed && advice.disparities % 16 == 0));
    check_smaller (&load, &advice.smaller, !load.listed, load.listed ? pixel : each);
    if (advice.setting && advice.with.width)
      check_smaller (&load, &advice.with, TRUE, measured (&load, advice.setting));
    else if (advice.setting)
      fail_unless (
          measured (&load, advice.setting) * load.width * load.height * load.disparities <= 0.8001 * load.frame);
    fail_unless (!advice.setting || advice.setting_time <= 0.8001 * load.frame);
    fail_unless (!advice.setting || (load.profile != STEREO_PROFILE_FAST && load.profile != STEREO_PROFILE_ROAD));
  }
}
GST_END_TEST;

static Suite *
view_faults_suite (void)
{
  Suite *suite = suite_create ("view_faults");
  TCase *cases = tcase_create ("general");

  generator.state = random_seed ();
  suite_add_tcase (suite, cases);
  tcase_add_test (cases, test_look_is_what_it_says);
  tcase_add_test (cases, test_look_at_a_wide_view);
  tcase_add_test (cases, test_doubt);
  tcase_add_test (cases, test_noise_is_no_detail);
  tcase_add_test (cases, test_looks_are_compared);
  tcase_add_test (cases, test_verdicts);
  tcase_add_test (cases, test_verdicts_on_frozen_views);
  tcase_add_test (cases, test_verdicts_on_covers);
  tcase_add_test (cases, test_covered_parts);
  tcase_add_test (cases, test_verdicts_on_covered_parts);
  tcase_add_test (cases, test_verdicts_on_two_blurred_views);
  tcase_add_test (cases, test_two_blurred_views_after_the_start);
  tcase_add_test (cases, test_verdicts_on_frozen_parts);
  tcase_add_test (cases, test_verdicts_on_frozen_columns);
  tcase_add_test (cases, test_verdicts_on_parts_without_evidence);
  tcase_add_test (cases, test_frozen_pair);
  tcase_add_test (cases, test_frozen_pair_lasts);
  tcase_add_test (cases, test_pair_at_disparity_0);
  tcase_add_test (cases, test_some_layers);
  tcase_add_test (cases, test_look_at_a_pair);
  tcase_add_test (cases, test_look_at_a_pair_that_moves);
  tcase_add_test (cases, test_verdicts_know_the_past);
  tcase_add_test (cases, test_episodes);
  tcase_add_test (cases, test_slow_dirt_is_told);
  tcase_add_test (cases, test_range);
  tcase_add_test (cases, test_pace);
  tcase_add_test (cases, test_pace_at_the_start);
  tcase_add_test (cases, test_advice);
  return suite;
}

GST_CHECK_MAIN (view_faults);
