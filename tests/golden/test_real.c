/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Real scenes: errors no more than 0.3 percent points above those of a plain reading of the papers
 * (the tables of issues 2 and 4). The pictures are not part of the project: STEREO_DATA names their folder.
 * STEREO_LONG=1 adds aloe, the large one, on the CPU too.
 */
#include <math.h>
#include <unistd.h>

#include "stereo/tools/score.h"
#include "tests/support/check.h"
#include "tests/support/params.h"

#define TOLERANCE 0.3

enum
{
  NAMES = 6
};
static const char *const names[NAMES] = { "motorcycle", "teddy", "cones", "tsukuba", "venus", "aloe" };
/* to search, for the figures below */
static const int disparities[NAMES] = { 70, 60, 60, 16, 20, 224 };

/* The figures were measured with these settings and without paths and removal of speckles, which came later. */
#define TUNED \
  "window=33 paths=none speckle-size=0 cost=mixed refine-window=65 refine-alpha=0.16 refine-iterations=3 " \
  "subpixel=1 consistency=1 fill=background median=3"

/* What Yu et al. do not have: the check, and filling of what it contradicts. Without these, see averages below. */
#define ES_FINISH " profile=thesis consistency=16 speckle-size=60 fill=background median=5"

/* bad1, bad2, bad4 of the pixels both views see (aloe: of all; 0: not known) */
static const struct
{
  const char *title, *params;
  double bad[NAMES][3];
} rows[] = {
  { "profile=thesis", "profile=thesis",
      { { 9.2, 4.4, 2.6 }, { 7.3, 5.2, 3.0 }, { 3.8, 2.9, 1.8 }, { 4.6, 4.0, 2.2 }, { 0.4, 0.3, 0.3 },
          { 15.1, 12.7, 10.9 } } },
  { "profile=thesis, no refinement", "profile=thesis refine-iterations=0",
      { { 9.3, 4.7, 2.9 }, { 7.8, 5.7, 3.4 }, { 4.1, 3.2, 2.1 }, { 5.2, 4.5, 2.6 }, { 0.5, 0.4, 0.4 },
          { 16.5, 14.5, 13.1 } } },
  { "tuned, both", TUNED " support=both gamma-color=100 gamma-distance=10",
      { { 5.2, 3.1, 1.8 }, { 5.0, 3.3, 2.0 }, { 2.2, 1.8, 1.2 }, { 4.0, 3.0, 1.7 }, { 0.5, 0.2, 0.2 },
          { 11.5, 5.8, 4.4 } } },
  { "tuned, left", TUNED " support=left gamma-color=50 gamma-distance=5",
      { { 5.5, 3.3, 2.0 }, { 5.1, 3.3, 2.0 }, { 2.2, 1.8, 1.2 }, { 3.9, 2.9, 1.6 }, { 0.6, 0.2, 0.2 },
          { 10.9, 5.4, 4.1 } } },
  { "sgm, ad", "method=sgm profile=thesis",
      { { 18.7, 10.5, 7.2 }, { 9.1, 6.3, 3.5 }, { 5.3, 3.4, 2.2 }, { 3.3, 2.7, 0.9 }, { 1.7, 1.2, 1.0 },
          { 20.4, 17.2, 14.9 } } },
  { "sgm, census-9x7", "method=sgm cost=census-9x7 fill=background",
      { { 7.0, 4.4, 3.1 }, { 6.0, 3.8, 2.4 }, { 4.0, 3.3, 2.3 }, { 5.1, 2.5, 1.3 }, { 1.4, 0.9, 0.7 },
          { 15.2, 10.8, 9.7 } } },
  { "esaw, 9 iterations", "method=esaw" ES_FINISH,
      { { 25.2, 12.5, 7.1 }, { 8.6, 5.8, 3.8 }, { 6.0, 4.0, 2.3 }, { 1.9, 1.6, 0.5 }, { 1.4, 0.7, 0.6 },
          { 18.9, 14.3, 10.9 } } },
  { "esaw, 5 iterations", "method=esaw iterations=5 step-base=2.6" ES_FINISH,
      { { 22.9, 13.4, 8.0 }, { 9.6, 6.8, 4.6 }, { 8.0, 5.4, 3.4 }, { 2.0, 1.5, 0.5 }, { 1.8, 1.0, 0.6 }, { 0 } } },
  { "esmp, 8 iterations", "method=esmp" ES_FINISH,
      { { 24.1, 11.8, 6.3 }, { 8.7, 6.0, 4.0 }, { 5.2, 3.3, 2.0 }, { 1.9, 1.5, 0.5 }, { 0.7, 0.3, 0.2 },
          { 19.2, 14.9, 11.8 } } },
};
enum
{
  ROWS = sizeof rows / sizeof *rows
};

