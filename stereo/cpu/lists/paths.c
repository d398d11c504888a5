/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Paths over the candidates in the lists, four directions, and the winners of both views (Mahieu & Lowney, 3; Hirschmuller 2008).
 *
 * Between pixels of a tile a candidate stays in its slot. From tile to tile a table says which slots of the one list hold the
 * disparities of the other; what the other list lacks can only be reached by a jump. First a thread takes a column of tiles, down
 * and up, and keeps what each path adds to a candidate, a byte. Then one takes a row of tiles, to the right and to the left, and has
 * the sums of a tile at hand when it picks.
 *
 * A path takes its last stretch first: what it leaves in the tiles before a stretch is overwritten by the stretch of these.
 */
#include "stereo/cpu/lists/path.h"

/* A step of luma halves the penalties: [1]. */
typedef struct Penalties
{
  uint16_t small[2], large[2];
  int step;
} Penalties;

typedef struct Context
{
  uint8_t *added;   /* [tile][column, from the last][row][down, up][slot]: by the paths */
  uint8_t *threads; /* a Band of each, and what follows it */
  size_t thread_bytes;
} Context;

static Penalties
penalties_of (const StereoPlan *plan, int direction)
{
  int small = stereo_plan_penalty (plan, direction, 0), large = stereo_plan_penalty (plan, direction, 1);
  return (Penalties){ { (uint16_t) small, (uint16_t) stereo_path_halved (small) },
    { (uint16_t) large, (uint16_t) stereo_path_halved (large) }, plan->params.penalty_step };
}

/* The tiles of a stretch, by their numbers along a path's way, and where the path begins. */
typedef struct Stretch
{
  int begin, first, end;
} Stretch;

static Stretch
stretch_of (int tiles, int number)
{
  int length = stereo_stretch_length (tiles), first = number * length;
  int begin = first - STEREO_STRETCH_BEFORE, end = first + length;
  return (Stretch){ begin > 0 ? begin : 0, first, end < tiles ? end : tiles };
}

/* A tile that paths enter. */
typedef struct Entry
{
  CpuTile tile;
  Masks masks;
  Map map; /* from the tile before */
} Entry;

/* The map from the tile that @e has to tile (@column, @row), which it gets; NULL: paths begin there. */
static const Map *
enter_tile (const StereoPlan *plan, Entry *e, int column, int row, int begins)
{
  CpuTile before = e->tile;

  e->tile = cpu_tile (plan, column, row);
  set_masks (plan, &e->tile, &e->masks);
  if (begins)
    return NULL;
  make_map (&before, &e->tile, &e->map);
  return &e->map;
}

/* ---- down and up ------------------------------------------------------------------------------------- */

/* What the paths down and up add in a tile lies together, as the paths to the left read it. Lists that fit few blocks take less. */
#define TILE_ADDED (STEREO_TILE * STEREO_TILE * 2 * STEREO_SLOTS)

static uint8_t *
added_of (const StereoPlan *plan, const Context *c, const CpuTile *t)
{
  size_t row = (size_t) (t->y0 / STEREO_TILE), column = (size_t) (t->x0 / STEREO_TILE);
  return c->added + (row * (size_t) plan->lists.columns + column) * TILE_ADDED;
}

/* Where that of column @x and row @y of the tile begins. */
static inline size_t
added_at (int x, int y, int blocks)
{
  return (size_t) ((STEREO_TILE - 1 - x) * STEREO_TILE + y) * 2 * (size_t) (blocks * WORDS);
}

INLINE void
store_added (uint8_t *to, const VecW *added, int blocks)
{
#pragma GCC unroll 4
  for (int k = 0; k < blocks; k++)
    vec_store_words_as_bytes (to + k * WORDS, added[k] & 255);
}

