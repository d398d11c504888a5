/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Rows of a view that show an earlier moment, from made matches: found within some looks, in the right view; and never where no
 * earlier frame matches better. And the frames that are kept. */
#include <string.h>

#include "gst/match/diagnose/stale.h"
#include "tests/support/random.h"
#include "tests/support/gst/suite.h"

#define BANDS GST_STEREO_PAIR_BANDS
#define AGES GST_STEREO_STALE_AGES
#define GOOD GST_STEREO_VERDICT_GOOD
#define BAD GST_STEREO_VERDICT_BAD
#define UNKNOWN GST_STEREO_VERDICT_UNKNOWN
#define TURNS 100

static Random generator;

/* Of 25 points of each band, each is found with that probability. */
static GstStereoPairMatches
find (const gdouble *probability)
{
  GstStereoPairMatches matches = { 0 };

  for (guint band = 0; band < BANDS; band++)
    for (guint point = 0; point < 25; point++) {
      matches.points_of[band]++;
      matches.matches_of[band] += random_unit (&generator) < probability[band];
    }
  return matches;
}

typedef struct
{
  gdouble usual[BANDS], now[BANDS]; /* probabilities that a point is found */
  gdouble earlier[2][AGES][BANDS];  /* in earlier frames of the view other than this one */
} Scene;

static void
set (gdouble *probability, guint from, guint to, gdouble value)
{
  for (guint band = from; band < to; band++)
    probability[band] = value;
}

/* A drive: what is lower moves more, so that its earlier frames match less. */
static Scene
drive (void)
{
  Scene scene;

  for (guint band = 0; band < BANDS; band++) {
    gdouble share = 0.5 + 0.4 * random_unit (&generator);
    scene.usual[band] = scene.now[band] = share;
    for (guint v = 0; v < 2; v++)
      for (guint age = 0; age < AGES; age++)
        scene.earlier[v][age][band] = share * (1 - 0.3 * random_unit (&generator) - 0.7 * band / BANDS);
  }
  return scene;
}

static GstStereoVerdict
look (GstStereoStale *stale, const Scene *scene, const gdouble *probability)
{
  GstStereoPairMatches now = find (probability), earlier[2][AGES];

  if (!gst_stereo_stale_add (stale, &now))
    return GOOD;
  for (guint v = 0; v < 2; v++)
    for (guint age = 0; age < AGES; age++)
      earlier[v][age] = find (scene->earlier[v][age]);
  return gst_stereo_stale_judge (stale, &now, earlier, AGES);
}

/* From the start and after sound looks, each view, either age: found after few looks, and over soon after its end. */
TEST (test_stale_rows)
{
  for (guint turn = 0; turn < TURNS; turn++) {
    guint from = (guint) random_range (&generator, 3, 5), to = (guint) random_range (&generator, (gint) from + 2, BANDS);
    guint v = turn % 2, age = turn / 2 % AGES, begin = turn % 3 ? 20 : 0, count = 0;
    GstStereoVerdict verdict = UNKNOWN;
    GstStereoStale stale = { 0 };
    Scene scene = drive ();

    set (scene.now, from, to, 0.1);
    for (guint other = 0; other < 2 * AGES; other++)
      set (scene.earlier[other / AGES][other % AGES], from, to, 0.1);
    set (scene.earlier[v][age], from, to, 0.7);
    set (scene.earlier[v][age], 0, from, 0.1);
    for (guint i = 0; i < begin; i++)
      fail_unless (look (&stale, &scene, scene.usual) != BAD);
    while (verdict != BAD && count++ < 6)
      verdict = look (&stale, &scene, scene.now);
    fail_unless (verdict == BAD && count >= 2, "turn %u: after %u looks", turn, count);
    fail_unless_equals_int (gst_stereo_stale_get_view (&stale), v);
    for (guint i = 0; i < 6; i++)
      verdict = look (&stale, &scene, scene.usual);
    fail_unless (verdict != BAD);
    gst_stereo_stale_clear (&stale);
  }
}

/* Neither of a drive, nor of a scene that stands still, nor of one whose lower half loses its texture, where chance matches a
 * twentieth: fog under noise has no more. That state becomes usual
 * soon. */
TEST (test_sound_rows)
{
  for (guint turn = 0; turn < TURNS; turn++) {
    GstStereoStale stale = { 0 };
    Scene scene = drive ();
    guint compared = 0;

    if (turn % 2)
      for (guint v = 0; v < 2; v++)
        for (guint age = 0; age < AGES; age++)
          memcpy (scene.earlier[v][age], scene.usual, sizeof scene.usual);
    for (guint i = 0; i < 60; i++)
      fail_unless (look (&stale, &scene, scene.usual) != BAD, "turn %u, look %u", turn, i);
    set (scene.now, BANDS / 2, BANDS, 0.05);
    for (guint v = 0; v < 2; v++)
      for (guint age = 0; age < AGES; age++)
        set (scene.earlier[v][age], BANDS / 2, BANDS, 0.05);
    for (guint i = 0; i < 60; i++) {
      fail_unless (look (&stale, &scene, scene.now) != BAD, "turn %u, look %u without texture", turn, i);
      compared += stale.lacks;
    }
    fail_unless (compared < 30, "turn %u: %u looks", turn, compared);
    gst_stereo_stale_clear (&stale);
  }
}

