/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Block matching with any window; stereo/exact/bm.h has the equations and the rounding.
 *
 * Both steps are sums over windows and run in the same way. A block takes a strip of columns and a chunk of candidates
 * down a segment of rows. A thread has, for the two candidates of its lane, the sums down the rows of the window in
 * WIDE columns: with every row, one row enters the sums and one leaves. The sums go through shared memory to the
 * neighbours, which sum along the row. The reach of the window on both sides of a strip is summed up twice, by the
 * neighbouring strips too. A candidate that does not exist adds nothing. All sums are whole numbers of 32 bits.
 */
#include "cuda/bm/pixels.cuh"

namespace
{

constexpr int LUMA_THREADS = 256;
constexpr int WIDE = 8; /* columns of a thread */
constexpr int WARPS = 16, STRIP = WIDE * WARPS;
constexpr int RESIDENT = 2; /* blocks of a multiprocessor, for the compiler's choice of registers */
constexpr int GUARD = 16;   /* columns before and after the strip that may be read; their values are not used */

/* Scratch memory of the stage. */
struct BmContext
{
  uint32_t *costs; /* of the first step, two in a word, [y][x][i]; NULL: the second step makes them of pixels */
  uint2 *luma[2];  /* sums of luma and of its squares down the columns of windows, [y][column]; correlations only */
};

struct BmWork
{
  Frame f;
  BmContext c;
  int radius;
  int segment; /* rows of a block */
};

/* Two candidates, from an even one on. */
struct Pair
{
  int i;
  BmSpan span[2];

  __device__ __forceinline__ bool
  exists (int k, int x) const
  {
    return x >= span[k].first && x <= span[k].last;
  }

