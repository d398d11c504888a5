/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The speed of an obstacle, which nothing reports: it decides where the obstacle is looked for in the next frame. How far
 * an obstacle may be from there and still be the same one does not depend on its speed. So that place moves with the
 * speed, and the speed is measured here by what is still taken for the same obstacle. And a drive past things that stand.
 */

#include <math.h>

#include "gst/ground/analysis.h"
#include "tests/support/gst/suite.h"

#define LAST 20000.0 /* mm, before the frame in which the place is measured */
#define STEP 10.0    /* mm, of the measurement */
#define BOUND 0.01   /* of the distance in a frame; a measurement errs by STEP / LAST, 0.0005 */
#define ALWAYS "111111111111"

/* An obstacle straight ahead. Its boxes of two frames in a row do not overlap, so that its distance alone tells whether it
 * is the same one. */
static GstStereoObstacle
obstacle_at (gdouble distance, guint frame)
{
  return (GstStereoObstacle){ .x = 300,
    .y = frame % 2 ? 100 : 200,
    .width = 40,
    .height = 40,
    .distance = distance,
    .object_width = 500,
    .object_height = 500,
    .probability = 1 };
}

/* Whether what is seen at @distance is the obstacle that was at LAST in the frame before. Until then its distance changed
 * by @step mm in each frame, and it was seen in those that are '1' in @frames. */
static gboolean
is_same (const gchar *frames, gdouble step, gdouble distance)
{
  GstStereoGroundTracks *tracks = gst_stereo_ground_tracks_new ();
  guint length = (guint) strlen (frames), count = 0, id = 0;
  const GstStereoGroundReport *reports;
  GstStereoObstacle next = obstacle_at (distance, length);

  for (guint frame = 0; frame < length; frame++) {
    GstStereoObstacle now = obstacle_at (LAST - step * (length - 1.0 - frame), frame);

    reports = gst_stereo_ground_tracks_update (tracks, &now, frames[frame] == '1', 0, &count);
    fail_unless (count <= 1, "frame %u has %u obstacles", frame, count);
    fail_unless (count == 0 || id == 0 || reports->id == id, "another one in frame %u", frame);
    id = count ? reports->id : id;
  }
  reports = gst_stereo_ground_tracks_update (tracks, &next, 1, 0, &count);
  /* what is seen for the first time is not reported */
  gboolean same = count == 1 && reports->seen;
  gst_stereo_ground_tracks_free (tracks);
  return same;
}

/* How far from LAST the same obstacle may be: a share of LAST, below 0 towards the camera. */
static gdouble
largest_move (const gchar *frames, gdouble step, gdouble direction)
{
  gdouble away = 0;

  fail_unless (is_same (frames, step, LAST));
  while (is_same (frames, step, LAST + direction * (away + STEP)))
    away += STEP;
  return direction * away / LAST;
}

/* By how much of its distance an obstacle is expected to move in a frame, below 0 towards the camera. */
static gdouble
speed_of (const gchar *frames, gdouble step)
{
  gdouble direction = step < 0 ? -1 : 1;

  return largest_move (frames, step, direction) - largest_move (ALWAYS, 0, direction);
}

static const gdouble steps[] = { -1800, -1000, -400, 600, 1600 }; /* mm */

TEST_LOOP (test_speed_is_learnt, 0, G_N_ELEMENTS (steps))
{
  gdouble truth = steps[__i__] / LAST, speed = speed_of (ALWAYS, steps[__i__]);

  fail_unless (fabs (speed - truth) <= BOUND, "%g of the distance in a frame, truly %g", speed, truth);
}

/* What happened in two frames is not taken for the motion in one. */
TEST (test_speed_from_every_second_frame)
{
  gdouble speed = speed_of ("101010101010101", -600);

  fail_unless (speed >= -0.03 - BOUND && speed <= BOUND, "%g of the distance in a frame, truly -0.03", speed);
}

/* Things stand beside a road, 3 % wrong each time, and one of them only in some frames. The vehicle drives 1.2 m a frame.
 * What is reported of a thing falls by that, within 5 % of its distance, and no thing becomes another one. */
