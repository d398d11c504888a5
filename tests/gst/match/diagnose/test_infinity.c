/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The disparity of infinity from made motions: of a road between houses, seen by cameras that drive and turn. Points are projected by
 * the definition of a camera, so that the small angles of infinity.h are proven, too. */
#include "tests/support/gst/suite.h"

#include <math.h>

#include "gst/match/diagnose/infinity.h"
#include "tests/gst/match/diagnose/made.h"

#define WIDTH 1200
#define HEIGHT 400
#define POINTS 60
#define STREAMS 40
#define LOOKS 12
#define BASE 0.5         /* m */
#define LOOK (400000000) /* ns */

/* What a pair of cameras sees in a frame. */
typedef struct
{
  const gchar *name;
  gdouble infinity;             /* px */
  gdouble forward, aside, down; /* m */
  gdouble yaw, pitch, roll;     /* radians */
  gdouble focal;                /* px */
  gdouble noise;                /* px */
  gdouble traffic;              /* share of the points on vehicles that drive by themselves, */
  gdouble speeds[2];            /* m, forward, of two of them */
  gint verdict;                 /* BAD: where the others are GOOD, it has to be; -1: anything but BAD */
  gboolean flat;                /* all that stands is one wall, far away */
} Drive;

/* A place in metres: right, down, forward. @own: how far it moves forward itself. */
static void
choose_place (const Drive *drive, gdouble place[3], gdouble *own)
{
  gdouble kind = draw (0, 1), x = draw (-0.48, 0.48) * WIDTH / drive->focal,
          y = draw (0.02, 0.45) * HEIGHT / drive->focal;
  guint vehicle = draw (0, 1) < 0.5;

  *own = 0;
  if (draw (0, 1) < drive->traffic) {
    *own = drive->speeds[vehicle];
    place[2] = vehicle ? draw (14.8, 15.2) : draw (24.7, 25.3);
    place[0] = (vehicle ? -3 : 3) + draw (-1.2, 1.2);
    place[1] = draw (-1, 1.4);
    return;
  }
  if (drive->flat)
    place[2] = draw (59, 61);
  else if (kind < 0.4)
    place[2] = MIN (70, 1.6 / y); /* the road */
  else if (kind < 0.8)
    place[2] = MIN (70, 7 / MAX (fabs (x), 0.02)); /* houses */
  else
    place[2] = draw (60, 75);
  place[0] = x * place[2];
  place[1] = kind < 0.4 && !drive->flat ? y * place[2] : draw (-0.45, 0.1) * HEIGHT / drive->focal * place[2];
}

/* Where the earlier camera, turned and farther back, had a place. */
static void
look_back (const Drive *drive, const gdouble place[3], gdouble own, gdouble earlier[3])
{
  gdouble x = place[0] + drive->aside, y = place[1] + drive->down, z = place[2] + drive->forward - own;
  gdouble a = cos (drive->yaw) * x - sin (drive->yaw) * z, c = sin (drive->yaw) * x + cos (drive->yaw) * z;
  gdouble b = cos (drive->pitch) * y + sin (drive->pitch) * c;

  earlier[2] = cos (drive->pitch) * c - sin (drive->pitch) * y;
  earlier[0] = cos (drive->roll) * a + sin (drive->roll) * b;
  earlier[1] = cos (drive->roll) * b - sin (drive->roll) * a;
}

/* Each tenth motion is wrong. */
static void
see (const Drive *drive, GstStereoMovingPoint *points)
{
  for (guint i = 0; i < POINTS; i++) {
    gdouble place[3], earlier[3], own, wrong = i % 10 ? 0 : draw (-9, 9);
    choose_place (drive, place, &own);
    look_back (drive, place, own, earlier);
    gdouble x = drive->focal * place[0] / place[2], y = drive->focal * place[1] / place[2];
    gdouble d = drive->focal * BASE / place[2] + drive->infinity + drive->noise * gauss ();

    points[i] = (GstStereoMovingPoint){
      .place = { .u = (gfloat) ((x - d) / WIDTH), .v = (gfloat) (y / HEIGHT), .disparity = (gfloat) d, .weight = 50 }
    };
    points[i].motion[0] = points[i].place;
    points[i].motion[0].disparity = (gfloat) (x - drive->focal * earlier[0] / earlier[2] + drive->noise * gauss () +
        wrong);
    points[i].motion[0].vertical = (gfloat) (drive->focal * earlier[1] / earlier[2] - y + drive->noise * gauss () -
        wrong);
  }
}

