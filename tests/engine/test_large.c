/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Volumes of more than 2^32 elements (2^31 on the CPU) and pictures of more than 2^31 bytes, see tiled.h. On the GPU;
 * STEREO_TEST_BACKEND=cpu runs it on the CPU, which takes minutes.
 */
#include "stereo/engine/remap.h"
#include "tests/support/params.h"
#include "tiled.h"

#include <unistd.h>

static Random random_state;
static int backend = STEREO_BACKEND_CUDA;

/* ---- shapes, settings -------------------------------------------------------------------------------- */

enum
{
  SQUARE,
  WIDE,
  TALL,
  DEEP,
  SHAPES
};

/* 192 rows: an offset that wraps at a power of two must not meet the same place of another tile. The kernels'
 * own tiles and strips, up to 64 px, begin in every tile at the same places, so that sums of floats are the same. */
static const TiledShape shapes[SHAPES] = {
  [SQUARE] = { 512, 192, 12, 30, 0, 128 },
  [WIDE] = { 512, 192, 64, 6, 0, 128 },
  [TALL] = { 1152, 192, 1, 170, 0, 128 },
  [DEEP] = { 2304, 192, 1, 10, -100, 1024 },
};

typedef struct Setting
{
  const char *name;
  int shapes; /* a bit each */
  const char *params;
  ptrdiff_t stride;
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
};

static TiledShape
shape_of (int number)
{
  TiledShape shape = shapes[number];

  if (backend == STEREO_BACKEND_CPU)
    shape.down = (shape.down + 1) / 2;
  return shape;
}

/* Iterations reach 27 px. */
static void
set (StereoParams *params, const Setting *setting, const TiledShape *shape)
{
  stereo_params_init (params);
  params_set (params, "backend=%d min-disparity=%d num-disparities=%d iterations=5 speckle-size=8 fill=none %s",
      backend, shape->min, shape->num, setting->params);
}

/* ---- cases ------------------------------------------------------------------------------------------- */

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
  /* pictures and results, pinned memory, maps to compare; the small volume; and on the CPU the plan itself */
  double wanted = 80 * pixels + volume * 3 / s->down;

  if (backend == STEREO_BACKEND_CPU)
    wanted += 2.2 * volume + 100 * pixels;

  if (host_memory () >= wanted)
    return 1;
  check_skip ("it takes about %.0f GB of host memory, and %.0f GB are free", wanted / 1e9, host_memory () / 1e9);
  return 0;
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

static void
compare (const StereoParams *params, const TiledShape *shape, ptrdiff_t stride)
{
  TiledShape less = tiled_small (shape);
  Tiled large = { 0 }, small = { 0 };
  StereoError error = { 0 };
  uint64_t seed = random_next (&random_state);

  if (CHECK (tiled_new (&large, shape, stride, seed) && tiled_new (&small, &less, 0, seed), "no memory for pictures")) {
    StereoPlan *plan = plan_for (params, &large), *other = plan ? plan_for (params, &small) : NULL;
    if (other) {
      double elements = (double) large.width * large.height * plan->depth;
      CHECK (elements > (backend == STEREO_BACKEND_CPU ? 2147483648.0 : 4294967296.0), "%.0f elements", elements);
      if (CHECK (!tiled_execute (&large, plan, &error) && !tiled_execute (&small, other, &error), "%s", error.message))
        tiled_compare (&large, plan, &small, other, 0);
    }
    stereo_plan_free (plan);
    stereo_plan_free (other);
  }
  tiled_free (&large);
  tiled_free (&small);
}

static void
test_volumes (void)
{
  for (int n = 0; n < SHAPES; n++)
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
      TiledShape shape = shape_of (n);
      StereoParams params;
      if (!(settings[k].shapes & ON (n)) ||
          !check_begin ("%dx%d, %d disparities, %s", shape.width * shape.across, shape.height * shape.down, shape.num,
              settings[k].name))
        continue;
      set (&params, &settings[k], &shape);
      if (fits (&shape))
        compare (&params, &shape, settings[k].stride);
      check_end ();
    }
}

/* ---- pictures in device memory ------------------------------------------------------------------- */

