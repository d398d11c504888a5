/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Made pictures. The ground is found, followed in time, and not found where there is none. Each obstacle is found within three frames,
 * where it is, and nothing else is. The road is free as far as it is seen, and nothing that is not seen is.
 */

#include <math.h>

#include "tests/gst/ground/made.h"
#include "tests/support/gst/suite.h"

#define COLUMNS 64

/* A matcher's errors: some are independent, some shift a whole patch. */
static const MadeErrors plain = { .noise = 0.3, .outliers = 0.02, .holes = 0.1 };
static const MadeErrors usual = { .noise = 0.3, .outliers = 0.02, .holes = 0.1, .patches = 150 };
static const MadeErrors heavy = { .noise = 0.3, .outliers = 0.3, .holes = 0.1 };

static Random generator;

#define between(low, high) random_between (&generator, low, high)

/* @errors: NULL = the picture as it is */
static GstStereoGroundResult
analyse (GstStereoGroundAnalysis *analysis, MadePicture *picture, const MadeErrors *errors)
{
  GstStereoGroundTask task = made_task ();
  GstStereoGroundResult result;

  if (errors)
    made_picture_spoil (picture, errors, &generator);
  gst_stereo_ground_analysis_run (analysis, &picture->view, &task, &result);
  return result;
}

static void
check_pose (const GstStereoGroundResult *result, const MadeScene *scene, const gchar *what)
{
  const GstStereoGroundPose *pose = &result->fit.pose;

  fail_unless (result->valid, "%s: no ground with %g mm, pitch %g, roll %g", what, scene->camera_height, scene->pitch,
      scene->roll);
  fail_unless (fabs (pose->pitch - scene->pitch) <= 0.2, "%s: pitch %g, truly %g", what, pose->pitch, scene->pitch);
  fail_unless (fabs (pose->height / scene->camera_height - 1) <= 0.02, "%s: height %g, truly %g", what, pose->height,
      scene->camera_height);
  fail_unless (fabs (pose->roll - scene->roll) <= 0.3, "%s: roll %g, truly %g", what, pose->roll, scene->roll);
}

/* ---- geometry ---------------------------------------------------------------------------- */

/* Worked out by hand: level, 1 m up, 45 degrees down is a point 1 m away. */
TEST (test_level_camera)
{
  GstStereoGroundCamera camera = { 500, 100, 0, 320, 240, 1 };
  GstStereoGroundPose level = { 1000, 0, 0 }, leans = { 1000, 0, 10 }, pitched = { 1000, 30, 0 };
  GstStereoGroundPlane plane = gst_stereo_ground_plane_of (&camera, &level);

  fail_unless (fabs (gst_stereo_ground_plane_at (&camera, &plane, 320, 740) - 500 * 100 / 1000.0) < 1e-9);
  fail_unless (fabs (gst_stereo_ground_plane_at (&camera, &plane, 0, 240)) < 1e-9, "the horizon is not at infinity");
  /* its right side is lower: the ground is nearer there */
  plane = gst_stereo_ground_plane_of (&camera, &leans);
  fail_unless (
      gst_stereo_ground_plane_at (&camera, &plane, 620, 500) > gst_stereo_ground_plane_at (&camera, &plane, 20, 500));
  /* 30 degrees down, the axis meets the ground 2 m away */
  plane = gst_stereo_ground_plane_of (&camera, &pitched);
  fail_unless (fabs (gst_stereo_ground_plane_at (&camera, &plane, 320, 240) - 500 * 100 / 2000.0) < 1e-9);
}

TEST (test_pose_and_back)
{
  for (guint i = 0; i < 1000; i++) {
    GstStereoGroundCamera camera = { between (100, 2000), between (20, 800), 0, 300, 200, between (0.4, 2.5) };
    GstStereoGroundPose pose = { between (100, 9000), between (-60, 60), between (-60, 60) }, back;
    GstStereoGroundPlane plane = gst_stereo_ground_plane_of (&camera, &pose);

    fail_unless (gst_stereo_ground_pose_of (&camera, &plane, &back));
    fail_unless (fabs (back.height / pose.height - 1) < 1e-9);
    fail_unless (fabs (back.pitch - pose.pitch) < 1e-9);
    fail_unless (fabs (back.roll - pose.roll) < 1e-9);
    /* a ceiling is no ground */
    plane.down = -plane.down;
    fail_if (gst_stereo_ground_pose_of (&camera, &plane, &back));
  }
}

/* ---- a ground ---------------------------------------------------------------------------- */

