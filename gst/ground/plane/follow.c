/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/plane/follow.h"

#include <math.h>
#include <string.h>

#define SAME 2.0        /* px of disparity: grounds that differ by less are one ground that moved */
#define LEAST_GAIN 0.35 /* share of a small difference that is taken over */
#define STILL_GOOD 0.7  /* of the new ground's score: the last one explains the frame too */
#define MOST_MISSED 10  /* frames after which the last ground is forgotten */

/* The largest difference of two planes in the lower half of the picture. */
static gdouble
difference (const GstStereoGroundGrid *grid, const GstStereoGroundCamera *camera, const GstStereoGroundPlane *a,
    const GstStereoGroundPlane *b)
{
  gdouble largest = 0;

  for (guint corner = 0; corner < 4; corner++) {
    gdouble x = corner % 2 ? grid->width - 1 : 0, y = corner / 2 ? grid->height - 1 : grid->height / 2;

    largest = MAX (
        largest, fabs (gst_stereo_ground_plane_at (camera, a, x, y) - gst_stereo_ground_plane_at (camera, b, x, y)));
  }
  return largest;
}

static void
approach (GstStereoGroundPlane *plane, const GstStereoGroundPlane *to, gdouble share)
{
  plane->at += share * (to->at - plane->at);
  plane->across += share * (to->across - plane->across);
  plane->down += share * (to->down - plane->down);
}

/* What the ground is, after a frame with the ground @fresh. */
static void
take (GstStereoGroundFollower *follower, const GstStereoGroundFinder *finder, const GstStereoGroundGrid *grid,
    const GstStereoGroundCamera *camera, const GstStereoGroundLimits *limits, const GstStereoGroundFit *fresh)
{
  gdouble differs = follower->known ? difference (grid, camera, &follower->plane, &fresh->plane) : 0;
  gboolean again = follower->has_rival && difference (grid, camera, &follower->rival, &fresh->plane) <= SAME;
  GstStereoGroundFit before;

  follower->has_rival = FALSE;
  if (!follower->known) {
    follower->plane = fresh->plane;
  } else if (differs <= SAME) {
    approach (&follower->plane, &fresh->plane, MAX (LEAST_GAIN, differs / SAME));
  } else if (again || !gst_stereo_ground_judge (finder, camera, limits, &follower->plane, &before) ||
      before.score < STILL_GOOD * fresh->score) {
    follower->plane = fresh->plane;
  } else {
    follower->has_rival = TRUE;
    follower->rival = fresh->plane;
  }
  follower->known = TRUE;
  follower->missed = 0;
}

gboolean
gst_stereo_ground_follow (GstStereoGroundFollower *follower, GstStereoGroundFinder *finder,
    const GstStereoGroundGrid *grid, const GstStereoGroundCamera *camera, const GstStereoGroundLimits *limits,
    GstStereoGroundFit *fit)
{
  const GstStereoGroundPlane *last = follower->known ? &follower->plane : NULL;
  GstStereoGroundFit fresh;

  if (!gst_stereo_ground_find (finder, grid, camera, limits, last, &fresh)) {
    *fit = fresh;
    if (++follower->missed > MOST_MISSED)
      memset (follower, 0, sizeof *follower);
    return FALSE;
  }
  take (follower, finder, grid, camera, limits, &fresh);
  if (gst_stereo_ground_judge (finder, camera, limits, &follower->plane, fit))
    return TRUE;
  /* the smoothed one is at a limit that the frame's own is within */
  follower->plane = fresh.plane;
  *fit = fresh;
  return TRUE;
}
