/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The CPU backend as a table: memory, threads, clock, and which build of the stages and of remap.c to use. */
#include "stereo/cpu/cpu.h"
#include "stereo/cpu/remap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t) 2 << 20)
#define LARGE (4 * HUGE_PAGE)

extern const StereoStageTable stereo_cpu_table_baseline;
#ifdef STEREO_CPU_X86
extern const StereoStageTable stereo_cpu_table_avx2, stereo_cpu_table_avx512;
#endif

#define ROWS(isa) \
  void stereo_cpu_remap_rows_##isa (const StereoRemapPlane *plane, const StereoRemapTable *table, \
      const StereoRemapSource *source, const StereoRemapTarget *target, int first, int end)
ROWS (baseline);
#ifdef STEREO_CPU_X86
ROWS (avx2);
ROWS (avx512);
#endif

/* What is compiled for an instruction set. */
typedef struct CpuBuild
{
  const StereoStageTable *stages;
  CpuRemapRows remap_rows;
} CpuBuild;

/* The best one for this processor. STEREO_CPU=baseline or avx2 limits it, for tests. */
static CpuBuild
choose_build (void)
{
#ifdef STEREO_CPU_X86
  const char *most = getenv ("STEREO_CPU");
  int level = most && !strcmp (most, "baseline") ? 0 : most && !strcmp (most, "avx2") ? 1 : 2;
  if (level >= 2 && __builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512dq") &&
      __builtin_cpu_supports ("avx512vl"))
    return (CpuBuild){ &stereo_cpu_table_avx512, stereo_cpu_remap_rows_avx512 };
  if (level >= 1 && __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma"))
    return (CpuBuild){ &stereo_cpu_table_avx2, stereo_cpu_remap_rows_avx2 };
#endif
  return (CpuBuild){ &stereo_cpu_table_baseline, stereo_cpu_remap_rows_baseline };
}

static int
cpu_available (int device, char *reason, size_t size)
{
  snprintf (reason, size, "The CPU is always there.");
  return 1;
}

static StereoStatus
cpu_open (StereoPlan *plan, StereoError *error)
{
  CpuState *state = calloc (1, sizeof *state);
  const char *fusion = getenv ("STEREO_CPU_FUSION");

  if (!state)
    return stereo_fail (error, STEREO_ERROR_MEMORY, "No memory for the CPU backend.");
  plan->state = state;
  plan->stages = choose_build ().stages;
  plan->single_stages = fusion && !strcmp (fusion, "0");
  state->pool = stereo_pool_new (plan->params.threads);
  if (!state->pool)
    return stereo_fail (error, STEREO_ERROR_MEMORY, "No memory for the CPU backend's threads.");
  return STEREO_OK;
}

static void
cpu_close (StereoPlan *plan)
{
  CpuState *state = cpu_state (plan);
  if (!state)
    return;
  stereo_pool_free (state->pool);
  free (state);
  plan->state = NULL;
}

static void *
cpu_allocate (StereoPlan *plan, size_t size, StereoError *error)
{
  size_t alignment = size < LARGE ? 256 : HUGE_PAGE;
  void *memory = size <= SIZE_MAX / 2 ? aligned_alloc (alignment, stereo_round_up (size, alignment)) : NULL;

  if (!memory) {
    stereo_fail (error, STEREO_ERROR_MEMORY,
        "%dx%d pixels with %d disparities need %zu bytes, which this machine does not give: reduce "
        "num-disparities or the size.",
        plan->width, plan->height, plan->disparities, size);
    return NULL;
  }
#ifdef MADV_HUGEPAGE
  if (size >= LARGE) /* costs are read far apart, where each small page would need a look at the page tables */
    madvise (memory, stereo_round_up (size, alignment), MADV_HUGEPAGE);
#endif
  memset (memory, 0, size);
  return memory;
}

static void
cpu_release (StereoPlan *plan, void *memory)
{
  free (memory);
}

static void
cpu_mark (StereoPlan *plan, int index)
{
  cpu_state (plan)->marks[index] = stereo_now_ns ();
}

static double
cpu_elapsed_ms (StereoPlan *plan, int from, int to)
{
  const uint64_t *marks = cpu_state (plan)->marks;
  return (double) (marks[to] - marks[from]) * 1e-6;
}

/* Only asw works in layers: so many that the raw costs of a window's rows fit the second-level cache of a core. */
static int
cpu_layers (const StereoPlan *plan)
{
  if (plan->params.method != STEREO_METHOD_ASW)
    return plan->depth;
  return (2 << 20) / (plan->params.window * plan->width);
}

static StereoStatus
cpu_copy (StereoPlan *plan, void *to, const void *from, size_t size)
{
  memcpy (to, from, size);
  return STEREO_OK;
}

static StereoStatus
cpu_clear (StereoPlan *plan, void *memory, size_t size)
{
  memset (memory, 0, size);
  return STEREO_OK;
}

/* ---- remapping: bands of rows, which threads share ------------------------------------------------- */

typedef struct CpuRemap
{
  StereoPool *pool;
  CpuRemapRows rows;
  int bands[STEREO_REMAP_MAX_PLANES]; /* of each plane */
  int items;
} CpuRemap;

static void
run_band (void *work, int item, int thread)
{
  const StereoRemap *remap = work;
  const CpuRemap *state = remap->state;
  int plane = 0;

  while (item >= state->bands[plane])
    item -= state->bands[plane++];
  const StereoRemapTable *table = &remap->tables[remap->table_of[plane]];
  int first = item * STEREO_REMAP_BAND, end = first + STEREO_REMAP_BAND;
  state->rows (&remap->planes[plane], table, &remap->sources[plane], &remap->targets[plane], first,
      end < table->height ? end : table->height);
}

static StereoStatus
remap_open (StereoRemap *remap, StereoError *error)
{
  CpuRemap *state = calloc (1, sizeof *state);

  if (!state)
    return stereo_fail (error, STEREO_ERROR_MEMORY, "No memory for the CPU backend.");
  remap->state = state;
  state->rows = choose_build ().remap_rows;
  for (int p = 0; p < remap->plane_count; p++) {
    int height = remap->tables[remap->table_of[p]].height;
    state->bands[p] = (height + STEREO_REMAP_BAND - 1) / STEREO_REMAP_BAND;
    state->items += state->bands[p];
  }
  state->pool = stereo_pool_new (remap->threads);
  if (!state->pool)
    return stereo_fail (error, STEREO_ERROR_MEMORY, "No memory for the CPU backend's threads.");
  return STEREO_OK;
}

static void
remap_close (StereoRemap *remap)
{
  CpuRemap *state = remap->state;

  if (!state)
    return;
  stereo_pool_free (state->pool);
  free (state);
  remap->state = NULL;
}

static StereoStatus
remap_run (StereoRemap *remap, StereoError *error)
{
  CpuRemap *state = remap->state;

  stereo_pool_run (state->pool, remap, run_band, state->items);
  return STEREO_OK;
}

static const StereoRemapper remapper = { .open = remap_open, .close = remap_close, .run = remap_run };

const StereoBackend stereo_backend_cpu = {
  .name = "cpu",
  .choice = STEREO_BACKEND_CPU,
  .available = cpu_available,
  .open = cpu_open,
  .close = cpu_close,
  .allocate = cpu_allocate,
  .release = cpu_release,
  .mark = cpu_mark,
  .elapsed_ms = cpu_elapsed_ms,
  .layers = cpu_layers,
  .copy_out = cpu_copy,
  .copy_in = cpu_copy,
  .clear = cpu_clear,
  .remapper = &remapper,
};
