/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pool of threads that share the items of one job at a time: each thread takes the next item that is left. */
#include "stereo/engine/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Worker
{
  StereoPool *pool;
  int index;
  pthread_t thread;
} Worker;

struct StereoPool
{
  pthread_mutex_t lock;
  pthread_cond_t begun, done;
  Worker workers[STEREO_MAX_THREADS]; /* [0] is the caller */
  int threads;
  unsigned generation;
  int busy, quit;

  void *work;
  StereoJob job;
  int items, next;
};

static void
take_items (StereoPool *pool, int thread)
{
  int item;
  while ((item = __atomic_fetch_add (&pool->next, 1, __ATOMIC_RELAXED)) < pool->items)
    pool->job (pool->work, item, thread);
}

static void *
worker_main (void *data)
{
  Worker *worker = data;
  StereoPool *pool = worker->pool;
  unsigned seen = 0;

  pthread_mutex_lock (&pool->lock);
  for (;;) {
    while (pool->generation == seen && !pool->quit)
      pthread_cond_wait (&pool->begun, &pool->lock);
    if (pool->quit)
      break;
    seen = pool->generation;
    pthread_mutex_unlock (&pool->lock);
    take_items (pool, worker->index);
    pthread_mutex_lock (&pool->lock);
    if (--pool->busy == 0)
      pthread_cond_signal (&pool->done);
  }
  pthread_mutex_unlock (&pool->lock);
  return NULL;
}

StereoPool *
stereo_pool_new (int threads)
{
  StereoPool *pool = calloc (1, sizeof *pool);
  if (!pool)
    return NULL;
  if (threads <= 0)
    threads = (int) sysconf (_SC_NPROCESSORS_ONLN);
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
  pthread_mutex_lock (&pool->lock);
  pool->quit = 1;
  pthread_cond_broadcast (&pool->begun);
  pthread_mutex_unlock (&pool->lock);
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
  pthread_mutex_lock (&pool->lock);
  pool->work = work;
  pool->job = job;
  pool->items = items;
  pool->next = 0;
  pool->busy = pool->threads - 1;
  pool->generation++;
  pthread_cond_broadcast (&pool->begun);
  pthread_mutex_unlock (&pool->lock);

  take_items (pool, 0);

  pthread_mutex_lock (&pool->lock);
  while (pool->busy)
    pthread_cond_wait (&pool->done, &pool->lock);
  pthread_mutex_unlock (&pool->lock);
}
