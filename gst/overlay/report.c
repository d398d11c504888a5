/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/report.h"

#include "gst/overlay/debug.h"

#include <math.h>
#include <string.h>

struct _GstDepthOverlayReport
{
  GstElement *owner;
  GstStereoNearestFinder *finder;

  GstDepthOverlayNearest nearest;
  gboolean cleared; /* there was nothing to look in */
  gchar *reason;    /* why it is not known whether something is near, or NULL */
  /* what it was looked for in, and how */
  guint serial; /* of the depth; 0 = none */
  GstDepthOverlaySearch search;
  guint min_confidence;

  /* the last message */
  gboolean posted, posted_valid, posted_warning;
  GstDepthOverlayVerdict posted_verdict;
  gchar *posted_reason;
  gint64 posted_time;
};

GType
gst_depth_overlay_nearest_of_get_type (void)
{
  static gsize once = 0;
  static const GEnumValue values[] = { { GST_DEPTH_OVERLAY_NEAREST_SURFACE,
                                           "The nearest surface, whatever it is: also the road before the bumper",
                                           "surface" },
    { GST_DEPTH_OVERLAY_NEAREST_OBSTACLE, "What stands on the ground: needs stereoground before sink_depth", "obstacle" },
    { 0, NULL, NULL } };

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, g_enum_register_static ("GstDepthOverlayNearestOf", values));
  return once;
}

GstDepthOverlayReport *
gst_depth_overlay_report_new (GstElement *owner)
{
  GstDepthOverlayReport *report = g_new0 (GstDepthOverlayReport, 1);

  report->owner = owner;
  report->finder = gst_stereo_nearest_finder_new ();
  return report;
}

void
gst_depth_overlay_report_free (GstDepthOverlayReport *report)
{
  gst_stereo_nearest_finder_free (report->finder);
  g_free (report->reason);
  g_free (report->posted_reason);
  g_free (report);
}

void
gst_depth_overlay_report_reset (GstDepthOverlayReport *report)
{
  report->posted = FALSE;
}

/* ---- nearest ----------------------------------------------------------------------------- */

/* From fractions to pixels, at least one. */
static void
region_side (gdouble from, gdouble length, gint size, gint *start, gint *count)
{
  *start = MIN ((gint) (from * size), size - 1);
  *count = MAX (1, MIN ((gint) ceil ((from + length) * size), size) - *start);
}

GstDepthOverlayRegion
gst_depth_overlay_search_region (const GstDepthOverlaySearch *search, gint width, gint height)
{
  GstDepthOverlayRegion region;

  region_side (search->region[0], search->region[2], width, &region.x, &region.width);
  region_side (search->region[1], search->region[3], height, &region.y, &region.height);
  return region;
}

/* Looks in @depth, unless that was done: one depth may be shown over several frames. */
static void
find (GstDepthOverlayReport *report, const GstDepthOverlaySearch *search, guint serial,
    const GstDepthOverlayPicture *picture, const GstStereoMeta *meta)
{
  const GstStereoBlendDepth *depth = gst_depth_overlay_picture_depth (picture);
  GstStereoNearestView view = { .samples = depth->samples,
    .stride = depth->stride,
    .wide = depth->wide,
    .confidence = depth->confidence,
    .confidence_stride = depth->confidence_stride,
    .min_confidence = depth->min_confidence,
    .meta = meta };
  GstDepthOverlayRegion region;

  if (report->serial == serial && report->min_confidence == depth->min_confidence &&
      memcmp (&report->search, search, sizeof *search) == 0)
    return;
  region = gst_depth_overlay_search_region (search, depth->width, depth->height);
  view.x = region.x;
  view.y = region.y;
  view.width = region.width;
  view.height = region.height;
  view.mask = gst_depth_overlay_picture_mask (picture, &view.mask_stride);
  report->nearest.valid = gst_stereo_nearest_find (report->finder, &view, search->percentile, &report->nearest.found);
  report->serial = serial;
  report->search = *search;
  report->min_confidence = depth->min_confidence;
  if (!report->nearest.valid)
    GST_LOG_OBJECT (report->owner,
        "no nearest surface: of those of %dx%d pixels at %d,%d that count %.1f %% are valid with a confidence of "
        "%u/255, and nowhere are %g %% connected",
        view.width, view.height, view.x, view.y, 100 * report->nearest.found.coverage, view.min_confidence,
        search->percentile);
}

