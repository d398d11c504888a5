/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/ground.h"

#include "gst/meta/gststereoground.h"
#include "gst/meta/plausible.h"

#include <math.h>
#include <string.h>

#define PARAMETER "stereo-obstacle"
#define DOUBTFUL 2 /* neighbouring columns */

typedef struct
{
  GstDepthOverlayBox box; /* in the view */
  gdouble distance, probability;
} Obstacle;

struct _GstDepthOverlayGround
{
  gboolean there, valid;
  gint width, height; /* of the view */
  GArray *obstacles;  /* of Obstacle, nearest first */
  GArray *boxes;      /* of GstDepthOverlayBox: theirs */
  GArray *marks;      /* of GstDepthOverlayMark */
  GArray *free;       /* of gdouble: mm, for each column of the ground */
};

GstDepthOverlayGround *
gst_depth_overlay_ground_new (void)
{
  GstDepthOverlayGround *ground = g_new0 (GstDepthOverlayGround, 1);

  ground->obstacles = g_array_new (FALSE, TRUE, sizeof (Obstacle));
  ground->boxes = g_array_new (FALSE, TRUE, sizeof (GstDepthOverlayBox));
  ground->marks = g_array_new (FALSE, TRUE, sizeof (GstDepthOverlayMark));
  ground->free = g_array_new (FALSE, TRUE, sizeof (gdouble));
  return ground;
}

