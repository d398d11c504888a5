/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which cameras have stopped without a word: pure logic, on what the pads did from look to look. The time of looks is
 * summed up, instead of comparing clock times, so that neither PAUSED nor a process that was stopped counts as silence.
 */
#ifndef GST_STEREO_QUIET_H
#define GST_STEREO_QUIET_H

#include "gst/pairing/input/pad.h"

G_BEGIN_DECLS

/* For so long a view may have nothing: one that had something before, or one beside a view that goes on. */
#define GST_STEREO_QUIET_TIME (2 * GST_SECOND)

typedef struct
{
  guint seen;         /* buffers and gaps up to the last look */
  GstClockTime idle;  /* since then nothing came */
  GstClockTime alone; /* of that, while the other view went on */
  gboolean heard;     /* something came once */
  gboolean told;      /* that it is silent */
} GstStereoQuietView;

/* Zeroed at first. */
typedef struct
{
  GstStereoQuietView view[2]; /* left, right; of a pad with both views the first one alone */
} GstStereoQuiet;

/* What is to be said of a view. */
typedef struct
{
  gboolean silent, back; /* it has been silent for long; it is back */
  gboolean never;        /* had a frame */
  GstClockTime time;     /* without one */
} GstStereoQuietFinding;

/* What @count views did in the last @elapsed ns. */
void gst_stereo_quiet_add (GstStereoQuiet *quiet, guint count, const GstStereoActivity *activity, GstClockTime elapsed,
    GstStereoQuietFinding findings[2]);
/* The silence begins anew, as after a pause. */
void gst_stereo_quiet_resume (GstStereoQuiet *quiet);
/* After a flush, or a start (@all): only what comes from now on counts. */
void gst_stereo_quiet_reset (GstStereoQuiet *quiet, const GstStereoActivity activity[2], gboolean all);

G_END_DECLS

#endif
