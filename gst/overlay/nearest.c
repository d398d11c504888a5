/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/nearest.h"

#include "gst/overlay/surface.h"

#include <string.h>

#define BLOCKS 48        /* across and down, at most */
#define SMALLEST_BLOCK 8 /* pixels */

typedef struct
{
  guint64 x, y, confidence; /* sums */
  guint count;
} Block;

struct _GstStereoNearestFinder
{
  GstStereoReach reach;
  GstStereoGrid grid;
  GstStereoSurface surface;

  /* of the surface's pixels that are as near as it is */
  guint32 counts[GST_STEREO_RANKS];
  guint low, high; /* ranks counted; all other counters are 0 */
  guint64 total;
  Block blocks[BLOCKS * BLOCKS];
  gint block; /* side, pixels */
};

GstStereoNearestFinder *
gst_stereo_nearest_finder_new (void)
{
  GstStereoNearestFinder *finder = g_new0 (GstStereoNearestFinder, 1);

  finder->low = GST_STEREO_RANKS;
  return finder;
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
add_pixel (GstStereoNearestFinder *finder, const GstStereoNearestView *view, gint x, gint y, guint rank)
{
  Block *block = &finder->blocks[(y - view->y) / finder->block * BLOCKS + (x - view->x) / finder->block];

  finder->counts[rank]++;
  finder->low = MIN (finder->low, rank);
  finder->high = MAX (finder->high, rank);
  finder->total++;
  block->x += (guint64) x;
  block->y += (guint64) y;
  block->confidence += view->confidence ? view->confidence[(gssize) y * view->confidence_stride + x] : 255;
  block->count++;
}

/* The samples of a cell that are at @least or nearer. */
static void
add_cell (GstStereoNearestFinder *finder, const GstStereoNearestView *view, guint32 cell, guint least)
{
  const GstStereoGrid *grid = &finder->grid;
  gint row = (gint) cell / grid->stride - 1, column = (gint) cell % grid->stride - 1;

  for (gint j = row * grid->side; j < MIN ((row + 1) * grid->side, grid->down); j++)
    for (gint i = column * grid->side; i < MIN ((column + 1) * grid->side, grid->across); i++) {
      gint x = view->x + i * grid->step, y = view->y + j * grid->step;
      guint rank = gst_stereo_grid_rank (view, x, y, finder->reach.smaller_is_nearer);

      if (rank >= least)
        add_pixel (finder, view, x, y, rank);
    }
}

/* Reads the pixels of the surface that are as near as it is. */
static void
add_surface (GstStereoNearestFinder *finder, const GstStereoNearestView *view)
{
  const GstStereoSurface *surface = &finder->surface;
  guint least = finder->reach.alike[surface->rank];
  gint side = MAX (view->width, view->height);

  if (finder->low <= finder->high)
    memset (finder->counts + finder->low, 0, (finder->high - finder->low + 1) * sizeof *finder->counts);
  finder->low = GST_STEREO_RANKS;
  finder->high = 0;
  finder->total = 0;
  finder->block = MAX (SMALLEST_BLOCK, (side + BLOCKS - 1) / BLOCKS);
  memset (finder->blocks, 0, sizeof finder->blocks);
  for (guint i = 0; i < surface->count; i++)
    if (finder->grid.ranks[surface->cells[i]] >= least)
      add_cell (finder, view, surface->cells[i], least);
}

/* The median. */
static guint
middle_rank (const GstStereoNearestFinder *finder)
{
  guint rank = finder->high;
  guint64 seen = finder->counts[rank];

  while (2 * seen < finder->total)
    seen += finder->counts[--rank];
  return rank;
}

static void
place (const GstStereoNearestFinder *finder, GstStereoNearest *nearest)
{
  const Block *best = finder->blocks;

  for (guint i = 1; i < BLOCKS * BLOCKS; i++)
    if (finder->blocks[i].count > best->count)
      best = &finder->blocks[i];
  nearest->x = (gint) ((best->x + best->count / 2) / best->count);
  nearest->y = (gint) ((best->y + best->count / 2) / best->count);
  nearest->confidence = (gdouble) best->confidence / (255.0 * best->count);
}

/* ---- search ------------------------------------------------------------------------------ */

gboolean
gst_stereo_nearest_find (
    GstStereoNearestFinder *finder, const GstStereoNearestView *view, gdouble percentage, GstStereoNearest *nearest)
{
  GstStereoGrid *grid = &finder->grid;
  guint64 pixels = (guint64) view->width * (guint64) view->height, samples;

  gst_stereo_grid_shape (grid, view->width, view->height, percentage);
  gst_stereo_reach_make (&finder->reach, view->meta, gst_stereo_grid_pitch (grid));
  gst_stereo_grid_read (grid, view, &finder->reach);
  memset (nearest, 0, sizeof *nearest);
  samples = (guint64) grid->across * (guint64) grid->down;
  nearest->coverage = (gdouble) grid->seen / (gdouble) samples;
  if (!gst_stereo_surface_find (&finder->surface, grid, &finder->reach))
    return FALSE;
  add_surface (finder, view);
  nearest->sample = gst_stereo_reach_sample (middle_rank (finder), finder->reach.smaller_is_nearer);
  nearest->support = finder->surface.samples * pixels / samples;
  place (finder, nearest);
  return TRUE;
}
