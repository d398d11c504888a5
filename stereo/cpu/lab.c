/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pictures in CIELAB that support weights compare: stereo/exact/lab.h. */
#include "stereo/cpu/cpu.h"

static void
lab_row (StereoPlan *plan, void *context, int item, int thread)
{
  const StereoLab *table = context;
  const StereoView *view = &plan->view[item % 2];
  size_t row = (size_t) (item / 2) * (size_t) plan->image_pitch;
  const uint32_t *color = view->color + row;
  uint32_t *likeness = view->likeness + row;

  for (int x = 0; x < plan->width; x++)
    likeness[x] = stereo_lab (table, color[x]);
}

static StereoStatus
lab_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  stereo_lab_table (context);
  return STEREO_OK;
}

static StereoStatus
lab_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, lab_row, 2 * plan->height);
  return STEREO_OK;
}

const StereoStage CPU (
    lab) = { .name = "lab", .context_size = sizeof (StereoLab), .prepare = lab_prepare, .run = lab_run };
