/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two-pass aggregation with the left view's weights alone, on the tensor cores.
 *
 * A pass over one column (then one row) is a banded matrix product: weights, 16 pixels by the pixels
 * of their windows, times costs, those pixels by disparities. A tile of 16 pixels needs the tiles
 * before and after it (KT = 3 of them for windows up to 33, 5 up to 65). A warp takes 8 * NT
 * disparities and rolls along, so each cost is made or read once and stays in registers for KT steps.
 *
 * - Raw costs enter as the bits of half-precision subnormals: n means n * 2^-24, no conversion.
 * - The order of the pixels inside a tile does not matter to a sum, so a lane takes four neighbours:
 *   its costs are one 16-byte load of census words from an image stored column by column.
 * - A block computes each weight once, straight into fragment order in shared memory.
 * - The first pass leaves half floats in the volume; the second rolls over them in place.
 * - Sums of weights are one more product, with ones; where candidates are missing at the border,
 *   with ones and zeros.
 */
#include "cuda/banded.cuh"

#define PLANE_PAD 32            /* rows before and after a column of a transposed plane */

/* Column-by-column copies of what costs and vertical weights read: plane[view] + x * pitch + y. */
struct Planes
{
  uint32_t *color[2];
  void *census[2];              /* uint32_t or uint64_t */
  uint16_t *small[2];           /* gradient or luma */
  int pitch;
};

template <int COST> struct CostTraits
{
  static constexpr bool census32 = COST == STEREO_COST_CENSUS_7X5 || COST == STEREO_COST_MIXED;
  static constexpr bool census64 = COST == STEREO_COST_CENSUS_9X7;
  static constexpr bool color = COST == STEREO_COST_MIXED || COST == STEREO_COST_SAD;
  static constexpr bool small = COST == STEREO_COST_MIXED || COST == STEREO_COST_AD;
};

/* ---- planes ---------------------------------------------------------------------------------- */

/* A 32x32 tile a block, 32x8 threads, through shared memory; blockIdx.z is the view. */
template <typename From, typename To> __global__ void
transpose (const From *left, const From *right, To *left_out, To *right_out, int width, int height, int image_pitch,
    int plane_pitch)
{
  __shared__ To tile[32][33];
  const From *from = blockIdx.z ? right : left;
  To *to = blockIdx.z ? right_out : left_out;
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;

  for (int i = 0; i < 32; i += 8)
    if (x < width && y + i < height)
      tile[threadIdx.y + i][threadIdx.x] = (To) from[(size_t) (y + i) * image_pitch + x];
  __syncthreads ();
  x = blockIdx.x * 32 + threadIdx.y;
  y = blockIdx.y * 32 + threadIdx.x;
  for (int i = 0; i < 32; i += 8)
    if (x + i < width && y < height)
      to[(size_t) (x + i) * plane_pitch + y] = tile[threadIdx.x][threadIdx.y + i];
}

/* ---- first pass: columns ------------------------------------------------------------------------ */

