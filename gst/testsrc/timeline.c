/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/timeline.h"

#include <string.h>

struct _GstStereoTimeline
{
  gint fps_n, fps_d;        /* 0/1: none yet, or a still picture */
  gint64 frame;             /* the next one, of this rate and segment; -1: before the first */
  gint64 frames_before;     /* of earlier rates */
  GstClockTime time_before; /* their duration */
  gboolean backwards;
};

GstStereoTimeline *
gst_stereo_timeline_new (void)
{
  GstStereoTimeline *timeline = g_new (GstStereoTimeline, 1);

  gst_stereo_timeline_reset (timeline);
  return timeline;
}

void
gst_stereo_timeline_free (GstStereoTimeline *timeline)
{
  g_free (timeline);
}

void
gst_stereo_timeline_reset (GstStereoTimeline *timeline)
{
  memset (timeline, 0, sizeof *timeline);
  timeline->fps_d = 1;
}

/* When frame @frame of this rate begins. */
static GstClockTime
time_of (const GstStereoTimeline *timeline, gint64 frame)
{
  if (timeline->fps_n < 1)
    return 0;
  return gst_util_uint64_scale ((guint64) frame, GST_SECOND * (guint64) timeline->fps_d, (guint64) timeline->fps_n);
}

void
gst_stereo_timeline_set_rate (GstStereoTimeline *timeline, gint fps_n, gint fps_d)
{
  if (timeline->frame > 0 && timeline->fps_n > 0) {
    timeline->time_before += time_of (timeline, timeline->frame);
    timeline->frames_before += timeline->frame;
    timeline->frame = 0;
  }
  timeline->fps_n = fps_n;
  timeline->fps_d = fps_d;
}

void
gst_stereo_timeline_seek (GstStereoTimeline *timeline, GstClockTime position, gboolean backwards)
{
  timeline->backwards = backwards;
  timeline->frames_before = 0;
  timeline->time_before = 0;
  timeline->frame = 0;
  /* Times are rounded down. The last frame that has begun at the time of a frame is that frame. */
  if (timeline->fps_n > 0 && GST_CLOCK_TIME_IS_VALID (position))
    timeline->frame = (gint64) gst_util_uint64_scale_ceil (
                          position + 1, (guint64) timeline->fps_n, GST_SECOND * (guint64) timeline->fps_d) -
        1;
  if (backwards && timeline->frame > 0 && time_of (timeline, timeline->frame) == position)
    timeline->frame--;
}

gboolean
gst_stereo_timeline_is_over (const GstStereoTimeline *timeline)
{
  return (timeline->fps_n == 0 && timeline->frame > 0) || timeline->frame < 0;
}

guint64
gst_stereo_timeline_number (const GstStereoTimeline *timeline)
{
  return (guint64) (timeline->frames_before + timeline->frame);
}

GstClockTime
gst_stereo_timeline_begin (const GstStereoTimeline *timeline)
{
  return timeline->time_before + time_of (timeline, timeline->frame);
}

GstClockTime
gst_stereo_timeline_duration (const GstStereoTimeline *timeline)
{
  if (timeline->fps_n < 1)
    return GST_CLOCK_TIME_NONE;
  return time_of (timeline, timeline->frame + 1) - time_of (timeline, timeline->frame);
}

void
gst_stereo_timeline_advance (GstStereoTimeline *timeline)
{
  timeline->frame += timeline->backwards ? -1 : 1;
}
