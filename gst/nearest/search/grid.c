/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/nearest/search/grid.h"

#include <math.h>
#include <string.h>

/* Most samples of a grid: rows and columns are skipped until no more remain. Cells of one sample cost more for each
 * sample than large cells. */
#define MOST_SAMPLES (1 << 19)
#define SURFACE_CELLS 16 /* that the smallest surface has: cells are no larger than that allows */

void
gst_stereo_grid_clear (GstStereoGrid *grid)
{
  g_free (grid->ranks);
  g_free (grid->counts);
  g_free (grid->planes[0]);
  memset (grid, 0, sizeof *grid);
}

static gint
parts (gint length, gint part)
{
  return (length + part - 1) / part;
}

/* Grows the memory, and never shrinks it: regions may change with every frame. */
static void
ensure_room (GstStereoGrid *grid)
{
  guint planes = G_N_ELEMENTS (grid->planes), all = planes + G_N_ELEMENTS (grid->rows_nearest);

  if (grid->cells > grid->room) {
    g_free (grid->ranks);
    g_free (grid->counts);
    grid->ranks = g_new (guint16, grid->cells);
    grid->counts = g_new (guint8, grid->cells);
    grid->room = grid->cells;
  }
  if (grid->columns > grid->row_room) {
    g_free (grid->planes[0]);
    grid->row_room = grid->columns;
    guint16 *memory = g_new (guint16, all * (gsize) grid->row_room);
    for (guint i = 0; i < all; i++, memory += grid->row_room)
      *(i < planes ? &grid->planes[i] : &grid->rows_nearest[i - planes]) = memory;
  }
}

void
gst_stereo_grid_shape (GstStereoGrid *grid, gint width, gint height, gdouble percentage)
{
  grid->step = 1;
  while ((gint64) parts (width, grid->step) * parts (height, grid->step) > MOST_SAMPLES)
    grid->step++;
  grid->across = parts (width, grid->step);
  grid->down = parts (height, grid->step);
  grid->needed = (guint64) MAX (1, ceil ((gdouble) grid->across * grid->down * percentage / 100));
  grid->side = GST_STEREO_GRID_SIDE;
  while (grid->side > 1 && (guint64) (grid->side * grid->side * SURFACE_CELLS) > grid->needed)
    grid->side--;
  grid->columns = parts (grid->across, grid->side);
  grid->rows = parts (grid->down, grid->side);
  grid->stride = grid->columns + 2;
  grid->cells = (gsize) grid->stride * (gsize) (grid->rows + 2);
  ensure_room (grid);
}

/* ---- a row of cells ---------------------------------------------------------------------- */

/* Every @side-th sample of a row of them, from the one at @row on, as ranks. Returns how many are seen. */
static inline guint
read_plane (guint16 *plane, const guint8 *row, const guint8 *confidence, guint least, gint count, gint pitch,
    gboolean wide, gboolean smaller_is_nearer)
{
  guint seen = 0;

  for (gint i = 0; i < count; i++) {
    gint x = i * pitch;
    guint sample = wide ? (guint) row[2 * x] | (guint) row[2 * x + 1] << 8 : row[x];

    /* no branch: it would depend on the picture, and be slow */
    sample = confidence && confidence[x] < least ? 0 : sample;
    plane[i] = (guint16) gst_stereo_sample_rank (sample, smaller_is_nearer);
    seen += sample != 0;
  }
  return seen;
}

/* Takes the excluded samples out of what read_plane() read. */
static void
exclude_samples (GstStereoGrid *grid, guint16 *plane, const guint8 *mask, gint count, gint pitch)
{
  guint seen = 0, excluded = 0;

  for (gint i = 0; i < count; i++) {
    gboolean out = mask[i * pitch] == 0;

    excluded += out;
    seen += out && plane[i];
    plane[i] = out ? 0 : plane[i];
  }
  grid->seen -= seen;
  grid->counting -= excluded;
}

