/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/nearest/ground.h"

#include "gst/meta/found.h"

#include <math.h>
#include <string.h>

#define PARAMETER "stereo-obstacle"
#define DOUBTFUL 2 /* neighbouring columns */

struct _GstStereoFoundGround
{
  gboolean there, valid;
  GstStereoFoundPlane plane;
  gint width, height; /* of the output */
  GArray *obstacles;  /* of GstStereoFoundObstacle, nearest first */
  GArray *free;       /* of gdouble: mm, for each column of the ground */
};

GstStereoFoundGround *
gst_stereo_found_ground_new (void)
{
  GstStereoFoundGround *ground = g_new0 (GstStereoFoundGround, 1);

  ground->obstacles = g_array_new (FALSE, TRUE, sizeof (GstStereoFoundObstacle));
  ground->free = g_array_new (FALSE, TRUE, sizeof (gdouble));
  return ground;
}

void
gst_stereo_found_ground_free (GstStereoFoundGround *ground)
{
  g_array_unref (ground->obstacles);
  g_array_unref (ground->free);
  g_free (ground);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* From pixels of a side of the depth picture to those of the output's. */
static gint
scaled (guint at, gint from, gint to)
{
  return (gint) MIN (((gint64) at * to + from / 2) / from, to);
}

static void
add_obstacle (GstStereoFoundGround *ground, const GstVideoRegionOfInterestMeta *roi, const GstStructure *parameter,
    const GstVideoInfo *depth)
{
  gint width = GST_VIDEO_INFO_WIDTH (depth), height = GST_VIDEO_INFO_HEIGHT (depth);
  gint left = scaled (roi->x, width, ground->width), top = scaled (roi->y, height, ground->height);
  guint right = MIN (roi->x, (guint) width) + MIN (roi->w, (guint) width);
  guint bottom = MIN (roi->y, (guint) height) + MIN (roi->h, (guint) height);
  GstStereoFoundObstacle obstacle = { .box = { left, top, scaled (right, width, ground->width) - left,
                                          scaled (bottom, height, ground->height) - top } };

  if (!gst_structure_get (parameter, "distance", G_TYPE_DOUBLE, &obstacle.distance, "probability", G_TYPE_DOUBLE,
          &obstacle.probability, NULL) ||
      !(obstacle.distance >= 0 && isfinite (obstacle.distance)) ||
      !(obstacle.probability >= 0 && obstacle.probability <= 1))
    return;
  g_array_append_val (ground->obstacles, obstacle);
}

static gboolean
read_plane (GstStereoFoundGround *ground, const GstStructure *found)
{
  GstStereoFoundPlane *plane = &ground->plane;

  return gst_structure_get (found, "plane-offset", G_TYPE_DOUBLE, &plane->offset, "plane-across", G_TYPE_DOUBLE,
      &plane->across, "plane-down", G_TYPE_DOUBLE, &plane->down, NULL);
}

static gboolean
read_free_distances (GstStereoFoundGround *ground, const GstStructure *found)
{
  const GValue *all = gst_structure_get_value (found, "free-distances");
  guint columns = all && GST_VALUE_HOLDS_ARRAY (all) ? gst_value_array_get_size (all) : 0;

  for (guint i = 0; i < columns && columns <= GST_STEREO_MAX_COLUMNS; i++) {
    const GValue *one = gst_value_array_get_value (all, i);
    if (!G_VALUE_HOLDS_DOUBLE (one))
      return FALSE;
    gdouble distance = g_value_get_double (one);
    g_array_append_val (ground->free, distance);
  }
  return columns <= GST_STEREO_MAX_COLUMNS;
}

void
gst_stereo_found_ground_read (
    GstStereoFoundGround *ground, GstBuffer *depth, const GstVideoInfo *info, gint width, gint height)
{
  const GstStructure *found = depth ? gst_stereo_found_get (depth, GST_STEREO_GROUND_META) : NULL;
  gpointer state = NULL;
  GstMeta *next;

  g_array_set_size (ground->obstacles, 0);
  g_array_set_size (ground->free, 0);
  ground->there = found && gst_buffer_get_stereo_meta (depth);
  ground->valid = FALSE;
  if (ground->there &&
      !(gst_structure_get (found, "ground", G_TYPE_BOOLEAN, &ground->valid, NULL) && ground->valid &&
          read_plane (ground, found) && read_free_distances (ground, found)))
    ground->valid = FALSE;
  ground->width = width;
  ground->height = height;
  if (!ground->valid)
    return;
  while ((next = gst_buffer_iterate_meta_filtered (depth, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *roi = (GstVideoRegionOfInterestMeta *) next;
    const GstStructure *parameter = gst_video_region_of_interest_meta_get_param (roi, PARAMETER);
    if (parameter)
      add_obstacle (ground, roi, parameter, info);
  }
}

const GstStereoFoundPlane *
gst_stereo_found_ground_plane (const GstStereoFoundGround *ground)
{
  return &ground->plane;
}

gboolean
gst_stereo_found_ground_is_there (const GstStereoFoundGround *ground)
{
  return ground->there;
}

const GstStereoFoundObstacle *
gst_stereo_found_ground_obstacles (const GstStereoFoundGround *ground, guint *count)
{
  *count = ground->obstacles->len;
  return (const GstStereoFoundObstacle *) (gpointer) ground->obstacles->data;
}

const gdouble *
gst_stereo_found_ground_free_distances (const GstStereoFoundGround *ground, guint *count)
{
  *count = ground->free->len;
  return (const gdouble *) (gpointer) ground->free->data;
}

/* ---- the nearest obstacle ------------------------------------------------------------------- */

static gboolean
touches (const GstStereoNearestRegion *box, const GstStereoNearestRegion *region)
{
  return box->x < region->x + region->width && region->x < box->x + box->width && box->y < region->y + region->height &&
      region->y < box->y + box->height;
}

/* Ground that ends before the distance that matters, without an obstacle, is ground that is seen no more, or something
 * that stereoground is not sure of yet. */
static void
judge_columns (const GstStereoFoundGround *ground, const GstStereoNearestRegion *region, gdouble warn_distance,
    GstStereoNearestResult *result)
{
  guint columns = ground->free->len, in = 0, seen = 0, run = 0;

  for (guint i = 0; i < columns; i++) {
    gint left = (gint) (i * (guint) ground->width / columns), right = (gint) ((i + 1) * (guint) ground->width / columns);
    if (right <= region->x || left >= region->x + region->width)
      continue;
    gdouble free = g_array_index (ground->free, gdouble, i);
    in++;
    seen += free >= MAX (warn_distance, 1);
    run = free >= 0 && free < warn_distance ? run + 1 : 0;
    result->doubtful |= run >= DOUBTFUL;
  }
  result->found.coverage = in ? (gdouble) seen / in : 0;
}

void
gst_stereo_found_ground_find (const GstStereoFoundGround *ground, const GstStereoNearestRegion *region,
    gdouble warn_distance, GstStereoNearestResult *result)
{
  memset (result, 0, sizeof *result);
  if (!ground->valid)
    return;
  result->metric = TRUE;
  result->empty = TRUE;
  judge_columns (ground, region, warn_distance, result);
  result->disparity = NAN;
  for (guint i = 0; i < ground->obstacles->len; i++) {
    const GstStereoFoundObstacle *obstacle = &g_array_index (ground->obstacles, GstStereoFoundObstacle, i);
    if (!touches (&obstacle->box, region) || (result->valid && obstacle->distance >= result->value))
      continue;
    result->valid = TRUE;
    result->empty = FALSE;
    result->value = obstacle->distance;
    result->x = obstacle->box.x + obstacle->box.width / 2;
    result->y = obstacle->box.y + obstacle->box.height / 2;
    result->found.confidence = obstacle->probability;
  }
}
