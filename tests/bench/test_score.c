/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The scores, on maps whose errors the test chose. */
#include <math.h>

#include "stereo/tools/score.h"
#include "tests/support/check.h"

static int
near (double a, double b)
{
  return fabs (a - b) < 1e-9;
}

/* Ten pixels: one unknown, one missing, one off by 3.5 of 100 px (no outlier of D1), one by 3.5 of 10 px, one by 1 px. */
static void
scores_what_was_put_in (void)
{
  float truth[10] = { INFINITY, 5, 100, 10, 10, 10, 10, 10, 10, 10 };
  float map[10] = { 3, NAN, 103.5f, 13.5f, 11, 10, 10, 10, 10, 10 };
  uint8_t mask[10] = { 255, 255, 255, 255, 255, 0, 0, 0, 0, 128 };
  Scene scene = { .left = { .width = 5, .height = 2 }, .truth = truth };
  ScoreLevels levels = { 2, { 1, 3 } };

  Score all = score_map (&scene, map, NULL, &levels), seen = score_map (&scene, map, mask, &levels);
  CHECK (all.pixels == 9 && all.kept == 8, "%d pixels, %d kept", all.pixels, all.kept);
  CHECK (near (all.bad[0], 300.0 / 9) && near (all.bad[1], 300.0 / 9) && near (all.d1, 200.0 / 9), "%g %g %g",
      all.bad[0], all.bad[1], all.d1);
  CHECK (near (all.kept_bad[0], 25) && near (all.kept_d1, 12.5) && near (all.density, 800.0 / 9), "%g %g %g",
      all.kept_bad[0], all.kept_d1, all.density);
  CHECK (near (all.average_error, 1), "%g", all.average_error);
  scene.truth = NULL;
  CHECK (!score_map (&scene, map, NULL, &levels).pixels, "scored without a truth");
  CHECK (seen.pixels == 4 && near (seen.d1, 50) && near (seen.kept_d1, 100.0 / 3), "%d %g %g", seen.pixels, seen.d1,
      seen.kept_d1);
}

/* A hundred pixels, ten of them wrong. */
static void
orders_that_are_known (void)
{
  float truth[100], map[100];
  uint8_t confidence[100], mask[100];
  Scene scene = { .left = { .width = 20, .height = 5 }, .truth = truth };
  double best = 0.1 + 0.9 * log (0.9), area = 0;

  for (int k = 0; k < 100; k++) {
    truth[k] = 20;
    map[k] = k % 10 ? 20 : k % 20 ? NAN : 24;
    mask[k] = 255;
  }
  /* nothing is known: on average a tenth is wrong, however many are kept */
  for (int k = 0; k < 100; k++)
    confidence[k] = 77;
  ConfidenceScore s = score_confidence (&scene, map, confidence, mask);
  CHECK (s.pixels == 100 && near (s.area, 0.1) && near (s.best, best), "%d %g %g", s.pixels, s.area, s.best);
  CHECK (s.count[3] == 95 && near (s.stated[3], 77 / 255.0) && near (s.right[3], 90.0 / 95), "%d %g %g", s.count[3],
      s.stated[3], s.right[3]);
  /* the best order: wrong ones only among the last tenth */
  for (int k = 0; k < 100; k++)
    confidence[k] = k % 10 ? 200 : 3;
  s = score_confidence (&scene, map, confidence, NULL);
  area = (5.0 / 95 + 10.0 / 100) / 20;
  CHECK (near (s.area, area) && near (s.best, best), "%g, %g", s.area, s.best);
  CHECK (
      s.count[0] == 5 && s.right[0] == 0 && s.count[7] == 90 && near (s.right[7], 1), "%d %g", s.count[0], s.right[7]);
  /* the worst */
  for (int k = 0; k < 100; k++)
    confidence[k] = k % 10 ? 3 : 200;
  area = 0;
  for (int k = 1; k <= 20; k++)
    area += (k < 2 ? 1.0 : 10.0 / (5 * k)) / 20;
  s = score_confidence (&scene, map, confidence, NULL);
  CHECK (near (s.area, area), "%g instead of %g", s.area, area);
  scene.truth = NULL;
  CHECK (!score_confidence (&scene, map, confidence, NULL).pixels, "sure of a scene without a truth");
}

int
main (int argc, char **argv)
{
  check_start (argc, argv);
  check_case ("scores", scores_what_was_put_in);
  check_case ("confidence", orders_that_are_known);
  return check_finish ();
}
