/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Remapping: pictures through maps that say where each of their pixels comes from, with the maps prepared once.
 *
 *   StereoRemapMap map = { width, height, raw_width, raw_height, map_x, map_y, width };
 *   StereoRemapPlane plane = { .map = 0, .channels = 1, .source = { 1, { 0 } }, .target = { 1, { 0 } } };
 *   StereoRemapParams params = { .maps = &map, .map_count = 1, .planes = &plane, .plane_count = 1 };
 *   StereoRemap *remap = stereo_remap_new (&params, &error);
 *   if (!remap) { fputs (error.message, stderr); … }
 *   stereo_remap_execute (remap, &source, &target, &compute_ns, &error);  // once per frame
 *   stereo_remap_free (remap);
 *
 * Conventions
 * - Pixel centres have whole coordinates: the target's pixel (u, v) shows what the source has at (map_x, map_y).
 * - Bilinear: positions are rounded to 1/STEREO_REMAP_STEPS px (halves upwards), and the four samples around one are
 *   added with whole weights, rounded once. So cpu and cuda give the same bits, and a map of whole numbers copies.
 * - A sample outside the source counts as the border's value; so does a position that is not a number.
 * - A StereoRemap is not locked: one thread at a time. Any number of them may live side by side.
 */
#ifndef STEREO_REMAP_H
#define STEREO_REMAP_H

#include "stereo/stereo.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STEREO_REMAP_STEPS 128      /* positions in a pixel, along x and along y */
#define STEREO_REMAP_MAX_SIDE 32766 /* px, of source and target */
#define STEREO_REMAP_MAX_MAPS 4
#define STEREO_REMAP_MAX_PLANES 16
#define STEREO_REMAP_MAX_CHANNELS 4

/* Read while the remap is made, and not after. */
typedef struct StereoRemapMap
{
  int width, height; /* of the target, px */
  int source_width, source_height;
  const float *x, *y; /* height rows of width positions in the source */
  ptrdiff_t pitch;    /* floats from row to row */
} StereoRemapMap;

/* How the samples of a plane lie in memory: channel c of sample (x, y) is data[y * stride + x * pixel_stride +
 * offset[c]]. */
typedef struct StereoRemapLayout
{
  int pixel_stride;                          /* bytes, 1..16 */
  uint8_t offset[STEREO_REMAP_MAX_CHANNELS]; /* below 16 */
  /* Chroma: a sample for every 2^shift pixels, at the first of them or in their middle. A plane of a picture of w
   * pixels has (w + 1) >> 1 such samples. All 0 for luma and RGB. */
  int shift_x, shift_y;     /* 0, 1 */
  int centred_x, centred_y; /* with a shift: JPEG's and MPEG-1's siting; without: MPEG-2's along x */
} StereoRemapLayout;

/* One plane of the pictures that follow a map. */
typedef struct StereoRemapPlane
{
  int map;      /* which of the maps */
  int channels; /* 1..4 bytes of a sample, interpolated each for itself */
  StereoRemapLayout source, target;
  uint8_t border[STEREO_REMAP_MAX_CHANNELS]; /* what lies around the source: black is 0 or 16, chroma 128 */
} StereoRemapPlane;

typedef struct StereoRemapParams
{
  const StereoRemapMap *maps;
  int map_count;
  const StereoRemapPlane *planes;
  int plane_count;
  int backend;        /* StereoBackendChoice */
  int cuda_device_id; /* -1 = the one the driver prefers; -2 = the caller's current context */
  int threads;        /* 0 = all cores */
} StereoRemapParams;

/* Where a plane lies, any stride. */
typedef struct StereoRemapSource
{
  const uint8_t *data;
  ptrdiff_t stride;    /* bytes from row to row; negative: bottom up */
  StereoMemory memory; /* STEREO_MEMORY_CUDA only with backend=cuda */
} StereoRemapSource;

typedef struct StereoRemapTarget
{
  uint8_t *data;
  ptrdiff_t stride;
  StereoMemory memory;
} StereoRemapTarget;

typedef struct StereoRemap StereoRemap;

/* Validates, prepares the maps, chooses the functions, allocates all that a frame needs. NULL and @error on failure.
 * backend=auto takes CUDA where a device is usable, else the CPU. */
StereoRemap *stereo_remap_new (const StereoRemapParams *params, StereoError *error);
/* Runs a frame: as many sources and targets as there are planes, in their order. Targets may lie in one picture but do
 * not overlap each other or a source. Bytes of a target between the samples are left as they are. After a failure of
 * the device (STEREO_ERROR_BACKEND, STEREO_ERROR_MEMORY) the targets are undefined and the remap can only be freed.
 * @compute_ns (may be NULL) gets the time it took. */
StereoStatus stereo_remap_execute (StereoRemap *remap, const StereoRemapSource *sources,
    const StereoRemapTarget *targets, uint64_t *compute_ns, StereoError *error);
/* NULL is fine. */
void stereo_remap_free (StereoRemap *remap);

/* "cpu" or "cuda", and a sentence why. */
const char *stereo_remap_backend (const StereoRemap *remap);
const char *stereo_remap_backend_reason (const StereoRemap *remap);

#ifdef __cplusplus
}
#endif
#endif
