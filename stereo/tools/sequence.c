/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Frames one after the other through one plan: errors, flicker and trails of each, and their means. */
#include "stereo/tools/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stereo/tools/random.h"

enum
{
  BAD1,
  FLICKER,
  TRAILS,
  FIGURES,
  SETTLED = 9 /* the frame, from 0, from which on means are taken, where there are more */
};

static const char *const figure_names[FIGURES] = { "bad1", "flicker", "trails" };

/* What the frames of a run share. */
typedef struct Run
{
  const Options *options;
  StereoPlan *plan;
  int width, height, frames;
  float *now, *before;        /* disparities */
  float *truth;               /* of the frame before; NULL: not known */
  double (*figures)[FIGURES]; /* of each frame, in percent; not-a-number: not known */
  uint64_t random;
} Run;

/* Gives every sample noise of its own: the polar form of the normal distribution. */
static void
add_noise (const Image *from, Image *to, Run *run)
{
  size_t count = (size_t) from->width * (size_t) from->height * (size_t) from->channels;

  for (size_t k = 0; k < count; k++) {
    double length = sqrt (-2 * log (1 - splitmix_unit (&run->random)));
    double value = rint (
        from->data[k] + run->options->noise * length * cos (2 * 3.14159265358979 * splitmix_unit (&run->random)));
    to->data[k] = (uint8_t) (value < 0 ? 0 : value > 255 ? 255 : value);
  }
}

/* Flicker: percent of the pixels whose disparity changed by more than 1 px, came or went. Trails: percent of the pixels whose true
 * disparity changed by more than 2 px, and which still have the one before within 1 px; not-a-number: no pixel's did. */
static void
compare_with_before (const Run *run, const float *truth, double *figures)
{
  int pixels = run->width * run->height, flickers = 0, changed = 0, kept = 0;

  for (int k = 0; k < pixels; k++) {
    flickers += isnan (run->now[k]) && isnan (run->before[k]) ? 0 : !(fabsf (run->now[k] - run->before[k]) <= 1);
    if (truth && run->truth && isfinite (truth[k]) && isfinite (run->truth[k]) && fabsf (truth[k] - run->truth[k]) > 2) {
      changed++;
      kept += fabsf (run->now[k] - run->truth[k]) <= 1;
    }
  }
  figures[FLICKER] = 100.0 * flickers / pixels;
  figures[TRAILS] = changed ? 100.0 * kept / changed : NAN;
}

static void
print_figures (const Run *run, const double *figures)
{
  for (int k = 0; k < FIGURES; k++)
    if (isfinite (figures[k]))
      printf (run->options->json ? ", \"%s\": %.3f" : "  %s %7.3f", figure_names[k], figures[k]);
}

static int
run_frame (Run *run, const Scene *scene, int frame)
{
  StereoImage left = scene_view (&scene->left), right = scene_view (&scene->right);
  StereoOutput output = { run->now, run->width * (ptrdiff_t) sizeof (float), STEREO_SAMPLE_F32, NULL, 0 };
  size_t bytes = (size_t) run->width * (size_t) run->height * sizeof (float);
  double *figures = run->figures[frame];
  char name[SCENE_NAME + 16];
  StereoError error;

  if (stereo_plan_execute (run->plan, &left, &right, &output, NULL, &error)) {
    fprintf (stderr, "%s\n", error.message);
    return 0;
  }
  Score score = score_map (scene, run->now, scene->visible, &score_levels);
  figures[BAD1] = score.pixels ? score.bad[1] : NAN;
  figures[FLICKER] = figures[TRAILS] = NAN;
  if (frame)
    compare_with_before (run, scene->truth, figures);
  if (!run->options->json) {
    printf ("  frame %3d", frame + 1);
    print_figures (run, figures);
    putchar ('\n');
  }
  snprintf (name, sizeof name, "%s-%03d", run->options->sequence ? "left" : scene->name, frame + 1);
  if (run->options->write &&
      !report_map (run->options, stereo_plan_params (run->plan), name, run->width, run->height, run->now, NULL))
    return 0;
  memcpy (run->before, run->now, bytes);
  free (run->truth);
  run->truth = scene->truth ? malloc (bytes) : NULL;
  if (run->truth)
    memcpy (run->truth, scene->truth, bytes);
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
  *run = (Run){
    .options = options, .width = scene->left.width, .height = scene->left.height, .frames = frames, .random = 1
  };
  run->now = malloc (pixels * sizeof *run->now);
  run->before = malloc (pixels * sizeof *run->before);
  run->figures = calloc ((size_t) frames, sizeof *run->figures);
  run->plan = stereo_plan_new (&params, run->width, run->height, &error);
  if (!run->plan)
    fprintf (stderr, "%s: %s\n", scene->name, error.message);
  return run->plan && run->now && run->before && run->figures;
}

