/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The census transform (3.2.5) and the horizontal gradient, which costs read besides luma and colour. */
#include "cuda/common.cuh"

#include <cuda_fp16.h>

namespace
{

constexpr int TILE_X = 32;
constexpr int TILE_Y = 32;
constexpr int APART = TILE_Y / 2;     /* distance of the two rows that share words */
constexpr int ROWS = 8;               /* of threads */
constexpr int EACH = APART / ROWS;    /* neighbouring words of a thread, down a column */
constexpr int BORDER = 4;             /* columns at both sides of a tile, a vector of lumas */
constexpr int FOURS = TILE_X / 4 + 2; /* vectors of a row, with the borders */
static_assert (EACH == 2 && BORDER % 4 == 0, "words of a thread, vectors of lumas");

static __device__ int
clamp (int v, int last)
{
  return v < 0 ? 0 : v > last ? last : v;
}

/* Place @bit of a census in its window, row by row. The centre is left out, and of 7x5 two opposite corners, the first and
 * the last place: 32 neighbours remain. */
template <int RX, int RY> static __device__ __forceinline__ constexpr int
place_of (int bit)
{
  int place = bit + (RX == 3);
  return place + (place >= ((2 * RX + 1) * (2 * RY + 1)) / 2);
}

/* Four lumas of a row from column @x on, with borders repeated. */
static __device__ __forceinline__ uint32_t
four_lumas (const uint8_t *row, int x, int width)
{
  if (x >= 0 && x + 4 <= width)
    return *(const uint32_t *) (row + x);
  uint32_t four = 0;
#pragma unroll
  for (int k = 0; k < 4; k++)
    four |= (uint32_t) row[clamp (x + k, width - 1)] << 8 * k;
  return four;
}

/* The lumas of bytes @k of two rows as half floats, each + 1024: their differences are exact. */
static __device__ __forceinline__ uint32_t
two_lumas (uint32_t a, uint32_t b, unsigned k)
{
  return (__byte_perm (a, b, 0x0400u + 0x1111u * k) & 0x00FF00FFu) | 0x64006400u;
}

template <int RY> struct CensusTile
{
  uint4 row[APART + 2 * RY][FOURS];
};

/* The luma of the block and its surroundings, by all its threads. */
template <int RY> static __device__ __forceinline__ void
load_tile (const Frame &f, const StereoView &view, int x0, int y0, CensusTile<RY> *tile)
{
  int thread = threadIdx.y * TILE_X + threadIdx.x, v = thread / FOURS, x = x0 - BORDER + thread % FOURS * 4;
  static_assert ((APART + 2 * RY) * FOURS <= TILE_X * ROWS, "a vector of two rows for a thread");

  if (v >= APART + 2 * RY)
    return;
  uint32_t a = four_lumas (view.luma + (size_t) clamp (y0 + v - RY, f.height - 1) * f.image_pitch, x, f.width);
  uint32_t b = four_lumas (view.luma + (size_t) clamp (y0 + v - RY + APART, f.height - 1) * f.image_pitch, x, f.width);
  tile->row[v][thread % FOURS] = make_uint4 (
      two_lumas (a, b, 0), two_lumas (a, b, 1), two_lumas (a, b, 2), two_lumas (a, b, 3));
}

/* For both pixels at @middle: the 8 bits from @first on, as half floats, each + 1024. A bit is a difference, limited to 0 and
 * 1, and is put below those before it: both are of the units for half floats, and not of the busier one for integers. */
template <int RX, int RY, int SIGN> static __device__ __forceinline__ uint32_t
eight_bits (const uint32_t *middle, int first)
{
  const int SIDE = 2 * RX + 1, ALL = SIDE * (2 * RY + 1), COUNT = RX == 3 ? ALL - 3 : ALL - 1;
  int count = COUNT - first < 8 ? COUNT - first : 8;
  const __half2 centre = *(const __half2 *) middle, two = __float2half2_rn (2.0f);
  __half2 bits = __float2half2_rn ((float) (1024 >> count));

#pragma unroll
  for (int k = 7; k >= 0; k--)
    if (k < count) {
      int place = place_of<RX, RY> (first + k), dx = place % SIDE - RX, dy = place / SIDE - RY;
      __half2 other = *(const __half2 *) (middle + dy * FOURS * 4 + SIGN * dx);
      bits = __hfma2 (bits, two, __hsub2_sat (centre, other));
    }
  return *(const uint32_t *) &bits;
}

/* Census and gradient of a thread's pixels. @SIGN: true x runs backwards in the right view. */
template <typename Bits, int RX, int RY, bool GRADIENT, int SIGN> static __device__ __forceinline__ void
store_census (const Frame &f, const StereoView &view, const CensusTile<RY> &tile, int x, int y)
{
  const uint32_t *first = (const uint32_t *) tile.row[threadIdx.y * EACH + RY] + BORDER + threadIdx.x;
  size_t at = (size_t) y * f.image_pitch + x;
  Bits census[EACH][2];

#pragma unroll
  for (int j = 0; j < EACH; j++) {
    census[j][0] = census[j][1] = 0;
#pragma unroll
    for (int w = 0; w < (int) sizeof (Bits); w += 2) {
      const uint32_t *middle = first + j * FOURS * 4;
      uint32_t low = eight_bits<RX, RY, SIGN> (middle, 8 * w), high = eight_bits<RX, RY, SIGN> (middle, 8 * w + 8);
      uint32_t both = __byte_perm (low, high, 0x6240); /* 16 bits of each pixel */
      census[j][0] |= (Bits) (both & 0xFFFF) << 8 * w;
      census[j][1] |= (Bits) (both >> 16) << 8 * w;
    }
  }
#pragma unroll
  for (int h = 0; h < 2; h++)
#pragma unroll
    for (int j = 0; j < EACH; j++) {
      if (y + h * APART + j >= f.height)
        return;
      size_t to = at + (size_t) (h * APART + j) * f.image_pitch;
      const uint32_t *middle = first + j * FOURS * 4;
      ((Bits *) view.census)[to] = census[j][h];
      if (GRADIENT)
        view.gradient[to] = (int16_t) ((middle[SIGN] >> 16 * h) - (middle[-SIGN] >> 16 * h));
    }
}

/*
 * Thread: a column by two neighbouring rows and those APART below; blockIdx.z: the view. Shared memory: the luma of the block
 * and its surroundings, with borders repeated. A word has a pixel and the one APART rows below: a comparison is of two
 * pixels at a time. The gradient comes from the same tile.
 */
template <typename Bits, int RX, int RY, bool GRADIENT> static __global__ void
__launch_bounds__ (TILE_X *ROWS) census_kernel (const __grid_constant__ Frame f)
{
  __shared__ CensusTile<RY> tile;
  const StereoView &view = f.view[blockIdx.z];
  int x0 = blockIdx.x * TILE_X, y0 = blockIdx.y * TILE_Y, x = x0 + threadIdx.x, y = y0 + EACH * threadIdx.y;

  load_tile (f, view, x0, y0, &tile);
  __syncthreads ();
  if (x >= f.width)
    return;
  if (blockIdx.z == STEREO_LEFT)
    store_census<Bits, RX, RY, GRADIENT, 1> (f, view, tile, x, y);
  else
    store_census<Bits, RX, RY, GRADIENT, -1> (f, view, tile, x, y);
}

template <typename Bits, int RX, int RY, bool GRADIENT> static StereoStatus
census_run (StereoPlan *plan, void *context, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->width, TILE_X), cuda_blocks (plan->height, TILE_Y), 2);
  cudaStream_t stream;
  StereoStatus status = cuda_begin_early (plan, &stream, error);

  if (status)
    return status;
  census_kernel<Bits, RX, RY, GRADIENT><<<grid, dim3 (TILE_X, ROWS), 0, stream>>> (cuda_frame (plan));
  CUDA_LAUNCHED (plan, "census_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_census_7x5 = { .name = "census", .run = census_run<uint32_t, 3, 2, false> };
extern const StereoStage stereo_cuda_census_9x7 = { .name = "census", .run = census_run<uint64_t, 4, 3, false> };
extern const StereoStage stereo_cuda_mixed = { .name = "census", .run = census_run<uint32_t, 3, 2, true> };

/* The pictures in CIELAB that support weights compare: stereo/exact/lab.h. */

namespace
{

constexpr int LAB_THREADS = 256;
constexpr int LAB_ROWS = 16; /* of a block: they share the copy of the table, which is read entry by entry */

/* Block: 256 columns (blockIdx.x) by LAB_ROWS rows (blockIdx.y) of one view (blockIdx.z). The lanes of a warp read other
 * entries of the table, for which shared memory is made; parameters are read one entry at a time. */
static __global__ void
__launch_bounds__ (LAB_THREADS) lab_kernel (Frame f, const __grid_constant__ StereoLab table)
{
  __shared__ StereoLab shared;
  const StereoView &view = f.view[blockIdx.z];
  int x = blockIdx.x * LAB_THREADS + threadIdx.x, first = blockIdx.y * LAB_ROWS, end = min (first + LAB_ROWS, f.height);

  for (int k = threadIdx.x; k < 256; k += LAB_THREADS)
    shared.light[k] = table.light[k];
  for (int k = threadIdx.x; k < STEREO_LAB_ROOTS; k += LAB_THREADS)
    shared.root[k] = table.root[k];
  __syncthreads ();
  if (x >= f.width)
    return;
  for (int y = first; y < end; y++) {
    size_t at = (size_t) y * f.image_pitch + x;
    view.likeness[at] = stereo_lab (&shared, view.color[at]);
  }
}

static StereoStatus
lab_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  stereo_lab_table ((StereoLab *) context);
  return STEREO_OK;
}

static StereoStatus
lab_run (StereoPlan *plan, void *context, StereoError *error)
{
  dim3 grid (cuda_blocks (plan->width, LAB_THREADS), cuda_blocks (plan->height, LAB_ROWS), 2);
  cudaStream_t stream;
  StereoStatus status = cuda_begin_early (plan, &stream, error);

  if (status)
    return status;
  lab_kernel<<<grid, LAB_THREADS, 0, stream>>> (cuda_frame (plan), *(const StereoLab *) context);
  CUDA_LAUNCHED (plan, "lab_kernel");
  return STEREO_OK;
}

}

extern const StereoStage stereo_cuda_lab = {
  .name = "lab", .context_size = sizeof (StereoLab), .prepare = lab_prepare, .run = lab_run
};
