/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/points/live.h"

#include "gst/overlay/view.h"
#include "gst/video/frame.h"

struct _GstStereoPointsLive
{
  GstElement *owner;

  GMutex lock;           /* around the pad and its queue: a pad that is released drops its queue */
  GstAggregatorPad *pad; /* request pad, not owned; NULL: none */

  GstVideoInfo info;
  gboolean have_info;
  GstBuffer *held; /* the latest frame that is not later than the pictures so far */
  GstVideoInfo held_info;
  gint64 held_time;
  GstVideoFrame frame;
  gboolean mapped, said_missing;
};

GstStereoPointsLive *
gst_stereo_points_live_new (GstElement *owner)
{
  GstStereoPointsLive *live = g_new0 (GstStereoPointsLive, 1);

  live->owner = owner;
  g_mutex_init (&live->lock);
  return live;
}

void
gst_stereo_points_live_free (GstStereoPointsLive *live)
{
  gst_stereo_points_live_reset (live);
  g_mutex_clear (&live->lock);
  g_free (live);
}

/* ---- pad and caps ------------------------------------------------------------------------ */

gboolean
gst_stereo_points_live_add_pad (GstStereoPointsLive *live, GstAggregatorPad *pad)
{
  gboolean added;

  g_mutex_lock (&live->lock);
  added = live->pad == NULL;
  if (added)
    live->pad = pad;
  g_mutex_unlock (&live->lock);
  return added;
}

void
gst_stereo_points_live_remove_pad (GstStereoPointsLive *live, GstAggregatorPad *pad)
{
  g_mutex_lock (&live->lock);
  if (live->pad == pad)
    live->pad = NULL;
  g_mutex_unlock (&live->lock);
}

gboolean
gst_stereo_points_live_set_caps (GstStereoPointsLive *live, GstCaps *caps)
{
  GstVideoInfo info;

  if (!gst_video_info_from_caps (&info, caps)) {
    GST_ELEMENT_ERROR (
        live->owner, CORE, NEGOTIATION, ("sink_live cannot take these caps."), ("%" GST_PTR_FORMAT, caps));
    return FALSE;
  }
  live->info = info;
  live->have_info = TRUE;
  return TRUE;
}

void
gst_stereo_points_live_flush (GstStereoPointsLive *live)
{
  gst_stereo_points_live_unmap (live);
  gst_clear_buffer (&live->held);
}

void
gst_stereo_points_live_reset (GstStereoPointsLive *live)
{
  gst_stereo_points_live_flush (live);
  live->have_info = live->said_missing = FALSE;
}

/* ---- which frame ------------------------------------------------------------------------- */

gint64
gst_stereo_points_running_time (GstAggregatorPad *pad, GstBuffer *buffer)
{
  guint64 time = 0;
  gint sign = 0;

  if (!GST_BUFFER_PTS_IS_VALID (buffer))
    return GST_STEREO_POINTS_NO_TIME;
  GST_OBJECT_LOCK (pad);
  if (pad->segment.format == GST_FORMAT_TIME)
    sign = gst_segment_to_running_time_full (&pad->segment, GST_FORMAT_TIME, GST_BUFFER_PTS (buffer), &time);
  GST_OBJECT_UNLOCK (pad);
  return sign == 0 || time > G_MAXINT64 / 4 ? GST_STEREO_POINTS_NO_TIME : sign * (gint64) time;
}

static GstBuffer *
head (GstStereoPointsLive *live, GstAggregatorPad *pad, gboolean pop)
{
  GstBuffer *buffer = NULL;

  g_mutex_lock (&live->lock);
  if (live->pad == pad)
    buffer = pop ? gst_aggregator_pad_pop_buffer (pad) : gst_aggregator_pad_peek_buffer (pad);
  g_mutex_unlock (&live->lock);
  return buffer;
}

/* Takes the frame at the head of the queue; gaps are dropped. FALSE after an error was posted. */
static gboolean
take (GstStereoPointsLive *live, GstAggregatorPad *pad, gint64 time)
{
  GstBuffer *buffer = head (live, pad, TRUE);

  if (buffer && gst_buffer_get_size (buffer) > 0) {
    if (!live->have_info) {
      GST_ELEMENT_ERROR (live->owner, CORE, NEGOTIATION, ("sink_live got a frame before any caps."), (NULL));
      gst_buffer_unref (buffer);
      return FALSE;
    }
    gst_buffer_replace (&live->held, buffer);
    live->held_info = live->info;
    live->held_time = time;
  }
  gst_clear_buffer (&buffer);
  return TRUE;
}

