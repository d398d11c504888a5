/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tests/support/truth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether a pixel to the right of @x, nearer than it, lands within a pixel of where @x does. */
static int
hidden (const uint16_t *row, int width, int x)
{
  int place = x * TRUTH_STEPS - row[x];

  for (int other = x + 1; other < width && (other - x) * TRUTH_STEPS <= UINT16_MAX; other++)
    if (row[other] > row[x] + TRUTH_STEPS && abs (other * TRUTH_STEPS - row[other] - place) < TRUTH_STEPS)
      return 1;
  return 0;
}

void
truth_visible (const uint16_t *truth, int width, int height, uint8_t *visible)
{
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      const uint16_t *row = truth + (size_t) y * (size_t) width;
      visible[(size_t) y * (size_t) width + (size_t) x] = row[x] && x * TRUTH_STEPS >= row[x] && !hidden (row, width, x);
    }
}

void
truth_near_jump (const uint16_t *truth, int width, int height, int radius, uint8_t *near)
{
  memset (near, 0, (size_t) width * (size_t) height);
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      size_t at = (size_t) y * (size_t) width + (size_t) x;
      int jump = (x + 1 < width && abs (truth[at + 1] - truth[at]) > TRUTH_STEPS) ||
          (y + 1 < height && abs (truth[at + (size_t) width] - truth[at]) > TRUTH_STEPS);
      /* pixel and neighbour are on both sides of it */
      for (int j = y - radius + 1; jump && j <= y + radius; j++)
        for (int i = x - radius + 1; i <= x + radius; i++)
          if (i >= 0 && j >= 0 && i < width && j < height)
            near[(size_t) j * (size_t) width + (size_t) i] = 1;
    }
}

void
truth_score (const uint16_t *truth, const uint8_t *mask, const float *disparity, size_t pixels, TruthScore *score)
{
  for (size_t at = 0; at < pixels; at++) {
    float error = fabsf (disparity[at] - (float) truth[at] / TRUTH_STEPS);
    if (!truth[at] || (mask && !mask[at]))
      continue;
    score->pixels++;
    score->valid += !isnan (disparity[at]);
    score->bad1 += !(error <= 1);
    score->bad2 += !(error <= 2);
  }
}
