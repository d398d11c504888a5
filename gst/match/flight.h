/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pairs in flight: submitted to the plan, not collected yet.
 *
 * While the next pair is waiting already, one stays in flight when aggregate() returns, so that its computation and the
 * next pair's copies overlap. It stays only if aggregate() is sure to be called again at once: nothing is held back
 * that somebody could be waiting for. A live pipeline holds nothing back at all: a pair is late soon enough.
 */
#ifndef GST_STEREO_FLIGHT_H
#define GST_STEREO_FLIGHT_H

#include "gst/match/cameras.h"
#include "gst/match/mask.h"
#include "gst/match/output.h"
#include "gst/match/planner.h"
#include "gst/meta/gststereohealth.h"

G_BEGIN_DECLS

typedef struct _GstStereoFlights GstStereoFlights;

/* What goes along with a pair, from its submission to its push. */
typedef struct
{
  gint width, height; /* of the output */
  GstBuffer *out, *confidence;
  GstStereoMask *mask;         /* NULL = every pixel counts */
  GstBuffer *truth;            /* true disparity that came with the views; may be NULL */
  GstStereoGeometry geometry;  /* in force for this pair */
  GstSegment segment;          /* of the left view */
  gboolean forget;             /* the frames before are not its past */
  gint64 skew;                 /* right minus left, ns */
  GstStereoHealthFlags health; /* what is wrong with it */
} GstStereoMatchPair;

/* Drops what the pair holds. */
void gst_stereo_match_pair_clear (GstStereoMatchPair *pair);

typedef struct
{
  guint64 overlapped;                   /* pairs submitted while another was in flight */
  guint64 steps_total;                  /* ns, by the device's clock */
  gdouble valid_ratio, mean_confidence; /* of the last pair */
  StereoAlignment alignment;            /* after the last pair that was submitted */
} GstStereoFlightsStats;

/* What submit and collect return when the plan failed: @error says why. The plan is to be dropped then. */
#define GST_STEREO_FLOW_PLAN_FAILED GST_FLOW_CUSTOM_ERROR

/* The object belongs to @element and holds no reference. */
GstStereoFlights *gst_stereo_flights_new (GstElement *element, GstStereoPlanner *planner, GstStereoMatchOutput *output);
void gst_stereo_flights_free (GstStereoFlights *flights);
/* At the start: all counts back to 0. */
void gst_stereo_flights_start (GstStereoFlights *flights);

guint gst_stereo_flights_count (const GstStereoFlights *flights);
/* Maps the frames and the buffers, and submits them. @right is @left for a frame that holds both views. Takes what
 * @pair holds, unless an error was posted. */
GstFlowReturn gst_stereo_flights_submit (GstStereoFlights *flights, GstStereoMatchPair *pair,
    const GstStereoFrame *left, const GstStereoFrame *right, StereoError *error);
/* Waits for the oldest pair, and gives it back. */
GstFlowReturn gst_stereo_flights_collect (
    GstStereoFlights *flights, GstStereoMatchPair *pair, StereoStats *stats, StereoError *error);
/* Waits for all that is in flight, and drops it. */
void gst_stereo_flights_abandon (GstStereoFlights *flights);
/* After a plan that failed was dropped. Until then the frames of the pairs that failed with it stay mapped, for the plan
 * may still read and write there. */
void gst_stereo_flights_unmap_failed (GstStereoFlights *flights);

/* From any thread. */
void gst_stereo_flights_get_stats (GstStereoFlights *flights, GstStereoFlightsStats *stats);

G_END_DECLS

#endif
