/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* From the views to the lists of tiles: the views at half the size, the steps of that size, and the votes of their result. */
#include "stereo/cpu/lists/lists.h"
#include "stereo/cpu/post/pick.h"

/* ---- half the size ------------------------------------------------------------------------------- */

/* The mean of four colours, each rounded to the nearest. */
static uint32_t
mean_color (uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
  uint32_t outer = 0x00FF00FF;
  uint32_t red_blue = (a & outer) + (b & outer) + (c & outer) + (d & outer) + 0x00020002;
  uint32_t green = (a >> 8 & 0xFF) + (b >> 8 & 0xFF) + (c >> 8 & 0xFF) + (d >> 8 & 0xFF) + 2;
  return (red_blue >> 2 & outer) | green >> 2 << 8;
}

/* The means of @count squares of pixels that begin side by side. */
static void
halve_colors (const uint32_t *high, const uint32_t *low, int count, uint32_t *restrict to)
{
  for (int x = 0; x < count; x++)
    to[x] = mean_color (high[2 * x], high[2 * x + 1], low[2 * x], low[2 * x + 1]);
}

static void
halve_lumas (const uint8_t *high, const uint8_t *low, int count, uint8_t *restrict to)
{
  for (int x = 0; x < count; x++)
    to[x] = (uint8_t) ((high[2 * x] + high[2 * x + 1] + low[2 * x] + low[2 * x + 1] + 2) >> 2);
}

/* Row @y of a view of the half size. Where the size is odd, the last column and row count twice; of the right view, which is stored
 * mirrored, that is column 0. */
static void
halve_row (const StereoPlan *plan, int view, int y)
{
  const StereoPlan *half = plan->coarse;
  const StereoView *from = &plan->view[view], *to = &half->view[view];
  int odd = plan->width % 2, pad = view == STEREO_RIGHT && odd;
  size_t high = (size_t) (2 * y) * (size_t) plan->image_pitch;
  size_t low = high + (2 * y + 1 < plan->height ? (size_t) plan->image_pitch : 0),
         at = (size_t) y * (size_t) half->image_pitch;
  const uint32_t *colors[2] = { from->color + high, from->color + low };
  const uint8_t *lumas[2] = { from->luma + high, from->luma + low };

  halve_colors (colors[0] + pad, colors[1] + pad, plan->width / 2, to->color + at + pad);
  halve_lumas (lumas[0] + pad, lumas[1] + pad, plan->width / 2, to->luma + at + pad);
  if (odd) {
    size_t edge = at + (size_t) (pad ? 0 : half->width - 1);
    int x = pad ? 0 : plan->width - 1;
    to->color[edge] = mean_color (colors[0][x], colors[0][x], colors[1][x], colors[1][x]);
    to->luma[edge] = (uint8_t) ((2 * lumas[0][x] + 2 * lumas[1][x] + 2) >> 2);
  }
}

static void
halve_rows (StereoPlan *plan, void *context, int y, int thread)
{
  halve_row (plan, STEREO_LEFT, y);
  halve_row (plan, STEREO_RIGHT, y);
}

static StereoStatus
coarse_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, halve_rows, plan->coarse->height);
  return stereo_run_coarse (plan, error);
}

/* The candidates of the lowest cost in a row of a tile; of equal ones the first. */
static void
keep_tile_row (const StereoPlan *plan, const CpuTile *t, int y)
{
  const uint8_t *costs = cpu_list_costs (plan, t, y);
  uint16_t *winners = plan->winner + (size_t) y * (size_t) plan->map_pitch + (size_t) t->x0;
  int lowest[STEREO_TILE], first[STEREO_TILE], last[STEREO_TILE], winner[STEREO_TILE];

  for (int x = 0; x < STEREO_TILE; x++) {
    lowest[x] = 256;
    winner[x] = STEREO_INVALID;
    first[x] = stereo_first_index (t->x0 + x, plan->width, plan->min_disparity);
    last[x] = stereo_last_index (t->x0 + x, plan->disparities, plan->min_disparity);
  }
  for (int k = 0; k < t->count * STEREO_GROUP; k++, costs += STEREO_TILE) {
    int index = cpu_slot_index (t, k);
    for (int x = 0; x < STEREO_TILE; x++) {
      int lower = (index >= first[x]) & (index <= last[x]) & (costs[x] < lowest[x]);
      lowest[x] = lower ? costs[x] : lowest[x];
      winner[x] = lower ? index : winner[x];
    }
  }
  for (int x = 0; x < t->x1 - t->x0; x++)
    winners[x] = (uint16_t) winner[x];
}

