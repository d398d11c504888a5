/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What remapping and its backends share: tables, and the arithmetic that both follow to the bit. */
#ifndef STEREO_REMAP_PRIVATE_H
#define STEREO_REMAP_PRIVATE_H

#include "stereo/engine/backend.h"
#include "stereo/remap.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STEREO_REMAP_SHIFT 7  /* STEREO_REMAP_STEPS is 1 << this */
#define STEREO_REMAP_BLOCK 16 /* samples of a row that share a kind */
#define STEREO_REMAP_MARGIN 2 /* columns that a block of kind INSIDE keeps to the right of its taps: wide loads */
#define STEREO_REMAP_BAND 16  /* rows of a work item */

/* Taps are numbered in 16 bits, -2 to the last; entries of a table fit 32. */
static_assert (STEREO_REMAP_MAX_SIDE <= INT16_MAX, "taps");

typedef enum StereoRemapKind {
  STEREO_REMAP_INSIDE, /* all taps of all samples, and the margin, lie inside the source */
  STEREO_REMAP_MIXED,
  STEREO_REMAP_OUTSIDE /* all samples are the border's */
} StereoRemapKind;

/* A map for planes of one subsampling, ready for use. Rows have @pitch entries, a multiple of the block. */
typedef struct StereoRemapTable
{
  int width, height, pitch;        /* samples of the target plane */
  int source_width, source_height; /* samples of the source plane */
  uint32_t *position;              /* (uint16) x | y << 16 of the upper left tap, -1..; both -2 where there is none */
  uint16_t *fraction;              /* steps to the right | steps down << 8, 0..STEPS - 1 */
  uint8_t *kind;                   /* StereoRemapKind of each block */
  /* what it was made for */
  int map;
  int shift[4], centred[4]; /* source x, y; target x, y */
} StereoRemapTable;

typedef struct StereoRemapBackend
{
  const char *name;
  /* all NULL in a build without it */
  StereoStatus (*open) (StereoRemap *remap, StereoError *error);
  void (*close) (StereoRemap *remap);
  StereoStatus (*run) (StereoRemap *remap, StereoError *error);
} StereoRemapBackend;

struct StereoRemap
{
  StereoRemapPlane planes[STEREO_REMAP_MAX_PLANES];
  int table_of[STEREO_REMAP_MAX_PLANES];
  int plane_count;
  StereoRemapTable tables[STEREO_REMAP_MAX_PLANES];
  int table_count;
  int cuda_device_id, threads;
  const StereoRemapBackend *backend;
  char reason[512];
  int broken; /* the device failed */

  /* the frame at hand */
  StereoRemapSource sources[STEREO_REMAP_MAX_PLANES];
  StereoRemapTarget targets[STEREO_REMAP_MAX_PLANES];

  void *state; /* the backend's own */
};

extern const StereoRemapBackend stereo_remap_backend_cpu, stereo_remap_backend_cuda;

/* First and last byte that the channels of a sample reach. */
STEREO_SHARED void
stereo_remap_range (const StereoRemapLayout *layout, int channels, int *first, int *last)
{
  *first = *last = layout->offset[0];
  for (int c = 1; c < channels; c++) {
    *first = layout->offset[c] < *first ? layout->offset[c] : *first;
    *last = layout->offset[c] > *last ? layout->offset[c] : *last;
  }
}

/* Four samples around a position, upper ones first, @fx and @fy steps from the first: at most 255 * STEPS^2 + half. */
STEREO_SHARED uint32_t
stereo_remap_blend (uint32_t a, uint32_t b, uint32_t c, uint32_t d, uint32_t fx, uint32_t fy)
{
  uint32_t top = a * (STEREO_REMAP_STEPS - fx) + b * fx, bottom = c * (STEREO_REMAP_STEPS - fx) + d * fx;
  return (top * (STEREO_REMAP_STEPS - fy) + bottom * fy + (1u << (2 * STEREO_REMAP_SHIFT - 1))) >>
         (2 * STEREO_REMAP_SHIFT);
}

/* The tap at (x, y) of channel @offset, or @border. */
STEREO_SHARED uint32_t
stereo_remap_tap (const uint8_t *data, ptrdiff_t stride, int pixel_stride, int x, int y, int width, int height,
    int offset, uint32_t border)
{
  if ((unsigned) x >= (unsigned) width || (unsigned) y >= (unsigned) height)
    return border;
  return data[y * stride + (ptrdiff_t) x * pixel_stride + offset];
}

#ifdef __cplusplus
}
#endif
#endif
