/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "stereo/tools/image.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* fopen() of a regular file; NULL and a message on stderr. */
static FILE *
open_regular (const char *path, const char *mode)
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
  FILE *file = open_regular (path, "rb");

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
  FILE *file = open_regular (path, "wb");
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
