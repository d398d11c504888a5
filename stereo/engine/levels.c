/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stereo/engine/levels.h"

#include "stereo/engine/layout.h"
#include "stereo/engine/plan.h"
#include "stereo/engine/resolve.h"
#include "stereo/engine/steps.h"

#include <stdlib.h>

/* A half size that is smaller is searched at every disparity: half of it again would find too little, and save nothing. */
#define LEAST_WIDTH 640
#define LEAST_DISPARITIES 32

/* Of the half size: those of the default method, whatever the full size does. Its support weights see thin things before the paths
 * remove them. Where it is large enough, it searches coarse to fine itself. */
static StereoStatus
choose_coarse (const StereoPlan *plan, StereoPlan *half, int width, StereoError *error)
{
  const StereoParams *p = &plan->params;
  StereoParams coarse;

  stereo_params_init (&coarse);
  coarse.min_disparity = stereo_half_min (p->min_disparity);
  coarse.num_disparities = stereo_half_count (p->min_disparity, plan->disparities);
  if (width >= LEAST_WIDTH && coarse.num_disparities >= LEAST_DISPARITIES)
    coarse.search = STEREO_SEARCH_COARSE_TO_FINE;
  coarse.refine_iterations = 0;
  coarse.align = STEREO_ALIGN_OFF;
  coarse.temporal = 0;
  coarse.confidence_measure = STEREO_CONFIDENCE_MARGIN;
  coarse.backend = p->backend;
  coarse.cuda_device_id = p->cuda_device_id;
  coarse.threads = p->threads;
  return stereo_params_resolve (&coarse, &half->params, error);
}

StereoStatus
stereo_levels_open (StereoPlan *plan, StereoError *error)
{
  StereoPlan *coarse;
  StereoStatus status;

  if (!plan->listed)
    return STEREO_OK;
  if (!(coarse = plan->coarse = calloc (1, sizeof *coarse)))
    return stereo_fail (error, STEREO_ERROR_MEMORY, "No memory for a plan.");
  coarse->is_coarse = 1;
  coarse->single_stages = 1;
  coarse->backend = plan->backend;
  coarse->stages = plan->stages;
  coarse->state = plan->state;
  int width = (plan->width + 1) / 2, height = (plan->height + 1) / 2;
  if ((status = choose_coarse (plan, coarse, width, error)) ||
      (status = stereo_plan_measure (coarse, width, height, error)) || (status = stereo_levels_open (coarse, error)) ||
      (status = stereo_steps_choose (coarse, error)) || (status = stereo_plan_fit (coarse, error)))
    return status;
  return stereo_layout_commit (coarse, error);
}

void
stereo_levels_close (StereoPlan *plan)
{
  StereoPlan *coarse = plan->coarse;

  if (!coarse)
    return;
  stereo_levels_close (coarse);
  if (coarse->arena)
    coarse->backend->release (coarse, coarse->arena);
  stereo_steps_free (coarse);
  free (coarse);
  plan->coarse = NULL;
}

StereoStatus
stereo_levels_run (StereoPlan *plan, StereoError *error)
{
  return stereo_run_steps (plan->coarse, 0, plan->coarse->step_count, error);
}