/* Neither one look is enough nor two that others part; four that find less are. What explains little is chance. */
TEST (test_looks_add_up)
{
  static const struct
  {
    guint found[8]; /* by an earlier frame: 4 are found now, so that up to 6 + 5 are chance; 0: the row ends */
    GstStereoVerdict verdict;
  } cases[] = { { { 25 }, UNKNOWN }, { { 25, 25 }, BAD }, { { 25, 6, 6, 25 }, UNKNOWN }, { { 15, 15, 15 }, UNKNOWN },
    { { 15, 15, 15, 15 }, BAD }, { { 12, 12, 12, 12, 12, 12, 12, 12 }, UNKNOWN }, { { 11 }, GOOD },
    { { 25, 11, 11 }, GOOD } };
  GstStereoPairMatches now = { .points_of = { 25 }, .matches_of = { 4 } }, usual = { .points_of = { 25 } };

  usual.matches_of[0] = 20;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstStereoPairMatches earlier[2][AGES] = { { { 0 } } };
    GstStereoVerdict verdict = UNKNOWN;
    GstStereoStale stale = { 0 };

    for (guint k = 0; k < 10; k++)
      gst_stereo_stale_add (&stale, &usual);
    for (guint k = 0; k < 8 && cases[i].found[k]; k++) {
      fail_unless (gst_stereo_stale_add (&stale, &now));
      earlier[1][1].matches_of[0] = cases[i].found[k];
      verdict = gst_stereo_stale_judge (&stale, &now, earlier, AGES);
    }
    fail_unless_equals_int (verdict, cases[i].verdict);
    /* fewer frames show neither the one nor the other */
    gst_stereo_stale_add (&stale, &now);
    earlier[1][1].matches_of[0] = 6;
    fail_unless_equals_int (gst_stereo_stale_judge (&stale, &now, earlier, 1), UNKNOWN);
  }
}

/* The last frames are kept, the last one first, whatever their rows. */
TEST (test_kept_frames)
{
  enum
  {
    WIDTH = 7,
    HEIGHT = 5,
    STRIDE = 29
  };
  GstStereoStale stale = { 0 };
  guint8 pixels[6][2][HEIGHT * STRIDE];

  for (guint i = 0; i < sizeof pixels; i++)
    ((guint8 *) pixels)[i] = (guint8) random_next (&generator);
  for (guint i = 0; i < 6; i++) {
    gint step = i < 3 ? 3 : 1;
    StereoImage images[2];
    for (guint v = 0; v < 2; v++)
      images[v] = (StereoImage){ pixels[i][v], STRIDE, step, step == 3 ? 3 : 1, { 2, 1, 0 }, STEREO_MEMORY_HOST };
    gst_stereo_stale_keep (&stale, images, WIDTH, HEIGHT);
    fail_unless_equals_uint64 (stale.kept, MIN (i + 1, AGES));
    for (guint age = 0; age < stale.kept; age++)
      for (guint v = 0; v < 2; v++) {
        const StereoImage *image = &stale.earlier[age][v].image;
        fail_unless_equals_int (image->channels, i - age < 3 ? 3 : 1);
        for (gint y = 0; y < HEIGHT; y++)
          fail_unless (!memcmp (
              image->data + y * image->stride, pixels[i - age][v] + y * STRIDE, (gsize) (WIDTH * image->pixel_stride)));
      }
  }
  gst_stereo_stale_forget (&stale);
  fail_unless_equals_uint64 (stale.kept, 0);
  gst_stereo_stale_clear (&stale);
}

/* Of two views that change, by noise and by a texture that moves, one does not move in some rows: it is frozen. */
TEST (test_frozen_rows_are_not_late)
{
  enum
  {
    WIDTH = 160,
    HEIGHT = 96
  };
  static guint8 pixels[2][2][HEIGHT][WIDTH];

  for (guint turn = 0; turn < TURNS; turn++) {
    gint noise = random_range (&generator, 0, 4), from = random_range (&generator, 0, HEIGHT / 2);
    gint to = turn % 2 ? from + HEIGHT / 3 : from;
    guint frozen = turn / 2 % 2;
    GstStereoStale stale = { 0 };
    StereoImage images[2][2];

    for (guint frame = 0; frame < 2; frame++)
      for (guint v = 0; v < 2; v++) {
        images[frame][v] = (StereoImage){ &pixels[frame][v][0][0], WIDTH, 1, 1, { 0 }, STEREO_MEMORY_HOST };
        for (gint y = 0; y < HEIGHT; y++)
          for (gint x = 0; x < WIDTH; x++) {
            gint moment = v == frozen && y >= from && y < to ? 0 : (gint) frame;
            gint level = 60 + (x + 3 * moment) / 4 * 37 % 101 + random_range (&generator, -noise, noise);
            pixels[frame][v][y][x] = (guint8) level;
          }
      }
    fail_unless (!gst_stereo_stale_is_frozen (&stale, images[1], WIDTH, HEIGHT, frozen));
    gst_stereo_stale_keep (&stale, images[0], WIDTH, HEIGHT);
    fail_unless_equals_int (gst_stereo_stale_is_frozen (&stale, images[1], WIDTH, HEIGHT, frozen), turn % 2);
    fail_unless (!gst_stereo_stale_is_frozen (&stale, images[1], WIDTH, HEIGHT, !frozen));
    gst_stereo_stale_clear (&stale);
  }
}

SUITE (stale)
{
  generator = (Random){ .state = random_seed () };
}
