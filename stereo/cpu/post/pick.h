/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What later steps want to know of the costs of a row, taken while they are in the cache of the thread that made them: the two
 * lowest of every pixel of both views and, where no later step reads costs, sub-pixel offsets and distinctness too. The
 * select stage does the first part by itself where the stage before it does not, and stays its plain twin.
 */
#ifndef STEREO_CPU_POST_PICK_H
#define STEREO_CPU_POST_PICK_H

#include "stereo/cpu/cpu.h"

/*
 * Lines of keys, a row's lowest and second-lowest. A key is cost << 16 | index: the lower one of two keys has the lower cost,
 * and on a tie the smaller disparity. Column x of the left view is at [x]; of the right view at [x], and there is room for
 * candidates outside it.
 */
typedef struct CpuPicks
{
  uint32_t *left1, *left2, *right1, *right2;
} CpuPicks;

/* Words of the lines of a row, and the lines in @memory. */
static inline size_t
cpu_picks_words (const StereoPlan *plan)
{
  return 4 * (size_t) plan->image_pitch;
}

static inline CpuPicks
cpu_picks_in (const StereoPlan *plan, uint32_t *memory)
{
  size_t pitch = (size_t) plan->image_pitch;
  uint32_t *right = memory + 2 * pitch + plan->image_pad;
  return (CpuPicks){ memory, memory + pitch, right, right + pitch };
}

/* Forgets the right view's keys; the left view's need no beginning. */
static inline void
cpu_picks_begin (const StereoPlan *plan, CpuPicks *picks)
{
  memset (picks->right1 - plan->image_pad, 0xFF, 2 * (size_t) plan->image_pitch * sizeof *picks->right1);
}

/* The keys of columns @from..@to - 1; @costs are those of column @from. Without @right2, the right view's second-lowest keys are
 * not made. Up to 16 costs before and behind these are read. */
void CPU (pick_columns) (const StereoPlan *plan, const CpuPicks *picks, const uint16_t *costs, int from, int to);

/* What the keys of columns @from..@to - 1 of row @y say, to the maps of a view. Without @keys2, to its index alone. */
void CPU (pick_store) (const StereoPlan *plan, const StereoView *view, int y, int from, int to, const uint32_t *keys1,
    const uint32_t *keys2);

/* Disparity, with its offset if the parameters want one, and distinctness of columns @from..@to - 1 of row @y, from the index
 * that is stored. Only without plan->fusion.keeps_costs. */
void CPU (pick_measures) (const StereoPlan *plan, const uint16_t *costs, int y, int from, int to);

/* Of @count pixels whose costs are given, the candidate of the lowest cost; of equal ones the first. Or STEREO_INVALID. */
void CPU (pick_lowest) (const StereoPlan *plan, const uint16_t *costs, int count, uint16_t *index);

/* All of this for row @y, whose costs are in the volume; @keys: cpu_picks_words(). */
void CPU (pick_row) (const StereoPlan *plan, uint32_t *keys, int y);

/* Disparities of up to 16 columns whose indices and costs are given. */
void CPU (fit_columns) (const StereoPlan *plan, const uint16_t *index, const uint16_t *costs, int count, float *to);

/* stereo_distinctness() of the candidate @index of a pixel. */
uint32_t CPU (distinctness) (const StereoPlan *plan, const uint16_t *costs, int index);

#endif