/* Costs of four rows from y on: left column x, right column xm, as two words of two halves. */
template <int COST> __device__ __forceinline__ void
four_costs (const Planes &p, int x, int xm, int y, uint32_t &low, uint32_t &high)
{
  typedef CostTraits<COST> Traits;
  ptrdiff_t left = (ptrdiff_t) x * p.pitch + y, right = (ptrdiff_t) xm * p.pitch + y;
  int cost[4] = { 0, 0, 0, 0 };

  if (Traits::census32) {
    uint4 a = *(const uint4 *) ((const uint32_t *) p.census[0] + left);
    uint4 b = *(const uint4 *) ((const uint32_t *) p.census[1] + right);
    cost[0] = __popc (a.x ^ b.x), cost[1] = __popc (a.y ^ b.y);
    cost[2] = __popc (a.z ^ b.z), cost[3] = __popc (a.w ^ b.w);
  }
  if (Traits::census64) {
    const ulonglong2 *a = (const ulonglong2 *) ((const uint64_t *) p.census[0] + left);
    const ulonglong2 *b = (const ulonglong2 *) ((const uint64_t *) p.census[1] + right);
    ulonglong2 a0 = a[0], a1 = a[1], b0 = b[0], b1 = b[1];
    cost[0] = __popcll (a0.x ^ b0.x), cost[1] = __popcll (a0.y ^ b0.y);
    cost[2] = __popcll (a1.x ^ b1.x), cost[3] = __popcll (a1.y ^ b1.y);
  }
  int sad[4], slope[4];
  if (Traits::color) {
    uint4 a = *(const uint4 *) (p.color[0] + left), b = *(const uint4 *) (p.color[1] + right);
    sad[0] = __vsadu4 (a.x, b.x), sad[1] = __vsadu4 (a.y, b.y);
    sad[2] = __vsadu4 (a.z, b.z), sad[3] = __vsadu4 (a.w, b.w);
  }
  if (Traits::small) {
    short4 a = *(const short4 *) (p.small[0] + left), b = *(const short4 *) (p.small[1] + right);
    slope[0] = a.x - b.x, slope[1] = a.y - b.y, slope[2] = a.z - b.z, slope[3] = a.w - b.w;
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
    cost[i] = COST == STEREO_COST_MIXED ? 4 * cost[i] + stereo_mixed_part (sad[i], slope[i]) :
        COST == STEREO_COST_SAD ? (sad[i] + 1) / 3 : COST == STEREO_COST_AD ? abs (slope[i]) : cost[i];
  low = __byte_perm (cost[0], cost[1], 0x5410);
  high = __byte_perm (cost[2], cost[3], 0x5410);
}

/* Two rows of a tile's product -> @values[NT] words of neighbouring disparities, row r of @sum[t]. */
template <typename Convert> __device__ __forceinline__ void
gather_row (const float (&sum)[NT][4], int r, Convert convert, uint32_t (&words)[NT])
{
#pragma unroll
  for (int e = 0; e < 2; e++)
#pragma unroll
    for (int t = 0; t < NT; t += 2)
      words[(e * NT + t) / 2] = convert (sum[t][2 * r + e], sum[t + 1][2 * r + e], e * NT + t);
}

__device__ __forceinline__ void
store_words (uint16_t *to, const uint32_t (&words)[NT])
{
  *(uint4 *) to = make_uint4 (words[0], words[1], words[2], words[3]);
}

/*
 * A block is a column (blockIdx.x) by 8 * NT disparities a warp (blockIdx.y: further ones), rolling
 * down. Lane (j = lane / 4, g = lane % 4) makes the costs of rows 4 g.. of index base + j * NT + t for
 * tile t of NT, and ends up with indices base + 2 NT g.. of rows j and j + 8. Loads are 16 bytes of four
 * rows, four lanes side by side; neighbouring columns meet in the cache.
 */
template <int COST, int KT> __global__ void
aggregate_columns (Frame f, Planes p, AswWindow w)
{
  __shared__ uint4 shared[2][KT * 32];
  __shared__ float2 distances[KT * 128];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, x = blockIdx.x;
  int base = (blockIdx.y * (blockDim.x >> 5) + warp) * 8 * NT;
  int j = lane >> 2, g = lane & 3, tiles = (f.height + TILE - 1) / TILE;
  int first = stereo_first_index (x, f.width, f.min_disparity);
  int last = stereo_last_index (x, f.disparities, f.min_disparity);
  int partner = f.width - 1 - x + f.min_disparity + base + j * NT;
  bool plain = first == 0 && last == f.disparities - 1 && base + 8 * NT <= f.disparities;
  const uint32_t *color = p.color[0] + (ptrdiff_t) x * p.pitch;
  uint32_t costs[KT][NT][2], next[NT][2];

  auto make_costs = [&](int tile, uint32_t (&to)[NT][2]) {
#pragma unroll
    for (int t = 0; t < NT; t++)
      four_costs<COST> (p, x, min (max (partner + t, 0), f.width - 1), tile * TILE + 4 * g, to[t][0], to[t][1]);
  };
  start_rolling<KT> (costs, next, make_costs);
  make_distances<KT> (distances, w);
  __syncthreads ();
  make_weights<KT> ((uint32_t *) shared[0], distances, color, 0, f.height, w);

  for (int tile = 0; tile < tiles; tile++) {
    uint4 a[KT];
    float sum[NT][4] = { }, weights[4];
    __syncthreads ();
    roll<KT> (costs, next);
    load_weights<KT> (a, shared[tile & 1], lane);
    /* work for the tile ahead, to overlap with the products: one past the end is padding with weight 0 */
    make_costs (min (tile + 1 + KT / 2, tiles), next);
    if (tile + 1 < tiles)
      make_weights<KT> ((uint32_t *) shared[~tile & 1], distances, color, tile + 1, f.height, w);
    sum_weights<KT> (weights, a);
    multiply_band<KT> (sum, a, costs);
#pragma unroll
    for (int r = 0; r < 2; r++) {
      int y = tile * TILE + j + 8 * r, start = base + 2 * NT * g;
      float scale = __fdividef (16777216.0f, weights[2 * r]);
      uint32_t words[NT];
      gather_row (sum, r, [&](float low, float high, int i) {
        i += start;
        low = plain || (i >= first && i <= last) ? low * scale : 0;
        high = plain || (i + 1 >= first && i + 1 <= last) ? high * scale : 0;
        return pack_halves (low, high);
      }, words);
      if (y < f.height && start < f.depth)
        store_words (f.volume + ((size_t) y * f.width + x) * f.depth + start, words);
    }
  }
}

/* ---- second pass: rows ---------------------------------------------------------------------------- */

/* Half floats of four columns from x on, indices i..i + NT, turned so that a word holds two columns. */
__device__ __forceinline__ void
load_line (const Frame &f, size_t row, int x, int i, uint32_t (&to)[NT][2])
{
  uint32_t words[4][NT / 2];
#pragma unroll
  for (int c = 0; c < 4; c++) {
    bool there = x + c < f.width && i < f.depth;
    const uint16_t *from = f.volume + (row + x + c) * f.depth + i;
    uint2 v = there ? *(const uint2 *) from : make_uint2 (0, 0);
    words[c][0] = v.x, words[c][1] = v.y;
  }
#pragma unroll
  for (int t = 0; t < NT; t++) {
    to[t][0] = __byte_perm (words[0][t / 2], words[1][t / 2], t & 1 ? 0x7632 : 0x5410);
    to[t][1] = __byte_perm (words[2][t / 2], words[3][t / 2], t & 1 ? 0x7632 : 0x5410);
  }
}

/* Ones where the candidate of index i exists in the two columns from x on. */
__device__ __forceinline__ uint32_t
two_existing (const Frame &f, int x, int i)
{
  uint32_t a = i >= stereo_first_index (x, f.width, f.min_disparity) &&
      i <= stereo_last_index (x, f.disparities, f.min_disparity);
  uint32_t b = i >= stereo_first_index (x + 1, f.width, f.min_disparity) &&
      i <= stereo_last_index (x + 1, f.disparities, f.min_disparity);
  return a * 0x3C00u | b * 0x3C000000u;
}

/* Sums over the weights of the taps whose candidate exists: those of lane (j, g)'s costs start at @i. */
template <int KT> __device__ __forceinline__ void
divide_existing (const Frame &f, float (&sum)[NT][4], const uint4 (&a)[KT], int tile, int i, int g)
{
#pragma unroll
  for (int t = 0; t < NT; t++) {
    float weights[4] = { };
#pragma unroll
    for (int kt = 0; kt < KT; kt++) {
      int x = (tile + kt - KT / 2) * TILE + 4 * g;
      multiply (weights, a[kt], two_existing (f, x, i + t), two_existing (f, x + 2, i + t));
    }
#pragma unroll
    for (int c = 0; c < 4; c++)
      sum[t][c] = __fdividef (sum[t][c], weights[c]);
  }
}

/*
 * A block is a row (blockIdx.x) by 8 * NT disparities a warp (blockIdx.y: further ones), rolling along
 * x over the first pass's half floats and leaving the final costs in their place: a tile is written
 * after the one behind it was read, and a warp keeps to its own indices. Lanes as in the first pass;
 * loads and stores are 16 bytes, a column's 8 * NT indices in one run.
 */
template <int KT> __global__ void
aggregate_rows (Frame f, AswWindow w)
{
  __shared__ uint4 shared[2][KT * 32];
  __shared__ float2 distances[KT * 128];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, y = blockIdx.x;
  int base = (blockIdx.y * (blockDim.x >> 5) + warp) * 8 * NT;
  int j = lane >> 2, g = lane & 3, tiles = (f.width + TILE - 1) / TILE;
  size_t row = (size_t) y * f.width;
  const uint32_t *color = f.view[STEREO_LEFT].color + (size_t) y * f.image_pitch;
  uint32_t costs[KT][NT][2], next[NT][2];

  auto load_costs = [&](int tile, uint32_t (&to)[NT][2]) {
    load_line (f, row, tile * TILE + 4 * g, base + j * NT, to);
  };
  start_rolling<KT> (costs, next, load_costs);
  make_distances<KT> (distances, w);
  __syncthreads ();
  make_weights<KT> ((uint32_t *) shared[0], distances, color, 0, f.width, w);

  for (int tile = 0; tile < tiles; tile++) {
    uint4 a[KT];
    float sum[NT][4] = { }, weights[4];
    __syncthreads ();
    roll<KT> (costs, next);
    load_weights<KT> (a, shared[tile & 1], lane);
    load_costs (tile + 1 + KT / 2, next);
    if (tile + 1 < tiles)
      make_weights<KT> ((uint32_t *) shared[~tile & 1], distances, color, tile + 1, f.width, w);
    sum_weights<KT> (weights, a);
    multiply_band<KT> (sum, a, costs);

    int from = max (0, (tile - KT / 2) * TILE), to = min (f.width, (tile + KT / 2 + 1) * TILE) - 1;
    bool whole = stereo_last_index (from, f.disparities, f.min_disparity) == f.disparities - 1 &&
        stereo_first_index (to, f.width, f.min_disparity) == 0;
    bool plain = whole && base + 8 * NT <= f.disparities;
    if (!whole)
      divide_existing<KT> (f, sum, a, tile, base + j * NT, g);
#pragma unroll
    for (int r = 0; r < 2; r++) {
      int x = tile * TILE + j + 8 * r, start = base + 2 * NT * g;
      int first = stereo_first_index (x, f.width, f.min_disparity);
      int last = stereo_last_index (x, f.disparities, f.min_disparity);
      float scale = whole ? __fdividef ((float) f.volume_unit, weights[2 * r]) : (float) f.volume_unit;
      uint32_t words[NT];
      gather_row (sum, r, [&](float low, float high, int i) {
        i += start;
        /* adding 2^23 leaves the rounded steps in the low bits */
        uint32_t a = __float_as_uint (fmaf (low, scale, 8388608.0f));
        uint32_t b = __float_as_uint (fmaf (high, scale, 8388608.0f));
        if (!plain) {
          a = i >= first && i <= last ? a : STEREO_INVALID;
          b = i + 1 >= first && i + 1 <= last ? b : STEREO_INVALID;
        }
        return __byte_perm (a, b, 0x5410);
      }, words);
      if (x < f.width && start < f.depth)
        store_words (f.volume + (row + x) * f.depth + start, words);
    }
  }
}

/* ---- stage ------------------------------------------------------------------------------------------ */

static Planes
planes_of (const StereoPlan *plan)
{
  const CudaState *state = cuda_state (plan);
  Planes p;
  p.pitch = 2 * PLANE_PAD + (plan->height + TILE - 1) / TILE * TILE;
  for (int v = 0; v < 2; v++) {
    p.color[v] = state->asw_color[v] + PLANE_PAD;
    p.census[v] = state->asw_census[v] ? (char *) state->asw_census[v] + PLANE_PAD * plan->census_bytes : NULL;
    p.small[v] = state->asw_small[v] ? state->asw_small[v] + PLANE_PAD : NULL;
  }
  return p;
}

static StereoStatus
left_prepare (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  size_t pixels = (size_t) planes_of (plan).pitch * (size_t) plan->width;
  StereoStatus status = STEREO_OK;

  for (int v = 0; v < 2 && !status; v++) {
    status = stereo_reserve (plan, (void **) &state->asw_color[v], pixels, sizeof (uint32_t), error);
    if (!status && plan->census_bytes)
      status = stereo_reserve (plan, &state->asw_census[v], pixels, (size_t) plan->census_bytes, error);
    if (!status && (plan->params.cost == STEREO_COST_MIXED || plan->params.cost == STEREO_COST_AD))
      status = stereo_reserve (plan, (void **) &state->asw_small[v], pixels, sizeof (uint16_t), error);
  }
  return status;
}

static StereoStatus
make_planes (StereoPlan *plan, const Planes &p, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->width, 32), cuda_blocks (plan->height, 32), 2), block (32, 8);
  cudaStream_t stream = cuda_state (plan)->stream;
  const StereoView *l = &plan->view[STEREO_LEFT], *r = &plan->view[STEREO_RIGHT];
  int width = plan->width, height = plan->height, pitch = plan->image_pitch;

  transpose<<<grid, block, 0, stream>>> (l->color, r->color, p.color[0], p.color[1], width, height, pitch, p.pitch);
  if (plan->census_bytes == 4)
    transpose<<<grid, block, 0, stream>>> ((const uint32_t *) l->census, (const uint32_t *) r->census,
        (uint32_t *) p.census[0], (uint32_t *) p.census[1], width, height, pitch, p.pitch);
  if (plan->census_bytes == 8)
    transpose<<<grid, block, 0, stream>>> ((const uint64_t *) l->census, (const uint64_t *) r->census,
        (uint64_t *) p.census[0], (uint64_t *) p.census[1], width, height, pitch, p.pitch);
  if (plan->params.cost == STEREO_COST_MIXED)
    transpose<<<grid, block, 0, stream>>> (l->gradient, r->gradient, p.small[0], p.small[1], width, height, pitch,
        p.pitch);
  if (plan->params.cost == STEREO_COST_AD)
    transpose<<<grid, block, 0, stream>>> (l->luma, r->luma, p.small[0], p.small[1], width, height, pitch, p.pitch);
  CUDA_LAUNCHED (plan, "transpose");
  return STEREO_OK;
}

