/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/gst/live_frame.h"

#include <math.h>

#include "gst/meta/gststereometa.h"
#include "gst/testsrc/scene.h"

/* What pattern=road shows. */
static void
read_road (GstStereoRoadParams *road, GstElement *source)
{
  g_object_get (source, "camera-height", &road->camera_height, "camera-pitch", &road->camera_pitch, "camera-roll",
      &road->camera_roll, "obstacle-height", &road->obstacle_height, "obstacle-width", &road->obstacle_width,
      "obstacle-distance", &road->obstacle_distance, "obstacle-lateral", &road->obstacle_lateral, "obstacle-approach",
      &road->obstacle_approach, "ramp-slope", &road->ramp_slope, "ramp-distance", &road->ramp_distance, "kerb-height",
      &road->kerb_height, "kerb-distance", &road->kerb_distance, "thin-count", &road->thin_count, "thin-width",
      &road->thin_width, "thin-contrast", &road->thin_contrast, NULL);
}

static gboolean
draw_truth (LiveFrame *frame, GstElement *source)
{
  GstStereoSceneParams params = { 0 };
  gchar *message = NULL;
  gint pattern;

  g_object_get (source, "pattern", &pattern, "seed", &params.seed, "max-disparity", &params.max_disparity, "motion",
      &params.motion, NULL);
  read_road (&params.road, source);
  params.pattern = (GstStereoPattern) pattern;
  params.width = frame->width;
  params.height = frame->height;
  GstStereoScene *scene = gst_stereo_scene_new (&params, &message);
  if (!scene) {
    g_printerr ("%s\n", message);
    g_free (message);
    return FALSE;
  }
  gst_stereo_scene_set_frame (scene, frame->number);
  for (gint y = 0; y < frame->height; y++)
    gst_stereo_scene_truth (scene, y, frame->truth + (gsize) y * (gsize) frame->width);
  gst_stereo_scene_free (scene);
  truth_visible (frame->truth, frame->width, frame->height, frame->visible);
  return TRUE;
}

static gboolean
read_disparity (LiveFrame *frame, GstBuffer *buffer, const GstVideoInfo *info, const GstStereoMeta *meta)
{
  GstVideoFrame mapped;

  if (!gst_video_frame_map (&mapped, info, buffer, GST_MAP_READ))
    return FALSE;
  for (gint y = 0; y < frame->height; y++) {
    const guint8 *row = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&mapped, 0) +
        (gsize) y * (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (&mapped, 0);
    for (gint x = 0; x < frame->width; x++)
      frame->disparity[y * frame->width + x] = (gfloat) gst_stereo_meta_get_disparity (
          meta, GST_READ_UINT16_LE (row + 2 * x));
  }
  gst_video_frame_unmap (&mapped);
  return TRUE;
}

gboolean
live_frame_read (LiveFrame *frame, GstSample *sample, GstElement *source)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  GstStereoMeta *meta = gst_buffer_get_stereo_meta (buffer);
  GstVideoInfo info;
  gint64 offset;

  memset (frame, 0, sizeof *frame);
  if (!meta || meta->kind != GST_STEREO_OUTPUT_KIND_DISPARITY || !GST_BUFFER_PTS_IS_VALID (buffer) ||
      !gst_video_info_from_caps (&info, gst_sample_get_caps (sample)) || GST_VIDEO_INFO_FPS_N (&info) < 1)
    return FALSE;
  g_object_get (source, "timestamp-offset", &offset, NULL);
  /* the last frame that has begun by then */
  frame->number = gst_util_uint64_scale_ceil (GST_BUFFER_PTS (buffer) - (GstClockTime) offset + 1,
                      (guint64) GST_VIDEO_INFO_FPS_N (&info), GST_SECOND * (guint64) GST_VIDEO_INFO_FPS_D (&info)) -
      1;
  frame->width = GST_VIDEO_INFO_WIDTH (&info);
  frame->height = GST_VIDEO_INFO_HEIGHT (&info);
  frame->valid_ratio = meta->valid_ratio;
  frame->mean_confidence = meta->mean_confidence;
  frame->confidence = gst_stereo_meta_get_confidence_bytes (meta);
  gsize pixels = (gsize) frame->width * (gsize) frame->height;
  frame->truth = g_new (guint16, pixels);
  frame->visible = g_malloc (pixels);
  frame->disparity = g_new (gfloat, pixels);
  if (draw_truth (frame, source) && read_disparity (frame, buffer, &info, meta))
    return TRUE;
  live_frame_clear (frame);
  return FALSE;
}

void
live_frame_clear (LiveFrame *frame)
{
  g_free (frame->truth);
  g_free (frame->visible);
  g_free (frame->disparity);
  g_clear_pointer (&frame->confidence, g_bytes_unref);
  memset (frame, 0, sizeof *frame);
}
