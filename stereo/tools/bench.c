/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stereo-bench: times any method, cost and backend on pairs, synthetic pairs or folders of scenes. */
#include "stereo/tools/bench.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum
{
  WARM_UP = 2,
  PROFILED = 20
};

static double
now_ms (void)
{
  struct timespec t;
  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double) t.tv_sec * 1e3 + (double) t.tv_nsec * 1e-6;
}

static int
ascending (const void *a, const void *b)
{
  double x = *(const double *) a, y = *(const double *) b;
  return (x > y) - (x < y);
}

static double
median (double *values, int count)
{
  qsort (values, (size_t) count, sizeof *values, ascending);
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* A plan with its buffers. */
typedef struct Bench
{
  StereoPlan *plan;
  StereoImage left, right;
  StereoOutput output;
} Bench;

static int
run_frame (Bench *bench, StereoStats *stats)
{
  StereoError error;
  if (!stereo_plan_execute (bench->plan, &bench->left, &bench->right, &bench->output, stats, &error))
    return 1;
  fprintf (stderr, "%s\n", error.message);
  return 0;
}

static Times
times_of (double *ms, int count)
{
  double middle = median (ms, count); /* sorts */
  return (Times){ middle, ms[0], ms[count - 1] };
}

/* Whole frames, without the measurement of stages in between. */
static int
time_frames (Bench *bench, Measurement *m)
{
  static double ms[BENCH_MAX_RUNS], steps[BENCH_MAX_RUNS];
  StereoStats stats = { 0 };

  for (int k = 0; k < WARM_UP; k++)
    if (!run_frame (bench, &stats))
      return 0;
  for (int k = 0; k < m->runs; k++) {
    double start = now_ms ();
    if (!run_frame (bench, &stats))
      return 0;
    ms[k] = now_ms () - start;
    steps[k] = (double) stats.steps_ns * 1e-6;
  }
  m->frame = times_of (ms, m->runs);
  m->compute = times_of (steps, m->runs);
  m->gde = (double) m->width * m->height * m->disparities / m->frame.median * 1e-6;
  m->valid = stats.valid_ratio;
  return 1;
}

/* As a pipeline runs: a frame is submitted before the one ahead is collected. */
static int
time_overlapped (Bench *bench, Measurement *m)
{
  int frames = WARM_UP + m->runs;
  StereoError error;
  double start = 0;

  for (int k = 0; k <= frames; k++) {
    if ((k < frames && stereo_plan_submit (bench->plan, &bench->left, &bench->right, &bench->output, &error)) ||
        (k && stereo_plan_collect (bench->plan, NULL, &error))) {
      fprintf (stderr, "%s\n", error.message);
      return 0;
    }
    if (k == WARM_UP)
      start = now_ms ();
  }
  m->overlapped_ms = (now_ms () - start) / m->runs;
  return 1;
}

static int
time_stages (Bench *bench, Measurement *m)
{
  static double ms[BENCH_MAX_STAGES][PROFILED];
  int runs = m->runs < PROFILED ? m->runs : PROFILED;

  m->stages = stereo_plan_stage_count (bench->plan);
  stereo_plan_set_profiling (bench->plan, 1);
  for (int r = 0; r < runs; r++) {
    if (!run_frame (bench, NULL))
      return 0;
    for (int k = 0; k < m->stages; k++)
      ms[k][r] = stereo_plan_stage_ms (bench->plan, k);
  }
  stereo_plan_set_profiling (bench->plan, 0);
  for (int k = 0; k < m->stages; k++) {
    m->stage_name[k] = stereo_plan_stage_name (bench->plan, k);
    m->stage_ms[k] = median (ms[k], runs);
  }
  return 1;
}

/* The views as the plan gets them: where the scene has them, or where the backend reads them without a transfer. */
static int
place_views (const Options *options, const Scene *scene, Bench *bench)
{
  StereoImage left = scene_view (&scene->left), right = scene_view (&scene->right);
  StereoError error;

  if (!options->device_input) {
    bench->left = left;
    bench->right = right;
    return 1;
  }
  if (!stereo_plan_image_new (bench->plan, &left, &bench->left, &error) &&
      !stereo_plan_image_new (bench->plan, &right, &bench->right, &error))
    return 1;
  fprintf (stderr, "%s\n", error.message);
  return 0;
}

/* The frames of --score: no clock, no warm-up. */
static int
run_frames (Bench *bench, Measurement *m)
{
  StereoStats stats = { 0 };

  for (int k = 0; k < m->runs; k++)
    if (!run_frame (bench, &stats))
      return 0;
  m->valid = stats.valid_ratio;
  return 1;
}

/* Times one plan and scores what it gives. */
static int
measure (const Options *options, const Scene *scene, Bench *bench, Measurement *m)
{
  static const char *const ranges[] = {
    [RANGE_UNKNOWN] = "default", [RANGE_CALIBRATION] = "calib.txt", [RANGE_TRUTH] = "truth", [RANGE_MADE] = "made"
  };
  size_t pixels = (size_t) scene->left.width * (size_t) scene->left.height;
  float *disparity = malloc (pixels * sizeof *disparity);
  char name[2 * SCENE_NAME + 32];
  uint8_t *confidence = malloc (pixels);
  int done = 0;

  m->params = *stereo_plan_params (bench->plan);
  m->width = scene->left.width;
  m->height = scene->left.height;
  m->disparities = m->params.num_disparities;
  m->arena_mib = (double) stereo_plan_memory (bench->plan) / (1 << 20);
  m->range = options->range_set ? "option" : ranges[scene->range];
  snprintf (m->scene, sizeof m->scene, "%s", scene->name);
  snprintf (m->group, sizeof m->group, "%s", scene->group);
  snprintf (m->backend, sizeof m->backend, "%s", stereo_plan_backend (bench->plan));
  snprintf (m->reason, sizeof m->reason, "%s", stereo_plan_backend_reason (bench->plan));
  m->runs = options->runs ? options->runs : options->score ? 1 : strcmp (m->backend, "cuda") ? 20 : 60;
  bench->output = (StereoOutput){ disparity, m->width * (ptrdiff_t) sizeof *disparity, STEREO_SAMPLE_F32, confidence,
    m->width };
  if (disparity && confidence && place_views (options, scene, bench) &&
      (options->score ? run_frames (bench, m) :
                        time_frames (bench, m) && time_overlapped (bench, m) && time_stages (bench, m))) {
    if (m->params.output == STEREO_OUTPUT_DISPARITY) {
      m->all = score_map (scene, disparity, NULL, &options->levels);
      m->visible = scene->visible ? score_map (scene, disparity, scene->visible, &options->levels) : (Score){ 0 };
      m->confidence_score = score_confidence (scene, disparity, confidence, scene->visible);
    }
    int several = options->folders > 1; /* KITTI's two sets have scenes of the same names */
    snprintf (name, sizeof name, "%s%s%s-%s", several ? m->group : "", several ? "-" : "", m->scene, m->backend);
    done = !options->write || report_map (options, &m->params, name, m->width, m->height, disparity, confidence);
  }
  if (options->device_input) {
    stereo_plan_image_free (bench->plan, &bench->left);
    stereo_plan_image_free (bench->plan, &bench->right);
  }
  free (disparity);
  free (confidence);
  return done;
}

static int
bench_scene (const Options *options, const Scene *scene)
{
  StereoParams params = options->params;
  StereoError error;
  Measurement m = { 0 };
  Bench bench = { 0 };

  if (!options->range_set && scene->disparities)
    params.num_disparities = scene->disparities;
  bench.plan = stereo_plan_new (&params, scene->left.width, scene->left.height, &error);
  if (!bench.plan) {
    fprintf (stderr, "%s: %s\n", scene->name, error.message);
    return 0;
  }
  if (*stereo_plan_warning (bench.plan))
    fprintf (stderr, "%s\n", stereo_plan_warning (bench.plan));
  int done = measure (options, scene, &bench, &m);
  if (done)
    report_row (options, &m);
  stereo_plan_free (bench.plan);
  return done;
}

static int
bench_one (const Options *options, Scene *scene)
{
  int done = options->frames ? sequence_still (options, scene) : bench_scene (options, scene);
  scene_free (scene);
  return done;
}

/* Whether "NAME,NAME" has the scene, by its name or by the last part of it; a name may have wildcards. */
static int
is_listed (const char *list, const char *scene, unsigned char *used)
{
  const char *slash = strrchr (scene, '/');
  int listed = 0, k = 0;
  char pattern[SCENE_NAME];

  for (const char *at = list; *at; at += strcspn (at, ","), at += *at == ',', k++) {
    snprintf (pattern, sizeof pattern, "%.*s", (int) strcspn (at, ","), at);
    if (!fnmatch (pattern, scene, 0) || (slash && !fnmatch (pattern, slash + 1, 0)))
      listed = used[k] = 1;
  }
  return listed;
}

static int
all_names_used (const char *list, const unsigned char *used)
{
  int done = 1, k = 0;

  for (const char *at = list; *at; at += strcspn (at, ","), at += *at == ',', k++)
    if (!used[k]) {
      fprintf (stderr, "--scene %.*s: no such scene in the folders of --scenes\n", (int) strcspn (at, ","), at);
      done = 0;
    }
  return done;
}

static int
bench_folders (const Options *options)
{
  const char *names = options->scene_list ? options->scene_list : "";
  unsigned char *used = calloc (strlen (names) + 1, 1);
  SceneList list = { 0 };
  Scene scene;
  int done = used != NULL;

  for (int k = 0; k < options->folders; k++)
    done &= scenes_find (&list, options->scenes[k]);
  if (done && !list.count) {
    fprintf (stderr, "%s: there is no scene in it; --help has the names of the files\n", options->scenes[0]);
    done = 0;
  }
  for (int k = 0; k < list.count && used; k++)
    if (!*names || is_listed (names, list.files[k].name, used))
      done &= scene_load (&scene, &list.files[k], options->truth_scale) && bench_one (options, &scene);
  done = done && all_names_used (names, used);
  scenes_free (&list);
  free (used);
  return done;
}

static int
bench_all (const Options *options)
{
  SceneFiles files;
  Scene scene;

  if (options->folders)
    return bench_folders (options);
  if (options->width)
    return scene_synthetic (&scene, options->width, options->height, options->params.num_disparities) &&
        bench_one (options, &scene);
  return scene_pair (&files, options->pair[0], options->pair[1]) && scene_load (&scene, &files, options->truth_scale) &&
      bench_one (options, &scene);
}

int
main (int argc, char **argv)
{
  Options options;
  int go = options_parse (&options, argc, argv);

  if (go <= 0)
    return go ? 2 : 0;
  int done = options.sequence ? sequence_folder (&options) : bench_all (&options);
  report_end (&options);
  return done ? 0 : 1;
}
