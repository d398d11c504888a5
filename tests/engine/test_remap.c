/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Remapping: what the tables and the vectors make is what the formula says, on every backend, and nothing outside the
 * source is read or outside the target's samples written. */
#include "tests/support/check.h"
#include "tests/support/picture.h"
#include "tests/support/random.h"
#include "stereo/remap.h"

#include <math.h>
#include <sys/mman.h>

#define MOST_PLANES 6 /* of a frame */

/* A plane in memory up to a page that faults (source), or between bytes that must stay (target). */
typedef struct Memory
{
  uint8_t *data; /* of sample (0, 0) */
  ptrdiff_t stride;
  size_t size;
  uint8_t *base;
  void *mapping;
  size_t mapping_size;
} Memory;

static void
memory_new (Memory *memory, const StereoRemapLayout *layout, int channels, int width, int height, PictureGuard guard,
    Random *random)
{
  int first = 255, last = 0, bottom_up = random_range (random, 0, 3) == 0;

  for (int c = 0; c < channels; c++) {
    first = layout->offset[c] < first ? layout->offset[c] : first;
    last = layout->offset[c] > last ? layout->offset[c] : last;
  }
  size_t row = (size_t) (width - 1) * (size_t) layout->pixel_stride + (size_t) (last - first) + 1;
  size_t stride = row + (size_t) random_range (random, 0, 9);
  memory->size = stride * (size_t) (height - 1) + row;
  memory->base = picture_guarded (memory->size, guard, &memory->mapping, &memory->mapping_size);
  for (size_t i = 0; i < memory->size; i++)
    memory->base[i] = (uint8_t) random_next (random);
  memory->stride = bottom_up ? -(ptrdiff_t) stride : (ptrdiff_t) stride;
  memory->data = memory->base - first + (bottom_up ? (size_t) (height - 1) * stride : 0);
}

/* ---- the naive twin ---------------------------------------------------------------------------- */

/* The map between its columns and rows: chroma samples may lie there. */
static double
place (const StereoRemapMap *map, const float *values, double x, double y)
{
  int x0 = (int) floor (x), y0 = (int) floor (y), x1 = (int) ceil (x), y1 = (int) ceil (y);
  x0 = x0 > map->width - 1 ? map->width - 1 : x0;
  x1 = x1 > map->width - 1 ? map->width - 1 : x1;
  y0 = y0 > map->height - 1 ? map->height - 1 : y0;
  y1 = y1 > map->height - 1 ? map->height - 1 : y1;
  float upper = values[y0 * map->pitch + x0] + values[y0 * map->pitch + x1];
  float lower = values[y1 * map->pitch + x0] + values[y1 * map->pitch + x1];
  return (upper / 2 + lower / 2) / 2;
}

/* From pixels of the picture to samples of its plane. */
static float
sample_place (double at, int shift, int centred, int size)
{
  int samples = shift ? (size + 1) / 2 : size;

  if (!shift || !(at >= 0))
    return (float) at;
  if (at > size - 1)
    return (float) (samples - 1) + ((float) at - (float) (size - 1));
  return (float) fmin (fmax ((at - (centred ? 0.5 : 0)) / 2, 0), samples - 1);
}

static int
naive (const StereoRemapMap *map, const StereoRemapPlane *plane, const Memory *source, int u, int v, int c)
{
  const StereoRemapLayout *from = &plane->source, *to = &plane->target;
  int width = from->shift_x ? (map->source_width + 1) / 2 : map->source_width;
  int height = from->shift_y ? (map->source_height + 1) / 2 : map->source_height;
  double x = u * (to->shift_x ? 2 : 1) + (to->shift_x && to->centred_x ? 0.5 : 0);
  double y = v * (to->shift_y ? 2 : 1) + (to->shift_y && to->centred_y ? 0.5 : 0);
  float sx = sample_place (place (map, map->x, x, y), from->shift_x, from->centred_x, map->source_width);
  float sy = sample_place (place (map, map->y, x, y), from->shift_y, from->centred_y, map->source_height);
  int sum = 0;

  if (!(sx > -1 && sy > -1 && sx < (float) width && sy < (float) height))
    return plane->border[c];
  int qx = (int) floor ((double) sx * STEREO_REMAP_STEPS + 0.5),
      qy = (int) floor ((double) sy * STEREO_REMAP_STEPS + 0.5);
  int left = (int) floor ((double) qx / STEREO_REMAP_STEPS), upper = (int) floor ((double) qy / STEREO_REMAP_STEPS);
  for (int dy = 0; dy < 2; dy++)
    for (int dx = 0; dx < 2; dx++) {
      int tx = left + dx, ty = upper + dy;
      int wx = STEREO_REMAP_STEPS - abs (qx - tx * STEREO_REMAP_STEPS);
      int wy = STEREO_REMAP_STEPS - abs (qy - ty * STEREO_REMAP_STEPS);
      int inside = tx >= 0 && ty >= 0 && tx < width && ty < height;
      sum += wx * wy *
          (inside ? source->data[ty * source->stride + tx * from->pixel_stride + from->offset[c]] : plane->border[c]);
    }
  return (sum + STEREO_REMAP_STEPS * STEREO_REMAP_STEPS / 2) / (STEREO_REMAP_STEPS * STEREO_REMAP_STEPS);
}

