/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/objects/obstacles.h"

#include "gst/ground/objects/cells.h"

#include <math.h>
#include <string.h>

#define ALIKE 1.0f /* px: disparities of neighbours on one object, or */
#define ALIKE_PART 0.03f
#define NEIGHBOURS 2 /* of eight: wrong samples seldom have as many */
#define NOWHERE -1e9f
#define LEAST_FILLED 2u /* samples of a cell, and */
#define FILLED 0.3      /* the share of those that the smallest obstacle has there */
#define PATCH 3         /* levels: patches of an object may be off by so many */
#define DEEP 4000.0     /* mm: an object is no deeper, or */
#define DEEP_PART 0.15  /* than that part of its distance, which a matcher may err by far away */

struct _GstStereoObstacleFinder
{
  guint8 *classes;
  gfloat *upright; /* disparities of the samples that stand; elsewhere NOWHERE */
  guint8 *alike;   /* of one row: how many neighbours stand and are as near */
  gsize room;
  GArray *standing; /* GstStereoGroundSample, with neighbours */
  GstStereoGroundCells cells;
  GstStereoGroundRule rules[GST_STEREO_GROUND_MOST_LEVELS];
  guint *starts;                 /* per object, and one more: its first sample */
  GstStereoGroundSample *sorted; /* by object */
  guint starts_room, sorted_room;
  guint8 *is_obstacle; /* per object */
  gfloat *nearest;     /* per column of cells */
  guint columns_room;
  GArray *found; /* GstStereoObstacle */
};

GstStereoObstacleFinder *
gst_stereo_obstacle_finder_new (void)
{
  GstStereoObstacleFinder *finder = g_new0 (GstStereoObstacleFinder, 1);

  finder->standing = g_array_new (FALSE, FALSE, sizeof (GstStereoGroundSample));
  finder->found = g_array_new (FALSE, FALSE, sizeof (GstStereoObstacle));
  return finder;
}

void
gst_stereo_obstacle_finder_free (GstStereoObstacleFinder *finder)
{
  g_free (finder->classes);
  g_free (finder->upright);
  g_free (finder->alike);
  g_array_unref (finder->standing);
  gst_stereo_ground_cells_clear (&finder->cells);
  g_free (finder->starts);
  g_free (finder->sorted);
  g_free (finder->is_obstacle);
  g_free (finder->nearest);
  g_array_unref (finder->found);
  g_free (finder);
}

/* ---- samples ----------------------------------------------------------------------------- */

static void
ensure_room (GstStereoObstacleFinder *finder, const GstStereoGroundGrid *grid)
{
  gsize all = (gsize) grid->stride * (gsize) (grid->rows + 2);

  if (all <= finder->room)
    return;
  finder->classes = g_renew (guint8, finder->classes, all);
  finder->upright = g_renew (gfloat, finder->upright, all);
  finder->alike = g_renew (guint8, finder->alike, all);
  finder->room = all;
}

static void
mark_upright (GstStereoObstacleFinder *finder, const GstStereoGroundGrid *grid)
{
  gsize all = (gsize) grid->stride * (gsize) (grid->rows + 2);
  const gfloat *restrict disparity = grid->disparity;
  const guint8 *restrict classes = finder->classes;
  gfloat *restrict upright = finder->upright;

  for (gsize i = 0; i < all; i++) {
    gfloat d = disparity[i];

    upright[i] = classes[i] >= GST_STEREO_GROUND_STANDING ? d : NOWHERE;
  }
}

/* Of a row of samples, how many of the eight neighbours stand and are as near. */
static void
count_alike (const gfloat *restrict row, gint stride, gint count, guint8 *restrict alike)
{
  const gfloat *restrict above = row - stride, *restrict below = row + stride;

  for (gint i = 0; i < count; i++) {
    gfloat d = row[i], tolerance = MAX (ALIKE, ALIKE_PART * d);

    alike[i] = (guint8) ((fabsf (above[i - 1] - d) <= tolerance) + (fabsf (above[i] - d) <= tolerance) +
        (fabsf (above[i + 1] - d) <= tolerance) + (fabsf (row[i - 1] - d) <= tolerance) +
        (fabsf (row[i + 1] - d) <= tolerance) + (fabsf (below[i - 1] - d) <= tolerance) +
        (fabsf (below[i] - d) <= tolerance) + (fabsf (below[i + 1] - d) <= tolerance));
  }
}

