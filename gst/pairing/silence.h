/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds cameras that have stopped sending without ending their stream: pure logic on observations of the pads. It adds up the
 * times between observations and does not compare clock times: neither PAUSED nor a stopped process may count as silence.
 */
#ifndef GST_STEREO_SILENCE_H
#define GST_STEREO_SILENCE_H

#include "gst/pairing/input/pad.h"

G_BEGIN_DECLS

/* Limit for a view that sent frames before, and for a view that never did while the other one sends. */
#define GST_STEREO_SILENCE_TIME (2 * GST_SECOND)

typedef struct
{
  guint seen;         /* buffers and gaps up to the last observation */
  GstClockTime idle;  /* time without a buffer */
  GstClockTime alone; /* part of it in which the other view sent */
  gboolean heard;     /* a buffer, a gap or the end came once */
  gboolean reported;  /* that it is silent */
} GstStereoSilenceView;

/* Zeroed at first. */
typedef struct
{
  GstStereoSilenceView view[2]; /* left, right; of a pad with both views the first one alone */
} GstStereoSilence;

/* What to report about a view. */
typedef struct
{
  gboolean silent, back; /* it has been silent for long; it is back */
  gboolean never;        /* it never had a frame */
  GstClockTime time;     /* for so long it had none */
} GstStereoSilenceFinding;

/* Adds an observation of @count views after @elapsed ns. */
void gst_stereo_silence_add (GstStereoSilence *silence, guint count, const GstStereoActivity *activity,
    GstClockTime elapsed, GstStereoSilenceFinding findings[2]);
/* After a pause: the time without buffers begins at 0. */
void gst_stereo_silence_resume (GstStereoSilence *silence);
/* After a flush, or a start (@all): forgets the buffers so far. */
void gst_stereo_silence_reset (GstStereoSilence *silence, const GstStereoActivity activity[2], gboolean all);

G_END_DECLS

#endif