void
gst_depth_overlay_report_search (GstDepthOverlayReport *report, const GstDepthOverlaySearch *search,
    const GstStereoJoined *held, const GstDepthOverlayPicture *picture, const GstStereoLiveView *view)
{
  const GstStereoBlendDepth *depth = gst_depth_overlay_picture_depth (picture);
  const GstStereoScale *scale = gst_depth_overlay_picture_scale (picture);
  const GstStereoMeta *meta = gst_buffer_get_stereo_meta (held->buffer);
  gint64 width = GST_VIDEO_INFO_WIDTH (&view->info), height = GST_VIDEO_INFO_HEIGHT (&view->info);
  GstDepthOverlayNearest *nearest = &report->nearest;

  report->cleared = FALSE;
  find (report, search, held->serial, picture, meta);
  nearest->metric = scale->metric;
  if (!nearest->valid)
    return;
  nearest->x = (gint) ((2 * (gint64) nearest->found.x + 1) * width / (2 * (gint64) depth->width));
  nearest->y = (gint) ((2 * (gint64) nearest->found.y + 1) * height / (2 * (gint64) depth->height));
  nearest->disparity = gst_stereo_meta_get_disparity (meta, nearest->found.sample);
  nearest->value = scale->metric ? gst_stereo_meta_get_depth (meta, nearest->found.sample) : nearest->disparity;
}

void
gst_depth_overlay_report_set (GstDepthOverlayReport *report, const GstDepthOverlayNearest *nearest)
{
  report->nearest = *nearest;
  report->cleared = FALSE;
  report->serial = 0;
}

static void
set_reason (GstDepthOverlayReport *report, gchar *reason)
{
  g_free (report->reason);
  report->reason = reason;
}

void
gst_depth_overlay_report_clear (GstDepthOverlayReport *report, const gchar *reason)
{
  memset (&report->nearest, 0, sizeof report->nearest);
  report->cleared = TRUE;
  report->serial = 0;
  set_reason (report, g_strdup (reason));
}

/* Whether too little of the region is seen. A billionth for rounding: half unknown is not more than half. */
static gboolean
is_blind (const GstDepthOverlayNearest *nearest, const GstDepthOverlayLimits *limits)
{
  return 1 - nearest->found.coverage > limits->max_unknown + 1e-9;
}

static GstDepthOverlayVerdict
verdict_of (const GstDepthOverlayNearest *nearest, const GstDepthOverlayLimits *limits)
{
  if (nearest->warning)
    return GST_DEPTH_OVERLAY_NEAR;
  if (!(nearest->valid || nearest->empty) || nearest->doubtful || is_blind (nearest, limits))
    return GST_DEPTH_OVERLAY_UNKNOWN;
  if (nearest->empty)
    return GST_DEPTH_OVERLAY_CLEAR;
  if (limits->warn_distance <= 0)
    return GST_DEPTH_OVERLAY_NEAR;
  return nearest->metric ? GST_DEPTH_OVERLAY_CLEAR : GST_DEPTH_OVERLAY_UNKNOWN;
}

/* Why the verdict on a depth that was looked at is unknown. */
static gchar *
explain (const GstDepthOverlayNearest *nearest, const GstDepthOverlayLimits *limits)
{
  /* percents are rounded down: a region that lacks a pixel is not seen wholly */
  if (is_blind (nearest, limits))
    return g_strdup_printf ("%d %% of the region is seen", (gint) (100 * nearest->found.coverage + 1e-9));
  if (nearest->doubtful)
    return g_strdup ("the ground ends near");
  if (!nearest->valid)
    return g_strdup ("no surface is found");
  return g_strdup ("distances are not known");
}

