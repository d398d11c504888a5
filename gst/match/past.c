/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/past.h"

/* Why @frame does not go on from the last one of its view; NULL: it does. */
static const gchar *
break_before (const GstStereoMatchPast *past, guint view, const GstStereoFrame *frame)
{
  if (GST_BUFFER_FLAG_IS_SET (frame->buffer, GST_BUFFER_FLAG_DISCONT))
    return "a discontinuity";
  if (frame->after_gap)
    return "a gap";
  if (past->known && frame->generation != past->generation[view])
    return "a seek";
  if (past->known && !gst_video_info_is_equal (&frame->info, &past->info[view]))
    return "other caps";
  return NULL;
}

static const gchar *
break_in_time (const GstStereoMatchPast *past, gint64 time)
{
  if (!past->known || time == GST_STEREO_TIME_NONE)
    return NULL;
  if (past->time != GST_STEREO_TIME_NONE && time < past->time)
    return "time that goes backwards";
  if (past->computed != GST_STEREO_TIME_NONE && time - past->computed > (gint64) GST_STEREO_PAST_LONGEST)
    return "a pause";
  return NULL;
}

const gchar *
gst_stereo_match_past_add_pair (GstStereoMatchPast *past, const GstStereoFrame *left, const GstStereoFrame *right)
{
  const GstStereoFrame *frames[2] = { left, right };
  gint64 time = left->time == GST_STEREO_TIME_NONE ? right->time : left->time;
  const gchar *why = break_in_time (past, time);

  for (guint view = 0; view < 2; view++) {
    why = why ? why : break_before (past, view, frames[view]);
    past->info[view] = frames[view]->info;
    past->generation[view] = frames[view]->generation;
  }
  if (!past->known)
    past->computed = GST_STEREO_TIME_NONE;
  past->known = TRUE;
  past->time = time;
  past->broken |= why != NULL;
  return why;
}

gboolean
gst_stereo_match_past_compute (GstStereoMatchPast *past)
{
  gboolean broken = past->broken;

  past->broken = FALSE;
  past->computed = past->time;
  return broken;
}
