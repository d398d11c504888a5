/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which frame comes next, and when: pure arithmetic.
 *
 * When the frame rate changes in a stream, frame numbers and times continue.
 */
#ifndef GST_STEREO_TIMELINE_H
#define GST_STEREO_TIMELINE_H

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _GstStereoTimeline GstStereoTimeline;

/* At frame 0, forwards, without a frame rate. */
GstStereoTimeline *gst_stereo_timeline_new (void);
void gst_stereo_timeline_free (GstStereoTimeline *timeline);
/* As it was when it was new. */
void gst_stereo_timeline_reset (GstStereoTimeline *timeline);

/* Frames per second from the next frame on, fps_n / fps_d; fps_n = 0: a single still picture. */
void gst_stereo_timeline_set_rate (GstStereoTimeline *timeline, gint fps_n, gint fps_d);
/* Makes the frame at @position (ns) the next one, counted with the rate in force. @backwards: frames then come in
 * reverse order, first the one that ends at @position. */
void gst_stereo_timeline_seek (GstStereoTimeline *timeline, GstClockTime position, gboolean backwards);

/* Whether there is no next frame: after a still picture, and before frame 0 when played backwards. */
gboolean gst_stereo_timeline_is_over (const GstStereoTimeline *timeline);
/* Number of the next frame, from 0. */
guint64 gst_stereo_timeline_number (const GstStereoTimeline *timeline);
/* When the next frame begins, ns. */
GstClockTime gst_stereo_timeline_begin (const GstStereoTimeline *timeline);
/* How long the next frame lasts, ns; GST_CLOCK_TIME_NONE for a still picture. */
GstClockTime gst_stereo_timeline_duration (const GstStereoTimeline *timeline);
/* Goes on to the frame after the next one, or before it when played backwards. */
void gst_stereo_timeline_advance (GstStereoTimeline *timeline);

G_END_DECLS

#endif
