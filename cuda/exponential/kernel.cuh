/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel of stage.cuh, and its launches. */
#ifndef STEREO_CUDA_EXPONENTIAL_KERNEL_CUH
#define STEREO_CUDA_EXPONENTIAL_KERNEL_CUH

#include "cuda/cost.cuh"
#include "cuda/exponential/stage.cuh"

namespace
{

/* ---- the kernel -------------------------------------------------------------------------------------- */

static_assert ((int64_t) STEREO_MAX_SIDE * STEREO_MAX_DISPARITIES * sizeof (uint16_t) <= UINT32_MAX, "a row's bytes");
static_assert (takes_only (STEREO_METHOD_ESAW, STEREO_COST_AD) && takes_only (STEREO_METHOD_ESMP, STEREO_COST_AD),
    "make_costs() has no branch for another cost");

/* Where a thread reads, of row 0. */
struct Places
{
  const char *own, *before, *after;
  uint32_t row; /* bytes */
  int there;    /* vectors that exist; for others the first one is read */
};

/* What a thread reads of a row. */
template <int VECTORS> struct Reads
{
  uint4 own[VECTORS], before[VECTORS], after[VECTORS];
};

template <int VECTORS> static __device__ __forceinline__ void
read_row (const Places &p, uint32_t y, Reads<VECTORS> &r)
{
  uint64_t place = (uint64_t) y * p.row;
#pragma unroll
  for (int v = 0; v < VECTORS; v++) {
    int from = v < p.there ? v : 0;
    r.own[v] = ((const uint4 *) (p.own + place))[from];
    r.before[v] = ((const uint4 *) (p.before + place))[from];
    r.after[v] = ((const uint4 *) (p.after + place))[from];
  }
}

/* Stores the costs of a column; the LAST iteration marks candidates that do not exist. */
template <int N, bool LAST> static __device__ __forceinline__ void
write_column (const Iteration &t, int x, int i0, int there, uint4 *to, float *costs)
{
  if (LAST) {
    int first = t.f.outside ? 0 : stereo_first_index (x, t.f.width, t.f.min_disparity);
    int last = t.f.outside ? t.f.disparities - 1 : stereo_last_index (x, t.f.disparities, t.f.min_disparity);
    if (i0 < first || i0 + N - 1 > last)
#pragma unroll
      for (int i = 0; i < N; i++)
        if (i0 + i < first || i0 + i > last)
          costs[i] = STEREO_EXPONENTIAL_MAGIC + STEREO_INVALID;
  }
#pragma unroll
  for (int v = 0; v < N / 8; v++)
    if (v < there)
      to[v] = pack (costs + 8 * v);
}

/* A thread's place. */
struct Column
{
  int place; /* among the block's */
  int x, i0;
  int end; /* of the candidates of the search, from i0 on */
  int slots;
  Places places;
};

/* Costs of the pixel and of its taps in slot @k of the first iteration. */
template <int N, bool MESSAGES> static __device__ __forceinline__ void
make_row (const Iteration &t, const BlockMemory &s, const Column &c, int k, float *own, float *before, float *after)
{
  const uint8_t *luma = t.f.view[STEREO_LEFT].luma + (size_t) s.y[k] * t.f.image_pitch + c.x;
  const uint8_t *line = s.luma + k * s.luma_pitch + blockDim.y - c.place + threadIdx.x * N;

  make_costs<N> (t, luma[0], line, own);
  make_costs<N> (t, luma[c.x > 0 ? -1 : 0], line + 1, before);
  make_costs<N> (t, luma[c.x + 1 < t.f.width ? 1 : 0], line - 1, after);
  if (MESSAGES) {
    make_messages<N> (t, own, c.end);
    make_messages<N> (t, before, c.end);
    make_messages<N> (t, after, c.end);
  }
}

/* Means along the row of slot @k, from what was read; starts to read the next slot. */
template <int VECTORS, bool MESSAGES, bool FIRST> static __device__ __forceinline__ void
mean_along_row (const Iteration &t, const BlockMemory &s, const Column &c, int k, const Reads<VECTORS> &r,
    Reads<VECTORS> &next, float *own)
{
  constexpr int N = 8 * VECTORS;
  float before[N], after[N];

  if (FIRST)
    make_row<N, MESSAGES> (t, s, c, k, own, before, after);
  else {
    read_row (c.places, s.y[min (k + 1, c.slots - 1)], next);
#pragma unroll
    for (int v = 0; v < VECTORS; v++) {
      unpack (r.own[v], own + 8 * v);
      unpack (r.before[v], before + 8 * v);
      unpack (r.after[v], after + 8 * v);
    }
  }
  float2 weight = s.row[k * blockDim.y + c.place];
#pragma unroll
  for (int j = 0; j < N; j++)
    own[j] = mean (own[j], before[j] - own[j], after[j] - own[j], weight);
  if (MESSAGES)
    make_messages<N> (t, own, c.end);
}

/* Slot @k: the means along its row, @now; and from these and the two rows before, @own and @own - @rise, the means
 * along the column at the row before. */
template <int VECTORS, bool MESSAGES, int WHEN> static __device__ __forceinline__ void
take_slot (const Iteration &t, const BlockMemory &s, const Column &c, int k, const Reads<VECTORS> &r,
    Reads<VECTORS> &next, char *to, int there, const float *own, float *now, float *rise)
{
  constexpr bool LAST = WHEN == EXPONENTIAL_LAST || WHEN == EXPONENTIAL_ONLY;
  constexpr int N = 8 * VECTORS;
  float done[N];

  mean_along_row<VECTORS, MESSAGES, WHEN == EXPONENTIAL_FIRST || WHEN == EXPONENTIAL_ONLY> (t, s, c, k, r, next, now);
  float2 weight = s.column[(k - 1) * blockDim.y + c.place];
#pragma unroll
  for (int j = 0; j < N; j++) {
    float more = now[j] - own[j];
    done[j] = mean (own[j], -rise[j], more, weight);
    rise[j] = more;
  }
  if (MESSAGES && !LAST)
    make_messages<N> (t, done, c.end);
  write_column<N, LAST> (t, c.x, c.i0, there, (uint4 *) (to + (uint64_t) (uint32_t) s.y[k - 1] * c.places.row), done);
}

static __device__ __forceinline__ Column
find_column (const Iteration &t, int candidates, int candidates_a_lane)
{
  const Frame &f = t.f;
  int left = f.width - (int) (blockIdx.x * blockDim.y);
  Column c;

  c.place = (int) threadIdx.y < left ? (int) threadIdx.y : left - 1;
  c.x = stereo_chain_row (blockIdx.x * blockDim.y + c.place, f.width, t.taps.step);
  c.i0 = blockIdx.z * candidates + threadIdx.x * candidates_a_lane;
  c.end = f.disparities - c.i0;
  c.slots = min (t.rows, f.height - (int) blockIdx.y * t.rows) + 2;
  c.places.there = (f.depth - c.i0) / 8;
  c.places.row = (uint32_t) f.width * (uint32_t) f.depth * (uint32_t) sizeof (uint16_t);
  ptrdiff_t away = (ptrdiff_t) t.taps.step * f.depth;
  const uint16_t *own = t.from + (ptrdiff_t) c.x * f.depth + (c.places.there > 0 ? c.i0 : 0);
  c.places.own = (const char *) own;
  c.places.before = (const char *) (own - (c.x >= t.taps.step ? away : 0));
  c.places.after = (const char *) (own + (c.x + t.taps.step < f.width ? away : 0));
  return c;
}

/* Block: columns (threadIdx.y, blockIdx.x) by t.rows rows (blockIdx.y) by candidates (threadIdx.x: the lanes of a
 * pixel, blockIdx.z). Shared memory: see BlockMemory. A lane reads and writes 16 bytes at a time. */
template <int VECTORS, bool MESSAGES, int WHEN> static __global__ void
__launch_bounds__ (EXPONENTIAL_THREADS, VECTORS == 1 ? EXPONENTIAL_BLOCKS : 1)
    exponential_kernel (const __grid_constant__ Iteration t)
{
  constexpr bool FIRST = WHEN == EXPONENTIAL_FIRST || WHEN == EXPONENTIAL_ONLY;
  constexpr int N = 8 * VECTORS;
  extern __shared__ float memory[];
  int candidates = blockDim.x * N, k = 2;
  BlockMemory s = lay_out (memory, t.rows, blockDim.y, candidates);
  Reads<VECTORS> even, odd;
  float own[N], now[N], rise[N]; /* of two rows, and the difference of the second to the row before it */

  let_next_start ();
  fill_shared<FIRST> (t, s, candidates);
  Column c = find_column (t, candidates, N);
  int there = blockIdx.x * blockDim.y + threadIdx.y < (unsigned) t.f.width ? c.places.there : 0;
  char *to = (char *) t.to + (c.places.own - (const char *) t.from);
  await_last ();
  if (!FIRST)
    read_row (c.places, s.y[0], even);
  mean_along_row<VECTORS, MESSAGES, FIRST> (t, s, c, 0, even, odd, now);
  mean_along_row<VECTORS, MESSAGES, FIRST> (t, s, c, 1, odd, even, own);
#pragma unroll
  for (int j = 0; j < N; j++)
    rise[j] = own[j] - now[j];
  for (; k + 1 < c.slots; k += 2) { /* two slots in turn, so that no registers are moved */
    take_slot<VECTORS, MESSAGES, WHEN> (t, s, c, k, even, odd, to, there, own, now, rise);
    take_slot<VECTORS, MESSAGES, WHEN> (t, s, c, k + 1, odd, even, to, there, now, own, rise);
  }
  if (k < c.slots)
    take_slot<VECTORS, MESSAGES, WHEN> (t, s, c, k, even, odd, to, there, own, now, rise);
}

/* ---- launching ---------------------------------------------------------------------------------------- */

/* Scratch memory and launch settings of the stage. */
struct ExponentialContext
{
  uint16_t *volume; /* the second one: iterations read one volume and write the other */
  int early_start;  /* the device can start a kernel while the one before it ends */
};

template <int VECTORS, bool MESSAGES> static StereoStatus
exponential_launch (
    StereoPlan *plan, const ExponentialContext *context, const Iteration &t, int when, int lanes, StereoError *error)
{
  static void (*const kernels[]) (Iteration) = { exponential_kernel<VECTORS, MESSAGES, EXPONENTIAL_FIRST>,
    exponential_kernel<VECTORS, MESSAGES, EXPONENTIAL_MIDDLE>, exponential_kernel<VECTORS, MESSAGES, EXPONENTIAL_LAST>,
    exponential_kernel<VECTORS, MESSAGES, EXPONENTIAL_ONLY> };
  int columns = EXPONENTIAL_THREADS / lanes < EXPONENTIAL_COLUMNS ? EXPONENTIAL_THREADS / lanes : EXPONENTIAL_COLUMNS;
  int candidates = 8 * VECTORS * lanes;
  bool first = when == EXPONENTIAL_FIRST || when == EXPONENTIAL_ONLY;
  dim3 grid (
      cuda_blocks (plan->width, columns), cuda_blocks (plan->height, t.rows), cuda_blocks (plan->depth, candidates));

  cudaLaunchAttribute early = {};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = dim3 (lanes, columns);
  config.dynamicSmemBytes = exponential_shared (columns, t.rows, candidates, first);
  config.stream = cuda_state (plan)->stream;
  config.attrs = &early;
  config.numAttrs = !first && context->early_start;
  CUDA_TRY (cudaLaunchKernelEx (&config, kernels[when], t));
  CUDA_LAUNCHED (plan, "exponential_kernel");
  return STEREO_OK;
}

/* Rows of a block, such that all blocks run at once if they can. */
static int
exponential_rows (const StereoPlan *plan, int lanes, int candidates)
{
  int columns = EXPONENTIAL_THREADS / lanes < EXPONENTIAL_COLUMNS ? EXPONENTIAL_THREADS / lanes : EXPONENTIAL_COLUMNS;
  int across = (int) (cuda_blocks (plan->width, columns) * cuda_blocks (plan->depth, candidates));
  int down = cuda_state (plan)->multiprocessors * EXPONENTIAL_BLOCKS * EXPONENTIAL_THREADS / (lanes * columns) / across;
  int rows = down ? (int) cuda_blocks (plan->height, down) : EXPONENTIAL_ROWS;
  return rows < 8 ? 8 : rows < EXPONENTIAL_ROWS ? rows : EXPONENTIAL_ROWS;
}

typedef StereoStatus (*ExponentialLaunch) (
    StereoPlan *plan, const ExponentialContext *context, const Iteration &t, int when, int lanes, StereoError *error);

static StereoStatus
exponential_run (StereoPlan *plan, const ExponentialContext *context, ExponentialLaunch launch, int lanes,
    int candidates, StereoError *error)
{
  int iterations = plan->params.iterations;
  Iteration t;
  StereoStatus status;

  t.f = cuda_frame (plan);
  t.e = stereo_exponential (&plan->params, plan->volume_unit);
  t.rows = exponential_rows (plan, lanes, candidates);
  for (int k = 0; k < iterations; k++) {
    int left = iterations - 1 - k;
    stereo_exponential_taps (&plan->params, k, &t.taps);
    t.to = left % 2 ? context->volume : plan->volume;
    t.from = left % 2 ? plan->volume : context->volume;
    int when = iterations == 1 ? EXPONENTIAL_ONLY :
        k == 0                 ? EXPONENTIAL_FIRST :
        left                   ? EXPONENTIAL_MIDDLE :
                                 EXPONENTIAL_LAST;
    if ((status = launch (plan, context, t, when, lanes, error)))
      return status;
  }
  return STEREO_OK;
}

static StereoStatus
exponential_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  ExponentialContext *context = (ExponentialContext *) data;
  int device, major;

  CUDA_TRY (cudaGetDevice (&device));
  CUDA_TRY (cudaDeviceGetAttribute (&major, cudaDevAttrComputeCapabilityMajor, device));
  context->early_start = major >= 9;
  if (plan->params.iterations == 1)
    return STEREO_OK;
  return stereo_reserve (plan, (void **) &context->volume,
      (size_t) plan->height * (size_t) plan->width * (size_t) plan->depth, sizeof (uint16_t), error);
}

}

#endif
