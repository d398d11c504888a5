/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A search from coarse to fine, plainly: the comment of stereo/exact/lists.h, one candidate at a time. What lists leave out is put
 * into a volume of all disparities as a candidate that is not there. */
#include "naive.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of that comment, once more. */
enum
{
  SIDE = 16,   /* px of a tile */
  RUN = 4,     /* disparities of a group */
  LONGEST = 8, /* groups of a list */
  NONE = 0xFFFF,
  AROUND = 2, /* px of the half size beyond a tile that vote */
  AWAY = 2,   /* px from a doubled disparity to the groups that it votes for */
  FEWEST = 6  /* votes of a group that is listed beside the first */
};

/* ---- half the size --------------------------------------------------------------------------------- */

static int
within (int v, int count)
{
  return v < 0 ? 0 : v >= count ? count - 1 : v;
}

/* The mean of four, and up from the middle. */
static int
mean (int a, int b, int c, int d)
{
  return (int) floor ((a + b + c + d) / 4.0 + 0.5);
}

/* Place of true column @x of a view, which is the mirrored one if it is the right view. */
static int
column (const StereoPlan *p, int view, int x)
{
  return view == STEREO_LEFT ? x : p->width - 1 - x;
}

/* A pixel of the half size is the mean of two by two pixels; the last row and column may count twice. */
void
naive_halve (StereoPlan *p, StereoPlan *half)
{
  for (int v = 0; v < 2; v++)
    for (int y = 0; y < half->height; y++)
      for (int x = 0; x < half->width; x++) {
        size_t from[4], to = naive_image (half, column (half, v, x), y);
        for (int k = 0; k < 4; k++)
          from[k] = naive_image (p, column (p, v, within (2 * x + k % 2, p->width)), within (2 * y + k / 2, p->height));
        const uint32_t *color = p->view[v].color;
        const uint8_t *luma = p->view[v].luma;
        half->view[v].color[to] = 0;
        for (int c = 0; c < 3; c++)
          half->view[v].color[to] |= (uint32_t) mean (naive_channel (color[from[0]], c),
                                         naive_channel (color[from[1]], c), naive_channel (color[from[2]], c),
                                         naive_channel (color[from[3]], c))
              << 8 * c;
        half->view[v].luma[to] = (uint8_t) mean (luma[from[0]], luma[from[1]], luma[from[2]], luma[from[3]]);
      }
}

/* ---- lists --------------------------------------------------------------------------------------------- */

static const uint16_t *
list_of (const StereoPlan *p, int x, int y)
{
  int columns = (int) ceil ((double) p->width / SIDE);
  return p->lists.groups + (size_t) (y / SIDE * columns + x / SIDE) * LONGEST;
}

/* The slot of candidate @i of pixel (x, y); -1: it is not in the list. */
static int
slot_of (const StereoPlan *p, int x, int y, int i)
{
  const uint16_t *list = list_of (p, x, y);

  for (int g = 0; i >= 0 && g < LONGEST; g++)
    if (list[g] == i / RUN)
      return g * RUN + i % RUN;
  return -1;
}

static int
listed (const StereoPlan *p, int x, int y, int i)
{
  return naive_exists (p, x, i) && slot_of (p, x, y, i) >= 0;
}

int
naive_slot_is_read (const StereoPlan *p, int x, int y, int slot)
{
  const uint16_t *list = list_of (p, x, y);
  return list[slot / RUN] != NONE && naive_exists (p, x, list[slot / RUN] * RUN + slot % RUN);
}

/* The cost of a candidate that is listed. */
static uint8_t *
list_cost (const StereoPlan *p, int x, int y, int i)
{
  return &p->lists.costs[((size_t) y * (size_t) p->width + (size_t) x) * RUN * LONGEST + (size_t) slot_of (p, x, y, i)];
}

/* The smallest disparity of the half size: half of the smallest one, rounded down. */
static int
first_of_half (const StereoPlan *p)
{
  return (int) floor (p->min_disparity / 2.0);
}