void
gst_depth_overlay_ground_free (GstDepthOverlayGround *ground)
{
  g_array_unref (ground->obstacles);
  g_array_unref (ground->boxes);
  g_array_unref (ground->marks);
  g_array_unref (ground->free);
  g_free (ground);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* From pixels of a side of the depth picture to those of the view's. */
static gint
scaled (guint at, gint from, gint to)
{
  return (gint) MIN (((gint64) at * to + from / 2) / from, to);
}

static void
add_obstacle (GstDepthOverlayGround *ground, const GstVideoRegionOfInterestMeta *roi, const GstStructure *parameter,
    const GstVideoInfo *depth, gdouble warn_distance)
{
  gint width = GST_VIDEO_INFO_WIDTH (depth), height = GST_VIDEO_INFO_HEIGHT (depth);
  gint left = scaled (roi->x, width, ground->width), top = scaled (roi->y, height, ground->height);
  Obstacle obstacle = {
    .box = { left, top, scaled (MIN (roi->x, (guint) width) + MIN (roi->w, (guint) width), width, ground->width) - left,
        scaled (MIN (roi->y, (guint) height) + MIN (roi->h, (guint) height), height, ground->height) - top, "", FALSE }
  };

  if (!gst_structure_get (parameter, "distance", G_TYPE_DOUBLE, &obstacle.distance, "probability", G_TYPE_DOUBLE,
          &obstacle.probability, NULL) ||
      !(obstacle.distance >= 0 && isfinite (obstacle.distance)) ||
      !(obstacle.probability >= 0 && obstacle.probability <= 1))
    return;
  obstacle.box.warning = obstacle.distance < warn_distance;
  gst_depth_overlay_text_format (obstacle.box.label, sizeof obstacle.box.label, obstacle.distance, TRUE);
  g_array_append_val (ground->obstacles, obstacle);
  g_array_append_val (ground->boxes, obstacle.box);
}

/* Where the ground of a column ends that is free for @distance. */
static void
add_mark (GstDepthOverlayGround *ground, const GstStereoGroundMeta *plane, const GstStereoMeta *meta,
    const GstVideoInfo *depth, guint column, guint columns, gdouble distance)
{
  gint width = GST_VIDEO_INFO_WIDTH (depth), height = GST_VIDEO_INFO_HEIGHT (depth);
  gdouble disparity = meta->focal_length * meta->baseline / distance - meta->principal_offset;
  gdouble x = (column + 0.5) * width / columns,
          y = (disparity - plane->plane_offset - plane->plane_across * x) / plane->plane_down;
  gint left = (gint) (column * (guint) ground->width / columns);
  gint right = (gint) ((column + 1) * (guint) ground->width / columns);
  GstDepthOverlayMark mark = { left, 0, MAX (1, right - left) }; /* a column may be narrower than a pixel */

  if (!(y >= 0 && y < height))
    return;
  mark.y = (gint) (y * ground->height / height);
  g_array_append_val (ground->marks, mark);
}

void
gst_depth_overlay_ground_read (
    GstDepthOverlayGround *ground, const GstStereoJoined *depth, gint width, gint height, gdouble warn_distance)
{
  const GstStereoGroundMeta *plane = depth ? gst_buffer_get_stereo_ground_meta (depth->buffer) : NULL;
  const GstStereoMeta *meta = depth ? gst_buffer_get_stereo_meta (depth->buffer) : NULL;
  const gdouble *free;
  gpointer state = NULL;
  GstMeta *next;
  guint columns = 0;

  g_array_set_size (ground->obstacles, 0);
  g_array_set_size (ground->boxes, 0);
  g_array_set_size (ground->marks, 0);
  g_array_set_size (ground->free, 0);
  ground->there = plane && meta;
  free = ground->there ? gst_stereo_ground_meta_get_free_distances (plane, &columns) : NULL;
  ground->valid = ground->there && plane->valid && columns <= GST_STEREO_MAX_COLUMNS;
  ground->width = width;
  ground->height = height;
  if (!ground->valid)
    return;
  while ((next = gst_buffer_iterate_meta_filtered (depth->buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *roi = (GstVideoRegionOfInterestMeta *) next;
    const GstStructure *parameter = gst_video_region_of_interest_meta_get_param (roi, PARAMETER);
    if (parameter)
      add_obstacle (ground, roi, parameter, &depth->info, warn_distance);
  }
  g_array_append_vals (ground->free, free, columns);
  for (guint i = 0; i < columns; i++)
    if (free[i] > 0)
      add_mark (ground, plane, meta, &depth->info, i, columns, free[i]);
}

gboolean
gst_depth_overlay_ground_is_there (const GstDepthOverlayGround *ground)
{
  return ground->there;
}

const GstDepthOverlayBox *
gst_depth_overlay_ground_boxes (const GstDepthOverlayGround *ground, guint *count)
{
  *count = ground->boxes->len;
  return (const GstDepthOverlayBox *) (gpointer) ground->boxes->data;
}

const GstDepthOverlayMark *
gst_depth_overlay_ground_marks (const GstDepthOverlayGround *ground, guint *count)
{
  *count = ground->marks->len;
  return (const GstDepthOverlayMark *) (gpointer) ground->marks->data;
}

/* ---- the nearest obstacle ------------------------------------------------------------------- */

static gboolean
touches (const GstDepthOverlayBox *box, const GstDepthOverlayRegion *region)
{
  return box->x < region->x + region->width && region->x < box->x + box->width && box->y < region->y + region->height &&
      region->y < box->y + box->height;
}

/* Ground that ends before the distance that matters, without an obstacle, is ground that is seen no more, or something
 * that stereoground is not sure of yet. */
static void
judge_columns (const GstDepthOverlayGround *ground, const GstDepthOverlayRegion *region, gdouble warn_distance,
    GstDepthOverlayNearest *nearest)
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
    nearest->doubtful |= run >= DOUBTFUL;
  }
  nearest->found.coverage = in ? (gdouble) seen / in : 0;
}

void
gst_depth_overlay_ground_find (const GstDepthOverlayGround *ground, const GstDepthOverlayRegion *region,
    gdouble warn_distance, GstDepthOverlayNearest *nearest)
{
  memset (nearest, 0, sizeof *nearest);
  if (!ground->valid)
    return;
  nearest->metric = TRUE;
  nearest->empty = TRUE;
  judge_columns (ground, region, warn_distance, nearest);
  nearest->disparity = NAN;
  for (guint i = 0; i < ground->obstacles->len; i++) {
    const Obstacle *obstacle = &g_array_index (ground->obstacles, Obstacle, i);
    if (!touches (&obstacle->box, region) || (nearest->valid && obstacle->distance >= nearest->value))
      continue;
    nearest->valid = TRUE;
    nearest->empty = FALSE;
    nearest->value = obstacle->distance;
    nearest->x = obstacle->box.x + obstacle->box.width / 2;
    nearest->y = obstacle->box.y + obstacle->box.height / 2;
    nearest->found.confidence = obstacle->probability;
  }
}