/* Whether luma steps between @count pixels of two rows. */
static void
find_steps (const uint8_t *luma, const uint8_t *before, int count, int step, uint8_t *steps)
{
  for (int x = 0; x < count; x++)
    steps[x] = (uint8_t) stereo_path_steps (luma[x], before[x], step);
}

/* The pixels of a tile in row @y, from the row @back of it. */
INLINE void
step_row (const StereoPlan *plan, const Penalties *p, const CpuTile *t, const Masks *m, int y, int back, int blocks,
    Path *paths, uint8_t *to)
{
  const uint8_t *luma = plan->view[STEREO_LEFT].luma + (ptrdiff_t) y * plan->image_pitch + t->x0;
  const uint8_t *costs = cpu_list_costs (plan, t->x0, y);
  uint8_t steps[STEREO_TILE];

  find_steps (luma, luma + back * plan->image_pitch, STEREO_TILE, p->step, steps);
  for (int x = 0; x < t->x1 - t->x0; x++, costs += STEREO_SLOTS) {
    VecW added[BLOCKS] = { { 0 } };
    step_within (&paths[x], costs, m, x, p->large[steps[x]], p->small[steps[x]], blocks, added);
    store_added (to + added_at (x, y - t->y0, blocks), added, blocks);
  }
}

/* The same in the first row of a tile; @map: from the tile before. */
static void
enter_row (const StereoPlan *plan, const Penalties *p, const CpuTile *t, const Masks *m, const Map *map, int y,
    int back, Path *paths, uint8_t *to)
{
  const uint8_t *luma = plan->view[STEREO_LEFT].luma + (ptrdiff_t) y * plan->image_pitch + t->x0;
  uint8_t steps[STEREO_TILE] = { 0 };

  if (map)
    find_steps (luma, luma + back * plan->image_pitch, STEREO_TILE, p->step, steps);
  for (int x = 0; x < t->x1 - t->x0; x++) {
    VecW added[BLOCKS] = { { 0 } };
    step_across (
        &paths[x], map, cpu_list_costs (plan, t->x0 + x, y), m, x, p->large[steps[x]], p->small[steps[x]], added);
    store_added (to + added_at (x, y - t->y0, m->blocks), added, m->blocks);
  }
}

/* All rows of a tile, down or up. */
INLINE void
step_rows (const StereoPlan *plan, const Penalties *p, const CpuTile *t, const Masks *m, const Map *map, int up,
    int blocks, Path *paths, uint8_t *to)
{
  int back = up ? 1 : -1;

  enter_row (plan, p, t, m, map, up ? t->y1 - 1 : t->y0, back, paths, to);
  for (int n = 1; n < t->y1 - t->y0; n++)
    step_row (plan, p, t, m, up ? t->y1 - 1 - n : t->y0 + n, back, blocks, paths, to);
}

static void
sweep_column (const StereoPlan *plan, const Context *c, const Penalties *p, int column, int up, Stretch s)
{
  Path paths[STEREO_TILE];
  Entry e = { .tile = { 0 } };

  for (int k = 0; k < STEREO_TILE; k++)
    start_path (&paths[k]);
  for (int k = s.begin; k < s.end; k++) {
    const Map *map = enter_tile (plan, &e, column, up ? plan->lists.rows - 1 - k : k, k == s.begin);
    switch (e.masks.blocks) {
#define ROWS(n) step_rows (plan, p, &e.tile, &e.masks, map, up, n, paths, added_of (plan, c, &e.tile) + up * (n) *WORDS)
      BY_BLOCKS (ROWS)
#undef ROWS
    }
  }
}

static void
sweep_columns (StereoPlan *plan, void *context, int column, int thread)
{
  Penalties p = penalties_of (plan, STEREO_PATH_VERTICAL);

  for (int up = 0; up < 2; up++)
    for (int k = stereo_stretches (plan->lists.rows) - 1; k >= 0; k--)
      sweep_column (plan, context, &p, column, up, stretch_of (plan->lists.rows, k));
}

