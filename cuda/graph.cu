/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The steps of a frame as one CUDA graph: dozens of small launches become one.
 *
 * Captured when the plan is made. What kernels take by value is then fixed, so the first step (the images) and the
 * last one (the sample type, and the wait for the download before) stay outside. A stage's run may change nothing on
 * the host that a later frame reads: this is checked.
 */
#include "cuda/common.cuh"

#include <stdio.h>
#include <string.h>

static int
same_host_state (const StereoPlan *plan, const StereoPlan *before, const CudaState *state)
{
  return !memcmp (plan->view, before->view, sizeof plan->view) && plan->volume == before->volume &&
      plan->disparity == before->disparity && !memcmp (cuda_state (plan), state, sizeof *state);
}

/* The steps between the first and the last as a graph to launch; NULL and a sentence when that cannot be. */
static cudaGraphExec_t
capture (StereoPlan *plan, char *reason, size_t size)
{
  cudaStream_t stream = cuda_state (plan)->stream;
  CudaState state = *cuda_state (plan);
  StereoPlan before = *plan;
  StereoError error = { STEREO_OK, "" };
  cudaGraphExec_t launchable = NULL;
  cudaGraph_t graph = NULL;
  /* relaxed: other threads, and the loading of kernels on this one, go on as they like */
  cudaError_t code = cudaStreamBeginCapture (stream, cudaStreamCaptureModeRelaxed);

  if (code == cudaSuccess) {
    stereo_run_steps (plan, 1, plan->step_count - 1, &error);
    code = cudaStreamEndCapture (stream, &graph);
  }
  if (error.status)
    snprintf (reason, size, "%s", error.message);
  else if (code == cudaSuccess && !same_host_state (plan, &before, &state))
    snprintf (reason, size, "A stage keeps something on the host from frame to frame.");
  else if (code == cudaSuccess)
    code = cudaGraphInstantiateWithFlags (&launchable, graph, 0);
  if (code != cudaSuccess && !error.status)
    snprintf (reason, size, "CUDA: %s (%s).", cudaGetErrorString (code), cudaGetErrorName (code));
  if (graph)
    cudaGraphDestroy (graph);
  cudaGetLastError ();
  return launchable;
}

void
cuda_make_graph (StereoPlan *plan)
{
  CudaState *state = cuda_state (plan);
  char reason[256] = "";
  size_t end = strlen (plan->reason);

  if (state->debug_sync)
    snprintf (reason, sizeof reason, "STEREO_DEBUG_SYNC is set.");
  else if (state->no_graph)
    snprintf (reason, sizeof reason, "STEREO_CUDA_GRAPH is 0.");
  else
    state->graph = capture (plan, reason, sizeof reason);
  if (state->graph)
    snprintf (plan->reason + end, sizeof plan->reason - end, " Frames run as one CUDA graph.");
  else
    snprintf (plan->reason + end, sizeof plan->reason - end, " Kernels are launched one by one: %s", reason);
  end = strlen (plan->reason);
  if (state->fault_at)
    snprintf (plan->reason + end, sizeof plan->reason - end, " STEREO_TEST_FAULT is set: frame %u will fail.",
        state->fault_at);
}

/* The steps between the first and the last. Stage times need what is between the stages. */
StereoStatus
cuda_run_graph (StereoPlan *plan, StereoError *error)
{
  CudaState *state = cuda_state (plan);

  if (!state->graph || plan->profiling)
    return stereo_run_steps (plan, 1, plan->step_count - 1, error);
  CUDA_TRY (cudaGraphLaunch (state->graph, state->stream));
  return STEREO_OK;
}
