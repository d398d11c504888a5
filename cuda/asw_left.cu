/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two-pass aggregation with the left view's weights alone, on the tensor cores.
 *
 * A pass over one column (then one row) is a banded matrix product: weights, 16 pixels by the pixels
 * of their windows, times costs, those pixels by disparities. A tile of 16 pixels needs the tiles
 * before and after it (KT = 3 of them for windows up to 33, 5 up to 65). A warp takes 8 * NT
 * disparities and rolls along, so each cost is made or read once and stays in registers for KT steps.
 *
 * - Raw costs enter as the bits of half-precision subnormals, no conversion: see records.cuh.
 * - A block computes each weight once, straight into fragment order in shared memory.
 * - The first pass leaves half floats in the volume; the second rolls over them in place.
 * - Sums of weights are one more product, with ones; where candidates are missing at the border,
 *   with ones and zeros.
 */
#include "cuda/banded.cuh"
#include "cuda/records.cuh"

#define LINE_PAD 32             /* readable pixels before and after a column of colours */
#define COST_BIT 16777216.0f    /* a raw cost of 1, read as a half float, is 1 of these */

/* Of left column or pixel @x: the indices of candidates that exist. */
struct Candidates
{
  int first, last;
};

__device__ __forceinline__ Candidates
candidates (const Frame &f, int x)
{
  return { stereo_first_index (x, f.width, f.min_disparity), stereo_last_index (x, f.disparities, f.min_disparity) };
}

__device__ __forceinline__ bool
has (const Candidates &c, int i)
{
  return i >= c.first && i <= c.last;
}

__device__ __forceinline__ bool
has_all (const Candidates &c, int base)
{
  return c.first <= base && c.last >= base + 8 * NT - 1;
}

__device__ __forceinline__ bool
has_none (const Candidates &c, int base)
{
  return c.last < base || c.first >= base + 8 * NT;
}

/* ---- first pass: columns ------------------------------------------------------------------------ */

/* What a warp needs from one tile to the next. */
template <int COST, int KT> struct Column
{
  Ring<KT> ring;
  const uint8_t *left, *right[NT];      /* this lane's place in the records of the next tile to be made */
  uint16_t *out;                        /* of row j of the tile at hand */
  int turn;
};

/* Costs of the next tile; past the last there is nothing, and its weights are 0. */
template <int COST, int KT> __device__ __forceinline__ void
make_costs (Column<COST, KT> &c, bool there, uint32_t (&to)[NT][2])
{
  if (there) {
    FourRows<COST> left, right;
    load_rows (left, c.left);
    c.left += Features<COST>::bytes;
#pragma unroll
    for (int t = 0; t < NT; t++) {
      load_rows (right, c.right[t]);
      c.right[t] += Features<COST>::bytes;
      four_costs (left, right, to[t]);
    }
  } else {
#pragma unroll
    for (int t = 0; t < NT; t++)
      to[t][0] = to[t][1] = 0;
  }
}

/* Means of two rows of the tile, as half floats; 0 where there is no candidate. */
template <int KT> __device__ __forceinline__ void
store_means (const Frame &f, const float (&sum)[NT][4], const float (&weights)[4], const Candidates &all, int base,
    int y, uint16_t *out)
{
  int start = base + 2 * NT * (threadIdx.x & 3);
  bool whole = has_all (all, base);

#pragma unroll
  for (int r = 0; r < 2; r++) {
    float scale = __fdividef (COST_BIT, weights[2 * r]);
    uint4 words = whole ?
        gather_row (sum, r, [&](float low, float high, int i) { return pack_halves (low * scale, high * scale); }) :
        gather_row (sum, r, [&](float low, float high, int i) {
          return pack_halves (has (all, start + i) ? low * scale : 0, has (all, start + i + 1) ? high * scale : 0);
        });
    if (y + 8 * r < f.height && start < f.depth)
      *(uint4 *) (out + (size_t) (8 * r) * f.width * f.depth) = words;
  }
}

/*
 * A block is a column (blockIdx.x) by 8 * NT disparities a warp (blockIdx.y: further ones), rolling
 * down. Lane (j, g) makes the costs of rows 4 g.. of index base + j * NT + t for tile t of NT, and ends up
 * with indices base + 2 NT g.. of rows j and j + 8.
 */