static void
gather (GstStereoObstacleFinder *finder, const GstStereoGroundGrid *grid)
{
  const guint8 *levels = gst_stereo_ground_levels ();

  mark_upright (finder, grid);
  gst_stereo_ground_cells_start (&finder->cells, grid->columns);
  g_array_set_size (finder->standing, (guint) (grid->columns * grid->rows));
  GstStereoGroundSample *last = (GstStereoGroundSample *) finder->standing->data;
  for (gint row = 0; row < grid->rows; row++) {
    gsize place = gst_stereo_ground_grid_at (grid, 0, row);
    const gfloat *upright = finder->upright + place;

    count_alike (upright, grid->stride, grid->columns, finder->alike);
    for (gint column = 0; column < grid->columns; column++) {
      if (upright[column] <= 0 || finder->alike[column] < NEIGHBOURS)
        continue;
      *last++ = (GstStereoGroundSample){ column, row };
      GstStereoGroundCell *cell = &finder->cells.all[gst_stereo_ground_cells_at (
          &finder->cells, column, gst_stereo_ground_level_in (levels, upright[column]))];
      cell->standing++;
      cell->tall += finder->classes[place + (gsize) column] == GST_STEREO_GROUND_TALL;
    }
  }
  g_array_set_size (finder->standing, (guint) (last - (GstStereoGroundSample *) finder->standing->data));
}

/* ---- objects ----------------------------------------------------------------------------- */

/* How many of @samples have to be filled. */
static guint
needed (gdouble samples)
{
  return MAX (LEAST_FILLED, (guint) MIN (samples * FILLED, G_MAXINT16));
}

/* How many samples the smallest obstacle has in a column of cells, of its part that counts, and how deep an object may
 * be. */
static void
make_rules (GstStereoObstacleFinder *finder, const GstStereoGroundScene *scene)
{
  for (gint level = 0; level < gst_stereo_ground_level_count (); level++) {
    gdouble d = gst_stereo_ground_level_disparity (level);
    gdouble distance = gst_stereo_ground_scene_distance (scene, d);
    gdouble rows = gst_stereo_ground_scene_rows (scene, scene->sizes.min_height, d) / scene->grid->step;
    gdouble standing = (1 - GST_STEREO_GROUND_LOW) * rows * GST_STEREO_GROUND_BIN;
    gdouble tall = (1 - GST_STEREO_GROUND_TOP) * rows * GST_STEREO_GROUND_BIN * (2 * GST_STEREO_GROUND_GAP + 1);
    gdouble back = gst_stereo_ground_scene_disparity (scene, distance + MAX (DEEP, DEEP_PART * distance));

    finder->rules[level].needed = needed (standing);
    finder->rules[level].tall = needed (tall);
    finder->rules[level].farthest = MAX (0, MIN (gst_stereo_ground_level (back), level - PATCH));
  }
}

static guint32
object_of (const GstStereoObstacleFinder *finder, const GstStereoGroundGrid *grid, const guint8 *levels,
    const GstStereoGroundSample *sample)
{
  gfloat d = grid->disparity[gst_stereo_ground_grid_at (grid, sample->column, sample->row)];

  return finder->cells
      .objects[gst_stereo_ground_cells_at (&finder->cells, sample->column, gst_stereo_ground_level_in (levels, d))];
}

