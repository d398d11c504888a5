/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the views lie in a frame: every sample of every format and layout, read through the StereoImage. */
#include "gst/video/frame.h"
#include "tests/support/gst/util.h"
#include "tests/support/gst/suite.h"

typedef struct
{
  GstVideoFormat format;
  gint channels, pixel_stride;
  guint8 offset[3]; /* from the first byte of the first pixel, by GStreamer's format documentation */
} Format;

static const Format formats[] = {
  { GST_VIDEO_FORMAT_GRAY8, 1, 1, { 0 } },
  { GST_VIDEO_FORMAT_I420, 1, 1, { 0 } },
  { GST_VIDEO_FORMAT_NV12, 1, 1, { 0 } },
  { GST_VIDEO_FORMAT_YUY2, 1, 2, { 0 } },
  { GST_VIDEO_FORMAT_UYVY, 1, 2, { 1 } },
  { GST_VIDEO_FORMAT_RGB, 3, 3, { 0, 1, 2 } },
  { GST_VIDEO_FORMAT_BGR, 3, 3, { 2, 1, 0 } },
  { GST_VIDEO_FORMAT_RGBx, 3, 4, { 0, 1, 2 } },
  { GST_VIDEO_FORMAT_BGRx, 3, 4, { 2, 1, 0 } },
  { GST_VIDEO_FORMAT_RGBA, 3, 4, { 0, 1, 2 } },
  { GST_VIDEO_FORMAT_BGRA, 3, 4, { 2, 1, 0 } },
};

static GstVideoInfo
info_of (const gchar *caps)
{
  GstVideoInfo info;

  g_type_ensure (GST_TYPE_VIDEO_MULTIVIEW_FLAGSET);
  g_autoptr (GstCaps) parsed = gst_caps_from_string (caps);
  fail_unless (gst_video_info_from_caps (&info, parsed), "%s", caps);
  return info;
}

/* That @image shows texture (x + shift, y). */
static void
check_image (const StereoImage *image, const Format *format, gint width, gint height, gint shift, const gchar *what)
{
  fail_unless_equals_int (image->channels, format->channels);
  fail_unless_equals_int (image->memory, STEREO_MEMORY_HOST);
  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++)
      for (gint c = 0; c < image->channels; c++)
        if (image->data[y * image->stride + x * image->pixel_stride + image->offset[c]] !=
            texture (7 + (guint) c, x + shift, y))
          fail ("%s %s: pixel %d,%d channel %d", what, gst_video_format_to_string (format->format), x, y, c);
}

TEST_LOOP (test_single_views, 0, G_N_ELEMENTS (formats))
{
  const Format *format = &formats[__i__];

  for (gint padding = 0; padding < 8; padding += 7) {
    g_autoptr (GstBuffer) buffer = make_view (format->format, 13, 5, 7, 0, padding);
    gchar *caps = make_caps (format->format, 13, 5, NULL), *message = NULL;
    GstVideoInfo info = info_of (caps);
    GstStereoLayout layout;
    StereoImage left, right;
    GstVideoFrame frame;

    fail_unless (gst_stereo_layout_single (&layout, &info, FALSE, &message));
    fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
    gst_stereo_layout_images (&layout, &frame, &frame, &left, &right);
    fail_unless_equals_int (left.pixel_stride, format->pixel_stride);
    for (gint c = 0; c < left.channels; c++)
      fail_unless_equals_int (left.data - (guint8 *) frame.data[0] + left.offset[c], format->offset[c]);
    check_image (&left, format, 13, 5, 0, "single");
    gst_video_frame_unmap (&frame);
    g_free (caps);
  }
}

static const gchar *layouts[] = { "side-by-side", "top-bottom", "row-interleaved", "column-interleaved" };

static void
check_packed (const Format *format, const gchar *name, gboolean right_first)
{
  gboolean across = g_str_equal (name, "side-by-side") || g_str_equal (name, "column-interleaved");
  g_autoptr (GstBuffer) buffer = make_packed (format->format, name, 11, 5, 7, right_first);
  g_autofree gchar *extra = g_strdup_printf ("multiview-mode=%s,%s", name, right_first ? RIGHT_FIRST : NO_FLAGS);
  gchar *caps = make_caps (format->format, across ? 22 : 11, across ? 5 : 10, extra), *message = NULL;
  GstVideoInfo info = info_of (caps);
  GstStereoLayout layout;
  StereoImage left, right;
  GstVideoFrame frame;

  fail_unless (gst_stereo_layout_packed (&layout, &info, GST_STEREO_PACKING_AUTO, &message), "%s", message);
  fail_unless_equals_int (layout.width, 11);
  fail_unless_equals_int (layout.height, 5);
  fail_unless (gst_video_frame_map (&frame, &info, buffer, GST_MAP_READ));
  gst_stereo_layout_images (&layout, &frame, &frame, &left, &right);
  check_image (&left, format, 11, 5, 0, name);
  check_image (&right, format, 11, 5, SHIFT, name);
  gst_video_frame_unmap (&frame);
  g_free (caps);
}

