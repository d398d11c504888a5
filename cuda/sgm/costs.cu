/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Costs of all pixels and candidates, a byte each, for paths: raw, or those that a method has aggregated. */
#include "cuda/cost.cuh"
#include "cuda/sgm/paths.cuh"

namespace
{

constexpr int COST_THREADS = 128;
constexpr int THREAD_SIDE = 4; /* columns, and candidates, of a thread */

static_assert ((int64_t) STEREO_MAX_SIDE * STEREO_MAX_DISPARITIES <= INT32_MAX, "items of a row");

/* Thread: THREAD_SIDE columns by THREAD_SIDE candidates, whose partners are 2 * THREAD_SIDE - 1 right pixels;
 * blockIdx.y: the row. Neighbouring threads have neighbouring candidates. A candidate that does not exist gets the cost
 * 0. */
template <int COST> __global__ void
__launch_bounds__ (COST_THREADS) cost_kernel (Frame f, uint8_t *costs)
{
  int groups = f.depth / THREAD_SIDE, item = blockIdx.x * COST_THREADS + threadIdx.x, y = blockIdx.y;
  int x = item / groups * THREAD_SIDE, i = item % groups * THREAD_SIDE;
  ptrdiff_t row = (ptrdiff_t) y * f.image_pitch;
  CostPixel left[THREAD_SIDE], right[2 * THREAD_SIDE - 1];

  if (x >= f.width)
    return;
  int partner = f.width - 1 - x + f.min_disparity + i; /* the right pixel of column x at candidate i */
#pragma unroll
  for (int k = 0; k < THREAD_SIDE; k++)
    left[k] = load_pixel<COST> (f.view[STEREO_LEFT], row + min (x + k, f.width - 1));
#pragma unroll
  for (int k = 0; k < 2 * THREAD_SIDE - 1; k++)
    right[k] = load_pixel<COST> (
        f.view[STEREO_RIGHT], row + min (max (partner + k - (THREAD_SIDE - 1), 0), f.width - 1));
#pragma unroll
  for (int k = 0; k < THREAD_SIDE; k++) {
    uint32_t word = 0;
#pragma unroll
    for (int n = 0; n < THREAD_SIDE; n++) {
      int at = partner - k + n;
      uint32_t cost = (uint32_t) raw_cost<COST> (left[k], right[THREAD_SIDE - 1 - k + n]);
      word |= (at >= 0 && at < f.width && i + n < f.disparities ? cost : 0) << 8 * n;
    }
    if (x + k < f.width)
      *(uint32_t *) (costs + ((size_t) y * f.width + x + k) * f.depth + i) = word;
  }
}

/* Thread: 8 candidates of the volume. */
__global__ void
__launch_bounds__ (COST_THREADS) volume_kernel (const uint4 *volume, uint2 *costs, size_t items, int shift)
{
  size_t item = (size_t) blockIdx.x * COST_THREADS + threadIdx.x;
  uint32_t word[4], byte[8];

  if (item >= items)
    return;
  *(uint4 *) word = volume[item];
#pragma unroll
  for (int k = 0; k < 8; k++) {
    uint32_t steps = word[k / 2] >> k % 2 * 16 & 0xFFFFu;
    byte[k] = steps == STEREO_INVALID ? 0 : stereo_path_cost (steps, shift);
  }
  costs[item] = make_uint2 (
      byte[0] | byte[1] << 8 | byte[2] << 16 | byte[3] << 24, byte[4] | byte[5] << 8 | byte[6] << 16 | byte[7] << 24);
}

template <int COST> static StereoStatus
launch_costs (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  size_t items = ((size_t) s.width + THREAD_SIDE - 1) / THREAD_SIDE * (size_t) (s.depth / THREAD_SIDE);
  cost_kernel<COST><<<dim3 (cuda_blocks (items, COST_THREADS), s.height), COST_THREADS, 0, cuda_state (plan)->stream>>> (
      cuda_frame (plan), s.costs);
  CUDA_LAUNCHED (plan, "cost_kernel");
  return STEREO_OK;
}

}

StereoStatus
sgm_make_costs (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  return launch_for_cost<STEREO_METHOD_SGM> (
      plan, error, [plan, s, error] (auto cost) { return launch_costs<decltype (cost)::value> (plan, s, error); });
}

StereoStatus
sgm_costs_of_volume (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  size_t items = (size_t) s.width * s.height * (size_t) (s.depth / 8);
  volume_kernel<<<cuda_blocks (items, COST_THREADS), COST_THREADS, 0, cuda_state (plan)->stream>>> (
      (const uint4 *) s.volume, (uint2 *) s.costs, items, plan->path_shift);
  CUDA_LAUNCHED (plan, "volume_kernel");
  return STEREO_OK;
}

