/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/decorate.h"

#include "gst/meta/gststereometa.h"

/* In a format whose samples are filled by the search range, 1 is its begin and 255 its end. */
#define RANGE_STEPS 254.0

void
gst_stereo_match_decorate (const GstStereoMatchPair *pair, const GstStereoOutputFormat *format,
    const StereoParams *params, const StereoStats *stats)
{
  GstStereoMeta *meta = gst_buffer_add_stereo_meta (
      pair->out, (guint) pair->width, (guint) pair->height, pair->confidence);

  /* readers of a buffer do not see its caps, and expect GRAY16_LE */
  if (format->format == GST_VIDEO_FORMAT_GRAY16_BE && !gst_buffer_get_video_meta (pair->out))
    gst_buffer_add_video_meta (
        pair->out, GST_VIDEO_FRAME_FLAG_NONE, format->format, (guint) pair->width, (guint) pair->height);
  meta->kind = GST_STEREO_OUTPUT_KIND_DISPARITY;
  meta->disparity_scale = params->disparity_scale;
  if (params->output == STEREO_OUTPUT_DEPTH) {
    meta->kind = GST_STEREO_OUTPUT_KIND_DEPTH;
  } else if (format->is_range) {
    meta->kind = GST_STEREO_OUTPUT_KIND_DISPARITY_RANGE;
    meta->disparity_scale = RANGE_STEPS / MAX (1, params->num_disparities - 1);
  }
  meta->min_disparity = params->min_disparity;
  meta->num_disparities = params->num_disparities;
  meta->focal_length = pair->geometry.focal_length;
  meta->focal_length_y = pair->geometry.focal_length * pair->geometry.focal_ratio;
  meta->baseline = pair->geometry.baseline;
  meta->principal_offset = pair->geometry.principal_offset;
  meta->principal_x = pair->geometry.principal_x;
  meta->principal_y = pair->geometry.principal_y;
  meta->depth_unit = params->depth_unit;
  meta->pair_skew = pair->skew;
  meta->valid_ratio = stats->valid_ratio;
  meta->mean_confidence = stats->mean_confidence;
  meta->health = pair->health;
  gst_stereo_meta_set_truth (meta, pair->truth);
  gst_stereo_meta_set_mask (meta, pair->mask ? pair->mask->buffer : NULL);
}
