/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Matching costs of pixel pairs, a row of the left view at a time. */
#ifndef STEREO_CPU_MATCH_H
#define STEREO_CPU_MATCH_H

#include "stereo/cpu/cpu.h"

/* Raw costs of row @y, columns from..end - 1, indices i0..i0 + count - 1, to out[(x - from) * pitch + i - i0]. Up to 15 bytes are
 * written behind the @count of a column. Candidates that do not exist get any value. */
typedef void (*CpuCostRow) (
    const StereoPlan *plan, int y, int from, int end, int i0, int count, int pitch, uint8_t *out);

/* NULL if @cost (StereoCost) is no cost of pixel pairs. */
CpuCostRow CPU (cost_row) (int cost);

#endif
