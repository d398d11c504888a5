/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The probability that each disparity of the left view is right: stereo/exact/confidence.h says from what. */
#include "cuda/common.cuh"

namespace
{

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xFFFFFFFFu;
constexpr unsigned NEVER_LIKE = 1000; /* as the luma of a cell: no pixel's is like it */

/* Scratch memory of the stage, and its tables. */
struct ProbabilityContext
{
  uint32_t *cells; /* of each cell its pixel's luma, or NEVER_LIKE, and from bit 16 on the distinctness */
  StereoProbability table;
};

/* ---- distinctness of the cells ---------------------------------------------------------------------- */

constexpr int CELL_LANES = 16;                             /* half a warp looks at a cell */
constexpr int CELLS = 16;                                  /* of a block */
constexpr int LANE_WORDS = 4, LANE_COSTS = 2 * LANE_WORDS; /* neighbouring candidates of a lane, two a word */
static_assert (STEREO_CELL * STEREO_CELL <= CELL_LANES, "a lane looks at a pixel of a cell");
static_assert (LANE_WORDS == 4 && STEREO_INVALID == 0xFFFF, "a vector of costs");
static_assert (STEREO_RIVAL_AWAY <= STEREO_NO_RIVAL_AWAY, "lanes without candidates that are too near");

/* Neighbouring costs, two a word. */
struct Costs
{
  uint32_t word[LANE_WORDS];
};

/* Those from @first on; STEREO_INVALID past the last candidate. */
static __device__ __forceinline__ Costs
costs_from (const Frame &f, const uint16_t *costs, int first)
{
  uint4 read = first < f.depth ? *(const uint4 *) (costs + first) : make_uint4 (~0u, ~0u, ~0u, ~0u);
  Costs own = { { read.x, read.y, read.z, read.w } };
  int left = f.disparities - first; /* candidates */

  if (left < LANE_COSTS)
#pragma unroll
    for (int k = 0; k < LANE_WORDS; k++)
      own.word[k] |= left < 2 * k + 1 ? ~0u : left < 2 * k + 2 ? 0xFFFF0000u : 0;
  return own;
}

/* STEREO_INVALID for those of two costs, candidates @first and the next, that are less than @away from @index. */
static __device__ __forceinline__ uint32_t
too_near (int first, int index, int away)
{
  return (abs (first - index) < away ? 0xFFFFu : 0) | (abs (first + 1 - index) < away ? 0xFFFF0000u : 0);
}

/* A pair of costs, STEREO_INVALID for each that is more than its neighbours @before or @after. */
static __device__ __forceinline__ uint32_t
minima_of (uint32_t before, uint32_t pair, uint32_t after)
{
  uint32_t above = pair - __vminu2 (__vminu2 (before, after), pair); /* no half borrows from the other */
  return pair | __vminu2 (above, 0x10001u) * 0xFFFFu;
}

/* The cost of the best rival of candidate @index, by half a warp: stereo_may_rival(). */
static __device__ __forceinline__ unsigned
find_rival (const Frame &f, const uint16_t *costs, int index, int lane)
{
  uint32_t rival = ~0u, away = ~0u; /* two costs: the lower one counts */

  for (int base = 0; base < f.disparities; base += CELL_LANES * LANE_COSTS) {
    int first = base + lane * LANE_COSTS;
    Costs own = costs_from (f, costs, first);
    uint32_t before = __shfl_up_sync (ALL_LANES, own.word[LANE_WORDS - 1], 1, CELL_LANES);
    uint32_t after = __shfl_down_sync (ALL_LANES, own.word[0], 1, CELL_LANES);
    if (lane == 0)
      before = base ? (uint32_t) costs[base - 1] << 16 : ~0u;
    if (lane == CELL_LANES - 1)
      after = first + LANE_COSTS < f.disparities ? costs[first + LANE_COSTS] : ~0u;
    bool near = index - first >= 1 - STEREO_NO_RIVAL_AWAY && index - first < LANE_COSTS - 1 + STEREO_NO_RIVAL_AWAY;
#pragma unroll
    for (int k = 0; k < LANE_WORDS; k++) {
      uint32_t pair = own.word[k];
      uint32_t minima = minima_of (__byte_perm (k ? own.word[k - 1] : before, pair, 0x5432), pair,
          __byte_perm (pair, k < LANE_WORDS - 1 ? own.word[k + 1] : after, 0x5432));
      if (near) {
        minima |= too_near (first + 2 * k, index, STEREO_RIVAL_AWAY);
        pair |= too_near (first + 2 * k, index, STEREO_NO_RIVAL_AWAY);
      }
      rival = __vminu2 (rival, minima);
      away = __vminu2 (away, pair);
    }
  }
  /* the lower of each pair, both beside each other */
  uint32_t both = __vminu2 (__byte_perm (rival, away, 0x5410), __byte_perm (rival, away, 0x7632));
#pragma unroll
  for (int half = CELL_LANES / 2; half; half /= 2)
    both = __vminu2 (both, __shfl_xor_sync (ALL_LANES, both, half));
  return (both & 0xFFFF) == STEREO_INVALID ? both >> 16 : both & 0xFFFF;
}

/* Whether the pixels of a cell have more than one luma; @own: that of one of them. */
static __device__ __forceinline__ bool
has_texture (const Frame &f, const StereoView &view, int column, int row, int own, int lane)
{
  int x = min (column * STEREO_CELL + lane % STEREO_CELL, f.width - 1);
  int y = min (row * STEREO_CELL + lane / STEREO_CELL % STEREO_CELL, f.height - 1);
  unsigned other = __ballot_sync (ALL_LANES, view.luma[(size_t) y * f.image_pitch + x] != own);
  return other >> (threadIdx.y % 2 * CELL_LANES) & ((1u << CELL_LANES) - 1);
}

/* Half a warp: a cell. */
static __global__ void
__launch_bounds__ (CELL_LANES *CELLS) cell_kernel (Frame f, uint32_t *cells)
{
  int lane = threadIdx.x, columns = stereo_cells (f.width), column = blockIdx.x * CELLS + threadIdx.y, row = blockIdx.y;
  bool inside = column < columns;

  column = min (column, columns - 1); /* both halves of a warp go on */
  int x = stereo_cell_pixel (column, f.width), y = stereo_cell_pixel (row, f.height);
  const StereoView &view = f.view[STEREO_LEFT];
  const uint16_t *costs = f.volume + ((size_t) y * f.width + x) * f.depth;
  int index = view.index[(size_t) y * f.map_pitch + x], own = view.luma[(size_t) y * f.image_pitch + x];
  bool textured = has_texture (f, view, column, row, own, lane);
  unsigned rival = find_rival (f, costs, index, lane), distinctness = 0;

  if (textured && index != (int) STEREO_INVALID)
    distinctness = stereo_distinctness (costs[index], rival);
  if (lane == 0 && inside)
    cells[(size_t) row * columns + column] = (textured ? own : NEVER_LIKE) | distinctness << 16;
}

/* ---- both measures around each pixel ---------------------------------------------------------------- */

constexpr int TILE = 32; /* side of what a block computes: a column is a lane */
constexpr int TILE_WARPS = TILE / STEREO_CELL;
constexpr int ROWS = TILE + 2 * STEREO_AGREEMENT_RADIUS; /* and columns, of which the tile sees the agreement */
constexpr int SIDE = TILE / STEREO_CELL + 2 * STEREO_CELLS_AROUND;
constexpr int WINDOW = 2 * STEREO_AGREEMENT_RADIUS + 1;
static_assert (TILE == WARP && ROWS <= 2 * WARP, "a row is two ballots");
constexpr int ONE_CELL = 1 << 16;
constexpr uint32_t BOTH = 0x10001u; /* times a number of 16 bits: that in both halves of a word */
constexpr uint32_t LIKE_FROM = 0xFFFFu - 2 * STEREO_LIKE_LUMA;
static_assert (STEREO_CELL % 2 == 0 && NEVER_LIKE + 2 * STEREO_LIKE_LUMA < 0x8000, "two lumas a word");
static_assert ((2 * STEREO_CELLS_AROUND + 1) * (2 * STEREO_CELLS_AROUND + 1) * 255 < ONE_CELL, "sums of cells");

struct Tile
{
  uint2 agrees[ROWS];       /* bit k: column k; from column 32 on in .y */
  uint2 cells[SIDE * SIDE]; /* luma, in both halves; distinctness */
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
load_tile (const Frame &f, const uint32_t *cells, const StereoProbability &table, int x0, int y0, Tile *tile)
{
  int lane = threadIdx.x, warp = threadIdx.y, thread = warp * WARP + lane;
  int columns = stereo_cells (f.width), rows = stereo_cells (f.height);

  for (int k = warp; k < ROWS; k += TILE_WARPS) {
    int x = x0 - STEREO_AGREEMENT_RADIUS + lane, y = y0 - STEREO_AGREEMENT_RADIUS + k;
    unsigned low = __ballot_sync (ALL_LANES, agrees (f, x, y));
    unsigned high = __ballot_sync (ALL_LANES, lane + WARP < ROWS && agrees (f, x + WARP, y));
    if (lane == 0)
      tile->agrees[k] = make_uint2 (low, high);
  }
  for (int k = thread; k < SIDE * SIDE; k += WARP * TILE_WARPS) {
    int column = x0 / STEREO_CELL - STEREO_CELLS_AROUND + k % SIDE;
    int row = y0 / STEREO_CELL - STEREO_CELLS_AROUND + k / SIDE;
    bool inside = column >= 0 && column < columns && row >= 0 && row < rows;
    unsigned cell = inside ? cells[(size_t) row * columns + column] : NEVER_LIKE;
    tile->cells[k] = make_uint2 (BOTH * (cell & 0xFFFF), cell >> 16);
  }
  for (int k = thread; k < 256; k += WARP * TILE_WARPS) {
    tile->table.agreement[k] = table.agreement[k];
    tile->table.distinctness[k] = table.distinctness[k];
  }
  for (int k = thread; k <= 2 * STEREO_LOGIT_TOP; k += WARP * TILE_WARPS)
    tile->table.probability[k] = table.probability[k];
}

/* Counts of the pixels that agree about the STEREO_CELL pixels from row @v down, in column @u of the tile. Each row of
 * bits is counted once for all of them. */
static __device__ __forceinline__ void
count_agreeing (const Tile *tile, int u, int v, int (&count)[STEREO_CELL])
{
#pragma unroll
  for (int j = 0; j < STEREO_CELL; j++)
    count[j] = 0;
#pragma unroll
  for (int k = 0; k < WINDOW + STEREO_CELL - 1; k++) {
    uint2 row = tile->agrees[v + k];
    int agreeing = __popc (__funnelshift_r (row.x, row.y, u) & ((1u << WINDOW) - 1));
#pragma unroll
    for (int j = 0; j < STEREO_CELL; j++)
      if (k >= j && k < j + WINDOW)
        count[j] += agreeing;
  }
}

/* Sums of the distinctness of the cells around that are like each of the same pixels, and above them their number. Two pixels
 * are worked on in the halves of a word. */
static __device__ __forceinline__ void
sum_cells (const Tile *tile, const int (&own)[STEREO_CELL], int u, int v, int (&sum)[STEREO_CELL])
{
  const int PAIRS = STEREO_CELL / 2;
  const uint2 *first = tile->cells + v / STEREO_CELL * SIDE + u / STEREO_CELL;
  uint32_t away[PAIRS], like[PAIRS], distinct[PAIRS];

#pragma unroll
  for (int j = 0; j < PAIRS; j++) {
    away[j] = BOTH * (LIKE_FROM + STEREO_LIKE_LUMA) - (own[2 * j] | (uint32_t) own[2 * j + 1] << 16);
    like[j] = distinct[j] = 0;
  }
  for (int row = 0; row <= 2 * STEREO_CELLS_AROUND; row++)
#pragma unroll
    for (int column = 0; column <= 2 * STEREO_CELLS_AROUND; column++) {
      uint2 cell = first[row * SIDE + column];
#pragma unroll
      for (int j = 0; j < PAIRS; j++) {
        /* differences of at most STEREO_LIKE_LUMA become numbers from LIKE_FROM on, the others lower ones: 1 and 0 */
        uint32_t number = __viaddmax_u16x2 (cell.x, away[j], BOTH * (LIKE_FROM - 1));
        uint32_t alike = __viaddmin_u16x2 (number, BOTH * (1 - LIKE_FROM & 0xFFFF), BOTH);
        like[j] += alike;
        distinct[j] += alike * cell.y;
      }
    }
#pragma unroll
  for (int j = 0; j < STEREO_CELL; j++)
    sum[j] = (int) ((like[j / 2] >> 16 * (j % 2) & 0xFFFF) << 16 | (distinct[j / 2] >> 16 * (j % 2) & 0xFFFF));
}

static __device__ __forceinline__ unsigned
agreement_of (const Frame &f, int count, int x, int y)
{
  const int RADIUS = STEREO_AGREEMENT_RADIUS;
  int columns = min (x + RADIUS, f.width - 1) - max (x - RADIUS, 0) + 1;
  int rows = min (y + RADIUS, f.height - 1) - max (y - RADIUS, 0) + 1;
  /* the compiler divides by a constant faster */
  return columns * rows == WINDOW * WINDOW ? stereo_agreement ((unsigned) count, WINDOW * WINDOW) :
                                             stereo_agreement ((unsigned) count, (unsigned) (columns * rows));
}

/* @sum: of sum_cells(), for a pixel of column @u and row @v of the tile. */
static __device__ __forceinline__ unsigned
distinctness_of (const Tile *tile, int sum, int u, int v)
{
  int own = (v / STEREO_CELL + STEREO_CELLS_AROUND) * SIDE + u / STEREO_CELL + STEREO_CELLS_AROUND;
  return sum < ONE_CELL ? tile->cells[own].y :
                          stereo_mean_distinctness ((unsigned) (sum % ONE_CELL), (unsigned) (sum / ONE_CELL));
}

/* Thread: a column of a cell of the tile, STEREO_CELL pixels. A pixel of a lower probability than @least loses its
 * disparity. */
static __global__ void
__launch_bounds__ (WARP *TILE_WARPS)
    probability_kernel (Frame f, const uint32_t *cells, const __grid_constant__ StereoProbability table, float least)
{
  __shared__ Tile tile;
  int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE, u = threadIdx.x, v = threadIdx.y * STEREO_CELL, x = x0 + u;
  int own[STEREO_CELL], count[STEREO_CELL], sum[STEREO_CELL];
  const StereoView &view = f.view[STEREO_LEFT];

  load_tile (f, cells, table, x0, y0, &tile);
  __syncthreads ();
  if (x >= f.width)
    return;
#pragma unroll
  for (int j = 0; j < STEREO_CELL; j++)
    own[j] = view.luma[(size_t) min (y0 + v + j, f.height - 1) * f.image_pitch + x];
  count_agreeing (&tile, u, v, count);
  sum_cells (&tile, own, u, v, sum);
#pragma unroll
  for (int j = 0; j < STEREO_CELL; j++) {
    int y = y0 + v + j;
    if (y >= f.height)
      return;
    size_t at = (size_t) y * f.map_pitch + x;
    float probability = stereo_probability (&tile.table, agreement_of (f, count[j], x, y),
        distinctness_of (&tile, sum[j], u, v), view.index[at], f.disparities - 1);
    view.confidence[at] = probability;
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
  return stereo_reserve (plan, (void **) &context->cells, cells, sizeof (uint32_t), error);
}

static StereoStatus
probability_run (StereoPlan *plan, void *data, StereoError *error)
{
  const ProbabilityContext *context = (const ProbabilityContext *) data;
  cudaStream_t stream = cuda_state (plan)->stream;
  dim3 cell_grid (cuda_blocks (stereo_cells (plan->width), CELLS), stereo_cells (plan->height));
  dim3 grid (cuda_blocks (plan->width, TILE), cuda_blocks (plan->height, TILE));
  Frame frame = cuda_frame (plan);

  cell_kernel<<<cell_grid, dim3 (CELL_LANES, CELLS), 0, stream>>> (frame, context->cells);
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
