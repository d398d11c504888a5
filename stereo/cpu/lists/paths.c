/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Paths over the candidates in the lists, four directions, and the winners of both views (Mahieu & Lowney, 3; Hirschmuller 2008).
 *
 * Sixteen paths go through a tile side by side, a line of pixels at a time. The pixels of a line are the elements of vectors, and the
 * slots of the list follow one another: the candidates beside one are the vectors before and after it, and the lowest cost of a path
 * needs no look across a vector. For the paths down and up a line is a row of the tile, for those to the sides a column: blocks of
 * costs, and of what paths add, are transposed.
 *
 * Between pixels of a tile a candidate stays in its slot. From tile to tile links say which groups of the lists are the same; what the
 * other list lacks can only be reached by a jump.
 *
 * What the paths up add to a candidate is kept, a byte. Then a thread takes a row of tiles: the paths down go through a tile, as soon
 * as another thread has brought them through the one above it, then those to the right, then those to the left, which have all sums
 * of a line at hand when they pick. All this stays in the second-level cache.
 */
#include "stereo/cpu/lists/lists.h"

#define LINE STEREO_TILE     /* pixels: those of a tile across a path's way */
#define LACKING STEREO_SLOTS /* slots from here on: those of a group that a list lacks */
#define ALIGNED _Alignas(64) /* no vector lies in two lines of the cache */
#define INLINE static inline __attribute__ ((always_inline))

typedef uint16_t Words[LINE];

/* ---- lists ------------------------------------------------------------------------------------------ */

/* For the groups of a list, those of another list with the same disparities, and the slots of that list below and above these. */
typedef struct Links
{
  uint8_t own[STEREO_TILE_GROUPS], below[STEREO_TILE_GROUPS], above[STEREO_TILE_GROUPS]; /* LACKING, if there are none */
} Links;

static void
link_lists (const CpuTile *from, const CpuTile *to, Links *links)
{
  for (int g = 0; g < to->count; g++) {
    int own = LACKING, below = LACKING, above = LACKING;
    for (int f = 0; f < from->count; f++) {
      int away = from->groups[f] - to->groups[g], slot = f * STEREO_GROUP;
      own = away == 0 ? slot : own;
      below = away == -1 ? slot + STEREO_GROUP - 1 : below;
      above = away == 1 ? slot : above;
    }
    links->own[g] = (uint8_t) own;
    links->below[g] = (uint8_t) below;
    links->above[g] = (uint8_t) above;
  }
}

/* Candidates that do not exist in a line, all bits set: [slot][pixel]. */
typedef struct Edge
{
  ALIGNED Words absent[STEREO_SLOTS], outside[STEREO_SLOTS]; /* outside: it is searched, but outside the other view */
} Edge;

/* Of a line whose first pixel is in column @x, and the others @dx apart. */
static void
set_edge (const StereoPlan *plan, const CpuTile *t, int x, int dx, Edge *edge)
{
  Words first, end;

  for (int k = 0; k < LINE; k++) {
    int last = stereo_last_index (x + k * dx, plan->disparities, plan->min_disparity);
    first[k] = (uint16_t) stereo_first_index (x + k * dx, plan->width, plan->min_disparity);
    end[k] = (uint16_t) (last < 0 ? 0 : last + 1);
  }
  for (int slot = 0; slot < t->count * STEREO_GROUP; slot++) {
    uint16_t index = (uint16_t) cpu_slot_index (t, slot), searched = index < plan->disparities ? 0xFFFF : 0;
    for (int at = 0; at < LINE; at += WORDS) {
      VecW number = (VecW){ 0 } + index;
      VecW beyond = (VecW) (number < vec_load_w (first + at)) | (VecW) (number >= vec_load_w (end + at));
      vec_store_w (edge->absent[slot] + at, beyond | (uint16_t) ~searched);
      vec_store_w (edge->outside[slot] + at, beyond & searched);
    }
  }
}

/* ---- a step of paths --------------------------------------------------------------------------------- */

typedef struct Penalties
{
  uint16_t small, large;
  uint16_t less_small, less_large; /* by which they are less where the luma has a step */
  uint16_t luma_step;
} Penalties;