/* ---- to the right and to the left, and picking ---------------------------------------------------------- */

/* Memory of a thread. */
typedef struct Band
{
  Path paths[STEREO_TILE];     /* of each row */
  Sums sums;                   /* of a tile */
  uint32_t *right;             /* [row][column of the right view]: cost << 16 | index */
  uint8_t *added;              /* [column][row][slot]: by the paths to the right */
  uint8_t *steps[STEREO_TILE]; /* of each row: whether luma steps from column x - 1 to x */
} Band;

/* The sums of a pixel of which the path to the left adds @added. */
INLINE void
sum_paths (const Masks *m, const uint8_t *costs, const uint8_t *right, const uint8_t *down, const VecW *added,
    int column, int blocks, uint16_t *sums)
{
#pragma GCC unroll 4
  for (int k = 0; k < blocks; k++) {
    int i = k * WORDS;
    VecW sum = (vec_words_of_bytes (costs + i) << 2) + added[k] + vec_words_of_bytes (right + i) +
        vec_words_of_bytes (down + i) + vec_words_of_bytes (down + blocks * WORDS + i);
    vec_store_w (sums + i, sum | vec_load_w (&m->absent[column][i]));
  }
}

/* Column @x of a tile, in all its rows. @map: in the first column, from the tile before; @across: it is the first one. */
INLINE void
step_column (const StereoPlan *plan, const Context *c, const Penalties *p, const CpuTile *t, const Masks *m,
    const Map *map, int across, int x, int left, int blocks, Band *b)
{
  const uint8_t *down = added_of (plan, c, t) + added_at (x - t->x0, 0, blocks);
  uint8_t *right = b->added + ((size_t) t->x0 * STEREO_SLOTS + (size_t) ((x - t->x0) * blocks * WORDS)) * STEREO_TILE;

  for (int y = t->y0; y < t->y1; y++) {
    int half = b->steps[y - t->y0][x + left], large = p->large[half], small = p->small[half];
    VecW added[BLOCKS] = { { 0 } };
    Path *path = &b->paths[y - t->y0];
    const uint8_t *costs = cpu_list_costs (plan, x, y);
    if (x % 2 == left)
      __builtin_prefetch (costs + (left ? -STEREO_TILE : STEREO_TILE) * STEREO_SLOTS);
    if (across)
      step_across (path, map, costs, m, x - t->x0, large, small, added);
    else
      step_within (path, costs, m, x - t->x0, large, small, blocks, added);
    if (left)
      sum_paths (m, costs, right, down, added, x - t->x0, blocks, b->sums[y - t->y0][x - t->x0]);
    else
      store_added (right, added, blocks);
    right += blocks * WORDS;
    down += 2 * blocks * WORDS;
  }
}

/* All columns of a tile, to the right or to the left. */
INLINE void
step_columns (const StereoPlan *plan, const Context *c, const Penalties *p, const CpuTile *t, const Masks *m,
    const Map *map, int left, int blocks, Band *b)
{
  step_column (plan, c, p, t, m, map, 1, left ? t->x1 - 1 : t->x0, left, blocks, b);
  for (int n = 1; n < t->x1 - t->x0; n++)
    step_column (plan, c, p, t, m, NULL, 0, left ? t->x1 - 1 - n : t->x0 + n, left, blocks, b);
}

static Band *
band_of (const StereoPlan *plan, const Context *c, int thread)
{
  Band *b = (Band *) (c->threads + (size_t) thread * c->thread_bytes);

  b->right = (uint32_t *) ((uint8_t *) b + stereo_round_up (sizeof *b, 64));
  b->added = (uint8_t *) (b->right + (size_t) STEREO_TILE * (size_t) plan->image_pitch);
  for (int k = 0; k < STEREO_TILE; k++)
    b->steps[k] = b->added + (size_t) plan->width * STEREO_TILE * STEREO_SLOTS + (size_t) k * (size_t) (plan->width + 1);
  return b;
}

