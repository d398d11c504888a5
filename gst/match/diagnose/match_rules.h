/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of the faults that the matches of a pair show (matches.h). A row has all that is known of a fault: its verdict, what it
 * waits for, and its texts. match_check.c goes through the rows, and names none of them but views out of step, whose evidence is of
 * several pairs.
 */
#ifndef GST_STEREO_MATCH_RULES_H
#define GST_STEREO_MATCH_RULES_H

#include "gst/match/diagnose/episodes.h"
#include "gst/match/diagnose/matches.h"
#include "gst/video/frame.h"

G_BEGIN_DECLS

/* A pair that is checked. */
typedef struct
{
  const GstStereoLayout *layout;
  const StereoImage *images; /* of both views, in host memory */
  const guint8 *counts; /* a byte for each pixel of the left view: 0 = excluded, no point is searched there. NULL: none is */
  const StereoParams *params; /* of the plan, with the geometry of this pair */
  gint64 time;                /* ns */
  gboolean rectified;         /* their metadata says that they are */
  gboolean sound;             /* no view has a fault: matches count */
  gdouble noise;              /* of the noisier view, grey levels */
  gboolean detailed;          /* both views show more than noise: missing matches count, too */
} GstStereoMatchedPair;

/* What is known of a pair that was matched, and from the pairs before. */
typedef struct
{
  const GstStereoPairMatches *matches;
  const GstStereoMatchedPair *pair;
  gdouble share; /* mean share of the points that are found, in pairs where that was no less than usual; 0 = not known */
  GstStereoVerdict late; /* whether a view shows an earlier moment than the other one */
  guint late_view;       /* 0 = left, 1 = right */
  gdouble certainty;     /* 1 and more: sure */
} GstStereoMatchCase;

typedef struct
{
  guint64 checks, matches; /* complete checks; matches of the last one */
  gboolean exchanged;      /* by the last check that could tell */
  gdouble vertical_offset; /* px; below 0 = not known */
  gdouble beyond;          /* share of the matches beyond the range; below 0 = not known */
  gint wanted;             /* disparities; 0 = no more than are searched */
} GstStereoMatchStats;

/* A fault whose kind (gst/meta/health.c) has a least duration has to last, and is judged at each check. The others are judged at a
 * complete check, and where several pairs contradict what was found. */
typedef struct
{
  GstStereoHealthFlags flag;
  gboolean needs_sound, needs_detail; /* its verdict is unknown where the pair is not sound, or not detailed, */
  gboolean needs_no_noise;            /* and where noise hides the scene: gst_stereo_matches_are_noisy() */
  GstStereoHealthFlags unless;        /* faults on matches which, while they stand, explain what it is judged by */
  gboolean of_rig;                    /* a pair on which all of these are unknown says nothing of the rig */
  gboolean of_offset;                 /* another principal-offset ends it: that is another rig */
  gboolean alignable;                 /* an alignment that fits takes it out */
  /* ns. Its verdict has the evidence of several pairs: it begins at once, and its end has to last so long. 0: as its kind says. */
  gint64 end;
  GstStereoVerdict (*verdict) (const GstStereoMatchCase *match);
  /* Text of its begin (@active) and its end. @figures: of the message; `value` is the figure that decided, and 0 before. */
  gchar *(*text) (const GstStereoMatchCase *match, gboolean active, GstStructure *figures);
  /* May be NULL: keeps a verdict that is known. */
  void (*note) (const GstStereoMatchCase *match, GstStereoVerdict verdict, GstStereoMatchStats *stats);
} GstStereoMatchRule;

/* Row @index of the table; NULL behind the last one. The order is that of messages. */
const GstStereoMatchRule *gst_stereo_match_rule (guint index);

/* Whether noise of so many grey levels hides the scene in the small pictures: chance matches points then. */
gboolean gst_stereo_matches_are_noisy (const GstStereoPairMatches *matches, gdouble noise);
/* Sufficient num-disparities for a search from @min, a multiple of 16. Only where the verdict on the range is bad. */
gint gst_stereo_wanted_disparities (const GstStereoPairMatches *matches, gint min);

G_END_DECLS

#endif
