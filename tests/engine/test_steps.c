/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Branches of a plan's steps: each begins before there is work on it, and the steps wait for all of it. What paths add is a byte. */
#include "stereo/engine/backend.h"

#include "tests/support/check.h"
#include "tests/support/random.h"

#include <stdlib.h>

enum
{
  WIDTH = 200,
  WIDE = 1300, /* three levels */
  HEIGHT = 60
};

static StereoPlan *
make_plan (const StereoParams *params, int width)
{
  StereoError error = { STEREO_OK, "" };
  StereoPlan *plan = stereo_plan_new (params, width, HEIGHT, &error);

  CHECK (plan, "%s", error.message);
  return plan;
}

static StereoParams
random_params (Random *random)
{
  StereoParams params;

  stereo_params_init (&params);
  params.backend = STEREO_BACKEND_CPU;
  params.num_disparities = random_range (random, 16, 64);
  params.search = random_range (random, 0, 1) ? STEREO_SEARCH_COARSE_TO_FINE : STEREO_SEARCH_FULL;
  params.temporal = random_range (random, 0, 1) * 0.5;
  params.speckle_size = random_range (random, 0, 1) * 50;
  params.consistency = random_range (random, -1, 1);
  params.fill = random_range (random, 0, 1) ? STEREO_FILL_GAPS : STEREO_FILL_NONE;
  if (params.consistency < 0)
    params.fill = STEREO_FILL_KEEP;
  return params;
}

/* Checks the branches of a plan whose steps run in order, those of its coarser level in the step for them. @begun; @open: with work
 * that no step has waited for. */
static void
check_branches (const StereoPlan *plan, unsigned *begun, unsigned *open)
{
  const StereoStageTable *t = plan->stages;
  StereoBranch features = plan->is_coarse ? STEREO_BESIDE_COARSE : STEREO_BESIDE_LEVELS;

  for (int i = 0; i < plan->step_count; i++) {
    const StereoStep *step = &plan->steps[i];
    const char *name = step->stage->name;
    *begun |= step->forks;
    CHECK (!step->early || *begun >> step->early & 1, "%s has work on a branch that has not begun", name);
    *open |= (step->early ? 1u << step->early : 0) | (step->late ? 1u << step->late : 0);
    if (plan->coarse && step->stage == t->coarse)
      check_branches (plan->coarse, begun, open);
    *open &= ~step->joins;
    if (plan->listed && step->stage == t->list_match (&plan->params))
      CHECK (!(*open >> features & 1), "%s does not wait for the features", name);
    if (plan->listed && step->stage == t->candidates)
      CHECK (!(*open >> STEREO_BESIDE_MAPS & 1), "%s do not wait for the winners before the paths", name);
  }
}

CASE (test_all_join, "all branches are joined")
{
  Random random = { random_seed () };
  int used = 0;

  for (int round = 0; round < 40; round++) {
    StereoParams params = random_params (&random);
    unsigned begun = 0, open = 0;
    if (round % 4 == 0)
      params.num_disparities = 256;
    StereoPlan *plan = make_plan (&params, round % 4 ? WIDTH : WIDE);
    check_branches (plan, &begun, &open);
    CHECK (!open, "no step waits for the branches %x", open);
    for (const StereoPlan *level = plan; level; level = level->coarse)
      for (int i = 0; i < level->step_count; i++)
        used |= (1 << level->steps[i].early) | (1 << level->steps[i].late);
    stereo_plan_free (plan);
  }
  CHECK (used == (1 << STEREO_BRANCHES) - 1, "branches %x are used", used);
}

static const StereoStep *
find_step (const StereoPlan *plan, const StereoStage *stage)
{
  for (int i = 0; i < plan->step_count; i++)
    if (plan->steps[i].stage == stage)
      return &plan->steps[i];
  return NULL;
}

/* What motion keeps is read while speckles are looked for, except where each stage is compared alone. */
CASE (test_speckle_waits, "who waits for the history")
{
  StereoParams params;

  stereo_params_init (&params);
  params.backend = STEREO_BACKEND_CPU;
  params.num_disparities = 32;
  params.temporal = 0.5;
  for (int speckles = 0; speckles < 2; speckles++)
    for (int single = 0; single < 2; single++) {
      params.speckle_size = 50 * speckles;
      setenv ("STEREO_CPU_FUSION", single ? "0" : "1", 1);
      StereoPlan *plan = make_plan (&params, WIDTH);
      const StereoStep *motion = find_step (plan, plan->stages->motion);
      const StereoStep *speckle = find_step (plan, plan->stages->speckle);
      CHECK (motion && !speckle == !speckles, "the steps are others");
      int itself = motion->joins >> motion->late & 1, other = speckle && speckle->joins >> motion->late & 1;
      CHECK (motion->late && itself == (single || !speckles) && other == !itself, "speckles %d, single %d: %d, %d",
          speckles, single, itself, other);
      stereo_plan_free (plan);
    }
  unsetenv ("STEREO_CPU_FUSION");
}

/* With the default's own penalties, of up to 800 disparities: with words a full search takes half as long again on a GPU. */
CASE (test_paths_add_bytes, "what a path adds is a byte")
{
  Random random = { random_seed () };
  StereoParams params;

  for (int round = 0; round < 30; round++) {
    stereo_params_init (&params);
    params.backend = STEREO_BACKEND_CPU;
    params.num_disparities = round < 2 ? (round ? 800 : 1) : random_range (&random, 1, 800);
    params.search = STEREO_SEARCH_FULL;
    StereoPlan *plan = make_plan (&params, WIDTH);
    CHECK (plan->fusion.path_sums == STEREO_PATHS_ADD_BYTES, "%d disparities", params.num_disparities);
    stereo_plan_free (plan);
  }
}
