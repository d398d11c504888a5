/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/gst/overlay/naive_surface.h"

#include <math.h>

typedef struct
{
  const GstStereoNearestView *view;
  gint step, side, columns, rows;
  gint *ranks, *counts, *labels; /* per cell */
} Cells;

/* ---- samples ----------------------------------------------------------------------------- */

static guint
sample_of (const GstStereoNearestView *view, gint x, gint y)
{
  const guint8 *row = view->samples + y * view->stride;

  if (view->confidence && view->confidence[y * view->confidence_stride + x] < view->min_confidence)
    return 0;
  return view->wide ? GST_READ_UINT16_LE (row + 2 * x) : row[x];
}

static gint
rank_of (const GstStereoNearestView *view, guint sample)
{
  return sample && view->meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH ? 65536 - (gint) sample : (gint) sample;
}

/* Pixels of disparity; or, where that is not known, steps of 6 % of the distance. */
static gdouble
nearness_of (const GstStereoNearestView *view, gint rank)
{
  guint sample = (guint) (view->meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH ? 65536 - rank : rank);
  gdouble disparity = gst_stereo_meta_get_disparity (view->meta, sample);

  return isnan (disparity) ? log (65536.0 / sample) / 0.06 : disparity;
}

/* Whether a farther pixel lies beside a nearer one on a surface. */
static gboolean
is_beside (const Cells *cells, gint near, gint far)
{
  gdouble most = 1 + 0.5 * (cells->step * cells->side);

  return near - far <= 1 || nearness_of (cells->view, far) >= nearness_of (cells->view, near) - most;
}

static gboolean
is_alike (const Cells *cells, gint near, gint far)
{
  gboolean known = !isnan (gst_stereo_meta_get_disparity (cells->view->meta, 1));
  gdouble nearness = nearness_of (cells->view, near);
  gdouble most = known ? MIN (0.5, 0.015 * MAX (0, nearness + cells->view->meta->principal_offset)) : 0.25;

  return far >= near || nearness_of (cells->view, far) >= nearness - most;
}

/* ---- cells ------------------------------------------------------------------------------- */

static gint
compare (gconstpointer a, gconstpointer b)
{
  return *(const gint *) b - *(const gint *) a;
}

/* The ranks of a cell's samples, the nearest first; those that do not count are 0. Returns how many there are. */
static gint
read_cell (const Cells *cells, gint column, gint row, gint ranks[9])
{
  const GstStereoNearestView *view = cells->view;
  gint count = 0;

  for (gint j = row * cells->side; j < (row + 1) * cells->side; j++)
    for (gint i = column * cells->side; i < (column + 1) * cells->side; i++)
      if (i * cells->step < view->width && j * cells->step < view->height)
        ranks[count++] = rank_of (view, sample_of (view, view->x + i * cells->step, view->y + j * cells->step));
  qsort (ranks, (gsize) count, sizeof *ranks, compare);
  return count;
}

static gdouble
read_cells (Cells *cells)
{
  guint64 seen = 0, all = 0;

  for (gint row = 0; row < cells->rows; row++)
    for (gint column = 0; column < cells->columns; column++) {
      gint ranks[9], at = row * cells->columns + column, count = read_cell (cells, column, row, ranks);

      cells->ranks[at] = count >= cells->side ? ranks[cells->side - 1] : 0;
      cells->counts[at] = 0;
      for (gint i = 0; i < count; i++) {
        all++;
        seen += ranks[i] > 0;
        cells->counts[at] += ranks[i] > 0 &&
            (ranks[i] >= cells->ranks[at] || is_beside (cells, cells->ranks[at], ranks[i]));
      }
    }
  return (gdouble) seen / (gdouble) all;
}

