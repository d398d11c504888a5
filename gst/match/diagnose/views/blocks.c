/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/views/blocks.h"

#include <math.h>

#include "gst/match/diagnose/sort.h"

#define ACROSS 16    /* blocks */
#define NARROWEST 24 /* pixels of a block */
#define DOWN 8       /* blocks */
#define MARGIN 3     /* columns at the sides that are left out */
#define SLOPE 100.0  /* mean square of the difference of neighbours two apart: texture */
#define VARIANCE 100.0
#define ALIKE 0.7         /* correlation of a block with the other view at the same place */
#define ZERO 0.1          /* px */
#define REPEATS 0.9       /* correlation of a block with itself a few pixels away: its place is not known */
#define SHIFTS 16         /* pixels that a pattern may repeat after */
#define CHANGED 4         /* grey levels that a pixel changes by */
#define MOVING 0.3        /* share of such pixels in a block that moves */
#define TOGETHER 0.2      /* correlation of the changes of pixels two apart */
#define STILL 0.25        /* correlation of the bends of what has changed with those of before, and of the other view */
#define FINE 2            /* pixels to the neighbours of a fine bend, */
#define WIDE 4            /* and of a wide one: dirt is out of focus, and has little texture that is finer */
#define AROUND 2          /* px to either side of disparity 0, where the correlation of wide bends is found, too */
#define LAYER 0.3         /* that at disparity 0, of a layer there */
#define PEAK 0.5          /* px from 0 that it may be largest at: texture of the scene pulls it to either side, */
#define MIDDLE 0.25       /* and the median over all such blocks: what lies far away has one disparity in all of them */
#define BEHIND 0.04       /* of the variance: texture that such a layer does not explain, */
#define BEYOND_CHANCE 3.0 /* and in standard deviations of what noise gives */
#define SIDE 8            /* px of an encoder's blocks */
#define STEPS 1.7 /* squared differences across their borders, over the largest at another column; quality 10 has 2 */

/* A part of the rows. */
typedef struct
{
  gint width;       /* of a row */
  gint from, to;    /* rows */
  gint first, last; /* columns, the last one not included */
} Block;

typedef struct
{
  gdouble mean[2], variance[2], covariance;
} Statistics;

static Statistics
statistics_of (const Block *block, const guint8 *a, const guint8 *b, gint shift)
{
  gint64 sum[2] = { 0, 0 }, square[2] = { 0, 0 }, both = 0;
  gdouble count = (gdouble) (block->to - block->from) * (block->last - block->first);
  Statistics m;

  for (gint y = block->from; y < block->to; y++) {
    const guint8 *p = a + (gsize) y * (gsize) block->width, *q = b + (gsize) y * (gsize) block->width + shift;
    for (gint x = block->first; x < block->last; x++) {
      sum[0] += p[x];
      sum[1] += q[x];
      square[0] += p[x] * p[x];
      square[1] += q[x] * q[x];
      both += p[x] * q[x];
    }
  }
  for (guint i = 0; i < 2; i++) {
    m.mean[i] = (gdouble) sum[i] / count;
    m.variance[i] = (gdouble) square[i] / count - m.mean[i] * m.mean[i];
  }
  m.covariance = (gdouble) both / count - m.mean[0] * m.mean[1];
  return m;
}

static gdouble
correlation (const Statistics *m)
{
  gdouble product = m->variance[0] * m->variance[1];

  return product > 0 ? m->covariance / sqrt (product) : 0;
}

static gdouble
slope_of (const Block *block, const guint8 *rows)
{
  gint64 sum = 0;

  for (gint y = block->from; y < block->to; y++) {
    const guint8 *p = rows + (gsize) y * (gsize) block->width;
    for (gint x = block->first; x < block->last; x++)
      sum += (p[x + 1] - p[x - 1]) * (p[x + 1] - p[x - 1]);
  }
  return (gdouble) sum / ((gdouble) (block->to - block->from) * (block->last - block->first));
}

/* Whether the block looks the same some pixels away, as stripes do. */
static gboolean
repeats (const Block *block, const guint8 *rows)
{
  Block part = *block;

  part.last -= SHIFTS;
  for (gint shift = 4; shift <= SHIFTS; shift++) {
    Statistics m = statistics_of (&part, rows, rows, shift);
    if (correlation (&m) > REPEATS)
      return TRUE;
  }
  return FALSE;
}

/* What neither exposure nor a small disparity explains of a block, as a part of its variance. */
typedef struct
{
  gdouble shared; /* neighbours two pixels apart share it, which those of noise do not */
  gdouble doubt;  /* standard deviation of that for noise */
} Rest;