  __device__ __forceinline__ int
  partner (const Frame &f, int k, int x) const
  {
    return f.width - 1 - x + f.min_disparity + i + k;
  }
};

template <bool ENTERS> __device__ __forceinline__ void
roll (uint32_t &sum, uint32_t tap)
{
  sum += ENTERS ? tap : 0 - tap;
}

/* Thread: a column of row blockIdx.y; blockIdx.z: the view. */
__global__ void
__launch_bounds__ (LUMA_THREADS) bm_luma_kernel (const __grid_constant__ BmWork w)
{
  int x = blockIdx.x * LUMA_THREADS + threadIdx.x, y = blockIdx.y;
  uint2 sum = make_uint2 (0, 0);

  if (x >= w.f.width)
    return;
  for (int v = max (y - w.radius, 0); v <= min (y + w.radius, w.f.height - 1); v++) {
    uint32_t luma = w.f.view[blockIdx.z].luma[(size_t) v * w.f.image_pitch + x];
    sum = make_uint2 (sum.x + luma, sum.y + luma * luma);
  }
  w.c.luma[blockIdx.z][(size_t) y * w.f.width + x] = sum;
}

/* Row @y enters the sums, or leaves them. Bits 2 j and 2 j + 1 of @exists: candidates of column @x + j. MEANS: in the second step. */
template <int COST, bool MEANS, bool ENTERS> __device__ __forceinline__ void
roll_row (const BmWork &w, const Pair &p, uint32_t exists, int x, int y, uint2 (&sums)[WIDE])
{
  constexpr BmKind KIND = bm_kind (COST);

  if constexpr (MEANS && bm_compares_windows (KIND)) {
    const uint32_t *costs = w.c.costs + (((ptrdiff_t) y * w.f.width + x) * w.f.depth + p.i) / 2;
#pragma unroll
    for (int j = 0; j < WIDE; j++, costs += w.f.depth / 2) {
      uint32_t both = exists >> 2 * j & 3 ? __ldg (costs) : 0;
      roll<ENTERS> (sums[j].x, both & 0xFFFF);
      roll<ENTERS> (sums[j].y, both >> 16);
    }
  } else {
    ptrdiff_t row = (ptrdiff_t) y * w.f.image_pitch;
    int partner = p.partner (w.f, 0, x + WIDE - 1); /* of the last column; those of the others are behind it */
    uint32_t right[WIDE + 1];
#pragma unroll
    for (int k = 0; k <= WIDE; k++)
      right[k] = (unsigned) (partner + k) < (unsigned) w.f.width ?
          bm_pixel<KIND> (w.f.view[STEREO_RIGHT], row + partner + k) :
          0;
#pragma unroll
    for (int j = 0; j < WIDE; j++) {
      uint32_t left = exists >> 2 * j & 3 ? bm_pixel<KIND> (w.f.view[STEREO_LEFT], row + x + j) : 0, tap[2];
#pragma unroll
      for (int k = 0; k < 2; k++) {
        tap[k] = exists >> (2 * j + k) & 1 ? bm_add_raw<KIND> (left, right[WIDE - 1 - j + k], 0) : 0;
        if (MEANS)
          tap[k] = bm_mean_bits (tap[k], stereo_bm_cost_factor (COST, w.f.volume_unit, 1)) & 0xFFFF;
      }
      roll<ENTERS> (sums[j].x, tap[0]);
      roll<ENTERS> (sums[j].y, tap[1]);
    }
  }
}

/* Sums over a window of one candidate; of luma, those that correlations need. */
struct WindowSums
{
  uint32_t taps;
  uint2 left, right;
};

/* Column @x of row @y, whose sums are @column, enters the windows of a pair, or leaves them. */
template <int COST, bool MEANS, bool ENTERS> __device__ __forceinline__ void
roll_column (const BmWork &w, const Pair &p, uint2 column, int x, int y, WindowSums (&sums)[2])
{
  roll<ENTERS> (sums[0].taps, column.x);
  roll<ENTERS> (sums[1].taps, column.y);
  if constexpr (!MEANS && bm_kind (COST) == BM_PRODUCT)
#pragma unroll
    for (int k = 0; k < 2; k++)
      if (p.exists (k, x)) {
        size_t row = (size_t) y * w.f.width;
        uint2 left = __ldg (w.c.luma[STEREO_LEFT] + row + x);
        uint2 right = __ldg (w.c.luma[STEREO_RIGHT] + row + p.partner (w.f, k, x));
        roll<ENTERS> (sums[k].left.x, left.x);
        roll<ENTERS> (sums[k].left.y, left.y);
        roll<ENTERS> (sums[k].right.x, right.x);
        roll<ENTERS> (sums[k].right.y, right.y);
      }
}

/* A window's sum times this is its mean. */
template <int COST, bool MEANS> __device__ __forceinline__ float
factor_of (const Frame &f, int taps)
{
  return MEANS ? stereo_bm_mean_factor (taps) : stereo_bm_cost_factor (COST, f.volume_unit, taps);
}

/* The cost of a candidate whose window has @taps; @factor: factor_of() them. */
template <int COST, bool MEANS> __device__ __forceinline__ uint32_t
cost_of (const WindowSums &s, int taps, float factor)
{
  if constexpr (MEANS || bm_kind (COST) != BM_PRODUCT)
    return bm_mean_bits (s.taps, factor) & 0xFFFF;
  else
    return stereo_bm_correlation (COST,
        stereo_bm_numerator (COST, taps, s.taps, s.left.x, s.right.x, s.left.y, s.right.y),
        stereo_bm_norm (COST, taps, s.left.x, s.left.y),
        stereo_bm_norm (COST, taps, s.right.x, s.right.y) * STEREO_BM_STEPS);
}

/* A block's way down its rows. Bits 2 j and 2 j + 1 of @exists: candidates of column @x + j; bit j of @stores: its costs are made here.
 * WHOLE: all candidates of the block exist, with whole windows. */
template <int COST, bool MEANS, bool WHOLE> __device__ __forceinline__ void
walk_down (const BmWork &w, const Pair &p, int x, uint32_t exists, uint32_t stores, uint2 *column)
{
  const Frame &f = w.f;
  int radius = w.radius, pairs = f.depth / 2, first = blockIdx.z * w.segment, end = min (first + w.segment, f.height);
  uint32_t *to = (MEANS ? (uint32_t *) f.volume : w.c.costs) + ((ptrdiff_t) first * f.width + x) * pairs + p.i / 2;
  uint2 sums[WIDE] = {};

  for (int y = max (first - radius, 0); y < min (first + radius, f.height); y++)
    roll_row<COST, MEANS, true> (w, p, exists, x, y, sums);
  for (int y = first; y < end; y++, to += (ptrdiff_t) f.width * pairs) {
    WindowSums window[2] = {};
    int rows = stereo_bm_rows (y, f.height, radius), most = rows * (2 * radius + 1);
    float factor = factor_of<COST, MEANS> (f, most);
    if (y + radius < f.height)
      roll_row<COST, MEANS, true> (w, p, exists, x, y + radius, sums);
    if (y > first && y > radius)
      roll_row<COST, MEANS, false> (w, p, exists, x, y - radius - 1, sums);
    __syncthreads ();
#pragma unroll
    for (int j = 0; j < WIDE; j++)
      column[32 * j] = sums[j];
    __syncthreads ();
    if (!stores)
      continue;
    for (int k = -radius; k < radius; k++)
      roll_column<COST, MEANS, true> (w, p, column[32 * k], x + k, y, window);
#pragma unroll
    for (int j = 0; j < WIDE; j++) {
      uint32_t cost[2];
      roll_column<COST, MEANS, true> (w, p, column[32 * (j + radius)], x + j + radius, y, window);
#pragma unroll
      for (int k = 0; k < 2; k++) {
        int taps = most;
        if (!WHOLE) {
          taps = rows * (min (x + j + radius, p.span[k].last) - max (x + j - radius, p.span[k].first) + 1);
          factor = factor_of<COST, MEANS> (f, taps);
        }
        cost[k] = exists >> (2 * j + k) & 1 ? cost_of<COST, MEANS> (window[k], taps, factor) :
            MEANS                           ? STEREO_INVALID :
                                              0;
      }
      if (stores >> j & 1)
        to[j * pairs] = cost[0] | cost[1] << 16;
      roll_column<COST, MEANS, false> (w, p, column[32 * (j - radius)], x + j - radius, y, window);
    }
  }
}

/* Block: STRIP columns, WIDE a warp, by 64 candidates, two a lane, by a segment of rows. Shared memory: the sums of a row. A warp
 * stores 128 bytes of a column at a time. */
template <int COST, bool MEANS> __global__ void __launch_bounds__ (32 * WARPS, RESIDENT)
    bm_kernel (const __grid_constant__ BmWork w)
{
  extern __shared__ uint2 shared[];
  const Frame &f = w.f;
  int radius = w.radius, lane = threadIdx.x, place = threadIdx.y * WIDE, i = blockIdx.y * 64 + 2 * lane;
  int x = blockIdx.x * (STRIP - 2 * radius) - radius + place;
  Pair p = { i, { bm_span (f, i), bm_span (f, i + 1) } };
  uint2 *column = shared + (GUARD + place) * 32 + lane;
  uint32_t exists = 0, stores = 0;

#pragma unroll
  for (int j = 0; j < WIDE; j++) {
    exists |= (uint32_t) p.exists (0, x + j) << 2 * j | (uint32_t) p.exists (1, x + j) << (2 * j + 1);
    stores |= (uint32_t) (place + j >= radius && place + j < STRIP - radius && x + j < f.width && i < f.depth) << j;
  }
  if (__syncthreads_and (exists == (1u << 2 * WIDE) - 1)) /* then those of the columns that it stores have whole windows */
    walk_down<COST, MEANS, true> (w, p, x, (1u << 2 * WIDE) - 1, stores, column);
  else
    walk_down<COST, MEANS, false> (w, p, x, exists, stores, column);
}

/* ---- stage ------------------------------------------------------------------------------------------ */

template <int COST, bool MEANS> static StereoStatus
launch_step (StereoPlan *plan, const BmContext *context, StereoError *error)
{
  int radius = plan->params.window / 2, multiprocessors = cuda_state (plan)->multiprocessors;
  unsigned strips = cuda_blocks (plan->width, STRIP - 2 * radius), chunks = cuda_blocks (plan->depth, 64);
  unsigned segments = (unsigned) (RESIDENT * multiprocessors) / (strips * chunks);
  int least = 4 * (2 * radius + 1); /* a segment first sums up 2 * radius rows: at most half as many again */
  BmWork w = { cuda_frame (plan), *context, radius, (int) cuda_blocks (plan->height, segments ? segments : 1) };
  size_t shared = (STRIP + 2 * GUARD) * 32 * sizeof (uint2);

  w.segment = w.segment < least ? least : w.segment;
  bm_kernel<COST, MEANS>
      <<<dim3 (strips, chunks, cuda_blocks (plan->height, w.segment)), dim3 (32, WARPS), shared, cuda_state (plan)->stream>>> (
          w);
  CUDA_LAUNCHED (plan, "bm_kernel");
  return STEREO_OK;
}

static StereoStatus
bm_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  BmContext *context = (BmContext *) data;
  size_t pixels = (size_t) plan->width * plan->height;
  StereoStatus status = STEREO_OK;

