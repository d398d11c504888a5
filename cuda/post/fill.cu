/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Weighted medians of the neighbours of a pixel, for filling. */
#include "cuda/common.cuh"
#include "stereo/exact/cost.h"
#include "stereo/exact/fill.h"
#include "stereo/exact/gaps.h"

static __device__ __forceinline__ float
disparity_at (const Frame &f, int x, int y)
{
  return x >= 0 && x < f.width && y >= 0 && y < f.height ? f.disparity[(size_t) y * f.map_pitch + x] : NAN;
}

/* Neighbours of a pixel: infinity and no weight where there is none. */
template <int COUNT> struct Met
{
  float value[COUNT];
  int weight[COUNT];
};

/* The weight of the pixel (x, y) for one of colour @color. */
static __device__ __forceinline__ int
weight_at (const Frame &f, int x, int y, uint32_t color)
{
  int distance = stereo_color_distance (color, f.view[STEREO_LEFT].color[(size_t) y * f.image_pitch + x]);
  return max (STEREO_FILL_ALIKE - distance, 1);
}

/* The least of the values that half of the weight is at or below; infinity if there is no neighbour. Of equal values, the
 * last one gets the weight of them all. */
template <int COUNT> static __device__ __forceinline__ float
weighted_median (const Met<COUNT> &met)
{
  int below[COUNT], total = 0;
  float median = INFINITY;

#pragma unroll
  for (int k = 0; k < COUNT; k++) {
    below[k] = met.weight[k];
    total += met.weight[k];
#pragma unroll
    for (int other = 0; other < k; other++) {
      bool lower = met.value[other] <= met.value[k];
      below[k] += lower ? met.weight[other] : 0;
      below[other] += lower ? 0 : met.weight[k];
    }
  }
#pragma unroll
  for (int k = 0; k < COUNT; k++)
    median = 2 * below[k] >= total ? fminf (median, met.value[k]) : median;
  return median;
}

/* The plane that a filled pixel moves onto: ../../stereo/exact/fill.h. */

constexpr int CELLS = STEREO_PLANE_CELLS; /* taps of a window, either way */
constexpr int CELL_BORDER = CELLS / 2;    /* cells around the grid of taps, which are none */

/* A pixel that planes may be fitted to. */
struct Tap
{
  float disparity;
  uint32_t color;
};

static __device__ __forceinline__ float
rounded (float v)
{
  return v + STEREO_PLANE_MAGIC - STEREO_PLANE_MAGIC;
}

/* Sums over a column of a window, by rows of the window: whole numbers, which a float holds. */
struct ColumnSums
{
  float w, wr, wrr, wd, wdr;
};

static __device__ __forceinline__ void
add_tap (ColumnSums &sums, const Tap &tap, uint32_t color, float anchor, float near, float row)
{
  float away = tap.disparity - anchor, steps = rounded (away * (float) STEREO_PLANE_STEPS);
  uint32_t distance;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(distance) : "r"(tap.color), "r"(color), "r"(0u));
  float weight = rounded (__int_as_float (STEREO_PLANE_WEIGHT_BITS - (int) (distance << STEREO_PLANE_DISTANCE_SHIFT)));

  weight = fabsf (away) <= near ? weight : 0.0f;
  sums.w += weight;
  sums.wr += weight * row;
  sums.wrr += weight * (row * row);
  sums.wd += weight * steps;
  sums.wdr += weight * steps * row;
}

/* The sum over the lanes of a group. */
template <int LANES> static __device__ __forceinline__ int32_t
sum_of_group (int32_t own)
{
#pragma unroll
  for (int away = LANES / 2; away; away /= 2)
    own += __shfl_xor_sync (~0u, own, away);
  return own;
}

/* By the lanes of a group, a column of the window each: the sums of exact/fill.h about (@x, @y), of colour @color. Rows become
 * places along y, y = first + CELL * row. An anchor that is no number has no taps. */
template <int LANES> static __device__ __forceinline__ StereoPlaneSums
plane_sums (const Frame &f, const Tap *grid, int pitch, int x, int y, uint32_t color, float anchor)
{
  static_assert (LANES == CELLS, "a lane a column");
  int column = stereo_plane_first (x) + (int) threadIdx.x % LANES, row = stereo_plane_first (y);
  int u = column * STEREO_PLANE_CELL - x, first_y = row * STEREO_PLANE_CELL - y;
  const Tap *taps = grid + (row + CELL_BORDER) * pitch + column + CELL_BORDER;
  float near = stereo_plane_near (anchor);
  ColumnSums own = {};
  StereoPlaneSums s;

#pragma unroll
  for (int k = 0; k < CELLS; k++, taps += pitch)
    add_tap (own, *taps, color, anchor, near, (float) k);
  int32_t w = (int32_t) own.w, wr = (int32_t) own.wr, wd = (int32_t) own.wd;
  s.w = sum_of_group<LANES> (w);
  s.wx = sum_of_group<LANES> (w * u);
  s.wxx = sum_of_group<LANES> (w * u * u);
  s.wy = sum_of_group<LANES> (wr);
  s.wxy = sum_of_group<LANES> (wr * u);
  s.wyy = sum_of_group<LANES> ((int32_t) own.wrr);
  s.wd = sum_of_group<LANES> (wd);
  s.wxd = sum_of_group<LANES> (wd * u);
  s.wyd = sum_of_group<LANES> ((int32_t) own.wdr);
  s.wyy = STEREO_PLANE_CELL * (STEREO_PLANE_CELL * s.wyy + 2 * first_y * s.wy) + first_y * first_y * s.w;
  s.wxy = STEREO_PLANE_CELL * s.wxy + first_y * s.wx;
  s.wy = STEREO_PLANE_CELL * s.wy + first_y * s.w;
  s.wyd = STEREO_PLANE_CELL * s.wyd + first_y * s.wd;
  return s;
}

