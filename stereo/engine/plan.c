/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plan: validate once, choose the backend and the steps, place the memory. frame.c runs frames. */
#include "stereo/engine/backend.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static StereoStatus
choose_backend (StereoPlan *plan, StereoError *error)
{
  StereoParams *p = &plan->params;
  char reason[200];
  int cuda = 0;

  if (p->backend != STEREO_BACKEND_CPU)
    cuda = stereo_backend_cuda.available (p->cuda_device_id, reason, sizeof reason);
  if (p->backend == STEREO_BACKEND_CUDA && !cuda)
    return stereo_fail (error, STEREO_ERROR_NO_DEVICE,
        "backend=cuda was asked for, and cannot be had: %s Set backend=cpu, or auto to take what there is.", reason);
  plan->backend = cuda ? &stereo_backend_cuda : &stereo_backend_cpu;
  plan->stages = &plan->backend->stages;
  if (p->backend == STEREO_BACKEND_AUTO)
    snprintf (plan->reason, sizeof plan->reason, "backend=auto takes %s: %s", plan->backend->name, reason);
  else
    snprintf (plan->reason, sizeof plan->reason, "backend=%s was asked for.", plan->backend->name);
  return STEREO_OK;
}

static StereoStatus
measure (StereoPlan *plan, int width, int height, StereoError *error)
{
  const StereoParams *p = &plan->params;
  const StereoCostInfo *cost = stereo_cost_info (p->cost);

  if (width < 1 || height < 1 || width > STEREO_MAX_SIDE || height > STEREO_MAX_SIDE)
    return stereo_fail (error, STEREO_ERROR_SIZE, "A view of %dx%d pixels cannot be matched: use 1x1 to %dx%d.",
        width, height, STEREO_MAX_SIDE, STEREO_MAX_SIDE);
  if (p->min_disparity >= width || p->min_disparity + p->num_disparities <= -width)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "Disparities %d to %d all lie outside views %d pixels wide: set min-disparity below %d.",
        p->min_disparity, p->min_disparity + p->num_disparities - 1, width, width);
  plan->width = width;
  plan->height = height;
  plan->min_disparity = p->min_disparity;
  /* no disparity of width pixels or more can occur */
  plan->disparities = p->num_disparities < width - p->min_disparity ? p->num_disparities : width - p->min_disparity;
  plan->depth = (plan->disparities + 15) / 16 * 16;
  /* longest, STEREO_MAX_PITCH and less, where min_disparity is: the pad grows with a negative one, beyond with others */
  plan->image_pad = ((p->min_disparity < 0 ? -p->min_disparity : 0) + 31) / 32 * 32;
  int beyond = p->min_disparity + plan->depth;
  plan->image_pitch = plan->image_pad + (width + (beyond > 0 ? beyond : 0) + 16 + 31) / 32 * 32;
  plan->map_pitch = (width + 31) / 32 * 32;
  plan->census_bytes = p->cost == STEREO_COST_CENSUS_9X7 ? 8 :
      p->cost == STEREO_COST_CENSUS_7X5 || p->cost == STEREO_COST_MIXED ? 4 : 0;
  plan->volume_unit = 1024;
  while (stereo_registry_top (p) * plan->volume_unit > (int) STEREO_COST_TOP)
    plan->volume_unit /= 2;
  plan->alpha = (uint32_t) lrint (p->refine_alpha * cost->unit * plan->volume_unit * 256 / STEREO_EXPECT_STEPS);
  return STEREO_OK;
}

static void
add (StereoPlan *plan, const StereoStage *stage)
{
  plan->steps[plan->step_count++].stage = stage;
}

/* From the last indices to a disparity. */
static void
choose_disparity (StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  const StereoStageTable *t = plan->stages;

  if (t->disparity) {
    add (plan, t->disparity);
    return;
  }
  if (p->consistency >= 0)
    add (plan, t->check);
  add (plan, p->subpixel ? t->subpixel : t->integer);
  if (stereo_params_reject (p))
    add (plan, t->reject);
}

