/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Costs of paths: the stages of semi-global matching, and of the smoothing after another method. Costs come first. Four paths
 * whose costs fit bytes are found together (crossed.cu). Else rows come both ways, then either columns both ways, or all
 * directions from above and all from below (sweep.cu). The kernel of this file is for searches that are too deep for
 * sweep.cu, and for weighted paths: it does one diagonal direction after the other, with a warp for each line.
 */
#include "cuda/cost.cuh"
#include "cuda/post/select.cuh"
#include "cuda/sgm/costs.cuh"
#include "cuda/sgm/paths.cuh"

namespace
{

constexpr int THREADS = 128;

/* A step along the line, and the direction whose penalties it takes. */
struct Way
{
  int dx, dy, penalties;
  uint32_t unit; /* of the direction: see Sgm */
};

const Way ways[] = {
  { -1, 1, SGM_RISING, 0 },
  { 1, -1, SGM_RISING, 0 },
  { 1, 1, SGM_FALLING, 0 },
  { -1, -1, SGM_FALLING, 0 },
};

/* A pixel of a diagonal line. A line that leaves the picture at one side continues at the other side as a new path. */
struct Place
{
  int x;
  size_t column; /* elements */
};

__device__ __forceinline__ bool
advance (Place &p, const Sgm &s, const Way &w)
{
  p.x += w.dx;
  p.column += (ptrdiff_t) (w.dy * s.width + w.dx) * s.depth;
  bool left = p.x < 0, right = p.x >= s.width;
  if (left || right) {
    p.x += left ? s.width : -s.width;
    p.column += (ptrdiff_t) (left ? s.width : -s.width) * s.depth;
  }
  return left || right;
}

/* Warp: a diagonal line, which starts at column @line of the first row. LAST: marks the missing candidates. Costs and
 * sums of AHEAD pixels are loaded to registers ahead. */
template <int PAIRS, bool LAST> __global__ void
__launch_bounds__ (THREADS) line_kernel (Sgm s, Way w)
{
  constexpr int AHEAD = PAIRS <= 4 ? 6 : PAIRS == 8 ? 4 : 2; /* pixels whose costs and sums are being loaded */
  int line = blockIdx.x * (THREADS / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  int steps = s.height;
  uint32_t path[PAIRS] = { 0 }, lowest = 0;
  uint32_t sums[AHEAD][PAIRS];
  RawCosts<PAIRS> raw[AHEAD];
  LumaStep steps_ahead[AHEAD];
  int y = w.dy > 0 ? 0 : s.height - 1, y_next = y;
  Penalties penalties = s.penalties[w.penalties];
  Borders borders = borders_of (lane);
  Mask<PAIRS> mask;
  Place here, next;
  Share share = share_of<PAIRS> (lane, s.depth);

  if (line >= s.width)
    return;
  here.x = line;
  here.column = ((size_t) (w.dy > 0 ? 0 : s.height - 1) * s.width + here.x) * s.depth;
  next = here;
  mask.first = mask.last = -1;
#pragma unroll
  for (int k = 0; k < AHEAD; k++)
    if (k < steps) {
      load_costs (raw[k], s.costs + next.column + share.first, share);
      load_sums (sums[k], s.volume + next.column + share.first, share);
      steps_ahead[k] = load_step (s, next.x, y_next, next.x - w.dx, y_next - w.dy);
      y_next += w.dy;
      advance (next, s, w);
    }
  for (int n = 0; n < steps; n += AHEAD)
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
      if (n + k >= steps)
        break;
      uint32_t cost[PAIRS], sum[PAIRS];
      spread_costs (cost, raw[k], w.unit);
#pragma unroll
      for (int p = 0; p < PAIRS; p++)
        sum[p] = sums[k][p];
      set_mask (mask, s, here.x, lane);
      extend_path (path, lowest, cost, penalties, is_step (s, steps_ahead[k]), s.rounding, borders);
#pragma unroll
      for (int p = 0; p < PAIRS; p++)
        sum[p] = (sum[p] + path[p]) | (LAST ? mask.pair[p] : 0);
      store_sums (s.volume + here.column + share.first, sum, share);
      if (n + k + AHEAD < steps) {
        load_costs (raw[k], s.costs + next.column + share.first, share);
        load_sums (sums[k], s.volume + next.column + share.first, share);
        steps_ahead[k] = load_step (s, next.x, y_next, next.x - w.dx, y_next - w.dy);
        y_next += w.dy;
        advance (next, s, w);
      }
      hide_missing (path, mask);
      lowest = lowest_of (path);
      open_outside (path, lowest, mask, s, lane);
      if (advance (here, s, w)) {
        lowest = 0;
#pragma unroll
        for (int p = 0; p < PAIRS; p++)
          path[p] = 0;
      }
    }
}

template <int PAIRS> static StereoStatus
launch_lines (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  int count = sizeof ways / sizeof *ways;

  for (int n = 0; n < count; n++) {
    Way w = ways[n];
    w.unit = s.units[w.penalties];
    unsigned blocks = cuda_blocks (s.width, THREADS / 32);
    if (n < count - 1)
      line_kernel<PAIRS, false><<<blocks, THREADS, 0, cuda_state (plan)->stream>>> (s, w);
    else
      line_kernel<PAIRS, true><<<blocks, THREADS, 0, cuda_state (plan)->stream>>> (s, w);
    CUDA_LAUNCHED (plan, "line_kernel");
  }
  return STEREO_OK;
}

/* ---- stage ------------------------------------------------------------------------------------ */

/* Scratch memory of a stage. */
struct SgmContext
{
  uint8_t *costs; /* in the order of the volume */
  bool products;  /* of bits make them: see census_costs.cu */
  SgmCrossed crossed;
  void *sweep; /* of sweep.cu, which alone knows its layout */
};

static Sgm
sgm_of (const StereoPlan *plan, const SgmContext *context)
{
  Sgm s = { plan->width, plan->height, plan->min_disparity, plan->disparities, plan->depth, (uint32_t) plan->path_unit,
    0, {}, {}, {}, plan->params.method == STEREO_METHOD_SGM && !plan->path_weighted, false, context->costs,
    plan->volume, context->crossed.third, context->crossed.halfway, plan->view[STEREO_LEFT].luma, plan->image_pitch,
    plan->params.penalty_step > 0 ? plan->params.penalty_step : 256 };
  int step = 1 << plan->path_round;
  while (1u << s.unit_bits < s.unit)
    s.unit_bits++;
  int largest = 0;
  s.rounding = { 0x10001u * (uint32_t) (step >> 1), 0x10001u * (uint16_t) -step, plan->path_round };
  for (int r = 0; r < SGM_DIRECTIONS; r++) {
    int small = stereo_plan_penalty (plan, r, 0), large = stereo_plan_penalty (plan, r, 1);
    largest = large > largest ? large : largest;
    s.units[r] = (uint32_t) plan->path_units[r];
    s.penalties[r] = { { 0x10001u * (uint32_t) small, 0x10001u * (uint32_t) stereo_path_halved (small) },
      { 0x10001u * (uint32_t) large, 0x10001u * (uint32_t) stereo_path_halved (large) } };
  }
  s.fits_byte = plan->params.method != STEREO_METHOD_SGM && !plan->path_weighted && largest / plan->path_unit <= 255;
  return s;
}

static bool
crosses (const StereoPlan *plan, const Sgm &s)
{
  return plan->params.paths == 4 && (s.fits_bytes || s.fits_byte);
}

static const SgmContext no_context = {};

static StereoStatus
sgm_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  SgmContext *context = (SgmContext *) data;
  Sgm s = sgm_of (plan, context);
  StereoStatus status = stereo_reserve_for (plan, STEREO_LIFE_COSTS, (void **) &context->costs,
      (size_t) plan->width * (size_t) plan->height, (size_t) plan->depth, error);

