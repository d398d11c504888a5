/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Semi-global matching along lines: what a group of lanes does at a pixel of its line, and how what it reads for that is copied
 * to shared memory. */
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

/*
 * Semi-global matching along lines of the picture: rows, columns or diagonals. What a group of lanes does on its way along a line.
 * Pixels are copied to shared memory ahead, in batches. A batch is read to registers while the one before is worked on, so that
 * nothing but the path itself is waited for.
 */

constexpr int BLOCK_WARPS = 2; /* one from the beginning of its lines, one from their far end */

/* All lines of the picture in a direction. */
struct Lines
{
  int count;
  int dx, dy; /* from pixel to pixel of a line; dy is not negative */
  Penalties penalties;
  uint32_t unit; /* of the direction: see Sgm; 1 for tasks that count in steps of the costs */
};

/* Pixel 0 of a line, and the number of pixels. */
struct Line
{
  int x, y, length;
};

/* A path along a line, of one group. */
template <int PAIRS, int LANES> struct LinePath
{
  uint32_t path[PAIRS], lowest;
  Mask<PAIRS> mask;
  Borders borders;
  Share share;
  int lane;             /* of the group */
  int line;             /* its number */
  int x, dx;            /* pixel n of the path is in column x + n * dx */
  int luma, luma_step;  /* its luma is at luma + n * luma_step */
  int length;           /* pixels of the line */
  int n;                /* pixels done */
  bool edge;            /* the previous pixel did not have all candidates */
  int all_from, all_to; /* pixels that have all candidates of the range: between them nothing changes */
  ptrdiff_t place;      /* of pixel n in the volume; elements */
  int step;             /* to the next */
};

/* Whether column @x does not have all candidates. Away from the edges missing candidates are the same everywhere. */
__device__ __forceinline__ bool
is_edge (const Sgm &s, int x)
{
  return x < s.min_disparity + s.disparities - 1 || x > s.width - 1 + s.min_disparity;
}

/* Line @number. Diagonals come in the order of their length, the longest first: short ones are left for the end, where they fill
 * gaps. Two neighbouring numbers, from an even one on, differ by at most one pixel in length. */
__device__ __forceinline__ Line
line_of (const Sgm &s, const Lines &l, int number)
{
  if (l.dy == 0)
    return { 0, number, s.width };
  if (l.dx == 0)
    return { number, 0, s.height };

  int shorter = min (s.width, s.height), longer = max (s.width, s.height), rest = number - (longer - shorter + 1);
  /* along the left border from below, then along the upper one */
  int at = rest < 0 ? shorter - 1 + number : rest % 2 ? longer + rest / 2 : shorter - 2 - rest / 2;
  int x = max (at - s.height + 1, 0), y = max (s.height - 1 - at, 0);
  return { l.dx > 0 ? x : s.width - 1 - x, y, min (s.width - x, s.height - y) };
}

/* Begins the path of a line. @back: from the far end of the line. */
template <int PAIRS, int LANES> __device__ __forceinline__ LinePath<PAIRS, LANES>
path_of_line (const Sgm &s, const Lines &l, int number, bool back)
{
  LinePath<PAIRS, LANES> t;
  bool there = number < l.count;
  int first = max (s.min_disparity + s.disparities - 1, 0), last = min (s.width - 1 + s.min_disparity, s.width - 1);

  t.line = min (number, l.count - 1);
  t.lane = threadIdx.x % LANES;
  t.borders = borders_of<LANES> (t.lane);
  t.share = share_of<PAIRS> (t.lane, s.depth);
  t.share.there &= there;
  t.share.second = there ? t.share.second : 0;
  Line line = line_of (s, l, t.line);
  int way = back ? -1 : 1, far = back ? line.length - 1 : 0, y = line.y + far * l.dy;
  t.length = line.length;
  t.x = line.x + far * l.dx;
  t.dx = way * l.dx;
  t.luma = y * s.luma_pitch + t.x;
  t.luma_step = way * (l.dy * s.luma_pitch + l.dx);
  t.edge = true;
  t.mask.first = t.mask.last = -1;
  t.mask.some = true;
  t.all_from = t.dx > 0 ? first - t.x : t.dx < 0 ? t.x - last : is_edge (s, t.x) ? t.length : 0;
  t.all_to = t.dx > 0 ? last - t.x : t.dx < 0 ? t.x - first : t.length;
  t.step = way * (l.dy * s.width + l.dx) * s.depth;
  t.n = 0;
  t.place = ((ptrdiff_t) y * s.width + t.x) * s.depth;
  t.lowest = 0;
#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    t.path[p] = 0;
  return t;
}

