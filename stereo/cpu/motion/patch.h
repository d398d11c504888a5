/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a patch of a picture is found in another one: the place whose sum of absolute differences is least. */
#ifndef STEREO_CPU_MOTION_PATCH_H
#define STEREO_CPU_MOTION_PATCH_H

#include "stereo/cpu/cpu.h"

#define CPU_PATCH_SIDE (2 * STEREO_MOTION_PATCH + 1)
#define CPU_SEARCH_COLUMNS 32 /* that a search takes from a picture: no row of one has fewer */

/* Where a patch is looked for: @columns x @rows places, the first of them (@x, @y). */
typedef struct CpuSearch
{
  const uint8_t *picture;
  ptrdiff_t pitch;
  int x, y, columns, rows;
} CpuSearch;

typedef struct CpuFound
{
  int x, y;
  int32_t least;
} CpuFound;

/* @patch: its middle. Of equals the first. */
CpuFound CPU (find_patch) (const uint8_t *patch, ptrdiff_t patch_pitch, const CpuSearch *search);

#endif