/* 0: it is not there, or a message. */
static int
load_scene (Scene *scene, const char *folder, const char *name)
{
  char left[1024], right[1024];
  SceneFiles files;

  snprintf (left, sizeof left, "%s/%s/left.png", folder, name);
  snprintf (right, sizeof right, "%s/%s/right.png", folder, name);
  if (access (left, R_OK) || !scene_pair (&files, left, right) || !scene_load (scene, &files, 0))
    return 0;
  for (int k = 0; k < NAMES; k++)
    if (!strcmp (names[k], name))
      scene->disparities = disparities[k];
  return 1;
}

/* Disparities of a scene, to be freed; NULL after a failure. */
static float *
match_scene (const Scene *scene, const char *text, StereoBackendChoice backend)
{
  float *disparity = malloc ((size_t) scene->left.width * (size_t) scene->left.height * sizeof *disparity);
  StereoImage left = scene_view (&scene->left), right = scene_view (&scene->right);
  StereoOutput output = { disparity, scene->left.width * (ptrdiff_t) sizeof *disparity, STEREO_SAMPLE_F32, NULL, 0 };
  StereoError error = { 0 };
  StereoParams params;
  StereoPlan *plan = NULL;

  stereo_params_init (&params);
  params.backend = backend;
  params.num_disparities = scene->disparities;
  params_set (&params, "%s", text);
  int done = CHECK ((plan = stereo_plan_new (&params, scene->left.width, scene->left.height, &error)) != NULL, "%s",
                 error.message) &&
      CHECK (!stereo_plan_execute (plan, &left, &right, &output, NULL, &error), "%s", error.message);
  stereo_plan_free (plan);
  if (done)
    return disparity;
  free (disparity);
  return NULL;
}

static void
check_row (int row, int name, StereoBackendChoice backend, const Scene *scene)
{
  float *disparity = match_scene (scene, rows[row].params, backend);

  if (!disparity)
    return;
  Score score = score_map (scene, disparity, scene->visible, &score_levels);
  printf ("%-32s %-12s bad1 %5.2f  bad2 %5.2f  bad4 %5.2f   (%.1f / %.1f / %.1f)\n", rows[row].title, names[name],
      score.bad[1], score.bad[2], score.bad[3], rows[row].bad[name][0], rows[row].bad[name][1], rows[row].bad[name][2]);
  /* the table is rounded to 0.1 */
  for (int k = 0; k < 3 && rows[row].bad[name][0] > 0; k++)
    CHECK (score.bad[k + 1] <= rows[row].bad[name][k] + TOLERANCE + 0.05, "bad%g is %.2f, not %.1f",
        score_levels.px[k + 1], score.bad[k + 1], rows[row].bad[name][k]);
  free (disparity);
}

