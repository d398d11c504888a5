/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Faults of a view: what their rules make of made figures, and over time. */
#include "tests/support/gst/suite.h"

#include <string.h>

#include "gst/match/diagnose/views/cover.h"
#include "tests/gst/match/diagnose/made.h"

#define MS G_GINT64_CONSTANT (1000000)

static void
judge (GstStereoViewFigures left, GstStereoViewFigures right, GstStereoViewHistory past, GstStereoViewVerdicts verdicts)
{
  const GstStereoViewFigures figures[] = { left, right };
  const GstStereoBlockFigures none = { 0 };
  const GstStereoViewMeasurement measured = { figures, &none, past, FALSE, { FALSE, FALSE } };

  gst_stereo_view_rules_judge (&measured, verdicts);
}

/* What the rules say of @left and @right: a letter for each fault of each view, G, B or U; but for a cover, which is none. */
static void
check_verdicts (GstStereoViewFigures left, GstStereoViewFigures right, gdouble ratio, const gchar *expected)
{
  GstStereoViewVerdicts verdicts;
  gchar found[2 * GST_STEREO_MOST_RULES + 1] = "";
  const GstStereoViewRule *rule;
  guint n = 0;

  judge (left, right, (GstStereoViewHistory){ .ratio = ratio }, verdicts);
  for (guint i = 0; (rule = gst_stereo_view_rule (i)); i++)
    for (guint v = 0; v < 2; v++)
      if (rule->flags[1] && i != ROW (COVERED))
        found[n++] = "UGB"[verdicts[i][v].verdict];
  fail_unless_equals_string (found, expected);
  for (guint v = 0; v < 2; v++)
    fail_unless (verdicts[ROW (COVERED)][v].verdict != BAD);
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
TEST (test_verdicts)
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

TEST (test_verdicts_on_frozen_views)
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

/* A lens that has always been softer is no fault; where it gets softer, it is. */
TEST (test_verdicts_know_the_past)
{
  check_verdicts (scaled (1, 0.7), SOUND, 0.7, "GGGGGGGGGG");
  check_verdicts (scaled (1, 0.4), SOUND, 0.7, "GGGGUGGGGG");
  check_verdicts (scaled (1, 0.34), SOUND, 0.7, "GGGGBGUUUG");
  /* and one that used to be sharper */
  check_verdicts (scaled (1, 0.65), SOUND, 1.4, "GGGGBGUUUG");
  check_verdicts (SOUND, scaled (1, 0.65), 1 / 1.4, "GGGGGBUUGU");
}

/* Covered, and no longer blurred: even all over, while the other view is not. */
TEST (test_verdicts_on_covers)
{
  GstStereoViewFigures covered = scaled (0.5, 0.02), sound = SOUND;
  GstStereoViewVerdicts verdicts;

  sound.contrast = 30;
  for (guint v = 0; v < 2; v++)
    for (covered.contrast = 1; covered.contrast < 40; covered.contrast++) {
      gboolean even = covered.contrast < 8;

      judge (v ? sound : covered, v ? covered : sound, (GstStereoViewHistory){ 0 }, verdicts);
      fail_unless_equals_int (verdicts[ROW (COVERED)][v].verdict, even ? BAD : GOOD);
      fail_unless_equals_int (verdicts[ROW (BLURRED)][v].verdict, even ? UNKNOWN : BAD);
      fail_unless (verdicts[ROW (COVERED)][!v].verdict != BAD);
      fail_unless_equals_int (verdicts[ROW (DARK)][v].verdict, UNKNOWN);
    }
}

/* One part is not enough. What is covered is not frozen, nor is it dark. */
TEST (test_verdicts_on_covered_parts)
{
  GstStereoViewFigures own = SOUND;
  GstStereoViewVerdicts verdicts;

  own.brightness = 10;
  for (guint i = 0; i < GST_STEREO_VIEW_BANDS; i++)
    own.bands[i] = (GstStereoBandFigures){ 0, 0.2, 0.5, 10 };
  for (own.covered = 0; own.covered <= GST_STEREO_COVER_PARTS; own.covered++) {
    judge (SOUND, own, (GstStereoViewHistory){ 0 }, verdicts);
    fail_unless_equals_int (verdicts[ROW (COVERED)][1].verdict,
        own.covered < 1     ? GOOD :
            own.covered < 2 ? UNKNOWN :
                              BAD);
    fail_unless_equals_int (verdicts[ROW (DARK)][1].verdict, own.covered < 2 ? BAD : UNKNOWN);
    if (own.covered >= 2)
      fail_unless_equals_int (verdicts[ROW (FROZEN)][1].verdict, UNKNOWN);
    fail_unless (verdicts[ROW (COVERED)][0].verdict != BAD);
  }
}

/* Both at once: detail that noise could have made, where there is contrast; or a quarter of what both had. */
TEST (test_verdicts_on_two_blurred_views)
{
  GstStereoViewFigures look = SOUND;
  GstStereoViewVerdicts verdicts;

  look.detail = 0.3;
  look.roughness = 2.5;
  look.doubt = 0.07;
  for (look.contrast = 0; look.contrast < 20; look.contrast += 4) {
    judge (look, look, (GstStereoViewHistory){ 0 }, verdicts);
    for (guint v = 0; v < 2; v++)
      fail_unless_equals_int (verdicts[ROW (BLURRED)][v].verdict, look.contrast < 8 ? UNKNOWN : BAD);
  }
  /* rough, for it has texture whose rows have nothing in common */
  look.roughness = 15;
  judge (look, look, (GstStereoViewHistory){ 0 }, verdicts);
  fail_unless_equals_int (verdicts[ROW (BLURRED)][0].verdict, UNKNOWN);
  for (guint i = 1; i < 10; i++) {
    gboolean less = i < 3;
    look = scaled (1, 0.1 * i);
    judge (look, look, (GstStereoViewHistory){ 1, { 0.2, 0.2 } }, verdicts);
    fail_unless_equals_int (verdicts[ROW (BLURRED)][1].verdict, less ? BAD : GOOD);
  }
}

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
  fail_unless_equals_int (verdicts[ROW (FROZEN)][0].verdict, GOOD);
  return verdicts[ROW (FROZEN)][1].verdict;
}

