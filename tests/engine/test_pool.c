/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pool of threads: every item of a job once, whether threads look for the next job or sleep. */
#include "tests/support/check.h"
#include "tests/support/random.h"
#include "stereo/engine/pool.h"

#include <time.h>

enum
{
  MOST_ITEMS = 40,
  LONG_MS = 2, /* longer than a thread looks before it sleeps */
};

/* A job whose items note that they were done. What they note is not atomic: the pool has to make it seen. */
typedef struct Work
{
  uint32_t round;
  int items, threads;
  int slow; /* item that takes LONG_MS; -1: none */
  uint32_t noted[MOST_ITEMS];
  int done[MOST_ITEMS]; /* atomic */
  int strange;          /* atomic: items or threads that there are not */
} Work;

static void
pause_ms (double ms)
{
  struct timespec time = { 0, (long) (ms * 1e6) };
  nanosleep (&time, NULL);
}

static void
note (void *data, int item, int thread)
{
  Work *work = data;

  if (item < 0 || item >= work->items || thread < 0 || thread >= work->threads) {
    __atomic_add_fetch (&work->strange, 1, __ATOMIC_RELAXED);
    return;
  }
  if (item == work->slow)
    pause_ms (LONG_MS);
  work->noted[item] = work->round * 1000 + (uint32_t) item;
  __atomic_add_fetch (&work->done[item], 1, __ATOMIC_RELAXED);
}

/* Runs one job of a random number of items. */
static void
run_job (StereoPool *pool, Random *random, uint32_t round)
{
  Work work = { .round = round, .threads = stereo_pool_threads (pool), .slow = -1 };

  work.items = random_range (random, 0, MOST_ITEMS);
  if (work.items && random_range (random, 0, 40) == 0)
    work.slow = random_range (random, 0, work.items - 1);
  stereo_pool_run (pool, &work, note, work.items);
  CHECK (!work.strange, "round %u: %d items or threads that there are not", round, work.strange);
  for (int i = 0; i < MOST_ITEMS; i++) {
    int there = i < work.items;
    CHECK (work.done[i] == there, "round %u: item %d of %d is done %d times", round, i, work.items, work.done[i]);
    CHECK (work.noted[i] == (there ? round * 1000 + (uint32_t) i : 0), "round %u: item %d left %u", round, i,
        work.noted[i]);
  }
}

/* More threads than processors are among them. */
CASE (test_items, "every item once")
{
  static const int threads[] = { 1, 2, 3, 4, 8, 17, 0 };
  Random random = { random_seed () };

  for (size_t k = 0; k < sizeof threads / sizeof *threads; k++) {
    StereoPool *pool = stereo_pool_new (threads[k]);
    if (!CHECK (pool != NULL, "no pool of %d threads", threads[k]))
      return;
    CHECK (!threads[k] || stereo_pool_threads (pool) == threads[k], "%d threads, not %d", stereo_pool_threads (pool),
        threads[k]);
    for (uint32_t round = 1; round <= 500 && !check_failures (); round++) {
      run_job (pool, &random, round);
      /* now and then the threads fall asleep in between */
      if (random_range (&random, 0, 20) == 0)
        pause_ms (random_unit (&random) * LONG_MS);
    }
    stereo_pool_free (pool);
  }
}

/* A pool ends when its threads have not begun, while they look and while they sleep. */
CASE (test_ends, "the end of a pool")
{
  Random random = { random_seed () };

  stereo_pool_free (NULL);
  for (int k = 0; k < 200; k++) {
    StereoPool *pool = stereo_pool_new (random_range (&random, 1, 8));
    if (!CHECK (pool != NULL, "no pool"))
      return;
    for (int job = random_range (&random, 0, 2); job > 0; job--)
      run_job (pool, &random, 1);
    if (random_range (&random, 0, 9) == 0)
      pause_ms (LONG_MS);
    stereo_pool_free (pool);
  }
}
