/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Which frames belong together. A live frame goes with the latest depth whose running time is not later than its own. Where one of
 * the two has no timestamp, the order of arrival decides. The live frame waits for the next depth, which may still be early enough;
 * it does not wait where the depth that is there lasts longer than live frames do, because no other begins before its end.
 */
#include "gst/overlay/overlay.h"

#include "gst/video/frame.h"
#include "gst/video/stream.h"

#define GST_CAT_DEFAULT gst_depth_overlay_debug

/* ---- the part of a live frame that is shown ----------------------------------------------- */

/* Whether one is the other scaled, within a pixel of the smaller one. */
static gboolean
same_shape (gint width, gint height, gint other_width, gint other_height)
{
  gint64 difference = (gint64) width * other_height - (gint64) other_width * height;

  return ABS (difference) <= MAX (MAX (width, height), MAX (other_width, other_height));
}

gboolean
gst_depth_overlay_view_fits (const GstDepthOverlayView *view, gint width, gint height)
{
  return same_shape (GST_VIDEO_INFO_WIDTH (&view->info), GST_VIDEO_INFO_HEIGHT (&view->info), width, height);
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
  *view = (GstDepthOverlayView){ .live = *live, .info = *live, .cropped = packed };
  if (!packed)
    return TRUE;
  if (layout.right_first && layout.packing == GST_STEREO_PACKING_SIDE_BY_SIDE)
    view->x = layout.width;
  else if (layout.right_first)
    view->y = layout.height;
  gst_video_info_set_format (&view->info, GST_VIDEO_INFO_FORMAT (live), (guint) layout.width, (guint) layout.height);
  view->info.colorimetry = live->colorimetry;
  view->info.chroma_site = live->chroma_site;
  view->info.interlace_mode = live->interlace_mode;
  view->info.fps_n = live->fps_n;
  view->info.fps_d = live->fps_d;
  view->info.par_n = layout.par_n;
  view->info.par_d = layout.par_d;
  GST_VIDEO_INFO_MULTIVIEW_MODE (&view->info) = GST_VIDEO_MULTIVIEW_MODE_MONO;
  return TRUE;
}

/* ---- pads -------------------------------------------------------------------------------- */

static GstAggregatorPad *
new_pad (GstPadTemplate *template)
{
  return g_object_new (GST_TYPE_AGGREGATOR_PAD, "name", GST_PAD_TEMPLATE_NAME_TEMPLATE (template), "direction",
      GST_PAD_SINK, "template", template, NULL);
}

void
gst_depth_overlay_frames_init (GstDepthOverlayFrames *frames, GstAggregator *owner)
{
  frames->owner = owner;
  frames->live = new_pad (gst_element_class_get_pad_template (GST_ELEMENT_GET_CLASS (owner), "sink"));
  gst_element_add_pad (GST_ELEMENT (owner), GST_PAD (frames->live));
  g_mutex_init (&frames->lock);
  gst_depth_overlay_frames_reset (frames);
}

GstAggregatorPad *
gst_depth_overlay_frames_create_pad (GstDepthOverlayFrames *frames, GstPadTemplate *template)
{
  GstAggregatorPad *pad = NULL;

  if (GST_PAD_TEMPLATE_PRESENCE (template) != GST_PAD_REQUEST)
    return NULL;
  g_mutex_lock (&frames->lock);
  if (!frames->pad)
    pad = frames->pad = new_pad (template);
  g_mutex_unlock (&frames->lock);
  if (!pad)
    GST_WARNING_OBJECT (frames->owner, "sink_depth is there already");
  return pad;
}

void
gst_depth_overlay_frames_release_pad (GstDepthOverlayFrames *frames, GstPad *pad)
{
  /* after this the base class drops the pad's queue without taking the pad's lock: the task must not be in there */
  g_mutex_lock (&frames->lock);
  if (GST_PAD (frames->pad) == pad)
    frames->pad = NULL;
  g_mutex_unlock (&frames->lock);
  g_atomic_int_set (&frames->stale, TRUE);
}

/* The reference keeps a pad that is released meanwhile. */
static GstAggregatorPad *
ref_depth_pad (GstDepthOverlayFrames *frames)
{
  g_mutex_lock (&frames->lock);
  GstAggregatorPad *pad = frames->pad ? gst_object_ref (frames->pad) : NULL;
  g_mutex_unlock (&frames->lock);
  return pad;
}

