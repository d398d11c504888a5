/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is measured in both views: the figures of each, covered parts, and blocks of both. */
#include "tests/support/gst/suite.h"

#include <math.h>

#include "gst/match/diagnose/views/cover.h"
#include "tests/gst/match/diagnose/made.h"
#include "tests/support/gst/util.h"

/* ---- a view ------------------------------------------------------------------------------ */

static gdouble
bend_of (const View *view, gint x, gint y)
{
  return 2 * *view_sample (view, x, y) - *view_sample (view, x - 2, y) - *view_sample (view, x + 2, y);
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
      gint sample = *view_sample (view, x, y);
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

TEST (test_look_is_what_it_says)
{
  for (guint k = 0; k < 60; k++) {
    g_auto (View) view = view_new (random_range (&generator, 16, 300), random_range (&generator, 8, 120));
    g_autoptr (GstStereoViewReader) viewer = gst_stereo_view_reader_new (view.width, view.height);
    gint offset = k % 2 ? 16 : 0, scale = k % 2 ? 219 : 255;
    GstStereoViewFigures expected, look;
    /* from all black over texture to all white */
    for (gint y = 0; y < view.height; y++)
      for (gint x = 0; x < view.width; x++)
        *view_sample (&view, x, y) = (guint8) CLAMP ((gint) (k * 6) - 60 + texture (k, x, y / 3) / 2, 0, 255);
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
  }
  fail_unless (gst_stereo_view_reader_new (15, 100) == NULL && gst_stereo_view_reader_new (100, 7) == NULL);
}

/* The widest view, and the largest sums: all differences as large as they can be. */
TEST (test_look_at_a_wide_view)
{
  gint width = 32768, height = 9;
  g_auto (View) view = { width, height, g_malloc ((gsize) width * (gsize) height) };
  g_autoptr (GstStereoViewReader) viewer = gst_stereo_view_reader_new (width, height);
  GstStereoViewFigures look;

  view.image = (StereoImage){ view.memory, width, 1, 1, { 0 }, STEREO_MEMORY_HOST };
  for (gint i = 0; i < width * height; i++)
    view.memory[i] = i % width / 2 % 2 ? 255 : 0;
  gst_stereo_view_reader_read (viewer, &view.image, 0, 255, 0, view.width, &look);
  check_close (look.detail, 510, "detail");
  check_close (look.brightness, 127.5, "brightness");
  check_close (look.white, 0.5, "white");
}

static GstStereoViewFigures
look_with_noise (gdouble contrast, gdouble noise)
{
  g_auto (View) view = view_new (640, 200);
  g_autoptr (GstStereoViewReader) viewer = gst_stereo_view_reader_new (640, 200);
  GstStereoViewFigures look;

  for (gint y = 0; y < 200; y++)
    for (gint x = 0; x < 640; x++)
      *view_sample (&view, x, y) = (guint8) CLAMP (
          128 + contrast * (texture (3, x / 3, y / 6) - 128) + noise * gauss () + 0.5, 0, 255);
  gst_stereo_view_reader_read (viewer, &view.image, 0, 255, 0, view.width, &look);
  return look;
}

/* What noise gives by chance is as often above one standard deviation as it should be, and never above six. */
TEST (test_doubt)
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

/* Noise makes no detail where there is none, and changes little where there is. */
TEST (test_noise_is_no_detail)
{
  gdouble clean = look_with_noise (0.3, 0).detail, noisy = look_with_noise (0.3, 8).detail;

  fail_unless (look_with_noise (0, 8).detail < 4, "noise of 8: detail of %f", look_with_noise (0, 8).detail);
  fail_unless (fabs (noisy / clean - 1) < 0.05, "detail of %f, with noise %f", clean, noisy);
}

TEST (test_looks_are_compared)
{
  g_auto (View) view = view_new (100, 66);
  g_autoptr (GstStereoViewReader) viewer = gst_stereo_view_reader_new (100, 66);
  GstStereoViewFigures look;
  gint row = 64 / 32 / 2; /* the first one that is read */

  for (gint y = 0; y < 66; y++)
    for (gint x = 0; x < 100; x++)
      *view_sample (&view, x, y) = texture (1, x, y) / 2 + 20;
  gst_stereo_view_reader_read (viewer, &view.image, 0, 255, 0, view.width, &look);
  fail_if (look.compared || look.same);
  gst_stereo_view_reader_read (viewer, &view.image, 0, 255, 0, view.width, &look);
  fail_unless (look.compared && look.same && look.moved == 0);
  /* by two levels: not the same, and it does not count as movement */
  *view_sample (&view, 99, row) += 2;
  gst_stereo_view_reader_read (viewer, &view.image, 0, 255, 0, view.width, &look);
  fail_unless (look.compared && !look.same && look.moved == 0);
  *view_sample (&view, 99, row) += 3;
  gst_stereo_view_reader_read (viewer, &view.image, 0, 255, 0, view.width, &look);
  fail_unless (!look.same);
  check_close (look.moved, 1 / 3200.0, "moved");
  gst_stereo_view_reader_forget (viewer);
  gst_stereo_view_reader_read (viewer, &view.image, 0, 255, 0, view.width, &look);
  fail_if (look.compared || look.same);
}

/* ---- covered parts ------------------------------------------------------------------------ */

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
        *view_sample (&views[v], x, y) = (guint8) (level + random_range (&generator, -3, 3));
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
TEST (test_covered_parts)
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
          *view_sample (&views[right], x, y) = (guint8) (30 + random_range (&generator, -3, 3));
    } else {
      /* columns that the other view sees whatever their disparity, with what is lost of runs */
      gint unseen = disparity + 48;
      at = random_range (&generator, 0, width - part - unseen) + (right ? 0 : unseen);
      for (gint y = 0; y < height; y++)
        for (gint x = at; x < at + part; x++)
          *view_sample (&views[right], x, y) = (guint8) (30 + random_range (&generator, -3, 3));
    }
    measure_cover (views, disparity, covered);
    fail_unless (
        covered[right] >= 2 && covered[right] <= 5 && !covered[!right], "pair %u: %u, %u", k, covered[0], covered[1]);
    view_clear (&views[0]);
    view_clear (&views[1]);
  }
}

