/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the probability of a disparity needs of the pixels around: the distinctness of cells, and where the views agree.
 * stereo/exact/confidence.h says what these are. */
#include "cuda/common.cuh"

namespace
{

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xFFFFFFFFu;
constexpr unsigned NEVER_LIKE = 1000; /* as the luma of a cell: no pixel's is like it */
constexpr uint32_t BOTH = 0x10001u;   /* times a number of 16 bits: that in both halves of a word */

/* In global memory: threads read different places of it at a time, which parameters of a kernel are slow at. */
struct __align__ (16) Table
{
  StereoProbability of;
};
constexpr int TABLE_WORDS = sizeof (Table) / sizeof (uint32_t);
constexpr int TABLE_VECTORS = sizeof (Table) / sizeof (uint4);

/* Scratch memory of the stage. */
struct Measures
{
  uint32_t *cells;  /* of each cell its pixel's luma, or NEVER_LIKE, and from bit 16 on the distinctness */
  uint32_t *agrees; /* a bit a pixel: the views agree; 0 past the image */
  int words;        /* of a row of these bits */
  Table *table;
  const uint8_t *distinctness; /* of cells, found by list_paths; NULL: the volume has it */
  const uint16_t *after;       /* with lists: the left view's winners at half the size after the paths, */
  const uint16_t *before;      /* and before them */
  int half_pitch;
};

constexpr int CELL_LANES = 8;                              /* a quarter of a warp looks at a cell */
constexpr int CELLS = 16;                                  /* of a block */
constexpr int LANE_WORDS = 8, LANE_COSTS = 2 * LANE_WORDS; /* neighbouring candidates of a lane, two a word */
constexpr int ROUND = CELL_LANES * LANE_COSTS;             /* candidates that are looked at at a time */
static_assert (STEREO_CELL == sizeof (uint32_t) && STEREO_CELL <= CELL_LANES, "a lane looks at a row of a cell");
static_assert (
    CELLS * CELL_LANES == STEREO_CELL * WARP && CELLS * STEREO_CELL == 2 * WARP, "two ballots a warp and row");
static_assert (LANE_COSTS == 16 && STEREO_INVALID == 0xFFFF, "the volume's depth is a multiple of 16");

/* Neighbouring costs, two a word. */
struct Costs
{
  uint32_t word[LANE_WORDS];
};

/* Those from @first on; STEREO_INVALID past the volume. */
static __device__ __forceinline__ Costs
costs_from (const Frame &f, const uint16_t *costs, int first)
{
  uint4 low = make_uint4 (~0u, ~0u, ~0u, ~0u), high = low;

  if (first < f.depth) {
    low = ((const uint4 *) (costs + first))[0];
    high = ((const uint4 *) (costs + first))[1];
  }
  return { { low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w } };
}

/* Makes all but the first @left costs STEREO_INVALID, unless that is so already: there are none, or all. */
static __device__ __forceinline__ void
forget_beyond (Costs &own, int left)
{
  if (left > 0 && left < LANE_COSTS)
#pragma unroll
    for (int k = 0; k < LANE_WORDS; k++)
      own.word[k] |= left < 2 * k + 1 ? ~0u : left < 2 * k + 2 ? 0xFFFF0000u : 0;
}

/* For two candidates, the ones @k and @k + 1 after another: not 0 for each that is less than AWAY from the selected one.
 * @place: in both halves, by how much the other one is after the selected one. */
template <int AWAY> static __device__ __forceinline__ uint32_t
too_near (uint32_t place, int k)
{
  /* the 2 * AWAY - 1 distances that are too near become the highest numbers of 16 bits */
  const uint32_t highest = BOTH * (0x10000u - 2 * AWAY);
  return __viaddmax_u16x2 (place, (uint32_t) (k - AWAY & 0xFFFF) | (uint32_t) (k + 1 - AWAY) << 16, highest) ^ highest;
}

/* A pair of costs, STEREO_INVALID where @flags are not 0. */
static __device__ __forceinline__ uint32_t
unless (uint32_t flags, uint32_t pair)
{
  return pair | __vminu2 (flags, BOTH) * 0xFFFFu;
}

/* The least of the costs of the lanes of a cell. */
static __device__ __forceinline__ unsigned
least_of (uint32_t pair)
{
  unsigned least = min (pair & 0xFFFF, pair >> 16);

#pragma unroll
  for (int half = CELL_LANES / 2; half; half /= 2)
    least = min (least, __shfl_xor_sync (ALL_LANES, least, half));
  return least;
}

/* The lowest cost of the candidates at least AWAY from @index, or of the minima among them. @own: the lane's first costs. */
template <int AWAY, bool MINIMA> static __device__ __forceinline__ unsigned
lowest_away (const Frame &f, const uint16_t *costs, Costs own, int index, int lane)
{
  uint32_t rival = ~0u; /* two costs: the lower one counts */

  for (int base = 0;; own = costs_from (f, costs, base + lane * LANE_COSTS)) {
    int first = base + lane * LANE_COSTS;
    uint32_t place = BOTH * (uint16_t) (first - index);
    forget_beyond (own, f.disparities - first);
    uint32_t before = __shfl_up_sync (ALL_LANES, own.word[LANE_WORDS - 1], 1, CELL_LANES);
    uint32_t after = __shfl_down_sync (ALL_LANES, own.word[0], 1, CELL_LANES);
    if (lane == 0)
      before = base ? (uint32_t) costs[base - 1] << 16 : ~0u;
    if (lane == CELL_LANES - 1)
      after = first + LANE_COSTS < f.disparities ? costs[first + LANE_COSTS] : ~0u;
#pragma unroll
    for (int k = 0; k < LANE_WORDS; k++) {
      uint32_t pair = own.word[k];
      uint32_t below = __byte_perm (k ? own.word[k - 1] : before, pair, 0x5432);
      uint32_t above = __byte_perm (pair, k < LANE_WORDS - 1 ? own.word[k + 1] : after, 0x5432);
      uint32_t higher = MINIMA ? pair - __vminu2 (__vminu2 (below, above), pair) :
                                 0; /* no half borrows from the other */
      rival = __vminu2 (rival, unless (higher | too_near<AWAY> (place, 2 * k), pair));
    }
    base += ROUND;
    if (base >= f.disparities)
      return least_of (rival);
  }
}

/* By a block: the bits of STEREO_CELL rows from @top on, two words a warp. */
template <bool LISTED> static __device__ __forceinline__ void
find_agreement (const Frame &f, const Measures &to, int top)
{
  unsigned thread = threadIdx.y * CELL_LANES + threadIdx.x, lane = thread % WARP;
  int y = top + (int) (thread / WARP), x0 = (int) (blockIdx.x * 2 * WARP + lane);
  const uint16_t *left = f.view[STEREO_LEFT].index + (size_t) min (y, f.height - 1) * f.map_pitch;
  const uint16_t *right = f.view[STEREO_RIGHT].index + (size_t) min (y, f.height - 1) * f.map_pitch;
  int index[2], other[2], after[2] = {}, before[2] = {};
  unsigned bits[2];

#pragma unroll
  for (int k = 0; k < 2; k++) {
    int x = x0 + k * WARP;
    index[k] = left[min (x, f.width - 1)];
    if (LISTED) {
      size_t at = (size_t) (min (y, f.height - 1) / 2) * to.half_pitch + min (x, f.width - 1) / 2;
      after[k] = to.after[at];
      before[k] = to.before[at];
    }
    index[k] = x < f.width && y < f.height ? index[k] : (int) STEREO_INVALID;
  }
#pragma unroll
  for (int k = 0; k < 2; k++)
    other[k] = right[index[k] == (int) STEREO_INVALID ? 0 : f.width - 1 - x0 - k * WARP + f.min_disparity + index[k]];
#pragma unroll
  for (int k = 0; k < 2; k++)
    bits[k] = __ballot_sync (ALL_LANES,
        index[k] != (int) STEREO_INVALID && abs (other[k] - index[k]) <= STEREO_AGREEMENT_MOST &&
            (!LISTED || stereo_levels_agree (index[k], after[k], before[k], f.min_disparity)));
  if (lane == 0)
    *(uint2 *) (to.agrees + (size_t) y * to.words + 2 * blockIdx.x) = make_uint2 (bits[0], bits[1]);
}

/* Quarters of the block's warps: a cell each, of which the first lanes see a row of pixels each. What has been loaded is not
 * needed before the costs: all loads are under way together. */
template <bool LISTED> static __device__ __forceinline__ void
measure_cells (const Frame &f, const Measures &to, int row)
{
  const StereoView &view = f.view[STEREO_LEFT];
  unsigned lane = threadIdx.x;
  int columns = stereo_cells (f.width), wanted_column = (int) (blockIdx.x * CELLS + threadIdx.y);
  int column = min (wanted_column, columns - 1); /* all cells of a warp go on */
  int left = column * STEREO_CELL, top = row * STEREO_CELL;
  int x = stereo_cell_pixel (column, f.width), y = stereo_cell_pixel (row, f.height);
  const uint16_t *costs = LISTED ? NULL : f.volume + (size_t) (unsigned) (y * f.width + x) * (unsigned) f.depth;
  Costs own = LISTED ? Costs{} : costs_from (f, costs, (int) lane * LANE_COSTS);
  int index = view.index[(size_t) y * f.map_pitch + x];
  const uint8_t *lumas = view.luma + (size_t) min (top + (int) (lane % STEREO_CELL), f.height - 1) * f.image_pitch;
  uint32_t four = *(const uint32_t *) (lumas + left);
  unsigned rival = LISTED ? 0 : lowest_away<STEREO_RIVAL_AWAY, true> (f, costs, own, index, (int) lane);
  unsigned cost = LISTED ? 0 : costs[min (index, f.disparities - 1)];
  uint32_t luma = __byte_perm (__shfl_sync (ALL_LANES, four, y - top, CELL_LANES), 0, (unsigned) (x - left) * 0x1111);
  uint32_t different = (four ^ luma) & ~0u >> 8 * max (left + STEREO_CELL - f.width, 0);
  unsigned textured = __ballot_sync (ALL_LANES, different != 0) >> threadIdx.y % (WARP / CELL_LANES) * CELL_LANES &
      ((1u << CELL_LANES) - 1);
  bool wanted = textured && index != (int) STEREO_INVALID;
  if (!LISTED && __any_sync (ALL_LANES, wanted && rival == STEREO_INVALID)) {
    Costs again = costs_from (f, costs, (int) lane * LANE_COSTS);
    unsigned other = lowest_away<STEREO_NO_RIVAL_AWAY, false> (f, costs, again, index, (int) lane);
    rival = rival == STEREO_INVALID ? other : rival;
  }
  unsigned distinctness = !wanted ? 0 :
      LISTED                      ? to.distinctness[(unsigned) (row * columns + column)] :
                                    stereo_distinctness (cost, rival);
  if (lane == 0 && wanted_column == column)
    to.cells[(unsigned) (row * columns + column)] = (textured ? luma & 255 : NEVER_LIKE) | distinctness << 16;
}

/* Blocks of even rows of the grid look at cells. Those of odd rows look where the views agree about the same pixels, and
 * write the table, each a part of it. They take turns, because the former wait for memory. */
template <bool LISTED> static __global__ void
__launch_bounds__ (CELL_LANES *CELLS)
    cell_kernel (const __grid_constant__ Frame f, Measures to, const __grid_constant__ Table table)
{
  int row = (int) (blockIdx.y / 2);

  if (blockIdx.y % 2 == 0) {
    measure_cells<LISTED> (f, to, row);
    return;
  }
  find_agreement<LISTED> (f, to, row * STEREO_CELL);
  const unsigned threads = CELL_LANES * CELLS;
  for (unsigned word = (row * gridDim.x + blockIdx.x) * threads + threadIdx.y * CELL_LANES + threadIdx.x;
       word < TABLE_WORDS; word += gridDim.x * (gridDim.y / 2) * threads)
    ((uint32_t *) to.table)[word] = ((const uint32_t *) &table)[word];
}

/* The probability that each disparity of the left view is right: stereo/exact/confidence.h says from what. */

constexpr uint32_t BYTES = 0x1010101u; /* times a byte: that in all bytes of a word */
constexpr int TILE = 32;               /* side of what a block computes: a column is a lane */
constexpr int TILE_WARPS = TILE / STEREO_CELL;
constexpr int ROWS = TILE + 2 * STEREO_AGREEMENT_RADIUS; /* of which the tile sees the agreement */
constexpr int SIDE = TILE / STEREO_CELL + 2 * STEREO_CELLS_AROUND;
constexpr int WINDOW = 2 * STEREO_AGREEMENT_RADIUS + 1;
constexpr int FOURS = WINDOW / 4; /* rows of a window: whole fours, and one */
static_assert (TILE == WARP && WINDOW <= WARP && STEREO_AGREEMENT_RADIUS < WARP, "a window is in two words of bits");
static_assert (SIDE * SIDE == WARP * TILE_WARPS && TABLE_VECTORS <= WARP * TILE_WARPS, "one of each for a thread");
static_assert (ROWS % 4 == 0 && WINDOW % 4 == 1 && STEREO_CELL == 4, "fours of rows");
constexpr int ONE_CELL = 1 << 16;
constexpr uint32_t LIKE_FROM = 0xFFFFu - 2 * STEREO_LIKE_LUMA;
constexpr uint32_t TO_ONE = BOTH * (1 - LIKE_FROM & 0xFFFF); /* from LIKE_FROM, in both halves */
static_assert (STEREO_CELL % 2 == 0 && NEVER_LIKE + 2 * STEREO_LIKE_LUMA < 0x8000, "two lumas a word");
static_assert ((2 * STEREO_CELLS_AROUND + 1) * (2 * STEREO_CELLS_AROUND + 1) * 255 < ONE_CELL, "sums of cells");

struct Tile
{
  Table table;
  uint32_t counts[ROWS / 4][TILE]; /* of a row of a window about a column, those that agree; a byte each of four rows */
  uint2 cells[SIDE * SIDE];        /* luma, in both halves; distinctness */
};

/* How many pixels agree in row @y about column @x0 + lane, at most STEREO_AGREEMENT_RADIUS away. */
static __device__ __forceinline__ uint32_t
count_row (const Frame &f, const Measures &from, int x0, int y, int lane)
{
  int word = x0 / WARP - (lane < STEREO_AGREEMENT_RADIUS);
  const uint32_t *row = from.agrees + (ptrdiff_t) y * from.words + word;
  bool inside = y >= 0 && y < f.height;
  uint32_t low = inside && word >= 0 ? row[0] : 0, high = inside && word + 1 < from.words ? row[1] : 0;
  return __popc (__funnelshift_r (low, high, lane - STEREO_AGREEMENT_RADIUS) & ((1u << WINDOW) - 1));
}

/* All that the tile at (@x0, @y0) reads, by all threads of its block. */
static __device__ __forceinline__ void
load_tile (const Frame &f, const Measures &from, int x0, int y0, Tile *tile)
{
  int lane = threadIdx.x, warp = threadIdx.y, thread = warp * WARP + lane;
  int columns = stereo_cells (f.width), rows = stereo_cells (f.height);

  int column = x0 / STEREO_CELL - STEREO_CELLS_AROUND + thread % SIDE;
  int row = y0 / STEREO_CELL - STEREO_CELLS_AROUND + thread / SIDE;
  bool inside = column >= 0 && column < columns && row >= 0 && row < rows;

  unsigned cell = inside ? from.cells[(unsigned) (row * columns + column)] : NEVER_LIKE;
  if (thread < TABLE_VECTORS)
    ((uint4 *) &tile->table)[thread] = ((const uint4 *) from.table)[thread];
  tile->cells[thread] = make_uint2 (BOTH * (cell & 0xFFFF), cell >> 16);
#pragma unroll 1
  for (int k = warp; k < ROWS / 4; k += TILE_WARPS) {
    uint32_t four = 0;
#pragma unroll
    for (int j = 0; j < 4; j++)
      four |= count_row (f, from, x0, y0 - STEREO_AGREEMENT_RADIUS + 4 * k + j, lane) << 8 * j;
    tile->counts[k][lane] = four;
  }
}

/* Counts of the pixels that agree about the STEREO_CELL pixels from row @v down, in column @u of the tile. */
static __device__ __forceinline__ void
count_agreeing (const Tile *tile, int u, int v, int (&count)[STEREO_CELL])
{
  uint32_t first = tile->counts[v / 4][u], last = tile->counts[v / 4 + FOURS][u], all = 0;

#pragma unroll
  for (int k = 1; k < FOURS; k++)
    all = __dp4a (tile->counts[v / 4 + k][u], BYTES, all);
#pragma unroll
  for (int j = 0; j < STEREO_CELL; j++)
    count[j] = (int) __dp4a (last, BYTES >> 8 * (3 - j), __dp4a (first, BYTES << 8 * j, all));
}

/* Sums of the distinctness of the cells around that are like each of the same pixels, and above them their number. Two pixels
 * are worked on in the halves of a word. */
static __device__ __forceinline__ void
sum_cells (const Tile *tile, const int (&own)[STEREO_CELL], int u, int v, uint32_t to_one, int (&sum)[STEREO_CELL])
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
        uint32_t alike = __viaddmin_u16x2 (number, to_one, BOTH);
        like[j] += alike;
        distinct[j] += alike * cell.y;
      }
    }