/* Puts the samples of each object side by side. */
static void
sort_samples (GstStereoObstacleFinder *finder, const GstStereoGroundGrid *grid)
{
  const GstStereoGroundSample *all = (const GstStereoGroundSample *) finder->standing->data;
  const guint8 *levels = gst_stereo_ground_levels ();
  guint count = finder->cells.count;

  if (count + 2 > finder->starts_room) {
    finder->starts_room = count + 2;
    finder->starts = g_renew (guint, finder->starts, finder->starts_room);
    finder->is_obstacle = g_renew (guint8, finder->is_obstacle, finder->starts_room);
  }
  if (finder->standing->len > finder->sorted_room) {
    finder->sorted_room = finder->standing->len;
    finder->sorted = g_renew (GstStereoGroundSample, finder->sorted, finder->sorted_room);
  }
  /* counts lie two places on: their sums are then the places of each object's next sample, one place on */
  memset (finder->starts, 0, (count + 2) * sizeof *finder->starts);
  for (guint i = 0; i < finder->standing->len; i++) {
    guint32 object = object_of (finder, grid, levels, &all[i]);

    if (object != GST_STEREO_GROUND_NO_OBJECT)
      finder->starts[object + 2]++;
  }
  for (guint object = 0; object < count; object++)
    finder->starts[object + 2] += finder->starts[object + 1];
  for (guint i = 0; i < finder->standing->len; i++) {
    guint32 object = object_of (finder, grid, levels, &all[i]);

    if (object != GST_STEREO_GROUND_NO_OBJECT)
      finder->sorted[finder->starts[object + 1]++] = all[i];
  }
}

static void
note_nearest (GstStereoObstacleFinder *finder)
{
  const GstStereoGroundCells *cells = &finder->cells;

  if ((guint) cells->columns > finder->columns_room) {
    finder->columns_room = (guint) cells->columns;
    finder->nearest = g_renew (gfloat, finder->nearest, finder->columns_room);
  }
  for (gint column = 0; column < cells->columns; column++) {
    const guint32 *objects = cells->objects + (gsize) column * (gsize) cells->levels;
    gint level = cells->levels - 1;

    while (level >= 0 && (objects[level] == GST_STEREO_GROUND_NO_OBJECT || !finder->is_obstacle[objects[level]]))
      level--;
    finder->nearest[column] = level < 0 ? 0 : (gfloat) gst_stereo_ground_level_disparity (level);
  }
}

static gint
by_distance (gconstpointer a, gconstpointer b)
{
  gdouble x = ((const GstStereoObstacle *) a)->distance, y = ((const GstStereoObstacle *) b)->distance;

  return x < y ? -1 : x > y;
}

const GstStereoObstacle *
gst_stereo_obstacle_find (GstStereoObstacleFinder *finder, const GstStereoGroundScene *scene, guint *count)
{
  const GstStereoGroundGrid *grid = scene->grid;

  ensure_room (finder, grid);
  /* the frame around the samples is not seen */
  memset (finder->classes, GST_STEREO_GROUND_UNSEEN, (gsize) grid->stride * (gsize) (grid->rows + 2));
  gst_stereo_ground_classify (scene, finder->classes);
  gather (finder, grid);
  make_rules (finder, scene);
  gst_stereo_ground_cells_connect (&finder->cells, finder->rules);
  sort_samples (finder, grid);
  g_array_set_size (finder->found, 0);
  for (guint object = 0; object < finder->cells.count; object++) {
    guint from = finder->starts[object], to = finder->starts[object + 1];
    GstStereoObstacle one;

    finder->is_obstacle[object] = gst_stereo_ground_measure (scene, finder->sorted + from, to - from, &one);
    if (finder->is_obstacle[object])
      g_array_append_val (finder->found, one);
  }
  note_nearest (finder);
  g_array_sort (finder->found, by_distance);
  *count = finder->found->len;
  return (const GstStereoObstacle *) finder->found->data;
}

const guint8 *
gst_stereo_obstacle_classes (const GstStereoObstacleFinder *finder)
{
  return finder->classes;
}

gdouble
gst_stereo_obstacle_nearest (const GstStereoObstacleFinder *finder, gint column)
{
  return finder->nearest[column / GST_STEREO_GROUND_BIN];
}
