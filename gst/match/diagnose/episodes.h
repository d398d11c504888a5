/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is said of one pair, and what of a stream: verdicts come and go from pair to pair, a fault has to last. */
#ifndef GST_STEREO_EPISODES_H
#define GST_STEREO_EPISODES_H

#include <glib.h>

G_BEGIN_DECLS

/* Of one pair. UNKNOWN: it tells nothing. */
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
#define GST_STEREO_EPISODE_LOOKS 4
/* So many looks in a row that tell nothing make what came before count no more: chance does not add up over hours. */
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
  guint count;   /* looks in a row that say the opposite of `stands`; looks that tell nothing do not count */
  guint unknown; /* looks in a row that tell nothing */
  gint64 since;  /* time of the first of the looks that count, ns */
} GstStereoEpisode;

/* @hold: ns that it has to last. */
GstStereoEpisodeChange gst_stereo_episode_update (
    GstStereoEpisode *episode, GstStereoVerdict verdict, gint64 time, gint64 hold);
/* Other times follow. */
void gst_stereo_episode_flush (GstStereoEpisode *episode);

G_END_DECLS

#endif
