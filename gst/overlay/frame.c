/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A frame and its depth become an output buffer. */
#include "gst/overlay/element.h"

#include <math.h>
#include <string.h>

#include "gst/video/metas.h"
#include "gst/video/pool.h"
#include "gst/video/stream.h"

#define GST_CAT_DEFAULT gst_depth_overlay_debug

/* The depth held, mapped. */
typedef struct
{
  GstVideoFrame samples, confidence;
  gboolean have_samples, have_confidence;
  GstStereoBlendDepth depth;
} MappedDepth;

/* ---- depth ------------------------------------------------------------------------------- */

static void
say_what_is_wrong (GstDepthOverlay *self, const GstDepthOverlaySettings *settings, const GstStereoScale *scale)
{
  if (!scale->metric && !self->said_disparity) {
    self->said_disparity = TRUE;
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("Distances are not known: the disparity on sink_depth comes without focal length and baseline. Colours follow "
            "the disparity, the read-out is in px, and near, far and warn-distance are without effect. Set "
            "focal-length (px) and baseline (mm) of stereomatch."), (NULL));
  }
  if (settings->near >= settings->far && !self->said_near_far) {
    self->said_near_far = TRUE;
    GST_ELEMENT_WARNING (self, RESOURCE, SETTINGS,
        ("near=%g mm is not below far=%g mm: far is taken as %g mm. Set near below far.", settings->near,
            settings->far, settings->near + 1), (NULL));
  }
}

/* The codes of samples, made again only when what they mean changed. */
static void
ensure_scale (GstDepthOverlay *self, const GstDepthOverlaySettings *settings, const GstStereoMeta *meta)
{
  GstStereoScale scale;

  gst_stereo_scale_init (&scale, meta, settings->near, settings->far);
  say_what_is_wrong (self, settings, &scale);
  if (self->have_scale && memcmp (&scale, &self->scale, sizeof scale) == 0)
    return;
  self->scale = scale;
  self->have_scale = TRUE;
  gst_stereo_scale_codes (&scale, meta, self->codes, 65536);
}

static gboolean
refuse_depth (GstDepthOverlay *self, const gchar *what)
{
  g_atomic_int_set (&self->failed, TRUE);
  GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("%s", what), ("%dx%d", GST_VIDEO_INFO_WIDTH (&self->held.info),
          GST_VIDEO_INFO_HEIGHT (&self->held.info)));
  return FALSE;
}

static void
unmap_depth (MappedDepth *mapped)
{
  if (mapped->have_samples)
    gst_video_frame_unmap (&mapped->samples);
  if (mapped->have_confidence)
    gst_video_frame_unmap (&mapped->confidence);
  mapped->have_samples = mapped->have_confidence = FALSE;
}

static gboolean
map_confidence (MappedDepth *mapped, const GstStereoMeta *meta)
{
  GstBuffer *confidence = gst_stereo_meta_get_confidence (meta);
  GstVideoInfo info;

  if (!confidence)
    return TRUE;
  mapped->have_confidence = gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY8, meta->width, meta->height) &&
      gst_video_frame_map (&mapped->confidence, &info, confidence, GST_MAP_READ);
  if (!mapped->have_confidence)
    return FALSE;
  mapped->depth.confidence = GST_VIDEO_FRAME_PLANE_DATA (&mapped->confidence, 0);
  mapped->depth.confidence_stride = GST_VIDEO_FRAME_PLANE_STRIDE (&mapped->confidence, 0);
  return TRUE;
}

/* FALSE after an error was posted. */
static gboolean
map_depth (GstDepthOverlay *self, const GstDepthOverlaySettings *settings, MappedDepth *mapped)
{
  const GstVideoInfo *info = &self->held.info;
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (self->held.buffer);
  GstStereoBlendDepth *depth = &mapped->depth;

  if (!meta || meta->width != (guint) GST_VIDEO_INFO_WIDTH (info) ||
      meta->height != (guint) GST_VIDEO_INFO_HEIGHT (info))
    return refuse_depth (self, "What sink_depth gets has no GstStereoMeta of its size, so what its samples mean is not "
        "known: put depthoverlay right after stereomatch, without elements between them that drop metadata.");
  if (!gst_depth_overlay_check_size (self))
    return FALSE;
  mapped->have_samples = gst_video_frame_map (&mapped->samples, info, self->held.buffer, GST_MAP_READ);
  if (!mapped->have_samples)
    return refuse_depth (self, "A buffer on sink_depth does not hold the frame that its caps announce.");
  if (!map_confidence (mapped, meta)) {
    unmap_depth (mapped);
    return refuse_depth (self, "The confidence of a buffer on sink_depth does not hold a picture of its size.");
  }
  depth->samples = GST_VIDEO_FRAME_PLANE_DATA (&mapped->samples, 0);
  depth->stride = GST_VIDEO_FRAME_PLANE_STRIDE (&mapped->samples, 0);
  depth->wide = GST_VIDEO_INFO_FORMAT (info) == GST_VIDEO_FORMAT_GRAY16_LE;
  /* a millionth less: 0.2 * 255 is not to become 51.000001, and that 52 */
  depth->min_confidence = (guint) MAX (0, ceil (settings->min_confidence * 255 - 1e-6));
  depth->width = GST_VIDEO_INFO_WIDTH (info);
  depth->height = GST_VIDEO_INFO_HEIGHT (info);
  ensure_scale (self, settings, meta);
  depth->codes = self->codes;
  return TRUE;
}

