/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures and disparity maps in files: PNG in and out, PFM in. Only regular files, and links to them, are opened: to open a
 * FIFO waits for its other end. */
#ifndef IMAGE_H
#define IMAGE_H

#include <stdint.h>
#include <stdio.h>

typedef struct Image
{
  int width, height, channels; /* 1 or 3, bytes, rows without padding */
  uint8_t *data;               /* to be freed */
} Image;

/* fopen() of a regular file; NULL and a message on stderr. */
FILE *image_open (const char *path, const char *mode);
/* All of them: 0 and a message on stderr on failure. */
int image_read_png (const char *path, Image *image);
/* A grey PNG as it is stored, without gamma; *bits 8 or 16; *samples to be freed. */
int image_read_samples (const char *path, int *width, int *height, int *bits, uint16_t **samples);
/* @bits 8 or 16 (host byte order); 1 or 3 channels; rows without padding. */
int image_write_png (const char *path, int width, int height, int channels, int bits, const void *data);
/* One channel, rows top to bottom; *values to be freed. */
int image_read_pfm (const char *path, int *width, int *height, float **values);

#endif