static size_t
band_bytes (const StereoPlan *plan)
{
  return stereo_round_up (sizeof (Band), 64) + (size_t) STEREO_TILE * (size_t) plan->image_pitch * sizeof (uint32_t) +
      stereo_round_up ((size_t) STEREO_TILE * ((size_t) plan->width * STEREO_SLOTS + (size_t) plan->width + 1), 64);
}

static void
sweep_row (const StereoPlan *plan, const Context *c, const Penalties *p, int row, int left, Stretch s, Band *b)
{
  Entry e = { .tile = { 0 } };

  for (int k = 0; k < STEREO_TILE; k++)
    start_path (&b->paths[k]);
  for (int k = s.begin; k < s.end; k++) {
    const Map *map = enter_tile (plan, &e, left ? plan->lists.columns - 1 - k : k, row, k == s.begin);
    switch (e.masks.blocks) {
#define COLUMNS(n) step_columns (plan, c, p, &e.tile, &e.masks, map, left, n, b)
      BY_BLOCKS (COLUMNS)
#undef COLUMNS
    }
    if (left && k >= s.first)
      CPU (pick_tile) (plan, &e.tile, &e.masks, (const Sums *) &b->sums, b->right);
  }
}

static void
sweep_rows (StereoPlan *plan, void *context, int row, int thread)
{
  const Context *c = context;
  Penalties p = penalties_of (plan, STEREO_PATH_SIDEWAYS);
  Band *b = band_of (plan, c, thread);

  memset (b->right, 0xFF, (size_t) STEREO_TILE * (size_t) plan->image_pitch * sizeof *b->right);
  for (int y = row * STEREO_TILE; y < (row + 1) * STEREO_TILE && y < plan->height; y++) {
    const uint8_t *luma = plan->view[STEREO_LEFT].luma + (size_t) y * (size_t) plan->image_pitch;
    uint8_t *steps = b->steps[y - row * STEREO_TILE];
    find_steps (luma + 1, luma, plan->width - 1, p.step, steps + 1);
    steps[0] = steps[plan->width] = 0;
  }
  for (int left = 0; left < 2; left++)
    for (int k = stereo_stretches (plan->lists.columns) - 1; k >= 0; k--)
      sweep_row (plan, c, &p, row, left, stretch_of (plan->lists.columns, k), b);
  for (int y = row * STEREO_TILE; y < (row + 1) * STEREO_TILE && y < plan->height; y++) {
    const uint32_t *keys = b->right + (size_t) (y - row * STEREO_TILE) * (size_t) plan->image_pitch + plan->image_pad;
    uint16_t *index = plan->view[STEREO_RIGHT].index + (size_t) y * (size_t) plan->map_pitch;
    for (int x = 0; x < plan->width; x++)
      index[x] = keys[x] >> 16 == 0xFFFF ? STEREO_INVALID : (uint16_t) keys[x];
  }
}

/* ---- the stage ----------------------------------------------------------------------------------------- */

static StereoStatus
paths_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  StereoStatus status = cpu_reserve_measures (plan, error);

  if (!status)
    status = stereo_reserve_for (plan, STEREO_LIFE_PATHS, (void **) &c->added,
        stereo_times ((size_t) plan->lists.columns * TILE_ADDED, (size_t) plan->lists.rows), 1, error);
  c->thread_bytes = band_bytes (plan);
  return status ? status :
                  stereo_reserve_for (plan, STEREO_LIFE_PATHS, (void **) &c->threads, (size_t) cpu_threads (plan),
                      c->thread_bytes, error);
}

static StereoStatus
paths_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, sweep_columns, plan->lists.columns);
  cpu_run (plan, context, sweep_rows, plan->lists.rows);
  return STEREO_OK;
}

const StereoStage CPU (
    list_paths) = { .name = "paths", .context_size = sizeof (Context), .prepare = paths_prepare, .run = paths_run };