TEST_LOOP (test_packed_views, 0, G_N_ELEMENTS (formats))
{
  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++) {
    check_packed (&formats[__i__], layouts[i], FALSE);
    check_packed (&formats[__i__], layouts[i], TRUE);
  }
}

typedef struct
{
  const gchar *caps;
  GstStereoPacking wanted;
  const gchar *word; /* in the message; NULL: it is fine */
  GstStereoPacking packing;
  gint width, height, par_n, par_d, fps_n, fps_d;
  gboolean overruled;
} Case;

#define RAW "video/x-raw,format=GRAY8,framerate=30/1,"

static const Case cases[] = {
  /* untagged: the property, else the shape */
  { RAW "width=40,height=20", GST_STEREO_PACKING_AUTO, NULL, GST_STEREO_PACKING_SIDE_BY_SIDE, 20, 20, 1, 1, 30, 1 },
  { RAW "width=39,height=20", GST_STEREO_PACKING_AUTO, "Set packing" },
  { RAW "width=20,height=40", GST_STEREO_PACKING_AUTO, "Set packing" },
  { RAW "width=20,height=40", GST_STEREO_PACKING_TOP_BOTTOM, NULL, GST_STEREO_PACKING_TOP_BOTTOM, 20, 20, 1, 1, 30, 1 },
  { RAW "width=40,height=20", GST_STEREO_PACKING_TOP_BOTTOM, NULL, GST_STEREO_PACKING_TOP_BOTTOM, 40, 10, 1, 1, 30, 1 },
  { RAW "width=20,height=20", GST_STEREO_PACKING_ROW_INTERLEAVED, NULL, GST_STEREO_PACKING_ROW_INTERLEAVED, 20, 10, 1,
      1, 30, 1 },
  /* mono is what elements write that know nothing */
  { RAW "width=40,height=20,multiview-mode=mono", GST_STEREO_PACKING_AUTO, NULL, GST_STEREO_PACKING_SIDE_BY_SIDE, 20,
      20, 1, 1, 30, 1 },
  { RAW "width=20,height=20,multiview-mode=mono", GST_STEREO_PACKING_AUTO, "Set packing" },
  { RAW "width=20,height=20,multiview-mode=mono", GST_STEREO_PACKING_SIDE_BY_SIDE, NULL,
      GST_STEREO_PACKING_SIDE_BY_SIDE, 10, 20, 1, 1, 30, 1 },
  /* tagged: the caps win */
  { RAW "width=20,height=20,multiview-mode=top-bottom", GST_STEREO_PACKING_SIDE_BY_SIDE, NULL,
      GST_STEREO_PACKING_TOP_BOTTOM, 20, 10, 1, 1, 30, 1, TRUE },
  { RAW "width=20,height=20,multiview-mode=top-bottom", GST_STEREO_PACKING_TOP_BOTTOM, NULL,
      GST_STEREO_PACKING_TOP_BOTTOM, 20, 10, 1, 1, 30, 1, FALSE },
  { RAW "width=20,height=20,multiview-mode=checkerboard", GST_STEREO_PACKING_SIDE_BY_SIDE, "checkerboard" },
  { RAW "width=20,height=20,multiview-mode=separated,views=2", GST_STEREO_PACKING_AUTO, "separated" },
  { RAW "width=20,height=20,multiview-mode=left", GST_STEREO_PACKING_AUTO, "sink_left" },
  /* half-aspect: a view's pixels count double along the axis the views share */
  { RAW "width=40,height=20,multiview-mode=side-by-side," HALF_ASPECT, GST_STEREO_PACKING_AUTO, NULL,
      GST_STEREO_PACKING_SIDE_BY_SIDE, 20, 20, 2, 1, 30, 1 },
  { RAW "width=40,height=20,pixel-aspect-ratio=3/2,multiview-mode=top-bottom," HALF_ASPECT, GST_STEREO_PACKING_AUTO,
      NULL, GST_STEREO_PACKING_TOP_BOTTOM, 40, 10, 3, 4, 30, 1 },
  /* turned views */
  { RAW "width=40,height=20,multiview-mode=side-by-side," LEFT_FLOPPED, GST_STEREO_PACKING_AUTO, "flopped" },
  { RAW "width=40,height=20,multiview-mode=side-by-side," RIGHT_FLIPPED, GST_STEREO_PACKING_AUTO, "flipped" },
  /* odd sides */
  { RAW "width=41,height=20", GST_STEREO_PACKING_AUTO, "41x20" },
  { RAW "width=41,height=21,multiview-mode=row-interleaved", GST_STEREO_PACKING_AUTO, "height must be even" },
  { RAW "width=41,height=20,multiview-mode=column-interleaved", GST_STEREO_PACKING_AUTO, "width must be even" },
  /* frame by frame: tagged caps give the rate of pairs, untagged that of buffers */
  { RAW "width=41,height=21,multiview-mode=frame-by-frame,views=2", GST_STEREO_PACKING_AUTO, NULL,
      GST_STEREO_PACKING_FRAME_BY_FRAME, 41, 21, 1, 1, 30, 1 },
  { RAW "width=41,height=21", GST_STEREO_PACKING_FRAME_BY_FRAME, NULL, GST_STEREO_PACKING_FRAME_BY_FRAME, 41, 21, 1, 1,
      15, 1 },
  /* a row of 2^32 bytes, which GStreamer takes for one of none */
  { "video/x-raw,format=BGRx,framerate=30/1,width=1073741824,height=1", GST_STEREO_PACKING_AUTO, "1073741824x1" },
};