/* ---- blocks ------------------------------------------------------------------------------- */

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
        level = (1 - share) * level + share * *view_sample (other, x, y);
      level = gain * level + noise * gauss () + 0.5; /* CLAMP() takes its argument twice, and each time another noise */
      *view_sample (view, x, y) = (guint8) CLAMP (level, 0, 255);
    }
}

/* One scene in both views, at no disparity or at one; with a gain and noise; or two scenes behind one pattern, which has most of the
 * light or a small part of it. */
TEST (test_look_at_a_pair)
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
    View views[2] = { view_new (800, 200), view_new (800, 200) };
    g_auto (View) pattern = view_new (800, 200);
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
    fail_unless (cases[i].layered ? pair.layered > 0.2 * pair.textured : pair.layered < 0.05 * pair.textured,
        "case %u: %u of %u blocks in layers", i, pair.layered, pair.textured);
    for (guint v = 0; v < 2; v++) {
      gst_stereo_view_reader_free (viewers[v]);
      view_clear (&views[v]);
    }
  }
}

/* A third of the rows of a view, which what is painted into it changes. */
static View
third_of (const View *view, gint third)
{
  View part = *view;

  part.height /= 3;
  part.image.data += (gssize) third * part.height * view->image.stride;
  return part;
}

/* Posts stand before something that lies nearly, but not quite, at disparity 0: all over the view, or in two thirds of it. They make two
 * layers, and no pattern. In the middle third, it lies at 0. */
TEST (test_posts_before_what_is_far)
{
  for (guint k = 0; k < 10; k++) {
    View views[2] = { view_new (800, 198), view_new (800, 198) };
    gdouble far = draw (0.4, 0.45), all = k % 2;
    const gdouble disparities[] = { all ? far : -2 * far, all ? far : 0, all ? far : 2 * far };
    GstStereoViewReader *viewers[2];
    GstStereoBlockFigures pair;
    GstStereoViewFigures look;

    for (guint v = 0; v < 2; v++) {
      for (gint third = 0; third < 3; third++) {
        View part = third_of (&views[v], third);
        paint (&part, 5, v ? 60 - disparities[third] : 60, 1, 2, NULL, 0);
      }
      for (gint first = 20; first < 760; first += 5 * POLE)
        for (gint y = 0; y < views[v].height; y++)
          for (gint x = first; x < first + POLE; x++)
            *view_sample (&views[v], v ? x - 16 : x, y) = (guint8) (texture (8, x / 3, y / 6) / 2 + 60);
      viewers[v] = gst_stereo_view_reader_new (800, 198);
      gst_stereo_view_reader_read (viewers[v], &views[v].image, 0, 255, 0, 800, &look);
    }
    gst_stereo_blocks_compare ((const GstStereoViewReader *const[]){ viewers[0], viewers[1] }, 800, 3, &pair);
    fail_unless (pair.textured > 60 && pair.layered <= (all ? 0 : 0.5 * pair.textured), "%s, %f px: %u of %u blocks",
        all ? "all" : "two thirds", far, pair.layered, pair.textured);
    for (guint v = 0; v < 2; v++) {
      gst_stereo_view_reader_free (viewers[v]);
      view_clear (&views[v]);
    }
  }
}

/* A smooth pole from column @first on. */
static void
paint_pole (const View *view, gint first)
{
  for (gint y = 0; y < view->height; y++)
    for (gint x = first; x < first + POLE; x++)
      *view_sample (view, x, y) = 160;
}

/* Something moves behind a pattern on both lenses, which is nearly half of the light, or before what lies far away. */
TEST (test_look_at_a_pair_that_moves)
{
  static const struct
  {
    gdouble share;  /* of the pattern */
    gboolean poles; /* move before it, and nothing behind */
    gboolean still;
  } cases[] = { { 0.45, FALSE, TRUE }, { 0, FALSE, FALSE }, { 1, TRUE, FALSE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    View views[2] = { view_new (400, 200), view_new (400, 200) };
    g_auto (View) pattern = view_new (400, 200);
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
      view_clear (&views[v]);
    }
  }
}

SUITE (view_figures)
{
  generator.state = random_seed ();
}
