/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/views/cover.h"

#include <math.h>

#define PARTS GST_STEREO_COVER_PARTS
#define RUNS 64 /* of a row, at least */
#define MOST_RUN 16
#define LEAST_RUN 4 /* pixels: more of them leave less of the noise */
#define EVEN 8.0    /* grey levels of standard deviation: what covers a lens has less */
#define UNEVEN 5.0  /* the other view has more */
/* Of the other view's deviation: sound strips have 0.97 of it and more, and stripes 0.5; without rectification 0.36. */
#define SHARE 0.25
/* Parts of a strip that may have a disparity each: a road comes nearer from the horizon to the bottom. */
#define LEVELS 4

typedef struct
{
  gint64 sum, squares, count;
} Moments;

/* The means over the runs of each row, and the moments of each column of them, for each level. */
typedef struct
{
  gint rows, runs;
  guint8 *means; /* of each run */
  Moments *columns[LEVELS];
} Grid;

static void
add_row (Moments *moments, const guint8 *means, gint count)
{
  for (gint i = 0; i < count; i++) {
    moments->sum += means[i];
    moments->squares += means[i] * means[i];
  }
  moments->count += count;
}

static void
add_moments (Moments *moments, const Moments *other)
{
  moments->sum += other->sum;
  moments->squares += other->squares;
  moments->count += other->count;
}

static gdouble
variance_of (const Moments *moments)
{
  gdouble count = (gdouble) MAX (1, moments->count), mean = (gdouble) moments->sum / count;

  return MAX (0, (gdouble) moments->squares / count - mean * mean);
}

static void
grid_init (Grid *grid, const GstStereoViewReader *reader, gint width, gint run)
{
  const guint8 *row = gst_stereo_view_reader_rows (reader, 0, &grid->rows);

  grid->runs = width / run;
  grid->means = g_malloc ((gsize) grid->rows * (gsize) grid->runs);
  for (gint level = 0; level < LEVELS; level++)
    grid->columns[level] = g_new0 (Moments, grid->runs);
  for (gint y = 0; y < grid->rows; y++, row += width)
    for (gint i = 0; i < grid->runs; i++) {
      guint8 *mean = &grid->means[y * grid->runs + i];
      guint sum = 0;
      for (gint x = 0; x < run; x++)
        sum += row[i * run + x];
      *mean = (guint8) (sum / (guint) run);
      add_row (&grid->columns[y * LEVELS / grid->rows][i], mean, 1);
    }
}

static void
grid_clear (Grid *grid)
{
  g_free (grid->means);
  for (gint level = 0; level < LEVELS; level++)
    g_free (grid->columns[level]);
}

static Moments
moments_of_strip (const Grid *grid, gint level, gint first, gint end)
{
  Moments moments = { 0 };

  for (gint i = first; i < end; i++)
    add_moments (&moments, &grid->columns[level][i]);
  return moments;
}

static gdouble
deviation_of_strip (const Grid *grid, gint first, gint end)
{
  Moments moments = { 0 };

  for (gint level = 0; level < LEVELS; level++) {
    Moments part = moments_of_strip (grid, level, first, end);
    add_moments (&moments, &part);
  }
  return sqrt (variance_of (&moments));
}

static gdouble
deviation_of_stripe (const Grid *grid, gint part, gint first, gint end)
{
  Moments moments = { 0 };

  for (gint y = part * grid->rows / PARTS; y < (part + 1) * grid->rows / PARTS; y++)
    add_row (&moments, grid->means + y * grid->runs + first, end - first);
  return sqrt (variance_of (&moments));
}

static gboolean
lacks (gdouble own, gdouble other)
{
  return own < EVEN && other > UNEVEN && own < SHARE * other;
}

/* The least deviation of the other view where it could show a strip, within its levels. 0: that may lie outside. @direction: 1 =
 * farther to the right than in the view itself, -1 = to the left. @reach: by so many runs, and a part of one, so that an even
 * strip may leave one run less that is even. */
static gdouble
least_deviation (const Grid *other, gint first, gint end, gint direction, gint reach)
{
  gdouble sum = 0;

  first += direction < 0;
  end -= direction > 0;
  for (gint level = 0; level < LEVELS; level++) {
    gdouble least = G_MAXDOUBLE;
    for (gint run = -1; run <= reach; run++) {
      gint shift = direction * run;
      gboolean inside = first + shift >= 0 && end + shift <= other->runs;
      Moments moments;
      if (!inside && run >= 0)
        return 0;
      if (!inside)
        continue;
      moments = moments_of_strip (other, level, first + shift, end + shift);
      least = MIN (least, variance_of (&moments));
    }
    sum += least;
  }
  return sqrt (sum / LEVELS);
}

static gboolean
lacks_strip (const Grid *own, const Grid *other, gint part, gint direction, gint reach)
{
  gint first = part * own->runs / PARTS, end = (part + 1) * own->runs / PARTS;

  return end > first &&
      lacks (deviation_of_strip (own, first, end), least_deviation (other, first, end, direction, reach));
}

/* The columns that each view sees for sure, whatever the disparity. */
static gboolean
lacks_stripe (const Grid *own, const Grid *other, gint part, gint direction, gint reach)
{
  gint first = direction > 0 ? 0 : reach, end = own->runs - (direction > 0 ? reach : 0);

  return own->runs > 2 * reach &&
      lacks (deviation_of_stripe (own, part, first, end), deviation_of_stripe (other, part, reach, other->runs - reach));
}

void
gst_stereo_cover_measure (
    const GstStereoViewReader *const readers[2], gint width, gint max_disparity, GstStereoViewFigures figures[2])
{
  gint run = MIN (width / RUNS, MOST_RUN), reach = run ? CLAMP (max_disparity, 0, width) / run + 1 : 0;
  Grid grids[2];

  for (guint v = 0; v < 2; v++)
    figures[v].covered = 0;
  if (run < LEAST_RUN)
    return;
  for (guint v = 0; v < 2; v++)
    grid_init (&grids[v], readers[v], width, run);
  for (guint v = 0; v < 2; v++) {
    guint strips = 0, stripes = 0;

    for (gint part = 0; part < PARTS; part++) {
      strips = lacks_strip (&grids[v], &grids[!v], part, v ? 1 : -1, reach) ? strips + 1 : 0;
      stripes = lacks_stripe (&grids[v], &grids[!v], part, v ? 1 : -1, reach) ? stripes + 1 : 0;
      figures[v].covered = MAX (figures[v].covered, MAX (strips, stripes));
    }
  }
  for (guint v = 0; v < 2; v++) {
    /* the edges of a cover are uneven, and fog is even: that is no cover of the other view */
    if (figures[v].covered < figures[!v].covered)
      figures[v].covered = 0;
    grid_clear (&grids[v]);
  }
}
