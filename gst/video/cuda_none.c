/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Takes the place of cuda.c in a build without GStreamer's CUDA library. */
#include "gst/video/cuda.h"

gboolean
gst_stereo_cuda_built (void)
{
  return FALSE;
}

GstStereoCudaContext *
gst_stereo_cuda_context_of (GstBuffer *buffer)
{
  return NULL;
}

gboolean
gst_stereo_cuda_map (GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer, gboolean on_device)
{
  return FALSE;
}

gboolean
gst_stereo_cuda_is_on_device (const GstVideoFrame *frame)
{
  return FALSE;
}

gint
gst_stereo_cuda_device (GstStereoCudaContext *context)
{
  return -1;
}

gboolean
gst_stereo_cuda_enter (GstStereoCudaContext *context)
{
  return TRUE;
}

void
gst_stereo_cuda_leave (GstStereoCudaContext *context)
{
}

GstStereoCudaContext *
gst_stereo_cuda_from_shared (GstElement *element, GstContext *shared, gint device)
{
  return NULL;
}

GstStereoCudaContext *
gst_stereo_cuda_new_context (GstElement *element, gint device)
{
  return NULL;
}

gboolean
gst_stereo_cuda_answer (GstElement *element, GstQuery *query, GstStereoCudaContext *context)
{
  return FALSE;
}