/* Labels all cells of at least @threshold that are connected with @start. Returns their samples. */
static guint64
fill (Cells *cells, gint start, gint threshold, gint label)
{
  GArray *todo = g_array_new (FALSE, FALSE, sizeof (gint));
  guint64 samples = 0;

  g_array_append_val (todo, start);
  cells->labels[start] = label;
  while (todo->len > 0) {
    gint at = g_array_index (todo, gint, todo->len - 1), row = at / cells->columns, column = at % cells->columns;

    g_array_set_size (todo, todo->len - 1);
    samples += (guint64) cells->counts[at];
    for (gint j = MAX (row - 1, 0); j <= MIN (row + 1, cells->rows - 1); j++)
      for (gint i = MAX (column - 1, 0); i <= MIN (column + 1, cells->columns - 1); i++) {
        gint other = j * cells->columns + i, a = cells->ranks[at], b = cells->ranks[other];

        if (b == 0 || b < threshold || cells->labels[other] == label || !is_beside (cells, MAX (a, b), MIN (a, b)))
          continue;
        cells->labels[other] = label;
        g_array_append_val (todo, other);
      }
  }
  g_array_free (todo, TRUE);
  return samples;
}

/* A cell of each part that is connected at @threshold and has enough samples. Returns how many there are. */
static guint
parts_at (Cells *cells, gint threshold, guint64 needed, gint starts[NAIVE_MOST])
{
  gint count = cells->columns * cells->rows, label = 0;
  guint found = 0;

  memset (cells->labels, 0, (gsize) count * sizeof *cells->labels);
  for (gint at = 0; at < count; at++)
    if (cells->ranks[at] >= threshold && cells->labels[at] == 0 && fill (cells, at, threshold, ++label) >= needed &&
        found < NAIVE_MOST)
      starts[found++] = at;
  return found;
}

/* ---- surfaces ---------------------------------------------------------------------------- */

/* The whole surface that @start is part of, and the median of what is as near as @threshold. */
static void
add_surface (NaiveSurface *naive, Cells *cells, gint start, gint threshold)
{
  gint count = cells->columns * cells->rows, pitch = cells->step * cells->side;
  GArray *near = g_array_new (FALSE, FALSE, sizeof (gint));
  const GstStereoNearestView *view = cells->view;
  gint width = view->x + view->width, height = view->y + view->height, middle;

  memset (cells->labels, 0, (gsize) count * sizeof *cells->labels);
  naive->surfaces[naive->count].samples = fill (cells, start, 1, 1);
  for (gint y = view->y; y < height; y++)
    for (gint x = view->x; x < width; x++) {
      gint at = (y - view->y) / pitch * cells->columns + (x - view->x) / pitch;
      gint rank = rank_of (view, sample_of (view, x, y));

      if (cells->labels[at] == 1 && (y - view->y) % cells->step == 0 && (x - view->x) % cells->step == 0 && rank &&
          is_alike (cells, threshold, cells->ranks[at]) && is_alike (cells, threshold, rank))
        g_array_append_val (near, rank);
    }
  g_array_sort (near, compare);
  middle = g_array_index (near, gint, (near->len - 1) / 2);
  naive->surfaces[naive->count].sample = (guint) (view->meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH ? 65536 - middle :
                                                                                                     middle);
  naive->count++;
  g_array_free (near, TRUE);
}

void
naive_surface_find (NaiveSurface *naive, const GstStereoNearestView *view, gint step, gint side, guint64 needed)
{
  gint pitch = step * side, columns = (view->width + pitch - 1) / pitch, rows = (view->height + pitch - 1) / pitch;
  gint starts[NAIVE_MOST], low = 0, high = 65536;
  Cells cells = { view, step, side, columns, rows, g_new (gint, columns * rows), g_new (gint, columns * rows),
    g_new (gint, columns * rows) };
  guint count;

  memset (naive, 0, sizeof *naive);
  naive->coverage = read_cells (&cells);
  /* what is connected at a threshold is so at a smaller one */
  while (high - low > 1) {
    gint middle = (low + high) / 2;

    if (parts_at (&cells, middle, needed, starts) > 0)
      low = middle;
    else
      high = middle;
  }
  naive->found = low > 0;
  count = naive->found ? parts_at (&cells, low, needed, starts) : 0;
  for (guint i = 0; i < count; i++)
    add_surface (naive, &cells, starts[i], low);
  g_free (cells.ranks);
  g_free (cells.counts);
  g_free (cells.labels);
}
