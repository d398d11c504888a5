/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gst/match/diagnose/views/changes.h"

#include <string.h>

#define LANES 8       /* 16-bit numbers that compilers multiply at once */
#define MOST_RUN 1024 /* pixels: sums of products of 255 fit 32 bits, and so does twice as much */

/* The differences of some pixels, and their values before, filled up with zeros to whole LANES. */
typedef struct
{
  gint16 difference[MOST_RUN + GST_STEREO_CHANGES_SLACK], before[MOST_RUN + GST_STEREO_CHANGES_SLACK];
} Run;

static void
read_run (Run *run, const guint8 *now, const guint8 *before, gint count, gint blocks)
{
  for (gint x = 0; x < blocks * LANES; x++) {
    run->difference[x] = (gint16) (now[x] - before[x]);
    run->before[x] = before[x];
  }
  memset (run->difference + count, 0, LANES * sizeof *run->difference);
  memset (run->before + count, 0, LANES * sizeof *run->before);
}

static void
add_run (GstStereoChangeSums *sums, const Run *row, const Run *below, gint blocks)
{
  gint32 difference = 0, before = 0, changes = 0, mixed = 0, level = 0, squares = 0, crossed = 0, bright = 0, others = 0;

  for (gint x = 0; x < blocks * LANES; x++) {
    difference += row->difference[x];
    before += row->before[x];
    changes += row->difference[x] * below->difference[x];
    mixed += row->difference[x] * below->before[x];
    level += row->before[x] * below->before[x];
    squares += row->difference[x] * row->difference[x];
    crossed += row->difference[x] * row->before[x];
    bright += row->before[x] * row->before[x];
    others += row->difference[x] != 0;
  }
  for (gint x = 0; x < blocks * LANES; x++)
    mixed += row->before[x] * below->difference[x];
  sums->difference += difference;
  sums->before += before;
  sums->changes += changes;
  sums->mixed += mixed;
  sums->level += level;
  sums->squares += squares;
  sums->crossed += crossed;
  sums->bright += bright;
  sums->others += others;
}

void
gst_stereo_changes_add (GstStereoChangeSums *sums, const guint8 *now, const guint8 *before, const guint8 *below,
    const guint8 *below_before, gint count)
{
  Run rows[2];

  sums->count += count;
  for (gint from = 0; from < count; from += MOST_RUN) {
    gint run = MIN (count - from, MOST_RUN), blocks = (run + LANES - 1) / LANES;
    read_run (&rows[0], now + from, before + from, run, blocks);
    read_run (&rows[1], below + from, below_before + from, run, blocks);
    add_run (sums, &rows[0], &rows[1], blocks);
  }
}

void
gst_stereo_changes_join (GstStereoChangeSums *sums, const GstStereoChangeSums *other)
{
  sums->count += other->count;
  sums->difference += other->difference;
  sums->before += other->before;
  sums->changes += other->changes;
  sums->mixed += other->mixed;
  sums->level += other->level;
  sums->squares += other->squares;
  sums->crossed += other->crossed;
  sums->bright += other->bright;
  sums->others += other->others;
}

GstStereoViewChange
gst_stereo_changes_mean (const GstStereoChangeSums *sums)
{
  gdouble count = (gdouble) MAX (1, sums->count);
  /* as a part of the brightness before: what has changed is d - brighter * b */
  gdouble brighter = (gdouble) sums->difference / (gdouble) MAX (1, sums->before);
  gdouble product = (gdouble) sums->changes - brighter * (gdouble) sums->mixed +
      brighter * brighter * (gdouble) sums->level;
  gdouble square = (gdouble) sums->squares - 2 * brighter * (gdouble) sums->crossed +
      brighter * brighter * (gdouble) sums->bright;

  return (GstStereoViewChange){ product / count, square / count, (gdouble) sums->others / count,
    (gdouble) (sums->before + sums->difference) / count, count };
}
