/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * How far it is from each pixel, along each ray of stereo/exact/fill.h, to the first pixel that has a disparity.
 *
 * Two steps on, a ray goes on as the ray of the pixel there does. So a row follows from a row that is done: the distance is
 * one or two steps, or two more than from the pixel two steps on. The rays along the row itself are left to the caller, who
 * sees where a hole begins and ends.
 */
#ifndef STEREO_CPU_POST_RAYS_H
#define STEREO_CPU_POST_RAYS_H

#include "stereo/cpu/cpu.h"
#include "stereo/exact/fill.h"

#define CPU_RAY_BACK (STEREO_FILL_RAYS / 2)      /* along the row, as ray 0; to the left */
#define CPU_RAYS_MEASURED (STEREO_FILL_RAYS - 2) /* all others */
#define CPU_RAY_BEYOND (STEREO_FILL_STEPS + 1)   /* steps where a ray meets nothing */
#define CPU_RAY_HOLE UINT8_MAX                   /* more than any step */
#define CPU_RAY_BORDER 2 /* columns on both sides of a row, at least what a ray goes in two steps */

typedef struct CpuRays
{
  uint8_t *holes; /* rows: CPU_RAY_HOLE where a pixel has no disparity, else 0 */
  uint8_t *steps; /* such rows for each ray that is measured: 1..CPU_RAY_BEYOND */
  uint8_t *none;  /* two rows as they would be outside: of holes, of steps */
  int pitch;
} CpuRays;

/* The ray that comes @k-th among those that are measured. */
static inline int
cpu_measured_ray (int k)
{
  return k + 1 < CPU_RAY_BACK ? k + 1 : k + 2;
}

/* Steps of that ray from the pixels of row @y. */
static inline uint8_t *
cpu_ray_steps (const StereoPlan *plan, const CpuRays *rays, int k, int y)
{
  return rays->steps + ((size_t) k * (size_t) plan->height + (size_t) y) * (size_t) rays->pitch + CPU_RAY_BORDER;
}

StereoStatus CPU (rays_reserve) (StereoPlan *plan, CpuRays *rays, StereoError *error);
/* From plan->disparity, on all threads. */
void CPU (rays_measure) (StereoPlan *plan, CpuRays *rays);

#endif