  if (status || (status = sgm_census_prepare (plan, &context->products, error)))
    return status;
  if (crosses (plan, s))
    return sgm_crossed_prepare (plan, &context->crossed, s, error);
  return sgm_can_sweep (plan) ? sgm_sweep_prepare (plan, &context->sweep, error) : STEREO_OK;
}

/* From the costs to the volume. */
static StereoStatus
sum_paths (StereoPlan *plan, const SgmContext *context, const Sgm &s, StereoError *error)
{
  StereoStatus status;

  if (crosses (plan, s))
    return sgm_crossed (plan, s, error);
  if ((status = sgm_rows (plan, s, error)))
    return status;
  if (plan->params.paths == 4)
    return sgm_columns (plan, s, true, error);
  if (!sgm_can_sweep (plan))
    return (status = sgm_columns (plan, s, false, error)) ? status :
                                                            SGM_FOR_DEPTH (s.depth, launch_lines, plan, s, error);
  status = sgm_sweep (plan, context->sweep, s, 0, 0, error);
  return status ? status : sgm_sweep (plan, context->sweep, s, 1, 1, error);
}

static StereoStatus
sgm_run (StereoPlan *plan, void *data, StereoError *error)
{
  const SgmContext *context = (const SgmContext *) data;
  Sgm s = sgm_of (plan, context);
  StereoStatus status = context->products ? sgm_make_census_costs (plan, s, error) : sgm_make_costs (plan, s, error);
  return status ? status : sum_paths (plan, context, s, error);
}