#pragma unroll
  for (int j = 0; j < STEREO_CELL; j++)
    sum[j] = (int) ((like[j / 2] >> 16 * (j % 2) & 0xFFFF) << 16 | (distinct[j / 2] >> 16 * (j % 2) & 0xFFFF));
}

/* @dividend / @divisor, rounded down, without a division: for quotients up to 255 and divisors of at most WINDOW * WINDOW. Half
 * a step more than the dividend is no multiple of the divisor: the quotient is then at least 1/882 away from a whole number,
 * and the error of the reciprocal does not matter. */
static __device__ __forceinline__ unsigned
quotient (unsigned dividend, unsigned divisor)
{
  /* with the exponent of 2^23 a whole number is a float + 2^23 */
  float more = __uint_as_float (0x4B000000u | dividend) - 8388607.5f, reciprocal;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(reciprocal) : "f"(__uint_as_float (0x4B000000u | divisor) - 8388608.0f));
  return __float_as_uint (__fmaf_rd (more, reciprocal, 8388608.0f)) & 255;
}

/* The agreement of a pixel about which @count pixels agree. */
static __device__ __forceinline__ unsigned
agreement_of (const Frame &f, int count, int x, int y)
{
  const int RADIUS = STEREO_AGREEMENT_RADIUS;
  int columns = min (x + RADIUS, f.width - 1) - max (x - RADIUS, 0) + 1;
  int rows = min (y + RADIUS, f.height - 1) - max (y - RADIUS, 0) + 1;
  unsigned all = (unsigned) (columns * rows);
  return quotient (255 * (unsigned) count + all / 2, all);
}

