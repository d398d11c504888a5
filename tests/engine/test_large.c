/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Volumes of more than 2^32 elements (2^31 on the CPU) and pictures of more than 2^31 bytes, on the GPU; STEREO_TEST_BACKEND=cpu runs
 * them on the CPU, which takes minutes. And the longest rows and columns, on the CPU.
 *
 * Large pictures repeat a tile, so that the same tiles, three by three at most, say what their result has to be: what an inner tile
 * gets depends on its neighbours alone, and what one at the border gets on these and the border.
 *
 * For paths, which have no reach, the last rows and columns of a tile are a wall: noise that both views share, so that disparity 0
 * costs nothing there and hardly another candidate less than a penalty of 1 (p1 and p2 of 1, in units of the mixed cost). After two
 * pixels where none does, a path's costs are the same whatever it came from.
 */
#include "stereo/engine/backend.h"
#include "stereo/engine/remap.h"
#include "tests/support/check.h"
#include "tests/support/params.h"
#include "tests/support/random.h"

#include <unistd.h>

#define WALL_ROWS 24 /* windows of census and gradient lie in the wall in most of them */
#define WALL_COLUMNS 32
#define PATCH 16 /* px, of one disparity */

static Random random_state;
static int backend = STEREO_BACKEND_CUDA;

/* ---- pictures of tiles --------------------------------------------------------------------------------- */

/* A shape, in tiles of @width x @height pixels. Where it repeats, a tile is longer than the search and twice all reach
 * together along x, than all reach along y. */
typedef struct TiledShape
{
  int width, height;
  int across, down;
  int min, num; /* disparities */
} TiledShape;

/* Both views are halves of one picture, side by side, three bytes a pixel. */
typedef struct Tiled
{
  TiledShape shape;
  int width, height; /* of a view, px */
  ptrdiff_t stride;
  uint8_t *views;
  float *disparity;
  uint8_t *confidence;
} Tiled;

static int
is_wall (const TiledShape *s, int x, int y)
{
  return (s->down > 1 && y >= s->height - WALL_ROWS) || (s->across > 1 && x >= s->width - WALL_COLUMNS);
}

/* A tile of both views: the right one shows patches of the left one, each from its own disparity, and some noise. */
static void
make_tile (const TiledShape *s, uint8_t *left, uint8_t *right, Random *random)
{
  int patches = (s->width + PATCH - 1) / PATCH, *disparity = calloc ((size_t) patches, sizeof *disparity);

  for (size_t at = 0; at < (size_t) s->width * (size_t) s->height * 3; at++)
    left[at] = (uint8_t) random_next (random);
  for (int y = 0; y < s->height; y++) {
    uint8_t *l = left + (size_t) y * (size_t) s->width * 3, *r = right + (size_t) y * (size_t) s->width * 3;
    for (int p = 0; p < patches && y % PATCH == 0; p++)
      disparity[p] = random_range (random, s->min, s->min + s->num - 1);
    for (int x = 0; x < s->width; x++) {
      int wall = is_wall (s, x, y);
      int partner = (x + disparity[x / PATCH] + STEREO_MAX_DISPARITIES * s->width) % s->width;
      const uint8_t *from = l + (wall ? x : partner) * 3;
      for (int c = 0; c < 3; c++)
        r[3 * x + c] = wall ? from[c] : (uint8_t) (from[c] ^ (random_next (random) & 3));
    }
  }
  free (disparity);
}

static void
repeat (const Tiled *t, const uint8_t *tile, uint8_t *to)
{
  size_t row = (size_t) t->shape.width * 3;

  for (int y = 0; y < t->height; y++)
    for (int k = 0; k < t->shape.across; k++)
      memcpy (to + y * t->stride + (ptrdiff_t) ((size_t) k * row), tile + (size_t) (y % t->shape.height) * row, row);
}

/* Pictures from the same @seed repeat the same tile. @stride: bytes from row to row, 0: no more than they take. 0 if there is no
 * memory. */
