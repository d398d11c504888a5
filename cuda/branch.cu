/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Branches: kernels that run beside those of the steps, because neither needs the other's results. The plan says which. */
#include "cuda/common.cuh"

namespace
{

static CudaBranch *
branch_of (const StereoPlan *plan, int branch)
{
  return &cuda_state (plan)->branch[branch - 1];
}

/* The stream of @branch, which begins where it was forked. */
static StereoStatus
begin (const StereoPlan *plan, StereoBranch branch, cudaStream_t *stream, StereoError *error)
{
  CudaBranch *b = branch_of (plan, branch);

  CUDA_TRY (cudaStreamWaitEvent (b->stream, b->fork, 0));
  b->open = true;
  *stream = b->stream;
  return STEREO_OK;
}

}

StereoStatus
cuda_open_branches (StereoPlan *plan, StereoError *error)
{
  for (CudaBranch &b : cuda_state (plan)->branch) {
    CUDA_TRY (cudaStreamCreateWithFlags (&b.stream, cudaStreamNonBlocking));
    CUDA_TRY (cudaEventCreateWithFlags (&b.fork, cudaEventDisableTiming));
    CUDA_TRY (cudaEventCreateWithFlags (&b.done, cudaEventDisableTiming));
  }
  return STEREO_OK;
}

void
cuda_close_branches (StereoPlan *plan)
{
  for (CudaBranch &b : cuda_state (plan)->branch) {
    if (b.fork)
      cudaEventDestroy (b.fork);
    if (b.done)
      cudaEventDestroy (b.done);
    if (b.stream)
      cudaStreamDestroy (b.stream);
  }
}

StereoStatus
cuda_fork (StereoPlan *plan, unsigned branches, StereoError *error)
{
  for (int branch = 1; branch < STEREO_BRANCHES; branch++)
    if (branches >> branch & 1)
      CUDA_TRY (cudaEventRecord (branch_of (plan, branch)->fork, cuda_state (plan)->stream));
  return STEREO_OK;
}

StereoStatus
cuda_begin_early (StereoPlan *plan, cudaStream_t *stream, StereoError *error)
{
  StereoBranch branch = plan->steps[plan->step].early;

  *stream = cuda_state (plan)->stream;
  return branch ? begin (plan, branch, stream, error) : STEREO_OK;
}

StereoStatus
cuda_begin_late (StereoPlan *plan, cudaStream_t *stream, StereoError *error)
{
  StereoBranch branch = plan->steps[plan->step].late;
  StereoStatus status;

  *stream = cuda_state (plan)->stream;
  if (!branch)
    return STEREO_OK;
  status = cuda_fork (plan, 1u << branch, error);
  return status ? status : begin (plan, branch, stream, error);
}

StereoStatus
cuda_join (StereoPlan *plan, StereoError *error)
{
  for (int branch = 1; branch < STEREO_BRANCHES; branch++) {
    CudaBranch *b = branch_of (plan, branch);
    if (!b->open || !(plan->steps[plan->step].joins >> branch & 1))
      continue;
    b->open = false;
    CUDA_TRY (cudaEventRecord (b->done, b->stream));
    CUDA_TRY (cudaStreamWaitEvent (cuda_state (plan)->stream, b->done, 0));
  }
  return STEREO_OK;
}