/* Paths that go side by side, at the line that they have come to. The cost of a path is what stands here, less its lowest one. */
typedef struct Paths
{
  ALIGNED Words costs[2][STEREO_SLOTS + STEREO_GROUP]; /* of the line before and of this one, in turn; the last are 0xFFFF */
  Words lowest;
  int now;
} Paths;

/* Paths begin outside the picture, where all costs are 0. */
static void
begin_paths (Paths *p)
{
  memset (p, 0, sizeof *p);
  memset (p->costs[0][LACKING], 0xFF, STEREO_GROUP * sizeof (Words));
  memset (p->costs[1][LACKING], 0xFF, STEREO_GROUP * sizeof (Words));
}

/* The sums of a line, and its two lowest. */
typedef struct Sums
{
  ALIGNED Words sums[STEREO_SLOTS]; /* of all paths; 0xFFFF without a candidate */
  Words low, next;                  /* sum << 5 | slot, or 0xFFFF: a sum has 11 bits */
} Sums;

/* What is done with what paths add. */
typedef enum Use
{
  KEEP, /* it is stored, a byte */
  JOIN, /* with what the paths down and up add, and all that the cost itself counts for, it is stored */
  PICK  /* with what is joined it is the sum of all paths, of which the lowest are found */
} Use;

/* A line that paths come to: [slot][pixel], or [pixel]. */
typedef struct Line
{
  const uint8_t *costs, *luma, *luma_before;
  uint8_t *added; /* stored */
  const uint8_t *down, *up;
  uint16_t *joined;
} Line;

/* Pixels @at.. of a line. @edge: NULL, where all candidates exist. */
INLINE void
step_some (const Line *l, Paths *p, const Links *links, int groups, const Penalties *penalties, const Edge *edge,
    Use use, int at, Sums *sums)
{
  const Words *from = (const Words *) p->costs[p->now];
  Words *to = p->costs[!p->now];
  VecW low = vec_load_w (p->lowest + at), lowest = (VecW){ 0 } + 0xFFFF, low_sum = lowest, next_sum = lowest;
  VecW away = vec_words_of_bytes (l->luma + at) - vec_words_of_bytes (l->luma_before + at) +
      (uint16_t) (penalties->luma_step - 1);
  VecW changed = (VecW) (away > (uint16_t) (2 * (penalties->luma_step - 1)));
  VecW small = penalties->small - (changed & penalties->less_small);
  VecW jump = low + (penalties->large - (changed & penalties->less_large));
  VecW slot = { 0 };

  for (int g = 0; g < groups; g++) {
    const Words *own = from + links->own[g];
    VecW before = vec_load_w (from[links->below[g]] + at), cost = vec_load_w (own[0] + at);
#pragma GCC unroll 4
    for (int k = 0; k < STEREO_GROUP; k++) {
      int i = g * STEREO_GROUP + k, place = i * LINE + at;
      VecW after = vec_load_w ((k < STEREO_GROUP - 1 ? own[k + 1] : from[links->above[g]]) + at);
      VecW beside = vec_add_words (vec_min_words (before, after), small);
      VecW added = vec_min_words (vec_min_words (cost, jump), beside) - low;
      VecW match = vec_words_of_bytes (l->costs + place), next = match + added;
      if (edge)
        next |= vec_load_w (edge->absent[i] + at);
      lowest = vec_min_words (lowest, next);
      vec_store_w (to[i] + at, next);
      before = cost;
      cost = after;
      if (use == KEEP) {
        vec_store_words_as_bytes (l->added + place, added);
      } else if (use == JOIN) {
        VecW others = vec_words_of_bytes (l->down + place) + vec_words_of_bytes (l->up + place);
        vec_store_w (l->joined + place, (match << 2) + added + others);
      } else {
        VecW sum = vec_load_w (l->joined + place) + added, key = sum << 5 | slot;
        if (edge) {
          sum |= vec_load_w (edge->absent[i] + at);
          key |= vec_load_w (edge->absent[i] + at);
        }
        vec_store_w (sums->sums[i] + at, sum);
        VecW lower = vec_min_words (low_sum, key);
        next_sum = vec_min_words (next_sum, low_sum ^ key ^ lower); /* the larger of the two */
        low_sum = lower;
        slot += 1;
      }
    }
  }
  if (edge) {
    /* candidates outside the other view cost a path as little as its best one */
    lowest &= (VecW) (lowest != 0xFFFF);
    for (int i = 0; i < groups * STEREO_GROUP; i++) {
      VecW outside = vec_load_w (edge->outside[i] + at);
      vec_store_w (to[i] + at, (vec_load_w (to[i] + at) & ~outside) | (lowest & outside));
    }
  }
  vec_store_w (p->lowest + at, lowest);
  if (use == PICK) {
    vec_store_w (sums->low + at, low_sum);
    vec_store_w (sums->next + at, next_sum);
  }
}

