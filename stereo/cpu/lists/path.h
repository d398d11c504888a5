/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Of a path over the candidates in lists: the masks of a tile, the map from one list to another, and the step from pixel to pixel.
 * paths.c says what is computed. */
#ifndef STEREO_CPU_LISTS_PATH_H
#define STEREO_CPU_LISTS_PATH_H

#include "stereo/cpu/lists/lists.h"
#include "stereo/cpu/vec/vec.h"

#define MISSING 0xFFFF       /* the path cost of a candidate that a list lacks; sums with it stay as large */
#define GUARD 64             /* words on both sides of paths' costs, which loads may read */
#define ALIGNED _Alignas(64) /* no vector lies in two lines of the cache */
#define INLINE static inline __attribute__ ((always_inline))
#define VECTORS (STEREO_SLOTS / WIDE) /* of a pixel's slots, at most */

/* Two paths whose tile has few slots may share a vector. */
#define PATHS_OF(slots) (WIDE > WORDS && (slots) < WIDE ? 2 : 1)
#define VECTORS_OF(slots) (PATHS_OF (slots) * (slots) / WIDE)

/* Slots from path to path. Where a step reads the slots beside its own from memory, these are not another path's: a processor cannot
 * read what it has just stored at another place before the store is done. */
#if WIDE > WORDS
#define PATH_PITCH(slots) (slots)
#else
#define PATH_PITCH(slots) (STEREO_SLOTS + WORDS)
#endif

/* Paths that go side by side through a tile, at the pixels that they have come to: [path][slot]. The lowest cost of a path is 0. */
typedef struct Paths
{
  ALIGNED uint16_t guard[GUARD], costs[STEREO_TILE * PATH_PITCH (STEREO_SLOTS)], guard_behind[GUARD];
} Paths;

/* Of the slots of a tile and a column of its pixels. */
typedef struct Masks
{
  ALIGNED uint16_t absent[STEREO_TILE * STEREO_SLOTS];      /* [column][slot]: all bits: no candidate that exists */
  uint16_t outside[STEREO_TILE * STEREO_SLOTS];             /* all bits: in the list, but outside the other view */
  uint16_t no_before[STEREO_SLOTS], no_after[STEREO_SLOTS]; /* MISSING: the disparity beside it is not in the list */
  uint16_t index[STEREO_SLOTS];
  int slots; /* that hold the list: a multiple of WORDS */
  int some_outside;
} Masks;

/* The sums of all paths in a tile: [column][row][slot], with the slots of Masks; 0xFFFF without a candidate. */
typedef uint16_t Sums[STEREO_TILE * STEREO_TILE * STEREO_SLOTS];

#define PICK_BEFORE 16 /* elements before the lines of @right that pick_tile() touches, without an effect */

/* The winners of the pixels of a tile: left index, confidence and disparity, the distinctness of its cells. @right: of each row of the
 * tile a line with image_pitch elements, for mirrored columns from -image_pad on: cost << 16 | index of the right view's winners so
 * far, which take part in it. */
void CPU (pick_tile) (const StereoPlan *plan, const CpuTile *t, const Masks *m, const Sums *sums, uint32_t *right);

/* The cases of a switch over a number of slots: the loops over these are unrolled. */
#if STEREO_SLOTS / WORDS > 2
#define BY_SLOTS(call) \
  case 4 * WORDS: \
    call (4 * WORDS); \
    break; \
  case 3 * WORDS: \
    call (3 * WORDS); \
    break; \
  case 2 * WORDS: \
    call (2 * WORDS); \
    break; \
  default: \
    call (WORDS); \
    break;
#else
#define BY_SLOTS(call) \
  case 2 * WORDS: \
    call (2 * WORDS); \
    break; \
  default: \
    call (WORDS); \
    break;
#endif

/* ---- tiles ------------------------------------------------------------------------------------------ */

static inline void
set_absent (const StereoPlan *plan, const CpuTile *t, Masks *m, int x)
{
  uint16_t *absent = m->absent + (x - t->x0) * m->slots, *outside = m->outside + (x - t->x0) * m->slots;
  int first = stereo_first_index (x, plan->width, plan->min_disparity);
  int last = stereo_last_index (x, plan->disparities, plan->min_disparity);

  for (int k = 0; k < m->slots; k++) {
    int searched = k < t->count * STEREO_GROUP && m->index[k] < plan->disparities;
    int beyond = searched && (m->index[k] < first || m->index[k] > last);
    absent[k] = !searched || beyond ? MISSING : 0;
    outside[k] = beyond ? MISSING : 0;
    m->some_outside |= beyond;
  }
}