gboolean
gst_depth_overlay_frames_has_depth (GstDepthOverlayFrames *frames, gboolean *ended)
{
  g_autoptr (GstAggregatorPad) pad = ref_depth_pad (frames);

  if (ended)
    *ended = pad && gst_aggregator_pad_is_eos (pad);
  return pad != NULL;
}

gboolean
gst_depth_overlay_frames_take_caps (GstDepthOverlayFrames *frames, GstAggregatorPad *pad, GstEvent *event)
{
  GstVideoInfo *info = pad == frames->live ? &frames->live_info : &frames->depth_info;
  GstCaps *caps;

  gst_event_parse_caps (event, &caps);
  GST_DEBUG_OBJECT (pad, "gets %" GST_PTR_FORMAT, caps);
  gboolean usable = gst_video_info_from_caps (info, caps);
  if (!usable)
    GST_ELEMENT_ERROR (frames->owner, CORE, NEGOTIATION, ("%s cannot take these caps.", GST_PAD_NAME (pad)),
        ("%" GST_PTR_FORMAT, caps));
  gst_event_unref (event);
  return usable;
}

GstClockTime
gst_depth_overlay_frames_duration (const GstDepthOverlayFrames *frames)
{
  const GstVideoInfo *info = &frames->live_info;

  return GST_VIDEO_INFO_FPS_N (info) <= 0 ?
      0 :
      gst_util_uint64_scale (GST_SECOND, (guint64) GST_VIDEO_INFO_FPS_D (info), (guint64) GST_VIDEO_INFO_FPS_N (info));
}

void
gst_depth_overlay_frames_forget (GstDepthOverlayFrames *frames)
{
  gst_clear_buffer (&frames->depth.buffer);
  frames->depth.time = frames->gap_end = GST_CLOCK_STIME_NONE;
  frames->queued = FALSE;
}

void
gst_depth_overlay_frames_reset (GstDepthOverlayFrames *frames)
{
  gst_depth_overlay_frames_forget (frames);
  g_atomic_int_set (&frames->stale, FALSE);
  gst_video_info_init (&frames->live_info);
  gst_video_info_init (&frames->depth_info);
}

/* ---- the depth of a live frame ----------------------------------------------------------- */

static gboolean
is_gap (GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size (buffer) == 0;
}

static void
hold (GstDepthOverlayFrames *frames, GstBuffer *buffer, gint64 time)
{
  gst_buffer_replace (&frames->depth.buffer, buffer);
  frames->depth.info = frames->depth_info;
  frames->depth.time = time;
  frames->depth.arrival = gst_element_get_current_running_time (GST_ELEMENT (frames->owner));
  frames->depth.fresh = TRUE;
}

/* The head of the queue of @pad, or NULL; @pop takes it away. NULL, too, once the pad was released. */
static GstBuffer *
depth_head (GstDepthOverlayFrames *frames, GstAggregatorPad *pad, gboolean pop)
{
  GstBuffer *buffer = NULL;

  g_mutex_lock (&frames->lock);
  if (frames->pad == pad)
    buffer = pop ? gst_aggregator_pad_pop_buffer (pad) : gst_aggregator_pad_peek_buffer (pad);
  g_mutex_unlock (&frames->lock);
  return buffer;
}

static GstFlowReturn
refuse (GstDepthOverlayFrames *frames, GstAggregatorPad *pad)
{
  GST_ELEMENT_ERROR (frames->owner, CORE, NEGOTIATION, ("%s got a frame before any caps.", GST_PAD_NAME (pad)), (NULL));
  return GST_FLOW_NOT_NEGOTIATED;
}

/* Whether what comes behind @buffer, whose running time is @start, is later than a live frame of @time: @buffer lasts longer than
 * live frames do, as behind a videorate. Timestamps may be off by half a live frame. */
static gboolean
is_next_later (GstDepthOverlayFrames *frames, GstAggregatorPad *pad, GstBuffer *buffer, gint64 start, gint64 time)
{
  gint64 frame = (gint64) gst_depth_overlay_frames_duration (frames);

  if (frame == 0 || start == GST_CLOCK_STIME_NONE || time == GST_CLOCK_STIME_NONE || is_gap (buffer) ||
      !GST_BUFFER_DURATION_IS_VALID (buffer))
    return FALSE;
  GST_OBJECT_LOCK (pad);
  gboolean plain = pad->segment.rate == 1.0;
  GST_OBJECT_UNLOCK (pad);
  gint64 duration = (gint64) MIN (GST_BUFFER_DURATION (buffer), G_MAXINT64 / 4);
  return plain && duration > frame + frame / 2 && time + frame / 2 < start + duration;
}