/*
 * Census costs of all pixels and candidates, as products of bits on the tensor cores: these multiply by AND and add by
 * counting. The Hamming distance of l and r is the number of ones of (l & ~r) and of (~l & r). So a left pixel has the
 * words l, ~l in a row of A, a right pixel ~r, r in a column of B, and elements of A * B are costs. A right pixel outside
 * the picture has zeros in all its words: such a candidate gets the cost 0.
 *
 * A warp multiplies A (16 x 128 bits) by B (128 bits x 8) to D (16 x 8). Lane 4 g + t holds these elements (m16n8k128):
 *
 *                 A: word                 B: column            D: column
 *                    t                       g                 2t    2t+1
 *     row g          a0            word t    b        row g    d[0]   d[1]
 *     row g+8        a1                               row g+8  d[2]   d[3]
 *
 * A lane shall write 16 neighbouring candidates of a left pixel, from one that is a multiple of 16. The right pixels of
 * pixels 16 columns apart are then the same but for whole chunks of 16; those of a neighbour lie one pixel lower. Row
 * 4 s + k of A is therefore left pixel 16 s + k of a strip, k = 0..3, and ten products together have windows of 20 right
 * pixels, of which row 4 s + k reads 16 from the (3 - k)th. Lane 4 g + t holds in D what rows g and g + 8 have of window t.
 * Column 2 t + e of B is of window t; its places in the ten products:
 *
 *     product   0  1  2  3   4  5  6  7   8  9
 *     e = 0     0  1  2  3   8  9 10 11  16 17
 *     e = 1     4  5  6  7  12 13 14 15  18 19
 */

namespace
{

constexpr int CHUNK = 16;               /* candidates that a lane writes at once */
constexpr int STRIP = 4 * CHUNK;        /* columns from the first row of A to the last */
constexpr int WARPS = CHUNK / 4;        /* that share a strip: each has 4 neighbours in every 16 columns */
constexpr int STRIPS = 4;               /* of a block, one after the other */
constexpr int COLUMNS = STRIPS * STRIP; /* of a block */
constexpr int THREADS = WARPS * 32;
constexpr int LEFT_BATCH = COLUMNS / THREADS, RIGHT_BATCH = 4; /* pixels that a thread copies at a time */
constexpr int LEFT_PITCH = COLUMNS + 4;                        /* words from plane to plane of left pixels */
constexpr int HIGHEST = COLUMNS - STRIP + CHUNK - 4;           /* where the last warp's last strip begins */

/* What the kernel reads and writes. */
struct CensusCosts
{
  const void *left, *right; /* census */
  uint8_t *costs;           /* [y][x][i] */
  int width, image_pitch, min_disparity, disparities, depth;
  int tiles; /* of four chunks, that the columns of a strip reach */
  int pitch; /* words from plane to plane of right pixels; all but 8 of them are pixels */
};

/* A lane's elements of A: of rows g and g + 8. */
struct LeftWords
{
  uint32_t word[2];
};

/* @d = A * B. */
__device__ __forceinline__ void
multiply_bits (uint32_t (&d)[4], LeftWords a, uint32_t b)
{
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%7,%7,%7};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a.word[0]), "r"(a.word[1]), "r"(b), "r"(0));
#else
  /* plainly: on these devices the kernel without such products runs */
  int lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
  d[0] = d[1] = d[2] = d[3] = 0;
  for (int w = 0; w < 4; w++)
    for (int k = 0; k < 4; k++)
      d[k] += __popc (
          __shfl_sync (SGM_LANES, a.word[k / 2], 4 * g + w) & __shfl_sync (SGM_LANES, b, 4 * (2 * t + k % 2) + w));
#endif
}

/* Copies the census of @count pixels of a row from column @first to planes of shared memory, BATCH pixels a thread at a time;
 * @count is a multiple of that. Plane @straight + w has word w, the other half of the planes has the complements; outside
 * the picture all are zeros. */
template <typename Bits, int BATCH> __device__ __forceinline__ void
load_planes (uint32_t *planes, int pitch, int straight, const CensusCosts &c, const void *census, int first, int count)
{
  constexpr int WORDS = sizeof (Bits) / 4;
  const Bits *row = (const Bits *) census + (ptrdiff_t) blockIdx.y * c.image_pitch;

#pragma unroll 1
  for (int n = 0; n < count; n += BATCH * THREADS) {
    Bits bits[BATCH], complement[BATCH];
#pragma unroll
    for (int k = 0; k < BATCH; k++) {
      int x = first + n + k * THREADS + threadIdx.x;
      bool there = x >= 0 && x < c.width;
      bits[k] = there ? row[x] : 0;
      complement[k] = there ? ~bits[k] : 0;
    }
#pragma unroll
    for (int k = 0; k < BATCH; k++)
#pragma unroll
      for (int w = 0; w < WORDS; w++) {
        uint32_t *to = planes + w * pitch + n + k * THREADS + threadIdx.x;
        to[straight * pitch] = (uint32_t) (bits[k] >> 32 * w);
        to[(WORDS - straight) * pitch] = (uint32_t) (complement[k] >> 32 * w);
      }
  }
}

