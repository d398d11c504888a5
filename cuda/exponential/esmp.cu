/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Exponential step size message propagation: stage.cuh with messages, all candidates of a pixel in one warp. */
#include "cuda/exponential/kernel.cuh"

namespace
{

/* Vectors of eight candidates a lane: 32 lanes hold all depths there are, up to 1024. */
static int
vectors_of (const StereoPlan *plan)
{
  return plan->depth <= 256 ? 1 : plan->depth <= 512 ? 2 : 4;
}

/* A power of two, so that no pixel's lanes are in two warps. */
static int
lanes_of (const StereoPlan *plan)
{
  int lanes = 2;
  while (lanes * vectors_of (plan) * 8 < plan->depth)
    lanes *= 2;
  return lanes;
}

static StereoStatus
esmp_run (StereoPlan *plan, void *context, StereoError *error)
{
  int lanes = lanes_of (plan), vectors = vectors_of (plan);
  ExponentialLaunch launch = vectors == 1 ? exponential_launch<1, true> :
      vectors == 2                        ? exponential_launch<2, true> :
                                            exponential_launch<4, true>;

  return exponential_run (plan, (const ExponentialContext *) context, launch, lanes, 8 * vectors * lanes, error);
}

}

static const StereoStage esmp = {
  .name = "match", .context_size = sizeof (ExponentialContext), .prepare = exponential_prepare, .run = esmp_run
};

const StereoStage *
stereo_cuda_esmp (const StereoParams *params)
{
  return takes_cost (STEREO_METHOD_ESMP, params->cost) ? &esmp : NULL;
}
