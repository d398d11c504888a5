/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Two-pass aggregation with the product of both views' weights, exact to the thesis' definition.
 *
 * A tap multiplies a weight of the left pixel, one of the right pixel, and a cost: no matrix product.
 * A thread takes 4 columns by 4 disparities: one 16-byte load gives the left weights, two the seven
 * right weights that the sixteen pairs share along anti-diagonals (the right view is mirrored), so a
 * tap is a multiply, a fused multiply-add and an add. A block makes its weights once per row and its
 * raw costs once, into a ring of bytes that rolls down (the thesis' rolling threads, 4.4.3). The
 * first pass leaves half floats in the volume, the second rolls along x over them in place.
 */
#include "cuda/asw.cuh"

#include <cuda_fp16.h>

/* A block's share of a row: TX columns by TI disparities, a thread 4 by 4 of them. */
template <int TX, int TI> struct Tile
{
  static constexpr int columns = TX;
  static constexpr int threads = TX / 4 * (TI / 4);
  static constexpr int partners = TX + TI;      /* right pixels met, one more than there are */
  static constexpr int cost_pitch = TI + 16;    /* bytes a column: neighbours fall into other banks */
};

/*
 * Weights of the pixels start..start + count - 1 of a line to their taps k_from..k_to: out[(k + radius) * count + c]; 0
 * for pixels outside [0, width). A thread stays with a pixel, number @c. A tap's colour is color[pixel + k * step];
 * taps along the line weigh 0 outside it, those across it are inside by the range of k.
 */
template <bool ALONG> __device__ __forceinline__ void
weigh_pixel (float *out, const uint32_t *color, int start, int c, int count, int width, int k_from, int k_to,
    ptrdiff_t step, AswWindow w)
{
  int p = start + c;
  bool inside = p >= 0 && p < width;
  const uint32_t *tap = color + (inside ? p : 0) + k_from * step;
  uint32_t centre = color[inside ? p : 0];
  float distance = (float) k_from;

  out += (k_from + w.radius) * count + c;
#pragma unroll 4
  for (int k = k_from; k <= k_to; k++, tap += step, out += count, distance += 1) {
    bool valid = inside && (!ALONG || (unsigned) (p + k * (int) step) < (unsigned) width);
    *out = valid ? cuda_weight (centre, *tap, w.color, fabsf (distance) * w.distance) : 0;
  }
}

/* Both views' weights of a tile: its columns, and the right pixels they meet. */
template <typename T, bool ALONG> __device__ __forceinline__ void
weigh_tile (const Frame &f, float *left, float *right, size_t row, int x0, int partner0, int k_from, int k_to,
    ptrdiff_t step, AswWindow w)
{
  for (int c = threadIdx.x; c < T::columns + T::partners; c += T::threads)
    if (c < T::columns)
      weigh_pixel<ALONG> (left, f.view[STEREO_LEFT].color + row, x0, c, T::columns, f.width, k_from, k_to, step, w);
    else        /* mirrored: its taps along the line run the other way */
      weigh_pixel<ALONG> (right, f.view[STEREO_RIGHT].color + row, partner0, c - T::columns, T::partners, f.width,
          k_from, k_to, ALONG ? -step : step, w);
}

/* Costs in the ring's bytes, and back to floats. Those below 128 are kept with the high bit set, so that one
 * byte permutation makes 1 + cost / 128 of them, which is taken out of the mean at the end. */
template <int COST> struct Ring
{
  static constexpr bool small = COST == STEREO_COST_CENSUS_7X5 || COST == STEREO_COST_CENSUS_9X7;

  static __device__ __forceinline__ uint8_t
  byte (int cost)
  {
    return (uint8_t) (small ? cost | 0x80 : cost);
  }

  static __device__ __forceinline__ float
  number (uint32_t word, int b)
  {
    if (small)
      return __uint_as_float (__byte_perm (word, 0x3F000000u, 0x7044 + (b << 8)));
    return __uint_as_float (__byte_perm (word, 0x4B000000u, 0x7540 + b)) - 8388608.0f;
  }

  static __device__ __forceinline__ float
  mean (float sum, float weights)
  {
    float mean = __fdividef (sum, weights);
    return weights > 0 ? small ? fmaf (mean, 128.0f, -128.0f) : mean : 0;
  }
};

/* One tap of 4 x 4 pairs: @right holds the right weights of partners c..c+7, pair (a, b) meets 3 - a + b. */
__device__ __forceinline__ void
add_tap (float (&sum)[4][4], float (&weights)[4][4], const float4 &left, const float (&right)[8],
    const float (&cost)[4][4])
{
  const float l[4] = { left.x, left.y, left.z, left.w };
#pragma unroll
  for (int a = 0; a < 4; a++)
#pragma unroll
    for (int b = 0; b < 4; b++) {
      float weight = l[a] * right[3 - a + b];
      weights[a][b] += weight;
      sum[a][b] = fmaf (weight, cost[a][b], sum[a][b]);
    }
}

__device__ __forceinline__ void
load_right (float (&right)[8], const float *from)
{
  float4 a = *(const float4 *) from, b = *(const float4 *) (from + 4);
  right[0] = a.x, right[1] = a.y, right[2] = a.z, right[3] = a.w;
  right[4] = b.x, right[5] = b.y, right[6] = b.z, right[7] = b.w;
}

/* ---- first pass ------------------------------------------------------------------------------------ */

/*
 * Block: TX columns (blockIdx.x), TI indices (blockIdx.y), `strip` rows (blockIdx.z), rolling down. Shared:
 * the raw costs of the window's rows as bytes, the weights of the row at hand. Costs are read as four
 * bytes, weights as 16-byte words that neighbouring threads share.
 */
template <int COST, int TX, int TI> __global__ void __launch_bounds__ (TX * TI / 16, TX * TI <= 512 ? 6 : 2)
aggregate_columns_both (Frame f, AswWindow w, int strip)
{
  typedef Tile<TX, TI> T;
  extern __shared__ float4 shared[];
  int rows = 2 * w.radius + 1;
  float *left = (float *) shared, *right = left + rows * TX;
  uint8_t *ring = (uint8_t *) (right + rows * T::partners);
  int x0 = blockIdx.x * TX, i0 = blockIdx.y * TI, y0 = blockIdx.z * strip, y1 = min (y0 + strip, f.height);
  int ti = threadIdx.x % (TI / 4) * 4, tx = threadIdx.x / (TI / 4) * 4;
  int partner0 = f.width - 1 - (x0 + TX - 1) + f.min_disparity + i0;    /* of the tile's last column */
  int filled = max (0, y0 - w.radius);

  for (int y = y0; y < y1; y++) {
    int from = max (-w.radius, -y), to = min (w.radius, f.height - 1 - y);
    for (; filled <= y + to; filled++) {
      size_t row = (size_t) filled * f.image_pitch;
      uint8_t *out = ring + filled % rows * (TX * T::cost_pitch);
      for (int e = threadIdx.x; e < TX * TI; e += T::threads) {
        int c = e / TI, i = e % TI, x = x0 + c, xm = partner0 + TX - 1 - c + i;
        bool valid = x < f.width && xm >= 0 && xm < f.width;
        out[c * T::cost_pitch + i] = valid ? Ring<COST>::byte (asw_raw_cost<COST> (f, row, x, xm)) : 0;
      }
    }
    size_t row = (size_t) y * f.image_pitch;
    weigh_tile<T, false> (f, left, right, row, x0, partner0, from, to, f.image_pitch, w);
    __syncthreads ();

    float sum[4][4] = { }, weights[4][4] = { };
    int slot = (y + from) % rows;
#pragma unroll 4
    for (int k = from; k <= to; k++) {
      const uint8_t *costs = ring + slot * (TX * T::cost_pitch) + tx * T::cost_pitch + ti;
      slot = slot + 1 == rows ? 0 : slot + 1;
      float4 l = *(const float4 *) (left + (k + w.radius) * TX + tx);
      float r[8], cost[4][4];
      load_right (r, right + (k + w.radius) * T::partners + TX - 4 - tx + ti);
#pragma unroll
      for (int a = 0; a < 4; a++) {
        uint32_t word = *(const uint32_t *) (costs + a * T::cost_pitch);
#pragma unroll
        for (int b = 0; b < 4; b++)
          cost[a][b] = Ring<COST>::number (word, b);
      }
      add_tap (sum, weights, l, r, cost);
    }
#pragma unroll
    for (int a = 0; a < 4; a++) {
      int x = x0 + tx + a, i = i0 + ti;
      if (x < f.width && i < f.depth) {
        __half2 pair[2];
        float mean[4];
#pragma unroll
        for (int b = 0; b < 4; b++)
          mean[b] = Ring<COST>::mean (sum[a][b], weights[a][b]);
        pair[0] = __floats2half2_rn (mean[0], mean[1]);
        pair[1] = __floats2half2_rn (mean[2], mean[3]);
        *(uint2 *) (f.volume + ((size_t) y * f.width + x) * f.depth + i) = *(uint2 *) pair;
      }
    }
    __syncthreads ();
  }
}

/* ---- second pass ------------------------------------------------------------------------------------ */

/*
 * Block: a row (blockIdx.x) by TI indices (blockIdx.y), rolling along x in steps of TX. Shared: the
 * first-pass costs of a step and its reach as floats, the weights of the step at hand. Of every tap's four
 * columns a thread has three from the tap before, so it reads one 16-byte word of costs a tap.
 */
template <int TX, int TI> __global__ void __launch_bounds__ (TX * TI / 16, TX * TI <= 512 ? 8 : 4)
aggregate_rows_both (Frame f, AswWindow w)
{
  typedef Tile<TX, TI> T;
  extern __shared__ float4 shared[];
  int taps = 2 * w.radius + 1, reach = (w.radius + TX - 1) / TX * TX, columns = TX + 2 * reach;
  float *left = (float *) shared, *right = left + taps * TX, *line = right + taps * T::partners;
  int y = blockIdx.x, i0 = blockIdx.y * TI;
  int ti = threadIdx.x % (TI / 4) * 4, tx = threadIdx.x / (TI / 4) * 4;
  size_t volume_row = (size_t) y * f.width, row = (size_t) y * f.image_pitch;
  int loaded = -reach;          /* columns from here on are not in shared memory yet */

  for (int x0 = 0; x0 < f.width; x0 += TX) {
    for (; loaded < x0 + TX + reach; loaded += TX)
      for (int e = threadIdx.x; e < TX * TI / 4; e += T::threads) {
        int x = loaded + e / (TI / 4), i = i0 + e % (TI / 4) * 4;
        float4 cost = make_float4 (0, 0, 0, 0);
        if (x >= 0 && x < f.width && i < f.depth) {
          uint2 words = *(const uint2 *) (f.volume + (volume_row + x) * f.depth + i);
          float2 a = __half22float2 (*(__half2 *) &words.x), b = __half22float2 (*(__half2 *) &words.y);
          cost = make_float4 (a.x, a.y, b.x, b.y);
        }
        *(float4 *) (line + (x + reach) % columns * TI + i - i0) = cost;
      }
    int partner0 = f.width - 1 - (x0 + TX - 1) + f.min_disparity + i0;
    weigh_tile<T, true> (f, left, right, row, x0, partner0, -w.radius, w.radius, 1, w);
    __syncthreads ();

    float sum[4][4] = { }, weights[4][4] = { }, cost[4][4];
    int column = (x0 + tx - w.radius + reach) % columns;
#pragma unroll
    for (int a = 1; a < 4; a++) {
      float4 c = *(const float4 *) (line + column * TI + ti);
      cost[a][0] = c.x, cost[a][1] = c.y, cost[a][2] = c.z, cost[a][3] = c.w;
      column = column + 1 == columns ? 0 : column + 1;
    }
#pragma unroll 4
    for (int k = 0; k < taps; k++) {
      float r[8];
#pragma unroll
      for (int a = 0; a < 3; a++)
#pragma unroll
        for (int b = 0; b < 4; b++)
          cost[a][b] = cost[a + 1][b];
      float4 c = *(const float4 *) (line + column * TI + ti), l = *(const float4 *) (left + k * TX + tx);
      cost[3][0] = c.x, cost[3][1] = c.y, cost[3][2] = c.z, cost[3][3] = c.w;
      column = column + 1 == columns ? 0 : column + 1;
      load_right (r, right + k * T::partners + TX - 4 - tx + ti);
      add_tap (sum, weights, l, r, cost);
    }
#pragma unroll
    for (int a = 0; a < 4; a++) {
      int x = x0 + tx + a, i = i0 + ti;
      int first = stereo_first_index (x, f.width, f.min_disparity);
      int last = stereo_last_index (x, f.disparities, f.min_disparity);
      uint32_t steps[4];
#pragma unroll
      for (int b = 0; b < 4; b++)
        steps[b] = i + b < first || i + b > last ? STEREO_INVALID :
            __float2uint_rn (__fdividef (sum[a][b], weights[a][b]) * (float) f.volume_unit);
      if (x < f.width && i < f.depth)
        *(uint2 *) (f.volume + (volume_row + x) * f.depth + i) =
            make_uint2 (steps[0] | steps[1] << 16, steps[2] | steps[3] << 16);
    }
    __syncthreads ();
  }
}

/* ---- stage -------------------------------------------------------------------------------------------- */

template <int TX, int TI> static size_t
columns_shared (int taps)
{
  typedef Tile<TX, TI> T;
  return (size_t) taps * (sizeof (float) * (TX + T::partners) + TX * T::cost_pitch);
}

template <int TX, int TI> static size_t
rows_shared (int taps)
{
  typedef Tile<TX, TI> T;
  int reach = (taps / 2 + TX - 1) / TX * TX;
  return sizeof (float) * ((size_t) taps * (TX + T::partners) + (TX + 2 * reach) * TI);
}

/* The small tile fits the shared memory of every device from sm_75 on, with every window. */
static bool
fits_large_tile (const StereoPlan *plan)
{
  int taps = plan->params.window / 2 * 2 + 1;
  size_t most = (size_t) cuda_state (plan)->shared_per_block;
  return columns_shared<32, 64> (taps) <= most && rows_shared<32, 64> (taps) <= most;
}

template <int COST, int TX, int TI> static StereoStatus
allow_shared (const StereoPlan *plan, StereoError *error)
{
  int taps = plan->params.window / 2 * 2 + 1;
  CUDA_TRY (cudaFuncSetAttribute (aggregate_columns_both<COST, TX, TI>, cudaFuncAttributeMaxDynamicSharedMemorySize,
          (int) columns_shared<TX, TI> (taps)));
  CUDA_TRY (cudaFuncSetAttribute (aggregate_rows_both<TX, TI>, cudaFuncAttributeMaxDynamicSharedMemorySize,
          (int) rows_shared<TX, TI> (taps)));
  return STEREO_OK;
}

template <int COST, int TX, int TI> static StereoStatus
launch_passes (StereoPlan *plan, StereoError *error)
{
  typedef Tile<TX, TI> T;
  Frame f = cuda_frame (plan);
  AswWindow w = asw_window (plan);
  int taps = 2 * w.radius + 1, strip = 128;
  unsigned across = cuda_blocks (f.depth, TI);
  cudaStream_t stream = cuda_state (plan)->stream;
  dim3 grid (cuda_blocks (f.width, TX), across, cuda_blocks (f.height, strip));

  aggregate_columns_both<COST, TX, TI><<<grid, T::threads, columns_shared<TX, TI> (taps), stream>>> (f, w, strip);
  CUDA_LAUNCHED (plan, "aggregate_columns_both");
  aggregate_rows_both<TX, TI><<<dim3 (f.height, across), T::threads, rows_shared<TX, TI> (taps), stream>>> (f, w);
  CUDA_LAUNCHED (plan, "aggregate_rows_both");
  return STEREO_OK;
}

template <int COST> static StereoStatus
prepare_cost (StereoPlan *plan, StereoError *error)
{
  return fits_large_tile (plan) ? allow_shared<COST, 32, 64> (plan, error) : allow_shared<COST, 16, 32> (plan, error);
}

template <int COST> static StereoStatus
launch_cost (StereoPlan *plan, StereoError *error)
{
  return fits_large_tile (plan) ? launch_passes<COST, 32, 64> (plan, error) : launch_passes<COST, 16, 32> (plan, error);
}

static StereoStatus
both_prepare (StereoPlan *plan, StereoError *error)
{
  return ASW_FOR_COST (plan, prepare_cost, plan, error);
}

static StereoStatus
both_run (StereoPlan *plan, StereoError *error)
{
  return ASW_FOR_COST (plan, launch_cost, plan, error);
}

const StereoStage stereo_cuda_asw_both = { "match", both_prepare, both_run };
