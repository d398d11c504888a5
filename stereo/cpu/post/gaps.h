/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What fill=gaps leaves without a value: ../../exact/gaps.h. Found before pixels are filled, and emptied after. */
#ifndef STEREO_CPU_POST_GAPS_H
#define STEREO_CPU_POST_GAPS_H

#include "stereo/cpu/cpu.h"
#include "stereo/exact/gaps.h"

typedef struct CpuGaps
{
  uint8_t *sure, *bare, *hole, *inner; /* of pixels; middles of bare squares; in a small one; in a large one */
  uint8_t *open;                       /* a map for each ray that goes up: it leaves the picture at its top */
  uint8_t *top;                        /* a row of ones: beyond the top */
  uint16_t *along;                     /* sums of a map along its rows */
  int32_t *sums;                       /* a row for each thread */
  int pitch;
} CpuGaps;

StereoStatus CPU (gaps_reserve) (StereoPlan *plan, CpuGaps *gaps, StereoError *error);
void CPU (gaps_find) (StereoPlan *plan, CpuGaps *gaps);
void CPU (gaps_empty) (StereoPlan *plan, CpuGaps *gaps);

#endif
