/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Free distances in made pictures: the road is free as far as it is seen, and nothing that is not seen is. */

#include <math.h>

#include "tests/gst/ground/made.h"
#include "tests/support/gst/suite.h"

#define COLUMNS 64

static const MadeErrors usual = { .noise = 0.3, .outliers = 0.02, .holes = 0.1, .patches = 100 };

/* No patches, any of which may end a column. */
static const MadeErrors plain = { .noise = 0.3, .outliers = 0.02, .holes = 0.1 };

static Random generator;

static GstStereoGroundAnalysis *analysis;

static void
setup (void)
{
  analysis = gst_stereo_ground_analysis_new ();
}

static void
teardown (void)
{
  gst_stereo_ground_analysis_free (analysis);
}

static GstStereoGroundResult
analyse (MadePicture *picture)
{
  GstStereoGroundTask task = made_task ();
  GstStereoGroundResult result;

  gst_stereo_ground_analysis_run (analysis, &picture->view, &task, &result);
  fail_unless (result.valid);
  fail_unless_equals_int (result.n_free_distances, COLUMNS);
  return result;
}

/* The middle of a column, px. */
static gdouble
middle (const MadeScene *scene, guint column)
{
  return (column + 0.5) * scene->width / COLUMNS;
}

/* A patch of wrong disparities may end a column: an obstacle could hide in it. */
TEST (test_an_empty_road)
{
  MadeScene road = made_road ();
  g_autoptr (MadePicture) picture = made_picture_new (&road);
  guint whole = 0;

  for (guint frame = 0; frame < 20; frame++) {
    made_picture_spoil (picture, &usual, &generator);
    GstStereoGroundResult result = analyse (picture);
    for (guint c = 0; c < COLUMNS; c++) {
      fail_unless (result.free_distances[c] > 5500 && result.free_distances[c] <= 50500,
          "frame %u: column %u is free for %g mm", frame, c, result.free_distances[c]);
      whole += result.free_distances[c] > 40000;
    }
  }
  fail_unless (whole >= 0.95 * 20 * COLUMNS, "%u columns are free as far as can be seen", whole);
}

TEST (test_up_to_an_obstacle)
{
  MadeScene road = made_road ();
  gdouble seen[4];

  road.boxes[0] = (MadeBox){ 15000, -1000, 2000, 1500, 0 };
  made_box_seen (&road, &road.boxes[0], seen);
  g_autoptr (MadePicture) picture = made_picture_new (&road);
  made_picture_spoil (picture, &plain, &generator);
  /* of the very first frame: an obstacle need not be reported to be in the way */
  GstStereoGroundResult result = analyse (picture);
  for (guint c = 0; c < COLUMNS; c++) {
    gdouble x = middle (&road, c), half = (gdouble) road.width / COLUMNS / 2;

    if (x > seen[0] && x < seen[2])
      fail_unless (result.free_distances[c] > 12000 && result.free_distances[c] <= 15100,
          "column %u, before the box, is free for %g mm", c, result.free_distances[c]);
    else if (x + 2 * half < seen[0] || x - 2 * half > seen[2])
      fail_unless (result.free_distances[c] > 40000, "column %u, beside the box, is free for %g mm", c,
          result.free_distances[c]);
  }
}

TEST (test_not_seen_is_not_free)
{
  MadeScene road = made_road ();
  g_autoptr (MadePicture) picture = made_picture_new (&road);

  /* the lower part of the left quarter, and a band across the second: from 9 to 12 m */
  made_picture_spoil (picture, &plain, &generator);
  made_picture_blank (picture, 0, 300, road.width / 4, 75);
  made_picture_blank (picture, road.width / 4, 272, road.width / 4, 30);
  /* and narrow bands across the third, none of which hides an obstacle */
  for (gint y = 260; y < 370; y += 25)
    made_picture_blank (picture, road.width / 2, y, road.width / 4, 6);
  GstStereoGroundResult result = analyse (picture);
  for (guint c = 0; c < COLUMNS; c++) {
    gdouble free_distance = result.free_distances[c];

    if (c < COLUMNS / 4 - 1)
      fail_unless (free_distance == GST_STEREO_GROUND_UNKNOWN, "column %u: %g", c, free_distance);
    else if (c > COLUMNS / 4 && c < COLUMNS / 2 - 1)
      fail_unless (free_distance > 5000 && free_distance < 12000, "column %u: %g", c, free_distance);
    else if (c > COLUMNS / 2)
      fail_unless (free_distance > 40000, "column %u: %g", c, free_distance);
  }
}

