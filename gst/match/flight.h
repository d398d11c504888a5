/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Pairs in flight: submitted to the plan, not collected yet.
 *
 * One pair stays in flight when aggregate() returns, if the next pair is waiting already: its computation and the copies of
 * the next pair then overlap. It stays only if aggregate() is sure to be called again at once, so that no element downstream
 * waits for it. In a live pipeline no pair stays in flight, because it would come late.
 */
#ifndef GST_STEREO_FLIGHT_H
#define GST_STEREO_FLIGHT_H

#include "gst/match/cameras.h"
#include "gst/match/diagnose/view.h"
#include "gst/match/mask.h"
#include "gst/match/output.h"
#include "gst/match/planner.h"
#include "gst/meta/gststereohealth.h"

G_BEGIN_DECLS

typedef struct _GstStereoFlights GstStereoFlights;

/* The data of a pair, from its submission to its push. */
typedef struct
{
  gint width, height; /* of the output */
  GstBuffer *out, *confidence;
  GstStereoMask *mask;             /* NULL = every pixel counts */
  GstStereoUnmeasured *unmeasured; /* what has no evidence; NULL = nothing */
  GstBuffer *truth;                /* true disparity that came with the views; may be NULL */
  GstStereoGeometry geometry;      /* in force for this pair */
  GstSegment segment;              /* of the left view */
  gboolean forget;                 /* the stream broke before this pair: it has no history */
  gint64 skew;                     /* right minus left, ns */
  GstStereoHealthFlags health;     /* its known faults */
} GstStereoMatchPair;

/* Sets in a meta of the pair's samples their kind and their units, and the geometry. @params: of the plan. */
void gst_stereo_match_pair_set_units (const GstStereoMatchPair *pair, const GstStereoOutputFormat *format,
    const StereoParams *params, GstStereoMeta *meta);
/* Drops all references of the pair. */
void gst_stereo_match_pair_clear (GstStereoMatchPair *pair);

typedef struct
{
  guint64 overlapped;                   /* pairs submitted while another was in flight */
  guint64 steps_total;                  /* ns, by the device's clock */
  gdouble valid_ratio, mean_confidence; /* of the last pair */
  StereoAlignment alignment;            /* after the last pair that was submitted */
} GstStereoFlightsStats;

/* submit and collect return this when the plan failed, with the reason in @error. The caller then drops the plan. */
#define GST_STEREO_FLOW_PLAN_FAILED GST_FLOW_CUSTOM_ERROR

/* The object belongs to @element and holds no reference. */
GstStereoFlights *gst_stereo_flights_new (GstElement *element, GstStereoPlanner *planner, GstStereoMatchOutput *output);
void gst_stereo_flights_free (GstStereoFlights *flights);
/* At the start: sets all counts to 0. */
void gst_stereo_flights_start (GstStereoFlights *flights);

guint gst_stereo_flights_count (const GstStereoFlights *flights);
/* Maps the frames and the buffers, and submits them. @right is @left for a frame that has both views. Takes the references in
 * @pair, unless an error was posted. */
GstFlowReturn gst_stereo_flights_submit (GstStereoFlights *flights, GstStereoMatchPair *pair,
    const GstStereoFrame *left, const GstStereoFrame *right, StereoError *error);
/* Waits for the oldest pair, and gives it back. */
GstFlowReturn gst_stereo_flights_collect (
    GstStereoFlights *flights, GstStereoMatchPair *pair, StereoStats *stats, StereoError *error);
/* Waits for all pairs in flight, and drops them. */
void gst_stereo_flights_abandon (GstStereoFlights *flights);
/* Call after a failed plan was dropped. Until then the frames of its pairs stay mapped, because the plan may still read and
 * write them. */
void gst_stereo_flights_unmap_failed (GstStereoFlights *flights);

/* From any thread. */
void gst_stereo_flights_get_stats (GstStereoFlights *flights, GstStereoFlightsStats *stats);

G_END_DECLS

#endif
