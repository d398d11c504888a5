/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/nearest/report.h"

#include "gst/video/stream.h"

#include <math.h>
#include <string.h>

struct _GstStereoNearestReport
{
  GstElement *owner;
  GstDebugCategory *category;
  const gchar *place;
  GstStereoNearestFinder *finder;
  gboolean warned; /* that there is no ground */

  GstStereoNearestResult result;
  GstStereoNearestRegion region; /* in the output */
  gdouble warn_distance;         /* mm */
  gchar *reason;                 /* why it is not known whether something is near, or NULL */
  gboolean cleared;              /* there was nothing to look in */
  gboolean taken;                /* the result of a stereonearest upstream, which has posted the message */
  /* the picture and the settings of the last search */
  guint serial; /* of the depth; 0 = none */
  GstStereoNearestSettings settings;
  guint min_confidence;

  /* the last message */
  gboolean posted, posted_valid, posted_warning;
  GstStereoNearestState posted_state;
  gchar *posted_reason;
  gint64 posted_time;
};

GstStereoNearestReport *
gst_stereo_nearest_report_new (GstElement *owner, GstDebugCategory *category, const gchar *place)
{
  GstStereoNearestReport *report = g_new0 (GstStereoNearestReport, 1);

  report->owner = owner;
  report->category = category;
  report->place = place;
  report->finder = gst_stereo_nearest_finder_new ();
  return report;
}

void
gst_stereo_nearest_report_free (GstStereoNearestReport *report)
{
  gst_stereo_nearest_finder_free (report->finder);
  g_free (report->reason);
  g_free (report->posted_reason);
  g_free (report);
}

void
gst_stereo_nearest_report_reset (GstStereoNearestReport *report)
{
  report->posted = FALSE;
}

/* ---- settings ------------------------------------------------------------------------------- */

/* From fractions to pixels, at least one. */
static void
region_side (gdouble from, gdouble length, gint size, gint *start, gint *count)
{
  *start = MIN ((gint) (from * size), size - 1);
  *count = MAX (1, MIN ((gint) ceil ((from + length) * size), size) - *start);
}

GstStereoNearestRegion
gst_stereo_nearest_region (const GstStereoNearestSettings *settings, gint width, gint height)
{
  GstStereoNearestRegion region;

  region_side (settings->region[0], settings->region[2], width, &region.x, &region.width);
  region_side (settings->region[1], settings->region[3], height, &region.y, &region.height);
  return region;
}

guint
gst_stereo_nearest_least (gdouble min_confidence)
{
  /* Subtract a millionth before rounding up: 0.2 * 255 may be 51.000001, which must not become 52. */
  return (guint) MAX (0, ceil (min_confidence * 255 - 1e-6));
}

/* ---- nearest -------------------------------------------------------------------------------- */

/* Whether @serial was searched just so: one depth may be shown over several frames. */
static gboolean
is_known (
    const GstStereoNearestReport *report, const GstStereoNearestSettings *settings, guint serial, guint min_confidence)
{
  return serial && report->serial == serial && report->min_confidence == min_confidence &&
      report->settings.percentile == settings->percentile &&
      memcmp (report->settings.region, settings->region, sizeof settings->region) == 0;
}

static void
find_surface (GstStereoNearestReport *report, const GstStereoNearestSettings *settings, const GstStereoDepthView *depth,
    guint serial)
{
  GstStereoNearestRegion region = gst_stereo_nearest_region (settings, depth->width, depth->height);
  GstStereoDepthView view = *depth;

  if (is_known (report, settings, serial, depth->min_confidence))
    return;
  view.x = region.x;
  view.y = region.y;
  view.width = region.width;
  view.height = region.height;
  report->result.valid = gst_stereo_nearest_find (report->finder, &view, settings->percentile, &report->result.found);
  report->serial = serial;
  report->settings = *settings;
  report->min_confidence = depth->min_confidence;
  if (!report->result.valid)
    GST_CAT_LOG_OBJECT (report->category, report->owner,
        "no nearest surface: of those of %dx%d pixels at %d,%d that count %.1f %% are valid with a confidence of "
        "%u/255, and nowhere are %g %% connected",
        view.width, view.height, view.x, view.y, 100 * report->result.found.coverage, view.min_confidence,
        settings->percentile);
}

