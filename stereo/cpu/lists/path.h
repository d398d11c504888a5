/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Of a path over the candidates in lists: the masks of a tile, the map from one list to another, and the step from pixel to pixel.
 * paths.c says what is computed. */
#ifndef STEREO_CPU_LISTS_PATH_H
#define STEREO_CPU_LISTS_PATH_H

#include "stereo/cpu/lists/lists.h"
#include "stereo/cpu/vec/vec.h"

#define MISSING 0xFFFF /* the path cost of a candidate that a list lacks; sums with it stay as large */
#define GUARD 16       /* words on both sides of a path's costs */
#define INLINE static inline __attribute__ ((always_inline))
#define BLOCKS (STEREO_SLOTS / WORDS) /* vectors of a pixel's slots, at most */

/* A path at the pixel that it has come to. */
typedef struct Path
{
  uint16_t costs[GUARD + STEREO_SLOTS + GUARD];
  uint16_t lowest;
} Path;

/* Of the slots of a tile and a column of its pixels. */
typedef struct Masks
{
  uint16_t absent[STEREO_TILE][STEREO_SLOTS];               /* all bits: no candidate that exists */
  uint16_t outside[STEREO_TILE][STEREO_SLOTS];              /* all bits: in the list, but outside the other view */
  uint16_t no_before[STEREO_SLOTS], no_after[STEREO_SLOTS]; /* MISSING: the disparity beside it is not in the list */
  uint16_t index[STEREO_SLOTS];
  int some_outside;
  int blocks; /* that hold all slots of the list */
} Masks;

/* The sums of all paths in a tile: [row][column][slot], 0xFFFF without a candidate. */
typedef uint16_t Sums[STEREO_TILE][STEREO_TILE][STEREO_SLOTS];

/* The winners of the pixels of a tile: left index, confidence and disparity, the distinctness of its cells. @right: of each row of the
 * tile a line with image_pitch elements, for mirrored columns from -image_pad on: cost << 16 | index of the right view's winners so
 * far, which take part in it. */
void CPU (pick_tile) (const StereoPlan *plan, const CpuTile *t, const Masks *m, const Sums *sums, uint32_t *right);

/* The cases of a switch over a number of blocks: the loops over these are unrolled. */
#if STEREO_SLOTS / WORDS > 2
#define BY_BLOCKS(call) \
  case 4: \
    call (4); \
    break; \
  case 3: \
    call (3); \
    break; \
  case 2: \
    call (2); \
    break; \
  default: \
    call (1); \
    break;
#else
#define BY_BLOCKS(call) \
  case 2: \
    call (2); \
    break; \
  default: \
    call (1); \
    break;
#endif

/* ---- tiles ------------------------------------------------------------------------------------------ */

static inline void
set_masks (const StereoPlan *plan, const CpuTile *t, Masks *m)
{
  int slots = t->count * STEREO_GROUP;

  m->some_outside = 0;
  m->blocks = (slots + WORDS - 1) / WORDS;
  for (int k = 0; k < STEREO_SLOTS; k++) {
    int gap_before = k % STEREO_GROUP == 0 &&
        (k == 0 || k >= slots || cpu_slot_index (t, k - 1) + 1 != cpu_slot_index (t, k));
    int gap_after = k % STEREO_GROUP == STEREO_GROUP - 1 &&
        (k + 1 >= slots || cpu_slot_index (t, k) + 1 != cpu_slot_index (t, k + 1));
    m->index[k] = k < slots ? (uint16_t) cpu_slot_index (t, k) : 0;
    m->no_before[k] = gap_before ? MISSING : 0;
    m->no_after[k] = gap_after ? MISSING : 0;
  }
  int interior = cpu_tile_is_interior (plan, t, t->x0, t->x1);
  for (int x = t->x0; x < t->x1; x++) {
    uint16_t *absent = m->absent[x - t->x0];
    if (interior && x > t->x0) {
      memcpy (absent, m->absent[0], sizeof m->absent[0]);
      continue;
    }
    int first = stereo_first_index (x, plan->width, plan->min_disparity);
    int last = stereo_last_index (x, plan->disparities, plan->min_disparity);
    for (int k = 0; k < STEREO_SLOTS; k++) {
      int searched = k < slots && m->index[k] < plan->disparities;
      int outside = searched && (m->index[k] < first || m->index[k] > last);
      absent[k] = !searched || outside ? 0xFFFF : 0;
      m->outside[x - t->x0][k] = outside ? 0xFFFF : 0;
      m->some_outside |= outside;
    }
  }
}

