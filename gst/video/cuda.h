/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GStreamer's own CUDA library behind plain types: contexts that elements share, and frames in device memory.
 *
 * Built without that library, gststereocuda-none.c stands in for gststereocuda.c: no buffer is in device memory
 * then, and no context is ever there. A NULL context always means the engine's own, and takes no pushing.
 */
#ifndef GST_STEREO_CUDA_H
#define GST_STEREO_CUDA_H

#include <gst/video/video.h>

G_BEGIN_DECLS

#define GST_STEREO_CUDA_FEATURE "memory:CUDAMemory"
/* What GStreamer has in device memory of what the matcher takes. */
#define GST_STEREO_CUDA_FORMATS "{ NV12, I420, RGBA, BGRA, RGBx, BGRx, RGB, BGR }"

/* GstCudaContext, a GstObject. */
typedef struct _GstCudaContext GstStereoCudaContext;

gboolean gst_stereo_cuda_built (void);

/* ---- frames ------------------------------------------------------------------------------ */

/* Where the whole of @buffer lies; NULL: not in device memory, or not in one context. Lives as long as the memory. */
GstStereoCudaContext *gst_stereo_cuda_context_of (GstBuffer *buffer);
/* Maps a buffer that has a context: on the device, once all that writes there is done, or downloaded. */
gboolean gst_stereo_cuda_map (GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer, gboolean on_device);
gboolean gst_stereo_cuda_is_on_device (const GstVideoFrame *frame);

/* ---- contexts ---------------------------------------------------------------------------- */

gint gst_stereo_cuda_device (GstStereoCudaContext *context);
/* Around everything the engine does in that context; FALSE: it cannot be entered, and must not be left. */
gboolean gst_stereo_cuda_enter (GstStereoCudaContext *context);
void gst_stereo_cuda_leave (GstStereoCudaContext *context);

/* The one in @shared, if it is of that device (-1: of any); unref it. */
GstStereoCudaContext *gst_stereo_cuda_from_shared (GstElement *element, GstContext *shared, gint device);
/* A new one, which the bus is told of; unref it. NULL: there is no such device. */
GstStereoCudaContext *gst_stereo_cuda_new_context (GstElement *element, gint device);
/* Whether @query asks for such a context. */
gboolean gst_stereo_cuda_is_wanted (GstQuery *query);
void gst_stereo_cuda_ask (GstElement *element);
gboolean gst_stereo_cuda_answer (GstElement *element, GstQuery *query, GstStereoCudaContext *context);

G_END_DECLS

#endif
