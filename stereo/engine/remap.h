/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a backend has to know of remapping: the maps as tables, and the state of a StereoRemap. The backend fills in a
 * StereoRemapper (backend.h); the interpolation is in stereo/exact/remap.h. */
#ifndef STEREO_ENGINE_REMAP_H
#define STEREO_ENGINE_REMAP_H

#include "stereo/engine/backend.h"
#include "stereo/exact/remap.h"

#define STEREO_REMAP_BLOCK 16 /* samples of a row that share a kind */
#define STEREO_REMAP_MARGIN 2 /* columns of the source to the right of the taps of an INSIDE block: loads are wide */
#define STEREO_REMAP_BAND 16  /* rows of a work item */

/* The column and the row of a tap fit 16 bits each, -2 included; the number of a table's entries fits 32. */
static_assert (STEREO_REMAP_MAX_SIDE <= INT16_MAX, "taps");

typedef enum StereoRemapKind
{
  STEREO_REMAP_INSIDE, /* all taps of all samples, and the margin, lie inside the source */
  STEREO_REMAP_MIXED,
  STEREO_REMAP_OUTSIDE /* all samples have the value of the border */
} StereoRemapKind;

/* A map for planes that are subsampled alike, ready for use. */
typedef struct StereoRemapTable
{
  int width, height;               /* samples of the target plane */
  int pitch;                       /* entries of a row, a multiple of the block */
  int source_width, source_height; /* samples of the source plane */
  uint32_t *position;              /* (uint16) x | y << 16 of the upper left tap, -1..; both -2 where there is none */
  uint16_t *fraction;              /* steps to the right | steps down << 8, 0..STEPS - 1 */
  uint8_t *kind;                   /* StereoRemapKind of each block */
  /* which map and which subsampling it is made for */
  int map;
  int shift[4], centred[4]; /* source x, source y, target x, target y */
} StereoRemapTable;

struct StereoRemap
{
  StereoRemapPlane planes[STEREO_REMAP_MAX_PLANES];
  int table_of[STEREO_REMAP_MAX_PLANES];
  int plane_count;
  StereoRemapTable tables[STEREO_REMAP_MAX_PLANES];
  int table_count;
  int cuda_device_id, threads;
  const StereoBackend *backend;
  char reason[512];
  int broken; /* the device failed: this remap can only be freed */

  /* the frame at hand */
  StereoRemapSource sources[STEREO_REMAP_MAX_PLANES];
  StereoRemapTarget targets[STEREO_REMAP_MAX_PLANES];

  void *state; /* of the backend, set by open */
};

#endif