template <int COST, int KT> __global__ void __launch_bounds__ (256, 2)
aggregate_columns (Frame f, Records records, const uint32_t *color, int color_pitch, AswWindow w)
{
  __shared__ Band<KT> band;
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, x = blockIdx.x;
  int base = (blockIdx.y * (blockDim.x >> 5) + warp) * 8 * NT;
  int j = lane >> 2, g = lane & 3, tiles = (f.height + TILE - 1) / TILE;
  Candidates all = candidates (f, x);
  Line line = { color + (size_t) x * color_pitch + LINE_PAD, f.height, tiles * TILE };
  Column<COST, KT> c;

  c.left = records.view[STEREO_LEFT] + (size_t) x * records.pitch + 16 * g;
#pragma unroll
  for (int t = 0; t < NT; t++)
    c.right[t] = records.view[STEREO_RIGHT] + (size_t) (f.width - 1 - x + base + j * NT + t) * records.pitch + 16 * g;
  c.out = f.volume + ((size_t) j * f.width + x) * f.depth + base + 2 * NT * g;
  c.turn = warp;
  start_rolling (c.ring, [&](int n, uint32_t (&to)[NT][2]) { make_costs (c, n < tiles, to); });
  make_distances (band, w);
  __syncthreads ();
  share_weights (band, line, 0, c.turn, w);

  for (int start = 0; start < tiles; start += Ring<KT>::slots)
#pragma unroll
    for (int step = 0; step < Ring<KT>::slots; step++) {
      int tile = start + step;
      if (tile >= tiles)
        break;
      uint4 a[KT];
      float sum[NT][4] = { }, weights[4];
      __syncthreads ();
      load_weights (a, band, tile);
      /* work for the tiles ahead, to overlap with the products */
      make_costs (c, tile + 1 + KT / 2 < tiles, c.ring.costs[(step + 1 + KT / 2) % Ring<KT>::slots]);
      if (tile + 1 < tiles)
        share_weights (band, line, tile + 1, c.turn, w);
      sum_weights (weights, a);
      multiply_band (sum, a, c.ring, step);
      store_means<KT> (f, sum, weights, all, base, tile * TILE + j, c.out);
      c.out += (size_t) TILE * f.width * f.depth;
    }
}

/* ---- second pass: rows ---------------------------------------------------------------------------- */

/* Half floats of four columns, NT indices each, as they come from the volume. */
struct Words
{
  uint2 column[4];
};

__device__ __forceinline__ void
load_columns (Words &words, const uint16_t *from, int depth, bool there, int columns)
{
#pragma unroll
  for (int c = 0; c < 4; c++)
    words.column[c] = there && c < columns ? *(const uint2 *) (from + c * depth) : make_uint2 (0, 0);
}

/* ... turned so that a word holds two columns of one index. */
__device__ __forceinline__ void
turn_columns (const Words &words, uint32_t (&to)[NT][2])
{
#pragma unroll
  for (int t = 0; t < NT; t++) {
    uint32_t order = t & 1 ? 0x7632 : 0x5410;
    to[t][0] = __byte_perm (t < 2 ? words.column[0].x : words.column[0].y,
        t < 2 ? words.column[1].x : words.column[1].y, order);
    to[t][1] = __byte_perm (t < 2 ? words.column[2].x : words.column[2].y,
        t < 2 ? words.column[3].x : words.column[3].y, order);
  }
}

/* Shifts that give 0 for 32 and more. */
__device__ __forceinline__ uint32_t
shift_left (uint32_t a, int bits)
{
  uint32_t b;
  asm ("shl.b32 %0, %1, %2;" : "=r" (b) : "r" (a), "r" (bits));
  return b;
}

__device__ __forceinline__ uint32_t
shift_right (uint32_t a, int bits)
{
  uint32_t b;
  asm ("shr.u32 %0, %1, %2;" : "=r" (b) : "r" (a), "r" (bits));
  return b;
}

/* Ones where the candidate of index @i exists in the four columns from @x on: those from i + min on,
 * and before i + min + width. */
__device__ __forceinline__ void
four_existing (const Frame &f, int x, int i, uint32_t (&ones)[2])
{
  int before = i + f.min_disparity - x, after = 4 - (before + f.width);
#pragma unroll
  for (int h = 0; h < 2; h++)
    ones[h] = shift_left (0x3C003C00u, 16 * max (before - 2 * h, 0)) &
        shift_right (0x3C003C00u, 16 * max (after - 2 * (1 - h), 0));
}

