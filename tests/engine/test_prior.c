/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a frame predicts for the next one. Where a place is expected next is checked the other way round: the motion, as the equations
 * at the head of exact/motion.h have it, leads from there back to the place.
 */
#include <math.h>

#include "stereo/exact/prior.h"
#include "tests/support/check.h"
#include "tests/support/random.h"

enum
{
  PLACES = 20000
};

/* px. The way is at most 110 px: 60 as the picture grows, 14 of a turn, 12 of rolling, 12 of moving aside, and what these make of each
 * other. A round leaves at most an eighth of it, for all these change by as much from a place to one that is a pixel away. */
#define BACK (110.0 / (8 * 8 * 8))

static double
either_way (Random *random, double most)
{
  return most * (2 * random_unit (random) - 1);
}

/* Cameras of a vehicle: angles of up to a fiftieth, which at a focal length of 700 px are 14 px, and a way that lets what is at 60 px
 * of disparity grow by a tenth. */
static StereoMotion
draw_motion (Random *random)
{
  StereoMotion m = { 0 };
  double focal = 700, up = either_way (random, 0.02), aside = either_way (random, 0.02);

  m.p = (float) (up * focal);
  m.tilt = (float) (up / focal);
  m.q = (float) (aside * focal);
  m.pan = (float) (aside / focal);
  m.roll = (float) either_way (random, 0.02);
  m.tx = (float) either_way (random, 0.2);
  m.ty = (float) either_way (random, 0.2);
  m.tz = (float) either_way (random, 0.1 / 60);
  m.known = 1;
  return m;
}

CASE (test_places, "the motion leads back")
{
  Random random = { random_seed () };
  double worst = 0;

  for (int k = 0; k < PLACES; k++) {
    StereoMotion m = draw_motion (&random);
    float u = (float) either_way (&random, 600), v = (float) either_way (&random, 180);
    float d = (float) (60 * random_unit (&random)), next[3];
    if (!CHECK (stereo_prior_place (&m, u, v, d, &next[0], &next[1], &next[2]), "(%g, %g, %g) has no place", u, v, d))
      return;
    double x = next[0], y = next[1], z = next[2], w = 1 + m.tz * z + m.tilt * y - m.pan * x;
    double back_u = (x - m.q + m.roll * y + m.tx * z) / w, back_v = (y + m.p - m.roll * x + m.ty * z) / w;
    worst = fmax (worst, fmax (fabs (back_u - u), fmax (fabs (back_v - v), fabs (z / w - d))));
  }
  CHECK (worst < BACK, "a place is left by %g px", worst);
}

/* What comes too near or goes too far has no place. */
CASE (test_limits, "what has no place")
{
  StereoMotion m = { .tz = 0.02f, .known = 1 };
  float next[3];

  CHECK (stereo_prior_place (&m, 10, 10, 20, &next[0], &next[1], &next[2]), "a surface that grows by less than half");
  CHECK (!stereo_prior_place (&m, 10, 10, 90, &next[0], &next[1], &next[2]), "a surface that would more than double");
}
