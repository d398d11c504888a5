/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Block matching by fused_task.cuh: the stage, and the inputs of its kernel. */
#include "cuda/bm/fused_kernel.cuh"
#include "cuda/cost.cuh"

namespace
{

constexpr int INPUT_THREADS = 256;
constexpr int INPUT_ROWS = 16; /* of a block */
constexpr int CUT_ROWS = 4;    /* of a block that makes cut windows: few threads, each with much to do */

/* ---- inputs: rows that enter and leave, whole windows' own sums ---------------------------------------- */

template <BmKind KIND> static __device__ __forceinline__ uint32_t
pixel (const StereoView &v, ptrdiff_t at)
{
  return KIND == BM_PRODUCT ? v.luma[at] : v.color[at] & 0xFFFFFFu;
}

template <BmKind KIND> static __device__ __forceinline__ void
store_pair (const BmFusedTask &t, int view, size_t at, uint32_t enters, uint32_t leaves)
{
  void *pairs = const_cast<void *> (t.pairs[view]);

  if (KIND != BM_PRODUCT)
    ((uint2 *) pairs)[at] = make_uint2 (enters, leaves);
  else if (view == STEREO_LEFT)
    ((uint32_t *) pairs)[at] = enters | (0 - leaves) << 16;
  else
    ((uint16_t *) pairs)[at] = (uint16_t) (enters | leaves << 8);
}

/* Columns of one view, a thread each, down INPUT_ROWS rows. Columns at the ends of a block only add to the windows of
 * others. */
template <int COST, BmKind KIND, int R> static __device__ void
make_inputs (const BmFusedTask &t, int view)
{
  __shared__ uint2 columns[2][INPUT_THREADS];
  const Frame &f = t.f;
  int at = blockIdx.x * (INPUT_THREADS - 2 * R) + (int) threadIdx.x - R, y0 = (int) blockIdx.z * INPUT_ROWS - R;
  int x = view == STEREO_LEFT ? at - BM_WIDE : at - t.end + f.width - 1 + f.min_disparity;
  bool inside = x >= 0 && x < f.width;
  bool stores = threadIdx.x >= R && threadIdx.x < INPUT_THREADS - R && at < t.pitch[view];
  uint2 sums = make_uint2 (0, 0);

  for (int y = max (y0 - R - 1, 0); y < min (y0 + R, f.height) && inside && KIND == BM_PRODUCT; y++) {
    uint32_t v = pixel<KIND> (f.view[view], (ptrdiff_t) y * f.image_pitch + x);
    sums = make_uint2 (sums.x + v, sums.y + v * v);
  }
  for (int y = y0; y < min (y0 + INPUT_ROWS, f.height); y++) {
    bool enter = inside && y + R < f.height, leave = inside && y - R - 1 >= 0;
    uint32_t enters = enter ? pixel<KIND> (f.view[view], (ptrdiff_t) (y + R) * f.image_pitch + x) : 0;
    uint32_t leaves = leave ? pixel<KIND> (f.view[view], (ptrdiff_t) (y - R - 1) * f.image_pitch + x) : 0;
    if (stores)
      store_pair<KIND> (t, view, (size_t) (y + R) * t.pitch[view] + at, enters, leaves);
    if (KIND != BM_PRODUCT)
      continue;
    sums = make_uint2 (sums.x + enters - leaves, sums.y + enters * enters - leaves * leaves);
    columns[y & 1][threadIdx.x] = sums;
    __syncthreads ();
    if (!stores || y < 0)
      continue;
    uint2 all = make_uint2 (0, 0);
#pragma unroll
    for (int k = 0; k <= 2 * R; k++) {
      uint2 column = columns[y & 1][threadIdx.x - R + k];
      all = make_uint2 (all.x + column.x, all.y + column.y);
    }
    int taps = stereo_bm_rows (y, f.height, R) * (2 * R + 1);
    float norm = stereo_bm_norm (COST, taps, all.x, all.y) * (view == STEREO_RIGHT ? STEREO_BM_STEPS : 1);
    t.windows[view][(size_t) y * t.pitch[view] + at] = make_uint2 (
        COST == STEREO_COST_ZNCC ? all.x : all.y, __float_as_uint (norm));
  }
}

/* ---- inputs: costs of cut windows ----------------------------------------------------------------------- */

/* The sums that a cost is made of, over a column or a window. */
struct CutSums
{
  uint32_t pixels; /* differences or products */
  uint32_t sum_l, sum_r, squares_l, squares_r;
};

template <BmKind KIND> static __device__ __forceinline__ void
roll_cut (const Frame &f, ptrdiff_t row, int x, int m, bool enters, CutSums &s)
{
  uint32_t l = pixel<KIND> (f.view[STEREO_LEFT], row + x), r = pixel<KIND> (f.view[STEREO_RIGHT], row + m);
  uint32_t pixels = bm_add_raw<KIND> (l, r, 0);

  s.pixels += enters ? pixels : 0 - pixels;
  if (KIND != BM_PRODUCT)
    return;
  s.sum_l += enters ? l : 0 - l;
  s.sum_r += enters ? r : 0 - r;
  s.squares_l += enters ? l * l : 0 - l * l;
  s.squares_r += enters ? r * r : 0 - r * r;
}

/* The low bits that hold a cost: see BmBits. */
template <int COST, BmKind KIND> static __device__ uint16_t
cut_cost (const Frame &f, const CutSums &s, int taps)
{
  uint32_t cost;

  if (KIND == BM_PRODUCT)
    cost = stereo_bm_correlation (COST,
        stereo_bm_numerator (COST, taps, s.pixels, s.sum_l, s.sum_r, s.squares_l, s.squares_r),
        stereo_bm_norm (COST, taps, s.sum_l, s.squares_l),
        stereo_bm_norm (COST, taps, s.sum_r, s.squares_r) * STEREO_BM_STEPS);
  else
    cost = bm_mean_bits (s.pixels, stereo_bm_cost_factor (COST, f.volume_unit, taps));
  return (uint16_t) (BmBits<COST, KIND>::falls ? ~cost : cost);
}

/* Thread: one end of the columns of one candidate, down CUT_ROWS rows. */
template <int COST, BmKind KIND, int R> static __device__ void
make_cuts (const BmFusedTask &t, int y0)
{
  const Frame &f = t.f;
  int i = (int) (blockIdx.x * INPUT_THREADS + threadIdx.x), end = min (y0 + CUT_ROWS, f.height);
  bool from_last = i >= f.depth;
  i -= from_last ? f.depth : 0;
  BmSpan span = bm_span (f, i);
  int x = from_last ? span.last : span.first, step = from_last ? -1 : 1, m = f.width - 1 - x + f.min_disparity + i;
  CutSums columns[2 * R] = {};

  if (i >= f.depth || span.first > span.last || y0 >= end)
    return;
  for (int y = y0 - 2 * R; y < end; y++) {
    CutSums all = {};
    int taps = 0, rows = stereo_bm_rows (y, f.height, R);
#pragma unroll
    for (int c = 0; c < 2 * R; c++) {
      if (x + c * step >= span.first && x + c * step <= span.last) {
        if (y + R >= 0 && y + R < f.height)
          roll_cut<KIND> (f, (ptrdiff_t) (y + R) * f.image_pitch, x + c * step, m - c * step, true, columns[c]);
        if (y > y0 && y - R - 1 >= 0)
          roll_cut<KIND> (f, (ptrdiff_t) (y - R - 1) * f.image_pitch, x + c * step, m - c * step, false, columns[c]);
        all = { all.pixels + columns[c].pixels, all.sum_l + columns[c].sum_l, all.sum_r + columns[c].sum_r,
          all.squares_l + columns[c].squares_l, all.squares_r + columns[c].squares_r };
        taps += rows;
      }
      if (c >= R && y >= y0)
        t.cuts[((size_t) y * (2 * R) + (from_last ? R : 0) + c - R) * f.depth + i] = taps ?
            cut_cost<COST, KIND> (f, all, taps) :
            0;
    }
  }
}

template <int COST, BmKind KIND, int R> static __global__ void
__launch_bounds__ (INPUT_THREADS, 2) bm_inputs_kernel (BmFusedTask t)
{
  if (blockIdx.y < 2)
    make_inputs<COST, KIND, R> (t, blockIdx.y);
  else
    make_cuts<COST, KIND, R> (t, (int) (blockIdx.z * INPUT_ROWS + (blockIdx.y - 2) * CUT_ROWS));
}

/* ---- stage ------------------------------------------------------------------------------------------ */

/* Scratch memory of the stage: see BmFusedTask. */
struct BmFusedContext
{
  void *pairs[2];
  uint2 *windows[2];
  uint16_t *cuts;
};

/* How the picture is divided. */
struct Cutting
{
  int warps, stride, strips, chunks;
};

template <BmKind KIND, int R> static Cutting
cut_up (const StereoPlan *plan)
{
  const CudaState *state = cuda_state (plan);
  int warps = BM_FUSED_WARPS, narrow;
  Cutting c;

  while (warps > 4 && BmFusedShared<KIND, R>::bytes (32 * warps) > (size_t) state->shared_per_block)
    warps--;
  c.strips = (int) cuda_blocks (plan->width, (BM_GROUPS * warps - 2) * BM_WIDE);
  narrow = (int) cuda_blocks (cuda_blocks (cuda_blocks (plan->width, c.strips), BM_WIDE) + 2, BM_GROUPS);
  c.warps = narrow < warps ? narrow : warps;
  c.stride = (BM_GROUPS * c.warps - 2) * BM_WIDE;
  c.chunks = (int) cuda_blocks (plan->depth, 2 * BM_FUSED_PAIRS);
  return c;
}

/* Rows of a segment, such that the kernel takes the least time. A segment first sums up 3 * radius rows that it does
 * not make. Blocks with cut windows take longer: the last blocks end about the time of BM_FUSED_TAIL blocks after an
 * even share (measured on an H200). */
static int
choose_segment (int height, int columns, int slots, int radius)
{
  double least = INFINITY;
  int best = height;

  for (int segments = 1; segments <= 64 && segments <= height; segments++) {
    int rows = (int) cuda_blocks (height, segments);
    double cost = (rows + 3 * radius) * ((double) columns * segments / slots + BM_FUSED_TAIL);
    if (cost < least) {
      least = cost;
      best = rows;
    }
  }
  return best;
}

template <BmKind KIND, int R> static BmFusedTask
task_of (const StereoPlan *plan, const BmFusedContext *context, const Cutting *c)
{
  BmFusedTask t = {};

  t.f = cuda_frame (plan);
  t.stride = c->stride;
  t.end = c->strips * c->stride + BM_WIDE;
  t.pitch[STEREO_LEFT] = t.end + BM_WIDE;
  t.pitch[STEREO_RIGHT] = t.end + BM_WIDE + c->chunks * 2 * BM_FUSED_PAIRS;
  for (int v = 0; v < 2; v++) {
    t.pairs[v] = context->pairs[v];
    t.windows[v] = context->windows[v];
  }
  t.cuts = context->cuts;
  return t;
}

template <int COST, BmKind KIND, int R, int DEPTH> static StereoStatus
launch_kernel (StereoPlan *plan, const Cutting *c, BmFusedTask t, StereoError *error)
{
  size_t shared = BmFusedShared<KIND, R>::bytes (32 * c->warps);
  auto kernel = bm_fused_kernel<COST, KIND, R, DEPTH>;
  int resident = 1;

  CUDA_TRY (cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) shared));
  CUDA_TRY (cudaOccupancyMaxActiveBlocksPerMultiprocessor (&resident, kernel, 32 * c->warps, shared));
  int slots = cuda_state (plan)->multiprocessors * (resident ? resident : 1);
  t.segment = choose_segment (plan->height, c->strips * c->chunks, slots, R);
  dim3 grid (cuda_blocks (plan->height, t.segment), c->chunks, c->strips);
  kernel<<<grid, dim3 (32, c->warps), shared, cuda_state (plan)->stream>>> (t);
  CUDA_LAUNCHED (plan, "bm_fused_kernel");
  return STEREO_OK;
}