static void
keep_row (StereoPlan *plan, void *context, int row, int thread)
{
  for (int column = 0; plan->listed && column < plan->lists.columns; column++) {
    CpuTile t = cpu_tile (plan, column, row);
    for (int y = t.y0; y < t.y1; y++)
      keep_tile_row (plan, &t, y);
  }
  for (int y = row * STEREO_TILE; !plan->listed && y < (row + 1) * STEREO_TILE && y < plan->height; y++) {
    const uint16_t *costs = plan->volume + (size_t) y * (size_t) plan->width * (size_t) plan->depth;
    CPU (pick_lowest) (plan, costs, plan->width, plan->winner + (size_t) y * (size_t) plan->map_pitch);
  }
}

static StereoStatus
keep_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, keep_row, plan->lists.rows);
  return STEREO_OK;
}

/* ---- candidates ---------------------------------------------------------------------------------- */

/* The votes of the half size for a tile, by group. Its winners are counted first: there are fewer of these than pixels. */
static void
count_votes (const StereoPlan *plan, int column, int row, uint16_t *votes)
{
  const StereoPlan *half = plan->coarse;
  int x0 = column * STEREO_TILE / 2 - STEREO_VOTE_AROUND, x1 = (column + 1) * STEREO_TILE / 2 + STEREO_VOTE_AROUND;
  int y0 = row * STEREO_TILE / 2 - STEREO_VOTE_AROUND, y1 = (row + 1) * STEREO_TILE / 2 + STEREO_VOTE_AROUND;
  const uint16_t *after = half->view[STEREO_LEFT].index, *before = half->winner;
  uint16_t winners[2][STEREO_MAX_DISPARITIES / 2 + 2];

  for (int v = 0; v <= half->disparities; v++)
    winners[0][v] = winners[1][v] = 0;
  for (int y = y0 > 0 ? y0 : 0; y < y1 && y < half->height; y++)
    for (int x = x0 > 0 ? x0 : 0; x < x1 && x < half->width; x++) {
      size_t at = (size_t) y * (size_t) half->map_pitch + (size_t) x;
      winners[0][after[at] == STEREO_INVALID ? half->disparities : after[at]]++;
      winners[1][before[at] == STEREO_INVALID ? half->disparities : before[at]]++;
    }
  for (int v = 0; v < half->disparities; v++) {
    int number = STEREO_VOTES_AFTER * winners[0][v] + winners[1][v];
    for (int away = -STEREO_VOTE_AWAY; number > 0 && away <= STEREO_VOTE_AWAY; away += 2 * STEREO_VOTE_AWAY)
      votes[stereo_vote (v, away, plan->min_disparity, plan->disparities)] += (uint16_t) number;
  }
}

/* The groups of @count with the most votes, ascending; of equal ones the lower. The first has any number of votes, or none: then it is
 * group 0. The others have STEREO_VOTES_LEAST at least. */
static void
choose_groups (uint16_t *votes, int count, uint16_t *groups)
{
  uint8_t chosen[STEREO_MAX_DISPARITIES / STEREO_GROUP] = { 0 };
  int number = 0;

  for (int k = 0; k < STEREO_TILE_GROUPS; k++) {
    int best = 0;
    for (int g = 1; g < count; g++)
      best = votes[g] > votes[best] ? g : best;
    if (k > 0 && votes[best] < STEREO_VOTES_LEAST)
      break;
    votes[best] = 0;
    chosen[best] = 1;
  }
  for (int g = 0; g < count; g++)
    if (chosen[g])
      groups[number++] = (uint16_t) g;
  while (number < STEREO_TILE_GROUPS)
    groups[number++] = STEREO_NO_GROUP;
}

static void
list_row (StereoPlan *plan, void *context, int row, int thread)
{
  int count = (plan->disparities + STEREO_GROUP - 1) / STEREO_GROUP;

  for (int column = 0; column < plan->lists.columns; column++) {
    uint16_t votes[STEREO_MAX_DISPARITIES / STEREO_GROUP] = { 0 };
    count_votes (plan, column, row, votes);
    choose_groups (votes, count,
        plan->lists.groups + ((size_t) row * (size_t) plan->lists.columns + (size_t) column) * STEREO_TILE_GROUPS);
  }
}

static StereoStatus
candidates_run (StereoPlan *plan, void *context, StereoError *error)
{
  cpu_run (plan, context, list_row, plan->lists.rows);
  return STEREO_OK;
}

const StereoStage CPU (coarse) = { .name = "coarse", .run = coarse_run };
const StereoStage CPU (keep) = { .name = "keep", .run = keep_run };
const StereoStage CPU (candidates) = { .name = "candidates", .run = candidates_run };