/* ---- cases ------------------------------------------------------------------------------------- */

typedef enum MapKind
{
  MAP_SMOOTH,
  MAP_WILD,
  MAP_WHOLE,
  MAP_AWAY,
  MAP_KINDS
} MapKind;

static float
wild (Random *random, int size)
{
  static const float odd[] = { NAN, INFINITY, -INFINITY, 3e38f, -3e38f, 1e9f, -1e9f, -1.0f, -0.5f, -0.00001f, 0.0f };
  int draw = random_range (random, 0, 19);

  if (draw < 11)
    return odd[draw];
  if (draw == 11)
    return (float) size - 1;
  if (draw == 12)
    return (float) size - 0.5f;
  if (draw == 13)
    return (float) size - 0.003f;
  return (float) (random_unit (random) * (size + 8) - 4);
}

static void
fill_map (float *x, float *y, const StereoRemapMap *map, MapKind kind, Random *random)
{
  double turn = (random_unit (random) - 0.5) * 0.3, zoom = 0.7 + 0.6 * random_unit (random);
  double cx = random_unit (random) * map->source_width, cy = random_unit (random) * map->source_height;
  int away = random_range (random, 0, 1) ? -40000 : 40000;

  for (int v = 0; v < map->height; v++)
    for (int u = 0; u < map->width; u++) {
      float *px = x + v * map->pitch + u, *py = y + v * map->pitch + u;
      double du = u - map->width / 2, dv = v - map->height / 2;
      *px = (float) (cx + zoom * (du - turn * dv));
      *py = (float) (cy + zoom * (turn * du + dv));
      if (kind == MAP_WILD) {
        *px = wild (random, map->source_width);
        *py = wild (random, map->source_height);
      } else if (kind == MAP_WHOLE) {
        *px = (float) (u - map->width / 2 + map->source_width / 2);
        *py = (float) (v - map->height / 2 + map->source_height / 2);
      } else if (kind == MAP_AWAY) {
        *px += (float) away;
      }
    }
}

static StereoRemapLayout
random_layout (Random *random, int channels, int dense)
{
  StereoRemapLayout layout = { 0 };
  int before;

  layout.pixel_stride = dense ? channels : random_range (random, channels, random_range (random, channels, 8));
  before = random_range (random, 0, layout.pixel_stride - channels);
  for (int c = 0; c < channels; c++)
    layout.offset[c] = (uint8_t) (before + c);
  if (!dense)
    for (int c = 0; c < channels; c++) {
      int other = random_range (random, 0, channels - 1);
      uint8_t kept = layout.offset[c];
      layout.offset[c] = layout.offset[other];
      layout.offset[other] = kept;
    }
  layout.shift_x = random_range (random, 0, 1);
  layout.shift_y = random_range (random, 0, 1);
  layout.centred_x = random_range (random, 0, 1);
  layout.centred_y = random_range (random, 0, 1);
  return layout;
}

typedef struct Case
{
  StereoRemapMap map;
  StereoRemapPlane plane;
  MapKind kind;
  int width, height; /* of the target plane */
  float *x, *y;
  Memory source, target;
  uint8_t *before; /* the target's bytes */
} Case;

static void
case_memory (Case *test, Random *random)
{
  const StereoRemapPlane *plane = &test->plane;
  int source_width = (test->map.source_width + plane->source.shift_x) >> plane->source.shift_x;
  int source_height = (test->map.source_height + plane->source.shift_y) >> plane->source.shift_y;

  test->width = (test->map.width + plane->target.shift_x) >> plane->target.shift_x;
  test->height = (test->map.height + plane->target.shift_y) >> plane->target.shift_y;
  memory_new (&test->source, &plane->source, plane->channels, source_width, source_height,
      random_range (random, 0, 1) ? PICTURE_GUARD_AFTER : PICTURE_GUARD_BEFORE, random);
  memory_new (&test->target, &plane->target, plane->channels, test->width, test->height,
      random_range (random, 0, 1) ? PICTURE_GUARD_AFTER : PICTURE_GUARD_BEFORE, random);
  test->before = malloc (test->target.size);
  memcpy (test->before, test->target.base, test->target.size);
}

