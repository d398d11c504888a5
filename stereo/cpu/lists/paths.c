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

typedef struct Context
{
  uint8_t *added;   /* [tile][column, from the last][row][down, up][slot]: by the paths */
  uint8_t *threads; /* a Band of each, and what follows it */
  size_t thread_bytes;
} Context;

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

/* Of the paths of a line, bits of @changes, those that share a vector with path @k, as Penalties has them. */
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

/* What the paths down and up add in a tile lies together, as the paths to the left read it. Lists that fit few slots take less. */
#define TILE_ADDED (STEREO_TILE * STEREO_TILE * 2 * STEREO_SLOTS)

static uint8_t *
added_of (const StereoPlan *plan, const Context *c, const CpuTile *t)
{
  size_t row = (size_t) (t->y0 / STEREO_TILE), column = (size_t) (t->x0 / STEREO_TILE);
  return c->added + (row * (size_t) plan->lists.columns + column) * TILE_ADDED;
}

/* Where that of column @x and row @y of the tile begins; that of rows which share a vector lies together. */
INLINE ptrdiff_t
added_at (int x, int y, int up, int slots)
{
  int paths = PATHS_OF (slots), first = y / paths * paths;
  return (((STEREO_TILE - 1 - x) * STEREO_TILE + first) * 2 + up * paths + y - first) * slots;
}

/* Of columns @x.. and row @y of the tile @to. */
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

/* Where the paths down or up stand. */
typedef struct Down
{
  const StereoPlan *plan;
  const Penalties *penalties;
  const CpuTile *tile;
  const Masks *masks;
  const Map *map; /* from the tile before, where a pixel has @slots_before; NULL: paths begin here */
  const Paths *before;
  int slots_before, up;
  Paths *paths;
  uint8_t *added; /* of the tile */
} Down;

/* The pixels of row @y, from another row of the tile or of the tile before. */
INLINE void
step_row (const Down *d, int y, int across, int slots)
{
  const CpuTile *t = d->tile;
  const uint8_t *luma = d->plan->view[STEREO_LEFT].luma + (ptrdiff_t) y * d->plan->image_pitch + t->x0;
  const uint8_t *costs = cpu_list_costs (d->plan, t->x0, y);
  unsigned changes = across && !d->map ?
      0 :
      find_changes (luma, luma + (d->up ? 1 : -1) * d->plan->image_pitch, d->penalties->luma_step);

  for (int x = 0; x < t->x1 - t->x0; x += PATHS_OF (slots), costs += PATHS_OF (slots) * STEREO_SLOTS) {
    uint16_t *own = d->paths->costs + x * PATH_PITCH (slots);
    VecWide match[VECTORS], absent[VECTORS], outside[VECTORS], added[VECTORS];
    Before from = across ?
        before_across (d->before->costs + x * PATH_PITCH (d->slots_before), d->slots_before, d->map, slots) :
        before_within (own, d->masks, slots);
    load_costs (costs, x + 1 < t->x1 - t->x0 ? STEREO_SLOTS : 0, slots, match);
    load_masks (d->masks->absent + x * slots, slots, absent);
    step_paths (&from, match, absent, d->penalties, changes_at (changes, x, slots), slots, own, added);
    store_added (d->added, x, y - t->y0, d->up, slots, added);
    if (d->masks->some_outside) {
      load_masks (d->masks->outside + x * slots, slots, outside);
      open_outside (outside, slots, own);
    }
  }
}

/* All rows of a tile, down or up. */
INLINE void
step_rows (const Down *d, int slots)
{
  int y0 = d->tile->y0, y1 = d->tile->y1;

  step_row (d, d->up ? y1 - 1 : y0, 1, slots);
  for (int n = 1; n < y1 - y0; n++)
    step_row (d, d->up ? y1 - 1 - n : y0 + n, 0, slots);
}

