/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/compose.h"

#include "gst/meta/map.h"
#include "gst/overlay/debug.h"
#include "gst/video/metas.h"
#include "gst/video/pool.h"

#include <string.h>

struct _GstDepthOverlayComposer
{
  GstElement *owner;
  GstStereoBlender *blender;
  GstDepthOverlayText *text;
};

GstDepthOverlayComposer *
gst_depth_overlay_composer_new (GstElement *owner)
{
  GstDepthOverlayComposer *composer = g_new0 (GstDepthOverlayComposer, 1);

  composer->owner = owner;
  composer->blender = gst_stereo_blender_new ();
  composer->text = gst_depth_overlay_text_new ();
  return composer;
}

void
gst_depth_overlay_composer_free (GstDepthOverlayComposer *composer)
{
  gst_stereo_blender_free (composer->blender);
  gst_depth_overlay_text_free (composer->text);
  g_free (composer);
}

/* Draws from @in, a whole live frame, to @out, which is @in or shows the view alone. Without depth the view is copied. */
static void
blend (GstDepthOverlayComposer *composer, const GstStereoLiveView *view, const GstDepthOverlayStyle *style,
    GstVideoFrame *in, GstVideoFrame *out)
{
  static const guint8 nothing[256] = { 0 };
  const GstStereoBlendDepth none = { { .samples = nothing, .width = 1, .height = 1 }, nothing };
  gint width = GST_VIDEO_INFO_WIDTH (&view->info), height = GST_VIDEO_INFO_HEIGHT (&view->info);
  GstStereoBlendView from, to;

  gst_stereo_blend_view_init (&from, in, view->x, view->y, width, height);
  if (in == out)
    to = from;
  else
    gst_stereo_blend_view_init (&to, out, 0, 0, width, height);
  gst_stereo_blender_set_colors (composer->blender, &view->info, style->colormap, style->alpha);
  gst_stereo_blender_run (composer->blender, &from, &to, style->depth ? style->depth : &none);
}

static GstFlowReturn
map_error (GstDepthOverlayComposer *composer, const GstVideoInfo *info, GstBuffer *buffer)
{
  GST_ELEMENT_ERROR (composer->owner, STREAM, FORMAT,
      ("A buffer of %" G_GSIZE_FORMAT " bytes does not hold the %dx%d %s frame that its caps announce.",
          gst_buffer_get_size (buffer), GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
          gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (info))),
      (NULL));
  return GST_FLOW_ERROR;
}

static gboolean
has_colors (const GstDepthOverlayStyle *style)
{
  return style->depth && style->alpha > 0;
}

static GstFlowReturn
draw_in_place (GstDepthOverlayComposer *composer, const GstStereoLiveView *view, const GstDepthOverlayStyle *style,
    GstBuffer *live)
{
  GstVideoFrame frame;

  if (!gst_stereo_map (&frame, &view->live, live, GST_MAP_READWRITE))
    return map_error (composer, &view->live, live);
  if (has_colors (style))
    blend (composer, view, style, &frame, &frame);
  gst_depth_overlay_text_blend (composer->text, &style->text, &frame);
  gst_video_frame_unmap (&frame);
  return GST_FLOW_OK;
}

