/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Block matching: the stage, and the sums of luma over every window, which correlations need. */
#include "cuda/bm/windows_kernel.cuh"
#include "cuda/cost.cuh"

namespace
{

constexpr int LINE_THREADS = 256;
constexpr int WINDOWS_PAD = 32; /* elements that are read for candidates that only fill up the depth */

/* Sums over the threads up to and including this one; *@total: over all. */
static __device__ uint2
scan (uint2 v, uint2 *total)
{
  __shared__ uint2 warps[LINE_THREADS / 32];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;

  for (int step = 1; step < 32; step *= 2) {
    uint32_t sum = __shfl_up_sync (~0u, v.x, step), squares = __shfl_up_sync (~0u, v.y, step);
    if (lane >= step)
      v = make_uint2 (v.x + sum, v.y + squares);
  }
  if (lane == 31)
    warps[warp] = v;
  __syncthreads ();
  uint2 all = make_uint2 (0, 0);
  for (int k = 0; k < LINE_THREADS / 32; k++) {
    if (k == warp)
      v = make_uint2 (v.x + all.x, v.y + all.y);
    all = make_uint2 (all.x + warps[k].x, all.y + warps[k].y);
  }
  __syncthreads ();
  *total = all;
  return v;
}

/* Block: a row (blockIdx.x) of one view (blockIdx.y), 256 columns at a time. */
static __global__ void
__launch_bounds__ (LINE_THREADS) bm_lines_kernel (BmTask t, int cost)
{
  const Frame &f = t.f;
  const BmLine &line = t.line[blockIdx.y];
  int y = blockIdx.x, rows = stereo_bm_rows (y, f.height, t.radius), taps = rows * (2 * t.radius + 1);
  const uint8_t *luma = f.view[blockIdx.y].luma + (size_t) max (y - t.radius, 0) * f.image_pitch;
  uint32_t *sums = line.sums + (size_t) y * t.line_pitch, *squares = line.squares + (size_t) y * t.line_pitch;
  uint2 before = make_uint2 (0, 0), total;

  if (threadIdx.x == 0)
    sums[0] = squares[0] = 0;
  for (int x0 = 0; x0 < f.width; x0 += LINE_THREADS) {
    int x = x0 + threadIdx.x;
    uint2 column = make_uint2 (0, 0);
    for (int k = 0; k < rows && x < f.width; k++) {
      uint32_t v = luma[(size_t) k * f.image_pitch + x];
      column = make_uint2 (column.x + v, column.y + v * v);
    }
    column = scan (column, &total);
    if (x < f.width) {
      sums[x + 1] = before.x + column.x;
      squares[x + 1] = before.y + column.y;
    }
    before = make_uint2 (before.x + total.x, before.y + total.y);
  }
  __syncthreads ();
  for (int x = t.radius + threadIdx.x; x + t.radius < f.width; x += LINE_THREADS) {
    uint32_t sum = sums[x + t.radius + 1] - sums[x - t.radius];
    uint32_t energy = squares[x + t.radius + 1] - squares[x - t.radius];
    float norm = stereo_bm_norm (cost, taps, sum, energy) * (blockIdx.y == STEREO_RIGHT ? STEREO_BM_STEPS : 1);
    line.windows[(size_t) y * f.width + x] = make_uint2 (
        cost == STEREO_COST_ZNCC ? sum : energy, __float_as_uint (norm));
  }
}

/* ---- stage ------------------------------------------------------------------------------------------ */

/* Scratch memory of the stage. */
struct BmContext
{
  uint32_t *costs; /* of the first step: see BmTask */
  BmLine line[2];  /* of both views; correlations only */
};

static BmTask
task_of (const StereoPlan *plan, const BmContext *context)
{
  const CudaState *state = cuda_state (plan);
  BmTask t = {};

  t.f = cuda_frame (plan);
  t.window_radius = plan->params.window / 2;
  t.line_pitch = plan->width + 1;
  t.costs = context->costs;
  t.buffers = (size_t) state->shared_per_block >= bm_shared (2) ? 2 : 1;
  for (int v = 0; v < 2; v++)
    t.line[v] = context->line[v];
  return t;
}

template <int COST, BmKind KIND, int R, int DEPTH> static StereoStatus
launch_radius (StereoPlan *plan, BmTask t, StereoError *error)
{
  unsigned strips = cuda_blocks (plan->width, BM_STRIP - 2 * t.radius), chunks = cuda_blocks (plan->depth, BM_CHUNK);
  unsigned segments = bm_resident (KIND) * BM_BLOCKS / (strips * chunks);
  int least = 4 * (2 * t.radius + 1); /* a segment first sums up 2 * radius rows: at most half as many again */

  t.segment = (int) cuda_blocks (plan->height, segments ? segments : 1);
  t.segment = t.segment < least ? least : t.segment;
  dim3 grid (strips, chunks, cuda_blocks (plan->height, t.segment));
  CUDA_TRY (cudaFuncSetAttribute (
      bm_kernel<COST, KIND, R, DEPTH>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) bm_shared (t.buffers)));
  bm_kernel<COST, KIND, R, DEPTH><<<grid, dim3 (32, BM_WARPS), bm_shared (t.buffers), cuda_state (plan)->stream>>> (t);
  CUDA_LAUNCHED (plan, "bm_kernel");
  return STEREO_OK;
}

