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
#define PLACE(name, where, twin) [STAGE_##name] = where,
  const StereoStage *const stages[] = { NAIVE_STAGES (PLACE) };

  for (int kind = 0; kind < STAGE_UNKNOWN; kind++)
    if (stages[kind] == stage)
      return (StageKind) kind;
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
  if (kind == STAGE_CANDIDATES) /* new lists, which say where costs lie */
    return !strcmp (map->name, "list costs");
  return kind == STAGE_OUTPUT && !strcmp (map->name, "disparity");
}

void
naive_match (StereoPlan *p)
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

void
naive_nothing (StereoPlan *p)
{
}

int
naive_exact (const StereoPlan *plan)
{
  return plan->params.method != STEREO_METHOD_ASW; /* the others' arithmetic is in whole numbers */
}

void
naive_run (Naive *naive, StageKind kind)
{
#define TWIN(name, stage, twin) [STAGE_##name] = twin,
  static void (*const twins[]) (StereoPlan * plan) = { NAIVE_STAGES (TWIN) };

  if (kind < STAGE_UNKNOWN)
    twins[kind](&naive->plan);
}
