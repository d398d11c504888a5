/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/ground/objects/assign.h"

/* Rows and columns count from 1 on; 0 stands for none. Behind the columns stands one "none" for each row. */
typedef struct
{
  const gdouble *costs;
  guint rows, columns, all;
  gdouble none;
  gdouble *row_price, *column_price, *least; /* per row, per column, per column */
  guint *owner, *from;                       /* per column: its row; the column before it on a path */
  gboolean *used;                            /* per column */
} Work;

static gdouble
cost_at (const Work *work, guint row, guint column)
{
  return column > work->columns ? work->none : work->costs[(gsize) (row - 1) * work->columns + column - 1];
}

/* The next column on the shortest path from @column, whose prices and those before it are raised. */
static guint
step (Work *work, guint column)
{
  guint row = work->owner[column], next = 0;
  gdouble raise = G_MAXDOUBLE;

  work->used[column] = TRUE;
  for (guint c = 1; c <= work->all; c++) {
    gdouble left;

    if (work->used[c])
      continue;
    left = cost_at (work, row, c) - work->row_price[row] - work->column_price[c];
    if (left < work->least[c]) {
      work->least[c] = left;
      work->from[c] = column;
    }
    if (work->least[c] < raise) {
      raise = work->least[c];
      next = c;
    }
  }
  for (guint c = 0; c <= work->all; c++)
    if (work->used[c]) {
      work->row_price[work->owner[c]] += raise;
      work->column_price[c] -= raise;
    } else {
      work->least[c] -= raise;
    }
  return next;
}

/* Gives @row a column; others change theirs for it. */
static void
place (Work *work, guint row)
{
  guint column = 0;

  for (guint c = 0; c <= work->all; c++) {
    work->least[c] = G_MAXDOUBLE;
    work->used[c] = FALSE;
  }
  work->owner[0] = row;
  do
    column = step (work, column);
  while (work->owner[column]);
  for (; column; column = work->from[column])
    work->owner[column] = work->owner[work->from[column]];
}

void
gst_stereo_ground_assign (const gdouble *costs, guint rows, guint columns, gdouble none, gint *taken)
{
  guint all = columns + rows;
  Work work = { costs, rows, columns, all, none, g_new0 (gdouble, rows + 1), g_new0 (gdouble, all + 1),
    g_new0 (gdouble, all + 1), g_new0 (guint, all + 1), g_new0 (guint, all + 1), g_new0 (gboolean, all + 1) };

  for (guint row = 1; row <= rows; row++)
    place (&work, row);
  for (guint row = 0; row < rows; row++)
    taken[row] = -1;
  for (guint c = 1; c <= columns; c++)
    if (work.owner[c])
      taken[work.owner[c] - 1] = (gint) c - 1;
  g_free (work.row_price);
  g_free (work.column_price);
  g_free (work.least);
  g_free (work.owner);
  g_free (work.from);
  g_free (work.used);
}
