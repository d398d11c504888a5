/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which latency a live element reports, and which pairs it drops to keep that latency: pure logic, no objects, no
 * threads, no clock. Times are in nanoseconds of running time.
 *
 *   latency = what upstream reports + the wait for the partner + excess + allowed
 *   a pair has waited: now - its time - (what upstream reports + the wait for the partner) - excess
 *   it is late when waited + expected > allowed + spare
 *
 * `spare` is what the pipeline allows beyond the latency of this element: what the sink adds, or a slower branch. In
 * overload (`expected` is more than a frame's time) a pair is late sooner: a fresher pair follows soon in any case.
 *
 * `expected` is the slowest of the last pairs and an eighth. `allowed` is at least `expected` and half a frame for
 * waiting, and at least a frame. A pair that takes longer than expected raises `allowed` before it is pushed. Each
 * pair therefore comes within the latency that is reported when it comes, with three exceptions:
 * - Nothing is known before the first pair.
 * - A single pair that takes more than four times `allowed` does not count: the machine stood still then.
 * - Where pairs are expected within a frame's time, no pair is dropped because another takes longer, and `allowed`
 *   covers the time that the longer one took, but not the time that it waited. A sink that holds the element's thread
 *   until the latency is over leaves each pair a frame's time, however large `allowed` is.
 *
 * `allowed` is kept for a period. When less would have been enough in a period, `allowed` is lowered after it. When it
 * has to be raised again, the next periods are twice as long: load that comes back now and then does not make the
 * latency go up and down for long.
 *
 * Pairs may arrive later than upstream reports, by `excess`. While pairs come in time, nothing shows this. When all
 * pairs are late for some time, the pair that waited least shows the excess. An excess so large that the timestamps
 * cannot be of this clock is not added to the latency; pairs are then late relative to each other.
 */
#ifndef GST_STEREO_LATENESS_H
#define GST_STEREO_LATENESS_H

#include <glib.h>

G_BEGIN_DECLS

#define GST_STEREO_LATENESS_RECENT 16

typedef struct
{
  gint64 frame;                              /* from one pair to the next; 0 = not known */
  gint64 recent[GST_STEREO_LATENESS_RECENT]; /* time from the decision to the push, of the last pairs */
  guint next;                                /* place in recent */
  guint held;                                /* pairs for which a push still counts as one that blocks the thread */
  gint64 expected;                           /* 0 = nothing was measured yet */
  gint64 allowed;
  gint64 excess;
  /* of this period */
  gint64 since, period;    /* since: G_MAXINT64 = before the first pair */
  gint64 slowest, soonest; /* slowest computed pair; shortest wait of a pair */
  guint count;             /* of pairs computed */
  gboolean stalled;        /* a pair was not counted */
  gboolean lowered;        /* and not raised since */
  /* since the last pair that was not late */
  guint late;
  gint64 late_since, late_least;
} GstStereoLateness;

void gst_stereo_lateness_init (GstStereoLateness *self);
void gst_stereo_lateness_set_frame (GstStereoLateness *self, gint64 frame);
/* After a flush: forgets waits, which depend on timestamps, and keeps compute times. */
void gst_stereo_lateness_flush (GstStereoLateness *self);

/* Latency of this element, in addition to upstream's latency and the wait for the partner. All functions below may change
 * it. */
gint64 gst_stereo_lateness_latency (const GstStereoLateness *self);

/* Before a pair is decided upon. */
void gst_stereo_lateness_advance (GstStereoLateness *self, gint64 now);

/* How much too late a pair would come if it were computed now; 0 = compute it. @waited: time since the pair should have
 * arrived by upstream's latency; below 0 where it has arrived earlier. */
gint64 gst_stereo_lateness_decide (GstStereoLateness *self, gint64 now, gint64 waited, gint64 spare);

/* A pair is pushed now. @waited: its wait until the decision; @service: its time since then. */
void gst_stereo_lateness_took (GstStereoLateness *self, gint64 waited, gint64 spare, gint64 service);

/* The pair was pushed, which took @time. */
void gst_stereo_lateness_pushed (GstStereoLateness *self, gint64 time);

G_END_DECLS

#endif
