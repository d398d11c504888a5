/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames in device memory: whether they are taken, and the CUDA context that the plan lives in.
 *
 * A plan for frames in device memory lives in the context of that memory (cuda_device_id -2: the engine takes the
 * current one), and that context is current around all that is done with it. A frame that lies elsewhere, in another
 * context or in system memory, is read through host memory. A plan for system memory uses the engine's own context.
 */
#include "gst/match/element.h"

#define GST_CAT_DEFAULT gst_stereo_match_debug

static gpointer
parent_class (void)
{
  return g_type_class_peek (GST_TYPE_STEREO_AGGREGATOR);
}

/* ---- what is taken ----------------------------------------------------------------------- */

/* With the object lock held. */
static gboolean
may_use_cuda (const GstStereoMatch *self)
{
  return self->params.backend == STEREO_BACKEND_CUDA ||
      (self->params.backend == STEREO_BACKEND_AUTO && !self->no_device);
}

GstCaps *
gst_stereo_match_input_caps (GstStereoMatch *self)
{
  GstCaps *caps = gst_caps_new_empty ();
  gboolean device = gst_stereo_cuda_built ();

  if (self) {
    GST_OBJECT_LOCK (self);
    device = device && may_use_cuda (self);
    GST_OBJECT_UNLOCK (self);
  }
  if (device)
    gst_caps_append (caps, gst_caps_from_string (GST_VIDEO_CAPS_MAKE_WITH_FEATURES (GST_STEREO_CUDA_FEATURE,
                GST_STEREO_CUDA_FORMATS)));
  gst_caps_append (caps, gst_caps_from_string (GST_VIDEO_CAPS_MAKE (GST_STEREO_FORMATS)));
  return caps;
}

void
gst_stereo_match_look_for_device (GstStereoMatch *self)
{
  gboolean look;
  gint device;

  GST_OBJECT_LOCK (self);
  look = gst_stereo_cuda_built () && self->params.backend == STEREO_BACKEND_AUTO;
  device = self->params.cuda_device_id;
  self->no_device = FALSE;
  GST_OBJECT_UNLOCK (self);
  if (look && !stereo_backend_available (STEREO_BACKEND_CUDA, device, NULL, 0))
    gst_stereo_match_no_device (self);
}

void
gst_stereo_match_offer_again (GstStereoMatch *self)
{
  GstPad *pads[3];

  if (!gst_stereo_cuda_built ())
    return;
  GST_OBJECT_LOCK (self);
  pads[0] = self->parent.packed ? gst_object_ref (GST_PAD (self->parent.packed)) : NULL;
  pads[1] = self->parent.left ? gst_object_ref (GST_PAD (self->parent.left)) : NULL;
  pads[2] = self->parent.right ? gst_object_ref (GST_PAD (self->parent.right)) : NULL;
  GST_OBJECT_UNLOCK (self);
  for (guint i = 0; i < G_N_ELEMENTS (pads); i++)
    if (pads[i]) {
      gst_pad_push_event (pads[i], gst_event_new_reconfigure ());
      gst_object_unref (pads[i]);
    }
}

void
gst_stereo_match_no_device (GstStereoMatch *self)
{
  gboolean before;

  GST_OBJECT_LOCK (self);
  before = self->no_device;
  self->no_device = TRUE;
  GST_OBJECT_UNLOCK (self);
  if (!before)
    gst_stereo_match_offer_again (self);
}

/* ---- the plan's context ------------------------------------------------------------------ */

static void
warn_of_device (GstStereoMatch *self, gint wanted, gint found)
{
  if (self->warned_device)
    return;
  self->warned_device = TRUE;
  GST_ELEMENT_WARNING (self, STREAM, FORMAT, ("Frames lie in the memory of CUDA device %d, and cuda-device-id=%d was "
          "asked for: they go through host memory. Set the same cuda-device-id on what makes them.", found, wanted),
      (NULL));
}