static StereoStatus
paths_run (StereoPlan *plan, void *data, StereoError *error)
{
  const SgmContext *context = (const SgmContext *) data;
  Sgm s = sgm_of (plan, context);
  StereoStatus status = sgm_path_costs (plan).costs ? STEREO_OK : sgm_costs_of_volume (plan, s, error);
  return status ? status : sum_paths (plan, context, s, error);
}

const StereoStage sgm = { .name = "match", .context_size = sizeof (SgmContext), .prepare = sgm_prepare, .run = sgm_run };

}

const StereoStage stereo_cuda_paths = {
  .name = "paths", .context_size = sizeof (SgmContext), .prepare = sgm_prepare, .run = paths_run
};

/* With fewer warps on a multiprocessor, the last paths wait for their own chain of operations, and selecting makes it longer. */
static bool
rows_fill (const StereoPlan *plan)
{
  return 2 * plan->height >= 14 * cuda_state (plan)->multiprocessors;
}

bool
sgm_selects (const StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  const CudaState *state = cuda_state (plan);
  bool runs = p->method == STEREO_METHOD_SGM || p->paths != STEREO_PATHS_NONE;

  return runs && crosses (plan, sgm_of (plan, &no_context)) && sgm_winners_fit (plan->depth) &&
      p->support != STEREO_SUPPORT_OWN && (state->all_fusion || (rows_fill (plan) && !state->no_fusion));
}

PathCosts
sgm_path_costs (const StereoPlan *plan)
{
  const StereoParams *p = &plan->params;
  const SgmContext *context = (const SgmContext *) cuda_context_of (plan, &stereo_cuda_paths);
  bool writes = p->method == STEREO_METHOD_ASW && p->support != STEREO_SUPPORT_BOTH &&
      p->aggregation == STEREO_AGGREGATION_TWO_PASS && !cuda_state (plan)->no_fusion;

  if (!context || !writes)
    return {};
  return { context->costs, 0x10001u * (255u << plan->path_shift), 0x10001u * (1u << plan->path_shift >> 1),
    plan->path_shift };
}

const StereoStage *
stereo_cuda_sgm (const StereoParams *params)
{
  return takes_cost (STEREO_METHOD_SGM, params->cost) ? &sgm : NULL;
}