/* Pixels of a path up to where the two of a line meet. */
__device__ __forceinline__ int
pixels_before (const Sgm &s, const Lines &l, int length, bool back)
{
  int middle = l.dy == 0 ? s.middle : (length + 1) / 2;
  return back ? length - middle : middle;
}

/* Goes to pixel @n of the line, where the first pixels are done elsewhere. */
template <int PAIRS, int LANES> __device__ __forceinline__ void
skip_to (LinePath<PAIRS, LANES> &t, int n)
{
  t.n = n;
  t.place += (ptrdiff_t) t.step * n;
}

/* The luma of pixel @n of the path. There is no step to the first one: the pixel before is outside. */
template <int PAIRS, int LANES> __device__ __forceinline__ LumaStep
load_line_step (const LinePath<PAIRS, LANES> &t, const Sgm &s, int n)
{
  const uint8_t *here = s.luma + (ptrdiff_t) t.luma + (ptrdiff_t) n * t.luma_step;
  return n > 0 && n < t.length ? LumaStep{ here[0], here[-t.luma_step] } : LumaStep{};
}

/* ---- pixels -------------------------------------------------------------------------------------- */

/* Which candidates of a batch's pixels are missing. */
enum Missing
{
  NONE,
  SAME,   /* those of the pixel before */
  OTHERS, /* at the edges of the picture */
};

/* Stores what TASK makes of pixel @k of a batch. @to: where it does, the lane's first byte. */
template <Task TASK, Missing MISSING, int PAIRS, int LANES, int SETS> __device__ __forceinline__ void
store_pixel (const LinePath<PAIRS, LANES> &t, uint8_t *to, const Batch<PAIRS, SETS> &b, int k, const Sgm &s,
    const Lines &l, const uint32_t (&added)[PAIRS])
{
  RawCosts<PAIRS> bytes;
  uint32_t sum[PAIRS], costs[PAIRS], before[PAIRS];

  if (!stores_sums (TASK)) {
    gather_bytes (bytes, added, is_rounded (TASK) ? s.rounding.bits : 0);
#pragma unroll
    for (int w = 0; w < PAIRS / 2; w++) {
      bytes.word[w] += TASK == ROUNDED_ADD ? b.set[0][k].word[w] : 0;
      hold_in_register (bytes.word[w]); /* a branch would go round the few instructions before the store, too */
    }
    store_costs (to, bytes, t.share);
    return;
  }
  spread_costs (costs, b.raw[k], l.unit * new_paths_of (TASK));
#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    sum[p] = added[p] + costs[p];
#pragma unroll
  for (int set = reads_sums (TASK) ? 2 : 0; set < sets_of (TASK); set++) {
    spread_costs (before, b.set[set][k], is_rounded (TASK) ? 1u << s.rounding.bits : 1);
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
      sum[p] += before[p];
  }
#pragma unroll
  for (int p = 0; p < PAIRS; p++) {
    sum[p] *= is_in_bytes (TASK) ? s.unit : 1;
    sum[p] += reads_sums (TASK) ? b.set[p / (PAIRS / 2)][k].word[p % (PAIRS / 2)] : 0;
    sum[p] |= MISSING != NONE && is_last (TASK) ? t.mask.pair[p] : 0;
  }
  store_sums ((uint16_t *) to, sum, t.share);
}