/* What the surface that was found means in an output of @width x @height pixels. */
static void
describe_surface (GstStereoNearestReport *report, const GstStereoDepthView *depth, gint width, gint height)
{
  const GstStereoMeta *meta = depth->meta;
  GstStereoNearestResult *result = &report->result;

  result->empty = result->doubtful = FALSE;
  result->metric = meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH || (meta->focal_length > 0 && meta->baseline > 0);
  if (!result->valid)
    return;
  result->x = (gint) ((2 * (gint64) result->found.x + 1) * width / (2 * (gint64) depth->width));
  result->y = (gint) ((2 * (gint64) result->found.y + 1) * height / (2 * (gint64) depth->height));
  result->disparity = gst_stereo_meta_get_disparity (meta, result->found.sample);
  result->value = result->metric ? gst_stereo_meta_get_depth (meta, result->found.sample) : result->disparity;
}

static void
find_obstacle (
    GstStereoNearestReport *report, const GstStereoNearestSettings *settings, const GstStereoFoundGround *ground)
{
  if (!gst_stereo_found_ground_is_there (ground) && !report->warned) {
    report->warned = TRUE;
    GST_ELEMENT_WARNING (report->owner, STREAM, FORMAT,
        ("nearest=obstacle is set, and the depth comes without a ground: put stereoground before %s, or set "
         "nearest=surface. Until then the state is unknown.",
            report->place),
        (NULL));
  }
  gst_stereo_found_ground_find (ground, &report->region, settings->warn_distance, &report->result);
  report->serial = 0;
}

/* What the message says of every output of @width x @height pixels. */
static void
note_search (GstStereoNearestReport *report, const GstStereoNearestSettings *settings, gint width, gint height)
{
  report->region = gst_stereo_nearest_region (settings, width, height);
  report->warn_distance = settings->warn_distance;
}

static void
set_reason (GstStereoNearestReport *report, gchar *reason)
{
  g_free (report->reason);
  report->reason = reason;
}

/* ---- state ---------------------------------------------------------------------------------- */

/* Whether too little of the region is seen. A billionth for rounding: half unknown is not more than half. */
static gboolean
is_blind (const GstStereoNearestResult *result, const GstStereoNearestSettings *settings)
{
  return 1 - result->found.coverage > settings->max_unknown + 1e-9;
}

static GstStereoNearestState
state_of (const GstStereoNearestResult *result, const GstStereoNearestSettings *settings)
{
  if (result->warning)
    return GST_STEREO_NEAREST_STATE_NEAR;
  if (!(result->valid || result->empty) || result->doubtful || is_blind (result, settings))
    return GST_STEREO_NEAREST_STATE_UNKNOWN;
  if (result->empty)
    return GST_STEREO_NEAREST_STATE_CLEAR;
  if (settings->warn_distance <= 0)
    return GST_STEREO_NEAREST_STATE_NEAR;
  return result->metric ? GST_STEREO_NEAREST_STATE_CLEAR : GST_STEREO_NEAREST_STATE_UNKNOWN;
}

/* Why the state is unknown after a search. */
static gchar *
explain (const GstStereoNearestResult *result, const GstStereoNearestSettings *settings)
{
  /* percents are rounded down: a region that lacks a pixel is not seen wholly */
  if (is_blind (result, settings))
    return g_strdup_printf ("%d %% of the region is seen", (gint) (100 * result->found.coverage + 1e-9));
  if (result->doubtful)
    return g_strdup ("the ground ends near");
  if (!result->valid)
    return g_strdup ("no surface is found");
  return g_strdup ("distances are not known");
}

void
gst_stereo_nearest_report_find (GstStereoNearestReport *report, const GstStereoNearestSettings *settings,
    const GstStereoDepthView *depth, guint serial, const GstStereoFoundGround *ground, gint width, gint height)
{
  GstStereoNearestResult *result = &report->result;

  note_search (report, settings, width, height);
  report->cleared = report->taken = FALSE;
  if (settings->of == GST_STEREO_NEAREST_OBSTACLE) {
    find_obstacle (report, settings, ground);
  } else {
    find_surface (report, settings, depth, serial);
    describe_surface (report, depth, width, height);
  }
  result->warning = result->valid && result->metric && result->value < settings->warn_distance;
  result->state = state_of (result, settings);
  set_reason (report, result->state == GST_STEREO_NEAREST_STATE_UNKNOWN ? explain (result, settings) : NULL);
}

