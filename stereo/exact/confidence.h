/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The confidence of a selected disparity: the one formula that every stage of both backends calls. */
#ifndef STEREO_EXACT_CONFIDENCE_H
#define STEREO_EXACT_CONFIDENCE_H

#include "stereo/exact/shared.h"

/* F = (c2 - c1) / c2 (Hillerstrom 2017, 3.2.3) of the lowest and the second-lowest cost: 0..1. Two costs of 0 say
 * nothing about the match: F is 0. A pixel with one candidate has confidence 0, and this is not called. */
STEREO_SHARED float
stereo_confidence (uint32_t lowest, uint32_t second)
{
  if (second == 0)
    return 0.0f;
  return (float) (second - lowest) / (float) second;
}

#endif
