/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What has changed in a part, from sums, equals what follows pixel by pixel. */
#include "tests/support/gst/suite.h"

#include <math.h>

#include "gst/match/diagnose/views/changes.h"
#include "tests/support/gst/util.h"
#include "tests/support/random.h"

#define TURNS 400
#define MOST 5000 /* pixels of a row */
#define ROWS 3

static Random generator;

typedef struct
{
  guint8 now[MOST + GST_STEREO_CHANGES_SLACK], before[MOST + GST_STEREO_CHANGES_SLACK];
  guint8 below[MOST + GST_STEREO_CHANGES_SLACK], below_before[MOST + GST_STEREO_CHANGES_SLACK];
} Row;

/* What lies behind the pixels is as random as they are. */
static void
make_row (Row *row, gdouble gain, gint change)
{
  for (gint x = 0; x < MOST + GST_STEREO_CHANGES_SLACK; x++) {
    gint noise[] = { random_range (&generator, -change, change), random_range (&generator, -change, change) };
    row->before[x] = (guint8) random_range (&generator, 0, 255);
    row->below_before[x] = (guint8) random_range (&generator, 0, 255);
    row->now[x] = (guint8) CLAMP (gain * row->before[x] + noise[0], 0, 255);
    row->below[x] = (guint8) CLAMP (gain * row->below_before[x] + noise[1], 0, 255);
  }
}

static GstStereoViewChange
plain_change (const Row *rows, gint count)
{
  GstStereoViewChange change = { .count = (gdouble) count * ROWS };
  gdouble now = 0, before = 0, gain;

  for (gint y = 0; y < ROWS; y++)
    for (gint x = 0; x < count; x++) {
      now += rows[y].now[x];
      before += rows[y].before[x];
      change.other += (rows[y].now[x] != rows[y].before[x]) / change.count;
    }
  gain = before > 0 ? now / before : 1;
  for (gint y = 0; y < ROWS; y++)
    for (gint x = 0; x < count; x++) {
      gdouble upper = rows[y].now[x] - gain * rows[y].before[x],
              lower = rows[y].below[x] - gain * rows[y].below_before[x];
      change.product += upper * lower / change.count;
      change.square += upper * upper / change.count;
    }
  change.level = now / change.count;
  return change;
}

/* The rows are added in two parts, which are joined. */
static GstStereoViewChange
change_of (const Row *rows, gint count, gint first)
{
  GstStereoChangeSums sums[2] = { { 0 }, { 0 } };

  for (gint y = 0; y < ROWS; y++) {
    const Row *row = &rows[y];
    gst_stereo_changes_add (&sums[0], row->now, row->before, row->below, row->below_before, first);
    gst_stereo_changes_add (
        &sums[1], row->now + first, row->before + first, row->below + first, row->below_before + first, count - first);
  }
  gst_stereo_changes_join (&sums[0], &sums[1]);
  return gst_stereo_changes_mean (&sums[0]);
}

static void
check_equal (gdouble found, gdouble expected, const gchar *what, guint turn)
{
  fail_unless (fabs (found - expected) <= 1e-8 * (1 + fabs (expected)), "turn %u: %s is %.12g, not %.12g", turn, what,
      found, expected);
}

TEST (test_changes)
{
  static Row rows[ROWS];

  for (guint turn = 0; turn < TURNS; turn++) {
    gint count = turn % 20 ? random_range (&generator, 1, 100) : random_range (&generator, 1000, MOST);
    gint first = random_range (&generator, 0, count);
    gdouble gain = turn % 3 ? random_range (&generator, 0, 300) / 100.0 : 1;
    GstStereoViewChange found, expected;

    for (gint y = 0; y < ROWS; y++)
      make_row (&rows[y], gain, turn % 4 ? random_range (&generator, 1, 255) : 0);
    found = change_of (rows, count, first);
    expected = plain_change (rows, count);
    check_equal (found.product, expected.product, "product", turn);
    check_equal (found.square, expected.square, "square", turn);
    check_equal (found.other, expected.other, "other", turn);
    check_equal (found.level, expected.level, "level", turn);
    check_equal (found.count, expected.count, "count", turn);
  }
}

/* As bright as can be, or as different: no sum is too large for its numbers. */
TEST (test_largest_changes)
{
  static Row rows[ROWS];

  for (guint turn = 0; turn < 4; turn++) {
    GstStereoViewChange found, expected;

    for (gint y = 0; y < ROWS; y++)
      for (gint x = 0; x < MOST; x++) {
        rows[y].now[x] = rows[y].below[x] = turn & 1 ? 255 : 0;
        rows[y].before[x] = rows[y].below_before[x] = turn & 2 ? 255 : 0;
      }
    found = change_of (rows, MOST, 0);
    expected = plain_change (rows, MOST);
    check_equal (found.product, expected.product, "product", turn);
    check_equal (found.square, expected.square, "square", turn);
    check_equal (found.level, expected.level, "level", turn);
  }
}

SUITE (changes)
{
  generator = (Random){ .state = random_seed () };
  tcase_set_timeout (tcase, 120);
}