INLINE void
step (const Line *l, Paths *p, const Links *links, int groups, const Penalties *penalties, const Edge *edge, Use use,
    Sums *sums)
{
  for (int at = 0; at < LINE; at += WORDS)
    if (edge)
      step_some (l, p, links, groups, penalties, edge, use, at, sums);
    else
      step_some (l, p, links, groups, penalties, NULL, use, at, sums);
  p->now = !p->now;
}

/* ---- winners ----------------------------------------------------------------------------------------- */

/* The slots of a tile. */
typedef struct Slots
{
  uint16_t index[STEREO_SLOTS];
  int fits[STEREO_SLOTS]; /* 1: a sub-pixel fit, because both neighbours are in the list; or 0 */
} Slots;

static void
set_slots (const StereoPlan *plan, const CpuTile *t, Slots *slots)
{
  int count = t->count * STEREO_GROUP;

  for (int k = 0; k < count; k++)
    slots->index[k] = (uint16_t) cpu_slot_index (t, k);
  for (int k = 0; k < count; k++)
    slots->fits[k] = plan->params.subpixel && k > 0 && k < count - 1 && slots->index[k] < plan->disparities - 1 &&
        slots->index[k - 1] + 1 == slots->index[k] && slots->index[k] + 1 == slots->index[k + 1];
}

/* The cost of the rival among listed candidates of pixel @y of the line. */
static uint32_t
rival_of (const Sums *sums, const Slots *of, int slots, int y, int index)
{
  uint32_t rival = STEREO_INVALID, nearer = STEREO_INVALID;

  for (int k = 0; k < slots; k++) {
    uint16_t sum = sums->sums[k][y];
    int distance = of->index[k] > index ? of->index[k] - index : index - of->index[k];
    if (distance >= STEREO_LISTED_RIVAL_LESS_AWAY && sum < nearer)
      nearer = sum;
    if (distance >= STEREO_LISTED_RIVAL_AWAY && sum < rival)
      rival = sum;
  }
  return rival == STEREO_INVALID ? nearer : rival;
}

/* Those cells whose pixels are in column @x of the tile. @costs: of the line. */
static void
pick_distinctness (
    const StereoPlan *plan, const CpuTile *t, const Slots *slots, const Sums *sums, const uint8_t *costs, int x)
{
  uint8_t *cells_of = cpu_state (plan)->distinctness;
  int cells = stereo_cells (plan->width), cell = x / STEREO_CELL;

  if (!cells_of || x != stereo_cell_pixel (cell, plan->width))
    return;
  for (int row = t->y0 / STEREO_CELL; row * STEREO_CELL < t->y1; row++) {
    int y = stereo_cell_pixel (row, plan->height) - t->y0, slot = sums->low[y] & 31;
    cells_of[row * cells + cell] = (uint8_t) (sums->low[y] == 0xFFFF ?
            0 :
            stereo_listed_distinctness (sums->low[y] >> 5,
                rival_of (sums, slots, t->count * STEREO_GROUP, y, slots->index[slot]), costs[slot * LINE + y],
                plan->lists.chance));
  }
}

