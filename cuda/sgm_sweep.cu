/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Semi-global matching, the three directions at a time that come from the row above (or, on the way up, below).
 *
 * A block has a strip of columns, a warp each, and walks along the rows. The path along the column stays in the warp's
 * registers; the two diagonal ones are handed to the neighbouring warps through shared memory, row by row. What
 * diagonal paths bring from the strips beside is known to the block as far as ROWS columns away at the start of a band
 * of ROWS rows, and within the band its `halo` warps follow those paths themselves, a column fewer every row: so
 * strips exchange costs (`border`) only once a band.
 *
 * Where all strips fit on the device at once, one launch does all bands and strips wait for each other (`progress`);
 * else there is a launch for every band.
 */
#include "cuda/sgm.cuh"

#define ROWS 8                  /* of a band; even */
#define HALOS (ROWS - 1)        /* warps */
#define AHEAD 4                 /* rows whose costs and sums are under way; a divisor of ROWS */
#define MAX_COLUMNS 16

enum { FROM_LEFT, FROM_RIGHT, FROM_ABOVE, WAYS };

struct Sweep
{
  int up, last;                 /* last: marks the missing candidates */
  int columns;                  /* of a strip */
  int band, bands;              /* of this launch */
  uint32_t small[WAYS], large[WAYS];
  uint32_t *border, *border_low;        /* [band & 1][way][x]: costs, and their lowest */
  int *progress;                /* of strips: bands that are done */
};

/* Costs of diagonal paths in shared memory: [row & 1][way][slot], from the left for columns -ROWS and on, from the right
 * for columns 0 and on. */
template <int PAIRS> struct Slots
{
  uint32_t *words, *lows;
  int count;
};

template <int PAIRS> __device__ __forceinline__ Slots<PAIRS>
slots_at (uint4 *shared, int columns)
{
  Slots<PAIRS> s;
  s.count = columns + ROWS;
  s.words = (uint32_t *) shared;
  s.lows = s.words + 4 * s.count * 32 * PAIRS;
  return s;
}

template <int PAIRS> static size_t
slot_bytes (int columns)
{
  return (size_t) 4 * (size_t) (columns + ROWS) * (32 * PAIRS + 1) * sizeof (uint32_t);
}

template <int PAIRS> __device__ __forceinline__ void
get (uint32_t (&path)[PAIRS], const uint32_t *from)
{
  if (PAIRS == 1)
    path[0] = *from;
  if (PAIRS == 2) {
    uint2 v = *(const uint2 *) from;
    path[0] = v.x;
    path[PAIRS > 1] = v.y;
  }
#pragma unroll
  for (int k = 0; k + 3 < PAIRS; k += 4) {
    uint4 v = *(const uint4 *) (from + k);
    path[k] = v.x;
    path[k + (PAIRS > 1)] = v.y;
    path[k + (PAIRS > 2) * 2] = v.z;
    path[k + (PAIRS > 2) * 3] = v.w;
  }
}

template <int PAIRS> __device__ __forceinline__ void
put (uint32_t *to, const uint32_t (&path)[PAIRS])
{
  if (PAIRS == 1)
    *to = path[0];
  if (PAIRS == 2)
    *(uint2 *) to = make_uint2 (path[0], path[PAIRS > 1]);
#pragma unroll
  for (int k = 0; k + 3 < PAIRS; k += 4)
    *(uint4 *) (to + k) = make_uint4 (path[k], path[k + (PAIRS > 1)], path[k + (PAIRS > 2) * 2],
        path[k + (PAIRS > 2) * 3]);
}

template <int PAIRS> __device__ __forceinline__ void
get_slot (uint32_t (&path)[PAIRS], uint32_t &lowest, const Slots<PAIRS> &s, int buffer, int way, int slot, int lane)
{
  int n = (buffer * 2 + way) * s.count + slot;
  get (path, s.words + (n * 32 + lane) * PAIRS);
  lowest = s.lows[n];
}

template <int PAIRS> __device__ __forceinline__ void
put_slot (const uint32_t (&path)[PAIRS], uint32_t lowest, const Slots<PAIRS> &s, int buffer, int way, int slot, int lane)
{
  int n = (buffer * 2 + way) * s.count + slot;
  put (s.words + (n * 32 + lane) * PAIRS, path);
  s.lows[n] = lowest;
}

/* ---- the border between bands ------------------------------------------------------------------ */

template <int PAIRS> __device__ __forceinline__ void
get_border (uint32_t (&path)[PAIRS], uint32_t &lowest, const Sgm &s, const Sweep &w, int band, int way, int x, int lane)
{
  size_t n = ((size_t) (band & 1) * WAYS + way) * s.width + x;
#pragma unroll
  for (int k = 0; k < PAIRS; k++)
    path[k] = __ldcg (w.border + n * 32 * PAIRS + k * 32 + lane);
  lowest = __ldcg (w.border_low + n);
}

