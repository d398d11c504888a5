/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A view that is late, from made offsets and motions: told within some frames of moving scenes, by the right view; and never of
 * scenes in step, however badly the rig is rectified. */
#include "tests/support/gst/suite.h"

#include <math.h>

#include "gst/match/diagnose/matches.h"
#include "tests/support/random.h"

#define FRAMES 8
#define TURNS 50

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

static Random generator;

/* About normal, of a deviation of @deviation. */
static gdouble
noise_of (gdouble deviation)
{
  gdouble sum = 0;

  for (guint i = 0; i < 12; i++)
    sum += random_unit (&generator);
  return deviation * (sum - 6);
}

/* Each tenth match is wrong. The noise of a view is in all that is measured from it. */
static void
see (const Drive *drive, GstStereoMovingPoint *points)
{
  for (gint i = 0; i < drive->points; i++) {
    gdouble u = random_unit (&generator) - 0.5, v = random_unit (&generator) - 0.5, near = random_unit (&generator);
    gdouble back = -2 * drive->motion * near * v - drive->turn * u;
    gdouble weight = 1 / (2 * drive->noise * drive->noise + 0.01);
    gdouble left = noise_of (drive->noise), right = noise_of (drive->noise);
    GstStereoMovingPoint *point = &points[i];

    point->place = (StereoSparsePlace){ (gfloat) u, (gfloat) v, 0, (gfloat) weight, 0 };
    point->motion[0] = point->motion[1] = point->place;
    point->motion[0].vertical = (gfloat) (back + noise_of (drive->noise) - left);
    point->motion[1].vertical = (gfloat) (back + noise_of (drive->noise) - right);
    point->place.vertical = (gfloat) (drive->offset + drive->roll * u + right - left + (i % 10 ? 0 : noise_of (3)) +
        drive->late * back);
  }
}

/* What each view's motion says of the other one. */
static GstStereoDelay
figures_of (const GstStereoMovingPoint *points, guint count)
{
  return (
      GstStereoDelay){ { gst_stereo_delay_measure (points, count, 1), gst_stereo_delay_measure (points, count, 0) } };
}

/* The verdict after FRAMES frames, and the late view. */
static GstStereoVerdict
judge (const Drive *drive, guint *view)
{
  GstStereoVerdict verdict = GST_STEREO_VERDICT_UNKNOWN;
  GstStereoMovingPoint points[192];
  GstStereoDelay delay = { { 0 } };

  for (guint frame = 0; frame < FRAMES; frame++) {
    see (drive, points);
    verdict = gst_stereo_delay_add (&delay, figures_of (points, (guint) drive->points).late);
    fail_unless (frame || verdict != GST_STEREO_VERDICT_BAD, "%s: one frame is no evidence", drive->name);
  }
  *view = delay.late[1] > delay.late[0];
  return verdict;
}

static const Drive drives[] = {
  { "right late", 60, 4, 0, 1, 0, 0, 0.1, GST_STEREO_VERDICT_BAD },
  { "left late", 60, 4, 0, -1, 0, 0, 0.1, GST_STEREO_VERDICT_BAD },
  { "two frames late", 60, 3, 0, 2, 0, 0, 0.1, GST_STEREO_VERDICT_BAD },
  { "late, noise", 60, 6, 0, 1, 0, 0, 0.25, GST_STEREO_VERDICT_BAD },
  { "late, a bad rig", 60, 4, 0, -1, 1.3, 2, 0.1, GST_STEREO_VERDICT_BAD },
  { "in step", 60, 4, 0, 0, 0, 0, 0.1, GST_STEREO_VERDICT_GOOD },
  { "in step, a bad rig", 60, 4, 0, 0, -2, 3, 0.1, GST_STEREO_VERDICT_GOOD },
  { "in step, noise", 60, 6, 0, 0, 0, 0, 0.25, GST_STEREO_VERDICT_GOOD },
  { "still", 150, 0, 0, 0, 0.5, 1, 0.1, GST_STEREO_VERDICT_UNKNOWN },
  { "still, noise", 150, 0, 0, 0, 0, 0, 0.5, GST_STEREO_VERDICT_UNKNOWN },
  { "still, late", 150, 0, 0, 1, 0, 0, 0.1, GST_STEREO_VERDICT_UNKNOWN },
  /* the rig turns as the camera does: nothing tells the two apart */
  { "rolling, a rig that is turned", 60, 0, 3, 0, 0, -3, 0.1, GST_STEREO_VERDICT_UNKNOWN },
  { "rolling, late", 60, 0, 3, 1, 0, 0, 0.1, GST_STEREO_VERDICT_UNKNOWN },
  { "few points", 4, 4, 0, 1, 0, 0, 0.1, GST_STEREO_VERDICT_UNKNOWN },
};

TEST_LOOP (test_drives, 0, G_N_ELEMENTS (drives))
{
  const Drive *drive = &drives[__i__];
  guint counts[3] = { 0, 0, 0 };

  for (guint turn = 0; turn < TURNS; turn++) {
    guint view;
    GstStereoVerdict verdict = judge (drive, &view);
    counts[verdict]++;
    fail_unless (verdict != GST_STEREO_VERDICT_BAD || view == (drive->late > 0), "%s: the wrong view", drive->name);
  }
  /* now and then a wrong match speaks for a delay, in one frame */
  if (drive->verdict != GST_STEREO_VERDICT_UNKNOWN)
    fail_unless (counts[drive->verdict] >= TURNS * 8 / 10, "%s: %u times", drive->name, counts[drive->verdict]);
  if (drive->verdict != GST_STEREO_VERDICT_BAD)
    fail_unless (!counts[GST_STEREO_VERDICT_BAD], "%s: a delay", drive->name);
}

/* A frame seldom says anything of points that only noise moves: two of them would have to seem to move. */
TEST (test_motion_is_sure)
{
  const Drive still = { "still", 150, 0, 0, 0, 0, 0, 0.1, GST_STEREO_VERDICT_UNKNOWN };
  GstStereoMovingPoint points[192];
  guint counted = 0;

  for (guint turn = 0; turn < 4 * TURNS; turn++) {
    see (&still, points);
    const GstStereoDelay figures = figures_of (points, (guint) still.points);
    counted += figures.late[0] != 0 || figures.late[1] != 0;
  }
  fail_unless (counted < TURNS, "%u of %u frames", counted, 4 * TURNS);
}

/* The end is known after as few frames as the begin. */
TEST (test_end)
{
  const gdouble late[] = { 0, 50 }, sound[] = { -50, -50 };
  GstStereoDelay delay = { { 0 } };
  GstStereoVerdict verdict = GST_STEREO_VERDICT_UNKNOWN;

  for (guint frame = 0; frame < 100; frame++)
    verdict = gst_stereo_delay_add (&delay, late);
  fail_unless_equals_int (verdict, GST_STEREO_VERDICT_BAD);
  fail_unless (gst_stereo_delay_add (&delay, sound) != GST_STEREO_VERDICT_GOOD);
  for (guint frame = 0; frame < 3; frame++)
    verdict = gst_stereo_delay_add (&delay, sound);
  fail_unless_equals_int (verdict, GST_STEREO_VERDICT_GOOD);
}

SUITE (delay)
{
  generator = (Random){ .state = random_seed () };
  tcase_set_timeout (tcase, 120);
}