/* Sums over the weights of the taps whose candidate exists: those of lane (j, g)'s costs start at @i. */
template <int KT> __device__ __forceinline__ void
divide_existing (const Frame &f, float (&sum)[NT][4], const uint4 (&a)[KT], int tile, int i)
{
#pragma unroll
  for (int t = 0; t < NT; t++) {
    float weights[4] = { };
#pragma unroll
    for (int kt = 0; kt < KT; kt++) {
      uint32_t ones[2];
      four_existing (f, (tile + kt - KT / 2) * TILE + 4 * (threadIdx.x & 3), i + t, ones);
      multiply (weights, a[kt], ones[0], ones[1]);
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
      sum[t][c] = __fdividef (sum[t][c], weights[c]);
  }
}

/* Adding 2^23 leaves a rounded number in the low bits. */
__device__ __forceinline__ uint32_t
rounded_bits (float value, float scale)
{
  return __float_as_uint (fmaf (value, scale, 8388608.0f));
}

/* Two pixels' costs in volume steps; STEREO_INVALID where there is no candidate. */
__device__ __forceinline__ void
store_steps (const Frame &f, const float (&sum)[NT][4], const float (&scale)[2], bool whole, int base, int x,
    uint16_t *out)
{
  int start = base + 2 * NT * (threadIdx.x & 3);

#pragma unroll
  for (int r = 0; r < 2; r++) {
    Candidates all = candidates (f, x + 8 * r);
    uint4 words = whole ? gather_row (sum, r, [&](float low, float high, int i) {
      return __byte_perm (rounded_bits (low, scale[r]), rounded_bits (high, scale[r]), 0x5410);
    }) : gather_row (sum, r, [&](float low, float high, int i) {
      return __byte_perm (has (all, start + i) ? rounded_bits (low, scale[r]) : STEREO_INVALID,
          has (all, start + i + 1) ? rounded_bits (high, scale[r]) : STEREO_INVALID, 0x5410);
    });
    if (x + 8 * r < f.width && start < f.depth)
      *(uint4 *) (out + 8 * r * f.depth) = words;
  }
}

/*
 * A block is a row (blockIdx.x) by 8 * NT disparities a warp (blockIdx.y: further ones), rolling along
 * x over the first pass's half floats and leaving the final costs in their place: a tile is written
 * after the one behind it was read, and a warp keeps to its own indices. Lanes as in the first pass; what
 * is read at the start of a step is looked at in the end.
 */
template <int KT> __global__ void __launch_bounds__ (256, 2)
aggregate_rows (Frame f, AswWindow w)
{
  __shared__ Band<KT> band;
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, y = blockIdx.x;
  int base = (blockIdx.y * (blockDim.x >> 5) + warp) * 8 * NT;
  int j = lane >> 2, g = lane & 3, tiles = (f.width + TILE - 1) / TILE, turn = warp;
  uint16_t *row = f.volume + (size_t) y * f.width * f.depth, *out = row + j * f.depth + base + 2 * NT * g;
  const uint16_t *in = row + 4 * g * f.depth + base + j * NT;
  bool mine = base + j * NT < f.depth;
  Line line = { f.view[STEREO_LEFT].color + (size_t) y * f.image_pitch, f.width, f.image_pitch };
  Ring<KT> ring;
  Words words;

  auto load = [&](int tile) {
    load_columns (words, in, f.depth, mine, f.width - tile * TILE - 4 * g);
    in += TILE * f.depth;
  };
  start_rolling (ring, [&](int n, uint32_t (&to)[NT][2]) { load (n), turn_columns (words, to); });
  make_distances (band, w);
  __syncthreads ();
  share_weights (band, line, 0, turn, w);

  for (int start = 0; start < tiles; start += Ring<KT>::slots)
#pragma unroll
    for (int step = 0; step < Ring<KT>::slots; step++) {
      int tile = start + step;
      if (tile >= tiles)
        break;
      uint4 a[KT];
      float sum[NT][4] = { }, weights[4];
      __syncthreads ();
      load (tile + 1 + KT / 2);
      load_weights (a, band, tile);
      if (tile + 1 < tiles)
        share_weights (band, line, tile + 1, turn, w);
      multiply_band (sum, a, ring, step);

      int from = max (0, (tile - KT / 2) * TILE), to = min (f.width, (tile + KT / 2 + 1) * TILE) - 1;
      bool complete = stereo_last_index (from, f.disparities, f.min_disparity) == f.disparities - 1 &&
          stereo_first_index (to, f.width, f.min_disparity) == 0;
      float scale[2] = { (float) f.volume_unit, (float) f.volume_unit };
      if (complete) {
        sum_weights (weights, a);
        scale[0] = __fdividef (scale[0], weights[0]);
        scale[1] = __fdividef (scale[1], weights[2]);
      } else {
        divide_existing<KT> (f, sum, a, tile, base + j * NT);
      }
      store_steps (f, sum, scale, complete && base + 8 * NT <= f.disparities, base, tile * TILE + j, out);
      out += TILE * f.depth;
      turn_columns (words, ring.costs[(step + 1 + KT / 2) % Ring<KT>::slots]);
    }
}

/* ---- stage ------------------------------------------------------------------------------------------ */

/* Warps that a line's disparities take, in @chunks blocks of at most 8. */
static int
warps_of (const StereoPlan *plan, int *chunks)
{
  int warps = (plan->depth + 8 * NT - 1) / (8 * NT);
  *chunks = (warps + 7) / 8;
  return (warps + *chunks - 1) / *chunks;
}

static int
tiles_of (const StereoPlan *plan)
{
  return (plan->height + TILE - 1) / TILE;
}

static int
color_pitch (const StereoPlan *plan)
{
  return 2 * LINE_PAD + tiles_of (plan) * TILE;
}

template <int COST> static Records
records_of (const StereoPlan *plan)
{
  const CudaState *state = cuda_state (plan);
  int chunks, warps = warps_of (plan, &chunks);
  return { { state->asw_records[0], state->asw_records[1] }, (size_t) tiles_of (plan) * Features<COST>::bytes,
    plan->width + warps * chunks * 8 * NT };
}

template <int COST> static StereoStatus
prepare_cost (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  Records records = records_of<COST> (plan);
  StereoStatus status = stereo_reserve (plan, (void **) &state->asw_color,
      (size_t) color_pitch (plan) * (size_t) plan->width, sizeof (uint32_t), error);

  if (!status)
    status = stereo_reserve (plan, (void **) &state->asw_records[0], (size_t) plan->width, records.pitch, error);
  if (!status)
    status = stereo_reserve (plan, (void **) &state->asw_records[1], (size_t) records.columns, records.pitch, error);
  return status;
}

template <int COST, int KT> static void
launch_passes (StereoPlan *plan, const Records &records)
{
  const CudaState *state = cuda_state (plan);
  Frame f = cuda_frame (plan);
  AswWindow w = asw_window (plan);
  int chunks, warps = warps_of (plan, &chunks);

  aggregate_columns<COST, KT><<<dim3 (f.width, chunks), 32 * warps, 0, state->stream>>> (f, records, state->asw_color,
      color_pitch (plan), w);
  aggregate_rows<KT><<<dim3 (f.height, chunks), 32 * warps, 0, state->stream>>> (f, w);
}

template <int COST> static StereoStatus
launch_cost (StereoPlan *plan, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  Records records = records_of<COST> (plan);
  dim3 grid (cuda_blocks (plan->width, RECORD_COLUMNS), tiles_of (plan), 2);

  make_records<COST><<<grid, 256, 0, state->stream>>> (cuda_frame (plan), records, state->asw_color + LINE_PAD,
      color_pitch (plan));
  CUDA_LAUNCHED (plan, "make_records");
  if (plan->params.window / 2 > TILE)
    launch_passes<COST, 5> (plan, records);
  else
    launch_passes<COST, 3> (plan, records);
  CUDA_LAUNCHED (plan, "aggregate_columns, aggregate_rows");
  return STEREO_OK;
}

static StereoStatus
left_prepare (StereoPlan *plan, StereoError *error)
{
  return ASW_FOR_COST (plan, prepare_cost, plan, error);
}

static StereoStatus
left_run (StereoPlan *plan, StereoError *error)
{
  return ASW_FOR_COST (plan, launch_cost, plan, error);
}

const StereoStage stereo_cuda_asw_left = { "match", left_prepare, left_run };
