/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stereo/cpu/level.h"

#include <stdlib.h>
#include <string.h>

CpuLevel
stereo_cpu_level (void)
{
#ifdef STEREO_CPU_X86
  const char *most = getenv ("STEREO_CPU");
  int level = most && !strcmp (most, "baseline") ? 0 : most && !strcmp (most, "avx2") ? 1 : 2;
  if (level >= 2 && __builtin_cpu_supports ("avx512bw") && __builtin_cpu_supports ("avx512dq") &&
      __builtin_cpu_supports ("avx512vl"))
    return CPU_LEVEL_AVX512;
  if (level >= 1 && __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma"))
    return CPU_LEVEL_AVX2;
#endif
  return CPU_LEVEL_BASELINE;
}
