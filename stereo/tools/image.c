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

int
image_write_png (const char *path, int width, int height, const uint8_t *data)
{
  png_image png = {
    .version = PNG_IMAGE_VERSION, .width = (png_uint_32) width, .height = (png_uint_32) height, .format = PNG_FORMAT_GRAY
  };
  FILE *file = open_regular (path, "wb");
  int done = file && png_image_write_to_stdio (&png, file, 0, data, 0, NULL);

  if (file && (fclose (file) || !done)) {
    fprintf (stderr, "%s: cannot be written\n", path);
    done = 0;
  }
  return done;
}

int
image_write_pfm (const char *path, int width, int height, const float *values)
{
  FILE *file = open_regular (path, "wb");
  int done = file &&
      fprintf (file, "Pf\n%d %d\n%s\n", width, height, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "1.0" : "-1.0") > 0;

  for (int y = height - 1; y >= 0 && done; y--)
    done = fwrite (values + (size_t) y * (size_t) width, sizeof *values, (size_t) width, file) == (size_t) width;
  if (file && (fclose (file) || !done)) {
    fprintf (stderr, "%s: cannot be written\n", path);
    done = 0;
  }
  return done;
}
