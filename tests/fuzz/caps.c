/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Caps that may say anything of size, format and views, and a GstVideoMeta that may say anything of where the rows lie:
 * refused with a sentence, or two views of which every sample lies in the frame. The input is caps as text, and behind a
 * byte 0 the meta's strides and offsets, four bytes each, and the buffer's size.
 */
#include "tests/fuzz/fuzz.h"
#include "gst/video/frame.h"

enum
{
  REFUSED,
  SPLIT,
  SINGLE,
  MAPPED,
  NUMBERS = 9,
  MOST_BYTES = 1 << 20
};
static const char *const pieces[] = { ",multiview-mode=(string)", "side-by-side", "top-bottom", "row-interleaved",
  "column-interleaved", "frame-by-frame", "checkerboard", "mono", "left", "right", "multiview-frame-by-frame", "stereo",
  ",multiview-flags=(GstVideoMultiviewFlagsSet)4000:ffffffff", "0:0", "1:ffffffff",
  "width=", "height=", "framerate=", "pixel-aspect-ratio=", "0/1", "1/0", "2147483647/1", "1/2147483647",
  "[ 1, 2147483647 ]", "format=", "NV12", "YUY2", "RGB", "GRAY8", "UYVY", "I420", "interlace-mode=interleaved", NULL };

/* Whether an image's samples lie within @size bytes from @base on: in whole numbers, wherever the pointers would end up. */
static int
inside (const StereoImage *image, const GstStereoLayout *layout, const guint8 *base, gsize size)
{
  __int128 first = (__int128) (guintptr) image->data - (__int128) (guintptr) base, last = first, least = first;
  __int128 rows = (__int128) (layout->height - 1) * image->stride,
           row = (__int128) (layout->width - 1) * image->pixel_stride;

  for (gint c = 0; c < image->channels; c++)
    last = MAX (last, first + image->offset[c]);
  least += MIN (rows, 0);
  last += MAX (rows, 0) + row;
  return least >= 0 && last < (__int128) size;
}

static void
check_images (
    const GstStereoLayout *layout, const GstVideoFrame *frame, const guint8 *base, gsize size, const gchar *text)
{
  StereoImage images[2];

  gst_stereo_layout_images (layout, frame, frame, &images[0], &images[1]);
  for (gint v = 0; v < 2; v++) {
    CHECK (inside (&images[v], layout, base, size), "view %d of %dx%d leaves the frame: %s", v, layout->width,
        layout->height, text);
    CHECK (images[v].pixel_stride >= 1 && images[v].pixel_stride <= 8 &&
            (images[v].channels == 1 || images[v].channels == 3),
        "view %d: %d channels, %d bytes: %s", v, images[v].channels, images[v].pixel_stride, text);
  }
}

/* Without memory: the arithmetic at any size. */
static void
try_addresses (const GstStereoLayout *layout, const GstVideoInfo *info, const gchar *text)
{
  GstVideoFrame frame = { .info = *info };
  guint8 *base = (guint8 *) (guintptr) 4096;

  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info); p++)
    frame.data[p] = base + info->offset[p];
  check_images (layout, &frame, base, info->size, text);
}

/* Reads every sample: under AddressSanitizer a wrong one is seen. */
static guint
read_image (const StereoImage *image, gint width, gint height)
{
  guint sum = 0;

  for (gint y = 0; y < height; y++)
    for (gint x = 0; x < width; x++)
      for (gint c = 0; c < image->channels; c++)
        sum += image->data[y * image->stride + (gssize) x * image->pixel_stride + image->offset[c]];
  return sum;
}

