/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Metadata from bytes that may be anything: refused, or a meta that is whole, whose bytes are those it came from, and which
 * can be read, scaled and copied.
 */
#include <math.h>
#include <string.h>

#include <gst/video/video.h>

#include "tests/fuzz/fuzz.h"
#include "gst/meta/gststereometa.h"

enum
{
  REFUSED,
  TAKEN,
  SCALED
};
static const char *const pieces[] = { "STM04", "\1\1\1\1", "\377\377\377\377", "\177\360", NULL };

/* As videoscale does, to twice the size. */
static void
scale (GstBuffer *buffer, GstStereoMeta *meta)
{
  g_autoptr (GstBuffer) larger = gst_buffer_new ();
  GstVideoInfo in, out;
  GstVideoMetaTransform transform = { &in, &out };
  GstStereoMeta *scaled;

  if (meta->width < 4096 && meta->height < 4096 &&
      gst_video_info_set_format (&in, GST_VIDEO_FORMAT_GRAY16_LE, meta->width, meta->height) &&
      gst_video_info_set_format (&out, GST_VIDEO_FORMAT_GRAY16_LE, 2 * meta->width, 2 * meta->height)) {
    gst_stereo_meta_get_info ()->transform_func (
        larger, &meta->meta, buffer, gst_video_meta_transform_scale_get_quark (), &transform);
    scaled = gst_buffer_get_stereo_meta (larger);
    if (scaled) {
      CHECK (scaled->width == 2 * meta->width && scaled->height == 2 * meta->height, "scaled to %ux%u", scaled->width,
          scaled->height);
      CHECK (!meta->truth == !scaled->truth && !meta->confidence == !scaled->confidence && !meta->mask == !scaled->mask,
          "scaled without its pictures");
      fuzz_count (SCALED);
    }
  }
}

static void
check_meta (GstBuffer *buffer, GstStereoMeta *meta, GBytes *bytes)
{
  const struct
  {
    GstBuffer *there;
    GBytes *(*get) (const GstStereoMeta *meta);
    gsize bytes; /* of a pixel */
  } planes[] = { { meta->confidence, gst_stereo_meta_get_confidence_bytes, 1 },
    { meta->truth, gst_stereo_meta_get_truth_bytes, 2 }, { meta->mask, gst_stereo_meta_get_mask_bytes, 1 } };
  GBytes *again = gst_stereo_meta_to_bytes (meta), *plane;

  CHECK (g_bytes_equal (bytes, again), "its bytes are others: %" G_GSIZE_FORMAT " and %" G_GSIZE_FORMAT,
      g_bytes_get_size (bytes), g_bytes_get_size (again));
  g_bytes_unref (again);
  CHECK (meta->disparity_scale > 0 && isfinite (meta->disparity_scale), "disparity-scale is %g", meta->disparity_scale);
  CHECK (meta->width > 0 && meta->height > 0, "%ux%u", meta->width, meta->height);
  for (guint i = 0; i < G_N_ELEMENTS (planes); i++)
    if (planes[i].there && (plane = planes[i].get (meta))) {
      CHECK (g_bytes_get_size (plane) == planes[i].bytes * (gsize) meta->width * meta->height,
          "picture %u of another size", i);
      g_bytes_unref (plane);
    }
  for (guint sample = 0; sample < 65536; sample += 4369) {
    gst_stereo_meta_get_disparity (meta, sample);
    gst_stereo_meta_get_depth (meta, sample);
    gst_stereo_meta_get_point (meta, -1, 2.5, sample, NULL, NULL, NULL);
  }
  scale (buffer, meta);
}

static void
try (const uint8_t *data, size_t size)
{
  gst_init (NULL, NULL);
  g_autoptr (GBytes) bytes = g_bytes_new (data, size);
  g_autoptr (GstBuffer) buffer = gst_buffer_new ();
  GstStereoMeta *meta = gst_buffer_add_stereo_meta_from_bytes (buffer, bytes);
  if (meta)
    check_meta (buffer, meta, bytes);
  else
    CHECK (!gst_buffer_get_stereo_meta (buffer), "refused, and there");
  fuzz_count (meta ? TAKEN : REFUSED);
}

const FuzzTarget fuzz_target = { 20000, { { "refused", 1 }, { "taken", 1 }, { "scaled", 1 } }, NULL, try, pieces };
