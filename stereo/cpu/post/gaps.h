/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What fill=gaps leaves without a value: ../../exact/gaps.h. Found before pixels are filled, and emptied after. */
#ifndef STEREO_CPU_POST_GAPS_H
#define STEREO_CPU_POST_GAPS_H

#include "stereo/cpu/cpu.h"
#include "stereo/exact/gaps.h"

/* Maps have a byte for each cell, in rows of @columns. */
typedef struct CpuGaps
{
  uint8_t *sure;        /* pixels of a cell, 0..16 */
  uint8_t *bare;        /* the middle of a bare square */
  uint8_t *hole, *none; /* it is in a small bare square; it gets no value */
  uint8_t *open[2];     /* of the ray that is followed, and of all: how many leave the picture at its top */
  int32_t *sums;        /* of a map, of all cells above and to the left; a row and a column more */
  int columns, rows;
} CpuGaps;

StereoStatus CPU (gaps_reserve) (StereoPlan *plan, CpuGaps *gaps, StereoError *error);
void CPU (gaps_find) (StereoPlan *plan, CpuGaps *gaps);
void CPU (gaps_empty) (StereoPlan *plan, CpuGaps *gaps);

#endif
