/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Temporal: both views are averaged over time where they stand still, by the rules of exact/temporal.h. The past lies in
 * device memory, in the frame state: a captured frame reads what the one before it left there.
 */
#include "cuda/temporal/temporal.cuh"

namespace
{

static StereoStatus
temporal_prepare (StereoPlan *plan, void *context, StereoError *error)
{
  TemporalContext *c = (TemporalContext *) context;
  StereoStatus status = STEREO_OK;

  c->most = stereo_temporal_most (plan->params.temporal);
  for (int view = 0; view < 2 && !status; view++)
    status = stereo_reserve_for (plan, STEREO_LIFE_MATCH, (void **) &c->change[view],
        stereo_times ((size_t) plan->map_pitch, (size_t) plan->height), sizeof *c->change[view], error);
  return status ? status : stereo_reserve (plan, (void **) &c->measured, 2, sizeof *c->measured, error);
}

static StereoStatus
temporal_run (StereoPlan *plan, void *context, StereoError *error)
{
  const TemporalContext *c = (const TemporalContext *) context;
  Frame f = cuda_frame (plan);
  TemporalWork w = { { plan->past[0], plan->past[1] }, { c->change[0], c->change[1] }, c->measured, plan->last.noise,
    c->most };
  StereoStatus status = cuda_temporal_changes (plan, f, w, error);

  if (!status)
    status = cuda_temporal_blend (plan, f, w, error);
  return status;
}

}

extern const StereoStage stereo_cuda_temporal = {
  .name = "temporal",
  .context_size = sizeof (TemporalContext),
  .prepare = temporal_prepare,
  .run = temporal_run,
};
