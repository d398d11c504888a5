/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What all stages of the CPU backend share. backend.c is compiled once; the stage files are compiled once for every
 * instruction set (see stereo/meson.build), each time with another CPU_ISA, and backend.c takes the table of the best one
 * that the processor has.
 */
#ifndef STEREO_CPU_CPU_H
#define STEREO_CPU_CPU_H

#include "stereo/engine/backend.h"

#include <sched.h>
#include <string.h>

/* The state of a plan. The scratch memory of a stage is in the stage's own context. */
typedef struct CpuState
{
  StereoPool *pool;
  uint64_t marks[STEREO_MARKS]; /* ns */
  uint8_t *distinctness;        /* of each cell, where the stage that makes the costs finds it; else NULL */
} CpuState;

static inline CpuState *
cpu_state (const StereoPlan *plan)
{
  return (CpuState *) plan->state;
}

/* Threads that may run items of a job: what scratch memory per thread must allow for. */
static inline int
cpu_threads (const StereoPlan *plan)
{
  return stereo_pool_threads (cpu_state (plan)->pool);
}

#define CPU_PICK_BEYOND 16 /* elements behind costs and keys that post/pick.c touches, without an effect */

/* Whether the stage that makes the last costs of a frame also finds the two lowest ones of each pixel. */
static inline int
cpu_picks_early (const StereoPlan *plan)
{
  return plan->fusion.selector != STEREO_SELECTOR_SELECT;
}

/* From the prepare of that stage: reserves what cpu_state() has of it. */
static inline StereoStatus
cpu_reserve_measures (StereoPlan *plan, StereoError *error)
{
  CpuState *state = cpu_state (plan);
  size_t cells = stereo_times ((size_t) stereo_cells (plan->width), (size_t) stereo_cells (plan->height));

  if (plan->fusion.keeps_costs || plan->params.confidence_measure != STEREO_CONFIDENCE_PROBABILITY)
    return STEREO_OK;
  return stereo_reserve (plan, (void **) &state->distinctness, cells, sizeof *state->distinctness, error);
}

/* Does item @item of a stage's work on thread @thread; @context is the stage's. */
typedef void (*CpuJob) (StereoPlan *plan, void *context, int item, int thread);

typedef struct CpuWork
{
  StereoPlan *plan;
  void *context;
  CpuJob job;
} CpuWork;

static inline void
cpu_run_item (void *data, int item, int thread)
{
  const CpuWork *work = (const CpuWork *) data;
  work->job (work->plan, work->context, item, thread);
}

/* Runs all items on the plan's threads. */
static inline void
cpu_run (StereoPlan *plan, void *context, CpuJob job, int items)
{
  CpuWork work = { plan, context, job };
  stereo_pool_run (cpu_state (plan)->pool, &work, cpu_run_item, items);
}

/* Fetches @size bytes, which may lie outside what is allocated: the volume does not fit the caches, and processors by
 * themselves do not run far enough ahead of a loop over it. */
static inline void
cpu_fetch (const void *from, size_t size)
{
  for (size_t k = 0; k < size; k += 64)
    __builtin_prefetch ((const char *) from + k);
}

static inline void
cpu_fetch_to_write (const void *to, size_t size)
{
  for (size_t k = 0; k < size; k += 64)
    __builtin_prefetch ((const char *) to + k, 1);
}

/* Waits until another thread has come as far as @least: an item may wait for items before it. */
static inline void
cpu_wait_for (const int *progress, int least)
{
  for (int spins = 0; __atomic_load_n (progress, __ATOMIC_ACQUIRE) < least; spins++)
    if (spins > 200)
      sched_yield ();
}

/* Keeps the largest of what several threads bring to a place. */
static inline void
cpu_keep_largest (uint32_t *place, uint32_t word)
{
  uint32_t before = __atomic_load_n (place, __ATOMIC_RELAXED);

  while (before < word && !__atomic_compare_exchange_n (place, &before, word, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    continue;
}

/* ---- stages, for each instruction set ---------------------------------------------------------- */

#define CPU_PASTE_(a, b) a##_##b
#define CPU_PASTE(a, b) CPU_PASTE_ (a, b)
#define CPU(name) CPU_PASTE (stereo_cpu_##name, CPU_ISA)

#ifdef CPU_ISA
extern const StereoStageTable CPU (table);

extern const StereoStage CPU (load), CPU (align), CPU (temporal), CPU (census_7x5), CPU (census_9x7),
    CPU (census_7x5_gradient), CPU (lab);
extern const StereoStage CPU (paths), CPU (select), CPU (reselect), CPU (check);
extern const StereoStage CPU (refine_two_pass), CPU (refine_full), CPU (refine_idr);
extern const StereoStage CPU (subpixel), CPU (integer), CPU (reject), CPU (probability), CPU (motion), CPU (speckle),
    CPU (fill), CPU (planes), CPU (gaps);
extern const StereoStage CPU (median3), CPU (median5), CPU (threshold), CPU (store);
extern const StereoStage CPU (coarse), CPU (keep), CPU (candidates), CPU (prior), CPU (list_paths);
const StereoStage *CPU (list_match) (const StereoParams *params);
const StereoStage *CPU (asw) (const StereoParams *params);
const StereoStage *CPU (sgm) (const StereoParams *params);
const StereoStage *CPU (bm) (const StereoParams *params);
const StereoStage *CPU (esaw) (const StereoParams *params);
const StereoStage *CPU (esmp) (const StereoParams *params);
#endif

#endif
