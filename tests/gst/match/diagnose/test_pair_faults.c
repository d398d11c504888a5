/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Faults of both views together: what their rules make of made figures, over time. */
#include "tests/support/gst/suite.h"

#include "tests/gst/match/diagnose/compressed.h"
#include "tests/gst/match/diagnose/made.h"
#include "tests/support/gst/util.h"

#define MS G_GINT64_CONSTANT (1000000)
#define BOTH_FROZEN (GST_STEREO_HEALTH_FROZEN_LEFT | GST_STEREO_HEALTH_FROZEN_RIGHT)

/* The fault that ten looks 100 ms apart lead to; GST_STEREO_HEALTH_OK: none. */
static GstStereoHealthFlags
pair_fault (GstStereoViewFaults *views, GstStereoViewFigures look, GstStereoBlockFigures pair, gboolean live)
{
  const GstStereoViewFigures looks[] = { look, look };
  GstStereoHealthFlags found = GST_STEREO_HEALTH_OK;
  const GstStereoViewRule *rule;

  for (gint64 time = 0; time <= 1000 * MS; time += 100 * MS) {
    GstStereoViewVerdicts verdicts;

    gst_stereo_view_faults_add (views, looks, &pair, live, time, verdicts);
    for (guint i = 0; (rule = gst_stereo_view_rule (i)); i++)
      if (!rule->flags[1] && verdicts[i][0].change == GST_STEREO_EPISODE_BEGINS) {
        fail_unless_equals_int (found, GST_STEREO_HEALTH_OK);
        found = rule->flags[0];
      }
  }
  return found;
}

/* Frames that are all the same: of a sensor a fault; of a file, only if they changed before; of a black view it tells nothing. */
TEST (test_frozen_pair)
{
  GstStereoViewFigures still = SOUND, moving = SOUND;
  GstStereoBlockFigures none = { 0 };
  GstStereoViewFaults views = { 0 };

  still.same = TRUE;
  still.moved = 0;
  fail_unless_equals_int (pair_fault (&views, still, none, FALSE), GST_STEREO_HEALTH_STILL);
  views = (GstStereoViewFaults){ 0 };
  fail_unless_equals_int (pair_fault (&views, still, none, TRUE), BOTH_FROZEN);
  views = (GstStereoViewFaults){ 0 };
  fail_unless_equals_int (pair_fault (&views, moving, none, FALSE), GST_STEREO_HEALTH_OK);
  fail_unless_equals_int (pair_fault (&views, still, none, FALSE), BOTH_FROZEN);
  views = (GstStereoViewFaults){ 0 };
  still.black = 1;
  fail_unless_equals_int (pair_fault (&views, still, none, TRUE), GST_STEREO_HEALTH_OK);
}

/* Encoders repeat a still scene for seconds. What comes from them shows in parts that they code again. */
TEST (test_coded_pair)
{
  for (guint v = 0; v < 2; v++) {
    GstStereoViewFigures looks[] = { SOUND, SOUND }, still = SOUND;
    GstStereoBlockFigures none = { 0 };
    GstStereoViewFaults views = { 0 };
    GstStereoViewVerdicts verdicts;

    looks[v].bands[3] = (GstStereoBandFigures){ 0, 0.01, 0.1, 100 };
    still.same = TRUE;
    gst_stereo_view_faults_add (&views, looks, &none, TRUE, 0, verdicts);
    fail_unless_equals_int (pair_fault (&views, still, none, TRUE), GST_STEREO_HEALTH_OK);
  }
}

/* An encoder repeats a still scene for half a second; one view alone is frozen after less. */
TEST (test_frozen_pair_lasts)
{
  for (gint64 last = 300 * MS; last <= 900 * MS; last += 100 * MS) {
    GstStereoViewFigures still = SOUND;
    GstStereoBlockFigures none = { 0 };
    GstStereoViewFaults views = { 0 };
    gboolean found = FALSE;

    still.same = TRUE;
    for (gint64 time = 0; time <= last; time += 100 * MS) {
      GstStereoViewVerdicts verdicts;
      gst_stereo_view_faults_add (&views, (GstStereoViewFigures[]){ still, still }, &none, TRUE, time, verdicts);
      found = found || verdicts[row_of (BOTH_FROZEN)][0].change == GST_STEREO_EPISODE_BEGINS;
    }
    fail_unless (found == (last >= 600 * MS), "after %d ms", (gint) (last / MS));
  }
}

/* Without detail, or with no more than noise gives by chance, and even all over. */
TEST (test_blank_pair)
{
  const GstStereoBlockFigures none = { 0 };

  for (guint i = 0; i < 16; i++) {
    GstStereoViewFigures look = SOUND, other;
    GstStereoViewFaults views = { 0 };
    GstStereoViewVerdicts verdicts;
    gboolean even = i & 1, detail = i & 2, noise = i & 4, one = i & 8;

    look.contrast = even ? 7 : 12;
    look.detail = detail || noise ? 3 : 1;
    look.doubt = noise ? 4 : 0.1;
    look.sharpness = look.detail / look.brightness;
    look.roughness = 20;
    other = look;
    if (one)
      other.contrast = 30;
    for (gint64 time = 0; time <= 1000 * MS; time += 100 * MS)
      gst_stereo_view_faults_add (&views, (GstStereoViewFigures[]){ look, other }, &none, TRUE, time, verdicts);
    fail_unless (views.episodes[row_of (GST_STEREO_HEALTH_BLANK)][0].stands == (even && !one && (!detail || noise)),
        "case %u", i);
  }
}

