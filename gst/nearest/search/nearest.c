/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/nearest/search/nearest.h"

#include "gst/nearest/search/plane.h"
#include "gst/nearest/search/surface.h"

#include <math.h>
#include <string.h>

#define BLOCKS 48        /* across and down, at most */
#define SMALLEST_BLOCK 8 /* pixels */
#define AROUND_PLACE 2.0 /* sides of the smallest surface, to each side of the place */

typedef struct
{
  guint64 x, y, confidence; /* sums */
  guint count;
} Block;

struct _GstStereoNearestFinder
{
  GstStereoRankTable table;
  GstStereoGrid grid;
  GstStereoSurface surface;

  Block blocks[BLOCKS * BLOCKS]; /* of the surface's pixels that are not farther than its threshold */
  gint block;                    /* side, pixels */
};

GstStereoNearestFinder *
gst_stereo_nearest_finder_new (void)
{
  return g_new0 (GstStereoNearestFinder, 1);
}

void
gst_stereo_nearest_finder_free (GstStereoNearestFinder *finder)
{
  gst_stereo_grid_clear (&finder->grid);
  gst_stereo_surface_clear (&finder->surface);
  g_free (finder);
}

/* ---- the pixels of a surface ------------------------------------------------------------- */

static void
add_pixel (GstStereoNearestFinder *finder, const GstStereoDepthView *view, gint x, gint y)
{
  Block *block = &finder->blocks[(y - view->y) / finder->block * BLOCKS + (x - view->x) / finder->block];

  block->x += (guint64) x;
  block->y += (guint64) y;
  block->confidence += view->confidence ? view->confidence[(gssize) y * view->confidence_stride + x] : 255;
  block->count++;
}

/* The samples of a cell that are at @least or nearer. */
static void
add_cell (GstStereoNearestFinder *finder, const GstStereoDepthView *view, guint32 cell, guint least)
{
  const GstStereoGrid *grid = &finder->grid;
  gint row = (gint) cell / grid->stride - 1, column = (gint) cell % grid->stride - 1;

  for (gint j = row * grid->side; j < MIN ((row + 1) * grid->side, grid->down); j++)
    for (gint i = column * grid->side; i < MIN ((column + 1) * grid->side, grid->across); i++) {
      gint x = view->x + i * grid->step, y = view->y + j * grid->step;

      if (gst_stereo_grid_rank (view, x, y, finder->table.smaller_is_nearer) >= least)
        add_pixel (finder, view, x, y);
    }
}

/* Reads the pixels of the surface that are not farther than its threshold. */
static void
add_surface (GstStereoNearestFinder *finder, const GstStereoDepthView *view)
{
  const GstStereoSurface *surface = &finder->surface;
  guint least = finder->table.alike[surface->rank];
  gint side = MAX (view->width, view->height);

  finder->block = MAX (SMALLEST_BLOCK, (side + BLOCKS - 1) / BLOCKS);
  memset (finder->blocks, 0, sizeof finder->blocks);
  for (guint i = 0; i < surface->count; i++)
    if (finder->grid.ranks[surface->cells[i]] >= least)
      add_cell (finder, view, surface->cells[i], least);
}

static void
place (const GstStereoNearestFinder *finder, GstStereoNearestFound *nearest)
{
  const Block *best = finder->blocks;

  for (guint i = 1; i < BLOCKS * BLOCKS; i++)
    if (finder->blocks[i].count > best->count)
      best = &finder->blocks[i];
  nearest->x = (gint) ((best->x + best->count / 2) / best->count);
  nearest->y = (gint) ((best->y + best->count / 2) / best->count);
  nearest->confidence = (gdouble) best->confidence / (255.0 * best->count);
}

/* ---- distance ---------------------------------------------------------------------------- */

/* The sample in the middle of a cell, if it is part of the surface around the place. */
static void
add_middle (const GstStereoNearestFinder *finder, const GstStereoDepthView *view, guint32 cell, gint radius,
    const GstStereoNearestFound *nearest, GstStereoPlane *plane)
{
  const GstStereoGrid *grid = &finder->grid;
  const GstStereoRankTable *table = &finder->table;
  gint middle = grid->side / 2, row = (gint) cell / grid->stride - 1, column = (gint) cell % grid->stride - 1;
  gint i = column * grid->side + middle, j = row * grid->side + middle;
  gint x = view->x + i * grid->step, y = view->y + j * grid->step;

  if (i >= grid->across || j >= grid->down || ABS (x - nearest->x) > radius || ABS (y - nearest->y) > radius)
    return;
  guint rank = gst_stereo_grid_rank (view, x, y, table->smaller_is_nearer);
  if (rank >= table->around[finder->surface.rank] && table->around[rank] <= finder->surface.rank)
    gst_stereo_plane_add (plane, x - nearest->x, y - nearest->y, table->nearness[rank]);
}

/* The sample of the surface at its place: that of a plane through the surface around it. The threshold itself is nearer than
 * the truth, because it is found at the pixels whose errors make them near. */
static guint
sample_at_place (
    const GstStereoNearestFinder *finder, const GstStereoDepthView *view, const GstStereoNearestFound *nearest)
{
  const GstStereoSurface *surface = &finder->surface;
  gint pixels = (gint) ceil (AROUND_PLACE * sqrt ((gdouble) finder->grid.needed)) * finder->grid.step;
  guint least = finder->table.around[surface->rank], rank = surface->rank;
  GstStereoPlane plane = { 0 };

  for (guint i = 0; i < surface->count; i++)
    if (finder->grid.ranks[surface->cells[i]] >= least)
      add_middle (finder, view, surface->cells[i], pixels, nearest, &plane);
  if (plane.count > 0)
    rank = gst_stereo_rank_table_closest (
        &finder->table, gst_stereo_plane_at_origin (&plane, gst_stereo_grid_pitch (&finder->grid)));
  return gst_stereo_rank_sample (rank, finder->table.smaller_is_nearer);
}

/* ---- search ------------------------------------------------------------------------------ */

gboolean
gst_stereo_nearest_find (
    GstStereoNearestFinder *finder, const GstStereoDepthView *view, gdouble percentage, GstStereoNearestFound *nearest)
{
  GstStereoGrid *grid = &finder->grid;
  guint64 pixels = (guint64) view->width * (guint64) view->height, samples;

  gst_stereo_grid_shape (grid, view->width, view->height, percentage);
  gst_stereo_rank_table_make (&finder->table, view->meta, gst_stereo_grid_pitch (grid));
  gst_stereo_grid_read (grid, view, &finder->table);
  memset (nearest, 0, sizeof *nearest);
  samples = (guint64) grid->across * (guint64) grid->down;
  nearest->coverage = grid->counting ? (gdouble) grid->seen / (gdouble) grid->counting : 0;
  if (!gst_stereo_surface_find (&finder->surface, grid, &finder->table))
    return FALSE;
  add_surface (finder, view);
  nearest->support = finder->surface.samples * pixels / samples;
  place (finder, nearest);
  nearest->sample = sample_at_place (finder, view, nearest);
  return TRUE;
}