static void
draw_map (Case *test, Random *random)
{
  int most = random_range (random, 0, 3) ? 70 : 6;

  test->kind = (MapKind) random_range (random, 0, MAP_KINDS - 1);
  test->map = (StereoRemapMap){ random_range (random, 1, most), random_range (random, 1, most),
    random_range (random, 1, most), random_range (random, 1, most), NULL, NULL, 0 };
  test->map.pitch = test->map.width + random_range (random, 0, 5);
  size_t entries = (size_t) (test->map.pitch * test->map.height);
  test->map.x = test->x = calloc (entries, sizeof *test->x);
  test->map.y = test->y = calloc (entries, sizeof *test->y);
  fill_map (test->x, test->y, &test->map, test->kind, random);
}

/* @count planes of a frame, of two maps at most. */
static void
cases_new (Case *tests, int count, Random *random)
{
  for (int p = 0; p < count; p++) {
    Case *test = &tests[p];
    StereoRemapPlane *plane = &test->plane;
    int dense = random_range (random, 0, 1);
    *test = (Case){ .map = tests[p % 2].map, .kind = tests[p % 2].kind };
    if (p < 2)
      draw_map (test, random);
    plane->map = p % 2;
    plane->channels = random_range (random, 1, 4);
    plane->source = random_layout (random, plane->channels, dense);
    plane->target = random_layout (random, plane->channels, dense && random_range (random, 0, 3));
    for (int c = 0; c < 4; c++)
      plane->border[c] = (uint8_t) random_next (random);
    case_memory (test, random);
  }
}

static void
cases_free (Case *tests, int count)
{
  for (int p = 0; p < count; p++) {
    munmap (tests[p].source.mapping, tests[p].source.mapping_size);
    munmap (tests[p].target.mapping, tests[p].target.mapping_size);
    free (tests[p].x);
    free (tests[p].y);
    free (tests[p].before);
  }
}

/* Every sample is the twin's; what lies between samples is untouched. */
static void
check_target (Case *test)
{
  const StereoRemapLayout *layout = &test->plane.target;

  for (int v = 0; v < test->height; v++)
    for (int u = 0; u < test->width; u++)
      for (int c = 0; c < test->plane.channels; c++) {
        uint8_t *at = test->target.data + v * test->target.stride + u * layout->pixel_stride + layout->offset[c];
        int wanted = naive (&test->map, &test->plane, &test->source, u, v, c);
        if (!CHECK (*at == wanted, "sample %d,%d channel %d is %d, not %d (map kind %d, %d channels, strides %d %d)", u,
                v, c, *at, wanted, test->kind, test->plane.channels, test->plane.source.pixel_stride,
                layout->pixel_stride))
          return;
        *at = test->before[at - test->target.base];
      }
  CHECK (!memcmp (test->before, test->target.base, test->target.size), "bytes between the samples were written");
}

/* Both views and all planes of a frame in one remap: planes do not get into each other's way. */
static void
run_cases (Case *tests, int count, int backend, int threads)
{
  StereoRemapMap maps[2] = { tests[0].map, count > 1 ? tests[1].map : tests[0].map };
  StereoRemapPlane planes[MOST_PLANES];
  StereoRemapSource sources[MOST_PLANES];
  StereoRemapTarget targets[MOST_PLANES];
  StereoRemapParams params = { maps, count > 1 ? 2 : 1, planes, count, backend, -1, threads };
  StereoError error = { 0 };
  uint64_t took = 0;

  for (int p = 0; p < count; p++) {
    planes[p] = tests[p].plane;
    sources[p] = (StereoRemapSource){ tests[p].source.data, tests[p].source.stride, STEREO_MEMORY_HOST };
    targets[p] = (StereoRemapTarget){ tests[p].target.data, tests[p].target.stride, STEREO_MEMORY_HOST };
  }
  StereoRemap *remap = stereo_remap_new (&params, &error); /* the maps are not needed any more */
  if (CHECK (remap != NULL, "%s", error.message) &&
      CHECK (!stereo_remap_execute (remap, sources, targets, &took, &error), "%s", error.message))
    for (int p = 0; p < count; p++)
      check_target (&tests[p]);
  stereo_remap_free (remap);
}

