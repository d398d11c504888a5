/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The part of a live frame that is shown, and the format in which it is shown. */
#include "gst/overlay/overlay.h"

#include "gst/video/frame.h"

/* Whether one is the other scaled, within a pixel of the smaller one. */
static gboolean
same_shape (gint width, gint height, gint other_width, gint other_height)
{
  gint64 difference = (gint64) width * other_height - (gint64) other_width * height;

  return ABS (difference) <= MAX (MAX (width, height), MAX (other_width, other_height));
}

gboolean
gst_depth_overlay_view_fits (const GstDepthOverlayView *view, const GstVideoInfo *depth)
{
  return same_shape (view->info.width, view->info.height, GST_VIDEO_INFO_WIDTH (depth), GST_VIDEO_INFO_HEIGHT (depth));
}

gboolean
gst_depth_overlay_view_choose (GstDepthOverlayView *view, const GstVideoInfo *live, gint depth_width, gint depth_height,
    gboolean expected, gchar **message)
{
  GstVideoMultiviewMode mode = GST_VIDEO_INFO_MULTIVIEW_MODE (live);
  gint width = GST_VIDEO_INFO_WIDTH (live), height = GST_VIDEO_INFO_HEIGHT (live);
  gboolean tagged = mode == GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE || mode == GST_VIDEO_MULTIVIEW_MODE_TOP_BOTTOM;
  GstStereoLayout layout = { 0 };

  if (!tagged && mode > GST_VIDEO_MULTIVIEW_MODE_RIGHT) {
    *message = g_strdup ("The live view must be one view, or two side by side or one above the other: what sink gets "
                         "is tagged with another multiview-mode. Give it the left view alone.");
    return FALSE;
  }
  /* Untagged, a frame holds two views if half of it has the shape of the depth and the whole has not. Before any depth came we
   * assume what stereomatch assumes, so that the output does not start with both views. */
  gboolean packed = tagged ||
      (width % 2 == 0 &&
          (depth_width ? !same_shape (width, height, depth_width, depth_height) &&
                      same_shape (width / 2, height, depth_width, depth_height) :
                         expected && width >= 2 * height));
  if (!(packed ? gst_stereo_layout_packed (&layout, live, GST_STEREO_PACKING_SIDE_BY_SIDE, message) :
                 gst_stereo_layout_single (&layout, live, FALSE, message)))
    return FALSE;
  view->live = view->info = *live;
  view->x = layout.right_first && layout.packing == GST_STEREO_PACKING_SIDE_BY_SIDE ? layout.width : 0;
  view->y = layout.right_first && layout.packing != GST_STEREO_PACKING_SIDE_BY_SIDE ? layout.height : 0;
  view->cropped = packed;
  if (!packed)
    return TRUE;
  view->info.width = layout.width;
  view->info.height = layout.height;
  view->info.par_n = layout.par_n;
  view->info.par_d = layout.par_d;
  GST_VIDEO_INFO_MULTIVIEW_MODE (&view->info) = GST_VIDEO_MULTIVIEW_MODE_MONO;
  GST_VIDEO_INFO_MULTIVIEW_FLAGS (&view->info) = GST_VIDEO_MULTIVIEW_FLAGS_NONE;
  return TRUE;
}

GstCaps *
gst_depth_overlay_view_caps (const GstDepthOverlayView *view)
{
  const GstVideoInfo *info = &view->info;
  gboolean grey = GST_VIDEO_FORMAT_INFO_IS_GRAY (view->live.finfo);
  GstCaps *caps = grey ? gst_caps_new_empty () : gst_video_info_to_caps ((GstVideoInfo *) info);
  GstCaps *others = gst_caps_from_string (
      "video/x-raw, format={" GST_DEPTH_OVERLAY_COLORS "}; video/x-raw, format=GRAY8");

  /* colorimetry and the like are those that the format has by default */
  gst_caps_set_simple (others, "width", G_TYPE_INT, info->width, "height", G_TYPE_INT, info->height, "framerate",
      GST_TYPE_FRACTION, info->fps_n, info->fps_d, "pixel-aspect-ratio", GST_TYPE_FRACTION, info->par_n, info->par_d,
      "interlace-mode", G_TYPE_STRING, gst_video_interlace_mode_to_string (info->interlace_mode), "multiview-mode",
      G_TYPE_STRING, "mono", NULL);
  gst_caps_append (caps, others);
  return caps;
}

gboolean
gst_depth_overlay_view_set_caps (GstDepthOverlayView *view, const GstCaps *caps)
{
  g_clear_pointer (&view->converter, gst_video_converter_free);
  if (!gst_video_info_from_caps (&view->info, caps))
    return FALSE;
  /* a converter refuses to change these; it mixes the rows of interlaced planes */
  GstVideoInfo from = view->live, to = view->info;
  from.interlace_mode = to.interlace_mode = GST_VIDEO_INTERLACE_MODE_PROGRESSIVE;
  to.fps_n = from.fps_n;
  to.fps_d = from.fps_d;
  view->converter = gst_video_converter_new (&from, &to,
      gst_structure_new ("part", GST_VIDEO_CONVERTER_OPT_SRC_X, G_TYPE_INT, view->x, GST_VIDEO_CONVERTER_OPT_SRC_Y,
          G_TYPE_INT, view->y, GST_VIDEO_CONVERTER_OPT_SRC_WIDTH, G_TYPE_INT, to.width,
          GST_VIDEO_CONVERTER_OPT_SRC_HEIGHT, G_TYPE_INT, to.height, NULL));
  return view->converter != NULL;
}