/* The winners of the left view in column @x of a tile: index, confidence and disparity. */
static void
pick_left (const StereoPlan *plan, const CpuTile *t, const Slots *slots, const Sums *sums, int x)
{
  const StereoView *view = &plan->view[STEREO_LEFT];
  size_t at = (size_t) t->y0 * (size_t) plan->map_pitch + (size_t) x;
  float confidence[LINE], disparity[LINE];
  Words index, before, after; /* the sums beside the lowest; as low as it, where there is no fit */

  for (int y = 0; y < LINE; y++) {
    int slot = sums->low[y] == 0xFFFF ? 0 : sums->low[y] & 31;
    before[y] = sums->sums[slot - slots->fits[slot]][y];
    after[y] = sums->sums[slot + slots->fits[slot]][y];
    index[y] = sums->low[y] == 0xFFFF ? STEREO_INVALID : slots->index[slot];
  }
  for (int y = 0; y < LINE; y++) {
    uint32_t low = sums->low[y] >> 5, next = sums->next[y] >> 5;
    int fits_here = (before[y] != STEREO_INVALID) & (after[y] != STEREO_INVALID);
    float offset = stereo_equiangular (before[y], low, after[y]);
    float found = (float) (plan->min_disparity + index[y]) + (fits_here ? offset : 0);
    confidence[y] = sums->next[y] == 0xFFFF ? 0 : stereo_confidence (low, next);
    disparity[y] = sums->low[y] == 0xFFFF ? NAN : found;
  }
  for (int y = 0; y < t->y1 - t->y0; y++, at += (size_t) plan->map_pitch) {
    view->index[at] = index[y];
    view->confidence[at] = confidence[y];
    plan->disparity[at] = disparity[y];
  }
}

/* The right pixels that are partners of column @x of a tile: @right: [mirrored column][pixel]: sum << 16 | index of the winners so far,
 * which the sums take part in. */
static void
offer_right (const StereoPlan *plan, const CpuTile *t, const Slots *slots, const Sums *sums, int x, uint32_t *right)
{
  int first = stereo_first_index (x, plan->width, plan->min_disparity);
  int last = stereo_last_index (x, plan->disparities, plan->min_disparity);
  uint32_t *partner = right + (ptrdiff_t) (plan->width - 1 - x + plan->min_disparity) * LINE;

  for (int k = 0; k < t->count * STEREO_GROUP; k++) {
    int index = slots->index[k];
    if (index < first || index > last)
      continue;
    for (int at = 0; at < LINE; at += LANES) {
      uint32_t *place = partner + index * LINE + at;
      VecU key = vec_join_words (vec_load_h (sums->sums[k] + at), (VecI){ 0 } + index);
      vec_store_u (place, vec_min_unsigned (vec_load_u (place), key));
    }
  }
}

/* ---- tiles of a path ---------------------------------------------------------------------------------- */

typedef struct Context
{
  uint8_t *up;      /* [tile]: what the paths up add, as blocks whose lines are columns */
  Paths *down;      /* [column of tiles]: the paths down, where they have come to */
  int *progress;    /* [row of tiles] PROGRESS apart: tiles from the left that the paths down have passed */
  uint8_t *threads; /* a Band of each, and what follows it */
  size_t thread_bytes;
} Context;

#define PROGRESS 16 /* words: a cache line */

/* Memory of a thread. */
typedef struct Band
{
  ALIGNED uint8_t costs[CPU_BLOCK], added[CPU_BLOCK], down[CPU_BLOCK]; /* of a tile: [line][slot][pixel] */
  Sums sums;
  Paths paths;
  uint32_t *right;    /* [mirrored column of the right view][row]: sum << 16 | index */
  uint8_t *luma;      /* [column][row] */
  uint8_t *row_costs; /* blocks of the tiles of a row */
  uint16_t *row_joined;
} Band;

/* Divides the memory of a thread, and returns its size. */
static size_t
lay_out (const StereoPlan *plan, Band *b)
{
  size_t pixels = (size_t) plan->lists.columns * STEREO_TILE * LINE, slots = pixels * STEREO_SLOTS;
  size_t place = stereo_round_up (sizeof *b, 64);

  b->right = (uint32_t *) ((uint8_t *) b + place);
  b->luma = (uint8_t *) (b->right + pixels);
  b->row_costs = b->luma + pixels;
  b->row_joined = (uint16_t *) (b->row_costs + slots);
  return place + pixels * sizeof *b->right + pixels + slots + slots * sizeof *b->row_joined;
}

