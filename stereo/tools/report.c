/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurements as lines to read or as JSON, and maps as PNGs. tests/bench/table.py has means over scenes. */
#include "stereo/tools/bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int objects;

static void
print_json_text (const char *name, const char *text)
{
  printf ("\"%s\": \"", name);
  for (; *text; text++)
    if (*text == '"' || *text == '\\')
      printf ("\\%c", *text);
    else if ((unsigned char) *text >= ' ')
      putchar (*text);
  fputs ("\", ", stdout);
}

void
report_object (const char *scene)
{
  fputs (objects++ ? ",\n {" : "[\n {", stdout);
  print_json_text ("scene", scene);
}

void
report_end (const Options *options)
{
  if (options->json)
    puts (objects ? "\n]" : "[\n]");
}

static void
print_json_score (const char *name, const Score *score, const ScoreLevels *levels)
{
  if (!score->pixels)
    return;
  printf (", \"%s\": {\"pixels\": %d", name, score->pixels);
  for (int k = 0; k < levels->count; k++)
    printf (", \"bad%g\": %.4f", levels->px[k], score->bad[k]);
  printf (", \"d1\": %.4f, \"density\": %.4f", score->d1, score->density);
  if (score->kept) {
    printf (", \"average_error\": %.4f, \"kept\": {\"pixels\": %d", score->average_error, score->kept);
    for (int k = 0; k < levels->count; k++)
      printf (", \"bad%g\": %.4f", levels->px[k], score->kept_bad[k]);
    printf (", \"d1\": %.4f}", score->kept_d1);
  }
  putchar ('}');
}

static void
print_json_confidence (const ConfidenceScore *s)
{
  const char *comma = "";

  if (!s->pixels)
    return;
  printf (", \"confidence\": {\"area\": %.6f, \"best_area\": %.6f, \"calibration\": [", s->area, s->best);
  for (int k = 0; k < CONFIDENCE_BINS; k++)
    if (s->count[k]) {
      printf ("%s{\"pixels\": %d, \"stated\": %.4f, \"right\": %.4f}", comma, s->count[k], s->stated[k], s->right[k]);
      comma = ", ";
    }
  fputs ("]}", stdout);
}

static void
print_json (const Options *options, const Measurement *m)
{
  const StereoParamInfo *info;
  char text[32];

  report_object (m->scene);
  print_json_text ("group", m->group);
  print_json_text ("backend", m->backend);
  print_json_text ("reason", m->reason);
  print_json_text ("disparities_from", m->range);
  printf ("\"width\": %d, \"height\": %d, \"disparities\": %d, \"runs\": %d, ", m->width, m->height, m->disparities,
      m->runs);
  printf ("\"arena_mib\": %.2f, \"valid_ratio\": %.6f, ", m->arena_mib, m->valid);
  if (!options->score) {
    printf ("\"median_ms\": %.4f, \"min_ms\": %.4f, \"max_ms\": %.4f, ", m->frame.median, m->frame.min, m->frame.max);
    printf ("\"compute_median_ms\": %.4f, \"compute_min_ms\": %.4f, \"compute_max_ms\": %.4f, ", m->compute.median,
        m->compute.min, m->compute.max);
    printf ("\"overlapped_ms\": %.4f, \"gde_per_s\": %.4f, \"stages_ms\": {", m->overlapped_ms, m->gde);
    for (int k = 0; k < m->stages; k++)
      printf ("%s\"%s\": %.4f", k ? ", " : "", m->stage_name[k], m->stage_ms[k]);
    fputs ("}, ", stdout);
  }
  fputs ("\"parameters\": {", stdout);
  for (int i = 0; (info = stereo_param_info (i)); i++) {
    const char *quote = info->choices ? "\"" : "";
    printf ("%s\"%s\": %s%s%s", i ? ", " : "", info->name, quote,
        stereo_param_format (&m->params, info, text, sizeof text), quote);
  }
  putchar ('}');
  print_json_score ("all", &m->all, &options->levels);
  print_json_score ("nocc", &m->visible, &options->levels);
  print_json_confidence (&m->confidence_score);
  putchar ('}');
}

static void
print_score (const char *name, const Score *score, const ScoreLevels *levels)
{
  if (!score->pixels)
    return;
  printf ("    %-5s bad", name);
  for (int k = 0; k < levels->count; k++)
    printf (" %g: %.2f", levels->px[k], score->bad[k]);
  printf (", D1 %.2f, err %.2f, dens %.1f, kept: bad", score->d1, score->average_error, score->density);
  for (int k = 0; k < levels->count; k++)
    printf (" %g: %.2f", levels->px[k], score->kept_bad[k]);
  printf (", D1 %.2f\n", score->kept_d1);
}

void
report_row (const Options *options, const Measurement *m)
{
  if (options->json) {
    print_json (options, m);
  } else {
    printf ("%s: %dx%d, %d disparities (%s), %s, %s, %s, %.1f MiB, %.1f %% valid\n", m->scene, m->width, m->height,
        m->disparities, m->range, m->backend, stereo_method_info (m->params.method)->name,
        stereo_cost_info (m->params.cost)->name, m->arena_mib, 100 * m->valid);
    if (!options->score) {
      printf ("    frame %.3f ms (%.3f to %.3f), compute %.3f (%.3f to %.3f), overlap %.3f, %.3f GDE/s\n   ",
          m->frame.median, m->frame.min, m->frame.max, m->compute.median, m->compute.min, m->compute.max,
          m->overlapped_ms, m->gde);
      for (int k = 0; k < m->stages; k++)
        printf (" %s %.3f", m->stage_name[k], m->stage_ms[k]);
      putchar ('\n');
    }
    print_score ("all:", &m->all, &options->levels);
    print_score ("nocc:", &m->visible, &options->levels);
  }
  fflush (stdout);
}

/* ---- maps -------------------------------------------------------------------------------------- */

/* A PNG of @name, whose slashes become dashes; makes the folder. */
static int
write_map (const char *folder, const char *name, const char *kind, int width, int height, int bits, const void *samples)
{
  char path[1024];
  size_t folder_length = strlen (folder) + 1;

  if (mkdir (folder, 0777) && errno != EEXIST) {
    fprintf (stderr, "%s: cannot be made\n", folder);
    return 0;
  }
  if (snprintf (path, sizeof path, "%s/%s-%s.png", folder, name, kind) >= (int) sizeof path) {
    fprintf (stderr, "%s/%s: the path is too long\n", folder, name);
    return 0;
  }
  for (char *at = path + folder_length; *at; at++)
    *at = *at == '/' ? '-' : *at;
  return image_write_png (path, width, height, 1, bits, samples);
}

int
report_map (const Options *options, const StereoParams *params, const char *name, int width, int height,
    const float *disparity, const uint8_t *confidence)
{
  size_t pixels = (size_t) width * (size_t) height;
  uint16_t *steps = malloc (pixels * sizeof *steps);

  for (size_t at = 0; steps && at < pixels; at++) { /* as the element stores it: 0 = invalid */
    double value = rint ((double) disparity[at] * params->disparity_scale);
    steps[at] = (uint16_t) (isnan (disparity[at]) || value < 0 ? 0 : value < 1 ? 1 : value > 65535 ? 65535 : value);
  }
  int done = steps && write_map (options->write, name, "disparity", width, height, 16, steps) &&
      (!confidence || write_map (options->write, name, "confidence", width, height, 8, confidence));
  free (steps);
  return done;
}