/* Six bands are frozen whatever the others do; two in a row, where more of the others are live. */
TEST (test_verdicts_on_frozen_parts)
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

/* Columns in which no pixel changes while the other view has noise: two strips in a row, where more of the others change. */
TEST (test_verdicts_on_frozen_columns)
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
      fail_unless_equals_int (verdicts[ROW (FROZEN)][0].verdict, GOOD);
      fail_unless_equals_int (verdicts[ROW (FROZEN)][1].verdict,
          !frozen                     ? GOOD :
              frozen < 2 || apart > 1 ? UNKNOWN :
                                        BAD);
    }
}

/* What noise may seem, and what is black or white, is not frozen. */
TEST (test_verdicts_on_parts_without_evidence)
{
  GstStereoViewFigures other = SOUND, own = SOUND;
  GstStereoViewVerdicts verdicts;

  for (guint i = 0; i < GST_STEREO_VIEW_BANDS; i++) {
    other.bands[i] = (GstStereoBandFigures){ 20, i % 2 ? 3 : 0.2, 0.5, 100 };
    own.bands[i] = (GstStereoBandFigures){ 0.5, i % 2 ? 0.2 : 1.1, 0.5, 100 };
  }
  judge (other, own, (GstStereoViewHistory){ 0 }, verdicts);
  fail_unless_equals_int (verdicts[ROW (FROZEN)][1].verdict, GOOD);
  for (guint level = 0; level < 256; level += 15) {
    for (guint i = 0; i < GST_STEREO_VIEW_BANDS; i++)
      own.bands[i] = (GstStereoBandFigures){ 0, 0, 0, level };
    for (guint i = 0; i < GST_STEREO_VIEW_BANDS; i++)
      other.bands[i] = (GstStereoBandFigures){ 0, 0.2, 0.5, level };
    judge (other, own, (GstStereoViewHistory){ 0 }, verdicts);
    fail_unless_equals_int (verdicts[ROW (FROZEN)][1].verdict, level < 20 || level > 235 ? GOOD : BAD);
  }
}

/* The other view comes from an encoder, which keeps most of its pixels to the bit, and lets blocks jump: a view that has noise alone
 * is no evidence that what changes there moves. Where both have the same noise, it is. */
TEST (test_rounded_view)
{
  GstStereoViewFigures own = SOUND, other = SOUND;
  GstStereoViewVerdicts verdicts;

  for (guint percent = 5; percent <= 80; percent += 15) {
    for (guint i = 0; i < GST_STEREO_VIEW_BANDS; i++) {
      own.bands[i] = (GstStereoBandFigures){ 0, 0.2, 0.8, 100 };
      other.bands[i] = (GstStereoBandFigures){ 20, 0.2, percent / 100.0, 100 };
    }
    judge (other, own, (GstStereoViewHistory){ 0 }, verdicts);
    fail_unless_equals_int (verdicts[ROW (FROZEN)][1].verdict, percent <= 50 ? GOOD : BAD);
    fail_unless_equals_int (verdicts[ROW (FROZEN)][0].verdict, GOOD);
  }
}

/* ---- over time ---------------------------------------------------------------------------- */

/* Figures of a look at a view whose bands change by a share of the pixels, and at every fourth by another one. */
static GstStereoViewFigures
look_of (gdouble change, gdouble share, gdouble fourth)
{
  GstStereoViewFigures look = SOUND;

  for (guint i = 0; i < GST_STEREO_VIEW_BANDS; i++)
    look.bands[i] = (GstStereoBandFigures){ change, 0.01, i % 4 ? share : fourth, 100 };
  look.same = share == 0 && fourth == 0;
  look.moved = share / 2;
  return look;
}

