/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/views/alone.h"

#include <math.h>
#include <string.h>

#define BANDS GST_STEREO_VIEW_BANDS
#define CELLS GST_STEREO_VIEW_CELLS
#define BIT(cell) ((guint32) 1 << (cell))
#define LEVELS 1024 /* of the noise: squared grey levels */
#define CHANCE 5.0  /* standard deviations of noise: a cell may move */
#define LEAST 10.0  /* squared grey levels: an encoder changes no more */
#define ROUGH 6.0   /* times the noise, and ROUGHEST squared grey levels: bright parts have more noise than dark ones */
#define ROUGHEST 40.0
#define SURE 2.5        /* times what may be chance: a cell moves */
#define LEAST_SURE 40.0 /* squared grey levels */
#define OVERLAP 2.0     /* of the noise of neighbouring pixels */
#define MEDIAN 0.6745   /* of the size of a number, of its standard deviation */
#define LOOKS 3         /* that show it: a drop that hits a lens is in two */
#define MEMORY 4        /* looks, after which a view that has moved alone may be found to stand still */
#define SUSPICIOUS 4    /* bands in a row */
#define LIVE 2          /* looks in a row in which a still band may move */
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
  const GstStereoBandFigures *bands;
  GstStereoViewChange cells[BANDS][CELLS];
  Noise noise;
} View;

static GstStereoViewChange
measure_cell (const View *view, guint age, gint band, gint cell)
{
  const GstStereoViewPart part = { band, band + 1, cell, cell + 1 };

  return gst_stereo_view_reader_compare (view->reader, age, &part);
}

/* Of the cells. */
static guint
median_of (const guint counts[LEVELS])
{
  guint level = 0;

  for (guint below = counts[0]; below < BANDS * CELLS / 2; below += counts[level])
    level++;
  return level;
}

static void
measure_cells (View *view, guint age)
{
  guint squares[LEVELS] = { 0 }, products[LEVELS] = { 0 };
  gdouble pixels = MAX (1.0, view->rows / BANDS * (view->width / CELLS));

  for (gint band = 0; band < BANDS; band++)
    for (gint cell = 0; cell < CELLS; cell++) {
      view->cells[band][cell] = measure_cell (view, age, band, cell);
      squares[(guint) MIN (view->cells[band][cell].square, LEVELS - 1)]++;
      products[(guint) MIN (fabs (view->cells[band][cell].product), LEVELS - 1)]++;
    }
  view->noise.square = median_of (squares);
  gdouble together = median_of (products);
  /* that of noise whose pixels are independent, or of an encoder's, which changes all of a block at once */
  gdouble deviation = MAX (view->noise.square * sqrt (OVERLAP / pixels), together / MEDIAN);
  /* where nearly all moves, noise is not known */
  gboolean all = view->noise.square == LEVELS - 1 || together >= LEAST_SURE;
  view->noise.chance = all ? G_MAXDOUBLE : MAX (LEAST, CHANCE * deviation);
}

/* A bit for each cell of a band that moves by more than @least. */
static guint32
moving_cells (const View *view, gint band, gdouble least)
{
  guint32 moving = 0;

  for (gint cell = 0; cell < CELLS; cell++)
    if (fabs (view->cells[band][cell].product) > least)
      moving |= BIT (cell);
  return moving;
}

static gboolean
may_move (const View *view, const GstStereoViewChange *change)
{
  return fabs (change->product) > view->noise.chance || change->square > ROUGH * view->noise.square + ROUGHEST;
}

/* A bit for each cell of a band that may move; also since the look @age, where it is not 0. */
static guint32
find_movement (const View *view, gint band, guint age)
{
  guint32 moving = 0;

  for (gint cell = 0; cell < CELLS; cell++) {
    GstStereoViewChange change = age ? measure_cell (view, age, band, cell) : view->cells[band][cell];
    if (may_move (view, &change))
      moving |= BIT (cell);
  }
  return moving;
}

/* The cells of view @v that may show what lies in the @places of the other view. */
static guint32
reach_of (guint32 places, guint v, gint unseen)
{
  guint32 reach = v ? places << 1 : places >> 1;

  for (gint shift = 0; shift <= MIN (unseen, CELLS - 1); shift++)
    reach |= v ? places >> shift : places << shift;
  return reach;
}

/* Where a band moves for sure. The place that something has left moved too, but is as it was at the earlier look @age. */
static guint32
find_places (const View *view, guint age, gint band, gdouble least, gint first, gint end)
{
  guint32 moving = moving_cells (view, band, least), places = 0;

  for (gint cell = first; cell < end; cell++)
    if (moving & BIT (cell) && fabs (measure_cell (view, age, band, cell).product) > least)
      places |= BIT (cell);
  return places;
}

