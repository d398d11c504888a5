/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/frame.h"

#include "gst/meta/map.h"

#define TURNED \
  (GST_VIDEO_MULTIVIEW_FLAGS_LEFT_FLIPPED | GST_VIDEO_MULTIVIEW_FLAGS_LEFT_FLOPPED | \
      GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_FLIPPED | GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_FLOPPED)

const GEnumValue gst_stereo_packings[] = {
  { GST_STEREO_PACKING_AUTO, "Side by side when at least twice as wide as high, else an error", "auto" },
  { GST_STEREO_PACKING_SIDE_BY_SIDE, "Left half, right half", "side-by-side" },
  { GST_STEREO_PACKING_TOP_BOTTOM, "Left view above the right one", "top-bottom" },
  { GST_STEREO_PACKING_ROW_INTERLEAVED, "Even rows left, odd rows right", "row-interleaved" },
  { GST_STEREO_PACKING_COLUMN_INTERLEAVED, "Even columns left, odd columns right", "column-interleaved" },
  { GST_STEREO_PACKING_FRAME_BY_FRAME, "Left and right views in alternating buffers", "frame-by-frame" },
  { 0, NULL, NULL },
};

/* The packing that the caps name; AUTO where they name none. FALSE: frames of that kind cannot be split into two
 * views. */
static gboolean
packing_of_caps (const GstVideoInfo *info, GstStereoPacking *packing)
{
  static const GstVideoMultiviewMode modes[] = { [GST_STEREO_PACKING_AUTO] = GST_VIDEO_MULTIVIEW_MODE_NONE,
    [GST_STEREO_PACKING_SIDE_BY_SIDE] = GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE,
    [GST_STEREO_PACKING_TOP_BOTTOM] = GST_VIDEO_MULTIVIEW_MODE_TOP_BOTTOM,
    [GST_STEREO_PACKING_ROW_INTERLEAVED] = GST_VIDEO_MULTIVIEW_MODE_ROW_INTERLEAVED,
    [GST_STEREO_PACKING_COLUMN_INTERLEAVED] = GST_VIDEO_MULTIVIEW_MODE_COLUMN_INTERLEAVED,
    [GST_STEREO_PACKING_FRAME_BY_FRAME] = GST_VIDEO_MULTIVIEW_MODE_FRAME_BY_FRAME };
  GstVideoMultiviewMode mode = GST_VIDEO_INFO_MULTIVIEW_MODE (info);

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    if (mode == modes[i] || (i == GST_STEREO_PACKING_AUTO && mode == GST_VIDEO_MULTIVIEW_MODE_MONO)) {
      *packing = (GstStereoPacking) i;
      return TRUE;
    }
  return FALSE;
}

/* Whether every sample of a frame has a valid address. GStreamer computes strides and sizes in 32 bits, and does not
 * report an overflow. */
static gboolean
samples_have_addresses (const GstVideoInfo *info)
{
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS (info); c++) {
    gint64 row = (gint64) GST_VIDEO_INFO_COMP_WIDTH (info, c) * GST_VIDEO_INFO_COMP_PSTRIDE (info, c),
           stride = GST_VIDEO_INFO_COMP_STRIDE (info, c),
           end = (gint64) GST_VIDEO_INFO_PLANE_OFFSET (info, GST_VIDEO_INFO_COMP_PLANE (info, c)) +
        GST_VIDEO_INFO_COMP_HEIGHT (info, c) * stride;
    if (row > stride || end > (gint64) GST_VIDEO_INFO_SIZE (info))
      return FALSE;
  }
  return TRUE;
}

static gboolean
layout_of_frame (GstStereoLayout *layout, const GstVideoInfo *info, gchar **message)
{
  memset (layout, 0, sizeof *layout);
  if (!samples_have_addresses (info)) {
    *message = g_strdup_printf (
        "A frame of %dx%d pixels in %s is larger than GStreamer can address: send smaller frames.",
        GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
        gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info)));
    return FALSE;
  }
  layout->width = GST_VIDEO_INFO_WIDTH (info);
  layout->height = GST_VIDEO_INFO_HEIGHT (info);
  layout->par_n = GST_VIDEO_INFO_PAR_N (info);
  layout->par_d = GST_VIDEO_INFO_PAR_D (info);
  /* caps may hold any fraction */
  if (layout->par_n <= 0 || layout->par_d <= 0)
    layout->par_n = layout->par_d = 1;
  layout->fps_n = GST_VIDEO_INFO_FPS_N (info);
  layout->fps_d = MAX (1, GST_VIDEO_INFO_FPS_D (info));
  return TRUE;
}

static void
scale_fraction (gint *n, gint *d, gint by_n, gint by_d)
{
  gint new_n, new_d;

  if (gst_util_fraction_multiply (*n, *d, by_n, by_d, &new_n, &new_d)) {
    *n = new_n;
    *d = new_d;
  }
}