/* ---- picture ----------------------------------------------------------------------------- */

static void
ensure_colors (GstDepthOverlay *self, const GstDepthOverlaySettings *settings)
{
  if (self->have_colors && self->blender_map == settings->colormap && self->blender_alpha == settings->alpha)
    return;
  gst_stereo_blender_set_colors (self->blender, &self->view_info, settings->colormap, settings->alpha);
  self->blender_map = settings->colormap;
  self->blender_alpha = settings->alpha;
  self->have_colors = TRUE;
}

/* With @depth NULL the frame as it is. */
static void
blend (GstDepthOverlay *self, const GstDepthOverlaySettings *settings, GstVideoFrame *in, GstVideoFrame *out,
    const GstStereoBlendDepth *depth)
{
  static const guint8 nothing[256] = { 0 };
  const GstStereoBlendDepth none = { .samples = nothing, .width = 1, .height = 1, .codes = nothing };
  gint width = GST_VIDEO_INFO_WIDTH (&self->view_info), height = GST_VIDEO_INFO_HEIGHT (&self->view_info);
  GstStereoBlendView from, to;

  gst_stereo_blend_view_init (&from, in, self->view_x, self->view_y, width, height);
  if (in == out)
    to = from;
  else
    gst_stereo_blend_view_init (&to, out, 0, 0, width, height);
  ensure_colors (self, settings);
  gst_stereo_blender_run (self->blender, &from, &to, depth ? depth : &none);
}

static const gchar *
notice_of (GstDepthOverlayState state, gboolean found)
{
  switch (state) {
    case GST_DEPTH_OVERLAY_UNLINKED:
      return "no depth linked";
    case GST_DEPTH_OVERLAY_WAITING:
      return "no depth yet";
    case GST_DEPTH_OVERLAY_STALE:
      return "depth is stale";
    case GST_DEPTH_OVERLAY_ENDED:
      return "depth ended";
    default:
      return found ? NULL : "no distance";
  }
}

static void
write_text (GstDepthOverlay *self, const GstDepthOverlaySettings *settings, GstVideoFrame *frame,
    GstDepthOverlayState state)
{
  GstDepthOverlayTextContent content;

  memset (&content, 0, sizeof content);
  content.width = GST_VIDEO_FRAME_WIDTH (frame);
  content.height = GST_VIDEO_FRAME_HEIGHT (frame);
  content.text = settings->text;
  content.legend = settings->legend;
  content.colormap = settings->colormap;
  content.have_scale = self->have_scale;
  content.scale = self->scale;
  content.have_value = self->nearest.valid;
  content.value = self->nearest.value;
  content.x = self->nearest.x;
  content.y = self->nearest.y;
  content.warning = gst_depth_overlay_warns (self, settings);
  content.notice = notice_of (state, self->nearest.valid);
  gst_depth_overlay_text_blend (self->text, &content, frame);
}

/* ---- buffers ----------------------------------------------------------------------------- */

/* Whether downstream understands where its rows lie. */
static gboolean
rows_are_plain (GstDepthOverlay *self, GstBuffer *live)
{
  const GstVideoMeta *meta = gst_buffer_get_video_meta (live);

  if (!meta || self->padded)
    return TRUE;
  for (guint i = 0; i < meta->n_planes; i++)
    if (meta->stride[i] != GST_VIDEO_INFO_PLANE_STRIDE (&self->live_info, i) ||
        meta->offset[i] != GST_VIDEO_INFO_PLANE_OFFSET (&self->live_info, i))
      return FALSE;
  return TRUE;
}

static GstFlowReturn
map_error (GstDepthOverlay *self, GstBuffer *buffer)
{
  GST_ELEMENT_ERROR (self, STREAM, FORMAT, ("A buffer of %" G_GSIZE_FORMAT " bytes does not hold the %dx%d %s frame "
          "that its caps announce.", gst_buffer_get_size (buffer), GST_VIDEO_INFO_WIDTH (&self->live_info),
          GST_VIDEO_INFO_HEIGHT (&self->live_info),
          gst_video_format_to_string (GST_VIDEO_INFO_FORMAT (&self->live_info))), (NULL));
  return GST_FLOW_ERROR;
}

