/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/device.h"

#include "gst/match/debug.h"
#include "gst/pairing/aggregator.h"
#include "gst/video/frame.h"

#include <string.h>

struct _GstStereoDevice
{
  GstElement *element;
  GstStereoSettings *settings;

  /* protected by the element's object lock */
  GstStereoCudaContext *shared; /* of the pipeline, for neighbours that ask; may be NULL */
  gboolean none;                /* a check has found no device */

  /* of the source pad's task */
  GstStereoCudaContext *context; /* of the last pair's plan; NULL: the engine's own */
  gboolean warned;               /* that frames come from another device than cuda-device-id */
};

GstStereoDevice *
gst_stereo_device_new (GstElement *element, GstStereoSettings *settings)
{
  GstStereoDevice *device = g_new0 (GstStereoDevice, 1);

  device->element = element;
  device->settings = settings;
  return device;
}

void
gst_stereo_device_free (GstStereoDevice *device)
{
  gst_clear_object (&device->shared);
  gst_clear_object (&device->context);
  g_free (device);
}

void
gst_stereo_device_release (GstStereoDevice *device)
{
  gst_clear_object (&device->context);
  device->warned = FALSE;
}

/* ---- caps -------------------------------------------------------------------------------- */

static gboolean
may_use_cuda (GstStereoDevice *device, const StereoParams *params)
{
  gboolean none;

  GST_OBJECT_LOCK (device->element);
  none = device->none;
  GST_OBJECT_UNLOCK (device->element);
  return params->backend == STEREO_BACKEND_CUDA || (params->backend == STEREO_BACKEND_AUTO && !none);
}

static gboolean
prefers_device_memory (GstStereoDevice *device)
{
  StereoParams params;

  gst_stereo_settings_read (device->settings, &params);
  return may_use_cuda (device, &params);
}

GstCaps *
gst_stereo_device_input_caps (GstStereoDevice *device)
{
  GstCaps *caps = gst_caps_new_empty ();

  if (gst_stereo_cuda_built () && (!device || prefers_device_memory (device)))
    gst_caps_append (caps,
        gst_caps_from_string (GST_VIDEO_CAPS_MAKE_WITH_FEATURES (GST_STEREO_CUDA_FEATURE, GST_STEREO_CUDA_FORMATS)));
  gst_caps_append (caps, gst_caps_from_string (GST_VIDEO_CAPS_MAKE (GST_STEREO_FORMATS)));
  gst_caps_append (caps, gst_caps_from_string (GST_VIDEO_CAPS_MAKE (GST_STEREO_DEEP_FORMATS)));
  return caps;
}

gboolean
gst_stereo_device_probe (GstStereoDevice *device)
{
  StereoParams params;
  gchar reason[256] = "";

  gst_stereo_settings_read (device->settings, &params);
  GST_OBJECT_LOCK (device->element);
  device->none = FALSE;
  GST_OBJECT_UNLOCK (device->element);
  if (!gst_stereo_cuda_built () || params.backend != STEREO_BACKEND_AUTO ||
      stereo_backend_available (STEREO_BACKEND_CUDA, params.cuda_device_id, reason, sizeof reason))
    return FALSE;
  GST_DEBUG_OBJECT (device->element, "frames in device memory are not preferred: %s", reason);
  return gst_stereo_device_rule_out (device);
}

gboolean
gst_stereo_device_rule_out (GstStereoDevice *device)
{
  GST_OBJECT_LOCK (device->element);
  gboolean before = device->none;
  device->none = TRUE;
  GST_OBJECT_UNLOCK (device->element);
  return !before;
}

/* ---- the plan's context ------------------------------------------------------------------ */

static void
warn_of_device (GstStereoDevice *device, gint wanted, gint found)
{
  if (device->warned)
    return;
  device->warned = TRUE;
  GST_ELEMENT_WARNING (device->element, STREAM, FORMAT,
      ("Frames lie in the memory of CUDA device %d, and cuda-device-id=%d was asked for: they go through host memory. "
       "Set the same cuda-device-id on what makes them.",
          found, wanted),
      (NULL));
}

