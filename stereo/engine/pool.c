/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A pool of threads that share the items of one job at a time: each thread takes the next item that is left.
 *
 * A frame has dozens of jobs, one soon after the other. Who sleeps has to be woken, and all who wake want the same lock. So a thread
 * first polls for a while whether the next job has begun, and the caller whether this one is done, and only then sleeps. Where
 * there are more threads than processors nobody polls: it would hold up those who work.
 */
#include "stereo/engine/pool.h"
#include "stereo/engine/error.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define POLL_NS 60000 /* what it takes to sleep and to be woken, at most */
#define POLLS 64      /* from one reading of the clock to the next */

typedef struct Worker
{
  StereoPool *pool;
  pthread_t thread;
  int index;
} Worker;

struct StereoPool
{
  pthread_mutex_t lock;
  pthread_cond_t begun, done;
  Worker workers[STEREO_MAX_THREADS]; /* [0] is the caller */
  int threads;
  int polls;       /* threads poll before they sleep */
  unsigned begins; /* jobs that have begun, and the end of the pool; atomic */
  unsigned left;   /* items that are not done; atomic */
  int quit;

  void *work;
  StereoJob job;
  unsigned items;
  uint64_t next; /* items that nobody has taken, below the number of the job, so that who wakes late takes none of another one; atomic */
};

static unsigned
read_atomic (const unsigned *at)
{
  return __atomic_load_n (at, __ATOMIC_ACQUIRE);
}

/* Tells the processor that this thread does nothing but wait. */
static void
relax (void)
{
#if defined __x86_64__ || defined __i386__
  __builtin_ia32_pause ();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

/* Polls for a while whether *@at is @value, or is not. */
static int
soon (const StereoPool *pool, const unsigned *at, unsigned value, int is)
{
  uint64_t end = 0, now = 0;

  if (!pool->polls)
    return (read_atomic (at) == value) == is;
  do {
    for (int n = 0; n < POLLS; n++) {
      if ((read_atomic (at) == value) == is)
        return 1;
      relax ();
    }
    now = stereo_now_ns ();
    end = end ? end : now + POLL_NS;
  } while (now < end);
  return 0;
}

static void
take_items (StereoPool *pool, int thread)
{
  uint64_t next = __atomic_load_n (&pool->next, __ATOMIC_ACQUIRE);

  while ((uint32_t) next) {
    if (!__atomic_compare_exchange_n (&pool->next, &next, next - 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
      continue;
    pool->job (pool->work, (int) (pool->items - (uint32_t) next), thread);
    if (!__atomic_sub_fetch (&pool->left, 1, __ATOMIC_ACQ_REL) && thread) {
      /* the caller may sleep */
      pthread_mutex_lock (&pool->lock);
      pthread_cond_signal (&pool->done);
      pthread_mutex_unlock (&pool->lock);
    }
    next = __atomic_load_n (&pool->next, __ATOMIC_ACQUIRE);
  }
}

static void
await_begin (StereoPool *pool, unsigned seen)
{
  if (soon (pool, &pool->begins, seen, 0))
    return;
  pthread_mutex_lock (&pool->lock);
  while (read_atomic (&pool->begins) == seen)
    pthread_cond_wait (&pool->begun, &pool->lock);
  pthread_mutex_unlock (&pool->lock);
}

static void
await_done (StereoPool *pool)
{
  if (soon (pool, &pool->left, 0, 1))
    return;
  pthread_mutex_lock (&pool->lock);
  while (read_atomic (&pool->left))
    pthread_cond_wait (&pool->done, &pool->lock);
  pthread_mutex_unlock (&pool->lock);
}

/* Lets the workers go on. Under the lock: no worker is then between its last poll and its sleep. */
static void
begin (StereoPool *pool)
{
  pthread_mutex_lock (&pool->lock);
  __atomic_add_fetch (&pool->begins, 1, __ATOMIC_RELEASE);
  pthread_cond_broadcast (&pool->begun);
  pthread_mutex_unlock (&pool->lock);
}

static void *
worker_main (void *data)
{
  Worker *worker = data;
  StereoPool *pool = worker->pool;

  for (unsigned seen = 0;; seen++) {
    await_begin (pool, seen);
    if (pool->quit)
      return NULL;
    take_items (pool, worker->index);
  }
}

StereoPool *
stereo_pool_new (int threads)
{
  StereoPool *pool = calloc (1, sizeof *pool);
  int processors = (int) sysconf (_SC_NPROCESSORS_ONLN);

  if (!pool)
    return NULL;
  if (threads <= 0)
    threads = processors;
  pool->polls = threads <= processors;
  pthread_mutex_init (&pool->lock, NULL);
  pthread_cond_init (&pool->begun, NULL);
  pthread_cond_init (&pool->done, NULL);
  pool->threads = 1;
  for (int i = 1; i < threads && i < STEREO_MAX_THREADS; i++) {
    Worker *worker = &pool->workers[i];
    worker->pool = pool;
    worker->index = i;
    if (pthread_create (&worker->thread, NULL, worker_main, worker))
      break;
    pool->threads = i + 1;
  }
  return pool;
}

void
stereo_pool_free (StereoPool *pool)
{
  if (!pool)
    return;
  pool->quit = 1;
  begin (pool);
  for (int i = 1; i < pool->threads; i++)
    pthread_join (pool->workers[i].thread, NULL);
  pthread_cond_destroy (&pool->begun);
  pthread_cond_destroy (&pool->done);
  pthread_mutex_destroy (&pool->lock);
  free (pool);
}

int
stereo_pool_threads (const StereoPool *pool)
{
  return pool->threads;
}

void
stereo_pool_run (StereoPool *pool, void *work, StereoJob job, int items)
{
  pool->work = work;
  pool->job = job;
  pool->items = pool->left = (unsigned) items;
  __atomic_store_n (&pool->next, (uint64_t) (pool->begins + 1) << 32 | (unsigned) items, __ATOMIC_RELEASE);
  begin (pool);
  take_items (pool, 0);
  await_done (pool);
}
