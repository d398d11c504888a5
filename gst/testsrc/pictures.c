/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/pictures.h"

#include <string.h>

#include "gst/meta/map.h"
#include "gst/testsrc/paint.h"
#include "gst/video/pool.h"
#include "gst/video/properties.h"

struct _GstStereoPictures
{
  GstVideoInfo info;      /* of a frame */
  GstStereoLayout layout; /* of the views in it */
  GstVideoInfo truth_info;
  GstBufferPool *truth_pool;
  GstStereoScene *scene;
  GstStereoSceneParams asked; /* what the scene was made of */
  GstStereoPainter *painter;  /* of the scene */
  GstStereoRigParams rig_params;
  GstStereoRig *rig; /* that look at the scene */
};

GstStereoPictures *
gst_stereo_pictures_new (void)
{
  return g_new0 (GstStereoPictures, 1);
}

static void
drop_scene (GstStereoPictures *pictures)
{
  g_clear_pointer (&pictures->rig, gst_stereo_rig_free);
  g_clear_pointer (&pictures->painter, gst_stereo_painter_free);
  g_clear_pointer (&pictures->scene, gst_stereo_scene_free);
}

static void
drop_truth_pool (GstStereoPictures *pictures)
{
  if (pictures->truth_pool)
    gst_buffer_pool_set_active (pictures->truth_pool, FALSE);
  gst_clear_object (&pictures->truth_pool);
}

void
gst_stereo_pictures_clear (GstStereoPictures *pictures)
{
  drop_scene (pictures);
  drop_truth_pool (pictures);
}

void
gst_stereo_pictures_free (GstStereoPictures *pictures)
{
  gst_stereo_pictures_clear (pictures);
  g_free (pictures);
}

/* ---- format -------------------------------------------------------------------------------- */

static gboolean
make_truth_pool (GstStereoPictures *pictures)
{
  drop_truth_pool (pictures);
  gst_video_info_set_format (&pictures->truth_info, GST_VIDEO_FORMAT_GRAY16_LE, (guint) pictures->layout.width,
      (guint) pictures->layout.height);
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (&pictures->truth_info);
  pictures->truth_pool = gst_video_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pictures->truth_pool);
  gst_buffer_pool_config_set_params (config, caps, (guint) GST_VIDEO_INFO_SIZE (&pictures->truth_info), 0, 0);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  return gst_buffer_pool_set_config (pictures->truth_pool, config) &&
      gst_buffer_pool_set_active (pictures->truth_pool, TRUE);
}

gboolean
gst_stereo_pictures_set_format (GstStereoPictures *pictures, const GstVideoInfo *info, gchar **message)
{
  if (!gst_stereo_layout_packed (&pictures->layout, info, GST_STEREO_PACKING_AUTO, message))
    return FALSE;
  pictures->info = *info;
  drop_scene (pictures);
  if (make_truth_pool (pictures))
    return TRUE;
  *message = g_strdup_printf ("There is no memory for the true disparity of views of %dx%d pixels.",
      pictures->layout.width, pictures->layout.height);
  return FALSE;
}

gchar *
gst_stereo_pictures_describe (const GstStereoPictures *pictures)
{
  const GstStereoLayout *layout = &pictures->layout;

  return g_strdup_printf ("%dx%d pixels, %s, %s view first", layout->width, layout->height,
      gst_stereo_choice_name (gst_stereo_packings, (gint) layout->packing), layout->right_first ? "right" : "left");
}

/* ---- scene --------------------------------------------------------------------------------- */

gboolean
gst_stereo_pictures_have_scene (const GstStereoPictures *pictures, const GstStereoSceneParams *params)
{
  return pictures->scene && !memcmp (&pictures->asked, params, sizeof *params);
}

gboolean
gst_stereo_pictures_set_scene (GstStereoPictures *pictures, const GstStereoSceneParams *params, gchar **message)
{
  GstStereoSceneParams sized = *params;

  drop_scene (pictures);
  sized.width = pictures->layout.width;
  sized.height = pictures->layout.height;
  pictures->scene = gst_stereo_scene_new (&sized, message);
  if (!pictures->scene)
    return FALSE;
  pictures->painter = gst_stereo_painter_new (pictures->scene, &pictures->info, &pictures->layout);
  pictures->asked = *params;
  return TRUE;
}

gboolean
gst_stereo_pictures_set_rig (GstStereoPictures *pictures, const GstStereoRigParams *params)
{
  if (pictures->rig && !memcmp (&pictures->rig_params, params, sizeof *params))
    return FALSE;
  gst_stereo_rig_free (pictures->rig);
  pictures->rig = gst_stereo_rig_new (pictures->scene, params);
  pictures->rig_params = *params;
  return TRUE;
}

const GstStereoSceneParams *
gst_stereo_pictures_params (const GstStereoPictures *pictures)
{
  return gst_stereo_scene_params (pictures->scene);
}

/* ---- pictures ------------------------------------------------------------------------------ */

gboolean
gst_stereo_pictures_paint (GstStereoPictures *pictures, guint64 number, GstBuffer *buffer)
{
  GstVideoFrame frame;

  if (!gst_stereo_map (&frame, &pictures->info, buffer, GST_MAP_WRITE))
    return FALSE;
  gst_stereo_rig_set_frame (pictures->rig, number);
  gst_stereo_pool_clear_padding (&frame);
  gst_stereo_painter_paint (pictures->painter, pictures->rig, &frame);
  gst_video_frame_unmap (&frame);
  return TRUE;
}

GstBuffer *
gst_stereo_pictures_make_truth (GstStereoPictures *pictures)
{
  GstBuffer *truth = NULL;
  GstVideoFrame frame;

  if (gst_buffer_pool_acquire_buffer (pictures->truth_pool, &truth, NULL) != GST_FLOW_OK)
    return NULL;
  if (!gst_stereo_map (&frame, &pictures->truth_info, truth, GST_MAP_WRITE)) {
    gst_buffer_unref (truth);
    return NULL;
  }
  gst_stereo_pool_clear_padding (&frame);
  for (gint y = 0; y < pictures->layout.height; y++) {
    guint16 *row = (guint16 *) ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
        (gsize) y * (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0));
    gst_stereo_scene_truth (pictures->scene, y, row);
    for (gint x = 0; G_BYTE_ORDER == G_BIG_ENDIAN && x < pictures->layout.width; x++)
      row[x] = GUINT16_TO_LE (row[x]);
  }
  gst_video_frame_unmap (&frame);
  return truth;
}