static void
check_scene (const char *folder, int name, StereoBackendChoice backend)
{
  const char *on = backend == STEREO_BACKEND_CUDA ? "cuda" : "cpu";
  char path[1024];
  Scene scene;

  snprintf (path, sizeof path, "%s/%s/left.png", folder, names[name]);
  int there = load_scene (&scene, folder, names[name]);
  int later = !strcmp (names[name], "aloe") && backend == STEREO_BACKEND_CPU && !getenv ("STEREO_LONG");
  for (int row = 0; row < ROWS; row++) {
    if (!check_begin ("%s, %s, %s", on, names[name], rows[row].title))
      continue;
    if (!there)
      check_skip ("%s is not there; STEREO_DATA names the folder of the scenes", path);
    else if (later)
      check_skip ("takes long; STEREO_LONG=1 runs it");
    else
      check_row (row, name, backend, &scene);
    check_end ();
  }
  if (there)
    scene_free (&scene);
}

/* ---- the average of twelve numbers --------------------------------------------------------------- */

/* Pixels off by more than 1 px in the non-occluded, all and discontinuous areas of four scenes, averaged, as Table IV of
 * Yu et al. has it: what it prints, and 0.3 more. */
static const struct
{
  const char *params;
  double most;
} averages[] = {
  { "method=esaw profile=thesis", 8.2 + 0.3 },
  { "method=esaw iterations=5 step-base=2.6 profile=thesis", 9.6 + 0.3 },
  { "method=esmp profile=thesis", 7.42 + 0.3 },
};

/* The three numbers of a scene, added to @sum; 0: it is not there, or has no such masks. */
static int
add_areas (const char *folder, const char *name, const char *text, StereoBackendChoice backend, double *sum)
{
  static const char *const areas[] = { "nocc", "all", "disc" };
  char path[1024];
  float *disparity = NULL;
  Scene scene;
  int done = 0;

  if (!load_scene (&scene, folder, name))
    return 0;
  disparity = match_scene (&scene, text, backend);
  for (int k = 0; k < 3 && disparity; k++) {
    Image mask = { 0 };
    snprintf (path, sizeof path, "%s/%s/mask_%s.png", folder, name, areas[k]);
    if (access (path, R_OK) || !image_read_png (path, &mask))
      break;
    if (mask.width == scene.left.width && mask.height == scene.left.height && mask.channels == 1) {
      double bad = score_map (&scene, disparity, mask.data, &score_levels).bad[1];
      printf (" %5.2f", bad);
      *sum += bad;
      done++;
    }
    free (mask.data);
  }
  free (disparity);
  scene_free (&scene);
  return done == 3;
}

static void
check_average (const char *folder, int row, StereoBackendChoice backend)
{
  static const char *const scenes[] = { "tsukuba", "venus", "teddy", "cones" };
  double sum = 0;
  int there = 0;

  for (int k = 0; k < 4; k++)
    there += add_areas (folder, scenes[k], averages[row].params, backend, &sum);
  if (there < 4) {
    check_skip ("the scenes and masks are not there; STEREO_DATA names the folder of the scenes");
    return;
  }
  printf ("   average of twelve %.2f (%.1f)\n", sum / 12, averages[row].most);
  CHECK (sum / 12 <= averages[row].most, "the average of twelve is %.2f, more than %.1f", sum / 12, averages[row].most);
}

int
main (int argc, char **argv)
{
  const char *folder = getenv ("STEREO_DATA") ? getenv ("STEREO_DATA") : STEREO_DATA_FOLDER;

  check_start (argc, argv);
  for (int b = 0; b < 2; b++) {
    StereoBackendChoice backend = b ? STEREO_BACKEND_CUDA : STEREO_BACKEND_CPU;
    char reason[200];
    if (stereo_backend_available (backend, -1, reason, sizeof reason)) {
      for (int name = 0; name < NAMES; name++)
        check_scene (folder, name, backend);
      for (int row = 0; row < (int) (sizeof averages / sizeof *averages); row++)
        if (check_begin ("%s, twelve, %s", b ? "cuda" : "cpu", averages[row].params)) {
          check_average (folder, row, backend);
          check_end ();
        }
    } else if (check_begin ("cuda")) {
      check_skip ("%s", reason);
      check_end ();
    }
  }
  return check_finish ();
}
