/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The meta about the ground: its registration in GStreamer, and its functions. */
#include "gst/meta/gststereoground.h"

#include <gst/video/video.h>
#include <string.h>

GType
gst_stereo_ground_meta_api_get_type (void)
{
  static gsize once = 0;
  static const gchar *tags[] = { GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
    GST_META_TAG_VIDEO_ORIENTATION_STR, NULL };

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, gst_meta_api_type_register ("GstStereoGroundMetaAPI", tags));
  return once;
}

static gboolean
gst_stereo_ground_meta_init (GstMeta *meta, gpointer params, GstBuffer *buffer)
{
  GstStereoGroundMeta *self = (GstStereoGroundMeta *) meta;

  memset ((guint8 *) self + sizeof (GstMeta), 0, sizeof *self - sizeof (GstMeta));
  return TRUE;
}

static void
gst_stereo_ground_meta_clear (GstMeta *meta, GstBuffer *buffer)
{
  g_clear_pointer (&((GstStereoGroundMeta *) meta)->free_distances, g_free);
}

/* The plane and the columns are those of this very picture: only a whole copy keeps them right. */
static gboolean
gst_stereo_ground_meta_transform (GstBuffer *target, GstMeta *meta, GstBuffer *buffer, GQuark type, gpointer data)
{
  const gsize first = G_STRUCT_OFFSET (GstStereoGroundMeta, valid),
              end = G_STRUCT_OFFSET (GstStereoGroundMeta, free_distances);
  const GstStereoGroundMeta *self = (GstStereoGroundMeta *) meta;

  if (!GST_META_TRANSFORM_IS_COPY (type) || (data && ((GstMetaTransformCopy *) data)->region))
    return FALSE;
  GstStereoGroundMeta *copy = gst_buffer_add_stereo_ground_meta (target, self->free_distances, self->n_free_distances);
  memcpy ((guint8 *) copy + first, (const guint8 *) self + first, end - first);
  return TRUE;
}

const GstMetaInfo *
gst_stereo_ground_meta_get_info (void)
{
  static gsize once = 0;

  if (g_once_init_enter (&once))
    g_once_init_leave (&once,
        (gsize) gst_meta_register (GST_STEREO_GROUND_META_API_TYPE, "GstStereoGroundMetaOnBuffer",
            sizeof (GstStereoGroundMeta), gst_stereo_ground_meta_init, gst_stereo_ground_meta_clear,
            gst_stereo_ground_meta_transform));
  return (const GstMetaInfo *) once;
}

GstStereoGroundMeta *
gst_buffer_add_stereo_ground_meta (GstBuffer *buffer, const gdouble *free_distances, guint count)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  g_return_val_if_fail (free_distances != NULL || count == 0, NULL);
  GstStereoGroundMeta *meta = (GstStereoGroundMeta *) gst_buffer_add_meta (buffer, GST_STEREO_GROUND_META_INFO, NULL);
  meta->free_distances = g_memdup2 (free_distances, count * sizeof *free_distances);
  meta->n_free_distances = count;
  return meta;
}

GstStereoGroundMeta *
gst_buffer_get_stereo_ground_meta (GstBuffer *buffer)
{
  g_return_val_if_fail (GST_IS_BUFFER (buffer), NULL);
  return (GstStereoGroundMeta *) gst_buffer_get_meta (buffer, GST_STEREO_GROUND_META_API_TYPE);
}

const gdouble *
gst_stereo_ground_meta_get_free_distances (const GstStereoGroundMeta *meta, guint *count)
{
  g_return_val_if_fail (meta != NULL, NULL);
  g_return_val_if_fail (count != NULL, NULL);
  *count = meta->n_free_distances;
  return meta->free_distances;
}

/* ---- a meta without a buffer -------------------------------------------------------------- */

G_DEFINE_BOXED_TYPE (
    GstStereoGroundMeta, gst_stereo_ground_meta, gst_stereo_ground_meta_copy, gst_stereo_ground_meta_free)

GstStereoGroundMeta *
gst_stereo_ground_meta_copy (const GstStereoGroundMeta *meta)
{
  g_return_val_if_fail (meta != NULL, NULL);
  GstStereoGroundMeta *copy = g_memdup2 (meta, sizeof *meta);
  copy->free_distances = g_memdup2 (meta->free_distances, meta->n_free_distances * sizeof *meta->free_distances);
  return copy;
}

void
gst_stereo_ground_meta_free (GstStereoGroundMeta *meta)
{
  if (meta)
    g_free (meta->free_distances);
  g_free (meta);
}
