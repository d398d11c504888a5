/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matching costs of pixel pairs, a row of the left view at a time. */
#ifndef STEREO_CPU_MATCH_H
#define STEREO_CPU_MATCH_H

#include "stereo/cpu/cpu.h"

/* Raw costs of row @y, columns 0..width - 1, indices i0..i0 + count - 1 (count is a multiple of 16), to
 * out[x * pitch + i - i0]. Candidates that do not exist get any value. */
typedef void (*CpuCostRow) (const StereoPlan *plan, int y, int i0, int count, int pitch, uint8_t *out);

/* NULL if @cost (StereoCost) is no cost of pixel pairs. */
CpuCostRow CPU (cost_row) (int cost);

#endif