/* From the size of a frame to the size of a view. Half-aspect views are squeezed along the axis that they share: their
 * pixels count double there. */
static gboolean
halve (GstStereoLayout *layout, gboolean half_aspect, gchar **message)
{
  gboolean across = layout->packing == GST_STEREO_PACKING_SIDE_BY_SIDE ||
      layout->packing == GST_STEREO_PACKING_COLUMN_INTERLEAVED;
  gint *side = across ? &layout->width : &layout->height;

  if (layout->packing == GST_STEREO_PACKING_FRAME_BY_FRAME)
    return TRUE;
  if (*side % 2) {
    *message = g_strdup_printf ("A frame of %dx%d pixels cannot hold two views of one size: its %s must be even.",
        layout->width, layout->height, across ? "width" : "height");
    return FALSE;
  }
  *side /= 2;
  if (half_aspect)
    scale_fraction (&layout->par_n, &layout->par_d, across ? 2 : 1, across ? 1 : 2);
  return TRUE;
}

gboolean
gst_stereo_layout_packed (GstStereoLayout *layout, const GstVideoInfo *info, GstStereoPacking wanted, gchar **message)
{
  GstVideoMultiviewFlags flags = GST_VIDEO_INFO_MULTIVIEW_FLAGS (info);
  GstStereoPacking tagged;

  if (!layout_of_frame (layout, info, message))
    return FALSE;
  if (!packing_of_caps (info, &tagged)) {
    *message = g_strdup_printf (
        "Frames tagged multiview-mode=%s cannot be split into two views: use side-by-side, top-bottom, "
        "row-interleaved, column-interleaved or frame-by-frame, or link the views to sink_left and sink_right.",
        gst_video_multiview_mode_to_caps_string (GST_VIDEO_INFO_MULTIVIEW_MODE (info)));
    return FALSE;
  }
  if (flags & TURNED) {
    *message = g_strdup ("The caps' multiview-flags say that a view is flipped or flopped: turn it upright before "
                         "it gets here, with videoflip.");
    return FALSE;
  }
  layout->packing = tagged ? tagged : wanted;
  layout->overruled = tagged && wanted && tagged != wanted;
  layout->right_first = (flags & GST_VIDEO_MULTIVIEW_FLAGS_RIGHT_VIEW_FIRST) != 0;
  if (!layout->packing && layout->width / 2 >= layout->height)
    layout->packing = GST_STEREO_PACKING_SIDE_BY_SIDE;
  if (!layout->packing) {
    *message = g_strdup_printf (
        "Nothing says how two views lie in frames of %dx%d pixels: the caps have no multiview-mode, and only frames at "
        "least twice as wide as high are taken as side by side. Set packing, or link the views to "
        "sink_left and sink_right.",
        layout->width, layout->height);
    return FALSE;
  }
  /* the frame rate of an untagged stream counts buffers, that of a tagged one counts bundles */
  if (!tagged && layout->packing == GST_STEREO_PACKING_FRAME_BY_FRAME && layout->fps_n)
    scale_fraction (&layout->fps_n, &layout->fps_d, 1, 2);
  return halve (layout, (flags & GST_VIDEO_MULTIVIEW_FLAGS_HALF_ASPECT) != 0, message);
}

gboolean
gst_stereo_layout_single (GstStereoLayout *layout, const GstVideoInfo *info, gboolean right, gchar **message)
{
  const gchar *pad = right ? "sink_right" : "sink_left";
  GstVideoMultiviewMode mode = GST_VIDEO_INFO_MULTIVIEW_MODE (info);
  GstVideoMultiviewMode wrong = right ? GST_VIDEO_MULTIVIEW_MODE_LEFT : GST_VIDEO_MULTIVIEW_MODE_RIGHT;

  if (!layout_of_frame (layout, info, message))
    return FALSE;
  if (mode == wrong) {
    *message = g_strdup_printf ("%s gets frames tagged multiview-mode=%s: the two views are swapped.", pad,
        gst_video_multiview_mode_to_caps_string (mode));
    return FALSE;
  }
  if (mode > GST_VIDEO_MULTIVIEW_MODE_RIGHT) {
    *message = g_strdup_printf ("%s gets frames tagged multiview-mode=%s, which hold both views: link them to sink.",
        pad, gst_video_multiview_mode_to_caps_string (mode));
    return FALSE;
  }
  return TRUE;
}

/* The samples that are read: all components of RGB, else the luma. */
static gint
components (const GstVideoFrame *frame)
{
  return GST_VIDEO_INFO_IS_RGB (&frame->info) ? 3 : 1;
}

