/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Plainly: views averaged over time. */
#include "naive.h"

#include <stdlib.h>

static int
clamp (int value, int top)
{
  return value < 0 ? 0 : value > top ? top : value;
}

/* From the past to the present luma of a pixel, in 1/64 of a grey level. */
static int
change_at (const StereoPlan *p, int view, int x, int y)
{
  const StereoPast *past = &p->past[view];
  size_t at = naive_map (p, x, y);

  return stereo_temporal_change (
      p->view[view].luma[naive_image (p, x, y)], past->channel[0][at], past->channel[1][at], past->channel[2][at]);
}

static int32_t
noise_of (const StereoPlan *p, int view)
{
  uint32_t changes[STEREO_TEMPORAL_BINS] = { 0 }, curvatures[STEREO_TEMPORAL_BINS] = { 0 };

  for (int y = 0; y < p->height; y += STEREO_TEMPORAL_STEP)
    for (int x = 0; x < p->width; x += STEREO_TEMPORAL_STEP) {
      const uint8_t *luma = p->view[view].luma + naive_image (p, x, y);
      int count = p->past[view].count[naive_map (p, x, y)];
      if (!stereo_temporal_shows (*luma))
        continue;
      if (count)
        changes[stereo_temporal_bin (change_at (p, view, x, y), count)]++;
      if (x && y && x + 1 < p->width && y + 1 < p->height)
        curvatures[stereo_temporal_curvature (luma - p->image_pitch, luma, luma + p->image_pitch)]++;
    }
  return stereo_temporal_noise (stereo_temporal_quartile (changes), stereo_temporal_quartile (curvatures));
}

static void
blend (StereoPlan *p, int view, int x, int y, int32_t count)
{
  const StereoPast *past = &p->past[view];
  size_t at = naive_map (p, x, y), place = naive_image (p, x, y);
  uint32_t color = 0;

  for (int c = 0; c < 3; c++) {
    int sample = p->view[view].color[place] >> 8 * c & 0xFF, held = past->color[at] >> 8 * c & 0xFF;
    int average = stereo_temporal_blend (past->channel[c][at], sample, stereo_temporal_share (count));
    past->channel[c][at] = (uint16_t) average;
    color |= (uint32_t) stereo_temporal_hold (average, held) << 8 * c;
  }
  past->count[at] = (uint8_t) count;
  past->color[at] = p->view[view].color[place] = color;
  p->view[view].luma[place] = (uint8_t) ((77 * (color & 255) + 150 * (color >> 8 & 255) + 29 * (color >> 16) + 128) >> 8);
}

static int
larger (int a, int b)
{
  return a > b ? a : b;
}

/* The frames of a pixel's new average: as the least willing of nine windows says. */
static int32_t
count_frames (const StereoPlan *p, int view, int x, int y, int32_t noise, int most)
{
  int count = p->past[view].count[naive_map (p, x, y)], largest_sum = 0, largest_sizes = 0;

  for (int window = 0; window < 9; window++) {
    int column = x + (window % 3 - 1) * STEREO_TEMPORAL_AWAY, row = y + (window / 3 - 1) * STEREO_TEMPORAL_AWAY;
    int sum = 0, sizes = 0;
    if (column < 0 || column >= p->width || row < 0 || row >= p->height)
      continue;
    for (int dy = -STEREO_TEMPORAL_RADIUS; dy <= STEREO_TEMPORAL_RADIUS; dy++)
      for (int dx = -STEREO_TEMPORAL_RADIUS; dx <= STEREO_TEMPORAL_RADIUS; dx++) {
        int change = change_at (p, view, clamp (column + dx, p->width - 1), clamp (row + dy, p->height - 1));
        sum += change;
        sizes += abs (change);
      }
    largest_sum = larger (largest_sum, abs (sum));
    largest_sizes = larger (largest_sizes, sizes);
  }
  return stereo_temporal_count (count, stereo_temporal_weight (largest_sum, largest_sizes, count, noise), most);
}

void
naive_temporal (StereoPlan *p)
{
  int most = stereo_temporal_most (p->params.temporal);
  int *counts = naive_allocate ((size_t) p->width * (size_t) p->height, sizeof *counts);

  for (int view = 0; view < 2; view++) {
    int32_t noise = noise_of (p, view);
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++)
        counts[y * p->width + x] = count_frames (p, view, x, y, noise, most);
    for (int y = 0; y < p->height; y++)
      for (int x = 0; x < p->width; x++)
        blend (p, view, x, y, counts[y * p->width + x]);
  }
  free (counts);
}
