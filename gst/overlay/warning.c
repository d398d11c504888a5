/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The nearest distance, and saying it on the bus. */
#include "gst/overlay/element.h"

#include <math.h>
#include <string.h>

#define GST_CAT_DEFAULT gst_depth_overlay_debug

/* From fractions to pixels, at least one. */
static void
region_side (gdouble from, gdouble length, gint size, gint *start, gint *count)
{
  *start = MIN ((gint) (from * size), size - 1);
  *count = MAX (1, MIN ((gint) ceil ((from + length) * size), size) - *start);
}

static void
locate (GstDepthOverlay *self, const GstStereoBlendDepth *depth)
{
  GstDepthOverlayNearest *nearest = &self->nearest;
  gint64 width = GST_VIDEO_INFO_WIDTH (&self->view_info), height = GST_VIDEO_INFO_HEIGHT (&self->view_info);
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (self->held.buffer);

  nearest->x = (gint) ((2 * (gint64) nearest->found.x + 1) * width / (2 * (gint64) depth->width));
  nearest->y = (gint) ((2 * (gint64) nearest->found.y + 1) * height / (2 * (gint64) depth->height));
  nearest->disparity = gst_stereo_meta_get_disparity (meta, nearest->found.sample);
  nearest->value = self->scale.metric ? gst_stereo_meta_get_depth (meta, nearest->found.sample) : nearest->disparity;
}

void
gst_depth_overlay_find_nearest (GstDepthOverlay *self, const GstDepthOverlaySettings *settings,
    const GstStereoBlendDepth *depth)
{
  GstStereoNearestView view = {
    .samples = depth->samples,
    .stride = depth->stride,
    .wide = depth->wide,
    .confidence = depth->confidence,
    .confidence_stride = depth->confidence_stride,
    .min_confidence = depth->min_confidence,
    .larger_is_nearer = self->scale.kind != GST_STEREO_OUTPUT_KIND_DEPTH
  };

  /* one depth may be shown over several frames */
  if (self->nearest_serial != self->held.serial ||
      memcmp (&self->nearest_settings, settings, sizeof *settings) != 0) {
    region_side (settings->region[0], settings->region[2], depth->width, &view.x, &view.width);
    region_side (settings->region[1], settings->region[3], depth->height, &view.y, &view.height);
    self->nearest.valid = gst_stereo_nearest_find (self->finder, &view, settings->percentile, &self->nearest.found);
    self->nearest_serial = self->held.serial;
    self->nearest_settings = *settings;
  }
  if (self->nearest.valid)
    locate (self, depth);
}

gboolean
gst_depth_overlay_warns (GstDepthOverlay *self, const GstDepthOverlaySettings *settings)
{
  return self->nearest.valid && self->scale.metric && self->nearest.value < settings->warn_distance;
}

/* ---- message ----------------------------------------------------------------------------- */

static gboolean
is_due (GstDepthOverlay *self, const GstDepthOverlaySettings *settings, gint64 time, gboolean warning)
{
  if (!self->posted || self->posted_valid != self->nearest.valid || self->posted_warning != warning)
    return TRUE;
  if (time == GST_DEPTH_OVERLAY_TIME_NONE || self->posted_time == GST_DEPTH_OVERLAY_TIME_NONE ||
      time < self->posted_time)
    return TRUE;
  return (guint64) (time - self->posted_time) >= settings->message_interval;
}

void
gst_depth_overlay_post_nearest (GstDepthOverlay *self, const GstDepthOverlaySettings *settings,
    const GstSegment *segment, GstBuffer *live, gint64 time)
{
  const GstDepthOverlayNearest *nearest = &self->nearest;
  gboolean warning = gst_depth_overlay_warns (self, settings);
  GstClockTime pts = GST_BUFFER_PTS (live);
  GstStructure *said;

  if (!is_due (self, settings, time, warning))
    return;
  said = gst_structure_new ("stereo-nearest", "valid", G_TYPE_BOOLEAN, nearest->valid, NULL);
  if (nearest->valid && self->scale.metric)
    gst_structure_set (said, "distance", G_TYPE_DOUBLE, nearest->value, NULL);
  if (nearest->valid && !isnan (nearest->disparity))
    gst_structure_set (said, "disparity", G_TYPE_DOUBLE, nearest->disparity, NULL);
  if (nearest->valid)
    gst_structure_set (said, "x", G_TYPE_INT, nearest->x, "y", G_TYPE_INT, nearest->y, "confidence", G_TYPE_DOUBLE,
        nearest->found.confidence, NULL);
  gst_structure_set (said, "warning", G_TYPE_BOOLEAN, warning,
      "timestamp", G_TYPE_UINT64, pts,
      "stream-time", G_TYPE_UINT64, gst_segment_to_stream_time (segment, GST_FORMAT_TIME, pts),
      "running-time", G_TYPE_UINT64, gst_segment_to_running_time (segment, GST_FORMAT_TIME, pts),
      "duration", G_TYPE_UINT64, GST_BUFFER_DURATION (live), NULL);
  gst_element_post_message (GST_ELEMENT (self), gst_message_new_element (GST_OBJECT (self), said));
  self->posted = TRUE;
  self->posted_valid = nearest->valid;
  self->posted_warning = warning;
  self->posted_time = time;
}