/* What fill=gaps leaves without a value: ../../stereo/exact/gaps.h. Sure pixels are counted before others are filled; what is open is
 * found meanwhile, and emptied after. */

/* Maps of cells, in rows of @columns. Of bytes that are 0 or 1. */
struct CudaGaps
{
  uint8_t *square[2]; /* cells of bare squares of each kind; at first, the middles of those */
  uint8_t *open;      /* a map for each ray that goes up: it leaves the picture at its top */
  int *along[2];      /* of each kind of square: what was counted, from the left end of a row up to each cell */
  int columns, rows;
};

/*
 * What fill=gaps leaves without a value: ../../stereo/exact/gaps.h. What is counted is added up along rows of cells from the left; the
 * count of a square is then a sum of differences along a column. A thread has a run of a column, whose sums follow from each other.
 * Rays are followed from the top down: two steps on, a ray goes on as the ray of the cell there does, so that a few lanes follow
 * the cells of such a chain until one of them is not open.
 */

namespace
{

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xFFFFFFFFu;
constexpr int GAPS_THREADS = 128;
constexpr int COUNT_WARPS = 16; /* of a row */
constexpr int RUN = 8;          /* cells of a thread */
/* A warp that follows chains: columns beside each other, lanes of each, and cells of a lane. */
constexpr int CHAINS = 8, CHAIN_LANES = WARP / CHAINS, CHAIN_CELLS = 4;
constexpr unsigned EVERY_LANE = 0x01010101u; /* of the first chain */
static_assert (CHAINS == 8 && CHAIN_LANES == 4, "EVERY_LANE");

/* Both kinds of squares: the radius, and the most that is counted in a bare one. */
struct Squares
{
  int radius[2], most[2];
};

static __device__ __forceinline__ bool
inside (const CudaGaps &c, int x, int y)
{
  return x >= 0 && x < c.columns && y >= 0 && y < c.rows;
}

/* Which of the four pixels from (@x0, @y) on are sure, in bits; those behind the last column are not. A row of maps has whole cells. */
static __device__ __forceinline__ unsigned
find_sure (const Frame &f, int x0, int y, float least)
{
  static_assert (STEREO_GAPS_CELL == 4, "a row of a cell is a vector");
  size_t at = (size_t) y * f.map_pitch + x0;
  float4 disparity = *(const float4 *) (f.disparity + at);
  float4 confidence = *(const float4 *) (f.view[STEREO_LEFT].confidence + at);
  unsigned sure = (!isnan (disparity.x) && confidence.x >= least) |
      (!isnan (disparity.y) && confidence.y >= least) << 1 | (!isnan (disparity.z) && confidence.z >= least) << 2 |
      (!isnan (disparity.w) && confidence.w >= least) << 3;
  return sure & (1u << min (f.width - x0, STEREO_GAPS_CELL)) - 1;
}

/* By a block: the pixels at the left border that the right view lacks, of each row of pixels of row @row of cells. @first: memory. */
static __device__ __forceinline__ void
count_lacking (const Frame &f, int columns, int row, float least, int *first)
{
  if (threadIdx.x < STEREO_GAPS_CELL)
    first[threadIdx.x] = f.width;
  __syncthreads ();
#pragma unroll
  for (int v = 0; v < STEREO_GAPS_CELL; v++) {
    int y = min (row * STEREO_GAPS_CELL + v, f.height - 1);
    for (int column = threadIdx.x; column < columns; column += COUNT_WARPS * WARP) {
      unsigned sure = find_sure (f, column * STEREO_GAPS_CELL, y, least);
      if (sure) {
        atomicMin (first + v, column * STEREO_GAPS_CELL + __ffs (sure) - 1);
        break;
      }
    }
  }
  __syncthreads ();
  if (threadIdx.x < STEREO_GAPS_CELL) {
    int x = first[threadIdx.x], y = min (row * STEREO_GAPS_CELL + (int) threadIdx.x, f.height - 1);
    first[threadIdx.x] = x < f.width && stereo_gaps_at_border (x, f.disparity[(size_t) y * f.map_pitch + x]) ? x : 0;
  }
  __syncthreads ();
}

/* Sure pixels of a cell of the picture; those before @lacking of their row count as sure. */
static __device__ __forceinline__ int
count_sure (const Frame &f, int column, int row, float least, const int *lacking)
{
  int x0 = column * STEREO_GAPS_CELL, y0 = row * STEREO_GAPS_CELL, count = 0;

#pragma unroll
  for (int v = 0; v < STEREO_GAPS_CELL; v++) {
    int border = min (max (lacking[v] - x0, 0), STEREO_GAPS_CELL);
    unsigned sure = find_sure (f, x0, min (y0 + v, f.height - 1), least) | (1u << border) - 1;
    count += y0 + v < f.height ? __popc (sure) : 0;
  }
  return count;
}

/* By a block: adds up what @at says of the cells of a row, from the left. */
template <class At> static __device__ __forceinline__ void
add_row (int *to, int columns, At at)
{
  __shared__ int sums[2][COUNT_WARPS]; /* of the warps of a piece; the next piece has the other half */
  int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, before = 0;

  for (int first = 0, half = 0; first < columns; first += COUNT_WARPS * WARP, half = !half) {
    int x = first + (int) threadIdx.x, sum = x < columns ? at (x) : 0;
#pragma unroll
    for (int away = 1; away < WARP; away *= 2) {
      int other = __shfl_up_sync (ALL_LANES, sum, away);
      sum += lane >= away ? other : 0;
    }
    if (lane == WARP - 1)
      sums[half][warp] = sum;
    __syncthreads ();
    int left = before;
    for (int k = 0; k < COUNT_WARPS; k++) {
      left += k < warp ? sums[half][k] : 0;
      before += sums[half][k];
    }
    if (x < columns)
      to[x] = left + sum;
  }
}

/* Block: a row of cells. */
static __global__ void
__launch_bounds__ (COUNT_WARPS *WARP) count_kernel (Frame f, CudaGaps c, float least)
{
  __shared__ int lacking[STEREO_GAPS_CELL];
  int row = blockIdx.x;

  count_lacking (f, c.columns, row, least, lacking);
  add_row (
      c.along[0] + (size_t) row * c.columns, c.columns, [&] (int x) { return count_sure (f, x, row, least, lacking); });
}

/* Block: a row of cells of one kind of square. */
static __global__ void
__launch_bounds__ (COUNT_WARPS *WARP) mark_kernel (CudaGaps c)
{
  size_t row = (size_t) blockIdx.x * c.columns;
  const uint8_t *map = c.square[blockIdx.y] + row;

  add_row (c.along[blockIdx.y] + row, c.columns, [&] (int x) { return (int) map[x]; });
}

/* Thread: a run of a column, of one kind of square. A cell becomes whether its square holds no more than the most; WIDEN: whether
 * anything lies within the radius. */
template <bool WIDEN> static __global__ void
__launch_bounds__ (GAPS_THREADS) judge_kernel (CudaGaps c, Squares s)
{
  int kind = blockIdx.z, radius = s.radius[kind], most = WIDEN ? 0 : s.most[kind];
  int x = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * RUN, end = min (first + RUN, c.rows), sum = 0;
  const int *along = c.along[WIDEN ? kind : 0];

  if (x >= c.columns)
    return;
  int left = (WIDEN ? x - radius : stereo_gaps_first (x, radius, c.columns)) - 1;
  int right = min (left + 2 * radius + 1, c.columns - 1);
  auto of_row = [&] (int y) {
    const int *row = along + (size_t) y * c.columns;
    return row[right] - (left >= 0 ? row[left] : 0);
  };
#pragma unroll 8
  for (int y = max (first - radius, 0); y < min (first + radius, c.rows); y++)
    sum += of_row (y);
  for (int y = first; y < end; y++) {
    sum += y + radius < c.rows ? of_row (y + radius) : 0;
    c.square[kind][(size_t) y * c.columns + x] = WIDEN ? sum > most : sum <= most;
    sum -= y >= radius ? of_row (y - radius) : 0;
  }
}

/* Warp: CHAINS chains side by side, which begin in one of the rows from which two steps leave the picture at its top; a lane has CHAIN_CELLS
 * of the cells that a chain comes to at a time. Block row: a ray and such a row. The maps of rays are cleared before. */
static __global__ void
__launch_bounds__ (GAPS_THREADS) ray_kernel (CudaGaps c)
{
  int k = blockIdx.y / 2, along = stereo_ray_x (stereo_gaps_ray (k)), down = stereo_ray_y (stereo_gaps_ray (k));
  int x1 = stereo_ray_offset (1, along), y1 = stereo_ray_offset (1, down);
  int chain = threadIdx.x % CHAINS, part = threadIdx.x % WARP / CHAINS, first = CHAIN_CELLS * part;
  int x = (blockIdx.x * GAPS_THREADS + threadIdx.x) / WARP * CHAINS + chain - first * along;
  int y = blockIdx.y % 2 - first * down;
  unsigned parts_before = EVERY_LANE & (1u << part * CHAINS) - 1;
  const uint8_t *hole = c.square[STEREO_GAPS_SMALL];
  uint8_t *open = c.open + (size_t) k * c.rows * c.columns;

  if ((int) blockIdx.y % 2 >= -down)
    return;
  for (bool goes_on = true; __any_sync (ALL_LANES, goes_on);) {
    bool is_open[CHAIN_CELLS], all = goes_on;
#pragma unroll
    for (int n = 0; n < CHAIN_CELLS; n++) {
      int column = x - n * along, row = y - n * down;
      bool own = inside (c, column, row) && hole[(size_t) row * c.columns + column];
      bool second = row + y1 < 0 ||
          (inside (c, column + x1, row + y1) && hole[(size_t) (row + y1) * c.columns + column + x1]);
      is_open[n] = own && second;
      all = all && is_open[n];
    }
    unsigned whole = __ballot_sync (ALL_LANES, all) >> chain & EVERY_LANE;
    bool reached = goes_on && (whole & parts_before) == parts_before;
#pragma unroll
    for (int n = 0; n < CHAIN_CELLS; n++) {
      reached = reached && is_open[n];
      if (reached)
        open[(size_t) (y - n * down) * c.columns + x - n * along] = 1;
    }
    goes_on = goes_on && whole == EVERY_LANE;
    x -= CHAIN_LANES * CHAIN_CELLS * along;
    y -= CHAIN_LANES * CHAIN_CELLS * down;
  }
}

/* Thread: a cell. */
static __global__ void
__launch_bounds__ (GAPS_THREADS) empty_kernel (Frame f, CudaGaps c)
{
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, count = 0;
  size_t at = (size_t) row * c.columns + column;

  if (column >= c.columns)
    return;
#pragma unroll
  for (int k = 0; k < STEREO_GAPS_RAYS; k++)
    count += c.open[(size_t) k * c.rows * c.columns + at];
  if (!c.square[STEREO_GAPS_LARGE][at] && count < STEREO_GAPS_OPEN)
    return;
  for (int y = row * STEREO_GAPS_CELL; y < min ((row + 1) * STEREO_GAPS_CELL, f.height); y++)
    for (int x = column * STEREO_GAPS_CELL; x < min ((column + 1) * STEREO_GAPS_CELL, f.width); x++)
      f.disparity[(size_t) y * f.map_pitch + x] = NAN;
}

static StereoStatus
cuda_gaps_reserve (StereoPlan *plan, CudaGaps *c, StereoError *error)
{
  StereoStatus status;

  c->columns = stereo_gaps_cells (plan->width);
  c->rows = stereo_gaps_cells (plan->height);
  size_t cells = (size_t) c->columns * c->rows;
  status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->open, cells, STEREO_GAPS_RAYS, error);
  for (int k = 0; k < 2 && !status; k++)
    if (!(status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->square[k], cells, 1, error)))
      status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->along[k], cells, sizeof (int), error);
  return status;
}

