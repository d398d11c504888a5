/* SPDX-License-Identifier: LGPL-2.1-or-later */
/**
 * Remapping: makes pictures whose every pixel comes from a place of a source picture that a map gives. The maps are prepared
 * once.
 *
 *   StereoRemapMap map = { width, height, raw_width, raw_height, map_x, map_y, width };
 *   StereoRemapPlane plane = { .map = 0, .channels = 1, .source = { 1, { 0 } }, .target = { 1, { 0 } } };
 *   StereoRemapParams params = { .maps = &map, .map_count = 1, .planes = &plane, .plane_count = 1 };
 *   StereoRemap *remap = stereo_remap_new (&params, &error);
 *   if (!remap) { fputs (error.message, stderr); … }
 *   stereo_remap_execute (remap, &source, &target, &compute_ns, &error);  // once for each frame
 *   stereo_remap_free (remap);
 *
 * Conventions
 * - The centres of pixels have whole coordinates: pixel (u, v) of the target shows the source at (x[v][u], y[v][u]) of the
 *   map.
 * - Interpolation is bilinear: positions are rounded to 1/STEREO_REMAP_STEPS px (halves upwards), the four samples around
 *   one are added with whole weights, and the sum is rounded once. So cpu and cuda give the same bits, and a map of whole
 *   numbers copies samples.
 * - A sample outside the source has the value of the border; so has a position that is not a number.
 * - Only one thread at a time may use a StereoRemap: it has no lock. Any number of them may exist side by side.
 */
#ifndef STEREO_REMAP_H
#define STEREO_REMAP_H

#include "stereo/stereo.h"

#ifdef __cplusplus
extern "C" {
#endif

#define STEREO_REMAP_STEPS 128      /* positions in a pixel, along x and along y */
#define STEREO_REMAP_MAX_SIDE 32766 /* px, of a side of source and target; at least 1 */
#define STEREO_REMAP_MAX_MAPS 4
#define STEREO_REMAP_MAX_PLANES 16
#define STEREO_REMAP_MAX_CHANNELS 4

/* Where each pixel of a target comes from. Read only while the remap is made: it may be freed afterwards. */
typedef struct StereoRemapMap
{
  int width, height;               /* of the target, px */
  int source_width, source_height; /* px */
  const float *x, *y;              /* height rows of width positions in the source, px */
  ptrdiff_t pitch;                 /* floats from row to row */
} StereoRemapMap;

/* How the samples of a plane lie in memory: channel c of sample (x, y) is data[y * stride + x * pixel_stride +
 * offset[c]]. */
typedef struct StereoRemapLayout
{
  int pixel_stride;                          /* bytes, 1..16 */
  uint8_t offset[STEREO_REMAP_MAX_CHANNELS]; /* below 16 */
  /* Chroma: there is a sample for every 2^shift pixels, at the first of these pixels or in their middle. With a shift
   * of 1, a plane of a picture w pixels wide has (w + 1) >> 1 samples. All 0 for luma and RGB. */
  int shift_x, shift_y;     /* 0, 1 */
  int centred_x, centred_y; /* 1: the sample lies in the middle (JPEG, MPEG-1); 0: at the first pixel (MPEG-2 along x) */
} StereoRemapLayout;

/* One plane of a picture, and the map that it is remapped by. */
typedef struct StereoRemapPlane
{
  int map;      /* index in the maps */
  int channels; /* bytes of a sample, 1..4; each is interpolated separately */
  StereoRemapLayout source, target;
  uint8_t border[STEREO_REMAP_MAX_CHANNELS]; /* value of each channel outside the source: black is 0 or 16, chroma 128 */
} StereoRemapPlane;

typedef struct StereoRemapParams
{
  const StereoRemapMap *maps;
  int map_count; /* 1..STEREO_REMAP_MAX_MAPS */
  const StereoRemapPlane *planes;
  int plane_count;    /* 1..STEREO_REMAP_MAX_PLANES */
  int backend;        /* StereoBackendChoice */
  int cuda_device_id; /* -1 = the one the driver prefers; -2 = the caller's current context */
  int threads;        /* 0 = as many as there are processors */
} StereoRemapParams;

/* Where a plane of the source lies, with any stride. */
typedef struct StereoRemapSource
{
  const uint8_t *data;
  ptrdiff_t stride;    /* bytes from row to row; negative: bottom up */
  StereoMemory memory; /* STEREO_MEMORY_CUDA only with backend=cuda */
} StereoRemapSource;

/* Where a plane of the target lies. */
typedef struct StereoRemapTarget
{
  uint8_t *data;
  ptrdiff_t stride;    /* bytes from row to row */
  StereoMemory memory; /* STEREO_MEMORY_CUDA only with backend=cuda */
} StereoRemapTarget;

typedef struct StereoRemap StereoRemap;

/* Checks the parameters, prepares the maps, chooses the functions, and allocates all memory that a frame needs. backend=auto
 * takes CUDA where a device is usable, else the CPU. Returns NULL and fills in @error on failure. */
StereoRemap *stereo_remap_new (const StereoRemapParams *params, StereoError *error);
/* Remaps one frame: @sources and @targets have one entry for each plane, in the order of the planes. Targets may lie in one
 * picture, but must not overlap each other or a source. Bytes of a target between the samples stay as they are. Refuses
 * (STEREO_ERROR_PARAMETER) planes without data, and planes in device memory on the cpu backend. After any other failure
 * the targets are undefined and the remap can only be freed. @compute_ns (may be NULL) gets the time that the call took. */
StereoStatus stereo_remap_execute (StereoRemap *remap, const StereoRemapSource *sources,
    const StereoRemapTarget *targets, uint64_t *compute_ns, StereoError *error);
/* NULL is fine. */
void stereo_remap_free (StereoRemap *remap);

/* "cpu" or "cuda", and a sentence that says why. */
const char *stereo_remap_backend (const StereoRemap *remap);
const char *stereo_remap_backend_reason (const StereoRemap *remap);

#ifdef __cplusplus
}
#endif
#endif
