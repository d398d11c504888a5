/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One table of the scores of many scenes, with the means of each group and of all. */
#include "stereo/tools/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Row
{
  char scene[LAYOUT_NAME], group[LAYOUT_NAME], setting[80];
  int disparities, from_truth, printed;
  Score all, visible;
  ConfidenceScore confidence_score;
} Row;

static Row *rows;
static int count, room;

int
table_add (const Measurement *m)
{
  if (count == room) {
    room = room ? 2 * room : 16;
    Row *grown = realloc (rows, (size_t) room * sizeof *rows);
    if (!grown) {
      fputs ("no memory for the table of scores\n", stderr);
      return 0;
    }
    rows = grown;
  }
  Row *row = &rows[count++];
  *row = (Row){ .disparities = m->disparities,
    .from_truth = !strcmp (m->range, "truth"),
    .all = m->all,
    .visible = m->visible,
    .confidence_score = m->confidence_score };
  snprintf (row->scene, sizeof row->scene, "%s", m->scene);
  snprintf (row->group, sizeof row->group, "%s", m->group);
  snprintf (row->setting, sizeof row->setting, "%s, %s, %s", stereo_method_info (m->params.method)->name,
      stereo_cost_info (m->params.cost)->name, m->backend);
  return 1;
}

/* The heads of one score's columns, as wide as print_score() makes them. */
static void
print_score_head (const char *part, const ScoreLevels *levels)
{
  char bad[32], kept[40];

  snprintf (bad, sizeof bad, "bad %g", levels->px[0]);
  snprintf (kept, sizeof kept, "kept: bad %g", levels->px[0]);
  printf (" | %-5s%8s", part, bad);
  for (int k = 1; k < levels->count; k++)
    printf (" %5g", levels->px[k]);
  printf (" %5s %6s %5s %14s", "D1", "err", "dens", kept);
  for (int k = 1; k < levels->count; k++)
    printf (" %5g", levels->px[k]);
  printf (" %5s", "D1");
}

static void
print_head (const Options *options, const char *setting)
{
  printf ("\n"
          "%s. bad N, D1: percent wrong or missing; err: mean error in px, dens: percent, and kept: percent wrong, of "
          "what has a value\n"
          "%-32s %5s",
      setting, "scene", "disp");
  print_score_head ("all:", &options->levels);
  print_score_head ("nocc:", &options->levels);
  putchar ('\n');
}

static void
print_score (const Score *score, const ScoreLevels *levels)
{
  if (!score->pixels) {
    printf (" | %*s", 53 + 12 * (levels->count - 1), "-");
    return;
  }
  printf (" | %13.2f", score->bad[0]);
  for (int k = 1; k < levels->count; k++)
    printf (" %5.2f", score->bad[k]);
  printf (" %5.2f %6.2f %5.1f %14.2f", score->d1, score->average_error, score->density, score->kept_bad[0]);
  for (int k = 1; k < levels->count; k++)
    printf (" %5.2f", score->kept_bad[k]);
  printf (" %5.2f", score->kept_d1);
}

static void
print_row (const Options *options, const char *name, const char *disparities, const Score *all, const Score *visible)
{
  printf ("%-32s %5s", name, disparities);
  print_score (all, &options->levels);
  print_score (visible, &options->levels);
  putchar ('\n');
}

static void
print_mean (const Options *options, const char *of, const ScoreMean *all, const ScoreMean *visible)
{
  Score mean_all = score_mean (all), mean_visible = score_mean (visible);
  char name[LAYOUT_NAME + 32];

  if (all->scenes < 2)
    return;
  if (visible->scenes && visible->scenes != all->scenes)
    snprintf (name, sizeof name, "mean of %d, nocc %d, %s", all->scenes, visible->scenes, of);
  else
    snprintf (name, sizeof name, "mean of %d, %s", all->scenes, of);
  print_row (options, name, "", &mean_all, &mean_visible);
}

/* The rows of @first's setting and group, and their mean; those of the setting are added to @all and @visible. */
static void
print_group (const Options *options, const Row *first, ScoreMean *all, ScoreMean *visible)
{
  ScoreMean group_all = { 0 }, group_visible = { 0 };
  char disparities[16];

  for (int k = 0; k < count; k++) {
    Row *row = &rows[k];
    if (strcmp (row->setting, first->setting) || strcmp (row->group, first->group))
      continue;
    row->printed = 1;
    snprintf (disparities, sizeof disparities, "%d%s", row->disparities, row->from_truth ? "*" : "");
    print_row (options, row->scene, disparities, &row->all, &row->visible);
    score_mean_add (&group_all, &row->all);
    score_mean_add (&group_visible, &row->visible);
    score_mean_add (all, &row->all);
    score_mean_add (visible, &row->visible);
  }
  print_mean (options, first->group, &group_all, &group_visible);
}

/* A value of each bin, in percent: @sums divided by @weights. A bin without weight has none. */
static void
print_bins (const char *name, const double *sums, const double *weights)
{
  printf ("  %-14s", name);
  for (int k = 0; k < CONFIDENCE_BINS; k++)
    if (weights[k] > 0)
      printf (" %5.1f", 100 * sums[k] / weights[k]);
    else
      fputs ("     -", stdout);
  putchar ('\n');
}

/* How sure the setting of @first is of what it says, over its scenes from @first on, all of which weigh the same. */
static void
print_confidence (const Row *first)
{
  double ratio = 0, stated[CONFIDENCE_BINS] = { 0 }, right[CONFIDENCE_BINS] = { 0 }, share[CONFIDENCE_BINS] = { 0 };
  double all[CONFIDENCE_BINS] = { 0 };
  int scenes = 0;

  for (const Row *row = first; row < rows + count; row++) {
    const ConfidenceScore *s = &row->confidence_score;
    if (strcmp (row->setting, first->setting) || !s->pixels || !isfinite (sparsification_ratio (s)))
      continue;
    scenes++;
    ratio += sparsification_ratio (s);
    for (int k = 0; k < CONFIDENCE_BINS; k++) {
      double part = (double) s->count[k] / s->pixels;
      all[k]++;
      share[k] += part;
      stated[k] += part * s->stated[k];
      right[k] += part * s->right[k];
    }
  }
  if (!scenes)
    return;
  printf ("confidence: area under the sparsification curve %.2f times the best, mean of %d\n", ratio / scenes, scenes);
  print_bins ("percent stated", stated, share);
  print_bins ("right, 1 px", right, share);
  print_bins ("of the pixels", share, all);
}

static int
has_scores (void)
{
  for (int k = 0; k < count; k++)
    if (rows[k].all.pixels)
      return 1;
  return 0;
}

void
table_print (const Options *options)
{
  int guessed = 0;

  for (int k = 0; k < count && has_scores (); k++) {
    ScoreMean all = { 0 }, visible = { 0 };
    int groups = 0;
    if (rows[k].printed)
      continue;
    print_head (options, rows[k].setting);
    for (int j = k; j < count; j++) {
      guessed |= rows[j].from_truth;
      if (rows[j].printed || strcmp (rows[j].setting, rows[k].setting))
        continue;
      print_group (options, &rows[j], &all, &visible);
      groups++;
    }
    if (groups > 1)
      print_mean (options, "all scenes", &all, &visible);
    print_confidence (&rows[k]);
  }
  if (guessed && has_scores ())
    puts ("* the largest true disparity, rounded up to a multiple of 16; --num-disparities sets another number");
}

void
table_free (void)
{
  free (rows);
  rows = NULL;
  count = room = 0;
}
