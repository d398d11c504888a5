/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames one after the other through one plan: errors, flicker and trails of each, and their means. */
#include "stereo/tools/bench.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stereo/tools/random.h"

enum
{
  SETTLED = 9 /* the frame, from 0, from which on means are taken, where there are more */
};

/* In percent; not-a-number: not known. */
typedef struct Result
{
  double bad, flicker, trails;
} Result;

/* What the frames of a run share. */
typedef struct Run
{
  const Options *options;
  StereoPlan *plan;
  int width, height, frames;
  float *now, *before; /* disparities */
  float *truth;        /* of the frame before; NULL: not known */
  Result *results;     /* of each frame */
} Run;

static double
gaussian (uint64_t *random)
{
  return sqrt (-2 * log (1 - splitmix_unit (random))) * cos (2 * 3.14159265358979 * splitmix_unit (random));
}

/* @to gets @from with noise of its own in every sample. */
static void
add_noise (const Image *from, Image *to, double noise, uint64_t *random)
{
  size_t count = (size_t) from->width * (size_t) from->height * (size_t) from->channels;

  for (size_t k = 0; k < count; k++) {
    double value = rint (from->data[k] + noise * gaussian (random));
    to->data[k] = (uint8_t) (value < 0 ? 0 : value > 255 ? 255 : value);
  }
}

/* Percent of the pixels whose disparity changed by more than 1 px, came or went. */
static double
flicker_of (const Run *run)
{
  int pixels = run->width * run->height, count = 0;

  for (int k = 0; k < pixels; k++)
    count += isnan (run->now[k]) && isnan (run->before[k]) ? 0 : !(fabsf (run->now[k] - run->before[k]) <= 1);
  return 100.0 * count / pixels;
}

/* Percent of the pixels whose true disparity changed by more than 2 px, and which still have the one before within 1 px;
 * not-a-number: no pixel's did. */
static double
trails_of (const Run *run, const float *truth)
{
  int pixels = run->width * run->height, changed = 0, kept = 0;

  for (int k = 0; k < pixels && truth && run->truth; k++)
    if (isfinite (truth[k]) && isfinite (run->truth[k]) && fabsf (truth[k] - run->truth[k]) > 2) {
      changed++;
      kept += fabsf (run->now[k] - run->truth[k]) <= 1;
    }
  return changed ? 100.0 * kept / changed : NAN;
}

/* A figure with its name, if it is known. */
static void
print_figure (const Run *run, const char *name, double figure)
{
  if (isfinite (figure) && run->options->json)
    printf (", \"%s\": %.3f", name, figure);
  else if (isfinite (figure))
    printf ("  %s %7.3f", name, figure);
}

static void
print_result (const Run *run, const Result *result)
{
  print_figure (run, run->options->json ? "bad1" : "bad 1", result->bad);
  print_figure (run, "flicker", result->flicker);
  print_figure (run, "trails", result->trails);
}

static int
write_frame (const Run *run, const char *name, int frame)
{
  Map map = { run->width, run->height, stereo_plan_params (run->plan)->disparity_scale };
  char numbered[2 * LAYOUT_NAME];

  snprintf (numbered, sizeof numbered, "%s-%03d", name, frame + 1);
  return pictures_disparity (run->options, numbered, &map, run->now);
}

static int
run_frame (Run *run, const Scene *scene, int frame)
{
  StereoImage left = scene_view (&scene->left), right = scene_view (&scene->right);
  StereoOutput output = { run->now, run->width * (ptrdiff_t) sizeof (float), STEREO_SAMPLE_F32, NULL, 0 };
  size_t pixels = (size_t) run->width * (size_t) run->height;
  StereoError error;

  if (stereo_plan_execute (run->plan, &left, &right, &output, NULL, &error)) {
    fprintf (stderr, "%s\n", error.message);
    return 0;
  }
  Score score = score_map (scene, run->now, scene->visible, &score_levels);
  run->results[frame] = (Result){ score.pixels ? score.bad[1] : NAN, frame ? flicker_of (run) : NAN,
    frame ? trails_of (run, scene->truth) : NAN };
  if (!run->options->json) {
    printf ("  frame %3d", frame + 1);
    print_result (run, &run->results[frame]);
    putchar ('\n');
  }
  if (run->options->write && !write_frame (run, scene->name, frame))
    return 0;
  memcpy (run->before, run->now, pixels * sizeof *run->now);
  free (run->truth);
  run->truth = scene->truth ? malloc (pixels * sizeof *run->truth) : NULL;
  if (run->truth)
    memcpy (run->truth, scene->truth, pixels * sizeof *run->truth);
  return 1;
}

static int
run_new (Run *run, const Options *options, const Scene *scene, int frames)
{
  size_t pixels = (size_t) scene->left.width * (size_t) scene->left.height;
  StereoParams params = options->params;
  StereoError error = { STEREO_OK, "" };

  if (!options->range_set && scene->disparities)
    params.num_disparities = scene->disparities;
  *run = (Run){ .options = options, .width = scene->left.width, .height = scene->left.height, .frames = frames };
  run->now = malloc (pixels * sizeof *run->now);
  run->before = malloc (pixels * sizeof *run->before);
  run->results = calloc ((size_t) frames, sizeof *run->results);
  run->plan = stereo_plan_new (&params, run->width, run->height, &error);
  if (!run->plan)
    fprintf (stderr, "%s: %s\n", scene->name, error.message);
  return run->plan && run->now && run->before && run->results;
}

