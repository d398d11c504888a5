/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a live element reports as its latency, and which pairs it drops to keep to it: pure logic, no objects, no
 * threads, no clock. Times are in nanoseconds of running time.
 *
 *   latency = what upstream reports + the wait for the partner + excess + allowed
 *   a pair has waited: now - its time - (what upstream reports + the wait for the partner) - excess
 *   it is late when waited + expected > allowed + spare
 *
 * `spare` is what the pipeline allows beyond the latency of this element: what the sink adds, or a slower branch. In
 * overload, where more is expected than a frame's time, late begins sooner: a fresh pair is never far.
 *
 * `expected` is an eighth more than the slowest of the last pairs took, `allowed` at least that and half a frame of
 * waiting, at least a frame. A pair that takes longer than expected raises `allowed` before it is pushed: so pairs come
 * within what is reported when they come, with three exceptions. Of the first pair of all nothing is known. A single
 * one that takes more than four times what is allowed does not count: then the machine stood still. And where pairs are
 * expected within a frame's time, nothing is dropped for the one that takes longer, nor is more allowed than it took:
 * a sink that holds the element's thread until the latency is over leaves each pair a frame's time, whatever that is.
 *
 * What is allowed is remembered for a period. After one in which less would have been enough, it is lowered; when it
 * has to be raised again after that, the period is doubled: what comes back now and then is remembered, and the latency
 * does not go up and down for long.
 *
 * Pairs may arrive later than upstream reports, by `excess`. While pairs come in time nothing tells; but when all pairs
 * are late for some time, the one that waited least tells by how much. It is not taken for latency where it is so much
 * that the timestamps cannot be of this clock; pairs are then late relative to each other.
 */
#ifndef GST_STEREO_LATENESS_H
#define GST_STEREO_LATENESS_H

#include <glib.h>

G_BEGIN_DECLS

#define GST_STEREO_LATENESS_RECENT 16

typedef struct
{
  gint64 frame;                 /* from one pair to the next; 0 = not known */
  gint64 recent[GST_STEREO_LATENESS_RECENT]; /* from the decision to the push, of the last pairs */
  guint next;                   /* place in recent */
  guint held;                   /* for so many pairs more: a push has held the thread */
  gint64 expected;              /* 0 = nothing was measured yet */
  gint64 allowed;
  gint64 excess;
  /* of this period */
  gint64 since, period;         /* since: G_MAXINT64 = before the first pair */
  gint64 slowest, soonest;      /* of those computed; the least that a pair has waited */
  guint count;                  /* of pairs computed */
  gboolean stalled;             /* a pair was not counted */
  gboolean lowered;             /* and not raised since */
  /* since the last pair that was not late */
  guint late;
  gint64 late_since, late_least;
} GstStereoLateness;

void gst_stereo_lateness_init (GstStereoLateness *self);
void gst_stereo_lateness_set_frame (GstStereoLateness *self, gint64 frame);
/* A flush: other timestamps follow, and take as long to compute. */
void gst_stereo_lateness_flush (GstStereoLateness *self);

/* To report, besides what upstream does and the wait for the partner. All of the following may change it. */
gint64 gst_stereo_lateness_latency (const GstStereoLateness *self);

/* Before a pair is decided upon. */
void gst_stereo_lateness_advance (GstStereoLateness *self, gint64 now);

/* By how much a pair would come too late if it were computed now; 0 = compute it. @waited: since the time by which it
 * should have been there, after what upstream reports; below 0 where it came before that. */
gint64 gst_stereo_lateness_decide (GstStereoLateness *self, gint64 now, gint64 waited, gint64 spare);

/* The pair that had waited so long when it was decided upon took so long from then on, and is pushed now. */
void gst_stereo_lateness_took (GstStereoLateness *self, gint64 waited, gint64 spare, gint64 service);

/* It was pushed, which took so long. */
void gst_stereo_lateness_pushed (GstStereoLateness *self, gint64 time);

G_END_DECLS

#endif
