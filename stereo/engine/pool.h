/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A pool of threads that share the items of one job at a time. */
#ifndef STEREO_ENGINE_POOL_H
#define STEREO_ENGINE_POOL_H

#ifdef __cplusplus
extern "C" {
#endif

#define STEREO_MAX_THREADS 256

typedef struct StereoPool StereoPool;

/* Does item @item (0..items - 1) of a job, on thread @thread (0..threads - 1). @work is what the caller of
 * stereo_pool_run() gave. Which thread takes which item changes from run to run: a result must not depend on it. */
typedef void (*StereoJob) (void *work, int item, int thread);

/* @threads: 0 means one for each processor. If the system gives fewer threads, the pool works with those. NULL: no memory. */
StereoPool *stereo_pool_new (int threads);
/* NULL is fine. */
void stereo_pool_free (StereoPool *pool);
/* Threads of the pool, the caller included: scratch memory must allow for all of them. */
int stereo_pool_threads (const StereoPool *pool);
/* Runs every item once, on all threads, and returns when all items are done. */
void stereo_pool_run (StereoPool *pool, void *work, StereoJob job, int items);

#ifdef __cplusplus
}
#endif
#endif