static void
sweep_column (const StereoPlan *plan, const Context *c, const Penalties *p, int column, int up, Stretch s)
{
  Paths paths[2] = { 0 }; /* of this tile and of the one before, in turn */
  Entry e = { .tile = { 0 } };

  for (int k = s.begin; k < s.end; k++) {
    int slots_before = e.masks.slots;
    const Map *map = enter_tile (plan, &e, column, up ? plan->lists.rows - 1 - k : k, k == s.begin);
    Down d = { plan, p, &e.tile, &e.masks, map, &paths[k & 1], slots_before, up, &paths[~k & 1],
      added_of (plan, c, &e.tile) };
    switch (e.masks.slots) {
#define ROWS(n) step_rows (&d, n)
      BY_SLOTS (ROWS)
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
  Paths paths[2];    /* of each row: of this tile and of the one before, in turn */
  ALIGNED Sums sums; /* of a tile */
  uint32_t *right;   /* [row][column of the right view]: cost << 16 | index */
  uint8_t *added;    /* [tile][column][row][slot]: by the paths to the right */
  uint16_t *changes; /* bit k: luma changes much from column x - 1 to x of row k */
} Band;

/* Where the paths to the right or left stand. */
typedef struct Side
{
  const StereoPlan *plan;
  const Penalties *penalties;
  const CpuTile *tile;
  const Masks *masks;
  const Map *map; /* from the tile before, where a pixel has @slots_before; NULL: paths begin here */
  const Paths *before;
  int slots_before, left;
  Paths *paths;
  const uint8_t *down; /* of the tile */
  Band *band;
} Side;

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
step_column (const Side *s, int x, int across, int slots)
{
  const CpuTile *t = s->tile;
  int column = x - t->x0;
  unsigned changes = s->band->changes[x + s->left];
  uint8_t *right = s->band->added + (size_t) (t->x0 * STEREO_TILE * STEREO_SLOTS + column * STEREO_TILE * slots);
  uint16_t *sums = s->band->sums + column * STEREO_TILE * slots;
  VecWide match[VECTORS], absent[VECTORS], outside[VECTORS], added[VECTORS];

  load_masks_twice (s->masks->absent + column * slots, slots, absent);
  load_masks_twice (s->masks->outside + column * slots, slots, outside);
  for (int y = 0; y < t->y1 - t->y0; y += PATHS_OF (slots)) {
    uint16_t *own = s->paths->costs + y * PATH_PITCH (slots);
    const uint8_t *costs = cpu_list_costs (s->plan, x, t->y0 + y);
    Before from = across ?
        before_across (s->before->costs + y * PATH_PITCH (s->slots_before), s->slots_before, s->map, slots) :
        before_within (own, s->masks, slots);
    load_costs (costs, y + 1 < t->y1 - t->y0 ? s->plan->width * STEREO_SLOTS : 0, slots, match);
    step_paths (&from, match, absent, s->penalties, changes_at (changes, y, slots), slots, own, added);
    if (s->masks->some_outside)
      open_outside (outside, slots, own);
    if (s->left)
      sum_paths (
          match, right + y * slots, s->down + added_at (column, y, 0, slots), added, absent, slots, sums + y * slots);
    else
      EACH_VECTOR (k, slots)
        vec_store_wide_as_bytes (right + y * slots + k * WIDE, added[k]);
  }
}

/* All columns of a tile, to the right or to the left. */
INLINE void
step_columns (const Side *s, int slots)
{
  int x0 = s->tile->x0, x1 = s->tile->x1;

  step_column (s, s->left ? x1 - 1 : x0, 1, slots);
  for (int n = 1; n < x1 - x0; n++)
    step_column (s, s->left ? x1 - 1 - n : x0 + n, 0, slots);
}

static Band *
band_of (const StereoPlan *plan, const Context *c, int thread)
{
  Band *b = (Band *) (c->threads + (size_t) thread * c->thread_bytes);

  b->right = (uint32_t *) ((uint8_t *) b + stereo_round_up (sizeof *b, 64));
  b->changes = (uint16_t *) (b->right + (size_t) STEREO_TILE * (size_t) plan->image_pitch);
  b->added = (uint8_t *) b->changes + stereo_round_up ((size_t) (plan->width + 1) * sizeof *b->changes, 64);
  return b;
}

static size_t
band_bytes (const StereoPlan *plan)
{
  return stereo_round_up (sizeof (Band), 64) + (size_t) STEREO_TILE * (size_t) plan->image_pitch * sizeof (uint32_t) +
      stereo_round_up ((size_t) (plan->width + 1) * sizeof (uint16_t), 64) +
      (size_t) plan->lists.columns * STEREO_TILE * STEREO_TILE * STEREO_SLOTS;
}

static void
sweep_row (const StereoPlan *plan, const Context *c, const Penalties *p, int row, int left, Stretch s, Band *b)
{
  Entry e = { .tile = { 0 } };

  for (int k = s.begin; k < s.end; k++) {
    int slots_before = e.masks.slots;
    const Map *map = enter_tile (plan, &e, left ? plan->lists.columns - 1 - k : k, row, k == s.begin);
    Side side = { plan, p, &e.tile, &e.masks, map, &b->paths[k & 1], slots_before, left, &b->paths[~k & 1],
      added_of (plan, c, &e.tile), b };
    switch (e.masks.slots) {
#define COLUMNS(n) step_columns (&side, n)
      BY_SLOTS (COLUMNS)
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
  memset (b->changes, 0, (size_t) (plan->width + 1) * sizeof *b->changes);
  for (int y = row * STEREO_TILE; y < (row + 1) * STEREO_TILE && y < plan->height; y++) {
    const uint8_t *luma = plan->view[STEREO_LEFT].luma + (size_t) y * (size_t) plan->image_pitch;
    for (int x = 1; x < plan->width; x++)
      b->changes[x] |= (uint16_t) (stereo_path_steps (luma[x], luma[x - 1], p.luma_step) << y % STEREO_TILE);
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