static const Drive drives[] = {
  { "straight on", 0, 1, .focal = 700, .noise = 0.15, .verdict = GOOD },
  { "back", 0, -1, .focal = 700, .noise = 0.15, .verdict = GOOD },
  { "a bend", 0, 1, 0.1, .yaw = 0.02, .pitch = 0.004, .roll = 0.005, .focal = 700, .noise = 0.15, .verdict = GOOD },
  { "a bump", 0, 1, 0, 0.1, .yaw = -0.004, .pitch = -0.012, .focal = 700, .noise = 0.15, .verdict = GOOD },
  { "a wide lens in a bend", 0, 1, 0.1, .yaw = 0.03, .pitch = 0.005, .focal = 600, .noise = 0.15, .verdict = GOOD },
  { "nearer", 3, 1, .focal = 700, .noise = 0.15, .verdict = BAD },
  { "farther away", -3, 1, .focal = 700, .noise = 0.15, .verdict = BAD },
  { "nearer in a bend", 3, 1, 0.1, .yaw = 0.02, .pitch = 0.004, .roll = 0.005, .focal = 700, .noise = 0.15,
      .verdict = BAD },
  { "farther away, backwards", -3, -1, .yaw = -0.02, .focal = 700, .noise = 0.15, .verdict = BAD },
  { "nearer, among traffic", 3, 1, .focal = 700, .noise = 0.15, .traffic = 0.12, .speeds = { 1.2, -1 }, .verdict = BAD },
  { "among traffic", 0, 1, .focal = 700, .noise = 0.15, .traffic = 0.12, .speeds = { 1.2, -1 }, .verdict = GOOD },
  { "among much traffic", 0, 1, .focal = 700, .noise = 0.15, .traffic = 0.3, .speeds = { 1.2, -1 }, .verdict = -1 },
  { "with the traffic", 0, 1, .focal = 700, .noise = 0.15, .traffic = 0.4, .speeds = { 1, 1 }, .verdict = -1 },
  { "much faster traffic", 0, 1, .focal = 700, .noise = 0.15, .traffic = 0.4, .speeds = { 1.6, 1.4 }, .verdict = -1 },
  { "traffic alone", 0, 1, .focal = 700, .noise = 0.15, .traffic = 0.9, .speeds = { 0.5, 0.2 }, .verdict = -1 },
  { "standing", 0, 0, .focal = 700, .noise = 0.15, .verdict = UNKNOWN },
  { "standing, to the bit", 3, 0, .focal = 700, .verdict = UNKNOWN },
  { "standing, shifted", 3, 0, .focal = 700, .noise = 0.15, .verdict = UNKNOWN },
  { "turning alone", 3, 0, .yaw = 0.02, .focal = 700, .noise = 0.15, .verdict = UNKNOWN },
  { "sideways", 3, 0, 0.3, .focal = 700, .noise = 0.15, .verdict = UNKNOWN },
  { "standing, traffic comes", 0, 0, .focal = 700, .noise = 0.15, .traffic = 0.4, .speeds = { -1, -1 }, .verdict = -1 },
  { "before a wall, traffic comes", 0, 0, .focal = 700, .noise = 0.15, .traffic = 0.4, .speeds = { -1, -1 },
      .flat = TRUE, .verdict = -1 },
  { "driving to a wall", 0, 1, .focal = 700, .noise = 0.15, .flat = TRUE, .verdict = UNKNOWN },
  { "away from a wall, a little traffic", 0, -0.54, .focal = 850, .noise = 0.05, .traffic = 0.03,
      .speeds = { 1.4, 1.8 }, .flat = TRUE, .verdict = UNKNOWN },
  { "a little forward, noise", 0, 0.2, .focal = 700, .noise = 0.5, .verdict = -1 },
};

