/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A verdict is about one pair. An episode is about a stream: a fault begins, and ends. */
#ifndef GST_STEREO_EPISODES_H
#define GST_STEREO_EPISODES_H

#include "gst/meta/gststereohealth.h"

G_BEGIN_DECLS

/* About one pair. UNKNOWN: the pair does not show it. */
typedef enum
{
  GST_STEREO_VERDICT_UNKNOWN,
  GST_STEREO_VERDICT_GOOD,
  GST_STEREO_VERDICT_BAD
} GstStereoVerdict;

/* Rules in a table of faults, at most: a health flag is a bit of so many. */
#define GST_STEREO_MOST_RULES 32

/* The row of a flag in the table of kinds (gststereohealth.h). It must have one. */
const GstStereoHealthKind *gst_stereo_kind_of (GstStereoHealthFlags flag);

/* A fault has to last before it is reported, and so has its end: a hand that passes the lens is no fault. The table of kinds has the
 * times. Where one is 0, a single verdict shows the fault. */
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

/* @hold: least duration, ns. 0: the fault begins at once, and ends after a few verdicts in a row that it is absent; @time does not
 * count. */
GstStereoEpisodeChange gst_stereo_episode_update (
    GstStereoEpisode *episode, GstStereoVerdict verdict, gint64 time, gint64 hold);
/* After a flush: timestamps may begin anew. */
void gst_stereo_episode_flush (GstStereoEpisode *episode);

G_END_DECLS

#endif
