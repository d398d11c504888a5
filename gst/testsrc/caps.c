/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/testsrc/caps.h"

#define DEFAULT_WIDTH 640 /* of one view */
#define DEFAULT_HEIGHT 480

/* Prefers sizes that can be halved, if the caps leave the choice. Takes @caps. */
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
gst_stereo_test_caps_prefer (GstCaps *caps)
{
  caps = gst_caps_truncate (gst_caps_make_writable (caps));
  gst_structure_fixate_field_string (gst_caps_get_structure (caps, 0), "multiview-mode", "side-by-side");
  const gchar *mode = gst_structure_get_string (gst_caps_get_structure (caps, 0), "multiview-mode");
  gboolean stacked = !g_strcmp0 (mode, "top-bottom") || !g_strcmp0 (mode, "row-interleaved");
  caps = gst_caps_make_writable (prefer_even (caps, stacked ? "height" : "width"));
  GstStructure *structure = gst_caps_get_structure (caps, 0);
  gst_structure_fixate_field_nearest_int (structure, "width", (stacked ? 1 : 2) * DEFAULT_WIDTH);
  gst_structure_fixate_field_nearest_int (structure, "height", (stacked ? 2 : 1) * DEFAULT_HEIGHT);
  gst_structure_fixate_field_nearest_fraction (structure, "framerate", 30, 1);
  if (gst_structure_has_field (structure, "pixel-aspect-ratio"))
    gst_structure_fixate_field_nearest_fraction (structure, "pixel-aspect-ratio", 1, 1);
  else
    gst_structure_set (structure, "pixel-aspect-ratio", GST_TYPE_FRACTION, 1, 1, NULL);
  if (!gst_structure_has_field (structure, "multiview-flags"))
    gst_structure_set (structure, "multiview-flags", GST_TYPE_VIDEO_MULTIVIEW_FLAGSET, GST_VIDEO_MULTIVIEW_FLAGS_NONE,
        GST_FLAG_SET_MASK_EXACT, NULL);
  return caps;
}

void
gst_stereo_test_caps_choose_pool (GstQuery *query, const GstVideoInfo *info)
{
  guint size = (guint) GST_VIDEO_INFO_SIZE (info), min = 0, max = 0;
  gboolean offered = gst_query_get_n_allocation_pools (query) > 0;
  g_autoptr (GstBufferPool) pool = NULL;
  GstCaps *caps;

  if (offered) {
    guint wanted;
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &wanted, &min, &max);
    size = MAX (size, wanted);
  }
  if (!pool)
    pool = gst_video_buffer_pool_new ();
  gst_query_parse_allocation (query, &caps, NULL);
  GstStructure *config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, size, min, max);
  if (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL))
    gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_set_config (pool, config);
  if (offered)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool (query, pool, size, min, max);
}

static gboolean
answer_duration (GstQuery *query, const GstVideoInfo *info, gint count)
{
  GstFormat format;

  gst_query_parse_duration (query, &format, NULL);
  if (count < 0)
    return FALSE;
  if (format == GST_FORMAT_TIME && GST_VIDEO_INFO_FPS_N (info) > 0)
    gst_query_set_duration (query, format,
        (gint64) gst_util_uint64_scale ((guint64) count, GST_SECOND * (guint64) GST_VIDEO_INFO_FPS_D (info),
            (guint64) GST_VIDEO_INFO_FPS_N (info)));
  else if (format == GST_FORMAT_BYTES)
    gst_query_set_duration (query, format, (gint64) count * (gint64) GST_VIDEO_INFO_SIZE (info));
  else
    return FALSE;
  return TRUE;
}

/* A frame is complete when its time is over, as with a camera. */
static void
answer_latency (GstQuery *query, const GstVideoInfo *info, gboolean live)
{
  GstClockTime latency = gst_util_uint64_scale (
      GST_SECOND, (guint64) GST_VIDEO_INFO_FPS_D (info), (guint64) GST_VIDEO_INFO_FPS_N (info));

  gst_query_set_latency (query, live, latency, GST_CLOCK_TIME_NONE);
}

gboolean
gst_stereo_test_caps_answer (GstQuery *query, const GstVideoInfo *info, gint count, gboolean live)
{
  gint64 value, result;
  GstFormat from, to;

  if (GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_UNKNOWN)
    return FALSE;
  switch (GST_QUERY_TYPE (query)) {
    case GST_QUERY_DURATION:
      return answer_duration (query, info, count);
    case GST_QUERY_LATENCY:
      if (GST_VIDEO_INFO_FPS_N (info) < 1)
        return FALSE;
      answer_latency (query, info, live);
      return TRUE;
    case GST_QUERY_CONVERT:
      gst_query_parse_convert (query, &from, &value, &to, NULL);
      if (!gst_video_info_convert (info, from, value, to, &result))
        return FALSE;
      gst_query_set_convert (query, from, value, to, result);
      return TRUE;
    default:
      return FALSE;
  }
}