/* Pixel @k of a batch, pixel @n of the path: extends the path, and does what TASK is, unless the line is at its end. */
template <Task TASK, Missing MISSING, int PAIRS, int LANES, int SETS> __device__ __forceinline__ void
add_pixel (LinePath<PAIRS, LANES> &t, uint8_t *to, const Batch<PAIRS, SETS> &b, int k, const Sgm &s, const Lines &l,
    int n, bool luma_step, bool end)
{
  uint32_t cost[PAIRS], added[PAIRS];

  spread_costs (cost, b.raw[k], l.unit);
  find_added<PAIRS, LANES, is_rounded (TASK)> (added, t.path, t.lowest, l.penalties, luma_step, s.rounding, t.borders);
  if (!end) {
    if (MISSING == OTHERS) {
      int x = t.x + n * t.dx;
      bool edge = is_edge (s, x);
      if (edge || t.edge)
        set_mask<PAIRS, LANES> (t.mask, s, x, t.lane * PAIRS * 2);
      t.edge = edge;
    }
    store_pixel<TASK, MISSING> (t, to, b, k, s, l, added);
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
      t.path[p] = (added[p] + cost[p]) | (MISSING == NONE ? 0 : t.mask.pair[p] & SGM_MISSING);
  }
  t.lowest = lowest_of<PAIRS, LANES> (t.path);
  if (MISSING == OTHERS && t.edge && !end)
    open_outside (t.path, t.lowest, t.mask, s, t.lane);
}

/* The pixels of a batch that begins at pixel @n. Of the warp's lines, the longest one has @most more pixels, this one @count; at
 * the edges of the picture alone these may be fewer than a batch. Bit k of @steps: the luma has a step towards pixel k. */
template <Task TASK, Missing MISSING, int PAIRS, int LANES, int SETS> __device__ __forceinline__ void
add_batch (LinePath<PAIRS, LANES> &t, uint8_t *to, int to_step, const Batch<PAIRS, SETS> &b, const Sgm &s,
    const Lines &l, int n, uint32_t steps, int count, int most)
{
#pragma unroll
  for (int k = 0; k < Batch<PAIRS, SETS>::pixels; k++)
    if (MISSING != OTHERS || k < most)
      add_pixel<TASK, MISSING> (t, to + (ptrdiff_t) to_step * k, b, k, s, l, n + k, is_set (steps, 1u << k),
          MISSING == OTHERS && LANES < 32 && k >= count);
}

/* Where a task stores pixels: in the volume, or in a set of bytes there or elsewhere. */
struct Target
{
  uint8_t *first;
  int bytes; /* from one candidate to the next of a whole column of the volume */
};

__host__ __device__ __forceinline__ Target
in_volume (const Sgm &s, int set = 0)
{
  return { (uint8_t *) s.volume + set * s.depth, 2 };
}

/* The next @count pixels of the path; groups of a warp may have different counts. @shared: this lane's part of the ring. IN_STEP:
 * all warps of the block have as many pixels, and none goes a batch ahead. */
template <Task TASK, int SETS, bool IN_STEP = false, int PAIRS, int LANES> __device__ __forceinline__ void
add_pixels (LinePath<PAIRS, LANES> &t, uint32_t shared, const Sgm &s, const Lines &l, int count, Target target)
{
  const int PIXELS = Batch<PAIRS, SETS>::pixels;
  uint32_t steps = 0;
  LumaStep ahead = load_line_step (t, s, t.n + t.lane); /* of pixel n + lane, with n a multiple of LANES below */
  uint8_t *to = target.first + target.bytes * t.place + (stores_sums (TASK) ? 2 : 1) * t.share.first;
  int to_step = t.step * target.bytes;
  bool some = __any_sync (SGM_LANES, t.mask.some); /* candidates are missing, of any group of the warp */
  int most = LANES == 32 ? count : max (count, __shfl_xor_sync (SGM_LANES, count, LANES % 32));
  /* the first batch of a path finds out what is missing */
  int all_from = max (t.all_from - t.n, t.mask.first < 0 ? 0 : -1);
  int all_to = min (t.all_to - t.n + 1, count) - PIXELS;
  ptrdiff_t from = t.place - (count == 0 && t.n > 0 ? t.step : 0); /* a line without pixels reads its last one */
  PixelRing<PAIRS, SETS> r;
  Batch<PAIRS, SETS> b;

  if (most == 0)
    return;
  r.lane = shared;
  r.at = 0;
  r.costs = s.costs + from + t.share.first;
  r.sums = (sets_of (TASK) == 1 ? target.first + target.bytes * from : (const uint8_t *) (s.volume + from)) +
      (reads_sums (TASK) ? 2 : 1) * t.share.first;
  r.more = more_sets_of (TASK) ? s.sets + more_sets_of (TASK) * from + t.share.first : r.costs;
  r.step = t.step;
  r.left = count;
  await_copies<0> (); /* copies of the last call that nobody needs */
#pragma unroll 1
  for (int k = 0; k < r.ahead; k++)
    fetch_batch<TASK> (r, t.share, s.depth);
  read_costs (b.raw, r);
#pragma unroll 1
  for (int n = 0; n < most; n += PIXELS) {
    bool all = n > all_from && n <= all_to;
    RawCosts<PAIRS> next[PIXELS];
    if (n % LANES == 0) {
      steps = __ballot_sync (SGM_LANES, is_step (s, ahead)) >> threadIdx.x % 32 / LANES * LANES;
      ahead = load_line_step (t, s, t.n + n + LANES + t.lane);
    }
    uint32_t here = steps >> n % LANES;
    if (IN_STEP)
      __syncthreads ();
    read_sets<TASK> (b, r);
    fetch_batch<TASK> (r, t.share, s.depth);
    read_costs (next, r);
    if (!__all_sync (SGM_LANES, all)) {
      add_batch<TASK, OTHERS> (t, to, to_step, b, s, l, t.n + n, here, count - n, most - n);
      some = __any_sync (SGM_LANES, t.mask.some);
    } else if (some)
      add_batch<TASK, SAME> (t, to, to_step, b, s, l, t.n + n, here, PIXELS, PIXELS);
    else
      add_batch<TASK, NONE> (t, to, to_step, b, s, l, t.n + n, here, PIXELS, PIXELS);
    to += (ptrdiff_t) to_step * PIXELS;
#pragma unroll
    for (int k = 0; k < PIXELS; k++)
      b.raw[k] = next[k];
  }
  t.n += count;
  t.place += (ptrdiff_t) t.step * count;
}

