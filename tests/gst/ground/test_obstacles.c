/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Obstacles in made pictures: each is found within three frames, where it is, and nothing else is. */

#include <math.h>

#include "tests/gst/ground/made.h"
#include "tests/support/gst/suite.h"

/* A matcher's errors: some are independent, some shift a whole patch. */
static const MadeErrors usual = { .noise = 0.3, .outliers = 0.02, .holes = 0.1, .patches = 150 };
static const MadeErrors plain = { .noise = 0.3, .outliers = 0.02, .holes = 0.1 };
static const MadeErrors heavy = { .noise = 0.3, .outliers = 0.3, .holes = 0.1 };

static Random generator;

static GstStereoGroundResult
analyse (GstStereoGroundAnalysis *analysis, MadePicture *picture, const MadeErrors *errors)
{
  GstStereoGroundTask task = made_task ();
  GstStereoGroundResult result;

  made_picture_spoil (picture, errors, &generator);
  gst_stereo_ground_analysis_run (analysis, &picture->view, &task, &result);
  fail_unless (result.valid);
  return result;
}

static gdouble
overlap (const GstStereoObstacle *one, const gdouble seen[4])
{
  gdouble width = MIN (one->x + one->width, seen[2]) - MAX (one->x, seen[0]);
  gdouble height = MIN (one->y + one->height, seen[3]) - MAX (one->y, seen[1]);
  gdouble both = MAX (0, width) * MAX (0, height);

  return both / ((gdouble) one->width * one->height + (seen[2] - seen[0]) * (seen[3] - seen[1]) - both);
}

/* The report of @box and NULL, or what is wrong with it: free it. The errors of a patch are allowed for. */
static gchar *
find (const GstStereoGroundResult *result, const MadeScene *scene, const MadeBox *box, const MadeErrors *errors,
    const GstStereoGroundReport **report)
{
  gboolean frayed = errors->outliers > 0.1; /* at its edges */
  gdouble part = 0.02 + (errors->patches ? 2 * box->distance / (scene->focal * scene->baseline) : 0);
  gdouble off = part * box->distance, seen[4];
  const GstStereoObstacle *found = NULL;

  made_box_seen (scene, box, seen);
  for (guint i = 0; i < result->n_obstacles && !found; i++)
    if (overlap (&result->obstacles[i].obstacle, seen) > (frayed ? 0.25 : 0.4)) {
      *report = &result->obstacles[i];
      found = &(*report)->obstacle;
    }
  if (!found)
    return g_strdup_printf ("a box at %g mm is not among %u obstacles", box->distance, result->n_obstacles);
  if (fabs (found->distance - box->distance) > off)
    return g_strdup_printf ("%g mm away, truly %g", found->distance, box->distance);
  if (fabs (found->lateral - box->lateral) > off / 2)
    return g_strdup_printf ("%g mm aside, truly %g", found->lateral, box->lateral);
  if (fabs (found->object_width - box->width) > off / 2 + (frayed ? 0.5 : 0.1) * box->width)
    return g_strdup_printf ("%g mm wide, truly %g", found->object_width, box->width);
  if (fabs (found->object_height - box->height) > off / 2 + 0.1 * box->height)
    return g_strdup_printf ("%g mm high, truly %g", found->object_height, box->height);
  if (!(found->probability > 0 && found->probability <= 1))
    return g_strdup_printf ("a probability of %g", found->probability);
  return NULL;
}

static const GstStereoGroundReport *
check_found (const GstStereoGroundResult *result, const MadeScene *scene, const MadeBox *box, const MadeErrors *errors)
{
  const GstStereoGroundReport *report = NULL;
  gchar *wrong = find (result, scene, box, errors, &report);

  fail_unless (wrong == NULL, "%s", wrong);
  return report;
}

/* ---- found ------------------------------------------------------------------------------- */

static const gdouble distances[] = { 5000, 10000, 20000 };

/* Whether the first @boxes of the road are found by the third frame, and nothing else. */
static gboolean
all_found (const MadeScene *road, guint boxes, const MadeErrors *errors)
{
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
  g_autoptr (MadePicture) picture = made_picture_new (road);
  GstStereoGroundResult result = { 0 };
  const GstStereoGroundReport *report;

  for (guint frame = 0; frame < 3; frame++)
    result = analyse (analysis, picture, errors);
  gboolean good = result.n_obstacles == boxes;
  for (guint b = 0; b < boxes; b++) {
    g_autofree gchar *wrong = find (&result, road, &road->boxes[b], errors, &report);

    if (wrong)
      GST_INFO ("%s", wrong);
    good = good && !wrong;
  }
  return good;
}

#define TURNS 20
/* Turns that may fail where there is more than noise. A patch may cover most of the box at 20 m, 11 pixels wide, in the
 * last frame or in two of the three: about one turn in 130 fails for that. */
#define SPOILT 3

/* Boxes of 0.3 m, one alone and all together. Where a third of the pixels is wrong, too little is left of the one at
 * 20 m: ten samples. */
TEST_LOOP (test_small_boxes, 0, 12)
{
  static const MadeErrors *const all[] = { &plain, &usual, &heavy };
  const MadeErrors *errors = all[__i__ % 3];
  guint which = (guint) __i__ / 3, most = errors == &heavy ? 2 : 3, failed = 0;

  for (guint turn = 0; turn < TURNS; turn++) {
    MadeScene road = made_road ();
    guint boxes = 0;

    road.pitch = 8; /* the ground is seen from 4 m on */
    for (guint b = 0; b < most; b++)
      if (which == b || which >= most)
        road.boxes[boxes++] = (MadeBox){ distances[b], (b - 1.0) * 1500 + 1000 * (random_unit (&generator) - 0.5), 300,
          300, 0 };
    failed += !all_found (&road, boxes, errors);
  }
  fail_unless (failed <= (errors == &plain ? 0 : SPOILT), "%u of %d", failed, TURNS);
}