template <int COST, int KT> static void
launch_passes (StereoPlan *plan, const Planes &p)
{
  Frame f = cuda_frame (plan);
  AswWindow w = asw_window (plan);
  cudaStream_t stream = cuda_state (plan)->stream;
  int warps = (f.depth + 8 * NT - 1) / (8 * NT);
  int chunks = (warps + 7) / 8;
  unsigned threads = 32 * (unsigned) ((warps + chunks - 1) / chunks);

  aggregate_columns<COST, KT><<<dim3 (f.width, chunks), threads, 0, stream>>> (f, p, w);
  aggregate_rows<KT><<<dim3 (f.height, chunks), threads, 0, stream>>> (f, w);
}

template <int COST> static void
launch_cost (StereoPlan *plan, const Planes &p)
{
  if (plan->params.window / 2 > TILE)
    launch_passes<COST, 5> (plan, p);
  else
    launch_passes<COST, 3> (plan, p);
}

static StereoStatus
left_run (StereoPlan *plan, StereoError *error)
{
  Planes p = planes_of (plan);
  StereoStatus status = make_planes (plan, p, error);
  if (status)
    return status;
  ASW_FOR_COST (plan, launch_cost, plan, p);
  CUDA_LAUNCHED (plan, "aggregate_columns, aggregate_rows");
  return STEREO_OK;
}

const StereoStage stereo_cuda_asw_left = { "match", left_prepare, left_run };