template <int PAIRS> __device__ __forceinline__ void
put_border (const uint32_t (&path)[PAIRS], uint32_t lowest, const Sgm &s, const Sweep &w, int band, int way, int x,
    int lane)
{
  size_t n = ((size_t) (band & 1) * WAYS + way) * s.width + x;
#pragma unroll
  for (int k = 0; k < PAIRS; k++)
    __stcg (w.border + n * 32 * PAIRS + k * 32 + lane, path[k]);
  if (lane == 0)
    __stcg (w.border_low + n, lowest);
}

/* Waits until the strips within reach have done the bands before @band. */
__device__ __forceinline__ void
await_neighbours (const Sweep &w, int band)
{
  int reach = (ROWS + w.columns - 1) / w.columns, strip = (int) blockIdx.x - reach + (int) threadIdx.x;

  if (threadIdx.x <= 2 * reach && strip >= 0 && strip < (int) gridDim.x) {
    while (*(volatile int *) (w.progress + strip) < band)
      __nanosleep (20);
    __threadfence ();
  }
  __syncthreads ();
}

__device__ __forceinline__ void
tell_neighbours (const Sweep &w, int band)
{
  __threadfence ();
  __syncthreads ();
  if (threadIdx.x == 0)
    *(volatile int *) (w.progress + blockIdx.x) = band + 1;
}

/* From the band before @band: the diagonal paths of columns beside the strip, a warp a column in turn. */
template <int PAIRS> __device__ __forceinline__ void
load_halos (const Sgm &s, const Sweep &w, const Slots<PAIRS> &slots, int band, int warp, int lane)
{
  for (int n = warp; n < 2 * ROWS; n += w.columns + HALOS) {
    int way = n / ROWS, column = way == FROM_LEFT ? n - ROWS : w.columns + n - ROWS;
    int x = (int) blockIdx.x * w.columns + column;
    uint32_t path[PAIRS], lowest;
    if (x < 0 || x >= s.width)
      continue;
    get_border (path, lowest, s, w, band - 1, way, x, lane);
    put_slot (path, lowest, slots, 0, way, way == FROM_LEFT ? column + ROWS : column, lane);
  }
}

/* ---- rows ---------------------------------------------------------------------------------------- */

/* A column of the picture as a warp meets it, row by row in the sweep's order. */
template <int PAIRS> struct Column
{
  size_t next;                  /* place of the row to load next, elements */
  ptrdiff_t step;
  int left;                     /* rows still to load */
  RawCosts<PAIRS> raw[AHEAD];
};

template <int PAIRS> __device__ __forceinline__ void
start_column (Column<PAIRS> &c, const Sgm &s, const Sweep &w, int x, int row)
{
  c.left = x >= 0 && x < s.width ? s.height - row : 0;
  c.next = ((size_t) (w.up ? s.height - 1 - row : row) * s.width + (c.left ? x : 0)) * s.depth;
  c.step = (ptrdiff_t) s.width * s.depth * (w.up ? -1 : 1);
}

template <int PAIRS> __device__ __forceinline__ void
load_row (RawCosts<PAIRS> &raw, Column<PAIRS> &c, const Sgm &s, int lane)
{
  if (c.left > 0)
    load_costs (raw, s.costs + c.next, lane, s.depth);
  c.next += c.step;
  c.left--;
}