static StereoStatus
cuda_gaps_count (StereoPlan *plan, const CudaGaps &c, StereoError *error)
{
  count_kernel<<<c.rows, COUNT_WARPS * WARP, 0, cuda_state (plan)->stream>>> (
      cuda_frame (plan), c, stereo_params_sure (&plan->params));
  CUDA_LAUNCHED (plan, "count_kernel");
  return STEREO_OK;
}

static StereoStatus
cuda_gaps_find (StereoPlan *plan, const CudaGaps &c, cudaStream_t stream, StereoError *error)
{
  dim3 runs (cuda_blocks (c.columns, GAPS_THREADS), cuda_blocks (c.rows, RUN), 2);
  dim3 rays (cuda_blocks (c.columns, GAPS_THREADS / CHAIN_LANES), 2 * STEREO_GAPS_RAYS);
  Squares squares;

  for (int k = 0; k < 2; k++) {
    squares.radius[k] = stereo_gaps_radius ((StereoGapsSquare) k, plan->width);
    squares.most[k] = stereo_gaps_most ((StereoGapsSquare) k, plan->width);
  }
  judge_kernel<false><<<runs, GAPS_THREADS, 0, stream>>> (c, squares);
  CUDA_LAUNCHED (plan, "judge_kernel");
  mark_kernel<<<dim3 (c.rows, 2), COUNT_WARPS * WARP, 0, stream>>> (c);
  CUDA_LAUNCHED (plan, "mark_kernel");
  judge_kernel<true><<<runs, GAPS_THREADS, 0, stream>>> (c, squares);
  CUDA_LAUNCHED (plan, "judge_kernel");
  CUDA_TRY (cudaMemsetAsync (c.open, 0, (size_t) STEREO_GAPS_RAYS * c.rows * c.columns, stream));
  ray_kernel<<<rays, GAPS_THREADS, 0, stream>>> (c);
  CUDA_LAUNCHED (plan, "ray_kernel");
  return STEREO_OK;
}

