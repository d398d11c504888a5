/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/util.h"

guint8
texture (guint seed, gint x, gint y)
{
  guint32 h = seed * 0x9E3779B9u ^ (guint32) x * 0x85EBCA6Bu ^ (guint32) y * 0xC2B2AE35u;

  h = (h ^ h >> 15) * 0x2C1B3C6Du;
  h = (h ^ h >> 12) * 0x297A2D39u;
  /* nothing is saturated: stereomatch would not measure it */
  return (guint8) ((h >> 16 & 255) * 7 / 8);
}

GstBuffer *
new_frame (const GstVideoInfo *info, gint padding)
{
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 }, size = 0;
  gint stride[GST_VIDEO_MAX_PLANES] = { 0 };

  if (!padding)
    return gst_buffer_new_allocate (NULL, info->size, NULL);
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++) {
    offset[p] = size;
    stride[p] = GST_VIDEO_INFO_PLANE_STRIDE (info, p) + padding;
    size += (gsize) stride[p] * (p ? (GST_VIDEO_INFO_HEIGHT (info) + 1) / 2 : GST_VIDEO_INFO_HEIGHT (info));
  }
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, size, NULL);
  gst_buffer_memset (buffer, 0, 0xEE, size);
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
      GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_N_PLANES (info), offset, stride);
  return buffer;
}

/* Colours differ by channel, so that no two of them can be swapped unseen. */
static void
put (GstVideoFrame *frame, gint x, gint y, guint seed, gint tx, gint ty)
{
  gint channels = GST_VIDEO_INFO_IS_RGB (&frame->info) ? 3 : 1;

  for (gint c = 0; c < channels; c++)
    ((guint8 *) GST_VIDEO_FRAME_COMP_DATA (frame, c))[(gsize) y * GST_VIDEO_FRAME_COMP_STRIDE (frame, c) +
        (gsize) x * GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c)] = texture (seed + (guint) c, tx, ty);
}

GstBuffer *
make_view (GstVideoFormat format, gint width, gint height, guint seed, gint shift, gint padding)
{
  GstVideoFrame frame;
  GstVideoInfo info;

  gst_video_info_set_format (&info, format, width, height);
  GstBuffer *buffer = new_frame (&info, padding);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE));
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++)
      put (&frame, x, y, seed, x + shift, y);
  gst_video_frame_unmap (&frame);
  return buffer;
}

GstBuffer *
make_packed (GstVideoFormat format, const gchar *layout, gint width, gint height, guint seed, gboolean right_first)
{
  gboolean across = g_str_equal (layout, "side-by-side") || g_str_equal (layout, "column-interleaved");
  gboolean halves = g_str_equal (layout, "side-by-side") || g_str_equal (layout, "top-bottom");
  GstVideoFrame frame;
  GstVideoInfo info;

  gst_video_info_set_format (&info, format, across ? 2 * width : width, across ? height : 2 * height);
  GstBuffer *buffer = new_frame (&info, 0);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE));
  for (gint second = 0; second < 2; second++)
    for (gint y = 0; y < height; y++)
      for (gint x = 0; x < width; x++) {
        gint fx = !across ? x : halves ? x + second * width : 2 * x + second;
        gint fy = across ? y : halves ? y + second * height : 2 * y + second;
        put (&frame, fx, fy, seed, x + (second != right_first ? SHIFT : 0), y);
      }
  gst_video_frame_unmap (&frame);
  return buffer;
}

GstBuffer *
stamp (GstBuffer *buffer, GstClockTime pts, GstClockTime duration)
{
  GST_BUFFER_PTS (buffer) = pts;
  GST_BUFFER_DURATION (buffer) = duration;
  return buffer;
}

gchar *
make_caps (GstVideoFormat format, gint width, gint height, const gchar *extra)
{
  /* known to the parser once it is registered */
  g_type_ensure (GST_TYPE_VIDEO_MULTIVIEW_FLAGSET);
  return g_strdup_printf ("video/x-raw,format=%s,width=%d,height=%d,framerate=25/1%s%s",
      gst_video_format_to_string (format), width, height, extra ? "," : "", extra ? extra : "");
}

void
harness_set_caps (GstHarness *harness, GstVideoFormat format, gint width, gint height, const gchar *extra)
{
  g_autofree gchar *caps = make_caps (format, width, height, extra);

  gst_harness_set_src_caps_str (harness, caps);
}

guint
sample_at (GstBuffer *buffer, const GstVideoInfo *info, gint x, gint y)
{
  GstVideoFrame frame;

  fail_unless (gst_video_frame_map (&frame, info, buffer, GST_MAP_READ));
  const guint8 *at = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
      (gsize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0) + (gsize) x * GST_VIDEO_FRAME_COMP_PSTRIDE (&frame, 0);
  guint value = GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_GRAY8 ? *at :
      GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_GRAY16_BE       ? GST_READ_UINT16_BE (at) :
                                                                         GST_READ_UINT16_LE (at);
  gst_video_frame_unmap (&frame);
  return value;
}

