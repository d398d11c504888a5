/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matches points of a pair, now and then, and reports what the matches say: see verdicts.h. */
#ifndef GST_STEREO_MATCH_CHECK_H
#define GST_STEREO_MATCH_CHECK_H

#include "gst/match/diagnose/report.h"
#include "gst/video/frame.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

/* Whether the views show one scene, and of one moment, is judged that often; and soon again where it may not be so. */
#define GST_STEREO_MATCHES_INTERVAL (400 * GST_MSECOND)
#define GST_STEREO_MATCHES_SOON (150 * GST_MSECOND)

typedef struct _GstStereoMatchCheck GstStereoMatchCheck;

typedef struct
{
  guint64 checks, matches; /* times that all was judged; matches of the last one */
  gboolean exchanged;      /* the last time that it could be said */
  gdouble vertical_offset; /* px; below 0 = not known */
  gdouble beyond;          /* share of the matches beyond the range; below 0 = not known */
  gint wanted;             /* disparities; 0 = no more than are searched */
} GstStereoMatchStats;

/* What is matched. */
typedef struct
{
  const GstStereoLayout *layout;
  const StereoImage *images;  /* of both views, in host memory */
  const guint8 *counts;       /* a byte a pixel of the left view; where it is 0 no point is searched. NULL: nowhere */
  const StereoParams *params; /* of the plan */
  gint64 time;                /* ns */
  gboolean sound;             /* nothing is wrong with a view: what matches counts */
  gboolean detailed;          /* both views show more than noise: where nothing matches, that counts, too */
} GstStereoMatchedPair;

/* Neither @element nor @report is owned. */
GstStereoMatchCheck *gst_stereo_match_check_new (GstElement *element, GstStereoReport *report);
void gst_stereo_match_check_free (GstStereoMatchCheck *check);
/* At the start: nothing was found yet. */
void gst_stereo_match_check_start (GstStereoMatchCheck *check);
/* After a flush: other times follow. */
void gst_stereo_match_check_flush (GstStereoMatchCheck *check);
/* At the stop. */
void gst_stereo_match_check_release (GstStereoMatchCheck *check);

gboolean gst_stereo_match_check_is_due (const GstStereoMatchCheck *check, gint64 time);
/* @all: not only whether the views show one scene, of one moment, by lenses of one kind. Returns whether anything could be
 * said of all that. */
gboolean gst_stereo_match_check_run (GstStereoMatchCheck *check, const GstStereoMatchedPair *pair, gboolean all);
/* Disparities that the last matches need; 0 = not known. */
gint gst_stereo_match_check_get_needed (const GstStereoMatchCheck *check);

/* From any thread. */
void gst_stereo_match_check_get_stats (GstStereoMatchCheck *check, GstStereoMatchStats *stats);

G_END_DECLS

#endif