/* @sum: of sum_cells(), for a pixel of column @u and row @v of the tile: the mean distinctness. */
static __device__ __forceinline__ unsigned
distinctness_of (const Tile *tile, int sum, int u, int v)
{
  int own = (v / STEREO_CELL + STEREO_CELLS_AROUND) * SIDE + u / STEREO_CELL + STEREO_CELLS_AROUND;
  unsigned count = (unsigned) (sum / ONE_CELL);
  return count ? quotient ((unsigned) (sum % ONE_CELL) + count / 2, count) : tile->cells[own].y;
}

/* Thread: a column of a cell of the tile, STEREO_CELL pixels. A pixel of a lower probability than @least loses its
 * disparity. @to_one: TO_ONE, which as an argument stays in a register; the compiler would load it before each use. */
static __global__ void
__launch_bounds__ (WARP *TILE_WARPS)
    probability_kernel (const __grid_constant__ Frame f, Measures from, float least, uint32_t to_one)
{
  __shared__ Tile tile;
  int x0 = blockIdx.x * TILE, y0 = blockIdx.y * TILE, u = threadIdx.x, v = threadIdx.y * STEREO_CELL, x = x0 + u;
  int own[STEREO_CELL], index[STEREO_CELL], count[STEREO_CELL], sum[STEREO_CELL];
  uint32_t ends = 0; /* the highest index of the column, then of the cell, and above it what the lowest is below 0xFFFF */
  const StereoView &view = f.view[STEREO_LEFT];

#pragma unroll
  for (int j = 0; j < STEREO_CELL; j++) {
    own[j] = view.luma[(size_t) min (y0 + v + j, f.height - 1) * f.image_pitch + min (x, f.width - 1)];
    index[j] = view.index[(size_t) min (y0 + v + j, f.height - 1) * f.map_pitch + min (x, f.width - 1)];
  }
  load_tile (f, from, x0, y0, &tile);
#pragma unroll
  for (int j = 0; j < STEREO_CELL; j++)
    ends = __vmaxu2 (ends, BOTH * index[j] ^ 0xFFFF0000u);
  for (int beside = 1; beside < STEREO_CELL; beside *= 2)
    ends = __vmaxu2 (ends, __shfl_xor_sync (ALL_LANES, ends, beside));
  __syncthreads ();
  if (x >= f.width)
    return;
  sum_cells (&tile, own, u, v, to_one, sum);
  count_agreeing (&tile, u, v, count);
#pragma unroll
  for (int j = 0; j < STEREO_CELL; j++) {
    int y = y0 + v + j;
    if (y >= f.height)
      return;
    size_t at = (size_t) y * f.map_pitch + x;
    float probability = stereo_probability (&tile.table.of, agreement_of (f, count[j], x, y),
        distinctness_of (&tile, sum[j], u, v), (ends >> 16) + (ends & 0xFFFF) > 0xFFFF + STEREO_EDGE, index[j],
        f.disparities - 1);
    view.confidence[at] = probability;
    if (probability < least)
      f.disparity[at] = NAN;
  }
}