static Band *
band_of (const StereoPlan *plan, const Context *c, int thread)
{
  Band *b = (Band *) (c->threads + (size_t) thread * c->thread_bytes);
  lay_out (plan, b);
  return b;
}

static uint8_t *
up_of (const StereoPlan *plan, const Context *c, int column, int row)
{
  return c->up + ((size_t) row * (size_t) plan->lists.columns + (size_t) column) * CPU_BLOCK;
}

static Penalties
penalties_of (const StereoPlan *plan, int direction)
{
  int small = stereo_plan_penalty (plan, direction, 0), large = stereo_plan_penalty (plan, direction, 1);
  int step = plan->params.penalty_step;
  return (Penalties){ (uint16_t) small, (uint16_t) large, (uint16_t) (small - small / STEREO_LISTED_STEP_P1),
    (uint16_t) (large - large / STEREO_LISTED_STEP_P2), (uint16_t) (step > 0 ? step : 256) };
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

/* Paths in a tile. */
typedef struct Way
{
  const StereoPlan *plan;
  Penalties penalties;
  int sideways, back; /* back: up, or to the left */
  Paths *paths;
  CpuTile tile;
  Links across; /* from the list of the tile before */
  int begins;   /* paths begin here */
} Way;

/* Goes on to tile (@column, @row); from @before, or the paths begin here. */
static void
enter_tile (Way *w, int column, int row, const CpuTile *before)
{
  CpuTile from = before ? *before : cpu_tile (w->plan, column, row);

  w->tile = cpu_tile (w->plan, column, row);
  w->begins = !before;
  if (!before)
    begin_paths (w->paths);
  link_lists (&from, &w->tile, &w->across);
}

/* All lines of a tile. @first: line 0, of the picture and of blocks; @luma_pitch: from line to line. */
INLINE void
cross_tile (Way *w, const Line *first, ptrdiff_t luma_pitch, Use use, Band *b)
{
  const StereoPlan *plan = w->plan;
  const CpuTile *t = &w->tile;
  int lines = w->sideways ? t->x1 - t->x0 : t->y1 - t->y0, interior = cpu_tile_is_interior (plan, t, t->x0, t->x1);
  Links within;
  Edge edge;
  Slots slots;

  link_lists (t, t, &within);
  if (use == PICK)
    set_slots (plan, t, &slots);
  for (int n = 0; n < lines; n++) {
    int line = w->back ? lines - 1 - n : n, at = line * t->count * STEREO_GROUP * LINE;
    Line l = *first;
    l.costs += at;
    l.luma += line * luma_pitch;
    l.luma_before = n == 0 && w->begins ? l.luma : l.luma + (w->back ? luma_pitch : -luma_pitch);
    l.added += use == KEEP ? at : 0;
    l.down += use == JOIN ? at : 0;
    l.up += use == JOIN ? at : 0;
    l.joined += use != KEEP ? at : 0;
    if (!interior && (w->sideways || n == 0))
      set_edge (plan, t, w->sideways ? t->x0 + line : t->x0, !w->sideways, &edge);
    step (&l, w->paths, n == 0 ? &w->across : &within, t->count, &w->penalties, interior ? NULL : &edge, use, &b->sums);
    if (use == PICK) {
      pick_left (plan, t, &slots, &b->sums, t->x0 + line);
      offer_right (plan, t, &slots, &b->sums, t->x0 + line, b->right);
      pick_distinctness (plan, t, &slots, &b->sums, l.costs, t->x0 + line);
    }
  }
}

/* ---- up and down ------------------------------------------------------------------------------------- */

/* What is known of the candidates of a tile, with its rows as lines, becomes the same with its columns as lines. */
static void
transpose_block (const CpuTile *t, const uint8_t *from, uint8_t *to)
{
  int slots = t->count * STEREO_GROUP;

  for (int slot = 0; slot < slots; slot++)
    cpu_transpose (from + slot * LINE, slots * LINE, LINE, to + slot * LINE, slots * LINE);
}

/* The rows of a tile. What is added goes to @added, if that is not NULL, with columns as lines. */
static void
cross_rows (Way *w, Band *b, uint8_t *added)
{
  const CpuTile *t = &w->tile;
  Line l = { .costs = cpu_list_costs (w->plan, t, t->y0),
    .added = b->added,
    .luma = w->plan->view[STEREO_LEFT].luma + (ptrdiff_t) t->y0 * w->plan->image_pitch + t->x0 };

  cross_tile (w, &l, w->plan->image_pitch, KEEP, b);
  if (added)
    transpose_block (t, b->added, added);
}

/* A stretch of a column of tiles, up. The tiles before the stretch are another stretch's. */
static void
sweep_up (StereoPlan *plan, void *context, int item, int thread)
{
  const Context *c = context;
  int rows = plan->lists.rows, column = item % plan->lists.columns;
  Stretch s = stretch_of (0, rows, item / plan->lists.columns);
  Band *b = band_of (plan, c, thread);
  Way w = { plan, penalties_of (plan, STEREO_PATH_VERTICAL), .back = 1, .paths = &b->paths };

  for (int k = s.begin; k < s.end; k++) {
    CpuTile before = w.tile;
    enter_tile (&w, column, rows - 1 - k, k == s.begin ? NULL : &before);
    if (k + 1 < s.end) {
      CpuTile next = cpu_tile (plan, column, rows - 2 - k);
      cpu_fetch (cpu_list_costs (plan, &next, next.y0), (size_t) (next.count * STEREO_GROUP * LINE * STEREO_TILE));
    }
    cross_rows (&w, b, k < s.first ? NULL : up_of (plan, c, column, rows - 1 - k));
  }
}

/* The paths down go through a tile: to b->down. Where a stretch begins they come from two tiles above. */
static void
sweep_down (const StereoPlan *plan, const Context *c, int column, int row, Band *b)
{
  int length = stereo_stretch_length (0, plan->lists.rows);
  int begin = row % length ? row : row > STEREO_STRETCH_BEFORE ? row - STEREO_STRETCH_BEFORE : 0;
  Way w = { plan, penalties_of (plan, STEREO_PATH_VERTICAL), .paths = &c->down[column] };

  for (int r = begin; r <= row; r++) {
    CpuTile before = r > 0 ? cpu_tile (plan, column, r - 1) : (CpuTile){ 0 };
    enter_tile (&w, column, r, row % length || r > begin ? &before : NULL);
    cross_rows (&w, b, r < row ? NULL : b->down);
  }
}

/* ---- to the right and to the left, and picking ---------------------------------------------------------- */

static void
sweep_right (const StereoPlan *plan, const Context *c, int row, Stretch s, Band *b)
{
  Way w = { plan, penalties_of (plan, STEREO_PATH_SIDEWAYS), .sideways = 1, .paths = &b->paths };

  for (int column = s.begin; column < s.end; column++) {
    CpuTile before = w.tile;
    size_t block = (size_t) column * CPU_BLOCK;
    Line l = { .costs = b->row_costs + block,
      .added = b->added,
      .down = b->down,
      .up = up_of (plan, c, column, row),
      .joined = b->row_joined + block,
      .luma = b->luma + column * STEREO_TILE * LINE };
    if (column >= s.first) {
      if (row > 0)
        cpu_wait_for (c->progress + (row - 1) * PROGRESS, column + 1);
      sweep_down (plan, c, column, row, b);
      __atomic_store_n (c->progress + row * PROGRESS, column + 1, __ATOMIC_RELEASE);
    }
    enter_tile (&w, column, row, column == s.begin ? NULL : &before);
    if (column < s.first) {
      cross_tile (&w, &l, LINE, KEEP, b);
      continue;
    }
    transpose_block (&w.tile, cpu_list_costs (plan, &w.tile, w.tile.y0), b->row_costs + block);
    cross_tile (&w, &l, LINE, JOIN, b);
  }
}

static void
sweep_left (const StereoPlan *plan, const Context *c, int row, Stretch s, Band *b)
{
  Way w = { plan, penalties_of (plan, STEREO_PATH_SIDEWAYS), .sideways = 1, .back = 1, .paths = &b->paths };

  for (int k = s.begin; k < s.end; k++) {
    CpuTile before = w.tile;
    int column = plan->lists.columns - 1 - k;
    size_t block = (size_t) column * CPU_BLOCK;
    Line l = { .costs = k < s.first ? b->costs : b->row_costs + block,
      .added = b->added,
      .joined = b->row_joined + block,
      .luma = b->luma + column * STEREO_TILE * LINE };
    enter_tile (&w, column, row, k == s.begin ? NULL : &before);
    if (k < s.first) {
      transpose_block (&w.tile, cpu_list_costs (plan, &w.tile, w.tile.y0),
          b->costs); /* the paths to the right have perhaps not come here */
      cross_tile (&w, &l, LINE, KEEP, b);
    } else
      cross_tile (&w, &l, LINE, PICK, b);
  }
}

static void
sweep_row (StereoPlan *plan, void *context, int row, int thread)
{
  const Context *c = context;
  Band *b = band_of (plan, c, thread);
  int stretches = stereo_stretches (1, plan->lists.columns);
  int y0 = row * STEREO_TILE, height = plan->height - y0 < STEREO_TILE ? plan->height - y0 : STEREO_TILE;

  memset (b->right, 0xFF, (size_t) plan->width * LINE * sizeof *b->right);
  for (int x = 0; x < plan->lists.columns * STEREO_TILE; x += STEREO_TILE)
    cpu_transpose (plan->view[STEREO_LEFT].luma + (size_t) y0 * (size_t) plan->image_pitch + x, plan->image_pitch,
        height, b->luma + x * LINE, LINE);
  /* each stretch to the left follows the stretches to the right in its tiles, while these are in the cache */
  for (int k = 0; k < stretches; k++) {
    sweep_right (plan, c, row, stretch_of (1, plan->lists.columns, k), b);
    sweep_left (plan, c, row, stretch_of (1, plan->lists.columns, stretches - 1 - k), b);
  }
  for (int y = 0; y < height; y++) {
    uint16_t *index = plan->view[STEREO_RIGHT].index + (size_t) (y0 + y) * (size_t) plan->map_pitch;
    for (int x = 0; x < plan->width; x++) {
      uint32_t key = b->right[x * LINE + y];
      index[x] = key >> 16 == 0xFFFF ? STEREO_INVALID : (uint16_t) key;
    }
  }
}

/* ---- the stage ----------------------------------------------------------------------------------------- */

static StereoStatus
paths_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  Context *c = context;
  size_t columns = (size_t) plan->lists.columns, rows = (size_t) plan->lists.rows;
  StereoStatus status;

  Band size;
  c->thread_bytes = lay_out (plan, &size);
  if ((status = cpu_reserve_measures (plan, error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_PATHS, (void **) &c->up, columns * CPU_BLOCK, rows, error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_PATHS, (void **) &c->down, columns, sizeof *c->down, error)) ||
      (status = stereo_reserve_for (
           plan, STEREO_LIFE_PATHS, (void **) &c->progress, rows * PROGRESS, sizeof *c->progress, error)))
    return status;
  return stereo_reserve_for (
      plan, STEREO_LIFE_PATHS, (void **) &c->threads, (size_t) cpu_threads (plan), c->thread_bytes, error);
}

static StereoStatus
paths_run (StereoPlan *plan, void *context, StereoError *error)
{
  const Context *c = context;
  int columns = plan->lists.columns, rows = plan->lists.rows;

  memset (c->progress, 0, (size_t) rows * PROGRESS * sizeof *c->progress);
  cpu_run (plan, context, sweep_up, columns * stereo_stretches (0, rows));
  cpu_run (plan, context, sweep_row, rows);
  return STEREO_OK;
}

const StereoStage CPU (
    list_paths) = { .name = "paths", .context_size = sizeof (Context), .prepare = paths_prepare, .run = paths_run };