static void
choose_output (StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  const StereoStageTable *t = plan->stages;

  if (t->output) {
    add (plan, t->output);
    return;
  }
  if (p->median)
    add (plan, t->median[p->median == 5]);
  if (p->confidence_threshold > 0)
    add (plan, t->threshold);
  add (plan, t->store);
}

/* A frame, in order. This is the one place that knows it. */
static void
choose_steps (StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  const StereoStageTable *t = plan->stages;

  add (plan, t->load);
  if (t->features[p->cost])
    add (plan, t->features[p->cost]);
  add (plan, t->match[p->method] (p));
  add (plan, t->select);
  for (int i = 0; i < p->refine_iterations; i++) {
    int last = i == p->refine_iterations - 1;
    if (p->consistency >= 0)
      add (plan, t->check);
    add (plan, t->refine[p->refine_mode]);
    if (p->refine_mode != STEREO_REFINE_IDR)
      add (plan, last && t->reselect_last ? t->reselect_last : t->reselect);
  }
  choose_disparity (plan);
  if (p->speckle_size > 0)
    add (plan, t->speckle);
  if (p->fill == STEREO_FILL_BACKGROUND)
    add (plan, t->fill);
  choose_output (plan);
}

/* The first step that runs the stage of step @step. */
static int
first_of_its_stage (const StereoPlan *plan, int step)
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
    int first = first_of_its_stage (plan, i);
    if (first < i)
      step->context = plan->steps[first].context;
    else if (step->stage->context_size && !(step->context = calloc (1, step->stage->context_size)))
      return stereo_fail (error, STEREO_ERROR_MEMORY, "No memory for the contexts of a plan's stages.");
  }
  return STEREO_OK;
}

static void
free_contexts (StereoPlan *plan)
{
  for (int i = 0; i < plan->step_count; i++)
    if (first_of_its_stage (plan, i) == i)
      free (plan->steps[i].context);
}

static StereoStatus
reserve_all (StereoPlan *plan, StereoError *error)
{
  StereoStatus status;

  plan->reservation_count = plan->state_count = 0;
  if ((status = stereo_layout_state (plan, error)))
    return status;
  for (int i = 0; i < plan->step_count; i++) {
    const StereoStep *step = &plan->steps[i];
    if (first_of_its_stage (plan, i) == i && step->stage->prepare &&
        (status = step->stage->prepare (plan, step->context, error)))
      return status;
  }
  return STEREO_OK;
}

/* About @layers, a multiple of 16, such that all turns have about as many. */
static int
even_layers (const StereoPlan *plan, int layers)
{
  int turns = layers < 16 ? plan->depth / 16 : (plan->depth + layers - 1) / layers;
  return ((plan->depth + turns - 1) / turns + 15) / 16 * 16;
}

/* Fewer layers take less scratch memory; the frame state is what it is. */
static StereoStatus
fit_memory (StereoPlan *plan, StereoError *error)
{
  uint64_t limit = plan->params.memory_limit;
  StereoStatus status;

  plan->layers = even_layers (plan, plan->params.scratch_layers ? plan->params.scratch_layers :
      plan->backend->layers ? plan->backend->layers (plan) : plan->depth);
  for (;;) {
    if ((status = reserve_all (plan, error)))
      return status;
    size_t total = stereo_layout_total (plan);
    if (!limit || total <= limit)
      return STEREO_OK;
    if (plan->layers == 16)
      return stereo_fail (error, STEREO_ERROR_MEMORY,
          "%dx%d pixels with %d disparities need %zu bytes, and memory-limit is %llu: raise it, or reduce "
          "num-disparities or the size.", plan->width, plan->height, plan->disparities, total,
          (unsigned long long) limit);
    plan->layers = even_layers (plan, plan->layers / 2);
  }
}

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

int
stereo_enter (StereoPlan *plan)
{
  return plan->backend->enter ? plan->backend->enter (plan) : 0;
}

void
stereo_leave (StereoPlan *plan, int before)
{
  if (plan->backend->leave)
    plan->backend->leave (plan, before);
}

