/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/nearest/search/surface.h"

#include <string.h>

#define NONE G_MAXUINT32
#define NEIGHBOURS 8

void
gst_stereo_surface_clear (GstStereoSurface *surface)
{
  g_free (surface->order);
  memset (surface, 0, sizeof *surface);
}

static void
ensure_room (GstStereoSurface *surface, gsize cells)
{
  if (cells <= surface->room)
    return;
  g_free (surface->order);
  surface->order = g_new (guint32, 4 * cells);
  surface->parents = surface->order + cells;
  surface->sums = surface->order + 2 * cells;
  surface->cells = surface->order + 3 * cells;
  surface->room = cells;
}

/* The eight neighbours of a cell: a thin slanted object is connected by corners alone. */
static void
list_neighbours (const GstStereoGrid *grid, gint32 offsets[NEIGHBOURS])
{
  const gint32 below = grid->stride;
  const gint32 all[NEIGHBOURS] = { -below - 1, -below, -below + 1, -1, 1, below - 1, below, below + 1 };

  memcpy (offsets, all, sizeof all);
}

/* Sorts the cells that are seen by their ranks. Returns how many there are. */
static guint
sort_cells (GstStereoSurface *surface, const GstStereoGrid *grid)
{
  guint32 *starts = surface->starts, sum = 0;

  memset (starts, 0, sizeof surface->starts);
  for (gsize i = 0; i < grid->cells; i++)
    starts[grid->ranks[i]]++;
  starts[0] = 0;
  for (guint rank = 1; rank < GST_STEREO_RANKS; rank++) {
    guint32 count = starts[rank];
    starts[rank] = sum;
    sum += count;
  }
  for (gsize i = 0; i < grid->cells; i++)
    if (grid->ranks[i])
      surface->order[starts[grid->ranks[i]]++] = (guint32) i;
  return sum;
}

static guint32
root_of (guint32 *parents, guint32 cell)
{
  while (parents[cell] != cell) {
    parents[cell] = parents[parents[cell]];
    cell = parents[cell];
  }
  return cell;
}

/* Adds a cell to the sets of its neighbours that are as near or nearer, which become one. Returns its samples. */
static guint32
add_cell (GstStereoSurface *surface, const GstStereoGrid *grid, const GstStereoRankTable *table,
    const gint32 offsets[NEIGHBOURS], guint32 cell)
{
  guint32 *parents = surface->parents, *sums = surface->sums, root = cell;
  guint rank = grid->ranks[cell];

  parents[cell] = cell;
  sums[cell] = grid->counts[cell];
  for (guint i = 0; i < NEIGHBOURS; i++) {
    guint32 neighbour = cell + (guint32) offsets[i], other;

    if (parents[neighbour] == NONE || table->beside[grid->ranks[neighbour]] > rank)
      continue;
    other = root_of (parents, neighbour);
    if (other == root)
      continue;
    if (sums[other] > sums[root]) {
      guint32 larger = other;
      other = root;
      root = larger;
    }
    parents[other] = root;
    sums[root] += sums[other];
  }
  return sums[root];
}

/* All that is connected with @start, be it nearer or farther. The sets of cells are lost. */
static void
flood (GstStereoSurface *surface, const GstStereoGrid *grid, const GstStereoRankTable *table,
    const gint32 offsets[NEIGHBOURS], guint32 start)
{
  const guint16 *ranks = grid->ranks;
  guint32 *taken = surface->parents;

  memset (taken, 0, grid->cells * sizeof *taken);
  surface->cells[0] = start;
  surface->count = 1;
  surface->samples = 0;
  taken[start] = 1;
  for (guint done = 0; done < surface->count; done++) {
    guint32 cell = surface->cells[done];
    guint rank = ranks[cell], least = table->beside[rank];

    surface->samples += grid->counts[cell];
    for (guint i = 0; i < NEIGHBOURS; i++) {
      guint32 neighbour = cell + (guint32) offsets[i];
      guint other = ranks[neighbour];

      if (!other || taken[neighbour] || (other < rank ? other < least : table->beside[other] > rank))
        continue;
      taken[neighbour] = 1;
      surface->cells[surface->count++] = neighbour;
    }
  }
}

gboolean
gst_stereo_surface_find (GstStereoSurface *surface, const GstStereoGrid *grid, const GstStereoRankTable *table)
{
  gint32 offsets[NEIGHBOURS];

  ensure_room (surface, grid->cells);
  list_neighbours (grid, offsets);
  guint count = sort_cells (surface, grid);
  memset (surface->parents, 0xFF, grid->cells * sizeof *surface->parents);
  while (count-- > 0) {
    guint32 cell = surface->order[count];

    if (add_cell (surface, grid, table, offsets, cell) < grid->needed)
      continue;
    surface->rank = grid->ranks[cell];
    flood (surface, grid, table, offsets, cell);
    return TRUE;
  }
  return FALSE;
}
