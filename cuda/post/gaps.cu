/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What fill=gaps leaves without a value: ../../stereo/exact/gaps.h. What is counted is added up along rows of cells from the left; the
 * count of a square is then a sum of differences along a column. A thread has a run of a column, whose sums follow from each other.
 * Rays are followed from the top down: two steps on, a ray goes on as the ray of the cell there does, so that a few lanes follow
 * the cells of such a chain until one of them is not open.
 */
#include "cuda/post/gaps.cuh"

namespace
{

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xFFFFFFFFu;
constexpr int GAPS_THREADS = 128;
constexpr int COUNT_WARPS = 16; /* of a row */
constexpr int RUN = 8;          /* cells of a thread */
/* Of a warp that follows chains: columns beside each other, lanes of each, and cells of a lane. */
constexpr int CHAINS = 8, CHAIN_LANES = WARP / CHAINS, EACH = 4;
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

/* Warp: CHAINS chains side by side, which begin in one of the rows from which two steps leave the picture at its top; a lane has EACH
 * of the cells that a chain comes to at a time. Block row: a ray and such a row. The maps of rays are cleared before. */
static __global__ void
__launch_bounds__ (GAPS_THREADS) ray_kernel (CudaGaps c)
{
  int k = blockIdx.y / 2, along = stereo_ray_x (stereo_gaps_ray (k)), down = stereo_ray_y (stereo_gaps_ray (k));
  int x1 = stereo_ray_offset (1, along), y1 = stereo_ray_offset (1, down);
  int chain = threadIdx.x % CHAINS, part = threadIdx.x % WARP / CHAINS, first = EACH * part;
  int x = (blockIdx.x * GAPS_THREADS + threadIdx.x) / WARP * CHAINS + chain - first * along;
  int y = blockIdx.y % 2 - first * down;
  unsigned parts_before = EVERY_LANE & (1u << part * CHAINS) - 1;
  const uint8_t *hole = c.square[STEREO_GAPS_SMALL];
  uint8_t *open = c.open + (size_t) k * c.rows * c.columns;

  if ((int) blockIdx.y % 2 >= -down)
    return;
  for (bool goes_on = true; __any_sync (ALL_LANES, goes_on);) {
    bool is_open[EACH], all = goes_on;
#pragma unroll
    for (int n = 0; n < EACH; n++) {
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
    for (int n = 0; n < EACH; n++) {
      reached = reached && is_open[n];
      if (reached)
        open[(size_t) (y - n * down) * c.columns + x - n * along] = 1;
    }
    goes_on = goes_on && whole == EVERY_LANE;
    x -= CHAIN_LANES * EACH * along;
    y -= CHAIN_LANES * EACH * down;
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

}

StereoStatus
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

StereoStatus
cuda_gaps_count (StereoPlan *plan, const CudaGaps &c, StereoError *error)
{
  count_kernel<<<c.rows, COUNT_WARPS * WARP, 0, cuda_state (plan)->stream>>> (
      cuda_frame (plan), c, stereo_params_sure (&plan->params));
  CUDA_LAUNCHED (plan, "count_kernel");
  return STEREO_OK;
}

StereoStatus
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

StereoStatus
cuda_gaps_empty (StereoPlan *plan, const CudaGaps &c, StereoError *error)
{
  dim3 grid (cuda_blocks (c.columns, GAPS_THREADS), c.rows);

  empty_kernel<<<grid, GAPS_THREADS, 0, cuda_state (plan)->stream>>> (cuda_frame (plan), c);
  CUDA_LAUNCHED (plan, "empty_kernel");
  return STEREO_OK;
}
