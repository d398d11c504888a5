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

/* Bytes that the paths down and up add in a tile: as the paths to the left read them. Lists that fit few slots take less. */
#define TILE_ADDED (STEREO_TILE * STEREO_TILE * 2 * STEREO_SLOTS)

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
  w->added = c->added + ((size_t) row * (size_t) plan->lists.columns + (size_t) column) * TILE_ADDED;
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

static void
sweep_column (const StereoPlan *plan, const Context *c, const Penalties *p, int column, int up, Stretch s)
{
  Paths paths[2] = { 0 };
  Way w = { .plan = plan, .penalties = p, .back = up, .paths = &paths[0], .before = &paths[1] };

  for (int k = s.begin; k < s.end; k++) {
    enter_tile (&w, c, column, up ? plan->lists.rows - 1 - k : k, k == s.begin);
    switch (w.masks.slots) {
#define ROWS(n) step_rows (&w, n)
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
    for (int k = stereo_stretches (0, plan->lists.rows) - 1; k >= 0; k--)
      sweep_column (plan, context, &p, column, up, stretch_of (0, plan->lists.rows, k));
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
      CPU (pick_tile) (plan, &w.tile, &w.masks, (const Sums *) &b->sums, b->right);
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
    for (int k = stereo_stretches (1, plan->lists.columns) - 1; k >= 0; k--)
      sweep_row (plan, c, &p, row, left, stretch_of (1, plan->lists.columns, k), b);
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