void
gst_depth_overlay_report_judge (GstDepthOverlayReport *report, const GstDepthOverlayLimits *limits)
{
  GstDepthOverlayNearest *nearest = &report->nearest;

  nearest->warning = nearest->valid && nearest->metric && nearest->value < limits->warn_distance;
  nearest->verdict = verdict_of (nearest, limits);
  if (!report->cleared)
    set_reason (report, nearest->verdict == GST_DEPTH_OVERLAY_UNKNOWN ? explain (nearest, limits) : NULL);
}

const gchar *
gst_depth_overlay_report_reason (const GstDepthOverlayReport *report)
{
  return report->reason ? report->reason : "";
}

const GstDepthOverlayNearest *
gst_depth_overlay_report_nearest (const GstDepthOverlayReport *report)
{
  return &report->nearest;
}

/* ---- message ----------------------------------------------------------------------------- */

static gboolean
is_due (const GstDepthOverlayReport *report, gint64 time, guint64 interval)
{
  const GstDepthOverlayNearest *nearest = &report->nearest;

  if (!report->posted || report->posted_valid != nearest->valid || report->posted_warning != nearest->warning ||
      report->posted_verdict != nearest->verdict)
    return TRUE;
  /* of a region that is seen in part, the share changes all the time */
  if (report->cleared && g_strcmp0 (report->posted_reason, report->reason))
    return TRUE;
  if (time == GST_CLOCK_STIME_NONE || report->posted_time == GST_CLOCK_STIME_NONE || time < report->posted_time)
    return TRUE;
  return (guint64) (time - report->posted_time) >= interval;
}

void
gst_depth_overlay_report_post (GstDepthOverlayReport *report, const GstDepthOverlayFrame *frame, guint64 interval)
{
  static const gchar *const states[] = { "unknown", "near", "clear" };
  const GstDepthOverlayNearest *nearest = &report->nearest;
  GstClockTime pts = GST_BUFFER_PTS (frame->live.buffer);
  GstStructure *message;

  if (!is_due (report, frame->live.time, interval))
    return;
  message = gst_structure_new ("stereo-nearest", "state", G_TYPE_STRING, states[nearest->verdict], "coverage",
      G_TYPE_DOUBLE, nearest->found.coverage, "support", G_TYPE_INT, (gint) nearest->found.support, "valid",
      G_TYPE_BOOLEAN, nearest->valid, NULL);
  if (nearest->verdict == GST_DEPTH_OVERLAY_UNKNOWN)
    gst_structure_set (message, "reason", G_TYPE_STRING, gst_depth_overlay_report_reason (report), NULL);
  if (nearest->valid && nearest->metric)
    gst_structure_set (message, "distance", G_TYPE_DOUBLE, nearest->value, NULL);
  if (nearest->valid && !isnan (nearest->disparity))
    gst_structure_set (message, "disparity", G_TYPE_DOUBLE, nearest->disparity, NULL);
  if (nearest->valid)
    gst_structure_set (message, "x", G_TYPE_INT, nearest->x, "y", G_TYPE_INT, nearest->y, "confidence", G_TYPE_DOUBLE,
        nearest->found.confidence, NULL);
  gst_structure_set (message, "warning", G_TYPE_BOOLEAN, nearest->warning, "timestamp", G_TYPE_UINT64, pts,
      "stream-time", G_TYPE_UINT64, gst_segment_to_stream_time (&frame->live.segment, GST_FORMAT_TIME, pts),
      "running-time", G_TYPE_UINT64, gst_segment_to_running_time (&frame->live.segment, GST_FORMAT_TIME, pts),
      "duration", G_TYPE_UINT64, GST_BUFFER_DURATION (frame->live.buffer), NULL);
  GST_LOG_OBJECT (report->owner, "posts %" GST_PTR_FORMAT, message);
  gst_element_post_message (report->owner, gst_message_new_element (GST_OBJECT (report->owner), message));
  report->posted = TRUE;
  report->posted_valid = nearest->valid;
  report->posted_warning = nearest->warning;
  report->posted_verdict = nearest->verdict;
  g_free (report->posted_reason);
  report->posted_reason = g_strdup (report->reason);
  report->posted_time = frame->live.time;
}
