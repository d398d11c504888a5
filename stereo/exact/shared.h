/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Limits and special values that the engine and both backends share, and how a formula is declared for both. */
#ifndef STEREO_EXACT_SHARED_H
#define STEREO_EXACT_SHARED_H

#include "stereo/stereo.h"

#include <assert.h>
#include <math.h>

/* A function that CPU code calls, and CUDA code on the host and on the device. */
#ifdef __CUDACC__
#define STEREO_SHARED static __host__ __device__ inline
#else
#define STEREO_SHARED static inline
#endif

/* All indices and sizes are made of these limits: docs/development/limits.md has the table of what they prove. */
#define STEREO_MAX_SIDE 32768       /* px, of a view */
#define STEREO_MAX_DISPARITIES 1024 /* most disparities of a search; min_disparity is within +- this */
#define STEREO_MAX_PITCH (STEREO_MAX_SIDE + 2 * STEREO_MAX_DISPARITIES + 64) /* image_pitch: see measure() in plan.c */

#define STEREO_INVALID 0xFFFFu  /* cost of a candidate outside the right image; index that means "no disparity" */
#define STEREO_COST_TOP 0xFFFEu /* largest cost of a real candidate */
#define STEREO_EXPECT_STEPS 64  /* steps per pixel of the expected disparity (StereoView.expected) */
#define STEREO_EXPECT_NONE (-1) /* no pixel of the window is trusted: there is no expected disparity */
#define STEREO_LOG2E 1.4426950408889634 /* exp (x) = 2^(x * this): gammas become base-2 factors (4.4.1) */

enum
{
  STEREO_LEFT,
  STEREO_RIGHT
};

#endif
