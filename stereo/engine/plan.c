/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plan: validates the parameters once, chooses the backend and the steps, allocates the memory. frame.c runs frames. */
#include "stereo/engine/engine.h"

#include "stereo/engine/params.h"

#include <stdio.h>
#include <stdlib.h>

/* Features of the pixel-pair costs. The costs of windows read colour and luma only. */
static const StereoFeatures features[STEREO_COSTS] = {
#define ROW(COST, name, max, unit, SET, ...) [STEREO_COST_##COST] = STEREO_FEATURES_##SET,
  STEREO_PIXEL_COSTS (ROW)
#undef ROW
};

static const int census_bytes[STEREO_FEATURE_SETS] = {
  [STEREO_FEATURES_CENSUS_7X5] = 4,
  [STEREO_FEATURES_CENSUS_9X7] = 8,
  [STEREO_FEATURES_CENSUS_7X5_GRADIENT] = 4,
};

static StereoStatus
measure (StereoPlan *plan, int width, int height, StereoError *error)
{
  const StereoParams *p = &plan->params;

  if (width < 1 || height < 1 || width > STEREO_MAX_SIDE || height > STEREO_MAX_SIDE)
    return stereo_fail (error, STEREO_ERROR_SIZE, "A view of %dx%d pixels cannot be matched: use 1x1 to %dx%d.", width,
        height, STEREO_MAX_SIDE, STEREO_MAX_SIDE);
  if (p->min_disparity >= width || p->min_disparity + p->num_disparities <= -width)
    return stereo_fail (error, STEREO_ERROR_PARAMETER,
        "Disparities %d to %d all lie outside views %d pixels wide: set min-disparity below %d.", p->min_disparity,
        p->min_disparity + p->num_disparities - 1, width, width);
  plan->width = width;
  plan->height = height;
  plan->min_disparity = p->min_disparity;
  /* No pixel has a disparity of width pixels or more. */
  plan->disparities = p->num_disparities < width - p->min_disparity ? p->num_disparities : width - p->min_disparity;
  plan->depth = (plan->disparities + 15) / 16 * 16;
  /* At most STEREO_MAX_PITCH: a negative min_disparity makes the pad longer, any other one the part beyond the row. */
  plan->image_pad = ((p->min_disparity < 0 ? -p->min_disparity : 0) + 31) / 32 * 32;
  int beyond = p->min_disparity + plan->depth;
  plan->image_pitch = plan->image_pad + (width + (beyond > 0 ? beyond : 0) + 16 + 31) / 32 * 32;
  plan->map_pitch = (width + 31) / 32 * 32;
  plan->listed = p->search == STEREO_SEARCH_COARSE_TO_FINE;
  plan->lists.columns = stereo_tiles (width);
  plan->lists.rows = stereo_tiles (height);
  plan->features = features[p->cost];
  plan->census_bytes = census_bytes[plan->features];
  return stereo_volume_measure (plan, error);
}

/* A multiple of 16 near @layers, such that the last turn has about as many layers as the others. */
static int
even_layers (const StereoPlan *plan, int layers)
{
  int turns = layers < 16 ? plan->depth / 16 : (plan->depth + layers - 1) / layers;
  return ((plan->depth + turns - 1) / turns + 15) / 16 * 16;
}

/* Reserves all memory, with as many layers as memory-limit allows: fewer layers take less scratch memory. The frame state
 * takes the same memory always. */
static StereoStatus
fit_memory (StereoPlan *plan, StereoError *error)
{
  uint64_t limit = plan->params.memory_limit;
  StereoStatus status;

  plan->layers = even_layers (plan,
      plan->params.scratch_layers ? plan->params.scratch_layers :
          plan->backend->layers   ? plan->backend->layers (plan) :
                                    plan->depth);
  for (;;) {
    if ((status = stereo_layout_state (plan, error)) || (status = stereo_steps_prepare (plan, error)))
      return status;
    size_t total = stereo_layout_total (plan);
    if (!limit || total <= limit)
      return STEREO_OK;
    if (plan->layers == 16)
      return stereo_fail (error, STEREO_ERROR_MEMORY,
          "%dx%d pixels with %d disparities need %zu bytes, and memory-limit is %llu: raise it, or reduce "
          "num-disparities or the size.",
          plan->width, plan->height, plan->disparities, total, (unsigned long long) limit);
    plan->layers = even_layers (plan, plan->layers / 2);
  }
}