TEST (test_pair_at_disparity_0)
{
  static const struct
  {
    GstStereoBlockFigures look;
    GstStereoHealthFlags fault;
  } cases[] = { { { 100, 80, 0.001, 0, 0 }, GST_STEREO_HEALTH_SAME_VIEW },
    { { 100, 80, 0.1, 0, 0 }, GST_STEREO_HEALTH_STILL_PATTERN }, { { 100, 50, 0.001, 0, 0 }, GST_STEREO_HEALTH_OK },
    { { 11, 11, 0.001, 0, 0 }, GST_STEREO_HEALTH_OK }, { { 100, 5, 0, 40, 11 }, GST_STEREO_HEALTH_STILL_PATTERN },
    { { 100, 5, 0, 40, 8 }, GST_STEREO_HEALTH_OK }, { { 100, 5, 0, 7, 3 }, GST_STEREO_HEALTH_OK },
    { { 100, 5, 0, 0, 0, 13 }, GST_STEREO_HEALTH_STILL_PATTERN }, { { 100, 5, 0, 0, 0, 11 }, GST_STEREO_HEALTH_OK },
    { { 100, 5, 0, 40, 2, 13 }, GST_STEREO_HEALTH_STILL_PATTERN },
    { { 100, 5, 0, 40, 11, 0 }, GST_STEREO_HEALTH_STILL_PATTERN }, { { 11, 0, 0, 0, 0, 11 }, GST_STEREO_HEALTH_OK },
    { { 20, 0, 0, 0, 0, 7 }, GST_STEREO_HEALTH_OK }, { { 100, 5, 0, 40, 11, 13, TRUE }, GST_STEREO_HEALTH_OK },
    { { 100, 80, 0.001, 0, 0, 0, TRUE }, GST_STEREO_HEALTH_SAME_VIEW } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstStereoViewFaults views = { 0 };
    fail_unless (pair_fault (&views, SOUND, cases[i].look, TRUE) == cases[i].fault, "case %u", i);
  }
}

/* A pattern that weakens leaves some layers for a while: no evidence that it has gone. */
TEST (test_some_layers)
{
  const GstStereoViewFigures looks[] = { SOUND, SOUND };
  const GstStereoBlockFigures many = { 100, 5, 0, 40, 2, 30 }, some = { 100, 5, 0, 40, 2, 10 },
                              none = { 100, 5, 0, 40, 2, 2 };
  const GstStereoBlockFigures *const after[] = { &some, &none };
  GstStereoViewVerdicts verdicts;

  for (guint i = 0; i < G_N_ELEMENTS (after); i++) {
    GstStereoViewFaults views = { 0 };
    fail_unless_equals_int (pair_fault (&views, SOUND, many, TRUE), GST_STEREO_HEALTH_STILL_PATTERN);
    for (gint64 k = 0; k < 7; k++)
      gst_stereo_view_faults_add (&views, looks, after[i], TRUE, 1100 * MS + 100 * MS * k, verdicts);
    fail_unless (views.episodes[row_of (GST_STEREO_HEALTH_STILL_PATTERN)][0].stands == !i, "case %u", i);
  }
}

/* Views that JPEG has rounded have steps between its blocks, if both come from it and it rounds coarsely. A pattern of cells of 6 pixels, the
 * last case, has others. */
TEST (test_steps_of_an_encoder)
{
  static const gint qualities[][2] = { { 0, 0 }, { 0, 3 }, { 10, 0 }, { 50, 0 }, { 10, 10 }, { 3, 10 }, { 3, 3 },
    { 0, 0 } };
  enum
  {
    WIDTH = 480,
    HEIGHT = 160
  };

  for (guint i = 0; i < G_N_ELEMENTS (qualities); i++) {
    GstStereoViewReader *viewers[2];
    GstStereoBlockFigures pair;
    GstStereoViewFigures look;

    for (guint v = 0; v < 2; v++) {
      g_autofree guint8 *pixels = g_malloc (WIDTH * HEIGHT);
      StereoImage image = { pixels, WIDTH, 1, 1, { 0 }, STEREO_MEMORY_HOST };

      for (gint y = 0; y < HEIGHT; y++)
        for (gint x = 0; x < WIDTH; x++)
          pixels[y * WIDTH + x] = i == 7 ? texture (9, x / 6, y / 6) : (guint8) surface (3, x + 20 * v, y);
      if (qualities[i][v])
        compress_view (pixels, WIDTH, WIDTH, HEIGHT, qualities[i][v]);
      viewers[v] = gst_stereo_view_reader_new (WIDTH, HEIGHT);
      gst_stereo_view_reader_read (viewers[v], &image, 0, 255, 0, WIDTH, &look);
    }
    gst_stereo_blocks_compare ((const GstStereoViewReader *const[]){ viewers[0], viewers[1] }, WIDTH, 3, &pair);
    fail_unless (pair.steps == (i >= 4 && i < 7), "qualities %d and %d", qualities[i][0], qualities[i][1]);
    for (guint v = 0; v < 2; v++)
      gst_stereo_view_reader_free (viewers[v]);
  }
}

SUITE (pair_faults)
{
}
