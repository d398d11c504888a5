/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the frames of one view tell of their source, by the clock: that it is silent, and that it falls behind. Pure logic; the
 * caller locks. Times are those of the element's clock, in ns.
 */
#ifndef GST_STEREO_SOURCE_H
#define GST_STEREO_SOURCE_H

#include <gst/gst.h>

G_BEGIN_DECLS

#define GST_STEREO_SOURCE_WINDOW ((gint64) GST_SECOND) /* delays are compared from one such window to the next */
#define GST_STEREO_SOURCE_GROWTH ((gint64) (50 * GST_MSECOND)) /* of the delay in a window: no clock drifts so fast */
#define GST_STEREO_SOURCE_WINDOWS 3                            /* so many in a row, either way */

/* Zeroed at the start. */
typedef struct
{
  GstClockTime first, heard; /* when the first and the last frame or gap came; 0 = none did */
  gboolean receiving;        /* upstream's thread is in the pad with a frame */
  gboolean held;             /* it was held up there: the next frame comes late because of that */
  gboolean over;             /* upstream has sent its end */
  guint timed;               /* frames whose delay was measured */
  gint64 least;              /* least delay so far: from a frame's timestamp to its arrival */
  gint64 since, window;      /* when this window began (0 = none); the least delay in it, G_MAXINT64 = no frame */
  gint64 before;             /* the least delay of the window before; G_MAXINT64 = not known */
  gint64 growth;             /* of the delay, in the last window */
  gint trend;                /* windows in a row in which it grew; below 0: in which it did not */
  gboolean behind;
} GstStereoSource;

/* A frame or a gap enters the pad; and upstream's thread leaves it again. @delay: from the timestamp of the frame to now;
 * GST_CLOCK_STIME_NONE = not known. */
void gst_stereo_source_enter (GstStereoSource *source, GstClockTime now, GstClockTimeDiff delay);
void gst_stereo_source_leave (GstStereoSource *source, GstClockTime now);
/* After a flush: delays are measured anew. */
void gst_stereo_source_flush (GstStereoSource *source);

/* For how long nothing has come; 0 where something is about to come, or where it is too early to say: before the first frame
 * of this view, the time counts from the first frame of the @other one. @since: time before does not count. */
GstClockTime gst_stereo_source_idle (
    const GstStereoSource *source, const GstStereoSource *other, GstClockTime since, GstClockTime now);

G_END_DECLS

#endif
