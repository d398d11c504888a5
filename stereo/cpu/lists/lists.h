/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of a tile, as the stages of a search from coarse to fine read it: exact/lists.h says what it is. */
#ifndef STEREO_CPU_LISTS_LISTS_H
#define STEREO_CPU_LISTS_LISTS_H

#include "stereo/cpu/cpu.h"

typedef struct CpuTile
{
  const uint16_t *groups; /* ascending */
  int count;              /* of groups */
  int x0, x1, y0, y1;     /* its pixels: x0..x1 - 1, y0..y1 - 1 */
  int lowest, highest;    /* indices in the list that a pixel may have; the last group may end beyond them */
} CpuTile;

static inline CpuTile
cpu_tile (const StereoPlan *plan, int column, int row)
{
  CpuTile t = { plan->lists.groups + ((size_t) row * (size_t) plan->lists.columns + (size_t) column) * STEREO_TILE_GROUPS,
    0, column * STEREO_TILE, (column + 1) * STEREO_TILE, row * STEREO_TILE, (row + 1) * STEREO_TILE, 0, 0 };

  while (t.count < STEREO_TILE_GROUPS && t.groups[t.count] != STEREO_NO_GROUP)
    t.count++;
  t.x1 = t.x1 < plan->width ? t.x1 : plan->width;
  t.y1 = t.y1 < plan->height ? t.y1 : plan->height;
  t.lowest = t.groups[0] * STEREO_GROUP;
  t.highest = t.groups[t.count - 1] * STEREO_GROUP + STEREO_GROUP - 1;
  t.highest = t.highest < plan->disparities ? t.highest : plan->disparities - 1;
  return t;
}

static inline int
cpu_slot_index (const CpuTile *t, int slot)
{
  return t->groups[slot / STEREO_GROUP] * STEREO_GROUP + slot % STEREO_GROUP;
}

/* Whether every slot of the list is a candidate that exists, at columns @first..@end - 1. */
static inline int
cpu_tile_is_interior (const StereoPlan *plan, const CpuTile *t, int first, int end)
{
  return t->groups[t->count - 1] * STEREO_GROUP + STEREO_GROUP <= plan->disparities &&
      t->highest <= stereo_last_index (first, plan->disparities, plan->min_disparity) &&
      t->lowest >= stereo_first_index (end - 1, plan->width, plan->min_disparity);
}

/* The costs of pixel (x, y), for its slots. */
static inline uint8_t *
cpu_list_costs (const StereoPlan *plan, int x, int y)
{
  return plan->lists.costs + ((size_t) y * (size_t) plan->width + (size_t) x) * STEREO_SLOTS;
}

#endif
