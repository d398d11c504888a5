/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which stages a frame goes through, in which order, on which branches, what they do for each other, and their contexts. */
#include "stereo/engine/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the order of a frame -------------------------------------------------------------------- */

static void
add (StereoPlan *plan, const StereoStage *stage)
{
  plan->steps[plan->step_count++].stage = stage;
}

/* Lets @branch begin before the step that is added next. */
static void
begin_branch (StereoPlan *plan, StereoBranch branch)
{
  plan->steps[plan->step_count].forks |= 1u << branch;
}

/* Lets the last step that was added have work on @branch, and wait for it. */
static void
add_early (StereoPlan *plan, StereoBranch branch)
{
  StereoStep *step = &plan->steps[plan->step_count - 1];

  step->early = branch;
  step->joins |= 1u << branch;
}

/* Lets the last step that was added have late work on @branch, and wait for it. */
static void
add_late (StereoPlan *plan, StereoBranch branch)
{
  StereoStep *step = &plan->steps[plan->step_count - 1];

  step->late = branch;
  step->joins |= 1u << branch;
}

/* The branch of what a level with lists needs of its own views. */
static StereoBranch
beside_levels (const StereoPlan *plan)
{
  return plan->is_coarse ? STEREO_BESIDE_COARSE : STEREO_BESIDE_LEVELS;
}

/* The winner before the paths of a coarser level: the finer one's candidates wait for it. */
static void
add_keep (StereoPlan *plan)
{
  add (plan, plan->stages->keep);
  plan->steps[plan->step_count - 1].late = STEREO_BESIDE_MAPS;
}

/* With lists, on the branch of the match, which waits for it: the coarser levels make their own features. */
static void
choose_features (StereoPlan *plan)
{
  int first = plan->step_count;

  if (plan->features != STEREO_FEATURES_NONE)
    add (plan, plan->stages->features[plan->features]);
  if (plan->params.color_difference == STEREO_COLOR_LAB)
    add (plan, plan->stages->lab);
  for (int i = first; i < plan->step_count && plan->listed; i++)
    plan->steps[i].early = beside_levels (plan);
}

/* The steps up to the first selection. */
static void
choose_selection (StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  const StereoStageTable *t = plan->stages;

  if (plan->listed) {
    add (plan, t->coarse);
    choose_features (plan);
    add (plan, t->candidates);
    plan->steps[plan->step_count - 1].joins |= 1u << STEREO_BESIDE_MAPS;
    add (plan, t->list_match ? t->list_match (p) : NULL);
    add_early (plan, beside_levels (plan));
    if (plan->is_coarse)
      add_keep (plan);
    else if (stereo_params_follow (p)) {
      add (plan, t->prior);
      plan->steps[plan->step_count - 1].late = STEREO_BESIDE_MAPS;
    }
    add (plan, t->list_paths);
    add_early (plan, beside_levels (plan));
    plan->steps[plan->step_count - 1].joins |= plan->is_coarse ? 0 : 1u << STEREO_BESIDE_MAPS;
    if (!plan->is_coarse)
      add_late (plan, STEREO_BESIDE_COARSE);
    return;
  }
  choose_features (plan);
  add (plan, t->match[p->method](p));
  if (p->paths != STEREO_PATHS_NONE && p->method != STEREO_METHOD_SGM)
    add (plan, t->paths);
  add (plan, t->select);
}

/* An iteration of refinement. */
static void
choose_refinement (StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  const StereoStageTable *t = plan->stages;

  if (p->consistency >= 0)
    add (plan, t->check);
  add (plan, t->refine[p->refine_mode]);
  if (p->refine_mode != STEREO_REFINE_IDR)
    add (plan, t->reselect);
}

/* The steps from the last selection to a disparity. */
static void
choose_disparity (StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  const StereoStageTable *t = plan->stages;

  if (t->disparity && (!plan->listed || p->consistency >= 0)) {
    add (plan, t->disparity);
    return;
  }
  if (p->consistency >= 0)
    add (plan, t->check);
  if (!plan->listed)
    add (plan, p->subpixel ? t->subpixel : t->integer);
  if (stereo_params_reject (p))
    add (plan, t->reject);
}

/* The steps that replace what is unlikely, and remove speckles. Motion keeps a copy of the maps for the next frame on a branch: the
 * removal of speckles waits for it before it changes them. */
static void
choose_cleaning (StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  const StereoStageTable *t = plan->stages;
  StereoStep *motion = NULL;

  if (stereo_params_follow (p)) {
    motion = &plan->steps[plan->step_count];
    add (plan, t->motion);
    add_early (plan, STEREO_BESIDE_MATCH);
    motion->late = STEREO_BESIDE_MAPS;
  }
  if (p->speckle_size > 0)
    add (plan, t->speckle);
  if (motion)
    (plan->single_stages ? motion : &plan->steps[plan->step_count - 1])->joins |= 1u << STEREO_BESIDE_MAPS;
}

