/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exponential step size adaptive weight: stage.cuh without messages. */
#include "cuda/exponential/kernel.cuh"

namespace
{

constexpr int MOST_LANES = 8; /* of a pixel */

/* Candidates are independent: the number of blocks that share the candidates of a pixel leaves few lanes idle. */
static int
lanes_of (const StereoPlan *plan)
{
  int vectors = plan->depth / 8;
  return (int) cuda_blocks (vectors, cuda_blocks (vectors, MOST_LANES));
}

static StereoStatus
esaw_run (StereoPlan *plan, void *context, StereoError *error)
{
  int lanes = lanes_of (plan);
  return exponential_run (
      plan, (const ExponentialContext *) context, exponential_launch<1, false>, lanes, 8 * lanes, error);
}

}

static const StereoStage esaw = {
  .name = "match", .context_size = sizeof (ExponentialContext), .prepare = exponential_prepare, .run = esaw_run
};

const StereoStage *
stereo_cuda_esaw (const StereoParams *params)
{
  return takes_cost (STEREO_METHOD_ESAW, params->cost) ? &esaw : NULL;
}