/* The blind zone ends with the lowest row of which a mask leaves half. */
TEST (test_ground_from)
{
  MadeScene road = made_road ();
  g_autofree guint8 *mask = g_malloc ((gsize) road.width * (gsize) road.height);

  road.roll = 0;
  g_autoptr (MadePicture) picture = made_picture_new (&road);
  made_picture_spoil (picture, &plain, &generator);
  picture->view.mask = mask;
  picture->view.mask_stride = road.width;
  for (guint percent = 0; percent <= 100; percent += 20) {
    gint lowest = percent > 50 ? road.height - 41 : road.height - 1;

    memset (mask, 255, (gsize) road.width * (gsize) road.height);
    for (gint y = road.height - 40; y < road.height; y++)
      memset (mask + y * road.width, 0, (gsize) road.width * percent / 100);
    gdouble from = road.focal * road.baseline / picture->truth[lowest * road.width],
            found = analyse (picture).ground_from;
    fail_unless (fabs (found / from - 1) < 0.02, "%u %%: from %g mm, truly %g", percent, found, from);
  }
}

/* Boxes with and without values, and holes anywhere: none is driven through. Boxes are 20 % higher than the least, and as
 * wide as a column and a half. */
TEST (test_never_through_a_box)
{
  guint known = 0;

  for (gint turn = 0; turn < random_count ("STEREO_TEST_BOXES", 150); turn++) {
    MadeScene road = made_road ();
    gdouble seen[4];

    road.boxes[0] = (MadeBox){ 7000 + 18000 * random_unit (&generator), 0, 0, 360, 0 };
    road.boxes[0].width = 1.5 * road.width / COLUMNS * road.boxes[0].distance / road.focal;
    road.boxes[0].lateral = (random_unit (&generator) - 0.5) * road.boxes[0].distance;
    made_box_seen (&road, &road.boxes[0], seen);
    g_autoptr (MadePicture) picture = made_picture_new (&road);
    made_picture_spoil (picture, &usual, &generator);
    for (guint hole = 0; hole < 30; hole++)
      made_picture_blank (picture, random_range (&generator, 0, road.width), random_range (&generator, 150, road.height),
          random_range (&generator, 10, 200), random_range (&generator, 2, 60));
    /* every other box has no value itself */
    if (turn % 2)
      made_picture_blank (
          picture, (gint) seen[0] - 1, (gint) seen[1], (gint) (seen[2] - seen[0]) + 3, (gint) (seen[3] - seen[1]) + 1);
    GstStereoGroundResult result = analyse (picture);
    for (guint c = 0; c < COLUMNS; c++)
      if (fabs (middle (&road, c) - (seen[0] + seen[2]) / 2) < (seen[2] - seen[0]) / 6) {
        known += result.free_distances[c] > 0;
        fail_unless (result.free_distances[c] <= 1.03 * road.boxes[0].distance,
            "turn %d: column %u is free for %g mm, through a box at %g mm", turn, c, result.free_distances[c],
            road.boxes[0].distance);
      }
  }
  fail_unless (known > 10, "nothing is ever free");
}

/* A bonnet at the bottom does not hide the road behind it where a mask excludes it; without the mask nothing is known. A
 * mask in the middle of the road does not make free what it hides. */
TEST (test_a_bonnet)
{
  MadeScene road = made_road ();
  g_autoptr (MadePicture) picture = made_picture_new (&road);
  gint hood = road.height / 5, arm = road.height / 8, at = road.height * 5 / 8;
  g_autofree guint8 *mask = g_malloc ((gsize) road.width * (gsize) road.height);
  guint seen[3] = { 0 };
  gdouble farthest = 0, judged[3];

  for (guint round = 0; round < 3; round++) {
    made_picture_spoil (picture, &usual, &generator);
    made_picture_blank (picture, 0, road.height - hood, road.width, hood);
    memset (mask, 255, (gsize) road.width * (gsize) road.height);
    memset (mask + (gsize) road.width * (gsize) (road.height - hood), 0, (gsize) road.width * (gsize) hood);
    if (round == 2) {
      made_picture_blank (picture, 0, at, road.width, arm);
      memset (mask + (gsize) road.width * (gsize) at, 0, (gsize) road.width * (gsize) arm);
    }
    picture->view.mask = round ? mask : NULL;
    picture->view.mask_stride = road.width;
    GstStereoGroundResult result = analyse (picture);
    for (guint c = 0; c < COLUMNS; c++) {
      seen[round] += result.free_distances[c] > 0;
      farthest = round == 2 ? MAX (farthest, result.free_distances[c]) : 0;
    }
    judged[round] = result.judged;
    gst_stereo_ground_analysis_forget (analysis);
  }
  fail_unless_equals_int (seen[0], 0);
  /* what is excluded is a fifth of the picture */
  fail_unless (fabs (judged[1] * 4 / 5 - judged[0]) < 0.02 * judged[0], "%g, %g judged", judged[0], judged[1]);
  fail_unless (seen[1] > COLUMNS / 2, "%u columns", seen[1]);
  fail_unless (farthest < 15000, "free for %g mm behind what is hidden", farthest);
}

SUITE (ground_free)
{
  generator.state = random_seed ();
  tcase_set_timeout (tcase, 240);
  tcase_add_checked_fixture (tcase, setup, teardown);
}
