/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Block matching: how the picture is shared out, and what becomes of the means.
 *
 * A thread takes a band of rows, a tile of columns and a layer of disparities at a time. Where costs are picked at once, the
 * layer is the whole search: the pixels of the left view then are done with their row. A pixel of the right view has
 * candidates in neighbouring tiles. Each tile leaves the keys that it found for it, and when all are done, they are merged.
 */
#include "stereo/cpu/bm/layer.h"
#include "stereo/cpu/post/pick.h"

#define BAND 128 /* rows */

typedef struct Context
{
  uint8_t *scratch; /* per thread, bm_thread_bytes() each */
  uint32_t *left;   /* of picks: lines of each thread */
  uint32_t *right;  /* of picks: two lines of span_of() keys for each row and tile */
} Context;

/* How many parts of at most @most make @size. */
static int
parts (int size, int most)
{
  return (size + most - 1) / most;
}

static int
tiles_of (const StereoPlan *plan)
{
  return parts (plan->width, bm_tile_columns (plan) - 8); /* they begin at multiples of eight columns */
}

static BmRange
tile_of (const StereoPlan *plan, int tile)
{
  int64_t width = plan->width, tiles = tiles_of (plan);
  int64_t from = tile * width / tiles / 8 * 8, end = tile + 1 < tiles ? (tile + 1) * width / tiles / 8 * 8 : width;
  return (BmRange){ (int) from, (int) end - 1 };
}

/* ---- picks of a tile ----------------------------------------------------------------------------- */

/* Words of a line of a tile's right keys. */
static size_t
span_of (const StereoPlan *plan)
{
  return (size_t) (bm_tile_columns (plan) + plan->depth + CPU_PICK_BEYOND);
}

/* Lines of a tile's right keys. Refinement alone reads the second ones of that view. */
static size_t
right_lines (const StereoPlan *plan)
{
  return bm_keeps_costs (plan) ? 2 : 1;
}

/* The first of them. */
static int
first_right (const StereoPlan *plan, BmRange columns)
{
  return plan->width - 1 - columns.to + plan->min_disparity;
}

static uint32_t *
right_keys (const StereoPlan *plan, const Context *c, int y, int tile)
{
  return c->right + ((size_t) y * (size_t) tiles_of (plan) + (size_t) tile) * right_lines (plan) * span_of (plan);
}

void
CPU (bm_begin_costs) (BmLayer *layer, int y)
{
  const StereoPlan *plan = layer->plan;

  if (bm_keeps_costs (plan))
    layer->costs = plan->volume +
        ((size_t) y * (size_t) plan->width + (size_t) layer->means_of.from) * (size_t) plan->depth;
}

void
CPU (bm_end_costs) (BmLayer *layer, int y)
{
  const StereoPlan *plan = layer->plan;
  const Context *c = layer->context;
  int from = layer->means_of.from, end = layer->means_of.to + 1;

  if (!bm_picks (plan))
    return;
  size_t span = span_of (plan), pitch = (size_t) plan->image_pitch;
  uint32_t *left = c->left + (size_t) layer->thread * 2 * pitch, *right = right_keys (plan, c, y, layer->tile);
  int first = first_right (plan, layer->means_of);
  CpuPicks picks = { left, left + pitch, right - first, right_lines (plan) > 1 ? right + span - first : NULL };
  memset (right, 0xFF, right_lines (plan) * span * sizeof *right);
  CPU (pick_columns) (plan, &picks, layer->costs, from, end);
  CPU (pick_store) (plan, &plan->view[STEREO_LEFT], y, from, end, picks.left1, picks.left2);
  if (!bm_keeps_costs (plan))
    CPU (pick_measures) (plan, layer->costs, y, from, end);
}

/* Moves the lowest keys of a tile into those of a row; the two lowest, if there are @tile_next. */
static void
merge_keys (uint32_t *restrict low, uint32_t *restrict next, const uint32_t *restrict tile_low,
    const uint32_t *restrict tile_next, int count)
{
  if (!tile_next) {
    for (int k = 0; k < count; k++)
      low[k] = low[k] < tile_low[k] ? low[k] : tile_low[k];
    return;
  }
  for (int k = 0; k < count; k++) {
    uint32_t higher = low[k] > tile_low[k] ? low[k] : tile_low[k];
    higher = higher < tile_next[k] ? higher : tile_next[k];
    next[k] = next[k] < higher ? next[k] : higher;
    low[k] = low[k] < tile_low[k] ? low[k] : tile_low[k];
  }
}

static void
merge_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Context *c = context;
  size_t pitch = (size_t) plan->image_pitch, span = span_of (plan);
  uint32_t *low = c->left + (size_t) thread * 2 * pitch, *next = low + pitch;
  int two = right_lines (plan) > 1;

  memset (low, 0xFF, 2 * pitch * sizeof *low);
  for (int tile = 0; tile < tiles_of (plan); tile++) {
    BmRange columns = tile_of (plan, tile);
    const uint32_t *keys = right_keys (plan, c, y, tile);
    int first = first_right (plan, columns), end = first + columns.to - columns.from + plan->depth;
    int from = first < 0 ? 0 : first, to = end < plan->width ? end : plan->width;
    if (from < to)
      merge_keys (low + from, next + from, keys + (from - first), two ? keys + span + (from - first) : NULL, to - from);
  }
  CPU (pick_store) (plan, &plan->view[STEREO_RIGHT], y, 0, plan->width, low, two ? next : NULL);
}

/* ---- the stage ----------------------------------------------------------------------------------- */

static void
bm_item (StereoPlan *plan, void *context, int item, int thread)
{
  const Context *c = context;
  int layers = parts (plan->depth, bm_layer_depth (plan)), tiles = tiles_of (plan), tile = item / layers % tiles;
  int first = item / layers / tiles * BAND, last = first + BAND < plan->height ? first + BAND - 1 : plan->height - 1;
  BmLayer layer;

  bm_start_layer (&layer, plan, item % layers * bm_layer_depth (plan), tile_of (plan, tile),
      c->scratch + (size_t) thread * bm_thread_bytes (plan));
  layer.context = c;
  layer.thread = thread;
  layer.tile = tile;
  CPU (bm_band) (plan->params.cost) (&layer, first, last);
}

static StereoStatus
bm_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  size_t threads = (size_t) cpu_threads (plan);
  StereoStatus status = stereo_reserve (plan, (void **) &c->scratch, threads, bm_thread_bytes (plan), error);

  if (status || !bm_picks (plan))
    return status;
  if ((status = cpu_reserve_measures (plan, error)) ||
      (status = stereo_reserve (
           plan, (void **) &c->left, stereo_times (threads, 2 * (size_t) plan->image_pitch), sizeof *c->left, error)))
    return status;
  return stereo_reserve (plan, (void **) &c->right,
      stereo_times (stereo_times ((size_t) plan->height, (size_t) tiles_of (plan)), right_lines (plan) * span_of (plan)),
      sizeof *c->right, error);
}

static StereoStatus
bm_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, bm_item,
      parts (plan->height, BAND) * tiles_of (plan) * parts (plan->depth, bm_layer_depth (plan)));
  if (bm_picks (plan))
    cpu_run (plan, context, merge_row, plan->height);
  return STEREO_OK;
}

static const StereoStage bm = { .name = "match", .context_size = sizeof (Context), .prepare = bm_prepare, .run = bm_run };

const StereoStage *
CPU (bm) (const StereoParams *params)
{
  return CPU (bm_band) (params->cost) ? &bm : NULL;
}
