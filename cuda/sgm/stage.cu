/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Costs of paths: the stages of semi-global matching, and of the smoothing after another method. Costs come first. Paths whose
 * costs fit bytes are found together (crossed.cu), others one direction after the other (pairs.cu).
 */
#include "cuda/cost.cuh"
#include "cuda/sgm/paths.cuh"

namespace
{

/* Scratch memory of a stage. */
struct SgmContext
{
  bool products; /* of bits make the costs: see costs.cu */
  uint8_t *sets; /* see Sgm */
  uint32_t *halfway;
};

/* Where candidates are missing, a pixel takes about 1.6 times as long. */
static int
middle_of (const StereoPlan *plan)
{
  int edge = plan->min_disparity + plan->disparities - 1;
  edge = edge < 0 ? 0 : edge > plan->width ? plan->width : edge;
  return (plan->width + 1) / 2 - 3 * edge / 10;
}

static Sgm
sgm_of (const StereoPlan *plan, const SgmContext *context)
{
  Sgm s = { plan->width, plan->height, plan->min_disparity, plan->disparities, plan->depth, middle_of (plan),
    (uint32_t) plan->path_unit, 0, {}, {}, {}, plan->fusion.path_sums == STEREO_PATHS_ADD_ROUNDED,
    plan->fusion.path_sums == STEREO_PATHS_ADD_BYTES, cuda_state (plan)->path_costs, plan->volume, context->sets,
    context->halfway, plan->view[STEREO_LEFT].luma, plan->image_pitch,
    plan->params.penalty_step > 0 ? plan->params.penalty_step : 256 };
  int step = 1 << plan->path_round;
  while (1u << s.unit_bits < s.unit)
    s.unit_bits++;
  s.rounding = { 0x10001u * (uint32_t) (step >> 1), 0x10001u * (uint16_t) -step, plan->path_round };
  for (int r = 0; r < SGM_DIRECTIONS; r++) {
    int small = stereo_plan_penalty (plan, r, 0), large = stereo_plan_penalty (plan, r, 1);
    s.units[r] = (uint32_t) plan->path_units[r];
    s.penalties[r] = { { 0x10001u * (uint32_t) small, 0x10001u * (uint32_t) stereo_path_halved (small) },
      { 0x10001u * (uint32_t) large, 0x10001u * (uint32_t) stereo_path_halved (large) } };
  }
  return s;
}

/* What is kept of paths, besides the volume. */
static StereoStatus
reserve_paths (StereoPlan *plan, SgmContext *context, const Sgm &s, StereoError *error)
{
  size_t candidates = s.depth > 32 ? 2 * (size_t) s.depth : 64; /* of a group of lanes, at most */
  size_t lines = (size_t) (plan->width > plan->height ? plan->width : plan->height);
  size_t sets = sgm_selects (plan) ? WINNER_MORE : s.fits_byte ? 1 : s.fits_bytes && plan->params.paths == 8 ? 2 : 0;
  StereoStatus status = STEREO_OK;

  if (plan->fusion.match_for_keep)
    status = stereo_reserve_for (plan, STEREO_LIFE_COSTS, (void **) &cuda_state (plan)->means,
        (size_t) plan->width * (size_t) plan->height, sizeof (uint16_t) * (size_t) plan->depth, error);
  if (plan->fusion.paths_together && !sgm_selects (plan))
    status = stereo_reserve_for (
        plan, STEREO_LIFE_PATHS, (void **) &context->halfway, lines * 2, candidates * sizeof (uint16_t), error);
  return status || !sets ? status :
                           stereo_reserve_for (plan, STEREO_LIFE_PATHS, (void **) &context->sets,
                               (size_t) plan->width * (size_t) plan->height, sets * (size_t) plan->depth, error);
}

static StereoStatus
sgm_prepare (StereoPlan *plan, void *data, StereoError *error)
{
  SgmContext *context = (SgmContext *) data;
  StereoStatus status = stereo_reserve_for (plan, STEREO_LIFE_COSTS, (void **) &cuda_state (plan)->path_costs,
      (size_t) plan->width * (size_t) plan->height, (size_t) plan->depth, error);

  if (!status)
    status = sgm_census_prepare (plan, &context->products, error);
  return status ? status : reserve_paths (plan, context, sgm_of (plan, context), error);
}

/* From the costs to the volume. */
static StereoStatus
sum_paths (StereoPlan *plan, const Sgm &s, StereoError *error)
{
  return sgm_selects (plan)       ? sgm_winner (plan, s, error) :
      plan->fusion.paths_together ? sgm_crossed (plan, s, error) :
                                    sgm_pairs (plan, s, error);
}

static StereoStatus
sgm_run (StereoPlan *plan, void *data, StereoError *error)
{
  const SgmContext *context = (const SgmContext *) data;
  Sgm s = sgm_of (plan, context);
  StereoStatus status = context->products ? sgm_make_census_costs (plan, s, error) : sgm_make_costs (plan, s, error);
  return status ? status : sum_paths (plan, s, error);
}

static StereoStatus
paths_run (StereoPlan *plan, void *data, StereoError *error)
{
  const SgmContext *context = (const SgmContext *) data;
  Sgm s = sgm_of (plan, context);
  bool done = plan->fusion.match_for_paths || plan->fusion.keep_for_paths;
  StereoStatus status = done ? STEREO_OK : sgm_costs_of_volume (plan, s, error);
  return status ? status : sum_paths (plan, s, error);
}

const StereoStage sgm = { .name = "match", .context_size = sizeof (SgmContext), .prepare = sgm_prepare, .run = sgm_run };

}

const StereoStage stereo_cuda_paths = {
  .name = "paths", .context_size = sizeof (SgmContext), .prepare = sgm_prepare, .run = paths_run
};

const StereoStage *
stereo_cuda_sgm (const StereoParams *params)
{
  return takes_cost (STEREO_METHOD_SGM, params->cost) ? &sgm : NULL;
}