int
naive_levels_agree (const StereoPlan *p, int x, int y, int i)
{
  size_t at = naive_map (p->coarse, x / 2, y / 2);
  const uint16_t found[2] = { p->coarse->view[STEREO_LEFT].index[at], p->coarse->winner[at] };
  double disparity = (p->min_disparity + i) / 2.0, most[2] = { 1, 2.5 };

  for (int k = 0; k < 2; k++)
    if (found[k] == NONE || fabs (first_of_half (p) + found[k] - disparity) > most[k])
      return 0;
  return 1;
}

static void
vote (const StereoPlan *p, int index, int number, int *votes)
{
  int disparity = 2 * (first_of_half (p) + index);

  if (index == (int) STEREO_INVALID)
    return;
  for (int side = -1; side <= 1; side += 2)
    votes[within (disparity + side * AWAY - p->min_disparity, p->disparities) / RUN] += number;
}

static void
list_tile (StereoPlan *p, const StereoPlan *half, int u, int v, int *votes, int groups)
{
  uint16_t *list = (uint16_t *) list_of (p, u * SIDE, v * SIDE);
  int count = 0;

  memset (votes, 0, (size_t) groups * sizeof *votes);
  for (int y = v * SIDE / 2 - AROUND; y < (v + 1) * SIDE / 2 + AROUND; y++)
    for (int x = u * SIDE / 2 - AROUND; x < (u + 1) * SIDE / 2 + AROUND; x++)
      if (naive_inside (half, x) && y >= 0 && y < half->height) {
        vote (p, half->view[STEREO_LEFT].index[naive_map (half, x, y)], 2, votes);
        vote (p, half->winner[naive_map (half, x, y)], 1, votes);
      }
  for (int g = 0; g < groups; g++) {
    int better = 0;
    for (int other = 0; other < groups; other++)
      better += votes[other] > votes[g] || (votes[other] == votes[g] && other < g);
    if (better == 0 || (better < LONGEST && votes[g] >= FEWEST))
      list[count++] = (uint16_t) g;
  }
  while (count < LONGEST)
    list[count++] = NONE;
}

void
naive_candidates (StereoPlan *p)
{
  int groups = (int) ceil ((double) p->disparities / RUN), *votes = naive_allocate ((size_t) groups, sizeof *votes);

  for (int v = 0; v * SIDE < p->height; v++)
    for (int u = 0; u * SIDE < p->width; u++)
      list_tile (p, p->coarse, u, v, votes, groups);
  free (votes);
}

/* The winner before the paths: of all candidates, or of those in a list, the one of the lowest cost, the first of equals. */
void
naive_keep (StereoPlan *p)
{
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      NaiveLowest l = NAIVE_NOTHING_YET;
      for (int i = 0; i < p->disparities; i++)
        if (p->listed ? listed (p, x, y, i) : naive_exists (p, x, i))
          naive_lowest_add (&l, i, p->listed ? *list_cost (p, x, y, i) : *naive_cost (p, x, y, i));
      p->winner[naive_map (p, x, y)] = naive_index (l.first);
    }
}

/* ---- costs ------------------------------------------------------------------------------------------------- */

/* A volume beside the frame state, for the twins of the full search. */
static void
lend_volume (StereoPlan *p)
{
  size_t count = (size_t) p->width * (size_t) p->height * (size_t) p->depth;
  p->volume = naive_allocate (count, sizeof *p->volume);
  memset (p->volume, 0xFF, count * sizeof *p->volume);
}

void
naive_take_volume (StereoPlan *p)
{
  free (p->volume);
  p->volume = NULL;
}

/* For sgm the cost of the pixel pair. Half of the last bits that are left out rounds up. */
static double
cost_of (const StereoPlan *p, int x, int y, int i)
{
  double steps = p->params.method == STEREO_METHOD_SGM ?
      naive_raw_cost (p, naive_image (p, x, y), naive_image (p, naive_partner (p, x, i), y)) :
      *naive_cost (p, x, y, i);
  return fmin (floor (steps / exp2 (p->path_shift) + (p->path_shift ? 0.5 : 0)), 255);
}