void
gst_stereo_match_choose_context (GstStereoMatch *self, GstBuffer *first, GstBuffer *second)
{
  GstStereoCudaContext *context = gst_stereo_cuda_context_of (first);
  gboolean cuda;
  gint device;

  if (!context)
    context = gst_stereo_cuda_context_of (second);
  /* system memory goes into any context: stay in the present one */
  if (!context)
    context = self->input_context;
  GST_OBJECT_LOCK (self);
  device = self->params.cuda_device_id;
  cuda = may_use_cuda (self);
  GST_OBJECT_UNLOCK (self);
  if (!cuda)
    context = NULL;
  if (context && device >= 0 && gst_stereo_cuda_device (context) != device) {
    warn_of_device (self, device, gst_stereo_cuda_device (context));
    context = NULL;
  }
  gst_object_replace ((GstObject **) &self->input_context, (GstObject *) context);
}

gboolean
gst_stereo_match_enter_context (GstStereoMatch *self, GstStereoCudaContext *context)
{
  if (gst_stereo_cuda_enter (context))
    return TRUE;
  GST_ELEMENT_ERROR (self, RESOURCE, FAILED, ("The CUDA context of the frames (device %d) cannot be entered: an "
          "earlier failure may have ended it.", gst_stereo_cuda_device (context)), (NULL));
  return FALSE;
}

/* ---- the context that elements share ----------------------------------------------------- */

void
gst_stereo_match_share_context (GstStereoMatch *self, GstStereoCudaContext *context)
{
  GstStereoCudaContext *before;

  GST_OBJECT_LOCK (self);
  before = self->shared_context;
  self->shared_context = context;
  GST_OBJECT_UNLOCK (self);
  gst_clear_object (&before);
}

void
gst_stereo_match_set_context (GstElement *element, GstContext *context)
{
  GstStereoMatch *self = GST_STEREO_MATCH (element);
  GstStereoCudaContext *shared;
  gint device;

  GST_OBJECT_LOCK (self);
  device = self->params.cuda_device_id;
  GST_OBJECT_UNLOCK (self);
  shared = gst_stereo_cuda_from_shared (element, context, device);
  if (shared)
    gst_stereo_match_share_context (self, shared);
  GST_ELEMENT_CLASS (parent_class ())->set_context (element, context);
}

/* NULL where cuda-device-id is another. Unref it. */
static GstStereoCudaContext *
shared_context (GstStereoMatch *self, gint *device)
{
  GstStereoCudaContext *context;

  GST_OBJECT_LOCK (self);
  context = self->shared_context;
  if (context)
    gst_object_ref (context);
  *device = may_use_cuda (self) ? self->params.cuda_device_id : -1;
  GST_OBJECT_UNLOCK (self);
  if (context && *device >= 0 && gst_stereo_cuda_device (context) != *device)
    gst_clear_object (&context);
  return context;
}

/* Upstream asks before it makes a context of its own. With cuda-device-id set there has to be one, or upstream would
 * take another device; else any context of theirs will do. */
static gboolean
answer_context (GstStereoMatch *self, GstQuery *query)
{
  GstElement *element = GST_ELEMENT (self);
  GstStereoCudaContext *context;
  gboolean answered;
  gint device;

  if (!gst_stereo_cuda_is_wanted (query))
    return FALSE;
  context = shared_context (self, &device);
  if (!context && device >= 0) {
    gst_stereo_cuda_ask (element);
    context = shared_context (self, &device);
    if (!context && (context = gst_stereo_cuda_new_context (element, device)))
      gst_stereo_match_share_context (self, gst_object_ref (context));
  }
  answered = context && gst_stereo_cuda_answer (element, query, context);
  gst_clear_object (&context);
  return answered;
}

gboolean
gst_stereo_match_src_query (GstAggregator *aggregator, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT && answer_context (GST_STEREO_MATCH (aggregator), query))
    return TRUE;
  return GST_AGGREGATOR_CLASS (parent_class ())->src_query (aggregator, query);
}

gboolean
gst_stereo_match_sink_query (GstAggregator *aggregator, GstAggregatorPad *pad, GstQuery *query)
{
  if (GST_QUERY_TYPE (query) == GST_QUERY_CONTEXT && answer_context (GST_STEREO_MATCH (aggregator), query))
    return TRUE;
  return GST_AGGREGATOR_CLASS (parent_class ())->sink_query (aggregator, pad, query);
}
