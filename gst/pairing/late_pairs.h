/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which pairs come too late, and are dropped before they are computed. Two things can make a pair late: downstream said
 * so in a QoS event, or, in a live pipeline, the pair would come later than the latency that the element reports.
 * lateness.h holds the rules of the latter; here they meet the clock, the events and the bus.
 */
#ifndef GST_STEREO_LATE_PAIRS_H
#define GST_STEREO_LATE_PAIRS_H

#include <gst/base/gstaggregator.h>

#include "gst/pairing/frame.h"

G_BEGIN_DECLS

typedef struct _GstStereoLatePairs GstStereoLatePairs;

typedef struct
{
  guint64 pairs, late;                 /* computed, dropped */
  guint64 compute_last, compute_total; /* ns */
} GstStereoLatePairsStats;

/* @aggregator reports the latency and posts the messages; the object belongs to it and holds no reference. */
GstStereoLatePairs *gst_stereo_late_pairs_new (GstAggregator *aggregator);
void gst_stereo_late_pairs_free (GstStereoLatePairs *late);
void gst_stereo_late_pairs_start (GstStereoLatePairs *late);
/* After a flush. */
void gst_stereo_late_pairs_flush (GstStereoLatePairs *late);

/* From any thread. */
void gst_stereo_late_pairs_set_qos (GstStereoLatePairs *late, gboolean qos);
gboolean gst_stereo_late_pairs_get_qos (GstStereoLatePairs *late);
void gst_stereo_late_pairs_get_stats (GstStereoLatePairs *late, GstStereoLatePairsStats *stats);

/* New caps: the time from one pair to the next (0 = unknown), and the longest wait for the later frame of a pair; in
 * ns. Reports the latency that follows from them. */
void gst_stereo_late_pairs_set_frame (GstStereoLatePairs *late, GstClockTime frame, GstClockTime wait);
/* A QoS event, or a LATENCY event, from downstream. */
void gst_stereo_late_pairs_read_event (GstStereoLatePairs *late, GstEvent *event);

/* TRUE where the pair would come too late. It is counted then, and a QoS message is posted. @frame gives its time. To
 * be called last, when nothing is left to do but compute and push: the time that these take is measured from here
 * on. */
gboolean gst_stereo_late_pairs_drop (GstStereoLatePairs *late, const GstStereoFrame *frame);
/* The pair took so long to compute, and is pushed now. May raise the latency, which is reported before the push. */
void gst_stereo_late_pairs_computed (GstStereoLatePairs *late, GstClockTime compute_time);
/* It was pushed, which took @ns. */
void gst_stereo_late_pairs_pushed (GstStereoLatePairs *late, gint64 ns);

G_END_DECLS

#endif
