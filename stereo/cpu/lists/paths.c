/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Paths over the candidates in the lists, four directions, and the winners of both views (Mahieu & Lowney, 3; Hirschmuller 2008).
 *
 * Between pixels of a tile a candidate stays in its slot. From tile to tile a table says which slots of the one list hold the
 * disparities of the other; what the other list lacks can only be reached by a jump. A thread takes a stretch of a column of tiles,
 * down and up, and keeps what each path adds to a candidate, a byte. When all columns have come so far, one takes a row of tiles, to
 * the right and to the left, and has the sums of a tile at hand when it picks. Other threads go on with the columns meanwhile. What
 * the paths down and up add is kept of two stretches.
 */
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

/* The slots of a tile and a column of its pixels. */
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

/* A pixel's slots: for it, or for two. */
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

/* The winners of both views over the candidates in lists, from the sums of a tile while these are in the cache. */

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

/* The slots of a tile. */
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

/* The winners of the pixels of a tile: left index, confidence and disparity, the distinctness of its cells. @right: of each row of the
 * tile a line with image_pitch elements, for mirrored columns from -image_pad on: cost << 16 | index of the right view's winners so
 * far, which take part in it. */
static void
pick_tile (const StereoPlan *plan, const CpuTile *t, const Masks *m, const Sums *all, uint32_t *right)
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

/* Bytes that the paths down and up add in a tile: as the paths to the left read them. Lists that fit few slots take less. */
#define TILE_ADDED (STEREO_TILE * STEREO_TILE * 2 * STEREO_SLOTS)

typedef struct Context
{
  uint8_t *added; /* [tile][column, from the last][row][down, up][slot]: by the paths, of rows of tiles modulo @kept */
  int kept;
  uint8_t *threads; /* a Band of each, and what follows it */
  size_t thread_bytes;
  int turn;      /* the stretch of their way down that columns take */
  int row, rows; /* rows of tiles that are picked meanwhile: the first, and how many */
} Context;

/* What is added in the tile (@column, @row). */
static uint8_t *
tile_added (const StereoPlan *plan, const Context *c, int column, int row)
{
  return c->added + ((size_t) (row % c->kept) * (size_t) plan->lists.columns + (size_t) column) * TILE_ADDED;
}

/* A step of luma halves the penalties. */
static Penalties
penalties_of (const StereoPlan *plan, int direction)
{
  int small = stereo_plan_penalty (plan, direction, 0), large = stereo_plan_penalty (plan, direction, 1);
  Penalties p = { .luma_step = plan->params.penalty_step };

  for (int changes = 0; changes < 4; changes++)
    for (int k = 0; k < WIDE; k++) {
      int halved = changes >> (k < WIDE / 2 ? 0 : 1) & 1;
      p.small[changes][k] = (uint16_t) (halved ? stereo_path_halved (small) : small);
      p.large[changes][k] = (uint16_t) (halved ? stereo_path_halved (large) : large);
    }
  return p;
}

/* Paths of a line, as bits of @changes, that share a vector with path @k, as Penalties has them. */
INLINE unsigned
changes_at (unsigned changes, int k, int slots)
{
  return PATHS_OF (slots) == 2 ? changes >> k & 3 : (changes >> k & 1) * 3;
}

/* The tiles of a stretch, by their numbers along a path's way, and where the path begins. */
typedef struct Stretch
{
  int begin, first, end;
} Stretch;

static Stretch
stretch_of (int row, int tiles, int number)
{
  int length = stereo_stretch_length (row, tiles), first = number * length;
  int begin = first - STEREO_STRETCH_BEFORE, end = first + length;
  return (Stretch){ begin > 0 ? begin : 0, first, end < tiles ? end : tiles };
}

/* Where paths that go side by side stand: in a tile. */
typedef struct Way
{
  const StereoPlan *plan;
  const Penalties *penalties;
  int back; /* up, or to the left */
  CpuTile tile;
  Masks masks;
  Map map;    /* from the tile before, where a pixel has @slots_before */
  int begins; /* paths begin here, and the map says nothing */
  int slots_before;
  Paths *paths, *before; /* of this tile, and of the one before */
  uint8_t *added;        /* by the paths down and up in this tile */
} Way;

/* Goes on to tile (@column, @row). */
static void
enter_tile (Way *w, const Context *c, int column, int row, int begins)
{
  const StereoPlan *plan = w->plan;
  CpuTile before = w->tile;
  Paths *free = w->before;

  w->slots_before = w->masks.slots;
  w->before = w->paths;
  w->paths = free;
  w->begins = begins;
  w->tile = cpu_tile (plan, column, row);
  w->added = tile_added (plan, c, column, row);
  set_masks (plan, &w->tile, &w->masks);
  if (!begins)
    make_map (&before, &w->tile, &w->map);
}

