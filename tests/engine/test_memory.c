/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The machine has no memory: the n-th allocation fails, for every n, alone and with all after it. What is made then is
 * refused with STEREO_ERROR_MEMORY and a sentence, nothing is left behind, and the next attempt works.
 *
 * The linker puts the functions below in place of the allocator (--wrap), in the engine as well: see meson.build.
 */
#include <pthread.h>
#include <stdarg.h>

#include "stereo/remap.h"
#include "pair.h"

enum
{
  WIDTH = 67,
  HEIGHT = 31,
  MOST_LIVE = 256
};

/* ---- an allocator that fails when told ---------------------------------------------------------- */

static struct
{
  int armed;      /* count, and fail; else this is the real allocator */
  int before;     /* allocations that succeed before the one that fails; negative: none fails */
  int stays;      /* all after it fail too */
  int calls;      /* since armed */
  int no_threads; /* threads cannot be started */
  void *live[MOST_LIVE];
} memory;

void *__real_malloc (size_t size);
void *__real_calloc (size_t count, size_t size);
void *__real_realloc (void *old, size_t size);
void *__real_aligned_alloc (size_t alignment, size_t size);
int __real_posix_memalign (void **where, size_t alignment, size_t size);
void __real_free (void *pointer);
int __real_pthread_create (pthread_t *thread, const pthread_attr_t *attributes, void *(*start) (void *), void *data);
void *__wrap_malloc (size_t size);
void *__wrap_calloc (size_t count, size_t size);
void *__wrap_realloc (void *old, size_t size);
void *__wrap_aligned_alloc (size_t alignment, size_t size);
int __wrap_posix_memalign (void **where, size_t alignment, size_t size);
void __wrap_free (void *pointer);
int __wrap_pthread_create (pthread_t *thread, const pthread_attr_t *attributes, void *(*start) (void *), void *data);

static int
fails (void)
{
  if (!memory.armed)
    return 0;
  int call = memory.calls++;
  return memory.before >= 0 && (call == memory.before || (memory.stays && call > memory.before));
}

static int
live_count (void)
{
  int count = 0;
  for (int k = 0; k < MOST_LIVE; k++)
    count += memory.live[k] != NULL;
  return count;
}

static void
replace (const void *old, void *new)
{
  for (int k = 0; k < MOST_LIVE; k++)
    if (memory.live[k] == old) {
      memory.live[k] = new;
      return;
    }
  if (!old)
    check_fail (__FILE__, __LINE__, "replace", "more than %d allocations live", MOST_LIVE);
}

/* What was had while armed is remembered until it is freed. */
static void *
keep (void *pointer)
{
  if (memory.armed && pointer)
    replace (NULL, pointer);
  return pointer;
}

void *
__wrap_malloc (size_t size)
{
  return fails () ? NULL : keep (__real_malloc (size));
}

void *
__wrap_calloc (size_t count, size_t size)
{
  return fails () ? NULL : keep (__real_calloc (count, size));
}

void *
__wrap_realloc (void *old, size_t size)
{
  if (fails ())
    return NULL;
  if (old)
    replace (old, NULL);
  return keep (__real_realloc (old, size));
}

void *
__wrap_aligned_alloc (size_t alignment, size_t size)
{
  return fails () ? NULL : keep (__real_aligned_alloc (alignment, size));
}

int
__wrap_posix_memalign (void **where, size_t alignment, size_t size)
{
  int status = fails () ? 12 : __real_posix_memalign (where, alignment, size);
  if (!status)
    keep (*where);
  return status;
}

void
__wrap_free (void *pointer)
{
  if (pointer)
    replace (pointer, NULL);
  __real_free (pointer);
}

int
__wrap_pthread_create (pthread_t *thread, const pthread_attr_t *attributes, void *(*start) (void *), void *data)
{
  return memory.no_threads ? 11 : __real_pthread_create (thread, attributes, start, data);
}

/* ---- what is tried ----------------------------------------------------------------------------------- */

/* One attempt at all that allocates: whether it worked; it must free what it had. */
typedef int (*Attempt) (const void *setting, Pair *pair, StereoError *error);

static int
try_plan (const void *setting, Pair *pair, StereoError *error)
{
  StereoPlan *plan = stereo_plan_new (setting, WIDTH, HEIGHT, error);
  StereoImage left = picture_view (&pair->picture[0]), right = picture_view (&pair->picture[1]), copy = { 0 };
  StereoOutput output = { pair->result, WIDTH * 2, STEREO_SAMPLE_U16, pair->confidence, WIDTH };

  if (!plan)
    return 0;
  int worked = !stereo_plan_image_new (plan, &left, &copy, error) &&
      !stereo_plan_execute (plan, &copy, &right, &output, NULL, error);
  stereo_plan_image_free (plan, &copy);
  stereo_plan_free (plan);
  return worked;
}

static float map_x[WIDTH * HEIGHT], map_y[WIDTH * HEIGHT];

