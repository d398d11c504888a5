/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Branches of a plan's steps: each begins before there is work on it, and the steps wait for all of it. What paths add is a byte. */
#include "stereo/engine/backend.h"

#include "tests/support/check.h"
#include "tests/support/random.h"

#include <stdlib.h>

enum
{
  WIDTH = 200,
  HEIGHT = 60
};

static StereoPlan *
make_plan (const StereoParams *params)
{
  StereoError error = { STEREO_OK, "" };
  StereoPlan *plan = stereo_plan_new (params, WIDTH, HEIGHT, &error);

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

/* Checks the branches of a plan whose steps run in order. */
static void
check_branches (const StereoPlan *plan)
{
  unsigned begun = 0, open = 0;

  for (int i = 0; i < plan->step_count; i++) {
    const StereoStep *step = &plan->steps[i];
    begun |= step->forks;
    CHECK (!step->early || begun >> step->early & 1, "%s has work on a branch that has not begun", step->stage->name);
    CHECK (!step->early || step->joins >> step->early & 1, "%s does not wait for its own work", step->stage->name);
    open |= step->late ? 1u << step->late : 0;
    open &= ~step->joins;
  }
  CHECK (!open, "no step waits for the branches %x", open);
}

CASE (test_all_join, "all branches are joined")
{
  Random random = { random_seed () };
  int used = 0;

  for (int round = 0; round < 40; round++) {
    StereoParams params = random_params (&random);
    StereoPlan *plan = make_plan (&params);
    for (const StereoPlan *level = plan; level; level = level->coarse) {
      check_branches (level);
      for (int i = 0; i < level->step_count; i++) {
        const StereoStep *step = &level->steps[i];
        used += step->early || step->late;
        CHECK (!level->is_coarse || !(step->forks | step->joins | step->early | step->late), "%s of a coarser level",
            step->stage->name);
      }
    }
    stereo_plan_free (plan);
  }
  CHECK (used, "no step has a branch");
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
      StereoPlan *plan = make_plan (&params);
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
    StereoPlan *plan = make_plan (&params);
    CHECK (plan->fusion.path_sums == STEREO_PATHS_ADD_BYTES, "%d disparities", params.num_disparities);
    stereo_plan_free (plan);
  }
}
