/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Makes the engine's plan for one set of parameters, one size and one CUDA context, and a new one when one of these changes.
 * Keeps the parameters in force.
 */
#ifndef GST_STEREO_PLANNER_H
#define GST_STEREO_PLANNER_H

#include "gst/match/cameras.h"
#include "gst/video/cuda.h"
#include "stereo/stereo.h"

G_BEGIN_DECLS

#define GST_STEREO_FLOW_REFUSED GST_FLOW_CUSTOM_ERROR_2 /* see GST_STEREO_FLOW_PLAN_FAILED */

typedef struct _GstStereoPlanner GstStereoPlanner;

/* The input of a plan. */
typedef struct
{
  StereoParams set;    /* as properties set them */
  guint serial;        /* of set */
  StereoParams params; /* with the values from the views' metadata */
  gint width, height;
  StereoSample sample;           /* of the output */
  GstStereoCudaContext *context; /* for the plan; NULL: the engine's own */
} GstStereoPlanRequest;

/* The object belongs to @element and holds no reference. */
GstStereoPlanner *gst_stereo_planner_new (GstElement *element);
void gst_stereo_planner_free (GstStereoPlanner *planner);

/* Whether the plan gives depth, not disparity. TRUE without a plan: depth has fewer formats. */
gboolean gst_stereo_planner_makes_depth (const GstStereoPlanner *planner);
/* Whether the plan at work is for @request. */
gboolean gst_stereo_planner_has_plan_for (GstStereoPlanner *planner, const GstStereoPlanRequest *request);
/* While the stream runs, parameters that do not fit leave those before in force. FALSE after a warning, once: the parameters in
 * force are in @request->set and @request->params, and the values from the metadata are yet to be read. */
gboolean gst_stereo_planner_takes (GstStereoPlanner *planner, GstStereoPlanRequest *request);
/* Makes a plan, which replaces the one at work. GST_STEREO_FLOW_REFUSED: with these parameters there is none, and
 * gst_stereo_planner_takes() has those before. */
GstFlowReturn gst_stereo_planner_make (GstStereoPlanner *planner, const GstStereoPlanRequest *request);
/* Frees the plan, and leaves its context. */
void gst_stereo_planner_drop (GstStereoPlanner *planner);
/* At the stop: frees the plan, and lets backend=auto choose anew. */
void gst_stereo_planner_release (GstStereoPlanner *planner);

/* ---- the plan at work; there has to be one ------------------------------------------------ */

gboolean gst_stereo_planner_is_on_cpu (const GstStereoPlanner *planner);
GstStereoCudaContext *gst_stereo_planner_context (const GstStereoPlanner *planner);
/* The cameras of the pair at hand. A plan for disparity outlives a change of them. */
void gst_stereo_planner_set_geometry (GstStereoPlanner *planner, const StereoParams *params);
GstStereoGeometry gst_stereo_planner_geometry (const GstStereoPlanner *planner);

/* Use the plan only between enter and leave, which make its context current. enter: FALSE after an error was posted; do not
 * call leave then. */
StereoPlan *gst_stereo_planner_plan (const GstStereoPlanner *planner);
gboolean gst_stereo_planner_enter (GstStereoPlanner *planner);
void gst_stereo_planner_leave (GstStereoPlanner *planner);
/* stereo_plan_collect(). Also where the context cannot be entered any more: the plan then reports an error. */
StereoStatus gst_stereo_planner_collect (GstStereoPlanner *planner, StereoStats *stats, StereoError *error);
/* Posts the error of the plan. Returns the flow for process(). */
GstFlowReturn gst_stereo_planner_post_error (GstStereoPlanner *planner, const StereoError *error);

/* ---- from any thread ---------------------------------------------------------------------- */

/* At the start: forgets the parameters of the last plan. */
void gst_stereo_planner_start (GstStereoPlanner *planner);
/* The name of the backend at work, for as long as the process lives, and what is in force. NULL before the first plan, and @params
 * stays. */
const gchar *gst_stereo_planner_get_in_force (GstStereoPlanner *planner, StereoParams *params);

G_END_DECLS

#endif
