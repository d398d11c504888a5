/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Semi-global matching, three directions at a time: those that come from the row above or, on the way up, from the row
 * below. They read the same costs, which weighted paths do not.
 *
 * A block has a strip of columns, a warp each, and goes from row to row. The path along the column stays in the
 * registers of the warp. The two diagonal paths go to the neighbouring warps through shared memory, in every row.
 * Diagonal paths also enter from the strips beside. At the start of a band of BAND_ROWS rows the block loads these
 * paths for BAND_ROWS columns on both sides; within the band its `halo` warps extend the paths themselves, over one
 * column fewer in every row. So strips exchange costs (`border`) only once a band.
 *
 * If all strips fit on the device at once, one launch does all bands and strips wait for each other (`progress`);
 * otherwise there is a launch for every band.
 */
#include "cuda/sgm/strips.cuh"

namespace
{

/* What a warp of the strip has in registers from row to row. */
template <int PAIRS> struct Strip
{
  uint32_t path[WAYS][PAIRS], lowest[WAYS];
  uint32_t hide[PAIRS], mark[PAIRS]; /* added to paths, and to sums, where there is no candidate */
  uint32_t open[PAIRS];              /* candidates outside the right view */
  int lane;
  Borders borders;
  SweptColumn<PAIRS> column;
  RowRing<PAIRS> ring;
  uint16_t *to;
};

template <int PAIRS> __device__ __forceinline__ void
fetch_row (Strip<PAIRS> &t, int r)
{
  copy_async<RowRing<PAIRS>::sum_bytes> (t.ring.lane + r % ROWS_AHEAD * t.ring.row, t.column.sums);
  fetch_costs (t.ring, t.column, r, t.lane, false);
  commit_copies ();
  next_row (t.column);
}

/* @steps: bit 8 * way + r: the luma has a step towards row r. */
template <int PAIRS> __device__ __forceinline__ void
strip_row (const Sgm &s, const Sweep &w, Strip<PAIRS> &t, const Slots<PAIRS> &slots, int r, uint32_t steps)
{
  uint32_t cost[PAIRS], sum[PAIRS];
  RawCosts<PAIRS> raw;

  await_copies<ROWS_AHEAD - 1> ();
  ring_raw (raw, t.ring, t.column, r, t.lane, false);
  load_pairs (sum, t.ring.lane + r % ROWS_AHEAD * t.ring.row);
  get_slot (t.path[FROM_LEFT], t.lowest[FROM_LEFT], slots, r & 1, FROM_LEFT, BAND_ROWS - 1);
  get_slot (t.path[FROM_RIGHT], t.lowest[FROM_RIGHT], slots, r & 1, FROM_RIGHT, 1);
  spread_costs (cost, raw, s.unit);
#pragma unroll
  for (int way = 0; way < WAYS; way++)
    extend_path (t.path[way], t.lowest[way], cost, w.penalties[way], steps >> (8 * way + r) & 1, s.rounding, t.borders);
#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    sum[p] = (sum[p] + t.path[0][p] + t.path[1][p] + t.path[2][p]) | t.mark[p];
  store_sums (t.to, sum, t.column.share);
  t.to += t.column.step;
  fetch_row (t, r);
#pragma unroll
  for (int way = 0; way < WAYS; way++) {
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
      t.path[way][p] |= t.hide[p];
    t.lowest[way] = lowest_of (t.path[way]);
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
      t.path[way][p] = (t.path[way][p] & ~t.open[p]) | (t.lowest[way] & t.open[p]);
  }
  put_slot (t.path[FROM_LEFT], t.lowest[FROM_LEFT], slots, ~r & 1, FROM_LEFT, BAND_ROWS);
  put_slot (t.path[FROM_RIGHT], t.lowest[FROM_RIGHT], slots, ~r & 1, FROM_RIGHT, 0);
}

template <int PAIRS> __device__ __forceinline__ void
start_strip (const Sgm &s, const Sweep &w, Strip<PAIRS> &t, const Slots<PAIRS> &slots, int x, bool there, int lane)
{
  Mask<PAIRS> mask;

  mask.first = mask.last = -1;
  set_mask (mask, s, x, lane);
  t.lane = lane;
  t.borders = borders_of (lane);
  hold_in_register (t.borders.first);
  hold_in_register (t.borders.last);
#pragma unroll
  for (int p = 0; p < PAIRS; p++) {
    t.hide[p] = mask.pair[p] & SGM_MISSING;
    t.mark[p] = w.last ? mask.pair[p] : 0;
    t.open[p] = outside_of (mask.pair[p], (lane * PAIRS + p) * 2, s.disparities);
    hold_in_register (t.hide[p]);
    hold_in_register (t.mark[p]);
    hold_in_register (t.open[p]);
  }
  t.column = start_column<PAIRS> (s, w, x, lane);
  t.to = (uint16_t *) t.column.sums;
#pragma unroll
  for (int k = 0; k < ROWS_AHEAD; k++)
    fetch_row (t, k);
#pragma unroll
  for (int way = 0; way < WAYS; way++) {
    t.lowest[way] = 0;
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
      t.path[way][p] = 0;
    if (w.band && there) {
      get_border (t.path[way], t.lowest[way], s, w, w.band - 1, way, x, lane);
      if (way != FROM_ABOVE)
        put_slot (t.path[way], t.lowest[way], slots, 0, way, way == FROM_LEFT ? BAND_ROWS : 0);
    }
  }
}

/* What lane @lane looks at of @band, for strip_row(): a row and a way. */
__device__ __forceinline__ LumaStep
load_strip_step (const Sgm &s, const Sweep &w, int band, int x, int lane)
{
  int way = lane / 8;
  return way < WAYS ? load_band_step (s, w, band, lane % 8, x,
                          way == FROM_LEFT      ? -1 :
                              way == FROM_RIGHT ? 1 :
                                                  0) :
                      LumaStep ();
}

/* A warp of the strip, for column @column; outside the picture it only waits. It waits as often as halo_warp() does. */
template <int PAIRS> __device__ __forceinline__ void
strip_warp (const Sgm &s, const Sweep &w, uint32_t *words, int column, int lane)
{
  int x = (int) blockIdx.x * w.columns + column;
  bool there = x < s.width;
  Slots<PAIRS> slots = slots_at<PAIRS> (words, column, lane);
  Strip<PAIRS> t;

  t.ring = row_ring<PAIRS> (words, column, lane);
  start_strip (s, w, t, slots, there ? x : s.width - 1, there, lane);
  LumaStep ahead = load_strip_step (s, w, w.band, there ? x : s.width - 1, lane);
  for (int band = w.band; band < w.band + w.bands; band++) {
    int rows = there ? s.height - band * BAND_ROWS : 0;
    uint32_t steps = __ballot_sync (SGM_LANES, is_step (s, ahead));
    ahead = load_strip_step (s, w, band + 1, there ? x : s.width - 1, lane);
    if (band > w.band)
      await_neighbours (w, band);
    if (band > 0)
      load_halos<PAIRS> (s, w, words, band, column, lane);
    cuda_sync_warps ();
#pragma unroll
    for (int r = 0; r < BAND_ROWS; r++) {
      if (r < rows)
        strip_row (s, w, t, slots, r, steps);
      if (r + 1 < BAND_ROWS)
        cuda_sync_warps ();
    }
    if (there) {
      put_border (t.path[FROM_LEFT], t.lowest[FROM_LEFT], s, w, band, FROM_LEFT, x, lane);
      put_border (t.path[FROM_RIGHT], t.lowest[FROM_RIGHT], s, w, band, FROM_RIGHT, x, lane);
      if (band + 1 == w.band + w.bands)
        put_border (t.path[FROM_ABOVE], t.lowest[FROM_ABOVE], s, w, band, FROM_ABOVE, x, lane);
    }
    signal_neighbours (w, band);
  }
}

/* One side of the halo. */
template <int PAIRS> struct Halo
{
  bool there;
  uint32_t hide[PAIRS], open[PAIRS]; /* as in a Strip */
  SweptColumn<PAIRS> column;
  Slots<PAIRS> slots;
};

template <int PAIRS> __device__ __forceinline__ void
start_halo (const Sgm &s, const Sweep &w, Halo<PAIRS> &h, uint32_t *words, int x, int slot, int lane)
{
  Mask<PAIRS> mask;

  h.there = x >= 0 && x < s.width;
  x = min (max (x, 0), s.width - 1);
  mask.first = mask.last = -1;
  set_mask (mask, s, x, lane);
#pragma unroll
  for (int p = 0; p < PAIRS; p++) {
    h.hide[p] = mask.pair[p] & SGM_MISSING;
    h.open[p] = outside_of (mask.pair[p], (lane * PAIRS + p) * 2, s.disparities);
  }
  h.column = start_column<PAIRS> (s, w, x, lane);
  h.slots = slots_at<PAIRS> (words, slot, lane);
}

/* A row of one diagonal path beside the strip; @steps: as of strip_row(). */
template <int PAIRS> __device__ __forceinline__ void
halo_row (const Sgm &s, const Sweep &w, const Halo<PAIRS> &h, const RowRing<PAIRS> &ring, int r, int way, int lane,
    uint32_t steps, Borders borders)
{
  uint32_t path[PAIRS], lowest, cost[PAIRS];
  RawCosts<PAIRS> raw;

  get_slot (path, lowest, h.slots, r & 1, way, way == FROM_LEFT ? BAND_ROWS - 1 : 1);
  ring_raw (raw, ring, h.column, r, lane, way == FROM_RIGHT);
  spread_costs (cost, raw, s.unit);
  extend_path (path, lowest, cost, w.penalties[way], steps >> (8 * way + r) & 1, s.rounding, borders);
#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    path[p] |= h.hide[p];
  lowest = lowest_of (path);
#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    path[p] = (path[p] & ~h.open[p]) | (lowest & h.open[p]);
  put_slot (path, lowest, h.slots, ~r & 1, way, way == FROM_LEFT ? BAND_ROWS : 0);
}

/* Copies the costs of row @r of a band, if the halo still reaches that far in that row. */
template <int PAIRS> __device__ __forceinline__ void
fetch_halo (Halo<PAIRS> (&h)[2], const RowRing<PAIRS> &ring, int r, int away, int lane)
{
  if (away < BAND_ROWS - 1 - r) {
    fetch_costs (ring, h[FROM_LEFT].column, r, lane, false);
    fetch_costs (ring, h[FROM_RIGHT].column, r, lane, true);
  }
  commit_copies ();
  next_row (h[FROM_LEFT].column);
  next_row (h[FROM_RIGHT].column);
}

/* What lane @lane looks at of @band, for halo_row(): a row, of the left column or of the right one. */
__device__ __forceinline__ LumaStep
load_halo_step (const Sgm &s, const Sweep &w, int band, int left, int right, int lane)
{
  int way = lane / 8, x = way == FROM_LEFT ? left : right;
  return way <= FROM_RIGHT && x >= 0 && x < s.width ?
      load_band_step (s, w, band, lane % 8, x, way == FROM_LEFT ? -1 : 1) :
      LumaStep ();
}

/* A warp of the halo, @away columns from the strip on either side. */
template <int PAIRS> __device__ __forceinline__ void
halo_warp (const Sgm &s, const Sweep &w, uint32_t *words, int away, int lane)
{
  int left = (int) blockIdx.x * w.columns - 1 - away, right = (int) (blockIdx.x + 1) * w.columns + away;
  Borders borders = borders_of (lane);
  RowRing<PAIRS> ring = row_ring<PAIRS> (words, w.columns + away, lane);
  Halo<PAIRS> h[2];

  start_halo (s, w, h[FROM_LEFT], words, left, -1 - away, lane);
  start_halo (s, w, h[FROM_RIGHT], words, right, w.columns + away, lane);
#pragma unroll
  for (int k = 0; k < ROWS_AHEAD; k++)
    fetch_halo (h, ring, k, away, lane);
  LumaStep ahead = load_halo_step (s, w, w.band, left, right, lane);
  for (int band = w.band; band < w.band + w.bands; band++) {
    uint32_t steps = __ballot_sync (SGM_LANES, is_step (s, ahead));
    ahead = load_halo_step (s, w, band + 1, left, right, lane);
    if (band > w.band)
      await_neighbours (w, band);
    if (band > 0)
      load_halos<PAIRS> (s, w, words, band, w.columns + away, lane);
    cuda_sync_warps ();
#pragma unroll
    for (int r = 0; r < BAND_ROWS; r++) {
      await_copies<ROWS_AHEAD - 1> ();
      if (away < BAND_ROWS - 1 - r && band * BAND_ROWS + r < s.height) {
        if (h[FROM_LEFT].there)
          halo_row (s, w, h[FROM_LEFT], ring, r, FROM_LEFT, lane, steps, borders);
        if (h[FROM_RIGHT].there)
          halo_row (s, w, h[FROM_RIGHT], ring, r, FROM_RIGHT, lane, steps, borders);
      }
      fetch_halo (h, ring, (r + ROWS_AHEAD) % BAND_ROWS, away, lane);
      if (r + 1 < BAND_ROWS)
        cuda_sync_warps ();
    }
    signal_neighbours (w, band);
  }
}

/* Block: a strip, of w.columns warps for its columns and HALO_WARPS warps for the columns beside. Shared memory: Slots,
 * then a RowRing a warp. A warp copies and stores a whole column of the volume in each row. */
template <int PAIRS, int STRIPS> __global__ void __launch_bounds__ (32 * (MAX_COLUMNS / STRIPS + HALO_WARPS), STRIPS)
    sweep_kernel (Sgm s, Sweep w)
{
  extern __shared__ uint4 shared[];
  uint32_t *words = (uint32_t *) shared;
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;

  for (int n = threadIdx.x; n < Slots<PAIRS>::words; n += blockDim.x)
    words[n] = 0; /* outside the picture these words stay 0 */
  __syncthreads ();
  if (warp < w.columns)
    strip_warp<PAIRS> (s, w, words, warp, lane);
  else
    halo_warp<PAIRS> (s, w, words, warp - w.columns, lane);
}

/* ---- launches --------------------------------------------------------------------------------------- */

static int
pairs_of (const StereoPlan *plan)
{
  return plan->depth <= 64 ? 1 : plan->depth <= 128 ? 2 : 4;
}

/* Strips of a multiprocessor: two if registers and memory allow it and each is wide enough to be worth its halo. */
static int
strips_of (const StereoPlan *plan)
{
  int here = cuda_state (plan)->multiprocessors;
  bool wide = plan->width > 8 * here, fit = plan->width <= MAX_COLUMNS / 2 * MAX_STRIPS * here;
  return pairs_of (plan) <= 2 && wide && fit ? MAX_STRIPS : 1;
}

/* Columns of a strip, such that all strips run at once if they fit. */
static int
columns_of (const StereoPlan *plan)
{
  int strips = strips_of (plan) * cuda_state (plan)->multiprocessors, most = MAX_COLUMNS / strips_of (plan);
  int columns = (plan->width + strips - 1) / strips;
  return columns < 4 ? 4 : columns > most ? most : columns;
}

/* Where the scratch memory holds what, in words of 32 bits. */
struct ScratchLayout
{
  size_t border, border_low; /* see Sweep; before them, progress of the strips on the way down, and on the way up */
  size_t words;              /* of all */
};

static ScratchLayout
scratch_layout (const StereoPlan *plan)
{
  size_t border = stereo_round_up (2 * (size_t) cuda_blocks (plan->width, columns_of (plan)), 64);
  size_t columns = (size_t) 2 * WAYS * (size_t) plan->width,
         border_low = border + columns * 32 * (size_t) pairs_of (plan);
  return { border, border_low, border_low + columns };
}

template <int PAIRS, int STRIPS> static StereoStatus
launch_sweep (StereoPlan *plan, uint32_t *scratch, const Sgm &s, int up, int last, StereoError *error)
{
  const CudaState *state = cuda_state (plan);
  int columns = columns_of (plan), bands = (s.height + BAND_ROWS - 1) / BAND_ROWS, resident = 0;
  ScratchLayout layout = scratch_layout (plan);
  void (*kernel) (Sgm, Sweep) = sweep_kernel<PAIRS, STRIPS>;
  unsigned strips = cuda_blocks (s.width, columns), threads = 32 * (columns + HALO_WARPS);
  size_t shared = Slots<PAIRS>::words * sizeof (uint32_t) + (size_t) (threads / 32) * ROWS_AHEAD * RowRing<PAIRS>::row;
  Sweep w = { up, last, columns, 0, bands, {}, scratch + layout.border, scratch + layout.border_low,
    (int *) scratch + (up ? strips : 0) };
  static const int penalties[2][WAYS] = { { SGM_FALLING, SGM_RISING, SGM_VERTICAL },
    { SGM_RISING, SGM_FALLING, SGM_VERTICAL } };

  for (int way = 0; way < WAYS; way++)
    w.penalties[way] = s.penalties[penalties[up][way]];
  CUDA_TRY (cudaFuncSetAttribute (kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int) shared));
  CUDA_TRY (cudaOccupancyMaxActiveBlocksPerMultiprocessor (&resident, kernel, (int) threads, shared));
  if ((int) strips <= resident * state->multiprocessors) {
    void *arguments[] = { (void *) &s, (void *) &w };
    CUDA_TRY (cudaMemsetAsync (w.progress, 0, strips * sizeof (int), state->stream));
    CUDA_TRY (cudaLaunchCooperativeKernel (kernel, dim3 (strips), dim3 (threads), arguments, shared, state->stream));
    CUDA_LAUNCHED (plan, "sweep_kernel");
    return STEREO_OK;
  }
  for (w.band = 0, w.bands = 1; w.band < bands; w.band++) {
    kernel<<<strips, threads, shared, state->stream>>> (s, w);
    CUDA_LAUNCHED (plan, "sweep_kernel");
  }
  return STEREO_OK;
}

}

int
sgm_can_sweep (const StereoPlan *plan)
{
  return plan->params.paths == 8 && plan->depth <= 256 && !plan->path_weighted;
}

StereoStatus
sgm_sweep_prepare (StereoPlan *plan, void **scratch, StereoError *error)
{
  return stereo_reserve (plan, scratch, scratch_layout (plan).words, sizeof (uint32_t), error);
}

StereoStatus
sgm_sweep (StereoPlan *plan, void *memory, const Sgm &s, int up, int last, StereoError *error)
{
  uint32_t *scratch = (uint32_t *) memory;
  bool two = strips_of (plan) == MAX_STRIPS;

  if (pairs_of (plan) == 4)
    return launch_sweep<4, 1> (plan, scratch, s, up, last, error);
  if (pairs_of (plan) == 2)
    return two ? launch_sweep<2, MAX_STRIPS> (plan, scratch, s, up, last, error) :
                 launch_sweep<2, 1> (plan, scratch, s, up, last, error);
  return two ? launch_sweep<1, MAX_STRIPS> (plan, scratch, s, up, last, error) :
               launch_sweep<1, 1> (plan, scratch, s, up, last, error);
}
