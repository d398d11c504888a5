/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Remapping on the CPU: bands of rows, which threads share. remap.c has the rows, once for each instruction set. */
#include "stereo/cpu/level.h"
#include "stereo/cpu/remap.h"

#include <stdlib.h>

#define ROWS(isa) \
  void stereo_cpu_remap_rows_##isa (const StereoRemapPlane *plane, const StereoRemapTable *table, \
      const StereoRemapSource *source, const StereoRemapTarget *target, int first, int end)
ROWS (baseline);
#ifdef STEREO_CPU_X86
ROWS (avx2);
ROWS (avx512);
#endif

typedef struct CpuRemap
{
  StereoPool *pool;
  CpuRemapRows rows;
  int bands[STEREO_REMAP_MAX_PLANES]; /* of each plane */
  int items;
} CpuRemap;

static CpuRemapRows
choose_rows (void)
{
#ifdef STEREO_CPU_X86
  switch (stereo_cpu_level ()) {
    case CPU_LEVEL_AVX512:
      return stereo_cpu_remap_rows_avx512;
    case CPU_LEVEL_AVX2:
      return stereo_cpu_remap_rows_avx2;
    default:
      break;
  }
#endif
  return stereo_cpu_remap_rows_baseline;
}

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
  state->rows = choose_rows ();
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

const StereoRemapper stereo_cpu_remapper = {
  .open = remap_open,
  .close = remap_close,
  .run = remap_run,
};