/* In no look at any stream another verdict than what is expected, and in the last look that. */
TEST_LOOP (test_drives, 0, G_N_ELEMENTS (drives))
{
  const Drive *drive = &drives[__i__];
  const StereoParams params = { 0 };

  generator.state = random_seed ();
  for (guint stream = 0; stream < STREAMS; stream++) {
    GstStereoInfinity infinity = { 0 };
    GstStereoVerdict verdict = UNKNOWN;
    GstStereoMovingPoint points[POINTS];
    for (gint look = 0; look < LOOKS; look++) {
      GstStereoInfinityFigure figure;
      see (drive, points);
      gst_stereo_infinity_measure (points, POINTS, WIDTH, HEIGHT, &figure);
      gst_stereo_infinity_add (&infinity, (gint64) look * LOOK, &figure);
      verdict = verdict_of_motion (&infinity, &params);
      fail_unless (verdict == UNKNOWN || (look >= 4 && drive->verdict != UNKNOWN), "%s, look %d", drive->name, look);
      fail_unless (verdict != BAD || drive->verdict == BAD, "%s, look %d: %.2f +- %.2f", drive->name, look,
          gst_stereo_infinity_get (&infinity).disparity, gst_stereo_infinity_get (&infinity).deviation);
    }
    fail_unless (drive->verdict < 0 || verdict == (GstStereoVerdict) drive->verdict, "%s: %d, %.2f +- %.2f", drive->name,
        verdict, gst_stereo_infinity_get (&infinity).disparity, gst_stereo_infinity_get (&infinity).deviation);
  }
}

/* A principal-offset of so much is expected, and not a fault. */
TEST (test_expected)
{
  const GstStereoInfinity infinity = { .count = 6,
    .figures = { { 3, 0.4 }, { 3.1, 0.4 }, { 2.9, 0.4 }, { 3, 0.4 }, { 3, 0.4 }, { 3, 0.4 } } };
  const StereoParams params[] = { { .principal_offset = -3 }, { .principal_offset = 0 }, { .principal_offset = 3 } };

  fail_unless_equals_int (verdict_of_motion (&infinity, &params[0]), GOOD);
  fail_unless_equals_int (verdict_of_motion (&infinity, &params[1]), BAD);
  fail_unless_equals_int (verdict_of_motion (&infinity, &params[2]), BAD);
}

/* Few figures, and figures that contradict each other, say nothing; of frames that follow each other soon, one counts; and only the last
 * figures do. */
TEST (test_history)
{
  const GstStereoInfinityFigure here = { 1, 0.4 }, there = { 5, 0.4 }, nothing = { 7, 0 };
  GstStereoInfinity infinity = { 0 };
  gint64 time = 0;

  for (guint i = 0; i < 4; i++, time += LOOK) {
    gst_stereo_infinity_add (&infinity, time, &here);
    gst_stereo_infinity_add (&infinity, time + LOOK / 4, &there);
    gst_stereo_infinity_add (&infinity, time + LOOK, &nothing);
    fail_unless (gst_stereo_infinity_get (&infinity).deviation <= 0);
  }
  gst_stereo_infinity_add (&infinity, time, &here);
  fail_unless (fabs (gst_stereo_infinity_get (&infinity).disparity - 1) < 1e-9);
  fail_unless (fabs (gst_stereo_infinity_get (&infinity).deviation - 0.4 / sqrt (5)) < 1e-9);
  for (guint i = 0; i < GST_STEREO_INFINITY_FIGURES; i++) {
    gst_stereo_infinity_add (&infinity, time += LOOK, &there);
    fail_unless (i + 1 == GST_STEREO_INFINITY_FIGURES || gst_stereo_infinity_get (&infinity).deviation <= 0);
  }
  fail_unless (fabs (gst_stereo_infinity_get (&infinity).disparity - 5) < 1e-9);
  /* time may go back, as after a seek */
  gst_stereo_infinity_add (&infinity, 0, &here);
  fail_unless (gst_stereo_infinity_get (&infinity).deviation <= 0);
}

SUITE (infinity)
{
}
