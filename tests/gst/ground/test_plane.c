/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The ground is found in made pictures, followed in time, and not found where there is none. */

#include <math.h>

#include "tests/gst/ground/made.h"
#include "tests/support/gst/suite.h"

static Random generator;

#define between(low, high) random_between (&generator, low, high)

static GstStereoGroundResult
analyse (GstStereoGroundAnalysis *analysis, MadePicture *picture, const MadeErrors *errors)
{
  GstStereoGroundTask task = made_task ();
  GstStereoGroundResult result;

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

  for (gint i = 0; i < random_count ("STEREO_TEST_GROUNDS", 200); i++) {
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
  static const MadeErrors errors = { .noise = 0.3 };
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
  MadeScene road = made_road ();
  g_autoptr (MadePicture) picture = made_picture_new (&road);

  /* views of which the right one has its principal point 7 px to the right: disparities are smaller by that */
  picture->meta.principal_offset = 7;
  for (gsize i = 0; i < (gsize) road.width * (gsize) road.height; i++)
    picture->truth[i] = MAX (0, picture->truth[i] - 7);
  GstStereoGroundResult result = analyse (analysis, picture, &errors);
  check_pose (&result, &road, "offset");
  for (gint y = 260; y < road.height; y += 20)
    for (gint x = 0; x < road.width; x += 200)
      fail_unless (
          fabs (result.plane[0] + result.plane[1] * x + result.plane[2] * y - picture->truth[y * road.width + x]) < 0.2);
}

/* ---- in time ----------------------------------------------------------------------------- */

TEST (test_sudden_change)
{
  static const MadeErrors errors = { .noise = 0.3, .outliers = 0.1 };
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
  MadeScene road = made_road ();
  GstStereoGroundResult result = { 0 };

  for (guint turn = 0; turn < 6; turn++) {
    road.pitch = between (-3, 8);
    road.camera_height = between (1000, 2500);
    g_autoptr (MadePicture) picture = made_picture_new (&road);
    for (guint i = 0; i < 3; i++)
      result = analyse (analysis, picture, &errors);
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
  static const MadeErrors errors = { .noise = 0.3 };
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
      result = analyse (analysis, *frame == '1' ? both : road, &errors);
    check_pose (&result, cases[c].taken ? &right : &left, cases[c].frames);
  }
}

/* What was learnt does not depend on what another analysis saw, and equal frames give equal results. */
TEST (test_same_frames_same_result)
{
  static const MadeErrors errors = { .noise = 0.3, .outliers = 0.3 };
  g_autoptr (GstStereoGroundAnalysis) one = gst_stereo_ground_analysis_new (), other = gst_stereo_ground_analysis_new ();
  GstStereoGroundTask task = made_task ();
  MadeScene road = made_road ();
  g_autoptr (MadePicture) picture = made_picture_new (&road);

  /* the other one has seen something else, and forgotten it */
  analyse (other, picture, &errors);
  gst_stereo_ground_analysis_forget (other);
  for (guint i = 0; i < 5; i++) {
    GstStereoGroundResult a = analyse (one, picture, &errors), b;

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
  static const MadeErrors none = { .holes = 1 }, usual = { .noise = 0.3, .outliers = 0.1, .holes = 0.1, .patches = 100 },
                          wild = { .outliers = 1 };

  for (guint i = 0; i < 20; i++) {
    MadeScene nothing = random_scene (), wall, corridor, ceiling;

    nothing.camera_height = 0;
    check_none (&nothing, &none, "no values");
    check_none (&nothing, &wild, "noise");
    wall = nothing;
    wall.background = between (3, 100);
    check_none (&wall, &usual, "a wall");
    /* two walls and the end of a corridor; the floor is not in the picture */
    corridor = nothing;
    corridor.corridor = between (600, 2000);
    corridor.boxes[0] = (MadeBox){ between (3000, 12000), 0, 1e6, 2e6, -1e6 };
    check_none (&corridor, &usual, "a corridor");
    ceiling = nothing;
    ceiling.boxes[0] = (MadeBox){ between (1000, 20000), 0, 1e6, 1e6, 0 };
    ceiling.boxes[1] = (MadeBox){ between (1000, 20000), 300, 2000, 1e6, -5e5 };
    check_none (&ceiling, &usual, "two walls");
  }
}

/* ---- limits ------------------------------------------------------------------------------ */

TEST (test_camera_heights)
{
  static const MadeErrors errors = { .noise = 0.3 };
  g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();
  MadeScene road = made_road ();
  g_autoptr (MadePicture) picture = made_picture_new (&road);
  const struct
  {
    gdouble least, most;
    gboolean valid;
  } cases[] = { { 1600, 1700, TRUE }, { 200, 1600, FALSE }, { 1700, 6000, FALSE } };

  made_picture_spoil (picture, &errors, &generator);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstStereoGroundTask task = made_task ();
    GstStereoGroundResult result;

    task.limits.min_height = cases[i].least;
    task.limits.max_height = cases[i].most;
    gst_stereo_ground_analysis_run (analysis, &picture->view, &task, &result);
    fail_unless_equals_int (result.valid, cases[i].valid);
  }
}

/* Samples count from min-confidence on. */
TEST (test_least_confidence)
{
  static const MadeErrors errors = { .noise = 0.3 };
  MadeScene road = made_road ();
  g_autoptr (MadePicture) picture = made_picture_new (&road);
  gsize pixels = (gsize) road.width * (gsize) road.height;

  for (guint below = 0; below < 2; below++) {
    g_autoptr (GstStereoGroundAnalysis) analysis = gst_stereo_ground_analysis_new ();

    picture->view.min_confidence = 128;
    memset (picture->confidence, below ? 127 : 128, pixels);
    GstStereoGroundResult result = analyse (analysis, picture, &errors);
    fail_unless_equals_int (result.valid, !below);
  }
}

SUITE (ground_plane)
{
  generator.state = random_seed ();
  tcase_set_timeout (tcase, 240);
}