/* A camera that is made for its height: the ground has from 10 px on of disparity at the bottom of the picture. */
static MadeScene
random_scene (void)
{
  MadeScene scene = made_road ();

  scene.width = random_range (&generator, 320, 800);
  scene.height = random_range (&generator, 240, 500);
  scene.focal = between (0.6, 1.2) * scene.width;
  scene.camera_height = between (400, 4000);
  scene.baseline = between (0.1, 0.5) * scene.camera_height;
  scene.pitch = between (-5, 30);
  scene.roll = between (-20, 20);
  /* half-width side by side, PAL, and every second row */
  static const gdouble stretches[] = { 0, 2, 16 / 15.0, 0.5 };
  scene.stretch = stretches[random_range (&generator, 0, 3)];
  return scene;
}

static void
add_walls (MadeScene *scene)
{
  for (guint i = 0; i < 3; i++) {
    MadeBox wall = { between (6, 12) * scene->camera_height, 0, between (0.5, 2) * scene->camera_height,
      between (1, 3) * scene->camera_height, 0 };

    wall.lateral = between (-0.5, 0.5) * wall.distance;
    scene->boxes[i] = wall;
  }
}

TEST (test_random_grounds)
{
  static const MadeErrors errors = { .noise = 0.3, .outliers = 0.3, .holes = 0.2 };

  for (gint i = 0; i < random_count ("STEREO_TEST_COUNT", 200); i++) {
    g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
    MadeScene scene = random_scene ();

    if (i % 2)
      add_walls (&scene);
    g_autoptr (MadePicture) picture = made_picture_new (&scene);
    GstStereoGroundResult result = analyse (analysis, picture, &errors);
    check_pose (&result, &scene, i % 2 ? "with walls" : "bare");
  }
}

/* The plane in pixels is that of the true disparities. */
TEST (test_plane_in_pixels)
{
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
  MadeScene road = made_road ();
  g_autoptr (MadePicture) picture = made_picture_new (&road);

  /* views of which the right one has its principal point 7 px to the right: disparities are smaller by that */
  picture->meta.principal_offset = 7;
  for (gsize i = 0; i < (gsize) road.width * (gsize) road.height; i++)
    picture->truth[i] = MAX (0, picture->truth[i] - 7);
  GstStereoGroundResult result = analyse (analysis, picture, &plain);
  check_pose (&result, &road, "offset");
  for (gint y = 260; y < road.height; y += 20)
    for (gint x = 0; x < road.width; x += 200)
      fail_unless (
          fabs (result.plane[0] + result.plane[1] * x + result.plane[2] * y - picture->truth[y * road.width + x]) < 0.2);
}

/* A road that is not quite flat, as most are: noise does not choose among planes that are nearly as good. */
TEST (test_uneven_road)
{
  MadeScene road = made_road ();
  g_autoptr (MadePicture) picture = made_picture_new (&road);

  for (gint i = 0; i < road.width * road.height; i++)
    picture->truth[i] *= (gfloat) (1 + 0.03 * sin (9.0 * (i % road.width) / road.width));
  for (guint i = 0; i < 20; i++) {
    g_autoptr (GstStereoGroundAnalysis) fresh = gst_stereo_ground_analysis_new ();
    fail_unless (fabs (analyse (fresh, picture, &plain).fit.pose.roll - road.roll) < 0.05);
  }
}

/* ---- in time ----------------------------------------------------------------------------- */

TEST (test_sudden_change)
{
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
  MadeScene road = made_road ();
  GstStereoGroundResult result = { 0 };

  for (guint turn = 0; turn < 6; turn++) {
    road.pitch = between (-3, 8);
    road.camera_height = between (1000, 2500);
    g_autoptr (MadePicture) picture = made_picture_new (&road);
    for (guint i = 0; i < 3; i++)
      result = analyse (analysis, picture, &heavy);
    check_pose (&result, &road, "three frames after a change");
  }
}

/* A camera that nods is followed frame by frame. */
TEST (test_slow_change)
{
  static const MadeErrors errors = { .noise = 0.3, .outliers = 0.1, .patches = 200 };
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
  MadeScene road = made_road ();

  for (guint i = 0; i < 30; i++) {
    road.pitch = 1 + sin (i / 3.0);
    g_autoptr (MadePicture) picture = made_picture_new (&road);
    GstStereoGroundResult result = analyse (analysis, picture, &errors);
    check_pose (&result, &road, "nodding");
  }
}

/* A ground that was away for ten frames moves on from where it was, and so does one that came back for a frame; after one
 * more away it is another one. */