/* Whether the backend has the method at all. */
static StereoStatus
check_method (const StereoPlan *plan, StereoError *error)
{
  char list[128] = "";

  if (plan->stages->match[plan->params.method] && plan->stages->match[plan->params.method] (&plan->params))
    return STEREO_OK;
  for (int m = 0; m < STEREO_METHODS; m++)
    if (plan->stages->match[m])
      snprintf (list + strlen (list), sizeof list - strlen (list), "%s%s", *list ? ", " : "",
          stereo_method_info (m)->name);
  return stereo_fail (error, STEREO_ERROR_PARAMETER, "backend=%s has no method=%s: set another backend, or method to one "
      "of %s.", plan->backend->name, stereo_method_info (plan->params.method)->name, list);
}

static StereoStatus
build (StereoPlan *plan, StereoError *error)
{
  StereoStatus status;

  if ((status = plan->backend->open (plan, error)))
    return status;
  if ((status = check_method (plan, error)))
    return status;
  choose_steps (plan);
  name_stages (plan);
  if ((status = make_contexts (plan, error)))
    return status;
  if ((status = fit_memory (plan, error)))
    return status;
  if ((status = stereo_layout_commit (plan, error)))
    return status;
  if (plan->backend->ready)
    plan->backend->ready (plan);
  return STEREO_OK;
}

StereoPlan *
stereo_plan_new (const StereoParams *params, int width, int height, StereoError *error)
{
  StereoPlan *plan = calloc (1, sizeof *plan);
  StereoStatus status;

  if (!plan) {
    stereo_fail (error, STEREO_ERROR_MEMORY, "No memory for a plan.");
    return NULL;
  }
  if (stereo_params_resolve (params, &plan->params, error) || measure (plan, width, height, error) ||
      choose_backend (plan, error))
    goto fail;
  stereo_params_unread (params, plan->warning, sizeof plan->warning);
  int before = stereo_enter (plan);
  status = build (plan, error);
  stereo_leave (plan, before);
  if (!status)
    return plan;

fail:
  stereo_plan_free (plan);
  return NULL;
}

void
stereo_plan_free (StereoPlan *plan)
{
  if (!plan)
    return;
  if (plan->backend) {
    const StereoBackend *backend = plan->backend;
    int before = stereo_enter (plan);
    if (plan->arena)
      backend->release (plan, plan->arena);
    backend->close (plan);
    stereo_leave (plan, before);
  }
  free_contexts (plan);
  free (plan);
}

const StereoParams *
stereo_plan_params (const StereoPlan *plan)
{
  return &plan->params;
}

const char *
stereo_plan_backend (const StereoPlan *plan)
{
  return plan->backend->name;
}

const char *
stereo_plan_backend_reason (const StereoPlan *plan)
{
  return plan->reason;
}

const char *
stereo_plan_warning (const StereoPlan *plan)
{
  return plan->warning;
}

size_t
stereo_plan_memory (const StereoPlan *plan)
{
  return plan->arena_size;
}

void
stereo_plan_set_profiling (StereoPlan *plan, int on)
{
  plan->profiling = on;
}

int
stereo_plan_stage_count (const StereoPlan *plan)
{
  return plan->stage_count;
}

const char *
stereo_plan_stage_name (const StereoPlan *plan, int stage)
{
  return stage >= 0 && stage < plan->stage_count ? plan->stage_names[stage] : NULL;
}

double
stereo_plan_stage_ms (const StereoPlan *plan, int stage)
{
  return stage >= 0 && stage < plan->stage_count ? plan->stage_ms[stage] : 0;
}

int
stereo_backend_available (StereoBackendChoice backend, int cuda_device_id, char *reason, size_t size)
{
  char text[200];
  int available = 1;

  text[0] = 0;
  if (backend == STEREO_BACKEND_CUDA)
    available = stereo_backend_cuda.available (cuda_device_id, text, sizeof text);
  else
    snprintf (text, sizeof text, "The CPU is always there.");
  if (reason)
    snprintf (reason, size, "%s", text);
  return available;
}