/* For the slots of a list, those of another list that hold the same disparity, and those below and above it; -1, where a guard of
 * the path's costs stands: it lacks that. */
typedef struct Map
{
  int8_t same[STEREO_SLOTS], before[STEREO_SLOTS], after[STEREO_SLOTS];
} Map;

static inline int
slot_of (const CpuTile *t, int index)
{
  for (int g = 0; g < t->count; g++)
    if (index >= 0 && t->groups[g] == index / STEREO_GROUP)
      return g * STEREO_GROUP + index % STEREO_GROUP;
  return -1;
}

static inline void
make_map (const CpuTile *from, const CpuTile *to, Map *map)
{
  for (int k = 0; k < STEREO_SLOTS; k++) {
    int listed = k < to->count * STEREO_GROUP, index = listed ? cpu_slot_index (to, k) : 0;
    map->same[k] = (int8_t) (listed ? slot_of (from, index) : -1);
    map->before[k] = (int8_t) (listed ? slot_of (from, index - 1) : -1);
    map->after[k] = (int8_t) (listed ? slot_of (from, index + 1) : -1);
  }
}

/* ---- a step of a path ---------------------------------------------------------------------------------- */

static inline void
start_path (Path *path)
{
  memset (path, 0xFF, sizeof *path); /* the guards are missing candidates */
}

/* What stands before the step from one pixel to the next, by slot of the next. */
typedef struct Before
{
  const uint16_t *same, *before, *after, *no_before, *no_after;
} Before;

/* The costs of a pixel's slots, in @blocks vectors. @added: what the path adds to each. Leaves the path at the pixel. */
INLINE void
step_path (Path *path, Before from, const uint8_t *costs, const Masks *m, int column, int large, int small, int blocks,
    VecW *added)
{
  const VecW lowest = (VecW){ 0 } + path->lowest;
  const VecW jump = lowest + (uint16_t) large, beside_costs = (VecW){ 0 } + (uint16_t) small;
  VecW low = (VecW){ 0 } + 0xFFFF, next[BLOCKS];

#pragma GCC unroll 4
  for (int k = 0; k < blocks; k++) {
    int i = k * WORDS;
    VecW before = vec_load_w (from.before + i) | vec_load_w (from.no_before + i);
    VecW after = vec_load_w (from.after + i) | vec_load_w (from.no_after + i);
    VecW best = vec_min_words (vec_load_w (from.same + i), jump);
    best = vec_min_words (best, vec_add_words (vec_min_words (before, after), beside_costs));
    added[k] = best - lowest;
    next[k] = (vec_words_of_bytes (costs + i) + added[k]) | vec_load_w (&m->absent[column][i]);
    low = vec_min_words (low, next[k]);
  }
  path->lowest = vec_lowest_word (low);
  if (path->lowest == 0xFFFF)
    path->lowest = 0;
#pragma GCC unroll 4
  for (int k = 0; k < blocks; k++)
    vec_store_w (path->costs + GUARD + k * WORDS, next[k]);
  for (int k = 0; m->some_outside && k < blocks; k++) {
    VecW outside = vec_load_w (&m->outside[column][k * WORDS]), open = (VecW){ 0 } + path->lowest;
    vec_store_w (path->costs + GUARD + k * WORDS, (next[k] & ~outside) | (open & outside));
  }
}

/* From a pixel of the same tile. */
INLINE void
step_within (Path *path, const uint8_t *costs, const Masks *m, int column, int large, int small, int blocks, VecW *added)
{
  const uint16_t *own = path->costs + GUARD;
  step_path (path, (Before){ own, own - 1, own + 1, m->no_before, m->no_after }, costs, m, column, large, small, blocks,
      added);
}

/* From a pixel of another tile; without a map from outside the picture, where all costs are 0. */
static inline void
step_across (
    Path *path, const Map *map, const uint8_t *costs, const Masks *m, int column, int large, int small, VecW *added)
{
  static const uint16_t none[STEREO_SLOTS];
  uint16_t same[STEREO_SLOTS], before[STEREO_SLOTS], after[STEREO_SLOTS];
  const uint16_t *own = path->costs + GUARD;

  if (!map) {
    path->lowest = 0;
    step_path (path, (Before){ none, none, none, none, none }, costs, m, column, large, small, m->blocks, added);
    return;
  }
  for (int k = 0; k < m->blocks * WORDS; k++) {
    same[k] = own[map->same[k]];
    before[k] = own[map->before[k]];
    after[k] = own[map->after[k]];
  }
  step_path (path, (Before){ same, before, after, none, none }, costs, m, column, large, small, m->blocks, added);
}

#endif
