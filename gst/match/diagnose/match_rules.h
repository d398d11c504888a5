/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The table of the faults that the matches of a pair show (matches.h). A row has all that is known of a fault: its verdict, what it
 * waits for, and its texts. match_check.c goes through the rows, and names none of them but views out of step, whose evidence is of
 * several pairs.
 */
#ifndef GST_STEREO_MATCH_RULES_H
#define GST_STEREO_MATCH_RULES_H

#include "gst/match/diagnose/episodes.h"
#include "gst/match/diagnose/match_case.h"

G_BEGIN_DECLS

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
  /* Verdicts on the same pair that have to be GOOD, and that must not be BAD: else its own is unknown. */
  GstStereoHealthFlags needs_good, unless_bad;
  gboolean of_rig;    /* a pair on which all of these are unknown says nothing of the rig */
  gboolean of_offset; /* another principal-offset ends it: that is another rig */
  gboolean alignable; /* an alignment that fits takes it out */
  /* ns. Its verdict has the evidence of several pairs: it begins at once, and its end has to last so long. 0: as its kind says. */
  gint64 end;
  GstStereoVerdict (*verdict) (const GstStereoMatchCase *match);
  /* Of its begin (@active) and its end. @figures: of the message; `value` is the figure that decided, and 0 before. */
  gchar *(*text) (const GstStereoMatchCase *match, gboolean active, GstStructure *figures);
  /* May be NULL: what a pair that counts adds to what is known from earlier ones. */
  void (*learn) (const GstStereoMatchCase *match, GstStereoVerdict verdict, GstStereoMatchPast *past);
  /* May be NULL: keeps a verdict that is known. */
  void (*note) (const GstStereoMatchCase *match, GstStereoVerdict verdict, GstStereoMatchStats *stats);
} GstStereoMatchRule;

/* Row @index of the table; NULL behind the last one. The order is that of messages. */
const GstStereoMatchRule *gst_stereo_match_rule (guint index);
/* The row of a flag, which must have one. */
const GstStereoMatchRule *gst_stereo_match_rule_of (GstStereoHealthFlags flag);
/* What a row and the verdicts that it asks for make of matches. Where too few count, the verdict is unknown. */
GstStereoVerdict gst_stereo_match_judge (const GstStereoMatchRule *rule, const GstStereoMatchCase *match);

/* Whether noise of so many grey levels hides the scene in the small pictures: chance matches points then. */
gboolean gst_stereo_matches_are_noisy (const GstStereoPairMatches *matches, gdouble noise);
/* Sufficient num-disparities for a search from @min, a multiple of 16. Only where the verdict on the range is bad. */
gint gst_stereo_wanted_disparities (const GstStereoPairMatches *matches, gint min);

G_END_DECLS

#endif
