/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The stereomatch element. One object, seven files (and those of its base class, gststereoaggregator.h):
 *   gststereomatch.c         properties, start and stop
 *   gststereomatch-cuda.c    frames in device memory: whether they are taken, and the context the plan lives in
 *   gststereomatch-views.c   what the views' own metadata tells of the cameras
 *   gststereomatch-check.c   whether the input can be what it is said to be
 *   gststereomatch-output.c  a pair becomes an output buffer with its metadata
 *   gststereomatch-flight.c  pairs that are being computed while the next one comes
 *   gststereomatch-plan.c    what one caps and parameter set needs: plan, source caps, pools
 */
#ifndef GST_STEREO_MATCH_H
#define GST_STEREO_MATCH_H

#include "gst/pairing/aggregator.h"
#include "gst/match/check.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_stereo_match_debug);

#define GST_TYPE_STEREO_MATCH (gst_stereo_match_get_type ())
G_DECLARE_FINAL_TYPE (GstStereoMatch, gst_stereo_match, GST, STEREO_MATCH, GstStereoAggregator)
GST_ELEMENT_REGISTER_DECLARE (stereomatch);

#define GST_STEREO_CHECK_INTERVAL (5 * GST_SECOND)

/* What `stats` shows beyond what any pair has. */
typedef struct
{
  guint64 overlapped;           /* pairs submitted while another was in flight */
  guint64 steps_total;          /* ns, by the device's clock */
  gdouble valid_ratio, mean_confidence; /* of the last pair */
  guint64 checks, check_matches;        /* looks at a pair; matches of the last one */
  gboolean exchanged;           /* at the last look that could tell */
  gdouble vertical_offset;      /* px; below 0 = not known */
  guint64 skew_mean;            /* ns */
  gdouble skew_drift;           /* ns in a second */
} GstStereoMatchStats;

/* Of the cameras, as GstStereoMeta has it; 0 = unknown. */
typedef struct
{
  gdouble focal_length, baseline, principal_offset;
} GstStereoGeometry;

/* What is kept from one look at the input to the next. */
typedef struct
{
  GstStereoCheck *look;         /* scratch; NULL before the first, and for views too small */
  gboolean started, conclusive; /* that there was one; that it could tell anything */
  gint64 last;                  /* its time, ns */
  GstStereoSkew skew;
  GstStereoFinding exchanged, unrectified, out_of_step, drifting;
} GstStereoMatchChecks;

/* A pair from its submission on. */
typedef struct
{
  GstBuffer *out, *confidence;
  GstVideoFrame out_frame, confidence_frame;    /* mapped until collected */
  GstVideoFrame input[2];       /* of one frame for both views: the first alone; mapped while the plan reads there */
  GstBuffer *input_buffer[2];
  GstBuffer *truth;             /* that came with the views; may be NULL */
  GstStereoGeometry geometry;   /* in force for this pair */
  GstSegment segment;           /* of the left view */
  gint64 skew;
} GstStereoFlight;

struct _GstStereoMatch
{
  GstStereoAggregator parent;

  /* protected by the object lock */
  StereoParams pending;         /* as set; becomes params when a batch of properties is complete */
  StereoParams params;
  guint serial;                 /* of params */
  guint64 check_interval;
  GstStereoMatchStats stats;
  StereoParams in_force;        /* of the last plan */
  const gchar *backend;         /* of the last plan; NULL before the first */
  GstStereoCudaContext *shared_context; /* of the pipeline, for neighbours that ask; may be NULL */
  gboolean no_device;           /* a device was looked for, and there is none: backend=auto is the CPU */

  /* of the source pad's task */
  StereoPlan *plan;
  GstStereoCudaContext *plan_context;   /* that the plan lives in; NULL: the engine's own */
  GstStereoCudaContext *input_context;  /* that the next plan is to live in */
  gboolean warned_device;       /* that frames come from another device than cuda-device-id */
  guint plan_serial;
  gint plan_width, plan_height;
  gint chosen_backend;          /* what auto chose; STEREO_BACKEND_AUTO before that */
  gchar *warned;                /* the last plan warning posted */
  GstStereoGeometry known;      /* from the views of the pair at hand */
  gboolean warned_geometry, warned_size;        /* that properties or size contradict it */
  GstStereoLayout layout;       /* of the caps negotiated, or being so */
  gboolean have_layout;
  GstVideoInfo out_info;
  GstVideoInfo confidence_info;
  GstBufferPool *confidence_pool;
  gboolean pool_limited;        /* the output pool may have no buffer to spare for a pair in flight */
  GQueue flights;               /* of GstStereoFlight, oldest first; of the plan and the caps as they are */
  GstFlowReturn landed;         /* what became of those that landed while negotiating */
  GstStereoMatchChecks checks;
};

