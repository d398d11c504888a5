/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames in device memory: whether the element accepts them, and in which CUDA context the plan lives.
 *
 * A plan for frames in device memory lives in the context of that memory. This context is current during every call on the
 * plan. A frame in another context, or in system memory, is read through host memory. A plan for system memory uses the
 * engine's own context.
 */
#ifndef GST_STEREO_DEVICE_H
#define GST_STEREO_DEVICE_H

#include "gst/match/settings.h"
#include "gst/video/cuda.h"

G_BEGIN_DECLS

typedef struct _GstStereoDevice GstStereoDevice;

/* The object belongs to @element and holds no reference. It reads the backend and the device from @settings. */
GstStereoDevice *gst_stereo_device_new (GstElement *element, GstStereoSettings *settings);
void gst_stereo_device_free (GstStereoDevice *device);

/* ---- caps --------------------------------------------------------------------------------- */

/* Caps of a sink pad, or of its template where @device is NULL. Device memory comes first, where it may be used. */
GstCaps *gst_stereo_device_input_caps (GstStereoDevice *device);
/* At the start: checks whether there is a device. TRUE where there is none, and backend=auto therefore becomes the CPU. */
gboolean gst_stereo_device_probe (GstStereoDevice *device);
/* backend=auto becomes the CPU. TRUE where it was not the CPU before. */
gboolean gst_stereo_device_rule_out (GstStereoDevice *device);

/* ---- the plan's context, for the task of the source pad ----------------------------------- */

/* The context for a plan for these frames, with the parameters of the pair; NULL: the engine's own. @second may be @first. */
GstStereoCudaContext *gst_stereo_device_choose_context (
    GstStereoDevice *device, const StereoParams *params, GstBuffer *first, GstBuffer *second);
/* The plan is gone: drops the context that was chosen for it. */
void gst_stereo_device_leave_context (GstStereoDevice *device);
/* At the stop. */
void gst_stereo_device_release (GstStereoDevice *device);

/* ---- the context that elements share ------------------------------------------------------ */

/* Drops the shared context. */
void gst_stereo_device_unshare (GstStereoDevice *device);
/* The application, or a neighbour, offers a context. */
void gst_stereo_device_read_context (GstStereoDevice *device, GstContext *context);
/* A neighbour's query. TRUE where it asks for a CUDA context and was answered. */
gboolean gst_stereo_device_answer (GstStereoDevice *device, GstQuery *query);

G_END_DECLS

#endif
