/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/metas.h"

#include <gst/video/video.h>

#include "gst/meta/gststereometa.h"

typedef struct
{
  GstBuffer *out;
  gboolean same_place, same_pixels;
} CopyMetas;

/* Metas of the memory never apply to another buffer: GstVideoMeta is one of them and lacks the tag. A crop was done. */
static gboolean
copy_meta (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  CopyMetas *copy = data;
  GType api = (*meta)->info->api;
  GstMetaTransformCopy whole = { FALSE, 0, (gsize) -1 };

  if (api == GST_VIDEO_META_API_TYPE || api == GST_VIDEO_CROP_META_API_TYPE ||
      gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_MEMORY_STR)) ||
      gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_MEMORY_REFERENCE_STR)))
    return TRUE;
  if (!copy->same_pixels &&
      (api == GST_STEREO_META_API_TYPE ||
          gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_VIDEO_COLORSPACE_STR))))
    return TRUE;
  if (!copy->same_place && gst_meta_api_type_has_tag (api, g_quark_from_static_string (GST_META_TAG_VIDEO_SIZE_STR)))
    return TRUE;
  if ((*meta)->info->transform_func)
    (*meta)->info->transform_func (copy->out, *meta, buffer, _gst_meta_transform_copy, &whole);
  return TRUE;
}

void
gst_stereo_copy_metas (GstBuffer *out, GstBuffer *from, gboolean same_place, gboolean same_pixels)
{
  CopyMetas copy = { out, same_place, same_pixels };

  gst_buffer_foreach_meta (from, copy_meta, &copy);
}