__device__ __forceinline__ uint32_t
pack_bytes (uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
  return __byte_perm (a + b * 256, c + d * 256, 0x5410);
}

/* What a lane has of its window: the costs of row g in the first words, of row g + 8 in the others. @at: the window of column
 * g of B, in the plane of the lane's word; @e: see the head of this file. */
__device__ __forceinline__ void
multiply_window (uint32_t (&costs)[2][5], LeftWords a, const uint32_t *at, int e)
{
  uint2 last = *(const uint2 *) (at + 16 + 2 * e);
  uint32_t d[4][4];

#pragma unroll
  for (int k = 0; k < 2; k++) {
    uint4 b = *(const uint4 *) (at + 8 * k + 4 * e);
    multiply_bits (d[0], a, b.x);
    multiply_bits (d[1], a, b.y);
    multiply_bits (d[2], a, b.z);
    multiply_bits (d[3], a, b.w);
#pragma unroll
    for (int n = 0; n < 4; n++) {
      costs[n / 2][2 * k + n % 2] = pack_bytes (d[0][n], d[1][n], d[2][n], d[3][n]);
      hold_in_register (costs[n / 2][2 * k + n % 2]); /* else all products are held until a row is written */
    }
  }
  multiply_bits (d[0], a, last.x);
  multiply_bits (d[1], a, last.y);
#pragma unroll
  for (int h = 0; h < 2; h++)
    costs[h][4] = pack_bytes (d[0][2 * h], d[1][2 * h], d[0][2 * h + 1], 0); /* no row reads the last place */
}

/* The 16 costs of a row, which begin @shift bits after its window. */
__device__ __forceinline__ uint4
costs_of_row (const uint32_t (&window)[5], uint32_t shift)
{
  return make_uint4 (__funnelshift_r (window[0], window[1], shift), __funnelshift_r (window[1], window[2], shift),
      __funnelshift_r (window[2], window[3], shift), __funnelshift_r (window[3], window[4], shift));
}

/* The first @count bytes of a word, which may be none or all. */
__device__ __forceinline__ uint32_t
first_bytes (uint32_t word, int count)
{
  return count >= 4 ? word : count <= 0 ? 0 : word & ((1u << 8 * count) - 1);
}

__device__ __forceinline__ uint4
first_costs (uint4 v, int count)
{
  return make_uint4 (first_bytes (v.x, count), first_bytes (v.y, count - 4), first_bytes (v.z, count - 8),
      first_bytes (v.w, count - 12));
}

/* A lane's way along the strips. */
struct StripLane
{
  const uint32_t *left, *window; /* in shared memory: of row g; of its column of B in the first tile */
  uint8_t *to;                   /* the lane's candidates of row g in the first tile */
  int columns;                   /* of the picture from that of row g on */
  int i;                         /* first of these candidates; below 0: there are none before the next tile */
  int e;                         /* of its column of B: see the head of this file */
  uint32_t shift;                /* bits before row g's costs in its window; the same for row g + 8 */
};

/* The costs of 16 left pixels by all candidates. WHOLE: the last chunk has 16 disparities like the others. */
template <bool WHOLE> __device__ __forceinline__ void
write_strip (const CensusCosts &c, const StripLane &l, LeftWords a)
{
  const uint32_t *window = l.window;
  uint8_t *to[2] = { l.to, l.to + (ptrdiff_t) 2 * CHUNK * (c.depth + 1) };
  uint32_t end[2] = { l.columns > 0 ? (uint32_t) c.depth : 0, l.columns > 2 * CHUNK ? (uint32_t) c.depth : 0 };
  int i = l.i;

#pragma unroll 1
  for (int tile = 0; tile < c.tiles; tile++) {
    uint32_t costs[2][5];
    multiply_window (costs, a, window, l.e);
#pragma unroll
    for (int h = 0; h < 2; h++) {
      if ((uint32_t) (i + 2 * CHUNK * h) < end[h]) {
        uint4 row = costs_of_row (costs[h], l.shift);
        *(uint4 *) to[h] = WHOLE ? row : first_costs (row, c.disparities - (i + 2 * CHUNK * h));
      }
      to[h] += 4 * CHUNK;
    }
    window += 4 * CHUNK;
    i += 4 * CHUNK;
  }
}