/* ---- the stage -------------------------------------------------------------------------------------- */

/* Scratch memory of the stage, and its table. */
struct ProbabilityContext
{
  Measures measures;
  Table table;
};

static StereoStatus
probability_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  ProbabilityContext *context = (ProbabilityContext *) data;
  Measures *measures = &context->measures;
  size_t columns = (size_t) stereo_cells (plan->width), rows = (size_t) stereo_cells (plan->height);
  StereoStatus status;

  stereo_probability_table (&plan->params, &context->table.of);
  measures->words = 2 * (int) cuda_blocks (columns, CELLS);
  if ((status = stereo_reserve (plan, (void **) &measures->cells, columns * rows, sizeof (uint32_t), error)) ||
      (status = stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &measures->table, 1, sizeof (Table), error)))
    return status;
  return stereo_reserve_for (plan, STEREO_LIFE_MAPS, (void **) &measures->agrees, rows * STEREO_CELL,
      (size_t) measures->words * sizeof (uint32_t), error);
}

static StereoStatus
probability_run (StereoPlan *plan, void *data, StereoError *error)
{
  const ProbabilityContext *context = (const ProbabilityContext *) data;
  cudaStream_t stream;
  dim3 cell_grid (cuda_blocks (stereo_cells (plan->width), CELLS), 2 * stereo_cells (plan->height));
  dim3 grid (cuda_blocks (plan->width, TILE), cuda_blocks (plan->height, TILE));
  Frame frame = cuda_frame (plan);
  StereoStatus status = cuda_begin_early (plan, &stream, error); /* cells need indices, no disparity */

  if (status)
    return status;
  Measures measures = context->measures;
  measures.distinctness = cuda_state (plan)->distinctness;
  if (plan->listed) {
    measures.after = plan->coarse->view[STEREO_LEFT].index;
    measures.before = plan->coarse->winner;
    measures.half_pitch = plan->coarse->map_pitch;
    cell_kernel<true><<<cell_grid, dim3 (CELL_LANES, CELLS), 0, stream>>> (frame, measures, context->table);
  } else
    cell_kernel<false><<<cell_grid, dim3 (CELL_LANES, CELLS), 0, stream>>> (frame, measures, context->table);
  CUDA_LAUNCHED (plan, "cell_kernel");
  if ((status = cuda_join (plan, error)))
    return status;
  probability_kernel<<<grid, dim3 (WARP, TILE_WARPS), 0, cuda_state (plan)->stream>>> (
      frame, context->measures, (float) stereo_params_first_threshold (&plan->params), TO_ONE);
  CUDA_LAUNCHED (plan, "probability_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_probability = { .name = "probability",
  .context_size = sizeof (ProbabilityContext),
  .prepare = probability_prepare,
  .run = probability_run };
