/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What fill=gaps leaves without a value: ../../exact/gaps.h. Maps of bytes, 0 or 1, have a border of zeros on both sides, in which rays
 * that leave the picture end. */
#include "stereo/cpu/post/gaps.h"

#define BORDER 2 /* columns; what a ray goes in two steps */
#define BAND 32  /* rows whose sums follow from each other */

/* Whether the pixels of @to have more than @most pixels of @from within @radius, or (@few) no more. */
typedef struct Squares
{
  const CpuGaps *context;
  const uint8_t *from;
  uint8_t *to;
  int radius, most, few;
} Squares;

static size_t
row_at (const CpuGaps *c, int y)
{
  return (size_t) y * (size_t) c->pitch + BORDER;
}

static void
find_sure (StereoPlan *plan, void *context, int y, int thread)
{
  const CpuGaps *c = context;
  const float *confidence = plan->view[STEREO_LEFT].confidence + (size_t) y * (size_t) plan->map_pitch;
  const float *disparity = plan->disparity + (size_t) y * (size_t) plan->map_pitch;
  float least = stereo_params_sure (&plan->params);
  uint8_t *to = c->sure + row_at (c, y);

  for (int x = 0; x < plan->width; x++)
    to[x] = !isnan (disparity[x]) & (confidence[x] >= least);
}

static void
sum_row (StereoPlan *plan, void *context, int y, int thread)
{
  const Squares *s = context;
  const uint8_t *from = s->from + row_at (s->context, y);
  uint16_t *to = s->context->along + row_at (s->context, y);
  int width = plan->width, sum = 0;

  for (int x = 0; x < s->radius && x < width; x++)
    sum += from[x];
  for (int x = 0; x < width; x++) {
    sum += x + s->radius < width ? from[x + s->radius] : 0;
    to[x] = (uint16_t) sum;
    sum -= x >= s->radius ? from[x - s->radius] : 0;
  }
}

/* Adds a row of sums, or (@sign -1) takes it away; nothing outside the picture. */
static void
add_row (const StereoPlan *plan, const CpuGaps *c, int y, int sign, int32_t *restrict sums)
{
  const uint16_t *restrict along = c->along + row_at (c, y);

  for (int x = 0; y >= 0 && y < plan->height && x < plan->width; x++)
    sums[x] += sign * along[x];
}

static void
judge_band (StereoPlan *plan, void *context, int band, int thread)
{
  const Squares *s = context;
  const CpuGaps *c = s->context;
  int first = band * BAND, end = first + BAND < plan->height ? first + BAND : plan->height;
  int32_t *sums = c->sums + (size_t) thread * (size_t) c->pitch;

  memset (sums, 0, (size_t) plan->width * sizeof *sums);
  for (int y = first - s->radius; y < first + s->radius; y++)
    add_row (plan, c, y, 1, sums);
  for (int y = first; y < end; y++) {
    uint8_t *restrict to = s->to + row_at (c, y);
    add_row (plan, c, y + s->radius, 1, sums);
    for (int x = 0; x < plan->width; x++)
      to[x] = (sums[x] <= s->most) == s->few;
    add_row (plan, c, y - s->radius, -1, sums);
  }
}

static void
judge_squares (StereoPlan *plan, Squares squares)
{
  cpu_run (plan, &squares, sum_row, plan->height);
  cpu_run (plan, &squares, judge_band, (plan->height + BAND - 1) / BAND);
}

/* The pixels of bare squares. */
static void
find_bare (StereoPlan *plan, const CpuGaps *c, StereoGapsSquare square, uint8_t *to)
{
  int radius = stereo_gaps_radius (square, plan->width), most = stereo_gaps_most (square, plan->width);

  judge_squares (plan, (Squares){ c, c->sure, c->bare, radius, most, 1 });
  judge_squares (plan, (Squares){ c, c->bare, to, radius, 0, 0 });
}

