/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What follows from the true disparity of a left view: which pixels the right view sees too, and scores. */
#ifndef TRUTH_H
#define TRUTH_H

#include <stddef.h>
#include <stdint.h>

#define TRUTH_STEPS 64 /* a truth is a disparity times this; 0 = unknown */

/* 1 where the right view shows the same spot: it lies in the picture, and nothing nearer is before it. */
void truth_visible (const uint16_t *truth, int width, int height, uint8_t *visible);
/* 1 where the disparity jumps by more than a pixel within @radius pixels, across or down. */
void truth_near_jump (const uint16_t *truth, int width, int height, int radius, uint8_t *near);

typedef struct TruthScore
{
  size_t pixels, valid, bad1, bad2; /* bad: off by more than 1 or 2 pixels, or invalid */
} TruthScore;

/* Adds the pixels where @mask (NULL: all) is not 0; @disparity in pixels, not-a-number where invalid. */
void truth_score (const uint16_t *truth, const uint8_t *mask, const float *disparity, size_t pixels, TruthScore *score);

#endif
