/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Measurements as an aligned table, or as JSON. */
#include "stereo/tools/bench.h"

#include <stdio.h>
#include <string.h>

static int rows;

static const char *
choice_name (const char *parameter, int value)
{
  for (const StereoChoice *c = stereo_param_find (parameter)->choices; c->name; c++)
    if (c->value == value)
      return c->name;
  return "?";
}

void
report_begin (const Options *options)
{
  rows = 0;
  if (options->json) {
    putchar ('[');
    return;
  }
  if (options->score || options->frames || options->sequence)
    return;
  printf ("%-20s %-10s %4s %-4s %-6s %-10s %-5s | %8s %8s %8s | %8s %8s %8s | %8s | %7s %7s %6s\n", "scene", "size",
      "disp", "on", "method", "cost", "supp.", "frame ms", "min", "max", "compute", "min", "max", "overlap", "GDE/s",
      "MiB", "valid%");
}

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
  fputs (rows++ ? ",\n {" : "\n {", stdout);
  print_json_text ("scene", scene);
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
  int first = 1;

  if (!s->pixels)
    return;
  printf (", \"confidence\": {\"area\": %.6f, \"best_area\": %.6f, \"calibration\": [", s->area, s->best);
  for (int k = 0; k < CONFIDENCE_BINS; k++) {
    if (!s->count[k])
      continue;
    printf ("%s{\"pixels\": %d, \"stated\": %.4f, \"right\": %.4f}", first ? "" : ", ", s->count[k], s->stated[k],
        s->right[k]);
    first = 0;
  }
  fputs ("]}", stdout);
}

static void
print_json_times (const Measurement *m)
{
  printf ("\"median_ms\": %.4f, \"min_ms\": %.4f, \"max_ms\": %.4f, ", m->frame.median, m->frame.min, m->frame.max);
  printf ("\"compute_median_ms\": %.4f, \"compute_min_ms\": %.4f, \"compute_max_ms\": %.4f, ", m->compute.median,
      m->compute.min, m->compute.max);
  printf ("\"overlapped_ms\": %.4f, \"gde_per_s\": %.4f, \"stages_ms\": {", m->overlapped_ms, m->gde);
  for (int k = 0; k < m->stages; k++)
    printf ("%s\"%s\": %.4f", k ? ", " : "", m->stage_name[k], m->stage_ms[k]);
  fputs ("}, ", stdout);
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
  if (!options->score)
    print_json_times (m);
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
print_table_row (const Measurement *m)
{
  char size[24];

  snprintf (size, sizeof size, "%dx%d", m->width, m->height);
  printf (
      "%-20s %-10s %4d %-4s %-6s %-10s %-5s | %8.3f %8.3f %8.3f | %8.3f %8.3f %8.3f | %8.3f | %7.3f %7.1f %6.1f\n   ",
      m->scene, size, m->disparities, m->backend, stereo_method_info (m->params.method)->name,
      stereo_cost_info (m->params.cost)->name, choice_name ("support", m->params.support), m->frame.median,
      m->frame.min, m->frame.max, m->compute.median, m->compute.min, m->compute.max, m->overlapped_ms, m->gde,
      m->arena_mib, 100 * m->valid);
  for (int k = 0; k < m->stages; k++)
    printf (" %s %.3f", m->stage_name[k], m->stage_ms[k]);
  putchar ('\n');
}

void
report_row (const Options *options, const Measurement *m)
{
  if (options->json)
    print_json (options, m);
  else if (!options->score)
    print_table_row (m);
  fflush (stdout);
}

void
report_end (const Options *options)
{
  if (options->json)
    puts ("\n]");
}