/* Path @k, or it and the next one, go on to pixels with the matching costs @match; @across: from the tile before. */
INLINE void
step (const Way *w, int k, int across, const VecWide *match, const VecWide *absent, unsigned changes, int slots,
    VecWide *added)
{
  uint16_t *own = w->paths->costs + k * PATH_PITCH (slots);
  const uint16_t *before = w->before->costs + k * PATH_PITCH (w->slots_before);
  Before from = across ? before_across (before, w->slots_before, w->begins ? NULL : &w->map, slots) :
                         before_within (own, &w->masks, slots);

  step_paths (&from, match, absent, w->penalties, changes_at (changes, k, slots), slots, own, added);
}

/* ---- down and up ------------------------------------------------------------------------------------- */

/* Where that of column @x and row @y of a tile begins; that of rows which share a vector lies together. */
INLINE ptrdiff_t
added_at (int x, int y, int up, int slots)
{
  int paths = PATHS_OF (slots), first = y / paths * paths;
  return (((STEREO_TILE - 1 - x) * STEREO_TILE + first) * 2 + up * paths + y - first) * slots;
}

/* Columns @x.. and row @y of the tile @to. */
INLINE void
store_added (uint8_t *to, int x, int y, int up, int slots, const VecWide *added)
{
#if WIDE > WORDS
  if (PATHS_OF (slots) == 2) {
    vec_store_halves_as_bytes (to + added_at (x, y, up, slots), to + added_at (x + 1, y, up, slots), *added);
    return;
  }
#endif
  EACH_VECTOR (k, slots)
    vec_store_wide_as_bytes (to + added_at (x, y, up, slots) + k * WIDE, added[k]);
}

typedef uint8_t Line __attribute__ ((vector_size (STEREO_TILE)));

/* stereo_path_steps() of pixel k in bit k, between a row of a tile and another. The bits behind its last column say nothing. */
static unsigned
find_changes (const uint8_t *luma, const uint8_t *before, int step)
{
  const Line bits = { 1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128 };
  const uint64_t ones = 0x0101010101010101; /* times eight bytes: their sum, in the highest byte */
  Line a, b, more, changes;
  uint64_t halves[2];

  memcpy (&a, luma, sizeof a);
  memcpy (&b, before, sizeof b);
  more = (Line) (a > b);
  changes = bits & (Line) ((((a - b) & more) | ((b - a) & ~more)) >= (uint8_t) step);
  memcpy (halves, &changes, sizeof changes);
  return step > 0 ? (unsigned) (halves[0] * ones >> 56 | halves[1] * ones >> 56 << 8) : 0;
}

/* The pixels of row @y, from another row of the tile or of the tile before. */
INLINE void
step_row (const Way *w, int y, int across, int slots)
{
  const CpuTile *t = &w->tile;
  const uint8_t *luma = w->plan->view[STEREO_LEFT].luma + (ptrdiff_t) y * w->plan->image_pitch + t->x0;
  const uint8_t *before = luma + (w->back ? 1 : -1) * w->plan->image_pitch;
  const uint8_t *costs = cpu_list_costs (w->plan, t->x0, y);
  unsigned changes = across && w->begins ? 0 : find_changes (luma, before, w->penalties->luma_step);

  for (int x = 0; x < t->x1 - t->x0; x += PATHS_OF (slots), costs += PATHS_OF (slots) * STEREO_SLOTS) {
    VecWide match[VECTORS], absent[VECTORS], outside[VECTORS], added[VECTORS];
    load_costs (costs, x + 1 < t->x1 - t->x0 ? STEREO_SLOTS : 0, slots, match);
    load_masks (w->masks.absent + x * slots, slots, absent);
    step (w, x, across, match, absent, changes, slots, added);
    store_added (w->added, x, y - t->y0, w->back, slots, added);
    if (w->masks.some_outside) {
      load_masks (w->masks.outside + x * slots, slots, outside);
      open_outside (outside, slots, w->paths->costs + x * PATH_PITCH (slots));
    }
  }
}

/* All rows of a tile, down or up. */
INLINE void
step_rows (const Way *w, int slots)
{
  int y0 = w->tile.y0, y1 = w->tile.y1;

  step_row (w, w->back ? y1 - 1 : y0, 1, slots);
  for (int n = 1; n < y1 - y0; n++)
    step_row (w, w->back ? y1 - 1 - n : y0 + n, 0, slots);
}

