/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Pictures in files. Only regular files, and links to them, are opened: to open a FIFO waits for its other end. */
#ifndef IMAGE_H
#define IMAGE_H

#include <stdint.h>

typedef struct Image
{
  int width, height, channels; /* 1 or 3, bytes, rows without padding */
  uint8_t *data;               /* to be freed */
} Image;

/* All: 0 and a message on stderr on failure. */
int image_read_png (const char *path, Image *image);
/* Grey; rows without padding. */
int image_write_png (const char *path, int width, int height, const uint8_t *data);
/* The file has the rows from the bottom up. */
int image_write_pfm (const char *path, int width, int height, const float *values);

#endif
