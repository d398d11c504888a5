/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The winners of both views over the candidates in lists, from the sums of a tile while these are in the cache. */
#include "stereo/cpu/lists/path.h"

typedef uint32_t Keys __attribute__ ((vector_size (16)));

/* The right pixels that are partners of a left pixel. */
INLINE void
offer_right (const CpuTile *t, const uint16_t *sums, uint32_t *partner)
{
  for (int g = 0; g < t->count; g++) {
    int index = t->groups[g] * STEREO_GROUP;
    Keys keys = { sums[g * STEREO_GROUP], sums[g * STEREO_GROUP + 1], sums[g * STEREO_GROUP + 2],
      sums[g * STEREO_GROUP + 3] };
    Keys numbers = { (uint32_t) index, (uint32_t) index + 1, (uint32_t) index + 2, (uint32_t) index + 3 }, own;
    keys = keys << 16 | numbers;
    memcpy (&own, partner + index, sizeof own);
    Keys less = (Keys) (keys < own);
    own = (keys & less) | (own & ~less);
    memcpy (partner + index, &own, sizeof own);
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

/* The disparity of slot @slot, with the sub-pixel fit where both neighbours are in the list. */
static float
disparity_of (const StereoPlan *plan, const uint16_t *sums, const Masks *m, int slot)
{
  float whole = (float) (plan->min_disparity + m->index[slot]);
  int last = plan->disparities - 1;

  if (!plan->params.subpixel || m->index[slot] == 0 || m->index[slot] == last || m->no_before[slot] ||
      m->no_after[slot] || sums[slot - 1] == STEREO_INVALID || sums[slot + 1] == STEREO_INVALID)
    return whole;
  return whole + stereo_equiangular (sums[slot - 1], sums[slot], sums[slot + 1]);
}

/* A sum has 11 bits: with the slot it is a word. */
INLINE void
lowest_two (const uint16_t *sums, int blocks, uint16_t *low, uint16_t *next)
{
  VecW keys[BLOCKS], all = (VecW){ 0 } + 0xFFFF;
  VecW slots = { 0 };

  for (int k = 0; k < WORDS; k++)
    slots[k] = (uint16_t) k;
  for (int k = 0; k < blocks; k++) {
    VecW sum = vec_load_w (sums + k * WORDS), none = (VecW) (sum == 0xFFFF);
    keys[k] = (sum << 5 | (slots + (uint16_t) (k * WORDS))) | none;
    all = vec_min_words (all, keys[k]);
  }
  *low = vec_lowest_word (all);
  all = (VecW){ 0 } + 0xFFFF;
  for (int k = 0; k < blocks; k++)
    all = vec_min_words (all, keys[k] | (VecW) (keys[k] == *low));
  *next = vec_lowest_word (all);
}

static void
pick_pixel (const StereoPlan *plan, const Masks *m, const uint16_t *sums, int x, int y)
{
  const StereoView *view = &plan->view[STEREO_LEFT];
  size_t at = (size_t) y * (size_t) plan->map_pitch + (size_t) x;
  uint16_t low, next;

  lowest_two (sums, m->blocks, &low, &next);
  view->index[at] = low == 0xFFFF ? STEREO_INVALID : m->index[low & 31];
  view->confidence[at] = next == 0xFFFF ? 0 : stereo_confidence (low >> 5, next >> 5);
  plan->disparity[at] = low == 0xFFFF ? NAN : disparity_of (plan, sums, m, low & 31);
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
      const uint16_t *sums = (*all)[y - t->y0][x - t->x0];
      cells_of[row * cells + cell] = (uint8_t) (index == (int) STEREO_INVALID ?
              0 :
              stereo_listed_distinctness (sums[slot_of (t, index)], rival_of (sums, m, t->count * STEREO_GROUP, index),
                  cpu_list_costs (plan, x, y)[slot_of (t, index)], plan->lists.chance));
    }
}

void
CPU (pick_tile) (const StereoPlan *plan, const CpuTile *t, const Masks *m, const Sums *all, uint32_t *right)
{
  for (int x = t->x0; x < t->x1; x++)
    for (int y = t->y0; y < t->y1; y++) {
      const uint16_t *sums = (*all)[y - t->y0][x - t->x0];
      uint32_t *line = right + (size_t) (y - t->y0) * (size_t) plan->image_pitch + plan->image_pad;
      pick_pixel (plan, m, sums, x, y);
      offer_right (t, sums, line + plan->width - 1 - x + plan->min_disparity);
    }
  pick_distinctness (plan, t, m, all);
}
