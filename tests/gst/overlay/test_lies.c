/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Frames whose memory ends at a page that faults. A live frame that says that its rows reach farther is refused and not
 * written; one that fits to the byte is drawn over in place. tests/fuzz/buffers.c tries such buffers with every element.
 */
#include <sys/mman.h>

#include "tests/gst/overlay/numbered_depth.h"
#include "tests/support/picture.h"
#include "tests/support/gst/suite.h"

enum
{
  W = 64,
  H = 48
};

typedef struct
{
  void *mapping;
  size_t size;
} Mapping;

static void
unmap (gpointer data)
{
  munmap (((Mapping *) data)->mapping, ((Mapping *) data)->size);
  g_free (data);
}

/* The byte behind the last of @size faults. */
static GstBuffer *
guarded_buffer (gsize size, guint8 **bytes)
{
  Mapping *mapping = g_new (Mapping, 1);

  *bytes = picture_guarded (size, PICTURE_GUARD_AFTER, &mapping->mapping, &mapping->size);
  memset (*bytes, 100, size);
  return gst_buffer_new_wrapped_full (0, *bytes, size, 0, size, mapping, unmap);
}

static void
add_layout (GstBuffer *buffer, const GstVideoInfo *info, gsize offset, gint stride)
{
  gint strides[GST_VIDEO_MAX_PLANES];
  gsize offsets[GST_VIDEO_MAX_PLANES];

  memcpy (strides, info->stride, sizeof strides);
  memcpy (offsets, info->offset, sizeof offsets);
  offsets[0] = offset;
  strides[0] = stride;
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info), W, H,
      GST_VIDEO_INFO_N_PLANES (info), offsets, strides);
}

static Overlay *
lies_overlay (GstVideoFormat format)
{
  Overlay *overlay = overlay_new ("", format, W, H, "GRAY16_LE", W, H);

  overlay_push_depth (overlay, new_depth (W, H, GST_STEREO_OUTPUT_KIND_DISPARITY, 10 * 64), 0);
  return overlay;
}

static const GstVideoFormat formats[] = { GST_VIDEO_FORMAT_RGB, GST_VIDEO_FORMAT_BGRx, GST_VIDEO_FORMAT_I420,
  GST_VIDEO_FORMAT_YUY2 };

/* What the rows of the first plane say of themselves: too far from each other, upwards out of the memory, one byte too far,
 * over each other. */
TEST_LOOP (test_live_frames_that_lie, 0, G_N_ELEMENTS (formats))
{
  for (guint i = 0; i < 4; i++) {
    g_autoptr (Overlay) overlay = lies_overlay (formats[__i__]);
    const GstVideoInfo *info = &overlay->info;
    gsize size = GST_VIDEO_INFO_SIZE (info);
    gint stride = GST_VIDEO_INFO_PLANE_STRIDE (info, 0);
    gsize first = size - (gsize) stride * H;
    const gsize offset[] = { 0, 0, first + 1, 0 };
    const gint strides[] = { 40 * stride, -stride, stride, 0 };
    guint8 *bytes;
    GstBuffer *live = guarded_buffer (size, &bytes);

    add_layout (live, info, offset[i], strides[i]);
    overlay_push_live (overlay, live, 0);
    overlay_expect (overlay, GST_MESSAGE_ERROR, "does not hold the 64x48", NULL);
  }
}

TEST_LOOP (test_live_frames_that_fit, 0, G_N_ELEMENTS (formats))
{
  g_autoptr (Overlay) overlay = lies_overlay (formats[__i__]);
  guint8 *bytes;
  GstBuffer *out, *live = guarded_buffer (GST_VIDEO_INFO_SIZE (&overlay->info), &bytes);

  overlay_push_live (overlay, live, 0);
  out = overlay_pull (overlay, 0);
  gst_buffer_unref (out);
  overlay_expect_none (overlay, GST_MESSAGE_ERROR);
}

SUITE (overlay_lies)
{
}
