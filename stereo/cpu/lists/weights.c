/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Support weights of tiles. The weight of a pair of pixels is that of the one for the other and the reverse. */
#include "stereo/cpu/lists/weights.h"
#include "stereo/cpu/vec/vec.h"

size_t
CPU (list_weights_lay_out) (CpuWeights *w, const StereoPlan *plan, int radius, float *base)
{
  size_t used = 0, table;

  memset (w, 0, sizeof *w);
  w->radius = radius;
  /* a vector may begin at the last column, and one at the first column reads @radius columns before it */
  w->pitch = (CPU_WEIGHED_TILES * STEREO_TILE + 2 * radius + 2 * LANES) / LANES * LANES;
  w->color_factor = (float) (-STEREO_LOG2E / plan->params.gamma_color);
  w->distance_factor = (float) (-STEREO_LOG2E / plan->params.gamma_distance);
  table = (size_t) STEREO_TILE * (size_t) (2 * radius + 1) * (size_t) w->pitch;
#define TAKE(field, floats) \
  w->field = base ? base + used : NULL; \
  used += stereo_round_up (floats, 16)
  TAKE (down, table);
  TAKE (across, table);
  TAKE (down_share, (size_t) STEREO_TILE * (size_t) w->pitch);
  TAKE (across_share, (size_t) STEREO_TILE * (size_t) w->pitch);
  TAKE (pairs, (size_t) radius * (size_t) w->pitch);
#undef TAKE
  return used;
}

static float *
line_of (const CpuWeights *w, float *table, int row, int tap)
{
  return table + ((size_t) row * (size_t) (2 * w->radius + 1) + (size_t) tap) * (size_t) w->pitch;
}

/* The weights of columns @from..@to - 1 of row @y and of the pixels @dx to the right and @dy below, into two lines. */
static void
weigh (const CpuWeights *w, const StereoPlan *plan, int y, int dx, int dy, int from, int to, float *out, float *twin)
{
  const uint32_t *one = plan->view[STEREO_LEFT].likeness + (size_t) y * (size_t) plan->image_pitch;
  const uint32_t *other = one + (ptrdiff_t) dy * plan->image_pitch + dx;
  float distance = w->distance_factor * (float) (dx + dy);

  for (int x = from; x < to; x += LANES) {
    VecF weight = vec_weight (vec_load_u (one + x), vec_load_u (other + x), w->color_factor, distance);
    vec_store_f (out + x - w->left, weight);
    vec_store_f (twin + x - w->left, weight);
  }
}

static void
set_line (const CpuWeights *w, float *line, float value)
{
  for (int x = 0; x < w->columns; x += LANES)
    vec_store_f (line + x, (VecF){ 0 } + value);
}

static void
set_shares (const CpuWeights *w, float *table, int row, float *share)
{
  for (int x = 0; x < w->columns; x += LANES) {
    VecF sum = { 0 };
    for (int t = 0; t <= 2 * w->radius; t++)
      sum += vec_load_f (line_of (w, table, row, t) + x);
    vec_store_f (share + (size_t) row * (size_t) w->pitch + x, 1 / sum);
  }
}

/* Pairs of which one pixel or both are in the rows of the tiles, which begin at @y0. */
static void
weigh_down (const CpuWeights *w, const StereoPlan *plan, int y0)
{
  int r = w->radius, from = w->left > 0 ? w->left : 0, end = w->left + w->columns;
  int to = end < plan->width ? end : plan->width;

  for (int row = 0; row < w->rows; row++)
    set_line (w, line_of (w, w->down, row, r), 1);
  for (int distance = 1; distance <= r; distance++)
    for (int upper = -distance; upper < w->rows; upper++) {
      int lower = upper + distance;
      float *above = lower < w->rows ? line_of (w, w->down, lower, r - distance) : NULL;
      float *below = upper >= 0 ? line_of (w, w->down, upper, r + distance) : NULL;
      if (!above && !below)
        continue;
      above = above ? above : below;
      below = below ? below : above;
      if (y0 + upper >= 0 && y0 + lower < plan->height) {
        weigh (w, plan, y0 + upper, 0, distance, from, to, above, below);
      } else {
        set_line (w, above, 0);
        set_line (w, below, 0);
      }
    }
  for (int row = 0; row < w->rows; row++)
    set_shares (w, w->down, row, w->down_share);
}

static void
weigh_across (const CpuWeights *w, const StereoPlan *plan, int y0, int row)
{
  int r = w->radius, from = w->left > 0 ? w->left : 0, end = w->left + w->columns;

  set_line (w, line_of (w, w->across, row, r), 1);
  for (int distance = 1; distance <= r; distance++) {
    float *pairs = w->pairs + (size_t) (distance - 1) * (size_t) w->pitch;
    int to = end < plan->width - distance ? end : plan->width - distance;
    for (int x = w->left; x < 0; x++)
      pairs[x - w->left] = 0;
    weigh (w, plan, y0 + row, distance, 0, from, to, pairs, pairs);
    for (int x = to > from ? to : from; x < end; x++)
      pairs[x - w->left] = 0;
    float *before = line_of (w, w->across, row, r - distance), *behind = line_of (w, w->across, row, r + distance);
    for (int x = r; x < w->columns; x += LANES) {
      vec_store_f (before + x, vec_load_f (pairs + x - distance));
      vec_store_f (behind + x, vec_load_f (pairs + x));
    }
  }
  set_shares (w, w->across, row, w->across_share);
}

void
CPU (list_weights) (CpuWeights *w, const StereoPlan *plan, int column, int row)
{
  int tiles = plan->lists.columns - column < CPU_WEIGHED_TILES ? plan->lists.columns - column : CPU_WEIGHED_TILES;
  int y0 = row * STEREO_TILE;

  w->left = column * STEREO_TILE - w->radius;
  w->columns = tiles * STEREO_TILE + 2 * w->radius;
  w->rows = plan->height - y0 < STEREO_TILE ? plan->height - y0 : STEREO_TILE;
  weigh_down (w, plan, y0);
  for (int k = 0; k < w->rows; k++)
    weigh_across (w, plan, y0, k);
}
