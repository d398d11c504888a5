/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/output.h"

#include "gst/ground/analytics.h"
#include "gst/meta/found.h"
#include "gst/video/stream.h"

#include <gst/video/gstvideometa.h>

static void
attach_region (GstBuffer *buffer, const GstStereoGroundReport *report)
{
  const GstStereoObstacle *one = &report->obstacle;
  GstVideoRegionOfInterestMeta *region = gst_buffer_add_video_region_of_interest_meta (
      buffer, GST_STEREO_GROUND_OBSTACLE, (guint) one->x, (guint) one->y, (guint) one->width, (guint) one->height);

  region->id = (gint) report->id;
  gst_video_region_of_interest_meta_add_param (region,
      gst_structure_new ("stereo-obstacle", "distance", G_TYPE_DOUBLE, one->distance, "lateral", G_TYPE_DOUBLE,
          one->lateral, "width", G_TYPE_DOUBLE, one->object_width, "height", G_TYPE_DOUBLE, one->object_height,
          "probability", G_TYPE_DOUBLE, one->probability, "seen", G_TYPE_BOOLEAN, report->seen, "ahead", G_TYPE_BOOLEAN,
          report->ahead, NULL));
}

/* ---- message ----------------------------------------------------------------------------- */

static GstStructure *
describe_obstacle (const GstStereoGroundReport *report)
{
  const GstStereoObstacle *one = &report->obstacle;

  return gst_structure_new ("obstacle", "id", G_TYPE_INT, (gint) report->id, "x", G_TYPE_INT, one->x, "y", G_TYPE_INT,
      one->y, "width", G_TYPE_INT, one->width, "height", G_TYPE_INT, one->height, "distance", G_TYPE_DOUBLE,
      one->distance, "lateral", G_TYPE_DOUBLE, one->lateral, "object-width", G_TYPE_DOUBLE, one->object_width,
      "object-height", G_TYPE_DOUBLE, one->object_height, "probability", G_TYPE_DOUBLE, one->probability, "seen",
      G_TYPE_BOOLEAN, report->seen, "ahead", G_TYPE_BOOLEAN, report->ahead, NULL);
}

static void
add_obstacles (GstStructure *message, const GstStereoGroundResult *result)
{
  GValue all = G_VALUE_INIT;

  g_value_init (&all, GST_TYPE_ARRAY);
  for (guint i = 0; i < result->n_obstacles; i++) {
    GValue one = G_VALUE_INIT;

    g_value_init (&one, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&one, describe_obstacle (&result->obstacles[i]));
    gst_value_array_append_and_take_value (&all, &one);
  }
  gst_structure_take_value (message, "obstacles", &all);
  if (result->n_obstacles > 0)
    gst_structure_set (message, "nearest", G_TYPE_DOUBLE, result->obstacles[0].obstacle.distance, NULL);
}

static void
add_free_distances (GstStructure *found, const gchar *name, const GstStereoGroundResult *result)
{
  GValue all = G_VALUE_INIT, one = G_VALUE_INIT;

  g_value_init (&all, GST_TYPE_ARRAY);
  g_value_init (&one, G_TYPE_DOUBLE);
  for (guint i = 0; i < result->n_free_distances; i++) {
    g_value_set_double (&one, result->free_distances[i]);
    gst_value_array_append_value (&all, &one);
  }
  g_value_unset (&one);
  gst_structure_take_value (found, name, &all);
}

GstStructure *
gst_stereo_ground_output_describe (GstBuffer *buffer, const GstSegment *segment, const GstStereoGroundResult *result,
    gdouble warn_distance, const gchar *reason)
{
  const GstStereoGroundPose *pose = &result->fit.pose;
  GstStructure *message = gst_structure_new (
      "stereo-obstacles", "ground", G_TYPE_BOOLEAN, result->valid, "judged", G_TYPE_DOUBLE, result->judged, NULL);

  if (result->valid)
    gst_structure_set (message, "camera-height", G_TYPE_DOUBLE, pose->height, "pitch", G_TYPE_DOUBLE, pose->pitch,
        "roll", G_TYPE_DOUBLE, pose->roll, "quality", G_TYPE_DOUBLE, result->fit.quality, NULL);
  else
    gst_structure_set (message, "reason", G_TYPE_STRING, reason ? reason : "no ground is seen", NULL);
  if (result->valid && result->ground_from > 0)
    gst_structure_set (message, "ground-from", G_TYPE_DOUBLE, result->ground_from, NULL);
  if (result->valid && result->ground_from > 0 && warn_distance > 0)
    gst_structure_set (message, "unseen-height", G_TYPE_DOUBLE,
        gst_stereo_found_unseen_height (pose->height, result->ground_from, warn_distance), NULL);
  add_obstacles (message, result);
  add_free_distances (message, "free", result);
  gst_stereo_add_times (message, buffer, segment);
  return message;
}

void
gst_stereo_ground_output_attach (GstBuffer *buffer, const GstStructure *message, const GstStereoGroundResult *result)
{
  g_autoptr (GstStructure) found = gst_structure_copy (message);

  gst_structure_remove_field (found, "free");
  add_free_distances (found, "free-distances", result);
  if (result->valid)
    gst_structure_set (found, "plane-offset", G_TYPE_DOUBLE, result->plane[0], "plane-across", G_TYPE_DOUBLE,
        result->plane[1], "plane-down", G_TYPE_DOUBLE, result->plane[2], NULL);
  gst_stereo_found_attach (buffer, GST_STEREO_GROUND_META, found);
  for (guint i = 0; i < result->n_obstacles; i++)
    attach_region (buffer, &result->obstacles[i]);
  gst_stereo_ground_analytics_attach (buffer, result->obstacles, result->n_obstacles);
}
