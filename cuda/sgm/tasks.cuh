/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Semi-global matching along lines: what a group of lanes does at a pixel of its line, and how what it reads for that is copied
 * to shared memory. */
#ifndef STEREO_CUDA_SGM_TASKS_CUH
#define STEREO_CUDA_SGM_TASKS_CUH

#include "cuda/sgm/paths.cuh"

namespace
{

/*
 * What a group does at a pixel. Before the last path, what paths add is kept in sets of bytes, one for each candidate. The volume
 * has room for two sets, and s.sets for others. Where what two paths add fits a byte, a direction has one set for both ways;
 * where only that of one path does, it has one for each way. The direction of the last path has one for the path before.
 * Costs need not be kept: all paths have the same. Where such sets would be too many, s.sets has what the first path of a direction
 * adds, and the volume has sums of the directions before. Where nothing fits, the volume has sums alone.
 */
enum Task
{
  SUMS_FIRST,     /* stores the costs of its path */
  SUMS_ADD,       /* adds those of its path to the sums in the volume */
  SUMS_LAST,      /* the same, and marks the missing candidates */
  ROUNDED_FIRST,  /* stores what its path adds, rounded, as bytes */
  ROUNDED_ADD,    /* adds that of its path to such bytes */
  ROUNDED_LAST,   /* stores the sum of all four paths, and marks the missing candidates */
  ROUNDED_EIGHT,  /* the same of eight paths */
  BYTES_FIRST,    /* stores what its path adds, as bytes */
  BYTES_SUMS,     /* stores the costs of both paths of its direction */
  BYTES_ADD,      /* adds them to the sums in the volume */
  BYTES_ADD_LAST, /* the same, and marks the missing candidates */
  BYTES_LAST      /* stores the sum of all four paths, and marks the missing candidates */
};

__host__ __device__ constexpr bool
is_rounded (Task task)
{
  return task >= ROUNDED_FIRST && task <= ROUNDED_EIGHT;
}

/* Counts in steps of the costs, not of a path's: penalties are whole steps there. */
__host__ __device__ constexpr bool
is_in_bytes (Task task)
{
  return task >= BYTES_FIRST;
}

__host__ __device__ constexpr bool
is_last (Task task)
{
  return task == SUMS_LAST || task == ROUNDED_LAST || task == ROUNDED_EIGHT || task >= BYTES_ADD_LAST;
}

__host__ __device__ constexpr bool
stores_sums (Task task)
{
  return task <= SUMS_LAST || task == ROUNDED_LAST || task == ROUNDED_EIGHT || task > BYTES_FIRST;
}

__host__ __device__ constexpr bool
reads_sums (Task task)
{
  return task == SUMS_ADD || task == SUMS_LAST || task == BYTES_ADD || task == BYTES_ADD_LAST;
}

/* Sets that a task reads in s.sets, side by side for each pixel. */
__host__ __device__ constexpr int
more_sets_of (Task task)
{
  return task == ROUNDED_EIGHT ? 2 : task > BYTES_FIRST ? 1 : 0;
}

/* Sets of bytes that a task reads of a pixel, besides its costs: first those of the volume, whose sums count as two. */
__host__ __device__ constexpr int
sets_of (Task task)
{
  bool two = reads_sums (task) || task == ROUNDED_LAST || task == ROUNDED_EIGHT || task == BYTES_LAST;
  return (two ? 2 : task == ROUNDED_ADD ? 1 : 0) + more_sets_of (task);
}

/* Paths whose costs are not in what a task reads, with its own. */
__host__ __device__ constexpr int
new_paths_of (Task task)
{
  return task == ROUNDED_EIGHT ? 8 : task == ROUNDED_LAST || task == BYTES_LAST ? 4 : task > BYTES_FIRST ? 2 : 1;
}

/* ---- copies -------------------------------------------------------------------------------------- */

/* What a task reads of a few pixels. */
template <int PAIRS, int SETS> struct Batch
{
  static const int wide = SETS > 3 ? 2 * PAIRS : PAIRS;
  static const int pixels = PAIRS <= 2 && SETS == 0 ? 8 : wide <= 8 ? 4 : wide <= 16 ? 2 : 1;
  RawCosts<PAIRS> raw[pixels];
  RawCosts<PAIRS> set[SETS > 0 ? SETS : 1][pixels]; /* of sums: the first half of the pairs, the second one */
};

/* The batches that are being copied, a ring in the warp's part of shared memory: costs, then sets. A lane reads only its own
 * copies. */
template <int PAIRS, int SETS> struct PixelRing
{
  static const int ahead = PAIRS > 4 || Batch<PAIRS, SETS>::pixels == 8 ? 2 : SETS > 1 ? 3 : 4; /* batches */
  static const int set = 2 * PAIRS, pixel = 32 * (SETS + 1) * set, batch = Batch<PAIRS, SETS>::pixels * pixel;
  static const int warp = ahead * batch; /* bytes */
  uint32_t lane;                         /* this lane's place in pixel 0 */
  uint32_t at;                           /* where the next batch goes; before that, the one that is read next */
  const uint8_t *costs, *sums, *more;    /* stay on the last pixel at the end; more: s.sets */
  int step;
  int left; /* pixels to fetch */
};

/* A lane's bytes of a set: up to 16 at a time. */
template <int PAIRS> __device__ __forceinline__ void
fetch_set (uint32_t to, const uint8_t *from, int second)
{
  const int bytes = 2 * PAIRS, copy = bytes < 16 ? bytes : 16;

#pragma unroll
  for (int n = 0; n < bytes; n += 16)
    copy_async<copy> (to + 32 * n, from + (n ? second : 0));
}

template <int PAIRS> __device__ __forceinline__ void
read_set (RawCosts<PAIRS> &set, uint32_t from)
{
  const int words = PAIRS / 2, vector = words < 4 ? words : 4;

#pragma unroll
  for (int w = 0; w < words; w += 4)
    load_shared<vector> (set.word + w, from + 128 * w);
}

/* Starts to copy a pixel. */
template <Task TASK, int PAIRS, int SETS> __device__ __forceinline__ void
fetch_pixel (const PixelRing<PAIRS, SETS> &r, int k, Share share, int depth, bool stay)
{
  uint32_t to = r.lane + r.at + k * r.pixel;
  ptrdiff_t away = stay ? 0 : (ptrdiff_t) r.step * k;

  fetch_set<PAIRS> (to, r.costs + away, share.second);
  if (reads_sums (TASK)) {
    fetch_set<PAIRS> (to += 32 * r.set, r.sums + 2 * away, 16);
    fetch_set<PAIRS> (to += 32 * r.set, r.sums + 2 * away + (PAIRS == 16 ? 2 * share.second : 2 * PAIRS), 16);
  } else
#pragma unroll
    for (int n = 0; n < sets_of (TASK) - more_sets_of (TASK); n++)
      fetch_set<PAIRS> (to += 32 * r.set, r.sums + 2 * away + n * depth, share.second);
#pragma unroll
  for (int n = 0; n < more_sets_of (TASK); n++)
    fetch_set<PAIRS> (to += 32 * r.set, r.more + more_sets_of (TASK) * away + n * depth, share.second);
}

template <Task TASK, int PAIRS, int SETS> __device__ __forceinline__ void
skip_pixels (PixelRing<PAIRS, SETS> &r, int count)
{
  r.costs += (ptrdiff_t) r.step * count;
  r.sums += (ptrdiff_t) r.step * (2 * count);
  r.more += (ptrdiff_t) r.step * (more_sets_of (TASK) * count);
}

/* Starts to copy the next batch, to the place of one that has been read. */
template <Task TASK, int PAIRS, int SETS> __device__ __forceinline__ void
fetch_batch (PixelRing<PAIRS, SETS> &r, Share share, int depth)
{
  const int PIXELS = Batch<PAIRS, SETS>::pixels;

  if (r.left > PIXELS) {
#pragma unroll
    for (int k = 0; k < PIXELS; k++)
      fetch_pixel<TASK> (r, k, share, depth, false);
    skip_pixels<TASK> (r, PIXELS);
    r.left -= PIXELS;
  } else
#pragma unroll 1
    for (int k = 0; k < PIXELS; k++) {
      fetch_pixel<TASK> (r, k, share, depth, true);
      if (--r.left > 0)
        skip_pixels<TASK> (r, 1);
    }
  commit_copies ();
  r.at = r.at + r.batch < r.warp ? r.at + r.batch : 0;
}

/* Waits for the oldest batch that is being copied, and reads its costs. */
template <int PAIRS, int SETS> __device__ __forceinline__ void
read_costs (RawCosts<PAIRS> (&raw)[Batch<PAIRS, SETS>::pixels], const PixelRing<PAIRS, SETS> &r)
{
  await_copies<PixelRing<PAIRS, SETS>::ahead - 1> ();
#pragma unroll
  for (int k = 0; k < Batch<PAIRS, SETS>::pixels; k++)
    read_set<PAIRS> (raw[k], r.lane + r.at + k * r.pixel);
}

/* Reads the sets of the same batch. */
template <Task TASK, int PAIRS, int SETS> __device__ __forceinline__ void
read_sets (Batch<PAIRS, SETS> &b, const PixelRing<PAIRS, SETS> &r)
{
#pragma unroll
  for (int k = 0; k < b.pixels; k++)
#pragma unroll
    for (int set = 0; set < sets_of (TASK); set++)
      read_set<PAIRS> (b.set[set][k], r.lane + r.at + k * r.pixel + 32 * (set + 1) * r.set);
}

}

#endif