/*
 * Block: COLUMNS left pixels of a row, by all candidates; blockIdx.y: the row. Warp: 16 left pixels of each strip, by tiles
 * of four chunks. Shared memory: a plane of pixels for each of their words. From plane to plane it is 4 (left) or 8 (right)
 * words more than a multiple of 32: a warp reads left words, and a quarter of a warp 16 bytes a lane of right ones,
 * without conflicts. Four neighbouring lanes write 64 neighbouring candidates.
 */
template <typename Bits, bool WHOLE> __global__ void
__launch_bounds__ (THREADS, 8) census_cost_kernel (CensusCosts c)
{
  constexpr int WORDS = sizeof (Bits) / 4;
  extern __shared__ uint4 shared_planes[];
  uint32_t *left = (uint32_t *) shared_planes, *right = left + 2 * WORDS * LEFT_PITCH;
  int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, x0 = blockIdx.x * COLUMNS;
  int column = 4 * warp + g / 4 * CHUNK + g % 4, plane = t % (2 * WORDS); /* of row g; of the lane's word */
  /* the lowest place of all windows: row 0 has three chunks fewer before its first candidate than row 15 */
  int first = c.width - 1 + c.min_disparity - x0 - (HIGHEST + 3) - 3 * CHUNK;
  StripLane l = { left + plane * LEFT_PITCH + column, right + plane * c.pitch + HIGHEST - 4 * warp + g / 2 * CHUNK,
    c.costs, c.width - x0 - column, (t + g / 4 - 3) * CHUNK, g % 2, 8u * (3 - g % 4) };
  hold_in_register (l.shift);
  l.to += ((ptrdiff_t) blockIdx.y * c.width + x0 + column) * c.depth + l.i;

  load_planes<Bits, LEFT_BATCH> (left, LEFT_PITCH, 0, c, c.left, x0, COLUMNS);
  load_planes<Bits, RIGHT_BATCH> (right, c.pitch, WORDS, c, c.right, first, c.pitch - 8);
  __syncthreads ();
  int strips = (min (COLUMNS, c.width - x0) + STRIP - 1) / STRIP;
#pragma unroll 1
  for (int strip = 0; strip < strips; strip++) {
    LeftWords a = { l.left[0], l.left[2 * CHUNK] };
    if (t >= 2 * WORDS)
      a.word[0] = a.word[1] = 0;
    write_strip<WHOLE> (c, l, a);
    l.left += STRIP;
    l.window -= STRIP;
    l.to += (ptrdiff_t) STRIP * c.depth;
    l.columns -= STRIP;
  }
}

template <typename Bits> static StereoStatus
launch_census_costs (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  int tiles = (s.depth / CHUNK + 3 + 3) / 4, pixels = HIGHEST + tiles * 4 * CHUNK + 4;
  int batches = (int) cuda_blocks (pixels, RIGHT_BATCH * THREADS);
  CensusCosts c = { plan->view[STEREO_LEFT].census, plan->view[STEREO_RIGHT].census, s.costs, s.width,
    plan->image_pitch, s.min_disparity, s.disparities, s.depth, tiles, batches * RIGHT_BATCH * THREADS + 8 };
  size_t shared = sizeof (Bits) * 2 * (size_t) (LEFT_PITCH + c.pitch); /* at most 29 KiB */
  auto kernel = s.disparities == s.depth ? census_cost_kernel<Bits, true> : census_cost_kernel<Bits, false>;
  kernel<<<dim3 (cuda_blocks (s.width, COLUMNS), s.height), THREADS, shared, cuda_state (plan)->stream>>> (c);
  CUDA_LAUNCHED (plan, "census_cost_kernel");
  return STEREO_OK;
}

}

StereoStatus
sgm_census_prepare (const StereoPlan *plan, bool *products, StereoError *error)
{
  int device, major;

  CUDA_TRY (cudaGetDevice (&device));
  CUDA_TRY (cudaDeviceGetAttribute (&major, cudaDevAttrComputeCapabilityMajor, device));
  bool census = plan->params.cost == STEREO_COST_CENSUS_7X5 || plan->params.cost == STEREO_COST_CENSUS_9X7;
  /* Earlier devices do not have the product; later ones make it of products of bytes, and counting is no slower. */
  *products = census && (major == 8 || major == 9);
  return STEREO_OK;
}

StereoStatus
sgm_make_census_costs (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  return plan->census_bytes == 8 ? launch_census_costs<uint64_t> (plan, s, error) :
                                   launch_census_costs<uint32_t> (plan, s, error);
}
