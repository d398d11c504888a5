/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The CPU backend. backend.c is compiled once; the stage files are compiled once for
 * every instruction set worth it (see stereo/meson.build), each time with another CPU_ISA, and
 * backend.c takes the table of the best one the processor has.
 */
#ifndef STEREO_CPU_H
#define STEREO_CPU_H

#include "stereo/engine/backend.h"

#define CPU_LINE_PAD 64         /* columns before and after a line copied for filtering: half of the largest window */

/* esaw, esmp: see esaw.c */
typedef struct CpuExponential
{
  uint16_t *volume;             /* the second one */
  uint16_t *scratch;            /* per thread */
  const struct StereoTaps *taps;        /* of the iteration at work */
  int iteration;
  void (*message) (void);
} CpuExponential;

/* What a stage keeps per plan; every pointer is a reservation in the arena. */
typedef struct CpuState
{
  StereoPool *pool;
  int threads;
  float *asw_scratch;           /* per thread: see asw.c */
  size_t asw_stride;            /* floats per thread */
  uint8_t *sgm_costs;           /* [y][x][i]: raw costs, made on the way down, read again on the way up */
  uint16_t *sgm_rows;           /* paths' costs of the rows at hand: see sgm.c */
  int *sgm_progress;            /* columns of each band of rows that a sweep has finished */
  uint8_t *bm_scratch;          /* per thread: see bm.h */
  CpuExponential exponential;
  uint16_t *select_scratch;     /* per thread: lowest and second cost and index along a right row */
  float *refine_sum[2];         /* maps: vertical sums of w F and w F D */
  float *refine_scratch;        /* per thread: padded lines */
  float *idr_scratch;           /* per thread: histograms */
  size_t idr_stride;
  uint16_t *idr_index[2];       /* maps of the previous iteration */
  float *idr_confidence[2];
  int32_t *speckle_label, *speckle_size;
  uint64_t *row_valid, *row_confidence; /* per row: valid samples, sum of confidence bytes */
  uint64_t marks[STEREO_MARKS]; /* ns */
} CpuState;

static inline CpuState *
cpu_state (const StereoPlan *plan)
{
  return (CpuState *) plan->state;
}

static inline void
cpu_run (StereoPlan *plan, StereoJob job, int items)
{
  stereo_pool_run (cpu_state (plan)->pool, plan, job, items);
}

/* The best instruction set here and now that the stages were compiled for. */
typedef enum CpuLevel { CPU_LEVEL_BASELINE, CPU_LEVEL_AVX2, CPU_LEVEL_AVX512 } CpuLevel;
CpuLevel stereo_cpu_level (void);

/* ---- stages ------------------------------------------------------------------------------- */

#define CPU_PASTE_(a, b) a##_##b
#define CPU_PASTE(a, b) CPU_PASTE_ (a, b)
#define CPU(name) CPU_PASTE (stereo_cpu_##name, CPU_ISA)

#ifdef CPU_ISA
extern const StereoStageTable CPU (table);

extern const StereoStage CPU (load), CPU (census_7x5), CPU (census_9x7), CPU (mixed);
extern const StereoStage CPU (select), CPU (reselect), CPU (check);
extern const StereoStage CPU (refine_two_pass), CPU (refine_full), CPU (refine_idr);
extern const StereoStage CPU (subpixel), CPU (integer), CPU (reject), CPU (speckle), CPU (fill);
extern const StereoStage CPU (median3), CPU (median5), CPU (threshold), CPU (store);
const StereoStage *CPU (asw) (const StereoParams *params);
const StereoStage *CPU (sgm) (const StereoParams *params);
const StereoStage *CPU (bm) (const StereoParams *params);
const StereoStage *CPU (esaw) (const StereoParams *params);
const StereoStage *CPU (esmp) (const StereoParams *params);

/* Raw costs of row @y, columns 0..width-1, indices i0..i0+count-1 (count a multiple of 16), to
 * out[x * pitch + i - i0]. Invalid candidates get anything. */
typedef void (*CpuCostRow) (const StereoPlan *plan, int y, int i0, int count, int pitch, uint8_t *out);
CpuCostRow CPU (cost_row) (int cost);
#endif

#endif