/* A warp of the strip, column @column. */
template <int PAIRS> __device__ __forceinline__ void
strip_warp (const Sgm &s, const Sweep &w, const Slots<PAIRS> &slots, int column, int lane)
{
  int x = (int) blockIdx.x * w.columns + column, start = w.band * ROWS;
  bool there = x < s.width;
  uint32_t path[WAYS][PAIRS] = { 0 }, lowest[WAYS] = { 0 }, sums[AHEAD][PAIRS];
  Borders borders = borders_of (lane);
  Mask<PAIRS> mask;
  Column<PAIRS> c;
  size_t here;

  mask.first = mask.last = -1;
  set_mask (mask, s, x, lane);
  start_column (c, s, w, x, start);
  here = c.next;
  if (w.band && there)
#pragma unroll
    for (int way = 0; way < WAYS; way++) {
      get_border (path[way], lowest[way], s, w, w.band - 1, way, x, lane);
      if (way != FROM_ABOVE)
        put_slot (path[way], lowest[way], slots, 0, way, way == FROM_LEFT ? column + ROWS : column, lane);
    }
#pragma unroll
  for (int k = 0; k < AHEAD; k++) {
    if (c.left > 0)
      load_words (sums[k], s.volume + c.next, lane, s.depth);
    load_row (c.raw[k], c, s, lane);
  }
  for (int band = w.band; band < w.band + w.bands; band++) {
    if (band > w.band)
      await_neighbours (w, band);
    if (band > 0)
      load_halos (s, w, slots, band, column, lane);
    __syncthreads ();
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      if (there && band * ROWS + r < s.height) {
        uint32_t cost[PAIRS], sum[PAIRS];
        get_slot (path[FROM_LEFT], lowest[FROM_LEFT], slots, r & 1, FROM_LEFT, column - 1 + ROWS, lane);
        get_slot (path[FROM_RIGHT], lowest[FROM_RIGHT], slots, r & 1, FROM_RIGHT, column + 1, lane);
        spread_costs (cost, c.raw[r % AHEAD], s.unit);
#pragma unroll
        for (int p = 0; p < PAIRS; p++)
          sum[p] = sums[r % AHEAD][p];
        if (c.left > 0)
          load_words (sums[r % AHEAD], s.volume + c.next, lane, s.depth);
        load_row (c.raw[r % AHEAD], c, s, lane);
#pragma unroll
        for (int way = 0; way < WAYS; way++)
          follow (path[way], lowest[way], cost, w.small[way], w.large[way], borders);
#pragma unroll
        for (int p = 0; p < PAIRS; p++)
          sum[p] += path[0][p] + path[1][p] + path[2][p];
        if (mask.some)
#pragma unroll
          for (int p = 0; p < PAIRS; p++)
            sum[p] |= w.last ? mask.pair[p] : 0;
        store_words (s.volume + here, sum, lane, s.depth);
        here += c.step;
#pragma unroll
        for (int way = 0; way < WAYS; way++) {
          hide_missing (path[way], mask);
          lowest[way] = lowest_of (path[way]);
        }
        put_slot (path[FROM_LEFT], lowest[FROM_LEFT], slots, ~r & 1, FROM_LEFT, column + ROWS, lane);
        put_slot (path[FROM_RIGHT], lowest[FROM_RIGHT], slots, ~r & 1, FROM_RIGHT, column, lane);
      }
      if (r + 1 < ROWS)
        __syncthreads ();
    }
    if (there) {
      put_border (path[FROM_LEFT], lowest[FROM_LEFT], s, w, band, FROM_LEFT, x, lane);
      put_border (path[FROM_RIGHT], lowest[FROM_RIGHT], s, w, band, FROM_RIGHT, x, lane);
      if (band + 1 == w.band + w.bands)
        put_border (path[FROM_ABOVE], lowest[FROM_ABOVE], s, w, band, FROM_ABOVE, x, lane);
    }
    tell_neighbours (w, band);
  }
}

/* A step of one diagonal path beside the strip. */
template <int PAIRS> __device__ __forceinline__ void
halo_step (const Sgm &s, const Sweep &w, const Slots<PAIRS> &slots, const RawCosts<PAIRS> &raw, const Mask<PAIRS> &mask,
    int buffer, int way, int from, int to, int lane)
{
  uint32_t path[PAIRS], lowest, cost[PAIRS];

  get_slot (path, lowest, slots, buffer, way, from, lane);
  spread_costs (cost, raw, s.unit);
  follow (path, lowest, cost, w.small[way], w.large[way], borders_of (lane));
  hide_missing (path, mask);
  put_slot (path, lowest_of (path), slots, buffer ^ 1, way, to, lane);
}

/* A warp of the halo, @away columns from the strip on either side. */
template <int PAIRS> __device__ __forceinline__ void
halo_warp (const Sgm &s, const Sweep &w, const Slots<PAIRS> &slots, int away, int lane)
{
  int left = (int) blockIdx.x * w.columns - 1 - away, right = (int) (blockIdx.x + 1) * w.columns + away;
  bool there[2] = { left >= 0, right < s.width };
  Mask<PAIRS> mask[2];
  Column<PAIRS> c[2];

#pragma unroll
  for (int way = 0; way < 2; way++) {
    int x = way == FROM_LEFT ? left : right;
    mask[way].first = mask[way].last = -1;
    set_mask (mask[way], s, x, lane);
    start_column (c[way], s, w, x, w.band * ROWS);
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
      load_row (c[way].raw[k], c[way], s, lane);
  }
  for (int band = w.band; band < w.band + w.bands; band++) {
    if (band > w.band)
      await_neighbours (w, band);
    if (band > 0)
      load_halos (s, w, slots, band, w.columns + away, lane);
    __syncthreads ();
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
      bool now = away < ROWS - 1 - r && band * ROWS + r < s.height;
      if (now && there[0])
        halo_step (s, w, slots, c[0].raw[r % AHEAD], mask[0], r & 1, FROM_LEFT, ROWS - 2 - away, ROWS - 1 - away, lane);
      if (now && there[1])
        halo_step (s, w, slots, c[1].raw[r % AHEAD], mask[1], r & 1, FROM_RIGHT, w.columns + away + 1, w.columns + away,
            lane);
      load_row (c[0].raw[r % AHEAD], c[0], s, lane);
      load_row (c[1].raw[r % AHEAD], c[1], s, lane);
      if (r + 1 < ROWS)
        __syncthreads ();
    }
    tell_neighbours (w, band);
  }
}