void
naive_list_match (StereoPlan *p)
{
  lend_volume (p);
  if (p->params.method != STEREO_METHOD_SGM)
    naive_asw (p);
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      for (int i = 0; i < p->disparities; i++)
        if (listed (p, x, y, i))
          *list_cost (p, x, y, i) = (uint8_t) cost_of (p, x, y, i);
  naive_take_volume (p);
}

/* Whether a candidate, before the paths, costs as much as places that have nothing in common: half of their census bits differ. */
int
naive_by_chance (const StereoPlan *p, int x, int y, int i)
{
  static const double steps[STEREO_COSTS] = {
    [STEREO_COST_CENSUS_7X5] = 16, [STEREO_COST_CENSUS_9X7] = 31, [STEREO_COST_MIXED] = 16 * 4
  };
  double half = steps[p->params.cost] * p->volume_unit / exp2 (p->path_shift);
  return half > 0 && *list_cost (p, x, y, i) >= half;
}

/* ---- prior ------------------------------------------------------------------------------------------- */

/* In steps of the costs that paths read, an even number: half of it is whole, too. */
static long
penalty_of (const StereoPlan *p, int large, int vertical)
{
  static const double of_pixels[2][2] = { { 22.02, 82.79 }, { 17.75, 80.87 } };
  int sgm = p->params.method == STEREO_METHOD_SGM, searched = p->params.num_disparities;
  double of_aggregated[2] = { 11, 115 * log2 (searched < 2 ? 2 : searched) / 7 };
  double factor = p->params.cost == STEREO_COST_CENSUS_7X5 ? 0.7 : p->params.cost == STEREO_COST_MIXED ? 0.8 : 1;
  double by_hand[2] = { p->params.p1, p->params.p2 }, value[2];

  for (int k = 0; k < 2; k++)
    value[k] = by_hand[k] > 0 ? by_hand[k] : (sgm ? of_pixels[vertical][k] : of_aggregated[k]) * factor;
  double chosen = large || value[1] < value[0] ? value[1] : value[0];
  return 2 *
      lrint (chosen * stereo_cost_info (p->params.cost)->unit * (sgm ? 1 : p->volume_unit) / exp2 (p->path_shift) / 2);
}

/* Half a pixel from the prediction costs nothing; another pixel away, and farther, costs a 54th of the larger penalty: as often as 10
 * is in the variance of the noise, to the lower 64th, but once at least and five times at most. No cost is above 255. */
void
naive_prior (StereoPlan *p)
{
  double times = fmin (fmax (floor (pow (*p->last.noise / 64.0, 2) / 10 * 64) / 64, 1), 5);
  double most = fmin (floor ((double) penalty_of (p, 1, 0) * times / 54), 255);

  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      uint32_t word = p->last.predicted[naive_map (p, x, y)];
      p->last.predicted[naive_map (p, x, y)] = 0;
      int luma = (int) (word % 256), eighths = (int) (word / 256 % 65536);
      if (!word || abs (luma - (int) p->view[STEREO_LEFT].luma[naive_image (p, x, y)]) > 24)
        continue;
      for (int i = 0; i < p->disparities; i++) {
        double away = fabs (i - eighths / 8.0), share = fmin (fmax (away - 0.5, 0), 1);
        if (!listed (p, x, y, i))
          continue;
        uint8_t *cost = list_cost (p, x, y, i);
        *cost = (uint8_t) fmin (255, *cost + floor (share * most));
      }
    }
}

/* ---- paths --------------------------------------------------------------------------------------------------- */

/* The first pixel of tile @tile of a path that enters the picture at @from, a column or row, and goes up or down from there. */
static int
pixel_of_tile (int tile, int from)
{
  return tile <= 0 ? 0 : (tile - 1) * SIDE + (from ? from % SIDE + 1 : SIDE);
}

