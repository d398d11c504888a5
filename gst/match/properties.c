/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/properties.h"

#include "gst/video/params.h"

/* ---- values ------------------------------------------------------------------------------------- */

GstStructure *
gst_stereo_match_properties_make_stats (GstStereoAggregator *aggregator, GstStereoMatchParts *parts)
{
  GstStereoFlightsStats flights;
  GstStereoPairStats pairs;

  gst_stereo_aggregator_get_stats (aggregator, &pairs);
  guint64 count = MAX (pairs.pairs, 1);
  gst_stereo_flights_get_stats (parts->flights, &flights);
  GstStructure *stats = gst_structure_new ("stereomatch-stats", "pairs", G_TYPE_UINT64, pairs.pairs, "dropped-left",
      G_TYPE_UINT64, pairs.dropped_left, "dropped-right", G_TYPE_UINT64, pairs.dropped_right, "late", G_TYPE_UINT64,
      pairs.late, "pairing-clock", G_TYPE_STRING, pairs.pairing_clock, "overlapped", G_TYPE_UINT64, flights.overlapped,
      "compute-time", G_TYPE_UINT64, pairs.compute_last, "compute-time-mean", G_TYPE_UINT64, pairs.compute_total / count,
      "steps-time-mean", G_TYPE_UINT64, pairs.pairs ? flights.steps_total / count : (guint64) 0, "valid-ratio",
      G_TYPE_DOUBLE, flights.valid_ratio, "mean-confidence", G_TYPE_DOUBLE, flights.mean_confidence, "aligned",
      G_TYPE_BOOLEAN, flights.alignment.active, "align-offset", G_TYPE_DOUBLE, flights.alignment.coefficients[0],
      "align-offset-max", G_TYPE_DOUBLE, flights.alignment.max, NULL);
  gst_stereo_diagnosis_add_stats (parts->diagnosis, stats);
  return stats;
}

/* Of the plan at work; before there is one, of the properties as they stand. NULL when those cannot work. */
static GstStructure *
make_settings (GstStereoMatchParts *parts)
{
  StereoParams params;
  gint output;

  gst_stereo_settings_read (parts->settings, &params);
  guint64 set = params.set;
  if (gst_stereo_planner_get_in_force (parts->planner, &params)) {
    params.set = set;
    return gst_stereo_params_describe (&params);
  }
  /* what depth lacks, the views may yet bring along */
  output = params.output;
  params.output = STEREO_OUTPUT_DISPARITY;
  if (stereo_params_resolve (&params, &params, NULL) != STEREO_OK)
    return NULL;
  params.output = output;
  return gst_stereo_params_describe (&params);
}

static void
get_stats (GstElement *element, gpointer parts, GValue *value)
{
  g_value_take_boxed (value, gst_stereo_match_properties_make_stats (GST_STEREO_AGGREGATOR (element), parts));
}

static void
get_settings (GstElement *element, gpointer parts, GValue *value)
{
  g_value_take_boxed (value, make_settings (parts));
}

static void
get_active_backend (GstElement *element, gpointer parts, GValue *value)
{
  g_value_set_static_string (value, gst_stereo_planner_get_backend (((GstStereoMatchParts *) parts)->planner));
}

/* ---- the table ----------------------------------------------------------------------------------- */

static const GstStereoProperty properties[] = {
  { .name = "active-backend",
      .kind = GST_STEREO_STRING,
      .flags = G_PARAM_READABLE,
      .get = get_active_backend,
      .blurb = "The backend at work: cpu or cuda; NULL before the first pair" },
  { .name = "stats",
      .kind = GST_STEREO_STRUCTURE,
      .flags = G_PARAM_READABLE,
      .get = get_stats,
      .blurb = "What was counted and measured since the start, and what is wrong with the input now; docs/streams.md "
               "has a table of the fields" },
  { .name = "settings",
      .kind = GST_STEREO_STRUCTURE,
      .flags = G_PARAM_READABLE,
      .get = get_settings,
      .blurb = "All parameters in force; those left at their default have the value that profile and method give them. "
               "set-by-hand names the others. NULL when they contradict each other before the first pair" },
  { .name = NULL },
};

void
gst_stereo_match_properties_install (GObjectClass *klass, gssize parts)
{
  gst_stereo_properties_install_part (
      klass, gst_stereo_diagnosis_properties, parts + G_STRUCT_OFFSET (GstStereoMatchParts, diagnosis));
  gst_stereo_properties_install_part (
      klass, gst_stereo_masks_properties, parts + G_STRUCT_OFFSET (GstStereoMatchParts, masks));
  gst_stereo_properties_install (klass, properties, parts);
  gst_stereo_properties_install_part (
      klass, gst_stereo_settings_properties (), parts + G_STRUCT_OFFSET (GstStereoMatchParts, settings));
}