/* ---- levels ------------------------------------------------------------------------------------- */

/* With plan->listed, once the backend is open: makes plan->coarse, which gets its memory from @plan. */
static StereoStatus
open_coarse (StereoPlan *plan, StereoError *error)
{
  StereoPlan *coarse;
  StereoParams params;
  StereoStatus status;

  if (!plan->listed)
    return STEREO_OK;
  if (!(coarse = plan->coarse = calloc (1, sizeof *coarse)))
    return stereo_fail (error, STEREO_ERROR_MEMORY, "No memory for a plan.");
  coarse->is_coarse = 1;
  coarse->single_stages = plan->single_stages;
  coarse->backend = plan->backend;
  coarse->stages = plan->stages;
  coarse->state = plan->state;
  int width = (plan->width + 1) / 2, height = (plan->height + 1) / 2;
  stereo_params_coarse (&plan->params, plan->disparities, width, &params);
  if ((status = stereo_params_resolve (&params, &coarse->params, error)) ||
      (status = measure (coarse, width, height, error)) || (status = open_coarse (coarse, error)) ||
      (status = stereo_steps_choose (coarse, error)))
    return status;
  return fit_memory (coarse, error);
}

static void
close_coarse (StereoPlan *plan)
{
  StereoPlan *coarse = plan->coarse;

  if (!coarse)
    return;
  close_coarse (coarse);
  stereo_steps_free (coarse);
  free (coarse);
  plan->coarse = NULL;
}

/* ---- a plan ------------------------------------------------------------------------------------- */

static StereoStatus
build (StereoPlan *plan, StereoError *error)
{
  StereoStatus status;

  if ((status = stereo_align_open (plan, error)) || (status = plan->backend->open (plan, error)) ||
      (status = open_coarse (plan, error)) || (status = stereo_steps_choose (plan, error)) ||
      (status = fit_memory (plan, error)) || (status = stereo_layout_commit (plan, error)))
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
  if (stereo_params_resolve (params, &plan->params, error) || measure (plan, width, height, error))
    goto fail;
  plan->backend = stereo_backend_choose (
      plan->params.backend, plan->params.cuda_device_id, plan->reason, sizeof plan->reason, error);
  if (!plan->backend)
    goto fail;
  plan->stages = &plan->backend->stages;
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
    close_coarse (plan);
    if (plan->arena)
      backend->release (plan, plan->arena);
    backend->close (plan);
    stereo_leave (plan, before);
  }
  stereo_steps_free (plan);
  stereo_align_close (plan);
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

/* ---- which backends there are, and which of them a plan or a remap takes ----------------------------- */

const StereoBackend *
stereo_backend_choose (int choice, int device, char *reason, size_t size, StereoError *error)
{
  const StereoBackend *backend = &stereo_backend_cpu;
  char text[200] = "";

  if (choice != STEREO_BACKEND_CPU && stereo_backend_cuda.available (device, text, sizeof text))
    backend = &stereo_backend_cuda;
  if (choice == STEREO_BACKEND_CUDA && backend != &stereo_backend_cuda) {
    stereo_fail (error, STEREO_ERROR_NO_DEVICE,
        "backend=cuda was asked for, and cannot be had: %s Set backend=cpu, or auto to take what there is.", text);
    return NULL;
  }
  if (choice == STEREO_BACKEND_AUTO)
    snprintf (reason, size, "backend=auto takes %s: %s", backend->name, text);
  else
    snprintf (reason, size, "backend=%s was asked for.", backend->name);
  return backend;
}

int
stereo_backend_available (StereoBackendChoice backend, int cuda_device_id, char *reason, size_t size)
{
  const StereoBackend *asked = backend == STEREO_BACKEND_CUDA ? &stereo_backend_cuda : &stereo_backend_cpu;
  char text[200] = "";
  int available = asked->available (cuda_device_id, text, sizeof text);

  if (reason)
    snprintf (reason, size, "%s", text);
  return available;
}
