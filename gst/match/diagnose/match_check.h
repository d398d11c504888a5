/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matches points of some pairs, and reports the verdicts on the matches (verdicts.h). */
#ifndef GST_STEREO_MATCH_CHECK_H
#define GST_STEREO_MATCH_CHECK_H

#include "gst/match/diagnose/report.h"
#include "gst/video/frame.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

/* Times from one check to the next of mismatch, out of step and focal: without and with a suspicion. */
#define GST_STEREO_MATCHES_INTERVAL (400 * GST_MSECOND)
#define GST_STEREO_MATCHES_SOON (90 * GST_MSECOND)

typedef struct _GstStereoMatchCheck GstStereoMatchCheck;

typedef struct
{
  guint64 checks, matches; /* complete checks; matches of the last one */
  gboolean exchanged;      /* by the last check that could tell */
  gdouble vertical_offset; /* px; below 0 = not known */
  gdouble beyond;          /* share of the matches beyond the range; below 0 = not known */
  gint wanted;             /* disparities; 0 = no more than are searched */
} GstStereoMatchStats;

/* The input of a check. */
typedef struct
{
  const GstStereoLayout *layout;
  const StereoImage *images; /* of both views, in host memory */
  const guint8 *counts; /* a byte for each pixel of the left view: 0 = excluded, no point is searched there. NULL: none is */
  const StereoParams *params; /* of the plan, with the geometry of this pair */
  gint64 time, spacing;       /* its time, and from the pair before to it, ns; spacing 0 = not known */
  gboolean rectified;         /* their metadata says that they are */
  gboolean sound;             /* no view has a fault: matches count */
  gdouble noise;              /* of the noisier view, grey levels */
  gboolean detailed;          /* both views show more than noise: missing matches count, too */
} GstStereoMatchedPair;

/* Neither @element nor @report is owned. */
GstStereoMatchCheck *gst_stereo_match_check_new (GstElement *element, GstStereoReport *report);
void gst_stereo_match_check_free (GstStereoMatchCheck *check);
/* At the start: forgets all findings. */
void gst_stereo_match_check_start (GstStereoMatchCheck *check);
/* After a flush: timestamps may begin anew. */
void gst_stereo_match_check_flush (GstStereoMatchCheck *check);
/* At the stop. */
void gst_stereo_match_check_release (GstStereoMatchCheck *check);

gboolean gst_stereo_match_check_is_due (const GstStereoMatchCheck *check, gint64 time);
/* @all: a complete check. Else rows, exchange and range are judged only where several pairs contradict what was found.
 * Returns whether the check was conclusive. */
gboolean gst_stereo_match_check_run (GstStereoMatchCheck *check, const GstStereoMatchedPair *pair, gboolean all);
/* Keeps one of the last two frames before the next pair that is checked. @last: the one before it, from which motion is measured
 * unless the scene moves so slowly that it is measured from an earlier check on. */
void gst_stereo_match_check_keep (GstStereoMatchCheck *check, const GstStereoMatchedPair *pair, gboolean last);
/* A pair was not kept: those before it are not the last ones. */
void gst_stereo_match_check_forget_frames (GstStereoMatchCheck *check);
/* Whether the alignment takes out what the last matches show of the rows. */
gboolean gst_stereo_match_check_fits (const GstStereoMatchCheck *check, const StereoAlignment *alignment);
/* num-disparities that the last matches need; 0 = not known. */
gint gst_stereo_match_check_get_needed (const GstStereoMatchCheck *check);

/* From any thread. */
void gst_stereo_match_check_get_stats (GstStereoMatchCheck *check, GstStereoMatchStats *stats);

G_END_DECLS

#endif
