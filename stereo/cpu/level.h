/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The instruction sets that the stages are compiled for. */
#ifndef STEREO_CPU_LEVEL_H
#define STEREO_CPU_LEVEL_H

typedef enum CpuLevel
{
  CPU_LEVEL_BASELINE,
  CPU_LEVEL_AVX2,
  CPU_LEVEL_AVX512
} CpuLevel;

/* The best one that this processor has. STEREO_CPU=baseline or avx2 limits it, for tests. */
CpuLevel stereo_cpu_level (void);

#endif
