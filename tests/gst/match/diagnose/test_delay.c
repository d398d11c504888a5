/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A view that is late, from made offsets and motions: told within some frames of moving scenes, by the right view; and never of
 * scenes in step, however badly the rig is rectified. */
#include "tests/support/gst/suite.h"

#include "tests/gst/match/diagnose/made.h"

#define FRAMES 200

/* What a pair of cameras sees while something moves. */
typedef struct
{
  const gchar *name;
  gint points;
  gdouble motion, turn; /* px in a span: of what is nearest, at the sides; of everything, with a camera that rolls */
  gdouble late;         /* frames: above 0 the right view is late, below 0 the left one */
  gdouble offset, roll; /* of the rig, px */
  gdouble noise;        /* px */
  GstStereoVerdict verdict;
} Drive;

/* Each tenth match is wrong. The noise of a view is in all that is measured from it. */
static void
see (const Drive *drive, GstStereoMovingPoint *points)
{
  for (gint i = 0; i < drive->points; i++) {
    gdouble u = random_unit (&generator) - 0.5, v = random_unit (&generator) - 0.5, near = random_unit (&generator);
    gdouble back = -2 * drive->motion * near * v - drive->turn * u;
    gdouble weight = 1 / (2 * drive->noise * drive->noise + 0.01);
    gdouble left = drive->noise * gauss (), right = drive->noise * gauss ();
    GstStereoMovingPoint *point = &points[i];

    point->place = (StereoSparsePlace){ (gfloat) u, (gfloat) v, 0, (gfloat) weight, 0 };
    point->motion[0] = point->motion[1] = point->place;
    point->motion[0].vertical = (gfloat) (back + drive->noise * gauss () - left);
    point->motion[1].vertical = (gfloat) (back + drive->noise * gauss () - right);
    point->place.vertical = (gfloat) (drive->offset + drive->roll * u + right - left + (i % 10 ? 0 : 3 * gauss ()) +
        drive->late * back);
  }
}

/* What a frame shows. */
static GstStereoMatchFigures
measure (const Drive *drive)
{
  GstStereoMovingPoint points[192];
  const guint count = (guint) drive->points;

  see (drive, points);
  return (GstStereoMatchFigures){ .late = { gst_stereo_delay_measure (points, count, 1),
                                      gst_stereo_delay_measure (points, count, 0) } };
}

static const Drive drives[] = {
  { "right late", 60, 4, 0, 1, 0, 0, 0.1, BAD },
  { "left late", 60, 4, 0, -1, 0, 0, 0.1, BAD },
  { "two frames late", 60, 3, 0, 2, 0, 0, 0.1, BAD },
  { "late, noise", 60, 6, 0, 1, 0, 0, 0.25, BAD },
  { "late, a bad rig", 60, 4, 0, -1, 1.3, 2, 0.1, BAD },
  { "in step", 60, 4, 0, 0, 0, 0, 0.1, GOOD },
  { "in step, a bad rig", 60, 4, 0, 0, -2, 3, 0.1, GOOD },
  { "in step, noise", 60, 6, 0, 0, 0, 0, 0.25, GOOD },
  { "still", 150, 0, 0, 0, 0.5, 1, 0.1, UNKNOWN },
  { "still, noise", 150, 0, 0, 0, 0, 0, 0.5, UNKNOWN },
  { "still, late", 150, 0, 0, 1, 0, 0, 0.1, UNKNOWN },
  /* the rig turns as the camera does: nothing tells the two apart */
  { "rolling, a rig that is turned", 60, 0, 3, 0, 0, -3, 0.1, UNKNOWN },
  { "rolling, late", 60, 0, 3, 1, 0, 0, 0.1, UNKNOWN },
  { "few points", 4, 4, 0, 1, 0, 0, 0.1, UNKNOWN },
};

/* A fault begins with two verdicts in a row. */
TEST_LOOP (test_drives, 0, G_N_ELEMENTS (drives))
{
  const Drive *drive = &drives[__i__];
  guint counts[3] = { 0, 0, 0 }, twice = 0, moved = 0;
  GstStereoVerdict before = UNKNOWN;

  for (guint frame = 0; frame < FRAMES; frame++) {
    const GstStereoMatchFigures figures = measure (drive);
    GstStereoVerdict verdict = verdict_of (GST_STEREO_HEALTH_OUT_OF_STEP, &figures);
    counts[verdict]++;
    moved += figures.late[0] != 0 || figures.late[1] != 0;
    twice += verdict == BAD && before == BAD;
    fail_unless (verdict != BAD || drive->verdict != BAD || (figures.late[1] > figures.late[0]) == (drive->late > 0),
        "%s: the wrong view", drive->name);
    before = verdict;
  }
  g_print ("%s: of %d frames, %u bad, %u good, %u unknown\n", drive->name, FRAMES, counts[BAD], counts[GOOD],
      counts[UNKNOWN]);
  if (drive->verdict != UNKNOWN)
    fail_unless (counts[drive->verdict] >= FRAMES * 8 / 10, "%s: %u times", drive->name, counts[drive->verdict]);
  /* now and then a wrong match speaks for a delay, in one frame */
  fail_unless (drive->verdict == BAD || !twice, "%s: a delay", drive->name);
  /* two of the points that only noise moves would have to seem to move */
  fail_unless (
      drive->noise > 0.1 || drive->motion || drive->turn || moved < FRAMES / 4, "%s: %u frames", drive->name, moved);
}

SUITE (delay)
{
  generator = (Random){ .state = random_seed () };
  tcase_set_timeout (tcase, 120);
}
