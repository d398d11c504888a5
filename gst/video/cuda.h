/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * GStreamer's own CUDA library behind plain types: contexts that elements share, and frames in device memory.
 *
 * In a build without that library cuda_none.c takes the place of cuda.c: no buffer lies in device memory then, and
 * there is no context. A NULL context always means the engine's own. It needs no entering.
 */
#ifndef GST_STEREO_CUDA_H
#define GST_STEREO_CUDA_H

#include <gst/video/video.h>

G_BEGIN_DECLS

#define GST_STEREO_CUDA_FEATURE "memory:CUDAMemory"
#define GST_STEREO_CUDA_CONTEXT "gst.cuda.context"
/* Formats of the matcher that GStreamer has in device memory. */
#define GST_STEREO_CUDA_FORMATS "{ NV12, I420, RGBA, BGRA, RGBx, BGRx, RGB, BGR }"

/* GstCudaContext, a GstObject. */
typedef struct _GstCudaContext GstStereoCudaContext;

gboolean gst_stereo_cuda_built (void);

/* ---- frames ------------------------------------------------------------------------------ */

/* The context that the whole of @buffer lies in; NULL: not in device memory, or not in one context. Lives as long as
 * the memory. */
GstStereoCudaContext *gst_stereo_cuda_context_of (GstBuffer *buffer);
/* Maps a buffer that has a context: on the device, where it waits for all writers, or downloaded to host memory. */
gboolean gst_stereo_cuda_map (GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer, gboolean on_device);
gboolean gst_stereo_cuda_is_on_device (const GstVideoFrame *frame);

/* ---- contexts ---------------------------------------------------------------------------- */

gint gst_stereo_cuda_device (GstStereoCudaContext *context);
/* Around everything that the engine does in that context. FALSE: it cannot be entered, and must not be left. */
gboolean gst_stereo_cuda_enter (GstStereoCudaContext *context);
void gst_stereo_cuda_leave (GstStereoCudaContext *context);

/* The context in @shared, if it is of that device (-1: of any device). Unref it. */
GstStereoCudaContext *gst_stereo_cuda_from_shared (GstElement *element, GstContext *shared, gint device);
/* A new context, which is announced on the bus. Unref it. NULL: there is no such device. */
GstStereoCudaContext *gst_stereo_cuda_new_context (GstElement *element, gint device);
/* Answers a query for a context with @context. */
gboolean gst_stereo_cuda_answer (GstElement *element, GstQuery *query, GstStereoCudaContext *context);

G_END_DECLS

#endif