  if (stereo_bm_window_cost (plan->params.cost))
    status = stereo_reserve (plan, (void **) &context->costs, pixels, (size_t) plan->depth * sizeof (uint16_t), error);
  for (int v = 0; v < 2 && !status && stereo_bm_correlates (plan->params.cost); v++)
    status = stereo_reserve (plan, (void **) &context->luma[v], pixels, sizeof (uint2), error);
  return status;
}

static StereoStatus
bm_run (StereoPlan *plan, void *data, StereoError *error)
{
  const BmContext *context = (const BmContext *) data;

  if (stereo_bm_correlates (plan->params.cost)) {
    BmWork w = { cuda_frame (plan), *context, plan->params.window / 2 };
    bm_luma_kernel<<<dim3 (cuda_blocks (plan->width, LUMA_THREADS), plan->height, 2), LUMA_THREADS, 0,
        cuda_state (plan)->stream>>> (w);
    CUDA_LAUNCHED (plan, "bm_luma_kernel");
  }
  return launch_for_cost<STEREO_METHOD_BM> (plan, error, [=] (auto cost) {
    constexpr int COST = decltype (cost)::value;
    static_assert (bm_kind (COST) != BM_NO_KIND, "bm_kind() has no branch for a cost that bm takes");
    StereoStatus status = STEREO_OK;
    if constexpr (bm_compares_windows (bm_kind (COST)))
      status = launch_step<COST, false> (plan, context, error);
    return status ? status : launch_step<COST, true> (plan, context, error);
  });
}

const StereoStage bm = { .name = "match", .context_size = sizeof (BmContext), .prepare = bm_prepare, .run = bm_run };

}

const StereoStage *
stereo_cuda_bm (const StereoParams *params)
{
  if (!takes_cost (STEREO_METHOD_BM, params->cost))
    return NULL;
  const StereoStage *fused = stereo_cuda_bm_fused (params);
  return fused ? fused : &bm;
}