static StereoStatus
cuda_gaps_empty (StereoPlan *plan, const CudaGaps &c, StereoError *error)
{
  dim3 grid (cuda_blocks (c.columns, GAPS_THREADS), c.rows);

  empty_kernel<<<grid, GAPS_THREADS, 0, cuda_state (plan)->stream>>> (cuda_frame (plan), c);
  CUDA_LAUNCHED (plan, "empty_kernel");
  return STEREO_OK;
}

/*
 * Filling: ../../stereo/exact/fill.h says what a pixel without a disparity gets. A first kernel lists these pixels, a
 * second one finds their values, and a third one stores them when nothing looks at the disparities before any more. The
 * same then happens to the values that smooth them. The length of the list stays on the device: the grids do not depend on
 * it.
 */

constexpr int FILL_THREADS = 192; /* of a row: all rows of 1080 run at once on a GPU with 108 multiprocessors */
constexpr int FILL_WARPS = FILL_THREADS / 32;
constexpr int HOLE_THREADS = 128;
constexpr int HOLE_BLOCKS = 16;              /* of a multiprocessor, at most */
constexpr int STRIDE = 4;                    /* steps of a ray whose loads are in flight together */
constexpr int GROUP = STEREO_FILL_RAYS;      /* lanes that look at a pixel together */
constexpr int EACH = 2;                      /* pixels of a group at a time */
constexpr int HOLES = 32 / GROUP * EACH;     /* of a warp */
constexpr uint32_t MISMATCHED = 0x80000000u; /* beside the number of a pixel */
constexpr int WORDS = STEREO_MAX_SIDE / 32;  /* bits of a row */

