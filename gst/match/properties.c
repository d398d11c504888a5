/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/properties.h"

#include "gst/video/properties.h"

enum
{
  PROP_0,
  PROP_CHECK_INTERVAL,
  PROP_MASK,
  PROP_ACTIVE_BACKEND,
  PROP_STATS,
  PROP_SETTINGS,
  PROP_TABLE /* the first of the engine's */
};

void
gst_stereo_match_properties_install (GObjectClass *klass)
{
  const GParamFlags ro = G_PARAM_READABLE | G_PARAM_STATIC_STRINGS;

  g_object_class_install_property (klass, PROP_CHECK_INTERVAL,
      g_param_spec_uint64 ("check-interval", "check-interval",
          "Nanoseconds of stream time from one check of the input to the next: whether left and right are exchanged, "
          "the rows of the views do not fit, their timestamps are out of step, or the search range is too small; a "
          "warning says so once, and what to do; each check takes some 2 ms of CPU time; 0 = never, and no look at "
          "what is wrong with a camera (message stereo-health) either",
          0, G_MAXUINT64, GST_STEREO_DIAGNOSIS_INTERVAL,
          G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING | GST_PARAM_CONTROLLABLE));
  g_object_class_install_property (klass, PROP_MASK,
      g_param_spec_string ("mask", "mask",
          "What to leave out of the left view: a bonnet, a crane's arm, a time stamp. The name of a PNG file of the "
          "view's size, whose pixels below mid grey are excluded; or rectangles \"x,y,width,height; ...\" as fractions "
          "(0..1) of the picture. Excluded pixels have no value and count nowhere; rows above and below all others are "
          "not matched. NULL = none",
          NULL, G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING));
  g_object_class_install_property (klass, PROP_ACTIVE_BACKEND,
      g_param_spec_string ("active-backend", "active-backend",
          "The backend at work: cpu or cuda; NULL before the first pair", NULL, ro));
  g_object_class_install_property (klass, PROP_STATS,
      g_param_spec_boxed ("stats", "stats",
          "Since the start: pairs computed, dropped-left and dropped-right (frames without a partner), late (pairs "
          "dropped for QoS), pairing-clock (by which the frames of the last pair were paired: buffer, the name of the "
          "reference caps of their capture timestamps, or none), overlapped (pairs submitted while another was being "
          "computed), compute-time (ns from a pair's submission to its result, of the last pair) and "
          "compute-time-mean, steps-time-mean (of that, the backend's work by its own clock, without copies to a "
          "device and from it); of the last pair: valid-ratio and mean-confidence (0..1), aligned (whether align=auto "
          "resampled the right view), align-offset and align-offset-max (pixels by which a point lies lower in the "
          "right view than in the left one: in the middle of the picture, and at most, up or down); checks (looks at "
          "the input, see check-interval), check-matches (points found in both views at the last one), exchanged (left "
          "and right look so), vertical-offset (pixels by which the rows of the views as they come differ, median; "
          "below 0 = not known), skew-mean (ns between the frames of a pair) and skew-drift (ns that it grows by in a "
          "second); health (ok, or what is wrong now, for example \"frozen-right, range\": see the message "
          "stereo-health), health-looks, brightness-left and -right (0..255), sharpness-left and -right (fine detail "
          "divided by brightness), beyond-range (share of the points found that lie beyond the search range; below 0 = "
          "not known) and wanted-disparities (that would reach them; 0 = no more than are searched)",
          GST_TYPE_STRUCTURE, ro));
  g_object_class_install_property (klass, PROP_SETTINGS,
      g_param_spec_boxed ("settings", "settings",
          "All parameters in force; those left at their default have the value that profile and method give them; NULL "
          "when they contradict each other",
          GST_TYPE_STRUCTURE, ro));
  gst_stereo_props_install (klass, PROP_TABLE);
}