/* Both views there, halves of one picture whose rows are far apart. */
static StereoStatus
execute_there (Tiled *t, StereoPlan *plan, StereoError *error)
{
  size_t size = (size_t) t->stride * (size_t) t->height;
  void *there = plan->backend->allocate (plan, size, error);
  StereoStatus status = there ? STEREO_OK : STEREO_ERROR_MEMORY;
  StereoImage left = { there, t->stride, 3, 3, { 0, 1, 2 }, STEREO_MEMORY_CUDA }, right = left;
  StereoOutput output = { t->disparity, (ptrdiff_t) t->width * 4, STEREO_SAMPLE_F32, t->confidence, t->width };

  if (!status)
    status = plan->backend->copy_in (plan, there, t->view[0], size);
  right.data = left.data + (t->view[1] - t->view[0]);
  if (!status)
    status = stereo_plan_execute (plan, &left, &right, &output, NULL, error);
  if (there)
    plan->backend->release (plan, there);
  return status;
}

static void
test_device_memory (void)
{
  TiledShape shape = shape_of (TALL), less;
  const Setting setting = { "", 0, "method=bm cost=sad window=5 paths=8 refine-iterations=0 median=3", FAR_APART };
  Tiled large = { 0 }, small = { 0 };
  StereoParams params;
  StereoError error = { 0 };

  if (backend == STEREO_BACKEND_CPU) {
    check_skip ("there is no device");
    return;
  }
  if (!fits (&shape))
    return;
  shape.num = 16;
  less = tiled_small (&shape);
  set (&params, &setting, &shape);
  uint64_t seed = random_next (&random_state);
  if (CHECK (tiled_new (&large, &shape, FAR_APART, seed) && tiled_new (&small, &less, 0, seed), "no memory")) {
    StereoPlan *plan = plan_for (&params, &large), *other = plan ? plan_for (&params, &small) : NULL;
    CHECK ((double) large.stride * large.height > 2147483648.0, "rows %td bytes apart", large.stride);
    if (other &&
        CHECK (!execute_there (&large, plan, &error) && !tiled_execute (&small, other, &error), "%s", error.message))
      tiled_compare (&large, plan, &small, other, 0);
    stereo_plan_free (plan);
    stereo_plan_free (other);
  }
  tiled_free (&large);
  tiled_free (&small);
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

/* Where a plane of more than 2^31 bytes lies: of a CUDA plan the device's memory, else the host's. */
typedef struct Far
{
  StereoPlan *plan;
  uint8_t *data;
} Far;

static const uint8_t channel_offset[] = { 0, 5, 10, 15 };

static void
fill_source (Far *f, uint8_t *row, size_t size)
{
  for (int y = 0; y < REMAP_HEIGHT; y++) {
    for (int x = 0; x < REMAP_WIDTH; x++)
      for (int c = 0; c < 4; c++)
        row[x * REMAP_PIXEL + channel_offset[c]] = remap_sample (x, y, c);
    CHECK (!f->plan->backend->copy_in (f->plan, f->data + (size_t) y * size, row, size), "row %d did not get there", y);
  }
}

static void
check_target (Far *f, uint8_t *row, size_t size)
{
  for (int y = 0; y < REMAP_HEIGHT; y += y < 8 || y > REMAP_HEIGHT - 40 ? 1 : 31) {
    int wrong = 0;
    CHECK (!f->plan->backend->copy_out (f->plan, row, f->data + (size_t) y * size, size), "row %d did not come", y);
    for (int x = 0; x < REMAP_WIDTH; x++)
      for (int c = 0; c < 4; c++) {
        int inside = x + SHIFT_X < REMAP_WIDTH && y + SHIFT_Y >= 0;
        int want = inside ? remap_sample (x + SHIFT_X, y + SHIFT_Y, c) : 7;
        wrong += row[x * REMAP_PIXEL + channel_offset[c]] != want;
      }
    CHECK (!wrong, "%d samples of row %d are not those %d columns and %d rows on", wrong, y, SHIFT_X, SHIFT_Y);
  }
}

static void
run_remap (Far *source, Far *target, float *map_x, float *map_y, ptrdiff_t stride)
{
  StereoRemapMap map = { REMAP_WIDTH, REMAP_HEIGHT, REMAP_WIDTH, REMAP_HEIGHT, map_x, map_y, REMAP_WIDTH };
  StereoRemapPlane plane = { .map = 0,
    .channels = 4,
    .source = { REMAP_PIXEL, { 0, 5, 10, 15 }, 0, 0, 0, 0 },
    .target = { REMAP_PIXEL, { 0, 5, 10, 15 }, 0, 0, 0, 0 },
    .border = { 7, 7, 7, 7 } };
  StereoRemapParams params = { &map, 1, &plane, 1, backend, -1, 0 };
  StereoMemory memory = backend == STEREO_BACKEND_CUDA ? STEREO_MEMORY_CUDA : STEREO_MEMORY_HOST;
  StereoRemapSource from = { source->data, stride, memory };
  StereoRemapTarget to = { target->data, stride, memory };
  StereoError error = { 0 };

  for (int y = 0; y < REMAP_HEIGHT; y++)
    for (int x = 0; x < REMAP_WIDTH; x++) {
      map_x[(size_t) y * REMAP_WIDTH + (size_t) x] = (float) (x + SHIFT_X);
      map_y[(size_t) y * REMAP_WIDTH + (size_t) x] = (float) (y + SHIFT_Y);
    }
  StereoRemap *remap = stereo_remap_new (&params, &error);
  if (!remap && error.status == STEREO_ERROR_MEMORY)
    check_skip ("%s", error.message);
  else if (CHECK (remap != NULL, "%s", error.message))
    CHECK (!stereo_remap_execute (remap, &from, &to, NULL, &error), "%s", error.message);
  stereo_remap_free (remap);
}

static void
test_remap (void)
{
  size_t stride = (size_t) REMAP_WIDTH * REMAP_PIXEL, pixels = (size_t) REMAP_WIDTH * REMAP_HEIGHT;
  double wanted = 2 * (double) pixels * 4 + (double) pixels * 6 +
      (backend == STEREO_BACKEND_CPU ? 2.0 : 1.0) * (double) stride * REMAP_HEIGHT * 2;
  StereoParams params;
  StereoError error = { 0 };

  if (host_memory () < wanted) {
    check_skip ("it takes about %.0f GB of host memory, and %.0f GB are free", wanted / 1e9, host_memory () / 1e9);
    return;
  }
  stereo_params_init (&params);
  params.backend = backend;
  params.num_disparities = 16;
  StereoPlan *plan = stereo_plan_new (&params, 64, 16, &error); /* for its memory */
  if (!CHECK (plan != NULL, "%s", error.message))
    return;
  size_t size = stride * REMAP_HEIGHT;
  Far source = { plan, plan->backend->allocate (plan, size, &error) };
  Far target = { plan, source.data ? plan->backend->allocate (plan, size, &error) : NULL };
  float *map = malloc (2 * pixels * sizeof *map);
  uint8_t *row = calloc (stride, 1);
  if (!target.data)
    check_skip ("%s", error.message);
  else if (CHECK (map && row, "no memory")) {
    fill_source (&source, row, stride);
    run_remap (&source, &target, map, map + pixels, (ptrdiff_t) stride);
    check_target (&target, row, stride);
  }
  if (target.data)
    plan->backend->release (plan, target.data);
  if (source.data)
    plan->backend->release (plan, source.data);
  stereo_plan_free (plan);
  free (map);
  free (row);
}

int
main (int argc, char **argv)
{
  const char *wanted = getenv ("STEREO_TEST_BACKEND");
  char reason[200] = "";

  random_state.state = random_seed ();
  check_start (argc, argv);
  setenv ("STEREO_CPU_FUSION", "0", 1); /* volumes are compared, which nothing else would read */
  if (wanted && !strcmp (wanted, "cpu"))
    backend = STEREO_BACKEND_CPU;
  else if (!stereo_backend_available (STEREO_BACKEND_CUDA, -1, reason, sizeof reason)) {
    check_begin ("large volumes");
    check_skip ("%s", reason);
    check_end ();
    return check_finish ();
  }
  test_volumes ();
  check_case ("pictures in device memory, 2^31 bytes and more", test_device_memory);
  check_case ("remapping planes of 2^31 bytes and more", test_remap);
  return check_finish ();
}
