/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Random maps, planes and layouts, possible and impossible ones, between guard pages: refused with a sentence, or every
 * byte is read where there is one and written where a sample is. Positions are anything a float can be. Repeatable:
 * STEREO_TEST_SEED, and STEREO_FUZZ_ITERATIONS for more of it; under libFuzzer its bytes come first. What comes out is
 * tests/engine/test_remap.c's business; that it is the same wherever things lie is checked here.
 */
#include <math.h>
#include <sys/mman.h>

#include "tests/fuzz/fuzz.h"
#include "tests/support/picture.h"
#include "stereo/remap.h"

enum
{
  MOST_SIDE = 70,
  MOST_PLANES = 3
};

/* A plane's samples from the first to the last byte that one has, and not a byte more. */
typedef struct Memory
{
  uint8_t *first, *data;
  ptrdiff_t stride;
  size_t size;
  void *mapping;
  size_t mapping_size;
} Memory;

static void
memory_new (Memory *memory, const StereoRemapLayout *layout, int channels, int width, int height, int gap,
    int bottom_up, PictureGuard guard)
{
  int lowest = 255, highest = 0;

  for (int c = 0; c < channels; c++) {
    lowest = layout->offset[c] < lowest ? layout->offset[c] : lowest;
    highest = layout->offset[c] > highest ? layout->offset[c] : highest;
  }
  ptrdiff_t row = (ptrdiff_t) (width - 1) * layout->pixel_stride + highest - lowest + 1, stride = row + gap;
  memory->size = (size_t) ((height - 1) * stride + row);
  memory->first = picture_guarded (memory->size, guard, &memory->mapping, &memory->mapping_size);
  memory->stride = bottom_up ? -stride : stride;
  memory->data = memory->first - lowest + (bottom_up ? (height - 1) * stride : 0);
}

static int
wild_int (Random *random, int low, int high)
{
  static const int wild[] = { 0, -1, 1 << 30, -2147483647 - 1, 2147483647, 65536, 17, 256 };
  return random_range (random, 0, 60) ? random_range (random, low, high) : wild[random_range (random, 0, 7)];
}

static float
draw_position (Random *random, int size)
{
  static const float wild[] = { NAN, INFINITY, -INFINITY, 1e30f, -1e30f, -1, 0, -0.0f, 2147483648.0f, 65536, 1e-40f };
  if (random_range (random, 0, 19) == 0)
    return wild[random_range (random, 0, (int) (sizeof wild / sizeof *wild) - 1)];
  return (float) ((random_unit (random) * 1.2 - 0.1) * size);
}

static void
draw_layout (StereoRemapLayout *layout, int channels, Random *random)
{
  *layout = (StereoRemapLayout){ .pixel_stride = wild_int (random, channels > 4 ? 4 : channels > 1 ? channels : 1, 8) };
  for (int c = 0; c < STEREO_REMAP_MAX_CHANNELS; c++)
    layout->offset[c] = (uint8_t) (random_range (random, 0, 60) ?
            (layout->pixel_stride > 0 ? c % layout->pixel_stride : c) :
            random_range (random, 0, 255));
  layout->shift_x = wild_int (random, 0, 1);
  layout->shift_y = wild_int (random, 0, 1);
  layout->centred_x = random_range (random, 0, 1);
  layout->centred_y = random_range (random, 0, 1);
}

static int
samples (int pixels, int shift)
{
  return (pixels + shift) >> shift;
}

