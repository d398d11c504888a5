/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The speed of an obstacle, which nothing reports: it decides where the obstacle is looked for in the next frame. How far
 * an obstacle may be from there and still be the same one does not depend on its speed. So that place moves with the
 * speed, and the speed is measured here by what is still taken for the same obstacle.
 */

#include <math.h>

#include "gst/ground/objects/tracks.h"
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
 * by @ratio in each frame, and it was seen in those that are '1' in @frames. */
static gboolean
is_same (const gchar *frames, gdouble ratio, gdouble distance)
{
  GstStereoGroundTracks *tracks = gst_stereo_ground_tracks_new ();
  guint length = (guint) strlen (frames), count = 0, id = 0;
  const GstStereoGroundReport *reports;
  GstStereoObstacle next = obstacle_at (distance, length);

  for (guint frame = 0; frame < length; frame++) {
    GstStereoObstacle now = obstacle_at (LAST * pow (ratio, frame + 1.0 - length), frame);

    reports = gst_stereo_ground_tracks_update (tracks, &now, frames[frame] == '1', &count);
    fail_unless (count <= 1, "frame %u has %u obstacles", frame, count);
    fail_unless (count == 0 || id == 0 || reports->id == id, "another one in frame %u", frame);
    id = count ? reports->id : id;
  }
  reports = gst_stereo_ground_tracks_update (tracks, &next, 1, &count);
  /* what is seen for the first time is not reported */
  gboolean same = count == 1 && reports->seen;
  gst_stereo_ground_tracks_free (tracks);
  return same;
}

/* How far from LAST the same obstacle may be: a share of LAST, below 0 towards the camera. */
static gdouble
largest_move (const gchar *frames, gdouble ratio, gdouble direction)
{
  gdouble away = 0;

  fail_unless (is_same (frames, ratio, LAST));
  while (is_same (frames, ratio, LAST + direction * (away + STEP)))
    away += STEP;
  return direction * away / LAST;
}

/* By how much of its distance an obstacle is expected to move in a frame, below 0 towards the camera. */
static gdouble
speed_of (const gchar *frames, gdouble ratio)
{
  gdouble direction = ratio < 1 ? -1 : 1;

  return largest_move (frames, ratio, direction) - largest_move (ALWAYS, 1, direction);
}

static const gdouble ratios[] = { 0.91, 0.95, 0.98, 1.03, 1.08 };

TEST_LOOP (test_speed_is_learnt, 0, G_N_ELEMENTS (ratios))
{
  gdouble ratio = ratios[__i__], speed = speed_of (ALWAYS, ratio);

  fail_unless (fabs (speed - (ratio - 1)) <= BOUND, "%g of the distance in a frame, truly %g", speed, ratio - 1);
}

/* What happened in two frames is not taken for the motion in one. */
TEST (test_speed_from_every_second_frame)
{
  gdouble speed = speed_of ("101010101010101", 0.95);

  fail_unless (speed >= -0.05 - BOUND && speed <= BOUND, "%g of the distance in a frame, truly -0.05", speed);
}

SUITE (ground_tracks)
{
}
