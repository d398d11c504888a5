/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The largest of what several threads bring to a place. */
#ifndef STEREO_CPU_MOTION_LARGEST_H
#define STEREO_CPU_MOTION_LARGEST_H

#include <stdint.h>

static inline void
cpu_keep_largest (uint32_t *place, uint32_t word)
{
  uint32_t before = __atomic_load_n (place, __ATOMIC_RELAXED);

  while (before < word && !__atomic_compare_exchange_n (place, &before, word, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    continue;
}

#endif
