/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether the pairs of a live stream are computed as fast as they come, and what would keep up. All that is known is what
 * the pairs took on this machine: what another size would take is an estimate, in proportion to pixels times
 * disparities, and what another profile would take is a ratio that was measured on other machines (docs/benchmarks.md).
 */
#ifndef GST_STEREO_PACE_H
#define GST_STEREO_PACE_H

#include "gst/match/diagnose/view_faults.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

#define GST_STEREO_PACE_SPAN (G_GINT64_CONSTANT (5000000000)) /* ns that are judged together */

/* Counts since the start. */
typedef struct
{
  guint64 pairs, late; /* computed; dropped because they would come too late */
  guint64 compute;     /* ns that the pairs took together */
} GstStereoPaceCounts;

/* Zeroed at first. */
typedef struct
{
  gboolean begun, stands;
  gint64 begin;              /* of the span, ns */
  GstStereoPaceCounts first; /* then */
  guint64 late;              /* at the last call */
  gint64 earliest, latest;   /* when pairs of the span were dropped, ns; 0 = none was */
  guint64 dropped, computed; /* in the last span that was judged */
  gdouble compute;           /* ns, mean of the last span with a pair */
} GstStereoPace;

/* Counts at @time of a clock that never stops (ns). Pairs that are dropped at one moment, while a plan is made or a device
 * starts, are no sign of a machine that is too slow: they have to be spread over the span, or to be most of it. */
GstStereoEpisodeChange gst_stereo_pace_add (GstStereoPace *pace, gint64 time, const GstStereoPaceCounts *counts);
/* After a pause or a flush: what came in between is not judged. */
void gst_stereo_pace_flush (GstStereoPace *pace);

/* What a pair takes, and what there is. */
typedef struct
{
  gint width, height, disparities; /* of a view; searched */
  gint method, profile;            /* StereoMethod, StereoProfile */
  gboolean on_device;              /* the backend is CUDA */
  gdouble compute, frame;          /* ns: a pair takes; from frame to frame, 0 = not known */
} GstStereoLoad;

/* Smaller views of the same scene. */
typedef struct
{
  gint width, height, disparities; /* 0 = no views that are large enough to be of use */
} GstStereoSmaller;

/* What would keep up; 0 and NULL where nothing was found. */
typedef struct
{
  gboolean elsewhere;       /* matching is fast enough: what follows it, or other work on the machine, is not */
  gint disparities;         /* with views as they are */
  GstStereoSmaller smaller; /* with all else as it is */
  const gchar *setting;     /* "profile=road"; with views as they are, or: */
  GstStereoSmaller with;    /* smaller views that the setting needs too; 0 = it needs none */
  gdouble setting_time;     /* ns that a pair would take with it */
} GstStereoAdvice;

/* @needed: disparities that the scene needs at the size as it is; 0 = not known. */
GstStereoAdvice gst_stereo_pace_advise (const GstStereoLoad *load, gint needed);

G_END_DECLS

#endif
