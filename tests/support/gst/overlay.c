/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/overlay.h"

GstBuffer *
random_frame (Random *random, const GstVideoInfo *info, guint padding)
{
  GstVideoInfo padded = *info;
  GstVideoAlignment alignment;
  GstMapInfo map;

  gst_video_alignment_reset (&alignment);
  alignment.padding_right = padding;
  fail_unless (gst_video_info_align (&padded, &alignment));
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&padded), NULL);
  if (padding)
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
        (guint) GST_VIDEO_INFO_WIDTH (info), (guint) GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_N_PLANES (info),
        padded.offset, padded.stride);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; i++)
    map.data[i] = (guint8) random_next (random);
  gst_buffer_unmap (buffer, &map);
  return buffer;
}

GstBuffer *
plain_frame (const GstVideoInfo *info, guint8 value)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (info), NULL);

  gst_buffer_memset (buffer, 0, value, GST_VIDEO_INFO_SIZE (info));
  return buffer;
}

/* ---- depth ------------------------------------------------------------------------------- */

static void
depth_info (GstBuffer *depth, GstVideoInfo *info)
{
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (depth);

  gst_video_info_set_format (info,
      meta->kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? GST_VIDEO_FORMAT_GRAY8 : GST_VIDEO_FORMAT_GRAY16_LE,
      meta->width, meta->height);
}

void
fill_depth (GstBuffer *depth, gint x, gint y, gint width, gint height, guint sample)
{
  GstVideoFrame frame;
  GstVideoInfo info;

  depth_info (depth, &info);
  fail_unless (gst_video_frame_map (&frame, &info, depth, GST_MAP_WRITE));
  for (gint j = y; j < y + height; j++) {
    guint8 *row = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + j * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
    for (gint i = x; i < x + width; i++) {
      if (GST_VIDEO_INFO_FORMAT (&info) == GST_VIDEO_FORMAT_GRAY8)
        row[i] = (guint8) sample;
      else
        GST_WRITE_UINT16_LE (row + 2 * i, sample);
    }
  }
  gst_video_frame_unmap (&frame);
}

void
set_depth (GstBuffer *depth, gint x, gint y, guint sample)
{
  fill_depth (depth, x, y, 1, 1, sample);
}

void
set_confidence (GstBuffer *depth, gint x, gint y, guint8 confidence)
{
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (depth);
  const GstVideoMeta *rows = gst_buffer_get_video_meta (meta->confidence);

  gst_buffer_fill (meta->confidence, (gsize) y * (gsize) rows->stride[0] + (gsize) x, &confidence, 1);
}

/* Both pictures have padded rows. */
GstBuffer *
new_depth (gint width, gint height, GstStereoOutputKind kind, guint sample)
{
  gboolean wide = kind != GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE;
  GstVideoFormat format = wide ? GST_VIDEO_FORMAT_GRAY16_LE : GST_VIDEO_FORMAT_GRAY8;
  gint stride[4] = { width * (wide ? 2 : 1) + 6 }, confidence_stride[4] = { width + 5 };
  gsize offset[4] = { 0 }, size = (gsize) stride[0] * (gsize) height;
  gsize confidence_size = (gsize) confidence_stride[0] * (gsize) height;
  GstBuffer *depth = gst_buffer_new_allocate (NULL, size, NULL);
  GstBuffer *confidence = gst_buffer_new_allocate (NULL, confidence_size, NULL);

  gst_buffer_memset (depth, 0, 0xEE, size);
  gst_buffer_memset (confidence, 0, 0xFF, confidence_size);
  gst_buffer_add_video_meta_full (
      depth, GST_VIDEO_FRAME_FLAG_NONE, format, (guint) width, (guint) height, 1, offset, stride);
  gst_buffer_add_video_meta_full (confidence, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, (guint) width,
      (guint) height, 1, offset, confidence_stride);
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (depth, (guint) width, (guint) height, confidence);
  gst_buffer_unref (confidence);
  meta->kind = kind;
  meta->disparity_scale = wide ? 64 : 254.0 / 63;
  meta->num_disparities = 64;
  meta->focal_length = 100;
  meta->baseline = 100;
  fill_depth (depth, 0, 0, width, height, sample);
  return depth;
}

/* ---- harness ----------------------------------------------------------------------------- */

void
overlay_live_caps (Overlay *overlay, GstVideoFormat format, gint width, gint height, const gchar *extra)
{
  g_autofree gchar *caps = g_strdup_printf ("video/x-raw,format=%s,width=%d,height=%d,framerate=30/1%s%s",
      gst_video_format_to_string (format), width, height, extra ? "," : "", extra ? extra : "");
  GstCaps *parsed = gst_caps_from_string (caps);

  fail_unless (gst_video_info_from_caps (&overlay->info, parsed));
  gst_caps_unref (parsed);
  /* downstream takes this format: a grey view would become a colour picture */
  g_autofree gchar *taken = g_strdup_printf ("video/x-raw,format=%s", gst_video_format_to_string (format));
  gst_harness_set_sink_caps_str (overlay->live, taken);
  gst_harness_set_src_caps_str (overlay->live, caps);
}

void
overlay_depth_caps (Overlay *overlay, const gchar *format, gint width, gint height)
{
  g_autofree gchar *caps = g_strdup_printf (
      "video/x-raw,format=%s,width=%d,height=%d,framerate=30/1", format, width, height);

  gst_harness_set_src_caps_str (overlay->depth, caps);
}