TEST (test_forgotten)
{
  static const struct
  {
    const gchar *frames; /* '0': away */
    gboolean forgotten;
  } cases[] = { { "10000000000", FALSE }, { "100000010000000", FALSE }, { "100000000000", TRUE } };
  static const MadeErrors errors = { .noise = 0.3 }, holes = { .holes = 1 };
  GstStereoGroundTask task = made_task ();
  MadeScene road = made_road (), nods = road;
  g_autoptr (MadePicture) before = made_picture_new (&road), after = NULL;

  nods.pitch += 0.1;
  after = made_picture_new (&nods);
  made_picture_spoil (after, &errors, &generator);
  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    g_autoptr (GstStereoGroundAnalysis) one = gst_stereo_ground_analysis_new (),
                                        fresh = gst_stereo_ground_analysis_new ();
    GstStereoGroundResult a, b;

    for (const gchar *frame = cases[c].frames; *frame; frame++) {
      a = analyse (one, before, *frame == '1' ? &errors : &holes);
      fail_unless_equals_int (a.valid, *frame == '1');
    }
    gst_stereo_ground_analysis_run (one, &after->view, &task, &a);
    gst_stereo_ground_analysis_run (fresh, &after->view, &task, &b);
    fail_unless (a.valid && b.valid);
    fail_unless_equals_int (
        a.fit.plane.at == b.fit.plane.at && a.fit.plane.down == b.fit.plane.down, cases[c].forgotten);
  }
}

/* A valley: the right half of the road rises. Another ground that is about as good as the last one is taken when it is seen
 * twice in a row: '1' is a frame with both, '0' one with the last one alone. */
TEST (test_two_grounds)
{
  static const struct
  {
    const gchar *frames;
    gboolean taken;
  } cases[] = { { "01", FALSE }, { "0101", FALSE }, { "011", TRUE } };
  MadeScene left = made_road (), right = left;

  left.roll = -6;
  right.roll = 6;
  for (guint c = 0; c < G_N_ELEMENTS (cases); c++) {
    g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
    g_autoptr (MadePicture) road = made_picture_new (&left), both = made_picture_new (&right);
    GstStereoGroundResult result = { 0 };

    for (gint i = 0; i < left.width * left.height; i++)
      if (i % left.width < left.width * 0.46)
        both->truth[i] = road->truth[i];
    for (const gchar *frame = cases[c].frames; *frame; frame++)
      result = analyse (analysis, *frame == '1' ? both : road, &plain);
    check_pose (&result, cases[c].taken ? &right : &left, cases[c].frames);
  }
}

/* What was learnt does not depend on what another analysis saw, and equal frames give equal results. */
TEST (test_same_frames_same_result)
{
  g_autoptr (GstStereoGroundAnalysis) one = gst_stereo_ground_analysis_new (), other = gst_stereo_ground_analysis_new ();
  GstStereoGroundTask task = made_task ();
  MadeScene road = made_road ();
  g_autoptr (MadePicture) picture = made_picture_new (&road);

  /* the other one has seen something else, and forgotten it */
  analyse (other, picture, &heavy);
  gst_stereo_ground_analysis_forget (other);
  for (guint i = 0; i < 5; i++) {
    GstStereoGroundResult a = analyse (one, picture, &heavy), b;

    gst_stereo_ground_analysis_run (other, &picture->view, &task, &b);
    fail_unless (memcmp (&a.fit, &b.fit, sizeof a.fit) == 0);
    fail_unless (memcmp (a.free_distances, b.free_distances, a.n_free_distances * sizeof (gdouble)) == 0);
  }
}

/* ---- no ground --------------------------------------------------------------------------- */

static void
check_none (MadeScene *scene, const MadeErrors *errors, const gchar *what)
{
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
  g_autoptr (MadePicture) picture = made_picture_new (scene);

  for (guint i = 0; i < 3; i++) {
    GstStereoGroundResult result = analyse (analysis, picture, errors);

    fail_if (result.valid, "%s: a ground %g mm below, pitch %g, roll %g, quality %g", what, result.fit.pose.height,
        result.fit.pose.pitch, result.fit.pose.roll, result.fit.quality);
    fail_unless_equals_int (result.n_obstacles, 0);
    fail_unless_equals_int (result.n_free_distances, 64);
    for (guint c = 0; c < 64; c++)
      fail_unless (result.free_distances[c] == GST_STEREO_GROUND_UNKNOWN);
  }
}