static_assert (STEREO_FILL_STEPS % STRIDE == 0, "the end of a ray");
static_assert (
    GROUP == 16 && CELLS == GROUP, "half a warp: a lane for each ray, and for each column of a plane's window");
static_assert ((int64_t) STEREO_MAX_SIDE * STEREO_MAX_SIDE <= INT32_MAX && STEREO_MAX_SIDE % 32 == 0, "pixels");

/* Scratch memory of a stage. */
struct FillContext
{
  uint32_t *pixels; /* y * map_pitch + x, with MISMATCHED, of each pixel without a disparity; those of a row together */
  float *values;    /* of the same pixels: what they get */
  int *count;       /* of them */
  Tap *taps;        /* a grid with a border; planes and gaps */
  int tap_pitch, tap_rows;
  CudaGaps gaps; /* gaps only */
};

/* ---- the list ----------------------------------------------------------------------------------------- */

/* The nearest value before this lane's (@step -1), or after it (@step 1), in the warp; NaN: there is none. *@all: the nearest one
 * for who comes after the warp in that direction. */
static __device__ __forceinline__ float
nearest_in_warp (float own, int step, float *all)
{
  int lane = threadIdx.x % 32;

#pragma unroll
  for (int away = 1; away < 32; away *= 2) {
    float other = __shfl_sync (ALL_LANES, own, lane + step * away);
    own = isnan (own) && lane + step * away >= 0 && lane + step * away < 32 ? other : own;
  }
  float beside = __shfl_sync (ALL_LANES, own, lane + step);
  *all = __shfl_sync (ALL_LANES, own, step < 0 ? 31 : 0);
  return lane == (step < 0 ? 0 : 31) ? NAN : beside;
}

/* In each thread's span, @first and @last are its first and last value: they become the first value after it, and the last one
 * before it. */
static __device__ void
spread (float *first, float *last)
{
  __shared__ float firsts[FILL_WARPS], lasts[FILL_WARPS];
  int warp = threadIdx.x / 32;
  float all_first, all_last;

  *first = nearest_in_warp (*first, 1, &all_first);
  *last = nearest_in_warp (*last, -1, &all_last);
  if (threadIdx.x % 32 == 0) {
    firsts[warp] = all_first;
    lasts[warp] = all_last;
  }
  __syncthreads ();
  for (int k = warp + 1; k < FILL_WARPS; k++)
    *first = isnan (*first) ? firsts[k] : *first;
  for (int k = warp - 1; k >= 0; k--)
    *last = isnan (*last) ? lasts[k] : *last;
}

/* Sets the bits in @seen of the columns of row @y that have a candidate on the right view's disparity map: each pixel of
 * the right view is on it with the candidate it selected, and one less and one more. These are columns beside each other. */
static __device__ void
mark_seen (const Frame &f, int y, uint32_t *seen)
{
  const uint16_t *selected = f.view[STEREO_RIGHT].index + (size_t) y * f.map_pitch;

#pragma unroll 4
  for (int x = threadIdx.x; x < f.width; x += FILL_THREADS) {
    int index = selected[x], column = f.width - 1 - x + f.min_disparity; /* of candidate 0 */
    int first = max (max (index - 1, 0), -column), last = min (min (index + 1, f.disparities - 1), f.width - 1 - column);
    if (index == (int) STEREO_INVALID || first > last)
      continue;
    int from = column + first, to = column + last;
    uint32_t bits = (2u << (last - first)) - 1;
    atomicOr (&seen[from / 32], bits << from % 32);
    if (from / 32 != to / 32)
      atomicOr (&seen[to / 32], bits >> (32 - from % 32));
  }
}