GstStereoCudaContext *
gst_stereo_device_choose_context (
    GstStereoDevice *device, const StereoParams *params, GstBuffer *first, GstBuffer *second)
{
  GstStereoCudaContext *context = gst_stereo_cuda_context_of (first);
  gint wanted = params->cuda_device_id;

  if (!context)
    context = gst_stereo_cuda_context_of (second);
  /* system memory goes into any context: stay in the present one */
  if (!context)
    context = device->context;
  if (!may_use_cuda (device, params))
    context = NULL;
  if (context && wanted >= 0 && gst_stereo_cuda_device (context) != wanted) {
    warn_of_device (device, wanted, gst_stereo_cuda_device (context));
    context = NULL;
  }
  gst_object_replace ((GstObject **) &device->context, (GstObject *) context);
  return device->context;
}

void
gst_stereo_device_leave_context (GstStereoDevice *device)
{
  gst_clear_object (&device->context);
}

/* ---- the context that elements share ----------------------------------------------------- */

/* Takes @context. */
static void
share (GstStereoDevice *device, GstStereoCudaContext *context)
{
  GST_OBJECT_LOCK (device->element);
  GstStereoCudaContext *before = device->shared;
  device->shared = context;
  GST_OBJECT_UNLOCK (device->element);
  gst_clear_object (&before);
}

void
gst_stereo_device_unshare (GstStereoDevice *device)
{
  share (device, NULL);
}

void
gst_stereo_device_read_context (GstStereoDevice *device, GstContext *context)
{
  StereoParams params;

  gst_stereo_settings_read (device->settings, &params);
  GstStereoCudaContext *offered = gst_stereo_cuda_from_shared (device->element, context, params.cuda_device_id);
  if (!offered)
    return;
  GST_DEBUG_OBJECT (device->element, "shares the CUDA context of device %d", gst_stereo_cuda_device (offered));
  share (device, offered);
}

/* The shared context, if it is of that device (-1: of any). Unref it. */
static GstStereoCudaContext *
get_shared (GstStereoDevice *device, gint wanted)
{
  GST_OBJECT_LOCK (device->element);
  GstStereoCudaContext *context = device->shared ? gst_object_ref (device->shared) : NULL;
  GST_OBJECT_UNLOCK (device->element);
  if (context && wanted >= 0 && gst_stereo_cuda_device (context) != wanted)
    gst_clear_object (&context);
  return context;
}

/* Upstream asks before it makes a context of its own. With cuda-device-id set there has to be one, or upstream would
 * take another device; otherwise any context of theirs will do. */
gboolean
gst_stereo_device_answer (GstStereoDevice *device, GstQuery *query)
{
  GstElement *element = device->element;
  const gchar *type;
  StereoParams params;

  if (!gst_stereo_cuda_built () || !gst_query_parse_context_type (query, &type) ||
      strcmp (type, GST_STEREO_CUDA_CONTEXT) != 0)
    return FALSE;
  gst_stereo_settings_read (device->settings, &params);
  gint wanted = may_use_cuda (device, &params) ? params.cuda_device_id : -1;
  GstStereoCudaContext *context = get_shared (device, wanted);
  if (!context && wanted >= 0) {
    gst_element_post_message (element, gst_message_new_need_context (GST_OBJECT (element), type));
    context = get_shared (device, wanted);
    if (!context && (context = gst_stereo_cuda_new_context (element, wanted)))
      share (device, gst_object_ref (context));
  }
  gboolean answered = context && gst_stereo_cuda_answer (element, query, context);
  GST_DEBUG_OBJECT (element, "a neighbour asks for a CUDA context: %s", answered ? "answered" : "there is none");
  gst_clear_object (&context);
  return answered;
}