template <int COST, BmKind KIND, int R> static StereoStatus
prepare (StereoPlan *plan, void *data, StereoError *error)
{
  BmFusedContext *context = (BmFusedContext *) data;
  Cutting c = cut_up<KIND, R> (plan);
  BmFusedTask t = task_of<KIND, R> (plan, context, &c);
  StereoStatus status;

  for (int v = 0; v < 2; v++) {
    size_t pixel = KIND != BM_PRODUCT ? sizeof (uint2) : v == STEREO_LEFT ? sizeof (uint32_t) : sizeof (uint16_t);
    size_t rows = (size_t) plan->height, pitch = (size_t) t.pitch[v];
    if ((status = stereo_reserve (plan, &context->pairs[v], pitch * (rows + R), pixel, error)))
      return status;
    if (KIND == BM_PRODUCT &&
        (status = stereo_reserve (plan, (void **) &context->windows[v], pitch * rows, sizeof (uint2), error)))
      return status;
  }
  return stereo_reserve (
      plan, (void **) &context->cuts, (size_t) plan->height * (2 * R) * (size_t) plan->depth, sizeof (uint16_t), error);
}

template <int COST, BmKind KIND, int R> static StereoStatus
run (StereoPlan *plan, void *context, StereoError *error)
{
  Cutting c = cut_up<KIND, R> (plan);
  BmFusedTask t = task_of<KIND, R> (plan, (const BmFusedContext *) context, &c);
  unsigned columns = cuda_blocks (t.pitch[STEREO_RIGHT], INPUT_THREADS - 2 * R);
  unsigned cuts = cuda_blocks (2 * plan->depth, INPUT_THREADS);
  dim3 grid (columns > cuts ? columns : cuts, 2 + INPUT_ROWS / CUT_ROWS, cuda_blocks (plan->height + R, INPUT_ROWS));

  bm_inputs_kernel<COST, KIND, R><<<grid, INPUT_THREADS, 0, cuda_state (plan)->stream>>> (t);
  CUDA_LAUNCHED (plan, "bm_inputs_kernel");
  constexpr int depth = R == 4 ? 128 : 0; /* a common depth, for the method's own window */
  return plan->depth == depth ? launch_kernel<COST, KIND, R, depth> (plan, &c, t, error) :
                                launch_kernel<COST, KIND, R, 0> (plan, &c, t, error);
}

