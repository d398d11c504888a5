/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE /* nftw() */
#include "tests/bench/made_files.h"

#include <ftw.h>
#include <math.h>
#include <stdint.h>
#include <sys/stat.h>

#include "tests/support/check.h"
#include "stereo/tools/image.h"

char top[64];

const char *
place (const char *name)
{
  static char path[512];
  size_t start = (size_t) snprintf (path, sizeof path, "%s/", top);

  snprintf (path + start, sizeof path - start, "%s", name);
  for (char *slash = strchr (path + start, '/'); slash; slash = strchr (slash + 1, '/')) {
    *slash = 0;
    mkdir (path, 0777);
    *slash = '/';
  }
  return path;
}

void
write_view_of (const char *name, int width, int height)
{
  uint8_t *data = calloc ((size_t) width * (size_t) height, 3);
  CHECK (image_write_png (place (name), width, height, 3, 8, data), "%s", name);
  free (data);
}

void
write_view (const char *name)
{
  write_view_of (name, WIDTH, HEIGHT);
}

void
write_samples (const char *name, int bits, int width, int height, int first, int value)
{
  size_t pixels = (size_t) width * (size_t) height;
  uint16_t *wide = calloc (pixels, sizeof *wide);
  uint8_t *narrow = calloc (pixels, 1);

  for (size_t k = 0; k < pixels; k++) {
    wide[k] = (uint16_t) (k ? value : first);
    narrow[k] = (uint8_t) (k ? value : first);
  }
  CHECK (image_write_png (place (name), width, height, 1, bits, bits == 16 ? (void *) wide : narrow), "%s", name);
  free (wide);
  free (narrow);
}

void
write_text (const char *name, const char *text)
{
  FILE *file = fopen (place (name), "wb");
  if (CHECK (file != NULL, "%s", name)) {
    fputs (text, file);
    fclose (file);
  }
}

void
write_pfm (const char *name, int width, int height)
{
  FILE *file = fopen (place (name), "wb");

  CHECK (file != NULL, "%s", name);
  if (!file)
    return;
  fprintf (file, "Pf\n%d %d\n%s\n", width, height, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? "1.0" : "-1.0");
  for (int y = height - 1; y >= 0; y--)
    for (int x = 0; x < width; x++) {
      float value = x || y ? (float) (y + 1) : INFINITY;
      fwrite (&value, sizeof value, 1, file);
    }
  fclose (file);
}

static int
remove_one (const char *path, const struct stat *status, int type, struct FTW *walk)
{
  (void) status, (void) type, (void) walk;
  return remove (path);
}

void
case_in_folder (const char *name, void (*function) (void))
{
  strcpy (top, "/tmp/stereo-scenes-XXXXXX");
  if (!mkdtemp (top)) {
    perror (top);
    exit (1);
  }
  check_case (name, function);
  nftw (top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
