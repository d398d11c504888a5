/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stereo/tools/image.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

FILE *
image_open (const char *path, const char *mode)
{
  struct stat info;
  FILE *file = NULL;

  if (stat (path, &info) == 0 && !S_ISREG (info.st_mode))
    fprintf (stderr, "%s is no regular file: name a file, not a folder, a FIFO or a device\n", path);
  else if (!(file = fopen (path, mode)))
    fprintf (stderr, "%s: %s\n", path, strerror (errno));
  return file;
}

int
image_read_png (const char *path, Image *image)
{
  png_image png = { .version = PNG_IMAGE_VERSION };
  FILE *file = image_open (path, "rb");

  memset (image, 0, sizeof *image);
  if (!file)
    return 0;
  if (png_image_begin_read_from_stdio (&png, file)) {
    png.format = png.format & PNG_FORMAT_FLAG_COLOR ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
    image->width = (int) png.width;
    image->height = (int) png.height;
    image->channels = png.format == PNG_FORMAT_RGB ? 3 : 1;
    image->data = malloc (PNG_IMAGE_SIZE (png));
    if (image->data && png_image_finish_read (&png, NULL, image->data, 0, NULL)) {
      fclose (file);
      return 1;
    }
  }
  fprintf (stderr, "%s: %s\n", path, *png.message ? png.message : "no memory");
  png_image_free (&png);
  fclose (file);
  free (image->data);
  image->data = NULL;
  return 0;
}

/* libpng leaves through longjmp: what it may come back to is all in the caller's frame. */
static int
write_rows (
    png_structp png, png_infop info, FILE *file, int width, int height, int channels, int bits, const uint8_t *data)
{
  if (setjmp (png_jmpbuf (png)))
    return 0;
  png_init_io (png, file);
  png_set_compression_level (png, 6);
  png_set_IHDR (png, info, (png_uint_32) width, (png_uint_32) height, bits,
      channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
      PNG_FILTER_TYPE_DEFAULT);
  png_write_info (png, info);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  if (bits == 16)
    png_set_swap (png);
#endif
  for (int y = 0; y < height; y++)
    png_write_row (png, data + (size_t) y * (size_t) width * (size_t) (channels * bits / 8));
  png_write_end (png, info);
  return 1;
}

int
image_write_png (const char *path, int width, int height, int channels, int bits, const void *data)
{
  FILE *file = image_open (path, "wb");
  png_structp png = png_create_write_struct (PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png ? png_create_info_struct (png) : NULL;
  int done = file && info && write_rows (png, info, file, width, height, channels, bits, data);

  png_destroy_write_struct (&png, &info);
  if (file && fclose (file))
    done = 0;
  if (file && !done)
    fprintf (stderr, "%s: cannot be written\n", path);
  return done;
}

/* As write_rows(). *samples is set before the first row, so that the caller can free it. */
static int
read_rows (png_structp png, png_infop info, FILE *file, int *width, int *height, int *bits, uint16_t **samples)
{
  if (setjmp (png_jmpbuf (png)))
    return 0;
  png_init_io (png, file);
  png_read_info (png, info);
  if (png_get_color_type (png, info) != PNG_COLOR_TYPE_GRAY || png_get_interlace_type (png, info) != PNG_INTERLACE_NONE)
    return 0;
  *width = (int) png_get_image_width (png, info);
  *height = (int) png_get_image_height (png, info);
  *bits = png_get_bit_depth (png, info) == 16 ? 16 : 8;
  png_set_expand_gray_1_2_4_to_8 (png);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  if (*bits == 16)
    png_set_swap (png);
#endif
  png_read_update_info (png, info);
  *samples = malloc ((size_t) *width * (size_t) *height * sizeof **samples);
  for (int y = 0; y < *height && *samples; y++) {
    uint16_t *row = *samples + (size_t) y * (size_t) *width;
    png_read_row (png, (png_bytep) row, NULL);
    for (int x = *width - 1; *bits == 8 && x >= 0; x--) /* from the end: the bytes lie in the same memory */
      row[x] = ((const uint8_t *) row)[x];
  }
  return *samples != NULL;
}

int
image_read_samples (const char *path, int *width, int *height, int *bits, uint16_t **samples)
{
  FILE *file = image_open (path, "rb");
  png_structp png = png_create_read_struct (PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
  png_infop info = png ? png_create_info_struct (png) : NULL;

  *samples = NULL;
  int done = file && info && read_rows (png, info, file, width, height, bits, samples);
  png_destroy_read_struct (&png, &info, NULL);
  if (file)
    fclose (file);
  if (file && !done)
    fprintf (stderr, "%s: cannot be read as a PNG of grey samples alone, not interlaced\n", path);
  if (!done) {
    free (*samples);
    *samples = NULL;
  }
  return done;
}

static float
swapped (float value)
{
  uint32_t bits;
  memcpy (&bits, &value, sizeof bits);
  bits = __builtin_bswap32 (bits);
  memcpy (&value, &bits, sizeof bits);
  return value;
}

static int
read_pfm_rows (FILE *file, int width, int height, int swap, float *values)
{
  for (int y = height - 1; y >= 0; y--) { /* the file begins at the bottom */
    float *row = values + (size_t) y * (size_t) width;
    if (fread (row, sizeof *row, (size_t) width, file) != (size_t) width)
      return 0;
    for (int x = 0; swap && x < width; x++)
      row[x] = swapped (row[x]);
  }
  return 1;
}

int
image_read_pfm (const char *path, int *width, int *height, float **values)
{
  FILE *file = image_open (path, "rb");
  double scale = 0;
  int done = 0;

  *values = NULL;
  if (file && fscanf (file, "Pf %d %d %lf", width, height, &scale) == 3 && fgetc (file) == '\n' && *width > 0 &&
      *height > 0 && *width < 65536 && *height < 65536) {
    int big = scale > 0, host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    *values = malloc ((size_t) *width * (size_t) *height * sizeof **values);
    done = *values && read_pfm_rows (file, *width, *height, big != host_big, *values);
  }
  if (file)
    fclose (file);
  if (file && !done)
    fprintf (stderr, "%s: not a readable PFM of one channel\n", path);
  if (!done) {
    free (*values);
    *values = NULL;
  }
  return done;
}