/* Takes depth from @pad as long as it is not later than @time. GST_FLOW_OK: what is held goes with @time. */
static GstFlowReturn
find_depth (GstDepthOverlayFrames *frames, GstAggregatorPad *pad, gint64 time, gboolean timeout)
{
  gboolean untimed = time == GST_CLOCK_STIME_NONE;

  for (;;) {
    if (frames->depth.buffer && !untimed && frames->depth.time == time)
      return GST_FLOW_OK;
    g_autoptr (GstBuffer) buffer = depth_head (frames, pad, FALSE);
    if (!buffer) {
      if (timeout || gst_aggregator_pad_is_eos (pad) || (!untimed && time < frames->gap_end))
        return GST_FLOW_OK;
      GST_LOG_OBJECT (
          frames->owner, "frame of %" GST_STIME_FORMAT " waits: its depth may still come", GST_STIME_ARGS (time));
      return GST_AGGREGATOR_FLOW_NEED_DATA;
    }
    gboolean gap = is_gap (buffer), known = frames->queued;
    gint64 start = gst_stereo_pad_running_time (pad, buffer);
    if (!untimed && start != GST_CLOCK_STIME_NONE && start > time)
      return GST_FLOW_OK;
    /* the base class waits for a pad whose queue is empty */
    frames->queued = is_next_later (frames, pad, buffer, start, time);
    if (!frames->queued) {
      g_autoptr (GstBuffer) taken = depth_head (frames, pad, TRUE);
    }
    if (!gap && !GST_VIDEO_INFO_WIDTH (&frames->depth_info))
      return refuse (frames, pad);
    /* a frame whose duration is not known was dropped: there is none at its time */
    if (gap && start != GST_CLOCK_STIME_NONE)
      frames->gap_end = start +
          (gint64) (GST_BUFFER_DURATION_IS_VALID (buffer) ? MIN (GST_BUFFER_DURATION (buffer), G_MAXINT64 / 4) : 1);
    else if (!gap && !known)
      hold (frames, buffer, start == GST_CLOCK_STIME_NONE ? time : start);
    if (frames->queued || (!gap && (untimed || start == GST_CLOCK_STIME_NONE)))
      return GST_FLOW_OK;
  }
}

GstFlowReturn
gst_depth_overlay_frames_next (
    GstDepthOverlayFrames *frames, gboolean alone, gboolean timeout, GstDepthOverlayFrame *frame)
{
  GstFlowReturn flow = GST_FLOW_OK;

  if (g_atomic_int_compare_and_exchange (&frames->stale, TRUE, FALSE))
    gst_depth_overlay_frames_forget (frames);
  g_autoptr (GstAggregatorPad) depth = ref_depth_pad (frames);
  GstAggregatorPad *pad = alone ? depth : frames->live;
  frame->buffer = !alone ? gst_aggregator_pad_peek_buffer (pad) : pad ? depth_head (frames, pad, TRUE) : NULL;
  if (!frame->buffer)
    return !pad || gst_aggregator_pad_is_eos (pad) ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
  frame->gap = is_gap (frame->buffer);
  frame->time = gst_stereo_pad_running_time (pad, frame->buffer);
  GST_OBJECT_LOCK (pad);
  frame->segment = pad->segment;
  GST_OBJECT_UNLOCK (pad);
  /* depth that a gap would leave in the queue would hold up what is behind it */
  if (depth && !alone)
    flow = find_depth (frames, depth, frame->time, timeout || frame->gap);
  if (flow == GST_FLOW_OK && !alone)
    gst_aggregator_pad_drop_buffer (pad);
  if (flow == GST_FLOW_OK && !frame->gap && !GST_VIDEO_INFO_WIDTH (alone ? &frames->depth_info : &frames->live_info))
    flow = refuse (frames, pad);
  if (flow == GST_FLOW_OK && !frame->gap && alone)
    hold (frames, frame->buffer, frame->time);
  if (flow != GST_FLOW_OK)
    gst_clear_buffer (&frame->buffer);
  return flow;
}
