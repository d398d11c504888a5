/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/video/view.h"

#include "gst/video/frame.h"

/* Whether one is the other scaled, within a pixel of the smaller one. */
static gboolean
same_shape (gint width, gint height, gint other_width, gint other_height)
{
  gint64 difference = (gint64) width * other_height - (gint64) other_width * height;

  return ABS (difference) <= MAX (MAX (width, height), MAX (other_width, other_height));
}

/* Whether frames without a multiview-mode hold two views: if half of a frame has the shape of the depth, and the whole
 * frame has not. Before any depth came we assume what stereomatch assumes, so that the output does not start with both
 * views. */
static gboolean
is_packed_size (gint width, gint height, gint depth_width, gint depth_height, gboolean expected)
{
  if (depth_width)
    return width % 2 == 0 && !same_shape (width, height, depth_width, depth_height) &&
        same_shape (width / 2, height, depth_width, depth_height);
  return expected && width % 2 == 0 && width >= 2 * height;
}

static void
set_cropped_info (GstVideoInfo *info, const GstVideoInfo *live, const GstStereoLayout *layout)
{
  gst_video_info_set_format (info, GST_VIDEO_INFO_FORMAT (live), (guint) layout->width, (guint) layout->height);
  info->colorimetry = live->colorimetry;
  info->chroma_site = live->chroma_site;
  info->interlace_mode = live->interlace_mode;
  info->fps_n = live->fps_n;
  info->fps_d = live->fps_d;
  info->par_n = layout->par_n;
  info->par_d = layout->par_d;
  GST_VIDEO_INFO_MULTIVIEW_MODE (info) = GST_VIDEO_MULTIVIEW_MODE_MONO;
}

gboolean
gst_stereo_live_view_choose (GstStereoLiveView *view, const GstVideoInfo *live, gint depth_width, gint depth_height,
    gboolean expected, gchar **message)
{
  GstStereoLayout layout = { 0 };
  gboolean packed = TRUE;

  switch (GST_VIDEO_INFO_MULTIVIEW_MODE (live)) {
    case GST_VIDEO_MULTIVIEW_MODE_SIDE_BY_SIDE:
    case GST_VIDEO_MULTIVIEW_MODE_TOP_BOTTOM:
      break;
    case GST_VIDEO_MULTIVIEW_MODE_NONE:
    case GST_VIDEO_MULTIVIEW_MODE_MONO:
    case GST_VIDEO_MULTIVIEW_MODE_LEFT:
    case GST_VIDEO_MULTIVIEW_MODE_RIGHT:
      packed = is_packed_size (
          GST_VIDEO_INFO_WIDTH (live), GST_VIDEO_INFO_HEIGHT (live), depth_width, depth_height, expected);
      break;
    default:
      *message = g_strdup ("The live view must be one view, or two side by side or one above the other: what sink gets "
                           "is tagged with another multiview-mode. Give it the left view alone.");
      return FALSE;
  }
  if (!(packed ? gst_stereo_layout_packed (&layout, live, GST_STEREO_PACKING_SIDE_BY_SIDE, message) :
                 gst_stereo_layout_single (&layout, live, FALSE, message)))
    return FALSE;
  view->live = view->info = *live;
  view->x = view->y = 0;
  if (packed && layout.right_first && layout.packing == GST_STEREO_PACKING_SIDE_BY_SIDE)
    view->x = layout.width;
  else if (packed && layout.right_first)
    view->y = layout.height;
  view->cropped = layout.packing != GST_STEREO_PACKING_AUTO;
  if (view->cropped)
    set_cropped_info (&view->info, live, &layout);
  return TRUE;
}

gboolean
gst_stereo_live_view_equal (const GstStereoLiveView *a, const GstStereoLiveView *b)
{
  return a->x == b->x && a->y == b->y && GST_VIDEO_INFO_WIDTH (&a->info) == GST_VIDEO_INFO_WIDTH (&b->info) &&
      GST_VIDEO_INFO_HEIGHT (&a->info) == GST_VIDEO_INFO_HEIGHT (&b->info) &&
      gst_video_info_is_equal (&a->live, &b->live);
}

gboolean
gst_stereo_live_view_fits (const GstStereoLiveView *view, gint depth_width, gint depth_height)
{
  return same_shape (GST_VIDEO_INFO_WIDTH (&view->info), GST_VIDEO_INFO_HEIGHT (&view->info), depth_width, depth_height);
}