GstStructure *
add_ground (GstBuffer *depth, gboolean valid, const gdouble *free, guint count)
{
  GstStructure *ground = gst_custom_meta_get_structure (gst_buffer_add_custom_meta (depth, "GstStereoGroundMeta"));
  GValue all = G_VALUE_INIT, one = G_VALUE_INIT;

  g_value_init (&all, GST_TYPE_ARRAY);
  g_value_init (&one, G_TYPE_DOUBLE);
  for (guint i = 0; i < count; i++) {
    g_value_set_double (&one, free[i]);
    gst_value_array_append_value (&all, &one);
  }
  gst_structure_take_value (ground, "free-distances", &all);
  gst_structure_set (ground, "ground", G_TYPE_BOOLEAN, valid, "plane-offset", G_TYPE_DOUBLE, 0.0, "plane-across",
      G_TYPE_DOUBLE, 0.0, "plane-down", G_TYPE_DOUBLE, 0.1, NULL);
  return ground;
}

Overlay *
overlay_new (const gchar *properties, GstVideoFormat format, gint width, gint height, const gchar *depth_format,
    gint depth_width, gint depth_height)
{
  Overlay *overlay = g_new0 (Overlay, 1);

  overlay->element = element_new ("depthoverlay", properties, &overlay->bus);
  overlay->live = harness_new (overlay->element, "sink", "src", FALSE);
  if (depth_format) {
    overlay->depth = harness_new (overlay->element, "sink_depth", NULL, FALSE);
    overlay_depth_caps (overlay, depth_format, depth_width, depth_height);
  }
  overlay_live_caps (overlay, format, width, height, NULL);
  return overlay;
}

void
overlay_free (Overlay *overlay)
{
  gst_element_set_bus (overlay->element, NULL);
  if (overlay->depth)
    gst_harness_teardown (overlay->depth);
  gst_harness_teardown (overlay->live);
  gst_bus_set_flushing (overlay->bus, TRUE);
  g_queue_clear_full (&overlay->messages, (GDestroyNotify) gst_message_unref);
  ASSERT_OBJECT_REFCOUNT (overlay->element, "depthoverlay", 1);
  element_free (overlay->element, overlay->bus);
  g_free (overlay);
}

static void
push (GstHarness *harness, GstBuffer *buffer, GstClockTime pts)
{
  GST_BUFFER_PTS (buffer) = pts;
  if (!GST_BUFFER_DURATION_IS_VALID (buffer))
    GST_BUFFER_DURATION (buffer) = TICK;
  gst_harness_push (harness, buffer);
}

void
overlay_push_live (Overlay *overlay, GstBuffer *buffer, GstClockTime pts)
{
  push (overlay->live, buffer, pts);
}

void
overlay_push_depth (Overlay *overlay, GstBuffer *buffer, GstClockTime pts)
{
  push (overlay->depth, buffer, pts);
}

/* The oldest of @type; others are kept for later, which gst_bus_pop_filtered() does not do. */
static GstMessage *
take (Overlay *overlay, GstMessageType type, GstClockTime timeout)
{
  GstMessage *message;

  for (GList *one = overlay->messages.head; one; one = one->next) {
    message = one->data;
    if (GST_MESSAGE_TYPE (message) & type) {
      g_queue_delete_link (&overlay->messages, one);
      return message;
    }
  }
  while ((message = gst_bus_timed_pop (overlay->bus, timeout))) {
    if (GST_MESSAGE_TYPE (message) & type)
      return message;
    g_queue_push_tail (&overlay->messages, message);
  }
  return NULL;
}

GstBuffer *
overlay_pull (Overlay *overlay, GstClockTime pts)
{
  GstBuffer *buffer = gst_harness_pull (overlay->live);
  GstMessage *message = buffer ? NULL : take (overlay, GST_MESSAGE_ERROR, 0);

  fail_unless (buffer != NULL, "no output: %s", message ? message_text (message) : "and no error");
  check_time (buffer, pts);
  return buffer;
}

GstBuffer *
overlay_show (Overlay *overlay, GstBuffer *depth, GstBuffer *live, GstClockTime pts)
{
  overlay_push_depth (overlay, depth, pts);
  overlay_push_live (overlay, live, pts);
  return overlay_pull (overlay, pts);
}

void
overlay_eos (Overlay *overlay, gboolean live, gboolean depth)
{
  if (depth)
    fail_unless (gst_harness_push_event (overlay->depth, gst_event_new_eos ()));
  if (live)
    fail_unless (gst_harness_push_event (overlay->live, gst_event_new_eos ()));
}

void
overlay_wait_eos (Overlay *overlay)
{
  wait_for_eos (overlay->live);
}

/* ---- messages ---------------------------------------------------------------------------- */

void
overlay_expect (Overlay *overlay, GstMessageType type, ...)
{
  g_autoptr (GstMessage) message = take (overlay, type, 15 * GST_SECOND);
  const gchar *words[MOST_WORDS];
  va_list args;

  fail_unless (message != NULL, "no %s message", gst_message_type_get_name (type));
  va_start (args, type);
  take_words (words, args);
  va_end (args);
  check_words (message, words);
}

void
overlay_expect_none (Overlay *overlay, GstMessageType type)
{
  GstMessage *message = take (overlay, type, 0);

  fail_unless (message == NULL, "unexpected %s", gst_message_type_get_name (type));
}

GstStructure *
overlay_nearest (Overlay *overlay)
{
  GstMessage *message = take (overlay, GST_MESSAGE_ELEMENT, 0);

  if (!message)
    return NULL;
  GstStructure *structure = gst_structure_copy (gst_message_get_structure (message));
  fail_unless (gst_structure_has_name (structure, "stereo-nearest"));
  fail_unless (GST_MESSAGE_SRC (message) == GST_OBJECT (overlay->element));
  gst_message_unref (message);
  return structure;
}
