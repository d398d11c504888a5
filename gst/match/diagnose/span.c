/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/span.h"

#define SLOW ((gint64) (700 * GST_MSECOND)) /* that the motion of a slow scene is measured over, at least in the end */
#define MOST_MOVED 0.5                      /* of the motion that is searched: a slow scene moves less in that time */
#define FOLLOWED 0.5                        /* share of the matches of a slow scene that the earlier frame shows too */

void
gst_stereo_span_forget (GstStereoSpan *span)
{
  span->kept = FALSE;
}

void
gst_stereo_span_keep (GstStereoSpan *span, gint64 time)
{
  span->kept = TRUE;
  span->time = time;
}

gint
gst_stereo_span_count (const GstStereoSpan *span, gint64 time, gint64 spacing)
{
  if (!span->kept || time <= span->time || spacing <= 0)
    return 0;
  return (gint) MIN ((time - span->time + spacing / 2) / spacing, G_MAXINT);
}

gboolean
gst_stereo_span_add (GstStereoSpan *span, gint64 time, gint frames, const GstStereoPairMatches *matches)
{
  gint64 past = time - span->time;

  if (frames)
    span->slow = matches->followed >= FOLLOWED * matches->placed &&
        matches->moved * (gdouble) MAX (SLOW, past) < MOST_MOVED * (gdouble) past;
  if (!span->slow)
    gst_stereo_span_forget (span);
  return span->slow && (!span->kept || past < 0 || past >= SLOW);
}
