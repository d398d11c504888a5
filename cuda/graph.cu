/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The steps of a frame as one CUDA graph: dozens of small launches become one.
 *
 * The steps are captured for the first slot when the plan is made, and for the other slot when it is first used. They are
 * captured again when the caller asks for samples of another type, and for the first frame whose right view has to be aligned. The
 * arguments of the kernels are then fixed. The images are the one exception: when they have moved, load's kernel gets their new
 * place. A stage's run must not change anything on the host that a later frame reads: capture() checks this.
 */
#include "cuda/common.cuh"

#include <stdio.h>
#include <string.h>

/* FNV-1a over @size bytes from @data on, continued from @sum. */
static uint64_t
hash_bytes (uint64_t sum, const void *data, size_t size)
{
  for (size_t n = 0; n < size; n++)
    sum = (sum ^ ((const uint8_t *) data)[n]) * 0x100000001B3u;
  return sum;
}

/* Hash of a plan, and of those of its levels. */
static uint64_t
hash_plan (uint64_t sum, const StereoPlan *plan)
{
  sum = hash_bytes (sum, plan->view, sizeof plan->view);
  sum = hash_bytes (sum, &plan->volume, sizeof plan->volume);
  sum = hash_bytes (sum, &plan->fusion, sizeof plan->fusion);
  sum = hash_bytes (sum, &plan->disparity, sizeof plan->disparity);
  for (int i = 0; i < plan->step_count; i++)
    if (plan->steps[i].context)
      sum = hash_bytes (sum, plan->steps[i].context, plan->steps[i].stage->context_size);
  return plan->coarse ? hash_plan (sum, plan->coarse) : sum;
}

/* Hash of all that stages read on the host: a graph would not see that it changes. */
static uint64_t
hash_host_state (const StereoPlan *plan)
{
  return hash_plan (hash_bytes (0xCBF29CE484222325u, cuda_state (plan), sizeof (CudaState)), plan);
}

void
cuda_free_graph (CudaGraph *graph)
{
  if (graph->launchable)
    cudaGraphExecDestroy (graph->launchable);
  if (graph->steps)
    cudaGraphDestroy (graph->steps);
  *graph = {};
}

/* Captures the steps as they are now into @graph, which is empty. */
static StereoStatus
capture (StereoPlan *plan, CudaGraph *graph, StereoError *error)
{
  cudaStream_t stream = cuda_state (plan)->stream;
  uint64_t before = hash_host_state (plan);
  size_t count = 1; /* load is the first step, and no other one can begin before it */

  /* relaxed: other threads may use the device meanwhile, and this one may load kernels */
  CUDA_TRY (cudaStreamBeginCapture (stream, cudaStreamCaptureModeRelaxed));
  StereoStatus status = stereo_run_steps (plan, 0, plan->step_count, error);
  if (!status && hash_host_state (plan) != before)
    status = stereo_fail (error, STEREO_ERROR_BACKEND, "A stage changes state on the host from frame to frame.");
  cudaError_t code = cudaStreamEndCapture (stream, &graph->steps);
  if (!status && code == cudaSuccess)
    code = cudaGraphGetRootNodes (graph->steps, &graph->load, &count);
  if (!status && code == cudaSuccess)
    code = cudaGraphInstantiateWithFlags (&graph->launchable, graph->steps, cudaGraphInstantiateFlagUseNodePriority);
  cudaGetLastError ();
  memcpy (graph->source, cuda_state (plan)->source, sizeof graph->source);
  graph->sample = plan->output.sample;
  graph->aligns = plan->align.active;
  graph->first_view = cuda_state (plan)->first_view;
  return status || code == cudaSuccess ? status : cuda_fail (error, code, "capture", __FILE__, __LINE__);
}

void
cuda_make_graph (StereoPlan *plan)
{
  CudaState *state = cuda_state (plan);
  CudaGraph *graph = &state->slot[plan->slot].graph;
  StereoError error = { STEREO_OK, "" };
  size_t end = strlen (plan->reason);

  plan->output.sample = STEREO_SAMPLE_U16; /* the usual type */
  state->first_view = state->views = 1;    /* the usual way: the views are copied */
  if (state->debug_sync)
    stereo_fail (&error, STEREO_ERROR_BACKEND, "STEREO_DEBUG_SYNC is set.");
  else if (state->no_graph)
    stereo_fail (&error, STEREO_ERROR_BACKEND, "STEREO_CUDA_GRAPH is 0.");
  else
    capture (plan, graph, &error);
  state->has_graph = !error.status;
  if (state->has_graph)
    snprintf (plan->reason + end, sizeof plan->reason - end, " Frames run as one CUDA graph.");
  else
    snprintf (plan->reason + end, sizeof plan->reason - end, " Kernels are launched one by one: %.300s", error.message);
  end = strlen (plan->reason);
  if (state->fault_at)
    snprintf (plan->reason + end, sizeof plan->reason - end, " STEREO_TEST_FAULT is set: frame %u will fail.",
        state->fault_at);
}

/* A profiled frame runs step by step: the times of stages need marks between them. */
StereoStatus
cuda_run (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);
  CudaGraph *graph = &state->slot[plan->slot].graph;
  StereoStatus status;

  if (state->fault_at && state->fault_at == plan->submitted && (status = cuda_fault (plan, error)))
    return status;
  state->first_view = state->views == 2 ? STEREO_LEFT : STEREO_RIGHT;
  if (!state->has_graph || plan->profiling)
    return stereo_run_steps (plan, 0, plan->step_count, error);
  if (!graph->launchable || graph->sample != plan->output.sample || graph->first_view != state->first_view ||
      (plan->align.active && !graph->aligns)) {
    cuda_free_graph (graph);
    if ((status = capture (plan, graph, error)))
      return status;
  }
  if (memcmp (graph->source, state->source, sizeof graph->source)) {
    CUDA_TRY (cuda_load_source (plan, graph->launchable, graph->load));
    memcpy (graph->source, state->source, sizeof graph->source);
  }
  CUDA_TRY (cudaGraphLaunch (graph->launchable, state->stream));
  return STEREO_OK;
}

/* Branches: kernels that run beside those of the steps, because neither needs the other's results. The plan says which. */

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