static int
tiled_new (Tiled *t, const TiledShape *shape, ptrdiff_t stride, uint64_t seed)
{
  size_t tile = (size_t) shape->width * (size_t) shape->height * 3;
  uint8_t *left = malloc (tile), *right = malloc (tile);
  ptrdiff_t row = (ptrdiff_t) shape->width * shape->across * 3;
  Random random = { seed };

  *t = (Tiled){ .shape = *shape, .width = shape->width * shape->across, .height = shape->height * shape->down };
  t->stride = stride ? stride : 2 * row;
  size_t pixels = (size_t) t->width * (size_t) t->height;
  t->views = malloc ((size_t) t->stride * (size_t) t->height);
  t->disparity = malloc (pixels * sizeof *t->disparity);
  t->confidence = malloc (pixels);
  int there = left && right && t->views && t->disparity && t->confidence;
  if (there) {
    make_tile (shape, left, right, &random);
    repeat (t, left, t->views);
    repeat (t, right, t->views + row);
  }
  free (left);
  free (right);
  return there;
}

static void
tiled_free (Tiled *t)
{
  free (t->views);
  free (t->disparity);
  free (t->confidence);
}

/* @there: the views lie in the memory of the device. */
static StereoStatus
tiled_execute (Tiled *t, StereoPlan *plan, int there, StereoError *error)
{
  size_t size = (size_t) t->stride * (size_t) t->height, pixels = (size_t) t->width * (size_t) t->height;
  uint8_t *copy = there ? plan->backend->allocate (plan, size, error) : NULL;
  StereoImage left = { there ? copy : t->views, t->stride, 3, 3, { 0, 1, 2 },
    there ? STEREO_MEMORY_CUDA : STEREO_MEMORY_HOST };
  StereoImage right = left;
  StereoOutput output = { t->disparity, (ptrdiff_t) t->width * 4, STEREO_SAMPLE_F32, t->confidence, t->width };
  StereoStatus status = there && !copy ? STEREO_ERROR_MEMORY : STEREO_OK;

  right.data += (ptrdiff_t) t->width * 3;
  memset (t->disparity, 0xA5, pixels * sizeof *t->disparity);
  memset (t->confidence, 0xA5, pixels);
  if (!status && there)
    status = plan->backend->copy_in (plan, copy, t->views, size);
  if (!status)
    status = stereo_plan_execute (plan, &left, &right, &output, NULL, error);
  if (copy)
    plan->backend->release (plan, copy);
  return status;
}

/* The tile of the small picture that says what tile @k of @count is. */
static int
source_of (int k, int count)
{
  return count <= 3 || k == 0 ? k : k == count - 1 ? 2 : 1;
}

/* What the large picture has of each pixel, @pixel bytes, against the small picture's. */
static void
same_rows (const Tiled *large, const void *large_pixels, const void *small_pixels, size_t pixel, const char *what)
{
  const TiledShape *s = &large->shape;
  size_t run = (size_t) s->width * pixel, small_across = (size_t) (s->across > 3 ? 3 : s->across);
  int wrong = 0, first = -1;

  for (int y = 0; y < large->height; y++) {
    size_t row = (size_t) (source_of (y / s->height, s->down) * s->height + y % s->height);
    const uint8_t *got = (const uint8_t *) large_pixels + (size_t) y * run * (size_t) s->across;
    const uint8_t *want = (const uint8_t *) small_pixels + row * run * small_across;
    int same = 1;
    for (int k = 0; k < s->across && same; k++)
      same = !memcmp (got + (size_t) k * run, want + (size_t) source_of (k, s->across) * run, run);
    first = first < 0 && !same ? y : first;
    wrong += !same;
  }
  CHECK (!wrong, "%s: %d of %d rows are not those of the small picture, row %d is the first", what, wrong,
      large->height, first);
}

