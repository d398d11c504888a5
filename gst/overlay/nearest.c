/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/overlay/nearest.h"

#include <math.h>
#include <string.h>

#define SAMPLES 65536
/* Rows are skipped until about this many pixels remain: more would not make a percentile better, but slower. */
#define ENOUGH_PIXELS (1 << 20)
#define CELLS 48        /* across and down, at most */
#define SMALLEST_CELL 8 /* pixels */

typedef struct
{
  guint64 x, y, confidence; /* sums */
  guint count;
} Cell;

struct _GstStereoNearestFinder
{
  /* Separate for even and odd columns: neighbours are mostly equal, and to increment one counter twice in a row is
   * slow. */
  guint32 counts[2][SAMPLES];
  guint low, high; /* samples counted; all other counters are 0 */
  guint64 total;
  Cell cells[CELLS * CELLS];
  gint cell; /* side, pixels */
};

GstStereoNearestFinder *
gst_stereo_nearest_finder_new (void)
{
  GstStereoNearestFinder *finder = g_new0 (GstStereoNearestFinder, 1);

  finder->low = SAMPLES;
  return finder;
}

void
gst_stereo_nearest_finder_free (GstStereoNearestFinder *finder)
{
  g_free (finder);
}

static gint
row_step (const GstStereoNearestView *view)
{
  return 1 + (gint) ((gsize) view->width * (gsize) view->height / (ENOUGH_PIXELS + 1));
}

static inline guint
sample_of (const guint8 *row, gboolean wide, gint x)
{
  return wide ? (guint) row[2 * x] | (guint) row[2 * x + 1] << 8 : row[x];
}

/* Samples of low confidence are counted as 0, like invalid ones: a branch that depends on the picture would be slow. */
static inline void
count_row (
    GstStereoNearestFinder *finder, const guint8 *row, const guint8 *confidence, guint least, gint width, gboolean wide)
{
  guint low = SAMPLES - 1, high = 0;

  for (gint x = 0; x < width; x++) {
    guint sample = sample_of (row, wide, x);

    sample = confidence && confidence[x] < least ? 0 : sample;
    finder->counts[x & 1][sample]++;
    /* 0 becomes the largest number */
    low = MIN (low, (sample - 1) & (SAMPLES - 1));
    high = MAX (high, sample);
  }
  finder->low = MIN (finder->low, low + 1);
  finder->high = MAX (finder->high, high);
}

static void
count (GstStereoNearestFinder *finder, const GstStereoNearestView *view)
{
  gint step = row_step (view);

  if (finder->low < SAMPLES) {
    gsize size = (finder->high - finder->low + 1) * sizeof (guint32);
    memset (finder->counts[0] + finder->low, 0, size);
    memset (finder->counts[1] + finder->low, 0, size);
  }
  finder->counts[0][0] = finder->counts[1][0] = 0;
  finder->low = SAMPLES;
  finder->high = 0;
  for (gint y = view->y; y < view->y + view->height; y += step) {
    const guint8 *row = view->samples + (gssize) y * view->stride + (gssize) view->x * (view->wide ? 2 : 1);
    const guint8 *confidence = view->confidence && view->min_confidence ?
        view->confidence + (gssize) y * view->confidence_stride + view->x :
        NULL;

    if (view->wide)
      count_row (finder, row, confidence, view->min_confidence, view->width, TRUE);
    else
      count_row (finder, row, confidence, view->min_confidence, view->width, FALSE);
  }
  finder->total = 0;
  for (guint i = finder->low; i <= finder->high && i < SAMPLES; i++)
    finder->total += finder->counts[0][i] + finder->counts[1][i];
}

/* The sample of the pixel that is the @rank-th nearest; @rank: at least 1. */
static guint
ranked (const GstStereoNearestFinder *finder, guint64 rank, gboolean larger_is_nearer)
{
  guint sample = larger_is_nearer ? finder->high : finder->low;
  guint64 seen = 0;

  for (;;) {
    seen += finder->counts[0][sample] + finder->counts[1][sample];
    if (seen >= rank || sample == (larger_is_nearer ? finder->low : finder->high))
      return sample;
    sample += larger_is_nearer ? -1u : 1u;
  }
}

/* Adds the pixels of a row with samples from @first to @last to their cells. */
static inline void
place_row (
    GstStereoNearestFinder *finder, const GstStereoNearestView *view, gint y, guint first, guint last, gboolean wide)
{
  const guint8 *row = view->samples + (gssize) y * view->stride;
  const guint8 *confidence = view->confidence ? view->confidence + (gssize) y * view->confidence_stride : NULL;
  Cell *cells = finder->cells + (y - view->y) / finder->cell * CELLS;

  for (gint x = view->x; x < view->x + view->width; x++) {
    guint sample = sample_of (row, wide, x);

    if (G_UNLIKELY (sample - first <= last - first) && !(confidence && confidence[x] < view->min_confidence)) {
      Cell *cell = &cells[(x - view->x) / finder->cell];
      cell->x += (guint64) x;
      cell->y += (guint64) y;
      cell->confidence += confidence ? confidence[x] : 255;
      cell->count++;
    }
  }
}

static void
place (GstStereoNearestFinder *finder, const GstStereoNearestView *view, GstStereoNearest *nearest)
{
  guint first = view->larger_is_nearer ? nearest->sample : finder->low;
  guint last = view->larger_is_nearer ? finder->high : nearest->sample;
  gint step = row_step (view), side = MAX (view->width, view->height);
  const Cell *best = finder->cells;

  finder->cell = MAX (SMALLEST_CELL, (side + CELLS - 1) / CELLS);
  memset (finder->cells, 0, sizeof finder->cells);
  for (gint y = view->y; y < view->y + view->height; y += step) {
    if (view->wide)
      place_row (finder, view, y, first, last, TRUE);
    else
      place_row (finder, view, y, first, last, FALSE);
  }
  for (guint i = 1; i < CELLS * CELLS; i++)
    if (finder->cells[i].count > best->count)
      best = &finder->cells[i];
  nearest->x = (gint) ((best->x + best->count / 2) / best->count);
  nearest->y = (gint) ((best->y + best->count / 2) / best->count);
  nearest->confidence = (gdouble) best->confidence / (255.0 * best->count);
}

gboolean
gst_stereo_nearest_find (
    GstStereoNearestFinder *finder, const GstStereoNearestView *view, gdouble percentile, GstStereoNearest *nearest)
{
  gdouble rank;

  count (finder, view);
  if (finder->total == 0)
    return FALSE;
  rank = ceil ((gdouble) finder->total * percentile / 100);
  nearest->sample = ranked (finder, (guint64) MAX (1, rank), view->larger_is_nearer);
  place (finder, view, nearest);
  return TRUE;
}
