/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A verdict is about one pair. Findings and episodes are about a stream: a fault has to last. */
#ifndef GST_STEREO_EPISODES_H
#define GST_STEREO_EPISODES_H

#include <glib.h>

G_BEGIN_DECLS

/* About one pair. UNKNOWN: the pair does not show it. */
typedef enum
{
  GST_STEREO_VERDICT_UNKNOWN,
  GST_STEREO_VERDICT_GOOD,
  GST_STEREO_VERDICT_BAD
} GstStereoVerdict;

/* ---- findings: faults that one pair shows -------------------------------------------------- */

/* Zeroed at first. */
typedef struct
{
  gboolean stands;
  guint absent; /* checks in a row that did not find it */
} GstStereoFinding;

/* TRUE when the finding has to be reported: it is new, or was absent for a while. */
gboolean gst_stereo_finding_update (GstStereoFinding *finding, GstStereoVerdict verdict);

/* ---- episodes: faults that have to last ----------------------------------------------------- */

/* A fault has to last before it is reported, and so has its end: a hand that passes the lens is no fault. The
 * table in gststereohealth.h has the times. */
#define GST_STEREO_EPISODE_VERDICTS 4
/* After so many unknown verdicts in a row, over so many ns, earlier verdicts do not count: chance must not add up over hours. While a
 * fault is suspected, verdicts come faster, but what moves does not. */
#define GST_STEREO_EPISODE_PATIENCE 8
#define GST_STEREO_EPISODE_DOUBT G_GINT64_CONSTANT (1400000000)

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
  guint count;   /* verdicts in a row that contradict `stands`, without the unknown ones */
  guint unknown; /* unknown verdicts in a row */
  gint64 doubt;  /* time of the first of them, ns */
  gint64 since;  /* time of the first of the verdicts that count, ns */
} GstStereoEpisode;

/* @hold: least duration, ns. */
GstStereoEpisodeChange gst_stereo_episode_update (
    GstStereoEpisode *episode, GstStereoVerdict verdict, gint64 time, gint64 hold);
/* After a flush: timestamps may begin anew. */
void gst_stereo_episode_flush (GstStereoEpisode *episode);

G_END_DECLS

#endif