/* The steps from the finished disparity to the caller's samples. */
static void
choose_output (StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  const StereoStageTable *t = plan->stages;

  if (t->output) {
    add (plan, t->output);
    add_late (plan, STEREO_BESIDE_MAPS);
    return;
  }
  if (p->median)
    add (plan, t->median[p->median == 5]);
  if (stereo_params_last_threshold (p) > 0)
    add (plan, t->threshold);
  add (plan, t->store);
}

/* All steps of the half size, whose views the plan that it belongs to makes: the winners before and after the paths. */
static void
choose_coarse (StereoPlan *plan)
{
  const StereoStageTable *t = plan->stages;

  if (plan->listed) {
    choose_selection (plan);
    return;
  }
  choose_features (plan);
  add (plan, t->match[plan->params.method](&plan->params));
  add_keep (plan);
  /* these paths leave most of the device to what the finer levels need of their own views */
  begin_branch (plan, STEREO_BESIDE_COARSE);
  begin_branch (plan, STEREO_BESIDE_LEVELS);
  add (plan, t->paths);
  add (plan, t->select);
}

/* All steps of a frame, in order. No other place knows this order. */
static void
choose_frame (StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  const StereoStageTable *t = plan->stages;

  if (plan->is_coarse) {
    choose_coarse (plan);
    return;
  }
  add (plan, t->load);
  if (p->align)
    add (plan, t->align);
  if (p->temporal > 0)
    add (plan, t->temporal);
  begin_branch (plan, STEREO_BESIDE_MATCH);
  choose_selection (plan);
  for (int i = 0; i < p->refine_iterations; i++)
    choose_refinement (plan);
  begin_branch (plan, STEREO_BESIDE_MAPS);
  choose_disparity (plan);
  if (p->confidence_measure == STEREO_CONFIDENCE_PROBABILITY) {
    add (plan, t->probability);
    add_early (plan, STEREO_BESIDE_MAPS);
  }
  choose_cleaning (plan);
  if (p->fill == STEREO_FILL_BACKGROUND)
    add (plan, t->fill);
  if (p->fill == STEREO_FILL_PLANES)
    add (plan, t->planes);
  if (p->fill == STEREO_FILL_GAPS) { /* what is open is found beside the filling, and emptied at the end of the step */
    add (plan, t->gaps);
    add_late (plan, STEREO_BESIDE_MAPS);
  }
  choose_output (plan);
}

/* ---- who works for whom ---------------------------------------------------------------------- */

/* What a path adds to a candidate's own cost is at most its larger penalty. */
static StereoPathSums
path_sums (const StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  int largest = 0;

  if (p->paths == STEREO_PATHS_NONE || plan->path_weighted)
    return STEREO_PATHS_ADD_WORDS;
  if (p->method == STEREO_METHOD_SGM)
    return STEREO_PATHS_ADD_ROUNDED;
  for (int direction = 0; direction < STEREO_PATH_DIRECTIONS; direction++) {
    int penalty = stereo_plan_penalty (plan, direction, 1);
    largest = penalty > largest ? penalty : largest;
  }
  return largest / plan->path_unit <= 255 ? STEREO_PATHS_ADD_BYTES : STEREO_PATHS_ADD_WORDS;
}

/* The stage that makes the last costs of a frame, if it can select. Support weights that take several turns have no row of all
 * disparities in the cache. */
static StereoSelector
selector (const StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  const StereoFusible *can = &plan->stages->fusible;

  if (p->paths == STEREO_PATHS_NONE)
    return can->match_selects >> p->method & 1 && (p->method != STEREO_METHOD_ASW || plan->layers >= plan->depth) ?
        STEREO_SELECTOR_MATCH :
        STEREO_SELECTOR_SELECT;
  if (!can->paths_select)
    return STEREO_SELECTOR_SELECT;
  return p->method == STEREO_METHOD_SGM ? STEREO_SELECTOR_MATCH : STEREO_SELECTOR_PATHS;
}

static int
is_left_in_two_passes (const StereoParams *p)
{
  return p->method == STEREO_METHOD_ASW && p->support == STEREO_SUPPORT_LEFT &&
      p->aggregation == STEREO_AGGREGATION_TWO_PASS;
}

/* Decides what stages do for each other; no other place does. plan->layers is known. */
static void
decide_fusion (StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  const StereoFusible *can = &plan->stages->fusible;
  StereoFusion *f = &plan->fusion;

  *f = (StereoFusion){ .keeps_costs = 1, .keeps_right = 1, .path_sums = path_sums (plan) };
  int four_in_bytes = f->path_sums == STEREO_PATHS_ADD_BYTES && p->paths == STEREO_PATHS_4;
  f->paths_together = f->path_sums == STEREO_PATHS_ADD_ROUNDED || four_in_bytes;
  if (plan->is_coarse && !plan->listed) {
    f->keep_for_paths = can->keep_for_paths;
    if (can->coarse_paths_select && four_in_bytes && !plan->single_stages) {
      f->selector = STEREO_SELECTOR_PATHS;
      f->match_for_keep = f->match_for_paths = can->left_for_paths && is_left_in_two_passes (p);
      f->keep_for_paths &= !f->match_for_paths;
    } else if (can->paths_select && !plan->single_stages) {
      f->selector = STEREO_SELECTOR_PATHS;
      f->keeps_costs = f->keeps_right = 0;
    }
    return;
  }
  if (plan->single_stages && !plan->listed)
    return;
  if (plan->listed) {
    f->selector = STEREO_SELECTOR_PATHS;
    f->keeps_costs = f->keeps_right = 0;
    return;
  }
  f->selector = selector (plan);
  f->keeps_costs = f->selector == STEREO_SELECTOR_SELECT || p->refine_iterations > 0;
  f->keeps_right = p->refine_iterations > 0;
  f->match_for_paths = can->left_for_paths && p->paths != STEREO_PATHS_NONE && is_left_in_two_passes (p);
}

