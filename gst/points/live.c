/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/points/live.h"

#include "gst/video/frame.h"
#include "gst/video/view.h"

struct _GstStereoPointsLive
{
  GstElement *owner;
  GstVideoFrame frame;
  gboolean mapped, warned_missing;
};

GstStereoPointsLive *
gst_stereo_points_live_new (GstElement *owner)
{
  GstStereoPointsLive *live = g_new0 (GstStereoPointsLive, 1);

  live->owner = owner;
  return live;
}

void
gst_stereo_points_live_free (GstStereoPointsLive *live)
{
  g_free (live);
}

void
gst_stereo_points_live_reset (GstStereoPointsLive *live)
{
  live->warned_missing = FALSE;
}

void
gst_stereo_points_live_warn_missing (GstStereoPointsLive *live)
{
  if (!live->warned_missing)
    GST_ELEMENT_WARNING (live->owner, STREAM, FORMAT,
        ("No frame came on sink_live for a picture on sink: its points have no colour. Put a queue before both pads, "
         "and let both streams begin at the same time."),
        (NULL));
  live->warned_missing = TRUE;
}

/* FALSE after an error was posted. */
static gboolean
choose_view (GstStereoPointsLive *live, const GstVideoInfo *info, guint width, guint height, GstStereoLiveView *view)
{
  gchar *message = NULL;

  if (!gst_stereo_live_view_choose (view, info, (gint) width, (gint) height, TRUE, &message)) {
    GST_ELEMENT_ERROR (live->owner, CORE, NEGOTIATION, ("%s", message), (NULL));
    g_free (message);
    return FALSE;
  }
  if (gst_stereo_live_view_fits (view, (gint) width, (gint) height))
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
gst_stereo_points_live_map (
    GstStereoPointsLive *live, const GstStereoJoined *held, guint width, guint height, GstStereoPointsColor *color)
{
  const GstVideoFrame *frame = &live->frame;
  GstStereoLiveView view;
  const guint8 *component[3];

  *color = (GstStereoPointsColor){ 0 };
  if (!held->buffer)
    return TRUE;
  if (!choose_view (live, &held->info, width, height, &view))
    return FALSE;
  live->mapped = gst_stereo_frame_map (&live->frame, &held->info, held->buffer, NULL);
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
