/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which latency a live element reports, and which pairs it drops to keep that latency: pure logic, no objects, no
 * threads, no clock. Times are in nanoseconds of running time.
 *
 *   latency = what upstream reports + the wait for the partner + excess + allowed
 *   a pair has waited: now - its time - (what upstream reports + the wait for the partner) - excess
 *   it is late when waited + expected > allowed + spare
 *
 * `spare` is what the pipeline allows beyond the latency of this element: what the sink adds, or a slower branch. `expected` is what
 * the last pair took and an eighth; after a slower one it falls back by a sixteenth with each pair. A quarter of `allowed` is kept back
 * in any case: a pair may turn out to be slower, on top of its wait. `allowed` is at least `expected` and half a frame for waiting, and
 * at least a frame. A pair that takes longer raises `allowed` before it is pushed; where less was enough for a whole period, it is
 * lowered. A single pair that takes more than four times `allowed` does not count: the machine stood still then.
 *
 * Pairs may arrive later than upstream reports, by `excess`. When all pairs are late for half a second, or four frames up to a
 * second, the wait of the next one becomes part of it: however late pairs are, and however fast they become later, one a second is
 * computed. Such a large excess that the timestamps cannot be of this clock is not added to the latency.
 */
#ifndef GST_STEREO_LATENESS_H
#define GST_STEREO_LATENESS_H

#include <glib.h>

G_BEGIN_DECLS

#define GST_STEREO_LATENESS_RECENT 16

typedef struct
{
  gint64 frame;    /* from one pair to the next; 0 = not known */
  gint64 expected; /* time from the decision to the push; 0 = nothing was measured yet */
  gint64 allowed, excess;
  /* of this period: it begins before the first pair with G_MAXINT64 */
  gint64 since, slowest, soonest; /* slowest computed pair, 0 = none; shortest wait of a pair */
  gboolean stalled;               /* a pair was not counted */
  gint64 late_since;              /* since the first late pair after the last computed one; G_MAXINT64 = none */
} GstStereoLateness;

void gst_stereo_lateness_init (GstStereoLateness *self);
void gst_stereo_lateness_set_frame (GstStereoLateness *self, gint64 frame);
/* After a flush: forgets waits, which depend on timestamps, and keeps compute times. */
void gst_stereo_lateness_flush (GstStereoLateness *self);

/* Latency of this element, in addition to upstream's latency and the wait for the partner. All functions below may change
 * it. */
gint64 gst_stereo_lateness_latency (const GstStereoLateness *self);

/* How much too late a pair would come if it were computed now; 0 = compute it. @waited: time since the pair should have
 * arrived by upstream's latency; below 0 where it has arrived earlier. */
gint64 gst_stereo_lateness_decide (GstStereoLateness *self, gint64 now, gint64 waited, gint64 spare);
/* A pair is late, by this latency or for downstream. TRUE where it is computed all the same, because none was for so long. */
gboolean gst_stereo_lateness_is_patience_over (GstStereoLateness *self, gint64 now);
/* A pair is pushed next. @waited: its wait until the decision; @service: its time since then. */
void gst_stereo_lateness_took (GstStereoLateness *self, gint64 waited, gint64 spare, gint64 service);

G_END_DECLS

#endif
