/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The winners of both views over the candidates in lists, from the sums of a tile while these are in the cache. */
#include "stereo/cpu/lists/path.h"

#define OFFERED 4 /* columns at a time */

/* sum << 16 | index, of the candidates of a group. */
INLINE VecQuad
keys_of (const uint16_t *sums, uint16_t index)
{
  typedef uint16_t Words __attribute__ ((vector_size (16)));
  typedef uint64_t Pair __attribute__ ((vector_size (16)));
  const Words numbers = { 0, 1, 2, 3 };
  uint64_t four;

  memcpy (&four, sums, sizeof four); /* a part of a vector would be copied through memory */
  return (VecQuad) VEC_SHUFFLE (Words, numbers + index, (Words) (Pair){ four }, 0, 8, 1, 9, 2, 10, 3, 11);
}

/* The right pixels that are partners of a left pixel and of up to three to its right, @columns in all. @sums: of the first, a column
 * has @pitch. @partner: its partner at index 0. The partners of the next one lie a pixel before: a processor cannot read what it has
 * just stored at another place before the store is done, so that those of all are joined first. */
INLINE void
offer_right (const CpuTile *t, const uint16_t *sums, int pitch, int columns, uint32_t *partner)
{
  const VecQuad none = (VecQuad){ 0 } - 1;

  for (int g = 0; g < t->count; g++) {
    uint16_t index = (uint16_t) (t->groups[g] * STEREO_GROUP);
    uint32_t *place = partner + index - (OFFERED - 1);
    VecQuad low, high;
    memcpy (&low, place, sizeof low);
    memcpy (&high, place + 4, sizeof high);
    VecQuad keys = keys_of (sums + g * STEREO_GROUP, index);
    low = vec_min_quad (low, VEC_SHUFFLE (VecQuad, none, keys, 0, 0, 0, 4));
    high = vec_min_quad (high, VEC_SHUFFLE (VecQuad, none, keys, 5, 6, 7, 0));
    if (columns > 1) {
      keys = keys_of (sums + pitch + g * STEREO_GROUP, index);
      low = vec_min_quad (low, VEC_SHUFFLE (VecQuad, none, keys, 0, 0, 4, 5));
      high = vec_min_quad (high, VEC_SHUFFLE (VecQuad, none, keys, 6, 7, 0, 0));
    }
    if (columns > 2) {
      keys = keys_of (sums + 2 * pitch + g * STEREO_GROUP, index);
      low = vec_min_quad (low, VEC_SHUFFLE (VecQuad, none, keys, 0, 4, 5, 6));
      high = vec_min_quad (high, VEC_SHUFFLE (VecQuad, none, keys, 7, 0, 0, 0));
    }
    if (columns > 3)
      low = vec_min_quad (low, keys_of (sums + 3 * pitch + g * STEREO_GROUP, index));
    memcpy (place, &low, sizeof low);
    memcpy (place + 4, &high, sizeof high);
  }
}

/* The cost of the rival among listed candidates. */
static uint32_t
rival_of (const uint16_t *sums, const Masks *m, int slots, int index)
{
  uint32_t rival = STEREO_INVALID, nearer = STEREO_INVALID;

  for (int k = 0; k < slots; k++) {
    int distance = m->index[k] > index ? m->index[k] - index : index - m->index[k];
    if (distance >= STEREO_LISTED_RIVAL_LESS_AWAY && sums[k] < nearer)
      nearer = sums[k];
    if (distance >= STEREO_LISTED_RIVAL_AWAY && sums[k] < rival)
      rival = sums[k];
  }
  return rival == STEREO_INVALID ? nearer : rival;
}

/* The winners of a column of a tile. */
typedef struct Winners
{
  uint16_t low[STEREO_TILE], next[STEREO_TILE];     /* the lowest two: sum << 5 | slot, or 0xFFFF */
  uint16_t before[STEREO_TILE], after[STEREO_TILE]; /* the sums beside the lowest; as low as it, where there is no fit */
  uint16_t index[STEREO_TILE];
} Winners;

/* Of the slots of a tile. */
typedef struct Slots
{
  ALIGNED uint16_t numbers[STEREO_SLOTS]; /* two pixels may share a vector */
  int fits[STEREO_SLOTS];                 /* 1: a sub-pixel fit, because both neighbours are in the list; or 0 */
} Slots;

static void
set_slots (const StereoPlan *plan, const Masks *m, Slots *slots)
{
  for (int k = 0; k < STEREO_SLOTS; k++) {
    slots->numbers[k] = (uint16_t) (k % m->slots);
    slots->fits[k] = k < m->slots && plan->params.subpixel && m->index[k] > 0 && m->index[k] < plan->disparities - 1 &&
        !m->no_before[k] && !m->no_after[k];
  }
}

