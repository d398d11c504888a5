/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/planner.h"

#include "gst/match/debug.h"
#include "gst/video/params.h"

struct _GstStereoPlanner
{
  GstElement *element;

  /* of the source pad's task */
  StereoPlan *plan;
  GstStereoCudaContext *context; /* that the plan lives in; NULL: the engine's own */
  gboolean known;                /* a plan was made since the start: */
  StereoParams set;              /* of these parameters, */
  guint serial;                  /* of that number */
  guint refused;                 /* the number of parameters of which no plan could be made */
  gint width, height;
  gint chosen_backend; /* what backend=auto chose; STEREO_BACKEND_AUTO before that */
  gchar *warned;       /* the last warning of a plan that was posted */
  gchar *refusal;      /* why the parameters that are set are not in force; NULL: they are */

  /* protected by the element's object lock */
  StereoParams in_force;
  const gchar *backend; /* of the last plan; NULL before the first */
};

GstStereoPlanner *
gst_stereo_planner_new (GstElement *element)
{
  GstStereoPlanner *planner = g_new0 (GstStereoPlanner, 1);

  planner->element = element;
  planner->chosen_backend = STEREO_BACKEND_AUTO;
  return planner;
}

void
gst_stereo_planner_free (GstStereoPlanner *planner)
{
  gst_stereo_planner_release (planner);
  g_free (planner);
}

void
gst_stereo_planner_start (GstStereoPlanner *planner)
{
  GST_OBJECT_LOCK (planner->element);
  planner->backend = NULL;
  GST_OBJECT_UNLOCK (planner->element);
}

void
gst_stereo_planner_drop (GstStereoPlanner *planner)
{
  if (planner->plan) {
    gboolean entered = gst_stereo_cuda_enter (planner->context);
    GST_DEBUG_OBJECT (planner->element, "the plan for %dx%d goes", planner->width, planner->height);
    g_clear_pointer (&planner->plan, stereo_plan_free);
    if (entered)
      gst_stereo_cuda_leave (planner->context);
  }
  gst_clear_object (&planner->context);
}

void
gst_stereo_planner_release (GstStereoPlanner *planner)
{
  gst_stereo_planner_drop (planner);
  g_clear_pointer (&planner->warned, g_free);
  g_clear_pointer (&planner->refusal, g_free);
  planner->known = FALSE;
  planner->chosen_backend = STEREO_BACKEND_AUTO;
}

/* ---- a plan is made ----------------------------------------------------------------------- */

gboolean
gst_stereo_planner_has_plan_for (GstStereoPlanner *planner, const GstStereoPlanRequest *request)
{
  const StereoParams *now = planner->plan ? stereo_plan_params (planner->plan) : NULL, *params = &request->params;
  const gchar *reason = NULL;

  if (!now)
    reason = "there is none";
  else if (planner->serial != request->serial)
    reason = "parameters were set";
  else if (planner->width != request->width || planner->height != request->height)
    reason = "the views have another size";
  else if (planner->context != request->context)
    reason = "the frames lie in other memory";
  /* disparities are the same whatever the cameras: only depth is computed from the geometry */
  else if (params->output == STEREO_OUTPUT_DEPTH &&
      (now->focal_length != params->focal_length || now->baseline != params->baseline ||
          now->principal_offset != params->principal_offset))
    reason = "the cameras changed";
  if (reason)
    GST_DEBUG_OBJECT (planner->element, "a plan for %dx%d is needed: %s", request->width, request->height, reason);
  return !reason;
}

/* It is said once, until other parameters are in force. */
static void
refuse (GstStereoPlanner *planner, const StereoError *error)
{
  if (g_strcmp0 (planner->refusal, error->message) == 0)
    return;
  g_free (planner->refusal);
  planner->refusal = g_strdup (error->message);
  GST_ELEMENT_WARNING (planner->element, LIBRARY, SETTINGS,
      ("%s Until then the settings before stay in force.", error->message), (NULL));
}

gboolean
gst_stereo_planner_takes (GstStereoPlanner *planner, GstStereoPlanRequest *request)
{
  StereoParams resolved;
  StereoError error;

  if (!planner->known || planner->serial == request->serial)
    return TRUE;
  if (planner->refused != request->serial) {
    if (stereo_params_resolve (&request->params, &resolved, &error) == STEREO_OK &&
        stereo_params_check_sample (&resolved, request->sample, &error) == STEREO_OK)
      return TRUE;
    refuse (planner, &error);
  }
  request->params = request->set = planner->set;
  request->serial = planner->serial;
  return FALSE;
}

