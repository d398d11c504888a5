/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/objects/free.h"

#include "gst/meta/found.h"

#define SHOWN 3     /* a row shows the ground where one in so many of its samples do */
#define HIDES 0.5   /* of the rows of the smallest obstacle: fewer cannot hide it, for its upper half stands out */
#define LEAST_GAP 2 /* rows of samples */

/* The samples of one column of the picture. */
typedef struct
{
  gint from, to;
} Columns;

static Columns
columns_of (const GstStereoGroundGrid *grid, guint i, guint count)
{
  gint from = (gint) ((gint64) grid->columns * i / count), to = (gint) ((gint64) grid->columns * (i + 1) / count);
  Columns columns = { MIN (from, grid->columns - 1), MAX (from + 1, to) };

  return columns;
}

static gboolean
shows_ground (const GstStereoGroundGrid *grid, const guint8 *classes, Columns columns, gint row)
{
  gint ground = 0;

  for (gint i = columns.from; i < columns.to; i++)
    ground += classes[gst_stereo_ground_grid_at (grid, i, row)] == GST_STEREO_GROUND_GROUND;
  return ground > 0 && ground * SHOWN >= columns.to - columns.from;
}

/* The lowest row that the mask does not exclude: below it is the vehicle's own bonnet. What a mask excludes elsewhere may
 * hide something, and stays unseen. */
static gint
lowest_row (const GstStereoGroundGrid *grid, Columns columns)
{
  for (gint row = grid->rows - 1; row > 0; row--)
    for (gint i = columns.from; i < columns.to; i++)
      if (!grid->excluded[gst_stereo_ground_grid_at (grid, i, row)])
        return row;
  return 0;
}

/* The largest disparity at which something stands in these columns. */
static gdouble
obstacle_in (const GstStereoObstacleFinder *finder, Columns columns)
{
  gdouble nearest = 0;

  for (gint i = columns.from; i < columns.to; i++)
    nearest = MAX (nearest, gst_stereo_obstacle_nearest (finder, i));
  return nearest;
}

/* The disparity of the nearest object that may stand where the ground was seen last, at @ground. The lowest part of an
 * object cannot be distinguished from the ground. */
static gdouble
nearest_foot (const GstStereoGroundScene *scene, gdouble ground)
{
  gdouble low = MIN (0.9, GST_STEREO_GROUND_LOW * scene->sizes.min_height / scene->camera_height);

  return MAX (ground + GST_STEREO_GROUND_NOISE, ground / (1 - low));
}

static gdouble
free_distance (const GstStereoGroundScene *scene, const guint8 *classes, gdouble obstacle, Columns columns)
{
  const GstStereoGroundGrid *grid = scene->grid;
  gdouble middle = ((columns.from + columns.to) * grid->step - 1) / 2.0;
  gdouble far = scene->camera.focal * scene->camera.baseline / scene->sizes.max_distance, last = 0;
  gint gap = 0;

  for (gint row = lowest_row (grid, columns); row >= 0; row--) {
    gdouble ground = gst_stereo_ground_scene_at (scene, middle, gst_stereo_ground_grid_pixel (grid, row));

    if (ground <= MAX (obstacle, far))
      break;
    if (shows_ground (grid, classes, columns, row)) {
      last = ground;
      gap = 0;
    } else if (++gap >
        MAX (LEAST_GAP, HIDES * gst_stereo_ground_scene_rows (scene, scene->sizes.min_height, ground) / grid->step)) {
      last = last > 0 ? nearest_foot (scene, last) : 0;
      break;
    }
  }
  return last > 0 ? gst_stereo_ground_scene_distance (scene, last) : GST_STEREO_GROUND_UNKNOWN;
}

void
gst_stereo_ground_free_distances (
    const GstStereoGroundScene *scene, const GstStereoObstacleFinder *finder, gdouble *distances, guint count)
{
  const guint8 *classes = gst_stereo_obstacle_classes (finder);

  for (guint i = 0; i < count; i++) {
    Columns columns = columns_of (scene->grid, i, count);

    distances[i] = free_distance (scene, classes, obstacle_in (finder, columns), columns);
  }
}
