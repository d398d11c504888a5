/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/gst/nearest/naive_surface.h"

#include <math.h>

typedef struct
{
  const GstStereoDepthView *view;
  gint step, side, columns, rows;
  gint *ranks, *counts, *labels; /* per cell */
} Cells;

/* ---- samples ----------------------------------------------------------------------------- */

static guint
sample_of (const GstStereoDepthView *view, gint x, gint y)
{
  const guint8 *row = view->samples + y * view->stride;

  if (view->confidence && view->confidence[y * view->confidence_stride + x] < view->min_confidence)
    return 0;
  return view->wide ? GST_READ_UINT16_LE (row + 2 * x) : row[x];
}

static gboolean
is_excluded (const GstStereoDepthView *view, gint x, gint y)
{
  return view->mask && view->mask[y * view->mask_stride + x] == 0;
}

static gint
rank_of (const GstStereoDepthView *view, guint sample)
{
  return sample && view->meta->kind == GST_STEREO_OUTPUT_KIND_DEPTH ? 65536 - (gint) sample : (gint) sample;
}

/* Pixels of disparity; or, where that is not known, steps of 6 % of the distance. */
static gdouble
nearness_of (const GstStereoDepthView *view, gint rank)
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

/* Whether a farther pixel is nearly as near: @times that by which a slanted surface may be said to be as near. */
static gboolean
is_alike (const Cells *cells, gint near, gint far, gint times)
{
  gboolean known = !isnan (gst_stereo_meta_get_disparity (cells->view->meta, 1));
  gdouble nearness = nearness_of (cells->view, near);
  gdouble most = known ? MIN (0.5, 0.015 * MAX (0, nearness + cells->view->meta->principal_offset)) : 0.25;

  return far >= near || nearness_of (cells->view, far) >= nearness - times * most;
}

/* ---- cells ------------------------------------------------------------------------------- */

static gint
compare (gconstpointer a, gconstpointer b)
{
  return *(const gint *) b - *(const gint *) a;
}

/* The ranks of a cell's samples, the nearest first; those that are not seen or excluded are 0. Returns how many there
 * are, and adds to @counting those that are not excluded. */
static gint
read_cell (const Cells *cells, gint column, gint row, gint ranks[9], guint64 *counting)
{
  const GstStereoDepthView *view = cells->view;
  gint count = 0;

  for (gint j = row * cells->side; j < (row + 1) * cells->side; j++)
    for (gint i = column * cells->side; i < (column + 1) * cells->side; i++)
      if (i * cells->step < view->width && j * cells->step < view->height) {
        gint x = view->x + i * cells->step, y = view->y + j * cells->step;

        ranks[count++] = is_excluded (view, x, y) ? 0 : rank_of (view, sample_of (view, x, y));
        *counting += !is_excluded (view, x, y);
      }
  qsort (ranks, (gsize) count, sizeof *ranks, compare);
  return count;
}

