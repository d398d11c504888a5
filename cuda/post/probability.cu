/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The probability that each disparity of the left view is right: stereo/exact/confidence.h says from what. */
#include "cuda/common.cuh"

namespace
{

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xFFFFFFFFu;

/* Scratch memory of the stage, and its tables. */
struct ProbabilityContext
{
  uint16_t *cells; /* of each cell its pixel's luma, and above it the distinctness */
  StereoProbability table;
};

/* ---- distinctness of the cells ---------------------------------------------------------------------- */

constexpr int CELL_WARPS = 8;

/* stereo_may_rival() for all candidates, by the lanes of a warp. @minimum: minima alone. */
static __device__ __forceinline__ unsigned
find_rival (const Frame &f, const uint16_t *costs, int index, int lane, bool minimum)
{
  unsigned rival = STEREO_INVALID;

  for (int i = lane; i < f.disparities; i += WARP)
    if (stereo_may_rival (costs, i, f.disparities - 1, index, minimum))
      rival = min (rival, (unsigned) costs[i]);
  for (int away = WARP / 2; away; away /= 2)
    rival = min (rival, __shfl_xor_sync (ALL_LANES, rival, away));
  return rival;
}

/* Warp: a cell. */
static __global__ void
__launch_bounds__ (WARP *CELL_WARPS) cell_kernel (Frame f, uint16_t *cells)
{
  int lane = threadIdx.x, column = blockIdx.x * CELL_WARPS + threadIdx.y, row = blockIdx.y;
  int columns = stereo_cells (f.width), x = stereo_cell_pixel (column, f.width), y = stereo_cell_pixel (row, f.height);

  if (column >= columns)
    return;
  const StereoView &view = f.view[STEREO_LEFT];
  const uint16_t *costs = f.volume + ((size_t) y * f.width + x) * f.depth;
  int index = view.index[(size_t) y * f.map_pitch + x];
  unsigned distinctness = 0;

  if (index != (int) STEREO_INVALID) {
    unsigned rival = find_rival (f, costs, index, lane, true);
    if (rival == STEREO_INVALID)
      rival = find_rival (f, costs, index, lane, false);
    distinctness = stereo_distinctness (costs[index], rival);
  }
  if (lane == 0)
    cells[(size_t) row * columns + column] = (uint16_t) (view.luma[(size_t) y * f.image_pitch + x] | distinctness << 8);
}

/* ---- both measures around each pixel ---------------------------------------------------------------- */

constexpr int TILE = 32; /* side of what a block computes: a column is a lane */
constexpr int TILE_WARPS = 8;
constexpr int ROWS = TILE + 2 * STEREO_AGREEMENT_RADIUS; /* and columns, of which the tile sees the agreement */
constexpr int SIDE = TILE / STEREO_CELL + 2 * STEREO_CELLS_AROUND;
constexpr unsigned WINDOW_BITS = (1u << (2 * STEREO_AGREEMENT_RADIUS + 1)) - 1;
static_assert (TILE == WARP && ROWS <= 2 * WARP && TILE % STEREO_CELL == 0, "a row is two ballots");
constexpr int NEVER_LIKE = 1000; /* as the luma of a cell outside: no pixel's is like it */

struct Tile
{
  unsigned long long agrees[ROWS]; /* bit k: column k */
  int luma[SIDE * SIDE], distinctness[SIDE * SIDE];
  StereoProbability table;
};

static __device__ __forceinline__ bool
agrees (const Frame &f, int x, int y)
{
  if (x < 0 || x >= f.width || y < 0 || y >= f.height)
    return false;
  size_t row = (size_t) y * f.map_pitch;
  int index = f.view[STEREO_LEFT].index[row + x];
  return index != (int) STEREO_INVALID &&
      abs (f.view[STEREO_RIGHT].index[row + (f.width - 1 - x + f.min_disparity + index)] - index) <=
      STEREO_AGREEMENT_MOST;
}

/* All that the tile at (@x0, @y0) reads, by all threads of its block. */
static __device__ __forceinline__ void
load_tile (const Frame &f, const uint16_t *cells, const StereoProbability &table, int x0, int y0, Tile *tile)
{
  int lane = threadIdx.x, warp = threadIdx.y, thread = warp * WARP + lane;
  int columns = stereo_cells (f.width), rows = stereo_cells (f.height);

  for (int k = warp; k < ROWS; k += TILE_WARPS) {
    int x = x0 - STEREO_AGREEMENT_RADIUS + lane, y = y0 - STEREO_AGREEMENT_RADIUS + k;
    unsigned low = __ballot_sync (ALL_LANES, agrees (f, x, y));
    unsigned high = __ballot_sync (ALL_LANES, lane + WARP < ROWS && agrees (f, x + WARP, y));
    if (lane == 0)
      tile->agrees[k] = (unsigned long long) high << WARP | low;
  }
  for (int k = thread; k < SIDE * SIDE; k += WARP * TILE_WARPS) {
    int column = x0 / STEREO_CELL - STEREO_CELLS_AROUND + k % SIDE;
    int row = y0 / STEREO_CELL - STEREO_CELLS_AROUND + k / SIDE;
    bool inside = column >= 0 && column < columns && row >= 0 && row < rows;
    unsigned cell = inside ? cells[(size_t) row * columns + column] : 0;
    tile->luma[k] = inside ? (int) (cell & 0xFF) : NEVER_LIKE;
    tile->distinctness[k] = (int) (cell >> 8);
  }
  for (int k = thread; k < 256; k += WARP * TILE_WARPS) {
    tile->table.agreement[k] = table.agreement[k];
    tile->table.distinctness[k] = table.distinctness[k];
  }
  for (int k = thread; k <= 2 * STEREO_LOGIT_TOP; k += WARP * TILE_WARPS)
    tile->table.probability[k] = table.probability[k];
}

/* Of the pixel at (@x, @y), column @u and row @v of the tile. */
static __device__ __forceinline__ unsigned
agreement_of (const Frame &f, const Tile *tile, int x, int y, int u, int v)
{
  const int RADIUS = STEREO_AGREEMENT_RADIUS;
  int columns = min (x + RADIUS, f.width - 1) - max (x - RADIUS, 0) + 1;
  int rows = min (y + RADIUS, f.height - 1) - max (y - RADIUS, 0) + 1;
  int count = 0;

#pragma unroll
  for (int k = 0; k <= 2 * RADIUS; k++)
    count += __popc ((unsigned) (tile->agrees[v + k] >> u) & WINDOW_BITS);
  return stereo_agreement ((unsigned) count, (unsigned) (columns * rows));
}

static __device__ __forceinline__ unsigned
distinctness_of (const Tile *tile, int own, int u, int v)
{
  int first = v / STEREO_CELL * SIDE + u / STEREO_CELL, sum = 0, count = 0;

#pragma unroll
  for (int j = 0; j <= 2 * STEREO_CELLS_AROUND; j++)
#pragma unroll
    for (int k = 0; k <= 2 * STEREO_CELLS_AROUND; k++) {
      int at = first + j * SIDE + k;
      bool like = abs (tile->luma[at] - own) <= STEREO_LIKE_LUMA;
      sum += like ? tile->distinctness[at] : 0;
      count += like;
    }
  return count ? stereo_mean_distinctness ((unsigned) sum, (unsigned) count) :
                 (unsigned) tile->distinctness[first + STEREO_CELLS_AROUND * (SIDE + 1)];
}

/* Thread: a column of four rows of the tile. A pixel of a lower probability than @least loses its disparity. */
static __global__ void
__launch_bounds__ (WARP *TILE_WARPS)
    probability_kernel (Frame f, const uint16_t *cells, const __grid_constant__ StereoProbability table, float least)
{
  __shared__ Tile tile;
  int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE, u = threadIdx.x, x = x0 + u;

  load_tile (f, cells, table, x0, y0, &tile);
  __syncthreads ();
  for (int v = threadIdx.y; v < TILE; v += TILE_WARPS) {
    int y = y0 + v;
    if (x >= f.width || y >= f.height)
      continue;
    size_t at = (size_t) y * f.map_pitch + x;
    unsigned agreement = agreement_of (f, &tile, x, y, u, v);
    unsigned distinctness = distinctness_of (&tile, f.view[STEREO_LEFT].luma[(size_t) y * f.image_pitch + x], u, v);
    float probability = stereo_probability (
        &tile.table, agreement, distinctness, f.view[STEREO_LEFT].index[at], f.disparities - 1);
    f.view[STEREO_LEFT].confidence[at] = probability;
    if (probability < least)
      f.disparity[at] = NAN;
  }
}

/* ---- the stage -------------------------------------------------------------------------------------- */

static StereoStatus
probability_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  ProbabilityContext *context = (ProbabilityContext *) data;
  size_t cells = (size_t) stereo_cells (plan->width) * (size_t) stereo_cells (plan->height);

  stereo_probability_table (&plan->params, &context->table);
  return stereo_reserve (plan, (void **) &context->cells, cells, sizeof (uint16_t), error);
}

static StereoStatus
probability_run (StereoPlan *plan, void *data, StereoError *error)
{
  const ProbabilityContext *context = (const ProbabilityContext *) data;
  cudaStream_t stream = cuda_state (plan)->stream;
  dim3 cell_grid (cuda_blocks (stereo_cells (plan->width), CELL_WARPS), stereo_cells (plan->height));
  dim3 grid (cuda_blocks (plan->width, TILE), cuda_blocks (plan->height, TILE));
  Frame frame = cuda_frame (plan);

  cell_kernel<<<cell_grid, dim3 (WARP, CELL_WARPS), 0, stream>>> (frame, context->cells);
  CUDA_LAUNCHED (plan, "cell_kernel");
  probability_kernel<<<grid, dim3 (WARP, TILE_WARPS), 0, stream>>> (
      frame, context->cells, context->table, (float) stereo_params_first_threshold (&plan->params));
  CUDA_LAUNCHED (plan, "probability_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_probability = { .name = "probability",
  .context_size = sizeof (ProbabilityContext),
  .prepare = probability_prepare,
  .run = probability_run };