/* There must be something to compare: disparities that differ where there is room for that. */
static void
is_eventful (const Tiled *small)
{
  size_t pixels = (size_t) small->width * (size_t) small->height, valid = 0, changes = 0;

  for (size_t at = 1; at < pixels; at++) {
    valid += small->disparity[at] == small->disparity[at];
    changes += small->disparity[at] != small->disparity[at - 1];
  }
  CHECK (valid > pixels / 50 && changes >= (small->width > PATCH ? pixels / 100 : 0),
      "%zu of %zu pixels are valid, %zu are unlike the one before", valid, pixels, changes);
}

static StereoPlan *
plan_for (const StereoParams *params, const Tiled *tiled)
{
  StereoError error = { 0 };
  StereoPlan *plan = stereo_plan_new (params, tiled->width, tiled->height, &error);

  if (!plan && error.status == STEREO_ERROR_MEMORY)
    check_skip ("%s", error.message);
  else
    CHECK (plan != NULL, "%s", error.message);
  return plan;
}

/* The large picture has what one of three by three tiles has. */
static void
compare (const StereoParams *params, const TiledShape *shape, ptrdiff_t stride, int there)
{
  TiledShape less = *shape;
  Tiled large = { 0 }, small = { 0 };
  StereoError error = { 0 };
  uint64_t seed = random_next (&random_state);

  less.across = less.across > 3 ? 3 : less.across;
  less.down = less.down > 3 ? 3 : less.down;
  if (CHECK (tiled_new (&large, shape, stride, seed) && tiled_new (&small, &less, 0, seed), "no memory for pictures")) {
    StereoPlan *plan = plan_for (params, &large), *other = plan ? plan_for (params, &small) : NULL;
    if (other &&
        CHECK (!tiled_execute (&large, plan, there, &error) && !tiled_execute (&small, other, 0, &error), "%s",
            error.message)) {
      is_eventful (&small);
      same_rows (&large, large.disparity, small.disparity, sizeof *large.disparity, "disparity");
      same_rows (&large, large.confidence, small.confidence, 1, "confidence");
    }
    stereo_plan_free (plan);
    stereo_plan_free (other);
  }
  tiled_free (&large);
  tiled_free (&small);
}

/* ---- volumes --------------------------------------------------------------------------------------------- */

enum
{
  SQUARE,
  WIDE,
  TALL,
  DEEP,
  SHALLOW,
  SHAPES
};

/* 192 rows: an offset that wraps at a power of two must not meet the same place of another tile. The kernels'
 * own tiles and strips, up to 64 px, begin in every tile at the same places, so that sums of floats are the same. */
static const TiledShape shapes[SHAPES] = {
  [SQUARE] = { 512, 192, 12, 30, 0, 128 },
  [WIDE] = { 512, 192, 64, 6, 0, 128 },
  [TALL] = { 1152, 192, 1, 170, 0, 128 },
  [DEEP] = { 2304, 192, 1, 10, -100, 1024 },
  [SHALLOW] = { 1152, 192, 1, 170, 0, 16 },
};

typedef struct Setting
{
  const char *name;
  int shapes; /* a bit each */
  const char *params;
  ptrdiff_t stride;
  int there; /* a picture of more than 2^31 bytes in the memory of the device */
} Setting;

#define ON(shape) (1 << (shape))
#define FAR_APART 70000 /* bytes from row to row: 2^31 bytes in 30678 rows */

