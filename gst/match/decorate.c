/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/decorate.h"

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
  gst_stereo_match_pair_set_units (pair, format, params, meta);
  meta->pair_skew = pair->skew;
  meta->valid_ratio = stats->valid_ratio;
  meta->mean_confidence = stats->mean_confidence;
  meta->health = pair->health;
  gst_stereo_meta_set_truth (meta, pair->truth);
  gst_stereo_meta_set_mask (meta, pair->mask ? pair->mask->buffer : NULL);
}
