/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The one file that knows GStreamer's CUDA library. */
#include "gst/video/cuda.h"

#include "gst/meta/map.h"

#include <gst/cuda/gstcudautils.h>

gboolean
gst_stereo_cuda_built (void)
{
  return TRUE;
}

/* ---- frames ------------------------------------------------------------------------------ */

GstStereoCudaContext *
gst_stereo_cuda_context_of (GstBuffer *buffer)
{
  GstCudaContext *context = NULL;

  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++) {
    GstMemory *memory = gst_buffer_peek_memory (buffer, i);
    if (!gst_is_cuda_memory (memory) || (i && GST_CUDA_MEMORY_CAST (memory)->context != context))
      return NULL;
    context = GST_CUDA_MEMORY_CAST (memory)->context;
  }
  return context;
}

/*
 * The engine reads on a stream that waits for no other stream. Most elements of GStreamer wait for their work before
 * they push, but a copy from device to device (gst_buffer_copy_deep()) is only queued on the default stream. The
 * default stream comes after all other streams that such elements make, so that it is enough to wait for it.
 */
static gboolean
wait_for_writers (GstCudaContext *context, GstBuffer *buffer)
{
  if (!gst_cuda_context_push (context))
    return FALSE;
#ifdef HAVE_GST_CUDA_MEMORY_SYNC
  for (guint i = 0; i < gst_buffer_n_memory (buffer); i++)
    gst_cuda_memory_sync (GST_CUDA_MEMORY_CAST (gst_buffer_peek_memory (buffer, i)));
#endif
  gboolean done = CuStreamSynchronize (NULL) == CUDA_SUCCESS;
  gst_cuda_context_pop (NULL);
  return done;
}

/* Rows in device memory are padded. Where no GstVideoMeta says how, the memory itself knows it. */
static GstVideoInfo
layout_of_memory (const GstVideoInfo *info, GstBuffer *buffer)
{
  const GstVideoInfo *allocated = &GST_CUDA_MEMORY_CAST (gst_buffer_peek_memory (buffer, 0))->info;
  GstVideoInfo layout = *info;

  if (gst_buffer_get_video_meta (buffer) || gst_buffer_n_memory (buffer) != 1 ||
      GST_VIDEO_INFO_FORMAT (allocated) != GST_VIDEO_INFO_FORMAT (info) ||
      GST_VIDEO_INFO_WIDTH (allocated) != GST_VIDEO_INFO_WIDTH (info) ||
      GST_VIDEO_INFO_HEIGHT (allocated) != GST_VIDEO_INFO_HEIGHT (info))
    return layout;
  memcpy (layout.stride, allocated->stride, sizeof layout.stride);
  memcpy (layout.offset, allocated->offset, sizeof layout.offset);
  layout.size = allocated->size;
  return layout;
}

gboolean
gst_stereo_cuda_map (GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer, gboolean on_device)
{
  GstVideoInfo layout = layout_of_memory (info, buffer);
  GstMapFlags flags = (GstMapFlags) (GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF | (on_device ? GST_MAP_CUDA : 0));
  GstCudaContext *context = gst_stereo_cuda_context_of (buffer);

  /* mapping may upload data that the CPU has written, and downloads are ordered after the default stream */
  if (!gst_stereo_map (frame, &layout, buffer, flags))
    return FALSE;
  if (!on_device || wait_for_writers (context, buffer))
    return TRUE;
  gst_video_frame_unmap (frame);
  return FALSE;
}

gboolean
gst_stereo_cuda_is_on_device (const GstVideoFrame *frame)
{
  return (frame->map[0].flags & GST_MAP_CUDA) != 0;
}

/* ---- contexts ---------------------------------------------------------------------------- */

gint
gst_stereo_cuda_device (GstStereoCudaContext *context)
{
  guint device = 0;

  g_object_get (context, "cuda-device-id", &device, NULL);
  return (gint) device;
}

gboolean
gst_stereo_cuda_enter (GstStereoCudaContext *context)
{
  return !context || gst_cuda_context_push (context);
}

void
gst_stereo_cuda_leave (GstStereoCudaContext *context)
{
  if (context)
    gst_cuda_context_pop (NULL);
}

GstStereoCudaContext *
gst_stereo_cuda_from_shared (GstElement *element, GstContext *shared, gint device)
{
  GstCudaContext *context = NULL;

  return gst_cuda_handle_set_context (element, shared, MAX (device, -1), &context) ? context : NULL;
}

GstStereoCudaContext *
gst_stereo_cuda_new_context (GstElement *element, gint device)
{
  GstCudaContext *context;

  /* the library's calls abort where the driver is not loaded */
  if (!gst_cuda_load_library () || !(context = gst_cuda_context_new ((guint) MAX (device, 0))))
    return NULL;
  GstContext *shared = gst_context_new_cuda_context (context);
  gst_element_post_message (element, gst_message_new_have_context (GST_OBJECT (element), shared));
  return context;
}

gboolean
gst_stereo_cuda_answer (GstElement *element, GstQuery *query, GstStereoCudaContext *context)
{
  return gst_cuda_handle_context_query (element, query, context);
}
