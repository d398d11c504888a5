/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The probability of a disparity, one pixel at a time. */
#include "naive.h"

#include <math.h>
#include <stdlib.h>

/* The numbers of the comment in stereo/exact/confidence.h, once more: none is taken from there. */
enum
{
  RADIUS = 10, /* of the window in which views agree */
  CELL = 4,
  AROUND = 4,     /* cells to each side */
  LIKE = 8,       /* grey levels */
  RIVAL = 2,      /* candidates from the selected one to a rival */
  NO_MINIMUM = 3, /* the same, of a rival that is no minimum, and of one that a list has so near alone */
  LISTED = 5,     /* the same, of any other rival in a list */
  LOGITS = 256    /* the most that a logit is, in its steps */
};

/* @part of @all, at most @most, to the nearest whole number, and up from the middle. */
static uint32_t
share (double part, uint32_t all, int most)
{
  return (uint32_t) floor (most * part / all + 0.5);
}

/* Whether the right view's candidate for the partner of (x, y) is the same, within a pixel. */
static int
agrees (const StereoPlan *p, int x, int y)
{
  int index = p->view[STEREO_LEFT].index[naive_map (p, x, y)];

  if (index == (int) STEREO_INVALID)
    return 0;
  if (p->listed && !naive_levels_agree (p, x, y, index))
    return 0;
  return abs (p->view[STEREO_RIGHT].index[naive_map (p, naive_partner (p, x, index), y)] - index) <= 1;
}

static uint32_t
agreement (const StereoPlan *p, int x, int y)
{
  uint32_t count = 0, all = 0;

  for (int v = y - RADIUS; v <= y + RADIUS; v++)
    for (int u = x - RADIUS; u <= x + RADIUS; u++)
      if (naive_inside (p, u) && v >= 0 && v < p->height) {
        all++;
        count += (uint32_t) agrees (p, u, v);
      }
  return share (count, all, 255);
}

/* The cost of a candidate of a pixel; above all others past the ends of the search. */
static uint32_t
cost_of (const StereoPlan *p, int x, int y, int i)
{
  return i < 0 || i >= p->disparities ? UINT32_MAX : *naive_cost (p, x, y, i);
}

/* The lowest cost of the candidates that are @away from the selected one, or of those alone that are no higher than their
 * neighbours; STEREO_INVALID if there is none. */
static uint32_t
lowest_rival (const StereoPlan *p, int x, int y, int selected, int away, int minima)
{
  uint32_t lowest = STEREO_INVALID;

  for (int i = 0; i < p->disparities; i++) {
    uint32_t cost = cost_of (p, x, y, i);
    if (abs (i - selected) < away || cost >= lowest)
      continue;
    if (!minima || (cost <= cost_of (p, x, y, i - 1) && cost <= cost_of (p, x, y, i + 1)))
      lowest = cost;
  }
  return lowest;
}

/* For one pixel: by how much the rival costs more, as a share of what it costs, in 255ths rounded down. */
static uint32_t
distinctness (const StereoPlan *p, int x, int y)
{
  int index = p->view[STEREO_LEFT].index[naive_map (p, x, y)];

  if (index == (int) STEREO_INVALID)
    return 0;
  double cost = cost_of (p, x, y, index);
  double rival = lowest_rival (p, x, y, index, p->listed ? LISTED : RIVAL, !p->listed);
  if (rival == STEREO_INVALID)
    rival = lowest_rival (p, x, y, index, NO_MINIMUM, 0);
  double share = rival == STEREO_INVALID || rival <= cost ? 0 : floor (255 * (rival - cost) / rival);
  return (uint32_t) (p->listed && naive_by_chance (p, x, y, index) ? floor (share / 2) : share);
}

/* Cells along a side, and the pixel that stands for one: in its middle, or the last one of the picture. */
static int
cells_along (int size)
{
  return (int) ceil ((double) size / CELL);
}

static int
pixel_of (int cell, int size)
{
  return (int) fmin (cell * CELL + CELL / 2, size - 1);
}

