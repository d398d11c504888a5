/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Block matching: how the picture is shared out. A thread takes a band of rows, a tile of columns and a layer of
 * disparities at a time. Where costs are picked at once (picks.h), the layer is the whole search: the pixels of the left
 * view then are done with their row.
 */
#include "stereo/cpu/bm/picks.h"

#define BAND 128 /* rows */

typedef struct Context
{
  uint8_t *scratch; /* per thread, bm_thread_bytes() each */
  BmPicks picks;
} Context;

static void
bm_item (StereoPlan *plan, void *context, int item, int thread)
{
  const Context *c = context;
  int layers = bm_parts (plan->depth, bm_layer_depth (plan)), tiles = bm_tiles (plan), tile = item / layers % tiles;
  int first = item / layers / tiles * BAND, last = first + BAND < plan->height ? first + BAND - 1 : plan->height - 1;
  BmLayer layer;

  bm_start_layer (&layer, plan, item % layers * bm_layer_depth (plan), bm_tile_at (plan, tile),
      c->scratch + (size_t) thread * bm_thread_bytes (plan));
  layer.picks = &c->picks;
  layer.thread = thread;
  layer.tile = tile;
  CPU (bm_band) (plan->params.cost) (&layer, first, last);
}

static void
bm_merge (StereoPlan *plan, void *context, int y, int thread)
{
  const Context *c = context;

  CPU (bm_picks_merge) (plan, &c->picks, y, thread);
}

static StereoStatus
bm_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  size_t threads = (size_t) cpu_threads (plan);
  StereoStatus status = stereo_reserve (plan, (void **) &c->scratch, threads, bm_thread_bytes (plan), error);

  if (status || !bm_picks (plan))
    return status;
  return CPU (bm_picks_reserve) (plan, &c->picks, error);
}

static StereoStatus
bm_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, bm_item,
      bm_parts (plan->height, BAND) * bm_tiles (plan) * bm_parts (plan->depth, bm_layer_depth (plan)));
  if (bm_picks (plan))
    cpu_run (plan, context, bm_merge, plan->height);
  return STEREO_OK;
}

static const StereoStage bm = { .name = "match", .context_size = sizeof (Context), .prepare = bm_prepare, .run = bm_run };

const StereoStage *
CPU (bm) (const StereoParams *params)
{
  return CPU (bm_band) (params->cost) ? &bm : NULL;
}