void
gst_stereo_nearest_report_clear (GstStereoNearestReport *report, const GstStereoNearestSettings *settings, gint width,
    gint height, const gchar *reason)
{
  note_search (report, settings, width, height);
  memset (&report->result, 0, sizeof report->result);
  report->cleared = TRUE;
  report->taken = FALSE;
  report->serial = 0;
  set_reason (report, g_strdup (reason));
}

void
gst_stereo_nearest_report_take (GstStereoNearestReport *report, const GstStereoNearestResult *result)
{
  report->result = *result;
  report->cleared = FALSE;
  report->taken = TRUE;
  report->serial = 0;
}

const GstStereoNearestResult *
gst_stereo_nearest_report_result (const GstStereoNearestReport *report)
{
  return &report->result;
}

const gchar *
gst_stereo_nearest_report_reason (const GstStereoNearestReport *report)
{
  return report->reason ? report->reason : "";
}

/* ---- message -------------------------------------------------------------------------------- */

static gboolean
is_due (const GstStereoNearestReport *report, gint64 time, guint64 interval)
{
  const GstStereoNearestResult *result = &report->result;

  if (!report->posted || report->posted_valid != result->valid || report->posted_warning != result->warning ||
      report->posted_state != result->state)
    return TRUE;
  /* of a region that is seen in part, the share changes all the time */
  if (report->cleared && g_strcmp0 (report->posted_reason, report->reason))
    return TRUE;
  if (time == GST_CLOCK_STIME_NONE || report->posted_time == GST_CLOCK_STIME_NONE || time < report->posted_time)
    return TRUE;
  return (guint64) (time - report->posted_time) >= interval;
}

GstStructure *
gst_stereo_nearest_report_describe (const GstStereoNearestReport *report, GstBuffer *buffer, const GstSegment *segment)
{
  const GstStereoNearestResult *result = &report->result;
  const GstStereoNearestRegion *region = &report->region;
  GstStructure *message = gst_structure_new ("stereo-nearest", "state", G_TYPE_STRING,
      gst_stereo_nearest_state_name (result->state), "coverage", G_TYPE_DOUBLE, result->found.coverage, "support",
      G_TYPE_INT, (gint) result->found.support, "valid", G_TYPE_BOOLEAN, result->valid, NULL);

  if (result->state == GST_STEREO_NEAREST_STATE_UNKNOWN)
    gst_structure_set (message, "reason", G_TYPE_STRING, gst_stereo_nearest_report_reason (report), NULL);
  if (result->valid && result->metric)
    gst_structure_set (message, "distance", G_TYPE_DOUBLE, result->value, NULL);
  if (result->valid && !isnan (result->disparity))
    gst_structure_set (message, "disparity", G_TYPE_DOUBLE, result->disparity, NULL);
  if (result->valid)
    gst_structure_set (message, "x", G_TYPE_INT, result->x, "y", G_TYPE_INT, result->y, "confidence", G_TYPE_DOUBLE,
        result->found.confidence, NULL);
  gst_structure_set (message, "warning", G_TYPE_BOOLEAN, result->warning, "warn-distance", G_TYPE_DOUBLE,
      report->warn_distance, "region-x", G_TYPE_INT, region->x, "region-y", G_TYPE_INT, region->y, "region-width",
      G_TYPE_INT, region->width, "region-height", G_TYPE_INT, region->height, NULL);
  gst_stereo_add_times (message, buffer, segment);
  return message;
}

void
gst_stereo_nearest_report_post (
    GstStereoNearestReport *report, GstBuffer *buffer, const GstSegment *segment, guint64 interval)
{
  const GstStereoNearestResult *result = &report->result;
  gint64 time = gst_stereo_running_time (segment, GST_BUFFER_PTS (buffer));

  if (report->taken)
    report->posted = FALSE;
  if (report->taken || !is_due (report, time, interval))
    return;
  GstStructure *message = gst_stereo_nearest_report_describe (report, buffer, segment);
  GST_CAT_LOG_OBJECT (report->category, report->owner, "posts %" GST_PTR_FORMAT, message);
  gst_element_post_message (report->owner, gst_message_new_element (GST_OBJECT (report->owner), message));
  report->posted = TRUE;
  report->posted_valid = result->valid;
  report->posted_warning = result->warning;
  report->posted_state = result->state;
  g_free (report->posted_reason);
  report->posted_reason = g_strdup (report->reason);
  report->posted_time = time;
}