static inline void
set_masks (const StereoPlan *plan, const CpuTile *t, Masks *m)
{
  int interior = cpu_tile_is_interior (plan, t, t->x0, t->x1);

  m->some_outside = 0;
  m->slots = (t->count * STEREO_GROUP + WORDS - 1) / WORDS * WORDS;
  for (int g = 0; g < m->slots / STEREO_GROUP; g++) {
    int joined_before = g > 0 && g < t->count && t->groups[g] == t->groups[g - 1] + 1;
    int joined_after = g + 1 < t->count && t->groups[g + 1] == t->groups[g] + 1;
    for (int k = 0; k < STEREO_GROUP; k++) {
      m->index[g * STEREO_GROUP + k] = (uint16_t) (g < t->count ? t->groups[g] * STEREO_GROUP + k : 0);
      m->no_before[g * STEREO_GROUP + k] = k == 0 && !joined_before ? MISSING : 0;
      m->no_after[g * STEREO_GROUP + k] = k == STEREO_GROUP - 1 && !joined_after ? MISSING : 0;
    }
  }
  if (PATHS_OF (m->slots) == 2) {
    memcpy (m->no_before + m->slots, m->no_before, (size_t) m->slots * sizeof *m->no_before);
    memcpy (m->no_after + m->slots, m->no_after, (size_t) m->slots * sizeof *m->no_after);
  }
  for (int x = t->x0; x < t->x1; x++)
    if (interior && x > t->x0)
      memcpy (m->absent + (x - t->x0) * m->slots, m->absent, (size_t) m->slots * sizeof *m->absent);
    else
      set_absent (plan, t, m, x);
}

/* For the slots of a list, those of another list that hold the same disparity, and those below and above it. */
typedef struct Map
{
  ALIGNED uint16_t same[STEREO_SLOTS], before[STEREO_SLOTS], after[STEREO_SLOTS];  /* slots; 0 where there is none */
  uint16_t no_same[STEREO_SLOTS], no_before[STEREO_SLOTS], no_after[STEREO_SLOTS]; /* MISSING: there is none */
} Map;

/* Slot @k of a group is slot @at of the group @from of the other list, which lacks it if @from is below 0. */
static inline void
set_slot (int from, int at, uint16_t *to, uint16_t *none)
{
  *to = (uint16_t) (from < 0 ? 0 : from * STEREO_GROUP + at);
  *none = from < 0 ? MISSING : 0;
}

static inline void
make_map (const CpuTile *from, const CpuTile *to, Map *map)
{
  memset (map, 0, sizeof *map);
  memset (map->no_same, 0xFF, sizeof map->no_same);
  memset (map->no_before, 0xFF, sizeof map->no_before);
  memset (map->no_after, 0xFF, sizeof map->no_after);
  for (int g = 0; g < to->count; g++) {
    int own = -1, below = -1, above = -1;
    for (int f = 0; f < from->count; f++) {
      int away = from->groups[f] - to->groups[g];
      own = away == 0 ? f : own;
      below = away == -1 ? f : below;
      above = away == 1 ? f : above;
    }
    for (int k = 0; k < STEREO_GROUP; k++) {
      int slot = g * STEREO_GROUP + k, first = k == 0, last = k == STEREO_GROUP - 1;
      set_slot (own, k, &map->same[slot], &map->no_same[slot]);
      set_slot (first ? below : own, first ? STEREO_GROUP - 1 : k - 1, &map->before[slot], &map->no_before[slot]);
      set_slot (last ? above : own, last ? 0 : k + 1, &map->after[slot], &map->no_after[slot]);
    }
  }
}

/* ---- a step of paths --------------------------------------------------------------------------------- */

/* A loop over these, unrolled. */
#if VECTORS > 1
#define EACH_VECTOR(k, slots) _Pragma ("GCC unroll 4") for (int k = 0; k < VECTORS_OF (slots); k++)
#else
#define EACH_VECTOR(k, slots) for (int k = 0; k < VECTORS_OF (slots); k++)
#endif

/* The penalties of steps whose luma differs much, by path: bit 0 for the first, bit 1 for the second that shares the vector. */
typedef struct Penalties
{
  ALIGNED uint16_t small[4][WIDE], large[4][WIDE];
  int luma_step;
} Penalties;

/* What stands before a step, by slot of the pixel that it comes to. */
typedef struct Before
{
  VecWide same[VECTORS], before[VECTORS], after[VECTORS];
} Before;