/* ---- contexts -------------------------------------------------------------------------------- */

/* The first step that has the context of step @step. */
static int
first_of_its_context (const StereoPlan *plan, int step)
{
  int first = 0;
  while (plan->steps[first].stage != plan->steps[step].stage)
    first++;
  return first;
}

static StereoStatus
make_contexts (StereoPlan *plan, StereoError *error)
{
  for (int i = 0; i < plan->step_count; i++) {
    StereoStep *step = &plan->steps[i];
    int first = first_of_its_context (plan, i);
    if (first < i)
      step->context = plan->steps[first].context;
    else if (step->stage->context_size && !(step->context = calloc (1, step->stage->context_size)))
      return stereo_fail (error, STEREO_ERROR_MEMORY, "No memory for the contexts of a plan's stages.");
  }
  return STEREO_OK;
}

void
stereo_steps_free (StereoPlan *plan)
{
  for (int i = 0; i < plan->step_count; i++)
    if (first_of_its_context (plan, i) == i)
      free (plan->steps[i].context);
  plan->step_count = 0;
}

StereoStatus
stereo_steps_prepare (StereoPlan *plan, StereoError *error)
{
  StereoStatus status;

  decide_fusion (plan);
  for (int i = 0; i < plan->step_count; i++) {
    const StereoStep *step = &plan->steps[i];
    if (first_of_its_context (plan, i) == i && step->stage->prepare &&
        (status = step->stage->prepare (plan, step->context, error)))
      return status;
  }
  return STEREO_OK;
}

/* ---- choosing and running ---------------------------------------------------------------------- */

/* Whether the backend has the method, with the cost. */
static StereoStatus
check_method (const StereoPlan *plan, StereoError *error)
{
  char list[128] = "";

  if (plan->stages->match[plan->params.method] && plan->stages->match[plan->params.method](&plan->params))
    return STEREO_OK;
  for (int m = 0; m < STEREO_METHODS; m++)
    if (plan->stages->match[m])
      snprintf (
          list + strlen (list), sizeof list - strlen (list), "%s%s", *list ? ", " : "", stereo_method_info (m)->name);
  return stereo_fail (error, STEREO_ERROR_PARAMETER,
      "backend=%s has no method=%s with cost=%s: set another backend or cost, or method to one of %s.",
      plan->backend->name, stereo_method_info (plan->params.method)->name, stereo_cost_info (plan->params.cost)->name,
      list);
}

/* Whether the backend has a stage for every step. */
static StereoStatus
check_steps (const StereoPlan *plan, StereoError *error)
{
  for (int i = 0; i < plan->step_count; i++)
    if (!plan->steps[i].stage)
      return stereo_fail (error, STEREO_ERROR_PARAMETER,
          "backend=%s lacks step %d of the %d that these parameters need (after step %s): set another backend.",
          plan->backend->name, i + 1, plan->step_count, i ? plan->steps[i - 1].stage->name : "0");
  return STEREO_OK;
}

/* The names of the stages, each once, for timings. */
static void
name_stages (StereoPlan *plan)
{
  for (int i = 0; i < plan->step_count; i++) {
    int known = 0;
    for (int j = 0; j < plan->stage_count; j++)
      known |= plan->stage_names[j] == plan->steps[i].stage->name;
    if (!known)
      plan->stage_names[plan->stage_count++] = plan->steps[i].stage->name;
  }
}

StereoStatus
stereo_steps_choose (StereoPlan *plan, StereoError *error)
{
  StereoStatus status;

  if ((status = check_method (plan, error)))
    return status;
  choose_frame (plan);
  if ((status = check_steps (plan, error))) {
    plan->step_count = 0;
    return status;
  }
  name_stages (plan);
  return make_contexts (plan, error);
}

StereoStatus
stereo_run_steps (StereoPlan *plan, int first, int end, StereoError *error)
{
  StereoStatus status = STEREO_OK;

  for (int i = first; i < end && !status; i++) {
    const StereoStep *step = &plan->steps[i];
    plan->step = i;
    if (plan->profiling)
      plan->backend->mark (plan, i);
    if (step->forks && plan->backend->fork)
      status = plan->backend->fork (plan, step->forks, error);
    if (!status)
      status = step->stage->run (plan, step->context, error);
  }
  return status;
}