void
check_interior (GstBuffer *buffer, const GstVideoInfo *info, guint expected)
{
  const gint border = 4;

  for (gint y = border; y < GST_VIDEO_INFO_HEIGHT (info) - border; y++)
    for (gint x = SHIFT + border; x < GST_VIDEO_INFO_WIDTH (info) - border; x++) {
      guint value = sample_at (buffer, info, x, y);
      if (value != expected)
        fail ("sample %d,%d is %u, not %u", x, y, value, expected);
    }
}

static Pair *
new_pair (const gchar *factory, const gchar *properties, gboolean live)
{
  Pair *pair = g_new0 (Pair, 1);

  pair->element = element_new (factory, properties, &pair->bus);
  pair->left = harness_new (pair->element, "sink_left", "src", live);
  pair->right = harness_new (pair->element, "sink_right", NULL, live);
  return pair;
}

Pair *
pair_new_of (const gchar *factory, const gchar *properties)
{
  return new_pair (factory, properties, TRUE);
}

Pair *
pair_new (const gchar *properties)
{
  return pair_new_of ("stereomatch", properties);
}

Pair *
pair_new_not_live (const gchar *properties)
{
  return new_pair ("stereomatch", properties, FALSE);
}

void
pair_caps (Pair *pair, const gchar *caps)
{
  gst_harness_set_src_caps_str (pair->left, caps);
  gst_harness_set_src_caps_str (pair->right, caps);
}

void
pair_set_caps (Pair *pair, GstVideoFormat format, gint width, gint height, const gchar *extra)
{
  harness_set_caps (pair->left, format, width, height, extra);
  harness_set_caps (pair->right, format, width, height, extra);
}

Pair *
pair_new_gray (const gchar *properties)
{
  Pair *pair = pair_new (properties);

  pair_set_caps (pair, GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, NULL);
  return pair;
}

void
pair_push_left (Pair *pair, GstClockTime pts)
{
  fail_unless_equals_int (gst_harness_push (pair->left,
                              stamp (make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, 0, 0), pts, FRAME)),
      GST_FLOW_OK);
}

void
pair_push_right (Pair *pair, GstClockTime pts)
{
  fail_unless_equals_int (
      gst_harness_push (
          pair->right, stamp (make_view (GST_VIDEO_FORMAT_GRAY8, VIEW_WIDTH, VIEW_HEIGHT, 1, SHIFT, 0), pts, FRAME)),
      GST_FLOW_OK);
}

void
pair_push (Pair *pair, GstClockTime left, GstClockTime right)
{
  pair_push_left (pair, left);
  pair_push_right (pair, right);
}

void
pair_push_event (Pair *pair, GstEvent *event)
{
  fail_unless (gst_harness_push_event (pair->left, gst_event_ref (event)));
  fail_unless (gst_harness_push_event (pair->right, event));
}

void
pair_flush (Pair *pair, const GstSegment *segment)
{
  GstEvent *start = gst_event_new_flush_start (), *stop = gst_event_new_flush_stop (TRUE);
  GstSegment anew;

  gst_segment_init (&anew, GST_FORMAT_TIME);
  gst_event_set_seqnum (stop, gst_event_get_seqnum (start));
  pair_push_event (pair, start);
  pair_push_event (pair, stop);
  pair_push_event (pair, gst_event_new_segment (segment ? segment : &anew));
}

GstBuffer *
pair_pull (Pair *pair, GstClockTime pts)
{
  GstBuffer *buffer = gst_harness_pull (pair->left);

  check_time (buffer, pts);
  return buffer;
}

void
pair_pass (Pair *pair, GstClockTime left, GstClockTime right)
{
  pair_push (pair, left, right);
  gst_buffer_unref (pair_pull (pair, left));
}

void
pair_eos (Pair *pair, gboolean left, gboolean right)
{
  if (left)
    fail_unless (gst_harness_push_event (pair->left, gst_event_new_eos ()));
  if (right)
    fail_unless (gst_harness_push_event (pair->right, gst_event_new_eos ()));
}

void
pair_wait_eos (Pair *pair)
{
  wait_for_eos (pair->left);
}

void
pair_expect_nothing (Pair *pair)
{
  g_usleep (100000);
  fail_unless_equals_int (gst_harness_buffers_in_queue (pair->left), 0);
}

void
pair_free (Pair *pair)
{
  gst_element_set_bus (pair->element, NULL);
  gst_harness_teardown (pair->right);
  gst_harness_teardown (pair->left);
  element_free (pair->element, pair->bus);
  g_free (pair);
}

guint64
stat_of (GstElement *element, const gchar *name)
{
  g_autoptr (GstStructure) stats = NULL;
  guint64 value = 0;

  g_object_get (element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, name, &value), "stats has no %s", name);
  return value;
}

GstVideoInfo
output_info (GstHarness *harness)
{
  g_autoptr (GstCaps) caps = gst_pad_get_current_caps (harness->sinkpad);
  GstVideoInfo info;

  fail_unless (caps != NULL, "no output caps");
  fail_unless (gst_video_info_from_caps (&info, caps));
  return info;
}

GstHarness *
packed_new (const gchar *properties, GstBus **bus)
{
  return filter_new ("stereomatch", properties, bus);
}
