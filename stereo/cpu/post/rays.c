/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stereo/cpu/post/rays.h"

#include <math.h>

static_assert (CPU_RAY_BEYOND < UINT8_MAX - 1, "steps are bytes");

static uint8_t *
holes_row (const StereoPlan *plan, const CpuRays *rays, int y)
{
  if (y < 0 || y >= plan->height)
    return rays->none + CPU_RAY_BORDER;
  return rays->holes + (size_t) y * (size_t) rays->pitch + CPU_RAY_BORDER;
}

static uint8_t *
steps_row (const StereoPlan *plan, const CpuRays *rays, int k, int y)
{
  return y < 0 || y >= plan->height ? rays->none + rays->pitch + CPU_RAY_BORDER : cpu_ray_steps (plan, rays, k, y);
}

/* Sets the columns outside the picture. */
static void
close_row (uint8_t *row, int width, int value)
{
  memset (row - CPU_RAY_BORDER, value, CPU_RAY_BORDER);
  memset (row + width, value, CPU_RAY_BORDER);
}

static void
find_holes (StereoPlan *plan, void *context, int y, int thread)
{
  const CpuRays *rays = context;
  const float *restrict disparity = plan->disparity + (size_t) y * (size_t) plan->map_pitch;
  uint8_t *restrict holes = holes_row (plan, rays, y);

  for (int x = 0; x < plan->width; x++)
    holes[x] = isnan (disparity[x]) ? CPU_RAY_HOLE : 0;
  close_row (holes, plan->width, CPU_RAY_HOLE);
}

static inline uint8_t
lesser (uint8_t a, uint8_t b)
{
  return a < b ? a : b;
}

/* @one and @two: of the pixels one and two steps on; @from: how far it is from the latter. All that is computed fits a byte, so
 * that a vector has as many pixels as bytes. */
static void
step_row (const uint8_t *restrict one, const uint8_t *restrict two, const uint8_t *restrict from, uint8_t *restrict to,
    int width)
{
  for (int x = 0; x < width; x++) {
    uint8_t first = one[x] | 1, second = two[x] | 2, beyond = lesser ((uint8_t) (from[x] + 2), CPU_RAY_BEYOND);
    to[x] = lesser (first, lesser (second, beyond));
  }
}

/* All rows, from the side that the ray goes to. */
static void
measure_ray (StereoPlan *plan, void *context, int k, int thread)
{
  const CpuRays *rays = context;
  int ray = cpu_measured_ray (k), along = stereo_ray_x (ray), down = stereo_ray_y (ray);
  int x1 = stereo_ray_offset (1, along), x2 = stereo_ray_offset (2, along);
  int y1 = stereo_ray_offset (1, down), y2 = stereo_ray_offset (2, down);

  for (int row = 0; row < plan->height; row++) {
    int y = down > 0 ? plan->height - 1 - row : row;
    uint8_t *to = steps_row (plan, rays, k, y);
    step_row (holes_row (plan, rays, y + y1) + x1, holes_row (plan, rays, y + y2) + x2,
        steps_row (plan, rays, k, y + y2) + x2, to, plan->width);
    close_row (to, plan->width, CPU_RAY_BEYOND);
  }
}

StereoStatus
CPU (rays_reserve) (StereoPlan *plan, CpuRays *rays, StereoError *error)
{
  StereoStatus status;
  size_t rows;

  rays->pitch = plan->width + 2 * CPU_RAY_BORDER;
  rows = stereo_times ((size_t) plan->height, (size_t) rays->pitch);
  if ((status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &rays->holes, rows, 1, error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &rays->none, (size_t) rays->pitch, 2, error)))
    return status;
  return stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &rays->steps, rows, CPU_RAYS_MEASURED, error);
}

void
CPU (rays_measure) (StereoPlan *plan, CpuRays *rays)
{
  memset (rays->none, CPU_RAY_HOLE, (size_t) rays->pitch);
  memset (rays->none + rays->pitch, CPU_RAY_BEYOND, (size_t) rays->pitch);
  cpu_run (plan, rays, find_holes, plan->height);
  cpu_run (plan, rays, measure_ray, CPU_RAYS_MEASURED);
}
