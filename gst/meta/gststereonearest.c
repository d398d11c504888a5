/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The meta about the nearest surface: its registration in GStreamer, and its functions. */
#include "gst/meta/gststereonearest.h"

#include <gst/video/video.h>
#include <math.h>
#include <string.h>

GType
gst_stereo_nearest_meta_api_get_type (void)
{
  static gsize once = 0;
  static const gchar *tags[] = { GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
    GST_META_TAG_VIDEO_ORIENTATION_STR, NULL };

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, gst_meta_api_type_register ("GstStereoNearestMetaAPI", tags));
  return once;
}

static gboolean
gst_stereo_nearest_meta_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  GstStereoNearestMeta *self = (GstStereoNearestMeta *) meta;

  memset ((guint8 *) self + sizeof (GstMeta), 0, sizeof *self - sizeof (GstMeta));
  self->distance = self->disparity = NAN;
  return TRUE;
}

static void
gst_stereo_nearest_meta_clear (GstMeta *meta, GstBuffer *buffer)
{
  g_clear_pointer (&((GstStereoNearestMeta *) meta)->reason, g_free);
}

/* The place and the region are those of this very picture: only a whole copy keeps them right. */
static gboolean
gst_stereo_nearest_meta_transform (GstBuffer *target, GstMeta *meta, GstBuffer *buffer, GQuark type, gpointer data)
{
  const gsize first = G_STRUCT_OFFSET (GstStereoNearestMeta, state),
              end = G_STRUCT_OFFSET (GstStereoNearestMeta, reason);
  const GstStereoNearestMeta *self = (GstStereoNearestMeta *) meta;

  if (!GST_META_TRANSFORM_IS_COPY (type) || (data && ((GstMetaTransformCopy *) data)->region))
    return FALSE;
  GstStereoNearestMeta *copy = gst_buffer_add_stereo_nearest_meta (target, self->reason);
  memcpy ((guint8 *) copy + first, (const guint8 *) self + first, end - first);
  return TRUE;
}

const GstMetaInfo *
gst_stereo_nearest_meta_get_info (void)
{
  static gsize once = 0;

  if (g_once_init_enter (&once))
    g_once_init_leave (&once,
        (gsize) gst_meta_register (GST_STEREO_NEAREST_META_API_TYPE, "GstStereoNearestMetaOnBuffer",
            sizeof (GstStereoNearestMeta), gst_stereo_nearest_meta_init, gst_stereo_nearest_meta_clear,
            gst_stereo_nearest_meta_transform));
  return (const GstMetaInfo *) once;
}

GstStereoNearestMeta *
gst_buffer_add_stereo_nearest_meta (GstBuffer *buffer, const gchar *reason)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  GstStereoNearestMeta *meta = (GstStereoNearestMeta *) gst_buffer_add_meta (buffer, GST_STEREO_NEAREST_META_INFO, NULL);
  meta->reason = g_strdup (reason);
  return meta;
}

GstStereoNearestMeta *
gst_buffer_get_stereo_nearest_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  return (GstStereoNearestMeta *) gst_buffer_get_meta (buffer, GST_STEREO_NEAREST_META_API_TYPE);
}

const gchar *
gst_stereo_nearest_meta_get_reason (const GstStereoNearestMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);
  return meta->reason;
}

/* ---- a meta without a buffer -------------------------------------------------------------- */

G_DEFINE_BOXED_TYPE (
    GstStereoNearestMeta, gst_stereo_nearest_meta, gst_stereo_nearest_meta_copy, gst_stereo_nearest_meta_free)

GstStereoNearestMeta *
gst_stereo_nearest_meta_copy (const GstStereoNearestMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);
  GstStereoNearestMeta *copy = g_memdup2 (meta, sizeof *meta);
  copy->reason = g_strdup (meta->reason);
  return copy;
}

void
gst_stereo_nearest_meta_free (GstStereoNearestMeta *meta)
{
  if (meta)
    g_free (meta->reason);
  g_free (meta);
}