/* Heights in millimetres where a pixel is wider than high, or higher: of what is found, and of what is too low to be. */
TEST_LOOP (test_pixels_that_are_not_square, 0, 3)
{
  const gdouble stretch = ((const gdouble[]){ 0.5, 16 / 15.0, 2 })[__i__];
  MadeScene road = made_road ();

  road.stretch = stretch;
  road.height = (gint) (road.height * stretch);
  road.boxes[0] = (MadeBox){ 12000, 500, 1700, 1500, 0 };
  road.boxes[1] = (MadeBox){ 9000, -2000, 700, stretch < 1 ? 480 : 1000, 0 };
  road.boxes[2] = (MadeBox){ 9000, 2500, 700, 220, 0 };
  fail_unless (all_found (&road, 2, &plain));
}

/* One obstacle comes closer and stays the same one; another one beside it keeps its own identity. */
TEST (test_identities_last)
{
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
  guint one = 0, other = 0;

  for (gint frame = 0; frame < 40; frame++) {
    MadeScene road = made_road ();

    road.pitch += 0.3 * sin (frame);
    road.boxes[0] = (MadeBox){ 40000 * pow (0.95, frame), -600, 1700, 1500, 0 };
    road.boxes[1] = (MadeBox){ 25000, 4000 - 50.0 * frame, 600, 1700, 0 };
    MadePicture *picture = made_picture_new (&road);
    GstStereoGroundResult result = analyse (analysis, picture, &plain);
    made_picture_free (picture);
    if (frame < 2)
      continue;
    fail_unless_equals_int (result.n_obstacles, 2);
    fail_unless (result.obstacles[0].obstacle.distance <= result.obstacles[1].obstacle.distance);
    one = one ? one : check_found (&result, &road, &road.boxes[0], &plain)->id;
    other = other ? other : check_found (&result, &road, &road.boxes[1], &plain)->id;
    fail_unless_equals_int (check_found (&result, &road, &road.boxes[0], &plain)->id, one);
    fail_unless_equals_int (check_found (&result, &road, &road.boxes[1], &plain)->id, other);
    fail_unless (one != other);
  }
}

/* ---- not found --------------------------------------------------------------------------- */

static void
expect_none (const MadeScene *scene, gint frames, const MadeErrors *errors)
{
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
  g_autoptr (MadePicture) picture = made_picture_new (scene);

  for (gint frame = 0; frame < frames; frame++) {
    GstStereoGroundResult result = analyse (analysis, picture, errors);

    if (result.n_obstacles > 0) {
      const GstStereoObstacle *one = &result.obstacles[0].obstacle;

      fail ("frame %d: %dx%d at %d,%d, %g mm away, %g mm high", frame, one->width, one->height, one->x, one->y,
          one->distance, one->object_height);
    }
  }
}

TEST (test_nothing_on_an_empty_road)
{
  MadeScene road = made_road ();

  expect_none (&road, random_count ("STEREO_TEST_FRAMES", 1000), &usual);
}

TEST (test_nothing_in_heavy_noise)
{
  MadeScene road = made_road ();

  expect_none (&road, 100, &heavy);
}

/* A bridge to pass under, a kerb, a house beyond the distance. */
TEST (test_what_is_no_obstacle)
{
  MadeScene road = made_road ();

  road.boxes[0] = (MadeBox){ 25000, 0, 30000, 2000, 4500 };
  expect_none (&road, 5, &plain);
  road.boxes[0] = (MadeBox){ 12000, 0, 3000, 100, 0 };
  expect_none (&road, 5, &plain);
  road.boxes[0] = (MadeBox){ 60000, 0, 10000, 3500, 0 };
  expect_none (&road, 5, &plain);
}

/* What is there for one frame is noise, and what is there in two of three is not. */
TEST (test_two_of_three_frames)
{
  static const gchar frames[] = "1000010010000101000110";
  /* whether it is reported: seen in two of the last three frames */
  static const gchar reported[] = "0000000000000001000011";
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
  MadeScene empty = made_road (), full = made_road ();

  full.boxes[0] = (MadeBox){ 15000, 500, 1500, 1500, 0 };
  g_autoptr (MadePicture) without = made_picture_new (&empty);
  g_autoptr (MadePicture) with = made_picture_new (&full);
  for (guint i = 0; frames[i]; i++) {
    GstStereoGroundResult result = analyse (analysis, frames[i] == '1' ? with : without, &usual);

    fail_unless_equals_int (result.n_obstacles, reported[i] == '1');
    if (result.n_obstacles)
      fail_unless_equals_int (result.obstacles[0].seen, frames[i] == '1');
  }
}

TEST (test_forgotten)
{
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
  MadeScene road = made_road ();

  road.boxes[0] = (MadeBox){ 15000, 500, 1500, 1500, 0 };
  g_autoptr (MadePicture) picture = made_picture_new (&road);
  analyse (analysis, picture, &usual);
  GstStereoGroundResult result = analyse (analysis, picture, &usual);
  guint before = check_found (&result, &road, &road.boxes[0], &usual)->id;
  gst_stereo_ground_analysis_forget (analysis);
  fail_unless_equals_int (analyse (analysis, picture, &usual).n_obstacles, 0);
  fail_unless (analyse (analysis, picture, &usual).obstacles[0].id != before, "an identity was used again");
}

SUITE (ground_obstacles)
{
  generator.state = random_seed ();
  tcase_set_timeout (tcase, 240);
}
