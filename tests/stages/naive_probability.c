/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The probability of a disparity, one pixel at a time. */
#include "naive.h"

#include <stdlib.h>

/* Whether the right view's candidate for the partner of (x, y) is the same, within STEREO_AGREEMENT_MOST. */
static int
agrees (const StereoPlan *p, int x, int y)
{
  int index = p->view[STEREO_LEFT].index[naive_map (p, x, y)];

  if (index == (int) STEREO_INVALID)
    return 0;
  return abs (p->view[STEREO_RIGHT].index[naive_map (p, naive_partner (p, x, index), y)] - index) <=
      STEREO_AGREEMENT_MOST;
}

static uint32_t
agreement (const StereoPlan *p, int x, int y)
{
  uint32_t count = 0, all = 0;

  for (int v = y - STEREO_AGREEMENT_RADIUS; v <= y + STEREO_AGREEMENT_RADIUS; v++)
    for (int u = x - STEREO_AGREEMENT_RADIUS; u <= x + STEREO_AGREEMENT_RADIUS; u++)
      if (naive_inside (p, u) && v >= 0 && v < p->height) {
        all++;
        count += (uint32_t) agrees (p, u, v);
      }
  return stereo_agreement (count, all);
}

/* Of one pixel, from the costs of all its candidates. */
static uint32_t
distinctness (const StereoPlan *p, int x, int y)
{
  int index = p->view[STEREO_LEFT].index[naive_map (p, x, y)];
  uint32_t rival = STEREO_INVALID;

  if (index == (int) STEREO_INVALID)
    return 0;
  for (int minimum = 1; minimum >= 0 && rival == STEREO_INVALID; minimum--)
    for (int i = 0; i < p->disparities; i++)
      if (stereo_may_rival (naive_cost (p, x, y, 0), i, p->disparities - 1, index, minimum) &&
          *naive_cost (p, x, y, i) < rival)
        rival = *naive_cost (p, x, y, i);
  return stereo_distinctness (*naive_cost (p, x, y, index), rival);
}

/* Whether the pixels of a cell have more than one luma. */
static int
has_texture (const StereoPlan *p, int column, int row)
{
  const uint8_t *luma = p->view[STEREO_LEFT].luma;
  int x = column * STEREO_CELL, y = row * STEREO_CELL, different = 0;

  for (int v = y; v < y + STEREO_CELL && v < p->height; v++)
    for (int u = x; u < x + STEREO_CELL && u < p->width; u++)
      different += luma[naive_image (p, u, v)] != luma[naive_image (p, x, y)];
  return different > 0;
}

/* The mean over the cells around that have texture; where none of their pixels is like this one, that of its own cell. */
static uint32_t
mean_distinctness (const StereoPlan *p, const uint32_t *cells, int x, int y)
{
  const uint8_t *luma = p->view[STEREO_LEFT].luma;
  int columns = stereo_cells (p->width), rows = stereo_cells (p->height), own = luma[naive_image (p, x, y)];
  uint32_t sum = 0, count = 0;

  for (int v = y / STEREO_CELL - STEREO_CELLS_AROUND; v <= y / STEREO_CELL + STEREO_CELLS_AROUND; v++)
    for (int u = x / STEREO_CELL - STEREO_CELLS_AROUND; u <= x / STEREO_CELL + STEREO_CELLS_AROUND; u++) {
      if (u < 0 || u >= columns || v < 0 || v >= rows)
        continue;
      size_t at = naive_image (p, stereo_cell_pixel (u, p->width), stereo_cell_pixel (v, p->height));
      if (has_texture (p, u, v) && abs (luma[at] - own) <= STEREO_LIKE_LUMA) {
        sum += cells[v * columns + u];
        count++;
      }
    }
  return count ? stereo_mean_distinctness (sum, count) : cells[y / STEREO_CELL * columns + x / STEREO_CELL];
}

NaiveMeasures *
naive_measures (const StereoPlan *p)
{
  int columns = stereo_cells (p->width), rows = stereo_cells (p->height);
  uint32_t *cells = naive_allocate ((size_t) columns * (size_t) rows, sizeof *cells);
  NaiveMeasures *measures = naive_allocate ((size_t) p->width * (size_t) p->height, sizeof *measures);

  for (int v = 0; v < rows; v++)
    for (int u = 0; u < columns; u++)
      if (has_texture (p, u, v))
        cells[v * columns + u] = distinctness (p, stereo_cell_pixel (u, p->width), stereo_cell_pixel (v, p->height));
  for (int y = 0; y < p->height; y++)
    for (int x = 0; x < p->width; x++) {
      NaiveMeasures *at = &measures[(size_t) y * (size_t) p->width + (size_t) x];
      at->agreement = (uint8_t) agreement (p, x, y);
      at->distinctness = (uint8_t) mean_distinctness (p, cells, x, y);
    }
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
      float probability = stereo_probability (
          &table, at->agreement, at->distinctness, p->view[STEREO_LEFT].index[naive_map (p, x, y)], p->disparities - 1);
      p->view[STEREO_LEFT].confidence[naive_map (p, x, y)] = probability;
      if (probability < (float) stereo_params_first_threshold (&p->params))
        p->disparity[naive_map (p, x, y)] = NAN;
    }
  free (measures);
}
