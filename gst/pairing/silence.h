/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which cameras have stopped sending, although their streams did not end: pure logic, on what the pads did from
 * observation to observation. The times between observations are added up, instead of comparing clock times, so that
 * neither PAUSED nor a process that was stopped counts as silence.
 */
#ifndef GST_STEREO_SILENCE_H
#define GST_STEREO_SILENCE_H

#include "gst/pairing/input/pad.h"

G_BEGIN_DECLS

/* For so long a view may have nothing: one that had something before, or one beside a view that goes on. */
#define GST_STEREO_SILENCE_TIME (2 * GST_SECOND)

typedef struct
{
  guint seen;         /* buffers and gaps up to the last observation */
  GstClockTime idle;  /* for so long nothing came */
  GstClockTime alone; /* of that, while the other view went on */
  gboolean heard;     /* something came once */
  gboolean reported;  /* that it is silent */
} GstStereoSilenceView;

/* Zeroed at first. */
typedef struct
{
  GstStereoSilenceView view[2]; /* left, right; of a pad with both views the first one alone */
} GstStereoSilence;

/* What is to be reported of a view. */
typedef struct
{
  gboolean silent, back; /* it has been silent for long; it is back */
  gboolean never;        /* it never had a frame */
  GstClockTime time;     /* for so long it had none */
} GstStereoSilenceFinding;

/* What @count views did in the last @elapsed ns. */
void gst_stereo_silence_add (GstStereoSilence *silence, guint count, const GstStereoActivity *activity,
    GstClockTime elapsed, GstStereoSilenceFinding findings[2]);
/* The silence begins anew, as after a pause. */
void gst_stereo_silence_resume (GstStereoSilence *silence);
/* After a flush, or a start (@all): only what comes from now on counts. */
void gst_stereo_silence_reset (GstStereoSilence *silence, const GstStereoActivity activity[2], gboolean all);

G_END_DECLS

#endif
