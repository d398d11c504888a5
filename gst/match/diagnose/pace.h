/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Checks whether pairs are computed as fast as they come in a live stream, and advises faster settings. The time of
 * another size is estimated in proportion to pixels times disparities.
 */
#ifndef GST_STEREO_PACE_H
#define GST_STEREO_PACE_H

#include "gst/match/diagnose/episodes.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

#define GST_STEREO_PACE_SPAN (G_GINT64_CONSTANT (5000000000)) /* ns: one verdict covers so long */

/* Counts since the start. */
typedef struct
{
  guint64 pairs, late; /* computed; dropped because they would come too late */
  guint64 compute;     /* ns: mean compute time of the last pairs */
  gboolean behind;     /* the source falls behind: pairs come late because of that */
} GstStereoPaceCounts;

/* Zeroed at first. */
typedef struct
{
  gboolean begun, stands;
  gint64 begin;              /* of the span, ns */
  GstStereoPaceCounts first; /* counts at the begin */
  guint64 late;              /* at the last call */
  gint64 earliest, latest;   /* times of the first and the last drop in the span, ns; 0 = none */
  guint64 dropped, computed; /* of the last complete span */
} GstStereoPace;

/* @counts at @time of a clock that never stops (ns). Drops must be spread over the span, or be most of its pairs: a burst of
 * drops, while a plan is made or a device starts, does not mean that the machine is too slow. */
GstStereoEpisodeChange gst_stereo_pace_add (GstStereoPace *pace, gint64 time, const GstStereoPaceCounts *counts);
/* After a pause or a flush: begins a new span. */
void gst_stereo_pace_flush (GstStereoPace *pace);

/* The current settings, and the time of a pair with them. */
typedef struct
{
  gint width, height, disparities; /* of a view; of the search */
  gboolean listed;                 /* it searches from coarse to fine: the range hardly counts */
  gdouble compute, frame;          /* ns: of a pair; from frame to frame, 0 = not known */
} GstStereoLoad;

/* Smaller views of the same scene. */
typedef struct
{
  gint width, height, disparities; /* 0 = smaller views would be too small to be useful */
} GstStereoSmaller;

/* Settings that would be fast enough; 0 where none was found. */
typedef struct
{
  gboolean elsewhere; /* matching is fast enough: an element downstream, or other work on the machine, is too slow */
  gint disparities;   /* with the current size */
  GstStereoSmaller smaller; /* with all other settings unchanged */
} GstStereoAdvice;

/* @needed: disparities that the scene needs at the current size; 0 = not known. */
GstStereoAdvice gst_stereo_pace_advise (const GstStereoLoad *load, gint needed);
/* The text of the warning. */
gchar *gst_stereo_pace_describe (const GstStereoPace *pace, const GstStereoLoad *load, const GstStereoAdvice *advice);

G_END_DECLS

#endif