template <int COST, BmKind KIND, int R> static constexpr StereoStage fused_stage = {
  .name = "match", .context_size = sizeof (BmFusedContext), .prepare = prepare<COST, KIND, R>, .run = run<COST, KIND, R>
};

/* Windows of 5, 7 and 9; NULL: other windows, or a cost that compares single pixels. */
template <int COST> static const StereoStage *
stage_of_window (int window)
{
  constexpr BmKind KIND = bm_kind (COST);
  static_assert (KIND != BM_NO_KIND, "bm_kind() has no branch for a cost that bm takes");

  if constexpr (bm_compares_windows (KIND))
    switch (window) {
      case 5:
        return &fused_stage<COST, KIND, 2>;
      case 7:
        return &fused_stage<COST, KIND, 3>;
      case 9:
        return &fused_stage<COST, KIND, 4>;
    }
  return NULL;
}

}

/* Limits: SAD's sums fit 16 bits up to 81 taps, sums of costs the 23 bits of a float up to 121, and a thread gets four
 * columns from each neighbour. */
const StereoStage *
stereo_cuda_bm_fused (const StereoParams *params)
{
  const StereoStage *stage = NULL;

  for_cost<STEREO_METHOD_BM> (
      params->cost, [&] (auto cost) { stage = stage_of_window<decltype (cost)::value> (params->window); });
  return stage;
}