static void
test_random (int backend, uint64_t seed)
{
  int count = random_count ("STEREO_TEST_REMAPS", backend == STEREO_BACKEND_CUDA ? 300 : 2000);

  for (int i = 0; i < count && !check_failures (); i++) {
    Random random = { seed + (uint64_t) i * 0x632BE59Bu };
    Case tests[MOST_PLANES] = { 0 };
    int planes = random_range (&random, 0, 3) ? 1 : random_range (&random, 2, MOST_PLANES);
    cases_new (tests, planes, &random);
    run_cases (tests, planes, backend, random_range (&random, 1, 8));
    if (check_failures ())
      fprintf (stderr, "seed %llu, case %d\n", (unsigned long long) seed, i);
    cases_free (tests, planes);
  }
}

/* Possible and impossible numbers: refused with a sentence, or every sample is the twin's. */
static void
test_impossible (void)
{
  static const int wild[] = { 0, -1, 1 << 30, -2147483647 - 1, 2147483647, 65536 };
  uint64_t seed = random_seed ();
  int refused = 0, count = random_count ("STEREO_TEST_REMAPS", 3000);

  for (int i = 0; i < count && !check_failures (); i++) {
    Random random = { seed + (uint64_t) i * 0x2545F491u };
    Case test = { 0 };
    cases_new (&test, 1, &random);
    StereoRemapMap map = test.map;
    StereoRemapPlane plane = test.plane;
    StereoRemapParams params = { &map, 1, &plane, 1, STEREO_BACKEND_CPU, -1, 1 };
    int *numbers[] = { &map.width, &map.height, &map.source_width, &map.source_height, &plane.map, &plane.channels,
      &plane.source.pixel_stride, &plane.target.pixel_stride, &plane.source.shift_x, &plane.target.shift_y,
      &params.backend, &params.threads };
    *numbers[random_range (&random, 0, (int) (sizeof numbers / sizeof *numbers) - 1)] = wild[random_range (&random, 0, 5)];
    plane.source.offset[random_range (&random, 0, 3)] = (uint8_t) (random_range (&random, 0, 3) ? plane.source.offset[0] :
                                                                                                  255);
    StereoError error = { 0 };
    StereoRemap *remap = stereo_remap_new (&params, &error);
    CHECK (remap || (error.status != STEREO_OK && strlen (error.message) > 10), "refused without a word");
    refused += !remap;
    stereo_remap_free (remap);
    cases_free (&test, 1);
  }
  CHECK (refused > count / 2 && refused < count, "%d of %d are refused", refused, count);
}

static void
expect_refusal (const StereoRemapParams *params, StereoStatus status, const char *word)
{
  StereoError error = { 0 };
  StereoRemap *remap = stereo_remap_new (params, &error);

  CHECK (remap == NULL, "made although %s", word);
  CHECK (error.status == status && strstr (error.message, word), "\"%s\" (%d), expected %d and \"%s\"", error.message,
      error.status, status, word);
  stereo_remap_free (remap);
}