/* From pixels of the same tile, whose costs are @own. */
INLINE Before
before_within (const uint16_t *own, const Masks *m, int slots)
{
  Before from;
  EACH_VECTOR (k, slots) {
    int i = k * WIDE;
    from.same[k] = vec_load_wide (own + i);
#if WIDE > WORDS
    VecWide before = vec_one_up (from.same[k]), after = vec_one_down (from.same[k]);
#else
    VecWide before = vec_load_wide (own + i - 1), after = vec_load_wide (own + i + 1);
#endif
    from.before[k] = before | vec_load_wide (m->no_before + i);
    from.after[k] = after | vec_load_wide (m->no_after + i);
  }
  return from;
}

/* From the tile before, where a pixel has @slots_before slots. Without a map from outside the picture, where all costs are 0. */
INLINE Before
before_across (const uint16_t *own, int slots_before, const Map *map, int slots)
{
  Before from;
  EACH_VECTOR (k, slots) {
    int i = k * WIDE;
    from.same[k] = from.before[k] = from.after[k] = (VecWide){ 0 };
    if (!map)
      continue;
    from.same[k] = vec_wide_at (own, map->same + i) | vec_load_wide (map->no_same + i);
    from.before[k] = vec_wide_at (own, map->before + i) | vec_load_wide (map->no_before + i);
    from.after[k] = vec_wide_at (own, map->after + i) | vec_load_wide (map->no_after + i);
#if WIDE > WORDS
    const uint16_t *second = own + PATH_PITCH (slots_before);
    if (PATHS_OF (slots) == 1)
      continue;
    from.same[k] = vec_halves (from.same[k], vec_wide_at (second, map->same) | vec_load_wide (map->no_same));
    from.before[k] = vec_halves (from.before[k], vec_wide_at (second, map->before) | vec_load_wide (map->no_before));
    from.after[k] = vec_halves (from.after[k], vec_wide_at (second, map->after) | vec_load_wide (map->no_after));
#endif
  }
  return from;
}

/* The matching costs of a pixel, or of two that are @beside apart. */
INLINE void
load_costs (const uint8_t *costs, ptrdiff_t beside, int slots, VecWide *to)
{
#if WIDE > WORDS
  if (PATHS_OF (slots) == 2) {
    *to = vec_wide_of_two (costs, costs + beside);
    return;
  }
#endif
  EACH_VECTOR (k, slots)
    to[k] = vec_wide_of_bytes (costs + k * WIDE);
}

/* Masks of a pixel's slots, or of two pixels' beside each other. */
INLINE void
load_masks (const uint16_t *masks, int slots, VecWide *to)
{
  EACH_VECTOR (k, slots)
    to[k] = vec_load_wide (masks + k * WIDE);
}

/* Of a pixel's slots: for it, or for two. */
INLINE void
load_masks_twice (const uint16_t *masks, int slots, VecWide *to)
{
#if WIDE > WORDS
  if (PATHS_OF (slots) == 2) {
    *to = vec_twice (masks);
    return;
  }
#endif
  load_masks (masks, slots, to);
}

/* Steps to pixels with the matching costs @costs. @absent: of them. @changes: bit k: luma changes much on the way of path k.
 * @added: what the paths add to each. Leaves their costs in @to. */
INLINE void
step_paths (const Before *from, const VecWide *costs, const VecWide *absent, const Penalties *p, unsigned changes,
    int slots, uint16_t *to, VecWide *added)
{
  const VecWide small = vec_load_wide (p->small[changes]), large = vec_load_wide (p->large[changes]);
  VecWide low = (VecWide){ 0 } + 0xFFFF, next[VECTORS];

  EACH_VECTOR (k, slots) {
    VecWide beside = vec_add_wide (vec_min_wide (from->before[k], from->after[k]), small);
    added[k] = vec_min_wide (vec_min_wide (from->same[k], large), beside);
    next[k] = (costs[k] + added[k]) | absent[k];
    low = vec_min_wide (low, next[k]);
  }
  low = vec_spread_lowest (low, PATHS_OF (slots) == 2 ? slots : WIDE);
  EACH_VECTOR (k, slots)
    vec_store_wide (to + k * WIDE, (next[k] - low) | absent[k]);
}

/* Candidates outside the other view cost a path as little as its best one. @outside: of the pixel, or of two. */
INLINE void
open_outside (const VecWide *outside, int slots, uint16_t *to)
{
  EACH_VECTOR (k, slots)
    vec_store_wide (to + k * WIDE, vec_load_wide (to + k * WIDE) & ~outside[k]);
}

#endif