static void
try_buffer (const GstStereoLayout *layout, const GstVideoInfo *info, const gint32 *numbers, const gchar *text)
{
  gsize size = (gsize) CLAMP ((gint64) info->size + numbers[NUMBERS - 1] % 64, 1, MOST_BYTES);
  gsize offsets[GST_VIDEO_MAX_PLANES] = { 0 };
  gint strides[GST_VIDEO_MAX_PLANES] = { 0 };
  GstVideoFrame frame;
  StereoImage images[2];

  if (info->size > MOST_BYTES)
    return;
  g_autoptr (GstBuffer) buffer = gst_buffer_new_wrapped (g_malloc0 (size), size);
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES (info) && p < 4; p++) {
    strides[p] = numbers[p] ? numbers[p] : info->stride[p];
    offsets[p] = numbers[4 + p] ? (gsize) (gint64) numbers[4 + p] : info->offset[p];
  }
  if (numbers[0] || numbers[4])
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
        (guint) GST_VIDEO_INFO_WIDTH (info), (guint) GST_VIDEO_INFO_HEIGHT (info), GST_VIDEO_INFO_N_PLANES (info),
        offsets, strides);
  if (gst_stereo_frame_map (&frame, info, buffer, NULL)) {
    gst_stereo_layout_images (layout, &frame, &frame, &images[0], &images[1]);
    read_image (&images[0], layout->width, layout->height);
    read_image (&images[1], layout->width, layout->height);
    gst_video_frame_unmap (&frame);
    fuzz_count (MAPPED);
  }
}

/* What a pad lets through. */
static gboolean
is_ours (GstCaps *caps)
{
  static GstCaps *ours;

  if (!ours)
    ours = gst_caps_from_string (GST_VIDEO_CAPS_MAKE (GST_STEREO_FORMATS));
  return gst_caps_is_fixed (caps) && gst_caps_is_subset (caps, ours);
}

static void
check_layout (const GstStereoLayout *layout, const GstVideoInfo *info, const gchar *text)
{
  CHECK (layout->width >= 1 && layout->height >= 1, "views of %dx%d: %s", layout->width, layout->height, text);
  CHECK (layout->width <= GST_VIDEO_INFO_WIDTH (info) && layout->height <= GST_VIDEO_INFO_HEIGHT (info),
      "views of %dx%d: %s", layout->width, layout->height, text);
  CHECK (layout->par_n > 0 && layout->par_d > 0 && layout->fps_n >= 0 && layout->fps_d > 0,
      "pixels of %d/%d, %d/%d pairs a second: %s", layout->par_n, layout->par_d, layout->fps_n, layout->fps_d, text);
}

static void
try_info (const GstVideoInfo *info, const gint32 *numbers, const gchar *text)
{
  GstStereoLayout layout;

  for (guint wanted = GST_STEREO_PACKING_AUTO; wanted <= GST_STEREO_PACKING_FRAME_BY_FRAME; wanted++) {
    g_autofree gchar *message = NULL;
    if (gst_stereo_layout_packed (&layout, info, (GstStereoPacking) wanted, &message)) {
      check_layout (&layout, info, text);
      try_addresses (&layout, info, text);
      try_buffer (&layout, info, numbers, text);
      fuzz_count (SPLIT);
    } else {
      CHECK (message && strlen (message) > 20, "refused without a word: %s", text);
      fuzz_count (REFUSED);
    }
  }
  for (gint right = 0; right < 2; right++) {
    g_autofree gchar *message = NULL;
    if (gst_stereo_layout_single (&layout, info, right, &message)) {
      check_layout (&layout, info, text);
      fuzz_count (SINGLE);
    } else {
      CHECK (message && strlen (message) > 20, "refused without a word: %s", text);
    }
  }
}

/* GStreamer warns of what it does not understand in caps, thousands of times. */
static void
keep_quiet (const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer data)
{
}

static void
try (const uint8_t *data, size_t size)
{
  g_autofree gchar *text = g_strndup ((const gchar *) data, size);
  size_t length = strlen (text) + 1, left = size > length ? size - length : 0;
  gint32 numbers[NUMBERS] = { 0 };
  GstVideoInfo info;

  gst_init (NULL, NULL);
  g_log_set_default_handler (keep_quiet, NULL);
  g_type_ensure (GST_TYPE_VIDEO_MULTIVIEW_FLAGSET);
  memcpy (numbers, left ? data + length : data, left < sizeof numbers ? left : sizeof numbers);
  GstCaps *caps = g_utf8_validate (text, -1, NULL) ? gst_caps_from_string (text) : NULL;
  if (caps && is_ours (caps) && gst_video_info_from_caps (&info, caps))
    try_info (&info, numbers, text);
  else
    fuzz_count (REFUSED);
  gst_clear_caps (&caps);
}

const FuzzTarget fuzz_target = { 20000,
  { { "not caps, or views that cannot be split", 1 }, { "split into two views", 1 }, { "taken as one view", 1 },
      { "mapped and read", 1 } },
  NULL, try, pieces };