static void
test_refusals (void)
{
  static const float values[64] = { 0 };
  StereoRemapMap map = { 8, 8, 8, 8, values, values, 8 };
  StereoRemapPlane plane = { .channels = 1, .source = { .pixel_stride = 1 }, .target = { .pixel_stride = 1 } };
  StereoRemapParams good = { &map, 1, &plane, 1, STEREO_BACKEND_CPU, -1, 1 }, params = good;
  StereoRemapMap wrong_map = map;
  StereoRemapPlane wrong = plane;

  struct
  {
    int *number, value, status;
    const char *word;
  } cases[] = { { &wrong_map.source_width, 40000, STEREO_ERROR_SIZE, "40000x8" },
    { &wrong_map.height, 0, STEREO_ERROR_SIZE, "8x0" }, { &wrong.channels, 5, STEREO_ERROR_PARAMETER, "5 channels" },
    { &wrong.map, 1, STEREO_ERROR_PARAMETER, "map 1" },
    { &wrong.source.pixel_stride, 0, STEREO_ERROR_PARAMETER, "0 bytes" },
    { &params.plane_count, STEREO_REMAP_MAX_PLANES + 1, STEREO_ERROR_PARAMETER, "17 planes" },
    { &params.threads, 100000, STEREO_ERROR_PARAMETER, "threads=100000" },
    { &params.backend, 77, STEREO_ERROR_PARAMETER, "backend=77" } };
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    wrong_map = map;
    wrong = plane;
    params = good;
    params.maps = &wrong_map;
    params.planes = &wrong;
    *cases[k].number = cases[k].value;
    expect_refusal (&params, (StereoStatus) cases[k].status, cases[k].word);
  }
  wrong_map = map;
  wrong_map.pitch = 7;
  params = good;
  params.maps = &wrong_map;
  expect_refusal (&params, STEREO_ERROR_PARAMETER, "7");
  if (!stereo_backend_available (STEREO_BACKEND_CUDA, -1, NULL, 0)) {
    params = good;
    params.backend = STEREO_BACKEND_CUDA;
    expect_refusal (&params, STEREO_ERROR_NO_DEVICE, "backend=cpu");
  }

  StereoError error = { 0 };
  StereoRemap *remap = stereo_remap_new (&good, &error);
  uint8_t bytes[64] = { 0 }, to[64];
  StereoRemapSource source = { bytes, 8, STEREO_MEMORY_CUDA };
  StereoRemapTarget target = { to, 8, STEREO_MEMORY_HOST };
  CHECK (stereo_remap_execute (remap, &source, &target, NULL, &error) == STEREO_ERROR_PARAMETER &&
          strstr (error.message, "device memory"),
      "%s", error.message);
  source.memory = STEREO_MEMORY_HOST;
  CHECK (!stereo_remap_execute (remap, &source, &target, NULL, &error), "%s", error.message);
  stereo_remap_free (remap);
}

/* Maps of whole numbers copy, chroma as well: whatever the siting, a picture of even sides stays itself. */
static void
test_identity (void)
{
  enum
  {
    WIDTH = 54,
    HEIGHT = 22
  };
  static float x[WIDTH * HEIGHT], y[WIDTH * HEIGHT];
  static uint8_t from[WIDTH * HEIGHT], to[WIDTH * HEIGHT];
  StereoRemapMap map = { WIDTH, HEIGHT, WIDTH, HEIGHT, x, y, WIDTH };
  Random random = { 5 };

  for (int i = 0; i < WIDTH * HEIGHT; i++) {
    x[i] = (float) (i % WIDTH);
    y[i] = (float) (i / WIDTH);
    from[i] = (uint8_t) random_next (&random);
  }
  for (int siting = 0; siting < 16; siting++) {
    StereoRemapLayout layout = { 1, { 0 }, siting & 1, siting >> 1 & 1, siting >> 2 & 1, siting >> 3 & 1 };
    StereoRemapPlane plane = { 0, 1, layout, layout, { 128 } };
    StereoRemapParams params = { &map, 1, &plane, 1, STEREO_BACKEND_CPU, -1, 1 };
    StereoRemapSource source = { from, WIDTH, STEREO_MEMORY_HOST };
    StereoRemapTarget target = { to, WIDTH, STEREO_MEMORY_HOST };
    StereoError error = { 0 };
    StereoRemap *remap = stereo_remap_new (&params, &error);
    if (!CHECK (remap != NULL, "%s", error.message))
      return;
    CHECK (!stereo_remap_execute (remap, &source, &target, NULL, &error), "%s", error.message);
    for (int v = 0; v < HEIGHT >> layout.shift_y; v++)
      CHECK (
          !memcmp (to + v * WIDTH, from + v * WIDTH, WIDTH >> layout.shift_x), "siting %d: row %d differs", siting, v);
    stereo_remap_free (remap);
  }
}

int
main (int argc, char **argv)
{
  static const char *const sets[] = { "baseline", "avx2", "best" };
  uint64_t seed = random_seed ();

  check_start (argc, argv);
  for (int k = 0; k < 3; k++)
    if (check_begin ("random maps, cpu, %s", sets[k])) {
      setenv ("STEREO_CPU", sets[k], 1);
      test_random (STEREO_BACKEND_CPU, seed + (uint64_t) k);
      check_end ();
    }
  unsetenv ("STEREO_CPU");
  check_case ("identity", test_identity);
  check_case ("refusals", test_refusals);
  check_case ("impossible numbers", test_impossible);
  if (check_begin ("random maps, cuda")) {
    char reason[256];
    if (stereo_backend_available (STEREO_BACKEND_CUDA, -1, reason, sizeof reason))
      test_random (STEREO_BACKEND_CUDA, seed);
    else
      check_skip ("%s", reason);
    check_end ();
  }
  return check_finish ();
}