/* Of these places, those that nothing in @moving of view @v answers. */
static guint32
find_unanswered (guint32 places, guint32 moving, guint v, gint unseen)
{
  guint32 unanswered = 0;

  for (gint cell = 0; cell < CELLS; cell++)
    if (places & BIT (cell) && !(reach_of (BIT (cell), v, unseen) & moving))
      unanswered |= BIT (cell);
  return unanswered;
}

/* What stood still is live again if it moves for sure, or may move in two looks in a row; before that is known, if it may move. */
static void
add_band (GstStereoAloneBand *band, guint32 places, gboolean may_move, gboolean moves)
{
  gboolean known = band->looks >= LOOKS;
  guint32 near = band->places | band->places << 1 | band->places >> 1;

  band->live = may_move ? band->live + 1 : 0;
  if (known ? moves || band->live >= LIVE : may_move || (!places && ++band->idle > IDLE)) {
    *band = (GstStereoAloneBand){ 0 };
  } else if (places) {
    band->looks = near & places || known ? band->looks + 1 : 1;
    band->places = places;
    band->idle = 0;
  }
}

/* @exposure: of view @v, as a share of the other view's. TRUE: this look shows the other view moving alone in a band. */
static gboolean
add_look (GstStereoAloneBand *bands, const View views[2], guint v, gdouble exposure, guint age, gint unseen)
{
  const View *own = &views[v], *other = &views[!v];
  gdouble least = MAX (LEAST_SURE, SURE * MAX (own->noise.chance, other->noise.chance)) / (exposure * exposure);
  gboolean alone = FALSE;

  /* nearly all of the view has changed: what stood still in it is over, as that of a cover which is taken away */
  if (own->noise.chance == G_MAXDOUBLE)
    memset (bands, 0, BANDS * sizeof *bands);
  for (gint band = 0; band < BANDS; band++) {
    guint32 may = find_movement (own, band, 0), reach = reach_of (bands[band].places, v, unseen);
    guint32 places = find_places (other, age, band, least, v ? unseen : 0, CELLS - (v ? 0 : unseen));

    places = gst_stereo_band_is_rounded (&other->bands[band], &own->bands[band]) ?
        0 :
        find_unanswered (places, may, v, unseen);
    if (places)
      places = find_unanswered (places, may | find_movement (own, band, age), v, unseen);
    alone = alone || places;
    add_band (
        &bands[band], places, (may & reach) != 0, (moving_cells (own, band, SURE * own->noise.chance) & reach) != 0);
  }
  return alone;
}

/* The most bands in a row in which @least to @most looks show the other view moving alone. */
static guint
count_bands (const GstStereoAloneBand *bands, guint least, guint most)
{
  guint run = 0, longest = 0;

  for (gint band = 0; band < BANDS; band++) {
    run = bands[band].looks >= least && bands[band].looks <= most ? run + 1 : 0;
    longest = MAX (longest, run);
  }
  return longest;
}

gboolean
gst_stereo_alone_is_suspicious (const GstStereoAlone *alone)
{
  return count_bands (alone->bands[0], 1, LOOKS - 1) >= SUSPICIOUS ||
      count_bands (alone->bands[1], 1, LOOKS - 1) >= SUSPICIOUS;
}

/* A view that has moved alone lately itself, as in snow, may stand still by chance: what is not known yet begins anew. */
static void
forget_what_is_mutual (GstStereoAlone *alone)
{
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
    figures[v].alone = count_bands (alone->bands[v], LOOKS, G_MAXUINT);
  for (guint v = 0; v < 2; v++) {
    if (!gst_stereo_view_reader_rows (readers[v], age + 1, &rows))
      return;
    views[v] = (View){ .rows = rows, .width = width, .reader = readers[v], .bands = figures[v].bands };
    measure_cells (&views[v], age);
  }
  for (guint v = 0; v < 2; v++) {
    gdouble exposure = CLAMP (figures[v].brightness / MAX (1, figures[!v].brightness), 0.01, 1);

    alone->lately[!v] = add_look (alone->bands[v], views, v, exposure, age + 1, unseen) ? MEMORY :
                                                                                          MAX (1, alone->lately[!v]) - 1;
  }
  forget_what_is_mutual (alone);
  for (guint v = 0; v < 2; v++)
    figures[v].alone = count_bands (alone->bands[v], LOOKS, G_MAXUINT);
}