GstStructure *
gst_stereo_match_properties_make_stats (GstStereoMatchParts *parts, const GstStereoPairStats *pairs)
{
  GstStereoFlightsStats flights;
  guint64 count = MAX (pairs->pairs, 1);
  GstStructure *stats;

  gst_stereo_flights_get_stats (parts->flights, &flights);
  stats = gst_structure_new ("stereomatch-stats", "pairs", G_TYPE_UINT64, pairs->pairs, "dropped-left", G_TYPE_UINT64,
      pairs->dropped_left, "dropped-right", G_TYPE_UINT64, pairs->dropped_right, "late", G_TYPE_UINT64, pairs->late,
      "pairing-clock", G_TYPE_STRING, pairs->pairing_clock, "overlapped", G_TYPE_UINT64, flights.overlapped,
      "compute-time", G_TYPE_UINT64, pairs->compute_last, "compute-time-mean", G_TYPE_UINT64,
      pairs->compute_total / count, "steps-time-mean", G_TYPE_UINT64,
      pairs->pairs ? flights.steps_total / count : (guint64) 0, "valid-ratio", G_TYPE_DOUBLE, flights.valid_ratio,
      "mean-confidence", G_TYPE_DOUBLE, flights.mean_confidence, "aligned", G_TYPE_BOOLEAN, flights.alignment.active,
      "align-offset", G_TYPE_DOUBLE, flights.alignment.coefficients[0], "align-offset-max", G_TYPE_DOUBLE,
      flights.alignment.max, NULL);
  gst_stereo_diagnosis_add_stats (parts->diagnosis, stats);
  return stats;
}

/* Of the plan at work; before there is one, of the properties as they stand. NULL when those cannot work. */
static GstStructure *
make_settings (GstStereoMatchParts *parts)
{
  StereoParams params;
  gint output;

  if (gst_stereo_planner_get_in_force (parts->planner, &params))
    return gst_stereo_props_settings (&params);
  gst_stereo_settings_read (parts->settings, &params);
  /* what depth lacks, the views may yet bring along */
  output = params.output;
  params.output = STEREO_OUTPUT_DISPARITY;
  if (stereo_params_resolve (&params, &params, NULL) != STEREO_OK)
    return NULL;
  params.output = output;
  return gst_stereo_props_settings (&params);
}

static gboolean
is_of_table (guint id)
{
  return id >= PROP_TABLE && stereo_param_info ((gint) (id - PROP_TABLE));
}

gboolean
gst_stereo_match_properties_set (GstStereoMatchParts *parts, guint id, const GValue *value)
{
  if (id == PROP_CHECK_INTERVAL)
    gst_stereo_diagnosis_set_interval (parts->diagnosis, g_value_get_uint64 (value));
  else if (id == PROP_MASK)
    gst_stereo_masks_set (parts->masks, g_value_get_string (value));
  else if (is_of_table (id))
    gst_stereo_settings_set (parts->settings, id - PROP_TABLE, value);
  else
    return FALSE;
  return TRUE;
}

gboolean
gst_stereo_match_properties_get (GstStereoMatchParts *parts, const GstStereoPairStats *pairs, guint id, GValue *value)
{
  switch (id) {
    case PROP_STATS:
      g_value_take_boxed (value, gst_stereo_match_properties_make_stats (parts, pairs));
      return TRUE;
    case PROP_SETTINGS:
      g_value_take_boxed (value, make_settings (parts));
      return TRUE;
    case PROP_CHECK_INTERVAL:
      g_value_set_uint64 (value, gst_stereo_diagnosis_get_interval (parts->diagnosis));
      return TRUE;
    case PROP_MASK:
      g_value_take_string (value, gst_stereo_masks_get (parts->masks));
      return TRUE;
    case PROP_ACTIVE_BACKEND:
      g_value_set_static_string (value, gst_stereo_planner_get_backend (parts->planner));
      return TRUE;
    default:
      if (is_of_table (id))
        gst_stereo_settings_get (parts->settings, id - PROP_TABLE, value);
      return is_of_table (id);
  }
}