template <int COST, BmKind KIND> static StereoStatus
launch_step (StereoPlan *plan, const BmContext *context, int radius, StereoError *error)
{
  BmTask t = task_of (plan, context);
  t.radius = radius;
  constexpr int own = KIND == BM_MEAN ? 4 : 0; /* radius of the method's own window; costs of pixels have none */
  /* a common depth has kernels of its own; none for costs of windows, whose radius is 0 only with window=1 */
  if constexpr (KIND == BM_MEAN || !bm_compares_windows (KIND))
    if (radius == own && plan->depth == 128)
      return launch_radius<COST, KIND, own, 128> (plan, t, error);
  return radius == own ? launch_radius<COST, KIND, own, 0> (plan, t, error) :
                         launch_radius<COST, KIND, 0, 0> (plan, t, error);
}

static StereoStatus
launch_costs (StereoPlan *plan, const BmContext *context, StereoError *error)
{
  return launch_for_cost<STEREO_METHOD_BM> (plan, error, [=] (auto cost) {
    constexpr int COST = decltype (cost)::value;
    constexpr BmKind kind = bm_kind (COST);
    static_assert (kind != BM_NO_KIND, "bm_kind() has no branch for a cost that bm takes");
    return launch_step<COST, kind> (plan, context, bm_compares_windows (kind) ? plan->params.window / 2 : 0, error);
  });
}

static StereoStatus
bm_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  BmContext *context = (BmContext *) data;
  size_t pixels = (size_t) plan->width * plan->height, words = pixels + (size_t) plan->height;
  StereoStatus status;

  if ((status = stereo_reserve (
           plan, (void **) &context->costs, pixels * (size_t) plan->depth, sizeof (uint16_t), error)))
    return status;
  for (int v = 0; v < 2 && stereo_bm_correlates (plan->params.cost); v++) {
    BmLine *line = &context->line[v];
    if ((status = stereo_reserve (plan, (void **) &line->sums, words, sizeof (uint32_t), error)) ||
        (status = stereo_reserve (plan, (void **) &line->squares, words, sizeof (uint32_t), error)) ||
        (status = stereo_reserve (plan, (void **) &line->windows, pixels + WINDOWS_PAD, sizeof (uint2), error)))
      return status;
  }
  return STEREO_OK;
}

static StereoStatus
bm_run (StereoPlan *plan, void *data, StereoError *error)
{
  const BmContext *context = (const BmContext *) data;
  StereoStatus status;

  if (stereo_bm_correlates (plan->params.cost)) {
    BmTask t = task_of (plan, context);
    t.radius = t.window_radius;
    bm_lines_kernel<<<dim3 (plan->height, 2), LINE_THREADS, 0, cuda_state (plan)->stream>>> (t, plan->params.cost);
    CUDA_LAUNCHED (plan, "bm_lines_kernel");
  }
  if ((status = launch_costs (plan, context, error)))
    return status;
  return launch_step<STEREO_COST_AUTO, BM_MEAN> (plan, context, plan->params.window / 2, error);
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