TEST (test_no_ground)
{
  static const MadeErrors none = { .holes = 1 }, dense = { .noise = 0.3, .outliers = 0.1, .holes = 0.1, .patches = 100 },
                          wild = { .outliers = 1 };

  for (guint i = 0; i < 20; i++) {
    MadeScene nothing = random_scene (), wall, corridor, ceiling;

    nothing.camera_height = 0;
    check_none (&nothing, &none, "no values");
    check_none (&nothing, &wild, "noise");
    wall = nothing;
    wall.background = between (3, 100);
    check_none (&wall, &dense, "a wall");
    /* two walls and the end of a corridor; the floor is not in the picture */
    corridor = nothing;
    corridor.corridor = between (600, 2000);
    corridor.boxes[0] = (MadeBox){ between (3000, 12000), 0, 1e6, 2e6, -1e6 };
    check_none (&corridor, &dense, "a corridor");
    ceiling = nothing;
    ceiling.boxes[0] = (MadeBox){ between (1000, 20000), 0, 1e6, 1e6, 0 };
    ceiling.boxes[1] = (MadeBox){ between (1000, 20000), 300, 2000, 1e6, -5e5 };
    check_none (&ceiling, &dense, "two walls");
  }
}

/* ---- obstacles --------------------------------------------------------------------------- */

static GstStereoGroundResult
analyse_ground (GstStereoGroundAnalysis *analysis, MadePicture *picture, const MadeErrors *errors)
{
  GstStereoGroundResult result = analyse (analysis, picture, errors);

  fail_unless (result.valid);
  fail_unless_equals_int (result.n_free_distances, COLUMNS);
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

/* ---- obstacles that are found ------------------------------------------------------------------------------- */

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
    result = analyse_ground (analysis, picture, errors);
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
    GstStereoGroundResult result = analyse_ground (analysis, picture, &plain);
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
    GstStereoGroundResult result = analyse_ground (analysis, picture, errors);

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

  expect_none (&road, random_count ("STEREO_TEST_COUNT", 1000), &usual);
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
    GstStereoGroundResult result = analyse_ground (analysis, frames[i] == '1' ? with : without, &usual);

    fail_unless_equals_int (result.n_obstacles, reported[i] == '1');
    if (result.n_obstacles)
      fail_unless_equals_int (result.obstacles[0].seen, frames[i] == '1');
  }
}

/* ---- free distances ---------------------------------------------------------------------- */

/* The middle of a column, px. */
static gdouble
middle (const MadeScene *scene, guint column)
{
  return (column + 0.5) * scene->width / COLUMNS;
}

/* A patch of wrong disparities may end a column: an obstacle could hide in it. */
TEST (test_an_empty_road)
{
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
  MadeScene road = made_road ();
  g_autoptr (MadePicture) picture = made_picture_new (&road);
  guint whole = 0;

  for (guint frame = 0; frame < 20; frame++) {
    GstStereoGroundResult result = analyse_ground (analysis, picture, &usual);
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
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
  MadeScene road = made_road ();
  gdouble seen[4];

  road.boxes[0] = (MadeBox){ 15000, -1000, 2000, 1500, 0 };
  made_box_seen (&road, &road.boxes[0], seen);
  g_autoptr (MadePicture) picture = made_picture_new (&road);
  made_picture_spoil (picture, &plain, &generator);
  /* of the very first frame: an obstacle need not be reported to be in the way */
  GstStereoGroundResult result = analyse_ground (analysis, picture, NULL);
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
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
  MadeScene road = made_road ();
  g_autoptr (MadePicture) picture = made_picture_new (&road);

  /* the lower part of the left quarter, and a band across the second: from 9 to 12 m */
  made_picture_spoil (picture, &plain, &generator);
  made_picture_blank (picture, 0, 300, road.width / 4, 75);
  made_picture_blank (picture, road.width / 4, 272, road.width / 4, 30);
  /* and narrow bands across the third, none of which hides an obstacle */
  for (gint y = 260; y < 370; y += 25)
    made_picture_blank (picture, road.width / 2, y, road.width / 4, 6);
  GstStereoGroundResult result = analyse_ground (analysis, picture, NULL);
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
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
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
            found = analyse_ground (analysis, picture, NULL).ground_from;
    fail_unless (fabs (found / from - 1) < 0.02, "%u %%: from %g mm, truly %g", percent, found, from);
  }
}

/* Boxes with and without values, and holes anywhere: none is driven through. Boxes are 20 % higher than the least, and as
 * wide as a column and a half. */
TEST (test_never_through_a_box)
{
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
  guint known = 0;

  for (gint turn = 0; turn < 150; turn++) {
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
    GstStereoGroundResult result = analyse_ground (analysis, picture, NULL);
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
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
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
    GstStereoGroundResult result = analyse_ground (analysis, picture, NULL);
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

SUITE (ground_analysis)
{
  generator.state = random_seed ();
  tcase_set_timeout (tcase, 240);
}