/* The disparity of a block that is nearly the same in both views, px. */
static gdouble
place (const Block *block, const guint8 *left, const guint8 *right, const Statistics *m, gdouble slope, Rest *rest)
{
  gdouble gain = m->covariance / m->variance[0], products = 0, squares = 0, along = 0, count = 0, shift;

  for (gint y = block->from; y < block->to; y++) {
    const guint8 *p = left + (gsize) y * (gsize) block->width, *q = right + (gsize) y * (gsize) block->width;
    for (gint x = block->first; x < block->last; x++)
      along += (p[x + 1] - p[x - 1]) * (q[x] - m->mean[1] - gain * (p[x] - m->mean[0]));
  }
  count = (gdouble) (block->to - block->from) * (block->last - block->first);
  along /= count * slope;
  shift = 2 * along / gain;
  for (gint y = block->from; y < block->to; y++) {
    const guint8 *p = left + (gsize) y * (gsize) block->width, *q = right + (gsize) y * (gsize) block->width;
    for (gint x = block->first; x < block->last - 2; x++) {
      gdouble a = q[x] - m->mean[1] - gain * (p[x] - m->mean[0]) - along * (p[x + 1] - p[x - 1]);
      gdouble b = q[x + 2] - m->mean[1] - gain * (p[x + 2] - m->mean[0]) - along * (p[x + 3] - p[x + 1]);
      products += a * b;
      squares += a * a;
    }
  }
  rest->shared = MAX (0, products / count) / m->variance[1];
  rest->doubt = squares / (count * sqrt (count)) / m->variance[1];
  return shift;
}

/* How much row @p bends at @x, over @step pixels to either side. */
#define BEND(p, x, step) (2 * (p)[x] - (p)[(x) - (step)] - (p)[(x) + (step)])

/* Sums over the bends of two rows. */
typedef struct
{
  gint64 both, square[2];
} Bends;

static inline void
add_bends (Bends *sums, gint one, gint other)
{
  sums->both += one * other;
  sums->square[0] += one * one;
  sums->square[1] += other * other;
}

static gdouble
bends_alike (const Bends *sums)
{
  gdouble product = (gdouble) sums->square[0] * (gdouble) sums->square[1];

  return product > 0 ? (gdouble) sums->both / sqrt (product) : 0;
}

/* The correlation of the bends of two rows at the pixels that have changed from @before to @now. */
static gdouble
changed_bends_alike (const Block *block, const guint8 *a, const guint8 *b, const guint8 *now, const guint8 *before)
{
  Bends sums = { 0 };

  for (gint y = block->from; y < block->to; y++) {
    gsize at = (gsize) y * (gsize) block->width;
    const guint8 *p = a + at, *q = b + at, *r = now + at, *s = before + at;
    for (gint x = block->first; x < block->last; x++) {
      gint counts = ABS (r[x] - s[x]) >= CHANGED, one = counts ? BEND (p, x, FINE) : 0;
      gint other = counts ? BEND (q, x, FINE) : 0;
      add_bends (&sums, one, other);
    }
  }
  return bends_alike (&sums);
}

/* That of all wide bends of a block, with those @shift pixels to the right in the other view. */
static gdouble
wide_bends_alike (const Block *block, const guint8 *const now[2], gint shift)
{
  gint first = MAX (block->first, WIDE + AROUND), last = MIN (block->last, block->width - WIDE - AROUND);
  Bends sums = { 0 };

  for (gint y = block->from; y < block->to; y++) {
    const guint8 *p = now[0] + (gsize) y * (gsize) block->width, *q = now[1] + (gsize) y * (gsize) block->width + shift;
    for (gint x = first; x < last; x++) {
      gint one = BEND (p, x, WIDE), other = BEND (q, x, WIDE);
      add_bends (&sums, one, other);
    }
  }
  return bends_alike (&sums);
}

/* Whether much of the block changes, and neighbours two pixels apart alike: noise changes each for itself. */
static gboolean
moves (const Block *block, const guint8 *now, const guint8 *before)
{
  gint64 both = 0, square = 0;
  gint count = 0;

  for (gint y = block->from; y < block->to; y++) {
    const guint8 *p = now + (gsize) y * (gsize) block->width, *q = before + (gsize) y * (gsize) block->width;
    for (gint x = block->first; x < block->last; x++) {
      gint change = p[x] - q[x];
      count += ABS (change) >= CHANGED;
      both += change * (p[x + 2] - q[x + 2]);
      square += change * change;
    }
  }
  return count >= MOVING * (block->to - block->from) * (block->last - block->first) &&
      (gdouble) both > TOGETHER * (gdouble) square;
}

