/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Drops pairs that come too late, before they are computed. A pair is late where a QoS event from downstream says so, and
 * where, in a live pipeline, it would come later than the latency that the element reports. lateness.h has the rules for
 * the latter case. This file reads the clock and the events for them, reports the latency and posts the messages.
 */
#ifndef GST_STEREO_QOS_H
#define GST_STEREO_QOS_H

#include <gst/base/gstaggregator.h>

#include "gst/pairing/frame.h"
#include "gst/video/properties.h"

G_BEGIN_DECLS

#define GST_STEREO_QOS_RECENT 10 /* pairs */

typedef struct _GstStereoQos GstStereoQos;
extern const GstStereoProperty gst_stereo_qos_properties[];

typedef struct
{
  guint64 pairs, late;                                 /* computed, dropped */
  guint64 compute_last, compute_total, compute_recent; /* ns; compute_recent: mean of the last pairs */
} GstStereoQosStats;

/* @aggregator reports the latency and posts the messages; the object belongs to it and holds no reference. */
GstStereoQos *gst_stereo_qos_new (GstAggregator *aggregator);
void gst_stereo_qos_free (GstStereoQos *qos);
/* After a flush, or at the start, which sets all counts to 0. */
void gst_stereo_qos_reset (GstStereoQos *qos, gboolean start);

/* From any thread. */
void gst_stereo_qos_get_stats (GstStereoQos *qos, GstStereoQosStats *stats);

/* New caps: the time from one pair to the next (0 = unknown), and the longest wait for the later frame of a pair; in
 * ns. Reports the latency that follows from them. */
void gst_stereo_qos_set_frame (GstStereoQos *qos, GstClockTime frame, GstClockTime wait);
/* A QoS event, or a LATENCY event, from downstream. */
void gst_stereo_qos_read_event (GstStereoQos *qos, GstEvent *event);

/* TRUE where the pair would come too late. Then counts it and posts a QoS message. @frame gives the time of the pair.
 * Call this last, directly before computing and pushing: the compute time is measured from here. */
gboolean gst_stereo_qos_drop_if_late (GstStereoQos *qos, const GstStereoFrame *frame);
/* The pair was computed in @compute_time, and is pushed now. May raise the latency, and then reports it before the push. */
void gst_stereo_qos_computed (GstStereoQos *qos, GstClockTime compute_time);
/* The pair was pushed, which took @ns. */
void gst_stereo_qos_pushed (GstStereoQos *qos, gint64 ns);

G_END_DECLS

#endif