/* One sample of each cell of a row: that at @i, @j in it. */
static void
read_samples (GstStereoGrid *grid, const GstStereoDepthView *view, gint row, gint i, gint j, gboolean smaller)
{
  guint16 *plane = grid->planes[j * grid->side + i];
  gint y = view->y + (row * grid->side + j) * grid->step, x = view->x + i * grid->step;
  gint count = row * grid->side + j < grid->down ? parts (grid->across - i, grid->side) : 0;
  gint pitch = gst_stereo_grid_pitch (grid);

  if (count > 0) {
    const guint8 *samples = view->samples + (gssize) y * view->stride + (gssize) x * (view->wide ? 2 : 1);
    const guint8 *confidence = view->confidence && view->min_confidence ?
        view->confidence + (gssize) y * view->confidence_stride + x :
        NULL;
    guint least = view->min_confidence;

    if (view->wide && smaller)
      grid->seen += read_plane (plane, samples, confidence, least, count, pitch, TRUE, TRUE);
    else if (view->wide)
      grid->seen += read_plane (plane, samples, confidence, least, count, pitch, TRUE, FALSE);
    else
      grid->seen += read_plane (plane, samples, confidence, least, count, pitch, FALSE, smaller);
    if (view->mask)
      exclude_samples (grid, plane, view->mask + (gssize) y * view->mask_stride + x, count, pitch);
  }
  /* cells at the right and lower edge may lack samples */
  if (count < grid->columns)
    memset (plane + count, 0, (gsize) (grid->columns - count) * sizeof *plane);
}

/* The nearest three samples of each cell, sorted. */
static void
sort_row (GstStereoGrid *grid)
{
  guint16 *restrict first = grid->rows_nearest[0], *restrict second = grid->rows_nearest[1];
  guint16 *restrict third = grid->rows_nearest[2];

  for (gint i = 0; i < grid->side * grid->side; i++) {
    const guint16 *restrict plane = grid->planes[i];

    if (i == 0)
      memset (first, 0, 3 * (gsize) grid->row_room * sizeof *first);
    for (gint c = 0; c < grid->columns; c++) {
      guint16 value = plane[c], a = first[c], b = second[c], d = third[c];

      third[c] = MAX (d, MIN (b, value));
      second[c] = MAX (b, MIN (a, value));
      first[c] = MAX (a, value);
    }
  }
}

/* How many samples of each cell are about as near as the cell, or nearer. */
static void
count_row (GstStereoGrid *grid, const guint16 *restrict ranks, guint8 *restrict counts, const GstStereoRankTable *table)
{
  guint16 *restrict least = grid->rows_nearest[0];

  for (gint c = 0; c < grid->columns; c++)
    least[c] = table->beside[ranks[c]];
  for (gint c = 0; c < grid->columns; c++)
    counts[c] = 0;
  for (gint i = 0; i < grid->side * grid->side; i++) {
    const guint16 *restrict plane = grid->planes[i];

    for (gint c = 0; c < grid->columns; c++)
      counts[c] = (guint8) (counts[c] + (plane[c] >= least[c]));
  }
}

void
gst_stereo_grid_read (GstStereoGrid *grid, const GstStereoDepthView *view, const GstStereoRankTable *table)
{
  grid->seen = 0;
  grid->counting = (guint64) grid->across * (guint64) grid->down;
  memset (grid->ranks, 0, (gsize) grid->stride * sizeof *grid->ranks);
  memset (grid->ranks + (gsize) grid->stride * (gsize) (grid->rows + 1), 0, (gsize) grid->stride * sizeof *grid->ranks);
  for (gint row = 0; row < grid->rows; row++) {
    gsize start = (gsize) grid->stride * (gsize) (row + 1);
    guint16 *ranks = grid->ranks + start;

    for (gint j = 0; j < grid->side; j++)
      for (gint i = 0; i < grid->side; i++)
        read_samples (grid, view, row, i, j, table->smaller_is_nearer);
    sort_row (grid);
    ranks[0] = ranks[grid->columns + 1] = 0;
    memcpy (ranks + 1, grid->rows_nearest[grid->side - 1], (gsize) grid->columns * sizeof *ranks);
    count_row (grid, ranks + 1, grid->counts + start + 1, table);
  }
}