/* A picture or a frame without a timestamp goes with what comes next: order of arrival. */
static GstStereoPointsLook
look_in (GstStereoPointsLive *live, GstAggregatorPad *pad, gint64 time, gboolean timeout)
{
  gboolean untimed = time == GST_STEREO_POINTS_NO_TIME;

  for (;;) {
    GstBuffer *buffer;
    gint64 frame_time;

    if (live->held && !untimed && live->held_time == time)
      return GST_STEREO_POINTS_LIVE_FOUND;
    buffer = head (live, pad, FALSE);
    if (!buffer)
      return timeout || gst_aggregator_pad_is_eos (pad) ? GST_STEREO_POINTS_LIVE_FOUND : GST_STEREO_POINTS_LIVE_WAIT;
    frame_time = gst_stereo_points_running_time (pad, buffer);
    gst_buffer_unref (buffer);
    if (!untimed && frame_time != GST_STEREO_POINTS_NO_TIME && frame_time > time)
      return GST_STEREO_POINTS_LIVE_FOUND;
    if (!take (live, pad, frame_time))
      return GST_STEREO_POINTS_LIVE_FAILED;
    if (untimed || frame_time == GST_STEREO_POINTS_NO_TIME)
      return GST_STEREO_POINTS_LIVE_FOUND;
  }
}

GstStereoPointsLook
gst_stereo_points_live_find (GstStereoPointsLive *live, gint64 time, gboolean timeout)
{
  GstStereoPointsLook look = GST_STEREO_POINTS_LIVE_FOUND;
  GstAggregatorPad *pad;

  /* the reference keeps a pad that is released meanwhile */
  g_mutex_lock (&live->lock);
  pad = live->pad ? gst_object_ref (live->pad) : NULL;
  g_mutex_unlock (&live->lock);
  if (pad)
    look = look_in (live, pad, time, timeout);
  else
    gst_stereo_points_live_flush (live);
  if (pad && look == GST_STEREO_POINTS_LIVE_FOUND && !live->held && !live->said_missing) {
    live->said_missing = TRUE;
    GST_ELEMENT_WARNING (live->owner, STREAM, FORMAT,
        ("No frame came on sink_live for a picture on sink: its points have no colour. Put a queue before both pads, "
         "and let both streams begin at the same time."),
        (NULL));
  }
  gst_clear_object (&pad);
  return look;
}

/* ---- colour ------------------------------------------------------------------------------ */

/* FALSE after an error was posted. */
static gboolean
choose_view (GstStereoPointsLive *live, guint width, guint height, GstDepthOverlayView *view)
{
  gchar *message = NULL;

  if (!gst_depth_overlay_view_choose (view, &live->held_info, (gint) width, (gint) height, TRUE, &message)) {
    GST_ELEMENT_ERROR (live->owner, CORE, NEGOTIATION, ("%s", message), (NULL));
    g_free (message);
    return FALSE;
  }
  if (gst_depth_overlay_view_fits (view, (gint) width, (gint) height))
    return TRUE;
  GST_ELEMENT_ERROR (live->owner, CORE, NEGOTIATION,
      ("The live view on sink_live is %dx%d and the depth on sink %ux%u: their aspect ratios differ, so points would "
       "get the colour of others. Give sink_live the left view that stereomatch got, scaled if "
       "need be but not cropped.",
          GST_VIDEO_INFO_WIDTH (&view->info), GST_VIDEO_INFO_HEIGHT (&view->info), width, height),
      (NULL));
  return FALSE;
}

gboolean
gst_stereo_points_live_map (GstStereoPointsLive *live, guint width, guint height, GstStereoPointsColor *color)
{
  const GstVideoFrame *frame = &live->frame;
  GstDepthOverlayView view;
  const guint8 *component[3];

  *color = (GstStereoPointsColor){ 0 };
  if (!live->held)
    return TRUE;
  if (!choose_view (live, width, height, &view))
    return FALSE;
  live->mapped = gst_stereo_frame_map (&live->frame, &live->held_info, live->held, NULL);
  if (!live->mapped) {
    GST_ELEMENT_ERROR (live->owner, RESOURCE, READ,
        ("A frame on sink_live could not be read: it is smaller than its caps say. Look at what made the buffer."),
        (NULL));
    return FALSE;
  }
  color->stride = GST_VIDEO_FRAME_COMP_STRIDE (frame, 0);
  color->pixel_stride = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, 0);
  /* gray is red, green and blue at once */
  for (guint c = 0; c < 3; c++)
    component[c] = (const guint8 *) GST_VIDEO_FRAME_COMP_DATA (frame, c < GST_VIDEO_FRAME_N_COMPONENTS (frame) ? c : 0) +
        (gssize) view.y * color->stride + (gssize) view.x * color->pixel_stride;
  color->red = component[0];
  color->green = component[1];
  color->blue = component[2];
  color->width = (guint) GST_VIDEO_INFO_WIDTH (&view.info);
  color->height = (guint) GST_VIDEO_INFO_HEIGHT (&view.info);
  return TRUE;
}

void
gst_stereo_points_live_unmap (GstStereoPointsLive *live)
{
  if (live->mapped)
    gst_video_frame_unmap (&live->frame);
  live->mapped = FALSE;
}