static GstFlowReturn
draw_copy (GstDepthOverlayComposer *composer, GstDepthOverlayOutput *output, const GstDepthOverlayStyle *style,
    GstBuffer *live, GstBuffer **buffer)
{
  const GstStereoLiveView *view = gst_depth_overlay_output_view (output);
  GstVideoFrame in, out;
  GstFlowReturn flow = gst_depth_overlay_output_acquire (output, buffer);

  if (flow != GST_FLOW_OK)
    return flow;
  if (!gst_stereo_map (&in, &view->live, live, GST_MAP_READ)) {
    flow = map_error (composer, &view->live, live);
  } else if (!gst_stereo_map (&out, &view->info, *buffer, GST_MAP_READWRITE)) {
    gst_video_frame_unmap (&in);
    flow = map_error (composer, &view->info, *buffer);
  } else {
    gst_stereo_pool_clear_padding (&out);
    blend (composer, view, style, &in, &out);
    gst_depth_overlay_text_blend (composer->text, &style->text, &out);
    gst_video_frame_unmap (&out);
    gst_video_frame_unmap (&in);
    gst_buffer_copy_into (*buffer, live, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
    gst_stereo_copy_metas (*buffer, live, !view->cropped, TRUE);
  }
  if (flow != GST_FLOW_OK)
    gst_clear_buffer (buffer);
  return flow;
}

GstFlowReturn
gst_depth_overlay_compose (GstDepthOverlayComposer *composer, GstDepthOverlayOutput *output, GstBuffer *live,
    const GstDepthOverlayStyle *style, GstBuffer **buffer)
{
  gboolean can_pass = gst_depth_overlay_output_can_pass (output, live);
  gboolean untouched = !has_colors (style) && gst_depth_overlay_text_is_empty (&style->text);
  gboolean writable = gst_buffer_is_writable (live) && gst_buffer_is_all_memory_writable (live);
  GstFlowReturn flow = GST_FLOW_OK;

  GST_LOG_OBJECT (composer->owner, "live frame is %s",
      !can_pass     ? "copied: only a part of it is shown, or downstream needs other rows" :
          untouched ? "passed on" :
          writable  ? "drawn over in place" :
                      "copied: others use it, too");
  if (!can_pass || (!untouched && !writable))
    return draw_copy (composer, output, style, live, buffer);
  /* draw first: with a second reference the buffer would not be writable */
  if (!untouched)
    flow = draw_in_place (composer, gst_depth_overlay_output_view (output), style, live);
  if (flow == GST_FLOW_OK)
    *buffer = gst_buffer_ref (live);
  return flow;
}

/* Makes every pixel of @frame black and opaque; a byte of packed RGB that is no component becomes 0. */
static void
blacken (GstVideoFrame *frame)
{
  const GstVideoInfo *info = &frame->info;
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];

  gst_video_color_range_offsets (GST_VIDEO_INFO_COLORIMETRY (info).range, info->finfo, offset, scale);
  if (GST_VIDEO_INFO_IS_RGB (info))
    for (gint y = 0; y < GST_VIDEO_FRAME_HEIGHT (frame); y++)
      memset ((guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, 0) + (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0),
          0, (gsize) GST_VIDEO_FRAME_WIDTH (frame) * (gsize) GST_VIDEO_FRAME_COMP_PSTRIDE (frame, 0));
  for (guint c = GST_VIDEO_INFO_IS_RGB (info) ? 3 : 0; c < GST_VIDEO_FRAME_N_COMPONENTS (frame); c++) {
    guint8 value = c == 3 ? 255 : (guint8) offset[c];
    gint step = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, c);

    for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT (frame, c); y++) {
      guint8 *row = (guint8 *) GST_VIDEO_FRAME_COMP_DATA (frame, c) +
          (gssize) y * GST_VIDEO_FRAME_COMP_STRIDE (frame, c);

      for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH (frame, c); x++)
        row[x * step] = value;
    }
  }
}

GstFlowReturn
gst_depth_overlay_compose_alone (GstDepthOverlayComposer *composer, GstDepthOverlayOutput *output, GstBuffer *depth,
    const GstDepthOverlayStyle *style, GstBuffer **buffer)
{
  const GstStereoLiveView *view = gst_depth_overlay_output_view (output);
  GstFlowReturn flow = gst_depth_overlay_output_acquire (output, buffer);
  GstVideoFrame frame;

  if (flow != GST_FLOW_OK)
    return flow;
  if (!gst_stereo_map (&frame, &view->info, *buffer, GST_MAP_READWRITE)) {
    flow = map_error (composer, &view->info, *buffer);
    gst_clear_buffer (buffer);
    return flow;
  }
  gst_stereo_pool_clear_padding (&frame);
  blacken (&frame);
  blend (composer, view, style, &frame, &frame);
  gst_depth_overlay_text_blend (composer->text, &style->text, &frame);
  gst_video_frame_unmap (&frame);
  gst_buffer_copy_into (*buffer, depth, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
  gst_stereo_copy_metas (*buffer, depth, TRUE, FALSE);
  return GST_FLOW_OK;
}