static const Setting settings[] = {
  { "asw, left", ON (SQUARE) | ON (WIDE) | ON (DEEP),
      "method=asw cost=mixed window=9 support=left paths=8 refine-mode=two-pass refine-iterations=2 refine-window=65 median=3",
      0 },
  { "asw, left, wide window", ON (TALL),
      "method=asw cost=census-7x5 window=35 support=left paths=8 refine-mode=two-pass refine-iterations=2 refine-window=31 median=0",
      FAR_APART },
  { "asw, both", ON (SQUARE) | ON (TALL) | ON (DEEP),
      "method=asw cost=census-9x7 window=9 support=both paths=8 refine-mode=idr refine-iterations=1 refine-window=9 median=3",
      0 },
  { "asw, full, left", ON (SQUARE),
      "method=asw cost=sad window=3 aggregation=full support=left paths=8 refine-mode=full refine-iterations=1 refine-window=5 median=5",
      0 },
  { "asw, full, both", ON (WIDE),
      "method=asw cost=ad window=3 aggregation=full support=both paths=8 refine-iterations=0 median=3", 0 },
  { "esaw", ON (SQUARE) | ON (WIDE),
      "method=esaw paths=8 refine-mode=two-pass refine-iterations=2 refine-window=33 median=3", 0 },
  { "esmp", ON (TALL) | ON (DEEP), "method=esmp paths=8 refine-iterations=0 median=3", 0 },
  { "sgm", ON (SQUARE) | ON (WIDE) | ON (TALL) | ON (DEEP),
      "method=sgm cost=mixed paths=8 p1=1 p2=1 refine-iterations=0 median=3", 0 },
  { "sgm, 4 paths", ON (SQUARE), "method=sgm cost=mixed paths=4 p1=1 p2=1 refine-iterations=0 median=5", 0 },
  { "bm", ON (SQUARE) | ON (WIDE) | ON (DEEP), "method=bm cost=zncc window=9 paths=8 refine-iterations=0 median=3", 0 },
  { "bm, colours", ON (TALL), "method=bm cost=sad window=5 paths=8 refine-iterations=0 median=3", 0 },
  { "bm, large window", ON (SQUARE), "method=bm cost=zncc window=13 paths=8 refine-iterations=0 median=0", 0 },
  { "bm, pictures in device memory", ON (SHALLOW), "method=bm cost=sad window=5 paths=8 refine-iterations=0 median=3",
      FAR_APART, 1 },
};

static double
host_memory (void)
{
  return (double) sysconf (_SC_AVPHYS_PAGES) * (double) sysconf (_SC_PAGESIZE);
}

/* 0: the case is skipped, as it takes more memory than there is. */
static int
fits (const TiledShape *s)
{
  double pixels = (double) s->width * s->across * s->height * s->down, volume = 2 * pixels * s->num;
  /* pictures and results, pinned memory; the small volume; and on the CPU the plan itself */
  double wanted = 80 * pixels + volume * 3 / s->down;

  if (backend == STEREO_BACKEND_CPU)
    wanted += 2.2 * volume + 100 * pixels;
  if (host_memory () >= wanted)
    return 1;
  check_skip ("it takes about %.0f GB of host memory, and %.0f GB are free", wanted / 1e9, host_memory () / 1e9);
  return 0;
}

/* Iterations reach 27 px. */
static void
test_volume (const Setting *setting, const TiledShape *s)
{
  double pixels = (double) s->width * s->across * s->height * s->down;
  double bytes = (double) setting->stride * s->height * s->down;
  StereoParams params;

  if (setting->there && backend == STEREO_BACKEND_CPU) {
    check_skip ("there is no device");
    return;
  }
  if (!fits (s))
    return;
  CHECK (setting->there ? bytes > 2147483648.0 :
                          pixels * s->num > (backend == STEREO_BACKEND_CPU ? 2147483648.0 : 4294967296.0),
      "%.0f elements, %.0f bytes", pixels * s->num, bytes);
  stereo_params_init (&params);
  params_set (&params, "backend=%d min-disparity=%d num-disparities=%d iterations=5 speckle-size=8 fill=none %s",
      backend, s->min, s->num, setting->params);
  compare (&params, s, setting->stride, setting->there);
}

static void
test_volumes (void)
{
  for (int n = 0; n < SHAPES; n++)
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
      TiledShape shape = shapes[n];
      if (backend == STEREO_BACKEND_CPU)
        shape.down = (shape.down + 1) / 2;
      if (!(settings[k].shapes & ON (n)) ||
          !check_begin ("%dx%d, %d disparities, %s", shape.width * shape.across, shape.height * shape.down, shape.num,
              settings[k].name))
        continue;
      test_volume (&settings[k], &shape);
      check_end ();
    }
}