/* One frame with everything at one end of its pages; the targets' bytes to @result. */
static size_t
run_guarded (StereoRemap *remap, const StereoRemapParams *params, PictureGuard guard, Random random, uint8_t *result)
{
  Memory from[MOST_PLANES], to[MOST_PLANES];
  StereoRemapSource sources[MOST_PLANES];
  StereoRemapTarget targets[MOST_PLANES];
  StereoError error = { 0 };
  size_t bytes = 0;

  for (int p = 0; p < params->plane_count; p++) {
    const StereoRemapPlane *plane = &params->planes[p];
    const StereoRemapMap *map = &params->maps[plane->map];
    memory_new (&from[p], &plane->source, plane->channels, samples (map->source_width, plane->source.shift_x),
        samples (map->source_height, plane->source.shift_y), random_range (&random, 0, 9), random_range (&random, 0, 1),
        guard);
    memory_new (&to[p], &plane->target, plane->channels, samples (map->width, plane->target.shift_x),
        samples (map->height, plane->target.shift_y), random_range (&random, 0, 9), random_range (&random, 0, 1), guard);
    for (size_t k = 0; k < from[p].size; k++)
      from[p].first[k] = (uint8_t) random_next (&random);
    memset (to[p].first, 0x5A, to[p].size);
    sources[p] = (StereoRemapSource){ from[p].data, from[p].stride, STEREO_MEMORY_HOST };
    targets[p] = (StereoRemapTarget){ to[p].data, to[p].stride, STEREO_MEMORY_HOST };
  }
  CHECK (!stereo_remap_execute (remap, sources, targets, NULL, &error), "%s", error.message);
  for (int p = 0; p < params->plane_count; p++) {
    memcpy (result + bytes, to[p].first, to[p].size);
    bytes += to[p].size;
    munmap (from[p].mapping, from[p].mapping_size);
    munmap (to[p].mapping, to[p].mapping_size);
  }
  return bytes;
}

/* 1: ran, 0: refused */
static int
iterate (Random *random)
{
  static float positions[2][MOST_SIDE * MOST_SIDE];
  static uint8_t results[2][MOST_PLANES * (MOST_SIDE + 1) * (MOST_SIDE * 16 + 32)];
  StereoRemapMap map = { random_range (random, 1, MOST_SIDE), random_range (random, 1, MOST_SIDE),
    wild_int (random, 1, MOST_SIDE), wild_int (random, 1, MOST_SIDE), positions[0], positions[1], MOST_SIDE };
  StereoRemapPlane planes[MOST_PLANES];
  StereoRemapParams params = { &map, 1, planes, random_range (random, 1, MOST_PLANES), STEREO_BACKEND_CPU, -1,
    random_range (random, 1, 3) };
  StereoError error = { 0 };
  int in_order = random_range (random, 0, 3) == 0, ran = 0;

  for (int p = 0; p < params.plane_count; p++) {
    planes[p] = (StereoRemapPlane){ .map = wild_int (random, 0, 0), .channels = wild_int (random, 1, 4) };
    draw_layout (&planes[p].source, planes[p].channels, random);
    draw_layout (&planes[p].target, planes[p].channels, random);
  }
  /* last: there are more of them than a fuzzer has bytes */
  for (int k = 0; k < MOST_SIDE * MOST_SIDE; k++) {
    positions[0][k] = draw_position (random, map.source_width % 100);
    positions[1][k] = draw_position (random, map.source_height % 100);
  }
  /* columns in order are a kind of their own */
  for (int k = 0; in_order && k < MOST_SIDE * MOST_SIDE; k++)
    positions[0][k] = (float) (k % MOST_SIDE);
  StereoRemap *remap = stereo_remap_new (&params, &error);
  if (remap && map.source_width <= MOST_SIDE && map.source_height <= MOST_SIDE) {
    size_t bytes = run_guarded (remap, &params, PICTURE_GUARD_AFTER, *random, results[0]);
    run_guarded (remap, &params, PICTURE_GUARD_BEFORE, *random, results[1]);
    CHECK (!memcmp (results[0], results[1], bytes), "another result at another place");
    ran = 1;
  } else if (!remap) {
    CHECK (error.status != STEREO_OK && strlen (error.message) > 10, "refused without a word");
  }
  stereo_remap_free (remap);
  random_next (random);
  return ran;
}

const FuzzDraws fuzz_draws = { "random maps", 3000, { { "refused", 5 }, { "run", 5 } }, iterate };