/* A path from (dx, dy) that enters the picture at (x, y): as few parts as have at most 24 tiles each, 20 if it goes down or up, and
 * about as many in each. A part begins as if the picture did so two tiles before it. */
static void
walk (const StereoPlan *p, NaivePath *path, int x, int y, int dx, int dy, long *sums)
{
  int tiles = (int) ceil ((double) (dx ? p->width : p->height) / SIDE);
  int parts = (int) ceil (tiles / (dx ? 24.0 : 20.0));
  int length = (int) ceil ((double) tiles / parts), from = dx ? x : y;

  path->p1 = penalty_of (p, 0, dy != 0);
  path->p2 = penalty_of (p, 1, dy != 0);
  for (int k = 0; k < parts; k++) {
    const int part[3] = { pixel_of_tile (k * length - 2, from), pixel_of_tile (k * length, from),
      pixel_of_tile ((k + 1) * length, from) };
    naive_follow (p, path, x, y, dx, dy, part, sums);
  }
}

/* A cost that is not listed lies above all others, and so do those of the full search that lie outside it. */
void
naive_lend_sums (StereoPlan *p)
{
  size_t count = (size_t) p->width * (size_t) p->height * (size_t) p->depth;
  long *sums = naive_allocate (count, sizeof *sums), *costs = naive_allocate (count, sizeof *costs),
       *lines = naive_allocate (2 * (size_t) p->disparities, sizeof *lines);
  NaivePath path = { costs, 1, lines, lines + p->disparities, .whole = 1 };
  lend_volume (p);
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      for (int i = 0; i < p->disparities; i++)
        costs[naive_cost (p, x, y, i) - p->volume] = slot_of (p, x, y, i) < 0 ? NAIVE_NONE :
            naive_exists (p, x, i)                                            ? *list_cost (p, x, y, i) :
                                                                                NAIVE_OUTSIDE;
  for (int y = 0; y < p->height; y++) {
    walk (p, &path, 0, y, -1, 0, sums);
    walk (p, &path, p->width - 1, y, 1, 0, sums);
  }
  for (int x = 0; x < p->width; x++) {
    walk (p, &path, x, 0, 0, -1, sums);
    walk (p, &path, x, p->height - 1, 0, 1, sums);
  }
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++)
      for (int i = 0; i < p->disparities; i++)
        if (listed (p, x, y, i))
          *naive_cost (p, x, y, i) = (uint16_t) sums[naive_cost (p, x, y, i) - p->volume];
  free (sums);
  free (costs);
  free (lines);
}

/* From a winner to the tip, where both neighbours are listed. */
static double
offset (const StereoPlan *p, int x, int y, int i)
{
  if (!p->params.subpixel || !listed (p, x, y, i - 1) || !listed (p, x, y, i + 1))
    return 0;
  return (double) naive_tip (*naive_cost (p, x, y, i - 1), *naive_cost (p, x, y, i), *naive_cost (p, x, y, i + 1));
}

void
naive_list_paths (StereoPlan *p)
{
  naive_lend_sums (p);
  for (int v = 0; v < 2; v++)
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++) {
        size_t at = naive_map (p, x, y);
        NaiveLowest l = NAIVE_NOTHING_YET;
        for (int i = 0; i < p->disparities; i++) {
          int left = v == STEREO_LEFT ? x : naive_partner (p, x, i);
          if (naive_inside (p, left) && listed (p, left, y, i))
            naive_lowest_add (&l, i, *naive_cost (p, left, y, i));
        }
        p->view[v].index[at] = naive_index (l.first);
        if (v == STEREO_RIGHT)
          continue;
        p->view[v].confidence[at] = naive_margin (&l);
        p->disparity[at] = l.first < 0 ? NAN : (float) (p->min_disparity + l.first) + (float) offset (p, x, y, l.first);
      }
  naive_take_volume (p);
}
