/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What stands between the cameras, and how its output tells which frames it was made of. */
#include "tests/support/streams/rig.h"

#include "gst/meta/gststereometa.h"

#include "tests/support/gst/numbered.h"
#include "tests/support/gst/cameras.h"

static gboolean
read_disparity (const RigKind *kind, GstBuffer *out, guint *left, guint *right)
{
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (out);

  return numbered_read (out, (gint) meta->width, meta->disparity_scale, left, right);
}

static gboolean
read_views (const RigKind *kind, GstBuffer *out, guint *left, guint *right)
{
  return numbered_read_views (out, kind->out, (gint) gst_buffer_get_stereo_meta (out)->width, left, right);
}

/* Nothing that moves a disparity; the scale of the samples is told by each output's metadata. */
static void
fiddle_with_match (GstElement *element, guint i)
{
  static const gdouble scales[] = { 64, 16, 32, 128 };

  g_object_set (element, "disparity-scale", scales[i % 4], "check-interval",
      i % 3 ? (guint64) 0 : (guint64) SCRIPT_FRAME, "confidence-threshold", 0.0, NULL);
}

/* Nothing that moves a pixel. */
static void
fiddle_with_rectify (GstElement *element, guint i)
{
  g_object_set (element, "unit", 1.0 + i % 5, "alpha", -1.0, NULL);
}

static const RigKind kinds[] = {
  { "stereomatch", "stereomatch " NUMBERED_EXACT, FALSE, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY16_LE,
      read_disparity, fiddle_with_match },
  { "stereorectify", "stereorectify threads=1", TRUE, GST_VIDEO_FORMAT_GRAY8, GST_VIDEO_FORMAT_GRAY8, read_views,
      fiddle_with_rectify },
  { "stereorectify-i420", "stereorectify threads=1", TRUE, GST_VIDEO_FORMAT_YUY2, GST_VIDEO_FORMAT_I420, read_views,
      fiddle_with_rectify },
  { "stereorectify-nv12", "stereorectify threads=1", TRUE, GST_VIDEO_FORMAT_I420, GST_VIDEO_FORMAT_NV12, read_views,
      fiddle_with_rectify },
};

const RigKind *
rig_kind_chosen (void)
{
  const gchar *name = g_getenv ("STEREO_STREAM_ELEMENT");

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (!name || g_str_equal (kinds[i].name, name))
      return &kinds[i];
  g_error ("STEREO_STREAM_ELEMENT=%s is not in the list of tests/support/streams/kinds.c", name);
}

/* Its maps are the identity, whatever the size. */
static gchar *
identity_calibration (void)
{
  Cameras cameras = cameras_straight (NUMBERED_WIDTH, NUMBERED_HEIGHT);

  cameras.width = cameras.height = 0;
  return calibration_new (&cameras);
}

GstElement *
rig_kind_make (const RigKind *kind)
{
  gchar *calibration = kind->calibrated ? identity_calibration () : NULL;
  const gchar *backend = g_getenv ("STEREO_BACKEND");
  g_autofree gchar *description = g_strdup_printf ("%s backend=%s%s%s", kind->description, backend ? backend : "cpu",
      calibration ? " calibration=" : "", calibration ? calibration : "");
  GstElement *element = gst_parse_launch (description, NULL);

  g_assert (element);
  gst_object_ref_sink (element);
  if (calibration)
    g_object_set_data_full (G_OBJECT (element), "calibration-file", calibration, (GDestroyNotify) calibration_free);
  return element;
}
