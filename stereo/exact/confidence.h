/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The confidence of a selected disparity: the formulas that every stage of both backends calls. */
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

/*
 * The probability that a disparity is right, from two measures between 0 and 255 and depth edges, which StereoProbability combines.
 *
 * Agreement: the share of the pixels in a window about which the views agree within a pixel (left-right difference, Hu and
 * Mordohai 2012), rounded. Distinctness: how far the cost of the selected candidate lies below that of its rival, as a
 * share of the rival's cost (their peak ratio). The rival is the best other local minimum along the disparity, a candidate
 * that costs no more than either neighbour; where there is none, the best candidate at some distance. It is searched for at
 * one pixel of each cell of a grid. A pixel takes the rounded mean of the cells around it whose luma is like its own, so
 * that sky beside a textured object has the distinctness of the sky. A cell whose pixels all have the same luma, such as an
 * overexposed one, does not count. Where no cell counts, distinctness is 0.
 *
 * At a depth edge pixels are wrong more often. A pixel is at one if two disparities of its cell are more than STEREO_EDGE apart.
 *
 * In a search from coarse to fine, exact/lists.h says what agrees, and what is a rival.
 */
#define STEREO_AGREEMENT_RADIUS 10 /* px; of the window */
#define STEREO_AGREEMENT_MOST 1    /* px by which the views may differ */
#define STEREO_CELL 4              /* px; side of a cell */
#define STEREO_CELLS_AROUND 4      /* cells to each side from which a pixel takes distinctness */
#define STEREO_LIKE_LUMA 8         /* grey levels */
#define STEREO_RIVAL_AWAY 2        /* px between a candidate and its rival, at least */
#define STEREO_NO_RIVAL_AWAY 3     /* the same, of a rival that is no minimum */
#define STEREO_EDGE 2              /* px */

/* The column or row of the pixel that stands for cell @cell of a side of @size pixels. */
STEREO_SHARED int
stereo_cell_pixel (int cell, int size)
{
  int pixel = cell * STEREO_CELL + STEREO_CELL / 2;
  return pixel < size ? pixel : size - 1;
}

/* Cells along a side of @size pixels. */
STEREO_SHARED int
stereo_cells (int size)
{
  return (size + STEREO_CELL - 1) / STEREO_CELL;
}

/* Distinctness of a candidate that costs @cost, with a rival that costs @rival; STEREO_INVALID: it has no rival. */
STEREO_SHARED uint32_t
stereo_distinctness (uint32_t cost, uint32_t rival)
{
  return rival == STEREO_INVALID || rival <= cost ? 0 : 255 * (rival - cost) / rival;
}

#define STEREO_LOGIT_STEPS 32 /* of 1: the step of a term */
#define STEREO_LOGIT_TOP (8 * STEREO_LOGIT_STEPS)

/* A logistic function of the logarithms of both measures, and of edges, in tables: stereo_probability_table(). */
typedef struct StereoProbability
{
  int16_t agreement[256], distinctness[256];   /* terms of the logit, */
  int32_t edge;                                /* and at depth edges */
  float probability[2 * STEREO_LOGIT_TOP + 1]; /* a multiple of 1/255, of the logit from -STEREO_LOGIT_TOP on */
} StereoProbability;

/* @edge: whether the pixel is at one. @index: the candidate. The probability of the last one, @last, is 0: it is no proven
 * minimum, and surfaces that are too near for the search, and many that cannot be matched, get it. */
STEREO_SHARED float
stereo_probability (
    const StereoProbability *table, uint32_t agreement, uint32_t distinctness, int edge, int index, int last)
{
  int logit = table->agreement[agreement] + table->distinctness[distinctness] + (edge ? table->edge : 0);
  logit = logit < -STEREO_LOGIT_TOP ? -STEREO_LOGIT_TOP : logit > STEREO_LOGIT_TOP ? STEREO_LOGIT_TOP : logit;
  return index == last ? 0.0f : table->probability[logit + STEREO_LOGIT_TOP];
}

#endif
