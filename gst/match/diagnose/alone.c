/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/alone.h"

#include <math.h>

#define BANDS GST_STEREO_VIEW_BANDS
#define CELLS GST_STEREO_ALONE_CELLS
#define LEVELS 1024 /* of the noise: squared grey levels */
#define CHANCE 5.0  /* standard deviations of noise: a cell may move */
#define LEAST 10.0  /* squared grey levels: an encoder changes no more */
#define ROUGH 6.0   /* times the noise, and ROUGHEST squared grey levels: bright parts have more noise than dark ones */
#define ROUGHEST 40.0
#define SURE 2.5        /* times what may be chance: a cell moves */
#define LEAST_SURE 40.0 /* squared grey levels */
#define OVERLAP 2.0     /* of the noise of neighbouring pixels */
#define LOOKS 3         /* that show it: a drop that hits a lens is in two */
#define MEMORY 10       /* looks, after which a view that has moved alone may be found to stand still */
#define IDLE 2          /* looks between them that show nothing */

/* The noise of a view. */
typedef struct
{
  gdouble square; /* of the changes in most cells */
  gdouble chance; /* a mean product that noise does not give */
} Noise;

typedef struct
{
  gint rows, width;
  const GstStereoViewReader *reader;
  GstStereoViewChange cells[BANDS][CELLS];
  Noise noise;
} View;

static GstStereoViewChange
measure_cell (const View *view, guint age, gint band, gint cell)
{
  const GstStereoViewPart part = { band * view->rows / BANDS, (band + 1) * view->rows / BANDS,
    cell * view->width / CELLS, (cell + 1) * view->width / CELLS };

  return gst_stereo_view_reader_compare (view->reader, age, &part);
}

static void
measure_cells (View *view, guint age)
{
  guint counts[LEVELS] = { 0 }, level = 0;
  gdouble pixels = MAX (1.0, view->rows / BANDS * (view->width / CELLS));

  for (gint band = 0; band < BANDS; band++)
    for (gint cell = 0; cell < CELLS; cell++) {
      view->cells[band][cell] = measure_cell (view, age, band, cell);
      counts[(guint) MIN (view->cells[band][cell].square, LEVELS - 1)]++;
    }
  for (guint below = counts[0]; below < BANDS * CELLS / 2; below += counts[level])
    level++;
  view->noise.square = level;
  /* where nearly all moves, noise is not known */
  view->noise.chance = level == LEVELS - 1 ? G_MAXDOUBLE : MAX (LEAST, CHANCE * level * sqrt (OVERLAP / pixels));
}

/* Where a band moves for sure: a bit for each of the cells @first to @end. The place that something has left moved too, but is
 * as it was at the earlier look @age. */
static guint32
find_places (const View *view, guint age, gint band, gdouble least, gint first, gint end)
{
  guint32 places = 0;

  for (gint cell = first; cell < end; cell++)
    if (fabs (view->cells[band][cell].product) > least && fabs (measure_cell (view, age, band, cell).product) > least)
      places |= (guint32) 1 << cell;
  return places;
}

static gboolean
moves (const View *view, gint band, gdouble least)
{
  gboolean moves = FALSE;

  for (gint cell = 0; cell < CELLS; cell++)
    moves = moves || fabs (view->cells[band][cell].product) > least;
  return moves;
}

static gboolean
may_move (const View *view, gint band)
{
  gboolean rough = FALSE;

  for (gint cell = 0; cell < CELLS; cell++)
    rough = rough || view->cells[band][cell].square > ROUGH * view->noise.square + ROUGHEST;
  return rough || moves (view, band, view->noise.chance);
}

/* What stood still is live again if it moves for sure; before that is known, if it may move. */
static void
add_band (GstStereoAloneBand *band, guint32 places, gboolean may_move, gboolean moves)
{
  gboolean known = band->looks >= LOOKS;
  guint32 near = band->places | band->places << 1 | band->places >> 1;

  if (known ? moves : may_move || (!places && ++band->idle > IDLE)) {
    *band = (GstStereoAloneBand){ 0 };
  } else if (places) {
    band->looks = near & places || known ? band->looks + 1 : 1;
    band->places = places;
    band->idle = 0;
  }
}

static void
add_look (GstStereoAloneBand *bands, const View *own, const View *other, guint age, gint first, gint end)
{
  /* what this view shows of that, with another exposure too, is less than a third of it */
  gdouble least = MAX (LEAST_SURE, SURE * MAX (own->noise.chance, other->noise.chance));

  for (gint band = 0; band < BANDS; band++)
    add_band (&bands[band], find_places (other, age, band, least, first, end), may_move (own, band),
        moves (own, band, SURE * own->noise.chance));
}

/* The most bands in a row in which so many looks show the other view moving alone. */
static guint
count_bands (const GstStereoAloneBand *bands, guint looks)
{
  guint run = 0, longest = 0;

  for (gint band = 0; band < BANDS; band++) {
    run = bands[band].looks >= looks ? run + 1 : 0;
    longest = MAX (longest, run);
  }
  return longest;
}

gboolean
gst_stereo_alone_is_suspicious (const GstStereoAlone *alone)
{
  return count_bands (alone->bands[0], 1) > 1 || count_bands (alone->bands[1], 1) > 1;
}

/* Each view has moved alone lately, here or there, as in snow: what is not known yet begins anew. */
static void
forget_what_is_mutual (GstStereoAlone *alone)
{
  for (guint v = 0; v < 2; v++)
    alone->lately[v] = count_bands (alone->bands[!v], 1) ? MEMORY : MAX (1, alone->lately[v]) - 1;
  for (guint v = 0; v < 2; v++)
    for (gint band = 0; band < BANDS && alone->lately[v]; band++)
      if (alone->bands[v][band].looks < LOOKS)
        alone->bands[v][band] = (GstStereoAloneBand){ 0 };
}

void
gst_stereo_alone_measure (GstStereoAlone *alone, const GstStereoViewReader *const readers[2], gint width, guint age,
    gint max_disparity, GstStereoViewFigures figures[2])
{
  gint unseen = CLAMP (max_disparity, 0, width / 2) * CELLS / width + 1, rows;
  View views[2];

  for (guint v = 0; v < 2; v++)
    figures[v].alone = count_bands (alone->bands[v], LOOKS);
  for (guint v = 0; v < 2; v++) {
    if (!gst_stereo_view_reader_rows (readers[v], age + 1, &rows))
      return;
    views[v] = (View){ .rows = rows, .width = width, .reader = readers[v] };
    measure_cells (&views[v], age);
  }
  add_look (alone->bands[0], &views[0], &views[1], age + 1, 0, CELLS - unseen);
  add_look (alone->bands[1], &views[1], &views[0], age + 1, unseen, CELLS);
  forget_what_is_mutual (alone);
  for (guint v = 0; v < 2; v++)
    figures[v].alone = count_bands (alone->bands[v], LOOKS);
}