/* ---- the longest rows and columns ------------------------------------------------------------------------ */

static void
test_rows_and_columns (void)
{
  /* not only powers of two: an offset that wraps at one may meet the same place of another tile */
  static const TiledShape longest[] = {
    { 4096, 3, 8, 1, 0, 1024 },
    { 4680, 3, 7, 1, -1024, 1024 },
    { 3, 96, 1, 341, 0, 1024 },
    { 3, 128, 1, 256, -2, 1024 },
  };

  for (size_t k = 0; k < sizeof longest / sizeof *longest; k++)
    for (int method = 0; method < STEREO_METHODS; method++) {
      const TiledShape *s = &longest[k];
      if (!check_begin ("%dx%d, %d disparities from %d, %s", s->width * s->across, s->height * s->down, s->num, s->min,
              stereo_method_info (method)->name))
        continue;
      StereoParams params;
      stereo_params_init (&params);
      /* hardly a pixel of these pictures is likely to be right */
      params_set (&params,
          "backend=cpu method=%d min-disparity=%d num-disparities=%d iterations=4 refine-iterations=1 "
          "refine-window=17 speckle-size=8 fill=none confidence-threshold=0 %s",
          method, s->min, s->num,
          method == STEREO_METHOD_ASW     ? "window=5" :
              method == STEREO_METHOD_SGM ? "p1=1 p2=1 cost=mixed" :
                                            "");
      compare (&params, s, 0, 0);
      check_end ();
    }
}

/* ---- remapping ----------------------------------------------------------------------------------------- */

enum
{
  REMAP_WIDTH = 16384,
  REMAP_HEIGHT = 8200,
  REMAP_PIXEL = 16,
  SHIFT_X = 5,
  SHIFT_Y = -3
};

static uint8_t
remap_sample (int x, int y, int channel)
{
  uint32_t v = (uint32_t) x * 2654435761u ^ (uint32_t) y * 40503u ^ (uint32_t) channel * 97u;
  return (uint8_t) (v >> 13 ^ v >> 3);
}

static const StereoRemapLayout remap_layout = { REMAP_PIXEL, { 0, 5, 10, 15 }, 0, 0, 0, 0 };

/* Row @y of the source, or of what becomes of it. */
static void
remap_row (uint8_t *row, int y, int remapped)
{
  for (int x = 0; x < REMAP_WIDTH; x++)
    for (int c = 0; c < 4; c++) {
      int u = x + remapped * SHIFT_X, v = y + remapped * SHIFT_Y;
      row[x * REMAP_PIXEL + remap_layout.offset[c]] = u < REMAP_WIDTH && v >= 0 ? remap_sample (u, v, c) : 7;
    }
}

static void
check_remapped (StereoPlan *plan, const uint8_t *target, uint8_t *row, uint8_t *want, size_t stride)
{
  for (int y = 0; y < REMAP_HEIGHT; y += y < 8 || y > REMAP_HEIGHT - 40 ? 1 : 31) {
    CHECK (!plan->backend->copy_out (plan, row, target + (size_t) y * stride, stride), "row %d did not come", y);
    remap_row (want, y, 1);
    int wrong = 0;
    for (int k = 0; k < 4 * REMAP_WIDTH; k++) {
      size_t at = (size_t) (k / 4 * REMAP_PIXEL + remap_layout.offset[k % 4]);
      wrong += row[at] != want[at];
    }
    CHECK (!wrong, "%d samples of row %d are not those %d columns and %d rows on", wrong, y, SHIFT_X, SHIFT_Y);
  }
}

