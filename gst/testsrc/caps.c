/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one caps and property set needs: the scene, who writes it into frames, pools. */
#include "gst/testsrc/element.h"

#define DEFAULT_WIDTH 640       /* of one view */
#define DEFAULT_HEIGHT 480

static GstBaseSrcClass *
parent_class (void)
{
  return g_type_class_peek (GST_TYPE_PUSH_SRC);
}

/* Sides that can be halved, where the caps leave the choice. */
static GstCaps *
prefer_even (GstCaps *caps, const gchar *side)
{
  GstCaps *even = gst_caps_new_simple ("video/x-raw", side, GST_TYPE_INT_RANGE, 2, G_MAXINT - 1, NULL), *both;
  GValue range = G_VALUE_INIT;

  g_value_init (&range, GST_TYPE_INT_RANGE);
  gst_value_set_int_range_step (&range, 2, G_MAXINT - 1, 2);
  gst_caps_set_value (even, side, &range);
  g_value_unset (&range);
  both = gst_caps_intersect (caps, even);
  gst_caps_unref (even);
  if (gst_caps_is_empty (both)) {
    gst_caps_unref (both);
    return caps;
  }
  gst_caps_unref (caps);
  return both;
}

GstCaps *
gst_stereo_test_src_fixate (GstBaseSrc *base, GstCaps *caps)
{
  GstStructure *structure;
  const gchar *mode;
  gboolean stacked;

  caps = gst_caps_truncate (gst_caps_make_writable (caps));
  gst_structure_fixate_field_string (gst_caps_get_structure (caps, 0), "multiview-mode", "side-by-side");
  mode = gst_structure_get_string (gst_caps_get_structure (caps, 0), "multiview-mode");
  stacked = !g_strcmp0 (mode, "top-bottom") || !g_strcmp0 (mode, "row-interleaved");
  caps = gst_caps_make_writable (prefer_even (caps, stacked ? "height" : "width"));
  structure = gst_caps_get_structure (caps, 0);
  gst_structure_fixate_field_nearest_int (structure, "width", (stacked ? 1 : 2) * DEFAULT_WIDTH);
  gst_structure_fixate_field_nearest_int (structure, "height", (stacked ? 2 : 1) * DEFAULT_HEIGHT);
  gst_structure_fixate_field_nearest_fraction (structure, "framerate", 30, 1);
  if (gst_structure_has_field (structure, "pixel-aspect-ratio"))
    gst_structure_fixate_field_nearest_fraction (structure, "pixel-aspect-ratio", 1, 1);
  else
    gst_structure_set (structure, "pixel-aspect-ratio", GST_TYPE_FRACTION, 1, 1, NULL);
  if (!gst_structure_has_field (structure, "multiview-flags"))
    gst_structure_set (structure, "multiview-flags", GST_TYPE_VIDEO_MULTIVIEW_FLAGSET,
        GST_VIDEO_MULTIVIEW_FLAGS_NONE, GST_FLAG_SET_MASK_EXACT, NULL);
  return parent_class ()->fixate (base, caps);
}

static void
drop_scene (GstStereoTestSrc *self)
{
  g_clear_pointer (&self->painter, gst_stereo_painter_free);
  g_clear_pointer (&self->scene, gst_stereo_scene_free);
}

static void
drop_truth_pool (GstStereoTestSrc *self)
{
  if (self->truth_pool)
    gst_buffer_pool_set_active (self->truth_pool, FALSE);
  gst_clear_object (&self->truth_pool);
}

gboolean
gst_stereo_test_src_make_scene (GstStereoTestSrc *self)
{
  GstStereoSceneParams params;
  gchar *message = NULL;
  guint serial;

  GST_OBJECT_LOCK (self);
  params = self->settings;
  serial = self->serial;
  GST_OBJECT_UNLOCK (self);
  if (self->scene && serial == self->scene_serial)
    return TRUE;
  drop_scene (self);
  params.width = self->layout.width;
  params.height = self->layout.height;
  self->scene = gst_stereo_scene_new (&params, &message);
  if (!self->scene) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", message), (NULL));
    g_free (message);
    return FALSE;
  }
  self->painter = gst_stereo_painter_new (self->scene, &self->info, &self->layout);
  self->scene_serial = serial;
  return TRUE;
}

static gboolean
make_truth_pool (GstStereoTestSrc *self)
{
  GstStructure *config;
  GstCaps *caps;

  drop_truth_pool (self);
  gst_video_info_set_format (&self->truth_info, GST_VIDEO_FORMAT_GRAY16_LE, (guint) self->layout.width,
      (guint) self->layout.height);
  caps = gst_video_info_to_caps (&self->truth_info);
  self->truth_pool = gst_video_buffer_pool_new ();
  config = gst_buffer_pool_get_config (self->truth_pool);
  gst_buffer_pool_config_set_params (config, caps, (guint) GST_VIDEO_INFO_SIZE (&self->truth_info), 0, 0);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_caps_unref (caps);
  return gst_buffer_pool_set_config (self->truth_pool, config) && gst_buffer_pool_set_active (self->truth_pool, TRUE);
}

gboolean
gst_stereo_test_src_set_caps (GstBaseSrc *base, GstCaps *caps)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (base);
  gchar *message = NULL;
  GstVideoInfo info;
  gboolean first;

  if (!gst_video_info_from_caps (&info, caps))
    return FALSE;
  if (!gst_stereo_layout_packed (&self->layout, &info, GST_STEREO_PACKING_AUTO, &message)) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", message), ("caps %" GST_PTR_FORMAT, caps));
    g_free (message);
    return FALSE;
  }
  if (self->frames > 0 && GST_VIDEO_INFO_FPS_N (&self->info) > 0) {
    self->time_before += gst_stereo_test_src_time_of (self, self->frames);
    self->frames_before += self->frames;
    self->frames = 0;
  }
  first = GST_VIDEO_INFO_FORMAT (&self->info) == GST_VIDEO_FORMAT_UNKNOWN;
  GST_OBJECT_LOCK (self);
  self->info = info;
  GST_OBJECT_UNLOCK (self);
  /* a seek before there was a frame rate */
  if (first)
    gst_stereo_test_src_go_to (self, base->segment.position);
  drop_scene (self);
  return gst_stereo_test_src_make_scene (self) && make_truth_pool (self);
}

gboolean
gst_stereo_test_src_decide_allocation (GstBaseSrc *base, GstQuery *query)
{
  GstStereoTestSrc *self = GST_STEREO_TEST_SRC (base);
  guint size = (guint) GST_VIDEO_INFO_SIZE (&self->info), min = 0, max = 0;
  gboolean offered = gst_query_get_n_allocation_pools (query) > 0;
  GstBufferPool *pool = NULL;
  GstStructure *config;
  GstCaps *caps;

  if (offered) {
    guint wanted;
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &wanted, &min, &max);
    size = MAX (size, wanted);
  }
  if (!pool)
    pool = gst_video_buffer_pool_new ();
  gst_query_parse_allocation (query, &caps, NULL);
  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, size, min, max);
  if (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL))
    gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_set_config (pool, config);
  if (offered)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool (query, pool, size, min, max);
  gst_object_unref (pool);
  return parent_class ()->decide_allocation (base, query);
}

/* ---- time ---------------------------------------------------------------------------------- */

void
gst_stereo_test_src_release (GstStereoTestSrc *self)
{
  drop_scene (self);
  drop_truth_pool (self);
}
