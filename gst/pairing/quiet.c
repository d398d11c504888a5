/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/quiet.h"

/* For so long after its last frame a view counts as one that goes on. */
#define ALIVE_TIME (1 * GST_SECOND)

static gboolean
goes_on (const GstStereoQuietView *view, const GstStereoActivity *activity)
{
  return activity->receiving || (activity->over && activity->waiting) || (view->heard && view->idle < ALIVE_TIME);
}

/* Takes in what came on a view since the last look, or is about to come. */
static void
listen_to (
    GstStereoQuietView *view, const GstStereoActivity *activity, GstClockTime elapsed, GstStereoQuietFinding *finding)
{
  gboolean come = activity->receiving || activity->over || activity->received != view->seen;

  view->heard |= come;
  view->seen = activity->received;
  view->idle += elapsed;
  if (!come)
    return;
  if (view->told && !activity->over)
    *finding = (GstStereoQuietFinding){ .back = TRUE, .time = view->idle };
  view->told = FALSE;
  view->idle = view->alone = 0;
}

/* A camera that was heard is silent whatever the other one does; of one that was never heard, the other one has to tell
 * that the cameras have begun. */
static gboolean
is_silent (const GstStereoQuietView *view)
{
  return (view->heard && view->idle >= GST_STEREO_QUIET_TIME) || view->alone >= GST_STEREO_QUIET_TIME;
}

static void
tell (GstStereoQuietView *view, GstStereoQuietFinding *finding)
{
  view->told = TRUE;
  *finding = (GstStereoQuietFinding){ .silent = TRUE, .never = !view->heard, .time = view->idle };
}

void
gst_stereo_quiet_add (GstStereoQuiet *quiet, guint count, const GstStereoActivity *activity, GstClockTime elapsed,
    GstStereoQuietFinding findings[2])
{
  gboolean tells = FALSE;

  for (guint i = 0; i < count; i++)
    listen_to (&quiet->view[i], &activity[i], elapsed, &findings[i]);
  for (guint i = 0; i < count; i++) {
    GstStereoQuietView *view = &quiet->view[i];
    if (count == 2 && view->idle && goes_on (&quiet->view[!i], &activity[!i]))
      view->alone += elapsed;
    if (!view->told && is_silent (view)) {
      tell (view, &findings[i]);
      tells = TRUE;
    }
  }
  /* both stop at about the same time, and that is said at once */
  for (guint i = 0; tells && i < count; i++)
    if (!quiet->view[i].told && quiet->view[i].heard && !goes_on (&quiet->view[i], &activity[i]))
      tell (&quiet->view[i], &findings[i]);
}

void
gst_stereo_quiet_resume (GstStereoQuiet *quiet)
{
  for (guint i = 0; i < 2; i++) {
    quiet->view[i].alone = 0;
    if (!quiet->view[i].told)
      quiet->view[i].idle = 0;
  }
}

void
gst_stereo_quiet_reset (GstStereoQuiet *quiet, const GstStereoActivity activity[2], gboolean all)
{
  for (guint i = 0; i < 2; i++) {
    GstStereoQuietView *view = &quiet->view[i], before = *view;

    *view = (GstStereoQuietView){ .seen = activity[i].received };
    if (!all) {
      view->heard = before.heard;
      view->told = before.told;
    }
  }
}
