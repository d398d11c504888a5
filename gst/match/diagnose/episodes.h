/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Verdicts are of one pair, and come and go. Findings and episodes are of a stream: a fault has to last. */
#ifndef GST_STEREO_EPISODES_H
#define GST_STEREO_EPISODES_H

#include <glib.h>

G_BEGIN_DECLS

/* Of one pair. UNKNOWN: nothing can be said. */
typedef enum
{
  GST_STEREO_VERDICT_UNKNOWN,
  GST_STEREO_VERDICT_GOOD,
  GST_STEREO_VERDICT_BAD
} GstStereoVerdict;

/* ---- findings: what stands from one pair on ------------------------------------------------ */

/* Zeroed at first. */
typedef struct
{
  gboolean stands;
  guint absent; /* checks in a row that did not find it */
} GstStereoFinding;

/* TRUE when the finding is to be reported: it is there now, and was not there before, or was gone for a while. */
gboolean gst_stereo_finding_update (GstStereoFinding *finding, GstStereoVerdict verdict);

/* ---- episodes: what has to last ------------------------------------------------------------- */

/* A fault counts when it lasts, and so does its end: a hand that passes the lens, or a lamp that is switched, is none. How
 * long is in the table of gststereohealth.h. */
#define GST_STEREO_EPISODE_VERDICTS 4
/* So many verdicts in a row that say nothing make what came before count no more: chance does not add up over hours. */
#define GST_STEREO_EPISODE_PATIENCE 8

typedef enum
{
  GST_STEREO_EPISODE_GOES_ON,
  GST_STEREO_EPISODE_BEGINS,
  GST_STEREO_EPISODE_ENDS
} GstStereoEpisodeChange;

/* Zeroed at first. */
typedef struct
{
  gboolean stands;
  guint count;   /* verdicts in a row that are the opposite of `stands`; those that say nothing do not count */
  guint unknown; /* verdicts in a row that say nothing */
  gint64 since;  /* time of the first of the verdicts that count, ns */
} GstStereoEpisode;

/* @hold: ns that it has to last. */
GstStereoEpisodeChange gst_stereo_episode_update (
    GstStereoEpisode *episode, GstStereoVerdict verdict, gint64 time, gint64 hold);
/* Other times follow. */
void gst_stereo_episode_flush (GstStereoEpisode *episode);

G_END_DECLS

#endif