static uint8_t *
open_row (const StereoPlan *plan, const CpuGaps *c, int ray, int y)
{
  return c->open + ((size_t) ray * (size_t) plan->height + (size_t) y) * (size_t) c->pitch + BORDER;
}

/* All rows, from the top. Two steps on, a ray goes on as the ray of the pixel there does. */
static void
follow_ray (StereoPlan *plan, void *context, int k, int thread)
{
  const CpuGaps *c = context;
  int along = stereo_ray_x (stereo_gaps_ray (k)), down = stereo_ray_y (stereo_gaps_ray (k));
  int x1 = stereo_ray_offset (1, along), y1 = stereo_ray_offset (1, down);

  for (int y = 0; y < plan->height; y++) {
    const uint8_t *restrict own = c->hole + row_at (c, y);
    const uint8_t *restrict one = y + y1 < 0 ? c->top + BORDER : c->hole + row_at (c, y + y1);
    const uint8_t *restrict two = y + down < 0 ? c->top + BORDER : open_row (plan, c, k, y + down);
    uint8_t *restrict to = open_row (plan, c, k, y);
    for (int x = 0; x < plan->width; x++)
      to[x] = own[x] & one[x + x1] & two[x + along];
  }
}

static void
empty_row (StereoPlan *plan, void *context, int y, int thread)
{
  const CpuGaps *c = context;
  const uint8_t *restrict inner = c->inner + row_at (c, y), *restrict open = open_row (plan, c, 0, y);
  float *restrict to = plan->disparity + (size_t) y * (size_t) plan->map_pitch;
  size_t next = (size_t) plan->height * (size_t) c->pitch;

  for (int x = 0; x < plan->width; x++) {
    int count = 0;
    for (size_t k = 0; k < STEREO_GAPS_RAYS; k++)
      count += open[k * next + (size_t) x];
    to[x] = inner[x] || count >= STEREO_GAPS_OPEN ? NAN : to[x];
  }
}

static void
clear_border (StereoPlan *plan, void *context, int y, int thread)
{
  const CpuGaps *c = context;
  uint8_t *maps[STEREO_GAPS_RAYS + 1] = { c->hole + row_at (c, y) };

  for (int k = 0; k < STEREO_GAPS_RAYS; k++)
    maps[k + 1] = open_row (plan, c, k, y);
  for (int k = 0; k <= STEREO_GAPS_RAYS; k++) {
    memset (maps[k] - BORDER, 0, BORDER);
    memset (maps[k] + plan->width, 0, BORDER);
  }
}

StereoStatus
CPU (gaps_reserve) (StereoPlan *plan, CpuGaps *c, StereoError *error)
{
  StereoStatus status;
  size_t count;

  c->pitch = plan->width + 2 * BORDER;
  count = stereo_times ((size_t) c->pitch, (size_t) plan->height);
  if ((status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->sure, count, 1, error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->bare, count, 1, error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->hole, count, 1, error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->inner, count, 1, error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->open, count, STEREO_GAPS_RAYS, error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->top, (size_t) c->pitch, 1, error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->along, count, sizeof (uint16_t), error)))
    return status;
  return stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->sums,
      (size_t) c->pitch * (size_t) cpu_threads (plan), sizeof (int32_t), error);
}

void
CPU (gaps_find) (StereoPlan *plan, CpuGaps *c)
{
  memset (c->top, 1, (size_t) c->pitch);
  cpu_run (plan, c, clear_border, plan->height);
  cpu_run (plan, c, find_sure, plan->height);
  find_bare (plan, c, STEREO_GAPS_LARGE, c->inner);
  find_bare (plan, c, STEREO_GAPS_SMALL, c->hole);
  cpu_run (plan, c, follow_ray, STEREO_GAPS_RAYS);
}

void
CPU (gaps_empty) (StereoPlan *plan, CpuGaps *c)
{
  cpu_run (plan, c, empty_row, plan->height);
}