TEST (test_drive)
{
  static const gdouble at[][2] = { { 20000, -3000 }, { 24000, 3200 }, { 26500, -3100 }, { 31000, 3000 }, { 36000, 0 },
    { 33000, -3000 } }; /* mm: distance in the first frame, lateral */
  const gdouble step = 1200;
  GstStereoGroundTracks *tracks = gst_stereo_ground_tracks_new ();
  gdouble before[G_N_ELEMENTS (at)] = { 0 };
  guint ids[G_N_ELEMENTS (at)] = { 0 }, count;

  for (guint frame = 0; frame < 14; frame++) {
    GstStereoObstacle now[G_N_ELEMENTS (at)];
    guint seen = 0;

    for (guint i = 0; i < G_N_ELEMENTS (at) - (frame % 3 == 2); i++) {
      now[seen] = obstacle_at ((at[i][0] - step * frame) * (1 + 0.03 * ((7 * i + 5 * frame) % 3 - 1.0)), frame);
      now[seen++].lateral = at[i][1];
    }
    const GstStereoGroundReport *reports = gst_stereo_ground_tracks_update (tracks, now, seen, 0, &count);
    fail_unless (count == (frame ? G_N_ELEMENTS (at) : 0), "frame %u: %u obstacles", frame, count);
    for (guint k = 0; k < count; k++) {
      gdouble distance = reports[k].obstacle.distance;
      guint i = 0;
      while (i < G_N_ELEMENTS (at) && ids[i] && ids[i] != reports[k].id)
        i++;
      fail_unless (i < G_N_ELEMENTS (at), "frame %u: another obstacle at %g", frame, distance);
      if (frame > 3)
        fail_unless (fabs (before[i] - distance - step) < 0.05 * before[i], "frame %u: from %g to %g", frame, before[i],
            distance);
      ids[i] = reports[k].id;
      before[i] = distance;
    }
  }
  gst_stereo_ground_tracks_free (tracks);
}

/* What is reported of one obstacle: as measured at first, from the third sighting on half way from where it was expected. One
 * that was not seen comes nearer, and is gone where it would be behind the camera. 0: not seen, or not reported. */
TEST (test_reported_distance)
{
  static const struct
  {
    gdouble seen[5], reported[5];
  } cases[] = { { { LAST, LAST + 400 }, { 0, LAST + 400, LAST + 600 } },
    { { LAST, LAST, LAST + 400, LAST + 200 }, { 0, LAST, LAST + 200, LAST + 200, LAST + 200 } },
    { { 3000, 2000, 1000, 100 }, { 0, 2000, 1250, 300 } } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstStereoGroundTracks *tracks = gst_stereo_ground_tracks_new ();

    for (guint frame = 0; frame < 5; frame++) {
      gdouble seen = cases[i].seen[frame], wanted = cases[i].reported[frame];
      GstStereoObstacle one = obstacle_at (seen, frame);
      guint count;
      const GstStereoGroundReport *reports = gst_stereo_ground_tracks_update (tracks, &one, seen > 0, 0, &count);

      if (count != (wanted > 0) || (count && fabs (reports->obstacle.distance - wanted) > 1))
        fail ("case %u, frame %u: %u, at %g mm", i, frame, count, count ? reports->obstacle.distance : 0);
    }
    gst_stereo_ground_tracks_free (tracks);
  }
}

/* Of a drive that was forgotten nothing is expected: what is seen next does not come nearer by its step. */
TEST (test_forgotten_drive)
{
  GstStereoGroundTracks *tracks = gst_stereo_ground_tracks_new ();
  guint count = 0;

  for (guint frame = 0; frame < 6; frame++) {
    GstStereoObstacle now[5];

    for (guint i = 0; i < 5; i++) {
      now[i] = obstacle_at (LAST + 4000.0 * i - 1200.0 * frame, frame);
      now[i].lateral = 3000.0 * i;
    }
    gst_stereo_ground_tracks_update (tracks, now, 5, 0, &count);
  }
  fail_unless_equals_int (count, 5);
  gst_stereo_ground_tracks_forget (tracks);
  for (guint frame = 0; frame < 2; frame++) {
    GstStereoObstacle one = obstacle_at (LAST + 2800 * frame, frame);

    gst_stereo_ground_tracks_update (tracks, &one, 1, 0, &count);
    fail_unless_equals_int (count, frame);
  }
  gst_stereo_ground_tracks_free (tracks);
}

/* In the corridor, beside it, and far beside it; the edges of each, 10 mm inside or outside. */
TEST (test_corridor)
{
  static const struct
  {
    gdouble lateral, corridor; /* of an object of 500 mm, mm */
    gboolean reported, ahead;
  } cases[] = { { 0, 4000, TRUE, TRUE }, { -2240, 4000, TRUE, TRUE }, { 2260, 4000, TRUE, FALSE },
    { -6240, 4000, TRUE, FALSE }, { 6260, 4000, FALSE, FALSE }, { 9000, 0, TRUE, TRUE } };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstStereoGroundTracks *tracks = gst_stereo_ground_tracks_new ();
    const GstStereoGroundReport *reports = NULL;
    GstStereoObstacle both[] = { obstacle_at (LAST / 2, 0), obstacle_at (LAST, 0) };
    guint count = 0;

    both[0].lateral = cases[i].lateral;
    for (guint frame = 0; frame < 2; frame++)
      reports = gst_stereo_ground_tracks_update (tracks, both, 2, cases[i].corridor, &count);
    fail_unless (count == 1u + cases[i].reported, "case %u: %u obstacles", i, count);
    fail_unless (reports[0].ahead && reports[count - 1].ahead == (cases[i].ahead || count == 1), "case %u", i);
    /* the one straight ahead comes first, where the nearer one is not ahead too */
    fail_unless_equals_float (reports[0].obstacle.distance, cases[i].ahead ? LAST / 2 : LAST);
    gst_stereo_ground_tracks_free (tracks);
  }
}

SUITE (ground_tracks)
{
}
