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
    { t->reselect_last, STAGE_RESELECT_LAST },
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
    case STAGE_RESELECT_LAST:
      return step == STAGE_RESELECT;
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
  if (kind == STAGE_RESELECT_LAST || kind == STAGE_DISPARITY)
    return map->view == STEREO_RIGHT && !strcmp (map->name, "confidence");
  return kind == STAGE_OUTPUT && !strcmp (map->name, "disparity");
}

/* The methods' plain stages, and those of them whose arithmetic is in whole numbers. */
static void (*const twins[STEREO_METHODS]) (StereoPlan *plan) = {
  [STEREO_METHOD_ASW] = naive_asw,
  [STEREO_METHOD_SGM] = naive_sgm,
  [STEREO_METHOD_ESAW] = naive_exponential,
  [STEREO_METHOD_ESMP] = naive_exponential,
  [STEREO_METHOD_BM] = naive_bm,
};
static const int exact[STEREO_METHODS] = {
  [STEREO_METHOD_SGM] = 1, [STEREO_METHOD_ESAW] = 1, [STEREO_METHOD_ESMP] = 1, [STEREO_METHOD_BM] = 1
};

int
naive_exact (const StereoPlan *plan)
{
  return exact[plan->params.method];
}

void
naive_run (Naive *naive, StageKind kind)
{
  StereoPlan *p = &naive->plan;

  switch (kind) {
    case STAGE_LOAD:
      naive_load (p);
      break;
    case STAGE_ALIGN:
      naive_align (p);
      break;
    case STAGE_TEMPORAL:
      naive_temporal (p);
      break;
    case STAGE_FEATURES:
      naive_features (p);
      break;
    case STAGE_LAB:
      naive_lab (p);
      break;
    case STAGE_MATCH:
      twins[p->params.method](p);
      break;
    case STAGE_KEEP:
      naive_keep (p);
      break;
    case STAGE_CANDIDATES:
      naive_candidates (p);
      break;
    case STAGE_LIST_MATCH:
      naive_list_match (p);
      break;
    case STAGE_PRIOR:
      naive_prior (p);
      break;
    case STAGE_LIST_PATHS:
      naive_list_paths (p);
      break;
    case STAGE_PATHS:
      naive_paths (p);
      break;
    case STAGE_SELECT:
      naive_select (p);
      break;
    case STAGE_CHECK:
      naive_check (p);
      break;
    case STAGE_REFINE:
      naive_refine (naive);
      break;
    case STAGE_RESELECT:
      naive_reselect (p);
      break;
    case STAGE_SUBPIXEL:
      naive_disparity (p, 1);
      break;
    case STAGE_INTEGER:
      naive_disparity (p, 0);
      break;
    case STAGE_REJECT:
      naive_reject (p);
      break;
    case STAGE_PROBABILITY:
      (p->listed ? naive_list_probability : naive_probability) (p);
      break;
    case STAGE_MOTION:
      naive_motion (p);
      break;
    case STAGE_SPECKLE:
      naive_speckle (p);
      break;
    case STAGE_FILL:
      naive_fill (p);
      break;
    case STAGE_PLANES:
      naive_planes (p);
      break;
    case STAGE_GAPS:
      naive_gaps (p);
      break;
    case STAGE_MEDIAN:
      naive_median (p);
      break;
    case STAGE_THRESHOLD:
      naive_threshold (p);
      break;
    case STAGE_STORE:
      naive_store (naive);
      break;
    case STAGE_COARSE: /* changes another plan's state: tests/stages/test_stages.c */
    case STAGE_RESELECT_LAST:
    case STAGE_DISPARITY:
    case STAGE_OUTPUT:
    case STAGE_UNKNOWN:
      break;
  }
}