/* Planes lie in the memory of the plan: of a CUDA plan the device's, else the host's. */
static void
run_remap (StereoPlan *plan, uint8_t *const there[2], float *map, uint8_t *rows, size_t stride)
{
  size_t pixels = (size_t) REMAP_WIDTH * REMAP_HEIGHT;
  StereoRemapMap maps = { REMAP_WIDTH, REMAP_HEIGHT, REMAP_WIDTH, REMAP_HEIGHT, map, map + pixels, REMAP_WIDTH };
  StereoRemapPlane plane = { 0, 4, remap_layout, remap_layout, { 7, 7, 7, 7 } };
  StereoRemapParams params = { &maps, 1, &plane, 1, backend, -1, 0 };
  StereoMemory memory = backend == STEREO_BACKEND_CUDA ? STEREO_MEMORY_CUDA : STEREO_MEMORY_HOST;
  StereoRemapSource from = { there[0], (ptrdiff_t) stride, memory };
  StereoRemapTarget to = { there[1], (ptrdiff_t) stride, memory };
  StereoError error = { 0 };

  for (size_t k = 0; k < pixels; k++) {
    map[k] = (float) (k % REMAP_WIDTH + SHIFT_X);
    map[pixels + k] = (float) (k / REMAP_WIDTH) + SHIFT_Y;
  }
  for (int y = 0; y < REMAP_HEIGHT; y++) {
    remap_row (rows, y, 0);
    CHECK (!plan->backend->copy_in (plan, there[0] + (size_t) y * stride, rows, stride), "row %d did not get there", y);
  }
  StereoRemap *remap = stereo_remap_new (&params, &error);
  if (!remap && error.status == STEREO_ERROR_MEMORY)
    check_skip ("%s", error.message);
  else if (CHECK (remap != NULL, "%s", error.message) &&
      CHECK (!stereo_remap_execute (remap, &from, &to, NULL, &error), "%s", error.message))
    check_remapped (plan, there[1], rows, rows + stride, stride);
  stereo_remap_free (remap);
}

static void
test_remap (void)
{
  size_t stride = (size_t) REMAP_WIDTH * REMAP_PIXEL, pixels = (size_t) REMAP_WIDTH * REMAP_HEIGHT;
  double wanted = 14 * (double) pixels + (backend == STEREO_BACKEND_CPU ? 4.0 : 2.0) * (double) stride * REMAP_HEIGHT;
  StereoParams params;
  StereoError error = { 0 };
  uint8_t *there[2] = { NULL, NULL };

  if (host_memory () < wanted) {
    check_skip ("it takes about %.0f GB of host memory, and %.0f GB are free", wanted / 1e9, host_memory () / 1e9);
    return;
  }
  stereo_params_init (&params);
  params_set (&params, "backend=%d num-disparities=16", backend);
  StereoPlan *plan = stereo_plan_new (&params, 64, 16, &error); /* for its memory */
  if (!CHECK (plan != NULL, "%s", error.message))
    return;
  for (int k = 0; k < 2 && (k == 0 || there[0]); k++)
    there[k] = plan->backend->allocate (plan, stride * REMAP_HEIGHT, &error);
  float *map = malloc (2 * pixels * sizeof *map);
  uint8_t *rows = calloc (2, stride);
  if (!there[1])
    check_skip ("%s", error.message);
  else if (CHECK (map && rows, "no memory"))
    run_remap (plan, there, map, rows, stride);
  for (int k = 0; k < 2; k++)
    if (there[k])
      plan->backend->release (plan, there[k]);
  stereo_plan_free (plan);
  free (map);
  free (rows);
}

int
main (int argc, char **argv)
{
  const char *wanted = getenv ("STEREO_TEST_BACKEND");
  char reason[200] = "";

  random_state.state = random_seed ();
  check_start (argc, argv);
  setenv ("STEREO_CPU_FUSION", "0", 1); /* the whole volume is stored */
  test_rows_and_columns ();
  if (wanted && !strcmp (wanted, "cpu"))
    backend = STEREO_BACKEND_CPU;
  else if (!stereo_backend_available (STEREO_BACKEND_CUDA, -1, reason, sizeof reason)) {
    check_begin ("large volumes");
    check_skip ("%s", reason);
    check_end ();
    return check_finish ();
  }
  test_volumes ();
  check_case ("remapping planes of 2^31 bytes and more", test_remap);
  return check_finish ();
}