/* gststereomatch-cuda.c */
/* Caps of a sink pad, or of its template when @self is NULL: device memory first, where it may be used. */
GstCaps *gst_stereo_match_input_caps (GstStereoMatch *self);
/* At the start: whether there is a device. */
void gst_stereo_match_look_for_device (GstStereoMatch *self);
/* backend=auto is the CPU. */
void gst_stereo_match_no_device (GstStereoMatch *self);
/* backend was set: upstream may have to make other memory. */
void gst_stereo_match_offer_again (GstStereoMatch *self);
/* Sets the context that a plan for these frames lives in. @second may be @first. */
void gst_stereo_match_choose_context (GstStereoMatch *self, GstBuffer *first, GstBuffer *second);
/* Around everything done with the plan. FALSE after an error was posted; nothing is to be left then. */
gboolean gst_stereo_match_enter_context (GstStereoMatch *self, GstStereoCudaContext *context);
/* Keeps @context (transfer full, NULL: none) for neighbours that ask. */
void gst_stereo_match_share_context (GstStereoMatch *self, GstStereoCudaContext *context);
void gst_stereo_match_set_context (GstElement *element, GstContext *context);
gboolean gst_stereo_match_src_query (GstAggregator *aggregator, GstQuery *query);
gboolean gst_stereo_match_sink_query (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query);

/* gststereomatch-views.c: sets `known` from the views of a pair; @truth gets a reference, if there is one. */
void gst_stereo_match_read_views (GstStereoMatch *self, const GstStereoFrame *left, const GstStereoFrame *right,
    GstBuffer **truth);
/* What is known stands in for what was not set. */
void gst_stereo_match_apply_known (GstStereoMatch *self, StereoParams *params);
/* Whether the plan's geometry is that of @params, or does not matter. */
gboolean gst_stereo_match_plan_is_for (GstStereoMatch *self, const StereoParams *params);
/* As part of what is in force. */
void gst_stereo_match_show_geometry (GstStereoMatch *self, const StereoParams *params);

/* gststereomatch-check.c: of a pair that has a plan. Does something every check-interval. */
void gst_stereo_match_check (GstStereoMatch *self, const GstStereoFrame *first, const GstStereoFrame *second);
/* What must not outlive a seek; with @findings, all of it. */
void gst_stereo_match_reset_checks (GstStereoMatch *self, gboolean findings);

/* gststereomatch-output.c: @second is @first for a frame that holds both views. The pair is in flight then. */
GstFlowReturn gst_stereo_match_process (GstStereoAggregator *base, GstStereoFrame *first, GstStereoFrame *second);
/* Pushes a pair that was collected. */
GstFlowReturn gst_stereo_match_finish (GstStereoMatch *self, GstStereoFlight *flight, const StereoStats *stats);

/* gststereomatch-flight.c: takes @flight, with its buffers there and its inputs mapped, unless it fails. */
GstFlowReturn gst_stereo_match_submit (GstStereoMatch *self, GstStereoFlight *flight, const GstStereoLayout *layout);
/* At the end of aggregate(), which came to @flow: pushes what need not stay in flight; gives the flow to return. */
GstFlowReturn gst_stereo_match_settle (GstStereoAggregator *base, GstStereoPad *const *pads, guint count,
    GstFlowReturn flow);
/* Pushes all that is in flight: before an event, another plan or other caps. */
GstFlowReturn gst_stereo_match_land (GstStereoMatch *self);
/* Drops all that is in flight. */
void gst_stereo_match_abandon (GstStereoMatch *self);
void gst_stereo_flight_free (GstStereoFlight *flight);

/* gststereomatch-plan.c: the plan and the caps for views laid out so, with the parameters as they are now. */
GstFlowReturn gst_stereo_match_prepare (GstStereoMatch *self, const GstStereoLayout *layout);
GstFlowReturn gst_stereo_match_acquire (GstStereoMatch *self, GstBuffer **output, GstBuffer **confidence);
/* The engine's words on the bus; gives the flow that goes with them. */
GstFlowReturn gst_stereo_match_post_error (GstStereoMatch *self, const StereoError *error,
    const StereoParams *params);
GstFlowReturn gst_stereo_match_update_src_caps (GstAggregator *aggregator, GstCaps *caps, GstCaps **result);
gboolean gst_stereo_match_negotiated_src_caps (GstAggregator *aggregator, GstCaps *caps);
gboolean gst_stereo_match_decide_allocation (GstAggregator *aggregator, GstQuery *query);
/* The plan goes, and leaves its context. */
void gst_stereo_match_drop_plan (GstStereoMatch *self);
void gst_stereo_match_release (GstStereoMatch *self);

G_END_DECLS

#endif
