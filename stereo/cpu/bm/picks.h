/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Block matching picks the lowest costs of each row at once. A pixel of the right view has candidates in neighbouring
 * tiles. Each tile leaves the keys that it found for it, and when all are done, they are merged.
 */
#ifndef STEREO_CPU_BM_PICKS_H
#define STEREO_CPU_BM_PICKS_H

#include "stereo/cpu/bm/layer.h"

typedef struct BmPicks
{
  uint32_t *left;  /* lines of each thread */
  uint32_t *right; /* two lines of keys for each row and tile */
} BmPicks;

/* Where bm_picks() says so, the stage calls: */
StereoStatus CPU (bm_picks_reserve) (StereoPlan *plan, BmPicks *picks, StereoError *error);
/* When all costs of row @y are made, in the tile of @layer. */
void CPU (bm_picks_row) (const BmLayer *layer, int y);
/* When all tiles of row @y are done. */
void CPU (bm_picks_merge) (StereoPlan *plan, const BmPicks *picks, int y, int thread);

#endif
