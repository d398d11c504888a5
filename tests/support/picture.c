/* SPDX-License-Identifier: LGPL-2.1-or-later */
#define _GNU_SOURCE
#include "tests/support/picture.h"

#include <math.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

const char *const picture_kind_names[PICTURE_KINDS] = { "noise", "flat", "checker", "shifted", "edges" };

static const PictureLayout layouts[] = {
  { 1, 1, { 0, 0, 0 }, 0, 0 }, /* GRAY8, the luma of I420 and NV12 */
  { 1, 1, { 0, 0, 0 }, 5, 0 },
  { 1, 2, { 0, 0, 0 }, 4, 0 },  /* YUY2 */
  { 1, 2, { 1, 0, 0 }, 0, 0 },  /* UYVY */
  { 3, 3, { 0, 1, 2 }, 0, 0 },  /* RGB */
  { 3, 3, { 2, 1, 0 }, 7, 0 },  /* BGR */
  { 3, 4, { 0, 1, 2 }, 0, 0 },  /* RGBx */
  { 3, 4, { 3, 2, 1 }, 12, 0 }, /* xBGR */
  { 3, 4, { 2, 1, 0 }, 0, 1 },  /* BGRx, bottom up */
  { 1, 4, { 2, 0, 0 }, 0, 0 },  /* column-interleaved YUY2 */
  { 3, 6, { 0, 1, 2 }, 1, 0 },  /* column-interleaved RGB */
  { 3, 8, { 2, 1, 0 }, 0, 0 },  /* column-interleaved BGRx */
  { 1, 8, { 3, 0, 0 }, 3, 1 },
};

const PictureLayout *
picture_random_layout (Random *random)
{
  return &layouts[random_range (random, 0, (int) (sizeof layouts / sizeof *layouts) - 1)];
}

void *
picture_guarded (size_t size, PictureGuard guard, void **mapping, size_t *mapping_size)
{
  size_t page = (size_t) sysconf (_SC_PAGESIZE);
  size_t inner = (size + page - 1) / page * page;
  uint8_t *memory = mmap (NULL, inner + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  if (memory == MAP_FAILED || mprotect (memory, page, PROT_NONE) || mprotect (memory + page + inner, page, PROT_NONE)) {
    perror ("guard pages");
    exit (1);
  }
  *mapping = memory;
  *mapping_size = inner + 2 * page;
  return guard == PICTURE_GUARD_AFTER ? memory + page + inner - size : memory + page;
}

void
picture_new (Picture *picture, int width, int height, const PictureLayout *layout, PictureGuard guard)
{
  int highest = layout->offset[0], lowest = layout->offset[0];

  for (int c = 1; c < layout->channels; c++) {
    highest = layout->offset[c] > highest ? layout->offset[c] : highest;
    lowest = layout->offset[c] < lowest ? layout->offset[c] : lowest;
  }
  *picture = (Picture){ .width = width, .height = height, .layout = *layout };
  ptrdiff_t row = (ptrdiff_t) width * layout->pixel_stride + layout->padding;
  /* from the first sample there is to the last, not a byte more */
  ptrdiff_t size = (height - 1) * row + (ptrdiff_t) (width - 1) * layout->pixel_stride + highest - lowest + 1;
  uint8_t *memory = picture_guarded ((size_t) size, guard, &picture->mapping, &picture->mapping_size);
  memset (memory, 0xA5, (size_t) size);
  picture->data = memory - lowest + (layout->bottom_up ? (height - 1) * row : 0);
  picture->stride = layout->bottom_up ? -row : row;
}

void
picture_free (Picture *picture)
{
  if (picture->mapping)
    munmap (picture->mapping, picture->mapping_size);
  memset (picture, 0, sizeof *picture);
}

void
picture_set (Picture *picture, int x, int y, const int rgb[3])
{
  uint8_t *pixel = picture->data + y * picture->stride + (ptrdiff_t) x * picture->layout.pixel_stride;
  for (int c = 0; c < picture->layout.channels; c++)
    pixel[picture->layout.offset[c]] = (uint8_t) rgb[c];
}

StereoImage
picture_view (const Picture *picture)
{
  StereoImage image = { .data = picture->data,
    .stride = picture->stride,
    .pixel_stride = picture->layout.pixel_stride,
    .channels = picture->layout.channels };
  memcpy (image.offset, picture->layout.offset, sizeof image.offset);
  return image;
}

/* A colour that depends on nothing but (x, y, salt): texture that can be looked up anywhere. */
static uint32_t
hash (int x, int y, uint32_t salt)
{
  Random random = { ((uint64_t) (uint32_t) x << 32 | (uint32_t) y) ^ (uint64_t) salt * 0xD1B54A32D192ED03u };
  return random_next (&random);
}

static void
texture (int x, int y, uint32_t salt, int rgb[3])
{
  uint32_t fine = hash (x, y, salt), coarse = hash ((x + 4096) / 5, (y + 4096) / 4, salt + 1);
  for (int c = 0; c < 3; c++)
    rgb[c] = (int) (fine >> (8 * c) & 127) + (int) (coarse >> (8 * c) & 127);
}

static void
patches (int x, int y, uint32_t salt, int rgb[3])
{
  uint32_t patch = hash ((x + 4096) / 7, (y + 4096) / 6, salt);
  for (int c = 0; c < 3; c++)
    rgb[c] = patch >> (8 * c) & 1 ? 250 : (int) (patch >> (8 * c) & 3);
}

static void
paint_view (Picture *picture, PictureKind kind, int view, int min, int num, uint32_t salt)
{
  int rgb[3] = { 120, 60, 200 };

  for (int y = 0; y < picture->height; y++)
    for (int x = 0; x < picture->width; x++) {
      /* bands of rows at different depths */
      int shift = view ? min + (y / 8 * 5 + 2) % num : 0;
      uint32_t noise = hash (x, y, salt + 17 + (uint32_t) view);
      for (int c = 0; kind == PICTURE_NOISE && c < 3; c++)
        rgb[c] = (int) (noise >> (8 * c) & 255);
      for (int c = 0; kind == PICTURE_CHECKER && c < 3; c++)
        rgb[c] = (x + y) % 2 ? 255 : 0;
      if (kind == PICTURE_SHIFTED)
        texture (x + shift, y, salt, rgb);
      if (kind == PICTURE_EDGES)
        patches (x + shift, y, salt, rgb);
      picture_set (picture, x, y, rgb);
    }
}

void
picture_paint (Picture *left, Picture *right, PictureKind kind, int min, int num, Random *random)
{
  uint32_t salt = random_next (random);
  paint_view (left, kind, 0, min, num, salt);
  paint_view (right, kind, 1, min, num, salt);
}

double
picture_texture (double x, double y, int number)
{
  double a = 0.37 * x + 0.11 * y + number, b = 0.19 * x - 0.41 * y + 3 * number, c = 0.83 * x + 0.07 * y;
  return 128 + 35 * sin (a + 2 * sin (0.13 * y)) + 30 * sin (b + sin (0.21 * x)) + 20 * sin (c + 1.7 * sin (0.31 * y));
}
