/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The list of a tile, as the stages of a search from coarse to fine read it: exact/lists.h says what it is. And its costs: those of a
 * candidate lie side by side for a row of pixels, which are the elements of vectors. */
#ifndef STEREO_CPU_LISTS_LISTS_H
#define STEREO_CPU_LISTS_LISTS_H

#include "stereo/cpu/cpu.h"
#include "stereo/cpu/vec/vec.h"

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

#define CPU_BLOCK (STEREO_TILE * STEREO_SLOTS * STEREO_TILE) /* bytes of a tile's costs, at most */

/* The costs of a tile's row @y: [slot][column], with as many slots as the list has. The rows of a tile follow one another. */
static inline uint8_t *
cpu_list_costs (const StereoPlan *plan, const CpuTile *t, int y)
{
  size_t tile = (size_t) (t->groups - plan->lists.groups) / STEREO_TILE_GROUPS;
  return plan->lists.costs + tile * CPU_BLOCK + (size_t) ((y - t->y0) * t->count * STEREO_GROUP * STEREO_TILE);
}

/* Sixteen vectors of bytes become those of their elements 0, 1 and so on. Of the first @count, the last one stands for those behind. */
static inline __attribute__ ((always_inline)) void
cpu_transpose (const uint8_t *from, ptrdiff_t step, int count, uint8_t *to, ptrdiff_t to_step)
{
  typedef uint8_t Bytes __attribute__ ((vector_size (16)));
  Bytes v[2][16];

#pragma GCC unroll 16
  for (int k = 0; k < 16; k++)
    memcpy (&v[0][k], from + (k < count ? k : count - 1) * step, 16);
#pragma GCC unroll 4
  for (int round = 0; round < 4; round++)
#pragma GCC unroll 8
    for (int k = 0; k < 8; k++) {
      Bytes a = v[round & 1][k], b = v[round & 1][k + 8];
      v[~round & 1][2 * k] = VEC_SHUFFLE (Bytes, a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      v[~round & 1][2 * k + 1] = VEC_SHUFFLE (Bytes, a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
#pragma GCC unroll 16
  for (int k = 0; k < 16; k++)
    memcpy (to + k * to_step, &v[0][k], 16);
}

#endif
