/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Now and then, a look at whether the input can be what it is said to be; what is found goes into `stats`, and into a
 * warning once. What is looked at, and what cannot be seen that way, stands in gststereocheck.h.
 *
 * Frames in device memory are looked at too: the one pair in seconds that it takes is copied for it.
 */
#include "gst/match/element.h"

#define GST_CAT_DEFAULT gst_stereo_match_debug

/* Where a pair told nothing (too dark, too flat), the next one is looked at sooner. */
#define SOON ((gint64) GST_SECOND)

static void
warn_exchanged (GstStereoMatch *self, const GstStereoCheckResult *result, const GstStereoLayout *layout)
{
  const gchar *remedy = layout->packing == GST_STEREO_PACKING_AUTO ?
                            "exchange what is linked to sink_left and sink_right" :
                            "turn right-view-first in the caps' multiview-flags round";

  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
      ("Left and right look exchanged: %u of %u points match at disparities below "
       "those searched (median of all: %.1f px). If they are, %s; if they are not, set min-disparity to about %d.",
          result->backward, result->forward + result->backward, result->disparity, remedy,
          (gint) (1.5 * result->disparity)),
      (NULL));
}

static void
warn_unrectified (GstStereoMatch *self, const GstStereoCheckResult *result)
{
  GST_ELEMENT_WARNING (self, STREAM, FORMAT,
      ("The rows of the two views do not fit: a point lies %.1f px higher or lower in "
       "the right view than in the left one (median of %u; the left half of the picture is off by %.1f px, the right "
       "one by %.1f px, down is positive). Rectify the views: put stereorectify with its calibration before "
       "stereomatch, or calibrate anew. If they are rectified, they were not taken at the same moment.",
          result->vertical, result->placed, result->vertical_left, result->vertical_right),
      (NULL));
}

/* After a look at a pair. */
static void
judge_views (GstStereoMatch *self, const GstStereoCheckResult *result, const GstStereoLayout *layout)
{
  GstStereoVerdict exchanged = gst_stereo_check_exchanged (result), rows = gst_stereo_check_unrectified (result);

  GST_DEBUG_OBJECT (self,
      "%u of %u points matched: %u forward, %u backward, median %.2f px; %u placed, off by %.2f px "
      "(left %.2f, right %.2f)",
      result->matches, result->points, result->forward, result->backward, result->disparity, result->placed,
      result->vertical, result->vertical_left, result->vertical_right);
  GST_OBJECT_LOCK (self);
  self->stats.checks++;
  self->stats.check_matches = result->matches;
  if (exchanged != GST_STEREO_VERDICT_UNKNOWN)
    self->stats.exchanged = exchanged == GST_STEREO_VERDICT_BAD;
  if (rows != GST_STEREO_VERDICT_UNKNOWN)
    self->stats.vertical_offset = result->vertical;
  GST_OBJECT_UNLOCK (self);
  if (gst_stereo_finding_update (&self->checks.exchanged, exchanged))
    warn_exchanged (self, result, layout);
  if (gst_stereo_finding_update (&self->checks.unrectified, rows))
    warn_unrectified (self, result);
  self->checks.conclusive = exchanged != GST_STEREO_VERDICT_UNKNOWN || rows != GST_STEREO_VERDICT_UNKNOWN;
}

static void
judge_timestamps (GstStereoMatch *self)
{
  GstStereoSkew *skew = &self->checks.skew;
  gint64 frame = self->parent.left_spacing;

  if (!gst_stereo_skew_close (skew))
    return;
  GST_OBJECT_LOCK (self);
  self->stats.skew_mean = (guint64) skew->mean;
  self->stats.skew_drift = skew->drift;
  GST_OBJECT_UNLOCK (self);
  if (gst_stereo_finding_update (&self->checks.out_of_step, gst_stereo_skew_is_large (skew, frame)))
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("The views are out of step: the two frames of a pair are %.1f ms apart on "
         "average, of %.1f ms from frame to frame. What moves gets a wrong disparity. Trigger the cameras together, or "
         "start them together.",
            skew->mean / 1e6, frame / 1e6),
        (NULL));
  if (gst_stereo_finding_update (&self->checks.drifting, gst_stereo_skew_drifts (skew, frame)))
    GST_ELEMENT_WARNING (self, STREAM, FORMAT,
        ("The timestamps of the two views drift apart, by %.3f ms in a second: the "
         "cameras run at different rates. Trigger them together, or let one clock stamp both.",
            skew->drift / 1e6),
        (NULL));
}

/* FALSE where the frames cannot be read: matching them says so. */
static gboolean
look_at_views (GstStereoMatch *self, const GstStereoFrame *first, const GstStereoFrame *second)
{
  const StereoParams *params = stereo_plan_params (self->plan);
  const GstStereoLayout *layout = &first->layout;
  GstStereoMatchChecks *checks = &self->checks;
  GstVideoFrame frames[2];
  GstStereoCheckResult result;
  StereoImage left, right;
  gboolean two = first->buffer != second->buffer;

  if (!checks->look || !gst_stereo_check_is_for (checks->look, layout->width, layout->height, params->min_disparity,
                           params->num_disparities)) {
    gst_stereo_check_free (checks->look);
    checks->look = gst_stereo_check_new (layout->width, layout->height, params->min_disparity, params->num_disparities);
  }
  if (!checks->look || !gst_stereo_frame_map (&frames[0], &first->info, first->buffer, NULL))
    return FALSE;
  if (two && !gst_stereo_frame_map (&frames[1], &second->info, second->buffer, NULL)) {
    gst_video_frame_unmap (&frames[0]);
    return FALSE;
  }
  gst_stereo_layout_images (layout, &frames[0], &frames[two], &left, &right);
  gst_stereo_check_run (checks->look, &left, &right, &result);
  if (two)
    gst_video_frame_unmap (&frames[1]);
  gst_video_frame_unmap (&frames[0]);
  judge_views (self, &result, layout);
  return TRUE;
}

void
gst_stereo_match_check (GstStereoMatch *self, const GstStereoFrame *first, const GstStereoFrame *second)
{
  GstStereoMatchChecks *checks = &self->checks;
  gint64 interval, time = first->time == GST_STEREO_TIME_NONE ? second->time : first->time;

  GST_OBJECT_LOCK (self);
  interval = (gint64) MIN (self->check_interval, G_MAXINT64 / 4);
  GST_OBJECT_UNLOCK (self);
  if (!interval)
    return;
  /* the frames of a bundle have moments of their own, and those of one buffer have none */
  if (first->layout.packing == GST_STEREO_PACKING_AUTO && first->time != GST_STEREO_TIME_NONE &&
      second->time != GST_STEREO_TIME_NONE)
    gst_stereo_skew_add (&checks->skew, first->time, second->time - first->time);
  if (time == GST_STEREO_TIME_NONE)
    time = g_get_monotonic_time () * 1000;
  if (checks->started && time >= checks->last &&
      time - checks->last < (checks->conclusive ? interval : MIN (interval, SOON)))
    return;
  checks->started = TRUE;
  checks->last = time;
  checks->conclusive = FALSE;
  look_at_views (self, first, second);
  judge_timestamps (self);
}

void
gst_stereo_match_reset_checks (GstStereoMatch *self, gboolean findings)
{
  GstStereoMatchChecks *checks = &self->checks;

  checks->started = FALSE;
  memset (&checks->skew, 0, sizeof checks->skew);
  if (findings) {
    g_clear_pointer (&checks->look, gst_stereo_check_free);
    memset (checks, 0, sizeof *checks);
  }
}
