/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/silence.h"

/* A view counts as sending until so long after its last frame. */
#define ALIVE_TIME (1 * GST_SECOND)

static gboolean
goes_on (const GstStereoSilenceView *view, const GstStereoActivity *activity)
{
  return activity->receiving || (activity->over && activity->waiting) || (view->heard && view->idle < ALIVE_TIME);
}

/* Notes whether frames have come on a view since the last observation, or are about to come. */
static void
listen_to (GstStereoSilenceView *view, const GstStereoActivity *activity, GstClockTime elapsed,
    GstStereoSilenceFinding *finding)
{
  gboolean come = activity->receiving || activity->over || activity->received != view->seen;

  view->heard |= come;
  view->seen = activity->received;
  view->idle += elapsed;
  if (!come)
    return;
  if (view->reported && !activity->over)
    *finding = (GstStereoSilenceFinding){ .back = TRUE, .time = view->idle };
  view->reported = FALSE;
  view->idle = view->alone = 0;
}

/* A camera that sent frames before is judged alone. A camera that never sent one is judged by the other camera: when that one
 * sends frames, both should send. */
static gboolean
is_silent (const GstStereoSilenceView *view)
{
  return (view->heard && view->idle >= GST_STEREO_SILENCE_TIME) || view->alone >= GST_STEREO_SILENCE_TIME;
}

static void
report (GstStereoSilenceView *view, GstStereoSilenceFinding *finding)
{
  view->reported = TRUE;
  *finding = (GstStereoSilenceFinding){ .silent = TRUE, .never = !view->heard, .time = view->idle };
}

void
gst_stereo_silence_add (GstStereoSilence *silence, guint count, const GstStereoActivity *activity, GstClockTime elapsed,
    GstStereoSilenceFinding findings[2])
{
  gboolean reports = FALSE;

  for (guint i = 0; i < count; i++)
    listen_to (&silence->view[i], &activity[i], elapsed, &findings[i]);
  for (guint i = 0; i < count; i++) {
    GstStereoSilenceView *view = &silence->view[i];
    if (count == 2 && view->idle && goes_on (&silence->view[!i], &activity[!i]))
      view->alone += elapsed;
    if (!view->reported && is_silent (view)) {
      report (view, &findings[i]);
      reports = TRUE;
    }
  }
  /* both stop at about the same time: one message reports both */
  for (guint i = 0; reports && i < count; i++)
    if (!silence->view[i].reported && silence->view[i].heard && !goes_on (&silence->view[i], &activity[i]))
      report (&silence->view[i], &findings[i]);
}

void
gst_stereo_silence_resume (GstStereoSilence *silence)
{
  for (guint i = 0; i < 2; i++) {
    silence->view[i].alone = 0;
    if (!silence->view[i].reported)
      silence->view[i].idle = 0;
  }
}

void
gst_stereo_silence_reset (GstStereoSilence *silence, const GstStereoActivity activity[2], gboolean all)
{
  for (guint i = 0; i < 2; i++) {
    GstStereoSilenceView *view = &silence->view[i], before = *view;

    *view = (GstStereoSilenceView){ .seen = activity[i].received };
    if (!all) {
      view->heard = before.heard;
      view->reported = before.reported;
    }
  }
}