/* Whether the pixels of a cell have more than one luma. */
static int
has_texture (const StereoPlan *p, int column, int row)
{
  const uint8_t *luma = p->view[STEREO_LEFT].luma;
  int x = column * CELL, y = row * CELL, different = 0;

  for (int v = y; v < y + CELL && v < p->height; v++)
    for (int u = x; u < x + CELL && u < p->width; u++)
      different += luma[naive_image (p, u, v)] != luma[naive_image (p, x, y)];
  return different > 0;
}

/* The mean over the cells around that have texture; where none of their pixels is like this one, that of its own cell. */
static uint32_t
mean_distinctness (const StereoPlan *p, const uint32_t *cells, int x, int y)
{
  const uint8_t *luma = p->view[STEREO_LEFT].luma;
  int columns = cells_along (p->width), rows = cells_along (p->height), own = luma[naive_image (p, x, y)];
  uint32_t sum = 0, count = 0;

  for (int v = y / CELL - AROUND; v <= y / CELL + AROUND; v++)
    for (int u = x / CELL - AROUND; u <= x / CELL + AROUND; u++) {
      if (u < 0 || u >= columns || v < 0 || v >= rows)
        continue;
      size_t at = naive_image (p, pixel_of (u, p->width), pixel_of (v, p->height));
      if (has_texture (p, u, v) && abs (luma[at] - own) <= LIKE) {
        sum += cells[v * columns + u];
        count++;
      }
    }
  return count ? share (sum, count, 1) : cells[y / CELL * columns + x / CELL];
}

/* Whether two pixels of the cell of (x, y) have disparities that are more than 2 px apart. */
static int
at_edge (const StereoPlan *p, int x, int y)
{
  int least = INT32_MAX, most = 0;

  for (int k = 0; k < CELL * CELL; k++) {
    double u = fmin (x / CELL * CELL + k % CELL, p->width - 1), v = fmin (y / CELL * CELL + k / CELL, p->height - 1);
    int index = p->view[STEREO_LEFT].index[naive_map (p, (int) u, (int) v)];
    least = index < least ? index : least;
    most = index > most ? index : most;
  }
  return most - least > 2;
}

NaiveMeasures *
naive_measures (StereoPlan *p)
{
  int columns = cells_along (p->width), rows = cells_along (p->height);
  uint32_t *cells = naive_allocate ((size_t) columns * (size_t) rows, sizeof *cells);
  NaiveMeasures *measures = naive_allocate ((size_t) p->width * (size_t) p->height, sizeof *measures);

  if (p->listed)
    naive_lend_sums (p);
  for (int v = 0; v < rows; v++)
    for (int u = 0; u < columns; u++)
      if (has_texture (p, u, v))
        cells[v * columns + u] = distinctness (p, pixel_of (u, p->width), pixel_of (v, p->height));
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      NaiveMeasures *at = &measures[(size_t) y * (size_t) p->width + (size_t) x];
      at->agreement = (uint8_t) agreement (p, x, y);
      at->distinctness = (uint8_t) mean_distinctness (p, cells, x, y);
      at->edge = (uint8_t) at_edge (p, x, y);
    }
  if (p->listed)
    naive_take_volume (p);
  free (cells);
  return measures;
}

void
naive_probability (StereoPlan *p)
{
  NaiveMeasures *measures = naive_measures (p);
  StereoProbability table;

  stereo_probability_table (&p->params, &table);
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      const NaiveMeasures *at = &measures[(size_t) y * (size_t) p->width + (size_t) x];
      int logit = table.agreement[at->agreement] + table.distinctness[at->distinctness] + at->edge * table.edge;
      /* the last candidate is no proven minimum */
      int counts = p->view[STEREO_LEFT].index[naive_map (p, x, y)] != p->disparities - 1;
      float value = (float) counts * table.probability[LOGITS + (int) fmax (fmin (logit, LOGITS), -LOGITS)];
      p->view[STEREO_LEFT].confidence[naive_map (p, x, y)] = value;
      if (value < (float) stereo_params_first_threshold (&p->params))
        p->disparity[naive_map (p, x, y)] = NAN;
    }
  free (measures);
}
