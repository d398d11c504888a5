/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Filling, and what fill=gaps leaves without a value. */
#include "cuda/common.cuh"
#include "stereo/exact/cost.h"
#include "stereo/exact/fill.h"
#include "stereo/exact/gaps.h"

/* Pixels around one: infinity and no weight where there is none. */
struct Taps
{
  float value[STEREO_SMOOTH_TAPS];
  int weight[STEREO_SMOOTH_TAPS];
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
static __device__ __forceinline__ float
weighted_median (const Taps &met)
{
  const int COUNT = STEREO_SMOOTH_TAPS;
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

/* The plane that a point moves onto: ../../stereo/exact/fill.h. */

constexpr int CELLS = STEREO_PLANE_CELLS; /* taps of a window, either way */
constexpr int CELL_BORDER = CELLS / 2;    /* cells around the points, which are none */

/* A point that planes may be fitted to. */
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

/* Sums over a column of a window: whole numbers, which a float holds. */
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

/* The sum over a group of CELLS lanes. */
static __device__ __forceinline__ int32_t
sum_of_group (int32_t own)
{
#pragma unroll
  for (int away = CELLS / 2; away; away /= 2)
    own += __shfl_xor_sync (~0u, own, away);
  return own;
}

/* By the lanes of a group, a column of the window each: the sums of exact/fill.h about the point @point. An anchor that is no number
 * has no taps. */
static __device__ __forceinline__ StereoPlaneSums
plane_sums (const Tap *point, int pitch, float anchor)
{
  int u = STEREO_PLANE_FIRST + (int) threadIdx.x % CELLS;
  const Tap *taps = point + STEREO_PLANE_FIRST * pitch + u;
  uint32_t color = point->color;
  float near = stereo_plane_near (anchor);
  ColumnSums own = {};

#pragma unroll
  for (int k = 0; k < CELLS; k++, taps += pitch)
    add_tap (own, *taps, color, anchor, near, (float) (STEREO_PLANE_FIRST + k));
  int32_t w = (int32_t) own.w, wr = (int32_t) own.wr, wd = (int32_t) own.wd;
  return { sum_of_group (w), sum_of_group (w * u), sum_of_group (wr), sum_of_group (w * u * u), sum_of_group (wr * u),
    sum_of_group ((int32_t) own.wrr), sum_of_group (wd), sum_of_group (wd * u), sum_of_group ((int32_t) own.wdr) };
}

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
  static_assert (STEREO_FILL_CELL == 4, "a row of a cell is a vector");
  size_t at = (size_t) y * f.map_pitch + x0;
  float4 disparity = *(const float4 *) (f.disparity + at);
  float4 confidence = *(const float4 *) (f.view[STEREO_LEFT].confidence + at);
  unsigned sure = (!isnan (disparity.x) && confidence.x >= least) |
      (!isnan (disparity.y) && confidence.y >= least) << 1 | (!isnan (disparity.z) && confidence.z >= least) << 2 |
      (!isnan (disparity.w) && confidence.w >= least) << 3;
  return sure & (1u << min (f.width - x0, STEREO_FILL_CELL)) - 1;
}

/* By a block: the pixels at the left border that the right view lacks, of each row of pixels of row @row of cells. @first: memory. */
static __device__ __forceinline__ void
count_lacking (const Frame &f, int columns, int row, float least, int *first)
{
  if (threadIdx.x < STEREO_FILL_CELL)
    first[threadIdx.x] = f.width;
  __syncthreads ();
#pragma unroll
  for (int v = 0; v < STEREO_FILL_CELL; v++) {
    int y = min (row * STEREO_FILL_CELL + v, f.height - 1);
    for (int column = threadIdx.x; column < columns; column += COUNT_WARPS * WARP) {
      unsigned sure = find_sure (f, column * STEREO_FILL_CELL, y, least);
      if (sure) {
        atomicMin (first + v, column * STEREO_FILL_CELL + __ffs (sure) - 1);
        break;
      }
    }
  }
  __syncthreads ();
  if (threadIdx.x < STEREO_FILL_CELL) {
    int x = first[threadIdx.x], y = min (row * STEREO_FILL_CELL + (int) threadIdx.x, f.height - 1);
    first[threadIdx.x] = x < f.width && stereo_gaps_at_border (x, f.disparity[(size_t) y * f.map_pitch + x]) ? x : 0;
  }
  __syncthreads ();
}

/* Sure pixels of a cell of the picture; those before @lacking of their row count as sure. */
static __device__ __forceinline__ int
count_sure (const Frame &f, int column, int row, float least, const int *lacking)
{
  int x0 = column * STEREO_FILL_CELL, y0 = row * STEREO_FILL_CELL, count = 0;

#pragma unroll
  for (int v = 0; v < STEREO_FILL_CELL; v++) {
    int border = min (max (lacking[v] - x0, 0), STEREO_FILL_CELL);
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
  __shared__ int lacking[STEREO_FILL_CELL];
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

/* Whether a cell is left without a value. */
static __device__ __forceinline__ bool
stays_open (const CudaGaps &c, int x, int y)
{
  size_t at = (size_t) y * c.columns + x;
  int count = 0;

#pragma unroll
  for (int k = 0; k < STEREO_GAPS_RAYS; k++)
    count += c.open[(size_t) k * c.rows * c.columns + at];
  return c.square[STEREO_GAPS_LARGE][at] || count >= STEREO_GAPS_OPEN;
}

static StereoStatus
cuda_gaps_reserve (StereoPlan *plan, CudaGaps *c, StereoError *error)
{
  StereoStatus status;

  c->columns = stereo_fill_cells (plan->width);
  c->rows = stereo_fill_cells (plan->height);
  size_t cells = (size_t) c->columns * c->rows;
  status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->open, cells, STEREO_GAPS_RAYS, error);
  for (int k = 0; k < 2 && !status; k++)
    if (!(status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->square[k], cells, 1, error)))
      status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->along[k], cells, sizeof (int), error);
  return status;
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
  count_kernel<<<c.rows, COUNT_WARPS * WARP, 0, stream>>> (cuda_frame (plan), c, stereo_params_sure (&plan->params));
  CUDA_LAUNCHED (plan, "count_kernel");
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

/*
 * Filling: ../../stereo/exact/fill.h says what a pixel without a disparity gets. A first kernel takes the points from the picture, a
 * second one finds the values of those that have no disparity, and a third one makes the picture that the last medians look at.
 */

constexpr int FILL_THREADS = 128;
constexpr int GROUP = STEREO_FILL_RAYS; /* lanes that look at a point together */
constexpr int SHARE = 4;                /* cells of a group, side by side */
constexpr int STRIDE = 4;               /* steps of a ray whose loads are in flight together */
constexpr int TILE = 32;                /* px; side of what a block smooths */
constexpr int TILE_CELLS = TILE / STEREO_FILL_CELL;
constexpr unsigned GROUP_LANES = (1u << GROUP) - 1;

static_assert (STEREO_FILL_STEPS % STRIDE == 0, "the end of a ray");
static_assert (
    GROUP == 16 && CELLS == GROUP, "half a warp: a lane for each ray, and for each column of a plane's window");

/* Scratch memory of a stage. */
struct FillContext
{
  Tap *taps;     /* the points, with a border */
  float *values; /* of the same cells: of the points, filled */
  float *filled; /* the picture, in rows of the maps' pitch: where there is no disparity, that of the cell's point */
  int tap_pitch, tap_rows;
  CudaGaps gaps; /* gaps only */
};

/* Thread: a cell, or one of the border. */
static __global__ void
tap_kernel (Frame f, FillContext c)
{
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, at = row * c.tap_pitch + column;
  int x = (column - CELL_BORDER) * STEREO_FILL_CELL;
  Tap tap = { STEREO_PLANE_NOWHERE, 0 };

  if (column >= c.tap_pitch)
    return;
  if (x >= 0 && x < f.width && row >= CELL_BORDER && row < c.tap_rows - CELL_BORDER) {
    int y = stereo_fill_point (row - CELL_BORDER, f.height);
    float d = f.disparity[(size_t) y * f.map_pitch + x];
    tap = { isnan (d) ? STEREO_PLANE_NOWHERE : d, f.view[STEREO_LEFT].color[(size_t) y * f.image_pitch + x] };
  }
  c.taps[at] = tap;
  c.values[at] = tap.disparity;
}

/* By the lanes of a group: the first point with a disparity to one side of point @point, NaN where there is none, and how many cells it
 * is away. Column @column, of @columns. */
static __device__ __forceinline__ float
nearest_point (const Tap *point, int column, int columns, int step, int *cells)
{
  int lane = threadIdx.x % GROUP, shift = threadIdx.x % WARP / GROUP * GROUP,
      room = step < 0 ? column : columns - 1 - column;
  float value = NAN;
  bool goes_on = true;

  for (int first = 1; __any_sync (ALL_LANES, goes_on); first += GROUP) {
    int away = first + lane;
    float d = goes_on && away <= room ? point[step * away].disparity : STEREO_PLANE_NOWHERE;
    unsigned found = __ballot_sync (ALL_LANES, d < STEREO_PLANE_NOWHERE) >> shift & GROUP_LANES;
    int nearest = __ffs (found) - 1;
    float at_nearest = __shfl_sync (ALL_LANES, d, max (nearest, 0), GROUP);
    if (goes_on && found) {
      value = at_nearest;
      *cells = first + nearest;
    }
    goes_on = goes_on && !found && first + GROUP <= room;
  }
  return value;
}

/* By the lanes of a group: whether a candidate of the pixel (@x, @y) lies on the right view's disparity map. */
static __device__ __forceinline__ bool
mismatched (const Frame &f, int x, int y)
{
  const uint16_t *right = f.view[STEREO_RIGHT].index + (size_t) y * f.map_pitch + f.width - 1 - x + f.min_disparity;
  int first = stereo_first_index (x, f.width, f.min_disparity), shift = threadIdx.x % WARP / GROUP * GROUP;
  int last = stereo_last_index (x, f.disparities, f.min_disparity);
  bool sees = false;

  for (int i = first + (int) threadIdx.x % GROUP; i <= last; i += GROUP)
    sees = sees || stereo_fill_sees (i, right[i]);
  return __ballot_sync (ALL_LANES, sees) >> shift & GROUP_LANES;
}

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

/* Group: SHARE cells beside each other. A warp goes on with its groups together. */
template <bool PLANES> static __global__ void
__launch_bounds__ (FILL_THREADS) value_kernel (Frame f, FillContext c, int columns)
{
  int first = (blockIdx.x * FILL_THREADS + threadIdx.x) / GROUP * SHARE, row = blockIdx.y;
  int y = stereo_fill_point (row, f.height);

#pragma unroll 1
  for (int k = 0; k < SHARE; k++) {
    int column = min (first + k, columns - 1), x = column * STEREO_FILL_CELL, cells = 0;
    int at = (row + CELL_BORDER) * c.tap_pitch + column + CELL_BORDER;
    const Tap *point = c.taps + at;
    bool open = first + k < columns && !(point->disparity < STEREO_PLANE_NOWHERE);
    if (!__any_sync (ALL_LANES, open))
      continue;
    float before = nearest_point (point, column, columns, -1, &cells);
    float after = nearest_point (point, column, columns, 1, &cells);
    float value = isnan (before) || after < before ? after : before;
    bool around = !stereo_fill_hides (before, after, cells) | mismatched (f, x, y);
    if (__any_sync (ALL_LANES, open && around)) {
      float median = median_around (f, x, y, point->color, value);
      value = around ? median : value;
    }
    if (PLANES) {
      StereoPlaneSums sums = plane_sums (point, c.tap_pitch, value);
      value = isnan (value) ?
          value :
          stereo_plane_value (&sums, value, (float) f.min_disparity, (float) (f.min_disparity + f.disparities - 1));
    }
    if (open && threadIdx.x % GROUP == 0)
      c.values[at] = value;
  }
}

/* Thread: a row of a cell. */
static __global__ void
__launch_bounds__ (FILL_THREADS) expand_kernel (Frame f, FillContext c, int columns)
{
  int column = blockIdx.x * FILL_THREADS + threadIdx.x, y = blockIdx.y;
  size_t at = (size_t) y * f.map_pitch + column * STEREO_FILL_CELL;

  if (column >= columns)
    return;
  float value = c.values[(y / STEREO_FILL_CELL + CELL_BORDER) * c.tap_pitch + column + CELL_BORDER];
  float4 d = *(const float4 *) (f.disparity + at);
  *(float4 *) (c.filled + at) = make_float4 (
      isnan (d.x) ? value : d.x, isnan (d.y) ? value : d.y, isnan (d.z) ? value : d.z, isnan (d.w) ? value : d.w);
}

static __device__ __forceinline__ float
smoothed (const Frame &f, const float *filled, int x, int y)
{
  uint32_t color = f.view[STEREO_LEFT].color[(size_t) y * f.image_pitch + x];
  Taps met;

#pragma unroll
  for (int tap = 0; tap < STEREO_SMOOTH_TAPS; tap++) {
    int row = y + tap / STEREO_SMOOTH_SIDE * STEREO_SMOOTH_STEP - STEREO_SMOOTH_RADIUS;
    int column = x + tap % STEREO_SMOOTH_SIDE * STEREO_SMOOTH_STEP - STEREO_SMOOTH_RADIUS;
    bool inside = column >= 0 && column < f.width && row >= 0 && row < f.height;
    float value = inside ? filled[(size_t) row * f.map_pitch + column] : NAN;
    met.value[tap] = isnan (value) ? INFINITY : value;
    met.weight[tap] = isnan (value) ? 0 : weight_at (f, column, row, color);
  }
  float median = weighted_median (met);
  return median < INFINITY ? median : NAN;
}

/* Block: a tile, of which it lists the pixels that get a median. GAPS: cells that stay open are emptied. */
template <bool GAPS> static __global__ void
__launch_bounds__ (FILL_THREADS) smooth_kernel (Frame f, FillContext c)
{
  __shared__ uint16_t list[TILE * TILE];
  __shared__ uint8_t none[TILE_CELLS * TILE_CELLS];
  __shared__ int count;
  int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE;

  if (threadIdx.x == 0)
    count = 0;
  for (int k = threadIdx.x; GAPS && k < TILE_CELLS * TILE_CELLS; k += FILL_THREADS) {
    int x = x0 / STEREO_FILL_CELL + k % TILE_CELLS, y = y0 / STEREO_FILL_CELL + k / TILE_CELLS;
    none[k] = x < c.gaps.columns && y < c.gaps.rows && stays_open (c.gaps, x, y);
  }
  __syncthreads ();
#pragma unroll
  for (int k = threadIdx.x; k < TILE * TILE; k += FILL_THREADS) {
    int u = k % TILE, v = k / TILE;
    if (x0 + u >= f.width || y0 + v >= f.height)
      continue;
    float *d = f.disparity + (size_t) (y0 + v) * f.map_pitch + x0 + u;
    if (GAPS && none[v / STEREO_FILL_CELL * TILE_CELLS + u / STEREO_FILL_CELL])
      *d = NAN;
    else if (isnan (*d))
      list[atomicAdd (&count, 1)] = (uint16_t) k;
  }
  __syncthreads ();
  for (int k = threadIdx.x; k < count; k += FILL_THREADS) {
    int x = x0 + list[k] % TILE, y = y0 + list[k] / TILE;
    f.disparity[(size_t) y * f.map_pitch + x] = smoothed (f, c.filled, x, y);
  }
}

/* ---- stages --------------------------------------------------------------------------------------------- */

static StereoStatus
fill_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  FillContext *c = (FillContext *) data;
  size_t pixels = stereo_times ((size_t) plan->map_pitch, (size_t) plan->height);
  StereoStatus status;

