/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/parts.h"

void
gst_stereo_match_parts_init (GstStereoMatchParts *parts, GstAggregator *aggregator)
{
  GstElement *element = GST_ELEMENT (aggregator);

  parts->settings = gst_stereo_settings_new (element);
  parts->cameras = gst_stereo_cameras_new (element);
  parts->masks = gst_stereo_masks_new (element);
  parts->device = gst_stereo_device_new (element, parts->settings);
  parts->planner = gst_stereo_planner_new (element);
  parts->diagnosis = gst_stereo_diagnosis_new (element);
  parts->output = gst_stereo_match_output_new (aggregator);
  parts->flights = gst_stereo_flights_new (element, parts->planner, parts->output);
}

void
gst_stereo_match_parts_clear (GstStereoMatchParts *parts)
{
  gst_stereo_flights_free (parts->flights);
  gst_stereo_match_output_free (parts->output);
  gst_stereo_diagnosis_free (parts->diagnosis);
  gst_stereo_planner_free (parts->planner);
  gst_stereo_device_free (parts->device);
  gst_stereo_masks_free (parts->masks);
  gst_stereo_cameras_free (parts->cameras);
  gst_stereo_settings_free (parts->settings);
}

void
gst_stereo_match_parts_start (GstStereoMatchParts *parts)
{
  gst_stereo_planner_start (parts->planner);
  gst_stereo_flights_start (parts->flights);
  gst_stereo_diagnosis_start (parts->diagnosis);
}

void
gst_stereo_match_parts_flush (GstStereoMatchParts *parts)
{
  gst_stereo_flights_abandon (parts->flights);
  gst_stereo_diagnosis_flush (parts->diagnosis);
}

void
gst_stereo_match_parts_release (GstStereoMatchParts *parts)
{
  gst_stereo_flights_abandon (parts->flights);
  gst_stereo_planner_release (parts->planner);
  gst_stereo_flights_unmap_failed (parts->flights);
  gst_stereo_device_release (parts->device);
  gst_stereo_match_output_release (parts->output);
  gst_stereo_cameras_reset (parts->cameras);
  gst_stereo_masks_release (parts->masks);
  gst_stereo_diagnosis_release (parts->diagnosis);
}