/* The mean of each figure over the frames from @first on that have it. */
static void
print_run (const Run *run, const char *name)
{
  int first = run->frames > SETTLED ? SETTLED : 1;
  double temporal = stereo_plan_params (run->plan)->temporal, means[FIGURES];

  for (int f = 0; f < FIGURES; f++) {
    double sum = 0;
    int count = 0;
    for (int k = first; k < run->frames; k++)
      if (isfinite (run->figures[k][f])) {
        sum += run->figures[k][f];
        count++;
      }
    means[f] = count ? sum / count : NAN;
  }
  if (!run->options->json) {
    printf ("%s, noise %g, temporal %g, frames %d to %d:", name, run->options->noise, temporal, first + 1, run->frames);
    print_figures (run, means);
    putchar ('\n');
    return;
  }
  report_object (name);
  printf ("\"noise\": %g, \"temporal\": %g, \"frames\": [", run->options->noise, temporal);
  for (int k = 0; k < run->frames; k++) {
    printf (k ? ", {\"frame\": %d" : "{\"frame\": %d", k + 1);
    print_figures (run, run->figures[k]);
    putchar ('}');
  }
  printf ("], \"mean\": {\"from\": %d", first + 1);
  print_figures (run, means);
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
  free (run->figures);
}

int
sequence_still (const Options *options, const Scene *scene)
{
  size_t bytes = (size_t) scene->left.width * (size_t) scene->left.height * (size_t) scene->left.channels;
  Scene noisy = *scene;
  Run run;

  noisy.left.data = malloc (bytes);
  noisy.right.data = malloc (bytes);
  int done = run_new (&run, options, scene, options->frames) && noisy.left.data && noisy.right.data;
  for (int k = 0; k < options->frames && done; k++) {
    add_noise (&scene->left, &noisy.left, &run);
    add_noise (&scene->right, &noisy.right, &run);
    done = run_frame (&run, &noisy, k);
  }
  run_end (&run, scene->name, done);
  free (noisy.left.data);
  free (noisy.right.data);
  return done;
}

int
sequence_folder (const Options *options)
{
  SceneList list = { 0 };
  Run run = { 0 };
  int done = scenes_find_frames (&list, options->sequence);
  int frames = options->frames && options->frames < list.count ? options->frames : list.count;

  for (int k = 0; k < frames && done; k++) {
    Scene scene;
    done = scene_load (&scene, &list.files[k], options->truth_scale);
    if (!done)
      break;
    if (!run.plan)
      done = run_new (&run, options, &scene, frames);
    if (done && (scene.left.width != run.width || scene.left.height != run.height)) {
      fprintf (stderr, "%s has another size than the frames before\n", list.files[k].left);
      done = 0;
    }
    add_noise (&scene.left, &scene.left, &run);
    add_noise (&scene.right, &scene.right, &run);
    done = done && run_frame (&run, &scene, k);
    scene_free (&scene);
  }
  if (run.plan)
    run_end (&run, options->sequence, done);
  scenes_free (&list);
  return done;
}
