/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Branches: kernels that run beside those of the steps, because neither needs the other's results. */
#include "cuda/common.cuh"

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
cuda_fork (StereoPlan *plan, CudaBranchName name, StereoError *error)
{
  CUDA_TRY (cudaEventRecord (cuda_state (plan)->branch[name].fork, cuda_state (plan)->stream));
  return STEREO_OK;
}

StereoStatus
cuda_begin_branch (StereoPlan *plan, CudaBranchName name, cudaStream_t *stream, StereoError *error)
{
  CudaBranch *b = &cuda_state (plan)->branch[name];

  CUDA_TRY (cudaStreamWaitEvent (b->stream, b->fork, 0));
  b->open = true;
  *stream = b->stream;
  return STEREO_OK;
}

StereoStatus
cuda_join (StereoPlan *plan, CudaBranchName name, StereoError *error)
{
  CudaBranch *b = &cuda_state (plan)->branch[name];

  if (!b->open)
    return STEREO_OK;
  b->open = false;
  CUDA_TRY (cudaEventRecord (b->done, b->stream));
  CUDA_TRY (cudaStreamWaitEvent (cuda_state (plan)->stream, b->done, 0));
  return STEREO_OK;
}