static GstFlowReturn
post_error (GstStereoPlanner *planner, const StereoError *error, const StereoParams *params)
{
  gboolean uncalibrated = params->output == STEREO_OUTPUT_DEPTH && !(params->focal_length > 0 && params->baseline > 0);

  if (error->status != STEREO_ERROR_PARAMETER || !uncalibrated)
    return gst_stereo_post_error (planner->element, error);
  GST_ELEMENT_ERROR (planner->element, CORE, NEGOTIATION,
      ("%s Or let the views bring them along: stereorectify with its calibration set, before stereomatch, writes them "
       "into the metadata.",
          error->message),
      (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}

GstFlowReturn
gst_stereo_planner_post_error (GstStereoPlanner *planner, const StereoError *error)
{
  return post_error (planner, error, stereo_plan_params (planner->plan));
}

/* FALSE after an error was posted; nothing is to be left then. */
static gboolean
enter (GstStereoPlanner *planner, GstStereoCudaContext *context)
{
  if (gst_stereo_cuda_enter (context))
    return TRUE;
  GST_ELEMENT_ERROR (planner->element, RESOURCE, FAILED,
      ("The CUDA context of the frames (device %d) cannot be entered: an earlier failure may have ended it.",
          gst_stereo_cuda_device (context)),
      (NULL));
  return FALSE;
}

static void
warn_of_plan (GstStereoPlanner *planner)
{
  const gchar *warning = stereo_plan_warning (planner->plan);

  if (*warning && g_strcmp0 (warning, planner->warned) != 0)
    GST_ELEMENT_WARNING (planner->element, LIBRARY, SETTINGS, ("%s", warning), (NULL));
  g_free (planner->warned);
  planner->warned = g_strdup (warning);
}

/* What is in force becomes visible. */
static void
publish (GstStereoPlanner *planner)
{
  const gchar *backend = g_intern_string (stereo_plan_backend (planner->plan));
  StereoParams in_force = *stereo_plan_params (planner->plan);

  if (planner->context)
    in_force.cuda_device_id = gst_stereo_cuda_device (planner->context);
  GST_OBJECT_LOCK (planner->element);
  gboolean changed = planner->backend != backend;
  planner->backend = backend;
  planner->in_force = in_force;
  GST_OBJECT_UNLOCK (planner->element);
  GST_INFO_OBJECT (planner->element, "%dx%d on %s: %s; %" G_GSIZE_FORMAT " bytes", planner->width, planner->height,
      backend, stereo_plan_backend_reason (planner->plan), stereo_plan_memory (planner->plan));
  warn_of_plan (planner);
  if (changed)
    g_object_notify (G_OBJECT (planner->element), "active-backend");
}

GstFlowReturn
gst_stereo_planner_make (GstStereoPlanner *planner, const GstStereoPlanRequest *request)
{
  StereoParams params = request->params;
  gboolean automatic = params.backend == STEREO_BACKEND_AUTO;
  StereoError error;

  /* before the next: the two need not fit into memory together */
  gst_stereo_planner_drop (planner);
  if (automatic)
    params.backend = planner->chosen_backend;
  if (request->context)
    params.cuda_device_id = -2; /* the device of the context that is current */
  if (!enter (planner, request->context))
    return GST_FLOW_ERROR;
  planner->plan = stereo_plan_new (&params, request->width, request->height, &error);
  gst_stereo_cuda_leave (request->context);
  if (!planner->plan && planner->known && planner->serial != request->serial) {
    planner->refused = request->serial;
    refuse (planner, &error);
    return GST_STEREO_FLOW_REFUSED;
  }
  if (!planner->plan)
    return post_error (planner, &error, &params);
  if (planner->serial != request->serial)
    g_clear_pointer (&planner->refusal, g_free);
  planner->known = TRUE;
  planner->set = request->set;
  planner->serial = planner->refused = request->serial;
  planner->width = request->width;
  planner->height = request->height;
  /* a plan for the CPU has no use for the context */
  if (!gst_stereo_planner_is_on_cpu (planner))
    gst_object_replace ((GstObject **) &planner->context, (GstObject *) request->context);
  if (automatic)
    planner->chosen_backend = gst_stereo_planner_is_on_cpu (planner) ? STEREO_BACKEND_CPU : STEREO_BACKEND_CUDA;
  publish (planner);
  return GST_FLOW_OK;
}

/* ---- the plan at work --------------------------------------------------------------------- */

gboolean
gst_stereo_planner_makes_depth (const GstStereoPlanner *planner)
{
  return !planner->plan || stereo_plan_params (planner->plan)->output != STEREO_OUTPUT_DISPARITY;
}

gboolean
gst_stereo_planner_is_on_cpu (const GstStereoPlanner *planner)
{
  return !g_str_equal (stereo_plan_backend (planner->plan), "cuda");
}

GstStereoCudaContext *
gst_stereo_planner_context (const GstStereoPlanner *planner)
{
  return planner->context;
}

void
gst_stereo_planner_set_geometry (GstStereoPlanner *planner, const StereoParams *params)
{
  GST_OBJECT_LOCK (planner->element);
  planner->in_force.focal_length = params->focal_length;
  planner->in_force.baseline = params->baseline;
  planner->in_force.principal_offset = params->principal_offset;
  GST_OBJECT_UNLOCK (planner->element);
}

GstStereoGeometry
gst_stereo_planner_geometry (const GstStereoPlanner *planner)
{
  /* only this thread writes it */
  return (GstStereoGeometry){ planner->in_force.focal_length, planner->in_force.baseline,
    planner->in_force.principal_offset };
}

StereoPlan *
gst_stereo_planner_plan (const GstStereoPlanner *planner)
{
  return planner->plan;
}

gboolean
gst_stereo_planner_enter (GstStereoPlanner *planner)
{
  return enter (planner, planner->context);
}

void
gst_stereo_planner_leave (GstStereoPlanner *planner)
{
  gst_stereo_cuda_leave (planner->context);
}

/* In a context that cannot be entered there is nothing left to wait for. */
StereoStatus
gst_stereo_planner_collect (GstStereoPlanner *planner, StereoStats *stats, StereoError *error)
{
  gboolean entered = gst_stereo_cuda_enter (planner->context);
  StereoStatus status = stereo_plan_collect (planner->plan, stats, error);

  if (entered)
    gst_stereo_cuda_leave (planner->context);
  return status;
}

/* ---- from any thread ---------------------------------------------------------------------- */

const gchar *
gst_stereo_planner_get_in_force (GstStereoPlanner *planner, StereoParams *params)
{
  GST_OBJECT_LOCK (planner->element);
  const gchar *backend = planner->backend;
  if (backend)
    *params = planner->in_force;
  GST_OBJECT_UNLOCK (planner->element);
  return backend;
}