/* How many of the @looks find that the right view begins to be frozen; the left one never is. */
static guint
count_frozen (GstStereoViewFaults *views, GstStereoViewFigures left, GstStereoViewFigures right, guint looks)
{
  static gint64 time;
  guint count = 0;

  for (guint i = 0; i < looks; i++) {
    const GstStereoBlockFigures none = { 0 };
    GstStereoViewVerdicts verdicts;

    gst_stereo_view_faults_add (
        views, (GstStereoViewFigures[]){ left, right }, &none, FALSE, time += 100 * MS, verdicts);
    fail_unless (verdicts[ROW (FROZEN)][0].change != GST_STEREO_EPISODE_BEGINS);
    count += verdicts[ROW (FROZEN)][1].change == GST_STEREO_EPISODE_BEGINS;
  }
  return count;
}

/* An encoder repeats a still scene, and codes some parts of it again, or all of them in a key frame. Where the other view moves much, and
 * where the view had the noise of a sensor before, repeated frames are frozen. */
TEST (test_coded_view)
{
  const GstStereoViewFigures noise = look_of (0, 0.8, 0.8), same = look_of (0, 0, 0), parts = look_of (0, 0, 0.1);
  const GstStereoViewFigures moves = look_of (20, 0.9, 0.9), moves_much = look_of (100, 0.9, 0.9);

  for (guint whole = 0; whole < 8; whole++) {
    GstStereoViewFaults views = { 0 };
    fail_unless_equals_int (count_frozen (&views, noise, parts, 1), 0);
    fail_unless_equals_int (count_frozen (&views, noise, same, 20), 0);
    fail_unless_equals_int (count_frozen (&views, noise, parts, 20), 0);
    fail_unless_equals_int (count_frozen (&views, noise, noise, whole), 0);
    fail_unless_equals_int (count_frozen (&views, noise, same, 20), whole >= 5);
  }
  for (guint all = 0; all < 2; all++) {
    GstStereoViewFaults views = { 0 };
    fail_unless_equals_int (count_frozen (&views, noise, parts, 5), 0);
    fail_unless_equals_int (count_frozen (&views, moves, all ? same : parts, 20), 0);
    fail_unless_equals_int (count_frozen (&views, moves_much, all ? same : parts, 20), 1);
  }
}

/* Strips and bands of a view that is not coded are frozen where they are equal; a coded view has such, too. */
TEST (test_coded_parts)
{
  for (guint coded = 0; coded < 2; coded++) {
    const GstStereoViewFigures noise = look_of (0, 0.8, 0.8), parts = look_of (0, 0, 0.1);
    GstStereoViewFigures upper = noise;
    GstStereoViewFaults views = { 0 };

    for (guint i = GST_STEREO_VIEW_BANDS / 2; i < GST_STEREO_VIEW_BANDS; i++)
      upper.bands[i] = (GstStereoBandFigures){ 0, 0, 0, 100 };
    fail_unless_equals_int (count_frozen (&views, noise, coded ? parts : noise, 5), 0);
    fail_unless_equals_int (count_frozen (&views, noise, upper, 20), !coded);
  }
}

/* Both lose their detail at once, two seconds after the start and later: known within a second. Before that, it may be their usual
 * state. */
TEST (test_two_blurred_views_after_the_start)
{
  for (guint sound = 1; sound < 40; sound++) {
    const GstStereoBlockFigures none = { 0 };
    GstStereoViewFaults views = { 0 };
    gboolean found = FALSE;

    for (guint look = 0; look <= sound + 5; look++) {
      GstStereoViewFigures figures = look < sound ? SOUND : scaled (1, 0.2);
      GstStereoViewVerdicts verdicts;

      gst_stereo_view_faults_add (
          &views, (GstStereoViewFigures[]){ figures, figures }, &none, FALSE, look * 200 * MS, verdicts);
      for (guint v = 0; v < 2; v++)
        found = found || verdicts[ROW (BLURRED)][v].change == GST_STEREO_EPISODE_BEGINS;
    }
    fail_unless (sound < 10 || found, "not after %u looks", sound);
    fail_unless (sound > 5 || !found, "after %u looks", sound);
  }
}

/* Sharpness drifts apart by dirt: the past follows, but not for ever. */
TEST (test_slow_dirt_is_told)
{
  const GstStereoBlockFigures none = { 0 };
  GstStereoViewFaults views = { 0 };
  GstStereoViewVerdicts verdicts;
  gint64 time = 0;
  gdouble sharpness = 1;

  for (; sharpness > 0.2; sharpness *= 0.9995, time += 200 * MS) {
    const GstStereoViewFigures looks[] = { SOUND, scaled (1, sharpness) };
    gst_stereo_view_faults_add (&views, looks, &none, FALSE, time, verdicts);
    if (verdicts[ROW (BLURRED)][1].change == GST_STEREO_EPISODE_BEGINS)
      break;
  }
  fail_unless (sharpness > 0.25 && sharpness < 0.5, "told at %f", sharpness);
}

SUITE (view_faults)
{
}