/* The place in the list of the first of @count pixels of each thread: those of a block lie together, in the order of the
 * threads. */
static __device__ int
reserve (int *list, int count)
{
  __shared__ int sums[FILL_WARPS], start;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32, before = count;

  for (int away = 1; away < 32; away *= 2) {
    int other = __shfl_up_sync (ALL_LANES, before, away);
    before += lane >= away ? other : 0;
  }
  if (lane == 31)
    sums[warp] = before;
  __syncthreads ();
  if (threadIdx.x == 0) {
    int all = 0;
    for (int k = 0; k < FILL_WARPS; k++) {
      int own = sums[k];
      sums[k] = all;
      all += own;
    }
    start = atomicAdd (list, all);
  }
  __syncthreads ();
  return start + sums[warp] + before - count;
}

/* Lists the pixels of columns @from to @to - 1 of row @y that have no disparity, with the farther neighbour's. */
static __device__ void
list_span (const Frame &f, const FillContext &c, const uint32_t *seen, int y, int from, int to, float before,
    float beyond, int place)
{
  const float *row = f.disparity + (size_t) y * f.map_pitch;

  for (int x = from; x < to;) {
    if (!isnan (row[x])) {
      before = row[x++];
      continue;
    }
    int end = x;
    while (end < to && isnan (row[end]))
      end++;
    float after = end < to ? row[end] : beyond;
    float value = isnan (before) || after < before ? after : before;
    for (; x < end; x++, place++) {
      uint32_t mismatched = seen[x / 32] >> x % 32 & 1 ? MISMATCHED : 0;
      c.pixels[place] = (uint32_t) (y * f.map_pitch + x) | mismatched;
      c.values[place] = value;
    }
  }
}

/* Block: a row; thread: a span of it. Shared memory: a bit for each column. */
static __global__ void
__launch_bounds__ (FILL_THREADS) list_kernel (Frame f, FillContext c)
{
  __shared__ uint32_t seen[WORDS];
  const float *row = f.disparity + (size_t) blockIdx.x * f.map_pitch;
  int t = threadIdx.x, span = (f.width + FILL_THREADS - 1) / FILL_THREADS, holes = 0;
  int from = min (t * span, f.width), to = min (from + span, f.width);
  float first = NAN, last = NAN;

#pragma unroll 4
  for (int x = from; x < to; x++) {
    float d = row[x];
    holes += isnan (d);
    last = isnan (d) ? last : d;
    first = isnan (first) ? d : first;
  }
  if (!__syncthreads_or (holes))
    return;
  for (int k = t; k < (f.width + 31) / 32; k += FILL_THREADS)
    seen[k] = 0;
  __syncthreads ();
  mark_seen (f, blockIdx.x, seen);
  spread (&first, &last);
  int place = reserve (c.count, holes); /* which also waits for what the others have seen */
  list_span (f, c, seen, blockIdx.x, from, to, last, first, place);
}

/* ---- mismatched pixels -------------------------------------------------------------------------------- */

/* What a ray meets: infinity and no weight where it meets no value. */
struct Neighbour
{
  float value;
  int weight;
};

/* Steps of a ray of @halves from place @at of @size that stay inside. */
static __device__ __forceinline__ int
steps_inside (int at, int size, int halves)
{
  int room = halves > 0 ? size - 1 - at : at;
  return halves == 0 ? STEREO_FILL_STEPS : halves % 2 == 0 ? room : 2 * room + (halves < 0);
}

/* The first value along ray @ray from (x, y), a pixel of colour @color. STRIDE steps from any place go equally far. */
static __device__ __forceinline__ Neighbour
follow (const Frame &f, int x, int y, uint32_t color, int ray)
{
  static_assert (STRIDE % 2 == 0, "whole pixels");
  int along = stereo_ray_x (ray), down = stereo_ray_y (ray);
  int most = min (STEREO_FILL_STEPS, min (steps_inside (x, f.width, along), steps_inside (y, f.height, down)));
  const float *from = f.disparity + (size_t) y * f.map_pitch + x;
  int away[STRIDE], further = STRIDE / 2 * (down * f.map_pitch + along);

#pragma unroll
  for (int k = 0; k < STRIDE; k++)
    away[k] = stereo_ray_offset (1 + k, down) * f.map_pitch + stereo_ray_offset (1 + k, along);
#pragma unroll 1
  for (int step = 1; step <= most; step += STRIDE, from += further) {
    float d[STRIDE], value = NAN;
    int found = STRIDE;
#pragma unroll
    for (int k = 0; k < STRIDE; k++)
      d[k] = step + k <= most ? from[away[k]] : NAN;
#pragma unroll
    for (int k = STRIDE - 1; k >= 0; k--)
      if (!isnan (d[k])) {
        value = d[k];
        found = k;
      }
    if (found == STRIDE)
      continue;
    int at = step + found;
    return { value, weight_at (f, x + stereo_ray_offset (at, along), y + stereo_ray_offset (at, down), color) };
  }
  return { INFINITY, 0 };
}

