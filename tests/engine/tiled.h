/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Large pictures that repeat a tile, so that the same tiles, three by three at most, say what their result has to be:
 * what an inner tile gets depends on its neighbours alone, and what one at the border gets on these and the border.
 *
 * For paths, which have no reach, the last rows and columns of a tile are a wall: noise that both views share, so that
 * disparity 0 costs nothing there and hardly another candidate less than a penalty of 1 (p1 and p2 of 1, in units of
 * the mixed cost). After two pixels where none does, a path's costs are the same whatever it came from.
 */
#ifndef ENGINE_TILED_H
#define ENGINE_TILED_H

#include "tests/support/check.h"
#include "tests/support/random.h"
#include "stereo/engine/backend.h"

/* A shape, in tiles of @width x @height pixels. Where it repeats, a tile is longer than the search and twice all reach
 * together along x, than all reach along y. */
typedef struct TiledShape
{
  int width, height;
  int across, down;
  int min, num; /* disparities */
} TiledShape;

/* Both views, three bytes a pixel. */
typedef struct Tiled
{
  TiledShape shape;
  int width, height; /* of a view, px */
  ptrdiff_t stride;
  uint8_t *view[2];
  float *disparity;
  uint8_t *confidence;
  void *mapping[4];
  size_t size[4];
} Tiled;

/* What is left of @shape when only what is different is kept: at most three tiles across and down. */
TiledShape tiled_small (const TiledShape *shape);
/* Pictures from the same @seed repeat the same tile. Both views are halves of one picture, side by side; @stride: bytes
 * from row to row, 0: no more than they take. 0 if there is no memory. */
int tiled_new (Tiled *tiled, const TiledShape *shape, ptrdiff_t stride, uint64_t seed);
void tiled_free (Tiled *tiled);
StereoStatus tiled_execute (Tiled *tiled, StereoPlan *plan, StereoError *error);
/* Checks that @large, of which @plan was executed last, is what @small says: output, maps of both views, and the volume
 * where @whole, else of its first and last rows and of those where offsets pass 2^31 and 2^32, elements and bytes. */
void tiled_compare (const Tiled *large, StereoPlan *large_plan, const Tiled *small, StereoPlan *small_plan, int whole);

#endif