template <int PAIRS> __global__ void __launch_bounds__ (32 * (MAX_COLUMNS + HALOS))
sweep_kernel (Sgm s, Sweep w)
{
  extern __shared__ uint4 shared[];
  Slots<PAIRS> slots = slots_at<PAIRS> (shared, w.columns);
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  for (int n = threadIdx.x; n < 4 * slots.count * (32 * PAIRS + 1); n += blockDim.x)
    slots.words[n] = 0;         /* outside the picture it stays so */
  __syncthreads ();
  if (warp < w.columns)
    strip_warp (s, w, slots, warp, lane);
  else
    halo_warp (s, w, slots, warp - w.columns, lane);
}

/* ---- launches --------------------------------------------------------------------------------------- */

/* What a plan needs; set by sgm_sweep_prepare(). */
static size_t
border_count (const StereoPlan *plan, int pairs)
{
  return (size_t) 2 * WAYS * (size_t) plan->width * (32 * (size_t) pairs + 1);
}

static int
pairs_of (const StereoPlan *plan)
{
  return plan->depth <= 64 ? 1 : plan->depth <= 128 ? 2 : 4;
}

int
sgm_can_sweep (const StereoPlan *plan)
{
  return plan->params.paths == 8 && plan->depth <= 256;
}

/* Strips such that all multiprocessors have one, if they fit. */
static int
columns_of (const StereoPlan *plan)
{
  int columns = (plan->width + cuda_state (plan)->multiprocessors - 1) / cuda_state (plan)->multiprocessors;
  return columns < 4 ? 4 : columns > MAX_COLUMNS ? MAX_COLUMNS : columns;
}

StereoStatus
sgm_sweep_prepare (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  size_t strips = cuda_blocks (plan->width, columns_of (plan));
  StereoStatus status = stereo_reserve (plan, (void **) &state->sgm_progress, 2 * strips, sizeof (int), error);
  return status ? status : stereo_reserve (plan, (void **) &state->sgm_border, border_count (plan, pairs_of (plan)),
      sizeof (uint32_t), error);
}

template <int PAIRS> static StereoStatus
launch_sweep (StereoPlan *plan, const Sgm &s, int up, int last, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  int columns = columns_of (plan), bands = (s.height + ROWS - 1) / ROWS, resident = 0;
  unsigned strips = cuda_blocks (s.width, columns), threads = 32 * (columns + HALOS);
  size_t shared = slot_bytes<PAIRS> (columns);
  Sweep w = { up, last, columns, 0, bands, { 0 }, { 0 }, state->sgm_border,
    state->sgm_border + (size_t) 2 * WAYS * s.width * 32 * PAIRS, state->sgm_progress + (up ? strips : 0) };
  static const int penalties[2][WAYS] = { { SGM_FALLING, SGM_RISING, SGM_VERTICAL }, { SGM_RISING, SGM_FALLING, SGM_VERTICAL } };

  for (int way = 0; way < WAYS; way++) {
    w.small[way] = s.small[penalties[up][way]];
    w.large[way] = s.large[penalties[up][way]];
  }
  CUDA_TRY (cudaFuncSetAttribute (sweep_kernel<PAIRS>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) shared));
  CUDA_TRY (cudaOccupancyMaxActiveBlocksPerMultiprocessor (&resident, sweep_kernel<PAIRS>, (int) threads, shared));
  if ((int) strips <= resident * state->multiprocessors) {
    void *arguments[] = { (void *) &s, (void *) &w };
    CUDA_TRY (cudaMemsetAsync (w.progress, 0, strips * sizeof (int), state->stream));
    CUDA_TRY (cudaLaunchCooperativeKernel (sweep_kernel<PAIRS>, dim3 (strips), dim3 (threads), arguments, shared,
            state->stream));
    CUDA_LAUNCHED (plan, "sweep_kernel");
    return STEREO_OK;
  }
  for (w.band = 0, w.bands = 1; w.band < bands; w.band++) {
    sweep_kernel<PAIRS><<<strips, threads, shared, state->stream>>> (s, w);
    CUDA_LAUNCHED (plan, "sweep_kernel");
  }
  return STEREO_OK;
}

StereoStatus
sgm_sweep (StereoPlan *plan, const Sgm &s, int up, int last, StereoError *error)
{
  return s.depth <= 64 ? launch_sweep<1> (plan, s, up, last, error) : s.depth <= 128 ?
      launch_sweep<2> (plan, s, up, last, error) : launch_sweep<4> (plan, s, up, last, error);
}
