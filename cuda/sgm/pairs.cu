/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Semi-global matching along rows or columns, both ways at once: two groups of lanes start at the two ends of a line. Up to
 * the middle, each group is the first one at its pixels. There the groups wait for each other; then each goes on over the
 * pixels of the other one and adds to the sums. Both groups of a warp go the same way, along neighbouring lines.
 */
#include "cuda/sgm/paths.cuh"

namespace
{

constexpr int BLOCK_WARPS = 2; /* half of them start at the far end of their lines */

/*
 * What a group does at a pixel. The volume has two bytes for each candidate of a pixel. Where what two paths add fits a byte,
 * these are bytes of all candidates in turn before the last path: what the paths along the row add, then what the first
 * path along the column adds. Where that of one path fits a byte, they are what either path along the row adds, and then the
 * sum of three paths. Costs need not be kept: all paths have the same. Where nothing fits, they are sums.
 */
enum Task
{
  SUMS_FIRST,    /* stores the costs of its path */
  SUMS_ADD,      /* adds those of its path to the sums in the volume */
  SUMS_LAST,     /* the same, and marks the missing candidates */
  ROW_FIRST,     /* stores what its path adds, rounded */
  ROW_SECOND,    /* adds that of its path */
  ROW_SUMS,      /* the same, and stores the sum of both paths */
  COLUMN_FIRST,  /* stores what its path adds, behind what those along the row add */
  COLUMN_SECOND, /* stores the sum of all four paths, and marks the missing candidates */
  BYTES_FIRST,   /* stores what its path adds */
  BYTES_SECOND,  /* stores what its path adds, behind that of the first path */
  BYTES_SUMS     /* stores the sum of three paths: of those two, and of its own */
};

__host__ __device__ constexpr bool
is_rounded (Task task)
{
  return task >= ROW_FIRST && task <= COLUMN_SECOND;
}

/* Stores nothing but bytes. */
__host__ __device__ constexpr bool
stores_bytes (Task task)
{
  return task == ROW_FIRST || task == ROW_SECOND || task == COLUMN_FIRST || task == BYTES_FIRST || task == BYTES_SECOND;
}

__host__ __device__ constexpr bool
reads_sums (Task task)
{
  return task == SUMS_ADD || task == SUMS_LAST;
}

/* Sets of bytes that a task reads from a pixel of the volume. */
__host__ __device__ constexpr int
sets_of (Task task)
{
  return task == ROW_SECOND || task == ROW_SUMS ? 1 : task == COLUMN_SECOND || task == BYTES_SUMS ? 2 : 0;
}

/* Paths whose costs are not in what a task reads, with its own. */
__host__ __device__ constexpr int
new_paths_of (Task task)
{
  return task == ROW_SUMS ? 2 : task == BYTES_SUMS ? 3 : task == COLUMN_SECOND ? 4 : 1;
}

/* Lines of the picture. @pixel, @line: elements between neighbouring pixels of a line, and between neighbouring
 * lines. */
struct Lines
{
  int count, length;
  ptrdiff_t pixel, line;
  Penalties penalties;
  bool rows;
  uint32_t unit; /* of the direction: see Sgm */
};

/* A batch of pixels is read from shared memory at once, and its copies are awaited and started at once: between them the
 * compiler is free to move what does not depend on the path before. */
template <int PAIRS> struct Batch
{
  static const int pixels = PAIRS <= 8 ? 4 : 2;
  static const int ahead = PAIRS <= 4 ? 4 : 2; /* batches that are being copied */
  RawCosts<PAIRS> raw[pixels], added[2][pixels];
  uint32_t sum[pixels][PAIRS];
};

/* A path along a line, of one group. */
template <int PAIRS, int LANES> struct LinePath
{
  uint32_t path[PAIRS], lowest;
  Mask<PAIRS> mask;
  Borders borders;
  Share share;
  int lane; /* of the group */
  int x, dx;
  bool edge; /* the previous pixel did not have all candidates */
  int line;  /* y of a row, x of a column */
  int n;     /* pixels done */
  bool back; /* from the far end of the line */
  const uint8_t *costs;
  uint8_t *to; /* of the volume, the first byte of the pixel */
  ptrdiff_t step;
};

/* Whether column @x does not have all candidates. Away from the edges missing candidates are the same everywhere. */
__device__ __forceinline__ bool
is_edge (const Sgm &s, int x)
{
  return x < s.min_disparity + s.disparities - 1 || x > s.width - 1 + s.min_disparity;
}

/* Sets the missing candidates of the column. */
template <int PAIRS, int LANES> __device__ __forceinline__ void
mask_column (LinePath<PAIRS, LANES> &t, const Sgm &s)
{
  bool edge = is_edge (s, t.x);

  if (edge || t.edge)
    set_mask<PAIRS, LANES> (t.mask, s, t.x, t.lane);
  t.edge = edge;
}

/* load_step() of pixel @n of the path. */
template <int PAIRS, int LANES> __device__ __forceinline__ int
load_line_step (const LinePath<PAIRS, LANES> &t, const Sgm &s, const Lines &l, int n)
{
  int at = t.back ? l.length - 1 - n : n, before = t.back ? at + 1 : at - 1;
  if (n >= l.length)
    return 0;
  return l.rows ? load_step (s, at, t.line, before, t.line) : load_step (s, t.line, at, t.line, before);
}

/* The batches that are being copied, a ring in the warp's part of shared memory; what is in the volume first. A lane reads
 * only its own copies. */
template <int PAIRS> struct PixelRing
{
  static const int set_bytes = 2 * PAIRS, copy = set_bytes < 16 ? set_bytes : 16;
  static const int pixel = 32 * 3 * set_bytes, batch = Batch<PAIRS>::pixels * pixel;
  static const int warp = Batch<PAIRS>::ahead * batch;
  char *sets, *raw;     /* of pixel 0 */
  const uint8_t *costs; /* stay on the last pixel at the end */
  const uint8_t *from;
  int left; /* pixels to fetch */
  int at;   /* where the current batch begins */
};

/* Starts to copy a lane's bytes of a set. */
template <int PAIRS> __device__ __forceinline__ void
fetch_set (char *to, const uint8_t *from, Share share)
{
  const int copy = PixelRing<PAIRS>::copy;

#pragma unroll
  for (int n = 0; n < PixelRing<PAIRS>::set_bytes; n += 16)
    copy_async<copy> (to + n, from + (n ? share.second : 0));
}

/* The same for sums, which are twice as long. */
template <int PAIRS> __device__ __forceinline__ void
fetch_sums (char *to, const uint8_t *from, Share share)
{
  const int bytes = 2 * PixelRing<PAIRS>::set_bytes, copy = bytes < 16 ? bytes : 16;

#pragma unroll
  for (int n = 0; n < bytes; n += 16)
    copy_async<copy> (to + n, from + n % 32 + (n < 32 ? 0 : 2 * share.second));
}

/* Starts to copy pixel @k of a batch. */
template <Task TASK, int PAIRS> __device__ __forceinline__ void
fetch_pixel (
    const PixelRing<PAIRS> &c, int k, const uint8_t *costs, const uint8_t *from, const Share &share, const Sgm &s)
{
  char *to = c.sets + c.at + k * c.pixel;

  if (reads_sums (TASK))
    fetch_sums<PAIRS> (to, from + 2 * share.first, share);
  else
#pragma unroll
    for (int set = 0; set < sets_of (TASK); set++)
      fetch_set<PAIRS> (to + set * c.set_bytes, from + set * s.depth + share.first, share);
  fetch_set<PAIRS> (c.raw + c.at + k * c.pixel, costs, share);
}

/* Starts to copy the next batch, to the place of the current one. */
template <Task TASK, int PAIRS, int LANES> __device__ __forceinline__ void
fetch_batch (PixelRing<PAIRS> &c, const LinePath<PAIRS, LANES> &t, const Sgm &s)
{
  const int PIXELS = Batch<PAIRS>::pixels;

  if (c.left > PIXELS) {
#pragma unroll
    for (int k = 0; k < PIXELS; k++)
      fetch_pixel<TASK> (c, k, c.costs + k * t.step, c.from + k * 2 * t.step, t.share, s);
    c.costs += PIXELS * t.step;
    c.from += PIXELS * 2 * t.step;
    c.left -= PIXELS;
  } else
    for (int k = 0; k < PIXELS; k++) {
      fetch_pixel<TASK> (c, k, c.costs, c.from, t.share, s);
      if (--c.left > 0) {
        c.costs += t.step;
        c.from += 2 * t.step;
      }
    }
  commit_copies ();
  c.at = c.at + c.batch < c.warp ? c.at + c.batch : 0;
}

template <Task TASK, int PAIRS> __device__ __forceinline__ void
read_batch (Batch<PAIRS> &b, const PixelRing<PAIRS> &c)
{
  const Share whole = { 0, 16, true };

  await_copies<Batch<PAIRS>::ahead - 1> ();
#pragma unroll
  for (int k = 0; k < b.pixels; k++) {
    const char *sets = c.sets + c.at + k * c.pixel;
    load_costs (b.raw[k], (const uint8_t *) c.raw + c.at + k * c.pixel, whole);
    if (reads_sums (TASK))
      load_pairs (b.sum[k], sets);
    else
#pragma unroll
      for (int set = 0; set < sets_of (TASK); set++)
        load_costs (b.added[set][k], (const uint8_t *) sets + set * c.set_bytes, whole);
  }
}

/* Which candidates of a batch's pixels are missing. */
enum Missing
{
  NONE,
  SAME,   /* those of the pixel before */
  OTHERS, /* at the edges of the picture */
};

/* Stores what TASK makes of pixel @k of a batch. */
template <Task TASK, Missing MISSING, int PAIRS, int LANES> __device__ __forceinline__ void
store_pixel (const LinePath<PAIRS, LANES> &t, const Batch<PAIRS> &b, int k, const Sgm &s, const Lines &l,
    const uint32_t (&added)[PAIRS])
{
  RawCosts<PAIRS> bytes;
  uint32_t sum[PAIRS], costs[PAIRS], before[2][PAIRS];

  if (stores_bytes (TASK)) {
    gather_bytes (bytes, added, is_rounded (TASK) ? s.rounding.bits : s.unit_bits);
#pragma unroll
    for (int w = 0; TASK == ROW_SECOND && w < PAIRS / 2; w++)
      bytes.word[w] += b.added[0][k].word[w];
#pragma unroll
    for (int w = 0; w < PAIRS / 2; w++)
      hold_in_register (bytes.word[w]); /* a branch would go round the few instructions before the store, too */
    store_costs (t.to + (TASK == COLUMN_FIRST || TASK == BYTES_SECOND ? s.depth : 0) + t.share.first, bytes, t.share);
    return;
  }
  spread_costs (costs, b.raw[k], l.unit * new_paths_of (TASK));
#pragma unroll
  for (int set = 0; set < sets_of (TASK); set++)
    spread_costs (before[set], b.added[set][k], is_rounded (TASK) ? 1u << s.rounding.bits : s.unit);
#pragma unroll
  for (int p = 0; p < PAIRS; p++) {
    sum[p] = added[p] + costs[p] + (reads_sums (TASK) ? b.sum[k][p] : 0);
#pragma unroll
    for (int set = 0; set < sets_of (TASK); set++)
      sum[p] += before[set][p];
    if (TASK == COLUMN_SECOND || TASK == SUMS_LAST)
      sum[p] |= MISSING == NONE ? 0 : t.mask.pair[p];
  }
  store_sums ((uint16_t *) t.to + t.share.first, sum, t.share);
}

/* Pixel @k of a batch: extends the path, and does what TASK is. */
template <Task TASK, Missing MISSING, int PAIRS, int LANES> __device__ __forceinline__ void
add_pixel (LinePath<PAIRS, LANES> &t, const Batch<PAIRS> &b, int k, const Sgm &s, const Lines &l, bool luma_step)
{
  uint32_t cost[PAIRS], added[PAIRS];

  spread_costs (cost, b.raw[k], l.unit);
  find_added<PAIRS, LANES, is_rounded (TASK)> (added, t.path, t.lowest, l.penalties, luma_step, s.rounding, t.borders);
  if (MISSING == OTHERS)
    mask_column (t, s);
  t.x += t.dx;
  store_pixel<TASK, MISSING> (t, b, k, s, l, added);
  t.to += 2 * t.step;
#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    t.path[p] = (added[p] + cost[p]) | (MISSING == NONE ? 0 : t.mask.pair[p] & SGM_MISSING);
  t.lowest = lowest_of<PAIRS, LANES> (t.path);
  if (MISSING == OTHERS && t.edge)
    open_outside (t.path, t.lowest, t.mask, s, t.lane);
}

/* The first @count pixels of a batch, or all. Bit k of @steps: the luma has a step towards pixel k. */
template <Task TASK, Missing MISSING, int PAIRS, int LANES> __device__ __forceinline__ void
add_batch (LinePath<PAIRS, LANES> &t, const Batch<PAIRS> &b, const Sgm &s, const Lines &l, uint32_t steps, int count)
{
#pragma unroll
  for (int k = 0; k < Batch<PAIRS>::pixels; k++)
    if (MISSING != OTHERS || k < count)
      add_pixel<TASK, MISSING> (t, b, k, s, l, steps >> k & 1);
}

/* The next @count pixels of the path. */
template <Task TASK, int PAIRS, int LANES> __device__ __forceinline__ void
add_pixels (LinePath<PAIRS, LANES> &t, PixelRing<PAIRS> &c, const Sgm &s, const Lines &l, int count)
{
  const int PIXELS = Batch<PAIRS>::pixels;
  uint32_t steps = 0;
  int ahead = load_line_step (t, s, l, t.n + t.lane); /* of pixel n + lane, with n a multiple of LANES below */

  if (count == 0)
    return;
  await_copies<0> (); /* copies of the last call that nobody needs */
  c.costs = t.costs;
  c.from = t.to;
  c.left = count;
  c.at = 0;
#pragma unroll 1
  for (int k = 0; k < Batch<PAIRS>::ahead; k++)
    fetch_batch<TASK> (c, t, s);
#pragma unroll 1
  for (int n = 0; n < count; n += PIXELS) {
    bool edge = t.edge || is_edge (s, t.x) || is_edge (s, t.x + (PIXELS - 1) * t.dx) || n + PIXELS > count;
    Batch<PAIRS> b;
    if (n % LANES == 0) {
      steps = __ballot_sync (SGM_LANES, is_step (s, ahead)) >> threadIdx.x % 32 / LANES * LANES;
      ahead = load_line_step (t, s, l, t.n + LANES + n + t.lane);
    }
    read_batch<TASK> (b, c);
    if (__any_sync (SGM_LANES, edge))
      add_batch<TASK, OTHERS> (t, b, s, l, steps >> n % LANES, count - n);
    else if (__any_sync (SGM_LANES, t.mask.some))
      add_batch<TASK, SAME> (t, b, s, l, steps >> n % LANES, PIXELS);
    else
      add_batch<TASK, NONE> (t, b, s, l, steps >> n % LANES, PIXELS);
    fetch_batch<TASK> (c, t, s);
  }
  t.n += count;
  t.costs += count * t.step;
}

/* Block: BLOCK_WARPS / 2 warps for the lines from their beginning, and as many for the same lines from their far end.
 * Shared memory: a PixelRing a warp. A lane copies and stores up to 16 bytes of a pixel at a time; the lanes of a group
 * together a whole column of the volume. */
template <int PAIRS, int LANES, Task FIRST, Task SECOND> __global__ void __launch_bounds__ (32 * BLOCK_WARPS)
    pair_kernel (Sgm s, Lines l)
{
  extern __shared__ uint4 shared[];
  const int GROUPS = 32 / LANES; /* of a warp */
  int warp = threadIdx.x / 32, group = threadIdx.x % 32 / LANES, back = warp & 1;
  int line = (blockIdx.x * (BLOCK_WARPS / 2) + warp / 2) * GROUPS + group;
  int first = (l.length + 1) / 2, second = l.length - first;
  bool there = line < l.count;
  LinePath<PAIRS, LANES> t;
  PixelRing<PAIRS> c;

  line = min (line, l.count - 1);
  t.lane = threadIdx.x % LANES;
  c.sets = (char *) shared + warp * c.warp + threadIdx.x % 32 * 2 * c.set_bytes;
  c.raw = (char *) shared + warp * c.warp + (64 + threadIdx.x % 32) * c.set_bytes;
  t.borders = borders_of<LANES> (t.lane);
  t.share = share_of<PAIRS> (t.lane, s.depth);
  t.share.there &= there;
  t.share.second = there ? t.share.second : 0;
  t.x = l.rows ? back ? s.width - 1 : 0 : line;
  t.dx = l.rows ? back ? -1 : 1 : 0;
  t.edge = true;
  t.line = line;
  t.n = 0;
  t.back = back;
  t.mask.first = t.mask.last = -1;
  t.step = back ? -l.pixel : l.pixel;
  ptrdiff_t place = line * l.line + (back ? (l.length - 1) * l.pixel : 0);
  t.costs = s.costs + place + t.share.first;
  t.to = (uint8_t *) (s.volume + place);
  t.lowest = 0;
#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    t.path[p] = 0;
  add_pixels<FIRST> (t, c, s, l, back ? second : first);
  __syncthreads ();
  add_pixels<SECOND> (t, c, s, l, back ? first : second);
}

template <Task FIRST, Task SECOND, int PAIRS, int LANES> static StereoStatus
launch_pairs (StereoPlan *plan, const Sgm &s, bool rows, StereoError *error)
{
  ptrdiff_t column = s.depth, row = (ptrdiff_t) s.width * s.depth;
  Lines l = { rows ? s.height : s.width, rows ? s.width : s.height, rows ? column : row, rows ? row : column,
    s.penalties[rows ? SGM_SIDEWAYS : SGM_VERTICAL], rows, s.units[rows ? SGM_SIDEWAYS : SGM_VERTICAL] };
  unsigned blocks = cuda_blocks (l.count, BLOCK_WARPS / 2 * (32 / LANES));
  size_t shared = BLOCK_WARPS * PixelRing<PAIRS>::warp;

  pair_kernel<PAIRS, LANES, FIRST, SECOND><<<blocks, 32 * BLOCK_WARPS, shared, cuda_state (plan)->stream>>> (s, l);
  CUDA_LAUNCHED (plan, "pair_kernel");
  return STEREO_OK;
}

template <Task FIRST, Task SECOND> static StereoStatus
launch_for_depth (StereoPlan *plan, const Sgm &s, bool rows, StereoError *error)
{
  if (s.depth <= 64)
    return launch_pairs<FIRST, SECOND, 2, 16> (plan, s, rows, error);
  if (s.depth <= 128)
    return launch_pairs<FIRST, SECOND, 2, 32> (plan, s, rows, error);
  if (s.depth <= 256)
    return launch_pairs<FIRST, SECOND, 4, 32> (plan, s, rows, error);
  return s.depth <= 512 ? launch_pairs<FIRST, SECOND, 8, 32> (plan, s, rows, error) :
                          launch_pairs<FIRST, SECOND, 16, 32> (plan, s, rows, error);
}

}

StereoStatus
sgm_rows (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  return s.fits_bytes ? launch_for_depth<ROW_FIRST, ROW_SUMS> (plan, s, true, error) :
                        launch_for_depth<SUMS_FIRST, SUMS_ADD> (plan, s, true, error);
}

StereoStatus
sgm_columns (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  return launch_for_depth<SUMS_ADD, SUMS_ADD> (plan, s, false, error);
}

StereoStatus
sgm_rows_and_columns (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  StereoStatus status = s.fits_bytes ? launch_for_depth<ROW_FIRST, ROW_SECOND> (plan, s, true, error) :
      s.fits_byte                    ? launch_for_depth<BYTES_FIRST, BYTES_SECOND> (plan, s, true, error) :
                                       launch_for_depth<SUMS_FIRST, SUMS_ADD> (plan, s, true, error);

  if (status)
    return status;
  return s.fits_bytes ? launch_for_depth<COLUMN_FIRST, COLUMN_SECOND> (plan, s, false, error) :
      s.fits_byte     ? launch_for_depth<BYTES_SUMS, SUMS_LAST> (plan, s, false, error) :
                        launch_for_depth<SUMS_ADD, SUMS_LAST> (plan, s, false, error);
}