/* Decoders and sensors may give a picture that lies within a larger one: the planes begin where it does. FALSE where that is not inside
 * the memory, or begins within a group of pixels that share their colour. */
static gboolean
crop (GstVideoFrame *frame)
{
  const GstVideoCropMeta *part = gst_buffer_get_video_crop_meta (frame->buffer);
  const GstVideoMeta *whole = frame->meta;
  gsize offset[GST_VIDEO_MAX_PLANES] = { 0 };

  if (!part || (!part->x && !part->y))
    return TRUE;
  if (!whole || part->width != (guint) frame->info.width || part->height != (guint) frame->info.height ||
      part->x > whole->width - part->width || part->y > whole->height - part->height)
    return FALSE;
  for (guint c = 0; c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++) {
    guint plane = (guint) GST_VIDEO_FRAME_COMP_PLANE (frame, c);
    gsize left = part->x >> GST_VIDEO_FORMAT_INFO_W_SUB (frame->info.finfo, c),
          above = part->y >> GST_VIDEO_FORMAT_INFO_H_SUB (frame->info.finfo, c),
          stride = (gsize) GST_VIDEO_FRAME_COMP_STRIDE (frame, c),
          pixel = (gsize) GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c);
    if (left << GST_VIDEO_FORMAT_INFO_W_SUB (frame->info.finfo, c) != part->x ||
        above << GST_VIDEO_FORMAT_INFO_H_SUB (frame->info.finfo, c) != part->y || !pixel ||
        GST_VIDEO_FRAME_COMP_STRIDE (frame, c) < 0 ||
        (above + (gsize) GST_VIDEO_FRAME_COMP_HEIGHT (frame, c) - 1) * stride +
                (left + (gsize) GST_VIDEO_FRAME_COMP_WIDTH (frame, c)) * pixel >
            gst_stereo_map_room (frame, plane))
      return FALSE;
    /* the first component of a plane moves it */
    if (c == 0 || plane != (guint) GST_VIDEO_FRAME_COMP_PLANE (frame, c - 1))
      offset[plane] = above * stride + left * pixel;
  }
  for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES (frame); plane++)
    frame->data[plane] = (guint8 *) frame->data[plane] + offset[plane];
  return TRUE;
}

gboolean
gst_stereo_frame_map (GstVideoFrame *frame, const GstVideoInfo *info, GstBuffer *buffer, GstStereoCudaContext *context)
{
  GstStereoCudaContext *lies_in = gst_stereo_cuda_context_of (buffer);

  if (!(lies_in ? gst_stereo_cuda_map (frame, info, buffer, lies_in == context) :
                  gst_stereo_map (frame, info, buffer, GST_MAP_READ | GST_VIDEO_FRAME_MAP_FLAG_NO_REF)))
    return FALSE;
  if (crop (frame))
    return TRUE;
  gst_video_frame_unmap (frame);
  return FALSE;
}

static StereoImage
image_of_frame (const GstVideoFrame *frame)
{
  const guint8 *base = GST_VIDEO_FRAME_COMP_DATA (frame, 0);
  StereoImage image = { 0 };

  image.channels = components (frame);
  for (gint c = 1; c < image.channels; c++)
    base = MIN (base, (const guint8 *) GST_VIDEO_FRAME_COMP_DATA (frame, c));
  for (gint c = 0; c < image.channels; c++)
    image.offset[c] = (guint8) ((const guint8 *) GST_VIDEO_FRAME_COMP_DATA (frame, c) - base);
  image.data = base;
  image.stride = GST_VIDEO_FRAME_COMP_STRIDE (frame, 0);
  image.pixel_stride = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, 0);
  image.memory = gst_stereo_cuda_is_on_device (frame) ? STEREO_MEMORY_CUDA : STEREO_MEMORY_HOST;
  return image;
}

void
gst_stereo_layout_images (const GstStereoLayout *layout, const GstVideoFrame *first, const GstVideoFrame *second,
    StereoImage *left, StereoImage *right)
{
  StereoImage a = image_of_frame (first), b = image_of_frame (second);

  switch (layout->packing) {
    case GST_STEREO_PACKING_SIDE_BY_SIDE:
      b.data += (gsize) layout->width * b.pixel_stride;
      break;
    case GST_STEREO_PACKING_TOP_BOTTOM:
      b.data += layout->height * b.stride;
      break;
    case GST_STEREO_PACKING_ROW_INTERLEAVED:
      b.data += b.stride;
      a.stride = b.stride *= 2;
      break;
    case GST_STEREO_PACKING_COLUMN_INTERLEAVED:
      b.data += b.pixel_stride;
      a.pixel_stride = b.pixel_stride *= 2;
      break;
    default:
      break;
  }
  *left = layout->right_first ? b : a;
  *right = layout->right_first ? a : b;
}