TEST_LOOP (test_layout_of_caps, 0, G_N_ELEMENTS (cases))
{
  const Case *c = &cases[__i__];
  GstVideoInfo info = info_of (c->caps);
  GstStereoLayout layout;
  gchar *message = NULL;
  gboolean found = gst_stereo_layout_packed (&layout, &info, c->wanted, &message);

  if (c->word) {
    fail_unless (!found && strstr (message, c->word), "%s: \"%s\"", c->caps, message);
    g_free (message);
    return;
  }
  fail_unless (found, "%s: %s", c->caps, message);
  fail_unless_equals_int (layout.packing, c->packing);
  fail_unless (
      layout.width == c->width && layout.height == c->height, "%s: %dx%d", c->caps, layout.width, layout.height);
  fail_unless (layout.par_n == c->par_n && layout.par_d == c->par_d, "%s: %d/%d", c->caps, layout.par_n, layout.par_d);
  fail_unless (layout.fps_n == c->fps_n && layout.fps_d == c->fps_d, "%s: %d/%d", c->caps, layout.fps_n, layout.fps_d);
  fail_unless_equals_int (layout.overruled, c->overruled);
}

TEST (test_single_view_tagged_wrong)
{
  GstVideoInfo right = info_of (RAW "width=20,height=20,multiview-mode=right");
  GstVideoInfo packed = info_of (RAW "width=20,height=20,multiview-mode=side-by-side");
  GstStereoLayout layout;
  gchar *message = NULL;

  fail_unless (gst_stereo_layout_single (&layout, &right, TRUE, &message));
  fail_if (gst_stereo_layout_single (&layout, &right, FALSE, &message));
  fail_unless (strstr (message, "swapped") != NULL, "%s", message);
  g_clear_pointer (&message, g_free);
  fail_if (gst_stereo_layout_single (&layout, &packed, FALSE, &message));
  fail_unless (strstr (message, "link them to sink") != NULL, "%s", message);
  g_free (message);
}

/* A GstVideoMeta may say anything of the buffer: what it says must be there. */
static gboolean
maps (gint stride, gsize offset, gsize size, GstVideoFormat format)
{
  GstVideoInfo info;
  GstVideoFrame frame;
  g_autoptr (GstBuffer) buffer = gst_buffer_new_allocate (NULL, size, NULL);
  gsize offsets[GST_VIDEO_MAX_PLANES] = { offset };
  gint strides[GST_VIDEO_MAX_PLANES] = { stride };

  gst_video_info_set_format (&info, format, 13, 5);
  gst_buffer_memset (buffer, 0, 0, size);
  gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, format, 13, 5, 1, offsets, strides);
  gboolean mapped = gst_stereo_frame_map (&frame, &info, buffer, NULL);
  if (mapped)
    gst_video_frame_unmap (&frame);
  return mapped;
}

TEST (test_metas_that_lie)
{
  fail_unless (maps (16, 7, 7 + 4 * 16 + 13, GST_VIDEO_FORMAT_GRAY8));
  fail_if (maps (16, 7, 7 + 4 * 16 + 12, GST_VIDEO_FORMAT_GRAY8));
  fail_if (maps (1 << 30, 0, 4 * 16 + 13, GST_VIDEO_FORMAT_GRAY8));
  fail_unless (maps (-16, 4 * 16, 4 * 16 + 13, GST_VIDEO_FORMAT_GRAY8));
  fail_if (maps (-16, 4 * 16 - 1, 4 * 16 + 13, GST_VIDEO_FORMAT_GRAY8));
  fail_unless (maps (52, 0, 5 * 52, GST_VIDEO_FORMAT_RGBA));
  fail_if (maps (52, 0, 5 * 52 - 1, GST_VIDEO_FORMAT_RGBA)); /* whoever draws there reads the last alpha */
}

SUITE (frame)
{
}