static GstFlowReturn
draw_in_place (GstDepthOverlay *self, const GstDepthOverlaySettings *settings, GstBuffer *live,
    const GstStereoBlendDepth *depth, GstDepthOverlayState state)
{
  GstVideoFrame frame;

  if (!gst_video_frame_map (&frame, &self->live_info, live, GST_MAP_READWRITE))
    return map_error (self, live);
  if (depth && settings->alpha > 0)
    blend (self, settings, &frame, &frame, depth);
  write_text (self, settings, &frame, state);
  gst_video_frame_unmap (&frame);
  return GST_FLOW_OK;
}

/* Into a buffer of downstream's. */
static GstFlowReturn
draw (GstDepthOverlay *self, const GstDepthOverlaySettings *settings, GstBuffer *live,
    const GstStereoBlendDepth *depth, GstDepthOverlayState state, GstBuffer **output)
{
  GstVideoFrame in, out;
  GstFlowReturn flow = gst_depth_overlay_acquire (self, output);

  if (flow != GST_FLOW_OK)
    return flow;
  if (!gst_video_frame_map (&in, &self->live_info, live, GST_MAP_READ)) {
    flow = map_error (self, live);
  } else if (!gst_video_frame_map (&out, &self->view_info, *output, GST_MAP_READWRITE)) {
    gst_video_frame_unmap (&in);
    flow = map_error (self, *output);
  } else {
    gst_stereo_pool_clear_padding (&out);
    blend (self, settings, &in, &out, depth);
    write_text (self, settings, &out, state);
    gst_video_frame_unmap (&out);
    gst_video_frame_unmap (&in);
    gst_buffer_copy_into (*output, live, GST_BUFFER_COPY_FLAGS | GST_BUFFER_COPY_TIMESTAMPS, 0, (gsize) -1);
    gst_stereo_copy_metas (*output, live, !self->cropped, TRUE);
  }
  if (flow != GST_FLOW_OK)
    gst_clear_buffer (output);
  return flow;
}

/* @output is @live itself, drawn over or not, or another buffer. */
static GstFlowReturn
make_output (GstDepthOverlay *self, const GstDepthOverlaySettings *settings, GstBuffer *live,
    const GstStereoBlendDepth *depth, GstDepthOverlayState state, GstBuffer **output)
{
  gboolean reusable = !self->cropped && rows_are_plain (self, live);
  gboolean untouched = !(depth && settings->alpha > 0) && !settings->text && !settings->legend;
  GstFlowReturn flow;

  if (!reusable || (!untouched && !(gst_buffer_is_writable (live) && gst_buffer_is_all_memory_writable (live))))
    return draw (self, settings, live, depth, state, output);
  /* not before it is drawn over: with two references it could not be */
  flow = untouched ? GST_FLOW_OK : draw_in_place (self, settings, live, depth, state);
  if (flow == GST_FLOW_OK)
    *output = gst_buffer_ref (live);
  return flow;
}

GstFlowReturn
gst_depth_overlay_process (GstDepthOverlay *self, GstBuffer *live, const GstSegment *segment, gint64 time,
    GstDepthOverlayState state)
{
  const GstStereoBlendDepth *depth = NULL;
  GstDepthOverlaySettings settings;
  MappedDepth mapped = { 0 };
  GstBuffer *out = NULL;
  GstClockTime stream_time;
  GstFlowReturn flow;

  stream_time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, GST_BUFFER_PTS (live));
  if (GST_CLOCK_TIME_IS_VALID (stream_time))
    gst_object_sync_values (GST_OBJECT (self), stream_time);
  GST_OBJECT_LOCK (self);
  settings = self->settings;
  GST_OBJECT_UNLOCK (self);
  flow = gst_depth_overlay_prepare (self);
  if (flow == GST_FLOW_OK && state == GST_DEPTH_OVERLAY_CURRENT) {
    if (map_depth (self, &settings, &mapped))
      depth = &mapped.depth;
    else
      flow = GST_FLOW_NOT_NEGOTIATED;
  }
  if (depth) {
    gst_depth_overlay_find_nearest (self, &settings, depth);
  } else {
    self->nearest.valid = FALSE;
    self->nearest_serial = 0;
  }
  if (flow == GST_FLOW_OK)
    flow = make_output (self, &settings, live, depth, state, &out);
  unmap_depth (&mapped);
  if (flow == GST_FLOW_OK)
    gst_depth_overlay_post_nearest (self, &settings, segment, live, time);
  gst_buffer_unref (live);
  if (flow != GST_FLOW_OK) {
    gst_clear_buffer (&out);
    return flow;
  }
  return gst_stereo_push (GST_AGGREGATOR (self), &self->segment, &self->have_segment, segment, out);
}