static gdouble
read_cells (Cells *cells)
{
  guint64 seen = 0, counting = 0;

  for (gint row = 0; row < cells->rows; row++)
    for (gint column = 0; column < cells->columns; column++) {
      gint ranks[9], at = row * cells->columns + column, count = read_cell (cells, column, row, ranks, &counting);

      cells->ranks[at] = count >= cells->side ? ranks[cells->side - 1] : 0;
      cells->counts[at] = 0;
      for (gint i = 0; i < count; i++) {
        seen += ranks[i] > 0;
        cells->counts[at] += ranks[i] > 0 &&
            (ranks[i] >= cells->ranks[at] || is_beside (cells, cells->ranks[at], ranks[i]));
      }
    }
  return counting ? (gdouble) seen / (gdouble) counting : 0;
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

/* Solves three linear equations. FALSE where they say the same. */
static gboolean
solve (gdouble rows[3][4])
{
  for (gint i = 0; i < 3; i++) {
    gint best = i;

    for (gint k = i + 1; k < 3; k++)
      if (fabs (rows[k][i]) > fabs (rows[best][i]))
        best = k;
    if (fabs (rows[best][i]) < 1e-9)
      return FALSE;
    for (gint c = 0; c < 4; c++) {
      gdouble value = rows[i][c];
      rows[i][c] = rows[best][c];
      rows[best][c] = value;
    }
    for (gint k = 0; k < 3; k++)
      for (gint c = 3; k != i && c >= i; c--)
        rows[k][c] -= rows[i][c] * rows[k][i] / rows[i][i];
  }
  for (gint i = 0; i < 3; i++)
    rows[i][3] /= rows[i][i];
  return TRUE;
}

/* Nearness at the place: of a plane through the points (x, y, nearness), or their mean where they lie on a line. The points of a
 * square of 16 pixels together bear witness once, of half a pixel, against a slope to the right of a twentieth. */
static gdouble
fit (const GArray *points, gint pitch)
{
  const gdouble (*p)[3] = (gpointer) points->data;
  gdouble mean[3] = { 0 }, xx = 0, xy = 0, yy = 0, rows[3][4] = { { 0 } };
  guint n = points->len / 3;

  for (guint i = 0; i < n; i++)
    for (gint k = 0; k < 3; k++)
      mean[k] += p[i][k] / n;
  for (guint i = 0; i < n; i++) {
    const gdouble terms[3] = { 1, p[i][0], p[i][1] };

    xx += (p[i][0] - mean[0]) * (p[i][0] - mean[0]) / n;
    xy += (p[i][0] - mean[0]) * (p[i][1] - mean[1]) / n;
    yy += (p[i][1] - mean[1]) * (p[i][1] - mean[1]) / n;
    for (gint k = 0; k < 9; k++)
      rows[k / 3][k % 3] += terms[k / 3] * terms[k % 3];
    for (gint k = 0; k < 3; k++)
      rows[k][3] += terms[k] * p[i][2];
  }
  rows[1][1] += 100.0 * (16 * 16) / (pitch * pitch);
  if (xx < 1 || yy < 1 || xy * xy >= 0.99 * xx * yy || !solve (rows))
    return mean[2];
  return rows[0][3];
}

/* The whole surface that @start is part of, and how near it is at @x, @y. */
static void
add_surface (NaiveSurface *naive, Cells *cells, gint start, gint threshold, guint64 needed, gint x, gint y)
{
  gint most = (gint) ceil (2 * sqrt ((gdouble) needed)) * cells->step, pitch = cells->step * cells->side;
  GArray *points = g_array_new (FALSE, FALSE, sizeof (gdouble));
  const GstStereoDepthView *view = cells->view;

  memset (cells->labels, 0, (gsize) (cells->columns * cells->rows) * sizeof *cells->labels);
  naive->surfaces[naive->count].samples = fill (cells, start, 1, 1);
  for (gint row = 0; row < cells->rows; row++)
    for (gint column = 0; column < cells->columns; column++) {
      gint at = row * cells->columns + column, rank;
      gint left = view->x + column * pitch + cells->side / 2 * cells->step;
      gint top = view->y + row * pitch + cells->side / 2 * cells->step;
      gdouble point[3] = { left - x, top - y, 0 };

      if (cells->labels[at] != 1 || left >= view->x + view->width || top >= view->y + view->height ||
          fabs (point[0]) > most || fabs (point[1]) > most || is_excluded (view, left, top))
        continue;
      rank = rank_of (view, sample_of (view, left, top));
      point[2] = rank ? nearness_of (view, rank) : 0;
      if (rank && is_alike (cells, threshold, cells->ranks[at], 6) && is_alike (cells, threshold, rank, 6) &&
          is_alike (cells, rank, threshold, 6))
        g_array_append_vals (points, point, 3);
    }
  naive->surfaces[naive->count].nearness = points->len ? fit (points, pitch) : nearness_of (view, threshold);
  naive->count++;
  g_array_free (points, TRUE);
}

void
naive_surface_find (
    NaiveSurface *naive, const GstStereoDepthView *view, gint step, gint side, guint64 needed, gint x, gint y)
{
  gint pitch = step * side, columns = (view->width + pitch - 1) / pitch, rows = (view->height + pitch - 1) / pitch;
  gint starts[NAIVE_MOST], low = 0, high = 65536;
  Cells cells = { view, step, side, columns, rows, g_new (gint, columns * rows), g_new (gint, columns * rows),
    g_new (gint, columns * rows) };

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
  guint count = naive->found ? parts_at (&cells, low, needed, starts) : 0;
  for (guint i = 0; i < count; i++)
    add_surface (naive, &cells, starts[i], low, needed, x, y);
  g_free (cells.ranks);
  g_free (cells.counts);
  g_free (cells.labels);
}

gdouble
naive_surface_nearness (const GstStereoDepthView *view, guint sample)
{
  return nearness_of (view, rank_of (view, sample));
}
