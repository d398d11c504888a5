/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/pairing/source.h"

#define HELD (5 * GST_MSECOND) /* a frame that stays so long in the pad keeps upstream from sending the next one */

static void
measure (GstStereoSource *source, gint64 now, gint64 delay)
{
  if (!source->since) {
    source->since = now;
    source->window = source->before = G_MAXINT64;
  }
  if (now - source->since >= GST_STEREO_SOURCE_WINDOW) {
    if (source->window != G_MAXINT64 && source->before != G_MAXINT64) {
      source->growth = source->window - source->before;
      source->trend = source->growth >= GST_STEREO_SOURCE_GROWTH ? MAX (source->trend, 0) + 1 :
                                                                   MIN (source->trend, 0) - 1;
      source->behind = source->trend >= GST_STEREO_SOURCE_WINDOWS ||
          (source->behind && source->trend > -GST_STEREO_SOURCE_WINDOWS);
    }
    if (source->window != G_MAXINT64)
      source->before = source->window;
    source->window = G_MAXINT64;
    source->since = now;
  }
  source->least = source->timed++ ? MIN (source->least, delay) : delay;
  source->window = MIN (source->window, delay);
}

void
gst_stereo_source_enter (GstStereoSource *source, GstClockTime now, GstClockTimeDiff delay)
{
  if (!source->first)
    source->first = now;
  source->heard = now;
  source->receiving = TRUE;
  source->over = FALSE;
  if (GST_CLOCK_STIME_IS_VALID (delay) && !source->held)
    measure (source, (gint64) now, delay);
  source->held = FALSE;
}

void
gst_stereo_source_leave (GstStereoSource *source, GstClockTime now)
{
  source->receiving = FALSE;
  source->held = now - source->heard > HELD;
  source->heard = now;
}

void
gst_stereo_source_flush (GstStereoSource *source)
{
  source->since = source->growth = 0;
  source->timed = 0;
  source->trend = 0;
  source->behind = source->over = FALSE;
}

GstClockTime
gst_stereo_source_idle (
    const GstStereoSource *source, const GstStereoSource *other, GstClockTime since, GstClockTime now)
{
  GstClockTime from = source->heard ? source->heard : other->first;

  if (source->receiving || !from)
    return 0;
  from = MAX (from, since);
  return now > from ? now - from : 0;
}
