/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Around everything that talks to a plan's backend: makes the plan's device current, and then the caller's again. */
#ifndef STEREO_ENGINE_PLAN_H
#define STEREO_ENGINE_PLAN_H

#include "stereo/engine/backend.h"

/* Returns what stereo_leave() takes as @before. */
static inline int
stereo_enter (StereoPlan *plan)
{
  return plan->backend->enter ? plan->backend->enter (plan) : 0;
}

static inline void
stereo_leave (StereoPlan *plan, int before)
{
  if (plan->backend->leave)
    plan->backend->leave (plan, before);
}

#endif
