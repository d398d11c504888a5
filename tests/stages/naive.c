/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which plain stage proves which step. */
#include "naive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *
naive_allocate (size_t count, size_t size)
{
  void *memory = calloc (count ? count : 1, size);

  if (!memory) {
    fprintf (stderr, "no memory for the test: %zu x %zu bytes\n", count, size);
    exit (1);
  }
  return memory;
}

StageKind
naive_kind (const StereoPlan *plan, const StereoStage *stage)
{
  const StereoStageTable *t = plan->stages;
  const StereoParams *p = &plan->params;
  const struct
  {
    const StereoStage *stage;
    StageKind kind;
  } rows[] = {
    { t->load, STAGE_LOAD },
    { t->align, STAGE_ALIGN },
    { t->temporal, STAGE_TEMPORAL },
    { t->features[plan->features], STAGE_FEATURES },
    { t->lab, STAGE_LAB },
    { t->match[p->method](p), STAGE_MATCH },
    { t->coarse, STAGE_COARSE },
    { t->keep, STAGE_KEEP },
    { t->candidates, STAGE_CANDIDATES },
    { plan->listed && t->list_match ? t->list_match (p) : NULL, STAGE_LIST_MATCH },
    { t->prior, STAGE_PRIOR },
    { t->list_paths, STAGE_LIST_PATHS },
    { t->paths, STAGE_PATHS },
    { t->select, STAGE_SELECT },
    { t->check, STAGE_CHECK },
    { t->refine[p->refine_mode], STAGE_REFINE },
    { t->reselect, STAGE_RESELECT },
    { t->subpixel, STAGE_SUBPIXEL },
    { t->integer, STAGE_INTEGER },
    { t->reject, STAGE_REJECT },
    { t->probability, STAGE_PROBABILITY },
    { t->motion, STAGE_MOTION },
    { t->speckle, STAGE_SPECKLE },
    { t->fill, STAGE_FILL },
    { t->planes, STAGE_PLANES },
    { t->gaps, STAGE_GAPS },
    { t->median[p->median == 5], STAGE_MEDIAN },
    { t->threshold, STAGE_THRESHOLD },
    { t->store, STAGE_STORE },
    { t->disparity, STAGE_DISPARITY },
    { t->output, STAGE_OUTPUT },
  };

  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].stage == stage)
      return rows[i].kind;
  return STAGE_UNKNOWN;
}

int
naive_covers (StageKind stage, StageKind step)
{
  switch (stage) {
    case STAGE_DISPARITY:
      return step == STAGE_CHECK || step == STAGE_SUBPIXEL || step == STAGE_INTEGER || step == STAGE_REJECT;
    case STAGE_OUTPUT:
      return step == STAGE_MEDIAN || step == STAGE_THRESHOLD || step == STAGE_STORE;
    default:
      return step == stage;
  }
}

int
naive_leaves (StageKind kind, const StereoReservation *map)
{
  if (kind == STAGE_COARSE) /* its steps have run, too */
    return strcmp (map->name, "color") && strcmp (map->name, "luma");
  if (kind == STAGE_DISPARITY)
    return map->view == STEREO_RIGHT && !strcmp (map->name, "confidence");
  return kind == STAGE_OUTPUT && !strcmp (map->name, "disparity");
}

static void
run_match (StereoPlan *p)
{
  static void (*const methods[STEREO_METHODS]) (StereoPlan * plan) = {
    [STEREO_METHOD_ASW] = naive_asw,
    [STEREO_METHOD_SGM] = naive_sgm,
    [STEREO_METHOD_ESAW] = naive_exponential,
    [STEREO_METHOD_ESMP] = naive_exponential,
    [STEREO_METHOD_BM] = naive_bm,
  };
  methods[p->params.method](p);
}

int
naive_exact (const StereoPlan *plan)
{
  return plan->params.method != STEREO_METHOD_ASW; /* the others' arithmetic is in whole numbers */
}

static void
run_probability (StereoPlan *p)
{
  (p->listed ? naive_list_probability : naive_probability) (p);
}

void
naive_run (Naive *naive, StageKind kind)
{
  /* STAGE_COARSE changes another plan's state: test_stages.c */
  static void (*const twins[STAGE_UNKNOWN + 1]) (StereoPlan * plan) = {
    [STAGE_LOAD] = naive_load,
    [STAGE_ALIGN] = naive_align,
    [STAGE_TEMPORAL] = naive_temporal,
    [STAGE_FEATURES] = naive_features,
    [STAGE_LAB] = naive_lab,
    [STAGE_MATCH] = run_match,
    [STAGE_KEEP] = naive_keep,
    [STAGE_CANDIDATES] = naive_candidates,
    [STAGE_LIST_MATCH] = naive_list_match,
    [STAGE_PRIOR] = naive_prior,
    [STAGE_LIST_PATHS] = naive_list_paths,
    [STAGE_PATHS] = naive_paths,
    [STAGE_SELECT] = naive_select,
    [STAGE_CHECK] = naive_check,
    [STAGE_RESELECT] = naive_reselect,
    [STAGE_SUBPIXEL] = naive_subpixel,
    [STAGE_INTEGER] = naive_integer,
    [STAGE_REJECT] = naive_reject,
    [STAGE_PROBABILITY] = run_probability,
    [STAGE_MOTION] = naive_motion,
    [STAGE_SPECKLE] = naive_speckle,
    [STAGE_FILL] = naive_fill,
    [STAGE_PLANES] = naive_planes,
    [STAGE_GAPS] = naive_gaps,
    [STAGE_MEDIAN] = naive_median,
    [STAGE_THRESHOLD] = naive_threshold,
  };

  if (kind == STAGE_REFINE)
    naive_refine (naive);
  else if (kind == STAGE_STORE)
    naive_store (naive);
  else if (twins[kind])
    twins[kind](&naive->plan);
}