/* Whether what has changed has kept its texture, in both views, and has that of the other view at the same place. */
static gboolean
stands_still (const Block *block, const guint8 *const now[2], const guint8 *const earlier[2])
{
  return changed_bends_alike (block, now[0], now[1], now[0], earlier[0]) > STILL &&
      changed_bends_alike (block, now[0], earlier[0], now[0], earlier[0]) > STILL &&
      changed_bends_alike (block, now[1], earlier[1], now[1], earlier[1]) > STILL && !repeats (block, now[0]);
}

/* Whether texture at disparity 0 and other texture are seen in one place. @peak: where the former lies, px. */
static gboolean
is_layered (const Block *block, const guint8 *const now[2], const Statistics *m, gdouble slope, gdouble *peak)
{
  gdouble here = wide_bends_alike (block, now, 0), left, right;
  Rest rest;

  if (here < LAYER || m->covariance <= 0)
    return FALSE;
  left = wide_bends_alike (block, now, -AROUND);
  right = wide_bends_alike (block, now, AROUND);
  if (AROUND * fabs (right - left) >= PEAK * 2 * (2 * here - left - right))
    return FALSE;
  /* where the parabola through the three has its top */
  *peak = AROUND * (right - left) / (2 * (2 * here - left - right));
  place (block, now[0], now[1], m, slope, &rest);
  return rest.shared > BEHIND && rest.shared > BEYOND_CHANCE * rest.doubt && !repeats (block, now[0]);
}

/* @peaks: of the layered blocks. */
static void
measure_block (const Block *block, const guint8 *const now[2], const guint8 *const earlier[2],
    GstStereoBlockFigures *figures, gdouble *peaks)
{
  gdouble slope = slope_of (block, now[0]);
  Statistics m = statistics_of (block, now[0], now[1], 0);
  Rest rest;

  if (slope < SLOPE || m.variance[0] < VARIANCE || m.variance[1] < VARIANCE / 4)
    return;
  if (earlier[0] && moves (block, now[0], earlier[0]) && moves (block, now[1], earlier[1])) {
    figures->moving++;
    figures->still += stands_still (block, now, earlier);
  }
  figures->layered += is_layered (block, now, &m, slope, &peaks[figures->layered]);
  if (correlation (&m) < ALIKE) {
    figures->textured++;
    return;
  }
  if (repeats (block, now[0]))
    return;
  figures->textured++;
  if (fabs (place (block, now[0], now[1], &m, slope, &rest)) < ZERO) {
    figures->zero++;
    figures->rest += rest.shared;
  }
}

/* Whether pixels differ more across the borders of an encoder's blocks than at any other place in them. */
static gboolean
has_steps (const guint8 *from, gint rows, gint width)
{
  gint64 squares[SIDE] = { 0 }, most = 0;

  for (gint y = 0; y < rows; y++) {
    const guint8 *row = from + (gsize) y * (gsize) width;
    for (gint x = SIDE; x + SIDE <= width; x += SIDE)
      for (gint i = 0; i < SIDE; i++)
        squares[i] += (row[x + i] - row[x + i - 1]) * (row[x + i] - row[x + i - 1]);
  }
  for (guint i = 1; i < SIDE; i++)
    most = MAX (most, squares[i]);
  return (gdouble) squares[0] > STEPS * (gdouble) most;
}

void
gst_stereo_blocks_compare (
    const GstStereoViewReader *const readers[2], gint width, guint age, GstStereoBlockFigures *figures)
{
  const guint8 *now[2], *earlier[2];
  gint rows, across = MIN (ACROSS, (width - 2 * MARGIN) / NARROWEST);
  gdouble peaks[DOWN * ACROSS];

  *figures = (GstStereoBlockFigures){ 0 };
  for (guint v = 0; v < 2; v++) {
    now[v] = gst_stereo_view_reader_rows (readers[v], 0, &rows);
    earlier[v] = gst_stereo_view_reader_rows (readers[v], age, &rows);
  }
  if (!now[0] || !now[1] || across < 1)
    return;
  if (!earlier[1])
    earlier[0] = NULL;
  for (gint y = 0; y < DOWN; y++)
    for (gint x = 0; x < across; x++) {
      Block block = { width, y * rows / DOWN, (y + 1) * rows / DOWN, MARGIN + x * (width - 2 * MARGIN) / across,
        MARGIN + (x + 1) * (width - 2 * MARGIN) / across };
      if (block.to > block.from)
        measure_block (&block, now, earlier, figures, peaks);
    }
  figures->steps = has_steps (now[0], rows, width) && has_steps (now[1], rows, width);
  if (figures->zero)
    figures->rest /= figures->zero;
  gst_stereo_sort_values (peaks, figures->layered);
  if (figures->layered && fabs (peaks[figures->layered / 2]) >= MIDDLE)
    figures->layered = 0;
}
