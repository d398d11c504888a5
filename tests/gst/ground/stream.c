/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/gst/ground/stream.h"

#include <math.h>

#include "tests/support/gst/util.h"

static const MadeErrors usual = { .noise = 0.3, .outliers = 0.02, .holes = 0.05 };

GstVideoFormat
ground_stream_format (GstStereoOutputKind kind)
{
  return kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? GST_VIDEO_FORMAT_GRAY8 : GST_VIDEO_FORMAT_GRAY16_LE;
}

void
ground_stream_set_caps (GroundStream *stream, GstVideoFormat format, gint width, gint height)
{
  harness_set_caps (stream->harness, format, width, height, NULL);
  stream->width = width;
  stream->height = height;
}

/* A road with one box, of an odd size. */
GroundStream
ground_stream_new (const gchar *properties, GstStereoOutputKind kind, Random *random)
{
  GroundStream stream = { .scene = made_road () };

  stream.harness = filter_new ("stereoground", properties, &stream.bus);
  stream.scene.width = 621;
  stream.scene.height = 187;
  stream.scene.focal /= 2;
  stream.scene.boxes[0] = (MadeBox){ 12000, 500, 1700, 1500, 0 };
  stream.picture = made_picture_new (&stream.scene);
  made_picture_spoil (stream.picture, &usual, random);
  ground_stream_set_caps (&stream, ground_stream_format (kind), stream.scene.width, stream.scene.height);
  return stream;
}

void
ground_stream_free (GroundStream *stream)
{
  filter_free (stream->harness, stream->bus);
  made_picture_free (stream->picture);
}

/* A sample of the picture as another kind of output has it. */
static guint
converted (const MadePicture *picture, GstStereoOutputKind kind, gsize i)
{
  gdouble disparity = GUINT16_FROM_LE (picture->samples[i]) / picture->meta.disparity_scale;

  if (disparity <= 0 || kind == GST_STEREO_OUTPUT_KIND_DISPARITY)
    return GUINT16_FROM_LE (picture->samples[i]);
  if (kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE)
    return 1 + (guint) CLAMP (disparity * 254 / 128 + 0.5, 0, 254);
  return (guint) CLAMP (picture->meta.focal_length * picture->meta.baseline / disparity + 0.5, 1, 65535);
}

/* The picture as a buffer with metadata, rows padded by @padding bytes. */
GstBuffer *
ground_stream_matched (GroundStream *stream, GstStereoOutputKind kind, gint padding)
{
  const MadePicture *picture = stream->picture;
  guint width = picture->meta.width, height = picture->meta.height;
  GstVideoInfo info;
  GstVideoFrame frame;

  fail_unless (gst_video_info_set_format (&info, ground_stream_format (kind), width, height));
  GstBuffer *buffer = new_frame (&info, padding);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE));
  for (guint y = 0; y < height; y++)
    for (guint x = 0; x < width; x++) {
      guint8 *row = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) + y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);
      guint sample = converted (picture, kind, y * width + x);

      if (kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE)
        row[x] = (guint8) sample;
      else
        GST_WRITE_UINT16_LE (row + 2 * x, sample);
    }
  gst_video_frame_unmap (&frame);
  GstBuffer *confidence = gst_buffer_new_allocate (NULL, GST_ROUND_UP_4 (width) * height, NULL);
  gst_buffer_memset (confidence, 0, 200, (gsize) -1);
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (buffer, width, height, confidence);
  gst_buffer_unref (confidence);
  meta->kind = kind;
  meta->disparity_scale = kind == GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE ? 254 / 128.0 : picture->meta.disparity_scale;
  meta->focal_length = picture->meta.focal_length;
  meta->baseline = picture->meta.baseline;
  return buffer;
}

GstBuffer *
ground_stream_pass (GroundStream *stream, GstBuffer *buffer)
{
  stamp (buffer, stream->next, FRAME);
  stream->next += FRAME;
  fail_unless_equals_int (gst_harness_push (stream->harness, buffer), GST_FLOW_OK);
  return gst_harness_pull (stream->harness);
}

/* The next message about a frame; gst_structure_free() it. */
GstStructure *
ground_stream_message (GroundStream *stream)
{
  GstMessage *message;
  GstStructure *copy = NULL;

  while (!copy && (message = gst_bus_pop_filtered (stream->bus, GST_MESSAGE_ELEMENT))) {
    if (gst_message_has_name (message, "stereo-obstacles"))
      copy = gst_structure_copy (gst_message_get_structure (message));
    gst_message_unref (message);
  }
  return copy;
}

guint
ground_stream_regions (GstBuffer *buffer)
{
  return gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
}

gboolean
ground_stream_has (GstBuffer *out)
{
  gboolean ground = -1;

  fail_unless (gst_structure_get_boolean (found_of (out, GST_STEREO_GROUND_META), "ground", &ground));
  return ground;
}

gdouble
ground_stream_column (GstBuffer *out, guint column, guint count)
{
  const GValue *all = gst_structure_get_value (found_of (out, GST_STEREO_GROUND_META), "free-distances");

  fail_unless_equals_int (gst_value_array_get_size (all), count);
  return g_value_get_double (gst_value_array_get_value (all, column));
}

void
ground_stream_check (GstBuffer *out, const MadeScene *scene)
{
  const GstStructure *meta = found_of (out, GST_STEREO_GROUND_META);
  gdouble quality = found_number (meta, "quality"), judged = found_number (meta, "judged");

  fail_unless (ground_stream_has (out));
  fail_unless (fabs (found_number (meta, "camera-height") / scene->camera_height - 1) < 0.02);
  fail_unless (fabs (found_number (meta, "pitch") - scene->pitch) < 0.2);
  fail_unless (fabs (found_number (meta, "roll") - scene->roll) < 0.3);
  fail_unless (quality > 0.3 && quality <= 1);
  fail_unless (judged > 0.4 && judged < 0.7, "judged %g", judged);
  gdouble open = ground_stream_column (out, 5, 64), closed = ground_stream_column (out, 34, 64);
  fail_unless (open > 30000 && closed > 9000 && closed < 12100, "%g, %g", open, closed);
}
