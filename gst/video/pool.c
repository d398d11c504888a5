/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/pool.h"

#include "gst/meta/map.h"

#include <string.h>

static gboolean
configure (GstBufferPool *pool, GstQuery *query, guint size, guint min, guint max)
{
  GstStructure *config = gst_buffer_pool_get_config (pool);
  GstAllocator *allocator = NULL;
  GstAllocationParams params;
  GstCaps *caps;

  gst_allocation_params_init (&params);
  if (gst_query_get_n_allocation_params (query) > 0)
    gst_query_parse_nth_allocation_param (query, 0, &allocator, &params);
  gst_query_parse_allocation (query, &caps, NULL);
  gst_buffer_pool_config_set_params (config, caps, size, min, max);
  gst_buffer_pool_config_set_allocator (config, allocator, &params);
  gst_clear_object (&allocator);
  /* rows may be padded: a GstVideoMeta says how */
  if (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL) &&
      gst_buffer_pool_has_option (pool, GST_BUFFER_POOL_OPTION_VIDEO_META))
    gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  if (gst_buffer_pool_set_config (pool, config))
    return TRUE;
  /* the pool changed its configuration: accept that if it is still sufficient */
  config = gst_buffer_pool_get_config (pool);
  if (gst_buffer_pool_config_validate_params (config, caps, size, min, max))
    return gst_buffer_pool_set_config (pool, config);
  gst_structure_free (config);
  return FALSE;
}

gboolean
gst_stereo_pool_decide (GstQuery *query, gboolean *limited)
{
  gboolean listed = gst_query_get_n_allocation_pools (query) > 0;
  g_autoptr (GstBufferPool) pool = NULL;
  guint size = 0, min = 0, max = 0;
  GstVideoInfo info;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps || !gst_video_info_from_caps (&info, caps))
    return FALSE;
  if (listed)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
  size = MAX (size, (guint) GST_VIDEO_INFO_SIZE (&info));
  if (limited)
    *limited = max != 0;
  if (!pool || !configure (pool, query, size, min, max)) {
    gst_clear_object (&pool);
    pool = gst_video_buffer_pool_new ();
    if (!configure (pool, query, size, min, max))
      return FALSE;
  }
  if (listed)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool (query, pool, size, min, max);
  return TRUE;
}

GstBufferPool *
gst_stereo_pool_new (const GstVideoInfo *info)
{
  g_autoptr (GstCaps) caps = gst_video_info_to_caps (info);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);
  GstBufferPool *pool = NULL;

  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  if (gst_stereo_pool_decide (query, NULL))
    gst_query_parse_nth_allocation_pool (query, 0, &pool, NULL, NULL, NULL);
  gst_query_unref (query);
  return pool;
}

/* Whether the rows lie as the caps alone say. Where they do not, samples of another picture may lie between them. */
static gboolean
is_plain (const GstVideoFrame *frame)
{
  GstVideoInfo plain;

  gst_video_info_set_format (&plain, GST_VIDEO_FRAME_FORMAT (frame), (guint) GST_VIDEO_FRAME_WIDTH (frame),
      (guint) GST_VIDEO_FRAME_HEIGHT (frame));
  for (guint p = 0; p < GST_VIDEO_FRAME_N_PLANES (frame); p++)
    if (GST_VIDEO_FRAME_PLANE_STRIDE (frame, p) != GST_VIDEO_INFO_PLANE_STRIDE (&plain, p) ||
        GST_VIDEO_FRAME_PLANE_OFFSET (frame, p) != GST_VIDEO_INFO_PLANE_OFFSET (&plain, p))
      return FALSE;
  return TRUE;
}

/* Memory may end with the last pixel of a plane, or between two planes. */
static void
clear (guint8 *data, gsize from, gsize to, gsize room)
{
  to = MIN (to, room);
  if (from < to)
    memset (data + from, 0, to - from);
}

void
gst_stereo_pool_clear_padding (GstVideoFrame *frame)
{
  if (!is_plain (frame))
    return;
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++) {
    guint p = (guint) GST_VIDEO_FRAME_COMP_PLANE (frame, c);
    gsize stride = (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (frame, p);
    gsize height = (gsize) GST_VIDEO_FRAME_COMP_HEIGHT (frame, c);
    gsize used = (gsize) GST_VIDEO_FRAME_COMP_WIDTH (frame, c) * (gsize) GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c);
    gsize room = gst_stereo_map_room (frame, p);
    guint8 *data = GST_VIDEO_FRAME_PLANE_DATA (frame, p);
    for (gsize y = 0; stride > used && y < height; y++)
      clear (data, y * stride + used, (y + 1) * stride, room);
    /* planes have an even number of rows where the next one is half as high */
    if (p + 1 < GST_VIDEO_FRAME_N_PLANES (frame))
      clear (data, height * stride,
          GST_VIDEO_FRAME_PLANE_OFFSET (frame, p + 1) - GST_VIDEO_FRAME_PLANE_OFFSET (frame, p), room);
  }
}