/* This lane's part of the warp's ring. @shared: of the block. */
template <int PAIRS, int SETS> __device__ __forceinline__ uint32_t
ring_of_lane (void *shared)
{
  const int bytes = 2 * PAIRS < 16 ? 2 * PAIRS : 16;
  uint32_t lane = shared_address (shared) + threadIdx.x / 32 * PixelRing<PAIRS, SETS>::warp + threadIdx.x % 32 * bytes;

  hold_in_register (lane);
  return lane;
}

/* Calls `launch<tasks..., PAIRS, LANES>` for the plan's depth. Up to 64 disparities, a warp has two lines. */
#define SGM_LINES_FOR_DEPTH(depth, launch, tasks, ...) \
  ((depth) <= 64         ? launch<SGM_TASKS tasks, 2, 16> (__VA_ARGS__) : \
          (depth) <= 128 ? launch<SGM_TASKS tasks, 2, 32> (__VA_ARGS__) : \
          (depth) <= 256 ? launch<SGM_TASKS tasks, 4, 32> (__VA_ARGS__) : \
          (depth) <= 512 ? launch<SGM_TASKS tasks, 8, 32> (__VA_ARGS__) : \
                           launch<SGM_TASKS tasks, 16, 32> (__VA_ARGS__))
#define SGM_TASKS(...) __VA_ARGS__

template <Task... TASKS> __host__ __device__ constexpr int
most_sets ()
{
  int most = 0;
  ((most = sets_of (TASKS) > most ? sets_of (TASKS) : most), ...);
  return most;
}

/* @direction: SGM_SIDEWAYS etc. */
inline Lines
lines_of (const Sgm &s, int direction)
{
  const struct
  {
    int count, dx, dy;
  } ways[SGM_DIRECTIONS] = { { s.height, 1, 0 }, { s.width, 0, 1 }, { s.width + s.height - 1, -1, 1 },
    { s.width + s.height - 1, 1, 1 } };
  Lines l = { ways[direction].count, ways[direction].dx, ways[direction].dy, s.penalties[direction],
    s.units[direction] };
  return l;
}

/* As a task counts. */
inline Lines
lines_for (Task task, const Sgm &s, int direction)
{
  Lines l = lines_of (s, direction);

  if (!is_in_bytes (task))
    return l;
  for (int k = 0; k < 2; k++) {
    l.penalties.small[k] >>= s.unit_bits;
    l.penalties.large[k] >>= s.unit_bits;
  }
  l.unit = 1;
  return l;
}

}