/* By the lanes of a group, a ray each: the weighted median of the values they meet; @otherwise if they meet none. Of equal
 * values, each has the weight of them all. */
static __device__ __forceinline__ float
median_around (const Frame &f, int x, int y, uint32_t color, float otherwise)
{
  Neighbour own = follow (f, x, y, color, threadIdx.x % GROUP);
  int below = 0, total = 0;

#pragma unroll
  for (int k = 0; k < GROUP; k++) {
    int weight = __shfl_sync (ALL_LANES, own.weight, k, GROUP);
    below += __shfl_sync (ALL_LANES, own.value, k, GROUP) <= own.value ? weight : 0;
    total += weight;
  }
  float median = 2 * below >= total ? own.value : INFINITY;
#pragma unroll
  for (int away = GROUP / 2; away; away /= 2)
    median = fminf (median, __shfl_xor_sync (ALL_LANES, median, away));
  return median < INFINITY ? median : otherwise;
}

/* ---- planes ------------------------------------------------------------------------------------------- */

/* Thread: a cell, or one of the border. */
static __global__ void
tap_kernel (Frame f, FillContext c)
{
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
  int x = (column - CELL_BORDER) * STEREO_PLANE_CELL, y = (row - CELL_BORDER) * STEREO_PLANE_CELL;
  float d = disparity_at (f, x, y);
  Tap tap = { STEREO_PLANE_NOWHERE, 0 };

  if (column >= c.tap_pitch)
    return;
  if (!isnan (d))
    tap = { d, f.view[STEREO_LEFT].color[(size_t) y * f.image_pitch + x] };
  c.taps[row * c.tap_pitch + column] = tap;
}

/* ---- kernels of the listed pixels --------------------------------------------------------------------- */

/* A pixel of the list, as the lanes of a group see it. */
struct Hole
{
  int x, y;
  bool mismatched;
  uint32_t color;
  float value;
};

static __device__ __forceinline__ Hole
load_hole (const Frame &f, const FillContext &c, int k)
{
  uint32_t pixel = c.pixels[k];
  int y = (int) ((pixel & ~MISMATCHED) / f.map_pitch), x = (int) ((pixel & ~MISMATCHED) % f.map_pitch);
  return { x, y, (pixel & MISMATCHED) != 0, f.view[STEREO_LEFT].color[(size_t) y * f.image_pitch + x], c.values[k] };
}

/* Warp: HOLES pixels of the list at a time, one after the other for each group of lanes; what the sums for a plane come to is
 * found for all of them at once, by a lane each. A warp goes on with its groups together, to the end of the list for both. */
template <bool PLANES> static __global__ void
__launch_bounds__ (HOLE_THREADS) value_kernel (Frame f, FillContext c)
{
  int count = *c.count, lane = threadIdx.x % GROUP, group = threadIdx.x % 32 / GROUP;
  int warp = (blockIdx.x * HOLE_THREADS + threadIdx.x) / 32, warps = gridDim.x * (HOLE_THREADS / 32);

  for (int from = HOLES * warp; from < count; from += HOLES * warps) {
    int own = from + group * EACH + lane % EACH; /* the pixel that this lane stores */
    StereoPlaneSums sums = {};
    float value = NAN;
#pragma unroll 1
    for (int n = 0; n < EACH; n++) {
      Hole hole = load_hole (f, c, min (from + group * EACH + n, count - 1));
      if (__any_sync (ALL_LANES, hole.mismatched)) {
        float median = median_around (f, hole.x, hole.y, hole.color, hole.value);
        hole.value = hole.mismatched ? median : hole.value;
      }
      if (PLANES) {
        StereoPlaneSums all = plane_sums<GROUP> (f, c.taps, c.tap_pitch, hole.x, hole.y, hole.color, hole.value);
        sums = lane % EACH == n ? all : sums;
      }
      value = lane % EACH == n ? hole.value : value;
    }
    if (PLANES && !isnan (value))
      value = stereo_plane_value (&sums, value, (float) f.min_disparity, (float) (f.min_disparity + f.disparities - 1));
    if (lane < EACH && own < count)
      c.values[own] = value;
  }
}

/* Thread: pixels of the list, whose values are stored already. */
static __global__ void
__launch_bounds__ (HOLE_THREADS) smooth_kernel (Frame f, FillContext c)
{
  int count = *c.count;

  for (int k = blockIdx.x * HOLE_THREADS + threadIdx.x; k < count; k += gridDim.x * HOLE_THREADS) {
    int pixel = (int) (c.pixels[k] & ~MISMATCHED), y = pixel / f.map_pitch, x = pixel % f.map_pitch;
    uint32_t color = f.view[STEREO_LEFT].color[(size_t) y * f.image_pitch + x];
    Met<STEREO_SMOOTH_TAPS> met;

#pragma unroll
    for (int tap = 0; tap < STEREO_SMOOTH_TAPS; tap++) {
      int row = y + tap / STEREO_SMOOTH_SIDE * STEREO_SMOOTH_STEP - STEREO_SMOOTH_RADIUS;
      int column = x + tap % STEREO_SMOOTH_SIDE * STEREO_SMOOTH_STEP - STEREO_SMOOTH_RADIUS;
      float value = disparity_at (f, column, row);
      met.value[tap] = isnan (value) ? INFINITY : value;
      met.weight[tap] = isnan (value) ? 0 : weight_at (f, column, row, color);
    }
    float median = weighted_median (met);
    c.values[k] = median < INFINITY ? median : NAN;
  }
}