/* What is added in the tiles before the stretch goes to @nowhere: another stretch has it. */
static void
sweep_column (
    const StereoPlan *plan, const Context *c, const Penalties *p, int column, int up, Stretch s, uint8_t *nowhere)
{
  Paths paths[2] = { 0 };
  Way w = { .plan = plan, .penalties = p, .back = up, .paths = &paths[0], .before = &paths[1] };

  for (int k = s.begin; k < s.end; k++) {
    enter_tile (&w, c, column, up ? plan->lists.rows - 1 - k : k, k == s.begin);
    if (k < s.first)
      w.added = nowhere;
    switch (w.masks.slots) {
#define ROWS(n) step_rows (&w, n)
      BY_SLOTS (ROWS)
#undef ROWS
    }
  }
}

/* ---- to the right and to the left, and picking ---------------------------------------------------------- */

/* Memory of a thread. */
typedef struct Band
{
  Paths paths[2];    /* of each row: of this tile and of the one before, in turn */
  ALIGNED Sums sums; /* of a tile */
  uint32_t *right;   /* [row][column of the right view]: cost << 16 | index */
  uint8_t *added;    /* [tile][column][row][slot]: by the paths to the right */
  uint16_t *changes; /* bit k: luma changes much from column x - 1 to x of row k */
} Band;

/* The sums of a pixel or two of which the path to the left adds @added. */
INLINE void
sum_paths (const VecWide *match, const uint8_t *right, const uint8_t *down, const VecWide *added, const VecWide *absent,
    int slots, uint16_t *sums)
{
  EACH_VECTOR (k, slots) {
    int i = k * WIDE;
    VecWide sum = (match[k] << 2) + added[k] + vec_wide_of_bytes (right + i) + vec_wide_of_bytes (down + i) +
        vec_wide_of_bytes (down + PATHS_OF (slots) * slots + i);
    vec_store_wide (sums + i, sum | absent[k]);
  }
}

/* Column @x of a tile, in all its rows, from another column of the tile or of the tile before. */
INLINE void
step_column (const Way *w, Band *b, int x, int across, int slots)
{
  const CpuTile *t = &w->tile;
  int column = x - t->x0;
  unsigned changes = b->changes[x + w->back];
  uint8_t *right = b->added + (size_t) (t->x0 * STEREO_TILE * STEREO_SLOTS + column * STEREO_TILE * slots);
  uint16_t *sums = b->sums + column * STEREO_TILE * slots;
  VecWide match[VECTORS], absent[VECTORS], outside[VECTORS], added[VECTORS];

  load_masks_twice (w->masks.absent + column * slots, slots, absent);
  load_masks_twice (w->masks.outside + column * slots, slots, outside);
  for (int y = 0; y < t->y1 - t->y0; y += PATHS_OF (slots)) {
    const uint8_t *costs = cpu_list_costs (w->plan, x, t->y0 + y), *down = w->added + added_at (column, y, 0, slots);
    load_costs (costs, y + 1 < t->y1 - t->y0 ? w->plan->width * STEREO_SLOTS : 0, slots, match);
    step (w, y, across, match, absent, changes, slots, added);
    if (w->masks.some_outside)
      open_outside (outside, slots, w->paths->costs + y * PATH_PITCH (slots));
    if (w->back)
      sum_paths (match, right + y * slots, down, added, absent, slots, sums + y * slots);
    else
      EACH_VECTOR (k, slots)
        vec_store_wide_as_bytes (right + y * slots + k * WIDE, added[k]);
  }
}

/* All columns of a tile, to the right or to the left. */
INLINE void
step_columns (const Way *w, Band *b, int slots)
{
  int x0 = w->tile.x0, x1 = w->tile.x1;

  step_column (w, b, w->back ? x1 - 1 : x0, 1, slots);
  for (int n = 1; n < x1 - x0; n++)
    step_column (w, b, w->back ? x1 - 1 - n : x0 + n, 0, slots);
}

static Band *
band_of (const StereoPlan *plan, const Context *c, int thread)
{
  Band *b = (Band *) (c->threads + (size_t) thread * c->thread_bytes);

  b->right = (uint32_t *) ((uint8_t *) b + stereo_round_up (sizeof *b, 64)) + PICK_BEFORE;
  b->changes = (uint16_t *) (b->right + (size_t) STEREO_TILE * (size_t) plan->image_pitch);
  b->added = (uint8_t *) b->changes + stereo_round_up ((size_t) (plan->width + 1) * sizeof *b->changes, 64);
  return b;
}

static size_t
band_bytes (const StereoPlan *plan)
{
  return stereo_round_up (sizeof (Band), 64) + PICK_BEFORE * sizeof (uint32_t) +
      (size_t) STEREO_TILE * (size_t) plan->image_pitch * sizeof (uint32_t) +
      stereo_round_up ((size_t) (plan->width + 1) * sizeof (uint16_t), 64) +
      (size_t) plan->lists.columns * STEREO_TILE * STEREO_TILE * STEREO_SLOTS;
}

