/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Candidates of a search from coarse to fine. The views at half the size are searched at every disparity; the full size looks at
 * those disparities alone that the half size found nearby. Candidates come in groups of consecutive disparities, and all pixels
 * of a tile have the same list of groups: within a tile costs and paths are as dense as those of a full search.
 *
 * A pixel of the half size, at index v, votes for the groups that hold the disparities 2 below and 2 above its own. The
 * winners before and after the paths both vote: paths remove thin things. The groups with the most votes form the list.
 *
 * A path over lists crosses a stretch of the picture, not all of it: its costs soon forget where it came from, and stretches can be
 * computed at the same time. Of the tiles of a line a path has stretches of about equal length, counted along its way. It begins two
 * tiles before its stretch, as it begins at the border of the picture.
 *
 * A list holds what the half size found nearby, so that a wrong candidate often has a partner that agrees, and no rival but its
 * neighbours. What exact/confidence.h measures is therefore measured differently. A pixel agrees only if both winners of the half
 * size lie near as well, which were chosen from more candidates. And the rival is the best candidate at some distance, a minimum or
 * not; where the list has none so far away, at a smaller one. Where the chosen candidate costs no less than chance, its distinctness
 * counts half: of the census bits of two places that have nothing in common, such as the noise of a blank sky, half differ.
 */
#ifndef STEREO_EXACT_LISTS_H
#define STEREO_EXACT_LISTS_H

#include "stereo/exact/confidence.h"

#define STEREO_TILE 16       /* px; side of a tile */
#define STEREO_GROUP 4       /* disparities of a group; group g holds the indices from 4 g on */
#define STEREO_TILE_GROUPS 8 /* groups of a tile, at most */
#define STEREO_SLOTS (STEREO_GROUP * STEREO_TILE_GROUPS) /* candidates of a pixel, at most */
#define STEREO_NO_GROUP 0xFFFF
#define STEREO_VOTE_AROUND 2       /* px of the half size around a tile that vote for it as well */
#define STEREO_VOTES_AFTER 2       /* votes of the winner after the paths; the one before them has one */
#define STEREO_VOTES_LEAST 6       /* a group with fewer is listed only if it has the most: winners scatter */
#define STEREO_VOTE_AWAY 2         /* px; how far from the doubled disparity the two groups are looked up */
#define STEREO_AWAY_AFTER 2        /* px, at most, to the doubled disparity after the paths, where the levels agree */
#define STEREO_AWAY_BEFORE 5       /* the same, before the paths */
#define STEREO_LISTED_STEP_P1 4    /* P1 is divided by this where the luma has a step: no rival far away profits */
#define STEREO_LISTED_STEP_P2 3    /* the same of P2 */
#define STEREO_LISTED_RIVAL_AWAY 5 /* px between a candidate and its rival, at least */
#define STEREO_LISTED_RIVAL_LESS_AWAY 3 /* the same, where the list has none so far away */

/* Tiles along a side of @size pixels. */
STEREO_SHARED int
stereo_tiles (int size)
{
  return (size + STEREO_TILE - 1) / STEREO_TILE;
}

#define STEREO_STRETCH_ALONG 24 /* tiles of a row's stretch, at most */
#define STEREO_STRETCH_DOWN 20  /* the same of a column: of a road camera, rows and columns then take equally long */
#define STEREO_STRETCH_BEFORE 2 /* tiles before a stretch in which its path begins */

/* Stretches of a row, or of a column, of @tiles tiles. */
STEREO_SHARED int
stereo_stretches (int row, int tiles)
{
  int most = row ? STEREO_STRETCH_ALONG : STEREO_STRETCH_DOWN;
  return (tiles + most - 1) / most;
}

/* Tiles of a stretch; the last one may have fewer. */
STEREO_SHARED int
stereo_stretch_length (int row, int tiles)
{
  int stretches = stereo_stretches (row, tiles);
  return (tiles + stretches - 1) / stretches;
}

/* The smallest disparity that the half size searches, and how many. */
STEREO_SHARED int
stereo_half_min (int min_disparity)
{
  return min_disparity >= 0 ? min_disparity / 2 : -((1 - min_disparity) / 2);
}

STEREO_SHARED int
stereo_half_count (int min_disparity, int disparities)
{
  return (min_disparity + disparities - 1 - 2 * stereo_half_min (min_disparity)) / 2 + 1;
}

/* The group that index @v of the half size votes for, @away from its doubled disparity; groups outside the search are those at its
 * ends. */
STEREO_SHARED int
stereo_vote (int v, int away, int min_disparity, int disparities)
{
  int index = 2 * (stereo_half_min (min_disparity) + v) - min_disparity + away;
  index = index < 0 ? 0 : index > disparities - 1 ? disparities - 1 : index;
  return index / STEREO_GROUP;
}

/* stereo_distinctness() of a candidate in a list. @before: its cost before the paths; @chance: StereoLists has it. */
STEREO_SHARED uint32_t
stereo_listed_distinctness (uint32_t cost, uint32_t rival, int before, int chance)
{
  uint32_t distinctness = stereo_distinctness (cost, rival);
  return before < chance ? distinctness : distinctness / 2;
}

/* Whether candidate @index lies near the doubled disparities of the half size's winners: @after the paths, @before them. */
STEREO_SHARED int
stereo_levels_agree (int index, int after, int before, int min_disparity)
{
  int from_zero = index - (2 * stereo_half_min (min_disparity) - min_disparity);
  int away = from_zero - 2 * after, away_before = from_zero - 2 * before;

  return (after != (int) STEREO_INVALID) & (before != (int) STEREO_INVALID) & (away <= STEREO_AWAY_AFTER) &
      (away >= -STEREO_AWAY_AFTER) & (away_before <= STEREO_AWAY_BEFORE) & (away_before >= -STEREO_AWAY_BEFORE);
}

#endif