static __global__ void
__launch_bounds__ (HOLE_THREADS) store_kernel (Frame f, FillContext c)
{
  int count = *c.count;

  for (int k = blockIdx.x * HOLE_THREADS + threadIdx.x; k < count; k += gridDim.x * HOLE_THREADS)
    f.disparity[c.pixels[k] & ~MISMATCHED] = c.values[k];
}

/* ---- stages --------------------------------------------------------------------------------------------- */

static StereoStatus
fill_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  FillContext *c = (FillContext *) data;
  size_t pixels = stereo_times ((size_t) plan->map_pitch, (size_t) plan->height);
  StereoStatus status = stereo_reserve_for (
      plan, STEREO_LIFE_MAPS, (void **) &c->pixels, pixels, sizeof (uint32_t), error);

  if (!status)
    status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->values, pixels, sizeof (float), error);
  return status ? status : stereo_reserve (plan, (void **) &c->count, 1, sizeof (int), error);
}

static StereoStatus
planes_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  FillContext *c = (FillContext *) data;
  StereoStatus status = fill_prepare (plan, data, error);

  c->tap_pitch = (int) cuda_blocks (plan->width, STEREO_PLANE_CELL) + 2 * CELL_BORDER;
  c->tap_rows = (int) cuda_blocks (plan->height, STEREO_PLANE_CELL) + 2 * CELL_BORDER;
  return status ? status :
                  stereo_reserve (plan, (void **) &c->taps, (size_t) c->tap_pitch * c->tap_rows, sizeof (Tap), error);
}

template <bool PLANES> static StereoStatus
run (StereoPlan *plan, void *data, StereoError *error)
{
  const FillContext &c = *(const FillContext *) data;
  const CudaState *state = cuda_state (plan);
  Frame frame = cuda_frame (plan);
  int blocks = (int) cuda_blocks ((size_t) plan->width * plan->height, HOLE_THREADS);

  blocks = min (blocks, HOLE_BLOCKS * state->multiprocessors);
  CUDA_TRY (cudaMemsetAsync (c.count, 0, sizeof (int), state->stream));
  list_kernel<<<plan->height, FILL_THREADS, 0, state->stream>>> (frame, c);
  CUDA_LAUNCHED (plan, "list_kernel");
  if (PLANES) {
    dim3 grid (cuda_blocks (c.tap_pitch, HOLE_THREADS), c.tap_rows);
    tap_kernel<<<grid, HOLE_THREADS, 0, state->stream>>> (frame, c);
    CUDA_LAUNCHED (plan, "tap_kernel");
  }
  value_kernel<PLANES><<<blocks, HOLE_THREADS, 0, state->stream>>> (frame, c);
  CUDA_LAUNCHED (plan, "value_kernel");
  store_kernel<<<blocks, HOLE_THREADS, 0, state->stream>>> (frame, c);
  CUDA_LAUNCHED (plan, "store_kernel");
  smooth_kernel<<<blocks, HOLE_THREADS, 0, state->stream>>> (frame, c);
  CUDA_LAUNCHED (plan, "smooth_kernel");
  store_kernel<<<blocks, HOLE_THREADS, 0, state->stream>>> (frame, c);
  CUDA_LAUNCHED (plan, "store_kernel");
  return STEREO_OK;
}

static StereoStatus
gaps_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  StereoStatus status = planes_prepare (plan, data, error);
  return status ? status : cuda_gaps_reserve (plan, &((FillContext *) data)->gaps, error);
}

static StereoStatus
gaps_run (StereoPlan *plan, void *data, StereoError *error)
{
  const CudaGaps &gaps = ((const FillContext *) data)->gaps;
  StereoStatus status;
  cudaStream_t beside;

  if ((status = cuda_gaps_count (plan, gaps, error)) || (status = cuda_begin_late (plan, &beside, error)) ||
      (status = cuda_gaps_find (plan, gaps, beside, error)) || (status = run<true> (plan, data, error)) ||
      (status = cuda_join (plan, error)))
    return status;
  return cuda_gaps_empty (plan, gaps, error);
}

}

extern const StereoStage stereo_cuda_fill = {
  .name = "fill", .context_size = sizeof (FillContext), .prepare = fill_prepare, .run = run<false>
};
extern const StereoStage stereo_cuda_planes = {
  .name = "planes", .context_size = sizeof (FillContext), .prepare = planes_prepare, .run = run<true>
};
extern const StereoStage stereo_cuda_gaps = {
  .name = "gaps", .context_size = sizeof (FillContext), .prepare = gaps_prepare, .run = gaps_run
};