  c->tap_pitch = stereo_fill_cells (plan->width) + 2 * CELL_BORDER;
  c->tap_rows = stereo_fill_cells (plan->height) + 2 * CELL_BORDER;
  size_t taps = (size_t) c->tap_pitch * c->tap_rows;
  if ((status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->filled, pixels, sizeof (float), error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->values, taps, sizeof (float), error)))
    return status;
  return stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &c->taps, taps, sizeof (Tap), error);
}

/* GAPS: what stays open is found beside the values. */
template <bool PLANES, bool GAPS> static StereoStatus
run (StereoPlan *plan, void *data, StereoError *error)
{
  const FillContext &c = *(const FillContext *) data;
  Frame frame = cuda_frame (plan);
  int columns = stereo_fill_cells (plan->width), rows = stereo_fill_cells (plan->height);
  cudaStream_t stream = cuda_state (plan)->stream, beside;
  StereoStatus status;

  if (GAPS &&
      ((status = cuda_begin_late (plan, &beside, error)) || (status = cuda_gaps_find (plan, c.gaps, beside, error))))
    return status;
  tap_kernel<<<dim3 (cuda_blocks (c.tap_pitch, FILL_THREADS), c.tap_rows), FILL_THREADS, 0, stream>>> (frame, c);
  CUDA_LAUNCHED (plan, "tap_kernel");
  dim3 groups (cuda_blocks (columns, FILL_THREADS / GROUP * SHARE), rows);
  value_kernel<PLANES><<<groups, FILL_THREADS, 0, stream>>> (frame, c, columns);
  CUDA_LAUNCHED (plan, "value_kernel");
  dim3 quarters (cuda_blocks (columns, FILL_THREADS), plan->height);
  expand_kernel<<<quarters, FILL_THREADS, 0, stream>>> (frame, c, columns);
  CUDA_LAUNCHED (plan, "expand_kernel");
  if (GAPS && (status = cuda_join (plan, error)))
    return status;
  dim3 tiles (cuda_blocks (plan->width, TILE), cuda_blocks (plan->height, TILE));
  smooth_kernel<GAPS><<<tiles, FILL_THREADS, 0, stream>>> (frame, c);
  CUDA_LAUNCHED (plan, "smooth_kernel");
  return STEREO_OK;
}

static StereoStatus
gaps_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  StereoStatus status = fill_prepare (plan, data, error);
  return status ? status : cuda_gaps_reserve (plan, &((FillContext *) data)->gaps, error);
}

}

extern const StereoStage stereo_cuda_fill = {
  .name = "fill", .context_size = sizeof (FillContext), .prepare = fill_prepare, .run = run<false, false>
};
extern const StereoStage stereo_cuda_planes = {
  .name = "planes", .context_size = sizeof (FillContext), .prepare = fill_prepare, .run = run<true, false>
};
extern const StereoStage stereo_cuda_gaps = {
  .name = "gaps", .context_size = sizeof (FillContext), .prepare = gaps_prepare, .run = run<true, true>
};
