/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/history.h"

/* Why the stream broke between the last frame of this view and @frame; NULL: it did not. */
static const gchar *
break_before (const GstStereoMatchHistory *history, guint view, const GstStereoFrame *frame)
{
  if (GST_BUFFER_FLAG_IS_SET (frame->buffer, GST_BUFFER_FLAG_DISCONT))
    return "a discontinuity";
  if (frame->after_gap)
    return "a gap";
  if (history->known && !gst_segment_is_equal (&frame->segment, &history->segment[view]))
    return "a new segment";
  if (history->known && !gst_video_info_is_equal (&frame->info, &history->info[view]))
    return "other caps";
  return NULL;
}

static const gchar *
break_in_time (const GstStereoMatchHistory *history, gint64 time)
{
  if (!history->known || time == GST_STEREO_TIME_NONE)
    return NULL;
  if (history->time != GST_STEREO_TIME_NONE && time < history->time)
    return "time that goes backwards";
  if (history->computed != GST_STEREO_TIME_NONE && time - history->computed > (gint64) GST_STEREO_HISTORY_LONGEST)
    return "a pause";
  return NULL;
}

const gchar *
gst_stereo_match_history_add_pair (
    GstStereoMatchHistory *history, const GstStereoFrame *left, const GstStereoFrame *right)
{
  const GstStereoFrame *frames[2] = { left, right };
  gint64 time = left->time == GST_STEREO_TIME_NONE ? right->time : left->time;
  const gchar *why = break_in_time (history, time);

  for (guint view = 0; view < 2; view++) {
    why = why ? why : break_before (history, view, frames[view]);
    history->info[view] = frames[view]->info;
    history->segment[view] = frames[view]->segment;
  }
  if (!history->known)
    history->computed = GST_STEREO_TIME_NONE;
  history->known = TRUE;
  history->time = time;
  history->broken |= why != NULL;
  return why;
}

gboolean
gst_stereo_match_history_compute (GstStereoMatchHistory *history)
{
  gboolean broken = history->broken;

  history->broken = FALSE;
  history->computed = history->time;
  return broken;
}