static void
sweep_row (const StereoPlan *plan, const Context *c, const Penalties *p, int row, int left, Stretch s, Band *b)
{
  Way w = { .plan = plan, .penalties = p, .back = left, .paths = &b->paths[0], .before = &b->paths[1] };

  for (int k = s.begin; k < s.end; k++) {
    enter_tile (&w, c, left ? plan->lists.columns - 1 - k : k, row, k == s.begin);
    switch (w.masks.slots) {
#define COLUMNS(n) step_columns (&w, b, n)
      BY_SLOTS (COLUMNS)
#undef COLUMNS
    }
    if (left && k >= s.first)
      pick_tile (plan, &w.tile, &w.masks, (const Sums *) &b->sums, b->right);
  }
}

static void
sweep_rows (const StereoPlan *plan, const Context *c, int row, int thread)
{
  Penalties p = penalties_of (plan, STEREO_PATH_SIDEWAYS);
  Band *b = band_of (plan, c, thread);

  memset (b->right, 0xFF, (size_t) STEREO_TILE * (size_t) plan->image_pitch * sizeof *b->right);
  memset (b->changes, 0, (size_t) (plan->width + 1) * sizeof *b->changes);
  for (int y = row * STEREO_TILE; y < (row + 1) * STEREO_TILE && y < plan->height; y++) {
    const uint8_t *luma = plan->view[STEREO_LEFT].luma + (size_t) y * (size_t) plan->image_pitch;
    for (int x = 1; x < plan->width; x++)
      b->changes[x] |= (uint16_t) (stereo_path_steps (luma[x], luma[x - 1], p.luma_step) << y % STEREO_TILE);
  }
  for (int left = 0; left < 2; left++)
    for (int k = stereo_stretches (1, plan->lists.columns) - 1; k >= 0; k--)
      sweep_row (plan, c, &p, row, left, stretch_of (1, plan->lists.columns, k), b);
  for (int y = row * STEREO_TILE; y < (row + 1) * STEREO_TILE && y < plan->height; y++) {
    const uint32_t *keys = b->right + (size_t) (y - row * STEREO_TILE) * (size_t) plan->image_pitch + plan->image_pad;
    uint16_t *index = plan->view[STEREO_RIGHT].index + (size_t) y * (size_t) plan->map_pitch;
    for (int x = 0; x < plan->width; x++)
      index[x] = keys[x] >> 16 == 0xFFFF ? STEREO_INVALID : (uint16_t) keys[x];
  }
}

/* The first row of tiles that the paths up have not come to when columns have taken @turns stretches. */
static int
rows_after (int rows, int turns)
{
  int left = (stereo_stretches (0, rows) - turns) * stereo_stretch_length (0, rows);
  return left < rows ? rows - left : 0;
}

static void
sweep_item (StereoPlan *plan, void *context, int item, int thread)
{
  const Context *c = context;
  int rows = plan->lists.rows, column = item - c->rows;

  if (column < 0) {
    sweep_rows (plan, c, c->row + item, thread);
    return;
  }
  Penalties p = penalties_of (plan, STEREO_PATH_VERTICAL);
  for (int up = 0; up < 2; up++)
    sweep_column (plan, c, &p, column, up, stretch_of (0, rows, up ? stereo_stretches (0, rows) - 1 - c->turn : c->turn),
        (uint8_t *) band_of (plan, c, thread)->sums);
}

/* ---- the stage ----------------------------------------------------------------------------------------- */

static StereoStatus
paths_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  int rows = plan->lists.rows;
  StereoStatus status = cpu_reserve_measures (plan, error);

  c->kept = 2 * stereo_stretch_length (0, rows) + stereo_stretches (0, rows) - 1;
  c->kept = c->kept < rows ? c->kept : rows;
  if (!status)
    status = stereo_reserve_for (plan, STEREO_LIFE_PATHS, (void **) &c->added,
        stereo_times ((size_t) plan->lists.columns * TILE_ADDED, (size_t) c->kept), 1, error);
  c->thread_bytes = band_bytes (plan);
  return status ? status :
                  stereo_reserve_for (plan, STEREO_LIFE_PATHS, (void **) &c->threads, (size_t) cpu_threads (plan),
                      c->thread_bytes, error);
}

static StereoStatus
paths_run (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  int rows = plan->lists.rows, turns = stereo_stretches (0, rows);

  for (c->turn = 0; c->turn <= turns; c->turn++) {
    c->row = rows_after (rows, c->turn - 1);
    c->rows = rows_after (rows, c->turn) - c->row;
    cpu_run (plan, c, sweep_item, c->rows + (c->turn < turns ? plan->lists.columns : 0));
  }
  return STEREO_OK;
}

const StereoStage CPU (
    list_paths) = { .name = "paths", .context_size = sizeof (Context), .prepare = paths_prepare, .run = paths_run };
