/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the clock says: whether the views are in step by their timestamps, whether these drift apart, and whether pairs are computed as
 * fast as they come. Timestamps of both cameras that are wrong by the same amount, and those of the arrival instead of the exposure, show
 * nothing.
 */
#ifndef GST_STEREO_CLOCK_H
#define GST_STEREO_CLOCK_H

#include "gst/match/diagnose/faults.h"

G_BEGIN_DECLS

/* Pairs since the start, and the current settings. */
typedef struct
{
  guint64 pairs, late; /* computed; dropped because they would come too late */
  guint64 compute;     /* ns: mean compute time of the last pairs */
  gboolean behind;     /* the source falls behind: pairs come late because of that */
} GstStereoPaceCounts;

/* Zeroed at first. */
typedef struct
{
  /* timestamps, since the last check */
  guint count;          /* pairs */
  gint64 sum, absolute; /* of right minus left, ns */
  gint64 first, last;   /* times of the pairs, ns */
  gdouble mean;         /* of the absolute difference before the last check, ns */
  gdouble time, skew;   /* of the middle of them before the last check, and mean difference, ns */
  guint steps;          /* checks in a row in which the mean difference went one way; */
  gdouble from;         /* since when, ns; */
  gdouble change;       /* by so much, ns; */
  gdouble drift;        /* that is, ns per second; 0 after fewer steps than show one */
  /* the pace, in a span */
  gint64 begin;           /* ns; 0 = not yet */
  GstStereoPaceCounts at; /* the begin */
} GstStereoClock;

/* The timestamps of a pair at @time. @difference: right minus left, ns. */
void gst_stereo_clock_add (GstStereoClock *clock, gint64 time, gint64 difference);
/* Judges the timestamps since the last call. @frame: nominal time from frame to frame in ns; 0 = unknown. */
void gst_stereo_clock_check (GstStereoClock *clock, GstStereoFaults *faults, gint64 frame);
/* Judges the pace. @time: of a clock that never stops, ns. @width, @height: of a view. */
void gst_stereo_clock_pace (GstStereoClock *clock, GstStereoFaults *faults, gint64 time,
    const GstStereoPaceCounts *counts, gint64 frame, gint width, gint height);
/* After a flush. */
void gst_stereo_clock_flush (GstStereoClock *clock);

G_END_DECLS

#endif