/* A sum has 11 bits: with the slot it is a word. */
INLINE void
lowest_two (const Slots *of, const uint16_t *sums, int rows, int slots, Winners *w)
{
  for (int y = 0; y < rows; y += PATHS_OF (slots)) {
    VecWide keys[VECTORS], low = (VecWide){ 0 } + 0xFFFF, next = low;
    EACH_VECTOR (k, slots) {
      VecWide sum = vec_load_wide (sums + y * slots + k * WIDE);
      keys[k] = (sum << 5 | vec_load_wide (of->numbers + k * WIDE)) | (VecWide) (sum == 0xFFFF);
      low = vec_min_wide (low, keys[k]);
    }
    low = vec_spread_lowest (low, PATHS_OF (slots) == 2 ? slots : WIDE);
    EACH_VECTOR (k, slots)
      next = vec_min_wide (next, keys[k] | (VecWide) (keys[k] == low));
    next = vec_spread_lowest (next, PATHS_OF (slots) == 2 ? slots : WIDE);
    for (int k = 0; k < PATHS_OF (slots); k++) {
      w->low[y + k] = low[k * WORDS];
      w->next[y + k] = next[k * WORDS];
    }
  }
}

static void
pick_column (const StereoPlan *plan, const CpuTile *t, const Masks *m, const Slots *slots, const uint16_t *sums, int x)
{
  const StereoView *view = &plan->view[STEREO_LEFT];
  size_t at = (size_t) t->y0 * (size_t) plan->map_pitch + (size_t) x;
  float confidence[STEREO_TILE], disparity[STEREO_TILE];
  int rows = t->y1 - t->y0;
  Winners w = { 0 };

  switch (m->slots) {
#define LOWEST(n) lowest_two (slots, sums, rows, n, &w)
    BY_SLOTS (LOWEST)
#undef LOWEST
  }
  for (int y = 0; y < rows; y++) {
    int slot = w.low[y] == 0xFFFF ? 0 : w.low[y] & 31;
    const uint16_t *sum = sums + y * m->slots + slot;
    w.before[y] = sum[-slots->fits[slot]];
    w.after[y] = sum[slots->fits[slot]];
    w.index[y] = w.low[y] == 0xFFFF ? STEREO_INVALID : m->index[slot];
  }
  for (int y = 0; y < STEREO_TILE; y++) {
    int fits_here = (w.before[y] != STEREO_INVALID) & (w.after[y] != STEREO_INVALID);
    float offset = stereo_equiangular (w.before[y], w.low[y] >> 5, w.after[y]);
    float found = (float) (plan->min_disparity + w.index[y]) + (fits_here ? offset : 0);
    confidence[y] = w.next[y] == 0xFFFF ? 0 : stereo_confidence (w.low[y] >> 5, w.next[y] >> 5);
    disparity[y] = w.low[y] == 0xFFFF ? NAN : found;
  }
  for (int y = 0; y < rows; y++, at += (size_t) plan->map_pitch) {
    view->index[at] = w.index[y];
    view->confidence[at] = confidence[y];
    plan->disparity[at] = disparity[y];
  }
}

static inline int
slot_of (const CpuTile *t, int index)
{
  for (int g = 0; g < t->count; g++)
    if (index >= 0 && t->groups[g] == index / STEREO_GROUP)
      return g * STEREO_GROUP + index % STEREO_GROUP;
  return -1;
}

static void
pick_distinctness (const StereoPlan *plan, const CpuTile *t, const Masks *m, const Sums *all)
{
  uint8_t *cells_of = cpu_state (plan)->distinctness;
  int cells = stereo_cells (plan->width);

  for (int row = t->y0 / STEREO_CELL; cells_of && row * STEREO_CELL < t->y1; row++)
    for (int cell = t->x0 / STEREO_CELL; cell * STEREO_CELL < t->x1; cell++) {
      int x = stereo_cell_pixel (cell, plan->width), y = stereo_cell_pixel (row, plan->height);
      int index = plan->view[STEREO_LEFT].index[(size_t) y * (size_t) plan->map_pitch + (size_t) x];
      const uint16_t *sums = *all + ((x - t->x0) * STEREO_TILE + y - t->y0) * m->slots;
      cells_of[row * cells + cell] = (uint8_t) (index == (int) STEREO_INVALID ?
              0 :
              stereo_listed_distinctness (sums[slot_of (t, index)], rival_of (sums, m, t->count * STEREO_GROUP, index),
                  cpu_list_costs (plan, x, y)[slot_of (t, index)], plan->lists.chance));
    }
}

void
CPU (pick_tile) (const StereoPlan *plan, const CpuTile *t, const Masks *m, const Sums *all, uint32_t *right)
{
  int pitch = STEREO_TILE * m->slots;
  Slots slots;

  set_slots (plan, m, &slots);
  for (int x = t->x0; x < t->x1; x++)
    pick_column (plan, t, m, &slots, *all + (x - t->x0) * pitch, x);
  for (int x = t->x0; x < t->x1; x += OFFERED) {
    const uint16_t *sums = *all + (x - t->x0) * pitch;
    uint32_t *partner = right + plan->image_pad + plan->width - 1 - x + plan->min_disparity;
    for (int y = 0; y < t->y1 - t->y0; y++, sums += m->slots, partner += plan->image_pitch)
      if (t->x1 - x >= OFFERED)
        offer_right (t, sums, pitch, OFFERED, partner);
      else
        offer_right (t, sums, pitch, t->x1 - x, partner);
  }
  pick_distinctness (plan, t, m, all);
}
