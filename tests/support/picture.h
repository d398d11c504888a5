/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures made by the tests, in any packing, with memory right beside them that must not be touched. */
#ifndef PICTURE_H
#define PICTURE_H

#include "tests/support/random.h"
#include "stereo/stereo.h"

typedef enum PictureGuard
{
  PICTURE_PLAIN,
  PICTURE_GUARD_AFTER, /* the byte past the last sample faults */
  PICTURE_GUARD_BEFORE /* the byte before the first sample faults */
} PictureGuard;

/* How the samples of a picture lie. */
typedef struct PictureLayout
{
  int channels;     /* 1 or 3 */
  int pixel_stride; /* 1..8 */
  uint8_t offset[3];
  int padding;   /* bytes from the end of a row to the next */
  int bottom_up; /* rows stored last to first: a negative stride */
} PictureLayout;

typedef struct Picture
{
  int width, height;
  PictureLayout layout;
  ptrdiff_t stride;
  uint8_t *data; /* of pixel (0, 0) */
  void *mapping;
  size_t mapping_size;
} Picture;

typedef enum PictureKind
{
  PICTURE_NOISE,   /* unrelated noise in both views */
  PICTURE_FLAT,    /* one colour */
  PICTURE_CHECKER, /* 0 and 255 in turn, pixel by pixel */
  PICTURE_SHIFTED, /* texture of several sizes, shifted by a few disparities */
  PICTURE_EDGES,   /* large flat patches: strong edges, weights from 0 to 1 */
  PICTURE_KINDS
} PictureKind;

extern const char *const picture_kind_names[PICTURE_KINDS];

/* A layout that real formats have (GRAY8, NV12, YUY2, UYVY, RGB, BGR, RGBx, xBGR …) or could have. */
const PictureLayout *picture_random_layout (Random *random);
void picture_new (Picture *picture, int width, int height, const PictureLayout *layout, PictureGuard guard);
void picture_free (Picture *picture);
void picture_set (Picture *picture, int x, int y, const int rgb[3]);
StereoImage picture_view (const Picture *picture);
/* Paints both views; shifted textures have disparities in min..min + num - 1. */
void picture_paint (Picture *left, Picture *right, PictureKind kind, int min, int num, Random *random);

/* A smooth texture about 128 that repeats nowhere; another one for each @number. */
double picture_texture (double x, double y, int number);

/* @size bytes up to (or from) a page that faults; for outputs. */
void *picture_guarded (size_t size, PictureGuard guard, void **mapping, size_t *mapping_size);

#endif