/* Mean of the figures that are known, from frame @first on. */
static double
mean_of (const Run *run, int first, double (*figure_of) (const Result *result))
{
  double sum = 0;
  int count = 0;

  for (int k = first; k < run->frames; k++) {
    double figure = figure_of (&run->results[k]);
    sum += isfinite (figure) ? figure : 0;
    count += isfinite (figure) != 0;
  }
  return count ? sum / count : NAN;
}

static double
bad_in (const Result *result)
{
  return result->bad;
}

static double
flicker_in (const Result *result)
{
  return result->flicker;
}

static double
trails_in (const Result *result)
{
  return result->trails;
}

static void
print_run (const Run *run, const char *name)
{
  int first = run->frames > SETTLED ? SETTLED : 1;
  double temporal = stereo_plan_params (run->plan)->temporal;
  Result mean = { mean_of (run, first, bad_in), mean_of (run, first, flicker_in), mean_of (run, first, trails_in) };

  if (!run->options->json) {
    printf ("%s, noise %g, temporal %g, frames %d to %d:", name, run->options->noise, temporal, first + 1, run->frames);
    print_result (run, &mean);
    putchar ('\n');
    return;
  }
  report_object (name);
  printf ("\"noise\": %g, \"temporal\": %g, \"frames\": [", run->options->noise, temporal);
  for (int k = 0; k < run->frames; k++) {
    printf (k ? ", {\"frame\": %d" : "{\"frame\": %d", k + 1);
    print_result (run, &run->results[k]);
    putchar ('}');
  }
  printf ("], \"mean\": {\"from\": %d", first + 1);
  print_result (run, &mean);
  printf ("}}");
}

static void
run_end (Run *run, const char *name, int done)
{
  if (done && run->frames > 1)
    print_run (run, name);
  fflush (stdout);
  stereo_plan_free (run->plan);
  free (run->now);
  free (run->before);
  free (run->truth);
  free (run->results);
}

/* ---- a pair that stands still ------------------------------------------------------------------ */

int
sequence_still (const Options *options, const Scene *scene)
{
  size_t bytes = (size_t) scene->left.width * (size_t) scene->left.height * (size_t) scene->left.channels;
  Scene noisy = *scene;
  uint64_t random = 1;
  Run run;

  noisy.left.data = malloc (bytes);
  noisy.right.data = malloc (bytes);
  int frames = options->frames ? options->frames : 20;
  int done = run_new (&run, options, scene, frames) && noisy.left.data && noisy.right.data;
  for (int k = 0; k < frames && done; k++) {
    add_noise (&scene->left, &noisy.left, options->noise, &random);
    add_noise (&scene->right, &noisy.right, options->noise, &random);
    done = run_frame (&run, &noisy, k);
  }
  run_end (&run, scene->name, done);
  free (noisy.left.data);
  free (noisy.right.data);
  return done;
}

/* ---- a folder of frames ------------------------------------------------------------------------ */

static int
is_png (const struct dirent *entry)
{
  size_t length = strlen (entry->d_name);
  return length > 4 && !strcmp (entry->d_name + length - 4, ".png");
}

/* left/NAME.png and right/NAME.png, with gt/NAME.png or gt/NAME.pfm where that exists. */
static int
load_frame (const char *folder, const char *name, int truth_scale, Scene *scene)
{
  char left[LAYOUT_PATH], right[LAYOUT_PATH];
  SceneFiles files;

  if (snprintf (left, sizeof left, "%s/left/%s", folder, name) >= LAYOUT_PATH ||
      snprintf (right, sizeof right, "%s/right/%s", folder, name) >= LAYOUT_PATH) {
    fprintf (stderr, "%s: the path is too long\n", folder);
    return 0;
  }
  if (!layouts_pair (&files, left, right))
    return 0;
  if (snprintf (left, sizeof left, "%s/gt/%s", folder, name) < LAYOUT_PATH && !access (left, R_OK)) {
    memcpy (files.truth, left, sizeof files.truth);
    files.truth_format = TRUTH_KITTI;
  } else if (snprintf (left, sizeof left, "%s/gt/%.*s.pfm", folder, (int) strlen (name) - 4, name) < LAYOUT_PATH &&
      !access (left, R_OK)) {
    memcpy (files.truth, left, sizeof files.truth);
    files.truth_format = TRUTH_PFM;
  }
  return scene_load (scene, &files, truth_scale);
}

int
sequence_folder (const Options *options)
{
  char path[LAYOUT_PATH];
  struct dirent **names = NULL;
  uint64_t random = 1;
  Run run = { 0 };

  snprintf (path, sizeof path, "%s/left", options->sequence);
  int count = scandir (path, &names, is_png, alphasort), done = count > 0;
  if (!done)
    fprintf (stderr, "%s: there is no PNG in it; --sequence takes a folder with left/ and right/\n", path);
  int frames = options->frames && options->frames < count ? options->frames : count;
  for (int k = 0; k < frames && done; k++) {
    Scene scene;
    done = load_frame (options->sequence, names[k]->d_name, options->truth_scale, &scene);
    if (!done)
      break;
    if (!run.plan)
      done = run_new (&run, options, &scene, frames);
    if (done && (scene.left.width != run.width || scene.left.height != run.height)) {
      fprintf (stderr, "%s: %s has another size than the frames before\n", options->sequence, names[k]->d_name);
      done = 0;
    }
    add_noise (&scene.left, &scene.left, options->noise, &random);
    add_noise (&scene.right, &scene.right, options->noise, &random);
    done = done && run_frame (&run, &scene, k);
    scene_free (&scene);
  }
  if (run.plan)
    run_end (&run, options->sequence, done);
  for (int k = 0; k < count; k++)
    free (names[k]);
  free (names);
  return done;
}
