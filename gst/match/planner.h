/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The engine's plan: made for one set of parameters, one size and one CUDA context, and made anew when one of these
 * changes. Knows which parameters are in force.
 */
#ifndef GST_STEREO_PLANNER_H
#define GST_STEREO_PLANNER_H

#include "gst/match/cameras.h"
#include "gst/video/cuda.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

typedef struct _GstStereoPlanner GstStereoPlanner;

/* What a plan is for. */
typedef struct
{
  StereoParams params;
  guint serial; /* of params, without what the views add to them */
  gint width, height;
  GstStereoCudaContext *context; /* that the plan is to live in; NULL: the engine's own */
} GstStereoPlanRequest;

/* The object belongs to @element and holds no reference. */
GstStereoPlanner *gst_stereo_planner_new (GstElement *element);
void gst_stereo_planner_free (GstStereoPlanner *planner);

/* Depth, or the disparity that a plan makes. Depth where there is no plan: fewer formats can hold it. */
gboolean gst_stereo_planner_makes_depth (const GstStereoPlanner *planner);
/* Whether the plan at work is for @request. */
gboolean gst_stereo_planner_has_plan_for (GstStereoPlanner *planner, const GstStereoPlanRequest *request);
/* Makes a plan, in place of the one at work. */
GstFlowReturn gst_stereo_planner_make (GstStereoPlanner *planner, const GstStereoPlanRequest *request);
/* The plan goes, and leaves its context. */
void gst_stereo_planner_drop (GstStereoPlanner *planner);
/* At the stop: the plan goes, and backend=auto chooses anew. */
void gst_stereo_planner_release (GstStereoPlanner *planner);

/* ---- the plan at work; there has to be one ------------------------------------------------ */

const StereoParams *gst_stereo_planner_params (const GstStereoPlanner *planner);
gboolean gst_stereo_planner_is_on_cpu (const GstStereoPlanner *planner);
GstStereoCudaContext *gst_stereo_planner_context (const GstStereoPlanner *planner);
/* The cameras of the pair at hand. A plan for disparity outlives a change of them. */
void gst_stereo_planner_set_geometry (GstStereoPlanner *planner, const StereoParams *params);
GstStereoGeometry gst_stereo_planner_geometry (const GstStereoPlanner *planner);

/* The engine's functions, in the plan's context. Where that cannot be entered, submit posts an error and leaves FALSE in
 * @entered; @error is not set then. */
StereoStatus gst_stereo_planner_submit (GstStereoPlanner *planner, const StereoImage *left, const StereoImage *right,
    const StereoOutput *output, gboolean *entered, StereoError *error);
StereoStatus gst_stereo_planner_collect (GstStereoPlanner *planner, StereoStats *stats, StereoError *error);
/* Posts what submit or collect reported. Returns the flow to return with it. */
GstFlowReturn gst_stereo_planner_post_error (GstStereoPlanner *planner, const StereoError *error);

/* ---- from any thread ---------------------------------------------------------------------- */

/* At the start: no plan was made yet. */
void gst_stereo_planner_start (GstStereoPlanner *planner);
/* FALSE before the first plan. */
gboolean gst_stereo_planner_get_in_force (GstStereoPlanner *planner, StereoParams *params);
/* The name of the backend at work, for as long as the process lives; NULL before the first plan. */
const gchar *gst_stereo_planner_get_backend (GstStereoPlanner *planner);

G_END_DECLS

#endif