/* A map for each view; luma, and chroma of a quarter of the size, which needs a table of its own. */
static int
try_remap (const void *setting, Pair *pair, StereoError *error)
{
  StereoRemapMap maps[2] = { { WIDTH, HEIGHT, WIDTH, HEIGHT, map_x, map_y, WIDTH },
    { WIDTH, HEIGHT, WIDTH, HEIGHT, map_x, map_y, WIDTH } };
  StereoRemapPlane planes[3] = { { .map = 0, .channels = 1, .source = { .pixel_stride = 3 }, .target = { 1 } },
    { .map = 1, .channels = 1, .source = { .pixel_stride = 3 }, .target = { 1 } },
    { .map = 0,
        .channels = 1,
        .source = { .pixel_stride = 3, .shift_x = 1, .shift_y = 1 },
        .target = { .pixel_stride = 1, .shift_x = 1, .shift_y = 1 } } };
  StereoRemapParams params = { maps, 2, planes, 3, STEREO_BACKEND_CPU, -1, 2 };
  StereoRemap *remap = stereo_remap_new (&params, error);
  uint8_t *results = (uint8_t *) pair->result;
  StereoRemapSource sources[3];
  StereoRemapTarget targets[3] = { { results, WIDTH, STEREO_MEMORY_HOST },
    { results + WIDTH * HEIGHT, WIDTH, STEREO_MEMORY_HOST }, { pair->confidence, WIDTH, STEREO_MEMORY_HOST } };

  for (int p = 0; p < 3; p++)
    sources[p] = (StereoRemapSource){ pair->picture[p % 2].data, pair->picture[p % 2].stride, STEREO_MEMORY_HOST };
  int worked = remap && !stereo_remap_execute (remap, sources, targets, NULL, error);
  stereo_remap_free (remap);
  return worked;
}

/* ---- every allocation, one after the other --------------------------------------------------------------- */

static int
attempt_with (Attempt attempt, const void *setting, Pair *pair, int before, int stays, StereoError *error)
{
  *error = (StereoError){ STEREO_OK, "" };
  memory.before = before;
  memory.stays = stays;
  memory.calls = 0;
  memory.armed = 1;
  int worked = attempt (setting, pair, error);
  memory.armed = 0;
  CHECK (live_count () == 0, "allocation %d%s: %d allocations are left", before, stays ? " and all after it" : "",
      live_count ());
  memset (memory.live, 0, sizeof memory.live);
  return worked;
}

static void
exhaust (Attempt attempt, const void *setting)
{
  StereoError error;
  Pair want, got;

  pair_new (&want, WIDTH, HEIGHT, 7);
  pair_new (&got, WIDTH, HEIGHT, 7);
  CHECK (attempt_with (attempt, setting, &want, -1, 0, &error), "%s", error.message);
  int calls = memory.calls;
  CHECK (calls > 2, "only %d allocations: the engine's are not counted", calls);
  for (int stays = 0; stays < 2; stays++)
    for (int before = 0; before < calls; before++) {
      if (attempt_with (attempt, setting, &got, before, stays, &error))
        CHECK (0, "allocation %d of %d failed, and nobody says so", before, calls);
      CHECK (error.status == STEREO_ERROR_MEMORY && strlen (error.message) > 20, "allocation %d of %d: status %d, '%s'",
          before, calls, error.status, error.message);
    }
  memset (got.result, 0, WIDTH * HEIGHT * sizeof *got.result);
  CHECK (attempt_with (attempt, setting, &got, -1, 0, &error), "after the failures: %s", error.message);
  CHECK (pair_same_results (&want, &got), "after the failures: another result");
  /* without threads all is done by the caller's */
  memset (got.result, 0, WIDTH * HEIGHT * sizeof *got.result);
  memory.no_threads = 1;
  CHECK (attempt_with (attempt, setting, &got, -1, 0, &error), "without threads: %s", error.message);
  memory.no_threads = 0;
  CHECK (pair_same_results (&want, &got), "without threads: another result");
  pair_free (&want);
  pair_free (&got);
}

static void
test_plans (void)
{
  static const int refine[] = { STEREO_REFINE_TWO_PASS, STEREO_REFINE_FULL, STEREO_REFINE_IDR };

  for (int method = 0; method < STEREO_METHODS; method++)
    for (int k = 0; k < 3; k++)
      if (check_begin ("plan method=%s, refine mode %d", stereo_method_info (method)->name, k)) {
        StereoParams params;
        params_small (&params);
        params_set (&params, "method=%d refine-mode=%d refine-iterations=1 speckle-size=20 threads=3 align=%s", method,
            refine[k], k % 2 ? "auto" : "off");
        exhaust (try_plan, &params);
        check_end ();
      }
}

CASE (test_remap, "remap")
{
  for (int y = 0; y < HEIGHT; y++)
    for (int x = 0; x < WIDTH; x++) {
      map_x[y * WIDTH + x] = (float) x + 0.25f;
      map_y[y * WIDTH + x] = (float) y * 0.9f;
    }
  exhaust (try_remap, NULL);
}

int
main (int argc, char **argv)
{
  check_start (argc, argv);
  test_plans ();
  check_registered ();
  return check_finish ();
}
